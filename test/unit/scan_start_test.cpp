// Trainings by scans that start from a model: the optimum of those without it, in no more scans where the model is of nearly the same rows;
// and what a model costs that is none of these rows.
#include "core/scans/methods/scan_start.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>

#include "core/base/error.hpp"
#include "core/scans/train_scans.hpp"
#include "core/scans/train_together.hpp"
#include "core/train/train.hpp"
#include "newton_problems.hpp"
#include "three_parts.hpp"

namespace margin {
namespace {

using testing::sample;
using testing::soft;
using testing::Storage;
using testing::store;
using testing::Table;

/// The model of the rows that were there before the last fiftieth came.
InitialModel former(const Dataset& data, Options options) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(data.rows() - data.rows() / 50));
  std::iota(rows.begin(), rows.end(), 0);
  options.sample_rows.reset();
  const Model model = train(data.subset(rows), options, {});
  InitialModel start = start_from(model);
  start.columns = model.columns;
  if (!model.columns.empty()) start.dimensions = model.dimensions;
  return start;
}

/// From a start, and what is told from no start.
struct Both {
  Model cold, warm;
  std::int64_t saved() const { return *cold.iterations - *warm.iterations; }
};

Both train_both(const Dataset& data, Options options, const InitialModel& start) {
  MemorySource without(data), with(data);
  Both both{train_scans(without, options, {}), {}};
  options.initial = start;
  both.warm = train_scans(with, options, {});
  for (const Model* m : {&both.cold, &both.warm}) EXPECT_EQ(m->status, Status::optimal) << m->certificate.relative_gap;
  const Certificate &a = both.cold.certificate, &b = both.warm.certificate;
  EXPECT_LE(a.lower, b.upper * (1 + 1e-9));
  EXPECT_LE(b.lower, a.upper * (1 + 1e-9));
  EXPECT_EQ(both.cold.columns, both.warm.columns);
  return both;
}

class StartsOfLoss : public ::testing::TestWithParam<std::string> {
 protected:
  bool classes() const { return !is_regression_loss(GetParam()); }
  Dataset rows(int n, int d, int k, Storage storage, bool uneven = false) const {
    Table t = testing::labels_for(GetParam(), sample(41, n, d, classes(), k));
    for (std::size_t i = 0; uneven && i < t.x.size(); ++i) {
      t.weight.push_back(0.5 + static_cast<double>(i % 4));
      t.x[i][1] = 5 + 0.1 * t.x[i][1];
    }
    return store(t, classes(), storage, k);
  }
};

TEST_P(StartsOfLoss, TakeNoMoreScansFromTheModelOfNearlyTheSameRows) {
  std::int64_t saved = 0;
  for (const int k : {2, 3}) {
    if (!classes() && k == 3) continue;
    for (const bool uneven : {false, true})
      for (const Storage storage : {Storage::doubles, Storage::sparse})
        for (const bool standardize : {false, true}) {
          SCOPED_TRACE(::testing::Message() << k << uneven << static_cast<int>(storage) << standardize);
          const Dataset data = rows(3000, 12, k, storage, uneven);
          Options options = soft(GetParam(), 1e-3, 1e-6);
          options.standardize = standardize;
          if (uneven && classes()) options.class_weight_balanced = true;
          options.sample_rows = 300;
          const Both both = train_both(data, options, former(data, options));
          EXPECT_GE(both.saved(), 0);
          saved += both.saved();
        }
  }
  if (GetParam() != "squared") {
    EXPECT_GE(saved, classes() ? 8 : 4);
  }
}

TEST_P(StartsOfLoss, KeepTheRulesOfTheTraining) {
  const Dataset data = rows(3000, 6, 2, Storage::doubles);
  const bool smooth = make_loss(GetParam(), {})->smooth();
  const std::function<void(Options&)> rules[] = {
      [](Options& o) { o.intercept_form = InterceptForm::free; },
      [](Options& o) { o.offset = "3"; },
      [](Options& o) {
        o.named_bounds["1"] = {-0.05, 0.05};
        o.standardize = true;
      },
      [](Options& o) { o.constraints.push_back({"sum", {{"1", 1.0}, {"3", 1.0}}, -0.1, 0.1}); },
      [](Options& o) {
        o.l1_ratio = 1;
        o.intercept_form = InterceptForm::by_default;
      },
      [](Options& o) {
        o.l1_ratio = 0.5;
        o.penalty_factor = {1, 0.5, 2, 1, 0.1, 1};
      }};
  for (std::size_t rule = 0; rule < std::size(rules); ++rule) {
    if (rule >= 4 && !smooth) continue;
    SCOPED_TRACE(rule);
    Options options = soft(GetParam(), 1e-2, 1e-6), without = options;
    options.sample_rows = 300;
    rules[rule](options);
    EXPECT_GE(train_both(data, options, former(data, options)).saved(), 0);
    // Of a training that did not know the rule: it is moved to where that is kept.
    const Both both = train_both(data, options, former(data, without));
    EXPECT_GE(both.saved(), -2);
    if (rule == 1) {
      EXPECT_EQ(both.warm.weights(0, 2), 1);
    }
    if (rule == 2) {
      EXPECT_LE(std::fabs(both.warm.weights(0, 0)), 0.05);
    }
  }
}

