// The aggregate margin_verify: the certificate of a stored model, recomputed over any table in one pass.
#include "core/base/memory_limit.hpp"
#include "core/certificate/interpolation.hpp"
#include "core/certificate/kernel_check.hpp"
#include "core/certificate/lp_margin.hpp"
#include "core/certificate/risk.hpp"
#include "core/math/norm.hpp"
#include "core/model/column_space.hpp"
#include "pg/functions/pass_agg.hpp"
#include "pg/server/interrupts.hpp"

namespace margin::pg {
namespace {

struct VerifyState {
  VerifyState(std::string flat, bool all_rows) : model(std::move(flat)), options(settings_of(*model)) {
    const bool with_dual = all_rows && model->dual_weights.has_value();
    const bool hard = !model->lambda.has_value();
    if (with_dual) columns = static_cast<std::size_t>(model->outputs());
    // Dual weights of a hard margin have any sum. A power of two keeps their directions, and the sums of the smallest
    // from vanishing.
    if (with_dual && hard) {
      dual_scale = unit_scale(model->dual_weights->cwiseAbs().maxCoeff());
      scaled.resize(columns);
    }
    if (const auto* basis = support_vectors_of(model->basis.get())) {
      start_kernel(*basis, with_dual);
      return;
    }
    if (!model->columns.empty()) space.emplace(model.scorer());
    const double* const weights = space.has_value() ? space->weights() : model->weights.data();
    if (hard && !model->regression() && (model->basis != nullptr || model->norm != 2)) {
      // Which stumps there are, only all rows together tell: their upper end is not recomputed here.
      const bool upper = with_dual && model->basis == nullptr;
      norm_margins.emplace(static_cast<std::int32_t>(model->classes.size()), model->terms(), model->norm, weights,
                           model->intercept.data(), options.intercept, upper);
      upper_known = upper;
      values.resize(static_cast<std::size_t>(model->terms()));
    } else if (!model->regression())
      margins.emplace(static_cast<std::int32_t>(model->classes.size()), model->terms(), weights,
                      model->intercept.data(), options.intercept, hard && with_dual);
    else if (model->interpolates())
      targets.emplace(model->terms(), model->norm, weights, model->intercept(0), options.intercept,
                      with_dual && !options.standardize);
    if (!hard && objective_is_known()) {
      loss = make_loss(model->loss, options);
      for (const double b : model->intercept) intercept.push_back(b - model->target_center.value_or(0));
      risk.emplace(objective(), weights, intercept.data(), with_dual);
    }
    // The stored gap is about the training rows, with their weights; after standardising, in units that are gone.
    if (!hard && !model->regression() && !options.standardize && !std::isnan(model->certificate.gap))
      certain.emplace(objective(), weights, model->intercept.data(),
                      distance_bound(model->certificate.gap, *model->lambda, options.l1_ratio));
  }

  void start_kernel(const KernelBasis& basis, bool with_dual) {
    const bool soft = model->lambda.has_value();
    KernelObjective o;
    o.task = model->task;
    o.classes = static_cast<std::int32_t>(model->classes.size());
    o.dimensions = model->dimensions;
    o.intercept = options.intercept;
    if (soft) {
      loss = make_loss(model->loss, options);
      o.loss = loss.get();
      o.lambda = *model->lambda;
    }
    kernel.emplace(o, basis, model->weights.data(), options.intercept ? model->intercept.data() : nullptr, with_dual);
  }

  /// Standardised training has its objective in units that only the training rows know, and balanced class weights
  /// are known after a pass over them: neither can be recomputed in one pass over some table.
  bool objective_is_known() const { return !options.standardize && !options.class_weight_balanced; }

  RiskObjective objective() const {
    RiskObjective o;
    o.loss = loss.get();
    o.lambda = *model->lambda;
    o.l1_ratio = options.l1_ratio;
    o.intercept_scale = options.intercept ? options.intercept_scale : 0;
    o.task = model->task;
    o.outputs = model->outputs();
    o.dimensions = model->terms();
    return o;
  }

  /// The row in the columns that the checks know, which are made to know all of it: weights, and sums of that shape.
  Row placed(const Row& x) {
    if (!space.has_value()) return x;
    MemoryBudget(memory_limit()).require(4 * space->growth(x.count), "verifying rows of features that the model lacks");
    const std::int32_t before = space->width();
    const Row own = space->place(x);
    if (space->width() == before) return own;
    const auto widen = [&](auto& c) { c.has_value() ? c->widen(space->width(), space->weights()) : void(); };
    widen(margins), widen(norm_margins), widen(targets), widen(risk), widen(certain);
    return own;
  }

