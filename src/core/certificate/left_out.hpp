// What the optimum of a soft margin would say of a row if it had been trained without it, from the vectors of the training
// with all rows: bounds of the score, for one output. The cost C = 1/(λW) of a row stays as it is: W counts the row that is left out.
//
// Three bounds, of which the narrowest counts:
//   The ball. Without row i, (w, a without a_i) are a primal and a dual point of the problem, whose gap follows from the
//     whole one, and span a ball that holds its optimum (certificate/ball.hpp). With δ = c a x/(λW):
//       gap_i = gap − c (φ(u) + φ*(−a))/W − (λ/2)(‖v‖² − ‖v − δ‖²),  centre (w + v − δ)/2.
//   Ascent. The rows nearest to a kink of φ can take over what a_i did: coordinate ascent over these alone raises the dual value and brings
//     v − δ back to w.
//   Curvature, of losses with a derivative. P without row i has the gradient e − c φ'(u) x/W at w, e = ∇P(w), and its
//     optimum is w + d with d = −H⁻¹ of that for the mean Hessian H on the way, A ≤ H ≤ B wherever no score moves by more
//     than τ, A and B of the least and the largest φ'' within τ (of a few rows, which may move further, of 0 and the largest of all). So x·d lies between quadratic forms of A⁻¹ and B⁻¹. No score
//     moves by more: on the way to the optimum P falls, so that ‖d‖_A ≤ ‖gradient‖_A⁻¹ up to where the first one would. This bound holds for a
//     free intercept as well.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "core/base/progress.hpp"
#include "core/certificate/check.hpp"
#include "core/certificate/curvature.hpp"
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
    double square = 0, length = 0, k = 0;      ///< ‖(x, B)‖², its root, c a/(λW)
    double gap = 0;                            ///< gap_i
    double rounding = 0;                       ///< of a score
  };
  /// Of one τ: A⁻¹, and by its norm e and the largest row. `upper`: B⁻¹, made when it is asked for.
  struct Curvature {
    double tau = 0, error = 0, largest = 0;
    InverseCurvature inverse, upper;
    std::vector<std::int64_t> moving;  ///< rows of which nothing is assumed, ascending
    bool moves(std::int64_t i) const { return std::binary_search(moving.begin(), moving.end(), i); }
  };
  At at(std::int64_t i) const;
  ScoreInterval in_ball(const At& row) const;
  void ascend(const At& row, double wanted, ScoreInterval& found);
  void make_free_rows();
  bool make_curvature();
  /// h by `of` of a row, its score and its target.
  InverseCurvature inverse(const std::function<double(std::int64_t, double, double)>& of) const;
  void bend(const At& row, double wanted, ScoreInterval& found);
  double squared_length(const Row& x) const;
  double product(const Row& x, const std::vector<double>& v) const;
  void add(double c, const Row& x, std::vector<double>& v) const;

  const Problem& p_;
  std::int32_t output_;
  const Weights& dual_;
  const Progress& progress_;
  double constant_, gap_, unit_;          // unit: 1/(λW)
  std::vector<double> w_, v_, gradient_;  // with the weight of the constant feature; of free ones the intercept
  double apart_ = 0;                      // ‖w − v‖²
  double error_ = 0;                      // of v
  double size_ = 0;                       // ‖w‖ + ‖v‖
  std::vector<std::int64_t> band_;
  std::vector<double> band_length_, moved_;
  bool ball_ = true;  // the intercept is not free
  std::vector<Curvature> curvatures_;
  std::size_t next_level_ = 0;
  std::vector<double> norms_;  // of all rows, by the first A
  bool tried_free_rows_ = false;
  std::vector<std::size_t> free_;  // places in the band
  std::vector<double> free_inverse_;
};

}  // namespace margin
