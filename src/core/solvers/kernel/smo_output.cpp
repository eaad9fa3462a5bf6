#include "core/solvers/kernel/smo_output.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/problem/thresholds.hpp"
#include "core/solvers/run.hpp"

namespace margin {

namespace {
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::size_t most_new_rows = 1024;
}  // namespace

SmoOutput::SmoOutput(const Problem& problem, std::int32_t output, const KernelRows& rows, KernelColumns& columns,
                     std::size_t largest_pool, Run& run)
    : problem_(problem),
      columns_(columns),
      largest_pool_(largest_pool),
      run_(run),
      in_pool_(rows.size(), 0),
      working_set_(problem.intercept, std::max(1e-12 * largest_diagonal(rows), 1e-290), largest_pool, run),
      radius_(std::sqrt(largest_diagonal(rows))) {
  const std::size_t n = rows.size();
  for (std::size_t i = 0; i < n; ++i) sign_.push_back(problem.target(static_cast<std::int64_t>(i), output));
  if (!problem.hard_margin)
    for (std::size_t i = 0; i < n; ++i)
      cost_.push_back(problem.weight(static_cast<std::int64_t>(i)) / (problem.lambda * problem.total_weight));
  weight_.assign(n, 0.0);
  error_ = sign_;
  value_error_ = largest_value_error(rows) + 2.3e-16 * static_cast<double>(n + 8) * radius_ * radius_;
  fill_first_working_set();
}

/// Rows of both classes, evenly spaced, so that neither the order of the table nor a rare class matters.
void SmoOutput::fill_first_working_set() {
  std::vector<std::int64_t> first;
  for (const double sign : {-1.0, 1.0}) {
    std::vector<std::int64_t> own;
    for (std::size_t i = 0; i < sign_.size(); ++i)
      if (sign_[i] == sign && bound(i) > 0) own.push_back(static_cast<std::int64_t>(i));
    const std::size_t count = std::min(own.size(), std::min(first_pool, largest_pool_) / 2);
    for (std::size_t k = 0; k < count; ++k) first.push_back(own[k * own.size() / count]);
  }
  enter(first);
}

void SmoOutput::enter(const std::vector<std::int64_t>& rows) {
  const std::size_t before = working_set_.size();
  for (const std::int64_t row : rows) {
    const auto i = static_cast<std::size_t>(row);
    working_set_.add({row, sign_[i], low(i), high(i), weight_[i], error_[i]});
    in_pool_[i] = 1;
  }
  columns_.each(rows, [&](std::size_t k, const double* column) { working_set_.set_column(before + k, column); });
  working_set_.share_columns(before);
}

/// Members that sit at a bound and far from the margin leave first.
void SmoOutput::make_room(std::size_t newcomers) {
  if (working_set_.size() + newcomers <= largest_pool_) return;
  std::vector<std::size_t> order(working_set_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  auto distance = [&](std::size_t p) {
    return working_set_.free(p) ? -1.0 : std::fabs(error_[static_cast<std::size_t>(working_set_.row(p))] - intercept_);
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return distance(a) < distance(b); });
  const std::size_t stay = std::min(order.size(), std::max(largest_pool_ / 2, largest_pool_ - newcomers));
  for (std::size_t k = stay; k < order.size(); ++k) in_pool_[static_cast<std::size_t>(working_set_.row(order[k]))] = 0;
  order.resize(stay);
  std::sort(order.begin(), order.end());
  working_set_.keep(order);
}

/// The upper bound that the working set's weights prove is negligible.
bool SmoOutput::pool_is_inseparable() const {
  if (!problem_.hard_margin) return false;
  double mass = 0, dual = 0;  // Σ|β| and βᵀKβ = Σ β (y − e)
  for (std::size_t p = 0; p < working_set_.size(); ++p) {
    mass += std::fabs(working_set_.weight(p));
    dual += working_set_.weight(p) * (sign_[static_cast<std::size_t>(working_set_.row(p))] - working_set_.error(p));
  }
  return mass > 0 && std::sqrt(std::max(0.0, dual)) <= 0.3 * negligible_kernel_margin * radius_ * mass;
}

/// Weights and errors of all rows after the working set has been solved.
void SmoOutput::collect_changes() {
  std::vector<std::int64_t> moved;
  std::vector<double> by;
  for (std::size_t p = 0; p < working_set_.size(); ++p) {
    double& weight = weight_[static_cast<std::size_t>(working_set_.row(p))];
    if (working_set_.weight(p) == weight) continue;
    moved.push_back(working_set_.row(p));
    by.push_back(working_set_.weight(p) - weight);
    weight = working_set_.weight(p);
  }
  columns_.each(moved, [&](std::size_t k, const double* column) {
    simd().axpy_d(-by[k], column, error_.data(), error_.size());
    run_.work(static_cast<double>(error_.size()) / 2);
  });
  for (std::size_t p = 0; p < working_set_.size(); ++p)
    working_set_.set_error(p, error_[static_cast<std::size_t>(working_set_.row(p))]);
}

/// The b that makes the loss smallest: Σ C max(0, y (e − b)) has its minimum at a weighted quantile of the errors.
void SmoOutput::best_soft_intercept() {
  std::vector<std::pair<double, double>> by_error;
  double positive = 0;
  for (std::size_t i = 0; i < error_.size(); ++i) {
    if (!(cost_[i] > 0)) continue;
    by_error.emplace_back(error_[i], cost_[i]);
    if (sign_[i] > 0) positive += cost_[i];
  }
  std::sort(by_error.begin(), by_error.end());
  double below = 0;
  for (std::size_t k = 0; k < by_error.size(); ++k) {
    below += by_error[k].second;
    if (below < positive * (1 - 1e-14) && k + 1 < by_error.size()) continue;
    intercept_ = by_error[k].first;
    // The slope is 0 up to the next error: the middle, as good as any, favours no class.
    if (below <= positive * (1 + 1e-14) && k + 1 < by_error.size())
      intercept_ = 0.5 * (intercept_ + by_error[k + 1].first);
    return;
  }
}

/// P/λ at `scale` times w and b, each score off by `rounding` to its disadvantage.
double SmoOutput::primal_value(double scale, double square, double rounding) const {
  double loss = 0;
  for (std::size_t i = 0; i < error_.size(); ++i) {
    const double margin = 1 - sign_[i] * (error_[i] - intercept_);
    loss += cost_[i] * std::max(0.0, 1 - scale * margin + rounding);
  }
  run_.work(2 * static_cast<double>(error_.size()));
  return 0.5 * scale * scale * square + loss;
}

/// Both ends of the interval, and how far the worst rows are from optimal.
void SmoOutput::measure() {
  double square = 0, linear = 0, mass = 0;
  double top = problem_.intercept ? -infinity : 0, bottom = problem_.intercept ? infinity : 0;
  double positive = -infinity, negative = infinity;  // largest error of the class +1, smallest of −1
  for (std::size_t i = 0; i < error_.size(); ++i) {
    const double e = error_[i], w = weight_[i];
    square += w * (sign_[i] - e);
    linear += w * sign_[i];
    mass += std::fabs(w);
    if (w < high(i)) top = std::max(top, e);
    if (w > low(i)) bottom = std::min(bottom, e);
    if (sign_[i] > 0)
      positive = std::max(positive, e);
    else
      negative = std::min(negative, e);
  }
  square = std::max(square, 0.0);
  squared_norm_ = square;
  top_ = top;
  bottom_ = bottom;
  worst_ = problem_.intercept ? top - bottom : std::max(top, -bottom);
  if (problem_.hard_margin)
    measure_hard(mass, 1 - positive, 1 + negative);
  else
    measure_soft(mass, linear);
}

/// The interval of the margin, from the smallest margins of both classes without b and mass = Σ|w|.
void SmoOutput::measure_hard(double mass, double least_positive, double least_negative) {
  const double norm = std::sqrt(squared_norm_);
  intercept_ = problem_.intercept ? 0.5 * (least_negative - least_positive) : 0;
  const double least =
      problem_.intercept ? 0.5 * (least_positive + least_negative) : std::min(least_positive, least_negative);
  interval_.lower = norm > 0 ? least / norm : 0;
  interval_.upper = mass > 0 ? norm / mass : radius_;
  interval_.relative = interval_.upper > 0 ? (interval_.upper - interval_.lower) / interval_.upper : 0;
  interval_.inseparable = interval_.lower <= 0 && interval_.upper <= 0.5 * negligible_kernel_margin * radius_;
}

/// The values of primal and dual, from mass = Σ|w| and linear = Σ w y.
void SmoOutput::measure_soft(double mass, double linear) {
  const double square = squared_norm_;
  if (problem_.intercept) best_soft_intercept();
  scale_ = 1;
  const double rounding = 1.1 * mass * value_error_;  // of a score, as the certificate will bound it
  double primal = primal_value(1, square, 0);
  if (primal - (linear - 0.5 * square) < 0.01 * primal) {
    // A cost of 1e6 makes every free row pay for the last digits of its margin: a w longer by that much costs less.
    double least = primal_value(1, square, rounding);
    for (double longer = 1e-13; longer < 1e-2; longer *= 4) {
      const double value = primal_value(1 + longer, square, rounding);
      if (!(value < least)) continue;
      least = value;
      scale_ = 1 + longer;
    }
    primal = primal_value(scale_, square, 0);
  }
  interval_.upper = problem_.lambda * primal;
  interval_.lower = problem_.lambda * (linear - 0.5 * square);
  interval_.relative = (interval_.upper - interval_.lower) / std::max(interval_.upper, 1e-300);
}

/// Rows outside of the working set that violate the conditions of optimality by more than `threshold`, the worst first.
std::vector<std::int64_t> SmoOutput::violators(double threshold) {
  std::vector<Violation> rise, fall;
  for (std::size_t i = 0; i < error_.size(); ++i) {
    if (in_pool_[i] != 0) continue;
    const double e = error_[i] - intercept_;
    const auto row = static_cast<std::int64_t>(i);
    if (weight_[i] < high(i) && e > threshold) rise.push_back({e, row});
    if (weight_[i] > low(i) && -e > threshold) fall.push_back({-e, row});
  }
  const std::size_t found = rise.size() + fall.size();
  const std::size_t most = std::min({found, most_new_rows, std::max<std::size_t>(64, working_set_.size() / 2),
                                     std::max<std::size_t>(1, largest_pool_ / 4)});
  if (problem_.intercept && working_set_.size() + most > largest_pool_) return pairs_of_violators(threshold, most);
  rise.insert(rise.end(), fall.begin(), fall.end());
  return worst(std::move(rise), most);
}

/// The same for a full working set: the members that could move against the rows that violate most, by the intercept at
/// hand, may long have left it. So it takes as many rows that may rise as rows that may fall, far enough apart.
std::vector<std::int64_t> SmoOutput::pairs_of_violators(double threshold, std::size_t most) {
  std::vector<Violation> rise, fall;
  for (std::size_t i = 0; i < error_.size(); ++i) {
    if (in_pool_[i] != 0) continue;
    const auto row = static_cast<std::int64_t>(i);
    const double above = error_[i] - bottom_, below = top_ - error_[i];
    // A row that may do both is taken where it is further off.
    const bool rises = weight_[i] < high(i) && above > threshold, falls = weight_[i] > low(i) && below > threshold;
    if (rises && !(falls && below > above))
      rise.push_back({above, row});
    else if (falls)
      fall.push_back({below, row});
  }
  const std::size_t half = std::max<std::size_t>(1, most / 2);
  std::vector<std::int64_t> rows = worst(std::move(rise), half);
  const std::vector<std::int64_t> others = worst(std::move(fall), half);
  rows.insert(rows.end(), others.begin(), others.end());
  return rows;
}

std::vector<std::int64_t> SmoOutput::worst(std::vector<Violation> found, std::size_t most) {
  most = std::min(most, found.size());
  std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(most), found.end(),
                    [](const Violation& a, const Violation& b) { return a.by != b.by ? a.by > b.by : a.row < b.row; });
  std::vector<std::int64_t> rows;
  for (std::size_t k = 0; k < most; ++k) rows.push_back(found[k].row);
  return rows;
}

bool SmoOutput::advance(double tolerance) {
  const double wanted = std::max(std::min(0.1 * worst_, 0.1), 1e-13);
  working_set_.solve(wanted, [&] { return pool_is_inseparable(); });
  collect_changes();
  measure();
  if (interval_.relative <= tolerance || interval_.inseparable) return true;
  const std::vector<std::int64_t> rows = violators(std::min(0.01 * wanted, 1e-10));
  if (rows.empty()) {
    // The working set holds all that matters and its own conditions hold as well as rounding lets them.
    const bool stuck = worst_ <= 1e-13 || worst_ > 0.5 * reached_;
    reached_ = std::min(reached_, worst_);
    return !stuck;
  }
  reached_ = infinity;
  make_room(rows.size());
  enter(rows);
  return true;
}

}  // namespace margin
