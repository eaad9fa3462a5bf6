#include "core/consequences/where/mean_curvature.hpp"

#include <algorithm>
#include <cmath>

#include "core/math/rounding.hpp"

namespace margin {

namespace {

constexpr double blur = mean_blur;

double sigmoid(double t) { return t >= 0 ? 1 / (1 + std::exp(-t)) : std::exp(t) / (1 + std::exp(t)); }

/// φ' has a slope of at most φ'' tanh((abs(u) + ρ)/2) per φ'' within ρ of u.
MeanCurvature of_logistic(double u, double reach, double error) {
  const double a = std::fabs(u), s = std::tanh((a + reach + error) / 2), z = std::max(s * reach, 1e-9);
  const double h = sigmoid(a) * sigmoid(-a);
  const double low = h * -std::expm1(-z) / z * (1 - blur - 2 * error);
  double high = h * std::expm1(z) / z;
  // Towards 0 the mean rises with the way; past 0 by what φ' has between −u and u, over u at least.
  const double by_slope = reach <= a ? (sigmoid(reach - a) - sigmoid(-a)) / reach + 8 * epsilon / reach
                          : a > 0    ? (2 * sigmoid(a) - 1) / a + 8 * epsilon / a
                                     : 0.25;
  high = std::min({high, by_slope * (1 + 2 * blur), 0.25}) * (1 + blur + 2 * error);
  const double top = std::max(high, low);
  return {(top + low) / 2, (top - low) / 2 * (1 + blur)};
}

/// φ' has a single bend: the mean over a way to either side lies between φ'' here and the mean over the longest way.
MeanCurvature of_one_bend(const Loss& loss, double u, double y, double reach, double error) {
  const double here = loss.second_derivative(u, y), slope = loss.derivative(u, y);
  const double after = loss.derivative(u + reach, y), before = loss.derivative(u - reach, y);
  const double right = (after - slope) / reach, left = (slope - before) / reach, most = most_curvature(loss);
  const double slack = blur * most + (4 * error * most + 8 * epsilon * (std::fabs(after) + std::fabs(before))) / reach;
  const double low = std::max(0.0, std::min({here, right, left}) - slack);
  const double high = std::min(most, std::max({here, right, left}) + slack);
  return {(high + low) / 2, std::max(0.0, high - low) / 2 * (1 + blur)};
}

}  // namespace

double most_curvature(const Loss& loss) { return 1 / loss.smoothness(); }

bool curves(const Loss& loss) {
  const CurvatureForm form = loss.curvature_form();
  return form == CurvatureForm::logistic || form == CurvatureForm::one_bend || form == CurvatureForm::constant;
}

MeanCurvature mean_curvature(const Loss& loss, double u, double y, double reach, double error) {
  if (!(reach > 0)) return {most_curvature(loss) / 2, most_curvature(loss) / 2};
  return loss.curvature_form() == CurvatureForm::logistic ? of_logistic(u, reach, error)
                                                          : of_one_bend(loss, u, y, reach, error);
}

}  // namespace margin
