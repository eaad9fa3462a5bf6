// The part of a margin_model that only kernel models have: the kernel, its parameters and the support vectors.
#pragma once

#include "pg/values/composite.hpp"

namespace margin::pg {

/// The support vectors of a stored model, with `terms` weights for each output; null when the model names no kernel.
/// `dimensions`: features of a row as the model states them. Throws Error(malformed) naming the field.
std::unique_ptr<const Basis> read_kernel(const CompositeReader& reader, std::int32_t terms,
                                         std::optional<std::int64_t> dimensions);

/// Sets the attributes of a kernel model; none when the basis is not of that kind.
void set_kernel(CompositeBuilder& out, const Basis* basis);

/// True for the type margin_sparse[] of this extension.
bool is_sparse_array(Oid type);

/// An array of margin_sparse as texts, and back; `type` is the array's.
std::vector<std::string> sparse_texts(Datum array);
Datum sparse_array(const std::vector<std::string>& texts, Oid type);

}  // namespace margin::pg
