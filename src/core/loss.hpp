// φ(u; y): everything that a primal value, a dual value or a coordinate step needs to know about a loss.
// algorithms: Shalev-Shwartz & Zhang (2013), Table of Section 3; docs/reference.md lists the names.
#pragma once

#include <string_view>
#include <vector>

namespace margin {

/// A convex loss of the score u for the outcome y (−1/+1 for classification, the target for regression).
/// `parameter` is epsilon for the insensitive losses, the smoothing γ for smoothed_hinge, otherwise unused; it is
/// given when the object is made. The dual variable a is signed (Shalev-Shwartz & Zhang's α): the certificate's
/// dual value sums −φ*(−a).
class Loss {
 public:
  virtual ~Loss() = default;
  virtual std::string_view name() const = 0;
  virtual bool classification() const = 0;                  ///< y is ±1; false: y is a number
  virtual double value(double u, double y) const = 0;       ///< φ(u)
  virtual double derivative(double u, double y) const = 0;  ///< φ'(u), a subgradient where φ has a kink
  virtual double conjugate(double a, double y) const = 0;   ///< φ*(−a); +∞ outside the domain
  virtual double project(double a, double y) const = 0;     ///< the nearest a in the domain of φ*(−a)
  /// argmax over the new a of −φ*(−a) − (a − a_old)·u − (s/2)(a − a_old)², s = ‖x‖²/(λn) ≥ 0: the SDCA step.
  virtual double dual_step(double u, double y, double a_old, double s) const = 0;
  virtual double second_derivative(double u, double y) const = 0;  ///< φ''(u) (generalised where φ is piecewise)
  virtual double smoothness() const = 0;  ///< γ: φ is (1/γ)-smooth; 0 when it is not smooth
  virtual bool has_probability() const { return false; }
};

/// All loss names that a soft margin accepts, in the order of docs/reference.md.
const std::vector<std::string_view>& loss_names();

}  // namespace margin
