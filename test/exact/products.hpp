// What is claimed beyond the certificate of a training: where the optimum is, at other lambdas, without a row, and of other
// forms of problem. Every family draws a small hard problem, lets the core claim what it can, and holds it against optima
// of its own (oracle.hpp).
#pragma once

#include <functional>

#include "cases.hpp"
#include "core/model/model.hpp"
#include "oracle.hpp"

namespace exact {

/// What one problem showed.
struct Claims {
  long made = 0, optima = 0, missing = 0;  ///< claims that were compared; optima; those that were not found
  std::vector<std::string> wrong;

  /// `low` ≤ what is known to be in [exact − error, exact + error].
  void at_most(double low, const Real& exact, const Real& error, const std::string& what);
  void at_least(double high, const Real& exact, const Real& error, const std::string& what);
  void that(bool holds, const std::string& what);
  /// Of an interval of optima.
  void holds(double lower, double upper, const Optimum& optimum, const std::string& what);
};

struct Family {
  const char* name;
  void (*run)(margin::Random& random, Case& c, Claims& claims);  ///< throws margin::Error for what the core refuses
};
/// All of them.
const std::vector<Family>& families();
/// Those of one file each.
std::vector<Family> soft_families(), left_out_families(), between_families(), other_families(), kernel_families(),
    chain_families();

// --- drawing ---------------------------------------------------------------------------------------------------------

template <class T>
T among(margin::Random& random, const std::vector<T>& values) {
  return values[random.below(values.size())];
}
/// 10 to the power of something between these.
double power_of_ten(margin::Random& random, double from, double to);
void set(OptionValues& o, const std::string& name, double v);
void set(OptionValues& o, const std::string& name, bool v);
void set(OptionValues& o, const std::string& name, const std::string& v);
/// Rows on a lattice, where scores tie and lie on kinks, or anywhere; empty ones, duplicates, opposite ones.
/// `extreme`: of scales from 1e-140 to 1e140 now and then.
void draw_rows(margin::Random& random, Case& c, std::size_t rows, std::size_t width, bool extreme);
/// Classes, each of which some row has, or targets that the loss takes.
void draw_classes(margin::Random& random, Case& c, std::uint32_t classes);
void draw_targets(margin::Random& random, Case& c, const std::string& loss);
/// None, small numbers, or of 1e-12 to 1e12.
void draw_weights(margin::Random& random, Case& c);
double draw_lambda(margin::Random& random);
/// The loss and what its parameters are.
void draw_loss(margin::Random& random, Case& c, const std::string& loss);
void draw_tolerance(margin::Random& random, Case& c);
/// Penalty factors, and the l1 norm without which there are none.
void draw_factors(margin::Random& random, Case& c);

/// Classes with a loss that has a derivative, and penalty factors, an offset, or both: of such models products claim
/// nothing, and refuse.
void draw_penalised(margin::Random& random, Case& c);
void refuses(Claims& claims, const std::string& what, const std::function<void()>& product);

// --- the core's side, and the problem as the oracle sees it ----------------------------------------------------------

/// A training, and its problem.
struct Training {
  explicit Training(const Case& c);
  margin::Options settings;
  Rows rows;
  margin::Model model;
  margin::Problem problem;
  /// The weights in all columns of the rows.
  margin::Weights weights() const;
};

/// Of one output; without a row of this number (W stays), at another lambda.
OracleProblem oracle_problem(const margin::Problem& p, const margin::Options& settings, std::int32_t output);
void leave_out(OracleProblem& p, std::size_t row);
/// How far the optimum can be from what was found, in the norm of (w, b/s).
Real distance_of(const OracleProblem& p, const Optimum& found);
/// The features of a row, without its offset.
Vector features_of(const margin::Problem& p, const margin::Row& x);

}  // namespace exact
