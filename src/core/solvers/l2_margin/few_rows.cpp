// The margin of a few rows, in one piece of memory.
//
// Problem    that of cutting_plane.cpp, for two classes and at most 64 rows: the point of least norm of
//            Σ q_j z_j over q ≥ 0, A q = r, where z_j = ± scale · x_j and A q = r are the weights' sums by class.
// Update     that of min_norm_point.hpp, on the Gram matrix of all rows: solve the equality problem on the members, walk
//            towards it until a weight reaches 0, drop that member, repeat; then enter the row of most negative reduced
//            gradient. At the end one step of refinement with products from the rows.
// Stop       when no reduced gradient is below −accuracy · ‖w‖² − 1e-15; without an answer when that takes more than 8
//            entries per row, or a system has no digits.
// Source     Wolfe (1976).
#include "core/solvers/l2_margin/few_rows.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/math/norm.hpp"
#include "core/math/rounding.hpp"
#include "core/solvers/l2_margin/floors.hpp"

namespace margin {

namespace {

constexpr std::int64_t most_rows = 64;
constexpr std::int64_t most_numbers = 4096;  // of the rows, as dense ones

using Two = std::array<double, 2>;

/// y += a x
inline void add_multiple(double a, const double* x, double* y, std::size_t n) {
#pragma omp simd
  for (std::size_t i = 0; i < n; ++i) y[i] += a * x[i];
}

inline double inner(const double* x, const double* y, std::size_t n) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::size_t i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

class FewRows {
 public:
  explicit FewRows(const Problem& problem)
      : problem_(problem),
        n_(static_cast<std::size_t>(problem.rows())),
        d_(static_cast<std::size_t>(problem.dimensions())),
        scale_(unit_scale(problem.data.radius())),
        memory_(n_ * (d_ + 2 * n_ + 7) + d_),
        z_(memory_.data()),
        gram_(z_ + n_ * d_),
        factor_(gram_ + n_ * n_),
        reduced_{factor_ + n_ * n_, factor_ + n_ * n_ + n_},
        q_(reduced_[1] + n_),
        target_(q_ + n_),
        row_(target_ + n_),
        products_(row_ + n_),
        held_(products_ + n_),
        w_(held_ + n_) {
    for (std::size_t i = 0; i < n_; ++i) take(i);
  }

  std::optional<FewRowsMargin> solve(double accuracy, const Progress& progress) {
    FewRowsMargin out;
    start_at_means();
    offer(out.best);
    out.first = out.best.bounds;
    multiply();
    progress.work(static_cast<double>(n_ * (n_ + 4) * d_));
    if (!choose_start() || !least_norm(accuracy, progress) || !refine()) return std::nullopt;
    out.best.bounds.reduce(offer(out.best));
    out.q = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(n_));
    for (std::size_t m = 0; m < size_; ++m) out.q(static_cast<Eigen::Index>(members_[m])) = q_[m];
    return out;
  }

 private:
  /// Which of the equality constraints a row is in: of two with a free intercept, of one without.
  std::size_t side(std::size_t i) const { return problem_.intercept ? own(i) : 0; }
  std::size_t sides() const { return problem_.intercept ? 2 : 1; }
  std::size_t own(std::size_t i) const { return static_cast<std::size_t>(problem_.label[i]); }

  void take(std::size_t i) {
    const Row x = problem_.data.row(static_cast<std::int64_t>(i));
    const double by = own(i) == 1 ? scale_ : -scale_;
    for (std::int32_t k = 0; k < x.count; ++k)
      z_[static_cast<std::size_t>(x.indices != nullptr ? x.indices[k] : k) * n_ + i] = by * x.value(k);
  }

  /// <z_i, z_j> of all rows.
  void multiply() {
    for (std::size_t i = 0; i < n_; ++i) {
      double* column = gram_ + i * n_;
      for (std::size_t j = 0; j < d_; ++j) add_multiple(z_[j * n_ + i], z_ + j * n_, column, i + 1);
      for (std::size_t k = 0; k < i; ++k) gram_[k * n_ + i] = column[k];
    }
  }

  void start_at_means() {
    Two count{0, 0};
    for (std::size_t i = 0; i < n_; ++i) count[side(i)] += 1;
    for (std::size_t i = 0; i < n_; ++i) row_[i] = 1 / count[side(i)];
    for (std::size_t j = 0; j < d_; ++j) w_[j] = inner(row_, z_ + j * n_, n_);
  }

  /// <z_i, w> of all rows.
  void score() {
    std::fill(products_, products_ + n_, 0.0);
    for (std::size_t j = 0; j < d_; ++j) add_multiple(w_[j], z_ + j * n_, products_, n_);
  }

