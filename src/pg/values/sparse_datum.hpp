// The type margin_sparse as a Datum: a varlena whose payload is the core's packed form.
#pragma once

#include "pg/server/boundary.hpp"

namespace margin::pg {

/// The payload of a varlena, detoasted, at an address that ends in 4 modulo 8: values behind a header of 12 bytes are
/// aligned. Valid while the Datum and the current memory context live. The bytes are the
/// writer's: who reads them checks all of them.
std::string_view aligned_payload(Datum value);

/// A view of a margin_sparse; valid as aligned_payload. Throws Error(malformed_binary).
FeatureRow sparse_from(Datum value);

/// A margin_sparse of a vector in order, in the current memory context. Throws Error(limit_exceeded) beyond 1 GB.
Datum sparse_datum(const SparseVector& v);

/// True for pgvector's vector and halfvec.
bool is_dense_type(Oid type);

/// True for margin_sparse of this extension; a type of another origin may have the same name and no varlena behind it.
bool is_sparse_type(Oid type);

/// The reader of a type that has no constant OID: margin_sparse, and the types of the extension vector. Null when
/// `type` is none of them.
using FeatureRowReader = FeatureRow (*)(Datum);
FeatureRowReader extension_reader(Oid type);

}  // namespace margin::pg
