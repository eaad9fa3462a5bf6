#include "certificate_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "certificate_risk.hpp"
#include "monitor.hpp"

namespace margin {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr std::size_t batch = 8;  // rows whose kernel values are computed together

/// The rows that carry weights or dual weights, and both, as sums of kernel values per output.
class Expansion {
 public:
  Expansion(const Problem& problem, const Weights& weights, const KernelBasis& basis, const Weights& dual);

  const KernelRows& rows() const { return extended_ ? *extended_ : basis_.rows(); }
  /// Position of a row of the problem among them, or −1.
  std::int64_t position(std::int64_t row) const { return position_[static_cast<std::size_t>(row)]; }
  std::int64_t support() const { return support_; }

  Weights primal, dual;  ///< outputs × rows().size()
  /// What is left of the condition Σ v = 0 of a free intercept, relative to the mass of v; ∞: a class has no weight.
  double imbalance = 0;
  std::vector<double> linear;  ///< soft margins: a lower bound of (1/W) Σ c (−φ*(−a)) per output
  std::vector<double> left;    ///< soft margins: |Σ v| per output

 private:
  void hard_binary(const Problem& p, const Weights& q);
  void hard_multiclass(const Problem& p, const Weights& q);
  void soft(const Problem& p, const Weights& a);

  const KernelBasis& basis_;
  std::optional<KernelRows> extended_;
  std::vector<std::int64_t> position_;
  std::int64_t support_ = 0;
};

Expansion::Expansion(const Problem& p, const Weights& weights, const KernelBasis& basis, const Weights& q)
    : basis_(basis), position_(static_cast<std::size_t>(p.rows()), -1) {
  for (std::size_t s = 0; s < basis.origin().size(); ++s)
    position_[static_cast<std::size_t>(basis.origin()[s])] = static_cast<std::int64_t>(s);
  auto count = static_cast<Eigen::Index>(basis.size());
  if (q.rows() == p.rows())
    for (std::int64_t i = 0; i < p.rows(); ++i) {
      if (!(q.row(i).cwiseAbs().maxCoeff() > 0)) continue;
      ++support_;
      std::int64_t& at = position_[static_cast<std::size_t>(i)];
      if (at >= 0) continue;
      if (!extended_) extended_ = basis.rows();
      extended_->append(p.data.row(i));
      at = count++;
    }
  primal = Weights::Zero(p.outputs(), count);
  primal.leftCols(weights.cols()) = weights;
  dual = Weights::Zero(p.outputs(), count);
  linear.assign(static_cast<std::size_t>(p.outputs()), 0.0);
  left = linear;
  if (q.rows() != p.rows()) {
    imbalance = infinity;
  } else if (!p.hard_margin) {
    soft(p, q);
  } else if (p.task == Task::binary) {
    hard_binary(p, q);
  } else {
    hard_multiclass(p, q);
  }
}

void Expansion::hard_binary(const Problem& p, const Weights& q) {
  double mass[2] = {0, 0};
  for (std::int64_t i = 0; i < p.rows(); ++i)
    if (q(i, 0) > 0) mass[p.sign(i) > 0 ? 1 : 0] += q(i, 0);
  double factor[2];
  for (int c = 0; c < 2; ++c) {
    if (p.intercept && !(mass[c] > 0)) imbalance = infinity;
    factor[c] = p.intercept ? 0.5 / mass[c] : 1 / (mass[0] + mass[1]);
    if (!std::isfinite(factor[c])) imbalance = infinity;
  }
  if (imbalance > 0) return;
  for (std::int64_t i = 0; i < p.rows(); ++i)
    if (q(i, 0) > 0) dual(0, position(i)) = p.sign(i) * q(i, 0) * factor[p.sign(i) > 0 ? 1 : 0];
}

void Expansion::hard_multiclass(const Problem& p, const Weights& q) {
  double total = 0;
  Eigen::VectorXd balance = Eigen::VectorXd::Zero(p.classes);
  for (std::int64_t i = 0; i < p.rows(); ++i) {
    const std::int32_t own = p.label[static_cast<std::size_t>(i)];
    for (std::int32_t c = 0; c < p.classes; ++c) {
      if (c == own || !(q(i, c) > 0)) continue;
      dual(own, position(i)) += q(i, c);
      dual(c, position(i)) -= q(i, c);
      total += q(i, c);
      balance(own) += q(i, c);
      balance(c) -= q(i, c);
    }
  }
  if (!(total > 0) || !std::isfinite(total)) {
    imbalance = infinity;
    return;
  }
  dual /= total;
  if (!p.intercept) return;
  imbalance = balance.cwiseAbs().sum() / total;
  if (balance.cwiseAbs().maxCoeff() > 1e-9 * total) imbalance = infinity;
}

void Expansion::soft(const Problem& p, const Weights& given) {
  const Loss& loss = *p.loss;
  for (std::int32_t o = 0; o < p.outputs(); ++o) {
    auto a = [&](std::int64_t i) { return loss.project(std::isnan(given(i, o)) ? 0.0 : given(i, o), p.target(i, o)); };
    double mass[2] = {0, 0}, factor[2] = {1, 1};
    for (std::int64_t i = 0; i < p.rows(); ++i) mass[a(i) > 0 ? 1 : 0] += p.weight(i) * std::fabs(a(i));
    if (p.intercept)
      for (int c = 0; c < 2; ++c)
        if (mass[c] > 0) factor[c] = std::min(1.0, mass[1 - c] / mass[c]);
    ExactSum sum, rest;
    double size = 0;
    for (std::int64_t i = 0; i < p.rows(); ++i) {
      const double v = a(i) * factor[a(i) > 0 ? 1 : 0], c = p.weight(i);
      if (v == 0 || !(c > 0)) continue;
      // The scaled value is the dual vector now, as it stands.
      const double conjugate = loss.conjugate(v, p.target(i, o));
      sum.add(-c * conjugate);
      rest.add(c * v);
      size += c * (std::fabs(conjugate) + std::fabs(v));
      dual(o, position(i)) = c * v / p.total_weight;
    }
    const auto at = static_cast<std::size_t>(o);
    linear[at] = (sum.value() - 8 * epsilon * size) / p.total_weight;
    left[at] = (std::fabs(rest.value()) + 8 * epsilon * size * epsilon) / p.total_weight;
  }
}

/// A number and a bound on its error.
struct Measured {
  double value = 0, error = 0;
  double above() const { return std::max(0.0, value + error) * (1 + 4 * epsilon); }
  double below() const { return std::max(0.0, value - error) * (1 - 4 * epsilon); }
};

/// Sums of kernel values over the rows of the problem.
class Sums {
 public:
  Sums(const Problem& problem, const Expansion& expansion, const Eigen::VectorXd& intercept);
  void pass();

