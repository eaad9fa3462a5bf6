// newton: a second-order solver for regularised risks of few features (or few rows).
//
// Problem    min P(w) of certificate/risk.hpp, one output after the other (one against the rest), no elastic net. The
//            intercept is one more column, of the constant intercept_scale; a free one is of the constant 1, and no
//            penalty is on its weight.
// Update     smooth losses: Newton-Cholesky (solvers/newton/smooth.cpp); piecewise linear ones: an augmented Lagrangian
//            with a semismooth Newton method inside (solvers/newton/augmented_lagrangian.cpp). Fewer rows than
//            features: the same in the span of the rows (solvers/newton/row_span.cpp). newton_cg: the same methods in
//            the features, with conjugate gradients for their linear systems. Bounds of weights: solvers/newton/between_bounds.hpp. They start
//            from the solution of a sample of the rows, or from the initial model.
// Stop       P − D ≤ tolerance · max(|P|, |D|) for every output, hence for their sum.
// Source     the files above name theirs.
#include "core/solvers/newton/newton.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/huge_pages.hpp"
#include "core/problem/constraints.hpp"
#include "core/problem/offset.hpp"
#include "core/solvers/free_intercept.hpp"
#include "core/solvers/idle_outputs.hpp"
#include "core/solvers/newton/gram.hpp"
#include "core/solvers/newton/row_span.hpp"
#include "core/solvers/one_vs_rest.hpp"
#include "core/solvers/run.hpp"

namespace margin {

NewtonProblem::NewtonProblem(const Problem& problem, std::int32_t output, Systems with, Run& run)
    : rows(problem, run), loss(*problem.loss), systems(with) {
  const auto n = static_cast<std::size_t>(rows.rows());
  y = spread<double>(n);
  cost = spread<double>(n);
  constexpr double work = 8;
  const Chunks chunks(rows.rows(), work);
  rows.threads().run(chunks.count(), run.progress(), [&](std::size_t chunk, const Progress& progress) {
    const std::int64_t begin = chunks.begin(chunk), end = chunks.end(chunk);
    if (problem.row_weight.empty())
      std::fill(cost.begin() + begin, cost.begin() + end, 1 / problem.lambda / problem.total_weight);
    else
      for (std::int64_t i = begin; i < end; ++i)
        cost[static_cast<std::size_t>(i)] = problem.weight(i) / problem.lambda / problem.total_weight;
    for (std::int64_t i = begin; i < end; ++i) y[static_cast<std::size_t>(i)] = problem.target(i, output);
    progress.work(work * static_cast<double>(chunks.end(chunk) - chunks.begin(chunk)));
  });
}

NewtonProblem::NewtonProblem(const NewtonProblem& all, const std::vector<std::int64_t>& which, double scale)
    : rows(all.rows, which), loss(all.loss), systems(all.systems), y(which.size()), cost(which.size()) {
  for (std::size_t k = 0; k < which.size(); ++k) {
    y[k] = all.y[static_cast<std::size_t>(which[k])];
    cost[k] = scale * all.cost[static_cast<std::size_t>(which[k])];
  }
}

std::int64_t sample_stride(double rows, double columns, bool smooth) {
  const double least = std::max(256.0, (smooth ? 16 : 100) * columns);
  std::int64_t stride = 16;
  while (stride > 1 && rows < static_cast<double>(stride) * least) stride = stride > 4 ? stride / 2 : 1;
  return stride;
}

RowSample::RowSample(const NewtonProblem& problem) {
  if (problem.loss.quadratic() && !problem.rows.confined()) return;  // one step from anywhere
  const std::int64_t n = problem.rows.rows();
  stride = sample_stride(static_cast<double>(n), static_cast<double>(problem.rows.columns()), problem.loss.smooth());
  if (stride == 1) return;
  for_one_of_each(stride, n, [&](std::int64_t i) { which.push_back(i); });
}

NewtonProgress::NewtonProgress(const Problem& problem, double tolerance, Run& run)
    : run_(run),
      lambda_(problem.lambda),
      tolerance_(tolerance),
      lower_(static_cast<std::size_t>(problem.outputs()), 0.0),
      upper_(risk_of_constant(problem, 0, run)) {}

void NewtonProgress::record(double primal, double dual) {
  const auto o = static_cast<std::size_t>(output_);
  // Each end is a bound of its own, so the best of each so far is one too.
  upper_[o] = std::min(upper_[o], lambda_ * primal);
  lower_[o] = std::max(lower_[o], std::min(lambda_ * dual, upper_[o]));
  double lower = 0, upper = 0;
  for (std::size_t k = 0; k < lower_.size(); ++k) {
    lower += lower_[k];
    upper += upper_[k];
  }
  run_.record(iterations_++, lower, upper);
}

double NewtonProgress::wanted_gap(double primal, double dual) const {
  return 0.9 * tolerance_ * std::max(std::fabs(primal), std::fabs(dual));
}

namespace {

// An n × n or d × d matrix of doubles beyond this is 128 MB, and its factorisation takes seconds.
constexpr std::int32_t largest_system = 4096;

/// The constant that the intercept is the weight of.
double constant_of(const Problem& p) { return p.free_intercept ? 1.0 : p.intercept_scale; }

std::int64_t columns_of(const Problem& p) { return p.dimensions() + (p.intercept ? 1 : 0); }

/// The part of a previous model that belongs to output `o`. Throws Error(wrong_dimensions).
void start_from(const InitialModel& model, const Problem& p, std::int32_t o, NewtonPoint& point) {
  const auto n = static_cast<std::size_t>(p.rows()), d = static_cast<std::size_t>(p.dimensions());
  const auto k = static_cast<std::size_t>(p.outputs()), at = static_cast<std::size_t>(o);
  require_shape(model, k, d);
  const bool duals = model.dual_weights.size() == n * k;
  bool all_zero = duals;
  for (std::size_t i = 0; all_zero && i < n; ++i) all_zero = model.dual_weights[i * k + at] == 0;
  if (all_zero) return;  // an output that was not begun
  std::copy_n(model.weights.begin() + static_cast<std::ptrdiff_t>(at * d), d, point.w.begin());
  if (p.intercept && !model.intercept.empty()) point.w[d] = model.intercept[at] / constant_of(p);
  point.known = NewtonPoint::Known::weights;
  if (!duals) return;
  for (std::size_t i = 0; i < n; ++i) point.a[i] = model.dual_weights[i * k + at];
  point.known = NewtonPoint::Known::both;
}

using Systems = NewtonProblem::Systems;

Solution solve_rows(const Problem& p, const Options& options, Systems systems, std::string_view name, Run& run);

class Newton final : public Solver {
 public:
  const SolverRecord& record() const override {
    static const SolverRecord record = {
        "newton",
        "Newton with Cholesky (smooth losses), augmented Lagrangian with semismooth Newton (piecewise "
        "ones)",
        SolverRecord::soft_margin,
        SolverRecord::l2,
        SolverRecord::Losses::all,
        false,
        {"initial"},
        one_vs_rest_or_numbers | feature::bounds | feature::constraints | feature::offset | feature::free_intercept |
            feature::log_link};
    return record;
  }
  double workspace(const Problem& p) const override;
  Solution solve(const Problem& p, const Options& options, const Progress& progress) const override;

