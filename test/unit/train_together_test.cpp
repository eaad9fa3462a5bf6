// Trainings that share scans are the trainings alone, in as many scans as the longest of them takes.
#include "core/scans/train_together.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "risk_problems.hpp"
#include "three_parts.hpp"

namespace margin {
namespace {

using testing::normal;
using testing::ThreeParts;

/// Counts the scans, of several questions each, and of how many terms a row had at most.
class Shared final : public RowSource {
 public:
  explicit Shared(const Dataset& rows) : rows_(rows) {}
  Answer ask(const Question& question, const Progress& progress) override { return rows_.ask(question, progress); }
  std::vector<Answer> ask_all(const std::vector<Asked>& questions, const Progress& progress) override {
    ++scans;
    most = std::max(most, questions.size());
    return RowSource::ask_all(questions, progress);
  }
  int scans = 0;
  std::size_t most = 0;

 private:
  ThreeParts rows_;
};

Dataset rows_of(Dataset::Outcome outcome) {
  Random random(4);
  Dataset data(outcome);
  for (int c = 0; c < 2 && outcome == Dataset::Outcome::classes; ++c) data.classes().intern(std::to_string(c), c);
  for (int i = 0; i < 3000; ++i) {
    const std::vector<double> x = {normal(random), normal(random), normal(random)};
    const double score = x[0] - 0.5 * x[1] + normal(random);
    if (outcome == Dataset::Outcome::classes)
      data.append(dense_row(x.data(), 3), i < 2 ? i : score > 0);
    else
      data.append(dense_row(x.data(), 3), score);
  }
  return data;
}

std::vector<Training> at(const std::string& loss, const std::vector<double>& lambdas) {
  std::vector<Training> settings;
  for (const double lambda : lambdas) {
    Options s;
    s.loss = loss;
    s.lambda = lambda;
    s.tolerance = 1e-6;
    s.sample_rows = 200;
    settings.push_back({s});
  }
  return settings;
}

TEST(TrainTogether, IsTheTrainingsAloneInTheScansOfTheLongest) {
  for (const std::string loss : {"logistic", "hinge", "squared_hinge", "squared", "absolute", "huber"}) {
    Options any;
    any.loss = loss;
    any.lambda = 1;
    const Dataset rows = rows_of(outcome_of(any));
    const std::vector<Training> settings = at(loss, {1.0, 0.1, 0.01, 1e-4});
    Shared source(rows);
    const std::vector<Model> models = train_together(source, settings, {}, MemoryBudget(4e8));
    ASSERT_EQ(models.size(), 4U);
    std::int64_t longest = 0;
    for (std::size_t k = 0; k < models.size(); ++k) {
      ThreeParts own(rows);
      const Model alone = train_scans(own, settings[k].settings, {}, MemoryBudget(1e8));
      // But for the rounding of sums over vectors.
      EXPECT_LE((models[k].weights - alone.weights).cwiseAbs().maxCoeff(), 1e-8) << loss << k;
      EXPECT_LE((models[k].intercept - alone.intercept).cwiseAbs().maxCoeff(), 1e-8) << loss << k;
      EXPECT_NEAR(models[k].certificate.lower, alone.certificate.lower, 1e-9) << loss << k;
      EXPECT_NEAR(models[k].certificate.upper, alone.certificate.upper, 1e-9) << loss << k;
      EXPECT_EQ(models[k].status, Status::optimal) << loss << k;
      EXPECT_EQ(models[k].iterations, alone.iterations) << loss << k;
      longest = std::max<std::int64_t>(longest, own.scans);
    }
    EXPECT_EQ(source.scans, longest) << loss;
    EXPECT_LE(source.most, 2U) << loss;  // some are at their targets yet, the others at their risks
  }
}

TEST(TrainTogether, TakesSoManyAtATimeAndKeepsTheirOrder) {
  const Dataset rows = rows_of(Dataset::Outcome::targets);
  std::vector<double> lambdas;
  for (std::size_t k = 0; k <= most_together; ++k) lambdas.push_back(1.0 / static_cast<double>(1 + k));
  Shared source(rows);
  const std::vector<Model> models = train_together(source, at("squared", lambdas), {});
  ASSERT_EQ(models.size(), most_together + 1);
  EXPECT_LE(source.most, most_together);
  for (std::size_t k = 1; k < models.size(); ++k) EXPECT_GT(models[k].weights(0, 0), models[k - 1].weights(0, 0)) << k;
}

TEST(TrainTogether, ReadsRowsOnceThatTheSampleHolds) {
  const Dataset rows = rows_of(Dataset::Outcome::classes);
  std::vector<Training> settings = at("hinge", {0.1, 0.01});
  for (Training& s : settings) s.settings.sample_rows.reset();
  Shared source(rows);
  EXPECT_EQ(train_together(source, settings, {}).size(), 2U);
  EXPECT_EQ(source.scans, 1);
  EXPECT_EQ(source.most, 1U);
}

TEST(TrainTogether, ThrowsWhatATrainingAloneThrows) {
  const Dataset rows = rows_of(Dataset::Outcome::classes);
  std::vector<Training> settings = at("hinge", {0.1, 0.01});
  settings[1].settings.dual_weights = true;
  Shared source(rows);
  EXPECT_THROW(train_together(source, settings, {}), Error);
  EXPECT_TRUE(train_together(source, {}, {}).empty());
}

/// Also those at which a weight just comes in, where the gradient tells more than values do: its dual weights prove nothing beyond
/// the end of the norm.
TEST(TrainTogether, ReachesTheToleranceAllAlongThePathOfALasso) {
  for (const std::string loss : {"squared_hinge", "logistic", "huber"}) {
    Options any;
    any.loss = loss;
    any.lambda = 1;
    const Dataset rows = rows_of(outcome_of(any));
    std::vector<double> lambdas;
    for (int k = 0; k < 40; ++k) lambdas.push_back(0.3 * std::pow(0.83, k));
    std::vector<Training> settings = at(loss, lambdas);
    for (Training& s : settings) {
      s.settings.l1_ratio = 1;
      s.settings.tolerance = 1e-3;
    }
    Shared source(rows);
    const std::vector<Model> models = train_together(source, settings, {});
    for (std::size_t k = 0; k < models.size(); ++k) {
      EXPECT_EQ(models[k].status, Status::optimal) << loss << lambdas[k];
      EXPECT_LE(models[k].iterations, 8) << loss << lambdas[k];
    }
    EXPECT_LE(source.scans, 16) << loss;
  }
}

/// A training that is stopped by the clock asks other questions the second time.
TEST(TrainTogether, GoesOnWhereTheClockHadItsSay) {
  const Dataset rows = rows_of(Dataset::Outcome::classes);
  std::vector<Training> settings = at("hinge", {0.1, 1e-5});
  for (Training& s : settings) s.settings.max_seconds = 1e-3;
  Shared source(rows);
  const std::vector<Model> models = train_together(source, settings, {});
  EXPECT_EQ(models.size(), 2U);
  for (const Model& m : models) EXPECT_LE(m.certificate.lower, m.certificate.upper);
}

}  // namespace
}  // namespace margin
