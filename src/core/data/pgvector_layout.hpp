// The values of pgvector's types as rows, from their bytes after the varlena length. Layouts: pgvector 0.7 and later,
// src/vector.h, src/halfvec.h, src/sparsevec.h of that project.
#pragma once

#include "core/data/sparse_vector.hpp"

namespace margin {

/// vector: int16 dimensions, int16 unused, float[dimensions]. A view; `bytes` at an address that is a multiple of 4.
/// Throws Error(malformed_binary) when the length does not fit, as the others do.
FeatureRow read_vector(std::string_view bytes);

/// halfvec: int16 dimensions, int16 unused, IEEE half[dimensions]. The dimensions, checked against the size; then the
/// row, as floats in `to`, which has room for as many.
std::int32_t halfvec_dimensions(std::string_view bytes);
FeatureRow read_halfvec(std::string_view bytes, float* to);

/// sparsevec: int32 dimensions, int32 count, int32 unused, int32 0-based indices[count] strictly increasing,
/// float[count]. A view; alignment as for vector.
FeatureRow read_sparsevec(std::string_view bytes);

/// The value of an IEEE 754 half, exact.
float half_to_float(std::uint16_t half);

}  // namespace margin
