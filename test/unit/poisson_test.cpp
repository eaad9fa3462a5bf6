// The loss poisson at lambda 0: the solver against optima found in 50 digits, the certificate of any weights around them,
// and the proof that there is no optimum. With a lambda it is tested with the other losses.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "core/base/error.hpp"
#include "core/certificate/certificate.hpp"
#include "core/model/verification.hpp"
#include "core/solvers/solver.hpp"
#include "core/train/train.hpp"

namespace margin {
namespace {

const double optima[] = {
#include "poisson_optima.inc"
};
constexpr int problems = sizeof optima / sizeof optima[0];

/// The generator of likelihood_optima.py.
struct Draws {
  std::uint64_t state;
  int below(int n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<int>((state >> 33) % static_cast<std::uint64_t>(n));
  }
};

/// Its counts().
Dataset problem(int k) {
  Dataset data(Dataset::Outcome::targets);
  Draws draws{static_cast<std::uint64_t>(k) + 1};
  const int n = 6 + draws.below(24), d = 1 + draws.below(4);
  for (int i = 0; i < n; ++i) {
    double x[4];
    for (int j = 0; j < d; ++j) x[j] = (draws.below(9) - 4) / 4.0;
    if (k % 4 == 0) x[0] = draws.below(2);
    const int size = draws.below(k % 7 != 0 ? 5 : 4000);
    const double y = k % 4 == 0 && x[0] == 1 && k % 8 == 0 ? 0.0 : size / 2.0 + std::max(0.0, 2 * x[0]);
    data.append(dense_row(x, d), y, k % 3 == 0 ? 1 + draws.below(3) : 1);
  }
  return data;
}

Options counts(double lambda = 0) {
  Options options;
  options.lambda = lambda;
  options.loss = "poisson";
  return options;
}

Model fit(const Dataset& data, const Options& options = counts()) { return train(data, options, Progress()); }

/// The last digit that the reference is rounded to.
bool holds(const Certificate& c, double optimum) {
  return c.lower <= optimum * (1 + 1e-15) + 1e-300 && optimum * (1 - 1e-15) <= c.upper;
}

TEST(Poisson, IntervalsHoldTheOptimumAndAreNarrow) {
  int without = 0, solved = 0;
  for (int k = 0; k < problems; ++k) {
    SCOPED_TRACE("problem " + std::to_string(k));
    const Dataset data = problem(k);
    if (optima[k] == -2) {
      EXPECT_THROW(fit(data), Error);
      continue;
    }
    const Model model = fit(data);
    if (optima[k] == -1) {
      EXPECT_NE(model.status, Status::optimal);
      without += model.status == Status::separable;
      continue;
    }
    ++solved;
    EXPECT_EQ(model.status, Status::optimal);
    EXPECT_TRUE(holds(model.certificate, optima[k]))
        << model.certificate.lower << " " << optima[k] << " " << model.certificate.upper;
    EXPECT_LE(model.certificate.gap, 1e-9 * (1 + optima[k]));
  }
  EXPECT_GT(solved, 200);
  EXPECT_GT(without, 20);
}

TEST(Poisson, IntervalsOfOtherWeightsHoldTheOptimum) {
  int bounded = 0;
  for (int k = 0; k < problems; ++k) {
    if (optima[k] < 0) continue;
    const Dataset data = problem(k);
    const Model model = fit(data);
    const Problem p = make_problem(data, counts());
    Draws draws{static_cast<std::uint64_t>(k) + 12345};
    for (const double size : {1e-8, 1e-4, 1e-2, 0.1, 0.5, 2.0}) {
      Weights w = model.weights;
      Eigen::VectorXd b = model.intercept;
      for (Eigen::Index j = 0; j < w.cols(); ++j) w(0, j) += size * (draws.below(201) - 100) / 100.0;
      b[0] += size * (draws.below(201) - 100) / 100.0;
      const Certificate c = certify(p, w, b, Weights());
      EXPECT_TRUE(holds(c, optima[k])) << "problem " << k << ", " << size << ": " << c.lower << " " << optima[k] << " "
                                       << c.upper;
      bounded += c.lower > 0;
    }
  }
  EXPECT_GT(bounded, 500);
}

// Rows of a label of 0 alone fall along the third column; a row with a count on its other side takes the proof away.
TEST(Poisson, WithoutAnOptimumTheWeightsProveIt) {
  const double x[][3] = {{0.3, 1, 0}, {-1, 0.25, 0}, {0.7, -2, 0}, {-0.1, 0.4, 0}, {1, 0.5, 1}, {0.2, -0.25, 1}};
  const double y[] = {3, 0, 1.5, 2, 0, 0};
  Dataset data(Dataset::Outcome::targets);
  for (int i = 0; i < 6; ++i) data.append(dense_row(x[i], 3), y[i]);
  const Model model = fit(data);
  EXPECT_EQ(model.status, Status::separable);
  for (int i = 0; i < 6; ++i) {
    double u = model.intercept[0];
    for (int j = 0; j < 3; ++j) u += model.weights(0, j) * x[i][j];
    if (y[i] > 0)
      EXPECT_EQ(u, 0) << i;
    else
      EXPECT_LE(u, 0) << i;
  }
  const Options settings = counts();
  Verification verification(model, settings, true);
  for (int i = 0; i < 6; ++i) verification.add(dense_row(x[i], 3), y[i], y[i], -1);
  EXPECT_FALSE(verification.result(Progress()).dual.has_value());
  const double other[] = {0.1, 0.1, 1};
  data.append(dense_row(other, 3), 0.5);
  EXPECT_EQ(fit(data).status, Status::optimal);
  EXPECT_EQ(fit(data, counts(0.1)).status, Status::optimal);
}

TEST(Poisson, LabelsOfZeroAlone) {
  Dataset data(Dataset::Outcome::targets);
  for (int i = 0; i < 40; ++i) {
    const double x[] = {std::sin(i), std::cos(3.0 * i)};
    data.append(dense_row(x, 2), 0.0);
  }
  EXPECT_EQ(fit(data).status, Status::separable);
  EXPECT_THROW(fit(data, counts(0.1)), Error);  // a free intercept has no best value
  Options penalized = counts(0.1);
  penalized.intercept_form = InterceptForm::penalized;
  EXPECT_EQ(fit(data, penalized).status, Status::optimal);
  Dataset negative(Dataset::Outcome::targets);
  const double x[] = {1, 2};
  negative.append(dense_row(x, 2), 1.0);
  negative.append(dense_row(x, 2), -1e-300);
  EXPECT_THROW(fit(negative, counts(0.1)), Error);
}

TEST(Poisson, AnExactFitIsOptimal) {
  Dataset data(Dataset::Outcome::targets);
  for (int i = 0; i < 50; ++i) {
    const double x[] = {std::sin(i), std::cos(3.0 * i)};
    data.append(dense_row(x, 2), std::exp(2 * x[0] - x[1] / 3 + 5));
  }
  const Model model = fit(data);
  EXPECT_EQ(model.status, Status::optimal);
  EXPECT_NEAR(model.weights(0, 0), 2, 1e-12);
  EXPECT_NEAR(model.prediction(0), 1, 0);
}

TEST(Poisson, EqualLabelsAreAnExactFit) {
  for (const double y : {1.5, 1e-7, 3e9})
    for (const double lambda : {0.0, 1e-3}) {
      Dataset data(Dataset::Outcome::targets);
      for (int i = 0; i < 20; ++i) {
        const double x[] = {std::sin(i), std::cos(3.0 * i)};
        data.append(dense_row(x, 2), y);
      }
      EXPECT_EQ(fit(data, counts(lambda)).status, Status::optimal) << y << " " << lambda;
    }
}

// Means from 1e-12 to 1e12, from every solver.
TEST(Poisson, MeansOfAnySize) {
  for (const double size : {1e-12, 1e-3, 1e3, 1e12})
    for (const char* solver : {"newton", "newton_cg", "sdca", "irls"}) {
      const bool likelihood = std::string(solver) == "irls";
      Dataset data(Dataset::Outcome::targets);
      for (int i = 0; i < 60; ++i) {
        const double x[] = {std::sin(i), std::cos(3.0 * i)};
        data.append(dense_row(x, 2), size * std::exp(x[0] - x[1] / 3) * (1 + 0.5 * std::sin(17.0 * i)));
      }
      Options options = counts(likelihood ? 0 : size);
      options.solver = solver;
      const Model model = fit(data, options);
      EXPECT_EQ(model.status, Status::optimal) << solver << " " << size << ": " << model.certificate.relative_gap;
      EXPECT_NEAR(model.intercept[0], std::log(size), 2) << solver << " " << size;
    }
}

}  // namespace
}  // namespace margin
