// Stochastic dual coordinate ascent for regularised risks.
//
// Problem: min P(w, b) of certificate_risk.hpp, one output after another, through its dual D(a).
//
// Update: for one row i at a time the exact maximiser of D over a_i (Loss::dual_step), then w += Δ c_i x_i / (λ(1−ρ)W);
// with an l1 part w = soft(z, ρ/(1−ρ)) follows z (prox-SDCA).
//
// Order: a fresh permutation every epoch (SDCA-Perm, the default), with replacement (SDCA), or as the rows lie.
// With permutations, rows that sit at an end of their dual domain with more slack than the last epoch's largest
// violation are left out (shrinking); every gap pass looks at all rows and rebuilds the active set from their scores.
//
// Stop: relative gap (P(w) − D(a)) / max(|P|, |D|) ≤ tolerance over all rows, measured when the gaps met on the way
// promise it or the visits have grown by 60 %. Iterations count epochs: visits divided by rows, rounded up.
//
// Source: Shalev-Shwartz & Zhang, "Stochastic dual coordinate ascent methods for regularized loss minimization" (2013):
// Procedures SDCA, SDCA-Perm and Modified-SGD; prox-SDCA: the same authors (2014); shrinking: Hsieh et al. (2008).
#include <cmath>
#include <limits>
#include <memory>

#include "../losses/all.hpp"
#include "../solver.hpp"
#include "sdca_history.hpp"
#include "sdca_loops.hpp"
#include "sdca_start.hpp"

namespace margin {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t default_epochs = 1000;

/// When a gap pass is worth its price, a third of an epoch or so: total cost is held to a few per cent of the visits.
class GapSchedule {
 public:
  GapSchedule(double rows, double first_target) : rows_(rows), target_(first_target), next_(10 * rows) {}

  double target() const { return target_; }
  /// `estimate`: the gap that the last epoch promises.
  bool due(double visits, double estimate) const {
    if (visits >= next_ || estimate <= 0.01 * target_) return true;
    return estimate * optimism_ <= target_ && 0.33 * rows_ * passes_ <= 0.07 * visits;
  }
  void looked(double visits, double estimate, double gap, double target) {
    ++passes_;
    target_ = target;
    next_ = std::max(1.6 * visits, 10 * rows_);
    // Rows that were left out, and weights that moved on, make an estimate too hopeful; believe the next one less.
    if (estimate > 0) optimism_ = std::clamp(std::sqrt(gap / estimate), 1.0, 4.0);
  }

