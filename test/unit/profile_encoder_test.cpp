// The encoder of a profile is that of the rows; what a profile does not tell is refused.
#include "core/profile/profile_encoder.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "core/base/error.hpp"
#include "core/encoder/row_table.hpp"

namespace margin {
namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

const std::vector<ProfiledColumn> profiled = {{"age", "integer", ColumnKind::number},
                                              {"plan", "text", ColumnKind::category},
                                              {"since", "date", ColumnKind::date},
                                              {"vip", "boolean", ColumnKind::boolean},
                                              {"x", "real[]", ColumnKind::dense}};

struct TestRow {
  double age = 0;
  std::string plan = {};  // empty: NULL
  double since = 0, vip = 0;
  std::vector<double> x = {1, 2};
};

void add(Profile& profile, const std::vector<ProfiledColumn>& columns, const std::function<void(ProfileRow&)>& write) {
  ProfileRow out(profiled_bytes(columns));
  out.begin();
  write(out);
  std::string bytes(out.size(), '\0');
  out.write(bytes.data());
  profile.add(bytes, -1);
}

Profile profile_of(const std::vector<TestRow>& rows) {
  Profile profile;
  const auto number = [](ProfileRow& out, double v) { std::isnan(v) ? out.null() : out.number(v); };
  for (const TestRow& r : rows)
    add(profile, profiled, [&](ProfileRow& out) {
      number(out, r.age);
      r.plan.empty() ? out.null() : out.text(r.plan);
      number(out, r.since);
      number(out, r.vip);
      r.x.empty() ? out.null() : out.block(dense_row(r.x.data(), static_cast<std::int32_t>(r.x.size())));
    });
  return profile;
}

std::shared_ptr<const Encoder> encoder_of_rows(const std::vector<TestRow>& rows, const EncoderRules& rules) {
  Dataset data(Dataset::Outcome::targets);
  std::vector<Column> columns;
  for (const ProfiledColumn& c : profiled) columns.push_back({c.name, c.type, *c.kind});
  RowTable table(columns, rules, data, std::pmr::get_default_resource());
  double label = 0;
  for (const TestRow& r : rows) {
    Cells cells;
    cells.resize(profiled.size());
    cells.values = {r.age, r.plan.empty() ? missing : table.category(1, r.plan), r.since, r.vip,
                    r.x.empty() ? missing : 0};
    cells.blocks[4] = dense_row(r.x.data(), static_cast<std::int32_t>(r.x.size()));
    table.append(cells, label += 1, 1);
  }
  return table.fit(Progress());
}

std::vector<TestRow> made_rows(std::size_t n, int ages) {
  std::mt19937_64 random(7);
  std::vector<TestRow> rows(n);
  for (TestRow& r : rows) {
    const auto u = random();
    r.age = u % 11 == 0 ? missing : static_cast<double>(u % static_cast<unsigned>(ages)) * 0.1;
    r.plan = u % 7 == 0 ? "" : std::string(1, static_cast<char>('a' + u % 5));
    r.since = 20000 + static_cast<double>(u % 97);
    r.vip = static_cast<double>(u % 2);
    r.x = u % 13 == 0 ? std::vector<double>{} : std::vector<double>{static_cast<double>(u % 1000), 5};
  }
  return rows;
}

void expect_near(const std::vector<double>& a, const std::vector<double>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t k = 0; k < a.size(); ++k) EXPECT_NEAR(a[k], b[k], 1e-14 * (1 + std::fabs(b[k])));
}

void expect_same(const Encoder& found, const Encoder& expected) {
  ASSERT_EQ(found.columns().size(), expected.columns().size());
  for (std::size_t j = 0; j < found.columns().size(); ++j) {
    const Column &a = found.columns()[j], &b = expected.columns()[j];
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.type, b.type);
    EXPECT_EQ(a.missing, b.missing) << a.name;
    EXPECT_EQ(a.base, b.base) << a.name;
    EXPECT_EQ(a.categories, b.categories);
    EXPECT_EQ(a.thresholds, b.thresholds);
    EXPECT_EQ(a.width, b.width);
    expect_near(a.fill, b.fill);
    expect_near(a.center, b.center);
    expect_near(a.scale, b.scale);
    EXPECT_NEAR(a.spread->missing, b.spread->missing, 1e-14);
    expect_near(a.spread->mean, b.spread->mean);
    expect_near(a.spread->deviation, b.spread->deviation);
  }
}

