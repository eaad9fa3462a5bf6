// Cross-validation: every fold's rows are predicted by models that were trained without them. Where coordinate ascent
// will do, the models of all folds are trained side by side (solvers/sdca/fold_ascent.cpp); otherwise fold after fold,
// each along a path of its own. Nothing of a held-out row reaches a model, not even as a start.
#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/base/random.hpp"
#include "core/loss/loss.hpp"
#include "core/model/metrics.hpp"
#include "core/problem/standardize.hpp"
#include "core/problem/target_units.hpp"
#include "core/solvers/readers.hpp"
#include "core/solvers/sdca/fold_ascent.hpp"
#include "core/solvers/solver.hpp"
#include "core/train/compaction.hpp"
#include "core/train/path.hpp"

namespace margin {

namespace {

/// Epochs side by side before newton takes over fold by fold, where it can; and where it cannot.
constexpr double epochs_before_newton = 40, most_epochs = 1000;

/// The metric of one model over rows that it has not seen.
class HeldOut {
 public:
  HeldOut(const Dataset& data, const std::vector<std::int32_t>& rank, Metric metric)
      : data_(data), rank_(rank), metric_(metric) {
    if (data.outcome() == Dataset::Outcome::classes)
      classes_.emplace(static_cast<std::int32_t>(rank.size()), 0, metric == Metric::log_loss);
  }

  /// Row i, with one score per output.
  void add(std::int64_t i, const double* scores) {
    if (!classes_.has_value()) return numbers_.add(data_.target(i), scores[0]);
    const std::int32_t outputs = rank_.size() == 2 ? 1 : static_cast<std::int32_t>(rank_.size());
    classes_->add(rank_[static_cast<std::size_t>(data_.class_of(i))], decide(outputs, scores), scores);
  }

  std::optional<double> value() const {
    switch (metric_) {
      case Metric::accuracy:
        return classes_->accuracy();
      case Metric::log_loss:
        return classes_->log_loss();
      case Metric::auc:
        return classes_->auc();
      case Metric::mse:
        return numbers_.mean_squared_error();
      case Metric::mae:
        return numbers_.mean_absolute_error();
      default:
        return numbers_.r_squared();
    }
  }

 private:
  const Dataset& data_;
  const std::vector<std::int32_t>& rank_;
  Metric metric_;
  std::optional<ClassificationMetrics> classes_;
  RegressionMetrics numbers_;
};

/// One loss over all folds and lambdas; writes its options of the selection.
class Validation {
 public:
  Validation(const Dataset& data, const SelectionOptions& options, const Options& settings,
             const std::vector<double>& lambdas, const std::vector<std::int32_t>& fold, const Progress& progress,
             MemoryBudget memory)
      : data_(data),
        options_(options),
        settings_(settings),
        lambdas_(lambdas),
        fold_(fold),
        memory_(memory),
        rank_(data.classes().ranks()),
        progress_(progress) {}

  /// `scores`: one per lambda. Returns the number of models that did not reach their tolerance.
  std::int64_t run(SettingScore* scores) {
    scores_ = scores;
    if (FoldAscent::unsupported_reason(settings_).empty() && side_by_side()) return unfinished_;
    for (std::int32_t f = 0; f < options_.folds; ++f) fold_by_fold(f);
    return unfinished_;
  }

 private:
  Dataset without(std::int32_t f) const {
    std::vector<std::int64_t> kept;
    for (std::int64_t i = 0; i < data_.rows(); ++i)
      if (fold_[static_cast<std::size_t>(i)] != f) kept.push_back(i);
    return data_.subset(kept);
  }

  void fold_by_fold(std::int32_t f) {
    const Dataset part = without(f);
    follow_path(part, settings_, lambdas_, progress_, memory_,
                [&](std::size_t k, Model&& model) { measure(f, k, model); });
  }

