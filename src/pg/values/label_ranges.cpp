// Range labels: the intervals that loss => 'interpolate' aims at.
#include "core/math/rounding.hpp"
#include "pg/values/composite.hpp"
#include "pg/values/labels.hpp"

namespace margin::pg {

namespace {

/// What the server says of a range; `lower` and `upper` are values of the element type.
struct Bounds {
  RangeBound lower, upper;
  bool empty;
};

Bounds bounds_of(Datum value, Oid type) {
  return backend([=] {
    Bounds b{};
    TypeCacheEntry* cache = lookup_type_cache(type, TYPECACHE_RANGE_INFO);
    range_deserialize(cache, DatumGetRangeTypeP(value), &b.lower, &b.upper, &b.empty);
    return b;
  });
}

/// The bound as a number; an end that is left out of an integer range is the next whole number inside.
double end_of(const RangeBound& bound, Oid type, double outside, double inward) {
  if (bound.infinite) return outside;
  const Datum value = bound.val;
  double end = 0;
  if (type == NUMRANGEOID)
    end = backend([=] { return DatumGetFloat8(DirectFunctionCall1(numeric_float8, value)); });
  else
    end =
        (type == INT4RANGEOID ? static_cast<double>(DatumGetInt32(value)) : static_cast<double>(DatumGetInt64(value))) +
        (bound.inclusive ? 0 : inward);
  if (std::isnan(end))
    throw Error(ErrorKind::invalid_value, "an end of the label's range is NaN, expected a number",
                "Leave such rows out with FILTER (WHERE ...).");
  return end;
}

bool is_number(Oid type) {
  return type == INT2OID || type == INT4OID || type == INT8OID || type == FLOAT4OID || type == FLOAT8OID ||
         type == NUMERICOID;
}

}  // namespace

LabelReader::Interval LabelReader::interval(Datum value) const {
  if (is_number(type_)) {
    const double target = number(value);
    return {target, target};
  }
  if (type_ != INT4RANGEOID && type_ != INT8RANGEOID && type_ != NUMRANGEOID)
    throw Error(ErrorKind::wrong_type,
                "what is to be interpolated is a number or a range, not of type " + type_name_of(type_),
                "Accepted are smallint, integer, bigint, real, double precision, numeric, int4range, int8range and "
                "numrange.");
  const Bounds bounds = bounds_of(value, type_);
  if (bounds.empty)
    throw Error(ErrorKind::invalid_value, "the label is an empty range, expected one that a number can lie in",
                "Leave such rows out with FILTER (WHERE NOT isempty(label)).");
  return {end_of(bounds.lower, type_, -infinity, 1), end_of(bounds.upper, type_, infinity, -1)};
}

}  // namespace margin::pg
