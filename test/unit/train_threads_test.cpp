// Whole trainings on threads: the same bits for every number of them, and a cancel in the middle.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/base/random.hpp"
#include "core/base/threads.hpp"
#include "core/kernel/column_cache.hpp"
#include "core/simd/loops.hpp"
#include "core/train/path.hpp"
#include "core/train/train.hpp"
#include "label_of.hpp"
#include "risk_problems.hpp"

namespace margin {
namespace {

using testing::normal;

/// Rows around a curved boundary, with some noise; labels are classes, or the numbers behind them.
Dataset curved(std::int64_t n, std::size_t d, std::int32_t classes, double noise = 0.3) {
  Dataset data(classes > 0 ? Dataset::Outcome::classes : Dataset::Outcome::targets);
  for (std::int32_t c = 0; c < classes; ++c) data.classes().intern(std::to_string(c), 0);
  Random random(7);
  std::vector<double> x(d);
  for (std::int64_t i = 0; i < n; ++i) {
    for (double& v : x) v = normal(random);
    const double score = x[0] + x[1] * x[2] + noise * normal(random);
    const FeatureRow row = dense_row(x.data(), static_cast<std::int32_t>(d));
    if (classes == 0)
      data.append(row, Label(score));
    else
      data.append(row, Label(static_cast<std::int32_t>(std::fabs(std::floor(score))) % classes));
  }
  return data;
}

/// All numbers of a model that its training decides, as one list.
std::vector<double> numbers_of(const Model& model) {
  std::vector<double> all(model.weights.data(), model.weights.data() + model.weights.size());
  all.insert(all.end(), model.intercept.data(), model.intercept.data() + model.intercept.size());
  if (model.dual_weights.has_value())
    all.insert(all.end(), model.dual_weights->data(), model.dual_weights->data() + model.dual_weights->size());
  all.insert(all.end(),
             {model.certificate.lower, model.certificate.upper, static_cast<double>(model.iterations.value_or(-1))});
  return all;
}

struct Case {
  std::string name;
  std::int64_t rows;
  std::size_t features;
  std::int32_t classes;  // 0: regression
  Options options;
};

Options with(double lambda, const std::string& loss, const std::string& kernel, const std::string& solver) {
  Options s;
  if (lambda > 0) s.lambda = lambda;
  s.loss = loss;
  s.kernel = kernel;
  s.solver = solver;
  s.tolerance = 1e-3;
  s.dual_weights = true;
  return s;
}

Options largest_margin(const std::string& solver, Learners learners) {
  Options s;
  s.norm = 1;
  s.solver = solver;
  s.learners = learners;
  s.max_iterations = 30;
  s.dual_weights = true;
  return s;
}

Options by_frank_wolfe(Learners learners) {
  Options s = largest_margin("boosting", learners);
  s.step = Step::frank_wolfe;
  s.gap_tolerance = 0.01;
  return s;
}

Options in_norm(double p, const std::string& solver) {
  Options s;
  s.norm = p;
  s.solver = solver;
  s.max_iterations = 50;
  s.history = true;
  s.dual_weights = true;
  return s;
}

std::vector<Case> cases() {
  return {{"smo", 1000, 300, 2, with(1e-3, "hinge", "rbf", "smo")},
          {"smo_regression", 700, 400, 0, with(1e-3, "epsilon_insensitive", "rbf", "smo")},
          {"smo_classes", 600, 300, 3, with(1e-2, "hinge", "ntk", "smo")},
          {"kernel_newton", 1600, 20, 2, with(1e-2, "logistic", "rbf", "kernel_newton")},
          {"kernel_newton_classes", 1200, 40, 3, with(1e-2, "logistic", "rbf", "kernel_newton")},
          {"nystrom", 1500, 20, 2, with(1e-2, "hinge", "rbf", "nystrom")},
          {"perceptron_classes", 600, 30, 4, in_norm(1.5, "perceptron")},
          {"dual_ascent_classes", 200, 20, 3, in_norm(1.5, "dual_ascent")},
          {"stumps", 9000, 7, 2, largest_margin("boosting", Learners::stumps)},
          {"trees", 600, 7, 2, largest_margin("boosting", Learners::trees)},
          {"stumps_classes", 5000, 6, 3, largest_margin("boosting", Learners::stumps)},
          {"trees_classes", 400, 5, 3, largest_margin("boosting", Learners::trees)},
          {"frank_wolfe", 3000, 200, 2, by_frank_wolfe(Learners::features)},
          {"frank_wolfe_stumps", 9000, 7, 2, by_frank_wolfe(Learners::stumps)},
          {"frank_wolfe_trees", 600, 7, 3, by_frank_wolfe(Learners::trees)},
          {"boosting", 3000, 200, 2, largest_margin("boosting", Learners::features)},
          {"linear_program", 6000, 60, 2, largest_margin("linear_program", Learners::features)}};
}

class EveryTraining : public ::testing::TestWithParam<Case> {};

TEST_P(EveryTraining, has_the_same_bits_for_every_number_of_threads) {
  const Case& c = GetParam();
  const Dataset data = curved(c.rows, c.features, c.classes);
  const Progress alone;
  const std::vector<double> expected = numbers_of(train(data, c.options, alone));
  for (const int count : {2, 4}) {
    Threads threads(count);
    const Progress progress(1048576, &threads);
    EXPECT_EQ(numbers_of(train(data, c.options, progress)), expected) << count;
  }
}

/// Cancels at the poll of this number.
class Cancelled final : public Progress {
 public:
  Cancelled(Threads& threads, int after) : Progress(65536, &threads), given_(after), after_(after) {}
  void poll() const override {
    if (--after_ <= 0) throw std::string("cancelled");
  }
  int polls() const { return given_ - after_; }
  /// Whether this ends it; or the caller, of whose chunks others did some, did not poll as often.
  template <class Do>
  bool ends(const Do& what) const {
    const bool first = after_ == 1;
    try {
      what();
    } catch (const std::string&) {
      return true;
    }
    return !first && after_ > 0;
  }

