// pgvector's types from bytes made by hand.
#include "core/data/pgvector_layout.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "core/base/error.hpp"

namespace margin {
namespace {

template <class... T>
std::string bytes_of(T... parts) {
  std::string out;
  (out.append(reinterpret_cast<const char*>(&parts), sizeof parts), ...);
  return out;
}
std::int16_t i16(int v) { return static_cast<std::int16_t>(v); }
std::uint16_t u16(int v) { return static_cast<std::uint16_t>(v); }

TEST(Pgvector, vector) {
  const std::string bytes = bytes_of(i16(3), i16(0), 0.5F, -2.0F, 1e30F);
  const FeatureRow x = read_vector(bytes);
  EXPECT_EQ(x.dimensions, 3);
  EXPECT_EQ(x.count, 3);
  EXPECT_EQ(x.indices, nullptr);
  EXPECT_EQ(x.value(0), 0.5);
  EXPECT_EQ(x.value(1), -2);
  EXPECT_EQ(x.value(2), 1e30F);
  for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_THROW(read_vector(bytes.substr(0, size)), Error);
  EXPECT_THROW(read_vector(bytes + "x"), Error);
  EXPECT_THROW(read_vector(bytes_of(i16(0), i16(0))), Error);
  EXPECT_THROW(read_vector(bytes_of(i16(-1), i16(0))), Error);
}

TEST(Pgvector, halfvec) {
  const std::string bytes = bytes_of(i16(4), i16(0), u16(0x3800), u16(0xC000), u16(0x7BFF), u16(0x0001));
  float to[4];
  ASSERT_EQ(halfvec_dimensions(bytes), 4);
  const FeatureRow x = read_halfvec(bytes, to);
  EXPECT_EQ(x.dimensions, 4);
  EXPECT_EQ(x.value(0), 0.5);
  EXPECT_EQ(x.value(1), -2);
  EXPECT_EQ(x.value(2), 65504);
  EXPECT_EQ(x.value(3), std::ldexp(1.0, -24));
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(halfvec_dimensions(bytes.substr(0, size)), Error);
}

TEST(Pgvector, every_half) {
  for (int bits = 0; bits < 65536; ++bits) {
    const int sign = bits >> 15, exponent = bits >> 10 & 31, fraction = bits & 1023;
    const float value = half_to_float(u16(bits));
    EXPECT_EQ(std::signbit(value), sign == 1);
    if (exponent == 31 && fraction != 0)
      EXPECT_TRUE(std::isnan(value));
    else if (exponent == 31)
      EXPECT_TRUE(std::isinf(value));
    else
      EXPECT_EQ(std::fabs(value),
                exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25));
  }
}

TEST(Pgvector, sparsevec) {
  const std::string bytes =
      bytes_of(std::int32_t{9}, std::int32_t{2}, std::int32_t{0}, std::int32_t{0}, std::int32_t{8}, 0.5F, 2.0F);
  const FeatureRow x = read_sparsevec(bytes);
  EXPECT_EQ(x.dimensions, 9);
  EXPECT_EQ(x.count, 2);
  EXPECT_EQ(x.indices[1], 8);
  EXPECT_EQ(x.value(1), 2);
  EXPECT_EQ(read_sparsevec(bytes_of(std::int32_t{9}, std::int32_t{0}, std::int32_t{0})).count, 0);
  for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_THROW(read_sparsevec(bytes.substr(0, size)), Error);
  auto with = [](std::int32_t dimensions, std::int32_t count, std::int32_t first, std::int32_t second) {
    const std::string made = bytes_of(dimensions, count, std::int32_t{0}, first, second, 1.0F, 1.0F);
    try {
      read_sparsevec(made);
    } catch (const Error& e) {
      return e.kind() == ErrorKind::malformed_binary;
    }
    return false;
  };
  EXPECT_FALSE(with(9, 2, 0, 8));
  EXPECT_TRUE(with(9, 2, 0, 9));
  EXPECT_TRUE(with(9, 2, -1, 8));
  EXPECT_TRUE(with(9, 2, 8, 8));
  EXPECT_TRUE(with(9, 2, 8, 0));
  EXPECT_TRUE(with(0, 2, 0, 1));
  EXPECT_TRUE(with(9, -2, 0, 1));
  EXPECT_TRUE(with(9, 3, 0, 1));
}

}  // namespace
}  // namespace margin
