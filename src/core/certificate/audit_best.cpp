// The lambda for which audited weights are best.
#include <algorithm>
#include <cmath>

#include "core/certificate/audit_dual.hpp"
#include "core/math/rounding.hpp"

namespace margin {

namespace {

constexpr double few_visits = 1.0 / 16,
                 least_visits = 512;  // of rows next to kinks, for each row, at each lambda that is tried

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

}  // namespace

std::optional<AuditedValue> Audit::best(const Progress& progress) const {
  if (objective_.l1_ratio > 0 || objective_.positive) return std::nullopt;
  flush();
  std::vector<AuditedOutput> outputs;
  double start = 0;
  for (std::size_t o = 0; o < outputs_.size(); ++o) {
    outputs.emplace_back(*this, o);
    const double own = outputs.back().balanced_lambda();
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
  at = minimise(at - 0.25, at + 0.25, 14, gap);
  if (!outputs_[0].kept.rows().empty() && static_cast<double>(columns()) * static_cast<double>(outputs.size()) <= 1e5) {
    const double visits = std::max(least_visits, few_visits * static_cast<double>(rows()));
    // Mixtures shrink the dual values of all rows alike: what they prove there is far from the best.
    const auto shown = [&](double exponent) {
      const double lambda = start * std::pow(10.0, exponent);
      double sum = 0;
      for (const AuditedOutput& output : outputs)
        sum += output.quick_primal(lambda) -
               std::max(output.quick_dual(lambda), output.dual_of_kinks(lambda, visits, progress));
      return sum;
    };
    at = descend(at, 3, shown);
    at = minimise(at - 0.25, at + 0.25, 8, shown);
  }
  AuditedValue found = this->at(start * std::pow(10.0, at), progress);
  const double n = static_cast<double>(columns());
  if (outputs_[0].curves.empty() || n * n * n * static_cast<double>(outputs_.size()) > 1e8) return found;
  // Each output by the step that serves it best there.
  std::vector<int> curves(outputs.size(), -1);
  for (std::size_t o = 0; o < outputs.size(); ++o) outputs[o].dual(found.lambda, progress, &curves[o]);
  const auto proven = [&](double exponent) {
    AuditedValue v{start * std::pow(10.0, exponent), 0, 0};
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      const double primal = outputs[o].primal(v.lambda);
      v.primal += primal;
      int only = curves[o];
      if (only >= 0) v.dual += std::min(primal, outputs[o].dual(v.lambda, progress, &only));
    }
    return v.gap();
  };
  if (*std::min_element(curves.begin(), curves.end()) < 0) return found;
  double middle = at, smallest = proven(at);
  for (const double away : {-1.0, -0.5, 0.5, 1.0}) {
    const double own = proven(at + away);
    if (own < smallest) smallest = own, middle = at + away;
  }
  const AuditedValue last = this->at(start * std::pow(10.0, minimise(middle - 0.5, middle + 0.5, 8, proven)), progress);
  if (last.gap() < found.gap()) found = last;
  return found;
}

}  // namespace margin