TEST(ProfileEncoder, IsThatOfTheRows) {
  const std::vector<TestRow> rows = made_rows(5000, 700);
  EncoderRules plain, cut, one, reference, raw;
  cut.bins = {16};
  one.bins = {8, {{"since", 0}}};
  reference.reference = true;
  reference.references = {{"plan", "c"}};
  raw.standardize = false;
  raw.offset = "since";
  raw.missing = Missing::impute;
  for (const EncoderRules& rules : {plain, cut, one, reference, raw}) {
    Profile profile = profile_of(rows);
    expect_same(*encoder_of(profile, rules, "", false, Progress()), *encoder_of_rows(rows, rules));
  }
}

TEST(ProfileEncoder, CutsTheColumnsThatAreNamed) {
  const std::vector<TestRow> rows = made_rows(5000, 700);
  for (const bool by_profile : {false, true}) {
    const auto made = [&](const Bins& bins) {
      EncoderRules rules;
      rules.bins = bins;
      if (!by_profile) return encoder_of_rows(rows, rules);
      Profile profile = profile_of(rows);
      return std::shared_ptr<const Encoder>(encoder_of(profile, rules, "", false, Progress()));
    };
    const auto cut = made({8, {{"age", 32}, {"since", 0}}})->columns(), one = made({0, {{"since", 4}}})->columns();
    EXPECT_EQ(cut[0].thresholds.size(), 31U);
    EXPECT_TRUE(cut[2].thresholds.empty());
    EXPECT_TRUE(one[0].thresholds.empty());
    EXPECT_EQ(one[2].thresholds.size(), 3U);
    for (const char* const wrong : {"plan", "vip", "x", "height"}) {
      try {
        made({8, {{wrong, 4}}});
        ADD_FAILURE() << wrong;
      } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::invalid_option);
        EXPECT_EQ(e.what(),
                  "option \"bins\" names the column \"" + std::string(wrong) + "\", which is no column of numbers");
      }
    }
  }
}

TEST(ProfileEncoder, KnowsColumnsThatAreEmptyOrConstant) {
  std::vector<TestRow> rows(50);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = {missing, "", 0.1, 1, {}};
  Profile profile = profile_of(rows);
  expect_same(*encoder_of(profile, {}, "", false, Progress()), *encoder_of_rows(rows, {}));
}

TEST(ProfileEncoder, CutsManyValuesWhereTheSketchHasThem) {
  const std::vector<TestRow> rows = made_rows(60000, 50000);
  EncoderRules rules;
  rules.bins = {16};
  Profile profile = profile_of(rows);
  const auto found = encoder_of(profile, rules, "", false, Progress());
  const auto exact = encoder_of_rows(rows, rules);
  const Column &a = found->columns()[0], &b = exact->columns()[0];
  ASSERT_EQ(a.thresholds.size(), b.thresholds.size());
  for (std::size_t k = 0; k < a.thresholds.size(); ++k) {
    EXPECT_NEAR(a.thresholds[k], b.thresholds[k], 0.02 * 5000);  // 1 % of the ranks on either side, of even numbers
    EXPECT_NEAR(a.spread->mean[k], b.spread->mean[k], 0.02);
  }
}

TEST(ProfileEncoder, TakesTheUnitOfALabelThatIsNoFeature) {
  const std::vector<TestRow> rows = made_rows(5000, 700);
  Profile profile = profile_of(rows);
  const auto encoder = encoder_of(profile, {}, "since", true, Progress());
  EXPECT_EQ(encoder->columns().size(), 4U);
  double mean = 0, square = 0;
  for (const TestRow& r : rows) mean += r.since / 5000;
  for (const TestRow& r : rows) square += (r.since - mean) * (r.since - mean) / 5000;
  EXPECT_NEAR(*encoder->label_unit(), std::sqrt(square), 1e-9);
  EXPECT_FALSE(encoder_of(profile, {}, "since", false, Progress())->label_unit().has_value());
  EncoderRules raw;
  raw.standardize = false;
  EXPECT_FALSE(encoder_of(profile, raw, "since", true, Progress())->label_unit().has_value());
}

