// Training by scans with an offset: the problem of train(), its optimum, and what the rows answer of the model.
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.hpp"
#include "core/certificate/certificate.hpp"
#include "core/scans/model_question.hpp"
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

/// Rows whose feature 3 is an offset that matters: the rest would say less than it.
Table rows_with_offset(const std::string& loss, std::uint64_t seed, int n, bool classes) {
  Random random(seed);
  Table t = sample(seed, n, 6, classes);
  for (std::size_t i = 0; i < t.x.size(); ++i) {
    t.x[i][2] = 0.7 * testing::normal(random) + 0.3 * t.x[i][0];
    if (!classes) t.y[i] = t.y[i] + 3 * t.x[i][2] + 5;
    if (classes && random.uniform() < 0.4) t.y[i] = t.x[i][2] > 0 ? 1 : 0;
  }
  return testing::labels_for(loss, t);
}

class ScansWithOffset : public ::testing::TestWithParam<std::string> {
 protected:
  bool classes() const { return !is_regression_loss(GetParam()); }
};

TEST_P(ScansWithOffset, ComeToTheOptimumOfRowsInMemory) {
  struct Case {
    double l1_ratio;
    bool free, standardize, bounds;
    Storage storage;
  };
  for (const Case& c : {Case{0, false, false, false, Storage::doubles},
                        {0, true, false, false, Storage::doubles},
                        {0, false, true, false, Storage::doubles},
                        {0.5, false, false, false, Storage::sparse},
                        {1, true, false, false, Storage::doubles},
                        {0, false, false, true, Storage::doubles},
                        {0, true, false, true, Storage::sparse}}) {
    Table rows = rows_with_offset(GetParam(), 61, 1800, classes());
    const Dataset data = store(rows, classes(), c.storage);
    Options options = soft(GetParam(), 1e-2, 1e-7);
    options.sample_rows = 150;
    options.offset = "3";
    options.l1_ratio = c.l1_ratio;
    options.standardize = c.standardize;
    options.intercept_form = c.free ? InterceptForm::free : InterceptForm::penalized;
    if (c.bounds) options.named_bounds["1"] = {-0.05, 0.05};
    if (c.l1_ratio > 0 && !make_loss(GetParam(), options)->smooth()) continue;
    SCOPED_TRACE(::testing::Message() << GetParam() << " " << c.l1_ratio << c.free << c.standardize << c.bounds);
    ThreeParts source(data);
    const Model found = train_scans(source, options, {}), known = train(data, options, {});
    EXPECT_EQ(found.status, Status::optimal) << found.certificate.relative_gap;
    EXPECT_LE(source.scans, 14);
    EXPECT_EQ(found.weights(0, 2), 1);
    EXPECT_LE(found.certificate.lower, found.certificate.upper);
    EXPECT_LE(found.certificate.lower, known.certificate.upper * (1 + 1e-9));
    EXPECT_GE(found.certificate.upper, known.certificate.lower * (1 - 1e-9));
    EXPECT_LE((found.weights - known.weights).cwiseAbs().maxCoeff(), 2e-3 * known.weights.cwiseAbs().maxCoeff());
    EXPECT_NEAR(found.intercept(0), known.intercept(0), 2e-3 * (1 + std::fabs(known.intercept(0))));
    EXPECT_EQ(found.target_center.has_value(), known.target_center.has_value());
    // Of classes all rows tell it; otherwise they are asked where the sample leaves a doubt.
    EXPECT_NEAR(found.certificate.constant_failure, known.certificate.constant_failure,
                (classes() || GetParam() == "squared" ? 1e-9 : 0.3) * known.certificate.constant_failure);
    if (found.target_center.has_value()) {
      EXPECT_NEAR(*found.target_center, *known.target_center, 1e-9);
    }
    if (c.standardize) continue;
    Problem p = make_problem(data, options);
    if (found.target_center.has_value()) p.target_center = *found.target_center;
    Eigen::VectorXd b = found.intercept;
    if (p.task == Task::regression) b.array() -= p.target_center;
    const double value = certify(p, found.weights, b, Weights()).upper;
    EXPECT_NEAR(found.certificate.upper, value, 1e-9 * value);
    const Question q = model_question(found, options);
    const Certificate answered = answered_certificate(q, source.ask(q, {}), {});
    EXPECT_NEAR(answered.upper, value, 1e-9 * value);
    EXPECT_LE(answered.lower, known.certificate.upper * (1 + 1e-9));
  }
}

