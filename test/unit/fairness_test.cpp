// The option fairness: the constraints that rows make of it, for whatever rows; that a verification makes them of its own.
#include "core/problem/fairness.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/model/verification.hpp"
#include "core/report/model_rules.hpp"
#include "core/train/path.hpp"
#include "core/train/train.hpp"
#include "risk_problems.hpp"

namespace margin {
namespace {

using testing::make_dataset;
using testing::normal;
using testing::Table;

/// `groups` groups, told apart by the last feature, whose scores and labels differ.
Table grouped(Random& random, int groups, bool classes, int rows = 120) {
  Table t;
  for (int i = 0; i < rows; ++i) {
    const int g = i % groups;
    const double a = normal(random) + 0.8 * g, b = normal(random) - 0.5 * g;
    t.x.push_back({a, b, normal(random), static_cast<double>(g)});
    const double score = a - b + 0.5 * normal(random);
    t.y.push_back(classes ? (score > 0.6 ? 1.0 : 0.0) : score);
    t.weight.push_back(0.5 + random.uniform());
  }
  return t;
}

/// Mean score of a group less that of all others, of the rows that `counts`.
template <class Counts>
double apart(const Table& t, const Model& m, double group, Counts&& counts) {
  double sum[2] = {0, 0}, weight[2] = {0, 0};
  for (int i = 0; i < t.rows(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (!counts(at)) continue;
    const int in = t.x[at].back() == group;
    const double c = t.weight.empty() ? 1 : t.weight[at];
    double score = 0;
    for (std::int32_t j = 0; j < m.terms(); ++j)
      score += m.weights(0, j) * t.x[at][static_cast<std::size_t>(m.feature(j))];
    sum[in] += c * score;
    weight[in] += c;
  }
  return sum[1] / weight[1] - sum[0] / weight[0];
}

Options fair(double bound, Parity measure = Parity::score) {
  Options o;
  o.loss = "logistic";
  o.lambda = 1e-3;
  o.tolerance = 1e-9;
  Fairness f;
  f.column = "4";
  f.measure = measure;
  f.bound = bound;
  o.fairness = {f};
  return o;
}

bool every(std::size_t) { return true; }

/// The option as a model keeps it.
Options kept(Options o, const Model& m) {
  o.fairness = m.parities;
  return o;
}

TEST(Fairness, MeanScoresOfGroupsDifferByTheBoundAtMost) {
  Random random(1);
  for (const int groups : {2, 3, 5}) {
    const Table t = grouped(random, groups, true);
    for (const double bound : {0.0, 0.1, 0.5}) {
      const Options o = fair(bound);
      const Model m = train(make_dataset(t, true), o, {});
      EXPECT_EQ(m.status, Status::optimal);
      ASSERT_EQ(m.parities.size(), groups == 2 ? 1U : static_cast<std::size_t>(groups));
      double largest = 0;
      for (int g = 0; g < groups; ++g) largest = std::max(largest, std::fabs(apart(t, m, g, every)));
      EXPECT_LE(largest, bound + 1e-11);
      EXPECT_GE(largest, bound - 1e-9);  // without it they differ by more
      const std::vector<ModelRule> rules = model_rules(m, kept(o, m));
      EXPECT_EQ(rules.size(), (bound == 0 ? 1 : 2) * m.parities.size());
      EXPECT_TRUE(std::any_of(rules.begin(), rules.end(), [](const ModelRule& r) { return r.active && r.price != 0; }));
    }
  }
}

TEST(Fairness, IsTheConstraintThatOneWouldWrite) {
  Random random(2);
  const Table t = grouped(random, 2, false);
  for (const bool standardize : {false, true}) {
    Options o = fair(0.2);
    o.loss = "squared";
    o.standardize = standardize;
    const Model m = train(make_dataset(t, false), o, {});
    Options by_hand = o;
    by_hand.fairness.clear();
    NamedConstraint c{"parity", {}, -0.2, 0.2};
    for (std::size_t j = 0; j < 4; ++j) {
      double sum[2] = {0, 0}, weight[2] = {0, 0};
      for (std::size_t i = 0; i < t.x.size(); ++i) {
        const int in = t.x[i][3] == 1;
        sum[in] += t.weight[i] * t.x[i][j], weight[in] += t.weight[i];
      }
      c.weights[std::to_string(j + 1)] = sum[1] / weight[1] - sum[0] / weight[0];
    }
    by_hand.constraints = {c};
    const Model other = train(make_dataset(t, false), by_hand, {});
    EXPECT_NEAR(m.certificate.upper, other.certificate.upper, 1e-11 * other.certificate.upper);
    EXPECT_NEAR(apart(t, m, 1, every), 0.2, 1e-11);
  }
}

TEST(Fairness, OfTruePositivesCountsThePositiveClassAlone) {
  Random random(3);
  const Table t = grouped(random, 3, true, 300);
  const Model m = train(make_dataset(t, true), fair(0.05, Parity::true_positive), {});
  EXPECT_EQ(m.status, Status::optimal);
  double largest = 0, of_all = 0;
  for (int g = 0; g < 3; ++g) {
    largest = std::max(largest, std::fabs(apart(t, m, g, [&](std::size_t i) { return t.y[i] == 1; })));
    of_all = std::max(of_all, std::fabs(apart(t, m, g, every)));
  }
  EXPECT_NEAR(largest, 0.05, 1e-9);
  EXPECT_GT(of_all, 0.1);
}

TEST(Fairness, OfOneGroupLeavesTheOthers) {
  Random random(4);
  const Table t = grouped(random, 3, true, 300);
  Options o = fair(0);
  o.fairness[0].group = "2";
  const Model m = train(make_dataset(t, true), o, {});
  ASSERT_EQ(m.parities.size(), 1U);
  EXPECT_NEAR(apart(t, m, 2, every), 0, 1e-11);
  EXPECT_GT(std::fabs(apart(t, m, 0, every)), 0.01);
}

TEST(Fairness, CountsWhatAnOffsetTellsOfAGroup) {
  Random random(5);
  Table t = grouped(random, 2, false, 200);
  for (std::size_t i = 0; i < t.x.size(); ++i) t.y[i] = std::floor(std::exp(0.2 * t.y[i]));
  Options o = fair(0.1);
  o.loss = "poisson";
  o.offset = "3";
  const Model m = train(make_dataset(t, false), o, {});
  EXPECT_EQ(m.status, Status::optimal);
  EXPECT_LE(std::fabs(apart(t, m, 1, every)), 0.1 + 1e-11);  // the offset's weight of 1 included
  EXPECT_NE(m.parities.at(0).shift, 0);
}

TEST(Fairness, OnAPathIsThatOfEachModel) {
  Random random(6);
  const Table t = grouped(random, 2, true);
  SelectionOptions path;
  path.settings = fair(0.1);
  path.settings.lambda.reset();
  path.losses = {"logistic"};
  path.lambdas = {0.1, 1e-3};
  const std::vector<Model> models = train_path(make_dataset(t, true), path, Progress());
  ASSERT_EQ(models.size(), 2U);
  for (const Model& m : models) {
    EXPECT_LE(std::fabs(apart(t, m, 1, every)), 0.1 + 1e-11);
    EXPECT_EQ(m.parities.size(), 1U);
  }
}

VerifiedModel verified(const Model& m, const Options& o, const Table& t, std::size_t pieces = 1) {
  const Dataset data = make_dataset(t, true);
  std::vector<Verification> parts;
  parts.reserve(pieces);
  for (std::size_t k = 0; k < pieces; ++k) {
    parts.emplace_back(m, o, pieces == 1);
    for (std::int64_t i = static_cast<std::int64_t>(k); i < data.rows(); i += static_cast<std::int64_t>(pieces))
      parts.back().add(data.row(i), data.class_of(i), -1, data.weight(i));
    if (k > 0) {
      EXPECT_TRUE(parts.front().merge(parts.back().state()));
    }
  }
  return parts.front().result(Progress());
}

TEST(Fairness, IsVerifiedOnTheRowsAtHand) {
  Random random(7);
  for (const Parity measure : {Parity::score, Parity::true_positive}) {
    const Table t = grouped(random, 3, true, 150);
    Options o = fair(0.1, measure);
    o.dual_weights = true;
    const Model m = train(make_dataset(t, true), o, {});
    const VerifiedModel same = verified(m, kept(o, m), t);
    ASSERT_TRUE(same.primal.has_value() && same.dual.has_value());
    EXPECT_NEAR(*same.primal, m.certificate.upper, 1e-12 * m.certificate.upper);
    EXPECT_NEAR(*same.dual, m.certificate.lower, 1e-9 * m.certificate.upper);
    const VerifiedModel pieces = verified(m, kept(o, m), t, 3);
    ASSERT_TRUE(pieces.primal.has_value());
    EXPECT_NEAR(*pieces.primal, m.certificate.upper, 1e-12 * m.certificate.upper);
    // Whatever the model says of the groups: on these rows it does not hold.
    Options forged = kept(o, m);
    for (Fairness& f : forged.fairness) f.bound = 0.01;
    EXPECT_FALSE(verified(m, forged, t).primal.has_value());
    Options other = kept(o, m);
    for (Fairness& f : other.fairness)
      for (auto& [key, weight] : f.weights) weight *= 2;
    EXPECT_EQ(verified(m, other, t).primal, same.primal);
    // Rows of one group say nothing of the others.
    Table one = t;
    for (std::vector<double>& x : one.x) x.back() = 1;
    EXPECT_FALSE(verified(m, kept(o, m), one).primal.has_value());
  }
}

std::string refusal(const Table& t, const Options& o, bool classes = true) {
  try {
    train(make_dataset(t, classes), o, {});
  } catch (const Error& e) {
    return e.message();
  }
  return "no error";
}

TEST(Fairness, SaysWhatIsWrong) {
  Random random(8);
  Table t = grouped(random, 2, true);
  Options o = fair(0.1);
  EXPECT_EQ(refusal(t, o), "no error");
  o.fairness[0].column = "9";
  EXPECT_EQ(refusal(t, o), "option \"fairness\" names feature 9, the rows have 4 features");
  o = fair(0.1);
  o.fairness[0].group = "7";
  EXPECT_EQ(refusal(t, o), "option \"fairness\": the column \"4\" has no row of the group \"7\"");
  EXPECT_EQ(refusal(grouped(random, 2, false), fair(0.1, Parity::true_positive), false),
            "option \"fairness\": true_positive_parity needs labels of two classes");
  o = fair(0.1);
  o.fairness[0].column = "1";
  EXPECT_EQ(refusal(t, o), "option \"fairness\": the column \"1\" has more than 64 values");
  for (std::vector<double>& x : t.x) x.back() = 3;
  EXPECT_EQ(refusal(t, fair(0.1)), "option \"fairness\": the column \"4\" has the value 3 in all rows");
  o = fair(0.1, Parity::true_positive);
  for (const double lacking : {0.0, 1.0}) {  // the rest, or the group
    t = grouped(random, 2, true);
    for (std::size_t i = 0; i < t.x.size(); ++i) t.y[i] = t.x[i].back() != lacking && t.y[i] == 1;
    EXPECT_EQ(
        refusal(t, o),
        "option \"fairness\": the column \"4\" has no row of the positive class in the group \"1\", or in it alone");
  }
}

TEST(Fairness, KnowsTheGroupsOfAnEncoder) {
  Column age, plan, sex, vip;
  age.name = "age", age.fill = {1}, age.center = {40}, age.scale = {10};
  plan.name = "plan", plan.kind = ColumnKind::category, plan.categories = {"gold", "silver", "tin"}, plan.base = 1;
  sex.name = "sex", sex.kind = ColumnKind::number, sex.fill = {1}, sex.center = {1.5}, sex.scale = {0.3},
  sex.grouping = true;
  vip.name = "vip", vip.kind = ColumnKind::boolean, vip.fill = {0}, vip.center = {0}, vip.scale = {1},
  vip.missing = true;
  const Encoder encoder({age, plan, sex, vip}, Missing::as_trained, true);  // age, gold, tin, sex, vip, vip IS NULL
  const auto named = [&](const char* column) {
    Options o;
    Fairness f;
    f.column = column;
    o.fairness = {f};
    name_fairness(o, encoder);
    return o;
  };
  const Options by_plan = named("plan"), by_sex = named("sex"), by_vip = named("vip");
  EXPECT_EQ(by_plan.fairness[0].features, (std::vector<std::int32_t>{1, 2}));
  EXPECT_TRUE(by_plan.named_bounds.empty());
  EXPECT_EQ(by_plan.fairness[0].name_of({1, 0}), "gold");
  EXPECT_EQ(by_plan.fairness[0].name_of({0, 1}), "tin");
  EXPECT_EQ(by_plan.fairness[0].name_of({0, 0}), "silver");
  EXPECT_EQ(by_sex.fairness[0].name_of({(2 - 1.5) / 0.3}), "2");
  ASSERT_EQ(by_sex.named_bounds.count("4"), 1U);  // it has no weight
  EXPECT_EQ(by_sex.named_bounds.at("4").lower, 0);
  EXPECT_EQ(by_sex.named_bounds.at("4").upper, 0);
  EXPECT_EQ(by_vip.fairness[0].name_of({1, 0}), "true");
  EXPECT_EQ(by_vip.fairness[0].name_of({0, 1}), "NULL");
  EXPECT_THROW(named("height"), Error);
  // Rows without it are predicted all the same.
  Encoder::Scratch scratch;
  Cells cells;
  cells.resize(4);
  cells.values = {40, 0, std::nan(""), 1};
  EXPECT_TRUE(encoder.encode(cells, scratch).has_value());
  Options o = named("plan");
  GroupSums sums(o.fairness[0], {"gold"}, 6);
  const double rows[][6] = {{1, 1, 0, 2, 0, 0}, {3, 1, 0, 2, 0, 0}, {5, 0, 1, 0, 0, 0}, {6, 0, 0, 4, 0, 0}};
  for (const auto& x : rows) sums.add(dense_row(x, 6), 1, false);
  Fairness f = o.fairness[0];
  f.group = "gold";
  ASSERT_TRUE(sums.tell(f, -1, &encoder));
  EXPECT_NEAR(f.weights.at("1"), 10 * (2 - 5.5), 1e-12);  // per unit of age
  EXPECT_EQ(f.weights.at("2"), 1);
  EXPECT_EQ(f.weights.at("3"), -0.5);
  EXPECT_EQ(f.weights.count("4"), 0U);  // alike in both
}

}  // namespace
}  // namespace margin
