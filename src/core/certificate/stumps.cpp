#include "core/certificate/stumps.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/base/polled.hpp"
#include "core/base/progress.hpp"
#include "core/base/threads.hpp"
#include "core/certificate/lp_margin.hpp"
#include "core/certificate/tree_edges.hpp"
#include "core/data/columns.hpp"
#include "core/math/rounding.hpp"

namespace margin {

namespace {

/// The dual weights of one output as signed shares that sum to at most 1 in size: v_i = y_i q_i / Σ q, and with a free
/// intercept half of the share within the own side.
class SignedShares {
 public:
  SignedShares(const Problem& problem, const Weights& dual, std::int32_t output)
      : problem_(problem), dual_(dual), output_(output) {
    for (std::int64_t i = 0; i < problem.rows(); ++i)
      mass_[problem.target(i, output) > 0 ? 1 : 0] += std::max(0.0, dual(i, output));
    all_ = mass_[0] + mass_[1];
    usable_ = all_ > 0 && std::isfinite(all_) && (!problem.intercept || (mass_[0] > 0 && mass_[1] > 0));
    if (!usable_) return;
    Eigen::VectorXd v(problem.rows());
    for (std::int64_t i = 0; i < problem.rows(); ++i) v(i) = (*this)(i);
    total_ = v.sum();
  }
  bool usable() const { return usable_; }  ///< false: they prove nothing
  double total() const { return total_; }  ///< Σ v
  double operator()(std::int64_t i) const {
    const double q = std::max(0.0, dual_(i, output_));
    if (q == 0) return 0;
    const double y = problem_.target(i, output_);
    return problem_.intercept ? 0.5 * y * (q / mass_[y > 0 ? 1 : 0]) : y * (q / all_);
  }

 private:
  const Problem& problem_;
  const Weights& dual_;
  std::int32_t output_;
  double mass_[2] = {0, 0}, all_ = 0, total_ = 0;
  bool usable_ = false;
};

/// The values of one column in ascending order, with their rows; zeros that are not stored are one group.
class SortedColumn {
 public:
  void sort(const Row& column, std::int64_t rows, const Progress& progress) {
    entries_.clear();
    for (std::int32_t k = 0; k < column.count; ++k) {
      const double value = column.value(k);
      progress.work(8);
      if (column.indices == nullptr)
        entries_.emplace_back(value, k);
      else if (value != 0)
        entries_.emplace_back(value, column.indices[k]);
    }
    polled_sort(entries_.begin(), entries_.end(), std::less<>(), progress);
    unstored_ = static_cast<std::int64_t>(entries_.size()) < rows;
    negative_ = entries_.size();
    if (!unstored_) return;
    negative_ = 0;
    while (negative_ < entries_.size() && entries_[negative_].first < 0) ++negative_;
  }

  /// max_t |Σ_i v_i (1 if x_i > t, else −1)| over the thresholds t that tell rows apart.
  double largest_edge(const SignedShares& v) const {
    double largest = 0, below = 0;  // below: Σ v of the rows at or below the threshold
    const auto offer = [&] { largest = std::max(largest, std::fabs(v.total() - 2 * below)); };
    const auto sweep = [&](std::size_t from, std::size_t to) {
      for (std::size_t k = from; k < to; ++k) {
        below += v(entries_[k].second);
        if (k + 1 < to ? entries_[k + 1].first > entries_[k].first : unstored_ && to == negative_) offer();
      }
    };
    sweep(0, negative_);
    if (!unstored_) return largest;
    double stored = below;
    for (std::size_t k = negative_; k < entries_.size(); ++k) stored += v(entries_[k].second);
    below += v.total() - stored;
    if (entries_.size() > negative_) offer();
    sweep(negative_, entries_.size());
    return largest;
  }
  double size() const { return static_cast<double>(entries_.size()); }

