// What a user may ask for. Parsed from named values in one place, validated once, one sentence per rule.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/error.hpp"

namespace margin {

/// Options as they arrive (JSON without its syntax): the only types that an option can have.
struct Value {
  using Array = std::vector<Value>;
  using Object = std::map<std::string, Value>;
  std::variant<std::monostate, bool, double, std::string, Array, Object> data;
};

enum class Order { permutation, random, cyclic, proportional };  // proportional: random, by the squares of the norms
enum class Output { last, average, random };
enum class Start { zero, sgd };
enum class Calibrate { none, platt, isotonic };
// inverse_root: 1/√(t+1)
enum class Step { automatic, quadratic, wolfe, adaboost, optimal, theory, inverse_root, frank_wolfe };
enum class MirrorLoss { squared_hinge, hinge, squared };
enum class Learners { features, stumps, trees };
enum class Missing { as_trained, impute, skip, error };
enum class InterceptForm { by_default, free, penalized };
/// Into how many bins each number is cut, at most; 0: it stays one.
struct Bins {
  std::int32_t others = 0;
  std::map<std::string, std::int32_t> named = {};  ///< by column

  std::int32_t of(const std::string& column) const {
    const auto found = named.find(column);
    return found == named.end() ? others : found->second;
  }
  bool any() const {
    for (const auto& [column, bins] : named)
      if (bins > 0) return true;
    return others > 0;
  }
};

/// Pairs of columns that act together (encoder/pair.hpp).
struct Interactions {
  std::vector<std::string> named = {};  ///< `age*income`
  std::int32_t screened = 0;            ///< as many of those that gain most beside the columns by themselves
  bool chosen = false;                  ///< so many of them as cross-validation finds best

  /// Which pairs it will be is known only after a training.
  bool searched() const { return screened > 0 || chosen; }
};

enum class Multiclass { one_vs_rest, joint };
enum class Gamma { scale, automatic, number };

/// A previous model to start from (option `initial`): weights and intercept per output, duals where it carries them.
struct InitialModel {
  std::vector<double> weights, intercept, dual_weights;
  std::vector<std::int32_t> columns = {};  ///< 0-based features of the weights, ascending; empty: all
  std::int32_t dimensions = 0;             ///< features of a row; 0: not told
  Value encoder = {};                      ///< of rows with named columns: what the features are
};

/// l ≤ w ≤ u of one weight.
struct WeightRange {
  double lower = -std::numeric_limits<double>::infinity(), upper = std::numeric_limits<double>::infinity();
};

/// lower ≤ Σ coefficient · weight ≤ upper.
struct NamedConstraint {
  std::string name;
  std::map<std::string, double> weights;  ///< by feature number or column; "*": of all others
  double lower = -std::numeric_limits<double>::infinity(), upper = std::numeric_limits<double>::infinity();
};

/// What is to be alike in the mean of a group of rows and of all others.
enum class Parity {
  score,         ///< the score
  true_positive  ///< the score of the rows of the positive class
};
/// −bound ≤ mean score of a group − mean score of the rest ≤ bound (problem/fairness.hpp).
struct Fairness {
  std::string column;  ///< feature number or column that tells the groups apart
  Parity measure = Parity::score;
  double bound = 0;
  std::string group;  ///< empty: each of them
  std::map<std::string, double>
      weights;       ///< by feature number, how far apart the means of the features are; empty: not known yet
  double shift = 0;  ///< the same of the offset
  /// Of the column among the features of the rows at hand: their numbers, from 0, and how a group of certain values is called.
  std::vector<std::int32_t> features;
  std::function<std::string(const std::vector<double>&)> name_of;
};

struct Options {
  // The problem: pick a norm, and say whether errors may be traded (lambda).
  double norm = 2;               ///< p of the lp norm that measures the margin, 1 to 2
  bool sparse_norm = false;      ///< norm 'sparse': p = 1 + 1/ln d
  std::optional<double> lambda;  ///< absent: hard margin
  std::string loss;              ///< empty: exponential (hard margin) or hinge (lambda given)
  bool intercept = true;
  InterceptForm intercept_form = InterceptForm::by_default;
  double intercept_scale = 1;
  bool standardize = false;
  bool class_weight_balanced = false;
  std::map<std::string, double> class_weight;  ///< label text -> weight; others 1
  double epsilon = 0.1;                        ///< width of the epsilon-insensitive tube
  double smoothing = 1.0;                      ///< gamma of the smoothed hinge
  double quantile = 0.5;                       ///< tau of the quantile loss
  double l1_ratio = 0;
  std::vector<double> penalty_factor;                  ///< of each feature's penalty; empty: 1 each
  std::map<std::string, double> named_penalty_factor;  ///< the same by feature number or column; others 1
  bool positive = false;                               ///< weights of 0 or more
  std::vector<WeightRange> bounds;                     ///< of each feature's weight; empty: none
  std::map<std::string, WeightRange> named_bounds;     ///< the same by feature number or column; "*": of all others
  std::vector<NamedConstraint> constraints;            ///< on several weights
  std::vector<Fairness> fairness;                      ///< constraints that the rows make
  std::map<std::string, bool> monotone;             ///< by feature number or column: the score may only rise, or fall
  Multiclass multiclass = Multiclass::one_vs_rest;  ///< how more than two classes are trained
  double nu = 0.5;                                  ///< of a one-class machine: the share of rows left outside, at most
  std::string offset;                               ///< feature number or column whose weight is 1; empty: none
  Calibrate calibration = Calibrate::none;          ///< how scores become probabilities (soft margins with classes)
  Learners learners = Learners::features;           ///< what an l1 margin combines
  std::string kernel;                               ///< empty: linear, with weights on the features
  Gamma gamma = Gamma::scale;                       ///< as scikit-learn: 1/(d Var(X)), 1/d, or `gamma_value`
  double gamma_value = 0, coef0 = 0;
  std::int32_t degree = 3;
  std::int32_t width = 1024;         ///< hidden units of the tangent kernel of finite width
  std::int32_t n_components = 2048;  ///< nystrom: the most rows that its features are of

