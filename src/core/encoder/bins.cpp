#include "core/encoder/bins.hpp"

#include <algorithm>
#include <optional>

namespace margin {

namespace {

/// All rows of one number.
struct Value {
  double number, weight;
  std::size_t rows;
};

/// The different numbers one after another, without a list of them: there may be as many as rows.
class Values {
 public:
  Values(const std::vector<WeightedNumber>& numbers, const Progress& progress)
      : numbers_(numbers), progress_(progress) {}
  std::optional<Value> next() {
    if (at_ == numbers_.size()) return std::nullopt;
    Value v{numbers_[at_].number, 0, 0};
    for (; at_ < numbers_.size() && numbers_[at_].number == v.number; ++at_, ++v.rows) {
      v.weight += numbers_[at_].weight;
      progress_.work(2);
    }
    return v;
  }

 private:
  const std::vector<WeightedNumber>& numbers_;
  const Progress& progress_;
  std::size_t at_ = 0;
};

/// At or above a, below b.
double between(double a, double b) {
  const double middle = a / 2 + b / 2;
  return middle >= a && middle < b ? middle : a;
}

/// The weight that a bin of what no heavy number has is to have, where there are `bins` of both.
double weight_of_a_bin(Values values, double all, double heavy, int bins) {
  double rest = all;
  int left = bins;
  while (const std::optional<Value> v = values.next())
    if (v->weight >= heavy) rest -= v->weight, --left;
  return left > 0 && rest > 0 ? rest / left : all;
}

}  // namespace

std::vector<double> bin_thresholds(const std::vector<WeightedNumber>& numbers, int bins, const Progress& progress) {
  double all = 0;
  for (const WeightedNumber& n : numbers) {
    progress.work(1);
    all += n.weight;
  }
  const double heavy = all / bins, part = weight_of_a_bin(Values(numbers, progress), all, heavy, bins);
  std::vector<double> out;
  double weight = 0;     // of the bin that is being filled
  std::size_t rows = 0;  // in it
  std::size_t rows_left = numbers.size();
  Values values(numbers, progress);
  std::optional<Value> v = values.next();
  for (std::optional<Value> next = values.next(); next.has_value(); v = next, next = values.next()) {
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

}  // namespace margin
