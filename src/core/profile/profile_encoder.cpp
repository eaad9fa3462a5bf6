#include "core/profile/profile_encoder.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/encoder/bins.hpp"
#include "core/encoder/fit_column.hpp"

namespace margin {

namespace {

constexpr const char* of_rows = "Make the encoder of the rows: train_margin has them at hand, (model).encoder is it.";

[[noreturn]] void refuse(const std::string& message, const std::string& hint = of_rows) {
  throw Error(ErrorKind::unsupported, message, hint);
}

void require_finite(const std::string& column, const Sums& sums) {
  if (sums.nan == 0 && sums.infinite == 0) return;
  throw Error(ErrorKind::invalid_value,
              "column \"" + column + "\" is " + (sums.nan > 0 ? "NaN" : "infinite") + " in " +
                  std::to_string(sums.nan > 0 ? sums.nan : sums.infinite) + " rows, expected finite numbers",
              "Leave such rows out with WHERE, or have NULL for them: nullif(" + column + ", 'NaN').");
}

/// Of the finite numbers, where missing ones of `rows` have their mean; both 0 of none.
std::pair<double, double> moments(const Sums& sums, std::int64_t rows) {
  if (sums.finite() == 0) return {0.0, 0.0};
  const double found = ExactTotal::deviation(sums.sum, sums.squares, sums.finite(), rows);
  return {sums.mean() + 0.0, std::isfinite(found) ? found : 0.0};
}

class ProfileFit {
 public:
  ProfileFit(Profile& profile, const EncoderRules& rules, const Progress& progress)
      : profile_(profile), rules_(rules), progress_(progress), rows_(static_cast<double>(profile.rows())) {}

  Column column(std::size_t j) {
    const ProfiledColumn& profiled = profile_.columns()[j];
    Profile::Statistics& statistics = profile_.statistics(j);
    if (!profiled.kind.has_value())
      throw Error(ErrorKind::wrong_type,
                  "column \"" + profiled.name + "\" is of type " + profiled.type + ", which cannot be a feature",
                  "Cast it, or leave it out: margin_options(exclude => '{" + profiled.name + "}').");
    if (profiled.kind == ColumnKind::sparse)
      refuse("a profile only counts the values of column \"" + profiled.name + "\", of type " + profiled.type);
    Column c;
    c.name = profiled.name;
    c.type = profiled.type;
    c.kind = *profiled.kind;
    c.offset = !rules_.offset.empty() && c.name == rules_.offset;
    c.grouping = is_grouping(rules_, c.name);
    const std::int64_t values = values_of(statistics);
    c.missing = values < profile_.rows();
    absent_ = static_cast<double>(profile_.rows() - values) / rows_;
    if (c.missing && rules_.missing == Missing::skip)
      refuse("option \"missing\" is 'skip', and the profile has rows in which column \"" + c.name + "\" is NULL",
             "Leave them out: margin_sum(margin_profile(t)) FILTER (WHERE " + c.name + " IS NOT NULL).");
    if (c.missing) refuse_missing(c, rules_.missing, true);
    std::visit([&](auto& of) { fit(c, of); }, statistics);
    return c;
  }

 private:
  void fit(Column& c, NumberStatistics& numbers) {
    const Sums& sums = numbers.sums();
    require_finite(c.name, sums);
    const auto [mean, deviation] = moments(sums, profile_.rows());
    set_units(c, &mean, &deviation, absent_, standardized(c, rules_));
    const std::int32_t bins = bins_of(c, rules_.bins);
    if (bins == 0) return;
    std::vector<CountedNumber> items;
    for (const auto& [value, count] : numbers.items()) {
      items.push_back({value, static_cast<double>(count), count});
      progress_.work(item_work);
    }
    cut_into_bins(c, items, bins, progress_);
  }

  void list(Column& c, Profile::Texts& texts) {
    const std::vector<FrequentTexts::Item> items = texts.values.items();
    const auto most = static_cast<std::size_t>(rules_.max_categories);
    if (!texts.values.exact() || items.size() > most) {
      const bool fewer = most < most_values;
      throw too_many_categories(
          c, static_cast<std::int64_t>(std::min(most, most_values)),
          fewer ? ", or raise the option max_categories."
                : ". A profile knows no more of a column; train_margin takes up to max_categories.");
    }
    ColumnSpread& spread = c.spread.emplace();
    spread.missing = absent_;
    for (const auto& [name, count] : items) {
      if (is_shortened(name))
        refuse("column \"" + c.name + "\" has texts of more than " + std::to_string(most_text) +
                   " bytes, of which a profile keeps the beginning and a hash",
               "Leave it out with the option exclude, or shorten " +
                   std::string(c.kind == ColumnKind::set ? "its elements." : "it: left(column, 60) AS column."));
      c.categories.push_back(name);
      spread.mean.push_back(static_cast<double>(count) / rows_);
      progress_.work(item_work);
    }
  }

