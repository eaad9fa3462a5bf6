// Regularised risks of smooth losses by scans.
//
// Problem    min P(w) of certificate/risk.hpp, the rows somewhere else; one output or k of them (one against the rest),
//            which share every scan.
// Update     a scan at w tells P, its gradient and, far from the minimum, its Hessian. The rows in memory (the sample,
//            those of the largest curvature at the start, and those for which the last model was most wrong) are taken
//            as they are, all others by their second-order expansion at the best weights: the minimum of this model, by
//            Newton's method in memory, is the next w; with no row in memory that would be Newton's step. Where P rose, a
//            proximal term keeps the next one nearer to the best. Start: solve_sample(); of the squared loss
//            the minimum itself, from the sums of the first scan.
// Stop       P − D ≤ tolerance · max(|P|, |D|), D the dual value of −φ'(u): both from the rows of one scan.
//            A lasso's D scales these down by as much as a gradient is beyond its end: the model is minimised until none is.
// Source     Boyd & Vandenberghe (2004), Section 9.5; the model is ours.
#include <algorithm>
#include <cmath>

#include "core/certificate/check.hpp"
#include "core/math/rounding.hpp"
#include "core/problem/constraints.hpp"
#include "core/problem/offset.hpp"
#include "core/problem/thresholds.hpp"
#include "core/scans/methods/methods.hpp"
#include "core/scans/methods/smooth_model.hpp"
#include "core/solvers/interval.hpp"

namespace margin {

namespace {

// The Hessian at a relative gap below this is as good as the next one.
constexpr double settled = 1e-4;
constexpr double share_of_wanted = 0.05, share_of_gap = 1e-3, share_of_first_order = 1e-6;

class SmoothScans {
 public:
  SmoothScans(const ScanProblem& problem, const Options& options, ScanRun& run)
      : p_(problem), options_(options), run_(run), constant_(problem.sample().intercept_column()) {
    const std::size_t columns = static_cast<std::size_t>(problem.dimensions) + (constant_ != 0 ? 1 : 0);
    for (std::int32_t o = 0; o < problem.outputs(); ++o)
      outputs_.push_back(std::make_unique<SmoothModel>(problem, o, columns, constant_));
  }
  ScanSolution solve(Answer& first, int in_vain);

 private:
  void start(Answer& first);
  bool start_from_sums(Answer& first);
  Question question(bool curvature) const;

