#include "core/data/column_bounds.hpp"

#include <algorithm>
#include <utility>

#include "core/simd/mixed_columns.hpp"

namespace margin {

namespace {

// Below it the second of two vectors tells nothing that the first does not.
constexpr double least_angle = 1e-6;

double product(const std::vector<double>& a, const std::vector<double>& b) {
  return simd().dot_dd(a.data(), b.data(), a.size());
}

/// The mean of n numbers of which those at hand are not 0, and the sum of all squared differences from it.
template <class T>
std::pair<double, double> spread(const T* x, std::size_t count, double n) {
  double sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum)
  for (std::size_t i = 0; i < count; ++i) sum += static_cast<double>(x[i]);
  const double mean = sum / n;
#pragma omp simd reduction(+ : squares)
  for (std::size_t i = 0; i < count; ++i) {
    const double off = static_cast<double>(x[i]) - mean;
    squares += off * off;
  }
  return {mean, squares + (n - static_cast<double>(count)) * (mean * mean)};
}

}  // namespace

ColumnBounds::ColumnBounds(const Columns& columns, std::size_t rows, std::size_t features, double total, bool balanced,
                           const Progress& progress)
    : total_(total),
      rows_(static_cast<double>(rows)),
      root_of_rows_(std::sqrt(rows_)),
      balanced_(balanced),
      means_(features),
      lengths_(features) {
  double work = 0;
  for (std::size_t j = 0; j < features; ++j) {
    measure(columns, j);
    work += columns.column(static_cast<std::int32_t>(j)).count / 2.0 + 4;
    if (work > 1e4) progress.work(std::exchange(work, 0.0));
  }
  progress.work(work);
}

void ColumnBounds::measure(const Columns& columns, std::size_t j) {
  const Row x = columns.column(static_cast<std::int32_t>(j));
  const auto count = static_cast<std::size_t>(x.count);
  const auto [mean, squares] = x.wide ? spread(x.doubles(), count, rows_) : spread(x.floats(), count, rows_);
  means_[j] = mean;
  lengths_[j] = std::sqrt(squares) * (1 + (rows_ + 8) * epsilon) + std::sqrt(tiny * (rows_ + 1));
}

double ColumnBounds::length_of(const std::vector<double>& a) const {
  return std::sqrt(product(a, a)) * (1 + (rows_ + 8) * epsilon) + std::sqrt(tiny * (rows_ + 1));
}

void ColumnBounds::keep(const Sums& sums, const std::vector<double>& sizes) {
  if (sizes_.empty()) sizes_ = sizes;
  if (kept_.size() == kept_most)
    std::rotate(kept_.begin(), kept_.begin() + kept_most - 1, kept_.end());
  else
    kept_.insert(kept_.begin(), Kept());
  Kept& to = kept_.front();
  to.a = sums.a;
  to.v = sums.v;
  to.excess = sums.excess;
  to.error = sums.error;
  to.lost = sums.lost;
  to.length = length_of(sums.a);
}

ColumnBounds::Mix ColumnBounds::nearest(const std::vector<double>& a, double excess) const {
  Mix out;
  const Kept &first = kept_.front(), &last = kept_.back();
  const double own = product(first.a, first.a), with_first = product(a, first.a);
  out.shares[0] = own > 0 ? with_first / own : 0;
  if (kept_.size() == kept_most) {
    const double both = product(first.a, last.a), other = product(last.a, last.a), with_last = product(a, last.a);
    const double rest = own > 0 ? other - both * both / own : 0;
    if (rest > least_angle * least_angle * other) {
      out.shares[1] = (with_last - both * out.shares[0]) / rest;
      out.shares[0] -= out.shares[1] * both / own;
    }
  }
  double sum = 0, absolute = 0, squares = 0;
  const double *const x = first.a.data(), *const y = last.a.data(), one = out.shares[0], two = out.shares[1];
#pragma omp simd reduction(+ : sum, absolute, squares)
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double e = a[i] - one * x[i] - two * y[i];
    sum += e;
    absolute += std::fabs(e);
    squares += e * e;
  }
  const double length = length_of(a), of_first = std::fabs(one) * first.length, of_last = std::fabs(two) * last.length;
  // e itself errs by ulps of what it is made of.
  const double rounding = 4 * epsilon * (length + of_first + of_last);
  double distance = std::sqrt(squares) * (1 + (rows_ + 8) * epsilon) + std::sqrt(tiny * (rows_ + 1)) + rounding;
  if (balanced_) {
    distance += excess * length + of_first * first.excess + of_last * last.excess;
  } else {
    out.rest = sum / total_;
    out.rest_error = ((rows_ + 8) * epsilon * absolute + root_of_rows_ * rounding) / total_ * (1 + 8 * epsilon);
  }
  out.distance = distance / total_ * (1 + 16 * epsilon);
  out.error = std::fabs(one) * first.error + std::fabs(two) * last.error;
  out.lost = std::fabs(one) * first.lost + std::fabs(two) * last.lost + 8 * tiny;
  return out;
}

void ColumnBounds::bound(const Mix& mix, std::vector<double>& centre, std::vector<double>& radius) const {
  const std::size_t d = lengths_.size();
  centre.resize(d);
  radius.resize(d);
  column_loops().mix(
      {kept_.front().v.data(), kept_.back().v.data(), means_.data(), lengths_.data(), sizes_.data(), mix.shares[0],
       mix.shares[1], mix.rest, mix.distance, mix.error, 8 * epsilon, mix.rest_error, mix.lost},
      16 * epsilon, d, centre.data(), radius.data());
}

}  // namespace margin
