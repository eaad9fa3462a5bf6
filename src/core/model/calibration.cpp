#include "core/model/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/data/row.hpp"
#include "core/math/norm.hpp"
#include "core/model/probability.hpp"

namespace margin {

namespace {

/// What turns weights into such of mean 1 over the rows that have one.
struct WeightScale {
  WeightScale(const std::vector<ScoredRow>& all, std::int64_t count) {
    double sum = 0;
    for (const ScoredRow& r : all) {
      sum += r.weight;
      rows += r.weight > 0;
    }
    if (count > 0) rows = static_cast<double>(count);
    if (sum > 0) factor = rows / sum;
  }
  double factor = 0, rows = 0;
};

/// Platt's problem in z = a f + b, where f = (scale·s − centre)/spread has mean 0 and |f| ≤ 1: well conditioned,
/// whatever the units of the scores.
class PlattProblem {
 public:
  PlattProblem(const std::vector<ScoredRow>& rows, const Progress& progress, std::int64_t count)
      : rows_(rows), progress_(progress), weights_(rows, count) {
    double top = 0, positive = 0, sum = 0;
    for (const ScoredRow& r : rows)
      if (r.weight > 0) top = std::max(top, std::fabs(r.score));
    scale_ = unit_scale(top);
    for (const ScoredRow& r : rows) {
      sum += weight(r) * (scale_ * r.score);
      if (r.positive) positive += weight(r);
    }
    total_ = weights_.rows;
    centre_ = total_ > 0 ? sum / total_ : 0.0;
    for (const ScoredRow& r : rows)
      if (r.weight > 0) spread_ = std::max(spread_, std::fabs(scale_ * r.score - centre_));
    const double negative = std::max(0.0, total_ - positive);
    high_ = (positive + 1) / (positive + 2);
    low_ = 1 / (negative + 2);
    mean_ = total_ > 0 ? (positive * high_ + negative * low_) / total_ : 0.5;
  }

  /// Scores that differ by rounding only.
  bool constant() const { return spread_ <= 1e-13; }
  /// The best b for a = 0.
  double flat_offset() const { return std::log(mean_ / (1 - mean_)); }
  double total() const { return total_; }

  double value(double a, double b) const {
    double sum = 0;
    for (const ScoredRow& r : rows_) {
      const double z = a * feature(r) + b, t = target(r);
      sum -= weight(r) * (t * log_sigmoid(z) + (1 - t) * log_sigmoid(-z));
    }
    progress_.work(60.0 * static_cast<double>(rows_.size()));
    return sum;
  }

  struct Slope {
    double a = 0, b = 0, aa = 0, ab = 0, bb = 0;
  };
  /// Gradient and Hessian.
  Slope slope(double a, double b) const {
    Slope s;
    for (const ScoredRow& r : rows_) {
      const double f = feature(r), z = a * f + b, p = sigmoid(z), w = weight(r);
      const double first = w * (p - target(r)), second = w * p * sigmoid(-z);
      s.a += first * f;
      s.b += first;
      s.aa += second * f * f;
      s.ab += second * f;
      s.bb += second;
    }
    progress_.work(60.0 * static_cast<double>(rows_.size()));
    return s;
  }

  /// (a, b) in the units of the scores.
  Sigmoid in_units(double a, double b) const { return {a / spread_ * scale_, b - a * (centre_ / spread_)}; }

 private:
  double weight(const ScoredRow& r) const { return weights_.factor * r.weight; }
  double feature(const ScoredRow& r) const { return (scale_ * r.score - centre_) / spread_; }
  double target(const ScoredRow& r) const { return r.positive ? high_ : low_; }

