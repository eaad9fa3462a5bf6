// Numbers cut into bins: where the thresholds are, what an encoder writes, and what its shape says.
#include "core/encoder/bins.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "core/base/error.hpp"
#include "core/encoder/row_table.hpp"
#include "core/report/explain.hpp"
#include "core/report/shape.hpp"

namespace margin {
namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

std::vector<WeightedNumber> sorted(std::vector<double> numbers) {
  std::sort(numbers.begin(), numbers.end());
  std::vector<WeightedNumber> out;
  for (const double v : numbers) out.push_back({v, 1});
  return out;
}

std::vector<std::size_t> rows_of_bins(const std::vector<WeightedNumber>& numbers,
                                      const std::vector<double>& thresholds) {
  std::vector<std::size_t> rows(thresholds.size() + 1, 0);
  for (const WeightedNumber& n : numbers)
    ++rows[static_cast<std::size_t>(std::lower_bound(thresholds.begin(), thresholds.end(), n.number) -
                                    thresholds.begin())];
  return rows;
}

TEST(Bins, AreEquallyFullAndNeverSmallWhateverTheNumbers) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 200; ++trial) {
    const std::size_t n = 1 + random() % 3000;
    const int bins = 2 + static_cast<int>(random() % (most_bins - 1));
    std::vector<double> values;
    for (std::size_t i = 0; i < n; ++i)
      values.push_back(trial % 4 == 0   ? normal(random)
                       : trial % 4 == 1 ? std::floor(3 * normal(random))
                       : trial % 4 == 2
                           ? (random() % 10 > 0 ? 0 : std::exp(20 * normal(random)))
                           : std::ldexp(1.0, static_cast<int>(random() % 2000) - 1000) * (random() % 2 == 0 ? -1 : 1));
    const std::vector<WeightedNumber> numbers = sorted(values);
    const std::vector<double> t = bin_thresholds(numbers, bins);
    ASSERT_LT(t.size(), static_cast<std::size_t>(bins));
    EXPECT_TRUE(std::is_sorted(t.begin(), t.end(), std::less_equal<>()) || t.size() < 2);
    for (const std::size_t rows : rows_of_bins(numbers, t))
      EXPECT_GE(static_cast<std::int64_t>(rows), t.empty() ? 0 : least_rows_of_a_bin) << trial;
    if (trial % 4 > 0) continue;
    for (const std::size_t rows : rows_of_bins(numbers, t))  // no ties: parts of about the same size
      EXPECT_LE(static_cast<std::int64_t>(rows),
                1 + std::max(2 * least_rows_of_a_bin, 2 * static_cast<std::int64_t>(n) / bins))
          << trial;
  }
}

TEST(Bins, OfAValueThatManyRowsShareIsItsOwn) {
  std::vector<double> values(900, 0.0);
  for (int i = 1; i <= 600; ++i) values.push_back(i % 2 == 0 ? i : -i);
  const std::vector<double> t = bin_thresholds(sorted(values), 16);
  const auto zero = std::upper_bound(t.begin(), t.end(), 0.0);
  ASSERT_TRUE(zero != t.begin() && zero != t.end());
  EXPECT_EQ(*zero, 1.0);
  EXPECT_EQ(*(zero - 1), -0.5);
  EXPECT_GE(t.size(), 12u);  // the tails have what is left, not a part of the zeros
}

TEST(Bins, OfManyRowsAskForInterrupts) {
  struct Cancelled : Progress {
    Cancelled() : Progress(1000) {}
    void poll() const override { throw 1; }
  };
  const std::vector<WeightedNumber> numbers = sorted(std::vector<double>(20000, 1.0));
  EXPECT_THROW(bin_thresholds(numbers, 8, Cancelled()), int);
}

TEST(Bins, LieBetweenNumbersThatOccur) {
  const double big = std::numeric_limits<double>::max(), next = std::nextafter(1.0, 2.0);
  for (const auto& [a, b] : {std::pair(1.0, next), std::pair(-big, big), std::pair(0.0, 5e-324)}) {
    std::vector<double> values(30, a);
    values.insert(values.end(), 30, b);
    const std::vector<double> t = bin_thresholds(sorted(values), 8);
    ASSERT_EQ(t.size(), 1u);
    EXPECT_TRUE(t[0] >= a && t[0] < b) << a;
  }
  EXPECT_TRUE(bin_thresholds(std::vector<WeightedNumber>(), 8).empty());
  EXPECT_TRUE(bin_thresholds(std::vector<double>(), 8).empty());
  EXPECT_TRUE(bin_thresholds(sorted(std::vector<double>(1000, 3.0)), 8).empty());
}

