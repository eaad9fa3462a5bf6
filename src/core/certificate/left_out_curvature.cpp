// The bound of left_out.hpp that follows from the curvature of a loss with a derivative.
#include <algorithm>
#include <cmath>

#include "core/certificate/left_out.hpp"
#include "core/data/gram_block.hpp"
#include "core/loss/loss.hpp"
#include "core/math/rounding.hpp"

namespace margin {

namespace {

constexpr std::size_t most_columns = 1024;
constexpr double most_curvature_work = 4e10;  // multiply-adds of the forms

/// ≤ and ≥ φ'' within τ of u.
double least_curvature(const Loss& loss, double u, double y, double tau) {
  return std::min(loss.second_derivative(u - tau, y), loss.second_derivative(u + tau, y)) * (1 - 1e-7);
}
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

template <class Of>
std::vector<double> LeftOut::inverse(const Of& of, double* safe) const {
  const auto d = static_cast<std::size_t>(p_.dimensions());
  const std::size_t n = v_.size();
  SymmetricMatrix sum(n);
  GramBlock block(d, constant_);
  for (std::int64_t i = 0; i < p_.rows(); ++i) {
    const double c = p_.weight(i);
    if (!(c > 0)) continue;
    const Row x = p_.data.row(i);
    const double h = of(i, product(x, w_), p_.target(i, output_));
    if (h > 0) block.add(x, c * h / p_.total_weight, 1.0, sum, progress_);
  }
  block.flush(1.0, sum, progress_);
  double trace = 0;
  for (std::size_t j = 0; j < n; ++j) {
    if (j < d || ball_) sum.row(j)[j] += p_.lambda;
    trace += sum.row(j)[j];
  }
  if (!factorise(sum, progress_)) return {};
  double least = sum.row(0)[0];
  for (std::size_t j = 0; j < n; ++j) least = std::min(least, sum.row(j)[j]);
  std::vector<double> out(n * n, 0.0);
  for (std::size_t j = 0; j < n; ++j) {
    out[j * n + j] = 1;
    solve_factored(sum, out.data() + j * n, &progress_);
  }
  const double floor = ball_ ? p_.lambda : std::min(p_.lambda, least * least / static_cast<double>(n));
  *safe = 1 + 32 * epsilon * static_cast<double>(n) * trace / floor;
  return out;
}

/// xᵀ inverse x
double LeftOut::form(const std::vector<double>& inverse, const Row& x) const {
  const std::size_t n = v_.size();
  const auto d = static_cast<std::size_t>(p_.dimensions());
  double sum = 0;
  for (std::int32_t k = 0; k < x.count; ++k) {
    const auto j = static_cast<std::size_t>(x.indices != nullptr ? x.indices[k] : k);
    const double value = x.value(k);
    if (value == 0) continue;
    sum += value * (dot(x, inverse.data() + j * n) + 2 * (constant_ != 0 ? constant_ * inverse[j * n + d] : 0.0));
  }
  if (constant_ != 0) sum += constant_ * constant_ * inverse[d * n + d];
  progress_.work(static_cast<double>(x.count) * x.count + 16);
  return sum;
}

/// The next of a few A, each for farther moves; false when there are no more.
bool LeftOut::make_curvature() {
  const Loss& loss = *p_.loss;
  const auto rows = static_cast<std::size_t>(p_.rows());
  const auto norms = [&](const Curvature& c) {
    std::vector<double> all(rows);
    for (std::size_t i = 0; i < rows; ++i) all[i] = form(c.inverse, p_.data.row(static_cast<std::int64_t>(i))) * c.safe;
    return all;
  };
  const auto make = [&](Curvature& c) {
    c.inverse = inverse(
        [&](std::int64_t i, double u, double y) { return c.moves(i) ? 0.0 : least_curvature(loss, u, y, c.tau); },
        &c.safe);
    return !c.inverse.empty() && c.safe < 1.01;
  };
  if (next_level_ == 0) {
    const bool known = loss.name() == "logistic" || loss.name() == "squared_hinge" || loss.name() == "smoothed_hinge";
    const auto n = static_cast<double>(v_.size());
    double work = n * n * n;
    for (std::int64_t i = 0; i < p_.rows(); ++i) work += 4.0 * p_.data.row(i).count * p_.data.row(i).count;
    Curvature all;
    all.tau = levels[0].tau;
    if (!known || v_.size() > most_columns || work > most_curvature_work || !make(all)) next_level_ = std::size(levels);
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
    const Row e{gradient_.data(), nullptr, static_cast<std::int32_t>(v_.size()), true};
    double square = 0, widest = 0;
    for (std::size_t j = 0; j < v_.size(); ++j) {
      square += gradient_[j] * dot(e, c.inverse.data() + j * v_.size());
      widest += c.inverse[j * v_.size() + j];
    }
    // What the gradient's own sums err by.
    const double rounding =
        epsilon * (static_cast<double>(p_.rows()) + 16) * (p_.lambda * size_ + p_.data.radius() + constant_);
    c.error = std::sqrt(std::max(0.0, square) * c.safe) + rounding * std::sqrt(widest * c.safe);
    curvatures_.push_back(std::move(c));
    return true;
  }
  return false;
}

void LeftOut::bend(const At& r, double wanted, ScoreInterval& found) {
  const Loss& loss = *p_.loss;
  for (std::size_t level = 0; level < curvatures_.size() || make_curvature(); ++level) {
    Curvature& c = curvatures_[level];
    const double q = form(c.inverse, r.x) * c.safe;
    const double kappa = r.c * least_curvature(loss, r.u, r.y, c.tau) / p_.total_weight * (1 + 1e-6),
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
          c.upper = inverse(
              [&](std::int64_t i, double u, double y) {
                return c.moves(i) ? 1 / loss.smoothness() : largest_curvature(loss, u, y, c.tau);
              },
              &c.upper_safe);
        if (c.upper.empty()) break;
        near = g * std::max(0.0, form(c.upper, r.x)) * std::max(0.0, 2 - c.upper_safe) * (1 - 1e-9);
      }
      found.narrow(r.u - std::max(far, near) - off, r.u - std::min(far, near) + off);
    }
    if (!found.open(wanted)) return;
  }
}

}  // namespace margin