  const std::vector<ScoredRow>& rows_;
  const Progress& progress_;
  WeightScale weights_;
  double scale_ = 1, centre_ = 0, spread_ = 0, total_ = 0, high_ = 0, low_ = 0, mean_ = 0.5;
};

double interpolate(const std::vector<Knot>& knots, double score) {
  if (!(score > knots.front().score)) return knots.front().probability;
  if (!(score < knots.back().score)) return knots.back().probability;
  const auto right =
      std::upper_bound(knots.begin(), knots.end(), score, [](double s, const Knot& k) { return s < k.score; });
  const Knot &from = *(right - 1), &to = *right;
  if (from.probability == to.probability) return from.probability;
  // Two scores that differ have a distance other than 0; that of two huge ones may overflow, and is halved.
  const double width = to.score - from.score;
  const double share = std::isfinite(width) ? (score - from.score) / width
                                            : (score / 2 - from.score / 2) / (to.score / 2 - from.score / 2);
  return std::clamp(from.probability + share * (to.probability - from.probability), from.probability, to.probability);
}

}  // namespace

Sigmoid fit_sigmoid(const std::vector<ScoredRow>& rows, const Progress& progress, std::int64_t count) {
  constexpr double ridge = 1e-12, smallest_step = 1e-10, accuracy = 1e-12;
  const PlattProblem problem(rows, progress, count);
  const Sigmoid flat{0, problem.flat_offset()};
  if (problem.constant()) return flat;
  double a = 0, b = flat.offset, value = problem.value(a, b);
  for (int iteration = 0; iteration < 100; ++iteration) {
    const PlattProblem::Slope g = problem.slope(a, b);
    if (std::max(std::fabs(g.a), std::fabs(g.b)) <= accuracy * problem.total()) break;
    const double aa = g.aa + ridge, bb = g.bb + ridge, determinant = aa * bb - g.ab * g.ab;
    const double da = -(bb * g.a - g.ab * g.b) / determinant, db = -(aa * g.b - g.ab * g.a) / determinant;
    const double descent = g.a * da + g.b * db;
    double step = 1, next = 0;
    for (; step >= smallest_step; step /= 2) {
      next = problem.value(a + step * da, b + step * db);
      if (next < value + 1e-4 * step * descent) break;
    }
    if (step < smallest_step) break;  // rounding allows no further descent
    a += step * da;
    b += step * db;
    value = next;
  }
  const Sigmoid fit = problem.in_units(a, b);
  // Scores so small that the slope overflows tell nothing that another model would not.
  return a > 0 && std::isfinite(fit.slope) && std::isfinite(fit.offset) ? fit : flat;
}

std::vector<double> pool_adjacent_violators(const std::vector<double>& y, const std::vector<double>& w) {
  struct Block {
    double mean, weight;
    std::size_t count;
  };
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < y.size(); ++i) {
    Block last{y[i], w[i], 1};
    while (!blocks.empty() && blocks.back().mean >= last.mean) {
      const Block& before = blocks.back();
      const double weight = before.weight + last.weight;
      last = {before.mean + (last.mean - before.mean) * (last.weight / weight), weight, before.count + last.count};
      blocks.pop_back();
    }
    blocks.push_back(last);
  }
  std::vector<double> out;
  out.reserve(y.size());
  for (const Block& b : blocks) out.insert(out.end(), b.count, b.mean);
  return out;
}

