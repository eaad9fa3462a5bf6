// The matrix of a second-order expansion over a working set of features, which changes a little from step to step.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/progress.hpp"
#include "core/data/columns.hpp"
#include "core/math/symmetric_matrix.hpp"
#include "core/problem/problem.hpp"

namespace margin {

/// H = Σ_i h_i x_i x_iᵀ over the features of a set, ascending, and the intercept's column where there is one.
class WorkingMatrix {
 public:
  /// `constant`: the value of the intercept's column. `problem`, its rows by columns and `progress` are kept by reference.
  WorkingMatrix(const Problem& problem, const Columns& columns, double constant, const Progress& progress);
  static double bytes(const Problem& problem, double features);

  /// Of other curvatures h: all sums anew.
  void fill(const std::vector<std::size_t>& set, const std::vector<double>& h);
  /// Of all features, row by row; an offset, whose weight nothing moves, stands apart.
  void fill_rows(const std::vector<double>& h);
  /// Of another set and the same h: only sums with features that the set did not have are made.
  void change(const std::vector<std::size_t>& set, const std::vector<double>& h);

  std::size_t size() const { return sum_.size(); }
  /// Row-major, both triangles.
  const double* values() const { return sum_.row(0); }
  std::size_t stride() const { return sum_.stride(); }

 private:
  std::size_t size_of(std::size_t features) const { return features + (problem_.intercept ? 1 : 0); }
  Row column(std::size_t j) const { return columns_.column(static_cast<std::int32_t>(j)); }
  void fill_sparse(const std::vector<double>& h);
  void mirror();
  void keep(const std::vector<std::size_t>& set);
  void add_row(std::size_t at, const std::vector<double>& h);
  void add_sparse_row(const Row& x, const std::vector<double>& h, double* to);

  const Problem& problem_;
  const Columns& columns_;
  const Progress& progress_;
  double constant_;
  std::vector<std::size_t> set_;
  SymmetricMatrix sum_{0}, next_{0};
  std::vector<std::size_t> arrived_;  // places of features that the last set did not have
  struct Run {
    std::size_t from, to, count;
  };
  std::vector<Run> runs_;                       // of places that stay together: where they were, where they are
  std::vector<std::int32_t> place_;             // of each feature, or −1; all −1 between two calls
  std::vector<double> weighted_;                // h_i x_ij of a column
  std::vector<std::size_t> end_, next_of_row_;  // rows of the set's columns, while they are summed
  std::vector<std::int32_t> indices_;
  std::vector<double> entries_;
};

}  // namespace margin
