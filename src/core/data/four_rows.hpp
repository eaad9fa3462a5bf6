// Four dense rows at once against one vector, which is then loaded once for all of them; meanwhile the next four come
// nearer. The bits are those of one row after the other.
#pragma once

#include <algorithm>

#include "core/data/dataset.hpp"
#include "core/data/row.hpp"

namespace margin {

/// Deals rows out: use(rows, x, count, next) of four dense rows of one width (`next`: four more like them, or nullptr),
/// of fewer at the end, and of sparse rows one by one.
template <class Use>
class RowsByFour {
 public:
  RowsByFour(const Dataset& data, Use use) : data_(data), use_(use) {}

  void add(std::int64_t i) {
    const Row x = data_.row(i);
    if (i + 4 < data_.rows()) fetch_sparse(data_.row(i + 4));
    if (x.indices != nullptr) {
      use_(&i, &x, 1, nullptr);
      return;
    }
    Waiting& w = waiting_[x.wide ? 1 : 0];
    w.rows[w.count] = i;
    w.x[w.count++] = x;
    if (w.count < 8) return;
    use_(w.rows, w.x, 4, w.x + 4);
    w.count = 4;
    std::copy_n(w.rows + 4, 4, w.rows);
    std::copy_n(w.x + 4, 4, w.x);
  }
  /// The rows that still wait.
  void finish() {
    for (Waiting& w : waiting_)
      for (int first = 0; first < w.count; first += 4)
        use_(w.rows + first, w.x + first, std::min(4, w.count - first), nullptr);
  }

 private:
  struct Waiting {
    std::int64_t rows[8];
    Row x[8];
    int count = 0;
  };
  /// Values and indices lie one after the other.
  static void fetch_sparse(const Row& x) {
    if (x.indices == nullptr) return;
    const auto* const from = static_cast<const char*>(x.values);
    const auto* const end = reinterpret_cast<const char*>(x.indices + std::min(x.count, 256));
    for (const char* line = from; line < end; line += 64) __builtin_prefetch(line, 0, 2);
  }

  const Dataset& data_;
  Use use_;
  Waiting waiting_[2];  // floats and doubles
};

namespace four_rows {

/// Calls f(x, next) with the numbers of the rows.
template <class T, class F>
void visit_as(const Row* x, const Row* next, F f) {
  const T *now[4], *later[4] = {};
  for (int r = 0; r < 4; ++r) {
    now[r] = static_cast<const T*>(x[r].values);
    if (next != nullptr) later[r] = static_cast<const T*>(next[r].values);
  }
  f(now, next != nullptr ? later : nullptr, static_cast<std::size_t>(x->count));
}

}  // namespace four_rows

/// out[r] = <x[r], w> of rows that were dealt out.
inline void dots(const Row* x, int count, const Row* next, const double* w, double* out) {
  if (count < 4) {
    for (int r = 0; r < count; ++r) out[r] = dot(x[r], w);
  } else if (x->wide) {
    four_rows::visit_as<double>(x, next,
                                [&](auto now, auto later, std::size_t n) { simd().dots_dd(now, later, w, n, out); });
  } else {
    four_rows::visit_as<float>(x, next,
                               [&](auto now, auto later, std::size_t n) { simd().dots_fd(now, later, w, n, out); });
  }
}

/// w += a[r] x[r] in turn; rows with a[r] = 0 add nothing.
inline void add(const double* a, const Row* x, int count, const Row* next, double* w) {
  if (std::count_if(a, a + count, [](double v) { return v != 0; }) < 3 || count < 4) {
    for (int r = 0; r < count; ++r)
      if (a[r] != 0) add(a[r], x[r], w);
  } else if (x->wide) {
    four_rows::visit_as<double>(x, next,
                                [&](auto now, auto later, std::size_t n) { simd().axpys_d(a, now, later, w, n); });
  } else {
    four_rows::visit_as<float>(x, next,
                               [&](auto now, auto later, std::size_t n) { simd().axpys_f(a, now, later, w, n); });
  }
}

}  // namespace margin
