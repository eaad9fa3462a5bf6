// One output of smo (solvers/kernel/smo.cpp): its dual, solved on a growing working set of variables, with the scores
// of all rows.
#pragma once

#include <limits>

#include "core/kernel/column_cache.hpp"
#include "core/problem/problem.hpp"
#include "core/solvers/kernel/smo_variables.hpp"
#include "core/solvers/kernel/smo_working_set.hpp"
#include "core/solvers/run.hpp"

namespace margin {

/// The dual of one output, solved on a growing working set.
class SmoOutput {
 public:
  static constexpr std::size_t first_pool = 256;  ///< variables that the working set starts with
  SmoOutput(const Problem& problem, std::int32_t output, const KernelRows& rows, KernelColumns& columns,
            std::size_t largest_pool, Run& run);

  struct Interval {
    double lower = 0, upper = std::numeric_limits<double>::infinity();  // of the margin, or dual and primal value
    double relative = std::numeric_limits<double>::infinity();
    bool inseparable = false;
  };
  /// One round; false when nothing is left to improve.
  bool advance(double tolerance);
  const Interval& interval() const { return interval_; }
  /// Of each row.
  std::vector<double> weights() const;
  double intercept() const { return intercept_; }
  /// Factor of weights and intercept that makes the primal value least.
  double scale() const { return scale_; }
  double squared_norm() const { return squared_norm_; }

 private:
  double error(std::size_t v) const {
    return variables_.target[v] - score_[static_cast<std::size_t>(variables_.row[v])];
  }
  double high(std::size_t v) const { return variables_.high[v]; }
  double low(std::size_t v) const { return variables_.low[v]; }
  void start_from_some_of_each_class();
  void start_with_sum();
  std::vector<double> weights_of_a_sample();
  void enter(const std::vector<std::int64_t>& variables);
  void make_room(std::size_t newcomers);
  bool pool_is_inseparable() const;
  void collect_changes();
  void add_columns(std::vector<std::pair<std::int64_t, double>> moved);
  void measure();
  void measure_hard(double mass, double least_positive, double least_negative);
  void measure_soft(double mass, double linear);
  void best_soft_intercept();
  double primal_value(double scale, double square, double rounding) const;
  struct Violation {
    double by;
    std::int64_t variable;
  };
  std::vector<std::int64_t> violators(double threshold);
  std::vector<std::int64_t> pairs_of_violators(double threshold, std::size_t most);
  static std::vector<std::int64_t> worst(std::vector<Violation> found, std::size_t most);

  const Problem& problem_;
  KernelColumns& columns_;
  std::size_t largest_pool_;
  Run& run_;
  SmoVariables variables_;
  std::vector<double> weight_;  // of each variable
  std::vector<double> score_;   // of each row, without the intercept
  std::vector<char> in_pool_;
  SmoWorkingSet working_set_;
  double top_ = 0, bottom_ = 0;  // largest error of the variables that may rise, smallest of those that may fall
  double intercept_ = 0, scale_ = 1, squared_norm_ = 0, worst_ = std::numeric_limits<double>::infinity(),
         reached_ = worst_, radius_ = 0, value_error_ = 0, total_high_ = 0;
  Interval interval_;
};

}  // namespace margin
