#include "core/solvers/joint/coarse.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace margin {

namespace {

constexpr std::size_t largest_system = 800;  // a factorisation then takes less than a product
constexpr std::size_t most_columns = 8;
constexpr double sparse = 0.1;
constexpr double least_rest = 1e-3;  // of a row's length, however much of it the columns are

std::size_t coarse_columns(double classes, double features) {
  const auto room = static_cast<std::size_t>(static_cast<double>(largest_system) / std::max(1.0, classes));
  return std::min({most_columns, room, static_cast<std::size_t>(features)});
}

}  // namespace

JointCoarse::JointCoarse(const JointRows& rows, Run& run)
    : rows_(rows),
      run_(run),
      columns_(suits(rows) ? coarse_columns(rows.classes(), static_cast<double>(rows.columns())) : 0),
      matrix_(0) {}

double JointCoarse::workspace(const Problem& p) {
  const double columns = static_cast<double>(coarse_columns(p.classes, p.dimensions() + 1.0)),
               size = columns * p.classes;
  return SymmetricMatrix::bytes(static_cast<std::size_t>(size)) + 8 * (size + columns * static_cast<double>(p.rows())) +
         20.0 * p.dimensions();
}

bool JointCoarse::suits(const JointRows& rows) {
  return rows.stored() <= sparse * static_cast<double>(rows.features());
}

/// The columns with the largest sums of squares, each row of length 1.
void JointCoarse::choose() {
  const std::size_t n = columns_ - (rows_.constant() != 0 ? 1 : 0);
  std::vector<double> squares(rows_.features(), 0.0);
  for (std::int64_t i = 0; i < rows_.rows(); ++i) {
    if (!(rows_.cost(i) > 0 && rows_.size_of(i) > 0)) continue;
    const Row x = rows_.row(i);
    for (std::int32_t m = 0; m < x.count; ++m)
      squares[static_cast<std::size_t>(x.indices != nullptr ? x.indices[m] : m)] +=
          x.value(m) * x.value(m) / rows_.size_of(i);
    run_.work(2.0 * x.count);
  }
  std::vector<std::int32_t> order(rows_.features());
  std::iota(order.begin(), order.end(), 0);
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(n), order.end(),
                    [&](std::int32_t a, std::int32_t b) {
                      const double x = squares[static_cast<std::size_t>(a)], y = squares[static_cast<std::size_t>(b)];
                      return x != y ? x > y : a < b;
                    });
  slot_.assign(rows_.features(), -1);
  for (std::size_t j = 0; j < n; ++j) slot_[static_cast<std::size_t>(order[j])] = static_cast<std::int32_t>(j);
  run_.work(static_cast<double>(4 * slot_.size()));
}

void JointCoarse::describe(const std::vector<std::int32_t>& which) {
  z_.assign(which.size() * columns_, 0.0);
  double left = 0;
  for (std::size_t t = 0; t < which.size(); ++t) {
    const Row x = rows_.row(which[t]);
    const double length = std::sqrt(rows_.size_of(which[t]));
    double* const z = z_.data() + t * columns_;
    for (std::int32_t m = 0; m < x.count; ++m) {
      const std::int32_t at = slot_[static_cast<std::size_t>(x.indices != nullptr ? x.indices[m] : m)];
      if (at >= 0) z[at] = x.value(m) / length;
    }
    if (rows_.constant() != 0) z[columns_ - 1] = rows_.constant() / length;
    double square = 0;
    for (std::size_t a = 0; a < columns_; ++a) square += z[a] * z[a];
    left += std::max(least_rest, 1 - square);
    run_.work(2.0 * x.count);
  }
  rest_ = left / static_cast<double>(which.size());
}

bool JointCoarse::prepare(const std::vector<std::int32_t>& which, const std::vector<std::size_t>& begin,
                          const std::vector<std::size_t>& alive, const std::vector<std::int32_t>& classes) {
  if (columns_ == 0 || which.empty()) return false;
  if (slot_.empty()) choose();
  describe(which);
  const std::size_t r = columns_, size = r * static_cast<std::size_t>(rows_.classes());
  matrix_.reset(size, run_.progress());
  for (std::size_t j = 0; j < size; ++j) matrix_.row(j)[j] = rest_;
  for (std::size_t t = 0; t < which.size(); ++t) {
    const double* const z = of_row(t);
    const double share = 1 / static_cast<double>(alive[t]);
    // Each pair of classes once: the upper triangle, and of its diagonal blocks all.
    for (std::size_t a = begin[t]; a < begin[t] + alive[t]; ++a)
      for (std::size_t b = begin[t]; b < begin[t] + alive[t]; ++b) {
        if (classes[b] < classes[a]) continue;
        const double factor = (a == b ? 1.0 : 0.0) - share;
        const auto from = static_cast<std::size_t>(classes[a]) * r, to = static_cast<std::size_t>(classes[b]) * r;
        for (std::size_t i = 0; i < r; ++i) {
          if (z[i] == 0) continue;
          double* const row = matrix_.row(from + i) + to;
          for (std::size_t j = 0; j < r; ++j) row[j] += factor * z[i] * z[j];
        }
      }
    run_.work(static_cast<double>(alive[t] * alive[t] * r * r) / 4);
  }
  return factorise(matrix_, run_.progress());
}

void JointCoarse::apply(const std::vector<double>& v, const std::vector<std::size_t>& begin,
                        const std::vector<std::size_t>& alive, const std::vector<std::int32_t>& classes,
                        std::vector<double>& out) {
  const std::size_t r = columns_;
  sums_.assign(r * static_cast<std::size_t>(rows_.classes()), 0.0);
  for (std::size_t t = 0; t < alive.size(); ++t)
    for (std::size_t j = begin[t]; j < begin[t] + alive[t]; ++j) {
      double* const sum = sums_.data() + static_cast<std::size_t>(classes[j]) * r;
      for (std::size_t a = 0; a < r; ++a) sum[a] += of_row(t)[a] * v[j];
      run_.work(static_cast<double>(r) / 2);
    }
  solve_factored(matrix_, sums_.data(), &run_.progress());
  for (std::size_t t = 0; t < alive.size(); ++t) {
    double mean = 0;
    for (std::size_t j = begin[t]; j < begin[t] + alive[t]; ++j) {
      const double* const sum = sums_.data() + static_cast<std::size_t>(classes[j]) * r;
      double value = 0;
      for (std::size_t a = 0; a < r; ++a) value += of_row(t)[a] * sum[a];
      out[j] = value;
      mean += value;
    }
    mean /= static_cast<double>(std::max<std::size_t>(1, alive[t]));
    for (std::size_t j = begin[t]; j < begin[t] + alive[t]; ++j) out[j] = (v[j] - (out[j] - mean)) / rest_;
    for (std::size_t j = begin[t] + alive[t]; j < begin[t + 1]; ++j) out[j] = 0;
    run_.work(static_cast<double>((begin[t + 1] - begin[t]) * (r + 2)) / 2);
  }
}

}  // namespace margin
