// Fingerprints of rows: the same for the same rows however they are stored, ordered and split, others for others.
#include "core/data/fingerprint.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace margin {
namespace {

Fingerprint of(const std::vector<double>& x, std::string_view label = "a", double lower = 0, double upper = 0,
               double weight = 1) {
  return fingerprint_of(dense_row(x.data(), static_cast<std::int32_t>(x.size())), label, lower, upper, weight);
}

TEST(Fingerprint, IsOfTheNumbersWhateverTheirStorage) {
  std::mt19937_64 random(7);
  for (int trial = 0; trial < 500; ++trial) {
    const auto d = static_cast<std::int32_t>(random() % (trial < 400 ? 40 : 200));
    std::vector<float> dense(static_cast<std::size_t>(d)), values;
    std::vector<double> wide, wide_values;
    std::vector<std::int32_t> at;
    for (std::int32_t j = 0; j < d; ++j) {
      float& v = dense[static_cast<std::size_t>(j)];
      v = random() % 3 == 0 ? 0.0F : static_cast<float>(random() % 1000) / 8 - 60;
      if (random() % 9 == 0) v = -0.0F;
      wide.push_back(v);
      if (v == 0 && random() % 4 != 0) continue;  // some zeros are stored
      at.push_back(j);
      values.push_back(v);
      wide_values.push_back(v);
    }
    const auto n = static_cast<std::int32_t>(at.size());
    const Fingerprint known = fingerprint_of(dense_row(wide.data(), d), "b", 1, 2, 3);
    EXPECT_EQ(fingerprint_of(dense_row(dense.data(), d), "b", 1, 2, 3), known);
    EXPECT_EQ(fingerprint_of(sparse_row(at.data(), values.data(), n, d), "b", 1, 2, 3), known);
    EXPECT_EQ(fingerprint_of(sparse_row(at.data(), wide_values.data(), n, 0), "b", 1, 2, 3), known);
  }
}

TEST(Fingerprint, EveryBitCounts) {
  const std::vector<double> x = {1, 0, -2.5, 3, 0.1};
  std::vector<Fingerprint> all = {of(x)};
  for (std::size_t j = 0; j < x.size(); ++j)
    for (const double to : {x[j] + 1, -x[j] - 0.5, std::nextafter(x[j], 9.0), 1e-300}) {
      std::vector<double> other = x;
      other[j] = to;
      all.push_back(of(other));
    }
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {  // two numbers change places; one grows by what another loses
      std::vector<double> other = x;
      std::swap(other[i], other[j]);
      all.push_back(of(other));
      other = x;
      other[i] += 0.25;
      other[j] -= 0.25;
      all.push_back(of(other));
    }
  for (const char* const label : {"", "b", "aa", "a longer label than eight bytes", "a longer label than eight bytez"})
    all.push_back(of(x, label));
  all.push_back(of(x, std::string_view("a\0", 2)));
  all.push_back(of(x, "a", 1, 0));
  all.push_back(of(x, "a", 0, 1));
  all.push_back(of(x, "a", 0, 0, 2));
  all.push_back(of({1, 0, -2.5, 3, 0.1, 1}));
  std::set<std::pair<std::uint64_t, std::uint64_t>> distinct;
  for (const Fingerprint& f : all) distinct.insert({f.low, f.high});
  EXPECT_EQ(distinct.size(), all.size());
  // Zeros behind the last number are none: rows of one training are equally long.
  EXPECT_EQ(of({1, 0, -2.5, 3, 0.1, 0, -0.0}), of(x));
}

TEST(Fingerprint, NoTwoOfAMillionRowsAreAlike) {
  std::vector<std::uint64_t> low, high;
  for (int a = 0; a < 100; ++a)
    for (int b = 0; b < 100; ++b)
      for (int c = 0; c < 100; ++c) {
        const Fingerprint f = of({static_cast<double>(a), static_cast<double>(b), static_cast<double>(c)}, "x");
        low.push_back(f.low);
        high.push_back(f.high);
      }
  for (std::vector<std::uint64_t>* const half : {&low, &high}) {
    // Each bit is set in about half of them.
    for (int bit = 0; bit < 64; ++bit) {
      const auto set = std::count_if(half->begin(), half->end(), [&](std::uint64_t h) { return (h >> bit & 1) != 0; });
      EXPECT_NEAR(static_cast<double>(set), 5e5, 5e3) << bit;
    }
    std::sort(half->begin(), half->end());
    EXPECT_EQ(std::adjacent_find(half->begin(), half->end()), half->end());
  }
}

TEST(Fingerprint, SumsDependNeitherOnOrderNorParts) {
  std::vector<std::vector<double>> rows;
  for (int i = 0; i < 1000; ++i) rows.push_back({i * 0.5, i % 7 - 3.0, 1.0 / (i + 1)});
  Fingerprint forward, backward, parts[3], merged;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    forward += of(rows[i]);
    backward += of(rows[rows.size() - 1 - i]);
    parts[i % 3] += of(rows[i]);
  }
  for (const int k : {2, 0, 1}) merged += parts[k];
  EXPECT_EQ(forward, backward);
  EXPECT_EQ(forward, merged);
  Fingerprint twice = forward;  // a row more is another sum, also one that is there already
  twice += of(rows[5]);
  EXPECT_NE(forward, twice);
}

}  // namespace
}  // namespace margin
