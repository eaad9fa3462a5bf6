// LowRankFactor against the matrix that it approximates.
#include "core/kernel/low_rank.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>

#include "core/base/threads.hpp"
#include "core/math/rounding.hpp"
#include "margin_problems.hpp"

namespace margin {
namespace {

using namespace reference;

Options with_kernel(const std::string& kernel) {
  Options s;
  s.kernel = kernel;
  s.gamma = Gamma::number;
  s.gamma_value = 0.3;
  s.degree = 2;
  s.coef0 = 1;
  s.width = 32;
  return s;
}

/// Every third row is there twice; `sparse`: most values are 0.
Dataset some_rows(int n, int d, bool sparse) {
  Random random(5);
  Dataset data(Dataset::Outcome::targets);
  std::vector<double> x;
  for (int i = 0; i < n; ++i) {
    if (i % 3 != 2) x = gaussian_row(random, d);
    if (!sparse) {
      data.append(dense_row(x.data(), d), Label(0.0));
      continue;
    }
    std::vector<std::int32_t> columns;
    std::vector<double> values;
    for (int j = (i % 3 == 2 ? i - 1 : i) % 11; j < d; j += 11) {
      columns.push_back(j);
      values.push_back(x[at(j)]);
    }
    data.append(sparse_row(columns.data(), values.data(), static_cast<std::int32_t>(values.size()), d), Label(0.0));
  }
  return data;
}

Eigen::MatrixXd matrix_of(const KernelRows& rows) {
  const auto n = static_cast<Eigen::Index>(rows.size());
  Eigen::MatrixXd k(n, n);
  KernelPoint point;
  for (Eigen::Index i = 0; i < n; ++i) {
    rows.set(point, static_cast<std::size_t>(i));
    double* to = k.col(i).data();
    rows.evaluate({&point}, 0, rows.size(), &to);
  }
  return k;
}

Eigen::MatrixXd factor_of(const LowRankFactor& factor, std::size_t n) {
  Eigen::MatrixXd f(static_cast<Eigen::Index>(n), static_cast<Eigen::Index>(factor.rank()));
  std::vector<float> row(factor.rank());
  for (std::size_t i = 0; i < n; ++i) {
    factor.row(i, row.data());
    for (std::size_t j = 0; j < row.size(); ++j)
      f(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = static_cast<double>(row[j]);
  }
  return f;
}

class EveryLowRank : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryLowRank, stays_below_the_matrix_and_reaches_it) {
  for (const bool sparse : {false, true})
    for (const int d : {3, 60}) {
      SCOPED_TRACE(std::to_string(d) + (sparse ? " sparse" : ""));
      const Dataset data = some_rows(150, d, sparse);
      const Progress progress;
      const KernelRows rows = kernel_rows(data, make_kernel(data, with_kernel(GetParam()), progress), progress);
      const Eigen::MatrixXd k = matrix_of(rows);
      const double unit = k.diagonal().maxCoeff();
      LowRankFactor factor(rows, 7, progress);
      double left_before = infinity;
      for (const std::size_t rank : {5U, 40U, 1000U}) {
        const bool all = factor.grow(rank);
        ASSERT_LE(factor.rank(), rank);
        EXPECT_EQ(all, factor.rank() == rank);
        const Eigen::MatrixXd f = factor_of(factor, rows.size()), left = k / unit - f * f.transpose();
        const double least = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(left).eigenvalues()(0);
        EXPECT_GE(least, -2e-6 * std::sqrt(150.0));
        EXPECT_LE(left.trace(), left_before + 1e-6 * 150);
        left_before = left.trace();
        if (!all) {
          EXPECT_LE(left.cwiseAbs().maxCoeff(), 5e-6);
        }
      }
      // A row that is there twice is a pivot once.
      EXPECT_LE(factor.rank(), 100U);
    }
}

TEST_P(EveryLowRank, weights_are_a_function_of_the_pivots) {
  const Dataset data = some_rows(200, 4, false);
  const Progress progress;
  const KernelRows rows = kernel_rows(data, make_kernel(data, with_kernel(GetParam()), progress), progress);
  const Eigen::MatrixXd k = matrix_of(rows);
  LowRankFactor factor(rows, 3, progress);
  factor.grow(12);
  const auto m = static_cast<Eigen::Index>(factor.rank());
  const Eigen::MatrixXd f = factor_of(factor, rows.size());
  Eigen::VectorXd weights(m);
  for (Eigen::Index j = 0; j < m; ++j) weights(j) = std::cos(static_cast<double>(j));
  const Eigen::VectorXd beta = factor.of_pivots(weights);
  Eigen::VectorXd scores = Eigen::VectorXd::Zero(200);
  double square = 0;
  for (Eigen::Index a = 0; a < m; ++a) {
    const std::int64_t s = factor.pivots()[static_cast<std::size_t>(a)];
    scores += beta(a) * k.col(s);
    for (Eigen::Index b = 0; b < m; ++b)
      square += beta(a) * beta(b) * k(s, factor.pivots()[static_cast<std::size_t>(b)]);
  }
  EXPECT_LE((scores - f * weights).cwiseAbs().maxCoeff(), 1e-4 * (1 + scores.cwiseAbs().maxCoeff()));
  EXPECT_NEAR(square, weights.squaredNorm() / factor.unit(), 1e-4 * square);
}

TEST_P(EveryLowRank, has_the_same_bits_for_every_number_of_threads) {
  const Dataset data = some_rows(3000, 5, false);
  const Progress alone;
  const KernelRows rows = kernel_rows(data, make_kernel(data, with_kernel(GetParam()), alone), alone);
  LowRankFactor one(rows, 11, alone);
  one.grow(9);
  Threads threads(4);
  const Progress progress(1048576, &threads);
  LowRankFactor other(rows, 11, progress);
  other.grow(9);
  EXPECT_EQ(one.pivots(), other.pivots());
  EXPECT_EQ(factor_of(one, rows.size()), factor_of(other, rows.size()));
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const std::string_view name : kernel_names()) all.emplace_back(name);
  return all;
}
INSTANTIATE_TEST_SUITE_P(All, EveryLowRank, ::testing::ValuesIn(names()),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace margin
