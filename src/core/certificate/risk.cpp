#include "core/certificate/risk.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/progress.hpp"
#include "core/math/norm.hpp"
#include "core/math/rounding.hpp"

namespace margin {

namespace {

double or_infinity(double v) { return std::isnan(v) ? infinity : v; }

}  // namespace

RiskCheck::RiskCheck(const Objective& objective, const double* weights, const double* intercept, bool with_dual)
    : objective_(objective), weights_(weights), intercept_(intercept), with_dual_(with_dual) {
  const auto k = static_cast<std::size_t>(objective.outputs()), d = static_cast<std::size_t>(objective.dimensions);
  outputs_.resize(k);
  scores_.resize(k);
  for (std::size_t o = 0; o < k; ++o) norms_.push_back(lp_norm(weights + o * d, objective.dimensions, 2));
  if (!with_dual) return;
  total_ = Weights::Zero(objective.outputs(), objective.dimensions);
  block_ = total_;
}

void RiskCheck::add(const Row& x, double outcome, double row_weight, double c, const double* a) {
  ++rows_;
  total_weight_.add(row_weight);
  const double norm = margin::norm(x);
  radius_ = std::max(radius_, norm);
  const Loss& loss = *objective_.loss;
  const double slope = loss.lipschitz();
  std::int32_t best = 0;
  bool supports = false;
  for (std::int32_t o = 0; o < objective_.outputs(); ++o) {
    const auto at = static_cast<std::size_t>(o);
    const double b = intercept_ != nullptr ? intercept_[o] : 0.0;
    const double u = dot(x, weights_ + static_cast<std::ptrdiff_t>(o) * objective_.dimensions) + b;
    scores_[at] = u;
    if (u > scores_[static_cast<std::size_t>(best)]) best = o;
    if (!(c > 0)) continue;

    const double y = objective_.task == Task::regression ? outcome
                     : objective_.task == Task::binary   ? (outcome == 1 ? 1.0 : -1.0)
                                                         : (outcome == o ? 1.0 : -1.0);
    Output& sum = outputs_[at];
    const double value = loss.value(u, y);
    // The score errs by at most (terms + 2) ulps of ‖x‖‖w‖ + |b|, u − y by an ulp of its own (which is all that is left
    // of it where |u − y| is nearly ε); a loss carries that on with its slope.
    double error = epsilon * ((x.count + 4.0) * (norm * norms_[at]) + 2 * std::fabs(b));
    if (objective_.task == Task::regression) error += epsilon * (std::fabs(u) + std::fabs(y));
    const double steepest =
        slope < infinity ? slope : std::fabs(loss.derivative(u, y)) * (1 + 4 * epsilon) + error / loss.smoothness();
    sum.loss.add(c * value);
    sum.loss_error += c * (error * steepest + 8 * epsilon * (value + epsilon * std::fabs(y)));
    if (value > 0 || norms_[at] > 0 || b != 0) sum.vanished += c * (x.count + 8.0) * (steepest + 1) + 4;
    if (!with_dual_ || a == nullptr) continue;

    const double projected = loss.project(std::isnan(a[o]) ? 0.0 : a[o], y);
    if (projected == 0) continue;
    supports = true;
    const double conjugate = loss.conjugate(projected, y);
    sum.conjugate.add(-c * conjugate);
    sum.conjugate_size += c * (std::fabs(conjugate) + std::fabs(projected * y));
    sum.mass += c * std::fabs(projected) * (norm + objective_.constant_feature());
    sum.unseen += norm + objective_.constant_feature() + x.count + c + 4;
    sum.intercept.add(c * projected);
    margin::add(c * projected, x, block_.row(o).data());
    block_work_ += x.count;
  }
  bool wrong = false;
  if (objective_.task == Task::binary)
    wrong = (scores_[0] > 0) != (outcome == 1);  // as decide()
  else if (objective_.task == Task::multiclass)
    wrong = best != outcome;
  if (wrong) ++errors_, error_weight_ += c;
  if (!supports) return;
  ++support_;
  ++block_rows_;
  if (block_rows_ >= 512 && block_work_ >= 8.0 * static_cast<double>(block_.size())) flush();
}

void RiskCheck::widen(std::int32_t dimensions, const double* weights) {
  objective_.dimensions = dimensions;
  weights_ = weights;
  if (!with_dual_) return;
  margin::widen(total_, dimensions);
  margin::widen(block_, dimensions);
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
  std::vector<double> s = {static_cast<double>(rows_), static_cast<double>(errors_), radius_, total_weight_.value()};
  for (const Output& o : outputs_) {
    s.push_back(o.loss.value());
    s.push_back(o.loss_error + tiny * o.vanished);
  }
  return s;
}

bool RiskCheck::merge(const std::vector<double>& s) {
  if (s.size() != 4 + 2 * outputs_.size() || !(s[0] >= 0 && s[0] <= 0x1p53) || !(s[1] >= 0 && s[1] <= s[0]))
    return false;
  rows_ += static_cast<std::int64_t>(s[0]);
  errors_ += static_cast<std::int64_t>(s[1]);
  radius_ = std::max(radius_, s[2]);
  total_weight_.add(s[3]);
  for (std::size_t o = 0; o < outputs_.size(); ++o) {
    outputs_[o].loss.add(s[4 + 2 * o]);
    outputs_[o].loss_error += s[5 + 2 * o];
  }
  return true;
}

double RiskCheck::failure() const {
  return objective_.task == Task::regression ? outputs_[0].loss.value() / total_weight() : error_weight_;
}

double RiskCheck::primal(std::int32_t o) const {
  const auto at = static_cast<std::size_t>(o);
  const double* const w = weights_ + static_cast<std::ptrdiff_t>(o) * objective_.dimensions;
  const double rho = objective_.l1_ratio;
  double absolute = 0;
  for (std::int32_t j = 0; rho > 0 && j < objective_.dimensions; ++j) absolute += std::fabs(w[j]);
  const double b =
      intercept_ != nullptr && objective_.constant_feature() > 0 ? intercept_[o] / objective_.constant_feature() : 0.0;
  // λ‖w‖² in an order in which nothing overflows that is not large itself; what vanishes is less than `tiny` a factor.
  const double size = std::hypot(norms_[at], b);
  const double penalty = (1 - rho) / 2 * ((objective_.lambda * size) * size) + rho * (objective_.lambda * absolute);
  const bool moves = size > 0 || (intercept_ != nullptr && intercept_[o] != 0);
  const double lost = moves ? tiny * (size + 8) : 0.0;
  const double weight = total_weight();
  const double loss = outputs_[at].loss.value() + (outputs_[at].loss_error + tiny * outputs_[at].vanished);
  const double mean = weight > 0 ? loss / weight + (loss > 0 ? tiny : 0.0) : 0.0;
  if (!(weight < infinity)) return infinity;
  return or_infinity(mean * (1 + 8 * epsilon) + penalty * (1 + epsilon * (2.0 * objective_.dimensions + 40.0)) + lost);
}

double RiskCheck::dual(std::int32_t o) const {
  const double weight = total_weight();
  if (!with_dual_ || support_ == 0 || !(weight > 0) || !(weight < infinity)) return 0;
  const Output& sum = outputs_[static_cast<std::size_t>(o)];
  const double kappa = objective_.lambda * objective_.l1_ratio;
  Eigen::VectorXd v(objective_.dimensions + 1);
  for (std::int32_t j = 0; j < objective_.dimensions; ++j)
    v(j) = std::max(0.0, std::fabs(total_(o, j) + block_(o, j)) / weight - kappa);
  v(objective_.dimensions) = objective_.constant_feature() * sum.intercept.value() / weight;
  for (std::int32_t j = 0; j < objective_.dimensions; ++j)
    if (!std::isfinite(total_(o, j) + block_(o, j))) return 0;
  if (!std::isfinite(v(objective_.dimensions))) return 0;
  // Each component of v is a sum of blocks: it errs by (longest block + blocks) ulps of Σ c|a||x|/W.
  const double depth = static_cast<double>(std::max(longest_block_, block_rows_) + blocks_) + 8.0;
  const double vanished = tiny * sum.unseen;
  const double moved = epsilon * depth * sum.mass / weight + vanished / weight + objective_.dimensions * tiny + tiny;
  const double norm = lp_norm(v.data(), v.size(), 2) * (1 + epsilon * (objective_.dimensions + 8.0)) + moved;
  // ‖v‖²/λ by two quotients: the square of a small ‖v‖ may vanish where the quotient does not.
  const double quotient =
      norm / (2 * objective_.lambda) / (1 - objective_.l1_ratio) + 2 * tiny / (1 - objective_.l1_ratio);
  const double penalty = norm * quotient * (1 + 8 * epsilon) + tiny;
  const double mean = (sum.conjugate.value() - 8 * epsilon * sum.conjugate_size - vanished) / weight;
  const double value = mean - 4 * epsilon * std::fabs(mean) - penalty - tiny;
  return value > 0 && value < infinity ? value : 0.0;
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
  c.gap = c.upper - c.lower;
  const double size = std::max(std::fabs(c.upper), std::fabs(c.lower));
  c.relative_gap = c.gap > 0 ? c.gap / size : 0.0;
  if (!(c.upper < infinity)) c.gap = c.relative_gap = infinity;
  c.support = support_;
  c.radius = radius_;
  c.failure = failure();
  return c;
}

}  // namespace margin
