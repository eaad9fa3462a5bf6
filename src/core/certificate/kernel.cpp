#include "core/certificate/kernel.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/progress.hpp"
#include "core/base/spares.hpp"
#include "core/base/threads.hpp"
#include "core/certificate/kernel_parts.hpp"
#include "core/data/row_pass.hpp"

namespace margin {

namespace {

constexpr std::size_t batch = 8;            // rows whose kernel values are computed together
constexpr std::size_t block = 128 * batch;  // rows whose scores wait for those before them

/// Working memory for a batch of rows.
struct RowBatch {
  explicit RowBatch(std::size_t terms)
      : points(batch), other_points(batch), values(batch * terms), errors(batch * terms) {
    for (std::size_t b = 0; b < batch; ++b) {
      value_at.push_back(values.data() + b * terms);
      error_at.push_back(errors.data() + b * terms);
    }
  }
  std::vector<KernelPoint> points, other_points;  // for the basis, and for the others: compact rows need their own
  std::vector<double> values, errors;             // kernel values with all terms, and bounds on their rounding
  std::vector<double*> value_at, error_at;        // of each row
};

/// The rows that carry weights or dual weights, so that one pass over the problem's rows serves both.
class Expansion {
 public:
  Expansion(const Problem& problem, const KernelBasis& basis, const Weights& dual, const Progress& progress);

  std::size_t size() const { return basis_.rows().size() + others_.size(); }
  std::int64_t basis_size() const { return basis_.size(); }
  /// Position of a row of the problem among them, or −1.
  std::int64_t position(std::int64_t row) const { return position_[static_cast<std::size_t>(row)]; }
  /// Coefficients on the basis, which comes first; those on the terms of the dual vector, on all of them.
  KernelSum sum_of_basis(const Weights& weights) const;
  KernelSum sum_of_dual(const Weights& coefficients) const;
  const KernelDual& dual() const { return dual_; }

  /// Kernel values of the rows from … from + count − 1 of the problem, with bounds on their rounding: with the basis, and of the
  /// others with all that stand before them, and themselves.
  void evaluate(std::int64_t from, std::size_t count, RowBatch& rows, const Progress& progress) const;
  /// k(x, x) of the row from + b that was evaluated last.
  double diagonal(const RowBatch& rows, std::size_t b) const {
    return basis_.rows().kernel().diagonal(rows.points[b].summary.data());
  }
  /// Multiply-adds of evaluate() for one row, on average.
  double operations() const {
    return static_cast<double>(basis_.rows().size()) * (basis_.rows().operations() + 4) +
           static_cast<double>(others_.size()) * (others_.operations() + 4) * static_cast<double>(others_.size()) / 2 /
               static_cast<double>(problem_.rows());
  }

 private:
  void add_terms(const Weights& q);
  struct Part {
    const KernelRows& rows;  ///< of them the first
    std::size_t count, offset;
    const std::vector<KernelPoint>& points;
  };
  void evaluate(const Part& part, const std::vector<std::size_t>& which, RowBatch& batch_of,
                const Progress& progress) const;

