#include "core/train/setting_scores.hpp"

#include <algorithm>
#include <cmath>

namespace margin {

void summarize(SettingScore& s) {
  double sum = 0, squares = 0, n = 0;
  for (const auto& v : s.folds)
    if (v.has_value()) sum += *v, n += 1;
  if (n == 0) return;
  s.mean = sum / n;
  for (const auto& v : s.folds)
    if (v.has_value()) squares += (*v - *s.mean) * (*v - *s.mean);
  if (n > 1) s.deviation = std::sqrt(squares / (n - 1));
}

std::optional<std::size_t> best_of(const Selection& selection) {
  std::optional<std::size_t> best;
  const double sign = larger_is_better(selection.metric) ? 1 : -1;
  for (std::size_t k = 0; k < selection.settings.size(); ++k) {
    const SettingScore& s = selection.settings[k];
    if (!s.mean.has_value() || !std::isfinite(*s.mean)) continue;
    if (!best.has_value()) {
      best = k;
      continue;
    }
    const SettingScore& b = selection.settings[*best];
    const double lead = sign * (*s.mean - *b.mean);
    if (lead > 0 || (lead == 0 && s.lambda > b.lambda)) best = k;
  }
  return best;
}

std::optional<std::size_t> within_one_standard_error(const Selection& selection) {
  if (!selection.best.has_value()) return std::nullopt;
  const SettingScore& best = selection.settings[*selection.best];
  const auto count = std::count_if(best.folds.begin(), best.folds.end(), [](const auto& v) { return v.has_value(); });
  const double sign = larger_is_better(selection.metric) ? 1 : -1;
  const double error = best.deviation.value_or(0) / std::sqrt(static_cast<double>(std::max<std::ptrdiff_t>(1, count)));
  std::size_t at = *selection.best;
  for (std::size_t k = 0; k < selection.settings.size(); ++k) {
    const SettingScore& s = selection.settings[k];
    if (s.loss != best.loss || s.point != best.point || !s.mean.has_value()) continue;
    if (sign * (*best.mean - *s.mean) <= error && s.lambda > selection.settings[at].lambda) at = k;
  }
  return at;
}

bool useless(const Selection& s) {
  if (!s.best.has_value() || !s.constant.has_value()) return false;
  const double best = *s.settings[*s.best].mean;
  // How far from perfect: one that is not 1 % less is chance.
  const double perfect = larger_is_better(s.metric) ? 1 : 0;
  return std::fabs(perfect - best) > 0.99 * std::fabs(perfect - *s.constant);
}

}  // namespace margin
