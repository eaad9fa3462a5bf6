// Rows that a pass need not read: their margins were large when they were read last, and the weights have moved too
// little since for them to be small now.
//
// Weights that move from w to αw + r change the margin m of a row x to at least αm − ‖r‖·‖x‖. Along a path of such moves,
// with P the product of the α and S the sum of ‖r‖/P, margin/P + S·radius never falls; so one number per row, its value when
// the row was read, bounds its margin ever after.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/base/matrix.hpp"

namespace margin {

class FarRows {
 public:
  /// `radius`: the largest ‖x‖.
  FarRows(std::int64_t rows, double radius)
      : radius_(radius), key_(static_cast<std::size_t>(rows), -std::numeric_limits<double>::infinity()) {}

  /// The weights (1 × features) whose margins are asked for from now on.
  void move_to(const Weights& w) {
    const double square = w_.squaredNorm(), along = w_.size() == w.size() ? w_.cwiseProduct(w).sum() : 0;
    const double alpha = square > 0 ? along / square : 0;
    // What rounding may have added up to, in a margin: far less than the thresholds that are asked about.
    const double rounding = 1e-15 * (static_cast<double>(w.size()) + ++moves_) * radius_ * w.norm();
    // Not for weights that turn back or leap, nor where numbers would run out.
    if (alpha > 0.5 && alpha < 1e9 && scale_ < 1e90 && rounding < 1) {
      scale_ *= alpha;
      path_ += (w - alpha * w_).norm() / scale_;
    } else {
      std::fill(key_.begin(), key_.end(), -std::numeric_limits<double>::infinity());
      scale_ = 1;
      path_ = moves_ = 0;
    }
    w_ = w;
  }

  /// Row i was read, and its margin is this.
  void read(std::int64_t i, double margin) { key_[static_cast<std::size_t>(i)] = margin / scale_ + path_ * radius_; }

  /// The key that rows have whose margins are certainly above `margin`, or more.
  double key_above(double margin) const { return margin / scale_ + path_ * radius_; }
  double key(std::int64_t i) const { return key_[static_cast<std::size_t>(i)]; }

 private:
  double radius_;
  std::vector<double> key_;
  Weights w_;
  double scale_ = 1, path_ = 0, moves_ = 0;
};

}  // namespace margin
