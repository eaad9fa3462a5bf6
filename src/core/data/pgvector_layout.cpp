#include "core/data/pgvector_layout.hpp"

#include <cstring>
#include <string>

#include "core/base/error.hpp"

namespace margin {

namespace {

[[noreturn]] void refuse(const char* type, const std::string& problem) {
  throw Error(ErrorKind::malformed_binary, "malformed " + std::string(type) + ": " + problem,
              "This version of pgvector may store the type in another way; cast it to real[].");
}

/// The dimensions of a vector or halfvec whose elements have `width` bytes.
std::int32_t dense_dimensions(std::string_view bytes, std::size_t width, const char* type) {
  std::int16_t dimensions = -1;
  if (bytes.size() >= 4) std::memcpy(&dimensions, bytes.data(), sizeof dimensions);
  if (dimensions < 1 || bytes.size() != 4 + static_cast<std::size_t>(dimensions) * width)
    refuse(type, "its size of " + std::to_string(bytes.size()) + " bytes does not fit its dimensions");
  return dimensions;
}

}  // namespace

float half_to_float(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000) << 16;
  std::uint32_t exponent = half >> 10 & 31, fraction = half & 1023, bits;
  if (exponent == 31) {
    bits = sign | 0x7F800000u | fraction << 13;  // infinity, NaN
  } else if (exponent > 0) {
    bits = sign | (exponent + 112) << 23 | fraction << 13;
  } else {
    // A subnormal half is fraction / 2^24, an ordinary float.
    const float value = static_cast<float>(fraction) / 16777216.0f;
    return sign != 0 ? -value : value;
  }
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

FeatureRow read_vector(std::string_view bytes) {
  const std::int32_t n = dense_dimensions(bytes, sizeof(float), "vector");
  return {{bytes.data() + 4, nullptr, n, false}, n};
}

std::int32_t halfvec_dimensions(std::string_view bytes) {
  return dense_dimensions(bytes, sizeof(std::uint16_t), "halfvec");
}

FeatureRow read_halfvec(std::string_view bytes, float* to) {
  const std::int32_t n = halfvec_dimensions(bytes);
  for (std::int32_t j = 0; j < n; ++j) {
    std::uint16_t half;
    std::memcpy(&half, bytes.data() + 4 + static_cast<std::size_t>(j) * sizeof half, sizeof half);
    to[j] = half_to_float(half);
  }
  return {{to, nullptr, n, false}, n};
}

FeatureRow read_sparsevec(std::string_view bytes) {
  std::int32_t header[3] = {0, -1, 0};
  if (bytes.size() >= sizeof header) std::memcpy(header, bytes.data(), sizeof header);
  const std::int32_t dimensions = header[0], count = header[1];
  if (dimensions < 1 || count < 0 || bytes.size() != sizeof header + static_cast<std::size_t>(count) * 8)
    refuse("sparsevec", "its size of " + std::to_string(bytes.size()) + " bytes does not fit its header");
  const auto* indices = reinterpret_cast<const std::int32_t*>(bytes.data() + sizeof header);
  std::int32_t least = 0;
  for (std::int32_t k = 0; k < count; ++k) {
    if (indices[k] < least || indices[k] >= dimensions)
      refuse("sparsevec", "entry " + std::to_string(k + 1) + " has the index " + std::to_string(indices[k]));
    least = indices[k] + 1;
  }
  return {{indices + count, indices, count, false}, dimensions};
}

}  // namespace margin
