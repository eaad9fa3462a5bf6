// Regularised risks of smooth losses by scans, of more features than matrices of them have room for.
//
// Problem    that of scans/methods/smooth.cpp.
// Update     w += t d, d = −B∇P: B is the inverse Hessian of the sampled rows, by conjugate gradients, corrected so that it
//            takes the last changes of the gradient to their steps (limited-memory BFGS). The scan at w + d also sums the
//            losses at fractions of the step; where P rose there, the best of these is next. Start: solve_sample().
// Stop       as scans/methods/smooth.cpp.
// Source     Nocedal & Wright (2006), Algorithm 7.4; a sample's Hessian: Byrd, Chin, Neveitt & Nocedal (2011).
#include <algorithm>
#include <cmath>
#include <deque>

#include "core/certificate/check.hpp"
#include "core/math/rounding.hpp"
#include "core/problem/thresholds.hpp"
#include "core/scans/answered_check.hpp"
#include "core/scans/methods/methods.hpp"
#include "core/scans/methods/smooth_model.hpp"
#include "core/solvers/interval.hpp"
#include "core/solvers/newton/conjugate_gradients.hpp"
#include "core/solvers/newton/newton.hpp"

namespace margin {

namespace {

// Of the whole step, from where it led to: −1 is where it came from.
constexpr double fractions[] = {-1, -0.9, -0.75, -0.5, -0.25, 0.5, 1};
constexpr std::size_t most_pairs = 20;

using Vector = std::vector<double>;

/// One output: its weights with the intercept's column, in which the penalty is that of any weight.
struct Output {
  Vector w, gradient, step;  ///< gradient: of P/λ
  Vector before, gradient_before;
  double primal = 0, primal_before = 0;
  struct Pair {
    Vector s, y;
    double curvature;
  };
  std::deque<Pair> pairs;
};

class WideScans {
 public:
  WideScans(const ScanProblem& problem, const Options& options, ScanRun& run)
      : p_(problem),
        options_(options),
        run_(run),
        loss_(*problem.loss()),
        d_(static_cast<std::size_t>(problem.dimensions)),
        constant_(problem.sample().intercept ? problem.sample().intercept_scale : 0),
        columns_(d_ + (constant_ != 0 ? 1 : 0)),
        outputs_(static_cast<std::size_t>(problem.outputs())) {
    for (Output& o : outputs_) o.w.assign(columns_, 0.0);
  }
  ScanSolution solve();

 private:
  void start();
  Question question() const;
  void take(const Question& q, Answer& answer, const RiskCheck& check);
  bool backtrack(const Question& q, const Answer& answer, std::size_t checked);
  void direction(std::size_t o);
  void sampled_direction(std::size_t o);