 private:
  std::vector<std::pair<double, std::int32_t>> entries_;
  bool unstored_ = false;     // rows without an entry, whose value is 0
  std::size_t negative_ = 0;  // entries before them
};

/// The largest edge of each output over all stumps.
std::vector<double> stump_edges(const Problem& problem, const std::vector<SignedShares>& shares,
                                const Progress& progress) {
  const Columns columns(problem.data, progress);
  double values = 0;
  for (std::int32_t j = 0; j < problem.dimensions(); ++j) values += columns.column(j).count;
  // Sorting costs much more than the sweep.
  const Chunks features(problem.dimensions(),
                        (64 + 16 * static_cast<double>(shares.size())) * values / std::max(1, problem.dimensions()));
  std::vector<std::vector<double>> edges(features.count(), std::vector<double>(shares.size(), 0.0));
  progress.threads().run(features.count(), progress, [&](std::size_t k, const Progress& own) {
    SortedColumn sorted;
    for (std::int64_t j = features.begin(k); j < features.end(k); ++j) {
      sorted.sort(columns.column(static_cast<std::int32_t>(j)), problem.rows(), own);
      for (std::size_t o = 0; o < shares.size(); ++o) {
        if (!shares[o].usable()) continue;
        edges[k][o] = std::max(edges[k][o], sorted.largest_edge(shares[o]));
        own.work(16 * sorted.size());
      }
    }
  });
  std::vector<double> edge(shares.size(), 0.0);
  for (const std::vector<double>& of_some : edges)
    for (std::size_t o = 0; o < edge.size(); ++o) edge[o] = std::max(edge[o], of_some[o]);
  return edge;
}

/// The same over all trees of depth 2.
std::vector<double> tree_edges(const Problem& problem, const std::vector<SignedShares>& shares,
                               const Progress& progress) {
  const RankedColumns ranked(problem.data, progress);
  std::vector<double> edge(shares.size(), 0.0);
  for (std::size_t o = 0; o < shares.size(); ++o) {
    if (!shares[o].usable()) continue;
    Eigen::VectorXd v(problem.rows());
    polled_each(problem.rows(), 8, progress, [&](std::int64_t i) { v(i) = shares[o](i); });
    edge[o] = largest_tree_edge(ranked, v, progress);
  }
  return edge;
}

/// The right side of the header's inequality, per output; 1 where the dual weights prove nothing.
std::vector<double> upper_bounds(const Problem& problem, std::int32_t depth, const Weights& dual,
                                 const Progress& progress) {
  std::vector<double> upper(static_cast<std::size_t>(problem.outputs()), 1.0);
  if (dual.rows() != problem.rows()) return upper;
  std::vector<SignedShares> shares;
  for (std::int32_t o = 0; o < problem.outputs(); ++o) {
    shares.emplace_back(problem, dual, o);
    progress.work(32.0 * static_cast<double>(problem.rows()));
  }
  const std::vector<double> edge =
      depth == 1 ? stump_edges(problem, shares, progress) : tree_edges(problem, shares, progress);
  // Sums of n terms whose sizes add up to 1, for trees of two sides.
  const double rounding = 4 * epsilon * (static_cast<double>(problem.rows()) + (depth == 1 ? 8 : 64));
  for (std::size_t o = 0; o < shares.size(); ++o)
    if (shares[o].usable()) upper[o] = std::min(1.0, edge[o] + rounding);
  return upper;
}

}  // namespace

StumpCheck::StumpCheck(const Objective& objective, const StumpBasis& basis, const ModelVectors& vectors,
                       std::vector<double> upper)
    : basis_(basis),
      margins_(objective.classes, basis.size(), 1, vectors.weights, vectors.intercept, objective.intercept, false),
      upper_(std::move(upper)),
      values_(static_cast<std::size_t>(basis.size())) {
  upper_.resize(static_cast<std::size_t>(margins_.outputs()), 1.0);
}

StumpCheck::StumpCheck(const StumpBasis& basis, const NormCheck& margins)
    : basis_(basis), margins_(margins), values_(static_cast<std::size_t>(basis.size())) {}

std::unique_ptr<Check> StumpCheck::part() const {
  const std::unique_ptr<Check> margins = margins_.part();
  return std::unique_ptr<Check>(new StumpCheck(basis_, static_cast<const NormCheck&>(*margins)));
}

void StumpCheck::add_part(Check& other) {
  auto& part = static_cast<StumpCheck&>(other);
  margins_.add_part(part.margins_);
  support_ += part.support_;
}

void StumpCheck::add(const CheckedRow& row) {
  basis_.evaluate(row.x, values_.data());
  margins_.add({values_.data(), nullptr, basis_.size(), true}, row.label, nullptr);
  if (row.dual != nullptr)
    support_ += std::any_of(row.dual, row.dual + margins_.outputs(), [](double q) { return q > 0; });
}

void StumpCheck::measure(const CheckedRow& row, double* numbers, double* coefficients) {
  basis_.evaluate(row.x, values_.data());
  CheckedRow votes = row;
  votes.x = {values_.data(), nullptr, basis_.size(), true};
  margins_.measure(votes, numbers, coefficients);
}

Certificate StumpCheck::certificate(const Progress&) const {
  Certificate c;
  c.radius = 1;  // of a row of stumps in the norm dual to l1
  c.lower = margins_.lower();
  c.upper = 1;
  c.errors = margins_.errors();
  c.failure = static_cast<double>(c.errors);
  c.support = support_;
  for (std::int32_t o = 0; o < margins_.outputs(); ++o) {
    const double high = upper_[static_cast<std::size_t>(o)];
    c.upper = std::min(c.upper, high);
    if (high > 0) c.relative_gap = std::max(c.relative_gap, (high - margins_.lower(o)) / high);
  }
  c.gap = c.upper - c.lower;
  return c;
}

Certificate certify_stumps(const Problem& problem, const StumpBasis& basis, const Weights& weights,
                           const Eigen::VectorXd& intercept, const Weights& dual, const Progress& progress) {
  StumpCheck check(objective_of(problem), basis,
                   {weights.data(), problem.intercept ? intercept.data() : nullptr, &basis},
                   upper_bounds(problem, basis.depth(), dual, progress));
  add_rows(check, problem, dual, &basis, progress);
  return check.certificate(progress);
}

}  // namespace margin
