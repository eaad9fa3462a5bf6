// What is known of where the optimum of a model is, when its rows were scanned: score intervals and updates.
#include <gtest/gtest.h>

#include <cmath>

#include "core/analysis/update.hpp"
#include "core/certificate/ball.hpp"
#include "core/scans/train_scans.hpp"
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
using testing::ThreeParts;

bool classifies(const std::string& loss) { return make_loss(loss, Options())->classification(); }

/// The stored weight of all rows is theirs, which no double need be.
void expect_weight(const Model& m, const Table& t) {
  ASSERT_NE(m.dual_point, nullptr);
  const StoredSum& weight = m.dual_point->total_weight;
  EXPECT_TRUE(weight.known());
  ExactSum left;
  for (const double w : t.weight) left.add(w);
  left.add(-weight.value());
  left.add(-weight.rest());
  EXPECT_LE(std::fabs(left.value()), weight.error());
}

class ScannedModel : public ::testing::TestWithParam<std::string> {
 protected:
  Table rows(std::uint64_t seed, int n, int d, int classes) const {
    Random random(seed);
    Table t = sample(seed, n, d, classifies(GetParam()), classes);
    for (std::size_t i = 0; i < t.x.size(); ++i)
      t.weight.push_back(0.1 + random.uniform());  // no double holds their sum
    return testing::labels_for(GetParam(), t);
  }
  Model scanned(const Dataset& data, const Options& options) const {
    ThreeParts source(data);
    return train_scans(source, options, {});
  }
  Model best(const Dataset& data, Options options) const {
    options.tolerance = 1e-10;
    options.sample_rows.reset();
    return train(data, options, {});
  }
  /// Twice what the optimum of the best model may be off its scores, of a row of that length.
  double slip(const Model& m, const Options& s, const Row& x) const {
    const Objective o = objective_of(m, s);
    return 1e-9 + ball_radius(2 * m.certificate.gap, convexity(o), 0) * std::hypot(norm(x), o.constant_feature());
  }
};

TEST_P(ScannedModel, KnowsWhereItsOptimumIs) {
  for (const int classes : {2, 3}) {
    if (classes == 3 && !classifies(GetParam())) continue;
    for (const double tolerance : {3e-2, 1e-4}) {
      SCOPED_TRACE(::testing::Message() << classes << " " << tolerance);
      Table t = rows(3, 1500, 5, classes);
      const Dataset data = store(t, classifies(GetParam()), Storage::doubles, classes);
      Options options = soft(GetParam(), 0.02, tolerance);
      options.sample_rows = 150;
      const Model found = scanned(data, options), optimum = best(data, options);
      expect_weight(found, t);
      Model bare = found;
      bare.dual_point = nullptr;
      ScoreIntervals intervals(found, options), wider(bare, options);
      std::vector<double> lower(3), upper(3), low(3), high(3);
      for (std::int64_t i = 0; i < 200; ++i) {
        const Row x = data.row(i);
        intervals.intervals(x, lower.data(), upper.data());
        wider.intervals(x, low.data(), high.data());
        for (std::int32_t o = 0; o < optimum.outputs(); ++o) {
          const auto at = static_cast<std::size_t>(o);
          const double u = dot(x, optimum.weights.row(o).data()) + optimum.intercept(o);
          EXPECT_LE(lower[at], u + slip(optimum, options, x)) << i;
          EXPECT_GE(upper[at], u - slip(optimum, options, x)) << i;
          EXPECT_LE(upper[at] - lower[at], (high[at] - low[at]) * (1 + 1e-9)) << i;
        }
      }
    }
  }
}

TEST_P(ScannedModel, IsUpdated) {
  int proven = 0;
  for (const Storage storage : {Storage::doubles, Storage::sparse}) {
    for (const std::int32_t d : {4, 12}) {
      Table t = rows(7, 2000, d, 2), now;
      const Dataset data = store(t, classifies(GetParam()), storage);
      Options options = soft(GetParam(), 0.02, 1e-5);
      options.sample_rows = 200;
      options.intercept = classifies(GetParam());  // targets of other rows have another centre
      const Model found = scanned(data, options);
      ModelUpdate update(found, options);
      for (std::size_t i = 0; i < t.x.size(); ++i) {
        const auto row = static_cast<std::int64_t>(i);
        if (i % 50 != 7) {
          now.x.push_back(t.x[i]);
          now.y.push_back(t.y[i]);
          now.weight.push_back(t.weight[i]);
        } else if (found.regression()) {
          update.add(data.row(row), data.target(row), t.weight[i], true);
        } else {
          update.add(data.row(row), data.class_of(row), t.weight[i], true);
        }
      }
      const Model after = update.updated(found);
      const Dataset left = store(now, classifies(GetParam()), storage);
      const Model optimum = best(left, options);
      EXPECT_EQ(after.rows, left.rows());
      EXPECT_LE(after.certificate.lower, optimum.certificate.upper);
      EXPECT_GE(after.certificate.upper, optimum.certificate.lower);
      proven += after.certificate.lower > 0.9 * after.certificate.upper;
      EXPECT_NEAR(after.certificate.upper,
                  certify(make_problem(left, options), found.weights, found.intercept, Weights(0, 0)).upper,
                  1e-7 * after.certificate.upper);
    }
  }
  EXPECT_GE(proven, 3) << "an interval that says nothing";
}

INSTANTIATE_TEST_SUITE_P(All, ScannedModel, ::testing::ValuesIn(testing::all_losses()),
                         [](const auto& info) { return info.param; });

/// In units of their own, or without a strongly convex penalty, there is no such ball.
TEST(ScannedModel, HasNoBallInOtherUnits) {
  Table t = sample(5, 1500, 5, true);
  const Dataset data = store(t, true, Storage::doubles);
  Options options = soft("logistic", 0.02, 1e-4);
  options.sample_rows = 150;
  options.standardize = true;
  ThreeParts source(data);
  EXPECT_EQ(train_scans(source, options, {}).dual_point, nullptr);
  options.standardize = false;
  options.l1_ratio = 0.5;
  EXPECT_NE(train_scans(source, options, {}).dual_point, nullptr);
  options.l1_ratio = 1;
  options.intercept_form = InterceptForm::by_default;
  EXPECT_EQ(train_scans(source, options, {}).dual_point, nullptr);
}

TEST(ScannedModel, KnowsTheWeightOfAllRows) {
  Random random(4);
  for (const char* loss : {"logistic", "hinge"}) {
    Table t = sample(6, 900, 5, true, 3);
    for (std::size_t i = 0; i < t.x.size(); ++i) t.weight.push_back(0.1 + random.uniform());
    const Dataset data = store(t, true, Storage::doubles, 3);
    Options options = soft(loss, 0.02, 1e-3);
    options.sample_rows = 150;
    options.multiclass = Multiclass::joint;
    ThreeParts source(data);
    expect_weight(train_scans(source, options, {}), t);
  }
}

}  // namespace
}  // namespace margin
