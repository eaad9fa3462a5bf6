// What a row adds to the risk's check, compiled per loss: with one output a training has many short rows, of which a
// virtual call per question costs more than the answers.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <type_traits>

#include "core/certificate/column_sizes.hpp"
#include "core/certificate/risk.hpp"
#include "core/certificate/side_by_side.hpp"
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

template <class L>
constexpr bool plain_size =
    std::is_same_v<decltype(&L::conjugate_size), double (Loss::*)(double, double, double) const>;

/// L::conjugate_size, without a call where it is that of all losses.
template <class L>
inline double conjugate_size_of(const L& loss, double a, double y, double conjugate) {
  if constexpr (plain_size<L> && !std::is_same_v<L, Loss>) return std::fabs(conjugate) + std::fabs(a * y);
  return loss.conjugate_size(a, y, conjugate);
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
  const double projected = loss.project(std::isnan(a) ? 0.0 : a, y);
  if (projected == 0) return {};
  return dual_part(loss, row, norm + objective_.constant_feature(), projected, loss.conjugate(projected, y), y);
}

/// Of a dual value that is not 0; `length` is that of the row with the constant feature.
template <class L>
inline RiskCheck::DualPart RiskCheck::dual_part(const L& loss, const CheckedRow& row, double length, double dual,
                                                double conjugate, double y) {
  const double c = row.loss_weight;
  return {-c * conjugate, c * conjugate_size_of(loss, dual, y, conjugate), c * std::fabs(dual) * length,
          length + row.x.count + c + 4, c * dual};
}

/// The numbers of output `o`, at which the row has the score u.
template <class L>
inline void RiskCheck::measure_output(const L& loss, const CheckedRow& row, double norm, std::int32_t o, double u,
                                      const LossPoint* point, double* out) const {
  const auto at = static_cast<std::size_t>(o);
  std::fill_n(out, per_output, 0.0);
  const double c = row.loss_weight, b = intercept_ != nullptr ? intercept_[o] : 0.0;
  if (!(c > 0)) return;

  const double y = objective_.task == Task::regression ? row.target : objective_.target(row.label, o);
  const double value = point != nullptr ? point->value : loss.value(u, y);
  // The score errs by at most (terms + 2) ulps of ‖x‖‖w‖ + |b|, u − y by an ulp of its own (which is all that is left
  // of it where |u − y| is nearly ε); a loss carries that on with its slope.
  const double* const w = weights_ + static_cast<std::ptrdiff_t>(o) * objective_.dimensions;
  const double products = is_long(norm) ? absolute_product(row.x, w) : norm * norms_[at];
  double error = epsilon * ((row.x.count + 4.0) * products + 2 * std::fabs(b));
  if (objective_.task == Task::regression) error += epsilon * loss.argument_size(u, y);
  const double steepest = steepest_of(loss, u, y, error);
  out[0] = c * value;
  out[1] = c * (error * steepest + 8 * epsilon * (value + epsilon * std::fabs(y)));
  if (value > 0 || norms_[at] > 0 || b != 0) out[2] = c * (row.x.count + 8.0) * (steepest + 1) + 4;
  DualPart dual;
  if (point != nullptr) {
    if (point->dual != 0)
      dual = dual_part(loss, row, norm + objective_.constant_feature(), point->dual, point->conjugate, y);
  } else if (with_dual_ && row.dual != nullptr) {
    dual = dual_part(loss, row, norm, row.dual[o], y);
  }
  if (dual.coefficient != 0) dual.write(out);
}

template <class L>
void RiskCheck::measure_as(const CheckedRow& row, double norm, std::int32_t o, double u, const LossPoint* point,
                           double* out) const {
  measure_output(static_cast<const L&>(*objective_.loss), row, norm, o, u, point, out);
}

RiskCheck::MeasureOutput RiskCheck::measure_of(const Loss& loss) {
  MeasureOutput found = nullptr;
  visit(loss, [&](const auto& own) { found = &RiskCheck::measure_as<std::decay_t<decltype(own)>>; });
  return found;
}