 private:
  double rows_, target_, next_;
  double optimism_ = 2;
  int passes_ = 0;
};

class Sdca final : public Solver {
 public:
  std::string_view name() const override { return "sdca"; }
  std::string_view problem() const override { return "soft margin"; }
  std::string_view summary() const override {
    return "stochastic dual coordinate ascent with shrinking; every loss, elastic net, sparse rows";
  }
  std::string refusal(const Problem& p) const override {
    if (p.hard_margin) return "it needs lambda (a soft margin)";
    return {};
  }
  double workspace(const Problem& p) const override {
    const double n = static_cast<double>(p.rows());
    return n * (sizeof(Coordinate) + 8.0 + 8.0 * p.outputs() + 48.0) + p.dimensions() * 8.0 * (p.outputs() + 3.0);
  }
  Solution solve(const Problem& p, const Settings& settings, Monitor& monitor) const override;
};

/// What the solve of all outputs shares.
struct Session {
  const Settings& settings;
  Run& run;
  Random random;
  double other_primal = 0, other_dual = 0;  // of the outputs that are not being solved
  double epochs = 0, at_zero = 0;           // of the current output; at_zero = P(0)
};

bool closed(const GapResult& gap, double target) { return target < infinity && gap.gap() <= target; }

template <class L>
Status solve_output(const L& loss, SdcaState& state, Session& session) {
  const Settings& settings = session.settings;
  Run& run = session.run;
  const double n = std::max<double>(1.0, static_cast<double>(state.movable.size()));
  const bool permute = settings.order == Order::permutation;
  const std::unique_ptr<SdcaHistory> history = make_history(settings, state, session.random, run);
  const bool shrink = permute && history == nullptr;

  std::vector<std::int32_t> order = state.movable;
  GapSchedule schedule(n, settings.tolerance * session.at_zero / 2);
  double visits = 0, violation = infinity, estimate = 0;
  bool full = true;  // the last epoch saw every movable row
  int idle = 0;      // epochs in which nothing moved
  Status status = Status::iteration_limit;
  const auto look = [&] {
    if (history != nullptr) history->enter();
    const GapResult gap = measure_gap(loss, state, run, shrink ? violation : infinity, shrink ? &order : nullptr);
    if (history != nullptr) history->leave();
    run.record(static_cast<std::int64_t>(std::ceil(session.epochs)), session.other_dual + gap.dual,
               session.other_primal + gap.primal);
    schedule.looked(visits, estimate, gap.gap(), settings.tolerance * gap.size());
    return gap;
  };
  // A previous model may be good enough as it is.
  if (settings.initial.has_value() && history == nullptr && closed(look(), schedule.target())) return Status::optimal;
  for (;;) {
    if (settings.order == Order::random)
      for (std::int32_t& i : order) i = state.movable[session.random.below(state.movable.size())];
    if (history != nullptr) history->begin_epoch();
    const EpochResult epoch =
        run_epoch(loss, state, order, shrink ? violation : infinity, permute, session.random, run, history.get());
    visits += epoch.visits;
    estimate = history == nullptr ? epoch.estimate : infinity;
    session.epochs = visits / n;
    violation = epoch.violation > 0 ? epoch.violation : infinity;
    const bool last = epoch.out_of_time || run.exhausted(static_cast<std::int64_t>(std::floor(session.epochs)), status);
    idle = epoch.moved ? 0 : idle + 1;
    // Draws with replacement can miss the row that still has a step to make.
    const bool stuck = idle >= (settings.order == Order::random ? 64 : 1);
    if (!last && !stuck && !schedule.due(visits, estimate)) {
      full = full && order.size() == state.movable.size();
      continue;
    }

    const GapResult gap = look();
    if (closed(gap, schedule.target())) {
      status = Status::optimal;
      break;
    }
    if (last || !(gap.size() < infinity)) break;
    if (stuck && full) break;  // every coordinate is at its maximum in floating point
    full = stuck;
    if (stuck) {
      order = state.movable;
      violation = infinity;
    }
  }
  if (history != nullptr) history->enter();
  return status;
}

Solution Sdca::solve(const Problem& p, const Settings& settings, Monitor& monitor) const {
  Run run(settings, monitor, name(), default_epochs);
  Session session{settings, run, Random(settings.seed)};
  SdcaState state(p);
  Solution solution;
  solution.solver = name();
  solution.weights = Weights::Zero(p.outputs(), p.dimensions());
  solution.intercept = Eigen::VectorXd::Zero(p.outputs());
  solution.dual = Weights::Zero(p.rows(), p.outputs());
  solution.status = Status::optimal;

  // Outputs not yet solved stand at w = 0 and D = 0 in the history.
  std::vector<double> at_zero(static_cast<std::size_t>(p.outputs()), 0.0);
  for (std::int64_t i = 0; i < p.rows(); ++i)
    for (std::int32_t o = 0; o < p.outputs(); ++o)
      at_zero[static_cast<std::size_t>(o)] += p.weight(i) / p.total_weight * p.loss->value(0, p.target(i, o));
  for (const double v : at_zero) session.other_primal += v;

  for (std::int32_t o = 0; o < p.outputs(); ++o) {
    session.at_zero = at_zero[static_cast<std::size_t>(o)];
    session.other_primal -= session.at_zero;
    state.start_output(o);
    start_from(settings, o, state, session.random, run);
    Status status = Status::optimal;
    visit(*p.loss, [&](const auto& loss) { status = solve_output(loss, state, session); });
    if (status != Status::optimal && solution.status != Status::time_limit) solution.status = status;
    solution.iterations = std::max(solution.iterations, static_cast<std::int64_t>(std::ceil(session.epochs)));
    for (std::int32_t j = 0; j < p.dimensions(); ++j)
      solution.weights(o, j) = state.weights[static_cast<std::size_t>(j)];
    solution.intercept[o] = state.intercept;
    for (std::int64_t i = 0; i < p.rows(); ++i) solution.dual(i, o) = state.rows[static_cast<std::size_t>(i)].a;
    if (o + 1 == p.outputs()) break;
    const GapResult done = measure_gap(*p.loss, state, run, infinity, nullptr);
    session.other_primal += done.primal;
    session.other_dual += done.dual;
  }
  solution.trace = run.take_trace();
  return solution;
}

const Sdca instance;

}  // namespace

extern const Solver& sdca;
const Solver& sdca = instance;

}  // namespace margin
