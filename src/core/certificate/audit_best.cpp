// The lambda for which audited weights are best.
#include <algorithm>
#include <cmath>

#include "core/certificate/audit_dual.hpp"
#include "core/math/rounding.hpp"

namespace margin {

namespace {

constexpr double few_visits = 1.0 / 16,
                 least_visits = 512;  // of rows next to kinks, for each row, at each lambda that is tried

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
  double at = 0, least = infinity;
  for (int k = -32; k <= 32; ++k) {
    const double found = gap(k / 4.0);
    if (found < least) least = found, at = k / 4.0;
  }
  const auto minimise = [](double low, double high, int steps, const auto& f) {
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
  };
  at = minimise(at - 0.25, at + 0.25, 30, gap);
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
    const double middle = at;
    least = infinity;
    for (int k = -12; k <= 12; ++k) {
      const double found = shown(middle + k / 4.0);
      if (found < least) least = found, at = middle + k / 4.0;
    }
    at = minimise(at - 0.25, at + 0.25, 12, shown);
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
  const AuditedValue last =
      this->at(start * std::pow(10.0, minimise(middle - 0.5, middle + 0.5, 12, proven)), progress);
  if (last.gap() < found.gap()) found = last;
  return found;
}

}  // namespace margin