inline void RiskCheck::write_row(const CheckedRow& row, double norm, bool wrong, bool supports, double* numbers) {
  numbers[0] = 1;
  numbers[1] = wrong ? 1 : 0;
  numbers[2] = norm;
  numbers[3] = row.sample_weight;
  numbers[4] = wrong ? row.loss_weight : 0;
  numbers[5] = supports ? 1 : 0;
}

void RiskCheck::score(const Row& x, double* scores) const {
  for (std::int32_t o = 0; o < objective_.outputs(); ++o)
    scores[o] = dot(x, weights_ + static_cast<std::ptrdiff_t>(o) * objective_.dimensions) +
                (intercept_ != nullptr ? intercept_[o] : 0.0);
}

void RiskCheck::measure(const CheckedRow& row, double norm, const double* scores, const LossPoint* points,
                        double* numbers, double* coefficients) const {
  std::int32_t best = 0;
  bool supports = false;
  for (std::int32_t o = 0; o < objective_.outputs(); ++o) {
    const auto at = static_cast<std::size_t>(o);
    if (scores[at] > scores[best]) best = o;
    double* const out = numbers + head + per_output * at;
    (this->*measure_)(row, norm, o, scores[at], points != nullptr ? points + at : nullptr, out);
    coefficients[o] = out[7];
    supports = supports || out[7] != 0;
  }
  bool wrong = false;
  if (objective_.task == Task::binary)
    wrong = (scores[0] > 0) != (row.label == 1);  // as decide()
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
  const bool apart = with_dual_ && is_long(norm());
  for (std::size_t o = 0; apart && o < outputs_.size(); ++o) numbers_[head + per_output * o + 5] = 0;
  unit_weights_ = unit_weights_ && (apart || row.loss_weight == 1);
  take(numbers_.data());
  if (!(numbers_[5] > 0)) return;
  if (apart)
    add_long(row, norm(), scores_.data());
  else
    take_sums(row.x, coefficients_.data());
}

/// The sums of a long row whose numbers were taken but for its mass.
void RiskCheck::add_long(const CheckedRow& row, double norm, const double* scores) {
  for (std::int32_t o = 0; o < objective_.outputs(); ++o) {
    const double y = objective_.task == Task::regression ? row.target : objective_.target(row.label, o);
    const double a = row.dual != nullptr ? row.dual[o] : settled_dual(*objective_.loss, scores[o], y);
    take_long(row.x, o, norm, row.loss_weight, objective_.loss->project(std::isnan(a) ? 0.0 : a, y), 1);
  }
}

namespace {

// Rows whose numbers stay in the cache: every question for all of them before the next one.
constexpr std::size_t together = 64;

}  // namespace

