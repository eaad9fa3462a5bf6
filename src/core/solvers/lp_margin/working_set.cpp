#include "core/solvers/lp_margin/working_set.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/math/duality_map.hpp"
#include "core/math/norm.hpp"
#include "core/math/rounding.hpp"
#include "core/solvers/l2_margin/min_norm_point.hpp"

namespace margin {

namespace {

constexpr double rounding = 1e-14;  // relative error of a norm
constexpr int most_steps = 200;
constexpr double first_floor = 0.1, floor_factor = 0.01, least_floor = 1e-12;  // of P, whose largest entry is 1
// Below this share of the largest row the Gram matrix of a model has too few digits for its minimum.
constexpr double gram_reach = 1e-5;

/// A working set of the vectors of one Newton model, with the classes of the rows they stand for.
struct Model {
  explicit Model(bool intercept) : data(Dataset::Outcome::classes), problem(data) {
    problem.classes = 2;
    problem.intercept = intercept;
    data.classes().intern("-", -1);
    data.classes().intern("+", 1);
  }
  void add(const Eigen::VectorXd& x, std::int32_t label) {
    data.append(dense_row(x.data(), static_cast<std::int32_t>(x.size())), label);
    problem.label.push_back(label);
  }

  Dataset data;
  Problem problem;
};

}  // namespace

LpWorkingSet::LpWorkingSet(const Problem& problem, double scale)
    : problem_(problem), scale_(scale), p_(problem.norm), r_(dual_exponent(problem.norm)), kept_(problem.data) {}

bool LpWorkingSet::add(std::int64_t row) {
  if (!known_.insert(row).second) return false;
  rows_.push_back(row);
  kept_.add(row);
  if (q_.size() > 0) {
    q_.conservativeResize(q_.size() + 1);
    q_(q_.size() - 1) = 0;
  }
  return true;
}

std::size_t LpWorkingSet::support() const { return static_cast<std::size_t>((q_.array() > 0).count()); }

std::vector<std::pair<std::int64_t, double>> LpWorkingSet::weights() const {
  std::vector<std::pair<std::int64_t, double>> out;
  for (std::size_t i = 0; i < rows_.size(); ++i)
    if (q_(static_cast<Eigen::Index>(i)) > 0) out.emplace_back(rows_[i], q_(static_cast<Eigen::Index>(i)));
  return out;
}

Eigen::VectorXd LpWorkingSet::sum(const Eigen::VectorXd& q) const {
  Eigen::VectorXd u = Eigen::VectorXd::Zero(problem_.dimensions());
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const double weight = q(static_cast<Eigen::Index>(i));
    if (weight != 0) margin::add(scale_ * weight * sign(i), kept_[i], u.data());
  }
  return u;
}

void LpWorkingSet::start(const Weights& dual) {
  double mass[2] = {0, 0};
  q_.resize(static_cast<Eigen::Index>(rows_.size()));
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    q_(static_cast<Eigen::Index>(i)) = dual(rows_[i], 0);
    mass[problem_.intercept && sign(i) > 0 ? 1 : 0] += dual(rows_[i], 0);
  }
  for (std::size_t i = 0; i < rows_.size(); ++i)
    q_(static_cast<Eigen::Index>(i)) *= problem_.intercept ? 0.5 / mass[sign(i) > 0 ? 1 : 0] : 1 / mass[0];
  u_ = sum(q_);
}

double LpWorkingSet::measure() {
  norm_ = dual_map(u_, r_, w_);
  margins_.resize(static_cast<Eigen::Index>(rows_.size()));
  nearest_[0] = nearest_[1] = infinity;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const double m = scale_ * sign(i) * dot(kept_[i], w_.data());
    margins_(static_cast<Eigen::Index>(i)) = m;
    double& nearest = nearest_[sign(i) > 0 ? 1 : 0];
    nearest = std::min(nearest, m);
  }
  if (!problem_.intercept) nearest_[0] = nearest_[1] = std::min(nearest_[0], nearest_[1]);
  const double size = lp_norm(w_.data(), w_.size(), p_);
  return size > 0 ? 1 - 0.5 * (nearest_[0] + nearest_[1]) / size / norm_ : 0.0;
}

std::vector<std::size_t> LpWorkingSet::candidates() const {
  std::vector<std::size_t> order(rows_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  auto above = [&](std::size_t i) {
    if (q_(static_cast<Eigen::Index>(i)) > 0) return -infinity;
    return margins_(static_cast<Eigen::Index>(i)) - nearest_[sign(i) > 0 ? 1 : 0];
  };
  const std::size_t room = 2 * support() + 64;
  if (order.size() > room) {
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      const double x = above(a), y = above(b);
      return x != y ? x < y : a < b;
    });
    order.resize(room);
    std::sort(order.begin(), order.end());
  }
  return order;
}

