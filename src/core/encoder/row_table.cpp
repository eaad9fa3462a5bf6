#include "core/encoder/row_table.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/base/shared_out.hpp"
#include "core/encoder/cell_reader.hpp"
#include "core/encoder/fit_column.hpp"
#include "core/encoder/row_codes.hpp"

namespace margin {

namespace {

/// Bytes of the encoded rows on top of their features: as Dataset::array_bytes, about.
constexpr double row_overhead = 24;

}  // namespace

std::int32_t CategoryTable::intern(std::string_view name, std::int32_t most) {
  const auto found = index_.find(name);
  if (found != index_.end()) return found->second;
  if (size() >= most) return -1;
  names_.emplace_back(name);
  const std::int32_t number = size() - 1;
  index_.emplace(std::string_view(names_.back()), number);
  return number;
}

bool CategoryTable::has(std::string_view name) const {
  for (std::size_t k = 0; k < names_.size(); ++k)
    if (names_[k] == name) return used_.empty() || used_[k] != 0;
  return false;
}

std::vector<std::string> CategoryTable::sorted(std::vector<double>& rank) const {
  std::vector<std::int32_t> order;
  for (std::int32_t i = 0; i < size(); ++i)
    if (used_.empty() || used_[static_cast<std::size_t>(i)] != 0) order.push_back(i);
  std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    return names_[static_cast<std::size_t>(a)] < names_[static_cast<std::size_t>(b)];
  });
  std::vector<std::string> names;
  rank.assign(names_.size(), -1);
  for (std::size_t place = 0; place < order.size(); ++place) {
    names.emplace_back(names_[static_cast<std::size_t>(order[place])]);
    rank[static_cast<std::size_t>(order[place])] = static_cast<double>(place);
  }
  return names;
}

RowTable::RowTable(std::vector<Column> columns, const EncoderRules& rules, Dataset& rows,
                   std::pmr::memory_resource* memory)
    : columns_(std::move(columns)),
      rules_(rules),
      rows_(rows),
      largest_(columns_.size(), 0.0),
      told_(columns_.size()),
      going_(columns_.size()) {
  categories_.reserve(columns_.size());
  for (const Column& c : columns_) {
    categories_.emplace_back(memory);
    if (!block(c.kind)) leaks_label_.push_back(categories_.size() - 1);
    blocks_.push_back(block(c.kind) ? std::make_unique<Dataset>(Dataset::Outcome::targets, memory) : nullptr);
  }
}

RowTable::RowTable(const RowTable& all, const std::vector<std::int64_t>& rows, EncoderRules rules,
                   const Progress& progress)
    : columns_(all.columns_),
      rules_(std::move(rules)),
      part_(all.rows_.subset(rows)),
      rows_(*part_),
      largest_(columns_.size(), 0.0) {
  const std::size_t n = columns_.size();
  std::vector<std::vector<char>> used(n);
  for (std::size_t j = 0; j < n; ++j) {
    columns_[j].missing = false;
    used[j].resize(static_cast<std::size_t>(all.categories_[j].size()));
    blocks_.push_back(all.blocks_[j] == nullptr ? nullptr : std::make_unique<Dataset>(all.blocks_[j]->subset(rows)));
  }
  CellReader reader(all);
  for (const std::int64_t i : rows) {
    progress.work(4.0 * static_cast<double>(n));
    const bool any = reader.read(i);
    largest_weight_ = std::max(largest_weight_, all.rows_.weight(i));
    for (std::size_t j = 0; j < n; ++j) {
      if (any && reader.missing(j)) {
        columns_[j].missing = true;
        continue;
      }
      const double v = reader.numbers()[j];
      largest_[j] = std::max(largest_[j], std::fabs(v));
      if (columns_[j].kind == ColumnKind::category) used[j][static_cast<std::size_t>(v)] = 1;
      if (columns_[j].kind != ColumnKind::set) continue;
      const Row x = all.blocks_[j]->row(i);
      for (std::int32_t k = 0; k < x.count; ++k) used[j][static_cast<std::size_t>(x.indices[k])] = 1;
      progress.work(x.count);
    }
  }
  categories_.reserve(n);
  for (std::size_t j = 0; j < n; ++j) {
    categories_.emplace_back(all.categories_[j], std::move(used[j]));
    const auto reference = rules_.references.find(columns_[j].name);
    if (reference != rules_.references.end() && !categories_[j].has(reference->second))
      rules_.references.erase(reference);
  }
}

