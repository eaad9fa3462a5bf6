// Which dual values the rows next to the kink of the hinge take when another row is left out. Without row i, whose share k x_i of
// v is gone, they are about the solution of
//   min over θ of ½‖v − k x_i + Σ θ_j x_j‖² − Σ θ_j y_j + (ε/2)‖θ‖²,   θ_j between what takes a_j to the ends of its domain,
// over a band of rows. Independent rows between these ends (basic) have one inverse for all i, (G + ε)⁻¹ of their inner
// products; of a row i that differs by the basic rows that come to an end and by the others that leave theirs, which bordered
// systems of as few rows solve. Such sets are guessed and corrected many at a time (Hintermüller, Ito, Kunisch 2002); ε keeps a guess
// from answering to every small change of them. Nothing here is proven: whatever θ comes out is, within its ends, a dual point, and
// who asks computes its gap.
#pragma once

#include <utility>
#include <vector>

#include "core/base/progress.hpp"
#include "core/data/dataset.hpp"

namespace margin {

class Exchange {
 public:
  /// A row of the band: θ_j is the weight of its features that v gains, from `low` ≤ 0 to `high` ≥ 0; y_j.
  struct Member {
    std::int64_t row;
    double low, high, y;
  };
  /// `v`: in the columns of the rows and one more of the value `constant` where that is not 0. The rows are kept by reference.
  Exchange(const Dataset& data, double constant, std::vector<Member> band, const std::vector<double>& v,
           const Progress& progress);
  /// About the bytes that it takes.
  static double workspace(double columns);

  /// Row i of the data set, k as above.
  void leave_out(std::int64_t i, double k);
  /// The next guess; false where it is the last one, which nothing here can better.
  bool improve();
  /// The guess, within the ends: places in the band, θ.
  const std::vector<std::pair<std::size_t, double>>& moves();
  /// About v of the guess, before it was moved to the ends.
  const std::vector<double>& about() const { return point_; }

  /// Rows of a band that are worth it.
  static std::size_t most_rows(std::size_t columns);

 private:
  enum class State : char { free, low, high };        // of a basic row
  enum class Place : char { out, in, end, ignored };  // of another: θ is 0, anything, or at an end
  struct Other {
    std::size_t place;
    std::vector<double> share, rest;  // (G + ε)⁻¹ of its products with the basic rows; what these leave of it
  };
  void choose_basic();
  void invert();
  double product(const Row& x, const std::vector<double>& v) const;
  void combine(const Row& x, const std::vector<double>& matrix, std::size_t width, std::vector<double>& out) const;
  void know(std::size_t other);
  bool solve(std::vector<double>& matrix, std::vector<double>& right) const;
  bool update_basic(const std::vector<std::size_t>& ended, const std::vector<double>& forces);
  bool update_others();

  const Dataset& data_;
  const Progress& progress_;
  double constant_, ridge_ = 0;
  std::vector<Member> band_;
  const std::vector<double>& v_;
  std::size_t n_, f_ = 0;
  std::vector<std::size_t> basic_;  // places
  std::vector<Other> others_;
  std::vector<double> inverse_;             // f × f
  std::vector<double> images_, by_column_;  // (G + ε)⁻¹ X, f × n; the same by columns
  std::vector<double> projector_;           // 1 − Xᵀ (G + ε)⁻¹ X, n × n
  std::vector<double> first_, first_v_;     // θ and v where no row is left out
  // Of the row at hand.
  std::int64_t row_ = -1;
  std::vector<double> start_, start_v_, theta_, point_;
  std::vector<State> state_;
  std::vector<Place> place_;
  std::vector<double> end_;                              // θ of others at an end
  std::vector<std::pair<std::size_t, double>> entered_;  // others whose θ is not 0
  std::vector<std::pair<std::size_t, double>> moves_;
};

}  // namespace margin
