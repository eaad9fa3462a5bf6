#include "core/solvers/interpolation/working_set.hpp"

#include <algorithm>
#include <cmath>

#include "core/math/box_qp.hpp"
#include "core/math/duality_map.hpp"
#include "core/math/norm.hpp"
#include "core/problem/thresholds.hpp"
#include "core/solvers/run.hpp"

namespace margin {

namespace {
constexpr int newton_steps = 200;
constexpr double first_floor = 1e-2, floor_factor = 0.03, least_floor = 1e-13;  // of P relative to its largest entry

/// Σα = 0 to the last digit, by scaling the heavier side; nothing is left where all rows push the same way.
void balance(Eigen::VectorXd& alpha) {
  const double up = alpha.cwiseMax(0.0).sum(), down = -alpha.cwiseMin(0.0).sum();
  if (!(up > 0) || !(down > 0)) {
    alpha.setZero();
    return;
  }
  for (double& a : alpha) {
    if (a > 0 && up > down) a *= down / up;
    if (a < 0 && down > up) a *= up / down;
  }
}

}  // namespace

IntervalWorkingSet::IntervalWorkingSet(const Problem& problem, double row_scale, double end_scale)
    : problem_(problem),
      row_scale_(row_scale),
      end_scale_(end_scale),
      r_(dual_exponent(problem.norm)),
      kept_(problem.data),
      w_(Eigen::VectorXd::Zero(problem.dimensions())) {}

bool IntervalWorkingSet::add(std::int64_t row) {
  if (!known_.insert(row).second) return false;
  rows_.push_back(row);
  kept_.add(row);
  const auto m = static_cast<Eigen::Index>(rows_.size());
  for (Eigen::VectorXd* v : {&lower_, &upper_, &alpha_}) v->conservativeResize(m);
  lower_(m - 1) = end_scale_ * problem_.data.target(row);
  upper_(m - 1) = end_scale_ * problem_.data.upper_target(row);
  alpha_(m - 1) = 0;
  return true;
}

std::vector<std::pair<std::int64_t, double>> IntervalWorkingSet::dual() const {
  std::vector<std::pair<std::int64_t, double>> out;
  for (std::size_t i = 0; i < rows_.size(); ++i)
    if (alpha_(static_cast<Eigen::Index>(i)) != 0) out.emplace_back(rows_[i], alpha_(static_cast<Eigen::Index>(i)));
  return out;
}

Eigen::VectorXd IntervalWorkingSet::sum(const Eigen::VectorXd& alpha) const {
  Eigen::VectorXd u = Eigen::VectorXd::Zero(problem_.dimensions());
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const double a = alpha(static_cast<Eigen::Index>(i));
    if (a != 0) margin::add(row_scale_ * a, kept_[i], u.data());
  }
  return u;
}

double IntervalWorkingSet::height(const Eigen::VectorXd& alpha) const {
  double h = 0;
  for (Eigen::Index i = 0; i < alpha.size(); ++i)
    if (alpha(i) != 0) h += alpha(i) * (alpha(i) > 0 ? lower_(i) : upper_(i));
  return h;
}

Eigen::VectorXd IntervalWorkingSet::scores(const Eigen::VectorXd& w) const {
  Eigen::VectorXd s(static_cast<Eigen::Index>(rows_.size()));
  for (std::size_t i = 0; i < rows_.size(); ++i) s(static_cast<Eigen::Index>(i)) = row_scale_ * dot(kept_[i], w.data());
  return s;
}

Eigen::MatrixXd IntervalWorkingSet::gram(const Eigen::VectorXd& curvature, Run& run) const {
  const auto m = static_cast<Eigen::Index>(rows_.size());
  Eigen::MatrixXd g(m, m);
  Eigen::VectorXd dense(problem_.dimensions());
  for (Eigen::Index i = 0; i < m; ++i) {
    dense.setZero();
    margin::add(row_scale_, kept_[static_cast<std::size_t>(i)], dense.data());
    dense.array() *= curvature.array();
    for (Eigen::Index k = 0; k <= i; ++k)
      g(k, i) = g(i, k) = row_scale_ * dot(kept_[static_cast<std::size_t>(k)], dense.data());
    run.work(static_cast<double>(i + 2) * static_cast<double>(dense.size()));
  }
  return g;
}

bool IntervalWorkingSet::proves_contradiction(const Eigen::VectorXd& alpha) const {
  Eigen::VectorXd proof = alpha;
  double end = 0;
  for (Eigen::Index i = 0; i < proof.size(); ++i) {  // a row cannot push towards an end that it does not have
    if (!std::isfinite(proof(i) > 0 ? lower_(i) : upper_(i))) proof(i) = 0;
    for (const double e : {lower_(i), upper_(i)})
      if (std::isfinite(e)) end = std::max(end, std::fabs(e));
  }
  const double h = height(proof), length = lp_norm(sum(proof).data(), w_.size(), r_);
  return end > 0 && h > 2 * contradiction * end * length && h > 1e-10 * end * proof.cwiseAbs().sum();
}

/// α ← s α with the s that maximises s h − sʳ‖u‖ʳ/r; in logarithms, because ‖u‖ʳ leaves the range of doubles.
void IntervalWorkingSet::best_multiple() {
  const double h = height(alpha_), norm = lp_norm(u_.data(), u_.size(), r_);
  if (!(h > 0) || !(norm > 0)) return;
  const double s = std::exp((std::log(h) - r_ * std::log(norm)) / (r_ - 1));
  if (!std::isfinite(s) || !(s > 0)) return;
  alpha_ *= s;
  u_ *= s;
}

