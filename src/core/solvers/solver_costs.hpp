// What the solvers of a soft margin are expected to cost.
#pragma once

#include <limits>

#include "core/problem/problem.hpp"

namespace margin {

/// For one output, in nanoseconds of one core; only their ratio matters. The problem must outlive it.
class SolverCosts {
 public:
  explicit SolverCosts(const Problem& problem);

  /// Of sdca: one epoch, and how many of them it takes.
  double epoch() const;
  double expected_epochs() const;
  double newton() const;
  double newton_cg(
      double enough = std::numeric_limits<double>::infinity()) const;  ///< from `enough` on, no more than that
  double interior_point() const;
  /// The share of weights that bounds are expected to hold; 0 without bounds.
  double held() const { return held_; }

 private:
  bool curved() const { return step_ > 0; }
  double evaluation() const { return curved() ? 100 : 0; }  // of a row's loss and its derivatives
  double mean_size() const;
  double mean_held() const;
  double mean_by_column() const;
  double smooth_iterations() const;
  double coded(double system) const;

  const Problem& p_;
  double rows_, features_, stored_;
  double step_;  // of sdca: a root of a transcendental equation, several exponentials
  bool smooth_, sparse_;
  double size_;  // of a row over λW and the smoothness
  double held_;  // share of weights that bounds hold, as far as one feature at a time says
};

}  // namespace margin