 private:
  std::string limit(const Problem& p) const override;
};

class NewtonCg final : public Solver {
 public:
  const SolverRecord& record() const override {
    static const SolverRecord record = {
        "newton_cg",
        "newton with conjugate gradients in place of Cholesky: any number of features, sparse rows",
        SolverRecord::soft_margin,
        SolverRecord::l2,
        SolverRecord::Losses::all,
        false,
        {"initial"},
        one_vs_rest_or_numbers | feature::bounds | feature::offset | feature::free_intercept | feature::log_link};
    return record;
  }
  double workspace(const Problem& p) const override;
  Solution solve(const Problem& p, const Options& options, const Progress& progress) const override;
};

/// In the features, whatever the number of rows: constraints are on their weights.
bool in_features(const Problem& p) { return p.rows() >= columns_of(p) || !p.constraints.empty(); }

std::string Newton::limit(const Problem& p) const {
  if (!p.constraints.empty() && columns_of(p) > largest_system)
    return "its weights are under constraints, and it has more than " + std::to_string(largest_system) + " features";
  if (p.offset >= 0 && !in_features(p)) return "it has an offset, and fewer rows than features";
  if (!p.bounds.empty() && !in_features(p)) return "its weights have bounds, and it has fewer rows than features";
  if (std::min<std::int64_t>(p.rows(), columns_of(p)) > largest_system)
    return "its linear systems are of the smaller of " + std::to_string(p.rows()) + " rows and " +
           std::to_string(p.dimensions()) + " features, at most " + std::to_string(largest_system);
  return {};
}

double Newton::workspace(const Problem& p) const {
  const auto n = static_cast<double>(p.rows());
  const auto system = in_features(p) ? columns_of(p) : std::min<std::int64_t>(p.rows(), columns_of(p));
  const double span =
      columns_of(p) > p.rows() || !p.bounds.empty() ? 2 : 0;  // with bounds both triangles of a matrix, twice
  // Of each end that holds: its normal, and the orthonormal basis and triangle of all of them.
  const double held = p.constraints.empty() ? 0 : 3;
  const double per_row = p.loss->smooth() ? 8 : 24;  // numbers of 8 bytes, beside the returned duals
  return 8 * n * (per_row + p.outputs()) + 8.0 * 256 * static_cast<double>(system) +
         (2 + span + held) * SymmetricMatrix::bytes(static_cast<std::size_t>(system));
}

Status solve_smooth(const NewtonProblem& problem, NewtonPoint& point, NewtonProgress& progress) {
  if (point.known == NewtonPoint::Known::nothing) {
    const RowSample sample(problem);
    if (!sample.which.empty()) {
      NewtonPoint start{point.w, std::vector<double>(sample.which.size(), 0.0)};
      newton_smooth(NewtonProblem(problem, sample.which, static_cast<double>(sample.stride)), start, nullptr);
      point.w = start.w;
    }
  }
  return newton_smooth(problem, point, &progress);
}

/// Weights that meet the constraints for outputs that time may not suffice for.
void begin_constrained(const Problem& p, const Options& options, Run& run, Solution& s) {
  std::vector<double> w(static_cast<std::size_t>(columns_of(p)), 0.0);
  hold_offset(p, w);
  meet_constraints(p, options, w, run);
  for (std::int32_t o = 0; o < p.outputs(); ++o)
    for (std::int32_t j = 0; j < p.dimensions(); ++j) s.weights(o, j) = w[static_cast<std::size_t>(j)];
  s.multipliers = Weights::Zero(p.outputs(), static_cast<Eigen::Index>(p.constraints.count()));
}

Solution solve_rows(const Problem& p, const Options& options, Systems systems, std::string_view name, Run& run) {
  const auto columns = static_cast<std::size_t>(columns_of(p));
  const auto n = static_cast<std::size_t>(p.rows());
  const std::int32_t d = p.dimensions();
  Solution s = zero_solution(p, name, run);
  if (!p.constraints.empty()) begin_constrained(p, options, run, s);
  NewtonProgress progress(p, options.tolerance, run);
  const auto solve_output = [&](std::int32_t o) {
    progress.begin(o);
    NewtonPoint point{std::vector<double>(columns, 0.0), spread<double>(n)};
    // Far below its place, an exponential says nothing of where that is.
    if (p.loss->log_link() && p.intercept) point.w[static_cast<std::size_t>(d)] = p.target_constant / constant_of(p);
    if (options.initial.has_value()) start_from(*options.initial, p, o, point);
    hold_offset(p, point.w);
    const NewtonProblem problem(p, o, systems, run);
    meet_constraints(p, options, point.w, run);
    const Status status =
        p.loss->smooth() ? solve_smooth(problem, point, progress) : newton_piecewise(problem, point, progress);
    for (std::int32_t j = 0; j < d; ++j) s.weights(o, j) = point.w[static_cast<std::size_t>(j)];
    if (p.intercept) s.intercept[o] = point.w[static_cast<std::size_t>(d)] * problem.rows.constant();
    for (std::size_t k = 0; k < point.multipliers.size(); ++k)
      s.multipliers(o, static_cast<Eigen::Index>(k)) = p.lambda * point.multipliers[k];
    if (p.free_intercept) balance(problem.cost, point.a);
    const Chunks chunks(p.rows(), 2);
    problem.rows.threads().run(chunks.count(), run, [&](std::size_t k, const Progress& own) {
      for (std::int64_t i = chunks.begin(k); i < chunks.end(k); ++i)
        s.dual(i, o) = point.a[static_cast<std::size_t>(i)];
      own.work(2.0 * static_cast<double>(chunks.end(k) - chunks.begin(k)));
    });
    return status;
  };
  const auto exhausted = [&](Status& why) { return progress.exhausted(why); };
  leave_idle(p, solve_outputs(p, s.status, solve_output, exhausted), s, run);
  s.iterations = progress.iterations();
  s.trace = run.take_trace();
  return s;
}

Solution Newton::solve(const Problem& p, const Options& options, const Progress& progress) const {
  Run run(options, progress, name(), 1000 * static_cast<std::int64_t>(p.outputs()));
  if (in_features(p)) return solve_rows(p, options, Systems::cholesky, name(), run);
  const RowSpan span(p, run);
  Options reduced = options;
  if (options.initial.has_value()) reduced.initial = span.reduce(*options.initial);
  Solution s = solve_rows(span.problem(), reduced, Systems::cholesky, name(), run);
  span.expand(s);
  return s;
}

double NewtonCg::workspace(const Problem& p) const {
  const double n = static_cast<double>(p.rows()), columns = static_cast<double>(columns_of(p));
  const double per_row = p.loss->smooth() ? 10 : 26;
  return 8 * n * (per_row + p.outputs()) + 8 * columns * (16.0 + p.outputs());
}

Solution NewtonCg::solve(const Problem& p, const Options& options, const Progress& progress) const {
  Run run(options, progress, name(), 1000 * static_cast<std::int64_t>(p.outputs()));
  return solve_rows(p, options, Systems::conjugate_gradients, name(), run);
}

const Newton newton_solver;
const NewtonCg matrix_free;

}  // namespace

extern const Solver& newton;
extern const Solver& newton_cg;
const Solver& newton = newton_solver;
const Solver& newton_cg = matrix_free;

}  // namespace margin
