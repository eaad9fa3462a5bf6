#include "core/train/sparse_path.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>

#include "core/certificate/column_check.hpp"
#include "core/certificate/final_status.hpp"
#include "core/certificate/moment_check.hpp"
#include "core/loss/loss.hpp"
#include "core/problem/thresholds.hpp"
#include "core/solvers/elastic_net/elastic_net.hpp"
#include "core/solvers/elastic_net/moment_descent.hpp"
#include "core/solvers/readers.hpp"
#include "core/solvers/run.hpp"
#include "core/train/bound_prices.hpp"
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

/// Where a lambda ended.
struct PathEnd {
  std::vector<double> w;
  double b = 0;
  Certificate certificate;
  std::int64_t steps = 0;
};

/// A squared loss of few features: the rows are read once for all lambdas.
class MomentPath {
 public:
  MomentPath(const Problem& problem, const Progress& progress)
      : problem_(problem), check_(problem, progress), descent_(problem, check_.moments()) {
    end_.w = descent_.w();
  }
  static bool serves(const Problem& problem, std::size_t lambdas) {
    return MomentCheck::serves(problem) && MomentDescent::pays(problem, lambdas);
  }
  static double bytes(const Problem& problem) { return Moments::bytes(problem) + MomentDescent::bytes(problem); }

  /// True when the model of problem.lambda meets the tolerance: rounding of the moments may leave too much, and end() is
  /// that of the lambda before.
  bool solve(double tolerance, Run& run) {
    const PathEnd before = end_;
    end_.steps = 0;
    double upper = check_.certificate(descent_.w(), descent_.b(), problem_.lambda).upper;
    for (double share = first_share; share > last_share; share *= 1e-2) {
      descent_.solve(problem_.lambda, share * tolerance * upper, run);
      end_.w = descent_.w();
      end_.b = rounded_intercept(problem_, descent_.b());
      end_.certificate = check_.certificate(end_.w, end_.b, problem_.lambda);
      run.record(++end_.steps, end_.certificate.lower, end_.certificate.upper);
      if (end_.certificate.relative_gap <= tolerance) return true;
      upper = end_.certificate.upper;
    }
    end_ = before;
    return false;
  }
  const PathEnd& end() const { return end_; }
  std::vector<double> image() const { return check_.image(end_.w, end_.b); }  ///< Σ c a x/W there

 private:
  static constexpr double first_share = 1e-2, last_share = 1e-9;  // of the gap that the tolerance allows

  const Problem& problem_;
  const MomentCheck check_;
  MomentDescent descent_;
  PathEnd end_;
};

class ColumnPath {
 public:
  ColumnPath(const Problem& problem, const Progress& progress)
      : problem_(problem), check_(problem, progress), risk_(problem, check_.columns(), progress), net_(risk_) {
    risk_.select(0);
    risk_.move(risk_.nothing(), 0);
    largest_ = net_.largest_lambda();
  }
  double largest() const { return largest_; }  ///< for which a weight leaves 0
  void start_from(const std::vector<double>& w, double b) {
    risk_.move(w, b);
    net_.restart();
  }

  Status solve(double tolerance, Run& run) {
    const double aim = certifiable * tolerance;
    Status status = Status::iteration_limit;
    double best = std::numeric_limits<double>::infinity();
    bool stuck = false;
    end_.steps = 0;
    for (int idle = 0;;) {
      const ColumnRisk::Interval at = net_.interval(problem_.lambda);
      run.record(end_.steps, at.dual, at.primal);
      const double gap = at.primal - at.dual;
      const double wanted = aim * std::max(std::fabs(at.primal), std::fabs(at.dual));
      idle = gap < 0.9 * best ? 0 : idle + 1;
      best = std::min(best, gap);
      const bool exhausted = run.exhausted(end_.steps, status);
      stuck |= idle > 20 || exhausted || !std::isfinite(gap);
      if (gap <= wanted || stuck) {
        // Bounds on rounding have the last word; where they leave too much, another step may help.
        end_.b = rounded_intercept(problem_, risk_.b());
        end_.certificate = check_.certificate(risk_.w(), risk_.b(), end_.b, problem_.lambda);
        if (end_.certificate.relative_gap <= tolerance) status = Status::optimal;
        if (status == Status::optimal || stuck || gap <= 0.01 * wanted) break;
      }
      ++end_.steps;
      stuck = !net_.step(problem_.lambda, at, 0.1 * wanted);
    }
    end_.w = risk_.w();
    return status;
  }
  const PathEnd& end() const { return end_; }
  std::vector<double> image() const { return check_.image(); }  ///< Σ c a x/W there

