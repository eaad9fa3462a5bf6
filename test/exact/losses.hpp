// The losses in exact numbers, written from docs/reference/losses.md and not from src/core/losses.
#pragma once

#include "real.hpp"

namespace exact {

struct LossOf {
  std::string name;
  double epsilon = 0.1, smoothing = 1, quantile = 0.5;

  bool is(const char* other) const { return name == other; }
  bool classes() const { return name.find("hinge") != std::string::npos || is("logistic"); }

  Real value(const Real& u, const Real& y) const {
    const Real lack = Real(1) - y * u, miss = abs(u - y), gamma = smoothing;
    if (is("hinge")) return max(0, lack);
    if (is("squared_hinge")) return max(0, lack) * max(0, lack);
    if (is("smoothed_hinge")) return smooth(max(0, lack), gamma);
    if (is("logistic")) {
      const Real m = y * u;
      return m > 0 ? log1p(exp(-m)) : log1p(exp(m)) - m;
    }
    if (is("squared")) return miss * miss;
    if (is("poisson")) return exp(u) - y * u + entropy(y);
    if (is("absolute")) return miss;
    if (is("quantile")) return y > u ? Real(quantile) * miss : (Real(1) - Real(quantile)) * miss;
    if (is("huber")) return smooth(miss, gamma);
    const Real over = max(0, miss - Real(epsilon));
    return is("epsilon_insensitive") ? over : over * over;
  }
  /// φ*(−a) for an a of the domain.
  Real conjugate(const Real& a, const Real& y) const {
    const Real b = a * y, half = 0.5, quarter = 0.25;
    if (is("hinge") || is("absolute") || is("quantile")) return -b;
    if (is("squared_hinge") || is("squared")) return quarter * a * a - b;
    if (is("smoothed_hinge") || is("huber")) return half * Real(smoothing) * a * a - b;
    if (is("logistic")) {
      const Real rest = Real(1) - b;
      Real sum;
      if (b > 0) sum += b * log(b);
      if (rest > 0) sum += rest * log(rest);
      return sum;
    }
    if (is("poisson")) return entropy(y - a) - entropy(y);
    const Real tube = Real(epsilon) * abs(a) - b;
    return is("epsilon_insensitive") ? tube : tube + quarter * a * a;
  }
  /// The nearest a of the domain.
  Real project(const Real& a, const Real& y) const {
    if (is("squared") || is("squared_epsilon_insensitive")) return a;
    if (is("squared_hinge")) return y * max(0, a * y);
    if (is("poisson")) return min(a, y);
    if (is("quantile")) return max(Real(quantile) - Real(1), min(a, Real(quantile)));
    return classes() ? y * clamp(a * y, 0, 1) : clamp(a, -1, 1);
  }

  /// Where an optimal a can be: at `value`, or on the line u + slope a = value (a kink has slope 0).
  struct Piece {
    bool line;
    Real slope, value;
  };
  std::vector<Piece> pieces(const Real& y) const {
    const Real gamma = smoothing, half = 0.5, tube = epsilon;
    if (is("hinge")) return {{false, 0, 0}, {true, 0, y}, {false, 0, y}};
    if (is("smoothed_hinge")) return {{false, 0, 0}, {true, gamma, y}, {false, 0, y}};
    if (is("squared_hinge")) return {{false, 0, 0}, {true, half, y}};
    if (is("squared")) return {{true, half, y}};
    if (is("absolute")) return {{false, 0, -1}, {true, 0, y}, {false, 0, 1}};
    if (is("quantile")) return {{false, 0, Real(quantile) - Real(1)}, {true, 0, y}, {false, 0, quantile}};
    if (is("huber")) return {{false, 0, -1}, {true, gamma, y}, {false, 0, 1}};
    if (is("squared_epsilon_insensitive")) return {{true, half, y + tube}, {false, 0, 0}, {true, half, y - tube}};
    if (is("epsilon_insensitive"))
      return {{false, 0, -1}, {true, 0, y + tube}, {false, 0, 0}, {true, 0, y - tube}, {false, 0, 1}};
    return {};  // logistic, poisson: no pieces
  }

 private:
  static Real entropy(const Real& b) { return b > 0 ? b * log(b) - b : Real(0); }
  static Real smooth(const Real& r, const Real& gamma) {
    return r < gamma ? r * r / (Real(2) * gamma) : r - gamma / Real(2);
  }
};

}  // namespace exact
