// When coordinate ascent looks at its gap, and which rows it leaves out until then.
#pragma once

#include <algorithm>
#include <cmath>

namespace margin {

/// Slack that settles a row, as a share of the largest violation. Less makes epochs shorter and gap passes fail more
/// often; 0.3 to 0.5 took the fewest visits on dense and sparse rows alike.
constexpr double shrink_share = 0.4;

/// A free intercept is recentred when the gap that the epochs promise has fallen to this share since the last time: a
/// centre that moved faster than the weights follow would swing.
constexpr double inner_share = 0.5;

/// What an epoch leaves of the gap that it met, as `estimate`, where the one before met `before` (0: there was none): about as large
/// a share as it met of that. From the third epoch on the share was mostly 1 to 2.5 times as large, of smooth losses (29 problems:
/// 0.4 to 5), and of what fell at a stroke a tenth to a fifth was left. Losses with corners keep to no such course.
inline double gap_left(double estimate, double before) {
  return before > 0 ? estimate * std::clamp(2.5 * estimate / before, 0.2, 2.0) : 2 * estimate;
}

/// When a gap pass is worth its price, a third of an epoch or so: total cost is held to a few per cent of the visits.
class GapSchedule {
 public:
  GapSchedule(double rows, double first_target) : rows_(rows), target_(first_target), next_(10 * rows) {}

  /// Whether nobody looked so far.
  bool blind() const { return passes_ == 0; }
  /// `estimate`: the gap that the last epoch promises.
  bool due(double visits, double estimate) const {
    if (visits >= next_ || estimate <= 0.01 * target_) return true;
    return estimate * optimism_ <= target_ && 0.33 * rows_ * passes_ <= 0.07 * visits;
  }
  void looked(double visits, double estimate, double gap, double target) {
    ++passes_;
    target_ = target;
    next_ = std::max(1.6 * visits, 10 * rows_);
    // Rows that were left out, and weights that moved on, make an estimate optimistic: discount the next one.
    if (estimate > 0) optimism_ = std::clamp(std::sqrt(gap / estimate), 1.0, 4.0);
  }

 private:
  double rows_, target_, next_;
  double optimism_ = 2;
  int passes_ = 0;
};

}  // namespace margin
