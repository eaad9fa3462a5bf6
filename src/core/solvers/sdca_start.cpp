#include "sdca_start.hpp"

#include <algorithm>
#include <cmath>

#include "../error.hpp"

namespace margin {

namespace {

/// Procedure Modified-SGD (Shalev-Shwartz & Zhang 2013, Section 4): row t is stepped as if the rows before it were all
/// there are, which makes the first steps larger.
void modified_sgd(SdcaState& state, Random& random, Run& run) {
  const Loss& loss = *state.problem.loss;
  std::vector<std::int32_t> order = state.movable;
  double seen = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    std::swap(order[k], order[k + random.below(order.size() - k)]);
    const auto i = static_cast<std::size_t>(order[k]);
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

/// Replace a by the best multiple t·a, 0 ≤ t ≤ 1, judged from the parabola through three points (the conjugates of all
/// losses but the logistic are quadratic along a ray, so for them it is exact).
void scale_duals(SdcaState& state, Run& run) {
  const Loss& loss = *state.problem.loss;
  double half = 0, whole = 0;
  for (const std::int32_t i : state.movable) {
    const Coordinate& row = state.rows[static_cast<std::size_t>(i)];
    if (row.a == 0) continue;
    half -= row.scale * loss.conjugate(row.a / 2, row.y);
    whole -= row.scale * loss.conjugate(row.a, row.y);
  }
  // D(t) = linear t − (bend + penalty) t²; with an l1 part the penalty is at most that of its smooth part.
  const double bend = state.convexity * (4 * half - 2 * whole) / 2;
  const double linear = state.convexity * whole + bend;
  const double curvature = 2 * (bend + state.conjugate_penalty());
  const double t = curvature > 0 ? std::clamp(linear / curvature, 0.0, 1.0) : (linear > 0 ? 1.0 : 0.0);
  if (t == 1) return;
  for (const std::int32_t i : state.movable) {
    Coordinate& row = state.rows[static_cast<std::size_t>(i)];
    row.a = loss.project(row.a * t, row.y);
  }
  state.refresh_weights(run);
}

void from_model(const InitialModel& model, std::int32_t o, SdcaState& state, Run& run) {
  const Problem& p = state.problem;
  const auto n = static_cast<std::size_t>(p.rows()), d = static_cast<std::size_t>(p.dimensions());
  const auto k = static_cast<std::size_t>(p.outputs()), at = static_cast<std::size_t>(o);
  if (model.weights.size() != k * d || (!model.intercept.empty() && model.intercept.size() != k))
    throw Error(ErrorKind::wrong_dimensions,
                "the initial model has " + std::to_string(model.weights.size()) + " weights, expected " +
                    std::to_string(k) + " x " + std::to_string(d),
                "Start from a model trained on the same features and classes.");
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
  state.set_duals(a);
  state.refresh_weights(run);
  scale_duals(state, run);
}

}  // namespace

void start_from(const Settings& settings, std::int32_t o, SdcaState& state, Random& random, Run& run) {
  if (settings.initial.has_value())
    from_model(*settings.initial, o, state, run);
  else if (settings.start == Start::sgd)
    modified_sgd(state, random, run);
}

}  // namespace margin
