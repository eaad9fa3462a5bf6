#include "core/metrics/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.hpp"
#include "core/model/probability.hpp"
#include "core/problem/problem.hpp"

namespace margin {

namespace {
constexpr double rounding = 1e-9;  // of sums of weights, in whatever order

template <class Count>
std::optional<double> ratio(Count part, Count whole) {
  if (!(whole > 0)) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(whole);
}
}  // namespace

template <class Count>
CountingMetrics<Count>::CountingMetrics(std::int32_t classes, double weight_norm, bool probabilistic)
    : classes_(classes), scale_(weight_norm > 0 ? 1 / weight_norm : 0) {
  if (probabilistic) reliability_.emplace();
  if (classes > most_classes)
    throw Error(ErrorKind::limit_exceeded, "a confusion matrix of " + std::to_string(classes) +
                                               " classes is beyond the supported " + std::to_string(most_classes));
  confusion_.assign(static_cast<std::size_t>(classes) * static_cast<std::size_t>(classes), 0);
  if (classes > 2) ranks_.assign(static_cast<std::size_t>(std::min(classes, most_ranks)), 0);
}

template <class Count>
void CountingMetrics<Count>::add(std::int32_t label, std::int32_t predicted, const double* scores,
                                 const double* log_odds, Count weight) {
  const RowMetrics row = measure(label, predicted, scores, log_odds);
  ++rows_;
  weight_ += weight;
  confusion_[row.cell] += weight;
  if (static_cast<std::size_t>(row.rank) < ranks_.size()) ranks_[static_cast<std::size_t>(row.rank)] += weight;
  if (reliability_.has_value()) {
    log_loss_ += static_cast<double>(weight) * row.log_loss;
    brier_ += static_cast<double>(weight) * row.brier;
    reliability_->add(row.probability, row.hit, weight);
  }
  sketches_[row.sketch].add(row.score, weight);
}

template <class Count>
RowMetrics CountingMetrics<Count>::measure(std::int32_t label, std::int32_t predicted, const double* scores,
                                           const double* log_odds) const {
  RowMetrics row;
  row.cell = static_cast<std::size_t>(label) * static_cast<std::size_t>(classes_) + static_cast<std::size_t>(predicted);
  const std::int32_t outputs = classes_ == 2 ? 1 : classes_;
  if (reliability_.has_value()) {
    const double* odds = log_odds != nullptr ? log_odds : scores;
    row.log_loss = -log_probability(odds, outputs, label);
    const std::int32_t claimed = outputs == 1 ? 1 : predicted;
    const double p = std::exp(log_probability(odds, outputs, claimed));
    row.probability = p >= 0 ? std::min(p, 1.0) : 0.0;  // NaN, of overflown scores, counts as 0
    row.hit = label == claimed;
    const double off = row.probability - (row.hit ? 1.0 : 0.0);
    if (outputs == 1) row.brier = off * off;
  }
  if (outputs == 1) {
    row.sketch = label;
    row.score = scores[0];
    return row;
  }
  double rival = -std::numeric_limits<double>::infinity();
  for (std::int32_t c = 0; c < classes_; ++c) {
    if (c == label) continue;
    rival = std::max(rival, scores[c]);
    row.rank += scores[c] > scores[label] || (c < label && scores[c] == scores[label]);
  }
  row.score = (scores[label] - rival) * scale_;
  return row;
}

template <class Count>
bool CountingMetrics<Count>::merge(const Sums& sums) {
  if (sums.confusion.size() != confusion_.size() || sums.ranks.size() != ranks_.size() || sums.rows < 0) return false;
  const auto sum_of = [](const std::vector<Count>& counts) {
    double sum = 0;
    for (const Count c : counts) sum += c >= 0 ? static_cast<double>(c) : std::numeric_limits<double>::quiet_NaN();
    return sum;
  };
  const double all = sum_of(sums.confusion);
  const auto is_all = [=](double sum) { return std::fabs(sum - all) <= rounding * all; };  // not of an infinite one
  if (!is_all(static_cast<double>(sums.sketches[0].count() + sums.sketches[1].count())) ||
      !(sum_of(sums.ranks) <= (1 + rounding) * all))
    return false;
  if (reliability_.has_value()) {
    Count weight = 0;
    for (std::size_t b = 0; b < Reliability::bins; ++b) {
      const typename Sums::Bin& bin = sums.reliability[b];
      if (!reliability_->add_bin(b, bin.rows, bin.hits, bin.probabilities)) return false;
      weight += bin.rows;
    }
    if (!is_all(static_cast<double>(weight))) return false;
  }
  rows_ += sums.rows;
  weight_ += static_cast<Count>(all);
  log_loss_ += sums.log_loss;
  brier_ += sums.brier;
  for (std::size_t i = 0; i < confusion_.size(); ++i) confusion_[i] += sums.confusion[i];
  for (std::size_t i = 0; i < ranks_.size(); ++i) ranks_[i] += sums.ranks[i];
  for (int s = 0; s < 2; ++s) sketches_[s].merge(sums.sketches[s]);
  return true;
}

template <class Count>
void CountingMetrics<Count>::merge(const CountingMetrics& other) {
  rows_ += other.rows_;
  weight_ += other.weight_;
  log_loss_ += other.log_loss_;
  brier_ += other.brier_;
  if (reliability_.has_value()) reliability_->merge(*other.reliability_);
  for (std::size_t i = 0; i < confusion_.size(); ++i) confusion_[i] += other.confusion_[i];
  for (std::size_t i = 0; i < ranks_.size(); ++i) ranks_[i] += other.ranks_[i];
  for (int s = 0; s < 2; ++s) sketches_[s].merge(other.sketches_[s]);
}

template <class Count>
Count CountingMetrics<Count>::cell(std::int32_t truth, std::int32_t predicted) const {
  return confusion_[static_cast<std::size_t>(truth) * static_cast<std::size_t>(classes_) +
                    static_cast<std::size_t>(predicted)];
}

template <class Count>
Count CountingMetrics<Count>::actual(std::int32_t c) const {
  Count sum = 0;
  for (std::int32_t p = 0; p < classes_; ++p) sum += cell(c, p);
  return sum;
}

template <class Count>
Count CountingMetrics<Count>::claimed(std::int32_t c) const {
  Count sum = 0;
  for (std::int32_t t = 0; t < classes_; ++t) sum += cell(t, c);
  return sum;
}

template <class Count>
double CountingMetrics<Count>::accuracy() const {
  Count right = 0;
  for (std::int32_t c = 0; c < classes_; ++c) right += cell(c, c);
  return static_cast<double>(right) / static_cast<double>(weight_);
}

template <class Count>
std::vector<std::optional<double>> CountingMetrics<Count>::precision() const {
  std::vector<std::optional<double>> out;
  for (std::int32_t c = 0; c < classes_; ++c) out.push_back(ratio(cell(c, c), claimed(c)));
  return out;
}

template <class Count>
std::vector<std::optional<double>> CountingMetrics<Count>::recall() const {
  std::vector<std::optional<double>> out;
  for (std::int32_t c = 0; c < classes_; ++c) out.push_back(ratio(cell(c, c), actual(c)));
  return out;
}

template <class Count>
std::vector<std::optional<double>> CountingMetrics<Count>::f1() const {
  std::vector<std::optional<double>> out;
  for (std::int32_t c = 0; c < classes_; ++c) out.push_back(ratio(2 * cell(c, c), actual(c) + claimed(c)));
  return out;
}

template <class Count>
std::vector<double> CountingMetrics<Count>::top_k() const {
  std::vector<double> out;
  Count sum = 0;
  for (const Count rows : ranks_) out.push_back(static_cast<double>(sum += rows) / static_cast<double>(weight_));
  return out;
}

template <class Count>
std::vector<double> CountingMetrics<Count>::margin_quantiles(const std::vector<double>& q) const {
  if (classes_ != 2) return sketches_[0].quantiles(q);
  Margins margins = sketches_[0].negated();
  margins.merge(sketches_[1]);
  std::vector<double> out = margins.quantiles(q);
  for (double& value : out) value *= scale_;
  return out;
}

template <class Count>
std::optional<double> CountingMetrics<Count>::auc() const {
  if (classes_ != 2 || sketches_[0].count() == 0 || sketches_[1].count() == 0) return std::nullopt;
  return area_under_curve(sketches_[0], sketches_[1]);
}

template <class Count>
std::optional<double> CountingMetrics<Count>::log_loss() const {
  if (!reliability_.has_value()) return std::nullopt;
  return log_loss_ / static_cast<double>(weight_);
}

template <class Count>
std::optional<double> CountingMetrics<Count>::brier() const {
  if (!reliability_.has_value() || classes_ != 2) return std::nullopt;
  return brier_ / static_cast<double>(weight_);
}

template <class Count>
std::optional<double> CountingMetrics<Count>::average_precision() const {
  const std::vector<RocPoint> curve = roc();
  if (curve.empty()) return std::nullopt;
  const double negatives = static_cast<double>(sketches_[0].count()),
               positives = static_cast<double>(sketches_[1].count());
  double sum = 0;
  for (std::size_t k = 1; k < curve.size(); ++k) {
    const double hits = curve[k].true_positives * positives;
    if (hits > 0)
      sum += (curve[k].true_positives - curve[k - 1].true_positives) * hits /
             (hits + curve[k].false_positives * negatives);
  }
  return sum;
}

template <class Count>
std::optional<double> CountingMetrics<Count>::matthews() const {
  const double all = static_cast<double>(weight_);
  double right = 0, both = 0, truths = 0, claims = 0;
  for (std::int32_t c = 0; c < classes_; ++c) {
    const double truth = static_cast<double>(actual(c)) / all, claim = static_cast<double>(claimed(c)) / all;
    right += static_cast<double>(cell(c, c)) / all;
    both += truth * claim;
    truths += truth * (1 - truth);
    claims += claim * (1 - claim);
  }
  if (!(truths > 0) || !(claims > 0)) return std::nullopt;
  return (right - both) / std::sqrt(truths * claims);
}

template <class Count>
std::vector<ThresholdCounts> CountingMetrics<Count>::thresholds() const {
  if (!auc().has_value()) return {};
  const Margins& lower = sketches_[0];
  const Margins& higher = sketches_[1];
  // Both in buckets, or none: a bucket of one class would not be comparable with the exact scores of the other.
  const bool exact = lower.exact() && higher.exact();
  const auto negative = exact ? lower.items() : lower.coarse_items(),
             positive = exact ? higher.items() : higher.coarse_items();
  std::vector<ThresholdCounts> out{{std::numeric_limits<double>::infinity(), 0, 0}};
  double above_negative = 0, above_positive = 0;
  auto n = negative.rbegin();
  auto p = positive.rbegin();
  while (n != negative.rend() || p != positive.rend()) {
    const auto& next = n == negative.rend() || (p != positive.rend() && p->first > n->first) ? *p : *n;
    for (; n != negative.rend() && n->first >= next.first; ++n) above_negative += static_cast<double>(n->second);
    for (; p != positive.rend() && p->first >= next.first; ++p) above_positive += static_cast<double>(p->second);
    out.push_back({exact ? next.first : Margins::least_coarse(next), above_negative, above_positive});
  }
  return out;
}

template <class Count>
std::vector<RocPoint> CountingMetrics<Count>::roc() const {
  const auto negatives = static_cast<double>(sketches_[0].count()),
             positives = static_cast<double>(sketches_[1].count());
  std::vector<RocPoint> curve;
  for (const ThresholdCounts& at : thresholds())
    curve.push_back({at.false_positives / negatives, at.true_positives / positives});
  return curve;
}

template <class Count>
auto CountingMetrics<Count>::margins(std::int32_t label) const -> std::vector<typename Margins::Item> {
  if (classes_ != 2) return sketches_[0].items();
  auto items = (label == 0 ? sketches_[0].negated() : sketches_[1]).items();
  for (auto& item : items) item.first *= scale_;
  return items;
}

template <class Count>
void CountingReliability<Count>::add(double probability, bool hit, Count weight) {
  const double p = probability >= 0 ? std::min(probability, 1.0) : 0.0;
  const std::size_t b = bin_of(p);
  rows_[b] += weight;
  if (hit) hits_[b] += weight;
  sums_[b] += static_cast<double>(weight) * p;
}

template <class Count>
bool CountingReliability<Count>::add_bin(std::size_t bin, Count rows, Count hits, double sum) {
  if (!(rows >= 0 && hits >= 0 && hits <= (1 + rounding) * static_cast<double>(rows))) return false;
  rows_[bin] += rows;
  hits_[bin] += std::min(hits, rows);
  sums_[bin] += sum;
  return true;
}

template <class Count>
void CountingReliability<Count>::merge(const CountingReliability& other) {
  for (std::size_t b = 0; b < bins; ++b) {
    rows_[b] += other.rows_[b];
    hits_[b] += other.hits_[b];
    sums_[b] += other.sums_[b];
  }
}

template <class Count>
auto CountingReliability<Count>::result() const -> std::vector<Bin> {
  constexpr double z = 1.959963984540054;  // 97.5 % quantile of the normal distribution
  std::vector<Bin> out(bins);
  for (std::size_t b = 0; b < bins; ++b) {
    if (rows_[b] == 0) continue;
    const double n = static_cast<double>(rows_[b]), share = static_cast<double>(hits_[b]) / n;
    const double centre = (share + z * z / (2 * n)) / (1 + z * z / n);
    const double reach = z / (1 + z * z / n) * std::sqrt(share * (1 - share) / n + z * z / (4 * n * n));
    out[b] = {rows_[b], hits_[b], sums_[b] / n, std::max(0.0, centre - reach), std::min(1.0, centre + reach)};
  }
  return out;
}

void RegressionMetrics::add(double target, double prediction, double deviance, double weight) {
  ++rows_;
  weight_ += weight;
  deviances_ += weight * deviance;
  const double error = target - prediction;
  squares_ += weight * error * error;
  absolutes_ += weight * std::fabs(error);
  errors_ += weight * error;
  const double step = target - mean_;
  mean_ += weight * step / weight_;
  spread_ += weight * step * (target - mean_);
}

// The sums carry their rounding, and products are split into what a double holds and the rest: without that the spread
// of targets far from 0 would be noise.
void RegressionMetrics::merge(const Sums& sums) {
  if (sums.rows == 0) return;
  RegressionMetrics part;
  const double n = sums.weights.value(), mean = sums.targets.value() / n;
  ExactSum spread = sums.target_squares;
  const auto subtract = [&](double a, double b) {
    const double product = a * b;
    spread.add(-product);
    spread.add(-std::fma(a, b, -product));
  };
  // Σ w (y − m)² = Σ w y² − 2 m Σ w y + m² Σ w for any m
  subtract(2 * mean, sums.targets.rounded());
  subtract(2 * mean, sums.targets.lost());
  const double square = mean * mean;
  for (const double weights : {sums.weights.rounded(), sums.weights.lost()}) {
    subtract(-weights, square);
    subtract(-weights, std::fma(mean, mean, -square));
  }
  part.rows_ = sums.rows;
  part.weight_ = n;
  part.squares_ = sums.squares;
  part.absolutes_ = sums.absolutes;
  part.errors_ = sums.errors;
  part.deviances_ = sums.deviances;
  part.mean_ = mean;
  part.spread_ = sums.smallest < sums.largest ? std::max(0.0, spread.value()) : 0.0;
  merge(part);
}

void RegressionMetrics::merge(const RegressionMetrics& other) {
  if (other.rows_ == 0) return;
  const double mine = weight_, theirs = other.weight_, all = mine + theirs;
  const double step = other.mean_ - mean_;
  squares_ += other.squares_;
  absolutes_ += other.absolutes_;
  errors_ += other.errors_;
  deviances_ += other.deviances_;
  spread_ += other.spread_ + step * step * mine * theirs / all;
  mean_ += step * theirs / all;
  rows_ += other.rows_;
  weight_ = all;
}

double RegressionMetrics::mean_squared_error() const { return squares_ / weight_; }

double RegressionMetrics::mean_absolute_error() const { return absolutes_ / weight_; }

double RegressionMetrics::mean_deviance() const { return deviances_ / weight_; }

double RegressionMetrics::mean_pinball(double tau) const {
  // A side's share of |y − f| is half of it, and half of y − f more or less.
  return std::max(0.0, 0.5 * absolutes_ + (tau - 0.5) * errors_) / weight_;
}

std::optional<double> RegressionMetrics::r_squared() const {
  if (!(spread_ > 0)) return std::nullopt;
  return 1 - squares_ / spread_;
}

template class CountingReliability<std::int64_t>;
template class CountingReliability<double>;
template class CountingMetrics<std::int64_t>;
template class CountingMetrics<double>;

}  // namespace margin
