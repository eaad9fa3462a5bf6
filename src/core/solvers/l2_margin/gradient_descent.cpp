// gradient_descent: the plain baseline, which maximises the margin only at the rate 1/log t.
//
// Problem    the risk R(w) = (1/n) Σ ℓ(−m_i), whose descent direction tends to the maximum margin's.
// Update     w ← w − ∇R(w) = w + (1/n) Σ ℓ'(−m_i) z_i, rows scaled to norm ≤ 1, step size 1. With a free intercept
//            (two classes) R is minimised over b in every step: 2/n · sqrt of the product of the class sums.
// Stop       (upper − lower)/upper ≤ tolerance; the upper bound is the step-weighted average of the weights q.
// Source     Ji, Srebro & Telgarsky (2021), Figure 1 and Appendix F; Soudry et al. (2017) for the rate.
#include <algorithm>
#include <cmath>

#include "core/solvers/l2_margin/first_order.hpp"

namespace margin {

namespace {

class GradientDescent final : public Solver {
 public:
  const SolverRecord& record() const override {
    static const SolverRecord record = {"gradient_descent",
                                        "baseline: gradient descent on the exponential or logistic risk, step size 1",
                                        SolverRecord::hard_margin,
                                        SolverRecord::l2,
                                        SolverRecord::Losses::exponential_or_logistic,
                                        false,
                                        {"output"},
                                        feature::several_classes};
    return record;
  }
  double workspace(const Problem& p) const override { return first_order_workspace(p); }
  Solution solve(const Problem& problem, const Options& options, const Progress& progress) const override {
    const double pairs = static_cast<double>(problem.rows()) * (problem.classes - 1);
    auto size = [pairs](const FirstOrder& m) {
      return std::min(1e100, m.banks() / pairs * std::exp(m.log_gradient()));
    };
    const Rule rule{name(), [=](std::int64_t, const FirstOrder& m) { return size(m); },
                    [=](std::int64_t, FirstOrder& m) { m.step(size(m)); }};
    return solve_first_order(problem, options, progress, rule);
  }

 private:
  std::string limit(const Problem& p) const override { return first_order_limit(p); }
};

const GradientDescent gradient_descent_solver;

}  // namespace

const Solver& gradient_descent = gradient_descent_solver;

}  // namespace margin
