// What one training and the models of a path share of making a model.
#pragma once

#include "core/base/progress.hpp"
#include "core/model/model.hpp"
#include "core/problem/problem.hpp"

namespace margin {

/// What problem and options alone say of a model.
Model begin_model(const Problem& problem, const Options& options);

/// The intercept as the model will have it: its sum with the center of the targets is rounded, so the certificate must
/// not be about the one before.
double rounded_intercept(const Problem& problem, double intercept);

/// A regression's weights and intercept from the units of Problem::target() to those of the label; the model is told of
/// the units. And back. Other problems are left as they are.
void to_label_units(const Problem& problem, const Options& options, Model& model, Weights& weights,
                    Eigen::VectorXd& intercept);
void from_label_units(const Problem& problem, InitialModel& model);

/// What the best constant prediction would have for Certificate::failure, from outcomes and weights alone.
double constant_failure(const Problem& problem, const Progress& progress);

/// What the best constant scores would have for Certificate::constant_loss, of soft margins with classes; infinite for
/// others. Of classes by weight: `mass`.
double constant_loss(const Problem& problem, const std::vector<double>& mass);
/// The weight of each class.
std::vector<double> class_mass(const Problem& problem, const Progress& progress);
/// A mean loss that is no more than the rounding of scores and labels: such an optimum counts as found. 0 for classes.
double negligible_loss(const Problem& problem, const Progress& progress);
/// Both of them.
void count_constant(const Problem& problem, Certificate& certificate, const Progress& progress);

}  // namespace margin
