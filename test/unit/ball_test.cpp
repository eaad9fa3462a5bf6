// Where a certificate proves the optimum to be, and which predictions that makes certain: nothing may be otherwise there.
#include "core/certificate/ball.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/analysis/model_ball.hpp"
#include "core/analysis/update.hpp"
#include "core/base/error.hpp"
#include "core/train/train.hpp"
#include "risk_problems.hpp"

namespace margin {
namespace {

using testing::make_dataset;
using testing::make_table;
using testing::normal;
using testing::Table;

Table blobs(Random& random, int n, int classes) {
  Table t;
  for (int i = 0; i < n; ++i) {
    const int y = i % classes;
    std::vector<double> x(4);
    for (double& v : x) v = normal(random);
    x[static_cast<std::size_t>(y)] += 1.5;
    t.x.push_back(x);
    t.y.push_back(y);
  }
  return t;
}

std::vector<bool> certain_rows(const Model& m, const Dataset& data, const Options& s) {
  Ball ball(objective_of(m, s), m.weights.data(), m.intercept.data(), m.certificate.gap, m.dual_point.get());
  std::vector<bool> out;
  for (std::int64_t i = 0; i < data.rows(); ++i) out.push_back(ball.certain(data.row(i)));
  return out;
}

std::vector<int> predictions(const Model& m, const Dataset& data) {
  const Scorer scorer = scorer_of(m);
  std::vector<double> scores(static_cast<std::size_t>(scorer.outputs));
  std::vector<int> out;
  for (std::int64_t i = 0; i < data.rows(); ++i) {
    score(scorer, data.row(i), scorer.dimensions, scores.data());
    out.push_back(decide(scorer.outputs, scores.data()));
  }
  return out;
}

TEST(Ball, CertainPredictionsAgreeWithTheOptimumAndGrowWithPrecision) {
  Random random(31);
  Progress progress;
  int loose_rows = 0, tight_rows = 0, rows = 0, uncertain_changes = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const int classes = trial % 3 == 0 ? 3 : 2;
    const Table t = trial % 4 == 3 ? make_table(random, trial % 8, true, classes) : blobs(random, 120, classes);
    const Dataset data = make_dataset(t, true, classes);
    Options s;
    s.loss = trial % 2 == 0 ? "hinge" : "logistic";
    s.lambda = std::pow(10.0, -2.5 * random.uniform() - 0.5);
    s.intercept = trial % 5 != 0;
    s.intercept_scale = 1 + random.uniform();
    s.l1_ratio = trial % 7 == 0 ? 0.3 : 0.0;
    s.solver = "sdca";
    s.tolerance = 0.05;
    const Model loose = train(data, s, progress);
    s.tolerance = 1e-10;
    s.max_iterations = 200000;
    const Model tight = train(data, s, progress);
    const std::vector<bool> a = certain_rows(loose, data, s), b = certain_rows(tight, data, s);
    const std::vector<int> at_loose = predictions(loose, data), at_optimum = predictions(tight, data);
    for (std::size_t i = 0; i < a.size(); ++i) {
      EXPECT_TRUE(!(a[i] && b[i]) || at_loose[i] == at_optimum[i]) << trial << " " << i;
      uncertain_changes += at_loose[i] != at_optimum[i];
      loose_rows += a[i];
      tight_rows += b[i];
      ++rows;
    }
  }
  EXPECT_LT(loose_rows, tight_rows);
  EXPECT_GT(loose_rows, rows / 20) << "a bound that says nothing";
  EXPECT_GT(tight_rows, 9 * rows / 10);
  EXPECT_GT(uncertain_changes, 0) << "some predictions do change";
}

/// √(2·gap) = r: a ball of this radius around the weights, for lambda 1.
double gap_of(double radius) { return radius * radius / 2; }

TEST(Ball, AdmitsTheWorstMove) {
  // Weights (3, 4), no intercept: a move of length r changes the score of x by at most r‖x‖, reached along x.
  const double w[] = {3, 4}, none[] = {0};
  Objective o;
  o.dimensions = 2;
  o.lambda = 1;
  o.intercept = false;
  const float x[] = {1, 0};  // score 3
  const Row row{x, nullptr, 2, false};
  EXPECT_TRUE(Ball(o, w, none, gap_of(2.999), nullptr).certain(row));
  EXPECT_FALSE(Ball(o, w, none, gap_of(3), nullptr).certain(row));
  double lower = 0, upper = 0;
  Ball(o, w, none, gap_of(1), nullptr).scores(row, &lower, &upper);
  EXPECT_LE(lower, 2);
  EXPECT_NEAR(lower, 2, 1e-12);
  EXPECT_GE(upper, 4);
  EXPECT_NEAR(upper, 4, 1e-12);
  o.intercept = true;
  o.intercept_scale = 2;  // the constant feature counts: ‖(x, B)‖ = √5
  EXPECT_TRUE(Ball(o, w, none, gap_of(2.999 / std::sqrt(5)), nullptr).certain(row));
  EXPECT_FALSE(Ball(o, w, none, gap_of(3.001 / std::sqrt(5)), nullptr).certain(row));
  // Two outputs share one distance: the lead of 3 falls by √2·r‖x‖ at most.
  const double pair[] = {3, 4, 0, 0}, zeros[] = {0, 0};
  o.intercept_scale = 0;
  o.task = Task::multiclass;
  o.classes = 2;
  EXPECT_TRUE(Ball(o, pair, zeros, gap_of(2.999 / std::sqrt(2)), nullptr).certain(row));
  EXPECT_FALSE(Ball(o, pair, zeros, gap_of(3.001 / std::sqrt(2)), nullptr).certain(row));
  EXPECT_FALSE(Ball(o, pair, zeros, std::numeric_limits<double>::infinity(), nullptr).certain(row));
}

TEST(Ball, LiesBetweenTheWeightsAndTheDualPoint) {
  // P = (w − 1)² / 2 + w²/2 over one feature: w* = 1/2. At w = 0 and a = 1: v = 1, gap = P − D = 1/2 + 0 = 1/2.
  Objective o;
  o.dimensions = 1;
  o.lambda = 1;
  o.intercept = false;
  const double w[] = {0};
  DualPoint point;
  point.offset = Weights::Constant(1, 1, 1.0);
  point.intercept = Eigen::VectorXd::Zero(1);
  point.slack = {0};
  point.error = {0};
  Ball ball(o, w, nullptr, 0.5, &point);
  EXPECT_NEAR(ball.radius(0), 0.5, 1e-12);
  const float x[] = {1};
  double lower = 0, upper = 0;
  ball.scores({x, nullptr, 1, false}, &lower, &upper);
  EXPECT_NEAR(lower, 0, 1e-12);
  EXPECT_NEAR(upper, 1, 1e-12);
  EXPECT_NEAR(ball.distance(), 1, 1e-12);
  point.error = {0.25};  // v is within 3/4 and 5/4: the ball grows
  EXPECT_GT(Ball(o, w, nullptr, 0.5, &point).radius(0), 0.62);
}

TEST(Ball, DistancesDoNotVanish) {
  EXPECT_GT(ball_radius(1e-200, 1e200, 0), 0);
  EXPECT_EQ(ball_radius(0, 1e200, 0), 0);
  EXPECT_NEAR(ball_radius(2e-200, 0.5e-300, 0) / 2e50, 1, 1e-9);
  EXPECT_EQ(ball_radius(1, 0, 0), std::numeric_limits<double>::infinity());
}

/// What a random problem is trained with, early stopped or not; `far`: its optimum, as good as it gets.
struct Trained {
  Table table;
  Dataset data;
  Options options;
  Model model, far;
};

/// `updates`: of a kind that margin_update takes, and whose objective has the same centre whatever the rows.
std::optional<Trained> random_training(Random& random, int trial, bool updates = false) {
  const std::string loss(loss_names()[static_cast<std::size_t>(trial) % loss_names().size()]);
  const bool regression = is_regression_loss(loss);
  const int classes = regression ? 0 : trial % 4 == 0 ? 3 : 2;
  Table t = testing::labels_for(loss, make_table(random, trial / 3 % 8, !regression, classes));
  if (trial % 3 == 1)
    for (int i = 0; i < t.rows(); ++i) t.weight.push_back(0.25 + 2 * random.uniform());
  Options s;
  s.loss = loss;
  s.lambda = std::pow(10.0, -2.5 * random.uniform());
  s.intercept = trial % 5 != 0 && !(updates && regression);
  s.intercept_scale = 0.5 + random.uniform();
  if (s.intercept && (updates || trial % 13 != 5)) s.intercept_form = InterceptForm::penalized;
  const bool elastic = !regression && !updates && trial % 7 == 0;
  if (elastic) s.l1_ratio = 0.3;
  if (!elastic && !updates && trial % 11 == 3 && classes > 0 && (loss == "hinge" || loss == "logistic"))
    s.multiclass = Multiclass::joint;
  if (classes == 2 && trial % 6 == 5) s.class_weight["1"] = 3;
  const bool newton = trial % 2 == 0 && !elastic && s.multiclass != Multiclass::joint;
  s.solver = s.multiclass == Multiclass::joint ? "auto" : newton ? "newton" : "sdca";
  s.max_iterations = 1 + static_cast<std::int64_t>(random.below(newton ? 4 : 30));
  s.tolerance = 1e-9;
  Progress progress;
  Trained out{t, make_dataset(t, !regression, classes), s, {}, {}};
  out.model = train(out.data, s, progress);
  s.tolerance = 1e-13;
  s.max_iterations = elastic ? 20000 : 2000;
  if (!elastic) s.solver = "auto";
  out.far = train(out.data, s, progress);
  if (!(out.far.certificate.relative_gap < 1e-9)) return std::nullopt;
  return out;
}

TEST(Ball, HoldsTheOptimumOfEveryLoss) {
  Random random(77);
  int checked = 0, with_point = 0;
  std::vector<double> shares;
  for (int trial = 0; trial < 396; ++trial) {
    const auto trained = random_training(random, trial);
    if (!trained.has_value()) continue;
    const Model &m = trained->model, &best = trained->far;
    const Options& s = trained->options;
    Ball ball(objective_of(m, s), m.weights.data(), m.intercept.data(), m.certificate.gap, m.dual_point.get());
    Ball around(objective_of(m, s), m.weights.data(), m.intercept.data(), m.certificate.gap, nullptr);
    // The reference is the optimum up to the radius of its own ball.
    Ball own(objective_of(best, s), best.weights.data(), best.intercept.data(), best.certificate.gap, nullptr);
    const double slip = own.distance();
    with_point += m.dual_point != nullptr;
    EXPECT_LE(ball.distance(), around.distance() * (1 + 1e-6)) << trial;
    std::vector<double> lower(3), upper(3), at(3);
    if (around.distance() > 0) shares.push_back(ball.radius(0) / around.distance());
    for (int i = 0; i < trained->table.rows() && !s.free_intercept(); ++i) {
      const Row x = trained->data.row(i);
      ball.scores(x, lower.data(), upper.data());
      score(scorer_of(best), x, best.dimensions, at.data());
      double square = s.intercept ? s.intercept_scale * s.intercept_scale : 0.0;
      for (const double v : trained->table.x[static_cast<std::size_t>(i)]) square += v * v;
      const double off = slip * std::sqrt(square) * (1 + 1e-9) + 1e-300;
      for (std::int32_t o = 0; o < m.outputs(); ++o) {
        const auto p = static_cast<std::size_t>(o);
        EXPECT_GE(at[p], lower[p] - off) << trial << " " << m.loss << " row " << i;
        EXPECT_LE(at[p], upper[p] + off) << trial << " " << m.loss << " row " << i;
        ++checked;
      }
    }
    // The weights themselves.
    double square = 0;
    for (Eigen::Index o = 0; o < m.weights.rows(); ++o) {
      square += (m.weights.row(o) - best.weights.row(o)).squaredNorm();
      if (s.intercept && !s.free_intercept())
        square += std::pow((m.intercept(o) - best.intercept(o)) / s.intercept_scale, 2);
    }
    EXPECT_LE(std::sqrt(square), ball.distance() + slip + 1e-12 * best.weights.norm()) << trial << " " << m.loss;
  }
  EXPECT_GT(checked, 5000);
  EXPECT_GT(with_point, 300);
  std::nth_element(shares.begin(), shares.begin() + static_cast<std::ptrdiff_t>(shares.size() / 2), shares.end());
  EXPECT_LT(shares[shares.size() / 2], 0.75);
  RecordProperty("median_share_of_radius", std::to_string(shares[shares.size() / 2]));
}

TEST(GapAt, HoldsTheOptimumOfAnotherLambda) {
  Random random(78);
  int checked = 0, near = 0, narrow = 0;
  for (int trial = 0; trial < 330; ++trial) {
    auto trained = random_training(random, trial);
    if (!trained.has_value() || trained->options.l1_ratio > 0) continue;
    Options s = trained->options;
    const double lambda = *s.lambda,
                 other = lambda * std::pow(10.0, (trial % 3 == 0 ? 0.04 : 4) * (random.uniform() - 0.5));
    const Model& m = trial % 2 == 0 ? trained->model : trained->far;
    IntervalAt at = gap_at(m, s, other);
    const IntervalAt same = gap_at(m, s, lambda);
    EXPECT_GE(same.upper, m.certificate.upper) << trial;
    // A multiple of the dual weights may prove more.
    EXPECT_GE(same.lower, m.certificate.lower - 1e-7 * m.certificate.upper) << trial << " " << m.loss;
    Model without = m;
    without.dual_point = nullptr;
    const IntervalAt blind = gap_at(without, s, other);
    s.lambda = other;
    s.solver = "auto";
    s.tolerance = 1e-12;
    s.max_iterations = 2000;
    Progress progress;
    const Model best = train(trained->data, s, progress);
    for (const IntervalAt& interval : {at, blind}) {
      EXPECT_LE(interval.lower, best.certificate.upper) << trial << " " << m.loss;
      EXPECT_GE(interval.upper, best.certificate.lower) << trial << " " << m.loss;
    }
    EXPECT_GE(at.lower, blind.lower - 1e-9 * at.upper) << trial << " " << m.loss;
    ++checked;
    if (std::fabs(std::log(other / lambda)) > 0.1 || trial % 2 == 0) continue;
    ++near;
    narrow += at.upper - at.lower < 0.05 * at.upper;
  }
  EXPECT_GT(checked, 250);
  EXPECT_GT(near, 30);
  EXPECT_GE(narrow, near * 3 / 4) << "an interval that says little beside its own lambda";
}

TEST(GapAt, RefusesWhatItCannotKnow) {
  Random random(79);
  auto trained = random_training(random, 1);
  ASSERT_TRUE(trained.has_value());
  Options s = trained->options;
  EXPECT_THROW(gap_at(trained->model, s, 0), Error);
  EXPECT_THROW(gap_at(trained->model, s, std::numeric_limits<double>::infinity()), Error);
  s.l1_ratio = 0.5;
  EXPECT_THROW(gap_at(trained->model, s, 1), Error);
  s.l1_ratio = 0;
  s.standardize = true;
  EXPECT_THROW(gap_at(trained->model, s, 1), Error);
  EXPECT_THROW(ScoreIntervals(trained->model, s), Error);
  s.standardize = false;
  s.intercept_form = InterceptForm::free;
  s.intercept = true;
  EXPECT_THROW(ScoreIntervals(trained->model, s), Error);
  Model hard = trained->model;
  hard.lambda.reset();
  EXPECT_THROW(ScoreIntervals(hard, trained->options), Error);
}

TEST(ScoreIntervals, TakeRowsOfWideModelsInTheirColumns) {
  Random random(80);
  auto trained = random_training(random, 1);
  ASSERT_TRUE(trained.has_value());
  Model m = trained->model, wide = trained->model;
  const std::int32_t d = m.dimensions;
  for (std::int32_t j = 0; j < d; ++j) wide.columns.push_back(10 * j + 3);
  wide.dimensions = 5000;
  ScoreIntervals own(m, trained->options), other(wide, trained->options);
  for (int i = 0; i < trained->table.rows(); ++i) {
    std::vector<double> values = trained->table.x[static_cast<std::size_t>(i)];
    double lower = 0, upper = 0, wide_lower = 0, wide_upper = 0;
    own.intervals(dense_row(values.data(), d), &lower, &upper);
    values.push_back(1e6);  // of a feature that no training row had: the optimum gives it the weight 0
    std::vector<std::int32_t> indices = wide.columns;
    indices.push_back(4000);
    other.intervals({values.data(), indices.data(), d + 1, true}, &wide_lower, &wide_upper);
    EXPECT_NEAR(lower, wide_lower, 1e-12 * (1 + std::fabs(lower)));
    EXPECT_NEAR(upper, wide_upper, 1e-12 * (1 + std::fabs(upper)));
    std::vector<double> all(5000, 0.0);
    for (std::size_t j = 0; j < indices.size(); ++j) all[static_cast<std::size_t>(indices[j])] = values[j];
    double dense_lower = 0, dense_upper = 0;
    other.intervals(dense_row(all.data(), 5000), &dense_lower, &dense_upper);
    EXPECT_EQ(dense_lower, wide_lower);
    EXPECT_EQ(dense_upper, wide_upper);
  }
}

/// A row of a table with its weight, to or from a model.
void change(ModelUpdate& update, const Table& t, std::size_t i, bool regression, bool removed) {
  const double weight = t.weight.empty() ? 1.0 : t.weight[i];
  const Row x = dense_row(t.x[i].data(), t.dimensions());
  if (regression)
    update.add(x, t.y[i], weight, removed);
  else
    update.add(x, static_cast<std::int32_t>(t.y[i]), weight, removed);
}

TEST(ModelUpdate, HoldsTheOptimumOfTheRowsThatAreLeft) {
  Random random(81);
  int checked = 0, certain = 0, rows = 0;
  std::vector<double> gaps;
  for (int trial = 0; trial < 396; ++trial) {
    const auto trained = random_training(random, trial, true);
    if (!trained.has_value()) continue;
    const Model& m = trial % 2 == 0 ? trained->far : trained->model;
    ASSERT_NE(m.dual_point, nullptr) << trial << " " << m.loss;
    const Options& s = trained->options;
    const bool regression = m.regression();
    const Table& t = trained->table;
    ModelUpdate update(m, s), rest(m, s);
    Table now;
    const std::size_t classes = m.classes.size();
    for (std::size_t i = 0; i < t.x.size(); ++i) {
      const bool goes = i >= classes && random.below(trial % 3 == 0 ? 3 : 12) == 0;  // the first of each class stay
      if (goes) change(i % 2 == 0 ? update : rest, t, i, regression, true);
      if (goes) continue;
      now.x.push_back(t.x[i]);
      now.y.push_back(t.y[i]);
      if (!t.weight.empty()) now.weight.push_back(t.weight[i]);
    }
    for (std::uint64_t k = random.below(3); k > 0; --k) {
      const std::size_t i = random.below(static_cast<std::uint64_t>(t.rows()));
      std::vector<double> x = t.x[i];
      for (double& v : x) v += 0.3 * normal(random);
      now.x.push_back(x);
      now.y.push_back(t.y[random.below(static_cast<std::uint64_t>(t.rows()))]);
      if (!t.weight.empty()) now.weight.push_back(random.uniform());
      change(update, now, now.x.size() - 1, regression, false);
    }
    Model after;
    if (trial % 4 == 3) {  // one after the other
      Model between = update.updated(m);
      if (between.dual_point == nullptr) continue;
      ModelUpdate second(between, s);
      ASSERT_TRUE(second.merge(rest.state()));
      after = second.updated(between);
    } else {
      ASSERT_TRUE(update.merge(rest.state()));
      after = update.updated(m);
    }
    EXPECT_EQ(*after.rows, now.rows()) << trial;
    const Dataset data = make_dataset(now, !regression, static_cast<int>(classes));
    Options far = s;
    far.solver = "auto";
    far.tolerance = 1e-13;
    far.max_iterations = 2000;
    Progress progress;
    const Model best = train(data, far, progress);
    const double size = best.certificate.upper;
    EXPECT_LE(after.certificate.lower, best.certificate.upper) << trial << " " << m.loss;
    EXPECT_GE(after.certificate.upper, best.certificate.lower) << trial << " " << m.loss;
    if (after.dual_point != nullptr) {
      // What was stored of a chain says the same at its own lambda, and nearly the same next to it.
      const IntervalAt own = gap_at(after, s, *s.lambda), near = gap_at(after, s, *s.lambda * (1 + 1e-9));
      EXPECT_EQ(own.upper, after.certificate.upper) << trial << " " << m.loss;
      EXPECT_GE(own.lower, std::max(0.0, after.certificate.lower)) << trial << " " << m.loss;
      EXPECT_LE(own.lower, best.certificate.upper) << trial << " " << m.loss;
      EXPECT_LE(near.lower, best.certificate.upper * (1 + 1e-9)) << trial << " " << m.loss;
      EXPECT_GE(near.lower, own.lower - 1e-8 * own.upper) << trial << " " << m.loss;
    }
    if (after.dual_point == nullptr || !(best.certificate.gap < 1e-9 * size)) continue;
    // The upper end is the value of the old weights over the rows that are left.
    const Problem p = make_problem(data, far);
    EXPECT_NEAR(after.certificate.upper, certify(p, m.weights, m.intercept, Weights(0, 0)).upper,
                1e-9 * (1 + after.certificate.upper) + 1.01 * m.certificate.gap)
        << trial << " " << m.loss;
    const double slip = std::sqrt(2 * best.certificate.gap / convexity(objective_of(best, s)));
    ScoreIntervals intervals(after, s);
    std::vector<double> lower(3), upper(3), at(3), own(3);
    for (const Table* table : {&t, static_cast<const Table*>(&now)})
      for (std::size_t i = 0; i < table->x.size(); ++i) {
        const Row x = dense_row(table->x[i].data(), table->dimensions());
        const bool sure = intervals.intervals(x, lower.data(), upper.data());
        score(scorer_of(best), x, best.dimensions, at.data());
        score(scorer_of(m), x, m.dimensions, own.data());
        double square = s.intercept ? s.intercept_scale * s.intercept_scale : 0.0;
        for (const double v : table->x[i]) square += v * v;
        const double off = slip * std::sqrt(square) + 1e-300;
        for (std::size_t o = 0; o < static_cast<std::size_t>(m.outputs()); ++o) {
          EXPECT_GE(at[o], lower[o] - off) << trial << " " << m.loss;
          EXPECT_LE(at[o], upper[o] + off) << trial << " " << m.loss;
        }
        ++checked;
        if (regression) continue;
        ++rows;
        certain += sure;
        if (sure && off < 1e-6) {
          EXPECT_EQ(decide(m.outputs(), at.data()), decide(m.outputs(), own.data())) << trial;
        }
      }
    gaps.push_back(after.certificate.relative_gap);
  }
  EXPECT_GT(checked, 5000);
  EXPECT_GT(certain, rows / 10) << "a ball that says nothing";
  std::nth_element(gaps.begin(), gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2), gaps.end());
  RecordProperty("median_relative_gap", std::to_string(gaps[gaps.size() / 2]));
  RecordProperty("certain", std::to_string(static_cast<double>(certain) / rows));
  EXPECT_LT(gaps[gaps.size() / 2], 0.8);
}

