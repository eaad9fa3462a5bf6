// Parts of SQL expressions: quoted names and texts, numbers, sums in a given order.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace margin {

std::string sql_identifier(std::string_view name);
std::string sql_text(std::string_view text);
/// The shortest decimal that reads back as the same double, as a constant of double precision.
std::string sql_number(double value);

/// A sum, which is put into parentheses where it is added to another on its right; empty: nothing, which adds 0.
struct SqlSum {
  std::string text;
  bool compound = false;
};
SqlSum operator+(SqlSum left, const SqlSum& right);

/// Σ term(j) over j < n in the order of PlainDots, or from the left.
SqlSum sql_sum(std::size_t n, const std::function<std::string(std::size_t)>& term, bool from_left = false);

}  // namespace margin
