// The few rows that carry a hard margin, with their inner products. A pair (row, rival) stands for the vector
// z = (e_class − e_rival) ⊗ x (two classes: ± x), which is never formed.
#pragma once

#include <Eigen/Core>
#include <array>
#include <cstddef>
#include <functional>
#include <limits>
#include <memory_resource>
#include <unordered_map>
#include <vector>

#include "core/data/kept_rows.hpp"
#include "core/solvers/margin_scan.hpp"

namespace margin {

/// Pairs and the Gram matrix of their distinct rows, in units where `scale` · x has norm ≤ 1.
class WorkingSet {
 public:
  WorkingSet(const Problem& problem, double scale);
  WorkingSet(const WorkingSet&) = delete;  // the maps have their memory in it
  WorkingSet& operator=(const WorkingSet&) = delete;

  Eigen::Index size() const { return static_cast<Eigen::Index>(pairs_.size()); }
  const Pair& pair(Eigen::Index j) const { return pairs_[static_cast<std::size_t>(j)]; }
  Eigen::Index distinct_rows() const { return static_cast<Eigen::Index>(rows_.size()); }
  /// Adds the pairs that are not there, as long as their rows are at most `most_rows`; false when there were none. The
  /// inner products with their rows are computed now, on the threads of `progress`.
  bool add(const std::vector<Pair>& pairs, Eigen::Index most_rows, const Progress& progress = {});
  bool add(const Pair& pair, const Progress& progress = {}) {
    return add(std::vector<Pair>{pair}, std::numeric_limits<Eigen::Index>::max(), progress);
  }

  /// <z_i, z_j>
  double gram(Eigen::Index i, Eigen::Index j) const;
  /// <z_j, w> for all pairs j, where w = Σ_{i in members} weight_i z_i.
  Eigen::VectorXd products(const std::vector<Eigen::Index>& members, const Eigen::VectorXd& weights,
                           const Progress& progress = {}) const;
  /// w = Σ weight_i scale · z_i as outputs × d, summed from the rows in double.
  Weights combine(const std::vector<Eigen::Index>& members, const Eigen::VectorXd& weights) const;
  /// The same in twice the working precision, rounded once at the end: for hulls so close to 0 that the rounding of a
  /// plain sum, ε R, would be visible next to ‖w‖²/R.
  Weights combine_exactly(const std::vector<Eigen::Index>& members, const Eigen::VectorXd& weights) const;
  /// scale · z_j as a vector of outputs × d entries.
  Eigen::VectorXd expand(Eigen::Index j) const;
  /// <z_j, w> from the rows themselves: exact to rounding where the Gram matrix has lost digits.
  double product(Eigen::Index j, const Weights& w) const;

 private:
  /// Contribution of pair p to output o: +1 own class, −1 rival (binary: the sign on the one output).
  double coefficient(const Pair& p, std::int32_t o) const {
    if (outputs_ == 1) return p.own == 1 ? 1.0 : -1.0;
    return o == p.own ? 1.0 : (o == p.rival ? -1.0 : 0.0);
  }
  const Row& row_of(Eigen::Index j) const {
    return rows_[static_cast<std::size_t>(slot_[static_cast<std::size_t>(j)])];
  }
  std::int32_t intern_row(std::int64_t row);
  void multiply_from(Eigen::Index first, const Progress& progress);
  void grow(Eigen::Index capacity, const Progress& progress);

  const Problem& problem_;
  double scale_;
  std::int32_t outputs_;
  std::vector<Pair> pairs_;
  std::vector<std::int32_t> slot_;  // pair -> distinct row
  KeptRows rows_;                   // the distinct rows
  // Of the maps, which only grow: those of a small group ask for no memory.
  std::array<std::byte, 8192> first_nodes_;
  std::pmr::monotonic_buffer_resource nodes_{first_nodes_.data(), first_nodes_.size()};
  std::pmr::unordered_map<std::int64_t, std::int32_t> slot_of_row_{&nodes_};
  std::pmr::unordered_map<std::int64_t, Eigen::Index> index_of_pair_{&nodes_};
  mutable std::vector<double> scores_;  // of products(): of many classes its pages take longer than the sums
  Eigen::MatrixXd inner_;               // inner products of distinct rows, full and column-major
};

}  // namespace margin