std::int32_t RowTable::cell_width() const {
  return static_cast<std::int32_t>(columns_.size() +
                                   (columns_.size() + CellReader::bits_per_number - 1) / CellReader::bits_per_number);
}

double RowTable::category(std::size_t column, std::string_view name) {
  const std::int32_t number = categories_[column].intern(name, rules_.max_categories);
  if (number >= 0) return number;
  throw too_many_categories(columns_[column], rules_.max_categories);
}

bool RowTable::Going::goes_on(double cell, double label) {
  constexpr std::size_t few = 32;
  for (const auto& [before, its] : met) {
    const int step = (cell > before) - (cell < before), turn = (label > its) - (label < its);
    if (step == 0 || turn == 0) {
      if (step != turn) return false;
      continue;
    }
    if (direction == 0) direction = step * turn;
    if (direction != step * turn) return false;
  }
  if (met.size() < few) met.emplace_back(cell, label);
  return true;
}

bool RowTable::tells(std::size_t column, double cell, const Label& label) {
  if (!label.is_class())
    return scalar(columns_[column].kind) && !std::isnan(cell) && label.lower() == label.upper() &&
           going_[column].goes_on(cell, label.lower());
  constexpr std::size_t most_classes = 64;
  const auto at = static_cast<std::size_t>(label.class_index());
  std::vector<double>& told = told_[column];
  if (at >= most_classes) return false;
  while (told.size() <= at) told.push_back(std::numeric_limits<double>::quiet_NaN());
  if (std::isnan(told[at]) && std::find(told.begin(), told.end(), cell) == told.end()) told[at] = cell;
  return told[at] == cell;
}

/// Of all rows, where those that came first do not contradict it.
bool RowTable::rises_with_label(std::size_t column, const Progress& progress) const {
  std::vector<std::pair<double, double>> all;
  CellReader reader(*this);
  for (std::int64_t i = 0; i < rows_.rows(); ++i) {
    progress.work(64);
    reader.read(i);
    all.emplace_back(reader.numbers()[column], rows_.target(i));
  }
  std::sort(all.begin(), all.end());
  Going going;
  for (std::size_t i = 0; i < all.size(); ++i) {
    progress.work(16);
    going.met = {all[i > 0 ? i - 1 : 0]};
    if (!going.goes_on(all[i].first, all[i].second)) return false;
  }
  return going.direction != 0;
}

std::string_view RowTable::label_column(const Progress& progress) const {
  constexpr std::int64_t chance = 20;
  if (rows_.rows() < chance) return {};
  for (const std::size_t j : leaks_label_)
    if (rows_.outcome() == Dataset::Outcome::classes || rises_with_label(j, progress)) return columns_[j].name;
  return {};
}

bool RowTable::append(const Cells& cells, const Label& label, double weight) {
  const std::size_t n = columns_.size();
  written_.assign(static_cast<std::size_t>(cell_width()), 0.0);
  bool any = false;
  for (std::size_t j = 0; j < n; ++j) {
    const double v = cells.values[j];
    if (!std::isnan(v)) {
      written_[j] = v;
      continue;
    }
    if (rules_.missing == Missing::skip && !columns_[j].grouping) return false;
    refuse_missing(columns_[j], rules_.missing, true);
    written_[n + j / CellReader::bits_per_number] += std::ldexp(1.0, static_cast<int>(j % CellReader::bits_per_number));
    any = true;
  }
  rows_.append(dense_row(written_.data(), cell_width()), label, weight);
  for (std::size_t j = 0; j < n; ++j) {
    if (any && std::isnan(cells.values[j])) {
      columns_[j].missing = true;
      if (blocks_[j] != nullptr) blocks_[j]->append(sparse_row(&no_indices, written_.data(), 0, 0), 0.0);
      continue;
    }
    largest_[j] = std::max(largest_[j], std::fabs(cells.values[j]));
    if (blocks_[j] == nullptr) continue;
    const FeatureRow& x = cells.blocks[j];
    const bool dense = columns_[j].kind == ColumnKind::dense;
    if (dense && columns_[j].width == 0) columns_[j].width = x.count;
    if (dense && (x.indices != nullptr || x.count != columns_[j].width))
      throw Error(ErrorKind::wrong_dimensions, "column \"" + columns_[j].name + "\" has " +
                                                   std::to_string(x.dimensions) + " elements, expected " +
                                                   std::to_string(columns_[j].width));
    if (!dense) columns_[j].width = std::max({columns_[j].width, x.dimensions, reach(x)});
    blocks_[j]->append(x, 0.0);
  }
  largest_weight_ = std::max(largest_weight_, weight);
  const auto silent = [&](std::size_t j) { return !tells(j, cells.values[j], label); };
  leaks_label_.erase(std::remove_if(leaks_label_.begin(), leaks_label_.end(), silent), leaks_label_.end());
  return true;
}

