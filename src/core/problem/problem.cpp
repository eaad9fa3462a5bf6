#include "core/problem/problem.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/base/huge_pages.hpp"
#include "core/base/polled.hpp"
#include "core/base/progress.hpp"
#include "core/kernel/kernel.hpp"
#include "core/loss/joint.hpp"
#include "core/loss/loss.hpp"
#include "core/loss/margin_loss.hpp"
#include "core/problem/bounds.hpp"
#include "core/problem/constraints.hpp"
#include "core/problem/offset.hpp"
#include "core/problem/one_class.hpp"
#include "core/problem/penalty.hpp"
#include "core/problem/range.hpp"
#include "core/problem/target_units.hpp"

namespace margin {

namespace {

// The free intercepts of k classes are k variables of a hull; each of its steps factorises a k × k system.
constexpr std::int32_t most_joint_classes = 512;
// More classes than this with fewer rows each are no classes when they are numbers.
constexpr std::int32_t most_sparse_numbers = 256;
constexpr std::int64_t rows_per_number = 10;

void check_hard_margin(const Dataset& data, const Options& s, const Method& method, double norm) {
  if (s.intercept_form == InterceptForm::penalized)
    throw Error(ErrorKind::unsupported, "option \"intercept\" => 'penalized' needs a soft margin",
                "The intercept of a hard margin is free: leave the option out, or give lambda.");
  if (data.outcome() == Dataset::Outcome::classes && norm == 2 && data.classes().size() > most_joint_classes)
    throw Error(ErrorKind::limit_exceeded,
                "the labels are " + std::to_string(data.classes().size()) +
                    " classes, and a hard margin separates at most " + std::to_string(most_joint_classes) + " at once",
                "Give lambda, for example 1e-4, to train one class against the rest.");
  if (data.weighted())
    throw Error(ErrorKind::unsupported, "row weights are not used by a hard margin",
                "Give lambda to train a soft margin, or leave the weights out.");
  if (s.class_weight_balanced || !s.class_weight.empty())
    throw Error(ErrorKind::unsupported, "option \"class_weight\" is not used by a hard margin",
                "Give lambda to train a soft margin.");
  if (s.l1_ratio > 0)
    throw Error(ErrorKind::unsupported, "option \"l1_ratio\" needs a soft margin", "Give lambda as well.");
  require_calibrated(s);
  if (s.loss.empty() || s.loss == interpolate_loss) return;
  const MarginLoss followed = margin_loss(s.loss);
  if (followed == MarginLoss::none) make_loss(s.loss, s);  // throws for an unknown name
  if (followed == MarginLoss::none)
    throw Error(ErrorKind::unsupported, "loss \"" + s.loss + "\" needs lambda",
                "Without lambda the margin is hard and no errors are traded; try lambda => 1e-4.");
  if (!method.follows_loss)
    throw Error(ErrorKind::unsupported,
                "loss \"" + s.loss + "\" without lambda shapes only the path of a first-order solver",
                "For a " + std::string(followed == MarginLoss::logistic ? "logistic regression" : "model") +
                    " that trades errors give lambda, for example 1e-4; for the hard margin leave loss out, or name a "
                    "solver that follows a loss: " +
                    method.loss_followers + ".");
}

void check_likelihood(const Problem& p, const Options& s) {
  if (!(p.loss->self_concordance() < std::numeric_limits<double>::infinity()))
    throw Error(ErrorKind::unsupported,
                s.loss.empty() ? "lambda => 0 needs a loss"
                               : "loss \"" + s.loss + "\" needs a lambda above 0: without one it has no unique optimum",
                "At lambda 0 " + likelihood_losses() +
                    " are least squares and maximum likelihood; for a hard margin leave lambda out.");
  if (p.task == Task::multiclass)
    throw Error(ErrorKind::unsupported,
                "lambda => 0 requires two classes, and the labels are " + std::to_string(p.classes) + " classes",
                "Train each class against the rest, with label = 'name' as the label, or give a lambda above 0.");
  if (s.l1_ratio > 0)
    throw Error(ErrorKind::unsupported, "option \"l1_ratio\" is a share of lambda, which is 0", "Give lambda as well.");
  if (s.intercept_form == InterceptForm::penalized)
    throw Error(ErrorKind::unsupported, "option \"intercept\" => 'penalized' needs a lambda above 0",
                "At lambda 0 nothing is regularised: leave the option out.");
}

/// The squared norm that would regularise an intercept is gone.
void check_lasso(Problem& p, const Options& s) {
  if (s.intercept_form == InterceptForm::penalized)
    throw Error(ErrorKind::unsupported, "option \"intercept\" => 'penalized' needs an l1_ratio below 1",
                "The l1 norm never regularises an intercept, and at 1 nothing else would: leave the option out.");
  if (!p.loss->smooth())
    throw Error(ErrorKind::unsupported,
                "option \"l1_ratio\" => 1 needs a smooth loss, which \"" + p.loss_name + "\" is not",
                "Give loss => 'smoothed_hinge' or 'squared_hinge' for classes, 'huber' for a regression; or an "
                "l1_ratio below 1, such as 0.99.");
  p.free_intercept = p.intercept;
}

void set_labels(Problem& p, const Progress& progress) {
  const ClassTable& table = p.data.classes();
  const std::vector<std::int32_t> rank = table.ranks();
  p.classes = table.size();
  p.class_names.resize(rank.size());
  for (std::size_t i = 0; i < rank.size(); ++i)
    p.class_names[static_cast<std::size_t>(rank[i])] = std::string(table.name(static_cast<std::int32_t>(i)));
  if (p.classes == 1)
    throw Error(ErrorKind::invalid_value,
                "all rows have the label \"" + p.class_names[0] + "\", expected two or more classes",
                "A margin separates classes: include rows of another class. With GROUP BY, margin_options(one_class => "
                "'null') gives NULL for such groups.");
  p.task = p.classes == 2 ? Task::binary : Task::multiclass;
  p.label = spread<std::int32_t>(static_cast<std::size_t>(p.rows()));
  polled_each(p.rows(), 2, progress, [&](std::int64_t i) {
    p.label[static_cast<std::size_t>(i)] = rank[static_cast<std::size_t>(p.data.class_of(i))];
  });
}

void set_row_weights(Problem& p, const Options& s, const Progress& progress) {
  p.total_weight = p.data.weighted() ? 0 : static_cast<double>(p.rows());
  if (p.data.weighted())
    polled_each(p.rows(), 4, progress, [&](std::int64_t i) { p.total_weight += p.data.weight(i); });
  const bool by_class = s.class_weight_balanced || !s.class_weight.empty();
  if (by_class && p.task == Task::regression)
    throw Error(ErrorKind::unsupported, "option \"class_weight\" is not used by a regression",
                "Give row weights instead: train_margin(label, features, weight, options).");
  if (p.total_weight <= 0)
    throw Error(ErrorKind::invalid_value, "the row weights sum to 0, expected at least one positive weight");
  if (!by_class && !p.data.weighted()) return;

  std::vector<double> mass(static_cast<std::size_t>(p.classes), 0.0);
  if (by_class)
    for (std::int64_t i = 0; i < p.rows(); ++i) {
      mass[static_cast<std::size_t>(p.label[static_cast<std::size_t>(i)])] += p.data.weight(i);
      progress.work(4);
    }
  if (by_class) p.class_weight = class_weights(s, p.class_names, mass);
  p.row_weight.resize(static_cast<std::size_t>(p.rows()));
  double largest = 0;
  for (std::int64_t i = 0; i < p.rows(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    progress.work(8);
    p.row_weight[at] = p.data.weight(i);
    if (by_class) p.row_weight[at] *= p.weight_of_class(static_cast<std::size_t>(p.label[at]));
    largest = std::max(largest, p.row_weight[at]);
  }
  if (!(largest > 0))
    throw Error(ErrorKind::invalid_value, "option \"class_weight\" leaves every row with a weight of 0",
                "Give at least one class that has rows a positive weight.");
  require_weight_range(p.row_weight);
}

/// Targets that e^u is the mean of stay as they are.
void set_counts(Problem& p, const Progress& progress) {
  bool some = false;
  for (std::int64_t i = 0; i < p.rows(); ++i) {
    progress.work(8);
    require_target(*p.loss, p.data.target(i), i + 1);
    some = some || (p.data.target(i) > 0 && p.data.weight(i) > 0);
  }
  if (some || !p.free_intercept) return;
  throw Error(ErrorKind::invalid_value, "all labels are 0: the lower the intercept, the better, and none is the best",
              "Include rows with other labels, or give intercept => 'penalized'.");
}

/// Sets the units of the targets, and the loss in them: its epsilon or smoothing is a length in the label's units.
void set_target_units(Problem& p, const Options& s, const Progress& progress) {
  const TargetRows rows{p.data, nullptr, 0, p.offset};
  p.target_constant = best_constant(rows, *p.loss, progress);
  if (p.loss->log_link()) {
    p.mean_count = std::exp(p.offset < 0 ? p.target_constant : best_constant({p.data}, *p.loss, progress));
    set_counts(p, progress);
    return;
  }
  if (p.intercept) p.target_center = p.target_constant;
  p.target_scale = s.target_scale.has_value() ? *s.target_scale
                   : s.standardize            ? target_deviation(rows, progress)
                                              : 1.0;
  for (std::int64_t i = 0; i < p.rows(); ++i) {
    progress.work(8);
    if (!(std::fabs(p.target(i, 0)) <= largest_norm))
      throw Error(ErrorKind::invalid_value,
                  "the label of row " + std::to_string(i + 1) +
                      " is too far from the others, in units of their standard deviation",
                  "Leave such rows out with FILTER (WHERE ...).");
  }
  if (p.target_scale == 1) return;
  p.loss = in_units(*p.loss, p.target_scale);
}

/// All classes at once.
void set_joint(Problem& p, const Options& s) {
  if (p.task == Task::regression)
    throw Error(ErrorKind::unsupported, "option \"multiclass\" => 'joint' is not used by a regression",
                "Leave it out, or choose the loss logistic or hinge.");
  if (p.lambda == 0)
    throw Error(ErrorKind::unsupported, "option \"multiclass\" => 'joint' needs a lambda above 0",
                "At lambda 0 the weights of all classes could move alike; give a small lambda, for example 1e-8.");
  if (p.l1_ratio > 0)
    throw Error(ErrorKind::unsupported, "option \"multiclass\" => 'joint' has no elastic net",
                "Leave l1_ratio out, or multiclass, which trains one class against the rest.");
  std::shared_ptr<const Loss> joint = make_joint_loss(p.loss_name, s);
  if (p.task == Task::multiclass)
    p.loss = std::move(joint);
  else
    p.lambda = joint_lambda(p.lambda, p.outputs());
}

/// A kernel is asked for by its name, the linear one by a solver that knows rows only through kernels.
void set_kernel(Problem& p, const Options& s, const Method& method, const Progress& progress) {
  const bool linear = s.kernel.empty() || s.kernel == "linear";
  if (linear && !method.takes_kernels) return;
  p.kernel = make_kernel(p.data, s, progress);
  auto refuse = [](const std::string& what, const std::string& hint) {
    throw Error(ErrorKind::unsupported, what + " is not used by a kernel model", hint);
  };
  if (p.interpolate)
    throw Error(ErrorKind::unsupported, "loss \"interpolate\" takes no kernel",
                "Give another loss of a regression, such as squared, with a small lambda.");
  if (!s.loss.empty() && !p.hard_margin && !is_one_class(s) && make_loss(s.loss, s)->log_link())
    refuse("loss \"" + s.loss + "\"", "Train a linear model on margin_fourier's features instead.");
  if (s.norm != 2 || s.sparse_norm) refuse("option \"norm\"", "Its margin is that of the kernel's own norm.");
  if (s.standardize) refuse("option \"standardize\"", "Scale the features in SQL, for training and for predicting.");
  if (s.intercept_scale != 1)
    refuse("option \"intercept_scale\"", "The intercept of a kernel model is free: it is not regularised.");
  if (s.intercept_form == InterceptForm::penalized)
    refuse("option \"intercept\" => 'penalized'", "The intercept of a kernel model is free: leave the option out.");
  if (s.multiclass == Multiclass::joint)
    refuse("option \"multiclass\" => 'joint'", "It tells more than two classes apart one against the rest.");
  if (s.initial) refuse("option \"initial\"", "Kernel models are trained from the start.");
  if (s.l1_ratio > 0 && !p.hard_margin)
    refuse("option \"l1_ratio\"", "It has no weights on features that could be made sparse.");
  if (s.lambda == 0.0)
    throw Error(ErrorKind::unsupported, "a kernel needs a lambda above 0",
                "Without one nothing bounds a kernel model, which can meet almost any labels: try lambda => 1e-4.");
}

/// What an l1 margin combines, if not features; a search over all trees of depth 2, in each round and by the certificate,
/// goes through all pairs of columns.
void require_learners(const Dataset& data, const Options& options, bool l1_margin) {
  constexpr double most_steps = 4e9;
  const bool trees = options.learners == Learners::trees;
  if (options.learners == Learners::features) return;
  if (!l1_margin)
    throw Error(ErrorKind::unsupported,
                std::string("option \"learners\" => '") + (trees ? "trees" : "stumps") + "' needs the l1 margin",
                "Give norm => 1, without lambda.");
  if (options.standardize)
    throw Error(ErrorKind::unsupported, "option \"standardize\" is not used by stumps and trees",
                "Leave it out: thresholds follow any scale.");
  const double n = static_cast<double>(data.rows()), d = data.dimensions();
  if (trees && d * d * n * std::log2(n) > most_steps)
    throw Error(ErrorKind::unsupported,
                "option \"learners\" => 'trees' searches all trees of depth 2, in features^2 rows log2(rows) steps: " +
                    std::to_string(data.dimensions()) + " features of " + std::to_string(data.rows()) +
                    " rows are too many, expected at most 4e9 steps",
                "Train on fewer features or a sample of the rows, or give learners => 'stumps'.");
}

}  // namespace

double Problem::smoothness() const { return loss->log_link() ? 1 / mean_count : loss->smoothness(); }

std::vector<double> class_weights(const Options& s, const std::vector<std::string>& class_names,
                                  const std::vector<double>& mass) {
  std::vector<double> out(class_names.size(), 1.0);
  if (s.class_weight_balanced) {
    // As scikit-learn: n / (k n_c), with row weights in place of counts.
    double total = 0;
    for (const double m : mass) total += m;
    for (std::size_t c = 0; c < mass.size(); ++c)
      out[c] = mass[c] > 0 ? total / (static_cast<double>(mass.size()) * mass[c]) : 0.0;
  }
  for (const auto& [name, weight] : s.class_weight) {
    const auto at = std::find(class_names.begin(), class_names.end(), name);
    if (at == class_names.end()) {
      std::string known;
      for (const std::string& c : class_names) known += (known.empty() ? "\"" : ", \"") + c + "\"";
      throw Error(ErrorKind::invalid_option,
                  "option \"class_weight\" names the label \"" + name + "\", which no row has",
                  "The labels of these rows are " + known + ".");
    }
    out[static_cast<std::size_t>(at - class_names.begin())] = weight;
  }
  return out;
}

void require_classes(const Dataset& data) {
  if (data.outcome() != Dataset::Outcome::classes) return;
  require_classes(data.classes().numbers(), data.classes().size(), data.rows());
}

void require_classes(bool numbers, std::int64_t classes, std::int64_t rows) {
  if (!numbers || classes <= most_sparse_numbers || rows >= rows_per_number * classes) return;
  throw Error(ErrorKind::invalid_value,
              "the label has " + std::to_string(classes) + " distinct numbers in " + std::to_string(rows) + " rows",
              "For a regression give loss => 'squared' (and lambda); to tell classes apart all the same, cast the "
              "label to text.");
}

bool without_model(const Dataset& data, const Options& options) {
  return options.null_for_one_class && data.outcome() == Dataset::Outcome::classes && data.classes().size() == 1;
}

double norm_of(const Options& s, std::int32_t dimensions) {
  if (!s.sparse_norm) return s.norm;
  return dimensions < 3 ? 2.0 : 1 + 1 / std::log(static_cast<double>(dimensions));
}

Dataset::Outcome outcome_of(const Options& options) {
  if (options.loss == interpolate_loss) return Dataset::Outcome::intervals;
  // Before labels are read as classes, which they may not be.
  if (!options.loss.empty() && margin_loss(options.loss) == MarginLoss::none) make_loss(options.loss, options);
  return !options.hard_margin() && is_regression_loss(options.loss) ? Dataset::Outcome::targets
                                                                    : Dataset::Outcome::classes;
}

void require_calibrated(const Options& s) {
  if (s.calibration == Calibrate::none) return;
  if (s.hard_margin())
    throw Error(ErrorKind::unsupported, "option \"calibration\" needs a soft margin",
                "Give lambda as well: a hard margin has no errors to learn probabilities from.");
  if (outcome_of(s) != Dataset::Outcome::classes)
    throw Error(ErrorKind::unsupported, "option \"calibration\" is not used by a regression",
                "Leave it out, or choose a loss for classes.");
  if (s.lambda == 0.0)
    throw Error(ErrorKind::unsupported, "option \"calibration\" needs a lambda above 0",
                "At lambda 0 the scores of loss \"logistic\" are log-odds as they are.");
}

Problem make_problem(const Dataset& data, const Options& options, const Method& method, const Progress& progress) {
  require_range(data, progress);
  Problem p(data);
  p.hard_margin = options.hard_margin();
  p.intercept = options.intercept;
  p.intercept_scale = options.intercept_scale;
  p.l1_ratio = options.l1_ratio;
  p.penalty_factor = penalty_factors(options, data.dimensions());
  p.bounds = weight_bounds(options, data.dimensions());
  p.constraints = weight_constraints(options, data.dimensions());
  p.offset = offset_feature(options, data.dimensions());
  if (!p.penalty_factor.empty() && (p.hard_margin || !(p.l1_ratio > 0)))
    throw Error(ErrorKind::unsupported, "option \"penalty_factor\" needs a soft margin with l1_ratio",
                "Give lambda and an l1_ratio above 0; 1e-3 is nearly none.");
  p.interpolate = options.loss == interpolate_loss;
  if (p.interpolate && options.lambda)
    throw Error(ErrorKind::unsupported, "loss \"interpolate\" meets every target, and lambda trades errors",
                "Leave lambda out, or choose a regression loss such as squared.");
  if (is_one_class(options))
    set_one_class(p, options);
  else if (data.outcome() != Dataset::Outcome::classes)
    p.task = Task::regression;
  else
    set_labels(p, progress);
  if (p.dimensions() == 0) throw Error(ErrorKind::wrong_dimensions, "the rows have no features, expected at least one");
  p.norm = norm_of(options, data.declared_dimensions());
  if (p.norm != 2 && !p.hard_margin)
    throw Error(ErrorKind::unsupported, "option \"norm\" below 2 needs a hard margin",
                "Leave lambda out, or give l1_ratio for a soft margin with sparse weights.");
  set_kernel(p, options, method, progress);
  if (options.multiclass == Multiclass::joint && p.hard_margin)
    throw Error(ErrorKind::unsupported, "option \"multiclass\" => 'joint' needs lambda",
                "Without lambda the margin is hard; in the l2 norm it separates all classes at once anyway.");
  if (has_bounds(options)) require_bounds_fit(p, options);
  if (!p.constraints.empty()) require_constraints_fit(p, options);
  require_learners(data, options, p.hard_margin && p.norm == 1);
  p.learners = options.learners;
  if (p.offset >= 0) require_offset_fits(p);
  if (p.hard_margin) {
    check_hard_margin(data, options, method, p.norm);
    if (p.interpolate)
      p.loss_name = interpolate_loss;
    else if (method.follows_loss)
      p.loss_name = options.loss.empty() ? "exponential" : options.loss;
    return p;
  }
  require_calibrated(options);
  if (is_one_class(options)) {
    p.free_intercept = p.kernel == nullptr;
    set_row_weights(p, options, progress);
    return p;
  }
  p.loss_name = options.loss.empty() ? "hinge" : options.loss;
  p.loss = make_loss(p.loss_name, options);
  p.lambda = lambda_in_label_units(*options.lambda, options, *p.loss);
  p.free_intercept = options.free_intercept() && p.kernel == nullptr && p.lambda > 0;
  if (options.multiclass == Multiclass::joint) set_joint(p, options);
  if (p.likelihood()) check_likelihood(p, options);
  if (p.l1_ratio == 1) check_lasso(p, options);
  set_row_weights(p, options, progress);
  if (p.task == Task::regression) set_target_units(p, options, progress);
  if (p.target_scale != 1) p.bounds.count_in(p.target_scale);
  if (p.target_scale != 1) p.constraints.count_in(p.target_scale);
  return p;
}

}  // namespace margin
