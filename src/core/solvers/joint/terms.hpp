// The losses of all rows at given scores: values, and the weights p of the classes that attain them.
//
// The hinge has kinks, so it is seen through a proximal term: φ_κ(s) = max over p of <p − e_y, s> + 1 − p_y −
// (κ/2)‖p − p⁰‖², p⁰ the weights of the last round (augmented Lagrangian). Its p is the projection of p⁰ + (s + 1 − e_y)/κ
// onto the simplex.
#pragma once

#include "core/loss/joint.hpp"
#include "core/solvers/joint/rows.hpp"

namespace margin {

/// The nearest point of the simplex to z, in place; n ≥ 1 finite numbers.
void project_on_simplex(double* z, std::size_t n);

/// What the rows add up to.
struct JointSums {
  double value = 0;  ///< Σ cost φ (of the hinge with its proximal term)
  double dual = 0;   ///< Σ cost g(p)
  void operator+=(const JointSums& o) {
    value += o.value;
    dual += o.dual;
  }
};

class JointTerms {
 public:
  JointTerms(const JointRows& rows, JointLoss::Form form);

  /// On threads: p (rows × stride) from the scores s of the same shape. `start` and kappa: p⁰ and κ of the hinge.
  JointSums at(const double* s, const double* start, double kappa, double* p) const;
  /// The loss itself, without a proximal term.
  double value(const double* s) const;
  /// Classes that only rows of weight 0 have. With a free intercept they leave the problem: the lower their score, the
  /// better. Scores of them are set to none_of_them.
  void mask(double* s) const;
  const std::vector<char>& absent() const { return absent_; }
  bool hinge() const { return form_ == JointLoss::Form::crammer_singer; }
  static constexpr double none_of_them = -1e300;

 private:
  // Of the rows from `begin` to before `end`.
  JointSums softmax(std::int64_t begin, std::int64_t end, const double* s, double* p) const;
  JointSums simplex(std::int64_t begin, std::int64_t end, const double* s, const double* start, double kappa,
                    double* p) const;

  const JointRows& rows_;
  JointLoss::Form form_;
  std::vector<char> absent_;
  bool any_absent_ = false;
};

}  // namespace margin
