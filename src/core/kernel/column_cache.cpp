#include "core/kernel/column_cache.hpp"

#include <algorithm>
#include <utility>

#include "core/base/threads.hpp"
#include "core/simd/loops.hpp"

namespace margin {

namespace {
constexpr std::size_t batch = 8;  // columns computed in one sweep over the rows: each row is read once for all
// Rows between two polls: more of those whose kernel values cost little.
constexpr std::size_t short_stretch = 16 * tile_rows, long_stretch = 64 * tile_rows;
constexpr double costly = 64;
constexpr std::size_t in_cache = 2048;  // sums that stay in the cache while columns are added to them
// Columns are allocated in slabs: small ones, then large ones.
constexpr std::size_t small_slab = std::size_t{16} << 20, large_slab = std::size_t{256} << 20,
                      in_small_slabs = 2 * large_slab;
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
    const std::size_t wanted = (held * one < in_small_slabs ? small_slab : large_slab) / one + 1;
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
  for (std::size_t first = 0; first < missing.size(); first += batch) {
    const std::size_t count = std::min(batch, missing.size() - first);
    std::vector<std::int64_t> rows;
    for (std::size_t b = 0; b < count; ++b) rows.push_back(which[missing[first + b]]);
    const std::vector<double*> columns = compute(rows, nullptr);
    for (std::size_t b = 0; b < count; ++b) visit(missing[first + b], columns[b]);
  }
}

void KernelColumns::add_to(const std::vector<std::int64_t>& which, const std::vector<double>& by, double* sums) {
  std::vector<const double*> held;
  std::vector<double> factor;
  std::vector<std::size_t> missing;
  for (std::size_t k = 0; k < which.size(); ++k) {
    const auto found = at_.find(which[k]);
    if (found == at_.end()) {
      missing.push_back(k);
      continue;
    }
    slots_.splice(slots_.begin(), slots_, found->second);
    held.push_back(found->second->values);
    factor.push_back(by[k]);
  }
  const std::size_t n = rows_.size();
  const double operations = static_cast<double>(held.size()) / 2;
  const Chunks stretches(static_cast<std::int64_t>((n + in_cache - 1) / in_cache), in_cache * operations);
  progress_.threads().run(stretches.count(), progress_, [&](std::size_t k, const Progress& progress) {
    for (std::int64_t s = stretches.begin(k); s < stretches.end(k); ++s) {
      const std::size_t from = static_cast<std::size_t>(s) * in_cache, to = std::min(n, from + in_cache);
      for (std::size_t c = 0; c < held.size(); ++c) {
        simd().axpy_d(factor[c], held[c] + from, sums + from, to - from);
        progress.work(static_cast<double>(to - from) / 2);
      }
    }
  });
  for (std::size_t first = 0; first < missing.size(); first += batch) {
    const std::size_t count = std::min(batch, missing.size() - first);
    std::vector<std::int64_t> rows;
    for (std::size_t b = 0; b < count; ++b) rows.push_back(which[missing[first + b]]);
    compute(rows, [&](std::size_t from, std::size_t to, const std::vector<double*>& columns) {
      for (std::size_t b = 0; b < count; ++b)
        simd().axpy_d(by[missing[first + b]], columns[b] + from, sums + from, to - from);
    });
  }
}

std::vector<double*> KernelColumns::compute(const std::vector<std::int64_t>& rows, const Ready& ready) {
  std::vector<const KernelPoint*> points;
  std::vector<double*> columns;
  for (std::size_t b = 0; b < rows.size(); ++b) {
    rows_.set(points_[b], static_cast<std::size_t>(rows[b]));
    points.push_back(&points_[b]);
    columns.push_back(make(rows[b])->values);
  }
  const std::size_t n = rows_.size(), stretch = rows_.operations() > costly ? short_stretch : long_stretch;
  const double operations = static_cast<double>(rows.size() * stretch) * rows_.operations();
  const Chunks stretches(static_cast<std::int64_t>((n + stretch - 1) / stretch), operations);
  progress_.threads().run(stretches.count(), progress_, [&](std::size_t k, const Progress& progress) {
    std::vector<double*> at(rows.size());
    for (std::int64_t s = stretches.begin(k); s < stretches.end(k); ++s) {
      const std::size_t from = static_cast<std::size_t>(s) * stretch, to = std::min(n, from + stretch);
      for (std::size_t b = 0; b < rows.size(); ++b) at[b] = columns[b] + from;
      rows_.evaluate(points, from, to, at.data());
      for (std::size_t b = 0; b < rows.size(); ++b) {
        const auto own = static_cast<std::size_t>(rows[b]);
        if (own >= from && own < to) columns[b][own] = rows_.diagonal(own);
      }
      if (ready) ready(from, to, columns);
      progress.work(static_cast<double>(rows.size() * (to - from)) * rows_.operations());
    }
  });
  computed_ += static_cast<std::int64_t>(rows.size());
  return columns;
}

const double* KernelColumns::column(std::int64_t row) {
  const double* found = nullptr;
  each({row}, [&](std::size_t, const double* values) { found = values; });
  return found;
}

}  // namespace margin
