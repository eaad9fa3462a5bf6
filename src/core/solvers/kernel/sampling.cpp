// sampling: Algorithm 2, the hard margin by adaptive sampling in the dual.
//
// Problem    max over ‖w‖ ≤ 1 (and b, with two classes) of the smallest margin, w in the kernel's space.
// Update     draw a row i ~ q ∝ exp(−m(w)); g ← β_t (g + z_i); w ← w + θ (g + z_i) (solvers/kernel/ascent.hpp). By
// default
//            β_t = t/(t+1), θ = 1, the parameters of Algorithm 1, which the paper uses in Figure 3 without a proof;
//            with step 'theory' those of Theorem 4.1, β = 0 and θ = sqrt(ln n / T), T = max_iterations: then the margin
//            of w_T is at least γ* − ε with probability 1 − δ for T ≥ max((32 ln n + 64 ln(2/δ))/(γ*² ε²), 32/(δ ε²)).
//            A free intercept: one row from each class, drawn from the class's own soft-min, each with half the weight,
//            so that the sum of the dual weights vanishes at every step.
// Stop       (upper − lower)/upper ≤ tolerance. 2 g_t/t (theory: w_t/(θ t)) is a convex combination of the drawn rows,
//            so its norm is an upper bound; the lower bound is the best margin seen.
// Source     Ji, Srebro & Telgarsky (2021), Algorithm 2, Theorem 4.1; Section 5.2 for more classes (pairs are drawn).
#include <cmath>

#include "core/base/error.hpp"
#include "core/solvers/kernel/ascent.hpp"
#include "core/solvers/run.hpp"

namespace margin {

namespace {

class Sampling final : public Solver {
 public:
  const SolverRecord& record() const override {
    static const SolverRecord record = {
        "sampling",
        "adaptive sampling in the dual, one kernel column a step (Ji, Srebro, Telgarsky 2021, Algorithm "
        "2)",
        SolverRecord::hard_margin,
        SolverRecord::l2,
        SolverRecord::Losses::none,
        true,
        {"seed", "step"}};
    return record;
  }
  std::string unsupported_reason(const Problem& p) const override { return kernel_ascent_refusal(p); }
  double workspace(const Problem& p) const override { return kernel_ascent_bytes(p); }
  Solution solve(const Problem& problem, const Options& options, const Progress& progress) const override;
};

Solution Sampling::solve(const Problem& problem, const Options& options, const Progress& progress) const {
  if (options.step != Step::automatic && options.step != Step::theory)
    throw Error(ErrorKind::unsupported, "sampling takes theory steps, or leave step out",
                "quadratic, wolfe, adaboost and optimal steps are those of boosting or dual_ascent.");
  const bool theory = options.step == Step::theory;
  const double pairs = static_cast<double>(problem.rows()) * (problem.classes - 1);
  Random random(options.seed);
  return run_kernel_ascent(
      problem, options, progress, name(), [&](KernelAscent& ascent, const Run& run, std::int64_t t) -> UpperEnd {
        const double steps = static_cast<double>(t + 1);
        if (theory) {
          const double theta = std::sqrt(std::log(pairs) / static_cast<double>(run.max_iterations()));
          ascent.step(ascent.sample(random), 0, theta);
          return {ascent.norm_of_weights() / (theta * steps), false};
        }
        ascent.step(ascent.sample(random), static_cast<double>(t) / steps, 1);
        if (t == 0) return {};
        return {2 * ascent.norm_of_momentum() / static_cast<double>(t), true};
      });
}

const Sampling instance;

}  // namespace

const Solver& sampling = instance;

}  // namespace margin