  /// What the weights weigh: the features, or the values of the basis.
  Row terms_of(const Row& x) {
    if (model->basis == nullptr) return x;
    model->basis->evaluate(x, values.data());
    return {values.data(), nullptr, model->terms(), true};
  }

  double class_weight(std::int32_t c) const {
    const auto found = options.class_weight.find(model->classes[static_cast<std::size_t>(c)]);
    return found == options.class_weight.end() ? 1.0 : found->second;
  }

  void add(PassCall& call, Datum label, const Row& row) {
    const Row known = fitted(*model, row);
    require_finite(known, "WHERE");
    const Row x = placed(known);
    // The k-th row meets the k-th dual weight, later rows none: by weak duality any pairing gives a true bound.
    const std::size_t at = static_cast<std::size_t>(rows) * columns;
    const double* dual = columns > 0 && at + columns <= static_cast<std::size_t>(model->dual_weights->size())
                             ? model->dual_weights->data() + at
                             : nullptr;
    if (dual != nullptr && !scaled.empty()) {
      for (std::size_t c = 0; c < columns; ++c) scaled[c] = dual_scale * dual[c];
      dual = scaled.data();
    }
    if (targets.has_value()) {
      const LabelReader::Interval target = call.label.interval(label);
      targets->add(x, target.lower, target.upper, dual == nullptr ? 0.0 : *dual);
    } else if (model->regression()) {
      const double target = call.label.number(label) - model->target_center.value_or(0);
      if (risk.has_value()) risk->add(x, target, 1, 1, dual);
    } else {
      const std::int32_t truth = labels.find(
          call.label, label, [&](const LabelReader::ClassName& name) { return model.class_index(name.text); });
      if (kernel.has_value())
        add_to_kernel(x, truth, dual);
      else if (norm_margins.has_value())
        norm_margins->add(terms_of(x), truth, dual);
      else
        margins->add(x, truth, dual);
      if (certain.has_value()) certain_rows += (*certain)(x);
      if (risk.has_value()) risk->add(x, truth, 1, class_weight(truth), dual);
    }
    ++rows;
  }

  void add_to_kernel(const Row& x, std::int32_t truth, const double* dual) {
    kernel->add(x, truth, options.class_weight_balanced ? 1.0 : class_weight(truth), dual);
    // What is kept grows by copies of twice the size.
    const double limit = memory_limit(), needed = 1.5 * kernel->bytes();
    if (limit >= 0 && needed > limit)
      throw Error(
          ErrorKind::limit_exceeded,
          "verifying needs more memory than margin.memory_limit allows: the rows with a dual weight of a kernel "
          "model are kept",
          "Raise margin.memory_limit; a copy of the model without its dual_weights has the other end recomputed, and "
          "keeps no rows.",
          "Rows read so far: " + std::to_string(rows + 1) + ".");
  }

  void merge(const VerifyState& other) {
    rows += other.rows;
    certain_rows += other.certain_rows;
    if (margins.has_value()) margins->merge(*other.margins);
    if (norm_margins.has_value()) norm_margins->merge(other.norm_margins->state());
    if (kernel.has_value()) kernel->merge(other.kernel->state());
    if (risk.has_value()) risk->merge(*other.risk);
    if (targets.has_value()) targets->merge(other.targets->slack(), other.targets->rows(), other.targets->outside());
  }

  /// Writes the state, or reads one into a fresh state.
  template <class Archive>
  bool exchange(Archive& archive) {
    constexpr bool reading = std::is_same_v<Archive, StateReader>;
    archive(rows), archive(certain_rows);
    if (margins.has_value()) {
      MarginCheck::Counters c = margins->counters();
      archive(c.rows);
      archive(c.errors);
      archive(c.smallest);
      archive(c.radius);
      if (c.rows < 0 || c.errors < 0) return false;
      if (reading) margins->merge(c);
    }
    if (targets.has_value()) {
      double slack = targets->slack();
      std::int64_t seen = targets->rows(), outside = targets->outside();
      archive(slack);
      archive(seen);
      archive(outside);
      if (seen < 0 || outside < 0 || outside > seen) return false;
      if (reading) targets->merge(slack, seen, outside);
    }
    if (norm_margins.has_value()) {
      std::vector<double> state = norm_margins->state();
      archive(state);
      if (reading && !norm_margins->merge(state)) return false;
    }
    if (kernel.has_value()) {
      std::vector<double> state = kernel->state();
      archive(state);
      if (reading && !kernel->merge(state)) return false;
    }
    if (risk.has_value()) {
      std::vector<double> sums = risk->state();
      const std::size_t expected = sums.size();
      archive(sums);
      if (sums.size() != expected) return false;
      if (reading) risk->merge(sums);
    }
    return rows >= 0 && certain_rows >= 0 && certain_rows <= rows;
  }

