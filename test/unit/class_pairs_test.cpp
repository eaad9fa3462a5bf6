// Best intercepts of k classes against all cycles, and the scales that balance a matrix.
#include "class_pairs.hpp"

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
