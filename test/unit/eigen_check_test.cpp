// Eigen's preconditions end a call, not the process.
#include <gtest/gtest.h>

#include <Eigen/Core>

namespace margin {
namespace {

TEST(EigenCheck, broken_preconditions_are_exceptions) {
  Eigen::VectorXd three(3), four(4);
  three.setZero();
  four.setZero();
  Eigen::Index outside = 3;
  EXPECT_THROW(three(outside) = 1, std::logic_error);
  EXPECT_THROW(three += four, std::logic_error);
  EXPECT_THROW(three.segment(outside, 1).setZero(), std::logic_error);
  EXPECT_NO_THROW(three(2) = 1);
}

}  // namespace
}  // namespace margin
