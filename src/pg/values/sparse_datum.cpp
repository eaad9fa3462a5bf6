#include "pg/values/sparse_datum.hpp"

#include "core/base/polled.hpp"
#include "pg/server/interrupts.hpp"

namespace margin::pg {

namespace {

FeatureRow vector_from(Datum value) { return read_vector(aligned_payload(value)); }

FeatureRow sparsevec_from(Datum value) { return read_sparsevec(aligned_payload(value)); }

FeatureRow halfvec_from(Datum value) {
  const std::string_view bytes = aligned_payload(value);
  const auto size = static_cast<std::size_t>(halfvec_dimensions(bytes)) * sizeof(float);
  return read_halfvec(bytes, static_cast<float*>(backend([=] { return palloc(size); })));
}

struct Known {
  const char* extension;
  const char* type;
  FeatureRowReader read;
};

constexpr Known known[] = {
    {"margin", "margin_sparse", sparse_from},
    {"vector", "vector", vector_from},
    {"vector", "halfvec", halfvec_from},
    {"vector", "sparsevec", sparsevec_from},
};

/// Where a type comes from; the names are empty when it does not exist or is none of a varlena. Membership in the
/// extension tells: anyone may have a type of the same name, and a schema may change hands.
struct Origin {
  NameData type, extension;
};

Origin origin_of(Oid type) {
  return backend([=] {
    Origin o{};
    HeapTuple tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
    if (!HeapTupleIsValid(tuple)) return o;
    const auto* form = reinterpret_cast<Form_pg_type>(GETSTRUCT(tuple));
    // The owner of an extension may add types of his own to it.
    const bool varlena = form->typtype == TYPTYPE_BASE && form->typlen == -1;
    if (varlena) o.type = form->typname;
    ReleaseSysCache(tuple);
    if (!varlena) return o;
    const Oid extension = getExtensionOfObject(TypeRelationId, type);
    const char* name = OidIsValid(extension) ? get_extension_name(extension) : nullptr;
    if (name != nullptr) namestrcpy(&o.extension, name);
    return o;
  });
}

}  // namespace

std::string_view aligned_payload(Datum value) {
  auto* raw = reinterpret_cast<varlena*>(DatumGetPointer(value));
  if (VARATT_IS_EXTENDED(raw)) raw = backend([=] { return pg_detoast_datum(raw); });
  if (reinterpret_cast<std::uintptr_t>(raw) % MAXIMUM_ALIGNOF != 0) {
    const varlena* from = raw;
    raw = static_cast<varlena*>(backend([=] { return palloc(VARSIZE(from)); }));
    polled_copy(raw, from, VARSIZE(from), InterruptProgress());
  }
  return {VARDATA(raw), VARSIZE(raw) - VARHDRSZ};
}

FeatureRow sparse_from(Datum value) { return view_packed(aligned_payload(value)); }

Datum sparse_datum(const SparseVector& v) {
  InterruptProgress session;
  session.poll();  // between what came before and the passes over all entries here
  const bool wide = needs_double(v, session);
  const std::size_t size = VARHDRSZ + packed_bytes(v.indices.size(), wide);
  if (size > MaxAllocSize)
    throw Error(ErrorKind::limit_exceeded,
                "a margin_sparse of " + std::to_string(v.indices.size()) + " entries would be larger than 1 GB");
  auto* to = static_cast<varlena*>(backend([=] { return palloc(size); }));
  SET_VARSIZE(to, size);
  pack(v, wide, VARDATA(to), session);
  session.poll();
  return PointerGetDatum(to);
}

FeatureRowReader extension_reader(Oid type) {
  if (!OidIsValid(type)) return nullptr;
  const Origin o = origin_of(type);
  for (const Known& k : known)
    if (std::strcmp(NameStr(o.type), k.type) == 0 && std::strcmp(NameStr(o.extension), k.extension) == 0) return k.read;
  return nullptr;
}

bool is_dense_type(Oid type) {
  const FeatureRowReader read = extension_reader(type);
  return read == vector_from || read == halfvec_from;
}

bool is_sparse_type(Oid type) { return extension_reader(type) == sparse_from; }

}  // namespace margin::pg
