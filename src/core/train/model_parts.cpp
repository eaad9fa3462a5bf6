#include "core/train/model_parts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/polled.hpp"
#include "core/loss/loss.hpp"
#include "core/problem/offset.hpp"

namespace margin {

double rounded_intercept(const Problem& problem, double b) {
  if (problem.target_center == 0 || problem.target_scale != 1) return b;
  // Once where the center is the larger; where the intercept is, again until both roundings agree.
  for (int k = 0; k < 8; ++k) b = (b + problem.target_center) - problem.target_center;
  return b;
}

void to_label_units(const Problem& problem, const Options& options, Model& model, Weights& weights,
                    Eigen::VectorXd& intercept) {
  if (problem.task != Task::regression || problem.interpolate) return;
  weights *= problem.target_scale;
  if (problem.offset >= 0) weights.col(problem.offset).setOnes();
  intercept = (intercept * problem.target_scale).array() + problem.target_center;
  model.constant = model.prediction(problem.target_constant);
  if (options.intercept) model.target_center = problem.target_center;
  if (options.standardize || options.target_scale.has_value()) model.target_scale = problem.target_scale;
}

void from_label_units(const Problem& problem, InitialModel& model) {
  if (problem.task != Task::regression) return;
  for (double& w : model.weights) w /= problem.target_scale;
  if (model.intercept.empty() && problem.target_center != 0) model.intercept.assign(1, 0.0);
  for (double& b : model.intercept) b = (b - problem.target_center) / problem.target_scale;
}

double constant_failure(const Problem& p, const Progress& progress) {
  if (p.interpolate) return std::numeric_limits<double>::infinity();
  if (p.task == Task::regression) {
    if (p.loss->log_link() && !(p.target_constant > -700)) return std::numeric_limits<double>::infinity();  // no counts
    const double u = (p.target_constant - p.target_center) / p.target_scale;
    double sum = 0;
    for (std::int64_t i = 0; i < p.rows(); ++i) {
      progress.work(32);
      const double o = p.offset < 0 ? 0.0 : p.offset_weight() * offset_of(p.data.row(i), p.offset);
      sum += p.weight(i) * p.loss->value(u + o, p.target(i, 0));
    }
    return sum / p.total_weight;
  }
  std::vector<double> mass(static_cast<std::size_t>(p.classes), 0.0);
  double total = 0;
  if (p.row_weight.empty()) {
    std::vector<std::int64_t> rows(mass.size(), 0);
    polled_each(p.rows(), 2, progress,
                [&](std::int64_t i) { ++rows[static_cast<std::size_t>(p.label[static_cast<std::size_t>(i)])]; });
    for (std::size_t k = 0; k < mass.size(); ++k) total += mass[k] = static_cast<double>(rows[k]);
  } else {
    polled_each(p.rows(), 8, progress, [&](std::int64_t i) {
      mass[static_cast<std::size_t>(p.label[static_cast<std::size_t>(i)])] += p.weight(i);
      total += p.weight(i);
    });
  }
  return total - *std::max_element(mass.begin(), mass.end());
}

Model begin_model(const Problem& problem, const Options& options) {
  Model model;
  model.task = problem.task;
  model.loss = problem.loss_name;
  model.norm = problem.norm;
  model.lambda = options.lambda;
  model.classes = problem.class_names;
  model.dimensions = problem.dimensions();
  model.ignore_unseen = options.ignore_unseen;
  model.rows = problem.rows();
  return model;
}

}  // namespace margin
