// one_class: one-class machines that are linear in the features, as a quantile regression.
//
// Problem    min ½‖w‖² + b + (1/νW) Σ c_i max(0, −u_i),  u_i = w·x_i + b (problem/one_class.hpp).
// Reduction  b is the mean of u_i − w·x_i, so with m = Σ c_i x_i / W and w = m + v the objective is
//              ½‖v‖² − ½‖m‖² + (1/W) Σ c_i (u_i + max(0, −u_i)/ν),
//            and u + max(0, −u)/ν is 1/ν times the quantile loss of tau = 1 − ν at the residual −u. So ν times it is,
//            up to a constant, the quantile regression of lambda ν whose targets are −m·x_i, with a free intercept: all
//            methods of soft margins serve. Its dual weights a' in [−ν, 1 − ν] become 1 + a'/ν in [0, 1/ν].
// Update     that regression, solved by what auto picks for it; again from there, to a smaller tolerance, while the
//            interval of the one-class objective, which lies −½‖m‖² lower, is wider than asked for.
// Stop       at the tolerance; when a round gains nothing any more; at a limit.
// Source     the problem: B. Schölkopf, J. C. Platt, J. Shawe-Taylor, A. J. Smola, R. C. Williamson, Estimating the
//            support of a high-dimensional distribution, Neural Computation 13 (2001); the reduction is derived above.
// ν below half of the lightest row's share bounds no dual weight, so that this is as good a ν. The intercept of the
// weights that come out is the best one for ν itself, and further by what rounding may make of a score: rows at the
// boundary are not outside for a certificate either, where 1/ν would make much of it.
#include "core/loss/one_class.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "core/base/polled.hpp"
#include "core/math/norm.hpp"
#include "core/problem/thresholds.hpp"
#include "core/solvers/one_vs_rest.hpp"
#include "core/solvers/plain_steps.hpp"
#include "core/solvers/run.hpp"
#include "core/solvers/solver.hpp"

namespace margin {

extern const Solver& soft_auto;

namespace {

constexpr int most_rounds = 8;
constexpr double least_tolerance = 1e-14;

/// Tells of the regression's interval as that of the one-class objective.
class Translated final : public Progress {
 public:
  Translated(const Progress& whole, std::string_view name, double nu, double shift)
      : Progress(PartOf{whole}), whole_(whole), name_(name), nu_(nu), shift_(shift) {}
  void poll() const override { whole_.poll(); }
  void report(std::string_view, const TracePoint& point) const override { whole_.report(name_, translated(point)); }
  TracePoint translated(TracePoint point) const {
    point.lower = point.lower / nu_ - shift_;
    point.upper = point.upper / nu_ - shift_;
    return point;
  }

