// Interior points in as many digits as asked: the one method under every exact optimum of this directory.
#pragma once

#include <functional>
#include <memory>

#include "real.hpp"

namespace exact {

using Matrix = std::vector<Vector>;

/// A convex smooth term of the variables, of which Newton's method needs to know how far its steps may go.
class SmoothTerm {
 public:
  virtual ~SmoothTerm() = default;
  virtual void add_derivatives(const Vector& at, Vector& gradient, Matrix& hessian) const = 0;
  /// How much its logarithmic derivatives can change along a step: below 1 its quadratic model is good.
  virtual Real reach(const Vector& step) const = 0;
};

/// min ½ Σ h_j θ_j² + g·θ + Σ_k ψ_k(r_k·θ) + smooth terms, where ψ_k(u) = max over a in [low, high] of a (t − u) − q a²/2:
/// every piece of a piecewise linear or quadratic function of a score is such a ψ, and an inequality t ≤ r·θ is one with
/// low 0 and no high.
struct Program {
  struct Piece {
    Vector r;
    Real t, low, high, q, size;  ///< size: of an a, where a side has no end
    bool has_low = true, has_high = true;
  };
  Vector h, g;
  std::vector<Piece> pieces;
  std::vector<std::shared_ptr<const SmoothTerm>> smooth;
};

/// Asks `done(θ, a)` after each step whether the caller's proof is tight; false when it never said so.
bool solve(const Program& p, const std::function<bool(const Vector&, const Vector&)>& done, int steps = 600);

/// x of m x = right for a symmetric matrix without negative curvature; 0 along directions that it does not see.
Vector solve_symmetric(Matrix m, Vector right);

/// While it lives, numbers are made with this many bits.
class Precision {
 public:
  explicit Precision(long bits) : before_(mpfr_get_default_prec()) { Real::precision(bits); }
  ~Precision() { Real::precision(before_); }
  Precision(const Precision&) = delete;
  Precision& operator=(const Precision&) = delete;

 private:
  long before_;
};

}  // namespace exact
