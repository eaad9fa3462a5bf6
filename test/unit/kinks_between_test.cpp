// Score bounds between two lambdas by the kinks of the hinge: against optima in between, of trainings that stop early at the ends.
#include "core/consequences/between/kinks_between.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/random.hpp"
#include "core/train/train.hpp"

namespace margin {
namespace {

/// Two clouds whose means differ in one feature; some rows twice, so that more of them than columns are between both ends.
Dataset rows_of(Random& random, std::int64_t rows, std::int32_t features, bool sparse) {
  Dataset data(Dataset::Outcome::classes);
  for (const char* const label : {"no", "yes"}) data.classes().intern(label, 0);
  std::vector<double> x(static_cast<std::size_t>(features));
  while (data.rows() < rows) {
    const auto label = static_cast<std::int32_t>(random.below(2));
    for (double& value : x) value = sparse && random.below(4) > 0 ? 0.0 : 3 * random.uniform() - 1.5;
    x[0] += label == 1 ? 0.6 : -0.4;
    const double weight = 0.5 * static_cast<double>(random.below(4));
    const std::uint64_t times = 1 + random.below(2);
    for (std::uint64_t k = 0; k < times; ++k) data.append(dense_row(x.data(), features), label, weight);
  }
  return data;
}

struct Trained {
  PathPoint point;
  std::vector<double> dual;
};

Trained trained(const Problem& problem, Options options, double lambda, double tolerance, double constant) {
  options.lambda = lambda;
  options.tolerance = tolerance;
  options.solver = "newton";
  options.dual_weights = true;
  const Progress progress;
  const Model model = train(problem.data, options, progress, MemoryBudget{});
  std::vector<double> weights(static_cast<std::size_t>(problem.dimensions()), 0.0);
  for (std::int32_t j = 0; j < model.terms(); ++j)
    weights[static_cast<std::size_t>(model.feature(j))] = model.weights(0, j);
  Trained out;
  out.dual.assign(model.dual_weights->data(), model.dual_weights->data() + model.dual_weights->size());
  out.point = kink_point(problem, constant, lambda, weights.data(),
                         model.intercept.size() > 0 ? model.intercept(0) : 0.0, out.dual, progress);
  return out;
}

TEST(KinksBetween, HoldsTheScoresOfAllOptima) {
  Random random(3);
  const Progress progress;
  std::int64_t wrong = 0;
  double by_kinks = 0, by_balls = 0, moves = 0;
  for (int t = 0; t < 40; ++t) {
    const auto d = static_cast<std::int32_t>(2 + random.below(20));
    const Dataset data = rows_of(random, 60 + static_cast<std::int64_t>(random.below(120)), d, t % 4 == 3);
    Options options;
    options.loss = "hinge";
    options.lambda = 1;
    options.intercept = t % 3 != 0;
    options.intercept_scale = t % 5 == 0 ? 2 : 1;
    const double constant = options.intercept ? options.intercept_scale : 0;
    const Problem problem = make_problem(data, options, {}, progress);
    ASSERT_TRUE(KinksBetween::knows(problem, constant));
    const double from = std::pow(10, -4 + 3 * random.uniform()), ratio = 1 + (t % 2 == 0 ? 0.1 : 1) * random.uniform();
    const double tolerance = std::pow(10, -2 - 6 * random.uniform());
    const Trained a = trained(problem, options, from, tolerance, constant),
                  b = trained(problem, options, from * ratio, tolerance, constant);
    std::vector<double> borders;
    for (int k = 0; k <= 4; ++k) borders.push_back(k < 4 ? from * std::pow(ratio, 0.25 * k) : b.point.lambda);
    const BallBetween ball(a.point, b.point);
    for (const std::size_t half : {0, 2}) {
      const auto first = borders.begin() + static_cast<std::ptrdiff_t>(half);
      KinksBetween kinks(problem, constant, a.point, a.dual, b.point, b.dual, {first, first + 3}, progress);
      std::vector<Trained> optima;
      for (std::size_t r = 0; r < 2; ++r)
        for (const double share : {0.0, 0.4, 0.8})
          optima.push_back(trained(problem, options,
                                   borders[half + r] * std::pow(borders[half + r + 1] / borders[half + r], share),
                                   1e-13, constant));
      for (std::size_t place = 0; place < KinksBetween::group; ++place) {
        const Row x = data.row(static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(data.rows()))));
        double length = constant * constant;
        for (std::int32_t k = 0; k < x.count; ++k) length += x.value(k) * x.value(k);
        kinks.take(place, x);
        kinks.split();
        for (std::size_t r = 0; r < 2; ++r) {
          const double above = kinks.highest(place, 1, r), below = -kinks.highest(place, -1, r);
          by_kinks += above - below;
          by_balls += 2 * std::sqrt(length) * ball.radius({borders[half + r], borders[half + r + 1]});
          double least = 1e300, most = -1e300;
          for (std::size_t k = 3 * r; k < 3 * r + 3; ++k) {
            const double score = products(optima[k].point, x, constant).weights;
            wrong += score > above + 1e-5 || score < below - 1e-5;
            least = std::min(least, score), most = std::max(most, score);
          }
          moves += most - least;
        }
      }
    }
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(moves, 0);
  EXPECT_LT(by_kinks, 0.8 * by_balls) << moves;
}

/// The bounds of a row are those of the same row in other units, also where its square vanishes.
TEST(KinksBetween, HoldsForRowsWhoseSquaresVanish) {
  Random random(5);
  const Progress progress;
  const double small = std::ldexp(1.0, -560);
  std::int64_t wrong = 0;
  for (int t = 0; t < 10; ++t) {
    const Dataset data = rows_of(random, 80, 3, false);
    Options options;
    options.loss = "hinge";
    options.lambda = 1;
    options.intercept = false;
    const Problem problem = make_problem(data, options, {}, progress);
    const Trained a = trained(problem, options, 0.01, 0.1, 0), b = trained(problem, options, 0.02, 0.1, 0),
                  best = trained(problem, options, 0.015, 1e-12, 0);
    KinksBetween kinks(problem, 0, a.point, a.dual, b.point, b.dual, {0.01, 0.02}, progress);
    for (std::int64_t i = 0; i < 40; ++i) {
      const Row x = data.row(i);
      double values[3];
      for (std::int32_t j = 0; j < 3; ++j) values[j] = small * x.value(j);
      kinks.take(0, Row{values, nullptr, 3, true});
      kinks.split();
      const double score = small * (products(best.point, x, 0).weights);
      wrong += score > kinks.highest(0, 1, 0) + 1e-5 * small || -score > kinks.highest(0, -1, 0) + 1e-5 * small;
    }
  }
  EXPECT_EQ(wrong, 0);
}

TEST(KinksBetween, BringsDualWeightsIntoTheirDomain) {
  Random random(4);
  const Progress progress;
  const Dataset data = rows_of(random, 30, 3, false);
  Options options;
  options.loss = "hinge";
  options.lambda = 0.1;
  const Problem problem = make_problem(data, options, {}, progress);
  std::vector<double> dual(static_cast<std::size_t>(data.rows()));
  for (std::size_t i = 0; i < dual.size(); ++i) dual[i] = 6 * random.uniform() - 3;
  dual[0] = std::nan("");
  const double weights[] = {0.1, -0.2, 0.3};
  const PathPoint point = kink_point(problem, 1, 0.1, weights, 0.5, dual, progress);
  for (std::size_t i = 0; i < dual.size(); ++i) {
    const double inside = dual[i] * problem.target(static_cast<std::int64_t>(i), 0);
    EXPECT_TRUE(inside >= 0 && inside <= 1);
  }
  // P − D − (λ/2)‖w − v‖², all three from their definitions.
  double primal = 0, dual_value = 0, apart = 0;
  for (std::size_t j = 0; j < 4; ++j) {
    const double w = point.weights[j], v = w + point.offset[j];
    primal += 0.05 * w * w;
    dual_value -= 0.05 * v * v;
    apart += 0.05 * (w - v) * (w - v);
  }
  for (std::int64_t i = 0; i < data.rows(); ++i) {
    const double c = problem.weight(i) / problem.total_weight, y = problem.target(i, 0);
    primal += c * std::max(0.0, 1 - y * products(point, data.row(i), 1).weights);
    dual_value += c * dual[static_cast<std::size_t>(i)] * y;
  }
  EXPECT_NEAR(point.slack, primal - dual_value - apart, 1e-9);
}

/// Two rows, of which one is at its kink, or near, and the other only pulls: what is optimal is known on paper.
struct Pulled {
  Dataset data{Dataset::Outcome::classes};
  Options options;

