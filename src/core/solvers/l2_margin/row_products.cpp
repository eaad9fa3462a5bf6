#include "core/solvers/l2_margin/row_products.hpp"

#include <algorithm>
#include <cmath>

#include "core/data/four_rows.hpp"
#include "core/data/row_pass.hpp"

namespace margin {

namespace {

constexpr std::size_t block_rows = 16;         // whose products are computed together
constexpr std::int32_t block_features = 1024;  // four rows of them stay in the first cache
constexpr double sparse_cost = 4;              // of visiting a byte of sparse rows, in those of dense ones

/// Features `from` to before `to` of a dense row.
Row part_of(const Row& x, std::int32_t from, std::int32_t to) {
  const void* const at = x.wide ? static_cast<const void*>(x.doubles() + from) : x.floats() + from;
  return {at, nullptr, to - from, x.wide};
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
  return 8 * n * (n + 12) + 8.0 * 8 * block_rows * problem.dimensions();
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
  std::vector<double> dense(count * d, 0.0);
  for (std::size_t c = 0; c < count; ++c) margin::add(sign(rows[c]), problem_.data.row(rows[c]), dense.data() + c * d);
  RowsByFour dealt(problem_.data, [&](const std::int64_t* others, const Row* x, int four, const Row*) {
    double products[block_rows][4] = {};
    const std::int32_t width = x->indices == nullptr ? x->count : 1;
    for (std::int32_t from = 0; from < width; from += block_features) {
      Row part[4];
      for (int r = 0; r < four; ++r)
        part[r] = x->indices == nullptr ? part_of(x[r], from, std::min(width, from + block_features)) : x[r];
      for (std::size_t c = 0; c < count; ++c) {
        double of_part[4];
        dots(part, four, nullptr, dense.data() + c * d + from, of_part);
        for (int r = 0; r < four; ++r) products[c][r] += of_part[r];
      }
    }
    for (std::size_t c = 0; c < count; ++c)
      for (int r = 0; r < four; ++r) {
        const double product = sign(others[r]) * products[c][r];
        products_of(rows[c])[static_cast<std::size_t>(others[r])] = product;
        if (std::vector<double>& back = products_of(others[r]); !back.empty())
          back[static_cast<std::size_t>(rows[c])] = product;
      }
    progress.work(static_cast<double>(four) * static_cast<double>(count) * x->count);
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