/// The kind of the error, and a word of it.
void expect_refused(Profile& profile, const EncoderRules& rules, const std::string& label, ErrorKind kind,
                    const std::string& word) {
  try {
    encoder_of(profile, rules, label, true, Progress());
    ADD_FAILURE() << "expected an error about " << word;
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), kind) << e.message();
    EXPECT_NE((e.message() + e.hint()).find(word), std::string::npos) << e.message() << e.hint();
  }
}

TEST(ProfileEncoder, RefusesWhatAProfileDoesNotTell) {
  Profile profile = profile_of(made_rows(200, 70));
  EncoderRules rules;
  rules.missing = Missing::skip;
  expect_refused(profile, rules, "", ErrorKind::unsupported, "IS NOT NULL");
  rules.missing = Missing::error;
  expect_refused(profile, rules, "", ErrorKind::null_value, "age");
  rules = {};
  rules.max_categories = 4;
  expect_refused(profile, rules, "", ErrorKind::invalid_value, "more than 4 categories");
  rules = {};
  rules.drop_collinear = true;
  expect_refused(profile, rules, "", ErrorKind::unsupported, "collinear");
  rules = {};
  rules.interactions.named = {"age*vip"};
  expect_refused(profile, rules, "", ErrorKind::unsupported, "interactions");
  rules.interactions = {};
  rules.interactions.chosen = true;
  expect_refused(profile, rules, "", ErrorKind::unsupported, "interactions");
  rules = {};
  rules.exclude = {"agee"};
  expect_refused(profile, rules, "", ErrorKind::invalid_option, "agee");
  rules.exclude = {"age", "plan", "since", "vip", "x"};
  expect_refused(profile, rules, "", ErrorKind::wrong_type, "no column that is a feature");
  expect_refused(profile, {}, "none", ErrorKind::invalid_option, "none");
  expect_refused(profile, {}, "plan", ErrorKind::wrong_type, "plan");
  rules = {};
  rules.offset = "age";
  expect_refused(profile, rules, "since", ErrorKind::unsupported, "offset");
}

TEST(ProfileEncoder, RefusesColumnsThatAreNoFeatures) {
  const std::vector<ProfiledColumn> columns = {{"doc", "json", std::nullopt},
                                               {"mood", "mood", ColumnKind::category},
                                               {"v", "margin_sparse", ColumnKind::sparse},
                                               {"x", "real", ColumnKind::number}};
  Profile profile;
  const auto row = [&](double x, const std::string& mood) {
    add(profile, columns, [&](ProfileRow& out) {
      out.counted();
      mood.size() <= most_text ? out.text(mood) : out.text(shortened(mood, mood.substr(0, 232)));
      out.counted();
      out.number(x);
    });
  };
  row(1, "sad");
  EncoderRules rules;
  rules.exclude = {"v"};
  expect_refused(profile, rules, "", ErrorKind::wrong_type, "json");
  rules.exclude = {"doc"};
  expect_refused(profile, rules, "", ErrorKind::unsupported, "\"v\"");
  rules.exclude = {"doc", "v"};
  rules.reference = true;
  expect_refused(profile, rules, "", ErrorKind::unsupported, "order");
  rules.references = {{"mood", "sad"}};
  EXPECT_EQ(encoder_of(profile, rules, "", false, Progress())->width(), 1);
  row(std::numeric_limits<double>::infinity(), std::string(300, 'a'));
  EncoderRules numbers;
  numbers.exclude = {"doc", "v", "mood"};
  expect_refused(profile, numbers, "", ErrorKind::invalid_value, "infinite");
  rules.exclude.emplace_back("x");
  expect_refused(profile, rules, "", ErrorKind::unsupported, "256 bytes");
  for (int i = 0; i < 2000; ++i) row(1, std::to_string(i));
  rules.max_categories = 5000;
  expect_refused(profile, rules, "", ErrorKind::invalid_value, "1024 categories");
}

}  // namespace
}  // namespace margin
