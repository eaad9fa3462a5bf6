// with_soft_weights: what a hard margin hands back for rows that are proven not separable.
//
// Problem    min (λ/2)(‖w‖² + (b/B)²) + (1/n) Σ ln(1 + exp(−y_i(<w, x_i> + b))), B² the mean of ‖x_i‖², λ = 1e-4
//            of the lower quartile of the columns' mean squares, so that small columns have a say beside large ones:
//            the same weights (up to their scale) whatever the unit. Several classes: one against the rest.
// Stops      at a relative gap of 1e-2: nobody reads this risk, and its minimiser classifies no better.
#include "core/solvers/l2_margin/soft_weights.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/loss/loss.hpp"
#include "core/solvers/run.hpp"

namespace margin {

extern const Solver& soft_auto;

namespace {

constexpr double column_share = 1e-4, row_share = 1e-9, loose = 1e-2;

/// Passes polls on, and shows the margin's own interval instead of that of the risk.
class MarginProgress final : public Progress {
 public:
  MarginProgress(const Progress& progress, const Solution& proven, const std::optional<TracePoint>& last)
      : Progress(PartOf{progress}), progress_(progress), proven_(proven), last_(last) {}
  void poll() const override { progress_.poll(); }
  void report(std::string_view solver, const TracePoint& point) const override {
    if (last_)
      progress_.report(
          solver, {proven_.iterations + point.iteration, last_->seconds + point.seconds, last_->lower, last_->upper});
  }

 private:
  const Progress& progress_;
  const Solution& proven_;
  std::optional<TracePoint> last_;
};

/// What the soft margin needs to know of the units of the features.
struct Units {
  double rows = 0;    ///< the mean of ‖x_i‖²
  double column = 0;  ///< of the mean squares of the columns that are not zero, the lower quartile
};

Units measure(const Problem& problem, const Progress& progress) {
  std::vector<double> square(static_cast<std::size_t>(problem.dimensions()), 0.0);
  const double share = 1 / static_cast<double>(problem.rows());
  for (std::int64_t i = 0; i < problem.rows(); ++i) {
    const Row x = problem.data.row(i);
    for (std::int32_t k = 0; k < x.count; ++k)
      square[static_cast<std::size_t>(x.indices != nullptr ? x.indices[k] : k)] += share * x.value(k) * x.value(k);
    progress.work(2.0 * x.count + 8);
  }
  Units units;
  for (const double v : square) units.rows += v;
  square.erase(std::remove(square.begin(), square.end(), 0.0), square.end());
  if (square.empty()) return units;
  const auto quartile = square.begin() + static_cast<std::ptrdiff_t>(square.size() / 4);
  std::nth_element(square.begin(), quartile, square.end());
  units.column = *quartile;
  return units;
}

/// Weights that are more than rounding: scores of at least a millionth.
bool usable(const Solution& s, const Units& units) {
  return s.weights.allFinite() && s.intercept.allFinite() && s.weights.norm() * std::sqrt(units.rows) > 1e-6;
}

/// Two classes with a free threshold: where the model errs on more rows than a constant would, the threshold moves
/// towards the smaller class until it does not. Of 256 steps up to the last score, the one of fewest errors.
void move_threshold(const Problem& problem, Solution& s, const Progress& progress) {
  if (problem.task != Task::binary || !problem.intercept) return;
  constexpr int steps = 256;
  std::vector<double> score(static_cast<std::size_t>(problem.rows()));
  std::int64_t positive = 0;
  for (std::int64_t i = 0; i < problem.rows(); ++i) {
    const Row x = problem.data.row(i);
    score[static_cast<std::size_t>(i)] = dot(x, s.weights.row(0).data()) + s.intercept(0);
    positive += problem.sign(i) > 0;
    progress.work(x.count + 8.0);
  }
  const std::int64_t smaller = std::min(positive, problem.rows() - positive);
  const double side = 2 * positive <= problem.rows() ? 1 : -1;  // the sign of the smaller class
  std::int64_t errors = 0;
  double last = 0;
  for (std::int64_t i = 0; i < problem.rows(); ++i) {
    const double u = side * score[static_cast<std::size_t>(i)];
    errors += (u > 0) != (side * problem.sign(i) > 0);
    last = std::max(last, u);
  }
  progress.work(8.0 * static_cast<double>(problem.rows()));
  if (errors <= smaller || !(last > 0)) return;
  // A row of the smaller class becomes an error where the threshold passes its score, one of the larger class ceases.
  std::vector<std::int64_t> change(steps + 1, 0);
  for (std::int64_t i = 0; i < problem.rows(); ++i) {
    const double u = side * score[static_cast<std::size_t>(i)];
    if (u > 0) change[static_cast<std::size_t>(u / last * (steps - 1)) + 1] += side * problem.sign(i) > 0 ? 1 : -1;
  }
  progress.work(8.0 * static_cast<double>(problem.rows()));
  std::int64_t fewest = errors;
  int best = 0;
  for (int k = 1; k <= steps; ++k) {
    errors += change[static_cast<std::size_t>(k)];
    if (errors < fewest) {
      fewest = errors;
      best = k;
    }
  }
  s.intercept(0) -= side * last * best / (steps - 1);
}

}  // namespace

Solution with_soft_weights(const Problem& problem, const Options& options, const Progress& progress, const Run& run,
                           Solution proven, double memory) {
  const Units units = measure(problem, progress);
  const double lambda = std::max(column_share * units.column, row_share * units.rows);
  if (!std::isnormal(lambda) || !std::isnormal(units.rows)) return proven;
  Problem soft = problem;
  soft.hard_margin = false;
  soft.norm = 2;
  soft.total_weight = static_cast<double>(problem.rows());
  soft.loss = make_loss("logistic", options);
  soft.loss_name = soft.loss->name();
  soft.lambda = lambda;
  soft.intercept_scale = std::sqrt(units.rows);
  Options own = options;
  own.solver = "auto";
  own.tolerance = loose;
  own.history = false;
  own.order = Order::permutation;
  own.output = Output::last;
  own.average_from.reset();
  own.gap_tolerance = 0;
  own.start = Start::zero;
  own.initial.reset();
  own.workspace_limit = options.workspace_limit - memory;
  if (options.max_iterations) own.max_iterations = *options.max_iterations - proven.iterations;
  if (options.max_seconds) own.max_seconds = *options.max_seconds - run.seconds();
  if (own.max_iterations.value_or(1) < 1 || own.max_seconds.value_or(1) <= 0) return proven;
  if (!soft_auto.unsupported_reason(soft).empty() || soft_auto.workspace(soft) > own.workspace_limit) return proven;

  MarginProgress quiet(progress, proven, run.last());
  Solution fit = soft_auto.solve(soft, own, quiet);
  if (!usable(fit, units)) return proven;
  move_threshold(problem, fit, progress);
  proven.weights = std::move(fit.weights);
  proven.intercept = std::move(fit.intercept);
  proven.iterations += fit.iterations;
  proven.solver += "+" + fit.solver;
  return proven;
}

}  // namespace margin
