#include "pg/functions/training_warnings.hpp"

#include "core/encoder/match_initial.hpp"
#include "pg/functions/group_errors.hpp"
#include "pg/server/group_key.hpp"
#include "pg/server/interrupts.hpp"
#include "pg/values/composite.hpp"

namespace margin::pg {

std::string figure(double value) {
  char text[32];
  snprintf(text, sizeof text, "%.4g", value);
  return text;
}

namespace {

/// To the six digits that a reader needs.
double rounded(double value) {
  char text[32];
  snprintf(text, sizeof text, "%.5e", value);
  return std::strtod(text, nullptr);
}

std::string useless_message(const Model& model, const Options& options) {
  const Certificate& c = model.certificate;
  const bool worse = c.failure > c.constant_failure * (1 + std::max(options.tolerance, 1e-9));
  const std::string begin = std::string("the model is ") + (worse ? "worse" : "hardly better") + " than a constant: ";
  if (model.task == Task::regression)
    return begin + "its mean loss on the training rows is " +
           (c.constant_failure > 0 ? figure(c.failure / c.constant_failure) + " times that of" : "not 0 as that of") +
           " predicting " + number_text(rounded(model.constant.value_or(0))) + " for every row" +
           (options.offset.empty() ? "" : ", but for its offset");
  const std::string missed = "training rows of a weight of " + figure(c.failure) +
                             " are on the wrong side, where predicting the largest class for every row would miss " +
                             figure(c.constant_failure);
  if (worse) return begin + missed;
  return begin + missed + ", and its objective is " + figure(c.upper / c.constant_loss) +
         " times that of the same score for every row";
}

std::string useless_hint(const Model& model, const Options& options) {
  if (model.task == Task::regression && !options.intercept)
    return "With intercept => false predictions start from 0; leave it out if the labels do not.";
  if (options.hard_margin())
    return "Give lambda, for example margin_options(lambda => 1e-4), to trade errors for a margin.";
  if (model.status != Status::optimal) return "Raise max_iterations, or scale the features with standardize => true.";
  if (model.likelihood()) return "At lambda 0 nothing is shrunk: the features say little about the labels.";
  return "Try a smaller lambda, standardize => true, or margin_cross_validate to choose lambda and loss.";
}

}  // namespace

/// Not 1 % better than the best constant of the same loss: near the constant itself, where many models of small weights
/// are, rounding and the order of the rows would decide. Classes may be told apart by scores that are all small, and
/// probabilities may be worth having where every row has the same class, so that both must fail there.
bool useless(const Model& model, double tolerance) {
  constexpr double hardly = 0.99;
  const Certificate& c = model.certificate;
  if (!(c.failure > c.negligible)) return false;
  if (c.failure > c.constant_failure * (1 + std::max(tolerance, 1e-9))) return true;
  if (model.task == Task::regression) return c.failure > hardly * c.constant_failure;
  return c.failure >= hardly * c.constant_failure && c.upper > hardly * c.constant_loss;
}

namespace {

std::string few_of(const std::vector<std::string>& names) {
  constexpr std::size_t most = 10;
  std::string out;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i) out += (i > 0 ? ", \"" : "\"") + names[i] + "\"";
  return out + (names.size() > most ? " and " + std::to_string(names.size() - most) + " more" : "");
}

}  // namespace

void start_by_name(InitialModel& initial, const Encoder& encoder) {
  const MatchedFeatures found = match_initial(initial, encoder, InterruptProgress());
  if (found.same()) return;
  std::string text = "the initial model has other features: ";
  if (!found.fresh.empty()) text += few_of(found.fresh) + (found.fresh.size() > 1 ? " start at 0" : " starts at 0");
  if (!found.fresh.empty() && !found.gone.empty()) text += "; ";
  if (!found.gone.empty()) text += few_of(found.gone) + (found.gone.size() > 1 ? " are gone" : " is gone");
  notice(text);
}

void tell_dropped(const Encoder& encoder) {
  const std::vector<std::string> names = encoder.dropped_names();
  if (names.empty()) return;
  notice("left out " + std::to_string(names.size()) + " of " +
         std::to_string(names.size() + static_cast<std::size_t>(encoder.width())) +
         " features, which those before them give: " + few_of(names));
}

void TrainingWarnings::give(const Model& model, const Options& options) {
  give_unless_optimal(model, options);
  // Where nothing separates the rows, that warning says it.
  if (model.status == Status::not_separable || model.status == Status::separable ||
      !useless(model, options.tolerance) || ++useless_ > most_warnings + 1)
    return;
  if (useless_ == most_warnings + 1)
    warn_of_statement("further models of this statement are worse, or hardly better, than a constant",
                      "margin_evaluate shows how good each is.");
  else
    warn(useless_message(model, options), useless_hint(model, options));
}

