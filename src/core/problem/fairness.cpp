#include "core/problem/fairness.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/error.hpp"
#include "core/base/write_number.hpp"
#include "core/problem/bounds.hpp"
#include "core/problem/offset.hpp"

namespace margin {

namespace {

constexpr std::size_t most_groups = 64;
constexpr double most_sums = 1 << 22;  // of all groups together

[[noreturn]] void refuse_column(const std::string& column, const std::string& what, const std::string& hint) {
  throw Error(ErrorKind::invalid_option, "option \"fairness\": the column \"" + column + "\" " + what, hint);
}

/// Values of the features of `column` as users know them.
std::string group_name(const Column& column, double scale, double center, const std::vector<double>& values) {
  const auto n = static_cast<std::size_t>(column.values());
  if (values.size() > n && values[n] != 0) return "NULL";
  if (column.kind == ColumnKind::category) {
    for (std::size_t k = 0; k < n; ++k)
      if (values[k] == 1) return column.category(static_cast<std::int32_t>(k));
    return column.base >= 0 ? column.categories[static_cast<std::size_t>(column.base)] : "NULL";
  }
  if (column.binned()) {
    std::size_t above = 0;
    while (above < n && values[above] != 0) ++above;
    return above == 0 ? "<= " + shortest(column.thresholds[0]) : "> " + shortest(column.thresholds[above - 1]);
  }
  if (column.kind == ColumnKind::boolean) return values[0] != 0 ? "true" : "false";
  // A unit away and back rounds the last digits.
  char text[32];
  std::snprintf(text, sizeof text, "%.12g", values[0] * scale + center);
  return text;
}

std::string constraint_name(const Fairness& f) {
  return std::string(parity_name(f.measure)) + " of " + f.column + "=" + f.group;
}

NamedConstraint constraint_of(const Fairness& f) {
  NamedConstraint c;
  c.name = constraint_name(f);
  c.weights = f.weights;
  c.lower = -f.bound - f.shift;
  c.upper = f.bound - f.shift;
  return c;
}

/// Which groups the rows have, as they come.
std::vector<std::string> groups_of(const Fairness& f, const Dataset& rows, const Progress& progress) {
  std::set<std::vector<double>> met;
  std::vector<std::string> out;
  std::vector<double> values(f.features.size());
  for (std::int64_t i = 0; i < rows.rows(); ++i) {
    const Row x = rows.row(i);
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = value_at(x, f.features[k]);
    progress.work(8.0 * static_cast<double>(values.size()) + 16);
    if (!met.insert(values).second) continue;
    std::string name = f.name_of(values);
    if (std::find(out.begin(), out.end(), name) == out.end()) out.push_back(std::move(name));
    require_few_groups(f, out.size());
  }
  return out;
}

/// Those that get a constraint. Of two groups one says it all.
std::vector<std::string> constrained(const Fairness& f, const std::vector<std::string>& groups) {
  if (groups.size() < 2)
    refuse_column(f.column, "has the value " + (groups.empty() ? "NULL" : groups[0]) + " in all rows",
                  "Parity is between groups of rows: give a column that tells them apart.");
  if (f.group.empty()) return groups.size() == 2 ? std::vector<std::string>{groups[1]} : groups;
  if (std::find(groups.begin(), groups.end(), f.group) != groups.end()) return {f.group};
  std::string known;
  for (const std::string& g : groups) known += (known.empty() ? "\"" : ", \"") + g + "\"";
  refuse_column(f.column, "has no row of the group \"" + f.group + "\"", "It has " + known + ".");
}

void add_rows(GroupSums& sums, const Dataset& rows, bool labels, const Progress& progress) {
  const std::vector<std::int32_t> rank = labels ? rows.classes().ranks() : std::vector<std::int32_t>();
  for (std::int64_t i = 0; i < rows.rows(); ++i) {
    const Row x = rows.row(i);
    progress.work(4.0 * x.count + 32);
    sums.add(x, rows.weight(i), labels && rank[static_cast<std::size_t>(rows.class_of(i))] == 1);
  }
}

}  // namespace

std::string_view parity_name(Parity measure) {
  return measure == Parity::score ? "score_parity" : "true_positive_parity";
}

void require_few_groups(const Fairness& f, std::size_t groups) {
  if (groups <= most_groups) return;
  throw Error(
      ErrorKind::limit_exceeded,
      "option \"fairness\": the column \"" + f.column + "\" has more than " + std::to_string(most_groups) + " values",
      "Each value is a group. Give a column of fewer, such as (age > 40) AS older.");
}

GroupSums::GroupSums(const Fairness& column, std::vector<std::string> groups, std::int32_t features)
    : column_(column), groups_(std::move(groups)), features_(static_cast<std::size_t>(features)) {
  const double size = static_cast<double>(groups_.size() + 1) * (static_cast<double>(features) + 1);
  if (!(size <= most_sums))
    throw Error(ErrorKind::limit_exceeded,
                "option \"fairness\" needs the means of " + std::to_string(features) + " features for each of " +
                    std::to_string(groups_.size()) + " groups",
                "Give fewer groups, or rows of fewer features.");
  sums_.resize((groups_.size() + 1) * (features_ + 1));
  values_.resize(column_.features.size());
}

void GroupSums::add(const Row& x, double weight, bool positive) {
  if (column_.measure == Parity::true_positive && !positive) return;
  for (std::size_t k = 0; k < values_.size(); ++k)
    values_[k] = column_.features[k] < reach(x) ? value_at(x, column_.features[k]) : 0;
  ExactSum* const sum = sums_of(values_);
  sum[0].add(weight);
  for (std::int32_t k = 0; k < x.count; ++k) {
    const auto j = static_cast<std::size_t>(x.indices != nullptr ? x.indices[k] : k);
    if (j < features_) sum[1 + j].add(weight * x.value(k));
  }
}

void GroupSums::add(const std::vector<double>& values, double weight, const double* sums,
                    const std::vector<std::int32_t>* columns) {
  ExactSum* const sum = sums_of(values);
  sum[0].add(weight);
  const std::size_t count = columns != nullptr ? columns->size() : features_;
  for (std::size_t k = 0; k < count; ++k)
    sum[1 + (columns != nullptr ? static_cast<std::size_t>((*columns)[k]) : k)].add(sums[k]);
}

ExactSum* GroupSums::sums_of(const std::vector<double>& values) {
  auto found = place_.find(values);
  if (found == place_.end()) {
    const auto at = std::find(groups_.begin(), groups_.end(), column_.name_of(values));
    if (place_.size() > 16 * most_groups) place_.clear();  // values that no training had
    found = place_.emplace(values, static_cast<std::size_t>(at - groups_.begin())).first;
  }
  return &sums_[found->second * (features_ + 1)];
}

std::vector<double> GroupSums::state() const {
  std::vector<double> out;
  for (const ExactSum& s : sums_) {
    out.push_back(s.rounded());
    out.push_back(s.lost());
  }
  return out;
}

bool GroupSums::merge(const std::vector<double>& state) {
  if (state.size() != size()) return false;
  for (std::size_t k = 0; k < sums_.size(); ++k) {
    const std::size_t at = k % (features_ + 1);
    if (at == 0 && !(state[2 * k] >= 0)) return false;
    if (!std::isfinite(state[2 * k]) || !std::isfinite(state[2 * k + 1])) return false;
    sums_[k].add(ExactSum::of(state[2 * k], state[2 * k + 1]));
  }
  return true;
}

std::map<std::int32_t, double> GroupSums::apart(const std::string& group) const {
  const auto own = static_cast<std::size_t>(std::find(groups_.begin(), groups_.end(), group) - groups_.begin());
  std::vector<ExactSum> rest(features_ + 1);
  for (std::size_t g = 0; g <= groups_.size(); ++g)
    for (std::size_t j = 0; g != own && j <= features_; ++j) rest[j].add(sums_[g * (features_ + 1) + j]);
  const ExactSum* const in = &sums_[own * (features_ + 1)];
  std::map<std::int32_t, double> out;
  if (own == groups_.size() || !(in[0].value() > 0) || !(rest[0].value() > 0)) return out;
  for (std::size_t j = 0; j < features_; ++j) {
    const double value = in[1 + j].value() / in[0].value() - rest[1 + j].value() / rest[0].value();
    if (value != 0) out[static_cast<std::int32_t>(j)] = value;
  }
  return out;
}

bool GroupSums::tell(Fairness& f, std::int32_t offset, const Encoder* encoder) const {
  f.weights.clear();
  f.shift = 0;
  const std::map<std::int32_t, double> all = apart(f.group);
  for (const auto& [j, value] : all) {
    if (j == offset)
      f.shift = value;
    else
      f.weights[std::to_string(j + 1)] = encoder == nullptr ? value : value * encoder->scale(j);
  }
  return !f.weights.empty();
}

void name_fairness(Options& options, const Encoder& encoder) {
  for (Fairness& f : options.fairness) {
    const std::size_t term = encoder.term(f.column);
    if (term >= encoder.columns().size()) {
      std::vector<std::string_view> known;
      for (const Column& c : encoder.columns()) known.push_back(c.name);
      throw Error(ErrorKind::invalid_option,
                  "option \"fairness\" names \"" + f.column + "\", which is not a column of these rows",
                  name_hint(f.column, known));
    }
    const Column& column = encoder.columns()[term];
    if (block(column.kind))
      refuse_column(f.column, "has several values in a row: " + column.type, "Groups are the values of one column.");
    const auto [first, count] = encoder.span(term);
    f.features.clear();
    for (std::int32_t k = 0; k < count; ++k) {
      const std::int32_t j = encoder.feature_of(first + k);
      if (j < 0) continue;
      f.features.push_back(j);
      if (column.grouping) options.named_bounds[std::to_string(j + 1)] = {0, 0};
    }
    const bool number = scalar(column.kind) && !column.binned();
    const double scale = number ? column.scale[0] : 1, center = number ? column.center[0] : 0;
    f.name_of = [column, scale, center](const std::vector<double>& v) { return group_name(column, scale, center, v); };
  }
}

void name_fairness(Options& options, std::int32_t features) {
  for (Fairness& f : options.fairness) {
    if (f.name_of) continue;  // by an encoder
    f.features = {static_cast<std::int32_t>(numbered("fairness", f.column, features))};
    f.name_of = [](const std::vector<double>& v) { return shortest(v[0]); };
  }
}

std::vector<Fairness> take_fairness(Options& options, const Dataset& rows, const Progress& progress) {
  GroupedRows all;
  all.features = rows.dimensions();
  all.two_classes = rows.outcome() == Dataset::Outcome::classes && rows.classes().size() == 2;
  all.groups = [&](const Fairness& f) { return groups_of(f, rows, progress); };
  all.add = [&](GroupSums& sums) { add_rows(sums, rows, sums.column().measure == Parity::true_positive, progress); };
  return take_fairness(options, all);
}

std::vector<Fairness> take_fairness(Options& options, const GroupedRows& rows) {
  std::vector<Fairness> made;
  if (options.fairness.empty()) return made;
  const std::int32_t offset = offset_feature(options, rows.features);
  name_fairness(options, rows.features);
  for (const Fairness& f : options.fairness) {
    if (f.measure == Parity::true_positive && !rows.two_classes)
      throw Error(ErrorKind::unsupported, "option \"fairness\": true_positive_parity needs labels of two classes",
                  "Give \"measure\": \"score_parity\" for numbers and more classes.");
    std::vector<std::string> groups = rows.groups(f);
    require_few_groups(f, groups.size());
    std::sort(groups.begin(), groups.end());
    const std::vector<std::string> own = constrained(f, groups);
    GroupSums sums(f, own, rows.features);
    rows.add(sums);
    for (const std::string& group : own) {
      Fairness one = f;
      one.group = group;
      if (!sums.tell(one, offset, nullptr))
        refuse_column(f.column, "has no row of the positive class in the group \"" + group + "\", or in it alone",
                      "Leave such rows out, or name the groups that are meant.");
      options.constraints.push_back(constraint_of(one));
      made.push_back(std::move(one));
    }
  }
  options.fairness.clear();
  return made;
}

void use_fairness(Options& options) {
  for (const Fairness& f : options.fairness)
    if (!f.weights.empty()) options.constraints.push_back(constraint_of(f));
}

Value fairness_value(const std::vector<Fairness>& made, const Encoder* encoder) {
  Value::Array all;
  for (const Fairness& f : made) {
    Value::Object one, weights;
    one["column"].data = f.column;
    one["measure"].data = std::string(parity_name(f.measure));
    one["bound"].data = f.bound;
    one["group"].data = f.group;
    if (f.shift != 0) one["shift"].data = f.shift;
    for (const auto& [key, value] : f.weights)
      weights[key].data =
          encoder == nullptr ? value : value * encoder->scale(static_cast<std::int32_t>(std::stol(key)) - 1);
    one["weights"].data = std::move(weights);
    all.emplace_back().data = std::move(one);
  }
  Value out;
  out.data = std::move(all);
  return out;
}

}  // namespace margin
