// kernel_newton: kernel machines of smooth losses, kernel logistic regression and kernel ridge regression among them.
//
// Problem    λ/2 ‖w‖² + (1/W) Σ c_i φ(w(x_i) + b; y_i),  w = Σ α_i k(x_i, ·), b free and not regularised. More than two
//            classes: one against the rest.
// Optimum    α = −g and Σ α_i = 0, where g_i = C_i φ'(u_i), u = K α + b, C_i = c_i/(λW).
// Update     Newton's: with h_i = C_i φ''(u_i), S = diag(√h) and f = K α the next vectors are
//              α' = −g + S z,  (I + S K S) z = S (f + K g − (b' − b)),  Σ α'_i = 0,
//            a system whose matrix is never below 1, solved by conjugate gradients for both right sides at once;
//            the large eigenvalues of K are taken out beforehand (solvers/kernel/kernel_matrix.hpp). Then a line search.
//            Before each step b is made the best one of its w, so that −g is a dual vector that it allows.
// Stop       when the gap of α and −g is within the tolerance, which costs no product with K besides; when rounding
//            allows no progress; after its iterations.
// Source     O. Chapelle, Training a support vector machine in the primal, Neural Computation 19 (2007), for Newton's
//            method in the span of the rows; S. S. Keerthi, K. B. Duan, S. K. Shevade, A. N. Poo, A fast dual algorithm
//            for kernel logistic regression, Machine Learning 61 (2005), for the dual.
#include <algorithm>
#include <cmath>

#include "core/base/polled.hpp"
#include "core/kernel/support_vectors.hpp"
#include "core/loss/loss.hpp"
#include "core/problem/thresholds.hpp"
#include "core/solvers/free_intercept.hpp"
#include "core/solvers/interval.hpp"
#include "core/solvers/kernel/kernel_matrix.hpp"
#include "core/solvers/margin_scan.hpp"
#include "core/solvers/one_vs_rest.hpp"

namespace margin {

namespace {

constexpr std::int64_t default_steps = 200;
constexpr double most_rank = 256;     // columns that the preconditioner has
constexpr double enough_fall = 1e-4;  // of what the slope promises (Armijo)
constexpr double shortest = 1e-9;     // step
constexpr int most_idle = 10;

/// One output: its vectors, what they are worth.
class Fit {
 public:
  Fit(const Problem& p, std::int32_t output, const KernelMatrix& kernel, KernelPreconditioner& preconditioner)
      : p_(p),
        kernel_(kernel),
        preconditioner_(preconditioner),
        n_(kernel.size()),
        y_(n_),
        cost_(n_),
        slope_(n_),
        alpha(Eigen::VectorXd::Zero(n_)),
        scores_(alpha) {
    for (Eigen::Index i = 0; i < n_; ++i) {
      y_(i) = p.target(i, output);
      cost_(i) = p.weight(i) / (p.lambda * p.total_weight);
      unit_ += p.weight(i) / p.total_weight * std::fabs(y_(i));
    }
    measure();
  }

  /// One step of Newton's; false when it gains nothing.
  bool step(double tolerance);
  double relative() const { return (upper - lower) / std::max(upper, 1e-300); }
  /// Of a row, −φ' at the point that `lower` was found at.
  double dual(Eigen::Index i) const { return proven_(i); }

 private:
  void measure();
  double best_shift(const Eigen::VectorXd& scores) const;
  void set_best_intercept();
  double loss_at(const Eigen::VectorXd& u) const;

  const Problem& p_;
  const KernelMatrix& kernel_;
  KernelPreconditioner& preconditioner_;
  Eigen::Index n_;
  Eigen::VectorXd y_, cost_, slope_, image_;  // slope_: g; image_: K g
  double unit_ = 0, primal_ = 0;
  int idle_ = 0;  // steps in a row that gained nothing

 public:
  Eigen::VectorXd alpha;
  double intercept = 0, lower = 0, upper = std::numeric_limits<double>::infinity();

