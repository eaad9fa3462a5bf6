// The models of all folds side by side: each is certified on the rows that it was trained on by a check that knows
// nothing of the others, and cross-validation says the same whichever way its models are trained.
#include "core/solvers/sdca/fold_ascent.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/certificate/certificate.hpp"
#include "core/loss/loss.hpp"
#include "core/options/records.hpp"
#include "core/problem/standardize.hpp"
#include "core/problem/target_units.hpp"
#include "core/solvers/solver.hpp"
#include "core/train/folds.hpp"
#include "core/train/path.hpp"
#include "label_of.hpp"
#include "risk_problems.hpp"

namespace margin {
namespace {

struct Shape {
  std::int64_t rows = 150;
  std::int32_t features = 7, classes = 2;
  bool sparse = false, weighted = false, wide = false;
};

/// Overlapping clouds (a noisy linear target for classes 0) with a row of zeros among them.
Dataset rows_of(std::uint64_t seed, const Shape& shape) {
  Dataset data(shape.classes > 0 ? Dataset::Outcome::classes : Dataset::Outcome::targets);
  Random random(seed);
  for (std::int32_t c = 0; c < shape.classes; ++c) data.classes().intern(std::to_string(c), c);
  const auto d = static_cast<std::size_t>(shape.features);
  for (std::int64_t i = 0; i < shape.rows; ++i) {
    std::vector<double> x(d);
    for (double& v : x) {
      v = shape.sparse && random.below(15) > 0 ? 0.0 : 2 * random.uniform() - 1;
      if (!shape.wide) v = static_cast<float>(v);
    }
    double outcome = x[0] - 2 * x[1] + random.uniform();
    if (shape.classes > 0) {
      outcome = static_cast<double>(random.below(static_cast<std::uint64_t>(shape.classes)));
      x[static_cast<std::size_t>(outcome) % d] += 0.5;
    }
    if (i == 3) x.assign(d, 0.0);
    const double weight = !shape.weighted ? 1.0 : i % 11 == 0 ? 0.0 : 0.25 + random.uniform();
    data.append(dense_row(x.data(), shape.features), testing::label_of(data, outcome), weight);
  }
  return data;
}

/// Every model's gap on its own rows, from certify.
void expect_certified(const Dataset& data, Options options, std::int32_t folds, const std::vector<double>& lambdas) {
  Progress progress;
  const std::vector<std::int32_t> fold = stratified_folds(data, folds, 1);
  options.lambda = lambdas.front();
  const Problem all = make_problem(data, options);
  Run run(options, progress, "test", 1000);
  FoldAscent ascent(all, options, fold, 0, folds, run);
  for (const double lambda : lambdas) {
    const std::vector<char> reached = ascent.solve(lambda, 3000);
    for (std::int32_t f = 0; f < folds; ++f) {
      EXPECT_TRUE(reached[static_cast<std::size_t>(f)]) << options.loss << " " << lambda << " fold " << f;
      std::vector<std::int64_t> kept;
      for (std::int64_t i = 0; i < data.rows(); ++i)
        if (fold[static_cast<std::size_t>(i)] != f) kept.push_back(i);
      const Dataset part = data.subset(kept);
      options.lambda = lambda;
      const Problem p = make_problem(part, options);
      const InitialModel m = ascent.model(f);
      ASSERT_EQ(m.dual_weights.size(), kept.size() * static_cast<std::size_t>(p.outputs()));
      const Weights weights = Eigen::Map<const Weights>(m.weights.data(), p.outputs(), p.dimensions());
      const Eigen::VectorXd intercept = Eigen::Map<const Eigen::VectorXd>(m.intercept.data(), p.outputs());
      const Weights dual = Eigen::Map<const Weights>(m.dual_weights.data(), p.rows(), p.outputs());
      const Eigen::VectorXd centred = intercept.array() - p.target_center;  // as the problem's targets are
      EXPECT_LE(certify(p, weights, centred, dual).relative_gap, options.tolerance)
          << options.loss << " " << lambda << " fold " << f;
      for (std::int64_t i = 0; i < data.rows(); ++i)
        for (std::int32_t o = 0; o < p.outputs() && fold[static_cast<std::size_t>(i)] == f; ++o)
          EXPECT_NEAR(ascent.held_out(i)[o], dot(data.row(i), weights.row(o).data()) + intercept[o], 1e-9);
    }
  }
}

Options soft(const std::string& loss, double tolerance = 1e-5) {
  Options s;
  s.loss = loss;
  s.lambda = 1;
  s.tolerance = tolerance;
  return s;
}

// Whatever sdca reads besides the seed asks for steps that are not these.
TEST(FoldAscent, leaves_options_of_sdca_to_it) {
  for (const char* name : {"auto", "sdca"}) {
    Options s = soft("logistic");
    s.solver = name;
    EXPECT_TRUE(FoldAscent::takes(s)) << name;
  }
  for (const Solver* solver : registered_solvers()) {
    if (solver->name() != "sdca" && solver->record().variant_of != "sdca") continue;
    for (const OptionRecord& option : option_records()) {
      // A cross-validation refuses `initial`.
      if (!solver->record().reads(option.name) || option.name == "seed" || option.name == "initial") continue;
      int asked = 0;
      const Value tried[] = {
          {true}, {0.25}, {2.0}, {std::string("cyclic")}, {std::string("average")}, {std::string("sgd")}};
      for (const Value& value : tried) {
        Options s = soft("logistic");
        s.solver = "sdca";
        try {
          option.set(s, option.name, value);
        } catch (const Error&) {
          continue;
        }
        ++asked;
        EXPECT_FALSE(FoldAscent::takes(s)) << option.name << " => " << describe(value);
      }
      EXPECT_GT(asked, 0) << "no value of the option " << option.name << " here";
    }
  }
}

TEST(FoldAscent, EveryModelIsCertifiedWithoutItsFold) {
  for (const std::string_view loss : loss_names()) {
    if (make_loss(loss, {})->log_link()) {
      EXPECT_FALSE(FoldAscent::takes(soft(std::string(loss))));
      continue;
    }
    const std::int32_t classes = is_regression_loss(loss) ? 0 : 2;
    for (const std::int32_t folds : {2, 5, 10, 16})
      expect_certified(rows_of(1, {150, 7, classes}), soft(std::string(loss)), folds, {0.1, 1e-2});
    expect_certified(rows_of(2, {120, 40, classes, true}), soft(std::string(loss)), 5, {0.1, 1e-2});
    expect_certified(rows_of(3, {120, 9, classes, false, true, true}), soft(std::string(loss)), 3, {0.1});
    for (const InterceptForm form : {InterceptForm::free, InterceptForm::penalized}) {
      Options s = soft(std::string(loss));
      s.intercept_form = form;
      expect_certified(rows_of(1, {150, 7, classes}), s, 10, {0.1, 1e-2});
      expect_certified(rows_of(2, {120, 40, classes, true}), s, 5, {0.1, 1e-2});
      expect_certified(rows_of(3, {120, 9, classes, false, true, true}), s, 3, {0.1});
    }
  }
}

/// The models against those of the folds' rows alone, standardised by themselves: no worse than the tolerance says.
void expect_best(const Dataset& data, Options options, std::int32_t folds, const std::vector<double>& lambdas) {
  Progress progress;
  MemoryBudget memory;
  const std::vector<std::int32_t> fold = stratified_folds(data, folds, 1);
  options.lambda = lambdas.front();
  const StandardizedRows standardized(data, options, progress, memory);
  Options settings = options;
  settings.standardize = false;
  if (data.outcome() == Dataset::Outcome::targets) settings.target_scale = target_deviation({data}, progress);
  const Problem all = make_problem(standardized.rows(), settings);
  Run run(settings, progress, "test", 1000);
  FoldAscent ascent(all, settings, fold, 0, folds, run, &standardized.units());
  for (const double lambda : lambdas) {
    const std::vector<char> reached = ascent.solve(lambda, 3000);
    for (std::int32_t f = 0; f < folds; ++f) {
      EXPECT_TRUE(reached[static_cast<std::size_t>(f)]) << options.loss << " " << lambda << " fold " << f;
      std::vector<std::int64_t> kept;
      for (std::int64_t i = 0; i < data.rows(); ++i)
        if (fold[static_cast<std::size_t>(i)] != f) kept.push_back(i);
      const Dataset part = data.subset(kept);
      options.lambda = lambda;
      Options narrow = options;
      narrow.tolerance = 1e-9;
      const Model reference = train(part, narrow, progress);
      const StandardizedRows own(part, options, progress, memory);
      Options own_settings = options;
      own_settings.standardize = false;
      if (data.outcome() == Dataset::Outcome::targets) own_settings.target_scale = target_deviation({part}, progress);
      const Problem p = make_problem(own.rows(), own_settings);
      InitialModel m = ascent.model(f);
      for (std::int64_t i = 0; i < data.rows(); ++i)
        for (std::int32_t o = 0; o < p.outputs() && fold[static_cast<std::size_t>(i)] == f; ++o)
          EXPECT_NEAR(ascent.held_out(i)[o],
                      dot(data.row(i), &m.weights[static_cast<std::size_t>(o * p.dimensions())]) +
                          m.intercept[static_cast<std::size_t>(o)],
                      1e-9);
      own.take(m);
      const Weights weights = Eigen::Map<const Weights>(m.weights.data(), p.outputs(), p.dimensions()) / p.target_scale;
      const Eigen::VectorXd intercept =
          (Eigen::Map<const Eigen::VectorXd>(m.intercept.data(), p.outputs()).array() - p.target_center) /
          p.target_scale;
      const double primal = certify(p, weights, intercept, Weights::Zero(p.rows(), p.outputs())).upper;
      EXPECT_LE(primal - reference.certificate.lower, options.tolerance * primal)
          << options.loss << " " << lambda << " fold " << f << ": " << primal << " " << reference.certificate.lower;
    }
  }
}

TEST(FoldAscent, StandardisesEveryFoldByItsOwnRows) {
  for (const std::string_view loss : loss_names()) {
    if (make_loss(loss, {})->log_link()) continue;  // fold by fold
    const std::int32_t classes = is_regression_loss(loss) ? 0 : 2;
    for (const InterceptForm form : {InterceptForm::free, InterceptForm::penalized}) {
      Options s = soft(std::string(loss));
      s.standardize = true;
      s.intercept_form = form;
      expect_best(rows_of(1, {150, 7, classes}), s, 10, {0.1, 1e-2});
      expect_best(rows_of(2, {120, 40, classes, true}), s, 5, {0.1});
      expect_best(rows_of(3, {120, 9, classes, false, true, true}), s, 3, {0.1});
      s.intercept = false;
      expect_best(rows_of(1, {60, 7, classes}), s, 10, {0.1});
    }
  }
}

TEST(FoldAscent, FollowsTheOptionsOfAProblem) {
  for (const std::string loss : {"hinge", "logistic", "squared_hinge"}) {
    Options s = soft(loss);
    expect_certified(rows_of(4, {150, 7, 3}), s, 4, {0.1, 1e-2});
    s.class_weight_balanced = true;
    expect_certified(rows_of(5, {150, 7, 3, false, true}), s, 4, {0.1, 1e-2});
    s.class_weight_balanced = false;
    s.class_weight = {{"1", 3.0}};
    s.intercept_scale = 5;
    expect_certified(rows_of(6, {150, 7, 2}), s, 4, {0.1, 1e-2});
    s.intercept = false;
    expect_certified(rows_of(6, {150, 7, 2}), s, 4, {1e-2, 1e-2, 1e-3});
  }
}

TEST(FoldAscent, SaysWhatItCannotFollow) {
  Options s = soft("hinge");
  EXPECT_EQ(FoldAscent::unsupported_reason(s), "");
  for (const auto& change : std::vector<void (*)(Options&)>{
           [](Options& t) { t.lambda.reset(); }, [](Options& t) { t.solver = "newton"; },
           [](Options& t) { t.l1_ratio = 0.5; }, [](Options& t) { t.order = Order::cyclic; },
           [](Options& t) { t.output = Output::average; }, [](Options& t) { t.start = Start::sgd; },
           [](Options& t) { t.max_iterations = 3; }, [](Options& t) { t.max_seconds = 3; }}) {
    Options other = s;
    change(other);
    EXPECT_NE(FoldAscent::unsupported_reason(other), "");
  }
}

/// A column whose values other than 0 are all in one fold is constant to the model of that fold, up to rounding.
TEST(FoldAscent, LeavesColumnsThatAFoldDoesNotVaryAsTheyAre) {
  Dataset data(Dataset::Outcome::classes);
  for (const char* name : {"a", "b"}) data.classes().intern(name, 0);
  Random random(21);
  const std::vector<std::int32_t> fold = stratified_folds(rows_of(21, {120, 3, 2}), 4, 1);
  const Dataset plain = rows_of(21, {120, 3, 2});
  for (std::int64_t i = 0; i < plain.rows(); ++i) {
    const double x[] = {plain.row(i).value(0), plain.row(i).value(1),
                        fold[static_cast<std::size_t>(i)] == 2 ? 0.1 : 0.0};
    data.append(dense_row(x, 3), plain.class_of(i));
  }
  for (const InterceptForm form : {InterceptForm::free, InterceptForm::penalized}) {
    Options s = soft("hinge");
    s.standardize = true;
    s.intercept_form = form;
    expect_best(data, s, 4, {0.1, 1e-2});
  }
}

/// Whichever way the models of the folds are trained, so narrow an interval leaves no room for another metric.
TEST(CrossValidation, IsTheSameSideBySideAndFoldByFold) {
  for (const std::int32_t classes : {0, 2, 3})
    for (const double folds : {3.0, 20.0}) {
      const Dataset data = rows_of(7, {160, 6, classes});
      Value::Object given = {{"loss", {std::string(classes == 0 ? "squared" : "squared_hinge")}},
                             {"lambdas", {Value::Array{{0.01}, {0.1}, {1e-6}}}},
                             {"folds", {folds}},
                             {"tolerance", {1e-10}}};
      Progress progress;
      const Selection together = cross_validate(data, parse_cross_validation(given), progress);
      given["solver"] = {std::string("newton")};
      const Selection apart = cross_validate(data, parse_cross_validation(given), progress);
      EXPECT_EQ(together.unfinished, 0);
      EXPECT_EQ(together.best, apart.best);
      for (std::size_t k = 0; k < together.settings.size(); ++k)
        for (std::size_t f = 0; f < together.settings[k].folds.size(); ++f)
          EXPECT_NEAR(*together.settings[k].folds[f], *apart.settings[k].folds[f], 1e-6) << classes << " " << k;
    }
}

TEST(CrossValidation, LeavesHardProblemsToOtherSolvers) {
  const Dataset data = rows_of(8, {300, 20, 2});
  Progress progress;
  for (const std::string loss : {"hinge", "logistic"}) {
    const Selection s = cross_validate(
        data, parse_cross_validation({{"loss", {loss}}, {"lambdas", {Value::Array{{1e-8}}}}, {"tolerance", {1e-7}}}),
        progress);
    EXPECT_EQ(s.unfinished, 0) << loss;
  }
}

TEST(CrossValidation, ComparesWithATolerance) {
  EXPECT_EQ(parse_cross_validation({}).settings.tolerance, 1e-2);
  EXPECT_EQ(parse_cross_validation({{"tolerance", {}}}).settings.tolerance, 1e-2);
  EXPECT_EQ(parse_cross_validation({{"tolerance", {1e-4}}}).settings.tolerance, 1e-4);
  EXPECT_EQ(parse_path({}).settings.tolerance, Options().tolerance);
  EXPECT_EQ(parse_cross_validation({{"calibration", {std::string("platt")}}}).settings.calibration, Calibrate::none);
}

TEST(CrossValidation, CountsModelsThatAreNotDone) {
  const Dataset data = rows_of(9, {300, 20, 2});
  Progress progress;
  const Selection s = cross_validate(data,
                                     parse_cross_validation({{"lambdas", {Value::Array{{1e-8}, {0.1}}}},
                                                             {"tolerance", {1e-9}},
                                                             {"solver", {std::string("sdca")}},
                                                             {"max_iterations", {2.0}},
                                                             {"folds", {3.0}}}),
                                     progress);
  EXPECT_GE(s.unfinished, 3);
}

}  // namespace
}  // namespace margin