 private:
  const Progress& whole_;
  std::string_view name_;
  double nu_, shift_;
};

/// Both ends of the one-class objective.
struct Values {
  double primal = 0, dual = 0;
  double relative() const { return (primal - dual) / std::max({std::fabs(primal), std::fabs(dual), 1e-300}); }
};

class LinearOneClass final : public Solver {
 public:
  const SolverRecord& record() const override {
    static const SolverRecord record = {"one_class",
                                        "one-class machine without a kernel, as a quantile regression",
                                        SolverRecord::one_class,
                                        SolverRecord::l2,
                                        SolverRecord::Losses::none,
                                        false,
                                        {},
                                        feature::free_intercept};
    return record;
  }
  double workspace(const Problem& p) const override {
    return soft_auto.workspace(p) + 8.0 * (3.0 * static_cast<double>(p.rows()) + 4.0 * p.dimensions());
  }
  Solution solve(const Problem& problem, const Options& options, const Progress& progress) const override;
};

double weighted_share(const Problem& p, std::int64_t i) { return p.weight(i) / p.total_weight; }

/// Σ share_i a_i x_i; a without elements: all 1.
Eigen::VectorXd combination(const Problem& p, const Weights& a, const Progress& progress) {
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(p.dimensions());
  for (std::int64_t i = 0; i < p.rows(); ++i) {
    const double share = weighted_share(p, i) * (a.size() > 0 ? a(i, 0) : 1.0);
    if (share != 0) add(share, p.data.row(i), sum.data());
    progress.work(p.data.row(i).count + 8.0);
  }
  return sum;
}

/// Sets the best intercept of the weights at hand: −b is the score below which a share of nu lies.
Values values_of(const Problem& p, Solution& s, double nu, const Progress& progress) {
  Values out;
  std::vector<std::pair<double, double>> scores;
  for (std::int64_t i = 0; i < p.rows(); ++i) {
    if (p.weight(i) > 0) scores.emplace_back(dot(p.data.row(i), s.weights.data()), weighted_share(p, i));
    progress.work(p.data.row(i).count + 8.0);
  }
  polled_sort(scores.begin(), scores.end(), std::less<>(), progress);
  double below = 0, loss = 0;
  std::size_t at = 0;
  while (at + 1 < scores.size() && below + scores[at].second < nu * (1 - 1e-14)) below += scores[at++].second;
  const double rounding =
      4 * std::numeric_limits<double>::epsilon() * (p.dimensions() + 8.0) * p.data.radius() * s.weights.norm();
  s.intercept(0) = rounding - scores[at].first;
  for (std::size_t k = 0; k < at; ++k) loss += scores[k].second / nu * (scores[at].first - scores[k].first);
  out.primal = 0.5 * s.weights.squaredNorm() + s.intercept(0) + loss;
  out.dual = -0.5 * combination(p, s.dual, progress).squaredNorm();
  return out;
}

/// All rows at their bound: w is their mean, and every row is outside.
void solve_for_all(const Problem& p, const Eigen::VectorXd& mean, Solution& s, const Progress& progress) {
  s.weights.row(0) = mean.transpose();
  s.dual.setOnes();
  double most = 0;
  for (std::int64_t i = 0; i < p.rows(); ++i) {
    most = std::max(most, dot(p.data.row(i), mean.data()));
    progress.work(p.data.row(i).count + 8.0);
  }
  s.intercept(0) = -most;
}

/// The regression whose optimum is that of the machine.
Problem regression_of(const Problem& p, double nu, const Eigen::VectorXd& mean, const Progress& progress) {
  Problem q = p;
  Options quantile;
  quantile.quantile = 1 - nu;
  q.task = Task::regression;
  q.classes = 0;
  q.class_names.clear();
  q.label.clear();
  q.loss_name = "quantile";
  q.loss = make_loss(q.loss_name, quantile);
  q.lambda = nu;
  q.free_intercept = true;
  q.own_target.resize(static_cast<std::size_t>(p.rows()));
  for (std::int64_t i = 0; i < p.rows(); ++i) {
    q.own_target[static_cast<std::size_t>(i)] = -dot(p.data.row(i), mean.data());
    progress.work(p.data.row(i).count + 8.0);
  }
  return q;
}

Solution LinearOneClass::solve(const Problem& p, const Options& options, const Progress& progress) const {
  const Run clock(options, progress, name(), 0);
  Solution s = zero_solution(p, name(), progress);
  double lightest = std::numeric_limits<double>::infinity();
  for (std::int64_t i = 0; i < p.rows(); ++i)
    if (p.weight(i) > 0) lightest = std::min(lightest, weighted_share(p, i));
  const double given = one_class_of(p.loss.get())->nu(), nu = std::max(given, 0.5 * lightest);
  const Eigen::VectorXd mean = combination(p, {}, progress);
  if (!(given < 1)) {
    solve_for_all(p, mean, s, progress);
    return s;
  }
  const Problem q = regression_of(p, nu, mean, progress);
  const double shift = 0.5 * mean.squaredNorm();
  const Translated told(progress, name(), nu, shift);
  Options part = options;
  part.seed = 0;
  take_plain_steps(part);
  part.tolerance = std::max(0.5 * options.tolerance, least_tolerance);
  double before = std::numeric_limits<double>::infinity();
  for (int round = 0; round < most_rounds; ++round) {
    if (options.max_iterations.has_value()) part.max_iterations = *options.max_iterations - s.iterations;
    const double seconds = clock.seconds();
    if (options.max_seconds.has_value()) part.max_seconds = std::max(1e-3, *options.max_seconds - seconds);
    Solution r = soft_auto.solve(q, part, told);
    for (TracePoint point : r.trace) {
      point.iteration += s.iterations;
      point.seconds += seconds;
      s.trace.push_back(told.translated(point));
    }
    s.iterations += r.iterations;
    s.weights = r.weights + mean.transpose();
    s.intercept = r.intercept;
    for (std::int64_t i = 0; i < p.rows(); ++i) s.dual(i, 0) = std::max(0.0, 1 + r.dual(i, 0) / nu);
    const Values now = values_of(p, s, given, progress);
    const bool reached = now.relative() <= certifiable * options.tolerance;
    // The regression is at its own tolerance, of another value.
    s.status = reached ? Status::optimal : r.status == Status::optimal ? Status::iteration_limit : r.status;
    const bool no_time = r.status == Status::time_limit ||
                         (options.max_iterations.has_value() && s.iterations >= *options.max_iterations);
    if (now.primal > 0) {  // weights of 0 have the value 0
      s.weights.setZero();
      s.intercept.setZero();
    }
    const double gap = now.primal - now.dual;
    if (s.status == Status::optimal || no_time || part.tolerance <= least_tolerance || gap > 0.9 * before) break;
    before = gap;
    const double wanted = 0.8 * options.tolerance * -now.dual / std::max(now.primal + shift, 1e-300);
    part.tolerance = std::max(std::min(wanted, 0.1 * part.tolerance), least_tolerance);
    part.initial.emplace();
    part.initial->weights.assign(r.weights.data(), r.weights.data() + r.weights.size());
    part.initial->intercept.assign(r.intercept.data(), r.intercept.data() + r.intercept.size());
    part.initial->dual_weights.assign(r.dual.data(), r.dual.data() + r.dual.size());
  }
  return s;
}

const LinearOneClass one_class_solver;

}  // namespace

extern const Solver& one_class;
const Solver& one_class = one_class_solver;

}  // namespace margin
