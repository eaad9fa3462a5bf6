// Leave-one-out without a training for each row: what is proven must hold of the trainings.
#include "core/analysis/leave_one_out.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/analysis/influence.hpp"
#include "core/certificate/risk.hpp"
#include "core/consequences/left_out/exchange.hpp"
#include "core/consequences/left_out/left_out.hpp"
#include "core/train/train.hpp"
#include "risk_problems.hpp"

namespace margin {
namespace {

using testing::make_dataset;
using testing::make_table;
using testing::normal;
using testing::Table;

struct Trial {
  Table table;
  int classes = 2;
  Options options;
};

Trial make_trial(Random& random, int number) {
  const char* const losses[] = {"hinge", "logistic", "smoothed_hinge", "squared_hinge"};
  Trial t;
  t.options.loss = losses[number % 4];
  t.classes = number % 6 == 5 ? 3 : 2;
  const int shape = static_cast<int>(random.below(8));
  t.table = make_table(random, shape == 3 ? 0 : shape, true, t.classes);
  t.options.lambda = std::pow(10.0, -2.5 * random.uniform());
  const int intercept = static_cast<int>(random.below(3));
  t.options.intercept = intercept > 0;
  const bool free = intercept == 1 && t.options.loss != "hinge";
  t.options.intercept_form = free ? InterceptForm::free : InterceptForm::penalized;
  t.options.intercept_scale = intercept == 2 ? 0.5 + random.uniform() : 1;
  if (random.below(3) == 0)
    for (int i = 0; i < t.table.rows(); ++i) t.table.weight.push_back(std::floor(4 * random.uniform()) / 2 + 0.5);
  if (random.below(4) == 0) t.options.class_weight["1"] = 2.5;
  if (random.below(4) == 0)  // rows that alone make every reach a long one
    for (int k = 0; k < 2; ++k)
      for (double& value : t.table.x[random.below(static_cast<std::uint64_t>(t.table.rows()))]) value *= 20;
  return t;
}

/// A training without row i at the same cost of every other row; nothing where a class is gone.
std::optional<Model> without(const Trial& t, int left_out) {
  Trial rest = t;
  double weight = 0, all = 0;
  std::vector<int> rows(static_cast<std::size_t>(t.classes), 0);
  rest.table = {};
  for (int i = 0; i < t.table.rows(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double c = t.table.weight.empty() ? 1 : t.table.weight[at];
    all += c;
    if (i == left_out) continue;
    weight += c;
    rest.table.x.push_back(t.table.x[at]);
    rest.table.y.push_back(t.table.y[at]);
    if (!t.table.weight.empty()) rest.table.weight.push_back(c);
    ++rows[static_cast<std::size_t>(t.table.y[at])];
  }
  for (const int n : rows)
    if (n == 0) return std::nullopt;
  rest.options.lambda = *t.options.lambda * all / weight;
  rest.options.tolerance = 1e-13;
  rest.options.max_iterations = 20000;
  Progress progress;
  return train(make_dataset(rest.table, true, t.classes), rest.options, progress);
}

TEST(LeaveOneOut, HoldsTheTrainings) {
  Random random(23);
  const Progress progress;
  int exact = 0, all = 0, rows = 0, undecided = 0;
  for (int number = 0; number < 240; ++number) {
    const Trial t = make_trial(random, number);
    const Dataset data = make_dataset(t.table, true, t.classes);
    Options loose = t.options;
    loose.tolerance = 0.1;
    const Model model = train(data, loose, progress);
    const LeaveOneOut found = leave_one_out(data, model, t.options, {}, progress);
    const LeaveOneOut refitted = leave_one_out(data, model, t.options, {true}, progress);
    Options tight = t.options;
    tight.tolerance = number % 3 == 0 ? 1e-2 : 1e-10;
    tight.dual_weights = true;
    tight.max_iterations = 3000;
    const Model whole = train(data, tight, progress);
    const Problem problem = make_problem(data, tight, progress);
    RiskCheck check(objective_of(problem), whole.weights.data(), whole.intercept.data(), true);
    add_rows(check, problem, *whole.dual_weights);
    int errors = 0, unclear = 0;
    for (int i = 0; i < t.table.rows(); ++i) {
      const std::optional<Model> other = without(t, i);
      const auto at = static_cast<std::size_t>(i);
      if (!other.has_value()) {
        ++unclear;
        continue;
      }
      const Scorer scorer = scorer_of(*other);
      std::vector<double> scores(static_cast<std::size_t>(scorer.outputs));
      const FeatureRow x = dense_row(t.table.x[at].data(), t.table.dimensions());
      score(scorer, x, t.table.dimensions(), scores.data());
      // How far the other training is from its own optimum, which a free intercept has no bound of.
      double off = std::sqrt(2 * std::max(other->certificate.gap, 1e-16) / *t.options.lambda) *
                   std::hypot(norm(x), t.options.intercept_scale);
      if (t.options.free_intercept()) off = 1e-5 * (1 + off);
      const int predicted = decide(scorer.outputs, scores.data());
      double lead = std::fabs(scores[0]);
      if (scores.size() > 1) {
        lead = std::numeric_limits<double>::infinity();
        for (std::size_t o = 0; o < scores.size(); ++o)
          if (static_cast<int>(o) != predicted)
            lead = std::min(lead, (scores[static_cast<std::size_t>(predicted)] - scores[o]) / 2);
      }
      if (lead <= off)
        ++unclear;
      else
        errors += predicted != static_cast<int>(t.table.y[at]);
      for (std::int32_t o = 0; o < scorer.outputs; ++o) {
        if (!(check.dual(o) > 0)) continue;
        LeftOut left(problem, o, whole.weights.row(o).data(), whole.intercept(o), *whole.dual_weights,
                     check.primal(o) - check.dual(o), progress);
        const ScoreInterval s = left.score(i, std::numeric_limits<double>::quiet_NaN());
        EXPECT_LE(s.lower - off, scores[static_cast<std::size_t>(o)])
            << t.options.loss << " " << number << ", row " << i;
        EXPECT_GE(s.upper + off, scores[static_cast<std::size_t>(o)])
            << t.options.loss << " " << number << ", row " << i;
        if (t.options.free_intercept()) continue;
        double moved = 0;
        for (std::int32_t j = 0; j < t.table.dimensions(); ++j)
          moved = std::hypot(moved, whole.weights(o, j) - other->weights(o, j));
        const double error =
            std::sqrt(2 * check.primal(o) / *t.options.lambda * std::max(1e-16, whole.certificate.relative_gap)) + off;
        EXPECT_LE(moved, left.distance(i) + error);
      }
    }
    EXPECT_EQ(found.rows, t.table.rows());
    EXPECT_LE(found.lower, errors + unclear) << t.options.loss << " " << number;
    EXPECT_GE(found.upper, errors) << t.options.loss << " " << number;
    EXPECT_EQ(found.undecided, found.upper - found.lower);
    EXPECT_EQ(refitted.refitted, found.undecided);
    EXPECT_LE(found.lower, refitted.lower);
    EXPECT_GE(found.upper, refitted.upper);
    if (refitted.undecided == 0 && unclear == 0) {
      EXPECT_EQ(refitted.lower, errors) << t.options.loss << " " << number;
      ++exact;
    }
    ++all;
    rows += t.table.rows();
    undecided += static_cast<int>(found.undecided);
  }
  RecordProperty("rows", rows);
  RecordProperty("undecided", undecided);
  EXPECT_GT(exact, all / 2);
  EXPECT_LT(undecided, rows / 2);
}

/// What is proven of the score of row i by weights and dual values of all rows.
ScoreInterval proven(const Problem& problem, const Weights& weights, const Weights& dual, int i) {
  const Progress progress;
  const double none = 0;
  RiskCheck check(objective_of(problem), weights.data(), &none, true);
  add_rows(check, problem, dual);
  LeftOut left(problem, 0, weights.data(), 0, dual, check.primal(0) - check.dual(0), progress);
  return left.score(i, std::numeric_limits<double>::quiet_NaN());
}

TEST(LeaveOneOut, HoldsForRowsWhoseSquaresVanish) {
  Random random(37);
  const Progress progress;
  for (int number = 0; number < 48; ++number) {
    const char* const losses[] = {"hinge", "logistic", "smoothed_hinge", "squared_hinge"};
    Trial t;
    t.options.loss = losses[number % 4];
    t.options.lambda = 0.01;
    t.options.intercept = false;
    for (int i = 0; i < 14; ++i) {
      const double u = normal(random), v = normal(random);
      t.table.x.push_back({u, v});
      t.table.y.push_back(i < 2 ? i : u - v + normal(random) > 0);
    }
    for (double& v : t.table.x[9]) v *= number / 4 % 3 == 0 ? 1e-165 : number / 4 % 3 == 1 ? 1e-200 : 1e-290;
    const Dataset data = make_dataset(t.table, true);
    Options rough = t.options;
    rough.tolerance = 0.1;
    rough.dual_weights = true;
    const Model whole = train(data, rough, progress);
    const Model other = *without(t, 9);
    const ScoreInterval s = proven(make_problem(data, rough, progress), whole.weights, *whole.dual_weights, 9);
    const std::vector<double>& x = t.table.x[9];
    const double score = x[0] * other.weights(0, 0) + x[1] * other.weights(0, 1), length = std::hypot(x[0], x[1]),
                 off = length * (std::sqrt(2 * other.certificate.gap / 0.01) + 1e-9);
    EXPECT_LE(s.lower, score + off) << t.options.loss << " " << number;
    EXPECT_GE(s.upper, score - off) << t.options.loss << " " << number;
    EXPECT_LT(s.upper - s.lower, 1e3 * length);
  }
}

TEST(LeaveOneOut, HoldsWhereDistancesLeaveTheRangeOfDoubles) {
  const Table t{{{1}, {1}, {-1}, {-1}}, {1, 1, 0, 0}, {}};
  const Dataset data = make_dataset(t, true);
  Options options;
  options.loss = "hinge";
  options.lambda = 1e-156;
  options.intercept = false;
  // P falls until the scores are 1: no optimum is far from that.
  const ScoreInterval s =
      proven(make_problem(data, options, {}), Weights::Constant(1, 1, 2e155), Weights::Zero(4, 1), 0);
  EXPECT_LE(s.lower, 1);
  EXPECT_GE(s.upper, 1);
}

/// Without rows yet.
Dataset of_two_classes() {
  Dataset data(Dataset::Outcome::classes);
  for (int c = 0; c < 2; ++c) data.classes().intern(std::to_string(c), 0);
  return data;
}

/// Sums of very many equal terms err by more than those of others: each is rounded the same way.
TEST(InverseCurvature, CoversTheRoundingOfItsSums) {
  Random random(5);
  const Progress progress;
  for (int trial = 0; trial < 6; ++trial) {
    const std::vector<std::int32_t> columns = {0, 1};
    const double values[] = {random.uniform(), random.uniform()}, across[] = {values[1], -values[0]};
    Dataset data = of_two_classes();
    for (std::int32_t i = 0; i < 40000; ++i) data.append({Row{values, columns.data(), 2, true}, 15}, Label(i % 2));
    Options options;
    options.loss = "logistic";
    options.lambda = 1;
    options.intercept = false;
    const Problem problem = make_problem(data, options, progress);
    const double square = values[0] * values[0] + values[1] * values[1], h = 0.25 * random.uniform(),
                 lambda = h * square / 2e8;
    const auto curvature = [&](std::int64_t, const Row&) { return h; };
    const InverseCurvature inverse(problem, lambda, 0, true, curvature, progress);
    ASSERT_TRUE(inverse.usable());
    const double form = inverse.form(Row{across, columns.data(), 2, true}, progress);
    EXPECT_GE(form * inverse.safe(), square / lambda * (1 - 1e-12)) << trial;
    EXPECT_LE(form * (2 - inverse.safe()), square / lambda * (1 + 1e-12)) << trial;
  }
}

/// Without a penalty of its own the constant column is all but a combination of the others where these are far from 0.
TEST(InverseCurvature, CoversRoundingWithoutAPenaltyOfTheConstant) {
  Random random(6);
  const Progress progress;
  int usable = 0;
  for (const double far : {0.0, 1.0, 3.0, 10.0, 30.0, 1e3, 1e5}) {
    std::vector<double> x(50);
    Dataset data = of_two_classes();
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = far + random.uniform();
      data.append(dense_row(&x[i], 1), Label(static_cast<std::int32_t>(i % 2)));
    }
    Options options;
    options.loss = "logistic";
    options.lambda = 1e-3;
    options.intercept_form = InterceptForm::free;
    const Problem problem = make_problem(data, options, progress);
    const auto curvature = [](std::int64_t, const Row&) { return 0.25; };
    const InverseCurvature inverse(problem, 1e-3, 1, false, curvature, progress);
    if (!inverse.usable()) continue;
    ++usable;
    long double mean = 0, square = 0;
    for (const double v : x) mean += v / 50.0L;
    for (const double v : x) square += (v - mean) * (v - mean) / 50;
    // By Schur's complement of the constant: its column takes the mean out of the other.
    const long double h = 0.25L, lambda = 1e-3L, complement = h * square + lambda;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const long double form = 1 / h + (x[i] - mean) * (x[i] - mean) / complement;
      const double found = inverse.form(dense_row(&x[i], 1), progress);
      EXPECT_GE(found * inverse.safe(), static_cast<double>(form) * (1 - 1e-12)) << far;
      EXPECT_LE(found * (2 - inverse.safe()), static_cast<double>(form) * (1 + 1e-12)) << far;
    }
  }
  EXPECT_GE(usable, 4);
}

TEST(LeaveOneOut, LooksAtTheBallOfWhatTheExchangeMoves) {
  Random random(31);
  const Progress progress;
  int moved = 0, ended = 0;
  for (int number = 0; number < 60; ++number) {
    const Table t = make_table(random, 0, true);
    const Dataset data = make_dataset(t, true);
    const double constant = number % 2, k = 0.3 * (number % 3 == 0 ? -1 : 1), beyond = 0.25 * k;
    const auto n = static_cast<std::size_t>(t.dimensions());
    std::vector<double> v(n + (constant != 0 ? 1 : 0));
    for (double& value : v) value = random.uniform() - 0.5;
    std::vector<std::vector<double>> rows;
    std::vector<Exchange::Member> band;
    const auto product = [](const std::vector<double>& a, const std::vector<double>& b) {
      double sum = 0;
      for (std::size_t j = 0; j < a.size(); ++j) sum += a[j] * b[j];
      return sum;
    };
    for (int i = 0; i < t.rows(); ++i) {
      rows.push_back(t.x[static_cast<std::size_t>(i)]);
      if (constant != 0) rows.back().push_back(constant);
      const double side = random.uniform();
      band.push_back({i, side < 0.7 ? -0.2 * random.uniform() : 0, side > 0.3 ? 0.2 * random.uniform() : 0,
                      product(rows.back(), v) + (side > 0.3 && side < 0.7 ? 0 : random.uniform() - 0.5)});
    }
    Exchange exchange(data, constant, band, v, progress);
    for (int i = 0; i < t.rows(); i += 3) {
      const std::vector<double>& x = rows[static_cast<std::size_t>(i)];
      exchange.leave_out(i, k, beyond);
      for (int guess = 0; guess < 5; ++guess) {
        const bool more = exchange.improve();
        std::vector<double> gone = x;
        for (double& value : gone) value *= k;
        double cost = 0;
        for (const auto& [b, theta] : exchange.moves()) {
          ASSERT_NE(band[b].row, i);
          ASSERT_GE(theta, band[b].low);
          ASSERT_LE(theta, band[b].high);
          const std::vector<double>& other = rows[static_cast<std::size_t>(band[b].row)];
          for (std::size_t j = 0; j < gone.size(); ++j) gone[j] -= theta * other[j];
          cost += theta * (product(other, v) - band[b].y);
          ++moved;
          ended += theta == band[b].low || theta == band[b].high;
        }
        const Exchange::Look look = exchange.look();
        const double size = 1e-7 * (1 + product(x, x));
        EXPECT_NEAR(look.fall, product(x, gone), size) << number << ", row " << i;
        EXPECT_NEAR(look.square, cost + product(gone, gone) / 4, size) << number << ", row " << i;
        if (!more) break;
      }
    }
  }
  EXPECT_GT(moved, 1000);
  EXPECT_GT(ended, 100);
}

TEST(Influence, BoundsHowFarTheOptimumMoves) {
  Random random(29);
  const Progress progress;
  int none = 0, rows = 0;
  for (int number = 0; number < 40; ++number) {
    const Trial t = make_trial(random, number);
    if (t.options.free_intercept()) continue;
    const Dataset data = make_dataset(t.table, true, t.classes);
    Options options = t.options;
    options.tolerance = number % 3 == 0 ? 1e-2 : 1e-9;
    options.max_iterations = 3000;
    const Model model = train(data, options, progress);
    options.tolerance = 1e-13;
    const Model best = train(data, options, progress);
    Influence influence(model, t.options);
    for (int i = 0; i < t.table.rows(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      const std::optional<Model> other = without(t, i);
      if (!other.has_value()) continue;
      const double weight = t.table.weight.empty() ? 1 : t.table.weight[at];
      const double bound = weight * influence.of(dense_row(t.table.x[at].data(), t.table.dimensions()),
                                                 static_cast<std::int32_t>(t.table.y[at]));
      const double error =
          std::sqrt(2 * (best.certificate.gap + other->certificate.gap + 1e-15) / *t.options.lambda) * 2;
      EXPECT_LE((best.weights - other->weights).norm(), bound + error)
          << t.options.loss << " " << number << ", row " << i;
      none += bound == 0;
      ++rows;
    }
  }
  EXPECT_GT(rows, 100);
  EXPECT_GT(none, 0);
}

/// A column of large numbers, as amounts and times are, hides no other one: bounds go by columns.
TEST(LeaveOneOut, DecidesRowsWithColumnsOfLargeNumbers) {
  const Progress progress;
  for (const double milliseconds : {0.0, 1e3})
    for (const std::string loss : {"logistic", "squared_hinge", "smoothed_hinge", "hinge"})
      for (const bool free : {false, true}) {
        if (free && loss == "hinge") continue;
        Random random(11);
        Trial t;
        for (int i = 0; i < 100; ++i) {
          const double a = normal(random), b = normal(random), share = random.uniform(),
                       score = a - b / 2 + normal(random) / 2 + 3 * share;
          const double large = milliseconds > 0 ? std::floor(milliseconds * (1.7e9 + 3e7 * share))
                                                : std::floor(5e4 * std::exp(3 * share - 1.5));
          t.table.x.push_back({a, b, large});
          t.table.y.push_back(i < 2 ? i : score > 1.5 ? 1 : 0);
        }
        t.options.loss = loss;
        t.options.lambda = 1e-2;
        t.options.intercept_form = free ? InterceptForm::free : InterceptForm::penalized;
        const Dataset data = make_dataset(t.table, true, 2);
        const Model model = train(data, t.options, progress);
        const LeaveOneOut plain = leave_one_out(data, model, t.options, {}, progress),
                          found = leave_one_out(data, model, t.options, {true}, progress);
        // What a training of the hinge leaves of its gap is a little more than a row or two have room for.
        EXPECT_LE(found.undecided, loss == "hinge" && milliseconds > 0 ? 3 : 0) << loss << free << " " << milliseconds;
        EXPECT_LE(plain.lower, found.lower);
        EXPECT_GE(plain.upper, found.upper);
        if (loss != "logistic" && loss != "squared_hinge") continue;
        EXPECT_LE(plain.undecided, 10) << loss << free << " " << milliseconds;
        int errors = 0;
        for (int i = 0; i < 100; ++i) {
          const auto at = static_cast<std::size_t>(i);
          const Model other = without(t, i).value();
          double score = 0;
          margin::score(scorer_of(other), dense_row(t.table.x[at].data(), 3), 3, &score);
          errors += decide(1, &score) != static_cast<int>(t.table.y[at]);
        }
        EXPECT_EQ(found.lower, errors) << loss << free << " " << milliseconds;
      }
}

TEST(LeaveOneOut, IsRefusedWhereNothingIsProven) {
  Random random(2);
  const Progress progress;
  const Table t = make_table(random, 0, true);
  Options s;
  s.loss = "hinge";
  s.lambda = 0.1;
  s.intercept_form = InterceptForm::free;
  const Dataset data = make_dataset(t, true);
  const Model model = train(data, s, progress);
  EXPECT_THROW(leave_one_out(data, model, s, {}, progress), Error);
}

}  // namespace
}  // namespace margin
