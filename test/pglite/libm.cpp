// Reads the lines of libm.mjs; prints TAP: the largest error of each function, in units of the last place of the exact value.
#include <mpfr.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>

int main() {
  // The least that the certificates charge for a value of a function, as joint.cpp does for e^(-t), is four of these units: half of it.
  // erfc is in p-values only, which no certificate bounds.
  const auto allowed = [](const std::string& f) { return f == "sqrt" || f == "fma" ? 0.5 : f == "erfc" ? 4 : 2; };
  mpfr_t x, y, z, exact;
  mpfr_inits2(300, x, y, z, exact, nullptr);
  std::map<std::string, double> worst;
  char name[16];
  std::uint64_t bits[4];
  while (scanf("%15s %lx %lx %lx %lx", name, &bits[0], &bits[1], &bits[2], &bits[3]) == 5) {
    double v[4];
    std::memcpy(v, bits, sizeof v);
    mpfr_set_d(x, v[0], MPFR_RNDN);
    mpfr_set_d(y, v[1], MPFR_RNDN);
    mpfr_set_d(z, v[2], MPFR_RNDN);
    const std::string f = name;
    if (f == "exp")
      mpfr_exp(exact, x, MPFR_RNDN);
    else if (f == "log")
      mpfr_log(exact, x, MPFR_RNDN);
    else if (f == "exp2")
      mpfr_exp2(exact, x, MPFR_RNDN);
    else if (f == "log2")
      mpfr_log2(exact, x, MPFR_RNDN);
    else if (f == "tanh")
      mpfr_tanh(exact, x, MPFR_RNDN);
    else if (f == "sqrt")
      mpfr_sqrt(exact, x, MPFR_RNDN);
    else if (f == "hypot")
      mpfr_hypot(exact, x, y, MPFR_RNDN);
    else if (f == "pow")
      mpfr_pow(exact, x, y, MPFR_RNDN);
    else if (f == "log1p")
      mpfr_log1p(exact, x, MPFR_RNDN);
    else if (f == "expm1")
      mpfr_expm1(exact, x, MPFR_RNDN);
    else if (f == "erfc")
      mpfr_erfc(exact, x, MPFR_RNDN);
    else if (f == "fma")
      mpfr_fma(exact, x, y, z, MPFR_RNDN);
    else
      return printf("not ok 1 - %s is unknown\n", name), 1;
    const double nearest = mpfr_get_d(exact, MPFR_RNDN);
    const double unit = std::nextafter(std::fabs(nearest), INFINITY) - std::fabs(nearest);
    mpfr_sub_d(exact, exact, v[3], MPFR_RNDN);
    const double error = std::fabs(mpfr_get_d(exact, MPFR_RNDN)) / unit;
    worst[f] = std::fmax(worst[f], std::isnan(v[3]) ? INFINITY : error);
  }
  int number = 0, failed = 0;
  for (const auto& [f, error] : worst) {
    const bool good = error <= allowed(f);
    failed += good ? 0 : 1;
    printf("%s %d - %s errs by at most %.3f units of the last place\n", good ? "ok" : "not ok", ++number, f.c_str(),
           error);
  }
  return failed == 0 && number == 12 ? 0 : 1;
}
