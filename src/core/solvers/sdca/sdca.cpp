// sdca: stochastic dual coordinate ascent for regularised risks.
//
// Problem    min P(w, b) of certificate/risk.hpp, one output after another, through its dual D(a).
// Update     for one row i at a time the maximiser of D over a_i (Loss::dual_step; logistic: to about 1e-6 of it), then
//            w += Δ c_i x_i / (λ(1−ρ)W); with an l1 part w = soft(z, ρ/(1−ρ)) follows z (prox-SDCA), with bounds of
//            weights w = clip(z). The rows come in a
//            fresh permutation every epoch (SDCA-Perm, the default; of rows in a file, a few megabytes at a time), with
//            replacement (SDCA), or as they lie. With permutations, rows that sit at a bound of their dual domain with
//            more slack than a share of the last epoch's largest violation are left out (shrinking); every gap pass
//            looks at all rows and rebuilds the active set from their scores. A free intercept is the
//            centre of a penalised one (solvers/sdca/state.hpp): the proximal point method (Rockafellar 1976), each of its
//            problems solved until its gap is a share of what it was.
// Stop       relative gap (P(w) − D(a)) / max(|P|, |D|) ≤ tolerance, or gap ≤ gap_tolerance, over all rows, measured when the gaps met on the
//            way, and how they fall, promise it or the visits have grown by 60 %. Iterations count epochs: visits divided by rows, rounded
//            up; the last one ends where max_iterations times the rows were visited. With the option `history` the gap is also measured once an epoch, to be recorded and nothing else: the
//            course of the training and its result are the same as without.
// Source     S. Shalev-Shwartz, T. Zhang, Stochastic dual coordinate ascent methods for regularized loss minimization,
//            2013: Procedures SDCA, SDCA-Perm and Modified-SGD; prox-SDCA: the same authors, 2014; shrinking: C.-J.
//            Hsieh et al., A dual coordinate descent method for large-scale linear SVM, 2008.
#include "core/solvers/sdca/sdca.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/base/error.hpp"
#include "core/loss/registry.hpp"
#include "core/math/rounding.hpp"
#include "core/options/options.hpp"
#include "core/problem/thresholds.hpp"
#include "core/solvers/idle_outputs.hpp"
#include "core/solvers/one_vs_rest.hpp"
#include "core/solvers/output.hpp"
#include "core/solvers/run.hpp"
#include "core/solvers/sdca/averaging.hpp"
#include "core/solvers/sdca/epoch.hpp"
#include "core/solvers/sdca/gap_schedule.hpp"
#include "core/solvers/sdca/warm_start.hpp"

namespace margin {

namespace {

constexpr std::int64_t default_epochs = 1000;

class Sdca final : public Solver {
 public:
  const SolverRecord& record() const override {
    static const SolverRecord record = {
        "sdca",
        "stochastic dual coordinate ascent with shrinking; every loss, elastic net, sparse rows",
        SolverRecord::soft_margin,
        SolverRecord::l2,
        SolverRecord::Losses::all,
        false,
        {"seed", "initial", "order", "output", "average_from", "start", "gap_tolerance", "accelerated"},
        one_vs_rest_or_numbers | feature::l1_ratio | feature::bounds | feature::free_intercept | feature::log_link,
        0,
        SolverRecord::folds};
    return record;
  }
  double workspace(const Problem& p) const override {
    const double n = static_cast<double>(p.rows());
    return n * (sizeof(Coordinate) + 8.0 + 8.0 * p.outputs() + 48.0 + (p.free_intercept ? 8.0 : 0.0)) +
           p.dimensions() * 8.0 * (p.outputs() + (p.bounds.empty() ? 3.0 : 5.0));
  }
  Solution solve(const Problem& p, const Options& options, const Progress& progress) const override;

 private:
  std::string limit(const Problem& p) const override { return rows_limit(p); }
};

/// What the solve of all outputs shares.
struct Session {
  const Options& options;
  Run& run;
  Random random;
  const double gap_tolerance;  // of each output
  const std::function<bool(const AscentSoFar&)>& goes_on;
  double other_primal = 0, other_dual = 0;  // of the outputs that are not being solved
  std::int32_t output = 0;                  // the current one
  double epochs = 0, at_zero = 0;           // of the current output; at_zero = P(0)
  double primal = 0, dual = 0;              // its values as last measured
  bool lost = false;                        // goes_on said no
};

/// The ascent of one output.
template <class L>
class OutputAscent {
 public:
  OutputAscent(const L& loss, SdcaState& state, Session& session)
      : loss_(loss),
        state_(state),
        session_(session),
        last_(asks_for_output(session.options) && session.options.output == Output::last),
        history_(make_history(session.options, state, session.random)),
        shrink_(session.options.order == Order::permutation && history_ == nullptr),
        rows_(std::max<double>(1.0, static_cast<double>(state.movable.size()))),
        order_(state.movable),
        schedule_(rows_, std::max(session.options.tolerance * session.at_zero / 2, session.gap_tolerance)),
        best_primal_(session.at_zero),
        best_weights_(state.problem.least_weights(state.weights.size())) {}

