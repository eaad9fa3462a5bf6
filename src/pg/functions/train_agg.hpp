// Rows that an aggregate collects to train on them: train_margin, margin_path, margin_cross_validate.
#pragma once

#include "core/train/interactions.hpp"
#include "pg/server/boundary.hpp"

namespace margin::pg {

class GroupWarnings;

/// What the options of an aggregate say about reading its rows.
struct RowRules {
  Dataset::Outcome outcome = Dataset::Outcome::classes;
  bool null_for_error = false;
  EncoderRules encoder = {};             ///< of rows with named columns
  std::string_view option_of_rows = {};  ///< one given that only these read
};
RowRules row_rules(const Options& settings);
/// Throws Error for bad options.
using RulesOf = RowRules (*)(Value::Object options);

/// The transition function: (state, label, features [, weight [, fold]] [, options]).
Datum collect_row(FunctionCallInfo fcinfo, RulesOf rules_of);

/// What a final function works on.
struct CollectedRows {
  const Dataset& data;
  std::shared_ptr<const Encoder> encoder;  ///< of rows with named columns; null for arrays
  std::unique_ptr<const Dataset> encoded;  ///< such rows, which `data` refers to
  std::string label_column;                ///< of such rows, that tells every label; empty for none
  Value::Object options;
  std::int64_t skipped;
  bool null_for_error;
  MemoryBudget memory;        ///< what margin.memory_limit leaves
  const std::int32_t* folds;  ///< of every row; null where none were given
  const RowTable* table;      ///< the cells of rows with named columns; null for arrays
};

/// What is trained on the rows, as a selection; throws Error for bad options.
using SelectionOf = SelectionOptions (*)(Value::Object options);

/// Nothing when there is no row to train on, or, after a warning, a row that ruined the group (option on_error).
/// `selection_of`: by it pairs of columns are searched, where the options ask for that, and rows with named columns are kept as
/// codes where the solvers prefer them; null: neither can be.
std::optional<CollectedRows> collected_rows(FunctionCallInfo fcinfo, GroupWarnings& warnings,
                                            SelectionOf selection_of = nullptr);

/// The same of rows with named columns, whose cells `rows` has; `table` knows them.
std::optional<CollectedRows> encoded_rows(const RowTable& table, CollectedRows&& rows, GroupWarnings& warnings,
                                          SelectionOf selection_of);
/// Throws Error(unsupported): pairs are to be searched where nothing is trained.
[[noreturn]] void refuse_search();

/// What the rows say of their columns; null when there is no row. Throws Error(wrong_type) for arrays.
std::shared_ptr<const Encoder> collected_encoder(FunctionCallInfo fcinfo);

/// The settings for training on these rows: what the encoder has done is left to do no more.
Options settings_for(const CollectedRows& rows, Options settings);

/// The options that a model was trained with, as it stores them: with what its rows said.
void keep_options(Model& model, Value::Object options);
/// A new model as the result of the running function, with these options.
Datum trained_model(FunctionCallInfo fcinfo, Model& model, Value::Object options);

}  // namespace margin::pg
