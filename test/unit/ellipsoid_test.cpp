// Ellipsoids around the optimum, of models with the curvature of their objective: they hold the optimum, of the rows of the
// training and of those that are left after changes, which a Newton method of the test's own finds.
#include "core/consequences/where/ellipsoid.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "core/analysis/model_curvature.hpp"
#include "core/analysis/update.hpp"
#include "core/base/error.hpp"
#include "core/train/train.hpp"
#include "risk_problems.hpp"

namespace margin {
namespace {

using testing::make_dataset;
using testing::normal;
using testing::Table;

const char* const losses[] = {"logistic", "squared_hinge", "squared"};

TEST(MeanCurvature, HoldsTheMeanOfEveryWay) {
  Random random(5);
  const Options s;
  for (int trial = 0; trial < 6000; ++trial) {
    const auto loss = make_loss(losses[trial % 3], s);
    const double y = trial % 3 == 2 ? normal(random) : random.below(2) == 0 ? -1 : 1;
    const double u =
        std::pow(10.0, 3 * random.uniform() - 1.5) * (random.below(2) == 0 ? -1 : 1) + (trial % 7 == 0 ? y : 0);
    const double reach = std::pow(10.0, 4 * random.uniform() - 2.5);
    const MeanCurvature h = mean_curvature(*loss, u, y, reach, 0);
    ASSERT_GE(h.spread, 0);
    ASSERT_GE(h.middle * (1 + 1e-6), h.spread);
    ASSERT_LE(h.middle, (trial % 3 == 0 ? 0.25 : 2) * (1 + 1e-6));
    double least = 1e9, most = 0;
    for (int k = -40; k <= 40; ++k) {
      if (k == 0) continue;
      const double way = reach * k / 40, mean = (loss->derivative(u + way, y) - loss->derivative(u, y)) / way;
      const double rounding = 1e-13 / std::fabs(way) * (1 + std::fabs(u) + std::fabs(y) + std::fabs(way));
      EXPECT_LE(mean, h.middle + h.spread + rounding) << losses[trial % 3] << " " << u << " " << reach << " " << way;
      EXPECT_GE(mean, h.middle - h.spread - rounding) << losses[trial % 3] << " " << u << " " << reach << " " << way;
      least = std::min(least, mean);
      most = std::max(most, mean);
    }
    if (trial % 3 == 0 && reach < 0.1) {
      EXPECT_LE(h.spread, reach * h.middle) << u;
    }
    if (trial % 3 == 1) {
      EXPECT_LE(2 * h.spread, most - least + 0.15) << u << " " << reach;
    }
    if (trial % 3 == 2) {
      EXPECT_LE(h.spread, 1e-7);
    }
  }
}

// The score is known to within its rounding: the mean of every way from any score that near is held.
TEST(MeanCurvature, HoldsTheMeanFromEveryScoreWithinTheError) {
  Random random(6);
  const Options s;
  for (int trial = 0; trial < 6000; ++trial) {
    const auto loss = make_loss(losses[trial % 3], s);
    const double y = trial % 3 == 2 ? normal(random) : random.below(2) == 0 ? -1 : 1;
    const double error = std::pow(10.0, -1 - 3 * random.uniform());
    const double reach = error * std::pow(10.0, 3 * random.uniform() - 1);
    // Often at the bend of the squared hinge.
    const double u = trial % 2 == 0 ? y + 3 * error * normal(random) : 4 * normal(random);
    const MeanCurvature h = mean_curvature(*loss, u, y, reach, error);
    for (const double off : {-1.0, -0.5, 0.5, 1.0})
      for (const double share : {-1.0, -0.3, -0.01, 0.01, 0.3, 1.0}) {
        const double from = u + off * error, way = share * reach;
        const double mean = (loss->derivative(from + way, y) - loss->derivative(from, y)) / way;
        const double rounding = 1e-13 / std::fabs(way) * (1 + std::fabs(u) + std::fabs(y));
        EXPECT_LE(mean, h.middle + h.spread + rounding) << losses[trial % 3] << " " << u << " " << error << " " << way;
        EXPECT_GE(mean, h.middle - h.spread - rounding) << losses[trial % 3] << " " << u << " " << error << " " << way;
      }
  }
}

struct Trial {
  Table table;
  Options options;
  int classes = 2;
};

Trial random_trial(Random& random, int trial) {
  Trial out;
  const int loss = trial % 3;
  const bool regression = loss == 2;
  out.classes = regression ? 0 : trial % 5 == 4 ? 3 : 2;
  const std::size_t d = 1 + random.below(6), n = (60 + random.below(120)) * (trial % 10 == 9 ? 4 : 1);
  const bool tails = trial % 4 == 3, zeros = trial % 5 == 2;
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double> x(d);
    for (double& v : x)
      v = normal(random) * (tails && random.below(12) == 0 ? 6 : 1) * (zeros && random.below(3) > 0 ? 0 : 1);
    const int y = static_cast<int>(i) % std::max(1, out.classes);
    if (!regression) x[static_cast<std::size_t>(y) % d] += 0.8;
    out.table.x.push_back(x);
    out.table.y.push_back(regression ? x[0] + 0.5 * normal(random) : y);
    if (trial % 3 == 1) out.table.weight.push_back(0.25 + 2 * random.uniform());
  }
  Options& s = out.options;
  s.loss = losses[loss];
  s.lambda = std::pow(10.0, -3 * random.uniform());
  s.intercept = trial % 7 != 0 && !regression;
  s.intercept_scale = 0.5 + random.uniform();
  if (s.intercept) s.intercept_form = InterceptForm::penalized;
  if (out.classes == 2 && trial % 6 == 1) s.class_weight["1"] = 3;
  s.solver = "newton";
  s.tolerance = trial % 2 == 0 ? 1e-10 : 0.02;
  if (trial % 2 == 1) s.max_iterations = 1 + static_cast<std::int64_t>(random.below(4));
  return out;
}

/// The optimum (w, b/B) of one output, as good as doubles have it; its gradient's norm over λW bounds how far it is off.
struct Reference {
  Eigen::VectorXd z;
  double off = 0, value = 0;
};

Reference reference(const Table& t, const Options& s, int classes, int output) {
  const auto loss = make_loss(s.loss, s);
  const std::size_t d = t.x[0].size();
  const auto n = static_cast<Eigen::Index>(d + (s.intercept ? 1 : 0));
  double total = 0;
  for (std::size_t i = 0; i < t.x.size(); ++i) total += t.weight.empty() ? 1 : t.weight[i];
  const double ridge = *s.lambda * total;
  const auto row = [&](std::size_t i) {
    Eigen::VectorXd x(n);
    for (std::size_t j = 0; j < d; ++j) x(static_cast<Eigen::Index>(j)) = t.x[i][j];
    if (s.intercept) x(n - 1) = s.intercept_scale;
    return x;
  };
  Eigen::VectorXd gradient;
  Eigen::MatrixXd hessian;
  const auto value = [&](const Eigen::VectorXd& z) {
    double sum = ridge / 2 * z.squaredNorm();
    gradient = ridge * z;
    hessian = ridge * Eigen::MatrixXd::Identity(n, n);
    for (std::size_t i = 0; i < t.x.size(); ++i) {
      double c = t.weight.empty() ? 1 : t.weight[i], y = t.y[i];
      if (classes > 0) {
        if (s.class_weight.count("1") > 0 && t.y[i] == 1) c *= 3;
        y = t.y[i] == (classes == 2 ? 1 : output) ? 1 : -1;
      }
      const Eigen::VectorXd x = row(i);
      const double u = x.dot(z);
      sum += c * loss->value(u, y);
      gradient += c * loss->derivative(u, y) * x;
      hessian += c * loss->second_derivative(u, y) * x * x.transpose();
    }
    return sum;
  };
  Reference out;
  out.z = Eigen::VectorXd::Zero(n);
  for (int step = 0; step < 200; ++step) {
    out.value = value(out.z);
    out.off = gradient.norm() / ridge;
    const Eigen::VectorXd way = -hessian.ldlt().solve(gradient);
    const double slope = gradient.dot(way), before = out.value;
    if (out.off < 1e-13 * (1 + out.z.norm())) break;
    double length = 1;
    while (length > 1e-6 && value(out.z + length * way) > before + 1e-4 * length * slope + 1e-13 * before) length /= 2;
    out.z += length * way;
  }
  out.value = value(out.z) / total;
  out.off = gradient.norm() / ridge;
  return out;
}

void change(ModelUpdate& update, const Table& t, std::size_t i, bool regression, bool removed) {
  const double weight = t.weight.empty() ? 1.0 : t.weight[i];
  const Row x{t.x[i].data(), nullptr, static_cast<std::int32_t>(t.x[i].size()), true};
  if (regression)
    update.add(x, t.y[i], weight, removed);
  else
    update.add(x, static_cast<std::int32_t>(t.y[i]), weight, removed);
}

struct Tally {
  int rows = 0, certain = 0, by_ball = 0, held = 0, trials = 0, changed = 0;
  std::vector<double> shares;
};

void check(const Model& m, const Options& s, int classes, const Table& t, int trial, Tally& tally) {
  std::vector<Reference> best;
  for (int o = 0; o < m.outputs(); ++o) best.push_back(reference(t, s, classes, o));
  ScoreIntervals intervals(m, s);
  Model plain = m;
  auto point = std::make_shared<DualPoint>(*m.dual_point);
  point->curvature = nullptr;
  plain.dual_point = std::move(point);
  ScoreIntervals ball(plain, s);
  double value = 0;
  for (const Reference& r : best) value += r.value;
  EXPECT_LE(m.certificate.lower, value * (1 + 1e-10)) << trial << " " << s.loss;
  EXPECT_GE(m.certificate.upper, value * (1 - 1e-10)) << trial << " " << s.loss;
  std::vector<double> lower(3), upper(3), wide_lower(3), wide_upper(3), own(3), at(3);
  ++tally.trials;
  tally.held += m.dual_point->curvature != nullptr;
  for (std::size_t i = 0; i < t.x.size(); ++i) {
    const Row x{t.x[i].data(), nullptr, static_cast<std::int32_t>(t.x[i].size()), true};
    const bool sure = intervals.intervals(x, lower.data(), upper.data());
    const bool ball_sure = ball.intervals(x, wide_lower.data(), wide_upper.data());
    double square = s.intercept ? s.intercept_scale * s.intercept_scale : 0.0;
    for (const double v : t.x[i]) square += v * v;
    for (std::size_t o = 0; o < best.size(); ++o) {
      double u = s.intercept ? best[o].z(best[o].z.size() - 1) * s.intercept_scale : 0;
      for (std::size_t j = 0; j < t.x[i].size(); ++j) u += t.x[i][j] * best[o].z(static_cast<Eigen::Index>(j));
      const double off = best[o].off * std::sqrt(square) + 1e-13 * (1 + std::fabs(u));
      ASSERT_LT(off, 1e-8);
      at[o] = u;
      EXPECT_LE(lower[o], u + off) << trial << " " << s.loss << " row " << i;
      EXPECT_GE(upper[o], u - off) << trial << " " << s.loss << " row " << i;
      if (wide_upper[o] > wide_lower[o])
        tally.shares.push_back((upper[o] - lower[o]) / (wide_upper[o] - wide_lower[o]));
    }
    if (classes == 0) continue;
    score(scorer_of(m), x, m.dimensions, own.data());
    ++tally.rows;
    tally.certain += sure;
    tally.by_ball += ball_sure;
    const bool changed = decide(m.outputs(), own.data()) != decide(m.outputs(), at.data());
    tally.changed += changed;
    EXPECT_FALSE(sure && changed) << trial << " " << s.loss << " row " << i;
    EXPECT_TRUE(sure || !ball_sure);
  }
}

TEST(Ellipsoid, HoldsTheOptimumBeforeAndAfterChanges) {
  Random random(91);
  Tally fresh, after;
  Progress progress;
  for (int trial = 0; trial < 300; ++trial) {
    const Trial given = random_trial(random, trial);
    const Table& t = given.table;
    const Options& s = given.options;
    const bool regression = given.classes == 0;
    const Dataset data = make_dataset(t, !regression, given.classes);
    Model m = train(data, s, progress);
    ASSERT_NE(m.dual_point, nullptr);
    CurvatureOptions wanted;
    wanted.share = trial % 3 == 0 ? 0.2 : 0.04;
    m = with_curvature(std::move(m), data, s, wanted, progress);
    ASSERT_EQ(m.dual_point->curvature->size(), static_cast<std::size_t>(m.outputs()));
    check(m, s, given.classes, t, trial, fresh);
    ModelUpdate update(m, s), rest(m, s);
    Table now;
    for (std::size_t i = 0; i < t.x.size(); ++i) {
      const bool goes = i >= 3 && random.below(trial % 4 == 0 ? 8 : 40) == 0;
      if (goes) change(i % 2 == 0 ? update : rest, t, i, regression, true);
      if (goes) continue;
      now.x.push_back(t.x[i]);
      now.y.push_back(t.y[i]);
      if (!t.weight.empty()) now.weight.push_back(t.weight[i]);
    }
    for (std::uint64_t k = random.below(4); k > 0; --k) {
      const std::size_t i = random.below(t.x.size());
      std::vector<double> x = t.x[i];
      for (double& v : x) v += 0.3 * normal(random);
      now.x.push_back(x);
      now.y.push_back(t.y[random.below(t.x.size())]);
      if (!t.weight.empty()) now.weight.push_back(random.uniform());
      change(update, now, now.x.size() - 1, regression, false);
    }
    if (trial % 4 == 3) {  // one after the other
      const Model between = update.updated(m);
      if (between.dual_point->curvature == nullptr) continue;
      ModelUpdate second(between, s);
      ASSERT_TRUE(second.merge(rest.state()));
      check(second.updated(between), s, given.classes, now, trial, after);
    } else {
      ASSERT_TRUE(update.merge(rest.state()));
      check(update.updated(m), s, given.classes, now, trial, after);
    }
  }
  for (Tally* const tally : {&fresh, &after}) {
    std::nth_element(tally->shares.begin(),
                     tally->shares.begin() + static_cast<std::ptrdiff_t>(tally->shares.size() / 2),
                     tally->shares.end());
    const double median = tally->shares[tally->shares.size() / 2];
    RecordProperty(tally == &fresh ? "fresh" : "after",
                   std::to_string(tally->held) + " of " + std::to_string(tally->trials) + " held, median width " +
                       std::to_string(median) + " of the ball's, certain " + std::to_string(tally->certain) +
                       ", by the ball " + std::to_string(tally->by_ball) + " of " + std::to_string(tally->rows) +
                       ", changed " + std::to_string(tally->changed));
    EXPECT_GT(tally->held, tally->trials / 2);
    EXPECT_LT(median, 0.7);
    EXPECT_GT(tally->certain, tally->by_ball);
    EXPECT_GT(tally->changed, 0) << "some predictions do change";
  }
}

TEST(Ellipsoid, IsRefusedWhereNothingBoundsTheCurvature) {
  Random random(92);
  Progress progress;
  const Trial given = random_trial(random, 0);
  const Dataset data = make_dataset(given.table, true, given.classes);
  const Model m = train(data, given.options, progress);
  Model other = m;
  other.loss = "hinge";
  EXPECT_THROW(require_curvature(other, given.options), Error);
  other.loss = "huber";
  EXPECT_THROW(require_curvature(other, given.options), Error);
  Options s = given.options;
  s.l1_ratio = 0.5;
  EXPECT_THROW(require_curvature(m, s), Error);
  EXPECT_THROW(parse_curvature({{"share", Value{0.0}}}), Error);
  EXPECT_THROW(parse_curvature({{"part", Value{0.5}}}), Error);
  EXPECT_EQ(parse_curvature({{"share", Value{0.5}}}).share, 0.5);
  EXPECT_THROW(with_curvature(m, data, given.options, {}, progress, MemoryBudget(100)), Error);
  // Other rows.
  Table fewer = given.table, moved = given.table;
  fewer.x.pop_back();
  fewer.y.pop_back();
  for (double& v : moved.x[7]) v += 3;
  for (const Table& t : {fewer, moved})
    EXPECT_THROW(with_curvature(m, make_dataset(t, true, given.classes), given.options, {}, progress), Error);
  // A point of another size proves nothing, nor do figures that are no numbers.
  const Model curved = with_curvature(m, data, given.options, {}, progress);
  CurvedPoint point = curved.dual_point->curvature->front();
  const std::vector<double> z = curved_place(m, 0, given.options.intercept ? given.options.intercept_scale : 0.0);
  const double constant = given.options.intercept ? given.options.intercept_scale : 0.0, lambda = *given.options.lambda;
  const Ellipsoid sound(point, z, lambda, constant, progress);
  EXPECT_TRUE(sound.holds());
  // Of a row whose products overflow nothing is known.
  std::vector<double> huge(static_cast<std::size_t>(m.dimensions), 1.7e308);
  for (std::size_t j = 0; j < huge.size(); j += 2) huge[j] = -huge[j];
  double lower = 0, upper = 0;
  sound.score(dense_row(huge.data(), m.dimensions), &lower, &upper, progress);
  EXPECT_EQ(lower, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(upper, std::numeric_limits<double>::infinity());
  EXPECT_FALSE(Ellipsoid(point, std::vector<double>(z.size() + 1), lambda, constant, progress).holds());
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity(), 1e9}) {
    CurvedPoint wrong = point;
    wrong.gradient[0] = bad;
    EXPECT_FALSE(Ellipsoid(wrong, z, lambda, constant, progress).holds()) << bad;
    wrong = point;
    wrong.matrix_error = bad;
    EXPECT_FALSE(Ellipsoid(wrong, z, lambda, constant, progress).holds()) << bad;
    wrong = point;
    wrong.spread[0] = bad;
    EXPECT_FALSE(Ellipsoid(wrong, z, lambda, constant, progress).holds()) << bad;
  }
}

