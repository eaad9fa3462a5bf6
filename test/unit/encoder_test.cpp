// Rows with named columns: what an encoder makes of them, and what it refuses to be made of.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "core/base/error.hpp"
#include "core/encoder/row_table.hpp"
#include "core/math/order_free_sum.hpp"

namespace margin {
namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

std::vector<Column> some_columns() {
  return {{"age", "integer", ColumnKind::number},
          {"plan", "text", ColumnKind::category},
          {"vip", "boolean", ColumnKind::boolean},
          {"x", "real[]", ColumnKind::dense}};
}

struct Table {
  explicit Table(const EncoderRules& rules = {})
      : rows(Dataset::Outcome::classes), table(some_columns(), rules, rows, std::pmr::get_default_resource()) {
    rows.classes().intern("no", 0);
    rows.classes().intern("yes", 0);
  }
  bool add(double age, const char* plan, double vip, std::vector<double> x, std::int32_t label = 0) {
    Cells cells;
    cells.resize(4);
    cells.values = {age, plan != nullptr ? table.category(1, plan) : missing, vip, x.empty() ? missing : 0};
    cells.blocks[3] = dense_row(x.data(), static_cast<std::int32_t>(x.size()));
    return table.append(cells, label, 1);
  }
  Dataset rows;
  RowTable table;
};

std::vector<double> written(const Encoder& e, const Cells& cells) {
  Encoder::Scratch scratch;
  const FeatureRow x = *e.encode(cells, scratch);
  std::vector<double> out;
  for (std::int32_t j = 0; j < e.width(); ++j) out.push_back(value_at(x, j));
  return out;
}

TEST(Encoder, StandardisesImputesAndTellsMissing) {
  Table t;
  t.add(1, "b", 1, {1, 5});
  t.add(3, "a", 0, {3, 5}, 1);
  t.add(missing, nullptr, 1, {});
  const auto e = t.table.fit(Progress());
  std::vector<std::string> names;
  for (std::int32_t j = 0; j < e->width(); ++j) names.push_back(e->feature_name(j));
  EXPECT_EQ(names, (std::vector<std::string>{"age", "age IS NULL", "plan=a", "plan=b", "plan IS NULL", "vip", "x[1]",
                                             "x[2]", "x IS NULL"}));
  const double deviation = std::sqrt(2.0 / 3);  // of 1, 3 and the mean 2
  Cells cells;
  cells.resize(4);
  const double x[] = {4, 5};
  cells.values = {5, 0, 1, 0};
  cells.blocks[3] = dense_row(x, 2);
  const std::vector<double> expected = {3 / deviation, 0, 1, 0, 0, 1, 2 / deviation, 0, 0}, found = written(*e, cells);
  for (std::size_t j = 0; j < expected.size(); ++j) EXPECT_NEAR(found[j], expected[j], 4e-16 * expected[j]);
  cells.values = {missing, -1, 0, missing};
  EXPECT_EQ(written(*e, cells), (std::vector<double>{0, 1, 0, 0, 0, 0, 0, 0, 1}));
  MemoryBudget memory;
  const auto rows = t.table.encode(*e, Progress(), memory);
  EXPECT_NEAR(value_at(rows->row(0), 0), -1 / deviation, 1e-15);
  EXPECT_EQ(value_at(rows->row(2), 4), 1);
}

TEST(Encoder, HasTheSameBitsInAnyOrderOfRows) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  std::vector<double> values;
  for (int i = 0; i < 1000; ++i) values.push_back(normal(random) * std::exp(10 * normal(random)));
  std::vector<std::vector<double>> found;
  for (int order = 0; order < 5; ++order) {
    Table t;
    for (std::size_t i = 0; i < values.size(); ++i)
      t.add(values[i], i % 3 == 0 ? "a" : "b", 0, {values[i], 1 / values[i]});
    const auto e = t.table.fit(Progress());
    found.push_back(
        {e->columns()[0].fill[0], e->columns()[0].scale[0], e->columns()[3].fill[1], e->columns()[3].scale[1]});
    EXPECT_EQ(found.back(), found.front());
    std::shuffle(values.begin(), values.end(), random);
  }
}

TEST(Encoder, SumsAreAccurate) {
  std::mt19937_64 random(6);
  std::normal_distribution<double> normal(1e6, 1);
  std::vector<double> terms;
  long double exact = 0;
  for (int i = 0; i < 100000; ++i) {
    terms.push_back(normal(random));
    exact += static_cast<long double>(terms.back());
  }
  OrderFreeSum sum;
  const OrderFreeCuts cuts(1.1e6, 100000);
  for (const double v : terms) sum.add(v, cuts);
  EXPECT_NEAR(sum.value(), static_cast<double>(exact), 1e-15 * static_cast<double>(exact));
}

