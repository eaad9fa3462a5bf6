#include "core/scans/model_figures.hpp"

#include <cmath>
#include <limits>

#include "core/data/stump_basis.hpp"
#include "core/kernel/support_vectors.hpp"
#include "core/math/norm.hpp"

namespace margin {

namespace {

constexpr std::int64_t bins = Reliability::bins;

void write_basis(ByteWriter& out, const Basis* basis) {
  if (const StumpBasis* const stumps = stumps_of(basis)) {
    for (const Tree& tree : stumps->trees()) {
      out(tree.split.feature);
      out(tree.split.threshold);
      if (stumps->depth() == 1) continue;
      for (const TreeSide& side : {tree.below, tree.above}) {
        out(side.feature);
        out(side.threshold);
        out(side.above);
      }
    }
  } else if (const KernelBasis* const vectors = support_vectors_of(basis)) {
    const KernelRows& rows = vectors->rows();
    out(std::string(rows.kernel().name()));
    for (const KernelParameter& p : named_parameters(rows.kernel())) out(p.value);
    const bool dense = rows.layout() == Layout::floats || rows.layout() == Layout::doubles;
    std::vector<double> scratch(dense ? static_cast<std::size_t>(rows.dimensions()) : 0);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Row x = rows.row(i, scratch);
      for (std::int32_t k = 0; k < x.count; ++k) {
        if (x.value(k) == 0) continue;  // however the rows are kept
        out(x.indices != nullptr ? x.indices[k] : k);
        out(x.value(k));
      }
      out(std::int32_t{-1});
    }
  }
}

/// A hash of all that the figures depend on, and of nothing that differs between two servers: the same model has it
/// wherever it is, also without its history or dual weights.
std::uint64_t identity(const Model& m, const Options& o, bool weighted) {
  ByteWriter out;
  objective_of(m, o).write(out);
  out(m.loss);
  for (const std::string& name : m.classes) out(name);
  out(m.outputs());
  out(m.terms());
  out.raw(m.weights.data(), 8 * static_cast<std::size_t>(m.weights.size()));
  out.raw(m.intercept.data(), 8 * static_cast<std::size_t>(m.intercept.size()));
  out(m.dimensions);
  out(m.columns);
  out(to_table(m.calibration));
  out(m.certificate.gap);
  write_basis(out, m.basis.get());
  out(o.standardize);
  out(o.class_weight_balanced);
  out(o.multiclass == Multiclass::joint);
  return hash_bytes(out.bytes(), weighted ? 2 : 1);
}

Error foreign(const char* problem) {
  return {ErrorKind::malformed, std::string("the margin_state does not belong to this model: ") + problem};
}

}  // namespace

ModelFigures::ModelFigures(const Model& model, const Options& options, bool weighted)
    : model_(model),
      options_(options),
      scorer_(scorer_of(model)),
      verification_(model, options, false),
      weighted_(weighted) {
  AnswerForm& form = term_.form;
  verified_ = verification_.reductions();
  for (std::size_t k = 0; k < verified_.size(); ++k)
    if (verified_[k] != '0' && verified_[k] != '1') kept_.push_back(k);
  for (const std::size_t k : kept_) reductions_ += verified_[k];
  first_ = reductions_.size();
  row_.resize(verified_.size());
  scores_.resize(static_cast<std::size_t>(model.outputs()));
  odds_.resize(model.converts_scores() ? scores_.size() : 0);
  if (model.regression()) {
    reductions_ += "+++++++++++<>";
  } else {
    const auto k = static_cast<std::int32_t>(model.classes.size());
    classes_.emplace(k, lp_norm(model.weights.data(), model.weights.size(), 2), model.probabilistic());
    reductions_ += model.probabilistic() ? "+++" : "+";
    // The confusion matrix; the ranks; then, per bin of the reliability, rows, hits and the sum of probabilities.
    form.cells = k * k + classes_->ranks() + (model.probabilistic() ? static_cast<std::int32_t>(3 * bins) : 0);
    const bool of_outputs = calibrated_later() && model.outputs() > 1 && model.outputs() <= most_calibrated;
    points_.resize(of_outputs ? 1 + scores_.size() : 1);  // the two of a single output are the metrics' own
    form.sketches = 2 * static_cast<std::int32_t>(points_.size());
  }
  form.question = identity(model, options, weighted);
  form.reductions = reductions_;
  numbers_.resize(reductions_.size());
  skipped_ = term_;
  skipped_.skipped = true;
  for (Term* const t : {&term_, &skipped_}) t->numbers = numbers_.data();
  term_.cells = cells_;
  term_.points = points_.data();
}

