// The option `calibration`, from rows to probabilities.
#include "core/train/cross_fit.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.hpp"
#include "core/model/probability.hpp"
#include "core/train/train.hpp"
#include "risk_problems.hpp"

namespace margin {
namespace {

using testing::make_dataset;
using testing::normal;
using testing::Table;

/// Gaussian rows whose class k has probability e^(z_k)/Σ e^z, z_k = 2⟨x, u_k⟩ (u_0 = 0).
struct Sampled {
  Table table;
  std::vector<std::vector<double>> truth;
};
Sampled sample(int n, int classes, std::uint64_t seed) {
  static const double u[3][3] = {{0, 0, 0}, {1, -0.5, 0.25}, {-0.75, -0.5, 1}};
  Random random(seed);
  Sampled out;
  for (int i = 0; i < n; ++i) {
    std::vector<double> x(3), p(static_cast<std::size_t>(classes));
    for (double& v : x) v = normal(random);
    double sum = 0;
    for (std::size_t k = 0; k < p.size(); ++k) {
      p[k] = std::exp(2 * (u[k][0] * x[0] + u[k][1] * x[1] + u[k][2] * x[2]));
      sum += p[k];
    }
    double draw = sum * random.uniform();
    std::size_t label = 0;
    while (label + 1 < p.size() && draw >= p[label]) draw -= p[label++];
    for (double& v : p) v /= sum;
    out.table.x.push_back(x);
    out.table.y.push_back(static_cast<double>(label));
    out.truth.push_back(p);
  }
  return out;
}

Options soft(const std::string& loss, Calibrate kind, double lambda = 1e-2) {
  Options s;
  s.loss = loss;
  s.lambda = lambda;
  s.calibration = kind;
  s.tolerance = 1e-4;
  return s;
}

Model trained(const Table& t, const Options& s, int classes = 2, MemoryBudget memory = {}) {
  Progress progress;
  return train(make_dataset(t, true, classes), s, progress, memory);
}

std::vector<double> probabilities_of(const Model& m, const std::vector<double>& x) {
  const Scorer scorer = scorer_of(m);
  std::vector<double> scores(static_cast<std::size_t>(scorer.outputs)), out(m.classes.size());
  score(scorer, Row{x.data(), nullptr, scorer.dimensions, true}, scorer.dimensions, scores.data());
  if (!m.calibration.empty()) m.calibration.log_odds(scores.data(), scores.data());
  probabilities(scores.data(), scorer.outputs, out.data());
  return out;
}

/// Mean over ten bins of |mean probability − frequency|, weighted by rows, of class `c`.
double calibration_error(const Model& m, const Sampled& fresh, std::size_t c) {
  double claimed[10] = {}, seen[10] = {}, error = 0;
  for (std::size_t i = 0; i < fresh.truth.size(); ++i) {
    const double p = probabilities_of(m, fresh.table.x[i])[c];
    const auto bin = std::min<std::size_t>(9, static_cast<std::size_t>(10 * p));
    claimed[bin] += p;
    seen[bin] += fresh.table.y[i] == static_cast<double>(c);
  }
  for (int b = 0; b < 10; ++b) error += std::fabs(claimed[b] - seen[b]);
  return error / static_cast<double>(fresh.truth.size());
}

/// Mean |p − truth| of class `c`.
double distance_to_truth(const Model& m, const Sampled& fresh, std::size_t c) {
  double sum = 0;
  for (std::size_t i = 0; i < fresh.truth.size(); ++i)
    sum += std::fabs(probabilities_of(m, fresh.table.x[i])[c] - fresh.truth[i][c]);
  return sum / static_cast<double>(fresh.truth.size());
}

TEST(CrossFit, ProbabilitiesAreCalibrated) {
  const Sampled rows = sample(8000, 2, 1), fresh = sample(8000, 2, 2);
  for (const char* loss : {"hinge", "smoothed_hinge", "squared_hinge", "logistic"})
    for (const Calibrate kind : {Calibrate::platt, Calibrate::isotonic}) {
      const Model m = trained(rows.table, soft(loss, kind));
      const double error = calibration_error(m, fresh, 1);
      EXPECT_LT(error, 0.02) << loss;
      EXPECT_LT(distance_to_truth(m, fresh, 1), 0.025) << loss;
      Model raw = m;
      raw.calibration = {};
      // The scores alone are no log-odds; those of the regularised logistic loss are too timid.
      EXPECT_GT(calibration_error(raw, fresh, 1), std::string(loss) == "logistic" ? error : 0.03) << loss;
    }
}

TEST(CrossFit, SeveralClassesAreCalibratedAndSumToOne) {
  const Sampled rows = sample(6000, 3, 3), fresh = sample(6000, 3, 4);
  for (const Calibrate kind : {Calibrate::platt, Calibrate::isotonic}) {
    const Model m = trained(rows.table, soft("hinge", kind), 3);
    for (std::size_t c = 0; c < 3; ++c) EXPECT_LT(calibration_error(m, fresh, c), 0.06) << c;
    for (std::size_t i = 0; i < 200; ++i) {
      const std::vector<double> p = probabilities_of(m, fresh.table.x[i]);
      EXPECT_NEAR(p[0] + p[1] + p[2], 1, 1e-12);
      EXPECT_GT(*std::min_element(p.begin(), p.end()), 0);
    }
  }
}

TEST(CrossFit, HeldOutRowsDoNotCount) {
  // A row of weight 0 is to every solver as if it were not there: that is what makes a fold without a copy.
  const Table all = sample(300, 2, 5).table;
  Table rest;
  for (std::size_t i = 0; i < all.x.size(); ++i)
    if (i % 5 != 0) {
      rest.x.push_back(all.x[i]);
      rest.y.push_back(all.y[i]);
    }
  for (const char* loss : {"hinge", "squared_hinge", "logistic"})
    for (const char* solver : {"sdca", "newton", "auto"}) {
      Options s = soft(loss, Calibrate::none);
      s.tolerance = 1e-10;
      s.solver = solver;
      const Dataset whole = make_dataset(all, true), part = make_dataset(rest, true);
      Problem held = make_problem(whole, s);
      const Problem without = make_problem(part, s);
      held.row_weight.assign(all.x.size(), 1.0);
      for (std::size_t i = 0; i < all.x.size(); i += 5) held.row_weight[i] = 0;
      held.total_weight = without.total_weight;
      Progress progress;
      const Solution a = choose_solver(held, s).solve(held, s, progress);
      const Solution b = choose_solver(without, s).solve(without, s, progress);
      EXPECT_LT((a.weights - b.weights).norm(), 1e-4) << loss << " " << solver;
      EXPECT_LT((a.intercept - b.intercept).norm(), 1e-4) << loss << " " << solver;
    }
}

TEST(CrossFit, IsDeterministicBySeed) {
  const Table t = sample(500, 2, 6).table;
  Options s = soft("hinge", Calibrate::platt);
  const Model a = trained(t, s), b = trained(t, s);
  EXPECT_EQ(to_table(a.calibration), to_table(b.calibration));
  s.seed = 1;
  const Model other = trained(t, s);
  EXPECT_NE(to_table(a.calibration), to_table(other.calibration));
  EXPECT_NEAR(a.calibration.sigmoids[0].slope, other.calibration.sigmoids[0].slope,
              0.2 * a.calibration.sigmoids[0].slope);
}

TEST(CrossFit, LeavesTheModelAsItWas) {
  const Table t = sample(400, 3, 7).table;
  Options s = soft("squared_hinge", Calibrate::none);
  s.dual_weights = true;
  s.standardize = true;
  const Model plain = trained(t, s, 3);
  s.calibration = Calibrate::isotonic;
  const Model calibrated = trained(t, s, 3);
  EXPECT_EQ(plain.weights, calibrated.weights);
  EXPECT_EQ(plain.intercept, calibrated.intercept);
  EXPECT_EQ(*plain.dual_weights, *calibrated.dual_weights);
  EXPECT_EQ(plain.certificate.gap, calibrated.certificate.gap);
  EXPECT_TRUE(plain.calibration.empty());
  EXPECT_EQ(calibrated.calibration.knots.size(), 3u);
}

TEST(CrossFit, CountsRowWeightsAndNotClassWeights) {
  Table t = sample(2000, 2, 8).table;
  const auto at_origin = [](const Model& m) { return probabilities_of(m, {0, 0, 0})[1]; };
  Options s = soft("hinge", Calibrate::platt);
  const double plain = at_origin(trained(t, s));
  s.class_weight["1"] = 4;
  const double by_class = at_origin(trained(t, s));
  s.class_weight.clear();
  for (const double y : t.y) t.weight.push_back(y == 1 ? 4 : 1);
  const double by_row = at_origin(trained(t, s));
  EXPECT_NEAR(plain, 0.5, 0.05);
  EXPECT_NEAR(by_class, 0.5, 0.05);
  EXPECT_NEAR(by_row, 0.8, 0.05);  // odds times 4
}

TEST(CrossFit, NeedsTwoRowsOfEveryClass) {
  Table t = sample(60, 2, 9).table;
  for (double& y : t.y) y = 0;
  t.y[7] = 1;
  const auto kind_of = [&](const Options& s) {
    try {
      trained(t, s);
    } catch (const Error& e) {
      return e.kind();
    }
    return ErrorKind::malformed;
  };
  EXPECT_EQ(kind_of(soft("hinge", Calibrate::platt)), ErrorKind::invalid_value);
  t.y[20] = 1;
  for (const Calibrate kind : {Calibrate::platt, Calibrate::isotonic}) {
    const Model m = trained(t, soft("hinge", kind));
    const double p = probabilities_of(m, {0, 0, 0})[1];
    EXPECT_GT(p, 0);
    EXPECT_LT(p, 0.5);
  }
  t.weight.assign(t.x.size(), 1.0);
  t.weight[20] = 0;
  EXPECT_EQ(kind_of(soft("hinge", Calibrate::isotonic)), ErrorKind::invalid_value);
}

TEST(CrossFit, WorksOnFewerRowsThanFolds) {
  Table t;
  t.x = {{-1}, {-2}, {1}, {2}};
  t.y = {0, 0, 1, 1};
  for (const Calibrate kind : {Calibrate::platt, Calibrate::isotonic}) {
    const Model m = trained(t, soft("hinge", kind));
    EXPECT_GT(probabilities_of(m, {3})[1], 0.5);
    EXPECT_LT(probabilities_of(m, {-3})[1], 0.5);
  }
}

TEST(CrossFit, IsRefusedWhereItMeansNothing) {
  const Table t = sample(50, 2, 10).table;
  Options hard;
  hard.calibration = Calibrate::platt;
  Options numbers = soft("squared", Calibrate::isotonic);
  Progress progress;
  for (const bool classes : {true, false}) try {
      train(make_dataset(t, classes), classes ? hard : numbers, progress);
      ADD_FAILURE() << "calibrated " << (classes ? "a hard margin" : "a regression");
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::unsupported);
      EXPECT_FALSE(e.hint().empty());
    }
}

TEST(CrossFit, RespectsMemoryAndCancellation) {
  const Table t = sample(3000, 2, 11).table;
  Options s = soft("hinge", Calibrate::isotonic);
  s.solver = "sdca";
  const Dataset data = make_dataset(t, true);
  const Problem p = make_problem(data, s);
  const double solver = choose_solver(p, s).workspace(p);
  EXPECT_THROW(trained(t, s, 2, MemoryBudget(solver + calibration_workspace(p) / 2)), Error);
  EXPECT_NO_THROW(trained(t, s, 2, MemoryBudget(solver + calibration_workspace(p) + 1)));

  struct Counting : Progress {
    mutable int polls = 0;
    int last = -1;
    void poll() const override {
      if (++polls == last) throw 42;
    }
  } counting;
  Options plain = s;
  plain.calibration = Calibrate::none;
  train(data, plain, counting);
  const int without = counting.polls;
  counting.polls = 0;
  train(data, s, counting);
  ASSERT_GT(counting.polls, without + 2);
  counting.last = without + 2;  // in the midst of the folds
  counting.polls = 0;
  EXPECT_THROW(train(data, s, counting), int);
}

}  // namespace
}  // namespace margin
