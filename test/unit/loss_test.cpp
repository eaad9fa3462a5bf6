// Every loss of the registry against its definition: derivative, conjugate, coordinate step, slack.
#include "core/loss/loss.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "core/base/error.hpp"
#include "core/base/random.hpp"
#include "core/loss/registry.hpp"

namespace margin {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

class LossTest : public ::testing::TestWithParam<std::string> {
 protected:
  LossTest() {
    settings_.epsilon = 0.3;
    settings_.smoothing = 0.7;
    settings_.quantile = 0.75;
    loss_ = make_loss(GetParam(), settings_);
  }
  std::vector<double> outcomes() const {
    if (loss_->classification()) return {-1, 1};
    if (loss_->log_link()) return {0, 1e-3, 0.2, 1, 7, 150};
    return {-3.5, -0.2, 0, 1, 7};
  }
  /// Scores on both sides of every kink, and far away.
  static std::vector<double> scores() {
    std::vector<double> u;
    for (double v = -4; v <= 8.001; v += 0.137) u.push_back(v);
    for (const double v : {-50.0, -12.0, 12.0, 50.0}) u.push_back(v);
    return u;
  }
  /// Points of the dual domain for y, ends included.
  std::vector<double> duals(double y) const {
    std::vector<double> a;
    for (double v = -3; v <= 3.001; v += 0.125)
      if (std::isfinite(loss_->conjugate(v, y))) a.push_back(v);
    for (const double end : {-3.0, 3.0}) a.push_back(loss_->project(end, y));
    return a;
  }
  /// The concave function that a coordinate step maximises.
  double objective(double a, double u, double y, double a_old, double s) const {
    const double conjugate = loss_->conjugate(a, y);
    if (!std::isfinite(conjugate)) return -infinity;
    return -conjugate - (a - a_old) * u - s / 2 * (a - a_old) * (a - a_old);
  }
  /// Golden section over the projected domain.
  double best(double u, double y, double a_old, double s) const {
    double low = loss_->project(-1e4, y), high = loss_->project(1e4, y);
    const double ratio = (std::sqrt(5.0) - 1) / 2;
    double a = high - ratio * (high - low), b = low + ratio * (high - low);
    for (int i = 0; i < 200; ++i) {
      if (objective(a, u, y, a_old, s) >= objective(b, u, y, a_old, s)) {
        high = b;
        b = a;
        a = high - ratio * (high - low);
      } else {
        low = a;
        a = b;
        b = low + ratio * (high - low);
      }
    }
    return (low + high) / 2;
  }

