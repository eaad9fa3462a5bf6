// Ranks within what is proven of them, and that below 1 %, whatever the values, their order and the merges.
#include "core/math/rank_sketch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <random>

namespace margin {
namespace {

using Item = RankSketch::Item;

std::vector<Item> runs(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  std::vector<Item> out;
  for (const double v : values) {
    if (!out.empty() && out.back().first == v)
      ++out.back().second;
    else
      out.emplace_back(v, 1);
  }
  return out;
}

RankSketch sketch_of(const std::vector<double>& values, std::size_t piece = 2048) {
  RankSketch sketch;
  for (std::size_t from = 0; from < values.size(); from += piece)
    sketch.add(runs({values.begin() + static_cast<std::ptrdiff_t>(from),
                     values.begin() + static_cast<std::ptrdiff_t>(std::min(values.size(), from + piece))}));
  return sketch;
}

/// The largest error of a rank, below and above what is true, over all values.
void expect_within(const RankSketch& sketch, std::vector<double> values, double most) {
  std::sort(values.begin(), values.end());
  const auto n = static_cast<std::int64_t>(values.size());
  ASSERT_EQ(sketch.count(), n);
  EXPECT_LE(static_cast<double>(std::max(sketch.below(), sketch.above())), most * static_cast<double>(n));
  const std::vector<Item> items = sketch.items();
  std::int64_t said = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i + 1 < values.size() && values[i + 1] == values[i]) continue;
    while (at < items.size() && items[at].first <= values[i]) said += items[at++].second;
    const std::int64_t truth = static_cast<std::int64_t>(i) + 1;
    ASSERT_LE(truth, said + sketch.below());
    ASSERT_GE(truth, said - sketch.above());
  }
}

std::vector<double> made(std::size_t n, const std::function<double(std::size_t)>& f) {
  std::vector<double> all(n);
  for (std::size_t i = 0; i < n; ++i) all[i] = f(i);
  return all;
}

TEST(RankSketch, IsWithinOnePercentWhateverTheOrder) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  constexpr std::size_t n = 1000000;
  const std::map<std::string, std::function<double(std::size_t)>> kinds = {
      {"ascending", [](std::size_t i) { return static_cast<double>(i); }},
      {"descending", [](std::size_t i) { return -static_cast<double>(i); }},
      {"zigzag", [](std::size_t i) { return (i % 2 == 0 ? 1.0 : -1.0) * static_cast<double>(i); }},
      {"sawtooth", [](std::size_t i) { return static_cast<double>(i % 1031) + 1e-6 * static_cast<double>(i); }},
      {"normal", [&](std::size_t) { return normal(random); }},
      {"heavy tail", [&](std::size_t) { return std::exp(20 * normal(random)); }},
      {"few of many", [&](std::size_t i) { return i % 3 == 0 ? 0.0 : normal(random); }},
      {"within one part in 2^40", [&](std::size_t) { return 1 + std::ldexp(normal(random), -40); }}};
  for (const auto& [name, f] : kinds) {
    SCOPED_TRACE(name);
    const std::vector<double> values = made(n, f);
    expect_within(sketch_of(values), values, 0.01);
  }
}

// Always between the two values of which one has just been dropped: what hurts most.
TEST(RankSketch, IsWithinOnePercentOfValuesThatAnswerIt) {
  RankSketch sketch;
  std::vector<double> all;
  double low = 0, high = 1;
  for (int round = 0; round < 120; ++round) {
    std::vector<double> values;
    for (int i = 0; i < 2048; ++i) values.push_back(low + (high - low) * (i + 1) / 2049.0);
    sketch.add(runs(values));
    all.insert(all.end(), values.begin(), values.end());
    // Where the sketch is furthest off.
    std::vector<double> sorted = all;
    std::sort(sorted.begin(), sorted.end());
    const std::vector<Item> items = sketch.items();
    std::int64_t said = 0, worst = -1;
    std::size_t at = 0;
    for (std::size_t i = 0; i + 1 < sorted.size(); ++i) {
      while (at < items.size() && items[at].first <= sorted[i]) said += items[at++].second;
      const std::int64_t off = std::abs(said - static_cast<std::int64_t>(i) - 1);
      if (off > worst && std::nextafter(sorted[i], sorted[i + 1]) < sorted[i + 1]) {
        worst = off;
        low = sorted[i];
        high = sorted[i + 1];
      }
    }
  }
  expect_within(sketch, all, 0.01);
}

TEST(RankSketch, MergesInAnyTree) {
  std::mt19937_64 random(5);
  std::vector<double> all;
  std::vector<RankSketch> parts;
  for (int i = 0; i < 300; ++i) {
    std::vector<double> values(1 + random() % 6000);
    for (double& v : values) v = static_cast<double>(random() % 1000000007) / 7;
    parts.push_back(sketch_of(values, 1 + random() % 4000));
    all.insert(all.end(), values.begin(), values.end());
  }
  while (parts.size() > 1) {
    const std::size_t a = random() % parts.size();
    RankSketch one = parts[a];
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(a));
    parts[random() % parts.size()].merge(one);
  }
  expect_within(parts[0], all, 0.01);
}

TEST(RankSketch, CountsByBitsWithoutError) {
  RankSketch sketch;
  sketch.add({{1.5, 1000000007}, {2.5, 1}, {7, (std::int64_t{1} << 52) + 5}});
  EXPECT_EQ(sketch.items(), (std::vector<Item>{{1.5, 1000000007}, {2.5, 1}, {7, (std::int64_t{1} << 52) + 5}}));
  EXPECT_EQ(sketch.below() + sketch.above(), 0);
  EXPECT_EQ(quantile(sketch.items(), sketch.count(), 1e-9), 1.5);
  EXPECT_EQ(quantile(sketch.items(), sketch.count(), 0.5), 7);
}

TEST(RankSketch, IsBounded) {
  RankSketch sketch;
  for (int i = 0; i < 1500; ++i) {
    std::vector<double> values;
    for (int k = 0; k < 2048; ++k) values.push_back(std::fmod((i * 2048.0 + k) * 0.6180339887498949, 1.0));
    sketch.add(runs(values));
  }
  std::size_t held = 0;
  for (const auto& level : sketch.levels()) held += level.size();
  EXPECT_LE(held, 12U * 1024);  // of three million
}

}  // namespace
}  // namespace margin
