// What `auto` means: for each kind of problem a solver (below: solver_of_auto), for a soft margin coordinate ascent,
// second order, or the first handing over to the second.
//
// Sparse: prox_newton where there is an l1 norm and the loss is smooth.
// Newton: newton or newton_cg, whichever is predicted to cost less; interior_point where an l1 norm meets a loss that is not
//         smooth.
// Rule:   sdca where it is expected to need fewer epochs than newton costs. Where it is expected to need more, it is tried
//         all the same, unless that is by far or newton costs so few epochs that two of them are no small part: large s
//         say little, because w stays bounded as lambda falls. From the epochs that it was expected to need, or was
//         tried for, sdca goes on while its gap, as it has fallen since half of them, promises an end before newton's.
//         Else newton goes on from sdca's vectors, unless these brought nothing.
// Bounds: where they are expected to hold weights (solvers/solver_costs.cpp), newton takes fewer steps for a smooth loss, and an epoch of
//         sdca takes longer; where they hold most of them, s says little, and sdca is judged after a few epochs.
// Codes:  of rows as codes the cheaper of newton and newton_cg, whose sums are histograms of codes.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include "core/base/error.hpp"
#include "core/loss/loss.hpp"
#include "core/solvers/run.hpp"
#include "core/solvers/sdca/sdca.hpp"
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
extern const Solver& nystrom;
extern const Solver& sampling;
extern const Solver& irls;
extern const Solver& joint;
extern const Solver& soft_auto;
extern const Solver& one_class;

