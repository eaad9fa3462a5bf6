// boosting: the maximum l1 margin, by rounds of boosting or exactly, by row generation.
//
// Problem    max over ‖λ‖₁ ≤ 1 (and b) of the smallest margin min_i y_i (Σ_j λ_j h_j(x_i) + b); the weak learners h_j
//            are the features, all decision stumps, or all decision trees of depth 2 (data/stump_basis.hpp). More than two classes: one against the
//            rest.
// Update     by row generation: a linear program on a few rows and scans of all (solvers/l1_margin/linear_program.hpp),
//            the way of `auto`. Otherwise, and where no combination separates the rows: coordinate descent on the
//            exponential or the logistic loss with shrunken steps (solvers/l1_margin/rounds.hpp).
// Stop       when (upper − lower)/upper ≤ tolerance; when an upper bound of 1e-9 of the largest row proves that no
//            combination has a larger margin; then up to 300 rounds minimise the loss.
// Source     M. Telgarsky, Margins, shrinkage, and boosting, ICML 2013; linear programs with row generation:
//            A. Demiriz, K. Bennett, J. Shawe-Taylor, Linear programming boosting via column generation, 2002,
//            transposed; S. Shalev-Shwartz, Y. Singer, On the equivalence of weak learnability and linear
//            separability, COLT 2008 (step frank_wolfe).
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.hpp"
#include "core/loss/margin_loss.hpp"
#include "core/options/options.hpp"
#include "core/solvers/l1_margin/linear_program.hpp"
#include "core/solvers/l1_margin/rounds.hpp"
#include "core/solvers/l1_margin/stump_learners.hpp"
#include "core/solvers/l1_margin/tree_learners.hpp"
#include "core/solvers/margin_scan.hpp"
#include "core/solvers/one_vs_rest.hpp"
#include "core/solvers/output.hpp"
#include "core/solvers/run.hpp"

namespace margin {

namespace {

constexpr std::int64_t default_rounds = 10000;
constexpr std::int64_t rounds_of_risk = 300;  // on rows that are proven not separable
constexpr double default_shrinkage = 0.1;

// Made when they are asked for: what allocates while a library is loaded ends the process where memory is short.
const SolverRecord& rounds_record() {
  static const SolverRecord record = {
      "boosting",
      "maximum l1 margin: coordinate descent with shrinkage, or exact by linear programs (Telgarsky 2013)",
      SolverRecord::hard_margin,
      SolverRecord::l1,
      SolverRecord::Losses::exponential_or_logistic,
      false,
      {"shrinkage", "step", "learners", "working_set", "output", "gap_tolerance"},
      feature::several_classes | feature::stumps};
  return record;
}

const SolverRecord& linear_program_record() {
  static const SolverRecord record = {"linear_program",
                                      "maximum l1 margin: exact by linear programs on a small working set of rows",
                                      SolverRecord::hard_margin,
                                      SolverRecord::l1,
                                      SolverRecord::Losses::exponential_or_logistic,
                                      false,
                                      {"seed", "shrinkage", "step", "learners", "working_set"},
                                      feature::several_classes,
                                      0,
                                      0,
                                      {"linear_program+boosting"},
                                      "boosting",
                                      true};
  return record;
}

class Boosting final : public Solver {
 public:
  explicit constexpr Boosting(const SolverRecord& (*record)()) : record_(record) {}
  const SolverRecord& record() const override { return record_(); }
  double workspace(const Problem& p) const override {
    const double n = static_cast<double>(p.rows()), kernel = std::min({n, 1.0 * p.dimensions(), 1024.0});
    const double columns = p.learners == Learners::trees    ? TreeLearners::bytes(p.data)
                           : p.learners == Learners::stumps ? StumpLearners::bytes(p.data)
                                                            : Columns::bytes(p.data);
    return dual_bytes(p) + columns + 80 * n + 16 * kernel * (kernel + std::min(n, 4 * kernel));
  }
  Solution solve(const Problem& problem, const Options& options, const Progress& progress) const override;

