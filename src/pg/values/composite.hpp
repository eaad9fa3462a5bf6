// Composite values by attribute name, so that rows written under an older (or newer) definition stay valid.
#pragma once

#include "pg/server/composite_header.hpp"

namespace margin::pg {

/// The shortest decimal that reads back as the same value.
std::string number_text(double value);

/// A float8[] or bigint[] result of one or two dimensions, a text[]; in the current memory context.
/// Throws Error(limit_exceeded) for more than PostgreSQL can hold in one value.
Datum float8_array(const double* values, std::size_t n);
Datum float8_matrix(const double* values, std::size_t rows, std::size_t columns);
/// One whose numbers are written to `to`, row after row.
Datum float8_matrix(std::size_t rows, std::size_t columns, double** to);
/// `columns`: 0 for one dimension.
Datum float8_array(const std::vector<std::optional<double>>& values, std::size_t columns = 0);
Datum bigint_matrix(const std::int64_t* values, std::size_t rows, std::size_t columns);
Datum integer_array(const std::vector<std::int32_t>& values);
Datum text_array(const std::vector<std::string>& values);
Datum text_datum(std::string_view text);

/// The elements of a text[], with its number of dimensions.
struct Texts {
  std::vector<std::optional<std::string>> values;
  int dimensions = 0;
};
Texts text_elements(Datum array);

/// The elements of a one-dimensional array of a type that is passed by reference, a NULL as nothing; `what` they are, for
/// messages. Throws Error(malformed) for more dimensions.
std::vector<std::optional<Datum>> array_elements(Datum array, const char* what);

/// An attribute of a composite type that is not dropped.
struct Attribute {
  std::string name;
  Oid type;
  std::int32_t modifier;
};

/// The SQL name of a type, for messages: also of none, as a call outside of a query leaves it.
std::string type_name_of(Oid type);

/// An array of one or more values of one composite type.
Datum composite_array(const std::vector<Datum>& values);

/// Collects the attributes of a composite type: the one that the running function returns, alone or in an array. Attributes
/// that are not set are NULL; names that the type lacks are ignored. An attribute that was altered to another type than
/// the value's is Error(wrong_type).
class CompositeBuilder {
 public:
  explicit CompositeBuilder(FunctionCallInfo fcinfo);
  /// The same of any composite type.
  explicit CompositeBuilder(Oid type);

  std::vector<Attribute> attributes() const;
  void set(const char* name, Oid type, Datum value);
  void set_float8(const char* name, double value) { set(name, FLOAT8OID, Float8GetDatum(value)); }
  void set_float8(const char* name, const std::optional<double>& value) {
    if (value.has_value()) set_float8(name, *value);
  }
  void set_int4(const char* name, std::int32_t value) { set(name, INT4OID, Int32GetDatum(value)); }
  void set_int8(const char* name, std::int64_t value) { set(name, INT8OID, Int64GetDatum(value)); }
  void set_int8(const char* name, const std::optional<std::int64_t>& value) {
    if (value.has_value()) set_int8(name, *value);
  }
  void set_text(const char* name, std::string_view value) { set(name, TEXTOID, text_datum(value)); }
  Datum finish();

 private:
  TupleDesc descriptor_;
  std::vector<Datum> values_;
  std::vector<char> nulls_;
  std::size_t bytes_ = 0;
};

/// Numbers of a float8[] with their shape; columns is 0 for a one-dimensional array.
struct Matrix {
  std::vector<double> values;
  std::size_t rows = 0, columns = 0;
};

/// The attributes of a composite Datum. Every getter throws Error(malformed) naming the field when the content has
/// another type or shape, a NULL element, or a number that is not finite.
class CompositeReader {
 public:
  /// `what` names the type in messages.
  CompositeReader(Datum composite, const char* what);

  std::vector<Attribute> attributes() const;
  /// True for an attribute that is not NULL, whatever its type.
  bool has(const char* name) const;
  std::optional<Datum> get(const char* name, Oid type) const;
  std::optional<double> float8(const char* name) const;
  std::optional<std::int64_t> int4(const char* name) const;
  std::optional<std::int64_t> int8(const char* name) const;
  std::optional<std::string> string(const char* name) const;
  std::optional<std::vector<std::string>> strings(const char* name) const;
  /// `infinite`: elements may be ±Infinity.
  std::optional<Matrix> numbers(const char* name, bool infinite = false) const;
  /// Of an integer[] of one dimension.
  std::optional<std::vector<std::int32_t>> integers(const char* name) const;

  [[noreturn]] void refuse(const char* name, const std::string& problem) const;

 private:
  const char* what_;
  TupleDesc descriptor_;
  Datum* values_;
  bool* nulls_;
};

}  // namespace margin::pg
