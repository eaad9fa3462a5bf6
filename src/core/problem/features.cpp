#include "core/problem/features.hpp"

#include <algorithm>

#include "core/loss/joint.hpp"
#include "core/loss/loss.hpp"
#include "core/loss/margin_loss.hpp"
#include "core/problem/bounds.hpp"
#include "core/problem/one_class.hpp"
#include "core/problem/problem.hpp"

namespace margin {

namespace {

unsigned bit_if(bool holds, unsigned bit) { return holds ? bit : 0U; }

bool is_log_link(const Options& s) {
  const auto& losses = loss_names();
  return !s.hard_margin() && std::find(losses.begin(), losses.end(), s.loss) != losses.end() &&
         make_loss(s.loss, s)->log_link();
}

}  // namespace

const std::vector<FeatureRecord>& feature_records() {
  static const std::vector<FeatureRecord> records = {
      {feature::one_class, "one class", "it is a one-class machine"},
      {feature::interpolation, "interpolation", "it meets every target"},
      {feature::hard_margin, "hard margin", "it has no lambda"},
      {feature::lambda_0, "lambda 0", "its lambda is 0"},
      {feature::kernel, "kernel", "it has a kernel"},
      {feature::stumps, "stumps", "it weighs stumps or trees, not features"},
      {feature::regression, "regression", "it is a regression"},
      {feature::several_classes, "several classes", "it has more than two classes"},
      {feature::joint_classes, "joint classes", "its classes are trained jointly"},
      {feature::l1_ratio, "l1_ratio", "it has an l1_ratio above 0"},
      {feature::lasso, "lasso", "its l1_ratio is 1"},
      {feature::bounds, "bounds", "its weights have bounds"},
      {feature::constraints, "constraints", "its weights are under constraints"},
      {feature::penalty_factor, "penalty_factor", "it has penalty factors"},
      {feature::offset, "offset", "it has an offset"},
      {feature::free_intercept, "free intercept", "its intercept is free"},
      {feature::log_link, "log link", "its loss has a log link"},
      {feature::standardize, "standardize", "it is standardized, in units that only the rows of its training know"},
      {feature::balanced_classes, "balanced classes",
       "its class weights are balanced, and only the rows of its training know them"},
      {feature::calibration, "calibration", "it has a calibration"},
      {feature::initial, "initial", "it starts from another model"},
      {feature::dual_weights, "dual_weights", "it is to return its dual weights"},
  };
  return records;
}

std::string names_of(unsigned features) {
  std::string text;
  for (const FeatureRecord& record : feature_records())
    if ((features & record.bit) != 0) text += (text.empty() ? "" : ", ") + std::string(record.name);
  return text.empty() ? "none" : text;
}

// A member of the statement that is not named here does not compile: it is a feature, which those refuse that do not name it,
// or one of those that everything takes.
unsigned features_of(const Problem& p) {
  const auto& [task, classes, norm, learners, interpolate, loss, lambda, l1_ratio, penalty_factor, least_factor, bounds,
               constraints, offset, intercept, free_intercept, intercept_scale, target_center, target_scale,
               class_weight] = static_cast<const Statement&>(p);
  static_cast<void>(classes), static_cast<void>(norm), static_cast<void>(least_factor), static_cast<void>(intercept);
  static_cast<void>(intercept_scale), static_cast<void>(target_center), static_cast<void>(target_scale);
  static_cast<void>(class_weight), static_cast<void>(lambda);
  return bit_if(task == Task::regression, feature::regression) |
         bit_if(task == Task::multiclass, feature::several_classes) |
         bit_if(joint_of(loss.get()) != nullptr, feature::joint_classes) | bit_if(p.one_class(), feature::one_class) |
         bit_if(loss == nullptr && !interpolate, feature::hard_margin) | bit_if(interpolate, feature::interpolation) |
         bit_if(p.likelihood(), feature::lambda_0) | bit_if(p.kernel != nullptr, feature::kernel) |
         bit_if(learners != Learners::features, feature::stumps) | bit_if(l1_ratio > 0, feature::l1_ratio) |
         bit_if(l1_ratio == 1, feature::lasso) | bit_if(!bounds.empty(), feature::bounds) |
         bit_if(!constraints.empty(), feature::constraints) | bit_if(!penalty_factor.empty(), feature::penalty_factor) |
         bit_if(offset >= 0, feature::offset) | bit_if(free_intercept, feature::free_intercept) |
         bit_if(loss != nullptr && loss->log_link(), feature::log_link);
}

unsigned features_of(const Options& s) {
  const bool kernel = !s.kernel.empty() && s.kernel != "linear";
  return bit_if(!s.hard_margin() && is_regression_loss(s.loss), feature::regression) |
         bit_if(s.multiclass == Multiclass::joint && !s.hard_margin(), feature::joint_classes) |
         bit_if(is_one_class(s), feature::one_class) |
         bit_if(s.hard_margin() && s.loss != interpolate_loss, feature::hard_margin) |
         bit_if(s.loss == interpolate_loss, feature::interpolation) | bit_if(s.lambda == 0.0, feature::lambda_0) |
         bit_if(kernel, feature::kernel) | bit_if(s.learners != Learners::features, feature::stumps) |
         bit_if(s.l1_ratio > 0, feature::l1_ratio) | bit_if(s.l1_ratio == 1, feature::lasso) |
         bit_if(has_bounds(s), feature::bounds) |
         bit_if(!s.constraints.empty() || !s.fairness.empty(), feature::constraints) |
         bit_if(!s.penalty_factor.empty() || !s.named_penalty_factor.empty(), feature::penalty_factor) |
         bit_if(!s.offset.empty(), feature::offset) |
         bit_if(s.lambda.value_or(0) > 0 && !kernel && s.free_intercept(), feature::free_intercept) |
         bit_if(is_log_link(s), feature::log_link) | bit_if(s.standardize, feature::standardize) |
         bit_if(s.class_weight_balanced, feature::balanced_classes) |
         bit_if(s.calibration != Calibrate::none, feature::calibration) |
         bit_if(s.initial.has_value(), feature::initial) | bit_if(s.dual_weights, feature::dual_weights);
}

void require_features(const Consumer& consumer, unsigned features, std::string_view subject) {
  const unsigned missing = features & ~consumer.takes;
  if (missing == 0) return;
  for (const FeatureRecord& record : feature_records()) {
    if ((missing & record.bit) == 0) continue;
    std::string_view hint = consumer.hint;
    for (const Consumer::Hint& own : consumer.hints)
      if ((own.features & record.bit) != 0) hint = own.text;
    throw Error(
        ErrorKind::unsupported,
        std::string(consumer.name) + " does not take " + std::string(subject) + ": " + std::string(record.words),
        std::string(hint));
  }
}

}  // namespace margin
