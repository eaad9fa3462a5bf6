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

RiskObjective objective_of(const Problem& p) {
  return {p.loss.get(), p.lambda,    p.l1_ratio,    p.intercept ? p.intercept_scale : 0.0,
          p.task,       p.outputs(), p.dimensions()};
}

RiskCheck::RiskCheck(const RiskObjective& objective, const double* weights, const double* intercept, bool with_dual)
    : objective_(objective), weights_(weights), intercept_(intercept), with_dual_(with_dual) {
  const auto k = static_cast<std::size_t>(objective.outputs), d = static_cast<std::size_t>(objective.dimensions);
  outputs_.resize(k);
  scores_.resize(k);
  for (std::size_t o = 0; o < k; ++o) norms_.push_back(lp_norm(weights + o * d, objective.dimensions, 2));
  if (!with_dual) return;
  total_ = Weights::Zero(objective.outputs, objective.dimensions);
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
  for (std::int32_t o = 0; o < objective_.outputs; ++o) {
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
    sum.mass += c * std::fabs(projected) * (norm + objective_.intercept_scale);
    sum.unseen += norm + objective_.intercept_scale + x.count + c + 4;
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

void RiskCheck::merge(const RiskCheck& other) {
  merge(other.state());
  if (!with_dual_ || !other.with_dual_) return;
  flush();
  support_ += other.support_;
  total_ += other.total_;
  total_ += other.block_;
  blocks_ += other.blocks_ + 2;
  longest_block_ = std::max({longest_block_, other.longest_block_, other.block_rows_});
  for (std::size_t o = 0; o < outputs_.size(); ++o) {
    outputs_[o].conjugate.add(other.outputs_[o].conjugate);
    outputs_[o].conjugate_size += other.outputs_[o].conjugate_size;
    outputs_[o].mass += other.outputs_[o].mass;
    outputs_[o].unseen += other.outputs_[o].unseen;
    outputs_[o].intercept.add(other.outputs_[o].intercept);
  }
}

std::vector<double> RiskCheck::state() const {
  std::vector<double> s = {static_cast<double>(rows_), static_cast<double>(errors_), radius_, total_weight_.value()};
  for (const Output& o : outputs_) {
    s.push_back(o.loss.value());
    s.push_back(o.loss_error + tiny * o.vanished);
  }
  return s;
}

void RiskCheck::merge(const std::vector<double>& s) {
  rows_ += static_cast<std::int64_t>(s[0]);
  errors_ += static_cast<std::int64_t>(s[1]);
  radius_ = std::max(radius_, s[2]);
  total_weight_.add(s[3]);
  for (std::size_t o = 0; o < outputs_.size(); ++o) {
    outputs_[o].loss.add(s[4 + 2 * o]);
    outputs_[o].loss_error += s[5 + 2 * o];
  }
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
      intercept_ != nullptr && objective_.intercept_scale > 0 ? intercept_[o] / objective_.intercept_scale : 0.0;
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
  v(objective_.dimensions) = objective_.intercept_scale * sum.intercept.value() / weight;
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
  for (std::int32_t o = 0; o < objective_.outputs; ++o) sum += primal(o);
  return sum * (1 + epsilon * objective_.outputs);
}

double RiskCheck::dual() const {
  double sum = 0;
  for (std::int32_t o = 0; o < objective_.outputs; ++o) sum += dual(o);
  return sum * (1 - epsilon * objective_.outputs);
}

CertainPredictions::CertainPredictions(const RiskObjective& objective, const double* weights, const double* intercept,
                                       std::vector<double> reach)
    : objective_(objective), weights_(weights), intercept_(intercept), reach_(std::move(reach)) {
  const auto d = static_cast<std::size_t>(objective.dimensions);
  for (std::size_t o = 0; o < reach_.size(); ++o)
    largest_ = std::max(largest_, lp_norm(weights + o * d, objective.dimensions, 2));
  scores_.resize(reach_.size());
}

CertainPredictions::CertainPredictions(const RiskObjective& objective, const double* weights, const double* intercept,
                                       double distance)
    // Two outputs that are off by r and s with r² + s² ≤ distance² are off by r + s ≤ √2·distance together.
    : CertainPredictions(objective, weights, intercept,
                         std::vector<double>(static_cast<std::size_t>(objective.outputs),
                                             objective.outputs == 1 ? distance : 0.7071067811865476 * distance)) {}

void CertainPredictions::widen(std::int32_t dimensions, const double* weights) {
  objective_.dimensions = dimensions;
  weights_ = weights;
}

bool CertainPredictions::operator()(const Row& x) {
  const double norm = margin::norm(x);
  const double length = std::hypot(norm, objective_.intercept_scale) * (1 + epsilon * (x.count + 8.0));
  std::size_t best = 0;
  double top = 0;
  for (std::size_t o = 0; o < scores_.size(); ++o) {
    const double b = intercept_ != nullptr ? intercept_[o] : 0.0;
    scores_[o] = dot(x, weights_ + o * static_cast<std::size_t>(objective_.dimensions)) + b;
    top = std::max(top, std::fabs(scores_[o]));
    if (scores_[o] > scores_[best]) best = o;
  }
  const double rounding = epsilon * ((x.count + 4.0) * (norm * largest_) + 2 * top) + (x.count + 4.0) * tiny;
  if (scores_.size() == 1) return std::fabs(scores_[0]) > length * reach_[0] + rounding;
  bool certain = true;
  for (std::size_t o = 0; o < scores_.size(); ++o)
    if (o != best) certain &= scores_[best] - scores_[o] > length * (reach_[best] + reach_[o]) + 2 * rounding;
  return certain;
}

double distance_bound(double gap, double lambda, double l1_ratio) {
  return std::sqrt(gap / lambda * 2 / (1 - l1_ratio) + (gap > 0 ? 2 * tiny / (1 - l1_ratio) : 0.0)) * (1 + 8 * epsilon);
}

Certificate certify_risk(const Problem& p, const Weights& weights, const Eigen::VectorXd& intercept,
                         const Weights& dual, RiskBounds* bounds, const Progress& progress) {
  const RiskObjective objective = objective_of(p);
  const bool with_dual = dual.rows() == p.rows() && dual.cols() == p.outputs();
  RiskCheck check(objective, weights.data(), p.intercept ? intercept.data() : nullptr, with_dual);
  for (std::int64_t i = 0; i < p.rows(); ++i) {
    const double outcome = p.task == Task::regression ? p.target(i, 0) : p.label[static_cast<std::size_t>(i)];
    const Row x = p.data.row(i);
    check.add(x, outcome, p.data.weight(i), p.weight(i), with_dual ? dual.row(i).data() : nullptr);
    progress.work((1.0 + 2.0 * p.outputs()) * (x.count + 32.0) + 64.0);
  }
  Certificate c;
  c.upper = check.primal();
  c.lower = std::min(check.dual(), c.upper);
  c.gap = c.upper - c.lower;
  const double size = std::max(std::fabs(c.upper), std::fabs(c.lower));
  c.relative_gap = c.gap > 0 ? c.gap / size : 0.0;
  if (!(c.upper < infinity)) c.gap = c.relative_gap = infinity;
  c.support = check.support();
  c.radius = check.radius();
  c.failure = check.failure();
  if (bounds == nullptr) return c;

  bounds->distance = distance_bound(c.gap, p.lambda, p.l1_ratio);
  bounds->certain_rows = 0;
  if (p.task == Task::regression) return c;
  std::vector<double> reach;
  for (std::int32_t o = 0; o < p.outputs(); ++o)
    reach.push_back(distance_bound(std::max(0.0, check.primal(o) - check.dual(o)), p.lambda, p.l1_ratio));
  CertainPredictions certain(objective, weights.data(), p.intercept ? intercept.data() : nullptr, reach);
  for (std::int64_t i = 0; i < p.rows(); ++i) {
    const Row x = p.data.row(i);
    progress.work((1.0 + p.outputs()) * (x.count + 8.0) + 64.0);
    bounds->certain_rows += certain(x);
  }
  return c;
}

}  // namespace margin
