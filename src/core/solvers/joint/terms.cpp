#include "core/solvers/joint/terms.hpp"

#include <algorithm>
#include <cmath>

namespace margin {

namespace {

constexpr std::int64_t rows_at_once = 64;  // rows whose exponentials are taken at once

}  // namespace

// Only numbers within 1 of the largest can stay positive; among them those at or below the threshold leave until none
// does (Michelot 1986).
void project_on_simplex(double* z, std::size_t n) {
  const double top = *std::max_element(z, z + n);
  double sum = 0, count = 0;
  for (std::size_t c = 0; c < n; ++c)
    if (z[c] - top > -1) {
      sum += z[c] - top;
      ++count;
    }
  double threshold = (sum - 1) / count;  // less top
  for (;;) {
    double rest = 0, stay = 0;
    for (std::size_t c = 0; c < n; ++c)
      if (z[c] - top > threshold) {
        rest += z[c] - top;
        ++stay;
      }
    if (!(stay < count) || stay == 0) break;
    count = stay;
    threshold = (rest - 1) / count;
  }
  for (std::size_t c = 0; c < n; ++c) z[c] = std::max(0.0, (z[c] - top) - threshold);
}

JointTerms::JointTerms(const JointRows& rows, JointLoss::Form form)
    : rows_(rows), form_(form), absent_(static_cast<std::size_t>(rows.classes()), 0) {
  if (!rows.free_intercept()) return;
  std::fill(absent_.begin(), absent_.end(), 1);
  for (std::int64_t i = 0; i < rows.rows(); ++i) {
    if (rows.cost(i) > 0) absent_[static_cast<std::size_t>(rows.label(i))] = 0;
    rows.run().work(4);
  }
  any_absent_ = std::find(absent_.begin(), absent_.end(), 1) != absent_.end();
}

void JointTerms::mask(double* s) const {
  if (!any_absent_) return;
  for (std::int64_t i = 0; i < rows_.rows(); ++i) {
    for (std::size_t c = 0; c < absent_.size(); ++c)
      if (absent_[c] != 0) s[static_cast<std::size_t>(i) * rows_.stride() + c] = none_of_them;
    rows_.run().work(static_cast<double>(absent_.size()));
  }
}

JointSums JointTerms::softmax(std::int64_t begin, std::int64_t end, const double* s, double* p) const {
  const std::size_t stride = rows_.stride(), k = static_cast<std::size_t>(rows_.classes());
  double top[rows_at_once];
  for (std::int64_t i = begin; i < end; ++i) {
    const double* const u = s + static_cast<std::size_t>(i) * stride;
    double* const q = p + static_cast<std::size_t>(i) * stride;
    const double most = top[i - begin] = *std::max_element(u, u + k);
    for (std::size_t c = 0; c < k; ++c) q[c] = most - u[c];
    std::fill(q + k, q + stride, 1e300);
  }
  simd().exp_negated(p + static_cast<std::size_t>(begin) * stride, static_cast<std::size_t>(end - begin) * stride);
  JointSums sums;
  for (std::int64_t i = begin; i < end; ++i) {
    const double* const u = s + static_cast<std::size_t>(i) * stride;
    double* const q = p + static_cast<std::size_t>(i) * stride;
    double sum = 0;
    for (std::size_t c = 0; c < k; ++c) sum += q[c];
    double mean = 0;
    for (std::size_t c = 0; c < k; ++c) {
      q[c] /= sum;
      if (q[c] > 0) mean += q[c] * (u[c] - top[i - begin]);
    }
    const double cost = rows_.cost(i), log = std::log(sum);
    sums.value += cost * ((top[i - begin] - u[rows_.label(i)]) + log);
    sums.dual += cost * (log - mean);
  }
  return sums;
}

JointSums JointTerms::simplex(std::int64_t begin, std::int64_t end, const double* s, const double* start, double kappa,
                              double* p) const {
  const std::size_t stride = rows_.stride(), k = static_cast<std::size_t>(rows_.classes());
  JointSums sums;
  for (std::int64_t i = begin; i < end; ++i) {
    const auto at = static_cast<std::size_t>(i) * stride, y = static_cast<std::size_t>(rows_.label(i));
    double* const q = p + at;
    for (std::size_t c = 0; c < k; ++c) q[c] = start[at + c] + (s[at + c] + (c == y ? 0.0 : 1.0)) / kappa;
    project_on_simplex(q, k);
    double value = 0, moved = 0;
    for (std::size_t c = 0; c < k; ++c) {
      const double change = q[c] - start[at + c];
      moved += change * change;
      if (q[c] > 0) value += q[c] * (s[at + c] - s[at + y]);
    }
    sums.value += rows_.cost(i) * (value + (1 - q[y]) - 0.5 * kappa * moved);
    sums.dual += rows_.cost(i) * (1 - q[y]);
  }
  return sums;
}

JointSums JointTerms::at(const double* s, const double* start, double kappa, double* p) const {
  const std::int64_t n = rows_.rows();
  const double operations = 16 * static_cast<double>(rows_.stride());
  const Chunks chunks((n + rows_at_once - 1) / rows_at_once, static_cast<double>(rows_at_once) * operations);
  const auto add = [&](std::int64_t first, std::int64_t last, JointSums& sums, const Progress& progress) {
    for (std::int64_t begin = first * rows_at_once; begin < std::min(n, last * rows_at_once); begin += rows_at_once) {
      const std::int64_t end = std::min(n, begin + rows_at_once);
      progress.work(static_cast<double>(end - begin) * operations);
      sums += hinge() ? simplex(begin, end, s, start, kappa, p) : softmax(begin, end, s, p);
    }
  };
  return sum_in_chunks<JointSums>(rows_.threads(), chunks, rows_.run().progress(), add);
}

double JointTerms::value(const double* s) const {
  const std::size_t stride = rows_.stride();
  const auto k = static_cast<std::size_t>(rows_.classes());
  double sum = 0;
  for (std::int64_t i = 0; i < rows_.rows(); ++i) {
    const double* const u = s + static_cast<std::size_t>(i) * stride;
    const auto y = static_cast<std::size_t>(rows_.label(i));
    double top = u[y];
    for (std::size_t c = 0; c < k; ++c)
      if (c != y) top = std::max(top, 1 + u[c]);
    sum += rows_.cost(i) * (top - u[y]);
    rows_.run().work(static_cast<double>(2 * stride));
  }
  return sum;
}

}  // namespace margin
