#include "core/solvers/joint/newton.hpp"

#include <algorithm>
#include <cmath>

namespace margin {

namespace {

constexpr double forcing = 0.1;       // of the gradient, what conjugate gradients leave of it
constexpr double enough_fall = 1e-4;  // of what the slope promises (Armijo)
constexpr double first_kappa = 1, last_kappa = 1e-6, kappa_fall = 0.2;
constexpr int most_balancing = 60, most_idle = 20;

}  // namespace

JointNewton::JointNewton(const Problem& problem, const JointRows& rows, const JointTerms& terms, double tolerance,
                         Run& run, std::int64_t& iterations)
    : rows_(rows),
      terms_(terms),
      lambda_(problem.lambda),
      tolerance_(tolerance),
      run_(run),
      iterations_(iterations),
      curvature_(terms, rows) {
  gradient_.assign(rows.size(), 0.0);
  direction_.assign(rows.size(), 0.0);
  const std::size_t cells = static_cast<std::size_t>(rows.rows()) * rows.stride();
  for (LargeArray* a : {&slopes_, &moves_, &trial_s_, &trial_p_}) {
    a->assign(cells, 0.0);
    run.work(static_cast<double>(cells));
  }
  for (std::int64_t i = 0; i < rows.rows(); ++i) cost_ += rows.cost(i);
}

double JointNewton::workspace(const Problem& p) {
  const double stride = p.classes + 3.0, n = static_cast<double>(p.rows());
  return JointCurvature::workspace(p) + 8 * 5 * n * stride + 8 * 3 * stride * (p.dimensions() + 1.0);
}

double JointNewton::penalty(const LargeArray& w) const {
  double sum = 0;
  for (const double v : w) sum += v * v;
  if (rows_.free_intercept())
    for (std::size_t c = 0; c < rows_.stride(); ++c) {
      const double b = w[rows_.at(rows_.features(), c)];
      sum -= b * b;
    }
  run_.work(static_cast<double>(w.size()) / 2);
  return 0.5 * sum;
}

void JointNewton::record(double primal, double dual) {
  run_.record(iterations_++, std::max(0.0, lambda_ * dual), lambda_ * primal);
}

void JointNewton::weights_of(const LargeArray& p, LargeArray& v) {
  const std::size_t stride = rows_.stride();
  for (std::int64_t i = 0; i < rows_.rows(); ++i) {
    const auto at = static_cast<std::size_t>(i) * stride;
    for (std::size_t c = 0; c < stride; ++c) slopes_[at + c] = -rows_.cost(i) * p[at + c];
    slopes_[at + static_cast<std::size_t>(rows_.label(i))] += rows_.cost(i);
    run_.work(static_cast<double>(stride));
  }
  rows_.combine(slopes_.data(), v);
  if (pieces_ == nullptr) return;
  for (std::size_t j = 0; j < v.size(); ++j) v[j] += pieces_->weights[j];
  run_.work(static_cast<double>(v.size()));
}

double JointNewton::of_pieces(const LargeArray& w) const {
  if (pieces_ == nullptr) return 0;
  double sum = pieces_->constant;
  for (std::size_t j = 0; j < w.size(); ++j) sum -= pieces_->weights[j] * w[j];
  run_.work(static_cast<double>(w.size()));
  return sum;
}

/// Into gradient_; returns ‖gradient‖² of what is penalised.
double JointNewton::gradient(const JointPoint& point) {
  weights_of(point.p, gradient_);
  double sum = 0;
  for (std::size_t j = 0; j < gradient_.size(); ++j) {
    gradient_[j] = point.w[j] - gradient_[j];
    sum += gradient_[j] * gradient_[j];
  }
  run_.work(static_cast<double>(gradient_.size()));
  if (rows_.free_intercept())
    for (std::size_t c = 0; c < rows_.stride(); ++c) {
      const std::size_t at = rows_.at(rows_.features(), c);
      sum -= gradient_[at] * gradient_[at];
      gradient_[at] -= point.w[at];
    }
  return sum;
}

/// A Newton step that lowers the objective, down to `residual`; false: none does in floating point. gradient_ is that of
/// the point, `sums` its own, and then of the new one.
bool JointNewton::descend(JointPoint& point, double residual, const LargeArray* start, double kappa, JointSums& sums) {
  curvature_.set(point.p.data(), kappa);
  curvature_.solve(gradient_, residual, direction_);
  double slope = 0;
  for (std::size_t j = 0; j < gradient_.size(); ++j) slope += gradient_[j] * direction_[j];
  run_.work(static_cast<double>(gradient_.size()));
  if (!(slope < 0)) return false;
  rows_.all_scores(direction_.data(), moves_.data());
  const double before = penalty(point.w) + of_pieces(point.w), value = before + sums.value;
  const double along = [&] {  // <w, d> and ½‖d‖² of what is penalised
    double sum = 0;
    for (std::size_t j = 0; j < point.w.size(); ++j) sum += point.w[j] * direction_[j];
    if (rows_.free_intercept())
      for (std::size_t c = 0; c < rows_.stride(); ++c) {
        const std::size_t at = rows_.at(rows_.features(), c);
        sum -= point.w[at] * direction_[at];
      }
    return sum + of_pieces(direction_) - constant();
  }();
  const double square = penalty(direction_), noise = 1e-15 * std::fabs(value);
  double t = 1;
  for (int halvings = 0;; ++halvings, t /= 2) {
    if (halvings == 40 || run_.out_of_time()) return false;
    for (std::size_t j = 0; j < trial_s_.size(); ++j) trial_s_[j] = point.s[j] + t * moves_[j];
    run_.work(static_cast<double>(trial_s_.size()));
    const JointSums next =
        terms_.at(trial_s_.data(), start != nullptr ? start->data() : nullptr, kappa, trial_p_.data());
    const double moved = before + t * along + t * t * square + next.value;
    if (!(moved <= value + enough_fall * t * slope + (-slope <= 1e3 * noise ? noise : 0.0))) continue;
    sums = next;
    break;
  }
  for (std::size_t j = 0; j < point.w.size(); ++j) point.w[j] += t * direction_[j];
  point.s.swap(trial_s_);
  point.p.swap(trial_p_);
  run_.work(static_cast<double>(point.w.size()));
  return true;
}

/// Of the free intercept of a class, per unit of it.
double JointNewton::piece_of_intercept(std::size_t c) const {
  return pieces_ != nullptr && rows_.constant() != 0
             ? pieces_->weights[rows_.at(rows_.features(), c)] / rows_.constant()
             : 0;
}

/// Σ_c |Σ_i cost_i (e_y − p_i)_c|, pieces included
double JointNewton::imbalance(const JointPoint& point) const {
  std::vector<double> sum(rows_.stride(), 0.0);
  for (std::size_t c = 0; c < sum.size(); ++c) sum[c] = piece_of_intercept(c);
  for (std::int64_t i = 0; i < rows_.rows(); ++i) {
    const double* const q = point.p.data() + static_cast<std::size_t>(i) * rows_.stride();
    for (std::size_t c = 0; c < sum.size(); ++c) sum[c] -= rows_.cost(i) * q[c];
    sum[static_cast<std::size_t>(rows_.label(i))] += rows_.cost(i);
    run_.work(static_cast<double>(sum.size()));
  }
  double all = 0;
  for (const double v : sum) all += std::fabs(v);
  return all;
}

/// Newton's step of the intercepts alone.
bool JointNewton::balance_step(const JointPoint& point, double kappa, std::vector<double>& step) {
  const auto k = static_cast<std::size_t>(rows_.classes());
  SymmetricMatrix matrix(k);
  matrix.set_zero();
  step.assign(k, 0.0);
  for (std::size_t c = 0; c < k; ++c) step[c] = piece_of_intercept(c);
  std::vector<std::size_t> positive;
  for (std::int64_t i = 0; i < rows_.rows(); ++i) {
    const double* const q = point.p.data() + static_cast<std::size_t>(i) * rows_.stride();
    const double cost = rows_.cost(i);
    if (cost == 0) continue;
    positive.clear();
    for (std::size_t c = 0; c < k; ++c) {
      step[c] -= cost * q[c];
      if (q[c] > (terms_.hinge() ? 0.0 : 1e-12)) positive.push_back(c);
    }
    step[static_cast<std::size_t>(rows_.label(i))] += cost;
    const auto n = static_cast<double>(positive.size());
    for (std::size_t a = 0; a < positive.size(); ++a)
      for (std::size_t b = a; b < positive.size(); ++b) {
        const double pa = q[positive[a]], pb = q[positive[b]], same = a == b ? 1.0 : 0.0;
        matrix.row(positive[a])[positive[b]] +=
            terms_.hinge() ? cost / kappa * (same - 1 / n) : cost * (same * pa - pa * pb);
      }
    run_.work(static_cast<double>(k + positive.size() * positive.size()));
  }
  double trace = 0;
  for (std::size_t c = 0; c < k; ++c) trace += matrix.row(c)[c];
  const double mean = (trace > 0 ? trace : cost_) / static_cast<double>(k * k);
  for (std::size_t c = 0; c < k; ++c) {
    for (std::size_t d = c; d < k; ++d) matrix.row(c)[d] += mean;  // what moves all of them alike changes nothing
    matrix.row(c)[c] += curvature_.ridge();
  }
  if (!factorise(matrix, run_)) return false;
  solve_factored(matrix, step.data(), &run_.progress());
  return true;
}

void JointNewton::balance(JointPoint& point, const LargeArray* start, double kappa, JointSums& sums) {
  if (!rows_.free_intercept()) return;
  const auto k = static_cast<std::size_t>(rows_.classes());
  std::vector<double> step;
  double off = imbalance(point);
  for (int round = 0; round < most_balancing && off > 1e-14 * cost_; ++round) {
    if (!balance_step(point, kappa, step)) return;
    for (std::size_t c = 0; c < k; ++c)
      if (terms_.absent()[c] != 0) step[c] = 0;
    double t = 1;
    for (int halvings = 0;; ++halvings, t /= 2) {
      if (halvings == 30) return;
      for (std::int64_t i = 0; i < rows_.rows(); ++i)
        for (std::size_t c = 0; c < k; ++c) {
          const std::size_t at = static_cast<std::size_t>(i) * rows_.stride() + c;
          trial_s_[at] = point.s[at] + t * step[c];
        }
      run_.work(static_cast<double>(trial_s_.size()));
      const JointSums next =
          terms_.at(trial_s_.data(), start != nullptr ? start->data() : nullptr, kappa, trial_p_.data());
      double linear = 0;
      for (std::size_t c = 0; c < k; ++c) linear -= t * step[c] * piece_of_intercept(c);
      if (!(next.value + linear <= sums.value + 1e-14 * std::fabs(sums.value))) continue;
      point.s.swap(trial_s_);
      point.p.swap(trial_p_);
      const double after = imbalance(point);
      if (after >= off && off < 1e-10 * cost_) {  // rounding is all that is left
        point.s.swap(trial_s_);
        point.p.swap(trial_p_);
        return;
      }
      sums = next;
      off = after;
      for (std::size_t c = 0; c < k; ++c) point.w[rows_.at(rows_.features(), c)] += t * step[c] / rows_.constant();
      break;
    }
  }
}

Status JointNewton::multinomial(JointPoint& point) {
  rows_.all_scores(point.w.data(), point.s.data());
  terms_.mask(point.s.data());
  JointSums sums = terms_.at(point.s.data(), nullptr, 1, point.p.data());
  Status why = Status::iteration_limit;
  for (bool balanced = !rows_.free_intercept();;) {
    const double square = gradient(point), primal = penalty(point.w) + of_pieces(point.w) + sums.value;
    const bool near = reached(primal, primal - 0.5 * square);
    if (near && !balanced) {
      balance(point, nullptr, 1, sums);
      balanced = true;
      continue;
    }
    record(primal, primal - 0.5 * square);
    if (near) return Status::optimal;
    balanced = !rows_.free_intercept();
    if (run_.exhausted(iterations_, why)) break;
    double length = 0;
    for (const double v : gradient_) length += v * v;
    // No further than the tolerance needs, nor nearer than the quadratic model is good for.
    const double wanted = 0.3 * std::sqrt(1.8 * asked_gap(primal));
    if (!descend(point, std::max(forcing * std::sqrt(length), wanted), nullptr, 1, sums)) break;
  }
  balance(point, nullptr, 1, sums);
  return why;
}

Status JointNewton::crammer_singer(JointPoint& point) {
  rows_.all_scores(point.w.data(), point.s.data());
  terms_.mask(point.s.data());
  LargeArray start = point.p, best_w = point.w, best_p = point.p;
  double kappa = pieces_ != nullptr && pieces_->kappa > 0 ? pieces_->kappa : first_kappa, lower = -1e300, upper = 1e300;
  Status why = Status::iteration_limit;
  int idle = 0;  // centres in a row from which no step was taken
  JointSums sums = terms_.at(point.s.data(), start.data(), kappa, point.p.data());
  const auto settle = [&](Status status) {
    point.w.swap(best_w);
    point.p.swap(best_p);
    if (pieces_ != nullptr) pieces_->kappa = kappa;
    return status;
  };
  for (;;) {
    int steps = 0;
    bool moved = true;
    for (;; ++steps) {
      double square = gradient(point), length = 0;
      for (const double v : gradient_) length += v * v;
      double change = 0;
      for (std::int64_t i = 0; i < rows_.rows(); ++i)
        for (std::size_t at = static_cast<std::size_t>(i) * rows_.stride(), end = at + rows_.stride(); at < end; ++at)
          change += rows_.cost(i) * (point.p[at] - start[at]) * (point.p[at] - start[at]);
      run_.work(static_cast<double>(start.size()));
      const bool inner = length <= 0.02 * kappa * change;
      if (inner && rows_.free_intercept()) {
        balance(point, &start, kappa, sums);
        square = gradient(point);
      }
      const double penalized = penalty(point.w), primal = penalized + of_pieces(point.w) + terms_.value(point.s.data());
      // ‖V‖² of V = w − gradient
      double v = 0;
      for (std::size_t j = 0; j < point.w.size(); ++j) {
        const double value = point.w[j] - gradient_[j];
        v += value * value;
      }
      if (rows_.free_intercept())
        for (std::size_t c = 0; c < rows_.stride(); ++c) {
          const std::size_t at = rows_.at(rows_.features(), c);
          const double value = point.w[at] - gradient_[at];
          v -= value * value;
        }
      if (primal < upper) {
        upper = primal;
        std::copy(point.w.begin(), point.w.end(), best_w.begin());
      }
      // A dual value of its own only where the intercept allows it.
      const double dual = sums.dual + constant() - 0.5 * v;
      if ((inner || !rows_.free_intercept()) && dual > lower) {
        lower = dual;
        std::copy(point.p.begin(), point.p.end(), best_p.begin());
      }
      run_.work(static_cast<double>(2 * point.w.size() + point.p.size()));
      record(upper, lower);
      if (reached(upper, lower)) return settle(Status::optimal);
      if (run_.exhausted(iterations_, why)) return settle(why);
      if (inner || !moved || !(square >= 0)) break;
      const double wanted = 0.1 * std::sqrt(std::max(0.02 * kappa * change, asked_gap(upper) * 1e-2));
      moved = descend(point, std::max(std::min(forcing * std::sqrt(length), wanted), 1e-12 * std::sqrt(length)), &start,
                      kappa, sums);
    }
    idle = steps == 0 ? idle + 1 : 0;
    if ((!moved || idle > most_idle) && kappa <= last_kappa) return settle(why);
    std::copy(point.p.begin(), point.p.end(), start.begin());
    if (steps <= 12) kappa = std::max(last_kappa, kappa * kappa_fall);
    sums = terms_.at(point.s.data(), start.data(), kappa, point.p.data());
  }
}

Status JointNewton::solve(JointPoint& point) { return terms_.hinge() ? crammer_singer(point) : multinomial(point); }

}  // namespace margin
