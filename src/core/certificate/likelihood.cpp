#include "core/certificate/likelihood.hpp"

#include <algorithm>
#include <cmath>

#include "core/math/norm.hpp"
#include "core/math/normal_equations.hpp"
#include "core/math/rounding.hpp"

namespace margin {

namespace {

constexpr std::int64_t rows_per_sum = 512;
// Squares beyond these have no scale that keeps every product in range.
constexpr double smallest_square = 1e-200, largest_square = 1e200;
// What products below the range of double may have taken of a scaled matrix: n (5e-324 · 1e200).
constexpr double vanished = 1e-100;

/// h(s) of the header, ½ ≤ h(s) ≤ 1, rounded up.
double share_of_square(double s, double kappa) {
  if (!(kappa > 0)) return 0.5;
  return s <= 0.5 ? 0.5 + s / 6 + s * s / 6 + 4 * epsilon : 1.0;
}

}  // namespace

LikelihoodCheck::LikelihoodCheck(const Objective& objective, const double* weights, const double* intercept)
    : objective_(objective),
      risk_(objective, weights, intercept, false),
      measure_(objective, weights, intercept),
      columns_(static_cast<std::size_t>(objective.dimensions) + (objective.intercept ? 1 : 0)),
      shifted_(objective.dimensions, objective.intercept),
      packed_(static_cast<std::size_t>(objective.dimensions), objective.intercept ? 1.0 : 0.0),
      gram_(columns_),
      gradient_(columns_, 0.0),
      block_(columns_, 0.0),
      largest_(columns_, 0.0),
      moved_(columns_, 0.0) {}

void LikelihoodCheck::add(const CheckedRow& row) {
  risk_.add(row);
  if (!(row.loss_weight > 0) || !within_) return;
  const double y = objective_.task == Task::regression ? row.target : objective_.target(row.label, 0);
  const LikelihoodRow measured = measure_.measure(row, risk_.scores()[0], y);
  wrong_ = wrong_ || measured.side < 0;
  right_ = right_ || measured.side > 0;
  add_sums(row, measured);
}

void LikelihoodCheck::add_sums(const CheckedRow& row, const LikelihoodRow& measured) {
  const double c = row.loss_weight, slope = measured.slope;
  score_error_ = std::max(score_error_, measured.score_error);
  slope_error_ += measured.slope_error;
  slope_mass_ += c * std::fabs(slope);
  const Row x = shifted_.place(row.x);
  for (std::int32_t k = 0; k < x.count; ++k) {
    double& largest = largest_[static_cast<std::size_t>(x.indices != nullptr ? x.indices[k] : k)];
    largest = std::max(largest, std::fabs(x.value(k)));
  }
  margin::add(c * slope, x, block_.data());
  if (objective_.intercept) {
    block_[columns_ - 1] += c * slope;
    largest_[columns_ - 1] = 1;
  }
  const double weight = c * measured.curvature;
  // Less of the Hessian is still below it.
  if (weight >= smallest_normal && weight < infinity) packed_.add(x, weight, 1.0, gram_, Progress());
  sums_ += x.indices != nullptr ? 1 : 0;  // thin rows are added up one by one
  if (++block_rows_ >= rows_per_sum) flush();
}

bool LikelihoodCheck::take(const std::vector<double>& risk, const std::vector<double>& rows,
                           std::vector<double> gradient, SymmetricMatrix hessian, double additions) {
  if (rows.size() != LikelihoodRows::count || gradient.size() != columns_ || hessian.size() != columns_) return false;
  if (!(rows[0] >= 0 && rows[1] >= 0 && rows[2] >= 0 && additions >= 0 && additions <= 0x1p53)) return false;
  if (!risk_.merge(risk)) return false;
  slope_error_ = rows[0];
  slope_mass_ = rows[1];
  score_error_ = rows[2];
  wrong_ = rows[3] > 0;
  right_ = rows[4] > 0;
  gradient_ = std::move(gradient);
  gram_ = std::move(hessian);
  std::fill(largest_.begin(), largest_.end(), risk_.radius());
  if (objective_.intercept) largest_.back() = 1;
  sums_ = static_cast<std::int64_t>(additions);
  return true;
}

void LikelihoodCheck::flush() const {
  for (std::size_t j = 0; j < columns_; ++j) {
    gradient_[j] += block_[j];
    block_[j] = 0;
  }
  block_rows_ = 0;
}

void LikelihoodCheck::widen(std::int32_t dimensions, const double* weights) {
  risk_.widen(dimensions, weights);
  within_ = false;
}

std::vector<double> LikelihoodCheck::state() const {
  flush();
  packed_.flush(1.0, gram_, Progress());
  std::vector<double> s = risk_.state();
  s.insert(s.end(), {within_ ? 1.0 : 0.0, wrong_ ? 1.0 : 0.0, right_ ? 1.0 : 0.0, static_cast<double>(sums_),
                     slope_error_, slope_mass_, score_error_, shifted_.known() ? 1.0 : 0.0});
  std::vector<double> origin = shifted_.origin();
  origin.resize(columns_, 0.0);
  for (const auto& part : {gradient_, largest_, moved_, origin}) s.insert(s.end(), part.begin(), part.end());
  for (std::size_t j = 0; j < columns_; ++j) s.insert(s.end(), gram_.row(j) + j, gram_.row(j) + columns_);
  return s;
}

bool LikelihoodCheck::merge(const std::vector<double>& s) {
  const std::size_t head = risk_.reductions().size(), own = 8;
  if (s.size() == head) {  // a sum of measured rows
    within_ = false;
    return risk_.merge(s);
  }
  if (s.size() != head + own + 4 * columns_ + columns_ * (columns_ + 1) / 2) return false;
  const auto from = s.begin() + static_cast<std::ptrdiff_t>(head);
  if (!(from[3] >= 0 && from[3] <= 0x1p53 && from[4] >= 0 && from[5] >= 0 && from[6] >= 0)) return false;
  if (!risk_.merge(std::vector<double>(s.begin(), from))) return false;
  if (s[0] == 0) return true;
  within_ = within_ && from[0] != 0;
  wrong_ = wrong_ || from[1] != 0;
  right_ = right_ || from[2] != 0;
  sums_ += static_cast<std::int64_t>(from[3]) + 2;
  slope_error_ += from[4];
  slope_mass_ += from[5];
  score_error_ = std::max(score_error_, from[6]);
  if (from[7] == 0) return true;  // no row counted
  const auto n = static_cast<std::ptrdiff_t>(columns_);
  auto at = from + static_cast<std::ptrdiff_t>(own);
  std::vector<double> gradient(at, at + n), largest(at + n, at + 2 * n), moved(at + 2 * n, at + 3 * n),
      origin(at + 3 * n, at + 4 * n);
  at += 4 * n;
  SymmetricMatrix gram(columns_);
  for (std::size_t j = 0; j < columns_; ++j)
    for (std::size_t k = j; k < columns_; ++k) gram.row(j)[k] = *at++;
  const auto d = static_cast<std::size_t>(objective_.dimensions);
  if (!shifted_.known()) shifted_.set_origin({origin.begin(), origin.begin() + static_cast<std::ptrdiff_t>(d)});
  std::vector<double> delta(d, 0.0);
  bool moves = false;
  for (std::size_t j = 0; j < d; ++j) {
    delta[j] = origin[j] - (shifted_.origin().empty() ? 0.0 : shifted_.origin()[j]);
    moves = moves || delta[j] != 0;
  }
  if (moves && objective_.intercept) {
    const double mass = std::sqrt(std::max(0.0, gram.row(d)[d]));
    for (std::size_t j = 0; j < d; ++j) {
      moved_[j] += std::sqrt(std::max(0.0, gram.row(j)[j])) + mass * std::fabs(delta[j]);
      largest[j] = (largest[j] + std::fabs(delta[j])) * (1 + 2 * epsilon);
      slope_error_ += 8 * epsilon * from[5];
    }
    moved_[d] += mass;
    move_gram(gram, delta);
    move_sum(gradient.data(), delta);
  }
  flush();
  packed_.flush(1.0, gram_, Progress());
  for (std::size_t j = 0; j < columns_; ++j) {
    gradient_[j] += gradient[j];
    largest_[j] = std::max(largest_[j], largest[j]);
    moved_[j] += moved[j];
    for (std::size_t k = j; k < columns_; ++k) gram_.row(j)[k] += gram.row(j)[k];
  }
  return true;
}

/// What is done with the matrix A = S G S, G = Σ c φ'' z zᵀ and S a diagonal of powers of two that brings its diagonal
/// to [1, 4).
struct LikelihoodCheck::Bound {
  Bound(const SymmetricMatrix& gram, const Progress& p) : progress(p), n(gram.size()), matrix(n), factor(n), scale(n) {
    for (std::size_t j = 0; j < n; ++j) {
      const double square = gram.row(j)[j];
      if (!(square >= smallest_square && square <= largest_square)) return;
      scale[j] = std::ldexp(1.0, -(std::ilogb(square) - (std::ilogb(square) & 1)) / 2);
    }
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t k = j; k < n; ++k) matrix.row(j)[k] = gram.row(j)[k] * (scale[j] * scale[k]);
      trace += matrix.row(j)[j];
      progress.work(4.0 * static_cast<double>(n));
    }
    valid = factorised(0);
  }

  bool factorised(double shift) {
    for (std::size_t j = 0; j < n; ++j) {
      std::copy_n(matrix.row(j) + j, n - j, factor.row(j) + j);
      factor.row(j)[j] -= shift;
      progress.work(static_cast<double>(n));
    }
    return factorise(factor, progress);
  }

  /// The least eigenvalue, about.
  double least_eigenvalue() const {
    std::vector<double> v(n);
    for (std::size_t j = 0; j < n; ++j) v[j] = 1 + 0.5 * std::sin(static_cast<double>(j));
    double least = 0;
    for (int i = 0; i < 6; ++i) {
      const double before = lp_norm(v.data(), static_cast<std::int64_t>(n), 2);
      for (double& x : v) x /= before;
      solve_factored(factor, v.data(), &progress);
      least = 1 / lp_norm(v.data(), static_cast<std::int64_t>(n), 2);
    }
    return least;
  }

  /// matrix · v
  std::vector<double> times(const std::vector<double>& v) const {
    std::vector<double> out(n, 0.0);
    for (std::size_t j = 0; j < n; ++j) {
      out[j] += matrix.row(j)[j] * v[j];
      for (std::size_t k = j + 1; k < n; ++k) {
        out[j] += matrix.row(j)[k] * v[k];
        out[k] += matrix.row(j)[k] * v[j];
      }
      progress.work(2.0 * static_cast<double>(n));
    }
    return out;
  }

  const Progress& progress;
  std::size_t n;
  SymmetricMatrix matrix, factor;
  std::vector<double> scale;
  double trace = 0;
  bool valid = false;
};

