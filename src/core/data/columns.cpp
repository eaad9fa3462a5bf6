#include "core/data/columns.hpp"

#include <algorithm>

#include "core/base/polled.hpp"

namespace margin {

namespace {
constexpr double sparse_below = 0.25;

std::int32_t column_at(const Row& x, std::int32_t k) { return x.indices != nullptr ? x.indices[k] : k; }

/// Of rows as codes the most that their layout allows: what is stored of them is less than their features.
double density_of(const Dataset& data) {
  if (data.codes() == nullptr || data.dimensions() == 0) return data.density();
  const CodeLayout& layout = data.codes()->layout();
  auto most = static_cast<double>(layout.numbers.size());
  for (const CodedTerm& t : layout.terms) most += std::max(t.steps, t.indicators > 0 ? t.filled + 1 : 0);
  return most / data.dimensions();
}

bool any_wide(const Dataset& data) {
  if (data.codes() != nullptr) return !data.codes()->layout().numbers.empty();  // as CodedRows::row
  for (std::int64_t i = 0; i < data.rows(); ++i)
    if (data.row(i).wide) return true;
  return false;
}

}  // namespace

Columns::Columns(const Dataset& data, const Progress& progress)
    : rows_(static_cast<std::int32_t>(data.rows())), sparse_(density_of(data) < sparse_below) {
  const auto d = static_cast<std::size_t>(data.dimensions());
  wide_ = any_wide(data);
  if (sparse_) {
    begin_.assign(d + 1, 0);
    for (std::int64_t i = 0; i < data.rows(); ++i) {
      const Row x = data.row(i);
      progress.work(x.count);
      for (std::int32_t k = 0; k < x.count; ++k) ++begin_[static_cast<std::size_t>(column_at(x, k)) + 1];
    }
    for (std::size_t j = 0; j < d; ++j) begin_[j + 1] += begin_[j];
    indices_.resize(begin_[d]);
  }
  if (wide_)
    fill(data, progress, doubles_);
  else
    fill(data, progress, floats_);
}

// Row after row: as many lines of the copy as there are columns are written at a time, and stay in the cache until
// they are full.
template <class T>
void Columns::fill(const Dataset& data, const Progress& progress, std::vector<T>& values) {
  const auto n = static_cast<std::size_t>(data.rows());
  polled_assign(values, sparse_ ? begin_.back() : n * static_cast<std::size_t>(data.dimensions()), T(0), progress);
  std::vector<std::size_t> next(begin_);
  for (std::size_t i = 0; i < n; ++i) {
    const Row x = data.row(static_cast<std::int64_t>(i));
    progress.work(8.0 * x.count + 8);  // a line of the cache each
    for (std::int32_t k = 0; k < x.count; ++k) {
      const auto j = static_cast<std::size_t>(column_at(x, k));
      const std::size_t to = sparse_ ? next[j]++ : j * n + i;
      if (sparse_) indices_[to] = static_cast<std::int32_t>(i);
      values[to] = static_cast<T>(x.value(k));
    }
  }
}

double Columns::bytes(const Dataset& data) {
  const double cells = static_cast<double>(data.rows()) * data.dimensions(), density = density_of(data);
  const double value = any_wide(data) ? 8 : 4;
  return density < sparse_below ? (value + 4) * density * cells + 16.0 * data.dimensions() : value * cells;
}

}  // namespace margin
