#include "core/math/rank_sketch.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace margin {

namespace {

std::size_t room(std::size_t levels) { return levels <= 16 ? 1024 : RankSketch::most_of_a_level; }

}  // namespace

void RankSketch::take(std::size_t level, const std::vector<double>& values) {
  if (values.empty()) return;
  if (levels_.size() <= level) levels_.resize(level + 1);
  std::vector<double>& all = levels_[level];
  const auto middle = static_cast<std::ptrdiff_t>(all.size());
  all.insert(all.end(), values.begin(), values.end());
  std::inplace_merge(all.begin(), all.begin() + middle, all.end());
}

void RankSketch::thin() {
  for (std::size_t h = 0; h < levels_.size(); ++h) {
    if (levels_[h].size() < room(levels_.size())) continue;
    const std::int64_t weight = std::int64_t{1} << h;
    const bool first = over_ <= under_;
    (first ? over_ : under_) += weight;
    std::vector<double> up;
    const std::vector<double>& all = levels_[h];
    for (std::size_t i = 0; i + 1 < all.size(); i += 2) up.push_back(all[first ? i : i + 1]);
    std::vector<double> rest(all.end() - static_cast<std::ptrdiff_t>(all.size() % 2), all.end());
    levels_[h] = std::move(rest);
    take(h + 1, up);
  }
}

void RankSketch::add(const std::vector<Item>& values) {
  std::vector<std::vector<double>> parts(1);
  parts[0].reserve(values.size());
  for (const Item& item : values) {
    if (item.second == 1) {
      parts[0].push_back(item.first);
      continue;
    }
    std::size_t h = 0;
    for (auto count = static_cast<std::uint64_t>(item.second); count > 0; count >>= 1, ++h) {
      if ((count & 1U) == 0) continue;
      if (parts.size() <= h) parts.resize(h + 1);
      parts[h].push_back(item.first);
    }
  }
  for (std::size_t h = 0; h < parts.size(); ++h) take(h, parts[h]);
  thin();
}

void RankSketch::merge(const RankSketch& other) {
  under_ += other.under_;
  over_ += other.over_;
  for (std::size_t h = 0; h < other.levels_.size(); ++h) take(h, other.levels_[h]);
  thin();
}

std::int64_t RankSketch::count() const {
  std::int64_t n = 0;
  for (std::size_t h = 0; h < levels_.size(); ++h) n += static_cast<std::int64_t>(levels_[h].size()) << h;
  return n;
}

std::vector<RankSketch::Item> RankSketch::items() const {
  std::vector<Item> all;
  for (std::size_t h = 0; h < levels_.size(); ++h)
    for (const double v : levels_[h]) all.emplace_back(v, std::int64_t{1} << h);
  std::sort(all.begin(), all.end());
  std::size_t kept = 0;
  for (const Item& item : all) {
    if (kept > 0 && all[kept - 1].first == item.first)
      all[kept - 1].second += item.second;
    else
      all[kept++] = item;
  }
  all.resize(kept);
  return all;
}

RankSketch RankSketch::of(std::vector<std::vector<double>> levels, std::int64_t below, std::int64_t above) {
  RankSketch out;
  out.levels_ = std::move(levels);
  out.under_ = below;
  out.over_ = above;
  return out;
}

double RankSketch::bytes() const {
  double all = 0;
  for (const std::vector<double>& level : levels_) all += 8.0 * static_cast<double>(level.capacity());
  return all;
}

double quantile(const std::vector<RankSketch::Item>& items, std::int64_t count, double q) {
  const double rank = std::ceil(q * static_cast<double>(count));
  std::int64_t below = 0;
  for (const RankSketch::Item& item : items) {
    below += item.second;
    if (static_cast<double>(below) >= rank) return item.first;
  }
  return items.back().first;
}

}  // namespace margin