/// Of one output, all but Σ c a x of short rows: n ≤ `together` rows with their norms and scores. Gives the coefficients of that sum.
void RiskCheck::add_scored(const CheckedRow* rows, std::size_t n, const double* norms, const double* scores,
                           double* coefficients) {
  double numbers[head + per_output], terms[SideBySide::terms * together];
  const bool binary = objective_.task == Task::binary;
  double* const out = numbers + head;
  visit(*objective_.loss, [&](const auto& loss) {
    for (std::size_t k = 0; k < n; ++k) {
      measure_output(loss, rows[k], norms[k], 0, scores[k], nullptr, out);
      coefficients[k] = out[7];
      const bool wrong = binary && (scores[k] > 0) != (rows[k].label == 1);
      write_row(rows[k], norms[k], wrong, coefficients[k] != 0, numbers);
      radius_ = std::max(radius_, norms[k]);
      double* const to = terms + SideBySide::terms * k;
      to[0] = out[0];
      to[1] = out[3];
      to[2] = out[7];
      to[3] = out[8];
      to[4] = numbers[3];
      to[5] = numbers[4];
      to[6] = out[1];
      to[7] = out[2];
      to[8] = out[4];
      to[9] = with_dual_ && is_long(norms[k]) ? 0.0 : out[5];
      to[10] = out[6];
      to[11] = numbers[0];
      to[12] = numbers[1];
      to[13] = numbers[5];
    }
  });
  // take_row() and Output::add() of n rows: the same bits.
  Output& o = outputs_[0];
  ExactSum* const exact[] = {&o.loss, &o.conjugate, &o.intercept, &o.absolute, &total_weight_, &error_weight_};
  double* const plain[] = {&o.loss_error, &o.vanished, &o.conjugate_size, &o.mass, &o.unseen};
  SideBySide sums;
  for (std::size_t k = 0; k < std::size(exact); ++k) sums.set_exact(k, *exact[k]);
  for (std::size_t k = 0; k < std::size(plain); ++k) sums.plain[k] = *plain[k];
  sums.add(terms, n);
  for (std::size_t k = 0; k < std::size(exact); ++k) *exact[k] = sums.exact(k);
  for (std::size_t k = 0; k < std::size(plain); ++k) *plain[k] = sums.plain[k];
  rows_ += static_cast<std::int64_t>(sums.plain[5]);
  errors_ += static_cast<std::int64_t>(sums.plain[6]);
  support_ += static_cast<std::int64_t>(sums.plain[7]);
  for (std::size_t k = 0; k < n; ++k) {
    unit_weights_ = unit_weights_ && rows[k].loss_weight == 1;
    if (coefficients[k] == 0 || !is_long(norms[k])) continue;
    add_long(rows[k], norms[k], scores + k);
    coefficients[k] = 0;
  }
}

void RiskCheck::add_all(const CheckedRow* rows, std::size_t count) {
  if (outputs_.size() > 1) return Check::add_all(rows, count);
  double norms[together], scores[together], coefficients[together];
  const double b = intercept_ != nullptr ? *intercept_ : 0.0;
  for (std::size_t n; count > 0; rows += n, count -= n) {
    n = std::min(count, together);
    for (std::size_t k = 0; k < n; ++k) {
      norms[k] = margin::norm(rows[k].x);
      scores[k] = dot(rows[k].x, weights_) + b;
    }
    add_scored(rows, n, norms, scores, coefficients);
    for (std::size_t k = 0; k < n; ++k)
      if (coefficients[k] != 0) take_sums(rows[k].x, coefficients + k);
  }
}

/// All but the mass and Σ c a x.
void RiskCheck::replace_sums(Output& sum, const DualPart& old, const DualPart& now) {
  sum.conjugate.add(now.conjugate);
  sum.conjugate.add(-old.conjugate);
  sum.conjugate_size += now.size + old.size;
  sum.unseen += now.unseen + old.unseen;
  sum.intercept.add(now.coefficient);
  sum.intercept.add(-old.coefficient);
  sum.absolute.add(std::fabs(now.coefficient));
  sum.absolute.add(-std::fabs(old.coefficient));
}

void RiskCheck::replace_duals(const CheckedRow& mean, const Alike& alike, std::int32_t o, double before, double after) {
  const double y = objective_.task == Task::regression ? mean.target : objective_.target(mean.label, o);
  DualPart parts[2];
  for (int k = 0; k < 2; ++k) {
    DualPart& part = parts[k];
    part = dual_part(*objective_.loss, mean, alike.length, k == 0 ? before : after, y);
    part.size += std::fabs(part.coefficient) * alike.target_size;
    part.unseen *= alike.rows;
  }
  const DualPart &old = parts[0], &now = parts[1];
  const auto rows = static_cast<std::int64_t>(alike.rows);
  if (outputs_.size() == 1) support_ += (now.coefficient != 0 ? rows : 0) - (old.coefficient != 0 ? rows : 0);
  Output& sum = outputs_[static_cast<std::size_t>(o)];
  replace_sums(sum, old, now);
  sum.mass += now.mass + old.mass;
  for (const double c : {now.coefficient, -old.coefficient}) {
    if (c == 0) continue;
    margin::add(c, mean.x, block_.row(o).data());
    block_work_ += mean.x.count;
    ++block_rows_;
  }
}

