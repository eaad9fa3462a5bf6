#include "core/base/read_number.hpp"

#include <locale.h>  // newlocale, strtod_l

#include <clocale>
#include <cmath>
#include <cstdlib>
#include <string>

namespace margin {

namespace {

bool digit(char c) { return c >= '0' && c <= '9'; }
char small(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

const char* after_digits(const char* at, const char* last) {
  while (at != last && digit(*at)) ++at;
  return at;
}

/// The end of `word` in small letters at `at`, or `at`.
const char* after_word(const char* at, const char* last, const char* word) {
  const char* const start = at;
  for (; *word != '\0'; ++word, ++at)
    if (at == last || small(*at) != *word) return start;
  return at;
}

/// The end of a decimal number without a sign, an infinity or a NaN; `at` where there is none.
const char* after_number(const char* at, const char* last) {
  for (const char* word : {"infinity", "inf", "nan"})
    if (const char* const end = after_word(at, last, word); end != at) return end;
  const char* const whole = after_digits(at, last);
  const char* end = whole != last && *whole == '.' ? after_digits(whole + 1, last) : whole;
  if (end - at - (end != whole ? 1 : 0) == 0) return at;  // a point alone
  if (end != last && small(*end) == 'e') {
    const char* const sign = end + 1;
    const char* const power = sign != last && (*sign == '+' || *sign == '-') ? sign + 1 : sign;
    if (power != last && digit(*power)) end = after_digits(power, last);
  }
  return end;
}

}  // namespace

std::from_chars_result read_number_by_strtod(const char* first, const char* last, double& value) {
  static const locale_t plain = newlocale(LC_ALL_MASK, "C", static_cast<locale_t>(nullptr));
  const char* const start = first != last && *first == '-' ? first + 1 : first;
  const char* const end = after_number(start, last);
  if (end == start) return {first, std::errc::invalid_argument};
  const std::string text(first, end);
  const double read = strtod_l(text.c_str(), nullptr, plain);
  // What strtod calls out of range includes numbers below the least normal one, which from_chars reads.
  const bool named = !digit(*start) && *start != '.';
  const bool zero = text.find_first_of("123456789") >= text.find_first_of("eE");
  if (!named && (std::isinf(read) || (read == 0 && !zero))) return {end, std::errc::result_out_of_range};
  value = read;
  return {end, std::errc()};
}

std::from_chars_result read_number(const char* first, const char* last, double& value) {
#if defined(_LIBCPP_VERSION) && _LIBCPP_VERSION < 200000
  return read_number_by_strtod(first, last, value);
#else
  return std::from_chars(first, last, value);
#endif
}

}  // namespace margin
