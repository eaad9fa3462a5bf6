// What is asked of all rows: an iterate, and which sums and rows are wanted at it. As bytes it is what SQL calls a
// margin_question, the first argument of margin_term.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/matrix.hpp"
#include "core/certificate/check.hpp"
#include "core/data/dataset.hpp"
#include "core/options/options.hpp"

namespace margin {

/// Distinct labels that a question or an answer may have.
constexpr std::size_t most_classes = 4096;
/// Of classes that are trained jointly with free intercepts.
constexpr std::size_t most_flow_classes = 256;
/// Questions that one term answers, less one.
constexpr std::size_t most_beside = 4096;

/// The statement of the problem, of which a summary knows the intercept alone; its features are width() many.
struct Question : Statement {
  enum class Kind : std::uint8_t {
    summary,        ///< what there is: classes, dimensions, targets, a sample; with `curvature` also Σ c x xᵀ
    risk,           ///< a regularised risk at the weights: its value, its dual value, its gradient
    margin,         ///< the smallest margins of the weights, and the rows that have them
    interpolation,  ///< how far targets are missed, and the rows that miss them most
  };

  Kind kind = Kind::summary;
  Dataset::Outcome outcome = Dataset::Outcome::classes;
  std::vector<std::string> class_names;  ///< sorted; not of a summary
  std::vector<double> column_center;     ///< of the option standardize: x' = (x − center)/scale;
  std::vector<double> column_scale;      ///< empty: the rows as they are
  std::int32_t dimensions = 0;           ///< of a row; 0: not known yet
  std::vector<std::int32_t> columns;     ///< 0-based features that are asked about, ascending; empty: all. Rows
                                         ///< have no others, and everything here sees them in these columns

  // The iterate.
  Weights weights;             ///< outputs × width()
  Eigen::VectorXd intercepts;  ///< per output

  // Of a risk: losses are summed up at the weights + step · direction as well.
  Weights direction;
  Eigen::VectorXd intercept_direction;
  std::vector<double> steps;
  std::vector<double> rings;   ///< of a piecewise linear loss: edges of each output (scans/rings.hpp); empty: none
  bool curvature = false;      ///< Σ c φ'' (x, B)(x, B)ᵀ of each output; of a summary Σ c (x, B)(x, B)ᵀ
  bool spread = false;         ///< of a likelihood, behind its curvature: Σ c φ'² (x, B)(x, B)ᵀ
  bool sums = false;           ///< of a summary: Σ c x, Σ c y x
  std::vector<double> search;  ///< of a summary of targets: from, guess, to (scans/target_search.hpp); empty: none

  // Of a summary: groups of rows (problem/fairness.hpp), by the values of some features. Which there are, as the classes of the answer
  // (group_label()), or Σ c x of each of those that are listed, one vector after the other, in place of the other sums.
  std::vector<std::int32_t> group_features;
  std::vector<double> groups;  ///< the values of one group after those of another; empty: which are there?
  std::string group_class;     ///< of the rows of this class alone; empty: of all

  // Rows that are kept. Summary: a sample. Risk: those nearest to a kink of the loss, or of the largest curvature where
  // it has none; with a direction, first the rows for which the expansion of the loss at the weights + direction is most
  // wrong at the weights. Otherwise: the worst rows of each class (of one output), or of all.
  std::int64_t bag_rows = 0, bag_bytes = 0;
  std::int32_t bag_small = 0;  ///< of a summary: up to so many, as long as they are a hundredth of all rows
  std::int32_t parts = 1;      ///< servers that each keep their share of them
  std::uint64_t seed = 0;

  /// More risks that the same term answers (scans/asked_together.hpp): shares_terms() holds of each, and none has others.
  std::vector<Question> beside;

  std::size_t group_count() const { return group_features.empty() ? 0 : groups.size() / group_features.size(); }
  /// What is asked about a row is so long.
  std::int32_t width() const { return columns.empty() ? dimensions : static_cast<std::int32_t>(columns.size()); }
  /// Whether one term of a row can answer both: risks that see rows, labels and weights the same way, and keep as many.
  bool shares_terms(const Question& other) const;
  /// What a check of its iterate checks.
  Objective objective() const { return {*this, width()}; }

  std::string bytes() const;
  /// Throws Error(malformed): also for shapes that do not fit each other.
  static Question from_bytes(std::string_view bytes);

 private:
  static Question read(std::string_view bytes, bool alone);
};

/// The values of a group as a class of an answer, and back; empty for a text that is none.
std::string group_label(const std::vector<double>& values);
std::vector<double> group_values(std::string_view label);

}  // namespace margin
