#include "core/problem/bounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/problem/penalty.hpp"
#include "core/problem/problem.hpp"

namespace margin {

namespace {

constexpr double none = std::numeric_limits<double>::infinity();

[[noreturn]] void refuse_bounds(const char* option, const std::string& what, const std::string& hint) {
  throw Error(ErrorKind::invalid_option, "option \"" + std::string(option) + "\" " + what, hint);
}

void require_few(const char* option, const std::string& key, std::int64_t features) {
  if (features <= most_named) return;
  throw Error(ErrorKind::limit_exceeded,
              "option \"" + std::string(option) + "\" names \"" + key + "\", a column of more than " +
                  std::to_string(most_named) + " features",
              "Name those of its features that are to have bounds by their numbers.");
}

WeightRange scaled(WeightRange range, double scale) {
  range.lower *= scale;
  range.upper *= scale;
  return range;
}

/// Zero and infinity are the same in all units.
bool has_unit(const WeightRange& range) {
  return (range.lower != 0 && std::isfinite(range.lower)) || (range.upper != 0 && std::isfinite(range.upper));
}

void require_number(const std::string& key, const Encoder& encoder) {
  const std::size_t term = encoder.term(key);
  if (term == encoder.terms()) return;  // of one feature
  const bool column = term < encoder.columns().size();
  if (column && scalar(encoder.columns()[term].kind)) return;
  refuse_bounds(
      "monotone",
      "names \"" + key + "\", " +
          (column ? "a column of " + std::string(kind_name(encoder.columns()[term].kind)) + " values"
                  : std::string("a pair of columns")),
      "A score rises or falls with a number; bounds of the weights of categories, elements or cells are those "
      "of the option bounds.");
}

void require_weight(const WeightRange& range, std::int64_t feature) {
  if (range.lower <= range.upper) return;
  throw Error(ErrorKind::invalid_option,
              "the options bounds, positive and monotone leave no weight for feature " + std::to_string(feature + 1),
              "Of two bounds on the same side the narrower counts; they contradict each other here.");
}

}  // namespace

std::vector<std::int32_t> features_named(const char* option, const std::string& key, const Encoder& encoder) {
  std::vector<std::int32_t> out;
  if (const std::size_t term = encoder.term(key); term < encoder.terms()) {
    const bool column = term < encoder.columns().size();
    const auto [first, all] = encoder.span(term);
    const std::int32_t count = column ? encoder.columns()[term].values() : all;
    require_few(option, key, count);
    for (std::int32_t k = 0; k < count; ++k)
      if (const std::int32_t j = encoder.feature_of(first + k); j >= 0) out.push_back(j);
    return out;
  }
  if (const std::int64_t number = feature_number(key); number >= 0) {
    if (number < encoder.width()) return {static_cast<std::int32_t>(number)};
    refuse_bounds(option, "names feature " + key + ", the rows have " + std::to_string(encoder.width()) + " features",
                  "Features are numbered from 1.");
  }
  if (const std::int32_t feature = feature_called(key, encoder); feature >= 0) return {feature};
  std::vector<std::string_view> known;
  for (std::size_t t = 0; t < encoder.terms(); ++t) known.push_back(encoder.term_name(t));
  refuse_bounds(option, "names \"" + key + "\", which is not a column of these rows", name_hint(key, known));
}

std::int64_t numbered(const char* option, const std::string& key, std::int32_t features) {
  const std::int64_t feature = feature_number(key);
  if (feature < 0)
    refuse_bounds(option, "names \"" + key + "\", and the features of these rows have numbers only",
                  "Name them by their numbers from 1, or train on rows with named columns.");
  if (feature >= features)
    refuse_bounds(option, "names feature " + key + ", the rows have " + std::to_string(features) + " features",
                  "Features are numbered from 1.");
  return feature;
}

void require_bounds_fit(const Problem& p, const Options& s) {
  require_held_weights(p, s,
                       s.positive                                   ? "positive"
                       : s.bounds.empty() && s.named_bounds.empty() ? "monotone"
                                                                    : "bounds");
}

void require_held_weights(const Problem& p, const Options& s, const std::string& option) {
  const auto refuse = [&](const std::string& what, const std::string& hint) {
    throw Error(ErrorKind::unsupported, "option \"" + option + "\" is not used with " + what, hint);
  };
  if (p.kernel != nullptr) refuse("a kernel model", "It has no weights on features that could have bounds.");
  if (p.hard_margin)
    refuse("a hard margin", "Its weights are a direction of any length: give lambda for a soft margin, such as 1e-4.");
  if (s.lambda == 0.0)
    refuse("lambda => 0",
           "Give a small lambda, for example 1e-8: its certificate is about weights that a penalty holds.");
  if (s.multiclass == Multiclass::joint)
    refuse("multiclass => 'joint'",
           "The weights of all classes could move alike: leave it out for one class against the rest.");
}

bool has_bounds(const Options& options) {
  return options.positive || !options.bounds.empty() || !options.named_bounds.empty() || !options.monotone.empty();
}

// Names begin with those of their columns, but for pairs.
std::int32_t feature_called(const std::string& key, const Encoder& encoder) {
  for (std::size_t t = 0; t < encoder.terms(); ++t) {
    const std::string& term = encoder.term_name(t);
    if (t < encoder.columns().size() && key.compare(0, term.size(), term) != 0) continue;
    const auto [first, count] = encoder.span(t);
    for (std::int32_t k = 0; k < std::min(count, most_named); ++k)
      if (const std::int32_t j = encoder.feature_of(first + k); j >= 0 && encoder.feature_name(j) == key) return j;
  }
  return -1;
}

void name_bounds(Options& options, const Encoder& encoder) {
  if (!has_bounds(options)) return;
  if (!options.bounds.empty())
    refuse_bounds("bounds", "is an array, and the rows have named columns",
                  "Give an object of column: [least, most], or one pair for all.");
  std::map<std::string, WeightRange> ranges;
  const auto own_name = [](std::int32_t j) { return std::to_string(j + 1); };
  for (const auto& [key, range] : options.named_bounds) {
    if (key == all_others) continue;
    for (const std::int32_t j : features_named("bounds", key, encoder))
      ranges[own_name(j)] = scaled(range, encoder.scale(j));
  }
  const auto others = options.named_bounds.find(all_others);
  if (others != options.named_bounds.end()) {
    ranges[all_others] = others->second;
    for (const Column& c : encoder.columns()) {
      if (c.scale.empty() || !has_unit(others->second)) continue;
      require_few("bounds", c.name, c.values());
      for (std::int32_t k = 0; k < c.values(); ++k)
        if (const std::int32_t j = encoder.feature_of(c.first + k); j >= 0)
          ranges.emplace(own_name(j), scaled(others->second, encoder.scale(j)));
    }
  }
  std::map<std::string, bool> signs;
  for (const auto& [key, rises] : options.monotone) {
    require_number(key, encoder);
    for (const std::int32_t j : features_named("monotone", key, encoder)) signs[own_name(j)] = rises;
  }
  options.named_bounds = std::move(ranges);
  options.monotone = std::move(signs);
}

namespace {

/// What is said of features, by their numbers, of those that a list has, and of all others. A list stays one: as a map of
/// ten thousand features it takes longer than a training on a few thousand sparse rows.
struct NamedRanges {
  std::map<std::int64_t, WeightRange> ranges;
  std::vector<WeightRange> listed;
  WeightRange others;

