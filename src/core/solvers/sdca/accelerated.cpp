// sdca+accelerated: accelerated proximal coordinate ascent on the dual of a regularised risk of a smooth loss.
//
// Problem    min P(w, b) of certificate/risk.hpp with l1_ratio = 0, one output after another, through its dual D(a).
// Update     for one row i, N of them, s_i as in loss/loss.hpp, S = max s_i, μ = γ/(S + γ), α = √μ/N:
//              y = (x + α z)/(1 + α)
//              z⁺_i = argmax over a of −φ*(−a) − (<w(y), x_i> + γ (y_i − z°_i)) a − (c/2)(a − z°_i)²,
//                     z° = (1 − α) z + α y,  c = √(γ (S + γ)) − γ;  z⁺_j = z°_j elsewhere
//              x⁺ = y + √μ (z⁺ − z°)
//            The quadratic part of φ*, γ a²/2, is taken with the smooth part of the dual, as its strong convexity has to be.
//            Written as x = ρᵏu + v, z = −ρᵏu + v, y = ρᵏ⁺¹u + v, ρ = (1 − α)/(1 + α), a step changes u_i, v_i and adds the
//            row to two vectors of weights. u takes its power of ρ in after each epoch.
//            Rows come by draws, as the proof asks, or in permutations; in the same order every time the steps may diverge.
// Stop       as sdca: by the gap of x and w(x), measured after epochs 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, … With the option `history`
//            the other epochs are measured too, to be recorded and nothing else.
// Output     the weights of the least P; last: those of the last x.
// Source     A. Raj, F. Bach, 2021, Corollary C.2; the steps: Q. Lin, Z. Lu, L. Xiao, An accelerated randomized proximal
//            coordinate gradient method, 2015, Algorithms 2 and 4.
#include <algorithm>
#include <cmath>
#include <optional>

#include "core/base/error.hpp"
#include "core/base/random.hpp"
#include "core/loss/registry.hpp"
#include "core/math/rounding.hpp"
#include "core/problem/thresholds.hpp"
#include "core/solvers/idle_outputs.hpp"
#include "core/solvers/one_vs_rest.hpp"
#include "core/solvers/output.hpp"
#include "core/solvers/run.hpp"
#include "core/solvers/sdca/epoch.hpp"
#include "core/solvers/sdca/shuffle.hpp"
#include "core/solvers/sdca/state.hpp"

namespace margin {

namespace {

constexpr std::int64_t accelerated_epochs = 1000;

class AcceleratedSdca final : public Solver {
 public:
  const SolverRecord& record() const override {
    static const SolverRecord record = {"sdca+accelerated",
                                        "accelerated stochastic dual coordinate ascent on a smooth loss",
                                        SolverRecord::soft_margin,
                                        SolverRecord::l2,
                                        SolverRecord::Losses::smooth,
                                        false,
                                        {"seed", "order", "output", "gap_tolerance", "accelerated"},
                                        one_vs_rest_or_numbers,
                                        0,
                                        0,
                                        {},
                                        "sdca",
                                        {},
                                        true};
    return record;
  }
  double workspace(const Problem& p) const override {
    return static_cast<double>(p.rows()) * (sizeof(Coordinate) + 24.0 + 8.0 * p.outputs()) +
           p.dimensions() * 8.0 * (p.outputs() + 5.0);
  }
  Solution solve(const Problem& p, const Options& options, const Progress& progress) const override;

 private:
  std::string limit(const Problem& p) const override { return rows_limit(p); }
};

/// What a row's dual values at x, y and z are made of.
struct Pair {
  double u = 0, v = 0;
};

/// What the solve of all outputs shares.
struct AcceleratedSession {
  const Options& options;
  Run& run;
  Random random;
  double gap_tolerance;  ///< of each output
  double other_primal = 0, other_dual = 0;
  double primal = 0, dual = 0;  ///< of the output at hand, as last measured
  std::int64_t epochs = 0;
};

/// The ascent of one output.
template <class L>
class Ascent {
 public:
  Ascent(const L& loss, SdcaState& state, AcceleratedSession& session)
      : loss_(loss),
        state_(state),
        session_(session),
        order_(state.movable),
        pairs_(state.rows.size()),
        p_(state.weights.size(), 0.0),
        q_(state.weights.size(), 0.0) {
    double largest = 0;
    for (const std::int32_t i : order_) largest = std::max(largest, state.rows[static_cast<std::size_t>(i)].s);
    const double gamma = loss.smoothness();
    root_ = std::sqrt(gamma / (largest + gamma));
    curvature_ = std::sqrt(gamma) * (std::sqrt(largest + gamma) - std::sqrt(gamma));
    const double alpha = root_ / std::max<double>(1, static_cast<double>(order_.size()));
    ratio_ = (1 - alpha) / (1 + alpha);
  }

