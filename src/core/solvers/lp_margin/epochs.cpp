#include "core/solvers/lp_margin/epochs.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/math/duality_map.hpp"
#include "core/math/norm.hpp"
#include "core/options/options.hpp"
#include "core/solvers/margin_scan.hpp"
#include "core/solvers/output.hpp"
#include "core/solvers/run.hpp"

namespace margin {

namespace {
constexpr std::int64_t default_epochs = 1000;
}  // namespace

RowOrder::RowOrder(std::vector<std::int64_t> rows, const Options& options)
    : rows_(std::move(rows)), order_(options.order), random_(options.seed) {}

void RowOrder::shuffle() {
  if (order_ != Order::permutation) return;
  for (std::size_t k = rows_.size(); k > 1; --k) std::swap(rows_[k - 1], rows_[random_.below(k)]);
}

void RowOrder::set_lengths(LpAscent& ascent, Run& run) {
  LpDirection z;
  double sum = 0;
  for (const std::int64_t i : rows_) {
    ascent.load(i, z);
    cumulative_.push_back(sum += z.length * z.length);
    run.work(20.0 * static_cast<double>(z.values.size()));
  }
  for (double& c : cumulative_) c /= sum > 0 ? sum : 1;
}

std::int64_t RowOrder::operator[](std::size_t k) {
  if (order_ == Order::proportional) {
    const auto at = std::upper_bound(cumulative_.begin(), cumulative_.end(), random_.uniform());
    return rows_[std::min<std::size_t>(static_cast<std::size_t>(at - cumulative_.begin()), rows_.size() - 1)];
  }
  return rows_[order_ == Order::random ? random_.below(rows_.size()) : k % rows_.size()];
}

std::vector<std::int64_t> rows_of(const Problem& problem, int label) {
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < problem.rows(); ++i)
    if (label < 0 || problem.label[static_cast<std::size_t>(i)] == label) rows.push_back(i);
  return rows;
}

void LpRecord::judge(const Eigen::VectorXd& alpha, const Eigen::VectorXd& weights, Run& run) {
  const Weights w = Eigen::Map<const Weights>(weights.data(), 1, problem_.dimensions());
  const PairMargins seen = scan(problem_, w, run);
  const double size = lp_norm(w.data(), w.size(), problem_.norm);
  const double lower = size > 0 ? seen.best.value / size : 0.0;
  if (!keep_best_) bounds_.lower = lower;
  if (!keep_best_ || bounds_.raise(lower) || weights_.size() == 0 || (bounds_.lower <= 0 && size > 0)) {
    weights_ = w;
    offsets_ = seen.best.offset;
  }

  // The upper bound of these row weights; with a free intercept each class counts ½, whatever the method made of it.
  double mass[2] = {0, 0};
  auto side = [&](std::int64_t i) { return problem_.intercept && problem_.sign(i) > 0 ? 1 : 0; };
  for (std::int64_t i = 0; i < problem_.rows(); ++i) mass[side(i)] += std::max(0.0, alpha(i));
  if (!(mass[0] > 0) || (problem_.intercept && !(mass[1] > 0))) return;
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(problem_.dimensions());
  for (std::int64_t i = 0; i < problem_.rows(); ++i) {
    if (!(alpha(i) > 0)) continue;
    const Row x = problem_.data.row(i);
    margin::add(scale_ * problem_.sign(i) * alpha(i) / ((problem_.intercept ? 2.0 : 1.0) * mass[side(i)]), x,
                sum.data());
    run.work(x.count);
  }
  const double upper = lp_norm(sum.data(), sum.size(), dual_exponent(problem_.norm)) / scale_;
  if (bounds_.reduce(upper)) alpha_ = alpha.cwiseMax(0.0);
}

Solution LpRecord::solution(std::string name, Status status, std::int64_t epochs) const {
  Solution s;
  s.weights = weights_;
  s.intercept = intercept_of(problem_, offsets_);
  s.dual = Weights::Zero(problem_.rows(), 1);
  if (alpha_.size() > 0) s.dual.col(0) = alpha_;
  s.status = status;
  s.iterations = epochs;
  s.solver = std::move(name);
  return s;
}

std::string lp_steps_limit(const Problem& problem) {
  return problem.task == Task::multiclass && !problem.one_vs_rest()
             ? "it is an l2 margin of more than two classes, which is joint, and the solver tells one class from the "
               "rest"
             : "";
}

double lp_steps_workspace(const Problem& problem) {
  return 48.0 * static_cast<double>(problem.rows()) + 96.0 * problem.dimensions() + dual_bytes(problem);
}

Solution run_epochs(const Problem& problem, const Options& options, const Progress& progress,
                    const EpochMethod& method) {
  Run run(options, progress, method.name, default_epochs);
  const double radius = problem.data.radius(), scale = unit_scale(radius);
  LpAscent ascent(problem, scale, method.constant);
  LpRecord record(problem, scale, !asks_for_output(options));
  Eigen::VectorXd alpha = Eigen::VectorXd::Zero(problem.rows()), direction;
  MarginStop stop(options, run, radius);
  Status status = Status::iteration_limit;
  for (std::int64_t epochs = 1;; ++epochs) {
    method.epoch(alpha, ascent, run);
    ascent.reset(alpha, run);
    if (!method.weights) dual_map(ascent.point(), ascent.dual_exponent(), direction);
    record.judge(alpha, method.weights ? method.weights() : direction, run);
    if (stop(epochs, record.bounds(), status) || (method.settled && method.settled())) {
      Solution solution = record.solution(method.name, status, epochs);
      solution.trace = run.take_trace();
      return solution;
    }
  }
}

}  // namespace margin
