// Bounds of the sums of columns against the sums themselves, in long double.
#include "core/data/column_bounds.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/simd/mixed_columns.hpp"
#include "risk_problems.hpp"

namespace margin {
namespace {

using testing::normal;

struct Rows {
  static constexpr int n = 30, d = 41;
  Dataset data{Dataset::Outcome::targets};
  Rows(Random& random, double density, double mean) {
    for (int i = 0; i < n; ++i) {
      std::vector<double> x;
      for (int j = 0; j < d; ++j) x.push_back(random.uniform() < density ? mean * (j % 3) + normal(random) : 0.0);
      data.append(dense_row(x.data(), d), normal(random));
    }
  }
  long double product(const std::vector<long double>& a, std::size_t j) const {
    long double sum = 0;
    for (int i = 0; i < n; ++i)
      sum += a[static_cast<std::size_t>(i)] * value_at(data.row(i), static_cast<std::int32_t>(j));
    return sum;
  }
};

/// What a balanced vector stands for: one side of it scaled down.
std::vector<long double> balance(const std::vector<double>& a, bool balanced, double& excess) {
  std::vector<long double> out(a.begin(), a.end());
  excess = 0;
  if (!balanced) return out;
  long double up = 0, down = 0;
  for (const double v : a) (v > 0 ? up : down) += std::fabs(v);
  for (long double& v : out) v *= v > 0 ? (up > down ? down / up : 1) : (down > up ? up / down : 1);
  excess = static_cast<double>(1 - std::min(up, down) / std::max(up, down)) * (1 + 1e-12) + 1e-18;
  return out;
}

class ColumnBoundsOf : public ::testing::TestWithParam<std::tuple<double, double, bool>> {};  // density, mean, balanced
INSTANTIATE_TEST_SUITE_P(Rows, ColumnBoundsOf,
                         ::testing::Combine(::testing::Values(1.0, 0.15), ::testing::Values(0.0, 1e2, 1e8),
                                            ::testing::Bool()));

TEST_P(ColumnBoundsOf, HoldTheSums) {
  const auto [density, mean, balanced] = GetParam();
  Random random(3);
  const Rows rows(random, density, mean);
  const std::size_t n = Rows::n, d = Rows::d;
  const Progress progress;
  const Columns columns(rows.data, progress);
  constexpr double total = 7;
  ColumnBounds bounds(columns, n, d, total, balanced, progress);
  std::vector<double> sizes(d), centre, radius;
  for (std::size_t j = 0; j < d; ++j) {
    sizes[j] = bounds.length(j);
    EXPECT_GE(sizes[j] * sizes[j], squared_norm(columns.column(static_cast<std::int32_t>(j))));
  }
  std::vector<double> a(n), last(n);
  for (double& v : a) v = normal(random);
  int near = 0;
  for (int step = 0; step < 40; ++step) {
    // Points of a line and a little beside it, from time to time another line.
    if (step % 20 == 0)
      for (double& v : last) v = normal(random);
    for (std::size_t i = 0; i < n; ++i) a[i] += 0.1 * last[i] + (step % 10 == 9 ? 0.1 : 1e-12) * normal(random);
    // Towards a column: where the bound has least to spare.
    if (step % 10 == 8) {
      double mean = 0;
      for (std::size_t i = 0; i < n; ++i) mean += value_at(rows.data.row(static_cast<std::int64_t>(i)), 5) / Rows::n;
      for (std::size_t i = 0; i < n; ++i)
        a[i] += 100 * (value_at(rows.data.row(static_cast<std::int64_t>(i)), 5) - mean);
    }
    double sum = 0, excess = 0;
    for (const double v : a) sum += v / static_cast<double>(n);
    if (balanced && step % 7 != 5)
      for (double& v : a) v -= sum;
    const std::vector<long double> meant = balance(a, balanced, excess);
    if (!bounds.empty()) {
      bounds.bound(bounds.nearest(a, excess), centre, radius);
      for (std::size_t j = 0; j < d; ++j) {
        const long double v = rows.product(meant, j) / total;
        EXPECT_LE(std::fabs(v - centre[j]), radius[j] * (1 + 1e-16L)) << step << " " << j;
        near += radius[j] < 1e-6 * sizes[j];
      }
    }
    if (step % 3 != 0) continue;
    std::vector<double> v(d);
    double error = 0;
    for (std::size_t j = 0; j < d; ++j) {
      const long double exact = rows.product(meant, j) / total;
      v[j] = static_cast<double>(exact) * (1 + 1e-9 * (j % 2 == 0 ? 1 : -1));
      error = std::max(error, static_cast<double>(std::fabs(v[j] - exact) / sizes[j]));
    }
    bounds.keep({a, excess, v, error * (1 + 1e-12), 0}, sizes);
  }
  EXPECT_GT(near, 100) << "or nothing was tested";
}

TEST(ColumnBounds, DoWithVectorsOfZeros) {
  Random random(4);
  const Rows rows(random, 1, 0);
  const Progress progress;
  const Columns columns(rows.data, progress);
  ColumnBounds bounds(columns, Rows::n, Rows::d, 1, false, progress);
  const std::vector<double> sizes(Rows::d, 1.0), zeros(Rows::d, 0.0), none(Rows::n, 0.0);
  std::vector<double> one(Rows::n, 0.0), centre, radius;
  one[2] = 3;
  for (int kept = 0; kept < 3; ++kept) {
    bounds.keep({none, 0, zeros, 0, 0}, sizes);
    bounds.bound(bounds.nearest(one, 0), centre, radius);
    for (std::int32_t j = 0; j < Rows::d; ++j) {
      const auto at = static_cast<std::size_t>(j);
      EXPECT_LE(std::fabs(3 * value_at(rows.data.row(2), j) - centre[at]), radius[at]);
      EXPECT_LT(radius[at], 1e3);
    }
  }
}

// All instruction sets find the same places, among them numbers that are none.
TEST(ColumnBounds, LoopsFindThePlacesThatReach) {
  Random random(5);
  const KernelList sets = available_kernels();
  for (const std::size_t n : {0U, 1U, 7U, 16U, 45U, 300U}) {
    std::vector<double> centre, radius;
    std::vector<std::int32_t> expected;
    for (std::size_t j = 0; j < n; ++j) {
      centre.push_back(normal(random));
      radius.push_back(j % 17 == 5 ? std::nan("") : 0.1 * random.uniform());
      if (!(std::fabs(centre[j]) + radius[j] < 1.5)) expected.push_back(static_cast<std::int32_t>(j));
    }
    for (int k = 0; k < sets.count; ++k) {
      std::vector<std::int32_t> places(n);
      places.resize(column_loops_of(*sets.items[k]).reaching(centre.data(), radius.data(), 1.5, n, places.data()));
      EXPECT_EQ(places, expected) << sets.items[k]->name << " " << n;
    }
  }
}

}  // namespace
}  // namespace margin