TEST(ScansWithOffset, RefuseWhatTheyCannot) {
  for (const std::string& loss : testing::all_losses()) {
    const bool classes = !is_regression_loss(loss);
    Table rows = rows_with_offset(loss, 62, 900, classes);
    const Dataset data = store(rows, classes, Storage::doubles);
    const auto refusal = [&](const std::string& offset) {
      Options options = soft(loss, 1e-2, 1e-3);
      options.sample_rows = 100;
      options.offset = offset;
      return testing::refusal_by_scans(data, options);
    };
    EXPECT_EQ(refusal("3"), "");
    EXPECT_NE(refusal("7").find("feature 7, the rows have 6 features"), std::string::npos);
    EXPECT_NE(refusal("exposure").find("have numbers only"), std::string::npos);
  }
}

/// Beside rules: the means of groups count the offset, and a constraint is on the others.
TEST_P(ScansWithOffset, MeetConstraintsAndParity) {
  Table rows = rows_with_offset(GetParam(), 65, 1500, classes());
  for (std::size_t i = 0; i < rows.x.size(); ++i)
    rows.x[i][5] = static_cast<double>(i % 2), rows.x[i][2] += 0.3 * rows.x[i][5];
  const Dataset data = store(rows, classes(), Storage::doubles);
  Options options = soft(GetParam(), 1e-2, 1e-6);
  options.sample_rows = 150;
  options.offset = "3";
  NamedConstraint sum;
  sum.weights = {{"1", 1}, {"2", 1}};
  sum.upper = 0.05;
  options.constraints = {sum};
  Fairness parity;
  parity.column = "6";
  parity.bound = 0.05;
  options.fairness = {parity};
  ThreeParts source(data);
  const Model found = train_scans(source, options, {}), known = train(data, options, {});
  EXPECT_EQ(found.status, Status::optimal) << found.certificate.relative_gap;
  EXPECT_LE(found.certificate.lower, known.certificate.upper * (1 + 1e-9));
  EXPECT_GE(found.certificate.upper, known.certificate.lower * (1 - 1e-9));
  EXPECT_LE(found.weights(0, 0) + found.weights(0, 1), 0.05 + 1e-12);
  ASSERT_EQ(found.parities.size(), known.parities.size());
  double mean[2] = {0, 0}, weight[2] = {0, 0};
  for (std::int64_t i = 0; i < data.rows(); ++i) {
    mean[i % 2] += data.weight(i) * dot(data.row(i), found.weights.row(0).data());
    weight[i % 2] += data.weight(i);
  }
  EXPECT_LE(std::fabs(mean[0] / weight[0] - mean[1] / weight[1]), 0.05 + 1e-9);
}

TEST_P(ScansWithOffset, AreHardlyBetterThanAConstantOfAllRowsNotOfTheSample) {
  if (classes()) return;  // told from all rows, and by ComeToTheOptimumOfRowsInMemory
  Table rows = rows_with_offset(GetParam(), 64, 1500, false);
  const Dataset data = store(rows, false, Storage::doubles);
  for (const char* const offset : {"", "3"}) {
    Options options = soft(GetParam(), 1e4, 1e-6);  // as good as no weights
    options.sample_rows = 10;
    options.offset = offset;
    options.intercept_form = InterceptForm::free;
    ThreeParts source(data);
    const Model found = train_scans(source, options, {}), known = train(data, options, {});
    // A constant that the sample tells is nearly the best one.
    const double near = GetParam() == "poisson" && *offset != 0 ? 0.2 : 1e-6;
    EXPECT_NEAR(found.certificate.constant_failure / known.certificate.constant_failure, 1, near) << offset;
    EXPECT_LE(known.certificate.constant_failure, found.certificate.constant_failure * (1 + 1e-6)) << offset;
  }
}

