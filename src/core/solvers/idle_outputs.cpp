#include "core/solvers/idle_outputs.hpp"

#include <cmath>
#include <limits>

#include "core/base/polled.hpp"
#include "core/loss/loss.hpp"
#include "core/problem/offset.hpp"
#include "core/solvers/run.hpp"

namespace margin {

namespace {

/// Where no weights of 0 are allowed: of those nearest to them, with their penalty.
std::vector<double> risk_of_least_weights(const Problem& p, double score, Run& run) {
  const std::vector<double> w = p.least_weights(static_cast<std::size_t>(p.dimensions()));
  double penalty = 0;
  for (std::size_t j = 0; j < w.size(); ++j)
    if (p.penalises(static_cast<std::int32_t>(j)))
      penalty += p.lambda * p.factor(j) * (p.l1_ratio * std::fabs(w[j]) + (1 - p.l1_ratio) / 2 * w[j] * w[j]);
  std::vector<double> risk(static_cast<std::size_t>(p.outputs()), penalty);
  for (std::int64_t i = 0; i < p.rows(); ++i) {
    const Row x = p.data.row(i);
    const double u = score + dot(x, w.data()), share = p.weight(i) / p.total_weight;
    for (std::int32_t o = 0; o < p.outputs(); ++o)
      risk[static_cast<std::size_t>(o)] += share * p.loss->value(u, p.target(i, o));
    run.work(x.count + 16.0 * p.outputs());
  }
  return risk;
}

}  // namespace

std::vector<double> risk_of_constant(const Problem& problem, double score, Run& run) {
  std::vector<double> risk(static_cast<std::size_t>(problem.outputs()), 0.0);
  if (!problem.hold_zeros()) {
    if (problem.constraints.empty()) return risk_of_least_weights(problem, score, run);
    return std::vector<double>(risk.size(), std::numeric_limits<double>::infinity());  // nothing is known yet
  }
  if (problem.task == Task::binary && problem.offset < 0) {
    const double value[2] = {problem.loss->value(score, -1), problem.loss->value(score, 1)};
    const double share = 1 / problem.total_weight;
    polled_each(problem.rows(), 4, run, [&](std::int64_t i) {
      const double c = problem.row_weight.empty() ? share : problem.weight(i) / problem.total_weight;
      risk[0] += c * value[problem.label[static_cast<std::size_t>(i)] == 1 ? 1 : 0];
    });
    return risk;
  }
  if (problem.task != Task::multiclass) {
    for (std::int64_t i = 0; i < problem.rows(); ++i) {
      const double u =
          problem.offset < 0 ? score : score + problem.offset_weight() * offset_of(problem.data.row(i), problem.offset);
      risk[0] += problem.weight(i) / problem.total_weight * problem.loss->value(u, problem.target(i, 0));
      run.work(16);
    }
    return risk;
  }
  // One against the rest: by the weight of each class, not by rows × classes.
  double all = 0;
  for (std::int64_t i = 0; i < problem.rows(); ++i) {
    const double share = problem.weight(i) / problem.total_weight;
    risk[static_cast<std::size_t>(problem.label[static_cast<std::size_t>(i)])] += share;
    all += share;
    run.work(8);
  }
  const double own = problem.loss->value(score, 1), rest = problem.loss->value(score, -1);
  for (double& r : risk) r = r * own + (all - r) * rest;
  return risk;
}

void leave_idle(const Problem& problem, std::int32_t first, Solution& s, Run& run) {
  if (!problem.hold_zeros()) return;  // the intercept -1 is a guess for scores of 0
  if (first == problem.outputs() || !problem.intercept || problem.task != Task::multiclass) return;
  const std::vector<double> zero = risk_of_constant(problem, 0, run), none = risk_of_constant(problem, -1, run);
  const double penalty =
      problem.free_intercept ? 0.0 : 0.5 * problem.lambda / (problem.intercept_scale * problem.intercept_scale);
  for (std::int32_t o = first; o < problem.outputs(); ++o)
    if (none[static_cast<std::size_t>(o)] + penalty < zero[static_cast<std::size_t>(o)]) s.intercept[o] = -1;
}

}  // namespace margin
