// Choosing a regularisation: models along a list of lambdas, and cross-validation over lambdas and losses. The rows are
// held once; folds are lists of row numbers (Dataset::subset).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/progress.hpp"
#include "core/train/train.hpp"

namespace margin {

/// What is measured on held-out rows: as scikit-learn has them, f1 and average_precision of the second class, f1_macro and
/// balanced_accuracy as means over the classes.
enum class Metric {
  accuracy,
  balanced_accuracy,
  f1,
  f1_macro,
  mcc,
  auc,
  average_precision,
  log_loss,
  brier,
  mse,
  mae,
  r2,
  pinball,
  deviance
};
std::string_view metric_name(Metric metric);
bool larger_is_better(Metric metric);
/// True for f1, auc, average_precision and brier.
bool of_two_classes(Metric metric);
/// True for log_loss and brier.
bool of_probabilities(Metric metric);

class FoldEncoding;  // train/fold_encoding.hpp

/// What makes features of rows with named columns in a cross-validation: for each fold its training rows, or for all folds all rows.
enum class EncoderRows { fold, all };

/// One point of the option `grid`: values for some options, and all options with them.
struct GridPoint {
  Value::Object values;
  Options settings;
};

struct SelectionOptions {
  Options settings;             ///< lambda and loss are set setting by setting
  std::vector<double> lambdas;  ///< empty: default_lambdas()
  std::vector<double> costs;    ///< C of other programs, instead of lambdas: lambda = 1/(C · rows)
  std::vector<std::string> losses;
  std::vector<GridPoint> grid;  ///< of a cross-validation; never empty: one point without values stands for none
  std::optional<std::int32_t> folds;
  bool forward = false;  ///< a fold is predicted from those before it, and the first from none
  Metric metric = Metric::accuracy;
  std::optional<EncoderRows> encoder;  ///< given: the features are rows with named columns
  bool predictions = false;  ///< what the best setting's models say of the rows that they have not seen is asked for
  std::optional<double>
      certified;  ///< what no lambda of the interval may be better by; the interval is that of the lists
  std::int64_t max_trainings = 100;  ///< lambdas that may be trained at for it
};

/// The options of train_margin, of which `lambda` may be given as a list `lambdas`. Throws Error(invalid_option).
SelectionOptions parse_path(Value::Object options);
/// The same and `losses`, `grid`, `folds`, `split`, `metric`, `predictions`. Throws Error: invalid_option, unsupported (what does not go together).
SelectionOptions parse_cross_validation(Value::Object options);
Dataset::Outcome outcome_of(const SelectionOptions& options);
/// Whether all that is trained prefers rows as codes (prefers_codes() of solver.hpp), and nothing asks for rows one by one.
bool prefers_codes(const SelectionOptions& options);
/// What is measured where nothing else is asked for: by the losses.
Metric usual_metric(const SelectionOptions& options);

/// Five powers of ten, falling: 0.1 to 1e-5 times the mean ‖(x, B)‖² (of standardised rows: their number of features),
/// rounded to a power of ten, so that features in other units get the same models.
std::vector<double> default_lambdas(const Dataset& data, const Options& settings, const Progress& progress);

/// The list of a path without one: with an l1 norm sparse_lambdas() of the rows in the settings' units, if it has some; else
/// default_lambdas(). `data` is compact.
std::vector<double> path_lambdas(const Dataset& data, const Options& settings, const Progress& progress,
                                 MemoryBudget memory);

/// Positions in the list, by falling lambda; equals keep their order.
std::vector<std::size_t> falling_order(const std::vector<double>& lambdas);

/// Train one model per lambda, the largest lambda first, each from the weights and dual vector of the one before;
/// `visit(index, model)` gets them in that order, with the index in `lambdas`. Every model has its own certificate.
/// Without lambdas the list is follow_sparse_path()'s own, or default_lambdas(). Returns the list.
std::vector<double> follow_path(const Dataset& data, const Options& settings, const std::vector<double>& lambdas,
                                const Progress& progress, MemoryBudget memory,
                                const std::function<void(std::size_t, Model&&)>& visit);

/// The models of a path, in the order of the list (default_lambdas for none), which `list` becomes.
std::vector<Model> train_path(const Dataset& data, const SelectionOptions& options, const Progress& progress,
                              MemoryBudget memory = {}, std::vector<double>* list = nullptr);

/// One point of the grid with a loss and a lambda, measured; a fold in which the metric is not defined (0/0) has no value.
struct SettingScore {
  double lambda;
  std::string loss;
  std::size_t point;  ///< of the grid
  std::vector<std::optional<double>> folds;
  std::optional<double> mean, deviation;  ///< of the defined values; the deviation is the sample's (n − 1)
};

/// No lambda from `from` to `to` has a cross-validation error below `error`.
struct ErrorBound {
  double from = 0, to = 0, error = 0;
};

/// What the option `certified` proves.
struct SelectionCertificate {
  double asked = 0, proven = 0;    ///< no lambda of the interval is better than the best by more than `proven`
  double error = 0, lower = 0;     ///< 1 − the best accuracy; the least of the bounds
  std::vector<ErrorBound> bounds;  ///< by rising lambda, without gaps
};

struct Selection {
  Metric metric;
  std::int32_t folds = 0;
  std::vector<SettingScore> settings;  ///< grid × losses × lambdas, in the order of the lists
  std::optional<std::size_t> best;     ///< of equals the one of largest lambda, then the first
  /// Of the settings like the best but for lambda, the largest lambda whose mean is within one standard error of its.
  std::optional<std::size_t> one_standard_error;
  std::optional<double> constant;  ///< mean of the metric for the best constant prediction
  std::int64_t unfinished = 0;     ///< models that did not reach their tolerance
  double seconds = 0;
  std::optional<SelectionCertificate> certificate;
  /// Asked for: rows × outputs, in the order of the rows, from models of the best setting that were trained without the row's
  /// fold: scores, or predictions of a regression; absent of rows that no fold predicts, and empty without a best setting.
  std::vector<std::optional<double>> predictions;
  std::size_t outputs = 1;
};

/// `fold`: of every row, any numbers, rows of one number together (and in the order of `forward`); null: drawn as
/// stratified_folds, or consecutive_folds. `encoding`: makes the rows anew for each fold, `data` being what the encoder of all of them
/// makes; null: the folds are of `data`, as with the option certified. Throws Error; what the progress throws passes through.
Selection cross_validate(const Dataset& data, const SelectionOptions& options, const Progress& progress,
                         MemoryBudget memory = {}, const std::int32_t* fold = nullptr,
                         const FoldEncoding* encoding = nullptr);

/// Whether the best setting does no better than predicting the same for every row.
bool useless(const Selection& selection);

/// `options` of a cross-validation with a setting in place of the lists: options for train_margin.
Value::Object chosen_options(Value::Object options, const SettingScore& choice, const Value::Object& grid_values);

}  // namespace margin