 private:
  const int given_;
  mutable int after_;
};

TEST_P(EveryTraining, ends_where_it_is_cancelled) {
  const Case& c = GetParam();
  const Dataset data = curved(c.rows, c.features, c.classes);
  Threads one(1), threads(3);
  constexpr int never = 1 << 30;
  const Cancelled counting(one, never);
  train(data, c.options, counting);
  const int polls = counting.polls();
  EXPECT_GE(polls, 100) << "a training that is over before it hears of anything";
  for (const int after : {1, 2, polls / 2, polls}) {
    const Cancelled progress(one, after);
    EXPECT_THROW(train(data, c.options, progress), std::string) << after << " of " << polls;
    EXPECT_EQ(progress.polls(), after);
  }
  for (const int after : {1, 10, 100}) {
    const Cancelled progress(threads, after);
    EXPECT_TRUE(progress.ends([&] { train(data, c.options, progress); })) << after;
  }
}

INSTANTIATE_TEST_SUITE_P(All, EveryTraining, ::testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.name; });

/// A cross-validation, everything that it found as one list.
std::vector<double> found_by(const Dataset& data, const Value::Object& options, const Progress& progress,
                             MemoryBudget memory = {}) {
  const Selection selection = cross_validate(data, parse_cross_validation(options), progress, memory);
  std::vector<double> all{static_cast<double>(selection.unfinished), static_cast<double>(selection.best.value_or(99))};
  for (const SettingScore& s : selection.settings)
    for (const auto& fold : s.folds) all.push_back(fold.value_or(-1));
  return all;
}

TEST(CrossValidation, finds_the_same_for_every_number_of_threads) {
  const auto text = [](const char* word) { return Value{std::string(word)}; };
  const Value lambdas{Value::Array{{0.1}, {0.001}}}, folds{5.0};
  const Dataset classes = curved(300, 12, 3), targets = curved(200, 9, 0);
  const std::pair<const Dataset*, Value::Object> runs[] = {
      {&classes, {{"solver", text("newton")}, {"loss", text("logistic")}, {"lambdas", lambdas}, {"folds", folds}}},
      {&classes, {{"solver", text("newton")}, {"lambdas", lambdas}, {"folds", {4.0}}, {"standardize", {true}}}},
      {&classes,
       {{"losses", {Value::Array{text("hinge"), text("logistic"), text("squared_hinge")}}}, {"lambdas", lambdas}}},
      {&classes, {{"lambdas", {Value::Array{{1e-5}}}}, {"loss", text("logistic")}, {"tolerance", {1e-8}}}},
      {&classes, {{"kernel", text("rbf")}, {"lambdas", lambdas}, {"folds", {3.0}}}},
      {&targets, {{"loss", text("squared")}, {"l1_ratio", {0.5}}, {"lambdas", lambdas}, {"folds", {3.0}}}},
      {&targets, {{"loss", text("absolute")}, {"split", text("forward")}, {"lambdas", lambdas}, {"folds", folds}}}};
  for (std::size_t which = 0; which < std::size(runs); ++which) {
    const auto& [data, options] = runs[which];
    const Progress alone;
    const MemoryBudget little(4e6);
    const std::vector<double> expected = found_by(*data, options, alone);
    for (const int count : {2, 4}) {
      Threads threads(count);
      const Progress progress(1048576, &threads);
      EXPECT_EQ(found_by(*data, options, progress), expected) << which;
      EXPECT_EQ(found_by(*data, options, progress, little), found_by(*data, options, alone, little)) << which;
    }
  }
}

TEST(CrossValidation, ends_where_it_is_cancelled) {
  const Dataset data = curved(2000, 20, 3);
  const Value lambdas{Value::Array{{0.1}, {0.001}}};
  for (const char* solver : {"newton", "auto"}) {
    const Value::Object options{{"solver", {std::string(solver)}},
                                {"losses", {Value::Array{{std::string("hinge")}, {std::string("logistic")}}}},
                                {"lambdas", lambdas}};
    for (const int count : {1, 2, 4}) {
      Threads threads(count);
      for (const int after : {1, 5}) {
        const Cancelled progress(threads, after);
        EXPECT_TRUE(progress.ends([&] { found_by(data, options, progress); }))
            << solver << ' ' << count << ' ' << after;
      }
    }
  }
}

TEST(KernelColumns, adds_columns_as_one_after_another) {
  const Dataset data = curved(3000, 60, 2);
  Options s = with(1e-3, "hinge", "rbf", "smo");
  const Progress alone;
  const KernelRows rows = kernel_rows(data, make_kernel(data, s, alone), alone);
  std::vector<std::int64_t> which;
  std::vector<double> by;
  for (std::int64_t k = 0; k < 40; ++k) {
    which.push_back(k * 71);
    by.push_back(0.1 * static_cast<double>(k) - 1);
  }
  for (const int count : {1, 2, 4}) {
    Threads threads(count);
    const Progress progress(1048576, &threads);
    KernelColumns one(rows, 24 * 8.0 * 3000, alone), many(rows, 24 * 8.0 * 3000, progress);
    std::vector<double> expected(3000), sums(3000);
    for (int turn = 0; turn < 3; ++turn) {  // the second time some columns are at hand
      one.each(which, [&](std::size_t k, const double* column) {
        simd().axpy_d(by[k], column, expected.data(), expected.size());
      });
      many.add_to(which, by, sums.data());
      EXPECT_EQ(sums, expected) << count << " threads, turn " << turn;
    }
    EXPECT_EQ(one.computed(), many.computed());
  }
}

}  // namespace
}  // namespace margin
