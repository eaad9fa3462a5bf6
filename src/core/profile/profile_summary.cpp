#include "core/profile/profile_summary.hpp"

#include <algorithm>
#include <type_traits>

namespace margin {

namespace {

void set_sums(ColumnSummary& out, const Sums& sums) {
  out.nan = sums.nan;
  out.infinite = sums.infinite;
  if (sums.finite() == 0) return;
  out.mean = sums.mean();
  if (sums.finite() > 1) out.stddev = sums.stddev();
  out.least = sums.least;
  out.largest = sums.largest;
}

template <class Item>
void set_top(ColumnSummary& out, std::vector<Item> items, std::int64_t missed, bool exact, std::size_t top) {
  if (exact) out.distinct = static_cast<std::int64_t>(items.size());
  out.missed = missed;
  std::stable_sort(items.begin(), items.end(), [](const Item& a, const Item& b) { return a.second > b.second; });
  for (const Item& item : items) {
    if (out.top.size() == top || item.second < missed) break;
    out.top.push_back({item.first, item.second});
  }
}

void set_texts(ColumnSummary& out, Profile::Texts& texts, std::size_t top) {
  std::vector<FrequentTexts::Item> items = texts.values.items();
  set_top(out, std::move(items), texts.values.missed(), texts.values.exact(), top);
}

void set_numbers(ColumnSummary& out, NumberStatistics& numbers, const std::vector<double>& shares, std::size_t top,
                 const Progress& progress) {
  const Sums& sums = numbers.sums();
  set_sums(out, sums);
  if (sums.finite() == 0) return;
  const std::vector<NumberStatistics::Item> items = numbers.items();
  progress.work(item_work * static_cast<double>(items.size()));
  for (const double share : shares) {
    progress.work(static_cast<double>(items.size()));
    out.quantiles.push_back(share <= 0   ? sums.least
                            : share >= 1 ? sums.largest
                                         : quantile(items, sums.finite(), share));
  }
  out.rank_error = static_cast<double>(numbers.rank_error()) / static_cast<double>(sums.finite());
  const FrequentNumbers& frequent = numbers.frequent();
  set_top(out, frequent.items(), frequent.missed(), frequent.exact(), top);
}

}  // namespace

std::vector<ColumnSummary> summaries(Profile& profile, const std::vector<double>& shares, std::size_t top,
                                     const Progress& progress) {
  std::vector<ColumnSummary> all;
  for (std::size_t j = 0; j < profile.columns().size(); ++j) {
    const ProfiledColumn& column = profile.columns()[j];
    Profile::Statistics& s = profile.statistics(j);
    ColumnSummary out;
    out.name = column.name;
    out.type = column.type;
    out.kind = column.kind;
    out.count = values_of(s);
    out.nulls = profile.rows() - out.count;
    if (auto* numbers = std::get_if<NumberStatistics>(&s)) {
      set_numbers(out, *numbers, shares, top, progress);
    } else if (auto* texts = std::get_if<Profile::Texts>(&s)) {
      set_texts(out, *texts, top);
    } else if (auto* sets = std::get_if<Profile::Sets>(&s)) {
      set_texts(out, sets->elements, top);
    } else if (auto* blocks = std::get_if<Profile::Blocks>(&s); blocks != nullptr && blocks->count > 0) {
      for (std::size_t k = 0; k < blocks->elements.size(); ++k) {
        progress.work(item_work);
        ColumnSummary element = out;
        element.name += '[' + std::to_string(k + 1) + ']';
        set_sums(element, blocks->elements[k]);
        all.push_back(std::move(element));
      }
      continue;
    }
    all.push_back(std::move(out));
  }
  return all;
}

}  // namespace margin
