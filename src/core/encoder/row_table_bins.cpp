// Where the numbers of columns are cut into bins, by all rows.
#include <algorithm>
#include <cmath>
#include <functional>

#include "core/base/polled.hpp"
#include "core/base/shared_out.hpp"
#include "core/encoder/bins.hpp"
#include "core/encoder/cell_reader.hpp"
#include "core/encoder/fit_column.hpp"
#include "core/math/number_sort.hpp"

namespace margin {

namespace {

constexpr std::size_t columns_read = 4;  // at a time

}  // namespace

void RowTable::fit_bins(std::vector<Column>& columns, const Bins& bins, const Progress& progress,
                        const MemoryBudget& memory) const {
  const int at_once = std::min(progress.threads().count(), static_cast<int>(columns_read));
  memory.require(static_cast<double>(rows_.rows()) * sizeof(double) * (columns_read + 2.0 * at_once),
                 "the numbers of columns");
  std::vector<std::size_t> which;
  for (std::size_t j = 0; j < columns.size(); ++j)
    if (bins_of(columns[j], bins) > 0 && !columns[j].binned()) which.push_back(j);
  // A row brings its neighbours with it: a few columns are read at a time.
  std::vector<std::vector<double>> numbers(columns_read);
  const CellReader reader(*this);
  for (std::size_t begin = 0; begin < which.size(); begin += columns_read) {
    const std::size_t end = std::min(which.size(), begin + columns_read);
    for (std::vector<double>& list : numbers) {
      list.clear();
      list.reserve(rows_.weighted() ? 0 : static_cast<std::size_t>(rows_.rows()));
    }
    for (std::int64_t i = 0; !rows_.weighted() && i < rows_.rows(); ++i) {
      progress.work(4.0 * columns_read);
      for (std::size_t k = begin; k < end; ++k) {
        const double v = reader.read_number(i, which[k]);
        if (!std::isnan(v)) numbers[k - begin].push_back(v);
      }
    }
    share_out(end - begin, progress, [&](std::size_t k, const Progress& own) {
      const std::size_t j = which[begin + k];
      fit_bins(columns[j], j, numbers[k], bins_of(columns[j], bins), own);
    });
  }
}

/// `numbers`: all of the column, where all weights are 1.
void RowTable::fit_bins(Column& c, std::size_t j, std::vector<double>& numbers, int bins,
                        const Progress& progress) const {
  std::vector<WeightedNumber> weighted;
  if (rows_.weighted()) {
    const CellReader reader(*this);
    weighted.reserve(static_cast<std::size_t>(rows_.rows()));
    for (std::int64_t i = 0; i < rows_.rows(); ++i) {
      progress.work(8);
      const double v = reader.read_number(i, j);
      if (!std::isnan(v)) weighted.push_back({v, rows_.weight(i)});
    }
    polled_sort(weighted.begin(), weighted.end(), std::less<>(), progress);
    cut_into_bins(c, weighted, bins, progress);
  } else {
    NumberSort()(numbers, progress);
    cut_into_bins(c, numbers, bins);
  }
}

}  // namespace margin
