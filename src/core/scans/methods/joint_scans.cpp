// Regularised risks of classes that are trained jointly, by scans.
//
// Problem    min P(W, b) of certificate/joint.hpp, the rows somewhere else.
// Update     a scan at W brings the rows for which the tangent of the last weights was most wrong, and those whose classes are least
//            decided. They join the sample in memory; all other rows are replaced by their tangents at the best weights so far, whose sum
//            the scan has told. For the next W the sampled rows that a scan would not have brought stand for others like them, with a
//            linear term that leaves the gradient as it is. Where P rose, a proximal term keeps the next W nearer to the best; of
//            the hinge, where it rose for the first time, the minimum of the model that proves is next. Start: solve_sample().
// Stop       P − D ≤ tolerance · P. P is the best that a scan told; D is the dual value of the scan's own p for the logistic loss, and for
//            the hinge that of the p of a model in which each row counts for itself.
// Source     a model of few rows with the gradient of all: Shamir, Srebro, Zhang (2014), ICML 31; of the hinge scans/methods/band.cpp.
#include <algorithm>
#include <cmath>
#include <optional>

#include "core/certificate/check.hpp"
#include "core/math/rounding.hpp"
#include "core/problem/thresholds.hpp"
#include "core/scans/methods/band_output.hpp"
#include "core/scans/methods/joint_model.hpp"
#include "core/scans/methods/methods.hpp"
#include "core/scans/methods/smooth_model.hpp"
#include "core/solvers/interval.hpp"

namespace margin {

namespace {

// What a model's own solution may leave of the gap, and of the gap that is asked for.
constexpr double left_of_gap = 0.01, left_of_wanted = 0.2;

class JointScans {
 public:
  JointScans(const ScanProblem& problem, const Options& options, ScanRun& run)
      : p_(problem),
        options_(options),
        run_(run),
        constant_(problem.sample().intercept_column()),
        model_(problem, options) {}
  ScanSolution solve();

 private:
  void start();
  Question question() const;
  double curvature(const JointScanned& rose) const;
  bool hinge() const { return joint_of(p_.loss())->form() == JointLoss::Form::crammer_singer; }

  const ScanProblem& p_;
  const Options& options_;
  ScanRun& run_;
  double constant_;
  JointModel model_;
  Weights w_;  // classes × (features, intercept over its constant)
  std::unique_ptr<JointScanned> best_;
};

void JointScans::start() {
  const Solution s = solve_sample(p_, options_, run_, sample_tolerance);
  w_ = Weights::Zero(p_.outputs(), p_.dimensions + (constant_ != 0 ? 1 : 0));
  w_.leftCols(p_.dimensions) = s.weights;
  if (constant_ != 0) w_.col(p_.dimensions) = s.intercept / constant_;
}

Question JointScans::question() const {
  Eigen::VectorXd b = Eigen::VectorXd::Zero(p_.outputs());
  if (constant_ != 0) b = w_.col(p_.dimensions) * constant_;
  Question q = p_.question(w_.leftCols(p_.dimensions), b);
  q.bag_rows = p_.bag_rows;
  q.bag_bytes = p_.bag_bytes;
  if (!best_) return q;
  q.direction = q.weights - best_->question.weights;
  q.intercept_direction = q.intercepts - best_->question.intercepts;
  return q;
}

/// <∇ − ∇₀, d>/<d, d> of P/λ, from the best weights to those where P rose.
double JointScans::curvature(const JointScanned& rose) const {
  const Question& q = rose.question;
  const double unit = 1 / (q.lambda * p_.total_weight);
  const Weights change = q.direction - unit * (rose.answer.sums() - best_->answer.sums());
  double along = change.cwiseProduct(q.direction).sum(), square = q.direction.squaredNorm();
  for (std::int32_t c = 0; constant_ != 0 && c < p_.outputs(); ++c) {
    const double d = q.intercept_direction(c) / constant_;
    along += d * ((q.free_intercept ? 0 : d) - unit * (rose.answer.constant_sum(c) - best_->answer.constant_sum(c)));
    square += d * d;
  }
  return square > 0 ? along / square : 0;
}

ScanSolution JointScans::solve() {
  start();
  ScanSolution s;
  s.solver = "joint";
  double lower = 0, upper = infinity, gap = infinity, last = infinity;
  int idle = 0, rises = 0;
  for (;;) {
    Question q = question();
    Answer answer = run_.ask(q);
    auto scanned = std::make_unique<JointScanned>(std::move(q), std::move(answer));
    model_.take(*scanned, run_.progress());
    const Certificate c = scanned->check.certificate(run_.progress());
    lower = std::max(lower, c.lower);
    const bool rose = best_ != nullptr && !(c.upper < upper);
    rises = rose ? rises + 1 : 0;
    model_.hold(rises, rose && !hinge() ? curvature(*scanned) : 0);
    if (!rose) {
      upper = c.upper;
      s.certificate = c;
    }
    JointScanned* const from = rose ? best_.get() : scanned.get();
    const double wanted = options_.tolerance * upper;
    const auto model_gap = [&] { return std::max(left_of_wanted * wanted, left_of_gap * (upper - lower)); };
    std::optional<JointModel::Step> next;
    if (hinge()) {
      next = model_.step(*from, model_gap(), true, run_);
      lower = std::max(lower, next->lower);
      if (upper - lower > certifiable * wanted) {
        JointModel::Step bound = model_.bound(*from, model_gap(), run_);
        lower = std::max(lower, bound.lower);
        if (rises == 1) next = std::move(bound);
      }
    }
    require_bound(lower, upper);
    lower = std::min(lower, upper);
    run_.record(lower, upper);
    idle = upper - lower < 0.9 * gap || upper < last - 1e-3 * gap ? 0 : idle + 1;
    last = upper;
    gap = std::min(gap, upper - lower);
    const bool done =
        stops(run_.run(), run_.scans(), gap <= certifiable * wanted, false, s.status) || idle >= most_idle;
    if (!rose) best_ = std::move(scanned);
    if (done) break;
    if (!next.has_value()) next = model_.step(*best_, model_gap(), false, run_);
    w_ = next->weights;
  }
  s.weights = best_->question.weights;
  s.intercepts = best_->question.intercepts;
  s.dual_point = best_->check.dual_point(run_.progress());
  s.certificate.lower = lower;
  set_minimum_gap(s.certificate);
  return s;
}

}  // namespace

ScanSolution solve_joint_scans(const ScanProblem& problem, const Options& options, ScanRun& run) {
  return JointScans(problem, options, run).solve();
}

}  // namespace margin
