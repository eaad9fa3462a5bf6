#include "core/solvers/newton/code_blocks.hpp"

#include <algorithm>

namespace margin {

CodeBlocks::CodeBlocks(const CodeLayout& layout, const double* sums) {
  for (const CodedTerm& t : layout.terms) {
    if (t.steps == 0) continue;
    const Block b{static_cast<std::size_t>(t.first), static_cast<std::size_t>(t.steps), inverse_.size()};
    const double* const above = sums + b.first;  // Σ c of the rows that are above each step
    for (std::size_t k = 0; k < b.steps; ++k) {
      const bool last = k + 1 == b.steps;
      const double g = std::max(0.0, above[k] - (last ? 0.0 : above[k + 1]));
      inverse_.push_back(1 / (g + (last ? 1 : 2) - (k > 0 ? inverse_.back() : 0.0)));
    }
    blocks_.push_back(b);
  }
}

void CodeBlocks::solve(const double* r, double* z) const {
  for (const Block& b : blocks_) {
    const double* const from = r + b.first;
    const double* const inverse = inverse_.data() + b.at;
    double* const to = z + b.first;
    for (std::size_t k = 0; k < b.steps; ++k)
      to[k] = from[k] - (k + 1 < b.steps ? from[k + 1] : 0.0) + (k > 0 ? to[k - 1] * inverse[k - 1] : 0.0);
    for (std::size_t k = b.steps; k-- > 0;) to[k] = inverse[k] * (to[k] + (k + 1 < b.steps ? to[k + 1] : 0.0));
    for (std::size_t k = b.steps; k-- > 1;) to[k] -= to[k - 1];
  }
}

}  // namespace margin