/// What one update rounds up is in the upper end that the next one begins with. With a lambda as large as this every row of
/// the hinge is within its slope, and the optimum is known: 1 − ‖Σ y x/W‖²/(2 lambda).
TEST(ModelUpdate, HoldsTheOptimumAfterManyUpdates) {
  Random random(41);
  const Progress progress;
  for (int trial = 0; trial < 20; ++trial) {
    const std::size_t d = 1 + random.below(20), n = 6 + random.below(20);
    Table t;
    const auto row = [&] {
      std::vector<double> x(d);
      for (double& v : x) v = normal(random);
      return x;
    };
    for (std::size_t i = 0; i < n; ++i) {
      t.x.push_back(row());
      t.y.push_back(i < 2 ? static_cast<double>(i) : static_cast<double>(random.below(2)));
    }
    Options s;
    s.loss = "hinge";
    s.lambda = 1e12;
    s.intercept = false;
    Model m = train(make_dataset(t, true), s, progress);
    for (int round = 0; round < 6; ++round) {
      ModelUpdate update(m, s);
      t.x.push_back(row());
      t.y.push_back(static_cast<double>(random.below(2)));
      update.add(dense_row(t.x.back().data(), static_cast<std::int32_t>(d)), static_cast<std::int32_t>(t.y.back()), 1,
                 false);
      if (round % 2 == 1) {
        update.add(dense_row(t.x[2].data(), static_cast<std::int32_t>(d)), static_cast<std::int32_t>(t.y[2]), 1, true);
        t.x.erase(t.x.begin() + 2);
        t.y.erase(t.y.begin() + 2);
      }
      m = update.updated(m);
      long double square = 0;
      for (std::size_t j = 0; j < d; ++j) {
        long double sum = 0;
        for (std::size_t i = 0; i < t.x.size(); ++i) sum += static_cast<long double>(t.x[i][j]) * (2 * t.y[i] - 1);
        square += sum * sum;
      }
      const auto rows = static_cast<long double>(t.x.size());
      const long double optimum = 1 - square / (rows * rows) / 2e12L;
      EXPECT_LE(m.certificate.lower, optimum) << "trial " << trial << ", update " << round;
      EXPECT_GE(m.certificate.upper, optimum) << "trial " << trial << ", update " << round;
      EXPECT_LT(m.certificate.gap, 1e-9);
    }
  }
}

