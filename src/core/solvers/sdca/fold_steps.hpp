// What one visit to a row asks of a loss: its values and a coordinate step in the model of every fold.
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "core/loss/registry.hpp"
#include "core/solvers/sdca/epoch.hpp"
#include "core/solvers/sdca/fold_ascent.hpp"

namespace margin {

constexpr std::size_t widest_panel = static_cast<std::size_t>(FoldAscent::most);
/// Above this s the logistic step is taken exactly: the cheap one would cover too little of the way.
constexpr double largest_cheap_s = 8;

/// A row as the models of all folds see it: its scores, and the scale of a step in each (0: none is to be made).
struct PanelRow {
  const double *u, *scale;
  double y, size;
  std::size_t width;
  double threshold;  // slack beyond which a model can spare the row
};

struct FoldSteps {
  bool wanted = false, moved = false;
  double violation = 0;
};

/// φ at every score.
template <class L>
void panel_values(const L& loss, const double* u, double y, std::size_t width, double* values) {
  if constexpr (std::is_same_v<L, Logistic>) {
    double outcomes[widest_panel], slopes[widest_panel];
    std::fill(outcomes, outcomes + width, y);
    simd().logistic(u, outcomes, width, values, slopes);
  } else {
    for (std::size_t f = 0; f < width; ++f) values[f] = loss.value(u[f], y);
  }
}

/// The exact step of every model: a moves, t = scale · step, and `estimate` grows by each one's share of the gap.
template <class L>
FoldSteps step_exactly(const L& loss, const PanelRow& x, double* a, double* t, double* estimate) {
  FoldSteps out;
  for (std::size_t f = 0; f < x.width; ++f) {
    t[f] = 0;
    if (!(x.scale[f] > 0)) continue;
    if constexpr (detail::settles<L>()) {
      const double slack = loss.slack(x.u[f], x.y, a[f]);
      out.wanted |= slack <= x.threshold;
      if (slack >= 0) continue;
      out.violation = std::max(out.violation, -slack);
    } else {
      out.wanted = true;
    }
    const double next = loss.dual_step(x.u[f], x.y, a[f], x.scale[f] * x.size), step = next - a[f];
    estimate[f] += x.scale[f] * (loss.value(x.u[f], x.y) + loss.conjugate(a[f], x.y) + a[f] * x.u[f]);
    a[f] = next;
    t[f] = x.scale[f] * step;
    out.moved |= t[f] != 0;
  }
  return out;
}

template <class L>
FoldSteps step_all(const L& loss, const PanelRow& x, double* a, double* t, double* estimate) {
  if constexpr (std::is_same_v<L, Logistic>)
    if (*std::max_element(x.scale, x.scale + x.width) * x.size <= largest_cheap_s) {
      simd().logistic_steps(x.u, x.y, x.scale, x.size, x.width, a, t, estimate);
      return {true, std::any_of(t, t + x.width, [](double moved) { return moved != 0; }), 0};
    }
  return step_exactly(loss, x, a, t, estimate);
}

}  // namespace margin
