// The exact l1 margin of one output by row and column generation: a small working set of rows and of features, its linear
// program (math/l1_simplex.hpp), solved until no other feature enters it, then one scan of all rows that certifies and
// adds those of smallest margin. And what all methods for l1 margins share.
#pragma once

#include <vector>

#include "core/base/progress.hpp"
#include "core/problem/problem.hpp"
#include "core/solvers/interval.hpp"
#include "core/solvers/run.hpp"

namespace margin {

/// One output's vectors and interval, in units in which the largest |x_ij| is 1.
struct L1Output {
  Eigen::VectorXd weights;
  double intercept = 0;
  std::vector<std::pair<std::int64_t, double>> row_weights;  ///< q > 0
  MarginBounds bounds;
  Status status = Status::iteration_limit;
};

/// What all outputs of an l1 training share.
struct L1Rows {
  L1Rows(const Problem& problem, Run& run);

  const Problem& problem;
  Run& run;
  double scale = 1;                             ///< one factor for all features: |scale · x_ij| ≤ 1
  double gap = 0;                               ///< an interval of this width is enough as well, in these units
  std::int64_t iterations = 0, of_earlier = 0;  ///< of all outputs, and of those before the one at hand
  std::vector<double> lower, upper;             ///< per output, for the history

  /// One more iteration of an output, with its interval so far: recorded, and whether to stop, and why. `change`: of the
  /// weight of `learner`, counted from 1, where it was a round.
  bool stop(std::int32_t output, const MarginBounds& bounds, double target, Status& why, double change = 0,
            std::int64_t learner = 0);
};

/// Solves output `output` to a relative interval of `tolerance`.
L1Output solve_linear_program(L1Rows& rows, std::int32_t output, double tolerance, std::uint64_t seed);

}  // namespace margin
