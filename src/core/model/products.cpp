#include "core/model/products.hpp"

#include <cmath>

#include "core/base/error.hpp"

namespace margin {

namespace {

using namespace feature;

/// What is around an objective, and changes nothing of it.
constexpr unsigned aside = calibration | initial | dual_weights;
/// Linear soft margins of one against the rest with the squared norm alone as penalty.
constexpr unsigned plain = aside | regression | several_classes | log_link;
constexpr unsigned sparse = l1_ratio | feature::bounds | penalty_factor;
constexpr unsigned of_ball = plain | sparse | feature::constraints | joint_classes | offset | balanced_classes;

constexpr const char* verify = "margin_verify(model, label, features) recomputes what the rows prove of it.";
constexpr const char* train_plain =
    "Train with a lambda, without a kernel and without standardize (features of another scale can be scaled in SQL; "
    "those of rows with named columns are scaled by the model).";
constexpr const char* in_given_units =
    "Train on rows with named columns, whose units the model keeps, or on columns that are standardized already.";
constexpr const char* class_numbers =
    "Give the weights themselves to the training: margin_options(class_weight => '{\"label\": weight, ...}').";
constexpr const char* penalized =
    "Train with intercept => 'penalized'; a large intercept_scale makes that penalty small.";
constexpr const char* without_l1 = "Train without l1_ratio.";
constexpr const char* without_bounds = "Train without bounds, positive and monotone.";
constexpr const char* without_constraints = "Train without constraints.";
constexpr const char* one_by_one = "Train without multiclass => 'joint'.";
constexpr const char* held_out = "margin_cross_validate measures held-out errors of any training.";

}  // namespace

constexpr Consumer audit_product = {
    "margin_audit",
    plain | sparse | lasso | free_intercept,
    verify,
    {{{standardize, in_given_units}, {balanced_classes, class_numbers}, {feature::constraints, without_constraints}}}};
constexpr Consumer leave_one_out_product = {"margin_leave_one_out",
                                            aside | several_classes | free_intercept,
                                            held_out,
                                            {{{standardize, in_given_units}, {balanced_classes, class_numbers}}}};
constexpr Consumer score_interval_product = {
    "margin_score_interval",
    of_ball,
    train_plain,
    {{{lasso, "Other weights may be as good, however far they are: give an l1_ratio below 1."},
      {free_intercept, penalized}}}};
constexpr Consumer influence_product = {
    "margin_influence",
    of_ball & ~(joint_classes | balanced_classes | feature::constraints),
    train_plain,
    {{{lasso, "Other weights may be as good, however far they are: give an l1_ratio below 1."},
      {free_intercept, penalized},
      {joint_classes, one_by_one},
      {balanced_classes, class_numbers}}}};
constexpr Consumer gap_at_product = {"margin_gap_at",
                                     plain | joint_classes | balanced_classes | free_intercept,
                                     train_plain,
                                     {{{l1_ratio | lasso | penalty_factor, without_l1},
                                       {feature::bounds, without_bounds},
                                       {feature::constraints, without_constraints},
                                       {offset, "No lambda moves its weight: train at that lambda as well."}}}};
constexpr Consumer update_product = {
    "margin_update",
    plain,
    train_plain,
    {{{l1_ratio | lasso | penalty_factor, without_l1},
      {feature::bounds, without_bounds},
      {feature::constraints, without_constraints},
      {joint_classes, one_by_one},
      {free_intercept,
       "Dual weights that must balance no longer do when rows leave: train with intercept => "
       "'penalized'; a large intercept_scale makes that penalty small."},
      {balanced_classes, "They change with every row: state class_weight in numbers."},
      {offset, "Its part in the sums of the rows is not told: train again with the rows as they are."}}}};
constexpr Consumer curvature_product = {"margin_with_curvature", update_product.takes, train_plain,
                                        update_product.hints};
constexpr Consumer shape_product = {"margin_shape", of_ball | free_intercept, train_plain, {}};
constexpr Consumer question_product = {
    "margin_question",
    plain | hard_margin | interpolation | l1_ratio | lasso | free_intercept | feature::bounds | penalty_factor |
        feature::offset | joint_classes | lambda_0,
    verify,
    {{{one_class, "margin_verify(model, features) recomputes its objective."},
      {balanced_classes, "Give them as numbers: class_weight => '{\"label\": weight, ...}'."}}}};

unsigned features_of(const Model& model, const Options& options) {
  Options s = options;
  s.lambda = model.lambda;  // what the model says is what is checked, whatever its options say
  s.loss = model.loss;
  s.kernel.clear();
  s.learners = Learners::features;
  const bool stumps_only = options.learners != Learners::features;
  return features_of(s) |
         (model.basis == nullptr ? 0U
          : stumps_only          ? stumps
                                 : kernel) |
         (model.classes.size() > 2 ? several_classes : 0U);
}

void refuse_model(const Consumer& product, const std::string& reason, const std::string& hint) {
  throw Error(ErrorKind::unsupported, std::string(product.name) + " does not take this model: " + reason,
              hint.empty() ? std::string(product.hint) : hint);
}

void require_product(const Consumer& product, const Model& model, const Options& options) {
  require_features(product, features_of(model, options), "this model");
}

/// Of two classes: those of one output.
static unsigned features_of_ball(const Model& model, const Options& options) {
  return features_of(model, options) & ~(model.outputs() == 1 ? joint_classes : 0U);
}

bool takes_ball(const Consumer& product, const Model& model, const Options& options) {
  return (features_of_ball(model, options) & ~product.takes) == 0 && model.target_scale.value_or(1) == 1 &&
         !std::isnan(model.certificate.gap);
}

void require_ball(const Consumer& product, const Model& model, const Options& options) {
  require_features(product, features_of_ball(model, options), "this model");
  if (model.target_scale.value_or(1) != 1)
    refuse_model(product, "its certificate is in standardised units, which only the training rows know");
  if (std::isnan(model.certificate.gap)) refuse_model(product, "its gap is NULL");
}

}  // namespace margin
