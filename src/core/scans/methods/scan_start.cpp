// Where a risk by scans begins: at the model that the option `initial` gives, or at the solution of the sample.
//
// Whether that model is as good is asked of rows, at no scan: half of the sample is solved, and the model is taken unless the other half
// is clearly better off with that solution, by more than the error of the mean of the rows' differences explains.
#include "core/scans/methods/scan_start.hpp"

#include <algorithm>
#include <cmath>

#include "core/certificate/certificate.hpp"
#include "core/loss/joint.hpp"
#include "core/math/normal_equations.hpp"
#include "core/problem/constraints.hpp"
#include "core/problem/offset.hpp"
#include "core/scans/methods/methods.hpp"
#include "core/solvers/one_vs_rest.hpp"
#include "core/train/compaction.hpp"
#include "core/train/model_parts.hpp"

namespace margin {

namespace {

constexpr double clearly = 2;  // standard errors

/// The sampled rows of each class by turns, without those that count for nothing; they stand for as much as all of them.
Dataset half_of(const ScanProblem& problem, bool other, const Progress& progress) {
  const Dataset& all = problem.sample_rows();
  const auto each_row = [&](auto use) {
    std::vector<std::int64_t> seen(std::max<std::size_t>(1, problem.class_names.size()), other ? 1 : 0);
    for (std::int64_t i = 0; i < all.rows(); ++i)
      if (all.weight(i) > 0 &&
          seen[problem.class_names.empty() ? 0 : static_cast<std::size_t>(all.class_of(i))]++ % 2 == 0)
        use(i);
  };
  double weight = 0;
  each_row([&](std::int64_t i) { weight += all.weight(i); });
  Dataset half = problem.empty_rows();
  each_row([&](std::int64_t i) {
    half.append({all.row(i), problem.dimensions}, all.label(i), all.weight(i) * (problem.total_weight / weight));
    progress.work(all.row(i).count + 64.0);
  });
  return half;
}

double loss_of(const Problem& p, const Solution& s, std::int64_t i) {
  const JointLoss* const joint = joint_of(p.loss.get());
  std::vector<double> u(static_cast<std::size_t>(p.outputs()));
  double sum = 0;
  for (std::int32_t o = 0; o < p.outputs(); ++o) {
    u[static_cast<std::size_t>(o)] = dot(p.data.row(i), s.weights.row(o).data()) + s.intercept(o);
    if (joint == nullptr) sum += p.loss->value(u[static_cast<std::size_t>(o)], p.target(i, o));
  }
  return joint != nullptr ? joint->value(u.data(), p.outputs(), p.label[static_cast<std::size_t>(i)]) : sum;
}

/// Rows that `solved` has not seen are no worse off with `given`, as far as they tell.
bool holds(const Problem& p, const Solution& given, const Solution& solved, const Progress& progress) {
  const auto value = [&](const Solution& s) {
    return certify(p, s.weights, s.intercept, Weights(), nullptr, progress).upper;
  };
  const double difference = value(given) - value(solved);
  std::vector<double> of_row(static_cast<std::size_t>(p.rows()));
  double mean = 0, square = 0;
  for (std::int64_t i = 0; i < p.rows(); ++i) {
    of_row[static_cast<std::size_t>(i)] = p.weight(i) * (loss_of(p, given, i) - loss_of(p, solved, i));
    mean += of_row[static_cast<std::size_t>(i)] / static_cast<double>(p.rows());
    progress.work(2.0 * p.outputs() * (p.data.row(i).count + 32.0));
  }
  for (const double v : of_row) square += (v - mean) * (v - mean);
  return std::isfinite(square) && difference <= clearly * std::sqrt(square) / p.total_weight;
}

/// The weights that bounds and constraints allow, as a solution.
Solution solution_of(const ScanProblem& problem, const Options& options, const Progress& progress) {
  const Problem& p = problem.sample();
  const InitialModel& model = *options.initial;
  const auto d = static_cast<std::size_t>(problem.dimensions);
  Solution s = zero_solution(p, "", progress);
  for (std::size_t o = 0; o < static_cast<std::size_t>(p.outputs()); ++o) {
    const auto begin = model.weights.begin() + static_cast<std::ptrdiff_t>(o * d);
    std::vector<double> w(begin, begin + static_cast<std::ptrdiff_t>(d));
    hold_offset(p, w);
    meet_constraints(p, options, w, progress);
    const auto at = static_cast<Eigen::Index>(o);
    s.weights.row(at) = Eigen::Map<const Eigen::RowVectorXd>(w.data(), problem.dimensions);
    if (p.intercept && !model.intercept.empty()) s.intercept(at) = model.intercept[o];
  }
  return s;
}

}  // namespace

void take_initial(const ScanProblem& problem, const Question& asked, Options& options) {
  if (!options.initial.has_value()) return;
  InitialModel& model = *options.initial;
  const std::int32_t declared = asked.columns.empty() ? problem.dimensions : asked.dimensions;
  take_columns(model, declared, asked.columns);
  require_shape(model, static_cast<std::size_t>(problem.outputs()), static_cast<std::size_t>(problem.dimensions));
  if (!problem.units.deviation.empty()) to_standard_units(problem.units, model);
  from_label_units(problem.sample(), model);
}

Solution solve_sample(const ScanProblem& problem, const Options& options, ScanRun& run, double tolerance) {
  Options own = options;
  own.tolerance = std::max(options.tolerance, tolerance);
  own.initial.reset();
  const auto solve = [&](const Problem& rows) { return solve_rows(choose_solver(rows, own), rows, own, run); };
  if (options.initial.has_value()) {
    Solution given = solution_of(problem, options, run.progress());
    const Dataset seen = half_of(problem, false, run.progress()), other = half_of(problem, true, run.progress());
    given.status = Status::optimal;
    const std::int64_t least = problem.sample().likelihood() ? problem.dimensions + 1 : 0;  // what has a unique fit
    if (seen.rows() <= least || other.rows() < 2) return given;
    try {
      if (holds(problem.over(other), given, solve(problem.over(seen)), run.progress())) return given;
    } catch (const DependentFeatures&) {
      return given;
    }
  }
  return solve(problem.sample());
}

void take_start(const Solution& sample, std::size_t output, double constant, std::vector<double>& w) {
  const auto at = static_cast<Eigen::Index>(output);
  std::copy_n(sample.weights.row(at).data(), sample.weights.cols(), w.begin());
  if (constant != 0) w.back() = sample.intercept(at) / constant;
}

}  // namespace margin
