// Options as they travel through SQL: jsonb on the outside, Value and Options inside.
#pragma once

#include "pg/server/boundary.hpp"

namespace margin::pg {

/// The object in a jsonb Datum, an empty one for null. Throws Error(invalid_option) when it is not an object.
Value::Object options_from(Datum jsonb);

/// Any jsonb Datum as a value.
Value value_from(Datum jsonb);

/// The sparse vector of an object of index: value. Throws Error(invalid_value).
SparseVector sparse_of(const Value& value);

/// A jsonb Datum in the current memory context. Numbers keep every bit.
Datum jsonb_from(const Value::Object& options);
Datum jsonb_from(const Value::Array& values);

/// The bytes of a jsonb Datum, detoasted, for comparison and keeping: without the varlena header.
std::string_view payload(Datum jsonb);

/// A jsonb Datum with these payload bytes, in the current memory context.
Datum jsonb_of_payload(std::string_view payload);

}  // namespace margin::pg
