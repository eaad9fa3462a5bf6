#include "core/model/verification.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/memory_limit.hpp"
#include "core/data/stump_basis.hpp"
#include "core/kernel/support_vectors.hpp"
#include "core/loss/joint.hpp"
#include "core/math/norm.hpp"

namespace margin {

/// Standardised training has its objective in units that only the training rows know, and balanced class weights are
/// known after a pass over them: neither can be recomputed in one pass over some table.
bool Verification::objective_is_known() const {
  if (model_.hard_margin()) return !model_.interpolates() || !options_.standardize;
  return !options_.standardize && !options_.class_weight_balanced;
}

/// The scores of a row are dual weights of it: any row proves something.
bool Verification::dual_of_scores() const {
  const JointLoss* const joint = joint_of(objective_.loss.get());
  return joint != nullptr && joint->form() == JointLoss::Form::multinomial;
}

Verification::Verification(const Model& model, const Options& options, bool all_rows)
    : model_(model), options_(options), objective_(objective_of(model, options)) {
  const bool soft = !model.hard_margin(), kernel = support_vectors_of(model.basis.get()) != nullptr;
  if (all_rows && model.dual_weights.has_value()) start_dual_weights();
  dual_counts_ = columns_ > 0 && stumps_of(model.basis.get()) == nullptr;
  for (const double b : model.intercept) intercept_.push_back(b - objective_.target_center);
  if (!model.columns.empty()) space_.emplace(scorer_of(model));
  ModelVectors vectors;
  vectors.weights = space_.has_value() ? space_->weights() : model.weights.data();
  vectors.intercept = kernel && !options.intercept ? nullptr : intercept_.data();
  vectors.basis = model.basis.get();
  // Kernel models and interpolations say more than the objective: margins, and how far targets are met.
  if (!soft || kernel || objective_is_known()) {
    check_ = make_check(objective_, vectors, dual_counts_ && (kernel || objective_is_known()));
    check_size_ = check_->reductions().size();
  }
  coefficients_.resize(static_cast<std::size_t>(model.outputs()));
  if (soft && !kernel && !options.fairness.empty()) start_groups();
  if (!soft || kernel || model.regression() || model.one_class()) return;

  Objective margins = objective_;
  margins.loss = nullptr;
  margins.norm = 2;
  margins_ = make_check(margins, vectors, false);
  // The stored gap is about the training rows, with their weights; after standardising, in units that are gone. It
  // bounds no free intercept.
  if (!options.standardize && !options.free_intercept() && !model.likelihood() && options.l1_ratio < 1 &&
      !std::isnan(model.certificate.gap))
    ball_.emplace(objective_, vectors.weights, vectors.intercept, model.certificate.gap, model.dual_point.get());
}

/// Dual weights of a hard margin have any sum. A power of two keeps their directions, and the sums of the smallest from
/// vanishing.
void Verification::start_dual_weights() {
  columns_ = static_cast<std::size_t>(model_.outputs());
  if (!model_.hard_margin()) return;
  dual_scale_ = unit_scale(model_.dual_weights->cwiseAbs().maxCoeff());
  scaled_.resize(columns_);
}

void Verification::start_groups() {
  by_groups_.fairness = options_.fairness;
  if (model_.encoder != nullptr)
    name_fairness(by_groups_, *model_.encoder);
  else
    name_fairness(by_groups_, model_.dimensions);
  const auto& all = by_groups_.fairness;
  for (auto f = all.begin(); f != all.end(); ++f) {
    const auto same = [&](const Fairness& g) { return g.column == f->column && g.measure == f->measure; };
    if (std::any_of(all.begin(), f, same)) continue;
    std::vector<std::string> groups;
    for (const Fairness& g : all)
      if (same(g)) groups.push_back(g.group);
    groups_.emplace_back(*f, std::move(groups), model_.dimensions);
  }
}

/// By what the rows say of the groups; false where they say nothing of one.
bool Verification::constrain() const {
  if (groups_.empty()) return true;
  const std::int32_t offset = objective_.offset < 0 ? -1 : model_.feature(objective_.offset);
  Options own = options_;
  for (std::size_t k = 0; k < own.fairness.size(); ++k) {
    Fairness& f = own.fairness[k];
    const auto sums = std::find_if(groups_.begin(), groups_.end(), [&](const GroupSums& g) { return g.is_of(f); });
    if (!sums->tell(f, offset, model_.encoder.get())) return false;
  }
  check_->constrain(constraints_of(model_, own));
  return true;
}

/// Of the row to come; later rows than the model's have none.
const double* Verification::next_dual() {
  const std::size_t at = next_dual_;
  next_dual_ += columns_;
  if (columns_ == 0 || at + columns_ > static_cast<std::size_t>(model_.dual_weights->size())) return nullptr;
  const double* const dual = model_.dual_weights->data() + at;
  if (scaled_.empty()) return dual;
  for (std::size_t c = 0; c < columns_; ++c) scaled_[c] = dual_scale_ * dual[c];
  return scaled_.data();
}

/// The row in the columns that the checks know, which are made to know all of it: weights, and sums of that shape.
Row Verification::placed(const Row& x, double memory_limit) {
  if (!space_.has_value()) return x;
  MemoryBudget(memory_limit).require(4 * space_->growth(x.count), "verifying rows of features that the model lacks");
  const std::int32_t before = space_->width();
  const Row own = space_->place(x);
  if (space_->width() == before) return own;
  if (check_ != nullptr) check_->widen(space_->width(), space_->weights());
  if (margins_ != nullptr) margins_->widen(space_->width(), space_->weights());
  if (ball_.has_value()) ball_->widen(space_->width());
  return own;
}

CheckedRow Verification::checked(const Row& x, std::int32_t label) const {
  CheckedRow row{x};
  row.label = label;
  row.loss_weight = objective_.weight_of_class(static_cast<std::size_t>(label));
  return row;
}

CheckedRow Verification::checked(const Row& x, double target, double upper_target) const {
  CheckedRow row{x};
  if (check_ != nullptr && objective_.loss != nullptr) require_target(*objective_.loss, target, 0);
  row.target = target - objective_.target_center;
  row.upper_target = upper_target;
  return row;
}

void Verification::add(const Row& x, std::int32_t label, double memory_limit, double weight) {
  add(checked(x, label), memory_limit, weight);
}

void Verification::add(const Row& x, double target, double upper_target, double memory_limit, double weight) {
  add(checked(x, target, upper_target), memory_limit, weight);
}

void Verification::measure(const Row& x, std::int32_t label, double memory_limit, double* numbers, double weight) {
  measure(checked(x, label), memory_limit, numbers, weight);
}

void Verification::measure(const Row& x, double target, double upper_target, double memory_limit, double* numbers,
                           double weight) {
  measure(checked(x, target, upper_target), memory_limit, numbers, weight);
}

std::string Verification::reductions() const {
  std::string all = "1+";
  for (const Check* const check : {check_.get(), margins_.get()})
    if (check != nullptr) all += "1" + check->reductions().substr(1);
  return all;
}

void Verification::measure(CheckedRow row, double memory_limit, double* numbers, double weight) {
  row.sample_weight = weight;
  row.loss_weight *= weight;
  row.x = placed(row.x, memory_limit);
  numbers[0] = 1;
  numbers[1] = ball_.has_value() && ball_->certain(row.x) ? 1 : 0;
  if (check_ != nullptr) check_->measure(row, numbers + 2, coefficients_.data());
  if (margins_ != nullptr) margins_->measure(row, numbers + 2 + check_size_, coefficients_.data());
}

void Verification::add(CheckedRow row, double memory_limit, double weight) {
  row.dual = next_dual();
  if (!(weight > 0)) return;
  row.sample_weight = weight;
  row.loss_weight *= weight;
  for (GroupSums& g : groups_) g.add(row.x, weight, row.label == 1);
  row.x = placed(row.x, memory_limit);
  if (check_ != nullptr) check_->add(row);
  if (margins_ != nullptr) margins_->add(row);
  if (ball_.has_value()) certain_rows_ += ball_->certain(row.x);
  ++rows_;
  // What is kept grows by copies of twice the size.
  if (memory_limit < 0 || check_ == nullptr || 1.5 * check_->bytes() <= memory_limit) return;
  throw Error(ErrorKind::limit_exceeded,
              "verifying needs more memory than margin.memory_limit allows: the rows with a dual weight of a kernel "
              "model are kept",
              "Raise margin.memory_limit; a copy of the model without its dual_weights has the other bound recomputed, "
              "and keeps no rows.",
              "Rows read so far: " + std::to_string(rows_) + ".");
}

std::vector<double> Verification::state() const {
  std::vector<double> all = {static_cast<double>(rows_), static_cast<double>(certain_rows_)};
  for (const Check* const check : {check_.get(), margins_.get()}) {
    if (check == nullptr) continue;
    const std::vector<double> own = check->state();
    all.insert(all.end(), own.begin(), own.end());
  }
  for (const GroupSums& g : groups_) {
    const std::vector<double> own = g.state();
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

bool Verification::merge(const std::vector<double>& s) {
  if (s.size() < 2 || !(s[0] >= 0 && s[0] <= 0x1p53) || !(s[1] >= 0 && s[1] <= s[0])) return false;
  std::size_t from = 2, measured = 2;  // numbers of a state that was summed from measured rows
  for (const Check* const check : {check_.get(), margins_.get()})
    if (check != nullptr) measured += check->reductions().size();
  for (Check* const check : {check_.get(), margins_.get()}) {
    if (check == nullptr) continue;
    const std::size_t size = s.size() == measured ? check->reductions().size() : check->state().size();
    if (s.size() - from < size) return false;
    const auto at = s.begin() + static_cast<std::ptrdiff_t>(from);
    if (!check->merge(std::vector<double>(at, at + static_cast<std::ptrdiff_t>(size)))) return false;
    from += size;
  }
  for (GroupSums& g : groups_) {
    if (s.size() == measured) break;  // which tell nothing of groups
    if (s.size() - from < g.size()) return false;
    const auto at = s.begin() + static_cast<std::ptrdiff_t>(from);
    if (!g.merge(std::vector<double>(at, at + static_cast<std::ptrdiff_t>(g.size())))) return false;
    from += g.size();
  }
  rows_ += static_cast<std::int64_t>(s[0]);
  certain_rows_ += static_cast<std::int64_t>(s[1]);
  return from == s.size();
}

VerifiedModel Verification::result(const Progress& progress) const {
  const auto finite = [](double v) { return std::isfinite(v) ? std::optional<double>(v) : std::nullopt; };
  VerifiedModel out;
  out.rows = rows_;
  if (ball_.has_value()) out.certain = certain_rows_;
  if (margins_ != nullptr) {
    const Certificate c = margins_->certificate(progress);
    out.errors = c.errors;
    out.margin_lower = c.lower;
  }
  if (check_ == nullptr) return out;
  const bool known = objective_is_known() && constrain();
  const Certificate c = check_->certificate(progress);
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  double primal = c.upper, dual = c.lower, gap = 0;
  if (model_.interpolates()) {
    out.errors = c.errors;
    out.margin_lower = c.slack;
    dual = dual_counts_ ? 0.5 * c.least_norm * c.least_norm : unknown;
    gap = std::max(0.0, primal - dual);
  } else if (model_.hard_margin()) {
    primal = c.lower;
    dual = dual_counts_ ? c.upper : unknown;
    gap = dual - primal;
    out.errors = c.errors;
    out.margin_lower = c.lower;
    out.margin_upper = finite(dual);
  } else {
    // At lambda 0, and of a softmax, the rows prove a bound without dual weights; 0 is none.
    const bool by_rows = (model_.likelihood() || dual_of_scores()) && c.lower > 0;
    dual = dual_counts_ || by_rows ? c.lower : unknown;
    gap = primal - dual;
    if (model_.one_class()) {
      out.errors = c.errors;
    } else if (model_.basis != nullptr && !model_.regression()) {
      out.errors = c.errors;
      out.margin_lower = c.smallest_margin;
    }
  }
  if (!known) return out;
  out.primal = finite(primal);
  out.dual = finite(dual);
  out.gap = finite(gap);
  return out;
}

}  // namespace margin
