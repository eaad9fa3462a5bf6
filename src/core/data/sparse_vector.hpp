// A sparse vector as a value: its rules, its packed bytes, its order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/progress.hpp"
#include "core/data/row.hpp"

namespace margin {

/// Once in order: strictly increasing 0-based indices below `dimensions` (0: not stated), finite values, none of them
/// 0.
struct SparseVector {
  std::int32_t dimensions = 0;
  std::vector<std::int32_t> indices;
  std::vector<double> values;
};

/// Sorts by index and drops zeros. Returns the 0-based index that occurs twice, or −1.
std::int32_t put_in_order(SparseVector& v, const Progress& progress = {});

/// `n` pairs of 1-based indices and values in any order. `dimensions` 0: not stated. Throws Error(invalid_value) naming
/// the element: an index below 1 or beyond the dimensions or given twice, a value that is not finite.
SparseVector make_sparse(const std::int32_t* indices, const double* values, std::size_t n, std::int32_t dimensions,
                         const Progress& progress = {});

/// The non-zeros of a dense array; `dimensions` = n. Throws Error(invalid_value) for a value that is not finite.
template <class T>
SparseVector sparse_of_dense(const T* x, std::int32_t n);

/// Whether the indices of a sparse row of unknown origin are those of one: from 0 on, increasing, below the dimensions (0: not
/// stated) and the largest index, behind which no feature has a number.
bool sound_indices(const FeatureRow& x);

/// The packed form: int32 dimensions, int32 count, int32 wide (0: values are float, 1: double), the values, the int32
/// indices. Values are double only where floats would lose something: 8 or 12 bytes per non-zero. Equal vectors in
/// order have equal bytes.
constexpr std::size_t sparse_header = 12;

/// True when some value does not survive as a float.
bool needs_double(const SparseVector& v, const Progress& progress = {});
inline std::size_t packed_bytes(std::size_t count, bool wide) { return sparse_header + count * (wide ? 12 : 8); }
/// Write `v`, which is in order, to packed_bytes(...) bytes.
void pack(const SparseVector& v, bool wide, char* to, const Progress& progress);
/// A view of packed bytes, whose address + 12 is a multiple of 8. Throws Error(malformed_binary) when size and header
/// contradict each other, or indices are not those of a row: whoever writes by them may trust them. The values may be
/// any.
FeatureRow view_packed(std::string_view packed);

/// A total order, with 0 for equal vectors only: by dimensions, then by the non-zeros from the first on.
int compare(const FeatureRow& a, const FeatureRow& b);

}  // namespace margin
