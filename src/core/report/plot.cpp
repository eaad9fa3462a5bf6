#include "core/report/plot.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "core/formats/xml.hpp"

namespace margin {

namespace {

constexpr double width = 720, left = 88, right = 696;                      // the plotting area's columns
constexpr double title_height = 34, legend_height = 26, axis_height = 50;  // above all, above and below each panel
constexpr double letter = 6.6;                                             // about the width of one, at 12 pixels
constexpr std::array<const char*, 6> palette{"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"};
constexpr const char* grey = "#666666";

const char* colour_of(const PlotSeries& s) {
  return s.colour < 0 ? grey : palette[static_cast<std::size_t>(s.colour) % palette.size()];
}

/// A coordinate, to a tenth of a pixel.
std::string px(double v) {
  char text[32];
  std::string out(text, std::to_chars(text, text + sizeof text, v, std::chars_format::fixed, 1).ptr);
  if (out.size() > 2 && out.compare(out.size() - 2, 2, ".0") == 0) out.resize(out.size() - 2);
  return out == "-0" ? "0" : out;
}

std::string place(double x, double y) { return px(x) + "," + px(y); }

std::string text_at(double x, double y, const std::string& anchor, const std::string& content,
                    const std::string& more = "") {
  return "<text x=\"" + px(x) + "\" y=\"" + px(y) + "\" text-anchor=\"" + anchor + "\"" + more + ">" +
         xml_text(content) + "</text>\n";
}

std::string stroke(const PlotSeries& s) {
  return std::string(" stroke=\"") + colour_of(s) + "\" stroke-width=\"2\" stroke-linejoin=\"round\"" +
         (s.dashed ? " stroke-dasharray=\"6 4\"" : "");
}

/// Blue below 0, vermilion above it, the paler the nearer: `share` of the largest, from −1 to 1.
std::string shade(double share) {
  if (!std::isfinite(share)) return "#e6e6e6";
  const std::array<double, 3> end =
      share < 0 ? std::array<double, 3>{0x00, 0x72, 0xB2} : std::array<double, 3>{0xD5, 0x5E, 0x00};
  std::string out = "#";
  for (const double part : end) {
    const auto level = static_cast<unsigned>(std::lround(255 + std::min(std::fabs(share), 1.0) * (part - 255)));
    out += "0123456789abcdef"[level / 16];
    out += "0123456789abcdef"[level % 16];
  }
  return out;
}

double largest_of(const PlotSeries& s) {
  double largest = 0;
  for (const PlotPoint& p : s.points)
    if (std::isfinite(p.low)) largest = std::max(largest, std::fabs(p.low));
  return largest;
}

struct Pixel {
  double x, y;
};

/// Of each pixel column the first point, the highest, the lowest and the last: the line looks the same.
std::vector<Pixel> thinned(const std::vector<Pixel>& points) {
  std::vector<Pixel> out;
  for (std::size_t begin = 0, end = 0; begin < points.size(); begin = end) {
    std::size_t top = begin, bottom = begin;
    for (end = begin; end < points.size() && std::floor(points[end].x) == std::floor(points[begin].x); ++end) {
      if (points[end].y < points[top].y) top = end;
      if (points[end].y > points[bottom].y) bottom = end;
    }
    std::array<std::size_t, 4> kept{begin, std::min(top, bottom), std::max(top, bottom), end - 1};
    for (std::size_t k = 0; k < kept.size(); ++k)
      if (k == 0 || kept[k] != kept[k - 1]) out.push_back(points[kept[k]]);
  }
  return out;
}

/// One panel with its scales, drawn part by part.
class PanelDrawing {
 public:
  PanelDrawing(const PlotPanel& panel, double top)
      : panel_(panel),
        top_(top + legend_height),
        bottom_(top + legend_height + panel.height),
        x_(panel.x, range(false), left, right),
        y_(panel.y, range(true), bottom_, top_) {}

  std::string draw() const {
    std::string out = legend() + vertical_axis() + horizontal_axis();
    for (const PlotSeries& s : panel_.series) out += series(s);
    return out + "<rect x=\"" + px(left) + "\" y=\"" + px(top_) + "\" width=\"" + px(right - left) + "\" height=\"" +
           px(bottom_ - top_) + "\" fill=\"none\" stroke=\"#222222\"/>\n";
  }

 private:
  PlotRange range(bool vertical) const {
    PlotRange r(vertical ? panel_.y : panel_.x);
    for (const PlotSeries& s : panel_.series) {
      if (s.kind == PlotSeries::Kind::cells) continue;  // whose axes state their ends
      const bool bars = s.kind == PlotSeries::Kind::bars, across = s.kind == PlotSeries::Kind::across,
                 band = s.kind == PlotSeries::Kind::band;
      for (const PlotPoint& p : s.points) {
        const bool ends = vertical ? band || across || s.kind == PlotSeries::Kind::markers : bars;
        if (ends) {
          r.include(p.low);
          r.include(p.high);
        }
        if (!(vertical ? band || across : bars)) r.include(vertical ? p.y : p.x);
        if (vertical ? bars : across) r.include(0);
      }
    }
    return r;
  }

