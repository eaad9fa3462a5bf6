// cutting_plane: the exact hard margin at the price of a few scans.
//
// Problem    max over ‖w‖ ≤ 1 (and b) of the smallest margin; its dual is the point of least norm in the hull of the
//            rows' z (with a free intercept: half the distance of the two class hulls; k classes: all pairs).
// Update     keep a small working set of rows; solve its hull exactly (solvers/l2_margin/min_norm_point.hpp); scan all
//            rows once with the resulting w; add the rows of smallest margin of each class; repeat. The working set's
//            ‖w‖ bounds the margin of all rows from above and can only fall; the scan gives the lower bound. Few rows
//            are all in the working set after the first scan: solvers/l2_margin/few_rows.hpp does these two rounds.
// Stop       when (upper − lower)/upper ≤ tolerance; when the hull contains 0 to 1e-9 of the largest row (then no
//            separator has a larger margin: proven, and the weights are those of a soft margin,
//            solvers/l2_margin/soft_weights.hpp); when rounding allows no further progress, or the working set does not
//            fit, momentum takes over on all rows and the better of both bounds is returned.
// Source     Wolfe (1976) for the inner problem; row generation as in Joachims (2006). Ji, Srebro & Telgarsky (2021),
//            Lemma A.1, for the duality.
#include <algorithm>
#include <cmath>
#include <memory>

#include "core/base/polled.hpp"
#include "core/math/norm.hpp"
#include "core/solvers/l2_margin/few_rows.hpp"
#include "core/solvers/l2_margin/l2_margin.hpp"
#include "core/solvers/l2_margin/min_norm_point.hpp"
#include "core/solvers/l2_margin/momentum.hpp"
#include "core/solvers/l2_margin/soft_weights.hpp"
#include "core/solvers/run.hpp"

namespace margin {

namespace {

constexpr std::int64_t default_rounds = 100000;

class CuttingPlane final : public Solver {
 public:
  const SolverRecord& record() const override {
    static const SolverRecord record = {
        "cutting_plane",
        "exact maximum l2 margin: minimum-norm point of a small working set of rows, certified and "
        "grown by scans",
        SolverRecord::hard_margin,
        SolverRecord::l2,
        SolverRecord::Losses::none,
        false,
        {},
        feature::several_classes,
        0,
        0,
        {"cutting_plane+momentum", "cutting_plane+sdca", "cutting_plane+newton", "cutting_plane+newton_cg",
         "cutting_plane+sdca+newton", "cutting_plane+sdca+newton_cg"}};
    return record;
  }
  double workspace(const Problem& p) const override {
    const double working_set = std::min(1024.0, static_cast<double>(p.rows()));
    return dual_bytes(p) + 24 * working_set * working_set + 32.0 * p.dimensions() * p.outputs();
  }
  Solution solve(const Problem& problem, const Options& options, const Progress& progress) const override;
};

/// The best of everything seen so far.
struct Best : BestMargin {
  std::vector<Eigen::Index> members;  ///< of the working set, with their weights q in the upper bound
  Eigen::VectorXd q;
};

/// The orthogonal factor holds a vector of outputs × d entries per member.
bool fits_precise(const Problem& problem, std::size_t members) {
  return static_cast<double>(problem.outputs()) * problem.dimensions() * static_cast<double>(members + 64) < 5e7;
}

/// Pairs that let the working set reach every class from the start.
void seed(const Problem& problem, WorkingSet& working_set, const Progress& progress) {
  std::vector<std::int64_t> first(static_cast<std::size_t>(problem.classes), -1);
  for (std::int64_t i = problem.rows() - 1; i >= 0; --i)
    first[static_cast<std::size_t>(problem.label[static_cast<std::size_t>(i)])] = i;
  for (std::int32_t c = 0; c + 1 < problem.classes; ++c) {
    working_set.add({first[static_cast<std::size_t>(c)], c, c + 1}, progress);
    working_set.add({first[static_cast<std::size_t>(c + 1)], c + 1, c}, progress);
  }
}

double accuracy_of_hull(const Options& options) { return std::max(1e-13, 0.01 * options.tolerance); }

/// The hull of a working set that grows by the rows that its point of least norm serves worst.
class GrowingHull {
 public:
  GrowingHull(const Problem& problem, const Options& options, Run& run)
      : problem_(problem),
        run_(run),
        scale_(unit_scale(problem.data.radius())),
        accuracy_(accuracy_of_hull(options)),
        most_rows_(static_cast<Eigen::Index>(std::sqrt(std::max(1e6, options.workspace_limit) / 24))),
        working_set_(problem, scale_) {
    seed(problem, working_set_, run_.progress());
    point_ = std::make_unique<MinNormPoint>(problem, working_set_, MinNormPoint::Precision::gram, run_.progress());
  }

  /// How many rows of each class a scan should offer to grow().
  std::size_t per_class() const { return point_->members().size() > 150 ? 128 : 32; }