/// What is left of W after the heaviest row went has lost digits, whatever the losses of the rows that stay.
TEST(ModelUpdate, HoldsTheOptimumWhereMostOfTheWeightGoes) {
  Random random(43);
  const Progress progress;
  for (int trial = 0; trial < 200; ++trial) {
    Table t;
    for (int i = 0; i < 6; ++i) {
      t.x.push_back({normal(random)});
      t.y.push_back(i == 0 ? 0.25 : 10 * normal(random));
      t.weight.push_back(i == 0 ? 3000 + 3000 * random.uniform() : random.uniform());
    }
    Options s;
    s.loss = "squared";
    s.lambda = 1e12;
    s.intercept = false;
    const Model m = train(make_dataset(t, false), s, progress);
    ModelUpdate update(m, s);
    update.add(dense_row(t.x[0].data(), 1), t.y[0], t.weight[0], true);
    const Model found = update.updated(m);
    long double weight = 0, slope = 0, curve = 0, value = 0;
    for (std::size_t i = 1; i < t.x.size(); ++i) {
      const long double c = t.weight[i], x = t.x[i][0], y = t.y[i];
      weight += c, slope += c * x * y, curve += c * x * x, value += c * y * y;
    }
    const long double optimum = (value - slope * slope / (curve + 0.5e12L * weight)) / weight;
    EXPECT_LE(found.certificate.lower, optimum) << trial;
    EXPECT_GE(found.certificate.upper, optimum) << trial;
    EXPECT_LT(found.certificate.gap, 1e-9 * found.certificate.upper);
  }
}

