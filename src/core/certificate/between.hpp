// Where the optima of all lambdas between two are, from what is known at both, for one output.
// θ = (λ − a)/(b − a) for the ends a < b, so that t(b − a) = (1−θ)(λ − a) = θ(b − λ) with t = θ(1−θ).
//
//   The ball, without a free intercept. w_θ = (1−θ)w_a + θw_b and the dual weights mixed alike, whose point is z_θ/λ with z = λv, are a primal and a dual
//     point at λ. With s = P − D − (λ/2)‖w − v‖² at an end, what theirs is there follows from the convexity of φ and φ*:
//       s_θ ≤ (1−θ)s_a + θs_b − t <w_a − w_b, z_a − z_b>,   w_θ − z_θ/λ = (t(b − a)(w_a − w_b) + (1−θ)a(w_a − v_a) + θb(w_b − v_b))/λ,
//     and they span a ball (certificate/ball.hpp) of centre (w_θ + z_θ/λ)/2 and radius √(s_θ/λ + ‖w_θ − z_θ/λ‖²/4).
//   Curvature, of losses with a derivative. With g = ∇P at an end,
//       ∇P_λ(w_θ) = (1−θ)g_a + θg_b + t(b − a)(w_a − w_b) + E,
//     E what φ' is off a straight line between both ends: of a row at most t max|φ'''| (Δu)²/2, beside a kink of φ' at most t|Δu|
//     times its jump. Where no score moves by more than τ_i, P is no flatter than A = a + Σ c h x xᵀ/W, h the least φ'' there.
//     So the optimum is within ‖∇P‖_A⁻¹ of w_θ, and within half of that of w_θ − A⁻¹∇P/2, in the norm of A, as long as none would
//     have to move further than τ_i: where ‖∇P‖_A⁻¹ ‖x_i‖_A⁻¹ < τ_i for all. A free intercept has no λ, in ∇P nor in A.
#pragma once

#include <vector>

#include "core/certificate/curvature.hpp"

namespace margin {

struct DualPoint;  // certificate/ball.hpp

/// One output at one lambda: (w, b/B), v less that, and what a DualPoint says besides.
struct PathPoint {
  double lambda = 0;
  std::vector<double> weights, offset;
  double slack = 0, error = 0;
  double size = 0;  ///< ≥ the norms of both points
};

/// `weights`: in all columns of the rows, and `offset_columns` those of the dual point (empty: all).
PathPoint path_point(double lambda, const double* weights, std::int32_t dimensions, double intercept, double constant,
                     const DualPoint& point, const std::vector<std::int32_t>& offset_columns);

/// A range of lambdas between the ends.
struct LambdaRange {
  double low = 0, high = 0;
};

/// The products of a row with the vectors of an end: <x, w> and <x, v>.
struct EndProducts {
  double weights = 0, dual = 0;
};
EndProducts products(const PathPoint& point, const Row& x, double constant);

/// Both ends are kept by reference; a.lambda < b.lambda.
class BallBetween {
 public:
  BallBetween(const PathPoint& a, const PathPoint& b);
  /// Of the balls of all lambdas in the range.
  double radius(const LambdaRange& range) const;
  /// ≥ sign·(score of the centre) for all of them.
  double highest(const EndProducts& at_a, const EndProducts& at_b, double sign, const LambdaRange& range) const;

 private:
  double share(double lambda) const;
  const PathPoint &a_, &b_;
  double between_ = 0, bend_ = 0, apart_a_ = 0, apart_b_ = 0;
};

class CurvatureBetween {
 public:
  /// All is kept by reference: the rows of the training, and the ends. `constant`: B (of a free intercept 1), 0 without
  /// an intercept.
  CurvatureBetween(const Problem& problem, double constant, const PathPoint& a, const PathPoint& b,
                   const Progress& progress);
  /// Something is proven; false where scores would move too far.
  bool proven() const { return proven_; }

  struct Held {
    double length = 0;  ///< ≥ ‖x‖_A⁻¹
    double turn = 0;    ///< <x, A⁻¹(w_a − w_b)>(b − a)
  };
  Held held(const Row& x) const;
  /// ≥ sign·(score) at all optima of the range, of a row by its products with the weights of both ends.
  double highest(const Held& row, double at_a, double at_b, double sign, const LambdaRange& range) const;

 private:
  double off_line(double one, double other, double y) const;
  double least(std::size_t i, double move) const;
  bool invert(const std::vector<double>& moves);
  bool bend(const std::vector<double>& base, const std::vector<double>& moves);
  double moved() const { return 0.25 * (turn_length_ + bent_) + residual_; }

  const Problem& p_;
  const double constant_;
  const PathPoint &a_, &b_;
  const Progress& progress_;
  InverseCurvature inverse_;
  std::vector<double> score_a_, score_b_, gradient_a_, gradient_b_, turn_, lengths_, least_, off_line_;
  double step_length_ = 0, gradient_length_ = 0;  // by A
  double widened_ = 1;                            // what norms grow by where rows move further
  double turn_length_ = 0, bent_ = 0, residual_ = 0, turn_error_ = 0;
  bool proven_ = false;
};

}  // namespace margin
