// What the solvers of a soft margin are expected to cost, of one AVX-512 core or what the instruction set promises.
//
// sdca    An epoch touches every row once, at the latency of a cache miss and the price of its dot product. Epochs grow with
//         mean s_i = c_i ‖x_i‖²/(λW) over the smoothness of the loss, the condition number in Shalev-Shwartz & Zhang (2013),
//         Theorems 1 and 2. Rows that are no more than their features do not contradict each other: of them s says little.
// newton  Rank-k updates, a Cholesky factorisation, and passes over the rows; newton_cg: products with all rows, whose number
//         grows with the condition number in units of the columns.
// bounds  Where they are expected to hold a share of the weights, newton of a smooth loss takes fewer steps (from 5 to 15 down to 2 where
//         nearly all are held), newton_cg more products for each, newton of a piecewise loss products with its matrix, and every step of sdca
//         cuts the weights it changes.
// The constants are fitted to the cells of docs/benchmarks/soft-margins.md (bench/regret.py), those of iterations and of sparse
// rows as they were at commit de386891. A machine shared with others slows the products of newton more than the misses of sdca.
#include "core/solvers/solver_costs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/data/pair_histograms.hpp"
#include "core/loss/loss.hpp"
#include "core/solvers/newton/between_bounds.hpp"
#include "core/solvers/newton/newton.hpp"