  std::vector<Measured> primal_norm, dual_norm;  ///< squared, per output
  std::vector<double> loss;                      ///< Σ c φ, rounded up, per output
  double smallest = infinity;                    ///< of the margins, rounded down
  std::int64_t wrong_rows = 0;                   ///< those whose margin is not certainly above 0
  double radius = 0;

 private:
  void add(std::int64_t row, const double* values, const double* errors);
  Measured sum(const Weights& by, const Weights& absolute, const Eigen::VectorXd& size, std::int32_t o,
               const double* values, const double* errors, double diagonal) const;

  const Problem& problem_;
  const Expansion& expansion_;
  const Eigen::VectorXd& intercept_;
  Weights absolute_primal_, absolute_dual_;
  Eigen::VectorXd primal_size_, dual_size_;  // Σ |weight| sqrt(k(x_s, x_s)) per output
};

Sums::Sums(const Problem& problem, const Expansion& expansion, const Eigen::VectorXd& intercept)
    : primal_norm(static_cast<std::size_t>(problem.outputs())),
      dual_norm(primal_norm),
      loss(primal_norm.size(), 0.0),
      problem_(problem),
      expansion_(expansion),
      intercept_(intercept),
      absolute_primal_(expansion.primal.cwiseAbs()),
      absolute_dual_(expansion.dual.cwiseAbs()) {
  Eigen::VectorXd lengths(static_cast<Eigen::Index>(expansion.rows().size()));
  for (std::size_t s = 0; s < expansion.rows().size(); ++s)
    lengths(static_cast<Eigen::Index>(s)) = std::sqrt(expansion.rows().diagonal(s));
  primal_size_ = absolute_primal_ * lengths;
  dual_size_ = absolute_dual_ * lengths;
}

Measured Sums::sum(const Weights& by, const Weights& absolute, const Eigen::VectorXd& size, std::int32_t o,
                   const double* values, const double* errors, double diagonal) const {
  const auto n = static_cast<std::size_t>(by.cols());
  return {kernels().dot_dd(values, by.row(o).data(), n),
          kernels().dot_dd(errors, absolute.row(o).data(), n) * (1 + epsilon * static_cast<double>(n)) +
              epsilon * (static_cast<double>(n) + 4) * size(o) * std::sqrt(diagonal)};
}

void Sums::add(std::int64_t row, const double* values, const double* errors) {
  const Problem& p = problem_;
  const std::int64_t at = expansion_.position(row);
  double diagonal = 0;
  if (at >= 0) {
    diagonal = expansion_.rows().diagonal(static_cast<std::size_t>(at));
  } else {
    std::vector<double> summary(p.kernel->summary_size());
    p.kernel->summarize(p.data.row(row), summary.data());
    diagonal = p.kernel->diagonal(summary.data());
  }
  radius = std::max(radius, std::sqrt(diagonal));
  const std::int32_t own = p.label[static_cast<std::size_t>(row)];
  std::vector<Measured> scores(static_cast<std::size_t>(p.outputs()));
  for (std::int32_t o = 0; o < p.outputs(); ++o) {
    Measured& f = scores[static_cast<std::size_t>(o)];
    f = sum(expansion_.primal, absolute_primal_, primal_size_, o, values, errors, diagonal);
    auto collect = [&](Measured& norm, double weight, const Measured& score) {
      norm.value += weight * score.value;
      norm.error += std::fabs(weight) *
                    (score.error + epsilon * static_cast<double>(expansion_.rows().size()) * std::fabs(score.value));
    };
    if (at >= 0) {
      collect(primal_norm[static_cast<std::size_t>(o)], expansion_.primal(o, at), f);
      collect(dual_norm[static_cast<std::size_t>(o)], expansion_.dual(o, at),
              sum(expansion_.dual, absolute_dual_, dual_size_, o, values, errors, diagonal));
    }
    if (p.intercept) {
      f.value += intercept_(o);
      f.error += epsilon * (std::fabs(f.value) + std::fabs(intercept_(o)));
    }
    if (p.hard_margin || !(p.weight(row) > 0)) continue;
    // A convex loss is largest at an end of the interval that holds the score.
    const double y = p.target(row, o),
                 value = std::max(p.loss->value(f.value - f.error, y), p.loss->value(f.value + f.error, y));
    loss[static_cast<std::size_t>(o)] += p.weight(row) * value * (1 + 8 * epsilon);
  }
  if (!p.hard_margin) return;
  if (p.task == Task::binary) {
    const double margin = (own == 1 ? scores[0].value : -scores[0].value) - scores[0].error;
    smallest = std::min(smallest, margin);
    wrong_rows += !(margin > 0);
    return;
  }
  const Measured& mine = scores[static_cast<std::size_t>(own)];
  double margin = infinity;
  for (std::int32_t c = 0; c < p.classes; ++c) {
    const Measured& other = scores[static_cast<std::size_t>(c)];
    if (c != own)
      margin = std::min(margin, (mine.value - other.value) * (1 - epsilon) - mine.error - other.error -
                                    epsilon * (std::fabs(mine.value) + std::fabs(other.value)));
  }
  smallest = std::min(smallest, margin);
  wrong_rows += !(margin > 0);
}

void Sums::pass() {
  const KernelRows& centres = expansion_.rows();
  const std::size_t n = static_cast<std::size_t>(problem_.rows()), s = centres.size();
  Poller poller(problem_.monitor);
  std::vector<KernelPoint> points(batch);
  std::vector<double> values(batch * s), errors(batch * s);
  for (std::size_t from = 0; from < n; from += batch) {
    const std::size_t count = std::min(batch, n - from);
    std::vector<const KernelPoint*> at;
    std::vector<double*> value_at, error_at;
    for (std::size_t b = 0; b < count; ++b) {
      centres.set(points[b], problem_.data.row(static_cast<std::int64_t>(from + b)));
      at.push_back(&points[b]);
      value_at.push_back(values.data() + b * s);
      error_at.push_back(errors.data() + b * s);
    }
    centres.evaluate(at, 0, s, value_at.data(), error_at.data());
    for (std::size_t b = 0; b < count; ++b) {
      const auto row = static_cast<std::int64_t>(from + b);
      if (const std::int64_t own = expansion_.position(row); own >= 0) {
        const double diagonal = centres.diagonal(static_cast<std::size_t>(own));
        value_at[b][own] = diagonal;  // exact where the general formula loses digits
        error_at[b][own] = std::min(error_at[b][own], epsilon * (problem_.dimensions() + 8.0) * 200 * diagonal);
      }
      add(row, value_at[b], error_at[b]);
    }
    poller.work(static_cast<double>(count * s) * (centres.operations() + 2.0 + 4.0 * problem_.outputs()));
  }
}

/// Where rounding leaves no certain norm above 0, a margin of 0 or less has only the bound of Cauchy and Schwarz, and
/// none with an intercept.
double lower_without_norm(const Expansion& expansion, const Eigen::VectorXd& intercept, double longest) {
  if (!(expansion.primal.cwiseAbs().maxCoeff() > 0)) return 0;
  return intercept.size() > 0 && intercept.cwiseAbs().maxCoeff() > 0 ? -infinity : -longest;
}

Certificate hard_certificate(const Problem& p, const Expansion& expansion, const Sums& sums,
                             const Eigen::VectorXd& intercept) {
  Certificate c;
  Measured primal, dual;
  for (const Measured& m : sums.primal_norm) primal = {primal.value + m.value, primal.error + m.error};
  for (const Measured& m : sums.dual_norm) dual = {dual.value + m.value, dual.error + m.error};
  const double norm = std::sqrt(sums.smallest > 0 ? primal.above() : primal.below());
  c.radius = sums.radius * (1 + epsilon * (p.dimensions() + 8.0));
  c.dual = c.radius * (p.task == Task::multiclass ? std::sqrt(2.0) : 1.0) * (1 + 2 * epsilon);
  const double lower = norm > 0 ? sums.smallest / norm : lower_without_norm(expansion, intercept, c.dual);
  c.primal = lower - 4 * epsilon * std::fabs(lower);
  if (expansion.imbalance < infinity && expansion.support() > 0) {
    // Normalising moved every weight by some ulps; an imbalance meets intercepts of at most √2 R (certificate.cpp).
    const double moved = epsilon * (static_cast<double>(expansion.support()) + 8) * c.radius * std::sqrt(2.0);
    c.dual = std::min(
        c.dual, std::sqrt(dual.above()) * (1 + 4 * epsilon) + moved + std::sqrt(0.5) * c.radius * expansion.imbalance);
  }
  c.errors = sums.wrong_rows;
  c.gap = c.dual - c.primal;
  c.relative_gap = c.dual > 0 ? c.gap / c.dual : 0;
  return c;
}

Certificate soft_certificate(const Problem& p, const Expansion& expansion, const Sums& sums) {
  Certificate c;
  c.radius = sums.radius * (1 + epsilon * (p.dimensions() + 8.0));
  for (std::size_t o = 0; o < sums.loss.size(); ++o) {
    const double rounding = epsilon * static_cast<double>(p.rows() + 8);
    const double primal =
        (0.5 * p.lambda * sums.primal_norm[o].above() + sums.loss[o] * (1 + rounding) / p.total_weight) *
        (1 + 8 * epsilon);
    // An optimal w has λ/2 ‖w‖² ≤ P, and an optimal b is where some row has y (w(x) + b) = 1.
    const double reach = p.intercept ? 1 + c.radius * std::sqrt(2 * primal / p.lambda) : 0;
    const double dual = (expansion.linear[o] - sums.dual_norm[o].above() / (2 * p.lambda) * (1 + 8 * epsilon) -
                         expansion.left[o] * reach * (1 + 8 * epsilon)) -
                        8 * epsilon * std::fabs(expansion.linear[o]);
    c.primal += primal;
    c.dual += std::isfinite(dual) ? std::max(dual, 0.0) : 0.0;  // P ≥ 0 needs no proof
  }
  c.primal *= 1 + epsilon * static_cast<double>(sums.loss.size());
  c.dual = std::min(c.dual * (1 - epsilon * static_cast<double>(sums.loss.size())), c.primal);
  c.gap = c.primal - c.dual;
  c.relative_gap = c.gap > 0 ? c.gap / std::max(c.primal, std::numeric_limits<double>::min()) : 0.0;
  if (!(c.primal < infinity)) {
    c.primal = infinity;
    c.gap = c.relative_gap = infinity;
  }
  return c;
}

}  // namespace

Certificate certify_kernel(const Problem& problem, const Weights& weights, const KernelBasis& basis,
                           const Eigen::VectorXd& intercept, const Weights& dual) {
  const Expansion expansion(problem, weights, basis, dual);
  Sums sums(problem, expansion, intercept);
  sums.pass();
  Certificate c = problem.hard_margin ? hard_certificate(problem, expansion, sums, intercept)
                                      : soft_certificate(problem, expansion, sums);
  c.support = expansion.support();
  return c;
}

}  // namespace margin
