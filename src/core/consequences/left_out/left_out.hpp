// What the optimum of a soft margin would say of a row if it had been trained without it, from the vectors of the training
// with all rows: bounds of the score, for one output. The cost C = 1/(λW) of a row stays as it is: W counts the row that is left out.
//
// Bounds, of which the narrowest counts:
//   The ball. Without row i, (w, a without a_i) are a primal and a dual point of the problem, whose gap follows from the
//     whole one, and span a ball that holds its optimum (certificate/ball.hpp). With δ = c a x/(λW):
//       gap_i = gap − c (φ(u) + φ*(−a))/W − (λ/2)(‖v‖² − ‖v − δ‖²),  centre (w + v − δ)/2.
//   Exchange, of the hinge. The rows nearest to its kink can take over what a_i did (consequences/left_out/exchange.hpp): another dual point, whose v
//     is close to w.
//   Kinks, of the hinge and of a row without a dual value, whose gap_i is no more than the gap. As in consequences/between/kinks_between.hpp
//     (λ/2)‖w* − w‖² + Σ m|y − u*| ≤ gap over the rows between both ends of their domain, m = (c/W) min(β, 1−β); and as Σ m|y − u| ≤ gap,
//     too, d = w* − w has Σ (m/gap)² (x·d)² + (λ/2gap)‖d‖² ≤ 5: an ellipsoid that is thin where kinks hold it, as they hold a column of
//     large numbers.
//   Curvature, of losses with a derivative. P without row i has the gradient e − c φ'(u) x/W at w, e = ∇P(w), and its
//     optimum is w + d with d = −H̄⁻¹ of that for the mean Hessian H̄ on the way. Of the logistic loss it is close to the Hessian at w
//     (left_out_curvature.cpp). Otherwise A ≤ H̄ ≤ B wherever no score moves by more
//     than τ, A and B of the least and the largest φ'' within τ (of a few rows, which may move further, of 0 and the largest of all). So x·d lies between quadratic forms of A⁻¹ and B⁻¹. No score
//     moves by more: on the way to the optimum P falls, so that ‖d‖_A ≤ ‖gradient‖_A⁻¹ up to where the first one would. These bounds hold for a
//     free intercept as well.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/progress.hpp"
#include "core/certificate/check.hpp"
#include "core/consequences/left_out/exchange.hpp"
#include "core/consequences/where/curvature.hpp"
#include "core/math/symmetric_matrix.hpp"
#include "core/problem/problem.hpp"

namespace margin {

struct ScoreInterval {
  double lower = 0, upper = 0;
  /// Whether it holds `wanted`; NaN: always.
  bool open(double wanted) const { return !(wanted < lower) && !(wanted > upper); }
  void narrow(double low, double high) {
    if (low > lower) lower = low;
    if (high < upper) upper = high;
  }
};

class LeftOut {
 public:
  /// Everything is kept by reference: a problem of classes, the weights and the intercept of one output, its dual value
  /// for every row, and the gap of its certificate.
  LeftOut(const Problem& problem, std::int32_t output, const double* weights, double intercept, const Weights& dual,
          double gap, const Progress& progress);

  /// Of the score of row i by the optimum without it. `wanted`: an interval that does not hold this number is narrow
  /// enough; NaN: as narrow as can be had.
  ScoreInterval score(std::int64_t i, double wanted);
  /// ≥ how far the weights of the optimum with row i are from those without it, in the norm of (w, b/B).
  double distance(std::int64_t i) const;

 private:
  struct At {
    std::int64_t row = 0;
    Row x{};
    double c = 0, y = 0, u = 0, s = 0, a = 0;  ///< score by w, by v, dual value
    double square = 0, length = 0, k = 0;      ///< ≥ ‖(x, B)‖², ‖(x, B)‖; c a/(λW)
    double gap = 0;                            ///< gap_i
    double own = 0, own_error = 0;             ///< c (φ(u) + φ*(−a) + a u)/W
    double rounding = 0;                       ///< of a score by w or v
  };
  /// Of one τ: A⁻¹, the forms of all rows, and by its norm e and the largest row. `upper`: B⁻¹, made when it is asked for.
  struct Curvature {
    double tau = 0, error = 0, largest = 0;
    InverseCurvature inverse, upper;
    std::vector<double> forms;
    std::vector<std::int64_t> moving;  ///< rows of which nothing is assumed, ascending
    bool moves(std::int64_t i) const { return std::binary_search(moving.begin(), moving.end(), i); }
  };
  /// H⁻¹ at w: forms of all rows and the largest, H⁻¹ of the gradient, its norm and that of what it errs by.
  struct Concord {
    InverseCurvature inverse, upper;
    std::vector<double> forms, step;
    double largest = 0, error = 0, rounding = 0;
    std::vector<std::int64_t> moving;  ///< rows that have no part in it, ascending
    bool moves(std::int64_t i) const { return std::binary_search(moving.begin(), moving.end(), i); }
  };
  At at(std::int64_t i) const;
  bool make_concord();
  void bend_by_hessian(const At& row, double wanted, ScoreInterval& found);
  ScoreInterval in_ball(const At& row) const;
  void make_exchange();
  ScoreInterval in_exchanged(const At& row);
  void exchange(const At& row, double wanted, ScoreInterval& found);
  bool make_curvature();
  /// h by `of` of a row, its score and its target.
  InverseCurvature inverse(const std::function<double(std::int64_t, double, double)>& of) const;
  void bend(const At& row, double wanted, ScoreInterval& found);
  double lost_form(const At& row, double g) const;
  void make_kinks();
  void meet_kinks(const At& row, ScoreInterval& found);
  double error_by(const InverseCurvature& inverse) const;
  double slope_error(const At& row) const;
  double length_of(const Row& x) const;
  double vanished(const Row& x, double length) const;
  double apart_from(const std::vector<double>& v) const;
  double product(const Row& x, const std::vector<double>& v) const;
  void add(double c, const Row& x, std::vector<double>& v) const;

  const Problem& p_;
  std::int32_t output_;
  const Weights& dual_;
  const Progress& progress_;
  double constant_, gap_, unit_;          // unit: 1/(λW)
  std::vector<double> w_, v_, gradient_;  // with the weight of the constant feature; of free ones the intercept
  double apart_ = 0;                      // ‖w − v‖
  double error_ = 0;                      // of v
  std::vector<double> gradient_error_;    // of the gradient, by columns
  double noise_ = 0;                      // of the scores by w, of a loss with a derivative
  double size_ = 0;                       // ‖w‖ + ‖v‖
  std::vector<double> scores_;            // by w, of rows whose a is 0; NaN
  double near_ = 0;                       // ≥ how far from that the optimum's without such a row is
  /// Of a row next to the kink: y, the ends of its domain, c/W, c/(λW), dual value, φ* of it, score by w, ‖(x, B)‖, what
  /// the score errs by in units of ε, what vanishes of it.
  struct Near {
    std::int64_t row;
    double y, low, high, share, scale, dual, conjugate, score, length, rounding, lost;
  };
  std::vector<Near> band_;
  std::vector<double> moved_;
  bool ball_ = true;  // the intercept is not free
  std::vector<Concord> concords_;
  std::size_t moving_ = 0;
  std::vector<Curvature> curvatures_;
  std::size_t next_level_ = 0;
  std::vector<double> norms_;  // of all rows, by the first A
  InverseCurvature first_;     // that one
  std::unique_ptr<Exchange> exchange_;
  std::optional<InverseCurvature> kinks_;  // of the ellipsoid that kinks make of the ball
};

}  // namespace margin
