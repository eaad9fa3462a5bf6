#include "core/problem/penalty.hpp"

#include <algorithm>
#include <charconv>

#include "core/problem/bounds.hpp"

namespace margin {

namespace {

[[noreturn]] void refuse_factor(const std::string& what, const std::string& hint) {
  throw Error(ErrorKind::invalid_option, "option \"penalty_factor\" " + what, hint);
}

}  // namespace

std::int64_t feature_number(const std::string& key) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), number);
  return error == std::errc() && end == key.data() + key.size() && number >= 1 ? number - 1 : -1;
}

void name_penalties(Options& options, const Encoder& encoder) {
  if (options.named_penalty_factor.empty()) return;
  std::map<std::string, double> numbered;
  for (const auto& [key, factor] : options.named_penalty_factor) {
    const std::size_t term = encoder.term(key);
    if (term == encoder.terms()) {
      if (feature_number(key) >= 0) {
        numbered[key] = factor;
        continue;
      }
      std::vector<std::string_view> known;
      for (std::size_t t = 0; t < encoder.terms(); ++t) known.push_back(encoder.term_name(t));
      refuse_factor("names \"" + key + "\", which is not a column of these rows", name_hint(key, known));
    }
    const auto [first, own] = encoder.span(term);
    if (own > most_named)
      throw Error(ErrorKind::limit_exceeded,
                  "option \"penalty_factor\" names \"" + key + "\", a column of more than " +
                      std::to_string(most_named) + " features",
                  "Name those of its features that are to have the factor by their numbers.");
    for (std::int32_t j = 0; j < own; ++j) numbered[std::to_string(first + j + 1)] = factor;
  }
  options.named_penalty_factor = std::move(numbered);
}

std::vector<double> penalty_factors(const Options& options, std::int32_t features,
                                    const std::vector<std::int32_t>* columns) {
  const std::vector<double>& list = options.penalty_factor;
  if (list.empty() && options.named_penalty_factor.empty()) return {};
  if (!list.empty() && list.size() != static_cast<std::size_t>(features))
    refuse_factor(
        "has " + std::to_string(list.size()) + " factors, the rows have " + std::to_string(features) + " features",
        "Give a factor for each feature, or an object of those that are not 1, such as {\"3\": 0.5}.");
  const std::size_t size = columns != nullptr ? columns->size() : static_cast<std::size_t>(features);
  std::vector<double> out(size, 1.0);
  if (!list.empty())
    for (std::size_t k = 0; k < size; ++k)
      out[k] = list[columns != nullptr ? static_cast<std::size_t>((*columns)[k]) : k];
  for (const auto& [key, factor] : options.named_penalty_factor) {
    const std::int64_t feature = feature_number(key);
    if (feature < 0)
      refuse_factor("names \"" + key + "\", and the features of these rows have numbers only",
                    "Name them by their numbers from 1, or train on rows with named columns.");
    if (feature >= features)
      refuse_factor("names feature " + key + ", the rows have " + std::to_string(features) + " features",
                    "Features are numbered from 1.");
    if (columns == nullptr) {
      out[static_cast<std::size_t>(feature)] = factor;
      continue;
    }
    const auto at = std::lower_bound(columns->begin(), columns->end(), static_cast<std::int32_t>(feature));
    if (at != columns->end() && *at == feature) out[static_cast<std::size_t>(at - columns->begin())] = factor;
  }
  return out;
}

double least_penalty_factor(const Options& options) {
  double least = options.penalty_factor.empty() ? 1.0 : options.penalty_factor.front();
  for (const double factor : options.penalty_factor) least = std::min(least, factor);
  for (const auto& [key, factor] : options.named_penalty_factor) least = std::min(least, factor);
  return least;
}

}  // namespace margin
