#include "core/metrics/metrics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "core/base/error.hpp"
#include "core/math/norm.hpp"
#include "core/math/quantile_sketch.hpp"
#include "core/metrics/threshold.hpp"
#include "core/model/probability.hpp"

namespace margin {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::vector<double> numbers(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0.3, 2.0);
  std::vector<double> out(n);
  for (double& v : out) v = normal(random) * std::exp(normal(random));
  return out;
}

Sketch sketch_of(const std::vector<double>& values) {
  Sketch s;
  for (const double v : values) s.add(v);
  return s;
}

/// The least value with a share of q at or below it.
double exact_quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(values.size())));
  return values[rank == 0 ? 0 : rank - 1];
}

double exact_auc(const std::vector<double>& lower, const std::vector<double>& higher) {
  double wins = 0;
  for (const double l : lower)
    for (const double h : higher) wins += h > l ? 1 : h == l ? 0.5 : 0;
  return wins / (static_cast<double>(lower.size()) * static_cast<double>(higher.size()));
}

/// An archive that writes to and reads from a vector of doubles.
class Tape {
 public:
  explicit Tape(bool reading) : reading_(reading) {}
  void operator()(double& v) {
    if (reading_)
      v = values_[at_++];
    else
      values_.push_back(v);
  }
  void operator()(std::int64_t& v) {
    auto number = static_cast<double>(v);
    (*this)(number);
    v = static_cast<std::int64_t>(number);
  }
  template <class T>
  void operator()(std::vector<T>& v) {
    auto size = static_cast<std::int64_t>(v.size());
    (*this)(size);
    v.resize(static_cast<std::size_t>(size));
    for (T& item : v) (*this)(item);
  }
  template <class Count>
  void operator()(std::pair<double, Count>& item) {
    (*this)(item.first);
    (*this)(item.second);
  }
  void rewind() {
    reading_ = true;
    at_ = 0;
  }
  std::vector<double>& values() { return values_; }

 private:
  bool reading_;
  std::size_t at_ = 0;
  std::vector<double> values_;
};

TEST(Sketch, ExactWhileSmall) {
  const std::vector<double> values = numbers(4096, 1);
  const Sketch s = sketch_of(values);
  EXPECT_TRUE(s.exact());
  for (const double q : {0.0, 0.01, 0.25, 0.5, 0.777, 0.99, 1.0})
    EXPECT_EQ(s.quantiles({q})[0], exact_quantile(values, q)) << q;
}

TEST(Sketch, WithinItsRelativeAccuracyBeyond) {
  const std::vector<double> values = numbers(50000, 2);
  const Sketch s = sketch_of(values);
  EXPECT_FALSE(s.exact());
  EXPECT_EQ(s.count(), 50000);
  EXPECT_EQ(s.smallest(), *std::min_element(values.begin(), values.end()));
  EXPECT_EQ(s.quantiles({1.0})[0], *std::max_element(values.begin(), values.end()));
  for (double q = 0.001; q < 1; q += 0.0137) {
    const double exact = exact_quantile(values, q);
    EXPECT_NEAR(s.quantiles({q})[0], exact, std::fabs(exact) * Sketch::relative_accuracy) << q;
  }
}

TEST(Sketch, OrderAndPartsDoNotMatter) {
  for (const std::size_t n : {1000U, 4097U, 20000U}) {
    std::vector<double> values = numbers(n, 3);
    const auto whole = sketch_of(values).items();
    std::shuffle(values.begin(), values.end(), std::mt19937(4));
    EXPECT_EQ(sketch_of(values).items(), whole);
    Sketch parts;
    for (std::size_t from = 0; from < n; from += 777) {
      const std::size_t to = std::min(n, from + 777);
      parts.merge(sketch_of(
          {values.begin() + static_cast<std::ptrdiff_t>(from), values.begin() + static_cast<std::ptrdiff_t>(to)}));
    }
    EXPECT_EQ(parts.items(), whole);
    EXPECT_EQ(parts.smallest(), sketch_of(values).smallest());
  }
}

