// Dual values of the rows next to a kink (consequences/audit/kink_rows.hpp), chosen by coordinate ascent of D(a), where all other
// rows keep those that the sums of an audit have of them. Any choice within the domain is a proof: D is computed anew from
// what was chosen, so nothing here has to be exact.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/base/random.hpp"
#include "core/consequences/audit/audit_dual.hpp"
#include "core/loss/registry.hpp"
#include "core/math/rounding.hpp"

namespace margin {

namespace {

constexpr int most_epochs = 60;  // of a level
// Of the gap, that an epoch must gain to be followed by another: of one that is narrow, and of one that is wide.
constexpr double worth = 0.005, worth_of_wide = 0.02, wide = 0.05;
constexpr double still = 1e-6;  // of a dual value
constexpr std::size_t most_dense_values = std::size_t{1} << 19;

/// The step of a grid that has 2^36 of them up to `size`; 0: no grid.
double blunt_grid(double size) { return size > 0 && size < 1e300 ? std::ldexp(1.0, std::ilogb(size) - 36) : 0.0; }
double blunted(double v, double grid) { return grid > 0 ? std::nearbyint(v / grid) * grid : v; }

}  // namespace

/// Kinks of audit.hpp: the ascent, at one lambda after another. D(a) = C − (‖g‖² + β q²)/(2λ) for g_j = Σ c a x_j/(√f_j W), q = Σ c a/W, of which lambda
/// is no part. Of a penalised intercept β = B². A free one asks for q = 0: the method of multipliers, where β is the weight of a penalty
/// and `intercept` the multiplier.
class KinkAscent {
 public:
  /// From Σ c a x, Σ c a, about Σ c |a|, and Σ c (−φ*(−a)) of all rows.
  KinkAscent(const Objective& objective, double total, const KinkRows& kept, const Eigen::VectorXd& rows,
             double coefficient, double absolute, double conjugate, double intercept)
      : p_(objective), loss_(*objective.loss), total_(total), kept_(kept), at_{rows / total, 0, 0}, random_(1) {
    for (std::int32_t j = 0; !p_.penalty_factor.empty() && j < p_.dimensions; ++j)
      at_.score[j] /= std::sqrt(p_.factor(j));
    // Sums of the same rows in another order differ in their last digits, which a long ascent would carry to the first.
    const double grid = blunt_grid(at_.score.size() > 0 ? at_.score.cwiseAbs().maxCoeff() : 0.0);
    for (double& v : at_.score.reshaped()) v = blunted(v, grid);
    at_.q = blunted(coefficient / total, blunt_grid(absolute / total));
    missing_ = coefficient / total - at_.q;
    at_.conjugate = blunted(conjugate / total, blunt_grid(std::fabs(conjugate / total)));
    intercept_ = p_.free_intercept ? intercept : 0.0;
    take_rows();
    double squares = 0;
    for (const Own& row : rows_) squares += row.curvature;
    beta_ = p_.free_intercept ? std::max(squares / static_cast<double>(rows_.size()), 1e-300)
                              : p_.constant_feature() * p_.constant_feature();
    for (Own& row : rows_) row.curvature = (row.curvature + beta_) * row.share;
  }

  /// `primal` is the upper end of the interval there.
  void run(double lambda, double primal, double most_visits, const Progress& progress) {
    margin::visit(loss_, [&](const auto& loss) { run(loss, lambda, primal, most_visits, progress); });
  }

  /// D = conjugate() − square()/(2λ), where all balances.
  double conjugate() const { return at_.conjugate; }
  double square() const { return at_.score.squaredNorm() + (p_.free_intercept ? 0.0 : beta_ * at_.q * at_.q); }

  /// Σ c a = 0 where the intercept is free: by the rows between the ends of their domain first.
  std::vector<double> balanced() const {
    std::vector<double> dual;
    dual.reserve(rows_.size());
    for (const Own& row : rows_) dual.push_back(row.dual);
    double left = p_.free_intercept ? (at_.q + missing_) * total_ : 0.0;
    for (const bool inner : {true, false}) {
      for (std::size_t i = 0; i < dual.size() && left != 0; ++i) {
        const KinkRows::Kept& row = kept_.rows()[i];
        const double end = loss_.project(left > 0 ? -1e300 : 1e300, row.outcome), room = end - dual[i];
        const double other = loss_.project(left > 0 ? 1e300 : -1e300, row.outcome);
        if (inner && (room == 0 || other == dual[i])) continue;
        const double moved = std::fabs(row.weight * room) <= std::fabs(left) ? room : -left / row.weight;
        const double a = loss_.project(dual[i] + moved, row.outcome);
        left += row.weight * (a - dual[i]);
        dual[i] = a;
      }
    }
    return dual;
  }

