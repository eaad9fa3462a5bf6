// Values with counts, exact as long as there are few different ones, then those that are frequent with a proven error
// (Misra and Gries 1982; merged as by Agarwal and others 2012): where more than `most_values` are held, all counts are
// lowered by the largest that then leaves no more. A count that is lowered by c is so together with `most_values` others,
// so all of n values together are lowered by at most n/(most_values + 1).
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace margin {

constexpr std::size_t most_values = 1024;
constexpr double item_work = 64;  // of a value with its count, sorted and looked through

/// By what counts are to be lowered, so that no more than `most_values` are left: 0 where that is so already. Takes the
/// counts apart.
inline std::int64_t lowering(std::vector<std::int64_t>& counts) {
  if (counts.size() <= most_values) return 0;
  // Mostly nearly all are of one value each.
  const auto several = std::count_if(counts.begin(), counts.end(), [](std::int64_t c) { return c > 1; });
  if (several <= static_cast<std::ptrdiff_t>(most_values)) return 1;
  const auto cut = counts.begin() + static_cast<std::ptrdiff_t>(most_values);
  std::nth_element(counts.begin(), cut, counts.end(), std::greater<>());
  return *cut;
}

/// Of numbers.
class FrequentNumbers {
 public:
  using Item = std::pair<double, std::int64_t>;

  /// Ascending, with counts ≥ 1.
  void merge(const std::vector<Item>& items, std::int64_t missed = 0);
  /// Every value with its count.
  bool exact() const { return missed_ == 0; }
  /// A value counts up to this much more than is said of it, which for one that is not held is 0.
  std::int64_t missed() const { return missed_; }
  /// Ascending.
  const std::vector<Item>& items() const { return items_; }

 private:
  std::vector<Item> items_;
  std::int64_t missed_ = 0;
};

/// Of texts.
class FrequentTexts {
 public:
  using Item = std::pair<std::string, std::int64_t>;

  FrequentTexts() = default;
  FrequentTexts(const FrequentTexts&) = delete;  // the index points into the names
  FrequentTexts& operator=(const FrequentTexts&) = delete;

  void add(std::string_view text, std::int64_t count = 1);
  void merge(const FrequentTexts& other);
  /// Of what items() and missed() say. Nothing is checked.
  void set(const std::vector<Item>& items, std::int64_t missed);

  bool exact() const { return missed_ == 0 && names_.size() <= most_values; }
  std::int64_t missed() const { return missed_; }
  /// Ascending by bytes, no more than `most_values`.
  std::vector<Item> items();
  double bytes() const { return bytes_; }

 private:
  void lower();

  std::deque<std::string> names_;  // which stay where they are
  std::unordered_map<std::string_view, std::int64_t> counts_;
  std::int64_t missed_ = 0;
  double bytes_ = 0;
};

}  // namespace margin
