// The margin of a few rows: its vectors meet the conditions, its bounds hold the enumerated margin, and cutting_plane
// says the same with it and without.
#include "core/solvers/l2_margin/few_rows.hpp"

#include <gtest/gtest.h>

#include "margin_problems.hpp"

namespace margin {
namespace {

using namespace reference;

const Progress quiet;

std::optional<FewRowsMargin> few_rows(const Rows& rows, bool intercept) {
  const Dataset data = make_dataset(rows);
  return margin_of_few_rows(make_problem(data, hard("cutting_plane", intercept, 1e-6)), 1e-10, quiet);
}

/// Row weights that are a point of the hull, of the norm that is called the upper bound; a lower bound that the weights
/// have.
void check_vectors(const Rows& rows, bool intercept, const FewRowsMargin& m) {
  ASSERT_EQ(m.q.size(), rows.count());
  EXPECT_GE(m.q.minCoeff(), 0.0);
  const Weights dual = m.q;
  const Upper upper = dual_upper(rows, dual, intercept);
  double largest = 0;
  for (const auto& x : rows.x)
    largest = std::max(largest, Eigen::Map<const Eigen::VectorXd>(x.data(), rows.dimensions()).norm());
  EXPECT_NEAR(static_cast<double>(upper.value), m.best.bounds.upper, 1e-13 * largest);
  Eigen::VectorXd b(1);
  b << m.best.offsets(1) - m.best.offsets(0);
  if (m.best.bounds.lower > 0) {
    EXPECT_NEAR(static_cast<double>(model_margin(rows, m.best.weights, b)), m.best.bounds.lower, 1e-13 * largest);
  }
  EXPECT_LE(m.first.lower, m.best.bounds.lower);
}

class FewRows : public ::testing::TestWithParam<Family> {};

TEST_P(FewRows, bounds_hold_the_enumerated_margin) {
  int answers = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed)
    for (const bool intercept : {true, false}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + (intercept ? " with intercept" : ""));
      const Rows rows = random_rows(GetParam(), 900 + seed, 2);
      const std::optional<Margin> known = maximum_margin(rows, intercept);
      ASSERT_TRUE(known.has_value());
      const auto m = few_rows(rows, intercept);
      if (!m.has_value()) continue;
      ++answers;
      check_vectors(rows, intercept, *m);
      EXPECT_NEAR(m->best.bounds.upper, static_cast<double>(known->upper),
                  1e-7 * (1 + static_cast<double>(known->upper)));
      if (known->upper > 1e-6) {
        EXPECT_NEAR(m->best.bounds.lower, static_cast<double>(known->upper), 1e-7 * static_cast<double>(known->upper));
      }
    }
  EXPECT_GT(answers, 110);
}

INSTANTIATE_TEST_SUITE_P(All, FewRows,
                         ::testing::Values(Family::gaussian, Family::grid, Family::duplicated, Family::constant_column,
                                           Family::collinear, Family::sparse, Family::unit));

TEST(FewRowsMargin, is_of_two_classes_and_of_few_numbers) {
  EXPECT_TRUE(few_rows(clouds(3, 64, 5), true).has_value());
  EXPECT_FALSE(few_rows(clouds(3, 65, 5), true).has_value());
  EXPECT_TRUE(few_rows(clouds(3, 64, 64), true).has_value());
  EXPECT_FALSE(few_rows(clouds(3, 64, 65), true).has_value());
  EXPECT_FALSE(few_rows(gaussian_rows(3, 20, 5, 0.05, 3), true).has_value());
}

TEST(FewRowsMargin, many_members_come_and_go) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed)
    for (const bool intercept : {true, false}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + (intercept ? " with intercept" : ""));
      const Rows rows = gaussian_rows(seed, 64, 2 + static_cast<int>(seed), 0.01);
      const auto m = few_rows(rows, intercept);
      ASSERT_TRUE(m.has_value());
      check_vectors(rows, intercept, *m);
      EXPECT_LE(m->best.bounds.upper - m->best.bounds.lower, 1e-8 * m->best.bounds.upper);
    }
}

/// The same rows, options and interval; a limit of time takes the way of any number of rows.
TEST(FewRowsMargin, cutting_plane_says_the_same_without_it) {
  for (const double factor : {1.0, 1e150, 1e-150})
    for (const Storage storage : {Storage::doubles, Storage::sparse})
      for (const bool intercept : {true, false})
        for (std::uint64_t seed = 1; seed <= 12; ++seed) {
          SCOPED_TRACE("seed " + std::to_string(seed) + (intercept ? " with intercept" : ""));
          Rows rows = scaled(gaussian_rows(seed, 20, 10, 0.02), factor);
          if (seed % 3 == 0) rows.y[0] = 1 - rows.y[0];
          const Dataset data = make_dataset(rows, storage);
          Options options = hard("cutting_plane", intercept, 1e-6);
          options.history = true;
          const Model few = fit(data, options);
          options.max_seconds = 1000;
          const Model any = fit(data, options);
          EXPECT_EQ(few.status, any.status);
          EXPECT_EQ(few.solver, any.solver);
          EXPECT_EQ(few.iterations, any.iterations);
          EXPECT_EQ(few.history.size(), any.history.size());
          if (few.status != Status::optimal) continue;
          EXPECT_NEAR(few.certificate.lower, any.certificate.lower, 1e-7 * any.certificate.upper);
          EXPECT_NEAR(few.certificate.upper, any.certificate.upper, 1e-7 * any.certificate.upper);
        }
}

TEST(FewRowsMargin, one_iteration_is_one) {
  const Dataset data = make_dataset(gaussian_rows(5, 20, 10, 0.02));
  Options options = hard("cutting_plane", true, 1e-6);
  options.max_iterations = 1;
  const Model m = fit(data, options);
  EXPECT_EQ(m.iterations, 1);
  EXPECT_EQ(m.status, Status::iteration_limit);
}

}  // namespace
}  // namespace margin
