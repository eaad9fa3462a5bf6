// Calibration by scans: the maps of scores that models give which were trained in memory without each fold.
#include "core/scans/calibrate_scans.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "core/scans/train_scans.hpp"
#include "core/train/train.hpp"
#include "risk_problems.hpp"

namespace margin {
namespace {

using testing::normal;

struct Rows {
  Dataset data{Dataset::Outcome::classes};
  std::vector<std::int32_t> folds;
};

/// With weights some rows count for nothing.
Rows rows_of(int count, int classes, int folds, bool weighted = false) {
  Random random(29);
  Rows rows;
  for (int c = 0; c < classes; ++c) rows.data.classes().intern(std::to_string(c), c);
  for (int i = 0; i < count; ++i) {
    const std::vector<double> x = {normal(random), normal(random), normal(random)};
    const double score = x[0] - 0.5 * x[1] + 0.7 * normal(random);
    const int label = i < classes ? i : std::min(classes - 1, (score > 0) + (score > 0.7) + (score > 1.4));
    rows.data.append(dense_row(x.data(), 3), label, weighted ? 0.3 * (i % 5) : 1);
    rows.folds.push_back(static_cast<std::int32_t>(random.next() % static_cast<std::uint64_t>(folds)));
  }
  return rows;
}

Options soft(const std::string& loss, Calibrate kind) {
  Options s;
  s.loss = loss;
  s.lambda = 1e-2;
  s.calibration = kind;
  s.tolerance = 1e-8;
  s.sample_rows = 150;
  return s;
}

Value::Object given_of(const Options& s) {
  Value::Object given;
  given["loss"] = {s.loss};
  if (s.lambda.has_value()) given["lambda"] = {*s.lambda};
  given["calibration"] = {std::string(s.calibration == Calibrate::platt ? "platt" : "isotonic")};
  return given;
}

Model calibrated(const Rows& rows, const Options& s) {
  MemorySource source(rows.data, &rows.folds);
  return std::move(calibrate_scans(source, {s}, given_of(s), nullptr, {}).front());
}

/// The same fits of scores of models that are trained in memory without a fold.
Calibration in_memory(const Rows& rows, Options s, std::int32_t folds) {
  const Calibrate kind = s.calibration;
  s.calibration = Calibrate::none;
  s.sample_rows.reset();
  std::vector<std::vector<ScoredRow>> scored;
  const std::vector<std::int32_t> rank = rows.data.classes().ranks();
  for (std::int32_t f = 0; f < folds; ++f) {
    std::vector<std::int64_t> others;
    for (std::int64_t i = 0; i < rows.data.rows(); ++i)
      if (rows.folds[static_cast<std::size_t>(i)] != f) others.push_back(i);
    const Dataset training = rows.data.subset(others);
    const Model model = train(training, s, {});
    scored.resize(static_cast<std::size_t>(model.outputs()));
    std::vector<double> scores(scored.size());
    for (std::int64_t i = 0; i < rows.data.rows(); ++i) {
      if (rows.folds[static_cast<std::size_t>(i)] != f || !(rows.data.weight(i) > 0)) continue;
      score(scorer_of(model), rows.data.row(i), model.dimensions, scores.data());
      const std::int32_t label = rank[static_cast<std::size_t>(rows.data.class_of(i))];
      for (std::size_t o = 0; o < scores.size(); ++o)
        scored[o].push_back(
            {scores[o], rows.data.weight(i), scores.size() == 1 ? label == 1 : label == static_cast<std::int32_t>(o)});
    }
  }
  Calibration out;
  for (std::vector<ScoredRow>& of : scored) add_fit(kind, of, {}, out);
  return out;
}

/// The probabilities of one output at a few scores.
void expect_near(const Calibration& a, const Calibration& b, double tolerance, const std::string& what) {
  ASSERT_EQ(a.sigmoids.size(), b.sigmoids.size()) << what;
  ASSERT_EQ(a.knots.size(), b.knots.size()) << what;
  const std::size_t outputs = std::max(a.sigmoids.size(), a.knots.size());
  for (double s = -3; s <= 3; s += 0.25) {
    const std::vector<double> scores(outputs, s);
    std::vector<double> left(outputs), right(outputs);
    a.log_odds(scores.data(), left.data());
    b.log_odds(scores.data(), right.data());
    for (std::size_t o = 0; o < outputs; ++o)
      EXPECT_NEAR(1 / (1 + std::exp(-left[o])), 1 / (1 + std::exp(-right[o])), tolerance) << what << " at " << s;
  }
}

TEST(CalibrateScans, FitsTheScoresOfHeldOutRows) {
  struct Case {
    const char* loss;
    Calibrate kind;
    int classes;
    bool weighted;
  };
  for (const Case& c : {Case{"squared_hinge", Calibrate::platt, 2, false},
                        {"logistic", Calibrate::platt, 2, true},
                        {"logistic", Calibrate::isotonic, 2, false},
                        {"squared_hinge", Calibrate::isotonic, 2, true},
                        {"logistic", Calibrate::platt, 3, false},
                        {"squared_hinge", Calibrate::isotonic, 4, true}}) {
    const Rows rows = rows_of(2000, c.classes, 4, c.weighted);
    const Options s = soft(c.loss, c.kind);
    const Model m = calibrated(rows, s);
    const std::string what = std::string(c.loss) + " of " + std::to_string(c.classes);
    EXPECT_EQ(m.status, Status::optimal) << what;
    EXPECT_EQ(m.rows, rows.data.rows()) << what;
    // Steps of an isotonic fit may be at another of two scores that differ by the tolerance of the trainings.
    expect_near(m.calibration, in_memory(rows, s, 4), c.kind == Calibrate::platt ? 1e-4 : 5e-3, what);
    // The model itself is that of a training without calibration.
    Options plain = s;
    plain.calibration = Calibrate::none;
    MemorySource source(rows.data);
    const Model own = train_scans(source, plain, {});
    EXPECT_EQ(m.weights, own.weights) << what;
    EXPECT_EQ(m.certificate.upper, own.certificate.upper) << what;
    EXPECT_EQ(m.iterations, own.iterations) << what;
  }
}

/// Beyond 4,096 scores of a class and a fold these are buckets, of which the middles count.
TEST(CalibrateScans, FitsBuckets) {
  const Rows rows = rows_of(30000, 2, 3);
  for (const Calibrate kind : {Calibrate::platt, Calibrate::isotonic}) {
    const Options s = soft("squared_hinge", kind);
    expect_near(calibrated(rows, s).calibration, in_memory(rows, s, 3), kind == Calibrate::platt ? 1e-4 : 1e-2,
                "buckets");
  }
}

TEST(CalibrateScans, CalibratesEachOfAPath) {
  const Rows rows = rows_of(2000, 2, 3);
  std::vector<Options> settings(2, soft("logistic", Calibrate::platt));
  settings[1].lambda = 1;
  MemorySource source(rows.data, &rows.folds);
  const std::vector<Model> path = calibrate_scans(source, settings, given_of(settings[0]), nullptr, {});
  ASSERT_EQ(path.size(), 2U);
  for (std::size_t k = 0; k < 2; ++k)
    EXPECT_EQ(to_table(path[k].calibration), to_table(calibrated(rows, settings[k]).calibration));
}

/// Rows that fit into the first scan are held out by the same folds.
TEST(CalibrateScans, KeepsTheFoldsOfFewRows) {
  const Rows rows = rows_of(200, 2, 3);
  Options s = soft("logistic", Calibrate::platt);
  s.sample_rows.reset();
  s.seed = 5;
  const Model m = calibrated(rows, s);
  EXPECT_LE(m.iterations, 30);
  expect_near(m.calibration, in_memory(rows, s, 3), 1e-6, "few");
}

TEST(CalibrateScans, RefusesWhatItCannotDo) {
  const auto refusal = [](const Rows& rows, const Options& s) -> std::string {
    try {
      calibrated(rows, s);
    } catch (const Error& e) {
      return e.what();
    }
    return {};
  };
  const Options s = soft("squared_hinge", Calibrate::platt);
  Rows rows = rows_of(400, 2, 3);
  EXPECT_EQ(refusal(rows, s), "");
  std::fill(rows.folds.begin(), rows.folds.end(), 0);
  EXPECT_EQ(refusal(rows, s), "the rows have 1 fold, expected 2 to 1000");
  for (std::int64_t i = 0; i < rows.data.rows(); ++i) rows.folds[static_cast<std::size_t>(i)] = rows.data.class_of(i);
  EXPECT_NE(refusal(rows, s), "");  // each training has one class
  // A fold has a class alone; a fold lacks one.
  Rows three = rows_of(400, 3, 3);
  for (std::int64_t i = 0; i < three.data.rows(); ++i)
    if (three.data.class_of(i) == 2) three.folds[static_cast<std::size_t>(i)] = 0;
  EXPECT_NE(refusal(three, s), "");
  Rows lacking = rows_of(400, 2, 3);
  for (std::int64_t i = 0; i < lacking.data.rows(); ++i)
    if (lacking.folds[static_cast<std::size_t>(i)] == 0 && lacking.data.class_of(i) == 1)
      lacking.folds[static_cast<std::size_t>(i)] = 1;
  EXPECT_EQ(refusal(lacking, s), "");
  Options hard = s;
  hard.lambda.reset();
  EXPECT_EQ(refusal(lacking, hard), "option \"calibration\" needs a soft margin");
  // More classes than a sum has room for.
  Rows many{Dataset(Dataset::Outcome::classes), {}};
  Random random(31);
  for (int c = 0; c < 40; ++c) many.data.classes().intern(std::to_string(c), c);
  for (int i = 0; i < 400; ++i) {
    const std::vector<double> x = {normal(random), normal(random)};
    many.data.append(dense_row(x.data(), 2), i % 40);
    many.folds.push_back((i / 40) % 2);
  }
  Options quick = s;
  quick.sample_rows.reset();
  quick.tolerance = 1e-2;
  EXPECT_EQ(refusal(many, quick), "calibration by scans takes at most 31 classes, not 40");
}

}  // namespace
}  // namespace margin
