#include "core/data/ranked_columns.hpp"

#include <functional>
#include <utility>

#include "core/base/polled.hpp"
#include "core/data/columns.hpp"

namespace margin {

RankedColumns::RankedColumns(const Dataset& data, const Progress& progress) {
  const Columns by_column(data, progress);
  const auto n = static_cast<std::size_t>(data.rows());
  std::vector<std::pair<double, std::uint32_t>> sorted(n);
  for (std::int32_t j = 0; j < data.dimensions(); ++j) {
    const Row x = by_column.column(j);
    polled_each(data.rows(), 2, progress,
                [&](std::int64_t i) { sorted[static_cast<std::size_t>(i)] = {0.0, static_cast<std::uint32_t>(i)}; });
    polled_each(x.count, 8, progress, [&](std::int64_t at) {
      const auto k = static_cast<std::int32_t>(at);
      sorted[static_cast<std::size_t>(x.indices != nullptr ? x.indices[k] : k)].first = x.value(k);
    });
    polled_sort(sorted.begin(), sorted.end(), std::less<>(), progress);
    if (!(sorted.front().first < sorted.back().first)) continue;
    Column column{j, {}, std::vector<std::uint32_t>(n), std::vector<std::uint32_t>(n)};
    polled_each(static_cast<std::int64_t>(n), 16, progress, [&](std::int64_t k) {
      const auto& [value, row] = sorted[static_cast<std::size_t>(k)];
      if (column.values.empty() || value > column.values.back()) column.values.push_back(value);
      column.ranks[row] = static_cast<std::uint32_t>(column.values.size() - 1);
      column.order[static_cast<std::size_t>(k)] = row;
    });
    columns_.push_back(std::move(column));
  }
}

}  // namespace margin
