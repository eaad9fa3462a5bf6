// Where the optima of all lambdas between two are, from what is known at both, for one output without a free intercept.
// θ = (λ − a)/(b − a) for the ends a < b, so that t(b − a) = (1−θ)(λ − a) = θ(b − λ) with t = θ(1−θ).
//
//   w_θ = (1−θ)w_a + θw_b and the dual weights mixed alike, whose point is z_θ/λ with z = λv, are a primal and a dual
//     point at λ. With s = P − D − (λ/2)‖w − v‖² at an end, what theirs is there follows from the convexity of φ and φ*:
//       s_θ ≤ (1−θ)s_a + θs_b − t <w_a − w_b, z_a − z_b>,   w_θ − z_θ/λ = (t(b − a)(w_a − w_b) + (1−θ)a(w_a − v_a) + θb(w_b − v_b))/λ,
//     and they span a ball (certificate/ball.hpp) of centre (w_θ + z_θ/λ)/2 and radius √(s_θ/λ + ‖w_θ − z_θ/λ‖²/4).
#pragma once

#include <vector>

#include "core/data/row.hpp"

namespace margin {

struct DualPoint;  // certificate/ball.hpp

// What the proofs between two lambdas share.
/// What sums of d products may be off, and some; figures are moved by it in the safe direction.
double rounding_of(std::size_t d);
/// ≥ ‖v‖
double norm_above(const std::vector<double>& v);
/// ≥ the largest θ(1−θ) in an interval.
double largest_bow(double low, double high);

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
  /// ≥ λ(radius² of the ball that exact vectors have), and how far the centre is from theirs: the radius is made of both.
  double budget(const LambdaRange& range) const;
  double error(const LambdaRange& range) const;
  /// ≥ sign·(score of the centre) for all of them.
  double highest(const EndProducts& at_a, const EndProducts& at_b, double sign, const LambdaRange& range) const;

 private:
  double share(double lambda) const;
  const PathPoint &a_, &b_;
  double between_ = 0, bend_ = 0, apart_a_ = 0, apart_b_ = 0;
};

}  // namespace margin