/// Nor may the next update take for exact what is left: of 1e8 and 1000 go both.
TEST(ModelUpdate, HoldsTheOptimumWhereMostOfTheWeightGoesTwice) {
  const std::vector<double> x = {0.5, 0.1, 0.1, -0.2, 0.4, 0.3}, y = {0, 0, 1, -1, 1, -1};
  const Progress progress;
  for (const char* const loss : {"squared", "huber", "squared_epsilon_insensitive"})
    for (const double heaviest : {1e6, 1e7, 1e8}) {
      const std::vector<double> weight = {heaviest, 1000, 0.3, 0.3, 0.3, 0.3};
      Table t;
      for (std::size_t i = 0; i < x.size(); ++i) t.x.push_back({x[i]});
      t.y = y;
      t.weight = weight;
      Options s;
      s.loss = loss;
      s.lambda = 1e12;
      s.intercept = false;
      s.epsilon = 0;
      s.smoothing = 2;
      Model m = train(make_dataset(t, false), s, progress);
      for (std::size_t goes = 0; goes < 2; ++goes) {
        ModelUpdate update(m, s);
        update.add(dense_row(&x[goes], 1), y[goes], weight[goes], true);
        m = update.updated(m);
      }
      // Of w = 0 all are 1 (huber: 1/4), and the optimum is less by the square of a slope of at most 2 over 2e12.
      const double top = loss == std::string("huber") ? 0.25 : 1;
      EXPECT_LE(m.certificate.lower, top) << loss;
      EXPECT_GE(m.certificate.upper, top - 2e-12) << loss;
      EXPECT_LT(m.certificate.gap, 1e-8) << loss;
      const StoredSum& left = m.dual_point->total_weight;
      EXPECT_EQ(left.value(), 4 * 0.3);
      EXPECT_LT(left.off(), 1e-15);
      EXPECT_GE(left.error(), 0);
    }
}

