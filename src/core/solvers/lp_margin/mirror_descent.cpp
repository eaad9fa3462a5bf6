// mirror_descent: a baseline of dual_ascent.
//
// Problem    min Σ ℓ(m_i(w)), ℓ by the option mirror_loss; its interval is that of the maximum lp margin, 1 < p <= 2.
//              squared_hinge  ½ max(0, 1 − m)², half of a squared distance to [1, ∞)
//              hinge          max(0, 1 − m)
//              squared        ½(1 − m)²
// Update     a row after the other in random order: u −= η ℓ'(m_i) z_i, and w = θ(u) (math/duality_map.hpp), η = (p − 1)/R², R the
//            largest ‖z_i‖_r, with the step '1/sqrt(t)' over √t at draw t: stochastic mirror descent with the map ½‖·‖_p². The
//            intercept is a constant feature of the size of the largest row; the weights that are returned have the best
//            one. α_i is the sum of the steps along row i; where a squared loss makes it negative, its bound counts it as 0.
// Output     the best iterate; last; average: of the w after every draw, for which Theorem 1 holds.
// Stop       as dual_ascent, after every epoch.
// Source     Raj & Bach (2021), Section 2.5, Theorem 1 and Corollary 2.
#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/math/duality_map.hpp"
#include "core/solvers/lp_margin/epochs.hpp"
#include "core/solvers/one_vs_rest.hpp"
#include "core/solvers/output.hpp"
#include "core/solvers/run.hpp"

namespace margin {

namespace {

class MirrorDescent final : public Solver {
 public:
  const SolverRecord& record() const override {
    static const SolverRecord record = {"mirror_descent",
                                        "baseline: stochastic mirror descent on a loss of the margins, 1 < p <= 2",
                                        SolverRecord::hard_margin,
                                        SolverRecord::between | SolverRecord::l2,
                                        SolverRecord::Losses::none,
                                        false,
                                        {"seed", "order", "output", "step", "mirror_loss"},
                                        feature::several_classes};
    return record;
  }
  double workspace(const Problem& p) const override { return lp_steps_workspace(p); }
  Solution solve(const Problem& problem, const Options& options, const Progress& progress) const override {
    return solve_one_vs_rest(problem, options, progress, workspace(problem), binary);
  }

 private:
  std::string limit(const Problem& p) const override { return lp_steps_limit(p); }
  static Solution binary(const Problem& problem, const Options& options, const Progress& progress);
};

/// (p − 1)/R²
double constant_step(const Problem& problem, LpAscent& ascent, Run& run) {
  LpDirection z;
  double longest = 0;
  for (std::int64_t i = 0; i < problem.rows(); ++i) {
    ascent.load(i, z);
    longest = std::max(longest, z.length);
    run.work(20.0 * static_cast<double>(z.values.size()));
  }
  return longest > 0 ? (problem.norm - 1) / (longest * longest) : 1.0;
}

/// Σ of the weights θ(u) after every draw, which is their mean but for a factor.
class WeightSum {
 public:
  void add(const LpAscent& ascent) {
    const Eigen::VectorXd& u = ascent.point();
    if (sum_.size() == 0) sum_ = Eigen::VectorXd::Zero(u.size());
    const double r = ascent.dual_exponent(), length = dual_map(u, r, direction_);
    // θ_j = ‖u‖ (|u_j|/‖u‖)^(r−1), and dual_map() has |u_j|/max |u|.
    if (length > 0) sum_ += length * std::pow(u.cwiseAbs().maxCoeff() / length, r - 1) * direction_;
  }
  const Eigen::VectorXd& value() const { return sum_; }

 private:
  Eigen::VectorXd sum_, direction_;
};

Solution MirrorDescent::binary(const Problem& problem, const Options& options, const Progress& progress) {
  const bool averages = output_of(options, "mirror_descent", {Output::last, Output::average}) == Output::average;
  if (options.step != Step::automatic && options.step != Step::inverse_root)
    throw Error(ErrorKind::unsupported, "solver \"mirror_descent\" takes no steps of this name",
                "Its steps: 1/sqrt(t), or a constant one where the option is left out.");
  const MirrorLoss loss = options.mirror_loss;
  const bool fades = options.step == Step::inverse_root;
  RowOrder order(rows_of(problem), options);
  double rate = 0, draws = 0;
  WeightSum sum;
  EpochMethod method{"mirror_descent", problem.intercept, nullptr};
  method.epoch = [&](Eigen::VectorXd& alpha, LpAscent& ascent, Run& run) {
    if (rate == 0) rate = constant_step(problem, ascent, run);
    // The draw before this one has been stepped along by now.
    bool first = true;
    step_through(order, alpha, ascent, run, [&](double margin) {
      if (averages && !first) sum.add(ascent);
      if (averages) run.work(40.0 * static_cast<double>(ascent.dimensions()));
      first = false;
      const double now = fades ? rate / std::sqrt(++draws) : rate;
      if (loss == MirrorLoss::hinge) return margin < 1 ? now : 0.0;
      return loss == MirrorLoss::squared ? now * (1 - margin) : now * std::max(0.0, 1 - margin);
    });
    if (averages) sum.add(ascent);
  };
  if (averages) method.weights = [&]() -> const Eigen::VectorXd& { return sum.value(); };
  return run_epochs(problem, options, progress, method);
}

const MirrorDescent mirror_descent_solver;

}  // namespace

const Solver& mirror_descent = mirror_descent_solver;

}  // namespace margin
