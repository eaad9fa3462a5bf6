// irls: least squares and maximum likelihood (lambda 0), by iteratively reweighted least squares.
//
// Problem    min P(w, b) = (1/W) Σ c_i φ(<x_i, w> + b; y_i) of certificate/likelihood.hpp, for a loss that is three
//            times differentiable; fewer features than rows, none of them a combination of others.
// Update     Newton's step, w += t d with (Σ c φ'' z zᵀ) d = −Σ c φ' z, z = (x, 1); t is halved until P falls. For the
//            squared loss one step is the solution, and the next ones take back its rounding.
// Stop       ν² = dᵀ(Σ c φ'' z zᵀ)d is below 1e-20 (of the mean loss, for squared): no weight is farther from the
//            optimum than 1e-10 of its standard error; or rounding stops its fall. The tolerance alone would leave
//            weights far from the optimum where rows are many. Or weights separate the classes: see separation.hpp.
// Source     Nelder, Wedderburn (1972), JRSS A 135; Boyd & Vandenberghe (2004), Section 9.5.
#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/loss/registry.hpp"
#include "core/math/exact_sum.hpp"
#include "core/math/normal_equations.hpp"
#include "core/problem/offset.hpp"
#include "core/solvers/likelihood/separation.hpp"
#include "core/solvers/newton/gram.hpp"
#include "core/solvers/one_vs_rest.hpp"
#include "core/solvers/run.hpp"
#include "core/solvers/solver.hpp"

namespace margin {

namespace {

constexpr std::int32_t largest_system = 2048;  // a block of rows is added between two polls
constexpr double negligible_step = 1e-20;      // ν², in standard errors
constexpr double no_residual = 1e-24;          // of the mean square of the targets: a fit that is exact to rounding
constexpr double enough_fall = 1e-4;           // of what the slope promises (Armijo)

class Irls final : public Solver {
 public:
  const SolverRecord& record() const override {
    static const SolverRecord record = {"irls",
                                        "iteratively reweighted least squares: lambda => 0",
                                        SolverRecord::likelihood,
                                        SolverRecord::l2,
                                        SolverRecord::Losses::likelihoods,
                                        false,
                                        {},
                                        feature::regression | feature::offset | feature::log_link};
    return record;
  }
  double workspace(const Problem& p) const override {
    return 8.0 * 5 * static_cast<double>(p.rows()) +
           9 * SymmetricMatrix::bytes(static_cast<std::size_t>(p.dimensions()) + 1);
  }
  Solution solve(const Problem& p, const Options& options, const Progress& progress) const override;

 private:
  std::string limit(const Problem& p) const override {
    return p.dimensions() > largest_system ? "its linear systems are of " + std::to_string(p.dimensions()) +
                                                 " features, at most " + std::to_string(largest_system)
                                           : "";
  }
};

/// The state of a solve: weights, and what all rows say of them.
class Fit {
 public:
  Fit(const Problem& p, Run& run)
      : p_(p),
        run_(run),
        rows_(p, run),
        gram_(rows_),
        hessian_(rows_.columns()),
        n_(static_cast<std::size_t>(p.rows())),
        w(rows_.columns(), 0.0),
        gradient(rows_.columns()),
        direction(rows_.columns()),
        u(n_, 0.0),
        moved_(n_),
        slope(n_),
        weight_(n_),
        y_(n_) {
    for (std::size_t i = 0; i < n_; ++i) {
      y_[i] = p.target(static_cast<std::int64_t>(i), 0);
      run.work(8);
    }
    hold_offset(p, w);
  }

  /// Throws Error(invalid_value): nothing tells some features apart.
  void require_regular();
  /// Value, slopes and gradient at u.
  void evaluate();
  /// The step and its ν²; false where the Hessian has become singular.
  bool step();
  /// The largest t = 1, ½, ¼, … at which the loss falls; u goes with w. False: none.
  bool descend();
  double least_margin() const;
  double largest_score() const;
  const NewtonRows& rows() const { return rows_; }

