// Coordinate ascent on several folds side by side: what it begins with, for each lambda and output, and its models.
#include <algorithm>
#include <cmath>

#include "core/base/huge_pages.hpp"
#include "core/problem/target_units.hpp"
#include "core/solvers/free_intercept.hpp"
#include "core/solvers/sdca/fold_rows.hpp"

namespace margin {

namespace {

// B² of the proximal steps of a free intercept (solvers/sdca/state.cpp).
constexpr double square_share = 0.2, distance_share = 0.1;

/// squares[f] += Σ of the squares of column f of a panel.
void add_squares(const std::vector<double>& panel, std::size_t width, double* squares) {
  for (std::size_t k = 0; k < panel.size(); k += width)
    for (std::size_t f = 0; f < width; ++f) squares[f] += panel[k + f] * panel[k + f];
}

/// Column f of a panel times factor[f].
void multiply(std::vector<double>& panel, std::size_t width, const double* factor) {
  for (std::size_t k = 0; k < panel.size(); k += width)
    for (std::size_t f = 0; f < width; ++f) panel[k + f] *= factor[f];
}

}  // namespace

double FoldAscent::workspace(const Problem& p, std::int32_t folds, bool standardize) {
  const double n = static_cast<double>(p.rows()), width = static_cast<double>(panel_width(folds));
  const double units = standardize ? FoldUnits::bytes(p.dimensions(), panel_width(folds)) + 8.0 * n * width : 0.0;
  return n * (sizeof(Visit) + 8.0 + 8.0 * (width + 1) * p.outputs()) + 8.0 * width * p.outputs() * p.dimensions() +
         units;
}

FoldAscent::FoldAscent(const Problem& p, const Options& options, const std::vector<std::int32_t>& fold,
                       std::int32_t first, std::int32_t count, Run& run, const Standardization* units)
    : problem_(p),
      settings_(options),
      row_units_(units),
      count_(count),
      width_(panel_width(count)),
      run_(run),
      random_(options.seed),
      stretches_(p.data, run),
      rows_(spread<Visit>(static_cast<std::size_t>(p.rows()))),
      outputs_(static_cast<std::size_t>(p.outputs())),
      held_out_(rows_.size() * outputs_.size()),
      strength_(width_, 1.0),
      estimate_(width_),
      target_(width_),
      offset_(width_) {
  if (units != nullptr) units_.emplace(p, *units, fold, first, count, width_, run.progress());
  if (units_.has_value() && !units_->shift.empty()) shifts_ = spread<double>(rows_.size() * width_);
  const auto classes = static_cast<std::size_t>(std::max(1, p.classes));
  std::vector<double> mass(classes * width_, 0.0);  // row weight of each class outside of each fold
  std::vector<double> all(classes, 0.0);
  double squares = 0, weight = 0;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    Visit& v = rows_[i];
    v.x = p.data.row(row);
    v.weight = p.data.weight(row);
    v.label = p.classes > 0 ? p.label[i] : 0;
    v.fold = fold[i] - first;
    v.size = units_.has_value() ? units_->squared_norm(v.x, v.fold) : squared_norm(v.x);
    squares += v.weight * v.size;
    weight += v.weight;
    if (!shifts_.empty()) dot_panel_of(v.x, units_->shift, width_, &shifts_[i * width_]);
    all[static_cast<std::size_t>(v.label)] += v.weight;
    if (v.fold >= 0 && v.fold < count)
      mass[static_cast<std::size_t>(v.label) * width_ + static_cast<std::size_t>(v.fold)] += v.weight;
    run_.work(v.x.count * (units_.has_value() ? 1.0 + static_cast<double>(width_) : 1.0) + 32.0);
  }
  mean_square_ = weight > 0 ? squares / weight : 0;
  unit_.assign(classes * width_, 0.0);
  for (std::size_t f = 0; f < static_cast<std::size_t>(count); ++f) {
    std::vector<double> kept(classes);
    double total = 0;
    for (std::size_t c = 0; c < classes; ++c) total += kept[c] = all[c] - mass[c * width_ + f];
    const std::vector<double> factor =
        p.classes > 0 ? class_weights(options, p.class_names, kept) : std::vector<double>(1, 1.0);
    for (std::size_t c = 0; c < classes; ++c) unit_[c * width_ + f] = total > 0 ? factor[c] / total : 0.0;
    if (p.task != Task::regression || !(total > 0)) continue;
    if (p.intercept)
      offset_[f] = (best_constant({p.data, &fold, first + static_cast<std::int32_t>(f)}, *p.loss, run.progress()) -
                    p.target_center) /
                   p.target_scale;
    // In the fold's own unit of targets, r times that of all rows, a loss that grows as a square is 1/r² of what it is in
    // theirs, as is the penalty, and a loss that grows as the absolute error 1/r.
    if (units_.has_value() && std::isfinite(p.loss->lipschitz())) strength_[f] = 1 / units_->target[f];
  }
}

