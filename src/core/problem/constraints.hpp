// The option `constraints`: what sums of several weights may come to.
//
// Users say coefficients of weights in their own units, per unit of a column; those of features that an encoder or the option standardize
// divides by a scale are divided by it, and the ends are in the units of the labels (problem/bounds.hpp says how). A column of several
// features, such as the categories of a text, stands for the sum of their weights.
#pragma once

#include <cstdint>
#include <vector>

#include "core/encoder/encoder.hpp"
#include "core/math/constrained_qp.hpp"
#include "core/options/options.hpp"
#include "core/problem/statement.hpp"

namespace margin {

struct Problem;  // problem/problem.hpp

/// Columns that the constraints name become features of the encoder, by their numbers and in its units. Throws Error(invalid_option) for a
/// name that is no column, feature nor number.
void name_constraints(Options& options, const Encoder& encoder);

/// The constraints on `columns` (0-based features, ascending; null: all) of rows with `features` features, by their numbers among these.
/// Weights that the rows do not have are 0. Throws Error(invalid_option): a feature that the rows do not have, a name.
void list_constraints(Options& options, std::int32_t features, const std::vector<std::int32_t>* columns);

/// The same as a part of the statement.
Constraints weight_constraints(const Options& options, std::int32_t features,
                               const std::vector<std::int32_t>* columns = nullptr);

/// The features that constraints name, whose weights may have to be other than 0 whatever the rows are.
std::vector<std::int32_t> constrained_features(const Options& options, std::int32_t features);

/// min ½ dᵀHd + <r, d> where w + d meets the constraints and lies between `low` and `high` (empty: no bounds), H to be set; what the sums
/// of w are rounded by is no miss.
ConstrainedQp step_within(const Constraints& c, const std::vector<double>& low, const std::vector<double>& high,
                          const std::vector<double>& w, const std::vector<double>& r);

/// The ν, in units of the objective, of the weights nearest to v/λ that meet constraints and bounds; found from `w`, which meet them. Zeros
/// where rounding leaves none.
std::vector<double> best_multipliers(const Statement& statement, const double* w, const Eigen::VectorXd& v,
                                     const Progress& progress);

/// Moves the weights (and what stands behind them, such as an intercept, not at all) to the nearest that meet bounds and constraints.
/// Throws Error(invalid_option) where there are none, with the names of those that contradict each other.
void meet_constraints(const Problem& problem, const Options& options, std::vector<double>& w, const Progress& progress);

/// Throws Error(unsupported) where there is no dual with constraints, no weights, or an l1 norm; for the feature whose weight is known.
void require_constraints_fit(const Problem& problem, const Options& options);

}  // namespace margin