/// A weight that is known is no part of the minimum.
void LikelihoodCheck::leave_out(std::size_t j) const {
  decouple(gram_, j);
  gradient_[j] = largest_[j] = moved_[j] = 0;
}

// Written for sums, not means: with G = WH and Γ = Wg, νR = (ΓᵀG⁻¹Γ · max zᵀG⁻¹z)^½ and ν² = ΓᵀG⁻¹Γ / W.
double LikelihoodCheck::gap_bound(const Progress& progress) const {
  const double kappa = objective_.loss->self_concordance(), weight = risk_.total_weight();
  if (!within_ || risk_.rows() == 0 || !(kappa * score_error_ < 0.01)) return infinity;
  flush();
  packed_.flush(1.0, gram_, progress);
  if (objective_.offset >= 0) leave_out(static_cast<std::size_t>(objective_.offset));
  Bound a(gram_, progress);
  if (!a.valid) return infinity;
  const auto n = static_cast<double>(columns_), rows = static_cast<double>(risk_.rows());
  const double depth = static_cast<double>(GramBlock::rows_per_block + static_cast<std::size_t>(sums_)) +
                       rows / static_cast<double>(GramBlock::rows_per_block) + 16;
  // Every sum of products errs by `depth` roundings of Σ h |z_j||z_k| ≤ (G_jj G_kk)^½: a matrix of norm at most
  // error · trace. So do the merged ones, by a rounding of what was moved.
  double merged = 0, reach = 0;
  for (std::size_t j = 0; j < columns_; ++j) {
    merged += a.scale[j] * moved_[j] * (a.scale[j] * moved_[j]);
    reach += a.scale[j] * largest_[j] * (a.scale[j] * largest_[j]);
  }
  const double error = 1.05 * (epsilon * depth * a.trace + 16 * epsilon * merged) + vanished;

  // A Cholesky factorisation of A − αI that runs to its end proves A − αI ≥ −(2n + 16)ε trace(A), as what it factorises
  // differs from A − αI by at most γ_(n+4) (a_jj a_kk)^½ (Demmel 1989; Rump 2006, BIT 46, Theorem 2.3).
  double least = 0;
  const std::vector<double> right = [&] {
    std::vector<double> g(columns_);
    for (std::size_t j = 0; j < columns_; ++j) g[j] = a.scale[j] * gradient_[j];
    return g;
  }();
  std::vector<double> step = right;
  solve_factored(a.factor, step.data(), &progress);
  double shift = 0.5 * a.least_eigenvalue();
  for (int i = 0; i < 6 && !(least > 0); ++i, shift /= 4)
    if (a.factorised(shift)) least = shift - (1.05 * (2 * n + 16) * epsilon * a.trace + error);
  if (!(least > 0)) return infinity;
  // The Hessian of the exact scores is at least this share of that of the computed ones.
  const double exact = 1 - 1.01 * kappa * score_error_ - 32 * epsilon;

  // ΓᵀA⁻¹Γ = <Γ, step> + <ρ, step> + ρᵀA⁻¹ρ for ρ = Γ − A step, whatever the step; Γ errs by `moved`, A by `error`.
  const double moved =
      (slope_error_ +
       2 * epsilon * (rows_per_sum + rows / rows_per_sum + static_cast<double>(sums_) + 8) * slope_mass_) *
      std::sqrt(reach) * (1 + (n + 8) * epsilon);
  const std::vector<double> product = a.times(step);
  double along = 0, size = 0, length = 0, rest = 0;
  for (std::size_t j = 0; j < columns_; ++j) {
    along += right[j] * step[j];
    size += std::fabs(right[j] * step[j]);
    length += step[j] * step[j];
    rest += (right[j] - product[j]) * (right[j] - product[j]);
  }
  length = std::sqrt(length) * (1 + n * epsilon);
  rest = std::sqrt(rest) * (1 + n * epsilon) + moved + (error + 4 * (n + 4) * epsilon * a.trace) * length +
         4 * epsilon * lp_norm(right.data(), static_cast<std::int64_t>(columns_), 2);
  const double square = std::max(0.0, along + 2 * n * epsilon * size + (moved + rest) * length + rest * rest / least);
  const double nu = square / exact * (1 + 16 * epsilon) + 1e-290;
  // R²: ‖z‖² in the norm of A⁻¹ is at most Σ_j max_i (s_j z_ij)² over the least eigenvalue.
  const double radius = kappa * kappa * reach / (least * exact) * (1 + (n + 16) * epsilon);
  const double s = std::sqrt(nu * radius) * (1 + 8 * epsilon);
  // P − P* ≤ ν² h(νR), for νR < 1 alone.
  if (kappa > 0 && !(s < 1)) return infinity;
  return nu / weight * share_of_square(s, kappa) * (1 + 8 * epsilon) + tiny;
}

Certificate LikelihoodCheck::certificate(const Progress& progress) const {
  Certificate c = risk_.certificate(progress);
  c.separates = within_ && right_ && !wrong_ && (objective_.task == Task::binary || objective_.loss->log_link());
  const double bound = gap_bound(progress);
  if (bound < infinity && !c.separates) {
    const double least = risk_.least_primal();
    c.lower = std::clamp(least - bound - 2 * epsilon * least, 0.0, std::max(0.0, c.upper));
  }
  set_minimum_gap(c);
  return c;
}

}  // namespace margin
