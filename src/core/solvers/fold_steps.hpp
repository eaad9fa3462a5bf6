// What one visit to a row asks of a loss: its value and a coordinate step in the model of every fold.
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "../losses/all.hpp"
#include "fold_ascent.hpp"

namespace margin {

constexpr std::size_t widest_panel = static_cast<std::size_t>(FoldAscent::most);
/// Above this s the logistic step is taken exactly: the cheap one would cover too little of the way.
constexpr double largest_cheap_s = 8;

/// The panel's scores with what a loss wants to know of all of them at once.
struct Scores {
  double u[widest_panel] = {}, value[widest_panel] = {}, slope[widest_panel] = {};
};
/// Called once a row, before loss_value() and step_of().
template <class L>
void prepare(const L&, double, std::size_t, Scores&) {}
inline void prepare(const Logistic&, double y, std::size_t width, Scores& s) {
  double outcomes[widest_panel];
  std::fill(outcomes, outcomes + widest_panel, y);
  kernels().logistic(s.u, outcomes, width, s.value, s.slope);
}

template <class L>
double loss_value(const L& loss, const Scores& s, std::size_t f, double y) {
  if constexpr (std::is_same_v<L, Logistic>)
    return s.value[f];
  else
    return loss.value(s.u[f], y);
}

/// A coordinate's step, and its share of the gap before it.
struct FoldStep {
  double delta, gap;
};
template <class L>
FoldStep step_of(const L& loss, const Scores& at, std::size_t f, double y, double a, double s) {
  const double u = at.u[f];
  if constexpr (std::is_same_v<L, Logistic>) {
    const double pull = -at.slope[f] - a;
    const double delta = s <= largest_cheap_s ? pull / (1 + 0.25 * s) : loss.dual_step(u, y, a, s) - a;
    const double b = std::fabs(a + delta), curvature = b * (1 - b);
    return {delta, curvature > 0 ? pull * pull / (2 * curvature) : 0.0};
  } else {
    return {loss.dual_step(u, y, a, s) - a, loss.value(u, y) + loss.conjugate(a, y) + a * u};
  }
}

}  // namespace margin