namespace {

// Epochs of a trial of sdca: the first gap is that of zero, and where φ curves, an epoch only guesses its gap from the length
// of its steps. There is one where newton costs so many times as much, or where sdca is expected to need no more than `near`
// times what newton costs, if that is so many epochs. None where sdca is expected to need `too_far` times as much (in the
// cells of bench/regret.py that it won, or where newton went on from it in less than from its own start, 1,200); of few rows, where
// s can be relied on, beyond `near_few` times.
constexpr double trial = 2, curved_trial = 5;
constexpr double least_times = 7.5, least_epochs = 6, near = 2.5, near_few = 2.4, too_far = 1250;
// What sdca is judged by: the accuracy relative to P that it comes to, and at least such a decay of its gap.
constexpr double accuracy = 1e-5, digits = 100;
// Where bounds are expected to hold at least such a share of the weights, s says nothing, and no more epochs go unjudged.
constexpr double least_held = 0.75, held_trial = 4;
// Vectors whose gap is still so much of P say nothing of where the optimum is, and newton's own start is better.
constexpr double no_start = 0.95;
constexpr double grace = 0.1;  // of what newton costs: how long an end in reach is waited for
constexpr std::int64_t most_epochs = 1'000'000;

// Rows from which on a kernel machine of low rank is tried: it costs little beside one in the span of so many.
constexpr std::int64_t many_rows = 20000;

struct Plan {
  const Solver* second = nullptr;  // newton or newton_cg, the cheaper of those that can; null: neither
  double expected_epochs = 0;      // of sdca
  bool few_rows = false;           // than features
  bool held = false;               // most weights, by bounds
  double second_epochs = 0;        // what `second` costs, in epochs of sdca
};

/// `rough`: for newton_cg a cost that it does not fall below, without a look at the columns.
Plan make_plan(const Problem& p, const SolverCosts& costs, double memory, bool rough = false) {
  const double epoch = costs.epoch();
  Plan plan;
  plan.expected_epochs = costs.expected_epochs();
  plan.few_rows = p.rows() <= p.dimensions();
  plan.held = costs.held() > least_held;
  const auto consider = [&](const Solver& solver, auto&& cost) {
    if (!solver.unsupported_reason(p).empty() || solver.workspace(p) > memory) return;
    const double epochs = cost() / epoch;
    if (plan.second != nullptr && epochs >= plan.second_epochs) return;
    plan.second = &solver;
    plan.second_epochs = epochs;
  };
  consider(newton, [&] { return costs.newton(); });
  consider(newton_cg, [&] {
    return costs.newton_cg(rough                    ? 0.0
                           : plan.second != nullptr ? plan.second_epochs * epoch
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

/// How many epochs of sdca are not judged; none: newton right away.
std::optional<double> first_epochs(const Plan& plan, bool curved) {
  const double ratio = plan.expected_epochs / plan.second_epochs, tried = curved ? curved_trial : trial;
  if (ratio <= 1) return plan.held ? std::min(held_trial, plan.expected_epochs) : plan.expected_epochs;
  const double close = plan.few_rows ? near_few : near;
  if (ratio > (plan.few_rows ? close : too_far)) return std::nullopt;
  if (plan.second_epochs < (ratio <= close ? least_epochs : least_times * tried)) return std::nullopt;
  return tried;
}

/// Whether coordinate ascent, as its gap has fallen so far, comes to its end before `second` epochs; of each output anew.
class Prospect {
 public:
  /// `first`: epochs that are not judged.
  /// `second`: asked when they are over.
  Prospect(double first, std::function<double()> second, double tolerance)
      : first_(first), ask_(std::move(second)), tolerance_(tolerance) {}

  bool operator()(const AscentSoFar& at) {
    if (!course_.empty() && at.epochs <= course_.back().epochs) start_output();
    course_.push_back(at);
    while (middle_ + 1 < course_.size() && 2 * course_[middle_ + 1].epochs <= at.epochs) ++middle_;
    learned_ = learned_ || at.gap < no_start * at.size;
    if (at.epochs < std::max(first_, until_) || course_.size() < 2 || !(at.gap > 0)) return true;
    if (second_ == 0) second_ = ask_();
    const AscentSoFar& before = course_[middle_];
    const double decay = std::log(before.gap / at.gap) / (at.epochs - before.epochs);
    if (until_ == 0 && decay > 0) {
      const double ahead = std::max(digits, at.gap / (accuracy * at.size));
      if (at.epochs + std::log(ahead) / decay <= second_) return true;
      if (std::log(at.gap / (tolerance_ * at.size)) / decay <= grace * second_) {
        until_ = at.epochs + grace * second_;
        return true;
      }
    }
    return false;
  }

  /// Whether any output came to where another solver does well to start.
  bool learned() const { return learned_; }

 private:
  void start_output() {
    course_.clear();
    middle_ = 0;
    until_ = 0;
  }

  bool learned_ = false;
  double first_, second_ = 0;
  std::function<double()> ask_;
  double tolerance_, until_ = 0;  // until_: an end is in reach, and waited for until then
  std::vector<AscentSoFar> course_;
  std::size_t middle_ = 0;  // the last epoch of the first half
};

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
  const SolverCosts costs(p);
  const auto make = [&](bool rough) {
    Plan plan = make_plan(p, costs, options.workspace_limit, rough);
    // A previous model with its duals saves about half of the epochs (a path of lambdas: 0.4 to 0.7 of them); newton,
    // whose own start is good, gains less than that.
    if (options.initial.has_value() && !options.initial->dual_weights.empty()) plan.expected_epochs *= 0.5;
    return plan;
  };
  // Where sdca is expected to need less than any of the others at its cheapest, what they cost is asked once it needs more.
  Plan plan = make(true);
  if (plan.second == nullptr) return sdca.solve(p, options, progress);
  bool rough = p.data.codes() == nullptr && plan.expected_epochs <= plan.second_epochs;
  const auto be_precise = [&] {
    if (std::exchange(rough, false)) plan = make(false);
    return plan.second_epochs;
  };
  if (!rough) plan = make(false);
  if (p.data.codes() != nullptr) return plan.second->solve(p, options, progress);
  const std::optional<double> first = first_epochs(plan, p.loss->has_probability() || p.loss->log_link());
  if (!first.has_value()) return plan.second->solve(p, options, progress);

  const Run clock(options, progress, name(), 0);
  Prospect prospect(*first, be_precise, options.tolerance);
  Options part = options;
  if (!part.max_iterations.has_value()) part.max_iterations = most_epochs;
  Solution s = ascend_while(p, part, progress, std::ref(prospect));
  // It was lost, or came to where no step changes anything.
  const std::int64_t left = options.max_iterations.value_or(most_epochs) - s.iterations;
  if (s.status != Status::iteration_limit || left <= 0) return s;
  be_precise();
  part.max_iterations.reset();
  if (options.max_iterations.has_value()) part.max_iterations = left;
  const double seconds = clock.seconds();
  if (options.max_seconds.has_value()) part.max_seconds = std::max(1e-3, *options.max_seconds - seconds);
  if (prospect.learned()) part.initial = model_of(s);
  append(s, plan.second->solve(p, part, progress), seconds);
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
    for (const Solver* solver : {&smo, &kernel_newton, &sampling}) {
      if (!solver->unsupported_reason(problem).empty()) continue;
      const bool low_rank = problem.rows() >= many_rows && nystrom.unsupported_reason(problem).empty() &&
                            std::max(solver->workspace(problem), nystrom.workspace(problem)) <= options.workspace_limit;
      return low_rank ? nystrom : *solver;
    }
    throw Error(ErrorKind::unsupported,
                std::string("no solver takes a kernel to this ") + (problem.hard_margin ? "hard margin" : "problem") +
                    ": " + (problem.hard_margin ? sampling : smo).unsupported_reason(problem),
                problem.hard_margin ? "Or give lambda for a soft margin, one class against the rest." : "");
  }
  if (const Solver* const only = only_solver(demand, options)) return *only;
  if (is_sparse(demand, options, prox_newton.workspace(problem) <= options.workspace_limit)) return prox_newton;
  if (soft_auto.unsupported_reason(problem).empty()) return soft_auto;
  const Plan plan = make_plan(problem, SolverCosts(problem), options.workspace_limit);
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
  return make_plan(problem, SolverCosts(problem), options.workspace_limit).second_epochs;
}

bool newton_may_go_on(const Problem& problem, const Options& options) {
  return hands_over(options, SolverRecord::second_order) && newton.unsupported_reason(problem).empty();
}

}  // namespace margin
