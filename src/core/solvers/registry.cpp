// The only list of solvers, and what their records say of them.
#include <algorithm>

#include "core/base/error.hpp"
#include "core/loss/loss.hpp"
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
extern const Solver& nystrom;
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
      &nystrom,
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

/// The kinds of problems, and by which features of options and rows they are told; the first that holds.
constexpr struct Kind {
  SolverRecord::Problems problem;
  unsigned feature;
  std::string_view name;
} kinds[] = {{SolverRecord::hard_margin, feature::hard_margin, "hard margin"},
             {SolverRecord::interpolation, feature::interpolation, "interpolation"},
             {SolverRecord::one_class, feature::one_class, "one class"},
             {SolverRecord::likelihood, feature::lambda_0, "maximum likelihood"},
             {SolverRecord::joint, feature::joint_classes, "classes jointly"},
             {SolverRecord::soft_margin, 0, "soft margin"}};

const Kind& kind_of(unsigned features) {
  return *std::find_if(std::begin(kinds), std::end(kinds) - 1,
                       [&](const Kind& k) { return (features & k.feature) != 0; });
}

unsigned norm_bit(double norm) {
  return norm == 1 ? SolverRecord::l1 : norm == 2 ? SolverRecord::l2 : SolverRecord::between;
}

Demand make_demand(unsigned features, double norm, bool smooth) {
  const Kind& kind = kind_of(features);
  return {kind.problem, norm_bit(norm), features & ~kind.feature & ~feature::kernel, (features & feature::kernel) != 0,
          smooth};
}

/// Of norms, for messages.
std::string_view name_of_norm(unsigned norm) {
  return norm == SolverRecord::l1 ? "1" : norm == SolverRecord::l2 ? "2" : "between 1 and 2";
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
  for (const unsigned known : {hard_margin, soft_margin, interpolation, likelihood, joint, one_class})
    for (const Kind& kind : kinds)
      if ((problems & known & kind.problem) != 0) text += (text.empty() ? "" : " or ") + std::string(kind.name);
  return text + (kernels ? ", kernel" : "");
}

unsigned SolverRecord::takes() const {
  unsigned all = features | (kernels ? feature::kernel : 0U) | (reads("initial") ? feature::initial : 0U);
  for (const Kind& kind : kinds)
    if ((problems & kind.problem) != 0) all |= kind.feature;
  return all;
}

Demand demand_of(const Problem& p) {
  return make_demand(features_of(p), p.norm, p.loss != nullptr && p.loss->smooth());
}

Demand demand_of(const Options& s) {
  const std::string_view loss = s.loss.empty() ? std::string_view("hinge") : s.loss;
  const bool smooth = !s.hard_margin() && contains(loss_names(), loss) && make_loss(loss, s)->smooth();
  const unsigned unseen = feature::around | feature::initial;
  return make_demand(features_of(s) & ~unseen, s.sparse_norm ? 1.5 : s.norm, smooth);
}

std::string refusal(const SolverRecord& record, const Demand& demand) {
  if ((record.problems & demand.problem) == 0)
    for (const Kind& kind : kinds)
      if (kind.problem == demand.problem)
        return "it is of kind \"" + std::string(kind.name) + "\", expected \"" + record.problem() + "\"";
  if (demand.kernel && !record.kernels) return "it has a kernel";
  if (!demand.kernel && record.kernels) return "it has no kernel";
  const bool of_a_norm = (demand.problem & (SolverRecord::hard_margin | SolverRecord::interpolation)) != 0;
  if (of_a_norm && (record.norms & demand.norm) == 0) {
    std::string taken;
    for (const unsigned norm : {SolverRecord::l1, SolverRecord::l2, SolverRecord::between})
      if ((record.norms & norm) != 0) taken += (taken.empty() ? "" : " or ") + std::string(name_of_norm(norm));
    return "its norm is " + std::string(name_of_norm(demand.norm)) + ", expected " + taken;
  }
  const bool of_a_loss = demand.problem == SolverRecord::soft_margin;
  if (of_a_loss && record.losses == SolverRecord::Losses::smooth && !demand.smooth) return "its loss is not smooth";
  if (of_a_loss && record.losses == SolverRecord::Losses::piecewise && demand.smooth)
    return "its loss is smooth, not piecewise linear";
  for (const FeatureRecord& known : feature_records()) {
    if ((demand.features & ~record.features & known.bit) != 0) return std::string(known.words);
    if ((record.needs & ~demand.features & known.bit) != 0) return "it lacks the option " + std::string(known.name);
  }
  return {};
}

std::string Solver::unsupported_reason(const Problem& problem) const {
  const std::string reason = refusal(record(), demand_of(problem));
  return reason.empty() ? limit(problem) : reason;
}

bool hands_over(const Options& options, SolverRecord::Parts part) {
  if (options.solver == "auto") return true;
  const Solver* const named = find_solver(options.solver);
  return named != nullptr && (named->record().parts & part) != 0;
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

namespace {

/// What to do about a problem that a solver refuses: the solvers that take it, or that would with another loss.
std::string remedy(const Problem& problem) {
  const auto those = [&](const auto& take) {
    std::string names;
    for (const Solver* solver : all_solvers())
      if (take(*solver)) names += (names.empty() ? "" : ", ") + std::string(solver->name());
    return names;
  };
  const std::string able = those([&](const Solver& s) { return s.unsupported_reason(problem).empty(); });
  if (!able.empty()) return "Leave the option solver out to have a suitable one chosen. These can: " + able + ".";
  Demand other = demand_of(problem);
  other.smooth = !other.smooth;
  const std::string with_it = those([&](const Solver& s) { return refusal(s.record(), other).empty(); });
  if (!with_it.empty())
    return std::string("With a ") + (other.smooth ? "smooth" : "piecewise linear") + " loss these can: " + with_it +
           ".";
  return "No solver can. margin_capabilities() lists what each takes.";
}

}  // namespace

const Solver& choose_solver(const Problem& problem, const Options& options) {
  const bool automatic = options.solver == "auto";
  const Solver* const named = automatic ? &solver_of_auto(problem, options) : find_solver(options.solver);
  if (named == nullptr) refuse_unknown(options.solver);
  const Solver& solver = automatic ? *named : variant_of(*named, options);
  const std::string reason = solver.unsupported_reason(problem);
  if (!reason.empty())
    throw Error(ErrorKind::unsupported,
                "solver \"" + (&solver == named && !automatic ? options.solver : std::string(solver.name())) +
                    "\" cannot solve this problem: " + reason,
                remedy(problem));
  return solver;
}

}  // namespace margin
