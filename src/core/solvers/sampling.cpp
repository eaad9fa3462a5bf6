// sampling: Algorithm 2, the hard margin by adaptive sampling in the dual.
//
// Problem    max over ‖w‖ ≤ 1 (and b, with two classes) of the smallest margin, w in the kernel's space.
// Update     draw a row i ~ q ∝ exp(−m(w)); g ← β_t (g + z_i); w ← w + θ (g + z_i) (kernel_ascent.hpp). By default
//            β_t = t/(t+1), θ = 1, the parameters of Algorithm 1, which the paper uses in Figure 3 without a proof;
//            with step 'theory' those of Theorem 4.1, β = 0 and θ = sqrt(ln n / T), T = max_iterations: then the margin
//            of w_T is at least γ* − ε with probability 1 − δ for T ≥ max((32 ln n + 64 ln(2/δ))/(γ*² ε²), 32/(δ ε²)).
//            A free intercept: one row from each class, drawn from the class's own soft-min, each with half the weight,
//            so that the sum of the dual weights vanishes at every step.
// Stop       (upper − lower)/upper ≤ tolerance. 2 g_t/t (theory: w_t/(θ t)) is a convex combination of the drawn rows,
//            so its norm is an upper end; the lower end is the best margin seen.
// Source     Ji, Srebro & Telgarsky (2021), Algorithm 2, Theorem 4.1; Section 5.2 for more classes (pairs are drawn).
#include <cmath>
#include <limits>

#include "kernel_ascent.hpp"

namespace margin {

namespace {

constexpr std::int64_t default_steps = 100000;

class Sampling final : public Solver {
 public:
  std::string_view name() const override { return "sampling"; }
  std::string_view problem() const override { return "hard margin, kernel"; }
  std::string_view summary() const override {
    return "adaptive sampling in the dual, one kernel column a step (Ji, Srebro, Telgarsky 2021, Algorithm 2)";
  }
  bool takes_kernels() const override { return true; }
  std::string refusal(const Problem& p) const override { return kernel_ascent_refusal(p); }
  double workspace(const Problem& p) const override { return kernel_ascent_bytes(p); }
  Solution solve(const Problem& problem, const Settings& settings, Monitor& monitor) const override;
};

Solution Sampling::solve(const Problem& problem, const Settings& settings, Monitor& monitor) const {
  Run run(settings, monitor, name(), default_steps);
  auto poll = [&](double operations) { run.work(operations); };
  const KernelRows rows = kernel_rows(problem.data, problem.kernel, poll);
  KernelColumns columns(rows, settings.workspace_limit - kernel_ascent_bytes(problem), poll);
  KernelAscent ascent(problem, rows, columns, run);
  if (ascent.radius() == 0) return ascent.zero_solution(name());
  Random random(settings.seed);

  const bool theory = settings.step == Step::theory;
  const double pairs = static_cast<double>(problem.rows()) * (problem.classes - 1);
  const double theta = theory ? std::sqrt(std::log(pairs) / static_cast<double>(run.max_iterations())) : 1;
  const double target = settings.tolerance * 0.999;
  double lower = 0, upper = std::numeric_limits<double>::infinity();
  Status status = Status::iteration_limit;
  std::int64_t t = 0;
  for (;; ++t) {
    ascent.step(ascent.sample(random), theory ? 0.0 : static_cast<double>(t) / static_cast<double>(t + 1), theta);
    const double now = ascent.lower(), steps = static_cast<double>(t + 1);
    if (t == 0 || now > lower) {
      lower = now;
      ascent.remember();
    }
    if (theory)
      upper = ascent.norm_of_weights() / (theta * steps);
    else if (t > 0)
      upper = 2 * ascent.norm_of_momentum() / static_cast<double>(t);
    run.record(t + 1, lower, upper);
    if (lower > 0 && upper - lower <= target * upper) {
      status = Status::optimal;
      break;
    }
    if (run.exhausted(t + 1, status)) break;
  }
  Solution s = ascent.solution(!theory && t > 0);
  s.solver = name();
  s.status = status;
  s.iterations = t + 1;
  s.trace = run.take_trace();
  return s;
}

const Sampling instance;

}  // namespace

const Solver& sampling = instance;

}  // namespace margin
