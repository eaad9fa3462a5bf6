// A range says the same to users, in errors and in the check.
#include "core/options/setting.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace margin {
namespace {

constexpr double no_end = std::numeric_limits<double>::infinity();

std::string refusal(const Setting& setting, const Value& value) {
  Options options;
  try {
    setting.set(options, "key", value);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(Setting, writes_numbers_as_people_do) {
  const std::pair<double, const char*> numbers[] = {
      {0, "0"},      {0.001, "0.001"}, {1, "1"},         {100, "100"},     {1000, "1000"}, {1e5, "10^5"},
      {1e6, "10^6"}, {1e15, "10^15"},  {0x1p53, "2^53"}, {1e150, "1e150"}, {0.25, "0.25"}, {1e-150, "1e-150"}};
  for (const auto& [x, words] : numbers) EXPECT_EQ(written(x), words);
}

TEST(Setting, says_each_range_as_it_checks_it) {
  struct {
    Range range;
    const char *values, *expected;
    std::vector<double> in, out;
  } const cases[] = {
      {{1, 1e15, nullptr, false, false, false, true},
       "1 to 10^15",
       "a whole number from 1 to 10^15",
       {1, 7, 1e15},
       {0, 1.5, 2e15}},
      {{0, no_end}, "0 or more", "a number of 0 or more", {0, 0.5, 1e300}, {-1e-9}},
      {{0, no_end, nullptr, true}, "above 0", "a positive number", {1e-300, 3}, {0, -1}},
      {{0, no_end, nullptr, true, false, false, true}, "above 0", "a positive whole number", {1, 3}, {0, 0.5}},
      {{2, no_end, nullptr, true}, "above 2", "a number above 2", {2.5}, {2}},
      {{0, 1, "t", false, true}, "0 <= t < 1", "a number of at least 0 and below 1", {0, 0.9}, {1, -0.1}},
      {{0, 1, "nu", true}, "0 < nu <= 1", "a number above 0 and at most 1", {1, 0.1}, {0, 1.1}},
      {{0, 1, "tau", true, true}, "0 < tau < 1", "a number between 0 and 1", {0.5}, {0, 1}},
      {{1e-300, 1e300, nullptr, false, false, true},
       "0, or 1e-300 to 1e300",
       "0 or a number from 1e-300 to 1e300",
       {0, 1e-300, 1},
       {1e-301, -1, 1e301}},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(c.range.values(), c.values);
    EXPECT_EQ(c.range.expected(), c.expected);
    for (const double x : c.in) EXPECT_TRUE(c.range.has(x)) << c.expected << ": " << x;
    for (const double x : c.out) EXPECT_FALSE(c.range.has(x)) << c.expected << ": " << x;
  }
}

TEST(Setting, takes_its_type_from_the_member) {
  EXPECT_EQ(setting::number_in(&Options::tolerance, {0, 1}).type, "double precision");
  EXPECT_EQ(setting::number_in(&Options::max_iterations, {1, 9}).type, "bigint");
  EXPECT_EQ(setting::number_in(&Options::width, {1, 9}).type, "integer");
  EXPECT_NE(refusal(setting::number_in(&Options::width, {1, 9}), {2.5}), "");  // whole, though nobody said so
  EXPECT_EQ(setting::number_in(&Options::width, {1, 9}).fallback, "1024");
  EXPECT_EQ(setting::number_in(&Options::max_iterations, {1, 9}).fallback, "");  // none that it knows
  EXPECT_EQ(setting::flag(&Options::history).fallback, "false");
}

TEST(Setting, names_its_choices) {
  const Setting order = setting::one_of<Order>(
      &Options::order,
      {{"cyclic", Order::cyclic}, {"permutation", Order::permutation, "a fresh one"}, {"random", Order::random}});
  EXPECT_EQ(order.values, "cyclic, permutation (a fresh one), random");
  EXPECT_EQ(order.fallback, "permutation");
  EXPECT_EQ(refusal(order, {std::string("sorted")}),
            "option \"key\" must be 'cyclic', 'permutation' or 'random', not \"sorted\"");
  Options options;
  order.set(options, "key", {std::string("cyclic")});
  EXPECT_EQ(options.order, Order::cyclic);
}

TEST(Setting, refuses_what_is_no_number) {
  const Setting tolerance = setting::number_in(&Options::tolerance, {0, 1, "t", false, true});
  for (const Value& v : {Value{true}, Value{std::string("1")}, Value{NAN}, Value{HUGE_VAL}, Value{1.0}})
    EXPECT_NE(refusal(tolerance, v), "");
  EXPECT_EQ(refusal(tolerance, {0.5}), "");
}

}  // namespace
}  // namespace margin
