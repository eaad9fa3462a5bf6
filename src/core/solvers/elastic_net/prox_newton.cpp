// The solver "prox_newton": elastic net and lasso for smooth losses, one output after another.
//
// Problem    min P(w, b) of certificate/risk.hpp with l1_ratio above 0.
// Update     a step of solvers/elastic_net/elastic_net.hpp. Without a model to start from, a few lambdas between the
//            largest, where all weights are 0, and the one asked for are solved loosely on the way: the working set then
//            grows by what it needs, and Newton's method stays near its solution.
//            Where labels are far longer than what the loss smooths, interior_point takes its place.
// Stop       gap ≤ tolerance · max(P, |D|), or no further progress in floating point.
// Source     Friedman, Hastie, Tibshirani (2010), glmnet; Massias, Gramfort, Salmon (2018), celer.
#include <algorithm>
#include <cmath>

#include "core/solvers/elastic_net/elastic_net.hpp"
#include "core/solvers/free_intercept.hpp"
#include "core/solvers/idle_outputs.hpp"
#include "core/solvers/one_vs_rest.hpp"
#include "core/solvers/run.hpp"

namespace margin {

extern const Solver& interior_point;

namespace {

constexpr double stride_of_lambdas = 0.2, loose = 0.03;
constexpr double farthest_lambda = 1e8;  // on the way, over the one asked for
constexpr int most_idle_steps = 3;       // steps that narrow nothing

/// The loss is quadratic between two bends alone, and labels spread so much further that Newton's method finds most rows beyond
/// them, wherever it is: of small random problems of huber it solved 150 of 150 up to a spread of 100 smoothings, 138 at 1e5. An
/// interior point method takes no notice.
bool nearly_linear(const Problem& p, double memory) {
  constexpr double far = 1000;
  constexpr std::int32_t most_features = 2048;
  if (p.loss->curvature_form() != CurvatureForm::two_bends || p.offset >= 0 || !p.bounds.empty() ||
      !p.penalty_factor.empty() || p.dimensions() > most_features || interior_point.workspace(p) > memory)
    return false;
  double sum = 0, squares = 0, weight = 0;
  for (std::int64_t i = 0; i < p.rows(); ++i) {
    const double y = p.target(i, 0) - p.target(0, 0), c = p.weight(i);
    weight += c;
    sum += c * y;
    squares += c * y * y;
  }
  const double mean = sum / weight;
  return squares / weight - mean * mean > far * far * p.loss->smoothness() * p.loss->smoothness();
}

class ProxNewton final : public Solver {
 public:
  const SolverRecord& record() const override {
    static const SolverRecord record = {
        "prox_newton",
        "proximal Newton with coordinate descent on a working set of features: elastic net and lasso, smooth losses",
        SolverRecord::soft_margin,
        SolverRecord::l2,
        SolverRecord::Losses::smooth,
        false,
        {"initial"},
        one_vs_rest_or_numbers | feature::l1_ratio | feature::lasso | feature::bounds | feature::penalty_factor |
            feature::offset | feature::free_intercept | feature::log_link,
        feature::l1_ratio,
        SolverRecord::paths,
        {"prox_newton+interior_point"}};
    return record;
  }
  double workspace(const Problem& p) const override {
    return ElasticNet::bytes(p) + 8.0 * static_cast<double>(p.rows()) * p.outputs();
  }
  Solution solve(const Problem& p, const Options& options, const Progress& progress) const override;
};

/// The intervals of the outputs, for the history.
struct Intervals {
  std::vector<double> lower, upper;

