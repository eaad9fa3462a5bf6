// What rows ask of a loss at their scores: all of it at once, and of many scores by one call.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "core/loss/loss.hpp"

namespace margin {

/// settled_dual() of a loss by its own class.
template <class L>
double settled_dual_of(const L& loss, double u, double y) {
  if (loss.smooth()) return -loss.derivative(u, y);
  const double width = kink_width * (std::fabs(u) + std::fabs(y));
  const double above = -loss.derivative(u + width, y), below = -loss.derivative(u - width, y);
  return above > 0 ? above : below < 0 ? below : 0.0;
}

/// How far u may move before the loss has another slope.
template <class L>
double kink_distance(const L& loss, double u, double y) {
  const double distance = std::fabs(loss.slack(u, y, -loss.derivative(u, y)));
  return std::isnan(distance) ? std::numeric_limits<double>::infinity() : distance;
}

struct LossPoint {
  double value = 0;              ///< φ(u)
  double dual = 0;               ///< settled_dual(), within the domain
  double conjugate = 0;          ///< φ*(−dual); 0 where that is 0
  double second_derivative = 0;  ///< φ''(u)
};

class LossPoints {
 public:
  /// The loops take scores by the eight: each has the same bits whatever stands beside it.
  static constexpr std::size_t block = 8;
  void resize(std::size_t count) {
    for (std::vector<double>* const v : {&u, &y, &value, &dual, &conjugate, &second_derivative})
      v->resize(count + block);
  }
  LossPoint at(std::size_t k) const { return {value[k], dual[k], conjugate[k], second_derivative[k]}; }

  std::vector<double> u, y;  ///< to be filled in
  std::vector<double> value, dual, conjugate, second_derivative;
};

/// What a loss is at `count` of the points from `from` on. Those behind them are spoiled.
using EvaluatePoints = void (*)(const Loss& loss, std::size_t from, std::size_t count, LossPoints& points);
/// Compiled for the class of the loss.
EvaluatePoints evaluate_points(const Loss& loss);
class Logistic;
/// Whether that costs less than asking the loss itself, one score after the other.
template <class L>
constexpr bool evaluates_together = std::is_same_v<L, Logistic>;
bool points_evaluate_together(const Loss& loss);

}  // namespace margin
