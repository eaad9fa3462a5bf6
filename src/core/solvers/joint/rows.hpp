// The rows of a problem against the weights of all classes at once. Weights lie in panels of up to 16 classes side by
// side, so that a value of a row meets all classes of a panel as whole vectors; scores and slopes of a row are one line
// of `stride` numbers, zeros beyond the classes.
#pragma once

#include <vector>

#include "core/base/large_array.hpp"
#include "core/data/row_pass.hpp"
#include "core/problem/problem.hpp"
#include "core/solvers/run.hpp"

namespace margin {

class JointRows {
 public:
  JointRows(const Problem& problem, Run& run);

  std::int64_t rows() const { return problem_.rows(); }
  std::int32_t classes() const { return problem_.classes; }
  std::size_t features() const { return static_cast<std::size_t>(problem_.dimensions()); }
  std::size_t columns() const { return features() + (constant_ != 0 ? 1 : 0); }  ///< the last one the intercept's
  double constant() const { return constant_; }                                  ///< its value, 0 without one
  bool free_intercept() const { return problem_.free_intercept; }
  std::size_t stride() const { return stride_; }
  std::size_t size() const { return columns() * stride_; }  ///< numbers of the weights of all classes
  /// Where the weight of a column and a class lies; `j` up to columns() − 1.
  std::size_t at(std::size_t j, std::size_t c) const {
    const std::size_t panel = c / widest;
    return panel * widest * columns() + j * width(panel) + c % widest;
  }
  Row row(std::int64_t i) const { return problem_.data.row(i); }
  double stored() const { return problem_.data.density() * static_cast<double>(features()); }  ///< values of a row
  double cost(std::int64_t i) const { return cost_[static_cast<std::size_t>(i)]; }             ///< c_i/(λW)
  std::int32_t label(std::int64_t i) const { return problem_.label[static_cast<std::size_t>(i)]; }
  double size_of(std::int64_t i) const { return size_[static_cast<std::size_t>(i)]; }  ///< ‖(x_i, B)‖²
  Run& run() const { return run_; }
  Threads& threads() const { return pass_threads(problem_.data, run_.progress()); }
  /// Multiply-adds of a row with all classes, for Chunks.
  double row_work() const { return (stored() + 4) * static_cast<double>(stride_); }
  /// Bytes that the sums of all chunks of a pass take.
  static double sum_bytes(const Problem& problem);
  /// What the sums of a chunk cost, for Chunks: they are zeroed, and read and added once more, from the second cache.
  double partial() const { return cost_of_sum * static_cast<double>(size()); }

  /// u = the scores of row i, `stride` numbers.
  void scores(std::int64_t i, const double* w, double* u) const;
  /// v += x_i gᵀ for g of `stride` numbers.
  void add(std::int64_t i, const double* g, double* v) const;
  /// The same of the listed classes only: out[t] and g[t] belong to classes[t].
  void scores(std::int64_t i, const double* w, const std::int32_t* classes, std::size_t count, double* out) const;
  void add(std::int64_t i, const double* g, const std::int32_t* classes, std::size_t count, double* v) const;
  /// The same, through all classes where that is faster; `scratch`: 2 × stride numbers.
  void scores_of(std::int64_t i, const double* w, const std::int32_t* classes, std::size_t count, double* out,
                 double* scratch) const;
  void add_of(std::int64_t i, const double* g, const std::int32_t* classes, std::size_t count, double* v,
              double* scratch) const;
  /// What either costs, for Progress.
  double cost_of(std::int64_t i, std::size_t count) const {
    return few(count) ? static_cast<double>(count) * (row(i).count + 4.0) : operations(i);
  }
  bool few(std::size_t count) const { return 6 * count < stride_; }  ///< classes that are faster one by one
  /// Of all rows, on threads: s is rows × stride. combine() sums in blocks, so that the rounding of n terms is that of √n.
  void all_scores(const double* w, double* s) const;
  void combine(const double* g, LargeArray& v) const;
  /// What a pass over row i costs, for Progress.
  double operations(std::int64_t i) const { return static_cast<double>(row(i).count * stride_ + 4 * stride_) / 2; }

 private:
  static constexpr std::size_t widest = 16;
  static constexpr double cost_of_sum = 16;

  std::size_t panels() const { return (stride_ + widest - 1) / widest; }
  std::size_t width(std::size_t panel) const { return std::min(widest, stride_ - panel * widest); }

  const Problem& problem_;
  Run& run_;
  double constant_;
  std::size_t stride_;
  std::vector<double> cost_, size_;
};

}  // namespace margin
