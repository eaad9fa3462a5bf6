// One training problem: the rows, what is asked of them, and the labels in sorted class order.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/matrix.hpp"
#include "core/base/progress.hpp"
#include "core/data/dataset.hpp"
#include "core/options/options.hpp"
#include "core/problem/statement.hpp"

namespace margin {

class KernelFunction;  // kernel/kernel.hpp

/// The statement of a problem, and the rows.
struct Problem : Statement {
  explicit Problem(const Dataset& rows) : data(rows) {}

  const Dataset& data;
  std::vector<std::string> class_names;  ///< sorted; binary: [0] is −1, [1] is +1
  std::vector<std::int32_t> label;       ///< sorted class index per row; empty for regression
  bool hard_margin = true;               ///< nothing is traded: a margin, or targets that are met
  std::string loss_name;  ///< of a hard margin the one whose path is followed, or none; of interpolation its name
  std::shared_ptr<const KernelFunction> kernel;  ///< null: weights on features
  std::vector<double> row_weight;                ///< c_i = row weight × class weight; empty: all 1
  double total_weight = 0;                       ///< Σ row weights (without class weights): the "n" of the objective
  double target_constant = 0;      ///< of soft regressions: the best constant score; target_center with an intercept
  double mean_count = 1;           ///< of a log link: the mean of the targets
  std::vector<double> own_target;  ///< of a regression that stands for another problem: in place of the rows' targets

  std::int64_t rows() const { return data.rows(); }
  std::int32_t dimensions() const { return data.dimensions(); }
  /// −1 or +1 of row i (binary only).
  double sign(std::int64_t i) const { return label[static_cast<std::size_t>(i)] == 1 ? 1.0 : -1.0; }
  /// What output `o` should give on row i: ±1 (one against the rest) or the target, in the units of the losses.
  double target(std::int64_t i, std::int32_t o) const {
    if (!own_target.empty()) return own_target[static_cast<std::size_t>(i)];
    if (task == Task::regression) return (data.target(i) - target_center) / target_scale;
    if (task == Task::binary) return sign(i);
    return label[static_cast<std::size_t>(i)] == o ? 1.0 : -1.0;
  }
  /// Hard margins in other norms than l2 tell more than two classes apart one against the rest.
  bool one_vs_rest() const { return task == Task::multiclass && (!hard_margin || norm != 2); }
  /// γ of the loss, 0 where it has none; of a log link that of scores near the best constant.
  double smoothness() const;
  double weight(std::int64_t i) const { return row_weight.empty() ? 1.0 : row_weight[static_cast<std::size_t>(i)]; }
};

/// What a problem depends on of the method that will solve it.
struct Method {
  bool takes_kernels = false;  ///< of a solver that is named: it knows the linear kernel as one, too
  bool follows_loss = false;   ///< the path to a hard margin follows a loss
  std::string loss_followers;  ///< names of the solvers whose path does, for a hint
};

/// Checks that rows and options fit together. Throws Error: one class only, row weights with a hard margin, an
/// unknown loss, options that exclude each other.
Problem make_problem(const Dataset& data, const Options& options, const Method& method, const Progress& progress);

/// Throws Error(invalid_value) where labels are numbers, many of them, and few rows have each: targets of a regression
/// whose loss was forgotten.
void require_classes(const Dataset& data);
void require_classes(bool numbers, std::int64_t classes, std::int64_t rows);

/// Whether rows of a single class are to give no model (the option one_class).
bool without_model(const Dataset& data, const Options& options);

/// The factor that the option class_weight gives the rows of each class (1 without it); `mass`: row weights summed by
/// class. Throws Error: a class that no row has.
std::vector<double> class_weights(const Options& options, const std::vector<std::string>& class_names,
                                  const std::vector<double>& mass);

/// The p that the option `norm` means for rows of this many features.
double norm_of(const Options& options, std::int32_t dimensions);

/// Which kind of label a training with these options reads: classes, or targets for a regression loss.
Dataset::Outcome outcome_of(const Options& options);
/// Throws Error(unsupported) where they ask for a calibration of what is no soft margin with classes.
void require_calibrated(const Options& options);

}  // namespace margin
