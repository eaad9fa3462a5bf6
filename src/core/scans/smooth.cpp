// Regularised risks of smooth losses by scans.
//
// Problem    min P(w) of certificate/risk.hpp, no elastic net, the rows somewhere else; one output or k of them (one
//            against the rest), which share every scan.
// Update     w += t d. d = −H⁻¹∇P: where H = λI + Σ c φ'' x xᵀ/W is asked for, with a Cholesky factor of it, kept while
//            it is good enough; with more features, the H of the sampled rows by conjugate gradients, corrected by the
//            last steps and changes of the gradient (limited-memory BFGS). The scan at w + d also sums the losses at
//            fractions of the step; where P rose there, the best of these is next. Start: the solution of the sample;
//            of the squared loss the minimum itself, from the sums of the first scan.
// Stop       P − D ≤ tolerance · max(|P|, |D|), D the dual value of −φ'(u): both from the rows of one scan.
// Source     Boyd & Vandenberghe (2004), Section 9.5; Nocedal & Wright (2006), Algorithm 7.4, for the correction; a
//            sample's Hessian as preconditioner: Byrd, Chin, Neveitt & Nocedal (2011).
#include <algorithm>
#include <cmath>
#include <deque>

#include "core/problem/thresholds.hpp"
#include "core/scans/answered_check.hpp"
#include "core/scans/methods.hpp"
#include "core/solvers/interval.hpp"
#include "core/solvers/newton/conjugate_gradients.hpp"
#include "core/solvers/newton/newton.hpp"
#include "core/solvers/solver.hpp"

namespace margin {

namespace {

// Of the whole step; 0 is where it came from.
const std::vector<double> fractions = {-1, -0.9, -0.75, -0.5, -0.25, 0.5, 1};
// An H of iterates this near to the optimum is as good as the next one.
constexpr double settled = 1e-3;
constexpr double start_tolerance = 1e-4;
constexpr std::size_t most_pairs = 20;
constexpr int most_idle = 6;

using Vector = std::vector<double>;

double inner(const Vector& a, const Vector& b) { return simd().dot_dd(a.data(), b.data(), a.size()); }

/// One output: its weights with the intercept's column, in which the penalty is that of any weight.
struct Output {
  Vector w, gradient, step;  ///< gradient: of P/λ
  Vector before, gradient_before;
  double primal = 0, primal_before = 0;
  std::unique_ptr<SymmetricMatrix> factor;
  struct Pair {
    Vector s, y;
    double curvature;
  };
  std::deque<Pair> pairs;
};

class SmoothScans {
 public:
  SmoothScans(const ScanProblem& problem, const Options& options, ScanRun& run)
      : p_(problem),
        options_(options),
        run_(run),
        loss_(*problem.loss()),
        d_(static_cast<std::size_t>(problem.dimensions)),
        constant_(problem.sample().intercept ? problem.sample().intercept_scale : 0),
        columns_(d_ + (constant_ != 0 ? 1 : 0)),
        dense_(columns_ <= static_cast<std::size_t>(Answer::most_matrix_columns)),
        outputs_(static_cast<std::size_t>(problem.outputs())) {
    for (Output& o : outputs_) o.w.assign(columns_, 0.0);
  }
  ScanSolution solve(Answer& first);

