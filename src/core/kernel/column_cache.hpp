// Columns of the kernel matrix, the values of one row with all rows, kept as long as memory allows: the least recently
// used one goes first.
#pragma once

#include <functional>
#include <list>
#include <unordered_map>

#include "core/base/large_array.hpp"
#include "core/base/progress.hpp"
#include "core/kernel/rows.hpp"

namespace margin {

class KernelColumns {
 public:
  /// `bytes`: how much the columns may take (at least eight are kept). `progress` is kept by reference.
  KernelColumns(const KernelRows& rows, double bytes, const Progress& progress);

  /// Calls visit(k, column) for every k, where `column` holds the values of row which[k] with all rows and lives as
  /// long as the visit; those at hand come first, the others are computed several at a time. No row may occur twice.
  void each(const std::vector<std::int64_t>& which, const std::function<void(std::size_t, const double*)>& visit);
  /// sums += Σ by[k] · column of which[k], in the order in which each() visits. Runs on threads.
  void add_to(const std::vector<std::int64_t>& which, const std::vector<double>& by, double* sums);
  /// One column, valid until the next call.
  const double* column(std::int64_t row);

  std::size_t capacity() const { return capacity_; }
  std::int64_t computed() const { return computed_; }

 private:
  struct Slot {
    std::int64_t row;
    double* values;
  };
  std::list<Slot>::iterator make(std::int64_t row);
  double* allocate();
  /// Columns of some rows that are not held, at most a batch; ready(from, to, columns) sees every stretch of them once
  /// it is there, on the thread that computed it.
  using Ready = std::function<void(std::size_t from, std::size_t to, const std::vector<double*>& columns)>;
  std::vector<double*> compute(const std::vector<std::int64_t>& rows, const Ready& ready);

  const KernelRows& rows_;
  std::size_t stride_, capacity_;
  std::vector<LargeArray> slabs_;  // what the columns are in
  double* free_ = nullptr;         // room for more of them in the last slab
  std::size_t free_columns_ = 0;
  const Progress& progress_;
  std::list<Slot> slots_;  // the most recently used first
  std::unordered_map<std::int64_t, std::list<Slot>::iterator> at_;
  std::vector<KernelPoint> points_;
  std::int64_t computed_ = 0;
};

}  // namespace margin
