#include "core/certificate/joint.hpp"

#include <algorithm>
#include <cmath>

#include "core/certificate/balanced_flows.hpp"
#include "core/certificate/ball.hpp"
#include "core/certificate/column_sizes.hpp"
#include "core/math/norm.hpp"
#include "core/math/rounding.hpp"

namespace margin {

JointCheck::JointCheck(const Objective& objective, const double* weights, const double* intercept, bool with_dual)
    : objective_(objective),
      loss_(*joint_of(objective.loss.get())),
      weights_(weights),
      intercept_(intercept),
      with_dual_(with_dual || loss_.form() == JointLoss::Form::multinomial),
      classes_(static_cast<std::size_t>(objective.classes)),
      numbers_(head + own),
      scores_(classes_),
      p_(classes_),
      coefficients_(classes_),
      balance_(classes_),
      longest_short_(short_row * std::sqrt(objective.lambda)) {
  norm_ = lp_norm(weights, static_cast<std::int64_t>(classes_) * objective.dimensions, 2);
  if (!with_dual_) return;
  total_ = Weights::Zero(objective.classes, objective.dimensions);
  block_ = total_;
  if (!objective.free_intercept) return;
  flow_.resize(classes_ * classes_);
  entropy_.assign(classes_ * classes_, 0.0);
  reach_ = entropy_;
}

void JointCheck::widen(std::int32_t dimensions, const double* weights) {
  objective_.dimensions = dimensions;
  weights_ = weights;
  widened_ = true;
  if (!with_dual_) return;
  margin::widen(total_, dimensions);
  margin::widen(block_, dimensions);
  if (!squares_.empty()) squares_.resize(static_cast<std::size_t>(dimensions));
}

std::string JointCheck::reductions() const { return "++>++0+++0000"; }

bool JointCheck::tells_sums() const {
  return with_dual_ && !widened_ && !lost_ && pairs() + static_cast<std::size_t>(total_.size()) <= largest_state;
}

std::vector<double> JointCheck::state() const {
  const bool sums = tells_sums();
  std::vector<double> s = {static_cast<double>(rows_),
                           static_cast<double>(errors_),
                           radius_,
                           total_weight_.value(),
                           error_weight_.value(),
                           sums ? static_cast<double>(support_) : 0.0,
                           value_.value(),
                           value_error_,
                           vanished_,
                           0,
                           0,
                           0,
                           0};
  if (!sums) return s;
  flush();
  s[9] = dual_value_.value();
  s[10] = dual_size_;
  s[11] = mass_;
  s[12] = unseen_;
  s.insert(s.end(), {moved_.value(), static_cast<double>(longest_block_), static_cast<double>(blocks_)});
  for (const ExactSum& b : balance_) s.push_back(b.value());
  for (const ExactSum& f : flow_) s.push_back(f.value());
  s.insert(s.end(), entropy_.begin(), entropy_.end());
  s.insert(s.end(), reach_.begin(), reach_.end());
  s.insert(s.end(), total_.data(), total_.data() + total_.size());
  if (squares_.empty()) return s;
  s.push_back(long_squares_);
  s.insert(s.end(), squares_.begin(), squares_.end());
  return s;
}

bool JointCheck::merge(const std::vector<double>& s) {
  const std::size_t short_size = head + own;
  const bool sums = s.size() != short_size;
  const std::size_t without_long = short_size + 3 + classes_ + pairs() + static_cast<std::size_t>(total_.size()),
                    with_long = without_long + 1 + static_cast<std::size_t>(objective_.dimensions);
  if (sums && (!with_dual_ || widened_ || (s.size() != without_long && s.size() != with_long))) return false;
  if (!(s[0] >= 0 && s[0] <= 0x1p53 && s[1] >= 0 && s[1] <= s[0] && s[5] >= 0 && s[5] <= s[0])) return false;
  if (sums && !(s[10] >= 0 && s[11] >= 0 && s[12] >= 0 && s[13] >= 0 && s[14] >= 0 && s[14] <= 0x1p53 && s[15] >= 0 &&
                s[15] <= 0x1p53))
    return false;
  take(s.data());
  if (!sums) {
    lost_ = lost_ || s[0] > 0;
    return true;
  }
  const double* at = s.data() + short_size;
  moved_.add(*at++);
  longest_block_ = std::max(longest_block_, static_cast<std::int64_t>(*at++));
  blocks_ += static_cast<std::int64_t>(*at++) + 1;
  for (ExactSum& b : balance_) b.add(*at++);
  for (ExactSum& f : flow_) f.add(*at++);
  for (double& e : entropy_) e += *at++;
  for (double& m : reach_) m += *at++;
  for (Eigen::Index i = 0; i < total_.size(); ++i) total_.data()[i] += *at++;
  if (s.size() != with_long) return true;
  squares_.resize(static_cast<std::size_t>(objective_.dimensions));
  long_squares_ += *at++;
  for (double& q : squares_) q += *at++;
  return true;
}

/// P of the header.
double JointCheck::primal() const {
  double size = norm_;
  if (intercept_ != nullptr && objective_.constant_feature() > 0)
    for (std::size_t o = 0; o < classes_; ++o) size = std::hypot(size, intercept_[o] / objective_.constant_feature());
  const double weight = total_weight_.value();
  if (!(weight < infinity)) return infinity;
  const double penalty = 0.5 * ((objective_.lambda * size) * size);
  const double loss = value_.value() + (value_error_ + tiny * vanished_);
  const double mean = weight > 0 ? loss / weight + (loss > 0 ? tiny : 0.0) : 0.0;
  const double factors = static_cast<double>(classes_) * (objective_.dimensions + 4.0);
  const double upper =
      mean * (1 + 8 * epsilon) + penalty * (1 + epsilon * (2 * factors + 40.0)) + (size > 0 ? tiny * (size + 8) : 0.0);
  return std::isnan(upper) ? infinity : upper;
}

/// What balancing a free intercept's flows takes, as the header bounds it: Σ θ (E + F) of Σ c g (E is 0 for the hinge), and
/// √2 Σ θ M of ‖Σ c a x‖, and √2 Σ θ √F for long rows.
struct JointCheck::Balanced {
  double value = 0, reach = 0, flow = 0;
};

JointCheck::Balanced JointCheck::balanced(const Progress& progress) const {
  if (!objective_.free_intercept) return {};
  std::vector<double> flow, excess;
  for (const ExactSum& f : flow_) flow.push_back(std::max(0.0, f.value()));
  for (const ExactSum& b : balance_) excess.push_back(b.value());
  // A coefficient c Σ p errs by k ulps, a sum of n of them by as many ulps of itself as it was merged from.
  const double error = 4 * (static_cast<double>(classes_) + 8) * epsilon * moved_.value() + tiny * unseen_;
  const auto shares = balancing_shares(flow, excess, error, progress);
  if (!shares.has_value()) return {infinity, infinity, infinity};
  Balanced out;
  for (std::size_t e = 0; e < flow.size(); ++e) {
    out.value += (*shares)[e] * (flow[e] + entropy_[e]);
    out.reach += (*shares)[e] * reach_[e];
    out.flow += (*shares)[e] * std::sqrt(flow[e]);
  }
  const double rounding = 1 + epsilon * (static_cast<double>(rows_) + static_cast<double>(flow.size()) + 16);
  out.value *= rounding;
  out.reach *= 1.4142135623730952 * rounding;
  out.flow *= 1.4142135623730952 * rounding;
  return out;
}

/// Every sum of a block errs by as many ulps as it has terms; a class's own coefficient by k more.
double JointCheck::depth() const {
  return static_cast<double>(longest_block_ + blocks_) + static_cast<double>(classes_) + 16.0;
}

double JointCheck::long_share(double flow) const {
  return (epsilon * depth() * root_of_squares(long_squares_, static_cast<double>(rows_)) + flow) /
         total_weight_.value() * (1 + 16 * epsilon);
}

double JointCheck::moved(double reach) const {
  const double weight = total_weight_.value(), k = static_cast<double>(classes_);
  return epsilon * depth() * mass_ / weight + tiny * unseen_ / weight + (objective_.dimensions + 1.0) * k * tiny +
         reach / weight;
}

/// √(Σ c x_j²) of long rows.
double JointCheck::long_root(Eigen::Index j) const {
  return squares_.empty() ? 0.0 : root_of_squares(squares_[static_cast<std::size_t>(j)], static_cast<double>(rows_));
}

/// D of the header: Σ c g less what balancing takes, and ‖V‖ with what it moves.
double JointCheck::dual(const Progress& progress) const {
  const double weight = total_weight_.value();
  if (!with_dual_ || lost_ || support_ == 0 || !(weight > 0) || !(weight < infinity)) return 0;
  flush();
  if (!total_.allFinite()) return 0;
  const Balanced lost = balanced(progress);
  if (!(lost.value < infinity && lost.reach < infinity)) return 0;
  const double k = static_cast<double>(classes_), columns = objective_.dimensions;
  Eigen::VectorXd parts;
  if (squares_.empty()) {
    parts.resize(objective_.classes + 1);
    for (Eigen::Index o = 0; o < objective_.classes; ++o)
      parts(o) = lp_norm(total_.row(o).data(), objective_.dimensions, 2) / weight;
  } else {
    parts.resize(objective_.dimensions + 1);
    const double share = long_share(lost.flow);
    for (Eigen::Index j = 0; j < objective_.dimensions; ++j)
      parts(j) = total_.col(j).stableNorm() / weight + share * long_root(j);
  }
  double constant = 0;
  for (const ExactSum& b : balance_)
    constant = std::hypot(constant, objective_.constant_feature() * b.value() / weight);
  parts(parts.size() - 1) = constant;
  const double norm =
      lp_norm(parts.data(), parts.size(), 2) * (1 + epsilon * (columns + 4 * k + 16.0)) + moved(lost.reach);
  const double penalty = norm * (norm / (2 * objective_.lambda) + tiny) * (1 + 8 * epsilon) + tiny;
  const double mean = (dual_value_.value() - (k + 16) * epsilon * dual_size_ - lost.value - tiny * unseen_) / weight;
  const double value = mean - 4 * epsilon * std::fabs(mean) - penalty - tiny;
  return value > 0 && value < infinity ? value : 0.0;
}

std::shared_ptr<const DualPoint> JointCheck::dual_point(const Progress& progress) const {
  const Certificate c = certificate(progress);
  const auto k = static_cast<Eigen::Index>(classes_);
  const double constant = objective_.constant_feature(), scale = objective_.lambda * total_weight_.value();
  DualPoint point;
  point.total_weight = StoredSum(total_weight_, static_cast<double>(rows_), total_weight_.value());
  point.error = {0};
  point.offset = -Eigen::Map<const Weights>(weights_, k, objective_.dimensions);
  point.intercept = Eigen::VectorXd::Zero(k);
  if (constant > 0 && intercept_ != nullptr) point.intercept = -Eigen::Map<const Eigen::VectorXd>(intercept_, k);
  // A lower end of 0 is proven by the dual weights 0, whose point is 0.
  if (c.lower > 0) {
    double size = norm_ + (constant > 0 ? point.intercept.norm() / constant : 0.0);
    const Weights v = total_ / scale;
    point.offset += v;
    size += v.norm();
    for (Eigen::Index o = 0; o < k && constant > 0; ++o) {
      const double b = constant * balance_[static_cast<std::size_t>(o)].value() / scale;
      point.intercept(o) += constant * b;
      size += std::fabs(b);
    }
    const Balanced lost = balanced(progress);
    double of_long = 0;
    for (Eigen::Index j = 0; j < objective_.dimensions; ++j) of_long = std::hypot(of_long, long_root(j));
    const double off = moved(lost.reach) + long_share(lost.flow) * of_long * (1 + 2 * epsilon * objective_.dimensions);
    point.error[0] =
        off / objective_.lambda * (1 + 8 * epsilon) + 8 * epsilon * size + tiny * static_cast<double>(v.size() + 1);
  }
  return stored_dual_point(objective_, std::move(point), {c.gap});
}

Certificate JointCheck::certificate(const Progress& progress) const {
  Certificate c;
  c.upper = primal();
  c.lower = std::min(dual(progress), c.upper);
  set_minimum_gap(c);
  c.support = support_;
  c.radius = radius_;
  c.failure = error_weight_.value();
  return c;
}

}  // namespace margin
