#include "core/solvers/newton/gram.hpp"

#include <algorithm>
#include <cmath>

namespace margin {

namespace {

constexpr std::size_t width = panel_bytes / sizeof(double);
// Rows per packed block: a panel of it (32 kB) fits the first-level cache beside another.
constexpr std::size_t block_rows = 256;
// The kernel multiplies about this many times faster than a scattered sparse outer product.
constexpr double dense_advantage = 40;

std::size_t panels_of(std::size_t columns) { return (columns + width - 1) / width; }

}  // namespace

SymmetricMatrix::SymmetricMatrix(std::size_t size)
    : size_(size), stride_(panels_of(size) * width), values_(stride_ * stride_, 0.0) {}

void SymmetricMatrix::reset(std::size_t size, Run& run) {
  size_ = size;
  stride_ = panels_of(size) * width;
  if (stride_ * stride_ > values_.capacity()) {
    values_ = LargeArray();
    values_.reserve(stride_ * stride_ / 2 * 3);  // what is not written takes no memory
  }
  values_.resize(stride_ * stride_);
  for (std::size_t j = 0; j < stride_; ++j) {
    std::fill_n(row(j), stride_, 0.0);
    run.work(static_cast<double>(stride_));
  }
}

void SymmetricMatrix::set_zero() { std::fill(values_.begin(), values_.end(), 0.0); }

double SymmetricMatrix::bytes(std::size_t size) {
  const double stride = static_cast<double>(panels_of(size) * width);
  return 8 * stride * stride;
}

GramSum::GramSum(const NewtonRows& rows)
    : rows_(rows), panels_(panels_of(rows.columns())), packed_(panels_ * width * block_rows, 0.0) {}

void GramSum::add(const double* weight, SymmetricMatrix& sum) {
  for (std::int64_t i = 0; i < rows_.rows(); ++i)
    if (weight[i] != 0) {
      rows_.prefetch_after(i);
      push(i, weight[i], 1.0, sum);
    }
  flush(1.0, sum);
}

void GramSum::add(const std::vector<std::int64_t>& which, const double* weight, double factor, SymmetricMatrix& sum) {
  for (const std::int64_t i : which) push(i, weight[i], factor, sum);
  flush(factor, sum);
}

void GramSum::push(std::int64_t i, double weight, double factor, SymmetricMatrix& sum) {
  const Row x = rows_.row(i);
  const std::size_t d = rows_.features();
  const double constant = rows_.constant();
  const auto count = static_cast<std::size_t>(x.count);
  if (x.indices != nullptr && dense_advantage * static_cast<double>(count) * static_cast<double>(count) <
                                  static_cast<double>(panels_ * width) * static_cast<double>(panels_ * width)) {
    for (std::size_t k = 0; k < count; ++k) {
      const double s = factor * weight * x.value(static_cast<std::int32_t>(k));
      double* to = sum.row(static_cast<std::size_t>(x.indices[k]));
      for (std::size_t l = k; l < count; ++l) to[x.indices[l]] += s * x.value(static_cast<std::int32_t>(l));
      if (constant != 0) to[d] += s * constant;
    }
    if (constant != 0) sum.row(d)[d] += factor * weight * constant * constant;
    rows_.run().work(2 * static_cast<double>(count) * static_cast<double>(count) + 8);
    return;
  }
  const double root = std::sqrt(weight);
  double* at = packed_.data() + filled_ * width;
  const std::size_t panel = width * block_rows;
  if (x.indices != nullptr) {
    for (std::size_t p = 0; p < panels_; ++p) std::fill_n(at + p * panel, width, 0.0);
    for (std::size_t k = 0; k < count; ++k) {
      const auto j = static_cast<std::size_t>(x.indices[k]);
      at[j / width * panel + j % width] = root * x.value(static_cast<std::int32_t>(k));
    }
  } else {
    // The padding of the last panel stays the zeros it was made with; the intercept's column is written below.
    if (x.wide)
      simd().pack_d(x.doubles(), d, root, at, panel);
    else
      simd().pack_f(x.floats(), d, root, at, panel);
  }
  if (constant != 0) at[d / width * panel + d % width] = root * constant;
  rows_.run().work(static_cast<double>(panels_ * width) * 2);
  if (++filled_ == block_rows) flush(factor, sum);
}

void GramSum::flush(double factor, SymmetricMatrix& sum) {
  if (filled_ == 0) return;
  for (std::size_t p = 0; p < panels_; ++p) {
    simd().rank_update_d(packed_.data(), filled_, width * block_rows, p, panels_, factor, sum.row(0), sum.stride());
    // The kernel does some 16 multiply-adds in the time that Run counts for one.
    rows_.run().work(static_cast<double>(filled_ * (panels_ - p) * width * width) / 16);
  }
  filled_ = 0;
}

bool factorise(SymmetricMatrix& matrix, Run& run, bool semidefinite) {
  constexpr std::size_t block = 4 * width;
  const std::size_t n = matrix.size(), stride = matrix.stride();
  const double negligible = semidefinite ? 1e-14 : 1e-15;
  std::vector<double> packed(block * stride);
  std::vector<double> diagonal(n);
  for (std::size_t j = 0; j < n; ++j) diagonal[j] = matrix.row(j)[j];
  for (std::size_t begin = 0; begin < n; begin += block) {
    const std::size_t end = std::min(n, begin + block);
    for (std::size_t j = begin; j < end; ++j) {
      double* row = matrix.row(j);
      for (std::size_t i = begin; i < j; ++i) simd().axpy_d(-matrix.row(i)[j], matrix.row(i) + j, row + j, n - j);
      // What is left of a pivot below this share of the diagonal is rounding.
      if (!(row[j] > negligible * diagonal[j]) || !std::isfinite(row[j])) {
        if (!semidefinite) return false;
        std::fill(row + j, row + n, 0.0);
        continue;
      }
      const double inverse = 1 / std::sqrt(row[j]);
      for (std::size_t k = j; k < n; ++k) row[k] *= inverse;
      run.work(static_cast<double>((j - begin + 1) * (n - j)) / 2);
    }
    if (end == n) break;
    const std::size_t panels = (stride - end) / width;
    for (std::size_t p = 0; p < panels; ++p)
      for (std::size_t i = begin; i < end; ++i)
        std::copy_n(matrix.row(i) + end + p * width, width, packed.data() + (p * block + i - begin) * width);
    for (std::size_t p = 0; p < panels; ++p) {
      simd().rank_update_d(packed.data(), end - begin, block * width, p, panels, -1.0, matrix.row(end) + end, stride);
      run.work(static_cast<double>((end - begin) * (panels - p) * width * width) / 16);
    }
  }
  return true;
}

void solve_factored(const SymmetricMatrix& factor, double* b, Run* run) {
  const std::size_t n = factor.size();
  auto work = [&](std::size_t j) {
    if (run != nullptr) run->work(static_cast<double>(n - j) / 2);
  };
  for (std::size_t j = 0; j < n; ++j) {
    const double* row = factor.row(j);
    b[j] /= row[j];
    simd().axpy_d(-b[j], row + j + 1, b + j + 1, n - j - 1);
    work(j);
  }
  for (std::size_t j = n; j-- > 0;) {
    const double* row = factor.row(j);
    b[j] = (b[j] - simd().dot_dd(row + j + 1, b + j + 1, n - j - 1)) / row[j];
    work(j);
  }
}

}  // namespace margin
