// All that is asked of a loss at some scores at once is what it says one by one, whatever stands beside a score.
#include "core/loss/points.hpp"

#include <gtest/gtest.h>

#include "margin_problems.hpp"

namespace margin {
namespace {

using namespace reference;

TEST(LossPoints, AreWhatTheLossSays) {
  Random random(21);
  for (const std::string_view name : loss_names()) {
    const std::shared_ptr<const Loss> loss = make_loss(name, {});
    constexpr std::size_t count = 21, from = 3;
    LossPoints points;
    points.resize(from + count);
    for (std::size_t k = 0; k < from + count; ++k) {
      points.u[k] = k % 5 == 0 ? 0.0 : 3 * gaussian(random);
      points.y[k] = loss->classification() ? (random.below(2) == 0 ? -1.0 : 1.0) : std::fabs(gaussian(random));
      points.value[k] = -7;
    }
    const EvaluatePoints evaluate = evaluate_points(*loss);
    evaluate(*loss, from, count, points);
    for (std::size_t k = 0; k < from; ++k)
      EXPECT_EQ(points.value[k], -7) << name << ": a score that was not asked about";
    LossPoints alone;
    alone.resize(1);
    for (std::size_t k = from; k < from + count; ++k) {
      const double u = points.u[k], y = points.y[k], tolerance = 4 * std::numeric_limits<double>::epsilon();
      const LossPoint at = points.at(k);
      const auto near = [&](double found, double expected, double size) {
        EXPECT_NEAR(found, expected, tolerance * size) << name << " at " << u << ", " << y;
      };
      const double dual = loss->project(settled_dual(*loss, u, y), y);
      near(at.value, loss->value(u, y), std::fabs(at.value));
      near(at.dual, dual, std::fabs(dual));
      near(at.conjugate, at.dual != 0 ? loss->conjugate(at.dual, y) : 0, std::fabs(at.conjugate));
      near(at.second_derivative, loss->second_derivative(u, y), at.second_derivative);
      alone.u[0] = u;
      alone.y[0] = y;
      evaluate(*loss, 0, 1, alone);
      const LossPoint one = alone.at(0);
      EXPECT_EQ(one.value, at.value);
      EXPECT_EQ(one.dual, at.dual);
      EXPECT_EQ(one.conjugate, at.conjugate);
      EXPECT_EQ(one.second_derivative, at.second_derivative);
    }
  }
}

}  // namespace
}  // namespace margin
