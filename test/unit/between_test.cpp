// The balls between two lambdas, against what their formula says of exact vectors: of all that stored ones allow, none is outside, and
// where nothing is bounded the bound is the formula's own.
#include "core/consequences/between/between.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/random.hpp"
#include "core/certificate/ball.hpp"

namespace margin {
namespace {

using Vector = std::vector<long double>;

/// An end of the path: what a model stores, and the dual point that it stands for.
struct End {
  PathPoint stored;
  Vector dual;
  long double slack = 0;
};

/// `off`: v is as far as that from what is stored, in some direction.
End end_at(Random& random, double lambda, std::size_t d, double slack, double error, long double off) {
  End out;
  out.stored.lambda = lambda;
  DualPoint point;
  point.offset.resize(1, static_cast<Eigen::Index>(d));
  std::vector<double> w(d);
  Vector way(d);
  long double length = 0;
  for (std::size_t j = 0; j < d; ++j) {
    w[j] = 4 * random.uniform() - 2;
    point.offset(0, static_cast<Eigen::Index>(j)) = random.uniform() - 0.5;
    way[j] = random.uniform() - 0.5;
    length += way[j] * way[j];
  }
  point.intercept = Eigen::VectorXd::Zero(1);
  point.slack = {slack};
  point.error = {error};
  out.stored = path_point(lambda, w.data(), static_cast<std::int32_t>(d), 0, 0, point, {});
  out.slack = slack;
  for (std::size_t j = 0; j < d; ++j)
    out.dual.push_back(static_cast<long double>(w[j]) + point.offset(0, static_cast<Eigen::Index>(j)) +
                       off * way[j] / std::sqrt(length));
  return out;
}

/// The ball at a lambda in between, from exact vectors.
struct Exact {
  Vector centre;
  long double radius = 0;
};
Exact exact_at(const End& a, const End& b, long double lambda) {
  const std::size_t d = a.dual.size();
  const long double la = a.stored.lambda, lb = b.stored.lambda, theta = (lambda - la) / (lb - la),
                    t = theta * (1 - theta);
  Exact out;
  long double product = 0, square = 0;
  for (std::size_t j = 0; j < d; ++j) {
    const long double wa = a.stored.weights[j], wb = b.stored.weights[j], za = la * a.dual[j], zb = lb * b.dual[j];
    const long double w = (1 - theta) * wa + theta * wb, v = ((1 - theta) * za + theta * zb) / lambda;
    product += (wa - wb) * (za - zb);
    square += (w - v) * (w - v);
    out.centre.push_back((w + v) / 2);
  }
  const long double slack = (1 - theta) * a.slack + theta * b.slack - t * product;
  out.radius = std::sqrt(std::max(0.0L, slack / lambda + square / 4));
  return out;
}

/// Directions: of the columns, and any.
std::vector<std::vector<double>> rows_of(Random& random, std::size_t d) {
  std::vector<std::vector<double>> rows;
  for (std::size_t j = 0; j < d + 2; ++j) {
    rows.emplace_back(d, 0.0);
    if (j < d)
      rows.back()[j] = 1;
    else
      for (double& v : rows.back()) v = 2 * random.uniform() - 1;
  }
  return rows;
}

TEST(BallBetween, HoldsTheBallsOfAllVectorsThatAreStored) {
  Random random(12);
  for (int trial = 0; trial < 4000; ++trial) {
    const std::size_t d = 1 + random.below(4);
    const double low = std::pow(10.0, -3 * random.uniform()),
                 high = low * (1 + (trial % 3 == 0 ? 0.05 : 4) * random.uniform() + 1e-3);
    // Each term alone, and all of them.
    const auto now = [&](int which, double size) {
      return trial % 6 == which || trial % 6 == 5 ? size * random.uniform() : 0.0;
    };
    const double slack_a = now(0, 1), slack_b = now(1, 1), error_a = now(2, 0.5), error_b = now(3, 0.5);
    const End a = end_at(random, low, d, slack_a, error_a, error_a),
              b = end_at(random, high, d, slack_b, error_b, error_b);
    const BallBetween ball(a.stored, b.stored);
    const double first = low + (high - low) * random.uniform();
    const LambdaRange range{trial % 4 == 0 ? low : first,
                            trial % 4 == 1 ? high : first + (high - first) * (trial % 4 == 2 ? 0 : random.uniform())};
    for (const std::vector<double>& values : rows_of(random, d)) {
      const Row x{values.data(), nullptr, static_cast<std::int32_t>(d), true};
      long double length = 0;
      for (const double v : values) length += static_cast<long double>(v) * v;
      length = std::sqrt(length);
      const EndProducts at_a = products(a.stored, x, 0), at_b = products(b.stored, x, 0);
      for (const double sign : {1.0, -1.0}) {
        const long double bound =
            ball.highest(at_a, at_b, sign, range) + static_cast<long double>(ball.radius(range)) * length;
        for (int k = 0; k <= 4; ++k) {
          const long double lambda = range.low + static_cast<long double>(range.high - range.low) * k / 4;
          const Exact exact = exact_at(a, b, lambda);
          long double score = 0;
          for (std::size_t j = 0; j < d; ++j) score += static_cast<long double>(values[j]) * exact.centre[j];
          const long double highest = sign * score + exact.radius * length;
          ASSERT_GE(bound + 1e-13L * length, highest) << trial << " " << k;
        }
      }
    }
  }
}

TEST(BallBetween, IsTheFormulasWhereNothingIsBounded) {
  Random random(13);
  // In one column all sizes add up, where they have the same sign; at one lambda nothing is the largest of several.
  int tried = 0;
  for (int trial = 0; trial < 6000; ++trial) {
    const double low = std::pow(10.0, -3 * random.uniform()), high = low * (1.01 + 4 * random.uniform());
    const End a = end_at(random, low, 1, random.uniform(), 0, 0), b = end_at(random, high, 1, random.uniform(), 0, 0);
    const double between = a.stored.weights[0] - b.stored.weights[0];
    const double bend = -between * (low * (a.stored.weights[0] + a.stored.offset[0]) -
                                    high * (b.stored.weights[0] + b.stored.offset[0]));
    if (!(bend > 0) || between * a.stored.offset[0] > 0 || between * b.stored.offset[0] > 0) continue;
    ++tried;
    const double lambda = low + (high - low) * random.uniform();
    const BallBetween ball(a.stored, b.stored);
    const Exact exact = exact_at(a, b, lambda);
    EXPECT_NEAR(ball.radius({lambda, lambda}), static_cast<double>(exact.radius),
                1e-8 * static_cast<double>(exact.radius));
    const double one = 1;
    const Row x{&one, nullptr, 1, true};
    const double size = std::fabs(static_cast<double>(exact.centre[0])) + 1;
    EXPECT_NEAR(ball.highest(products(a.stored, x, 0), products(b.stored, x, 0), 1, {lambda, lambda}),
                static_cast<double>(exact.centre[0]), 1e-10 * size);
  }
  EXPECT_GT(tried, 100);
}

/// A loss that is a line where the optima are: they are the points of the dual weights, on the border of each ball.
TEST(BallBetween, TouchesTheOptimaOfALine) {
  for (const double d : {0.1, -0.3, 2.0}) {
    const double low = 1, high = 3;
    const auto end = [&](double lambda) {
      DualPoint point;
      point.offset = Weights::Constant(1, 1, -d);
      point.intercept = Eigen::VectorXd::Zero(1);
      point.slack = point.error = {0};
      const double w = 1 / lambda + d;
      return path_point(lambda, &w, 1, 0, 0, point, {});
    };
    const PathPoint a = end(low), b = end(high);
    const BallBetween ball(a, b);
    const double one = 1;
    const Row x{&one, nullptr, 1, true};
    const EndProducts at_a = products(a, x, 0), at_b = products(b, x, 0);
    for (const double lambda : {1.0, 1.3, 2.0, 2.9, 3.0}) {
      const LambdaRange range{lambda, lambda};
      const double highest = ball.highest(at_a, at_b, 1, range) + ball.radius(range),
                   lowest = -ball.highest(at_a, at_b, -1, range) - ball.radius(range);
      EXPECT_GE(highest + 1e-12, 1 / lambda);
      EXPECT_LE(lowest - 1e-12, 1 / lambda);
      // Above the weights all that the chord adds is on the other side.
      if (d > 0) {
        EXPECT_NEAR(lowest, 1 / lambda, 1e-9);
      }
    }
  }
}

TEST(PathPoint, KeepsItsColumnsAndItsIntercept) {
  DualPoint point;
  point.offset.resize(1, 2);
  point.offset << 0.25, -0.5;
  point.intercept = Eigen::VectorXd::Constant(1, 3.0);
  point.slack = {0.125};
  point.error = {1e-3};
  const double w[] = {1, 2, 3};
  const PathPoint out = path_point(0.5, w, 3, 8, 2, point, {0, 2});
  EXPECT_EQ(out.weights, (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(out.offset, (std::vector<double>{0.25, 0, -0.5, 1.5}));
  EXPECT_EQ(out.slack, 0.125);
  EXPECT_GT(out.error, 1e-3);
  EXPECT_LT(out.error, 1.0001e-3);
  double square = 0, of_dual = 0;
  for (std::size_t j = 0; j < 4; ++j) {
    square += out.weights[j] * out.weights[j];
    of_dual += std::pow(out.weights[j] + out.offset[j], 2);
  }
  EXPECT_GE(out.size, std::sqrt(square) + std::sqrt(of_dual));
  const float x[] = {1, -1, 2};
  const EndProducts products_of = products(out, Row{x, nullptr, 3, false}, 2);
  EXPECT_EQ(products_of.weights, 1 - 2 + 6 + 2 * 4);
  EXPECT_EQ(products_of.dual, products_of.weights + 0.25 - 1 + 3);
}

}  // namespace
}  // namespace margin
