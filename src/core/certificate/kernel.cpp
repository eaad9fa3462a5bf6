#include "core/certificate/kernel.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/progress.hpp"
#include "core/certificate/kernel_parts.hpp"

namespace margin {

namespace {

constexpr std::size_t batch = 8;                // rows whose kernel values are computed together
constexpr std::size_t chunk = 256 * tile_rows;  // kernel values of a row between two polls

/// The rows that carry weights or dual weights, so that one pass over the problem's rows serves both.
class Expansion {
 public:
  Expansion(const Problem& problem, const KernelBasis& basis, const Weights& dual, const Progress& progress);

  std::size_t size() const { return basis_.rows().size() + others_.size(); }
  /// Position of a row of the problem among them, or −1.
  std::int64_t position(std::int64_t row) const { return position_[static_cast<std::size_t>(row)]; }
  /// Coefficients on the basis, or on the terms of the dual vector, on all of them.
  KernelSum sum_of_basis(const Weights& weights) const;
  KernelSum sum_of_dual(const Weights& coefficients) const;
  const KernelDual& dual() const { return dual_; }

  /// values[b][s] = k(row from + b, row s) for several rows of the problem, with bounds on their rounding.
  void evaluate(std::int64_t from, std::size_t count, double* const* values, double* const* errors);
  /// k(x, x) of the row from + b that was evaluated last.
  double diagonal(std::size_t b) const { return basis_.rows().kernel().diagonal(points_[b].summary.data()); }

 private:
  void add_terms(const Weights& q);
  std::vector<double> lengths() const;