void IntervalWorkingSet::set_weights() {
  const double top = u_.cwiseAbs().maxCoeff();
  dual_map(u_, r_, w_);
  w_ *= std::pow(top, r_ - 1);
}

double IntervalWorkingSet::miss() const {
  const Eigen::VectorXd s = scores(w_).array() + b_;
  double worst = 0;
  for (Eigen::Index i = 0; i < s.size(); ++i) worst = std::max({worst, lower_(i) - s(i), s(i) - upper_(i)});
  return worst;
}

/// One step of Newton's method from α with its weights w = |u|^(r−1) sign u.
void IntervalWorkingSet::newton_step(double floor, double accuracy, Run& run) {
  const double top = u_.cwiseAbs().maxCoeff();
  Eigen::VectorXd curvature(u_.size());
  powers(u_.data(), u_.size(), 1 / top, r_ - 2, curvature.data());
  curvature = (r_ - 1) * std::pow(top, r_ - 2) * curvature.cwiseMax(floor);
  IntervalQp qp{gram(curvature, run), lower_, upper_, problem_.intercept};
  const Eigen::VectorXd shift = qp.gram * alpha_ - scores(w_);
  qp.lower += shift;
  qp.upper += shift;
  Eigen::VectorXd target = alpha_;
  double b = b_;
  solve_interval_qp(qp, accuracy, target, b, run);
  if (problem_.intercept) balance(target);
  const Eigen::VectorXd step = target - alpha_, du = sum(step);
  // Φ(t) = ‖u + t du‖_r^r / r − h(α + t step) is convex: to the zero of its slope, or all the way.
  auto slope = [&](double t) {
    const Eigen::VectorXd u = u_ + t * du;
    Eigen::VectorXd w;
    dual_map(u, r_, w);
    double value = std::pow(u.cwiseAbs().maxCoeff(), r_ - 1) * w.dot(du);
    for (Eigen::Index i = 0; i < step.size(); ++i) {
      const double a = alpha_(i) + t * step(i);
      if (step(i) != 0) value -= step(i) * (a > 0 || (a == 0 && step(i) > 0) ? lower_(i) : upper_(i));
    }
    run.work(40.0 * static_cast<double>(u.size()));
    return value;
  };
  double t = 1;
  const double start = slope(0), end = slope(1);
  if (start < 0 && end > 0.5 * -start) {
    double low = 0, high = 1;
    for (int i = 0; i < 40; ++i) {
      t = 0.5 * (low + high);
      (slope(t) <= 0 ? low : high) = t;
    }
    t = low > 0 ? low : high;
  }
  alpha_ = t == 1 ? target : Eigen::VectorXd(alpha_ + t * step);
  b_ += t * (b - b_);
  u_ = sum(alpha_);
}

void IntervalWorkingSet::solve(double accuracy, Run& run) {
  if (rows_.empty()) return;
  // The l2 problem: the answer for p = 2, a start for the others, and for all of them whether there is an answer.
  const IntervalQp qp{gram(Eigen::VectorXd::Ones(w_.size()), run), lower_, upper_, problem_.intercept};
  Eigen::VectorXd alpha = r_ == 2 ? alpha_ : Eigen::VectorXd::Zero(alpha_.size());
  double b = r_ == 2 ? b_ : 0.0;
  const Eigen::VectorXd change = solve_interval_qp(qp, accuracy, alpha, b, run);
  for (const Eigen::VectorXd* proof : {&change, static_cast<const Eigen::VectorXd*>(&alpha)})
    if (!contradictory_ && proves_contradiction(*proof)) {
      contradictory_ = true;
      w_ = sum(alpha);  // the weights of the last penalty: nearly the least squares of what is missed
      b_ = b;
      alpha_ = *proof;
    }
  if (contradictory_) return;
  if (problem_.intercept) balance(alpha);
  if (r_ == 2 || alpha_.cwiseAbs().maxCoeff() == 0) {
    alpha_ = alpha;
    b_ = b;
  }
  u_ = sum(alpha_);
  if (r_ == 2 || u_.cwiseAbs().maxCoeff() == 0) {
    w_ = u_;
    return;
  }
  double floor = first_floor, best = std::numeric_limits<double>::infinity();
  Eigen::VectorXd best_alpha = alpha_;
  double best_b = b_;
  for (int step = 0, idle = 0; step < newton_steps && idle < 8; ++step) {
    best_multiple();
    set_weights();
    const double now = miss();
    idle = now < 0.7 * best ? 0 : idle + 1;
    if (now < best) {
      best = now;
      best_alpha = alpha_;
      best_b = b_;
    }
    if (now <= accuracy) break;
    newton_step(floor, std::max(1e-14, 1e-3 * std::min(now, 1.0)), run);
    floor = std::max(least_floor, floor * floor_factor);
    if (u_.cwiseAbs().maxCoeff() == 0 || !u_.allFinite()) break;
  }
  alpha_ = best_alpha;
  b_ = best_b;
  u_ = sum(alpha_);
  best_multiple();
  set_weights();
}

}  // namespace margin
