// The kernel matrix of rows as a product of few columns, K/u ≈ F Fᵀ with u = max k(x, x): Cholesky's method with pivots, broken
// off. What is left, K/u − F Fᵀ, is positive semidefinite. Row i of F is φ(x_i); a score <w, φ(x)> is Σ_s β_s k(x, x_s) over the
// pivots s alone, and ‖w‖²/u the square of that function's norm in the kernel's own space.
//
// Pivots are drawn with the probability of what is left of their diagonal, a block at a time, of which a rejection keeps those
// that one by one would have been drawn.
//
// Y. Chen, E. N. Epperly, J. A. Tropp, R. J. Webber, Randomly pivoted Cholesky, CPAM 78 (2025); E. N. Epperly, J. A. Tropp,
// R. J. Webber, Embrace rejection: kernel matrix approximation by accelerated randomly pivoted Cholesky (2024).
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "core/base/matrix.hpp"
#include "core/base/progress.hpp"
#include "core/base/random.hpp"
#include "core/kernel/rows.hpp"

namespace margin {

class LowRankFactor {
 public:
  /// `rows` and `progress` are kept by reference.
  LowRankFactor(const KernelRows& rows, std::uint64_t seed, const Progress& progress);

  /// Draws pivots until there are `rank`, or nothing is left to draw from: then it returns false.
  bool grow(std::size_t rank);
  std::size_t rank() const { return pivots_.size(); }
  const std::vector<std::int64_t>& pivots() const { return pivots_; }
  /// φ(x_i), rank() numbers.
  void row(std::size_t i, float* out) const;
  double unit() const { return unit_; }
  /// Coefficients β of the pivots' kernel values for weights of φ.
  Eigen::VectorXd of_pivots(const Eigen::VectorXd& weights) const;
  /// Bytes of a row for each column.
  static constexpr double bytes_per_value = 4;

 private:
  /// Some columns of F, tile after tile of rows.
  struct Panel {
    std::size_t width;
    std::vector<float, LargeAllocator<float>> tiles;
  };
  /// New pivots.
  struct Block {
    std::vector<std::size_t> pivots;
    std::vector<KernelPoint> points;
    std::vector<double> factor;  // their rows of F
    Weights inverse;             // L⁻¹ of what is left among them
  };
  std::vector<std::size_t> draw();
  void add(const std::vector<std::size_t>& candidates);
  std::vector<std::size_t> accepted(const Eigen::MatrixXd& left);
  Block block_of(const std::vector<std::size_t>& pivots, const Eigen::MatrixXd& inverse) const;
  void fill(Panel& panel, const std::vector<std::size_t>& pivots, const Eigen::MatrixXd& inverse);
  void products_before(const Block& block, std::size_t first, std::vector<double>& tile,
                       std::vector<double>& products) const;
  void finish(const Block& block, Panel& panel, std::size_t first, std::size_t count, const std::vector<double>& tile,
              std::vector<double>& products);
  Eigen::MatrixXd left_among(const std::vector<std::size_t>& rows) const;

  const KernelRows& rows_;
  const Progress& progress_;
  Random random_;
  double unit_ = 0;           // u
  std::vector<double> left_;  // of the diagonal
  std::vector<std::int64_t> pivots_;
  std::vector<Panel> panels_;
};

}  // namespace margin