  GroupModel model;
  Options options;
  std::int64_t rows = 0, skipped = 0, certain_rows = 0;
  std::optional<ColumnSpace> space;       // of a model with columns
  std::optional<MarginCheck> margins;     // classification
  std::optional<NormCheck> norm_margins;  // the same in other norms than l2, and of stumps
  bool upper_known = false;
  std::vector<double> values;  // of the basis
  std::shared_ptr<const Loss> loss;
  std::vector<double> intercept;              // of `risk`: from the center of the targets, as these are
  std::optional<RiskCheck> risk;              // soft margins
  std::optional<KernelCheck> kernel;          // kernel models, hard and soft
  std::optional<InterpolationCheck> targets;  // loss 'interpolate'
  std::optional<CertainPredictions> certain;  // soft margins with classes
  std::size_t columns = 0;                    // dual weights per row, 0: none to check
  double dual_scale = 1;                      // of a hard margin's
  std::vector<double> scaled;
  LabelCache labels;
};

void set_interval(CompositeBuilder& out, double primal, double dual, double gap) {
  if (std::isfinite(primal)) out.set_float8("primal", primal);
  if (std::isfinite(dual)) out.set_float8("dual", dual);
  if (std::isfinite(gap)) out.set_float8("gap", gap);
}

void set_kernel_ends(CompositeBuilder& out, const VerifyState& state) {
  InterruptProgress progress;
  const auto [margin_lower, c] = state.kernel->ends(progress);
  const bool hard = !state.model->lambda.has_value();
  out.set_int8("errors", state.kernel->errors());
  out.set_float8("margin_lower", margin_lower);
  if (!hard && !state.objective_is_known()) return;
  const double primal = hard ? c.lower : c.upper, other = hard ? c.upper : c.lower;
  const double dual = state.columns > 0 ? other : std::numeric_limits<double>::quiet_NaN();
  if (hard && std::isfinite(dual)) out.set_float8("margin_upper", dual);
  set_interval(out, primal, dual, hard ? dual - primal : primal - dual);
}

}  // namespace
}  // namespace margin::pg

using namespace margin::pg;

MARGIN_FUNCTION(margin_verify_step) { return pass_step<VerifyState>(fcinfo); }
MARGIN_FUNCTION(margin_verify_combine) { return pass_combine<VerifyState>(fcinfo); }
MARGIN_FUNCTION(margin_verify_serialize) { return pass_serialize<VerifyState>(fcinfo); }
MARGIN_FUNCTION(margin_verify_deserialize) { return pass_deserialize<VerifyState>(fcinfo); }
MARGIN_FUNCTION(margin_verify_final) {
  aggregate_context(fcinfo);
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  const auto* state = reinterpret_cast<const VerifyState*>(PG_GETARG_POINTER(0));
  if (state->rows == 0) PG_RETURN_NULL();
  CompositeBuilder out(fcinfo);
  out.set_int8("rows", state->rows);
  out.set_int8("skipped", state->skipped);
  if (state->margins.has_value()) {
    const double lower = state->margins->lower(), upper = state->margins->upper();
    out.set_int8("errors", state->margins->errors());
    out.set_float8("margin_lower", lower);
    if (std::isfinite(upper)) out.set_float8("margin_upper", upper);
    if (!state->model->lambda.has_value()) set_interval(out, lower, upper, upper - lower);
  }
  if (state->targets.has_value()) {
    out.set_int8("errors", state->targets->outside());
    out.set_float8("margin_lower", state->targets->slack());
    if (!state->options.standardize) {
      const double primal = state->targets->primal(), least = state->targets->least_norm();
      const double dual = state->columns > 0 ? 0.5 * least * least : std::numeric_limits<double>::quiet_NaN();
      set_interval(out, primal, dual, std::max(0.0, primal - dual));
    }
  }
  if (state->norm_margins.has_value()) {
    const double lower = state->norm_margins->lower();
    const double upper = state->upper_known ? state->norm_margins->upper() : std::numeric_limits<double>::infinity();
    out.set_int8("errors", state->norm_margins->errors());
    out.set_float8("margin_lower", lower);
    if (std::isfinite(upper)) out.set_float8("margin_upper", upper);
    set_interval(out, lower, upper, upper - lower);
  }
  if (state->kernel.has_value()) set_kernel_ends(out, *state);
  if (state->risk.has_value()) {
    const double primal = state->risk->primal();
    const double dual = state->columns > 0 ? state->risk->dual() : std::numeric_limits<double>::quiet_NaN();
    set_interval(out, primal, dual, primal - dual);
  }
  if (state->certain.has_value()) out.set_int8("certain", state->certain_rows);
  return out.finish();
}