 private:
  void start(Answer& first);
  bool start_from_sums(Answer& first);
  Question question(bool curvature) const;
  void take(const Question& q, Answer& answer, const RiskCheck& check);
  bool factor(Output& o, const SymmetricMatrix& sum);
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
  bool dense_;
  std::vector<Output> outputs_;
  bool moved_ = false;  // there is a step to look back on
};

void SmoothScans::start(Answer& first) {
  if (start_from_sums(first)) return;
  Options options = options_;
  options.tolerance = std::max(options.tolerance, start_tolerance);
  options.history = false;
  options.max_iterations.reset();
  options.solver = "auto";
  const Problem& sample = p_.sample();
  const Solution s = choose_solver(sample, options).solve(sample, options, run_.progress());
  for (std::size_t o = 0; o < outputs_.size(); ++o) {
    const auto at = static_cast<Eigen::Index>(o);
    if (!s.weights.row(at).allFinite()) continue;
    std::copy_n(s.weights.row(at).data(), d_, outputs_[o].w.begin());
    if (constant_ != 0) outputs_[o].w[d_] = s.intercept(at) / constant_;
  }
}

/// The squared loss: its gradient at 0 and its H follow from Σ c x xᵀ and Σ c y x.
bool SmoothScans::start_from_sums(Answer& first) {
  const Question q = p_.question(Weights::Zero(p_.outputs(), p_.dimensions), Eigen::VectorXd::Zero(p_.outputs()));
  if (!first.has_matrices() || first.dimensions() != p_.dimensions || !q.class_weight.empty() ||
      !q.column_scale.empty() || !dense_)
    return false;
  const SymmetricMatrix& gram = first.matrix(0, run_.progress());
  const double second = loss_.second_derivative(0, 1), unit = 1 / (q.lambda * p_.total_weight);
  const Weights sums = first.sums();
  for (std::size_t o = 0; o < outputs_.size(); ++o) {
    Output& out = outputs_[o];
    SymmetricMatrix scaled = gram;
    for (std::size_t i = 0; i < columns_; ++i)
      for (std::size_t j = i; j < columns_; ++j) scaled.row(i)[j] *= second;
    if (!factor(out, scaled)) return false;
    // Σ c y (x, B) for the targets of this output.
    Vector target(columns_, 0.0);
    double mass = 0;
    if (p_.task() == Task::regression) {
      for (std::size_t j = 0; j < d_; ++j) {
        const auto at = static_cast<Eigen::Index>(j);
        target[j] = (sums(1, at) - q.target_center * sums(0, at)) / q.target_scale;
      }
      mass = (first.number(1) - q.target_center * p_.total_weight) / q.target_scale;
    } else {
      for (std::size_t c = 0; c < p_.class_names.size(); ++c) {
        const bool own = outputs_.size() == 1 ? c == 1 : c == o;
        for (std::size_t j = 0; j < d_; ++j)
          target[j] += (own ? 1 : -1) * p_.class_sums(static_cast<Eigen::Index>(c), static_cast<Eigen::Index>(j));
        mass += (own ? 1 : -1) * p_.class_mass[c];
      }
    }
    if (constant_ != 0) target[d_] = constant_ * mass;
    for (double& t : target) t *= second * unit;
    out.w = target;
    solve_factored(*out.factor, out.w.data(), &run_.progress());
  }
  return true;
}

/// I + sum/(λW) = UᵀU; false where rounding leaves none.
bool SmoothScans::factor(Output& o, const SymmetricMatrix& sum) {
  const double unit = 1 / (p_.sample().lambda * p_.total_weight);
  for (double damping = 0; damping < 1; damping = damping == 0 ? 1e-13 : 100 * damping) {
    o.factor = std::make_unique<SymmetricMatrix>(columns_);
    for (std::size_t i = 0; i < columns_; ++i) {
      for (std::size_t j = i; j < columns_; ++j) o.factor->row(i)[j] = unit * sum.row(i)[j];
      o.factor->row(i)[i] += 1 + damping * o.factor->row(i)[i];
    }
    if (factorise(*o.factor, run_.progress())) return true;
  }
  o.factor.reset();
  return false;
}

Question SmoothScans::question(bool curvature) const {
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
  q.curvature = curvature;
  if (moved_) {
    q.direction = step;
    q.intercept_direction = b_step;
    q.steps = fractions;
  }
  return q;
}

/// P and its gradient at the asked weights.
void SmoothScans::take(const Question& q, Answer& answer, const RiskCheck& check) {
  const double unit = 1 / (q.lambda * p_.total_weight);
  const Weights sums = answer.sums();
  for (std::size_t o = 0; o < outputs_.size(); ++o) {
    Output& out = outputs_[o];
    const auto at = static_cast<Eigen::Index>(o);
    out.primal = check.primal(static_cast<std::int32_t>(o));
    out.gradient = out.w;
    for (std::size_t j = 0; j < d_; ++j) out.gradient[j] -= unit * sums(at, static_cast<Eigen::Index>(j));
    if (constant_ != 0) out.gradient[d_] -= unit * answer.constant_sum(static_cast<std::int32_t>(o));
    if (q.curvature) factor(out, answer.matrix(static_cast<std::int32_t>(o), run_.progress()));
  }
}

/// Where P rose along the step, the weights move to the best of the fractions; true if there was such an output, whose
/// new weights nobody has asked about.
bool SmoothScans::backtrack(const Question& q, const Answer& answer, std::size_t checked) {
  bool any = false;
  for (std::size_t o = 0; o < outputs_.size(); ++o) {
    Output& out = outputs_[o];
    if (!(out.primal > out.primal_before * (1 + 1e-12))) continue;
    double best = out.primal_before, fraction = -1;
    for (std::size_t k = 0; k < fractions.size(); ++k) {
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

void SmoothScans::direction(std::size_t o) {
  Output& out = outputs_[o];
  if (!out.before.empty() && !dense_) {
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
  if (out.factor != nullptr) {
    out.step = out.gradient;
    solve_factored(*out.factor, out.step.data(), &run_.progress());
    for (double& s : out.step) s = -s;
  } else {
    sampled_direction(o);
  }
}

/// −B∇, B the inverse H of the sample, corrected so that it takes each known change of the gradient to its step.
void SmoothScans::sampled_direction(std::size_t o) {
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

ScanSolution SmoothScans::solve(Answer& first) {
  start(first);
  ScanSolution best;
  best.solver = dense_ ? "newton" : "newton_cg";
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double lower = 0, upper = infinity, gap = infinity, last = infinity;
  int idle = 0;
  for (;;) {
    const bool known = outputs_[0].factor != nullptr;
    const Question q = question(dense_ && (!known || (loss_.name() != "squared" && gap > settled * std::fabs(upper))));
    Answer answer = run_.ask(q);
    const RiskCheck check = answered_risk(q, loss_, answer);
    take(q, answer, check);
    const Certificate c = check.certificate(run_.progress());
    if (c.upper < upper || best.weights.size() == 0) {
      upper = c.upper;
      best.weights = q.weights;
      best.intercepts = q.intercepts;
      best.certificate = c;
    }
    lower = std::max(lower, std::min(c.lower, upper));
    run_.record(lower, upper);
    idle = upper - lower < 0.9 * gap || upper < last - 1e-3 * gap ? 0 : idle + 1;
    last = upper;
    gap = std::min(gap, upper - lower);
    const bool reached = gap <= certifiable * options_.tolerance * std::max(std::fabs(upper), std::fabs(lower));
    if (stops(run_.run(), run_.scans(), reached, false, best.status) || idle >= most_idle) break;
    if (moved_ && backtrack(q, answer, check.folds().size())) continue;
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
  best.certificate.gap = upper - lower;
  best.certificate.relative_gap =
      best.certificate.gap > 0 ? best.certificate.gap / std::max(std::fabs(upper), std::fabs(lower)) : 0.0;
  return best;
}

}  // namespace

ScanSolution solve_smooth_scans(const ScanProblem& problem, Answer& first, const Options& options, ScanRun& run,
                                MemoryBudget) {
  return SmoothScans(problem, options, run).solve(first);
}

}  // namespace margin
