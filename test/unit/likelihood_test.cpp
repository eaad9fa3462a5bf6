// lambda 0: the solver against optima found in 50 digits, and the certificate of any weights around them.
#include "core/certificate/likelihood.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "core/base/error.hpp"
#include "core/certificate/certificate.hpp"
#include "core/solvers/solver.hpp"
#include "core/train/train.hpp"

namespace margin {
namespace {

const double optima[] = {
#include "likelihood_optima.inc"
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

Dataset problem(int k, bool classes) {
  Dataset data(classes ? Dataset::Outcome::classes : Dataset::Outcome::targets);
  if (classes) {
    data.classes().intern("a", 0);
    data.classes().intern("b", 1);
  }
  Draws draws{static_cast<std::uint64_t>(k) + 1};
  const int n = 6 + draws.below(24), d = 1 + draws.below(4), offset = k % 5 == 0 ? 1000 : 0;
  for (int i = 0; i < n; ++i) {
    double x[4];
    for (int j = 0; j < d; ++j) x[j] = (draws.below(17) - 8) / 4.0 + offset;
    const int noise = draws.below(9) - 4;
    const double level = x[0] - offset + noise / 2.0;
    const double weight = k % 3 == 0 ? 1 + draws.below(3) : 1;
    if (classes)
      data.append(dense_row(x, d), level > 0 ? 1 : 0, weight);
    else
      data.append(dense_row(x, d), level * 3 + offset, weight);
  }
  return data;
}

Options likelihood(bool classes) {
  Options options;
  options.lambda = 0;
  options.loss = classes ? "logistic" : "squared";
  return options;
}

Model fit(const Dataset& data, const Options& options) { return train(data, options, Progress()); }

/// The last digit that the reference is rounded to.
bool holds(const Certificate& c, double optimum) {
  return c.lower <= optimum * (1 + 1e-15) + 1e-300 && optimum * (1 - 1e-15) <= c.upper;
}

TEST(Likelihood, intervals_hold_the_optimum_and_are_narrow) {
  int separated = 0, solved = 0;
  for (int k = 0; k < problems; ++k) {
    SCOPED_TRACE("problem " + std::to_string(k));
    const bool classes = k % 2 == 0;
    const Dataset data = problem(k, classes);
    if (optima[k] == -2) {
      EXPECT_THROW(fit(data, likelihood(classes)), Error);
      continue;
    }
    Model model;
    try {
      model = fit(data, likelihood(classes));
    } catch (const Error& e) {  // all rows drew one class
      EXPECT_TRUE(classes && data.classes().size() == 2 && e.kind() == ErrorKind::invalid_value) << e.message();
      continue;
    }
    if (optima[k] == -1) {
      EXPECT_NE(model.status, Status::optimal);
      separated += model.status == Status::separable;
      continue;
    }
    ++solved;
    EXPECT_EQ(model.status, Status::optimal);
    EXPECT_TRUE(holds(model.certificate, optima[k]))
        << model.certificate.lower << " " << optima[k] << " " << model.certificate.upper;
    EXPECT_LE(model.certificate.gap, 1e-9 * (1 + optima[k]));
  }
  EXPECT_GT(solved, 300);
  EXPECT_GT(separated, 50);
}

// The bound is about any weights, not those of a solver.
TEST(Likelihood, intervals_of_other_weights_hold_the_optimum) {
  int bounded = 0;
  for (int k = 0; k < problems; ++k) {
    if (optima[k] < 0) continue;
    const bool classes = k % 2 == 0;
    const Dataset data = problem(k, classes);
    const Options options = likelihood(classes);
    const Model model = fit(data, options);
    const Problem p = make_problem(data, options);
    Draws draws{static_cast<std::uint64_t>(k) + 12345};
    for (const double size : {1e-8, 1e-4, 1e-2, 0.1, 0.5, 2.0}) {
      Weights w = model.weights;
      Eigen::VectorXd b = model.intercept.array() - p.target_center;
      for (Eigen::Index j = 0; j < w.cols(); ++j) w(0, j) += size * (draws.below(201) - 100) / 100.0;
      // Back to the middle of the rows, so that an offset of the features does not make all the difference.
      for (Eigen::Index j = 0; j < w.cols(); ++j) b[0] -= (w(0, j) - model.weights(0, j)) * (k % 5 == 0 ? 1000.0 : 0.0);
      b[0] += size * (draws.below(201) - 100) / 100.0;
      const Certificate c = certify(p, w, b, Weights());
      EXPECT_TRUE(holds(c, optima[k])) << "problem " << k << ", " << size << ": " << c.lower << " " << optima[k] << " "
                                       << c.upper;
      bounded += c.lower > 0;
      // ½ν² is no estimate for the squared loss: it is the gap, to rounding.
      if (!classes) {
        EXPECT_GE(c.lower, optima[k] * (1 - 1e-6) - 1e-9) << "problem " << k << ", " << size;
      }
    }
  }
  EXPECT_GT(bounded, 1500);
}

TEST(Likelihood, pieces_prove_what_the_whole_proves) {
  for (const int k : {1, 4, 5, 10, 15, 21}) {
    if (optima[k] < 0) continue;
    SCOPED_TRACE("problem " + std::to_string(k));
    const bool classes = k % 2 == 0;
    const Dataset data = problem(k, classes);
    const Options options = likelihood(classes);
    const Model model = fit(data, options);
    const Problem p = make_problem(data, options);
    const Objective objective = objective_of(p);
    const double b = model.intercept[0] - p.target_center;
    LikelihoodCheck whole(objective, model.weights.data(), &b), merged = whole;
    for (int part = 0; part < 3; ++part) {
      LikelihoodCheck piece(objective, model.weights.data(), &b);
      for (std::int64_t i = 0; i < p.rows(); ++i)
        if (i % 3 == part) piece.add(checked_row(p, i));
      EXPECT_TRUE(merged.merge(piece.state()));
    }
    EXPECT_FALSE(merged.merge({1, 2, 3}));
    const Certificate c = merged.certificate(Progress());
    EXPECT_TRUE(holds(c, optima[k])) << c.lower << " " << optima[k] << " " << c.upper;
    EXPECT_LE(c.gap, 1e-7 * (1 + optima[k]));
  }
}

TEST(Likelihood, the_status_of_separated_classes_is_proven_by_the_weights) {
  const double x[][2] = {{0, 1}, {0, -1}, {0, 2}, {0, -2}, {1, 0.5}, {1, -0.25}};
  const int y[] = {0, 0, 1, 1, 1, 1};
  Dataset data(Dataset::Outcome::classes);
  data.classes().intern("a", 0);
  data.classes().intern("b", 1);
  for (int i = 0; i < 6; ++i) data.append(dense_row(x[i], 2), y[i]);
  const Model model = fit(data, likelihood(true));
  EXPECT_EQ(model.status, Status::separable);
  for (int i = 0; i < 6; ++i) {
    const double u = model.weights(0, 0) * x[i][0] + model.weights(0, 1) * x[i][1] + model.intercept[0];
    EXPECT_GE(y[i] == 1 ? u : -u, 0) << "row " << i;
  }
  // A row on the other side: no proof, and a finite optimum.
  const double other[] = {1, 0.1};
  data.append(dense_row(other, 2), 0);
  EXPECT_EQ(fit(data, likelihood(true)).status, Status::optimal);
}

TEST(Likelihood, an_exact_fit_is_optimal) {
  Dataset data(Dataset::Outcome::targets);
  for (int i = 0; i < 50; ++i) {
    const double x[] = {std::sin(i), std::cos(3.0 * i)};
    data.append(dense_row(x, 2), 2 * x[0] - x[1] / 3 + 100);
  }
  const Model model = fit(data, likelihood(false));
  EXPECT_EQ(model.status, Status::optimal);
  EXPECT_LE(model.certificate.lower, 0);
  EXPECT_NEAR(model.weights(0, 0), 2, 1e-12);
  EXPECT_LT(*model.iterations, 10);
}

TEST(Likelihood, features_that_are_not_told_apart_are_named) {
  const auto refusal = [](const std::vector<std::vector<double>>& rows, bool intercept) {
    Dataset data(Dataset::Outcome::targets);
    for (std::size_t i = 0; i < rows.size(); ++i)
      data.append(dense_row(rows[i].data(), static_cast<std::int32_t>(rows[i].size())), std::sin(1.0 + double(i)));
    Options options = likelihood(false);
    options.intercept = intercept;
    try {
      fit(data, options);
    } catch (const Error& e) {
      return e.message();
    }
    return std::string("trained");
  };
  const std::string none = "lambda => 0 has no unique optimum: ";
  EXPECT_EQ(refusal({{1, 2, 3}, {2, 1, 3}, {4, 4, 8}, {0, 1, 1}, {5, 2, 7}}, true),
            none + "the features 1, 2 and 3 are collinear");
  EXPECT_EQ(refusal({{1, 7}, {2, 7}, {4, 7}, {0, 7}}, true),
            none + "feature 2 is constant, as the intercept is, or varies by less than 3e-7 of its mean");
  EXPECT_EQ(refusal({{1, 7}, {2, 7}, {4, 7}, {0, 7}}, false), "trained");
  EXPECT_EQ(refusal({{1, 0}, {2, 0}, {4, 0}}, false), none + "feature 2 is 0 in every row");
  EXPECT_EQ(refusal({{1, 3}, {2, 5}, {4, 9}, {0, 1}}, true),
            none + "the features 1 and 2 are collinear, together with the intercept");
  EXPECT_EQ(refusal({{1, 3}, {2, 5}}, true),
            "lambda => 0 asks 2 rows for 3 coefficients, which more than one choice of them would fit alike");
  // A mean of a million spreads is no constant.
  EXPECT_EQ(refusal({{1e6 + 1, 3}, {1e6 + 2, 5}, {1e6 + 4, 9.5}, {1e6, 1}}, true), "trained");
}

}  // namespace
}  // namespace margin