  const Problem& problem_;
  const KernelBasis& basis_;
  KernelRows others_;  // rows with a dual weight that are not of the basis
  KernelDual dual_;
  std::vector<std::int64_t> position_, term_;  // term_: positions of the dual vector's terms
  const Progress& progress_;
};

Expansion::Expansion(const Problem& p, const KernelBasis& basis, const Weights& q, const Progress& progress)
    : problem_(p),
      basis_(basis),
      others_(basis.rows().shared_kernel(), p.dimensions(), basis.rows().layout()),
      dual_(objective_of(p)),
      position_(static_cast<std::size_t>(p.rows()), -1),
      progress_(progress) {
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
  for (const std::int64_t i : others) others_.append(problem_.data.row(i), progress_);
}

KernelSum Expansion::sum_of_basis(const Weights& weights) const { return {weights, lengths_of(basis_.rows())}; }

KernelSum Expansion::sum_of_dual(const Weights& coefficients) const {
  Weights all = Weights::Zero(coefficients.rows(), static_cast<Eigen::Index>(size()));
  for (std::size_t t = 0; t < term_.size(); ++t)
    all.col(static_cast<Eigen::Index>(term_[t])) = coefficients.col(static_cast<Eigen::Index>(t));
  std::vector<double> lengths = lengths_of(basis_.rows());
  const std::vector<double> others = lengths_of(others_);
  lengths.insert(lengths.end(), others.begin(), others.end());
  return {std::move(all), lengths};
}

/// `which` of the batch with these rows, whose values go to the places from `offset` on.
void Expansion::evaluate(const Part& part, const std::vector<std::size_t>& which, RowBatch& batch_of,
                         const Progress& progress) const {
  std::vector<const KernelPoint*> points;
  for (const std::size_t b : which) points.push_back(&part.points[b]);
  std::vector<double*> values(which.size()), errors(which.size());
  for (std::size_t begin = 0; begin < part.count; begin += rows_of_poll) {
    const std::size_t end = std::min(part.count, begin + rows_of_poll);
    for (std::size_t k = 0; k < which.size(); ++k) {
      values[k] = batch_of.value_at[which[k]] + part.offset + begin;
      errors[k] = batch_of.error_at[which[k]] + part.offset + begin;
    }
    part.rows.evaluate(points, begin, end, values.data(), errors.data());
    progress.work(static_cast<double>(which.size() * (end - begin)) * (part.rows.operations() + 4));
  }
}

void Expansion::evaluate(std::int64_t from, std::size_t count, RowBatch& batch_of, const Progress& progress) const {
  const std::size_t basis = basis_.rows().size();
  std::vector<std::size_t> all, other;
  std::size_t last = 0;
  for (std::size_t b = 0; b < count; ++b) {
    const std::int64_t row = from + static_cast<std::int64_t>(b);
    basis_.rows().set(batch_of.points[b], problem_.data.row(row), progress);
    all.push_back(b);
    if (position(row) < basis_size()) continue;
    other.push_back(b);
    last = std::max(last, static_cast<std::size_t>(position(row)) + 1);
    // Points of compact rows fit these rows only.
    if (others_.layout() == Layout::compact) others_.set(batch_of.other_points[b], problem_.data.row(row), progress);
  }
  evaluate({basis_.rows(), basis, 0, batch_of.points}, all, batch_of, progress);
  if (other.empty()) return;
  const bool compact = others_.layout() == Layout::compact;
  evaluate({others_, last - basis, basis, compact ? batch_of.other_points : batch_of.points}, other, batch_of,
           progress);
}

/// The pass over the rows of the problem. Rows are scored on threads, and counted in their order.
class Pass {
 public:
  Pass(const Problem& problem, const Expansion& expansion, const KernelSum& primal, const KernelSum& dual,
       const Eigen::VectorXd& intercept)
      : primal_norm(static_cast<std::size_t>(problem.outputs())),
        dual_norm(primal_norm),
        tally(objective_of(problem), problem.intercept ? intercept.data() : nullptr),
        problem_(problem),
        expansion_(expansion),
        primal_(primal),
        dual_(dual),
        outputs_(primal_norm.size()),
        scores_(primal_norm) {}
  void run(const Progress& progress);

  std::vector<Enclosure> primal_norm, dual_norm;  ///< squared, per output
  KernelTally tally;

 private:
  void measure(std::int64_t row, double diagonal, double* values, double* errors, std::size_t place);
  void count(std::int64_t row, std::size_t place);

