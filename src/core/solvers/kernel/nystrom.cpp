// nystrom: kernel machines of many rows, by a linear machine on the features of a few of them.
//
// Problem    λ/2 ‖w‖² + (1/W) Σ c_i φ(w(x_i) + b; y_i), b free and not regularised, any loss; more than two classes: one
//            against the rest. The exact problem: its kernel is not replaced, only what is searched.
// Update     with K ≈ u F Fᵀ of rank m (kernel/low_rank.hpp), a linear machine on the rows of F. Its weights are a function
//            Σ_s β_s k(x_s, ·) of m rows, whose value P is that of the exact problem. Its dual vector v = (1/W) Σ c_i a_i k(x_i, ·)
//            belongs to the exact problem too: its value there is lower by (1/2λW²) (ca)ᵀ(K − u F Fᵀ)(ca), which some rows
//            tell. As long as that is too much, m is doubled; the linear machine starts from the dual vector at hand.
// Stop       when P less that value is within the tolerance, when `n_components` or memory allow no more columns, or nothing is
//            left of K. The certificate takes all rows with a dual weight. Where `auto` came here and the doublings do not
//            promise an end, the solvers in the span of all rows begin anew.
// Source     C. K. I. Williams, M. Seeger, Using the Nyström method to speed up kernel machines, NIPS 13 (2000).
#include <algorithm>
#include <cmath>
#include <optional>

#include "core/base/polled.hpp"
#include "core/base/threads.hpp"
#include "core/kernel/low_rank.hpp"
#include "core/kernel/support_vectors.hpp"
#include "core/loss/loss.hpp"
#include "core/solvers/interval.hpp"
#include "core/solvers/margin_scan.hpp"
#include "core/solvers/one_vs_rest.hpp"

namespace margin {

extern const Solver& smo;
extern const Solver& kernel_newton;

namespace {

constexpr std::int64_t most_doublings = 32;
constexpr std::size_t first_rank = 256;
constexpr double linear_share = 0.2;  // of the tolerance: what the linear machine may leave
constexpr std::size_t told = 1024;    // rows that tell what K − u F Fᵀ takes

/// The rows of F with the outcomes of the problem.
Dataset features_of(const Problem& problem, const LowRankFactor& factor, const Progress& progress) {
  Dataset out(problem.data.outcome());
  out.classes() = problem.data.classes();
  std::vector<float> row(factor.rank());
  for (std::int64_t i = 0; i < problem.rows(); ++i) {
    factor.row(static_cast<std::size_t>(i), row.data());
    out.append(dense_row(row.data(), static_cast<std::int32_t>(row.size())), problem.data.label(i),
               problem.data.weight(i));
    progress.work(4 * static_cast<double>(row.size()));
  }
  return out;
}

/// The same problem of other features, without a kernel.
Problem linear_problem(const Problem& problem, const Dataset& features, double unit) {
  Problem p(features);
  static_cast<Statement&>(p) = problem;
  p.class_names = problem.class_names;
  p.label = problem.label;
  p.hard_margin = false;
  p.loss_name = problem.loss_name;
  p.row_weight = problem.row_weight;
  p.total_weight = problem.total_weight;
  p.target_constant = problem.target_constant;
  p.mean_count = problem.mean_count;
  p.own_target = problem.own_target;
  p.free_intercept = problem.intercept;
  p.lambda = problem.lambda / unit;
  return p;
}

/// Both ends of the exact problem's interval, from a solution of the linear one; the lower one is told by some rows.
class Ends {
 public:
  Ends(const Problem& problem, const KernelRows& rows, const LowRankFactor& factor, const Progress& progress)
      : problem_(problem), rows_(rows), factor_(factor), progress_(progress) {}
  void measure(const Problem& linear, const Solution& s);
  double lower = 0, upper = 0;

 private:
  double taken(const Eigen::VectorXd& q, const Eigen::VectorXd& image);

