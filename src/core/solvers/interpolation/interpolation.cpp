// interpolation: weights of least lp norm that meet every row's target exactly.
//
// Problem    min ½‖w‖_p² such that lower_i ≤ <x_i, w> + b ≤ upper_i, 1 < p ≤ 2; a number is an interval of one point.
// Update     keep a working set of rows; find the least weights that meet these
//            (solvers/interpolation/working_set.hpp); scan
// all rows once; add
//            those that are missed by most; repeat. The working set's dual value bounds the norm for all rows from
//            below.
// Stop       when all rows are met to rounding; when rows of the working set contradict each other (proven); when
//            rounding allows no further progress, or the working set does not fit.
// Source     Raj & Bach (2021), Section 2, for the problem, its dual and Y_i.
#include <algorithm>
#include <cmath>

#include "core/base/polled.hpp"
#include "core/math/norm.hpp"
#include "core/solvers/interpolation/working_set.hpp"
#include "core/solvers/interval.hpp"
#include "core/solvers/run.hpp"
#include "core/solvers/solver.hpp"

namespace margin {

namespace {

constexpr std::int64_t default_rounds = 1000;
constexpr double accuracy = 1e-12;  // in units of the largest target
constexpr std::size_t first_rows = 1024;

class Interpolation final : public Solver {
 public:
  const SolverRecord& record() const override {
    static const SolverRecord record = {
        "interpolation",
        "least lp norm that meets every target, a number or a range: exact on a small working set of "
        "rows, grown by scans",
        SolverRecord::interpolation,
        SolverRecord::between | SolverRecord::l2,
        SolverRecord::Losses::none,
        false,
        {},
        feature::regression};
    return record;
  }
  double workspace(const Problem& p) const override {
    const double working_set = std::min(4096.0, static_cast<double>(p.rows()));
    return 32 * working_set * working_set + 64.0 * p.dimensions() + 24.0 * static_cast<double>(p.rows());
  }
  Solution solve(const Problem& problem, const Options& options, const Progress& progress) const override;
};

/// What one scan found: the intercept that serves all rows best, and by how much each row is missed.
struct Misses {
  double intercept = 0, worst = 0;
  std::vector<std::pair<double, std::int64_t>> rows;  ///< missed ones, by most first
};

Misses measure(const Problem& problem, const Eigen::VectorXd& w, double b, double row_scale, double end_scale,
               Run& run) {
  std::vector<double> scores(static_cast<std::size_t>(problem.rows()));
  double least = -std::numeric_limits<double>::infinity(), most = -least;
  for (std::int64_t i = 0; i < problem.rows(); ++i) {
    const Row x = problem.data.row(i);
    const double score = row_scale * dot(x, w.data());
    scores[static_cast<std::size_t>(i)] = score;
    least = std::max(least, end_scale * problem.data.target(i) - score);
    most = std::min(most, end_scale * problem.data.upper_target(i) - score);
    run.work(x.count + 8.0);
  }
  Misses m;
  if (problem.intercept) m.intercept = least <= most ? std::clamp(b, least, most) : 0.5 * (least + most);
  for (std::int64_t i = 0; i < problem.rows(); ++i) {
    run.work(8);
    const double score = scores[static_cast<std::size_t>(i)] + m.intercept;
    const double miss =
        std::max(end_scale * problem.data.target(i) - score, score - end_scale * problem.data.upper_target(i));
    if (miss <= 0) continue;
    m.worst = std::max(m.worst, miss);
    m.rows.emplace_back(miss, i);
  }
  polled_sort(
      m.rows.begin(), m.rows.end(),
      [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; },
      run.progress());
  return m;
}

double largest_end(const Problem& problem, Run& run) {
  double largest = 0;
  for (std::int64_t i = 0; i < problem.rows(); ++i) {
    for (const double end : {problem.data.target(i), problem.data.upper_target(i)})
      if (std::isfinite(end)) largest = std::max(largest, std::fabs(end));
    run.work(8);
  }
  return largest;
}

Solution Interpolation::solve(const Problem& problem, const Options& options, const Progress& progress) const {
  Run run(options, progress, name(), default_rounds);
  const double row_scale = unit_scale(problem.data.radius()), end_scale = unit_scale(largest_end(problem, run));
  IntervalWorkingSet working_set(problem, row_scale, end_scale);
  for (std::int64_t i = 0; i < problem.rows() && working_set.size() < first_rows; ++i)
    if (problem.data.target(i) == problem.data.upper_target(i)) working_set.add(i);
  const auto largest_pool = static_cast<std::size_t>(std::sqrt(std::max(1e6, options.workspace_limit) / 32));

  Status status = Status::iteration_limit;
  std::int64_t round = 0;
  double intercept = 0, smallest = std::numeric_limits<double>::infinity();
  Eigen::VectorXd w;
  for (;;) {
    working_set.solve(accuracy, run);
    ++round;
    const Misses seen = measure(problem, working_set.weights(), working_set.intercept(), row_scale, end_scale, run);
    if (w.size() == 0 || seen.worst < smallest || seen.worst <= accuracy) {
      w = working_set.weights();
      intercept = seen.intercept;
      smallest = seen.worst;
    }
    const double norm = lp_norm(w.data(), w.size(), problem.norm) * row_scale / end_scale;
    run.record(round, seen.worst <= accuracy ? 0.5 * norm * norm : 0.0, 0.5 * norm * norm);
    const bool met = seen.worst <= accuracy && !working_set.contradictory();
    if (stops(run, round, met, working_set.contradictory(), status)) break;
    const std::size_t before = working_set.size(), room = std::max<std::size_t>(64, before / 2);
    for (const auto& [miss, row] : seen.rows)
      if (working_set.size() < std::min(before + room, largest_pool)) working_set.add(row);
    if (working_set.size() == before) {  // rounding: the certificate tells whether this is good enough
      status = Status::optimal;
      break;
    }
  }
  Solution s;
  s.weights = (row_scale / end_scale) * Eigen::Map<const Weights>(w.data(), 1, w.size());
  s.intercept = Eigen::VectorXd::Constant(1, intercept / end_scale);
  s.dual = Weights::Zero(problem.rows(), 1);
  for (const auto& [row, alpha] : working_set.dual()) s.dual(row, 0) = alpha;
  s.status = status;
  s.iterations = round;
  s.solver = name();
  s.trace = run.take_trace();
  return s;
}

const Interpolation interpolation_solver;

}  // namespace

const Solver& interpolation = interpolation_solver;

}  // namespace margin
