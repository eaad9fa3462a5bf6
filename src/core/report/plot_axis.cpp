#include "core/report/plot_axis.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "core/math/rounding.hpp"

namespace margin {

namespace {

constexpr int wanted_ticks = 5;
constexpr double utmost = 1e290;  // what is larger, or on a log axis smaller than 1/utmost, is drawn at the end

std::string decimal(double value, int decimals) {
  char text[400];
  return {text, std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, decimals).ptr};
}

std::string general(double value, int digits) {
  char text[64];
  return {text, std::to_chars(text, text + sizeof text, value, std::chars_format::general, digits).ptr};
}

/// The nearest 1, 2 or 5 times a power of ten that is not above (not below) `value`. `value` > 0.
double round_number(double value, bool up) {
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  const std::array<double, 5> around{0.5, 1.0, 2.0, 5.0, 10.0};
  double best = (up ? 10 : 0.5) * power;
  for (const double factor : around) {
    const double candidate = factor * power;
    if (up && candidate >= value * (1 - 1e-9)) return candidate;
    if (!up && candidate <= value * (1 + 1e-9)) best = candidate;
  }
  return best;
}

/// Label of a multiple of `step`: with as many decimals as the step has, or with an exponent.
std::string tick_label(double value, double step, double largest) {
  if (value == 0) return "0";
  if (largest >= 1e6 || largest < 1e-3) {
    const int digits =
        1 + static_cast<int>(std::max(0.0, std::floor(std::log10(largest)) - std::floor(std::log10(step))));
    return short_number(value, std::min(digits, 17));
  }
  return decimal(value, static_cast<int>(std::max(0.0, -std::floor(std::log10(step) + 1e-9))));
}

}  // namespace

double round_step(double span, int parts) {
  const double rough = span / parts, power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= rough * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

std::string short_number(double value, int digits) {
  std::string text = general(value, digits);
  const std::size_t e = text.find('e');
  if (e == std::string::npos) return text;
  std::size_t zero = e + 2;  // after the sign
  while (zero + 1 < text.size() && text[zero] == '0') text.erase(zero, 1);
  if (text[e + 1] == '+') text.erase(e + 1, 1);
  return text;
}

PlotRange::PlotRange(const PlotAxis& axis) : logarithmic_(axis.logarithmic), low_(infinity), high_(-infinity) {
  if (axis.from.has_value()) include(*axis.from);
  if (axis.to.has_value()) include(*axis.to);
}

void PlotRange::include(double value) {
  if (!std::isfinite(value) || (logarithmic_ && value <= 0)) return;
  const double v = std::clamp(value, logarithmic_ ? 1 / utmost : -utmost, utmost);
  low_ = std::min(low_, v);
  high_ = std::max(high_, v);
}

PlotScale::PlotScale(const PlotAxis& axis, const PlotRange& range, double first_pixel, double last_pixel)
    : logarithmic_(axis.logarithmic),
      low_(range.empty() ? (axis.logarithmic ? 1.0 : 0.0) : range.low()),
      high_(range.empty() ? (axis.logarithmic ? 10.0 : 1.0) : range.high()),
      first_(first_pixel),
      last_(last_pixel) {
  if (logarithmic_)
    mark_logarithmic(axis.from.has_value(), axis.to.has_value());
  else
    mark_linear(axis.from.has_value(), axis.to.has_value());
  if (!axis.ticks.empty()) ticks_ = axis.ticks;
}

bool PlotScale::shows(double value) const { return std::isfinite(value) && (!logarithmic_ || value > 0); }

double PlotScale::at(double value) const {
  const double v = std::clamp(value, low_, high_);
  const double share =
      logarithmic_ ? (std::log(v) - std::log(low_)) / (std::log(high_) - std::log(low_)) : (v - low_) / (high_ - low_);
  return first_ + share * (last_ - first_);
}

void PlotScale::mark_linear(bool fixed_low, bool fixed_high) {
  const double top = std::max(std::fabs(low_), std::fabs(high_));
  if (!(high_ - low_ > std::max(1e-12 * top, 1e-290))) {  // one value: some room around it
    const double room = top > 0 ? std::max(1e-3 * top, 1e-290) : 1.0;
    low_ -= room;
    high_ += room;
  }
  const double step = round_step(high_ - low_, wanted_ticks);
  const double first = (fixed_low ? std::ceil(low_ / step - 1e-9) : std::floor(low_ / step + 1e-9));
  const double last = (fixed_high ? std::floor(high_ / step + 1e-9) : std::ceil(high_ / step - 1e-9));
  if (!fixed_low) low_ = std::min(low_, first * step);
  if (!fixed_high) high_ = std::max(high_, last * step);
  for (double k = first; k <= last && ticks_.size() < 50; k += 1)
    ticks_.push_back({k * step, tick_label(k * step, step, top)});
}

void PlotScale::mark_logarithmic(bool fixed_low, bool fixed_high) {
  if (!fixed_low) low_ = round_number(low_, false);
  if (!fixed_high) high_ = round_number(high_, true);
  if (!(high_ > low_)) high_ = 10 * low_;
  const double first = std::floor(std::log10(low_) + 1e-9), last = std::ceil(std::log10(high_) - 1e-9);
  const double every = std::max(1.0, std::ceil((last - first) / 8));  // decades that have a label
  for (double k = first; k <= last; k += 1) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double value = factor * std::pow(10.0, k);
      if (value < low_ * (1 - 1e-9) || value > high_ * (1 + 1e-9) || (factor != 1 && every > 1)) continue;
      if (every > 4 && std::fmod(k - first, every) != 0) continue;
      const bool named = factor == 1 ? std::fmod(k - first, every) == 0 : last - first <= 2;
      ticks_.push_back({value, named ? short_number(value, 6) : ""});
    }
  }
}

}  // namespace margin
