// The only list of options. Each states its values once in words, for users, and once as the code that checks them.
#include "core/options/records.hpp"

#include <algorithm>
#include <cmath>

#include "core/options/setters.hpp"

namespace margin {

namespace {

using Records = std::vector<OptionRecord>;

/// What is to be solved, and how well.
Records records_of_objectives() {
  return {
      {"norm", "\"any\"", "1 <= p <= 2: the p of the lp norm that measures the margin; 'sparse': 1 + 1/ln d", "2",
       ReadBy::every_training, "every hard margin, interpolation", set_norm},
      {"lambda", "double precision", "0, or 1e-300 to 1e300", "none: hard margin", ReadBy::every_training,
       "every soft margin",
       [](Options& s, std::string_view k, const Value& v) {
         s.lambda = number(k, v, "0 or a number from 1e-300 to 1e300",
                           [](double x) { return x == 0 || (x >= 1e-300 && x <= 1e300); });
       }},
      {"loss", "text",
       "a loss; without lambda: exponential or logistic, with a first-order solver named or norm => 1, or "
       "interpolate",
       "hinge with lambda, else exponential", ReadBy::every_training, "every soft margin, interpolation", set_loss},
      {"solver", "text", "auto or a solver", "auto", ReadBy::every_training, "",
       [](Options& s, std::string_view k, const Value& v) { s.solver = text(k, v); }},
      {"tolerance", "double precision", "0 <= t < 1: relative width of the certified interval at which training stops",
       "0.001", ReadBy::every_training, "every solver",
       [](Options& s, std::string_view k, const Value& v) {
         s.tolerance = number(k, v, "a number of at least 0 and below 1", [](double x) { return x >= 0 && x < 1; });
       }},
      {"gap_tolerance", "double precision",
       "0 or more: absolute width of the certified interval at which training stops as well", "0", ReadBy::methods, "",
       [](Options& s, std::string_view k, const Value& v) {
         s.gap_tolerance = number(k, v, "a number of 0 or more", [](double x) { return x >= 0; });
       }},
      {"max_iterations", "bigint", "1 to 10^15", "by solver; \"per output\": each output may take as many",
       ReadBy::every_training, "every solver",
       [](Options& s, std::string_view k, const Value& v) {
         s.max_iterations = static_cast<std::int64_t>(number(k, v, "a whole number from 1 to 1e15", [](double x) {
           return x >= 1 && x <= 1e15 && x == std::floor(x);
         }));
       }},
      {"max_seconds", "double precision", "above 0: seconds that the solver may take; certifying comes on top", "none",
       ReadBy::every_training, "every solver",
       [](Options& s, std::string_view k, const Value& v) {
         s.max_seconds = number(k, v, "a positive number", [](double x) { return x > 0; });
       }},
      {"intercept", "\"any\"",
       "true, false; of linear soft margins also 'penalized' (weight of a constant feature) or 'free'",
       "true: 'penalized' for linear soft margins but those of the losses quantile and poisson, else 'free'",
       ReadBy::every_training,
       "every solver; 'penalized' soft margins alone, 'free' of these neither sgd nor train_margin_from",
       set_intercept},
      {"intercept_scale", "double precision", "1e-150 to 1e150: value of the constant feature", "1",
       ReadBy::penalized_intercepts, "soft margins with a penalized intercept",
       [](Options& s, std::string_view k, const Value& v) {
         s.intercept_scale =
             number(k, v, "a number from 1e-150 to 1e150", [](double x) { return x >= 1e-150 && x <= 1e150; });
       }},
      {"standardize", "boolean", "train on centred columns, and labels of a regression, of unit variance", "false",
       ReadBy::every_training, "every solver",
       [](Options& s, std::string_view k, const Value& v) { s.standardize = boolean(k, v); }},
      {"class_weight", "\"any\"", "'balanced', or an object of label: weight as jsonb or text, weights of 0 or more",
       "every class 1", ReadBy::every_training, "soft margins with classes", set_class_weight},
  };
}

/// The course of a training, and what of it is returned.
Records records_of_courses() {
  return {
      {"seed", "bigint", "0 to 2^53", "0", ReadBy::every_training, "folds of calibration and cross-validation",
       [](Options& s, std::string_view k, const Value& v) {
         s.seed = static_cast<std::uint64_t>(number(k, v, "a whole number from 0 to 2^53", [](double x) {
           return x >= 0 && x <= 9007199254740992.0 && x == std::floor(x);
         }));
       }},
      {"history", "boolean", "return the interval after every iteration or epoch", "false", ReadBy::every_training,
       "every solver", [](Options& s, std::string_view k, const Value& v) { s.history = boolean(k, v); }},
      {"dual_weights", "boolean", "return the dual vector, one value per row (and class) in input order", "false",
       ReadBy::every_training, "every solver",
       [](Options& s, std::string_view k, const Value& v) { s.dual_weights = boolean(k, v); }},
      {"initial", "margin_model", "a model to start from", "none", ReadBy::methods, "", set_initial},
      {"log_level", "text", "off, debug1, log, info, notice", "margin.log_level", ReadBy::every_training, "",
       [](Options& s, std::string_view k, const Value& v) {
         s.log_level = choice<std::string>(
             k, v, {{"debug1", "debug1"}, {"log", "log"}, {"info", "info"}, {"notice", "notice"}, {"off", "off"}});
       }},
      {"order", "text",
       "permutation (a fresh one every epoch), random (with replacement), proportional (random, in proportion to "
       "the squares of the rows' norms: not sdca), cyclic",
       "permutation", ReadBy::methods, "",
       [](Options& s, std::string_view k, const Value& v) {
         s.order = choice<Order>(k, v,
                                 {{"permutation", Order::permutation},
                                  {"random", Order::random},
                                  {"cyclic", Order::cyclic},
                                  {"proportional", Order::proportional}});
       }},
      {"output", "text", "last iterate, average of the last iterates, a random one of them: what is returned",
       "the best iterate seen; sgd: last", ReadBy::methods, "",
       [](Options& s, std::string_view k, const Value& v) {
         s.output =
             choice<Output>(k, v, {{"last", Output::last}, {"average", Output::average}, {"random", Output::random}});
       }},
      {"average_from", "bigint", "0 to 10^15: the iterations after which the outputs average and random begin",
       "the last power of two that leaves half", ReadBy::methods, "",
       [](Options& s, std::string_view k, const Value& v) {
         s.average_from = static_cast<std::int64_t>(number(k, v, "a whole number from 0 to 1e15", [](double x) {
           return x >= 0 && x <= 1e15 && x == std::floor(x);
         }));
       }},
      {"draws", "bigint", "1 to 10^15: rows drawn in an iteration", "as many as there are", ReadBy::methods, "",
       [](Options& s, std::string_view k, const Value& v) {
         s.draws = static_cast<std::int64_t>(number(k, v, "a whole number from 1 to 1e15", [](double x) {
           return x >= 1 && x <= 1e15 && x == std::floor(x);
         }));
       }},
      {"start", "text", "zero, sgd (an epoch of Modified-SGD)", "zero", ReadBy::methods, "",
       [](Options& s, std::string_view k, const Value& v) {
         s.start = choice<Start>(k, v, {{"zero", Start::zero}, {"sgd", Start::sgd}});
       }},
  };
}

/// Penalties, losses, classes.
Records records_of_penalties_and_losses() {
  return {
      {"l1_ratio", "double precision",
       "0 <= rho <= 1: share of the l1 norm in the regulariser; 1: the lasso, whose intercept is free", "0",
       ReadBy::every_training, "every soft margin, above 0 sdca and prox_newton", set_l1_ratio},
      {"penalty_factor", "\"any\"",
       "factors of the features' penalties, above 0: an array of one per feature, or an object of feature "
       "number or column: factor as jsonb; not rescaled",
       "every feature 1", ReadBy::every_training, "soft margins with l1_ratio above 0 and a smooth loss",
       set_penalty_factor},
      {"positive", "boolean", "only weights of 0 or more, the intercept aside", "false", ReadBy::every_training,
       "soft margins with l1_ratio above 0 and a smooth loss",
       [](Options& s, std::string_view k, const Value& v) { s.positive = boolean(k, v); }},
      {"offset_feature", "\"any\"",
       "the number of a feature from 1, or the name of a column: its weight is 1, known and without penalty", "none",
       ReadBy::every_training, "soft margins of one output; not sdca, sgd, train_margin_from", set_offset},
      {"epsilon", "double precision", "0 to 1e150: half-width of the tube", "0.1", ReadBy::methods, "",
       [](Options& s, std::string_view k, const Value& v) {
         s.epsilon = number(k, v, "a number from 0 to 1e150", [](double x) { return x >= 0 && x <= 1e150; });
       }},
      {"smoothing", "double precision", "1e-150 to 1e150: gamma of the loss", "1", ReadBy::methods, "",
       [](Options& s, std::string_view k, const Value& v) {
         s.smoothing =
             number(k, v, "a number from 1e-150 to 1e150", [](double x) { return x >= 1e-150 && x <= 1e150; });
       }},
      {"quantile", "double precision", "0 < tau < 1: the share of labels that is to lie below the predictions", "0.5",
       ReadBy::methods, "",
       [](Options& s, std::string_view k, const Value& v) {
         s.quantile = number(k, v, "a number between 0 and 1", [](double x) { return x > 0 && x < 1; });
       }},
      {"nu", "double precision", "0 < nu <= 1: the share of rows that may be left outside, at most", "0.5",
       ReadBy::one_class, "train_one_class",
       [](Options& s, std::string_view k, const Value& v) {
         s.nu = number(k, v, "a number above 0 and at most 1", [](double x) { return x > 0 && x <= 1; });
       }},
      {"calibration", "text", "none, platt, isotonic: how scores become probabilities", "none", ReadBy::every_training,
       "soft margins with classes",
       [](Options& s, std::string_view k, const Value& v) {
         s.calibration = choice<Calibrate>(
             k, v, {{"none", Calibrate::none}, {"platt", Calibrate::platt}, {"isotonic", Calibrate::isotonic}});
       }},
      {"multiclass", "text",
       "one_vs_rest, joint: how linear soft margins tell more than two classes apart; joint: softmax regression "
       "(loss logistic) or Crammer and Singer's machine (hinge)",
       "one_vs_rest", ReadBy::every_training, "soft margins with classes",
       [](Options& s, std::string_view k, const Value& v) {
         s.multiclass =
             choice<Multiclass>(k, v, {{"one_vs_rest", Multiclass::one_vs_rest}, {"joint", Multiclass::joint}});
       }},
      {"unseen", "text", "error, ignore: what becomes of features of a sparse row that the training did not have",
       "error", ReadBy::every_training, "who uses the model",
       [](Options& s, std::string_view k, const Value& v) {
         s.ignore_unseen = choice<bool>(k, v, {{"error", false}, {"ignore", true}});
       }},
      {"one_class", "text",
       "error, null: what a training gives whose rows all have one label; NULL lets the other groups of a "
       "GROUP BY "
       "have their models",
       "error", ReadBy::every_training, "every solver",
       [](Options& s, std::string_view k, const Value& v) {
         s.null_for_one_class = choice<bool>(k, v, {{"error", false}, {"null", true}});
       }},
  };
}

/// Steps, learners, kernels.
Records records_of_methods() {
  return {
      {"shrinkage", "double precision", "0 < nu <= 1: factor of every step of boosting", "0.1", ReadBy::methods, "",
       [](Options& s, std::string_view k, const Value& v) {
         s.shrinkage = number(k, v, "a number above 0 and at most 1", [](double x) { return x > 0 && x <= 1; });
       }},
      {"step", "text",
       "quadratic, wolfe, adaboost, optimal (boosting); optimal, quadratic (dual_ascent); 1/sqrt(t) "
       "(momentum, kernel_momentum, normalized_gradient_descent, sampling, "
       "mirror_descent); theory (sampling)",
       "by solver", ReadBy::methods, "",
       [](Options& s, std::string_view k, const Value& v) {
         s.step = choice<Step>(k, v,
                               {{"quadratic", Step::quadratic},
                                {"wolfe", Step::wolfe},
                                {"adaboost", Step::adaboost},
                                {"optimal", Step::optimal},
                                {"theory", Step::theory},
                                {"1/sqrt(t)", Step::inverse_root}});
       }},
      {"mirror_loss", "text", "squared_hinge, hinge, squared: the loss of the margins that mirror descent minimises",
       "squared_hinge", ReadBy::methods, "",
       [](Options& s, std::string_view k, const Value& v) {
         s.mirror_loss = choice<MirrorLoss>(k, v,
                                            {{"squared_hinge", MirrorLoss::squared_hinge},
                                             {"hinge", MirrorLoss::hinge},
                                             {"squared", MirrorLoss::squared}});
       }},
      {"learners", "text", "features, stumps: what an l1 margin combines", "features", ReadBy::methods, "",
       [](Options& s, std::string_view k, const Value& v) {
         s.learners = choice<Learners>(k, v, {{"features", Learners::features}, {"stumps", Learners::stumps}});
       }},
      {"accelerated", "boolean", "take accelerated steps", "by solver", ReadBy::methods, "",
       [](Options& s, std::string_view k, const Value& v) { s.accelerated = boolean(k, v); }},
      {"working_set", "boolean",
       "solve on a small working set of rows that passes over all rows certify and grow; false: the method's "
       "own steps "
       "over all rows",
       "true with solver auto, else false", ReadBy::methods, "",
       [](Options& s, std::string_view k, const Value& v) { s.working_set = boolean(k, v); }},
      {"kernel", "text", "a kernel; linear alone leaves the model linear", "linear", ReadBy::every_training, "",
       [](Options& s, std::string_view k, const Value& v) { s.kernel = text(k, v); }},
      {"gamma", "\"any\"",
       "a positive number; 'scale': 1/(d Var(x)) with the variance of all features of all rows, as in "
       "scikit-learn; "
       "'auto': 1/d",
       "scale", ReadBy::methods, "", set_gamma},
      {"degree", "integer", "1 to 100: of the polynomial kernel", "3", ReadBy::methods, "",
       [](Options& s, std::string_view k, const Value& v) {
         s.degree = number(k, v, "a whole number from 1 to 100",
                           [](double x) { return x >= 1 && x <= 100 && x == std::floor(x); });
       }},
      {"coef0", "double precision", "0 or more: constant of the polynomial kernel", "0", ReadBy::methods, "",
       [](Options& s, std::string_view k, const Value& v) {
         s.coef0 = number(k, v, "a number of 0 or more", [](double x) { return x >= 0; });
       }},
      {"width", "integer", "1 to 10^6: hidden units, drawn from seed", "1024", ReadBy::methods, "",
       [](Options& s, std::string_view k, const Value& v) {
         s.width = static_cast<std::int32_t>(number(k, v, "a whole number from 1 to 1000000",
                                                    [](double x) { return x >= 1 && x <= 1e6 && x == std::floor(x); }));
       }},
  };
}

/// Rows, their columns and where they are.
Records records_of_rows() {
  return {
      {"on_error", "text", "error, null: what a training gives for rows that cannot be trained on", "error",
       ReadBy::every_training, "every solver",
       [](Options& s, std::string_view k, const Value& v) {
         s.null_for_error = choice<bool>(k, v, {{"error", false}, {"null", true}});
       }},
      {"exclude", "text[]", "columns of a row that are no features", "none", ReadBy::every_training,
       "rows with named columns", [](Options& s, std::string_view k, const Value& v) { s.exclude = names(k, v); }},
      {"missing", "text",
       "as_trained (as impute; an error in a column that no training row had NULL in), impute (the mean, and a "
       "feature that says so; for text a category of its own), skip (the row), error: what becomes of NULL in a "
       "column",
       "as_trained", ReadBy::every_training, "rows with named columns",
       [](Options& s, std::string_view k, const Value& v) {
         s.missing = choice<Missing>(k, v,
                                     {{"as_trained", Missing::as_trained},
                                      {"impute", Missing::impute},
                                      {"skip", Missing::skip},
                                      {"error", Missing::error}});
       }},
      {"unknown_features", "text",
       "error, reference (none of the known ones): what becomes of categories that the training did not have", "error",
       ReadBy::every_training, "who uses the model",
       [](Options& s, std::string_view k, const Value& v) {
         s.unknown_is_error = choice<bool>(k, v, {{"reference", false}, {"error", true}});
       }},
      {"max_categories", "integer", "1 to 10^6: distinct values of a column of text", "1000", ReadBy::every_training,
       "rows with named columns",
       [](Options& s, std::string_view k, const Value& v) {
         s.max_categories = static_cast<std::int32_t>(number(k, v, "a whole number from 1 to 1000000", [](double x) {
           return x >= 1 && x <= 1e6 && x == std::floor(x);
         }));
       }},
      {"shard", "text",
       "a column of the query: each of its values is asked alone, so that every foreign partition answers for "
       "its rows",
       "none", ReadBy::scans, "train_margin_from",
       [](Options& s, std::string_view k, const Value& v) { s.shard = text(k, v); }},
      {"sample_rows", "bigint", "1 or more: rows that the first scan keeps in memory, at most", "20000, or fewer",
       ReadBy::scans, "train_margin_from",
       [](Options& s, std::string_view k, const Value& v) {
         s.sample_rows = static_cast<std::int64_t>(number(k, v, "a whole number of 1 or more", [](double x) {
           return x >= 1 && x <= 0x1p53 && x == std::floor(x);
         }));
       }},
  };
}

}  // namespace

const std::vector<OptionRecord>& option_records() {
  static const Records records = [] {
    Records all;
    for (const auto part : {records_of_objectives, records_of_courses, records_of_penalties_and_losses,
                            records_of_methods, records_of_rows})
      for (OptionRecord& record : part()) all.push_back(std::move(record));
    return all;
  }();
  return records;
}

const std::vector<std::string_view>& option_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> out;
    for (const OptionRecord& record : option_records()) out.push_back(record.name);
    return out;
  }();
  return names;
}

Options parse_options(const Value::Object& options) {
  Options s;
  for (const auto& [key, value] : options) {
    const auto& records = option_records();
    const std::string& name = key;  // clang 14 captures no structured binding
    const auto record = std::find_if(records.begin(), records.end(), [&](const auto& r) { return r.name == name; });
    if (record == records.end()) throw unknown_option(key, option_names());
    if (std::holds_alternative<std::monostate>(value.data)) continue;  // null: the default
    record->set(s, key, value);
    s.given.push_back(record->name);
  }
  return s;
}

}  // namespace margin
