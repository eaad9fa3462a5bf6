// The bound of left_out.hpp that follows from the curvature of a loss with a derivative.
#include <algorithm>
#include <cmath>

#include "core/consequences/left_out/left_out.hpp"
#include "core/loss/loss.hpp"
#include "core/math/rounding.hpp"

namespace margin {

namespace {

/// The same of Hessians: rows beyond such a share of W have no part in them.
constexpr double shares[] = {infinity, 0.3, 0.1, 0.02};

/// Of more, a matrix costs a good part of a training.
constexpr std::size_t many_columns = 256;

/// What a computed φ'' and sums of it may be off by; scores that are off by more say too little of it.
constexpr double curvature_error = 1e-7, most_noise = 1e-8;

/// ≥ φ'' within τ of u, of a loss with quadratic pieces.
double largest_curvature(const Loss& loss, double u, double y, double tau) {
  if (loss.curvature_form() == CurvatureForm::one_bend)  // flat, and then not
    return std::max(loss.second_derivative(u - tau, y), loss.second_derivative(u + tau, y)) * (1 + curvature_error);
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

double LeftOut::error_by(const InverseCurvature& inverse) const { return inverse.reach(gradient_error_); }

/// What the gradient of a row's own term is off by, in units of x.
double LeftOut::slope_error(const At& r) const {
  return r.c / p_.total_weight * (noise_ + 16 * epsilon * (std::fabs(r.u) + 1)) / p_.loss->smoothness();
}

/// What a form may lose where its products are too small for doubles, times the slope that it is multiplied by.
double LeftOut::lost_form(const At& r, double g) const {
  const double n = static_cast<double>(w_.size()) + 2;
  return 8 * tiny * n * n * (1 + r.length) * (1 + std::fabs(g));
}

/// The next of a few A, each for farther moves; false when there are no more.
bool LeftOut::make_curvature() {
  const Loss& loss = *p_.loss;
  const auto rows = static_cast<std::size_t>(p_.rows());
  const auto norms = [&](const Curvature& c) {
    std::vector<double> all = c.inverse.forms(p_.data, progress_);
    for (double& form : all) form = std::max(0.0, form) * c.inverse.safe();
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
    if (!knows_curvature(loss) || !(noise_ < most_noise) || !InverseCurvature::affordable(p_, constant_) || !make(all))
      next_level_ = std::size(levels);
    if (next_level_ == 0) {
      norms_ = norms(all);
      first_ = std::move(all.inverse);
    }
  }
  while (next_level_ < std::size(levels)) {
    const Level& level = levels[next_level_++];
    Curvature c;
    c.tau = level.tau;
    for (std::size_t i = 0; i < rows; ++i)
      if (norms_[i] * p_.weight(static_cast<std::int64_t>(i)) > level.share * p_.total_weight)
        c.moving.push_back(static_cast<std::int64_t>(i));
    // Of many columns only one, that most rows have a part in: others decide few rows more.
    if (v_.size() > many_columns && (!curvatures_.empty() || 2 * c.moving.size() > rows)) continue;
    const bool first = c.moving.empty() && level.tau == levels[0].tau && !first_.empty();
    if (first)
      c.inverse = std::move(first_);
    else if (!make(c))
      continue;
    c.forms = first ? norms_ : norms(c);
    for (std::size_t i = 0; i < rows; ++i)
      if (!c.moves(static_cast<std::int64_t>(i))) c.largest = std::max(c.largest, c.forms[i]);
    const double safe = c.inverse.safe();
    c.error = std::sqrt(c.inverse.form(gradient_) * safe) + error_by(c.inverse);
    curvatures_.push_back(std::move(c));
    return true;
  }
  return false;
}

/// The next H⁻¹, of all rows or but for those of large norms; false when there are no more.
bool LeftOut::make_concord() {
  const Loss& loss = *p_.loss;
  if (!(noise_ < most_noise)) return false;
  while (next_level_ < std::size(shares)) {
    const double share = shares[next_level_++];
    if (share < infinity && concords_.empty()) return false;
    if (share < infinity && (v_.size() > many_columns || !(concords_.back().largest > 2.5 * share * p_.total_weight)))
      continue;
    Concord c;
    if (share < infinity)
      for (std::int64_t i = 0; i < p_.rows(); ++i)
        if (concords_[0].forms[static_cast<std::size_t>(i)] * p_.weight(i) > share * p_.total_weight)
          c.moving.push_back(i);
    if (share < infinity ? c.moving.size() == moving_ : !InverseCurvature::affordable(p_, constant_)) continue;
    moving_ = c.moving.size();
    c.inverse =
        inverse([&](std::int64_t i, double u, double y) { return c.moves(i) ? 0.0 : loss.second_derivative(u, y); });
    if (!c.inverse.usable()) continue;
    c.forms = c.inverse.forms(p_.data, progress_);
    for (std::int64_t i = 0; i < p_.rows(); ++i)
      if (p_.weight(i) > 0 && !c.moves(i)) c.largest = std::max(c.largest, c.forms[static_cast<std::size_t>(i)]);
    const double safe = c.inverse.safe() * (1 + curvature_error);
    c.largest *= safe;
    c.step = c.inverse.times(gradient_);
    c.error = std::sqrt(c.inverse.form(gradient_) * safe);
    c.rounding = error_by(c.inverse);
    concords_.push_back(std::move(c));
    return true;
  }
  return false;
}

/// H at w, and without row i by Sherman and Morrison's formula. Where no score moves by more than ρ, the mean Hessian of a
/// loss whose third derivative is no larger than the second is between (1 − e^−ρ)/ρ and (e^ρ − 1)/ρ times H. On the way to the
/// optimum P falls, so that ‖d‖_H (1 − e^−ρ)/ρ ≤ ‖gradient‖ by H⁻¹, where ρ = ‖d‖_H √max q, q = xᵀH⁻¹x: 1 − e^−ρ ≤ s =
/// ‖gradient‖ √max q, and for s < 1 H̄⁻¹ is between (1 − s) t and t times H⁻¹, t = −ln(1 − s)/s. Rows of a q that makes s large
/// may have no part in H: H̄ then is above the same multiple of it, and below the other one of H and their largest curvature.
void LeftOut::bend_by_hessian(const At& r, double wanted, ScoreInterval& found) {
  const Loss& loss = *p_.loss;
  for (std::size_t level = 0; level < concords_.size() || make_concord(); ++level) {
    Concord& c = concords_[level];
    const double safe = c.inverse.safe() * (1 + curvature_error), loose = std::max(0.0, 2 - safe);
    const double form = std::max(0.0, c.forms[static_cast<std::size_t>(r.row)]);
    const double kappa = c.moves(r.row) ? 0.0 : r.c * loss.second_derivative(r.u, r.y) / p_.total_weight;
    const double rest = 1 - kappa * (1 + curvature_error) * form * safe,
                 most_rest = 1 - kappa * (1 - curvature_error) * form * loose;
    if (!(rest > 0.01)) continue;
    const double own = form * safe / rest, g = -r.c * loss.derivative(r.u, r.y) / p_.total_weight;
    const double error = (c.error + c.rounding) / std::sqrt(rest) + slope_error(r) * std::sqrt(own);
    const double s = (error + std::fabs(g) * std::sqrt(own)) * std::sqrt(c.largest / rest) * (1 + 1e-9);
    if (!(s < 0.95)) continue;
    const double stretch = s < 1e-3 ? 1 + s : -std::log1p(-s) / s, most = stretch * (1 + 2 * curvature_error),
                 fewest = (s < 1e-3 ? 1 - s : stretch * (1 - s)) * (1 - 2 * curvature_error);
    const double far = g * own * most;
    if (!c.moving.empty()) {
      const double off = most * std::sqrt(own) * error * (1 + 1e-9) + 4 * noise_ + lost_form(r, g);
      double near = 0;
      for (int upper = 0; upper < 2; ++upper) {
        if (upper == 1) {
          if (!found.open(wanted)) return;
          if (c.upper.empty())
            c.upper = inverse([&](std::int64_t i, double u, double y) {
              return c.moves(i) ? 1 / loss.smoothness() : loss.second_derivative(u, y);
            });
          if (c.upper.empty()) break;
          near = g * std::max(0.0, c.upper.form(r.x, progress_)) * std::max(0.0, 2 - c.upper.safe()) * fewest *
                 (1 - curvature_error);
          if (!std::isfinite(near)) near = 0;
        }
        found.narrow(r.u - std::max(far, near) - off, r.u - std::min(far, near) + off);
      }
    } else {
      // What P's gradient at w moves the score by: by H as it is, and by what the mean Hessian differs.
      const double known = dot(r.x, c.step.data()) + (constant_ != 0 ? constant_ * c.step.back() : 0.0);
      const double off = (std::max(most - 1, 1 - fewest) + safe - 1) * std::sqrt(own) * error +
                         std::fabs(known) * (1 / rest - 1 / most_rest) +
                         most * (std::sqrt(own / rest) * c.rounding + own * slope_error(r)) + 4 * noise_ +
                         lost_form(r, g);
      const double centre = r.u - known / rest, near = g * (form * loose / most_rest) * fewest;
      found.narrow(centre - std::max(far, near) - off * (1 + 1e-9), centre - std::min(far, near) + off * (1 + 1e-9));
    }
    if (!found.open(wanted)) return;
  }
}

void LeftOut::bend(const At& r, double wanted, ScoreInterval& found) {
  const Loss& loss = *p_.loss;
  if (loss.self_concordance() <= 1) {
    bend_by_hessian(r, wanted, found);
    return;
  }
  for (std::size_t level = 0; level < curvatures_.size() || make_curvature(); ++level) {
    Curvature& c = curvatures_[level];
    const double q = c.forms[static_cast<std::size_t>(r.row)];
    const double kappa = r.c * least_curvature(loss, r.u - c.tau, r.u + c.tau, r.y) / p_.total_weight * (1 + 1e-6),
                 rest = 1 - kappa * q;
    if (!(rest > 0.01)) continue;
    const double own = q / rest * (1 + 1e-9), g = -r.c * loss.derivative(r.u, r.y) / p_.total_weight;
    const double error = c.error / std::sqrt(rest) + slope_error(r) * std::sqrt(own),
                 whole = error + std::fabs(g) * std::sqrt(own);
    if (!(whole * std::sqrt(c.largest / rest) <= c.tau * (1 - 1e-6))) continue;
    const double off = (error * std::sqrt(own) + 4 * noise_) * (1 + 1e-9) + lost_form(r, g), far = g * own * (1 + 1e-9);
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
        if (!std::isfinite(near)) near = 0;
      }
      found.narrow(r.u - std::max(far, near) - off, r.u - std::min(far, near) + off);
    }
    if (!found.open(wanted)) return;
  }
}

}  // namespace margin