struct Table {
  explicit Table(std::int32_t bins)
      : rows(Dataset::Outcome::targets), table(columns(), rules(bins), rows, std::pmr::get_default_resource()) {}
  static std::vector<Column> columns() {
    return {{"age", "integer", ColumnKind::number}, {"vip", "boolean", ColumnKind::boolean}};
  }
  static EncoderRules rules(std::int32_t bins) {
    EncoderRules rules;
    rules.bins = {bins};
    return rules;
  }
  void add(double age, double vip, double weight) {
    Cells cells;
    cells.resize(2);
    cells.values = {age, vip};
    table.append(cells, 0.0, weight);
  }
  Dataset rows;
  RowTable table;
};

struct Case {
  double age, vip, weight;
};

std::vector<Case> cases(std::mt19937_64& random, std::size_t n, bool with_missing) {
  std::vector<Case> out;
  for (std::size_t i = 0; i < n; ++i)
    out.push_back({with_missing && random() % 9 == 0 ? missing : static_cast<double>(random() % 70),
                   static_cast<double>(random() % 2), static_cast<double>(1 + random() % 3)});
  return out;
}

TEST(Bins, AreFeaturesAboveTheirThresholdsWithTheMeansOfTheRows) {
  std::mt19937_64 random(8);
  for (const bool with_missing : {false, true}) {
    std::vector<Case> rows = cases(random, 1000, with_missing);
    std::string first;
    for (int order = 0; order < 3; ++order) {
      Table t(20);
      for (const Case& c : rows) t.add(c.age, c.vip, c.weight);
      const auto e = t.table.fit(Progress());
      const Column& age = e->columns()[0];
      ASSERT_TRUE(age.binned());
      EXPECT_EQ(e->width(), age.values() + (with_missing ? 2 : 1));
      EXPECT_FALSE(e->columns()[1].binned());
      std::vector<double> mean(static_cast<std::size_t>(e->width()), 0.0);
      double weight = 0;
      MemoryBudget memory;
      const auto encoded = t.table.encode(*e, Progress(), memory);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const Row x = encoded->row(static_cast<std::int64_t>(i));
        const double number = std::isnan(rows[i].age) ? age.fill[0] : rows[i].age;
        for (std::int32_t k = 0; k < age.values(); ++k)
          ASSERT_EQ(value_at(x, k), number > age.thresholds[static_cast<std::size_t>(k)] ? 1 : 0);
        if (with_missing) {
          ASSERT_EQ(value_at(x, age.values()), std::isnan(rows[i].age) ? 1 : 0);
        }
        for (std::int32_t f = 0; f < e->width(); ++f)
          mean[static_cast<std::size_t>(f)] += rows[i].weight * value_at(x, f);
        weight += rows[i].weight;
      }
      for (std::int32_t f = 0; f < age.values() + (with_missing ? 1 : 0); ++f)
        EXPECT_NEAR(e->mean(f), mean[static_cast<std::size_t>(f)] / weight, 1e-12);
      Value value;
      value.data = e->to_value();
      const auto back = Encoder::from_value(value);
      EXPECT_EQ(back->columns()[0].thresholds, age.thresholds);
      EXPECT_EQ(back->columns()[0].spread->mean, age.spread->mean);
      if (order == 0) first = e->feature_name(3) + std::to_string(e->mean(3));
      EXPECT_EQ(first, e->feature_name(3) + std::to_string(e->mean(3)));
      std::shuffle(rows.begin(), rows.end(), random);
    }
  }
}

TEST(Bins, AreTheSameWhetherWeightsAreLookedAtOrNot) {
  std::mt19937_64 random(8);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 3000; ++trial) {
    const std::size_t n = random() % 400;
    const double grid = std::pow(2.0, static_cast<double>(random() % 8) - 2);
    std::vector<double> numbers;
    for (std::size_t i = 0; i < n; ++i)
      numbers.push_back(trial % 3 == 0                                    ? normal(random)
                        : random() % 4 < static_cast<unsigned>(trial % 4) ? 0.0
                                                                          : std::floor(grid * normal(random)));
    const int bins = 2 + static_cast<int>(random() % (trial % 2 == 0 ? 12 : 600));
    const std::vector<WeightedNumber> weighted = sorted(numbers);
    std::sort(numbers.begin(), numbers.end());
    ASSERT_EQ(bin_thresholds(numbers, bins), bin_thresholds(weighted, bins)) << trial << " " << n << " " << bins;
  }
}

