#include "core/analysis/inference.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/base/memory_limit.hpp"
#include "core/loss/loss.hpp"
#include "core/math/distributions.hpp"
#include "core/math/normal_equations.hpp"
#include "core/problem/bounds.hpp"

namespace margin {

namespace {

// Of a standard error: what the coefficients may be off the optimum of the rows.
constexpr double negligible_distance = 1e-3;
constexpr std::int32_t most_features = 2048;

std::string figure(double v) {
  char text[32];
  snprintf(text, sizeof text, "%.3g", v);
  return text;
}

void require_likelihood(const Model& m, std::optional<Status> status, const Options& s) {
  const auto refuse = [](const std::string& message, const std::string& hint) {
    throw Error(ErrorKind::unsupported, message, hint);
  };
  const std::string how = "Train with margin_options(lambda => 0, loss => ...): " + likelihood_losses() + ".";
  if (has_bounds(s))
    refuse(
        "standard errors need weights without bounds: an optimum at a bound is not normally distributed around the "
        "truth",
        "Train without bounds, positive and monotone: with lambda => 0, loss => " + likelihood_losses() + ".");
  if (!m.likelihood())
    refuse("standard errors need a model of lambda 0, and this one has " +
               (m.lambda.has_value() ? "lambda " + figure(*m.lambda) : std::string("a hard margin")) +
               ": its weights are shrunk towards 0, or rest on a few rows, and have no such distribution",
           how);
  if (status == Status::separable)
    refuse("the model has no finite maximum of the likelihood: " +
               std::string(m.regression() ? "some weights lower the means of rows with the label 0 alone"
                                          : "its classes are separated") +
               ", and no weights have a standard error",
           "margin_weights shows by which features; leave these out.");
  if (status.has_value() && *status != Status::optimal)
    refuse("the model is not optimal: its training stopped at " + std::string(status_name(*status)),
           "Train it with more max_iterations or max_seconds, or scale the features.");
  if (s.class_weight_balanced || !s.class_weight.empty())
    refuse("with class weights the coefficients do not maximise the likelihood, and have no standard errors",
           "Train without class_weight; row weights count rows.");
  if (m.terms() > most_features)
    refuse("the model has " + std::to_string(m.terms()) + " coefficients, at most " + std::to_string(most_features) +
               " have standard errors",
           "Leave features out.");
}

}  // namespace

InferenceOptions parse_inference(const Value::Object& options, bool clustered) {
  InferenceOptions out;
  if (clustered) out.covariance = Covariance::cluster;
  for (const auto& [key, value] : options) {
    const bool is_null = std::holds_alternative<std::monostate>(value.data);
    if (key == "covariance") {
      if (is_null) continue;
      const auto* name = std::get_if<std::string>(&value.data);
      if (name != nullptr && *name == "classical")
        out.covariance = Covariance::classical;
      else if (name != nullptr && *name == "HC0")
        out.covariance = Covariance::hc0;
      else if (name != nullptr && *name == "HC1")
        out.covariance = Covariance::hc1;
      else if (name != nullptr && *name == "cluster")
        out.covariance = Covariance::cluster;
      else
        throw Error(ErrorKind::invalid_option,
                    "option \"covariance\" must be 'classical', 'HC0', 'HC1' or 'cluster', not " + describe(value));
    } else if (key == "level") {
      if (is_null) continue;
      const double* level = std::get_if<double>(&value.data);
      if (level == nullptr || !(*level > 0 && *level < 1))
        throw Error(ErrorKind::invalid_option,
                    "option \"level\" must be a number above 0 and below 1, not " + describe(value));
      out.level = *level;
    } else {
      throw unknown_option(key, {"covariance", "level"});
    }
  }
  if (clustered != (out.covariance == Covariance::cluster))
    throw Error(ErrorKind::invalid_option,
                clustered
                    ? "rows have clusters, and the option \"covariance\" asks for another covariance than 'cluster'"
                    : "option \"covariance\" => 'cluster' needs the clusters",
                clustered ? "Leave out one of the two."
                          : "margin_inference(model, label, features, weight, cluster, options) takes them.");
  return out;
}

Inference::Inference(const Model& model, std::optional<Status> status, const Options& settings,
                     const InferenceOptions& options)
    : model_((require_likelihood(model, status, settings), model)),
      options_(options),
      loss_(make_loss(model.loss, settings)),
      squared_(!(loss_->self_concordance() > 0)),
      intercept_(settings.intercept),
      features_(static_cast<std::size_t>(model.terms())),
      columns_(features_ + (intercept_ ? 1 : 0)),
      offset_(offset_term(model, settings)),
      shifted_(model.terms(), intercept_),
      curvatures_(features_, intercept_ ? 1.0 : 0.0),
      slopes_(features_, intercept_ ? 1.0 : 0.0),
      hessian_(columns_),
      meat_(options.covariance == Covariance::hc0 || options.covariance == Covariance::hc1 ? columns_ : 1),
      gradient_(columns_, 0.0) {
  if (!model.columns.empty()) space_.emplace(scorer_of(model));
}

std::size_t Inference::cluster_of(std::string_view name, double memory_limit) {
  const auto [at, is_new] = cluster_index_.try_emplace(std::string(name), cluster_sums_.size());
  if (!is_new) return at->second;
  const double each = 8 * static_cast<double>(columns_) + 128 + static_cast<double>(name.size());
  if (memory_limit >= 0 && each * static_cast<double>(cluster_sums_.size() + 1) > memory_limit)
    throw Error(ErrorKind::limit_exceeded,
                "margin_inference needs more memory than margin.memory_limit allows: it keeps a sum for each of " +
                    std::to_string(cluster_sums_.size() + 1) + " clusters",
                "Raise margin.memory_limit, or take fewer clusters.");
  cluster_sums_.emplace_back(columns_, 0.0);
  return at->second;
}

void Inference::add(const Row& given, double y, double c, std::string_view cluster, double memory_limit) {
  Row row = given;
  if (space_.has_value()) {
    const std::int32_t known = space_->width();
    row = space_->place(given);
    if (space_->width() != known)
      throw Error(ErrorKind::invalid_value, "a row has features that no row of the training had",
                  "Give the rows that the model was trained on.");
  }
  require_target(*loss_, y, 0);
  ++rows_;
  if (!(c > 0)) return;
  const double u = dot(row, model_.weights.data()) + model_.intercept[0];
  const double s = squared_ ? u - y : loss_->derivative(u, y);
  const double curvature = squared_ ? 1.0 : loss_->second_derivative(u, y);
  mass_.add(c);
  squares_.add(c * s * s);
  const Row x = shifted_.place(row);
  const Progress quiet;
  if (c * curvature > 0) curvatures_.add(x, c * curvature, 1.0, hessian_, quiet);
  if (meat_.size() == columns_ && options_.covariance != Covariance::cluster && c * s * s > 0)
    slopes_.add(x, c * s * s, 1.0, meat_, quiet);
  margin::add(c * s, x, gradient_.data());
  if (intercept_) gradient_[features_] += c * s;
  if (options_.covariance != Covariance::cluster) return;
  std::vector<double>& sum = cluster_sums_[cluster_of(cluster, memory_limit)];
  margin::add(c * s, x, sum.data());
  if (intercept_) sum[features_] += c * s;
}

void Inference::flush() const {
  curvatures_.flush(1.0, hessian_, Progress());
  if (robust()) slopes_.flush(1.0, meat_, Progress());
}

std::vector<std::string> Inference::clusters() const {
  std::vector<std::string> names(cluster_sums_.size());
  for (const auto& [name, at] : cluster_index_) names[at] = name;
  return names;
}

std::vector<double> Inference::state() const {
  flush();
  std::vector<double> s = {static_cast<double>(rows_), mass_.rounded(), mass_.lost(),
                           squares_.rounded(),         squares_.lost(), shifted_.known() ? 1.0 : 0.0};
  std::vector<double> origin = shifted_.origin();
  origin.resize(features_, 0.0);
  s.insert(s.end(), origin.begin(), origin.end());
  s.insert(s.end(), gradient_.begin(), gradient_.end());
  for (const SymmetricMatrix* matrix : {&std::as_const(hessian_), &std::as_const(meat_)})
    for (std::size_t j = 0; j < matrix->size(); ++j)
      s.insert(s.end(), matrix->row(j) + j, matrix->row(j) + matrix->size());
  for (const std::vector<double>& sum : cluster_sums_) s.insert(s.end(), sum.begin(), sum.end());
  return s;
}

bool Inference::merge(const std::vector<double>& s, const std::vector<std::string>& names) {
  const std::size_t head = 6, meat = meat_.size();
  const std::size_t size = head + features_ + columns_ + columns_ * (columns_ + 1) / 2 + meat * (meat + 1) / 2;
  if (s.size() != size + names.size() * columns_ || !(s[0] >= 0 && s[0] <= 0x1p53)) return false;
  if (!names.empty() && options_.covariance != Covariance::cluster) return false;
  rows_ += static_cast<std::int64_t>(s[0]);
  if (s[5] == 0) return true;  // no row counted
  mass_.add(ExactSum::of(s[1], s[2]));
  squares_.add(ExactSum::of(s[3], s[4]));
  auto at = s.begin() + static_cast<std::ptrdiff_t>(head);
  const auto take = [&](std::size_t n) {
    std::vector<double> part(at, at + static_cast<std::ptrdiff_t>(n));
    at += static_cast<std::ptrdiff_t>(n);
    return part;
  };
  std::vector<double> origin = take(features_);
  if (!shifted_.known()) shifted_.set_origin(origin);
  std::vector<double> delta(features_);
  for (std::size_t j = 0; j < features_; ++j)
    delta[j] = origin[j] - (shifted_.origin().empty() ? 0.0 : shifted_.origin()[j]);
  const auto add_sum = [&](std::vector<double>& to) {
    std::vector<double> part = take(columns_);
    if (intercept_) move_sum(part.data(), delta);
    for (std::size_t j = 0; j < columns_; ++j) to[j] += part[j];
  };
  add_sum(gradient_);
  flush();
  for (SymmetricMatrix* to : {&hessian_, &meat_}) {
    SymmetricMatrix part(to->size());
    for (std::size_t j = 0; j < part.size(); ++j)
      for (std::size_t k = j; k < part.size(); ++k) part.row(j)[k] = *at++;
    if (part.size() == columns_ && intercept_) move_gram(part, delta);
    for (std::size_t j = 0; j < part.size(); ++j)
      for (std::size_t k = j; k < part.size(); ++k) to->row(j)[k] += part.row(j)[k];
  }
  for (const std::string& name : names) add_sum(cluster_sums_[cluster_of(name, -1)]);
  return true;
}

bool Inference::exact_fit() const {
  if (!squared_) return false;
  flush();
  // Σ of the squares of what the features and the intercept add to the predictions: residuals of 1e-12 of that are
  // rounding.
  double size = squares_.value();
  for (std::size_t j = 0; j < features_; ++j) {
    const double w = model_.weights(0, static_cast<Eigen::Index>(j));
    size += w * w * hessian_.row(j)[j];
  }
  if (intercept_) size += model_.intercept[0] * model_.intercept[0] * mass_.value();
  return squares_.value() <= 1e-24 * size;
}

void Inference::require_degrees(double n, std::size_t estimated) const {
  const bool needs_rows = squared_ || options_.covariance != Covariance::classical;
  if (!(n > 0) || (needs_rows && !(n - static_cast<double>(estimated) > 0)))
    throw Error(ErrorKind::invalid_value,
                "rows of a weight of " + figure(n) + " leave no degrees of freedom for the spread of " +
                    std::to_string(estimated) + " coefficients",
                "Give more rows than coefficients.");
  if (options_.covariance == Covariance::cluster && !(cluster_sums_.size() > 1))
    throw Error(ErrorKind::invalid_value, "all rows are of one cluster, expected two or more",
                "Leave the clusters out for standard errors of independent rows.");
}

void Inference::refuse_dependent(std::vector<std::size_t> columns) const {
  for (std::size_t& j : columns)
    if (j < features_)
      j = static_cast<std::size_t>(model_.feature(static_cast<std::int32_t>(j)));
    else
      j = static_cast<std::size_t>(model_.dimensions);
  FeatureName name;
  if (model_.encoder != nullptr) name = [&](std::int32_t feature) { return model_.encoder->feature_name(feature); };
  throw DependentFeatures("the coefficients have no standard errors: ", columns, model_.dimensions,
                          "Train without these features, or without one of them.", name);
}

/// The square of a standard error, but for a factor: of `unit`, with h = H⁻¹ unit.
double Inference::square_along(const std::vector<double>& unit, const std::vector<double>& h,
                               const Progress& progress) const {
  const auto p = static_cast<double>(columns_ - (offset_ >= 0 ? 1 : 0));
  double square = 0;
  if (options_.covariance == Covariance::classical) {
    for (std::size_t k = 0; k < columns_; ++k) square += unit[k] * h[k];
  } else if (options_.covariance == Covariance::cluster) {
    for (const std::vector<double>& sum : cluster_sums_) {
      const double along = simd().dot_dd(sum.data(), h.data(), columns_);
      square += along * along;
      progress.work(p);
    }
  } else {
    for (std::size_t k = 0; k < columns_; ++k) {
      double rest = 0.5 * meat_.row(k)[k] * h[k];
      for (std::size_t l = k + 1; l < columns_; ++l) rest += meat_.row(k)[l] * h[l];
      square += 2 * h[k] * rest;
      progress.work(p);
    }
  }
  return square;
}

std::vector<Coefficient> Inference::result(const Progress& progress) const {
  flush();
  std::vector<double> step = gradient_;
  if (offset_ >= 0) {
    decouple(hessian_, static_cast<std::size_t>(offset_));
    step[static_cast<std::size_t>(offset_)] = 0;
  }
  const std::size_t estimated = columns_ - (offset_ >= 0 ? 1 : 0);
  const double n = mass_.value(), p = static_cast<double>(estimated);
  require_degrees(n, estimated);
  const auto groups = static_cast<double>(cluster_sums_.size());
  const NormalEquations equations(hessian_, intercept_, progress);
  if (!equations.regular()) refuse_dependent(equations.dependent());
  const double variance = squared_ ? squares_.value() / (n - p) : 1.0;
  equations.solve(step.data(), progress);
  double distance = 0;
  for (std::size_t j = 0; j < columns_; ++j) distance += step[j] * gradient_[j];
  // A fit without residuals is the optimum to rounding, and has no unit to measure the distance in.
  const double size = variance > 0 ? std::sqrt(std::max(0.0, distance) / variance) : 0.0;
  if (!(size <= negligible_distance) && !exact_fit())
    throw Error(ErrorKind::invalid_value,
                "the model is not the optimum of these rows: coefficients are up to " + figure(size) +
                    " standard errors away from it",
                "Give the rows, and the weights, that it was trained on.");

  double factor = 1;
  if (options_.covariance == Covariance::classical) factor = variance;
  if (options_.covariance == Covariance::hc1) factor = n / (n - p);
  if (options_.covariance == Covariance::cluster) factor = groups / (groups - 1) * ((n - 1) / (n - p));
  const double degrees = options_.covariance == Covariance::cluster ? groups - 1 : n - p,
               tail = (1 - options_.level) / 2;
  const double reach = squared_ ? student_quantile(tail, degrees) : normal_quantile(tail);
  std::vector<Coefficient> out;
  std::vector<double> unit(columns_), h(columns_), scale(features_, 1.0), centre(features_, 0.0);
  for (std::size_t k = 0; k < features_ && model_.encoder != nullptr; ++k) {
    const std::int32_t feature = model_.feature(static_cast<std::int32_t>(k));
    scale[k] = model_.encoder->scale(feature);
    centre[k] = model_.encoder->center(feature);
  }
  const std::size_t known = offset_ >= 0 ? static_cast<std::size_t>(offset_) : columns_;  // has no estimate
  for (std::size_t j = 0; j < columns_; ++j) {
    if (j == known) continue;
    std::fill(unit.begin(), unit.end(), 0.0);
    unit[j] = j < features_ ? 1 / scale[j] : 1;
    // The intercept of rows that are measured from an origin, and of columns in the units of the table.
    if (j == features_)
      for (std::size_t k = 0; k < features_; ++k)
        unit[k] =
            k == known ? 0.0 : -(k < shifted_.origin().size() ? shifted_.origin()[k] : 0.0) - centre[k] / scale[k];
    h = unit;
    equations.solve(h.data(), progress);
    const double square = square_along(unit, h, progress);
    Coefficient c;
    c.feature = j == features_ ? -1 : model_.feature(static_cast<std::int32_t>(j));
    c.estimate = j == features_ ? model_.intercept[0] : model_.weights(0, static_cast<Eigen::Index>(j)) / scale[j];
    for (std::size_t k = 0; k < features_ && j == features_; ++k)
      c.estimate -= model_.weights(0, static_cast<Eigen::Index>(k)) * centre[k] / scale[k];
    c.std_error = exact_fit() ? 0.0 : std::sqrt(std::max(0.0, factor * square));
    c.statistic = c.estimate / c.std_error;
    const double away = std::fabs(c.statistic);
    c.p_value = 2 * (squared_ ? student_tail(away, degrees) : normal_tail(away));
    c.lower = c.estimate - reach * c.std_error;
    c.upper = c.estimate + reach * c.std_error;
    out.push_back(c);
  }
  return out;
}

}  // namespace margin
