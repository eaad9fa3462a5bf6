// What the user of a new model should hear at once: a target that was not reached, a model worse than a constant.
#pragma once

#include "core/train/train.hpp"

namespace margin::pg {

/// A number to four digits, for messages.
std::string figure(double value);

/// Whether a constant prediction fits the training rows better, by more than the tolerance lets open.
bool useless(const Model& model, double tolerance);

/// One object for all models of a statement: many groups would drown in warnings, so that after a few of a kind one
/// says that there are more.
class TrainingWarnings {
 public:
  void give(const Model& model, const Options& options);

 private:
  void give_unless_optimal(const Model& model, const Options& options);

  int unfinished_ = 0, useless_ = 0;
};

}  // namespace margin::pg
