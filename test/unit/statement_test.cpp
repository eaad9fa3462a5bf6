// The statement of a problem: every member counts and travels, nobody's bytes get past it, and the problem of a training, the
// question of a scan and what a stored model says are one.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "core/loss/joint.hpp"
#include "core/model/statement_of.hpp"
#include "core/train/train.hpp"
#include "risk_problems.hpp"

namespace margin {
namespace {

using testing::make_dataset;
using testing::make_table;
using testing::Table;

bool operator!=(const Constraints& a, const Constraints& b) {
  return a.rows.begin != b.rows.begin || a.rows.feature != b.rows.feature || a.rows.coefficient != b.rows.coefficient ||
         a.lower != b.lower || a.upper != b.upper;
}

/// All members, in their order: one more or less does not compile here.
auto members(const Statement& s) {
  const auto& [task, classes, norm, learners, interpolate, loss, lambda, l1_ratio, penalty_factor, least_factor, bounds,
               constraints, offset, intercept, free_intercept, intercept_scale, target_center, target_scale,
               class_weight] = s;
  return std::tie(task, classes, norm, learners, interpolate, loss, lambda, l1_ratio, penalty_factor, least_factor,
                  bounds, constraints, offset, intercept, free_intercept, intercept_scale, target_center, target_scale,
                  class_weight);
}
using Members = decltype(members(std::declval<const Statement&>()));

struct Change {
  std::function<void(Statement&)> make;
  const char* unread = nullptr;  ///< why no check reads the member
};
/// One of each member, in their order.
std::vector<Change> changes() {
  return {{[](Statement& s) { s.task = Task::multiclass; }},
          {[](Statement& s) { s.classes = 3; }},
          {[](Statement& s) { s.norm = 1.5; }},
          {[](Statement& s) { s.learners = Learners::trees; }, "the basis of the model says it"},
          {[](Statement& s) { s.interpolate = true; }},
          {[](Statement& s) { s.loss = make_loss("hinge", Options()); }},
          {[](Statement& s) { s.lambda = 0.25; }},
          {[](Statement& s) { s.l1_ratio = 0.5; }},
          {[](Statement& s) { s.penalty_factor = {1, 0, 2}; }},
          {[](Statement& s) { s.least_factor = 0.5; }},
          {[](Statement& s) { s.bounds.lower = {0, -1}, s.bounds.upper = {5, 2}; }},
          {[](Statement& s) {
            s.constraints.rows.push(0, 1);
            s.constraints.rows.push(2, -1);
            s.constraints.rows.end_row();
            s.constraints.lower = {-0.5}, s.constraints.upper = {0.5};
          }},
          {[](Statement& s) { s.offset = 2; }},
          {[](Statement& s) { s.intercept = false; }},
          {[](Statement& s) { s.free_intercept = true; }},
          {[](Statement& s) { s.intercept_scale = 4; }},
          {[](Statement& s) { s.target_center = -3; }, "rows come with their targets in the units of the loss"},
          {[](Statement& s) { s.target_scale = 7; }},
          {[](Statement& s) { s.class_weight = {1, 3}; }, "rows come with their weights"}};
}

Statement two_classes() {
  Statement s;
  s.classes = 2;
  return s;
}

Statement back(const std::string& bytes) {
  ByteReader in(bytes, "statement");
  Statement s = Statement::read(in);
  in.finish();
  return s;
}

TEST(Statement, EveryMemberCountsAndTravels) {
  ASSERT_EQ(changes().size(), std::tuple_size_v<Members>);
  std::vector<std::string> seen = {two_classes().bytes()};
  for (const Change& change : changes()) {
    Statement s = two_classes();
    change.make(s);
    if (s.classes == 3) s.class_weight.clear();
    EXPECT_FALSE(s == two_classes());
    for (const std::string& other : seen) EXPECT_NE(s.bytes(), other);
    seen.push_back(s.bytes());
    EXPECT_TRUE(back(s.bytes()) == s);
  }
}

TEST(Statement, LossesTravelWithAllTheirParametersAndTheirForm) {
  std::vector<std::string> seen;
  for (const std::string_view name : loss_names()) {
    Options given;
    for (const LossParameter& parameter : loss_parameters()) {
      given.*parameter.value *= 0.7;
      ASSERT_TRUE(parameter.valid(given.*parameter.value)) << parameter.option;
    }
    for (const Options& options : {Options(), given}) {
      Statement s;
      s.loss = make_loss(name, options);
      s.task = s.loss->classification() ? Task::binary : Task::regression;
      s.classes = s.loss->classification() ? 2 : 0;
      const Statement found = back(s.bytes());
      EXPECT_TRUE(found == s) << name;
      EXPECT_EQ(found.loss->parameters(), s.loss->parameters()) << name;
      for (const std::string& other : seen) EXPECT_TRUE(other != s.bytes() || s.loss->parameters().empty()) << name;
      seen.push_back(s.bytes());
      if (!has_joint_form(name)) continue;
      Statement joint = s;
      joint.task = Task::multiclass;
      joint.classes = 3;
      Statement rest = joint;
      joint.loss = joint_form(joint.loss);
      EXPECT_FALSE(joint == rest) << name;
      EXPECT_NE(joint_of(back(joint.bytes()).loss.get()), nullptr) << name;
      EXPECT_EQ(joint_of(back(rest.bytes()).loss.get()), nullptr) << name;
    }
  }
}

TEST(Statement, NobodysBytesGetPast) {
  Statement s = two_classes();
  s.penalty_factor = {1, 0, 2};
  s.class_weight = {1, 3};
  s.bounds.lower = {-1, 0}, s.bounds.upper = {2, 5};
  s.constraints.rows.push(1, 2);
  s.constraints.rows.end_row();
  s.constraints.rows.push(0, 1);
  s.constraints.rows.push(2, -3);
  s.constraints.rows.end_row();
  s.constraints.lower = {0, -1}, s.constraints.upper = {1, std::numeric_limits<double>::infinity()};
  s.loss = make_loss("smoothed_hinge", Options());
  const std::string bytes = s.bytes();
  for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_THROW(back(bytes.substr(0, size)), Error) << size;
  int sound = 0, refused = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at)
    for (const int bit : {1, 2, 64, 128, 255}) {
      std::string forged = bytes;
      forged[at] = static_cast<char>(forged[at] ^ bit);
      try {
        const Statement read = back(forged);
        EXPECT_EQ(read.bytes(), forged);
        EXPECT_NE(read.loss, nullptr);
        const auto finite = [](const auto& member) {
          if constexpr (std::is_same_v<std::decay_t<decltype(member)>, double>) {
            EXPECT_TRUE(std::isfinite(member));
          }
        };
        std::apply([&](const auto&... member) { (finite(member), ...); }, members(read));
        for (const auto& numbers : {read.penalty_factor, read.class_weight})
          for (const double v : numbers) EXPECT_TRUE(v >= 0 && std::isfinite(v));
        ASSERT_EQ(read.bounds.lower.size(), read.bounds.upper.size());
        for (std::size_t j = 0; j < read.bounds.lower.size(); ++j)
          EXPECT_TRUE(read.bounds.lower[j] <= read.bounds.upper[j] && std::isfinite(read.bounds.clip(0, j)));
        for (const std::int32_t j : read.constraints.rows.feature) ASSERT_GE(j, 0);
        ASSERT_EQ(read.constraints.rows.count(), read.constraints.upper.size());
        ASSERT_EQ(read.constraints.lower.size(), read.constraints.upper.size());
        ASSERT_EQ(static_cast<std::size_t>(read.constraints.rows.begin.back()), read.constraints.rows.feature.size());
        ++sound;
      } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::malformed) << e.what();
        ++refused;
      }
    }
  EXPECT_GT(sound, 0);
  EXPECT_GT(refused, sound / 4);
}