 private:
  Eigen::VectorXd scores_;  // K α
  Eigen::VectorXd proven_;
};

double Fit::loss_at(const Eigen::VectorXd& u) const {
  double sum = 0;
  for (Eigen::Index i = 0; i < n_; ++i)
    if (cost_(i) > 0) sum += cost_(i) * p_.loss->value(u(i), y_(i));
  kernel_.run().work(32.0 * static_cast<double>(n_));
  return sum;
}

void Fit::set_best_intercept() {
  if (p_.intercept) intercept += best_shift(scores_.array() + intercept);
}

double Fit::best_shift(const Eigen::VectorXd& scores) const {
  return balanced_shift(
      [&](double t) {
        SlopeAt at;
        for (Eigen::Index i = 0; i < n_; ++i) {
          const double u = scores(i) + t, g = cost_(i) * p_.loss->derivative(u, y_(i));
          at.value += g;
          at.size += std::fabs(g);
          at.curvature += cost_(i) * p_.loss->second_derivative(u, y_(i));
        }
        kernel_.run().work(32.0 * static_cast<double>(n_));
        return at;
      },
      unit_ > 0 ? unit_ : 1, 0);
}

/// The best intercept, the gradient, and both values.
void Fit::measure() {
  set_best_intercept();
  double conjugate = 0;
  for (Eigen::Index i = 0; i < n_; ++i) {
    const double a = -p_.loss->derivative(scores_(i) + intercept, y_(i));
    slope_(i) = -cost_(i) * a;
    if (cost_(i) > 0) conjugate -= cost_(i) * p_.loss->conjugate(p_.loss->project(a, y_(i)), y_(i));
  }
  kernel_.run().work(32.0 * static_cast<double>(n_));
  image_ = kernel_.times(slope_);
  primal_ = 0.5 * alpha.dot(scores_) + loss_at(scores_.array() + intercept);
  upper = p_.lambda * primal_;
  const double value = p_.lambda * (conjugate - 0.5 * slope_.dot(image_));
  if (!(value > lower) && proven_.size() > 0) return;
  lower = std::max(lower, value);
  proven_.resize(n_);
  for (Eigen::Index i = 0; i < n_; ++i) proven_(i) = -p_.loss->derivative(scores_(i) + intercept, y_(i));
}

bool Fit::step(double tolerance) {
  Eigen::VectorXd s(n_);
  for (Eigen::Index i = 0; i < n_; ++i)
    s(i) = std::sqrt(cost_(i) * p_.loss->second_derivative(scores_(i) + intercept, y_(i)));
  preconditioner_.set(s);
  Eigen::MatrixXd right(n_, p_.intercept ? 2 : 1);
  right.col(0) = s.cwiseProduct(scores_ + image_);
  if (p_.intercept) right.col(1) = s;
  // As precise as the step will be, and as what is wanted in the end is.
  const double precision = std::clamp(0.1 * relative(), 0.01 * std::min(tolerance, 1e-8), 1e-2);
  const Eigen::MatrixXd z = solve_system(kernel_, preconditioner_, s, right, precision);
  Eigen::VectorXd move = z.col(0);
  double shift = 0;
  if (p_.intercept) {
    const double weight = s.dot(z.col(1));
    if (weight > 0) shift = (s.dot(z.col(0)) - slope_.sum()) / weight;
    move -= shift * z.col(1);
  }
  const Eigen::VectorXd part = s.cwiseProduct(move);
  const Eigen::VectorXd direction = part - slope_ - alpha, change = kernel_.times(part).col(0) - image_ - scores_;
  const double along = direction.dot(scores_), bend = direction.dot(change);
  const double fall = along + slope_.dot(change) + shift * slope_.sum();
  const double square = alpha.dot(scores_);
  // Where no row curves, nothing says where the best intercept goes; nor where the steps become too short.
  bool level = p_.intercept && s.isZero(0);
  for (double t = 1; t >= shortest || (!level && p_.intercept); t /= 2) {
    if (t < shortest) {
      level = true;
      t = 1;
    }
    Eigen::VectorXd u = (scores_ + t * change).array() + (intercept + t * shift);
    if (level) u.array() += best_shift(u);
    const double value = 0.5 * (square + 2 * t * along + t * t * bend) + loss_at(u);
    // Near the optimum a fall is lost in the rounding of the value: the gap decides whether it was one.
    if (!(value <= primal_ + enough_fall * t * std::min(fall, 0.0) + 1e-12 * std::fabs(primal_))) continue;
    alpha += t * direction;
    scores_ += t * change;
    intercept += t * shift;
    const double before = upper - lower, primal = primal_;
    measure();
    // Where a loss has flat pieces, the ends may stand still while the step finds the rows that are on others.
    idle_ = upper - lower < 0.99 * before || primal_ < primal * (1 - 1e-6) ? 0 : idle_ + 1;
    return idle_ < most_idle;
  }
  return false;
}

class KernelNewton final : public Solver {
 public:
  const SolverRecord& record() const override {
    static const SolverRecord record = {"kernel_newton",
                                        "kernel machine of a smooth loss (logistic, squared and others): Newton's "
                                        "method with conjugate gradients",
                                        SolverRecord::soft_margin,
                                        SolverRecord::l2,
                                        SolverRecord::Losses::smooth,
                                        true,
                                        {},
                                        one_vs_rest_or_numbers};
    return record;
  }
  double workspace(const Problem& p) const override { return fixed_bytes(p) + 8 * static_cast<double>(p.rows()) * 16; }
  Solution solve(const Problem& problem, const Options& options, const Progress& progress) const override;

