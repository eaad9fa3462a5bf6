// The rows of a RowTable as they are stored: each has a number for every column, 0 for a missing one, and behind them,
// 24 to a number, the bits that say which are missing: all of it survives as float where the numbers do.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/encoder/row_table.hpp"
#include "core/encoder/set_cell.hpp"

namespace margin {

/// Stored rows as cells.
class RowTable::CellReader {
 public:
  static constexpr std::size_t bits_per_number = 24;

  explicit CellReader(const RowTable& table) : table_(table), all_(static_cast<std::size_t>(table.cell_width())) {
    cells.resize(table.columns_.size());
  }

  /// The numbers of row `i`, 0 for missing ones; whether there are any of these.
  bool read(std::int64_t i) {
    const Row x = table_.rows_.row(i);
    if (x.indices == nullptr && x.wide) {
      std::copy(x.doubles(), x.doubles() + x.count, all_.begin());
    } else if (x.indices == nullptr) {
      std::copy(x.floats(), x.floats() + x.count, all_.begin());
    } else {
      std::fill(all_.begin(), all_.end(), 0.0);
      for (std::int32_t k = 0; k < x.count; ++k) all_[static_cast<std::size_t>(x.indices[k])] = x.value(k);
    }
    return std::any_of(all_.begin() + static_cast<std::ptrdiff_t>(cells.values.size()), all_.end(),
                       [](double bits) { return bits != 0; });
  }
  /// The number of row `i` and column `j` alone; NaN: it is missing.
  double read_number(std::int64_t i, std::size_t j) const {
    const Row x = table_.rows_.row(i);
    const auto at = [&](std::size_t k) {
      const auto place = static_cast<std::int32_t>(k);
      return x.indices == nullptr ? x.value(place) : value_at(x, place);
    };
    if (table_.columns_[j].missing) {
      const auto bits = static_cast<std::uint32_t>(at(cells.values.size() + j / bits_per_number));
      if ((bits >> (j % bits_per_number) & 1U) != 0) return std::numeric_limits<double>::quiet_NaN();
    }
    return at(j);
  }
  double* numbers() { return all_.data(); }
  bool missing(std::size_t j) const {
    const auto bits = static_cast<std::uint32_t>(all_[cells.values.size() + j / bits_per_number]);
    return (bits >> (j % bits_per_number) & 1U) != 0;
  }

  /// Row `i` with its categories at their places, its blocks, NaN for what is missing.
  const Cells& read_cells(std::int64_t i, const std::vector<std::vector<double>>& ranks) {
    const bool any = read(i);
    for (std::size_t j = 0; j < cells.values.size(); ++j) {
      double v = all_[j];
      if (any && missing(j))
        v = std::numeric_limits<double>::quiet_NaN();
      else if (table_.columns_[j].kind == ColumnKind::category)
        v = ranks[j][static_cast<std::size_t>(v)];
      cells.values[j] = v;
      if (table_.blocks_[j] == nullptr) continue;
      const Row x = table_.blocks_[j]->row(i);
      cells.blocks[j] = FeatureRow{x, table_.columns_[j].width};
      if (table_.columns_[j].kind == ColumnKind::dense && x.indices != nullptr) expand(j);
      if (table_.columns_[j].kind == ColumnKind::set) rank(j, ranks[j]);
    }
    return cells;
  }

  Cells cells;

 private:
  /// Of a set: its elements at their places among all.
  void rank(std::size_t j, const std::vector<double>& ranks) {
    const FeatureRow x = cells.blocks[j];
    sets_.resize(cells.blocks.size());
    sets_[j].clear();
    for (std::int32_t k = 0; k < x.count; ++k)
      sets_[j].add(static_cast<std::int32_t>(ranks[static_cast<std::size_t>(x.indices[k])]));
    cells.blocks[j] = sets_[j].row();
  }
  /// Of a dense block that is stored without its zeros.
  void expand(std::size_t j) {
    const FeatureRow x = cells.blocks[j];
    expanded_.resize(cells.blocks.size());
    std::vector<double>& values = expanded_[j];
    values.assign(static_cast<std::size_t>(x.dimensions), 0.0);
    for (std::int32_t k = 0; k < x.count; ++k) values[static_cast<std::size_t>(x.indices[k])] = x.value(k);
    cells.blocks[j] = dense_row(values.data(), x.dimensions);
  }

  const RowTable& table_;
  std::vector<double> all_;
  std::vector<std::vector<double>> expanded_;
  std::vector<SetCell> sets_;
};

}  // namespace margin
