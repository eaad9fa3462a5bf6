// The one interface of all solvers. Adding one = a file in solvers/, a line in solvers/registry.cpp, a row in
// docs/reference/solvers.md; the tests find it in the registry, and take what it can do from its record.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/progress.hpp"
#include "core/data/basis.hpp"
#include "core/problem/features.hpp"
#include "core/problem/problem.hpp"

namespace margin {

/// What a solver hands back: vectors, no claims. The claims are made by certificate/certificate.hpp, from these
/// vectors.
struct Solution {
  Weights weights;                     ///< outputs × d in the units of the rows; any positive scale for a hard margin
  std::shared_ptr<const Basis> basis;  ///< what the weights weigh; null: the features
  Eigen::VectorXd intercept;           ///< one per output; zeros without intercept
  /// rows × (1, or classes when multiclass). Hard margin: q ≥ 0 with any sum (multiclass: entry (i, c) weighs the
  /// pair "true class of i against c"). Soft margin: the signed α of each output.
  Weights dual;
  Weights multipliers;  ///< of constraints on the weights: Constraints::multipliers; empty without any
  Status status = Status::iteration_limit;
  std::int64_t iterations = 0;
  std::string solver;              ///< what ran, e.g. "cutting_plane" or "sdca+newton"
  std::vector<TracePoint> trace;   ///< empty unless options.history
  std::optional<TracePoint> last;  ///< what would be its last line; only of solvers that others go on from (sdca)
};

/// What a solver is for, stated beside its code. margin_solvers(), the choice of a solver and the check of options that
/// nobody reads are made from it; test/unit/solver_record_test.cpp compares it with what the solver does.
struct SolverRecord {
  enum Problems : unsigned {
    hard_margin = 1,
    soft_margin = 2,
    interpolation = 4,
    likelihood = 8,
    joint = 16,
    one_class = 32
  };
  enum Norms : unsigned { l1 = 1, between = 2, l2 = 4 };  ///< of the norm p: 1, 1 < p < 2, 2
  /// What may do a part of its work, in its way: all folds side by side (FoldAscent), the whole of a path of lambdas
  /// (train/sparse_path.cpp), newton from where it stands.
  enum Parts : unsigned { folds = 1, paths = 2, second_order = 4 };
  enum class Losses { none, exponential_or_logistic, piecewise, smooth, likelihoods, joint_forms, all };

  std::string_view name;
  std::string_view summary;  ///< one line, shown by margin_solvers()
  unsigned problems;         ///< of Problems
  unsigned norms;            ///< of Norms; of soft margins l2
  Losses losses;             ///< those that it follows
  /// It knows rows only through Problem::kernel, which is then never null; other solvers get problems without one.
  bool kernels;
  /// The options that it reads and that not every training does.
  std::vector<std::string_view> options;
  /// Of feature::Bits, what it takes beyond what `problems` and `kernels` say.
  unsigned features = 0;
  /// The same, what a problem must have.
  unsigned needs = 0;
  unsigned parts = 0;  ///< of Parts
  /// Besides its own, the names that its models report: it names what went on after it, or took its place.
  std::vector<std::string_view> reports = {};
  /// Of a variant: the solver that becomes this one where the options below are given as here.
  std::string_view variant_of = {};
  std::optional<bool> working_set = {}, accelerated = {};

  bool reads(std::string_view option) const;
  /// All features that its problems may have, but for those that it does not see (feature::around).
  unsigned takes() const;
  /// "hard margin", "soft margin, kernel" and so on, as margin_solvers() shows it.
  std::string problem() const;
};

/// What a problem asks of a solver, or what options say of a problem to come.
struct Demand {
  unsigned problem;  ///< of SolverRecord::Problems
  unsigned norm;     ///< of SolverRecord::Norms
  unsigned features;
  bool kernel, smooth;  ///< smooth: its loss is
};
Demand demand_of(const Problem& problem);
Demand demand_of(const Options& options);

/// Empty when a solver of this record can do it, otherwise why not, as a sentence fragment about the problem: "it has an
/// offset".
std::string refusal(const SolverRecord& record, const Demand& demand);

/// Stateless; one static instance per method.
class Solver {
 public:
  virtual ~Solver() = default;
  virtual const SolverRecord& record() const = 0;
  std::string_view name() const { return record().name; }
  /// Empty when the solver can do this problem, otherwise the reason it cannot, as a sentence fragment: what its record says,
  /// then its limit.
  std::string unsupported_reason(const Problem& problem) const;
  /// Estimate of the bytes that solve() will allocate, beyond the rows.
  virtual double workspace(const Problem& problem) const = 0;
  /// Never throws for lack of progress: it returns what it has with the status that says so.
  virtual Solution solve(const Problem& problem, const Options& options, const Progress& progress) const = 0;

 private:
  /// Why not, where that depends on sizes, or on a combination that no record tells.
  virtual std::string limit(const Problem&) const { return {}; }
};

/// Soft margins of one against the rest and of numbers.
constexpr unsigned one_vs_rest_or_numbers = feature::regression | feature::several_classes;

/// The registry, in the order of docs/reference/solvers.md: solvers and their variants.
const std::vector<const Solver*>& registered_solvers();

/// The registry without variants.
const std::vector<const Solver*>& all_solvers();

/// The solver of this name, or the one whose models report it; null: none, or `auto`.
const Solver* find_solver(std::string_view name);

/// Whether the options name no solver, or one that hands this part of its work over.
bool hands_over(const Options& options, SolverRecord::Parts part);

/// All names that models of a solver and its variants report; the option solver takes each of them.
std::vector<std::string_view> reported_names(const Solver& solver);

/// What the options' solver makes of their problem, before there is one.
Method method_of(const Options& options);

/// make_problem() for the solver of the options.
Problem make_problem(const Dataset& data, const Options& options, const Progress& progress = {});

/// The solver named in the options, or the one `auto` picks. Throws Error for an unknown name, or for a solver that
/// refuses the problem (with its reason).
const Solver& choose_solver(const Problem& problem, const Options& options);

/// What `auto` means for this problem (solvers/auto.cpp). Throws Error where a kernel suits no solver.
const Solver& solver_of_auto(const Problem& problem, const Options& options);

/// The same from the options alone: what follows from the rows is left open.
const Solver& likely_solver_of_auto(const Options& options);

/// Whether a training with these options does better with rows as codes (data/coded_rows.hpp), where there are any: second order
/// adds their histograms up, others would expand every row that they visit.
bool prefers_codes(const Options& options);

/// Whether the options leave a soft margin to `auto`, and newton could go on from what sdca leaves.
bool newton_may_go_on(const Problem& problem, const Options& options);

/// As many epochs of coordinate ascent cost what newton does where it may go on; infinity where it may not.
double epochs_before_newton(const Problem& problem, const Options& options);

}  // namespace margin