  const WeightRange& of(std::int64_t feature) const {
    const auto found = ranges.empty() ? ranges.end() : ranges.find(feature);
    if (found != ranges.end()) return found->second;
    return feature < static_cast<std::int64_t>(listed.size()) ? listed[static_cast<std::size_t>(feature)] : others;
  }
  /// Up to the last that is named or listed.
  std::int64_t size() const {
    return std::max(static_cast<std::int64_t>(listed.size()), ranges.empty() ? 0 : ranges.rbegin()->first + 1);
  }
};

NamedRanges named_ranges(const Options& options, std::int32_t features) {
  if (!options.bounds.empty() && options.bounds.size() != static_cast<std::size_t>(features))
    refuse_bounds("bounds",
                  "has " + std::to_string(options.bounds.size()) + " pairs, the rows have " + std::to_string(features) +
                      " features",
                  "Give a pair for each feature, one pair for all, or an object such as {\"3\": [0, null]}.");
  NamedRanges out;
  auto& [ranges, listed, others] = out;
  if (const auto found = options.named_bounds.find(all_others); found != options.named_bounds.end())
    others = found->second;
  listed = options.bounds;
  for (const auto& [key, range] : options.named_bounds)
    if (key != all_others) ranges[numbered("bounds", key, features)] = range;
  for (const auto& [key, rises] : options.monotone) {
    const std::int64_t feature = numbered("monotone", key, features);
    WeightRange& range = ranges.emplace(feature, out.of(feature)).first->second;
    if (rises)
      range.lower = std::max(range.lower, 0.0);
    else
      range.upper = std::min(range.upper, 0.0);
  }
  if (options.positive) {
    others.lower = std::max(others.lower, 0.0);
    for (auto& [feature, range] : ranges) range.lower = std::max(range.lower, 0.0);
    for (WeightRange& range : listed) range.lower = std::max(range.lower, 0.0);
  }
  return out;
}

/// Longer lists are not made: rows may declare any number of features.
void require_listed(std::int64_t features) {
  constexpr std::int64_t most_listed = 1 << 24;
  if (features <= most_listed) return;
  throw Error(ErrorKind::limit_exceeded,
              "the options bounds, positive and monotone are about " + std::to_string(features) +
                  " features, at most " + std::to_string(most_listed) + " can have bounds",
              "Number the features that occur, or hash them into fewer.");
}

}  // namespace

std::optional<std::vector<std::int32_t>> weights_off_zero(const Options& options, std::int32_t features) {
  std::vector<std::int32_t> out;
  if (!has_bounds(options)) return out;
  const NamedRanges named = named_ranges(options, features);
  const auto holds_zero = [](const WeightRange& r) { return r.lower <= 0 && r.upper >= 0; };
  const auto named_features =
      static_cast<std::int64_t>(named.listed.empty() ? named.ranges.size() : named.listed.size());
  if (!holds_zero(named.others) && named_features < features) return std::nullopt;
  if (named.listed.empty()) {
    for (const auto& [feature, range] : named.ranges)
      if (!holds_zero(range)) out.push_back(static_cast<std::int32_t>(feature));
    return out;
  }
  for (std::int64_t j = 0; j < named.size(); ++j)
    if (!holds_zero(named.of(j))) out.push_back(static_cast<std::int32_t>(j));
  return out;
}

Bounds weight_bounds(const Options& options, std::int32_t features, const std::vector<std::int32_t>* columns) {
  if (!has_bounds(options)) return {};
  const NamedRanges named = named_ranges(options, features);
  const std::size_t size = columns != nullptr ? columns->size() : static_cast<std::size_t>(named.size());
  require_listed(static_cast<std::int64_t>(size));
  Bounds out;
  const auto push = [&](const WeightRange& range, std::int64_t feature) {
    require_weight(range, feature);
    out.lower.push_back(range.lower);
    out.upper.push_back(range.upper);
  };
  for (std::size_t k = 0; k < size; ++k) {
    const std::int64_t feature = columns != nullptr ? (*columns)[k] : static_cast<std::int64_t>(k);
    push(named.of(feature), feature);
  }
  push(named.others, static_cast<std::int64_t>(size));
  while (out.lower.size() > 1 && out.lower.end()[-2] == out.lower.back() && out.upper.end()[-2] == out.upper.back()) {
    out.lower.pop_back();
    out.upper.pop_back();
  }
  const bool bounded = std::any_of(out.lower.begin(), out.lower.end(), [](double l) { return l > -none; }) ||
                       std::any_of(out.upper.begin(), out.upper.end(), [](double u) { return u < none; });
  return bounded ? out : Bounds();
}

void list_bounds(Options& options, std::int32_t features, const std::vector<std::int32_t>* columns) {
  if (!has_bounds(options)) return;
  const Bounds bounds = weight_bounds(options, features, columns);
  const std::size_t size = columns != nullptr ? columns->size() : static_cast<std::size_t>(features);
  require_listed(bounds.empty() ? 0 : static_cast<std::int64_t>(size));
  options.bounds.clear();
  options.named_bounds.clear();
  options.monotone.clear();
  options.positive = false;
  if (bounds.empty()) return;
  for (std::size_t j = 0; j < size; ++j) options.bounds.push_back({bounds.least(j), bounds.most(j)});
  options.named_bounds[all_others] = {bounds.least(size), bounds.most(size)};
}

}  // namespace margin
