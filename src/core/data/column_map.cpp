#include "core/data/column_map.hpp"

namespace margin {

ColumnMap::ColumnMap(std::int32_t dimensions)
    : page_of_((static_cast<std::size_t>(dimensions) + page_columns - 1) / page_columns, -1) {}

std::int32_t ColumnMap::add_page() {
  pages_.push_back({});
  return static_cast<std::int32_t>(pages_.size()) - 1;
}

void ColumnMap::insert(const std::vector<char>& marks) {
  for (std::size_t at = 0; at + 64 <= marks.size(); at += 64) {
    std::uint64_t found = 0;
    for (std::size_t k = 0; k < 64; ++k) found |= std::uint64_t{marks[at + k] != 0} << k;
    if (found == 0) continue;
    std::int32_t& page = page_of_[at / page_columns];
    if (page < 0) page = add_page();
    std::uint64_t& word = pages_[static_cast<std::size_t>(page)].words[at % page_columns / 64];
    size_ += ones(found & ~word);
    word |= found;
  }
}

void ColumnMap::rank() {
  std::int32_t before = 0;
  for (const std::int32_t page : page_of_) {
    if (page < 0) continue;
    Page& p = pages_[static_cast<std::size_t>(page)];
    for (std::size_t w = 0; w < page_columns / 64; ++w) {
      p.before[w] = before;
      before += ones(p.words[w]);
    }
  }
}

std::vector<std::int32_t> ColumnMap::columns() const {
  std::vector<std::int32_t> out;
  out.reserve(static_cast<std::size_t>(size_));
  for (std::size_t at = 0; at < page_of_.size(); ++at) {
    if (page_of_[at] < 0) continue;
    const Page& p = pages_[static_cast<std::size_t>(page_of_[at])];
    for (std::size_t w = 0; w < page_columns / 64; ++w)
      for (std::uint64_t word = p.words[w]; word != 0; word &= word - 1)
        out.push_back(static_cast<std::int32_t>(at * page_columns + w * 64) + __builtin_ctzll(word));
  }
  return out;
}

}  // namespace margin
