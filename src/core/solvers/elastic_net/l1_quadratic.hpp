// A quadratic function with an l1 norm, as proximal Newton's method has one for each step:
//   min over z of  <g, z − w> + ½ (z − w)ᵀH (z − w) + Σ_j l1_j |z_j| + l2_j/2 z_j²,  low_j ≤ z_j ≤ high_j.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/progress.hpp"
#include "core/data/row.hpp"
#include "core/math/symmetric_matrix.hpp"

namespace margin {

/// One coordinate: its weight, the gradient of the quadratic part at the start, its penalty.
struct L1Coordinates {
  std::vector<double> z;  ///< start and result
  std::vector<double> g;  ///< at the start; with a matrix, at the result
  std::vector<double> l1, l2;
  std::vector<double> low, high;  ///< empty: no coordinate has bounds. The start is between them.
  std::size_t size() const { return z.size(); }
};

/// Newton's steps on the coordinates that are at no kink; its memory serves one solve after another.
class FaceSteps {
 public:
  /// Another matrix or l2 follows.
  void begin() { factored_.clear(); }
  /// The same ones follow in other places: that of each coordinate, or −1 where it is gone.
  void renumber(const std::vector<std::int32_t>& places, const Progress& progress);
  /// False at the minimum of the face, and where the matrix says too little; else a coordinate came to its end.
  bool step(L1Coordinates& at, const double* h, std::size_t stride, const Progress& progress);

 private:
  bool point(const L1Coordinates& at, const double* h, std::size_t stride, const Progress& progress);
  bool factor(const L1Coordinates& at, const double* h, std::size_t stride, const Progress& progress);
  bool follow(const L1Coordinates& at, const double* h, std::size_t stride, const Progress& progress);
  bool append(std::size_t j, const L1Coordinates& at, const double* h, std::size_t stride);

  std::vector<std::size_t> members_;
  std::vector<std::size_t> factored_;  // those that the factor is of; empty: of a matrix that was changed for it
  std::vector<char> mark_;
  std::vector<double> direction_;
  SymmetricMatrix matrix_{0};
};

/// Coordinate descent on a matrix (row-major, both triangles, `stride` numbers a row), and from time to time Newton's
/// step on the coordinates that are not 0, as far as none changes its sign: where columns are nearly dependent, descent
/// alone would take thousands of rounds. Until the decrease left is about `enough`. `face`: after begin() or renumber().
void solve_with_matrix(L1Coordinates& at, const double* h, std::size_t stride, double enough, FaceSteps& face,
                       const Progress& progress);
void solve_with_matrix(L1Coordinates& at, const double* h, std::size_t stride, double enough, const Progress& progress);

/// The same by columns, without a matrix: H = Σ_i h_i x_i x_iᵀ. `columns`: of the coordinates; one without values is all
/// `constant`.
void solve_with_columns(L1Coordinates& at, const std::vector<Row>& columns, const std::vector<double>& h,
                        double constant, double enough, const Progress& progress);

}  // namespace margin
