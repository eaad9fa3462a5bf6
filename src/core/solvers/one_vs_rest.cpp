#include "core/solvers/one_vs_rest.hpp"

#include <algorithm>
#include <chrono>

#include "core/base/error.hpp"
#include "core/base/polled.hpp"
#include "core/base/shared_out.hpp"
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

void require_shape(const InitialModel& model, std::size_t outputs, std::size_t features) {
  if (model.weights.size() == outputs * features && (model.intercept.empty() || model.intercept.size() == outputs))
    return;
  throw Error(ErrorKind::wrong_dimensions,
              "the initial model has " + std::to_string(model.weights.size()) + " weights, expected " +
                  std::to_string(outputs) + " x " + std::to_string(features),
              "Start from a model trained on the same features and classes.");
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

Solution solve_one_vs_rest(const Problem& problem, const Options& options, const Progress& progress, double workspace,
                           const SolveBinary& solve) {
  if (problem.outputs() == 1) return solve(problem, options, progress);
  const auto start = std::chrono::steady_clock::now();
  auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  struct Course {
    std::vector<TracePoint> trace;
    double before = 0;  // seconds until its start
    std::int64_t iterations = 0;
    std::string solver;
    Status status = Status::optimal;
  };
  std::vector<Course> courses(static_cast<std::size_t>(problem.outputs()));
  Solution all = zero_solution(problem, "", progress);
  const auto solve_output = [&](std::size_t k, const Progress& own) {
    const auto o = static_cast<std::int32_t>(k);
    Course& course = courses[k];
    course.before = elapsed();
    Options limited = options;
    if (options.max_seconds) limited.max_seconds = std::max(1e-9, *options.max_seconds - course.before);
    Solution one = solve(against_the_rest(problem, o), limited, own);
    all.weights.row(o) = one.weights.row(0);
    all.intercept(o) = one.intercept(0);
    all.dual.col(o) = one.dual.col(0);
    own.work(16.0 * static_cast<double>(problem.rows()));  // a line of the cache each
    course.trace = std::move(one.trace);
    course.iterations = one.iterations;
    course.solver = one.solver;
    course.status = one.status;
  };
  // An output has the time that those before it left. Rows in a file are the session's.
  const double needed = progress.threads().count() * workspace;
  if (!options.max_seconds.has_value() && !problem.data.spilled() && needed <= options.workspace_limit)
    share_out(courses.size(), progress, solve_output);
  else
    for (std::size_t k = 0; k < courses.size(); ++k) solve_output(k, progress);
  for (const Course& course : courses) {
    for (TracePoint point : course.trace) {
      point.iteration += all.iterations;
      point.seconds += course.before;
      all.trace.push_back(point);
    }
    all.iterations += course.iterations;
    if (all.solver.size() < course.solver.size()) all.solver = course.solver;
    all.status = merged(all.status, course.status);
  }
  return all;
}

}  // namespace margin