/// The minimiser of the model around u_, as weights of the working set's rows.
Eigen::VectorXd LpWorkingSet::target(double floor, double tolerance, const Progress& progress) const {
  const double top = u_.cwiseAbs().maxCoeff();
  Eigen::VectorXd curvature(u_.size()), shift(u_.size());
  powers(u_.data(), u_.size(), 1 / top, r_ - 2, curvature.data());
  for (Eigen::Index j = 0; j < u_.size(); ++j) {
    const double slope = curvature(j) * u_(j);
    curvature(j) = std::max(curvature(j), floor);
    shift(j) = slope / ((r_ - 1) * curvature(j)) - u_(j);
    curvature(j) = std::sqrt(curvature(j));
  }

  const std::vector<std::size_t> chosen = candidates();
  Model model(problem_.intercept);
  Eigen::VectorXd z(u_.size());
  for (const std::size_t i : chosen) {
    z = shift;
    margin::add(scale_ * sign(i), kept_[i], z.data());
    z.array() *= sign(i) * curvature.array();
    model.add(z, sign(i) > 0 ? 1 : 0);
  }
  const auto m = static_cast<double>(chosen.size());
  WorkingSet working_set(model.problem, 1.0);
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    const std::int32_t own = model.problem.label[k];
    working_set.add({static_cast<std::int64_t>(k), own, 1 - own});
    progress.work(static_cast<double>(k) * static_cast<double>(u_.size()));
  }
  progress.work(m * static_cast<double>(u_.size()));
  MinNormPoint hull(model.problem, working_set,
                    norm_ < gram_reach ? MinNormPoint::Precision::rows : MinNormPoint::Precision::gram, progress);
  hull.solve(tolerance);
  Eigen::VectorXd q = Eigen::VectorXd::Zero(q_.size());
  for (std::size_t k = 0; k < hull.members().size(); ++k)
    q(static_cast<Eigen::Index>(chosen[static_cast<std::size_t>(hull.members()[k])])) =
        hull.weights()(static_cast<Eigen::Index>(k));
  return q;
}

/// How far to go from u_ along `step`, 0 to 1: all the way where that lowers ‖u‖_r enough, else to the minimum.
double LpWorkingSet::line_search(const Eigen::VectorXd& step, const Progress& progress) const {
  Eigen::VectorXd w;
  // ‖u + t step‖_r and its slope in t.
  auto at = [&](double t, double& slope) {
    const Eigen::VectorXd u = u_ + t * step;
    const double value = dual_map(u, r_, w);
    const double size = lp_norm(w.data(), w.size(), p_);
    slope = size > 0 ? w.dot(step) / size : 0.0;
    progress.work(40.0 * static_cast<double>(u.size()));
    return value;
  };
  double slope0 = 0, slope = 0;
  const double value0 = at(0, slope0), value1 = at(1, slope);
  if (slope <= 0 || value1 <= value0 + 0.25 * slope0) return 1;
  // What the step promises is below the last digit of the norm: no search can tell, and the model is at its best here.
  if (-slope0 <= rounding * value0 && value1 <= value0 * (1 + rounding)) return 1;
  if (!(slope0 < 0)) return 0;
  double low = 0, high = 1;
  for (int i = 0; i < 40 && high - low > 1e-3 * high; ++i) {
    const double middle = 0.5 * (low + high);
    at(middle, slope);
    (slope <= 0 ? low : high) = middle;
  }
  return low > 0 ? low : high;
}

LpWorkingSet::Ending LpWorkingSet::solve(double tolerance, const Progress& progress) {
  double floor = first_floor, best_gap = infinity, best_norm = infinity;
  Eigen::VectorXd best_q = q_;
  int without_progress = 0;
  for (int steps = 0; steps < most_steps; ++steps) {
    const double gap = measure();
    progress.work(static_cast<double>(rows_.size()) * static_cast<double>(u_.size()));
    if (gap <= tolerance || norm_ <= 1e-14) return Ending::optimal;
    // Near the end the norm has reached its last digit while the gap, its square root, still falls.
    const bool improved = norm_ < best_norm * (1 - rounding) || gap < 0.5 * best_gap;
    if (gap < best_gap || norm_ < best_norm * (1 - rounding)) best_q = q_;
    without_progress = improved ? 0 : without_progress + 1;
    best_gap = std::min(best_gap, gap);
    best_norm = std::min(best_norm, norm_);
    if (without_progress > 3) break;
    floor = std::max(least_floor, std::min(floor, gap * gap));
    const Eigen::VectorXd q = target(floor, std::max(1e-13, 0.01 * std::min(gap * gap, 1.0)), progress);
    const Eigen::VectorXd u = sum(q);
    const double t = line_search(u - u_, progress);
    q_ = t == 1 ? q : Eigen::VectorXd(q_ + t * (q - q_));
    u_ = t == 1 ? u : sum(q_);
    floor *= floor_factor;
  }
  q_ = best_q;
  u_ = sum(q_);
  measure();
  return Ending::stalled;
}

}  // namespace margin
