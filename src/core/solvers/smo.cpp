// smo: kernel machines solved exactly, hard margins and the hinge loss.
//
// Problem    two classes, hard:  the w of least norm with y_i (w(x_i) + b) ≥ 1: its direction has the largest margin.
//            soft:               λ/2 ‖w‖² + (1/W) Σ c_i max(0, 1 − y_i (w(x_i) + b)),
//            w = Σ β_i k(x_i, ·), b free and not regularised. One dual serves both,
//              max Σ y_i β_i − ½ βᵀKβ   with 0 ≤ y_i β_i ≤ C_i, C_i = c_i/(λW) or ∞, and Σ β_i = 0 with an intercept.
//            More than two classes: soft margins one against the rest; hard margins are left to cutting_plane.
// Update     keep a pool of rows with their kernel values among each other; solve the dual on the pool (smo_pool.hpp);
//            bring the errors y_i − w(x_i) of all rows up to date from the columns of the weights that moved; let in
//            the rows that violate the conditions of optimality most; repeat. Rows outside of the pool are not touched
//            in between: this is shrinking whose every round ends with a full reconstruction. Columns are computed
//            several at a time and kept as long as memory allows.
// Stop       each output when the gap between both its ends, known after every round, is within the tolerance, when
//            rounding allows no progress, or after its rounds; the next one is solved in any case. A hard margin also
//            when its upper end is negligible: then no separator has a larger margin.
// Source     J. Platt, Fast training of support vector machines using sequential minimal optimization (1998);
//            T. Joachims, Making large-scale SVM learning practical (1998), for the working set.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "../certificate_kernel.hpp"
#include "../hard_margin.hpp"
#include "../kernel_basis.hpp"
#include "../kernel_columns.hpp"
#include "smo_pool.hpp"

namespace margin {

namespace {
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t default_rounds = 10000;
constexpr std::size_t first_pool = 256, most_new_rows = 1024;

/// The dual of one output, solved on a growing pool.
class SmoOutput {
 public:
  SmoOutput(const Problem& problem, std::int32_t output, const KernelRows& rows, KernelColumns& columns,
            std::size_t largest_pool, Run& run);

  struct Interval {
    double lower = 0, upper = infinity;  // of the margin, or dual and primal value
    double relative = infinity;
    bool inseparable = false;
  };
  /// One round; false when nothing is left to improve.
  bool advance(double tolerance);
  const Interval& interval() const { return interval_; }
  const std::vector<double>& weights() const { return weight_; }
  double intercept() const { return intercept_; }
  /// Factor of weights and intercept that makes the primal value least.
  double scale() const { return scale_; }
  double squared_norm() const { return squared_norm_; }

 private:
  double high(std::size_t i) const { return sign_[i] > 0 ? bound(i) : 0.0; }
  double low(std::size_t i) const { return sign_[i] > 0 ? 0.0 : -bound(i); }
  double bound(std::size_t i) const { return problem_.hard_margin ? infinity : cost_[i]; }
  void fill_first_pool();
  void enter(const std::vector<std::int64_t>& rows);
  void make_room(std::size_t newcomers);
  bool pool_is_inseparable() const;
  void collect_changes();
  void measure();
  void best_soft_intercept();
  double primal_value(double scale, double square, double rounding) const;
  std::vector<std::int64_t> violators(double threshold);

