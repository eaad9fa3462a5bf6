// The loop around the pass of the first-order methods.
#include "core/loss/margin_loss.hpp"
#include "core/solvers/l2_margin/first_order.hpp"
#include "core/solvers/output.hpp"

namespace margin {

namespace {

constexpr std::int64_t default_passes = 10000;

}  // namespace

FirstOrderResult run_first_order(const Problem& problem, const Options& options, Run& run, const Rule& rule,
                                 std::int64_t done, const MarginBounds& known) {
  FirstOrder method(problem, run, margin_loss(problem.loss_name) == MarginLoss::logistic,
                    options.workspace_limit - first_order_workspace(problem));
  MarginStop stop(options, run);
  Solution s;
  s.solver = rule.name;
  const bool keep_best = output_of(options, rule.name, {Output::last}) != Output::last;
  MarginBounds found;
  Eigen::VectorXd offsets = Eigen::VectorXd::Zero(problem.classes);
  for (std::int64_t t = 0;; ++t) {
    method.pass();
    if (!keep_best) found.lower = method.margin();
    if (!keep_best || found.raise(method.margin())) {
      method.keep();
      offsets = method.smallest().best.offset;
    }
    method.average(rule.coefficient(t, method));
    found.upper = method.upper();
    s.iterations = done + t + 1;
    MarginBounds best = known;
    best.raise(found.lower);
    best.reduce(found.upper);
    if (stop(s.iterations, best, s.status)) break;
    rule.step(t, method);
  }
  s.weights = method.kept();
  // Without a separator the smallest margin says nothing about the weights; the last ones classify best.
  if (Weights last; !(found.lower > 0) && (last = method.weights()).norm() > 0) {
    s.weights = std::move(last);
    offsets = method.smallest().best.offset;
  }
  if (s.weights.size() == 0) s.weights = Weights::Zero(problem.outputs(), problem.dimensions());
  s.intercept = intercept_of(problem, offsets);
  s.dual = method.averaged_dual();
  balance_dual(problem, s.dual, run);
  return {std::move(s), found};
}

Solution solve_first_order(const Problem& problem, const Options& options, const Progress& progress, const Rule& rule) {
  Run run(options, progress, rule.name, default_passes);
  Solution s = run_first_order(problem, options, run, rule).solution;
  s.trace = run.take_trace();
  return s;
}

std::string first_order_limit(const Problem& problem) {
  return margin_loss(problem.loss_name) == MarginLoss::logistic && problem.outputs() > 1 && problem.intercept
             ? "it has the logistic loss and more than two classes, which need intercept => false"
             : "";
}

double first_order_workspace(const Problem& problem) {
  return 4 * dual_bytes(problem) + 8.0 * 8 * problem.dimensions() * problem.outputs();
}

}  // namespace margin