/// What the encoder calls the categories of each column; −1 for those that it does not know.
std::vector<std::vector<double>> RowTable::ranks_in(const Encoder& encoder) const {
  std::vector<std::vector<double>> ranks(columns_.size());
  for (std::size_t j = 0; j < columns_.size(); ++j)
    for (std::int32_t k = 0; k < categories_[j].size(); ++k)
      ranks[j].push_back(encoder.category(j, categories_[j].name(k)));
  return ranks;
}

/// The rows as codes; null where they cannot be, or are not to be.
std::unique_ptr<Dataset> RowTable::encode_codes(const Encoder& encoder, const Progress& progress,
                                                MemoryBudget& memory) const {
  std::optional<CodeLayout> layout = code_layout(encoder);
  const std::int64_t n = rows_.rows();
  if (!layout.has_value() || n <= encoder.width()) return nullptr;
  const double bytes = CodedRows::bytes(*layout, n) + row_overhead * static_cast<double>(n);
  if (!memory.allows(bytes)) return nullptr;
  const std::vector<std::vector<double>> ranks = ranks_in(encoder);
  auto codes = std::make_shared<CodedRows>(std::move(*layout), n);
  const RowCoder coder(encoder, ranks, *codes);
  const Chunks chunks(n, 8.0 * static_cast<double>(columns_.size()));
  share_out(chunks.count(), progress, [&](std::size_t k, const Progress& own) {
    CellReader reader(*this);
    for (std::int64_t i = chunks.begin(k); i < chunks.end(k); ++i) {
      own.work(8.0 * static_cast<double>(columns_.size()));
      const bool any = reader.read(i);
      coder.write(i, reader.numbers(), [&](std::size_t j) { return any && reader.missing(j); });
    }
  });
  auto out = std::make_unique<Dataset>(rows_, std::move(codes), progress);
  memory.use(static_cast<double>(out->bytes()));
  return out;
}

std::unique_ptr<Dataset> RowTable::encode(const Encoder& encoder, const Progress& progress, MemoryBudget& memory,
                                          bool codes) const {
  if (codes)
    if (auto out = encode_codes(encoder, progress, memory)) return out;
  double per_row = row_overhead;
  for (const Column& c : encoder.columns())
    per_row += c.kind == ColumnKind::category ? 24
               : c.kind == ColumnKind::sparse || (c.kind == ColumnKind::set && encoder.sparse())
                   ? 0
                   : 8.0 * c.features().number();
  double features = per_row * static_cast<double>(rows_.rows());
  for (const auto& block : blocks_)
    if (block != nullptr) features += static_cast<double>(block->feature_bytes());
  const bool to_store = rows_.store() != nullptr && (rows_.spilled() || !memory.allows(features));
  memory.require(to_store ? row_overhead * static_cast<double>(rows_.rows()) : features,
                 "the encoded copy of the rows");
  auto out = std::make_unique<Dataset>(rows_.outcome(), std::pmr::get_default_resource(), rows_.store());
  if (to_store) out->spill();
  for (std::int32_t c = 0; c < rows_.classes().size(); ++c)
    out->classes().intern(rows_.classes().name(c), rows_.classes().key(c));
  out->classes().set_numbers(rows_.classes().numbers());
  const std::vector<std::vector<double>> ranks = ranks_in(encoder);
  CellReader reader(*this);
  Encoder::Scratch scratch;
  for (std::int64_t i = 0; i < rows_.rows(); ++i) {
    progress.work(4.0 * encoder.width());
    out->append(*encoder.encode(reader.read_cells(i, ranks), scratch), rows_.label(i), rows_.weight(i));
  }
  memory.use(static_cast<double>(out->bytes()));
  return out;
}

}  // namespace margin
