// The distance of two separators. A hard margin: let w and w* have norm 1, margins at least l and exactly g, l ≤ g ≤ u.
// The smallest margin is concave in (w, b), so (w + w*)/2, of norm cos(θ/2), has at least (l + g)/2; as no direction
// has more than g, cos(θ/2) ≥ (l + g)/2g ≥ (1 + l/u)/2, and ‖w − w*‖ = 2 sin(θ/2). A soft margin: certificate/ball.hpp.
#include "core/report/inspect.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "core/analysis/model_ball.hpp"
#include "core/base/error.hpp"
#include "core/base/quoted.hpp"
#include "core/certificate/ball.hpp"
#include "core/data/stump_basis.hpp"
#include "core/kernel/support_vectors.hpp"
#include "core/problem/thresholds.hpp"
#include "core/report/explain.hpp"
#include "core/report/model_rules.hpp"

namespace margin {

namespace {

std::string figure(double value, const char* format = "%.6g") {
  char text[40];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string line(std::string label, const std::string& content) {
  label += ':';
  label.resize(std::max<std::size_t>(label.size() + 1, 14), ' ');
  return label + content + "\n";
}

std::string kind_line(const Model& m, const Options& options) {
  if (m.one_class()) return "one-class machine, nu " + figure(options.nu);
  std::string kind = problem_name(m.hard_margin(), m.interpolates());
  if (m.norm != 2) kind += ", norm " + figure(m.norm);
  if (!m.loss.empty()) kind += ", loss " + m.loss;
  if (m.lambda.has_value()) kind += ", lambda " + figure(*m.lambda);
  if (options.l1_ratio > 0) kind += ", l1_ratio " + figure(options.l1_ratio);
  if (options.standardize) kind += ", standardised";
  return kind;
}

constexpr std::size_t shown_classes = 10, shown_weights = 5;

std::string class_list(const std::vector<std::string>& classes) {
  std::string list = std::to_string(classes.size()) + " (";
  for (std::size_t c = 0; c < std::min(classes.size(), shown_classes); ++c) list += (c == 0 ? "" : ", ") + classes[c];
  return list + (classes.size() > shown_classes ? ", ...)" : ")");
}

std::string row_line(const Model& m) {
  std::string text = std::to_string(*m.rows);
  if (m.skipped.value_or(0) > 0) text += ", " + std::to_string(*m.skipped) + " skipped";
  if (m.certificate.support >= 0) text += ", " + std::to_string(m.certificate.support) + " with a dual weight";
  return text;
}

std::string solver_line(const Model& m) {
  std::string text = m.solver;
  if (m.iterations.has_value()) text += ", " + counted(*m.iterations, "iteration");
  if (m.seconds.has_value()) text += ", " + figure(*m.seconds, "%.3g") + " s";
  return text;
}

std::string interval_lines(const Model& m, const Options& options, const Interval& i) {
  std::string text =
      line(m.about_margin() ? "margin" : "objective", "between " + figure(i.lower) + " and " + figure(i.upper) +
                                                          ", relative width " + figure(i.relative_gap, "%.2g"));
  text += line("certifies", objective_name(m, options));
  if (i.distance.has_value())
    text += line("distance",
                 std::string(m.hard_margin() ? "the best direction is within " : "the best weights are within ") +
                     figure(*i.distance, "%.3g"));
  return text;
}

/// What is known of weights that are to meet targets, whether they do or not.
std::string target_lines(const Model& m, const Options& options) {
  std::string text;
  const double slack = m.certificate.slack;
  if (!std::isnan(slack))
    text += line("targets", slack < 0 ? "missed by at most " + figure(-slack, "%.2g") : "all met");
  const ToldBounds bounds = bounds_of(m);
  if (bounds.lower.has_value() && !bounds.upper.has_value())
    text += line("objective", "at least " + figure(*bounds.lower)) + line("certifies", objective_name(m, options));
  return text;
}

constexpr const char *largest_margin = "the largest possible margin", *of_features = ", in the units of the features";

std::string least_objective(bool interpolates) {
  return interpolates ? "half the squared norm of the least weights that meet the targets"
                      : "the smallest possible objective";
}

std::string margin_name(const Model& m, const Options& options) {
  const std::string text = largest_margin;
  if (support_vectors_of(m.basis.get()) != nullptr) return text + ", in the space of the kernel";
  if (stumps_of(m.basis.get()) != nullptr)
    return text + (m.learners() == Learners::trees ? " of trees" : " of stumps") + " whose weights sum to 1";
  return text + (options.standardize ? ", in standardised units" : of_features);
}

/// What a weight weighs: a feature, a stump, or a tree.
std::string term(const Model& model, const StumpBasis* stumps, std::int32_t index) {
  if (stumps == nullptr) return feature_name(model, index);
  const auto above = [](std::int32_t feature, double threshold) {
    return "feature " + std::to_string(feature + 1) + " > " + figure(threshold);
  };
  const Tree& tree = stumps->trees()[static_cast<std::size_t>(index)];
  const std::string split = above(tree.split.feature, tree.split.threshold);
  if (stumps->depth() == 1) return "(" + split + ")";
  const auto side = [&](const TreeSide& s) {
    if (s.feature < 0) return std::string(s.above > 0 ? "yes" : "no");
    return (s.above > 0 ? "" : "not ") + above(s.feature, s.threshold);
  };
  return "(" + split + " ? " + side(tree.above) + " : " + side(tree.below) + ")";
}

std::string kernel_line(const KernelFunction& kernel) {
  std::string text(kernel.name());
  for (const KernelParameter& p : named_parameters(kernel))
    text += ", " + std::string(p.name) + " " + figure(p.value, "%.6g");
  return text;
}

}  // namespace

std::vector<WeightEntry> weights_by_size(const Model& model, std::size_t most) {
  const std::int32_t terms = model.terms();
  std::vector<WeightEntry> entries;
  entries.reserve(static_cast<std::size_t>(model.weights.size()));
  for (std::int32_t j = 0; j < terms; ++j)
    for (std::int32_t o = 0; o < model.outputs(); ++o) entries.push_back({o, model.feature(j), model.weights(o, j)});
  const auto end = entries.begin() + static_cast<std::ptrdiff_t>(std::min(most, entries.size()));
  const auto larger = [](const WeightEntry& a, const WeightEntry& b) {
    const double x = std::fabs(a.weight), y = std::fabs(b.weight);
    return x != y ? x > y : a.feature != b.feature ? a.feature < b.feature : a.output < b.output;
  };
  if (end != entries.end()) std::nth_element(entries.begin(), end, entries.end(), larger);
  std::sort(entries.begin(), end, larger);
  entries.erase(end, entries.end());
  return entries;
}

ToldBounds bounds_of(const Model& m) {
  ToldBounds b;
  const Certificate& c = m.certificate;
  if (!std::isnan(c.lower)) b.lower = c.lower;
  if (!std::isnan(c.upper) && !(m.interpolates() && m.status != Status::optimal)) b.upper = c.upper;
  return b;
}

ToldBounds bounds_of(const Objective& objective, const Certificate& proven) {
  ToldBounds b;
  if (std::isfinite(proven.lower)) b.lower = proven.lower;
  const bool missed = objective.interpolate && proven.slack < -negligible_miss * proven.largest_target;
  if (std::isfinite(proven.upper) && !missed) b.upper = proven.upper;
  return b;
}

/// Without distance, but for that of two separators.
static std::optional<Interval> interval_between(const ToldBounds& bounds, bool about_margin, double norm) {
  if (!bounds.lower.has_value() || !bounds.upper.has_value()) return std::nullopt;
  constexpr double round_up = 1 + 8 * std::numeric_limits<double>::epsilon();
  Interval i;
  i.lower = *bounds.lower;
  i.upper = *bounds.upper;
  i.gap = std::max(0.0, i.upper - i.lower);
  const double size = about_margin ? i.upper : std::max(std::fabs(i.lower), std::fabs(i.upper));
  i.relative_gap = i.gap > 0 ? i.gap / size : 0;
  if (about_margin && i.lower > 0 && norm == 2) {
    // 1 − cos(θ/2) ≤ (u − l)/2u, computed so, without cancellation.
    const double below = i.gap / (2 * i.upper);
    i.distance = 2 * std::sqrt(below * (2 - below)) * round_up;
  }
  return i;
}

std::optional<Interval> interval_of(const Objective& objective, const ToldBounds& bounds) {
  const bool soft = !objective.hard_margin() && !objective.interpolate;
  auto interval = interval_between(bounds, !soft && !objective.interpolate, objective.norm);
  if (interval.has_value() && soft && !objective.likelihood() && objective.l1_ratio < 1)
    interval->distance = ball_radius(2 * interval->gap, convexity(objective), 0);
  return interval;
}

std::optional<Interval> interval_of(const Model& m, const Options& options) {
  auto interval = interval_between(bounds_of(m), m.about_margin(), m.norm);
  if (interval.has_value() && m.lambda.has_value() && !m.likelihood() && options.l1_ratio < 1)
    interval->distance = distance_to_optimum(m, options, interval->gap);
  return interval;
}

std::string problem_name(bool hard_margin, bool interpolates) {
  return interpolates ? "interpolation" : hard_margin ? "hard margin" : "soft margin";
}

std::string objective_name(const Objective& objective) {
  return objective.hard_margin() && !objective.interpolate ? largest_margin + std::string(of_features)
                                                           : least_objective(objective.interpolate);
}

std::string objective_name(const Model& m, const Options& options) {
  if (m.about_margin()) return margin_name(m, options);
  return least_objective(m.interpolates()) + (!options.standardize ? ""
                                              : m.interpolates()   ? ", of standardised features"
                                                                   : " over standardised features");
}

std::string refusal_of(const Value::Object& options) {
  try {
    parse_options(options);
  } catch (const Error& e) {
    return e.message();
  }
  return {};
}

/// Jumps between bins say little one by one.
static bool cut_into_bins(const Encoder& e) {
  return e.knows_means() && (!e.pairs().empty() || std::any_of(e.columns().begin(), e.columns().end(),
                                                               [](const Column& c) { return c.binned(); }));
}

/// The columns that matter most, with their shares of what moves the score.
static std::string column_line(const Model& m) {
  const std::vector<Importance> columns = importance(m);
  std::string out;
  for (std::size_t k = 0; k < std::min(columns.size(), shown_weights); ++k) {
    const std::size_t term = m.encoder->term(columns[k].column);
    const auto& all = m.encoder->columns();
    const PairTerm* const pair = m.encoder->pair({term, 0});
    out += (k == 0 ? "" : ", ") + columns[k].column + " " + figure(columns[k].share, "%.2g");
    if (pair != nullptr)
      out += " (" + counted(pair->cells(), "cell") + ")";
    else if (all[term].binned())
      out += " (" + counted(static_cast<std::int64_t>(all[term].thresholds.size() + 1), "bin") + ")";
  }
  return out + (columns.size() > shown_weights ? ", ..." : "");
}

/// How many bounds there are, and how many of them hold a weight.
static std::string bound_lines(const Model& m, const Options& options) {
  if (m.basis != nullptr) return {};
  const std::vector<ModelRule> rules = model_rules(m, options);
  if (rules.empty()) return {};
  const auto active = std::count_if(rules.begin(), rules.end(), [](const ModelRule& r) { return r.active; });
  return line("rules", std::to_string(rules.size()) + " on weights, " + std::to_string(active) + " active");
}

std::string summary(const Model& m, const Options& options) {
  std::string text = line("model", kind_line(m, options));
  if (m.task != Task::regression) text += line("classes", class_list(m.classes));
  text += line("features",
               std::to_string(m.dimensions) +
                   (m.columns.empty() ? std::string() : ", " + std::to_string(m.columns.size()) + " in use") +
                   (m.encoder == nullptr
                        ? ""
                        : " of " + counted(static_cast<std::int64_t>(m.encoder->columns().size()), "column") +
                              (m.encoder->pairs().empty()
                                   ? ""
                                   : " and " + counted(static_cast<std::int64_t>(m.encoder->pairs().size()), "pair"))));
  if (m.rows.has_value()) text += line("rows", row_line(m));
  if (!m.solver.empty()) text += line("solver", solver_line(m));
  if (m.status.has_value())
    text += line("status", std::string(status_name(*m.status)) + " (tolerance " + figure(options.tolerance) + ")");
  if (const auto interval = interval_of(m, options)) text += interval_lines(m, options, *interval);
  if (m.interpolates()) text += target_lines(m, options);
  if (const auto* vectors = support_vectors_of(m.basis.get()))
    return text + line("kernel", kernel_line(vectors->rows().kernel())) +
           line("vectors", std::to_string(vectors->size()) + " support vectors");
  text += bound_lines(m, options);
  if (m.basis == nullptr && m.encoder != nullptr && cut_into_bins(*m.encoder))
    return text + line("columns", column_line(m));
  std::string largest;
  const auto* basis = stumps_of(m.basis.get());
  const std::vector<WeightEntry> weights = weights_by_size(m, shown_weights + 1);
  for (std::size_t k = 0; k < std::min(weights.size(), shown_weights); ++k) {
    largest += (k == 0 ? "" : ", ") + term(m, basis, weights[k].feature);
    if (m.task == Task::multiclass) largest += " for " + m.classes[static_cast<std::size_t>(weights[k].output)];
    largest += " " + figure(weights[k].weight, "%.4g");
  }
  return text + line("weights", largest + (weights.size() > shown_weights ? ", ..." : ""));
}

}  // namespace margin
