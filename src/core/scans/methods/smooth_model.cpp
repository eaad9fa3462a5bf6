#include "core/scans/methods/smooth_model.hpp"

#include <algorithm>
#include <cmath>

#include "core/solvers/newton/between_bounds.hpp"
#include "core/solvers/newton/gram.hpp"
#include "core/solvers/newton/under_constraints.hpp"

namespace margin {

namespace {

using Vector = std::vector<double>;

constexpr int most_newton_steps = 50;

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

bool factorise_with_identity(const SymmetricMatrix& sum, SymmetricMatrix& factor, const Progress& progress) {
  const std::size_t n = sum.size();
  for (double damping = 0; damping < 1; damping = damping == 0 ? 1e-13 : 100 * damping) {
    for (std::size_t i = 0; i < n; ++i) {
      std::copy_n(sum.row(i) + i, n - i, factor.row(i) + i);
      factor.row(i)[i] += 1 + damping * std::fabs(factor.row(i)[i]);
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
      rows_(problem) {}

void SmoothModel::set_matrix(const SymmetricMatrix& sum, double unit) {
  matrix_ = std::make_unique<SymmetricMatrix>(w.size());
  for (std::size_t i = 0; i < w.size(); ++i)
    for (std::size_t j = i; j < w.size(); ++j) matrix_->row(i)[j] = unit * sum.row(i)[j];
}

void SmoothModel::take(const Question& asked, Answer& answer, double value, const Progress& progress) {
  const double unit = 1 / (asked.lambda * p_.total_weight);
  if (asked.bag_rows > 0) {
    if (rows_.too_many(asked.bag_bytes)) rows_.forget(Vector(rows_.size(), 0.0));
    rows_.take(answer.bag(output_));
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
  gradient_ = w;
  const auto sums = answer.sums().row(output_).eval();
  for (Eigen::Index j = 0; j < sums.size(); ++j) gradient_[static_cast<std::size_t>(j)] -= unit * sums(j);
  if (constant_ != 0) gradient_.back() -= unit * answer.constant_sum(output_);
}

/// The rows in memory, as a solver sees them.
struct SmoothModel::Held {
  Held(const SmoothModel& of, ScanRun& run)
      : problem(of.p_.over(of.rows_.rows())),
        rows(of.rows_.newton(problem, of.output_, NewtonProblem::Systems::cholesky, run.run())) {}

  Problem problem;
  NewtonProblem rows;
};

/// F(w) = ½‖w‖² + (proximal/2) ‖w − c‖² + <linear, w − c> + ½ (w − c)ᵀ rest (w − c) + Σ cost φ(<x, w>) over the rows in
/// memory.
struct SmoothModel::Model {
  Model(const SmoothModel& of, const NewtonProblem& held);
  /// F, its gradient, and the scores of the rows.
  double evaluate(const Vector& w, Vector& gradient);

  const NewtonProblem& rows;
  const Vector& center;
  double proximal;
  Vector linear, scores, coefficient, sum;
  SymmetricMatrix rest;
};

SmoothModel::Model::Model(const SmoothModel& of, const NewtonProblem& held)
    : rows(held),
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
  for (std::size_t j = 0; j < sum.size(); ++j) linear[j] = of.gradient_[j] - center[j] - sum[j];
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
  for (std::size_t j = 0; j < w.size(); ++j) gradient[j] = w[j] + linear[j] + moved[j] + sum[j] + proximal * step[j];
  return losses + 0.5 * inner(w, w) + inner(linear, step) + 0.5 * inner(step, moved) +
         0.5 * proximal * inner(step, step);
}

/// The step d from w, whose gradient is r, to the minimum of the second-order model with the matrix I + sum: along bounds and
/// constraints, which w meets, where there are any.
bool SmoothModel::step(const Held& held, const SymmetricMatrix& sum, const Vector& r, double enough, Vector& d,
                       const Progress& progress) {
  const NewtonRows& rows = held.rows.rows;
  if (rows.bounded() && rows.constraints() == nullptr) {
    step_between_bounds(rows, sum, 1.0, w, r, enough, d);
    return true;
  }
  SymmetricMatrix factor(w.size());
  if (!factorise_with_identity(sum, factor, progress)) return false;
  UnderConstraints(rows, multipliers_).step(factor, w, r, d);
  return true;
}

bool SmoothModel::minimise_quadratic(const Vector& b, ScanRun& run) {
  const Held held(*this, run);
  Vector r(w.size()), d(w.size());
  multiply(*matrix_, w, r);
  for (std::size_t j = 0; j < w.size(); ++j) r[j] += w[j] - b[j];
  if (!step(held, *matrix_, r, 0, d, run.progress())) return false;
  for (std::size_t j = 0; j < w.size(); ++j) w[j] += d[j];
  held.rows.rows.clip(w);
  return true;
}

Eigen::VectorXd SmoothModel::image() const {
  Eigen::VectorXd v(p_.dimensions);
  for (Eigen::Index j = 0; j < v.size(); ++j) {
    const auto at = static_cast<std::size_t>(j);
    v(j) = p_.sample().lambda * (best[at] - gradient_[at]);
  }
  return v;
}

void SmoothModel::minimise(double wanted, ScanRun& run) {
  const Progress& progress = run.progress();
  const Held held(*this, run);
  const NewtonRows& rows = held.rows.rows;
  w = best;
  Vector d(w.size());
  // Without the matrix at the best weights nobody knows what is left of it without the rows in memory: a Newton step.
  if (quadratic_ || !fresh_) {
    SymmetricMatrix damped = *matrix_;
    for (std::size_t j = 0; j < w.size(); ++j) damped.row(j)[j] += proximal_ * pull_[j];
    if (!step(held, damped, gradient_, 0, d, progress)) return;
    for (std::size_t j = 0; j < w.size(); ++j) w[j] += d[j];
    rows.clip(w);
    return;
  }
  Model model(*this, held.rows);
  UnderConstraints under(rows, multipliers_);
  Vector gradient(w.size()), there(w.size()), at_there(w.size());
  double value = model.evaluate(w, gradient);
  for (int k = 0; k < most_newton_steps; ++k) {
    const double gap = under.penalty_gap(w, gradient) * p_.sample().lambda;
    if (gap <= wanted) break;
    for (std::size_t i = 0; i < model.scores.size(); ++i)
      model.coefficient[i] =
          model.rows.cost[i] * std::max(0.0, model.rows.loss.second_derivative(model.scores[i], model.rows.y[i]));
    SymmetricMatrix hessian = model.rest;
    GramSum(model.rows.rows).add(model.coefficient.data(), hessian);
    for (std::size_t j = 0; j < w.size(); ++j) hessian.row(j)[j] += model.proximal;
    if (!step(held, hessian, gradient, 1e-3 * wanted / p_.sample().lambda, d, progress)) return;
    const double slope = inner(gradient, d);
    double t = 1, found = 0;
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
