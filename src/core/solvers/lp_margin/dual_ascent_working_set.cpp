// dual_ascent+newton: the maximum lp margin, 1 < p < 2, at the price of a few scans.
//
// Problem    max over ‖w‖_p ≤ 1 (and b) of the smallest margin; its dual is min ‖Σ q_i z_i‖_r over row weights q.
// Update     keep a small working set of rows; solve its dual by Newton's method (solvers/lp_margin/working_set.hpp);
//            scan all
// rows once with the
//            resulting w; add the rows of smallest margin of each class; repeat. The working set's ‖u‖_r bounds the
//            margin of all rows from above; the scan gives the lower bound. The working set is solved no further than
//            the scans need.
// Stop       when (upper − lower)/upper ≤ tolerance; when the hull comes within 1e-9 of the largest row to 0 (then no
//            separator has a larger margin: proven); when rounding allows no further progress.
// Source     Raj & Bach (2021), Section 3, for the problem and its dual; row generation as in cutting_plane.
#include "core/solvers/lp_margin/dual_ascent_working_set.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/math/norm.hpp"
#include "core/solvers/lp_margin/working_set.hpp"
#include "core/solvers/margin_scan.hpp"
#include "core/solvers/run.hpp"

namespace margin {

extern const Solver& cutting_plane;

namespace {

constexpr std::int64_t default_rounds = 100000;

/// The best of everything seen so far.
struct Best : BestMargin {
  std::vector<std::pair<std::int64_t, double>> dual;  ///< (row, q) of the upper bound
};

Solution finish(const Problem& problem, const Best& best, Status status, std::int64_t rounds) {
  Solution s;
  s.weights = best.weights;
  s.intercept = intercept_of(problem, best.offsets);
  s.dual = Weights::Zero(problem.rows(), 1);
  for (const auto& [row, q] : best.dual) s.dual(row, 0) = q;
  s.status = status;
  s.iterations = rounds;
  s.solver = "dual_ascent+newton";
  return s;
}

/// The l2 margin, roughly: the same rows separate in every norm or in none, and its exact solver knows which.
Solution l2_start(const Problem& problem, const Options& options, const Progress& progress) {
  Problem l2 = problem;
  l2.norm = 2;
  Options s = options;
  s.tolerance = std::max(s.tolerance, 0.1);
  return cutting_plane.solve(l2, s, progress);
}

}  // namespace

Solution solve_by_working_set(const Problem& problem, const Options& options, const Progress& progress) {
  Run run(options, progress, "dual_ascent", default_rounds);
  const double radius = problem.data.radius(), scale = unit_scale(radius);
  Solution start = l2_start(problem, options, progress);
  start.solver = "dual_ascent+" + start.solver;
  if (start.status == Status::not_separable || start.status == Status::time_limit) return start;  // with its history
  LpWorkingSet working_set(problem, scale);
  for (std::int64_t i = 0; i < problem.rows(); ++i)
    if (start.dual(i, 0) > 0) working_set.add(i);
  working_set.start(start.dual);

  MarginStop stop(options, run, radius);
  Best best;
  Weights w = std::move(start.weights);
  Status status = Status::iteration_limit;
  std::int64_t round = start.iterations;
  std::vector<Pair> worst;
  double solved = 1;  // relative gap of the working set's own interval
  for (;;) {
    const std::size_t per_class = working_set.support() > 150 ? 128 : 32;
    const PairMargins seen = scan(problem, w, run, per_class, nullptr, &worst);
    const double norm = lp_norm(w.data(), w.size(), problem.norm);
    best.offer(norm > 0 ? seen.best.value / norm : 0.0, w, seen.best.offset);
    if (stop(++round, best.bounds, status)) break;

    bool grown = round == start.iterations + 1;
    for (const Pair& p : worst) grown |= working_set.add(p.row);
    if (!grown && solved <= 1e-12) break;
    const MarginBounds& b = best.bounds;
    const double gap = b.lower > 0 ? (b.upper - b.lower) / b.upper : 1.0;
    solved = grown ? std::max(std::min(0.1 * gap, 0.1), 0.2 * stop.target()) : 1e-12;
    working_set.solve(solved, progress);
    w = Eigen::Map<const Weights>(working_set.direction().data(), 1, working_set.direction().size());
    if (best.bounds.reduce(working_set.norm() / scale)) best.dual = working_set.weights();
  }

  Solution solution = finish(problem, best, status, round);
  solution.trace = run.take_trace();
  return solution;
}

}  // namespace margin
