#include "core/kernel/low_rank.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "core/base/threads.hpp"
#include "core/simd/loops.hpp"

namespace margin {

namespace {
constexpr std::size_t block = 64;               // candidates at a time
constexpr std::size_t stretch = 8 * tile_rows;  // rows whose kernel values are at hand at a time
constexpr double negligible = 1e-6;             // of the diagonal: floats hold no more
}  // namespace

LowRankFactor::LowRankFactor(const KernelRows& rows, std::uint64_t seed, const Progress& progress)
    : rows_(rows), progress_(progress), random_(seed), unit_(largest_diagonal(rows)), left_(rows.size()) {
  for (std::size_t i = 0; i < left_.size(); ++i) left_[i] = unit_ > 0 ? rows.diagonal(i) / unit_ : 0;
}

bool LowRankFactor::grow(std::size_t rank) {
  while (pivots_.size() < rank) {
    std::vector<std::size_t> candidates = draw();
    if (candidates.empty()) return false;
    candidates.resize(std::min(candidates.size(), rank - pivots_.size()));
    add(candidates);
  }
  return true;
}

/// Different rows, in the order in which they were drawn; none where nothing is left.
std::vector<std::size_t> LowRankFactor::draw() {
  std::vector<double> sums(left_.size());
  double sum = 0;
  for (std::size_t i = 0; i < left_.size(); ++i) sums[i] = sum += left_[i] > negligible ? left_[i] : 0.0;
  progress_.work(static_cast<double>(left_.size()));
  std::vector<std::size_t> drawn;
  if (!(sum > 0)) return drawn;
  for (std::size_t k = 0; k < block; ++k) {
    const auto at =
        static_cast<std::size_t>(std::upper_bound(sums.begin(), sums.end(), random_.uniform() * sum) - sums.begin());
    if (at < sums.size() && std::find(drawn.begin(), drawn.end(), at) == drawn.end()) drawn.push_back(at);
  }
  return drawn;
}

void LowRankFactor::row(std::size_t i, float* out) const {
  for (const Panel& panel : panels_) {
    const float* const tile = panel.tiles.data() + i / tile_rows * tile_rows * panel.width + i % tile_rows;
    for (std::size_t k = 0; k < panel.width; ++k) *out++ = tile[k * tile_rows];
  }
}

/// K/u − F Fᵀ of these rows.
Eigen::MatrixXd LowRankFactor::left_among(const std::vector<std::size_t>& rows) const {
  const auto n = static_cast<Eigen::Index>(rows.size());
  KernelRows own(rows_.shared_kernel(), rows_.dimensions(), rows_.layout());
  std::vector<double> scratch;
  for (const std::size_t i : rows) own.append(rows_.row(i, scratch), progress_);
  Eigen::MatrixXd left(n, n), factor(static_cast<Eigen::Index>(rank()), n);
  std::vector<float> values(rank());
  KernelPoint point;
  for (Eigen::Index k = 0; k < n; ++k) {
    const auto at = static_cast<std::size_t>(k);
    own.set(point, at);
    double* const to = left.col(k).data();
    own.evaluate({&point}, 0, rows.size(), &to);
    left(k, k) = own.diagonal(at);
    left.col(k) /= unit_;
    row(rows[at], values.data());
    for (std::size_t j = 0; j < values.size(); ++j)
      factor(static_cast<Eigen::Index>(j), k) = static_cast<double>(values[j]);
    progress_.work(static_cast<double>(rows.size()) * rows_.operations() + static_cast<double>(rank()));
  }
  if (rank() > 0) left -= factor.transpose() * factor;
  progress_.work(static_cast<double>(n * n) * static_cast<double>(rank()));
  return left;
}

/// Which of the candidates would have been drawn one by one: each is kept with the probability of what those before it leave
/// of its diagonal.
std::vector<std::size_t> LowRankFactor::accepted(const Eigen::MatrixXd& left) {
  std::vector<std::size_t> kept;
  Eigen::MatrixXd rest = left;
  for (Eigen::Index k = 0; k < rest.rows(); ++k) {
    const double pivot = rest(k, k);
    if (!(pivot > negligible) || random_.uniform() * left(k, k) > pivot) continue;
    kept.push_back(static_cast<std::size_t>(k));
    const Eigen::VectorXd column = rest.col(k) / std::sqrt(pivot);
    rest -= column * column.transpose();
  }
  return kept;
}

void LowRankFactor::add(const std::vector<std::size_t>& candidates) {
  const Eigen::MatrixXd left = left_among(candidates);
  const std::vector<std::size_t> kept = accepted(left);
  if (kept.empty()) {  // nothing but rounding is left of these
    for (const std::size_t i : candidates) left_[i] = 0;
    return;
  }
  const auto n = static_cast<Eigen::Index>(kept.size());
  Eigen::MatrixXd among(n, n);
  std::vector<std::size_t> pivots;
  for (Eigen::Index a = 0; a < n; ++a) {
    const std::size_t own = kept[static_cast<std::size_t>(a)];
    pivots.push_back(candidates[own]);
    for (Eigen::Index b = 0; b < n; ++b)
      among(a, b) = left(static_cast<Eigen::Index>(own), static_cast<Eigen::Index>(kept[static_cast<std::size_t>(b)]));
  }
  const Eigen::LLT<Eigen::MatrixXd> factor(among);
  Panel panel{kept.size(), {}};
  fill(panel, pivots, factor.matrixL().solve(Eigen::MatrixXd::Identity(n, n)));
  panels_.push_back(std::move(panel));
  for (const std::size_t i : pivots) {
    left_[i] = 0;
    pivots_.push_back(static_cast<std::int64_t>(i));
  }
}

/// The new pivots as factors of all rows: their points, and their rows of F one after another.
LowRankFactor::Block LowRankFactor::block_of(const std::vector<std::size_t>& pivots,
                                             const Eigen::MatrixXd& inverse) const {
  Block block{pivots, std::vector<KernelPoint>(pivots.size()), std::vector<double>(pivots.size() * rank()), inverse};
  std::vector<float> values(rank());
  for (std::size_t p = 0; p < pivots.size(); ++p) {
    rows_.set(block.points[p], pivots[p]);
    row(pivots[p], values.data());
    std::copy(values.begin(), values.end(), block.factor.begin() + static_cast<std::ptrdiff_t>(p * rank()));
  }
  return block;
}

/// The columns of F that belong to new pivots: K/u − F Fᵀ of all rows with them, times L⁻ᵀ of what is left among them.
void LowRankFactor::fill(Panel& panel, const std::vector<std::size_t>& pivots, const Eigen::MatrixXd& inverse) {
  const std::size_t n = rows_.size(), width = panel.width, tiles = (n + tile_rows - 1) / tile_rows;
  panel.tiles.resize(tiles * tile_rows * width);
  const Block block = block_of(pivots, inverse);
  std::vector<const KernelPoint*> points;
  for (const KernelPoint& point : block.points) points.push_back(&point);
  const double operations =
      static_cast<double>(stretch * width) * (rows_.operations() + static_cast<double>(rank() + width) / 4);
  const Chunks stretches(static_cast<std::int64_t>((n + stretch - 1) / stretch), operations);
  progress_.threads().run(stretches.count(), progress_, [&](std::size_t k, const Progress& progress) {
    std::vector<double> kernel(width * stretch), products(width * tile_rows), tile(width * tile_rows);
    std::vector<double*> to;
    for (std::size_t p = 0; p < width; ++p) to.push_back(kernel.data() + p * stretch);
    for (std::int64_t s = stretches.begin(k); s < stretches.end(k); ++s) {
      const std::size_t from = static_cast<std::size_t>(s) * stretch, end = std::min(n, from + stretch);
      rows_.evaluate(points, from, end, to.data());
      for (std::size_t p = 0; p < width; ++p)
        if (pivots[p] >= from && pivots[p] < end) to[p][pivots[p] - from] = rows_.diagonal(pivots[p]);
      for (std::size_t first = from; first < end; first += tile_rows) {
        products_before(block, first, tile, products);
        const std::size_t count = std::min(tile_rows, end - first);
        for (std::size_t p = 0; p < width; ++p)
          for (std::size_t r = 0; r < tile_rows; ++r) {
            double& value = tile[p * tile_rows + r];
            value = r < count ? to[p][first - from + r] / unit_ - value : 0.0;
          }
        finish(block, panel, first, count, tile, products);
      }
      progress.work(operations);
    }
  });
}

/// F Fᵀ of a tile of rows with the block's pivots, into `tile`.
void LowRankFactor::products_before(const Block& block, std::size_t first, std::vector<double>& tile,
                                    std::vector<double>& products) const {
  std::vector<const double*> own(block.pivots.size());
  std::size_t done = 0;
  std::fill(tile.begin(), tile.end(), 0.0);
  for (const Panel& before : panels_) {
    for (std::size_t p = 0; p < own.size(); ++p) own[p] = block.factor.data() + p * rank() + done;
    simd().tile_dots_f(before.tiles.data() + first * before.width, own.data(), own.size(), before.width,
                       products.data());
    for (std::size_t v = 0; v < tile.size(); ++v) tile[v] += products[v];
    done += before.width;
  }
}

/// The panel's values of a tile of rows, and what they leave of the diagonal.
void LowRankFactor::finish(const Block& block, Panel& panel, std::size_t first, std::size_t count,
                           const std::vector<double>& tile, std::vector<double>& products) {
  const std::size_t width = panel.width;
  std::vector<const double*> inverse(width);
  for (std::size_t p = 0; p < width; ++p) inverse[p] = block.inverse.row(static_cast<Eigen::Index>(p)).data();
  simd().tile_dots_d(tile.data(), inverse.data(), width, width, products.data());
  float* const out = panel.tiles.data() + first * width;
  for (std::size_t v = 0; v < products.size(); ++v) out[v] = static_cast<float>(products[v]);
  for (std::size_t r = 0; r < count; ++r) {
    double taken = 0;
    for (std::size_t p = 0; p < width; ++p) {
      const auto value = static_cast<double>(out[p * tile_rows + r]);
      taken += value * value;
    }
    left_[first + r] = std::max(0.0, left_[first + r] - taken);
  }
}

Eigen::VectorXd LowRankFactor::of_pivots(const Eigen::VectorXd& weights) const {
  const auto m = static_cast<Eigen::Index>(rank());
  Eigen::MatrixXd factor = Eigen::MatrixXd::Zero(m, m);  // rows of the pivots: lower triangular but for rounding
  std::vector<float> values(rank());
  for (Eigen::Index i = 0; i < m; ++i) {
    row(static_cast<std::size_t>(pivots_[static_cast<std::size_t>(i)]), values.data());
    for (Eigen::Index j = 0; j <= i; ++j) factor(i, j) = static_cast<double>(values[static_cast<std::size_t>(j)]);
    progress_.work(static_cast<double>(m));
  }
  Eigen::VectorXd beta = weights;
  factor.triangularView<Eigen::Lower>().transpose().solveInPlace(beta);
  progress_.work(static_cast<double>(m) * static_cast<double>(m));
  return beta / unit_;
}

}  // namespace margin
