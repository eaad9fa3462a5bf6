// The values of a scan in SQL: margin_question, margin_term, margin_state, margin_profile. Variable length; the bytes of the core begin
// 8 bytes after the beginning, so that numbers in them are aligned.
#pragma once

#include "pg/server/boundary.hpp"

namespace margin::pg {

/// The core's bytes of a value, detoasted, at a multiple of 8. Valid while the Datum and the current memory context
/// live. They are sound: input functions check them, and nothing else makes such values of foreign bytes.
std::string_view scan_bytes(Datum value);

/// Throws Error(malformed) for a text of somebody's bytes that the server cannot have: in another encoding, or with a byte of 0.
void require_text(std::string_view text);

/// A value as a whole: its length word, padding, the core's bytes.
constexpr std::size_t scan_header = 8;
/// Its size for `size` bytes of the core's. `what` is its type. Throws Error(limit_exceeded) beyond 1 GB.
std::size_t scan_value_size(std::size_t size, const char* what);
/// Writes the value of scan_value_size().
void fill_scan_value(varlena* value, std::size_t size, std::string_view bytes);

/// A value of the type `what` for `size` bytes of the core's, in the current memory context; they are to be written to
/// scan_room(). Throws Error(limit_exceeded) beyond 1 GB.
varlena* allocate_scan_value(std::size_t size, const char* what);
inline char* scan_room(varlena* value) { return VARDATA(value) + 4; }
Datum scan_value(std::string_view bytes, const char* what);

/// A margin_term.
Datum term_datum(const Term& term);

/// True when the argument is the same Datum at every call of this call site.
bool constant_argument(FunctionCallInfo fcinfo, int number = 0);

inline constexpr const char* question_type = "margin_question";
inline constexpr const char* term_type = "margin_term";
inline constexpr const char* state_type = "margin_state";
inline constexpr const char* profile_type = "margin_profile";

}  // namespace margin::pg
