// The status of a model: every problem, every status that a solver may end with, every place of the interval.
#include "core/certificate/final_status.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/problem/thresholds.hpp"

namespace margin {
namespace {

constexpr Status all[] = {Status::optimal, Status::not_separable, Status::iteration_limit, Status::time_limit};
constexpr double tolerance = 1e-3;
constexpr double infinity = std::numeric_limits<double>::infinity();

/// What is expected where the interval decides, or where it only takes back what it does not bear out.
struct Expected {
  bool decided;
  Status status;
};
constexpr Expected proven(Status s) { return {true, s}; }
constexpr Expected open = {false, Status::iteration_limit};

void expect(const Certificate& c, CertifiedProblem problem, Expected expected, const char* what) {
  for (const Status reached : all) {
    const bool claim = reached == Status::optimal || reached == Status::not_separable;
    const Status status = expected.decided ? expected.status : claim ? Status::iteration_limit : reached;
    EXPECT_EQ(final_status(c, problem, tolerance, reached), status)
        << what << ", problem " << static_cast<int>(problem) << ", the solver: " << status_name(reached);
  }
}

Certificate interval(double lower, double upper, double radius) {
  Certificate c;
  c.lower = lower;
  c.upper = upper;
  c.radius = radius;
  c.gap = upper - lower;
  c.relative_gap = upper > 0 ? c.gap / upper : 0;
  return c;
}

TEST(FinalStatus, of_hard_margins) {
  for (const auto& [problem, share] : {std::pair{CertifiedProblem::hard_margin, negligible_margin},
                                       std::pair{CertifiedProblem::kernel_hard_margin, negligible_kernel_margin}}) {
    for (const double radius : {1.0, 1e-100, 1e100}) {
      const double small = share * radius;
      expect(interval(radius * (1 - tolerance / 2), radius, radius), problem, proven(Status::optimal), "closed");
      expect(interval(radius / 2, radius, radius), problem, open, "separates, wide");
      expect(interval(2 * small * (1 - tolerance / 2), 2 * small, radius), problem, proven(Status::optimal), "small");
      expect(interval(0, 2 * small, radius), problem, open, "upper bound above the negligible");
      expect(interval(-radius, radius, radius), problem, open, "separates not all rows");
      expect(interval(-radius, small, radius), problem, proven(Status::not_separable), "just negligible");
      expect(interval(0, small / 2, radius), problem, proven(Status::not_separable), "negligible");
      expect(interval(-infinity, 0, radius), problem, proven(Status::not_separable), "nothing above 0");
    }
    expect(interval(0, 0, 0), problem, proven(Status::not_separable), "rows of zeros");
    expect(interval(-infinity, infinity, 1), problem, open, "nothing proven");
    Certificate nothing = interval(std::nan(""), std::nan(""), 1);
    nothing.relative_gap = std::nan("");
    expect(nothing, problem, open, "no numbers");
  }
  // One against the rest: the widest of the intervals counts.
  Certificate c = interval(0.9999, 1, 1);
  c.relative_gap = 2 * tolerance;
  expect(c, CertifiedProblem::hard_margin, open, "another class's interval is wide");
}

TEST(FinalStatus, of_a_separator_with_a_negligible_margin) {
  // Its weights separate the rows, no others do so by more: what the solver believes of it does not matter.
  const double top = negligible_margin / 2;
  const auto status = [&](double lower, Status reached) {
    return final_status(interval(lower, top, 1), CertifiedProblem::hard_margin, tolerance, reached);
  };
  EXPECT_EQ(status(top / 2, Status::not_separable), Status::iteration_limit);
  EXPECT_EQ(status(top / 2, Status::optimal), Status::iteration_limit);
  EXPECT_EQ(status(top / 2, Status::time_limit), Status::time_limit);
  EXPECT_EQ(status(top, Status::not_separable), Status::optimal);
  EXPECT_EQ(status(0, Status::iteration_limit), Status::not_separable);
  EXPECT_EQ(status(top, Status::iteration_limit), Status::optimal);
}

TEST(FinalStatus, of_soft_margins) {
  const auto gap = [](double relative) {
    Certificate c = interval(1 - relative, 1, 1);
    c.relative_gap = relative;
    return c;
  };
  expect(gap(0), CertifiedProblem::soft_margin, proven(Status::optimal), "no gap");
  expect(gap(tolerance), CertifiedProblem::soft_margin, proven(Status::optimal), "the tolerance itself");
  expect(gap(std::nextafter(tolerance, 1)), CertifiedProblem::soft_margin, open, "just above");
  expect(gap(1), CertifiedProblem::soft_margin, open, "no dual vector");
  expect(gap(infinity), CertifiedProblem::soft_margin, open, "an infinite primal value");
  expect(gap(std::nan("")), CertifiedProblem::soft_margin, open, "no number");
  // A risk of nearly 0 is none of a margin.
  Certificate tiny = interval(0, 1e-12, 1);
  tiny.relative_gap = 1;
  expect(tiny, CertifiedProblem::soft_margin, open, "a small risk");
}

TEST(FinalStatus, of_exact_fits_of_counts) {
  Certificate c = interval(0, 1e-9, 1);
  c.relative_gap = 1;
  c.negligible = 1e-9;
  expect(c, CertifiedProblem::soft_margin, proven(Status::optimal), "rounding is all that is left");
  c.negligible = 0.99e-9;
  expect(c, CertifiedProblem::soft_margin, open, "more than rounding is left");
}

TEST(FinalStatus, of_one_class_machines) {
  const auto problem = CertifiedProblem::one_class;
  const double least = negligible_kernel_margin * negligible_kernel_margin;  // of a margin's square, in rows of norm 1
  const auto machine = [](double lower, double relative_gap, double radius) {
    Certificate c;
    c.lower = lower;
    c.upper = lower * (1 - relative_gap);
    c.gap = c.upper - c.lower;
    c.relative_gap = relative_gap;
    c.radius = radius;
    return c;
  };
  expect(machine(-1, tolerance, 1), problem, proven(Status::optimal), "the tolerance itself");
  expect(machine(-1, 1.5 * tolerance, 1), problem, open, "within twice the tolerance");
  expect(machine(-0.4999 * least, tolerance, 1), problem, proven(Status::not_separable), "around the origin");
  expect(machine(-0.75 * least, tolerance, 1), problem, proven(Status::optimal), "hardly apart from it");
  expect(machine(-0.75 * least, tolerance, 2), problem, proven(Status::not_separable), "the same of longer rows");
  expect(machine(0, 0, 1), problem, proven(Status::not_separable), "at the origin");
}

TEST(FinalStatus, at_lambda_0) {
  const auto problem = CertifiedProblem::likelihood;
  Certificate c = interval(0.5, 1, 1);
  c.constant_failure = 1;
  expect(c, problem, open, "a wide interval");
  c = interval(1 - tolerance / 2, 1, 1);
  c.constant_failure = 1;
  expect(c, problem, proven(Status::optimal), "closed");
  c.separates = true;
  expect(c, problem, proven(Status::separable), "no weights are the best");
  Certificate exact = interval(0, exact_fit, 1);
  exact.constant_failure = 1;
  expect(exact, problem, proven(Status::optimal), "an exact fit");
  exact.constant_failure = 0.99;
  expect(exact, problem, open, "a fit that is nearly exact");
  exact.constant_failure = infinity;
  expect(exact, problem, open, "nothing to compare with");
}

TEST(FinalStatus, of_interpolation) {
  const auto targets = [](double relative_gap, double slack) {
    Certificate c;
    c.radius = c.largest_target = c.least_norm = 1;
    c.upper = 0.5 / (1 - relative_gap);
    c.lower = 0.5;
    c.relative_gap = relative_gap;
    c.slack = slack;
    return c;
  };
  const auto problem = CertifiedProblem::interpolation;
  expect(targets(tolerance / 2, 0), problem, proven(Status::optimal), "met");
  expect(targets(tolerance / 2, -negligible_miss), problem, proven(Status::optimal), "met but for rounding");
  expect(targets(tolerance / 2, -2 * negligible_miss), problem, open, "missed");
  expect(targets(2 * tolerance, 0), problem, open, "met by weights that are too long");
  expect(targets(infinity, -infinity), problem, open, "nothing proven");

  Certificate contradictory = targets(infinity, -1);
  contradictory.least_norm = contradiction;
  expect(contradictory, problem, proven(Status::not_separable), "contradictory");
  contradictory.least_norm = contradiction * (1 - 1e-9);
  expect(contradictory, problem, open, "nearly contradictory");
  contradictory.least_norm = contradiction;
  contradictory.radius = 2;  // longer rows need shorter weights
  expect(contradictory, problem, proven(Status::not_separable), "contradictory, long rows");
  contradictory.largest_target = 3;
  expect(contradictory, problem, open, "larger targets");

  Certificate zeros = targets(1, -1);
  zeros.radius = 0;
  expect(zeros, problem, proven(Status::not_separable), "rows of zeros that should give something");
  zeros.least_norm = 0;
  expect(zeros, problem, open, "rows of zeros, nothing proven");

  // Weights that move no score are as good as 0, whatever the relative gap.
  Certificate as_zero = targets(1, 0);
  as_zero.upper = 0.5e-20;
  expect(as_zero, problem, proven(Status::optimal), "as good as 0");
  as_zero.upper = 0.5e-16;
  expect(as_zero, problem, open, "not as good as 0");
  Certificate all_zero = targets(0, 0);
  all_zero.upper = all_zero.lower = all_zero.largest_target = all_zero.least_norm = 0;
  expect(all_zero, problem, proven(Status::optimal), "targets of 0");
}

}  // namespace
}  // namespace margin