TEST(Sketch, HoldsTheWholeRangeOfNumbers) {
  Sketch s;
  const double edge[] = {0.0, -0.0, 5e-324, -5e-324, 1e-308, 1e308, -1e308, infinity, -infinity, 1.0};
  for (int i = 0; i < 1000; ++i)
    for (const double v : edge) s.add(v);
  s.add(std::nan(""));
  EXPECT_FALSE(s.exact());
  EXPECT_EQ(s.count(), 10001);
  EXPECT_EQ(s.smallest(), -infinity);
  EXPECT_EQ(s.largest(), infinity);
  const std::vector<double> q = s.quantiles({0.05, 0.15, 0.45, 0.75, 0.85, 0.95});
  EXPECT_EQ(q[0], -infinity);
  EXPECT_NEAR(q[1] / -1e308, 1, Sketch::relative_accuracy);
  EXPECT_EQ(q[2], 0);
  EXPECT_NEAR(q[3], 1, Sketch::relative_accuracy);
  EXPECT_NEAR(q[4] / 1e308, 1, Sketch::relative_accuracy);
  EXPECT_EQ(q[5], infinity);
}

TEST(Sketch, NegatedIsTheSketchOfNegatedNumbers) {
  for (const std::size_t n : {100U, 9000U}) {
    std::vector<double> values = numbers(n, 5);
    const Sketch turned = sketch_of(values).negated();
    for (double& v : values) v = -v;
    EXPECT_EQ(turned.items(), sketch_of(values).items());
    EXPECT_EQ(turned.smallest(), sketch_of(values).smallest());
    EXPECT_EQ(turned.largest(), sketch_of(values).largest());
  }
}

TEST(Sketch, TravelsAndRefusesNonsense) {
  for (const std::size_t n : {0U, 10U, 9000U}) {
    Sketch original = sketch_of(numbers(n, 6)), copy;
    Tape tape(false);
    original.exchange(tape);
    tape.rewind();
    EXPECT_TRUE(copy.exchange(tape));
    EXPECT_EQ(copy.items(), original.items());
    EXPECT_EQ(copy.count(), original.count());
    EXPECT_EQ(copy.largest(), original.largest());
  }
  Tape forged(true);
  forged.values() = {1, 3.5, -2, 0, 0};  // one item that occurs −2 times
  Sketch s;
  EXPECT_FALSE(s.exchange(forged));
}

TEST(AreaUnderCurve, CountsPairs) {
  EXPECT_EQ(area_under_curve(sketch_of({1, 2, 3}), sketch_of({4, 5})), 1);
  EXPECT_EQ(area_under_curve(sketch_of({4, 5}), sketch_of({1, 2, 3})), 0);
  EXPECT_EQ(area_under_curve(sketch_of({1, 1}), sketch_of({1})), 0.5);
  const std::vector<double> low = numbers(700, 7);
  std::vector<double> high = numbers(900, 8);
  for (double& v : high) v += 1;
  EXPECT_NEAR(area_under_curve(sketch_of(low), sketch_of(high)), exact_auc(low, high), 1e-12);
}

TEST(AreaUnderCurve, CloseWhenOneSideIsLarge) {
  const std::vector<double> low = numbers(6000, 9), high = numbers(300, 10);
  EXPECT_NEAR(area_under_curve(sketch_of(low), sketch_of(high)), exact_auc(low, high), 2e-3);
}

TEST(Probability, OfTwoClasses) {
  EXPECT_DOUBLE_EQ(sigmoid(std::log(3.0)), 0.75);
  EXPECT_DOUBLE_EQ(sigmoid(-std::log(3.0)), 0.25);
  EXPECT_EQ(sigmoid(1e4), 1);
  EXPECT_EQ(sigmoid(-1e4), 0);
  EXPECT_DOUBLE_EQ(log_sigmoid(-1e4), -1e4);
  EXPECT_NEAR(log_sigmoid(40.0), -std::exp(-40.0), 1e-30);
  double p[2];
  const double score = 0.3;
  probabilities(&score, 1, p);
  EXPECT_DOUBLE_EQ(p[0] + p[1], 1);
  EXPECT_DOUBLE_EQ(p[1], sigmoid(0.3));
  EXPECT_DOUBLE_EQ(log_probability(&score, 1, 0), std::log(p[0]));
}