  Status run() {
    const Status status = ascend();
    if (history_ != nullptr) {
      history_->enter();
      if (state_.free_intercept()) state_.intercept = best_intercept_;
    } else {
      state_.weights = best_weights_;
      state_.intercept = best_intercept_;
    }
    return status;
  }

 private:
  Status ascend() {
    Status status = Status::iteration_limit;
    // A previous model may be good enough as it is.
    if (session_.options.initial.has_value() && history_ == nullptr) {
      consider_initial_weights(*session_.options.initial);
      if (look()) return Status::optimal;
    }
    bool full = true;  // the last epoch saw every movable row
    int idle = 0;      // epochs in which nothing moved
    for (;;) {
      const EpochResult epoch = run_one_epoch();
      const bool last =
          session_.run.exhausted(static_cast<std::int64_t>(std::floor(session_.epochs)), status) || epoch.out_of_time;
      idle = epoch.moved ? 0 : idle + 1;
      // Draws with replacement can miss the row that still has a step to make.
      const bool stuck = idle >= (session_.options.order == Order::random ? 64 : 1);
      const bool lost = session_.goes_on && !session_.goes_on({session_.epochs, estimate_, best_primal_});
      if (!last && !stuck && !lost && !due()) {
        if (session_.options.history && session_.epochs >= recorded_ + 1) record_gap();
        full = full && order_.size() == state_.movable.size();
        continue;
      }
      if (look()) return Status::optimal;
      session_.lost = lost;
      if (last || lost || overflowed_) return status;
      if (stuck && full) return status;  // every coordinate is at its maximum in floating point
      full = stuck;
      if (stuck) {
        order_ = state_.movable;
        violation_ = infinity;
      }
    }
  }

  /// The weights of a previous model beside its duals: they need not be the weights that follow from those.
  void consider_initial_weights(const InitialModel& model) {
    const auto d = static_cast<std::ptrdiff_t>(state_.weights.size());
    const std::vector<double> weights = state_.weights;
    const double intercept = state_.intercept;
    std::copy_n(model.weights.begin() + session_.output * d, d, state_.weights.begin());
    for (std::size_t j = 0; !state_.problem.bounds.empty() && j < state_.weights.size(); ++j)
      state_.weights[j] = state_.problem.bounds.clip(state_.weights[j], j);
    state_.intercept = 0;
    if (state_.problem.intercept && !model.intercept.empty())
      state_.intercept = model.intercept[static_cast<std::size_t>(session_.output)];
    const GapResult gap = measure_gap(loss_, state_, session_.run, infinity, nullptr);
    if (!last_ && gap.primal < best_primal_) {
      best_primal_ = gap.primal;
      best_weights_ = state_.weights;
      best_intercept_ = gap.intercept;
    }
    state_.weights = weights;
    state_.intercept = intercept;
  }

  EpochResult run_one_epoch() {
    const Order order = session_.options.order;
    if (order == Order::random)
      for (std::int32_t& i : order_) i = state_.movable[session_.random.below(state_.movable.size())];
    if (history_ != nullptr) history_->begin_epoch();
    // Rows that are left out make epochs of fewer visits than rows; the last one ends where the visits do.
    const double left = static_cast<double>(session_.run.max_iterations()) * rows_ - visits_;
    EpochResult epoch = run_epoch(loss_, state_, order_, left, shrink_ ? violation_ : infinity,
                                  order == Order::permutation, session_.random, session_.run, history_.get());
    state_.keep_bounds();
    visits_ += epoch.visits;
    session_.epochs = visits_ / rows_;
    left_ = gap_left(epoch.estimate, estimate_);
    estimate_ = history_ == nullptr ? epoch.estimate : infinity;
    if (state_.free_intercept()) {
      inner_estimate_ = std::max(inner_estimate_, epoch.estimate);
      if (!epoch.moved || epoch.estimate <= inner_share * inner_estimate_) {
        inner_estimate_ = epoch.estimate;
        const double moved = state_.recentre();
        epoch.moved |= std::fabs(moved) > 1e-15 * std::fabs(state_.intercept);
      }
    }
    violation_ = epoch.violation > 0 ? shrink_share * epoch.violation : infinity;
    return epoch;
  }

  /// Whether a look at the gap is worth it. The first one often comes an epoch too late: what the last epoch met is more than what
  /// it left. So D, which costs no pass over the rows and is at most P, says whether that is narrow enough.
  bool due() {
    if (schedule_.due(visits_, estimate_)) return true;
    const double tolerance = certifiable * session_.options.tolerance;
    if (!schedule_.blind() || !loss_.smooth() || !(left_ <= tolerance * session_.at_zero)) return false;
    if (history_ != nullptr || state_.free_intercept()) return false;
    return left_ <= tolerance * dual_value(loss_, state_, session_.run);
  }

