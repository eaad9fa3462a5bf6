// perceptron: a baseline of dual_ascent.
//
// Problem    any separator; its interval is that of the maximum lp margin, 1 < p <= 2.
// Update     a row after the other in random order; where w errs or has margin 0, u += z_i, and w = θ(u)
//            (math/duality_map.hpp). The intercept is a constant feature of the size of the largest row, as is usual;
//            the weights that are returned have the best one. α_i counts the updates of row i: their sum (dual_weights)
//            is the number of mistakes.
// Stop       as dual_ascent, after every epoch; an epoch without a mistake changes nothing and ends the run.
// Source     Rosenblatt (1958); in lp norms Grove, Littlestone, Schuurmans (2001).
#include <algorithm>
#include <cmath>

#include "core/solvers/lp_margin/epochs.hpp"
#include "core/solvers/one_vs_rest.hpp"
#include "core/solvers/output.hpp"
#include "core/solvers/run.hpp"

namespace margin {

namespace {

class Perceptron final : public Solver {
 public:
  const SolverRecord& record() const override {
    static const SolverRecord record = {"perceptron",
                                        "baseline: the perceptron, 1 < p <= 2: adds each row that it errs on",
                                        SolverRecord::hard_margin,
                                        SolverRecord::between | SolverRecord::l2,
                                        SolverRecord::Losses::none,
                                        false,
                                        {"seed", "order", "output"},
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

Solution Perceptron::binary(const Problem& problem, const Options& options, const Progress& progress) {
  output_of(options, "perceptron", {Output::last});
  RowOrder order(rows_of(problem), options);
  bool settled = false;
  auto epoch = [&](Eigen::VectorXd& alpha, LpAscent& ascent, Run& run) {
    settled = options.order != Order::random &&
              options.order != Order::proportional;  // an epoch of random draws may have missed rows
    step_through(order, alpha, ascent, run, [&](double margin) {
      if (margin > 0) return 0.0;
      settled = false;
      return 1.0;
    });
  };
  return run_epochs(problem, options, progress, {"perceptron", problem.intercept, epoch, [&] { return settled; }});
}

const Perceptron perceptron_solver;

}  // namespace

const Solver& perceptron = perceptron_solver;

}  // namespace margin
