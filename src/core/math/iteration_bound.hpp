// How many iterations the papers' theorems promise to be enough.
//
//   sdca 1, sdca 1 hinge   max(0, ⌈n ln(λn/(2L²))⌉) + n + 20 L²/(λε), for the hinge 5 in place of 20: steps of SDCA on
//                          L-Lipschitz losses to an expected gap of ε, of the average from T₀ on (Remarks 1 and 2)
//   sdca 2                 (n + 1/(λγ)) ln((n + 1/(λγ))/ε): the same of the last iterate, losses of slope 1/γ
//   sdca 4, sdca 4 hinge   ⌈n ln ln(en)⌉ + n + 20 L²/(λε): as 1, after an epoch of Modified-SGD
//   sdca 3                 n, where 2L² ln(en)/(λn) ≤ ε, else infinity: Modified-SGD to an expected ε below the dual optimum
//   sdca 5                 2 (n/s) ln(2/ε), s ≤ 1 the largest with 8L² u N(u)/n ≤ ε, u = s/(λn): SDCA to the same. N(u): how many
//                          rows have γ_i < u, the distance of their score at the optimum from the kink of their loss
//   sdca 6                 the least 2T₀, T₀ ≥ n, with δ + η/(2λT₀) ≤ ε for the δ that sdca 5 promises after T₀ steps, and
//                          η = min over γ of 4L² N(γ)/n + 2δ/min(γ, λγ²/2): the average from T₀ on, to a gap of ε
//   momentum 3.1           the least t ≥ 1 with 4(1 + ln n)(1 + 2 ln(t+1))/(m(t+1)²) ≤ ε, m the maximum margin
//   sampling 4.1           max(⌈(32 ln n + 64 ln(2/δ))/(m²ε²)⌉, ⌈32/(δε²)⌉), with probability 1 − δ
//   boosting 3.3 quadratic, wolfe, frank_wolfe
//                          2, 8, 32 ln(n)/ε²: rounds to a margin within ε of the largest m, of the first two with the
//                          shrinkage ε/m
//
// Rows have norm 1 at most, losses are at most 1 at a score of 0. Sources: S. Shalev-Shwartz, T. Zhang, 2013, Theorems 1 to 6
// with Remarks 2 and 8, of Theorem 6 with its ρ ≤ 1; Z. Ji, N. Srebro, M. Telgarsky, 2021, Theorems 3.1 and 4.1;
// M. Telgarsky, 2013, Section 3.3, entries of at most 1, the exponential loss.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/base/progress.hpp"

namespace margin {

struct BoundSettings {
  double rows = 0, gap = 0;
  std::optional<double> lambda, smoothing, lipschitz, margin, failure;
  std::vector<double> distances;  ///< γ_i, one per row; of sdca 5 and 6
};

/// Throws Error: an unknown theorem, a number that it needs and that is absent, or out of its range.
double iterations_promised(std::string_view theorem, const BoundSettings& settings, const Progress& progress = {});

}  // namespace margin
