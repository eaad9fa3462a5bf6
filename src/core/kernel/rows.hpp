// Rows laid out for evaluating a kernel on many of them at once: dense rows in tiles of tile_rows, feature after
// feature, so that a column of kernel values streams through vectors; sparse rows as they are. Each with its summary.
#pragma once

#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "core/base/large_array.hpp"
#include "core/base/progress.hpp"
#include "core/kernel/kernel.hpp"
#include "core/simd/loops.hpp"

namespace margin {

/// Rows whose kernel values are computed between two polls.
constexpr std::size_t rows_of_poll = 256 * tile_rows;

/// How rows are kept. `sparse` takes a point of the declared dimensions to be multiplied with, for as many KernelRows
/// as there are; `compact` one of the features that its own rows have: for wide rows, and for models, whose dimensions
/// are only a claim.
enum class Layout { floats, doubles, sparse, compact };

/// One row as the left factor of kernel values.
struct KernelPoint {
  std::vector<double> dense;  ///< all features, or those that compact rows have
  std::vector<double> summary;
  std::vector<std::int32_t> touched;   ///< what to clear before the next row
  std::vector<std::int32_t> features;  ///< of sparse rows: the features that are not 0, and their values
  std::vector<double> values;
  bool all = false;  ///< everything is to be cleared
};

class KernelRows {
 public:
  KernelRows(std::shared_ptr<const KernelFunction> kernel, std::int32_t dimensions, Layout layout);

  /// Room for so many rows, with so many values when sparse.
  void reserve(std::size_t rows, double values);
  /// Copies the row; Layout::floats only for rows whose values are floats. Throws Error(wrong_dimensions) for a row
  /// that reaches beyond the dimensions.
  /// `progress` hears of that: a summary may cost a pass over hidden units.
  void append(const Row& x, const Progress& progress = {});

  const KernelFunction& kernel() const { return *kernel_; }
  const std::shared_ptr<const KernelFunction>& shared_kernel() const { return kernel_; }
  Layout layout() const { return layout_; }
  std::int32_t dimensions() const { return static_cast<std::int32_t>(d_); }
  std::size_t size() const { return size_; }
  const double* summary(std::size_t i) const { return summaries_.data() + i * kernel_->summary_size(); }
  /// k(x_i, x_i)
  double diagonal(std::size_t i) const { return kernel_->diagonal(summary(i)); }

  /// A row as a point; `point` is reused from call to call, `progress` hears of it. That of compact rows fits these rows
  /// only, as they are now.
  void set(KernelPoint& point, const Row& x, const Progress& progress = {}) const;
  void set(KernelPoint& point, std::size_t i) const;
  /// values[p][k − from] = k(point p, x_k) for from ≤ k < to; `from` a multiple of tile_rows. `errors` (null: not
  /// wanted) bounds their rounding, in the same shape.
  void evaluate(const std::vector<const KernelPoint*>& points, std::size_t from, std::size_t to, double* const* values,
                double* const* errors = nullptr) const;
  /// Multiply-adds of one kernel value.
  double operations() const;
  /// A sparse row, or the features of a dense one in `scratch` (dimensions long).
  Row row(std::size_t i, std::vector<double>& scratch) const;

  /// The layout for the rows of a data set, and for a share of non-zeros: dense unless they are few.
  static Layout layout_for(const Dataset& rows);
  static Layout layout_for(double density);
  /// Bytes held now.
  double bytes() const;
  /// Bytes for all rows of a data set.
  static double bytes(const Dataset& rows, const KernelFunction& kernel);

 private:
  bool is_sparse() const { return layout_ == Layout::sparse || layout_ == Layout::compact; }
  Row sparse_row(std::size_t i) const;
  /// Of compact rows: with the places of its features in a point instead of the features.
  Row placed_row(std::size_t i) const;
  void set_places(KernelPoint& point, const Row& x) const;
  double squared_distance(const KernelPoint& point, std::size_t i) const;  // sparse rows
  /// Kernel values from distances, for the rows that need them.
  void refine(const KernelPoint& point, std::size_t from, std::size_t to, double* values, double* errors) const;
  void inner_products(const std::vector<const KernelPoint*>& points, std::size_t from, std::size_t to,
                      double* const* values) const;

  std::shared_ptr<const KernelFunction> kernel_;
  std::size_t d_, size_ = 0;
  Layout layout_;
  std::vector<float, LargeAllocator<float>> floats_;  // tiles
  LargeArray doubles_;                                // tiles, or the values of sparse rows
  std::vector<std::int32_t> columns_;
  std::vector<std::size_t> starts_;
  std::unordered_map<std::int32_t, std::int32_t> place_of_;  // of a feature in the points of compact rows
  std::vector<std::int32_t> places_;                         // of columns_
  std::vector<double> summaries_;
  std::int32_t longest_ = 0;   // most values of a sparse row
  double longest_square_ = 0;  // largest ‖x‖²
};

/// All rows of a data set.
KernelRows kernel_rows(const Dataset& rows, std::shared_ptr<const KernelFunction> kernel, const Progress& progress);

/// max_i k(x_i, x_i); 0 for no rows.
double largest_diagonal(const KernelRows& rows);

/// The bound on the rounding of a kernel value, for the longest row and some others.
double largest_value_error(const KernelRows& rows);

}  // namespace margin