 private:
  const SolverRecord& (*record_)();
};

BoostingRule rule_of(const Problem& problem, const Options& options) {
  BoostingRule rule;
  if (options.step == Step::theory || options.step == Step::inverse_root)
    throw Error(ErrorKind::unsupported, "solver \"boosting\" takes no steps of this name",
                "Its steps: quadratic, wolfe, adaboost, optimal, frank_wolfe.");
  rule.step = options.step == Step::automatic ? Step::wolfe : options.step;
  rule.shrinkage = options.shrinkage.value_or(default_shrinkage);
  rule.logistic = margin_loss(problem.loss_name) == MarginLoss::logistic;
  rule.intercept = problem.intercept;
  if (rule.step != Step::frank_wolfe) return rule;
  if (!(options.gap_tolerance > 0))
    throw Error(ErrorKind::unsupported, "option \"step\" => 'frank_wolfe' needs gap_tolerance",
                "Give the margin that may be missing: the loss is as sharp as this asks for.");
  if (options.shrinkage.has_value())
    throw Error(ErrorKind::unsupported, "option \"shrinkage\" is not used by step 'frank_wolfe'",
                "Leave it out: gap_tolerance says how fine the steps are.");
  if (rule.logistic)
    throw Error(ErrorKind::unsupported, "option \"step\" => 'frank_wolfe' takes the exponential loss alone",
                "Leave loss out, or give another step.");
  return rule;
}

std::vector<double> signs(const Problem& problem, std::int32_t output) {
  std::vector<double> y(static_cast<std::size_t>(problem.rows()));
  for (std::int64_t i = 0; i < problem.rows(); ++i) y[static_cast<std::size_t>(i)] = problem.target(i, output);
  return y;
}

void set_row_weights(L1Output& out, const Eigen::VectorXd& q) {
  out.row_weights.clear();
  for (Eigen::Index i = 0; i < q.size(); ++i)
    if (q(i) > 0) out.row_weights.emplace_back(i, q(i));
}

/// Rounds until the interval of this output is within `target`, or `limit` rounds are done.
L1Output solve_rounds(L1Rows& rows, std::int32_t output, WeakLearners& learners, const BoostingRule& rule,
                      bool keep_best, double target, std::int64_t limit, const Progress& progress) {
  BoostingRounds boosting(learners, signs(rows.problem, output), rule, progress);
  L1Output out;
  Eigen::VectorXd best_q;
  const auto offer = [&](double edge, const Eigen::VectorXd& q) {
    if (out.bounds.reduce(edge)) best_q = q;
  };
  std::vector<double> weights;
  std::int64_t next_average = 8;
  for (std::int64_t t = 1;; ++t) {
    offer(boosting.find(), boosting.row_weights());
    if (t == next_average) {
      next_average += 1 + next_average / 8;
      const Eigen::VectorXd q = boosting.averaged();
      offer(boosting.edge_of(q), q);
    }
    // An iteration is a step; before the first there is nothing to record.
    if (t > 1 && rows.stop(output, out.bounds, target, out.status, boosting.last_change(),
                           static_cast<std::int64_t>(boosting.last_learner()) + 1))
      break;
    if (out.bounds.upper <= no_margin) {
      out.status = Status::not_separable;
      break;
    }
    if (t > limit) break;
    boosting.step();
    if (!keep_best) out.bounds.lower = boosting.margin();
    if (keep_best && !out.bounds.raise(boosting.margin())) continue;
    out.intercept = boosting.offset();
    weights = boosting.weights();
  }
  // Without a separator the smallest margin says nothing about the weights: those of the smallest loss classify best.
  if (!(out.bounds.lower > 0)) {
    weights = boosting.weights();
    out.intercept = boosting.loss_offset();
  }
  weights.resize(learners.size(), 0.0);
  out.weights = Eigen::Map<const Eigen::VectorXd>(weights.data(), static_cast<Eigen::Index>(weights.size()));
  set_row_weights(out, best_q);
  return out;
}

/// Replaces the weights of rows that are proven not separable by those of a small loss.
void minimise_risk(L1Output& proven, L1Output rounds) {
  proven.weights = std::move(rounds.weights);
  proven.intercept = rounds.intercept;
}

/// New columns of zeros, for learners that were named since.
void widen(Weights& weights, Eigen::Index columns) {
  const Eigen::Index known = weights.cols();
  if (columns <= known) return;
  weights.conservativeResize(Eigen::NoChange, columns);
  weights.rightCols(columns - known).setZero();
}

/// The stumps or trees that carry a weight become the basis; one of weight 0 where rows are all alike. The history counts
/// them as the basis does.
void set_basis(Solution& s, const WeakLearners& learners, std::int32_t dimensions) {
  std::vector<std::size_t> used;
  for (std::size_t j = 0; j < learners.size(); ++j)
    if (s.weights.col(static_cast<Eigen::Index>(j)).cwiseAbs().maxCoeff() != 0) used.push_back(j);
  Weights weights = Weights::Zero(s.weights.rows(), std::max<Eigen::Index>(1, static_cast<Eigen::Index>(used.size())));
  for (std::size_t j = 0; j < used.size(); ++j)
    weights.col(static_cast<Eigen::Index>(j)) = s.weights.col(static_cast<Eigen::Index>(used[j]));
  for (TracePoint& point : s.trace) {
    const auto at = std::find(used.begin(), used.end(), static_cast<std::size_t>(point.learner - 1));
    point.learner = at == used.end() ? 0 : at - used.begin() + 1;
  }
  s.weights = std::move(weights);
  s.basis = learners.basis(used, dimensions);
}

std::unique_ptr<WeakLearners> make_learners(const Problem& problem, double scale, const Progress& progress) {
  if (problem.learners == Learners::trees) return std::make_unique<TreeLearners>(problem.data, progress);
  if (problem.learners == Learners::stumps) return std::make_unique<StumpLearners>(problem.data, progress);
  return std::make_unique<FeatureLearners>(problem, scale, progress);
}

Solution Boosting::solve(const Problem& problem, const Options& options, const Progress& progress) const {
  const bool own_basis = problem.learners != Learners::features;
  const bool working_set = record_ == linear_program_record;
  BoostingRule rule = rule_of(problem, options);
  const bool keep_best = working_set || output_of(options, name(), {Output::last}) != Output::last;
  Run run(options, progress, "boosting", default_rounds);
  L1Rows rows(problem, run);
  if (own_basis) rows.scale = 1;
  rows.gap = working_set ? 0 : options.gap_tolerance * rows.scale;
  rule.smoothing = rows.gap / (2 * std::log(std::max(2.0, static_cast<double>(problem.rows()))));
  std::unique_ptr<WeakLearners> learners;
  const double target = certifiable * options.tolerance;
  const auto rounds = [&](std::int32_t o, std::int64_t limit) {
    if (learners == nullptr) learners = make_learners(problem, rows.scale, progress);
    return solve_rounds(rows, o, *learners, rule, keep_best, target, limit, progress);
  };
  const auto exact = [&](std::int32_t o) {
    L1Output out = solve_linear_program(rows, o, target, options.seed);
    Status why;
    if (out.status == Status::not_separable && !run.exhausted(rows.iterations - rows.of_earlier, why))
      minimise_risk(out, rounds(o, rounds_of_risk));
    return out;
  };
  Solution s = zero_solution(problem, name(), progress);
  if (own_basis) s.weights.resize(problem.outputs(), 0);
  solve_outputs(problem, s.status, [&](std::int32_t o) {
    rows.of_earlier = rows.iterations;
    const L1Output out = working_set ? exact(o) : rounds(o, run.max_iterations());
    widen(s.weights, out.weights.size());
    s.weights.row(o).head(out.weights.size()) = out.weights.transpose();
    s.intercept(o) = out.intercept / rows.scale;
    for (const auto& [i, q] : out.row_weights) s.dual(i, o) = q;
    return out.status;
  });
  s.trace = run.take_trace();
  s.solver = !working_set ? "boosting" : learners == nullptr ? "linear_program" : "linear_program+boosting";
  if (own_basis) {
    widen(s.weights, static_cast<Eigen::Index>(learners->size()));
    set_basis(s, *learners, problem.dimensions());
  }
  s.iterations = rows.iterations;
  return s;
}

const Boosting boosting_solver(rounds_record), by_linear_programs(linear_program_record);

}  // namespace

extern const Solver& boosting;
extern const Solver& linear_program;
const Solver& boosting = boosting_solver;
const Solver& linear_program = by_linear_programs;

}  // namespace margin
