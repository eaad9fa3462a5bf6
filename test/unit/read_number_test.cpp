// Numbers read by the C library are those of std::from_chars: the value to the bit, the end, the error.
#include "core/base/read_number.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>

#include "core/base/random.hpp"
#include "core/base/write_number.hpp"

namespace margin {
namespace {

void expect_same(const std::string& text) {
  double expected = 7, found = 7;
  const char* const first = text.data();
  const char* const last = first + text.size();
  const auto a = read_number(first, last, expected), b = read_number_by_strtod(first, last, found);
  EXPECT_EQ(a.ptr - first, b.ptr - first) << text;
  EXPECT_EQ(static_cast<int>(a.ec), static_cast<int>(b.ec)) << text;
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(found)) << text;
  } else {
    EXPECT_EQ(std::memcmp(&expected, &found, sizeof found), 0) << text << ": " << expected << " and " << found;
  }
}

TEST(ReadNumber, edges) {
  for (const char* text : {"",
                           "-",
                           "+1",
                           ".",
                           "-.",
                           ".5",
                           "5.",
                           "-5.e3",
                           "1e",
                           "1e+",
                           "1e-2x",
                           "0x10",
                           " 1",
                           "1 ",
                           "1,5",
                           "--1",
                           "-0",
                           "0e999",
                           "1e308",
                           "1e309",
                           "-1e309",
                           "1e-308",
                           "1e-320",
                           "5e-324",
                           "2e-324",
                           "1e-400",
                           "-1e-400",
                           "0.0e-9",
                           "inf",
                           "-INF",
                           "infi",
                           "infinity",
                           "-Infinityx",
                           "nan",
                           "-NaN",
                           "in",
                           "e5",
                           "1e5e5",
                           "1.2.3",
                           "12345678901234567890123",
                           "0.1",
                           "1e0000000000005",
                           "2.2250738585072014e-308",
                           "2.2250738585072011e-308",
                           "1.7976931348623157e308",
                           "1.7976931348623159e308",
                           "9007199254740993",
                           "0.000000000000000000000000000000000000000000001"})
    expect_same(text);
  expect_same(std::string("1\0", 2) + "2");
}

TEST(ReadNumber, random_text) {
  Random random(29);
  const std::string letters = "0123456789.eE+-";
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (std::size_t i = random.below(12); i > 0; --i) text += letters[random.below(letters.size())];
    expect_same(text);
  }
}

TEST(ReadNumber, what_was_written) {
  Random random(30);
  for (int round = 0; round < 20000; ++round) {
    const std::uint64_t bits = random.next();
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    char text[64];
    expect_same(std::string(text, std::to_chars(text, text + sizeof text, value).ptr));
  }
}

TEST(WriteNumber, is_the_shortest_that_reads_back) {
  EXPECT_EQ(shortest(0.1), "0.1");
  EXPECT_EQ(shortest(-0.0), "-0");
  for (const double v : {1.0 / 3, 5e-324, 1.7976931348623157e308, 123456789.0}) {
    const std::string text = shortest(v);
    double back = 0;
    read_number(text.data(), text.data() + text.size(), back);
    EXPECT_EQ(back, v);
  }
}

}  // namespace
}  // namespace margin