TEST(Encoder, LeavesRowsOutOrRefusesThem) {
  EncoderRules rules;
  rules.missing = Missing::skip;
  Table skipping(rules);
  EXPECT_FALSE(skipping.add(missing, "a", 1, {1}));
  EXPECT_TRUE(skipping.add(1, "a", 1, {1}));
  EXPECT_EQ(skipping.rows.rows(), 1);
  rules.missing = Missing::error;
  Table strict(rules);
  EXPECT_THROW(strict.add(missing, "a", 1, {1}), Error);
  EXPECT_THROW(strict.add(1, nullptr, 1, {1}), Error);
  rules.max_categories = 2;
  Table few(rules);
  few.add(1, "a", 1, {1});
  few.add(1, "b", 1, {1});
  EXPECT_THROW(few.add(1, "c", 1, {1}), Error);
  EXPECT_THROW(few.add(1, "a", 1, {1, 2}), Error);
}

TEST(Encoder, KnowsALabelAmongTheColumns) {
  Table told, chance;
  for (int i = 0; i < 30; ++i) {
    told.add(i, i % 2 == 0 ? "yes" : "no", i % 3 == 0, {1}, i % 2);
    chance.add(i, i == 7 || i % 2 == 0 ? "yes" : "no", i % 3 == 0, {1}, i % 2);
  }
  EXPECT_EQ(told.table.label_column(Progress()), "plan");
  EXPECT_EQ(chance.table.label_column(Progress()), "");
}

TEST(Encoder, ReadsBackWhatItWrote) {
  Table t;
  t.add(0.1, "b", 1, {1, 5});
  t.add(3, "a", 0, {});
  const auto e = t.table.fit(Progress());
  Value value;
  value.data = e->to_value();
  const auto again = Encoder::from_value(value);
  Cells cells;
  cells.resize(4);
  const double x[] = {4, 0.3};
  cells.values = {5, 0, 1, 0};
  cells.blocks[3] = dense_row(x, 2);
  EXPECT_EQ(written(*e, cells), written(*again, cells));
}

/// Every value inside of `value` replaced in turn: refused, or an encoder that works.
void alter(Value& whole, Value& at, int& refused, int& taken) {
  const auto try_it = [&] {
    try {
      const auto e = Encoder::from_value(whole);
      for (std::int32_t j = 0; j < std::min(e->width(), 100); ++j) EXPECT_FALSE(e->feature_name(j).empty());
      ++taken;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::malformed);
      ++refused;
    }
  };
  const Value old = at;
  for (int k = 0; k < 8; ++k) {
    Value other;
    if (k == 1) other.data = -1.0;
    if (k == 2) other.data = std::string("none");
    if (k == 3) other.data = true;
    if (k == 4) other.data = Value::Array{};
    if (k == 5) other.data = Value::Object{};
    if (k == 6) other.data = std::numeric_limits<double>::infinity();
    if (k == 7) other.data = 2147483647.0;
    at = other;
    try_it();
  }
  at = old;
  if (auto* array = std::get_if<Value::Array>(&at.data)) {
    for (std::size_t i = 0; i < array->size(); ++i) alter(whole, (*array)[i], refused, taken);
    array->push_back(Value{});
    try_it();
    array->pop_back();
  } else if (auto* object = std::get_if<Value::Object>(&at.data)) {
    for (auto& [key, item] : *object) alter(whole, item, refused, taken);
  }
}

TEST(Encoder, CountsFeaturesBeyondWhatIndicesReach) {
  const auto sparse = [](const char* name, std::int32_t width, bool missing) {
    Column c{name, "margin_sparse", ColumnKind::sparse};
    c.width = width;
    c.missing = missing;
    return c;
  };
  constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
  const auto encoder = [](std::vector<Column> columns) {
    return Encoder(std::move(columns), Missing::impute, false).width();
  };
  EXPECT_EQ(encoder({sparse("a", most, false)}), most);
  EXPECT_EQ(encoder({sparse("a", most - 1, true)}), most);
  EXPECT_EQ(encoder({sparse("a", 1, false), sparse("b", most - 1, false)}), most);
  EXPECT_THROW(encoder({sparse("a", most, true)}), Error);
  EXPECT_THROW(encoder({sparse("a", most, true), sparse("b", most, true)}), Error);
  EXPECT_THROW(encoder({sparse("a", most, false), sparse("b", 1, false)}), Error);
}

TEST(Encoder, RefusesWhatItDidNotWrite) {
  Table t;
  t.add(0.1, "b", 1, {1, 5});
  t.add(3, "a", 0, {});
  Value value;
  value.data = t.table.fit(Progress())->to_value();
  int refused = 0, taken = 0;
  alter(value, value, refused, taken);
  EXPECT_GT(refused, 200);
  EXPECT_GT(taken, 0);  // another mean, another name
}

}  // namespace
}  // namespace margin
