#include "core/solvers/elastic_net/working_matrix.hpp"

#include <algorithm>

#include "core/data/four_rows.hpp"
#include "core/data/gram_block.hpp"

namespace margin {

namespace {

// Sums of single columns take about so many times as long as those of all of them at once.
constexpr std::size_t advantage_of_all = 3;

}  // namespace

WorkingMatrix::WorkingMatrix(const Problem& problem, const Columns& columns, double constant, const Progress& progress)
    : problem_(problem), columns_(columns), progress_(progress), constant_(constant) {}

double WorkingMatrix::bytes(const Problem& p, double features) {
  const double n = static_cast<double>(p.rows());
  // The entries of a set's columns at most those of all columns.
  return 2 * 1.5 * SymmetricMatrix::bytes(static_cast<std::size_t>(features) + 1) + 24 * n + 36.0 * p.dimensions() +
         12 * std::min(n * features, p.data.density() * n * p.dimensions());
}

void WorkingMatrix::fill_rows(const std::vector<double>& h) {
  const auto d = static_cast<std::size_t>(problem_.dimensions());
  sum_.reset(size_of(d), progress_);
  GramBlock block(d, constant_);
  for (std::int64_t i = 0; i < problem_.rows(); ++i)
    if (const double weight = h[static_cast<std::size_t>(i)]; weight > 0)
      block.add(problem_.data.row(i), weight, 1, sum_, progress_);
  block.flush(1, sum_, progress_);
  if (problem_.offset >= 0) decouple(sum_, static_cast<std::size_t>(problem_.offset));
  mirror();
}

void WorkingMatrix::fill(const std::vector<std::size_t>& set, const std::vector<double>& h) {
  set_ = set;
  const std::size_t m = set.size();
  sum_.reset(size_of(m), progress_);
  if (m > 0 && column(set[0]).indices != nullptr) {
    fill_sparse(h);
  } else {
    std::vector<Row> all;
    for (const std::size_t j : set) all.push_back(column(j));
    GramBlock block(m, constant_, std::min(GramBlock::rows_per_block, h.size()));
    block.add_columns(all, h, 1, sum_, progress_);
  }
  mirror();
}

/// By the rows of the set's columns.
void WorkingMatrix::fill_sparse(const std::vector<double>& h) {
  const std::size_t n = h.size(), m = set_.size();
  end_.assign(n + 1, 0);
  for (const std::size_t j : set_) {
    const Row x = column(j);
    for (std::int32_t k = 0; k < x.count; ++k) ++end_[static_cast<std::size_t>(x.indices[k]) + 1];
  }
  for (std::size_t i = 0; i < n; ++i) end_[i + 1] += end_[i];
  indices_.resize(end_.back());
  entries_.resize(end_.back());
  next_of_row_.assign(end_.begin(), end_.end() - 1);
  for (std::size_t k = 0; k < m; ++k) {
    const Row x = column(set_[k]);
    for (std::int32_t l = 0; l < x.count; ++l) {
      const std::size_t to = next_of_row_[static_cast<std::size_t>(x.indices[l])]++;
      indices_[to] = static_cast<std::int32_t>(k);
      entries_[to] = x.value(l);
    }
  }
  progress_.work(4.0 * static_cast<double>(end_.back() + n));
  GramBlock block(m, constant_);
  for (std::size_t i = 0; i < n; ++i)
    if (h[i] > 0)
      block.add(sparse_row(indices_.data() + end_[i], entries_.data() + end_[i],
                           static_cast<std::int32_t>(end_[i + 1] - end_[i]), static_cast<std::int32_t>(m)),
                h[i], 1, sum_, progress_);
  block.flush(1, sum_, progress_);
}

/// The lower triangle from the upper one, in squares that stay in the cache.
void WorkingMatrix::mirror() {
  constexpr std::size_t side = 8;
  const std::size_t size = sum_.size();
  for (std::size_t top = 0; top < size; top += side)
    for (std::size_t left = top; left < size; left += side)
      for (std::size_t i = top; i < std::min(size, top + side); ++i)
        for (std::size_t j = std::max(left, i + 1); j < std::min(size, left + side); ++j)
          sum_.row(j)[i] = sum_.row(i)[j];
  progress_.work(static_cast<double>(size * size));
}

/// Finds what stays of the last set and what arrives.
void WorkingMatrix::keep(const std::vector<std::size_t>& set) {
  arrived_.clear();
  runs_.clear();
  std::size_t old = 0;
  for (std::size_t k = 0; k < set.size(); ++k) {
    while (old < set_.size() && set_[old] < set[k]) ++old;
    if (old == set_.size() || set_[old] != set[k])
      arrived_.push_back(k);
    else if (!runs_.empty() && runs_.back().from + runs_.back().count == old &&
             runs_.back().to + runs_.back().count == k)
      ++runs_.back().count;
    else
      runs_.push_back({old, k, 1});
  }
  if (problem_.intercept) runs_.push_back({set_.size(), set.size(), 1});
}

void WorkingMatrix::change(const std::vector<std::size_t>& set, const std::vector<double>& h) {
  if (set == set_) return;
  keep(set);
  if (advantage_of_all * arrived_.size() >= set.size()) return fill(set, h);
  next_.reset(size_of(set.size()), progress_);
  for (const Run& rows : runs_)
    for (std::size_t k = 0; k < rows.count; ++k)
      for (const Run& r : runs_) std::copy_n(sum_.row(rows.from + k) + r.from, r.count, next_.row(rows.to + k) + r.to);
  progress_.work(static_cast<double>(next_.size() * next_.size()) / 2);
  std::swap(sum_, next_);
  set_ = set;
  const bool sparse = column(set[0]).indices != nullptr;
  if (sparse) {
    place_.resize(static_cast<std::size_t>(problem_.dimensions()), -1);
    for (std::size_t k = 0; k < set.size(); ++k) place_[set[k]] = static_cast<std::int32_t>(k);
  }
  for (const std::size_t at : arrived_) add_row(at, h);
  if (sparse)
    for (const std::size_t j : set) place_[j] = -1;
}

/// The row and the column of the feature at this place.
void WorkingMatrix::add_row(std::size_t at, const std::vector<double>& h) {
  const Row x = column(set_[at]);
  double* const to = sum_.row(at);
  const std::size_t m = set_.size();
  if (x.indices != nullptr) {
    std::fill_n(to, size(), 0.0);
    add_sparse_row(x, h, to);
  } else {
    weighted_.resize(h.size());
    double all = 0;
    for (std::size_t i = 0; i < h.size(); ++i) {
      weighted_[i] = h[i] * x.value(static_cast<std::int32_t>(i));
      all += weighted_[i];
    }
    for (std::size_t k = 0; k < m; k += 4) {
      Row four[4] = {};
      const int count = static_cast<int>(std::min<std::size_t>(4, m - k));
      for (int r = 0; r < count; ++r) four[r] = column(set_[k + static_cast<std::size_t>(r)]);
      dots(four, count, nullptr, weighted_.data(), to + k);
    }
    if (problem_.intercept) to[m] = constant_ * all;
    progress_.work(static_cast<double>((m + 4) * h.size()) / 4);
  }
  for (std::size_t k = 0; k < size(); ++k) sum_.row(k)[at] = to[k];
}

/// By the rows that the column has an entry in: they have far fewer than the set's columns together.
void WorkingMatrix::add_sparse_row(const Row& x, const std::vector<double>& h, double* to) {
  const std::size_t m = set_.size();
  double all = 0;
  for (std::int32_t k = 0; k < x.count; ++k) {
    const auto i = static_cast<std::size_t>(x.indices[k]);
    const double a = h[i] * x.value(k);
    all += a;
    const Row row = problem_.data.row(x.indices[k]);
    if (row.indices == nullptr) {
      for (std::size_t l = 0; l < m; ++l) to[l] += a * row.value(static_cast<std::int32_t>(set_[l]));
      progress_.work(static_cast<double>(m));
      continue;
    }
    for (std::int32_t l = 0; l < row.count; ++l)
      if (const std::int32_t place = place_[static_cast<std::size_t>(row.indices[l])]; place >= 0)
        to[place] += a * row.value(l);
    progress_.work(row.count);
  }
  if (problem_.intercept) to[m] = constant_ * all;
}

}  // namespace margin
