// Standard errors from the answers to a model's question, against those of one pass over its rows.
#include "core/scans/model_inference.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.hpp"
#include "core/scans/model_question.hpp"
#include "core/scans/row_source.hpp"
#include "core/train/train.hpp"
#include "newton_problems.hpp"
#include "three_parts.hpp"

namespace margin {
namespace {

using testing::normal;
using testing::Storage;
using testing::store;
using testing::Table;
using testing::ThreeParts;

Table rows_of(std::uint64_t seed, const std::string& loss, int n, bool weighted) {
  Random random(seed);
  Table t;
  for (int i = 0; i < n; ++i) {
    std::vector<double> x = {normal(random), 300 + normal(random), i % 3 == 0 ? 20 * normal(random) : 0.0, 1.0};
    x[3] = random.uniform();
    const double score = 0.4 * x[0] - 0.3 * (x[1] - 300) + 0.02 * x[2];
    double y = 7 + score + (0.3 + 0.4 * std::fabs(x[0])) * normal(random);
    if (loss == "logistic") y = score + 1.5 * normal(random) > 0 ? 1 : 0;
    if (loss == "poisson") y = std::floor(std::exp(0.5 * score + 0.5 * normal(random)) + random.uniform());
    t.x.push_back(x);
    t.y.push_back(y);
    if (weighted) t.weight.push_back(static_cast<double>(random.below(4)));
  }
  return t;
}

struct Case {
  const char* loss;
  bool intercept, standardize, offset, weighted;
  Storage storage;
};

class InferenceByScans : public ::testing::TestWithParam<Case> {
 protected:
  InferenceByScans() : table(rows_of(5, GetParam().loss, 700, GetParam().weighted)) {
    const Case& c = GetParam();
    classes = std::string(c.loss) == "logistic";
    options.loss = c.loss;
    options.lambda = 0;
    options.tolerance = 1e-12;
    options.intercept = c.intercept;
    options.standardize = c.standardize;
    if (c.offset) options.offset = "4";
    data.emplace(store(table, classes, c.storage));
    model = train(*data, options, {});
  }
  static std::string cluster_of(std::int64_t i) { return std::to_string(i % 7); }
  InferenceOptions asked(Covariance kind) const {
    InferenceOptions out;
    out.covariance = kind;
    return out;
  }
  std::vector<Coefficient> by_rows(Covariance kind) const {
    Inference all(model, model.status, options, asked(kind));
    for (std::int64_t i = 0; i < data->rows(); ++i)
      all.add(data->row(i), classes ? 2.0 * data->class_of(i) - 1 : data->target(i), data->weight(i),
              kind == Covariance::cluster ? cluster_of(i) : "", -1);
    return all.result({});
  }
  std::vector<Coefficient> by_answers(Covariance kind) const {
    Inference all(model, model.status, options, asked(kind));
    const Question q = model_question(model, options);
    for (std::int64_t part = 0; part < 7; ++part) {
      std::vector<std::int64_t> own;
      for (std::int64_t i = part; i < data->rows(); i += 7) own.push_back(i);
      const Dataset rows = data->subset(own);
      Answer answer = Answer::from_bytes(MemorySource(rows).ask(Question::from_bytes(q.bytes()), {}).bytes(), {});
      const std::string name = std::to_string(part);
      add_answer(all, q, answer, kind == Covariance::cluster ? &name : nullptr, {});
    }
    return all.result({});
  }

  Table table;
  bool classes = false;
  Options options;
  std::optional<Dataset> data;
  Model model;
};

TEST_P(InferenceByScans, IsThatOfTheRows) {
  ASSERT_EQ(model.status, Status::optimal);
  for (const Covariance kind : {Covariance::classical, Covariance::hc0, Covariance::hc1, Covariance::cluster}) {
    const std::vector<Coefficient> known = by_rows(kind), found = by_answers(kind);
    ASSERT_EQ(found.size(), known.size());
    for (std::size_t j = 0; j < known.size(); ++j) {
      EXPECT_EQ(found[j].feature, known[j].feature);
      EXPECT_EQ(found[j].estimate, known[j].estimate);
      EXPECT_GT(known[j].std_error, 0);
      EXPECT_NEAR(found[j].std_error, known[j].std_error, 1e-7 * known[j].std_error) << j;
      EXPECT_NEAR(found[j].p_value, known[j].p_value, 1e-7) << j;
    }
  }
}

TEST_P(InferenceByScans, ComesWithTheCertificate) {
  const Question q = model_question(model, options);
  ThreeParts source(*data);
  const Certificate c = answered_certificate(q, source.ask(q, {}), {});
  EXPECT_NEAR(c.upper, model.certificate.upper, 1e-10 * c.upper);
  EXPECT_LE(c.lower, model.certificate.upper);
  EXPECT_GE(c.lower, (1 - 1e-6) * c.upper);
}

TEST_P(InferenceByScans, RefusesOtherAnswers) {
  Model other = model;
  other.weights(0, 0) += 1e-9;
  const Question q = model_question(model, options), of_other = model_question(other, options);
  ThreeParts source(*data);
  Answer answer = source.ask(of_other, {}), none;
  Inference all(model, model.status, options, {});
  EXPECT_THROW(add_answer(all, q, answer, nullptr, {}), Error);
  EXPECT_THROW(add_answer(all, q, none, nullptr, {}), Error);
  EXPECT_EQ(all.rows(), 0);
}

INSTANTIATE_TEST_SUITE_P(Cases, InferenceByScans,
                         ::testing::Values(Case{"squared", true, false, false, false, Storage::doubles},
                                           Case{"squared", false, false, false, true, Storage::floats},
                                           Case{"squared", true, true, false, true, Storage::doubles},
                                           Case{"squared", true, false, true, false, Storage::sparse},
                                           Case{"logistic", true, false, false, true, Storage::doubles},
                                           Case{"logistic", true, true, false, false, Storage::sparse},
                                           Case{"logistic", false, false, true, false, Storage::floats},
                                           Case{"poisson", true, false, false, false, Storage::doubles},
                                           Case{"poisson", true, false, true, true, Storage::doubles},
                                           Case{"poisson", true, true, false, false, Storage::floats}));

}  // namespace
}  // namespace margin
