#include "core/scans/methods/smooth_model.hpp"

#include <algorithm>
#include <cmath>

#include "core/math/box_term.hpp"
#include "core/solvers/elastic_net/l1_quadratic.hpp"
#include "core/solvers/newton/gram.hpp"
#include "core/solvers/newton/under_constraints.hpp"

namespace margin {

namespace {

using Vector = std::vector<double>;

constexpr int most_newton_steps = 50, most_polished = 2;
constexpr double noise = 1e-13;  // of a value of the model

/// y = A x of a symmetric matrix by its upper triangle.
void multiply(const SymmetricMatrix& a, const Vector& x, Vector& y) {
  std::fill(y.begin(), y.end(), 0.0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double* row = a.row(i);
    y[i] += row[i] * x[i] + simd().dot_dd(row + i + 1, x.data() + i + 1, x.size() - i - 1);
    simd().axpy_d(x[i], row + i + 1, y.data() + i + 1, x.size() - i - 1);
  }
}

}  // namespace

/// l2 + sum = UᵀU in `factor`; where rounding leaves none, of a slightly larger diagonal. False: not even then.
bool SmoothModel::factorise_with_penalty(const SymmetricMatrix& sum, SymmetricMatrix& factor,
                                         const Progress& progress) const {
  const std::size_t n = sum.size();
  for (double damping = 0; damping < 1; damping = damping == 0 ? 1e-13 : 100 * damping) {
    for (std::size_t i = 0; i < n; ++i) {
      std::copy_n(sum.row(i) + i, n - i, factor.row(i) + i);
      factor.row(i)[i] += l2_[i] + damping * std::fabs(factor.row(i)[i]);
    }
    if (factorise(factor, progress)) return true;
  }
  return false;
}

SmoothModel::SmoothModel(const ScanProblem& problem, std::int32_t output, std::size_t columns, double constant)
    : w(columns, 0.0),
      p_(problem),
      output_(output),
      constant_(constant),
      quadratic_(problem.loss()->quadratic()),
      pull_(proximal_weights(problem)),
      has_l1_(problem.sample().l1_ratio > 0),
      held_(problem.sample().offset >= 0 ? static_cast<std::size_t>(problem.sample().offset) : columns),
      rows_(problem),
      gradient_(columns, 0.0) {
  const Problem& p = problem.sample();
  for (std::int32_t j = 0; j < problem.dimensions; ++j) {
    const double f = p.factor(static_cast<std::size_t>(j));
    l1_.push_back(p.l1_ratio * f);
    l2_.push_back((1 - p.l1_ratio) * f);
  }
  if (held_ < columns) l1_[held_] = l2_[held_] = 0;
  l1_.resize(columns, 0.0);
  l2_.resize(columns, p.free_intercept ? 0.0 : 1 - p.l1_ratio);
}

/// What no step of the weight that is known needs.
void SmoothModel::hold(SymmetricMatrix& matrix) const {
  if (held_ < w.size()) decouple(matrix, held_);
}
void SmoothModel::hold(Vector& gradient) const {
  if (held_ < w.size()) gradient[held_] = 0;
}

double SmoothModel::penalty(const Vector& at) const {
  double sum = 0;
  for (std::size_t j = 0; j < at.size(); ++j) sum += l1_[j] * std::fabs(at[j]) + 0.5 * l2_[j] * at[j] * at[j];
  return sum;
}

/// What the penalty, the bounds and the constraints leave of the gap at w with the gradient r; of what no square holds, about what a step
/// of that column alone gains.
double SmoothModel::penalty_gap(const NewtonRows& rows, const Vector& at, const Vector& r) {
  if (rows.constraints() != nullptr) return UnderConstraints(rows, multipliers_).penalty_gap(at, r);
  double gap = 0;
  for (std::size_t j = 0; j < at.size(); ++j) {
    double v = l2_[j] * at[j] - r[j];
    if (l2_[j] == 0) {
      const bool up = v > 0 ? at[j] < rows.high(j) : at[j] > rows.low(j);
      const double beyond = std::max(0.0, std::fabs(v) - l1_[j]), curvature = matrix_->row(j)[j];
      if (up && curvature > 0) gap += 0.5 * beyond * beyond / curvature;
      v = std::clamp(v, -l1_[j], l1_[j]);
    }
    const double least = l2_[j] == 0 && l1_[j] == 0 ? 0 : box_value(v, l2_[j], l1_[j], rows.low(j), rows.high(j));
    gap += std::max(0.0, l1_[j] * std::fabs(at[j]) + 0.5 * l2_[j] * at[j] * at[j] - v * at[j] - least);
  }
  return gap;
}

/// By how much of its end a gradient that a lasso's norm alone holds is beyond it: the dual weights are scaled down by as much.
double SmoothModel::missed(const NewtonRows& rows, const Vector& at, const Vector& r) const {
  double most = 0;
  for (std::size_t j = 0; j < at.size(); ++j) {
    if (l2_[j] > 0 || l1_[j] == 0) continue;
    const bool moves = r[j] < 0 ? at[j] < rows.high(j) : at[j] > rows.low(j);
    if (moves) most = std::max(most, (std::fabs(r[j]) - l1_[j]) / l1_[j]);
  }
  return most;
}

/// What a step may leave of the second-order model for that to be a share of at most `missable`.
double SmoothModel::finest(double missable) const {
  double least = infinity;
  for (std::size_t j = 0; j < l1_.size(); ++j)
    if (const double curvature = matrix_->row(j)[j]; l2_[j] == 0 && l1_[j] > 0 && curvature > 0)
      least = std::min(least, 0.05 * missable * missable * l1_[j] * l1_[j] / curvature);
  return least;
}

void SmoothModel::set_matrix(const SymmetricMatrix& sum, double unit) {
  matrix_ = std::make_unique<SymmetricMatrix>(w.size());
  for (std::size_t i = 0; i < w.size(); ++i)
    for (std::size_t j = i; j < w.size(); ++j) matrix_->row(i)[j] = unit * sum.row(i)[j];
}

void SmoothModel::take(const Question& asked, Answer& answer, double value, const Progress& progress) {
  const double unit = 1 / (asked.lambda * p_.total_weight);
  if (asked.bag_rows > 0) {
    if (rows_.too_many(asked.bag_bytes)) rows_.forget(Vector(rows_.size(), 0.0));
    rows_.take(answer.bag(output_), progress);
  }
  const bool rose = !best.empty() && value > primal * (1 + 1e-12);
  if (rose) {  // again and again: by ever larger factors, as nobody knows the size of what is missing
    proximal_ = proximal_ == 0 ? 1 : std::ldexp(proximal_, 2 * std::max(1, rises_));
    ++rises_;
    return;
  }
  rises_ = 0;
  proximal_ = proximal_ < 0.1 ? 0 : proximal_ / 4;
  primal = value;
  best = w;
  fresh_ = asked.curvature;
  if (fresh_) set_matrix(answer.matrix(output_, progress), unit);
  for (std::size_t j = 0; j < w.size(); ++j) gradient_[j] = l2_[j] * w[j];
  const auto sums = answer.sums().row(output_).eval();
  for (Eigen::Index j = 0; j < sums.size(); ++j) gradient_[static_cast<std::size_t>(j)] -= unit * sums(j);
  if (constant_ != 0) gradient_.back() -= unit * answer.constant_sum(output_);
  hold(gradient_);
}

/// The rows in memory, as a solver sees them.
struct SmoothModel::Held {
  Held(const SmoothModel& of, ScanRun& run)
      : problem(of.p_.over(of.rows_.rows())),
        rows(of.rows_.newton(problem, of.output_, NewtonProblem::Systems::cholesky, run.run())) {}