  // The method.
  std::string solver = "auto";
  double tolerance = 1e-3;   ///< relative width of the certified interval
  double gap_tolerance = 0;  ///< absolute width that is enough as well (sdca, sgd, boosting)
  std::optional<std::int64_t> max_iterations;
  std::optional<double> max_seconds;
  std::uint64_t seed = 0;
  Order order = Order::permutation;
  Output output = Output::last;
  std::optional<std::int64_t> average_from;  ///< T₀ of the outputs average and random, in iterations
  std::optional<std::int64_t> draws;         ///< rows that sgd draws in an iteration; absent: as many as there are
  Start start = Start::zero;
  std::optional<InitialModel> initial;
  Step step = Step::automatic;
  MirrorLoss mirror_loss = MirrorLoss::squared_hinge;  ///< of the margins that mirror_descent descends on
  std::optional<double> shrinkage;                     ///< ν of boosting, in (0, 1]
  std::optional<bool> accelerated;
  std::optional<bool> working_set;  ///< a working set of rows that passes certify and grow; absent: with solver 'auto'

  // What the model carries, what the session hears.
  bool history = false;
  bool dual_weights = false;
  bool null_for_one_class = false;  ///< no model, instead of an error, for rows of a single class
  bool null_for_error = false;      ///< the same for any rows that cannot be trained on, with a warning
  bool ignore_unseen = false;       ///< of the model: skip features of a sparse row that the training did not have
  std::string shard;                ///< of a training by scans: the column that tells the parts of the rows apart
  std::optional<std::int64_t> sample_rows;  ///< of a training by scans: rows that the first one keeps, at most
  std::string log_level;                    ///< empty: the session's margin.log_level

  // Rows with named columns as features (encoder/).
  std::vector<std::string> exclude;              ///< columns that are no features
  std::vector<std::string> include;              ///< the columns that are; empty: all others
  std::map<std::string, std::string> reference;  ///< column -> the category that has no indicator
  bool drop_collinear = false;                   ///< at lambda 0, features that others give
  Missing missing = Missing::as_trained;         ///< what becomes of NULL
  bool unknown_is_error = true;                  ///< categories that the training did not have; else they count as none
  std::int32_t max_categories = 1000;            ///< of one column
  Bins bins;                                     ///< numbers become steps
  Interactions interactions;                     ///< and columns that act together

  /// Names of the options that were given. A training refuses those that nobody reads (solvers/readers.hpp); empty
  /// where options are set by code.
  std::vector<std::string_view> given;

  // Not options: bytes a solver may use beyond the rows, set by train() from the caller's memory limit; and by what
  // the targets of a regression are divided, set by follow_path() for rows that it has standardised itself.
  double workspace_limit = 4e9;
  std::optional<double> target_scale;
  // Of rows with named columns, the deviation of their label: what lambda is in units of (see lambda_in_label_units).
  std::optional<double> label_unit;

  bool hard_margin() const { return !lambda.has_value(); }
  /// Of a linear soft margin: the intercept is not regularised. Those of quantiles and counts are not unless asked for.
  bool free_intercept() const;
};

/// Parse and validate. Throws Error(invalid_option) naming the key, what was found and what is expected; an unknown
/// key is answered with the nearest valid name.
Options parse_options(const Value::Object& options);

/// A value as messages show it.
std::string describe(const Value& value);

/// What a user may have meant by a name that is none of `names`: the one that begins with it or has the fewest edits
/// from it, whatever the case; where all are far from it, all of them. A sentence for a hint.
std::string name_hint(std::string_view name, const std::vector<std::string_view>& names);

/// The error for a key that is none of `names`.
Error unknown_option(const std::string& key, const std::vector<std::string_view>& names);

/// Names of all options, in the order of docs/reference/options.md.
const std::vector<std::string_view>& option_names();

}  // namespace margin