  /// Takes rows in; false when there is no room for them, or when the hull has them all and no digits to gain.
  bool grow(const std::vector<Pair>& worst) {
    const bool grown = working_set_.add(worst, most_rows_, run_.progress()) || !solved_;
    if (working_set_.distinct_rows() > most_rows_) return false;
    // No row outside the working set is worse, yet the interval is open: the Gram matrix has too few digits for this
    // margin.
    return grown || more_digits();
  }

  void solve() {
    point_->solve(accuracy_, [&] { return run_.out_of_time(); });
    solved_ = true;
  }

  Weights weights() const { return point_->primal(); }
  /// Of the classes, in the units of the rows: multipliers are in scaled units.
  Eigen::VectorXd offsets() const { return point_->offsets() / scale_; }
  double norm(const Weights& w) const { return w.norm() / scale_; }
  const MinNormPoint& point() const { return *point_; }
  const WorkingSet& working_set() const { return working_set_; }

 private:
  bool more_digits() {
    if (precise_ || !fits_precise(problem_, point_->members().size())) return false;
    precise_ = true;
    point_ = std::make_unique<MinNormPoint>(problem_, working_set_, MinNormPoint::Precision::rows, run_.progress());
    return true;
  }

  const Problem& problem_;
  Run& run_;
  double scale_;  // a power of two: exact
  double accuracy_;
  Eigen::Index most_rows_;
  WorkingSet working_set_;
  std::unique_ptr<MinNormPoint> point_;
  bool precise_ = false, solved_ = false;
};

Solution finish(const Problem& problem, const BestMargin& best, Weights dual, Status status, std::int64_t rounds) {
  Solution s;
  s.weights = best.weights;
  s.intercept = intercept_of(problem, best.offsets);
  s.dual = std::move(dual);
  s.status = status;
  s.iterations = rounds;
  s.solver = "cutting_plane";
  return s;
}

Weights dual_of(const Problem& problem, const WorkingSet& working_set, const Best& best, const Progress& progress) {
  Weights dual = polled_zeros(problem.rows(), problem.outputs(), progress);
  for (std::size_t m = 0; m < best.members.size(); ++m) {
    const Pair& p = working_set.pair(best.members[m]);
    dual(p.row, problem.outputs() == 1 ? 0 : p.rival) += best.q(static_cast<Eigen::Index>(m));
  }
  balance_dual(problem, dual, progress);
  return dual;
}

/// The whole solve, where the rows are so few that its first two rounds are; none where they decide nothing.
std::optional<Solution> solve_few_rows(const Problem& problem, const Options& options, Run& run, MarginStop& stop) {
  if (run.max_iterations() < 2 || options.max_seconds.has_value()) return std::nullopt;
  const auto few = margin_of_few_rows(problem, accuracy_of_hull(options), run.progress());
  if (!few.has_value() || !stop.decided(few->best.bounds)) return std::nullopt;
  Status status = Status::iteration_limit;
  stop(1, few->first, status);
  stop(2, few->best.bounds, status);
  return finish(problem, few->best, few->q, status, 2);
}

Solution CuttingPlane::solve(const Problem& problem, const Options& options, const Progress& progress) const {
  Run run(options, progress, name(), default_rounds);
  MarginStop stop(options, run, problem.data.radius());
  const auto done = [&](Solution&& solution, double rows) {
    solution.trace = run.take_trace();
    if (solution.status != Status::not_separable) return std::move(solution);
    return with_soft_weights(problem, options, progress, run, std::move(solution),
                             workspace(problem) + 24 * rows * rows);
  };
  if (auto few = solve_few_rows(problem, options, run, stop))
    return done(std::move(*few), static_cast<double>(problem.rows()));

  GrowingHull hull(problem, options, run);
  Best best;
  Weights w = mean_difference(problem, 512, progress);
  Eigen::VectorXd offsets = Eigen::VectorXd::Zero(problem.classes);
  Status status = Status::iteration_limit;
  std::int64_t round = 0;
  bool stuck = false;
  std::vector<Pair> worst;
  for (;;) {
    const PairMargins seen = scan(problem, w, run, hull.per_class(), &offsets, &worst);
    const double norm = w.norm();
    best.offer(norm > 0 ? seen.best.value / norm : 0.0, w, seen.best.offset);
    if (stop(++round, best.bounds, status)) break;
    stuck = !hull.grow(worst);
    if (stuck) break;
    hull.solve();
    w = hull.weights();
    offsets = hull.offsets();
    if (best.bounds.reduce(hull.norm(w))) {
      best.members = hull.point().members();
      best.q = hull.point().weights();
    }
  }

  Solution solution = finish(problem, best, dual_of(problem, hull.working_set(), best, progress), status, round);
  Status no_more;
  if (stuck && !run.exhausted(round, no_more))
    return continue_with_momentum(problem, options, run, std::move(solution), best.bounds);
  return done(std::move(solution), static_cast<double>(hull.working_set().distinct_rows()));
}

const CuttingPlane cutting_plane_solver;

}  // namespace

const Solver& cutting_plane = cutting_plane_solver;

}  // namespace margin
