#include "core/encoder/bins.hpp"

#include <algorithm>

namespace margin {

namespace {

/// All rows of one number.
struct Value {
  double number, weight;
  std::size_t rows;
};

std::vector<Value> distinct(const std::vector<WeightedNumber>& numbers) {
  std::vector<Value> out;
  for (const WeightedNumber& n : numbers) {
    if (out.empty() || out.back().number != n.number) out.push_back({n.number, 0, 0});
    out.back().weight += n.weight;
    ++out.back().rows;
  }
  return out;
}

/// At or above a, below b.
double between(double a, double b) {
  const double middle = a / 2 + b / 2;
  return middle >= a && middle < b ? middle : a;
}

}  // namespace

std::vector<double> bin_thresholds(const std::vector<WeightedNumber>& numbers, int bins) {
  const std::vector<Value> values = distinct(numbers);
  double all = 0;
  for (const Value& v : values) all += v.weight;
  const double heavy = all / bins;
  double rest = all;
  int left = bins;  // bins of what no heavy number has
  for (const Value& v : values)
    if (v.weight >= heavy) rest -= v.weight, --left;
  const double part = left > 0 && rest > 0 ? rest / left : all;

  std::vector<double> out;
  double weight = 0;     // of the bin that is being filled
  std::size_t rows = 0;  // in it
  std::size_t rows_left = numbers.size();
  for (std::size_t k = 0; k + 1 < values.size(); ++k) {
    const Value &v = values[k], &next = values[k + 1];
    weight += v.weight;
    rows += v.rows;
    rows_left -= v.rows;
    const bool full = weight >= part || v.weight >= heavy || next.weight >= heavy;
    if (!full || rows < least_rows_of_a_bin || rows_left < least_rows_of_a_bin) continue;
    if (out.size() + 1 >= static_cast<std::size_t>(bins)) break;
    out.push_back(between(v.number, next.number));
    weight = 0;
    rows = 0;
  }
  return out;
}

}  // namespace margin
