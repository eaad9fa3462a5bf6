#include "core/profile/drift.hpp"

#include <algorithm>
#include <cmath>

namespace margin {

namespace {

constexpr int parts = 10;

/// Both figures of counts by part.
void set_distances(ColumnDrift& out, const std::vector<double>& before, const std::vector<double>& after) {
  double all_before = 0, all_after = 0;
  for (std::size_t k = 0; k < before.size(); ++k) {
    all_before += before[k];
    all_after += after[k];
  }
  if (!(all_before > 0) || !(all_after > 0)) return;
  const double n = static_cast<double>(before.size());
  double psi = 0, divergence = 0;
  const auto bits = [](double p, double middle) { return p > 0 ? p * std::log2(p / middle) : 0.0; };
  for (std::size_t k = 0; k < before.size(); ++k) {
    const double b = (before[k] + 0.5) / (all_before + 0.5 * n), a = (after[k] + 0.5) / (all_after + 0.5 * n);
    psi += (a - b) * std::log(a / b);
    const double p = before[k] / all_before, q = after[k] / all_after, middle = 0.5 * (p + q);
    divergence += 0.5 * (bits(p, middle) + bits(q, middle));
  }
  out.psi = psi;
  out.jensen_shannon = std::sqrt(std::clamp(divergence, 0.0, 1.0));
}

using Items = std::vector<NumberStatistics::Item>;

/// Counts of the values up to each edge, and above the last.
std::vector<double> counts_between(const Items& items, const std::vector<double>& edges) {
  std::vector<double> out(edges.size() + 1, 0.0);
  for (const auto& [value, count] : items)
    out[static_cast<std::size_t>(std::lower_bound(edges.begin(), edges.end(), value) - edges.begin())] +=
        static_cast<double>(count);
  return out;
}

double total(const Items& items) {
  double sum = 0;
  for (const auto& item : items) sum += static_cast<double>(item.second);
  return sum;
}

double largest_distance(const Items& before, const Items& after) {
  const double n = total(before), m = total(after);
  double below_before = 0, below_after = 0, most = 0;
  auto b = before.begin(), a = after.begin();
  while (b != before.end() || a != after.end()) {
    const double at = a == after.end() || (b != before.end() && b->first <= a->first) ? b->first : a->first;
    for (; b != before.end() && b->first == at; ++b) below_before += static_cast<double>(b->second);
    for (; a != after.end() && a->first == at; ++a) below_after += static_cast<double>(a->second);
    most = std::max(most, std::fabs(below_before / n - below_after / m));
  }
  return most;
}

/// The share of the values of `after` that are not among those of `before`, both in ascending order.
template <class Item>
double share_unseen(const std::vector<Item>& before, const std::vector<Item>& after) {
  double all = 0, unseen = 0;
  for (const Item& item : after) {
    const auto found = std::lower_bound(before.begin(), before.end(), item,
                                        [](const Item& x, const Item& y) { return x.first < y.first; });
    all += static_cast<double>(item.second);
    if (found == before.end() || found->first != item.first) unseen += static_cast<double>(item.second);
  }
  return unseen / all;
}

void compare(ColumnDrift& out, NumberStatistics& before, NumberStatistics& after) {
  const Sums &b = before.sums(), &a = after.sums();
  if (b.finite() == 0 || a.finite() == 0) return;
  const Items items = before.items(), now = after.items();
  std::vector<double> edges;
  for (int k = 1; k < parts; ++k) edges.push_back(quantile(items, b.finite(), static_cast<double>(k) / parts));
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  if (!edges.empty() && edges.back() >= b.largest) edges.pop_back();  // no part above the largest
  set_distances(out, counts_between(items, edges), counts_between(now, edges));
  out.kolmogorov_smirnov = largest_distance(items, now);
  out.rank_error = static_cast<double>(before.rank_error()) / static_cast<double>(b.finite()) +
                   static_cast<double>(after.rank_error()) / static_cast<double>(a.finite());
  const double deviation = b.finite() > 1 ? b.stddev() : 0;
  if (deviation > 0) out.mean_shift = (a.mean() - b.mean()) / deviation;
  double outside = 0;
  for (const auto& [value, count] : now)
    if (value < b.least || value > b.largest) outside += static_cast<double>(count);
  out.outside = outside / total(now);
  if (before.frequent().exact() && after.frequent().exact())
    out.unseen = share_unseen(before.frequent().items(), after.frequent().items());
}

void compare(ColumnDrift& out, Profile::Texts& before, Profile::Texts& after) {
  if (before.count == 0 || after.count == 0 || !before.values.exact() || !after.values.exact()) return;
  const std::vector<FrequentTexts::Item> b = before.values.items(), a = after.values.items();
  std::vector<double> counts_before, counts_after;
  auto x = b.begin(), y = a.begin();
  while (x != b.end() || y != a.end()) {
    const bool old = y == a.end() || (x != b.end() && x->first <= y->first);
    const bool both = x != b.end() && y != a.end() && x->first == y->first;
    counts_before.push_back(old || both ? static_cast<double>(x->second) : 0);
    counts_after.push_back(!old || both ? static_cast<double>(y->second) : 0);
    if (old || both) ++x;
    if (!old || both) ++y;
  }
  set_distances(out, counts_before, counts_after);
  out.unseen = share_unseen(b, a);
}

/// Those of a column, or the elements of its sets.
Profile::Texts* texts_of(Profile::Statistics& s) {
  auto* const sets = std::get_if<Profile::Sets>(&s);
  return sets != nullptr ? &sets->elements : std::get_if<Profile::Texts>(&s);
}

}  // namespace

std::vector<ColumnDrift> drift(Profile& before, Profile& after, const Progress& progress) {
  std::vector<ColumnDrift> all;
  std::size_t i = 0, j = 0;
  while (i < before.columns().size() || j < after.columns().size()) {
    const bool old = j == after.columns().size() ||
                     (i < before.columns().size() && before.columns()[i].name <= after.columns()[j].name);
    const bool both = i < before.columns().size() && j < after.columns().size() &&
                      before.columns()[i].name == after.columns()[j].name;
    ColumnDrift& out = all.emplace_back();
    out.name = old ? before.columns()[i].name : after.columns()[j].name;
    const auto nulls = [](Profile& p, std::size_t at) {
      const auto rows = static_cast<double>(p.rows());
      return p.rows() > 0 ? std::optional(static_cast<double>(p.rows() - values_of(p.statistics(at))) / rows)
                          : std::nullopt;
    };
    if (old) out.nulls_before = nulls(before, i);
    if (!old || both) out.nulls_after = nulls(after, j);
    if (both && before.columns()[i].kind == after.columns()[j].kind) {
      auto* const numbers = std::get_if<NumberStatistics>(&before.statistics(i));
      auto* const now = std::get_if<NumberStatistics>(&after.statistics(j));
      if (numbers != nullptr && now != nullptr) compare(out, *numbers, *now);
      for (auto* const each : {numbers, now})
        if (each != nullptr) progress.work(item_work * static_cast<double>(each->items().size()));
      Profile::Texts* const texts = texts_of(before.statistics(i));
      Profile::Texts* const new_texts = texts_of(after.statistics(j));
      if (texts != nullptr && new_texts != nullptr) compare(out, *texts, *new_texts);
    }
    if (old) ++i;
    if (!old || both) ++j;
  }
  return all;
}

}  // namespace margin
