// Groups of rows that lie at like distances from a kink of a piecewise linear loss. Rows that nobody keeps can have a dual
// value of their own only together: a scan adds up each group, and one value for all of its rows proves what rows tied at a
// kink, however many, would prove one by one.
#pragma once

#include <cstdint>
#include <vector>

#include "core/loss/points.hpp"
#include "core/scans/wire/answer.hpp"

namespace margin {

/// Rings between ascending distances from a kink, and in each the sides of it: rows of equal dual value settled_dual(),
/// those of 0 by class or by the sign of what they miss.
class Rings {
 public:
  static constexpr std::int32_t sides = 4;
  /// In cells: the number of rows, Σ c, Σ c ‖x‖, Σ c y, Σ c |y|.
  enum Sums : std::int32_t { rows, weight, length, targets, target_sizes, sums };

  /// `edges`: of each output as many, one output after the other.
  Rings(const std::vector<double>& edges, std::int32_t outputs)
      : edges_(edges), count_(static_cast<std::int32_t>(edges.size()) / outputs) {}

  /// Per output.
  std::int32_t groups() const { return count_ * sides; }
  /// The group of a row at this distance from a kink, with the dual value settled_dual(); −1 for none. `above`: of
  /// those of 0, on which side.
  std::int32_t group_of(std::int32_t output, double distance, double settled, bool above) const {
    const double* const edges = edges_.data() + static_cast<std::ptrdiff_t>(output) * count_;
    std::int32_t ring = 0;
    while (ring < count_ && !(distance <= edges[ring])) ++ring;
    if (ring == count_) return -1;
    return ring * sides + (settled > 0 ? 2 : settled < 0 ? 3 : above ? 1 : 0);
  }
  template <class L>
  static bool above(const L& loss, double u, double y) {
    return loss.classification() ? y > 0 : y > u;
  }
  std::int32_t group_of(const Loss& loss, std::int32_t output, double u, double y) const {
    return group_of(output, kink_distance(loss, u, y), settled_dual_of(loss, u, y), above(loss, u, y));
  }
  /// The dual value that rows of a group have at the weights.
  static double slope(const Loss& loss, std::int32_t group);

 private:
  const std::vector<double>& edges_;
  std::int32_t count_;
};

/// Edges for rows of which some are at these distances, the last one +∞; no score nor target, nor what rounding of them depends on, is larger
/// than `scale`.
std::vector<double> ring_edges(std::vector<double> distances, double scale);
constexpr std::int32_t rings_of_output = 4;

/// What a scan told about a group.
struct RingSums {
  double rows = 0, weight = 0, length = 0, target = 0, target_size = 0;  ///< all but the first per weight
  std::vector<double> x;                                                 ///< Σ c x/Σ c
};
/// Of each group of an output, in their order; the weight of one without rows is 0.
std::vector<RingSums> ring_sums(const Answer& answer, std::int32_t output, std::int32_t outputs, std::int32_t groups);

}  // namespace margin