  const Problem& problem_;
  const KernelRows& rows_;
  KernelColumns& columns_;
  std::size_t largest_pool_;
  Run& run_;
  std::vector<double> sign_, cost_, weight_, error_;
  std::vector<char> in_pool_;
  SmoPool pool_;
  double intercept_ = 0, scale_ = 1, squared_norm_ = 0, worst_ = infinity, reached_ = infinity, radius_ = 0,
         value_error_ = 0;
  Interval interval_;
};

SmoOutput::SmoOutput(const Problem& problem, std::int32_t output, const KernelRows& rows, KernelColumns& columns,
                     std::size_t largest_pool, Run& run)
    : problem_(problem),
      rows_(rows),
      columns_(columns),
      largest_pool_(largest_pool),
      run_(run),
      in_pool_(rows.size(), 0),
      pool_(problem.intercept, std::max(1e-12 * largest_diagonal(rows), 1e-290), largest_pool, run),
      radius_(std::sqrt(largest_diagonal(rows))) {
  const std::size_t n = rows.size();
  for (std::size_t i = 0; i < n; ++i) sign_.push_back(problem.target(static_cast<std::int64_t>(i), output));
  if (!problem.hard_margin)
    for (std::size_t i = 0; i < n; ++i)
      cost_.push_back(problem.weight(static_cast<std::int64_t>(i)) / (problem.lambda * problem.total_weight));
  weight_.assign(n, 0.0);
  error_ = sign_;
  value_error_ = largest_value_error(rows) + 2.3e-16 * static_cast<double>(n + 8) * radius_ * radius_;
  fill_first_pool();
}

/// Rows of both classes, evenly spaced, so that neither the order of the table nor a rare class matters.
void SmoOutput::fill_first_pool() {
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
  const std::size_t before = pool_.size();
  for (const std::int64_t row : rows) {
    const auto i = static_cast<std::size_t>(row);
    pool_.add({row, sign_[i], low(i), high(i), weight_[i], error_[i]});
    in_pool_[i] = 1;
  }
  columns_.each(rows, [&](std::size_t k, const double* column) { pool_.set_column(before + k, column); });
  pool_.share_columns(before);
}

/// Members that sit at a bound and far from the margin leave first.
void SmoOutput::make_room(std::size_t newcomers) {
  if (pool_.size() + newcomers <= largest_pool_) return;
  std::vector<std::size_t> order(pool_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  auto distance = [&](std::size_t p) {
    return pool_.free(p) ? -1.0 : std::fabs(error_[static_cast<std::size_t>(pool_.row(p))] - intercept_);
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return distance(a) < distance(b); });
  const std::size_t stay = std::min(order.size(), std::max(largest_pool_ / 2, largest_pool_ - newcomers));
  for (std::size_t k = stay; k < order.size(); ++k) in_pool_[static_cast<std::size_t>(pool_.row(order[k]))] = 0;
  order.resize(stay);
  std::sort(order.begin(), order.end());
  pool_.keep(order);
}

/// The upper end that the pool's weights prove is negligible.
bool SmoOutput::pool_is_inseparable() const {
  if (!problem_.hard_margin) return false;
  double mass = 0, dual = 0;  // Σ|β| and βᵀKβ = Σ β (y − e)
  for (std::size_t p = 0; p < pool_.size(); ++p) {
    mass += std::fabs(pool_.weight(p));
    dual += pool_.weight(p) * (sign_[static_cast<std::size_t>(pool_.row(p))] - pool_.error(p));
  }
  return mass > 0 && std::sqrt(std::max(0.0, dual)) <= 0.3 * negligible_kernel_margin * radius_ * mass;
}

/// Weights and errors of all rows after the pool has been solved.
void SmoOutput::collect_changes() {
  std::vector<std::int64_t> moved;
  std::vector<double> by;
  for (std::size_t p = 0; p < pool_.size(); ++p) {
    double& weight = weight_[static_cast<std::size_t>(pool_.row(p))];
    if (pool_.weight(p) == weight) continue;
    moved.push_back(pool_.row(p));
    by.push_back(pool_.weight(p) - weight);
    weight = pool_.weight(p);
  }
  columns_.each(moved, [&](std::size_t k, const double* column) {
    kernels().axpy_d(-by[k], column, error_.data(), error_.size());
    run_.work(static_cast<double>(error_.size()) / 2);
  });
  for (std::size_t p = 0; p < pool_.size(); ++p) pool_.set_error(p, error_[static_cast<std::size_t>(pool_.row(p))]);
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
  worst_ = problem_.intercept ? top - bottom : std::max(top, -bottom);
  if (problem_.hard_margin) {
    const double norm = std::sqrt(square);
    const double least_positive = 1 - positive, least_negative = 1 + negative;  // smallest margins without b
    intercept_ = problem_.intercept ? 0.5 * (least_negative - least_positive) : 0;
    const double least =
        problem_.intercept ? 0.5 * (least_positive + least_negative) : std::min(least_positive, least_negative);
    interval_.lower = norm > 0 ? least / norm : 0;
    interval_.upper = mass > 0 ? norm / mass : radius_;
    interval_.relative = interval_.upper > 0 ? (interval_.upper - interval_.lower) / interval_.upper : 0;
    interval_.inseparable = interval_.lower <= 0 && interval_.upper <= 0.5 * negligible_kernel_margin * radius_;
    return;
  }
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

/// Rows outside of the pool that violate the conditions of optimality by more than `threshold`, the worst first.
std::vector<std::int64_t> SmoOutput::violators(double threshold) {
  std::vector<std::pair<double, std::int64_t>> found;
  for (std::size_t i = 0; i < error_.size(); ++i) {
    if (in_pool_[i] != 0) continue;
    const double e = error_[i] - intercept_;
    const double violation = std::max(weight_[i] < high(i) ? e : 0.0, weight_[i] > low(i) ? -e : 0.0);
    if (violation > threshold) found.emplace_back(-violation, static_cast<std::int64_t>(i));
  }
  const std::size_t most = std::min({found.size(), most_new_rows, std::max<std::size_t>(64, pool_.size() / 2),
                                     std::max<std::size_t>(1, largest_pool_ / 4)});
  std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(most), found.end());
  std::vector<std::int64_t> rows;
  for (std::size_t k = 0; k < most; ++k) rows.push_back(found[k].second);
  return rows;
}

bool SmoOutput::advance(double tolerance) {
  const double wanted = std::max(std::min(0.1 * worst_, 0.1), 1e-13);
  pool_.solve(wanted, [&] { return pool_is_inseparable(); });
  collect_changes();
  measure();
  if (interval_.relative <= tolerance || interval_.inseparable) return true;
  const std::vector<std::int64_t> rows = violators(std::min(0.01 * wanted, 1e-10));
  if (rows.empty()) {
    // The pool holds all that matters and its own conditions hold as well as rounding lets them.
    const bool stuck = worst_ <= 1e-13 || worst_ > 0.5 * reached_;
    reached_ = std::min(reached_, worst_);
    return !stuck;
  }
  reached_ = infinity;
  make_room(rows.size());
  enter(rows);
  return true;
}

class Smo final : public Solver {
 public:
  std::string_view name() const override { return "smo"; }
  std::string_view problem() const override { return "hard margin or soft margin, kernel"; }
  std::string_view summary() const override {
    return "exact kernel machine (maximum margin, or hinge loss): second-order SMO and Newton's method on a pool of "
           "rows";
  }
  bool takes_kernels() const override { return true; }
  std::string refusal(const Problem& p) const override;
  double workspace(const Problem& p) const override {
    const double n = static_cast<double>(p.rows()), first = std::min(n, static_cast<double>(first_pool));
    return KernelRows::bytes(p.data, *p.kernel) + 8 * n * (16 + first) + 32 * first * first + 2 * dual_bytes(p);
  }
  Solution solve(const Problem& problem, const Settings& settings, Monitor& monitor) const override;
};

std::string Smo::refusal(const Problem& p) const {
  if (p.hard_margin)
    return p.task == Task::multiclass ? "it separates two classes; sampling takes more, with intercept => false" : "";
  if (p.loss_name != "hinge") return "its loss is the hinge";
  if (p.l1_ratio > 0) return "a kernel machine has no weights on features for l1_ratio to make sparse";
  return "";
}

/// Σ c_i: the loss of weights of 0, times the sum of the row weights.
double weight_sum(const Problem& problem) {
  double sum = 0;
  for (std::int64_t i = 0; i < problem.rows(); ++i) sum += problem.weight(i);
  return sum;
}

/// Rounds until the interval of this output is within `target`; if not, what stopped it.
Status solve_output(SmoOutput& output, double target, Run& run, const std::function<void()>& record) {
  for (std::int64_t rounds = 1;; ++rounds) {
    const bool more = output.advance(target);
    record();
    if (output.interval().relative <= target) return Status::optimal;
    if (output.interval().inseparable) return Status::not_separable;
    Status why;
    if (run.exhausted(rounds, why) || !more) return why;
  }
}

Solution Smo::solve(const Problem& problem, const Settings& settings, Monitor& monitor) const {
  Run run(settings, monitor, name(), default_rounds);
  auto poll = [&](double operations) { run.work(operations); };
  const KernelRows rows = kernel_rows(problem.data, problem.kernel, poll);
  const double n = static_cast<double>(problem.rows());
  const double left = std::max(
      settings.workspace_limit - KernelRows::bytes(problem.data, *problem.kernel) - 128 * n - 2 * dual_bytes(problem),
      8 * n * 16);
  // A quarter for the pool's kernel matrix and the copy that it grows into, a quarter for Newton's factor, half for
  // columns.
  const auto largest_pool = static_cast<std::size_t>(std::clamp(std::sqrt(left / 4 / 8 / 2.6), 16.0, 20000.0));
  KernelColumns columns(rows, left / 2, poll);

  Solution s;
  s.solver = name();
  s.dual = Weights::Zero(problem.rows(), problem.outputs());
  s.intercept = Eigen::VectorXd::Zero(problem.outputs());
  Weights coefficients = Weights::Zero(problem.rows(), problem.outputs());
  const double target = settings.tolerance * 0.999;  // the certificate's rounding allowance needs a little room
  s.status = Status::optimal;
  if (problem.hard_margin && largest_diagonal(rows) == 0) {  // any weights prove a margin of 0
    s.dual.setOnes();
    s.status = Status::not_separable;
  }
  // The interval of all outputs: those that are done by their own, those to come by weights of 0.
  const double untrained = problem.hard_margin ? 0 : weight_sum(problem) / problem.total_weight;
  double lower = 0, upper = untrained * problem.outputs();
  for (std::int32_t o = 0; o < problem.outputs() && s.status != Status::not_separable; ++o) {
    SmoOutput output(problem, o, rows, columns, largest_pool, run);
    upper -= untrained;
    const Status status = solve_output(output, target, run, [&] {
      run.record(++s.iterations, lower + output.interval().lower, upper + output.interval().upper);
    });
    if (s.status != Status::time_limit && status != Status::optimal) s.status = status;
    lower += output.interval().lower;
    upper += output.interval().upper;
    // Hard margins have norm 1, as in every model: a score is a distance.
    const double norm = std::sqrt(output.squared_norm());
    const double scale = problem.hard_margin && norm > 0 ? 1 / norm : output.scale();
    s.intercept(o) = scale * output.intercept();
    for (std::int64_t i = 0; i < problem.rows(); ++i) {
      const double w = output.weights()[static_cast<std::size_t>(i)];
      coefficients(i, o) = scale * w;
      if (problem.hard_margin)
        s.dual(i, o) = std::fabs(w);
      else if (problem.weight(i) > 0)
        s.dual(i, o) = w * problem.lambda * problem.total_weight / problem.weight(i);
    }
  }
  SupportVectors support = support_vectors(problem, rows, coefficients);
  s.basis = std::move(support.basis);
  s.weights = std::move(support.weights);
  s.trace = run.take_trace();
  return s;
}

const Smo instance;

}  // namespace

const Solver& smo = instance;

}  // namespace margin