  const Problem& problem_;
  const KernelRows& rows_;
  const LowRankFactor& factor_;
  const Progress& progress_;
};

void Ends::measure(const Problem& linear, const Solution& s) {
  lower = upper = 0;
  const std::int64_t n = linear.rows();
  for (std::int32_t o = 0; o < linear.outputs(); ++o) {
    double loss = 0, conjugate = 0;
    Eigen::VectorXd q = Eigen::VectorXd::Zero(n), image = Eigen::VectorXd::Zero(linear.dimensions());
    for (std::int64_t i = 0; i < n; ++i) {
      const double c = linear.weight(i) / linear.total_weight, y = linear.target(i, o);
      progress_.work(static_cast<double>(linear.dimensions()));
      if (c == 0) continue;
      const Row x = linear.data.row(i);
      const double a = linear.loss->project(s.dual(i, o), y);
      loss += c * linear.loss->value(dot(x, s.weights.row(o).data()) + s.intercept(o), y);
      conjugate -= c * linear.loss->conjugate(a, y);
      q(i) = c * a;
      if (a != 0) add(q(i), x, image.data());
    }
    upper += linear.lambda / 2 * s.weights.row(o).squaredNorm() + loss;
    lower +=
        conjugate - image.squaredNorm() / (2 * linear.lambda) - std::max(0.0, taken(q, image)) / (2 * problem_.lambda);
  }
}

/// qᵀ(K − u F Fᵀ)q, from evenly spaced rows with a weight, and twice the standard error of that; `image`: Fᵀq.
double Ends::taken(const Eigen::VectorXd& q, const Eigen::VectorXd& image) {
  std::vector<std::size_t> active;
  for (Eigen::Index i = 0; i < q.size(); ++i)
    if (q(i) != 0) active.push_back(static_cast<std::size_t>(i));
  const std::size_t count = std::min(active.size(), told), n = rows_.size();
  if (count == 0) return 0;
  std::vector<double> parts(count);
  const Chunks chunks(static_cast<std::int64_t>(count), static_cast<double>(n) * rows_.operations());
  progress_.threads().run(chunks.count(), progress_, [&](std::size_t k, const Progress& progress) {
    KernelPoint point;
    std::vector<double> values(rows_of_poll);
    std::vector<float> row(factor_.rank());
    for (std::int64_t t = chunks.begin(k); t < chunks.end(k); ++t) {
      const std::size_t i = active[static_cast<std::size_t>(t) * active.size() / count];
      rows_.set(point, i);
      double sum = 0;
      for (std::size_t from = 0; from < n; from += rows_of_poll) {
        const std::size_t to = std::min(n, from + rows_of_poll);
        double* at = values.data();
        rows_.evaluate({&point}, from, to, &at);
        if (i >= from && i < to) values[i - from] = rows_.diagonal(i);
        sum += simd().dot_dd(values.data(), q.data() + from, to - from);
        progress.work(static_cast<double>(to - from) * rows_.operations());
      }
      factor_.row(i, row.data());
      for (std::size_t j = 0; j < row.size(); ++j)
        sum -= static_cast<double>(row[j]) * image(static_cast<Eigen::Index>(j)) * factor_.unit();
      parts[static_cast<std::size_t>(t)] = q(static_cast<Eigen::Index>(i)) * sum;
    }
  });
  double sum = 0, squares = 0;
  for (const double part : parts) sum += part;
  const double mean = sum / static_cast<double>(count);
  for (const double part : parts) squares += (part - mean) * (part - mean);
  const double error = count < active.size() ? std::sqrt(squares) / static_cast<double>(count) : 0;
  return static_cast<double>(active.size()) * (mean + 2 * error);
}

/// What solves the problem whatever is left of K.
const Solver& exact(const Problem& problem) { return problem.loss->smooth() ? kernel_newton : smo; }

class Nystrom final : public Solver {
 public:
  const SolverRecord& record() const override {
    static const SolverRecord record = {"nystrom",
                                        "kernel machine of many rows: a linear machine on the features of a few "
                                        "(Nyström), certified for the exact kernel",
                                        SolverRecord::soft_margin,
                                        SolverRecord::l2,
                                        SolverRecord::Losses::all,
                                        true,
                                        {"seed", "n_components"},
                                        one_vs_rest_or_numbers};
    return record;
  }
  double workspace(const Problem& p) const override {
    return KernelRows::bytes(p.data, *p.kernel) + 8 * static_cast<double>(p.rows()) * 64 + 3 * dual_bytes(p);
  }
  Solution solve(const Problem& problem, const Options& options, const Progress& progress) const override;

