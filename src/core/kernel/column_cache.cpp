#include "core/kernel/column_cache.hpp"

#include <algorithm>
#include <utility>

namespace margin {

namespace {
constexpr std::size_t batch = 8;  // columns computed in one sweep over the rows: each row is read once for all
constexpr std::size_t chunk = 64 * tile_rows;
// Columns are allocated in slabs: small ones, then large ones with huge pages.
constexpr std::size_t small_slab = std::size_t{16} << 20, in_small_slabs = 2 * large_array_bytes;
}  // namespace

KernelColumns::KernelColumns(const KernelRows& rows, double bytes, const Progress& progress)
    : rows_(rows), stride_((rows.size() + 7) / 8 * 8), progress_(progress), points_(batch) {
  const double one = 8.0 * static_cast<double>(stride_) + 128;
  capacity_ = static_cast<std::size_t>(
      std::clamp(bytes / one, static_cast<double>(batch), std::max<double>(batch, rows.size())));
}

double* KernelColumns::allocate() {
  if (free_columns_ == 0) {
    const std::size_t one = stride_ * sizeof(double), held = slots_.size();
    const std::size_t wanted = (held * one < in_small_slabs ? small_slab : large_array_bytes) / one + 1;
    free_columns_ = std::min(wanted, capacity_ - held);
    slabs_.emplace_back(free_columns_ * stride_);
    free_ = slabs_.back().data();
  }
  --free_columns_;
  return std::exchange(free_, free_ + stride_);
}

std::list<KernelColumns::Slot>::iterator KernelColumns::make(std::int64_t row) {
  if (slots_.size() >= capacity_) {
    at_.erase(slots_.back().row);
    slots_.splice(slots_.begin(), slots_, std::prev(slots_.end()));
  } else {
    slots_.push_front({row, allocate()});
  }
  slots_.front().row = row;
  at_[row] = slots_.begin();
  return slots_.begin();
}

void KernelColumns::each(const std::vector<std::int64_t>& which,
                         const std::function<void(std::size_t, const double*)>& visit) {
  std::vector<std::size_t> missing;
  for (std::size_t k = 0; k < which.size(); ++k) {
    const auto found = at_.find(which[k]);
    if (found == at_.end()) {
      missing.push_back(k);
      continue;
    }
    slots_.splice(slots_.begin(), slots_, found->second);
    visit(k, found->second->values);
  }
  const std::size_t n = rows_.size();
  for (std::size_t first = 0; first < missing.size(); first += batch) {
    const std::size_t count = std::min(batch, missing.size() - first);
    std::vector<const KernelPoint*> points;
    std::vector<double*> columns;
    for (std::size_t b = 0; b < count; ++b) {
      const std::int64_t row = which[missing[first + b]];
      rows_.set(points_[b], static_cast<std::size_t>(row));
      points.push_back(&points_[b]);
      columns.push_back(make(row)->values);
    }
    std::vector<double*> at(count);
    for (std::size_t from = 0; from < n; from += chunk) {
      const std::size_t to = std::min(n, from + chunk);
      for (std::size_t b = 0; b < count; ++b) at[b] = columns[b] + from;
      rows_.evaluate(points, from, to, at.data());
      progress_.work(static_cast<double>(count * (to - from)) * rows_.operations());
    }
    computed_ += static_cast<std::int64_t>(count);
    for (std::size_t b = 0; b < count; ++b) {
      const auto row = static_cast<std::size_t>(which[missing[first + b]]);
      columns[b][row] = rows_.diagonal(row);
      visit(missing[first + b], columns[b]);
    }
  }
}

const double* KernelColumns::column(std::int64_t row) {
  const double* found = nullptr;
  each({row}, [&](std::size_t, const double* values) { found = values; });
  return found;
}

}  // namespace margin
