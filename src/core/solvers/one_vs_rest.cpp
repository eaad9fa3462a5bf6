#include "core/solvers/one_vs_rest.hpp"

#include <algorithm>
#include <chrono>

#include "core/base/polled.hpp"
#include "core/problem/offset.hpp"

namespace margin {

Status merged(Status a, Status b) {
  for (const Status s : {Status::not_separable, Status::time_limit, Status::iteration_limit})
    if (a == s || b == s) return s;
  return Status::optimal;
}

Solution zero_solution(const Problem& problem, std::string_view solver, const Progress& progress) {
  Solution s;
  s.solver = solver;
  s.status = Status::optimal;
  s.weights = Weights::Zero(problem.outputs(), problem.dimensions());
  hold_offset(problem, s.weights);
  s.intercept = Eigen::VectorXd::Zero(problem.outputs());
  s.dual = polled_zeros(problem.rows(), problem.outputs(), progress);
  return s;
}

std::int32_t solve_outputs(const Problem& problem, Status& status, const std::function<Status(std::int32_t)>& solve,
                           const std::function<bool(Status&)>& exhausted) {
  for (std::int32_t o = 0; o < problem.outputs(); ++o) {
    Status why;
    if (o > 0 && exhausted && exhausted(why)) {
      status = merged(status, why);
      return o;
    }
    status = merged(status, solve(o));
  }
  return problem.outputs();
}

Problem against_the_rest(const Problem& problem, std::int32_t output) {
  Problem binary = problem;
  if (problem.task != Task::multiclass) return binary;
  binary.task = Task::binary;
  binary.classes = 2;
  binary.class_names = {"rest", problem.class_names[static_cast<std::size_t>(output)]};
  for (std::int32_t& label : binary.label) label = label == output ? 1 : 0;
  return binary;
}

Solution solve_one_vs_rest(const Problem& problem, const Options& options, const Progress& progress,
                           const SolveBinary& solve) {
  if (problem.outputs() == 1) return solve(problem, options, progress);
  const auto start = std::chrono::steady_clock::now();
  auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  Solution all = zero_solution(problem, "", progress);
  solve_outputs(problem, all.status, [&](std::int32_t o) {
    const double before = elapsed();
    Options own = options;
    if (options.max_seconds) own.max_seconds = std::max(1e-9, *options.max_seconds - before);
    const Solution one = solve(against_the_rest(problem, o), own, progress);
    all.weights.row(o) = one.weights.row(0);
    all.intercept(o) = one.intercept(0);
    all.dual.col(o) = one.dual.col(0);
    progress.work(16.0 * static_cast<double>(problem.rows()));  // a line of the cache each
    for (TracePoint point : one.trace) {
      point.iteration += all.iterations;
      point.seconds += before;
      all.trace.push_back(point);
    }
    all.iterations += one.iterations;
    if (all.solver.size() < one.solver.size()) all.solver = one.solver;
    return one.status;
  });
  return all;
}

}  // namespace margin
