// Least squares and maximum likelihood (lambda 0) by scans.
//
// Problem    min P(w, b) of certificate/likelihood.hpp, the rows somewhere else; fewer features than a matrix of them takes.
// Update     a scan at w tells P, its gradient and its Hessian: Newton's step, halved as long as P rose. Start: of the
//            squared loss the solution of the first scan's sums, else solve_sample().
// Stop       P − D ≤ tolerance · max(|P|, |D|) and no weight is farther from the optimum than 1e-6 of its standard
//            error; or rounding stops its fall. Or weights separate the classes (solvers/likelihood/separation.hpp).
// Source     Nelder, Wedderburn (1972), JRSS A 135; Boyd & Vandenberghe (2004), Section 9.5.
#include <algorithm>
#include <cmath>

#include "core/loss/loss.hpp"
#include "core/math/normal_equations.hpp"
#include "core/problem/offset.hpp"
#include "core/problem/thresholds.hpp"
#include "core/scans/answered_check.hpp"
#include "core/scans/methods/methods.hpp"
#include "core/scans/methods/smooth_model.hpp"
#include "core/solvers/interval.hpp"
#include "core/solvers/likelihood/separation.hpp"

namespace margin {

namespace {

constexpr double enough = 1e-12, nearly = 1e-6;  // ν², in standard errors
constexpr double far = 10;                       // ν² for each row
constexpr int most_halvings = 20, most_directions = 3;

class LikelihoodScans {
 public:
  LikelihoodScans(ScanProblem& problem, const Options& options, ScanRun& run)
      : p_(problem),
        s_(problem.sample()),
        options_(options),
        run_(run),
        columns_(static_cast<std::size_t>(problem.dimensions) + (s_.intercept ? 1 : 0)),
        w_(columns_, 0.0),
        hessian_(columns_) {}
  ScanSolution solve(Answer& first);

 private:
  using Vector = std::vector<double>;
  bool start_from_sums(Answer& first);
  void start_from_sample();
  void start_from_constant();
  Question question(const Vector& w) const;
  bool find_step();
  bool separates(ScanSolution& best);
  bool ask();
  ScanSolution solution() const;