FoldAscent::~FoldAscent() = default;

// B² of the intercept; of a free one that of its proximal steps (solvers/sdca/state.cpp).
double FoldAscent::constant_squared(double lambda) const {
  if (!problem_.intercept) return 0;
  if (!problem_.free_intercept) return problem_.intercept_scale * problem_.intercept_scale;
  double size = 0, all = 0;
  for (const Visit& v : rows_) {
    size += v.weight * std::fabs(v.y);
    all += v.weight;
  }
  const double smooth = problem_.loss->smoothness(), distance = smooth > 0 ? smooth : size > 0 ? size / all : 1.0;
  return square_share * mean_square_ + distance_share * distance * lambda;
}

// Outcomes of an output, its panels, and the rows that can move.
void FoldAscent::turn_to(std::int32_t output, double lambda) {
  at_ = &outputs_[static_cast<std::size_t>(output)];
  const bool fresh = at_->w.empty();
  if (fresh) {
    at_->a = spread<double>(rows_.size() * width_);
    at_->w.assign(static_cast<std::size_t>(problem_.dimensions()) * width_, 0.0);
  }
  movable_.clear();
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    Visit& v = rows_[i];
    v.y = problem_.target(static_cast<std::int64_t>(i), output);
    if (v.weight > 0 && (v.size > 0 || problem_.intercept)) movable_.push_back(static_cast<std::int32_t>(i));
    run_.work(16);
  }
  if (!fresh) return rescale(lambda);
  const Loss& loss = *problem_.loss;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Visit& v = rows_[i];
    for (std::size_t f = 0; f < width_; ++f)
      at_->size[f] += v.weight * loss.value(offset_[f], v.y) * unit_[static_cast<std::size_t>(v.label) * width_ + f];
    run_.work(32);
  }
}

