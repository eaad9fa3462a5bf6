// Which dual values the rows next to the kink of the hinge take when another row is left out. Without row i, whose share k x_i of
// v is gone, they are about the solution of
//   min over θ of ½‖v − T x_i + Σ θ_j x_j‖² − Σ θ_j y_j + (ε/2)‖θ‖²,   θ_j between what takes a_j to the ends of its domain,
// over a band of rows, for T = k. What is sought is not that, but the dual point whose ball has the best end (consequences/left_out/left_out.cpp):
// about this with more than k. Independent rows between their ends (basic) have one inverse for all i, (G + ε)⁻¹ of their inner
// products. By that, basic rows have a θ and others a score for every i, which differ by the basic rows that come to an
// end and the others that leave theirs: each adds a column of as many numbers as the band has rows, as much of it as
// bordered systems of as few rows say. Such sets are guessed and corrected many at a time (Hintermüller, Ito, Kunisch 2002); ε keeps
// a guess from answering to every small change of them. Nothing here is proven: whatever θ comes out is, within its ends, a
// dual point, and who asks computes its gap.
#pragma once

#include <utility>
#include <vector>

#include "core/base/progress.hpp"
#include "core/data/dataset.hpp"
#include "core/math/bordered_factor.hpp"
#include "core/simd/add_rows.hpp"

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

  /// Row i of the data set; k and T − k as above.
  void leave_out(std::int64_t i, double k, double beyond);
  /// The next guess; false where it is the last one, which nothing here can better.
  bool improve();
  /// The guess, within the ends: places in the band, θ.
  const std::vector<std::pair<std::size_t, double>>& moves();
  /// About the ball of that dual point: by how much twice its centre's score is below that of v and w, taken to be
  /// the same, and its radius².
  struct Look {
    double fall, square;
  };
  Look look();

  /// Rows of a band that are worth it where so many are between their ends, of which no more than columns count.
  static std::size_t most_rows(std::size_t between);

 private:
  enum class State : char { free, low, high, out, in, ignored };  // of others: out is θ = 0, in is any
  void choose_basic(const std::vector<double>& v);
  bool build();
  double product(const Row& x, const std::vector<double>& v) const;
  void combine(const Row& x, const std::vector<double>& matrix, std::vector<double>& out);
  void take(double factor, const std::vector<double>& matrix, std::size_t row);
  void add_taken(std::vector<double>& to);
  void set_state(std::size_t position, State state);
  bool solve();
  bool update();
  const Member& at(std::size_t position) const { return band_[order_[position]]; }
  double end_of(std::size_t position) const;

  const Dataset& data_;
  const Progress& progress_;
  const AddRows add_rows_ = add_rows_of(simd());
  double constant_, ridge_ = 0;
  std::vector<Member> band_;
  // Positions: the basic rows, then the others; of arrays the lines are a little longer.
  std::size_t n_, f_ = 0, m_ = 0, stride_ = 0;
  std::vector<std::size_t> order_;                            // places in the band
  std::vector<std::pair<std::int64_t, std::size_t>> by_row_;  // positions
  std::vector<double> y_, low_, high_, by_v_, excess_;        // by_v: score by v; excess: less y
  std::vector<double> above_at_first_, below_at_first_;       // what θ and scores may not exceed, negated
  std::vector<double> curvature_, negligible_;                // of gains: what they are divided by; too small
  std::vector<double> products_;                              // m × m, of the rows
  std::vector<double> effects_;                               // m × m: a column of θ and scores for each row
  std::vector<double> columns_;                               // n × m: values of the rows
  std::vector<double> starts_;  // n × m: what a value of the row left out adds to θ and scores
  std::vector<double> first_;   // θ and scores where no row is left out
  // Of the row at hand.
  std::int64_t row_ = -1;
  double k_ = 0, beyond_ = 0, square_ = 0;
  std::vector<double> own_, start_, now_;     // products with the band; θ and scores
  std::vector<double> theta_, force_;         // of all; of basic rows at an end
  std::vector<double> above_, below_, gain_;  // squared excesses
  std::vector<State> state_;
  std::vector<std::size_t> border_, stopped_, stopping_, moving_;  // moving: others whose θ is not 0
  std::size_t kept_ = 0;  // lines of the border that are those of the guess before
  BorderedFactor factor_;
  std::vector<double> right_, factors_;
  std::vector<const double*> terms_;
  std::vector<std::pair<double, std::size_t>> ending_, entering_;
  std::vector<std::pair<std::size_t, double>> moves_, clipped_;
};

}  // namespace margin
