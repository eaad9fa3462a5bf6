// What a row adds to the risk's check, compiled per loss: with one output a training has many short rows, of which a
// virtual call per question costs more than the answers.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "core/certificate/risk.hpp"
#include "core/loss/registry.hpp"
#include "core/math/rounding.hpp"

namespace margin {

namespace {

template <class L>
constexpr bool plain_slope = std::is_same_v<decltype(&L::steepest), double (Loss::*)(double, double, double) const>;

/// L::steepest, without a call where it is that of all losses, and the slope bounded.
template <class L>
inline double steepest_of(const L& loss, double u, double y, double error) {
  if constexpr (plain_slope<L> && !std::is_same_v<L, Loss>)
    if (const double slope = loss.lipschitz(); slope < infinity) return slope;
  return loss.steepest(u, y, error);
}

}  // namespace

inline void RiskCheck::Output::add(const double* n) {
  loss.add(n[0]);
  loss_error += n[1];
  vanished += n[2];
  conjugate.add(n[3]);
  conjugate_size += n[4];
  mass += n[5];
  unseen += n[6];
  intercept.add(n[7]);
  absolute.add(n[8]);
}

/// What a dual value adds to the sums of an output, and the coefficient of the row in Σ c a x.
struct RiskCheck::DualPart {
  double conjugate = 0, size = 0, mass = 0, unseen = 0, coefficient = 0;

