// The rows as the second-order solvers see them: the intercept is one more column of the constant intercept_scale,
// never copied; every pass polls.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "core/base/progress.hpp"
#include "core/data/row_pass.hpp"
#include "core/problem/problem.hpp"
#include "core/solvers/run.hpp"

namespace margin {

/// All rows of a problem, or some of them: a sample for a cheap start, the rows that are still undecided.
class NewtonRows {
 public:
  NewtonRows(const Problem& problem, Run& run);
  NewtonRows(const NewtonRows& all, std::vector<std::int64_t> which);

  std::int64_t rows() const { return rows_; }
  /// Features, plus one with an intercept.
  std::size_t columns() const { return features_ + (constant_ != 0 ? 1 : 0); }
  std::size_t features() const { return features_; }
  double constant() const { return constant_; }  ///< value of the intercept's column, 0 without one
  bool free_intercept() const { return free_; }  ///< the last column is not regularised
  /// Columns that are: the first ones.
  std::size_t penalized() const { return columns() - (free_ ? 1 : 0); }
  /// The column of an offset, whose weight is known and not penalised; columns() without one.
  std::size_t held() const { return held_; }
  bool penalizes(std::size_t j) const { return j < penalized() && j != held_; }
  /// Between which ends the weight of a column lies; without bounds, and of an intercept and an offset, infinite ones.
  bool bounded() const { return bounds_ != nullptr; }
  double low(std::size_t j) const { return has_bounds(j) ? bounds_->least(j) : -infinite; }
  double high(std::size_t j) const { return has_bounds(j) ? bounds_->most(j) : infinite; }
  /// What sums of weights are held to; null: nothing.
  const Constraints* constraints() const { return constraints_; }
  /// Whether a whole step is the longest that stays where weights may be.
  bool confined() const { return bounded() || constraints_ != nullptr; }
  /// Into the bounds.
  void clip(std::vector<double>& w) const {
    for (std::size_t j = 0; bounded() && j < features_; ++j) w[j] = std::clamp(w[j], low(j), high(j));
  }
  /// Σ of the most that v w − w²/2 is between the bounds, over the columns that are penalised; without bounds ‖v‖²/2.
  double conjugate_penalty(const double* v) const;
  /// ½‖w‖² − <v, w> plus that, for v = w − r: how far w is from where v has its most, of w between the bounds. 0 or more.
  double penalty_gap(const double* w, const double* r) const;
  /// <v, w> over the columns that are penalised.
  double penalized_product(const double* v, const double* w) const;
  /// Index of row i in the data set.
  std::int64_t source(std::int64_t i) const { return which_.empty() ? i : which_[static_cast<std::size_t>(i)]; }
  Row row(std::int64_t i) const { return data_.row(source(i)); }
  /// These rows as codes, in their order; null: they are stored one by one.
  const CodedRows* codes() const { return codes_.get(); }
  Run& run() const { return run_; }
  /// What passes over the rows run on.
  Threads& threads() const { return pass_threads(data_, run_.progress()); }
  /// About the multiply-adds of a row's product with a vector.
  double row_work() const { return (codes_ != nullptr ? 2 : 1) * stored_numbers(data_) + 8; }
  /// Ask for a row that a pass in ascending order will read soon: chosen rows lie apart, out of the hardware's sight.
  void prefetch_after(std::int64_t i) const {
    if (!which_.empty() && i + ahead < rows_) prefetch(row(i + ahead));
  }

  /// u_i = <x_i, w>, w of columns() elements.
  void scores(const double* w, double* u) const;
  /// v = Σ coefficient_i x_i; rows of coefficient 0 are not read. Summed in blocks, so that the rounding of n terms
  /// is that of √n.
  void combine(const double* coefficient, double* v) const;
  /// The same of the squares of features, of rows as codes.
  void combine_squares(const double* coefficient, double* v) const { sum_codes(coefficient, true, v); }
  /// v += Σ coefficient_i x_i over the listed rows.
  void add(const std::vector<std::int64_t>& which, const std::vector<double>& coefficient, double* v) const;

 private:
  static constexpr std::int64_t ahead = 8;
  static constexpr double infinite = std::numeric_limits<double>::infinity();
  bool has_bounds(std::size_t j) const { return bounds_ != nullptr && j < features_ && j != held_; }

  void sum_codes(const double* coefficient, bool squares, double* v) const;

  const Dataset& data_;
  std::shared_ptr<const CodedRows> codes_;
  Run& run_;
  std::vector<std::int64_t> which_;  // empty: all
  std::int64_t rows_;
  std::size_t features_;
  double constant_;
  bool free_;
  std::size_t held_;
  const Bounds* bounds_;            // null: none
  const Constraints* constraints_;  // null: none
};

}  // namespace margin