 private:
  /// Sums of all rows.
  struct Point {
    Eigen::VectorXd score;  // g
    double q = 0, conjugate = 0;
    Point operator-(const Point& other) const {
      return {score - other.score, q - other.q, conjugate - other.conjugate};
    }
  };
  struct Own {
    Row x;                                   // over the roots of the penalty factors
    double share, outcome, dual, curvature;  // c/W, y, a, c (‖x‖² + β)/W
    double begin, way, found;                // a where the epoch began, how it came there, and where it ended
  };

  /// The rows over the roots of the penalty factors; dense where that is less work.
  void take_rows() {
    const std::vector<KinkRows::Kept>& rows = kept_.rows();
    const auto d = static_cast<std::size_t>(p_.dimensions);
    std::size_t values = 0;
    for (const KinkRows::Kept& row : rows) values += static_cast<std::size_t>(row.count);
    const bool dense = values * 4 >= rows.size() * d && rows.size() * d <= most_dense_values;
    const bool scaled = !p_.penalty_factor.empty();
    if (dense || scaled) values_.assign(dense ? rows.size() * d : values, 0.0);
    double* own = values_.data();
    rows_.reserve(rows.size());
    for (const KinkRows::Kept& row : rows) {
      const Row x = kept_.values(row);
      rows_.push_back({x, row.weight / total_, row.outcome, row.dual, 0, row.dual, 0, 0});
      Own& to = rows_.back();
      if (dense || scaled) {
        for (std::int32_t k = 0; k < x.count; ++k)
          own[dense ? x.indices[k] : k] = scaled ? x.doubles()[k] / std::sqrt(p_.factor(x.indices[k])) : x.doubles()[k];
        to.x = {own, dense ? nullptr : x.indices, dense ? p_.dimensions : x.count, true};
        own += to.x.count;
      }
      to.curvature = squared_norm(to.x);
    }
  }

  template <class L>
  void run(const L& loss, double lambda, double primal, double most_visits, const Progress& progress) {
    std::vector<std::uint32_t> order(rows_.size());
    for (std::size_t level : {order.size() / 16, order.size() / 4, order.size()}) {
      if (level < std::min<std::size_t>(64, order.size())) continue;
      std::iota(order.begin(), order.end(), 0U);
      double before = value(lambda);
      // All of them, then those that moved alone until that is worth little.
      std::size_t visited = level;
      bool follows = false;
      int pause = 0, waits = 0;  // epochs without a look further on, where the last one was of no use
      for (int epoch = 0; epoch < most_epochs && most_visits > 0; ++epoch) {
        for (std::size_t k = visited; k > 1; --k) std::swap(order[k - 1], order[random_.below(k)]);
        const bool few_columns = static_cast<std::size_t>(p_.dimensions) <= 4 * visited;
        const bool tries = few_columns && waits-- <= 0;
        if (few_columns) begin_epoch(order.data(), visited, follows, progress);
        std::size_t moved = 0;
        for (std::size_t k = 0; k < visited; ++k)
          if (visit(loss, 1 / lambda, order[k], progress)) std::swap(order[moved++], order[k]);
        if (tries) {
          const bool helped = go_on(loss, lambda, order.data(), visited, progress);
          pause = helped ? 0 : std::min(pause + 1, 4);
          waits = pause;
        }
        follows = few_columns;
        most_visits -= (tries ? 1.5 : 1.0) * static_cast<double>(visited);
        if (p_.free_intercept) intercept_ += beta_ / lambda * at_.q;
        const double now = value(lambda), left = primal - now;
        const double least = (left > wide * primal ? worth_of_wide : worth) * left;
        const bool little = now - before <= least && (epoch > 2 || !p_.free_intercept);
        if (little && visited == level) break;
        if (little || moved == 0) follows = false;  // the others were not on the way
        visited = little || moved == 0 ? level : moved;
        before = now;
      }
    }
  }

  /// `follows`: after one over these rows and others.
  void begin_epoch(const std::uint32_t* rows, std::size_t count, bool follows, const Progress& progress) {
    progress.work(4.0 * p_.dimensions + 2.0 * static_cast<double>(count));
    for (std::size_t k = 0; k < count; ++k) {
      Own& row = rows_[rows[k]];
      row.way = follows ? row.dual - row.begin : 0.0;
      row.begin = row.dual;
    }
    way_ = follows ? at_ - begin_ : at_ - at_;
    begin_ = at_;
  }

