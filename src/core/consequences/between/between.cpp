#include "core/consequences/between/between.hpp"

#include <algorithm>
#include <cmath>

#include "core/certificate/ball.hpp"
#include "core/math/norm.hpp"
#include "core/math/rounding.hpp"

namespace margin {

namespace {

std::vector<double> difference(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> out(a.size());
  for (std::size_t j = 0; j < a.size(); ++j) out[j] = a[j] - b[j];
  return out;
}

}  // namespace

double rounding_of(std::size_t d) { return 8 * epsilon * (static_cast<double>(d) + 16); }

double norm_above(const std::vector<double>& v) {
  return lp_norm(v.data(), static_cast<Eigen::Index>(v.size()), 2) * (1 + rounding_of(v.size()));
}

double largest_bow(double low, double high) {
  const double at = std::clamp(0.5, low, high);
  return at * (1 - at) * (1 + 1e-12) + 1e-15;
}

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
  const double own = norm_above(out.weights), between = norm_above(out.offset);
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
  between_ = norm_above(step);
  double product = 0;  // <w_a − w_b, z_a − z_b>
  for (std::size_t j = 0; j < d; ++j)
    product += step[j] * (a.lambda * (a.weights[j] + a.offset[j]) - b.lambda * (b.weights[j] + b.offset[j]));
  const double off = a.lambda * (a.error + rounding_of(d) * a.size) + b.lambda * (b.error + rounding_of(d) * b.size);
  bend_ = std::max(0.0, -product + between_ * off * (1 + rounding_of(d)));
  apart_a_ = a.lambda * (norm_above(a.offset) + a.error);
  apart_b_ = b.lambda * (norm_above(b.offset) + b.error);
}

double BallBetween::share(double lambda) const {
  return std::clamp((lambda - a_.lambda) / (b_.lambda - a_.lambda), 0.0, 1.0);
}

double BallBetween::budget(const LambdaRange& range) const {
  const double low = share(range.low), high = share(range.high), bow = largest_bow(low, high);
  const double slack = std::max(0.0, 1 - low) * a_.slack + high * b_.slack + bow * bend_;
  const double apart = bow * (b_.lambda - a_.lambda) * between_ + (1 - low) * apart_a_ + high * apart_b_;
  return (slack + apart * apart / (4 * range.low)) * (1 + 1e-10);
}

double BallBetween::error(const LambdaRange& range) const {
  const double low = share(range.low), high = share(range.high);
  // Half of what v errs moves the centre.
  return ((1 - low) * a_.lambda * a_.error + high * b_.lambda * b_.error) / (2 * range.low);
}

double BallBetween::radius(const LambdaRange& range) const {
  return (std::sqrt(budget(range) / range.low) + error(range)) * (1 + 1e-10);
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

}  // namespace margin