TEST(ModelUpdate, RefusesToRemoveMoreThanThereIs) {
  Random random(83);
  const auto trained = random_training(random, 1, true);
  ASSERT_TRUE(trained.has_value());
  const Model& m = trained->far;
  ModelUpdate twice(m, trained->options), heavy(m, trained->options);
  for (int k = 0; k < 2; ++k)
    for (std::size_t i = 0; i < trained->table.x.size(); ++i) change(twice, trained->table, i, m.regression(), true);
  EXPECT_THROW(twice.updated(m), Error);
  const double all = m.dual_point->total_weight.value();
  const Row x = dense_row(trained->table.x[0].data(), trained->table.dimensions());
  if (m.regression())
    heavy.add(x, trained->table.y[0], 1.001 * all, true);
  else
    heavy.add(x, static_cast<std::int32_t>(trained->table.y[0]), 1.001 * all, true);
  EXPECT_THROW(heavy.updated(m), Error);
  Model earlier = m;  // of a build that did not say what W is off by
  auto point = std::make_shared<DualPoint>(*m.dual_point);
  point->total_weight = {all, 0, std::numeric_limits<double>::infinity()};
  earlier.dual_point = point;
  EXPECT_THROW(ModelUpdate(earlier, trained->options), Error);
  EXPECT_NO_THROW(gap_at(earlier, trained->options, 1));
}

