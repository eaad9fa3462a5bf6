#include "core/solvers/joint/rows.hpp"

#include <algorithm>

namespace margin {

namespace {

constexpr std::int64_t block = 1024;
constexpr std::size_t together = 8;  // listed classes

}  // namespace

JointRows::JointRows(const Problem& problem, Run& run)
    : problem_(problem),
      run_(run),
      constant_(problem.free_intercept ? 1.0
                : problem.intercept    ? problem.intercept_scale
                                       : 0.0),
      stride_((static_cast<std::size_t>(problem.classes) + 3) / 4 * 4) {
  for (std::int64_t i = 0; i < rows(); ++i) {
    cost_.push_back(problem.weight(i) / problem.lambda / problem.total_weight);
    size_.push_back(squared_norm(row(i)) + constant_ * constant_);
    run.work(row(i).count + 8.0);
  }
}

double JointRows::sum_bytes(const Problem& p) {
  const double features = p.dimensions(), size = (features + 1) * (p.classes + 3.0);
  const double work = 2.0 * static_cast<double>(p.rows()) * (p.data.density() * features + 4) * (p.classes + 3.0);
  return 8 * size * std::min(Chunks::most, work / (64 * cost_of_sum * size));
}

void JointRows::scores(std::int64_t i, const double* w, double* u) const {
  const Row x = row(i);
  const SimdLoops& loops = simd();
  const auto n = static_cast<std::size_t>(x.count);
  for (std::size_t p = 0; p < panels(); ++p) {
    const std::size_t lanes = width(p);
    const double* const panel = w + p * widest * columns();
    double* const out = u + p * widest;
    if (x.wide)
      loops.panel_dot_d(x.doubles(), x.indices, n, panel, lanes, out);
    else
      loops.panel_dot_f(x.floats(), x.indices, n, panel, lanes, out);
    if (constant_ == 0) continue;
    const double* const last = panel + features() * lanes;
#pragma omp simd
    for (std::size_t c = 0; c < lanes; ++c) out[c] += constant_ * last[c];
  }
}

void JointRows::add(std::int64_t i, const double* g, double* v) const {
  const Row x = row(i);
  const SimdLoops& loops = simd();
  const auto n = static_cast<std::size_t>(x.count);
  for (std::size_t p = 0; p < panels(); ++p) {
    const std::size_t lanes = width(p);
    double* const panel = v + p * widest * columns();
    const double* const from = g + p * widest;
    if (x.wide)
      loops.panel_add_d(from, nullptr, x.doubles(), x.indices, n, lanes, panel);
    else
      loops.panel_add_f(from, nullptr, x.floats(), x.indices, n, lanes, panel);
    if (constant_ == 0) continue;
    double* const last = panel + features() * lanes;
#pragma omp simd
    for (std::size_t c = 0; c < lanes; ++c) last[c] += constant_ * from[c];
  }
}

// Eight classes at a time, value by value: their sums do not wait for one another.
void JointRows::scores(std::int64_t i, const double* w, const std::int32_t* classes, std::size_t count,
                       double* out) const {
  const Row x = row(i);
  for (std::size_t first = 0; first < count; first += together) {
    const std::size_t n = std::min(together, count - first);
    const double* base[together];
    std::size_t lanes[together];
    double sum[together] = {};
    for (std::size_t t = 0; t < n; ++t) {
      lanes[t] = width(static_cast<std::size_t>(classes[first + t]) / widest);
      base[t] = w + at(0, static_cast<std::size_t>(classes[first + t]));
      if (constant_ != 0) sum[t] = constant_ * base[t][features() * lanes[t]];
    }
    for (std::int32_t m = 0; m < x.count; ++m) {
      const double v = x.value(m);
      if (v == 0) continue;
      const auto j = static_cast<std::size_t>(x.indices != nullptr ? x.indices[m] : m);
      for (std::size_t t = 0; t < n; ++t) sum[t] += v * base[t][j * lanes[t]];
    }
    for (std::size_t t = 0; t < n; ++t) out[first + t] = sum[t];
  }
}

void JointRows::add(std::int64_t i, const double* g, const std::int32_t* classes, std::size_t count, double* v) const {
  const Row x = row(i);
  for (std::size_t first = 0; first < count; first += together) {
    const std::size_t n = std::min(together, count - first);
    double* base[together];
    std::size_t lanes[together];
    for (std::size_t t = 0; t < n; ++t) {
      lanes[t] = width(static_cast<std::size_t>(classes[first + t]) / widest);
      base[t] = v + at(0, static_cast<std::size_t>(classes[first + t]));
      if (constant_ != 0) base[t][features() * lanes[t]] += constant_ * g[first + t];
    }
    for (std::int32_t m = 0; m < x.count; ++m) {
      const double value = x.value(m);
      if (value == 0) continue;
      const auto j = static_cast<std::size_t>(x.indices != nullptr ? x.indices[m] : m);
      for (std::size_t t = 0; t < n; ++t) base[t][j * lanes[t]] += value * g[first + t];
    }
  }
}

void JointRows::scores_of(std::int64_t i, const double* w, const std::int32_t* classes, std::size_t count, double* out,
                          double* scratch) const {
  if (few(count)) return scores(i, w, classes, count, out);
  scores(i, w, scratch);
  for (std::size_t t = 0; t < count; ++t) out[t] = scratch[classes[t]];
}

void JointRows::add_of(std::int64_t i, const double* g, const std::int32_t* classes, std::size_t count, double* v,
                       double* scratch) const {
  if (few(count)) return add(i, g, classes, count, v);
  std::fill_n(scratch, stride_, 0.0);
  for (std::size_t t = 0; t < count; ++t) scratch[classes[t]] = g[t];
  add(i, scratch, v);
}

void JointRows::all_scores(const double* w, double* s) const {
  const Chunks chunks(rows(), row_work());
  threads().run(chunks.count(), run_.progress(), [&](std::size_t chunk, const Progress& progress) {
    for (std::int64_t i = chunks.begin(chunk), end = chunks.end(chunk); i < end; ++i) {
      scores(i, w, s + static_cast<std::size_t>(i) * stride_);
      progress.work(operations(i));
    }
  });
}

void JointRows::combine(const double* g, LargeArray& v) const {
  std::fill(v.begin(), v.end(), 0.0);
  const auto spread = static_cast<std::int64_t>(4 * static_cast<double>(columns()) / std::max(1.0, stored()));
  const std::int64_t length = std::max(block, spread);
  const Chunks blocks((rows() + length - 1) / length, static_cast<double>(length) * row_work(), partial());
  const auto add_blocks = [&](std::int64_t first, std::int64_t last, double* sum, const Progress& progress) {
    LargeArray part(size());
    for (std::int64_t begin = first * length; begin < std::min(rows(), last * length); begin += length) {
      std::fill(part.begin(), part.end(), 0.0);
      const std::int64_t end = std::min(rows(), begin + length);
      for (std::int64_t i = begin; i < end; ++i) {
        if (cost(i) == 0) continue;
        add(i, g + static_cast<std::size_t>(i) * stride_, part.data());
        progress.work(operations(i));
      }
      for (std::size_t j = 0; j < part.size(); ++j) sum[j] += part[j];
      progress.work(static_cast<double>(2 * part.size()));
    }
  };
  add_in_chunks(threads(), blocks, run_.progress(), v.data(), size(), add_blocks);
}

}  // namespace margin
