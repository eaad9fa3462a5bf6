#include "core/options/setting.hpp"

#include <cstdio>

namespace margin {

std::string written(double x) {
  if (x == 0x1p53) return "2^53";
  const double power = x >= 1e5 ? std::log10(x) : 0.5;
  char text[40];
  if (x <= 1e15 && power == std::floor(power)) {
    std::snprintf(text, sizeof text, "10^%.0f", power);
    return text;
  }
  std::snprintf(text, sizeof text, "%g", x);
  std::string out = text;
  if (const std::size_t plus = out.find("e+"); plus != std::string::npos) out.erase(plus + 1, 1);
  return out;
}

bool Range::has(double x) const {
  if (or_zero && x == 0) return true;
  return (without_least ? x > least : x >= least) && (without_most ? x < most : x <= most) &&
         (!whole || x == std::floor(x));
}

std::string Range::values() const {
  const std::string low = written(least);
  if (most == std::numeric_limits<double>::infinity()) return without_least ? "above " + low : low + " or more";
  if (symbol != nullptr)
    return low + (without_least ? " < " : " <= ") + symbol + (without_most ? " < " : " <= ") + written(most);
  return (or_zero ? "0, or " : "") + low + " to " + written(most);
}

std::string Range::expected() const {
  const std::string low = written(least), high = written(most), kind = whole ? "a whole number " : "a number ";
  if (most == std::numeric_limits<double>::infinity())
    return without_least && least == 0 ? "a positive" + kind.substr(1, kind.size() - 2)
           : without_least             ? kind + "above " + low
                                       : kind + "of " + low + " or more";
  if (without_least && without_most) return kind + "between " + low + " and " + high;
  if (without_least) return kind + "above " + low + " and at most " + high;
  if (without_most) return kind + "of at least " + low + " and below " + high;
  return (or_zero ? "0 or " : "") + kind + "from " + low + " to " + high;
}

namespace setting {

Setting name(std::string Options::* member) {
  Setting out;
  out.type = "text";
  out.fallback = Options{}.*member;
  out.set = [=](Options& s, std::string_view key, const Value& v) { s.*member = text(key, v); };
  return out;
}

Setting read_by(const char* type, void (*set)(Options& options, std::string_view key, const Value& value)) {
  return {type, "", "", set};
}

}  // namespace setting
}  // namespace margin
