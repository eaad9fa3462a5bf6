#include "pg/values/scan_values.hpp"

#include "core/base/polled.hpp"
#include "pg/server/interrupts.hpp"
#include "pg/server/memory.hpp"

namespace margin::pg {

std::string_view scan_bytes(Datum value) {
  auto* raw = reinterpret_cast<varlena*>(DatumGetPointer(value));
  if (VARATT_IS_EXTENDED(raw)) raw = backend([=] { return pg_detoast_datum(raw); });
  if (reinterpret_cast<std::uintptr_t>(raw) % 8 != 0) {
    auto* aligned = static_cast<varlena*>(allocate_in(CurrentMemoryContext, VARSIZE(raw)));
    polled_copy(aligned, raw, VARSIZE(raw), InterruptProgress());
    raw = aligned;
  }
  return {scan_room(raw), VARSIZE(raw) - scan_header};
}

void require_text(std::string_view text) {
  const char* from = text.data();
  const int size = static_cast<int>(text.size());
  if (backend([=] { return pg_verifymbstr(from, size, true); })) return;
  throw Error(ErrorKind::malformed, "a text is none in the encoding of this database",
              "It was made by hand, or by a database of another encoding.");
}

std::size_t scan_value_size(std::size_t size, const char* what) {
  if (size > MaxAllocSize - scan_header)
    throw Error(ErrorKind::limit_exceeded, std::string("a ") + what + " of " + std::to_string(size) +
                                               " bytes is larger than the 1 GB that one value can hold");
  return scan_header + size;
}

void fill_scan_value(varlena* value, std::size_t size, std::string_view bytes) {
  SET_VARSIZE(value, size);
  std::memset(VARDATA(value), 0, scan_header - VARHDRSZ);
  bytes.copy(scan_room(value), bytes.size());  // of no bytes too, whose address is null
}

varlena* allocate_scan_value(std::size_t size, const char* what) {
  const std::size_t all = scan_value_size(size, what);
  auto* value = static_cast<varlena*>(allocate_in(CurrentMemoryContext, all));
  fill_scan_value(value, all, {});
  return value;
}

Datum scan_value(std::string_view bytes, const char* what) {
  varlena* value = allocate_scan_value(bytes.size(), what);
  polled_copy(scan_room(value), bytes.data(), bytes.size(), InterruptProgress());
  return PointerGetDatum(value);
}

Datum term_datum(const Term& term) {
  const TermWriter writer(term);
  varlena* value = allocate_scan_value(writer.size(), term_type);
  writer.write(scan_room(value));
  return PointerGetDatum(value);
}

bool constant_argument(FunctionCallInfo fcinfo, int number) {
  const auto* call = reinterpret_cast<const FuncExpr*>(fcinfo->flinfo->fn_expr);
  return call != nullptr && IsA(call, FuncExpr) && list_length(call->args) > number &&
         IsA(list_nth(call->args, number), Const);
}

}  // namespace margin::pg
