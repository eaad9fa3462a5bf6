#include "core/solvers/likelihood/separation.hpp"

#include <algorithm>
#include <cmath>

#include "core/loss/loss.hpp"

namespace margin {

namespace {

constexpr int largest_denominator = 64;
constexpr double close = 1e-5;

}  // namespace

bool round_direction(std::vector<double>& v) {
  double largest = 0;
  for (const double x : v) largest = std::max(largest, std::fabs(x));
  if (!(largest > 0) || !std::isfinite(largest)) return false;
  for (double& x : v) x /= largest;
  for (int denominator = 1; denominator <= largest_denominator; ++denominator) {
    const bool fits = std::all_of(v.begin(), v.end(), [&](double x) {
      return std::fabs(x * denominator - std::nearbyint(x * denominator)) <= close * denominator;
    });
    if (!fits) continue;
    for (double& x : v) x = std::nearbyint(x * denominator) + 0.0;
    return true;
  }
  return false;
}

bool separating_direction(const Problem& problem, const NewtonRows& rows, const std::vector<double>& step,
                          std::vector<double>& w, Run& run) {
  std::vector<double> v = step;
  // In the unit of the rows' own constant feature.
  if (problem.intercept) v.back() *= problem.intercept_scale;
  if (!round_direction(v)) return false;
  if (problem.intercept) v.back() /= problem.intercept_scale;
  std::vector<double> u(static_cast<std::size_t>(problem.rows()));
  rows.scores(v.data(), u.data());
  bool some = false;
  for (std::int64_t i = 0; i < problem.rows(); ++i) {
    if (!(problem.weight(i) > 0)) continue;
    const double y = problem.target(i, 0), score = u[static_cast<std::size_t>(i)];
    const double margin = !problem.loss->log_link() ? y * score : y > 0 ? -std::fabs(score) : -score;
    if (margin < 0) return false;
    some = some || margin > 0;
  }
  run.work(4.0 * static_cast<double>(problem.rows()));
  if (some) w = v;
  return some;
}

}  // namespace margin
