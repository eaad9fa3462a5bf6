// dual_ascent: the maximum lp margin, 1 < p ≤ 2, one class against the rest.
//
// Problem    max over ‖w‖_p ≤ 1 (and b) of the smallest margin min_i y_i (<x_i, w> + b); its dual: the shortest
//            Σ_i q_i y_i x_i in the dual norm, q in the simplex (with a free intercept: in one per side).
// Update     coordinate steps over all rows, plain or accelerated (solvers/lp_margin/dual_ascent_steps.cpp).
//            dual_ascent+newton: Newton's method on a small working set of rows
//            (solvers/lp_margin/dual_ascent_working_set.cpp); for p = 2 the exact solver of the l2 margin, which also
//            does the joint problem of k classes.
// Stop       when (upper − lower)/upper ≤ tolerance; when an upper bound of 1e-9 of the largest row proves that no
//            separator has a larger margin.
// Source     A. Raj, F. Bach, Explicit regularization of stochastic gradient methods through duality, 2021, Section 3.
#include "core/solvers/lp_margin/dual_ascent_steps.hpp"
#include "core/solvers/lp_margin/dual_ascent_working_set.hpp"
#include "core/solvers/lp_margin/epochs.hpp"
#include "core/solvers/one_vs_rest.hpp"

namespace margin {

extern const Solver& cutting_plane;

namespace {

constexpr unsigned norms = SolverRecord::between | SolverRecord::l2;

// Made when they are asked for: what allocates while a library is loaded ends the process where memory is short.
const SolverRecord& own_steps() {
  static const SolverRecord record = {
      "dual_ascent",
      "maximum lp margin, 1 < p <= 2: randomised dual coordinate ascent, or Newton's method on a small working set of "
      "rows",
      SolverRecord::hard_margin,
      norms,
      SolverRecord::Losses::none,
      false,
      {"seed", "order", "step", "accelerated", "working_set", "output"},
      feature::several_classes};
  return record;
}

const SolverRecord& accelerated_steps() {
  static const SolverRecord record = {"dual_ascent+accelerated",
                                      "maximum lp margin, 1 < p <= 2: accelerated randomised dual coordinate ascent",
                                      SolverRecord::hard_margin,
                                      norms,
                                      SolverRecord::Losses::none,
                                      false,
                                      {"seed", "order", "step", "accelerated", "working_set", "output"},
                                      feature::several_classes,
                                      0,
                                      0,
                                      {},
                                      "dual_ascent",
                                      false,
                                      true};
  return record;
}

const SolverRecord& newton_steps() {
  static const SolverRecord record = {
      "dual_ascent+newton",
      "maximum lp margin, 1 < p <= 2: Newton's method on a small working set of rows",
      SolverRecord::hard_margin,
      norms,
      SolverRecord::Losses::none,
      false,
      {"working_set"},
      feature::several_classes,
      0,
      0,
      {"dual_ascent+cutting_plane", "dual_ascent+cutting_plane+momentum", "dual_ascent+cutting_plane+sdca",
       "dual_ascent+cutting_plane+newton", "dual_ascent+cutting_plane+newton_cg",
       "dual_ascent+cutting_plane+sdca+newton", "dual_ascent+cutting_plane+sdca+newton_cg"},
      "dual_ascent",
      true};
  return record;
}

class DualAscent final : public Solver {
 public:
  explicit constexpr DualAscent(const SolverRecord& (*record)()) : record_(record) {}
  const SolverRecord& record() const override { return record_(); }
  double workspace(const Problem& p) const override {
    return cutting_plane.workspace(p) + lp_steps_workspace(p) + 4096.0 * p.dimensions();
  }
  Solution solve(const Problem& problem, const Options& given, const Progress& progress) const override {
    const bool working_set = record_ == newton_steps;
    if (problem.norm == 2 && (working_set || problem.task == Task::multiclass))
      return cutting_plane.solve(problem, given, progress);
    Options options = given;
    options.accelerated = record_ == accelerated_steps;
    return solve_one_vs_rest(problem, options, progress, workspace(problem),
                             working_set ? solve_by_working_set : solve_coordinate_ascent);
  }

 private:
  const SolverRecord& (*record_)();
};

const DualAscent plain(own_steps), accelerated(accelerated_steps), by_newton(newton_steps);

}  // namespace

extern const Solver& dual_ascent;
extern const Solver& dual_ascent_accelerated;
extern const Solver& dual_ascent_newton;
const Solver& dual_ascent = plain;
const Solver& dual_ascent_accelerated = accelerated;
const Solver& dual_ascent_newton = by_newton;

}  // namespace margin
