// dual_ascent: the maximum lp margin, 1 < p <= 2, one class against the rest. By name: coordinate steps over all rows
// (solvers/lp_margin/dual_ascent_steps.cpp). As `auto`, or with working_set => true: Newton's method on a small working set of
// rows (solvers/lp_margin/dual_ascent_working_set.cpp); for p = 2 the exact solver of the l2 margin, which also does
// the joint problem of k classes. Raj & Bach, Explicit Regularization of Stochastic Gradient Methods through Duality
// (2021), Section 3.
#include "core/solvers/lp_margin/dual_ascent_steps.hpp"
#include "core/solvers/lp_margin/dual_ascent_working_set.hpp"
#include "core/solvers/lp_margin/epochs.hpp"
#include "core/solvers/one_vs_rest.hpp"

namespace margin {

extern const Solver& cutting_plane;

namespace {

class DualAscent final : public Solver {
 public:
  std::string_view name() const override { return "dual_ascent"; }
  std::string_view problem() const override { return "hard margin"; }
  std::string_view summary() const override {
    return "maximum lp margin, 1 < p <= 2: randomised dual coordinate ascent, or Newton's method on a small working "
           "set of "
           "rows";
  }
  std::string unsupported_reason(const Problem& p) const override {
    return p.norm == 2 && p.hard_margin ? "" : refusal_of_lp_steps(p);
  }
  double workspace(const Problem& p) const override {
    return cutting_plane.workspace(p) + lp_steps_workspace(p) + 4096.0 * p.dimensions();
  }
  Solution solve(const Problem& problem, const Options& options, Monitor& monitor) const override {
    const bool working_set = options.working_set.value_or(options.solver == "auto");
    if (problem.norm == 2 && (working_set || problem.task == Task::multiclass))
      return cutting_plane.solve(problem, options, monitor);
    return solve_one_vs_rest(problem, options, monitor, working_set ? solve_by_working_set : solve_coordinate_ascent);
  }
};

const DualAscent instance;

}  // namespace

const Solver& dual_ascent = instance;

}  // namespace margin
