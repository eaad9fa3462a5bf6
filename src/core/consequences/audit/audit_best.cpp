// The lambda for which audited weights are best.
#include <algorithm>
#include <cmath>

#include "core/consequences/audit/audit_dual.hpp"
#include "core/math/rounding.hpp"

namespace margin {

namespace {

constexpr double share_elsewhere = 0.125;  // of the visits of rows next to kinks, at another lambda
constexpr int most_lambdas = 4;            // others
constexpr double worth_more = 0.1;         // of the gap, that another one must gain

/// Near where f is least in [low, high], by golden sections.
template <class F>
double minimise(double low, double high, int steps, const F& f) {
  constexpr double golden = 0.6180339887498949;
  double left = high - golden * (high - low), right = low + golden * (high - low), at_left = f(left),
         at_right = f(right);
  for (int step = 0; step < steps; ++step) {
    if (at_left < at_right) {
      high = right, right = left, at_right = at_left;
      at_left = f(left = high - golden * (high - low));
    } else {
      low = left, left = right, at_left = at_right;
      at_right = f(right = low + golden * (high - low));
    }
  }
  return at_left < at_right ? left : right;
}

/// The same of an f that has one valley, over the whole numbers up to `ends` on either side of `middle`, then halves and quarters.
template <class F>
double descend(double middle, int ends, const F& f) {
  double at = middle, least = f(middle);
  const auto attempt = [&](double place) {
    const double found = f(place);
    if (!(found < least)) return false;
    least = found, at = place;
    return true;
  };
  // Its dual values are not the best ones: a step beyond the first rise shows what is a valley and what is not.
  for (const double way : {-1.0, 1.0})
    for (int k = 1, rises = 0; k <= ends && rises < 2; ++k) rises = attempt(middle + way * k) ? 0 : rises + 1;
  for (const double step : {0.5, 0.25}) {
    const double from = at;
    for (const double way : {-step, step}) attempt(from + way);
  }
  return at;
}

/// A number that differs in its last digits from one order of the rows to another, without these.
double blunted(double v) { return std::exp2(std::nearbyint(std::log2(v) * 0x1p24) * 0x1p-24); }

/// The interval at a lambda.
AuditedValue value_at(const std::vector<AuditedOutput>& outputs, double lambda, const Progress& progress) {
  AuditedValue sum{lambda, 0, 0};
  for (const AuditedOutput& output : outputs) {
    const double primal = output.primal(lambda);
    sum.primal += primal;
    sum.dual += std::min(primal, output.dual(lambda, progress));
  }
  const double rounding = epsilon * static_cast<double>(outputs.size());
  sum.primal *= 1 + rounding;
  sum.dual *= 1 - rounding;
  return sum;
}

}  // namespace

/// Of rows next to kinks, at the lambda asked for: in proportion to what the rows cost that were seen.
double Audit::most_visits() const {
  const auto n = static_cast<double>(rows());
  return std::max({1e4, 4 * n, std::min(2e4, n * static_cast<double>(columns()) / 256)});
}

Audit::Found Audit::found(double lambda, const Progress& progress) const {
  flush();
  std::vector<AuditedOutput> outputs;
  for (std::size_t o = 0; o < outputs_.size(); ++o) outputs.emplace_back(*this, o);
  for (AuditedOutput& output : outputs) output.ascend(lambda, most_visits(), progress);
  Found found{value_at(outputs, lambda, progress), std::nullopt};
  const std::optional<double> best = best_lambda(outputs, lambda, progress);
  if (best.has_value()) found.best = best_of_curves(outputs, value_at(outputs, *best, progress), progress);
  return found;
}

std::optional<double> Audit::best_lambda(std::vector<AuditedOutput>& outputs, double asked,
                                         const Progress& progress) const {
  if (objective_.l1_ratio > 0 || !objective_.bounds.empty()) return std::nullopt;
  double start = 0;
  for (const AuditedOutput& output : outputs) {
    const double own = output.balanced_lambda();
    if (own > 0 && own < infinity) start = start > 0 ? std::sqrt(start * own) : own;
  }
  if (!(start > 0)) return std::nullopt;
  const auto gap = [&](double exponent) {
    const double lambda = start * std::pow(10.0, exponent);
    double sum = 0;
    for (const AuditedOutput& output : outputs) {
      sum += output.quick_primal(lambda) - output.quick_dual(lambda);
      progress.work(4096);
    }
    return sum;
  };
  // A convex function of λ: P is linear in it, D concave.
  double at = descend(0.0, 8, gap);
  if (outputs_[0].kept.rows().empty() || static_cast<double>(columns()) * static_cast<double>(outputs.size()) > 1e5)
    return start * std::pow(10.0, minimise(at - 0.25, at + 0.25, 14, gap));

  // Mixtures shrink the dual values of all rows alike: what they prove is far from the best. Of any dual values the gap is
  // L − C + λR + S/(2λ), convex in both together as ‖v‖²/λ is: its best λ and its best dual values in turn find the least.
  double loss = 0, penalty = 0, conjugate = 0, square = 0;
  for (const AuditedOutput& output : outputs) {
    loss += output.mean_loss();
    penalty += output.penalty();
  }
  const auto take_sums = [&] {
    conjugate = square = 0;
    for (const AuditedOutput& output : outputs) {
      conjugate += output.ascended_conjugate();
      square += output.ascended_square();
    }
    return loss - conjugate + std::sqrt(2 * penalty * square);  // the gap at the λ that serves them best
  };
  double lambda = blunted(start * std::pow(10.0, at)), least = gap(at), now = take_sums();
  const double asked_gap = loss - conjugate + asked * penalty + square / (2 * asked);
  if (square > 0 && now <= least) {
    lambda = blunted(std::sqrt(square / (2 * penalty))), least = now;
    if (least > (1 - worth_more) * asked_gap) return lambda;
  }
  for (int k = 0; k < most_lambdas; ++k) {
    for (AuditedOutput& output : outputs) output.ascend(lambda, share_elsewhere * most_visits(), progress);
    now = take_sums();
    const bool little = !(now < (1 - worth_more) * least);
    if (square > 0 && now < least) lambda = blunted(std::sqrt(square / (2 * penalty))), least = now;
    if (little) break;
  }
  return lambda;
}

/// What another lambda may gain by the steps of curves.
AuditedValue Audit::best_of_curves(std::vector<AuditedOutput>& outputs, const AuditedValue& found,
                                   const Progress& progress) const {
  const double n = static_cast<double>(columns());
  if (outputs_[0].curves.empty() || n * n * n * static_cast<double>(outputs.size()) > 1e8) return found;
  // Each output by the step that serves it best there.
  std::vector<int> curves(outputs.size(), -1);
  for (std::size_t o = 0; o < outputs.size(); ++o) outputs[o].dual(found.lambda, progress, &curves[o]);
  const auto proven = [&](double exponent) {
    AuditedValue v{found.lambda * std::pow(10.0, exponent), 0, 0};
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      const double primal = outputs[o].primal(v.lambda);
      v.primal += primal;
      int only = curves[o];
      if (only >= 0) v.dual += std::min(primal, outputs[o].dual(v.lambda, progress, &only));
    }
    return v.gap();
  };
  if (*std::min_element(curves.begin(), curves.end()) < 0) return found;
  double middle = 0, smallest = proven(0);
  for (const double away : {-1.0, -0.5, 0.5, 1.0}) {
    const double own = proven(away);
    if (own < smallest) smallest = own, middle = away;
  }
  const double last = found.lambda * std::pow(10.0, minimise(middle - 0.5, middle + 0.5, 8, proven));
  const AuditedValue value = value_at(outputs, last, progress);
  return value.gap() < found.gap() ? value : found;
}

}  // namespace margin
