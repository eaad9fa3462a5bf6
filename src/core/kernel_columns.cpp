#include "kernel_columns.hpp"

#include <algorithm>

namespace margin {

namespace {
constexpr std::size_t batch = 8;  // columns computed in one sweep over the rows: each row is read once for all
constexpr std::size_t chunk = 64 * tile_rows;
}  // namespace

KernelColumns::KernelColumns(const KernelRows& rows, double bytes, std::function<void(double)> poll)
    : rows_(rows), poll_(std::move(poll)), points_(batch) {
  const double one = 8.0 * static_cast<double>(rows.size()) + 128;
  capacity_ = static_cast<std::size_t>(std::clamp(bytes / one, static_cast<double>(batch), 1e9));
}

std::list<KernelColumns::Slot>::iterator KernelColumns::make(std::int64_t row) {
  if (slots_.size() >= capacity_) {
    at_.erase(slots_.back().row);
    slots_.splice(slots_.begin(), slots_, std::prev(slots_.end()));
  } else {
    slots_.emplace_front();
    slots_.front().values.reset(new double[rows_.size()]);
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
    visit(k, found->second->values.get());
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
      columns.push_back(make(row)->values.get());
    }
    std::vector<double*> at(count);
    for (std::size_t from = 0; from < n; from += chunk) {
      const std::size_t to = std::min(n, from + chunk);
      for (std::size_t b = 0; b < count; ++b) at[b] = columns[b] + from;
      rows_.evaluate(points, from, to, at.data());
      poll_(static_cast<double>(count * (to - from)) * rows_.operations());
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
