#include "core/data/gram_block.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/threads.hpp"

namespace margin {

namespace {

constexpr std::size_t width = SymmetricMatrix::panel_width;
// The kernel multiplies about this many times faster than a scattered sparse outer product.
constexpr double dense_advantage = 40;

}  // namespace

GramBlock::GramBlock(std::size_t features, double constant, std::size_t rows)
    : features_(features),
      panels_(SymmetricMatrix::panels_of(features + (constant != 0 ? 1 : 0))),
      rows_(rows),
      constant_(constant) {}

/// Thin rows need none, and the zeros would take longer than they do.
void GramBlock::make_room() {
  if (packed_.empty()) packed_.assign(panels_ * width * rows_, 0.0);
}

void GramBlock::add(const Row& x, double weight, double factor, SymmetricMatrix& sum, const Progress& progress) {
  const std::size_t d = features_;
  const double constant = constant_;
  const auto count = static_cast<std::size_t>(x.count);
  if (x.indices != nullptr && dense_advantage * static_cast<double>(count) * static_cast<double>(count) <
                                  static_cast<double>(panels_ * width) * static_cast<double>(panels_ * width)) {
    const auto multiply = [&](const auto* values) {
      for (std::size_t k = 0; k < count; ++k) {
        const double s = factor * weight * values[k];
        double* to = sum.row(static_cast<std::size_t>(x.indices[k]));
        for (std::size_t l = k; l < count; ++l) to[x.indices[l]] += s * values[l];
        if (constant != 0) to[d] += s * constant;
      }
    };
    x.wide ? multiply(x.doubles()) : multiply(x.floats());
    if (constant != 0) sum.row(d)[d] += factor * weight * constant * constant;
    progress.work(2 * static_cast<double>(count) * static_cast<double>(count) + 8);
    return;
  }
  make_room();
  const double root = std::sqrt(weight);
  double* at = packed_.data() + filled_ * width;
  const std::size_t panel = width * rows_;
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
  progress.work(static_cast<double>(panels_ * width) * 2);
  if (++filled_ == rows_) flush(factor, sum, progress);
}

void GramBlock::add_columns(const std::vector<Row>& x, const std::vector<double>& weight, double factor,
                            SymmetricMatrix& sum, const Progress& progress) {
  make_room();
  std::vector<double> roots(rows_);
  const std::size_t panel = width * rows_;
  for (std::size_t from = 0; from < weight.size(); from += rows_) {
    const std::size_t count = std::min(rows_, weight.size() - from);
    for (std::size_t i = 0; i < count; ++i) roots[i] = std::sqrt(weight[from + i]);
    const auto pack = [&](std::size_t j, const auto& value) {
      double* const to = packed_.data() + j / width * panel + j % width;
      for (std::size_t i = 0; i < count; ++i) to[i * width] = roots[i] * value(i);
    };
    for (std::size_t j = 0; j < features_; ++j) {
      if (x[j].wide)
        pack(j, [v = x[j].doubles() + from](std::size_t i) { return v[i]; });
      else
        pack(j, [v = x[j].floats() + from](std::size_t i) { return static_cast<double>(v[i]); });
      progress.work(static_cast<double>(count));
    }
    if (constant_ != 0) pack(features_, [this](std::size_t) { return constant_; });
    filled_ = count;
    flush(factor, sum, progress);
  }
}

void GramBlock::flush(double factor, SymmetricMatrix& sum, const Progress& progress) {
  if (filled_ == 0) return;
  // Panels write to rows of their own. The kernel does some 16 multiply-adds in the time that Run counts for one.
  const double panel_work = static_cast<double>(filled_ * width * width) / 16;
  const Chunks chunks(static_cast<std::int64_t>(panels_), panel_work * static_cast<double>(panels_ + 1) / 2);
  progress.threads().run(chunks.count(), progress, [&](std::size_t chunk, const Progress& own) {
    const auto end = static_cast<std::size_t>(chunks.end(chunk));
    for (auto p = static_cast<std::size_t>(chunks.begin(chunk)); p < end; ++p) {
      simd().rank_update_d(packed_.data(), filled_, width * rows_, p, panels_, factor, sum.row(0), sum.stride());
      own.work(panel_work * static_cast<double>(panels_ - p));
    }
  });
  filled_ = 0;
}

}  // namespace margin
