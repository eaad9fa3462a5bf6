// The types of a scan: margin_question, margin_term, margin_state, margin_profile. Text is the base64 of the bytes; whatever comes in is
// checked in full.
#include "core/base/base64.hpp"
#include "core/base/polled.hpp"
#include "pg/server/interrupts.hpp"
#include "pg/server/memory.hpp"
#include "pg/values/composite.hpp"
#include "pg/values/scan_values.hpp"

namespace margin::pg {
namespace {

constexpr std::size_t chunk = 16384;  // groups of 3 bytes, or of 4 characters, between two looks at the interrupts

Error malformed(const char* type, const std::string& problem, const char* hint = "") {
  return {ErrorKind::malformed, std::string("malformed ") + type + ": " + problem, hint};
}

/// Where something else was meant than the text of a value.
const char* hint_for(const char* text, const char* type) {
  if (std::string_view(type) == profile_type)
    return "For the profile of rows write margin_profile(t) FROM t, for that of columns "
           "margin_profile('[\"a\", \"b\"]', a, b).";
  return text[0] == '{' ? "For options write margin_question('{...}'::jsonb), with the cast." : "";
}

/// The bytes of a text, in a value whose bytes are aligned.
varlena* from_text(const char* characters, const char* type) {
  InterruptProgress session;
  const std::string_view text = polled_text(characters, session);
  if (text.size() % 4 != 0)
    throw malformed(type, "expected base64, a multiple of 4 characters, not " + std::to_string(text.size()),
                    hint_for(characters, type));
  varlena* value = allocate_scan_value(base64_bytes(text), type);
  char* to = scan_room(value);
  for (std::size_t from = 0; from < text.size(); from += 4 * chunk) {
    session.poll();
    const std::string_view piece = text.substr(from, 4 * chunk);
    const bool last = from + piece.size() == text.size();
    std::size_t read = read_base64(piece, to);
    if (read == piece.size() && !last) read = std::min(read, piece.find('='));
    if (read < piece.size())
      throw malformed(type, "the character " + std::to_string(from + read + 1) + " cannot be there in base64",
                      hint_for(characters, type));
    to += base64_bytes(piece);
  }
  return value;
}

// Labels become texts: of a model, of margin_state_info.
void check_question(char* bytes, std::size_t size) {
  for (const std::string& name : Question::from_bytes({bytes, size}).class_names) require_text(name);
}
void check_term(char* bytes, std::size_t size) { require_text(read_term({bytes, size}).label); }
/// Of one of several parts: it was sent here.
void check_state(char* bytes, std::size_t size) {
  const Answer answer = Answer::from_bytes({bytes, size}, InterruptProgress());
  for (const auto& [name, seen] : answer.classes()) require_text(name);
  if (answer.of_parts()) Answer::mark_arrived(bytes);
}
void check_profile(char* bytes, std::size_t size) {
  Profile::from_bytes({bytes, size}, memory_limit(), InterruptProgress());
}

using Check = void (*)(char* bytes, std::size_t size);

void check_value(Datum value, Check check) {
  const std::string_view bytes = scan_bytes(value);
  check(scan_room(reinterpret_cast<varlena*>(DatumGetPointer(value))), bytes.size());
}

Datum text_input(FunctionCallInfo fcinfo, const char* type, Check check) {
  const Datum value = PointerGetDatum(from_text(PG_GETARG_CSTRING(0), type));
  check_value(value, check);
  return value;
}

Datum text_output(FunctionCallInfo fcinfo, const char* type) {
  const std::string_view bytes = scan_bytes(PG_GETARG_DATUM(0));
  const std::size_t size = base64_size(bytes.size()) + 1;
  if (size > MaxAllocSize)
    throw Error(
        ErrorKind::limit_exceeded,
        std::string("the text of a ") + type + " of " + std::to_string(bytes.size()) + " bytes would exceed 1 GB",
        "COPY (FORMAT binary) has no such limit below 1 GB.");
  auto* const text = static_cast<char*>(allocate_in(CurrentMemoryContext, size));
  char* to = text;
  InterruptProgress session;
  for (std::size_t from = 0; from < bytes.size(); from += 3 * chunk) {
    session.poll();
    const std::string_view piece = bytes.substr(from, 3 * chunk);
    write_base64(piece.data(), piece.size(), to);
    to += base64_size(piece.size());
  }
  *to = '\0';
  return CStringGetDatum(text);
}

Datum binary_input(FunctionCallInfo fcinfo, const char* type, Check check) {
  auto* message = reinterpret_cast<StringInfo>(PG_GETARG_POINTER(0));
  const std::string_view bytes(message->data + message->cursor,
                               static_cast<std::size_t>(message->len - message->cursor));
  message->cursor = message->len;
  const Datum value = scan_value(bytes, type);
  read_binary([&] { check_value(value, check); });
  return value;
}

Datum binary_output(FunctionCallInfo fcinfo) {
  const std::string_view bytes = scan_bytes(PG_GETARG_DATUM(0));
  auto* out = static_cast<varlena*>(allocate_in(CurrentMemoryContext, bytes.size() + VARHDRSZ));
  SET_VARSIZE(out, bytes.size() + VARHDRSZ);
  polled_copy(VARDATA(out), bytes.data(), bytes.size(), InterruptProgress());
  return PointerGetDatum(out);
}

}  // namespace
}  // namespace margin::pg

using namespace margin::pg;

MARGIN_FUNCTION(margin_question_in) { return text_input(fcinfo, question_type, check_question); }
MARGIN_FUNCTION(margin_question_out) { return text_output(fcinfo, question_type); }
MARGIN_FUNCTION(margin_question_recv) { return binary_input(fcinfo, question_type, check_question); }
MARGIN_FUNCTION(margin_question_send) { return binary_output(fcinfo); }

MARGIN_FUNCTION(margin_term_in) { return text_input(fcinfo, term_type, check_term); }
MARGIN_FUNCTION(margin_term_out) { return text_output(fcinfo, term_type); }
MARGIN_FUNCTION(margin_term_recv) { return binary_input(fcinfo, term_type, check_term); }
MARGIN_FUNCTION(margin_term_send) { return binary_output(fcinfo); }

MARGIN_FUNCTION(margin_state_in) { return text_input(fcinfo, state_type, check_state); }
MARGIN_FUNCTION(margin_state_out) { return text_output(fcinfo, state_type); }
MARGIN_FUNCTION(margin_state_recv) { return binary_input(fcinfo, state_type, check_state); }
MARGIN_FUNCTION(margin_state_send) { return binary_output(fcinfo); }

MARGIN_FUNCTION(margin_profile_in) { return text_input(fcinfo, profile_type, check_profile); }
MARGIN_FUNCTION(margin_profile_out) { return text_output(fcinfo, profile_type); }
MARGIN_FUNCTION(margin_profile_recv) { return binary_input(fcinfo, profile_type, check_profile); }
MARGIN_FUNCTION(margin_profile_send) { return binary_output(fcinfo); }
