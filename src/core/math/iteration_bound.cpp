#include "core/math/iteration_bound.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/error.hpp"

namespace margin {

namespace {

double required(const std::optional<double>& value, const char* name, std::string_view theorem, double largest) {
  if (!value.has_value())
    throw Error(ErrorKind::invalid_option, "theorem \"" + std::string(theorem) + "\" needs " + name,
                "Give it as a named argument.");
  if (!(*value > 0 && *value <= largest))
    throw Error(ErrorKind::invalid_option, std::string(name) + " of theorem \"" + std::string(theorem) +
                                               "\" must be a number above 0" +
                                               (largest < 1e300 ? " and at most 1" : ""));
  return *value;
}

double lipschitz_bound(double start, double constant, std::string_view theorem, const BoundSettings& s) {
  const double l = s.lipschitz ? required(s.lipschitz, "lipschitz", theorem, 1e300) : 1.0;
  return start + s.rows + constant * l * l / (required(s.lambda, "lambda", theorem, 1e300) * s.gap);
}

double smooth_bound(std::string_view theorem, const BoundSettings& s) {
  const double rate =
      s.rows + 1 / (required(s.lambda, "lambda", theorem, 1e300) * required(s.smoothing, "smoothing", theorem, 1e300));
  return std::max(0.0, rate * std::log(rate / s.gap));
}

/// The missing margin falls with t ≥ 1: a doubling search, then halves.
double momentum_bound(std::string_view theorem, const BoundSettings& s) {
  const double m = required(s.margin, "margin", theorem, 1);
  const auto missing = [&](double t) {
    return 4 * (1 + std::log(s.rows)) * (1 + 2 * std::log(t + 1)) / (m * (t + 1) * (t + 1));
  };
  double enough = 1, short_of = 0;
  while (enough < 1e15 && missing(enough) > s.gap) {
    short_of = enough;
    enough *= 2;
  }
  while (enough - short_of > 1) {
    const double middle = std::floor(0.5 * (enough + short_of));
    (missing(middle) > s.gap ? short_of : enough) = middle;
  }
  return enough;
}

double sampling_bound(std::string_view theorem, const BoundSettings& s) {
  const double m = required(s.margin, "margin", theorem, 1), delta = required(s.failure, "failure", theorem, 1);
  return std::max(std::ceil((32 * std::log(s.rows) + 64 * std::log(2 / delta)) / (m * m * s.gap * s.gap)),
                  std::ceil(32 / (delta * s.gap * s.gap)));
}

}  // namespace

double iterations_promised(std::string_view theorem, const BoundSettings& s) {
  if (!(s.rows >= 1) || !std::isfinite(s.rows))
    throw Error(ErrorKind::invalid_option, "\"rows\" must be a number of 1 or more");
  if (!(s.gap > 0) || !std::isfinite(s.gap)) throw Error(ErrorKind::invalid_option, "gap must be a positive number");
  const double n = s.rows;
  const bool hinge = theorem == "sdca 1 hinge" || theorem == "sdca 4 hinge";
  const double constant = hinge ? 5 : 20;
  if (theorem == "sdca 1" || theorem == "sdca 1 hinge") {
    const double l = s.lipschitz.value_or(1), first = n * std::log(0.5 * s.lambda.value_or(0) * n / (l * l));
    return lipschitz_bound(std::max(0.0, std::ceil(first)), constant, theorem, s);
  }
  if (theorem == "sdca 2") return smooth_bound(theorem, s);
  if (theorem == "sdca 4" || theorem == "sdca 4 hinge")
    return lipschitz_bound(std::ceil(n * std::log(1 + std::log(n))), constant, theorem, s);
  if (theorem == "momentum 3.1") return momentum_bound(theorem, s);
  if (theorem == "sampling 4.1") return sampling_bound(theorem, s);
  throw Error(ErrorKind::invalid_option, "unknown theorem \"" + std::string(theorem) + "\"",
              "It is one of: sdca 1, sdca 1 hinge, sdca 2, sdca 4, sdca 4 hinge, momentum 3.1, sampling 4.1.");
}

}  // namespace margin
