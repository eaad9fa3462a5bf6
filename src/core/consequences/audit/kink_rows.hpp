// The rows of an audit whose dual value the score does not tell: those nearest to a kink of a piecewise linear loss. The
// optimum has any number between the slopes there, chosen for all of these rows together. So a bounded number of them is
// kept, in any order of the rows the same ones, until their dual values can be chosen by coordinate ascent.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/base/progress.hpp"
#include "core/data/nonzeros.hpp"

namespace margin {

class KinkRows {
 public:
  /// One of them: its weight in the loss, outcome, the dual value that sums of all rows have of it, ‖x‖, how far its
  /// score, in units of ‖x‖, is from the kink.
  struct Kept {
    double away, weight, outcome, dual, norm;
    std::size_t begin;
    std::int32_t count;
  };

  /// At most that many rows with that many values other than 0; 0: none.
  KinkRows(std::size_t most_rows, std::size_t most_values) : most_rows_(most_rows), most_values_(most_values) {}

  /// Whether a row so far away could be among them.
  bool wants(double away) const { return away <= limit_.away && most_rows_ > 0; }
  void add(const Row& x, const Kept& row);

  /// The nearest ones, by distance.
  const std::vector<Kept>& rows() const;
  /// The values of a kept row other than 0, with their columns, which need not rise.
  Row values(const Kept& row) const {
    return sparse_row(indices_.data() + row.begin, values_.data() + row.begin, row.count, 0);
  }

  double bytes() const { return 12.0 * static_cast<double>(values_.capacity()); }
  /// As plain numbers. merge() is false, and nothing is changed, where they are not from `from` to `end` of such a form;
  /// `columns`: the place of each of the other's columns here, null: the same, less than `dimensions`.
  void write(std::vector<double>& out) const;
  bool merge(const double* from, const double* end, const std::vector<std::int32_t>* columns, std::int32_t dimensions);

 private:
  void trim() const;

  std::size_t most_rows_, most_values_;
  NonZeros nonzeros_;
  mutable Kept limit_{1e300, 0, 0, 0, 0, 0, 0};  ///< the nearest of those that did not fit
  mutable bool trimmed_ = true;
  mutable std::vector<Kept> rows_;
  mutable std::vector<double> values_;
  mutable std::vector<std::int32_t> indices_;
};

}  // namespace margin