  /// False where memory does not allow it.
  bool side_by_side() {
    const std::int32_t groups = (options_.folds + FoldAscent::most - 1) / FoldAscent::most;
    MemoryBudget memory = memory_;
    std::optional<StandardizedRows> standardized;
    Options settings = settings_;
    if (settings.standardize) {
      if (!StandardizedRows::fits(data_, memory)) return false;
      standardized.emplace(data_, settings, progress_, memory);
      settings.standardize = false;
      if (data_.outcome() == Dataset::Outcome::targets) settings.target_scale = target_deviation({data_}, progress_);
    }
    const Standardization* const units = standardized.has_value() ? &standardized->units() : nullptr;
    const Problem problem = make_problem(standardized.has_value() ? standardized->rows() : data_, settings);
    const double needed = FoldAscent::workspace(problem, std::min(options_.folds, FoldAscent::most), units != nullptr);
    if (!memory.allows(needed)) return false;
    memory.use(needed);
    memory_ = memory;
    for (std::int32_t g = 0; g < groups; ++g) {
      const std::int32_t begin = options_.folds * g / groups, end = options_.folds * (g + 1) / groups;
      side_by_side(problem, units, begin, end - begin);
    }
    return true;
  }

  void side_by_side(const Problem& problem, const Standardization* units, std::int32_t first, std::int32_t count) {
    Run run(settings_, progress_, "sdca", static_cast<std::int64_t>(most_epochs));
    FoldAscent ascent(problem, settings_, fold_, first, count, run, units);
    const bool newton_can = newton_may_go_on(problem, settings_);
    for (const std::size_t k : falling_order(lambdas_)) {
      const std::vector<char> reached = ascent.solve(lambdas_[k], newton_can ? epochs_before_newton : most_epochs);
      measure(ascent, reached, first, k);
      for (std::int32_t f = 0; f < count; ++f)
        if (reached[static_cast<std::size_t>(f)] == 0) finish(first + f, k, ascent.model(f));
    }
  }

  /// The folds that are ready.
  void measure(const FoldAscent& ascent, const std::vector<char>& reached, std::int32_t first, std::size_t k) {
    std::vector<HeldOut> held_out(reached.size(), HeldOut(data_, rank_, options_.metric));
    for (std::int64_t i = 0; i < data_.rows(); ++i) {
      const std::int32_t f = fold_[static_cast<std::size_t>(i)] - first;
      if (f < 0 || f >= static_cast<std::int32_t>(reached.size()) || reached[static_cast<std::size_t>(f)] == 0)
        continue;
      held_out[static_cast<std::size_t>(f)].add(i, ascent.held_out(i));
      progress_.work(32);
    }
    for (std::size_t f = 0; f < reached.size(); ++f)
      if (reached[f] != 0) scores_[k].folds[static_cast<std::size_t>(first) + f] = held_out[f].value();
  }

  /// A fold that the ascent leaves to other solvers goes on from its vectors.
  void finish(std::int32_t f, std::size_t k, InitialModel&& start) {
    Options settings = settings_;
    settings.lambda = lambdas_[k];
    settings.initial = std::move(start);
    const Dataset part = without(f);
    measure(f, k, train(part, settings, progress_, memory_));
  }

  void measure(std::int32_t f, std::size_t k, const Model& model) {
    unfinished_ += model.status != Status::optimal;
    const Scorer scorer = scorer_of(model);
    HeldOut held_out(data_, rank_, options_.metric);
    std::vector<double> scores(static_cast<std::size_t>(scorer.outputs));
    for (std::int64_t i = 0; i < data_.rows(); ++i) {
      if (fold_[static_cast<std::size_t>(i)] != f) continue;
      const Row x = data_.row(i);
      score(scorer, x, scorer.dimensions, scores.data());
      held_out.add(i, scores.data());
      progress_.work(static_cast<double>(x.count) * scorer.outputs + 32);
    }
    scores_[k].folds[static_cast<std::size_t>(f)] = held_out.value();
  }

