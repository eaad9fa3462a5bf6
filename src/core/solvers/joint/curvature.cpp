#include "core/solvers/joint/curvature.hpp"

#include <algorithm>
#include <cmath>

#include "core/data/gram_block.hpp"

namespace margin {

namespace {

constexpr double negligible = 0.05;                                   // of I, of all rows that are left out together
constexpr std::size_t largest_of_classes = 2, largest_shared = 2048;  // columns
constexpr int most_exact_products = 1000;

double inner(const LargeArray& a, const LargeArray& b, Run& run) {
  double sum = 0;
  const std::size_t n = a.size();
#pragma omp simd reduction(+ : sum)
  for (std::size_t j = 0; j < n; ++j) sum += a[j] * b[j];
  run.work(static_cast<double>(n) / 2);
  return sum;
}

}  // namespace

JointCurvature::Preconditioner JointCurvature::choice(double columns) {
  return columns <= largest_of_classes ? Preconditioner::by_class
         : columns <= largest_shared   ? Preconditioner::shared
                                       : Preconditioner::diagonal;
}

double JointCurvature::workspace(const Problem& p) {
  const double columns = p.dimensions() + 1.0, k = p.classes + 3.0;
  const auto square = SymmetricMatrix::bytes(static_cast<std::size_t>(p.dimensions()) + 1);
  const double factors = choice(columns) == Preconditioner::by_class ? k * square
                         : choice(columns) == Preconditioner::shared ? square
                                                                     : 8 * columns * k;
  return factors + 8 * 4 * columns * k + 16 * static_cast<double>(p.rows()) + 4 * static_cast<double>(p.rows()) * k +
         JointRows::sum_bytes(p);
}

JointCurvature::JointCurvature(const JointTerms& terms, const JointRows& rows)
    : terms_(terms), rows_(rows), run_(rows.run()), kind_(choice(static_cast<double>(rows.columns()))) {
  for (LargeArray* a : {&residual_, &search_, &image_, &solved_}) a->assign(rows.size(), 0.0);
  if (kind_ == Preconditioner::diagonal) diagonal_.assign(rows.size(), 0.0);
  const std::size_t matrices = kind_ == Preconditioner::by_class ? static_cast<std::size_t>(rows.classes())
                               : kind_ == Preconditioner::shared ? 1
                                                                 : 0;
  for (std::size_t m = 0; m < matrices; ++m) factors_.push_back(std::make_unique<SymmetricMatrix>(rows.columns()));
  column_.resize(rows.columns());
  if (!rows.free_intercept()) return;
  for (std::int64_t i = 0; i < rows.rows(); ++i) ridge_ += rows.cost(i);
  ridge_ *= (terms.hinge() ? 0.1 : 1e-7) / static_cast<double>(std::max<std::int64_t>(1, rows.rows()));
}

void JointCurvature::set(const double* p, double kappa) {
  p_ = p;
  kappa_ = kappa;
  which_.clear();
  begin_.assign(1, 0);
  classes_.clear();
  const auto k = static_cast<std::size_t>(rows_.classes());
  const double share = negligible / static_cast<double>(rows_.rows());
  double all = 0;
  if (rows_.free_intercept())
    for (std::int64_t i = 0; i < rows_.rows(); ++i) all += rows_.cost(i);
  for (std::int64_t i = 0; i < rows_.rows(); ++i) {
    const double* const q = p + static_cast<std::size_t>(i) * rows_.stride();
    run_.work(static_cast<double>(k));
    if (rows_.cost(i) == 0) continue;
    if (!terms_.hinge()) {
      double spread = 0;
      for (std::size_t c = 0; c < k; ++c) spread += q[c] * (1 - q[c]);
      const double weight = rows_.cost(i) * spread;
      // The free intercept has no I to compare with.
      const bool counts = weight * rows_.size_of(i) > share ||
                          (rows_.free_intercept() && weight > 1e-6 * all / static_cast<double>(rows_.rows()));
      if (counts) which_.push_back(i);
      continue;
    }
    const std::size_t before = classes_.size();
    for (std::size_t c = 0; c < k; ++c)
      if (q[c] > 0) classes_.push_back(static_cast<std::int32_t>(c));
    if (classes_.size() < before + 2) {
      classes_.resize(before);
      continue;
    }
    which_.push_back(i);
    begin_.push_back(classes_.size());
  }
  prepare();
}

/// The diagonal of C of the t-th row that counts.
void JointCurvature::weigh(std::size_t t, double* h) const {
  const std::int64_t i = which_[t];
  const double* const q = p_ + static_cast<std::size_t>(i) * rows_.stride();
  const auto k = static_cast<std::size_t>(rows_.classes());
  if (!terms_.hinge()) {
    for (std::size_t c = 0; c < k; ++c) h[c] = rows_.cost(i) * q[c] * (1 - q[c]);
    return;
  }
  const auto n = static_cast<double>(begin_[t + 1] - begin_[t]);
  for (std::size_t c = 0; c < k; ++c) h[c] = q[c] > 0 ? rows_.cost(i) / kappa_ * (1 - 1 / n) : 0.0;
}

/// I + Σ h x xᵀ, h of one class or the mean of all, factored.
void JointCurvature::factor(std::size_t which, SymmetricMatrix& matrix) {
  const auto k = static_cast<std::size_t>(rows_.classes());
  const bool one = kind_ == Preconditioner::by_class;
  matrix.set_zero();
  run_.work(static_cast<double>(matrix.size() * matrix.size()) / 8);
  GramBlock packed(rows_.features(), rows_.constant());
  std::vector<double> h(k);
  const double share = negligible / static_cast<double>(rows_.rows());
  double sum = 0;
  for (std::size_t t = 0; t < which_.size(); ++t) {
    weigh(t, h.data());
    double weight = one ? h[which] : 0.0;
    if (!one) {
      for (const double v : h) weight += v;
      weight /= static_cast<double>(k);
    }
    sum += weight;
    // Of a class most rows are sure.
    if (weight * rows_.size_of(which_[t]) > share) packed.add(rows_.row(which_[t]), weight, 1.0, matrix, run_);
    run_.work(static_cast<double>(k));
  }
  packed.flush(1.0, matrix, run_);
  const std::size_t penalized = rows_.columns() - (rows_.free_intercept() ? 1 : 0);
  for (std::size_t j = 0; j < penalized; ++j) matrix.row(j)[j] += 1;
  if (rows_.free_intercept()) matrix.row(penalized)[penalized] += ridge_ + 1e-10 * sum;
  if (factorise(matrix, run_)) return;
  matrix.set_zero();
  for (std::size_t j = 0; j < matrix.size(); ++j) matrix.row(j)[j] = 1;
}

void JointCurvature::prepare() {
  for (std::size_t m = 0; m < factors_.size(); ++m) factor(m, *factors_[m]);
  if (kind_ != Preconditioner::diagonal) return;
  std::fill(diagonal_.begin(), diagonal_.end(), 1.0);
  const auto k = static_cast<std::size_t>(rows_.classes());
  if (rows_.free_intercept())
    for (std::size_t c = 0; c < rows_.stride(); ++c) diagonal_[rows_.at(rows_.features(), c)] = ridge_;
  std::vector<double> h(k);
  for (std::size_t t = 0; t < which_.size(); ++t) {
    weigh(t, h.data());
    const Row x = rows_.row(which_[t]);
    for (std::size_t c = 0; c < k; ++c) {
      if (h[c] == 0) continue;
      const std::size_t base = rows_.at(0, c), step = rows_.columns() > 1 ? rows_.at(1, c) - base : 0;
      for (std::int32_t m = 0; m < x.count; ++m) {
        const double v = x.value(m);
        diagonal_[base + step * static_cast<std::size_t>(x.indices != nullptr ? x.indices[m] : m)] += h[c] * v * v;
      }
      if (rows_.constant() != 0)
        diagonal_[base + step * rows_.features()] += h[c] * rows_.constant() * rows_.constant();
      run_.work(2.0 * x.count);
    }
  }
}

void JointCurvature::precondition(const LargeArray& r, LargeArray& z) {
  if (kind_ == Preconditioner::diagonal) {
    for (std::size_t j = 0; j < r.size(); ++j) z[j] = r[j] / diagonal_[j];
    run_.work(static_cast<double>(r.size()));
    return;
  }
  for (std::size_t c = 0; c < static_cast<std::size_t>(rows_.classes()); ++c) {
    for (std::size_t j = 0; j < column_.size(); ++j) column_[j] = r[rows_.at(j, c)];
    solve_factored(*factors_[kind_ == Preconditioner::shared ? 0 : c], column_.data(), &run_.progress());
    for (std::size_t j = 0; j < column_.size(); ++j) z[rows_.at(j, c)] = column_[j];
  }
}

/// C of the t-th row that counts, times its scores.
void JointCurvature::image(std::size_t t, const double* scores, double* out) const {
  const std::int64_t i = which_[t];
  const double* const q = p_ + static_cast<std::size_t>(i) * rows_.stride();
  const double cost = rows_.cost(i);
  double mean = 0;
  if (!terms_.hinge()) {
    const std::size_t stride = rows_.stride();
#pragma omp simd reduction(+ : mean)
    for (std::size_t c = 0; c < stride; ++c) mean += q[c] * scores[c];
#pragma omp simd
    for (std::size_t c = 0; c < stride; ++c) out[c] = cost * q[c] * (scores[c] - mean);
    return;
  }
  const std::size_t n = begin_[t + 1] - begin_[t];
  for (std::size_t c = 0; c < n; ++c) mean += scores[c];
  mean /= static_cast<double>(n);
  for (std::size_t c = 0; c < n; ++c) out[c] = cost / kappa_ * (scores[c] - mean);
}

void JointCurvature::multiply(const LargeArray& v, LargeArray& out) {
  std::copy(v.begin(), v.end(), out.begin());
  if (rows_.free_intercept())
    for (std::size_t c = 0; c < rows_.stride(); ++c) out[rows_.at(rows_.features(), c)] *= ridge_;
  const Chunks chunks(static_cast<std::int64_t>(which_.size()), 2 * rows_.row_work(), rows_.partial());
  const auto add = [&](std::int64_t begin, std::int64_t end, double* sum, const Progress& progress) {
    add_products(static_cast<std::size_t>(begin), static_cast<std::size_t>(end), v.data(), sum, progress);
  };
  add_in_chunks(rows_.threads(), chunks, run_.progress(), out.data(), rows_.size(), add);
}

/// Of the rows that count from `begin` to before `end`.
void JointCurvature::add_products(std::size_t begin, std::size_t end, const double* v, double* out,
                                  const Progress& progress) const {
  std::vector<double> scores(rows_.stride()), coefficient(rows_.stride());
  for (std::size_t t = begin; t < end; ++t) {
    const std::int64_t i = which_[t];
    if (t + 4 < end) prefetch(rows_.row(which_[t + 4]));
    const std::size_t n = terms_.hinge() ? begin_[t + 1] - begin_[t] : 0;
    if (n > 0 && 6 * n < rows_.stride()) {
      const std::int32_t* const classes = classes_.data() + begin_[t];
      rows_.scores(i, v, classes, n, scores.data());
      image(t, scores.data(), coefficient.data());
      rows_.add(i, coefficient.data(), classes, n, out);
      progress.work(4.0 * static_cast<double>(n) * rows_.row(i).count);
      continue;
    }
    rows_.scores(i, v, scores.data());
    if (n > 0) {
      const std::int32_t* const classes = classes_.data() + begin_[t];
      double listed[512], images[512];
      std::vector<double> more(n > 512 ? 2 * n : 0);
      double* const from = n > 512 ? more.data() : listed;
      double* const to = n > 512 ? more.data() + n : images;
      for (std::size_t c = 0; c < n; ++c) from[c] = scores[static_cast<std::size_t>(classes[c])];
      image(t, from, to);
      std::fill(coefficient.begin(), coefficient.end(), 0.0);
      for (std::size_t c = 0; c < n; ++c) coefficient[static_cast<std::size_t>(classes[c])] = to[c];
    } else {
      image(t, scores.data(), coefficient.data());
    }
    rows_.add(i, coefficient.data(), out);
    progress.work(2 * rows_.operations(i));
  }
}

int JointCurvature::solve(const LargeArray& r, double accuracy, LargeArray& d) {
  const std::size_t n = r.size();
  std::fill(d.begin(), d.end(), 0.0);
  for (std::size_t j = 0; j < n; ++j) residual_[j] = -r[j];
  precondition(residual_, solved_);
  search_ = solved_;
  double rho = inner(residual_, solved_, run_);
  int products = 0;
  while (products < most_exact_products && rho > 0) {
    multiply(search_, image_);
    ++products;
    const double curvature = inner(search_, image_, run_);
    if (!(curvature > 0)) break;
    const double step = rho / curvature;
    for (std::size_t j = 0; j < n; ++j) {
      d[j] += step * search_[j];
      residual_[j] -= step * image_[j];
    }
    run_.work(static_cast<double>(2 * n));
    if (inner(residual_, residual_, run_) <= accuracy * accuracy) break;
    precondition(residual_, solved_);
    const double next = inner(residual_, solved_, run_), ratio = next / rho;
    if (!(next > 0) || !std::isfinite(next)) break;
    rho = next;
    for (std::size_t j = 0; j < n; ++j) search_[j] = solved_[j] + ratio * search_[j];
    run_.work(static_cast<double>(n));
  }
  return products;
}

}  // namespace margin
