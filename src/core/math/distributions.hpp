// Tails and quantiles of the normal and of Student's distribution, to some twelve digits also where they are tiny.
#pragma once

namespace margin {

/// P(Z > z).
double normal_tail(double z);
/// The z with P(Z > z) = p, 0 < p < 1.
double normal_quantile(double p);
/// P(T > t) with `degrees` > 0 of freedom, which need not be a whole number.
double student_tail(double t, double degrees);
/// The t with P(T > t) = p, 0 < p < 1.
double student_quantile(double p, double degrees);

}  // namespace margin
