// What the user of a new model should hear at once: a target that was not reached, a model worse than a constant.
#pragma once

#include <vector>

#include "core/train/path.hpp"
#include "pg/server/boundary.hpp"

namespace margin::pg {

/// A number to four digits, for messages.
std::string figure(double value);

/// Whether the model fits the training rows hardly better than a constant, or worse.
bool useless(const Model& model, double tolerance);

/// Of many trainings of one call: how many did not come to their tolerance; and of a selection or a path, that none is better than a
/// constant.
void warn_of_unfinished(std::int64_t unfinished, std::size_t models);
void warn_of_selection(const Selection& selection);
void warn_of_path(const std::vector<Model>& models, double tolerance);

/// One object for all models of a statement: many groups would drown in warnings, so that after a few of a kind one
/// says that there are more.
class TrainingWarnings {
 public:
  void give(const Model& model, const Options& options);

 private:
  void give_unless_optimal(const Model& model, const Options& options);

  int unfinished_ = 0, useless_ = 0;
};

/// The start of a training on rows with named columns, by the names of its features (match_initial); one NOTICE tells those
/// that it knows nothing of, and those that are gone. Throws Error.
void start_by_name(InitialModel& initial, const Encoder& encoder);

/// A NOTICE that names the features which the option `collinear` has left out.
void tell_dropped(const Encoder& encoder);

}  // namespace margin::pg
