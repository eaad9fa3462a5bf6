// The matrix of a working set that changes, against one made anew and against sums of products.
#include "core/solvers/elastic_net/working_matrix.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "risk_problems.hpp"

namespace margin {
namespace {

using testing::normal;

/// Rows of which a share of the numbers is not 0.
Dataset rows_of(Random& random, int n, int d, double density, bool wide) {
  Dataset data(Dataset::Outcome::targets);
  for (int i = 0; i < n; ++i) {
    std::vector<double> x;
    for (int j = 0; j < d; ++j) {
      const double v = random.uniform() < density ? normal(random) : 0.0;
      x.push_back(wide ? v : static_cast<double>(static_cast<float>(v)));
    }
    data.append(dense_row(x.data(), d), normal(random));
  }
  return data;
}

std::vector<std::size_t> some_features(Random& random, int d, double share) {
  std::vector<std::size_t> out;
  for (int j = 0; j < d; ++j)
    if (random.uniform() < share) out.push_back(static_cast<std::size_t>(j));
  return out;
}

double product(const Dataset& data, const std::vector<double>& h, std::size_t j, std::size_t k, double constant) {
  const auto d = static_cast<std::size_t>(data.dimensions());
  const auto value = [&](std::int64_t i, std::size_t f) {
    return f == d ? constant : value_at(data.row(i), static_cast<std::int32_t>(f));
  };
  double sum = 0;
  for (std::int64_t i = 0; i < data.rows(); ++i) sum += h[static_cast<std::size_t>(i)] * value(i, j) * value(i, k);
  return sum;
}

void expect_matrix(const WorkingMatrix& matrix, const Dataset& data, std::vector<std::size_t> set,
                   const std::vector<double>& h, double constant) {
  if (constant != 0) set.push_back(static_cast<std::size_t>(data.dimensions()));
  ASSERT_EQ(matrix.size(), set.size());
  for (std::size_t p = 0; p < set.size(); ++p)
    for (std::size_t q = 0; q < set.size(); ++q) {
      const double expected = product(data, h, set[p], set[q], constant);
      EXPECT_NEAR(matrix.values()[p * matrix.stride() + q], expected, 1e-12 * (20 + std::fabs(expected)))
          << p << " " << q;
    }
}

TEST(WorkingMatrix, FollowsTheSet) {
  Random random(4);
  for (const double density : {1.0, 0.2, 0.05})
    for (const bool intercept : {true, false})
      for (const bool wide : {true, false}) {
        const Dataset data = rows_of(random, 300, 60, density, wide);
        Options s;
        s.loss = "squared";
        s.l1_ratio = 1;
        s.lambda = 1;
        s.intercept = intercept;
        s.intercept_form = intercept ? InterceptForm::free : InterceptForm::by_default;
        const Problem p = make_problem(data, s);
        const Progress progress;
        const Columns columns(p.data, progress);
        const double constant = intercept ? 1 : 0;
        WorkingMatrix matrix(p, columns, constant, progress);
        std::vector<double> h;
        for (std::int64_t i = 0; i < p.rows(); ++i) h.push_back(i % 7 == 0 ? 0 : random.uniform());
        std::vector<std::size_t> set = some_features(random, 60, 0.5);
        matrix.fill(set, h);
        expect_matrix(matrix, data, set, h, constant);
        for (int change = 0; change < 12; ++change) {
          // A few come and go; now and then nothing, none or nearly all.
          if (change == 5) set = some_features(random, 60, 0.9);
          if (change == 8) set = {7};
          for (int k = 0; k < change % 4; ++k) {
            const std::size_t j = random.below(60);
            const auto at = std::lower_bound(set.begin(), set.end(), j);
            if (at != set.end() && *at == j && set.size() > 1)
              set.erase(at);
            else if (at == set.end() || *at != j)
              set.insert(at, j);
          }
          matrix.change(set, h);
          expect_matrix(matrix, data, set, h, constant);
        }
        for (double& v : h) v = random.uniform();
        matrix.fill(set, h);
        expect_matrix(matrix, data, set, h, constant);
        set.clear();
        for (std::size_t j = 0; j < 60; ++j) set.push_back(j);
        matrix.fill_rows(h);
        expect_matrix(matrix, data, set, h, constant);
      }
}

}  // namespace
}  // namespace margin