  Problem problem;
  NewtonProblem rows;
};

/// F(w) = penalty(w)/λ + (proximal/2) ‖w − c‖² + <linear, w − c> + ½ (w − c)ᵀ rest (w − c) + Σ cost φ(<x, w>) over the rows in
/// memory.
struct SmoothModel::Model {
  Model(const SmoothModel& model, const NewtonProblem& held);
  /// F, its gradient, and the scores of the rows.
  double evaluate(const Vector& w, Vector& gradient);

  const SmoothModel& of;
  const NewtonProblem& rows;
  const Vector& center;
  double proximal;
  Vector linear, scores, coefficient, sum;
  SymmetricMatrix rest;
};

SmoothModel::Model::Model(const SmoothModel& model, const NewtonProblem& held)
    : of(model),
      rows(held),
      center(of.best),
      proximal(of.proximal_),
      linear(of.w.size()),
      scores(rows.y.size()),
      coefficient(rows.y.size()),
      sum(of.w.size()),
      rest(*of.matrix_) {
  rows.rows.scores(center.data(), scores.data());
  for (std::size_t i = 0; i < scores.size(); ++i)
    coefficient[i] = rows.cost[i] * rows.loss.derivative(scores[i], rows.y[i]);
  rows.rows.combine(coefficient.data(), sum.data());
  for (std::size_t j = 0; j < sum.size(); ++j) linear[j] = of.gradient_[j] - of.l2_[j] * center[j] - sum[j];
  // The others' share of the matrix is that of all less these rows'; rounding may leave a little less than nothing.
  for (std::size_t i = 0; i < scores.size(); ++i)
    coefficient[i] = rows.cost[i] * std::max(0.0, rows.loss.second_derivative(scores[i], rows.y[i]));
  SymmetricMatrix own(sum.size());
  GramSum(rows.rows).add(coefficient.data(), own);
  for (std::size_t i = 0; i < sum.size(); ++i) {
    for (std::size_t j = i; j < sum.size(); ++j) rest.row(i)[j] -= own.row(i)[j];
    rest.row(i)[i] += 1e-14 * own.row(i)[i];
  }
}

double SmoothModel::Model::evaluate(const Vector& w, Vector& gradient) {
  Vector step(w.size()), moved(w.size());
  for (std::size_t j = 0; j < w.size(); ++j) step[j] = w[j] - center[j];
  multiply(rest, step, moved);
  rows.rows.scores(w.data(), scores.data());
  double losses = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    losses += rows.cost[i] * rows.loss.value(scores[i], rows.y[i]);
    coefficient[i] = rows.cost[i] * rows.loss.derivative(scores[i], rows.y[i]);
  }
  rows.rows.combine(coefficient.data(), sum.data());
  for (std::size_t j = 0; j < w.size(); ++j)
    gradient[j] = of.l2_[j] * w[j] + linear[j] + moved[j] + sum[j] + proximal * step[j];
  of.hold(gradient);
  return losses + of.penalty(w) + inner(linear, step) + 0.5 * inner(step, moved) + 0.5 * proximal * inner(step, step);
}

