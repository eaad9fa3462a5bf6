// Columns that are sets: their rows, what an encoder makes of them, and what a profile counts.
#include "core/encoder/set_cell.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "core/base/error.hpp"
#include "core/encoder/row_table.hpp"
#include "core/profile/profile_encoder.hpp"

namespace margin {
namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

using Tags = std::optional<std::vector<std::string>>;

struct TaggedRow {
  double age;
  Tags tags;
};

std::vector<Column> tagged_columns() {
  return {{"age", "integer", ColumnKind::number}, {"tags", "text[]", ColumnKind::set}};
}

struct Tagged {
  explicit Tagged(const EncoderRules& rules = {})
      : rows(Dataset::Outcome::targets), table(tagged_columns(), rules, rows, std::pmr::get_default_resource()) {}
  void add(const TaggedRow& r, double weight = 1) {
    SetCell set;
    Cells cells;
    cells.resize(2);
    cells.values = {r.age, r.tags.has_value() ? 0 : missing};
    for (const std::string& tag : r.tags.value_or(std::vector<std::string>()))
      set.add(static_cast<std::int32_t>(table.category(1, tag)));
    cells.blocks[1] = set.row();
    table.append(cells, r.age, weight);
  }
  Dataset rows;
  RowTable table;
};

std::vector<double> written(const Encoder& e, const TaggedRow& r) {
  SetCell set;
  Cells cells;
  cells.resize(2);
  cells.values = {r.age, r.tags.has_value() ? 0 : missing};
  for (const std::string& tag : r.tags.value_or(std::vector<std::string>())) set.add(e.category(1, tag));
  cells.blocks[1] = set.row();
  Encoder::Scratch scratch;
  const FeatureRow x = *e.encode(cells, scratch);
  std::vector<double> out;
  for (std::int32_t j = 0; j < e.width(); ++j) out.push_back(value_at(x, j));
  return out;
}

std::vector<std::string> names_of(const Encoder& e) {
  std::vector<std::string> names;
  for (std::int32_t j = 0; j < e.width(); ++j) names.push_back(e.feature_name(j));
  return names;
}

std::vector<TaggedRow> made_rows(std::size_t n, bool gaps) {
  std::mt19937_64 random(3);
  std::vector<TaggedRow> rows(n);
  for (TaggedRow& r : rows) {
    r.age = static_cast<double>(random() % 60);
    if (gaps && random() % 5 == 0) continue;
    r.tags.emplace();
    for (std::uint64_t k = random() % 5; k > 0; --k)
      r.tags->push_back(std::string(1, static_cast<char>('a' + random() % 9)));
  }
  return rows;
}

TEST(SetCell, HasEachElementOnceInOrder) {
  std::mt19937_64 random(1);
  SetCell cell;
  for (int round = 0; round < 3; ++round) {
    cell.clear();
    std::set<std::int32_t> expected;
    for (int i = 0; i < 5000; ++i) {
      const auto number = static_cast<std::int32_t>(random() % 700) - 3;
      cell.add(number);
      if (number >= 0) expected.insert(number);
    }
    const FeatureRow x = cell.row();
    EXPECT_EQ(std::vector<std::int32_t>(x.indices, x.indices + x.count),
              std::vector<std::int32_t>(expected.begin(), expected.end()));
    for (std::int32_t k = 0; k < x.count; ++k) EXPECT_EQ(x.value(k), 1);
  }
  cell.clear();
  EXPECT_EQ(cell.row().count, 0);
  EXPECT_NE(cell.row().indices, nullptr);
}

TEST(SetCell, IsAnIndicatorForEachElement) {
  Tagged t;
  t.add({1, Tags({"sql", "c", "sql"})});
  t.add({2, std::nullopt});
  t.add({3, Tags({""})});
  t.add({3, Tags(std::in_place)});
  const auto e = t.table.fit(Progress());
  EXPECT_EQ(names_of(*e), (std::vector<std::string>{"age", "tags: ", "tags: c", "tags: sql", "tags IS NULL"}));
  EXPECT_EQ(e->columns()[1].spread->mean, (std::vector<double>{0.25, 0.25, 0.25}));
  EXPECT_EQ(e->mean(2), 0.25);
  EXPECT_EQ(e->mean(4), 0.25);
  const auto tail = [](std::vector<double> x) { return std::vector<double>(x.begin() + 1, x.end()); };
  EXPECT_EQ(tail(written(*e, {1, Tags({"sql", "", "sql", "unknown"})})), (std::vector<double>{1, 0, 1, 0}));
  EXPECT_EQ(tail(written(*e, {1, Tags(std::in_place)})), (std::vector<double>{0, 0, 0, 0}));
  EXPECT_EQ(tail(written(*e, {1, std::nullopt})), (std::vector<double>{0, 0, 0, 1}));
  MemoryBudget memory;
  const auto rows = t.table.encode(*e, Progress(), memory);
  EXPECT_EQ(value_at(rows->row(0), 2), 1);
  EXPECT_EQ(value_at(rows->row(0), 3), 1);
  EXPECT_EQ(value_at(rows->row(1), 4), 1);
  EXPECT_EQ(value_at(rows->row(2), 1), 1);
  try {
    e->require_known(1, "perl");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid_value);
  }
}

