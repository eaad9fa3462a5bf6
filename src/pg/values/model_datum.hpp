// A model as a value of the composite type margin_model.
#pragma once

#include "pg/server/memory.hpp"
#include "pg/values/composite.hpp"

namespace margin::pg {

/// What predicting, evaluating and verifying need of a stored model; validated in full when it is read.
struct StoredModel {
  std::vector<std::string> classes;                          ///< empty: regression
  std::unordered_map<std::string_view, std::int32_t> index;  ///< of the classes
  std::int32_t outputs = 0, dimensions = 0;
  std::int32_t terms = 0;  ///< weights per output: `dimensions`, the number of columns, or the size of the basis
  std::vector<std::int32_t> columns;  ///< 0-based features that the weights belong to, ascending; empty: all
  std::vector<double> weights, intercept;
  std::unique_ptr<const Basis> basis;  ///< null: linear in the features
  std::vector<double> dual_weights;    ///< empty when the model carries none
  std::string loss;
  double norm = 2;  ///< p of a hard margin
  std::optional<double> lambda, gap;
  std::optional<double> target_center, target_scale;  ///< of soft regressions
  Calibration calibration;
  Value::Object options;
  bool ignore_unseen = false;  ///< the option `unseen` is 'ignore'

  bool regression() const { return classes.empty(); }
  ProblemFields fields() const;
  /// It meets its targets instead of trading errors.
  bool interpolates() const { return regression() && loss == "interpolate"; }
  /// Scores are log-odds.
  bool logistic() const { return lambda.has_value() && loss == "logistic"; }
  /// Scores are log-odds, or `calibration` makes them such: they give probabilities.
  bool probabilistic() const { return !calibration.empty() || logistic(); }
  Scorer scorer() const {
    return {outputs,
            dimensions,
            weights.data(),
            intercept.data(),
            basis.get(),
            columns.empty() ? nullptr : columns.data(),
            static_cast<std::int32_t>(columns.size())};
  }
  /// Index of the class; throws Error(invalid_value) listing the known classes.
  std::int32_t class_index(std::string_view name) const;

  StoredModel() = default;
  StoredModel(const StoredModel&) = delete;  // the index points into the classes
  StoredModel& operator=(const StoredModel&) = delete;
};

/// Fill `model` from a margin_model. Throws Error(malformed) naming the field. Temporary memory is the current
/// memory context's.
void read_model(Datum composite, StoredModel& model);

/// Throws Error(limit_exceeded) when the weights of a model of these rows would not fit into one value: before the time
/// and memory for training them are spent.
void require_storable(const Dataset& data, const Options& settings);

/// The margin_model that the running function returns; `options` as the user gave them.
Datum model_datum(FunctionCallInfo fcinfo, const Model& model, std::int64_t skipped, const Value::Object& options);

/// The row as the model sees it: a sparse row may be shorter than the model, and one that reaches beyond is cut where
/// the model ignores unseen features. Throws Error(wrong_dimensions) otherwise.
Row fitted(const StoredModel& model, const Row& x);

/// scores[outputs] of one row that is fitted first; throws Error for NaN or infinity in the row.
void checked_scores(const StoredModel& model, const Row& x, double* scores);

/// The value of the option `initial` for a model.
Value::Object initial_from(Datum composite);

/// The bytes that identify an argument of variable length within one query: a toast pointer, or the value itself. May
/// replace `value` by its flat form.
std::string_view argument_key(Datum& value);

/// read_model whose temporary memory goes at once: a query may meet many models in one memory context.
std::unique_ptr<StoredModel> decoded(Datum composite);

/// About what a decoded model takes.
double bytes_of(const StoredModel& model);

/// The options of a model. Throws Error(malformed) where they are not valid, or say another thing than its attributes.
Options settings_of(const StoredModel& model);

}  // namespace margin::pg
