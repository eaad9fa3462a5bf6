// The model of a risk of joint classes between scans: rows in memory, and the tangents of all others.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/large_array.hpp"
#include "core/scans/answered_check.hpp"
#include "core/scans/methods/held_rows.hpp"
#include "core/solvers/joint/newton.hpp"

namespace margin {

/// What a scan of joint classes told, at its weights.
struct JointScanned {
  JointScanned(Question asked, Answer told)
      : question(std::move(asked)), answer(std::move(told)), check(answered_joint(question, answer)) {}
  Question question;
  Answer answer;
  JointCheck check;
};

class JointModel {
 public:
  /// Of `options` max_seconds counts.
  JointModel(const ScanProblem& problem, const Options& options);

  /// The rows that a scan brought come into memory.
  void take(JointScanned& scanned, const Progress& progress) { held_.take(scanned.answer.bag(0), progress); }
  /// So many scans in a row P rose: steps are held back, or less than before. `curvature`: of P/λ along the step, as both its ends tell.
  void hold(int rises, double curvature);
  /// The next iterate, from the best scan so far: the minimum of the model, in which sampled rows that no scan brought stand for others
  /// like them. `wanted`: of P, what may be left of its gap.
  struct Step {
    Weights weights;   ///< classes × (features, intercept over its constant)
    double lower = 0;  ///< what the rows' p prove for all rows, where they were asked to
  };
  Step step(const JointScanned& best, double wanted, bool prove, ScanRun& run);
  /// The same with each row for itself: a lower model of P, so that its minimum proves more.
  Step bound(const JointScanned& best, double wanted, ScanRun& run);

 private:
  struct Rows;
  Step solve(const JointScanned& best, double wanted, bool guess, bool prove, ScanRun& run);
  double prove(const JointScanned& best, const Rows& rows, const JointPoint& point, const Progress& progress) const;

  void forget(const std::vector<double>& key, std::size_t classes);

  const ScanProblem& p_;
  std::optional<double> max_seconds_;
  HeldRows held_;
  double proximal_ = 0, kappa_ = 0;
  std::vector<double> dual_;  // of the hinge: p of the held rows by the last model, rows × classes; NaN: new
};

/// classes × columns as JointRows has them, and back.
void to_panels(const JointRows& rows, const Weights& from, LargeArray& to);
Weights from_panels(const JointRows& rows, const LargeArray& from);

}  // namespace margin