  const ScanProblem& p_;
  const Options& options_;
  ScanRun& run_;
  double constant_;
  std::vector<std::unique_ptr<SmoothModel>> outputs_;
};

void SmoothScans::start(Answer& first) {
  if (start_from_sums(first)) return;
  const Solution s = solve_sample(p_, options_, run_, sample_tolerance);
  for (std::size_t o = 0; o < outputs_.size(); ++o) take_start(s, o, constant_, outputs_[o]->w);
}

/// The squared loss: its gradient at 0 and its Hessian follow from Σ c x xᵀ and Σ c y x.
bool SmoothScans::start_from_sums(Answer& first) {
  const Question q = p_.question(Weights::Zero(p_.outputs(), p_.dimensions), Eigen::VectorXd::Zero(p_.outputs()));
  if (!q.loss->quadratic() || !first.has_matrices() || !q.column_scale.empty()) return false;
  const double second = p_.loss()->second_derivative(0, 1), unit = second / (q.lambda * p_.total_weight);
  const Weights sums = first.sums();
  SmoothModel& out = *outputs_[0];
  out.set_matrix(first.matrix(0, run_.progress()), unit);
  std::vector<double> b(out.w.size(), 0.0);
  for (Eigen::Index j = 0; j < p_.dimensions; ++j)
    b[static_cast<std::size_t>(j)] = unit * (sums(1, j) - q.target_center * sums(0, j)) / q.target_scale;
  if (constant_ != 0)
    b.back() = unit * constant_ * (first.number(1) - q.target_center * p_.total_weight) / q.target_scale;
  meet_constraints(p_.sample(), options_, out.w, run_.progress());
  if (!out.minimise_quadratic(b, run_)) return false;
  hold_offset(p_.sample(), out.w);  // the targets of the sums are less the offset
  return true;
}

Question SmoothScans::question(bool curvature) const {
  const auto k = static_cast<Eigen::Index>(outputs_.size());
  Weights weights(k, p_.dimensions), direction(k, p_.dimensions);
  Eigen::VectorXd b = Eigen::VectorXd::Zero(k), b_direction = b;
  const bool looks_back = !outputs_[0]->best.empty();
  for (Eigen::Index o = 0; o < k; ++o) {
    const SmoothModel& out = *outputs_[static_cast<std::size_t>(o)];
    weights.row(o) = Eigen::Map<const Eigen::RowVectorXd>(out.w.data(), p_.dimensions);
    if (constant_ != 0) b(o) = out.w.back() * constant_;
    if (!looks_back) continue;
    direction.row(o) = Eigen::Map<const Eigen::RowVectorXd>(out.best.data(), p_.dimensions) - weights.row(o);
    if (constant_ != 0) b_direction(o) = out.best.back() * constant_ - b(o);
  }
  Question q = p_.question(weights, b);
  q.curvature = curvature;
  if (q.loss->quadratic()) return q;
  if (looks_back) {
    q.direction = direction;
    q.intercept_direction = b_direction;
  }
  q.bag_rows = p_.bag_rows;
  q.bag_bytes = std::max<std::int64_t>(1 << 16, p_.bag_bytes / k);
  return q;
}

ScanSolution SmoothScans::solve(Answer& first, int in_vain) {
  start(first);
  ScanSolution best;
  best.solver = "newton";
  double lower = 0, upper = infinity, gap = infinity, last = infinity;
  int idle = 0;
  std::vector<OutputPoint> points(outputs_.size());  // of the best weights
  for (;;) {
    const bool known = outputs_[0]->has_matrix(), constant = p_.loss()->quadratic();
    const Question q = question(!known || (!constant && gap > settled * std::fabs(upper)));
    Answer answer = run_.ask(q);
    const RiskCheck check = answered_risk(q, answer, run_.progress());
    upper = 0;
    for (std::int32_t o = 0; o < p_.outputs(); ++o) {
      SmoothModel& output = *outputs_[static_cast<std::size_t>(o)];
      const double primal = check.primal(o);
      output.take(q, answer, primal, run_.progress());
      upper += output.primal;
      if (p_.sample().l1_ratio < 1 && output.primal == primal)
        points[static_cast<std::size_t>(o)] = check.output_point(o, q.weights.row(o).data(), q.intercepts(o), primal);
    }
    const Certificate c = check.certificate(run_.progress());
    if (best.weights.size() == 0 || c.upper < best.certificate.upper) best.certificate = c;
    best.weights = q.weights;  // for its shape
    lower = std::max(lower, std::min(c.lower, upper));
    run_.record(lower, upper);
    idle = upper - lower < 0.9 * gap || upper < last - 1e-3 * gap ? 0 : idle + 1;
    last = upper;
    gap = std::min(gap, upper - lower);
    const double wanted = options_.tolerance * std::max(std::fabs(upper), std::fabs(lower));
    // A step of the squared loss that gains nothing is the last: rounding is all that is left.
    if (stops(run_.run(), run_.scans(), gap <= certifiable * wanted, false, best.status) ||
        idle >= (constant ? 1 : in_vain))
      break;
    // What a lasso's dual weights miss their ends by, and those of a free intercept their balance, goes to the gap as it is, not squared.
    const bool first_order = p_.sample().l1_ratio == 1 || p_.sample().free_intercept;
    const double share =
        (first_order ? share_of_first_order * wanted : std::max(share_of_wanted * wanted, share_of_gap * gap)) /
        static_cast<double>(outputs_.size());
    for (const auto& output : outputs_) output->minimise(share, share_of_wanted * options_.tolerance, run_);
  }
  best.intercepts = Eigen::VectorXd::Zero(p_.outputs());
  best.image = Weights(p_.outputs(), p_.dimensions);
  for (std::size_t o = 0; o < outputs_.size(); ++o) {
    const std::vector<double>& w = outputs_[o]->best;
    const auto at = static_cast<Eigen::Index>(o);
    best.weights.row(at) = Eigen::Map<const Eigen::RowVectorXd>(w.data(), p_.dimensions);
    best.image.row(at) = outputs_[o]->image();
    if (constant_ != 0) best.intercepts(at) = w.back() * constant_;
  }
  const Question asked = p_.question(best.weights, best.intercepts);
  best.intercepts = asked.intercepts;
  if (p_.sample().l1_ratio < 1) best.dual_point = stored_dual_point(asked.objective(), p_.stored_weight, points);
  best.certificate.upper = upper;
  best.certificate.lower = lower;
  set_minimum_gap(best.certificate);
  return best;
}

}  // namespace

ScanSolution solve_smooth_scans(const ScanProblem& problem, Answer& first, const Options& options, ScanRun& run,
                                int in_vain) {
  return SmoothScans(problem, options, run).solve(first, in_vain);
}

}  // namespace margin
