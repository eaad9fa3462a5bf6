// A model as a value: what the composite type margin_model holds, read by predictions, reports and verification alike.
// Training fills one from a solution, pg/values/model_datum.cpp from a stored value.
#pragma once

#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/progress.hpp"
#include "core/certificate/certificate.hpp"
#include "core/data/basis.hpp"
#include "core/encoder/encoder.hpp"
#include "core/model/calibration.hpp"
#include "core/options/options.hpp"

namespace margin {

struct Model {
  // The problem, and what solved it.
  Task task = Task::binary;
  std::string solver;  ///< empty: not told
  std::string loss;    ///< empty: none
  double norm = 2;     ///< p of a hard margin
  std::optional<double> lambda;
  std::vector<std::string> classes;  ///< sorted; empty: a regression
  Value::Object options;             ///< as the user gave them, without `initial`

  // The function.
  Weights weights;                         ///< outputs() × terms(); hard margin: norm 1, so that a score is a distance
  std::shared_ptr<const Basis> basis;      ///< null: linear in the features
  std::shared_ptr<const Encoder> encoder;  ///< of rows with named columns; null: rows come as numbers
  std::int32_t dimensions = 0;             ///< features of a row
  std::vector<std::int32_t> columns;       ///< 0-based features that the weights belong to, ascending; empty: all
  Eigen::VectorXd intercept;
  std::optional<double> target_center, target_scale;  ///< of soft regressions: see Problem; absent: 0 and 1
  Calibration calibration;                            ///< empty unless asked for
  bool ignore_unseen = false;                         ///< features beyond `dimensions` are left out of a sparse row

  // The proof. What a stored model does not tell is NaN, and −1 for `support`.
  Certificate certificate;
  std::optional<Status> status;
  std::optional<Weights> dual_weights;          ///< rows × outputs, input order
  std::shared_ptr<const DualPoint> dual_point;  ///< of soft margins that are linear in features of known units; or null
  std::vector<TracePoint> history;
  /// With bounds of weights: what the objective gains per unit of the bound that a weight is at (train/bound_prices.hpp), per unit
  /// of the weight; of the shape of the weights.
  std::optional<Weights> prices;
  /// The same of each constraint, per unit of its end: outputs × constraints.
  std::optional<Weights> constraint_prices;
  /// The option fairness as the rows of the training made constraints of it; what is stored has them among the options.
  std::vector<Fairness> parities;

  // The training. What a stored model does not tell is absent.
  std::optional<std::int64_t> iterations, rows, skipped;
  std::optional<double> seconds;
  std::optional<double> constant;  ///< of soft regressions: the best constant prediction

  bool regression() const { return task == Task::regression; }
  bool hard_margin() const { return !lambda.has_value(); }
  /// Least squares or maximum likelihood.
  bool likelihood() const { return lambda == 0.0; }
  /// It meets its targets instead of trading errors.
  bool interpolates() const { return hard_margin() && loss == "interpolate"; }
  /// Its interval is that of a largest margin; else that of a smallest objective.
  bool about_margin() const { return hard_margin() && !interpolates(); }
  /// It tells inliers from outliers.
  bool one_class() const { return loss == "one_class"; }
  /// Scores are log-odds.
  bool logistic() const { return !hard_margin() && loss == "logistic"; }
  /// Scores are logarithms of what is predicted.
  bool log_link() const { return !hard_margin() && loss == "poisson"; }
  /// Of a regression: what a score predicts.
  double prediction(double score) const { return log_link() ? std::exp(score) : score; }
  /// Of a score for a target ≥ 0, twice the loss; 0 where the loss is no half of a deviance.
  double deviance(double score, double target) const;
  Learners learners() const;  ///< what its weights weigh: features, also where these are a kernel's, stumps or trees
  /// Its classes were trained jointly (option multiclass); of two that is known from the options alone.
  bool joint() const;
  /// Scores are log-odds, or `calibration` makes them such: they give probabilities.
  bool probabilistic() const { return !calibration.empty() || logistic(); }
  /// ln(p/(1 − p)) of every output's probability, from the scores: theirs, those of their softmax where the classes were
  /// trained jointly, or calibrated ones. `out` may be `scores`.
  void log_odds(const double* scores, double* out) const;
  /// Scores are not log-odds as they are.
  bool converts_scores() const;
  /// Of a quantile regression, the share of labels that is to lie below its predictions.
  std::optional<double> quantile() const;
  std::int32_t outputs() const { return static_cast<std::int32_t>(weights.rows()); }
  /// Weights per output: one per feature, per listed feature, or per function of the basis.
  std::int32_t terms() const { return static_cast<std::int32_t>(weights.cols()); }
  /// The feature of weight `j` of a model that is linear in the features.
  std::int32_t feature(std::int32_t j) const { return columns.empty() ? j : columns[static_cast<std::size_t>(j)]; }
};

/// Which weight of a linear model is that of its offset (option `offset_feature` of `options`, those it was trained
/// with); −1: none.
std::int32_t offset_term(const Model& model, const Options& options);

/// The status of that name (status_name); nothing for a name that is none.
std::optional<Status> status_from(std::string_view name);

/// Why no training returns a model of these attributes.
struct FieldConflict {
  const char* field;
  std::string problem;  ///< follows the name of the field
};
/// Of the task, the loss, lambda, the norm and the basis.
std::optional<FieldConflict> conflict_of(const Model& model);

/// The same for the options that a model says it was trained with, where they name what its attributes hold.
std::optional<FieldConflict> conflict_of(const Model& model, const Options& options);

/// A solver's start from a model of the same features: what the option `initial` reads. It stays a type of its own,
/// because solvers read it, which know no models, in the units of their problem.
InitialModel start_from(const Model& model);

/// The part of a model that scoring reads, as plain pointers into memory of the caller. A view, because a score is
/// taken per row: neither the model nor a test for its kind is copied or repeated there; and because solvers' vectors
/// are scored before there is a model (train/cross_fit.cpp). Made by scorer_of alone.
struct Scorer {
  std::int32_t outputs = 0, dimensions = 0;  ///< dimensions: features of a row
  const double* weights = nullptr;           ///< outputs × terms()
  const double* intercept = nullptr;         ///< outputs
  const Basis* basis = nullptr;              ///< null: linear in the features
  const std::int32_t* columns = nullptr;     ///< 0-based features of the weights, ascending; null: all
  std::int32_t column_count = 0;
  const std::int32_t* parts =
      nullptr;  ///< of an encoder: the first feature of each column, and how many there are in all
};
/// Points into the model.
Scorer scorer_of(const Model& model);
/// Points into a solution of rows of `dimensions` features.
Scorer scorer_of(const Weights& weights, const Eigen::VectorXd& intercept, const Basis* basis, std::int32_t dimensions);

/// scores[o] = <x, w_o> + b_o, or <φ(x), w_o> + b_o with a basis. Throws Error(wrong_dimensions). Of dense rows the
/// products are plain_dots(), with an encoder those of each column by itself, added up in the order of the columns, of
/// sparse ones from the left: an order that SQL can have, too, and the same bits on every CPU. Sparse rows without an
/// encoder have the fused loops of simd().
void score(const Scorer& model, const Row& x, std::int32_t row_dimensions, double* scores);

/// Index of the predicted class from the scores of one row: the sign for one output, the largest score otherwise (first
/// of equals).
std::int32_t decide(std::int32_t outputs, const double* scores);

}  // namespace margin
