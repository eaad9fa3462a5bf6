// A trained model as a value: what the composite type margin_model holds, and what scoring needs of it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/monitor.hpp"
#include "core/certificate/certificate.hpp"
#include "core/data/basis.hpp"
#include "core/model/calibration.hpp"
#include "core/options/options.hpp"

namespace margin {

struct Model {
  Task task = Task::binary;
  std::string solver, loss;
  double norm = 2;
  std::optional<double> lambda;
  Status status = Status::optimal;
  std::vector<std::string> classes;
  Weights weights;                     ///< hard margin: norm 1, so that a score is a distance
  std::shared_ptr<const Basis> basis;  ///< null: linear in the features
  std::int32_t dimensions = 0;         ///< features of a row
  std::vector<std::int32_t> columns;   ///< 0-based features that the weights belong to, ascending; empty: all
  Eigen::VectorXd intercept;
  std::optional<double> target_center, target_scale;  ///< of soft regressions: see Problem; absent: 0 and 1
  std::optional<double> constant;                     ///< of soft regressions: the best constant prediction
  Certificate certificate;
  double tolerance = 0;
  std::int64_t iterations = 0, rows = 0;
  double seconds = 0;
  std::vector<TracePoint> history;
  std::optional<Weights> dual_weights;  ///< input order
  Calibration calibration;              ///< empty unless asked for
};

/// What a stored model says of its problem.
struct ProblemFields {
  bool classes = true;  ///< it tells classes apart; otherwise it is a regression
  std::string_view loss;
  bool lambda = false;
  double norm = 2;
  bool kernel = false, stumps = false;
};

/// Why no training returns a model of these fields.
struct FieldConflict {
  const char* field;
  std::string problem;  ///< follows the name of the field
};
std::optional<FieldConflict> refusal_of(const ProblemFields& model);

/// The same for the options that a model says it was trained with, where they name what its fields hold. `intercept`:
/// one of the intercepts is not 0.
std::optional<FieldConflict> refusal_of(const ProblemFields& model, const Options& options, double lambda,
                                        std::string_view kernel, bool intercept);

/// The part of a model that scoring reads; plain pointers into memory of the caller.
struct Scorer {
  // `dimensions` are the features of a row; there is one weight per feature, per listed feature, or per function of the
  // basis.
  std::int32_t outputs = 0, dimensions = 0;
  const double* weights = nullptr;        ///< outputs × terms()
  const double* intercept = nullptr;      ///< outputs
  const Basis* basis = nullptr;           ///< null: linear in the features
  const std::int32_t* columns = nullptr;  ///< 0-based features of the weights, ascending; null: all
  std::int32_t column_count = 0;

  /// Weights per output.
  std::int32_t terms() const {
    return basis != nullptr ? basis->size() : columns != nullptr ? column_count : dimensions;
  }
  /// The feature of weight `j` of a model that is linear in the features.
  std::int32_t feature(std::int32_t j) const { return columns != nullptr ? columns[j] : j; }
};
/// Points into the model.
Scorer scorer_of(const Model& model);

/// scores[o] = <x, w_o> + b_o, or <φ(x), w_o> + b_o with a basis. Throws Error(wrong_dimensions).
void score(const Scorer& model, const Row& x, std::int32_t row_dimensions, double* scores);

/// Index of the predicted class: the sign for one output, the largest score otherwise (first of equals).
std::int32_t decide(const Scorer& model, const double* scores);

}  // namespace margin