struct Asked {
  const char* what;
  bool classes;
  int number;
  std::function<void(Options&)> set;
};
const std::vector<Asked>& problems() {
  static const std::vector<Asked> list = {
      {"hard", true, 2, [](Options& o) { o.lambda.reset(); }},
      {"hard, l1", true, 2, [](Options& o) { o.lambda.reset(), o.norm = 1; }},
      {"hard, l1.5, no intercept", true, 2, [](Options& o) { o.lambda.reset(), o.norm = 1.5, o.intercept = false; }},
      {"stumps", true, 2, [](Options& o) { o.lambda.reset(), o.norm = 1, o.learners = Learners::stumps; }},
      {"hard, three", true, 3, [](Options& o) { o.lambda.reset(); }},
      {"hinge", true, 2, [](Options&) {}},
      {"scaled intercept", true, 2, [](Options& o) { o.intercept_scale = 3; }},
      {"class weights", true, 2, [](Options& o) { o.class_weight = {{"1", 2.5}}; }},
      {"free", true, 2, [](Options& o) { o.loss = "logistic", o.intercept_form = InterceptForm::free; }},
      {"smoothed", true, 2, [](Options& o) { o.loss = "smoothed_hinge", o.smoothing = 0.3; }},
      {"three", true, 3, [](Options& o) { o.loss = "squared_hinge"; }},
      {"joint", true, 3, [](Options& o) { o.loss = "logistic", o.multiclass = Multiclass::joint; }},
      {"joint of two", true, 2, [](Options& o) { o.loss = "logistic", o.multiclass = Multiclass::joint; }},
      {"elastic", true, 2, [](Options& o) { o.loss = "logistic", o.l1_ratio = 0.3; }},
      {"absolute", false, 0, [](Options& o) { o.loss = "absolute"; }},
      {"huber", false, 0, [](Options& o) { o.loss = "huber", o.epsilon = 0.4; }},
      {"quantile", false, 0, [](Options& o) { o.loss = "quantile", o.quantile = 0.9; }},
      {"insensitive", false, 0, [](Options& o) { o.loss = "epsilon_insensitive", o.epsilon = 0.2; }},
      {"ridge, free", false, 0, [](Options& o) { o.loss = "squared", o.intercept_form = InterceptForm::free; }},
      {"standardized", false, 0, [](Options& o) { o.loss = "epsilon_insensitive", o.standardize = true; }},
      {"offset", false, 0, [](Options& o) { o.loss = "huber", o.offset = "2"; }},
      {"every target", false, 0, [](Options& o) { o.lambda.reset(), o.loss = "interpolate"; }},
      {"positive", false, 0, [](Options& o) { o.loss = "squared", o.l1_ratio = 0.5, o.positive = true; }},
      {"bounds", true, 2, [](Options& o) { o.named_bounds = {{"2", {-0.5, 0.25}}, {"*", {-1, 1}}}; }},
      {"monotone", true, 3, [](Options& o) { o.monotone = {{"1", true}, {"3", false}}; }},
      {"constraints", true, 3,
       [](Options& o) { o.constraints = {{"a", {{"1", 2.0}, {"3", -1.0}}, -0.5, 0.25}, {"b", {{"*", 1.0}}, 0, 0}}; }},
      {"bounds in units of labels", false, 0,
       [](Options& o) { o.loss = "squared", o.target_scale = 4, o.bounds = {{-1, 1}, {0, 2}, {-3, -1}}; }},
      {"factors", false, 0, [](Options& o) { o.loss = "squared", o.l1_ratio = 0.5, o.penalty_factor = {0.5, 2, 1}; }}};
  return list;
}

