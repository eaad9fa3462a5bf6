#include "core/encoder/pair.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/base/write_number.hpp"
#include "core/encoder/bins.hpp"

namespace margin {

std::int32_t PairSide::level(double cell) const {
  if (std::isnan(cell)) return filled;
  if (kind == ColumnKind::boolean) return cell != 0 ? 1 : 0;
  if (kind == ColumnKind::category)
    return cell < 0 ? (others ? known() - 1 : -1) : level_of[static_cast<std::size_t>(cell)];
  return static_cast<std::int32_t>(std::lower_bound(thresholds.begin(), thresholds.end(), cell) - thresholds.begin());
}

std::string PairSide::level_text(std::int32_t level) const {
  if (level == known()) return column + " IS NULL";
  const auto at = static_cast<std::size_t>(level);
  if (kind == ColumnKind::boolean) return column + "=" + (level == 1 ? "true" : "false");
  if (kind == ColumnKind::category)
    return at < categories.size() ? column + "=" + categories[at] : column + " is another";
  std::string text = column;
  if (at == 0 && !thresholds.empty()) return column + " <= " + shortest(thresholds[0]);
  if (at == thresholds.size() && at > 0) return column + " > " + shortest(thresholds[at - 1]);
  return thresholds.empty() ? column
                            : shortest(thresholds[at - 1]) + " < " + column + " <= " + shortest(thresholds[at]);
}

void PairSide::bind(const std::vector<Column>& columns) {
  const auto found = std::lower_bound(columns.begin(), columns.end(), column,
                                      [](const Column& c, const std::string& name) { return c.name < name; });
  at = static_cast<std::size_t>(found - columns.begin());
  const Column& c = *found;
  level_of.clear();
  for (const std::string& name : c.categories) {
    const auto own = std::lower_bound(categories.begin(), categories.end(), name);
    const bool has = own != categories.end() && *own == name;
    level_of.push_back(has ? static_cast<std::int32_t>(own - categories.begin()) : others ? known() - 1 : -1);
  }
  filled = missing ? known() : -1;
  if (missing) return;
  // Without a level of its own NULL is where the mean is, or the most frequent category.
  if (c.kind != ColumnKind::category) {
    filled = level(c.kind == ColumnKind::boolean ? (c.fill[0] > 0.5 ? 1 : 0) : c.fill[0]);
  } else if (c.spread.has_value() && !c.categories.empty()) {
    const auto& mean = c.spread->mean;
    filled = level_of[static_cast<std::size_t>(std::max_element(mean.begin(), mean.end()) - mean.begin())];
  }
}

std::int32_t PairLevels::beside(std::int32_t others) const {
  constexpr std::int32_t most = 4;  // times as many
  return std::clamp(each * each / std::max(others, 1), each, most * each);
}

PairSide side_of(const Column& c, std::int32_t levels) {
  PairSide side{c.name, c.kind};
  side.missing = c.missing;
  const ColumnSpread& spread = *c.spread;
  if (c.kind == ColumnKind::boolean) return side;
  if (c.kind != ColumnKind::category) {
    side.thresholds = coarser_thresholds(c.thresholds, spread.mean, levels);
    return side;
  }
  std::vector<std::size_t> order(c.categories.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return spread.mean[a] > spread.mean[b]; });
  side.others = order.size() > static_cast<std::size_t>(levels);
  if (side.others) order.resize(static_cast<std::size_t>(levels) - 1);
  std::sort(order.begin(), order.end());
  for (const std::size_t k : order) side.categories.push_back(c.categories[k]);
  return side;
}

PairTerm pair_of(const Column& a, const Column& b, const PairLevels& levels) {
  PairTerm pair{{side_of(a, levels.each), side_of(b, levels.each)}};
  const std::array<const Column*, 2> columns{&a, &b};
  for (std::size_t k = 0; k < 2; ++k) {
    const std::int32_t more = levels.beside(pair.sides[1 - k].known());
    if (more > levels.each) pair.sides[k] = side_of(*columns[k], more);
  }
  if (b.name < a.name) std::swap(pair.sides[0], pair.sides[1]);
  return pair;
}

namespace {

std::size_t find_column(std::string_view name, const std::vector<Column>& columns) {
  const auto found = std::lower_bound(columns.begin(), columns.end(), name,
                                      [](const Column& c, std::string_view n) { return c.name < n; });
  return found != columns.end() && found->name == name ? static_cast<std::size_t>(found - columns.begin())
                                                       : columns.size();
}

constexpr const char* option = "option \"interactions\" names ";

void require_part(const Column& c) {
  if (pairs_with_others(c)) return;
  throw Error(ErrorKind::invalid_option,
              option + ("the column \"" + c.name + "\", which ") +
                  (c.offset         ? "is the offset of the model"
                   : c.grouping     ? "is no feature"
                   : listed(c.kind) ? "has several elements: " + c.type
                                    : "has several numbers: " + c.type),
              "Pairs are of numbers, booleans, times and categories.");
}

}  // namespace

std::vector<ColumnPair> named_pairs(const std::vector<std::string>& names, const std::vector<Column>& columns) {
  std::vector<ColumnPair> out;
  for (const std::string& name : names) {
    ColumnPair pair{columns.size(), columns.size()};
    std::string absent;  // the part of a name of two parts that is no column
    for (std::size_t star = name.find('*'); star != std::string::npos; star = name.find('*', star + 1)) {
      const std::string left = name.substr(0, star), right = name.substr(star + 1);
      const ColumnPair found{find_column(left, columns), find_column(right, columns)};
      if (found[0] < columns.size() && found[1] < columns.size())
        pair = found;
      else
        absent = found[0] < columns.size() ? right : left;
    }
    if (pair[0] == columns.size()) {
      std::vector<std::string_view> known;
      for (const Column& c : columns) known.push_back(c.name);
      if (absent.empty())
        throw Error(ErrorKind::invalid_option, option + ("\"" + name + "\", expected two columns such as age*income"));
      throw Error(ErrorKind::invalid_option,
                  option + ("the column \"" + absent + "\", which is no feature of these rows"),
                  name_hint(absent, known));
    }
    if (pair[0] == pair[1])
      throw Error(ErrorKind::invalid_option,
                  option + ("the column \"" + columns[pair[0]].name + "\" twice in one pair"),
                  "A column alone is cut finer with the option bins.");
    for (const std::size_t j : pair) require_part(columns[j]);
    std::sort(pair.begin(), pair.end());
    const std::string whole = columns[pair[0]].name + "*" + columns[pair[1]].name;
    if (find_column(whole, columns) < columns.size())
      throw Error(ErrorKind::invalid_option, option + ("\"" + whole + "\", and a column has that name"),
                  "Rename the column in a subquery.");
    if (std::find(out.begin(), out.end(), pair) == out.end()) out.push_back(pair);
  }
  return out;
}

}  // namespace margin
