// The only list of solvers, and the rule by which `auto` picks one.
#include "core/base/error.hpp"
#include "core/options/foreign_names.hpp"
#include "core/options/options.hpp"
#include "core/solvers/solver.hpp"

namespace margin {

extern const Solver& cutting_plane;
extern const Solver& momentum;
extern const Solver& gradient_descent;
extern const Solver& normalized_gradient_descent;
extern const Solver& batch_perceptron;
extern const Solver& boosting;
extern const Solver& dual_ascent;
extern const Solver& perceptron;
extern const Solver& mirror_descent;
extern const Solver& interpolation;
extern const Solver& sdca;
extern const Solver& newton;
extern const Solver& newton_cg;
extern const Solver& sgd;
extern const Solver& smo;
extern const Solver& sampling;
extern const Solver& kernel_batch_perceptron;
extern const Solver& soft_auto;  // not a method of its own, hence not in the list

const std::vector<const Solver*>& all_solvers() {
  static const std::vector<const Solver*> list = {
      &cutting_plane,
      &momentum,
      &gradient_descent,
      &normalized_gradient_descent,
      &batch_perceptron,
      &boosting,
      &dual_ascent,
      &perceptron,
      &mirror_descent,
      &interpolation,
      &sdca,
      &sgd,
      &newton,
      &newton_cg,
      &smo,
      &sampling,
      &kernel_batch_perceptron,
  };
  return list;
}

namespace {
const std::string only_interpolation = "interpolation";
}

bool names_kernel_solver(const Options& options) {
  for (const Solver* solver : all_solvers())
    if (solver->name() == options.solver) return solver->takes_kernels();
  return false;
}

const Solver& choose_solver(const Problem& problem, const Options& options) {
  const std::string& wanted = problem.interpolate && options.solver == "auto" ? only_interpolation : options.solver;
  if (wanted == "auto" && problem.kernel != nullptr) {
    const std::string reason = smo.unsupported_reason(problem);
    if (reason.empty()) return smo;
    if (!problem.hard_margin)
      throw Error(ErrorKind::unsupported, "no solver takes a kernel to this problem: " + reason);
    const std::string other = sampling.unsupported_reason(problem);
    if (other.empty()) return sampling;
    throw Error(ErrorKind::unsupported, "no solver takes a kernel to this hard margin: " + other,
                "Or give lambda for a soft margin, one class against the rest.");
  }
  if (wanted == "auto") {
    if (!problem.hard_margin) return soft_auto;
    if (problem.norm == 2) return cutting_plane;
    return problem.norm > 1 ? dual_ascent : boosting;
  }
  std::vector<std::string_view> names = {"auto"};
  for (const Solver* solver : all_solvers()) {
    if (solver->name() != wanted) {
      names.push_back(solver->name());
      continue;
    }
    const std::string reason =
        problem.interpolate && solver != &interpolation         ? "targets are met exactly by \"interpolation\" alone"
        : problem.kernel != nullptr && !solver->takes_kernels() ? "it knows no kernels but the linear one"
                                                                : solver->unsupported_reason(problem);
    if (!reason.empty())
      throw Error(ErrorKind::unsupported, "solver \"" + wanted + "\" cannot solve this problem: " + reason,
                  "Leave the option solver out to have a suitable one chosen; margin_solvers() lists them.");
    return *solver;
  }
  const std::string hint = hint_for_foreign_solver(options.solver);
  throw Error(ErrorKind::invalid_option, "unknown solver \"" + options.solver + "\"",
              (hint.empty() ? name_hint(options.solver, names) : hint) + " margin_solvers() says what each is for.");
}

}  // namespace margin
