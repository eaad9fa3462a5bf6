// One weight between two bounds: what the penalty and a box leave of the linear term −q w,
//   T(q) = min over l ≤ w ≤ u of μ/2 w² + κ|w| − q w,
// concave in q, with the slope −w there; its minimum is at clip(soft(q, κ)/μ, l, u). With μ = 0 it is at an end of the box, or
// at 0, and −∞ where q passes κ on a side without an end.
#pragma once

namespace margin {

/// Where T(q) is attained, to an ulp or two of the weight without bounds; ±∞ where it is attained nowhere.
double box_minimiser(double q, double mu, double kappa, double l, double u);

/// The function of w at the minimiser, without bounds on its rounding.
double box_value(double q, double mu, double kappa, double l, double u);

/// ≤ T(q), for exact q, μ, κ ≥ 0: each of its three terms errs by two ulps, and so does the minimiser, which costs the square of
/// that share of them; −∞ where there is no end or a number overflows. As T rises with μ and κ, rounding these down is on the safe side.
double box_term(double q, double mu, double kappa, double l, double u);

/// ≤ T(q') of every q' with |q' − q| ≤ error: a concave function is least at an end.
double box_term(double q, double error, double mu, double kappa, double l, double u);

}  // namespace margin
