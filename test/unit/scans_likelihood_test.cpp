// Least squares and maximum likelihood by scans: the optimum of rows in memory, and what has none.
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.hpp"
#include "core/certificate/certificate.hpp"
#include "core/certificate/likelihood_rows.hpp"
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

Options likelihood(const std::string& loss) {
  Options s = soft(loss, 0, 1e-9);
  s.sample_rows = 120;
  s.intercept_form = InterceptForm::by_default;
  return s;
}

class ScansOfLikelihood : public ::testing::TestWithParam<std::string> {
 protected:
  bool classes() const { return GetParam() == "logistic"; }
  /// Rows whose classes overlap; feature 2 is far from 0, of large numbers.
  Table rows(std::uint64_t seed, int n) const {
    Random random(seed);
    Table t = sample(seed, n, 5, classes());
    for (std::size_t i = 0; i < t.x.size(); ++i) {
      t.x[i][1] = 1e5 + 300 * t.x[i][1];
      if (classes() && random.uniform() < 0.3) t.y[i] = 1 - t.y[i];
    }
    return testing::labels_for(GetParam(), t);
  }
};

TEST_P(ScansOfLikelihood, ComeToTheOptimumOfRowsInMemory) {
  struct Case {
    bool intercept, standardize, offset;
    Storage storage;
  };
  for (const Case& c : {Case{true, false, false, Storage::doubles},
                        {false, false, false, Storage::floats},
                        {true, true, false, Storage::doubles},
                        {true, false, true, Storage::doubles},
                        {true, false, false, Storage::sparse}}) {
    SCOPED_TRACE(::testing::Message() << c.intercept << c.standardize << c.offset);
    Table t = rows(7, 3000);
    const Dataset data = store(t, classes(), c.storage);
    Options options = likelihood(GetParam());
    options.intercept = c.intercept;
    options.standardize = c.standardize;
    if (c.offset) options.offset = "4";
    ThreeParts source(data);
    const Model found = train_scans(source, options, {}), known = train(data, options, {});
    EXPECT_EQ(found.status, Status::optimal) << found.certificate.relative_gap;
    EXPECT_LE(source.scans, (GetParam() == "squared" ? 3 : 8) + (c.standardize ? 1 : 0));
    EXPECT_LE(found.certificate.lower, known.certificate.upper);
    EXPECT_GE(found.certificate.upper, known.certificate.lower);
    EXPECT_NEAR(found.certificate.upper, known.certificate.upper, 1e-9 * known.certificate.upper);
    for (Eigen::Index j = 0; j < 5; ++j)
      EXPECT_NEAR(found.weights(0, j), known.weights(0, j), 1e-4 * std::fabs(known.weights(0, j)) + 1e-9);
    if (c.intercept && c.storage != Storage::sparse && !c.standardize) {
      EXPECT_GE(found.certificate.lower, (1 - 1e-9) * found.certificate.upper);
    }
    if (c.standardize) continue;
    // In the rows' own units.
    Eigen::VectorXd b = found.intercept;
    const Problem p = make_problem(data, options);
    b.array() -= p.target_center;
    const double value = certify(p, found.weights, b, Weights()).upper;
    EXPECT_NEAR(found.certificate.upper, value, 1e-9 * value);
  }
}

TEST_P(ScansOfLikelihood, SayWhatHasNoUniqueOptimum) {
  Table t = rows(8, 900);
  for (auto& x : t.x) x[3] = 2 * x[0] - x[2];
  EXPECT_NE(testing::refusal_by_scans(store(t, classes(), Storage::doubles), likelihood(GetParam()))
                .find("lambda => 0 has no unique optimum: the features 1, 3 and 4 are collinear"),
            std::string::npos);
}

/// A sample in which a feature is constant is no reason to refuse.
TEST_P(ScansOfLikelihood, StartWhereTheSampleHasNoOptimum) {
  Table t = rows(9, 2000);
  for (std::size_t i = 0; i < t.x.size(); ++i) t.x[i][3] = i % 500 == 3 ? t.x[i][3] : 0;
  const Dataset data = store(t, classes(), Storage::doubles);
  const Options options = likelihood(GetParam());
  ThreeParts source(data);
  const Model found = train_scans(source, options, {}), known = train(data, options, {});
  EXPECT_EQ(found.status, Status::optimal);
  EXPECT_NEAR(found.certificate.upper, known.certificate.upper, 1e-9 * known.certificate.upper);
}

/// The fit of the sample has no finite mean for a row that lies far from it.
TEST(ScansOfLikelihood, StartWhereTheSampleFitsNoOtherRow) {
  Table t = testing::labels_for("poisson", sample(10, 2000, 3, false));
  t.x[1234][0] = 4e4;
  t.y[1234] = 2;
  const Dataset data = store(t, false, Storage::doubles);
  Options options = likelihood("poisson");
  ThreeParts source(data);
  const Model found = train_scans(source, options, {}), known = train(data, options, {});
  EXPECT_EQ(found.status, known.status);
  EXPECT_NEAR(found.certificate.upper, known.certificate.upper, 1e-6 * known.certificate.upper);
}

