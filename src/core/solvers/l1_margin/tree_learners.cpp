#include "core/solvers/l1_margin/tree_learners.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/polled.hpp"
#include "core/base/threads.hpp"
#include "core/math/prefix_sums.hpp"

namespace margin {

/// The best tree that splits by column c first: of equals the one found first.
TreeLearners::Split TreeLearners::best_split(std::int32_t c, const double* v, const Progress& progress) const {
  const RankedColumns::Column& first = column(c);
  const std::size_t cuts = first.values.size() - 1, n = first.order.size();
  std::vector<Gain> below(cuts), above(cuts);
  PrefixSums sums;
  for (std::int32_t k = 0; k < static_cast<std::int32_t>(ranked_.columns().size()); ++k) {
    const RankedColumns::Column& second = column(k);
    const double steps = 8 * (1 + std::log2(static_cast<double>(second.values.size())));
    // The sum of the rows up to a threshold is subtracted, that of the others counts.
    const auto offer = [&](Gain& gain) {
      const double edge = std::max(sums.sum() - 2 * sums.lowest(), 2 * sums.highest() - sums.sum());
      if (edge > gain.edge) gain = {edge, k};
    };
    const auto join = [&](std::size_t at) {
      const std::uint32_t row = first.order[at];
      if (v[row] != 0) sums.add(second.ranks[row], v[row]);
      if (at % 64 == 0) progress.work(64 * steps);
      return first.ranks[row];
    };
    sums.reset(second.values.size(), progress);
    for (std::size_t at = 0; at + 1 < n; ++at)
      if (const std::uint32_t rank = join(at); rank != first.ranks[first.order[at + 1]]) offer(below[rank]);
    sums.reset(second.values.size(), progress);
    for (std::size_t at = n - 1; at > 0; --at)
      if (const std::uint32_t rank = join(at); rank != first.ranks[first.order[at - 1]]) offer(above[rank - 1]);
  }
  Split best;
  for (std::size_t r = 0; r < cuts; ++r)
    if (below[r].edge + above[r].edge > best.edge)
      best = {below[r].edge + above[r].edge, {c, static_cast<std::uint32_t>(r)}, below[r].column, above[r].column};
  progress.work(2.0 * static_cast<double>(cuts));
  return best;
}

/// The best stump, its negative or constant of column c on a side.
TreeLearners::Side TreeLearners::best_side(const Cut& split, bool above, std::int32_t c, const double* v,
                                           const Progress& progress) const {
  const std::vector<std::uint32_t>& of_split = column(split.column).ranks;
  const RankedColumns::Column& second = column(c);
  std::vector<double> at_rank(second.values.size(), 0.0);
  double sum = 0;
  polled_each(rows_, 4, progress, [&](std::int64_t i) {
    const auto row = static_cast<std::size_t>(i);
    if ((of_split[row] > split.rank) != above) return;
    at_rank[second.ranks[row]] += v[row];
    sum += v[row];
  });
  Side best{{}, sum < 0 ? -1.0 : 1.0};
  double edge = std::fabs(sum), until = 0;
  for (std::size_t r = 0; r + 1 < at_rank.size(); ++r) {
    until += at_rank[r];
    const double here = sum - 2 * until;
    if (!(std::fabs(here) > edge)) continue;
    edge = std::fabs(here);
    best = {{c, static_cast<std::uint32_t>(r)}, here < 0 ? -1.0 : 1.0};
  }
  progress.work(2.0 * static_cast<double>(at_rank.size()));
  return best;
}

WeakLearners::Best TreeLearners::best(const Eigen::VectorXd& v, const Progress& progress) {
  const auto count = static_cast<std::int64_t>(ranked_.columns().size());
  const Chunks splits(count, 1e3 * static_cast<double>(count) * static_cast<double>(rows_));  // large: one column each
  std::vector<Split> found(splits.count());
  progress.threads().run(splits.count(), progress, [&](std::size_t k, const Progress& own) {
    for (std::int64_t c = splits.begin(k); c < splits.end(k); ++c)
      if (const Split split = best_split(static_cast<std::int32_t>(c), v.data(), own); split.edge > found[k].edge)
        found[k] = split;
  });
  Split best;
  for (const Split& split : found)
    if (split.edge > best.edge) best = split;
  if (best.cut.column < 0) return {0, 0};  // no column tells two rows apart
  const Found tree{best.cut, best_side(best.cut, false, best.below, v.data(), progress),
                   best_side(best.cut, true, best.above, v.data(), progress)};
  const auto [at, is_new] = known_.emplace(
      std::array<std::int64_t, 8>{tree.split.column, tree.split.rank, tree.below.cut.column, tree.below.cut.rank,
                                  tree.below.above > 0 ? 1 : -1, tree.above.cut.column, tree.above.cut.rank,
                                  tree.above.above > 0 ? 1 : -1},
      found_.size());
  if (is_new) found_.push_back(tree);
  return {at->second, best.edge};
}

void TreeLearners::values(std::size_t learner, std::int64_t begin, std::int64_t end, double* out) const {
  const Found& tree = found_[learner];
  const auto is_above = [&](const Cut& cut, std::size_t row) { return column(cut.column).ranks[row] > cut.rank; };
  for (std::int64_t i = begin; i < end; ++i) {
    const auto row = static_cast<std::size_t>(i);
    const Side& side = is_above(tree.split, row) ? tree.above : tree.below;
    out[i] = side.cut.column < 0 || is_above(side.cut, row) ? side.above : -side.above;
  }
}

Stump TreeLearners::stump_of(const Cut& cut) const {
  const RankedColumns::Column& c = column(cut.column);
  return {c.feature, threshold_between(c.values[cut.rank], c.values[cut.rank + 1])};
}

TreeSide TreeLearners::side_of(const Side& side) const {
  if (side.cut.column < 0) return {-1, 0, side.above};
  const Stump stump = stump_of(side.cut);
  return {stump.feature, stump.threshold, side.above};
}

std::shared_ptr<const Basis> TreeLearners::basis(const std::vector<std::size_t>& used, std::int32_t dimensions) const {
  std::vector<Tree> trees;
  for (const std::size_t t : used)
    trees.push_back({stump_of(found_[t].split), side_of(found_[t].below), side_of(found_[t].above)});
  if (trees.empty()) trees.push_back({{0, 0.0}});
  return std::make_shared<StumpBasis>(std::move(trees), 2, dimensions);
}

}  // namespace margin
