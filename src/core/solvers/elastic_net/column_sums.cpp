#include "core/solvers/elastic_net/column_sums.hpp"

#include <algorithm>
#include <cmath>

#include "core/data/four_rows.hpp"

namespace margin {

ColumnSums::ColumnSums(const Problem& problem, const Columns& columns, const Progress& progress)
    : problem_(problem), columns_(columns), progress_(progress) {
  const auto d = static_cast<std::size_t>(problem.dimensions());
  v_.assign(d, 0.0);
  bound_.assign(d, 0.0);
  known_.assign(d, 1);
  progress.work(4.0 * static_cast<double>(d));
}

double ColumnSums::bytes(const Problem& p) {
  return 8.0 * static_cast<double>(p.rows()) + (6 * 8.0 + 1 + 8) * p.dimensions();
}

void ColumnSums::all(const std::vector<double>& a) {
  a_ = a.data();
  asked_.clear();
  for (std::size_t j = 0; j < v_.size(); ++j) asked_.push_back(j);
  sum();
  before_ = a;
  v_before_.resize(v_.size());
  for (std::size_t j = 0; j < v_.size(); ++j) v_before_[j] = v_[j] / problem_.factor(j);
  spent_ = 0;
  least_ = -1;
}

/// Means and lengths of all columns.
void ColumnSums::measure() {
  const auto n = static_cast<double>(problem_.rows());
  const std::size_t d = v_.size();
  means_.resize(d);
  lengths_.resize(d);
  const std::vector<double> ones(static_cast<std::size_t>(problem_.rows()), 1.0);
  for (std::size_t j = 0; j < d; ++j) {
    const Row x = columns_.column(static_cast<std::int32_t>(j));
    const double mean = dot(x, ones.data()) / n, square = squared_norm(x),
                 over = problem_.total_weight * problem_.factor(j);
    // Both squares err by their rounding: where columns lie far from 0 the bound is wide.
    means_[j] = mean / over;
    lengths_[j] = std::sqrt(std::max(0.0, square - n * mean * mean) + 1e-15 * (n + 40) * square) / over;
    progress_.work(2.0 * x.count + 8);
  }
}

void ColumnSums::some(const std::vector<double>& a) {
  const std::size_t n = a.size(), d = v_.size();
  // A vector's own sums tell more than bounds by those of another, once these have cost as much.
  if (before_.empty() || spent_ >= d) return all(a);
  if (means_.empty()) measure();
  double both = 0, square = 0;
  for (std::size_t i = 0; i < n; ++i) {
    both += a[i] * before_[i];
    square += before_[i] * before_[i];
  }
  const double share = square > 0 ? both / square : 0;
  double rest = 0, length = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double e = a[i] - share * before_[i];
    rest += e;
    length += e * e;
  }
  // A little more, as the sums behind it are rounded.
  length = std::sqrt(std::max(0.0, length - rest * rest / static_cast<double>(n)) + 1e-15 * both * std::fabs(share));
  const double *const of_before = v_before_.data(), *const means = means_.data(), *const lengths = lengths_.data();
  double* const bound = bound_.data();
#pragma omp simd
  for (std::size_t j = 0; j < d; ++j)
    bound[j] = std::fabs(share * of_before[j] + rest * means[j]) + length * lengths[j];
  std::fill(known_.begin(), known_.end(), 0);
  a_ = a.data();
  least_ = -1;
  progress_.work(static_cast<double>(d) + 4.0 * static_cast<double>(n));
}

/// Of the columns that are asked for.
void ColumnSums::sum() {
  const double total = problem_.total_weight;
  const auto column = [&](std::size_t k) { return columns_.column(static_cast<std::int32_t>(asked_[k])); };
  double work = 0;
  for (std::size_t k = 0; k < asked_.size(); k += 4) {
    const std::size_t count = std::min<std::size_t>(4, asked_.size() - k);
    Row x[4] = {};
    double out[4];
    for (std::size_t r = 0; r < count; ++r) x[r] = column(k + r);
    if (x[0].indices != nullptr)
      for (std::size_t r = 0; r < count; ++r) out[r] = dot(x[r], a_);
    else
      dots(x, static_cast<int>(count), nullptr, a_, out);
    for (std::size_t r = 0; r < count; ++r) {
      const std::size_t j = asked_[k + r];
      v_[j] = out[r] / total;
      bound_[j] = std::fabs(v_[j]) / problem_.factor(j);
      known_[j] = 1;
      work += x[r].count;
    }
    if (work > 1e4) progress_.work(std::exchange(work, 0.0));
  }
  progress_.work(work);
  spent_ += asked_.size();
}

const std::vector<std::size_t>& ColumnSums::at_least(double least) {
  if (least_ >= 0 && least >= least_) return found_;
  found_.clear();
  asked_.clear();
  for (std::size_t j = 0; j < bound_.size(); ++j) {
    if (bound_[j] < least) continue;  // a bound that is no number leaves the feature in
    found_.push_back(j);
    if (known_[j] == 0) asked_.push_back(j);
  }
  progress_.work(static_cast<double>(bound_.size()));
  sum();
  least_ = least;
  return found_;
}

void ColumnSums::know(const std::vector<std::size_t>& features) {
  asked_.clear();
  for (const std::size_t j : features)
    if (known_[j] == 0) asked_.push_back(j);
  sum();
}

}  // namespace margin
