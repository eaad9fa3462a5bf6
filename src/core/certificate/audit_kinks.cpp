// Dual values of the rows next to a kink (certificate/kink_rows.hpp), chosen by coordinate ascent of D(a), where all other
// rows keep those that the sums of an audit have of them. Any choice within the domain is a proof: D is computed anew from
// what was chosen, so nothing here has to be exact.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/base/random.hpp"
#include "core/certificate/audit_dual.hpp"
#include "core/math/rounding.hpp"

namespace margin {

namespace {

constexpr int most_epochs = 60;  // of a level
constexpr double worth = 0.005;  // of the gap, that an epoch must gain to be followed by another
constexpr double still = 1e-6;   // of a dual value

}  // namespace

/// The ascent. D(a) = C − (λ/2) Σ_j f_j g_j² − (β/2λ) q² for g_j = Σ c a x_j/(λ f_j W), q = Σ c a/W. Of a penalised intercept
/// β = B². A free one asks for q = 0: the method of multipliers, where β is the weight of a penalty and `intercept` the
/// multiplier.
class KinkAscent {
 public:
  /// Of the first `rows` of `kept`.
  KinkAscent(const Objective& objective, double lambda, double total, const KinkRows& kept, std::size_t rows)
      : p_(objective), loss_(*objective.loss), lambda_(lambda), total_(total), kept_(kept) {
    for (std::int32_t j = 0; j < p_.dimensions; ++j) inverse_.push_back(1 / (lambda * p_.factor(j) * total));
    double squares = 0;
    for (std::size_t i = 0; i < rows; ++i) {
      const KinkRows::Kept& row = kept.rows()[i];
      const Row x = kept.values(row);
      double square = 0;
      for (std::int32_t k = 0; k < x.count; ++k) square += x.value(k) * x.value(k) * inverse_[column(x, k)];
      curvature_.push_back(row.weight * square);
      squares += square;
      dual_.push_back(row.dual);
    }
    const auto n = static_cast<double>(rows);
    beta_ = p_.free_intercept ? std::max(squares * lambda * total / n, 1e-300)
                              : p_.constant_feature() * p_.constant_feature();
  }

  /// From Σ c a x, Σ c a and Σ c (−φ*(−a)) of all rows; `primal` is the upper end of the interval.
  void run(const Eigen::VectorXd& rows, double coefficient, double conjugate, double intercept, double primal,
           double most_visits, const Progress& progress) {
    score_.resize(inverse_.size());
    for (std::size_t j = 0; j < inverse_.size(); ++j) score_[j] = inverse_[j] * rows[static_cast<Eigen::Index>(j)];
    q_ = coefficient / total_;
    conjugate_ = conjugate;
    intercept_ = p_.free_intercept ? intercept : 0.0;
    std::vector<std::uint32_t> order(dual_.size());
    std::iota(order.begin(), order.end(), 0U);
    Random random(1);
    for (std::size_t level : {order.size() / 16, order.size() / 4, order.size()}) {
      if (level < std::min<std::size_t>(64, order.size())) continue;
      std::iota(order.begin(), order.end(), 0U);
      double before = value();
      // All of them, then those that moved alone until that is worth little.
      std::size_t visited = level;
      for (int epoch = 0; epoch < most_epochs && most_visits > 0; ++epoch) {
        for (std::size_t k = visited; k > 1; --k) std::swap(order[k - 1], order[random.below(k)]);
        std::size_t moved = 0;
        for (std::size_t k = 0; k < visited; ++k)
          if (visit(order[k], progress)) std::swap(order[moved++], order[k]);
        most_visits -= static_cast<double>(visited);
        if (p_.free_intercept) intercept_ += beta_ / lambda_ * q_;
        const double now = value();
        const bool little = now - before <= worth * (primal - now) && (epoch > 2 || !p_.free_intercept);
        if (little && visited == level) break;
        visited = little || moved == 0 ? level : moved;
        before = now;
      }
    }
    if (p_.free_intercept) balance();
  }

  const std::vector<double>& duals() const { return dual_; }

 private:
  static std::size_t column(const Row& x, std::int32_t k) { return static_cast<std::size_t>(x.indices[k]); }

  /// Whether its dual value moved, by more than rounding would have it.
  bool visit(std::size_t i, const Progress& progress) {
    const KinkRows::Kept& row = kept_.rows()[i];
    const Row x = kept_.values(row);
    progress.work(4.0 * x.count + 32);
    const double u = dot(x, score_.data()) + intercept_ + beta_ / lambda_ * q_;
    const double step = curvature_[i] + beta_ * row.weight / (lambda_ * total_);
    const double wanted = loss_.dual_step(u, row.outcome, dual_[i], step);
    if (!(std::fabs(wanted) < infinity)) return false;
    const double a = loss_.project(wanted, row.outcome), moved = row.weight * (a - dual_[i]);
    if (moved == 0) return false;
    conjugate_ -= row.weight * (loss_.conjugate(a, row.outcome) - loss_.conjugate(dual_[i], row.outcome));
    const double* const values = x.doubles();
    for (std::int32_t k = 0; k < x.count; ++k) score_[column(x, k)] += moved * inverse_[column(x, k)] * values[k];
    q_ += moved / total_;
    return std::fabs(a - std::exchange(dual_[i], a)) > still;
  }

