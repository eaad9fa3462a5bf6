#include "core/metrics/threshold.hpp"

#include <cmath>

#include "core/base/error.hpp"

namespace margin {

namespace {

using Kind = ThresholdGoal::Kind;

constexpr const char* forms =
    "Give one of {\"precision\": 0.9}, {\"recall\": 0.9}, {\"costs\": {\"false_positive\": 1, \"false_negative\": 5}} "
    "and "
    "{\"maximize\": \"f1\"}.";

double share_of(const std::string& key, const Value& value) {
  const double* number = std::get_if<double>(&value.data);
  if (number == nullptr || !(*number > 0 && *number <= 1))
    throw Error(ErrorKind::invalid_option,
                "option \"" + key + "\" must be a number above 0 and at most 1, not " + describe(value));
  return *number;
}

void read_costs(const Value& value, ThresholdGoal& goal) {
  const auto* costs = std::get_if<Value::Object>(&value.data);
  if (costs == nullptr || costs->empty())
    throw Error(ErrorKind::invalid_option, "option \"costs\" must be an object of costs, not " + describe(value),
                forms);
  for (const auto& [name, cost] : *costs) {
    double* const to = name == "true_negative"    ? &goal.true_negative
                       : name == "false_positive" ? &goal.false_positive
                       : name == "false_negative" ? &goal.false_negative
                       : name == "true_positive"  ? &goal.true_positive
                                                  : nullptr;
    if (to == nullptr)
      throw Error(
          ErrorKind::invalid_option, "option \"costs\" does not know \"" + name + "\"",
          "It has true_negative, false_positive, false_negative and true_positive, each 0 by default; positive is "
          "the second class.");
    const double* number = std::get_if<double>(&cost.data);
    if (number == nullptr || !std::isfinite(*number) || std::fabs(*number) > 1e100)
      throw Error(ErrorKind::invalid_option,
                  "the cost \"" + name + "\" must be a number between -1e100 and 1e100, not " + describe(cost));
    *to = *number;
  }
}

Kind figure_of(const Value& value) {
  const auto* name = std::get_if<std::string>(&value.data);
  if (name != nullptr) {
    if (*name == "accuracy") return Kind::accuracy;
    if (*name == "balanced_accuracy") return Kind::balanced_accuracy;
    if (*name == "f1") return Kind::f1;
    if (*name == "mcc") return Kind::mcc;
  }
  throw Error(ErrorKind::invalid_option,
              "option \"maximize\" must be 'accuracy', 'balanced_accuracy', 'f1' or 'mcc', not " + describe(value));
}

std::optional<double> ratio(double part, double whole) {
  if (!(whole > 0)) return std::nullopt;
  return part / whole;
}

/// How good a point is, first and second; nothing where it is out of the question.
struct Merit {
  double first = 0, second = 0;
  bool operator>(const Merit& other) const {
    return first > other.first || (first == other.first && second > other.second);
  }
};

std::optional<Merit> merit(const OperatingPoint& at, const ThresholdGoal& goal) {
  const double closeness = -std::fabs(at.threshold);
  switch (goal.kind) {
    case Kind::precision: {
      const std::optional<double> precision = at.precision();
      if (!precision.has_value() || *precision < goal.least) return std::nullopt;
      return Merit{at.true_positives, *precision};
    }
    case Kind::recall:
      if (!(at.recall().value_or(0) >= goal.least)) return std::nullopt;
      return Merit{at.precision().value_or(0), at.true_positives};
    case Kind::costs:
      return Merit{-mean_cost(at, goal), closeness};
    case Kind::balanced_accuracy:
      return Merit{at.balanced_accuracy(), closeness};
    case Kind::f1:
      return Merit{at.f1(), closeness};
    case Kind::mcc:
      return Merit{at.mcc(), closeness};
    default:
      return Merit{at.accuracy(), closeness};
  }
}

}  // namespace

ThresholdGoal parse_threshold(const Value::Object& options) {
  ThresholdGoal goal;
  int goals = 0;
  for (const auto& [key, value] : options) {
    if (std::holds_alternative<std::monostate>(value.data)) continue;
    if (key == "precision") {
      goal.kind = Kind::precision;
      goal.least = share_of(key, value);
    } else if (key == "recall") {
      goal.kind = Kind::recall;
      goal.least = share_of(key, value);
    } else if (key == "costs") {
      goal.kind = Kind::costs;
      read_costs(value, goal);
    } else if (key == "maximize") {
      goal.kind = figure_of(value);
    } else {
      throw unknown_option(key, {"precision", "recall", "costs", "maximize"});
    }
    ++goals;
  }
  if (goals != 1)
    throw Error(ErrorKind::invalid_option, "a threshold is chosen for one goal, not for " + std::to_string(goals),
                forms);
  return goal;
}

std::optional<double> OperatingPoint::precision() const {
  return ratio(true_positives, true_positives + false_positives);
}
std::optional<double> OperatingPoint::recall() const { return ratio(true_positives, true_positives + false_negatives); }
double OperatingPoint::f1() const {
  return ratio(2 * true_positives, 2 * true_positives + false_positives + false_negatives).value_or(0);
}
double OperatingPoint::accuracy() const { return ratio(true_negatives + true_positives, total()).value_or(0); }
double OperatingPoint::balanced_accuracy() const {
  return (recall().value_or(0) + ratio(true_negatives, true_negatives + false_positives).value_or(0)) / 2;
}
double OperatingPoint::mcc() const {
  // of shares: products of four counts would leave the range of exact numbers
  const double all = total(), positive = (true_positives + false_negatives) / all,
               claimed = (true_positives + false_positives) / all;
  const double spread = positive * (1 - positive) * claimed * (1 - claimed);
  return spread > 0 ? (true_positives / all - positive * claimed) / std::sqrt(spread) : 0;
}

double mean_cost(const OperatingPoint& at, const ThresholdGoal& goal) {
  return (goal.true_negative * at.true_negatives + goal.false_positive * at.false_positives +
          goal.false_negative * at.false_negatives + goal.true_positive * at.true_positives) /
         at.total();
}

std::optional<OperatingPoint> choose_threshold(const WeightedMetrics& rows, const ThresholdGoal& goal) {
  const std::vector<ThresholdCounts> thresholds = rows.thresholds();
  if (thresholds.empty())
    throw Error(ErrorKind::invalid_value,
                "a threshold needs rows of both classes, all " + std::to_string(rows.rows()) + " rows are of one");
  const double negatives = thresholds.back().false_positives, positives = thresholds.back().true_positives;
  std::optional<OperatingPoint> best;
  std::optional<Merit> most;
  for (const ThresholdCounts& t : thresholds) {
    const OperatingPoint at{t.threshold, negatives - t.false_positives, t.false_positives, positives - t.true_positives,
                            t.true_positives};
    const std::optional<Merit> here = merit(at, goal);
    if (!here.has_value() || (most.has_value() && !(*here > *most))) continue;
    best = at;
    most = here;
  }
  return best;
}

}  // namespace margin