 private:
  static double fixed_bytes(const Problem& p) {
    return KernelRows::bytes(p.data, *p.kernel) + 8 * static_cast<double>(p.rows()) * 64 + 2 * dual_bytes(p);
  }
};

/// The value of weights of 0 against several classes: that of outputs to come.
double untrained_value(const Problem& p) {
  if (p.task != Task::multiclass) return 0;
  double sum = 0;
  for (std::int64_t i = 0; i < p.rows(); ++i) sum += p.weight(i);
  return sum / p.total_weight * p.loss->value(0, 1);
}

Solution KernelNewton::solve(const Problem& problem, const Options& options, const Progress& progress) const {
  Run run(options, progress, name(), default_steps);
  const KernelRows rows = kernel_rows(problem.data, problem.kernel, progress);
  const double n = static_cast<double>(problem.rows());
  const double left = std::max(0.0, options.workspace_limit - fixed_bytes(problem));
  const double rank = std::clamp(left / 4 / (8 * n), 16.0, most_rank);
  const KernelMatrix kernel(rows, left - 8 * n * rank, run);
  KernelPreconditioner preconditioner(kernel, static_cast<Eigen::Index>(rank));

  Solution s;
  s.solver = name();
  s.status = Status::optimal;
  s.dual = polled_zeros(problem.rows(), problem.outputs(), progress);
  s.intercept = Eigen::VectorXd::Zero(problem.outputs());
  Weights coefficients = polled_zeros(problem.rows(), problem.outputs(), progress);
  // The interval of all outputs: those that are done by their own, those to come by weights of 0.
  const double untrained = untrained_value(problem);
  double lower = 0, upper = untrained * problem.outputs();
  solve_outputs(problem, s.status, [&](std::int32_t o) {
    Fit fit(problem, o, kernel, preconditioner);
    upper -= untrained;
    const auto record = [&] { run.record(++s.iterations, lower + fit.lower, upper + fit.upper); };
    Status why;
    for (std::int64_t steps = 0;; ++steps) {
      if (stops(run, steps, fit.relative() <= certifiable * options.tolerance, false, why)) break;
      const bool more = fit.step(options.tolerance);
      record();
      if (more) continue;
      stops(run, 0, fit.relative() <= certifiable * options.tolerance, false, why);
      break;
    }
    lower += fit.lower;
    upper += fit.upper;
    s.intercept(o) = fit.intercept;
    for (std::int64_t i = 0; i < problem.rows(); ++i) {
      coefficients(i, o) = fit.alpha(i);
      s.dual(i, o) = fit.dual(i);
      run.work(problem.outputs() > 8 ? 64 : 8);
    }
    return why;
  });
  SupportVectors support = support_vectors(problem.data, rows, coefficients, progress);
  s.basis = std::move(support.basis);
  s.weights = std::move(support.weights);
  s.trace = run.take_trace();
  return s;
}

const KernelNewton kernel_newton_solver;

}  // namespace

extern const Solver& kernel_newton;
const Solver& kernel_newton = kernel_newton_solver;

}  // namespace margin
