#include "core/encoder/bins.hpp"

#include <algorithm>
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

}  // namespace

template <class Number>
std::vector<double> bin_thresholds(const std::vector<Number>& numbers, int bins, const Progress& progress) {
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
    if (!full || rows < least_rows_of_a_bin || rows_left < least_rows_of_a_bin) continue;
    if (out.size() + 1 >= static_cast<std::size_t>(bins)) break;
    out.push_back(between(v->number, next->number));
    weight = 0;
    rows = 0;
  }
  return out;
}

template <class Number>
void cut_into_bins(Column& c, const std::vector<Number>& numbers, int bins, const Progress& progress) {
  c.thresholds = bin_thresholds(numbers, bins, progress);
  if (!c.binned()) return;
  c.center.clear();
  c.scale.clear();
  // Sums in the order of the numbers, which is not that of the rows. Missing ones are where `fill` is.
  double all = 0;
  for (const Number& n : numbers) {
    progress.work(1);
    all += n.weight;
  }
  const double missing = c.spread->missing < 1 ? all * c.spread->missing / (1 - c.spread->missing) : 0;
  const auto filled = static_cast<std::size_t>(c.bin(c.fill[0]));
  std::vector<double> above(c.thresholds.size());
  double sum = 0;
  auto n = numbers.rbegin();
  for (std::size_t k = above.size(); k-- > 0;) {
    for (; n != numbers.rend() && n->number > c.thresholds[k]; ++n) {
      progress.work(1);
      sum += n->weight;
    }
    const double part = sum + (k < filled ? missing : 0);
    above[k] = part > 0 ? std::min(1.0, part / (all + missing)) : 0;
  }
  c.spread->mean = std::move(above);
  c.spread->deviation.clear();
}

template std::vector<double> bin_thresholds(const std::vector<WeightedNumber>&, int, const Progress&);
template std::vector<double> bin_thresholds(const std::vector<CountedNumber>&, int, const Progress&);
template void cut_into_bins(Column&, const std::vector<WeightedNumber>&, int, const Progress&);
template void cut_into_bins(Column&, const std::vector<CountedNumber>&, int, const Progress&);

}  // namespace margin
