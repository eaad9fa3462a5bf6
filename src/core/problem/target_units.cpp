#include "core/problem/target_units.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/math/number_order.hpp"
#include "core/math/rounding.hpp"
#include "core/problem/offset.hpp"

namespace margin {

namespace {

double offset_at(const TargetRows& rows, std::int64_t i) {
  return rows.offset < 0 ? 0.0 : offset_of(rows.data.row(i), rows.offset);
}

/// Calls f(target less offset, weight) for the rows that count.
template <class F>
void for_each_target(const TargetRows& rows, const Progress& progress, F f) {
  for (std::int64_t i = 0; i < rows.data.rows(); ++i) {
    progress.work(8);
    if (rows.hold(i)) f(rows.data.target(i) - offset_at(rows, i) + 0.0, rows.data.weight(i));  // −0 is 0
  }
}

/// The logarithm of the mean of e^offset.
double log_mean_of_offsets(const TargetRows& rows, const Progress& progress) {
  double largest = -infinity, sum = 0, weight = 0;
  for (int pass = 0; pass < 2; ++pass)
    for (std::int64_t i = 0; i < rows.data.rows(); ++i) {
      progress.work(16);
      if (!rows.hold(i)) continue;
      const double offset = offset_at(rows, i);
      if (pass == 0) {
        largest = std::max(largest, offset);
        continue;
      }
      sum += rows.data.weight(i) * std::exp(offset - largest);
      weight += rows.data.weight(i);
    }
  return weight > 0 ? largest + std::log(sum / weight) : 0;
}

double mean(const TargetRows& rows, const Progress& progress) {
  // A running mean cannot overflow; a second pass takes back what its roundings left.
  double centre = 0;
  for (int pass = 0; pass < 2; ++pass) {
    double weight = 0, moved = 0;
    for_each_target(rows, progress, [&](double y, double c) {
      weight += c;
      const double share = c / weight;
      moved += share * (y - centre) - share * moved;
    });
    if (std::isfinite(moved)) centre += moved;
  }
  return centre;
}

/// By the digits of the keys, from the top: a pass over the targets for each, and no copy of them.
double quantile(const TargetRows& rows, double share, const Progress& progress) {
  constexpr int digit = 11, last_digit = 64 - 5 * digit;
  double half = 0;
  for_each_target(rows, progress, [&](double, double c) { half += c; });
  half *= share;
  std::uint64_t prefix = 0;
  double below = 0;  // weight of the keys that begin with less than the prefix
  bool exactly = false;
  for (int known = 0; known < 64;) {
    const int bits = known < 64 - last_digit ? digit : last_digit, shift = 64 - known - bits;
    std::array<double, std::size_t{1} << digit> mass{};
    for_each_target(rows, progress, [&](double y, double c) {
      const std::uint64_t key = order_of(y);
      if (known == 0 || key >> (64 - known) == prefix)
        mass[static_cast<std::size_t>((key >> shift) & ((std::uint64_t{1} << bits) - 1))] += c;
    });
    std::size_t last = mass.size();
    while (last > 1 && !(mass[last - 1] > 0)) --last;
    std::size_t at = 0;
    // The sums of two passes may differ by their rounding: never beyond the last bucket that holds a row.
    while (at + 1 < last && below + mass[at] < half) below += mass[at++];
    exactly = below + mass[at] == half;
    prefix = prefix << bits | at;
    known += bits;
  }
  const double lower = value_of_order(prefix);
  if (!exactly) return lower;
  double upper = infinity;
  for_each_target(rows, progress, [&](double y, double) {
    if (y > lower) upper = std::min(upper, y);
  });
  return upper < infinity ? lower / 2 + upper / 2 : lower;
}

}  // namespace

double best_constant(const TargetRows& rows, const Loss& loss, const Progress& progress) {
  if (loss.log_link()) {
    TargetRows counts = rows;
    counts.offset = -1;
    const double all = std::log(std::max(mean(counts, progress), std::numeric_limits<double>::min()));
    return rows.offset < 0 ? all : all - log_mean_of_offsets(rows, progress);
  }
  if (!(loss.lipschitz() < infinity)) return mean(rows, progress);
  return quantile(rows, share_below(loss), progress);
}

double share_below(const Loss& loss) {
  // Where the loss falls with slope h and rises with slope l, h of h + l lie below the best constant.
  const double high = loss.project(infinity, 0), low = loss.project(-infinity, 0);
  return high / (high - low);
}

double lambda_in_label_units(double lambda, const Options& options, const Loss& loss) {
  const bool absolute = !loss.classification() && !loss.log_link() && loss.lipschitz() < infinity;
  if (!options.label_unit.has_value() || options.target_scale.has_value() || options.l1_ratio > 0 || !absolute)
    return lambda;
  return lambda / *options.label_unit;
}

void count_in_deviations(Options& options, double unit) {
  const auto given = [&](std::string_view name) {
    return std::find(options.given.begin(), options.given.end(), name) != options.given.end();
  };
  options.label_unit = unit;
  for (const LossParameter& p : loss_parameters())
    if (p.length && !given(p.option)) options.*p.value *= unit;
}

double target_deviation(const TargetRows& rows, const Progress& progress) {
  const double centre = mean(rows, progress);
  double largest = 0;
  for_each_target(rows, progress, [&](double y, double) { largest = std::max(largest, std::fabs(y - centre)); });
  if (!(largest > 1e-12 * std::fabs(centre)) || !std::isfinite(largest)) return 1;
  double weight = 0, square = 0;
  for_each_target(rows, progress, [&](double y, double c) {
    const double z = (y - centre) / largest;
    weight += c;
    square += c / weight * (z * z - square);
  });
  const double deviation = largest * std::sqrt(square);
  return deviation > 1e-12 * std::fabs(centre) ? deviation : 1;
}

}  // namespace margin
