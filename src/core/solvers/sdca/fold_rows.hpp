// The rows and the models of coordinate ascent on several folds side by side.
#pragma once

#include "core/simd/loops.hpp"
#include "core/solvers/sdca/fold_ascent.hpp"
#include "core/solvers/sdca/fold_steps.hpp"

namespace margin {

inline std::size_t panel_width(std::int32_t folds) { return static_cast<std::size_t>((folds + 3) / 4 * 4); }

inline void dot_panel_of(const Row& x, const std::vector<double>& w, std::size_t width, double* u) {
  const auto n = static_cast<std::size_t>(x.count);
  if (x.wide)
    simd().panel_dot_d(x.doubles(), x.indices, n, w.data(), width, u);
  else
    simd().panel_dot_f(x.floats(), x.indices, n, w.data(), width, u);
}

/// `factors`: a panel; null: ones.
inline void add_panel(const double* coefficients, const double* factors, const Row& x, std::size_t width, double* w) {
  const auto n = static_cast<std::size_t>(x.count);
  if (x.wide)
    simd().panel_add_d(coefficients, factors, x.doubles(), x.indices, n, width, w);
  else
    simd().panel_add_f(coefficients, factors, x.floats(), x.indices, n, width, w);
}

/// A row beside what a step needs of it; one cache line.
struct alignas(64) FoldAscent::Visit {
  Row x;
  double size = 0;    // ‖x‖², with units the largest of any fold
  double weight = 0;  // without the class's
  double y = 0;
  std::int32_t label = 0;  // 0 for a regression
  std::int32_t fold = 0;   // from first_; outside of 0 … count_ − 1: in all of these models
};

/// One against the rest: the models of all folds. Panels: a by row, w by feature. With `shifts_`, the weights are w less
/// b/B² times the units' shift, and `drift` is Σ over the steps t of t <x, shift>.
struct FoldAscent::Output {
  std::vector<double> a, w;
  double b[widest_panel] = {}, centre[widest_panel] = {}, drift[widest_panel] = {};
  double size[widest_panel] = {};  // max(|P|, |D|) as last measured, P(0) before that
};

}  // namespace margin
