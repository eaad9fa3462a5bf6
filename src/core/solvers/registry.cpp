// The only list of solvers, and what their records say of them.
#include <algorithm>

#include "core/base/error.hpp"
#include "core/loss/joint.hpp"
#include "core/loss/one_class.hpp"
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
extern const Solver& linear_program;
extern const Solver& dual_ascent;
extern const Solver& dual_ascent_accelerated;
extern const Solver& dual_ascent_newton;
extern const Solver& perceptron;
extern const Solver& mirror_descent;
extern const Solver& interpolation;
extern const Solver& dykstra;
extern const Solver& sdca;
extern const Solver& sdca_accelerated;
extern const Solver& sgd;
extern const Solver& prox_newton;
extern const Solver& irls;
extern const Solver& joint;
extern const Solver& newton;
extern const Solver& newton_cg;
extern const Solver& soft_auto;
extern const Solver& one_class;
extern const Solver& smo;
extern const Solver& kernel_newton;
extern const Solver& sampling;
extern const Solver& kernel_momentum;
extern const Solver& kernel_batch_perceptron;

const std::vector<const Solver*>& registered_solvers() {
  static const std::vector<const Solver*> list = {
      &cutting_plane,
      &momentum,
      &gradient_descent,
      &normalized_gradient_descent,
      &batch_perceptron,
      &boosting,
      &linear_program,
      &dual_ascent,
      &dual_ascent_accelerated,
      &dual_ascent_newton,
      &perceptron,
      &mirror_descent,
      &interpolation,
      &dykstra,
      &sdca,
      &sdca_accelerated,
      &sgd,
      &newton,
      &newton_cg,
      &prox_newton,
      &irls,
      &joint,
      &soft_auto,
      &one_class,
      &smo,
      &kernel_newton,
      &sampling,
      &kernel_momentum,
      &kernel_batch_perceptron,
  };
  return list;
}

const std::vector<const Solver*>& all_solvers() {
  static const std::vector<const Solver*> list = [] {
    std::vector<const Solver*> out;
    for (const Solver* solver : registered_solvers())
      if (solver->record().variant_of.empty()) out.push_back(solver);
    return out;
  }();
  return list;
}

