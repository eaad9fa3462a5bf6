#include "core/solvers/elastic_net/moment_descent.hpp"

#include <algorithm>

#include "core/simd/loops.hpp"

namespace margin {

namespace {

constexpr std::int32_t most_features = 1000;
// Of a column's own moment: along columns that depend on each other rounding would otherwise lead Newton's steps anywhere.
constexpr double ridge = 1e-11;

}  // namespace

MomentDescent::MomentDescent(const Problem& problem, const Moments& moments)
    : problem_(problem), moments_(moments), stride_(moments.stride()) {
  const std::size_t d = moments.features(), c = moments.constant(), y = moments.target();
  const double share = problem.free_intercept ? 1 / moments.of(c, c) : 0;
  matrix_.assign(d * stride_, 0.0);
  for (std::size_t j = 0; j < d; ++j) {
    const double mean = share * moments.of(c, j);
    for (std::size_t k = 0; k < d; ++k) matrix_[j * stride_ + k] = 2 * (moments.of(j, k) - mean * moments.of(c, k));
    matrix_[j * stride_ + j] = (1 + ridge) * std::max(0.0, matrix_[j * stride_ + j]);
    pull_.push_back(2 * (moments.of(j, y) - mean * moments.of(c, y)));
  }
  at_.z.assign(d, 0.0);
  if (problem.bounds.empty()) return;
  for (std::size_t j = 0; j < d; ++j) {
    at_.low.push_back(problem.bounds.least(j));
    at_.high.push_back(problem.bounds.most(j));
    at_.z[j] = problem.bounds.clip(0, j);
  }
}

double MomentDescent::bytes(const Problem& p) {
  const double d = p.dimensions() + 8.0;
  return 8 * (3 * d * d + 10 * d);
}

bool MomentDescent::pays(const Problem& p, std::size_t lambdas) {
  return p.dimensions() <= most_features && p.dimensions() <= p.rows() / 2 &&
         p.data.density() * p.dimensions() <= 2 * static_cast<double>(lambdas);
}

void MomentDescent::solve(double lambda, double enough, const Progress& progress) {
  const std::size_t d = moments_.features(), c = moments_.constant();
  const double rho = problem_.l1_ratio;
  at_.l1.resize(d);
  at_.l2.resize(d);
  for (std::size_t j = 0; j < d; ++j) {
    at_.l1[j] = lambda * problem_.factor(j) * rho;
    at_.l2[j] = lambda * problem_.factor(j) * (1 - rho);
  }
  at_.g.assign(d, 0.0);
  for (std::size_t j = 0; j < d; ++j) at_.g[j] -= pull_[j];
  for (std::size_t j = 0; j < d; ++j)
    if (at_.z[j] != 0) simd().axpy_d(at_.z[j], matrix_.data() + j * stride_, at_.g.data(), d);
  progress.work(static_cast<double>(d * d) / 4 + 8.0 * static_cast<double>(d));
  if (rho < 1) face_.begin();  // else nothing of the matrix depends on lambda
  solve_with_matrix(at_, matrix_.data(), stride_, enough, face_, progress);
  if (!problem_.free_intercept) return;
  b_ = moments_.of(c, moments_.target());
  for (std::size_t j = 0; j < d; ++j) b_ -= at_.z[j] * moments_.of(c, j);
  b_ /= moments_.of(c, c);
}

}  // namespace margin
