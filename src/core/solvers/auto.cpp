// What `auto` means: for each kind of problem a solver (below: solver_of_auto), for a soft margin coordinate ascent,
// second order, or the first handing over to the second.
//
// Sparse: prox_newton where there is an l1 norm and the loss is smooth.
// Newton: newton or newton_cg, whichever is predicted to cost less; interior_point where an l1 norm meets a loss that is not
//         smooth.
// Rule:   newton when its predicted cost is below that of the epochs that sdca is expected to need; otherwise sdca for
//         as many epochs as newton would have cost, so that a wrong expectation costs at most a factor of two, and
//         earlier when the decay of the gap says that they will not do. Then newton goes on from sdca's vectors. Where
//         newton wins but costs many epochs, sdca is tried for a tenth of them, and goes on while the decay of its gap
//         promises an end before newton's: large s say little, because w stays bounded as lambda falls.
// Codes:  of rows as codes the cheaper of newton and newton_cg, whose sums are histograms of codes.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.hpp"
#include "core/solvers/run.hpp"
#include "core/solvers/solver.hpp"
#include "core/solvers/solver_costs.hpp"

namespace margin {

extern const Solver& cutting_plane;
extern const Solver& boosting;
extern const Solver& linear_program;
extern const Solver& dual_ascent;
extern const Solver& dual_ascent_newton;
extern const Solver& interpolation;
extern const Solver& sdca;
extern const Solver& newton;
extern const Solver& newton_cg;
extern const Solver& prox_newton;
extern const Solver& interior_point;
extern const Solver& smo;
extern const Solver& kernel_newton;
extern const Solver& sampling;
extern const Solver& irls;
extern const Solver& joint;
extern const Solver& soft_auto;
extern const Solver& one_class;

namespace {

constexpr double trial_share = 1.0 / 32;  // of what newton costs: the first chunk of a trial, which needs two
constexpr double least_trial = 4;         // epochs: fewer say nothing about the decay of a gap
constexpr double longest_trial = 64;      // epochs: more than these say no more
constexpr double digits = 100;            // the decay of the gap that sdca is judged by
constexpr double grace = 0.1;             // of what newton costs: how long an end in reach is waited for

struct Plan {
  const Solver* second = nullptr;  // newton or newton_cg, the cheaper of those that can; null: neither
  double expected_epochs = 0;      // of sdca
  double second_epochs = 0;        // what `second` costs, in epochs of sdca
};

Plan make_plan(const Problem& p, double memory) {
  const SolverCosts costs(p);
  const double epoch = costs.epoch();
  Plan plan;
  plan.expected_epochs = costs.expected_epochs();
  const auto consider = [&](const Solver& solver, auto&& cost) {
    if (!solver.unsupported_reason(p).empty() || solver.workspace(p) > memory) return;
    const double epochs = cost() / epoch;
    if (plan.second != nullptr && epochs >= plan.second_epochs) return;
    plan.second = &solver;
    plan.second_epochs = epochs;
  };
  consider(newton, [&] { return costs.newton(); });
  consider(newton_cg, [&] {
    return costs.newton_cg(plan.second != nullptr ? plan.second_epochs * epoch
                                                  : std::numeric_limits<double>::infinity());
  });
  if (p.data.codes() == nullptr) consider(interior_point, [&] { return costs.interior_point(); });
  return plan;
}

/// Options that only sdca reads say that it is wanted.
bool asks_for_sdca(const Options& s) {
  return s.order != Order::permutation || s.output != Output::last || s.start != Start::zero ||
         s.average_from.has_value() || s.gap_tolerance > 0;
}

/// Appends what a later solver did; its clock and its count began at 0.
void append(Solution& sum, Solution&& next, double seconds) {
  for (TracePoint& point : next.trace) {
    point.iteration += sum.iterations;
    point.seconds += seconds;
  }
  next.trace.insert(next.trace.begin(), sum.trace.begin(), sum.trace.end());
  next.iterations += sum.iterations;
  if (!sum.solver.empty() && sum.solver != next.solver) next.solver = sum.solver + "+" + next.solver;
  sum = std::move(next);
}

InitialModel model_of(const Solution& s) {
  InitialModel model;
  model.weights.assign(s.weights.data(), s.weights.data() + s.weights.size());
  model.intercept.assign(s.intercept.data(), s.intercept.data() + s.intercept.size());
  model.dual_weights.assign(s.dual.data(), s.dual.data() + s.dual.size());
  return model;
}

class SoftAuto final : public Solver {
 public:
  const SolverRecord& record() const override {
    static const SolverRecord record = {
        "sdca+newton",
        "what auto does with a soft margin: sdca, newton or newton_cg, or the first handing over to one of the others",
        SolverRecord::soft_margin,
        SolverRecord::l2,
        SolverRecord::Losses::all,
        false,
        {"seed", "initial", "order", "output", "average_from", "start", "gap_tolerance"},
        sdca.record().features,
        0,
        SolverRecord::folds | SolverRecord::second_order,
        {"sdca+newton_cg", "interior_point", "sdca+interior_point"},
        "sdca"};
    return record;
  }
  /// What sdca needs; the others are chosen only where options.workspace_limit leaves room for it.
  double workspace(const Problem& p) const override { return sdca.workspace(p); }
  Solution solve(const Problem& p, const Options& options, const Progress& progress) const override;