const Term& ModelFigures::skipped() {
  std::fill(numbers_.begin(), numbers_.end(), 0.0);
  return skipped_;
}

bool ModelFigures::weighted(const Model& model, const Options& options, const Answer& answer) {
  return answer.question() == identity(model, options, true);
}

/// The term of a row that counts for nothing.
const Term& ModelFigures::nothing() {
  for (std::size_t k = 0; k < numbers_.size(); ++k)
    numbers_[k] = reductions_[k] == '+' ? 0 : reductions_[k] == '<' ? infinity : -infinity;
  term_.weight = 0;
  term_.cell_count = term_.point_count = 0;
  return term_;
}

void ModelFigures::score(const Row& x) { margin::score(scorer_, x, model_.dimensions, scores_.data()); }

void ModelFigures::take_verified() {
  for (std::size_t k = 0; k < kept_.size(); ++k) numbers_[k] = row_[kept_[k]];
}

const Term& ModelFigures::term(const Row& x, std::int32_t label, double memory_limit, double weight) {
  if (!(weight > 0)) return nothing();
  term_.weight = weight;
  verification_.measure(x, label, memory_limit, row_.data(), weight);
  take_verified();
  score(x);
  if (!odds_.empty()) model_.log_odds(scores_.data(), odds_.data());
  const RowMetrics row = classes_->measure(label, decide(model_.outputs(), scores_.data()), scores_.data(),
                                           odds_.empty() ? nullptr : odds_.data());
  const auto k = static_cast<std::int64_t>(model_.classes.size());
  Entry* cell = cells_;
  *cell++ = {static_cast<std::int64_t>(row.cell), weight};
  if (row.rank < classes_->ranks()) *cell++ = {k * k + row.rank, weight};
  numbers_[first_ + counted] = 1;
  if (model_.probabilistic()) {
    numbers_[first_ + log_loss] = weight * row.log_loss;
    numbers_[first_ + brier] = weight * row.brier;
    const std::int64_t bin =
        k * k + classes_->ranks() + 3 * static_cast<std::int64_t>(Reliability::bin_of(row.probability));
    *cell++ = {bin, weight};
    *cell++ = {bin + 2, weight * row.probability};
    if (row.hit) *cell++ = {bin + 1, weight};
  }
  term_.cell_count = static_cast<std::int32_t>(cell - cells_);
  points_[0] = {row.sketch, row.score};
  for (std::size_t o = 0; o + 1 < points_.size(); ++o)
    points_[o + 1] = {static_cast<std::int64_t>(2 * o + (static_cast<std::size_t>(label) == o ? 3 : 2)), scores_[o]};
  term_.point_count = static_cast<std::int32_t>(points_.size());
  return term_;
}

const Term& ModelFigures::term(const Row& x, double target, double upper_target, double memory_limit, double weight) {
  if (!(weight > 0)) return nothing();
  term_.weight = weight;
  verification_.measure(x, target, upper_target, memory_limit, row_.data(), weight);
  take_verified();
  double* const n = numbers_.data() + first_;
  std::fill(n, n + smallest, 0.0);
  n[smallest] = infinity;
  n[largest] = -infinity;
  n[counted] = 1;
  if (target != upper_target) return term_;
  score(x);
  const double error = target - model_.prediction(scores_[0]), square = target * target, w = weight;
  n[points] = 1;
  n[weights] = w;
  n[squares] = w * error * error;
  n[absolutes] = w * std::fabs(error);
  n[errors] = w * error;
  n[deviances] = w * model_.deviance(scores_[0], target);
  n[smallest] = n[largest] = target;
  // Products with what rounding takes of them.
  n[targets] = w * target;
  n[targets_low] = std::isfinite(n[targets]) ? std::fma(w, target, -n[targets]) : 0.0;
  n[high] = w * square;
  n[low] = std::isfinite(n[high]) ? std::fma(w, square, -n[high]) + w * std::fma(target, target, -square) : 0.0;
  return term_;
}

void ModelFigures::require_own(const Answer& answer) const {
  if (answer.empty() || answer.question() != term_.form.question)
    throw Error(ErrorKind::invalid_value, "the margin_state is of another model, or of a question",
                "Sum up the terms of this very model: margin_sum(margin_term(model, label, features)).");
  if (answer.reductions() != reductions_ || (classes_.has_value() && answer.sketches().size() != 2 * points_.size()))
    throw foreign("its parts are different");
}

