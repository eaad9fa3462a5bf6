// The option `fairness`: constraints that the rows make.
//
// The mean scores of a group and of all other rows differ by ⟨δ, w⟩ with δ the difference of the means of their features, whatever the
// intercept is: |⟨δ, w⟩ + the same of an offset| ≤ bound is a constraint on the weights (problem/constraints.hpp). Means count rows by
// their weights; for true positives they are those of the rows of the positive class. δ is known after a pass over the rows: a training
// makes it of its own (each fold of its), the model keeps it, and a verification makes it of the rows at hand.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/progress.hpp"
#include "core/data/dataset.hpp"
#include "core/encoder/encoder.hpp"
#include "core/math/exact_sum.hpp"
#include "core/options/options.hpp"

namespace margin {

/// "score_parity", "true_positive_parity"
std::string_view parity_name(Parity measure);

/// Columns of the encoder become the numbers of their features; weights of columns that are no features are held at 0. Throws
/// Error(invalid_option) for what is no column, or has several values in a row.
void name_fairness(Options& options, const Encoder& encoder);
/// The same of rows without names.
void name_fairness(Options& options, std::int32_t features);

class GroupSums;

/// What the option needs to know of rows, wherever they are.
struct GroupedRows {
  std::int32_t features = 0;
  bool two_classes = false;
  std::function<std::vector<std::string>(const Fairness&)>
      groups;                           ///< the names of those that the rows have, in any order
  std::function<void(GroupSums&)> add;  ///< all rows
};

/// Makes constraints of the option, of what these rows, whose features the other options speak of, say; the option is empty then. What
/// was made, one for each group, to be kept with the model. Throws Error: invalid_option (a column or group that there is not, a single
/// group), limit_exceeded (groups), unsupported (true positives of what has no positive class).
std::vector<Fairness> take_fairness(Options& options, const Dataset& rows, const Progress& progress);
std::vector<Fairness> take_fairness(Options& options, const GroupedRows& rows);
/// Throws Error(limit_exceeded) for so many.
void require_few_groups(const Fairness& f, std::size_t groups);

/// The same with what is known: of a model's options.
void use_fairness(Options& options);

/// As the option of a stored model has it; `encoder` (null: none) of its rows.
Value fairness_value(const std::vector<Fairness>& made, const Encoder* encoder);

/// The means of features by groups, of one column and measure.
class GroupSums {
 public:
  /// `column`: names the features, and the measure. `groups`: those that are told apart; all others are one. Features from `features` on are left out.
  GroupSums(const Fairness& column, std::vector<std::string> groups, std::int32_t features);

  /// A row of the class `positive`, or of none.
  void add(const Row& x, double weight, bool positive);
  /// Rows of these values of the column: their weight, and Σ weight · x of `columns` (null: of all features).
  void add(const std::vector<double>& values, double weight, const double* sums,
           const std::vector<std::int32_t>* columns);
  /// Plain numbers that merge() takes back, and which add up.
  std::vector<double> state() const;
  std::size_t size() const { return 2 * sums_.size(); }
  bool merge(const std::vector<double>& state);

  const Fairness& column() const { return column_; }
  bool is_of(const Fairness& f) const { return f.column == column_.column && f.measure == column_.measure; }

  /// Sets weights and shift of one of the groups, its means less those of the rest; `offset`: that feature, −1 for none; in the units
  /// of the columns of an encoder (null: in those of the features). False where the group or the rest has no row.
  bool tell(Fairness& f, std::int32_t offset, const Encoder* encoder) const;

 private:
  std::map<std::int32_t, double> apart(const std::string& group) const;
  ExactSum* sums_of(const std::vector<double>& values);
  Fairness column_;
  std::vector<std::string> groups_;
  std::size_t features_;
  std::map<std::vector<double>, std::size_t> place_;  // of the group of these values
  std::vector<ExactSum> sums_;                        // of each group, and of all others: weight, features
  std::vector<double> values_;                        // of the row at hand
};

}  // namespace margin
