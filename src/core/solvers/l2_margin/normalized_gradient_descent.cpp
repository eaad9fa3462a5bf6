// normalized_gradient_descent: the baseline with rate 1/t.
//
// Problem    max over ‖w‖ ≤ 1 (and b) of the smallest margin.
// Update     w ← w + θ_t v, v = Σ q z with q ∝ ℓ'(−m): the gradient of the risk divided by the risk (β = 0), θ_t = 1 or,
//            with step '1/sqrt(t)', 1/√(t+1).
// Stop       (upper − lower)/upper ≤ tolerance; the upper bound is the average of all v by θ, that is ‖w_t‖/Σ θ.
// Source     Ji, Srebro & Telgarsky (2021), Algorithm 1 without momentum; Ji & Telgarsky (2019) for the rate.
#include "core/solvers/l2_margin/first_order.hpp"
#include "core/solvers/step_sequence.hpp"

namespace margin {

namespace {

class NormalizedGradientDescent final : public Solver {
 public:
  const SolverRecord& record() const override {
    static const SolverRecord record = {
        "normalized_gradient_descent",
        "baseline: gradient descent on the risk with normalised steps (momentum without momentum)",
        SolverRecord::hard_margin,
        SolverRecord::l2,
        SolverRecord::Losses::exponential_or_logistic,
        false,
        {"step", "output"},
        feature::several_classes};
    return record;
  }
  double workspace(const Problem& p) const override { return first_order_workspace(p); }
  Solution solve(const Problem& problem, const Options& options, const Progress& progress) const override {
    const StepSequence theta(options, name());
    const Rule rule{name(), [theta](std::int64_t t, const FirstOrder&) { return theta(t); },
                    [theta](std::int64_t t, FirstOrder& m) { m.step(theta(t)); }};
    return solve_first_order(problem, options, progress, rule);
  }

 private:
  std::string limit(const Problem& p) const override { return first_order_limit(p); }
};

const NormalizedGradientDescent normalized_gradient_descent_solver;

}  // namespace

const Solver& normalized_gradient_descent = normalized_gradient_descent_solver;

}  // namespace margin
