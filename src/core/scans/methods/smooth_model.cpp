#include "core/scans/methods/smooth_model.hpp"

#include <algorithm>
#include <cmath>

#include "core/solvers/newton/gram.hpp"

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

/// F(w) = ½‖w‖² + (proximal/2) ‖w − c‖² + <linear, w − c> + ½ (w − c)ᵀ rest (w − c) + Σ cost φ(<x, w>) over the rows in
/// memory.
struct SmoothModel::Model {
  Model(const SmoothModel& of, ScanRun& run);
  /// F, its gradient, and the scores of the rows.
  double evaluate(const Vector& w, Vector& gradient);

  Problem problem;
  NewtonProblem rows;
  const Vector& center;
  double proximal;
  Vector linear, scores, coefficient, sum;
  SymmetricMatrix rest;
};

SmoothModel::Model::Model(const SmoothModel& of, ScanRun& run)
    : problem(of.p_.over(of.rows_.rows())),
      rows(of.rows_.newton(problem, of.output_, NewtonProblem::Systems::cholesky, run.run())),
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

void SmoothModel::minimise(double wanted, ScanRun& run) {
  const Progress& progress = run.progress();
  SymmetricMatrix factor(w.size());
  w = best;
  // Without the matrix at the best weights nobody knows what is left of it without the rows in memory: a Newton step.
  if (quadratic_ || !fresh_) {
    SymmetricMatrix damped = *matrix_;
    for (std::size_t j = 0; j < w.size(); ++j) damped.row(j)[j] += proximal_ * pull_[j];
    if (!factorise_with_identity(damped, factor, progress)) return;
    Vector step = gradient_;
    solve_factored(factor, step.data(), &progress);
    for (std::size_t j = 0; j < w.size(); ++j) w[j] -= step[j];
    return;
  }
  Model model(*this, run);
  Vector gradient(w.size()), there(w.size()), at_there(w.size());
  double value = model.evaluate(w, gradient);
  for (int k = 0; k < most_newton_steps && 0.5 * inner(gradient, gradient) * p_.sample().lambda > wanted; ++k) {
    for (std::size_t i = 0; i < model.scores.size(); ++i)
      model.coefficient[i] =
          model.rows.cost[i] * std::max(0.0, model.rows.loss.second_derivative(model.scores[i], model.rows.y[i]));
    SymmetricMatrix hessian = model.rest;
    GramSum(model.rows.rows).add(model.coefficient.data(), hessian);
    for (std::size_t j = 0; j < w.size(); ++j) hessian.row(j)[j] += model.proximal;
    if (!factorise_with_identity(hessian, factor, progress)) return;
    Vector step = gradient;
    solve_factored(factor, step.data(), &progress);
    const double slope = -inner(gradient, step);
    double t = 1, found = 0;
    for (;; t /= 2) {
      for (std::size_t j = 0; j < w.size(); ++j) there[j] = w[j] - t * step[j];
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
