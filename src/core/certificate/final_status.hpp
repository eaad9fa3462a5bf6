// What a model's status is: the only place that decides it. A solver may believe that it is done or that nothing
// separates the rows; the certificate has the last word.
#pragma once

#include "core/base/progress.hpp"
#include "core/certificate/certificate.hpp"

namespace margin {

/// What an interval is about.
enum class CertifiedProblem { one_class, hard_margin, kernel_hard_margin, soft_margin, likelihood, interpolation };
CertifiedProblem certified_problem(const Problem& problem);

/// optimal: the interval is within the tolerance (interpolation: and every row is met), that of a soft margin relative to its
/// ends or by its width (`gap_tolerance`).
/// not_separable: proven; the upper bound of a margin is negligible and its lower one not above 0, or only weights of absurd size meet all targets.
/// separable: the weights of the model separate the classes, at lambda 0.
/// Otherwise `reached`, the solver's own status, but for a claim that the certificate does not bear out: that is
/// iteration_limit. Thresholds: problem/thresholds.hpp.
Status final_status(const Certificate& certificate, CertifiedProblem problem, double tolerance, Status reached,
                    double gap_tolerance = 0);

}  // namespace margin
