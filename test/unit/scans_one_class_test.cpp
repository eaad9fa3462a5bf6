// One-class machines by scans: the optimum of train(), with an interval that the rows confirm, and the sums that prove it.
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.hpp"
#include "core/certificate/certificate.hpp"
#include "core/certificate/risk.hpp"
#include "core/loss/one_class.hpp"
#include "core/problem/one_class.hpp"
#include "core/scans/train_scans.hpp"
#include "core/train/train.hpp"
#include "risk_problems.hpp"
#include "three_parts.hpp"

namespace margin {
namespace {

using testing::normal;
using testing::refusal_by_scans;
using testing::ThreeParts;

struct Rows {
  std::vector<std::vector<double>> x;
  std::vector<double> weight;  // empty: 1 each
};

/// Rows around a point that is `apart` from the origin, whose columns depend on each other.
Rows around(std::uint64_t seed, int n, int d, double apart) {
  Random random(seed);
  Rows rows;
  for (int i = 0; i < n; ++i) {
    std::vector<double> x(static_cast<std::size_t>(d));
    const double common = normal(random);
    for (int j = 0; j < d; ++j)
      x[static_cast<std::size_t>(j)] = (j == 0 ? apart : 0) + normal(random) * (1 + j % 3) * 0.5 + 0.3 * common;
    rows.x.push_back(std::move(x));
  }
  return rows;
}

Dataset data_of(const Rows& rows, bool sparse = false) {
  Dataset data(Dataset::Outcome::classes);
  const Label label = one_class_label(data);
  for (std::size_t i = 0; i < rows.x.size(); ++i) {
    const auto d = static_cast<std::int32_t>(rows.x[i].size());
    const double weight = rows.weight.empty() ? 1.0 : rows.weight[i];
    std::vector<std::int32_t> columns;
    std::vector<double> values;
    for (std::int32_t j = 0; j < d; ++j)
      if (const double v = rows.x[i][static_cast<std::size_t>(j)]; v != 0) {
        columns.push_back(j);
        values.push_back(v);
      }
    if (sparse)
      data.append(sparse_row(columns.data(), values.data(), static_cast<std::int32_t>(values.size()), d), label,
                  weight);
    else
      data.append(dense_row(rows.x[i].data(), d), label, weight);
  }
  return data;
}

Options options_of(double nu, double tolerance, std::int64_t sample_rows) {
  Options s;
  s.nu = nu;
  s = one_class_options(s);
  s.tolerance = tolerance;
  s.sample_rows = sample_rows;
  return s;
}

/// P of a model, by a sum of its own.
double value_of(const Rows& rows, double nu, const Model& m) {
  long double square = 0, loss = 0, all = 0;
  for (Eigen::Index j = 0; j < m.weights.cols(); ++j)
    square += static_cast<long double>(m.weights(0, j)) * m.weights(0, j);
  for (std::size_t i = 0; i < rows.x.size(); ++i) {
    long double u = m.intercept(0);
    for (std::size_t j = 0; j < rows.x[i].size(); ++j)
      u += static_cast<long double>(m.weights(0, static_cast<Eigen::Index>(j))) * rows.x[i][j];
    const long double c = rows.weight.empty() ? 1 : rows.weight[i];
    loss += c * std::max<long double>(0, -u) / nu;
    all += c;
  }
  return static_cast<double>(square / 2 + m.intercept(0) + loss / all);
}

/// What is true of a model by scans: its value is that of the rows, and no better one is known than its bound allows.
Model expect_right(const Rows& rows, const Options& options, int most_scans = 8, bool sparse = false) {
  const Dataset data = data_of(rows, sparse);
  ThreeParts source(data);
  const Model found = train_scans(source, options, {}), known = train(data, options, {});
  const Certificate &c = found.certificate, &k = known.certificate;
  const double size = std::fabs(k.lower);
  EXPECT_EQ(found.status, known.status) << c.relative_gap;
  EXPECT_LE(source.scans, most_scans);
  EXPECT_EQ(found.iterations, source.scans);
  EXPECT_EQ(found.classes, known.classes);
  EXPECT_EQ(found.rows, data.rows());
  EXPECT_EQ(found.lambda, known.lambda);
  EXPECT_EQ(found.loss, known.loss);
  const double value = value_of(rows, options.nu, found);
  EXPECT_NEAR(c.upper, value, 1e-9 * std::max(size, std::fabs(value)));
  EXPECT_GE(c.upper, value - 1e-14 * std::fabs(value));
  EXPECT_LE(c.lower, c.upper);
  EXPECT_LE(c.lower, k.upper);
  EXPECT_GE(c.upper, k.lower);
  EXPECT_DOUBLE_EQ(c.radius, k.radius);
  if (found.status == Status::optimal) {
    EXPECT_NEAR(c.upper, k.upper, 1.1 * options.tolerance * size);
    const double share = static_cast<double>(c.errors) / static_cast<double>(data.rows());
    if (rows.weight.empty() && options.nu < 1) {
      EXPECT_NEAR(share, options.nu, 0.02);
    }
  }
  return found;
}

TEST(ScansOneClass, find_the_optimum_from_small_samples) {
  for (const double nu : {0.01, 0.1, 0.5, 0.9})
    for (const std::int64_t sample_rows : {50, 1000}) {
      SCOPED_TRACE(std::to_string(nu) + " from " + std::to_string(sample_rows));
      expect_right(around(7, 20000, 6, 4), options_of(nu, 1e-6, sample_rows));
    }
}

TEST(ScansOneClass, take_sparse_and_weighted_rows) {
  Rows rows = around(11, 20000, 8, 3);
  Random random(12);
  for (auto& x : rows.x) {
    for (std::size_t j = 1; j < x.size(); ++j)
      if (random.below(3) > 0) x[j] = 0;
    rows.weight.push_back(0.25 * static_cast<double>(random.below(5)));
  }
  for (const double nu : {0.01, 0.1, 0.5, 0.9})
    for (const bool sparse : {false, true}) {
      SCOPED_TRACE(std::to_string(nu) + (sparse ? " sparse" : " dense"));
      expect_right(rows, options_of(nu, 1e-6, 300), 8, sparse);
    }
}

TEST(ScansOneClass, take_rows_that_are_there_many_times) {
  for (const int distinct : {1000, 40})
    for (const double nu : {0.1, 0.5}) {
      SCOPED_TRACE(std::to_string(distinct) + ", " + std::to_string(nu));
      const Rows few = around(13, distinct, 3, 3);
      Rows rows;
      Random random(14);
      for (int i = 0; i < 20000; ++i) rows.x.push_back(few.x[random.below(static_cast<std::uint64_t>(distinct))]);
      const Dataset data = data_of(rows);
      ThreeParts source(data);
      const Options options = options_of(nu, 1e-6, 100);
      const Model found = train_scans(source, options, {}), known = train(data, options, {});
      EXPECT_EQ(found.status, Status::optimal) << found.certificate.relative_gap;
      EXPECT_LE(source.scans, 8);
      EXPECT_NEAR(found.certificate.upper, known.certificate.upper, 1.1e-6 * -known.certificate.upper);
      EXPECT_LE(found.certificate.lower, known.certificate.upper);
      EXPECT_GE(found.certificate.upper, known.certificate.lower);
    }
}

TEST(ScansOneClass, take_a_nu_that_bounds_nothing) {
  const Rows rows = around(17, 20000, 4, 6);
  for (const double nu : {1e-5, 1e-9, 1e-100}) {
    SCOPED_TRACE(nu);
    const Model m = expect_right(rows, options_of(nu, 1e-6, 300));
    EXPECT_EQ(m.certificate.errors, 0);
  }
}

TEST(ScansOneClass, take_a_nu_of_one) {
  const Rows rows = around(19, 3000, 4, 2);
  const Model m = expect_right(rows, options_of(1, 1e-6, 300), 3);
  EXPECT_EQ(m.status, Status::optimal);
  EXPECT_EQ(m.certificate.errors, 3000);
}

TEST(ScansOneClass, say_that_rows_are_around_the_origin) {
  const Model m = expect_right(around(23, 20000, 3, 0), options_of(0.05, 1e-3, 500), 12);
  EXPECT_EQ(m.status, Status::not_separable);
  EXPECT_EQ(m.certificate.upper, 0);
  EXPECT_EQ(m.weights.cwiseAbs().maxCoeff(), 0);
}

/// Features in units of s: w in units of s, and values of s².
TEST(ScansOneClass, do_not_depend_on_units) {
  const Rows rows = around(29, 5000, 4, 4);
  const Model plain = expect_right(rows, options_of(0.1, 1e-6, 200));
  for (const double s : {0x1p-40, 0x1p40, 0x1p200, 0x1p-200}) {
    SCOPED_TRACE(s);
    Rows scaled = rows;
    for (auto& x : scaled.x)
      for (double& v : x) v *= s;
    const Model m = expect_right(scaled, options_of(0.1, 1e-6, 200));
    EXPECT_NEAR(m.certificate.upper / (s * s), plain.certificate.upper, -1e-6 * plain.certificate.upper);
    EXPECT_NEAR(m.certificate.lower / (s * s), plain.certificate.lower, -1e-6 * plain.certificate.lower);
  }
}

TEST(ScansOneClass, take_rows_of_any_shape) {
  Random random(31);
  for (int shape = 0; shape < 7; ++shape)
    for (int trial = 0; trial < 6; ++trial) {
      SCOPED_TRACE("shape " + std::to_string(shape) + ", trial " + std::to_string(trial));
      Rows rows;
      rows.x = testing::make_table(random, shape, true).x;
      const double apart = trial % 2 == 0 ? 3 : 0.5;
      for (auto& x : rows.x) x[0] += apart;
      const Dataset data = data_of(rows);
      MemorySource source(data);
      const Options options = options_of(trial % 3 == 0 ? 0.15 : 0.4, 1e-5, 3);
      const Model found = train_scans(source, options, {}), known = train(data, options, {});
      EXPECT_EQ(found.status, known.status) << found.certificate.relative_gap;
      EXPECT_LE(found.certificate.lower, known.certificate.upper);
      EXPECT_GE(found.certificate.upper, known.certificate.lower);
      const double value = value_of(rows, options.nu, found);
      EXPECT_GE(found.certificate.upper, value - 1e-14 * std::fabs(value));
    }
}

TEST(ScansOneClass, take_rows_that_are_all_alike) {
  for (const std::vector<double>& x : {std::vector<double>{2, -1}, {0, 0}, {1e-150, 0}, {1e150, 1e150}, {-3}})
    for (const double nu : {1e-3, 0.3, 1.0}) {
      SCOPED_TRACE(std::to_string(x[0]) + ", " + std::to_string(nu));
      Rows rows;
      rows.x.assign(500, x);
      const Dataset data = data_of(rows);
      ThreeParts source(data);
      const Model found = train_scans(source, options_of(nu, 1e-6, 20), {});
      double square = 0;
      for (const double v : x) square += v * v;
      EXPECT_EQ(found.status, square > 0 ? Status::optimal : Status::iteration_limit);  // as in memory
      EXPECT_NEAR(found.certificate.upper, -0.5 * square, 1e-6 * square);
      EXPECT_LE(found.certificate.lower, -0.5 * square);
      EXPECT_LE(source.scans, 5);
    }
}

TEST(ScansOneClass, ask_about_the_features_in_use) {
  const Rows rows = around(59, 5000, 3, 3);
  Dataset data(Dataset::Outcome::classes);
  const Label label = one_class_label(data);
  const std::int32_t columns[] = {7, 100000, 2999999};
  for (const auto& x : rows.x) data.append(sparse_row(columns, x.data(), 3, 3000000), label, 1.0);
  ThreeParts source(data);
  const Options options = options_of(0.2, 1e-6, 200);
  const Model found = train_scans(source, options, {}), dense = train(data_of(rows), options, {});
  EXPECT_EQ(found.status, Status::optimal);
  EXPECT_EQ(found.columns, (std::vector<std::int32_t>{7, 100000, 2999999}));
  EXPECT_EQ(found.dimensions, 3000000);
  EXPECT_NEAR(found.certificate.upper, dense.certificate.upper, -1.1e-6 * dense.certificate.upper);
  EXPECT_LE(source.scans, 9);
}

TEST(ScansOneClass, end_with_an_honest_interval) {
  const Rows rows = around(53, 20000, 6, 2);
  const Dataset data = data_of(rows);
  for (const double nu : {1e-9, 0.1, 0.5}) {
    Options options = options_of(nu, 1e-9, 50);
    options.max_iterations = 2;
    ThreeParts source(data);
    const Model found = train_scans(source, options, {});
    options.max_iterations.reset();
    const Certificate known = train(data, options, {}).certificate;
    EXPECT_LE(source.scans, 3);  // for nu itself, where it bounds nothing
    EXPECT_EQ(found.status, Status::iteration_limit);
    EXPECT_LE(found.certificate.lower, known.upper);
    EXPECT_GE(found.certificate.upper, known.lower);
    EXPECT_GT(found.certificate.relative_gap, 1e-9);
  }
}

TEST(ScansOneClass, train_few_rows_in_memory) {
  const Dataset data = data_of(around(37, 500, 4, 3));
  ThreeParts source(data);
  const Options options = options_of(0.1, 1e-6, 1000);
  const Model found = train_scans(source, options, {});
  EXPECT_EQ(source.scans, 1);
  EXPECT_EQ(found.status, Status::optimal);
  EXPECT_NEAR(found.certificate.upper, train(data, options, {}).certificate.upper, 1e-6);
}

TEST(ScansOneClass, refuse_what_needs_all_rows) {
  const Dataset data = data_of(around(41, 300, 3, 3));
  Options options = options_of(0.1, 1e-3, 50);
  options.kernel = "rbf";
  EXPECT_NE(refusal_by_scans(data, options).find("kernel"), std::string::npos);
  options = options_of(0.1, 1e-3, 50);
  options.dual_weights = true;
  EXPECT_NE(refusal_by_scans(data, options), "");
  options = options_of(0.1, 1e-3, 20);
  EXPECT_NE(refusal_by_scans(data_of(around(43, 50, 2048, 3)), options).find("2048"), std::string::npos);
}

/// The statement of a one-class risk, as a scan asks it.
Question asked_of(double lambda, double nu, const Weights& w, double b) {
  Options s;
  s.nu = nu;
  s = one_class_options(s);
  Question q;
  q.kind = Question::Kind::risk;
  q.class_names = {outlier, inlier};
  q.classes = 2;
  q.loss = make_loss(OneClass::id, s);
  q.lambda = lambda;
  q.free_intercept = true;
  q.dimensions = static_cast<std::int32_t>(w.cols());
  q.weights = w;
  q.intercepts = Eigen::VectorXd::Constant(1, b);
  return q;
}

TEST(ScansOneClass, questions_that_no_check_knows_are_refused) {
  const Question sound = asked_of(2, 0.1, Weights::Ones(1, 3), -1);
  EXPECT_EQ(Question::from_bytes(sound.bytes()).bytes(), sound.bytes());
  const std::vector<void (*)(Question&)> forgeries = {
      [](Question& q) { q.lambda = 0; },
      [](Question& q) { q.free_intercept = false; },
      [](Question& q) { q.intercept = false; },
      [](Question& q) { q.l1_ratio = 0.5; },
      [](Question& q) { q.penalty_factor = {1, 2, 3}; },
      [](Question& q) { q.bounds.lower = q.bounds.upper = {0}; },
      [](Question& q) { q.offset = 1; },
      [](Question& q) { q.class_weight = {1, 2}; },
      [](Question& q) {
        q.class_names = {"a", "b", "c"};
        q.classes = 3;
        q.task = Task::multiclass;
        q.weights = Weights::Ones(3, 3);
        q.intercepts = Eigen::VectorXd::Ones(3);
      },
  };
  for (std::size_t k = 0; k < forgeries.size(); ++k) {
    Question q = sound;
    forgeries[k](q);
    EXPECT_THROW(Question::from_bytes(q.bytes()), Error) << k;
  }
}

/// D of the header of certificate/risk_one_class.cpp, and P, in more digits.
struct Exact {
  long double primal = 0, dual = 0;
};

Exact exact_of(const Rows& rows, const Question& q, double nu, const std::vector<double>& a) {
  const std::size_t d = rows.x[0].size();
  std::vector<long double> v(d, 0);
  long double all = 0, sum = 0, loss = 0, square = 0, radius = 0, norm = 0;
  for (std::size_t i = 0; i < rows.x.size(); ++i) {
    const long double c = rows.weight.empty() ? 1 : rows.weight[i];
    long double u = q.intercepts(0), length = 0;
    for (std::size_t j = 0; j < d; ++j) {
      u += static_cast<long double>(q.weights(0, static_cast<Eigen::Index>(j))) * rows.x[i][j];
      v[j] += c * a[i] * rows.x[i][j];
      length += static_cast<long double>(rows.x[i][j]) * rows.x[i][j];
    }
    radius = std::max(radius, std::sqrt(length));
    loss += c * std::max<long double>(0, -u) / nu;
    sum += c * a[i];
    all += c;
  }
  const long double share = std::min<long double>(1, all / sum);
  for (std::size_t j = 0; j < d; ++j) {
    norm += v[j] * v[j] / (all * all);
    square += static_cast<long double>(q.weights(0, static_cast<Eigen::Index>(j))) *
              q.weights(0, static_cast<Eigen::Index>(j));
  }
  norm = share * std::sqrt(norm);
  const long double lost = std::max<long double>(0, 1 - sum / all) * radius;
  return {q.lambda * square / 2 + q.intercepts(0) + loss / all,
          std::max(-(norm * norm / 2 + lost * (norm + 2 * lost)) / q.lambda, -radius * radius / (2 * q.lambda))};
}

TEST(ScansOneClass, prove_no_more_than_the_sums_do) {
  Random random(47);
  for (int trial = 0; trial < 200; ++trial) {
    SCOPED_TRACE(trial);
    const double nu = 0.05 + 0.9 * random.uniform(), lambda = std::exp2(static_cast<double>(random.below(7)) - 3.0);
    Rows rows = around(1000 + static_cast<std::uint64_t>(trial), 40, 3, 2);
    if (trial % 4 == 3)  // long ones, whose sums are kept apart
      for (auto& x : rows.x)
        for (double& v : x) v *= 0x1p22;
    Weights w(1, 3);
    for (double& v : w.reshaped()) v = normal(random);
    const Question q = asked_of(lambda, nu, w, -random.uniform());
    // Sums of 1, or some more, or some less.
    const double level = trial % 3 == 0 ? 1 : trial % 3 == 1 ? 1 + random.uniform() : 1 - random.uniform();
    std::vector<double> a;
    double sum = 0;
    for (std::size_t i = 0; i < rows.x.size(); ++i) {
      rows.weight.push_back(0.25 * static_cast<double>(1 + random.below(8)));
      a.push_back(random.uniform());
      sum += rows.weight.back() * a.back();
    }
    double all = 0;
    for (const double c : rows.weight) all += c;
    for (double& v : a) v = std::min(1 / nu, v * level * all / sum);
    const Dataset data = data_of(rows);
    RiskCheck check(q.objective(), q.weights.data(), q.intercepts.data(), true);
    for (std::size_t i = 0; i < a.size(); ++i) {
      CheckedRow row{};
      row.x = data.row(static_cast<std::int64_t>(i));
      row.label = 1;
      row.sample_weight = row.loss_weight = rows.weight[i];
      row.dual = &a[i];
      check.add(row);
    }
    const Exact exact = exact_of(rows, q, nu, a);
    EXPECT_GE(check.primal(0), static_cast<double>(exact.primal));
    EXPECT_NEAR(check.primal(0), static_cast<double>(exact.primal), 1e-13 * (1 + std::fabs(check.primal(0))));
    EXPECT_LE(check.dual(0), static_cast<double>(exact.dual));
    EXPECT_NEAR(check.dual(0), static_cast<double>(exact.dual), 1e-12 * (1 + std::fabs(check.dual(0))));
    // What it claims of the optimum.
    Options s = options_of(nu, 1e-9, 100);
    const double best = train(data, s, {}).certificate.upper / lambda;
    EXPECT_LE(check.dual(0), best);
    EXPECT_GE(check.primal(0), best * (1 + 1e-8));
  }
}

/// Scores that cancel: a row may lie outside where its computed score is inside.
TEST(ScansOneClass, rounding_of_a_score_is_charged) {
  for (const double small : {3.0, 5.0, 7.0})
    for (double b = -small - 2; b < 2; b += 0.25) {
      Rows rows;
      rows.x = {{1e16, small, -1e16}};
      const Question q = asked_of(1, 0.5, Weights::Ones(1, 3), b);
      const Dataset data = data_of(rows);
      RiskCheck check(q.objective(), q.weights.data(), q.intercepts.data(), true);
      CheckedRow row{};
      row.x = data.row(0);
      row.label = 1;
      check.add(row);
      EXPECT_GE(check.primal(0), static_cast<double>(exact_of(rows, q, 0.5, {0}).primal)) << small << " " << b;
    }
}

}  // namespace
}  // namespace margin
