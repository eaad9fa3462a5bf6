#include "core/profile/frequent.hpp"

namespace margin {

void FrequentNumbers::merge(const std::vector<Item>& items, std::int64_t missed) {
  std::vector<Item> all;
  all.reserve(items_.size() + items.size());
  auto ours = items_.cbegin();
  for (const Item& item : items) {
    while (ours != items_.cend() && ours->first < item.first) all.push_back(*ours++);
    all.push_back(item);
    if (ours != items_.cend() && ours->first == item.first) all.back().second += ours++->second;
  }
  all.insert(all.end(), ours, items_.cend());
  items_.swap(all);
  missed_ += missed;
  if (items_.size() <= most_values) return;
  std::vector<std::int64_t> counts;
  counts.reserve(items_.size());
  for (const Item& item : items_) counts.push_back(item.second);
  const std::int64_t by = lowering(counts);
  missed_ += by;
  std::size_t kept = 0;
  for (const Item& item : items_)
    if (item.second > by) items_[kept++] = {item.first, item.second - by};
  items_.resize(kept);
}

void FrequentTexts::add(std::string_view text, std::int64_t count) {
  const auto found = counts_.find(text);
  if (found != counts_.end()) {
    found->second += count;
    return;
  }
  if (names_.size() >= 2 * most_values) lower();
  names_.emplace_back(text);
  counts_.emplace(names_.back(), count);
  bytes_ += 96.0 + static_cast<double>(text.size());
}

void FrequentTexts::lower() {
  std::vector<std::int64_t> counts;
  counts.reserve(counts_.size());
  for (const auto& [name, count] : counts_) counts.push_back(count);
  const std::int64_t by = lowering(counts);
  if (by == 0) return;
  std::vector<Item> kept;
  for (const auto& [name, count] : counts_)
    if (count > by) kept.emplace_back(name, count - by);
  set(kept, missed_ + by);
}

void FrequentTexts::set(const std::vector<Item>& items, std::int64_t missed) {
  counts_.clear();
  names_.clear();
  bytes_ = 0;
  missed_ = missed;
  for (const auto& [name, count] : items) add(name, count);
}

void FrequentTexts::merge(const FrequentTexts& other) {
  for (const auto& [name, count] : other.counts_) add(name, count);
  missed_ += other.missed_;
}

std::vector<FrequentTexts::Item> FrequentTexts::items() {
  lower();
  std::vector<Item> all(counts_.begin(), counts_.end());
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace margin
