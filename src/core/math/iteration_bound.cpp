#include "core/math/iteration_bound.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/polled.hpp"

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

/// Neighbours: `low` is not enough, `high` is, and so is what is larger.
struct Bracket {
  double low, high;

  template <class F>
  Bracket narrowed(const F& enough) const {
    Bracket b = *this;
    for (int step = 0; step < 80 && b.high - b.low > 1e-12 * b.high; ++step) {
      const double middle = b.low > 0 ? std::sqrt(b.low) * std::sqrt(b.high) : 1e-3 * b.high;
      (enough(middle) ? b.high : b.low) = middle;
    }
    return b;
  }
};

/// Theorems 5 and 6: how near the rows are to the kinks of their losses.
class AlmostSmooth {
 public:
  AlmostSmooth(std::string_view theorem, const BoundSettings& s, const Progress& progress)
      : n_(s.rows),
        lambda_(required(s.lambda, "lambda", theorem, 1e300)),
        steepest_(s.lipschitz ? required(s.lipschitz, "lipschitz", theorem, 1e300) : 1.0),
        distances_(s.distances),
        progress_(progress) {
    if (static_cast<double>(distances_.size()) != n_)
      throw Error(ErrorKind::invalid_option,
                  "theorem \"" + std::string(theorem) + "\" needs distances: as many as rows, " +
                      std::to_string(static_cast<std::int64_t>(n_)) + ", not " + std::to_string(distances_.size()),
                  "Of the hinge loss they are abs(1 - y * score) at the optimum, y being 1 or -1.");
    if (!std::all_of(distances_.begin(), distances_.end(), [](double d) { return d >= 0 && d < 1e300; }))
      throw Error(ErrorKind::invalid_option, "distances must be finite numbers of 0 or more");
    polled_sort(distances_.begin(), distances_.end(), std::less<>(), progress_);
  }

  double steps_to_dual(double gap) const {
    const double s = allows(1, gap) ? 1 : Bracket{0, 1}.narrowed([&](double share) { return !allows(share, gap); }).low;
    return 2 * n_ / s * std::max(0.0, std::log(2 / gap));
  }
  double steps_to_gap(double gap) const {
    double enough = n_, short_of = 0;
    while (enough < 1e300 && promised(enough) > gap) {
      short_of = enough;
      enough *= 2;
    }
    if (short_of == 0) return 2 * enough;
    return 2 * Bracket{short_of, enough}.narrowed([&](double start) { return promised(start) <= gap; }).high;
  }

 private:
  double nearer_than(double u) const {
    return static_cast<double>(std::lower_bound(distances_.begin(), distances_.end(), u) - distances_.begin());
  }
  bool allows(double s, double gap) const {
    progress_.work(64);
    const double u = s / (lambda_ * n_);
    return 8 * steepest_ * steepest_ * u * nearer_than(u) / n_ <= gap;
  }
  /// The gap after twice as many steps.
  double promised(double start) const {
    const double dual = Bracket{0, 2}.narrowed([&](double gap) { return steps_to_dual(gap) <= start; }).high;
    double least = 4 * steepest_ * steepest_;
    for (std::size_t k = 0; k < distances_.size(); ++k) {
      const double d = distances_[k];
      progress_.work(8);
      if (!(d > 0) || (k > 0 && d == distances_[k - 1])) continue;
      least = std::min(
          least, 4 * steepest_ * steepest_ * static_cast<double>(k) / n_ + 2 * dual / std::min(d, lambda_ * d * d / 2));
    }
    return dual + least / (2 * lambda_ * start);
  }

  double n_, lambda_, steepest_;
  std::vector<double> distances_;
  const Progress& progress_;
};

double sgd_epoch_bound(std::string_view theorem, const BoundSettings& s) {
  const double l = s.lipschitz ? required(s.lipschitz, "lipschitz", theorem, 1e300) : 1.0;
  const double missing = 2 * l * l * (1 + std::log(s.rows)) / (required(s.lambda, "lambda", theorem, 1e300) * s.rows);
  return missing <= s.gap ? s.rows : std::numeric_limits<double>::infinity();
}

}  // namespace

double iterations_promised(std::string_view theorem, const BoundSettings& s, const Progress& progress) {
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
  if (theorem == "sdca 3") return sgd_epoch_bound(theorem, s);
  if (theorem == "sdca 5") return AlmostSmooth(theorem, s, progress).steps_to_dual(s.gap);
  if (theorem == "sdca 6") return AlmostSmooth(theorem, s, progress).steps_to_gap(s.gap);
  if (theorem == "sdca 4" || theorem == "sdca 4 hinge")
    return lipschitz_bound(std::ceil(n * std::log(1 + std::log(n))), constant, theorem, s);
  if (theorem == "momentum 3.1") return momentum_bound(theorem, s);
  if (theorem == "sampling 4.1") return sampling_bound(theorem, s);
  for (const auto& [step, factor] :
       {std::pair("quadratic", 2.0), std::pair("wolfe", 8.0), std::pair("frank_wolfe", 32.0)})
    if (theorem == std::string("boosting 3.3 ") + step) return std::ceil(factor * std::log(n) / (s.gap * s.gap));
  throw Error(ErrorKind::invalid_option, "unknown theorem \"" + std::string(theorem) + "\"",
              "It is one of: sdca 1, sdca 1 hinge, sdca 2, sdca 3, sdca 4, sdca 4 hinge, sdca 5, sdca 6, "
              "momentum 3.1, sampling 4.1, boosting 3.3 quadratic, boosting 3.3 wolfe, boosting 3.3 frank_wolfe.");
}

}  // namespace margin