  std::string legend() const {
    std::string out;
    double x = left;
    for (const PlotSeries& s : panel_.series) {
      const double y = top_ - 12;
      if (s.kind == PlotSeries::Kind::cells) {
        out += cell_legend(s, y);
        continue;
      }
      if (s.name.empty()) continue;
      if (s.kind == PlotSeries::Kind::band || s.kind == PlotSeries::Kind::bars || s.kind == PlotSeries::Kind::across)
        out += "<rect x=\"" + px(x) + "\" y=\"" + px(y - 6) + "\" width=\"24\" height=\"12\" fill=\"" + colour_of(s) +
               "\" fill-opacity=\"0.35\"" + stroke(s) + "/>\n";
      else
        out += "<path d=\"M" + place(x, y) + "H" + px(x + 24) + "\" fill=\"none\"" + stroke(s) + "/>\n";
      out += text_at(x + 30, y + 4, "start", s.name);
      x += 54 + letter * static_cast<double>(s.name.size());
    }
    return out;
  }

  /// The colours from the least to the largest number, and that of no rows.
  static std::string cell_legend(const PlotSeries& s, double y) {
    constexpr int steps = 11;
    const double largest = largest_of(s), side = 14, first = left + 50;
    std::string out = text_at(first - 6, y + 4, "end", short_number(-largest, 2));
    const auto square = [&](double x, const std::string& colour) {
      out += "<rect x=\"" + px(x) + "\" y=\"" + px(y - 6) + "\" width=\"" + px(side) + "\" height=\"12\" fill=\"" +
             colour + "\"/>\n";
    };
    for (int k = 0; k < steps; ++k) square(first + k * side, shade((k - 5) / 5.0));
    const double end = first + steps * side;
    out += text_at(end + 6, y + 4, "start", short_number(largest, 2) + (s.name.empty() ? "" : " for " + s.name));
    if (std::any_of(s.points.begin(), s.points.end(), [](const PlotPoint& p) { return !std::isfinite(p.low); })) {
      square(right - 70, shade(std::numeric_limits<double>::quiet_NaN()));
      out += text_at(right - 50, y + 4, "start", "no rows");
    }
    return out;
  }

  std::string vertical_axis() const {
    std::string out;
    for (const PlotTick& tick : y_.ticks()) {
      const std::string y = px(y_.at(tick.value));
      out += "<path d=\"M" + px(left) + "," + y + "H" + px(right) + "\" stroke=\"" +
             (tick.label.empty() ? "#eeeeee" : "#cccccc") + "\"/>\n";
      if (!tick.label.empty()) out += text_at(left - 6, y_.at(tick.value) + 4, "end", tick.label);
    }
    const double middle = (top_ + bottom_) / 2;
    return out + text_at(14, middle, "middle", panel_.y.label, " transform=\"rotate(-90 14 " + px(middle) + ")\"");
  }

  std::string horizontal_axis() const {
    std::string out;
    for (const PlotTick& tick : x_.ticks()) {
      const double x = x_.at(tick.value);
      out += "<path d=\"M" + place(x, bottom_) + "v" + (tick.label.empty() ? "3" : "6") + "\" stroke=\"#222222\"/>\n";
      if (!tick.label.empty()) out += text_at(x, bottom_ + 20, "middle", tick.label);
    }
    return out + text_at((left + right) / 2, bottom_ + 38, "middle", panel_.x.label);
  }

  std::string series(const PlotSeries& s) const {
    switch (s.kind) {
      case PlotSeries::Kind::line:
        return line(s);
      case PlotSeries::Kind::band:
        return band(s);
      case PlotSeries::Kind::bars:
        return bars(s);
      case PlotSeries::Kind::across:
        return across(s);
      case PlotSeries::Kind::markers:
        return markers(s);
      case PlotSeries::Kind::cells:
        return cells(s);
    }
    return {};
  }

  /// The pixels of (x, value(point)), thinned; what the axes cannot show is left out.
  template <class Value>
  std::vector<Pixel> pixels(const PlotSeries& s, Value value) const {
    std::vector<Pixel> out;
    for (const PlotPoint& p : s.points)
      if (x_.shows(p.x) && y_.shows(value(p))) out.push_back({x_.at(p.x), y_.at(value(p))});
    return thinned(out);
  }