/// Which members are not those of another statement.
template <std::size_t... at>
void note_differences(const Statement& a, const Statement& b, std::vector<bool>& differ, std::index_sequence<at...>) {
  ((differ[at] = differ[at] || std::get<at>(members(a)) != std::get<at>(members(b))), ...);
}

TEST(Statement, ATrainingAndTheModelThatItLeavesStateOneProblem) {
  Random random(5);
  Progress progress;
  constexpr std::size_t all = std::tuple_size_v<Members>;
  std::vector<bool> tried(all, false);
  for (const Asked& asked : problems()) {
    Table t = make_table(random, 7, asked.classes, std::max(2, asked.number));
    for (std::vector<double>& x : t.x) x.resize(3, 0.5);
    if (asked.number == 3)
      for (std::size_t i = 0; i < 3; ++i) t.y[i] = static_cast<double>(i);
    Options options;
    options.lambda = 0.1;
    asked.set(options);
    const bool exactly = options.loss == "interpolate";
    Dataset points(Dataset::Outcome::intervals);
    for (std::size_t i = 0; i < 3; ++i) points.append(dense_row(t.x[i].data(), 3), t.y[i]);
    const Dataset traded = make_dataset(t, asked.classes, std::max(2, asked.number));
    const Dataset& data = exactly ? points : traded;
    const Problem problem = make_problem(data, options);
    // Options tell of a training to come what its problem turns out to have: refusals of products are made from either.
    const unsigned of_rows =
        feature::several_classes | feature::joint_classes | (exactly ? unsigned{feature::regression} : 0U);
    EXPECT_EQ(names_of(features_of(problem) & ~of_rows),
              names_of(features_of(options) & ~of_rows & ~feature::around & ~feature::initial))
        << asked.what;
    const Statement& stated = problem;
    const Statement said = objective_of(train(data, options, progress), options);
    std::vector<std::string> bytes;
    for (Statement s : {stated, said}) {
      note_differences(s, Statement(), tried, std::make_index_sequence<all>());
      if (s.penalty_factor.size() < 3) s.penalty_factor.resize(3, s.least_factor);
      s.least_factor = 1;  // of features that these rows do not have
      bytes.push_back(s.bytes());
    }
    EXPECT_EQ(bytes[0], bytes[1]) << asked.what;
  }
  for (std::size_t at = 0; at < all; ++at)
    EXPECT_TRUE(tried[at]) << "no training in problems() has another value of member " << at;
}

