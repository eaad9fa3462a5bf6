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
#include "core/problem/bounds.hpp"
#include "core/problem/centred_rows.hpp"
#include "core/problem/constraints.hpp"
#include "core/problem/fairness.hpp"
#include "core/problem/offset.hpp"
#include "core/problem/range.hpp"
#include "core/problem/standardize.hpp"
#include "core/problem/thresholds.hpp"
#include "core/solvers/readers.hpp"
#include "core/train/bound_prices.hpp"
#include "core/train/compaction.hpp"
#include "core/train/cross_fit.hpp"
#include "core/train/model_parts.hpp"

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

/// Of an output in place of weights of no value: 0, or the nearest that constraints allow.
void begin_anew(const Problem& problem, const Options& options, Eigen::Index output, Weights& weights,
                const Progress& progress) {
  weights.row(output).setZero();
  hold_offset(problem, weights);
  if (problem.constraints.empty()) return;
  std::vector<double> w(weights.row(output).data(), weights.row(output).data() + weights.cols());
  meet_constraints(problem, options, w, progress);
  weights.row(output) = Eigen::Map<const Eigen::RowVectorXd>(w.data(), weights.cols());
}

/// Weights that left the range of double are no model. An output that has one begins anew: its value is known, and the
/// certificate says how far from the optimum it is. True if there was one.
bool keep_finite(const Problem& problem, const Options& options, Solution& s, const Progress& progress) {
  bool kept = true;
  for (Eigen::Index o = 0; o < s.weights.rows(); ++o) {
    if (s.weights.row(o).allFinite() && (o >= s.intercept.size() || std::isfinite(s.intercept(o)))) continue;
    begin_anew(problem, options, o, s.weights, progress);
    if (o < s.intercept.size()) s.intercept(o) = 0;
    kept = false;
  }
  constexpr Eigen::Index step = 4096;
  for (Eigen::Index begin = 0; begin < s.dual.size(); begin += step) {
    double* const a = s.dual.data() + begin;
    const auto n = static_cast<std::size_t>(std::min(step, s.dual.size() - begin));
    progress.work(static_cast<double>(n));
    if (simd().finite_d(a, n)) continue;
    for (double* v = a; v < a + n; ++v)
      if (!std::isfinite(*v)) *v = 0;
    kept = false;
  }
  return !kept;
}

/// What bounds and constraints cost.
void price_rules(const Problem& p, const Solution& s, Model& model, const Progress& progress) {
  if (p.bounds.empty() && p.constraints.empty()) return;
  Weights v = at_bound(p, s.weights) ? image_of_rows(p, s.weights, s.intercept, s.dual, progress)
                                     : Weights::Zero(s.weights.rows(), s.weights.cols());
  model.prices = bound_prices(p, s.weights, std::move(v), p.constraints.multipliers);
  if (!p.constraints.empty()) model.constraint_prices = -p.constraints.multipliers;
}

}  // namespace

Model train(const Dataset& given_rows, const Options& as_given, const Progress& progress, MemoryBudget memory) {
  const auto start = std::chrono::steady_clock::now();
  Options given = as_given;
  std::vector<Fairness> parities = take_fairness(given, given_rows, progress);
  const Compaction compaction(given_rows, given, progress, memory);
  compaction.take(given);
  const Bounds bounds = weight_bounds(given, compaction.rows().dimensions());  // in the user's units
  const Dataset& data = compaction.rows();
  // Before sums of squares are taken; those of the copy are checked with its problem.
  if (given.standardize) require_range(data, progress);
  const StandardizedRows standardized(data, given, progress, memory);
  standardized.take(given);
  Problem problem = make_problem(standardized.rows(), given, progress);
  const bool calibrate = given.calibration != Calibrate::none;
  if (calibrate) {
    require_calibration(problem);
    memory.take(calibration_workspace(problem), "calibration");
  }
  const CentredRows centred(problem, given, progress, memory);
  given.workspace_limit = memory.left_or(given.workspace_limit);
  const Solver& solver = choose_solver(problem, given);
  require_readers(given, solver, losses_of(given));
  memory.require(solver.workspace(problem), "solver \"" + std::string(solver.name()) + "\"");
  Options options = std::move(given);
  if (options.initial.has_value()) {
    compaction.take(*options.initial);
    standardized.take(*options.initial);
    from_label_units(problem, *options.initial);
  }

  std::optional<Problem> apart;
  if (centred.rows() != nullptr) apart.emplace(make_problem(*centred.rows(), options, progress));
  Solution solution = solver.solve(apart.has_value() ? *apart : problem, options, progress);
  centred.give_back(solution.weights, solution.intercept);
  hold_offset(problem, solution.weights);
  if (keep_finite(problem, options, solution, progress)) solution.status = Status::iteration_limit;
  if (problem.hard_margin && !problem.interpolate && problem.kernel == nullptr)
    normalize(problem, solution.weights, solution.intercept);
  for (double& b : solution.intercept) b = rounded_intercept(problem, b);

  problem.constraints.multipliers = std::move(solution.multipliers);
  Model model = begin_model(problem, options);
  model.solver = solution.solver;
  // Balls around a model are as wide as the root of its gap, whatever the tolerance.
  const double enough = std::clamp(0.1 * options.tolerance, 1e-10, 1e-7);
  model.certificate = certify(problem, solution.weights, solution.intercept, solution.dual, solution.basis.get(),
                              progress, &model.dual_point, enough);
  if (!problem.hard_margin && !(model.certificate.upper < std::numeric_limits<double>::infinity())) {
    for (Eigen::Index o = 0; o < solution.weights.rows(); ++o)  // their value is no number: that of 0 is
      begin_anew(problem, options, o, solution.weights, progress);
    solution.intercept.setZero();
    solution.status = Status::iteration_limit;
    model.certificate = certify(problem, solution.weights, solution.intercept, solution.dual, solution.basis.get(),
                                progress, &model.dual_point, enough);
  }
  // Weights in other units than those of the certificate are no centre of a ball.
  if (options.standardize || problem.target_scale != 1) model.dual_point = nullptr;
  count_constant(problem, model.certificate, progress);
  model.certificate.negligible = negligible_loss(problem, progress);
  model.status = final_status(model.certificate, certified_problem(problem), options.tolerance, solution.status,
                              solver.record().reads("gap_tolerance") ? options.gap_tolerance : 0);
  price_rules(problem, solution, model, progress);
  if (options.dual_weights) model.dual_weights = std::move(solution.dual);
  polled_release(solution.dual, progress);
  to_label_units(problem, options, model, solution.weights, solution.intercept);
  if (calibrate) model.calibration = cross_fit(std::move(problem), solver, options, progress);
  standardized.give_back(solution.weights, solution.intercept);
  standardized.give_back_prices(model.prices);
  bounds.settle(solution.weights, problem.offset);
  model.weights = std::move(solution.weights);
  model.basis = std::move(solution.basis);
  model.intercept = std::move(solution.intercept);
  model.parities = std::move(parities);
  model.iterations = solution.iterations;
  model.history = std::move(solution.trace);
  compaction.give_back(model);
  model.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return model;
}

}  // namespace margin