TEST_P(StartsOfLoss, ComeToTheOptimumFromAnywhere) {
  const Dataset data = rows(3000, 12, 2, Storage::doubles);
  Options options = soft(GetParam(), 1e-3, 1e-6);
  const InitialModel good = former(data, options);
  for (const std::int64_t rows : {60, 300}) {
    if (rows < 100 && !make_loss(GetParam(), options)->smooth())
      continue;  // those want a larger sample, whatever the start
    for (const double factor : {0.0, -1.0, 1.1, 1e8, 1e300}) {
      SCOPED_TRACE(::testing::Message() << rows << " rows, " << factor);
      options.sample_rows = rows;
      InitialModel start = good;
      for (double& w : start.weights) w *= factor;
      if (factor <= 0) start.intercept.clear();
      const Both both = train_both(data, options, start);
      EXPECT_GE(both.saved(), rows < 100 ? -2 : -1);  // few rows tell less
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, StartsOfLoss, ::testing::ValuesIn(testing::all_losses()),
                         [](const auto& info) { return info.param; });

TEST(ScanStart, OfMaximumLikelihood) {
  for (const char* loss : {"squared", "logistic", "poisson"}) {
    SCOPED_TRACE(loss);
    const bool classes = !is_regression_loss(loss);
    Table t = testing::labels_for(loss, sample(7, 4000, 5, classes));
    const Dataset data = store(t, classes, Storage::doubles);
    Options options;
    options.loss = loss;
    options.lambda = 0;
    options.sample_rows = 400;
    const InitialModel good = former(data, options);
    EXPECT_GE(train_both(data, options, good).saved(), 0);
    InitialModel start = good;
    for (double& w : start.weights) w *= -50;
    EXPECT_GE(train_both(data, options, start).saved(), -1);
    options.sample_rows = 4000;  // all of them: no scan is left to save
    EXPECT_EQ(train_both(data, options, good).saved(), 0);
  }
}

/// Of a hard margin of many features, whose pool of rows begins with those of the old margin; in every norm, of several classes, in standard
/// units; and from weights that separate nothing.
TEST(ScanStart, OfHardMargins) {
  std::int64_t saved = 0;
  for (const int k : {2, 3})
    for (const double norm : {2.0, 1.0})
      for (const bool standardize : {false, true}) {
        SCOPED_TRACE(::testing::Message() << k << norm << standardize);
        Table t = sample(11, 6000, 40, true, k);
        for (std::size_t i = 0; i < t.x.size(); ++i)
          for (int c = 0; c < k; ++c) t.x[i][static_cast<std::size_t>(c)] += t.y[i] == c ? 12 : 0;
        const Dataset data = store(t, true, Storage::doubles, k);
        Options options;
        options.norm = norm;
        options.standardize = standardize;
        options.tolerance = 1e-6;
        options.sample_rows = 300;
        const InitialModel good = former(data, options);
        const Both both = train_both(data, options, good);
        EXPECT_GE(both.saved(), 0);
        saved += both.saved();
        for (const double factor : {0.0, -1.0, 1e-200}) {
          InitialModel start = good;
          for (double& w : start.weights) w *= factor;
          for (double& b : start.intercept) b *= factor;
          EXPECT_GE(train_both(data, options, start).saved(), 0) << factor;
        }
        options.sample_rows = 6000;
        EXPECT_EQ(train_both(data, options, good).saved(), 0);
      }
  EXPECT_GE(saved, 1);
}

/// Of many features few occur: the questions are about these, and other ones of the start are dropped.
TEST(ScanStart, InTheColumnsInUse) {
  constexpr std::int32_t declared = 3000000;
  Random random(3);
  Dataset data(Dataset::Outcome::classes);
  for (const char* name : {"0", "1"}) data.classes().intern(name, 0);
  for (int i = 0; i < 3000; ++i) {
    const std::int32_t columns[] = {10, 1000, 2000000 + static_cast<std::int32_t>(random.below(5))};
    const double values[] = {testing::normal(random), testing::normal(random), 1};
    data.append(sparse_row(columns, values, 3, declared), values[0] - values[1] + testing::normal(random) > 0 ? 1 : 0);
  }
  Options options = soft("logistic", 1e-3, 1e-6);
  options.sample_rows = 300;
  InitialModel start = former(data, options);
  ASSERT_FALSE(start.columns.empty());
  EXPECT_GE(train_both(data, options, start).saved(), 1);
  start.columns.push_back(declared - 1);
  start.weights.push_back(3);
  EXPECT_GE(train_both(data, options, start).saved(), 1);
  start.columns.back() = declared;
  start.dimensions = 0;
  options.initial = start;
  EXPECT_NE(testing::refusal_by_scans(data, options), "");
}

TEST(ScanStart, OfMoreFeaturesThanAMatrixHasRoomFor) {
  Random random(71);
  Dataset data(Dataset::Outcome::classes);
  for (const char* name : {"a", "b"}) data.classes().intern(name, 0);
  std::vector<double> truth(3000);
  for (double& v : truth) v = testing::normal(random);
  for (int i = 0; i < 3000; ++i) {
    std::vector<std::int32_t> columns;
    double score = 0;
    for (std::int32_t j = static_cast<std::int32_t>(random.below(200)); j < 3000;
         j += 1 + static_cast<std::int32_t>(random.below(400))) {
      columns.push_back(j);
      score += truth[static_cast<std::size_t>(j)];
    }
    const std::vector<double> ones(columns.size(), 0.2);
    data.append(sparse_row(columns.data(), ones.data(), static_cast<std::int32_t>(columns.size()), 3000),
                score + testing::normal(random) > 0 ? 1 : 0);
  }
  for (const char* loss : {"hinge", "logistic"}) {
    SCOPED_TRACE(loss);
    Options options = soft(loss, 1e-2, 1e-6);
    options.sample_rows = 400;
    const InitialModel start = former(data, options);
    EXPECT_GE(train_both(data, options, start).saved(), 0);
  }
}

/// Halves without a row, of one class, of fewer rows than features.
TEST(ScanStart, BesideASampleThatSaysNothing) {
  Table t = testing::labels_for("logistic", sample(9, 2000, 5, true));
  const Dataset data = store(t, true, Storage::doubles);
  for (const double lambda : {0.0, 1e-3})
    for (const std::int64_t rows : {1, 2, 3, 6}) {
      SCOPED_TRACE(::testing::Message() << lambda << " " << rows);
      Options options;
      options.loss = "logistic";
      options.lambda = lambda;
      options.tolerance = 1e-6;
      options.sample_rows = rows;
      EXPECT_GE(train_both(data, options, former(data, options)).saved(), 1);
    }
}

/// A path has one start for all lambdas, which is taken where the rows do not speak against it.
TEST(ScanStart, OfSeveralTrainings) {
  Table t = testing::labels_for("logistic", sample(5, 3000, 8, true));
  const Dataset data = store(t, true, Storage::doubles);
  std::vector<Training> trainings;
  for (const double lambda : {1.0, 1e-3, 1e-6}) {
    Options options = soft("logistic", lambda, 1e-6);
    options.sample_rows = 300;
    options.initial = former(data, soft("logistic", 1e-3, 1e-6));
    trainings.push_back({options});
  }
  MemorySource source(data);
  const std::vector<Model> models = train_together(source, trainings, {}, {});
  for (std::size_t k = 0; k < models.size(); ++k) {
    MemorySource alone(data);
    const Model m = train_scans(alone, trainings[k].settings, {});
    EXPECT_EQ(models[k].status, Status::optimal);
    EXPECT_EQ(models[k].weights, m.weights);
    EXPECT_EQ(models[k].iterations, m.iterations);
  }
}

TEST(ScanStart, OfOtherFeaturesOrClassesIsRefusedAsInMemory) {
  const auto refusals = [](int d, int k, const InitialModel& start) {
    Table t = sample(5, 900, d, true, k);
    const Dataset data = store(t, true, Storage::doubles, k);
    Options options = soft("logistic", 1e-2, 1e-3);
    options.initial = start;
    std::string in_memory;
    try {
      train(data, options, {});
    } catch (const Error& e) {
      in_memory = e.what();
    }
    options.sample_rows = 100;
    EXPECT_EQ(testing::refusal_by_scans(data, options), in_memory);
    return in_memory;
  };
  EXPECT_EQ(refusals(3, 2, {{1, 2, 3}, {0}, {}}), "");
  EXPECT_EQ(refusals(3, 2, {{1, 2, 3}, {}, {}}), "");
  EXPECT_NE(refusals(3, 2, {{1, 2}, {0}, {}}), "");
  EXPECT_NE(refusals(3, 2, {{1, 2, 3}, {0, 0}, {}}), "");
  EXPECT_NE(refusals(3, 3, {{1, 2, 3}, {0}, {}}), "");
  EXPECT_NE(refusals(3, 3, {{1, 2, 3}, {0}, {}, {0, 5}}), "");
  EXPECT_NE(refusals(3, 2, {{1, 2}, {0}, {}, {0, 1}, 4}), "");
}

}  // namespace
}  // namespace margin
