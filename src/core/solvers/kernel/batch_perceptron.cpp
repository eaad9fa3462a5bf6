// kernel_batch_perceptron: supergradient ascent on the smallest margin, through kernel columns.
//
// Problem    max over ‖w‖ ≤ 1 (and b, with two classes) of the smallest margin, w in the kernel's space.
// Update     w ← w + z of the row with the smallest margin (with a free intercept: the mean of the worst row of each
//            class), rows of norm 1 at most (solvers/kernel/ascent.hpp).
// Stop       (upper − lower)/upper ≤ tolerance; the upper bound is the average of the rows added: ‖w_t‖/t.
// Source     A. Cotter, S. Shalev-Shwartz, N. Srebro, The kernelized stochastic batch perceptron, ICML 2012, as used
//            by Ji, Srebro & Telgarsky (2021), Figure 3.
#include "core/solvers/kernel/ascent.hpp"
#include "core/solvers/run.hpp"

namespace margin {

namespace {

class KernelBatchPerceptron final : public Solver {
 public:
  const SolverRecord& record() const override {
    static const SolverRecord record = {
        "kernel_batch_perceptron",
        "baseline: adds the row of smallest margin, one kernel column a step (Cotter, Shalev-Shwartz, "
        "Srebro 2012)",
        SolverRecord::hard_margin,
        SolverRecord::l2,
        SolverRecord::Losses::none,
        true,
        {"output"},
        feature::several_classes};
    return record;
  }
  double workspace(const Problem& p) const override { return kernel_ascent_bytes(p); }
  Solution solve(const Problem& problem, const Options& options, const Progress& progress) const override;

 private:
  std::string limit(const Problem& p) const override { return kernel_ascent_limit(p); }
};

Solution KernelBatchPerceptron::solve(const Problem& problem, const Options& options, const Progress& progress) const {
  return run_kernel_ascent(problem, options, progress, name(), 100000,
                           [](KernelAscent& ascent, const Run&, std::int64_t t) -> UpperEnd {
                             ascent.step(ascent.worst(), 0, 1);
                             return {ascent.norm_of_weights() / static_cast<double>(t + 1), false};
                           });
}

const KernelBatchPerceptron kernel_batch_perceptron_solver;

}  // namespace

const Solver& kernel_batch_perceptron = kernel_batch_perceptron_solver;

}  // namespace margin
