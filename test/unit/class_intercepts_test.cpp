// Best intercepts of k classes against all cycles, and the scales that balance a matrix.
#include "core/math/class_intercepts.hpp"

#include <gtest/gtest.h>

#include "margin_problems.hpp"

namespace margin {
namespace {

using namespace reference;

TEST(ClassPairs, best_offsets_reach_the_smallest_cycle_mean) {
  Random random(1);
  for (int k = 2; k <= 6; ++k)
    for (int trial = 0; trial < 100; ++trial) {
      Eigen::MatrixXd m(k, k);
      for (Eigen::Index i = 0; i < m.size(); ++i) m.data()[i] = 3 * gaussian(random) + (trial % 3) * 2;
      if (trial % 5 == 0) m = m.array().round();  // ties
      const double scale = trial % 7 == 0 ? 1e150 : 1;
      m *= scale;
      const Offsets best = best_offsets(m);
      EXPECT_NEAR(best.value / scale, static_cast<double>(smallest_cycle_mean(m.cast<Real>()) / scale), 1e-13);
      EXPECT_EQ(best.offset(0), 0.0);
      for (int a = 0; a < k; ++a)
        for (int c = 0; c < k; ++c) {
          if (a == c) continue;
          EXPECT_GE((m(a, c) + best.offset(a) - best.offset(c)) / scale, best.value / scale - 1e-13);
        }
    }
}

/// Karp (1978), in extended precision: what policy iteration must agree with.
long double karp(const Eigen::MatrixXd& m) {
  const Eigen::Index k = m.rows();
  const long double none = std::numeric_limits<long double>::infinity();
  Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic> walk(k, k + 1);
  walk.setConstant(none);
  walk.col(0).setZero();  // from anywhere: every cycle is reached
  for (Eigen::Index j = 1; j <= k; ++j)
    for (Eigen::Index c = 0; c < k; ++c)
      for (Eigen::Index a = 0; a < k; ++a)
        if (a != c) walk(c, j) = std::min(walk(c, j), walk(a, j - 1) + m(a, c));
  long double mean = none;
  for (Eigen::Index v = 0; v < k; ++v) {
    if (!std::isfinite(walk(v, k))) continue;
    long double worst = -none;
    for (Eigen::Index j = 0; j < k; ++j)
      worst = std::max(worst, (walk(v, k) - walk(v, j)) / static_cast<long double>(k - j));
    mean = std::min(mean, worst);
  }
  return mean;
}

TEST(ClassPairs, best_offsets_agree_with_karp) {
  Random random(7);
  const double none = std::numeric_limits<double>::infinity();
  for (int trial = 0; trial < 400; ++trial) {
    const int k = 3 + static_cast<int>(random.below(trial % 20 == 0 ? 60 : 20));
    Eigen::MatrixXd m(k, k);
    for (Eigen::Index i = 0; i < m.size(); ++i) {
      const double x = gaussian(random);
      double& entry = m.data()[i];
      switch (trial % 8) {
        case 0:
          entry = x;
          break;
        case 1:
          entry = 5 + x;
          break;
        case 2:
          entry = std::round(2 * x);
          break;  // ties
        case 3:
          entry = random.below(4) == 0 ? std::exp(x) : none;
          break;  // pairs without rows
        case 4:
          entry = std::exp(12 * x);
          break;  // many scales
        case 5:
          entry = random.below(3) == 0 ? -std::exp(20 * x) : x;
          break;
        case 6:
          entry = 1;
          break;  // all cycles alike
        default:
          entry = x * 1e-160;
      }
    }
    if (trial % 16 >= 8)  // near a potential: the classes differ by far more than the cycles do
      for (int a = 0; a < k; ++a)
        for (int c = 0; c < k; ++c) m(a, c) += 1000.0 * (a * a % 7) - 1000.0 * (c * c % 7);
    for (int c = 0; c < k; ++c) m((c + 1) % k, c) = std::min(m((c + 1) % k, c), 3.0);
    double largest = 0;
    for (int a = 0; a < k; ++a)
      for (int c = 0; c < k; ++c)
        if (a != c && std::isfinite(m(a, c))) largest = std::max(largest, std::fabs(m(a, c)));
    const Offsets best = best_offsets(m);
    EXPECT_NEAR(best.value, static_cast<double>(karp(m)), 4e-15 * k * largest) << "trial " << trial << ", " << k;
    EXPECT_TRUE(best.offset.allFinite());
    for (int a = 0; a < k; ++a)
      for (int c = 0; c < k; ++c)
        EXPECT_TRUE(a == c || m(a, c) + best.offset(a) - best.offset(c) >= best.value) << "trial " << trial;
  }
}

TEST(ClassPairs, thousands_of_classes_take_few_sweeps_and_many_polls) {
  // The hidden cycle of mean 1 is the only one below 2; potentials hide it from whoever looks at single entries.
  constexpr int k = 2000;
  Random random(3);
  Eigen::VectorXd hidden(k);
  for (int c = 0; c < k; ++c) hidden(c) = 50 * gaussian(random);
  Eigen::MatrixXd m(k, k);
  for (int c = 0; c < k; ++c)
    for (int a = 0; a < k; ++a) m(a, c) = 2 + std::fabs(gaussian(random)) + hidden(c) - hidden(a);
  for (int c = 0; c < 300; ++c) {
    const int from = 3 * c, to = 3 * ((c + 1) % 300);
    m(from, to) = 1 + hidden(to) - hidden(from);
  }
  struct Stop {};
  struct Counting : Progress {
    Counting(double every, std::int64_t most) : Progress(every), left(most) {}
    void poll() const override {
      if (--left < 0) throw Stop();
    }
    mutable std::int64_t left;
  };
  constexpr std::int64_t most = 25 * k;
  const Counting counting(16.0 * k, most);
  const Offsets best = best_offsets(m, counting);
  EXPECT_NEAR(best.value, 1.0, 1e-11);
  EXPECT_GE(most - counting.left, k / 8);  // and 25 k are not reached: 400 k² operations
  EXPECT_THROW(best_offsets(m, Counting(0, 0)), Stop);
  EXPECT_THROW(balancing_scales(m.cwiseAbs(), Counting(0, 0)), Stop);
}

TEST(ClassPairs, a_pair_without_rows_does_not_bind) {
  const double none = std::numeric_limits<double>::infinity();
  Eigen::MatrixXd m(3, 3);
  m << 0, 1, 4, 3, 0, none, 2, 2, 0;
  const Offsets best = best_offsets(m);
  EXPECT_NEAR(best.value, 2.0, 1e-14);  // 0 → 1 → 0, for 0 → 2 → 0 has mean 3 and 0 → 2 → 1 → 0 has 3
  EXPECT_TRUE(best.offset.allFinite());
}

Eigen::MatrixXd balanced(const Eigen::MatrixXd& mass) {
  const Eigen::VectorXd s = balancing_scales(mass);
  EXPECT_TRUE(s.allFinite());
  EXPECT_GT(s.minCoeff(), 0.0);
  Eigen::MatrixXd b = s.asDiagonal() * mass * s.cwiseInverse().asDiagonal();
  b.diagonal().setZero();
  return b;
}

TEST(ClassPairs, balancing_makes_row_sums_equal_column_sums) {
  Random random(2);
  for (int k = 2; k <= 8; ++k)
    for (int trial = 0; trial < 50; ++trial) {
      Eigen::MatrixXd mass(k, k);
      for (Eigen::Index i = 0; i < mass.size(); ++i)
        mass.data()[i] = std::exp((trial % 2 == 0 ? 1.0 : 6.0) * gaussian(random)) *
                         (trial % 4 < 2 || random.below(3) != 0 ? 1.0 : 0.0);
      for (int c = 0; c < k; ++c) mass((c + 1) % k, c) += 0.01;  // a cycle through all: strongly connected
      const Eigen::MatrixXd b = balanced(mass);
      const Eigen::VectorXd difference = b.rowwise().sum() - b.colwise().sum().transpose();
      EXPECT_LE(difference.cwiseAbs().maxCoeff(), 1e-12 * b.sum()) << k << " classes, trial " << trial;
    }
}

TEST(ClassPairs, pairs_on_no_cycle_end_with_weight_0) {
  Eigen::MatrixXd mass = Eigen::MatrixXd::Zero(4, 4);
  mass(0, 1) = 2;
  mass(1, 0) = 3;
  mass(1, 2) = 1;  // one way only, into a pair that balances
  mass(2, 3) = 5;
  mass(3, 2) = 0.5;
  const Eigen::MatrixXd b = balanced(mass);
  EXPECT_NEAR(b(0, 1), b(1, 0), 1e-12 * b.sum());
  EXPECT_NEAR(b(2, 3), b(3, 2), 1e-12 * b.sum());
  EXPECT_LE(b(1, 2), 1e-12 * b.sum());
  EXPECT_NEAR(b(0, 1), std::sqrt(6.0), 1e-9);
}

TEST(ClassPairs, a_class_that_only_sends_ends_with_weight_0) {
  Eigen::MatrixXd mass = Eigen::MatrixXd::Zero(3, 3);
  mass(0, 1) = mass(1, 0) = 1;
  mass(2, 0) = 7;
  const Eigen::MatrixXd b = balanced(mass);
  EXPECT_LE(b(2, 0), 1e-12);
  EXPECT_NEAR(b(0, 1), b(1, 0), 1e-12);
  EXPECT_TRUE(balancing_scales(Eigen::MatrixXd::Zero(3, 3)).allFinite());
}

}  // namespace
}  // namespace margin
