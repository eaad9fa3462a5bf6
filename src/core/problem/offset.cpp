#include "core/problem/offset.hpp"

#include <algorithm>

#include "core/problem/penalty.hpp"
#include "core/problem/problem.hpp"

namespace margin {

namespace {

[[noreturn]] void refuse_feature(const std::string& what, const std::string& hint) {
  throw Error(ErrorKind::invalid_option, "option \"offset_feature\" names " + what, hint);
}

}  // namespace

void name_offset(Options& options, const Encoder& encoder) {
  if (options.offset.empty()) return;
  const std::vector<Column>& columns = encoder.columns();
  const auto found =
      std::find_if(columns.begin(), columns.end(), [&](const Column& c) { return c.name == options.offset; });
  if (found == columns.end()) {
    std::vector<std::string_view> known;
    for (const Column& c : columns) known.push_back(c.name);
    refuse_feature("\"" + options.offset + "\", which is not a column of these rows", name_hint(options.offset, known));
  }
  const Column& column = *found;
  if (!scalar(column.kind))
    refuse_feature("the column \"" + column.name + "\", whose values are not single numbers",
                   "Give a column of numbers, such as the logarithm of an exposure.");
  if (column.missing)
    throw Error(ErrorKind::null_value, "column \"" + column.name + "\" is NULL, and it is the offset",
                "Leave such rows out with FILTER (WHERE ...), or with margin_options(missing => 'skip').");
  options.offset = std::to_string(encoder.feature_of(column.first) + 1);
}

std::int32_t offset_feature(const Options& options, std::int32_t features, const std::vector<std::int32_t>* columns) {
  if (options.offset.empty()) return -1;
  const std::int64_t feature = feature_number(options.offset);
  if (feature < 0)
    refuse_feature("\"" + options.offset + "\", and the features of these rows have numbers only",
                   "Name it by its number from 1, or train on rows with named columns.");
  if (feature >= features)
    refuse_feature("feature " + options.offset + ", the rows have " + std::to_string(features) + " features",
                   "Features are numbered from 1.");
  if (columns == nullptr) return static_cast<std::int32_t>(feature);
  const auto at = std::lower_bound(columns->begin(), columns->end(), static_cast<std::int32_t>(feature));
  return at != columns->end() && *at == feature ? static_cast<std::int32_t>(at - columns->begin()) : -1;
}

double offset_of(const Row& x, std::int32_t feature) {
  if (feature < 0) return 0;
  if (x.indices == nullptr) return feature < x.count ? x.value(feature) : 0.0;
  const std::int32_t* const end = x.indices + x.count;
  const std::int32_t* const at = std::lower_bound(x.indices, end, feature);
  return at != end && *at == feature ? x.value(static_cast<std::int32_t>(at - x.indices)) : 0.0;
}

void hold_offset(const Problem& problem, Weights& weights) {
  problem.bounds.clip(weights);
  if (problem.offset >= 0) weights.col(problem.offset).setConstant(problem.offset_weight());
}

void hold_offset(const Problem& problem, std::vector<double>& weights) {
  if (problem.offset >= 0) weights[static_cast<std::size_t>(problem.offset)] = problem.offset_weight();
}

void require_offset_fits(const Problem& p) {
  const auto refuse = [](const std::string& what, const std::string& hint) {
    throw Error(ErrorKind::unsupported, "option \"offset_feature\" is not used with " + what, hint);
  };
  if (p.kernel != nullptr) refuse("a kernel model", "It has no weights on features, of which one could be known.");
  if (p.hard_margin) refuse("a hard margin", "Give lambda, 0 for maximum likelihood.");
  if (p.task == Task::multiclass)
    refuse("more than two classes", "Train each class against the rest, with label = 'name' as the label.");
}

}  // namespace margin
