// Paths and cross-validation against what they abbreviate: trainings one by one, and an explicit loop over folds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/error.hpp"
#include "core/base/random.hpp"
#include "core/loss/loss.hpp"
#include "core/train/folds.hpp"
#include "core/train/path.hpp"
#include "label_of.hpp"

namespace margin {
namespace {

struct Shape {
  std::int64_t rows = 200;
  std::int32_t features = 6, classes = 2;
  bool sparse = false;
  bool amounts = false;  ///< no target below 0
};

/// Overlapping clouds, or a noisy linear target for classes 0.
Dataset rows_of(std::uint64_t seed, const Shape& shape) {
  Dataset data(shape.classes > 0 ? Dataset::Outcome::classes : Dataset::Outcome::targets);
  Random random(seed);
  std::vector<std::int32_t> classes;
  for (std::int32_t c = 0; c < shape.classes; ++c)
    classes.push_back(data.classes().intern(std::to_string(9 - c), 9 - c));
  const auto d = static_cast<std::size_t>(shape.features);
  for (std::int64_t i = 0; i < shape.rows; ++i) {
    std::vector<double> x(d);
    for (double& v : x) v = shape.sparse && random.below(20) > 0 ? 0.0 : 2 * random.uniform() - 1;
    double outcome = x[0] - 2 * x[1] + random.uniform();
    if (shape.classes > 0) {
      const auto c = random.below(static_cast<std::uint64_t>(shape.classes));
      x[c % d] += 0.5;
      outcome = classes[c];
    }
    data.append(dense_row(x.data(), shape.features),
                testing::label_of(data, shape.amounts ? std::fabs(outcome) : outcome));
  }
  return data;
}

SelectionOptions options_of(Value::Object options) { return parse_cross_validation(std::move(options)); }

Value list(const std::vector<double>& values) {
  Value::Array array;
  for (const double v : values) array.push_back({v});
  return {array};
}

TEST(Subset, ReadsLikeTheRowsItNames) {
  for (const bool sparse : {false, true}) {
    Dataset data = rows_of(1, {50, 40, 3, sparse});
    const float heavy[40] = {100};
    data.append(dense_row(heavy, 40), 0, 2.5);
    const std::vector<std::int64_t> which = {50, 3, 3, 17};
    const Dataset part = data.subset(which);
    ASSERT_EQ(part.rows(), 4);
    EXPECT_EQ(part.dimensions(), 40);
    EXPECT_EQ(part.classes().size(), data.classes().size());
    EXPECT_EQ(part.radius(), 100);
    EXPECT_EQ(data.subset({3}).radius(), norm(data.row(3)));
    for (std::size_t k = 0; k < which.size(); ++k) {
      const auto at = static_cast<std::int64_t>(k);
      EXPECT_EQ(part.row(at).values, data.row(which[k]).values);
      EXPECT_EQ(part.row(at).count, data.row(which[k]).count);
      EXPECT_EQ(part.class_of(at), data.class_of(which[k]));
      EXPECT_EQ(part.weight(at), data.weight(which[k]));
    }
    EXPECT_FALSE(data.subset({1, 2}).weighted());
  }
  const Dataset numbers = rows_of(2, {10, 3, 0});
  EXPECT_EQ(numbers.subset({7}).target(0), numbers.target(7));
}

TEST(Folds, AreStratifiedBalancedAndDrawnFromTheSeed) {
  for (const std::int32_t classes : {0, 2, 5}) {
    const Dataset data = rows_of(3, {103, 4, classes});
    for (const std::int32_t folds : {2, 5, 10}) {
      const auto fold = stratified_folds(data, folds, 7);
      std::map<std::int32_t, std::vector<int>> of_class;
      std::vector<int> sizes(static_cast<std::size_t>(folds));
      for (std::size_t i = 0; i < fold.size(); ++i) {
        ASSERT_GE(fold[i], 0);
        ASSERT_LT(fold[i], folds);
        ++sizes[static_cast<std::size_t>(fold[i])];
        auto& counts = of_class[classes > 0 ? data.class_of(static_cast<std::int64_t>(i)) : 0];
        counts.resize(static_cast<std::size_t>(folds));
        ++counts[static_cast<std::size_t>(fold[i])];
      }
      for (const auto& [c, counts] : of_class)
        EXPECT_LE(*std::max_element(counts.begin(), counts.end()) - *std::min_element(counts.begin(), counts.end()), 1);
      EXPECT_LE(*std::max_element(sizes.begin(), sizes.end()) - *std::min_element(sizes.begin(), sizes.end()), 1);
      EXPECT_EQ(fold, stratified_folds(data, folds, 7));
      EXPECT_NE(fold, stratified_folds(data, folds, 8));
    }
  }
}

TEST(Folds, NeedRowsOfEveryClass) {
  const Dataset few = rows_of(4, {4, 2, 2});
  EXPECT_THROW(stratified_folds(few, 5, 0), Error);
  Dataset lonely = rows_of(4, {40, 2, 2});
  const double x[] = {0, 0};
  lonely.append(dense_row(x, 2), lonely.classes().intern("alone", 100));
  EXPECT_THROW(stratified_folds(lonely, 5, 0), Error);
}

/// Every model of a path has a certificate that holds and agrees with that of a model trained alone.
void compare_with_trainings_alone(const Dataset& data, Value::Object given) {
  const std::vector<double> lambdas = {1e-3, 1, 1e-2, 1e-2, 0.1};
  given["lambdas"] = list(lambdas);
  given["tolerance"] = {1e-5};
  Progress progress;
  const SelectionOptions options = parse_path(given);
  const auto models = train_path(data, options, progress);
  ASSERT_EQ(models.size(), lambdas.size());
  for (std::size_t k = 0; k < lambdas.size(); ++k) {
    Options alone = options.settings;
    alone.lambda = lambdas[k];
    const Model one = train(data, alone, progress);
    const Model& model = models[k];
    EXPECT_EQ(*model.lambda, lambdas[k]);
    EXPECT_EQ(model.status, Status::optimal) << lambdas[k];
    EXPECT_FALSE(model.dual_weights.has_value());
    // Both intervals contain the optimum of the same problem.
    EXPECT_LE(model.certificate.lower, one.certificate.upper);
    EXPECT_LE(one.certificate.lower, model.certificate.upper);
    EXPECT_LE(model.certificate.relative_gap, 1e-5);
    const double far = std::sqrt(2 * (model.certificate.gap + 1e-12) / lambdas[k]) +
                       std::sqrt(2 * (one.certificate.gap + 1e-12) / lambdas[k]);
    if (options.settings.standardize || options.settings.l1_ratio > 0) continue;  // another norm
    EXPECT_LE((model.weights - one.weights).norm(), far) << lambdas[k];
  }
}

TEST(Path, IsCertifiedLikeModelsTrainedAlone) {
  for (const std::string_view loss : loss_names()) {
    SCOPED_TRACE(loss);
    const bool regression = is_regression_loss(std::string(loss));
    const bool amounts = make_loss(loss, {})->log_link();
    compare_with_trainings_alone(rows_of(5, {200, 6, regression ? 0 : 2, false, amounts}),
                                 {{"loss", {std::string(loss)}}});
    compare_with_trainings_alone(rows_of(6, {150, 30, regression ? 0 : 3, true, amounts}),
                                 {{"loss", {std::string(loss)}}});
  }
}

TEST(Path, IsCertifiedWhateverTheOptions) {
  const Dataset data = rows_of(7, {200, 6, 2});
  compare_with_trainings_alone(data, {{"standardize", {true}}});
  compare_with_trainings_alone(data, {{"solver", {std::string("sdca")}}});
  compare_with_trainings_alone(data, {{"solver", {std::string("newton")}}});
  compare_with_trainings_alone(data, {{"l1_ratio", {0.5}}});
  compare_with_trainings_alone(data, {{"intercept", {false}}, {"class_weight", {std::string("balanced")}}});
  compare_with_trainings_alone(rows_of(8, {30, 80, 2}), {});
}

TEST(Path, StandardisedWeightsAreInTheUsersUnits) {
  const Dataset data = rows_of(9, {200, 6, 2});
  Progress progress;
  SelectionOptions options =
      parse_path({{"standardize", {true}}, {"lambdas", list({0.1, 0.01})}, {"tolerance", {1e-9}}});
  const auto models = train_path(data, options, progress);
  options.settings.lambda = 0.01;
  const Model one = train(data, options.settings, progress);
  EXPECT_LE((models[1].weights - one.weights).norm(), 1e-2 * one.weights.norm());
  EXPECT_NEAR(models[1].intercept[0], one.intercept[0], 1e-2);
}

TEST(Path, DefaultLambdasFollowTheUnits) {
  const Dataset data = rows_of(10, {100, 3, 2});
  Progress progress;
  const auto lambdas = default_lambdas(data, {}, progress);
  ASSERT_EQ(lambdas.size(), 5u);
  EXPECT_TRUE(std::is_sorted(lambdas.rbegin(), lambdas.rend()));
  Dataset larger(Dataset::Outcome::classes);
  for (const char* name : {"a", "b"}) larger.classes().intern(name, 0);
  for (std::int64_t i = 0; i < data.rows(); ++i) {
    double x[3];
    for (std::int32_t j = 0; j < 3; ++j) x[j] = 1000 * data.row(i).value(j);
    larger.append(dense_row(x, 3), data.class_of(i));
  }
  Options settings;
  settings.intercept = false;
  const auto small = default_lambdas(data, settings, progress), big = default_lambdas(larger, settings, progress);
  for (std::size_t k = 0; k < 5; ++k) EXPECT_NEAR(big[k] / small[k], 1e6, 1e-3);
}

/// The metric written out, not by metrics/metrics.hpp.
double accuracy_of(const Model& model, const Dataset& data, const std::vector<std::int64_t>& rows) {
  double right = 0;
  for (const std::int64_t i : rows) {
    const Row x = data.row(i);
    std::vector<double> scores;
    for (Eigen::Index o = 0; o < model.weights.rows(); ++o) {
      double s = model.intercept[o];
      for (std::int32_t k = 0; k < x.count; ++k) s += x.value(k) * model.weights(o, x.indices ? x.indices[k] : k);
      scores.push_back(s);
    }
    const auto top = std::max_element(scores.begin(), scores.end()) - scores.begin();
    const std::size_t guess = scores.size() == 1 ? (scores[0] > 0 ? 1 : 0) : static_cast<std::size_t>(top);
    right += model.classes[guess] == std::string(data.classes().name(data.class_of(i)));
  }
  return right / static_cast<double>(rows.size());
}

TEST(CrossValidation, EqualsAnExplicitLoop) {
  for (const std::int32_t classes : {2, 3}) {
    const Dataset data = rows_of(11, {240, 8, classes});
    // So narrow an interval that warm and cold starts predict the same.
    const SelectionOptions options =
        options_of({{"lambdas", list({0.001, 0.1})},
                    {"losses", {Value::Array{{std::string("logistic")}, {std::string("hinge")}}}},
                    {"folds", {4.0}},
                    {"tolerance", {1e-9}},
                    {"seed", {3.0}}});
    Progress progress;
    const Selection selection = cross_validate(data, options, progress);
    EXPECT_EQ(selection.unfinished, 0);
    const auto fold = stratified_folds(data, 4, 3);
    ASSERT_EQ(selection.settings.size(), 4u);
    double best = -1;
    for (const SettingScore& s : selection.settings) {
      double sum = 0, squares = 0;
      ASSERT_EQ(s.folds.size(), 4u);
      for (std::int32_t f = 0; f < 4; ++f) {
        Dataset kept(Dataset::Outcome::classes);
        for (std::int32_t c = 0; c < classes; ++c) kept.classes().intern(data.classes().name(c), data.classes().key(c));
        std::vector<std::int64_t> out;
        for (std::int64_t i = 0; i < data.rows(); ++i) {
          if (fold[static_cast<std::size_t>(i)] == f) {
            out.push_back(i);
            continue;
          }
          std::vector<double> x(8);
          for (std::int32_t j = 0; j < 8; ++j) x[static_cast<std::size_t>(j)] = data.row(i).value(j);
          kept.append(dense_row(x.data(), 8), data.class_of(i));
        }
        Options settings = options.settings;
        settings.lambda = s.lambda;
        settings.loss = s.loss;
        const double value = accuracy_of(train(kept, settings, progress), data, out);
        EXPECT_DOUBLE_EQ(*s.folds[static_cast<std::size_t>(f)], value) << s.loss << " " << s.lambda << " fold " << f;
        sum += value;
        squares += value * value;
      }
      EXPECT_NEAR(*s.mean, sum / 4, 1e-12);
      EXPECT_NEAR(*s.deviation, std::sqrt((squares - sum * sum / 4) / 3), 1e-9);
      best = std::max(best, *s.mean);
    }
    EXPECT_EQ(*selection.settings[*selection.best].mean, best);
  }
}

TEST(CrossValidation, IsDeterministic) {
  const Dataset data = rows_of(12, {150, 5, 2});
  Progress progress;
  for (const char* metric : {"accuracy", "auc", "log_loss"}) {
    const SelectionOptions options =
        options_of({{"loss", {std::string("logistic")}}, {"metric", {std::string(metric)}}, {"seed", {5.0}}});
    const Selection a = cross_validate(data, options, progress), b = cross_validate(data, options, progress);
    ASSERT_EQ(a.settings.size(), 5u);
    for (std::size_t k = 0; k < 5; ++k) EXPECT_EQ(a.settings[k].folds, b.settings[k].folds);
    EXPECT_EQ(a.best, b.best);
    const SettingScore& best = a.settings[*a.best];
    for (const SettingScore& s : a.settings)
      EXPECT_TRUE(larger_is_better(a.metric) ? *s.mean <= *best.mean : *s.mean >= *best.mean) << metric;
  }
}

TEST(CrossValidation, FindsTheRegularisationOfARegression) {
  const Dataset data = rows_of(13, {60, 40, 0});
  Progress progress;
  for (const char* metric : {"mse", "mae", "r2"}) {
    const Selection s = cross_validate(data,
                                       options_of({{"loss", {std::string("squared")}},
                                                   {"lambdas", list({100, 0.05, 1e-9})},
                                                   {"metric", {std::string(metric)}}}),
                                       progress);
    EXPECT_EQ(*s.best, 1u) << "neither the constant nor the over-fitted: " << metric;
  }
  const Selection s =
      cross_validate(data, options_of({{"loss", {std::string("squared")}}, {"standardize", {true}}}), progress);
  EXPECT_EQ(s.metric, Metric::mse);
}

TEST(CrossValidation, ListsThatDoNotGoTogetherAreRefused) {
  const auto names = [](const std::vector<std::string>& all) {
    Value::Array array;
    for (const std::string& name : all) array.push_back({name});
    return Value{array};
  };
  const std::vector<Value::Object> bad = {
      {{"lambdas", list({})}},
      {{"lambdas", list({1, 0})}},
      {{"lambdas", {0.1}}},
      {{"lambdas", list({1})}, {"lambda", {0.1}}},
      {{"losses", names({"hinge", "squared"})}},
      {{"losses", names({"hing"})}},
      {{"losses", names({})}},
      {{"losses", names({"hinge"})}, {"loss", {std::string("hinge")}}},
      {{"folds", {1.0}}},
      {{"folds", {2.5}}},
      {{"metric", {std::string("speed")}}},
      {{"metric", {std::string("mse")}}},
      {{"metric", {std::string("log_loss")}}},
      {{"loss", {std::string("squared")}}, {"metric", {std::string("accuracy")}}},
      {{"initial", {Value::Object{{"weights", list({1})}}}}},
      {{"fold", {5.0}}},
      {{"Cs", list({1})}, {"lambdas", list({1})}},
      {{"Cs", list({1})}, {"lambda", {1.0}}},
      {{"Cs", list({0})}},
      {{"split", {std::string("backward")}}},
      {{"grid", list({1})}},
      {{"grid", {Value::Object{{"lambda", list({1})}}}}},
      {{"grid", {Value::Object{{"l1_ratio", {0.5}}}}}},
      {{"grid", {Value::Object{{"l1_ratio", list({})}}}}},
      {{"grid", {Value::Object{{"l1_ratio", list({-1})}}}}},
      {{"grid", {Value::Object{{"l1_ratio", list({0.5})}}}}, {"l1_ratio", {0.5}}},
  };
  for (std::size_t k = 0; k < bad.size(); ++k) EXPECT_THROW(parse_cross_validation(bad[k]), Error) << k;
  EXPECT_THROW(parse_path({{"folds", {5.0}}}), Error);
  Progress progress;
  EXPECT_THROW(cross_validate(rows_of(14, {60, 4, 3}), options_of({{"metric", {std::string("auc")}}}), progress),
               Error);
}

Value names_of(const std::vector<std::string>& all) {
  Value::Array array;
  for (const std::string& name : all) array.push_back({name});
  return {array};
}

TEST(CrossValidation, AGridIsItsPointsOneByOne) {
  const Dataset data = rows_of(16, {160, 5, 2});
  Progress progress;
  const Value::Array truth = {{false}, {true}};
  Value::Object given = {{"lambdas", list({0.1, 0.001})}, {"losses", names_of({"hinge", "smoothed_hinge"})}};
  Value::Object with_grid = given;
  with_grid["grid"] = {Value::Object{{"standardize", {truth}}, {"smoothing", list({0.5, 2})}}};
  const SelectionOptions options = options_of(with_grid);
  const Selection all = cross_validate(data, options, progress);
  ASSERT_EQ(all.settings.size(), 16u);
  ASSERT_EQ(options.grid.size(), 4u);
  std::size_t k = 0;
  for (const GridPoint& point : options.grid) {
    Value::Object alone = given;
    for (const auto& [key, value] : point.values) alone[key] = value;
    const Selection one = cross_validate(data, options_of(alone), progress);
    for (const SettingScore& s : one.settings) {
      EXPECT_EQ(s.folds, all.settings[k].folds) << k;
      EXPECT_EQ(s.lambda, all.settings[k].lambda);
      EXPECT_EQ(s.loss, all.settings[k].loss);
      ++k;
    }
  }
  // What no point reads is refused; what one of them reads is not.
  with_grid["losses"] = names_of({"hinge"});
  EXPECT_THROW(cross_validate(data, options_of(with_grid), progress), Error);
  const Value::Object kernels = {
      {"grid", {Value::Object{{"kernel", names_of({"linear", "rbf"})}}}}, {"gamma", {0.5}}, {"lambdas", list({0.1})}};
  EXPECT_EQ(cross_validate(data, options_of(kernels), progress).settings.size(), 2u);
}

TEST(CrossValidation, CostsAreLambdas) {
  const Dataset data = rows_of(17, {100, 4, 2});
  Progress progress;
  const Selection costs = cross_validate(data, options_of({{"Cs", list({0.1, 10})}}), progress);
  const Selection lambdas = cross_validate(data, options_of({{"lambdas", list({0.1, 0.001})}}), progress);
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_DOUBLE_EQ(costs.settings[k].lambda, lambdas.settings[k].lambda);
    EXPECT_EQ(costs.settings[k].folds, lambdas.settings[k].folds);
  }
}

TEST(CrossValidation, HoldsOutTheFoldsThatAreGiven) {
  const Dataset data = rows_of(18, {120, 4, 2});
  Progress progress;
  const SelectionOptions options = options_of({{"lambdas", list({0.1, 0.001})}, {"folds", {4.0}}, {"seed", {9.0}}});
  const Selection drawn = cross_validate(data, options, progress);
  std::vector<std::int32_t> fold = stratified_folds(data, 4, 9);
  for (std::int32_t& f : fold) f = 100 * f - 7;
  SelectionOptions without = options;
  EXPECT_THROW(cross_validate(data, options, progress, {}, fold.data()), Error);  // folds twice
  without.folds.reset();
  const Selection given = cross_validate(data, without, progress, {}, fold.data());
  EXPECT_EQ(given.folds, 4);
  for (std::size_t k = 0; k < 2; ++k) EXPECT_EQ(given.settings[k].folds, drawn.settings[k].folds);
  std::vector<std::int32_t> one(fold.size(), 3);
  EXPECT_THROW(cross_validate(data, without, progress, {}, one.data()), Error);
  for (std::int64_t i = 0; i < data.rows(); ++i) one[static_cast<std::size_t>(i)] = data.class_of(i);
  EXPECT_THROW(cross_validate(data, without, progress, {}, one.data()), Error) << "a class that no other fold has";
}

TEST(CrossValidation, PredictsForwardInTime) {
  const Dataset data = rows_of(19, {120, 4, 2});
  Progress progress;
  const SelectionOptions options = options_of(
      {{"lambdas", list({0.01})}, {"folds", {4.0}}, {"split", {std::string("forward")}}, {"tolerance", {1e-9}}});
  const Selection selection = cross_validate(data, options, progress);
  const auto& values = selection.settings[0].folds;
  ASSERT_EQ(values.size(), 4u);
  EXPECT_FALSE(values[0].has_value());
  double sum = 0;
  for (std::int64_t f = 1; f < 4; ++f) {
    std::vector<std::int64_t> before, held_out;
    for (std::int64_t i = 0; i < 30 * f; ++i) before.push_back(i);
    for (std::int64_t i = 30 * f; i < 30 * f + 30; ++i) held_out.push_back(i);
    Options settings = options.settings;
    settings.lambda = 0.01;
    const double expected = accuracy_of(train(data.subset(before), settings, progress), data, held_out);
    EXPECT_DOUBLE_EQ(*values[static_cast<std::size_t>(f)], expected);
    sum += expected;
  }
  EXPECT_NEAR(*selection.settings[0].mean, sum / 3, 1e-12);
}

TEST(CrossValidation, OffersTheLargestLambdaWithinOneStandardError) {
  const Dataset data = rows_of(20, {200, 6, 2});
  Progress progress;
  const Selection s = cross_validate(
      data,
      options_of({{"lambdas", list({1e-4, 100, 1, 0.1, 1e-2, 1e-3})}, {"losses", names_of({"logistic", "hinge"})}}),
      progress);
  const SettingScore &best = s.settings[*s.best], &near = s.settings[*s.one_standard_error];
  EXPECT_EQ(best.loss, near.loss);
  const double error = *best.deviation / std::sqrt(5.0);
  EXPECT_GE(*near.mean, *best.mean - error);
  EXPECT_GE(near.lambda, best.lambda);
  for (const SettingScore& other : s.settings) {
    if (other.loss == best.loss && other.lambda > near.lambda) {
      EXPECT_LT(*other.mean, *best.mean - error);
    }
  }
}

TEST(CrossValidation, TheChoiceIsOptionsForOneTraining) {
  const Value::Object chosen = chosen_options(
      {{"lambdas", list({1, 2})}, {"folds", {3.0}}, {"tolerance", {0.01}}, {"metric", {std::string("auc")}}},
      {0.5, "logistic", 0, {}, {}, {}}, {{"epsilon", {0.25}}});
  const Options settings = parse_options(chosen);
  EXPECT_EQ(*settings.lambda, 0.5);
  EXPECT_EQ(settings.loss, "logistic");
  EXPECT_EQ(settings.tolerance, 0.01);
  EXPECT_EQ(settings.epsilon, 0.25);
  EXPECT_EQ(chosen.size(), 4u);
}

TEST(CrossValidation, StaysWithinItsMemory) {
  const Dataset data = rows_of(15, {500, 4, 2});
  Progress progress;
  EXPECT_THROW(cross_validate(data, options_of({}), progress, MemoryBudget(1000)), Error);
  EXPECT_NO_THROW(cross_validate(data, options_of({}), progress, MemoryBudget(1e9)));
}

}  // namespace
}  // namespace margin
