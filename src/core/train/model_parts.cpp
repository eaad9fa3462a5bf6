#include "core/train/model_parts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/polled.hpp"
#include "core/loss/joint.hpp"
#include "core/problem/offset.hpp"
#include "core/problem/target_units.hpp"
#include "core/problem/thresholds.hpp"

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
  for (auto* const prices : {&model.prices, &model.constraint_prices})
    if (prices->has_value()) **prices /= problem.target_scale;
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
  const std::vector<double> mass = class_mass(p, progress);
  return std::accumulate(mass.begin(), mass.end(), 0.0) - *std::max_element(mass.begin(), mass.end());
}

std::vector<double> class_mass(const Problem& p, const Progress& progress) {
  std::vector<double> mass(static_cast<std::size_t>(p.classes), 0.0);
  if (p.row_weight.empty()) {
    std::vector<std::int64_t> rows(mass.size(), 0);
    polled_each(p.rows(), 2, progress,
                [&](std::int64_t i) { ++rows[static_cast<std::size_t>(p.label[static_cast<std::size_t>(i)])]; });
    for (std::size_t k = 0; k < mass.size(); ++k) mass[k] = static_cast<double>(rows[k]);
  } else {
    polled_each(p.rows(), 4, progress, [&](std::int64_t i) {
      mass[static_cast<std::size_t>(p.label[static_cast<std::size_t>(i)])] += p.weight(i);
    });
  }
  return mass;
}

namespace {

/// The least value of a convex f between −reach and reach, by golden sections: of values alone, flat ones included.
template <class F>
double least_value(double reach, int steps, const F& f) {
  constexpr double golden = 0.6180339887498949;
  double low = -reach, high = reach;
  double left = high - golden * (high - low), right = low + golden * (high - low), at_left = f(left),
         at_right = f(right);
  for (int k = 0; k < steps; ++k) {
    if (at_left <= at_right) {
      high = right, right = left, at_right = at_left;
      at_left = f(left = high - golden * (high - low));
    } else {
      low = left, left = right, at_left = at_right;
      at_right = f(right = low + golden * (high - low));
    }
  }
  return std::min(at_left, at_right);
}

/// Scores beyond this are those of a certain class: e^−36 vanishes next to 1.
constexpr double certain = 36;

bool has_constant_loss(const Problem& p) {
  return !p.hard_margin && p.task != Task::regression && p.loss != nullptr && p.classes > 1;
}

}  // namespace

double constant_loss(const Problem& p, const std::vector<double>& mass) {
  if (!has_constant_loss(p)) return std::numeric_limits<double>::infinity();
  const double all = std::accumulate(mass.begin(), mass.end(), 0.0);
  const auto of_two = [&](double positive) {
    return least_value(certain, 60, [&](double b) {
      return positive * p.loss->value(b, 1) + (all - positive) * p.loss->value(b, -1);
    });
  };
  double sum = 0;
  if (p.task == Task::binary) {
    sum = of_two(mass[1]);
  } else if (const JointLoss* const joint = joint_of(p.loss.get())) {
    if (joint->form() == JointLoss::Form::crammer_singer)  // equal scores, or those of the largest class above others
      sum = std::min(all, 2 * (all - *std::max_element(mass.begin(), mass.end())));
    else
      for (const double m : mass) sum -= m > 0 ? m * std::log(m / all) : 0;
  } else {
    for (const double m : mass) sum += of_two(m);
  }
  return sum / p.total_weight;
}

double negligible_loss(const Problem& p, const Progress& progress) {
  if (p.task != Task::regression || p.hard_margin || p.loss == nullptr || p.interpolate) return 0;
  if (p.loss->log_link()) return exact_fit * p.mean_count;
  double size = 0;
  for (std::int64_t i = 0; i < p.rows(); ++i) {
    progress.work(8);
    size = std::max(size, p.loss->argument_size(p.target(i, 0), p.target(i, 0)));
  }
  const double rounding = 8 * std::numeric_limits<double>::epsilon() * size;
  return p.loss->lipschitz() < std::numeric_limits<double>::infinity() ? rounding : rounding * rounding;
}

void count_constant(const Problem& p, Certificate& c, const Progress& progress) {
  c.constant_failure = constant_failure(p, progress);
  if (!has_constant_loss(p)) return;
  if (p.offset < 0) {
    c.constant_loss = constant_loss(p, class_mass(p, progress));
    return;
  }
  c.constant_loss = least_value(certain, 24, [&](double b) {
    double sum = 0;
    polled_each(p.rows(), 32, progress, [&](std::int64_t i) {
      sum += p.weight(i) * p.loss->value(b + offset_of(p.data.row(i), p.offset), p.sign(i));
    });
    return sum / p.total_weight;
  });
}

Model begin_model(const Problem& problem, const Options& options) {
  Model model;
  model.task = problem.task;
  model.loss = problem.loss_name;
  model.norm = problem.norm;
  model.lambda = options.lambda;
  if (model.lambda.has_value() && problem.loss != nullptr)
    model.lambda = lambda_in_label_units(*model.lambda, options, *problem.loss);
  model.classes = problem.class_names;
  model.dimensions = problem.dimensions();
  model.ignore_unseen = options.ignore_unseen;
  model.rows = problem.rows();
  return model;
}

}  // namespace margin
