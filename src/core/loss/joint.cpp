#include "core/loss/joint.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.hpp"

namespace margin {

namespace {

/// The class of the largest 1[c ≠ y] + s_c, y before others.
std::int32_t strongest(const double* s, std::int32_t k, std::int32_t y) {
  std::int32_t best = y;
  double top = s[y];
  for (std::int32_t c = 0; c < k; ++c)
    if (c != y && 1 + s[c] > top) {
      best = c;
      top = 1 + s[c];
    }
  return best;
}

}  // namespace

double JointLoss::value(const double* s, std::int32_t k, std::int32_t y) const {
  if (form_ == Form::crammer_singer) {
    const std::int32_t best = strongest(s, k, y);
    return best == y ? 0.0 : (1 + s[best]) - s[y];
  }
  const auto best = static_cast<std::int32_t>(std::max_element(s, s + k) - s);
  double rest = 0;
  for (std::int32_t c = 0; c < k; ++c)
    if (c != best) rest += std::exp(s[c] - s[best]);
  return (s[best] - s[y]) + std::log1p(rest);
}

void JointLoss::maximiser(const double* s, std::int32_t k, std::int32_t y, double* p) const {
  if (form_ == Form::crammer_singer) {
    const std::int32_t best = strongest(s, k, y);
    std::fill_n(p, k, 0.0);
    p[best] = 1;
    return;
  }
  const double top = *std::max_element(s, s + k);
  double sum = 0;
  for (std::int32_t c = 0; c < k; ++c) sum += p[c] = std::exp(s[c] - top);
  for (std::int32_t c = 0; c < k; ++c) p[c] /= sum;
}

double JointLoss::settled(const double* s, std::int32_t k, std::int32_t y, double* p) const {
  if (form_ == Form::multinomial) {
    double first = -std::numeric_limits<double>::infinity(), second = first;
    for (std::int32_t c = 0; c < k; ++c) {
      second = std::max(second, std::min(first, s[c]));
      first = std::max(first, s[c]);
    }
    maximiser(s, k, y, p);
    return first - second;
  }
  const auto at = [&](std::int32_t c) { return c == y ? s[c] : 1 + s[c]; };
  const double top = at(strongest(s, k, y)), from = top - kink_width * (1 + std::fabs(top));
  std::int32_t chosen = at(y) >= from ? y : -1;
  double distance = std::numeric_limits<double>::infinity();
  for (std::int32_t c = 0; c < k; ++c) {
    if (chosen < 0 && at(c) >= from) chosen = c;
    distance = std::min(distance, std::fabs(at(c) - from));
  }
  std::fill_n(p, k, 0.0);
  p[chosen] = 1;
  return distance;
}

double JointLoss::bend(const double* from, const double* to, std::int32_t k, std::int32_t y, double* p) const {
  settled(from, k, y, p);
  double tangent = dual_value(p, k, y) - to[y];
  for (std::int32_t c = 0; c < k; ++c) tangent += p[c] * to[c];
  return std::max(0.0, value(to, k, y) - tangent);
}

double JointLoss::dual_value(const double* p, std::int32_t k, std::int32_t y) const {
  double others = 0, entropy = 0;
  for (std::int32_t c = 0; c < k; ++c) {
    if (c == y || !(p[c] > 0)) continue;
    others += p[c];
    entropy -= p[c] * std::log(p[c]);
  }
  if (form_ == Form::crammer_singer) return std::min(others, 1.0);
  return entropy + (others < 1 ? -(1 - others) * std::log1p(-others) : 0.0);
}

bool has_joint_form(std::string_view name) { return name == "logistic" || name == "hinge"; }

std::shared_ptr<const Loss> make_joint_loss(std::string_view name, const Options& options) {
  std::shared_ptr<const Loss> pairwise = make_loss(name, options);
  if (!has_joint_form(name))
    throw Error(
        ErrorKind::unsupported,
        "option \"multiclass\" => 'joint' needs the loss \"logistic\" or \"hinge\", not \"" + std::string(name) + "\"",
        "The others have no form for all classes at once here: leave the option out, which trains one class against "
        "the rest.");
  return joint_form(std::move(pairwise));
}

std::shared_ptr<const Loss> joint_form(std::shared_ptr<const Loss> pairwise) {
  const auto form = pairwise->name() == "hinge" ? JointLoss::Form::crammer_singer : JointLoss::Form::multinomial;
  return std::make_shared<const JointLoss>(form, std::move(pairwise));
}

void softmax_log_odds(const double* s, std::int32_t k, double* out) {
  const auto best = static_cast<std::int32_t>(std::max_element(s, s + k) - s);
  const double top = s[best];
  double second = -std::numeric_limits<double>::infinity(), sum = 0;
  for (std::int32_t c = 0; c < k; ++c)
    if (c != best) second = std::max(second, s[c]);
  double others = 0;  // of all but the best, in units of the second
  for (std::int32_t c = 0; c < k; ++c) {
    sum += std::exp(s[c] - top);
    if (c != best) others += std::exp(s[c] - second);
  }
  for (std::int32_t c = 0; c < k; ++c) {
    // Σ over the others, the best among them: nothing cancels.
    const double odds = c == best ? (top - second) - std::log(others)
                                  : (s[c] - top) - std::log(std::max(1.0, sum - std::exp(s[c] - top)));
    out[c] = odds;
  }
}

}  // namespace margin
