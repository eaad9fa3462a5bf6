#include "core/formats/sql_terms.hpp"

#include "core/base/write_number.hpp"

namespace margin {

std::string sql_identifier(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) {
    if (c == '"') out += c;
    out += c;
  }
  return out += '"';
}

// With a backslash it is E'...', which means the same whatever standard_conforming_strings says.
std::string sql_text(std::string_view text) {
  std::string out = text.find('\\') == std::string_view::npos ? "'" : "E'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += c;
    out += c;
  }
  return out += '\'';
}

std::string sql_number(double value) { return "'" + shortest(value) + "'::float8"; }

SqlSum operator+(SqlSum left, const SqlSum& right) {
  if (right.text.empty()) return left;
  if (left.text.empty()) return right;
  left.text += right.compound ? " + (" + right.text + ")" : " + " + right.text;
  left.compound = true;
  return left;
}

SqlSum sql_sum(std::size_t n, const std::function<std::string(std::size_t)>& term, bool from_left) {
  const std::size_t blocks = from_left ? 0 : n / 8, wide = blocks / 4 * 4;
  SqlSum lanes[8];
  for (std::size_t lane = 0; lane < 8; ++lane) {
    SqlSum sums[4];
    for (std::size_t b = 0; b < blocks; ++b) {
      SqlSum& sum = sums[b < wide ? b % 4 : 0];
      sum = std::move(sum) + SqlSum{term(8 * b + lane)};
    }
    lanes[lane] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }
  SqlSum rest;
  for (std::size_t j = 8 * blocks; j < n; ++j) rest = std::move(rest) + SqlSum{term(j)};
  const SqlSum low = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
  const SqlSum high = (lanes[4] + lanes[5]) + (lanes[6] + lanes[7]);
  return (low + high) + rest;
}

}  // namespace margin
