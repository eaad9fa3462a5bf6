// The types of a scan: margin_question, margin_term, margin_state, margin_profile. Text is the hexadecimal form of the bytes, as of bytea;
// whatever comes in is checked in full.
#include "pg/server/interrupts.hpp"
#include "pg/server/memory.hpp"
#include "pg/values/composite.hpp"
#include "pg/values/scan_values.hpp"

namespace margin::pg {
namespace {

constexpr std::size_t chunk = 65536;  // bytes between two looks at the interrupts

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

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

/// The bytes of '\x0123', in a value whose bytes are aligned.
varlena* from_hex(const char* text, const char* type) {
  const std::size_t length = std::strlen(text);
  if (length < 2 || text[0] != '\\' || text[1] != 'x')
    throw malformed(type, "expected \\x and hexadecimal digits", hint_for(text, type));
  if (length % 2 != 0) throw malformed(type, "an odd number of hexadecimal digits");
  const std::size_t size = length / 2 - 1;
  varlena* value = allocate_scan_value(size, type);
  char* to = scan_room(value);
  InterruptProgress session;
  for (std::size_t i = 0; i < size; ++i) {
    if (i % chunk == 0) session.poll();
    const int high = digit(text[2 * i + 2]), low = digit(text[2 * i + 3]);
    if (high < 0 || low < 0)
      throw malformed(type, "the character " + std::to_string(2 * i + (high < 0 ? 3 : 4)) + " is no hexadecimal digit");
    to[i] = static_cast<char>(high * 16 + low);
  }
  return value;
}

// Labels become texts: of a model, of margin_state_info.
void check_question(std::string_view bytes) {
  for (const std::string& name : Question::from_bytes(bytes).class_names) require_text(name);
}
void check_term(std::string_view bytes) { require_text(read_term(bytes).label); }
void check_state(std::string_view bytes) {
  const Answer answer = Answer::from_bytes(bytes);
  for (const auto& [name, seen] : answer.classes()) require_text(name);
}
void check_profile(std::string_view bytes) { Profile::from_bytes(bytes, memory_limit(), InterruptProgress()); }

using Check = void (*)(std::string_view);

Datum text_input(FunctionCallInfo fcinfo, const char* type, Check check) {
  const Datum value = PointerGetDatum(from_hex(PG_GETARG_CSTRING(0), type));
  check(scan_bytes(value));
  return value;
}

Datum text_output(FunctionCallInfo fcinfo, const char* type) {
  static constexpr char digits[] = "0123456789abcdef";
  const std::string_view bytes = scan_bytes(PG_GETARG_DATUM(0));
  const std::size_t size = 2 * bytes.size() + 3;
  if (size > MaxAllocSize)
    throw Error(
        ErrorKind::limit_exceeded,
        std::string("the text of a ") + type + " of " + std::to_string(bytes.size()) + " bytes would exceed 1 GB",
        "COPY (FORMAT binary) has no such limit below 1 GB.");
  auto* const text = static_cast<char*>(allocate_in(CurrentMemoryContext, size));
  char* to = text;
  *to++ = '\\';
  *to++ = 'x';
  InterruptProgress session;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i % chunk == 0) session.poll();
    const auto byte = static_cast<unsigned char>(bytes[i]);
    *to++ = digits[byte >> 4];
    *to++ = digits[byte & 15];
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
  read_binary([&] { check(scan_bytes(value)); });
  return value;
}

Datum binary_output(FunctionCallInfo fcinfo) {
  const std::string_view bytes = scan_bytes(PG_GETARG_DATUM(0));
  auto* out = static_cast<varlena*>(allocate_in(CurrentMemoryContext, bytes.size() + VARHDRSZ));
  SET_VARSIZE(out, bytes.size() + VARHDRSZ);
  std::memcpy(VARDATA(out), bytes.data(), bytes.size());
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
