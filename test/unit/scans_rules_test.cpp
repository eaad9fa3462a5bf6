// Training by scans where weights have bounds, meet constraints, have groups score alike, or are penalised by an l1 norm or by factors, and
// with a free intercept: the optimum of train(), its prices, and weights that keep every rule, whatever the sample and the split of the rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "constrained_problems.hpp"
#include "core/base/error.hpp"
#include "core/certificate/certificate.hpp"
#include "core/scans/answered_check.hpp"
#include "core/scans/model_question.hpp"
#include "core/scans/train_scans.hpp"
#include "core/train/train.hpp"
#include "newton_problems.hpp"
#include "three_parts.hpp"

namespace margin {
namespace {

using testing::make_dataset;
using testing::sample;
using testing::soft;
using testing::Storage;
using testing::store;
using testing::Table;
using testing::ThreeParts;

/// The rows confirm the value; no better one is known than its bound allows; every rule is kept.
void expect_right(const Dataset& data, const Options& options, const Model& found, const Model& known) {
  EXPECT_EQ(found.status, Status::optimal) << found.certificate.relative_gap;
  EXPECT_LE(found.certificate.lower, found.certificate.upper);
  EXPECT_LE(found.certificate.lower, known.certificate.upper * (1 + 1e-9));
  EXPECT_GE(found.certificate.upper, known.certificate.lower * (1 - 1e-9));
  if (options.standardize || !options.fairness.empty())
    return;  // the objective is about rows in other units, or about rules that rows make
  Problem p = make_problem(data, options);
  if (found.target_center.has_value()) p.target_center = *found.target_center;
  for (std::int32_t o = 0; o < p.outputs(); ++o) {
    EXPECT_LE(p.constraints.missed(found.weights.row(o).data()), met_constraint);
    for (std::int32_t j = 0; j < p.dimensions(); ++j)
      EXPECT_TRUE(p.bounds.holds(found.weights(o, j), static_cast<std::size_t>(j)));
  }
  Eigen::VectorXd b = found.intercept;
  if (p.task == Task::regression) b.array() -= p.target_center;
  const double value = certify(p, found.weights, b, Weights()).upper;
  EXPECT_NEAR(found.certificate.upper, value, 1e-9 * value);
}

class ScansUnderRules : public ::testing::TestWithParam<std::string> {};

TEST_P(ScansUnderRules, ComeToTheOptimumUnderBoundsAndConstraints) {
  Random random(5);
  for (int trial = 0; trial < 48; ++trial) {
    testing::ConstrainedCase c = testing::constrained_case(random, GetParam(), trial);
    if (trial % 3 == 2) c.options.constraints.clear();
    c.options.intercept_form = c.options.intercept ? InterceptForm::penalized : InterceptForm::by_default;
    c.options.tolerance = 1e-6;
    c.options.sample_rows = 3;
    const Dataset data = make_dataset(c.table, c.classes);
    SCOPED_TRACE(GetParam() + " " + std::to_string(trial));
    ThreeParts source(data);
    const Model known = train(data, c.options, {});
    expect_right(data, c.options, train_scans(source, c.options, {}), known);
  }
}

TEST_P(ScansUnderRules, TellThePricesOfTheRules) {
  const bool classes = !is_regression_loss(GetParam());
  for (const int k : {2, 3}) {
    if (!classes && k == 3) continue;
    for (const bool standardize : {false, true}) {
      Table t = testing::labels_for(GetParam(), sample(97, 2000, 6, classes, k));
      for (std::vector<double>& x : t.x) x[1] *= 20;
      const Dataset data = store(t, classes, Storage::doubles, k);
      Options options = soft(GetParam(), 1e-2, 1e-7);
      options.sample_rows = 200;
      options.standardize = standardize;
      options.named_bounds["1"] = {-0.05, 0.05};
      options.named_bounds["3"] = {0.02, 1e6};
      NamedConstraint sum;
      sum.name = "sum";
      sum.weights = {{"2", 1}, {"4", -1}};
      sum.lower = sum.upper = 0.01;
      options.constraints = {sum};
      SCOPED_TRACE(GetParam() + (standardize ? ", standardised, " : ", ") + std::to_string(k));
      ThreeParts source(data);
      const Model found = train_scans(source, options, {}), known = train(data, options, {});
      if (!standardize || classes) expect_right(data, options, found, known);
      EXPECT_LE(source.scans, 16);
      ASSERT_TRUE(found.prices.has_value() && found.constraint_prices.has_value());
      // Prices of targets in deviations of their labels differ by where the penalty of the intercept begins.
      const double near = standardize && !classes ? 0.05 : 2e-3;
      const double size = known.prices->cwiseAbs().maxCoeff(), held = known.constraint_prices->cwiseAbs().maxCoeff();
      EXPECT_GT(held, 0);
      EXPECT_LE((*found.prices - *known.prices).cwiseAbs().maxCoeff(), near * size);
      EXPECT_LE((*found.constraint_prices - *known.constraint_prices).cwiseAbs().maxCoeff(), near * held);
      for (Eigen::Index o = 0; o < found.weights.rows(); ++o)
        EXPECT_NEAR(found.weights(o, 1) - found.weights(o, 3), 0.01, 1e-12);
    }
  }
}

TEST_P(ScansUnderRules, GroupsScoreAlike) {
  const bool classes = !is_regression_loss(GetParam());
  Random random(7);
  for (const int groups : {2, 4}) {
    Table t;
    for (int i = 0; i < 2000; ++i) {
      const int g = i % groups;
      const double a = testing::normal(random) + 0.8 * g, b = testing::normal(random);
      t.x.push_back({a, b, static_cast<double>(g)});
      const double score = a - b + testing::normal(random);
      t.y.push_back(classes ? (score > 0.6 ? 1.0 : 0.0) : score);
      t.weight.push_back(0.5 + random.uniform());
    }
    for (const Storage storage : {Storage::doubles, Storage::sparse}) {
      Table own = testing::labels_for(GetParam(), t);
      const Dataset data = store(own, classes, storage);
      for (const Parity measure : {Parity::score, Parity::true_positive}) {
        if (measure == Parity::true_positive && !classes) continue;
        Options options = soft(GetParam(), 1e-3, 1e-6);
        options.sample_rows = 100;
        Fairness f;
        f.column = "3";
        f.measure = measure;
        f.bound = 0.05;
        options.fairness = {f};
        SCOPED_TRACE(GetParam() + " " + std::to_string(groups));
        ThreeParts source(data);
        const Model found = train_scans(source, options, {}), known = train(data, options, {});
        expect_right(data, options, found, known);
        ASSERT_EQ(found.parities.size(), known.parities.size());
        for (std::size_t k = 0; k < known.parities.size(); ++k) {
          EXPECT_EQ(found.parities[k].group, known.parities[k].group);
          ASSERT_EQ(found.parities[k].weights.size(), known.parities[k].weights.size());
          double apart = 0, size = 0;
          for (const auto& [key, value] : known.parities[k].weights) {
            EXPECT_NEAR(found.parities[k].weights.at(key), value, 1e-12 * (1 + std::fabs(value)));
            apart += value * found.weights(0, std::stoi(key) - 1);
            size += std::fabs(value * found.weights(0, std::stoi(key) - 1));
          }
          EXPECT_LE(std::fabs(apart), 0.05 + 1e-11 * size);
        }
      }
    }
  }
}

TEST_P(ScansUnderRules, PenaltiesOtherThanASquare) {
  const bool classes = !is_regression_loss(GetParam());
  struct Penalty {
    double l1_ratio;
    bool factors, free, bounds, constraint;
  };
  for (const Penalty& penalty : {Penalty{0, false, true, false, false},
                                 {0, false, true, true, true},
                                 {0.5, false, false, false, false},
                                 {0.9, true, true, true, false},
                                 {1, false, true, false, false},
                                 {1, true, true, true, false}})
    for (const int k : {2, 3}) {
      if (!classes && k == 3) continue;
      for (const bool standardize : {false, true}) {
        Table t = testing::labels_for(GetParam(), sample(103, 1500, 10, classes, k));
        for (std::vector<double>& x : t.x) x[1] *= 3, x[2] += 2;
        const Dataset data = store(t, classes, k == 2 ? Storage::doubles : Storage::sparse, k);
        Options options = soft(GetParam(), 2e-2, 1e-6);
        options.sample_rows = 150;
        options.standardize = standardize;
        options.l1_ratio = penalty.l1_ratio;
        if (penalty.free) options.intercept_form = InterceptForm::free;
        if (penalty.l1_ratio == 1) options.intercept_form = InterceptForm::by_default;
        if (penalty.factors) options.named_penalty_factor = {{"1", 5}, {"4", 0.2}};
        if (penalty.bounds) options.named_bounds["2"] = {-0.02, 0.03};
        NamedConstraint sum;
        sum.weights = {{"3", 1}, {"4", 1}};
        sum.upper = 0.05;
        if (penalty.constraint) options.constraints = {sum};
        SCOPED_TRACE(GetParam() + " " + std::to_string(penalty.l1_ratio) + (penalty.factors ? " factors" : "") +
                     (standardize ? " standardised " : " ") + std::to_string(k));
        ThreeParts source(data);
        const bool smooth = make_loss(GetParam(), options)->smooth();
        if (!smooth && penalty.l1_ratio > 0) {
          EXPECT_THROW(train_scans(source, options, {}), Error);
          continue;
        }
        const Model found = train_scans(source, options, {}), known = train(data, options, {});
        if (standardize && !classes && !penalty.free && penalty.l1_ratio < 1)
          continue;  // another level of the intercept
        expect_right(data, options, found, known);
        EXPECT_LE(source.scans, 12);
        if (GetParam() == "squared") {
          EXPECT_LE(source.scans, standardize ? 4 : 2);
        }
        // Exact zeros, where the optimum has them.
        for (Eigen::Index j = 0; penalty.l1_ratio == 1 && j < known.weights.cols(); ++j) {
          EXPECT_EQ(found.weights(0, j) == 0, known.weights(0, j) == 0);
        }
      }
    }
}

INSTANTIATE_TEST_SUITE_P(All, ScansUnderRules, ::testing::ValuesIn(testing::all_losses()),
                         [](const auto& info) { return info.param; });

/// Rows that declare `features` features, of which the first 40 are in use.
Dataset thin_rows(std::int32_t features) {
  Random random(11);
  Dataset data(Dataset::Outcome::classes);
  for (const char* name : {"a", "b"}) data.classes().intern(name, 0);
  for (int i = 0; i < 1500; ++i) {
    std::vector<std::int32_t> columns;
    std::vector<double> values;
    double score = testing::normal(random);
    for (std::int32_t j = static_cast<std::int32_t>(random.below(6)); j < 40;
         j += 1 + static_cast<std::int32_t>(random.below(12))) {
      columns.push_back(j);
      values.push_back(1);
      score += j % 3 - 1;
    }
    data.append(sparse_row(columns.data(), values.data(), static_cast<std::int32_t>(columns.size()), features),
                score > 0);
  }
  return data;
}

TEST(ScansUnderRules, FeaturesThatNoRowHasKeepTheirRulesToo) {
  const Dataset data = thin_rows(50000000);
  Options options = soft("logistic", 1e-2, 1e-6);
  options.sample_rows = 100;
  options.named_bounds["40000001"] = {0.5, 1};
  options.named_bounds["2"] = {-0.1, 0.1};
  NamedConstraint sum;
  sum.weights = {{"1", 1}, {"30000001", 1}};
  sum.lower = sum.upper = 0.3;
  options.constraints = {sum};
  ThreeParts source(data);
  const Model found = train_scans(source, options, {}), known = train(data, options, {});
  EXPECT_EQ(found.status, Status::optimal);
  EXPECT_LE(found.certificate.lower, known.certificate.upper * (1 + 1e-9));
  EXPECT_GE(found.certificate.upper, known.certificate.lower * (1 - 1e-9));
  const auto weight = [&](std::int32_t feature) {
    const auto at = std::lower_bound(found.columns.begin(), found.columns.end(), feature);
    return at == found.columns.end() || *at != feature ? 0.0 : found.weights(0, at - found.columns.begin());
  };
  EXPECT_EQ(weight(40000000), 0.5);
  EXPECT_NEAR(weight(0) + weight(30000000), 0.3, 1e-12);
}

TEST(ScansUnderRules, RefuseWhatNobodyCanMeet) {
  const Dataset data = thin_rows(60);
  const auto message = [&](const Dataset& rows, auto set) {
    Options options = soft("squared_hinge", 1e-2, 1e-3);
    options.sample_rows = 100;
    set(options);
    return testing::refusal_by_scans(rows, options);
  };
  EXPECT_NE(message(data,
                    [](Options& o) {
                      NamedConstraint low, high;
                      low.name = "low", low.weights = {{"1", 1}}, low.upper = 0;
                      high.name = "high", high.weights = {{"1", 1}}, high.lower = 1;
                      o.constraints = {low, high};
                    })
                .find("no weights meet the constraints \"low\" and \"high\""),
            std::string::npos);
  EXPECT_NE(message(data,
                    [](Options& o) {
                      Fairness f;
                      f.column = "55";
                      o.fairness = {f};
                    })
                .find("has the value 0 in all rows"),
            std::string::npos);
  // Too many features for the matrix that bounds need.
  Dataset wide(Dataset::Outcome::classes);
  for (const char* name : {"a", "b"}) wide.classes().intern(name, 0);
  for (std::int32_t i = 0; i < 3000; ++i) {
    const double one = 1;
    wide.append(sparse_row(&i, &one, 1, 3000), i % 2);
  }
  EXPECT_NE(message(wide, [](Options& o) { o.positive = true; }).find("fewer than 2048 features"), std::string::npos);
}

TEST(ScansUnderRules, QuestionsOfModelsKnowTheirBounds) {
  Table t = sample(101, 600, 4, true);
  const Dataset data = store(t, true, Storage::doubles);
  Options options = soft("logistic", 1e-2, 1e-8);
  options.positive = true;
  const Model m = train(data, options, {});
  ThreeParts source(data);
  const Question q = model_question(m, options);
  const Certificate c = answered_certificate(q, source.ask(q, {}), {});
  EXPECT_NEAR(c.upper, m.certificate.upper, 1e-9 * c.upper);
  EXPECT_NEAR(c.lower, m.certificate.lower, 1e-6 * c.upper);
  Model moved = m;
  moved.weights(0, 0) = -0.01;  // where no bound allows it
  const Question of_moved = model_question(moved, options);
  EXPECT_EQ(answered_certificate(of_moved, source.ask(of_moved, {}), {}).upper,
            std::numeric_limits<double>::infinity());
}

TEST(ScansUnderRules, QuestionsOfModelsKnowTheirPenalty) {
  Table t = sample(107, 800, 6, true);
  const Dataset data = store(t, true, Storage::doubles);
  for (const double rho : {0.5, 1.0}) {
    Options options = soft("logistic", 2e-2, 1e-9);
    options.l1_ratio = rho;
    if (rho == 1) options.intercept_form = InterceptForm::by_default;
    options.penalty_factor = {1, 2, 0.5, 1, 1, 3};
    const Model m = train(data, options, {});
    ThreeParts source(data);
    const Question q = model_question(m, options);
    const Certificate c = answered_certificate(q, source.ask(q, {}), {});
    EXPECT_NEAR(c.upper, m.certificate.upper, 1e-9 * c.upper) << rho;
    EXPECT_LE(c.lower, m.certificate.upper) << rho;
    EXPECT_NEAR(c.lower, m.certificate.lower, 1e-3 * c.upper) << rho;
  }
}

TEST(ScansUnderRules, ForgedConstraintsTakeNoMemory) {
  Question q;
  q.kind = Question::Kind::risk;
  q.outcome = Dataset::Outcome::targets;
  q.task = Task::regression;
  q.loss = make_loss("squared", Options());
  q.lambda = 1;
  q.dimensions = 2048;
  q.weights = Weights::Zero(1, q.dimensions);
  q.intercepts = Eigen::VectorXd::Zero(1);
  EXPECT_EQ(Question::from_bytes(q.bytes()).dimensions, q.dimensions);
  q.constraints.rows.push(0, 1);
  q.constraints.rows.end_row();
  q.constraints.lower = {0};
  q.constraints.upper = {1};
  EXPECT_THROW(Question::from_bytes(q.bytes()), Error);
  q.dimensions = 2047;
  q.weights = Weights::Zero(1, q.dimensions);
  EXPECT_EQ(Question::from_bytes(q.bytes()).constraints.count(), 1U);
}

TEST(ScansUnderRules, GroupsTravelAsTexts) {
  for (const std::vector<double>& values : {std::vector<double>{}, {0, -1.5, 1e300, 0.1}})
    EXPECT_EQ(group_values(group_label(values)), values);
  for (const char* text : {"3", "00000000000000zz", "7ff0000000000000", "7ff8000000000000", "3FF0000000000000"})
    EXPECT_TRUE(group_values(text).empty()) << text;
}

TEST(ScansUnderRules, ForgedQuestionsAreNoticed) {
  Question q;
  q.dimensions = 3;
  q.group_features = {2};
  EXPECT_EQ(Question::from_bytes(q.bytes()).group_features, q.group_features);
  const auto malformed = [](const Question& of) { EXPECT_THROW(Question::from_bytes(of.bytes()), Error); };
  Question forged = q;
  forged.group_features = {3};
  malformed(forged);
  forged.group_features = {-1};
  malformed(forged);
  forged = q;
  forged.group_features = {0, 1};
  forged.groups = {1, 2, 3};
  malformed(forged);
  forged.groups = {1, std::numeric_limits<double>::infinity()};
  malformed(forged);
  forged = q;
  forged.groups = {1, 2, 3};
  EXPECT_EQ(Question::from_bytes(forged.bytes()).group_count(), 3U);
  forged.sums = true;  // of which there are two, whatever the groups
  malformed(forged);
  forged = q;
  forged.group_features.clear();
  forged.group_class = "a";
  malformed(forged);
  forged = q;
  forged.group_features.clear();
  forged.bounds.lower = {0};
  forged.bounds.upper = {1};
  malformed(forged);
}

}  // namespace
}  // namespace margin
