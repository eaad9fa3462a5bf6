// What the methods that step through the rows of an lp margin share: an order of the rows, the interval after each
// epoch, and the solution.
#pragma once

#include <cmath>
#include <functional>

#include "core/base/progress.hpp"
#include "core/base/random.hpp"
#include "core/options/options.hpp"
#include "core/solvers/interval.hpp"
#include "core/solvers/lp_margin/dual_point.hpp"
#include "core/solvers/run.hpp"
#include "core/solvers/solver.hpp"

namespace margin {

/// The rows of one epoch after another in the order that the options ask for.
class RowOrder {
 public:
  RowOrder(std::vector<std::int64_t> rows, const Options& options);
  /// The order `proportional` needs what the rows are drawn in proportion to: ‖z_i‖_r², the constant of Lemma 1.
  bool needs_lengths() const { return order_ == Order::proportional && cumulative_.empty(); }
  void set_lengths(LpAscent& ascent, Run& run);
  /// Begin an epoch: a fresh permutation, unless the order is another.
  void shuffle();
  std::int64_t operator[](std::size_t k);
  std::size_t size() const { return rows_.size(); }

 private:
  std::vector<std::int64_t> rows_;
  Order order_;
  Random random_;
  std::vector<double> cumulative_;  // Σ ‖z_i‖_r² of the rows so far, over that of all
};

/// Keeps what is worth returning: the weights of the best epoch that separates all rows, and while there is none, or with
/// the outputs last and average, those of the last one; the row weights of the best upper bound.
class LpRecord {
 public:
  LpRecord(const Problem& problem, double scale, bool keep_best)
      : problem_(problem), scale_(scale), keep_best_(keep_best) {}
  /// Judges weights and α after an epoch, where what is below 0 counts as 0. The weights, of any positive scale, may be longer than the features. Costs a
  /// pass over the rows.
  void judge(const Eigen::VectorXd& alpha, const Eigen::VectorXd& weights, Run& run);
  const MarginBounds& bounds() const { return bounds_; }
  Solution solution(std::string name, Status status, std::int64_t epochs) const;

 private:
  const Problem& problem_;
  double scale_;
  bool keep_best_;
  MarginBounds bounds_;
  Weights weights_;
  Eigen::VectorXd offsets_, alpha_;
};

/// A method that steps through the rows in epochs.
struct EpochMethod {
  std::string name;
  bool constant;  ///< whether the intercept is a constant feature
  std::function<void(Eigen::VectorXd& alpha, LpAscent&, Run&)> epoch;
  std::function<bool()> settled = nullptr;  ///< whether further epochs would change nothing
  /// The weights after an epoch where they are not θ(u).
  std::function<const Eigen::VectorXd&()> weights = nullptr;
};

/// Epochs until the interval is within the tolerance, the rows are proven inseparable, a limit is met, or the method
/// has settled; the interval is measured after each.
Solution run_epochs(const Problem& problem, const Options& options, const Progress& progress,
                    const EpochMethod& method);

/// One epoch of steps along single rows: α_i and u move by step(<z_i, w>).
template <class Step>
void step_through(RowOrder& order, Eigen::VectorXd& alpha, LpAscent& ascent, Run& run, Step&& step) {
  LpDirection z;
  if (order.needs_lengths()) order.set_lengths(ascent, run);
  order.shuffle();
  for (std::size_t k = 0; k < order.size(); ++k) {
    const std::int64_t i = order[k];
    ascent.load(i, z);
    run.work(3.0 * static_cast<double>(z.values.size()));
    const double size = step(ascent.product(z));
    if (!(std::fabs(size) > 0)) continue;
    alpha(i) += size;
    ascent.move(z, size);
    run.work(20.0 * static_cast<double>(z.values.size()));
  }
}

/// Why these methods cannot do a problem (empty: they can), and the bytes that they take.
std::string lp_steps_limit(const Problem& problem);
double lp_steps_workspace(const Problem& problem);

/// All rows, or those of one class.
std::vector<std::int64_t> rows_of(const Problem& problem, int label = -1);

}  // namespace margin
