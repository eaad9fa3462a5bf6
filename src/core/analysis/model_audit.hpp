// The audit of a stored model over any rows, in any number of pieces: what margin_audit answers (consequences/audit/audit.hpp).
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/consequences/audit/audit.hpp"
#include "core/model/column_space.hpp"
#include "core/model/statement_of.hpp"

namespace margin {

struct AuditOptions {
  std::optional<double> lambda;  ///< in place of the model's
};
/// Throws Error(invalid_option).
AuditOptions parse_audit(const Value::Object& options);

struct AuditFigures {
  std::int64_t rows = 0;
  std::optional<std::int64_t> errors;  ///< rows of another class than predicted
  AuditedValue found;
  std::optional<AuditedValue> best;  ///< at the lambda of the smallest gap; absent: there is none
};

class ModelAudit {
 public:
  /// `model` is kept by reference; `settings`: its options. Throws Error(unsupported) for models that are no linear
  /// soft margins, or whose objective follows from the training's rows alone.
  ModelAudit(const Model& model, const Options& settings, const AuditOptions& options);

  /// A finite row that fits the model, with its class or target and its weight. `memory_limit` in bytes, negative: none.
  /// Throws Error.
  void add(const Row& x, std::int32_t label, double weight, double memory_limit);
  void add(const Row& x, double target, double weight, double memory_limit);
  std::int64_t rows() const { return audit_->rows(); }
  double bytes() const { return audit_->bytes(); }

  /// As plain numbers; merge() is false, and nothing is to be made of it, when they are not of this shape.
  std::vector<double> state() const;
  bool merge(const std::vector<double>& state, double memory_limit);

  AuditFigures result(const Progress& progress) const;

 private:
  void add(CheckedRow row, double memory_limit);
  Row placed(const Row& x, double memory_limit);

  const Model& model_;
  double lambda_;
  Objective objective_;
  std::optional<ColumnSpace> space_;  // of a model with columns
  std::vector<double> intercept_;     // of regressions: from the center of the targets, as these are
  std::optional<Audit> audit_;
};

}  // namespace margin
