// Which predictions a gap makes certain: none of them may turn out otherwise at the optimum.
#include "core/certificate/certain_predictions.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/model/model.hpp"
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
  Objective o;
  o.task = m.task;
  o.classes = static_cast<std::int32_t>(m.classes.size());
  o.dimensions = static_cast<std::int32_t>(m.weights.cols());
  o.intercept = s.intercept;
  o.intercept_scale = s.intercept_scale;
  CertainPredictions certain(o, m.weights.data(), m.intercept.data(),
                             distance_bound(m.certificate.gap, *s.lambda, s.l1_ratio));
  std::vector<bool> out;
  for (std::int64_t i = 0; i < data.rows(); ++i) out.push_back(certain(data.row(i)));
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

TEST(CertainPredictions, AgreeWithTheOptimumAndGrowWithPrecision) {
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

TEST(CertainPredictions, AdmitTheWorstMove) {
  // Weights (3, 4), no intercept: a move of length r changes the score of x by at most r‖x‖, reached along x.
  const double w[] = {3, 4}, none[] = {0};
  Objective o;
  o.dimensions = 2;
  o.intercept = false;
  const float x[] = {1, 0};  // score 3
  const Row row{x, nullptr, 2, false};
  EXPECT_TRUE(CertainPredictions(o, w, none, 2.999)(row));
  EXPECT_FALSE(CertainPredictions(o, w, none, 3.0)(row));
  o.intercept = true;
  o.intercept_scale = 2;  // the constant feature counts: ‖(x, B)‖ = √5
  EXPECT_TRUE(CertainPredictions(o, w, none, 2.999 / std::sqrt(5))(row));
  EXPECT_FALSE(CertainPredictions(o, w, none, 3.001 / std::sqrt(5))(row));
  // Two outputs share one distance: the lead of 3 falls by √2·r‖x‖ at most.
  const double pair[] = {3, 4, 0, 0}, zeros[] = {0, 0};
  o.intercept_scale = 0;
  o.task = Task::multiclass;
  o.classes = 2;
  EXPECT_TRUE(CertainPredictions(o, pair, zeros, 2.999 / std::sqrt(2))(row));
  EXPECT_FALSE(CertainPredictions(o, pair, zeros, 3.001 / std::sqrt(2))(row));
  EXPECT_FALSE(CertainPredictions(o, pair, zeros, std::numeric_limits<double>::infinity())(row));
}

}  // namespace
}  // namespace margin
