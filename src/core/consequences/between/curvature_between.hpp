// Where the optima of all lambdas between two are, by the curvature of a loss with a derivative, for one output.
// Let w_0, …, w_K be points at rising lambdas l_0, …, l_K, g_k = ∇P at l_k and w_k, and θ = (λ − l_k)/(l_k+1 − l_k), t = θ(1−θ):
//       ∇P_λ(w_θ) = (1−θ)g_k + θg_k+1 + t(l_k+1 − l_k)(w_k − w_k+1) + E,   w_θ = (1−θ)w_k + θw_k+1,
// E what φ' is off a straight line between both points: of a row at most t max|φ'''| (Δu)²/2, beside a kink of φ' at most t|Δu|
// times its jump. So the points need not be optima: their gradients tell how far off they are, and Newton steps make one of
// the middle of two.
//
// Where no score leaves an interval of its own, P is no flatter than A = l_0 + Σ c h x xᵀ/W, h the least φ'' there. So the
// optimum is within ‖∇P‖_A⁻¹ of w_θ, and within half of that of w_θ − A⁻¹∇P/2, in the norm of A, as long as no score would
// have to leave its interval: where those of the points are in it and further from its ends than ‖∇P‖_A⁻¹ ‖x_i‖_A⁻¹. Once that is
// proven, the optima of all lambdas have their scores there, and of points that are added only the scores must be, too. Rows
// whose h is 0 are no part of A and may go anywhere. A free intercept has no λ, in ∇P nor in A.
//
// The intervals are a guess, wider for rows that are long in that norm: wide ones make A small, and narrow ones need points
// that lie close together. Where no guess will do, halves of the lambdas have intervals of their own, and go on from the
// points that there are.
#pragma once

#include <memory>
#include <vector>

#include "core/certificate/column_sizes.hpp"
#include "core/consequences/between/between.hpp"
#include "core/consequences/where/curvature.hpp"

namespace margin {

class CurvatureBetween {
 public:
  /// `problem` (the rows of the training) and `progress` are kept by reference. `constant`: B (of a free intercept 1), 0
  /// without an intercept. `borders`: of ranges of lambda, from a.lambda to b.lambda.
  /// `lengths`: of the rows, about, as lengths() had them between other lambdas; empty: not known.
  CurvatureBetween(const Problem& problem, double constant, const PathPoint& a, const PathPoint& b,
                   std::vector<double> borders, std::vector<double> lengths, const Progress& progress);
  /// One half of the ranges, from the points that the whole has there: see has_middle(). The whole proves nothing any more.
  CurvatureBetween(CurvatureBetween& whole, bool upper);
  /// Something is proven; false where scores would move too far.
  bool proven() const { return proven_; }
  /// Points between those that there are, where the bounds of a `wanted` range become tighter; false where none do.
  bool refine(const std::vector<char>& wanted);
  const std::vector<double>& borders() const { return borders_; }
  /// The weights at the first or the last border.
  const std::vector<double>& end(bool upper) const { return (upper ? points_.back() : points_.front()).weights; }
  /// Whether there is a point close to the optimum at the border that halves the ranges, and one for it.
  bool has_middle();
  void set_middle(const std::vector<double>& weights);
  /// Bytes that it takes.
  static double bytes(const Problem& problem);

  struct Held {
    double length = 0;             ///< ≥ ‖x‖_A⁻¹
    std::vector<double> at, turn;  ///< products with the points, and with what each pair is apart
  };
  double length(const Row& x) const;
  /// All of `held` but its length.
  void multiply(const Row& x, Held& held) const;
  /// A centre, and how far from it sign·(score) can be upwards at the optima of a range, but for the rounding of products
  /// with vectors of length size().
  struct Highest {
    double centre = 0, reach = 0;
  };
  Highest highest(const Held& held, double sign, std::size_t range) const;
  double size() const { return size_; }
  /// ‖x‖_A⁻¹ of the rows that train, about.
  const std::vector<double>& lengths() const { return likely_lengths_; }

 private:
  static constexpr std::size_t block = 512;  // of rows whose losses are computed together
  static constexpr std::size_t most_points = 9;

  struct Point {
    std::size_t border = 0;
    std::vector<double> weights, gradient;
    std::vector<double> score, slope, curve;  // of the rows that train: u, φ'(u), φ''(u)
    double residual = 0;                      // ‖gradient‖_A⁻¹, for the smaller matrix, too
    std::vector<double> centre;               // w − A⁻¹∇P/2
  };
  struct Pair {
    std::vector<double> turn;  // A⁻¹(w_k − w_k+1)(l_k+1 − l_k)
    double turn_length = 0, bent = 0;
    bool best = false;  // nothing helps any more
  };

  double lambda(std::size_t k) const { return borders_[points_[k].border]; }
  std::size_t middle() const { return (borders_.size() - 1) / 2; }
  void prove();
  void release();
  void pass(Point& point) const;
  double off_line(double by, std::size_t i, const Point& one, const Point& other) const;
  void least(const std::vector<double>& moves, std::vector<double>& out) const;
  bool invert(const std::vector<double>& moves);
  bool weigh(const std::vector<double>& base, const std::vector<double>& moves);
  void measure(Point& point);
  void turn(std::size_t pair);
  void bend(std::size_t pair);
  bool sharpen(double wanted, const std::vector<char>* ranges = nullptr);
  bool close(const Point& point) const;
  bool between(std::size_t pair, double wanted, Point& out);
  bool descend(Point& point, double wanted);
  bool factorise_at(double lambda);
  void bend_to(const std::vector<double>& curve);
  bool fits(const Point& point) const;
  double length_of(double form) const;
  double row_length(std::size_t i);
  double far(std::size_t pair) const;
  double far() const;
  bool holds(std::size_t pair, const std::vector<char>& ranges) const;
  double room() const;

  const Problem& p_;
  const double constant_, smoothness_;
  const bool logistic_;
  const Progress& progress_;
  const std::shared_ptr<const ColumnSizes> sizes_;
  const std::vector<double> borders_;
  InverseCurvature inverse_;
  SymmetricMatrix curvature_{0}, factor_{0};  // for Newton steps: of the rows, about; that and some λ, factorised
  double factored_ = -1;                      // which λ
  std::vector<Point> points_;
  std::vector<Pair> pairs_;
  std::vector<double> share_, target_, low_, high_, outside_, moves_, lengths_, likely_lengths_, base_, least_;
  std::vector<double> bent_to_;     // φ'' of the rows in the matrix for Newton steps
  double widened_ = 1, lost_ = 0;   // what norms grow by where rows move further than A was made for
  double size_ = 0, rounding_ = 0;  // of vectors; of gradients, in the norm
  double noise_ = 1e-9;             // > what scores are rounded by
  bool proven_ = false;
};

}  // namespace margin
