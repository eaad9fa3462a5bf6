// The optimum of a small soft margin with one output, as an interval of 40 digits that is proven by a dual value of its
// own. Written from docs/reference/ and not from src/core: whatever the core claims is held against this.
#pragma once

#include "losses.hpp"
#include "program.hpp"

namespace exact {

/// min over w, b of λ Σ_j f_j ((1 − ρ)/2 w_j² + ρ |w_j|) [+ λ (1 − ρ)/2 (b/s)²] + (1/W) Σ c_i φ(x_i·w + b + o_i; y_i).
/// Rows whose c is 0 count for nothing. Numbers are Reals; doubles convert.
struct OracleProblem {
  enum class Intercept { none, penalised, free };
  LossOf loss;
  Matrix x;
  Vector y, c;        ///< y: −1 and 1, or targets
  Real lambda;        ///< 0: the likelihood itself
  Real total = 0;     ///< W; 0: Σ c
  Vector offset;      ///< o; empty: 0
  Vector factor;      ///< f, above 0; empty: 1
  Real l1_ratio = 0;  ///< ρ, below 1
  Intercept intercept = Intercept::none;
  Real intercept_scale = 1;  ///< s
  Real tilt = 0;             ///< this times b is added: 1 for a one-class machine
  Matrix rules;              ///< rules · w ≥ ends
  Vector ends;
  double width = 1e-40;  ///< of the interval that is asked for, relative
};
struct Optimum {
  bool proven = false;  ///< upper − lower ≤ 1e-40 upper, or 1e-70 of P at 0 where the optimum is 0
  Real lower, upper;    ///< P* lies between them, proven or not
  Vector w;             ///< one of the vectors whose P is `upper`
  Real b;
};
/// `bits`: of the first attempt; a second one has three times as many.
Optimum optimum_of(const OracleProblem& p, long bits = 320);

/// P at a point.
Real primal_of(const OracleProblem& p, const Vector& w, const Real& b);

/// min of λ/2 (‖U‖² + ‖b‖²/s²) + (1/W) Σ c_i φ(s_i; y_i) over weights and intercepts of all classes at once, s_i the scores
/// of a row: φ = ln Σ e^(s_c) − s_y, or max_c (1[c ≠ y] + s_c) − s_y without `multinomial`.
struct JointProblem {
  bool multinomial = true;
  std::size_t classes = 2;
  Matrix x;
  std::vector<std::size_t> y;
  Vector c;
  Real lambda, total = 0;
  OracleProblem::Intercept intercept = OracleProblem::Intercept::none;
  Real intercept_scale = 1;
};
struct JointOptimum {
  bool proven = false;
  Real lower, upper;
  Matrix w;  ///< class by class
  Vector b;
};
JointOptimum joint_optimum(const JointProblem& p, long bits = 320);

/// Bits that the scales of a problem ask for, beyond those of its digits.
long bits_for(const OracleProblem& p);

}  // namespace exact
