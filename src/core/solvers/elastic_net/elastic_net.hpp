// Soft margins with an l1 norm, one output at one lambda after another: proximal Newton's method on a working set of
// features.
#pragma once

#include <vector>

#include "core/base/progress.hpp"
#include "core/solvers/elastic_net/column_risk.hpp"
#include "core/solvers/elastic_net/l1_quadratic.hpp"
#include "core/solvers/elastic_net/working_matrix.hpp"

namespace margin {

/// Goes on from the point of `risk`, whose output was selected, to the minimum for one lambda, and to that for the
/// next: the point, its sums and the curvature serve both.
class ElasticNet {
 public:
  explicit ElasticNet(ColumnRisk& risk);

  /// Another output was selected and a point set.
  void restart();
  /// One step of Newton's method for this lambda from an interval of the point; false where it finds no further progress.
  bool step(double lambda, const ColumnRisk::Interval& at, double wanted);
  /// The interval of the point: sums and, where it is free, the intercept are brought up to date.
  ColumnRisk::Interval interval(double lambda);
  /// Where all weights are 0: the smallest lambda for which they stay so. Moves the point there.
  double largest_lambda();

  static double bytes(const Problem& problem);

 private:
  void sum_up();
  void choose_features(double lambda);
  void pose(double lambda);
  void carry_face();
  void balance_intercept(double lambda, double accuracy);
  bool narrow() const { return risk_.features() <= narrow_features_; }
  bool by_columns(double lambda);
  double largest_share(double lambda);
  bool pays(double gap, double wanted, bool first) const;
  void fill_matrix();
  void bring_matrix(double gap, double wanted, bool first);

  static constexpr std::size_t narrow_features_ = 320;

  ColumnRisk& risk_;
  bool summed_ = false;           // the sums are of the point
  std::vector<std::size_t> set_;  // the working set, ascending
  std::vector<double> h_;         // curvatures of the rows that the matrix is made of
  WorkingMatrix matrix_;          // of the working set and the intercept
  L1Coordinates q_;               // the quadratic problem of the step
  std::vector<double> w_, to_;    // weights of the working set where the step begins, and where it goes
  FaceSteps face_;
  std::vector<std::size_t> face_set_;   // the working set of its coordinates
  bool fresh_ = false, known_ = false;  // the matrix is that of the point; there is one
  double last_gap_ = 0;
  double last_lambda_ = 0;
};

}  // namespace margin
