// A chart as data, and the SVG that shows it.
//
// The drawing is fixed on purpose: panels below one another, each with two labelled axes, a legend, and a handful of
// kinds of series. Colours are those of Okabe and Ito (2008), which people of every colour vision tell apart; series
// also differ in their dashes, so that a print in grey is readable. No scripts, no style sheets, no ids (several
// charts can be put into one page), ASCII but for the texts that the caller gives.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/report/plot_axis.hpp"

namespace margin {

/// One datum of a series. What `low` and `high` are is the series' matter.
struct PlotPoint {
  double x = 0, y = 0, low = 0, high = 0;
};

struct PlotSeries {
  enum class Kind {
    line,     ///< through (x, y)
    band,     ///< the area between low and high, over x
    bars,     ///< from 0 to y, over [low, high] of the horizontal axis
    across,   ///< from 0 to x, over [low, high] of the vertical axis
    markers,  ///< at (x, y), with a whisker from low to high
    cells,    ///< squares of side 1 around (x, y), in the colour of `low`: of a number below 0, above 0, or none (NaN)
  };
  std::string name;  ///< in the legend; empty: not listed
  Kind kind = Kind::line;
  int colour = 0;  ///< 0 … 5 of the palette; −1: grey
  bool dashed = false;
  std::vector<PlotPoint>
      points;  ///< in the order of x; what an axis cannot show (not finite, ≤ 0 on a log axis) is left out
};

struct PlotPanel {
  PlotAxis x, y;
  std::vector<PlotSeries> series;
  double height = 220;  ///< of the plotting area, in pixels
};

struct Plot {
  std::string title;        ///< shown, and the chart's accessible name
  std::string description;  ///< a sentence for those who cannot see it
  std::vector<PlotPanel> panels;
};

/// The chart as one SVG 1.1 element, 720 pixels wide. At most four points per series and pixel column are drawn, so
/// the length is bounded by that of the legend and the axes plus some 100 kB per series.
std::string svg(const Plot& plot);

}  // namespace margin
