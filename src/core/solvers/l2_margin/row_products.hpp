// Vectors that are combinations of rows, where rows have many more features than there are rows: known by their
// coefficients and by their products with all rows, two numbers for each row instead of one for each feature.
//
// Sums of such vectors, and their multiples, are those of these numbers; ‖u‖² is coefficients · products; adding a row
// adds its products with all rows, which are computed once, when the row is first added: a step of a first-order method
// then costs as many multiply-adds as there are pairs of rows instead of twice as many as there are features.
#pragma once

#include <vector>

#include "core/base/large_array.hpp"
#include "core/base/matrix.hpp"
#include "core/base/progress.hpp"
#include "core/problem/problem.hpp"

namespace margin {

class RowProducts {
 public:
  /// Of the rows scale · y x of a problem of two classes, and of other vectors (1 × features), to start from.
  RowProducts(const Problem& problem, double scale, std::vector<Weights> others, const Progress& progress);

  /// Whether products take so few bytes that passes over them are cheap next to passes over the rows.
  static bool worthwhile(const Problem& problem);
  static double bytes(const Problem& problem);

  /// The k-th of the other vectors. A vector of the span is a matrix of one row: its coefficients, of all rows and then of
  /// the others, and its products with the same.
  Weights other(std::size_t k) const;
  Weights zero() const { return Weights::Zero(1, 2 * size_); }
  /// u += a[r] · row r for all rows in turn; a[r] = 0 adds nothing.
  void add(const std::vector<std::int64_t>& rows, const std::vector<double>& a, Weights& u, const Progress& progress);
  /// Products anew from the coefficients: what rounding has added up to is gone.
  void renew(Weights& u, const Progress& progress);
  /// Its product with a row.
  double product(const Weights& u, std::int64_t row) const { return u(0, size_ + row); }
  double norm(const Weights& u) const;
  /// The vector itself, 1 × features.
  Weights features(const Weights& u, const Progress& progress) const;

 private:
  /// The products of these rows with everything, where they are not yet known.
  void multiply(const std::vector<std::int64_t>& rows, const Progress& progress);
  void multiply_block(const std::int64_t* rows, std::size_t count, const std::vector<std::int64_t>& against,
                      const Progress& progress);
  double sign(std::int64_t row) const { return problem_.label[static_cast<std::size_t>(row)] == 1 ? scale_ : -scale_; }
  std::vector<double>& products_of(std::int64_t row) { return products_[static_cast<std::size_t>(row)]; }

  const Problem& problem_;
  double scale_;
  std::vector<Weights> others_;
  Eigen::Index size_;                          // rows and others
  std::vector<std::vector<double>> products_;  // of rows and others; empty: not known yet
};

}  // namespace margin