/// The step d from w, whose gradient without the l1 norm is r, to the minimum of the second-order model with the matrix `sum` and the
/// penalty: along bounds and constraints, which w meets, where there are any.
bool SmoothModel::step(const Held& held, const SymmetricMatrix& sum, const Vector& r, double enough, Vector& d,
                       const Progress& progress) {
  const NewtonRows& rows = held.rows.rows;
  const std::size_t n = w.size();
  if (rows.constraints() != nullptr || !(rows.bounded() || has_l1_)) {
    SymmetricMatrix factor(n);
    if (!factorise_with_penalty(sum, factor, progress)) return false;
    UnderConstraints(rows, multipliers_).step(factor, w, r, d);
    return true;
  }
  const std::size_t stride = (n + 7) / 8 * 8;
  Vector matrix(stride * n, 0.0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i; j < n; ++j) matrix[i * stride + j] = matrix[j * stride + i] = sum.row(i)[j];
  progress.work(2.0 * static_cast<double>(n * n));
  L1Coordinates at;
  at.z = w;
  at.l1 = l1_;
  at.l2 = l2_;
  for (std::size_t j = 0; j < n; ++j) {
    at.g.push_back(r[j] - l2_[j] * w[j]);
    if (!rows.bounded()) continue;
    at.low.push_back(rows.low(j));
    at.high.push_back(rows.high(j));
  }
  solve_with_matrix(at, matrix.data(), stride, enough, progress);
  for (std::size_t j = 0; j < n; ++j) d[j] = at.z[j] - w[j];
  return true;
}