  Pulled(double weight, double pull, std::vector<double> by) {
    for (const char* const label : {"no", "yes"}) data.classes().intern(label, 0);
    const double x[2] = {1, 0};
    data.append(dense_row(x, 2), 1, weight);
    data.append(dense_row(by.data(), 2), 1, pull);
    data.append(dense_row(x, 2), 0, 0);  // of the other class, without a weight
    options.loss = "hinge";
    options.intercept = false;
  }
  /// At weights w and this dual value of the first row; the second one's is 1, its score being below its kink.
  PathPoint point(const Problem& problem, double lambda, std::vector<double> w, double beta,
                  std::vector<double>& dual) const {
    dual = {beta, 1, 0};
    return kink_point(problem, 0, lambda, w.data(), 0, dual, Progress());
  }
};

/// One row at its kink, w* = 1: with any dual value the other one's slack is 0 there, and w* is on the edge of the ball.
TEST(BallBetween, IsAsWideAsItMustBe) {
  Pulled rows(1, 0, {0, 0});
  rows.options.lambda = 0.5;
  const Problem problem = make_problem(rows.data, rows.options);
  std::vector<double> dual;
  const PathPoint a = rows.point(problem, 0.5, {1, 0}, 0.9, dual), b = rows.point(problem, 1, {1, 0}, 0.9, dual);
  const BallBetween ball(a, b);
  const double x[2] = {1, 0};
  const Row row = dense_row(x, 2);
  const LambdaRange range{0.5, 0.5};
  const double above = ball.highest(products(a, row, 0), products(b, row, 0), -1, range) + ball.radius(range);
  EXPECT_GE(above, -1 - 1e-12);
  EXPECT_LE(above, -1 + 1e-6);  // no wider
  EXPECT_NEAR(ball.radius(range), 0.4, 1e-6);
}

/// λ = m = 0.02 and w* = (2.75, 0.4), at which the row is above its kink. Kink and ball are used up by what is between: what the
/// bound of a row has from its rest besides the kink is needed.
TEST(KinksBetween, TheRestOfARowCounts) {
  constexpr double lambda = 0.02;
  Pulled rows(0.1, 0.9, {2.75 * lambda / 0.9, 0.4 * lambda / 0.9});
  rows.options.lambda = lambda;
  const Problem problem = make_problem(rows.data, rows.options);
  std::vector<double> dual_a, dual_b;
  const double next = lambda * (1 + 1e-12);
  const PathPoint a = rows.point(problem, lambda, {1.15, -0.4}, 0.2, dual_a),
                  b = rows.point(problem, 2 * lambda, {1.15, -0.4}, 0.2, dual_b);
  const Progress progress;
  KinksBetween of(problem, 0, a, dual_a, b, dual_b, {lambda, next}, progress);
  // Between what is on paper and the ball, which knows no kink.
  const BallBetween ball(a, b);
  for (const double rest : {0.0, 0.1, 0.236, 0.5}) {
    const double x[2] = {1, rest};
    const Row row = dense_row(x, 2);
    of.take(0, row);
    of.split();
    const double score = 2.75 + 0.4 * rest, highest = of.highest(0, 1, 0);
    EXPECT_GE(highest, score - 1e-9) << rest;
    const LambdaRange range{lambda, next};
    EXPECT_LE(highest, score + 0.25) << rest;
    EXPECT_LE(highest, ball.highest(products(a, row, 0), products(b, row, 0), 1, range) +
                           ball.radius(range) * std::hypot(1, rest) * (1 + 1e-6));
  }
}

}  // namespace
}  // namespace margin
