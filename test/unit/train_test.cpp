// train(): from rows and options to a certified model.
#include "core/train/train.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/problem/standardize.hpp"
#include "core/problem/thresholds.hpp"
#include "margin_problems.hpp"

namespace margin {
namespace {

using namespace reference;

Rows standardised(const Rows& rows, bool centre) {
  Rows out = rows;
  for (int j = 0; j < rows.dimensions(); ++j) {
    Real mean = 0, square = 0;
    for (const auto& x : rows.x) mean += x[at(j)];
    mean /= rows.count();
    for (const auto& x : rows.x) square += (x[at(j)] - mean) * (x[at(j)] - mean);
    Real deviation = std::sqrt(square / rows.count());
    if (!(deviation > 1e-12L * std::fabs(mean))) deviation = 1;
    for (int i = 0; i < rows.count(); ++i)
      out.x[at(i)][at(j)] = static_cast<double>((rows.x[at(i)][at(j)] - (centre ? mean : 0)) / deviation);
  }
  return out;
}

template <class F>
Error error_of(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e;
  }
  return Error(ErrorKind::malformed, "nothing was thrown");
}

TEST(Standardize, equals_training_on_standardised_rows) {
  Rows rows = gaussian_rows(91, 50, 4, 0.2);
  for (auto& x : rows.x) {
    x[1] = 1000 * x[1] + 5000;
    x[2] *= 1e-6;
    x.push_back(4);  // a constant column
  }
  for (const bool intercept : {true, false})
    for (const Storage storage : {Storage::doubles, Storage::sparse}) {
      SCOPED_TRACE(std::string(storage == Storage::sparse ? "sparse" : "dense") + (intercept ? ", intercept" : ""));
      const bool centre = intercept && storage == Storage::doubles;
      const Rows plain = standardised(rows, centre);
      Options s = hard("auto", intercept, 1e-8);
      const Model expected = fit(make_dataset(plain, storage), s);
      s.standardize = true;
      const Model m = fit(make_dataset(rows, storage), s);
      EXPECT_EQ(m.status, expected.status);
      EXPECT_NEAR(m.certificate.lower, expected.certificate.lower, 1e-7 * expected.certificate.upper);
      EXPECT_NEAR(m.certificate.upper, expected.certificate.upper, 1e-7 * expected.certificate.upper);

      // The weights are for the rows as given: same scores as the standardised ones.
      Weights w = m.weights;
      for (int j = 0; j < rows.dimensions(); ++j) {
        Real mean = 0, square = 0;
        for (const auto& x : rows.x) mean += x[at(j)] / rows.count();
        for (const auto& x : rows.x) square += (x[at(j)] - mean) * (x[at(j)] - mean) / rows.count();
        if (square > 1e-20L) w(0, j) *= static_cast<double>(std::sqrt(square));
      }
      EXPECT_NEAR(w.norm(), 1.0, 1e-9);
      Real least = infinite;
      for (int i = 0; i < rows.count(); ++i) {
        Real score = m.intercept(0);
        for (int j = 0; j < rows.dimensions(); ++j) score += static_cast<Real>(m.weights(0, j)) * rows.x[at(i)][at(j)];
        least = std::min(least, rows.y[at(i)] == 1 ? score : -score);
      }
      EXPECT_NEAR(static_cast<double>(least), m.certificate.lower, 1e-9);
    }
}

TEST(Standardize, a_model_to_start_from_is_in_the_users_units) {
  Rows rows = gaussian_rows(92, 200, 4, 0.05);
  for (auto& x : rows.x) {
    x[1] = 1000 * x[1] + 5000;
    x[2] *= 1e-3;
  }
  for (const char* solver : {"newton", "sdca"}) {
    Options s;
    s.lambda = 0.01;
    s.loss = "logistic";
    s.solver = solver;
    s.standardize = true;
    s.tolerance = 1e-9;
    const Dataset data = make_dataset(rows, Storage::doubles);
    const Model cold = fit(data, s);
    s.tolerance = 1e-5;
    InitialModel start;
    start.weights.assign(cold.weights.data(), cold.weights.data() + cold.weights.size());
    start.intercept = {cold.intercept[0]};
    s.initial = start;
    const Model warm = fit(data, s);
    EXPECT_EQ(warm.status, Status::optimal) << solver;
    EXPECT_GT(cold.iterations, 3) << solver;
    EXPECT_LE(warm.iterations, 1) << solver << " starts at its own solution";
    s.initial->weights.pop_back();
    EXPECT_THROW(fit(data, s), Error) << solver;
  }
}

TEST(Standardize, measures_means_and_deviations) {
  const Rows rows = {{{1, 5, 0}, {2, 5, 0}, {3, 5, 6}, {6, 5, 0}}, {0, 1, 0, 1}};
  const Standardization dense = measure(make_dataset(rows), true, {});
  EXPECT_EQ(dense.mean, (std::vector<double>{3, 5, 1.5}));
  EXPECT_NEAR(dense.deviation[0], std::sqrt(3.5), 1e-15);
  EXPECT_EQ(dense.deviation[1], 1.0);
  EXPECT_NEAR(dense.deviation[2], std::sqrt(6.75), 1e-15);
  const Standardization sparse = measure(make_dataset(rows, Storage::sparse), true, {});
  EXPECT_EQ(sparse.mean, (std::vector<double>{0, 0, 0}));
  EXPECT_NEAR(sparse.deviation[2], std::sqrt(6.75), 1e-15);
  EXPECT_EQ(measure(make_dataset(rows), false, {}).mean, (std::vector<double>{0, 0, 0}));
}

TEST(Train, weights_have_norm_1_and_dual_weights_prove_the_upper_end) {
  for (const int classes : {2, 3, 5}) {
    const Rows rows = gaussian_rows(92, 80, 6, 0.3, classes);
    Options s = hard("auto", true, 1e-6);
    const Model m = fit(make_dataset(rows), s);
    EXPECT_NEAR(m.weights.norm(), 1.0, 1e-14);
    ASSERT_TRUE(m.dual_weights.has_value());
    ASSERT_EQ(m.dual_weights->rows(), rows.count());
    const Upper proven = dual_upper(rows, *m.dual_weights, true);
    EXPECT_LE(proven.imbalance, 1e-12L);
    EXPECT_NEAR(static_cast<double>(proven.value), m.certificate.upper, 1e-12);
    EXPECT_EQ(m.certificate.support, (m.dual_weights->rowwise().sum().array() > 0).count());
    s.dual_weights = false;
    EXPECT_FALSE(fit(make_dataset(rows), s).dual_weights.has_value());
  }
}

TEST(Train, history_is_a_shrinking_interval_on_request) {
  const Dataset data = make_dataset(clouds(93, 500, 6));
  Options s = hard("auto", true, 1e-9);
  EXPECT_TRUE(fit(data, s).history.empty());
  s.history = true;
  const Model m = fit(data, s);
  ASSERT_EQ(static_cast<std::int64_t>(m.history.size()), m.iterations);
  for (std::size_t t = 0; t < m.history.size(); ++t) {
    EXPECT_EQ(m.history[t].iteration, static_cast<std::int64_t>(t) + 1);
    EXPECT_LE(m.history[t].lower, 1 + 1e-12);
    EXPECT_GE(m.history[t].upper, 1 - 1e-12);
    if (t == 0) continue;
    EXPECT_GE(m.history[t].seconds, m.history[t - 1].seconds);
    EXPECT_GE(m.history[t].lower, m.history[t - 1].lower);
    EXPECT_LE(m.history[t].upper, m.history[t - 1].upper);
  }
}

TEST(Train, a_memory_limit_is_an_error_that_says_how_much) {
  const Dataset data = make_dataset(clouds(94, 1000, 50));
  Progress progress;
  for (const bool standardize : {false, true}) {
    Options s = hard("auto", true, 1e-3);
    s.standardize = standardize;
    const Error e = error_of([&] { train(data, s, progress, MemoryBudget(1000)); });
    EXPECT_EQ(e.kind(), ErrorKind::limit_exceeded);
    EXPECT_NE(e.message().find(", and margin.memory_limit leaves 0 kB"), std::string::npos) << e.message();
    EXPECT_FALSE(e.hint().empty());
    EXPECT_EQ(train(data, s, progress, MemoryBudget(1e9)).status, Status::optimal);
    EXPECT_EQ(train(data, s, progress, MemoryBudget(-1)).status, Status::optimal);
  }
}

TEST(Train, problems_that_make_no_sense_are_refused) {
  const Rows rows = clouds(95, 20, 2);
  const Dataset data = make_dataset(rows);
  Rows alone = rows;
  std::fill(alone.y.begin(), alone.y.end(), 7);
  const Error one_class = error_of([&] { fit(make_dataset(alone), hard("auto", true, 1e-3)); });
  EXPECT_EQ(one_class.kind(), ErrorKind::invalid_value);
  EXPECT_EQ(one_class.message(), "all rows have the label \"7\", expected two or more classes");

  Dataset empty(Dataset::Outcome::classes);
  for (const char* name : {"a", "b"}) {
    const std::int32_t label = empty.classes().intern(name, 0);
    empty.append(sparse_row(static_cast<const std::int32_t*>(nullptr), static_cast<const double*>(nullptr), 0, 0),
                 label);
  }
  EXPECT_EQ(error_of([&] { fit(empty, hard("auto", true, 1e-3)); }).kind(), ErrorKind::wrong_dimensions);

  Dataset weighted(Dataset::Outcome::classes);
  for (const char* name : {"a", "b"})
    weighted.append(dense_row(rows.x[0].data(), 2), weighted.classes().intern(name, 0), 2.0);
  EXPECT_EQ(error_of([&] { fit(weighted, hard("auto", true, 1e-3)); }).kind(), ErrorKind::unsupported);

  Options s = hard("auto", true, 1e-3);
  s.class_weight_balanced = true;
  EXPECT_EQ(error_of([&] { fit(data, s); }).kind(), ErrorKind::unsupported);
  s = hard("auto", true, 1e-3);
  s.l1_ratio = 0.5;
  EXPECT_EQ(error_of([&] { fit(data, s); }).kind(), ErrorKind::unsupported);
  s = hard("auto", true, 1e-3);
  s.loss = "hinge";
  EXPECT_EQ(error_of([&] { fit(data, s); }).message(), "loss \"hinge\" needs lambda");
  s = hard("momentun", true, 1e-3);
  const Error unknown = error_of([&] { fit(data, s); });
  EXPECT_EQ(unknown.kind(), ErrorKind::invalid_option);
  EXPECT_NE(unknown.hint().find("\"momentum\""), std::string::npos);
}

TEST(Train, classes_are_sorted_and_signs_follow) {
  Dataset data(Dataset::Outcome::classes);
  const double high[] = {2}, low[] = {-1};
  const std::int32_t yes = data.classes().intern("true", 1), no = data.classes().intern("false", 0);
  data.append(dense_row(high, 1), yes);
  data.append(dense_row(low, 1), no);
  const Model m = fit(data, hard("auto", true, 1e-6));
  EXPECT_EQ(m.classes, (std::vector<std::string>{"false", "true"}));
  EXPECT_EQ(m.weights(0, 0), 1.0);
  EXPECT_NEAR(m.intercept(0), -0.5, 1e-15);
  const Scorer scorer = scorer_of(m);
  double value = 0;
  score(scorer, data.row(0), 1, &value);
  EXPECT_NEAR(value, 1.5, 1e-15);
  EXPECT_EQ(decide(1, &value), 1);
  EXPECT_EQ(error_of([&] { score(scorer, data.row(0), 2, &value); }).kind(), ErrorKind::wrong_dimensions);
}

TEST(Train, inseparable_rows_still_get_weights_that_classify) {
  Rows rows = clouds(96, 300, 3);
  rows.y[10] = 1 - rows.y[10];
  for (const bool intercept : {true, false}) {
    const Model m = fit(make_dataset(rows), hard("auto", intercept, 1e-3));
    EXPECT_EQ(m.status, Status::not_separable);
    int right = 0;
    for (int i = 0; i < rows.count(); ++i) {
      double value = m.intercept(0);
      for (int j = 0; j < 3; ++j) value += m.weights(0, j) * rows.x[at(i)][at(j)];
      right += (value > 0) == (rows.y[at(i)] == 1);
    }
    EXPECT_GE(right, 290);
  }
}

/// Nearly a normal number.
double bell(Random& random) {
  double sum = -2;
  for (int i = 0; i < 4; ++i) sum += random.uniform();
  return std::sqrt(3.0) * sum;
}

/// Counts what the progress is told: about the work done.
struct Counting : Progress {
  mutable long polls = 0;
  void poll() const override { ++polls; }
};

TEST(Train, a_proof_that_nothing_separates_is_followed_by_a_soft_margin) {
  // Few positives, columns of different size: a hull's weights, or a threshold for the smallest margin, would err on
  // most rows.
  Random random(19);
  Dataset data(Dataset::Outcome::classes);
  for (int c = 0; c < 2; ++c) data.classes().intern(std::to_string(c), c);
  std::vector<int> y;
  int positives = 0;
  for (int i = 0; i < 60000; ++i) {
    const double x[] = {bell(random), 2 * bell(random), 0.01 * bell(random), 100 * bell(random), 5.0};
    const double score = 2 * x[0] + 0.3 * x[1] - 50 * x[2] + 0.005 * x[3] - 7.5;
    y.push_back(random.uniform() < 1 / (1 + std::exp(-score)));
    positives += y.back();
    data.append(dense_row(x, 5), y.back());
  }
  ASSERT_GT(positives, 50);
  ASSERT_LT(positives, 3000);
  for (const bool intercept : {true, false}) {
    Options s = hard("auto", intercept, 1e-3);
    Counting counting;
    const Model m = train(data, s, counting);
    EXPECT_EQ(m.status, Status::not_separable);
    EXPECT_EQ(m.solver.rfind("cutting_plane+", 0), 0U) << m.solver;
    EXPECT_LE(m.certificate.lower, 0);
    EXPECT_LE(m.certificate.upper, negligible_margin * m.certificate.radius);
    int wrong = 0;
    for (int i = 0; i < 60000; ++i)
      wrong += (dot(data.row(i), m.weights.row(0).data()) + m.intercept(0) > 0) != (y[at(i)] == 1);
    EXPECT_LE(wrong, intercept ? positives : 1.02 * positives);
    s.lambda = 1e-4;
    s.loss = "logistic";
    Counting soft;
    train(data, s, soft);
    EXPECT_LE(counting.polls, 5 * soft.polls);

    // Where there is no room or no time for a soft margin, the model is that of the proof.
    s = hard("auto", intercept, 1e-3);
    s.max_iterations = m.iterations > 3 ? 3 : 1;
    Progress progress;
    const Model limited = train(data, s, progress);
    EXPECT_TRUE(limited.weights.allFinite());
  }
}

TEST(Train, classes_that_nothing_separates_get_a_soft_margin_against_the_rest) {
  Random random(23);
  Dataset data(Dataset::Outcome::classes);
  for (int c = 0; c < 4; ++c) data.classes().intern(std::to_string(c), c);
  std::vector<int> y;
  for (int i = 0; i < 4000; ++i) {
    const int c = i % 4;
    const double x[] = {(c % 2) + 0.4 * bell(random), 1000 * ((c / 2) + 0.4 * bell(random))};
    y.push_back(c);
    data.append(dense_row(x, 2), c);
  }
  const Model m = fit(data, hard("auto", true, 1e-3));
  EXPECT_EQ(m.status, Status::not_separable);
  int wrong = 0;
  for (int i = 0; i < 4000; ++i) {
    int best = 0;
    const auto value = [&](int c) { return dot(data.row(i), m.weights.row(c).data()) + m.intercept(c); };
    for (int c = 1; c < 4; ++c)
      if (value(c) > value(best)) best = c;
    wrong += best != y[at(i)];
  }
  EXPECT_LE(wrong, 1200);  // the best of any rule errs on some 20 %
}

}  // namespace
}  // namespace margin
