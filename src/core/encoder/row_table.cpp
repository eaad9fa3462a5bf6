// A stored row has a number for every column, 0 for a missing one, and behind them, 24 to a number, the bits that say
// which are missing: all of it survives as float where the numbers do.
#include "core/encoder/row_table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.hpp"
#include "core/math/order_free_sum.hpp"

namespace margin {

namespace {

constexpr std::size_t bits_per_number = 24;

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

std::vector<std::string> CategoryTable::sorted(std::vector<double>& rank) const {
  std::vector<std::int32_t> order(names_.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int32_t>(i);
  std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    return names_[static_cast<std::size_t>(a)] < names_[static_cast<std::size_t>(b)];
  });
  std::vector<std::string> names;
  rank.resize(order.size());
  for (std::size_t place = 0; place < order.size(); ++place) {
    names.emplace_back(names_[static_cast<std::size_t>(order[place])]);
    rank[static_cast<std::size_t>(order[place])] = static_cast<double>(place);
  }
  return names;
}

RowTable::RowTable(std::vector<Column> columns, const EncoderRules& rules, Dataset& rows,
                   std::pmr::memory_resource* memory)
    : columns_(std::move(columns)), rules_(rules), rows_(rows), largest_(columns_.size(), 0.0), told_(columns_.size()) {
  categories_.reserve(columns_.size());
  for (const Column& c : columns_) {
    categories_.emplace_back(memory);
    if (!block(c.kind)) tellers_.push_back(categories_.size() - 1);
    blocks_.push_back(block(c.kind) ? std::make_unique<Dataset>(Dataset::Outcome::targets, memory) : nullptr);
  }
}

std::int32_t RowTable::cell_width() const {
  return static_cast<std::int32_t>(columns_.size() + (columns_.size() + bits_per_number - 1) / bits_per_number);
}

double RowTable::category(std::size_t column, std::string_view name) {
  const std::int32_t number = categories_[column].intern(name, rules_.max_categories);
  if (number >= 0) return number;
  throw Error(
      ErrorKind::invalid_value,
      "column \"" + columns_[column].name + "\" has more than " + std::to_string(rules_.max_categories) + " categories",
      "Leave it out with the option exclude, merge rare values (CASE ... ELSE 'other' END), hash it "
      "(margin_features(column) AS column), or raise the option max_categories.");
}

bool RowTable::tells(std::size_t column, double cell, const Label& label) {
  if (!label.is_class()) return cell == label.lower() && cell == label.upper();
  constexpr std::size_t most_classes = 64;
  const auto at = static_cast<std::size_t>(label.class_index());
  std::vector<double>& told = told_[column];
  if (at >= most_classes) return false;
  while (told.size() <= at) told.push_back(std::numeric_limits<double>::quiet_NaN());
  if (std::isnan(told[at]) && std::find(told.begin(), told.end(), cell) == told.end()) told[at] = cell;
  return told[at] == cell;
}

std::string_view RowTable::label_column() const {
  constexpr std::int64_t chance = 20;
  return tellers_.empty() || rows_.rows() < chance ? std::string_view{} : columns_[tellers_.front()].name;
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
    if (rules_.missing == Missing::skip) return false;
    if (rules_.missing == Missing::error)
      throw Error(ErrorKind::null_value,
                  "column \"" + columns_[j].name + "\" is NULL, and the option \"missing\" is 'error'",
                  "With margin_options(missing => 'impute') its mean stands for it, with 'skip' the row is left out.");
    written_[n + j / bits_per_number] += std::ldexp(1.0, static_cast<int>(j % bits_per_number));
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
  tellers_.erase(std::remove_if(tellers_.begin(), tellers_.end(), silent), tellers_.end());
  return true;
}

/// Stored rows as cells.
class RowTable::CellReader {
 public:
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
    }
    return cells;
  }

  Cells cells;

 private:
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
};

namespace {

/// Means and deviations of numbers by the weights of their rows; a missing one has its mean. First all rows are added to
/// the means, then all to the deviations.
class Moments {
 public:
  Moments(const std::vector<double>& largest, double largest_weight, std::int64_t rows)
      : mean(largest.size(), 0.0),
        deviation(largest.size(), 1.0),
        largest_(largest),
        largest_weight_(largest_weight),
        rows_(rows),
        weight_cuts_(largest_weight, rows),
        sums_(largest.size()),
        absent_(largest.size()) {
    for (std::size_t j = 0; j < largest.size(); ++j) sums_.start(j, {largest[j] * largest_weight, rows});
  }

  void add_absent(std::size_t j, double weight) { absent_[j].add(weight, weight_cuts_); }
  /// values[j], where it is missing 0.
  void add_to_means(const double* values, double weight) {
    total_.add(weight, weight_cuts_);
    sums_.add([=](std::size_t j) { return weight * values[j]; });
  }
  void finish_means() {
    for (std::size_t j = 0; j < mean.size(); ++j) {
      const double present = total_.value() - absent_[j].value();
      mean[j] = present > 0 ? sums_.value(j) / present + 0.0 : 0.0;
      const double reach = largest_[j] + std::fabs(mean[j]);
      sums_.start(j, {largest_weight_ * reach * reach, rows_});
    }
  }
  /// values[j], where it is missing mean[j].
  void add_to_deviations(const double* values, double weight) {
    const double* centre = mean.data();
    sums_.add([=](std::size_t j) {
      const double d = values[j] - centre[j];
      return weight * d * d;
    });
  }
  void finish_deviations() {
    for (std::size_t j = 0; j < mean.size(); ++j) {
      const double found = total_.value() > 0 ? std::sqrt(sums_.value(j) / total_.value()) : 0;
      // A column that is constant up to rounding carries nothing; dividing by its noise would make it the largest.
      deviation[j] = found > 1e-12 * std::fabs(mean[j]) && std::isfinite(found) ? found : 1.0;
    }
  }