  void write(double* n) const {
    n[3] = conjugate;
    n[4] = size;
    n[5] = mass;
    n[6] = unseen;
    n[7] = coefficient;
    n[8] = std::fabs(coefficient);
  }
};

template <class L>
RiskCheck::DualPart RiskCheck::dual_part(const L& loss, const CheckedRow& row, double norm, double a, double y) const {
  const double c = row.loss_weight, projected = loss.project(std::isnan(a) ? 0.0 : a, y);
  if (projected == 0) return {};
  const double conjugate = loss.conjugate(projected, y);
  return {-c * conjugate, c * loss.conjugate_size(projected, y, conjugate),
          c * std::fabs(projected) * (norm + objective_.constant_feature()),
          norm + objective_.constant_feature() + row.x.count + c + 4, c * projected};
}

/// The numbers of output `o`, at which the row has the score u.
template <class L>
inline void RiskCheck::measure_output(const L& loss, const CheckedRow& row, double norm, std::int32_t o, double u,
                                      double* out) const {
  const auto at = static_cast<std::size_t>(o);
  std::fill_n(out, per_output, 0.0);
  const double c = row.loss_weight, b = intercept_ != nullptr ? intercept_[o] : 0.0;
  if (!(c > 0)) return;

  const double y = objective_.task == Task::regression ? row.target : objective_.target(row.label, o);
  const double value = loss.value(u, y);
  // The score errs by at most (terms + 2) ulps of ‖x‖‖w‖ + |b|, u − y by an ulp of its own (which is all that is left
  // of it where |u − y| is nearly ε); a loss carries that on with its slope.
  double error = epsilon * ((row.x.count + 4.0) * (norm * norms_[at]) + 2 * std::fabs(b));
  if (objective_.task == Task::regression) error += epsilon * loss.argument_size(u, y);
  const double steepest = steepest_of(loss, u, y, error);
  out[0] = c * value;
  out[1] = c * (error * steepest + 8 * epsilon * (value + epsilon * std::fabs(y)));
  if (value > 0 || norms_[at] > 0 || b != 0) out[2] = c * (row.x.count + 8.0) * (steepest + 1) + 4;
  if (!with_dual_ || (row.dual == nullptr && !slopes_)) return;
  const double a = row.dual != nullptr ? row.dual[o] : settled_dual(loss, u, y);
  const DualPart dual = dual_part(loss, row, norm, a, y);
  if (dual.coefficient != 0) dual.write(out);
}

inline void RiskCheck::write_row(const CheckedRow& row, double norm, bool wrong, bool supports, double* numbers) {
  numbers[0] = 1;
  numbers[1] = wrong ? 1 : 0;
  numbers[2] = norm;
  numbers[3] = row.sample_weight;
  numbers[4] = wrong ? row.loss_weight : 0;
  numbers[5] = supports ? 1 : 0;
}

void RiskCheck::measure(const CheckedRow& row, double* numbers, double* coefficients) {
  const Row& x = row.x;
  const double norm = margin::norm(x);
  std::int32_t best = 0;
  bool supports = false;
  for (std::int32_t o = 0; o < objective_.outputs(); ++o) {
    const auto at = static_cast<std::size_t>(o);
    const double u = dot(x, weights_ + static_cast<std::ptrdiff_t>(o) * objective_.dimensions) +
                     (intercept_ != nullptr ? intercept_[o] : 0.0);
    scores_[at] = u;
    if (u > scores_[static_cast<std::size_t>(best)]) best = o;
    double* const out = numbers + head + per_output * at;
    measure_output(*objective_.loss, row, norm, o, u, out);
    coefficients[o] = out[7];
    supports = supports || out[7] != 0;
  }
  bool wrong = false;
  if (objective_.task == Task::binary)
    wrong = (scores_[0] > 0) != (row.label == 1);  // as decide()
  else if (objective_.task == Task::multiclass)
    wrong = best != row.label;
  write_row(row, norm, wrong, supports, numbers);
}

inline void RiskCheck::take_row(const double* numbers) {
  rows_ += static_cast<std::int64_t>(numbers[0]);
  errors_ += static_cast<std::int64_t>(numbers[1]);
  radius_ = std::max(radius_, numbers[2]);
  total_weight_.add(numbers[3]);
  error_weight_.add(numbers[4]);
  support_ += static_cast<std::int64_t>(numbers[5]);
}

void RiskCheck::take(const double* numbers) {
  take_row(numbers);
  for (std::size_t o = 0; o < outputs_.size(); ++o) outputs_[o].add(numbers + head + per_output * o);
}

void RiskCheck::take_sums(const Row& x, const double* coefficients) {
  for (Eigen::Index o = 0; o < block_.rows(); ++o) {
    if (coefficients[o] == 0) continue;
    margin::add(coefficients[o], x, block_.row(o).data());
    block_work_ += x.count;
  }
  ++block_rows_;
  if (block_rows_ >= 512 && block_work_ >= 8.0 * static_cast<double>(block_.size())) flush();
}

void RiskCheck::add(const CheckedRow& row) {
  measure(row, numbers_.data(), coefficients_.data());
  take(numbers_.data());
  if (numbers_[5] > 0) take_sums(row.x, coefficients_.data());
}

void RiskCheck::add_all(const CheckedRow* rows, std::size_t count) {
  if (outputs_.size() > 1) return Check::add_all(rows, count);
  // In parts whose numbers stay in the cache, and every question for all of a part before the next one.
  constexpr std::size_t part = 64;
  double norms[part], scores[part], coefficients[part], numbers[head + per_output];
  const double b = intercept_ != nullptr ? *intercept_ : 0.0;
  const bool binary = objective_.task == Task::binary;
  for (; count > 0; rows += std::min(count, part), count -= std::min(count, part)) {
    const std::size_t n = std::min(count, part);
    for (std::size_t k = 0; k < n; ++k) {
      norms[k] = margin::norm(rows[k].x);
      scores[k] = dot(rows[k].x, weights_) + b;
    }
    visit(*objective_.loss, [&](const auto& loss) {
      Output sum = outputs_[0];
      for (std::size_t k = 0; k < n; ++k) {
        measure_output(loss, rows[k], norms[k], 0, scores[k], numbers + head);
        coefficients[k] = numbers[head + 7];
        const bool wrong = binary && (scores[k] > 0) != (rows[k].label == 1);
        write_row(rows[k], norms[k], wrong, coefficients[k] != 0, numbers);
        take_row(numbers);
        sum.add(numbers + head);
      }
      outputs_[0] = sum;
    });
    for (std::size_t k = 0; k < n; ++k)
      if (coefficients[k] != 0) take_sums(rows[k].x, coefficients + k);
  }
}

void RiskCheck::replace_dual(const CheckedRow& row, std::int32_t o, double before, double after) {
  const double y = objective_.task == Task::regression ? row.target : objective_.target(row.label, o);
  const double norm = margin::norm(row.x);
  const DualPart old = dual_part(*objective_.loss, row, norm, before, y),
                 now = dual_part(*objective_.loss, row, norm, after, y);
  if (outputs_.size() == 1) support_ += (now.coefficient != 0 ? 1 : 0) - (old.coefficient != 0 ? 1 : 0);
  Output& sum = outputs_[static_cast<std::size_t>(o)];
  sum.conjugate.add(now.conjugate);
  sum.conjugate.add(-old.conjugate);
  sum.conjugate_size += now.size + old.size;
  sum.mass += now.mass + old.mass;
  sum.unseen += now.unseen + old.unseen;
  sum.intercept.add(now.coefficient);
  sum.intercept.add(-old.coefficient);
  sum.absolute.add(std::fabs(now.coefficient));
  sum.absolute.add(-std::fabs(old.coefficient));
  // Two terms, not their difference: that would be rounded before it is bounded.
  for (const double c : {now.coefficient, -old.coefficient}) {
    if (c == 0) continue;
    margin::add(c, row.x, block_.row(o).data());
    block_work_ += row.x.count;
    ++block_rows_;
  }
  if (block_rows_ >= 512 && block_work_ >= 8.0 * static_cast<double>(block_.size())) flush();
}

}  // namespace margin
