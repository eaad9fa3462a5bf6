#include "core/solvers/joint/ascent.hpp"

#include <algorithm>
#include <cmath>

namespace margin {

namespace {

constexpr int between = 8;           // epochs of kept classes to one of all
constexpr double near = 0.3;         // of a margin: how far a class may be from having weight, and is still looked at
constexpr int first_judgement = 16;  // epochs before which the decay of the gap says little

}  // namespace

JointAscent::JointAscent(const JointRows& rows, const JointTerms& terms, JointNewton& newton, std::uint64_t seed,
                         Run& run, const std::int64_t& iterations)
    : rows_(rows),
      terms_(terms),
      newton_(newton),
      random_(seed),
      run_(run),
      iterations_(iterations),
      active_(static_cast<std::size_t>(rows.rows())),
      scores_(rows.stride()),
      z_(rows.stride()),
      change_(rows.stride()) {
  for (std::int64_t i = 0; i < rows.rows(); ++i)
    if (rows.cost(i) > 0) order_.push_back(static_cast<std::int32_t>(i));
}

double JointAscent::workspace(const Problem& p) { return 80.0 * static_cast<double>(p.rows()); }

/// The classes that a shorter visit looks at. z is p + (s + 1 − e_y)/q, and p its excess over the threshold.
void JointAscent::keep(const JointPoint& point, std::int64_t i, const double* z, double threshold) {
  std::vector<std::int32_t>& kept = active_[static_cast<std::size_t>(i)];
  kept.clear();
  const double* const p = point.p.data() + static_cast<std::size_t>(i) * rows_.stride();
  const double reach = near / (rows_.cost(i) * rows_.size_of(i));
  for (std::int32_t c = 0; c < rows_.classes(); ++c)
    if (p[c] > 0 || c == rows_.label(i) || z[c] > threshold - reach) kept.push_back(c);
}

/// True when the row's p moved.
bool JointAscent::visit(JointPoint& point, std::int64_t i, bool all) {
  const auto k = static_cast<std::size_t>(rows_.classes());
  const std::int32_t y = rows_.label(i);
  const double cost = rows_.cost(i), q = cost * rows_.size_of(i);
  double* const p = point.p.data() + static_cast<std::size_t>(i) * rows_.stride();
  const std::vector<std::int32_t>& kept = active_[static_cast<std::size_t>(i)];
  if (!(q > 0)) {  // no weights move its scores, which are all 0
    for (std::size_t c = 0; c < k; ++c) p[c] = 0;
    p[y == 0 ? 1 : 0] = 1;
    return false;
  }
  const bool partial = !all && 6 * kept.size() < rows_.stride();
  if (!all && kept.size() == 1) return false;
  const std::size_t n = partial ? kept.size() : k;
  if (partial)
    rows_.scores(i, point.w.data(), kept.data(), n, scores_.data());
  else
    rows_.scores(i, point.w.data(), scores_.data());
  run_.work(partial ? static_cast<double>(n) * (rows_.row(i).count + 16.0)
                    : 2 * rows_.operations(i) + 8.0 * static_cast<double>(k));
  const auto class_of = [&](std::size_t t) { return partial ? kept[t] : static_cast<std::int32_t>(t); };
  for (std::size_t t = 0; t < n; ++t) {
    const std::int32_t c = class_of(t);
    z_[t] = p[c] + (scores_[t] + (c == y ? 0.0 : 1.0)) / q;
    change_[t] = z_[t];
  }
  project_on_simplex(change_.data(), n);
  double threshold = 0, largest = 0;
  std::size_t moved = 0;
  for (std::size_t t = 0; t < n; ++t) {
    if (change_[t] > 0) threshold = z_[t] - change_[t];
    double& value = p[class_of(t)];
    const double delta = change_[t] - value;
    value = change_[t];
    change_[t] = -cost * delta;
    moved += delta != 0;
    largest = std::max(largest, std::fabs(delta));
  }
  if (all) keep(point, i, z_.data(), threshold);
  if (!(largest > 1e-14)) return false;
  if (partial) {
    rows_.add(i, change_.data(), kept.data(), n, point.w.data());
  } else if (6 * moved < rows_.stride()) {
    std::int32_t classes[64];
    double changes[64];
    std::size_t count = 0;
    for (std::size_t c = 0; c < k; ++c)
      if (change_[c] != 0) {
        classes[count] = static_cast<std::int32_t>(c);
        changes[count] = change_[c];
        if (++count == 64) {
          rows_.add(i, changes, classes, count, point.w.data());
          count = 0;
        }
      }
    rows_.add(i, changes, classes, count, point.w.data());
  } else {
    std::fill(change_.begin() + static_cast<std::ptrdiff_t>(k), change_.end(), 0.0);
    rows_.add(i, change_.data(), point.w.data());
  }
  return true;
}

/// Returns its cost, as a share of one of all rows and classes.
double JointAscent::epoch(JointPoint& point, bool all) {
  double looked = 0;
  for (std::size_t n = order_.size(); n > 1; --n) std::swap(order_[n - 1], order_[random_.below(n)]);
  run_.work(4.0 * static_cast<double>(order_.size()));
  for (std::size_t t = 0; t < order_.size(); ++t) {
    const std::int64_t i = order_[t];
    if (t + 4 < order_.size()) prefetch(rows_.row(order_[t + 4]));
    visit(point, i, all);
    const double kept = static_cast<double>(active_[static_cast<std::size_t>(i)].size());
    looked += all ? 1 : std::min(1.0, 4 * (kept - 1) / static_cast<double>(rows_.classes()));
  }
  return looked / static_cast<double>(std::max<std::size_t>(1, order_.size()));
}

std::optional<Status> JointAscent::solve(JointPoint& point, double longest) {
  double spent = 0, gap_before = 0, spent_before = 0, upper = 1e300, lower = -1e300;
  Status why = Status::iteration_limit;
  LargeArray fresh(point.w.size());
  for (int epochs = 1;; ++epochs) {
    const bool all = epochs <= 2 || epochs % between == 0;
    spent += epoch(point, all);
    if (run_.out_of_time()) return Status::time_limit;
    if (!all || epochs == 1) continue;
    // W anew from p: steps leave rounding behind.
    newton_.weights_of(point.p, fresh);
    point.w.swap(fresh);
    rows_.all_scores(point.w.data(), point.s.data());
    double dual = 0;
    for (const std::int32_t i : order_)
      dual += rows_.cost(i) *
              (1 - point.p[static_cast<std::size_t>(i) * rows_.stride() + static_cast<std::size_t>(rows_.label(i))]);
    const double penalty = newton_.penalty(point.w);
    upper = std::min(upper, penalty + terms_.value(point.s.data()));
    lower = std::max(lower, dual - penalty);
    spent += 1;
    newton_.record(upper, lower);
    const double gap = penalty + terms_.value(point.s.data()) - (dual - penalty);
    if (newton_.reached(upper, lower) && gap <= upper - lower) return Status::optimal;
    if (run_.exhausted(iterations_, why)) return why;
    if (epochs >= first_judgement) {
      const double decay = gap_before > gap ? std::log(gap_before / gap) / (spent - spent_before) : 0;
      const double wanted = newton_.wanted_gap(upper), rest = decay > 0 ? std::log(gap / wanted) / decay : 1e300;
      if (spent + rest > longest) return std::nullopt;
    }
    gap_before = gap;
    spent_before = spent;
  }
}

}  // namespace margin