 private:
  const Problem& problem_;
  ColumnCheck check_;  // sees vectors and rows; the solver sees of it the rows by columns
  ColumnRisk risk_;
  ElasticNet net_;
  double largest_ = 0;
  PathEnd end_;
};

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
  if ((solver.record().parts & SolverRecord::paths) == 0) return {};
  memory.require(solver.workspace(problem), "solver \"" + std::string(solver.name()) + "\"");
  const Columns columns(problem.data, progress);
  ColumnRisk risk(problem, columns, progress);
  ElasticNet net(risk);
  double largest = 0;
  for (std::int32_t o = 0; o < problem.outputs(); ++o) {
    risk.select(o);
    risk.move(risk.nothing(), 0);
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
  if ((solver.record().parts & SolverRecord::paths) == 0 || problem.outputs() != 1) return {};
  require_readers(settings, solver, losses_of(settings));
  memory.require(solver.workspace(problem) + ColumnCheck::bytes(problem),
                 "solver \"" + std::string(solver.name()) + "\"");

  auto start = Clock::now();
  std::unique_ptr<ColumnPath> by_columns;
  std::unique_ptr<MomentPath> by_moments;
  // Limits count the steps of the other.
  const std::size_t count = lambdas.empty() ? default_count : lambdas.size();
  if (!settings.max_iterations && !settings.max_seconds && MomentPath::serves(problem, count)) {
    memory.require(solver.workspace(problem) + MomentPath::bytes(problem), "the second moments of the rows");
    by_moments = std::make_unique<MomentPath>(problem, progress);
  }
  if (lambdas.empty() || by_moments == nullptr) by_columns = std::make_unique<ColumnPath>(problem, progress);
  if (lambdas.empty()) lambdas = falling_lambdas(by_columns->largest(), problem.dimensions() > problem.rows());
  Certificate constant;
  count_constant(problem, constant, progress);
  for (const std::size_t k : falling_order(lambdas)) {
    settings.lambda = problem.lambda = lambdas[k];
    Run run(settings, progress, solver.name(), 1000);
    Model model = begin_model(problem, settings);
    Status status = Status::iteration_limit;
    if (by_moments != nullptr && !by_moments->solve(settings.tolerance, run)) {
      if (by_columns == nullptr) by_columns = std::make_unique<ColumnPath>(problem, progress);
      by_columns->start_from(by_moments->end().w, by_moments->end().b);
      by_moments.reset();
    }
    if (by_moments != nullptr)
      status = Status::optimal;
    else
      status = by_columns->solve(settings.tolerance, run);
    const PathEnd& end_of = by_moments != nullptr ? by_moments->end() : by_columns->end();
    model.certificate = end_of.certificate;
    model.certificate.constant_failure = constant.constant_failure;
    model.certificate.constant_loss = constant.constant_loss;
    model.solver = solver.name();
    model.status = final_status(model.certificate, certified_problem(problem), settings.tolerance, status);
    model.weights = Eigen::Map<const Eigen::RowVectorXd>(end_of.w.data(), problem.dimensions());
    model.intercept = Eigen::VectorXd::Constant(1, problem.intercept ? end_of.b : 0.0);
    if (!problem.bounds.empty()) {
      Weights v = Weights::Zero(1, problem.dimensions());
      if (at_bound(problem, model.weights)) {
        const std::vector<double> image = by_moments != nullptr ? by_moments->image() : by_columns->image();
        v.row(0) = Eigen::Map<const Eigen::RowVectorXd>(image.data(), problem.dimensions());
      }
      model.prices = bound_prices(problem, model.weights, std::move(v), Weights());
    }
    to_label_units(problem, settings, model, model.weights, model.intercept);
    model.iterations = end_of.steps;
    const auto end = Clock::now();
    model.seconds = std::chrono::duration<double>(end - start).count();
    start = end;
    visit(k, std::move(model));
  }
  return lambdas;
}

}  // namespace margin
