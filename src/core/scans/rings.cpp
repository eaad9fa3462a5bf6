#include "core/scans/rings.hpp"

#include <algorithm>
#include <cmath>

#include "core/math/rounding.hpp"

namespace margin {

double Rings::slope(const Loss& loss, std::int32_t group) {
  const double y = loss.classification() ? 1 : 0;
  switch (group % sides) {
    case 2:
      return loss.project(infinity, y);
    case 3:
      return loss.project(-infinity, -y);
    default:
      return 0;
  }
}

std::vector<double> ring_edges(std::vector<double> distances, double scale) {
  constexpr double shares[rings_of_output - 1] = {0.02, 0.1, 0.3};
  // No ring is so narrow that rounding tells who is in it, and no row that is known lies at an edge.
  const double least = 1e-6 * scale, beyond = 1e-7 * scale;
  std::vector<double> edges;
  for (const double share : shares) {
    double edge = edges.empty() ? least : 2 * edges.back();
    if (!distances.empty()) {
      const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(distances.size() - 1));
      std::nth_element(distances.begin(), distances.begin() + at, distances.end());
      const double found = distances[static_cast<std::size_t>(at)];
      if (found < infinity) edge = std::max(edge, found + beyond);
    }
    edges.push_back(edge);
  }
  edges.push_back(infinity);
  return edges;
}

std::vector<RingSums> ring_sums(const Answer& answer, std::int32_t output, std::int32_t outputs, std::int32_t groups) {
  std::vector<RingSums> all(static_cast<std::size_t>(groups));
  const std::int64_t first = static_cast<std::int64_t>(output) * groups * Rings::sums;
  for (const Entry& cell : answer.cells()) {
    if (cell.at < first || cell.at >= first + static_cast<std::int64_t>(groups) * Rings::sums) continue;
    RingSums& ring = all[static_cast<std::size_t>((cell.at - first) / Rings::sums)];
    double* const numbers[] = {&ring.rows, &ring.weight, &ring.length, &ring.target, &ring.target_size};
    *numbers[(cell.at - first) % Rings::sums] = cell.value;
  }
  const Weights sums = answer.sums();
  for (std::int32_t g = 0; g < groups; ++g) {
    RingSums& ring = all[static_cast<std::size_t>(g)];
    if (!(ring.weight > 0)) continue;
    for (double* const v : {&ring.length, &ring.target, &ring.target_size}) *v /= ring.weight;
    ring.x.resize(static_cast<std::size_t>(sums.cols()));
    for (std::size_t j = 0; j < ring.x.size(); ++j)
      ring.x[j] = sums(outputs + output * groups + g, static_cast<Eigen::Index>(j)) / ring.weight;
  }
  return all;
}

}  // namespace margin
