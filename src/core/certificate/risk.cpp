#include "core/certificate/risk.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/progress.hpp"
#include "core/math/box_term.hpp"
#include "core/math/norm.hpp"
#include "core/math/rounding.hpp"

namespace margin {

RiskCheck::RiskCheck(const Objective& objective, const double* weights, const double* intercept, bool with_dual)
    : objective_(objective),
      measure_(measure_of(*objective_.loss)),
      weights_(weights),
      intercept_(intercept),
      with_dual_(with_dual),
      longest_short_(short_row * (objective.lambda > 0 ? std::sqrt(objective.lambda) : 1e-3)) {
  const auto k = static_cast<std::size_t>(objective.outputs()), d = static_cast<std::size_t>(objective.dimensions);
  outputs_.resize(k);
  scores_.resize(k);
  numbers_.resize(head + per_output * k);
  coefficients_.resize(k);
  for (std::size_t o = 0; o < k; ++o) norms_.push_back(lp_norm(weights + o * d, objective.dimensions, 2));
  if (!with_dual) return;
  total_ = Weights::Zero(objective.outputs(), objective.dimensions);
  block_ = total_;
}

void RiskCheck::Output::write(double* n) const {
  n[0] = loss.value();
  n[1] = loss_error;
  n[2] = vanished;
  n[3] = conjugate.value();
  n[4] = conjugate_size;
  n[5] = mass;
  n[6] = unseen;
  n[7] = intercept.value();
  n[8] = absolute.value();
}

bool RiskCheck::merge(const std::vector<double>& s, const Weights& sums, std::int64_t longest, std::int64_t blocks) {
  if (!sound(s) || sums.rows() != total_.rows() || sums.cols() != total_.cols()) return false;
  take(s.data());
  total_ += sums;
  blocks_ += blocks + 1;
  longest_block_ = std::max(longest_block_, longest);
  return true;
}

void RiskCheck::widen(std::int32_t dimensions, const double* weights) {
  objective_.dimensions = dimensions;
  weights_ = weights;
  if (!with_dual_) return;
  margin::widen(total_, dimensions);
  margin::widen(block_, dimensions);
  if (!long_.empty()) long_.widen(dimensions);
}

void RiskCheck::flush() {
  if (block_rows_ == 0) return;
  total_ += block_;
  block_.setZero();
  ++blocks_;
  longest_block_ = std::max(longest_block_, block_rows_);
  block_rows_ = 0;
  block_work_ = 0;
}

std::vector<double> RiskCheck::state() const {
  std::vector<double> s(head + per_output * outputs_.size());
  s[0] = static_cast<double>(rows_);
  s[1] = static_cast<double>(errors_);
  s[2] = radius_;
  s[3] = total_weight_.value();
  s[4] = error_weight_.value();
  for (std::size_t o = 0; o < outputs_.size(); ++o) outputs_[o].write(s.data() + head + per_output * o);
  return without_dual(std::move(s));
}

std::vector<double> RiskCheck::without_dual(std::vector<double> s) const {
  s[5] = 0;
  for (std::size_t o = 0; o < outputs_.size(); ++o)
    std::fill_n(s.data() + head + per_output * o + 3, per_output - 3, 0.0);
  return s;
}

bool RiskCheck::sound(const std::vector<double>& s) const {
  return s.size() == head + per_output * outputs_.size() && s[0] >= 0 && s[0] <= 0x1p53 && s[1] >= 0 && s[1] <= s[0] &&
         s[5] >= 0 && s[5] <= s[0];
}

bool RiskCheck::merge(const std::vector<double>& s) {
  if (!sound(s)) return false;
  take(without_dual(s).data());
  return true;
}

double RiskCheck::failure() const {
  if (objective_.one_class()) return 0;
  return objective_.task == Task::regression ? outputs_[0].loss.value() / total_weight() : error_weight_.value();
}

/// P of the header.
double RiskCheck::primal(std::int32_t o) const {
  const auto at = static_cast<std::size_t>(o);
  const double* const w = weights_ + static_cast<std::ptrdiff_t>(o) * objective_.dimensions;
  const double rho = objective_.l1_ratio;
  double absolute = 0;
  if (objective_.offset >= 0 && w[objective_.offset] != objective_.offset_weight()) return infinity;
  for (std::int32_t j = 0; rho > 0 && j < objective_.dimensions; ++j)
    if (objective_.penalises(j)) absolute += objective_.factor(j) * std::fabs(w[j]);
  for (std::int32_t j = 0; !objective_.bounds.empty() && j < objective_.dimensions; ++j)
    if (objective_.penalises(j) && !objective_.bounds.holds(w[j], static_cast<std::size_t>(j))) return infinity;
  if (!objective_.constraints.empty() && !(objective_.constraints.missed(w) <= met_constraint)) return infinity;
  double weights_size = norms_[at];
  if ((objective_.offset >= 0 || !objective_.penalty_factor.empty()) && rho < 1) {
    Eigen::VectorXd scaled = Eigen::VectorXd::Zero(objective_.dimensions);
    for (std::int32_t j = 0; j < objective_.dimensions; ++j)
      if (objective_.penalises(j)) scaled(j) = std::sqrt(objective_.factor(j)) * w[j];
    weights_size = lp_norm(scaled.data(), scaled.size(), 2);
  }
  const double b =
      intercept_ != nullptr && objective_.constant_feature() > 0 ? intercept_[o] / objective_.constant_feature() : 0.0;
  // λ‖w‖² in an order in which nothing overflows that is not large itself; what vanishes is less than `tiny` a factor.
  const double size = std::hypot(weights_size, b);
  const double penalty = (1 - rho) / 2 * ((objective_.lambda * size) * size) + rho * (objective_.lambda * absolute);
  const bool moves = size > 0 || (intercept_ != nullptr && intercept_[o] != 0);
  const double lost = moves ? tiny * (size + 8) : 0.0;
  const double weight = total_weight();
  const double loss = outputs_[at].loss.value() + (outputs_[at].loss_error + tiny * outputs_[at].vanished);
  const double mean = weight > 0 ? loss / weight + (loss > 0 ? tiny : 0.0) : 0.0;
  if (!(weight < infinity)) return infinity;
  const double value = mean * (1 + 8 * epsilon) + penalty * (1 + epsilon * (2.0 * objective_.dimensions + 40.0)) + lost;
  return or_infinity(objective_.one_class() ? with_boundary(value, o) : value);
}

double RiskCheck::least_primal() const {
  const double weight = total_weight();
  if (!(weight > 0)) return 0;
  const double loss = outputs_[0].loss.value() - (outputs_[0].loss_error + tiny * outputs_[0].vanished);
  return loss > 0 ? loss / weight * (1 - 8 * epsilon) : 0.0;
}

bool RiskCheck::row_sum(std::int32_t o, DualSum& out) const {
  const double weight = total_weight();
  if (!with_dual_ || support_ == 0 || !(weight > 0) || !(weight < infinity)) return false;
  const Output& sum = outputs_[static_cast<std::size_t>(o)];
  const std::int32_t d = objective_.dimensions;
  out.v = ((total_.row(o) + block_.row(o)) / weight).transpose();
  out.of_intercept = objective_.constant_feature() * sum.intercept.value() / weight;
  if (!std::isfinite(out.of_intercept)) return false;
  out.moved = 0;
  if (!long_.empty()) add_long_sums(o, out);
  if (!simd().finite_d(out.v.data(), static_cast<std::size_t>(d)) || !(out.moved < infinity)) return false;
  if (objective_.offset >= 0) out.of_offset = std::exchange(out.v(objective_.offset), 0.0);
  // (1) of the header. Each component of v is a sum of blocks: it errs by (longest block + blocks) ulps of Σ c|a||x|/W.
  const double depth = static_cast<double>(std::max(longest_block_, block_rows_) + blocks_) + 8.0;
  out.moved += epsilon * depth * sum.mass / weight + tiny * sum.unseen / weight + d * tiny + tiny;
  return true;
}

bool RiskCheck::dual_sum(std::int32_t o, DualSum& out) const {
  if (!row_sum(o, out)) return false;
  out.excess = 0;
  if (!objective_.constraints.empty() && !pull(o, out)) return false;
  if (!objective_.free_intercept) return true;
  const double weight = total_weight();
  const Output& sum = outputs_[static_cast<std::size_t>(o)];
  // δ of the header: the share of the heavier side that a free intercept takes from a. That side weighs at least half of all.
  const double all = sum.absolute.value(),
               off = std::fabs(sum.intercept.value()) + 8 * epsilon * all + tiny * sum.unseen;
  out.excess = 2 * off / all * (1 + 8 * epsilon);
  out.moved += out.excess * (sum.mass / weight);
  return out.excess <= 1;
}

/// v − Aᵀν in place of v.
bool RiskCheck::pull(std::int32_t o, DualSum& out) const {
  const Constraints& c = objective_.constraints;
  if (c.multipliers.rows() <= o || c.multipliers.cols() != static_cast<Eigen::Index>(c.count())) return true;
  double size = 0, ends = 0;
  std::size_t terms = 0;
  ExactSum sum;
  for (std::size_t k = 0; k < c.count(); ++k) {
    const double nu = c.multipliers(o, static_cast<Eigen::Index>(k));
    if (nu == 0) continue;
    const double product = nu * (nu > 0 ? c.upper[k] : c.lower[k]);
    if (!std::isfinite(product)) return false;
    c.rows.add(k, -nu, out.v.data());
    size += std::fabs(nu) * c.rows.norm(k);
    sum.add(product);
    ends += std::fabs(product) + tiny;
    ++terms;
  }
  if (terms == 0) return true;
  const double depth = static_cast<double>(terms) + 4;
  out.moved += depth * epsilon * (size + lp_norm(out.v.data(), out.v.size(), 2)) * (1 + 1e-6) +
               tiny * (static_cast<double>(objective_.dimensions) + depth);
  out.of_ends = sum.value() + 4 * epsilon * ends;
  return out.v.allFinite() && out.moved < infinity && std::isfinite(out.of_ends);
}

/// The part of the long rows, (2) and (3) of the header.
void RiskCheck::add_long_sums(std::int32_t o, DualSum& out) const {
  const Output& sum = outputs_[static_cast<std::size_t>(o)];
  const double weight = total_weight(), all = sum.absolute.value(), terms = static_cast<double>(rows_ + long_.terms()),
               mass = long_mass_[static_cast<std::size_t>(o)], twofold = epsilon * epsilon * (4 * terms + 64);
  double share = 0, doubt = 0;  // what a free intercept takes of the heavier side, and what that errs by
  bool positive = true;         // the heavier side
  if (objective_.free_intercept && !objective_.one_class()) {
    ExactSum exact = sum.intercept;
    exact.add(long_.lost(o));
    const double s = exact.value(), heavier = (all + std::fabs(s)) / 2,
                 off = (unit_weights_ ? twofold : 8 * epsilon) * all + tiny * sum.unseen;
    positive = s > 0;
    share = std::fabs(s) / heavier;
    doubt = 2 * off / all + 32 * epsilon * share;
  } else {
    out.moved += 2 * epsilon * objective_.constant_feature() * all / weight;
  }
  double size = 0;
  for (std::int32_t j = 0; j < objective_.dimensions; ++j) {
    const double* const above = long_.of(o, true, j);
    const double* const below = long_.of(o, false, j);
    const double* const heavy = positive ? above : below;
    ExactSum v;
    for (const double term :
         {total_(o, j), block_(o, j), above[0], below[0], above[1], below[1], -share * heavy[0], -share * heavy[1]})
      v.add(term);
    out.v(j) = v.value() / weight;
    size = std::hypot(size, out.v(j));
  }
  out.moved += 4 * epsilon * size * (1 + epsilon * objective_.dimensions) + (twofold + doubt) * (mass / weight);
}

bool RiskCheck::blurred(double nothing) const {
  constexpr double much = 0.5;
  for (std::int32_t o = 0; with_dual_ && o < objective_.outputs(); ++o) {
    DualSum of;
    const bool proves = dual_sum(o, of);
    const double p = primal(o), gap = p - dual(o, proves ? &of : nullptr);
    if (!(gap > nothing * p) || !proves) continue;
    // By (1), in D, and as much again in P.
    const double mu = objective_.lambda * std::max(1 - objective_.l1_ratio, epsilon),
                 size = lp_norm(of.v.data(), of.v.size(), 2);
    const double in_dual = !objective_.bounds.empty() ? moved_by(of, 1)
                           : objective_.l1_ratio < 1  ? (size + of.moved / 2) * of.moved / mu
                                                      : of.moved / objective_.lambda * p;
    const double in_primal = outputs_[static_cast<std::size_t>(o)].loss_error / total_weight();
    if (in_dual + in_primal > much * gap) return true;
  }
  return false;
}

/// D of the header; with ρ = 1 its first term alone, scaled until the constraint holds.
double RiskCheck::dual(std::int32_t o) const {
  DualSum of;
  return dual(o, !objective_.one_class() && dual_sum(o, of) ? &of : nullptr);
}

double RiskCheck::dual(std::int32_t o, const DualSum* proves) const {
  if (objective_.one_class()) return one_class_dual(o);
  if (proves == nullptr) return 0;
  const DualSum& of = *proves;
  const Output& sum = outputs_[static_cast<std::size_t>(o)];
  const double mean =
      (sum.conjugate.value() - (8 * epsilon + of.excess) * sum.conjugate_size - tiny * sum.unseen) / total_weight();
  double least = mean - 4 * epsilon * std::fabs(mean) - tiny;
  if (of.of_ends != 0) least -= of.of_ends + 4 * epsilon * (std::fabs(of.of_ends) + std::fabs(least));
  if (objective_.offset >= 0) {
    least -= objective_.offset_weight() * (of.of_offset + (of.moved + 4 * epsilon * std::fabs(of.of_offset)));
    least -= 4 * epsilon * std::fabs(least);
  }
  const double value = !objective_.bounds.empty() ? dual_between(least, of)
                       : objective_.l1_ratio < 1  ? least - dual_penalty(of.v.cwiseAbs(), of.of_intercept, of.moved)
                                                  : least * held(of.v.cwiseAbs(), of.moved);
  return value > 0 && value < infinity ? value : 0.0;
}

/// The second term of D: at least Σ_j max(0, v_j − κ_j)²/(2 λ (1 − ρ) f_j) and the same of the intercept, for v that errs by
/// `moved`; given the sizes of v_j.
double RiskCheck::dual_penalty(Eigen::VectorXd v, double of_intercept, double moved) const {
  const double kappa = objective_.lambda * objective_.l1_ratio;
  double largest_share = 1;  // of the error, by the factors
  if (objective_.penalty_factor.empty()) {
    for (double& x : v) x = std::max(0.0, x - kappa);
  } else {
    for (std::int32_t j = 0; j < objective_.dimensions; ++j) {
      const double f = objective_.factor(j), root = std::sqrt(f);
      v(j) = std::max(0.0, v(j) - kappa * f * (1 - 4 * epsilon)) / root;
      largest_share = std::max(largest_share, 1 / root);
    }
  }
  const double norm =
      std::hypot(lp_norm(v.data(), v.size(), 2), of_intercept) * (1 + epsilon * (objective_.dimensions + 16.0)) +
      moved * largest_share * (1 + 8 * epsilon);
  // ‖v‖²/λ by two quotients: the square of a small ‖v‖ may vanish where the quotient does not.
  const double quotient =
      norm / (2 * objective_.lambda) / (1 - objective_.l1_ratio) + 2 * tiny / (1 - objective_.l1_ratio);
  return norm * quotient * (1 + 8 * epsilon) + tiny;
}

/// ≥ what T_j at share · v may fall by where v errs by `moved` in all, summed over the features.
double RiskCheck::moved_by(const DualSum& sum, double share) const {
  const bool ridge = objective_.l1_ratio < 1;
  const double moved = share * sum.moved;
  double size = 0, least = infinity;
  for (std::int32_t j = 0; j < objective_.dimensions; ++j) {
    if (!objective_.penalises(j)) continue;
    const auto at = static_cast<std::size_t>(j);
    const double l = objective_.bounds.least(at), u = objective_.bounds.most(at), q = share * sum.v(j);
    const double mu = square_part(j), kappa = absolute_part(j);
    double reach = std::fabs(box_minimiser(q, mu, kappa, l, u));
    if (!ridge) {
      const bool still = l <= 0 && u >= 0 && std::fabs(q) + moved <= kappa;
      reach = still ? 0 : std::max(std::isfinite(l) ? std::fabs(l) : 0.0, std::isfinite(u) ? std::fabs(u) : 0.0);
    }
    size = std::hypot(size, reach);
    least = std::min(least, mu);
  }
  const double up = 1 + epsilon * (2.0 * objective_.dimensions + 32);
  return (moved * size + (ridge && moved > 0 ? moved / (2 * least) * moved : 0.0)) * up + tiny;
}

/// D between bounds, `least` being its first term.
double RiskCheck::dual_between(double least, const DualSum& sum) const {
  const bool ridge = objective_.l1_ratio < 1;
  double share = 1;
  for (std::int32_t j = 0; !ridge && j < objective_.dimensions; ++j) {
    if (!objective_.penalises(j)) continue;
    const auto at = static_cast<std::size_t>(j);
    const double q = sum.v(j), size = std::fabs(q) + sum.moved, kappa = absolute_part(j) * (1 - 4 * epsilon);
    const bool endless = (q + sum.moved > 0 && objective_.bounds.most(at) == infinity) ||
                         (q - sum.moved < 0 && objective_.bounds.least(at) == -infinity);
    if (endless && size > kappa) share = std::min(share, kappa / size * (1 - 8 * epsilon));
  }
  ExactSum terms;
  double size = 0;
  for (std::int32_t j = 0; j < objective_.dimensions; ++j) {
    if (!objective_.penalises(j)) continue;
    const auto at = static_cast<std::size_t>(j);
    // A share that is not 1 rounds the product.
    const double q = share * sum.v(j), error = share == 1 ? 0 : epsilon * std::fabs(q) + tiny;
    const double term =
        box_term(q, error, square_part(j), absolute_part(j), objective_.bounds.least(at), objective_.bounds.most(at));
    if (!(term > -infinity)) return 0;
    terms.add(term);
    size += std::fabs(term);
  }
  double value = share * least + terms.value() - moved_by(sum, share);
  if (ridge && objective_.constant_feature() > 0) {
    const double b = std::fabs(sum.of_intercept) * (1 + 16 * epsilon) + sum.moved;
    value -= b * (b / (2 * objective_.lambda) / (1 - objective_.l1_ratio)) * (1 + 16 * epsilon) + 4 * tiny;
  }
  return value - 8 * epsilon * (std::fabs(least) + size + std::fabs(value)) - tiny;
}

/// The lasso: by what a must be multiplied for |v_j| ≤ λ f_j to hold of all features; rounded down. As φ*(0) = 0, no dual
/// value falls by more than that share.
double RiskCheck::held(const Eigen::VectorXd& v, double moved) const {
  double share = 1;
  for (std::int32_t j = 0; j < objective_.dimensions; ++j) {
    const double bound = objective_.lambda * objective_.factor(j) * (1 - 4 * epsilon), size = v(j) + moved;
    if (size > bound) share = std::min(share, bound / size);
  }
  return share * (1 - 8 * epsilon);
}

double RiskCheck::primal() const {
  double sum = 0;
  for (std::int32_t o = 0; o < objective_.outputs(); ++o) sum += primal(o);
  return sum * (1 + epsilon * objective_.outputs());
}

double RiskCheck::dual() const {
  double sum = 0;
  for (std::int32_t o = 0; o < objective_.outputs(); ++o) sum += dual(o);
  return sum * (1 - epsilon * objective_.outputs());
}

Certificate RiskCheck::certificate(const Progress&) const {
  Certificate c;
  c.upper = primal();
  c.lower = std::min(dual(), c.upper);
  set_minimum_gap(c);
  c.support = support_;
  c.radius = radius_;
  c.failure = failure();
  if (objective_.one_class()) c.errors = errors_;
  return c;
}

}  // namespace margin
