// Certificates where floating point runs out: differences of large numbers, squares that vanish, products that
// overflow.
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.hpp"
#include "core/certificate/interpolation.hpp"
#include "core/certificate/l2_margin.hpp"
#include "core/certificate/lp_margin.hpp"
#include "core/certificate/risk.hpp"
#include "core/train/train.hpp"
#include "risk_problems.hpp"

namespace margin {
namespace {

using testing::make_dataset;
using testing::Table;

constexpr double smallest = std::numeric_limits<double>::denorm_min();

Options soft(const std::string& loss, double lambda) {
  Options s;
  s.loss = loss;
  s.lambda = lambda;
  s.intercept = false;
  return s;
}

Weights matrix(const std::vector<double>& v) {
  return Eigen::Map<const Weights>(v.data(), 1, static_cast<int>(v.size()));
}

TEST(CertificateRange, DifferencesOfLargeNumbersRound) {
  // |u − y| rounds to ε and the computed loss to 0; the real one is the square of what was lost.
  const double y = std::nextafter(1e6, 2e6), w = 0x1p-35;
  Table t;
  t.x = {{1.0}};
  t.y = {y};
  Options s = soft("squared_epsilon_insensitive", 0.01);
  s.epsilon = 1e6;
  const Dataset data = make_dataset(t, false);
  const Certificate c = certify(make_problem(data, s), matrix({w}), Eigen::VectorXd::Zero(1), Weights());
  const long double miss = static_cast<long double>(y) - 1e6L - w;
  EXPECT_GE(static_cast<long double>(c.upper), miss * miss + 0.005L * w * w);
}

TEST(CertificateRange, SquaresThatVanishAreCounted) {
  Table t;
  t.x = {{1.0}, {-1.0}};
  t.y = {1, 0};
  const Dataset data = make_dataset(t, true);
  for (const double lambda : {1e-160, 1e-162, 1e-250, 1e-300}) {
    Weights a(2, 1);
    a << lambda, -lambda;
    const Certificate c =
        certify(make_problem(data, soft("hinge", lambda)), matrix({1.0}), Eigen::VectorXd::Zero(1), a);
    EXPECT_LE(c.lower, lambda / 2);  // λ − λ²/(2λ)
    EXPECT_GE(c.lower, lambda / 2 * (1 - 1e-9));
    EXPECT_GE(c.upper, lambda / 2);
    EXPECT_LE(c.upper, 2e-15);  // 1 − <x, w> is known to some ulps only
  }
}

TEST(CertificateRange, ATinyOptimumIsNotZero) {
  Table t;
  t.x = {{1e50}, {-1e50}};
  t.y = {1, 0};
  const Dataset data = make_dataset(t, true);
  const Certificate c =
      certify(make_problem(data, soft("hinge", 1e-300)), matrix({2e-50}), Eigen::VectorXd::Zero(1), Weights());
  EXPECT_GT(c.upper, 0);
  EXPECT_GT(c.relative_gap, 0.5);
}

TEST(CertificateRange, LargeWeightsOfTinyLambdaHaveAValue) {
  Table t;
  t.x = {{1e-150}, {-1e-150}};
  t.y = {1, 0};
  const Dataset data = make_dataset(t, true);
  const Certificate c =
      certify(make_problem(data, soft("hinge", 1e-300)), matrix({1e160}), Eigen::VectorXd::Zero(1), Weights());
  EXPECT_NEAR(c.upper / 5e19, 1, 1e-9);
}

TEST(CertificateRange, DenormalDualWeightsProveNothingFalse) {
  const double x[] = {3, 1e-3};
  const Row row{x, nullptr, 2, true};
  const double w[] = {1, 0};
  for (const double q : {smallest, 3 * smallest, 1e-310, 1e-308, 1e-300}) {
    MarginCheck hard(2, 2, w, nullptr, true, true);
    hard.add(row, 1, &q);
    const double other[] = {-3, 1e-3};
    hard.add({other, nullptr, 2, true}, 0, &q);
    EXPECT_GE(hard.upper(), 3) << q;
    NormCheck lp(2, 2, 1.5, w, nullptr, true, true);
    lp.add(row, 1, &q);
    lp.add({other, nullptr, 2, true}, 0, &q);
    EXPECT_GE(lp.upper(), 3) << q;
  }
}

TEST(CertificateRange, OverflowsProveNothing) {
  const double x[] = {1e150, 1e150};
  const double w[] = {1e200, -1e200};
  const Row row{x, nullptr, 2, true};
  const double q = 1e300;
  MarginCheck hard(2, 2, w, nullptr, false, true);
  hard.add(row, 1, &q);
  hard.add(row, 0, &q);
  EXPECT_FALSE(hard.lower() > 0);
  EXPECT_FALSE(std::isnan(hard.upper()));
  EXPECT_EQ(hard.errors(), 2);
  // The margin of one row is 0, but overflows to NaN; another row has one of 0.7.
  const double far[] = {10, 10}, near[] = {1, 0}, large[] = {1e308, -1e308};
  MarginCheck beside(2, 2, large, nullptr, false, false);
  beside.add(Row{near, nullptr, 2, true}, 1, nullptr);
  EXPECT_GT(beside.lower(), 0.7);
  beside.add(Row{far, nullptr, 2, true}, 1, nullptr);
  EXPECT_FALSE(beside.lower() > 0);
  NormCheck lp(2, 2, 1, w, nullptr, false, true);
  lp.add(row, 1, &q);
  lp.add(row, 0, &q);
  EXPECT_FALSE(lp.lower() > 0);
  EXPECT_LE(lp.upper(), lp.radius());
  InterpolationCheck targets(2, 2, w, 0, false, true);
  targets.add(row, 1, 1, 1e300);
  EXPECT_EQ(targets.slack(), -INFINITY);
  EXPECT_EQ(targets.outside(), 1);
  EXPECT_EQ(targets.least_norm(), 0);
}

TEST(CertificateRange, UpperEndsAreNumbers) {
  // The dual weights of such rows are so large that sums of them overflow.
  const std::vector<std::vector<double>> x = {
      {0, 0}, {2.22608566765282e+49, -1e+148}, {-0.30512274557356694, -1e+148}, {0, -8.444882561686915e-51}, {0, 0},
      {0, 0}};
  const std::vector<int> y = {0, 1, 0, 0, 1, 0};
  Dataset data(Dataset::Outcome::classes);
  for (std::size_t i = 0; i < x.size(); ++i)
    data.append(dense_row(x[i].data(), 2), data.classes().intern(std::to_string(y[i]), y[i]));
  Options s;
  s.solver = "dual_ascent";
  s.max_iterations = 100;
  Progress progress;
  const Certificate c = train(data, s, progress).certificate;
  EXPECT_FALSE(std::isnan(c.upper));
  EXPECT_FALSE(std::isnan(c.relative_gap));
}

TEST(CertificateRange, RowsFarFromTheOriginHaveAGaussianKernel) {
  // ‖x‖² + ‖x'‖² − 2<x, x'> of such rows has no correct digit: weights were NaN. The same rows as sparse ones, with
  // features that come and go, have the same margin as near the origin.
  const double at[] = {-0.4, -0.05, -1.15};
  const int y[] = {0, 1, 1};
  const auto margin_at = [&](double origin, bool sparse) {
    Dataset data(Dataset::Outcome::classes);
    for (int i = 0; i < 3; ++i) {
      const std::int32_t label = data.classes().intern(std::to_string(y[i]), y[i]);
      if (!sparse) {
        data.append(dense_row(std::vector<double>{origin + at[i], 1.0}.data(), 2), label);
        continue;
      }
      const std::int32_t indices[] = {3, 10 + i, 90};
      const double values[] = {origin + at[i], 0.5, i == 1 ? 0.25 : 0.125};
      data.append(sparse_row(indices, values, 3, 100), label);
    }
    Options s;
    s.kernel = "rbf";
    s.gamma = Gamma::number;
    s.gamma_value = 1;
    Progress progress;
    const Model model = train(data, s, progress);
    EXPECT_TRUE(model.weights.allFinite());
    EXPECT_EQ(model.status, Status::optimal);
    return model.certificate.lower;
  };
  for (const bool sparse : {false, true}) {
    const double near = margin_at(0, sparse);
    EXPECT_GT(near, 0.1);
    EXPECT_NEAR(margin_at(0x1p27, sparse) / near, 1, 2e-3);
    EXPECT_NEAR(margin_at(-0x1p40, sparse) / near, 1, 2e-3);
  }
}

TEST(CertificateRange, NumbersOutOfRangeAreRefused) {
  const auto refusal = [](double x, double y, double weight, double other = 1) {
    Dataset data(Dataset::Outcome::targets);
    data.append(dense_row(std::vector<double>{1.0}.data(), 1), other, 1);
    data.append(dense_row(&x, 1), y, weight);
    try {
      make_problem(data, soft("squared", 1));
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::invalid_value);
      return e.message();
    }
    return std::string();
  };
  EXPECT_EQ(refusal(1e152, -1e152, 1e152), "");
  EXPECT_EQ(refusal(smallest, smallest, smallest), "");  // beside larger ones
  EXPECT_EQ(refusal(1e153, 0, 1), "the norm of row 2 is 1e+153, expected at most 1e152");
  EXPECT_EQ(refusal(1, -1e153, 1), "the size of the target of row 2 is 1e+153, expected at most 1e152");
  EXPECT_EQ(refusal(1, 1e-200, 1, 0),
            "the size of the target of row 2 is 1e-200, the largest of all, expected 0 or at least 1e-152");
  EXPECT_EQ(refusal(1, 1, 1e300), "the weight of row 2 is 1e+300, expected at most 1e152");
}

TEST(CertificateRange, WeightsOfAModelAreNumbers) {
  Table t;
  t.x = {{1, 2}, {2, 1}, {0, 1}};
  t.y = {1, 3, -1};
  const Dataset data = make_dataset(t, false);
  for (const char* solver : {"newton", "auto", "sdca"}) {
    for (const double lambda : {1e-100, 1e-300}) {
      Options s = soft("squared", lambda);
      s.solver = solver;
      Progress progress;
      const Model model = train(data, s, progress);
      EXPECT_TRUE(model.weights.allFinite()) << solver;
      EXPECT_LT(model.certificate.upper, 4) << solver;  // that of 0 is 11/3
    }
  }
}

}  // namespace
}  // namespace margin
