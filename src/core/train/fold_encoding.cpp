#include "core/train/fold_encoding.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "core/base/shared_out.hpp"
#include "core/problem/bounds.hpp"
#include "core/problem/constraints.hpp"
#include "core/problem/fairness.hpp"
#include "core/problem/offset.hpp"
#include "core/problem/penalty.hpp"
#include "core/problem/target_units.hpp"

namespace margin {

void name_features(Options& settings, const Encoder& encoder) {
  name_penalties(settings, encoder);
  name_bounds(settings, encoder);
  name_constraints(settings, encoder);
  name_fairness(settings, encoder);
  name_offset(settings, encoder);
  if (encoder.label_unit().has_value()) count_in_deviations(settings, *encoder.label_unit());
}

Options encoded_settings(Options settings, const Encoder& encoder, const Dataset& training, const Progress& progress) {
  name_features(settings, encoder);
  if (!settings.standardize) return settings;
  settings.standardize = false;
  if (training.outcome() != Dataset::Outcome::targets || settings.hard_margin()) return settings;
  settings.target_scale =
      target_deviation({training, nullptr, 0, offset_feature(settings, training.dimensions())}, progress);
  return settings;
}

namespace {

/// The feature of the encoder of a fold that is feature j of that of all rows; −1: none. The columns are the same.
std::int32_t feature_of_fold(const char* option, std::int32_t j, const Encoder& all, const Encoder& fold) {
  const Encoder::Place at = all.place(j);
  if (all.pair(at) != nullptr || all.columns()[at.column].binned())
    throw Error(ErrorKind::unsupported,
                "option \"" + std::string(option) + "\" names the feature \"" + all.feature_name(j) +
                    "\", and each fold has bins and levels of its own",
                "Name the column, or give \"encoder\": \"all\".");
  const Column& of_all = all.columns()[at.column];
  const Column& own = fold.columns()[at.column];
  if (at.value == of_all.values()) return own.missing ? own.first + own.values() : -1;
  if (!listed(own.kind)) return own.binned() ? -1 : own.first + at.value;
  const std::int32_t value = own.indicator_of(fold.category(at.column, of_all.category(at.value)));
  return value < 0 ? -1 : own.first + value;
}

/// A factor for each feature of all rows as one for each of the fold's.
void number_factors(Options& options, const Encoder& all) {
  if (options.penalty_factor.size() != static_cast<std::size_t>(all.width())) return;
  for (std::size_t j = 0; j < options.penalty_factor.size(); ++j)
    if (options.penalty_factor[j] != 1) options.named_penalty_factor[std::to_string(j + 1)] = options.penalty_factor[j];
  options.penalty_factor.clear();
}

/// The keys that name single features by those of the encoder of a fold; those of columns and pairs stay.
template <class T>
void rename_features(const char* option, std::map<std::string, T>& named, const Encoder& all, const Encoder& fold) {
  std::map<std::string, T> out;
  for (const auto& [key, value] : named) {
    std::int32_t j = -1;
    if (all.term(key) == all.terms()) {
      const std::int64_t number = feature_number(key);
      j = number >= 0 && number < all.width() ? static_cast<std::int32_t>(number) : feature_called(key, all);
    }
    if (j < 0) {  // of a column, or all others
      out[key] = value;
      continue;
    }
    const std::int32_t own = feature_of_fold(option, j, all, fold);
    if (own >= 0) out[std::to_string(own + 1)] = value;
  }
  named = std::move(out);
}

}  // namespace

FoldEncoding::FoldEncoding(const RowTable& table, const Encoder& all, std::vector<Options> points, bool codes)
    : table_(table), all_(all), points_(std::move(points)), codes_(codes) {}

EncodedFold FoldEncoding::encode(const FoldRows& rows, std::int32_t f, const Progress& progress,
                                 MemoryBudget& memory) const {
  std::vector<std::int64_t> training;
  for (std::size_t i = 0; i < rows.fold.size(); ++i)
    if (rows.trains(i, f)) training.push_back(static_cast<std::int64_t>(i));
  // Row numbers, and the addresses and labels of two subsets.
  memory.take(80.0 * static_cast<double>(rows.fold.size()), "the rows of a fold");
  EncoderRules rules = table_.rules();
  rules.unknown_is_error = false;
  if (rules.missing == Missing::as_trained) rules.missing = Missing::impute;
  rules.interactions = {};
  for (const PairTerm& p : all_.pairs()) rules.interactions.named.push_back(p.name());
  const RowTable part(table_, training, std::move(rules), progress);
  std::shared_ptr<const Encoder> encoder = part.fit(progress, memory);
  std::unique_ptr<const Dataset> encoded = table_.encode(*encoder, progress, memory, codes_);
  if (encoded->codes() != nullptr) memory.take(static_cast<double>(encoded->bytes()), "the rows of a fold");
  Dataset own = encoded->subset(training, progress);
  return {std::move(encoder), std::move(encoded), std::move(own)};
}

void FoldEncoding::for_each_fold(const FoldRows& rows, std::int32_t folds, bool at_once, const Progress& progress,
                                 const MemoryBudget& memory, const Visit& f) const {
  const auto run = [&](std::size_t k, const Progress& own) {
    const std::int32_t number = rows.first() + static_cast<std::int32_t>(k);
    MemoryBudget left = memory;
    const EncodedFold fold = encode(rows, number, own, left);
    f(number, fold, own, left);
  };
  const auto count = static_cast<std::size_t>(folds - rows.first());
  if (at_once && count > 1)
    share_out(count, progress, run);
  else
    for (std::size_t k = 0; k < count; ++k) run(k, progress);
}

Options FoldEncoding::settings(std::size_t point, const Options& chosen, const EncodedFold& fold,
                               const Progress& progress) const {
  Options own = points_[point];
  number_factors(own, all_);
  rename_features("penalty_factor", own.named_penalty_factor, all_, *fold.encoder);
  rename_features("bounds", own.named_bounds, all_, *fold.encoder);
  rename_features("monotone", own.monotone, all_, *fold.encoder);
  for (NamedConstraint& c : own.constraints) rename_features("constraints", c.weights, all_, *fold.encoder);
  own = encoded_settings(std::move(own), *fold.encoder, fold.training, progress);
  own.given.clear();  // the caller has looked at them for all losses
  own.loss = chosen.loss;
  return own;
}

}  // namespace margin
