// solve_interpolation_by_pool: the least weights that meet the targets of rows that are somewhere else.
//
// Update     find the least weights that meet the rows of the pool; ask all rows how far they are missed, and for those
//            that are missed most; put these into the pool; repeat.
// Bounds     Whatever meets all rows meets those of the pool: their dual value bounds the norm from below.
// Stop       when all rows are met to rounding; when rows of the pool contradict each other (proven); when a scan
//            brings no new row.
#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/certificate/check.hpp"
#include "core/certificate/final_status.hpp"
#include "core/problem/thresholds.hpp"
#include "core/scans/methods/pool.hpp"
#include "core/solvers/interval.hpp"

namespace margin {

namespace {

constexpr double accuracy = 1e-12;  // in units of the largest target

/// The interval of weights, with what a pool proves of all rows.
void add_proof(Certificate& c, const Certificate& proof) {
  c.support = proof.support;
  c.least_norm = proof.least_norm;
  c.lower = proof.lower;
  set_minimum_gap(c);
}

}  // namespace

ScanSolution solve_interpolation_by_pool(const ScanProblem& problem, const Options& options, ScanRun& run,
                                         MemoryBudget memory) {
  PoolSolver solver(problem, options, run, memory);
  const Objective objective = objective_of(problem.sample());
  ScanSolution best;
  Certificate proof;
  for (;;) {
    Solution s;
    {
      const Problem pool = problem.over(solver.pool().rows());
      s = solver.solve(pool, options.tolerance);
      const Certificate c = certify(pool, s.weights, s.intercept, s.dual, nullptr, run.progress());
      if (!(c.least_norm < proof.least_norm)) proof = c;
      solver.support(s);  // matters, should memory end
    }
    Question question = problem.question(s.weights, s.intercept);
    solver.ask_for_rows(question, 1);
    Answer answer = run.ask(question);
    const auto check =
        make_check(objective, {s.weights.data(), objective.intercept ? s.intercept.data() : nullptr, nullptr}, false);
    if (!check->merge(answer.numbers()))
      throw Error(ErrorKind::malformed, "the margin_state is not an answer to this question");
    Certificate c = check->certificate(run.progress());
    add_proof(c, proof);
    run.record(c.lower, c.upper);
    if (best.weights.size() == 0 || c.slack > best.certificate.slack) {
      best.weights = s.weights;
      best.intercepts = s.intercept;
      best.certificate = c;
      best.solver = s.solver;
    }
    const bool met = c.errors == 0 || c.slack >= -accuracy * c.largest_target;
    const bool contradictory = final_status(c, CertifiedProblem::interpolation, options.tolerance,
                                            Status::iteration_limit) == Status::not_separable;
    if (stops(run.run(), run.scans(), met && !contradictory, contradictory, best.status)) break;
    if (solver.grow(answer, 1)) continue;
    best.status = Status::optimal;  // rounding: the certificate tells whether this is good enough
    break;
  }
  add_proof(best.certificate, proof);  // of a later pool than the best weights are
  return best;
}

}  // namespace margin
