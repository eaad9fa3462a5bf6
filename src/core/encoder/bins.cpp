#include "core/encoder/bins.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace margin {

namespace {

/// All rows of one number.
struct SameNumber {
  double number, weight;
  std::int64_t rows;
};

std::int64_t rows_of(const WeightedNumber&) { return 1; }
std::int64_t rows_of(const CountedNumber& n) { return n.rows; }

/// The different numbers one after another, without a list of them: there may be as many as rows.
template <class Number>
class Values {
 public:
  Values(const std::vector<Number>& numbers, const Progress& progress) : numbers_(numbers), progress_(progress) {}
  std::optional<SameNumber> next() {
    if (at_ == numbers_.size()) return std::nullopt;
    SameNumber v{numbers_[at_].number, 0, 0};
    for (; at_ < numbers_.size() && numbers_[at_].number == v.number; ++at_) {
      v.weight += numbers_[at_].weight;
      v.rows += rows_of(numbers_[at_]);
      progress_.work(2);
    }
    return v;
  }

 private:
  const std::vector<Number>& numbers_;
  const Progress& progress_;
  std::size_t at_ = 0;
};

/// At or above a, below b.
double between(double a, double b) {
  const double middle = a / 2 + b / 2;
  return middle >= a && middle < b ? middle : a;
}

/// The weight that a bin of what no heavy number has is to have, where there are `bins` of both.
template <class Number>
double weight_of_a_bin(Values<Number> values, double all, double heavy, int bins) {
  double rest = all;
  int left = bins;
  while (const std::optional<SameNumber> v = values.next())
    if (v->weight >= heavy) rest -= v->weight, --left;
  return left > 0 && rest > 0 ? rest / left : all;
}

/// The numbers from one place to before another are the same, and those of no other place.
struct Run {
  std::size_t begin, end;
};

Run run_at(const std::vector<double>& numbers, std::size_t at) {
  const auto [begin, end] = std::equal_range(numbers.begin(), numbers.end(), numbers[at]);
  return {static_cast<std::size_t>(begin - numbers.begin()), static_cast<std::size_t>(end - numbers.begin())};
}

}  // namespace

template <class Number>
static std::vector<double> cut(const std::vector<Number>& numbers, int bins, std::int64_t least_rows,
                               const Progress& progress) {
  double all = 0;
  std::int64_t rows_left = 0;
  for (const Number& n : numbers) {
    progress.work(1);
    all += n.weight;
    rows_left += rows_of(n);
  }
  const double heavy = all / bins, part = weight_of_a_bin(Values<Number>(numbers, progress), all, heavy, bins);
  std::vector<double> out;
  double weight = 0;      // of the bin that is being filled
  std::int64_t rows = 0;  // in it
  Values<Number> values(numbers, progress);
  std::optional<SameNumber> v = values.next();
  for (std::optional<SameNumber> next = values.next(); next.has_value(); v = next, next = values.next()) {
    weight += v->weight;
    rows += v->rows;
    rows_left -= v->rows;
    const bool full = weight >= part || v->weight >= heavy || next->weight >= heavy;
    if (!full || rows < least_rows || rows_left < least_rows) continue;
    if (out.size() + 1 >= static_cast<std::size_t>(bins)) break;
    out.push_back(between(v->number, next->number));
    weight = 0;
    rows = 0;
  }
  return out;
}

template <class Number>
std::vector<double> bin_thresholds(const std::vector<Number>& numbers, int bins, const Progress& progress) {
  return cut(numbers, bins, least_rows_of_a_bin, progress);
}

