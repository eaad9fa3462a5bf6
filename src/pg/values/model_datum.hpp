// A model as a value of the composite type margin_model.
#pragma once

#include "pg/server/memory.hpp"
#include "pg/values/composite.hpp"

namespace margin::pg {

/// A margin_model, validated in full as far as scores, their certificates and options need it. Throws Error(malformed)
/// naming the field. Temporary memory is the current memory context's.
Model read_model(Datum composite);

/// What only reports read, and reading it would cost every prediction: solver, status, the interval, counts, seconds;
/// the history. Of the same Datum; throw alike.
void read_figures(Datum composite, Model& model);
void read_history(Datum composite, Model& model);

/// read_model whose temporary memory goes at once: a query may meet many models in one memory context.
Model decoded(Datum composite);

/// About what a decoded model takes.
double bytes_of(const Model& model);

/// Options of a model, as they were parsed, become what they mean to it; or what of the model contradicts them.
std::optional<FieldConflict> settle(const Model& model, Options& settings);

/// The options of a stored model. Throws Error(malformed) where they are not valid, or say another thing than its
/// attributes.
Options settings_of(const Model& model);

/// Which index each class has.
class ClassIndex {
 public:
  /// `classes` is kept by reference.
  explicit ClassIndex(const std::vector<std::string>& classes);
  /// Throws Error(invalid_value) listing the known classes.
  std::int32_t find(std::string_view name) const;

 private:
  const std::vector<std::string>& classes_;
  std::unordered_map<std::string_view, std::int32_t> index_;
};

/// Throws Error(limit_exceeded) when the weights of a model of these rows would not fit into one value: before the time
/// and memory for training them are spent.
void require_storable(const Dataset& data, const Options& settings);

/// The margin_model that the running function returns. `status`: in place of the model's, one that no training ends with.
Datum model_datum(FunctionCallInfo fcinfo, const Model& model, std::string_view status = {});
/// The same where the function returns something else.
Datum model_datum(CompositeBuilder out, const Model& model, std::string_view status = {});
/// The attribute `status`.
std::string status_of(Datum composite);

/// The margin_model with these attributes, as margin_to_json writes them, that the running function returns; checked in
/// full. Throws Error(malformed).
Datum model_from_attributes(FunctionCallInfo fcinfo, const Value::Object& attributes);

/// The row as the model sees it: a sparse row may be shorter than the model, and one that reaches beyond is cut where
/// the model ignores unseen features. Throws Error(wrong_dimensions) otherwise.
Row fitted(const Model& model, const Row& x);

/// scores[outputs] of one row that is fitted first; throws Error for NaN or infinity in the row. `scorer` is that of
/// the model.
void checked_scores(const Model& model, const Scorer& scorer, const Row& x, double* scores);

/// The value of the option `initial` for a model.
Value::Object initial_from(Datum composite);

/// The bytes that identify an argument of variable length within one query: a toast pointer, or the value itself. May
/// replace `value` by its flat form.
std::string_view argument_key(Datum& value);

}  // namespace margin::pg
