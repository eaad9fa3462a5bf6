#include "core/problem/one_class.hpp"

#include "core/base/error.hpp"
#include "core/loss/one_class.hpp"

namespace margin {

bool is_one_class(const Options& options) { return options.loss == OneClass::id; }

Options one_class_options(Options s) {
  const auto refuse = [](bool given, const char* option, const char* hint) {
    if (given)
      throw Error(ErrorKind::unsupported, "option \"" + std::string(option) + "\" is not used by a one-class machine",
                  hint);
  };
  refuse(s.lambda.has_value(), "lambda", "Give nu instead: the share of rows that may be left outside.");
  refuse(!s.loss.empty(), "loss", "Its loss is its own: leave the option out.");
  refuse(s.null_for_one_class, "one_class", "Its rows have no labels: leave the option out.");
  refuse(!s.intercept || s.intercept_form == InterceptForm::penalized, "intercept",
         "Its boundary is at -intercept, which is free: leave the option out.");
  refuse(s.standardize, "standardize", "Scale the features in SQL, for training and for predicting.");
  refuse(s.class_weight_balanced || !s.class_weight.empty(), "class_weight",
         "Its rows have no classes: give row weights.");
  refuse(s.l1_ratio > 0, "l1_ratio", "Its weights are regularised by their Euclidean norm.");
  refuse(s.norm != 2 || s.sparse_norm, "norm", "Its weights are regularised by their Euclidean norm.");
  refuse(s.learners != Learners::features, "learners", "Leave the option out.");
  refuse(s.calibration != Calibrate::none, "calibration", "Rows of one class say nothing about probabilities.");
  refuse(s.multiclass != Multiclass::one_vs_rest, "multiclass", "Its rows have no classes: leave the option out.");
  refuse(s.initial.has_value(), "initial", "One-class machines are trained from the start.");
  refuse(!s.penalty_factor.empty() || !s.named_penalty_factor.empty(), "penalty_factor",
         "Scale the features in SQL instead.");
  refuse(s.positive, "positive", "Leave the option out.");
  refuse(!s.bounds.empty() || !s.named_bounds.empty(), "bounds", "Leave the option out.");
  refuse(!s.monotone.empty(), "monotone", "Leave the option out.");
  refuse(!s.offset.empty(), "offset", "Leave the option out.");
  s.loss = OneClass::id;
  s.lambda = 1;
  return s;
}

void set_one_class(Problem& p, const Options& options) {
  p.task = Task::binary;
  p.classes = 2;
  p.class_names = {outlier, inlier};
  p.label.assign(static_cast<std::size_t>(p.rows()), 1);
  p.hard_margin = false;
  p.lambda = 1;
  p.loss_name = OneClass::id;
  p.loss = make_loss(p.loss_name, options);
}

Label one_class_label(Dataset& data) { return data.classes().intern(inlier, 0); }

}  // namespace margin