TEST(Probability, OfManyClassesSumsToOneEvenWhenAllAreTiny) {
  for (const double shift : {0.0, -30.0, -700.0, 700.0}) {
    const double scores[] = {shift + 1, shift, shift - 2};
    double p[3];
    probabilities(scores, 3, p);
    EXPECT_NEAR(p[0] + p[1] + p[2], 1, 1e-14);
    for (int c = 0; c < 3; ++c) EXPECT_NEAR(log_probability(scores, 3, c), std::log(p[c]), 1e-12);
    if (shift < -20) {
      EXPECT_NEAR(p[0] / p[1], std::exp(1.0), 1e-7);  // sigmoid(s) is e^s there
    }
  }
}

TEST(ClassificationMetrics, CountsTwoClasses) {
  // Scores of class 0: −2, −1, 1; of class 1: −1, 1, 2, 3, 4. The model's norm is 2.
  ClassificationMetrics m(2, 2.0, false);
  for (const double s : {-2.0, -1.0, 1.0}) m.add(0, s > 0 ? 1 : 0, &s);
  for (const double s : {-1.0, 1.0, 2.0, 3.0, 4.0}) m.add(1, s > 0 ? 1 : 0, &s);
  EXPECT_EQ(m.confusion(), (std::vector<std::int64_t>{2, 1, 1, 4}));
  EXPECT_DOUBLE_EQ(m.accuracy(), 0.75);
  EXPECT_DOUBLE_EQ(*m.precision()[0], 2.0 / 3);
  EXPECT_DOUBLE_EQ(*m.recall()[1], 0.8);
  EXPECT_DOUBLE_EQ(*m.f1()[1], 0.8);
  EXPECT_DOUBLE_EQ(*m.auc(), 13.0 / 15);
  EXPECT_EQ(m.margin_quantiles({0, 0.5, 1}), (std::vector<double>{-0.5, 0.5, 2}));
  EXPECT_FALSE(m.log_loss().has_value());
}

TEST(ClassificationMetrics, LeavesOutWhatIsNotDefined) {
  ClassificationMetrics m(2, 1.0, true);
  const double score = 0;
  m.add(1, 1, &score);
  EXPECT_FALSE(m.precision()[0].has_value());
  EXPECT_FALSE(m.recall()[0].has_value());
  EXPECT_FALSE(m.f1()[0].has_value());
  EXPECT_FALSE(m.auc().has_value());
  EXPECT_DOUBLE_EQ(*m.log_loss(), std::log(2.0));
  EXPECT_THROW(ClassificationMetrics(ClassificationMetrics::most_classes + 1, 1, false), Error);
}

TEST(ClassificationMetrics, MergedPartsEqualTheWhole) {
  for (const std::int32_t k : {2, 4}) {
    std::mt19937 random(11);
    std::normal_distribution<double> normal;
    const bool logistic = k == 2;
    ClassificationMetrics whole(k, 3.0, logistic), merged(k, 3.0, logistic);
    ClassificationMetrics parts[3] = {{k, 3.0, logistic}, {k, 3.0, logistic}, {k, 3.0, logistic}};
    for (int i = 0; i < 9000; ++i) {
      double scores[4];
      for (double& s : scores) s = normal(random);
      const auto truth = static_cast<std::int32_t>(random() % static_cast<unsigned>(k));
      const auto guess =
          k == 2 ? (scores[0] > 0 ? 1 : 0) : static_cast<std::int32_t>(std::max_element(scores, scores + k) - scores);
      whole.add(truth, guess, scores);
      parts[random() % 3].add(truth, guess, scores);
    }
    for (ClassificationMetrics& part : parts) {
      Tape tape(false);
      part.exchange(tape);
      tape.rewind();
      ClassificationMetrics copy(k, 3.0, logistic);
      ASSERT_TRUE(copy.exchange(tape));
      merged.merge(copy);
    }
    EXPECT_EQ(merged.rows(), 9000);
    EXPECT_EQ(merged.confusion(), whole.confusion());
    EXPECT_EQ(merged.auc(), whole.auc());
    EXPECT_EQ(merged.margin_quantiles({0, 0.1, 0.5, 0.9, 1}), whole.margin_quantiles({0, 0.1, 0.5, 0.9, 1}));
    if (logistic) {
      EXPECT_NEAR(*merged.log_loss(), *whole.log_loss(), 1e-12);
    }
  }
}

TEST(ClassificationMetrics, RefusesTheStateOfAnotherModel) {
  ClassificationMetrics three(3, 1.0, false), two(2, 1.0, false);
  Tape tape(false);
  three.exchange(tape);
  tape.rewind();
  EXPECT_FALSE(two.exchange(tape));
}

