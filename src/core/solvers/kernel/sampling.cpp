// sampling: Algorithm 2, the hard margin by adaptive sampling in the dual.
//
// Problem    max over ‖w‖ ≤ 1 (and b, with two classes) of the smallest margin, w in the kernel's space.
// Update     draw a row i ~ q ∝ ℓ'(−m(w)), ℓ the exponential or the logistic loss; g ← β_t (g + z_i); w ← w + θ (g + z_i) (solvers/kernel/ascent.hpp). By
// default
//            β_t = t/(t+1) (0 with accelerated => false), θ = 1 (or 1/√(t+1)), the parameters of Algorithm 1, which the paper uses in Figure 3 without a proof;
//            with step 'theory' those of Theorem 4.1, β = 0 and θ = sqrt(ln n / T), T = max_iterations: then the margin
//            of w_T is at least γ* − ε with probability 1 − δ for T ≥ max((32 ln n + 64 ln(2/δ))/(γ*² ε²), 32/(δ ε²)).
//            A free intercept: one row from each class, drawn from the class's own soft-min, each with half the weight,
//            so that the sum of the dual weights vanishes at every step.
// Stop       (upper − lower)/upper ≤ tolerance. 2 g_t/t (theory: w_t/(θ t)) is a convex combination of the drawn rows,
//            so its norm is an upper bound; the lower bound is the best margin seen (of w_t with output => 'last').
// Source     Ji, Srebro & Telgarsky (2021), Algorithm 2, Theorem 4.1; Section 5.2 for more classes (pairs are drawn).
#include <cmath>

#include "core/base/error.hpp"
#include "core/solvers/kernel/ascent.hpp"
#include "core/solvers/run.hpp"
#include "core/solvers/step_sequence.hpp"

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
        SolverRecord::Losses::exponential_or_logistic,
        true,
        {"seed", "step", "accelerated", "output"},
        feature::several_classes};
    return record;
  }
  double workspace(const Problem& p) const override { return kernel_ascent_bytes(p); }
  Solution solve(const Problem& problem, const Options& options, const Progress& progress) const override;

 private:
  std::string limit(const Problem& p) const override { return kernel_ascent_limit(p); }
};

Solution Sampling::solve(const Problem& problem, const Options& options, const Progress& progress) const {
  const bool theory = options.step == Step::theory;
  Options own = options;
  if (theory) own.step = Step::automatic;
  const StepSequence sequence(own, name());
  const bool accelerated = !theory && options.accelerated.value_or(true);
  if (theory && options.accelerated.value_or(false))
    throw Error(ErrorKind::unsupported, "theory steps of sampling have no momentum",
                "Leave accelerated out, or leave step out.");
  const double pairs = static_cast<double>(problem.rows()) * (problem.classes - 1);
  Random random(options.seed);
  double sum = 0;  // of θ
  return run_kernel_ascent(problem, options, progress, name(), 100000,
                           [&](KernelAscent& ascent, const Run& run, std::int64_t t) -> UpperEnd {
                             const double steps = static_cast<double>(t + 1);
                             const double theta =
                                 theory ? std::sqrt(std::log(pairs) / static_cast<double>(run.max_iterations()))
                                        : sequence(t);
                             if (!accelerated) {
                               ascent.step(ascent.sample(random), 0, theta);
                               sum += theta;
                               return {ascent.norm_of_weights() / sum, false};
                             }
                             ascent.step(ascent.sample(random), static_cast<double>(t) / steps, theta);
                             if (t == 0) return {};
                             return {2 * ascent.norm_of_momentum() / static_cast<double>(t), true};
                           });
}

const Sampling sampling_solver;

}  // namespace

const Solver& sampling = sampling_solver;

}  // namespace margin