// Every so many numbers one is looked at, which finds all that are heavy; then only those where a bin may end.
std::vector<double> bin_thresholds(const std::vector<double>& numbers, int bins) {
  const std::size_t n = numbers.size();
  std::vector<double> out;
  if (n == 0) return out;
  const double heavy = static_cast<double>(n) / bins;
  double rest = static_cast<double>(n);
  int left = bins;
  std::vector<std::size_t> edges;  // of heavy numbers, ascending
  const auto stride = static_cast<std::size_t>(std::max(1.0, std::ceil(heavy)));
  for (std::size_t at = 0; at < n; at += stride) {
    const Run run = run_at(numbers, at);
    const std::size_t rows = run.end - run.begin;
    if (static_cast<double>(rows) < heavy || (!edges.empty() && edges.back() == run.end)) continue;
    rest -= static_cast<double>(rows);
    --left;
    edges.push_back(run.begin);
    edges.push_back(run.end);
  }
  const double part = left > 0 && rest > 0 ? rest / left : static_cast<double>(n);
  const auto full = static_cast<std::size_t>(std::max<double>(least_rows_of_a_bin, std::ceil(part)));
  for (std::size_t begin = 0; begin + full <= n || !edges.empty();) {
    if (out.size() + 1 >= static_cast<std::size_t>(bins)) break;
    std::size_t end = begin + full <= n ? run_at(numbers, begin + full - 1).end : n;
    const auto edge = std::find_if(edges.begin(), edges.end(),
                                   [&](std::size_t e) { return e >= begin + least_rows_of_a_bin && e < end; });
    if (edge != edges.end()) end = *edge;
    if (n - end < least_rows_of_a_bin) break;
    out.push_back(between(numbers[end - 1], numbers[end]));
    begin = end;
  }
  return out;
}

/// Sets the cuts, and the shares of the rows above them. `above(t)`, with t descending: the weight of the numbers above t, of
/// `all`. Missing ones are where `fill` is.
template <class F>
static void set_cuts(Column& c, std::vector<double> thresholds, double all, F above) {
  c.thresholds = std::move(thresholds);
  if (!c.binned()) return;
  c.center.clear();
  c.scale.clear();
  const double missing = c.spread->missing < 1 ? all * c.spread->missing / (1 - c.spread->missing) : 0;
  const auto filled = static_cast<std::size_t>(c.bin(c.fill[0]));
  std::vector<double> shares(c.thresholds.size());
  for (std::size_t k = shares.size(); k-- > 0;) {
    const double part = above(c.thresholds[k]) + (k < filled ? missing : 0);
    shares[k] = part > 0 ? std::min(1.0, part / (all + missing)) : 0;
  }
  c.spread->mean = std::move(shares);
  c.spread->deviation.clear();
}

template <class Number>
void cut_into_bins(Column& c, const std::vector<Number>& numbers, int bins, const Progress& progress) {
  // Sums in the order of the numbers, which is not that of the rows.
  double all = 0, sum = 0;
  for (const Number& n : numbers) {
    progress.work(1);
    all += n.weight;
  }
  auto n = numbers.rbegin();
  set_cuts(c, bin_thresholds(numbers, bins, progress), all, [&](double t) {
    for (; n != numbers.rend() && n->number > t; ++n) {
      progress.work(1);
      sum += n->weight;
    }
    return sum;
  });
}

void cut_into_bins(Column& c, const std::vector<double>& numbers, int bins) {
  set_cuts(c, bin_thresholds(numbers, bins), static_cast<double>(numbers.size()), [&](double t) {
    return static_cast<double>(numbers.end() - std::upper_bound(numbers.begin(), numbers.end(), t));
  });
}

template std::vector<double> bin_thresholds(const std::vector<WeightedNumber>&, int, const Progress&);
template std::vector<double> bin_thresholds(const std::vector<CountedNumber>&, int, const Progress&);
template void cut_into_bins(Column&, const std::vector<WeightedNumber>&, int, const Progress&);
template void cut_into_bins(Column&, const std::vector<CountedNumber>&, int, const Progress&);

std::vector<double> coarser_thresholds(const std::vector<double>& thresholds, const std::vector<double>& above,
                                       int bins) {
  std::vector<WeightedNumber> fine;  // the bins, by their numbers
  for (std::size_t k = 0; k <= thresholds.size(); ++k)
    fine.push_back({static_cast<double>(k), (k > 0 ? above[k - 1] : 1) - (k < thresholds.size() ? above[k] : 0)});
  std::vector<double> out;
  for (const double between : cut(fine, bins, 1, {})) out.push_back(thresholds[static_cast<std::size_t>(between)]);
  return out;
}

}  // namespace margin
