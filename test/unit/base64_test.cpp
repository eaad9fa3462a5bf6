#include "core/base/base64.hpp"

#include <gtest/gtest.h>

#include <string>

#include "core/base/random.hpp"

namespace margin {
namespace {

std::string encoded(const std::string& bytes) {
  std::string text(base64_size(bytes.size()), '\0');
  write_base64(bytes.data(), bytes.size(), text.data());
  return text;
}

std::string decoded(const std::string& text) {
  std::string bytes(base64_bytes(text), '\0');
  EXPECT_EQ(read_base64(text, bytes.data()), text.size());
  return bytes;
}

// RFC 4648, Section 10.
TEST(Base64, OfTheStandard) {
  const std::pair<std::string, std::string> known[] = {{"", ""},
                                                       {"f", "Zg=="},
                                                       {"fo", "Zm8="},
                                                       {"foo", "Zm9v"},
                                                       {"foob", "Zm9vYg=="},
                                                       {"fooba", "Zm9vYmE="},
                                                       {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : known) {
    EXPECT_EQ(encoded(bytes), text);
    EXPECT_EQ(decoded(text), bytes);
  }
}

TEST(Base64, BackAgain) {
  Random random(1);
  for (std::size_t size = 0; size < 200; ++size) {
    std::string bytes;
    for (std::size_t k = 0; k < size; ++k) bytes += static_cast<char>(random.next() >> 56);
    EXPECT_EQ(decoded(encoded(bytes)), bytes);
  }
}

TEST(Base64, SaysWhereItIsNone) {
  char room[16];
  const std::pair<std::string, std::size_t> wrong[] = {{"Zm9v!m9v", 4}, {"Zm9vZ\nFy", 5}, {"Zg==Zm9v", 2},
                                                       {"=m9v", 0},     {"Z===", 1},      {"Zh==", 1},
                                                       {"Zm9=", 2},     {"====", 0},      {"Zm9\xff", 3}};
  for (const auto& [text, at] : wrong) EXPECT_EQ(read_base64(text, room), at) << text;
}

}  // namespace
}  // namespace margin
