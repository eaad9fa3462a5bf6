// Every hard-margin solver of the registry on every named problem: the interval holds the maximum margin, the model is
// what its certificate says, and the status means what solvers/solver.hpp promises.
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "margin_problems.hpp"

namespace margin {
namespace {

using namespace reference;

constexpr Real epsilon = std::numeric_limits<double>::epsilon();

/// Everything that must hold of any model, whatever the solver made of the problem.
void check_model(const Rows& rows, bool intercept, double tolerance, const Model& m) {
  const Real radius = rows.radius(), d = rows.dimensions();
  ASSERT_TRUE(m.weights.allFinite());
  ASSERT_TRUE(m.intercept.allFinite());
  ASSERT_EQ(m.weights.rows(), rows.outputs());
  ASSERT_EQ(m.weights.cols(), rows.dimensions());
  const Real lower = m.certificate.lower, upper = m.certificate.upper;
  ASSERT_LE(lower, upper);
  ASSERT_TRUE(std::isfinite(static_cast<double>(lower)) && std::isfinite(static_cast<double>(upper)));

  // The lower bound is the margin of these very weights, rounded down by no more than rounding.
  const Real norm = norm_of(m.weights);
  if (norm > 0) {
    EXPECT_NEAR(static_cast<double>(norm), 1.0, 1e-14);
  }
  const Real own = model_margin(rows, m.weights, m.intercept);
  EXPECT_LE(lower, own);
  EXPECT_LE(own - lower, 8 * (d + 4) * epsilon * (radius + m.intercept.cwiseAbs().maxCoeff()));
  // The intercepts are the best that these weights can have; where nothing separates the rows they serve a risk.
  if (m.status != Status::not_separable) {
    EXPECT_LE(best_margin(rows, m.weights, intercept) - own, 1e-13L * (radius + m.intercept.cwiseAbs().maxCoeff()));
  }
  if (!intercept) {
    EXPECT_EQ(m.intercept.cwiseAbs().maxCoeff(), 0.0);
  }

  // The upper bound is what the dual weights prove, or the radius, which needs no proof.
  ASSERT_TRUE(m.dual_weights.has_value());
  EXPECT_GE(m.dual_weights->minCoeff(), 0.0);
  const Real trivial = radius * (rows.classes > 2 ? std::sqrt(2.0L) : 1.0L);
  if (m.dual_weights->sum() > 0 && radius > 0) {
    const Upper proven = dual_upper(rows, *m.dual_weights, intercept);
    EXPECT_GE(upper, std::min(proven.value, trivial));
    EXPECT_LE(upper, proven.value + 2 * (d + rows.count() + 8) * epsilon * radius);
    EXPECT_LE(proven.imbalance, 1e-9L);
  }
  EXPECT_LE(upper, trivial * (1 + 4 * (d + 4) * epsilon));

  switch (m.status.value()) {
    case Status::optimal:
      EXPECT_LE(upper - lower, static_cast<Real>(tolerance) * upper);
      EXPECT_GT(lower, 0);
      break;
    case Status::not_separable:
      EXPECT_LE(upper, 1e-9L * radius);
      EXPECT_LE(lower, 0);
      break;
    default:
      EXPECT_GT(upper - lower, static_cast<Real>(tolerance) * upper);
  }
}

bool follows_a_loss(const std::string& solver) {
  return solver == "momentum" || solver == "gradient_descent" || solver == "normalized_gradient_descent";
}

struct Case {
  std::string solver;
  Named problem;
};

std::vector<Case> cases() {
  std::vector<Case> list;
  for (const std::string& solver : hard_margin_solvers())
    for (const Named& problem : named_problems()) list.push_back({solver, problem});
  return list;
}

std::string case_name(const ::testing::TestParamInfo<Case>& info) {
  std::string name = info.param.solver + "_on_" + info.param.problem.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

class Conformance : public ::testing::TestWithParam<Case> {};

TEST_P(Conformance, interval_holds_the_maximum_margin) {
  const auto& [solver, problem] = GetParam();
  const Dataset data = make_dataset(problem.rows);
  for (const bool intercept : {true, false}) {
    SCOPED_TRACE(intercept ? "with intercept" : "without intercept");
    if (refuses(solver, intercept, problem.rows.classes)) {
      EXPECT_THROW(fit(data, hard(solver, true, 1e-2)), Error);
      continue;
    }
    const std::optional<Margin> known = known_margin(problem, intercept);
    const bool exact = solver == "cutting_plane";
    for (const double tolerance : exact ? std::vector<double>{1e-3, 1e-6} : std::vector<double>{1e-2}) {
      SCOPED_TRACE(tolerance);
      Options s = hard(solver, intercept, tolerance);
      if (!exact) s.max_iterations = problem.rows.dimensions() > 1000 ? 100 : 1000;
      const Model m = fit(data, s);
      check_model(problem.rows, intercept, tolerance, m);
      if (!exact) {
        EXPECT_LE(m.iterations, *s.max_iterations);
      }
      if (!known) {
        if (exact) {
          EXPECT_EQ(m.status, Status::optimal);
        }
        continue;
      }
      EXPECT_LE(m.certificate.lower, known->upper);
      EXPECT_GE(m.certificate.upper, known->lower);
      if (exact) {
        EXPECT_EQ(m.status, known->upper > 0 ? Status::optimal : Status::not_separable);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Conformance, ::testing::ValuesIn(cases()), case_name);

// Theorem 3.1 lets momentum reach 1e-2 where γ*/R is not small; the named problems above include those where it is.
TEST(HardMargin, momentum_reaches_its_tolerance_on_clouds) {
  for (const bool intercept : {true, false}) {
    const Model m = fit(make_dataset(clouds(3, 200, 5)), hard("momentum", intercept, 1e-2));
    EXPECT_EQ(m.status, Status::optimal);
    EXPECT_GE(m.certificate.lower, 0.99 - 1e-12);
  }
}

class RandomProblems : public ::testing::TestWithParam<Family> {};

TEST_P(RandomProblems, cutting_plane_agrees_with_enumerated_supports) {
  int separable = 0, inseparable = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed)
    for (const bool intercept : {true, false}) {
      const Rows rows = random_rows(GetParam(), seed, seed % 3 == 2 ? 3 : 2);
      SCOPED_TRACE("seed " + std::to_string(seed) + (intercept ? " with intercept" : " without intercept"));
      const std::optional<Margin> known = maximum_margin(rows, intercept);
      ASSERT_TRUE(known.has_value());
      const Model m = fit(make_dataset(rows), hard("cutting_plane", intercept, 1e-6));
      check_model(rows, intercept, 1e-6, m);
      EXPECT_LE(m.certificate.lower, known->upper);
      EXPECT_GE(m.certificate.upper, known->lower);
      EXPECT_EQ(m.status, known->upper > 0 ? Status::optimal : Status::not_separable);
      ++(known->upper > 0 ? separable : inseparable);
    }
  EXPECT_GT(separable, 15);
  EXPECT_GT(inseparable, 15);
}

TEST_P(RandomProblems, first_order_intervals_hold_the_maximum_margin) {
  for (std::uint64_t seed = 0; seed < 12; ++seed)
    for (const bool intercept : {true, false}) {
      const Rows rows = random_rows(GetParam(), 1000 + seed, seed % 3 == 2 ? 3 : 2);
      const std::optional<Margin> known = maximum_margin(rows, intercept);
      ASSERT_TRUE(known.has_value());
      for (const std::string& solver : hard_margin_solvers()) {
        if (solver == "cutting_plane" || refuses(solver, intercept, rows.classes)) continue;
        SCOPED_TRACE(solver + " seed " + std::to_string(seed) + (intercept ? " with intercept" : ""));
        for (const char* loss : {"exponential", "logistic"}) {
          if (!follows_a_loss(solver) && loss != std::string("exponential")) continue;
          if (loss == std::string("logistic") && intercept && rows.classes > 2) continue;
          Options s = hard(solver, intercept, 1e-2);
          if (follows_a_loss(solver)) s.loss = loss;
          s.max_iterations = 200;
          const Model m = fit(make_dataset(rows), s);
          check_model(rows, intercept, 1e-2, m);
          EXPECT_LE(m.certificate.lower, known->upper);
          EXPECT_GE(m.certificate.upper, known->lower);
        }
      }
    }
}

std::string family_name(const ::testing::TestParamInfo<Family>& info) {
  static const char* const names[] = {"gaussian",  "grid",   "duplicated", "constant_column",
                                      "collinear", "sparse", "unit"};
  return names[static_cast<int>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(All, RandomProblems,
                         ::testing::Values(Family::gaussian, Family::grid, Family::duplicated, Family::constant_column,
                                           Family::collinear, Family::sparse, Family::unit),
                         family_name);

}  // namespace
}  // namespace margin