  /// One pass over all rows: both values, the active set, and whether the interval is narrow enough.
  bool look() {
    if (history_ != nullptr) history_->enter();
    GapResult gap =
        measure_gap(loss_, state_, session_.run, shrink_ ? violation_ : infinity, shrink_ ? &order_ : nullptr);
    overflowed_ = !(gap.size() < infinity);
    if (history_ != nullptr) {
      history_->leave();
      best_intercept_ = gap.intercept;
    } else if (last_ || gap.primal <= best_primal_) {
      best_primal_ = gap.primal;
      best_weights_ = state_.weights;
      best_intercept_ = gap.intercept;
    } else {
      gap.primal = best_primal_;  // P(w) is not monotone; any w may stand beside a
    }
    record(gap);
    session_.primal = gap.primal;
    session_.dual = gap.dual;
    // Slightly tighter than allowed, for the rounding that the certificate will add outward.
    const double target = certifiable * std::max(session_.options.tolerance * gap.size(), session_.gap_tolerance);
    schedule_.looked(visits_, estimate_, gap.gap(), target);
    return !overflowed_ && gap.gap() <= target;
  }

  /// Like look(), but only for the history: neither the best weights nor the active set change.
  void record_gap() {
    if (history_ != nullptr) history_->enter();
    GapResult gap = measure_gap(loss_, state_, session_.run, infinity, nullptr);
    if (history_ != nullptr)
      history_->leave();
    else if (!last_)
      gap.primal = std::min(gap.primal, best_primal_);
    record(gap);
  }

  void record(const GapResult& gap) {
    recorded_ = session_.epochs;
    session_.run.record(static_cast<std::int64_t>(std::ceil(session_.epochs)), session_.other_dual + gap.dual,
                        session_.other_primal + gap.primal);
  }

  const L& loss_;
  SdcaState& state_;
  Session& session_;
  const bool last_;  // the last weights are returned, not the best ones
  const std::unique_ptr<SdcaHistory> history_;
  const bool shrink_;
  const double rows_;
  std::vector<std::int32_t> order_;
  GapSchedule schedule_;
  double visits_ = 0, violation_ = infinity, estimate_ = 0, recorded_ = 0;
  double left_ = 0;            // the gap that the last epoch left, as far as the course of the estimates says
  double inner_estimate_ = 0;  // the largest since a free intercept was recentred
  bool overflowed_ = false;
  double best_primal_;  // starts at w = 0
  std::vector<double> best_weights_;
  double best_intercept_ = 0;
};

Solution Sdca::solve(const Problem& p, const Options& options, const Progress& progress) const {
  return ascend_while(p, options, progress, nullptr);
}

const Sdca sdca_solver;

}  // namespace

Solution ascend_while(const Problem& p, const Options& options, const Progress& progress,
                      const std::function<bool(const AscentSoFar&)>& goes_on) {
  const std::string_view name = sdca_solver.name();
  output_of(options, name, {Output::last, Output::average, Output::random});
  require_average(options);
  if (options.order == Order::proportional)
    throw Error(ErrorKind::unsupported, "solver \"sdca\" has no order \"proportional\"",
                "Its orders: permutation, random, cyclic.");
  Run run(options, progress, name, default_epochs);
  Session session{options, run, Random(options.seed), options.gap_tolerance / p.outputs(), goes_on};
  SdcaState state(p, run);
  Solution solution = zero_solution(p, name, progress);

  // Outputs not yet solved stand at w = 0 and D = 0 in the history.
  const std::vector<double> at_zero = risk_of_constant(p, 0, run);
  for (const double v : at_zero) session.other_primal += v;

  const auto solve_output = [&](std::int32_t o) {
    session.output = o;
    session.at_zero = at_zero[static_cast<std::size_t>(o)];
    session.other_primal -= session.at_zero;
    state.start_output(o);
    start_from(options, o, state, session.random, run);
    Status status = Status::optimal;
    visit(*p.loss,
          [&](const auto& loss) { status = OutputAscent<std::decay_t<decltype(loss)>>(loss, state, session).run(); });
    solution.iterations = std::max(solution.iterations, static_cast<std::int64_t>(std::ceil(session.epochs)));
    state.store(o, solution);
    session.other_primal += session.primal;
    session.other_dual += session.dual;
    return status;
  };
  const auto ended = [&](Status& why) {
    return session.lost ? (why = Status::iteration_limit, true) : time_is_up(run)(why);
  };
  leave_idle(p, solve_outputs(p, solution.status, solve_output, ended), solution, run);
  solution.last = run.last();
  solution.trace = run.take_trace();
  return solution;
}

extern const Solver& sdca;
const Solver& sdca = sdca_solver;

}  // namespace margin
