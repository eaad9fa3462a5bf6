// A set of columns out of very many, each with its rank: which features wide rows use, and the number that each gets
// once the others are left out. A bitmap in pages that are made when a column falls into them, so that memory follows
// the columns in use, and a look-up costs a few instructions.
#pragma once

#include <cstdint>
#include <vector>

namespace margin {

class ColumnMap {
 public:
  /// Columns 0 to `dimensions` − 1 may come.
  explicit ColumnMap(std::int32_t dimensions);

  void insert(std::int32_t column) {
    std::int32_t& page = page_of_[static_cast<std::size_t>(column) / page_columns];
    if (page < 0) page = add_page();
    const auto bit = static_cast<std::size_t>(column) % page_columns;
    std::uint64_t& word = pages_[static_cast<std::size_t>(page)].words[bit / 64];
    const std::uint64_t mask = std::uint64_t{1} << bit % 64;
    // Most values are in a column that is known: nothing is written then, which the next look at the word would wait for.
    if ((word & mask) != 0) return;
    ++size_;
    word |= mask;
  }
  /// The columns j whose marks[j] is not 0. There is a multiple of 64 marks; those beyond the columns are 0.
  void insert(const std::vector<char>& marks);
  /// Ranks the columns; nothing is inserted afterwards.
  void rank();

  std::int32_t size() const { return size_; }
  /// How many columns of the set are smaller; −1 for a column that is not in it. Only after rank().
  std::int32_t operator[](std::int32_t column) const {
    const std::int32_t page = page_of_[static_cast<std::size_t>(column) / page_columns];
    if (page < 0) return -1;
    const Page& p = pages_[static_cast<std::size_t>(page)];
    const auto bit = static_cast<std::size_t>(column) % page_columns;
    const std::uint64_t word = p.words[bit / 64], mask = std::uint64_t{1} << bit % 64;
    if ((word & mask) == 0) return -1;
    return p.before[bit / 64] + ones(word & (mask - 1));
  }
  /// Whether a number for each of so many columns is little: a quarter of these bytes of rows at most, and 4 MB.
  static bool listable(std::int32_t dimensions, std::size_t bytes) {
    return dimensions <= 1 << 20 && 16 * static_cast<std::size_t>(dimensions) <= bytes;
  }
  /// All of them, ascending.
  std::vector<std::int32_t> columns() const;

 private:
  static constexpr std::size_t page_columns = 4096;
  /// Bits that are set. Baseline x86-64 has no instruction for it, and the compiler calls a function.
  static std::int32_t ones(std::uint64_t word) {
    word -= word >> 1 & 0x5555555555555555;
    word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
    word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f;
    return static_cast<std::int32_t>(word * 0x0101010101010101 >> 56);
  }
  struct Page {
    std::uint64_t words[page_columns / 64];
    std::int32_t before[page_columns / 64];  // columns of the set below the first of each word
  };
  std::int32_t add_page();

  std::vector<std::int32_t> page_of_;  // −1: no column of the page is in the set
  std::vector<Page> pages_;
  std::int32_t size_ = 0;
};

}  // namespace margin
