// Losses of the scores of all classes at once (option multiclass => 'joint'), for a row of class y among k:
//   logistic  φ(s; y) = ln Σ_c e^(s_c) − s_y                g(p; y) = −Σ_c p_c ln p_c   multinomial logistic regression
//   hinge     φ(s; y) = max_c (1[c ≠ y] + s_c) − s_y        g(p; y) = 1 − p_y           Crammer, Singer (2001)
// Both are φ(s; y) = max over p in the simplex of <p − e_y, s> + g(p; y), e_y the y-th unit vector. So with weights p_i for
// every row, V_c = (1/λW) Σ_i c_i (1[y_i = c] − p_ic) x_i, D = (1/W) Σ_i c_i g(p_i; y_i) − (λ/2)‖V‖² is a dual value.
#pragma once

#include <memory>
#include <vector>

#include "core/loss/loss.hpp"

namespace margin {

/// The loss of a problem whose classes are trained jointly. What it says as a Loss is about two classes, of which the
/// difference of the scores is the score.
class JointLoss final : public Loss {
 public:
  enum class Form { multinomial, crammer_singer };

  /// `pairwise`: the loss of two classes, logistic or hinge.
  JointLoss(Form form, std::shared_ptr<const Loss> pairwise)
      : Loss(pairwise->parameters()), form_(form), pairwise_(std::move(pairwise)) {}
  Form form() const { return form_; }

  /// φ(s; y) of k scores.
  double value(const double* s, std::int32_t k, std::int32_t y) const;
  /// A p that attains the maximum above: softmax(s), or all of it on one class of the largest 1[c ≠ y] + s_c (y before
  /// others). `p` may be `s`.
  void maximiser(const double* s, std::int32_t k, std::int32_t y, double* p) const;
  /// The same, but for the hinge the first of the classes that are within kink_width of the largest, y before others: where several
  /// attain it, as at an optimum, rounding does not tell which. Returns how far the scores may move before it is another; of the logistic
  /// loss, the lead of the largest score.
  double settled(const double* s, std::int32_t k, std::int32_t y, double* p) const;
  /// By how much φ at the scores `to` is above its tangent at `from`, that of settled(); of the logistic loss the Kullback–Leibler
  /// divergence of the p of `to` from those of `from`. `p` is k numbers of scratch.
  double bend(const double* from, const double* to, std::int32_t k, std::int32_t y, double* p) const;
  /// g(p; y)
  double dual_value(const double* p, std::int32_t k, std::int32_t y) const;

  std::string_view name() const override { return pairwise_->name(); }
  bool classification() const override { return true; }
  double value(double u, double y) const override { return pairwise_->value(u, y); }
  double derivative(double u, double y) const override { return pairwise_->derivative(u, y); }
  double conjugate(double a, double y) const override { return pairwise_->conjugate(a, y); }
  double project(double a, double y) const override { return pairwise_->project(a, y); }
  double dual_step(double u, double y, double a, double s) const override { return pairwise_->dual_step(u, y, a, s); }
  double slack(double u, double y, double a) const override { return pairwise_->slack(u, y, a); }
  double second_derivative(double u, double y) const override { return pairwise_->second_derivative(u, y); }
  double smoothness() const override { return pairwise_->smoothness(); }
  CurvatureForm curvature_form() const override { return pairwise_->curvature_form(); }
  int kinks() const override { return pairwise_->kinks(); }
  double lipschitz() const override { return pairwise_->lipschitz(); }
  bool has_probability() const override { return pairwise_->has_probability(); }

 private:
  Form form_;
  std::shared_ptr<const Loss> pairwise_;
};

/// The joint form of the loss of this name. Throws Error(unsupported) for a loss that has none, Error(invalid_option)
/// for a name that is none.
std::shared_ptr<const Loss> make_joint_loss(std::string_view name, const Options& options);

/// The same of a loss that has one.
std::shared_ptr<const Loss> joint_form(std::shared_ptr<const Loss> pairwise);

/// Whether the loss of this name has a joint form.
bool has_joint_form(std::string_view name);

/// The loss as a joint one; null where it is one of two classes or of a regression, or null.
inline const JointLoss* joint_of(const Loss* loss) { return dynamic_cast<const JointLoss*>(loss); }

/// ln(p_c/(1 − p_c)) of p = softmax(s), the log-odds of each class against all others; `out` may be `s`.
void softmax_log_odds(const double* s, std::int32_t k, double* out);

}  // namespace margin
