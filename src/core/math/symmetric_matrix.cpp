#include "core/math/symmetric_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace margin {

namespace {
constexpr std::size_t width = SymmetricMatrix::panel_width;
}  // namespace

SymmetricMatrix::SymmetricMatrix(std::size_t size)
    : size_(size), stride_(panels_of(size) * width), values_(stride_ * stride_, 0.0) {}

void SymmetricMatrix::reset(std::size_t size, const Progress& progress) {
  size_ = size;
  stride_ = panels_of(size) * width;
  if (stride_ * stride_ > values_.capacity()) {
    values_ = LargeArray();
    values_.reserve(stride_ * stride_ / 2 * 3);  // what is not written takes no memory
  }
  values_.resize(stride_ * stride_);
  for (std::size_t j = 0; j < stride_; ++j) {
    std::fill_n(row(j), stride_, 0.0);
    progress.work(static_cast<double>(stride_));
  }
}

void SymmetricMatrix::set_zero() { std::fill(values_.begin(), values_.end(), 0.0); }

double SymmetricMatrix::bytes(std::size_t size) {
  const double stride = static_cast<double>(panels_of(size) * width);
  return 8 * stride * stride;
}

void decouple(SymmetricMatrix& matrix, std::size_t j) {
  for (std::size_t i = 0; i < j; ++i) matrix.row(i)[j] = 0;
  for (std::size_t k = j + 1; k < matrix.size(); ++k) matrix.row(j)[k] = 0;
  matrix.row(j)[j] = 1;
}

bool factorise(SymmetricMatrix& matrix, const Progress& progress, bool semidefinite) {
  constexpr std::size_t block = 4 * width;
  const std::size_t n = matrix.size(), stride = matrix.stride();
  const double negligible = semidefinite ? 1e-14 : 1e-15;
  const SimdLoops& loops = simd();
  std::vector<double> packed(block * stride);
  std::vector<double> diagonal(n);
  for (std::size_t j = 0; j < n; ++j) diagonal[j] = matrix.row(j)[j];
  for (std::size_t begin = 0; begin < n; begin += block) {
    const std::size_t end = std::min(n, begin + block);
    for (std::size_t j = begin; j < end; ++j) {
      double* row = matrix.row(j);
      std::size_t i = begin;
      for (; i + 4 <= j; i += 4) {
        const double* const from[] = {matrix.row(i) + j, matrix.row(i + 1) + j, matrix.row(i + 2) + j,
                                      matrix.row(i + 3) + j};
        const double factors[] = {-*from[0], -*from[1], -*from[2], -*from[3]};
        loops.axpys_d(factors, from, nullptr, row + j, n - j);
      }
      for (; i < j; ++i) loops.axpy_d(-matrix.row(i)[j], matrix.row(i) + j, row + j, n - j);
      // What is left of a pivot below this share of the diagonal is rounding.
      if (!(row[j] > negligible * diagonal[j]) || !std::isfinite(row[j])) {
        if (!semidefinite) return false;
        std::fill(row + j, row + n, 0.0);
        continue;
      }
      const double inverse = 1 / std::sqrt(row[j]);
      for (std::size_t k = j; k < n; ++k) row[k] *= inverse;
      progress.work(static_cast<double>((j - begin + 1) * (n - j)) / 2);
    }
    if (end == n) break;
    const std::size_t panels = (stride - end) / width;
    for (std::size_t p = 0; p < panels; ++p)
      for (std::size_t i = begin; i < end; ++i)
        std::copy_n(matrix.row(i) + end + p * width, width, packed.data() + (p * block + i - begin) * width);
    for (std::size_t p = 0; p < panels; ++p) {
      loops.rank_update_d(packed.data(), end - begin, block * width, p, panels, -1.0, matrix.row(end) + end, stride);
      progress.work(static_cast<double>((end - begin) * (panels - p) * width * width) / 16);
    }
  }
  return true;
}

void remove_factored(SymmetricMatrix& factor, std::size_t n, std::size_t at, const Progress& progress) {
  for (std::size_t i = 0; i < at; ++i) std::copy(factor.row(i) + at + 1, factor.row(i) + n, factor.row(i) + at);
  for (std::size_t i = at; i + 1 < n; ++i) {
    // What is left has an entry below each diagonal, which a rotation of both rows takes away.
    double *const row = factor.row(i), *const below = factor.row(i + 1);
    const double a = row[i + 1], b = below[i + 1], length = std::hypot(a, b);
    simd().rotate(a / length, b / length, row + i + 1, below + i + 1, n - i - 1);
    std::copy(row + i + 1, row + n, row + i);
  }
  progress.work(static_cast<double>(n * n) / 2);
}

void solve_factored(const SymmetricMatrix& factor, double* b, const Progress* progress) {
  solve_factored(factor, factor.size(), b, progress);
}

void solve_factored(const SymmetricMatrix& factor, std::size_t n, double* b, const Progress* progress) {
  const SimdLoops& loops = simd();
  auto work = [&](std::size_t j) {
    if (progress != nullptr) progress->work(static_cast<double>(n - j) / 2);
  };
  for (std::size_t j = 0; j < n; ++j) {
    const double* row = factor.row(j);
    b[j] /= row[j];
    loops.axpy_d(-b[j], row + j + 1, b + j + 1, n - j - 1);
    work(j);
  }
  for (std::size_t j = n; j-- > 0;) {
    const double* row = factor.row(j);
    b[j] = (b[j] - loops.dot_dd(row + j + 1, b + j + 1, n - j - 1)) / row[j];
    work(j);
  }
}

}  // namespace margin