  ScanProblem& p_;
  const Problem& s_;
  const Options& options_;
  ScanRun& run_;
  std::size_t columns_;
  Vector w_;                     // the next iterate, with the intercept's column
  Vector best_;                  // that of least P so far
  Vector gradient_, direction_;  // of Σ c φ there, and Newton's step
  SymmetricMatrix hessian_;
  Certificate certificate_;  // of the last scan
  double size_ = 0;          // the largest |score| of the last scan
  double square_ = infinity, value_ = infinity;
};

/// Of the sums of the rows as they are, which columns far from 0 leave too few digits of: the next scan tells.
bool LikelihoodScans::start_from_sums(Answer& first) {
  if (!s_.loss->quadratic() || !first.has_matrices() || options_.standardize) return false;
  SymmetricMatrix gram = first.matrix(0, run_.progress());
  const Weights sums = first.sums();
  Vector b(columns_, 0.0);
  for (Eigen::Index j = 0; j < p_.dimensions; ++j)
    b[static_cast<std::size_t>(j)] = sums(1, j) - s_.target_center * sums(0, j);
  if (s_.intercept) b.back() = first.number(1) - s_.target_center * p_.total_weight;
  if (s_.offset >= 0) {
    decouple(gram, static_cast<std::size_t>(s_.offset));
    b[static_cast<std::size_t>(s_.offset)] = 0;
  }
  const NormalEquations equations(gram, s_.intercept, run_.progress());
  if (!equations.regular()) return false;
  equations.solve(b.data(), run_.progress());
  for (std::size_t j = 0; j < p_.units.deviation.size(); ++j) {
    if (s_.intercept) b.back() += b[j] * p_.units.mean[j];
    b[j] *= p_.units.deviation[j];
  }
  w_ = std::move(b);
  return std::all_of(w_.begin(), w_.end(), [](double v) { return std::isfinite(v); });
}

/// What all rows fit once may fit the sample many times, or as well as one likes: then from the best constant.
void LikelihoodScans::start_from_sample() {
  try {
    const Solution s = solve_sample(p_, options_, run_, sample_tolerance);
    if (s.status == Status::optimal) return take_start(s, 0, s_.intercept ? 1.0 : 0.0, w_);
  } catch (const DependentFeatures&) {
  }
  start_from_constant();
}

void LikelihoodScans::start_from_constant() {
  const double start = (s_.target_constant - s_.target_center) / s_.target_scale;
  std::fill(w_.begin(), w_.end(), 0.0);
  if (s_.intercept && std::isfinite(start)) w_.back() = start;
  hold_offset(s_, w_);
}

Question LikelihoodScans::question(const Vector& w) const {
  Weights weights(1, p_.dimensions);
  weights.row(0) = Eigen::Map<const Eigen::RowVectorXd>(w.data(), p_.dimensions);
  Question q = p_.question(weights, Eigen::VectorXd::Constant(1, s_.intercept ? w.back() : 0.0));
  q.curvature = true;
  return q;
}

/// A scan at w_. False: P rose there.
bool LikelihoodScans::ask() {
  const Question q = question(w_);
  if (s_.intercept) w_.back() = q.intercepts(0);
  Answer answer = run_.ask(q);
  const LikelihoodAnswer told(q, answer, run_.progress());
  certificate_ = told.check().certificate(run_.progress());
  if (!best_.empty() && certificate_.upper > value_ * (1 + 1e-14)) return false;
  value_ = certificate_.upper;
  best_ = w_;
  gradient_ = told.gradient();
  hessian_ = told.hessian();
  size_ = told.largest_score();
  return true;
}

/// False where the Hessian is singular.
bool LikelihoodScans::find_step() {
  square_ = infinity;
  if (!std::isfinite(value_)) return false;
  const NormalEquations equations(hessian_, s_.intercept, run_.progress());
  if (!equations.regular()) {
    if (s_.loss->self_concordance() > 0 && size_ > runaway_score) return false;
    throw DependentFeatures(
        "lambda => 0 has no unique optimum: ", equations.dependent(), p_.dimensions,
        "Leave features out (collinear => 'drop' does, of rows with named columns), or give a lambda "
        "above 0: it always has one optimum.");
  }
  direction_.assign(columns_, 0.0);
  for (std::size_t j = 0; j < columns_; ++j) direction_[j] = -gradient_[j];
  equations.solve(direction_.data(), run_.progress());
  square_ = 0;
  for (std::size_t j = 0; j < columns_; ++j) square_ -= gradient_[j] * direction_[j];
  return std::isfinite(square_);
}

/// Whether the rounded direction, in the rows' own units, has no row on the wrong side.
bool LikelihoodScans::separates(ScanSolution& best) {
  Vector v = direction_;
  for (std::size_t j = 0; j < p_.units.deviation.size(); ++j) {
    v[j] /= p_.units.deviation[j];
    if (s_.intercept) v.back() -= v[j] * p_.units.mean[j];
  }
  hold_offset(s_, v);
  if (!round_direction(v)) return false;
  hold_offset(s_, v);
  Question q = question(v);
  q.column_center.clear();
  q.column_scale.clear();
  Answer answer = run_.ask(q);
  const LikelihoodAnswer told(q, answer, run_.progress());
  const Certificate c = told.check().certificate(run_.progress());
  if (!c.separates) return false;
  p_.units = Standardization{};  // so that zeros stay zeros
  best_ = v;
  best = solution();
  best.certificate = c;
  best.status = Status::separable;
  return true;
}

ScanSolution LikelihoodScans::solution() const {
  ScanSolution s;
  s.solver = "irls";
  s.weights = Weights(1, p_.dimensions);
  s.weights.row(0) = Eigen::Map<const Eigen::RowVectorXd>(best_.data(), p_.dimensions);
  s.intercepts = Eigen::VectorXd::Constant(1, s_.intercept ? best_.back() : 0.0);
  return s;
}

ScanSolution LikelihoodScans::solve(Answer& first) {
  if (!start_from_sums(first)) start_from_sample();
  hold_offset(s_, w_);
  bool sampled = true;
  Certificate best;
  Status why = Status::iteration_limit;
  double lower = 0, before = infinity, share = 1;
  int halvings = 0, directions = 0;
  for (;;) {
    const bool fell = ask();
    lower = std::max(lower, std::min(certificate_.lower, value_));
    if (fell) best = certificate_;
    run_.record(lower, value_);
    if (fell && certificate_.separates) {
      why = Status::separable;
      break;
    }
    if (!fell && ++halvings > most_halvings) break;
    share = fell ? 1 : share / 2;
    const bool steps = !fell || find_step();
    // A row that the sample has none like may have a mean without end.
    const bool wild = fell && s_.loss->log_link() && !(square_ <= far * p_.total_weight);
    if (sampled && wild && !run_.exhausted(why)) {
      sampled = false;
      best_.clear();
      start_from_constant();
      continue;
    }
    sampled = false;
    const bool grows = s_.task == Task::binary || s_.loss->log_link();
    const bool runaway = fell && grows && !direction_.empty() && (!steps || size_ > runaway_score);
    if (runaway && directions++ < most_directions && !run_.exhausted(why)) {
      ScanSolution separated;
      if (separates(separated)) return separated;
    }
    if (!steps) break;
    const double wanted = options_.tolerance * std::max(std::fabs(value_), std::fabs(lower));
    // In standard errors: the squared loss knows no unit of its own.
    const double unit = s_.loss->self_concordance() > 0 ? 1.0 : value_;
    const bool near = square_ <= enough * unit, still = square_ <= nearly * unit && square_ > 0.25 * before;
    if (stops(run_.run(), run_.scans(), near && value_ - lower <= certifiable * wanted, false, why)) break;
    if (fell && (still || value_ == 0)) break;
    if (fell) {
      before = square_;
      halvings = 0;
    }
    w_ = best_;
    for (std::size_t j = 0; j < columns_; ++j) w_[j] += share * direction_[j];
  }
  ScanSolution s = solution();
  s.certificate = best;
  s.certificate.upper = value_;
  s.certificate.lower = lower;
  set_minimum_gap(s.certificate);
  s.status = why;
  return s;
}

}  // namespace

ScanSolution solve_likelihood_scans(ScanProblem& problem, Answer& first, const Options& options, ScanRun& run) {
  return LikelihoodScans(problem, options, run).solve(first);
}

}  // namespace margin