  std::vector<double> mean, deviation;

 private:
  const std::vector<double>& largest_;
  double largest_weight_;
  std::int64_t rows_;
  OrderFreeCuts weight_cuts_;
  OrderFreeSum total_;
  OrderFreeSums sums_;
  std::vector<OrderFreeSum> absent_;
};

void set_units(Column& c, const double* mean, const double* deviation, bool standardize) {
  const auto n = static_cast<std::size_t>(c.values());
  c.fill.assign(mean, mean + n);
  c.center = standardize ? c.fill : std::vector<double>(n, 0.0);
  c.scale = standardize ? std::vector<double>(deviation, deviation + n) : std::vector<double>(n, 1.0);
}

}  // namespace

void RowTable::fit_scalars(std::vector<Column>& columns, const Progress& progress) const {
  const std::size_t n = columns.size();
  Moments moments(largest_, largest_weight_, rows_.rows());
  CellReader reader(*this);
  for (std::int64_t i = 0; i < rows_.rows(); ++i) {
    progress.work(4.0 * static_cast<double>(n));
    const bool any = reader.read(i);
    moments.add_to_means(reader.numbers(), rows_.weight(i));
    if (!any) continue;
    for (std::size_t j = 0; j < n; ++j)
      if (reader.missing(j)) moments.add_absent(j, rows_.weight(i));
  }
  moments.finish_means();
  for (std::int64_t i = 0; i < rows_.rows() && rules_.standardize; ++i) {
    progress.work(4.0 * static_cast<double>(n));
    if (reader.read(i))
      for (std::size_t j = 0; j < n; ++j)
        if (reader.missing(j)) reader.numbers()[j] = moments.mean[j];
    moments.add_to_deviations(reader.numbers(), rows_.weight(i));
  }
  moments.finish_deviations();
  for (std::size_t j = 0; j < n; ++j)
    if (scalar(columns[j].kind))
      set_units(columns[j], &moments.mean[j], &moments.deviation[j],
                rules_.standardize && columns[j].kind != ColumnKind::boolean && columns[j].name != rules_.offset);
}

void RowTable::fit_block(Column& column, std::size_t j, const Progress& progress) const {
  if (column.kind == ColumnKind::sparse) return;
  const auto d = static_cast<std::size_t>(column.width);
  CellReader reader(*this);
  std::vector<double> values(d);
  // f(whether the elements in `values` are missing, the weight of their row)
  const auto for_each = [&](auto f) {
    for (std::int64_t i = 0; i < rows_.rows(); ++i) {
      progress.work(4.0 * static_cast<double>(d));
      const bool missing = column.missing && reader.read(i) && reader.missing(j);
      std::fill(values.begin(), values.end(), 0.0);
      const Row x = blocks_[j]->row(i);
      for (std::int32_t k = 0; k < x.count; ++k)
        values[static_cast<std::size_t>(x.indices != nullptr ? x.indices[k] : k)] = x.value(k);
      f(missing, rows_.weight(i));
    }
  };
  std::vector<double> largest(d, 0.0);
  for_each([&](bool, double) {
    for (std::size_t k = 0; k < d; ++k) largest[k] = std::max(largest[k], std::fabs(values[k]));
  });
  Moments moments(largest, largest_weight_, rows_.rows());
  for_each([&](bool missing, double weight) {
    moments.add_to_means(values.data(), weight);
    for (std::size_t k = 0; k < d && missing; ++k) moments.add_absent(k, weight);
  });
  moments.finish_means();
  if (rules_.standardize)
    for_each([&](bool missing, double weight) {
      moments.add_to_deviations(missing ? moments.mean.data() : values.data(), weight);
    });
  moments.finish_deviations();
  set_units(column, moments.mean.data(), moments.deviation.data(), rules_.standardize);
}

std::shared_ptr<const Encoder> RowTable::fit(const Progress& progress) const {
  std::vector<Column> columns = columns_;
  fit_scalars(columns, progress);
  std::vector<double> rank;
  for (std::size_t j = 0; j < columns.size(); ++j) {
    if (columns[j].kind == ColumnKind::category) {
      columns[j].categories = categories_[j].sorted(rank);
      columns[j].reference = rules_.reference;
    }
    if (block(columns[j].kind)) fit_block(columns[j], j, progress);
  }
  return std::make_shared<const Encoder>(std::move(columns), rules_.missing, rules_.unknown_is_error);
}

std::unique_ptr<Dataset> RowTable::encode(const Encoder& encoder, const Progress& progress,
                                          MemoryBudget& memory) const {
  double per_row = row_overhead;
  for (const Column& c : encoder.columns())
    per_row += c.kind == ColumnKind::category ? 24 : c.kind == ColumnKind::sparse ? 0 : 8.0 * c.features().number();
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
  std::vector<std::vector<double>> ranks(columns_.size());
  for (std::size_t j = 0; j < columns_.size(); ++j) categories_[j].sorted(ranks[j]);
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
