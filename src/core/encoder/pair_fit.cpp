// What all rows say of pairs of columns: the levels of both, and how many rows each cell has.
#include "core/encoder/bins.hpp"
#include "core/encoder/cell_reader.hpp"
#include "core/encoder/row_table.hpp"
#include "core/math/order_free_sum.hpp"

namespace margin {

namespace {

/// Of a number that stays one in the columns by themselves.
constexpr std::int32_t bins_for_levels = 64;
/// With fewer rows the cells of finer levels would hold too few of them.
constexpr std::int64_t many_rows = 2000;

}  // namespace

std::vector<Column> RowTable::cut_columns(const Encoder& encoder, const Progress& progress,
                                          const MemoryBudget& memory) const {
  std::vector<Column> columns = encoder.columns();
  fit_bins(columns, Bins{bins_for_levels}, progress, memory);
  return columns;
}

void RowTable::for_each_row(const Progress& progress, const std::function<void(std::int64_t, const Cells&)>& f) const {
  std::vector<std::vector<double>> ranks(columns_.size());
  for (std::size_t j = 0; j < columns_.size(); ++j) categories_[j].sorted(ranks[j]);
  CellReader reader(*this);
  for (std::int64_t i = 0; i < rows_.rows(); ++i) {
    progress.work(4.0 * static_cast<double>(columns_.size()));
    f(i, reader.read_cells(i, ranks));
  }
}

std::shared_ptr<const Encoder> RowTable::with_pairs(const Encoder& encoder, const std::vector<Column>& cut,
                                                    const std::vector<ColumnPair>& wanted,
                                                    const Progress& progress) const {
  PairLevels levels;
  if (rows_.rows() >= many_rows) levels.each = 15;  // a byte says which cell of two such columns
  std::vector<PairTerm> pairs;
  std::vector<std::vector<OrderFreeSum>> mass;
  for (const ColumnPair& of : wanted) {
    PairTerm& pair = pairs.emplace_back(pair_of(cut[of[0]], cut[of[1]], levels));
    for (PairSide& side : pair.sides) side.bind(encoder.columns());
    mass.emplace_back(static_cast<std::size_t>(pair.cells()));
  }
  // Sums that do not depend on the order of the rows.
  const OrderFreeCuts cuts(largest_weight_, rows_.rows());
  OrderFreeSum total;
  for_each_row(progress, [&](std::int64_t i, const Cells& cells) {
    total.add(rows_.weight(i), cuts);
    progress.work(16.0 * static_cast<double>(pairs.size()));
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      const std::int32_t cell = pairs[p].cell(cells.values.data());
      if (cell >= 0) mass[p][static_cast<std::size_t>(cell)].add(rows_.weight(i), cuts);
    }
  });
  for (std::size_t p = 0; p < pairs.size(); ++p)
    for (const OrderFreeSum& sum : mass[p])
      pairs[p].share.push_back(total.value() > 0 ? sum.value() / total.value() : 0);
  return std::make_shared<const Encoder>(encoder.columns(), encoder.missing(), encoder.unknown_is_error(),
                                         encoder.label_unit(), std::vector<std::int32_t>{}, std::move(pairs));
}

}  // namespace margin