TEST(WeightedMetrics, AWeightCountsLikeThatManyRows) {
  for (const std::size_t n : {300U, 9000U}) {  // below and beyond the exact limit of a sketch
    std::mt19937 random(17);
    const std::vector<double> noise = numbers(n, 18);
    ClassificationMetrics repeated(2, 3.0, true);
    WeightedMetrics weighted(2, 3.0, true), merged(2, 3.0, true);
    std::vector<WeightedMetrics> parts(3, WeightedMetrics(2, 3.0, true));
    for (std::size_t i = 0; i < n; ++i) {
      const std::int32_t truth = noise[i] > 0.3 ? 1 : 0;
      const double score = noise[i] - 0.3 + 0.8 * noise[(i * 7) % n];
      const std::int32_t guess = score > 0 ? 1 : 0;
      const auto weight = static_cast<std::int32_t>(1 + random() % 4);
      for (std::int32_t k = 0; k < weight; ++k) repeated.add(truth, guess, &score);
      weighted.add(truth, guess, &score, nullptr, weight);
      parts[random() % 3].add(truth, guess, &score, nullptr, weight);
    }
    for (WeightedMetrics& part : parts) {
      Tape tape(false);
      part.exchange(tape);
      tape.rewind();
      WeightedMetrics copy(2, 3.0, true);
      ASSERT_TRUE(copy.exchange(tape));
      merged.merge(copy);
    }
    for (const WeightedMetrics* m : {&weighted, &merged}) {
      EXPECT_EQ(m->rows(), static_cast<std::int64_t>(n));
      EXPECT_EQ(m->weight(), static_cast<double>(repeated.weight()));
      EXPECT_EQ(m->accuracy(), repeated.accuracy());
      EXPECT_EQ(m->matthews(), repeated.matthews());
      EXPECT_NEAR(*m->log_loss(), *repeated.log_loss(), 1e-12);
      EXPECT_NEAR(*m->brier(), *repeated.brier(), 1e-12);
      // Repeated rows leave the exact form earlier.
      EXPECT_NEAR(*m->auc(), *repeated.auc(), n == 300 ? 0 : 1e-12);
      EXPECT_NEAR(*m->average_precision(), *repeated.average_precision(), 1e-12);
      EXPECT_EQ(m->margin_quantiles({0, 0.1, 0.5, 0.9, 1}), repeated.margin_quantiles({0, 0.1, 0.5, 0.9, 1}));
    }
  }
}

TEST(WeightedMetrics, RefusesAStateThatContradictsItself) {
  WeightedMetrics m(2, 1.0, false);
  const double score = 0.5;
  m.add(1, 1, &score, nullptr, 2.5);
  Tape good(false);
  m.exchange(good);
  int refused = 0;
  for (std::size_t k = 0; k < good.values().size(); ++k)
    for (const double wrong : {-1.0, std::nan("")}) {
      Tape tape(true);
      tape.values() = good.values();
      if (tape.values()[k] == 1) continue;  // the length of a vector
      tape.values()[k] = wrong;
      WeightedMetrics copy(2, 1.0, false);
      refused += good.values()[k] == 2.5 && !copy.exchange(tape);
    }
  EXPECT_GE(refused, 2);
}

