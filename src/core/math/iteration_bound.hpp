// How many iterations the papers' theorems promise to be enough.
//
//   sdca 1, sdca 1 hinge   max(0, ⌈n ln(λn/(2L²))⌉) + n + 20 L²/(λε), for the hinge 5 in place of 20: steps of SDCA on
//                          L-Lipschitz losses to an expected gap of ε, of the average from T₀ on (Remarks 1 and 2)
//   sdca 2                 (n + 1/(λγ)) ln((n + 1/(λγ))/ε): the same of the last iterate, losses of slope 1/γ
//   sdca 4, sdca 4 hinge   ⌈n ln ln(en)⌉ + n + 20 L²/(λε): as 1, after an epoch of Modified-SGD
//   momentum 3.1           the least t ≥ 1 with 4(1 + ln n)(1 + 2 ln(t+1))/(m(t+1)²) ≤ ε, m the maximum margin
//   sampling 4.1           max(⌈(32 ln n + 64 ln(2/δ))/(m²ε²)⌉, ⌈32/(δε²)⌉), with probability 1 − δ
//
// Rows have norm 1 at most, losses are at most 1 at a score of 0. Sources: S. Shalev-Shwartz, T. Zhang, 2013, Theorems 1, 2
// and 4 with Remarks 2 and 8; Z. Ji, N. Srebro, M. Telgarsky, 2021, Theorems 3.1 and 4.1.
#pragma once

#include <optional>
#include <string_view>

namespace margin {

struct BoundSettings {
  double rows = 0, gap = 0;
  std::optional<double> lambda, smoothing, lipschitz, margin, failure;
};

/// Throws Error: an unknown theorem, a number that it needs and that is absent, or out of its range.
double iterations_promised(std::string_view theorem, const BoundSettings& settings);

}  // namespace margin
