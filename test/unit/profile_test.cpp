// Profiles: what they say of rows whatever order and parts these come in, and what they make of bytes of others.
#include "core/profile/profile.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "core/base/error.hpp"
#include "core/profile/profile_summary.hpp"

namespace margin {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();

const std::vector<ProfiledColumn> columns = {{"weight", "real", ColumnKind::number},
                                             {"name", "text", ColumnKind::category},
                                             {"x", "real[]", ColumnKind::dense},
                                             {"doc", "jsonb", std::nullopt}};

struct TestRow {
  std::optional<double> weight;
  std::optional<std::string> name;
  std::vector<double> x;  // empty: NULL
  bool doc = true;
};

std::string bytes_of(const TestRow& row) {
  ProfileRow out(profiled_bytes(columns));
  out.begin();  // doc, name, weight, x
  if (row.doc)
    out.counted();
  else
    out.null();
  if (row.name.has_value())
    out.text(*row.name);
  else
    out.null();
  if (row.weight.has_value())
    out.number(*row.weight);
  else
    out.null();
  if (!row.x.empty())
    out.block(dense_row(row.x.data(), static_cast<std::int32_t>(row.x.size())));
  else
    out.null();
  std::string bytes(out.size(), '\0');
  out.write(bytes.data());
  return bytes;
}

std::vector<TestRow> made_rows(std::size_t n, std::uint64_t seed, std::size_t names, double scale) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<TestRow> rows(n);
  for (TestRow& r : rows) {
    if (random() % 10 > 0) r.weight = std::round(scale * normal(random)) / 8;
    if (random() % 50 == 0) r.weight = nan;
    if (random() % 50 == 0) r.weight = -infinity;
    if (random() % 7 > 0) r.name = "n" + std::to_string(random() % names);
    if (random() % 3 > 0) r.x = {normal(random) * 1e300, normal(random) * 1e-300, -0.0};
    r.doc = random() % 2 == 0;
  }
  return rows;
}

Profile profile_of(const std::vector<TestRow>& rows) {
  Profile p;
  for (const TestRow& r : rows) p.add(bytes_of(r), -1);
  return p;
}

ColumnSummary find(Profile& p, const std::string& name, const std::vector<double>& shares = {0.25, 0.5}) {
  for (const ColumnSummary& c : summaries(p, shares, 5))
    if (c.name == name) return c;
  ADD_FAILURE() << name;
  return {};
}

TEST(Profile, CountsAndSums) {
  Profile p = profile_of({{1.0, "a", {1, 2, 3}},
                          {2.0, "b", {4, 6, nan}, false},
                          {{}, "a", {}},
                          {nan, {}, {infinity, 0, 0}},
                          {6.0, "a", {}},
                          {-infinity, "", {}}});
  EXPECT_EQ(p.rows(), 6);
  const ColumnSummary weight = find(p, "weight");
  EXPECT_EQ(weight.count, 5);
  EXPECT_EQ(weight.nulls, 1);
  EXPECT_EQ(weight.nan, 1);
  EXPECT_EQ(weight.infinite, 1);
  EXPECT_EQ(weight.mean, 3.0);
  EXPECT_DOUBLE_EQ(*weight.stddev, std::sqrt(7.0));
  EXPECT_EQ(weight.least, 1.0);
  EXPECT_EQ(weight.largest, 6.0);
  EXPECT_EQ(weight.quantiles, (std::vector<double>{1, 2}));
  EXPECT_EQ(weight.rank_error, 0.0);
  EXPECT_EQ(weight.distinct, 3);
  const ColumnSummary name = find(p, "name");
  EXPECT_EQ(name.count, 5);
  EXPECT_EQ(name.distinct, 3);
  ASSERT_EQ(name.top.size(), 3U);
  EXPECT_EQ(std::get<std::string>(name.top[0].value), "a");
  EXPECT_EQ(name.top[0].count, 3);
  EXPECT_FALSE(name.mean.has_value());
  EXPECT_EQ(find(p, "x[1]").mean, 2.5);
  EXPECT_EQ(find(p, "x[1]").infinite, 1);
  EXPECT_EQ(find(p, "x[3]").mean, 1.5);
  EXPECT_EQ(find(p, "x[2]").nulls, 3);
  EXPECT_EQ(find(p, "doc").count, 5);
}

