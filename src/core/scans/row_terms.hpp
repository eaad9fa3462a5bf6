// The terms of rows: a question made ready for many rows of one process.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/analysis/model_ball.hpp"
#include "core/certificate/check.hpp"
#include "core/loss/loss.hpp"
#include "core/problem/standardize.hpp"
#include "core/scans/risk_terms.hpp"
#include "core/scans/target_search.hpp"
#include "core/scans/wire/question.hpp"
#include "core/scans/wire/term.hpp"

namespace margin {

/// A row's label as it is read: a class by its name, or a target.
struct RowLabel {
  std::string_view name;
  double key = 0;       ///< orders the class among the others
  bool number = false;  ///< of a type of numbers
  double lower = 0, upper = 0;
};

class RowTerms {
 public:
  explicit RowTerms(Question question);
  RowTerms(const RowTerms&) = delete;
  RowTerms& operator=(const RowTerms&) = delete;

  const Question& question() const { return q_; }
  /// Of every term.
  const AnswerForm& form() const { return term_.form; }
  /// Sorted index of a class. Throws Error(invalid_value) for one that the question does not know.
  std::int32_t class_index(std::string_view name) const;
  /// The term of a row, valid until the next call. `label_class`: what class_index() says; of no use in a summary.
  /// Throws Error: wrong_dimensions, invalid_value (a feature that is not finite).
  const Term& term(const FeatureRow& x, const RowLabel& label, std::int32_t label_class, double weight);
  /// The term of a row without label or features.
  const Term& skipped();

 private:
  void fit(const FeatureRow& x) const;
  FeatureRow placed(const FeatureRow& x);
  void summary(double weight);
  void group(double weight, std::string_view label);
  void ask_risk(const Question& question);
  void risks();
  void add_coefficients();
  void margins();
  void interpolation();

  const Question q_;
  const RowUnits units_;
  OwnColumns columns_;
  std::unordered_map<std::string_view, std::int32_t> index_;
  std::unique_ptr<Check> check_;  // of hard margins and interpolation
  std::deque<RiskTerms> risks_;   // of a question about risks, in its order
  // The scores of all of them, and those of one loss behind another.
  struct OfLoss {
    const Loss* loss;
    EvaluatePoints evaluate;
    std::size_t from, count;
    bool there;  // with their directions as well
  };
  std::vector<OfLoss> losses_;
  RiskTerms::Points points_;
  std::size_t scored_ = 0;  // points
  std::optional<TargetSearch> search_;
  std::map<std::vector<double>, std::size_t> place_;  // of a group among the vectors
  std::vector<double> group_;                         // of the row at hand
  std::string group_label_;
  std::vector<Entry> cells_, added_;  // what the row adds to the table, and to the sums of rows
  std::size_t outputs_, checked_ = 0;
  std::string reductions_;
  CheckedRow row_{};
  double length_ = 0;  // its norm
  Term term_, skipped_;
  std::vector<double> numbers_, coefficients_, curvatures_, keys_, values_, scores_;
};

}  // namespace margin