TEST(ScansWithOffset, NoneIsWorseThanAConstantFarFromZero) {
  Random random(66);
  for (const double level : {0.0, 1e12, 1e150}) {
    Table t = sample(66, 1500, 4, false);
    for (double& y : t.y) y = level + (level > 1e100 ? 1e149 : 1) * (y + testing::normal(random));
    const Dataset data = store(t, false, Storage::doubles);
    Options options = soft("squared", 1e-2, 1e-3);
    options.sample_rows = 100;
    ThreeParts source(data);
    const Model found = train_scans(source, options, {}), known = train(data, options, {});
    // Far from 0 too few digits of the sums are left: the sampled rows tell it, and all of them where there is a doubt.
    EXPECT_NEAR(found.certificate.constant_failure / known.certificate.constant_failure, 1, level == 0 ? 1e-9 : 0.3);
  }
}

INSTANTIATE_TEST_SUITE_P(All, ScansWithOffset, ::testing::ValuesIn(testing::all_losses()),
                         [](const auto& info) { return info.param; });

TEST(ScansWithOffset, ThatFewRowsOfManyFeaturesHave) {
  constexpr std::int32_t features = 50000000;
  Dataset data(Dataset::Outcome::targets);
  Random random(63);
  for (int i = 0; i < 1500; ++i) {
    const std::int32_t columns[] = {static_cast<std::int32_t>(random.below(30)), 40000000};
    const double values[] = {1, testing::normal(random)};
    const std::int32_t count = i % 3 == 0 ? 1 : 2;
    const double mean = std::exp(0.2 * (columns[0] % 4) + (count == 2 ? values[1] : 0.0));
    data.append(sparse_row(columns, values, count, features), std::floor(2 * mean * random.uniform()));
  }
  for (const char* loss : {"poisson", "squared"}) {
    Options options = soft(loss, 1e-2, 1e-7);
    options.sample_rows = 100;
    options.offset = "40000001";
    ThreeParts source(data);
    const Model found = train_scans(source, options, {}), known = train(data, options, {});
    EXPECT_EQ(found.status, Status::optimal);
    EXPECT_LE(found.certificate.lower, known.certificate.upper * (1 + 1e-9));
    EXPECT_GE(found.certificate.upper, known.certificate.lower * (1 - 1e-9));
    ASSERT_EQ(found.columns.back(), 40000000);
    EXPECT_EQ(found.weights(0, found.weights.cols() - 1), 1);
  }
}

TEST(ScansWithOffset, ForgedOffsetsAreNoticed) {
  Question q;
  q.outcome = Dataset::Outcome::targets;
  q.offset = 2000000000;  // of a summary: nobody knows yet how many features there are
  EXPECT_EQ(Question::from_bytes(q.bytes()).offset, q.offset);
  q.outcome = Dataset::Outcome::classes;
  EXPECT_THROW(Question::from_bytes(q.bytes()), Error);
  q.outcome = Dataset::Outcome::targets;
  q.kind = Question::Kind::risk;
  q.task = Task::regression;
  q.loss = make_loss("squared", Options());
  q.lambda = 1;
  q.dimensions = 3;
  q.weights = Weights::Zero(1, 3);
  q.intercepts = Eigen::VectorXd::Zero(1);
  for (const std::int32_t offset : {-1, 2, 3, 2000000000}) {
    q.offset = offset;
    if (offset < 3) {
      EXPECT_EQ(Question::from_bytes(q.bytes()).offset, offset);
    } else {
      EXPECT_THROW(Question::from_bytes(q.bytes()), Error);
    }
  }
}

}  // namespace
}  // namespace margin
