// A factor that members enter and leave equals a fresh factorisation.
#include "core/math/active_cholesky.hpp"

#include <gtest/gtest.h>

#include "margin_problems.hpp"

namespace margin {
namespace {

using reference::gaussian;

/// Members as vectors whose last p entries are their right-hand sides, and a factor kept by one of the two ways.
class Kept {
 public:
  Kept(Eigen::Index dimension, Eigen::Index p, bool vectors)
      : dimension_(dimension), p_(p), vectors_(vectors), factor(p, vectors ? dimension : 0) {}

  double append(const Eigen::VectorXd& v) {
    double pivot = 0;
    if (vectors_) {
      pivot = factor.append_vector(v, 1e-14);
    } else {
      Eigen::VectorXd cross(members.cols());
      for (Eigen::Index i = 0; i < cross.size(); ++i) cross(i) = members.col(i).dot(v);
      pivot = factor.append(cross, v.squaredNorm(), v.tail(p_), 1e-14);
    }
    members.conservativeResize(dimension_, members.cols() + 1);
    members.rightCols(1) = v;
    return pivot;
  }
  void append_block(const Eigen::MatrixXd& v) {
    factor.append_block(members.transpose() * v, v.transpose() * v, v.bottomRows(p_).transpose(), 1e-14);
    Eigen::MatrixXd all(dimension_, members.cols() + v.cols());
    all << members, v;
    members = all;
  }
  void remove(Eigen::Index at) {
    factor.remove(at);
    Eigen::MatrixXd rest(dimension_, members.cols() - 1);
    rest << members.leftCols(at), members.rightCols(members.cols() - at - 1);
    members = rest;
  }
  void check() const {
    const Eigen::Index s = members.cols();
    ASSERT_EQ(factor.size(), s);
    const Eigen::MatrixXd gram = members.transpose() * members;
    const Eigen::MatrixXd l = gram.llt().matrixL(), b = members.bottomRows(p_).transpose();
    const Eigen::MatrixXd y = l.triangularView<Eigen::Lower>().solve(b);
    EXPECT_LE((factor.reduced() - y).norm(), 1e-9 * (1 + y.norm()));
    const Eigen::VectorXd v = Eigen::VectorXd::LinSpaced(s, -1, 2);
    EXPECT_LE((gram * factor.solve_transposed(factor.solve_lower(v)) - v).norm(), 1e-9 * (1 + v.norm()));
    const Eigen::VectorXd lower = l.triangularView<Eigen::Lower>().solve(v);
    EXPECT_LE((factor.solve_lower(v) - lower).norm(), 1e-9 * (1 + lower.norm()));
  }

 private:
  Eigen::Index dimension_, p_;
  bool vectors_;

 public:
  ActiveCholesky factor;
  Eigen::MatrixXd members{dimension_, 0};
};

Eigen::VectorXd random_vector(Random& random, Eigen::Index n) {
  Eigen::VectorXd v(n);
  for (Eigen::Index i = 0; i < n; ++i) v(i) = gaussian(random);
  return v;
}

TEST(AppendingBlocks, equal_members_one_by_one) {
  Random random(10);
  for (const Eigen::Index p : {1, 3}) {
    Kept kept(300, p, false);
    for (const Eigen::Index count : {5, 1, 16, 64, 30, 16, 70}) {
      Eigen::MatrixXd block(300, count);
      for (Eigen::Index c = 0; c < count; ++c) block.col(c) = random_vector(random, 300);
      kept.append_block(block);
      kept.check();
      kept.remove(kept.members.cols() / 2);
      kept.append(random_vector(random, 300));
      kept.check();
    }
  }
}

TEST(AppendingBlocks, a_member_that_depends_on_others_keeps_the_factor_usable) {
  Random random(11);
  Eigen::MatrixXd members(20, 4), block(20, 3);
  for (Eigen::Index c = 0; c < 4; ++c) members.col(c) = random_vector(random, 20);
  block << random_vector(random, 20), members.col(1), members.col(2);
  block.col(2) = block.col(0);  // of the members, and of its own block
  ActiveCholesky factor(1);
  factor.append_block(Eigen::MatrixXd(0, 4), members.transpose() * members, members.bottomRows(1).transpose(), 1e-14);
  factor.append_block(members.transpose() * block, block.transpose() * block, block.bottomRows(1).transpose(), 1e-14);
  EXPECT_EQ(factor.size(), 7);
  EXPECT_TRUE(factor.solve_transposed(factor.solve_lower(Eigen::VectorXd::Ones(7))).allFinite());
}

class Appending : public ::testing::TestWithParam<bool> {};

TEST_P(Appending, members_come_and_go) {
  Random random(9);
  for (const Eigen::Index p : {1, 2, 5}) {
    Kept kept(120, p, GetParam());
    for (int step = 0; step < 400; ++step) {
      const Eigen::Index s = kept.members.cols();
      if (s > 0 && (s == 80 || random.below(5) < 2)) {
        const auto at = static_cast<Eigen::Index>(random.below(static_cast<std::uint64_t>(s)));
        kept.remove(step % 9 == 0 ? s - 1 : (step % 9 == 1 ? 0 : at));
      } else {
        EXPECT_GT(kept.append(random_vector(random, 120)), 1e-3);
      }
      if (step % 10 == 0 && kept.members.cols() > 0) kept.check();
    }
    kept.factor.clear();
    EXPECT_EQ(kept.factor.size(), 0);
  }
}

TEST_P(Appending, a_dependent_member_is_told_and_can_leave) {
  Random random(10);
  Kept kept(12, 1, GetParam());
  for (int i = 0; i < 6; ++i) kept.append(random_vector(random, 12));
  EXPECT_LE(std::fabs(kept.append(kept.members.col(2))), 1e-14);  // a duplicate
  kept.remove(6);
  EXPECT_LE(std::fabs(kept.append(kept.members.col(0) - 2 * kept.members.col(4))), 1e-14);  // a combination
  EXPECT_TRUE(kept.factor.solve_transposed(Eigen::VectorXd::Ones(7)).allFinite());
  kept.remove(6);
  kept.check();
  EXPECT_LE(std::fabs(kept.append(Eigen::VectorXd::Zero(12))), 1e-14);  // a row of zeros
  kept.remove(6);
  kept.check();
}

// The square of the condition number is what inner products see, and vectors do not.
TEST(ActiveCholesky, vectors_keep_the_digits_that_inner_products_lose) {
  const double small = 1e-7;
  const Eigen::Vector3d a(1, 0, 1), b(1, small, 1);
  ActiveCholesky vectors(1, 3);
  vectors.append_vector(a, 1e-14);
  EXPECT_NEAR(vectors.append_vector(b, 1e-14), small / std::sqrt(2.0), 1e-6 * small);
}

INSTANTIATE_TEST_SUITE_P(By, Appending, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "vectors" : "inner_products"; });

}  // namespace
}  // namespace margin