  /// Offers w; its norm in the units of the rows.
  double offer(BestMargin& best) {
    score();
    Two least{infinity, infinity};
    for (std::size_t i = 0; i < n_; ++i) least[own(i)] = std::min(least[own(i)], products_[i] / scale_);
    const double norm = std::sqrt(inner(w_, w_, d_));
    Eigen::VectorXd offsets = Eigen::VectorXd::Zero(2);
    if (problem_.intercept) offsets(1) = 0.5 * (least[0] - least[1]);
    const double value = problem_.intercept ? 0.5 * (least[0] + least[1]) : std::min(least[0], least[1]);
    best.offer(norm > 0 ? value / norm : 0.0, Eigen::Map<const Weights>(w_, 1, static_cast<Eigen::Index>(d_)), offsets);
    return norm / scale_;
  }

  bool choose_start() {
    constexpr std::size_t none = most_rows;
    std::array<std::size_t, 2> shortest{none, none};
    for (std::size_t i = 0; i < n_; ++i) {
      std::size_t& best = shortest[side(i)];
      if (best == none || gram_[i * n_ + i] < gram_[best * n_ + best]) best = i;
    }
    for (std::size_t c = 0; c < sides(); ++c) {
      if (shortest[c] == none) return false;
      enter(shortest[c]);
    }
    std::fill(q_, q_ + size_, 1.0 / static_cast<double>(size_));
    return minor_cycles();
  }

  /// <z_i, z_j> and the product of their constraints: positive definite where the Gram matrix alone is not, with the
  /// same solution, as A q is fixed.
  double system(std::size_t i, std::size_t j) const { return gram_[i * n_ + j] + (side(i) == side(j) ? 1 : 0); }

  /// L⁻¹ v in place.
  void solve_lower(double* v) const {
    for (std::size_t j = 0; j < size_; ++j) {
      const double* column = factor_ + j * n_;
      v[j] /= column[j];
      add_multiple(-v[j], column + j + 1, v + j + 1, size_ - j - 1);
    }
  }

  /// L⁻ᵀ v in place.
  void solve_transposed(double* v) const {
    for (std::size_t j = size_; j-- > 0;) {
      const double* column = factor_ + j * n_;
      v[j] = (v[j] - inner(column + j + 1, v + j + 1, size_ - j - 1)) / column[j];
    }
  }

  void enter(std::size_t i) {
    for (std::size_t m = 0; m < size_; ++m) row_[m] = system(members_[m], i);
    solve_lower(row_);
    const double square = system(i, i);
    const double pivot = std::sqrt(std::max(square - inner(row_, row_, size_), pivot_floor * square));
    for (std::size_t m = 0; m < size_; ++m) factor_[m * n_ + size_] = row_[m];
    factor_[size_ * n_ + size_] = pivot;
    for (std::size_t c = 0; c < sides(); ++c)
      reduced_[c][size_] = ((side(i) == c ? 1 : 0) - inner(row_, reduced_[c], size_)) / pivot;
    q_[size_] = 0;
    held_[i] = 1;
    members_[size_++] = i;
  }

  void drop(std::size_t at) {
    held_[members_[at]] = 0;
    const std::size_t last = --size_;
    for (std::size_t m = at; m < last; ++m) {
      members_[m] = members_[m + 1];
      q_[m] = q_[m + 1];
    }
    // Drop row `at` of every column; the columns from `at` on then have one entry above the diagonal's place, which
    // rotations take away.
    for (std::size_t j = 0; j <= last; ++j) {
      double* column = factor_ + j * n_;
      for (std::size_t i = std::max(at + 1, j) - 1; i < last; ++i) column[i] = column[i + 1];
    }
    for (std::size_t j = at; j < last; ++j) {
      double *a = factor_ + j * n_, *b = a + n_;
      const double r = std::sqrt(a[j] * a[j] + b[j] * b[j]), cosine = a[j] / r, sine = b[j] / r;
      rotate(cosine, sine, a + j, b + j, last - j);
      for (std::size_t c = 0; c < sides(); ++c) rotate(cosine, sine, &reduced_[c][j], &reduced_[c][j + 1], 1);
    }
  }

  static void rotate(double cosine, double sine, double* a, double* b, std::size_t n) {
#pragma omp simd
    for (std::size_t i = 0; i < n; ++i) {
      const double u = a[i], v = b[i];
      a[i] = cosine * u + sine * v;
      b[i] = cosine * v - sine * u;
    }
  }

  /// YᵀY x = v, for the multipliers; false when that has no digits.
  bool solve_multipliers(const Two& v, Two& x) const {
    const double a = inner(reduced_[0], reduced_[0], size_);
    if (sides() == 1) {
      x = {v[0] / a, 0};
      return a > 0;
    }
    const double b = inner(reduced_[0], reduced_[1], size_), c = inner(reduced_[1], reduced_[1], size_);
    const std::size_t first = a >= c ? 0 : 1, second = 1 - first;
    const double top = std::max(a, c), factor = b / top, rest = std::min(a, c) - factor * b;
    if (!(rest > 1e-13 * top)) return false;
    x[second] = (v[second] - factor * v[first]) / rest;
    x[first] = (v[first] - b * x[second]) / top;
    return true;
  }

