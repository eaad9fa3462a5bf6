// Questions, terms and answers: the parts merge into the whole, the bytes say the same, bad bytes are refused.
#include <gtest/gtest.h>

#include <cmath>

#include "core/certificate/certificate.hpp"
#include "core/math/norm.hpp"
#include "core/scans/answered_check.hpp"
#include "core/scans/model_figures.hpp"
#include "core/scans/row_source.hpp"
#include "core/scans/row_terms.hpp"
#include "risk_problems.hpp"

namespace margin {
namespace {

using testing::make_dataset;
using testing::make_table;
using testing::normal;
using testing::Table;

Question summary_of(Dataset::Outcome outcome, bool curvature) {
  Question q;
  q.outcome = outcome;
  q.curvature = curvature;
  q.sums = true;
  q.bag_rows = 5;
  q.bag_bytes = 1 << 20;
  return q;
}

Question risk_of(const Problem& p, Random& random) {
  Question q;
  q.kind = Question::Kind::risk;
  q.outcome = p.data.outcome();
  static_cast<Statement&>(q) = p;
  q.free_intercept = false;
  q.target_center = 0;
  q.class_names = p.class_names;
  q.dimensions = p.dimensions();
  q.weights = Weights(p.outputs(), p.dimensions());
  q.direction = q.weights;
  q.intercepts = Eigen::VectorXd(p.outputs());
  q.intercept_direction = q.intercepts;
  for (double& v : q.weights.reshaped()) v = normal(random);
  for (double& v : q.direction.reshaped()) v = normal(random);
  for (double& v : q.intercepts) v = normal(random);
  for (double& v : q.intercept_direction) v = normal(random);
  q.steps = {0.5, 1.0};
  q.curvature = true;
  q.bag_rows = 4;
  q.bag_bytes = 1 << 20;
  return q;
}

/// The answers of rows i with i % parts == part.
std::vector<Answer> split(const Question& q, const Table& t, bool classes, int parts) {
  std::vector<Answer> out;
  for (int k = 0; k < parts; ++k) out.emplace_back();
  RowTerms terms(q);
  for (std::size_t i = 0; i < t.x.size(); ++i) {
    const std::string name = classes ? std::to_string(static_cast<int>(t.y[i])) : "";
    RowLabel label{name, classes ? t.y[i] : 0, classes, classes ? 0 : t.y[i], classes ? 0 : t.y[i]};
    const std::int32_t at = classes && q.kind != Question::Kind::summary ? terms.class_index(name) : -1;
    out[i % out.size()].add(terms.term(dense_row(t.x[i].data(), t.dimensions()), label, at, 1));
  }
  return out;
}

void expect_near(const Answer& a, const Answer& b) {
  ASSERT_EQ(a.rows(), b.rows());
  const std::vector<double> left = a.numbers(), right = b.numbers();
  ASSERT_EQ(left.size(), right.size());
  for (std::size_t k = 0; k < left.size(); ++k)
    if (left[k] != right[k]) {  // infinities have no difference
      EXPECT_NEAR(left[k], right[k], 1e-12 * (1 + std::fabs(left[k])));
    }
  EXPECT_LE((a.sums() - b.sums()).cwiseAbs().maxCoeff(), 1e-12 * (1 + a.sums().cwiseAbs().maxCoeff()));
}

class Answers : public ::testing::TestWithParam<std::string> {};

TEST_P(Answers, MergeInAnyOrderAndSplit) {
  Random random(5);
  const bool classes = !is_regression_loss(GetParam());
  for (int shape = 0; shape < 8; ++shape)
    for (const int k : {2, 3}) {
      if (!classes && k == 3) continue;
      const Table t = testing::labels_for(GetParam(), make_table(random, shape, classes, k));
      const Dataset data = make_dataset(t, classes, k);
      Options options;
      options.loss = GetParam();
      options.lambda = 0.01;
      options.epsilon = 0.2;
      options.smoothing = 0.6;
      const Problem p = make_problem(data, options);
      for (const Question& q : {summary_of(data.outcome(), true), risk_of(p, random)}) {
        Answer whole = std::move(split(q, t, classes, 1)[0]);
        Answer from_memory = MemorySource(data).ask(q, {});
        expect_near(whole, from_memory);
        std::vector<Answer> parts = split(q, t, classes, 3);
        Answer forward, backward;
        for (std::size_t i = 0; i < 3; ++i) {
          forward.merge(parts[i]);
          backward.merge(parts[2 - i]);
        }
        expect_near(forward, whole);
        expect_near(backward, whole);
        for (std::int32_t b = 0; b < (q.kind == Question::Kind::risk ? q.outputs() : 1); ++b) {
          whole.bag(b).sort();
          backward.bag(b).sort();
          ASSERT_EQ(whole.bag(b).rows(), backward.bag(b).rows());
          for (std::int64_t i = 0; i < whole.bag(b).rows(); ++i)
            EXPECT_EQ(whole.bag(b).row_bytes(i), backward.bag(b).row_bytes(i));
        }
        for (std::int32_t m = 0; m < (q.kind == Question::Kind::risk ? q.outputs() : 1); ++m) {
          const SymmetricMatrix &a = whole.matrix(m), &b = forward.matrix(m);
          for (std::size_t i = 0; i < a.size(); ++i)
            for (std::size_t j = i; j < a.size(); ++j)
              EXPECT_NEAR(a.row(i)[j], b.row(i)[j], 1e-12 * (1 + std::fabs(a.row(i)[i]) + std::fabs(a.row(j)[j])));
        }
      }
    }
}

TEST_P(Answers, CertifyAsAPassOverTheRowsDoes) {
  Random random(7);
  const bool classes = !is_regression_loss(GetParam());
  for (const int k : {2, 3}) {
    if (!classes && k == 3) continue;
    const Table t = testing::labels_for(GetParam(), make_table(random, 0, classes, k));
    const Dataset data = make_dataset(t, classes, k);
    Options options;
    options.loss = GetParam();
    options.lambda = 0.01;
    options.epsilon = 0.2;
    options.smoothing = 0.6;
    options.intercept_form = InterceptForm::penalized;
    const Problem p = make_problem(data, options);
    Question q = risk_of(p, random);
    q.target_center = p.target_center;
    const Answer answer = MemorySource(data).ask(q, {});
    const Certificate found = answered_risk(q, answer, {}).certificate({});
    Weights dual(p.rows(), p.outputs());
    for (std::int64_t i = 0; i < p.rows(); ++i)
      for (std::int32_t o = 0; o < p.outputs(); ++o)
        dual(i, o) = -p.loss->derivative(dot(data.row(i), q.weights.row(o).data()) + q.intercepts(o), p.target(i, o));
    const Certificate expected = certify(p, q.weights, q.intercepts, dual);
    EXPECT_NEAR(found.upper, expected.upper, 1e-12 * expected.upper);
    EXPECT_NEAR(found.lower, expected.lower, 1e-12 * expected.upper);
    EXPECT_EQ(found.support, expected.support);
    EXPECT_NEAR(found.failure, expected.failure, 1e-12 * (1 + expected.failure));
    // The losses at the steps are those of the weights there.
    for (std::size_t s = 0; s < q.steps.size(); ++s) {
      Question moved = q;
      moved.weights += q.steps[s] * q.direction;
      moved.intercepts += q.steps[s] * q.intercept_direction;
      const Answer there = MemorySource(data).ask(moved, {});
      for (std::int32_t o = 0; o < p.outputs(); ++o) {
        const auto outputs = static_cast<std::size_t>(p.outputs());
        const std::size_t own = answered_risk(q, answer, {}).reductions().size(), at = own + s * outputs;
        const double value = there.number(6 + (own - 6) / outputs * static_cast<std::size_t>(o));
        EXPECT_NEAR(answer.number(at + static_cast<std::size_t>(o)), value, 1e-10 * (1 + value));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Answers,
                         ::testing::ValuesIn(std::vector<std::string>(loss_names().begin(), loss_names().end())),
                         [](const auto& info) { return info.param; });

TEST(AnswerBytes, SayTheSame) {
  Random random(11);
  const Table t = make_table(random, 0, true, 3);
  const Dataset data = make_dataset(t, true, 3);
  Options options;
  options.lambda = 0.01;
  const Problem p = make_problem(data, options);
  for (const Question& q : {summary_of(data.outcome(), true), risk_of(p, random)}) {
    EXPECT_EQ(Question::from_bytes(q.bytes()).bytes(), q.bytes());
    Answer answer = MemorySource(data).ask(q, {});
    const std::string bytes = answer.bytes();
    EXPECT_EQ(Answer::from_bytes(bytes, {}).bytes(), bytes);
    // Through bytes or not: the same bits.
    std::vector<Answer> parts = split(q, t, true, 2), again = split(q, t, true, 2);
    Answer direct, through;
    for (std::size_t i = 0; i < 2; ++i) {
      direct.merge(parts[i]);
      through.merge(Answer::from_bytes(again[i].bytes(), {}));
      through = Answer::from_bytes(through.bytes(), {});
    }
    EXPECT_EQ(direct.bytes(), through.bytes());
  }
  EXPECT_TRUE(Answer::from_bytes(Answer().bytes(), {}).empty());
}

/// Nothing but an error, or a value that can be written again, comes of damaged bytes.
template <class Use>
void damage(const std::string& bytes, Use use) {
  Random random(13);
  for (int k = 0; k < 4000; ++k) {
    std::string bad = bytes;
    if (k % 5 == 0) bad.resize(random.below(bad.size()));
    for (std::uint32_t hits = 1 + random.below(3); hits > 0 && !bad.empty(); --hits) {
      const std::size_t at =
          k % 2 == 0 ? random.below(std::min<std::size_t>(bad.size(), 200)) : random.below(bad.size());
      bad[at] = static_cast<char>(k % 3 == 0 ? 0xff : random.next());
    }
    try {
      use(bad);
    } catch (const Error& e) {
      EXPECT_FALSE(e.message().empty());
    }
  }
}

TEST(AnswerBytes, DamagedOnesDoNoHarm) {
  Random random(17);
  const Table t = make_table(random, 0, true, 3);
  const Dataset data = make_dataset(t, true, 3);
  Options options;
  options.lambda = 0.01;
  const Problem p = make_problem(data, options);
  for (const Question& q : {summary_of(data.outcome(), true), risk_of(p, random)}) {
    Answer answer = MemorySource(data).ask(q, {});
    damage(answer.bytes(), [&](const std::string& bytes) {
      Answer a = Answer::from_bytes(bytes, {});
      a.merge(Answer::from_bytes(bytes, {}));
      EXPECT_FALSE(a.bytes().empty());
    });
    damage(q.bytes(), [&](const std::string& bytes) {
      RowTerms terms(Question::from_bytes(bytes));
      const std::int32_t at = terms.question().class_names.empty() ? -1 : 0;
      EXPECT_FALSE(
          term_bytes(terms.term(dense_row(t.x[0].data(), t.dimensions()), {"0", 0, true, 0, 0}, at, 1)).empty());
    });
    RowTerms terms(q);
    const std::int32_t at = q.class_names.empty() ? -1 : 1;
    const std::string bytes =
        term_bytes(terms.term(dense_row(t.x[0].data(), t.dimensions()), {"1", 1, true, 0, 0}, at, 1));
    Answer direct, through;
    direct.add(read_term(bytes));
    through.add(terms.term(dense_row(t.x[0].data(), t.dimensions()), {"1", 1, true, 0, 0}, at, 1));
    EXPECT_EQ(direct.bytes(), through.bytes());
    damage(bytes, [&](const std::string& damaged) {
      Answer a;
      a.add(read_term(damaged));
      EXPECT_EQ(a.rows() + a.skipped(), 1);
    });
  }
}

/// A term is small: what it says of a form whose sums are large needs more than the numbers that say so.
TEST(AnswerBytes, FormsAreNoLargerThanTheirTermsBear) {
  Random random(19);
  const Table t = make_table(random, 0, true, 3);
  const Dataset data = make_dataset(t, true, 3);
  RowTerms terms(summary_of(data.outcome(), true));
  const auto read = [&](auto change) {
    Term term = terms.term(dense_row(t.x[0].data(), t.dimensions()), {"1", 1, true, 0, 0}, -1, 1);
    change(term);
    read_term(term_bytes(term));
  };
  EXPECT_NO_THROW(read([](Term&) {}));
  EXPECT_NO_THROW(read([](Term& term) { term.form.vectors = 4096; }));  // groups
  EXPECT_THROW(read([](Term& term) { term.form.vectors = 1 << 20; }), Error);
  EXPECT_NO_THROW(read([&](Term& term) { term.form.dimensions = t.dimensions(); }));
  EXPECT_THROW(read([&](Term& term) { term.form.dimensions = t.dimensions() + 1; }), Error);
}

Model model_of(const Dataset& data, const Table& t, const std::string& loss, Random& random) {
  Model m;
  m.loss = loss;
  m.lambda = 0.1;
  m.classes = data.classes().size() == 0 ? std::vector<std::string>{} : std::vector<std::string>{"0", "1", "2"};
  m.task = m.classes.empty() ? Task::regression : Task::multiclass;
  m.dimensions = t.dimensions();
  m.weights = Weights(m.classes.empty() ? 1 : 3, t.dimensions());
  m.intercept = Eigen::VectorXd(m.weights.rows());
  for (double& v : m.weights.reshaped()) v = normal(random);
  for (double& v : m.intercept) v = normal(random);
  m.certificate.gap = 1e-3;
  return m;
}

/// Some rows count for nothing.
double weight_of(std::size_t i, bool weighted) { return weighted ? 0.3 * static_cast<double>(i % 5) : 1; }

/// The answers of a model's terms, row i in part i % parts.
std::vector<Answer> judged(ModelFigures& figures, const Model& m, const Table& t, int parts) {
  std::vector<Answer> out;
  for (int k = 0; k < parts; ++k) out.emplace_back();
  for (std::size_t i = 0; i < t.x.size(); ++i) {
    const Row x = dense_row(t.x[i].data(), t.dimensions());
    const double weight = weight_of(i, figures.weighted());
    out[i % out.size()].add(m.regression() ? figures.term(x, t.y[i], t.y[i], -1, weight)
                                           : figures.term(x, static_cast<std::int32_t>(t.y[i]), -1, weight));
  }
  return out;
}

TEST(Figures, AreThoseOfAPassOverTheRows) {
  Random random(23);
  for (const auto& [loss, weighted] : std::vector<std::pair<std::string, bool>>{
           {"logistic", false}, {"squared", false}, {"logistic", true}, {"squared", true}}) {
    const bool classes = !is_regression_loss(loss);
    const Table t = make_table(random, 0, classes, classes ? 3 : 2);
    const Dataset data = make_dataset(t, classes, classes ? 3 : 2);
    const Model m = model_of(data, t, loss, random);
    Options options;
    options.lambda = 0.1;
    options.loss = loss;
    ModelFigures figures(m, options, weighted);
    Verification rows(m, options, true);
    WeightedMetrics of_classes(3, lp_norm(m.weights.data(), m.weights.size(), 2), m.probabilistic());
    RegressionMetrics of_numbers;
    for (std::size_t i = 0; i < t.x.size(); ++i) {
      const Row x = dense_row(t.x[i].data(), t.dimensions());
      double scores[3];
      score(scorer_of(m), x, t.dimensions(), scores);
      const auto label = static_cast<std::int32_t>(t.y[i]);
      const double weight = weight_of(i, weighted);
      if (!(weight > 0)) continue;
      if (classes) {
        rows.add(x, label, -1, weight);
        of_classes.add(label, decide(3, scores), scores, nullptr, weight);
      } else {
        rows.add(x, t.y[i], t.y[i], -1, weight);
        of_numbers.add(t.y[i], scores[0], 0, weight);
      }
    }
    std::vector<Answer> parts = judged(figures, m, t, 3);
    Answer all;
    for (Answer& part : parts) all.merge(Answer::from_bytes(part.bytes(), {}));
    all.add(figures.skipped());
    EXPECT_EQ(all.skipped(), 1);
    const VerifiedModel expected = rows.result({}), found = figures.verification(all, {});
    EXPECT_EQ(found.rows, expected.rows);
    EXPECT_EQ(found.errors, expected.errors);
    EXPECT_EQ(found.certain, expected.certain);
    EXPECT_EQ(found.margin_lower, expected.margin_lower);
    EXPECT_NEAR(*found.primal, *expected.primal, 1e-12 * *expected.primal);
    EXPECT_FALSE(found.dual.has_value());
    if (classes) {
      const WeightedMetrics metrics = figures.classification(all);
      EXPECT_EQ(metrics.rows(), of_classes.rows());
      for (std::size_t cell = 0; cell < 9; ++cell)
        EXPECT_NEAR(metrics.confusion()[cell], of_classes.confusion()[cell], weighted ? 1e-10 : 0);
      EXPECT_EQ(metrics.margin_quantiles({0, 0.3, 1}), of_classes.margin_quantiles({0, 0.3, 1}));
      EXPECT_NEAR(*metrics.log_loss(), *of_classes.log_loss(), 1e-12 * *of_classes.log_loss());
      for (std::size_t b = 0; b < Reliability::bins; ++b) {
        const CountingReliability<double>::Bin left = metrics.reliability()->result()[b],
                                               right = of_classes.reliability()->result()[b];
        EXPECT_NEAR(left.rows, right.rows, weighted ? 1e-10 : 0);
        EXPECT_NEAR(left.hits, right.hits, weighted ? 1e-10 : 0);
        EXPECT_NEAR(left.probability, right.probability, 1e-12);
      }
    } else {
      const RegressionMetrics metrics = figures.regression(all);
      EXPECT_NEAR(metrics.mean_squared_error(), of_numbers.mean_squared_error(),
                  1e-12 * of_numbers.mean_squared_error());
      EXPECT_NEAR(metrics.mean_absolute_error(), of_numbers.mean_absolute_error(),
                  1e-12 * of_numbers.mean_absolute_error());
      EXPECT_NEAR(*metrics.r_squared(), *of_numbers.r_squared(), 1e-12 * (1 + std::fabs(*of_numbers.r_squared())));
    }
    // Another model's state is refused, that of other weights as well, and damaged bytes do no harm.
    EXPECT_THROW(ModelFigures(m, options, !weighted).verification(all, {}), Error);
    EXPECT_EQ(ModelFigures::weighted(m, options, all), weighted);
    Model other = m;
    other.weights(0, 0) += 1;
    EXPECT_THROW(ModelFigures(other, options).verification(all, {}), Error);
    EXPECT_EQ(Answer::from_bytes(all.bytes(), {}).bytes(), all.bytes());
    damage(all.bytes(), [&](const std::string& bytes) {
      Answer a = Answer::from_bytes(bytes, {});
      a.merge(Answer::from_bytes(bytes, {}));
      EXPECT_FALSE(a.bytes().empty());
      figures.verification(a, {});
      if (classes)
        EXPECT_EQ(figures.classification(a).margin_quantiles({0.5}).size(), 1U);
      else
        figures.regression(a);
    });
    const Row x = dense_row(t.x[0].data(), t.dimensions());
    const std::string term = term_bytes(classes ? figures.term(x, 0, -1) : figures.term(x, t.y[0], t.y[0], -1));
    EXPECT_EQ(term_bytes(read_term(term)), term);
    damage(term, [&](const std::string& damaged) {
      Answer a;
      a.add(read_term(damaged));
      EXPECT_EQ(a.rows() + a.skipped(), 1);
    });
  }
}

TEST(Figures, OfTargetsFarFromZeroKeepTheirSpread) {
  Random random(29);
  RegressionMetrics row_by_row;
  RegressionMetrics::Sums sums;
  sums.smallest = 1e300;
  sums.largest = -1e300;
  for (int i = 0; i < 10000; ++i) {
    const double y = 1e8 + normal(random), e = 0.1 * normal(random), square = y * y;
    row_by_row.add(y, y - e);
    ++sums.rows;
    sums.weights.add(1);
    sums.squares += (y - (y - e)) * (y - (y - e));
    sums.targets.add(y);
    sums.target_squares.add(square);
    sums.target_squares.add(std::fma(y, y, -square));
    sums.smallest = std::min(sums.smallest, y);
    sums.largest = std::max(sums.largest, y);
  }
  RegressionMetrics of_sums;
  of_sums.merge(sums);
  ASSERT_TRUE(of_sums.r_squared().has_value());
  EXPECT_NEAR(*of_sums.r_squared(), *row_by_row.r_squared(), 1e-7);
  sums.largest = sums.smallest;
  RegressionMetrics constant;
  constant.merge(sums);
  EXPECT_FALSE(constant.r_squared().has_value());
}

TEST(RowIdentity, IsThatOfTheRowInAnyForm) {
  const float narrow[] = {0, 1.5F, 0, -2};
  const double wide[] = {0, 1.5, -0.0, -2};
  const std::int32_t indices[] = {1, 3};
  const double values[] = {1.5, -2};
  KeptRow a, b, c, d;
  a.x = dense_row(narrow, 4);
  b.x = dense_row(wide, 4);
  c.x = sparse_row(indices, values, 2, 4);
  d.x = a.x;
  d.weight = 2;
  EXPECT_EQ(row_identity(a), row_identity(b));
  EXPECT_EQ(row_identity(a), row_identity(c));
  EXPECT_NE(row_identity(a), row_identity(d));
  c.label = "x";
  c.label_key = 7;
  EXPECT_EQ(row_identity(a), row_identity(c));
  c.label_class = 1;
  EXPECT_NE(row_identity(a), row_identity(c));
}

TEST(AnswerForms, OfDifferentQuestionsDoNotMix) {
  Random random(19);
  const Table t = make_table(random, 0, true);
  const Dataset data = make_dataset(t, true);
  Question q = summary_of(data.outcome(), false), other = q;
  other.seed = 1;
  Answer a = MemorySource(data).ask(q, {});
  const Answer b = MemorySource(data).ask(other, {});
  EXPECT_THROW(a.merge(b), Error);
  EXPECT_THROW(a.add(RowTerms(other).skipped()), Error);
  Answer none;
  a.merge(none);
  none.merge(b);
  EXPECT_EQ(none.rows(), b.rows());
}

TEST(ScanTerm, RefusesACoefficientOfASumThatThereIsNot) {
  const double x = 0.5;
  Term term;
  term.x = dense_row(&x, 1);
  term.form.vectors = 2;
  Entry coefficient{1, 3.0};
  term.coefficients = &coefficient;
  term.coefficient_count = 1;
  const std::string sound = term_bytes(term);
  EXPECT_EQ(read_term(sound).coefficients[0].value, 3.0);
  for (const std::int64_t at : {std::int64_t{-1}, std::int64_t{2}, std::int64_t{1} << 40}) {
    coefficient.at = at;
    EXPECT_THROW(read_term(term_bytes(term)), Error) << at;
  }
  term.coefficient_count = 0;
  term.form.vectors = -1;
  EXPECT_THROW(read_term(term_bytes(term)), Error);
}

// A few bytes can ask for more sums than memory has: they are refused before there are any.
TEST(ScanTerm, OfVeryManySumsHasNoAnswer) {
  const double x = 0.5;
  Term term;
  term.x = dense_row(&x, 1);
  term.form.vectors = std::numeric_limits<std::int32_t>::max();
  Answer answer;
  EXPECT_THROW(answer.add(term), Error);
}

}  // namespace
}  // namespace margin
