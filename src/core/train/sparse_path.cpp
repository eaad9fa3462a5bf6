#include "core/train/sparse_path.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "core/certificate/column_check.hpp"
#include "core/certificate/final_status.hpp"
#include "core/loss/loss.hpp"
#include "core/problem/thresholds.hpp"
#include "core/solvers/elastic_net/elastic_net.hpp"
#include "core/solvers/readers.hpp"
#include "core/solvers/run.hpp"
#include "core/train/model_parts.hpp"
#include "core/train/path.hpp"

namespace margin {

namespace {

constexpr std::size_t default_count = 100;
constexpr double default_range = 1e-4, default_range_wide = 1e-2;

std::vector<double> falling_lambdas(double largest, bool wide) {
  if (!(largest > 0)) return {1.0};
  std::vector<double> lambdas;
  const double ratio = wide ? default_range_wide : default_range;
  for (std::size_t k = 0; k < default_count; ++k) {
    const double lambda = largest * std::pow(ratio, static_cast<double>(k) / (default_count - 1));
    lambdas.push_back(std::clamp(lambda, 1e-300, 1e300));
  }
  return lambdas;
}

}  // namespace

bool is_sparse_path(const Options& s) {
  const Solver* const named = find_solver(s.solver);
  const bool ours = s.solver == "auto" ? &likely_solver_of_auto(s) == find_solver("prox_newton")
                                       : named != nullptr && named == find_solver("prox_newton");
  return ours && s.l1_ratio > 0 && !s.hard_margin() && !s.history && !s.dual_weights &&
         s.calibration == Calibrate::none;
}

std::vector<double> sparse_lambdas(const Dataset& data, const Options& given, const Progress& progress,
                                   MemoryBudget memory) {
  Options settings = given;
  settings.lambda = 1;
  settings.workspace_limit = memory.left_or(settings.workspace_limit);
  const Problem problem = make_problem(data, settings, progress);
  const Solver& solver = choose_solver(problem, settings);
  if (solver.name() != "prox_newton") return {};
  memory.require(solver.workspace(problem), "solver \"" + std::string(solver.name()) + "\"");
  ColumnRisk risk(problem, progress);
  ElasticNet net(risk);
  double largest = 0;
  for (std::int32_t o = 0; o < problem.outputs(); ++o) {
    risk.select(o);
    risk.move(std::vector<double>(risk.features(), 0.0), 0);
    largest = std::max(largest, net.largest_lambda());
  }
  return falling_lambdas(largest, problem.dimensions() > problem.rows());
}

std::vector<double> follow_sparse_path(const Dataset& data, const Options& given, std::vector<double> lambdas,
                                       const Progress& progress, MemoryBudget memory,
                                       const std::function<void(std::size_t, Model&&)>& visit) {
  using Clock = std::chrono::steady_clock;
  Options settings = given;
  settings.workspace_limit = memory.left_or(settings.workspace_limit);
  Problem problem = make_problem(data, settings, progress);
  const Solver& solver = choose_solver(problem, settings);
  if (solver.name() != "prox_newton" || problem.outputs() != 1) return {};
  require_readers(settings, solver, losses_of(settings));
  memory.require(solver.workspace(problem), "solver \"" + std::string(solver.name()) + "\"");

  auto start = Clock::now();
  ColumnRisk risk(problem, progress);
  ElasticNet net(risk);
  const ColumnCheck check(problem);
  risk.select(0);
  risk.move(std::vector<double>(risk.features(), 0.0), 0);
  const double largest = net.largest_lambda();
  if (lambdas.empty()) lambdas = falling_lambdas(largest, problem.dimensions() > problem.rows());
  const double constant = constant_failure(problem, progress);
  for (const std::size_t k : falling_order(lambdas)) {
    settings.lambda = problem.lambda = lambdas[k];
    Run run(settings, progress, solver.name(), 1000);
    const double aim = certifiable * settings.tolerance;
    Model model = begin_model(problem, settings);
    Status status = Status::iteration_limit;
    std::int64_t steps = 0;
    double best = std::numeric_limits<double>::infinity(), b = 0;
    bool stuck = false;
    for (int idle = 0;;) {
      const ColumnRisk::Interval at = net.interval(problem.lambda);
      run.record(steps, at.dual, at.primal);
      const double gap = at.primal - at.dual;
      const double wanted = aim * std::max(std::fabs(at.primal), std::fabs(at.dual));
      idle = gap < 0.9 * best ? 0 : idle + 1;
      best = std::min(best, gap);
      const bool exhausted = run.exhausted(steps, status);
      stuck |= idle > 20 || exhausted || !std::isfinite(gap);
      if (gap <= wanted || stuck) {
        // Bounds on rounding have the last word; where they leave too much, another step may help.
        b = rounded_intercept(problem, risk.b());
        model.certificate = check.certificate(risk, problem.lambda, b, at.scale);
        if (model.certificate.relative_gap <= settings.tolerance) status = Status::optimal;
        if (status == Status::optimal || stuck || gap <= 0.01 * wanted) break;
      }
      ++steps;
      stuck = !net.step(problem.lambda, at, 0.1 * wanted);
    }
    model.certificate.constant_failure = constant;
    model.solver = solver.name();
    model.status = final_status(model.certificate, certified_problem(problem), settings.tolerance, status);
    model.weights = Eigen::Map<const Eigen::RowVectorXd>(risk.w().data(), problem.dimensions());
    model.intercept = Eigen::VectorXd::Constant(1, problem.intercept ? b : 0.0);
    to_label_units(problem, settings, model, model.weights, model.intercept);
    model.iterations = steps;
    const auto end = Clock::now();
    model.seconds = std::chrono::duration<double>(end - start).count();
    start = end;
    visit(k, std::move(model));
  }
  return lambdas;
}

}  // namespace margin
