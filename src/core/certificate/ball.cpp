#include "core/certificate/ball.hpp"

#include <algorithm>
#include <cmath>

#include "core/math/norm.hpp"
#include "core/math/rounding.hpp"

namespace margin {

namespace {

/// Offsets below this share of the radius are left out of stored models: the ball grows by half of it.
constexpr double negligible_offset = 1.0 / 1024;

double norm_of(const Eigen::VectorXd& v) { return lp_norm(v.data(), v.size(), 2); }

}  // namespace

double convexity(const Objective& o) {
  double least = std::min(1.0, o.least_factor);
  for (const double f : o.penalty_factor) least = std::min(least, f);
  return o.lambda * (1 - o.l1_ratio) * least * (1 - 4 * epsilon);
}

double ball_radius(double gap, double convexity, double apart) {
  if (!(convexity > 0)) return infinity;
  const double square = gap / convexity + (gap > 0 ? 2 * tiny / convexity + 2 * tiny : 0.0);
  // The share that rounding may take from a difference is one of what it is taken from.
  const double left = square - (apart / 2) * (apart / 2) + 8 * epsilon * square;
  return left > 0 ? std::sqrt(left) * (1 + 8 * epsilon) : std::isnan(left) ? infinity : 0.0;
}

double apart(const DualPoint& point, std::size_t output, double constant) {
  const bool shared = point.slack.size() == 1;
  const auto first = shared ? 0 : static_cast<Eigen::Index>(output);
  const Eigen::Index count = shared ? point.intercept.size() : 1;
  Eigen::VectorXd parts = Eigen::VectorXd::Zero(2 * count);
  for (Eigen::Index o = 0; o < count; ++o) {
    if (point.offset.size() > 0) parts(2 * o) = lp_norm(point.offset.row(first + o).data(), point.offset.cols(), 2);
    if (constant > 0) parts(2 * o + 1) = point.intercept(first + o) / constant;
  }
  return norm_of(parts);
}

std::shared_ptr<const DualPoint> stored_dual_point(const Objective& objective, DualPoint point,
                                                   const std::vector<double>& gaps) {
  const double constant = objective.constant_feature(), mu = convexity(objective);
  const double columns = epsilon * (static_cast<double>(point.offset.size()) + 16);
  const double weight = point.total_weight.value();
  bool matters = false, finite = point.offset.allFinite() && point.intercept.allFinite() && weight > 0;
  point.slack = gaps;
  for (std::size_t p = 0; p < gaps.size(); ++p) {
    const double between = apart(point, p, constant);
    matters = matters || !(between <= negligible_offset * ball_radius(gaps[p], mu, 0));
    const double least = std::max(0.0, between * (1 - columns) - point.error[p]);
    point.slack[p] = std::max(0.0, gaps[p] * (1 + 8 * epsilon) - mu * least / 2 * least) + (gaps[p] > 0 ? tiny : 0.0);
    finite = finite && std::isfinite(point.slack[p]) && std::isfinite(point.error[p]);
  }
  if (!finite || !std::isfinite(weight)) return nullptr;
  if (matters) return std::make_shared<const DualPoint>(std::move(point));
  for (Eigen::Index o = 0; o < point.offset.rows(); ++o) {
    const double lost = lp_norm(point.offset.row(o).data(), point.offset.cols(), 2);
    point.error[gaps.size() == 1 ? 0 : static_cast<std::size_t>(o)] += lost * (1 + columns);
  }
  point.offset.resize(0, 0);
  return std::make_shared<const DualPoint>(std::move(point));
}

std::shared_ptr<const DualPoint> stored_dual_point(const Objective& objective, const StoredSum& total_weight,
                                                   const std::vector<OutputPoint>& outputs) {
  const auto k = static_cast<Eigen::Index>(outputs.size());
  DualPoint point;
  point.total_weight = total_weight;
  point.offset.resize(k, objective.dimensions);
  point.intercept.resize(k);
  std::vector<double> gaps;
  for (Eigen::Index o = 0; o < k; ++o) {
    const OutputPoint& own = outputs[static_cast<std::size_t>(o)];
    point.offset.row(o) = own.offset;
    point.intercept(o) = own.intercept;
    point.error.push_back(own.error);
    gaps.push_back(own.gap);
  }
  return stored_dual_point(objective, std::move(point), gaps);
}

Ball::Ball(const Objective& objective, const double* weights, const double* intercept, double gap,
           const DualPoint* point)
    : constant_(objective.constant_feature()) {
  const std::int32_t k = objective.outputs(), d = objective.dimensions;
  const double mu = convexity(objective);
  centre_ = Eigen::Map<const Weights>(weights, k, d);
  scores_.resize(static_cast<std::size_t>(k));
  for (std::int32_t o = 0; o < k; ++o) intercept_.push_back(intercept != nullptr ? intercept[o] : 0.0);
  // Around the weights, whatever proves the gap.
  radius_ = {ball_radius(2 * gap, mu, 0)};
  distance_ = radius_[0];
  if (point != nullptr && gap < infinity) take(*point, mu);
  largest_ = 0;
  for (std::int32_t o = 0; o < k; ++o) largest_ = std::max(largest_, lp_norm(centre_.row(o).data(), d, 2));
}

/// The ball of its dual weights, which need not be those of the gap: where it is the smaller one.
void Ball::take(const DualPoint& point, double mu) {
  const auto k = static_cast<Eigen::Index>(intercept_.size());
  const double columns = epsilon * (static_cast<double>(centre_.size()) + static_cast<double>(k) + 16);
  double far = 0;
  std::vector<double> radius;
  for (std::size_t p = 0; p < point.slack.size(); ++p) {
    // gap/μ − ‖w − v‖²/4 = slack/μ + ‖w − v‖²/4
    const double error = point.error[p], most = apart(point, p, constant_) * (1 + columns) + error;
    radius.push_back(std::hypot(ball_radius(point.slack[p], mu, 0), most / 2) * (1 + 4 * epsilon) + error / 2);
    far =
        std::hypot(far, std::min(most / 2 + radius.back(), ball_radius(2 * point.slack[p] + mu * most * most, mu, 0)));
  }
  distance_ = std::min(distance_, far * (1 + columns));
  if (!(*std::max_element(radius.begin(), radius.end()) < radius_[0])) return;
  radius_ = std::move(radius);
  if (point.offset.size() > 0) centre_.leftCols(point.offset.cols()) += 0.5 * point.offset;
  for (Eigen::Index o = 0; o < k; ++o) intercept_[static_cast<std::size_t>(o)] += 0.5 * point.intercept(o);
}

/// Scores of the centre; what they may be off by rounding.
double Ball::place(const Row& x) {
  const double norm = margin::norm(x);
  length_ = std::hypot(norm, constant_) * (1 + epsilon * (x.count + 8.0));
  double top = 0;
  for (std::size_t o = 0; o < scores_.size(); ++o) {
    scores_[o] = dot(x, centre_.row(static_cast<Eigen::Index>(o)).data()) + intercept_[o];
    top = std::max({top, std::fabs(scores_[o]), std::fabs(intercept_[o])});
  }
  return epsilon * ((x.count + 8.0) * (norm * largest_) + 8 * top) + (x.count + 8.0) * tiny;
}

void Ball::scores(const Row& x, double* lower, double* upper) {
  const double rounding = place(x);
  for (std::size_t o = 0; o < scores_.size(); ++o) {
    const double reach = length_ > 0 ? length_ * radius(o) : 0.0;
    lower[o] = scores_[o] - (reach * (1 + 4 * epsilon) + 2 * rounding);
    upper[o] = scores_[o] + (reach * (1 + 4 * epsilon) + 2 * rounding);
    // Of a row whose length or score overflows nothing is known.
    if (!std::isfinite(lower[o]) || !std::isfinite(upper[o])) {
      lower[o] = -infinity;
      upper[o] = infinity;
    }
  }
}

bool Ball::certain(const Row& x) {
  const double rounding = place(x);
  if (scores_.size() == 1) return std::fabs(scores_[0]) > length_ * radius(0) + rounding;
  const auto best = static_cast<std::size_t>(std::max_element(scores_.begin(), scores_.end()) - scores_.begin());
  // Of one ball for all outputs: two that are off by r and s with r² + s² ≤ R² are off by r + s ≤ √2·R together.
  const double share = radius_.size() == 1 ? 0.7071067811865476 : 1;
  bool certain = true;
  for (std::size_t o = 0; o < scores_.size(); ++o)
    if (o != best) certain &= scores_[best] - scores_[o] > share * length_ * (radius(best) + radius(o)) + 2 * rounding;
  return certain;
}

}  // namespace margin
