#include "core/solvers/newton/conjugate_gradients.hpp"

#include <algorithm>
#include <cmath>

namespace margin {

namespace {

constexpr int most_products = 1000;

double inner(const std::vector<double>& v, const std::vector<double>& w) {
  return simd().dot_dd(v.data(), w.data(), v.size());
}

}  // namespace

ConjugateGradients::ConjugateGradients(const NewtonRows& rows)
    : rows_(rows),
      inverse_(rows.columns()),
      residual_(rows.columns()),
      search_(rows.columns()),
      image_(rows.columns()),
      conditioned_(rows.columns()) {}

// The rows that count, and 1 over the diagonal.
void ConjugateGradients::weigh(const double* weight, double factor) {
  which_.clear();
  weight_.clear();
  std::fill(inverse_.begin(), inverse_.end(), 1.0);
  const double constant = rows_.constant();
  double mass = 0;
  if (rows_.codes() != nullptr) {
    weigh_codes(weight, factor);
    return;
  }
  for (std::int64_t i = 0; i < rows_.rows(); ++i) {
    if (!(weight[i] > 0)) continue;
    const double c = factor * weight[i];
    const Row x = rows_.row(i);
    which_.push_back(i);
    weight_.push_back(c);
    mass += c;
    if (x.indices == nullptr) {
      for (std::int32_t j = 0; j < x.count; ++j) inverse_[static_cast<std::size_t>(j)] += c * x.value(j) * x.value(j);
    } else {
      for (std::int32_t k = 0; k < x.count; ++k)
        inverse_[static_cast<std::size_t>(x.indices[k])] += c * x.value(k) * x.value(k);
    }
    rows_.run().work(2.0 * x.count + 8);
  }
  if (constant != 0) inverse_[rows_.features()] += mass * constant * constant;
  if (rows_.free_intercept() && mass > 0) inverse_[rows_.features()] -= 1;
  for (double& v : inverse_) v = 1 / v;
  rows_.run().work(static_cast<double>(rows_.rows() + 4 * static_cast<std::int64_t>(inverse_.size())));
}

/// The same of rows as codes, which are copied where not all of them count.
void ConjugateGradients::weigh_codes(const double* weight, double factor) {
  for (std::int64_t i = 0; i < rows_.rows(); ++i) {
    if (!(weight[i] > 0)) continue;
    which_.push_back(i);
    weight_.push_back(factor * weight[i]);
  }
  rows_.run().work(2.0 * static_cast<double>(rows_.rows()));
  if (static_cast<std::int64_t>(which_.size()) < rows_.rows())
    counting_.emplace(rows_, which_);
  else
    counting_.reset();
  scores_.resize(which_.size());
  sums_.resize(inverse_.size());
  counting().combine_squares(weight_.data(), sums_.data());
  const bool free = rows_.free_intercept() && !which_.empty();
  for (std::size_t j = 0; j < inverse_.size(); ++j)
    inverse_[j] = 1 / ((free && j == rows_.features() ? 0.0 : 1.0) + sums_[j]);
  blocks_.emplace(rows_.codes()->layout(), sums_.data());
}

/// q = Σ weight <x, p> x of rows as codes, with the intercept's column.
void ConjugateGradients::multiply_codes(const std::vector<double>& p, std::vector<double>& q) const {
  counting().scores(p.data(), scores_.data());
  for (std::size_t k = 0; k < scores_.size(); ++k) scores_[k] *= weight_[k];
  rows_.run().work(static_cast<double>(scores_.size()));
  counting().combine(scores_.data(), q.data());
  for (std::size_t j = 0; j < q.size(); ++j)
    if (!(rows_.free_intercept() && !which_.empty() && j == rows_.features())) q[j] += p[j];
  if (rows_.held() < q.size()) q[rows_.held()] = p[rows_.held()];
}

void ConjugateGradients::multiply(const std::vector<double>& p, std::vector<double>& q) const {
  if (rows_.codes() != nullptr) return multiply_codes(p, q);
  const double constant = rows_.constant(), offset = constant != 0 ? constant * p[rows_.features()] : 0.0;
  // One more number: Σ weight (<x, p> + offset).
  sums_.assign(q.size() + 1, 0.0);
  std::copy(p.begin(), p.end(), sums_.begin());
  const Chunks chunks(static_cast<std::int64_t>(which_.size()), 2 * rows_.row_work(), static_cast<double>(q.size()));
  const auto add_rows = [&](std::int64_t begin, std::int64_t end, double* sum, const Progress& progress) {
    double& mass = sum[q.size()];
    for (std::int64_t k = begin; k < end; ++k) {
      const Row x = rows_.row(which_[static_cast<std::size_t>(k)]);
      const double t = weight_[static_cast<std::size_t>(k)] * (dot(x, p.data()) + offset);
      margin::add(t, x, sum);
      mass += t;
      progress.work(2.0 * x.count + 8);
    }
  };
  add_in_chunks(rows_.threads(), chunks, rows_.run().progress(), sums_.data(), sums_.size(), add_rows);
  std::copy_n(sums_.begin(), q.size(), q.begin());
  const double mass = sums_.back();
  if (rows_.free_intercept() && !weight_.empty()) q[rows_.features()] = 0;
  if (constant != 0) q[rows_.features()] += mass * constant;
  if (rows_.held() < q.size()) q[rows_.held()] = p[rows_.held()];
}

double ConjugateGradients::precondition(const std::vector<double>& v, const std::vector<char>* held,
                                        std::vector<double>& z) const {
  z.resize(v.size());
  for (std::size_t j = 0; j < v.size(); ++j) z[j] = inverse_[j] * v[j];
  if (blocks_.has_value()) blocks_->solve(v.data(), z.data());
  for (std::size_t j = 0; held != nullptr && j < v.size(); ++j)
    if ((*held)[j] != 0) z[j] = 0;
  return inner(v, z);
}

void ConjugateGradients::solve(const double* weight, double factor, const std::vector<double>& r, double accuracy,
                               std::vector<double>& d) {
  weigh(weight, factor);
  const std::size_t n = r.size();
  const double goal = accuracy * accuracy * inner(r, r);
  std::fill(d.begin(), d.end(), 0.0);
  for (std::size_t j = 0; j < n; ++j) residual_[j] = -r[j];
  double product = precondition(residual_, nullptr, conditioned_);
  search_ = conditioned_;
  const double scaled_goal = accuracy * accuracy * product;
  double best = inner(r, r);
  for (int k = 0, idle = 0; k < most_products; ++k) {
    multiply(search_, image_);
    const double curvature = inner(search_, image_);
    if (!(curvature > 0) || !std::isfinite(curvature)) break;
    const double step = product / curvature;
    simd().axpy_d(step, search_.data(), d.data(), n);
    simd().axpy_d(-step, image_.data(), residual_.data(), n);
    const double size = inner(residual_, residual_);
    rows_.run().work(8.0 * static_cast<double>(n));
    const double next = precondition(residual_, nullptr, conditioned_);
    if (size <= goal && next <= scaled_goal) break;
    // The residual is not monotone, but one that stays where it was for long is rounding.
    idle = size < best ? 0 : idle + 1;
    best = std::min(best, size);
    if (idle >= 100) break;
    const double turn = next / product;
    if (!std::isfinite(turn)) break;
    for (std::size_t j = 0; j < n; ++j) search_[j] = conditioned_[j] + turn * search_[j];
    product = next;
  }
  if (!(inner(r, d) < 0) || !std::isfinite(inner(d, d)))
    for (std::size_t j = 0; j < n; ++j) d[j] = -inverse_[j] * r[j];
}

}  // namespace margin