/// What is certified, and what to change.
void TrainingWarnings::give_unless_optimal(const Model& model, const Options& options) {
  if (model.status == Status::optimal || ++unfinished_ > most_warnings + 1) return;
  if (unfinished_ == most_warnings + 1) {
    warn_of_statement("further models of this statement did not reach their target either",
                      "Their status, margin_lower and margin_upper (or primal and dual) tell what each reached.");
    return;
  }
  const Certificate& c = model.certificate;
  const bool interpolation = model.interpolates();
  const std::string reached =
      interpolation
          ? "weights that meet the targets have half a squared norm of at least " + figure(c.lower) +
                ", those of the model have " + figure(c.upper) + " and miss by up to " + figure(std::max(0.0, -c.slack))
      : options.hard_margin() ? "the margin is certified to lie in [" + figure(c.lower) + ", " + figure(c.upper) + "]"
                              : "the optimum is certified to lie in [" + figure(c.lower) + ", " + figure(c.upper) + "]";
  if (model.status == Status::not_separable && interpolation) {
    warn("no weights meet the targets of all " + std::to_string(*model.rows) + " rows: they contradict each other",
         "Give ranges as labels, or lambda and a regression loss, to trade errors.");
    return;
  }
  if (model.status == Status::not_separable && model.one_class()) {
    warn("nothing parts the rows from the origin, so that the machine has no inside: " + reached,
         "A one-class machine wants rows on one side of the origin: give a kernel such as rbf, a smaller nu, or "
         "features that are not centred.");
    return;
  }
  if (model.status == Status::not_separable) {
    const bool softened = model.solver.find("cutting_plane+newton") != std::string::npos ||
                          model.solver.find("cutting_plane+sdca") != std::string::npos;
    warn("training of " + std::to_string(*model.rows) + " rows found no separator: " + reached + "; " +
             std::to_string(c.errors) + " rows have a margin of 0 or less" +
             (useless(model, options.tolerance)
                  ? ", more than the " + figure(c.constant_failure) + " that the largest class for every row would miss"
                  : ""),
         std::string("Give lambda, for example margin_options(lambda => 1e-4), to trade errors for a margin") +
             (softened ? "; without it, the weights are those of a logistic loss with little regularisation." : "."));
    return;
  }
  if (model.status == Status::separable && model.regression()) {
    const std::string why =
        "no weights are the most likely: longer ones always are more so, as they lower the means of rows whose labels "
        "are 0 alone";
    warn(why, "margin_weights shows by which features. Leave these out, or give a lambda above 0.");
    return;
  }
  if (model.status == Status::separable) {
    warn(std::string("the classes are separated: no weights are the most likely, longer ones always are more so"),
         "margin_weights shows by which features. Leave these out, give a lambda above 0, or leave lambda out for the "
         "separator of largest margin.");
    return;
  }
  const bool time = model.status == Status::time_limit;
  const bool stumps = options.learners == Learners::stumps, trees = options.learners == Learners::trees;
  warn("training stopped before the tolerance " + figure(options.tolerance) + " was reached (" +
           (time ? "max_seconds" : "no further progress or max_iterations") + "): " + reached,
       time     ? "Raise max_seconds or tolerance, or try another solver; the model and its interval are valid."
       : trees  ? "A model without a margin predicts well all the same: see margin_evaluate. More rounds "
                  "(max_iterations) may help; the model and its interval are valid."
       : stumps ? "Stumps rarely separate rows, and a model without a margin predicts well all the same: see "
                  "margin_evaluate. More rounds (max_iterations) may help; the model and its interval are valid."
       : model.solver == "nystrom"
           ? "Raise n_components or tolerance, or leave solver out; the model and its interval are valid."
           : "Raise max_iterations or tolerance, scale the features, or try another solver; the model and its "
             "interval are valid.");
}

void warn_of_unfinished(std::int64_t unfinished, std::size_t models) {
  if (unfinished == 0) return;
  warn(std::to_string(unfinished) + " of " + std::to_string(models) + " models did not reach their tolerance",
       "Raise tolerance, max_iterations or max_seconds, leave out the smallest lambdas, or standardize the features.");
}

void warn_of_selection(const Selection& s) {
  warn_of_unfinished(s.unfinished, s.settings.size() * static_cast<std::size_t>(s.folds));
  if (useless(s))
    warn("no setting is 1 % better than a constant: the best " + std::string(metric_name(s.metric)) + " is " +
             figure(*s.settings[*s.best].mean) + ", that of predicting the same for every row " + figure(*s.constant),
         "Other lambdas, losses or features may do better; try standardize => true.");
}

void warn_of_path(const std::vector<Model>& models, double tolerance) {
  std::int64_t unfinished = 0, useless_ones = 0;
  for (const Model& model : models) {
    unfinished += model.status != Status::optimal;
    useless_ones += useless(model, tolerance);
  }
  warn_of_unfinished(unfinished, models.size());
  // The largest lambdas of a path give models next to a constant by design: what says something is when all are.
  if (useless_ones == static_cast<std::int64_t>(models.size()))
    warn("no model of the path is 1 % better than a constant: predicting the same for every training row fits as well",
         "Try smaller lambdas, standardize => true, or other features; margin_evaluate shows how good each is.");
}

}  // namespace margin::pg
