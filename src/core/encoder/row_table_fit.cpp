// What all rows say of the columns: their units, their categories, and how their values are spread. Sums do not depend
// on the order of the rows.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "core/base/error.hpp"
#include "core/base/polled.hpp"
#include "core/encoder/cell_reader.hpp"
#include "core/encoder/collinear.hpp"
#include "core/encoder/fit_column.hpp"
#include "core/math/order_free_sum.hpp"

namespace margin {

namespace {

/// Means and deviations of numbers by the weights of their rows; a missing one has its mean. First all rows are added to
/// the means, then all to the deviations.
class Moments {
 public:
  Moments(const std::vector<double>& largest, double largest_weight, std::int64_t rows)
      : mean(largest.size(), 0.0),
        spread(largest.size(), 0.0),
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
      spread[j] = std::isfinite(found) ? found : 0;
    }
  }

  /// The part of all weight whose rows have no value j.
  double absent(std::size_t j) const { return total_.value() > 0 ? absent_[j].value() / total_.value() : 0; }

  std::vector<double> mean, spread;

 private:
  const std::vector<double>& largest_;
  double largest_weight_;
  std::int64_t rows_;
  OrderFreeCuts weight_cuts_;
  OrderFreeSum total_;
  OrderFreeSums sums_;
  std::vector<OrderFreeSum> absent_;
};

/// `first`: the place of the column's first number in the moments.
void set_units(Column& c, const Moments& moments, std::size_t first, bool standardize) {
  const auto n = static_cast<std::size_t>(c.values());
  set_units(c, moments.mean.data() + first, moments.spread.data() + first, n > 0 ? moments.absent(first) : 0,
            standardize);
}

template <class F>
void for_each_index(const Row& x, const Progress& progress, F f) {
  progress.work(4.0 * x.count);
  for (std::int32_t k = 0; k < x.count; ++k) f(static_cast<std::size_t>(x.indices[k]));
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
  for (std::int64_t i = 0; i < rows_.rows(); ++i) {
    progress.work(4.0 * static_cast<double>(n));
    if (reader.read(i))
      for (std::size_t j = 0; j < n; ++j)
        if (reader.missing(j)) reader.numbers()[j] = moments.mean[j];
    moments.add_to_deviations(reader.numbers(), rows_.weight(i));
  }
  moments.finish_deviations();
  for (std::size_t j = 0; j < n; ++j) {
    columns[j].offset = !rules_.offset.empty() && columns[j].name == rules_.offset;
    if (scalar(columns[j].kind)) set_units(columns[j], moments, j, standardized(columns[j], rules_));
  }
}

void RowTable::fit_categories(std::vector<Column>& columns, const Progress& progress) const {
  const std::size_t n = columns.size();
  const OrderFreeCuts cuts(largest_weight_, rows_.rows());
  OrderFreeSum total;
  std::vector<OrderFreeSum> absent(n);
  std::vector<std::vector<OrderFreeSum>> mass(n);
  for (std::size_t j = 0; j < n; ++j) mass[j].resize(static_cast<std::size_t>(categories_[j].size()));
  CellReader reader(*this);
  for (std::int64_t i = 0; i < rows_.rows(); ++i) {
    progress.work(4.0 * static_cast<double>(n));
    const double weight = rows_.weight(i);
    const bool any = reader.read(i);
    total.add(weight, cuts);
    for (std::size_t j = 0; j < n; ++j) {
      if (!listed(columns[j].kind)) continue;
      if (any && reader.missing(j))
        absent[j].add(weight, cuts);
      else if (columns[j].kind == ColumnKind::category)
        mass[j][static_cast<std::size_t>(reader.numbers()[j])].add(weight, cuts);
      else
        for_each_index(blocks_[j]->row(i), progress, [&](std::size_t k) { mass[j][k].add(weight, cuts); });
    }
  }
  const auto share = [&](const OrderFreeSum& sum) { return total.value() > 0 ? sum.value() / total.value() : 0; };
  for (std::size_t j = 0; j < n; ++j) {
    if (!listed(columns[j].kind)) continue;
    std::vector<double> rank;
    columns[j].categories = categories_[j].sorted(rank);
    ColumnSpread& spread = columns[j].spread.emplace();
    spread.missing = share(absent[j]);
    spread.mean.resize(columns[j].categories.size());
    for (std::size_t k = 0; k < rank.size(); ++k)
      if (rank[k] >= 0) spread.mean[static_cast<std::size_t>(rank[k])] = share(mass[j][k]);
  }
}

