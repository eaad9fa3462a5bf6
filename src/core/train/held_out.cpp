#include "core/train/held_out.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/loss/joint.hpp"
#include "core/model/model.hpp"
#include "core/problem/offset.hpp"
#include "core/problem/target_units.hpp"

namespace margin {

namespace {
/// Twice the loss of a score whose e^score is the mean.
double deviance(double mean, double target) {
  static const auto loss = make_loss("poisson", Options{});
  return 2 * loss->value(std::log(std::max(mean, std::numeric_limits<double>::min())), target);
}

/// Of the classes for which the figure is defined.
std::optional<double> mean_of(const std::vector<std::optional<double>>& figures) {
  double sum = 0, n = 0;
  for (const auto& v : figures)
    if (v.has_value()) sum += *v, n += 1;
  return n > 0 ? std::optional<double>(sum / n) : std::nullopt;
}

}  // namespace

std::optional<double> constant_value(Metric metric, const std::vector<double>& inside,
                                     const std::vector<double>& outside) {
  const double tested = std::accumulate(inside.begin(), inside.end(), 0.0);
  const double trained = std::accumulate(outside.begin(), outside.end(), 0.0);
  if (!(tested > 0)) return std::nullopt;
  const auto largest = static_cast<std::size_t>(std::max_element(outside.begin(), outside.end()) - outside.begin());
  const auto f1 = [&](std::size_t c) { return 2 * inside[c] / (inside[c] + tested); };
  const double present =
      static_cast<double>(std::count_if(inside.begin(), inside.end(), [](double n) { return n > 0; }));
  double sum = 0;
  switch (metric) {
    case Metric::accuracy:
      return inside[largest] / tested;
    case Metric::balanced_accuracy:
      return 1 / present;
    case Metric::f1:  // of the answer that is always the second class
      return f1(1);
    case Metric::f1_macro:
      return f1(largest) / (present + (inside[largest] > 0 ? 0 : 1));
    case Metric::mcc:
      return 0;
    case Metric::auc:
      return 0.5;
    case Metric::average_precision:
      return inside[1] / tested;
    case Metric::brier:
      for (std::size_t c = 0; c < 2; ++c) sum += inside[c] * std::pow(outside[1 - c] / trained, 2);
      return sum / tested;
    default:
      for (std::size_t c = 0; c < inside.size(); ++c)
        if (inside[c] > 0) sum -= inside[c] * std::log(outside[c] / trained);
      return sum / tested;
  }
}

HeldOut::HeldOut(const Dataset& data, const std::vector<std::int32_t>& rank, Metric metric, const Options& settings)
    : data_(data), rank_(rank), metric_(metric), quantile_(settings.quantile) {
  if (settings.multiclass == Multiclass::joint && of_probabilities(metric) && rank.size() > 2)
    odds_.resize(rank.size());
  if (data.outcome() == Dataset::Outcome::classes)
    classes_.emplace(static_cast<std::int32_t>(rank.size()), 0, of_probabilities(metric));
}

void HeldOut::add(std::int64_t i, const double* scores) {
  const double weight = data_.weight(i);
  if (!(weight > 0)) return;
  if (!classes_.has_value()) {
    const double target = data_.target(i);
    return numbers_.add(target, scores[0], metric_ == Metric::deviance ? deviance(scores[0], target) : 0, weight);
  }
  const std::int32_t outputs = rank_.size() == 2 ? 1 : static_cast<std::int32_t>(rank_.size());
  if (!odds_.empty()) softmax_log_odds(scores, outputs, odds_.data());
  classes_->add(rank_[static_cast<std::size_t>(data_.class_of(i))], decide(outputs, scores), scores,
                odds_.empty() ? nullptr : odds_.data(), weight);
}

std::optional<double> metric_value(const WeightedMetrics& metrics, Metric metric) {
  if (!(metrics.weight() > 0)) return std::nullopt;
  switch (metric) {
    case Metric::balanced_accuracy:
      return mean_of(metrics.recall());
    case Metric::f1:
      return metrics.f1().back();
    case Metric::f1_macro:
      return mean_of(metrics.f1());
    case Metric::mcc:
      return metrics.matthews();
    case Metric::auc:
      return metrics.auc();
    case Metric::average_precision:
      return metrics.average_precision();
    case Metric::log_loss:
      return metrics.log_loss();
    case Metric::brier:
      return metrics.brier();
    default:
      return metrics.accuracy();
  }
}

std::optional<double> metric_value(const RegressionMetrics& metrics, Metric metric, double quantile) {
  if (!(metrics.weight() > 0)) return std::nullopt;
  switch (metric) {
    case Metric::mse:
      return metrics.mean_squared_error();
    case Metric::mae:
      return metrics.mean_absolute_error();
    case Metric::pinball:
      return metrics.mean_pinball(quantile);
    case Metric::deviance:
      return metrics.mean_deviance();
    default:
      return metrics.r_squared();
  }
}

std::optional<double> HeldOut::value() const {
  return classes_.has_value() ? metric_value(*classes_, metric_) : metric_value(numbers_, metric_, quantile_);
}

std::optional<double> constant_score(const Dataset& data, Metric metric, const Options& settings, const FoldRows& rows,
                                     std::int32_t f, const Progress& progress) {
  const std::vector<std::int32_t> rank = data.classes().ranks();
  const auto held = [&](std::int64_t i) { return rows.fold[static_cast<std::size_t>(i)] == f; };
  if (data.outcome() != Dataset::Outcome::classes) {
    std::vector<std::int32_t> left_out(rows.fold.size());
    for (std::size_t i = 0; i < left_out.size(); ++i) left_out[i] = rows.trains(i, f) ? 0 : 1;
    const std::int32_t offset = offset_feature(settings, data.dimensions());
    // Beside an offset the means of counts are multiples of its exponential.
    const bool multiples = offset >= 0 && make_loss(settings.loss, settings)->log_link();
    const auto loss = make_loss(multiples                   ? settings.loss
                                : metric == Metric::mae     ? "absolute"
                                : metric == Metric::pinball ? "quantile"
                                                            : "squared",
                                settings);
    const double constant = best_constant({data, &left_out, 1, offset}, *loss, progress);
    HeldOut held_out(data, rank, metric, settings);
    for (std::int64_t i = 0; i < data.rows(); ++i) {
      progress.work(16);
      if (!held(i)) continue;
      const double score = constant + offset_of(data.row(i), offset);
      const double prediction = multiples ? std::exp(score) : score;
      held_out.add(i, &prediction);
    }
    return held_out.value();
  }
  std::vector<double> inside(rank.size(), 0.0), outside(rank.size(), 0.0);  // in the order of the model's classes
  for (std::int64_t i = 0; i < data.rows(); ++i) {
    progress.work(8);
    const auto c = static_cast<std::size_t>(rank[static_cast<std::size_t>(data.class_of(i))]);
    const double weight = data.weight(i);
    if (held(i)) inside[c] += weight;
    if (rows.trains(static_cast<std::size_t>(i), f)) outside[c] += weight;
  }
  return constant_value(metric, inside, outside);
}

}  // namespace margin
