// Eigen's preconditions and its lack of memory end a call, not the process.
#include <gtest/gtest.h>

#include <Eigen/Dense>

/// The address sanitizer's malloc gives up on sizes beyond all memory; here it shall return null as others do.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }

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

template <class M>
class EigenMemory : public testing::Test {};
using Matrices =
    testing::Types<Eigen::VectorXd, Eigen::VectorXf, Eigen::VectorXi, Eigen::ArrayXd, Eigen::RowVectorXd,
                   Eigen::Array<bool, Eigen::Dynamic, 1>, Eigen::MatrixXd, Eigen::MatrixXf,
                   Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>,
                   Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor>, Eigen::Matrix<double, Eigen::Dynamic, 3>,
                   Eigen::Matrix<double, 3, Eigen::Dynamic>, Eigen::Matrix<double, 3, Eigen::Dynamic, Eigen::RowMajor>>;
TYPED_TEST_SUITE(EigenMemory, Matrices);

/// A matrix of so many entries, in the shape that the type allows.
template <class M>
void shape(M& m, Eigen::Index entries) {
  const Eigen::Index fixed = M::RowsAtCompileTime > 0 ? M::RowsAtCompileTime : std::max(1, int(M::ColsAtCompileTime));
  if (M::RowsAtCompileTime > 0)
    m.resize(fixed, entries / fixed);
  else
    m.resize(entries / fixed, fixed);
}

constexpr Eigen::Index beyond_all_memory = Eigen::Index{3} << 56;

TYPED_TEST(EigenMemory, a_size_that_cannot_be_had_leaves_a_matrix_that_can_be_destroyed_and_used) {
  TypeParam m;
  for (int round = 0; round < 3; ++round) {
    shape(m, 6);
    m.setOnes();
    EXPECT_THROW(shape(m, beyond_all_memory), std::bad_alloc);
    EXPECT_EQ(m.size(), 0);
  }
  shape(m, 6);
  m.setOnes();
  const TypeParam copy = m;
  TypeParam other;
  shape(other, 12);
  other = copy;
  EXPECT_EQ(other.size(), 6);
  EXPECT_EQ(other.count(), 6);
  other = std::move(m);
  EXPECT_EQ(other.count(), 6);
}

TYPED_TEST(EigenMemory, growing_in_place_keeps_what_was_there) {
  TypeParam m;
  shape(m, 6);
  m.setOnes();
  const bool rows_fixed = TypeParam::RowsAtCompileTime > 0;
  const Eigen::Index rows = m.rows(), cols = m.cols();
  const auto grow = [&](Eigen::Index more) {
    m.conservativeResize(rows_fixed ? rows : rows * more, rows_fixed ? cols * more : cols);
  };
  EXPECT_THROW(grow(Eigen::Index{1} << 54), std::bad_alloc);
  EXPECT_EQ(m.size(), 6);
  EXPECT_EQ(m.count(), 6);
  grow(2);
  EXPECT_EQ(m.size(), 12);
  EXPECT_EQ(m.topLeftCorner(rows, cols).count(), 6);
  grow(0);
  EXPECT_EQ(m.size(), 0);
}

TEST(EigenMemory, an_assignment_of_another_size_is_no_different) {
  Eigen::MatrixXd m = Eigen::MatrixXd::Ones(2, 2);
  EXPECT_THROW(m = Eigen::MatrixXd::Zero(Eigen::Index{1} << 28, Eigen::Index{1} << 28), std::bad_alloc);
  EXPECT_EQ(m.size(), 0);
  EXPECT_THROW(Eigen::VectorXd another(beyond_all_memory), std::bad_alloc);
}

}  // namespace
}  // namespace margin
