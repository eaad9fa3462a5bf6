#include "core/options/foreign_names.hpp"

#include <algorithm>

namespace margin {

namespace {

struct ForeignName {
  std::string_view names;  ///< in lower case, each between blanks
  std::string_view hint;
};

constexpr ForeignName options[] = {
    {" c cost ", "The C of other programs is 1/(lambda times the number of rows): give lambda."},
    {" alpha reg_lambda regularization weight_decay reg ",
     "Here it is \"lambda\", the factor of half the squared norm; scikit-learn's Ridge has alpha = lambda * rows / 2."},
    {" lambdas ", "margin_path and margin_cross_validate read it; here it is \"lambda\", one number."},
    {" losses folds metric ", "Only margin_cross_validate reads it."},
    {" cv n_splits k_folds ", "margin_cross_validate reads it, as \"folds\"."},
    {" scoring ", "margin_cross_validate reads it, as \"metric\"."},
    {" penalty ",
     "'l2' is the penalty of every model with lambda; 'l1' is \"l1_ratio\" 1, 'elasticnet' less; no penalty is "
     "\"lambda\" => 0."},
    {" reg_alpha ", "An l1 penalty is a share of lambda here: \"l1_ratio\"."},
    {" n_iter epochs n_epochs n_estimators num_boost_round n_rounds iterations ", "Here it is \"max_iterations\"."},
    {" eps stopping_tolerance ", "Here it is \"tolerance\", the relative width of the certified interval."},
    {" learning_rate eta eta0 lr step_size ",
     "Steps are chosen by the solver; boosting has \"shrinkage\" and \"step\"."},
    {" random_state random_seed ", "Here it is \"seed\"."},
    {" fit_intercept bias ", "Here it is \"intercept\", true or false."},
    {" intercept_scaling ", "Here it is \"intercept_scale\"."},
    {" normalize scale scaler scaling standardise ", "Here it is \"standardize\", true or false."},
    {" class_weights scale_pos_weight ", "Here it is \"class_weight\": 'balanced', or an object of label: weight."},
    {" sample_weight sample_weights weights ",
     "Row weights are an argument: train_margin(label, features, weight, options)."},
    {" probability ", "Here it is \"calibration\": 'platt' or 'isotonic'; the loss logistic needs none."},
    {" warm_start coef_init init ", "Here it is \"initial\", a model to start from."},
    {" verbose ", "Here it is \"log_level\", or the setting margin.log_level."},
    {" base_estimator estimator weak_learner ", "Here it is \"learners\": 'features', 'stumps' or 'trees'."},
    {" max_depth depth tree_depth ", "Here it is \"learners\": 'stumps' have depth 1, 'trees' depth 2."},
    {" n_jobs n_threads nthread ",
     "Threads are the setting margin.threads: by default as many as the server grants a parallel query."},
    {" offset base_margin init_score ", "Here it is \"offset_feature\", one of the features."},
    {" exposure ", "The logarithm of it is a feature here, named by \"offset_feature\"."},
    {" reference_level ref_level baseline base_level drop_first drop ",
     "Here it is \"reference\", an object of column: category; without it, the first category of each column at "
     "\"lambda\" => 0, and none otherwise."},
    {" delta huber_delta ", "Here it is \"smoothing\"."},
};

constexpr ForeignName losses[] = {
    {" log_loss log logloss logistic_regression binary_crossentropy cross_entropy crossentropy deviance binomial ",
     "Here it is \"logistic\"."},
    {" squared_error squared_loss mse l2 ls least_squares ridge mean_squared_error gaussian rmse ",
     "Here it is \"squared\"."},
    {" absolute_error mae l1 lad mean_absolute_error ", "Here it is \"absolute\"; the penalty l1 is \"l1_ratio\"."},
    {" svm svc hinge_loss linear_svm l1_loss ", "Here it is \"hinge\"."},
    {" l2_hinge l2_loss ", "Here it is \"squared_hinge\"."},
    {" modified_huber smooth_hinge ", "Near to it is \"smoothed_hinge\"."},
    {" svr epsilon_insensitive_loss eps_insensitive ", "Here it is \"epsilon_insensitive\"."},
    {" squared_epsilon l2_epsilon_insensitive ", "Here it is \"squared_epsilon_insensitive\"."},
    {" huber_loss smooth_l1 pseudo_huber ", "Here it is \"huber\"."},
    {" pinball quantile_loss check ", "Here it is \"quantile\"."},
    {" gamma tweedie inverse_gaussian ",
     "There is none; \"poisson\" takes any labels of 0 or more, and \"squared\" their logarithms."},
    {" oneclass one_class_svm ocsvm oneclasssvm ", "One-class machines are trained by train_one_class."},
    {" perceptron ", "It is a solver, of hard margins: solver => 'perceptron'."},
};

constexpr ForeignName solvers[] = {
    {" lbfgs liblinear newton-cg newton-cholesky saga sag tron cholesky svd lsqr sparse_cg ",
     "Leave solver out: 'auto' chooses; 'newton' and 'sdca' are the certified methods for soft margins."},
    {" adam sgdclassifier sgdregressor momentum_sgd ", "Stochastic gradient descent is \"sgd\"."},
    {" libsvm svm ", "Here it is \"smo\", for kernels; leave solver out and 'auto' chooses."},
    {" adaboost gradient_boosting gbm xgboost ", "Here it is \"boosting\", with norm => 1."},
};

constexpr ForeignName metrics[] = {
    {" roc_auc roc auroc auc_roc roc_auc_score area_under_curve ", "Here it is \"auc\"."},
    {" pr_auc auprc average_precision_score ", "Here it is \"average_precision\"."},
    {" f1_score f1_binary ", "Here it is \"f1\"; \"f1_macro\" is the mean over the classes."},
    {" accuracy_score acc ", "Here it is \"accuracy\"."},
    {" balanced_accuracy_score ", "Here it is \"balanced_accuracy\"."},
    {" matthews_corrcoef matthews ", "Here it is \"mcc\"."},
    {" neg_log_loss logloss cross_entropy binary_crossentropy ", "Here it is \"log_loss\"."},
    {" brier_score brier_score_loss neg_brier_score ", "Here it is \"brier\"."},
    {" rmse neg_mean_squared_error mean_squared_error neg_root_mean_squared_error root_mean_squared_error ",
     "Here it is \"mse\", the mean of the squares."},
    {" neg_mean_absolute_error mean_absolute_error ", "Here it is \"mae\"."},
    {" r2_score ", "Here it is \"r2\"."},
    {" pinball_loss mean_pinball_loss quantile_loss ", "Here it is \"pinball\"."},
};

template <std::size_t n>
std::string hint(const ForeignName (&table)[n], std::string_view name) {
  if (name.size() > 100) return {};  // none of these, and a copy of it would take long
  std::string key(" ");
  for (const char c : name) key += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  key += ' ';
  if (name.empty() || name.find(' ') != std::string_view::npos) return {};
  const auto* found = std::find_if(std::begin(table), std::end(table),
                                   [&](const ForeignName& f) { return f.names.find(key) != std::string_view::npos; });
  return found == std::end(table) ? std::string() : std::string(found->hint);
}

}  // namespace

std::string hint_for_foreign_option(std::string_view name) { return hint(options, name); }
std::string hint_for_foreign_loss(std::string_view name) { return hint(losses, name); }
std::string hint_for_foreign_solver(std::string_view name) { return hint(solvers, name); }
std::string hint_for_foreign_metric(std::string_view name) { return hint(metrics, name); }

}  // namespace margin
