// How the bytes of a profile begin: of which form it is, and the columns.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"
#include "core/profile/profile.hpp"

namespace margin {

struct ProfileForm {
  bool row;                  ///< of one row, or statistics
  std::string_view columns;  ///< as profiled_bytes() has them
  std::string_view rest;
};

constexpr std::uint32_t row_mark = 0x3152506D, statistics_mark = 0x3153506D;  // mPR1, mPS1

constexpr std::size_t to_eight(std::size_t n) { return (n + 7) / 8 * 8; }

Error malformed_profile(const char* problem);
/// What a profile of columns begins with.
std::string profile_head(std::uint32_t mark, std::string_view columns);
/// Throws Error(malformed) for bytes that begin otherwise.
ProfileForm profile_form(std::string_view bytes);
/// Throws Error(limit_exceeded) where the statistics of so many elements of arrays take more than `limit` bytes.
void require_elements(std::size_t elements, double limit);
/// The columns of profiled_bytes(). Throws Error(malformed) for what these can not be.
std::vector<ProfiledColumn> profiled_columns(std::string_view bytes);

}  // namespace margin