 private:
  double value_at(double t) const;
  void sum_hessian();
  double known_part(std::int64_t i) const;

  const Problem& p_;
  Run& run_;
  NewtonRows rows_;
  GramSum gram_;
  SymmetricMatrix hessian_;
  std::size_t n_;

 public:
  std::vector<double> w, gradient, direction, u;

 private:
  std::vector<double> moved_;

 public:
  std::vector<double> slope;
  double value = 0, square = 0;  // Σ c φ; ν²

 private:
  std::vector<double> weight_, y_;
};

void Fit::require_regular() {
  std::int64_t rows = 0;
  for (std::size_t i = 0; i < n_; ++i) {
    weight_[i] = p_.weight(static_cast<std::int64_t>(i));
    rows += weight_[i] > 0 ? 1 : 0;
  }
  run_.work(static_cast<double>(n_));
  const auto columns = static_cast<std::int64_t>(rows_.columns()) - (p_.offset >= 0 ? 1 : 0);
  const char* const advice =
      "Leave features out (collinear => 'drop' does, of rows with named columns), or give a lambda above 0: it always "
      "has "
      "one optimum; standardize => true centres columns.";
  if (rows < columns)
    throw Error(ErrorKind::invalid_value,
                "lambda => 0 asks " + std::to_string(rows) + " rows for " + std::to_string(columns) +
                    " coefficients, which more than one choice of them would fit alike",
                advice);
  sum_hessian();
  const NormalEquations equations(hessian_, p_.intercept, run_);
  if (equations.regular()) return;
  throw DependentFeatures("lambda => 0 has no unique optimum: ", equations.dependent(), p_.dimensions(), advice);
}

void Fit::sum_hessian() {
  hessian_.set_zero();
  gram_.add(weight_.data(), hessian_);
  if (rows_.held() < rows_.columns()) decouple(hessian_, rows_.held());
}

void Fit::evaluate() {
  ExactSum sum;
  visit(*p_.loss, [&](const auto& loss) {
    for (std::size_t i = 0; i < n_; ++i) {
      const double c = p_.weight(static_cast<std::int64_t>(i));
      sum.add(c > 0 ? c * loss.value(u[i], y_[i]) : 0.0);
      slope[i] = loss.derivative(u[i], y_[i]);
      moved_[i] = c * slope[i];
      weight_[i] = c * loss.second_derivative(u[i], y_[i]);
      run_.work(40);
    }
  });
  value = sum.value();
  rows_.combine(moved_.data(), gradient.data());
  if (rows_.held() < rows_.columns()) gradient[rows_.held()] = 0;  // nothing moves its weight
}

bool Fit::step() {
  sum_hessian();
  const NormalEquations equations(hessian_, p_.intercept, run_);
  if (!equations.regular()) return false;
  for (std::size_t j = 0; j < gradient.size(); ++j) direction[j] = -gradient[j];
  equations.solve(direction.data(), run_);
  square = 0;
  for (std::size_t j = 0; j < gradient.size(); ++j) square -= gradient[j] * direction[j];
  return std::isfinite(square);
}

double Fit::value_at(double t) const {
  ExactSum sum;
  visit(*p_.loss, [&](const auto& loss) {
    for (std::size_t i = 0; i < n_; ++i) {
      const double c = p_.weight(static_cast<std::int64_t>(i));
      if (c > 0) sum.add(c * loss.value(u[i] + t * moved_[i], y_[i]));
      run_.work(40);
    }
  });
  return sum.value();
}

bool Fit::descend() {
  rows_.scores(direction.data(), moved_.data());
  const double noise = 1e-14 * value;
  double t = 1;
  for (int halvings = 0;; ++halvings, t /= 2) {
    if (halvings == 60) return false;
    const double next = value_at(t);
    if (next <= value - enough_fall * t * square || (next <= value + noise && enough_fall * square <= noise)) break;
  }
  for (std::size_t j = 0; j < w.size(); ++j) w[j] += t * direction[j];
  rows_.scores(w.data(), u.data());
  return true;
}

double Fit::least_margin() const {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < n_; ++i)
    if (const auto row = static_cast<std::int64_t>(i); p_.weight(row) > 0)
      least = std::min(least, y_[i] * (u[i] - known_part(row)));
  run_.work(4.0 * static_cast<double>(n_));
  return least;
}

/// What the offset adds to the score of a row.
double Fit::known_part(std::int64_t i) const {
  return p_.offset < 0 ? 0.0 : p_.offset_weight() * offset_of(p_.data.row(i), p_.offset);
}

double Fit::largest_score() const {
  double largest = 0;
  for (const double score : u) largest = std::max(largest, std::fabs(score));
  run_.work(2.0 * static_cast<double>(n_));
  return largest;
}

Solution Irls::solve(const Problem& p, const Options& options, const Progress& progress) const {
  Run run(options, progress, name(), 200);
  Solution s = zero_solution(p, name(), run);
  Fit fit(p, run);
  fit.require_regular();
  const bool classes = p.task == Task::binary, counts = p.loss->log_link();
  const double total = p.total_weight;
  const double start = (p.target_constant - p.target_center) / p.target_scale;  // 0 for classes
  // With an offset this one may lie far from 0 while the scores do not.
  if (p.intercept && start != 0 && !(counts && start < -runaway_score && p.offset < 0))
    fit.w.back() = start / p.intercept_scale;
  if (p.offset >= 0 || fit.w.back() != 0) fit.rows().scores(fit.w.data(), fit.u.data());
  double before = std::numeric_limits<double>::infinity(), first = 0;
  s.status = Status::iteration_limit;
  for (;; ++s.iterations) {
    fit.evaluate();
    const bool separated = classes && fit.least_margin() > 0;
    const bool steps = !separated && fit.step();
    const double mean = fit.value / total;
    if (s.iterations == 0) first = mean;
    run.record(s.iterations, separated || !steps ? 0 : std::max(0.0, mean - fit.square / total), mean);
    const bool exact = mean <= no_residual * first;
    if (exact) {
      s.status = Status::optimal;
      break;
    }
    if (separated) {
      s.status = Status::separable;
      break;
    }
    // In standard errors: the squared loss knows no unit of its own.
    const double unit = p.loss->self_concordance() > 0 ? 1.0 : mean;
    const bool arrived =
        steps && (fit.square <= negligible_step * unit || (fit.square <= 1e-12 * unit && fit.square > 0.25 * before));
    // Scores this large say that weights grow along some direction for ever; it is the step, to many digits.
    const bool runaway = (classes || counts) && (!steps || fit.largest_score() > runaway_score);
    if (runaway && separating_direction(p, fit.rows(), fit.direction, fit.w, run)) {
      s.status = Status::separable;
      break;
    }
    if (!steps) break;
    if (arrived) {
      s.status = Status::optimal;
      break;
    }
    if (run.exhausted(s.iterations, s.status)) break;
    before = fit.square;
    if (!fit.descend()) break;
  }
  hold_offset(p, fit.w);  // a separating direction has none
  for (std::int32_t j = 0; j < p.dimensions(); ++j) s.weights(0, j) = fit.w[static_cast<std::size_t>(j)];
  if (p.intercept) s.intercept[0] = fit.w.back() * p.intercept_scale;
  for (std::size_t i = 0; i < static_cast<std::size_t>(p.rows()); ++i)
    s.dual(static_cast<std::int64_t>(i), 0) = -fit.slope[i];
  s.trace = run.take_trace();
  return s;
}

const Irls irls_solver;

}  // namespace

extern const Solver& irls;
const Solver& irls = irls_solver;

}  // namespace margin