  const Problem& problem_;
  const Expansion& expansion_;
  const KernelSum &primal_, &dual_;
  const std::size_t outputs_;
  std::vector<Enclosure> scores_;
  std::vector<Enclosure> of_primal_, of_dual_;  // of the rows of a block: scores of both sums
  std::vector<double> length_;
};

void Pass::measure(std::int64_t row, double diagonal, double* values, double* errors, std::size_t place) {
  const std::int64_t own = expansion_.position(row);
  const auto at = static_cast<std::size_t>(own);
  const double length = length_[place] = std::sqrt(diagonal);
  if (own >= 0) set_diagonal(diagonal, problem_.dimensions(), values[at], errors[at]);
  for (std::size_t o = 0; o < outputs_; ++o) {
    const auto output = static_cast<std::int32_t>(o);
    of_primal_[place * outputs_ + o] = primal_(output, values, errors, length);
    if (own >= 0) of_dual_[place * outputs_ + o] = dual_.up_to(output, at, values, errors, length);
  }
}

void Pass::count(std::int64_t row, std::size_t place) {
  const std::int64_t own = expansion_.position(row);
  for (std::size_t o = 0; o < outputs_; ++o) {
    scores_[o] = of_primal_[place * outputs_ + o];
    if (own < 0) continue;
    const auto output = static_cast<std::int32_t>(o);
    if (own < expansion_.basis_size())
      primal_.add_to_norm(primal_norm[o], output, static_cast<std::size_t>(own), scores_[o]);
    dual_.add_to_norm(dual_norm[o], output, static_cast<std::size_t>(own), of_dual_[place * outputs_ + o]);
  }
  tally.add(scores_, length_[place], checked_row(problem_, row));
}

void Pass::run(const Progress& progress) {
  const auto n = static_cast<std::size_t>(problem_.rows()), s = expansion_.size();
  const double operations = expansion_.operations() + static_cast<double>(s * 2 * outputs_);
  const std::size_t most = std::min(n, block);
  of_primal_.resize(most * outputs_);
  of_dual_.resize(most * outputs_);
  length_.resize(most);
  Threads& threads = pass_threads(problem_.data, progress);
  Spares<RowBatch> spares(threads.count());
  for (std::size_t begin = 0; begin < n; begin += block) {
    const std::size_t end = std::min(n, begin + block);
    const Chunks batches(static_cast<std::int64_t>((end - begin + batch - 1) / batch), batch * operations);
    threads.run(batches.count(), progress, [&](std::size_t k, const Progress& own) {
      const Spares<RowBatch>::Lent rows(spares, [&] { return RowBatch(s); });
      for (std::int64_t number = batches.begin(k); number < batches.end(k); ++number) {
        const std::size_t from = begin + static_cast<std::size_t>(number) * batch, size = std::min(batch, end - from);
        expansion_.evaluate(static_cast<std::int64_t>(from), size, *rows, own);
        for (std::size_t b = 0; b < size; ++b) {
          measure(static_cast<std::int64_t>(from + b), expansion_.diagonal(*rows, b), rows->value_at[b],
                  rows->error_at[b], from + b - begin);
          own.work(static_cast<double>(s * 2 * outputs_));
        }
      }
    });
    for (std::size_t i = begin; i < end; ++i) count(static_cast<std::int64_t>(i), i - begin);
    progress.work(static_cast<double>((end - begin) * 16 * outputs_));
  }
}

}  // namespace

Certificate certify_kernel(const Problem& problem, const Weights& weights, const KernelBasis& basis,
                           const Eigen::VectorXd& intercept, const Weights& dual, const Progress& progress) {
  const Expansion expansion(problem, basis, dual, progress);
  const KernelDual::Scaled scaled = expansion.dual().scaled(problem.total_weight);
  const KernelSum primal_sum = expansion.sum_of_basis(weights), dual_sum = expansion.sum_of_dual(scaled.coefficients);
  Pass pass(problem, expansion, primal_sum, dual_sum, intercept);
  pass.run(progress);
  return kernel_certificate(objective_of(problem), pass.tally, {primal_sum, pass.primal_norm}, scaled,
                            expansion.dual().terms(), pass.dual_norm);
}

}  // namespace margin