std::vector<Knot> fit_isotonic(std::vector<ScoredRow>& rows, const Progress& progress, std::int64_t count) {
  const WeightScale weights(rows, count);
  rows.erase(std::remove_if(rows.begin(), rows.end(), [](const ScoredRow& r) { return !(r.weight > 0); }), rows.end());
  std::sort(rows.begin(), rows.end(), [&](const ScoredRow& l, const ScoredRow& r) {
    progress.work(8);
    // By everything that counts in the sums, so that the order of the rows does not show in their last bits.
    if (l.score != r.score) return l.score < r.score;
    return l.positive != r.positive ? r.positive : l.weight < r.weight;
  });
  std::vector<double> score, share, weight;
  for (std::size_t at = 0; at < rows.size();) {
    const double s = rows[at].score;
    double all = 0, positive = 0;
    for (; at < rows.size() && rows[at].score == s; ++at) {
      all += weights.factor * rows[at].weight;
      if (rows[at].positive) positive += weights.factor * rows[at].weight;
    }
    progress.work(16);
    score.push_back(s);
    share.push_back(std::min(1.0, positive / all));
    weight.push_back(all);
  }
  const std::vector<double> fit = pool_adjacent_violators(share, weight);
  const double least = 1 / (weights.rows + 2);
  const auto bounded = [&](std::size_t i) { return std::clamp(fit[i], least, 1 - least); };
  std::vector<Knot> knots;
  for (std::size_t from = 0, to = 0; from < fit.size(); from = to + 1) {
    for (to = from; to + 1 < fit.size() && bounded(to + 1) == bounded(from); ++to) progress.work(4);
    knots.push_back({score[from], bounded(from)});
    if (to > from) knots.push_back({score[to], bounded(from)});
  }
  return knots;
}

void Calibration::log_odds(const double* scores, double* out) const {
  for (std::size_t o = 0; o < sigmoids.size(); ++o) {
    const Sigmoid& map = sigmoids[o];
    out[o] = map.slope > 0 ? map.slope * scores[o] + map.offset : map.offset;
  }
  for (std::size_t o = 0; o < knots.size(); ++o) {
    const double p = interpolate(knots[o], scores[o]);
    out[o] = std::log(p) - std::log1p(-p);
  }
}

void add_fit(Calibrate kind, std::vector<ScoredRow>& rows, const Progress& progress, Calibration& calibration,
             std::int64_t count) {
  if (kind == Calibrate::platt) calibration.sigmoids.push_back(fit_sigmoid(rows, progress, count));
  if (kind == Calibrate::isotonic) calibration.knots.push_back(fit_isotonic(rows, progress, count));
}

std::vector<double> to_table(const Calibration& calibration) {
  std::vector<double> table;
  for (const Sigmoid& map : calibration.sigmoids) table.insert(table.end(), {map.slope, map.offset});
  for (std::size_t o = 0; o < calibration.knots.size(); ++o)
    for (const Knot& knot : calibration.knots[o])
      table.insert(table.end(), {static_cast<double>(o + 1), knot.score, knot.probability});
  return table;
}

std::string from_table(const std::vector<double>& values, std::size_t columns, std::int32_t outputs,
                       Calibration& calibration) {
  calibration = {};
  const auto k = static_cast<std::size_t>(outputs);
  if (columns == 2) {
    if (values.size() != 2 * k)
      return "has " + std::to_string(values.size() / 2) + " rows of two columns, expected " + std::to_string(outputs);
    for (std::size_t o = 0; o < k; ++o) {
      if (!(values[2 * o] >= 0)) return "has a negative slope";
      calibration.sigmoids.push_back({values[2 * o], values[2 * o + 1]});
    }
    return {};
  }
  if (columns != 3 || values.empty()) return "must have two dimensions with 2 columns (sigmoids) or 3 (knots)";
  const std::string misnumbered = "must number the outputs from 1 to " + std::to_string(outputs) + " in column 1";
  std::vector<std::vector<Knot>>& lists = calibration.knots;
  for (std::size_t at = 0; at + 3 <= values.size(); at += 3) {
    const double output = values[at];
    const Knot knot{values[at + 1], values[at + 2]};
    const bool first = output == static_cast<double>(lists.size() + 1);
    if (first) lists.emplace_back();
    if (lists.empty() || lists.size() > k || output != static_cast<double>(lists.size())) return misnumbered;
    if (!(knot.probability > 0 && knot.probability < 1)) return "has a probability outside of (0, 1)";
    std::vector<Knot>& knots = lists.back();
    if (!first && !(knot.score > knots.back().score && knot.probability >= knots.back().probability))
      return "must have knots of rising score and probability";
    knots.push_back(knot);
  }
  return lists.size() == k ? std::string() : misnumbered;
}

}  // namespace margin
