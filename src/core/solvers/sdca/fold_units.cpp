#include "core/solvers/sdca/fold_units.hpp"

#include <algorithm>
#include <cmath>

#include "core/problem/target_units.hpp"

namespace margin {

namespace {

/// Calls f(j, value) for the stored values of a row.
template <class F>
void for_each_value(const Row& x, F f) {
  for (std::int32_t k = 0; k < x.count; ++k)
    f(static_cast<std::size_t>(x.indices != nullptr ? x.indices[k] : k), x.value(k));
}

/// Mass, mean and sum of squares about it of every column, of the rows of each of some sets.
struct Moments {
  std::vector<double> mass, mean, squares;  // of each set; features × sets
};

/// Set `set(i)` of row i.
template <class F>
Moments moments(const Dataset& data, std::size_t sets, F&& set, const Progress& progress) {
  const auto d = static_cast<std::size_t>(data.dimensions());
  Moments m{std::vector<double>(sets), std::vector<double>(d * sets), std::vector<double>(d * sets)};
  for (std::int64_t i = 0; i < data.rows(); ++i) {
    const std::size_t s = set(i);
    const double c = data.weight(i);
    const Row x = data.row(i);
    m.mass[s] += c;
    for_each_value(x, [&](std::size_t j, double v) { m.mean[j * sets + s] += c * v; });
    progress.work(4.0 * x.count + 8);
  }
  for (std::size_t k = 0; k < m.mean.size(); ++k)
    if (m.mass[k % sets] > 0) m.mean[k] /= m.mass[k % sets];
  std::vector<double> stored(d * sets);
  for (std::int64_t i = 0; i < data.rows(); ++i) {
    const std::size_t s = set(i);
    const double c = data.weight(i);
    const Row x = data.row(i);
    for_each_value(x, [&](std::size_t j, double v) {
      const double off = v - m.mean[j * sets + s];
      m.squares[j * sets + s] += c * off * off;
      stored[j * sets + s] += c;
    });
    progress.work(4.0 * x.count + 8);
  }
  for (std::size_t k = 0; k < m.mean.size(); ++k)
    m.squares[k] += std::max(0.0, m.mass[k % sets] - stored[k]) * m.mean[k] * m.mean[k];
  return m;
}

}  // namespace

FoldUnits::FoldUnits(const Problem& p, const Standardization& all, const std::vector<std::int32_t>& fold,
                     std::int32_t first, std::int32_t count, std::size_t width, const Progress& progress)
    : square(width, 0.0), target(width, 1.0), count_(count), width_(width) {
  const auto d = static_cast<std::size_t>(p.dimensions()), folds = static_cast<std::size_t>(count);
  const std::size_t sets = folds + 1;  // the folds, and the rows that are in none of them
  const Moments m = moments(
      p.data, sets,
      [&](std::int64_t i) {
        const std::int32_t f = fold[static_cast<std::size_t>(i)] - first;
        return f >= 0 && f < count ? static_cast<std::size_t>(f) : folds;
      },
      progress);
  const bool centred = p.intercept && !p.data.sparse_input();
  shrink.assign(d * width, 1.0);
  if (centred && !p.free_intercept) shift.assign(d * width, 0.0);
  for (std::size_t j = 0; j < d; ++j) {
    const double deviation = all.deviation[j], centre = all.mean[j];
    for (std::size_t f = 0; f < folds; ++f) {
      double mass = 0, sum = 0, squares = 0;
      for (std::size_t s = 0; s < sets; ++s)
        if (s != f) {
          mass += m.mass[s];
          sum += m.mass[s] * m.mean[j * sets + s];
        }
      if (!(mass > 0)) continue;
      const double middle = sum / mass;
      for (std::size_t s = 0; s < sets; ++s) {
        const double off = m.mean[j * sets + s] - middle;
        if (s != f) squares += m.squares[j * sets + s] + m.mass[s] * off * off;
      }
      // As problem/standardize.cpp decides which column is constant; here both parts of its mean bring rounding errors.
      const double own = std::sqrt(squares / mass);
      const double constant = 1e-12 * (std::fabs(centre / deviation) + std::fabs(middle));
      const double unit = own > constant && std::isfinite(own) ? own : 1 / deviation;
      shrink[j * width + f] = 1 / (unit * unit);
      if (shift.empty()) continue;
      shift[j * width + f] = middle * shrink[j * width + f];
      square[f] += middle * shift[j * width + f];
    }
    progress.work(16.0 * static_cast<double>(sets * folds));
  }
  if (p.task != Task::regression) return;
  for (std::size_t f = 0; f < folds; ++f)
    target[f] = target_deviation({p.data, &fold, first + static_cast<std::int32_t>(f)}, progress) / p.target_scale;
}

double FoldUnits::squared_norm(const Row& x, std::int32_t left_out) const {
  std::vector<double> size = square;
  for_each_value(x, [&](std::size_t j, double v) {
    const double* const by = &shrink[j * width_];
    for (std::size_t f = 0; f < width_; ++f) size[f] += v * v * by[f];
    if (shift.empty()) return;
    const double* const means = &shift[j * width_];
    for (std::size_t f = 0; f < width_; ++f) size[f] -= 2 * v * means[f];
  });
  double largest = 0;
  for (std::int32_t f = 0; f < count_; ++f)
    if (f != left_out) largest = std::max(largest, size[static_cast<std::size_t>(f)]);
  return largest;
}

}  // namespace margin
