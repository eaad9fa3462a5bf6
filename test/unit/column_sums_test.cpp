// Sums of columns that may matter, against all of them.
#include "core/solvers/elastic_net/column_sums.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "risk_problems.hpp"

namespace margin {
namespace {

using testing::normal;

class ColumnSumsOf : public ::testing::TestWithParam<std::tuple<double, double, bool>> {};  // density, mean, factors
INSTANTIATE_TEST_SUITE_P(Rows, ColumnSumsOf,
                         ::testing::Combine(::testing::Values(1.0, 0.1), ::testing::Values(0.0, 1e3, 1e9),
                                            ::testing::Bool()));

TEST_P(ColumnSumsOf, LeaveOutNoneThatIsLarge) {
  const auto [density, mean, factors] = GetParam();
  Random random(12);
  const int n = 40, d = 350;
  Dataset data(Dataset::Outcome::targets);
  for (int i = 0; i < n; ++i) {
    std::vector<double> x;
    for (int j = 0; j < d; ++j) x.push_back(random.uniform() < density ? mean + normal(random) : 0.0);
    data.append(dense_row(x.data(), d), normal(random));
  }
  Options s;
  s.loss = "squared";
  s.l1_ratio = 1;
  s.lambda = 1;
  s.intercept_form = InterceptForm::free;
  Problem p = make_problem(data, s);
  if (factors)
    for (int j = 0; j < d; ++j) p.penalty_factor.push_back(0.5 + random.uniform());
  const Progress progress;
  const Columns columns(p.data, progress);
  ColumnSums sums(p, columns, progress), reference(p, columns, progress);
  // A vector that turns slowly, from time to time all at once; its entries sum up to 0, or not.
  std::vector<double> a(n);
  std::size_t left_out = 0;
  for (int step = 0; step < 60; ++step) {
    double sum = 0;
    for (double& v : a) v = step % 25 == 0 ? normal(random) : 0.9 * v + 0.01 * normal(random);
    for (const double v : a) sum += v / n;
    if (step % 10 != 9)
      for (double& v : a) v -= sum;
    reference.all(a);
    step % 30 == 29 ? sums.all(a) : sums.some(a);
    double largest = 0;
    for (int j = 0; j < d; ++j)
      largest = std::max(
          largest, std::fabs(reference.values()[static_cast<std::size_t>(j)]) / p.factor(static_cast<std::size_t>(j)));
    sums.know({3, 100});
    EXPECT_EQ(sums.values()[3], reference.values()[3]);
    EXPECT_EQ(sums.values()[100], reference.values()[100]);
    for (const double share : {0.9, 0.6, 0.8}) {
      const std::vector<std::size_t>& found = sums.at_least(share * largest);
      EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
      for (std::size_t j = 0; j < static_cast<std::size_t>(d); ++j) {
        const bool is_found = std::binary_search(found.begin(), found.end(), j);
        if (is_found) {
          EXPECT_EQ(sums.values()[j], reference.values()[j]) << step << " " << j;
        } else {
          EXPECT_LT(std::fabs(reference.values()[j]) / p.factor(j), share * largest * (1 + 1e-12)) << step << " " << j;
        }
      }
      left_out += static_cast<std::size_t>(d) - found.size();
    }
  }
  EXPECT_GT(left_out, 1000U);
}

}  // namespace
}  // namespace margin