namespace {

bool holds_offset(const Solver& solver) {
  return &solver == &newton || &solver == &newton_cg || &solver == &prox_newton || &solver == &irls;
}

template <class List, class T>
bool contains(const List& list, const T& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

bool follows_a_margin_loss(const SolverRecord& record) {
  return record.losses == SolverRecord::Losses::exponential_or_logistic;
}

/// What options make of a solver that they name: itself, or one of its variants.
const Solver& variant_of(const Solver& named, const Options& options) {
  const SolverRecord& own = named.record();
  const auto contradicts = [](const std::optional<bool>& is, const std::optional<bool>& wanted) {
    return is.has_value() && wanted.has_value() && *is != *wanted;
  };
  const auto refuse_if = [&](bool contradictory, const std::string& option, bool value) {
    if (contradictory)
      throw Error(ErrorKind::invalid_option,
                  "option \"" + option + "\" => " + (value ? "true" : "false") + " contradicts solver \"" +
                      std::string(own.name) + "\"",
                  "Leave it out, or name the solver \"" + std::string(own.variant_of) + "\".");
  };
  refuse_if(contradicts(own.working_set, options.working_set), "working_set", options.working_set.value_or(false));
  refuse_if(contradicts(own.accelerated, options.accelerated), "accelerated", options.accelerated.value_or(false));
  for (const Solver* other : registered_solvers()) {
    const SolverRecord& record = other->record();
    if (record.variant_of != own.name || !(record.working_set || record.accelerated)) continue;
    if (record.working_set.value_or(options.working_set.value_or(false)) == options.working_set.value_or(false) &&
        record.accelerated.value_or(options.accelerated.value_or(false)) == options.accelerated.value_or(false))
      return *other;
  }
  return named;
}

[[noreturn]] void refuse_unknown(const std::string& name) {
  std::vector<std::string_view> names = {"auto"};
  for (const Solver* solver : all_solvers()) names.push_back(solver->name());
  const std::string hint = hint_for_foreign_solver(name);
  throw Error(ErrorKind::invalid_option, "unknown solver \"" + name + "\"",
              (hint.empty() ? name_hint(name, names) : hint) + " margin_solvers() says what each is for.");
}

}  // namespace

bool SolverRecord::reads(std::string_view option) const { return contains(options, option); }

std::string SolverRecord::problem() const {
  std::string text;
  for (const auto& [kind, words] :
       {std::pair(hard_margin, "hard margin"), std::pair(soft_margin, "soft margin"),
        std::pair(interpolation, "interpolation"), std::pair(likelihood, "maximum likelihood"),
        std::pair(joint, "classes jointly"), std::pair(one_class, "one class")})
    if ((problems & kind) != 0) text += (text.empty() ? "" : " or ") + std::string(words);
  return text + (kernels ? ", kernel" : "");
}

const Solver* find_solver(std::string_view name) {
  for (const Solver* solver : registered_solvers())
    if (solver->name() == name || contains(solver->record().reports, name)) return solver;
  return nullptr;
}

std::vector<std::string_view> reported_names(const Solver& solver) {
  std::vector<std::string_view> names;
  for (const Solver* other : registered_solvers()) {
    const SolverRecord& record = other->record();
    if (other != &solver && record.variant_of != solver.name()) continue;
    names.push_back(record.name);
    names.insert(names.end(), record.reports.begin(), record.reports.end());
  }
  return names;
}

namespace {

std::string loss_followers() {
  std::string names;
  for (const Solver* solver : all_solvers())
    if (follows_a_margin_loss(solver->record())) names += (names.empty() ? "" : ", ") + std::string(solver->name());
  return names;
}

}  // namespace

Method method_of(const Options& options) {
  static const std::string followers = loss_followers();
  Method method;
  const Solver* solver = options.solver == "auto" ? &likely_solver_of_auto(options) : find_solver(options.solver);
  if (solver != nullptr) {
    method.takes_kernels = options.solver != "auto" && solver->record().kernels;
    method.follows_loss = follows_a_margin_loss(solver->record());
  }
  method.loss_followers = followers;
  return method;
}

Problem make_problem(const Dataset& data, const Options& options, const Progress& progress) {
  return make_problem(data, options, method_of(options), progress);
}

const Solver& choose_solver(const Problem& problem, const Options& options) {
  const bool automatic = options.solver == "auto";
  const Solver* const named = automatic ? &solver_of_auto(problem, options) : find_solver(options.solver);
  if (named == nullptr) refuse_unknown(options.solver);
  const Solver& solver = automatic ? *named : variant_of(*named, options);
  const SolverRecord& record = solver.record();
  const std::string reason =
      problem.interpolate && (record.problems & SolverRecord::interpolation) == 0
          ? "targets are met exactly by \"interpolation\" alone"
      : problem.likelihood() && (record.problems & SolverRecord::likelihood) == 0
          ? "it needs a lambda above 0; at 0 there is \"irls\" alone"
      : joint_of(problem.loss.get()) != nullptr && (record.problems & SolverRecord::joint) == 0
          ? "it trains one class against the rest; all at once there is \"joint\" alone"
      : (problem.positive || !problem.penalty_factor.empty()) && &solver != &prox_newton
          ? "options \"penalty_factor\" and \"positive\" are for \"prox_newton\" alone, with a smooth loss"
      : one_class_of(problem.loss.get()) != nullptr && (record.problems & SolverRecord::one_class) == 0
          ? "one-class machines are trained by \"one_class\", with a kernel by \"smo\""
      : problem.offset >= 0 && !holds_offset(solver)
          ? "option \"offset_feature\" is for \"newton\", \"newton_cg\", \"prox_newton\" and \"irls\" alone"
      : problem.offset >= 0 && problem.l1_ratio > 0 && &solver != &prox_newton
          ? "with an offset, l1_ratio above 0 is for \"prox_newton\" alone, with a smooth loss"
      : problem.kernel != nullptr && !record.kernels ? "it knows no kernels but the linear one"
                                                     : solver.unsupported_reason(problem);
  if (!reason.empty())
    throw Error(ErrorKind::unsupported,
                "solver \"" + (automatic ? std::string(solver.name()) : options.solver) +
                    "\" cannot solve this problem: " + reason,
                "Leave the option solver out to have a suitable one chosen; margin_solvers() lists them.");
  return solver;
}

}  // namespace margin
