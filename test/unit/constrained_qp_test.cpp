// Quadratic programs under rows and bounds: what comes out meets them and the conditions of an optimum, in long doubles; rows that
// contradict each other come with a proof of it.
#include "core/math/constrained_qp.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/random.hpp"
#include "core/math/rounding.hpp"
#include "risk_problems.hpp"

namespace margin {
namespace {

using testing::normal;

struct Program {
  std::size_t n = 0;
  std::vector<double> h;  // n × n
  SymmetricMatrix factor{1};
  SparseRows rows;
  std::vector<double> gradient, lower, upper, low, high, inside;
};

/// With a point inside, so that it can be met.
Program random_program(Random& random, int trial) {
  Program p;
  p.n = 1 + random.below(8);
  const double size = std::pow(10.0, 4 * random.uniform() - 2);
  p.h.assign(p.n * p.n, 0.0);
  for (std::size_t i = 0; i < p.n; ++i) p.h[i * p.n + i] = std::pow(10.0, 3 * random.uniform() - 2);
  for (std::size_t k = 0; k < random.below(2 * p.n + 1); ++k) {
    std::vector<double> x(p.n);
    for (double& v : x) v = normal(random);
    for (std::size_t i = 0; i < p.n; ++i)
      for (std::size_t j = 0; j < p.n; ++j) p.h[i * p.n + j] += x[i] * x[j];
  }
  p.factor.reset(p.n, Progress());
  p.factor.set_zero();
  for (std::size_t i = 0; i < p.n; ++i)
    for (std::size_t j = i; j < p.n; ++j) p.factor.row(i)[j] = p.h[i * p.n + j];
  EXPECT_TRUE(factorise(p.factor, Progress()));
  for (std::size_t j = 0; j < p.n; ++j) {
    p.gradient.push_back(size * 3 * normal(random));
    p.inside.push_back(size * normal(random));
  }
  if (trial % 3 != 0)
    for (std::size_t j = 0; j < p.n; ++j) {
      const double at = p.inside[j], room = random.below(4) == 0 ? 0 : size * random.uniform();
      p.low.push_back(random.below(3) == 0 ? -infinity : at - room);
      p.high.push_back(random.below(3) == 0 ? infinity : at + room);
    }
  const std::size_t rows = random.below(2 * p.n + 2);
  for (std::size_t k = 0; k < rows; ++k) {
    if (k > 0 && random.below(5) == 0) {  // the same once more, or a multiple of it
      for (std::int32_t i = p.rows.begin[k - 1]; i < p.rows.begin[k]; ++i)
        p.rows.push(p.rows.feature[static_cast<std::size_t>(i)], -2 * p.rows.coefficient[static_cast<std::size_t>(i)]);
    } else {
      for (std::size_t j = 0; j < p.n; ++j)
        if (random.below(2) == 0) p.rows.push(static_cast<std::int32_t>(j), normal(random));
    }
    p.rows.end_row();
    const double at = p.rows.product(k, p.inside.data());
    const bool equation = random.below(5) == 0;
    const double room = equation ? 0 : size * random.uniform();
    p.lower.push_back(equation || random.below(2) == 0 ? at - room : -infinity);
    p.upper.push_back(equation || !(p.lower.back() > -infinity) ? at + room : infinity);
  }
  return p;
}

TEST(ConstrainedQp, SolutionsMeetTheConditionsOfAnOptimum) {
  Random random(1);
  int active = 0, at_bounds = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const Program p = random_program(random, trial);
    const bool identity = trial % 4 == 0;
    const ConstrainedQp qp{identity ? nullptr : &p.factor, p.gradient, p.rows, p.lower, p.upper, p.low, p.high};
    const QpSolution s = solve_constrained_qp(qp, Progress());
    SCOPED_TRACE(trial);
    ASSERT_EQ(s.ending, QpSolution::Ending::solved);
    ASSERT_EQ(s.multipliers.size(), p.rows.count());
    double scale = 1;
    for (std::size_t j = 0; j < p.n; ++j) scale = std::max({scale, std::fabs(s.d[j]), std::fabs(p.gradient[j])});
    std::vector<long double> r(p.n);
    for (std::size_t i = 0; i < p.n; ++i) {
      r[i] = static_cast<long double>(p.gradient[i]);
      for (std::size_t j = 0; j < p.n; ++j)
        r[i] += static_cast<long double>(identity ? (i == j ? 1.0 : 0.0) : p.h[i * p.n + j]) * s.d[j];
    }
    for (std::size_t k = 0; k < p.rows.count(); ++k) {
      const double nu = s.multipliers[k], value = p.rows.product(k, s.d.data()),
                   room = 5e-13 * (p.rows.size(k, s.d.data()) + 1e-3);
      EXPECT_GE(value, p.lower[k] - room);
      EXPECT_LE(value, p.upper[k] + room);
      // Of an end that holds it.
      if (nu > 0) {
        EXPECT_NEAR(value, p.upper[k], 1e-9 * scale);
      } else if (nu < 0) {
        EXPECT_NEAR(value, p.lower[k], 1e-9 * scale);
      }
      active += nu != 0;
      for (auto i = static_cast<std::size_t>(p.rows.begin[k]); i < static_cast<std::size_t>(p.rows.begin[k + 1]); ++i)
        r[static_cast<std::size_t>(p.rows.feature[i])] += static_cast<long double>(nu) * p.rows.coefficient[i];
    }
    double sizes = scale;
    for (const double nu : s.multipliers) sizes = std::max(sizes, std::fabs(nu));
    for (std::size_t j = 0; j < p.n; ++j) {
      const bool low = !p.low.empty() && s.d[j] == p.low[j], high = !p.low.empty() && s.d[j] == p.high[j];
      at_bounds += low || high;
      if (!p.low.empty()) {
        EXPECT_GE(s.d[j], p.low[j]);
        EXPECT_LE(s.d[j], p.high[j]);
      }
      // The gradient pulls out of a bound that holds it, or nowhere.
      if (!high) {
        EXPECT_GE(static_cast<double>(r[j]), -1e-8 * sizes);
      }
      if (!low) {
        EXPECT_LE(static_cast<double>(r[j]), 1e-8 * sizes);
      }
    }
  }
  EXPECT_GT(active, 1000);
  EXPECT_GT(at_bounds, 1000);
}

TEST(ConstrainedQp, ContradictionsComeWithAProof) {
  Random random(2);
  int found = 0;
  for (int trial = 0; trial < 1500; ++trial) {
    Program p = random_program(random, trial);
    // Beside rows that can be met, a sum of two of them that cannot.
    for (std::size_t j = 0; j < p.n; ++j) p.rows.push(static_cast<std::int32_t>(j), j % 2 == 0 ? 1.0 : -0.5);
    p.rows.end_row();
    p.lower.push_back(1);
    p.upper.push_back(infinity);
    for (std::size_t j = 0; j < p.n; ++j) p.rows.push(static_cast<std::int32_t>(j), j % 2 == 0 ? 2.0 : -1.0);
    p.rows.end_row();
    p.lower.push_back(-infinity);
    p.upper.push_back(1.5);
    const ConstrainedQp qp{&p.factor, p.gradient, p.rows, p.lower, p.upper, p.low, p.high};
    const QpSolution s = solve_constrained_qp(qp, Progress());
    ASSERT_EQ(s.ending, QpSolution::Ending::contradiction) << trial;
    // <Aᵀν, d> ≤ Σ ν u or ν l of all d that meet the rows, and more than that of all between the bounds.
    std::vector<double> v(p.n, 0.0);
    double most = 0, size = 0;
    for (std::size_t k = 0; k < p.rows.count(); ++k) {
      const double nu = s.multipliers[k];
      if (nu == 0) continue;
      p.rows.add(k, nu, v.data());
      most += nu * (nu > 0 ? p.upper[k] : p.lower[k]);
      size += std::fabs(nu) * p.rows.norm(k);
    }
    double least = 0;
    for (std::size_t j = 0; j < p.n; ++j) {
      if (std::fabs(v[j]) <= 1e-9 * size) continue;
      ASSERT_FALSE(p.low.empty());
      least += v[j] * (v[j] > 0 ? p.low[j] : p.high[j]);
    }
    EXPECT_GT(least, most) << trial;
    ++found;
  }
  EXPECT_EQ(found, 1500);
}

}  // namespace
}  // namespace margin