// Few values and names: then all of it is the same to the last bit.
TEST(Profile, HasTheSameBitsInAnyOrderAndParts) {
  std::vector<TestRow> rows = made_rows(6000, 1, 900, 120);
  const std::string expected = profile_of(rows).bytes();
  std::mt19937_64 random(2);
  for (int trial = 0; trial < 5; ++trial) {
    std::shuffle(rows.begin(), rows.end(), random);
    std::vector<Profile> parts(1 + random() % 20);
    for (const TestRow& r : rows) parts[random() % parts.size()].add(bytes_of(r), -1);
    Profile merged;
    for (Profile& part : parts) {
      if (part.empty()) continue;
      if (random() % 2 == 0)
        merged.merge(part, -1);
      else
        merged.merge(Profile::from_bytes(part.bytes(), -1), -1);
    }
    EXPECT_TRUE(merged.bytes() == expected);
  }
}

// Many values: sums and counts have the same bits, ranks and frequent values are within what is proven of them.
TEST(Profile, KeepsItsPromisesOfManyValues) {
  std::vector<TestRow> rows = made_rows(40000, 3, 20000, 1e9);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].x.clear();
    if (i % 4 == 0) rows[i] = {7.0, "often", {}};
  }
  std::mt19937_64 random(4);
  std::optional<double> mean, stddev;
  for (int trial = 0; trial < 3; ++trial) {
    std::shuffle(rows.begin(), rows.end(), random);
    std::vector<Profile> parts(5);
    for (const TestRow& r : rows) parts[random() % parts.size()].add(bytes_of(r), -1);
    Profile merged;
    for (const Profile& part : parts) merged.merge(part, -1);
    const ColumnSummary weight = find(merged, "weight", {0.1, 0.5, 0.9});
    EXPECT_EQ(weight.mean, mean.value_or(*weight.mean));
    EXPECT_EQ(weight.stddev, stddev.value_or(*weight.stddev));
    mean = weight.mean;
    stddev = weight.stddev;
    std::vector<double> all;
    std::map<std::string, std::int64_t> names;
    for (const TestRow& r : rows) {
      if (r.weight.has_value() && std::isfinite(*r.weight)) all.push_back(*r.weight);
      if (r.name.has_value()) ++names[*r.name];
    }
    std::sort(all.begin(), all.end());
    const auto n = static_cast<double>(all.size());
    EXPECT_LE(*weight.rank_error, 0.01);
    for (std::size_t k = 0; k < 3; ++k) {
      const double share = std::vector<double>{0.1, 0.5, 0.9}[k], v = weight.quantiles[k];
      const auto below = static_cast<double>(std::lower_bound(all.begin(), all.end(), v) - all.begin()) / n,
                 upto = static_cast<double>(std::upper_bound(all.begin(), all.end(), v) - all.begin()) / n;
      EXPECT_LE(below - *weight.rank_error, share);
      EXPECT_GE(upto + *weight.rank_error, share);
    }
    EXPECT_FALSE(weight.distinct.has_value());
    const auto sevens = static_cast<std::int64_t>(std::count(all.begin(), all.end(), 7.0));
    ASSERT_EQ(weight.top.size(), 1U);
    EXPECT_EQ(std::get<double>(weight.top[0].value), 7);
    EXPECT_LE(weight.top[0].count, sevens);
    EXPECT_GE(weight.top[0].count + *weight.missed, sevens);
    EXPECT_LE(*weight.missed, static_cast<std::int64_t>(n / 1025));
    const ColumnSummary name = find(merged, "name");
    ASSERT_EQ(name.top.size(), 1U);
    EXPECT_EQ(std::get<std::string>(name.top[0].value), "often");
    EXPECT_LE(name.top[0].count, names["often"]);
    EXPECT_GE(name.top[0].count + *name.missed, names["often"]);
    EXPECT_LE(*name.missed, name.count / 1025);
  }
}