void RowTable::fit_sparse(Column& column, std::size_t j, const Progress& progress) const {
  struct Sums {
    double largest = 0;
    OrderFreeCuts cuts;
    OrderFreeSum values, weights, squares;
    double mean = 0;
  };
  const Dataset& block = *blocks_[j];
  const OrderFreeCuts weight_cuts(largest_weight_, rows_.rows());
  std::map<std::int32_t, Sums> features;  // of those that some row has
  const auto for_each = [&](auto f) {
    for (std::int64_t i = 0; i < rows_.rows(); ++i) {
      const Row x = block.row(i);
      progress.work(16.0 * x.count + 8);
      for (std::int32_t k = 0; k < x.count; ++k)
        if (x.value(k) != 0) f(features[x.indices != nullptr ? x.indices[k] : k], x.value(k), rows_.weight(i));
    }
  };
  for_each([](Sums& s, double v, double) { s.largest = std::max(s.largest, std::fabs(v)); });
  OrderFreeSum total, absent;
  CellReader reader(*this);
  for (std::int64_t i = 0; i < rows_.rows(); ++i) {
    progress.work(8);
    total.add(rows_.weight(i), weight_cuts);
    if (column.missing && reader.read(i) && reader.missing(j)) absent.add(rows_.weight(i), weight_cuts);
  }
  const double all = total.value() > 0 ? total.value() : 1;
  for (auto& [at, s] : features) s.cuts = OrderFreeCuts(s.largest * largest_weight_, rows_.rows());
  for_each([&](Sums& s, double v, double weight) {
    s.values.add(weight * v, s.cuts);
    s.weights.add(weight, weight_cuts);
  });
  for (auto& [at, s] : features) {
    s.mean = s.values.value() / all + 0.0;
    const double reach = s.largest + std::fabs(s.mean);
    s.cuts = OrderFreeCuts(largest_weight_ * reach * reach, rows_.rows());
  }
  for_each([&](Sums& s, double v, double weight) { s.squares.add(weight * (v - s.mean) * (v - s.mean), s.cuts); });
  ColumnSpread& spread = column.spread.emplace();
  spread.missing = absent.value() / all;
  for (const auto& [at, s] : features) {
    progress.work(16);
    const double zeros = std::max(0.0, all - s.weights.value());
    const double deviation = std::sqrt((s.squares.value() + zeros * s.mean * s.mean) / all);
    spread.at.push_back(at);
    spread.mean.push_back(s.mean);
    spread.deviation.push_back(std::isfinite(deviation) ? deviation : 0);
  }
}

std::optional<double> RowTable::label_unit(const std::vector<Column>& columns, const Progress& progress) const {
  if (rows_.outcome() != Dataset::Outcome::targets || !rules_.standardize) return std::nullopt;
  const auto found = std::find_if(columns.begin(), columns.end(), [](const Column& c) { return c.offset; });
  const auto offset = static_cast<std::size_t>(found - columns.begin());
  CellReader reader(*this);
  const auto for_each = [&](auto f) {
    for (std::int64_t i = 0; i < rows_.rows(); ++i) {
      progress.work(8);
      if (found != columns.end()) reader.read(i);
      const double label = rows_.target(i) - (found != columns.end() ? reader.numbers()[offset] : 0);
      f(&label, rows_.weight(i));
    }
  };
  std::vector<double> largest(1, 0.0);
  for_each([&](const double* label, double) { largest[0] = std::max(largest[0], std::fabs(*label)); });
  Moments moments(largest, largest_weight_, rows_.rows());
  for_each([&](const double* label, double weight) { moments.add_to_means(label, weight); });
  moments.finish_means();
  for_each([&](const double* label, double weight) { moments.add_to_deviations(label, weight); });
  moments.finish_deviations();
  return unit_for(moments.mean[0], moments.spread[0]);
}

void RowTable::fit_block(Column& column, std::size_t j, const Progress& progress) const {
  if (column.kind == ColumnKind::sparse) return fit_sparse(column, j, progress);
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
  for_each([&](bool missing, double weight) {
    moments.add_to_deviations(missing ? moments.mean.data() : values.data(), weight);
  });
  moments.finish_deviations();
  set_units(column, moments, 0, rules_.standardize);
}

std::shared_ptr<const Encoder> RowTable::fit(const Progress& progress, MemoryBudget& memory) const {
  std::vector<Column> columns = columns_;
  fit_scalars(columns, progress);
  require_binned_columns(columns, rules_.bins);
  if (rules_.bins.any()) fit_bins(columns, rules_.bins, progress, memory);
  fit_categories(columns, progress);
  choose_bases(columns, rules_);
  for (std::size_t j = 0; j < columns.size(); ++j)
    if (block(columns[j].kind) && !listed(columns[j].kind)) fit_block(columns[j], j, progress);
  const std::optional<double> unit = label_unit(columns, progress);
  auto whole = std::make_shared<const Encoder>(columns, rules_.missing, rules_.unknown_is_error, unit);
  const std::vector<std::string>& named = rules_.interactions.named;
  if (!named.empty())
    whole = with_pairs(*whole, cut_columns(*whole, progress, memory), named_pairs(named, whole->columns()), progress);
  if (!rules_.drop_collinear) return whole;
  std::int32_t offset = -1;
  for (const Column& c : whole->columns())
    if (c.offset) offset = c.first;
  CollinearFeatures collinear(whole->width(), rules_.intercept, offset, memory);
  Encoder::Scratch scratch;
  for_each_row(progress, [&](std::int64_t i, const Cells& cells) {
    const FeatureRow x = *whole->encode(cells, scratch);
    progress.work(4.0 * x.count);
    collinear.add(x, rows_.weight(i), progress);
  });
  std::vector<std::int32_t> dropped = collinear.find(progress);
  if (dropped.empty()) return whole;
  return std::make_shared<const Encoder>(std::move(columns), rules_.missing, rules_.unknown_is_error, unit,
                                         std::move(dropped), whole->pairs());
}

}  // namespace margin
