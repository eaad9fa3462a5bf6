// φ(u; y): everything that a primal value, a dual value or a coordinate step needs to know about a loss.
// Shalev-Shwartz & Zhang (2013), Section 3; docs/reference/losses.md lists the names. One file in losses/ = one loss.
#pragma once

#include <array>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/options/options.hpp"

namespace margin {

/// How φ'' runs along u: what bounds it over an interval.
enum class CurvatureForm {
  unknown,    ///< 0 but at kinks, or in no form of these
  constant,   ///< φ is quadratic
  one_bend,   ///< 0 on one side of a point, constant on the other
  two_bends,  ///< constant between two points, 0 beyond
  logistic,   ///< e^u/(1 + e^u)²: rises to its top at 0, and falls
  rising,
};

/// A convex loss of the score u for the outcome y (−1/+1 for classification, the target for regression), without the
/// row's weight. The dual variable a is signed (Shalev-Shwartz & Zhang's α): the dual value sums −φ*(−a).
///
/// A row weight c multiplies φ; a stays the variable of the unweighted loss (its domain does not depend on c), so
/// that w(a) = Σ c_i a_i x_i / (λW), D(a) = Σ c_i (−φ*(−a_i))/W − (λ/2)‖w(a)‖², and the coordinate step of a row
/// has s_i = c_i ‖x_i‖² / (λW).
class Loss {
 public:
  virtual ~Loss() = default;
  /// The values of the options that it reads, in their order (`reads`): with the name all there is to know of it.
  const std::vector<double>& parameters() const { return parameters_; }
  virtual std::string_view name() const = 0;
  virtual bool classification() const = 0;                  ///< y is ±1; false: y is a number
  virtual double value(double u, double y) const = 0;       ///< φ(u)
  virtual double derivative(double u, double y) const = 0;  ///< φ'(u), a subgradient where φ has a kink
  virtual double conjugate(double a, double y) const = 0;   ///< φ*(−a); +∞ outside the domain
  virtual double project(double a, double y) const = 0;     ///< the nearest a in the (closed) domain of φ*(−a)
  /// argmax over a of −φ*(−a) − (a − a_old)·u − (s/2)(a − a_old)², s ≥ 0 (0 and +∞ included): the SDCA step.
  virtual double dual_step(double u, double y, double a_old, double s) const = 0;
  /// How far u may move, either way, before a stops being the optimal dual value for it (rows with a large slack are
  /// settled); negative: minus the distance that u would have to move to make a optimal.
  virtual double slack(double u, double y, double a) const = 0;
  /// φ''(u), generalised where φ is piecewise.
  virtual double second_derivative(double u, double y) const = 0;
  virtual double smoothness() const = 0;                    ///< γ: φ' is 1/γ-Lipschitz; 0 when φ is not smooth
  virtual double lipschitz() const = 0;                     ///< L: |φ'| ≤ L; +∞ when unbounded (then φ is smooth)
  virtual bool smooth() const { return smoothness() > 0; }  ///< φ' is continuous, if not Lipschitz
  /// e^u is the mean of y, which is 0 or more: targets have no other unit and no other origin.
  virtual bool log_link() const { return false; }
  /// κ: |φ'''| ≤ κ φ''; +∞ where φ has kinks, or flat ends. A finite one is what lambda 0 asks of a loss.
  virtual double self_concordance() const { return std::numeric_limits<double>::infinity(); }
  virtual CurvatureForm curvature_form() const { return CurvatureForm::unknown; }
  bool quadratic() const { return curvature_form() == CurvatureForm::constant; }
  virtual int kinks() const { return 0; }                 ///< points where φ' jumps
  virtual bool has_probability() const { return false; }  ///< 1/(1+e^−u) estimates P(y = 1)

  // What certificates allow for: an evaluation errs by a few roundings of its result, of an argument of this size, and,
  // for φ*, of this sum of terms.
  virtual double argument_size(double u, double y) const;
  virtual double conjugate_size(double a, double y, double conjugate) const;
  virtual double steepest(double u, double y, double error) const;  ///< the largest |φ'| within `error` of u

 protected:
  Loss() = default;
  explicit Loss(std::vector<double> parameters) : parameters_(std::move(parameters)) {}

 private:
  friend struct LossMaker;  // loss.cpp: sets them for every loss of the registry
  std::vector<double> parameters_;
};

/// An option that losses are given by.
struct LossParameter {
  std::string_view option;
  double Options::* value;
  bool length;            ///< in the units of the labels
  bool (*valid)(double);  ///< in any units
};
const std::vector<LossParameter>& loss_parameters();

/// Throws Error(invalid_value) for a target below 0 where e^u is its mean. `row` (1-based; 0: not told) is named.
void require_target(const Loss& loss, double y, std::int64_t row);

/// −φ'(u), a dual value of the row for any u; 0 within `kink_width` (of the size of u and y) of a kink of a piecewise
/// linear loss: there a rounding error of u must not decide, because two processes may differ in it.
double settled_dual(const Loss& loss, double u, double y);
constexpr double kink_width = 1e-7;

/// All loss names that a soft margin accepts, in the order of docs/reference/losses.md.
const std::vector<std::string_view>& loss_names();

/// True when `name` is a loss whose outcomes are numbers (false for unknown names too).
bool is_regression_loss(std::string_view name);

/// The losses that lambda 0 takes, for messages: "\"logistic\" and \"squared\"".
std::string likelihood_losses();

/// Whether the loss of this name reads an option.
bool loss_reads(std::string_view name, std::string_view option);

/// The loss called `name`, with the parameters that it reads of the options. Throws Error(invalid_option) for a name that a
/// soft margin does not know.
std::shared_ptr<const Loss> make_loss(std::string_view name, const Options& options);

/// The loss of this name and these parameters; null where there is none, or one that takes others.
std::shared_ptr<const Loss> find_loss(std::string_view name, const std::vector<double>& parameters);

/// The same loss of labels in another unit: what of its parameters is a length is divided by it.
std::shared_ptr<const Loss> in_units(const Loss& loss, double unit);

}  // namespace margin
