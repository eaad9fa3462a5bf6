#include "core/solvers/kernel/smo_variables.hpp"

#include <cmath>

#include "core/loss/one_class.hpp"
#include "core/math/rounding.hpp"

namespace margin {

SmoVariables::SmoVariables(const Problem& problem, std::int32_t output, double diagonal) {
  const auto add = [&](std::int64_t i, double t, double least, double most) {
    row.push_back(i);
    target.push_back(t);
    low.push_back(least);
    high.push_back(most);
  };
  const std::int64_t n = problem.rows();
  if (problem.hard_margin) {
    for (std::int64_t i = 0; i < n; ++i) {
      const double y = problem.target(i, output);
      add(i, y, y > 0 ? 0.0 : -infinity, y > 0 ? infinity : 0.0);
    }
    return;
  }
  const Loss& loss = *problem.loss;
  double size = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const double y = problem.target(i, output), cost = problem.weight(i) / (problem.lambda * problem.total_weight);
    // φ*(−a) is linear on either side of 0: the slopes are the kinks that the row's loss has.
    const double most = loss.project(infinity, y), least = loss.project(-infinity, y);
    const double rise = most > 0 ? -loss.conjugate(most, y) / most : y,
                 fall = least < 0 ? -loss.conjugate(least, y) / least : y;
    const bool one_kink = std::fabs(rise - fall) <= 1e-15 * (std::fabs(rise) + std::fabs(fall));
    if (most > 0 && (least == 0 || one_kink)) add(i, rise, cost * least, cost * most);
    if (most > 0 && least < 0 && !one_kink) add(i, rise, 0, cost * most);
    if (least < 0 && (most == 0 || !one_kink)) add(i, fall, cost * least, 0);
    size += problem.weight(i) / problem.total_weight * std::fabs(y);
  }
  if (problem.task == Task::regression) unit = size > 0 ? size : 1;
  if (one_class_of(&loss) != nullptr) {
    sum = 1 / problem.lambda;
    unit = diagonal > 0 ? diagonal : 1;
  }
}

}  // namespace margin
