#include "core/solvers/joint/ascent.hpp"

#include <algorithm>
#include <cmath>

namespace margin {

namespace {

constexpr int most_sweeps = 30;  // from one bound to the next
constexpr double first_slack = 1, least_slack = 1e-9;
constexpr double share = 0.5;            // of the time on faces, that visits take before the next
constexpr double share_of_sparse = 0.1;  // where these are preconditioned, and find weights in less of it
constexpr int first_products = 16, most_products = 1000;
constexpr double part_for_faces = 0.5;  // of the gap, what a face may leave
constexpr int patience = 60;            // bounds in which the gap must halve

}  // namespace

JointAscent::JointAscent(const JointRows& rows, const JointTerms& terms, JointNewton& newton, std::uint64_t seed,
                         Run& run, const std::int64_t& iterations)
    : rows_(rows),
      terms_(terms),
      newton_(newton),
      random_(seed),
      run_(run),
      iterations_(iterations),
      face_(rows, run),
      classes_(static_cast<std::size_t>(rows.rows() * rows.classes())),
      active_(static_cast<std::size_t>(rows.rows()), rows.classes()),
      scores_(rows.stride()),
      z_(rows.stride()),
      scratch_(2 * rows.stride()),
      products_(first_products) {
  for (std::int64_t i = 0; i < rows.rows(); ++i) {
    if (rows.cost(i) > 0) order_.push_back(static_cast<std::int32_t>(i));
    for (std::int32_t c = 0; c < rows.classes(); ++c) classes_[static_cast<std::size_t>(i * rows.classes() + c)] = c;
    run.work(rows.classes());
  }
}

double JointAscent::workspace(const Problem& p) {
  return (8.0 + 4.0 * p.classes) * static_cast<double>(p.rows()) + JointFace::workspace(p) +
         8 * (p.classes + 3.0) * (p.dimensions() + 1.0);
}

/// By how much the row's scores were off; below 0: no class but one is left to look at.
double JointAscent::visit(JointPoint& point, std::int64_t i) {
  const std::int32_t y = rows_.label(i);
  const double cost = rows_.cost(i), q = cost * rows_.size_of(i);
  double* const p = point.p.data() + static_cast<std::size_t>(i) * rows_.stride();
  if (!(q > 0)) {  // no weights move its scores, which are all 0
    for (std::int32_t c = 0; c < rows_.classes(); ++c) p[c] = 0;
    p[y == 0 ? 1 : 0] = 1;
    return -1;
  }
  std::int32_t* const kept = classes_.data() + i * rows_.classes();
  auto n = static_cast<std::size_t>(active_[static_cast<std::size_t>(i)]);
  rows_.scores_of(i, point.w.data(), kept, n, scores_.data(), scratch_.data());
  const double operations = rows_.cost_of(i, n);
  visited_ += operations;
  run_.work(operations + 8.0 * static_cast<double>(n));
  double top = -1e300, low = 1e300;  // low: of the classes with weight
  for (std::size_t t = 0; t < n; ++t) {
    if (kept[t] != y) scores_[t] += 1;
    top = std::max(top, scores_[t]);
    if (p[kept[t]] > 0) low = std::min(low, scores_[t]);
  }
  for (std::size_t t = 0; t < n;) {
    if (p[kept[t]] > 0 || scores_[t] >= low) {
      ++t;
      continue;
    }
    --n;
    std::swap(kept[t], kept[n]);
    scores_[t] = scores_[n];
  }
  active_[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(n);
  if (n < 2) return -1;
  if (!(top - low > 1e-12)) return 0;
  for (std::size_t t = 0; t < n; ++t) z_[t] = p[kept[t]] + scores_[t] / q;
  project_on_simplex(z_.data(), n);
  std::size_t moved = 0;  // from here on the first of kept_, z_
  for (std::size_t t = 0; t < n; ++t) {
    double& value = p[kept[t]];
    const double step = z_[t] - value;
    if (step == 0) continue;
    value = z_[t];
    z_[moved] = -cost * step;
    std::swap(kept[t], kept[moved]);
    ++moved;
  }
  rows_.add_of(i, z_.data(), kept, moved, point.w.data(), scratch_.data());
  visited_ += rows_.cost_of(i, moved);
  run_.work(rows_.cost_of(i, moved));
  return top - low;
}

/// Of the rows in order_; the largest that they were off.
double JointAscent::sweep(JointPoint& point) {
  for (std::size_t n = order_.size(); n > 1; --n) std::swap(order_[n - 1], order_[random_.below(n)]);
  run_.work(4.0 * static_cast<double>(order_.size()));
  double worst = 0;
  std::size_t stay = 0;
  for (std::size_t t = 0; t < order_.size(); ++t) {
    if (t + 4 < order_.size()) prefetch(rows_.row(order_[t + 4]));
    const double off = visit(point, order_[t]);
    worst = std::max(worst, off);
    if (off >= 0) order_[stay++] = order_[t];
  }
  order_.resize(stay);
  return worst;
}

/// All rows and classes that may move where scores differ by `slack`; point.s are the scores of all.
void JointAscent::wake(const JointPoint& point, double slack) {
  order_.clear();
  const std::int32_t k = rows_.classes();
  for (std::int64_t i = 0; i < rows_.rows(); ++i) {
    if (!(rows_.cost(i) > 0)) continue;
    const double* const s = point.s.data() + static_cast<std::size_t>(i) * rows_.stride();
    const double* const p = point.p.data() + static_cast<std::size_t>(i) * rows_.stride();
    const std::int32_t y = rows_.label(i);
    double low = 1e300;
    for (std::int32_t c = 0; c < k; ++c)
      if (p[c] > 0) low = std::min(low, s[c] + (c == y ? 0 : 1));
    std::int32_t* const kept = classes_.data() + i * k;
    std::int32_t n = 0, last = k;
    for (std::int32_t c = 0; c < k; ++c) {
      const bool looked_at = p[c] > 0 || s[c] + (c == y ? 0 : 1) > low - slack;
      kept[looked_at ? n++ : --last] = c;
    }
    active_[static_cast<std::size_t>(i)] = n;
    if (n > 1) order_.push_back(static_cast<std::int32_t>(i));
    run_.work(2.0 * k);
  }
}

/// Until no row that is visited is off by more than `slack`, or they took their time; false: so did the solve.
bool JointAscent::sweeps(JointPoint& point, double slack) {
  for (int n = 0; n < most_sweeps; ++n) {
    const double worst = sweep(point);
    if (run_.out_of_time()) return false;
    if (worst < slack) return true;
    if (visited_ < (face_.sparse() ? share_of_sparse : share) * face_cost_) continue;
    const bool solved = face_.step(point, order_, products_, part_for_faces * wanted_);
    face_cost_ = face_.spent();
    visited_ = 0;
    if (!solved) continue;
    products_ = std::min(2 * products_, most_products);
    face_cost_ *= 2;
  }
  return true;
}

std::optional<Status> JointAscent::solve(JointPoint& point) {
  double upper = 1e300, lower = -1e300, slack = first_slack, gap_before = 1e300;
  int idle = 0;
  Status why = Status::iteration_limit;
  LargeArray fresh(point.w.size());
  for (;;) {
    if (!sweeps(point, slack)) return Status::time_limit;
    // W anew from p: steps leave rounding behind.
    newton_.weights_of(point.p, fresh);
    point.w.swap(fresh);
    rows_.all_scores(point.w.data(), point.s.data());
    double dual = newton_.constant();
    for (std::int64_t i = 0; i < rows_.rows(); ++i) {
      const auto own = static_cast<std::size_t>(i) * rows_.stride() + static_cast<std::size_t>(rows_.label(i));
      dual += rows_.cost(i) * (1 - point.p[own]);
    }
    const double penalty = newton_.penalty(point.w),
                 primal = penalty + newton_.of_pieces(point.w) + terms_.value(point.s.data());
    upper = std::min(upper, primal);
    lower = std::max(lower, dual - penalty);
    newton_.record(upper, lower);
    wanted_ = newton_.wanted_gap(primal);
    if (newton_.reached(primal, dual - penalty)) return Status::optimal;
    if (run_.exhausted(iterations_, why)) return why;
    if (upper - lower < 0.5 * gap_before) {
      gap_before = upper - lower;
      idle = 0;
    } else if (++idle == patience) {
      return std::nullopt;
    }
    slack = std::max(0.5 * slack, least_slack);
    wake(point, slack);
  }
}

Status solve_joint(const JointRows& rows, const JointTerms& terms, JointNewton& newton, std::uint64_t seed, Run& run,
                   const std::int64_t& iterations, JointPoint& point) {
  if (terms.hinge() && !rows.free_intercept()) {
    newton.weights_of(point.p, point.w);
    JointAscent ascent(rows, terms, newton, seed, run, iterations);
    if (const std::optional<Status> reached = ascent.solve(point)) return *reached;
  }
  return newton.solve(point);
}

}  // namespace margin