 private:
  std::optional<Solution> attempt(const Problem& problem, const Options& options, Run& run) const;
  /// Columns of F, its rows as features and a square matrix in `bytes`.
  static std::size_t most_columns(const Problem& problem, const Options& options, double bytes) {
    const double n = static_cast<double>(problem.rows()), each = 3 * LowRankFactor::bytes_per_value * n;
    return static_cast<std::size_t>(std::max(
        1.0, std::min({bytes / 2 / each, std::sqrt(bytes / 2 / 8), n, static_cast<double>(options.n_components)})));
  }
};

/// Weights on the rows for those on the columns of the factor.
Weights on_rows(const Problem& problem, const LowRankFactor& factor, const Weights& weights, const Progress& progress) {
  Weights coefficients = polled_zeros(problem.rows(), problem.outputs(), progress);
  for (std::int32_t o = 0; o < problem.outputs(); ++o) {
    const Eigen::VectorXd beta = factor.of_pivots(weights.row(o).transpose());
    for (std::size_t k = 0; k < factor.rank(); ++k)
      coefficients(factor.pivots()[k], o) = beta(static_cast<Eigen::Index>(k));
  }
  return coefficients;
}

/// Where the next linear machine, of `columns` columns, starts.
InitialModel start_of(const Solution& s, std::size_t columns) {
  InitialModel start;
  start.weights.assign(static_cast<std::size_t>(s.intercept.size()) * columns, 0.0);
  start.intercept.assign(s.intercept.data(), s.intercept.data() + s.intercept.size());
  start.dual_weights.assign(s.dual.data(), s.dual.data() + s.dual.size());
  return start;
}

/// Whether the interval, narrower with each doubling as in the last one (the first: a quarter), would be within `target` at the end.
bool promises(double before, double now, double target, std::size_t rank, std::size_t most) {
  const double doublings = std::log2(static_cast<double>(most) / static_cast<double>(rank));
  return now * std::pow(before > 0 ? now / before : 0.25, doublings) <= target;
}

/// Nothing where `auto` had better take another, or there is nothing to take: no row, or no number, has a size.
std::optional<Solution> Nystrom::attempt(const Problem& problem, const Options& options, Run& run) const {
  const Progress& progress = run.progress();
  const KernelRows rows = kernel_rows(problem.data, problem.kernel, progress);
  LowRankFactor factor(rows, options.seed, progress);
  const double left = std::max(0.0, options.workspace_limit - workspace(problem));
  const std::size_t most = most_columns(problem, options, left / 2);
  Solution s;
  Options part;  // what else the user asked for, the problem says
  part.seed = options.seed;
  part.tolerance = linear_share * options.tolerance;
  part.workspace_limit = left / 2;
  Status why;
  std::int64_t rounds = 0;
  double before = 0;
  for (std::size_t rank = std::min(first_rank, most);; rank = std::min(most, 2 * rank)) {
    const bool more = factor.grow(rank) && rank < most;
    if (!std::isnormal(problem.lambda / factor.unit()) || factor.rank() == 0) return std::nullopt;
    const Dataset features = features_of(problem, factor, progress);
    const Problem linear = linear_problem(problem, features, factor.unit());
    if (rounds > 0) part.initial = start_of(s, factor.rank());
    if (options.max_seconds) part.max_seconds = std::max(1e-3, *options.max_seconds - run.seconds());
    s = solver_of_auto(linear, part).solve(linear, part, progress);
    Ends ends(problem, rows, factor, progress);
    ends.measure(linear, s);
    run.record(++rounds, ends.lower, ends.upper);
    const double gap = ends.upper - ends.lower, target = certifiable * options.tolerance * ends.upper;
    if (stops(run, rounds, gap <= target, false, why)) break;
    if (options.solver == "auto" && !(more && promises(before, gap, target, rank, most))) return std::nullopt;
    if (!more) break;
    before = gap;
  }
  SupportVectors support = support_vectors(problem.data, rows, on_rows(problem, factor, s.weights, progress), progress);
  s.basis = std::move(support.basis);
  s.weights = std::move(support.weights);
  s.solver = name();
  s.status = why;
  s.iterations = rounds;
  s.trace = run.take_trace();
  s.last.reset();
  return s;
}

Solution Nystrom::solve(const Problem& problem, const Options& options, const Progress& progress) const {
  Run run(options, progress, name(), most_doublings);
  if (std::optional<Solution> s = attempt(problem, options, run)) return std::move(*s);
  Options rest = options;
  if (options.max_seconds) rest.max_seconds = std::max(1e-3, *options.max_seconds - run.seconds());
  return exact(problem).solve(problem, rest, progress);
}

const Nystrom nystrom_solver;

}  // namespace

extern const Solver& nystrom;
const Solver& nystrom = nystrom_solver;

}  // namespace margin
