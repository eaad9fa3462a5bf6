#include "core/train/train.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>

#include "core/base/error.hpp"
#include "core/base/polled.hpp"
#include "core/certificate/final_status.hpp"
#include "core/loss/loss.hpp"
#include "core/math/norm.hpp"
#include "core/problem/range.hpp"
#include "core/problem/standardize.hpp"
#include "core/problem/thresholds.hpp"
#include "core/solvers/readers.hpp"
#include "core/train/compaction.hpp"
#include "core/train/cross_fit.hpp"

namespace margin {

namespace {

/// A hard margin is a direction: returned with norm 1 (each output's, one against the rest), so that a score is a
/// distance.
void normalize(const Problem& problem, Weights& weights, Eigen::VectorXd& intercept) {
  const Eigen::Index rows = problem.one_vs_rest() ? 1 : weights.rows();
  for (Eigen::Index o = 0; o < weights.rows(); o += rows) {
    auto w = weights.middleRows(o, rows);
    auto b = intercept.segment(o, rows);
    const double top = w.cwiseAbs().maxCoeff();
    if (!(top > 0) || !std::isfinite(top)) continue;
    const double scale = unit_scale(top);  // a power of two first, so that the norm neither overflows nor vanishes
    w *= scale;
    b *= scale;
    const double norm = lp_norm(w.data(), w.size(), problem.norm);
    w /= norm;
    b /= norm;
  }
}

/// The intercept as the model will have it: its sum with the center of the targets is rounded, so the certificate must
/// not be about the one before.
void round_intercept(const Problem& problem, Solution& s) {
  if (problem.target_center == 0 || problem.target_scale != 1) return;
  // Once where the center is the larger; where the intercept is, again until both roundings agree.
  for (double& b : s.intercept)
    for (int k = 0; k < 8; ++k) b = (b + problem.target_center) - problem.target_center;
}

/// From the units of Problem::target() to those of the label, and back.
void to_label_units(const Problem& problem, Weights& weights, Eigen::VectorXd& intercept) {
  weights *= problem.target_scale;
  intercept = (intercept * problem.target_scale).array() + problem.target_center;
}
void from_label_units(const Problem& problem, InitialModel& model) {
  for (double& w : model.weights) w /= problem.target_scale;
  if (model.intercept.empty() && problem.target_center != 0) model.intercept.assign(1, 0.0);
  for (double& b : model.intercept) b = (b - problem.target_center) / problem.target_scale;
}

/// What the best constant prediction would have for `failure`, from outcomes and weights alone.
double constant_failure(const Problem& p, const Progress& progress) {
  if (p.interpolate) return std::numeric_limits<double>::infinity();
  if (p.task == Task::regression) {
    if (p.loss->log_link() && !(p.target_constant > -700)) return std::numeric_limits<double>::infinity();  // no counts
    const double u = (p.target_constant - p.target_center) / p.target_scale;
    double sum = 0;
    for (std::int64_t i = 0; i < p.rows(); ++i) {
      progress.work(32);
      sum += p.weight(i) * p.loss->value(u, p.target(i, 0));
    }
    return sum / p.total_weight;
  }
  std::vector<double> mass(static_cast<std::size_t>(p.classes), 0.0);
  double total = 0;
  for (std::int64_t i = 0; i < p.rows(); ++i) {
    progress.work(8);
    mass[static_cast<std::size_t>(p.label[static_cast<std::size_t>(i)])] += p.weight(i);
    total += p.weight(i);
  }
  return total - *std::max_element(mass.begin(), mass.end());
}

/// Weights that left the range of double are no model. An output that has one is 0 instead: its value is known, and the
/// certificate says how far from the optimum it is. True if there was one.
bool keep_finite(Solution& s, const Progress& progress) {
  bool kept = true;
  for (Eigen::Index o = 0; o < s.weights.rows(); ++o) {
    if (s.weights.row(o).allFinite() && (o >= s.intercept.size() || std::isfinite(s.intercept(o)))) continue;
    s.weights.row(o).setZero();
    if (o < s.intercept.size()) s.intercept(o) = 0;
    kept = false;
  }
  for (Eigen::Index i = 0; i < s.dual.rows(); ++i) {
    progress.work(4.0 * static_cast<double>(s.dual.cols()));
    for (Eigen::Index o = 0; o < s.dual.cols(); ++o)
      if (!std::isfinite(s.dual(i, o))) {
        s.dual(i, o) = 0;
        kept = false;
      }
  }
  return !kept;
}

}  // namespace

Model train(const Dataset& given_rows, const Options& given, const Progress& progress, MemoryBudget memory) {
  const auto start = std::chrono::steady_clock::now();
  const Compaction compaction(given_rows, given, progress, memory);
  const Dataset& data = compaction.rows();
  // Before sums of squares are taken; those of the copy are checked with its problem.
  if (given.standardize) require_range(data, progress);
  const StandardizedRows standardized(data, given, progress, memory);
  Problem problem = make_problem(standardized.rows(), given, progress);
  const bool calibrate = given.calibration != Calibrate::none;
  if (calibrate) {
    require_calibration(problem);
    memory.take(calibration_workspace(problem), "calibration");
  }
  const Solver& solver = choose_solver(problem, given);
  require_readers(given, solver, losses_of(given));
  memory.require(solver.workspace(problem), "solver \"" + std::string(solver.name()) + "\"");
  Options options = given;
  if (options.initial.has_value()) {
    compaction.take(*options.initial);
    standardized.take(*options.initial);
    if (problem.task == Task::regression) from_label_units(problem, *options.initial);
  }
  options.workspace_limit = memory.left_or(options.workspace_limit);

  Solution solution = solver.solve(problem, options, progress);
  if (keep_finite(solution, progress)) solution.status = Status::iteration_limit;
  if (problem.hard_margin && !problem.interpolate && problem.kernel == nullptr)
    normalize(problem, solution.weights, solution.intercept);
  round_intercept(problem, solution);

  Model model;
  model.task = problem.task;
  model.solver = solution.solver;
  model.loss = problem.loss_name;
  model.norm = problem.norm;
  model.lambda = given.lambda;
  model.classes = problem.class_names;
  model.certificate =
      certify(problem, solution.weights, solution.intercept, solution.dual, solution.basis.get(), progress);
  if (!problem.hard_margin && !(model.certificate.upper < std::numeric_limits<double>::infinity())) {
    solution.weights.setZero();  // their value is no number: that of 0 is
    solution.intercept.setZero();
    solution.status = Status::iteration_limit;
    model.certificate =
        certify(problem, solution.weights, solution.intercept, solution.dual, solution.basis.get(), progress);
  }
  model.certificate.constant_failure = constant_failure(problem, progress);
  // Predictions that agree with their labels, whose unit is that of their mean, to 10 digits.
  if (problem.loss != nullptr && problem.loss->log_link())
    model.certificate.negligible = exact_fit * std::exp(problem.target_constant);
  model.status = final_status(model.certificate, certified_problem(problem), options.tolerance, solution.status);
  if (options.dual_weights) model.dual_weights = std::move(solution.dual);
  polled_release(solution.dual, progress);
  if (problem.task == Task::regression && !problem.interpolate) {
    to_label_units(problem, solution.weights, solution.intercept);
    model.constant = model.prediction(problem.target_constant);
    if (given.intercept) model.target_center = problem.target_center;
    if (given.standardize || given.target_scale.has_value()) model.target_scale = problem.target_scale;
  }
  if (calibrate) model.calibration = cross_fit(std::move(problem), solver, options, progress);
  standardized.give_back(solution.weights, solution.intercept);
  model.dimensions = data.dimensions();
  model.ignore_unseen = given.ignore_unseen;
  model.weights = std::move(solution.weights);
  model.basis = std::move(solution.basis);
  model.intercept = std::move(solution.intercept);
  model.iterations = solution.iterations;
  model.rows = data.rows();
  model.history = std::move(solution.trace);
  compaction.give_back(model);
  model.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return model;
}

}  // namespace margin