/// What products with rows as codes need, of one output.
struct RiskCheck::Coded {
  Coded(const CodedRows& codes, const double* weights)
      : scores(codes, weights),
        squares(codes),
        sums(codes),
        cells(sums.size()),
        features(static_cast<std::size_t>(codes.layout().dimensions)) {}
  RowScores scores;
  RowSquares squares;
  RowSums sums;
  std::vector<double> cells, features;
};

void RiskCheck::add_coded(const CodedRows& codes, std::int64_t begin, CheckedRow* rows, std::size_t count) {
  if (outputs_.size() > 1) return Check::add_coded(codes, begin, rows, count);
  if (coded_ == nullptr) coded_ = std::make_shared<Coded>(codes, weights_);
  Coded& c = *coded_;
  const std::int32_t depth = codes.layout().depth();
  double norms[together], scores[together], coefficients[together];
  const double b = intercept_ != nullptr ? *intercept_ : 0.0;
  std::fill(c.cells.begin(), c.cells.end(), 0.0);
  block_rows_ += static_cast<std::int64_t>(count);
  for (std::size_t n; count > 0; rows += n, count -= n, begin += static_cast<std::int64_t>(n)) {
    n = std::min(count, together);
    const std::int64_t end = begin + static_cast<std::int64_t>(n);
    c.squares.write(begin, end, norms);
    c.scores.write(begin, end, 0, scores);
    for (std::size_t k = 0; k < n; ++k) {
      // Squares near the ends of the range say nothing.
      const bool plain = norms[k] <= 1e200 && (norms[k] >= 1e-200 || codes.layout().numbers.empty());
      norms[k] = std::sqrt(norms[k]);
      rows[k].x = sparse_row(nullptr, static_cast<const float*>(nullptr), depth, codes.layout().dimensions);
      if (!plain || is_long(norms[k])) {
        rows[k].x = codes.row(begin + static_cast<std::int64_t>(k));
        norms[k] = margin::norm(rows[k].x);
        scores[k] = dot(rows[k].x, weights_);
      }
      scores[k] += b;
    }
    add_scored(rows, n, norms, scores, coefficients);
    if (with_dual_) c.sums.add(begin, end, coefficients, c.cells.data());
  }
  if (!with_dual_) return;
  c.sums.features(c.cells.data(), c.features.data());
  for (std::size_t j = 0; j < c.features.size(); ++j) block_(0, static_cast<Eigen::Index>(j)) += c.features[j];
  flush();
}

void RiskCheck::replace_dual(const CheckedRow& row, std::int32_t o, double before, double after) {
  const double y = objective_.task == Task::regression ? row.target : objective_.target(row.label, o);
  const double norm = margin::norm(row.x);
  const DualPart old = dual_part(*objective_.loss, row, norm, before, y),
                 now = dual_part(*objective_.loss, row, norm, after, y);
  if (outputs_.size() == 1) support_ += (now.coefficient != 0 ? 1 : 0) - (old.coefficient != 0 ? 1 : 0);
  Output& sum = outputs_[static_cast<std::size_t>(o)];
  replace_sums(sum, old, now);
  const bool apart = is_long(norm);
  if (!apart) sum.mass += now.mass + old.mass;
  // Two terms, not their difference: that would be rounded before it is bounded.
  if (apart) {
    const Loss& loss = *objective_.loss;
    take_long(row.x, o, norm, row.loss_weight, loss.project(std::isnan(after) ? 0.0 : after, y), 1);
    take_long(row.x, o, norm, row.loss_weight, loss.project(std::isnan(before) ? 0.0 : before, y), -1);
    return;
  }
  for (const double c : {now.coefficient, -old.coefficient}) {
    if (c == 0) continue;
    margin::add(c, row.x, block_.row(o).data());
    block_work_ += row.x.count;
    ++block_rows_;
  }
  if (block_rows_ >= 512 && block_work_ >= 8.0 * static_cast<double>(block_.size())) flush();
}

}  // namespace margin
