// dual_ascent: the maximum lp margin, 1 < p <= 2, one class against the rest. For p = 2 the exact solver of the l2
// margin is faster than any other; below, Newton's method on a small pool of rows (dual_ascent_pool.cpp).
// Raj & Bach, Explicit Regularization of Stochastic Gradient Methods through Duality (2021), Section 3.
#include "../hard_margin.hpp"
#include "../one_vs_rest.hpp"
#include "dual_ascent_pool.hpp"

namespace margin {

extern const Solver& cutting_plane;

namespace {

class DualAscent final : public Solver {
 public:
  std::string_view name() const override { return "dual_ascent"; }
  std::string_view problem() const override { return "hard margin"; }
  std::string_view summary() const override {
    return "maximum lp margin, 1 < p <= 2: randomised dual coordinate ascent, or Newton's method on a small pool of "
           "rows";
  }
  std::string refusal(const Problem& p) const override {
    if (!p.hard_margin) return "it separates without errors, and lambda asks for a soft margin";
    return p.norm > 1 ? "" : "the l1 norm has no smooth dual; boosting maximises the l1 margin";
  }
  double workspace(const Problem& p) const override {
    return cutting_plane.workspace(p) + 24.0 * static_cast<double>(p.rows()) + 4096.0 * p.dimensions();
  }
  Solution solve(const Problem& problem, const Settings& settings, Monitor& monitor) const override {
    if (problem.norm == 2) return cutting_plane.solve(problem, settings, monitor);
    return solve_one_vs_rest(problem, settings, monitor, solve_lp_pool);
  }
};

const DualAscent instance;

}  // namespace

const Solver& dual_ascent = instance;

}  // namespace margin