  Options settings_;
  std::shared_ptr<const Loss> loss_;
};

TEST_P(LossTest, KnowsItsName) {
  EXPECT_EQ(loss_->name(), GetParam());
  EXPECT_EQ(is_regression_loss(GetParam()), !loss_->classification());
  bool concrete = false;
  visit(*loss_, [&](const auto& l) { concrete = !std::is_same_v<std::decay_t<decltype(l)>, Loss>; });
  EXPECT_TRUE(concrete) << "visit() must reach the final class";
}

TEST_P(LossTest, DerivativeIsTheSlope) {
  const double h = 1e-6;
  for (const double y : outcomes())
    for (const double u : scores()) {
      const double left = (loss_->value(u, y) - loss_->value(u - h, y)) / h;
      const double right = (loss_->value(u + h, y) - loss_->value(u, y)) / h;
      const double slope = loss_->derivative(u, y);
      EXPECT_GE(slope, left - 1e-4 * (1 + std::fabs(left))) << u << " " << y;
      EXPECT_LE(slope, right + 1e-4 * (1 + std::fabs(right))) << u << " " << y;
      EXPECT_GE(loss_->value(u, y), 0);
      EXPECT_LE(std::fabs(slope), loss_->lipschitz());
    }
}

TEST_P(LossTest, SecondDerivativeIsTheSlopeOfTheSlope) {
  const double h = 1e-5;
  for (const double y : outcomes())
    for (const double u : scores()) {
      const double left = (loss_->derivative(u, y) - loss_->derivative(u - h, y)) / h;
      const double right = (loss_->derivative(u + h, y) - loss_->derivative(u, y)) / h;
      if (std::fabs(left - right) > 1e-2) continue;  // a kink of the derivative
      EXPECT_NEAR(loss_->second_derivative(u, y), (left + right) / 2, 1e-3) << u << " " << y;
      EXPECT_EQ(loss_->smooth(), loss_->smoothness() > 0 || loss_->log_link());
      if (loss_->smoothness() > 0) {
        EXPECT_LE(loss_->second_derivative(u, y), 1 / loss_->smoothness() * (1 + 1e-12));
      }
    }
}

TEST_P(LossTest, FenchelYoung) {
  for (const double y : outcomes())
    for (const double u : scores()) {
      for (const double a : duals(y))
        EXPECT_GE(loss_->value(u, y) + loss_->conjugate(a, y) + a * u,
                  -1e-12 * (1 + std::fabs(a * u) + std::fabs(a * y)))
            << u << " " << y << " " << a;
      const double a = -loss_->derivative(u, y);  // where the inequality is an equality
      const double sum = loss_->value(u, y) + loss_->conjugate(a, y) + a * u;
      EXPECT_NEAR(sum, 0, 1e-11 * (1 + loss_->value(u, y) + std::fabs(a * u))) << u << " " << y;
    }
}

TEST_P(LossTest, ConjugateOfZeroIsZero) {
  // The certificate relies on D(0) = 0.
  for (const double y : outcomes()) EXPECT_EQ(loss_->conjugate(0, y), 0);
}

TEST_P(LossTest, ProjectIsTheNearestPointOfTheDomain) {
  for (const double y : outcomes())
    for (double a = -5; a <= 5; a += 0.25) {
      const double p = loss_->project(a, y);
      ASSERT_TRUE(std::isfinite(loss_->conjugate(p, y))) << a << " " << y;
      if (std::isfinite(loss_->conjugate(a, y))) {
        EXPECT_EQ(p, a);
      }
      for (const double q : duals(y)) EXPECT_LE(std::fabs(p - a), std::fabs(q - a) + 1e-15);
    }
}

TEST_P(LossTest, StepMaximises) {
  for (const double y : outcomes())
    for (const double a_old : duals(y))
      for (const double s : {0.0, 1e-12, 1e-3, 0.4, 3.0, 60.0, 1e4, 1e12})
        for (const double u : {-30.0, -3.3, -1.0, 0.0, 0.4, 1.0, 1.21, 2.0, 6.0, 40.0}) {
          if (s == 0 && loss_->smoothness() == 0 && loss_->lipschitz() == infinity) continue;
          const double a = loss_->dual_step(u, y, a_old, s);
          const double reached = objective(a, u, y, a_old, s);
          ASSERT_TRUE(std::isfinite(reached)) << u << " " << y << " " << a_old << " " << s << " -> " << a;
          const double golden = objective(best(u, y, a_old, s), u, y, a_old, s);
          const double size = std::fabs(loss_->conjugate(a, y)) + std::fabs((a - a_old) * u) + std::fabs(a * y);
          EXPECT_GE(reached, golden - 1e-12 * (1 + size)) << u << " " << y << " " << a_old << " " << s << " -> " << a;
          EXPECT_GE(reached, objective(a_old, u, y, a_old, s) - 1e-12 * (1 + size));
        }
}

TEST_P(LossTest, StepOfRandomPoints) {
  Random random(5);
  for (int trial = 0; trial < 20000; ++trial) {
    double y = loss_->classification() ? (random.below(2) == 0 ? -1.0 : 1.0) : 4 * random.uniform() - 2;
    if (loss_->log_link()) y = std::fabs(y);
    const double a_old = loss_->project(4 * random.uniform() - 2, y);
    const double s = std::pow(10.0, 30 * random.uniform() - 15), u = 20 * random.uniform() - 10;
    const double a = loss_->dual_step(u, y, a_old, s);
    const double reached = objective(a, u, y, a_old, s);
    ASSERT_TRUE(std::isfinite(reached)) << u << " " << y << " " << a_old << " " << s;
    // A concave function whose value falls to both sides is at its maximum.
    for (const double relative : {1e-6, 1e-3}) {
      const double h = relative * std::max(std::fabs(a - a_old), 1e-3 / (1 + s));
      const double size = std::fabs(loss_->conjugate(a, y)) + std::fabs((a - a_old) * u) + std::fabs(a * y);
      EXPECT_LE(objective(a + h, u, y, a_old, s), reached + 4e-16 * (1 + size))
          << u << " " << y << " " << a_old << " " << s;
      EXPECT_LE(objective(a - h, u, y, a_old, s), reached + 4e-16 * (1 + size))
          << u << " " << y << " " << a_old << " " << s;
    }
  }
}

TEST_P(LossTest, StepOfExtremeRows) {
  for (const double y : outcomes())
    for (const double a_old : duals(y))
      for (const double u : {-1e3, -1.0, 0.0, 1.0, 1e3}) {
        // A row of infinite length cannot move; rows of almost no length behave as rows of none.
        const double still = loss_->dual_step(u, y, a_old, infinity);
        EXPECT_NEAR(still, a_old, 1e-12) << u << " " << y;
        for (const double s : {0.0, 1e-320, 1e-300, 1e-30, 1e30, 1e300}) {
          const double a = loss_->dual_step(u, y, a_old, s);
          EXPECT_TRUE(std::isfinite(loss_->conjugate(a, y)))
              << u << " " << y << " " << a_old << " " << s << " -> " << a;
        }
      }
}

TEST_P(LossTest, SlackIsHowFarTheScoreMayMove) {
  bool settles = false;
  visit(*loss_, [&](const auto& l) {
    if constexpr (!std::is_same_v<std::decay_t<decltype(l)>, Loss>) settles = std::decay_t<decltype(l)>::settles;
  });
  int settled = 0;
  for (const double y : outcomes())
    for (const double a : duals(y))
      for (const double u : scores()) {
        const double slack = loss_->slack(u, y, a);
        if (slack >= 0) {
          settled += slack > 0;
          for (const double move : {-0.999 * slack, 0.0, 0.999 * slack})
            EXPECT_NEAR(loss_->dual_step(u + move, y, a, 2), a, 1e-15) << u << " " << y << " " << a;
        } else if (std::isfinite(slack) && slack > -40) {
          const double up = std::fabs(loss_->dual_step(u - slack, y, a, 2) - a);
          const double down = std::fabs(loss_->dual_step(u + slack, y, a, 2) - a);
          EXPECT_LT(std::min(up, down), 1e-9) << u << " " << y << " " << a;
          EXPECT_GT(std::fabs(loss_->dual_step(u, y, a, 2) - a), 0) << u << " " << y << " " << a;
        }
      }
  EXPECT_EQ(settles, settled > 0);
}

// Of labels in another unit, with its lengths in it, a loss of numbers is a multiple of what it was: a parameter that is a
// length and is not listed as one, or the other way round, changes its form.
TEST_P(LossTest, IsTheSameInEveryUnit) {
  if (loss_->classification() || loss_->log_link()) return;
  const double unit = 0.25;
  const auto other = in_units(*loss_, unit);
  double least = infinity, most = 0;
  for (const double y : outcomes())
    for (const double u : scores()) {
      const double value = loss_->value(u, y), share = other->value(u / unit, y / unit) / value;
      if (!(value > 1e-9)) continue;
      least = std::min(least, share);
      most = std::max(most, share);
    }
  EXPECT_NEAR(least, most, 1e-9 * most);
}

// What a loss reads is an option, and one that changes it.
TEST(LossRegistry, ParametersAreOptions) {
  for (const LossParameter& parameter : loss_parameters()) {
    const auto& options = option_names();
    EXPECT_EQ(std::count(options.begin(), options.end(), parameter.option), 1) << parameter.option;
  }
}

TEST_P(LossTest, StaysFiniteFarAway) {
  for (const double y : outcomes())
    for (const double u : {-1e8, 1e8}) {
      // A mean of e^(1e8) is none: a bound must not be finite there.
      EXPECT_EQ(std::isfinite(loss_->value(u, y)), !(loss_->log_link() && u > 0));
      EXPECT_TRUE(std::isfinite(loss_->derivative(u, y)));
      EXPECT_TRUE(std::isfinite(loss_->second_derivative(u, y)));
      EXPECT_TRUE(std::isfinite(loss_->conjugate(loss_->project(-loss_->derivative(u, y), y), y)));
    }
}

INSTANTIATE_TEST_SUITE_P(All, LossTest,
                         ::testing::ValuesIn(std::vector<std::string>(loss_names().begin(), loss_names().end())),
                         [](const auto& info) { return info.param; });

TEST_P(LossTest, SlopesNearbyAreBounded) {
  for (const double y : outcomes())
    for (const double u : scores())
      for (const double error : {1e-12, 1e-3, 0.5}) {
        const double bound = loss_->steepest(u, y, error);
        for (const double move : {-error, 0.0, error})
          EXPECT_LE(std::fabs(loss_->derivative(u + move, y)), bound * (1 + 1e-12)) << u << " " << y << " " << error;
      }
}

// What certificates rest on: the evaluations against the same in more digits.
TEST(Poisson, EvaluationsErrByNoMoreThanTheySay) {
  const auto loss = make_loss("poisson", Options{});
  const double ulp = std::numeric_limits<double>::epsilon();
  Random random(11);
  for (int trial = 0; trial < 200000; ++trial) {
    const double y = random.below(8) == 0 ? 0.0 : std::pow(10.0, 16 * random.uniform() - 6);
    const double near = std::pow(10.0, 10 * random.uniform() - 9), sign = random.below(2) == 0 ? -1 : 1;
    const double u = random.below(2) == 0 || y == 0 ? 60 * random.uniform() - 30 : std::log(y) + sign * near;
    const long double exact = y > 0 ? expl(static_cast<long double>(u)) - y - y * (u - logl(y)) : expl(u);
    const long double noise = 1e-18L * (expl(u) + y * (2 + std::fabs(u) + std::fabs(std::log(y + (y == 0)))));
    const double error = ulp * loss->argument_size(u, y), value = loss->value(u, y);
    EXPECT_LE(std::fabs(static_cast<double>(value - exact)),
              error * loss->steepest(u, y, error) + 8 * ulp * value + static_cast<double>(noise))
        << u << " " << y;
    const double a = random.below(2) == 0 ? y - std::exp(u) : sign * y * near;
    if (!(a <= y)) continue;
    const long double b = static_cast<long double>(y) - a;
    const auto entropy = [](long double v) { return v > 0 ? v * logl(v) - v : 0.0L; };
    const long double star = entropy(b) - entropy(y);
    const long double star_noise = 1e-18L * (std::fabs(entropy(b)) + std::fabs(entropy(y)) + b + y);
    const double conjugate = loss->conjugate(a, y);
    EXPECT_LE(std::fabs(static_cast<double>(conjugate - star)),
              4 * ulp * loss->conjugate_size(a, y, conjugate) + static_cast<double>(star_noise))
        << a << " " << y;
  }
}

TEST(Poisson, RefusesNegativeLabels) {
  const auto loss = make_loss("poisson", Options{});
  EXPECT_NO_THROW(require_target(*loss, 0, 1));
  EXPECT_THROW(require_target(*loss, -1e-9, 1), Error);
  EXPECT_NO_THROW(require_target(*make_loss("squared", Options{}), -1, 1));
}

TEST(LossRegistry, RefusesUnknownNames) {
  EXPECT_THROW(make_loss("hinges", Options{}), Error);
  EXPECT_THROW(make_loss("exponential", Options{}), Error);
  EXPECT_FALSE(is_regression_loss("hinges"));
  EXPECT_FALSE(is_regression_loss(""));
}

TEST(LossRegistry, HoldsTheLossesOfTheReference) {
  for (const char* name : {"logistic", "hinge", "smoothed_hinge", "squared_hinge", "squared", "absolute",
                           "epsilon_insensitive", "squared_epsilon_insensitive"})
    EXPECT_NO_THROW(make_loss(name, Options{})) << name;
}

TEST(LogisticStep, LargeRowsDoNotOscillate) {
  // Plain Newton in the margin never settles at s = 12 and more (a single such row once stalled a whole solve).
  const auto loss = make_loss("logistic", Options{});
  for (double s = 1; s < 1e9; s *= 3)
    for (double b = 0; b <= 1; b += 0.0625)
      for (double m = -60; m <= 60; m += 1.7) {
        const double a = loss->dual_step(m, 1, b, s);
        if (a <= 1e-12 || a >= 1 - 1e-12) continue;
        const double residual = std::log1p(-a) - std::log(a) - m - s * (a - b);
        // The step stops at a relative 1e-9 of Newton's quadratic convergence; an ulp of a shows as ε (1/(a(1−a)) + s).
        EXPECT_NEAR(residual, 0, 4e-16 * (1 / (a * (1 - a)) + s) + 1e-12 * (1 + std::fabs(m)))
            << s << " " << b << " " << m;
      }
}

}  // namespace
}  // namespace margin