std::vector<double> upper_triangle(const Eigen::MatrixXd& m) {
  std::vector<double> out;
  for (Eigen::Index j = 0; j < m.rows(); ++j)
    for (Eigen::Index k = j; k < m.cols(); ++k) out.push_back(m(j, k));
  return out;
}

/// A random objective of the header, that is its mean Hessian T on the way to the optimum and its gradient e, and a point that
/// knows H, S, K and e up to the errors that it names, spent where they hide most.
struct Hidden {
  CurvedPoint point;
  std::vector<double> z;
  Eigen::VectorXd move;  // d*
  Eigen::MatrixXd metric;
  double lambda = 0, decrease = 0;
};

Hidden hidden(Random& random, int trial) {
  Hidden out;
  const auto n = static_cast<Eigen::Index>(1 + random.below(4));
  const double W = 2 + random.uniform(), ridge = std::pow(10.0, -random.uniform());
  const Eigen::MatrixXd one = Eigen::MatrixXd::Identity(n, n);
  Eigen::MatrixXd H = ridge * one, S = 0 * one, K = 0 * one, T = ridge * one;
  Eigen::VectorXd e(n), way(n), other(n);
  for (Eigen::Index j = 0; j < n; ++j)
    e(j) = normal(random), other(j) = normal(random), out.z.push_back(normal(random));
  const bool sure = trial % 4 == 0;  // losses that do not bend
  for (std::uint64_t i = random.below(6); i > 0; --i) {
    Eigen::VectorXd x(n);
    for (Eigen::Index j = 0; j < n; ++j) x(j) = normal(random);
    const double m = random.uniform(), s = sure ? 0 : m * std::pow(10.0, -2 * random.uniform());
    H += m * x * x.transpose();
    S += s * x * x.transpose();
    K += s * s / m * x * x.transpose();
    T += (m + (random.below(3) > 0 ? -s : s)) * x * x.transpose();
  }
  way = T.ldlt().solve(e);
  const double E = random.below(3) == 0 ? 0 : 0.3 * ridge * random.uniform(),
               D = random.below(3) == 0 ? 0 : 0.2 * e.norm() * random.uniform();
  // What H and S hide makes T smaller than they say, what K hides the way longer.
  const Eigen::VectorXd along = (trial % 2 == 0 ? way : other).normalized();
  const Eigen::MatrixXd off = E * along * along.transpose();
  const std::uint64_t where = random.below(3);
  if (where == 0 && (T - off).llt().info() == Eigen::Success) T -= off;
  const Eigen::MatrixXd given_S = where == 1 ? Eigen::MatrixXd(S - off) : S,
                        given_K = where == 2 ? Eigen::MatrixXd(K - off) : K;
  const Eigen::VectorXd given = e, exact = e + D * (trial % 2 == 0 ? e : other).normalized();
  out.move = -T.ldlt().solve(exact);
  out.metric = (random.below(2) == 0 ? 1 : 0.05 + random.uniform()) * (H - S);
  out.lambda = ridge / W;
  out.decrease = -0.5 * out.move.dot(exact) / W;
  CurvedPoint& p = out.point;
  p.total_weight = W;
  p.matrix_error = E * (1 + 1e-12);
  p.gradient_error = D * (1 + 1e-12);
  p.gradient.assign(given.data(), given.data() + n);
  p.metric = upper_triangle(out.metric);
  p.middle = upper_triangle(H);
  p.spread = upper_triangle(given_S);
  p.bent = upper_triangle(given_K);
  p.reach = std::sqrt(out.move.dot(out.metric * out.move)) * (0.1 + 3.6 * random.uniform());
  return out;
}

