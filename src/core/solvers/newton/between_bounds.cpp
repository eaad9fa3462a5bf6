#include "core/solvers/newton/between_bounds.hpp"

#include <algorithm>
#include <cmath>

#include "core/solvers/elastic_net/l1_quadratic.hpp"

namespace margin {

namespace {

constexpr int most_rounds = 4;  // of conjugate gradients

}  // namespace

void step_between_bounds(const NewtonRows& rows, const SymmetricMatrix& gram, double factor,
                         const std::vector<double>& w, const std::vector<double>& r, double enough,
                         std::vector<double>& d) {
  const std::size_t n = w.size(), stride = (n + 7) / 8 * 8;
  std::vector<double> matrix(stride * n, 0.0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i; j < n; ++j) matrix[i * stride + j] = matrix[j * stride + i] = factor * gram.row(i)[j];
  rows.run().work(2.0 * static_cast<double>(n * n));
  L1Coordinates at;
  at.z = w;
  at.l1.assign(n, 0.0);
  for (std::size_t j = 0; j < n; ++j) {
    const bool penalised = rows.penalizes(j);
    at.g.push_back(r[j] - (penalised ? w[j] : 0.0));
    at.l2.push_back(penalised ? 1.0 : 0.0);
    at.low.push_back(rows.low(j));
    at.high.push_back(rows.high(j));
  }
  solve_with_matrix(at, matrix.data(), stride, enough, rows.run().progress());
  for (std::size_t j = 0; j < n; ++j) d[j] = at.z[j] - w[j];
}

void step_between_bounds(const NewtonRows& rows, ConjugateGradients& gradients, const double* weight, double factor,
                         const std::vector<double>& w, const std::vector<double>& r, double accuracy,
                         std::vector<double>& d) {
  const std::size_t n = w.size();
  std::vector<char> held(n, 0);
  std::vector<double> rest = r, step(n, 0.0), image(n);
  for (std::size_t j = 0; j < n; ++j) held[j] = (w[j] <= rows.low(j) && r[j] > 0) || (w[j] >= rows.high(j) && r[j] < 0);
  std::fill(d.begin(), d.end(), 0.0);
  for (int round = 0;; ++round) {
    gradients.solve(weight, factor, rest, accuracy, step, &held);
    bool stopped = false;
    for (std::size_t j = 0; j < n; ++j) {
      if (held[j] != 0) continue;
      const double to = w[j] + step[j], inside = std::clamp(to, rows.low(j), rows.high(j));
      if (to == inside && round + 1 < most_rounds) continue;
      if (to != inside) {
        stopped = true;
        held[j] = 1;
      }
      d[j] = inside - w[j];
    }
    if (!stopped || round + 1 == most_rounds) break;
    gradients.multiply(d, image);
    for (std::size_t j = 0; j < n; ++j) rest[j] = r[j] + image[j];
  }
  for (std::size_t j = 0; j < n; ++j)
    if (held[j] == 0) d[j] = std::clamp(w[j] + step[j], rows.low(j), rows.high(j)) - w[j];
  double slope = 0;
  for (std::size_t j = 0; j < n; ++j) slope += r[j] * d[j];
  if (slope < 0) return;
  for (std::size_t j = 0; j < n; ++j)
    d[j] = std::clamp(w[j] - gradients.inverse_diagonal(j) * r[j], rows.low(j), rows.high(j)) - w[j];
}

}  // namespace margin
