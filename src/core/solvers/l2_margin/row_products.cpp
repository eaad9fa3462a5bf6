#include "core/solvers/l2_margin/row_products.hpp"

#include <algorithm>
#include <cmath>

#include "core/data/four_rows.hpp"
#include "core/data/row_pass.hpp"
#include "core/math/symmetric_matrix.hpp"

namespace margin {

namespace {

constexpr std::size_t block_rows = 2 * tile_rows;  // whose products are computed together
constexpr std::size_t block_features = 256;        // of a tile, summed by themselves: long sums err by more
constexpr double sparse_cost = 4;                  // of visiting a byte of sparse rows, in those of dense ones

/// The numbers of a dense row, written to `to` where they are floats.
const double* widen(const Row& x, double* to) {
  if (x.wide) return x.doubles();
  simd().pack_f(x.floats(), static_cast<std::size_t>(x.count), 1, to, SymmetricMatrix::panel_width);
  return to;
}

/// Up to four dense rows of d features against the rows of a tile.
void multiply_dense(const double* const* x, std::size_t count, const double* tile, std::size_t d, double* sums) {
  std::fill_n(sums, count * tile_rows, 0.0);
  for (std::size_t from = 0; from < d; from += block_features) {
    const double* part[4] = {};
    double of_part[4 * tile_rows];
    for (std::size_t r = 0; r < count; ++r) part[r] = x[r] + from;
    simd().tile_dots_d(tile + from * tile_rows, part, count, std::min(d - from, block_features), of_part);
    for (std::size_t k = 0; k < count * tile_rows; ++k) sums[k] += of_part[k];
  }
}

/// A sparse row against the rows of a tile.
void multiply_sparse(const Row& x, const double* tile, double* sums) {
  const auto count = static_cast<std::size_t>(x.count);
  if (x.wide)
    simd().panel_dot_d(x.doubles(), x.indices, count, tile, tile_rows, sums);
  else
    simd().panel_dot_f(x.floats(), x.indices, count, tile, tile_rows, sums);
}

}  // namespace

bool RowProducts::worthwhile(const Problem& problem) {
  const auto n = static_cast<double>(problem.rows());
  const double features = static_cast<double>(problem.data.feature_bytes());
  return problem.outputs() == 1 && !problem.data.spilled() &&
         16 * n * n <= features * (problem.data.density() < 1 ? sparse_cost : 1);
}

double RowProducts::bytes(const Problem& problem) {
  const double n = static_cast<double>(problem.rows()) + 8;
  return 8 * n * (n + 12) + 8.0 * 8 * (block_rows + 4) * problem.dimensions();
}

RowProducts::RowProducts(const Problem& problem, double scale, std::vector<Weights> others, const Progress& progress)
    : problem_(problem),
      scale_(scale),
      others_(std::move(others)),
      size_(problem.rows() + static_cast<Eigen::Index>(others_.size())),
      products_(static_cast<std::size_t>(size_)) {
  for (std::size_t k = 0; k < others_.size(); ++k) {
    std::vector<double>& with = products_of(problem.rows() + static_cast<std::int64_t>(k));
    with.resize(static_cast<std::size_t>(size_));
    for (std::int64_t i = 0; i < problem.rows(); ++i) {
      const Row x = problem.data.row(i);
      with[static_cast<std::size_t>(i)] = sign(i) * dot(x, others_[k].data());
      progress.work(x.count);
    }
    for (std::size_t l = 0; l < others_.size(); ++l)
      with[static_cast<std::size_t>(problem.rows()) + l] = others_[k].cwiseProduct(others_[l]).sum();
  }
}

Weights RowProducts::other(std::size_t k) const {
  Weights u = zero();
  const Eigen::Index at = problem_.rows() + static_cast<Eigen::Index>(k);
  u(0, at) = 1;
  const std::vector<double>& with = products_[static_cast<std::size_t>(at)];
  std::copy(with.begin(), with.end(), u.data() + size_);
  return u;
}

// The products of a pair whose other row is not done yet are written to both: each number has one writer.
void RowProducts::multiply_block(const std::int64_t* rows, std::size_t count, const std::vector<std::int64_t>& against,
                                 const Progress& progress) {
  const auto d = static_cast<std::size_t>(problem_.dimensions());
  const std::size_t tiles = (count + tile_rows - 1) / tile_rows;
  std::vector<double> tile(tiles * d * tile_rows, 0.0), wide(4 * d), sums(4 * tile_rows);
  for (std::size_t c = 0; c < count; ++c) {
    const Row x = problem_.data.row(rows[c]);
    const double s = sign(rows[c]);
    double* const to = tile.data() + c / tile_rows * d * tile_rows + c % tile_rows;
    for (std::int32_t k = 0; k < x.count; ++k)
      to[static_cast<std::size_t>(x.indices != nullptr ? x.indices[k] : k) * tile_rows] = s * x.value(k);
    progress.work(2.0 * x.count);
  }
  RowsByFour dealt(problem_.data, [&](const std::int64_t* others, const Row* x, int four, const Row*) {
    const auto points = static_cast<std::size_t>(four);
    const double* of_points[4] = {};
    if (x->indices == nullptr)
      for (std::size_t r = 0; r < points; ++r) of_points[r] = widen(x[r], wide.data() + r * d);
    for (std::size_t t = 0; t < tiles; ++t) {
      const double* const of_tile = tile.data() + t * d * tile_rows;
      if (x->indices == nullptr)
        multiply_dense(of_points, points, of_tile, d, sums.data());
      else
        multiply_sparse(*x, of_tile, sums.data());
      for (std::size_t r = 0; r < points; ++r)
        for (std::size_t c = t * tile_rows; c < std::min(count, (t + 1) * tile_rows); ++c) {
          const double product = sign(others[r]) * sums[r * tile_rows + c % tile_rows];
          products_of(rows[c])[static_cast<std::size_t>(others[r])] = product;
          if (std::vector<double>& back = products_of(others[r]); !back.empty())
            back[static_cast<std::size_t>(rows[c])] = product;
        }
    }
    progress.work(static_cast<double>(points * count) * x->count);
  });
  for (const std::int64_t i : against) dealt.add(i);
  dealt.finish();
}

void RowProducts::multiply(const std::vector<std::int64_t>& rows, const Progress& progress) {
  std::vector<std::int64_t> fresh, others;
  for (const std::int64_t i : rows)
    if (products_of(i).empty()) fresh.push_back(i);
  if (fresh.empty()) return;
  for (std::int64_t i = 0; i < problem_.rows(); ++i)
    if (products_of(i).empty()) others.push_back(i);
  const std::size_t before = products_.size();
  for (const std::int64_t i : fresh) {
    std::vector<double>& own = products_of(i);
    own.resize(before);
    for (std::size_t j = 0; j < before; ++j)  // known from the other side
      if (!products_[j].empty()) own[j] = products_[j][static_cast<std::size_t>(i)];
    progress.work(2 * static_cast<double>(before));
  }
  // Each block against the rows of its own and of later blocks, then those that nobody asked for.
  std::vector<std::int64_t> order = fresh;
  std::set_difference(others.begin(), others.end(), fresh.begin(), fresh.end(), std::back_inserter(order));
  const std::size_t blocks = (fresh.size() + block_rows - 1) / block_rows;
  pass_threads(problem_.data, progress).run(blocks, progress, [&](std::size_t b, const Progress& own) {
    const std::size_t from = b * block_rows;
    multiply_block(fresh.data() + from, std::min(block_rows, fresh.size() - from),
                   {order.begin() + static_cast<std::ptrdiff_t>(from), order.end()}, own);
  });
}

void RowProducts::add(const std::vector<std::int64_t>& rows, const std::vector<double>& a, Weights& u,
                      const Progress& progress) {
  multiply(rows, progress);
  const auto n = static_cast<std::size_t>(size_);
  for (std::size_t from = 0; from < rows.size(); from += 4) {
    const std::size_t count = std::min<std::size_t>(4, rows.size() - from);
    Row with[4];
    for (std::size_t r = 0; r < count; ++r) {
      with[r] = {products_of(rows[from + r]).data(), nullptr, static_cast<std::int32_t>(n), true};
      u(0, rows[from + r]) += a[from + r];
    }
    margin::add(a.data() + from, with, static_cast<int>(count), nullptr, u.data() + n);
    progress.work(static_cast<double>(count * n));
  }
}

void RowProducts::renew(Weights& u, const Progress& progress) {
  std::vector<std::int64_t> used;
  std::vector<double> a;
  for (Eigen::Index i = 0; i < size_; ++i)
    if (u(0, i) != 0) {
      used.push_back(i);
      a.push_back(u(0, i));
    }
  u.setZero();
  add(used, a, u, progress);
}

double RowProducts::norm(const Weights& u) const {
  return std::sqrt(std::max(0.0, u.leftCols(size_).cwiseProduct(u.rightCols(size_)).sum()));
}

Weights RowProducts::features(const Weights& u, const Progress& progress) const {
  Weights w = Weights::Zero(1, problem_.dimensions());
  for (std::size_t k = 0; k < others_.size(); ++k)
    w += u(0, problem_.rows() + static_cast<Eigen::Index>(k)) * others_[k];
  for (std::int64_t i = 0; i < problem_.rows(); ++i) {
    if (u(0, i) == 0) continue;
    const Row x = problem_.data.row(i);
    margin::add(u(0, i) * sign(i), x, w.data());
    progress.work(x.count);
  }
  return w;
}

}  // namespace margin
