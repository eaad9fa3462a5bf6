// The certificate of a regularised risk (certificate/risk.hpp) where most weights are 0: the models along a path, whose rows
// would take longer to read again one by one than to solve for. It has the rows by columns, and scores, losses and sums of
// its own at the vectors that it is given: nothing of it is a solver's.
//
// Columns that need no sum. Where a bound of |v_j| does not pass what the penalty holds, λ ρ f_j, the term of column j is 0 and the
// lasso's constraint is met, whatever v_j is exactly. So the sums of dual vectors that were certified before save most of those
// of a (data/column_bounds.hpp). Bounds of weights that let no weight of 0 ask for all sums.
//
// Rounding, by columns. A sum over rows of c a x_j errs by ulps of Σ c|a||x_j|, which is at most Σ c|a|‖x‖ and, by
// Cauchy–Schwarz, W √(Σ c a²/W) √(Σ c x_j²/W), the last of ColumnSizes. Of a column of numbers as small as 1 beside one of times
// in milliseconds, 1.7e12, only the second is small. The same holds of scores, whose terms are |w_j||x_j|.
// Beside a free intercept Σ c a = 0, so that v_j = Σ c a (x_j − o_j)/W for any o_j: sums of columns that lie far from 0 are taken
// from there, and err by ulps of how far they spread.
#pragma once

#include <algorithm>
#include <vector>

#include "core/base/progress.hpp"
#include "core/certificate/certificate.hpp"
#include "core/certificate/column_sizes.hpp"
#include "core/data/column_bounds.hpp"
#include "core/data/columns.hpp"
#include "core/math/rounding.hpp"
#include "core/problem/problem.hpp"

namespace margin {

/// Of a problem with one output and a smooth loss; its lambda is not read.
class ColumnCheck {
 public:
  /// `problem` is kept by reference. Its rows are read here, once.
  ColumnCheck(const Problem& problem, const Progress& progress);
  /// Beside the columns.
  static double bytes(const Problem& problem);

  /// Of weights w (a number per feature) and an intercept. The dual vector is t (−φ') of the scores with the intercept b, from
  /// which the model's differs by rounding at most; t is 1, or what the lasso's constraint asks for.
  Certificate certificate(const std::vector<double>& w, double b, double intercept, double lambda);

  /// Σ c a x/W at the vectors of the last certificate, without bounds on its rounding.
  std::vector<double> image() const;

  /// The rows by columns: for whoever has vectors to find.
  const Columns& columns() const { return columns_; }

 private:
  /// What the rows say at the vectors: sums of c φ(u), c a, c |a|, c |a| ‖x‖, c |a| (|u| + |y|), c a²/W.
  struct Sums {
    double loss = 0, balance = 0, size = 0, mass = 0, spread = 0, squares = 0;
  };
  /// ≥ Σ c|a|‖x‖/W, and ≥ √(Σ c a²/W).
  struct Masses {
    double by_rows = 0, root = 0;
  };
  /// Σ c (−φ*(−t a)), and the sizes of its terms.
  struct Conjugate {
    double value = 0, size = 0;
  };
  void score(const std::vector<double>& w, double b);
  Sums evaluate(Certificate& out);
  Conjugate conjugate(double scale) const;
  static Masses masses(const Sums& at, double total);
  void centre(std::size_t j);
  /// Column j as sums of it are taken.
  Row summed(std::size_t j);
  /// ≥ Σ c|a||x_j − o_j|/W
  double mass(const Masses& of, std::size_t j) const { return std::min(of.by_rows, of.root * roots_[j]); }
  /// What v_j errs by: its rounding, and what a free intercept takes of a, a share of `excess`.
  double off(const Masses& of, double excess, std::size_t j) const {
    return (ulps_[j] + excess * (1 + 64 * epsilon)) * mass(of, j) + lost_;
  }
  void find_needed(double lambda, const Masses& of, double excess);
  void sum_known();
  void combine(double lambda, const Masses& of, double excess);
  double dual(const Sums& at, double lambda);
  /// The part of v_j that bounds let pull its weight from 0; |v| of one that may not be 0.
  double held_part(double v, std::size_t j) const {
    const Bounds& b = problem_.bounds;
    return b.empty() || !b.holds(0, j) ? std::fabs(v) : v > 0 ? (b.most(j) > 0 ? v : 0.0) : (b.least(j) < 0 ? -v : 0.0);
  }
  /// A side on which nothing but the l1 norm holds the weight, where v pulls it.
  bool endless(double v, std::size_t j) const {
    return v > 0 ? problem_.bounds.most(j) == infinity : problem_.bounds.least(j) == -infinity;
  }
  /// ≤ T_j(v') of every v' within `off` of v (certificate/risk.hpp).
  double term_between(double v, double off, std::size_t j, double lambda) const;
  double held(double lambda) const;  // what the l1 norm holds of v_j, for a factor of 1, rounded down
  bool penalizes(std::size_t j) const { return static_cast<std::int32_t>(j) != problem_.offset; }

  const Problem& problem_;
  const Progress& progress_;
  Columns columns_;
  ColumnSizes sizes_;
  double constant_;                           // the value of the intercept's column: 1 where it is free, 0 without one
  std::vector<double> norms_;                 // of the rows
  std::vector<double> roots_;                 // of the columns as they are summed: √(Σ c (x − o)²/W)
  std::vector<double> origin_;                // o of those that lie far from 0, 0 of the others
  std::vector<double> centred_;               // x − o of the column at hand
  double squares_ = 0, weight_ = 0;           // Σ c ‖x‖², Σ c
  std::vector<double> cost_, y_;              // of the rows
  std::vector<double> u_, slope_, weighted_;  // at the vectors: scores, φ', c a
  std::vector<double> ulps_, factors_;   // what sums of columns err by, as a share; their factors, −1: always needed
  double lost_ = 0;                      // by vanished products
  std::vector<double> v_;                // the sums of columns, where they are known
  std::vector<std::int32_t> known_;      // of the last point
  std::vector<double> centre_, radius_;  // bounds of all sums of the last point
  bool alike_ = true;                    // one penalty for all features, and no bounds of weights
  ColumnBounds bounds_;                  // by the sums of points that were certified before
  double most_ulps_ = 0;                 // of ulps_
  std::size_t spent_ = 0;                // sums that were made since
};

}  // namespace margin