TEST(SetCell, TakesTheSharesForAMissingSetThatTrainingHadNot) {
  EncoderRules rules;
  rules.missing = Missing::impute;
  rules.reference = true;  // which sets have none of
  Tagged t(rules);
  t.add({1, Tags({"a", "b"})});
  t.add({2, Tags({"b"})}, 3);
  const auto e = t.table.fit(Progress());
  EXPECT_EQ(e->columns()[1].base, -1);
  const std::vector<double> x = written(*e, {1, std::nullopt});
  EXPECT_EQ(x[1], 0.25);
  EXPECT_EQ(x[2], 1);
}

TEST(SetCell, ReadsBackWhatItWrote) {
  Tagged t;
  const std::vector<TaggedRow> rows = made_rows(200, true);
  for (const TaggedRow& r : rows) t.add(r);
  const auto e = t.table.fit(Progress());
  Value value;
  value.data = e->to_value();
  auto& object = std::get<Value::Object>(value.data);
  EXPECT_EQ(std::get<double>(object["version"].data), 3);
  const auto again = Encoder::from_value(value);
  for (const TaggedRow& r : rows) EXPECT_EQ(written(*e, r), written(*again, r));
  auto& column = std::get<Value::Object>(std::get<Value::Array>(object["columns"].data)[1].data);
  const auto refused = [&] {
    try {
      Encoder::from_value(value);
    } catch (const Error& error) {
      return error.kind() == ErrorKind::malformed;
    }
    return false;
  };
  const Value::Object whole = column;
  column.erase("spread");
  EXPECT_TRUE(refused());
  column = whole;
  column["width"].data = 3.0;
  EXPECT_TRUE(refused());
  column = whole;
  column["reference"].data = true;
  EXPECT_TRUE(refused());
  column = whole;
  EXPECT_FALSE(refused());
  object["version"].data = 2.0;
  EXPECT_TRUE(refused());
}

TEST(SetCell, HasFewEntriesInWideRows) {
  Tagged t;
  for (int i = 0; i < 300; ++i) t.add({static_cast<double>(i % 3), Tags({"t" + std::to_string(i), "u"})});
  EXPECT_TRUE(t.table.fit(Progress())->sparse());
  Tagged full;
  std::vector<std::string> all(200);
  for (std::size_t k = 0; k < all.size(); ++k) all[k] = "t" + std::to_string(k);
  for (int i = 0; i < 3; ++i) full.add({static_cast<double>(i), all});
  EXPECT_FALSE(full.table.fit(Progress())->sparse());
}

TEST(SetCell, HasTheSameEncoderOfAProfile) {
  const std::vector<TaggedRow> rows = made_rows(2000, true);
  const std::string columns =
      profiled_bytes({{"age", "integer", ColumnKind::number}, {"tags", "text[]", ColumnKind::set}});
  ProfileRow row(columns);
  Profile parts[2];
  Tagged t;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    t.add(rows[i]);
    row.begin();
    row.number(rows[i].age);
    if (rows[i].tags.has_value()) {
      const std::set<std::string> once(rows[i].tags->begin(), rows[i].tags->end());
      row.set({once.begin(), once.end()});
    } else {
      row.null();
    }
    std::string bytes(row.size(), '\0');
    row.write(bytes.data());
    parts[i % 2].add(bytes, -1);
  }
  parts[0].merge(parts[1], -1);
  Profile whole = Profile::from_bytes(parts[0].bytes(), -1);
  EXPECT_EQ(whole.bytes(), parts[0].bytes());
  const auto of_profile = encoder_of(whole, EncoderRules(), "", false, Progress());
  const auto of_rows = t.table.fit(Progress());
  const Column &a = of_profile->columns()[1], &b = of_rows->columns()[1];
  EXPECT_EQ(a.categories, b.categories);
  EXPECT_EQ(a.missing, b.missing);
  ASSERT_EQ(a.spread->mean.size(), b.spread->mean.size());
  for (std::size_t k = 0; k < a.spread->mean.size(); ++k) EXPECT_NEAR(a.spread->mean[k], b.spread->mean[k], 1e-15);
}

TEST(SetCell, ProfilesRefuseForgedSets) {
  const std::string columns = profiled_bytes({{"tags", "text[]", ColumnKind::set}});
  ProfileRow row(columns);
  const auto refused = [&](const std::vector<std::string>& elements) {
    row.begin();
    row.set(elements);
    std::string bytes(row.size(), '\0');
    row.write(bytes.data());
    try {
      Profile().add(bytes, -1);
    } catch (const Error& error) {
      return error.kind() == ErrorKind::malformed;
    }
    return false;
  };
  EXPECT_FALSE(refused({"", "a", "b"}));
  EXPECT_TRUE(refused({"b", "a"}));
  EXPECT_TRUE(refused({"a", "a"}));
  EXPECT_TRUE(refused({std::string(most_text + 1, 'a')}));
  Profile profile;
  row.begin();
  row.set({"a", "b"});
  std::string bytes(row.size(), '\0');
  row.write(bytes.data());
  profile.add(bytes, -1);
  const std::string whole = profile.bytes();
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (const char c : {'\0', '\1', '\7', '\xff'}) {
      std::string forged = whole;
      forged[at] = c;
      try {
        Profile::from_bytes(forged, 1e8).bytes();
      } catch (const Error& error) {
        EXPECT_TRUE(error.kind() == ErrorKind::malformed || error.kind() == ErrorKind::limit_exceeded);
      }
    }
}

}  // namespace
}  // namespace margin