TEST(Threshold, IsTheBestOfAllScores) {
  std::mt19937 random(5);
  for (int trial = 0; trial < 60; ++trial) {
    WeightedMetrics m(2, 1.0, false);
    struct One {
      double score, weight;
      std::int32_t truth;
    };
    std::vector<One> rows;
    const int n = trial % 10 == 0 ? 6000 : 3 + static_cast<int>(random() % 40);
    for (int i = 0; i < n; ++i) {
      One row{static_cast<double>(random() % 997) / 100 - 4, 0.5 * static_cast<double>(1 + random() % 3), i % 2};
      row.score += 2 * row.truth;
      rows.push_back(row);
      m.add(row.truth, 0, &row.score, nullptr, row.weight);
    }
    const auto at = [&](double threshold) {
      OperatingPoint p;
      p.threshold = threshold;
      for (const One& row : rows) {
        const bool called = row.score >= threshold;
        (row.truth == 1 ? (called ? p.true_positives : p.false_negatives)
                        : (called ? p.false_positives : p.true_negatives)) += row.weight;
      }
      return p;
    };
    const Value::Object costs{{"false_positive", {1.0}}, {"false_negative", {3.0}}};
    for (const Value::Object& options :
         {Value::Object{{"precision", {0.8}}}, Value::Object{{"recall", {0.7}}}, Value::Object{{"costs", {costs}}},
          Value::Object{{"maximize", {std::string("f1")}}}, Value::Object{{"maximize", {std::string("mcc")}}},
          Value::Object{{"maximize", {std::string("accuracy")}}},
          Value::Object{{"maximize", {std::string("balanced_accuracy")}}}}) {
      const ThresholdGoal goal = parse_threshold(options);
      const std::optional<OperatingPoint> best = choose_threshold(m, goal);
      const auto figure = [&](const OperatingPoint& p) -> std::optional<double> {
        if (goal.kind == ThresholdGoal::Kind::precision)
          return p.precision().value_or(0) >= 0.8 ? std::optional(p.true_positives) : std::nullopt;
        if (goal.kind == ThresholdGoal::Kind::recall)
          return p.recall().value_or(0) >= 0.7 ? p.precision() : std::nullopt;
        if (goal.kind == ThresholdGoal::Kind::costs) return -mean_cost(p, goal);
        if (goal.kind == ThresholdGoal::Kind::f1) return p.f1();
        if (goal.kind == ThresholdGoal::Kind::mcc) return p.mcc();
        return goal.kind == ThresholdGoal::Kind::accuracy ? p.accuracy() : p.balanced_accuracy();
      };
      if (best.has_value()) {  // what is said of it is so
        const OperatingPoint truth = at(best->threshold);
        EXPECT_EQ(best->true_positives, truth.true_positives);
        EXPECT_EQ(best->false_positives, truth.false_positives);
        EXPECT_EQ(best->true_negatives, truth.true_negatives);
        EXPECT_EQ(best->false_negatives, truth.false_negatives);
      }
      if (n > Sketch::exact_limit) continue;  // thresholds then lie 0.2 % apart
      for (const One& row : rows) {
        const std::optional<double> here = figure(at(row.score));
        if (here.has_value()) {
          ASSERT_TRUE(best.has_value());
          EXPECT_LE(*here, *figure(*best) + 1e-12);
        }
      }
    }
  }
}

TEST(RegressionMetrics, MatchesTheDefinitions) {
  const std::vector<double> target = numbers(3000, 12), noise = numbers(3000, 13);
  RegressionMetrics whole, left, right;
  double squares = 0, absolutes = 0, mean = 0, spread = 0;
  for (std::size_t i = 0; i < target.size(); ++i) {
    // A large common offset: the spread must not drown in it.
    const double y = 1e6 + target[i], f = y + 0.1 * noise[i];
    whole.add(y, f);
    (i % 3 == 0 ? left : right).add(y, f);
    squares += 0.01 * noise[i] * noise[i];
    absolutes += 0.1 * std::fabs(noise[i]);
    mean += y / 3000;
  }
  for (const double t : target) spread += (1e6 + t - mean) * (1e6 + t - mean);
  left.merge(right);
  for (const RegressionMetrics* m : {&whole, &left}) {
    EXPECT_EQ(m->rows(), 3000);
    EXPECT_NEAR(m->mean_squared_error() / (squares / 3000), 1, 1e-6);
    EXPECT_NEAR(m->mean_absolute_error() / (absolutes / 3000), 1, 1e-6);
    EXPECT_NEAR(*m->r_squared(), 1 - squares / spread, 1e-6);
  }
}

TEST(RegressionMetrics, EqualTargetsHaveNoRSquared) {
  RegressionMetrics m, empty;
  m.add(2, 1);
  m.add(2, 3);
  m.merge(empty);
  EXPECT_DOUBLE_EQ(m.mean_squared_error(), 1);
  EXPECT_FALSE(m.r_squared().has_value());
}

TEST(EuclideanNorm, NeitherOverflowsNorVanishes) {
  const double huge[] = {3e200, 4e200}, tiny[] = {3e-200, -4e-200}, zero[] = {0, 0};
  EXPECT_DOUBLE_EQ(lp_norm(huge, 2, 2), 5e200);
  EXPECT_DOUBLE_EQ(lp_norm(tiny, 2, 2), 5e-200);
  EXPECT_EQ(lp_norm(zero, 2, 2), 0);
}

}  // namespace
}  // namespace margin
