// The only list of options. Each states its values once, for users and for the code that checks them.
#include "core/options/records.hpp"

#include <algorithm>

#include "core/options/setting.hpp"

namespace margin {

namespace {

using namespace setting;

/// `fallback`: where the setting does not know the default.
OptionRecord option(std::string_view name, Setting setting, const std::string& meaning, ReadBy scope,
                    std::string_view readers, const char* fallback = nullptr) {
  const char* const between = setting.values.empty() || meaning.empty() ? "" : ": ";
  return {name,
          setting.type,
          setting.values + between + meaning,
          fallback != nullptr ? fallback : setting.fallback,
          scope,
          readers,
          setting.set};
}

/// Whose values the record says itself.
Setting told(Setting setting) {
  setting.values.clear();
  return setting;
}

constexpr double no_end = std::numeric_limits<double>::infinity();
constexpr Range counts{1, 1e15}, not_negative{0, no_end}, above_zero{0, no_end, nullptr, true}, factors{1e-150, 1e150},
    up_to_one{0, 1, "nu", true};

using Records = std::vector<OptionRecord>;
constexpr ReadBy every = ReadBy::every_training, methods = ReadBy::methods;

Records of_problem() {
  return {
      option("norm", read_by("\"any\"", set_norm),
             "1 <= p <= 2: the p of the lp norm that measures the margin; 'sparse': 1 + 1/ln d", every,
             "every hard margin, interpolation", "2"),
      option("lambda", number_in(&Options::lambda, {1e-300, 1e300, nullptr, false, false, true}), "", every,
             "every soft margin", "none: hard margin"),
      option("loss", read_by("text", set_loss),
             "a loss; without lambda: exponential or logistic, with a first-order solver named or norm => 1, or "
             "interpolate",
             every, "every soft margin, interpolation", "hinge with lambda, else exponential"),
      option("solver", name(&Options::solver), "auto or a solver", every, ""),
      option("tolerance", number_in(&Options::tolerance, {0, 1, "t", false, true}),
             "relative width of the certified interval at which training stops", every, "every solver"),
      option("gap_tolerance", number_in(&Options::gap_tolerance, not_negative),
             "absolute width of the certified interval at which training stops as well", methods, ""),
      option("max_iterations", number_in(&Options::max_iterations, counts), "", every, "every solver",
             "by solver; \"per output\": each output may take as many"),
      option("max_seconds", number_in(&Options::max_seconds, above_zero),
             "seconds that the solver may take; certifying comes on top", every, "every solver", "none"),
      option("intercept", read_by("\"any\"", set_intercept),
             "true, false; of linear soft margins also 'penalized' (weight of a constant feature) or 'free'", every,
             "every solver; 'penalized' soft margins alone, 'free' of these neither sgd nor train_margin_from",
             "true: 'penalized' for linear soft margins but those of the losses quantile and poisson, else 'free'"),
      option("intercept_scale", number_in(&Options::intercept_scale, factors), "value of the constant feature",
             ReadBy::penalized_intercepts, "soft margins with a penalized intercept"),
      option("standardize", flag(&Options::standardize),
             "train on centred columns, and labels of a regression, of unit variance", every, "every solver"),
      option("class_weight", read_by("\"any\"", set_class_weight),
             "'balanced', or an object of label: weight as jsonb or text, weights of 0 or more", every,
             "soft margins with classes", "every class 1"),
  };
}

Records of_run() {
  return {
      option("seed", number_in(&Options::seed, {0, 0x1p53}), "", every, "folds of calibration and cross-validation"),
      option("history", flag(&Options::history), "return the interval after every iteration or epoch", every,
             "every solver"),
      option("dual_weights", flag(&Options::dual_weights),
             "return the dual vector, one value per row (and class) in input order", every, "every solver"),
      option("initial", read_by("margin_model", set_initial), "a model to start from", methods, "", "none"),
      option("log_level",
             one_of<std::string>(
                 &Options::log_level,
                 {{"off", "off"}, {"debug1", "debug1"}, {"log", "log"}, {"info", "info"}, {"notice", "notice"}}),
             "", every, "", "margin.log_level"),
      option("order",
             one_of<Order>(&Options::order, {{"permutation", Order::permutation, "a fresh one every epoch"},
                                             {"random", Order::random, "with replacement"},
                                             {"proportional", Order::proportional,
                                              "random, in proportion to the squares of the rows' norms: not sdca"},
                                             {"cyclic", Order::cyclic}}),
             "", methods, ""),
      option("output",
             one_of<Output>(&Options::output, {{"last", Output::last},
                                               {"average", Output::average, "of the last iterates"},
                                               {"random", Output::random, "one of them"}}),
             "what is returned", methods, "", "the best iterate seen; sgd: last"),
      option("average_from", number_in(&Options::average_from, {0, 1e15}),
             "the iterations after which the outputs average and random begin", methods, "",
             "the last power of two that leaves half"),
      option("draws", number_in(&Options::draws, counts), "rows drawn in an iteration", methods, "",
             "as many as there are"),
      option("start",
             one_of<Start>(&Options::start, {{"zero", Start::zero}, {"sgd", Start::sgd, "an epoch of Modified-SGD"}}),
             "", methods, ""),
  };
}

Records of_soft_margins() {
  return {
      option("l1_ratio", read_by("double precision", set_l1_ratio),
             "0 <= rho <= 1: share of the l1 norm in the regulariser; 1: the lasso, whose intercept is free", every,
             "every soft margin at 0", "0"),
      option("penalty_factor", read_by("\"any\"", set_penalty_factor),
             "factors of the features' penalties, above 0: an array of one per feature, or an object of feature number "
             "or column: factor as jsonb; not rescaled",
             every, "soft margins with l1_ratio above 0 and a smooth loss", "every feature 1"),
      option("positive", flag(&Options::positive), "only weights of 0 or more, the intercept aside", every,
             "linear soft margins with a lambda above 0, one class against the rest"),
      option(
          "bounds", read_by("\"any\"", set_bounds),
          "of weights, in the user's units: [least, most] of all, an array of one such pair per feature, or an object "
          "of feature number, column or name of a feature: pair as jsonb, null where there is no end, '*' for all "
          "others",
          every, "linear soft margins with a lambda above 0, one class against the rest", "none"),
      option("constraints", read_by("jsonb", set_constraints),
             "on several weights, in the user's units: an array of objects with weights (feature number, column or "
             "name of a feature: "
             "coefficient; '*' for all others), min, max or equal, and a name",
             every, "linear soft margins with a lambda above 0 and an l1_ratio of 0, one class against the rest",
             "none"),
      option(
          "fairness", read_by("jsonb", set_fairness),
          "constraints that the rows make: objects with a column (name or feature number) whose values are groups, a "
          "measure (score_parity, true_positive_parity), a bound and a group; the mean scores of a group and of all "
          "other rows differ by the bound at most",
          every, "linear soft margins with a lambda above 0 and an l1_ratio of 0, one class against the rest", "none"),
      option(
          "monotone", read_by("jsonb", set_monotone),
          "an object of feature number or column: 1 where the score may only rise with it, -1 where it may only fall; "
          "of a column cut into bins the sign of every step",
          every, "linear soft margins with a lambda above 0, one class against the rest", "none"),
      option("offset_feature", read_by("\"any\"", set_offset),
             "the number of a feature from 1, or the name of a column: its weight is 1, known and without penalty",
             every, "soft margins of one output", "none"),
      option("epsilon", number_in(&Options::epsilon, {0, 1e150}), "half-width of the tube", methods, ""),
      option("smoothing", number_in(&Options::smoothing, factors), "gamma of the loss", methods, ""),
      option("quantile", number_in(&Options::quantile, {0, 1, "tau", true, true}),
             "the share of labels that is to lie below the predictions", methods, ""),
      option("nu", number_in(&Options::nu, up_to_one), "the share of rows that may be left outside, at most",
             ReadBy::one_class, "train_one_class, train_one_class_from"),
      option("calibration",
             one_of<Calibrate>(
                 &Options::calibration,
                 {{"none", Calibrate::none}, {"platt", Calibrate::platt}, {"isotonic", Calibrate::isotonic}}),
             "how scores become probabilities", every, "soft margins with classes"),
      option("multiclass",
             one_of<Multiclass>(&Options::multiclass,
                                {{"one_vs_rest", Multiclass::one_vs_rest}, {"joint", Multiclass::joint}}),
             "how linear soft margins tell more than two classes apart; joint: softmax regression (loss logistic) or "
             "Crammer and Singer's machine (hinge)",
             every, "soft margins with classes"),
      option("unseen", one_of<bool>(&Options::ignore_unseen, {{"error", false}, {"ignore", true}}),
             "what becomes of features of a sparse row that the training did not have", every, "who uses the model"),
      option("one_class", one_of<bool>(&Options::null_for_one_class, {{"error", false}, {"null", true}}),
             "what a training gives whose rows all have one label; NULL lets the other groups of a GROUP BY have their "
             "models",
             every, "every solver"),
  };
}

Records of_methods() {
  return {
      option("shrinkage", number_in(&Options::shrinkage, up_to_one), "factor of every step of boosting", methods, "",
             "0.1"),
      option("step",
             told(one_of<Step>(&Options::step, {{"quadratic", Step::quadratic},
                                                {"wolfe", Step::wolfe},
                                                {"adaboost", Step::adaboost},
                                                {"optimal", Step::optimal},
                                                {"theory", Step::theory},
                                                {"1/sqrt(t)", Step::inverse_root},
                                                {"frank_wolfe", Step::frank_wolfe}})),
             "quadratic, wolfe, adaboost, optimal, frank_wolfe (boosting); optimal, quadratic (dual_ascent); 1/sqrt(t) "
             "(momentum, "
             "kernel_momentum, normalized_gradient_descent, sampling, mirror_descent); theory (sampling)",
             methods, "", "by solver"),
      option("mirror_loss",
             one_of<MirrorLoss>(&Options::mirror_loss, {{"squared_hinge", MirrorLoss::squared_hinge},
                                                        {"hinge", MirrorLoss::hinge},
                                                        {"squared", MirrorLoss::squared}}),
             "the loss of the margins that mirror descent minimises", methods, ""),
      option("learners",
             one_of<Learners>(&Options::learners, {{"features", Learners::features},
                                                   {"stumps", Learners::stumps},
                                                   {"trees", Learners::trees, "of depth 2"}}),
             "what an l1 margin combines", methods, ""),
      option("accelerated", flag(&Options::accelerated), "take accelerated steps", methods, "", "by solver"),
      option("working_set", flag(&Options::working_set),
             "solve on a small working set of rows that passes over all rows certify and grow; false: the method's own "
             "steps over all rows",
             methods, "", "true with solver auto, else false"),
  };
}

Records of_kernels() {
  return {
      option("kernel", name(&Options::kernel), "a kernel; linear alone leaves the model linear", every, "", "linear"),
      option("gamma", read_by("\"any\"", set_gamma),
             "a positive number; 'scale': 1/(d Var(x)) with the variance of all features of all rows, as in "
             "scikit-learn; 'auto': 1/d",
             methods, "", "scale"),
      option("degree", number_in(&Options::degree, {1, 100}), "of the polynomial kernel", methods, ""),
      option("coef0", number_in(&Options::coef0, not_negative), "constant of the polynomial kernel", methods, ""),
      option("width", number_in(&Options::width, {1, 1e6}), "hidden units, drawn from seed", methods, ""),
      option("n_components", number_in(&Options::n_components, {1, 1e6}),
             "the most rows, drawn from seed, whose kernel values are the features of a low-rank solution", methods,
             ""),
  };
}

Records of_rows() {
  return {
      option("on_error", one_of<bool>(&Options::null_for_error, {{"error", false}, {"null", true}}),
             "what a training gives for rows that cannot be trained on", every, "every solver"),
      option("exclude", read_by("text[]", set_exclude), "columns of a row that are no features", every,
             "rows with named columns", "none"),
      option("include", read_by("text[]", set_include), "the columns of a row that are features, and no others", every,
             "rows with named columns", "all"),
      option("reference", read_by("jsonb", set_reference),
             "an object of column: the category that the others count against, which has no indicator", every,
             "rows with named columns",
             "at lambda => 0 the first: of an enum in its order, of text by its bytes; otherwise none"),
      option("collinear",
             one_of<bool>(&Options::drop_collinear,
                          {{"error", false}, {"drop", true, "leave out, with a NOTICE that names them"}}),
             "what becomes, at lambda => 0, of features that are combinations of those before them", every,
             "rows with named columns"),
      option(
          "missing",
          one_of<Missing>(
              &Options::missing,
              {{"as_trained", Missing::as_trained, "as impute; an error in a column that no training row had NULL in"},
               {"impute", Missing::impute, "the mean, and a feature that says so; for text a category of its own"},
               {"skip", Missing::skip, "the row"},
               {"error", Missing::error}}),
          "what becomes of NULL in a column", every, "rows with named columns"),
      option(
          "unknown_features",
          one_of<bool>(&Options::unknown_is_error, {{"error", true}, {"reference", false, "none of the known ones"}}),
          "what becomes of categories and elements of sets that the training did not have", every,
          "who uses the model"),
      option("max_categories", number_in(&Options::max_categories, {1, 1e6}),
             "distinct values of a column of text, or elements of a set", every, "rows with named columns"),
      option(
          "bins", read_by("\"any\"", set_bins),
          "2 to 1024, true (64) or false, or an object of column: one of these, with \"*\" for all others; an additive "
          "model: a number is cut into so many bins at most, and adds to the score what its bin is worth",
          every, "rows with named columns", "none"),
      option("interactions", read_by("\"any\"", set_interactions),
             "columns that act together: '{age*income, ...}', a number of pairs, of those that gain most, or 'auto': "
             "their number by cross-validation",
             every, "rows with named columns", "none"),
      option("shard", name(&Options::shard),
             "a column of the query: each of its values is asked alone, so that every foreign partition answers for "
             "its rows",
             ReadBy::scans, "train_margin_from, train_one_class_from", "none"),
      option("sample_rows", number_in(&Options::sample_rows, {1, 0x1p53}),
             "rows that the first scan keeps in memory, at most", ReadBy::scans,
             "train_margin_from, train_one_class_from",
             "20000, or fewer; of losses with kinks 1 % of the rows, up to 60000"),
  };
}

}  // namespace

const std::vector<OptionRecord>& option_records() {
  static const Records records = [] {
    Records all;
    for (Records (*const group)() : {of_problem, of_run, of_soft_margins, of_methods, of_kernels, of_rows}) {
      const Records some = group();
      all.insert(all.end(), some.begin(), some.end());
    }
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