  void record(Run& run, std::int64_t iteration, std::size_t o, const ColumnRisk::Interval& at) {
    upper[o] = std::min(upper[o], at.primal);
    lower[o] = std::max(lower[o], std::min(at.dual, upper[o]));
    double low = 0, high = 0;
    for (std::size_t k = 0; k < lower.size(); ++k) {
      low += lower[k];
      high += upper[k];
    }
    run.record(iteration, low, high);
  }
};

/// Throws Error(wrong_dimensions).
void start_from(const InitialModel& model, const Problem& p, std::int32_t o, ColumnRisk& risk) {
  const auto d = static_cast<std::size_t>(p.dimensions()), k = static_cast<std::size_t>(p.outputs());
  const auto at = static_cast<std::size_t>(o);
  require_shape(model, k, d);
  std::vector<double> w(model.weights.begin() + static_cast<std::ptrdiff_t>(at * d),
                        model.weights.begin() + static_cast<std::ptrdiff_t>((at + 1) * d));
  for (std::size_t j = 0; !p.bounds.empty() && j < d; ++j) w[j] = p.bounds.clip(w[j], j);
  risk.move(w, model.intercept.empty() ? 0.0 : model.intercept[at]);
}

Solution ProxNewton::solve(const Problem& p, const Options& options, const Progress& progress) const {
  if (!options.initial.has_value() && nearly_linear(p, options.workspace_limit)) {
    Solution s = interior_point.solve(p, options, progress);
    s.solver = "prox_newton+interior_point";
    return s;
  }
  Run run(options, progress, name(), 1000 * static_cast<std::int64_t>(p.outputs()));
  Solution s = zero_solution(p, name(), progress);
  const Columns columns(p.data, progress);
  ColumnRisk risk(p, columns, progress);
  ElasticNet net(risk);
  const auto k = static_cast<std::size_t>(p.outputs());
  Intervals intervals{std::vector<double>(k, 0.0), risk_of_constant(p, 0, run)};
  const double tolerance = 0.9 * options.tolerance;
  Status why = Status::iteration_limit;

  const auto minimise = [&](std::size_t o, double lambda, bool last) {
    double best = -1;
    int idle = 0;
    for (;;) {
      const double accuracy = last ? tolerance : std::max(tolerance, loose);
      const ColumnRisk::Interval at = net.interval(lambda);
      const double gap = at.primal - at.dual, wanted = accuracy * std::max(std::fabs(at.primal), std::fabs(at.dual));
      if (last) intervals.record(run, s.iterations, o, at);
      if (gap <= wanted) return Status::optimal;
      idle = best < 0 || gap < 0.9 * best ? 0 : idle + 1;
      if (best < 0 || gap < best) best = gap;
      if (!std::isfinite(gap) || run.exhausted(s.iterations, why)) return why;
      ++s.iterations;
      if (!net.step(lambda, at, wanted) || idle > most_idle_steps + 20 * (gap > 1e-9 * at.primal))
        return Status::iteration_limit;
    }
  };
  const auto solve_output = [&](std::int32_t o) {
    const auto at = static_cast<std::size_t>(o);
    risk.select(o);
    net.restart();
    if (options.initial.has_value()) {
      start_from(*options.initial, p, o, risk);
    } else {
      risk.move(risk.nothing(), 0);
      // A tiny l1_ratio has a largest lambda without an end.
      const double first = std::min(stride_of_lambdas * net.largest_lambda(), farthest_lambda * p.lambda);
      for (double lambda = first; lambda > p.lambda; lambda *= stride_of_lambdas)
        if (minimise(at, lambda, false) != Status::optimal) break;
    }
    const Status status = minimise(at, p.lambda, true);
    const ColumnRisk::Interval end = net.interval(p.lambda);
    std::vector<double> a(risk.rows());
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = -end.scale * risk.slopes()[i];
    if (p.free_intercept) balance(risk.cost(), a);
    for (std::size_t i = 0; i < a.size(); ++i) s.dual(static_cast<std::int64_t>(i), o) = a[i];
    run.work(8.0 * static_cast<double>(a.size()));
    for (std::size_t j = 0; j < risk.features(); ++j) s.weights(o, static_cast<std::int32_t>(j)) = risk.w()[j];
    if (p.intercept) s.intercept[o] = risk.b();
    return status;
  };
  leave_idle(p, solve_outputs(p, s.status, solve_output, time_is_up(run)), s, run);
  s.trace = run.take_trace();
  return s;
}

const ProxNewton prox_newton_solver;

}  // namespace

extern const Solver& prox_newton;
const Solver& prox_newton = prox_newton_solver;

}  // namespace margin