namespace margin {

namespace {

constexpr double large_cache = 6.4e7;  // bytes

/// Multiply-adds per nanosecond of the rank_update kernel.
double kernel_speed() {
  const std::string_view set = simd().name;
  return set == "avx512" ? 50 : (set == "avx2" ? 22 : 8);
}

double cholesky(double n) { return n * n * n / 6 / (0.5 * kernel_speed()); }

/// A systematic sample of some rows.
struct SampledRows {
  SampledRows(const Problem& problem, std::int64_t most)
      : p(problem),
        stride(std::max<std::int64_t>(1, p.rows() / most)),
        count(static_cast<double>((p.rows() + stride - 1) / stride)) {}
  template <class F>
  void for_each(F&& f) const {
    for (std::int64_t i = 0; i < p.rows(); i += stride) f(p.data.row(i), p.weight(i));
  }
  const Problem& p;
  std::int64_t stride;
  double count;
};

/// As they are stored: sparse rows of many values are dense.
bool mostly_sparse(const Problem& p) {
  const SampledRows sample(p, 100);
  double sparse = 0;
  sample.for_each([&](const Row& x, double) { sparse += x.indices != nullptr ? 1 : 0; });
  return 2 * sparse > sample.count;
}

}  // namespace

SolverCosts::SolverCosts(const Problem& p)
    : p_(p),
      rows_(static_cast<double>(p.rows())),
      features_(p.dimensions() + (p.intercept ? 1.0 : 0.0)),
      stored_(p.data.density() * p.dimensions()),
      step_(p.loss->has_probability() || p.loss->log_link() ? 150.0 : 0.0),
      smooth_(p.loss->smooth()),
      sparse_(mostly_sparse(p)),
      size_(mean_size()),
      held_(mean_held()) {}

double SolverCosts::epoch() const {
  // Rows that no cache holds are waited for.
  const double bytes = rows_ * (64 + 4 * stored_), waiting = 100 * std::max(0.0, 1 - large_cache / bytes);
  // Weights that bounds hold are cut at every step: once more as much as a product, about.
  const double cut = held_ > 0 ? 1.5 : 1.0;
  return rows_ * (40 + waiting + step_ + cut * stored_ * (sparse_ ? 2.5 : 0.3));
}

/// Of c ‖x‖²/(λW) over the smoothness: s.
double SolverCosts::mean_size() const {
  const double constant = p_.intercept && !p_.free_intercept ? p_.intercept_scale * p_.intercept_scale : 0.0;
  const SampledRows sample(p_, 1000);
  double size = 0;
  sample.for_each([&](const Row& x, double weight) { size += weight * (squared_norm(x) + constant); });
  const double s = size / sample.count / p_.lambda / p_.total_weight / (smooth_ ? p_.smoothness() : 1.0);
  return s >= 0 ? s : std::numeric_limits<double>::infinity();  // of numbers beyond those of doubles
}

/// Losses whose curvature falls with the margin take fewer. Rows of independent features have a dual that is well
/// conditioned by itself: where there are fewer of them than features, 15 to 150 epochs are enough at any lambda.
double SolverCosts::expected_epochs() const {
  const double crowd = std::max(1.0, rows_ / features_);
  return std::min(6 + (curved() ? 1 : 5) * size_, (smooth_ ? 30 : 100) * crowd * crowd);
}

/// The share of the features whose weights would leave their bounds if each were alone with the intercept: one step of Newton's from 0,
/// of the first output and of some rows; of a piecewise loss as if it curved by 1. Bounds mostly come to hold about as many, and at
/// times many more: of splice between bounds of 0.05 this says 0.02, and they hold 0.33.
double SolverCosts::mean_held() const {
  if (p_.bounds.empty() || p_.data.codes() != nullptr) return 0;
  const SampledRows sample(p_, 1000);
  const auto d = static_cast<std::size_t>(p_.dimensions());
  std::vector<double> pull(d, 0.0), sum(d, 0.0), curvature(d, 0.0);
  double slopes = 0, curvatures = 0;
  std::int64_t i = 0;
  sample.for_each([&](const Row& x, double weight) {
    const double y = p_.target(i, 0), slope = -weight * p_.loss->derivative(0, y),
                 bend = weight * (smooth_ ? p_.loss->second_derivative(0, y) : 1.0);
    i += sample.stride;
    slopes += slope;
    curvatures += bend;
    for (std::int32_t k = 0; k < x.count; ++k) {
      const auto j = static_cast<std::size_t>(x.indices != nullptr ? x.indices[k] : k);
      const double v = x.value(k);
      pull[j] += slope * v;
      sum[j] += bend * v;
      curvature[j] += bend * v * v;
    }
  });
  const double unit = rows_ / sample.count / p_.lambda / p_.total_weight;
  const double shift = p_.intercept && curvatures > 0 ? slopes / curvatures : 0.0;
  double used = 0, held = 0;
  for (std::size_t j = 0; j < d; ++j) {
    if (curvature[j] == 0) continue;
    const double alone = unit * (pull[j] - shift * sum[j]) / (1 + unit * curvature[j]);
    ++used;
    if (!p_.bounds.holds(alone, j)) ++held;
  }
  return used > 0 ? held / used : 0.0;
}

/// Newton's, for a smooth loss: more, the farther the optimum is from where the loss bends alike everywhere, of numbers few until
/// it is far; but rows are also large where a column is, which by itself is one step. Of classes half of them are a sample's
/// where there is one. Where bounds hold most weights, two steps find the others.
double SolverCosts::smooth_iterations() const {
  if (p_.loss->quadratic()) return 2;
  const bool classes = p_.loss->classification();
  const auto stride = classes ? static_cast<double>(sample_stride(rows_, features_, true)) : 1.0;
  const double far = std::log10(1 + 100 * std::min(1e3, size_));
  const double all = !classes ? 2 + 0.5 * far * far : curved() ? 2.3 + 1.4 * far : 3 + 1.2 * far;
  const double free = all * (stride > 1 ? 0.5 + 1 / stride : 1);
  return free + (2 - free) * held_ * held_;
}

double SolverCosts::newton() const {
  if (p_.data.codes() != nullptr)
    return coded(1.1 * (smooth_ ? 1 : 0.125) * PairHistograms::work(p_.data.codes()->layout(), rows_) +
                 cholesky(features_));
  const double speed = kernel_speed(), system = std::min(rows_, features_), span = features_ > rows_ ? rows_ : 0;
  const double width = span > 0 ? rows_ : stored_;
  // Sparse rows are multiplied out one product at a time where they are short enough, or spread out for the dense kernel.
  const bool spread = span == 0 && sparse_;
  const double gram = spread && 40 * width * width < system * system
                          ? 0.7 * width * width
                          : system * system / 2 / speed + (spread ? 3 * width : 0);
  const double pass = 10 + width * (sparse_ ? 1.0 : 0.1), start = span * (span / 2 / speed + 2.5) * stored_;
  // A piecewise loss takes some 60 iterations, over two fifths of the rows, or fewer of very many, a quarter of which
  // enter the linear system. Sparse ones that do not follow each other are waited for.
  const double some = sparse_ ? 20 + 1.5 * width : pass;
  const bool sampled = sample_stride(rows_, features_, false) > 1;
  const double iterations = smooth_ ? smooth_iterations() : 60;
  const double part = sampled ? std::clamp(2 * std::sqrt(features_ / rows_), 0.006, 0.4) : 0.4;
  const double per_row = smooth_ ? iterations * (gram + 3 * pass + 30 + evaluation())
                                 : iterations * part * (gram / 4 + 3 * some) + (sampled ? 4 : 8) * (pass + 12);
  // Between bounds a system is solved by products with it.
  const double bounded = held_ > 0 && !smooth_ ? iterations * paying_products * 0.2 * system * system : 0;
  return start + rows_ * per_row + iterations * cholesky(system) + bounded;
}

/// Σ c x²/(λW) of a column over the smoothness, as a stored value finds it: the geometric mean, 1 and more. Conjugate
/// gradients take their steps in units of the columns: a large column by itself is one step. Of some columns of wide rows.
double SolverCosts::mean_by_column() const {
  constexpr double most = 1024;  // values: on small problems of wide rows more take as long as some epochs
  const SampledRows sample(p_, 100);
  const auto step = static_cast<std::int32_t>(1 + stored_ * sample.count / most);
  std::vector<std::pair<std::int32_t, double>> squares;  // of a value, by its column
  sample.for_each([&](const Row& x, double weight) {
    for (std::int32_t k = x.indices != nullptr ? 0 : step / 2; k < x.count; k += x.indices != nullptr ? 1 : step) {
      const std::int32_t j = x.indices != nullptr ? x.indices[k] : k;
      if (j % step == step / 2) squares.emplace_back(j, weight * x.value(k) * x.value(k));
    }
  });
  std::sort(squares.begin(), squares.end());
  const double unit = rows_ / sample.count / p_.lambda / p_.total_weight / (smooth_ ? p_.smoothness() : 1.0);
  double logarithms = 0;
  for (std::size_t begin = 0, end = 0; begin < squares.size(); begin = end) {
    double sum = 0;
    for (; end < squares.size() && squares[end].first == squares[begin].first; ++end) sum += squares[end].second;
    logarithms += static_cast<double>(end - begin) * std::log1p(unit * sum);
  }
  const double mean = squares.empty() ? 1.0 : std::exp(logarithms / static_cast<double>(squares.size()));
  return mean >= 1 ? mean : 1.0;
}

/// Iterations as of newton, 50 for a piecewise loss, of products that are a pass forth and back over the rows (of a
/// piecewise loss: a fifth of them) and a few over the columns. Products grow with the root of the condition number, less
/// where the curvature falls with the margin; their number has an end that goes with the rank.
double SolverCosts::newton_cg(double enough) const {
  if (p_.data.codes() != nullptr)
    return coded(10 * (2 * (smooth_ ? 1 : 0.125) * rows_ * (10 + 0.7 * stored_) + 4 * features_));
  const double pass = 10 + stored_ * (sparse_ ? 1.0 : 0.15), columns = 4 * features_;
  const double rank = std::min(rows_, features_);
  // Where bounds hold some weights and not others, one face of them after the other is gone through.
  const double faces = 1 + 8 * held_ * (1 - held_);
  const auto cost = [&](double condition) {
    if (smooth_) {
      const double grown = curved() ? 3.5 * std::pow(condition, 0.2) : 3 * std::sqrt(condition);
      const double products = std::min({grown, 1.5 + 2 * (condition - 1), std::max(10.0, 1.5 * rank)});
      return smooth_iterations() *
             (rows_ * (30 + evaluation() + 3 * pass) + faces * products * (2 * rows_ * pass + columns));
    }
    const double grown = faces * std::min(10 * std::pow(condition, 0.4), std::max(10.0, 0.5 * rank));
    // Of steps that end after so many products there are twice as many.
    const double products = held_ > 0 ? std::min(grown, 2.0 * paying_products) : grown;
    return 50 * (rows_ * (20 + 1.5 * pass) + products * (0.2 * 2 * rows_ * pass + columns));
  };
  const double least = cost(1);  // what small groups of rows need not be looked at for
  return least >= enough ? least : cost(mean_by_column());
}

/// Some 25 steps, each with a matrix of all rows and a few passes.
double SolverCosts::interior_point() const {
  const double pass = 30 + stored_ * (sparse_ ? 2.5 : 0.5);
  return 25 * (rows_ * (features_ * features_ / 2 / kernel_speed() + 8 * pass) + cholesky(features_));
}

/// Of rows as codes: an addition for each pair of terms, or a look-up and an addition for each term, in `system`.
double SolverCosts::coded(double system) const {
  return (smooth_ ? 6 : 60) * (system + rows_ * (3 * (10 + 0.7 * stored_) + 30 + evaluation()));
}

}  // namespace margin
