#include "core/problem/moments.hpp"

#include <algorithm>
#include <cmath>

#include "core/data/row_pass.hpp"
#include "core/math/rounding.hpp"
#include "core/simd/loops.hpp"

namespace margin {

namespace {

constexpr std::int64_t block_rows = 512;  // rows that are summed on their own first: less rounding
// From here on a matrix of its own for every chunk would take too much memory.
constexpr std::size_t many_columns = 256;

/// Σ c z zᵀ by its upper triangle, block by block.
class MomentSum {
 public:
  MomentSum(const Moments& of, const Problem& problem)
      : problem_(problem),
        constant_(of.constant()),
        target_(of.target()),
        stride_(of.stride()),
        part_(of.size() * stride_, 0.0),
        dense_(of.size()) {}

  /// The rows of the blocks from `first` to before `last`.
  void add_blocks(std::int64_t first, std::int64_t last, double* sum, const Progress& progress) {
    for (std::int64_t begin = first * block_rows; begin < std::min(problem_.rows(), last * block_rows);
         begin += block_rows) {
      const std::int64_t end = std::min(problem_.rows(), begin + block_rows);
      for (std::int64_t i = begin; i < end; ++i) add_row(i, progress);
      for (std::size_t j = 0; j < part_.size(); ++j) sum[j] += part_[j];
      std::fill(part_.begin(), part_.end(), 0.0);
      progress.work(static_cast<double>(part_.size()));
    }
  }

 private:
  void add_row(std::int64_t i, const Progress& progress) {
    const double cost = problem_.weight(i);
    if (cost == 0) return;
    const std::size_t m = dense_.size();
    const Row x = problem_.data.row(i);
    at_.clear();
    for (std::int32_t t = 0; t < x.count; ++t) {
      const double value = x.value(t);
      if (value == 0) continue;
      at_.push_back(static_cast<std::size_t>(x.indices != nullptr ? x.indices[t] : t));
      dense_[at_.back()] = value;
    }
    at_.push_back(constant_);
    dense_[constant_] = 1;
    at_.push_back(target_);
    dense_[target_] = problem_.target(i, 0);
    const bool full = 4 * at_.size() > m;
    for (std::size_t s = 0; s < at_.size(); ++s) {
      const std::size_t j = at_[s];
      const double factor = cost * dense_[j];
      double* const to = part_.data() + j * stride_;
      if (full)
        simd().axpy_d(factor, dense_.data() + j, to + j, m - j);
      else
        for (std::size_t t = s; t < at_.size(); ++t) to[at_[t]] += factor * dense_[at_[t]];
    }
    for (const std::size_t j : at_) dense_[j] = 0;
    const auto count = static_cast<double>(full ? m : at_.size());
    progress.work(static_cast<double>(at_.size()) * (8 + count / (full ? 8 : 2)));
  }

  const Problem& problem_;
  std::size_t constant_, target_, stride_;
  std::vector<double> part_, dense_;
  std::vector<std::size_t> at_;  // the columns of a row that are not 0, ascending
};

}  // namespace

Moments::Moments(const Problem& p, const Progress& progress)
    : features_(static_cast<std::size_t>(p.dimensions())), stride_((features_ + 2 + 7) / 8 * 8) {
  const std::size_t m = size();
  numbers_.assign(m * stride_, 0.0);
  const std::int64_t blocks = (p.rows() + block_rows - 1) / block_rows;
  const double row_work = stored_numbers(p.data) * (8 + static_cast<double>(m) / 8);
  // At least 4096 rows each, so that the matrices take an eighth of the memory of dense rows at most.
  const Chunks chunks(m < many_columns ? blocks : 1, row_work * block_rows, std::max(row_work, 1.0) * 64);
  add_in_chunks(pass_threads(p.data, progress), chunks, progress, numbers_.data(), numbers_.size(),
                [&](std::int64_t first, std::int64_t last, double* sum, const Progress& own) {
                  MomentSum(*this, p).add_blocks(first, last, sum, own);
                });
  for (std::int64_t i = 0; i < p.rows(); ++i) rows_ += p.weight(i) != 0;
  progress.work(static_cast<double>(p.rows()));
  // However the sums of blocks are added up. Two roundings a product, one a sum, one by W; Σ c |z_j z_k| ≤ W scale_j scale_k.
  ulps_ = static_cast<double>(block_rows) + static_cast<double>(p.rows()) / static_cast<double>(block_rows) + 8;
  for (std::size_t j = 0; j < m; ++j) {
    for (std::size_t k = j; k < m; ++k) {
      double& value = numbers_[j * stride_ + k];
      value /= p.total_weight;
      numbers_[k * stride_ + j] = value;
    }
    scale_.push_back(std::sqrt(numbers_[j * stride_ + j]) * (1 + 2 * ulps_ * epsilon) + std::sqrt(tiny));
    progress.work(static_cast<double>(m));
  }
}

double Moments::bytes(const Problem& p) {
  const double m = p.dimensions() + 10.0;
  return 8 * (2 * m * m + 4 * m);
}

}  // namespace margin
