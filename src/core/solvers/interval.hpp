// The interval around an optimum while a solver runs, and the decision to stop. All solvers share
//
//   stop       optimal        the interval is as narrow as the tolerance asks
//              not_separable  a bound proves that there is nothing to find
//              at a limit     of iterations or of time
//
// and those of a hard margin also what the interval is: the best margin of any weights seen, and the norm of a
// combination of rows, which no margin exceeds.
#pragma once

#include <cmath>
#include <limits>
#include <optional>

#include "core/problem/problem.hpp"
#include "core/problem/thresholds.hpp"
#include "core/solvers/run.hpp"

namespace margin {

/// Whether a solver stops after iteration `done`, and why. Where it does not, `why` is iteration_limit: the status of a
/// solver that finds no further progress.
inline bool stops(const Run& run, std::int64_t done, bool reached, bool impossible, Status& why) {
  const bool exhausted = run.exhausted(done, why);
  if (reached || impossible) why = reached ? Status::optimal : Status::not_separable;
  return reached || impossible || exhausted;
}

/// Bounds of the maximum margin, in the units of the rows.
struct MarginBounds {
  double lower = -std::numeric_limits<double>::infinity(), upper = std::numeric_limits<double>::infinity();

  /// Take a better lower bound; true when it is one.
  bool raise(double bound) {
    if (!(bound > lower)) return false;
    lower = bound;
    return true;
  }
  /// Take a better upper bound; true when it is one.
  bool reduce(double bound) {
    if (!(bound < upper)) return false;
    upper = bound;
    return true;
  }
  /// (upper − lower)/upper ≤ tolerance
  bool within(double tolerance) const {
    return lower > 0 && std::isfinite(upper) && upper - lower <= tolerance * upper;
  }
};

/// The best weights seen, with the bounds; the row weights of the upper bound are the solver's own.
struct BestMargin {
  MarginBounds bounds;
  Weights weights;
  Eigen::VectorXd offsets;  ///< one per class

  /// Weights of a margin on all rows; the first are kept whatever their margin.
  void offer(double margin, const Weights& w, const Eigen::VectorXd& class_offsets) {
    if (!bounds.raise(margin) && weights.size() > 0) return;
    weights = w;
    offsets = class_offsets;
  }
};

/// Records the bounds of a hard margin after each iteration, and decides whether to stop.
class MarginStop {
 public:
  /// `radius`: the largest row norm, for a solver whose upper bound may prove that nothing separates the rows.
  MarginStop(const Options& options, Run& run, std::optional<double> radius = std::nullopt)
      : run_(run), target_(certifiable * options.tolerance), radius_(radius) {}

  double target() const { return target_; }  ///< the relative width to reach

  /// Whether bounds as these end a solve, limits aside.
  bool decided(const MarginBounds& b) const { return b.within(target_) || inseparable(b); }

  bool operator()(std::int64_t done, const MarginBounds& b, Status& why) {
    run_.record(done, b.lower, radius_ ? std::min(b.upper, *radius_) : b.upper);
    return stops(run_, done, b.within(target_), inseparable(b), why);
  }

 private:
  bool inseparable(const MarginBounds& b) const { return radius_ && b.lower <= 0 && b.upper <= no_margin * *radius_; }

  Run& run_;
  double target_;
  std::optional<double> radius_;
};

}  // namespace margin