  void fit(Column& c, Profile::Sets& sets) { list(c, sets.elements); }

  void fit(Column& c, Profile::Texts& texts) {
    list(c, texts);
    // A profile does not know the order of an enum.
    static constexpr std::string_view unordered[] = {"text", "character varying", "character",
                                                     "name", "\"char\"",          "uuid"};
    const bool by_bytes = std::find(std::begin(unordered), std::end(unordered), c.type) != std::end(unordered);
    if (rules_.reference && !by_bytes && rules_.references.count(c.name) == 0)
      refuse("a profile does not tell the order of the values of type " + c.type +
                 ", the first of which is the reference of "
                 "column \"" +
                 c.name + "\" at lambda 0",
             "Name it: margin_options(reference => '{\"" + c.name + "\": \"...\"}').");
  }

  void fit(Column& c, Profile::Blocks& blocks) {
    c.width = static_cast<std::int32_t>(blocks.elements.size());
    std::vector<double> mean, deviation;
    for (const Sums& element : blocks.elements) {
      progress_.work(item_work);
      require_finite(c.name, element);
      const auto [its_mean, its_deviation] = moments(element, profile_.rows());
      mean.push_back(its_mean);
      deviation.push_back(its_deviation);
    }
    set_units(c, mean.data(), deviation.data(), mean.empty() ? 0 : absent_, standardized(c, rules_));
  }

  void fit(Column&, Profile::Counted&) {}

  Profile& profile_;
  const EncoderRules& rules_;
  const Progress& progress_;
  double rows_, absent_ = 0;
};

/// The deviation of the label.
double label_unit(Profile& profile, const std::string& label) {
  for (std::size_t j = 0; j < profile.columns().size(); ++j) {
    if (profile.columns()[j].name != label) continue;
    auto* const numbers = std::get_if<NumberStatistics>(&profile.statistics(j));
    if (numbers == nullptr)
      throw Error(ErrorKind::wrong_type, "the label of a regression, column \"" + label + "\", is of type " +
                                             profile.columns()[j].type + ", expected a number");
    const Sums& sums = numbers->sums();
    require_finite(label, sums);
    const auto [mean, deviation] = moments(sums, std::max<std::int64_t>(sums.finite(), 1));
    return unit_for(mean, deviation);
  }
  return 1;
}

}  // namespace

std::unique_ptr<const Encoder> encoder_of(Profile& profile, EncoderRules rules, const std::string& label, bool targets,
                                          const Progress& progress) {
  std::vector<std::string_view> names;
  for (const ProfiledColumn& c : profile.columns()) names.push_back(c.name);
  require_named_columns(rules, names);
  if (rules.drop_collinear)
    refuse("option \"collinear\" is 'drop', and a profile does not tell which columns go together");
  if (wants_pairs(rules))
    refuse("option \"interactions\" is given, and a profile does not tell how many rows the cells of two columns have");
  const bool labelled = !label.empty();
  if (labelled && std::find(names.begin(), names.end(), label) == names.end())
    throw Error(ErrorKind::invalid_option, "the profile has no column \"" + label + "\", which is named as the label",
                name_hint(label, names));
  const bool unit = targets && rules.standardize && labelled;
  if (unit && !rules.offset.empty())
    refuse("a profile does not tell the deviation of the label less its offset, which is the unit of the label");
  std::vector<Column> columns;
  ProfileFit fit(profile, rules, progress);
  for (std::size_t j = 0; j < names.size(); ++j)
    if ((!labelled || names[j] != label) && (is_feature(rules, names[j]) || is_grouping(rules, names[j])))
      columns.push_back(fit.column(j));
  if (columns.empty()) throw no_feature_left();
  require_binned_columns(columns, rules.bins);
  choose_bases(columns, rules);
  std::optional<double> label_deviation;
  if (unit) label_deviation = label_unit(profile, label);
  return std::make_unique<const Encoder>(std::move(columns), rules.missing, rules.unknown_is_error, label_deviation);
}

}  // namespace margin