// A smaller lambda makes the same a mean longer weights: too long ones. The multiple t·a of the best dual value on the
// parabola through its values at 0, 1/2 and 1 (solvers/sdca/warm_start.cpp), of a sample of the rows: any t is a start.
void FoldAscent::rescale(double lambda) {
  const Loss& loss = *problem_.loss;
  const std::size_t stride = std::max<std::size_t>(1, rows_.size() / 4096);
  double whole[widest_panel] = {}, half[widest_panel] = {}, norm[widest_panel] = {}, t[widest_panel] = {};
  for (std::size_t i = 0; i < rows_.size(); i += stride)
    for (std::size_t f = 0; f < static_cast<std::size_t>(count_); ++f) {
      const double a = at_->a[i * width_ + f], y = rows_[i].y;
      const double c =
          static_cast<double>(stride) * rows_[i].weight * unit_[static_cast<std::size_t>(rows_[i].label) * width_ + f];
      if (a == 0 || c == 0 || rows_[i].fold == static_cast<std::int32_t>(f)) continue;
      whole[f] -= c * (loss.conjugate(a, y) + a * offset_[f]);
      half[f] -= c * (loss.conjugate(0.5 * a, y) + 0.5 * a * offset_[f]);
    }
  add_squares(at_->w, width_, norm);
  const double before = constant_squared(lambda_), after = constant_squared(lambda);
  for (std::size_t f = 0; f < static_cast<std::size_t>(count_); ++f) {
    const double b = at_->b[f] - at_->centre[f];
    const double penalty =
        0.5 * lambda_ * strength_[f] * (lambda_ / lambda) * (norm[f] + (before > 0 ? b * b / before : 0.0));
    const double bend = 4 * half[f] - 2 * whole[f], linear = whole[f] + bend, curvature = 2 * (bend + penalty);
    t[f] = curvature > 0 ? std::clamp(linear / curvature, 0.0, 1.0) : 1.0;
    const double factor = t[f] * (lambda_ / lambda);
    at_->drift[f] *= factor;
    if (problem_.free_intercept)
      at_->centre[f] = at_->b[f] - b * factor * (after / before);
    else
      at_->b[f] *= factor;
  }
  multiply(at_->a, width_, t);
  for (double& factor : t) factor *= lambda_ / lambda;
  multiply(at_->w, width_, t);
  run_.work(static_cast<double>(at_->w.size() + at_->a.size()));
}

// A row of zeros has the score 0 whatever the weights: its a is known and never moves.
void FoldAscent::settle_zero_rows() {
  for (std::size_t i = 0; i < rows_.size(); ++i)
    if (rows_[i].size == 0 && !problem_.intercept)
      std::fill_n(&at_->a[i * width_], width_, problem_.loss->dual_step(0, rows_[i].y, 0, 0));
}

const double* FoldAscent::held_out(std::int64_t i) const {
  return &held_out_[static_cast<std::size_t>(i) * outputs_.size()];
}

InitialModel FoldAscent::model(std::int32_t fold) const {
  InitialModel m;
  const auto f = static_cast<std::size_t>(fold);
  const double scale = problem_.target_scale;
  Weights weights(problem_.outputs(), problem_.dimensions());
  Eigen::VectorXd intercept(problem_.outputs());
  for (std::size_t o = 0; o < outputs_.size(); ++o) {
    const Output& output = outputs_[o];
    const double turn = shifts_.empty() ? 0.0 : output.b[f] / constant_;
    const auto at = static_cast<Eigen::Index>(o);
    for (std::size_t j = 0; j < output.w.size() / width_; ++j) {
      const double w = output.w[j * width_ + f] - (turn != 0 ? turn * units_->shift[j * width_ + f] : 0.0);
      weights(at, static_cast<Eigen::Index>(j)) = w * scale;
    }
    const double b = output.b[f] + offset_[f] - output.drift[f] + (turn != 0 ? turn * units_->square[f] : 0.0);
    intercept[at] = b * scale + problem_.target_center;
  }
  if (row_units_ != nullptr) to_user_units(*row_units_, weights, intercept);
  m.weights.assign(weights.data(), weights.data() + weights.size());
  m.intercept.assign(intercept.data(), intercept.data() + intercept.size());
  if (row_units_ != nullptr) return m;
  std::vector<Balance> shares(outputs_.size());
  for (std::size_t o = 0; o < outputs_.size() && problem_.free_intercept; ++o) {
    double above = 0, below = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const double a = outputs_[o].a[i * width_ + f];
      const Visit& v = rows_[i];
      if (v.fold != fold)
        (a > 0 ? above : below) += v.weight * unit_[static_cast<std::size_t>(v.label) * width_ + f] * std::fabs(a);
    }
    shares[o] = Balance::of(above, below);
  }
  for (std::size_t i = 0; i < rows_.size(); ++i)
    if (rows_[i].fold != fold)
      for (std::size_t o = 0; o < outputs_.size(); ++o)
        m.dual_weights.push_back(shares[o](outputs_[o].a[i * width_ + f]));
  return m;
}

}  // namespace margin