  const Dataset& data_;
  const SelectionOptions& options_;
  const Options& settings_;
  const std::vector<double>& lambdas_;
  const std::vector<std::int32_t>& fold_;
  MemoryBudget memory_;
  const std::vector<std::int32_t> rank_;
  const Progress& progress_;
  SettingScore* scores_ = nullptr;
  std::int64_t unfinished_ = 0;
};

/// The metric on the rows of a fold of the best constant prediction for the others.
std::optional<double> constant_score(const Dataset& data, Metric metric, const std::vector<std::int32_t>& fold,
                                     std::int32_t f, const Progress& progress) {
  const std::vector<std::int32_t> rank = data.classes().ranks();
  if (data.outcome() != Dataset::Outcome::classes) {
    const auto loss = make_loss(metric == Metric::mae ? "absolute" : "squared", Options{});
    const double constant = best_constant({data, &fold, f}, *loss, progress);
    HeldOut held_out(data, rank, metric);
    for (std::int64_t i = 0; i < data.rows(); ++i) {
      progress.work(16);
      if (fold[static_cast<std::size_t>(i)] == f) held_out.add(i, &constant);
    }
    return held_out.value();
  }
  if (metric == Metric::auc) return 0.5;
  std::vector<double> inside(rank.size(), 0.0), outside(rank.size(), 0.0);
  double held_out = 0;
  for (std::int64_t i = 0; i < data.rows(); ++i) {
    progress.work(8);
    const bool in = fold[static_cast<std::size_t>(i)] == f;
    ++(in ? inside : outside)[static_cast<std::size_t>(data.class_of(i))];
    held_out += in;
  }
  if (held_out == 0) return std::nullopt;
  if (metric == Metric::accuracy)
    return inside[static_cast<std::size_t>(std::max_element(outside.begin(), outside.end()) - outside.begin())] /
           held_out;
  double sum = 0;
  for (std::size_t c = 0; c < rank.size(); ++c)
    if (inside[c] > 0) sum -= inside[c] * std::log(outside[c] / (static_cast<double>(data.rows()) - held_out));
  return sum / held_out;
}

void summarize(SettingScore& s) {
  double sum = 0, squares = 0, n = 0;
  for (const auto& v : s.folds)
    if (v.has_value()) sum += *v, n += 1;
  if (n == 0) return;
  s.mean = sum / n;
  for (const auto& v : s.folds)
    if (v.has_value()) squares += (*v - *s.mean) * (*v - *s.mean);
  if (n > 1) s.deviation = std::sqrt(squares / (n - 1));
}

std::optional<std::size_t> best_of(const Selection& selection) {
  std::optional<std::size_t> best;
  const double sign = larger_is_better(selection.metric) ? 1 : -1;
  for (std::size_t k = 0; k < selection.settings.size(); ++k) {
    const SettingScore& s = selection.settings[k];
    if (!s.mean.has_value() || !std::isfinite(*s.mean)) continue;
    if (!best.has_value()) {
      best = k;
      continue;
    }
    const SettingScore& b = selection.settings[*best];
    const double lead = sign * (*s.mean - *b.mean);
    if (lead > 0 || (lead == 0 && s.lambda > b.lambda)) best = k;
  }
  return best;
}

}  // namespace

bool useless(const Selection& s) {
  if (!s.best.has_value() || !s.constant.has_value()) return false;
  const double best = *s.settings[*s.best].mean;
  return larger_is_better(s.metric) ? best <= *s.constant : best >= *s.constant;
}

std::vector<std::int32_t> stratified_folds(const Dataset& data, std::int32_t folds, std::uint64_t seed) {
  const std::int64_t n = data.rows();
  if (n < folds)
    throw Error(ErrorKind::invalid_value,
                "cross-validation has " + std::to_string(n) + (n == 1 ? " row for " : " rows for ") +
                    std::to_string(folds) + " folds",
                "Give fewer folds, or more rows.");
  const bool classes = data.outcome() == Dataset::Outcome::classes;
  const std::vector<std::int32_t> rank = data.classes().ranks();
  std::vector<std::vector<std::int64_t>> strata(classes ? rank.size() : 1);
  for (std::int64_t i = 0; i < n; ++i)
    strata[classes ? static_cast<std::size_t>(rank[static_cast<std::size_t>(data.class_of(i))]) : 0].push_back(i);
  Random random(seed);
  std::vector<std::int32_t> fold(static_cast<std::size_t>(n));
  std::int32_t next = 0;
  for (std::vector<std::int64_t>& rows : strata) {
    if (classes && rows.size() < 2)
      throw Error(ErrorKind::invalid_value,
                  "class \"" + std::string(data.classes().name(data.class_of(rows.front()))) +
                      "\" has one row, cross-validation needs two or more of every class",
                  "Leave out rare classes with FILTER (WHERE ...).");
    for (std::size_t k = rows.size(); k > 1; --k) std::swap(rows[k - 1], rows[random.below(k)]);
    for (const std::int64_t i : rows) {
      fold[static_cast<std::size_t>(i)] = next;
      next = next + 1 == folds ? 0 : next + 1;
    }
  }
  return fold;
}

Selection cross_validate(const Dataset& given_rows, const SelectionOptions& options, const Progress& progress,
                         MemoryBudget memory) {
  const auto start = std::chrono::steady_clock::now();
  const Solver* const named = find_solver(options.settings.solver);
  if (options.settings.solver == "auto")
    require_readers(options.settings, likely_solver_of_auto(options.settings), options.losses);
  else if (named != nullptr)  // an unknown name is refused by the first training
    require_readers(options.settings, *named, options.losses);
  const Compaction compaction(given_rows, options.settings, progress, memory);
  const Dataset& data = compaction.rows();
  const std::vector<std::int32_t> fold = stratified_folds(data, options.folds, options.settings.seed);
  if (options.metric == Metric::auc && data.classes().size() != 2)
    throw Error(ErrorKind::unsupported,
                "metric \"auc\" needs two classes, not " + std::to_string(data.classes().size()),
                "Use accuracy, or log_loss with the loss logistic.");
  const double lists = 40.0 * static_cast<double>(data.rows());  // row numbers, and a subset's addresses and labels
  memory.take(lists, "cross-validation");

  Options settings = options.settings;
  settings.given.clear();  // looked at here: what one of the losses reads would be refused to the others
  if (settings.initial.has_value()) compaction.take(*settings.initial);
  const std::vector<double> lambdas =
      options.lambdas.empty() ? default_lambdas(data, settings, progress) : options.lambdas;
  Selection out;
  out.metric = options.metric;
  for (const std::string& loss : options.losses)
    for (const double lambda : lambdas)
      out.settings.push_back(
          {lambda, loss, std::vector<std::optional<double>>(static_cast<std::size_t>(options.folds)), {}, {}});
  for (std::size_t l = 0; l < options.losses.size(); ++l) {
    settings.loss = options.losses[l];
    Validation validation(data, options, settings, lambdas, fold, progress, memory);
    out.unfinished += validation.run(&out.settings[l * lambdas.size()]);
  }
  for (SettingScore& s : out.settings) summarize(s);
  SettingScore constant{};
  for (std::int32_t f = 0; f < options.folds; ++f)
    constant.folds.push_back(constant_score(data, options.metric, fold, f, progress));
  summarize(constant);
  // Class weights ask for other errors than the accuracy counts.
  const Options& s = options.settings;
  if (options.metric != Metric::accuracy || (!s.class_weight_balanced && s.class_weight.empty()))
    out.constant = constant.mean;
  out.best = best_of(out);
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return out;
}

}  // namespace margin
