// What a row adds to the answer of a question about a risk: numbers, its part of sums, how much it is worth keeping.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/certificate/joint.hpp"
#include "core/certificate/likelihood_rows.hpp"
#include "core/certificate/risk.hpp"
#include "core/scans/rings.hpp"
#include "core/scans/wire/question.hpp"
#include "core/scans/wire/term.hpp"

namespace margin {

/// What rows of joint classes are kept by, the smallest first: those for which the tangent of the last weights was most wrong, as
/// JointLoss::bend() says, then those whose classes are least settled.
inline double joint_key(double bend, double settled) { return bend > 1e-12 ? -bend : settled; }

class RiskTerms {
 public:
  /// `question` is kept by reference.
  explicit RiskTerms(const Question& question);

  /// One for each number.
  const std::string& reductions() const { return reductions_; }
  std::int32_t vectors() const { return outputs_ + outputs_ * rings_.groups(); }
  std::int32_t matrices() const { return (q_.curvature ? outputs_ : 0) + (q_.spread ? outputs_ : 0); }
  std::int32_t bags() const { return q_.bag_rows > 0 ? blocks() : 0; }
  std::int32_t cells() const;
  /// Of these a row adds to so many at most.
  std::int32_t cells_of_row() const;

  /// Of the vectors a row adds to so many at most.
  std::int32_t vectors_of_row() const { return rings_.groups() > 0 ? 2 * outputs_ : outputs_; }

  /// Where the parts of a term go; of vectors and cells the number of the first.
  struct Room {
    double *numbers, *curvatures, *keys;
    Entry *coefficients, *cells;
    std::int64_t first_vector, first_cell;
  };
  std::int32_t outputs() const { return outputs_; }
  /// Outputs with a loss of their own: one, where all share it (certificate/joint.hpp).
  std::int32_t blocks() const { return joint_ ? 1 : outputs_; }
  const Loss& loss() const { return *q_.loss; }
  bool aims() const { return q_.direction.size() > 0; }
  /// What of several risks is known of a row, one output after the other: what their losses are at its scores; and at its
  /// scores with their directions, where the loss is one that evaluates_together().
  struct Points {
    LossPoints here, there;
  };
  /// Begins with a row, as it is read, with the label's class or its target, and the weight of the sample: its scores and
  /// its outcome in each output, from number `first` on.
  void score(const CheckedRow& row, Points& points, std::size_t first);
  /// And what it adds, where the losses are known at these scores. Moves the ends of `to` behind what it writes.
  void measure(double norm, const Points& points, std::size_t first, Room& to);

 private:
  bool has_flows() const { return joint_ && q_.free_intercept && q_.intercept; }
  void measure_joint(Room& to);
  template <class L>
  void measure_output(std::int32_t output, const Points& points, std::size_t at, Room& to) const;

  const Question& q_;
  const std::int32_t outputs_;
  const Rings rings_;
  void (RiskTerms::*measure_)(std::int32_t, const Points&, std::size_t, Room&) const;  // compiled for its loss
  std::optional<RiskCheck> check_;
  std::optional<JointCheck> joint_;           // in its place
  std::size_t checked_;                       // numbers of either
  std::optional<LikelihoodRows> likelihood_;  // of lambda 0; its numbers are the last
  std::string reductions_;
  CheckedRow row_{};
  std::vector<double> coefficients_, moved_, du_;
  std::vector<LossPoint> points_;
};

}  // namespace margin
