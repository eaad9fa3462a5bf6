// The hard-margin certificate in lp norms: exact on problems with a closed form, true for any vectors, mergeable.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "core/certificate/lp_margin.hpp"
#include "core/math/norm.hpp"
#include "core/solvers/solver.hpp"

using namespace margin;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(LpNorm, EqualsItsDefinition) {
  const std::vector<double> v = {3, -4, 0, 12};
  EXPECT_DOUBLE_EQ(lp_norm(v.data(), 4, 1), 19);
  EXPECT_DOUBLE_EQ(lp_norm(v.data(), 4, 2), 13);
  EXPECT_DOUBLE_EQ(lp_norm(v.data(), 4, infinity), 12);
  EXPECT_NEAR(lp_norm(v.data(), 4, 1.5), std::pow(std::pow(3, 1.5) + std::pow(4, 1.5) + std::pow(12, 1.5), 1 / 1.5),
              1e-13);
  EXPECT_EQ(lp_norm(v.data() + 2, 1, 1.3), 0);
  EXPECT_EQ(lp_norm(v.data(), 0, 1.3), 0);
}

TEST(LpNorm, NeitherOverflowsNorVanishes) {
  for (const double p : {1.0, 1.2, 2.0, 7.6, 1001.0, 1e6})
    for (const double size : {1e300, 1e-300}) {
      const std::vector<double> v = {size, -size};
      EXPECT_NEAR(lp_norm(v.data(), 2, p) / size, std::pow(2, 1 / p), 1e-13) << p;
    }
}

TEST(LpNorm, DualExponents) {
  EXPECT_EQ(dual_exponent(1), infinity);
  EXPECT_EQ(dual_exponent(2), 2);
  EXPECT_DOUBLE_EQ(dual_exponent(1.25), 5);
}

/// The vector that attains ‖a‖_r: <a, w> = ‖a‖_r ‖w‖_p.
std::vector<double> aligned(const std::vector<double>& a, double p) {
  std::vector<double> w(a.size(), 0.0);
  if (p == 1) {
    std::size_t best = 0;
    for (std::size_t j = 0; j < a.size(); ++j)
      if (std::fabs(a[j]) > std::fabs(a[best])) best = j;
    w[best] = a[best] > 0 ? 1 : -1;
    return w;
  }
  for (std::size_t j = 0; j < a.size(); ++j)
    w[j] = std::copysign(std::pow(std::fabs(a[j]), dual_exponent(p) - 1), a[j]);
  return w;
}

TEST(NormCheck, IsTightOnOppositePoints) {
  const std::vector<double> a = {0.5, -2, 1, 0};
  for (const double p : {1.0, 1.15, 1.5, 1.9})
    for (const bool intercept : {false, true}) {
      const std::vector<double> w = aligned(a, p), minus = {-0.5, 2, -1, 0};
      const double b = 0, q = 3;
      NormCheck check(2, 4, p, w.data(), &b, intercept, true);
      check.add({a.data(), nullptr, 4, true}, 1, &q);
      check.add({minus.data(), nullptr, 4, true}, 0, &q);
      const double margin = lp_norm(a.data(), 4, dual_exponent(p));
      EXPECT_LE(check.lower(), margin);
      EXPECT_GE(check.upper(), margin);
      EXPECT_LT(check.relative_gap(), 1e-13) << p << intercept;
      EXPECT_EQ(check.support(), 2);
      EXPECT_EQ(check.errors(), 0);
    }
}

TEST(NormCheck, HoldsForAnyVectors) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int trial = 0; trial < 300; ++trial) {
    const std::int32_t d = 1 + trial % 6, k = 2 + trial % 3, outputs = k == 2 ? 1 : k;
    const double p = trial % 4 == 0 ? 1 : 1 + uniform(random) * 0.99;
    std::vector<double> w(static_cast<std::size_t>(outputs * d)), b(static_cast<std::size_t>(outputs));
    for (double& x : w) x = normal(random);
    for (double& x : b) x = normal(random);
    const bool intercept = trial % 2 == 0;
    NormCheck check(k, d, p, w.data(), intercept ? b.data() : nullptr, intercept, true);
    for (int i = 0; i < 20; ++i) {
      std::vector<double> x(static_cast<std::size_t>(d)), q(static_cast<std::size_t>(outputs));
      for (double& v : x) v = normal(random);
      for (double& v : q) v = uniform(random) < 0.5 ? 0 : uniform(random);
      check.add({x.data(), nullptr, d, true}, i % k, q.data());
    }
    for (std::int32_t o = 0; o < outputs; ++o) EXPECT_LE(check.lower(o), check.upper(o)) << trial;
    EXPECT_LE(check.lower(), check.upper());
  }
}

TEST(NormCheck, SaysTheRadiusWithoutDualWeights) {
  const std::vector<double> w = {1, 0}, x = {3, 4};
  NormCheck check(2, 2, 1, w.data(), nullptr, false, false);
  check.add({x.data(), nullptr, 2, true}, 1, nullptr);
  EXPECT_GE(check.upper(), 5);
  EXPECT_LT(check.upper(), 5 + 1e-14 * 5);
}

TEST(NormCheck, MergesAsOnePass) {
  const std::vector<double> w = {1, -0.5}, x1 = {3, 4}, x2 = {-1, 2}, x3 = {0.1, 0};
  NormCheck all(2, 2, 1.3, w.data(), nullptr, false, false), first = all, second = all;
  all.add({x1.data(), nullptr, 2, true}, 1, nullptr);
  first.add({x1.data(), nullptr, 2, true}, 1, nullptr);
  for (NormCheck* c : {&all, &second}) {
    c->add({x2.data(), nullptr, 2, true}, 0, nullptr);
    c->add({x3.data(), nullptr, 2, true}, 0, nullptr);
  }
  ASSERT_TRUE(first.merge(second.state()));
  EXPECT_EQ(first.state(), all.state());
  EXPECT_EQ(first.errors(), 1);
  EXPECT_FALSE(first.merge({1, 2, 3}));
  EXPECT_FALSE(first.merge({1, 2, 3, 4}));  // more errors than rows
}

TEST(CertifyNorm, WidensTheGapOfTheWorstClass) {
  Dataset data(Dataset::Outcome::classes);
  const double rows[3][2] = {{2, 0}, {-1, 2}, {-1, -2}};
  for (int c = 0; c < 3; ++c) data.append(dense_row(rows[c], 2), data.classes().intern(std::to_string(c), c));
  Options options;
  options.norm = 1.5;
  const Problem problem = make_problem(data, options);
  EXPECT_TRUE(problem.one_vs_rest());
  Weights w(3, 2);
  w << 1, 0, -0.2, 1, 0, 0;  // the last class has no separator yet
  const Certificate c = certify(problem, w, Eigen::VectorXd::Zero(3), Weights::Ones(3, 3));
  EXPECT_EQ(c.lower, 0);
  EXPECT_GE(c.relative_gap, 1);
  EXPECT_GT(c.upper, 0);
}

}  // namespace
