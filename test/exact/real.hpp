// Numbers of as many digits as it takes, with exponents far beyond those of double: MPFR as a C++ value.
#pragma once

#include <mpfr.h>

#include <string>
#include <vector>

namespace exact {

/// Sums and products of a few doubles of any size are exact at 4608 bits; roots, exponentials and logarithms are good
/// to the last bit of the precision that is set when they are computed.
class Real {
 public:
  Real() { mpfr_init_set_ui(v_, 0, MPFR_RNDN); }
  Real(double d) { mpfr_init_set_d(v_, d, MPFR_RNDN); }  // NOLINT: a double is a Real
  Real(const Real& o) {
    mpfr_init(v_);
    mpfr_set(v_, o.v_, MPFR_RNDN);
  }
  Real& operator=(const Real& o) {
    if (this != &o) mpfr_set(v_, o.v_, MPFR_RNDN);
    return *this;
  }
  ~Real() { mpfr_clear(v_); }

  static void precision(long bits) { mpfr_set_default_prec(bits); }

  Real& operator+=(const Real& o) { return mpfr_add(v_, v_, o.v_, MPFR_RNDN), *this; }
  Real& operator-=(const Real& o) { return mpfr_sub(v_, v_, o.v_, MPFR_RNDN), *this; }
  Real& operator*=(const Real& o) { return mpfr_mul(v_, v_, o.v_, MPFR_RNDN), *this; }
  Real& operator/=(const Real& o) { return mpfr_div(v_, v_, o.v_, MPFR_RNDN), *this; }
  friend Real operator+(Real a, const Real& b) { return a += b; }
  friend Real operator-(Real a, const Real& b) { return a -= b; }
  friend Real operator*(Real a, const Real& b) { return a *= b; }
  friend Real operator/(Real a, const Real& b) { return a /= b; }
  friend Real operator-(Real a) { return mpfr_neg(a.v_, a.v_, MPFR_RNDN), a; }
  friend bool operator<(const Real& a, const Real& b) { return mpfr_less_p(a.v_, b.v_) != 0; }
  friend bool operator>(const Real& a, const Real& b) { return b < a; }
  friend bool operator<=(const Real& a, const Real& b) { return mpfr_lessequal_p(a.v_, b.v_) != 0; }
  friend bool operator>=(const Real& a, const Real& b) { return b <= a; }
  friend bool operator==(const Real& a, const Real& b) { return mpfr_equal_p(a.v_, b.v_) != 0; }

  friend Real abs(Real a) { return mpfr_abs(a.v_, a.v_, MPFR_RNDN), a; }
  friend Real sqrt(Real a) { return mpfr_sqrt(a.v_, a.v_, MPFR_RNDN), a; }
  friend Real exp(Real a) { return mpfr_exp(a.v_, a.v_, MPFR_RNDN), a; }
  friend Real log(Real a) { return mpfr_log(a.v_, a.v_, MPFR_RNDN), a; }
  friend Real log1p(Real a) { return mpfr_log1p(a.v_, a.v_, MPFR_RNDN), a; }
  friend Real acos(Real a) { return mpfr_acos(a.v_, a.v_, MPFR_RNDN), a; }
  friend Real pow(Real a, const Real& p) { return mpfr_pow(a.v_, a.v_, p.v_, MPFR_RNDN), a; }
  static Real pi() {
    Real r;
    mpfr_const_pi(r.v_, MPFR_RNDN);
    return r;
  }

  /// The e with |v| in [2^(e−1), 2^e), of a number that is not 0.
  long exponent() const { return mpfr_get_exp(v_); }
  bool number() const { return mpfr_number_p(v_) != 0; }
  /// To the nearest double; ±∞ beyond the largest.
  double rounded() const { return mpfr_get_d(v_, MPFR_RNDN); }
  /// 24 digits: ±0.ddd…e±x, which the small GMP of a browser can say as well.
  std::string text() const {
    if (!number()) return std::to_string(rounded());
    char digits[32];
    mpfr_exp_t e = 0;
    mpfr_get_str(digits, &e, 10, 24, v_, MPFR_RNDN);
    const std::string sign = digits[0] == '-' ? "-" : "";
    return sign + "0." + std::string(digits + sign.size()) + "e" + std::to_string(e);
  }

 private:
  mpfr_t v_;
};

inline Real max(const Real& a, const Real& b) { return a < b ? b : a; }
inline Real min(const Real& a, const Real& b) { return b < a ? b : a; }
inline Real clamp(const Real& v, double low, double high) { return max(low, min(v, high)); }

using Vector = std::vector<Real>;

inline Real dot(const Vector& a, const Vector& b) {
  Real sum;
  for (std::size_t j = 0; j < a.size(); ++j) sum += a[j] * b[j];
  return sum;
}

}  // namespace exact
