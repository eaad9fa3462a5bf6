#include "metrics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "error.hpp"
#include "kernels.hpp"
#include "probability.hpp"
#include "problem.hpp"

namespace margin {

namespace {
std::optional<double> ratio(std::int64_t part, std::int64_t whole) {
  if (whole == 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(whole);
}
}  // namespace

double euclidean_norm(const double* x, std::size_t n) {
  const double top = kernels().max_abs_d(x, n);
  if (top == 0 || !std::isfinite(top)) return top;
  const double scale = unit_scale(top);
  double sum = 0;
  for (std::size_t j = 0; j < n; ++j) sum += (scale * x[j]) * (scale * x[j]);
  return std::sqrt(sum) / scale;
}

ClassificationMetrics::ClassificationMetrics(std::int32_t classes, double weight_norm, bool probabilistic)
    : classes_(classes), scale_(weight_norm > 0 ? 1 / weight_norm : 0), probabilistic_(probabilistic) {
  if (classes > most_classes)
    throw Error(ErrorKind::limit_exceeded, "a confusion matrix of " + std::to_string(classes) +
                                               " classes is beyond the supported " + std::to_string(most_classes));
  confusion_.assign(static_cast<std::size_t>(classes) * static_cast<std::size_t>(classes), 0);
}

void ClassificationMetrics::add(std::int32_t label, std::int32_t predicted, const double* scores,
                                const double* log_odds) {
  ++rows_;
  ++confusion_[static_cast<std::size_t>(label) * static_cast<std::size_t>(classes_) +
               static_cast<std::size_t>(predicted)];
  const std::int32_t outputs = classes_ == 2 ? 1 : classes_;
  if (probabilistic_) log_loss_ -= log_probability(log_odds != nullptr ? log_odds : scores, outputs, label);
  if (outputs == 1) {
    sketches_[label].add(scores[0]);
    return;
  }
  double rival = -std::numeric_limits<double>::infinity();
  for (std::int32_t c = 0; c < classes_; ++c)
    if (c != label) rival = std::max(rival, scores[c]);
  sketches_[0].add((scores[label] - rival) * scale_);
}

void ClassificationMetrics::merge(const ClassificationMetrics& other) {
  rows_ += other.rows_;
  log_loss_ += other.log_loss_;
  for (std::size_t i = 0; i < confusion_.size(); ++i) confusion_[i] += other.confusion_[i];
  for (int s = 0; s < 2; ++s) sketches_[s].merge(other.sketches_[s]);
}

std::int64_t ClassificationMetrics::cell(std::int32_t truth, std::int32_t predicted) const {
  return confusion_[static_cast<std::size_t>(truth) * static_cast<std::size_t>(classes_) +
                    static_cast<std::size_t>(predicted)];
}

std::int64_t ClassificationMetrics::actual(std::int32_t c) const {
  std::int64_t sum = 0;
  for (std::int32_t p = 0; p < classes_; ++p) sum += cell(c, p);
  return sum;
}

std::int64_t ClassificationMetrics::claimed(std::int32_t c) const {
  std::int64_t sum = 0;
  for (std::int32_t t = 0; t < classes_; ++t) sum += cell(t, c);
  return sum;
}

double ClassificationMetrics::accuracy() const {
  std::int64_t right = 0;
  for (std::int32_t c = 0; c < classes_; ++c) right += cell(c, c);
  return static_cast<double>(right) / static_cast<double>(rows_);
}

std::vector<std::optional<double>> ClassificationMetrics::precision() const {
  std::vector<std::optional<double>> out;
  for (std::int32_t c = 0; c < classes_; ++c) out.push_back(ratio(cell(c, c), claimed(c)));
  return out;
}

std::vector<std::optional<double>> ClassificationMetrics::recall() const {
  std::vector<std::optional<double>> out;
  for (std::int32_t c = 0; c < classes_; ++c) out.push_back(ratio(cell(c, c), actual(c)));
  return out;
}

std::vector<std::optional<double>> ClassificationMetrics::f1() const {
  std::vector<std::optional<double>> out;
  for (std::int32_t c = 0; c < classes_; ++c) out.push_back(ratio(2 * cell(c, c), actual(c) + claimed(c)));
  return out;
}

std::vector<double> ClassificationMetrics::margin_quantiles(const std::vector<double>& q) const {
  if (classes_ != 2) return sketches_[0].quantiles(q);
  Sketch margins = sketches_[0].negated();
  margins.merge(sketches_[1]);
  std::vector<double> out = margins.quantiles(q);
  for (double& value : out) value *= scale_;
  return out;
}

std::optional<double> ClassificationMetrics::auc() const {
  if (classes_ != 2 || sketches_[0].count() == 0 || sketches_[1].count() == 0) return std::nullopt;
  return area_under_curve(sketches_[0], sketches_[1]);
}

std::optional<double> ClassificationMetrics::log_loss() const {
  if (!probabilistic_) return std::nullopt;
  return log_loss_ / static_cast<double>(rows_);
}

void RegressionMetrics::add(double target, double prediction) {
  ++rows_;
  const double error = target - prediction;
  squares_ += error * error;
  absolutes_ += std::fabs(error);
  const double step = target - mean_;
  mean_ += step / static_cast<double>(rows_);
  spread_ += step * (target - mean_);
}

void RegressionMetrics::merge(const RegressionMetrics& other) {
  if (other.rows_ == 0) return;
  const double mine = static_cast<double>(rows_), theirs = static_cast<double>(other.rows_), all = mine + theirs;
  const double step = other.mean_ - mean_;
  squares_ += other.squares_;
  absolutes_ += other.absolutes_;
  spread_ += other.spread_ + step * step * mine * theirs / all;
  mean_ += step * theirs / all;
  rows_ += other.rows_;
}

double RegressionMetrics::mean_squared_error() const { return squares_ / static_cast<double>(rows_); }

double RegressionMetrics::mean_absolute_error() const { return absolutes_ / static_cast<double>(rows_); }

std::optional<double> RegressionMetrics::r_squared() const {
  if (!(spread_ > 0)) return std::nullopt;
  return 1 - squares_ / spread_;
}

}  // namespace margin
