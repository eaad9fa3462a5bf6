// What is to be solved, beside the rows: every problem of a training, every objective of a check and every question of a scan
// is one, and a stored model with its options says one (model/statement_of.hpp). In one place, so that what is added to it
// arrives wherever problems are solved, certified, asked about or stored.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/matrix.hpp"
#include "core/math/sparse_rows.hpp"
#include "core/options/options.hpp"

namespace margin {

class Loss;  // loss/loss.hpp

enum class Task { binary, multiclass, regression };

/// l ≤ w ≤ u for the weight of each feature, in the units of the problem. The last pair is that of all features beyond; empty: no
/// weight has bounds.
struct Bounds {
  std::vector<double> lower, upper;

  bool empty() const { return lower.empty(); }
  double least(std::size_t j) const { return lower.empty() ? -none : lower[std::min(j, lower.size() - 1)]; }
  double most(std::size_t j) const { return upper.empty() ? none : upper[std::min(j, upper.size() - 1)]; }
  double clip(double w, std::size_t j) const { return std::min(std::max(w, least(j)), most(j)); }
  bool holds(double w, std::size_t j) const { return w >= least(j) && w <= most(j); }
  /// All weights of 0.
  bool hold_zeros() const {
    bool all = true;
    for (std::size_t j = 0; j < lower.size(); ++j) all = all && holds(0, j);
    return all;
  }
  /// Of weights that count in units of `unit`.
  void count_in(double unit);
  /// Sets every weight that is outside to the nearest end, but that of feature `known` (-1: none).
  void clip(Weights& weights, std::int32_t known = -1) const;
  /// Where units have changed since the weights were found: those within a few ulps of an end are at it.
  void settle(Weights& weights, std::int32_t known = -1) const;

 private:
  static constexpr double none = std::numeric_limits<double>::infinity();
};
inline bool operator==(const Bounds& a, const Bounds& b) { return a.lower == b.lower && a.upper == b.upper; }
inline bool operator!=(const Bounds& a, const Bounds& b) { return !(a == b); }

/// lower ≤ A w ≤ upper for the weights of each output, in the units of the problem; equal ends are an equation, and one of two ends may
/// be infinite.
struct Constraints {
  SparseRows rows;
  std::vector<double> lower, upper;
  /// What proves the lower end of the interval, no part of what is solved: outputs × rows, ν of certificate/risk.hpp, above 0 at upper
  /// ends and below 0 at lower ones. Empty: all 0.
  Weights multipliers;

  bool empty() const { return lower.empty(); }
  std::size_t count() const { return lower.size(); }
  /// Of weights that count in units of `unit`.
  void count_in(double unit);
  /// By how much these weights miss them, of the size of their terms: the largest share; 0: not at all.
  double missed(const double* w) const;
};
/// The share that counts as met.
constexpr double met_constraint = 1e-12;

struct Statement {
  Task task = Task::binary;
  std::int32_t classes = 0;                ///< 0 for regression
  double norm = 2;                         ///< p of the norm that measures the margin, 1 ≤ p ≤ 2
  Learners learners = Learners::features;  ///< what an l1 margin combines
  bool interpolate = false;                ///< targets instead of a margin
  std::shared_ptr<const Loss> loss;        ///< with its parameters; null: nothing is traded, no soft margin
  double lambda = 0;                       ///< soft margin only
  double l1_ratio = 0;
  std::vector<double> penalty_factor;  ///< of each feature's penalty; empty: 1 each
  double least_factor = 1;             ///< of the features beyond its end
  Bounds bounds;                       ///< of the weights, but that of an offset
  Constraints constraints;             ///< on several of them
  std::int32_t offset = -1;            ///< the feature whose weight is known, and not penalised (problem/offset.hpp)
  bool intercept = true;
  bool free_intercept = false;       ///< of linear soft margins with a lambda above 0: not regularised
  double intercept_scale = 1;        ///< of those that are: the value of the constant feature
  double target_center = 0;          ///< of soft regressions: losses see (target − target_center)/target_scale,
  double target_scale = 1;           ///< and the penalty of an intercept is on the distance from there
  std::vector<double> class_weight;  ///< of each class; empty: 1. c_i of a row is its weight times that of its class

  std::int32_t outputs() const { return task == Task::multiclass ? classes : 1; }
  /// Least squares or maximum likelihood: nothing but the rows bounds the weights.
  bool likelihood() const { return loss != nullptr && lambda == 0; }
  bool one_class() const;
  double factor(std::size_t j) const {
    return penalty_factor.empty() ? 1.0 : j < penalty_factor.size() ? penalty_factor[j] : least_factor;
  }
  /// Whether the weight of feature j is penalised: an offset's is known.
  bool penalises(std::int32_t j) const { return j != offset; }
  /// Of the offset: 1 in the units of the targets.
  double offset_weight() const { return 1 / target_scale; }
  /// Whether weights of 0 are allowed.
  bool hold_zeros() const;
  /// The weights nearest to 0 between the bounds of `features` features.
  std::vector<double> least_weights(std::size_t features) const;
  double constant_feature() const { return intercept && !free_intercept ? intercept_scale : 0; }
  /// Of the intercept as one more column, penalised or not; 0 without one.
  double intercept_column() const { return !intercept ? 0 : free_intercept ? 1 : intercept_scale; }
  /// The penalty is λ/2 times the square of the norm of all weights, the intercept's included, which may be anything.
  bool plain_penalty() const {
    return l1_ratio == 0 && penalty_factor.empty() && least_factor == 1 && !(intercept && free_intercept) &&
           bounds.empty() && constraints.empty();
  }
  double weight_of_class(std::size_t c) const { return class_weight.empty() ? 1.0 : class_weight[c]; }

  /// The loss by its name and its parameters; what was read may be anybody's bytes, and is checked in full. Throws
  /// Error(malformed).
  void write(ByteWriter& out) const;
  static Statement read(ByteReader& in);
  std::string bytes() const;
};
/// Equal in all that is solved.
bool operator==(const Statement& a, const Statement& b);

/// Of two classes that are trained jointly the weights of one are those of the other with the sign changed: w and −w for
/// their difference 2w, whose penalty is that of 2w at half of lambda.
double joint_lambda(double lambda, std::int32_t outputs);

}  // namespace margin
