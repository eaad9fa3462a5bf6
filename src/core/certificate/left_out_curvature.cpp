// The bound of left_out.hpp that follows from the curvature of a loss with a derivative.
#include <algorithm>
#include <cmath>

#include "core/certificate/left_out.hpp"
#include "core/loss/loss.hpp"
#include "core/math/rounding.hpp"

namespace margin {

namespace {

/// ≥ φ'' within τ of u.
double largest_curvature(const Loss& loss, double u, double y, double tau) {
  if (loss.name() == "logistic") return loss.second_derivative(std::max(0.0, std::fabs(u) - tau), y) * (1 + 1e-7);
  return 1 / loss.smoothness();
}

/// Moves of a score up to τ; rows of which the norm by the inverse is above a share of W, and which alone would make every
/// reach a long one, have no part in A: they may move as they like.
struct Level {
  double tau, share;
};
constexpr Level levels[] = {{0.05, 0.02}, {0.5, 0.1}, {1.5, 0.2}, {3, 0.3}, {0.05, infinity}, {0.5, infinity}};

}  // namespace

InverseCurvature LeftOut::inverse(const std::function<double(std::int64_t, double, double)>& of) const {
  const auto curvature = [&](std::int64_t i, const Row& x) { return of(i, product(x, w_), p_.target(i, output_)); };
  return {p_, p_.lambda, constant_, ball_, curvature, progress_};
}

/// The next of a few A, each for farther moves; false when there are no more.
bool LeftOut::make_curvature() {
  const Loss& loss = *p_.loss;
  const auto rows = static_cast<std::size_t>(p_.rows());
  const auto norms = [&](const Curvature& c) {
    std::vector<double> all(rows);
    for (std::size_t i = 0; i < rows; ++i)
      all[i] = c.inverse.form(p_.data.row(static_cast<std::int64_t>(i)), progress_) * c.inverse.safe();
    return all;
  };
  const auto make = [&](Curvature& c) {
    c.inverse = inverse([&](std::int64_t i, double u, double y) {
      return c.moves(i) ? 0.0 : least_curvature(loss, u - c.tau, u + c.tau, y);
    });
    return c.inverse.usable();
  };
  if (next_level_ == 0) {
    Curvature all;
    all.tau = levels[0].tau;
    if (!knows_curvature(loss) || !InverseCurvature::affordable(p_, constant_) || !make(all))
      next_level_ = std::size(levels);
    if (next_level_ == 0) norms_ = norms(all);
  }
  while (next_level_ < std::size(levels)) {
    const Level& level = levels[next_level_++];
    Curvature c;
    c.tau = level.tau;
    for (std::size_t i = 0; i < rows; ++i)
      if (norms_[i] * p_.weight(static_cast<std::int64_t>(i)) > level.share * p_.total_weight)
        c.moving.push_back(static_cast<std::int64_t>(i));
    if (!make(c)) continue;
    const std::vector<double> own = norms(c);
    for (std::size_t i = 0; i < rows; ++i)
      if (!c.moves(static_cast<std::int64_t>(i))) c.largest = std::max(c.largest, own[i]);
    // What the gradient's own sums err by.
    const double rounding =
        epsilon * (static_cast<double>(p_.rows()) + 16) * (p_.lambda * size_ + p_.data.radius() + constant_);
    const double safe = c.inverse.safe();
    c.error = std::sqrt(c.inverse.form(gradient_) * safe) + rounding * std::sqrt(c.inverse.trace() * safe);
    curvatures_.push_back(std::move(c));
    return true;
  }
  return false;
}

void LeftOut::bend(const At& r, double wanted, ScoreInterval& found) {
  const Loss& loss = *p_.loss;
  for (std::size_t level = 0; level < curvatures_.size() || make_curvature(); ++level) {
    Curvature& c = curvatures_[level];
    const double q = c.inverse.form(r.x, progress_) * c.inverse.safe();
    const double kappa = r.c * least_curvature(loss, r.u - c.tau, r.u + c.tau, r.y) / p_.total_weight * (1 + 1e-6),
                 rest = 1 - kappa * q;
    if (!(rest > 0.01)) continue;
    const double own = q / rest * (1 + 1e-9), g = -r.c * loss.derivative(r.u, r.y) / p_.total_weight;
    const double error = c.error / std::sqrt(rest), whole = error + std::fabs(g) * std::sqrt(own);
    if (!(whole * std::sqrt(c.largest / rest) <= c.tau * (1 - 1e-6))) continue;
    const double off = (error * std::sqrt(own) + 4 * r.rounding) * (1 + 1e-9), far = g * own * (1 + 1e-9);
    double near = 0;  // x·d lies between −far and −near
    for (int upper = 0; upper < 2; ++upper) {
      if (upper == 1) {
        if (!found.open(wanted)) return;
        if (c.upper.empty())
          c.upper = inverse([&](std::int64_t i, double u, double y) {
            return c.moves(i) ? 1 / loss.smoothness() : largest_curvature(loss, u, y, c.tau);
          });
        if (c.upper.empty()) break;
        near = g * std::max(0.0, c.upper.form(r.x, progress_)) * std::max(0.0, 2 - c.upper.safe()) * (1 - 1e-9);
      }
      found.narrow(r.u - std::max(far, near) - off, r.u - std::min(far, near) + off);
    }
    if (!found.open(wanted)) return;
  }
}

}  // namespace margin