  Status run() {
    const bool keep_best = !asks_for_output(session_.options);
    double best = infinity;
    std::vector<double> weights = state_.weights;
    double intercept = 0;
    Status status = Status::iteration_limit;
    std::int64_t next = 1;
    for (session_.epochs = 0;;) {
      run_one_epoch();
      ++session_.epochs;
      const bool last = session_.run.exhausted(session_.epochs, status) || order_.empty();
      const bool due = last || session_.epochs >= next;
      if (!due && !session_.options.history) continue;
      adopt();
      GapResult gap = measure_gap(loss_, state_, session_.run, infinity, nullptr);
      const bool better = !keep_best || gap.primal < best;
      if (due && better) {
        best = gap.primal;
        weights = state_.weights;
        intercept = state_.intercept;
      }
      if (!better) gap.primal = best;
      session_.run.record(session_.epochs, session_.other_dual + gap.dual, session_.other_primal + gap.primal);
      if (!due) continue;
      next = session_.epochs + std::max<std::int64_t>(1, session_.epochs / 4);
      session_.primal = gap.primal;
      session_.dual = gap.dual;
      const double target = certifiable * std::max(session_.options.tolerance * gap.size(), session_.gap_tolerance);
      if (gap.size() < infinity && gap.gap() <= target) status = Status::optimal;
      if (last || status == Status::optimal || !(gap.size() < infinity)) break;
    }
    state_.weights = weights;
    state_.intercept = intercept;
    return status;
  }

 private:
  void run_one_epoch() {
    const double feature =
        state_.problem.intercept ? state_.problem.intercept_scale * state_.problem.intercept_scale : 0;
    const double gamma = loss_.smoothness();
    std::optional<Shuffle> permutation;
    if (session_.options.order == Order::permutation)
      permutation.emplace(order_, session_.random, state_.stretches, session_.run);
    double power = 1;
    for (std::size_t k = 0; k < order_.size() && !session_.run.out_of_time(); ++k) {
      const std::int32_t i = permutation ? permutation->settle(k) : order_[session_.random.below(order_.size())];
      const Coordinate& row = state_.rows[static_cast<std::size_t>(i)];
      Pair& a = pairs_[static_cast<std::size_t>(i)];
      power *= ratio_;
      const double score = power * (dot(row.x, p_.data()) + p_intercept_) + dot(row.x, q_.data()) + q_intercept_;
      const double y = power * a.u + a.v, z = a.v - power * a.u;
      const double step = loss_.dual_step(score + gamma * (y - z), row.y, z, curvature_) - z;
      if (step != 0) {
        const double in_u = -(1 - root_) / (2 * power) * step, in_v = (1 + root_) / 2 * step;
        a.u += in_u;
        a.v += in_v;
        add(row.scale * in_u, row.x, p_.data());
        add(row.scale * in_v, row.x, q_.data());
        p_intercept_ += row.scale * in_u * feature;
        q_intercept_ += row.scale * in_v * feature;
      }
      session_.run.work(8.0 * row.x.count + 64.0);
    }
    for (Pair& a : pairs_) a.u *= power;
    for (double& w : p_) w *= power;
    p_intercept_ *= power;
    session_.run.work(static_cast<double>(pairs_.size() + p_.size()));
  }

  /// x and the weights that follow from it.
  void adopt() {
    for (const std::int32_t i : state_.movable) {
      Coordinate& row = state_.rows[static_cast<std::size_t>(i)];
      const Pair& a = pairs_[static_cast<std::size_t>(i)];
      row.a = loss_.project(a.u + a.v, row.y);
    }
    state_.refresh_weights();
  }

  const L& loss_;
  SdcaState& state_;
  AcceleratedSession& session_;
  std::vector<std::int32_t> order_;
  std::vector<Pair> pairs_;    // of each row, in the order of the data
  std::vector<double> p_, q_;  // w(u), w(v)
  double p_intercept_ = 0, q_intercept_ = 0;
  double root_ = 1, curvature_ = 0, ratio_ = 1;  // √μ, c, ρ
};

Solution AcceleratedSdca::solve(const Problem& p, const Options& options, const Progress& progress) const {
  output_of(options, name(), {Output::last});
  if (options.order != Order::permutation && options.order != Order::random)
    throw Error(ErrorKind::unsupported, "accelerated steps draw rows at random, each with the same probability",
                "Give order => 'random' or 'permutation', or leave accelerated out.");
  Run run(options, progress, name(), accelerated_epochs);
  AcceleratedSession session{options, run, Random(options.seed), options.gap_tolerance / p.outputs()};
  SdcaState state(p, run);
  Solution solution = zero_solution(p, name(), progress);
  // Outputs not yet solved stand at w = 0 and D = 0 in the history.
  const std::vector<double> at_zero = risk_of_constant(p, 0, run);
  for (const double v : at_zero) session.other_primal += v;
  const auto solve_output = [&](std::int32_t o) {
    session.other_primal -= at_zero[static_cast<std::size_t>(o)];
    state.start_output(o);
    Status status = Status::optimal;
    visit(*p.loss,
          [&](const auto& loss) { status = Ascent<std::decay_t<decltype(loss)>>(loss, state, session).run(); });
    solution.iterations = std::max(solution.iterations, session.epochs);
    state.store(o, solution);
    session.other_primal += session.primal;
    session.other_dual += session.dual;
    return status;
  };
  leave_idle(p, solve_outputs(p, solution.status, solve_output, time_is_up(run)), solution, run);
  solution.trace = run.take_trace();
  return solution;
}

const AcceleratedSdca sdca_accelerated_solver;

}  // namespace

extern const Solver& sdca_accelerated;
const Solver& sdca_accelerated = sdca_accelerated_solver;

}  // namespace margin