 private:
  std::string limit(const Problem& p) const override { return sdca.unsupported_reason(p); }
};

// What is tried, and when it is given up, must not depend on the tolerance: a run to a looser one then ends on the way
// to a tighter one, or at most a tenth of newton's cost later, where its end seemed to be in reach.
Solution SoftAuto::solve(const Problem& p, const Options& options, const Progress& progress) const {
  if (asks_for_sdca(options)) return sdca.solve(p, options, progress);
  Plan plan = make_plan(p, options.workspace_limit);
  if (plan.second == nullptr) return sdca.solve(p, options, progress);
  if (p.data.codes() != nullptr) return plan.second->solve(p, options, progress);
  // A previous model with its duals saves about half of the epochs (a path of lambdas: 0.4 to 0.7 of them); newton,
  // whose own start is good, gains less than that.
  if (options.initial.has_value() && !options.initial->dual_weights.empty()) plan.expected_epochs *= 0.5;
  const bool trial = plan.second_epochs < plan.expected_epochs;
  if (trial && trial_share * plan.second_epochs < least_trial) return plan.second->solve(p, options, progress);

  const Run clock(options, progress, name(), 0);
  auto budget = static_cast<std::int64_t>(std::min(std::ceil(plan.second_epochs), 1e6));
  Options part = options;
  Solution s;
  const auto limit_what_is_left = [&] {
    if (options.max_seconds.has_value()) part.max_seconds = std::max(1e-3, *options.max_seconds - clock.seconds());
    part.max_iterations.reset();
    if (options.max_iterations.has_value()) part.max_iterations = *options.max_iterations - s.iterations;
  };
  double gap_before = 0;
  bool waited = false;
  const double first = trial ? std::min(trial_share * plan.second_epochs, longest_trial) : plan.expected_epochs;
  for (std::int64_t chunk = static_cast<std::int64_t>(std::ceil(first));; chunk *= 2) {
    limit_what_is_left();
    const std::int64_t left = std::max<std::int64_t>(1, std::min(chunk, budget - s.iterations));
    const bool all_of_it = part.max_iterations.has_value() && *part.max_iterations <= left;
    part.max_iterations = std::min(left, part.max_iterations.value_or(left));
    const double seconds = clock.seconds();
    append(s, sdca.solve(p, part, progress), seconds);
    if (s.status != Status::iteration_limit || all_of_it || !s.last.has_value()) break;
    const double gap = s.last->upper - s.last->lower,
                 wanted = options.tolerance * std::max(std::fabs(s.last->upper), std::fabs(s.last->lower));
    const double decay = gap < gap_before ? std::log(gap_before / gap) / static_cast<double>(chunk) : 0;  // per epoch
    const bool promising =
        gap_before == 0 || static_cast<double>(s.iterations) + std::log(digits) / decay <= plan.second_epochs;
    const double rest = std::log(gap / wanted) / decay;
    part.initial = model_of(s);
    ++part.seed;
    gap_before = gap;
    if (!waited && s.iterations < budget && promising && (trial || s.iterations * 2 <= budget)) continue;
    const double longest = grace * plan.second_epochs;
    if (!waited && decay > 0 && rest <= longest) {
      waited = true;
      chunk = static_cast<std::int64_t>(std::ceil(longest));
      budget = s.iterations + chunk;
      continue;
    }
    limit_what_is_left();
    const double handed_over = clock.seconds();
    append(s, plan.second->solve(p, part, progress), handed_over);
    break;
  }
  return s;
}

const SoftAuto soft_auto_solver;

/// The solver of a problem of which there is one choice, whatever its size; else null.
const Solver* only_solver(const Demand& demand, const Options& options) {
  for (const Solver* solver : {&interpolation, &smo, &kernel_newton, &one_class, &irls, &joint}) {
    const SolverRecord& record = solver->record();
    if ((record.problems & demand.problem) == 0 || record.kernels != demand.kernel) continue;
    if (demand.problem != SolverRecord::soft_margin || refusal(record, demand).empty()) return solver;
  }
  if (demand.problem == SolverRecord::hard_margin && !demand.kernel) {
    if (demand.norm == SolverRecord::l2) return &cutting_plane;
    // On a working set of rows unless the options ask for the method's own steps; stumps have no other way.
    if (demand.norm == SolverRecord::between)
      return options.working_set.value_or(true) ? &dual_ascent_newton : &dual_ascent;
    return options.working_set.value_or(options.learners == Learners::features) ? &linear_program : &boosting;
  }
  return nullptr;
}

/// Sparse weights: by prox_newton where it can, unless coordinate ascent is wanted or the columns do not fit, and can too.
bool is_sparse(const Demand& demand, const Options& options, bool fits) {
  if (!refusal(prox_newton.record(), demand).empty()) return false;
  return (fits && !asks_for_sdca(options)) || !refusal(soft_auto_solver.record(), demand).empty();
}

}  // namespace

const Solver& soft_auto = soft_auto_solver;

const Solver& solver_of_auto(const Problem& problem, const Options& options) {
  const Demand demand = demand_of(problem);
  if (demand.kernel) {
    // Hard margins of more than two classes are sampling's.
    for (const Solver* solver : {&smo, &kernel_newton, &sampling})
      if (solver->unsupported_reason(problem).empty()) return *solver;
    throw Error(ErrorKind::unsupported,
                std::string("no solver takes a kernel to this ") + (problem.hard_margin ? "hard margin" : "problem") +
                    ": " + (problem.hard_margin ? sampling : smo).unsupported_reason(problem),
                problem.hard_margin ? "Or give lambda for a soft margin, one class against the rest." : "");
  }
  if (const Solver* const only = only_solver(demand, options)) return *only;
  if (is_sparse(demand, options, prox_newton.workspace(problem) <= options.workspace_limit)) return prox_newton;
  if (soft_auto.unsupported_reason(problem).empty()) return soft_auto;
  const Plan plan = make_plan(problem, options.workspace_limit);
  if (plan.second != nullptr) return *plan.second;
  return newton_cg.unsupported_reason(problem).empty() ? newton_cg : soft_auto;
}

/// What auto is likely to take in place of the soft margin's solvers; null where it takes these.
static const Solver* likely_other(const Options& options) {
  const Demand demand = demand_of(options);
  const Solver* const only = only_solver(demand, options);
  return only != nullptr ? only : is_sparse(demand, options, true) ? &prox_newton : nullptr;
}

const Solver& likely_solver_of_auto(const Options& options) {
  const Solver* const other = likely_other(options);
  return other != nullptr ? *other : soft_auto;
}

bool prefers_codes(const Options& options) {
  if (options.solver != "auto") return options.solver == newton.name() || options.solver == newton_cg.name();
  return likely_other(options) == nullptr && !asks_for_sdca(options);
}

double epochs_before_newton(const Problem& problem, const Options& options) {
  if (!newton_may_go_on(problem, options)) return std::numeric_limits<double>::infinity();
  return make_plan(problem, options.workspace_limit).second_epochs;
}

bool newton_may_go_on(const Problem& problem, const Options& options) {
  return hands_over(options, SolverRecord::second_order) && newton.unsupported_reason(problem).empty();
}

}  // namespace margin