INSTANTIATE_TEST_SUITE_P(All, ScansOfLikelihood, ::testing::Values("squared", "logistic", "poisson"),
                         [](const auto& info) { return info.param; });

/// Classes, and counts, that longer weights fit ever better: with rows on the boundary, and without.
TEST(ScansOfLikelihood, TellSeparation) {
  for (const bool counts : {false, true})
    for (const bool boundary : {true, false}) {
      if (counts && !boundary) continue;
      SCOPED_TRACE(::testing::Message() << counts << boundary);
      Random random(5);
      Table t;
      for (int i = 0; i < 1500; ++i) {
        const double dummy = i % 5 == 0 ? 1 : 0;
        t.x.push_back({dummy, testing::normal(random), 50 + testing::normal(random)});
        const bool lowest = boundary ? dummy == 1 : t.x.back()[1] > 0.2;
        const double other = boundary ? random.below(counts ? 4 : 2) : 1;
        t.y.push_back(lowest ? 0 : other);
        t.weight.push_back(1);
      }
      if (!boundary)
        for (std::size_t i = 0; i < t.x.size(); ++i) t.x[i][1] += t.y[i] == 0 ? 1 : -1;
      const Dataset data = store(t, !counts, Storage::doubles);
      const Options options = likelihood(counts ? "poisson" : "logistic");
      ThreeParts source(data);
      const Model found = train_scans(source, options, {});
      EXPECT_EQ(found.status, Status::separable);
      EXPECT_LE(source.scans, 40);
      EXPECT_EQ(found.certificate.lower, 0);
      if (!boundary) continue;
      // A scan that looks for a separation is one of those that are allowed.
      for (std::int64_t most = 2; most < source.scans; ++most) {
        Options few = options;
        few.max_iterations = most;
        ThreeParts limited(data);
        const Model early = train_scans(limited, few, {});
        EXPECT_LE(limited.scans, most);
        EXPECT_TRUE(early.status == Status::iteration_limit || most >= 10);
      }
      EXPECT_EQ(found.weights(0, 0), -1);
      EXPECT_EQ(found.weights(0, 1), 0);
      EXPECT_EQ(found.weights(0, 2), 0);
    }
}

/// Which way a row pushes the weights: exactly, or not at all; where rounding hides it, against them.
TEST(LikelihoodRows, TellTheSidesOfASeparation) {
  Objective o;
  o.task = Task::binary;
  o.dimensions = 2;
  o.intercept = false;
  const auto side = [&](std::vector<double> x, std::vector<double> w, double y) {
    CheckedRow row;
    row.x = dense_row(x.data(), 2);
    row.label = y > 0 ? 1 : 0;
    row.target = y;
    return LikelihoodRows(o, w.data(), nullptr).measure(row, x[0] * w[0] + x[1] * w[1], y).side;
  };
  o.loss = make_loss("logistic", Options());
  for (const double y : {-1.0, 1.0}) {
    EXPECT_EQ(side({1, 3}, {2, 1}, y), y);
    EXPECT_EQ(side({1, -3}, {2, 1}, y), -y);
    EXPECT_EQ(side({1, 2}, {2, -1}, y), 0);
    EXPECT_EQ(side({0.1, 0.3}, {0.3, -0.1}, y), -1);
  }
  o.loss = make_loss("poisson", Options());
  o.task = Task::regression;
  for (const double count : {0.0, 2.0}) {
    EXPECT_EQ(side({1, 3}, {2, 1}, count), -1);
    EXPECT_EQ(side({1, -3}, {2, 1}, count), count == 0 ? 1 : -1);
    EXPECT_EQ(side({1, 2}, {2, -1}, count), 0);
    EXPECT_EQ(side({0.1, 0.3}, {0.3, -0.1}, count), -1);
  }
  o.loss = make_loss("squared", Options());
  EXPECT_EQ(side({1, 3}, {2, 1}, 1), 0);
}

TEST(ScansOfLikelihood, RefuseWhatItDoesNotTake) {
  Table t = sample(3, 900, 5, true);
  const Dataset data = store(t, true, Storage::doubles);
  const auto refusal = [&](auto change) {
    Options options = likelihood("logistic");
    change(options);
    return testing::refusal_by_scans(data, options);
  };
  EXPECT_NE(refusal([](Options& s) { s.named_bounds["1"] = {0.0, 1.0}; }), "");
  EXPECT_NE(refusal([](Options& s) { s.l1_ratio = 0.5; }), "");
  EXPECT_NE(refusal([](Options& s) { s.loss = "hinge"; }), "");
  EXPECT_NE(refusal([](Options& s) { s.solver = "newton"; }), "");
}

}  // namespace
}  // namespace margin
