// batch_perceptron: supergradient ascent on the smallest margin itself.
//
// Problem    max over ‖w‖ ≤ 1 (and b) of the smallest margin.
// Update     w ← w + z of the row with the smallest margin (with a free intercept, two classes: the mean of the
//            worst row of each class), rows scaled by one power of two.
// Stop       (upper − lower)/upper ≤ tolerance; the upper bound is the average of the rows added: ‖w_t‖/t.
// Source     A. Cotter, S. Shalev-Shwartz, N. Srebro, The kernelized stochastic batch perceptron, ICML 2012, as used
//            by Ji, Srebro & Telgarsky (2021), Figure 1.
#include <limits>

#include "core/base/polled.hpp"
#include "core/math/norm.hpp"
#include "core/solvers/l2_margin/first_order.hpp"
#include "core/solvers/output.hpp"
#include "core/solvers/run.hpp"

namespace margin {

namespace {

class BatchPerceptron final : public Solver {
 public:
  const SolverRecord& record() const override {
    static const SolverRecord record = {
        "batch_perceptron",
        "baseline: adds the row of smallest margin in every pass (Cotter, Shalev-Shwartz, Srebro 2012)",
        SolverRecord::hard_margin,
        SolverRecord::l2,
        SolverRecord::Losses::none,
        false,
        {"output"},
        feature::several_classes};
    return record;
  }
  double workspace(const Problem& p) const override { return dual_bytes(p) + 24.0 * p.dimensions() * p.outputs(); }
  Solution solve(const Problem& problem, const Options& options, const Progress& progress) const override;

 private:
  std::string limit(const Problem& p) const override {
    return p.outputs() > 1 && p.intercept ? "it has more than two classes, which need intercept => false" : "";
  }
};

/// The row of smallest margin among the worst of each class.
Pair least_of(const std::vector<Pair>& worst, const PairMargins& seen) {
  const Pair* least = &worst.front();
  double value = std::numeric_limits<double>::infinity();
  for (const Pair& p : worst)
    if (seen.pair.row(p.own).minCoeff() < value) {
      value = seen.pair.row(p.own).minCoeff();
      least = &p;
    }
  return *least;
}

/// w += share · scale · z
void add_pair(const Problem& problem, const Pair& p, double share, double scale, Weights& w, Weights& dual) {
  const Row x = problem.data.row(p.row);
  const double a = share * scale;
  if (problem.outputs() == 1) {
    add(p.own == 1 ? a : -a, x, w.data());
    dual(p.row, 0) += share;
  } else {
    add(a, x, w.row(p.own).data());
    add(-a, x, w.row(p.rival).data());
    dual(p.row, p.rival) += share;
  }
}

Solution BatchPerceptron::solve(const Problem& problem, const Options& options, const Progress& progress) const {
  Run run(options, progress, name(), 10000);
  const bool keep_best = output_of(options, name(), {Output::last}) != Output::last;
  MarginStop stop(options, run);
  const double scale = unit_scale(problem.data.radius());
  Solution s;
  s.solver = name();
  s.dual = polled_zeros(problem.rows(), problem.outputs(), progress);
  Weights w = Weights::Zero(problem.outputs(), problem.dimensions());
  BestMargin best;
  std::vector<Pair> worst;
  for (std::int64_t t = 0;; ++t) {
    const PairMargins seen = scan(problem, w, run, 1, nullptr, &worst);
    const double norm = w.norm();
    if (!keep_best) best = {{-std::numeric_limits<double>::infinity(), best.bounds.upper}, {}, {}};
    best.offer(norm > 0 ? seen.best.value / norm : best.bounds.lower, w, seen.best.offset);
    if (t > 0) best.bounds.upper = norm / (static_cast<double>(t) * scale);
    s.iterations = t + 1;
    if (stop(s.iterations, best.bounds, s.status)) break;
    if (!problem.intercept) worst.assign(1, least_of(worst, seen));
    for (const Pair& p : worst) add_pair(problem, p, problem.intercept ? 0.5 : 1.0, scale, w, s.dual);
  }
  if (!(best.bounds.lower > 0)) {
    best.weights = w;
    best.offsets = scan(problem, w, run).best.offset;
  }
  s.weights = std::move(best.weights);
  s.intercept = intercept_of(problem, best.offsets);
  s.trace = run.take_trace();
  return s;
}

const BatchPerceptron batch_perceptron_solver;

}  // namespace

const Solver& batch_perceptron = batch_perceptron_solver;

}  // namespace margin
