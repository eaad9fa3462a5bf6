// What is to be solved, beside the rows: every problem of a training, every objective of a check and every question of a scan
// is one, and a stored model with its options says one (model/statement_of.hpp). In one place, so that what is added to it
// arrives wherever problems are solved, certified, asked about or stored.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/options/options.hpp"

namespace margin {

class Loss;  // loss/loss.hpp

enum class Task { binary, multiclass, regression };

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
  bool positive = false;               ///< weights of 0 or more
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
  double constant_feature() const { return intercept && !free_intercept ? intercept_scale : 0; }
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