  /// Further along the way of an epoch and the one before, to where D would be largest if the dual values were not bounded:
  /// conjugate gradients, whose preconditioner is an epoch, until a bound is met. False where the epoch alone was as good.
  template <class L>
  bool go_on(const L& loss, double lambda, const std::uint32_t* rows, std::size_t count, const Progress& progress) {
    const auto product = [&](const Point& a, const Point& b) {
      return (a.score.dot(b.score) + beta_ * a.q * b.q) / lambda;
    };
    const auto slope = [&](const Point& way) { return way.conjugate - product(at_, way) - intercept_ * way.q; };
    const auto height = [&](const Point& at) { return at.conjugate - product(at, at) / 2 - intercept_ * at.q; };
    progress.work(12.0 * p_.dimensions);
    const Point from = at_, epoch = at_ - begin_;
    const double epochs = product(epoch, epoch), ways = product(way_, way_), both = product(epoch, way_);
    const double determinant = epochs * ways - both * both, up = slope(epoch), along = slope(way_);
    double further = up / epochs, again = 0;
    if (determinant > 1e-9 * epochs * ways) {
      further = (up * ways - along * both) / determinant;
      again = (along * epochs - up * both) / determinant;
    }
    if (!(std::fabs(further) < 1e6) || !(std::fabs(again) < 1e6)) return false;
    for (std::size_t k = 0; k < count; ++k) {
      Own& row = rows_[rows[k]];
      row.found = row.dual;
      progress.work(2.0 * row.x.count + 16);
      move(loss, row, loss.project(row.dual + further * (row.dual - row.begin) + again * row.way, row.outcome));
    }
    const double gain = height(at_) - height(from), own = height(from) - height(begin_);
    if (gain >= 0) return gain > 0.1 * own;
    at_ = from;
    for (std::size_t k = 0; k < count; ++k) rows_[rows[k]].dual = rows_[rows[k]].found;
    return false;
  }

  /// Whether its dual value moved, by more than rounding would have it.
  template <class L>
  bool visit(const L& loss, double inverse, std::size_t i, const Progress& progress) {
    Own& row = rows_[i];
    progress.work(2.0 * row.x.count + 32);
    const double before = row.dual, u = (dot(row.x, at_.score.data()) + beta_ * at_.q) * inverse + intercept_;
    const double wanted = loss.dual_step(u, row.outcome, before, row.curvature * inverse);
    if (!(std::fabs(wanted) < infinity)) return false;
    move(loss, row, loss.project(wanted, row.outcome));
    return std::fabs(row.dual - before) > still;
  }

  template <class L>
  void move(const L& loss, Own& row, double a) {
    const double moved = row.share * (a - row.dual);
    if (moved == 0) return;
    at_.conjugate -= row.share * (loss.conjugate(a, row.outcome) - loss.conjugate(row.dual, row.outcome));
    add(moved, row.x, at_.score.data());
    at_.q += moved;
    row.dual = a;
  }

  double value(double lambda) const { return conjugate() - square() / (2 * lambda); }

  const Objective& p_;
  const Loss& loss_;
  double total_, beta_ = 0;
  const KinkRows& kept_;
  std::vector<Own> rows_;
  std::vector<double> values_;
  Point at_, begin_, way_;              // now, where the epoch began, and how it came there
  double intercept_ = 0, missing_ = 0;  // missing_: what q lacks
  Random random_;
};

/// The dual values of the smallest smoothing.
AuditedOutput::Sums AuditedOutput::first() const {
  PerSide shares = PerSide::Zero(values_.size());
  shares[0] = shares[1] = 1;
  return mixed(shares);
}

void AuditedOutput::ascend(double lambda, double visits, const Progress& progress) {
  if (sums_.kept.rows().empty()) return;
  if (ascent_ == nullptr) {
    const Sums sums = first();
    ascent_ = std::make_shared<KinkAscent>(audit_.objective_, total_, sums_.kept, sums.rows, sums.coefficient,
                                           sums.absolute, sums.conjugate, intercept_);
  }
  ascent_->run(lambda, quick_primal(lambda), visits, progress);
}

double AuditedOutput::ascended_conjugate() const {
  return ascent_ != nullptr ? ascent_->conjugate() : values_[0] + values_[1];
}

double AuditedOutput::ascended_square() const {
  return ascent_ != nullptr ? ascent_->square() : products_.topLeftCorner<2, 2>().sum();
}

double AuditedOutput::dual_of_ascent(double lambda, const Progress& progress) const {
  if (ascent_ == nullptr) return 0;
  const Objective& p = audit_.objective_;
  const KinkRows& kept = sums_.kept;
  const std::vector<double> duals = ascent_->balanced();
  Sums sums = first();
  const double constant = p.constant_feature();
  Eigen::VectorXd changed = Eigen::VectorXd::Zero(p.dimensions);
  ExactSum conjugate, coefficient, absolute;
  double moved = sums.absolute;
  progress.work(16.0 * p.dimensions);
  for (std::size_t i = 0; i < duals.size(); ++i) {
    const KinkRows::Kept& row = kept.rows()[i];
    const double c = row.weight, before = row.dual, after = duals[i];
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
  sums.depth += 2 * static_cast<double>(duals.size()) + 8;
  sums.conjugate -= 8 * epsilon * sums.size;

  // The best multiple of all of it, as −φ* is concave and 0 at 0: D(θa) ≥ θ·C − θ²·‖v‖²/(2λ).
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
