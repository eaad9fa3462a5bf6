// Steps of Algorithm 2 of Ji, Srebro & Telgarsky (2021) through kernel columns alone, shared by the sampling solver and
// its baseline. Two combinations of rows are kept, w and the momentum g, as coefficients and as scores of all rows;
// a step adds one row (with a free intercept: half a row of each class)
//
//   g ← β (g + v),   w ← w + θ (g + v),   v = Σ share_j z_j,
//
// and costs one kernel column for each row added. Rows have norm 1 at most: z_i = y_i k(x_i, ·)/R, and with more than
// two classes z_ic = (e_{y_i} − e_c) ⊗ k(x_i, ·)/(√2 R). Norms and inner products are updated along, never summed
// afresh.
#pragma once

#include <array>
#include <functional>
#include <limits>
#include <vector>

#include "core/base/random.hpp"
#include "core/kernel/column_cache.hpp"
#include "core/solvers/run.hpp"
#include "core/solvers/solver.hpp"

namespace margin {

class KernelAscent {
 public:
  KernelAscent(const Problem& problem, const KernelRows& rows, KernelColumns& columns, Run& run);

  /// A row, the class that it is to beat, and its share of v.
  struct Choice {
    std::int64_t row;
    std::int32_t rival;
    double share;
  };
  /// Drawn from the soft-min of the margins, q ∝ ℓ'(−m(w)); with an intercept one row from each class's own.
  std::vector<Choice> sample(Random& random);
  /// All rows with these q, ∂ψ of the loss, of which each class has half with an intercept; `mass`: their sum.
  std::vector<Choice> soft_min(double& mass);
  /// The rows of smallest margin.
  std::vector<Choice> worst() const;
  void step(const std::vector<Choice>& v, double beta, double theta);

  double radius() const { return radius_; }
  /// min_i m_i(w)/‖w‖ with the best intercept, in the rows' own units; 0 for w = 0.
  double lower() const;
  double norm_of_weights() const;   ///< ‖w‖ in the rows' own units
  double norm_of_momentum() const;  ///< ‖g‖
  /// Keeps w, as the best so far.
  void remember();
  /// The remembered w with norm 1, and `dual`: the coefficients of w or of g.
  Solution solution(bool dual_of_momentum) const;
  /// Where k(x, x) = 0 for all rows: any weights prove that no margin is above 0.
  Solution zero_solution(std::string_view solver) const;

 private:
  void add(const Choice& c, double factor, const double* column, Weights& scores, Weights& coefficients);
  Weights zeros();  // rows × outputs
  double margin_of(const Weights& scores, const Choice& c) const;
  /// What <z_a, z_b> has beside k(x_a, x_b)/R²: y_a y_b, or <e_a − e_rival, e_b − e_rival>/2.
  double agreement(const Choice& a, const Choice& b) const;
  void refresh_margins();
  /// Those q times e^ref / ψ's divisor of the group (all rows, or a class) in weight_, and both sums of each group.
  struct Sums {
    double slopes = 0, divisor = 0;
  };
  std::array<Sums, 2> weigh();
  std::int32_t group(std::int64_t i) const {
    return problem_.intercept ? problem_.label[static_cast<std::size_t>(i)] : 0;
  }

  const Problem& problem_;
  const KernelRows& rows_;
  KernelColumns& columns_;
  Run& run_;
  const bool logistic_;
  std::int32_t k_;              // outputs
  double radius_, pair_scale_;  // pair_scale_: 1, or 1/√2 for differences of two outputs
  Weights w_, g_;               // scores of all rows, rows × outputs
  Weights w_coefficients_, g_coefficients_, best_;
  Eigen::VectorXd margin_, weight_;  // of the row's closest rival; scratch of sample()
  double class_least_[2];            // smallest margins: of all rows, or of each class
  double ww_ = 0, gg_ = 0, wg_ = 0, best_norm_ = 0, best_intercept_ = 0;
};

/// The upper bound that a step knows, and whose coefficients prove it: w's or g's.
struct UpperEnd {
  double value = std::numeric_limits<double>::infinity();
  bool of_momentum = false;
};
/// Step number t, from 0.
using KernelStep = std::function<UpperEnd(KernelAscent& ascent, const Run& run, std::int64_t t)>;

/// Steps until (upper − lower)/upper ≤ tolerance or a limit; the lower bound is the best margin seen, or with the output
/// `last` that of now.
Solution run_kernel_ascent(const Problem& problem, const Options& options, const Progress& progress,
                           std::string_view name, std::int64_t default_steps, const KernelStep& step);

/// Bytes that KernelAscent takes, with some columns.
double kernel_ascent_bytes(const Problem& problem);
/// What solvers by these steps cannot do; empty when they can.
std::string kernel_ascent_limit(const Problem& problem);

}  // namespace margin