// Steps 1 to 4 of the header, held against the objective itself, whose errors are large and where they matter.
TEST(Ellipsoid, HoldsWhateverTheErrorsHide) {
  Random random(93);
  Progress progress;
  int held = 0, near = 0;
  double slackest = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    const Hidden h = hidden(random, trial);
    const Ellipsoid found(h.point, h.z, h.lambda, 0, progress);
    if (!found.holds()) continue;
    ++held;
    const double length = std::sqrt(h.move.dot(h.metric * h.move));
    EXPECT_LE(length, h.point.reach * (1 + 1e-9)) << trial << ": further than N";
    EXPECT_GE(found.decrease(), h.decrease * (1 - 1e-9)) << trial;
    for (int k = 0; k < 3; ++k) {
      const auto n = h.move.size();
      Eigen::VectorXd x(n);
      for (Eigen::Index j = 0; j < n; ++j) x(j) = normal(random);
      if (k == 0) x = h.metric * h.move;
      double lower = 0, upper = 0, score = x.dot(h.move);
      for (Eigen::Index j = 0; j < n; ++j) score += x(j) * h.z[static_cast<std::size_t>(j)];
      found.score(dense_row(x.data(), static_cast<std::int32_t>(n)), &lower, &upper, progress);
      const double rounding = 1e-11 * (1 + x.norm());
      EXPECT_LE(lower, score + rounding) << trial;
      EXPECT_GE(upper, score - rounding) << trial;
      if (h.point.matrix_error == 0 && h.point.gradient_error == 0 && trial % 4 == 0)
        slackest = std::max(slackest, (upper - lower) / (1 + x.norm() * (1 + h.move.norm())));
    }
    near += h.point.reach < 1.5 * length;
  }
  EXPECT_GT(held, 6000);
  EXPECT_GT(near, 20);
  EXPECT_LT(slackest, 1e-5) << "without errors and bends it is a point";
}

