#include "core/solvers/elastic_net/column_sums.hpp"

#include <algorithm>
#include <cmath>

#include "core/data/four_rows.hpp"
#include "core/simd/mixed_columns.hpp"

namespace margin {

ColumnSums::ColumnSums(const Problem& problem, const Columns& columns, const Progress& progress)
    : problem_(problem), columns_(columns), progress_(progress) {
  const auto d = static_cast<std::size_t>(problem.dimensions());
  v_.assign(d, 0.0);
  centre_.assign(d, 0.0);
  radius_.assign(d, 0.0);
  known_.assign(d, 1);
  progress.work(4.0 * static_cast<double>(d));
}

double ColumnSums::bytes(const Problem& p) {
  const double n = static_cast<double>(p.rows());
  return 8 * n + (4 * 8.0 + 1) * p.dimensions() + ColumnBounds::bytes(n, p.dimensions());
}

void ColumnSums::all(const std::vector<double>& a) {
  a_ = a.data();
  asked_.clear();
  for (std::size_t j = 0; j < v_.size(); ++j) asked_.push_back(j);
  sum();
  before_ = a;
  kept_ = false;
  spent_ = 0;
  least_ = -1;
}

/// The sums of before_, which v_ still has all of.
void ColumnSums::keep() {
  if (kept_) return;
  const std::size_t n = before_.size(), d = v_.size();
  if (!bounds_.has_value()) bounds_.emplace(columns_, n, d, problem_.total_weight, false, progress_);
  std::vector<double> lengths(d);
  double square = 0;
  for (const double v : before_) square += v * v;
  for (std::size_t j = 0; j < d; ++j) lengths[j] = bounds_->length(j);
  const double error = epsilon * (static_cast<double>(n) + 40) * std::sqrt(square) / problem_.total_weight;
  bounds_->keep({before_, 0, v_, error, 0}, lengths);
  kept_ = true;
}

void ColumnSums::some(const std::vector<double>& a) {
  const std::size_t d = v_.size();
  // A vector's own sums tell more than bounds by those of others, once these have cost as much.
  if (before_.empty() || spent_ >= d) return all(a);
  keep();
  bounds_->bound(bounds_->nearest(a, 0), centre_, radius_);
  if (!problem_.penalty_factor.empty())
    for (std::size_t j = 0; j < d; ++j) {
      centre_[j] /= problem_.factor(j);
      radius_[j] /= problem_.factor(j);
    }
  std::fill(known_.begin(), known_.end(), 0);
  a_ = a.data();
  least_ = -1;
  progress_.work(static_cast<double>(d) + 2.0 * static_cast<double>(a.size()));
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
      centre_[j] = v_[j] / problem_.factor(j);
      radius_[j] = 0;
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
  const std::size_t d = v_.size();
  places_.resize(d);
  places_.resize(column_loops().reaching(centre_.data(), radius_.data(), least, d, places_.data()));
  for (const std::int32_t at : places_) {
    const auto j = static_cast<std::size_t>(at);
    found_.push_back(j);
    if (known_[j] == 0) asked_.push_back(j);
  }
  progress_.work(static_cast<double>(d));
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
