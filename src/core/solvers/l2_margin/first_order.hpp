// What the first-order hard-margin solvers share: one fused pass over the rows gives the soft-min weights of all
// margins and the weighted sum of rows; a weighted average of all past passes is the dual side of the certificate.
//
// Ji, Srebro & Telgarsky (2021), Algorithm 1 and Section 5, with the sign convention z = y x: a margin is good when
// large. A free intercept is exact: soft-min weights within each class (two "banks", each of mass ½), or, for more
// than two classes, weights balanced over the class pairs (math/class_intercepts.hpp); the intercept itself is never a
// variable.
//
// Rows of many more features than there are rows: after as many passes as the products of all rows cost, and where as
// many may follow, the vectors go on as combinations of rows (RowProducts).
#pragma once

#include <limits>
#include <optional>

#include "core/solvers/l2_margin/far_rows.hpp"
#include "core/solvers/l2_margin/l2_margin.hpp"
#include "core/solvers/l2_margin/row_products.hpp"
#include "core/solvers/run.hpp"

namespace margin {

class FirstOrder {
 public:
  /// `loss` is "exponential" or "logistic"; `memory`: bytes that products of rows with each other may take.
  FirstOrder(const Problem& problem, Run& run, bool logistic, double memory = 0);

  /// One pass at the current weights: smallest margins, soft-min weights q, direction v = Σ q z.
  void pass();
  /// Adds `coefficient` times this pass's q and v to the average that the upper bound is computed from.
  void average(double coefficient);
  /// w += size · v
  void step(double size);
  /// g = t/(t+1) · (g + v), w += θ (g + v): Algorithm 1 with β_t = t/(t+1).
  void momentum_step(std::int64_t t, double theta);

  /// Margin of the current weights on the rows of the last pass, in user units (−∞ while w = 0).
  double margin() const;
  const PairMargins& smallest() const { return smallest_; }
  Weights weights() const { return features(w_); }
  /// Remembers the weights, for kept().
  void keep();
  Weights kept() const { return kept_in_span_ ? features(kept_) : kept_; }
  /// ‖Σ average q z‖ / Σ average q in user units: an upper bound for the maximum margin.
  double upper() const;
  /// g_t of the last momentum step: 2‖g_t‖/t / z_scale is the paper's own upper bound (exponential loss).
  Weights gradient_average() const { return features(g_); }
  double z_scale() const { return z_scale_; }
  const Weights& averaged_dual() const { return dual_; }
  /// Mean over banks of ln Σ ℓ' at the last pass: the size of the un-normalised gradient.
  double log_gradient() const;
  /// Whether the vectors are combinations of rows by now.
  bool in_span() const { return span_.has_value(); }
  double banks() const { return static_cast<double>(v_.size()); }

 private:
  struct Reference {
    double value = 0, previous = 0;  // smallest margin of the bank in the last two passes
    bool known = false;
    double predict() const { return known ? value + (value - previous) : 0.0; }
  };
  /// What the rows of a chunk add to one bank, weights relative to e^-ref.
  struct BankPart {
    double ref = 0, low = std::numeric_limits<double>::infinity(), sum = 0, mass = 0;
    double* v = nullptr;
  };
  /// A chunk of a pass: its banks, and the smallest margin of each class.
  struct Part {
    std::int64_t begin = 0, end = 0;
    BankPart banks[2];
    double least[2] = {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  };
  void binary_pass(bool predict);
  /// Moves all vectors into the span of the rows where that pays and has the digits.
  void consider_span();
  void span_pass();
  Weights features(const Weights& u) const { return span_ ? span_->features(u, run_.progress()) : u; }
  double norm(const Weights& u) const { return span_ ? span_->norm(u) : u.norm(); }
  /// The directions of the banks, from those of the parts.
  void add_parts(const std::vector<Part>& parts);
  /// All rows of a part; near[b]: the key (FarRows) above which those of bank b add nothing.
  void add_rows(Part& part, const double* near, const Progress& progress);
  /// Rows of bank b as RowsByFour deals them out.
  void add_dealt(Part& part, std::size_t b, const std::int64_t* rows, const Row* x, int count, const Row* next,
                 const Progress& progress);
  /// What the rows of a part so far left in bank `b`, times `factor`.
  void fade(Part& part, std::size_t b, double factor, const Progress& progress);
  void multiclass_pass();
  /// Scores and smallest margins of all pairs (row, rival); returns the smallest with the last pass's offsets.
  double score_pairs();
  /// Soft-min weights q of all pairs, with the last pass's offsets so that balancing has little to do, and their sums
  /// per pair of classes; returns the sum of the losses.
  double weigh_pairs(double ref, Eigen::MatrixXd& pair_mass);
  /// q balanced, and the direction that it makes.
  void sum_pairs(const Eigen::VectorXd& balance);
  void scale_directions();
  Weights direction() const;  // v over all banks, of mass 1
  std::size_t bank_of(std::int32_t label) const { return v_.size() == 2 ? static_cast<std::size_t>(label) : 0; }

  const Problem& problem_;
  Run& run_;
  bool logistic_;
  double z_scale_;  // pseudo-rows are z_scale · (e_own − e_rival) ⊗ x, of norm ≤ 1
  Weights w_, scaled_w_, g_;
  std::vector<Weights> v_, sum_;
  std::vector<double> mass_, sum_mass_, divisor_, log_scale_;
  std::vector<Reference> reference_;
  PairMargins smallest_;
  Weights q_;     // soft-min weights of the last pass, relative to divisor_
  Weights dual_;  // their weighted sum over all passes
  Weights scores_;
  Eigen::VectorXd offset_;
  FarRows far_;
  std::vector<double> parts_;  // directions of the chunks of a pass
  double memory_;
  std::int64_t passes_ = 0;
  double separation_ = 0;            // margin() in units of the largest row
  std::optional<RowProducts> span_;  // w_, g_, v_ and sum_ are vectors of it
  Weights kept_;
  bool kept_in_span_ = false;
};

/// The loop around FirstOrder for one rule: `coefficient(t)` of the pass in the average, then the step.
struct Rule {
  std::string_view name;
  std::function<double(std::int64_t t, const FirstOrder&)> coefficient;
  std::function<void(std::int64_t t, FirstOrder&)> step;
};

struct FirstOrderResult {
  Solution solution;
  MarginBounds found;
};

/// Runs until the tolerance or a limit, counting iterations from `done`; `known` is an interval proved elsewhere.
FirstOrderResult run_first_order(const Problem& problem, const Options& options, Run& run, const Rule& rule,
                                 std::int64_t done = 0, const MarginBounds& known = {});

/// The same as a solver: at most 10,000 passes unless the options say otherwise.
Solution solve_first_order(const Problem& problem, const Options& options, const Progress& progress, const Rule& rule);

/// Why a first-order solver cannot do the problem (empty: it can).
std::string first_order_limit(const Problem& problem);
double first_order_workspace(const Problem& problem);

}  // namespace margin
