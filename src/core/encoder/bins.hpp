// Where a number is cut into bins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/progress.hpp"
#include "core/encoder/column.hpp"

namespace margin {

/// A number of a column, and the weight of its row.
struct WeightedNumber {
  double number, weight;
  bool operator<(const WeightedNumber& other) const {
    return number != other.number ? number < other.number : weight < other.weight;
  }
};

/// A number that so many rows have, and their weight.
struct CountedNumber {
  double number, weight;
  std::int64_t rows;
};

constexpr std::size_t most_bins = 1024;
constexpr std::int64_t least_rows_of_a_bin = 20;

/// Thresholds that cut `numbers`, ascending, into at most `bins` bins: a number that as many rows share as a bin would have is one
/// of its own, what is between those is cut into parts of about equal weight. Each threshold lies between two numbers that occur,
/// and no bin has less than 20 rows. Empty where nothing is to be cut. Number: WeightedNumber or CountedNumber.
template <class Number>
std::vector<double> bin_thresholds(const std::vector<Number>& numbers, int bins, const Progress& progress = {});
/// The same of numbers that weigh 1 each.
std::vector<double> bin_thresholds(const std::vector<double>& numbers, int bins);

/// Cuts a column whose `fill` and share of missing values are known by its `numbers`, ascending, where there is something to be
/// cut: its thresholds, and the shares of the rows above them.
template <class Number>
void cut_into_bins(Column& column, const std::vector<Number>& numbers, int bins, const Progress& progress);
void cut_into_bins(Column& column, const std::vector<double>& numbers, int bins);

/// Of `thresholds` those that cut the rows into at most `bins` bins of about equal weight, or of one former bin; `above`: the share
/// of the rows above each.
std::vector<double> coarser_thresholds(const std::vector<double>& thresholds, const std::vector<double>& above,
                                       int bins);

}  // namespace margin
