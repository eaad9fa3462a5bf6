// Bounds of what columns sum a vector up to, from sums of vectors before it. Along a path most of the sums only tell that a
// weight stays 0, and there a bound does.
//
// Of a vector a, vectors a_k whose sums v_k are all known, and any numbers s_k: e = a − Σ s_k a_k. Of column j, for any m_j,
//   <a, x_j> = Σ s_k <a_k, x_j> + m_j Σ e + <e, x_j − m_j>,   the last at most ‖e‖ ‖x_j − m_j‖ (Cauchy–Schwarz).
// The s_k are those of the shortest e, and m_j is the mean of the column. Between two points of a path a moves nearly along a
// line: with two vectors behind it e is far shorter than the way from either.
//
// Vectors that are balanced stand for ones near by that sum up to 0 (certificate/risk.hpp): each number is off by a share of its
// size at most. Their e sums up to 0 as well, and m_j leaves only how far a column spreads.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "core/base/progress.hpp"
#include "core/data/columns.hpp"
#include "core/math/rounding.hpp"

namespace margin {

/// v_j = <a, x_j>/W. Bounds are proofs, with all rounding.
class ColumnBounds {
 public:
  /// Of `features` columns of `rows` numbers.
  ColumnBounds(const Columns& columns, std::size_t rows, std::size_t features, double total, bool balanced,
               const Progress& progress);
  static double bytes(double rows, double features) {
    return 8 * (2.0 * kept_most * rows + (kept_most + 3) * features);
  }

  /// Sums of a that are all known, off by `error` · sizes_j + `lost` at most. The first call says what the sizes are.
  struct Sums {
    const std::vector<double>& a;
    double excess;  ///< the share that a balanced vector is off by
    const std::vector<double>& v;
    double error, lost;
  };
  void keep(const Sums& sums, const std::vector<double>& sizes);
  bool empty() const { return kept_.empty(); }

  /// How a vector is made of those that are kept.
  struct Mix {
    double shares[2] = {};
    double rest = 0, rest_error = 0;  ///< Σ e/W
    double distance = 0;              ///< ≥ ‖e‖/W
    double error = 0, lost = 0;       ///< what all sums err by, of their sizes
  };
  Mix nearest(const std::vector<double>& a, double excess) const;
  /// v_j of every column is within radius_j of centre_j. What is no number proves nothing.
  void bound(const Mix& mix, std::vector<double>& centre, std::vector<double>& radius) const;
  /// ≥ ‖x_j‖
  double length(std::size_t j) const {
    return (lengths_[j] + root_of_rows_ * std::fabs(means_[j])) * (1 + 8 * epsilon);
  }

 private:
  static constexpr std::size_t kept_most = 2;
  struct Kept {
    std::vector<double> a, v;
    double excess, length, error, lost;  // length: ≥ ‖a‖
  };
  void measure(const Columns& columns, std::size_t j);
  double length_of(const std::vector<double>& a) const;

  double total_, rows_, root_of_rows_;
  bool balanced_;
  std::vector<double> means_, lengths_, sizes_;  // of columns: m_j, ≥ ‖x_j − m_j‖, what errors of sums are shares of
  std::vector<Kept> kept_;                       // the last one first
};

}  // namespace margin
