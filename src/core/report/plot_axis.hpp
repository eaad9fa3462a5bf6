// The axes of a chart: from values to pixels, and where the ticks are.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace margin {

struct PlotTick {
  double value;
  std::string label;  ///< empty: a tick without one
};

struct PlotAxis {
  std::string label;
  bool logarithmic = false;
  std::optional<double> from, to;    ///< ends that are shown whatever the data
  std::vector<PlotTick> ticks = {};  ///< empty: at round numbers
};

/// The least and the largest of some numbers; those that an axis cannot show do not count. Held within 1e±290, so that
/// scales need not think of overflow.
class PlotRange {
 public:
  explicit PlotRange(const PlotAxis& axis);
  void include(double value);
  bool empty() const { return !(low_ <= high_); }
  double low() const { return low_; }
  double high() const { return high_; }

 private:
  bool logarithmic_;
  double low_, high_;
};

/// One axis with its data's range, drawn between two pixel positions.
class PlotScale {
 public:
  /// The range is widened to round numbers where the axis states no ends; an empty one becomes [0, 1], or [1, 10].
  PlotScale(const PlotAxis& axis, const PlotRange& range, double first_pixel, double last_pixel);

  bool shows(double value) const;
  /// Pixel position of a value that the scale shows; values beyond the ends are moved to them.
  double at(double value) const;
  const std::vector<PlotTick>& ticks() const { return ticks_; }
  double low() const { return low_; }
  double high() const { return high_; }

 private:
  void mark_linear(bool fixed_low, bool fixed_high);
  void mark_logarithmic(bool fixed_low, bool fixed_high);

  bool logarithmic_;
  double low_, high_, first_, last_;
  std::vector<PlotTick> ticks_;
};

/// 1, 2 or 5 times a power of ten, about `span`/`parts` and not below it. `span` > 0.
double round_step(double span, int parts);

/// A number in so few characters as `digits` significant digits need: 0.25, 1500, 1e-06 as 1e-6.
std::string short_number(double value, int digits);

}  // namespace margin