TEST(Profile, IsBounded) {
  Profile p;
  for (std::size_t i = 0; i < 300000; ++i) {
    std::string name(most_text - 10, 'x');
    p.add(bytes_of({std::fmod(static_cast<double>(i) * 0.6180339887498949, 1.0), name + std::to_string(i), {}}), -1);
  }
  EXPECT_LT(p.memory(), 1.2e6);
  EXPECT_LT(p.bytes().size(), 500000U);
  try {
    Profile wide;
    wide.add(bytes_of({{}, {}, std::vector<double>(1000, 1.0)}), 100000);
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::limit_exceeded);
  }
  try {
    Profile q;
    for (std::size_t i = 0; i < 3000; ++i)
      q.add(bytes_of({static_cast<double>(i), std::string(200, 'x') + std::to_string(i), {}}), 100000);
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::limit_exceeded);
  }
}

TEST(Profile, RefusesOtherColumnsAndLengths) {
  const auto kind = [](auto f) {
    try {
      f();
    } catch (const Error& e) {
      return e.kind();
    }
    return ErrorKind::unsupported;
  };
  Profile p = profile_of({{1.0, "a", {1, 2}}});
  EXPECT_EQ(kind([&] { p.add(bytes_of({1.0, "a", {1, 2, 3}}), -1); }), ErrorKind::wrong_dimensions);
  ProfileRow other(profiled_bytes({{"weight", "integer", ColumnKind::number}}));
  other.begin();
  other.number(1);
  std::string bytes(other.size(), '\0');
  other.write(bytes.data());
  EXPECT_EQ(kind([&] { p.add(bytes, -1); }), ErrorKind::invalid_value);
  Profile q;
  q.add(bytes, -1);
  EXPECT_EQ(kind([&] { p.merge(q, -1); }), ErrorKind::invalid_value);
}

TEST(Profile, ShortensTexts) {
  const std::string a(1000, 'a'), b = std::string(999, 'a') + 'b';
  const std::string_view beginning(a.data(), most_text - 24);
  EXPECT_LE(shortened(a, beginning).size(), most_text);
  EXPECT_NE(shortened(a, beginning), shortened(b, beginning));
  EXPECT_EQ(shortened(a, beginning), shortened(a, beginning));
}

// Whatever the bytes are, they are refused, or a profile that keeps its bytes and can be added up and shown.
TEST(Profile, TakesNothingFromForgedBytes) {
  std::mt19937_64 random(9);
  std::vector<TestRow> rows = made_rows(6000, 5, 3000, 1e7);
  std::vector<std::string> seeds = {bytes_of({1.0, "a", {1, 2}}), bytes_of({}),
                                    profile_of({{1.0, "a", {1, 2}}}).bytes(),
                                    profile_of(made_rows(50, 6, 4, 10)).bytes(), profile_of(rows).bytes()};
  int taken = 0;
  for (int trial = 0; trial < 30000; ++trial) {
    std::string bytes = seeds[trial % 50 == 0 ? 4 : random() % 4];
    const std::size_t changes = 1 + random() % 3;
    for (std::size_t k = 0; k < changes; ++k) {
      const std::size_t at = random() % bytes.size();
      switch (random() % 4) {
        case 0:
          bytes[at] = static_cast<char>(random());
          break;
        case 1:
          bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
          break;
        case 2:
          bytes.resize(at + 1);
          break;
        default:
          bytes.insert(at, std::string(1 + random() % 9, static_cast<char>(random() % 2 == 0 ? 0 : 255)));
      }
    }
    try {
      Profile p = Profile::from_bytes(bytes, -1);
      const std::string again = p.bytes();
      EXPECT_TRUE(Profile::from_bytes(again, -1).bytes() == again);
      Profile twice = Profile::from_bytes(again, -1);
      if (p.rows() <= std::int64_t{1} << 50) twice.merge(p, -1);
      for (const ColumnSummary& c : summaries(twice, {0.0, 0.3, 1.0}, 3))
        if (!c.quantiles.empty()) {
          EXPECT_LE(c.quantiles[0], c.quantiles[1]);
          EXPECT_LE(c.quantiles[1], c.quantiles[2]);
        }
      Profile::from_bytes(twice.bytes(), -1);
      ++taken;
    } catch (const Error& e) {
      EXPECT_TRUE(e.kind() == ErrorKind::malformed || e.kind() == ErrorKind::invalid_value ||
                  e.kind() == ErrorKind::limit_exceeded)
          << e.message();
    }
  }
  EXPECT_GT(taken, 1000);
}

}  // namespace
}  // namespace margin
