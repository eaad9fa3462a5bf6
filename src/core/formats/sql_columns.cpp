#include "core/formats/sql_columns.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "core/formats/sql_terms.hpp"
#include "core/simd/plain_dot.hpp"

namespace margin {

namespace {

[[noreturn]] void refuse(const Column& c, const std::string& why, const std::string& hint) {
  throw Error(ErrorKind::unsupported,
              "column \"" + c.name + "\" is of type " + c.type + ", " + why + " in a SQL expression", hint);
}

/// Microseconds as the encoder has them: numeric is exact, and rounded once.
std::string microseconds(const std::string& seconds) { return "(" + seconds + " * 1000000)::float8"; }

constexpr const char* microseconds_a_day = "'86400000000'::float8";

bool is_array(const Column& c) { return c.type.size() > 2 && c.type.compare(c.type.size() - 2, 2, "[]") == 0; }

bool of_lexemes(const Column& c) { return c.type == "tsvector"; }

std::string either(const std::string& condition, const std::string& yes, const std::string& otherwise) {
  return "CASE WHEN " + condition + " THEN " + yes + (otherwise.empty() ? "" : " ELSE " + otherwise) + " END";
}

bool zero(const std::vector<double>& w) {
  return std::all_of(w.begin(), w.end(), [](double v) { return v == 0; });
}

}  // namespace

std::string SqlColumns::name(const Column& c) const { return owner_ + sql_identifier(c.name); }

/// A number, date, interval or time as the encoder reads it, to be multiplied.
std::string SqlColumns::cell(const Column& c) const {
  const std::string of = name(c);
  if (c.kind == ColumnKind::number) return of + "::float8";
  if (c.kind == ColumnKind::time)
    return "(" + microseconds("extract(epoch FROM " + of + ")") + " / '3600000000'::float8)";
  if (c.kind == ColumnKind::interval) {
    const auto field = [&](const char* part) { return std::string("extract(") + part + " FROM " + of + ")"; };
    const std::string seconds =
        "(" + field("hour") + " * 3600 + " + field("minute") + " * 60 + " + field("second") + ")";
    return "((" + field("year") + " * 365.25 + " + field("month") + " * 30 + " + field("day") + ")::float8 + " +
           microseconds(seconds) + " / " + microseconds_a_day + ")";
  }
  if (c.type == "date") return "(" + of + " - '1970-01-01'::date)::float8";
  const bool zoned = c.type == "timestamp with time zone";
  if (!zoned && c.type != "timestamp without time zone")
    refuse(c, "which may be a date or a time", "Train on the column cast to date, timestamp or timestamptz.");
  const std::string start = zoned ? "'2000-01-01 00:00:00+00'::timestamptz" : "'2000-01-01'::timestamp";
  return "(" + microseconds("extract(epoch FROM " + of + " - " + start + ")") + " / " + microseconds_a_day +
         " + '10957'::float8)";
}

std::string SqlColumns::standardised(const Column& c) const {
  std::string text = cell(c);
  if (c.center[0] != 0) text = "(" + text + " - " + sql_number(c.center[0]) + ")";
  const double inverse = 1 / c.scale[0];
  return inverse == 1 ? text : text + " * " + sql_number(inverse);
}

std::string SqlColumns::element(const Column& c, std::size_t k) const {
  std::string text = "(" + name(c) + (is_array(c) ? ")[" : "::real[])[") + std::to_string(k + 1) + "]::float8";
  if (c.center[k] != 0) text = "(" + text + " - " + sql_number(c.center[k]) + ")";
  return c.scale[k] == 1 ? text : text + " / " + sql_number(c.scale[k]);
}

/// A category to be compared: by bytes, whatever the collation of the column. Other types than text have only one.
std::string SqlColumns::compared(const Column& c) const {
  const bool collated = c.type == "text" || c.type == "character varying" || c.type == "character";
  return name(c) + (collated ? " COLLATE \"C\"" : "");
}

/// Those features of a column that the encoder has.
std::vector<std::size_t> SqlColumns::kept(const Column& c, std::size_t features) const {
  std::vector<std::size_t> out;
  for (std::size_t k = 0; k < features; ++k)
    if (encoder_.feature_of(c.first + static_cast<std::int32_t>(k)) >= 0) out.push_back(k);
  return out;
}

/// What a row with these features of a column adds, the products added up as score() does.
double SqlColumns::part_of(const Column& c, const std::vector<double>& features, const std::vector<double>& w) const {
  std::vector<double> x, weights;
  for (const std::size_t k : kept(c, w.size())) {
    x.push_back(features[k]);
    weights.push_back(w[k]);
  }
  if (!from_left_) return plain_dots().of_doubles(x.data(), weights.data(), x.size());
  double sum = 0;
  for (std::size_t k = 0; k < x.size(); ++k) sum += plain_product(x[k], weights[k]);
  return sum;
}

double SqlColumns::part_of_null(const Column& c, const std::vector<double>& w) const {
  return part_of(c, encoder_.of_null(c), w);
}

std::string SqlColumns::part(const Column& c, const std::vector<double>& w) const {
  if (c.grouping) return {};
  if (c.binned()) return binned_part(c, w);
  if (c.kind == ColumnKind::category) return category_part(c, w);
  if (c.kind == ColumnKind::set) return set_part(c, w);
  if (c.kind == ColumnKind::dense) return dense_part(c, w);
  if (c.kind == ColumnKind::boolean) return boolean_part(c, w);
  if (scalar(c.kind)) return number_part(c, w);
  refuse(c, "whose elements cannot be read", "margin_score takes such models; for SQL train on arrays or columns.");
}

std::string SqlColumns::number_part(const Column& c, const std::vector<double>& w) const {
  const bool taken = encoder_.takes_null(c);
  if (taken && zero(w)) return {};
  const std::string null = taken ? sql_number(part_of_null(c, w)) : std::string();
  if (w[0] == 0)
    return taken ? either(name(c) + " IS NULL", null, sql_number(0))
                 : either(name(c) + " IS NOT NULL", sql_number(0), "");
  const std::string product = standardised(c) + (w[0] == 1 ? "" : " * " + sql_number(w[0]));
  return taken ? "coalesce(" + product + ", " + null + ")" : product;
}

/// The parts of bins `first` to `last`, found by halves.
std::string SqlColumns::bin_part(const Column& c, const std::vector<double>& parts, std::size_t first,
                                 std::size_t last) const {
  if (first == last) return sql_number(parts[first]);
  const std::size_t middle = (first + last) / 2;
  return either(cell(c) + " > " + sql_number(c.thresholds[middle]), bin_part(c, parts, middle + 1, last),
                bin_part(c, parts, first, middle));
}

std::string SqlColumns::binned_part(const Column& c, const std::vector<double>& w) const {
  const bool taken = encoder_.takes_null(c);
  if (taken && zero(w)) return {};
  std::vector<double> parts;
  for (std::int32_t k = 0; k <= c.values(); ++k) parts.push_back(part_of(c, c.features_of_bin(k), w));
  const std::string number = bin_part(c, parts, 0, c.thresholds.size());
  return taken ? either(name(c) + " IS NULL", sql_number(part_of_null(c, w)), number)
               : either(name(c) + " IS NOT NULL", number, "");
}

std::string SqlColumns::boolean_part(const Column& c, const std::vector<double>& w) const {
  const bool taken = encoder_.takes_null(c);
  if (taken && zero(w)) return {};
  const auto value = [&](double cell) {
    return sql_number(plain_product((cell - c.center[0]) * (1 / c.scale[0]), w[0]) + 0.0);
  };
  return "CASE WHEN " + name(c) + " THEN " + value(1) + " WHEN NOT " + name(c) + " THEN " + value(0) +
         (taken ? " ELSE " + sql_number(part_of_null(c, w)) : "") + " END";
}

std::string SqlColumns::category_part(const Column& c, const std::vector<double>& w) const {
  const bool taken = encoder_.takes_null(c), known = encoder_.unknown_is_error();
  if (taken && !known && zero(w)) return {};
  std::string choice;
  for (std::size_t k = 0; k < c.categories.size(); ++k) {
    const std::int32_t indicator = c.indicator_of(static_cast<std::int32_t>(k));
    const double weight = indicator < 0 ? 0 : w[static_cast<std::size_t>(indicator)];
    if (weight != 0 || known) choice += " WHEN " + sql_text(c.categories[k]) + " THEN " + sql_number(weight);
  }
  if (choice.empty())  // of NULL alone, or without a weight
    choice = known ? "NULL::float8" : sql_number(0);
  else
    choice = "CASE " + compared(c) + choice + (known ? "" : " ELSE " + sql_number(0)) + " END";
  if (taken) return either(name(c) + " IS NULL", sql_number(part_of_null(c, w)), choice);
  return known ? choice : either(name(c) + " IS NOT NULL", choice, "");
}

std::string SqlColumns::dense_part(const Column& c, const std::vector<double>& w) const {
  const bool taken = encoder_.takes_null(c);
  const std::vector<std::size_t> features = kept(c, w.size());
  SqlSum sum = sql_sum(
      features.size(),
      [&](std::size_t at) {
        const std::size_t k = features[at];
        if (k >= static_cast<std::size_t>(c.width) || w[k] == 0) return std::string();
        return element(c, k) + (w[k] == 1 ? "" : " * " + sql_number(w[k]));
      },
      from_left_);
  if (sum.text.empty()) sum.text = sql_number(0);
  const std::string array = is_array(c) ? name(c) : name(c) + "::real[]";
  return "CASE WHEN cardinality(" + array + ") = " + std::to_string(c.width) + " THEN " + sum.text +
         (taken ? " WHEN " + name(c) + " IS NULL THEN " + sql_number(part_of_null(c, w)) : "") + " END";
}

/// A set as an array of texts, compared by bytes. A type of another name is a domain, most probably over text[].
std::string SqlColumns::elements(const Column& c) const {
  const std::string array =
      of_lexemes(c) ? "tsvector_to_array(" + name(c) + ")" : name(c) + (c.type == "text[]" ? "" : "::text[]");
  return "(" + array + " COLLATE \"C\")";
}

/// `value` for a set that encode() takes, `null` for a row without one; empty: no answer.
std::string SqlColumns::of_set(const Column& c, const std::string& value, const std::string& null) const {
  std::string taken = name(c) + " IS NOT NULL";
  if (encoder_.unknown_is_error()) {
    taken = elements(c) + " <@ ARRAY[";
    for (std::size_t k = 0; k < c.categories.size(); ++k) taken += (k > 0 ? ", " : "") + sql_text(c.categories[k]);
    taken += "]::text[]";
  } else if (!of_lexemes(c)) {
    taken += " AND array_position(" + elements(c) + ", NULL) IS NULL";
  }
  const std::string table = of_lexemes(c) ? "" : " WHEN array_ndims(" + name(c) + ") > 1 THEN NULL::float8";
  return "CASE" + table + " WHEN " + taken + " THEN " + value +
         (null.empty() ? "" : " WHEN " + name(c) + " IS NULL THEN " + null) + " END";
}

std::string SqlColumns::set_part(const Column& c, const std::vector<double>& w) const {
  const std::vector<std::size_t> features = kept(c, w.size());
  SqlSum sum = sql_sum(
      features.size(),
      [&](std::size_t at) {
        const std::size_t k = features[at];
        if (k >= c.categories.size() || w[k] == 0) return std::string();
        return either(sql_text(c.categories[k]) + " = ANY (" + elements(c) + ")", sql_number(w[k]), sql_number(0));
      },
      from_left_);
  if (sum.text.empty()) sum.text = sql_number(0);
  return of_set(c, sum.text, encoder_.takes_null(c) ? sql_number(part_of_null(c, w)) : std::string());
}

std::string SqlColumns::category_feature(const Column& c, std::size_t value) const {
  const std::string is = compared(c) + " = " + sql_text(c.category(static_cast<std::int32_t>(value)));
  std::string text = "CASE WHEN " + is + " THEN " + sql_number(1);
  if (encoder_.unknown_is_error()) {
    text += " WHEN " + compared(c) + " IN (";
    for (std::size_t k = 0; k < c.categories.size(); ++k) text += (k > 0 ? ", " : "") + sql_text(c.categories[k]);
    text += ")";
  } else {
    text += " WHEN " + name(c) + " IS NOT NULL";
  }
  text += " THEN " + sql_number(0);
  if (encoder_.takes_null(c)) text += " WHEN " + name(c) + " IS NULL THEN " + sql_number(encoder_.of_null(c)[value]);
  return text + " END";
}

std::string SqlColumns::value_of(const Column& c, std::size_t value) const {
  if (c.kind == ColumnKind::category) return category_feature(c, value);
  const bool taken = encoder_.takes_null(c);
  const std::string null = taken ? sql_number(encoder_.of_null(c)[value]) : std::string();
  if (c.kind == ColumnKind::set)
    return of_set(
        c, either(sql_text(c.categories[value]) + " = ANY (" + elements(c) + ")", sql_number(1), sql_number(0)), null);
  if (c.kind == ColumnKind::boolean) {
    const auto of = [&](double cell) { return sql_number((cell - c.center[0]) * (1 / c.scale[0])); };
    return "CASE WHEN " + name(c) + " THEN " + of(1) + " WHEN NOT " + name(c) + " THEN " + of(0) +
           (taken ? " ELSE " + null : "") + " END";
  }
  if (c.binned())
    return "CASE WHEN " + cell(c) + " > " + sql_number(c.thresholds[value]) + " THEN " + sql_number(1) + " WHEN " +
           name(c) + " IS NOT NULL THEN " + sql_number(0) + (taken ? " ELSE " + null : "") + " END";
  if (scalar(c.kind)) return taken ? "coalesce(" + standardised(c) + ", " + null + ")" : standardised(c);
  if (c.kind == ColumnKind::sparse)
    refuse(c, "whose elements cannot be read", "margin_score takes such models; for SQL train on arrays or columns.");
  return taken ? either(name(c) + " IS NULL", null, element(c, value)) : element(c, value);
}

/// Texts from `first` to `last` by the bin of a number, found by halves; where two are the same, without asking.
static std::string at_bin(const std::string& number, const PairSide& side, const std::vector<std::string>& texts,
                          std::size_t first, std::size_t last) {
  if (first == last) return texts[first];
  const std::size_t middle = (first + last) / 2;
  const std::string above = at_bin(number, side, texts, middle + 1, last),
                    below = at_bin(number, side, texts, first, middle);
  return above == below ? above : either(number + " > " + sql_number(side.thresholds[middle]), above, below);
}

/// The text of the level that a row has: `texts` of all of them.
std::string SqlColumns::at_level(const PairSide& side, const std::vector<std::string>& texts) const {
  const Column& c = encoder_.columns()[side.at];
  std::string text;
  if (side.kind == ColumnKind::boolean) {
    text = texts[0] == texts[1] ? texts[0] : either(name(c), texts[1], texts[0]);
  } else if (side.kind == ColumnKind::category) {
    const std::string rest = side.others ? texts[static_cast<std::size_t>(side.known()) - 1] : sql_number(0);
    for (std::size_t k = 0; k < side.categories.size(); ++k)
      if (texts[k] != rest) text += " WHEN " + sql_text(side.categories[k]) + " THEN " + texts[k];
    text = text.empty() ? rest : "CASE " + compared(c) + text + " ELSE " + rest + " END";
  } else {
    text = at_bin(cell(c), side, texts, 0, side.thresholds.size());
  }
  if (!encoder_.takes_null(c)) return text;
  const std::string null = side.filled < 0 ? sql_number(0) : texts[static_cast<std::size_t>(side.filled)];
  return null == text ? text : either(name(c) + " IS NULL", null, text);
}

std::string SqlColumns::part(const PairTerm& pair, const std::vector<double>& w) const {
  if (zero(w)) return {};
  const auto n = static_cast<std::size_t>(pair.sides[1].levels());
  std::vector<std::string> rows;
  for (std::size_t a = 0; a * n < w.size(); ++a) {
    std::vector<std::string> cells;
    for (std::size_t b = 0; b < n; ++b) cells.push_back(sql_number(w[a * n + b] + 0.0));
    rows.push_back(at_level(pair.sides[1], cells));
  }
  return at_level(pair.sides[0], rows);
}

std::string SqlColumns::pair_feature(const PairTerm& pair, std::int32_t cell) const {
  std::vector<double> w(static_cast<std::size_t>(pair.cells()), 0.0);
  w[static_cast<std::size_t>(cell)] = 1;
  std::string text = part(pair, w);
  for (const PairSide& side : pair.sides) {
    const Column& c = encoder_.columns()[side.at];
    if (!encoder_.takes_null(c)) text = either(name(c) + " IS NOT NULL", text, "");
  }
  return "(" + text + ")";
}

std::string SqlColumns::feature(std::int32_t feature) const {
  const Encoder::Place at = encoder_.place(feature);
  if (const PairTerm* pair = encoder_.pair(at)) return pair_feature(*pair, at.value);
  const Column& c = encoder_.columns()[at.column];
  if (at.value == c.values()) return "(" + either(name(c) + " IS NULL", sql_number(1), sql_number(0)) + ")";
  return "(" + value_of(c, static_cast<std::size_t>(at.value)) + ")";
}

}  // namespace margin
