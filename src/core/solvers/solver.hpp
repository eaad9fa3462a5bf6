// The one interface of all solvers. Adding one = a file in solvers/, a line in solvers/registry.cpp, a row in
// docs/reference.md; the conformance tests find it in the registry.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/monitor.hpp"
#include "core/data/basis.hpp"
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
  Status status = Status::iteration_limit;
  std::int64_t iterations = 0;
  std::string solver;              ///< what ran, e.g. "cutting_plane" or "sdca+newton"
  std::vector<TracePoint> trace;   ///< empty unless options.history
  std::optional<TracePoint> last;  ///< what would be its last line; only of solvers that others go on from (sdca)
};

/// Stateless; one static instance per method.
class Solver {
 public:
  virtual ~Solver() = default;
  virtual std::string_view name() const = 0;
  virtual std::string_view problem() const = 0;  ///< "hard margin" or "soft margin", as margin_solvers() shows it
  virtual std::string_view summary() const = 0;  ///< one line, shown by margin_solvers()
  /// It knows rows only through Problem::kernel, which is then never null; other solvers get problems without one.
  virtual bool takes_kernels() const { return false; }
  /// Empty when the solver can do this problem, otherwise the reason it cannot, as a sentence fragment.
  virtual std::string unsupported_reason(const Problem& problem) const = 0;
  /// Estimate of the bytes that solve() will allocate, beyond the rows.
  virtual double workspace(const Problem& problem) const = 0;
  /// Never throws for lack of progress: it returns what it has with the status that says so.
  virtual Solution solve(const Problem& problem, const Options& options, Monitor& monitor) const = 0;
};

/// The registry, in the order of docs/reference.md.
const std::vector<const Solver*>& all_solvers();

/// Whether the solver named in the options is one that takes kernels.
bool names_kernel_solver(const Options& options);

/// The solver named in the options, or the one `auto` picks. Throws Error for an unknown name, or for a solver that
/// refuses the problem (with its reason).
const Solver& choose_solver(const Problem& problem, const Options& options);

}  // namespace margin
