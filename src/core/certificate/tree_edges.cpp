#include "core/certificate/tree_edges.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/threads.hpp"
#include "core/math/prefix_sums.hpp"

namespace margin {

namespace {

/// edges[r]: raised to what the best stump or constant of a column adds, over the rows of rank r and less of the split
/// (`from` the first row), or those of more than r (from the last).
void raise_edges(const RankedColumns::Column& split, const RankedColumns::Column& side, const Eigen::VectorXd& v,
                 bool from_last, std::vector<double>& edges, const Progress& progress) {
  const std::size_t n = split.order.size();
  const double steps = 8 * (1 + std::log2(static_cast<double>(side.values.size())));
  PrefixSums sums;
  sums.reset(side.values.size(), progress);
  for (std::size_t k = 0; k < n; ++k) {
    const std::uint32_t row = split.order[from_last ? n - 1 - k : k], rank = split.ranks[row];
    if (k > 0) {
      const std::uint32_t last = split.ranks[split.order[from_last ? n - k : k - 1]];
      if (last != rank) {
        double& edge = edges[from_last ? rank : last];
        // A stump of threshold t adds Σ v − 2 Σ_{x ≤ t} v, a constant the same with all rows below, or none.
        for (const double below : {sums.lowest(), sums.highest()})
          edge = std::max(edge, std::fabs(sums.sum() - 2 * below));
      }
    }
    sums.add(side.ranks[row], v(row));
    if (k % 64 == 0) progress.work(64 * steps);
  }
}

}  // namespace

double largest_tree_edge(const RankedColumns& ranked, const Eigen::VectorXd& v, const Progress& progress) {
  const auto count = static_cast<std::int64_t>(ranked.columns().size());
  const Chunks splits(count, 1e3 * static_cast<double>(count) * static_cast<double>(v.size()));
  std::vector<double> largest(splits.count(), 0.0);
  progress.threads().run(splits.count(), progress, [&](std::size_t k, const Progress& own) {
    for (std::int64_t c = splits.begin(k); c < splits.end(k); ++c) {
      const RankedColumns::Column& split = ranked.columns()[static_cast<std::size_t>(c)];
      std::vector<double> below(split.values.size() - 1, 0.0), above = below;
      for (const RankedColumns::Column& side : ranked.columns()) {
        raise_edges(split, side, v, false, below, own);
        raise_edges(split, side, v, true, above, own);
      }
      for (std::size_t r = 0; r < below.size(); ++r) largest[k] = std::max(largest[k], below[r] + above[r]);
    }
  });
  return *std::max_element(largest.begin(), largest.end());
}

}  // namespace margin
