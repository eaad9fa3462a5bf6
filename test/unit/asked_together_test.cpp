// Questions that one term answers get the answers that each gets alone.
#include "core/scans/asked_together.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/scans/answered_check.hpp"
#include "risk_problems.hpp"
#include "three_parts.hpp"

namespace margin {
namespace {

using testing::make_dataset;
using testing::make_table;
using testing::normal;
using testing::Table;
using testing::ThreeParts;

/// Counts what it is asked at a time.
class Counting final : public RowSource {
 public:
  explicit Counting(const Dataset& rows) : rows_(rows) {}
  Answer ask(const Question& q, const Progress& progress) override {
    ++asked;
    Answer answer = rows_.ask(q, progress);
    require_answer(q, answer, progress);
    return answer;
  }
  int asked = 0;

 private:
  ThreeParts rows_;
};

Question question_of(const Problem& p, Random& random) {
  Question q;
  q.kind = Question::Kind::risk;
  q.outcome = p.data.outcome();
  static_cast<Statement&>(q) = p;
  q.class_names = p.class_names;
  q.dimensions = p.dimensions();
  q.weights = Weights(p.outputs(), p.dimensions());
  q.intercepts = Eigen::VectorXd(p.outputs());
  for (double& v : q.weights.reshaped()) v = normal(random);
  for (double& v : q.intercepts) v = normal(random);
  q.bag_rows = 4;
  q.bag_bytes = 1 << 20;
  return q;
}

/// Of one problem: with rings, with a direction and steps, with curvature, with nothing more.
std::vector<Question> questions_of(const Problem& p, Random& random) {
  std::vector<Question> all(4, question_of(p, random));
  for (Question& q : all)
    for (double& v : q.weights.reshaped()) v = normal(random);
  if (!p.loss->smooth())
    for (std::int32_t o = 0; o < p.outputs(); ++o)
      for (const double edge : {0.1, 0.5, 2.0}) all[0].rings.push_back(edge);
  all[1].direction = all[1].weights;
  all[1].intercept_direction = all[1].intercepts;
  all[1].steps = {0.5, 1};
  all[2].curvature = true;
  return all;
}

void expect_same(Answer& one, Answer& other, const std::string& what) {
  ASSERT_EQ(one.rows(), other.rows()) << what;
  EXPECT_TRUE(one.fingerprint() == other.fingerprint()) << what;
  EXPECT_EQ(one.numbers(), other.numbers()) << what;
  const Weights a = one.sums(), b = other.sums();
  ASSERT_EQ(a.rows(), b.rows()) << what;
  if (a.size() > 0) {
    EXPECT_LE((a - b).cwiseAbs().maxCoeff(), 1e-12 * (1 + a.cwiseAbs().maxCoeff())) << what;
  }
  for (std::int32_t k = 0; k < a.rows(); ++k) EXPECT_EQ(one.constant_sum(k), other.constant_sum(k)) << what;
  const std::vector<Entry> cells = one.cells(), others = other.cells();
  ASSERT_EQ(cells.size(), others.size()) << what;
  for (std::size_t k = 0; k < cells.size(); ++k) {
    EXPECT_EQ(cells[k].at, others[k].at) << what;
    EXPECT_EQ(cells[k].value, others[k].value) << what;
  }
  ASSERT_EQ(one.has_matrices(), other.has_matrices()) << what;
  for (std::int32_t k = 0; k < one.bags() && one.has_matrices(); ++k)
    for (std::size_t i = 0; i < one.matrix(k).size(); ++i)
      EXPECT_NEAR(one.matrix(k).row(i)[i], other.matrix(k).row(i)[i], 1e-12 * (1 + one.matrix(k).row(i)[i])) << what;
  ASSERT_EQ(one.bags(), other.bags()) << what;
  for (std::int32_t k = 0; k < one.bags(); ++k) {
    one.bag(k).sort();
    other.bag(k).sort();
    ASSERT_EQ(one.bag(k).rows(), other.bag(k).rows()) << what;
    for (std::int64_t i = 0; i < one.bag(k).rows(); ++i)
      EXPECT_EQ(one.bag(k).row_bytes(i), other.bag(k).row_bytes(i)) << what;
  }
}

class AskedTogether : public ::testing::TestWithParam<std::string> {};

TEST_P(AskedTogether, AnswersAreThoseOfEachAlone) {
  Random random(8);
  const bool classes = !is_regression_loss(GetParam());
  for (int shape = 0; shape < 8; ++shape)
    for (const int k : {2, 3}) {
      if (!classes && k == 3) continue;
      const Dataset data =
          make_dataset(testing::labels_for(GetParam(), make_table(random, shape, classes, k)), classes, k);
      Options options;
      options.loss = GetParam();
      options.lambda = 0.01;
      options.class_weight = classes ? decltype(options.class_weight){{"1", 2.5}} : options.class_weight;
      const Problem p = make_problem(data, options);
      options.lambda = 0.5;
      const Problem narrow = make_problem(data, options);
      std::vector<Question> questions = questions_of(p, random);
      for (Question& q : questions_of(narrow, random)) questions.push_back(std::move(q));
      // Of another loss, and of that with another parameter.
      options.loss = classes ? "smoothed_hinge" : "quantile";
      for (const double parameter : {0.75, 0.25}) {
        options.smoothing = options.quantile = parameter;
        for (Question& q : questions_of(make_problem(data, options), random)) questions.push_back(std::move(q));
      }
      Question other = question_of(p, random);  // keeps more rows: asked by itself
      other.bag_rows = 7;
      questions.insert(questions.begin() + 2, other);
      Question summary;
      summary.outcome = data.outcome();
      summary.bag_rows = 5;
      summary.bag_bytes = 1 << 20;
      questions.push_back(summary);
      Counting source(data);
      std::vector<Asked> asked;
      for (const Question& q : questions) asked.push_back({q});
      std::vector<Answer> answers = ask_together(source, asked, {});
      EXPECT_EQ(source.asked, 3);
      ASSERT_EQ(answers.size(), questions.size());
      for (std::size_t i = 0; i < questions.size(); ++i) {
        const std::string what = GetParam() + " " + std::to_string(shape) + " " + std::to_string(i);
        require_answer(questions[i], answers[i], {});
        ThreeParts rows(data);
        Answer alone = rows.ask(questions[i], {});
        expect_same(answers[i], alone, what);
        if (questions[i].kind != Question::Kind::risk) continue;
        const RiskCheck one = answered_risk(questions[i], answers[i], {}), two = answered_risk(questions[i], alone, {});
        EXPECT_NEAR(one.dual(), two.dual(), 1e-9 * (1 + std::fabs(two.dual()))) << what;
        EXPECT_EQ(one.primal(), two.primal()) << what;
      }
    }
}

INSTANTIATE_TEST_SUITE_P(Losses, AskedTogether, ::testing::ValuesIn(testing::all_losses()));

TEST(AskedTogether, BytesHaveQuestionsBesideOneAndNoDeeper) {
  Random random(3);
  const Dataset data = make_dataset(make_table(random, 0, true, 2), true, 2);
  Options options;
  options.loss = "hinge";
  options.lambda = 0.1;
  const Problem p = make_problem(data, options);
  std::vector<Question> q = questions_of(p, random);
  Question both = q[0];
  both.beside = {q[1], q[2]};
  const Question back = Question::from_bytes(both.bytes());
  ASSERT_EQ(back.beside.size(), 2U);
  EXPECT_EQ(back.bytes(), both.bytes());
  EXPECT_EQ(back.beside[1].bytes(), q[2].bytes());
  Question deeper = q[3];
  deeper.beside = {both};
  EXPECT_THROW(Question::from_bytes(deeper.bytes()), Error);
  const auto refuses = [&](auto change) {
    Question bad = both;
    change(bad.beside[0]);
    EXPECT_THROW(Question::from_bytes(bad.bytes()), Error);
  };
  refuses([](Question& other) { other.bag_rows = 5; });
  refuses([](Question& other) { other.bag_bytes = 5; });
  refuses([](Question& other) { other.intercept_scale = 2; });
  refuses([](Question& other) { other.class_names[0] = "another"; });
  refuses([&](Question& other) { other.column_scale.assign(static_cast<std::size_t>(p.dimensions()), 2.0); });
  refuses([](Question& other) { other = Question(); });
  Question wrong;  // a summary with one beside it
  wrong.beside = {q[0]};
  EXPECT_THROW(Question::from_bytes(wrong.bytes()), Error);
}

}  // namespace
}  // namespace margin
