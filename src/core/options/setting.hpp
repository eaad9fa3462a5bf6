// Options that are a number of some range, one of some names, or true and false, stated once: a Setting knows the type, the values and
// the default in words, for users and for errors, and how a value is checked and stored.
#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/options/records.hpp"
#include "core/options/setters.hpp"

namespace margin {

struct Setting {
  std::string type;      ///< of the argument of margin_options
  std::string values;    ///< those that it can have; empty: the record says it
  std::string fallback;  ///< the default; empty: the record says it
  decltype(OptionRecord::set) set;
};

/// The numbers from `least` to `most`.
struct Range {
  double least = 0, most = std::numeric_limits<double>::infinity();
  const char* symbol = nullptr;  ///< what a range of numbers below 2 is written with: 0 <= t < 1
  bool without_least = false, without_most = false;
  bool or_zero = false;  ///< 0 as well
  bool whole = false;

  bool has(double x) const;
  std::string values() const;    ///< for tables: "1 to 10^15"
  std::string expected() const;  ///< for errors: "a whole number from 1 to 10^15"
};

/// A number as people write it: 10^15, 2^53, 1e-150, 0.1.
std::string written(double x);

namespace setting {

template <class T>
struct Plain {
  using type = T;
};
template <class T>
struct Plain<std::optional<T>> {
  using type = T;
};

template <class T>
Setting number_in(T Options::* member, Range range) {
  using Number = typename Plain<T>::type;
  range.whole = std::is_integral_v<Number>;
  Setting out;
  out.type = !std::is_integral_v<Number> ? "double precision" : sizeof(Number) == 8 ? "bigint" : "integer";
  out.values = range.values();
  if constexpr (std::is_same_v<T, Number>) out.fallback = written(static_cast<double>(Options{}.*member));
  out.set = [=](Options& s, std::string_view key, const Value& v) {
    const double* const x = std::get_if<double>(&v.data);
    if (x == nullptr || !std::isfinite(*x) || !range.has(*x)) refuse(key, v, range.expected());
    s.*member = static_cast<Number>(*x);
  };
  return out;
}

/// A name, what it stands for, and what there is to say of it.
template <class E>
struct Choice {
  const char* name;
  E value;
  const char* note = nullptr;
};

template <class E, class T>
Setting one_of(T Options::* member, std::vector<Choice<E>> choices) {
  Setting out;
  out.type = "text";
  for (const Choice<E>& c : choices) {
    out.values += (out.values.empty() ? "" : ", ") + std::string(c.name);
    if (c.note != nullptr) out.values += " (" + std::string(c.note) + ")";
    if (Options{}.*member == c.value) out.fallback = c.name;
  }
  out.set = [=](Options& s, std::string_view key, const Value& v) {
    const auto* const x = std::get_if<std::string>(&v.data);
    std::string all;
    for (std::size_t i = 0; i < choices.size(); ++i) {
      if (x != nullptr && *x == choices[i].name) {
        s.*member = choices[i].value;
        return;
      }
      all += (i == 0 ? "'" : (i + 1 == choices.size() ? " or '" : ", '")) + std::string(choices[i].name) + "'";
    }
    refuse(key, v, all);
  };
  return out;
}

template <class T>
Setting flag(T Options::* member) {
  Setting out;
  out.type = "boolean";
  if constexpr (std::is_same_v<T, bool>) out.fallback = Options{}.*member ? "true" : "false";
  out.set = [=](Options& s, std::string_view key, const Value& v) { s.*member = boolean(key, v); };
  return out;
}

/// A name of any kind.
Setting name(std::string Options::* member);

/// Anything else.
Setting read_by(const char* type, void (*set)(Options& options, std::string_view key, const Value& value));

}  // namespace setting
}  // namespace margin