bool SmoothModel::minimise_quadratic(const Vector& b, ScanRun& run) {
  const Held held(*this, run);
  Vector r(w.size()), d(w.size());
  multiply(*matrix_, w, r);
  for (std::size_t j = 0; j < w.size(); ++j) r[j] += l2_[j] * w[j] - b[j];
  hold(r);
  SymmetricMatrix steps = *matrix_;
  hold(steps);
  if (!step(held, steps, r, 0, d, run.progress())) return false;
  for (std::size_t j = 0; j < w.size(); ++j) w[j] += d[j];
  held.rows.rows.clip(w);
  return true;
}

Eigen::VectorXd SmoothModel::image() const {
  Eigen::VectorXd v(p_.dimensions);
  for (Eigen::Index j = 0; j < v.size(); ++j) {
    const auto at = static_cast<std::size_t>(j);
    v(j) = p_.sample().lambda * (l2_[at] * best[at] - gradient_[at]);
  }
  return v;
}

void SmoothModel::minimise(double wanted, double missable, ScanRun& run) {
  const Progress& progress = run.progress();
  const Held held(*this, run);
  const NewtonRows& rows = held.rows.rows;
  w = best;
  Vector d(w.size());
  // Without the matrix at the best weights nobody knows what is left of it without the rows in memory: a Newton step.
  if (quadratic_ || !fresh_) {
    SymmetricMatrix damped = *matrix_;
    for (std::size_t j = 0; j < w.size(); ++j) damped.row(j)[j] += proximal_ * pull_[j];
    hold(damped);
    if (!step(held, damped, gradient_, 0, d, progress)) return;
    for (std::size_t j = 0; j < w.size(); ++j) w[j] += d[j];
    rows.clip(w);
    return;
  }
  Model model(*this, held.rows);
  Vector gradient(w.size()), there(w.size()), at_there(w.size());
  double value = model.evaluate(w, gradient);
  int polished = 0;
  for (int k = 0; k < most_newton_steps; ++k) {
    const double gap = penalty_gap(rows, w, gradient) * p_.sample().lambda;
    if (gap <= wanted && missed(rows, w, gradient) <= missable) break;
    for (std::size_t i = 0; i < model.scores.size(); ++i)
      model.coefficient[i] =
          model.rows.cost[i] * std::max(0.0, model.rows.loss.second_derivative(model.scores[i], model.rows.y[i]));
    SymmetricMatrix hessian = model.rest;
    GramSum(model.rows.rows).add(model.coefficient.data(), hessian);
    for (std::size_t j = 0; j < w.size(); ++j) hessian.row(j)[j] += model.proximal;
    hold(hessian);
    const double enough = std::min(1e-3 * wanted / p_.sample().lambda, finest(missable));
    if (!step(held, hessian, gradient, enough, d, progress)) return;
    double slope = inner(gradient, d), t = 1, found = 0;
    for (std::size_t j = 0; has_l1_ && j < w.size(); ++j) slope += l1_[j] * (std::fabs(w[j] + d[j]) - std::fabs(w[j]));
    if (-slope <=
        noise *
            std::fabs(value)) {  // values tell no more; the step itself does, as its rounding is that of the gradient
      for (std::size_t j = 0; j < w.size(); ++j) w[j] += d[j];
      rows.clip(w);
      if (++polished == most_polished) break;
      value = model.evaluate(w, gradient);
      continue;
    }
    for (;; t /= 2) {
      for (std::size_t j = 0; j < w.size(); ++j) there[j] = w[j] + t * d[j];
      rows.clip(there);  // what a rounding leaves outside
      found = model.evaluate(there, at_there);
      if (found <= value + 1e-4 * t * slope || t < 1e-6) break;
    }
    if (!(found < value + 1e-14 * std::fabs(value))) break;
    w = there;
    gradient = at_there;
    value = found;
  }
}

}  // namespace margin
