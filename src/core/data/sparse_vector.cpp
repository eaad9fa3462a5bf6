#include "core/data/sparse_vector.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "core/base/error.hpp"
#include "core/base/polled.hpp"
#include "core/base/progress.hpp"

namespace margin {

namespace {

void sort_pairs(SparseVector& v, const Progress& progress) {
  // Fresh memory is touched entry by entry, between polls: its pages may take longer than the entries.
  const std::size_t n = v.indices.size();
  std::vector<std::size_t> order;
  order.reserve(n);
  for (std::size_t k = 0; k < n; ++k) {
    order.push_back(k);
    progress.work(16);
  }
  polled_sort(
      order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return v.indices[a] < v.indices[b]; }, progress);
  std::vector<std::int32_t> indices;
  std::vector<double> values;
  indices.reserve(n);
  values.reserve(n);
  for (const std::size_t k : order) {
    indices.push_back(v.indices[k]);
    values.push_back(v.values[k]);
    progress.work(32);
  }
  v.indices.swap(indices);
  v.values.swap(values);
}

[[noreturn]] void not_finite(const std::string& what, double value) {
  throw Error(ErrorKind::invalid_value, what + " is " +
                                            (std::isnan(value) ? "NaN"
                                             : value > 0       ? "Infinity"
                                                               : "-Infinity") +
                                            ", expected a finite number");
}

void require_row(const FeatureRow& x) {
  if (!sound_indices(x))
    throw Error(ErrorKind::malformed_binary, "malformed margin_sparse: its indices are not those of a vector");
}

bool survives_as_float(double v) { return std::fabs(v) <= FLT_MAX && static_cast<double>(static_cast<float>(v)) == v; }

}  // namespace

std::int32_t put_in_order(SparseVector& v, const Progress& progress) {
  std::size_t at = 0;
  const auto increases = [&](std::size_t k) {
    at = k;
    return k == 0 || v.indices[k - 1] < v.indices[k];
  };
  if (!polled_all(v.indices.size(), 2, progress, increases)) {
    sort_pairs(v, progress);
    if (!polled_all(v.indices.size(), 2, progress, increases)) return v.indices[at];
  }
  if (polled_all(v.values.size(), 2, progress, [&](std::size_t k) { return v.values[k] != 0; })) return -1;
  std::size_t kept = 0;
  polled_each(static_cast<std::int64_t>(v.values.size()), 4, progress, [&](std::int64_t i) {
    const auto k = static_cast<std::size_t>(i);
    if (v.values[k] == 0) return;
    v.indices[kept] = v.indices[k];
    v.values[kept++] = v.values[k];
  });
  v.indices.resize(kept);
  v.values.resize(kept);
  return -1;
}

SparseVector make_sparse(const std::int32_t* indices, const double* values, std::size_t n, std::int32_t dimensions,
                         const Progress& progress) {
  SparseVector v;
  v.dimensions = dimensions;
  v.indices.reserve(n);
  v.values.assign(values, values + n);
  for (std::size_t k = 0; k < n; ++k) {
    const std::string element = "element " + std::to_string(k + 1);
    progress.work(64);
    if (indices[k] < 1)
      throw Error(ErrorKind::invalid_value,
                  "index " + std::to_string(indices[k]) + " in " + element + ", expected 1 or more");
    if (dimensions > 0 && indices[k] > dimensions)
      throw Error(ErrorKind::invalid_value, "index " + std::to_string(indices[k]) + " in " + element +
                                                " is beyond the stated " + std::to_string(dimensions) + " dimensions");
    if (!std::isfinite(values[k])) not_finite("the value in " + element, values[k]);
    v.indices.push_back(indices[k] - 1);
  }
  const std::int32_t twice = put_in_order(v, progress);
  if (twice >= 0) throw Error(ErrorKind::invalid_value, "index " + std::to_string(twice + 1) + " is given twice");
  return v;
}

template <class T>
SparseVector sparse_of_dense(const T* x, std::int32_t n) {
  SparseVector v;
  v.dimensions = n;
  for (std::int32_t j = 0; j < n; ++j) {
    if (x[j] == T{0}) continue;
    if (!std::isfinite(x[j])) not_finite("element " + std::to_string(j + 1), x[j]);
    v.indices.push_back(j);
    v.values.push_back(x[j]);
  }
  return v;
}
template SparseVector sparse_of_dense(const float*, std::int32_t);
template SparseVector sparse_of_dense(const double*, std::int32_t);

bool sound_indices(const FeatureRow& x) {
  if (x.count == 0) return true;
  // Numbers, not truth values: several at a time.
  std::int32_t unsound = x.indices[0] < 0 ? 1 : 0;
  for (std::int32_t k = 1; k < x.count; ++k) unsound |= x.indices[k] <= x.indices[k - 1] ? 1 : 0;
  const std::int32_t last = x.indices[x.count - 1];
  return unsound == 0 && last < std::numeric_limits<std::int32_t>::max() && (x.dimensions == 0 || last < x.dimensions);
}

bool needs_double(const SparseVector& v, const Progress& progress) {
  return !polled_all(v.values.size(), 2, progress, [&](std::size_t k) { return survives_as_float(v.values[k]); });
}

void pack(const SparseVector& v, bool wide, char* to, const Progress& progress) {
  const auto put = [&](auto value) {
    std::memcpy(to, &value, sizeof value);
    to += sizeof value;
    progress.work(8);
  };
  const std::int32_t header[3] = {v.dimensions, static_cast<std::int32_t>(v.indices.size()), wide ? 1 : 0};
  for (const std::int32_t h : header) put(h);
  for (const double value : v.values) {
    if (wide)
      put(value);
    else
      put(static_cast<float>(value));
  }
  for (const std::int32_t i : v.indices) put(i);
}

FeatureRow view_packed(std::string_view packed) {
  std::int32_t header[3] = {0, 0, 0};
  if (packed.size() >= sparse_header) std::memcpy(header, packed.data(), sizeof header);
  const auto [dimensions, count, wide] = header;
  if (packed.size() < sparse_header || dimensions < 0 || count < 0 || wide < 0 || wide > 1 ||
      packed.size() != packed_bytes(static_cast<std::size_t>(count), wide == 1))
    throw Error(ErrorKind::malformed_binary, "malformed margin_sparse: its size does not fit its header");
  const char* values = packed.data() + sparse_header;
  const char* indices = values + static_cast<std::size_t>(count) * (wide == 1 ? sizeof(double) : sizeof(float));
  const FeatureRow x{{values, reinterpret_cast<const std::int32_t*>(indices), count, wide == 1}, dimensions};
  require_row(x);
  return x;
}

int compare(const FeatureRow& a, const FeatureRow& b) {
  if (a.dimensions != b.dimensions) return a.dimensions < b.dimensions ? -1 : 1;
  const std::int32_t shared = std::min(a.count, b.count);
  for (std::int32_t k = 0; k < shared; ++k) {
    if (a.indices[k] != b.indices[k]) return a.indices[k] < b.indices[k] ? -1 : 1;
    const double x = a.value(k), y = b.value(k);
    if (x != y) return x < y ? -1 : 1;
  }
  return a.count == b.count ? 0 : a.count < b.count ? -1 : 1;
}

}  // namespace margin
