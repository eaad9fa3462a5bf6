// Decision stumps, and decision trees of depth 2, as the basis of a model.
//
// A stump is +1 where feature f of the row is above a threshold t, else −1. A tree of depth 2 splits the rows so, and says on
// each side of the split what a stump, its negative or a constant says: ±1 at each of its leaves.
#pragma once

#include <vector>

#include "core/data/basis.hpp"

namespace margin {

struct Stump {
  std::int32_t feature;
  double threshold;
  double operator()(double value) const { return value > threshold ? 1.0 : -1.0; }
};

/// What a tree says on one side of its split: `above` where a feature is above a threshold, else −above.
struct TreeSide {
  std::int32_t feature = -1;  ///< −1: `above` for all rows
  double threshold = 0;
  double above = 1;  ///< +1 or −1
  double operator()(const Row& x) const { return feature < 0 || value_at(x, feature) > threshold ? above : -above; }
};

/// With constant sides, the one below −1, it is a stump.
struct Tree {
  Stump split;
  TreeSide below{-1, 0, -1}, above{};
  double operator()(const Row& x) const { return value_at(x, split.feature) > split.threshold ? above(x) : below(x); }
};

/// A threshold between two neighbouring values of a column: `below` is not above it, `above` is.
double threshold_between(double below, double above);

/// The stumps or trees of a model.
class StumpBasis final : public Basis {
 public:
  StumpBasis(const std::vector<Stump>& stumps, std::int32_t dimensions);
  /// `depth`: 1 where all are stumps, 2.
  StumpBasis(std::vector<Tree> trees, std::int32_t depth, std::int32_t dimensions)
      : Basis(Kind::stumps), trees_(std::move(trees)), depth_(depth), dimensions_(dimensions) {}
  std::int32_t size() const override { return static_cast<std::int32_t>(trees_.size()); }
  std::int32_t dimensions() const override { return dimensions_; }
  std::int32_t depth() const { return depth_; }
  void evaluate(const Row& x, double* values) const override;
  const std::vector<Tree>& trees() const { return trees_; }

 private:
  std::vector<Tree> trees_;
  std::int32_t depth_, dimensions_;
};

/// The same basis as what it is; null where it is none or of another kind.
inline const StumpBasis* stumps_of(const Basis* basis) {
  return basis != nullptr && basis->kind() == Basis::Kind::stumps ? static_cast<const StumpBasis*>(basis) : nullptr;
}

}  // namespace margin
