#include "core/encoder/fit_column.hpp"

#include <algorithm>
#include <cmath>

namespace margin {

double unit_for(double mean, double deviation) {
  // A column that is constant up to rounding carries nothing; dividing by its noise would make it the largest.
  return deviation > 1e-12 * std::fabs(mean) && std::isfinite(deviation) ? deviation : 1.0;
}

bool standardized(const Column& column, const EncoderRules& rules) {
  return rules.standardize && column.kind != ColumnKind::boolean && !column.offset;
}

bool may_be_cut(const Column& column) {
  return scalar(column.kind) && column.kind != ColumnKind::boolean && !column.offset;
}

std::int32_t bins_of(const Column& column, const Bins& bins) { return may_be_cut(column) ? bins.of(column.name) : 0; }

void require_binned_columns(const std::vector<Column>& columns, const Bins& bins) {
  for (const auto& [name, count] : bins.named) {
    std::vector<std::string_view> numbers;
    for (const Column& column : columns)
      if (may_be_cut(column)) numbers.push_back(column.name);
    if (std::find(numbers.begin(), numbers.end(), name) == numbers.end())
      throw Error(ErrorKind::invalid_option,
                  "option \"bins\" names the column \"" + name + "\", which is no column of numbers",
                  numbers.empty() ? "The rows have none." : name_hint(name, numbers));
  }
}

void set_units(Column& c, const double* mean, const double* deviation, double absent, bool standardize) {
  const auto n = static_cast<std::size_t>(c.values());
  c.spread.emplace().deviation.assign(deviation, deviation + n);
  c.spread->missing = absent;
  c.fill.assign(mean, mean + n);
  c.center.assign(n, 0.0);
  c.scale.assign(n, 1.0);
  if (!standardize) return;
  c.center = c.fill;
  for (std::size_t k = 0; k < n; ++k) c.scale[k] = unit_for(mean[k], deviation[k]);
}

void choose_bases(std::vector<Column>& columns, const EncoderRules& rules) {
  for (const auto& [name, category] : rules.references) {
    const std::string& wanted = name;
    const auto c =
        std::find_if(columns.begin(), columns.end(), [&](const Column& each) { return each.name == wanted; });
    if (c == columns.end() || c->kind != ColumnKind::category) {
      std::vector<std::string_view> known;
      for (const Column& each : columns)
        if (each.kind == ColumnKind::category) known.push_back(each.name);
      throw Error(ErrorKind::invalid_option,
                  "option \"reference\" names the column \"" + name + "\", which is no column of categories",
                  known.empty() ? "The rows have none." : name_hint(name, known));
    }
    const auto found = std::lower_bound(c->categories.begin(), c->categories.end(), category);
    if (found == c->categories.end() || *found != category)
      throw Error(
          ErrorKind::invalid_option,
          "option \"reference\" names the category \"" + category + "\" of column \"" + name + "\", which no row has",
          name_hint(category, {c->categories.begin(), c->categories.end()}));
    c->base = static_cast<std::int32_t>(found - c->categories.begin());
  }
  for (Column& c : columns) {
    if (!rules.reference || c.base >= 0 || c.kind != ColumnKind::category || c.categories.empty()) continue;
    c.base = 0;
    for (const std::string& label : c.order) {
      const auto found = std::lower_bound(c.categories.begin(), c.categories.end(), label);
      if (found == c.categories.end() || *found != label) continue;
      c.base = static_cast<std::int32_t>(found - c.categories.begin());
      break;
    }
  }
}

void require_named_columns(const EncoderRules& rules, const std::vector<std::string_view>& names) {
  const auto require = [&](const char* option, const std::vector<std::string>& listed) {
    for (const std::string& name : listed)
      if (std::find(names.begin(), names.end(), name) == names.end())
        throw Error(
            ErrorKind::invalid_option,
            std::string("option \"") + option + "\" names the column \"" + name + "\", which the row does not have",
            name_hint(name, names));
  };
  require("exclude", rules.exclude);
  require("include", rules.include);
}

bool wants_pairs(const EncoderRules& rules) {
  return rules.interactions.searched() || !rules.interactions.named.empty();
}

namespace {
bool is_among(const std::vector<std::string>& names, std::string_view column) {
  return std::find(names.begin(), names.end(), column) != names.end();
}
}  // namespace

bool is_feature(const EncoderRules& rules, std::string_view column) {
  return !is_among(rules.exclude, column) && (rules.include.empty() || is_among(rules.include, column));
}

bool is_grouping(const EncoderRules& rules, std::string_view column) {
  return !is_feature(rules, column) && is_among(rules.groupings, column);
}

void keep_groupings(EncoderRules& rules) {
  std::vector<std::string> left_out;
  for (const std::string& name : rules.groupings)
    if (is_grouping(rules, name)) left_out.push_back(name);
  rules.exclude = std::move(left_out);
  rules.include.clear();
}

Error too_many_categories(const Column& column, std::int64_t most, const std::string& otherwise) {
  const bool set = column.kind == ColumnKind::set;
  return {ErrorKind::invalid_value,
          "column \"" + column.name + "\" has more than " + std::to_string(most) +
              (set ? " different elements" : " categories"),
          std::string("Leave it out with the option exclude, ") +
              (set ? "keep its frequent elements alone"
                   : "merge rare values (CASE ... ELSE 'other' END), hash it (margin_features(column) AS column)") +
              otherwise};
}

Error no_feature_left() {
  return {ErrorKind::wrong_type, "the row has no column that is a feature",
          "Give a row with other columns than the excluded ones."};
}

}  // namespace margin