TEST(StoredSum, KeepsWhatItsValueRounds) {
  ExactSum first, second;
  for (const double v : {1e8, 1000.0, 0.3, 0.3, 0.3, 0.3}) first.add(v);
  const StoredSum all(first, 6, 1e8 + 1001.2);
  for (const double v : {-1e8, -1000.0}) second.add(v);
  const StoredSum left = all.plus(second, 2, 1e8 + 1000);
  const long double exact = 4 * static_cast<long double>(0.3);
  EXPECT_LE(std::fabs(left.value() + static_cast<long double>(left.rest()) - exact), left.error());
  EXPECT_LE(left.lower(), exact);
  EXPECT_GE(left.upper(), exact);
  EXPECT_LT(left.error(), 1e-18);
  EXPECT_FALSE(StoredSum().known());
}

TEST(Ball, SaysNothingOfRowsThatOverflow) {
  const double w[] = {3, 4}, none[] = {0};
  Objective o;
  o.dimensions = 2;
  o.lambda = 1;
  o.intercept = false;
  for (const auto& row : {std::vector<double>{1.7e308, 1.7e308}, {1.7e308, -1.7e308}, {1e308, 0}}) {
    double lower = 0, upper = 0;
    Ball ball(o, w, none, gap_of(1), nullptr);
    ball.scores(dense_row(row.data(), 2), &lower, &upper);
    EXPECT_EQ(lower, -std::numeric_limits<double>::infinity());
    EXPECT_EQ(upper, std::numeric_limits<double>::infinity());
    EXPECT_FALSE(ball.certain(dense_row(row.data(), 2)));
  }
}