TEST(Bins, ShapeIsWhatExplanationsSay) {
  std::mt19937_64 random(9);
  const std::vector<Case> rows = cases(random, 800, true);
  Table t(16);
  for (const Case& c : rows) t.add(c.age, c.vip, c.weight);
  Model m;
  m.encoder = t.table.fit(Progress());
  m.task = Task::regression;
  m.dimensions = m.encoder->width();
  m.weights = Weights::Random(1, m.dimensions);
  m.intercept = Eigen::VectorXd::Constant(1, 0.25);
  const std::vector<ShapePiece> pieces = shape(m, Options{}, std::nullopt);
  double age = 0, vip = 0, shares = 0;
  for (const ShapePiece& p : pieces) {
    (p.column == "age" ? age : vip) += *p.contribution * *p.share;
    if (p.column == "age") shares += *p.share;
  }
  EXPECT_NEAR(age, 0, 1e-12);
  EXPECT_NEAR(vip, 0, 1e-12);
  EXPECT_NEAR(shares, 1, 1e-12);
  Encoder::Scratch scratch;
  double sum = 0, square = 0, weight = 0;
  for (const Case& c : rows) {
    Cells cells;
    cells.resize(2);
    cells.values = {c.age, c.vip};
    const Row x = *m.encoder->encode(cells, scratch);
    double told = 0, score = m.intercept(0);
    for (const Contribution& part : contributions(m, x, &cells)) {
      score -= part.contribution;
      if (part.name != "age" && part.name != "age IS NULL") continue;
      told = part.contribution;
    }
    for (std::int32_t f = 0; f < m.dimensions; ++f) score += m.weights(0, f) * value_at(x, f);
    EXPECT_NEAR(score, 0, 1e-12);
    const auto mine = std::find_if(pieces.begin(), pieces.end(), [&](const ShapePiece& p) {
      if (p.column != "age") return false;
      if (std::isnan(c.age)) return p.level == "NULL";
      return !p.level.has_value() && (!p.above || c.age > *p.above) && (!p.upto || c.age <= *p.upto);
    });
    ASSERT_TRUE(mine != pieces.end());
    EXPECT_NEAR(*mine->contribution, told, 1e-12);
    sum += c.weight * told;
    square += c.weight * told * told;
    weight += c.weight;
  }
  EXPECT_NEAR(sum, 0, 1e-9);
  for (const Importance& i : importance(m))
    if (i.column == "age") {
      EXPECT_NEAR(i.norm, std::sqrt(square / weight), 1e-12);
    }
  EXPECT_THROW(shape(m, Options{}, "income"), Error);
  m.encoder = nullptr;
  EXPECT_THROW(shape(m, Options{}, std::nullopt), Error);
}

TEST(Bins, OfAMalformedEncoderAreRefused) {
  Table t(16);
  std::mt19937_64 random(10);
  for (const Case& c : cases(random, 500, false)) t.add(c.age, c.vip, c.weight);
  const Value::Object good = t.table.fit(Progress())->to_value();
  const auto with = [&](auto change) {
    Value::Object object = good;
    auto columns = std::get<Value::Array>(object["columns"].data);
    auto column = std::get<Value::Object>(columns[0].data);
    change(column);
    columns[0].data = column;
    object["columns"].data = columns;
    Value value;
    value.data = object;
    return value;
  };
  EXPECT_NO_THROW(Encoder::from_value(with([](Value::Object&) {})));
  EXPECT_THROW(
      Encoder::from_value(with([](Value::Object& c) { std::get<Value::Array>(c["thresholds"].data)[1].data = -1e9; })),
      Error);
  EXPECT_THROW(Encoder::from_value(with([](Value::Object& c) { c["thresholds"].data = Value::Array{}; })), Error);
  EXPECT_THROW(Encoder::from_value(with([](Value::Object& c) { c.erase("spread"); })), Error);
  EXPECT_THROW(Encoder::from_value(with([](Value::Object& c) { c["center"] = c["fill"]; })), Error);
  EXPECT_THROW(Encoder::from_value(with([](Value::Object& c) { c["offset"].data = true; })), Error);
  EXPECT_THROW(Encoder::from_value(with([](Value::Object& c) { c["kind"].data = std::string("sparse"); })), Error);
  EXPECT_THROW(Encoder::from_value(with([](Value::Object& c) {
                 auto spread = std::get<Value::Object>(c["spread"].data);
                 std::get<Value::Array>(spread["mean"].data)[2].data = 1.0;
                 c["spread"].data = spread;
               })),
               Error);
}

}  // namespace
}  // namespace margin