// A point of the ellipsoid is one: what is left is the rounding of the score.
TEST(Ellipsoid, ChargesTheRoundingOfScores) {
  Random random(95);
  Progress progress;
  int held = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    CurvedPoint p;
    p.total_weight = 1;
    p.gradient = {0, 0, 0};
    p.metric = p.middle = {1, 0, 0, 1, 0, 1};
    p.spread = p.bent = std::vector<double>(6, 0.0);
    p.reach = 1e-300;
    const std::vector<double> z = {normal(random), normal(random), normal(random)};
    const Ellipsoid found(p, z, 1, 0, progress);
    if (!found.holds()) continue;
    ++held;
    const double x[] = {1e8 * normal(random), 1e8 * normal(random), 0};
    double row[] = {x[0], x[1], -(x[0] * z[0] + x[1] * z[1]) / z[2]}, lower = 0, upper = 0;
    found.score(dense_row(row, 3), &lower, &upper, progress);
    long double score = 0;
    for (int j = 0; j < 3; ++j) score += static_cast<long double>(row[j]) * z[static_cast<std::size_t>(j)];
    EXPECT_LE(lower, score) << trial;
    EXPECT_GE(upper, score) << trial;
  }
  EXPECT_GT(held, 1000);
}

}  // namespace
}  // namespace margin
