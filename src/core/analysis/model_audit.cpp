#include "core/analysis/model_audit.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/memory_limit.hpp"
#include "core/model/products.hpp"

namespace margin {

AuditOptions parse_audit(const Value::Object& options) {
  AuditOptions out;
  for (const auto& [key, value] : options) {
    if (key != "lambda") throw unknown_option(key, {"lambda"});
    if (std::holds_alternative<std::monostate>(value.data)) continue;
    const double* const lambda = std::get_if<double>(&value.data);
    if (lambda == nullptr || !(*lambda > 0) || !std::isfinite(*lambda))
      throw Error(ErrorKind::invalid_option, "option \"lambda\" must be a number above 0, not " + describe(value));
    out.lambda = *lambda;
  }
  return out;
}

ModelAudit::ModelAudit(const Model& model, const Options& settings, const AuditOptions& options)
    : model_((require_product(audit_product, model, settings), model)),
      lambda_(options.lambda.value_or(*model.lambda)),
      objective_(objective_of(model, settings)) {
  objective_.lambda = lambda_;
  for (const double b : model.intercept) intercept_.push_back(b - objective_.target_center);
  if (!model.columns.empty()) space_.emplace(scorer_of(model));
  audit_.emplace(objective_, space_.has_value() ? space_->weights() : model.weights.data(), intercept_.data(),
                 !space_.has_value());
}

Row ModelAudit::placed(const Row& x, double memory_limit) {
  if (!space_.has_value()) return x;
  const double growth = space_->growth(x.count);
  if (growth > 0)
    MemoryBudget(memory_limit)
        .require(2 * (audit_->bytes() + growth), "an audit of rows of features that the model lacks");
  const std::int32_t before = space_->width();
  const Row own = space_->place(x);
  if (space_->width() != before) audit_->widen(space_->width(), space_->weights());
  return own;
}

void ModelAudit::add(CheckedRow row, double memory_limit) {
  row.x = placed(row.x, memory_limit);
  audit_->add(row);
}

void ModelAudit::add(const Row& x, std::int32_t label, double weight, double memory_limit) {
  CheckedRow row{x};
  row.label = label;
  row.sample_weight = weight;
  row.loss_weight = weight * objective_.weight_of_class(static_cast<std::size_t>(label));
  add(row, memory_limit);
}

void ModelAudit::add(const Row& x, double target, double weight, double memory_limit) {
  require_target(*objective_.loss, target, 0);
  CheckedRow row{x};
  row.target = target - objective_.target_center;
  row.sample_weight = row.loss_weight = weight;
  add(row, memory_limit);
}

std::vector<double> ModelAudit::state() const {
  std::vector<double> all = {0};
  if (space_.has_value())
    for (const std::int32_t feature : space_->features()) all.push_back(feature);
  all[0] = static_cast<double>(all.size() - 1);
  const std::vector<double> own = audit_->state();
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

bool ModelAudit::merge(const std::vector<double>& s, double memory_limit) {
  if (s.empty() || !(s[0] >= 0 && s[0] <= static_cast<double>(s.size() - 1)) || (s[0] > 0 && !space_.has_value()))
    return false;
  const auto count = static_cast<std::size_t>(s[0]);
  std::vector<std::int32_t> columns(count, 0);
  const double value = 0;
  for (std::size_t k = 0; k < count; ++k) {
    if (s[1 + k] < 0) continue;  // nothing was added there
    if (!(s[1 + k] < model_.dimensions)) return false;
    const auto feature = static_cast<std::int32_t>(s[1 + k]);
    columns[k] = placed({&value, &feature, 1, true}, memory_limit).indices[0];
  }
  return audit_->merge({s.begin() + 1 + static_cast<std::ptrdiff_t>(count), s.end()},
                       space_.has_value() ? &columns : nullptr);
}

AuditFigures ModelAudit::result(const Progress& progress) const {
  AuditFigures out;
  out.rows = audit_->rows();
  if (!model_.regression()) out.errors = audit_->errors();
  const Audit::Found found = audit_->found(lambda_, progress);
  out.found = found.own;
  out.best = found.best;
  if (out.best.has_value() && !(out.best->gap() < out.found.gap())) out.best = out.found;
  return out;
}

}  // namespace margin