  std::string line(const PlotSeries& s) const {
    std::string path;
    for (const Pixel& p : pixels(s, [](const PlotPoint& q) { return q.y; }))
      path += (path.empty() ? "M" : "L") + place(p.x, p.y);
    if (path.empty()) return {};
    return "<path d=\"" + path + "\" fill=\"none\"" + stroke(s) + "/>\n";
  }

  /// Forth along the upper edge, and back along the lower one.
  std::string band(const PlotSeries& s) const {
    PlotSeries known = s;  // only where both edges are
    known.points.clear();
    for (const PlotPoint& p : s.points)
      if (y_.shows(p.low) && y_.shows(p.high)) known.points.push_back(p);
    std::string path;
    for (const Pixel& p : pixels(known, [](const PlotPoint& q) { return q.high; }))
      path += (path.empty() ? "M" : "L") + place(p.x, p.y);
    std::vector<Pixel> back = pixels(known, [](const PlotPoint& q) { return q.low; });
    std::reverse(back.begin(), back.end());
    for (const Pixel& p : back) path += "L" + place(p.x, p.y);
    if (path.empty()) return {};
    return "<path d=\"" + path + "Z\" fill=\"" + colour_of(s) + "\" fill-opacity=\"0.15\"/>\n";
  }

  std::string bars(const PlotSeries& s) const {
    std::string path;
    const double ground = y_.shows(0) ? y_.at(0) : bottom_;
    for (const PlotPoint& p : s.points)
      if (x_.shows(p.low) && x_.shows(p.high) && y_.shows(p.y))
        path +=
            "M" + place(x_.at(p.low), ground) + "V" + px(y_.at(p.y)) + "H" + px(x_.at(p.high)) + "V" + px(ground) + "Z";
    if (path.empty()) return {};
    return "<path d=\"" + path + "\" fill=\"" + colour_of(s) + "\" fill-opacity=\"0.35\"" + stroke(s) + "/>\n";
  }

  std::string across(const PlotSeries& s) const {
    std::string path;
    const double ground = x_.shows(0) ? x_.at(0) : left;
    for (const PlotPoint& p : s.points)
      if (y_.shows(p.low) && y_.shows(p.high) && x_.shows(p.x))
        path +=
            "M" + place(ground, y_.at(p.low)) + "H" + px(x_.at(p.x)) + "V" + px(y_.at(p.high)) + "H" + px(ground) + "Z";
    if (path.empty()) return {};
    return "<path d=\"" + path + "\" fill=\"" + colour_of(s) + "\" fill-opacity=\"0.35\"" + stroke(s) + "/>\n";
  }

  std::string markers(const PlotSeries& s) const {
    std::string out;
    for (const PlotPoint& p : s.points) {
      if (!x_.shows(p.x) || !y_.shows(p.y)) continue;
      const double x = x_.at(p.x);
      if (y_.shows(p.low) && y_.shows(p.high))
        out +=
            "<path d=\"M" + place(x, y_.at(p.low)) + "V" + px(y_.at(p.high)) + "\" fill=\"none\"" + stroke(s) + "/>\n";
      out += "<circle cx=\"" + px(x) + "\" cy=\"" + px(y_.at(p.y)) + "\" r=\"4\" fill=\"" + colour_of(s) + "\"/>\n";
    }
    return out;
  }

  std::string cells(const PlotSeries& s) const {
    std::string out;
    const double largest = largest_of(s);
    for (const PlotPoint& p : s.points) {
      const double x = x_.at(p.x - 0.5), y = y_.at(p.y + 0.5);
      out += "<rect x=\"" + px(x) + "\" y=\"" + px(y) + "\" width=\"" + px(x_.at(p.x + 0.5) - x) + "\" height=\"" +
             px(y_.at(p.y - 0.5) - y) + "\" fill=\"" + shade(largest > 0 || std::isnan(p.low) ? p.low / largest : 0) +
             "\" stroke=\"#ffffff\" stroke-width=\"0.5\"/>\n";
    }
    return out;
  }

  const PlotPanel& panel_;
  double top_, bottom_;
  PlotScale x_, y_;
};

}  // namespace

std::string svg(const Plot& plot) {
  std::string body;
  double top = title_height;
  for (const PlotPanel& panel : plot.panels) {
    body += PanelDrawing(panel, top).draw();
    top += legend_height + panel.height + axis_height;
  }
  const std::string size = "width=\"" + px(width) + "\" height=\"" + px(top) + "\"";
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" " + size + " viewBox=\"0 0 " + px(width) + " " + px(top) +
         "\" role=\"img\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#222222\">\n<title>" +
         xml_text(plot.title) + "</title>\n<desc>" + xml_text(plot.description) + "</desc>\n<rect " + size +
         " fill=\"#ffffff\"/>\n" + text_at(width / 2, 22, "middle", plot.title, " font-size=\"15\"") + body +
         "</svg>\n";
}

}  // namespace margin