  Two right_side() const { return problem_.intercept ? Two{0.5, 0.5} : Two{1, 0}; }

  /// The solution of the equality problem on the members, with its multipliers.
  bool solve_equality() {
    Two nu;
    const Two r = right_side();
    if (!solve_multipliers(r, nu)) return false;
    multipliers_ = {nu[0] - r[0], nu[1] - r[1]};
    for (std::size_t m = 0; m < size_; ++m) {
      target_[m] = reduced_[0][m] * nu[0];
      if (sides() == 2) target_[m] += reduced_[1][m] * nu[1];
    }
    solve_transposed(target_);
    return true;
  }

  bool minor_cycles() {
    for (;;) {
      if (!solve_equality()) return false;
      double step = 1;
      std::size_t blocking = size_;
      for (std::size_t m = 0; m < size_; ++m) {
        if (target_[m] >= -zero_weight) continue;
        const double ratio = q_[m] / (q_[m] - target_[m]);
        if (blocking < size_ && !(ratio < step)) continue;
        step = ratio;
        blocking = m;
      }
      for (std::size_t m = 0; m < size_; ++m)
        q_[m] = std::max(0.0, blocking < size_ ? q_[m] + step * (target_[m] - q_[m]) : target_[m]);
      if (blocking == size_) return true;
      drop(blocking);
    }
  }

  bool least_norm(double accuracy, const Progress& progress) {
    for (std::size_t entries = 0; entries < 8 * n_; ++entries) {
      progress.work(static_cast<double>(size_ * (n_ + 4 * size_)));
      std::fill(products_, products_ + n_, 0.0);
      for (std::size_t m = 0; m < size_; ++m) add_multiple(q_[m], gram_ + members_[m] * n_, products_, n_);
      double square = 0;
      for (std::size_t m = 0; m < size_; ++m) square += q_[m] * products_[members_[m]];
      double least = -accuracy * std::max(square, 0.0) - rounding_floor;
      std::size_t worst = n_;
      for (std::size_t i = 0; i < n_; ++i) {
        const double gradient = products_[i] - multipliers_[side(i)];
        if (held_[i] != 0 || !(gradient < least)) continue;
        least = gradient;
        worst = i;
      }
      if (worst == n_) return true;
      enter(worst);
      if (!minor_cycles()) return false;
    }
    return false;
  }

  /// w = Σ q z, from the rows.
  void combine() {
    std::fill(row_, row_ + n_, 0.0);
    for (std::size_t m = 0; m < size_; ++m) row_[members_[m]] = q_[m];
    for (std::size_t j = 0; j < d_; ++j) w_[j] = inner(row_, z_ + j * n_, n_);
  }

  /// One step of refinement: the members' products, taken from the rows, become equal to what the multipliers say.
  bool refine() {
    combine();
    score();
    Two missing = right_side(), mu;
    for (std::size_t m = 0; m < size_; ++m) {
      missing[side(members_[m])] -= q_[m];
      target_[m] = multipliers_[side(members_[m])] - products_[members_[m]];
    }
    solve_lower(target_);
    Two rest = missing;
    for (std::size_t c = 0; c < sides(); ++c) rest[c] -= inner(reduced_[c], target_, size_);
    if (!solve_multipliers(rest, mu)) return false;
    for (std::size_t c = 0; c < sides(); ++c) add_multiple(mu[c], reduced_[c], target_, size_);
    solve_transposed(target_);
    bool better = true;
    for (std::size_t m = 0; m < size_; ++m) better = better && q_[m] + target_[m] >= 0;
    if (!better) return true;
    for (std::size_t m = 0; m < size_; ++m) q_[m] += target_[m];
    combine();
    return true;
  }

  const Problem& problem_;
  std::size_t n_, d_;
  double scale_;  // a power of two: exact
  std::vector<double> memory_;
  double* z_;                       // feature by feature, a number of each row
  double* gram_;                    // n × n
  double* factor_;                  // L, column by column: L Lᵀ = the members' system
  std::array<double*, 2> reduced_;  // Y = L⁻¹ Aᵀ
  double *q_, *target_, *row_;      // of the members
  double *products_, *held_;        // of the rows
  double* w_;
  std::array<std::size_t, most_rows> members_;
  std::size_t size_ = 0;
  Two multipliers_{0, 0};
};

}  // namespace

std::optional<FewRowsMargin> margin_of_few_rows(const Problem& problem, double accuracy, const Progress& progress) {
  if (problem.outputs() != 1 || problem.rows() > most_rows || problem.rows() * problem.dimensions() > most_numbers)
    return std::nullopt;
  return FewRows(problem).solve(accuracy, progress);
}

}  // namespace margin
