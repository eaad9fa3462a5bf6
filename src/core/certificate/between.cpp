#include "core/certificate/between.hpp"

#include <algorithm>
#include <cmath>

#include "core/certificate/ball.hpp"
#include "core/math/norm.hpp"
#include "core/math/rounding.hpp"

namespace margin {

namespace {

constexpr double first_move = 0.1;

/// What sums of d products may be off, and some; figures are moved by it in the safe direction.
double rounding_of(std::size_t d) { return 8 * epsilon * (static_cast<double>(d) + 16); }

double norm_of(const std::vector<double>& v) {
  return lp_norm(v.data(), static_cast<Eigen::Index>(v.size()), 2) * (1 + rounding_of(v.size()));
}

std::vector<double> difference(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> out(a.size());
  for (std::size_t j = 0; j < a.size(); ++j) out[j] = a[j] - b[j];
  return out;
}

}  // namespace

PathPoint path_point(double lambda, const double* weights, std::int32_t dimensions, double intercept, double constant,
                     const DualPoint& point, const std::vector<std::int32_t>& columns) {
  PathPoint out;
  out.lambda = lambda;
  out.weights.assign(weights, weights + dimensions);
  out.offset.assign(static_cast<std::size_t>(dimensions), 0.0);
  for (Eigen::Index j = 0; j < point.offset.cols(); ++j)
    out.offset[static_cast<std::size_t>(columns.empty() ? j : columns[static_cast<std::size_t>(j)])] =
        point.offset(0, j);
  if (constant != 0) {
    out.weights.push_back(intercept / constant);
    out.offset.push_back(point.intercept(0) / constant);
  }
  const double own = norm_of(out.weights), between = norm_of(out.offset);
  out.slack = point.slack[0];
  out.size = 2 * own + between;
  // The quotients by B were rounded, and what follows counts as exact.
  out.error = point.error[0] + rounding_of(out.weights.size()) * out.size;
  return out;
}

EndProducts products(const PathPoint& point, const Row& x, double constant) {
  EndProducts out;
  out.weights = dot(x, point.weights.data()) + (constant != 0 ? constant * point.weights.back() : 0.0);
  out.dual = out.weights + dot(x, point.offset.data()) + (constant != 0 ? constant * point.offset.back() : 0.0);
  return out;
}

BallBetween::BallBetween(const PathPoint& a, const PathPoint& b) : a_(a), b_(b) {
  const std::size_t d = a.weights.size();
  const std::vector<double> step = difference(a.weights, b.weights);
  between_ = norm_of(step);
  double product = 0;  // <w_a − w_b, z_a − z_b>
  for (std::size_t j = 0; j < d; ++j)
    product += step[j] * (a.lambda * (a.weights[j] + a.offset[j]) - b.lambda * (b.weights[j] + b.offset[j]));
  const double off = a.lambda * (a.error + rounding_of(d) * a.size) + b.lambda * (b.error + rounding_of(d) * b.size);
  bend_ = std::max(0.0, -product + between_ * off * (1 + rounding_of(d)));
  apart_a_ = a.lambda * (norm_of(a.offset) + a.error);
  apart_b_ = b.lambda * (norm_of(b.offset) + b.error);
}

double BallBetween::share(double lambda) const {
  return std::clamp((lambda - a_.lambda) / (b_.lambda - a_.lambda), 0.0, 1.0);
}

namespace {
/// The largest θ(1−θ) in an interval.
double largest_bow(double low, double high) {
  const double at = std::clamp(0.5, low, high);
  return at * (1 - at) * (1 + 1e-12) + 1e-15;
}
}  // namespace

double BallBetween::radius(const LambdaRange& range) const {
  const double low = share(range.low), high = share(range.high), bow = largest_bow(low, high);
  const double slack = std::max(0.0, 1 - low) * a_.slack + high * b_.slack + bow * bend_;
  const double apart = bow * (b_.lambda - a_.lambda) * between_ + (1 - low) * apart_a_ + high * apart_b_;
  // Half of what v errs moves the centre.
  const double error = ((1 - low) * a_.lambda * a_.error + high * b_.lambda * b_.error) / (2 * range.low);
  return (std::hypot(std::sqrt(slack / range.low), apart / (2 * range.low)) + error) * (1 + 1e-10);
}

double BallBetween::highest(const EndProducts& at_a, const EndProducts& at_b, double sign,
                            const LambdaRange& range) const {
  const double low = share(range.low), high = share(range.high);
  // Either half of the centre is monotone in λ.
  const auto primal = [&](double at) { return sign * ((1 - at) * at_a.weights + at * at_b.weights); };
  const auto dual = [&](double at, double lambda) {
    return sign * ((1 - at) * a_.lambda * at_a.dual + at * b_.lambda * at_b.dual) / lambda;
  };
  return (std::max(primal(low), primal(high)) + std::max(dual(low, range.low), dual(high, range.high))) / 2;
}

CurvatureBetween::CurvatureBetween(const Problem& problem, double constant, const PathPoint& a, const PathPoint& b,
                                   const Progress& progress)
    : p_(problem), constant_(constant), a_(a), b_(b), progress_(progress) {
  const auto n = static_cast<std::size_t>(p_.rows());
  const std::size_t d = a.weights.size();
  score_a_.resize(n);
  score_b_.resize(n);
  off_line_.resize(n);
  gradient_a_.resize(d);
  gradient_b_.resize(d);
  const std::size_t penalised = p_.free_intercept ? d - 1 : d;
  for (std::size_t j = 0; j < penalised; ++j) {
    gradient_a_[j] = a.lambda * a.weights[j];
    gradient_b_[j] = b.lambda * b.weights[j];
  }
  const auto add_to = [&](std::vector<double>& gradient, const Row& x, double by) {
    if (by == 0) return;
    add(by, x, gradient.data());
    if (constant_ != 0) gradient.back() += by * constant_;
  };
  for (std::size_t i = 0; i < n; ++i) {
    const auto row = static_cast<std::int64_t>(i);
    const Row x = p_.data.row(row);
    const double c = p_.weight(row) / p_.total_weight, y = p_.target(row, 0);
    score_a_[i] = dot(x, a.weights.data()) + (constant_ != 0 ? constant_ * a.weights.back() : 0.0);
    score_b_[i] = dot(x, b.weights.data()) + (constant_ != 0 ? constant_ * b.weights.back() : 0.0);
    add_to(gradient_a_, x, c * p_.loss->derivative(score_a_[i], y));
    add_to(gradient_b_, x, c * p_.loss->derivative(score_b_[i], y));
    off_line_[i] = off_line(score_a_[i], score_b_[i], y);
    progress_.work(8.0 * x.count + 128);
  }
  std::vector<double> moves(n, first_move);
  constexpr int most_inverses = 3, most_rounds = 6;
  for (int k = 0; k < most_inverses && !proven_; ++k) {
    const std::vector<double> base = moves;
    if (!invert(base)) return;
    for (int round = 0; round < most_rounds && !proven_; ++round) {
      if (!bend(base, moves)) break;
      const double far = moved() * (1 + 1e-6);
      proven_ = true;
      for (std::size_t i = 0; i < n; ++i) {
        const double move = far * lengths_[i] * widened_;
        if (!std::isfinite(move)) return;
        if (!(move < moves[i])) {
          proven_ = false;
          moves[i] = 1.4 * move;
        }
      }
    }
  }
}

/// What φ' is off a straight line between two scores, divided by θ(1−θ).
double CurvatureBetween::off_line(double one, double other, double y) const {
  const Loss& loss = *p_.loss;
  const double by = std::fabs(other - one) * (1 + 1e-12) + 1e-14 * std::fabs(one);
  if (loss.name() == "logistic") {
    constexpr double steepest_bend = 0.0962250448649377;  // 1/(6√3), the most that its third derivative has
    const bool crosses = (one < 0) != (other < 0);
    const double low = std::min(std::fabs(one), std::fabs(other));
    return std::min(steepest_bend, crosses ? 1.0 : loss.second_derivative(low, y)) * (1 + 1e-9) * by * by / 2;
  }
  // On one piece of φ' the line is exact.
  const double slope = loss.second_derivative(one, y);
  const double straight = loss.derivative(one, y) + slope * (other - one) - loss.derivative(other, y);
  const double noise = 1e-13 * (1 + by + std::fabs(one)) / loss.smoothness();
  const bool one_piece = slope == loss.second_derivative(other, y) && std::fabs(straight) <= noise;
  return one_piece ? 8 * noise : by / loss.smoothness();
}

double CurvatureBetween::least(std::size_t i, double move) const {
  return least_curvature(*p_.loss, std::min(score_a_[i], score_b_[i]) - move, std::max(score_a_[i], score_b_[i]) + move,
                         p_.target(static_cast<std::int64_t>(i), 0));
}

/// A for these moves, and the norms by it. False where there is none.
bool CurvatureBetween::invert(const std::vector<double>& moves) {
  least_.resize(moves.size());
  for (std::size_t i = 0; i < moves.size(); ++i) least_[i] = least(i, moves[i]);
  inverse_ = InverseCurvature(
      p_, a_.lambda * (1 - 4 * epsilon), constant_, !p_.free_intercept,
      [&](std::int64_t i, const Row&) { return least_[static_cast<std::size_t>(i)]; }, progress_);
  if (!inverse_.usable()) return false;
  const std::size_t d = a_.weights.size();
  const double safe = inverse_.safe();
  std::vector<double> step = difference(a_.weights, b_.weights);
  for (double& s : step) s *= b_.lambda - a_.lambda;
  if (p_.free_intercept) step.back() = 0;
  const double wide = std::sqrt(inverse_.trace() * safe), size = a_.size + b_.size;
  turn_ = inverse_.times(step);
  step_length_ = (std::sqrt(inverse_.form(step) * safe) + rounding_of(d) * size * b_.lambda * wide) * (1 + 1e-9);
  double mass = 0;
  for (std::int64_t i = 0; i < p_.rows(); ++i) mass += p_.weight(i);
  const double radius = std::hypot(p_.data.radius(), constant_),
               slope = 1 + (1 + radius * size) / p_.loss->smoothness();
  // What the sums of the gradients err by.
  const double rounding = 8 * epsilon * (static_cast<double>(p_.rows()) + static_cast<double>(d) + 16) *
                          (b_.lambda * size + mass / p_.total_weight * radius * slope);
  gradient_length_ =
      (std::max(std::sqrt(inverse_.form(gradient_a_) * safe), std::sqrt(inverse_.form(gradient_b_) * safe)) +
       rounding * wide) *
      (1 + 1e-9);
  lengths_.assign(moves.size(), 0.0);
  for (std::size_t i = 0; i < moves.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    lengths_[i] = std::sqrt(std::max(0.0, inverse_.form(p_.data.row(row), progress_)) * safe) * (1 + 1e-9);
  }
  return true;
}

/// The proof where some rows move further than A was made for: it is less by D, the sum of c (h − h') x xᵀ/W over these, and
/// D ≤ sA with s = trace(A⁻¹D), so that norms by its inverse grow by 1/√(1−s) at most. False where that is too much.
bool CurvatureBetween::bend(const std::vector<double>& base, const std::vector<double>& moves) {
  double squares = 0, lengths = 0, lost = 0;
  for (std::size_t i = 0; i < moves.size(); ++i) {
    const double c = p_.weight(static_cast<std::int64_t>(i)) / p_.total_weight;
    if (!(c > 0)) continue;
    double h = least_[i];
    if (moves[i] > base[i]) {
      h = least(i, moves[i]);
      lost += c * (least_[i] - h) * lengths_[i] * lengths_[i];
    }
    if (h > 1e-6)
      squares += c * off_line_[i] * off_line_[i] / h;
    else
      lengths += c * off_line_[i] * lengths_[i];
    progress_.work(16);
  }
  const double count = (1 + epsilon * (static_cast<double>(moves.size()) + 16)) * (1 + 1e-9);
  lost *= count;
  if (!(lost < 0.75)) return false;
  widened_ = (1 + 1e-9) / std::sqrt(1 - lost);
  bent_ = (std::sqrt(squares) + lengths * widened_) * count;
  turn_length_ = step_length_ * widened_;
  residual_ = gradient_length_ * widened_;
  // A⁻¹ of the step is off what the smaller matrix gives by no more than s times its norm.
  turn_error_ = (inverse_.safe() - 1 + 1e-9 + lost) * turn_length_;
  return true;
}

CurvatureBetween::Held CurvatureBetween::held(const Row& x) const {
  Held out;
  out.length = std::sqrt(std::max(0.0, inverse_.form(x, progress_)) * inverse_.safe()) * widened_ * (1 + 1e-9);
  out.turn = dot(x, turn_.data()) + (constant_ != 0 ? constant_ * turn_.back() : 0.0);
  return out;
}

double CurvatureBetween::highest(const Held& row, double at_a, double at_b, double sign,
                                 const LambdaRange& range) const {
  const auto share = [&](double lambda) {
    return std::clamp((lambda - a_.lambda) / (b_.lambda - a_.lambda), 0.0, 1.0);
  };
  const double low = share(range.low), high = share(range.high);
  const double bow = largest_bow(low, high), least_bow = std::min(low * (1 - low), high * (1 - high));
  const double line = std::max(sign * ((1 - low) * at_a + low * at_b), sign * ((1 - high) * at_a + high * at_b));
  const double turned = std::max(-sign * row.turn * bow, -sign * row.turn * least_bow) / 2;
  const double round = bow * (turn_length_ / 2 + bent_ + turn_error_) + residual_;
  return line + turned + row.length * round * (1 + 1e-9);
}

}  // namespace margin
