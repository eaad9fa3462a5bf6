// A model of solve_by_bands over more features than a matrix of them has room for: dual coordinate ascent.
#pragma once

#include <vector>

#include "core/solvers/newton/newton.hpp"

namespace margin {

/// min ½‖w‖² − <fixed, w> + Σ cost_i φ(<x_i, w>) for a piecewise linear loss, from the dual values `a`, each in its
/// domain, which are improved until the gap is at most `wanted`, or `most_epochs` epochs have passed. w = fixed + Σ cost a x
/// comes back. Rows are visited in a random order that follows from `seed`; those at an end of their domain, far from
/// leaving it, are passed over until all others are done.
/// Source: Hsieh, Chang, Lin, Keerthi & Sundararajan (2008), Algorithms 1 and 3.
std::vector<double> box_ascent(const NewtonProblem& part, const std::vector<double>& fixed, std::vector<double>& a,
                               double wanted, int most_epochs, std::uint64_t seed);

}  // namespace margin
