// dykstra: the least norm that meets every target, by projections of one row after another.
//
// Problem    min ½‖w‖_p² such that <x_i, w> lies in Y_i, a number or a range, 1 < p <= 2; its dual: max over α of
//            Σ min_{y in Y_i} α_i y − ½‖u‖_r², u = Σ α_i x_i, w = θ(u) (math/duality_map.hpp).
// Update     a row after the other: α_i += (y − s)/L_i with s = <x_i, w>, L_i = (r − 1)‖x_i‖_r² and y the point of Y_i
//            nearest to s − L_i α_i: the proximal step of Lemma 1. For p = 2 and order => 'cyclic' that is Dykstra's
//            algorithm: the projection of w + α_i-th increment onto the i-th strip.
// Stop       when every row is met (problem/thresholds.hpp) and ½‖w‖² is within the tolerance of the dual value with the
//            best multiple of α; measured after every epoch.
// Source     Raj & Bach (2021), Algorithm 1, Lemma 1; J. Boyle, R. Dykstra, A method for finding projections onto the
//            intersection of convex sets in Hilbert spaces, 1986.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/math/duality_map.hpp"
#include "core/math/norm.hpp"
#include "core/problem/thresholds.hpp"
#include "core/solvers/lp_margin/epochs.hpp"
#include "core/solvers/margin_scan.hpp"

namespace margin {

namespace {

constexpr std::int64_t default_epochs = 1000;
// A row is met when it is missed by half of what the certificate allows.
constexpr double enough = 0.5 * negligible_miss;

class Dykstra final : public Solver {
 public:
  const SolverRecord& record() const override {
    static const SolverRecord record = {
        "dykstra",
        "least lp norm that meets every target, a number or a range, by Dykstra's projections (Raj, Bach 2021)",
        SolverRecord::interpolation,
        SolverRecord::between | SolverRecord::l2,
        SolverRecord::Losses::none,
        false,
        {"seed", "order"},
        feature::regression};
    return record;
  }
  double workspace(const Problem& p) const override {
    return 48.0 * static_cast<double>(p.rows()) + 96.0 * p.dimensions() + dual_bytes(p);
  }
  Solution solve(const Problem& problem, const Options& options, const Progress& progress) const override;

 private:
  std::string limit(const Problem& p) const override {
    return p.intercept ? "it has an intercept, which projections on one row at a time cannot keep free "
                         "(give intercept => false)"
                       : "";
  }
};

/// Rows as x_i, not as y_i x_i: of a class 1 that all are in.
Problem as_rows(const Problem& problem) {
  Problem rows = problem;
  rows.label.assign(static_cast<std::size_t>(problem.rows()), 1);
  return rows;
}

struct Judged {
  double miss = 0, dual = 0, primal = 0;
};

/// How far the worst row is missed, ½‖w‖², and the dual value of the best multiple of α; all in scaled units.
Judged judge(const Problem& rows, const LpAscent& ascent, double scale, const Eigen::VectorXd& alpha,
             const Eigen::VectorXd& w, Run& run) {
  Judged j;
  double height = 0;
  for (std::int64_t i = 0; i < rows.rows(); ++i) {
    const Row x = rows.data.row(i);
    const double s = scale * dot(x, w.data()), low = rows.data.target(i), high = rows.data.upper_target(i);
    j.miss = std::max({j.miss, low - s, s - high});
    if (alpha(i) != 0) height += alpha(i) * (alpha(i) > 0 ? low : high);
    run.work(x.count + 16.0);
  }
  const double norm = lp_norm(ascent.point().data(), ascent.dimensions(), ascent.dual_exponent());
  j.primal = 0.5 * norm * norm;
  if (norm > 0 && height > 0) j.dual = 0.5 * (height / norm) * (height / norm);
  return j;
}

Solution Dykstra::solve(const Problem& problem, const Options& options, const Progress& progress) const {
  Run run(options, progress, name(), default_epochs);
  const Problem rows = as_rows(problem);
  const double scale = unit_scale(problem.data.radius());
  LpAscent ascent(rows, scale, false);
  RowOrder order(rows_of(rows), options);
  if (order.needs_lengths()) order.set_lengths(ascent, run);
  double largest = 0;
  for (std::int64_t i = 0; i < problem.rows(); ++i)
    for (const double end : {problem.data.target(i), problem.data.upper_target(i)})
      if (std::isfinite(end)) largest = std::max(largest, std::fabs(end));
  const double curvature = ascent.dual_exponent() - 1;
  Eigen::VectorXd alpha = Eigen::VectorXd::Zero(problem.rows()), w(problem.dimensions());
  LpDirection x;
  Status status = Status::iteration_limit;
  std::int64_t epochs = 0;
  for (;;) {
    order.shuffle();
    for (std::size_t k = 0; k < order.size(); ++k) {
      const std::int64_t i = order[k];
      ascent.load(i, x);
      run.work(24.0 * static_cast<double>(x.values.size()) + 32.0);
      const double l = curvature * x.length * x.length, s = ascent.product(x);
      if (!(l > 0)) continue;
      const double y = std::clamp(s - l * alpha(i), problem.data.target(i), problem.data.upper_target(i));
      const double step = (y - s) / l;
      alpha(i) += step;
      ascent.move(x, step);
    }
    ascent.reset(alpha, run);
    const double length = dual_map(ascent.point(), ascent.dual_exponent(), w);
    // θ_j = ‖u‖ (|u_j|/‖u‖)^(r−1), and dual_map() has |u_j|/max |u|.
    if (length > 0) w *= length * std::pow(ascent.point().cwiseAbs().maxCoeff() / length, curvature);
    const Judged seen = judge(rows, ascent, scale, alpha, w, run);
    ++epochs;
    run.record(epochs, seen.dual * scale * scale, seen.primal * scale * scale);
    const bool met =
        seen.miss <= enough * largest && seen.primal - seen.dual <= certifiable * options.tolerance * seen.primal;
    const bool contradictory = std::sqrt(2 * seen.dual) >= contradiction * largest;
    if (stops(run, epochs, met, contradictory, status)) break;
  }
  Solution s;
  s.weights = scale * Eigen::Map<const Weights>(w.data(), 1, w.size());
  s.intercept = Eigen::VectorXd::Zero(1);
  s.dual = Weights::Zero(problem.rows(), 1);
  s.dual.col(0) = alpha;
  s.status = status;
  s.iterations = epochs;
  s.solver = name();
  s.trace = run.take_trace();
  return s;
}

const Dykstra dykstra_solver;

}  // namespace

extern const Solver& dykstra;
const Solver& dykstra = dykstra_solver;

}  // namespace margin
