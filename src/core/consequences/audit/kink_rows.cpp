#include "core/consequences/audit/kink_rows.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace margin {

namespace {

/// By distance, and for equal ones in an order that is not that of the rows either.
bool before(const KinkRows::Kept& a, const KinkRows::Kept& b) {
  if (a.away != b.away) return a.away < b.away;
  return std::tie(a.norm, a.weight, a.outcome, a.dual, a.count) <
         std::tie(b.norm, b.weight, b.outcome, b.dual, b.count);
}

}  // namespace

void KinkRows::add(const Row& x, const Kept& row) {
  if (!wants(row.away)) return;
  rows_.push_back(row);
  Kept& own = rows_.back();
  own.begin = values_.size();
  const Row thin = nonzeros_.of(x, 2);  // whatever there is of them
  if (x.indices == nullptr) {
    const auto append = [&](const auto* values) { values_.insert(values_.end(), values, values + thin.count); };
    thin.wide ? append(thin.doubles()) : append(thin.floats());
    indices_.insert(indices_.end(), thin.indices, thin.indices + thin.count);
  } else {
    for (std::int32_t k = 0; k < thin.count; ++k) {
      const double value = thin.value(k);
      if (value == 0) continue;
      values_.push_back(value);
      indices_.push_back(thin.indices[k]);
    }
  }
  own.count = static_cast<std::int32_t>(values_.size() - own.begin);
  trimmed_ = false;
  if (rows_.size() > 2 * most_rows_ || values_.size() > 2 * most_values_) trim();
}

/// Keeps the nearest rows, as far as they fit: of any part of the rows at least those that are kept of all.
void KinkRows::trim() const {
  if (trimmed_) return;
  trimmed_ = true;
  rows_.erase(std::remove_if(rows_.begin(), rows_.end(), [&](const Kept& row) { return !before(row, limit_); }),
              rows_.end());
  if (rows_.size() > most_rows_) {
    // No others are in the order that follows than these and the next one.
    const auto next = rows_.begin() + static_cast<std::ptrdiff_t>(most_rows_);
    std::nth_element(rows_.begin(), next, rows_.end(), before);
    rows_.erase(next + 1, rows_.end());
  }
  // By distances beside their places: rows are wider, and seldom as far as each other.
  std::vector<std::pair<double, std::uint32_t>> order(rows_.size());
  for (std::size_t i = 0; i < rows_.size(); ++i) order[i] = {rows_[i].away, static_cast<std::uint32_t>(i)};
  std::sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : before(rows_[a.second], rows_[b.second]);
  });
  std::vector<Kept> sorted(rows_.size());
  for (std::size_t i = 0; i < order.size(); ++i) sorted[i] = rows_[order[i].second];
  rows_ = std::move(sorted);
  std::size_t fit = 0, values = 0;
  while (fit < rows_.size() && fit < most_rows_ && values + static_cast<std::size_t>(rows_[fit].count) <= most_values_)
    values += static_cast<std::size_t>(rows_[fit++].count);
  if (fit < rows_.size()) limit_ = rows_[fit];
  rows_.resize(fit);
  if (4 * values > 3 * values_.size()) return;  // little is in the way
  std::vector<double> own;
  std::vector<std::int32_t> columns;
  own.reserve(values);
  columns.reserve(values);
  for (Kept& row : rows_) {
    const auto from = static_cast<std::ptrdiff_t>(row.begin), to = from + row.count;
    row.begin = own.size();
    own.insert(own.end(), values_.begin() + from, values_.begin() + to);
    columns.insert(columns.end(), indices_.begin() + from, indices_.begin() + to);
  }
  values_ = std::move(own);
  indices_ = std::move(columns);
}

const std::vector<KinkRows::Kept>& KinkRows::rows() const {
  trim();
  return rows_;
}

void KinkRows::write(std::vector<double>& out) const {
  trim();
  out.push_back(static_cast<double>(rows_.size()));
  for (const Kept& row : rows_) {
    out.insert(out.end(), {row.away, row.weight, row.outcome, row.dual, row.norm, static_cast<double>(row.count)});
    const Row x = values(row);
    for (std::int32_t k = 0; k < x.count; ++k) out.insert(out.end(), {static_cast<double>(x.indices[k]), x.value(k)});
  }
}

bool KinkRows::merge(const double* from, const double* end, const std::vector<std::int32_t>* columns,
                     std::int32_t dimensions) {
  constexpr std::ptrdiff_t head = 6;
  const auto is_count = [](double v, double most) { return v >= 0 && v <= most && v == std::floor(v); };
  const double width = columns != nullptr ? static_cast<double>(columns->size()) : dimensions;
  if (from == end || !is_count(*from, static_cast<double>(end - from))) return false;
  auto left = static_cast<std::int64_t>(*from++);
  for (const double* at = from;; at += head + 2 * static_cast<std::ptrdiff_t>(at[5])) {
    if (left-- == 0) {
      if (at != end) return false;
      break;
    }
    if (end - at < head || !is_count(at[5], static_cast<double>((end - at - head) / 2))) return false;
    for (auto k = static_cast<std::ptrdiff_t>(at[5]); k > 0; --k)
      if (!is_count(at[head + 2 * k - 2], width - 1)) return false;
  }
  std::vector<double> values;
  std::vector<std::int32_t> indices;
  while (from != end) {
    const Kept row{from[0], from[1], from[2], from[3], from[4], 0, static_cast<std::int32_t>(from[5])};
    from += head;
    values.clear();
    indices.clear();
    for (std::int32_t k = 0; k < row.count; ++k, from += 2) {
      const auto column = static_cast<std::int32_t>(from[0]);
      indices.push_back(columns != nullptr ? (*columns)[static_cast<std::size_t>(column)] : column);
      values.push_back(from[1]);
    }
    add(sparse_row(indices.data(), values.data(), row.count, 0), row);
  }
  return true;
}

}  // namespace margin
