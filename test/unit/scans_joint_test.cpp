// Classes that are trained jointly, by scans: the optimum of rows in memory, and proofs that a check of all rows agrees with.
#include <gtest/gtest.h>

#include <cmath>

#include "core/certificate/joint.hpp"
#include "core/loss/joint.hpp"
#include "core/model/verification.hpp"
#include "core/scans/answered_check.hpp"
#include "core/scans/model_question.hpp"
#include "core/scans/row_terms.hpp"
#include "core/scans/train_together.hpp"
#include "core/train/train.hpp"
#include "newton_problems.hpp"
#include "three_parts.hpp"

namespace margin {
namespace {

using testing::sample;
using testing::Storage;
using testing::store;
using testing::Table;
using testing::ThreeParts;

Options joint(const std::string& loss, const std::string& intercept, double tolerance) {
  Options s = testing::soft(loss, 1e-3, tolerance);
  s.multiclass = Multiclass::joint;
  s.intercept = intercept != "false";
  if (intercept == "free") s.intercept_form = InterceptForm::free;
  s.sample_rows = 400;
  return s;
}

/// Four classes along a line, each with a feature of its own, a tenth of them of any.
Table rows(std::uint64_t seed, int n, int d = 6) {
  Random random(seed);
  Table t = sample(seed, n, d, true, 4);
  for (std::size_t i = 0; i < t.x.size(); ++i) {
    t.x[i][static_cast<std::size_t>(t.y[i])] += 1;
    if (random.below(10) == 0) t.y[i] = static_cast<double>(random.below(4));
  }
  return t;
}

void expect_same_optimum(const Model& found, const Model& known, double tolerance) {
  EXPECT_EQ(found.status, Status::optimal) << found.certificate.relative_gap;
  EXPECT_LE(found.certificate.lower, known.certificate.upper);
  EXPECT_GE(found.certificate.upper, known.certificate.lower);
  EXPECT_NEAR(found.certificate.upper, known.certificate.upper, tolerance * known.certificate.upper);
}

class ScansOfJointClasses : public ::testing::TestWithParam<std::string> {};

TEST_P(ScansOfJointClasses, ComeToTheOptimumOfRowsInMemory) {
  struct Case {
    std::string intercept;
    bool standardize, balanced, weights;
    Storage storage;
  };
  for (const Case& c : {Case{"penalized", false, false, false, Storage::doubles},
                        {"penalized", false, true, true, Storage::floats},
                        {"false", false, false, false, Storage::sparse},
                        {"free", false, false, true, Storage::doubles},
                        {"free", true, true, false, Storage::doubles},
                        {"penalized", true, false, true, Storage::doubles}}) {
    SCOPED_TRACE(::testing::Message() << c.intercept << c.standardize << c.balanced << c.weights);
    Table t = rows(7, 4000);
    for (std::size_t i = 0; c.weights && i < t.x.size(); ++i) t.weight.push_back(i % 7 == 0 ? 0.0 : 0.5 + i % 3);
    const Dataset data = store(t, true, c.storage, 4);
    Options options = joint(GetParam(), c.intercept, 1e-6);
    options.standardize = c.standardize;
    options.class_weight_balanced = c.balanced;
    ThreeParts source(data);
    const Model found = train_scans(source, options, {}), known = train(data, options, {});
    expect_same_optimum(found, known, 1e-6);
    EXPECT_EQ(found.solver, "joint");
    EXPECT_LE(source.scans, c.standardize ? 15 : 14);
    EXPECT_NEAR(found.certificate.failure, known.certificate.failure, 0.02 * data.rows());
    EXPECT_NEAR(found.certificate.constant_loss, known.certificate.constant_loss, 1e-9);
    if (c.standardize || c.balanced) continue;
    const double value = certify(make_problem(data, options), found.weights, found.intercept, Weights()).upper;
    EXPECT_NEAR(found.certificate.upper, value, 1e-9 * value);
  }
}

/// The scores of a class without weight have no lower end.
TEST_P(ScansOfJointClasses, LeaveOutAClassWithoutWeight) {
  Table t = rows(8, 2000);
  for (const double y : t.y) t.weight.push_back(y == 2 ? 0.0 : 1.0);
  const Dataset data = store(t, true, Storage::doubles, 4);
  for (const char* intercept : {"free", "penalized"}) {
    const Options options = joint(GetParam(), intercept, 1e-4);
    ThreeParts source(data);
    expect_same_optimum(train_scans(source, options, {}), train(data, options, {}), 1e-4);
  }
}

TEST_P(ScansOfJointClasses, EndInTime) {
  Table t = rows(17, 3000, 30);
  const Dataset data = store(t, true, Storage::doubles, 4);
  Options options = joint(GetParam(), "free", 1e-12);
  options.lambda = 1e-7;
  options.sample_rows = 2000;
  options.max_seconds = 0.02;
  ThreeParts source(data);
  const Model found = train_scans(source, options, {});
  EXPECT_EQ(found.status, Status::time_limit);
  EXPECT_LT(found.seconds, 2);
}

/// Samples that say little of the other rows: the way is longer, its end the same.
TEST_P(ScansOfJointClasses, BeginWithFewRows) {
  Table t = rows(9, 3000);
  const Dataset data = store(t, true, Storage::doubles, 4);
  for (const std::int64_t sampled : {60, 150}) {
    Options options = joint(GetParam(), "penalized", 1e-3);
    options.sample_rows = sampled;
    ThreeParts source(data);
    expect_same_optimum(train_scans(source, options, {}), train(data, options, {}), 1e-3);
    EXPECT_LE(source.scans, 60);
  }
}

/// Rows that declare far more features than occur are asked about those in use; a feature that all rows have alike changes nothing.
TEST_P(ScansOfJointClasses, SeeOnlyTheFeaturesInUse) {
  Table t = rows(10, 1500);
  Dataset wide(Dataset::Outcome::classes);
  for (int c = 0; c < 4; ++c) wide.classes().intern(std::to_string(c), c);
  for (std::size_t i = 0; i < t.x.size(); ++i) {
    const std::vector<std::int32_t> columns = {3, 500, 70000, 1000000, 1999998, 1999999};
    wide.append(sparse_row(columns.data(), t.x[i].data(), 6, 2000000), testing::label_of(wide, t.y[i]), 1.0);
  }
  const Dataset narrow = store(t, true, Storage::doubles, 4);
  const Options options = joint(GetParam(), "penalized", 1e-6);
  ThreeParts source(wide);
  const Model found = train_scans(source, options, {});
  expect_same_optimum(found, train(narrow, options, {}), 1e-6);
  EXPECT_EQ(found.columns.size(), 6U);
}

TEST_P(ScansOfJointClasses, ShareScansWithOtherTrainings) {
  Table t = rows(11, 3000);
  const Dataset data = store(t, true, Storage::doubles, 4);
  std::vector<Training> trainings;
  for (const double lambda : {1e-1, 1e-2, 1e-3}) {
    for (const bool jointly : {true, false}) {
      Options options = joint(GetParam(), "free", 1e-4);
      options.lambda = lambda;
      if (!jointly) options.multiclass = Multiclass::one_vs_rest;
      trainings.push_back({options});
    }
  }
  ThreeParts source(data);
  const std::vector<Model> found = train_together(source, trainings, {});
  ASSERT_EQ(found.size(), trainings.size());
  for (std::size_t k = 0; k < found.size(); ++k)
    expect_same_optimum(found[k], train(data, trainings[k].settings, {}), 1e-4);
  EXPECT_LE(source.scans, 14);
}

/// A scan's check of all rows, and a check that saw them one by one with the same dual weights, also after some of these are replaced.
TEST_P(ScansOfJointClasses, AreCheckedAsRowsInMemory) {
  Table t = rows(12, 600);
  const Dataset data = store(t, true, Storage::doubles, 4);
  for (const char* intercept : {"penalized", "free"}) {
    Options options = joint(GetParam(), intercept, 1e-4);
    options.dual_weights = true;
    const Problem p = make_problem(data, options);
    const Model model = train(data, options, {});
    Options stated = options;
    stated.sample_rows.reset();
    const Question q = model_question(model, stated);
    MemorySource source(data);
    const Answer answer = source.ask(q, {});
    JointCheck scanned = answered_joint(q, answer);
    const JointLoss& loss = *joint_of(p.loss.get());
    JointCheck direct(objective_of(p), q.weights.data(), q.intercepts.data(), true),
        replaced(objective_of(p), q.weights.data(), q.intercepts.data(), true);
    Random random(1);
    for (std::int64_t i = 0; i < p.rows(); ++i) {
      std::vector<double> s(4), settled(4), other(4);
      for (Eigen::Index c = 0; c < 4; ++c)
        s[static_cast<std::size_t>(c)] = dot(p.data.row(i), q.weights.row(c).data()) + q.intercepts(c);
      const std::int32_t y = p.label[static_cast<std::size_t>(i)];
      loss.settled(s.data(), 4, y, settled.data());
      for (double& v : settled) v = -v;
      CheckedRow row = checked_row(p, i);
      row.dual = settled.data();
      direct.add(row);
      // Those of the training, a little off, so that a free intercept has to be balanced.
      for (std::size_t c = 0; c < 4; ++c)
        other[c] = (*model.dual_weights)(i, static_cast<Eigen::Index>(c)) * (1 - 1e-3 * random.uniform());
      row.dual = other.data();
      replaced.add(row);
      scanned.replace_dual(row, other.data());
    }
    // Weight that goes from one class to another, and nowhere back, balances nothing: what went before is gone.
    JointCheck one_way = answered_joint(q, answer);
    for (std::int64_t i = 0; i < p.rows() && p.free_intercept; ++i) {
      const std::vector<double> to = {0, p.label[static_cast<std::size_t>(i)] == 0 ? -1e-4 : 0.0, 0, 0};
      one_way.replace_dual(checked_row(p, i), to.data());
    }
    if (p.free_intercept) {
      EXPECT_EQ(one_way.certificate({}).lower, 0);
    }
    const Certificate now = scanned.certificate({}), known = replaced.certificate({});
    EXPECT_NEAR(now.upper, known.upper, 1e-12 * known.upper);
    EXPECT_GE(now.lower, 0.9 * now.upper);
    // What a balance takes is bounded by what was there before as well.
    EXPECT_LE(now.lower, known.lower + 1e-9 * known.upper);
    EXPECT_GE(now.lower, known.lower - (p.free_intercept ? 1e-3 : 1e-9) * known.upper);
    const Certificate before = answered_joint(q, answer).certificate({}), first = direct.certificate({});
    EXPECT_NEAR(before.upper, first.upper, 1e-12 * first.upper);
    EXPECT_NEAR(before.lower, first.lower, 1e-9 * first.upper);
    EXPECT_EQ(before.failure, first.failure);
  }
}

/// margin_question of a model, and margin_certificate of its answer.
TEST_P(ScansOfJointClasses, AnswerTheQuestionOfAModel) {
  Table t = rows(13, 500);
  const Dataset data = store(t, true, Storage::doubles, 4);
  Options options = joint(GetParam(), "penalized", 1e-6);
  const Model model = train(data, options, {});
  options.sample_rows.reset();
  const Question q = model_question(model, options);
  ThreeParts source(data);
  const Certificate c = answered_certificate(q, source.ask(q, {}), {});
  EXPECT_NEAR(c.upper, model.certificate.upper, 1e-12 * c.upper);
  if (GetParam() == "logistic") {
    EXPECT_NEAR(c.lower, c.upper, 2e-6 * c.upper);
  }
  EXPECT_EQ(c.failure, model.certificate.failure);
}

INSTANTIATE_TEST_SUITE_P(Losses, ScansOfJointClasses, ::testing::Values("logistic", "hinge"),
                         [](const auto& info) { return info.param; });

TEST(ScansOfJointClasses, OfTwoClassesAreThoseOfOneProblem) {
  Table t = sample(14, 2000, 5, true, 2);
  const Dataset data = store(t, true, Storage::doubles, 2);
  for (const char* loss : {"logistic", "hinge"}) {
    const Options options = joint(loss, "penalized", 1e-6);
    ThreeParts source(data);
    expect_same_optimum(train_scans(source, options, {}), train(data, options, {}), 1e-6);
  }
}

/// Of a free intercept flows between all pairs of classes are counted.
TEST(ScansOfJointClasses, HaveNoFreeInterceptsOfMoreClassesThanFlowsAreCountedFor) {
  Table t = sample(15, 1200, 3, true, 300);
  for (std::size_t i = 0; i < t.y.size(); ++i) t.y[i] = static_cast<double>(i % 300);
  const Dataset data = store(t, true, Storage::doubles, 300);
  Options options = joint("logistic", "free", 1e-1);
  options.sample_rows = 50;
  EXPECT_NE(testing::refusal_by_scans(data, options).find("at most 256 classes, and the rows have 300"),
            std::string::npos);
}

TEST(ScansOfJointClasses, QuestionsOfOtherProblemsAreRefused) {
  Table t = rows(16, 100);
  const Dataset data = store(t, true, Storage::doubles, 4);
  const Options options = joint("logistic", "penalized", 1e-3);
  Question q = model_question(train(data, options, {}), options);
  const auto refused = [](const Question& forged) {
    try {
      Question::from_bytes(forged.bytes());
    } catch (const Error& e) {
      return e.kind() == ErrorKind::malformed;
    }
    return false;
  };
  EXPECT_FALSE(refused(q));
  const auto with = [&](auto change) {
    Question forged = q;
    change(forged);
    return forged;
  };
  EXPECT_TRUE(refused(with([](Question& f) { f.lambda = 0; })));
  EXPECT_TRUE(refused(with([](Question& f) { f.l1_ratio = 0.5; })));
  EXPECT_TRUE(refused(with([](Question& f) { f.curvature = true; })));
  EXPECT_TRUE(refused(with([](Question& f) { f.penalty_factor = {2}; })));
  EXPECT_TRUE(refused(with([](Question& f) { f.bounds = {{0}, {1}}; })));
  EXPECT_TRUE(refused(with([](Question& f) { f.rings = {1, 2, 3, 4}; })));
  EXPECT_TRUE(refused(with([](Question& f) { f.offset = 1; })));
}

}  // namespace
}  // namespace margin
