// The option `certified` of a cross-validation: its claim against cross-validations at many lambdas of the interval.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/base/error.hpp"
#include "core/base/random.hpp"
#include "core/train/path.hpp"

namespace margin {
namespace {

Value list(const std::vector<double>& values) {
  Value::Array array;
  for (const double v : values) array.push_back({v});
  return {array};
}

struct Shape {
  std::int64_t rows = 120;
  std::int32_t features = 5;
  bool sparse = false, weighted = false;
};

/// Two overlapping clouds; a few labels are the other way round, and columns have units of their own.
Dataset rows_of(Random& random, const Shape& shape) {
  Dataset data(Dataset::Outcome::classes);
  data.classes().intern("no", 0);
  data.classes().intern("yes", 0);
  const auto d = static_cast<std::size_t>(shape.features);
  for (std::int64_t i = 0; i < shape.rows; ++i) {
    std::vector<double> x(d);
    double score = 0;
    for (std::size_t j = 0; j < d; ++j) {
      if (shape.sparse && random.below(3) > 0) continue;
      x[j] = (2 * random.uniform() - 1) * (j % 3 == 1 ? 4 : 1);
      score += x[j] * (j % 2 == 0 ? 1 : -0.6);
    }
    const bool yes = (score + 2 * (random.uniform() - 0.5) > 0) != (random.below(10) == 0);
    data.append(dense_row(x.data(), shape.features), static_cast<std::int32_t>(yes),
                shape.weighted ? 0.25 * static_cast<double>(1 + random.below(8)) : 1.0);
  }
  return data;
}

/// Lambdas of the interval: bounds that the errors at these do not respect.
std::int64_t false_bounds(const Dataset& data, Value::Object options, const SelectionCertificate& c,
                          std::size_t lambdas) {
  const double low = c.bounds.front().from, high = c.bounds.back().to;
  std::vector<double> grid;
  for (std::size_t k = 0; k < lambdas; ++k)
    grid.push_back(std::clamp(low * std::pow(high / low, (static_cast<double>(k) + 0.5) / static_cast<double>(lambdas)),
                              low, high));
  for (const char* key : {"certified", "max_trainings", "tolerance"}) options.erase(key);
  options["lambdas"] = list(grid);
  options["tolerance"] = {1e-11};
  const Progress progress;
  const Selection exact = cross_validate(data, parse_cross_validation(options), progress);
  std::int64_t wrong = 0;
  for (const SettingScore& s : exact.settings) {
    const double error = 1 - *s.mean;
    wrong += error < c.error - c.proven - 1e-12;
    for (const ErrorBound& b : c.bounds)
      if (s.lambda >= b.from && s.lambda <= b.to) wrong += error < b.error - 1e-12;
  }
  return wrong;
}

/// MARGIN_TRIALS in the environment: so many instead.
std::int64_t trials(std::int64_t few) {
  const char* const asked = std::getenv("MARGIN_TRIALS");
  return asked != nullptr ? std::atol(asked) : few;
}

TEST(CertifiedSelection, NoLambdaOfTheIntervalIsBetterThanProven) {
  Random random(17);
  const Progress progress;
  double proven = 0, asked = 0;
  for (std::int64_t t = 0; t < trials(24); ++t) {
    const char* const losses[] = {"logistic", "squared_hinge", "smoothed_hinge", "hinge"};
    Shape shape;
    shape.rows = 60 + static_cast<std::int64_t>(random.below(80));
    shape.features = 2 + static_cast<std::int32_t>(random.below(6));
    shape.sparse = random.below(3) == 0;
    shape.weighted = random.below(3) == 0;
    const Dataset data = rows_of(random, shape);
    Value::Object options{{"loss", {std::string(losses[t % 4])}},
                          {"folds", {static_cast<double>(2 + random.below(4))}},
                          {"seed", {static_cast<double>(t)}},
                          {"lambdas", list({1e-4, 1})},
                          {"certified", {0.02}},
                          {"max_trainings", {40.0}}};
    if (random.below(3) == 0) options["standardize"] = {true};
    if (random.below(3) == 0) options["intercept"] = {false};
    if (random.below(4) == 0) options["intercept_scale"] = {3.0};
    if (random.below(4) == 0) options["class_weight"] = {std::string("balanced")};
    if (random.below(5) == 0) options["split"] = {std::string("forward")};
    if (t % 4 != 3 && random.below(4) == 0) options["intercept"] = {std::string("free")};
    if (options.count("intercept") > 0) options.erase("intercept_scale");
    const Selection selection = cross_validate(data, parse_cross_validation(options), progress);
    ASSERT_TRUE(selection.certificate.has_value());
    const SelectionCertificate& c = *selection.certificate;
    EXPECT_EQ(c.bounds.front().from, 1e-4);
    EXPECT_EQ(c.bounds.back().to, 1);
    for (std::size_t k = 1; k < c.bounds.size(); ++k) EXPECT_EQ(c.bounds[k - 1].to, c.bounds[k].from);
    EXPECT_NEAR(c.error, 1 - *selection.settings[*selection.best].mean, 1e-12);
    EXPECT_LE(c.lower, c.error);
    EXPECT_GE(c.proven, c.error - c.lower);
    EXPECT_EQ(false_bounds(data, options, c, 30), 0) << "trial " << t;
    proven += c.proven;
    asked += c.error;
  }
  EXPECT_LT(proven, 0.7 * asked);  // a proof of nothing proves 0 errors
}

TEST(CertifiedSelection, ReachesWhatWasAskedForOfSmoothLosses) {
  Random random(5);
  const Progress progress;
  const Dataset data = rows_of(random, {600, 6, false, false});
  for (const char* const loss : {"logistic", "squared_hinge", "smoothed_hinge"}) {
    for (const char* const intercept : {"penalized", "free"}) {
      const Value::Object options{{"loss", {std::string(loss)}},
                                  {"intercept", {std::string(intercept)}},
                                  {"certified", {0.01}},
                                  {"folds", {3.0}},
                                  {"lambdas", list({1e-6, 1})}};
      const Selection selection = cross_validate(data, parse_cross_validation(options), progress);
      EXPECT_LE(selection.certificate->proven, 0.01) << loss << ' ' << intercept;
      EXPECT_LE(selection.settings.size(), 20u) << loss << ' ' << intercept;
      EXPECT_EQ(selection.unfinished, 0) << loss << ' ' << intercept;
      EXPECT_EQ(false_bounds(data, options, *selection.certificate, 40), 0) << loss << ' ' << intercept;
    }
  }
}

TEST(CertifiedSelection, ReachesWhatWasAskedForOfTheHinge) {
  Random random(8);
  const Progress progress;
  const Dataset data = rows_of(random, {600, 6, false, false});
  for (const bool standardize : {false, true}) {
    const Value::Object options{{"loss", {std::string("hinge")}},
                                {"standardize", {standardize}},
                                {"certified", {0.01}},
                                {"folds", {3.0}},
                                {"lambdas", list({1e-5, 1})}};
    const Selection selection = cross_validate(data, parse_cross_validation(options), progress);
    EXPECT_LE(selection.certificate->proven, 0.01) << standardize;
    EXPECT_LE(selection.settings.size(), 80u) << standardize;
    EXPECT_EQ(selection.unfinished, 0) << standardize;
    EXPECT_EQ(false_bounds(data, options, *selection.certificate, 40), 0) << standardize;
  }
}

TEST(CertifiedSelection, StopsAtTheNumberOfTrainings) {
  Random random(6);
  const Progress progress;
  const Dataset data = rows_of(random, {200, 4, false, false});
  const Value::Object options{{"certified", {1e-6}}, {"max_trainings", {20.0}}};
  const Selection selection = cross_validate(data, parse_cross_validation(options), progress);
  EXPECT_EQ(selection.settings.size(), 20u);
  EXPECT_GT(selection.certificate->proven, 1e-6);
  EXPECT_EQ(selection.certificate->bounds.front().from, 1e-6);
  EXPECT_EQ(selection.certificate->bounds.back().to, 1);
}

TEST(CertifiedSelection, RefusesWhatItProvesNothingOf) {
  const auto refused = [](Value::Object options) {
    options["certified"] = {0.01};
    try {
      parse_cross_validation(options);
    } catch (const Error& error) {
      return error.kind() == ErrorKind::unsupported || error.kind() == ErrorKind::invalid_option;
    }
    return false;
  };
  EXPECT_TRUE(refused({{"kernel", {std::string("rbf")}}}));
  EXPECT_TRUE(refused({{"loss", {std::string("squared")}}}));
  EXPECT_TRUE(refused({{"metric", {std::string("auc")}}}));
  EXPECT_TRUE(refused({{"intercept", {std::string("free")}}}));
  EXPECT_TRUE(refused({{"l1_ratio", {0.5}}}));
  EXPECT_TRUE(refused({{"offset_feature", {1.0}}}));
  EXPECT_TRUE(refused({{"losses", {Value::Array{{std::string("hinge")}, {std::string("logistic")}}}}}));
  EXPECT_TRUE(refused({{"grid", {Value::Object{{"standardize", {Value::Array{{true}, {false}}}}}}}}));
  EXPECT_TRUE(refused({{"lambda", {0.1}}}));
  EXPECT_FALSE(refused({{"lambdas", list({0.1, 0.2})}}));
  EXPECT_THROW(parse_cross_validation({{"certified", {0.0}}}), Error);
  EXPECT_THROW(parse_cross_validation({{"max_trainings", {20.0}}}), Error);
  Random random(7);
  const Progress progress;
  Dataset data = rows_of(random, {60, 3, false, false});
  const double x[3] = {1, 2, 3};
  const std::int32_t third = data.classes().intern("maybe", 0);
  for (int k = 0; k < 6; ++k) data.append(dense_row(x, 3), third);
  EXPECT_THROW(cross_validate(data, parse_cross_validation({{"certified", {0.01}}}), progress), Error);
}

}  // namespace
}  // namespace margin