/// What vectors of three outputs and three features prove of six rows.
std::pair<double, double> interval(const Objective& objective) {
  const double weights[] = {-0.3, 0.25, 0.5, 0.1, 0.4, -0.6, -0.4, 0.2, 0.1}, intercept[] = {0.2, -0.1, 0.3};
  const auto check = make_check(objective, {weights, intercept, nullptr}, true);
  for (int i = 0; i < 6; ++i) {
    const double x[] = {1 + 0.5 * i, 2.0 - i, 0.3 * i * i - 1}, dual[] = {0.3, 0.2, 0.1};
    CheckedRow row;
    row.x = dense_row(x, 3);
    row.label = i % 2;
    row.target = row.upper_target = 0.4 * i - 0.7;
    row.dual = dual;
    check->add(row);
  }
  const Certificate c = check->certificate({});
  return {c.lower, c.upper};
}

// A member that no check reads would be certified as if it were not there.
TEST(Statement, EveryMemberCountsInACheckOfSomeProblem) {
  const auto soft = [](const char* loss) {
    Statement s = two_classes();
    s.loss = make_loss(loss, Options());
    s.lambda = 0.1;
    if (is_regression_loss(loss)) s.task = Task::regression, s.classes = 0;
    return s;
  };
  std::vector<Statement> bases = {two_classes(), soft("squared_hinge"), soft("squared"), soft("squared"),
                                  soft("squared_hinge")};
  bases[2].penalty_factor = {1};
  bases[2].l1_ratio = 0.5;
  bases[3].offset = 1;
  bases[3].target_scale = 4;
  std::size_t at = 0;
  for (const Change& change : changes()) {
    bool counts = false;
    for (const Statement& base : bases) {
      Statement other = base;
      change.make(other);
      const auto [lower, upper] = interval({base, 3});
      const auto [other_lower, other_upper] = interval({other, 3});
      counts = counts || lower != other_lower || upper != other_upper;
    }
    EXPECT_EQ(counts, change.unread == nullptr) << "member " << at;
    ++at;
  }
}

/// Two classes at once have weights −v/2 and v/2 for the one output v: their penalty is that of v at half of lambda.
TEST(Statement, TwoJointClassesAreOneOutputAtHalfOfLambda) {
  Random random(11);
  Progress progress;
  const Table t = make_table(random, 0, true, 2);
  const Dataset data = make_dataset(t, true, 2);
  Options options;
  options.loss = "logistic";
  options.multiclass = Multiclass::joint;
  options.lambda = 0.1;
  options.intercept = false;
  options.tolerance = 1e-10;
  const Model model = train(data, options, progress);
  double loss = 0, squares = 0;
  for (std::size_t i = 0; i < t.x.size(); ++i) {
    double v = 0;
    for (std::size_t j = 0; j < t.x[i].size(); ++j) v += model.weights(0, static_cast<Eigen::Index>(j)) * t.x[i][j];
    loss += std::log1p(std::exp(t.y[i] > 0 ? -v : v)) / static_cast<double>(t.x.size());
  }
  for (const double v : model.weights.row(0)) squares += 2 * (v / 2) * (v / 2);
  EXPECT_NEAR(loss + 0.1 / 2 * squares, model.certificate.upper, 1e-9);
}

}  // namespace
}  // namespace margin