  const Problem& problem_;
  const KernelBasis& basis_;
  KernelRows others_;  // rows with a dual weight that are not of the basis
  KernelDual dual_;
  std::vector<std::int64_t> position_, term_;  // term_: positions of the dual vector's terms
  const Progress& progress_;
  std::vector<KernelPoint> points_, other_points_;  // for the basis, and for the others: compact rows need their own
};

Expansion::Expansion(const Problem& p, const KernelBasis& basis, const Weights& q, const Progress& progress)
    : problem_(p),
      basis_(basis),
      others_(basis.rows().shared_kernel(), p.dimensions(), basis.rows().layout()),
      dual_(objective_of(p)),
      position_(static_cast<std::size_t>(p.rows()), -1),
      progress_(progress),
      points_(batch),
      other_points_(batch) {
  for (std::size_t s = 0; s < basis.origin().size(); ++s)
    position_[static_cast<std::size_t>(basis.origin()[s])] = static_cast<std::int64_t>(s);
  if (q.rows() == p.rows()) add_terms(q);
}

void Expansion::add_terms(const Weights& q) {
  std::vector<std::int64_t> others;
  double values = 0;
  for (std::int64_t i = 0; i < problem_.rows(); ++i) {
    if (!dual_.add(checked_row(problem_, i), q.row(i).data())) continue;
    std::int64_t& at = position_[static_cast<std::size_t>(i)];
    if (at < 0) {
      at = static_cast<std::int64_t>(basis_.rows().size() + others.size());
      others.push_back(i);
      values += problem_.data.row(i).count;
    }
    term_.push_back(at);
  }
  others_.reserve(others.size(), values);
  for (const std::int64_t i : others) {
    others_.append(problem_.data.row(i));
    progress_.work(others_.append_operations(problem_.data.row(i)));
  }
}

std::vector<double> Expansion::lengths() const {
  std::vector<double> all = lengths_of(basis_.rows());
  const std::vector<double> others = lengths_of(others_);
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

KernelSum Expansion::sum_of_basis(const Weights& weights) const {
  Weights all = Weights::Zero(weights.rows(), static_cast<Eigen::Index>(size()));
  all.leftCols(weights.cols()) = weights;
  return {std::move(all), lengths()};
}

KernelSum Expansion::sum_of_dual(const Weights& coefficients) const {
  Weights all = Weights::Zero(coefficients.rows(), static_cast<Eigen::Index>(size()));
  for (std::size_t t = 0; t < term_.size(); ++t)
    all.col(static_cast<Eigen::Index>(term_[t])) = coefficients.col(static_cast<Eigen::Index>(t));
  return {std::move(all), lengths()};
}

void Expansion::evaluate(std::int64_t from, std::size_t count, double* const* values, double* const* errors) {
  std::vector<const KernelPoint*> points(count);
  for (std::size_t b = 0; b < count; ++b) {
    basis_.rows().set(points_[b], problem_.data.row(from + static_cast<std::int64_t>(b)));
    points[b] = &points_[b];
  }
  std::vector<double*> value_at(count), error_at(count);
  std::size_t offset = 0;
  const KernelRows* const both[] = {&basis_.rows(), &others_};
  for (const KernelRows* rows : both) {
    for (std::size_t b = 0; rows == &others_ && others_.layout() == Layout::compact && b < count; ++b) {
      others_.set(other_points_[b], problem_.data.row(from + static_cast<std::int64_t>(b)));
      points[b] = &other_points_[b];
    }
    for (std::size_t begin = 0; begin < rows->size(); begin += chunk) {
      const std::size_t end = std::min(rows->size(), begin + chunk);
      for (std::size_t b = 0; b < count; ++b) {
        value_at[b] = values[b] + offset + begin;
        error_at[b] = errors[b] + offset + begin;
      }
      rows->evaluate(points, begin, end, value_at.data(), error_at.data());
      progress_.work(static_cast<double>(count * (end - begin)) * (rows->operations() + 4));
    }
    offset += rows->size();
  }
}

/// The pass over the rows of the problem.
class Pass {
 public:
  Pass(const Problem& problem, Expansion& expansion, const KernelSum& primal, const KernelSum& dual,
       const Eigen::VectorXd& intercept)
      : primal_norm(static_cast<std::size_t>(problem.outputs())),
        dual_norm(primal_norm),
        tally(objective_of(problem), problem.intercept ? intercept.data() : nullptr),
        problem_(problem),
        expansion_(expansion),
        primal_(primal),
        dual_(dual),
        scores_(primal_norm) {}
  void run(const Progress& progress);

  std::vector<Enclosure> primal_norm, dual_norm;  ///< squared, per output
  KernelTally tally;

 private:
  void add(std::int64_t row, double diagonal, double* values, double* errors);

  const Problem& problem_;
  Expansion& expansion_;
  const KernelSum &primal_, &dual_;
  std::vector<Enclosure> scores_;
};

void Pass::add(std::int64_t row, double diagonal, double* values, double* errors) {
  const std::int64_t own = expansion_.position(row);
  const auto at = static_cast<std::size_t>(own);
  const double length = std::sqrt(diagonal);
  if (own >= 0) set_diagonal(diagonal, problem_.dimensions(), values[at], errors[at]);
  for (std::int32_t o = 0; o < problem_.outputs(); ++o) {
    const auto output = static_cast<std::size_t>(o);
    scores_[output] = primal_(o, values, errors, length);
    if (own < 0) continue;
    primal_.add_to_norm(primal_norm[output], o, at, scores_[output]);
    dual_.add_to_norm(dual_norm[output], o, at, dual_(o, values, errors, length));
  }
  tally.add(scores_, length, checked_row(problem_, row));
}

void Pass::run(const Progress& progress) {
  const std::size_t n = static_cast<std::size_t>(problem_.rows()), s = expansion_.size();
  std::vector<double> values(batch * s), errors(batch * s);
  std::vector<double*> value_at, error_at;
  for (std::size_t b = 0; b < batch; ++b) {
    value_at.push_back(values.data() + b * s);
    error_at.push_back(errors.data() + b * s);
  }
  for (std::size_t from = 0; from < n; from += batch) {
    const std::size_t count = std::min(batch, n - from);
    expansion_.evaluate(static_cast<std::int64_t>(from), count, value_at.data(), error_at.data());
    for (std::size_t b = 0; b < count; ++b) {
      add(static_cast<std::int64_t>(from + b), expansion_.diagonal(b), value_at[b], error_at[b]);
      progress.work(static_cast<double>(s) * 2.0 * problem_.outputs());
    }
  }
}

}  // namespace

Certificate certify_kernel(const Problem& problem, const Weights& weights, const KernelBasis& basis,
                           const Eigen::VectorXd& intercept, const Weights& dual, const Progress& progress) {
  Expansion expansion(problem, basis, dual, progress);
  const KernelDual::Scaled scaled = expansion.dual().scaled(problem.total_weight);
  const KernelSum primal_sum = expansion.sum_of_basis(weights), dual_sum = expansion.sum_of_dual(scaled.coefficients);
  Pass pass(problem, expansion, primal_sum, dual_sum, intercept);
  pass.run(progress);
  return kernel_certificate(objective_of(problem), pass.tally, {primal_sum, pass.primal_norm}, scaled,
                            expansion.dual().terms(), pass.dual_norm);
}

}  // namespace margin
