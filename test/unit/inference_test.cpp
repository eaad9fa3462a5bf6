// Standard errors and intervals of coefficients, against their formulas in plain matrices.
#include "core/analysis/inference.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "core/base/error.hpp"
#include "core/math/distributions.hpp"
#include "core/train/train.hpp"
#include "risk_problems.hpp"

namespace margin {
namespace {

using testing::make_dataset;
using testing::normal;
using testing::Table;

Options likelihood(const std::string& loss) {
  Options s;
  s.loss = loss;
  s.lambda = 0;
  s.tolerance = 1e-12;
  return s;
}

Table rows_of(Random& random, const std::string& loss, int n, bool weighted) {
  Table t;
  for (int i = 0; i < n; ++i) {
    std::vector<double> x = {normal(random), 3 + normal(random), 20 * normal(random)};
    const double score = 0.4 * x[0] - 0.3 * (x[1] - 3) + 0.02 * x[2];
    double y = score + (0.3 + 0.4 * std::fabs(x[0])) * normal(random);
    if (loss == "logistic") y = score + 1.5 * normal(random) > 0 ? 1 : 0;
    if (loss == "poisson") y = std::floor(std::exp(0.5 * score + 0.5 * normal(random)) + random.uniform());
    t.x.push_back(x);
    t.y.push_back(y);
    if (weighted) t.weight.push_back(static_cast<double>(random.below(4)));
  }
  return t;
}

double target_of(const std::string& loss, double y) { return loss == "logistic" ? 2 * y - 1 : y; }
std::string cluster_of(std::size_t i) { return "c" + std::to_string(i % 7); }

void add_all(Inference& to, const std::string& loss, const Table& t, std::size_t from, std::size_t end,
             bool clustered) {
  for (std::size_t i = from; i < end; ++i)
    to.add({t.x[i].data(), nullptr, 3, true}, target_of(loss, t.y[i]), t.weight.empty() ? 1 : t.weight[i],
           clustered ? cluster_of(i) : "", -1);
}

/// The covariance of (w, b), from its definition.
Eigen::MatrixXd covariance(const std::string& loss, const Table& t, const Model& m, Covariance kind) {
  Eigen::MatrixXd hessian = Eigen::MatrixXd::Zero(4, 4), meat = hessian;
  std::vector<Eigen::VectorXd> clusters(7, Eigen::VectorXd::Zero(4));
  double n = 0, squares = 0;
  for (std::size_t i = 0; i < t.x.size(); ++i) {
    const double c = t.weight.empty() ? 1 : t.weight[i], y = target_of(loss, t.y[i]);
    Eigen::VectorXd z(4);
    z << t.x[i][0], t.x[i][1], t.x[i][2], 1;
    const double u = z.head(3).dot(m.weights.row(0).transpose()) + m.intercept[0];
    double slope = u - y, curvature = 1;
    if (loss == "logistic") {
      slope = -y / (1 + std::exp(y * u));
      curvature = std::exp(u) / std::pow(1 + std::exp(u), 2);
    }
    if (loss == "poisson") {
      slope = std::exp(u) - y;
      curvature = std::exp(u);
    }
    n += c;
    squares += c * slope * slope;
    hessian += c * curvature * z * z.transpose();
    meat += c * slope * slope * z * z.transpose();
    clusters[i % 7] += c * slope * z;
  }
  const Eigen::MatrixXd inverse = hessian.inverse();
  if (kind == Covariance::classical) return inverse * (loss == "squared" ? squares / (n - 4) : 1.0);
  if (kind == Covariance::hc0) return inverse * meat * inverse;
  if (kind == Covariance::hc1) return inverse * meat * inverse * (n / (n - 4));
  Eigen::MatrixXd between = Eigen::MatrixXd::Zero(4, 4);
  for (const Eigen::VectorXd& sum : clusters) between += sum * sum.transpose();
  return inverse * between * inverse * (7.0 / 6.0) * ((n - 1) / (n - 4));
}

TEST(Inference, StandardErrorsAreThoseOfTheFormulas) {
  Random random(51);
  const Progress progress;
  for (const std::string loss : {"squared", "logistic", "poisson"}) {
    for (const bool weighted : {false, true}) {
      const Table t = rows_of(random, loss, 90, weighted);
      const Options s = likelihood(loss);
      const Dataset data = make_dataset(t, loss == "logistic");
      const Model m = train(data, s, progress);
      ASSERT_EQ(m.status, Status::optimal) << loss;
      double n = 0;
      for (std::size_t i = 0; i < t.x.size(); ++i) n += weighted ? t.weight[i] : 1;
      for (const Covariance kind : {Covariance::classical, Covariance::hc0, Covariance::hc1, Covariance::cluster}) {
        InferenceOptions options;
        options.covariance = kind;
        options.level = 0.9;
        const bool clustered = kind == Covariance::cluster;
        Inference whole(m, m.status, s, options), first(m, m.status, s, options), rest(m, m.status, s, options);
        add_all(whole, loss, t, 0, 90, clustered);
        add_all(first, loss, t, 0, 37, clustered);
        add_all(rest, loss, t, 37, 90, clustered);
        ASSERT_TRUE(first.merge(rest.state(), rest.clusters()));
        EXPECT_EQ(first.rows(), 90);
        const Eigen::MatrixXd exact = covariance(loss, t, m, kind);
        const std::vector<Coefficient> found = whole.result(progress), merged = first.result(progress);
        ASSERT_EQ(found.size(), 4U);
        for (std::size_t j = 0; j < 4; ++j) {
          const auto at = static_cast<Eigen::Index>(j);
          const double error = std::sqrt(exact(at, at));
          EXPECT_EQ(found[j].feature, j < 3 ? static_cast<std::int32_t>(j) : -1);
          EXPECT_EQ(found[j].estimate, j < 3 ? m.weights(0, at) : m.intercept[0]);
          EXPECT_NEAR(found[j].std_error / error, 1, 1e-8) << loss << " " << j;
          EXPECT_NEAR(merged[j].std_error / error, 1, 1e-8) << loss << " merged " << j;
          EXPECT_NEAR(found[j].statistic, found[j].estimate / error, 1e-6 * (1 + std::fabs(found[j].statistic)));
          const double degrees = clustered ? 6 : n - 4, size = std::fabs(found[j].statistic);
          const double tail = loss == "squared" ? student_tail(size, degrees) : normal_tail(size);
          EXPECT_NEAR(found[j].p_value, 2 * tail, 1e-9);
          const double reach = loss == "squared" ? student_quantile(0.05, degrees) : 1.6448536269514722;
          EXPECT_NEAR(found[j].lower, found[j].estimate - reach * error, 1e-7 * error);
          EXPECT_NEAR(found[j].upper, found[j].estimate + reach * error, 1e-7 * error);
        }
      }
    }
  }
}

/// Forty rows and four coefficients: Student's t of 36 degrees, whose quantile tables have.
TEST(Inference, IntervalsOfLeastSquaresAreStudents) {
  Random random(52);
  const Progress progress;
  const Table t = rows_of(random, "squared", 40, false);
  const Options s = likelihood("squared");
  const Model m = train(make_dataset(t, false), s, progress);
  Inference of(m, m.status, s, {});
  add_all(of, "squared", t, 0, 40, false);
  for (const Coefficient& c : of.result(progress)) {
    EXPECT_NEAR((c.upper - c.estimate) / c.std_error, 2.0280940009804502, 1e-9);
    EXPECT_NEAR((c.estimate - c.lower) / c.std_error, 2.0280940009804502, 1e-9);
  }
  EXPECT_FALSE(of.exact_fit());
}

TEST(Inference, AFitWithoutResidualsHasNoErrors) {
  Random random(53);
  const Progress progress;
  Table t = rows_of(random, "squared", 30, false);
  for (std::size_t i = 0; i < t.x.size(); ++i) t.y[i] = 2 * t.x[i][0] - t.x[i][1] + 5;
  const Options s = likelihood("squared");
  const Model m = train(make_dataset(t, false), s, progress);
  Inference of(m, m.status, s, {});
  add_all(of, "squared", t, 0, 30, false);
  EXPECT_TRUE(of.exact_fit());
  for (const Coefficient& c : of.result(progress)) EXPECT_EQ(c.std_error, 0);
}

TEST(Inference, RefusesWhatHasNoStandardErrors) {
  Random random(54);
  const Progress progress;
  const Table t = rows_of(random, "squared", 40, false);
  const Dataset data = make_dataset(t, false);
  Options s = likelihood("squared");
  const Model m = train(data, s, progress);
  {
    Options penalised = s;
    penalised.lambda = 0.1;
    const Model other = train(data, penalised, progress);
    EXPECT_THROW(Inference(other, other.status, penalised, {}), Error);
  }
  EXPECT_THROW(Inference(m, Status::iteration_limit, s, {}), Error);
  EXPECT_THROW(Inference(m, Status::separable, s, {}), Error);
  {  // other rows: the model is not their optimum
    Table moved = t;
    for (double& y : moved.y) y += 0.5;
    Inference of(m, m.status, s, {});
    add_all(of, "squared", moved, 0, 40, false);
    EXPECT_THROW(of.result(progress), Error);
  }
  {  // no more rows than coefficients
    Inference of(m, m.status, s, {});
    add_all(of, "squared", t, 0, 4, false);
    EXPECT_THROW(of.result(progress), Error);
  }
  {  // a feature that is twice another
    Table twice = t;
    for (auto& x : twice.x) x[2] = 2 * x[0];
    Inference of(m, m.status, s, {});
    add_all(of, "squared", twice, 0, 40, false);
    EXPECT_THROW(of.result(progress), DependentFeatures);
  }
  {  // one cluster, and more clusters than memory
    InferenceOptions options;
    options.covariance = Covariance::cluster;
    Inference of(m, m.status, s, options);
    for (std::size_t i = 0; i < 40; ++i) of.add({t.x[i].data(), nullptr, 3, true}, t.y[i], 1, "all", -1);
    EXPECT_THROW(of.result(progress), Error);
    EXPECT_THROW(of.add({t.x[0].data(), nullptr, 3, true}, t.y[0], 1, "another", 100), Error);
  }
  // States of another shape.
  Inference of(m, m.status, s, {}), whole(m, m.status, s, {});
  add_all(whole, "squared", t, 0, 40, false);
  std::vector<double> state = whole.state();
  EXPECT_FALSE(of.merge(state, {"a"}));
  state.pop_back();
  EXPECT_FALSE(of.merge(state, {}));
  state = whole.state();
  state[0] = -1;
  EXPECT_FALSE(of.merge(state, {}));
  EXPECT_THROW(parse_inference({{"covariance", Value{std::string("HC9")}}}, false), Error);
  EXPECT_THROW(parse_inference({{"level", Value{1.0}}}, false), Error);
  EXPECT_THROW(parse_inference({{"levels", Value{0.5}}}, false), Error);
  EXPECT_THROW(parse_inference({{"covariance", Value{std::string("cluster")}}}, false), Error);
  EXPECT_THROW(parse_inference({{"covariance", Value{std::string("HC1")}}}, true), Error);
  EXPECT_EQ(parse_inference({}, true).covariance, Covariance::cluster);
  EXPECT_EQ(parse_inference({{"level", Value{0.5}}}, false).level, 0.5);
}

}  // namespace
}  // namespace margin
