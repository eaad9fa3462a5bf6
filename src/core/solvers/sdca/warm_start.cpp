#include "core/solvers/sdca/warm_start.hpp"

#include <algorithm>
#include <cmath>

#include "core/solvers/one_vs_rest.hpp"
#include "core/solvers/run.hpp"

namespace margin {

namespace {

/// Procedure Modified-SGD (Shalev-Shwartz & Zhang 2013, Section 4): row t is stepped as if the rows before it were all
/// there are, which makes the first steps larger.
void modified_sgd(SdcaState& state, Random& random, Run& run) {
  const Loss& loss = *state.problem.loss;
  std::vector<std::int32_t> order = state.movable;
  Shuffle permutation(order, random, state.stretches, run);
  double seen = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const auto i = static_cast<std::size_t>(permutation.settle(k));
    Coordinate& row = state.rows[i];
    const double before = seen;
    seen += state.problem.data.weight(static_cast<std::int64_t>(i));
    if (!(seen > 0)) continue;
    // state.weights is v/(λ(1−ρ)W); the procedure's w is v/(λ(1−ρ)·(weight seen)).
    const double u = before > 0 ? state.score(row.x) * (state.problem.total_weight / before) : 0.0;
    state.move(row, loss.dual_step(u, row.y, 0, row.s * (state.problem.total_weight / seen)));
    run.work(4.0 * row.x.count + 64.0);
  }
}

/// Σ scale (−φ*(−t a)) over the movable rows.
double conjugates_at(const SdcaState& state, double t) {
  double sum = 0;
  for (const std::int32_t i : state.movable) {
    const Coordinate& row = state.rows[static_cast<std::size_t>(i)];
    if (row.a != 0)
      sum -= row.scale * state.problem.loss->conjugate(state.problem.loss->project(t * row.a, row.y), row.y);
  }
  return state.convexity * sum;
}

/// Replace a by a better multiple t·a, 0 ≤ t < 1, if there is one: the best on the parabola through three points (exact
/// for every loss but the logistic).
void scale_duals(SdcaState& state) {
  if (!state.problem.bounds.empty()) return;  // the conjugate of the penalty is no square there
  const Loss& loss = *state.problem.loss;
  const double whole = conjugates_at(state, 1), bend = 4 * conjugates_at(state, 0.5) - 2 * whole, linear = whole + bend;
  // With an l1 part the penalty of t·a is at most t² times that of a.
  const double penalty = state.conjugate_penalty(), curvature = 2 * (bend + penalty);
  if (!(curvature > 0)) return;
  const double t = std::clamp(linear / curvature, 0.0, 1.0);
  if (!(conjugates_at(state, t) - t * t * penalty > whole - penalty)) return;
  for (const std::int32_t i : state.movable) {
    Coordinate& row = state.rows[static_cast<std::size_t>(i)];
    row.a = loss.project(row.a * t, row.y);
  }
  state.refresh_weights();
}

void from_model(const InitialModel& model, std::int32_t o, SdcaState& state, Run& run) {
  const Problem& p = state.problem;
  const auto n = static_cast<std::size_t>(p.rows()), d = static_cast<std::size_t>(p.dimensions());
  const auto k = static_cast<std::size_t>(p.outputs()), at = static_cast<std::size_t>(o);
  require_shape(model, k, d);
  std::vector<double> a(n, 0.0);
  if (model.dual_weights.size() == n * k) {
    for (std::size_t i = 0; i < n; ++i) a[i] = model.dual_weights[i * k + at];
  } else {
    const double b = p.intercept && !model.intercept.empty() ? model.intercept[at] : 0.0;
    for (const std::int32_t i : state.movable) {
      const Coordinate& row = state.rows[static_cast<std::size_t>(i)];
      a[static_cast<std::size_t>(i)] = -p.loss->derivative(dot(row.x, model.weights.data() + at * d) + b, row.y);
      run.work(row.x.count + 32.0);
    }
  }
  if (state.free_intercept() && !model.intercept.empty()) state.centre = model.intercept[at];
  state.set_duals(a);
  state.refresh_weights();
  scale_duals(state);
}

}  // namespace

void start_from(const Options& options, std::int32_t o, SdcaState& state, Random& random, Run& run) {
  if (options.initial.has_value())
    from_model(*options.initial, o, state, run);
  else if (options.start == Start::sgd)
    modified_sgd(state, random, run);
  state.keep_bounds();
}

}  // namespace margin
