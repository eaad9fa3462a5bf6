// kernel_momentum: Algorithm 1 through kernel values, the l2 margin of kernel machines by dual acceleration.
//
// Problem    max over ‖w‖ ≤ 1 (and b, with two classes) of the smallest margin, w in the kernel's space.
// Update     as momentum, with v = Σ q_i z_i over all rows, q ∝ ℓ'(−m(w)): g ← β_t (g + v), w ← w + θ_t (g + v)
//            (solvers/kernel/ascent.hpp), β_t = t/(t+1), or 0 with accelerated => false (normalised gradient descent);
//            θ_t = 1 or 1/√(t+1), with the logistic loss and β_t above 0 divided by the number of rows (its smoothness). An iteration
//            reads every kernel column whose row carries weight.
// Stop       (upper − lower)/upper ≤ tolerance. g_t and w_t are positive combinations of rows, so that their norm over
//            the weights' sum is an upper bound; the lower bound is the best margin seen (of w_t with output => 'last').
// Source     Ji, Srebro & Telgarsky (2021), Algorithm 1, Theorem 3.1, Section 4 (kernels); Section 5.1 (logistic).
#include <cmath>

#include "core/loss/margin_loss.hpp"
#include "core/solvers/kernel/ascent.hpp"
#include "core/solvers/run.hpp"
#include "core/solvers/step_sequence.hpp"

namespace margin {

namespace {

class KernelMomentum final : public Solver {
 public:
  const SolverRecord& record() const override {
    static const SolverRecord record = {"kernel_momentum",
                                        "maximum margin of kernel machines by dual acceleration, all kernel columns a "
                                        "step (Ji, Srebro, Telgarsky 2021, "
                                        "Algorithm 1)",
                                        SolverRecord::hard_margin,
                                        SolverRecord::l2,
                                        SolverRecord::Losses::exponential_or_logistic,
                                        true,
                                        {"step", "accelerated", "output"},
                                        feature::several_classes};
    return record;
  }
  double workspace(const Problem& p) const override {
    return kernel_ascent_bytes(p) + 32.0 * static_cast<double>(p.rows()) * p.outputs();
  }
  Solution solve(const Problem& problem, const Options& options, const Progress& progress) const override {
    const StepSequence theta(options, name());
    const bool accelerated = options.accelerated.value_or(true),
               logistic = margin_loss(problem.loss_name) == MarginLoss::logistic;
    const double pairs = static_cast<double>(problem.rows()) * (problem.classes - 1),
                 unit = logistic && accelerated ? 1 / pairs : 1.0;
    double mass_of_g = 0, mass_of_w = 0;
    return run_kernel_ascent(problem, options, progress, name(), default_iterations,
                             [&](KernelAscent& ascent, const Run&, std::int64_t t) -> UpperEnd {
                               const auto time = static_cast<double>(t);
                               const double beta = accelerated ? time / (time + 1) : 0, size = unit * theta(t);
                               double mass = 0;
                               const std::vector<KernelAscent::Choice> v = ascent.soft_min(mass);
                               ascent.step(v, beta, size);
                               mass_of_w += size * (beta * (mass_of_g + mass) + mass);
                               mass_of_g = beta * (mass_of_g + mass);
                               if (accelerated && t > 0) return {ascent.norm_of_momentum() / mass_of_g, true};
                               return {ascent.norm_of_weights() / mass_of_w, false};
                             });
  }

 private:
  std::string limit(const Problem& p) const override { return kernel_ascent_limit(p); }

  static constexpr std::int64_t default_iterations = 1000;
};

const KernelMomentum kernel_momentum_solver;

}  // namespace

extern const Solver& kernel_momentum;
const Solver& kernel_momentum = kernel_momentum_solver;

}  // namespace margin
