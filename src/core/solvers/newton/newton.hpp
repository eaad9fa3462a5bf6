// What the parts of the solver "newton" share: one output's problem in the scale they solve it in, and its progress.
#pragma once

#include <algorithm>
#include <vector>

#include "core/base/random.hpp"
#include "core/loss/loss.hpp"
#include "core/solvers/newton/rows.hpp"
#include "core/solvers/run.hpp"

namespace margin {

struct NewtonProblem;

/// How many rows each one of a sample stands for that says enough of all of them: 16, 8 or 4; 1 where none does. Of a piecewise
/// linear loss the sample also says which rows are at a kink, and needs more rows for each column.
std::int64_t sample_stride(double rows, double columns, bool smooth);

/// f(i) for one of each `stride` consecutive rows, at random with a fixed seed: of rows whose order repeats itself, as days of a
/// week do, every 16th would be of some kinds and not of others.
template <class F>
void for_one_of_each(std::int64_t stride, std::int64_t rows, F&& f) {
  Random random(1);
  for (std::int64_t begin = 0; begin < rows; begin += stride)
    f(begin + random.below(static_cast<std::uint64_t>(std::min(stride, rows - begin))));
}

/// The rows whose solution the solvers start from: one of each `stride`. None where they would say too little.
struct RowSample {
  explicit RowSample(const NewtonProblem& problem);
  std::int64_t stride = 1;
  std::vector<std::int64_t> which;
};

/// F(w) = ½‖w‖² + Σ cost_i φ(<x_i, w>; y_i) = P(w)/λ for one output, with cost_i = c_i/(λW): w = Σ cost_i a_i x_i at
/// the optimum, a per unit of weight as in loss/loss.hpp. w includes the intercept's column, which ½‖w‖² leaves out where
/// it is free; then Σ cost_i a_i = 0.
struct NewtonProblem {
  /// How the linear systems are solved: with a matrix of columns × columns, or by products with the rows.
  enum class Systems { cholesky, conjugate_gradients };

  NewtonProblem(const Problem& problem, std::int32_t output, Systems systems, Run& run);
  /// The listed rows of `all`, each at `scale` times its cost.
  NewtonProblem(const NewtonProblem& all, const std::vector<std::int64_t>& which, double scale);

  NewtonRows rows;
  const Loss& loss;
  Systems systems;
  std::vector<double> y, cost;
};

/// w and the dual a of one output, start and result.
struct NewtonPoint {
  enum class Known { nothing, weights, both };

  std::vector<double> w, a;
  Known known = Known::nothing;          ///< what of the start comes from a previous model
  std::vector<double> multipliers = {};  ///< ν of the constraints; empty: all 0
};

/// The interval of the whole problem while one output after the other is solved.
class NewtonProgress {
 public:
  /// Outputs not yet solved count with 0 and P(0).
  NewtonProgress(const Problem& problem, double tolerance, Run& run);

  void begin(std::int32_t output) { output_ = output; }
  /// One iteration done: F and its dual value of the current output.
  void record(double primal, double dual);
  /// The interval is narrow enough. A tenth is left for the rounding bounds of the certificate.
  bool reached(double primal, double dual) const { return primal - dual <= wanted_gap(primal, dual); }
  double wanted_gap(double primal, double dual) const;
  bool exhausted(Status& why) const { return run_.exhausted(iterations_, why); }
  std::int64_t iterations() const { return iterations_; }

 private:
  Run& run_;
  double lambda_, tolerance_;
  std::int32_t output_ = 0;
  std::int64_t iterations_ = 0;
  std::vector<double> lower_, upper_;
};

/// Newton's method for a smooth loss; `point.w` is the start. `progress` null: a sample for a start, a loose solve.
Status newton_smooth(const NewtonProblem& problem, NewtonPoint& point, NewtonProgress* progress);

/// Augmented Lagrangian for a piecewise linear loss (smoothness() = 0), in rounds over the undecided rows.
Status newton_piecewise(const NewtonProblem& problem, NewtonPoint& point, NewtonProgress& progress);

}  // namespace margin
