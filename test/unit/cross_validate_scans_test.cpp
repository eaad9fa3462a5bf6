// Cross-validation by scans: what each fold's models, trained alone without it, say of its rows.
#include "core/scans/cross_validate_scans.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/scans/model_figures.hpp"
#include "core/scans/train_scans.hpp"
#include "core/train/held_out.hpp"
#include "risk_problems.hpp"

namespace margin {
namespace {

using testing::normal;

/// Counts scans, and aggregates of the largest one.
class Folded final : public RowSource {
 public:
  Folded(const Dataset& rows, const std::vector<std::int32_t>& folds) : rows_(rows, &folds) {}
  Answer ask(const Question& q, const Progress& progress) override { return rows_.ask(q, progress); }
  std::vector<Answer> ask_all(const std::vector<Asked>& questions, const Progress& progress) override {
    ++scans;
    most = std::max(most, questions.size());
    return rows_.ask_all(questions, progress);
  }
  std::int32_t folds() const override { return rows_.folds(); }
  std::vector<Judgement> judge(const std::vector<Model>& models, const std::vector<std::int32_t>& folds,
                               const Progress& progress) override {
    ++judged;
    return rows_.judge(models, folds, progress);
  }
  int scans = 0, judged = 0;
  std::size_t most = 0;

 private:
  MemorySource rows_;
};

struct Rows {
  Dataset data;
  std::vector<std::int32_t> folds;
};

/// With weights some rows count for nothing.
Rows rows_of(Dataset::Outcome outcome, int classes, int folds, bool weighted = false) {
  Random random(11);
  Rows rows{Dataset(outcome), {}};
  for (int c = 0; c < classes && outcome == Dataset::Outcome::classes; ++c)
    rows.data.classes().intern(std::to_string(c), c);
  for (int i = 0; i < 2000; ++i) {
    const std::vector<double> x = {normal(random), normal(random), normal(random)};
    const double score = x[0] - 0.5 * x[1] + 0.5 * normal(random), weight = weighted ? 0.3 * (i % 5) : 1;
    if (outcome == Dataset::Outcome::classes)
      rows.data.append(dense_row(x.data(), 3), i < classes ? i : std::min(classes - 1, (score > 0) + (score > 1)),
                       weight);
    else
      rows.data.append(dense_row(x.data(), 3), score, weight);
    rows.folds.push_back(static_cast<std::int32_t>(random.next() % static_cast<std::uint64_t>(folds)));
  }
  return rows;
}

SelectionOptions options_of(Value::Object& given) {
  given["lambdas"].data = Value::Array{{1.0}, {0.1}, {0.001}};
  given["sample_rows"] = {150.0};
  given["tolerance"] = {1e-6};
  return parse_cross_validation(given);
}

/// The metric on fold f of a model that is trained without it in memory.
std::optional<double> alone(const Rows& rows, const Options& settings, Metric metric, FoldPart part, std::int32_t f) {
  std::vector<std::int64_t> trains, held;
  for (std::int64_t i = 0; i < rows.data.rows(); ++i) {
    const std::int32_t own = rows.folds[static_cast<std::size_t>(i)];
    if (part.has(own)) trains.push_back(i);
    if (own == f) held.push_back(i);
  }
  const Dataset training = rows.data.subset(trains);
  const Model model = train(training, settings, {});
  const std::vector<std::int32_t> rank = rows.data.classes().ranks();
  HeldOut out(rows.data, rank, metric, settings);
  const Scorer scorer = scorer_of(model);
  std::vector<double> scores(static_cast<std::size_t>(scorer.outputs));
  for (const std::int64_t i : held) {
    score(scorer, rows.data.row(i), scorer.dimensions, scores.data());
    if (model.regression()) scores[0] = model.prediction(scores[0]);
    out.add(i, scores.data());
  }
  return out.value();
}

TEST(CrossValidateScans, MeasuresTheModelsOfEachFoldAlone) {
  struct Case {
    const char *loss, *metric;
    int classes;
    bool forward, standardize, weighted = false;
  };
  const Case cases[] = {
      {"logistic", "log_loss", 2, false, false},   {"logistic", "auc", 2, false, true},
      {"logistic", "brier", 2, true, false},       {"hinge", "accuracy", 2, false, false},
      {"squared_hinge", "mcc", 2, false, false},   {"logistic", "accuracy", 3, false, false},
      {"squared", "mse", 0, false, false},         {"huber", "mae", 0, true, false},
      {"squared", "r2", 0, false, true},           {"logistic", "average_precision", 2, false, false, true},
      {"hinge", "accuracy", 2, true, false, true}, {"logistic", "balanced_accuracy", 3, false, false, true},
      {"squared", "r2", 0, false, false, true}};
  for (const Case& c : cases) {
    const Rows rows =
        rows_of(c.classes > 0 ? Dataset::Outcome::classes : Dataset::Outcome::targets, c.classes, 4, c.weighted);
    Value::Object given;
    given["loss"] = {std::string(c.loss)};
    given["metric"] = {std::string(c.metric)};
    given["standardize"].data = c.standardize;
    if (c.forward) given["split"] = {std::string("forward")};
    const SelectionOptions options = options_of(given);
    Folded source(rows.data, rows.folds);
    const ScannedSelection found = cross_validate_scans(source, options, given, nullptr, {});
    const std::string what = std::string(c.loss) + " " + c.metric;
    ASSERT_EQ(found.selection.settings.size(), 3U);
    EXPECT_EQ(found.rows, rows.data.rows()) << what;
    EXPECT_EQ(found.skipped, 0) << what;
    EXPECT_EQ(source.judged, 1) << what;
    EXPECT_LE(source.scans, 12) << what;
    EXPECT_LE(source.most, 8U) << what;  // of one fold or two kinds a question each
    EXPECT_EQ(found.selection.unfinished, 0) << what;
    for (const SettingScore& s : found.selection.settings) {
      Options settings = options.settings;
      settings.given.clear();
      settings.lambda = s.lambda;
      for (std::int32_t f = 0; f < 4; ++f) {
        const std::optional<double>& own = s.folds[static_cast<std::size_t>(f)];
        ASSERT_EQ(own.has_value(), f > 0 || !c.forward) << what;
        if (!own.has_value()) continue;
        const FoldPart part{c.forward ? FoldPart::Rows::before : FoldPart::Rows::without, f};
        EXPECT_NEAR(*own, *alone(rows, settings, options.metric, part, f), 2e-3) << what << " " << s.lambda << " " << f;
      }
      ASSERT_TRUE(s.mean.has_value()) << what;
    }
    ASSERT_TRUE(found.selection.best.has_value()) << what;
    EXPECT_FALSE(useless(found.selection)) << what;
    if (c.classes > 0 && !c.forward) {
      given.erase("sample_rows");
      const Selection held = cross_validate(rows.data, parse_cross_validation(given), {}, {}, rows.folds.data());
      ASSERT_TRUE(found.selection.constant.has_value()) << what;
      EXPECT_NEAR(*found.selection.constant, *held.constant, 1e-12) << what;
    }
  }
}

/// Fifty trainings go side by side: what each chunk of them asks of the rows themselves is asked once.
TEST(CrossValidateScans, AsksOnceWhatTheRowsAre) {
  const Rows rows = rows_of(Dataset::Outcome::targets, 0, 10);
  Value::Object given;
  given["loss"] = {std::string("squared")};
  Value::Array lambdas;
  for (int k = 0; k < 12; ++k) lambdas.push_back({std::pow(0.5, k)});
  given["sample_rows"] = {100.0};
  given["lambdas"].data = lambdas;
  const SelectionOptions options = parse_cross_validation(given);
  Folded source(rows.data, rows.folds);
  const ScannedSelection found = cross_validate_scans(source, options, given, nullptr, {});
  EXPECT_EQ(found.selection.settings.size(), 12U);
  EXPECT_EQ(source.scans, 1 + 3);  // 120 trainings in three chunks, each with a scan of its own
  EXPECT_EQ(source.most, 10U);
}

/// More folds than share what is asked of all of them: each training asks by itself.
TEST(CrossValidateScans, TakesManyFolds) {
  const Rows rows = rows_of(Dataset::Outcome::classes, 2, 60);
  Value::Object given;
  given["loss"] = {std::string("logistic")};
  given["lambdas"].data = Value::Array{{0.1}, {0.01}};
  given["sample_rows"] = {100.0};
  const SelectionOptions options = parse_cross_validation(given);
  Folded source(rows.data, rows.folds);
  const ScannedSelection found = cross_validate_scans(source, options, given, nullptr, {});
  EXPECT_EQ(found.selection.folds, 60);
  EXPECT_EQ(found.rows, rows.data.rows());
  EXPECT_LE(source.most, 50U);
  for (const SettingScore& s : found.selection.settings) {
    EXPECT_EQ(std::count_if(s.folds.begin(), s.folds.end(), [](const auto& v) { return v.has_value(); }), 60);
    EXPECT_GT(*s.mean, 0.8);
  }
}

TEST(CrossValidateScans, RefusesWhatItCannotDo) {
  const Rows rows = rows_of(Dataset::Outcome::classes, 2, 3);
  const auto refusal = [&](Value::Object given, const std::vector<std::int32_t>& folds) -> std::string {
    if (given.count("lambdas") == 0 && given.count("Cs") == 0) given["lambdas"].data = Value::Array{{0.1}};
    MemorySource source(rows.data, &folds);
    try {
      cross_validate_scans(source, parse_cross_validation(given), given, nullptr, {});
    } catch (const Error& e) {
      return e.what();
    }
    return {};
  };
  EXPECT_EQ(refusal({}, rows.folds), "");
  for (const char* option : {"predictions", "certified", "folds", "encoder", "Cs"}) {
    Value::Object given;
    given[option] = {0.1};
    if (std::string(option) == "predictions") given[option].data = true;
    if (std::string(option) == "folds") given[option] = {3.0};
    if (std::string(option) == "encoder") given[option] = {std::string("fold")};
    if (std::string(option) == "Cs") given[option].data = Value::Array{{1.0}};
    EXPECT_NE(refusal(given, rows.folds), "") << option;
  }
  const std::vector<std::int32_t> one(rows.folds.size(), 0);
  EXPECT_EQ(refusal({}, one), "the rows have 1 fold, expected 2 to 1000");
  std::vector<std::int32_t> by_class;
  for (std::int64_t i = 0; i < rows.data.rows(); ++i) by_class.push_back(rows.data.class_of(i));
  EXPECT_NE(refusal({}, by_class), "");  // each training has one class
  Value::Object two;
  two["metric"] = {std::string("auc")};
  const Rows three = rows_of(Dataset::Outcome::classes, 3, 3);
  MemorySource source(three.data, &three.folds);
  two["lambdas"].data = Value::Array{{0.1}};
  EXPECT_THROW(cross_validate_scans(source, parse_cross_validation(two), two, nullptr, {}), Error);
  // A class that one fold has alone.
  std::vector<std::int32_t> alone = three.folds;
  for (std::int64_t i = 0; i < three.data.rows(); ++i)
    if (three.data.class_of(i) == 2) alone[static_cast<std::size_t>(i)] = 0;
  MemorySource lonely(three.data, &alone);
  Value::Object any;
  any["lambdas"].data = Value::Array{{0.1}};
  EXPECT_THROW(cross_validate_scans(lonely, parse_cross_validation(any), any, nullptr, {}), Error);
}

}  // namespace
}  // namespace margin