  double value() const {
    double square = p_.free_intercept ? 0.0 : beta_ / lambda_ * q_ * q_;
    for (std::size_t j = 0; j < score_.size(); ++j) square += score_[j] * score_[j] / (inverse_[j] * total_);
    return conjugate_ / total_ - square / 2;
  }

  /// Σ c a = 0, by the rows between the ends of their domain first.
  void balance() {
    double left = q_ * total_;
    for (const bool inner : {true, false}) {
      for (std::size_t i = 0; i < dual_.size() && left != 0; ++i) {
        const KinkRows::Kept& row = kept_.rows()[i];
        const double end = loss_.project(left > 0 ? -1e300 : 1e300, row.outcome), room = end - dual_[i];
        const double other = loss_.project(left > 0 ? 1e300 : -1e300, row.outcome);
        if (inner && (room == 0 || other == dual_[i])) continue;
        const double moved = std::fabs(row.weight * room) <= std::fabs(left) ? room : -left / row.weight;
        const double a = loss_.project(dual_[i] + moved, row.outcome);
        left += row.weight * (a - dual_[i]);
        dual_[i] = a;
      }
    }
  }

  const Objective& p_;
  const Loss& loss_;
  double lambda_, total_, beta_ = 0;
  const KinkRows& kept_;
  std::vector<double> inverse_, curvature_, dual_;
  std::vector<double> score_;  // g
  double q_ = 0, conjugate_ = 0, intercept_ = 0;
};

double AuditedOutput::dual_of_kinks(double lambda, double visits, const Progress& progress) const {
  const Objective& p = audit_.objective_;
  const KinkRows& kept = sums_.kept;
  if (kept.rows().empty()) return 0;
  PerSide shares = PerSide::Zero(values_.size());
  shares[0] = shares[1] = 1;
  Sums sums = mixed(shares);
  const std::size_t used = std::min(kept.rows().size(), static_cast<std::size_t>(visits / 4));
  KinkAscent ascent(p, lambda, total_, kept, used);
  ascent.run(sums.rows, sums.coefficient, sums.conjugate, intercept_, quick_primal(lambda), visits, progress);

  const double constant = p.constant_feature();
  Eigen::VectorXd changed = Eigen::VectorXd::Zero(p.dimensions);
  ExactSum conjugate, coefficient, absolute;
  double moved = sums.absolute;
  progress.work(16.0 * p.dimensions);
  for (std::size_t i = 0; i < used; ++i) {
    const KinkRows::Kept& row = kept.rows()[i];
    const double c = row.weight, before = row.dual, after = ascent.duals()[i];
    if (before == after) continue;
    const Row x = kept.values(row);
    progress.work(4.0 * x.count + 32);
    // Two terms, not their difference, which would be rounded before it is bounded.
    for (const auto& [a, sign] : {std::pair(after, 1.0), std::pair(before, -1.0)}) {
      if (a == 0) continue;
      const double star = p.loss->conjugate(a, row.outcome);
      add(sign * (c * a), x, changed.data());
      conjugate.add(-sign * (c * star));
      sums.size += c * p.loss->conjugate_size(a, row.outcome, star);
      coefficient.add(sign * (c * a));
      absolute.add(sign * std::fabs(c * a));
      moved += std::fabs(c * a);
      sums.mass += c * std::fabs(a) * (row.norm + constant);
      sums.unseen += row.norm + constant + x.count + c + 4;
    }
  }
  sums.rows += changed;
  sums.conjugate += conjugate.value();
  sums.coefficient += coefficient.value();
  // What was moved may be more than what is left, by whose ulps the balance of a free intercept is judged.
  if (p.free_intercept) sums.coefficient += std::copysign(8 * epsilon * moved, sums.coefficient);
  sums.absolute += absolute.value();
  sums.depth += 2 * static_cast<double>(used) + 8;
  sums.conjugate -= 8 * epsilon * sums.size;

  // The best multiple of all of it: D(θa) ≥ θ·C − θ²·‖v‖²/(2λ).
  double square = p.free_intercept ? 0.0 : std::pow(constant * sums.coefficient / total_, 2) / lambda;
  for (std::int32_t j = 0; j < p.dimensions; ++j)
    square += sums.rows[j] * sums.rows[j] / (lambda * p.factor(j) * total_ * total_);
  const double share = square > 0 ? sums.conjugate / total_ / square : 1.0;
  if (share > 0 && share < 1) {
    sums.rows *= share;
    for (double* const v : {&sums.conjugate, &sums.size, &sums.mass, &sums.coefficient, &sums.absolute}) *v *= share;
    sums.conjugate -= 8 * epsilon * sums.size;
    sums.depth += 4;
  }
  return dual_of(sums, lambda);
}

}  // namespace margin
