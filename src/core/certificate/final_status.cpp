#include "core/certificate/final_status.hpp"

#include <cmath>

#include "core/loss/one_class.hpp"
#include "core/math/rounding.hpp"
#include "core/problem/thresholds.hpp"

namespace margin {

namespace {

/// The claim of an unfinished solver stands; one that needed a proof does not.
Status unproven(Status reached) {
  const bool claim = reached == Status::optimal || reached == Status::not_separable || reached == Status::separable;
  return claim ? Status::iteration_limit : reached;
}

Status status_of_margin(const Certificate& c, double negligible, double tolerance, Status reached,
                        double gap_tolerance = 0) {
  // A margin that small is none for any purpose; but a model that is proven to separate the rows is no proof of the
  // contrary, whatever its solver believed.
  if (c.upper <= negligible * c.radius && !(c.lower > 0)) return Status::not_separable;
  if (c.relative_gap <= tolerance || c.gap <= gap_tolerance) return Status::optimal;
  return unproven(reached);
}

Status status_of_risk(const Certificate& c, double tolerance, Status reached, double gap_tolerance = 0) {
  return c.relative_gap <= tolerance || c.gap <= gap_tolerance || c.upper <= c.negligible ? Status::optimal
                                                                                          : unproven(reached);
}

/// A one-class machine is not apart from the origin where no w has a value that counts as below 0.
Status status_of_one_class(const Certificate& c, double tolerance, Status reached) {
  const double negligible = negligible_kernel_margin * c.radius;
  if (-2 * c.lower <= negligible * negligible) return Status::not_separable;
  return c.relative_gap <= tolerance ? Status::optimal : unproven(reached);
}

Status status_of_targets(const Certificate& c, double tolerance, Status reached) {
  // Rows of zeros: no weights move them, and only targets that contradict each other have a least norm above 0.
  if (c.largest_target > 0 &&
      (c.radius > 0 ? c.least_norm * c.radius >= contradiction * c.largest_target : c.least_norm > 0))
    return Status::not_separable;
  // Weights that move no score by more than rounding are as good as 0, which nothing can be less than.
  const bool as_good_as_zero = std::sqrt(2 * c.upper) * c.radius <= c.largest_target / contradiction;
  const bool all_met = c.slack >= -negligible_miss * c.largest_target;
  return all_met && (c.relative_gap <= tolerance || as_good_as_zero) ? Status::optimal : unproven(reached);
}

}  // namespace

CertifiedProblem certified_problem(const Problem& p) {
  if (p.interpolate) return CertifiedProblem::interpolation;
  if (one_class_of(p.loss.get()) != nullptr) return CertifiedProblem::one_class;
  if (p.likelihood()) return CertifiedProblem::likelihood;
  if (!p.hard_margin) return CertifiedProblem::soft_margin;
  return p.kernel != nullptr ? CertifiedProblem::kernel_hard_margin : CertifiedProblem::hard_margin;
}

Status final_status(const Certificate& c, CertifiedProblem problem, double tolerance, Status reached,
                    double gap_tolerance) {
  switch (problem) {
    case CertifiedProblem::interpolation:
      return status_of_targets(c, tolerance, reached);
    case CertifiedProblem::likelihood:
      if (c.separates) return Status::separable;
      return c.upper <= exact_fit * c.constant_failure && c.constant_failure < infinity
                 ? Status::optimal
                 : status_of_risk(c, tolerance, reached);
    case CertifiedProblem::one_class:
      return status_of_one_class(c, tolerance, reached);
    case CertifiedProblem::soft_margin:
      return status_of_risk(c, tolerance, reached, gap_tolerance);
    case CertifiedProblem::kernel_hard_margin:
      return status_of_margin(c, negligible_kernel_margin, tolerance, reached);
    case CertifiedProblem::hard_margin:
      break;
  }
  return status_of_margin(c, negligible_margin, tolerance, reached, gap_tolerance);
}

}  // namespace margin