TEST(ModelUpdate, EndsWhereNothingIsLeft) {
  Random random(82);
  const auto trained = random_training(random, 1, true);
  ASSERT_TRUE(trained.has_value());
  const Model& m = trained->far;
  ModelUpdate all(m, trained->options), none(m, trained->options);
  for (std::size_t i = 0; i < trained->table.x.size(); ++i) change(all, trained->table, i, m.regression(), true);
  const Model nothing = all.updated(m);
  EXPECT_EQ(nothing.dual_point, nullptr);
  EXPECT_EQ(nothing.certificate.lower, 0);
  const Model same = none.updated(m);
  EXPECT_NEAR(same.certificate.upper, m.certificate.upper, 1e-12);
  EXPECT_LE(same.certificate.lower, m.certificate.lower);
  EXPECT_NEAR(same.certificate.lower, m.certificate.lower, 1e-10);
  Options s = trained->options;
  s.l1_ratio = 0.5;
  EXPECT_THROW(ModelUpdate(m, s), Error);
  s = trained->options;
  s.class_weight_balanced = true;
  EXPECT_THROW(ModelUpdate(m, s), Error);
  Model bare = m;
  bare.dual_point = nullptr;
  EXPECT_THROW(ModelUpdate(bare, trained->options), Error);
  EXPECT_FALSE(none.merge({1, 2, 3}));
}

}  // namespace
}  // namespace margin