/// Those that count.
std::int64_t ModelFigures::rows_of(const Answer& answer) const {
  const double rows = answer.number(first_ + counted);
  if (!(rows >= 0 && rows <= static_cast<double>(answer.rows()) && rows == std::floor(rows)))
    throw foreign("a bad count");
  return static_cast<std::int64_t>(rows);
}

VerifiedModel ModelFigures::verification(const Answer& answer, const Progress& progress) const {
  require_own(answer);
  Verification sum(model_, options_, false);
  std::vector<double> numbers(verified_.size());
  for (std::size_t k = 0; k < verified_.size(); ++k)
    if (verified_[k] == '1') numbers[k] = static_cast<double>(rows_of(answer));
  for (std::size_t k = 0; k < kept_.size(); ++k) numbers[kept_[k]] = answer.number(k);
  if (!sum.merge(numbers)) throw foreign("its counts contradict each other");
  return sum.result(progress);
}

WeightedMetrics ModelFigures::classification(const Answer& answer) const {
  require_own(answer);
  WeightedMetrics::Sums sums;
  sums.rows = rows_of(answer);
  if (model_.probabilistic()) {
    sums.log_loss = answer.number(first_ + log_loss);
    sums.brier = answer.number(first_ + brier);
  }
  const std::size_t k = model_.classes.size();
  const auto matrix = static_cast<std::int64_t>(k * k), ranks = static_cast<std::int64_t>(classes_->ranks());
  sums.confusion.assign(k * k, 0);
  sums.ranks.assign(static_cast<std::size_t>(ranks), 0);
  const auto count = [&](double sum) {
    if (!(sum >= 0 && std::isfinite(sum)) || (!weighted_ && (sum > 0x1p53 || sum != std::floor(sum))))
      throw foreign("a bad count");
    return sum;
  };
  for (const Entry& cell : answer.cells()) {
    if (cell.at < matrix) {
      sums.confusion[static_cast<std::size_t>(cell.at)] = count(cell.value);
      continue;
    }
    if (cell.at < matrix + ranks) {
      sums.ranks[static_cast<std::size_t>(cell.at - matrix)] = count(cell.value);
      continue;
    }
    const std::int64_t at = cell.at - matrix - ranks;
    if (at >= 3 * bins) throw foreign("its parts are different");
    WeightedMetrics::Sums::Bin& bin = sums.reliability[static_cast<std::size_t>(at / 3)];
    if (at % 3 == 2)
      bin.probabilities = cell.value;
    else
      (at % 3 == 0 ? bin.rows : bin.hits) = count(cell.value);
  }
  for (int s = 0; s < 2; ++s) sums.sketches[s] = answer.sketches()[static_cast<std::size_t>(s)];
  WeightedMetrics metrics = *classes_;
  if (!metrics.merge(sums)) throw foreign("its counts contradict each other");
  return metrics;
}

RegressionMetrics ModelFigures::regression(const Answer& answer) const {
  require_own(answer);
  const auto number = [&](Number k) { return answer.number(first_ + k); };
  if (number(points) != static_cast<double>(rows_of(answer)))
    throw Error(ErrorKind::invalid_value, "some labels are intervals: no prediction misses them by a number",
                "Use margin_verify, which counts the rows that the model misses.");
  RegressionMetrics::Sums sums;
  sums.rows = rows_of(answer);
  sums.weights = answer.sum(first_ + weights);
  if (sums.rows > 0 && !(sums.weights.value() > 0 && std::isfinite(sums.weights.value())))
    throw foreign("a bad sum of weights");
  sums.squares = number(squares);
  sums.absolutes = number(absolutes);
  sums.errors = number(errors);
  sums.deviances = number(deviances);
  sums.targets = answer.sum(first_ + targets);
  sums.targets.add(answer.sum(first_ + targets_low));
  sums.target_squares = answer.sum(first_ + high);
  sums.target_squares.add(answer.sum(first_ + low));
  sums.smallest = number(smallest);
  sums.largest = number(largest);
  RegressionMetrics metrics;
  metrics.merge(sums);
  return metrics;
}

Judgement ModelFigures::judgement(const Answer& answer) const {
  Judgement j;
  j.rows = answer.rows();
  j.skipped = answer.skipped();
  if (model_.regression())
    j.targets = regression(answer);
  else
    j.classes = classification(answer);
  if (classes_.has_value() && calibrated_later())
    j.scores.assign(answer.sketches().begin() + (points_.size() > 1 ? 2 : 0), answer.sketches().end());
  return j;
}

}  // namespace margin
