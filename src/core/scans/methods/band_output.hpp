// One output of solve_by_bands: the rows in memory, the model that they and the linear pieces of all others are, its
// minimum, and the dual value that it proves.
#pragma once

#include <limits>
#include <memory>
#include <vector>

#include "core/scans/answered_check.hpp"
#include "core/scans/methods/held_rows.hpp"
#include "core/scans/rings.hpp"

namespace margin {

/// What a scan told, at its weights.
struct Scanned {
  Scanned(Question asked, Answer told, const Progress& progress)
      : question(std::move(asked)), answer(std::move(told)), check(answered_risk(question, answer, progress)) {}
  Question question;
  Answer answer;
  RiskCheck check;

  /// All rows nearer to a kink are in memory, per output.
  double reach(std::int32_t output) {
    Bag& bag = answer.bag(output);
    return bag.complete()   ? std::numeric_limits<double>::infinity()
           : bag.rows() > 0 ? std::max(0.0, bag.key(bag.rows() - 1))
                            : 0;
  }
};

/// Whether a step of a model, which takes a matrix of columns × columns, takes about as long as a scan of many rows.
inline bool wide_model(std::size_t columns) {
  constexpr std::size_t least = 512;
  return columns >= least && columns <= static_cast<std::size_t>(Answer::most_matrix_columns);
}

/// Each is a bound of the optimum from its side, for the same rows: throws Error(invalid_value) where they contradict each other.
void require_bound(double lower, double value);

class BandOutput {
 public:
  BandOutput(const ScanProblem& problem, std::int32_t output, std::size_t columns, double constant);

  /// The rows that the scan brought; its weights are the best ones unless P rose there.
  void take(const std::shared_ptr<Scanned>& scanned, const Progress& progress);
  /// Solves the model to a gap of its own of at most `wanted` (of P). A gap of `enough` needs no better proof.
  void solve_model(double wanted, double enough, ScanRun& run);

  /// Of the rings for a question at these weights.
  std::vector<double> edges(const Question& asked, const Progress& progress) const;

  std::vector<double> w;  ///< the next iterate, with the intercept's column
  std::shared_ptr<Scanned> best;
  double primal = std::numeric_limits<double>::infinity(), dual = 0, proximal = 0;
  std::shared_ptr<RiskCheck> proof;  ///< of `dual`

 private:
  struct Pieces;
  void forget();
  void minimise(Pieces& pieces, bool guess, double wanted, ScanRun& run);
  double smoothing(const NewtonProblem& part, const std::vector<double>& u) const;
  void prove(const Pieces& pieces, bool groups, const Progress& progress);
  void add_groups(const Pieces& pieces, std::vector<std::int64_t>& which, std::vector<double>& fixed) const;
  double& dual_of(const Pieces& pieces, std::int64_t row);
  std::int32_t label_of(bool positive) const;

  const ScanProblem& p_;
  std::int32_t output_;
  double constant_;
  HeldRows rows_;
  std::vector<double> a_;        // their dual values; NaN: new
  std::vector<double> group_a_;  // those of groups of other rows
  double kappa_ = 0;
};

}  // namespace margin
