// The type margin_sparse: input and output, comparison, hashing.
#include "core/base/polled.hpp"
#include "pg/server/interrupts.hpp"
#include "pg/server/memory.hpp"
#include "pg/values/sparse_datum.hpp"

namespace margin::pg {
namespace {

int compare_arguments(FunctionCallInfo fcinfo) {
  return compare(sparse_from(PG_GETARG_DATUM(0)), sparse_from(PG_GETARG_DATUM(1)));
}

}  // namespace
}  // namespace margin::pg

using namespace margin::pg;

MARGIN_FUNCTION(margin_sparse_in) {
  InterruptProgress session;
  return sparse_datum(margin::parse_sparse(margin::polled_text(PG_GETARG_CSTRING(0), session), session));
}

MARGIN_FUNCTION(margin_sparse_out) {
  InterruptProgress session;
  const margin::FeatureRow x = sparse_from(PG_GETARG_DATUM(0));
  session.poll();
  const std::string text = margin::print_sparse(x, session);
  const std::size_t size = text.size() + 1;  // with the 0 behind it
  if (size > MaxAllocSize)
    throw margin::Error(margin::ErrorKind::limit_exceeded, "the text of a margin_sparse of " + std::to_string(x.count) +
                                                               " entries would be larger than 1 GB");
  char* const to = static_cast<char*>(allocate_in(CurrentMemoryContext, size));
  margin::polled_copy(to, text.c_str(), size, session);
  return CStringGetDatum(to);
}

MARGIN_FUNCTION(margin_sparse_recv) {
  auto* message = reinterpret_cast<StringInfo>(PG_GETARG_POINTER(0));
  const std::string_view bytes(message->data + message->cursor,
                               static_cast<std::size_t>(message->len - message->cursor));
  message->cursor = message->len;
  InterruptProgress session;
  return sparse_datum(margin::read_sparse_wire(bytes, session));
}

MARGIN_FUNCTION(margin_sparse_send) {
  InterruptProgress session;
  const std::string bytes = margin::write_sparse_wire(sparse_from(PG_GETARG_DATUM(0)), session);
  const char* from = bytes.data();
  const auto size = static_cast<int>(bytes.size());
  return backend([=] { return PointerGetDatum(cstring_to_text_with_len(from, size)); });
}

MARGIN_FUNCTION(margin_sparse_eq) { PG_RETURN_BOOL(compare_arguments(fcinfo) == 0); }
MARGIN_FUNCTION(margin_sparse_ne) { PG_RETURN_BOOL(compare_arguments(fcinfo) != 0); }
MARGIN_FUNCTION(margin_sparse_lt) { PG_RETURN_BOOL(compare_arguments(fcinfo) < 0); }
MARGIN_FUNCTION(margin_sparse_le) { PG_RETURN_BOOL(compare_arguments(fcinfo) <= 0); }
MARGIN_FUNCTION(margin_sparse_gt) { PG_RETURN_BOOL(compare_arguments(fcinfo) > 0); }
MARGIN_FUNCTION(margin_sparse_ge) { PG_RETURN_BOOL(compare_arguments(fcinfo) >= 0); }
MARGIN_FUNCTION(margin_sparse_cmp) { PG_RETURN_INT32(compare_arguments(fcinfo)); }

// Equal vectors have equal bytes.
MARGIN_FUNCTION(margin_sparse_hash) {
  const std::string_view bytes = aligned_payload(PG_GETARG_DATUM(0));
  const auto* from = reinterpret_cast<const unsigned char*>(bytes.data());
  return hash_any(from, static_cast<int>(bytes.size()));
}

MARGIN_FUNCTION(margin_sparse_hash_extended) {
  const std::string_view bytes = aligned_payload(PG_GETARG_DATUM(0));
  const auto* from = reinterpret_cast<const unsigned char*>(bytes.data());
  return hash_any_extended(from, static_cast<int>(bytes.size()), static_cast<uint64>(PG_GETARG_INT64(1)));
}
