#include "core/problem/range.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/base/progress.hpp"
#include "core/math/rounding.hpp"

namespace margin {

namespace {

/// The largest size of `count` numbers and where it is.
class Largest {
 public:
  void add(double v) {
    if (!(std::fabs(v) <= size_)) {
      size_ = std::fabs(v);
      row_ = rows_;
    }
    ++rows_;
  }
  /// `what`: "the norm of row " or so.
  void require(const std::string& what, const std::string& hint) const {
    if (size_ <= largest_norm && (size_ == 0 || size_ >= smallest_norm)) return;
    throw Error(
        ErrorKind::invalid_value,
        what + std::to_string(row_ + 1) + " is " + (size_ < infinity ? describe(Value{size_}) : "Infinity") +
            (size_ > largest_norm ? ", expected at most 1e152" : ", the largest of all, expected 0 or at least 1e-152"),
        hint);
  }

 private:
  double size_ = 0;
  std::int64_t row_ = 0, rows_ = 0;
};

}  // namespace

void require_range(const Dataset& rows, const Progress& progress) {
  const std::string hint = "Scale the features, or leave such rows out with FILTER (WHERE ...).";
  if (!(rows.radius() <= largest_norm) || (rows.radius() > 0 && rows.radius() < smallest_norm)) {
    Largest norm;
    for (std::int64_t i = 0; i < rows.rows(); ++i) {
      norm.add(margin::norm(rows.row(i)));
      progress.work(rows.row(i).count + 16.0);
    }
    norm.require("the norm of row ", hint);
  }
  if (rows.outcome() != Dataset::Outcome::classes) {
    Largest target;
    for (std::int64_t i = 0; i < rows.rows(); ++i) {
      const double low = rows.target(i),
                   high = rows.outcome() == Dataset::Outcome::intervals ? rows.upper_target(i) : low;
      target.add(std::max(std::isfinite(low) ? std::fabs(low) : 0.0, std::isfinite(high) ? std::fabs(high) : 0.0));
      progress.work(4);
    }
    target.require("the size of the target of row ",
                   "Scale the targets, or leave such rows out with FILTER (WHERE ...).");
  }
  if (!rows.weighted()) return;
  Largest weight;
  for (std::int64_t i = 0; i < rows.rows(); ++i) {
    weight.add(rows.weight(i));
    progress.work(4);
  }
  weight.require("the weight of row ", "Only the ratios of row weights matter: scale them.");
}

void require_weight_range(const std::vector<double>& weights) {
  Largest weight;
  for (const double w : weights) weight.add(w);
  weight.require("with its class weight, the weight of row ",
                 "Only the ratios of weights matter: scale the row weights and the option \"class_weight\".");
}

}  // namespace margin
