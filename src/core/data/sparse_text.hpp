// Sparse vectors as text and as bytes on the wire.
//
// Text: {1:0.5,7:2}/50000, or {1:0.5,7:2} where the dimensions are not stated, or LIBSVM's 1:0.5 7:2. Indices are
// 1-based and may come in any order.
// Wire, in network byte order: int32 dimensions (0: not stated), int32 count, int32 wide, int32 indices[count]
// (0-based, strictly increasing), and values[count] as float4 (wide = 0) or float8 (wide = 1). With wide = 0 these are
// the bytes of pgvector's sparsevec.
#pragma once

#include <string>

#include "core/base/progress.hpp"
#include "core/data/sparse_vector.hpp"

namespace margin {

/// Throws Error(malformed) naming the position (1-based) and what is expected there. `progress`, here and below, is
/// told of the work: text may be hundreds of megabytes.
SparseVector parse_sparse(std::string_view text, const Progress& progress = {});

/// The text that parse_sparse reads back as the same vector: the shortest decimals that do.
std::string print_sparse(const FeatureRow& x, const Progress& progress = {});

/// Throws Error(malformed_binary) naming the byte (1-based).
SparseVector read_sparse_wire(std::string_view bytes, const Progress& progress = {});

std::string write_sparse_wire(const FeatureRow& x, const Progress& progress = {});

}  // namespace margin