  const ScanProblem& p_;
  const Options& options_;
  ScanRun& run_;
  const Loss& loss_;
  std::size_t d_;
  double constant_;
  std::size_t columns_;
  std::vector<Output> outputs_;
  bool moved_ = false;  // there is a step to look back on
};

void WideScans::start() {
  const Solution s = solve_sample(p_, options_, run_, sample_tolerance);
  for (std::size_t o = 0; o < outputs_.size(); ++o) take_start(s, o, constant_, outputs_[o].w);
}

Question WideScans::question() const {
  const auto k = static_cast<Eigen::Index>(outputs_.size());
  Weights w(k, p_.dimensions), step(k, p_.dimensions);
  Eigen::VectorXd b = Eigen::VectorXd::Zero(k), b_step = b;
  for (Eigen::Index o = 0; o < k; ++o) {
    const Output& out = outputs_[static_cast<std::size_t>(o)];
    for (std::size_t j = 0; j < d_; ++j) w(o, static_cast<Eigen::Index>(j)) = out.w[j];
    if (constant_ != 0) b(o) = out.w[d_] * constant_;
    if (!moved_) continue;
    for (std::size_t j = 0; j < d_; ++j) step(o, static_cast<Eigen::Index>(j)) = out.step[j];
    if (constant_ != 0) b_step(o) = out.step[d_] * constant_;
  }
  Question q = p_.question(w, b);
  if (moved_) {
    q.direction = step;
    q.intercept_direction = b_step;
    q.steps.assign(std::begin(fractions), std::end(fractions));
  }
  return q;
}

/// P and its gradient at the asked weights.
void WideScans::take(const Question& q, Answer& answer, const RiskCheck& check) {
  const double unit = 1 / (q.lambda * p_.total_weight);
  const Weights sums = answer.sums();
  for (std::size_t o = 0; o < outputs_.size(); ++o) {
    Output& out = outputs_[o];
    const auto at = static_cast<Eigen::Index>(o);
    out.primal = check.primal(static_cast<std::int32_t>(o));
    out.gradient = out.w;
    for (std::size_t j = 0; j < d_; ++j) out.gradient[j] -= unit * sums(at, static_cast<Eigen::Index>(j));
    if (constant_ != 0) out.gradient[d_] -= unit * answer.constant_sum(static_cast<std::int32_t>(o));
  }
}

/// Where P rose along the step, the weights move to the best of the fractions; true if there was such an output, whose
/// new weights nobody has asked about.
bool WideScans::backtrack(const Question& q, const Answer& answer, std::size_t checked) {
  bool any = false;
  for (std::size_t o = 0; o < outputs_.size(); ++o) {
    Output& out = outputs_[o];
    if (!(out.primal > out.primal_before * (1 + 1e-12))) continue;
    double best = out.primal_before, fraction = -1;
    for (std::size_t k = 0; k < std::size(fractions); ++k) {
      double square = 0;
      for (std::size_t j = 0; j < columns_; ++j) {
        const double w = out.w[j] + fractions[k] * out.step[j];
        square += w * w;
      }
      const double value = 0.5 * q.lambda * square + answer.number(checked + k * outputs_.size() + o) / p_.total_weight;
      if (fractions[k] > -1 && value < best) {
        best = value;
        fraction = fractions[k];
      }
    }
    // Nothing on the way was better: a tenth of the shortest way looked at.
    const double kept = fraction > -1 ? 1 + fraction : 0.01;
    for (std::size_t j = 0; j < columns_; ++j) {
      out.step[j] *= kept;
      out.w[j] = out.before[j] + out.step[j];
    }
    any = true;
  }
  return any;
}

void WideScans::direction(std::size_t o) {
  Output& out = outputs_[o];
  if (!out.before.empty()) {
    Output::Pair pair{out.w, out.gradient, 0};
    for (std::size_t j = 0; j < columns_; ++j) {
      pair.s[j] -= out.before[j];
      pair.y[j] -= out.gradient_before[j];
    }
    pair.curvature = inner(pair.s, pair.y);
    if (pair.curvature > 1e-12 * inner(pair.y, pair.y)) {
      out.pairs.push_back(std::move(pair));
      if (out.pairs.size() > most_pairs) out.pairs.pop_front();
    }
  }
  sampled_direction(o);
}

/// −B∇, B the inverse H of the sample, corrected so that it takes each known change of the gradient to its step.
void WideScans::sampled_direction(std::size_t o) {
  Output& out = outputs_[o];
  const NewtonProblem sample(p_.sample(), static_cast<std::int32_t>(o), NewtonProblem::Systems::conjugate_gradients,
                             run_.run());
  Vector u(static_cast<std::size_t>(sample.rows.rows())), weight(u.size());
  sample.rows.scores(out.w.data(), u.data());
  for (std::size_t i = 0; i < u.size(); ++i)
    weight[i] = sample.cost[i] * std::max(0.0, loss_.second_derivative(u[i], sample.y[i]));
  Vector r = out.gradient, alpha(out.pairs.size());
  for (std::size_t k = out.pairs.size(); k-- > 0;) {
    const Output::Pair& pair = out.pairs[k];
    alpha[k] = inner(pair.s, r) / pair.curvature;
    simd().axpy_d(-alpha[k], pair.y.data(), r.data(), columns_);
  }
  ConjugateGradients systems(sample.rows);
  out.step.assign(columns_, 0.0);
  systems.solve(weight.data(), 1.0, r, 1e-3, out.step);
  for (double& s : out.step) s = -s;  // H⁻¹ r
  for (std::size_t k = 0; k < out.pairs.size(); ++k) {
    const Output::Pair& pair = out.pairs[k];
    const double beta = inner(pair.y, out.step) / pair.curvature;
    simd().axpy_d(alpha[k] - beta, pair.s.data(), out.step.data(), columns_);
  }
  for (double& s : out.step) s = -s;
}

ScanSolution WideScans::solve() {
  start();
  ScanSolution best;
  best.solver = "newton_cg";
  double lower = 0, upper = infinity, gap = infinity, last = infinity;
  int idle = 0;
  for (;;) {
    const Question q = question();
    Answer answer = run_.ask(q);
    const RiskCheck check = answered_risk(q, answer, run_.progress());
    take(q, answer, check);
    const Certificate c = check.certificate(run_.progress());
    if (c.upper < upper || best.weights.size() == 0) {
      upper = c.upper;
      best.weights = q.weights;
      best.intercepts = q.intercepts;
      best.certificate = c;
      best.dual_point = check.dual_point(run_.progress());
    }
    lower = std::max(lower, std::min(c.lower, upper));
    run_.record(lower, upper);
    idle = upper - lower < 0.9 * gap || upper < last - 1e-3 * gap ? 0 : idle + 1;
    last = upper;
    gap = std::min(gap, upper - lower);
    const bool reached = gap <= certifiable * options_.tolerance * std::max(std::fabs(upper), std::fabs(lower));
    if (stops(run_.run(), run_.scans(), reached, false, best.status) || idle >= most_idle) break;
    if (moved_ && backtrack(q, answer, check.reductions().size())) continue;
    for (std::size_t o = 0; o < outputs_.size(); ++o) {
      Output& out = outputs_[o];
      direction(o);
      out.before = out.w;
      out.gradient_before = out.gradient;
      out.primal_before = out.primal;
      for (std::size_t j = 0; j < columns_; ++j) out.w[j] += out.step[j];
    }
    moved_ = true;
  }
  best.certificate.lower = lower;
  set_minimum_gap(best.certificate);
  return best;
}

}  // namespace

ScanSolution solve_smooth_wide(const ScanProblem& problem, const Options& options, ScanRun& run) {
  return WideScans(problem, options, run).solve();
}

}  // namespace margin
