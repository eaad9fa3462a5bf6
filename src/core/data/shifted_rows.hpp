// Dense rows less the first of them. Sums of squares of rows that lie far from 0 would lose their spread to rounding;
// beside an intercept it makes no difference where features are measured from.
#pragma once

#include <vector>

#include "core/data/row.hpp"

namespace margin {

class ShiftedRows {
 public:
  /// `shifts` false: rows are left as they are.
  ShiftedRows(std::int32_t dimensions, bool shifts) : shifts_(shifts), dimensions_(dimensions) {}

  /// The row less the first one, each difference rounded once. A sparse row stays as it is once the origin is 0; beside
  /// an origin it becomes a dense one. Valid until the next call.
  Row place(const Row& x) {
    if (!shifts_) return x;
    const auto d = static_cast<std::size_t>(dimensions_);
    if (!known_) {
      known_ = true;
      if (x.indices == nullptr) {
        origin_.resize(d);
        for (std::size_t j = 0; j < d; ++j) origin_[j] = x.value(static_cast<std::int32_t>(j));
      }
    }
    if (origin_.empty()) return x;
    values_.resize(d);
    if (x.indices == nullptr) {
      for (std::size_t j = 0; j < d; ++j) values_[j] = x.value(static_cast<std::int32_t>(j)) - origin_[j];
    } else {
      for (std::size_t j = 0; j < d; ++j) values_[j] = -origin_[j];
      for (std::int32_t k = 0; k < x.count; ++k) {
        const auto j = static_cast<std::size_t>(x.indices[k]);
        values_[j] = x.value(k) - origin_[j];
      }
    }
    return {values_.data(), nullptr, dimensions_, true};
  }

  /// Empty: 0.
  const std::vector<double>& origin() const { return origin_; }
  bool known() const { return known_; }
  void set_origin(std::vector<double> origin) {
    origin_ = std::move(origin);
    known_ = true;
  }

 private:
  bool shifts_, known_ = false;
  std::int32_t dimensions_;
  std::vector<double> origin_, values_;
};

}  // namespace margin
