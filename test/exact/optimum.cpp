#include "optimum.hpp"

namespace exact {

namespace {

/// Solves in place by elimination with pivots; false for a matrix that is singular to half of the digits.
bool solve(Matrix& a, Vector& b) {
  const std::size_t n = b.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t best = k;
    for (std::size_t i = k + 1; i < n; ++i)
      if (abs(a[i][k]) > abs(a[best][k])) best = i;
    Real size;
    for (std::size_t j = 0; j < n; ++j) size = max(size, abs(a[best][j]));
    if (!(abs(a[best][k]) > size * Real(1e-150))) return false;
    std::swap(a[k], a[best]);
    std::swap(b[k], b[best]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const Real factor = a[i][k] / a[k][k];
      if (factor == 0) continue;
      for (std::size_t j = k; j < n; ++j) a[i][j] -= factor * a[k][j];
      b[i] -= factor * b[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) b[k] -= a[k][j] * b[j];
    b[k] /= a[k][k];
  }
  return true;
}

class Soft {
 public:
  explicit Soft(const SoftProblem& p) : p_(p), n_(p.y.size()) {}

  Real score(const Vector& a, std::size_t i) const {
    Real u;
    for (std::size_t j = 0; j < n_; ++j) u += p_.gram[i][j] * p_.c[j] * a[j];
    return u / (p_.lambda * p_.total);
  }
  /// P of the weights that a stands for, if a proves them optimal.
  std::optional<Real> proven(Vector a, const Real& b) const {
    Real rest, size;
    for (std::size_t i = 0; i < n_; ++i) {
      a[i] = p_.loss.project(a[i], p_.y[i]);
      rest += p_.c[i] * a[i];
      size += p_.c[i] * abs(a[i]);
    }
    Real primal, dual, square;
    for (std::size_t i = 0; i < n_; ++i) {
      const Real u = score(a, i);
      square += p_.c[i] * a[i] * u / p_.total;
      primal += p_.c[i] * p_.loss.value(u + b, p_.y[i]) / p_.total;
      dual -= p_.c[i] * p_.loss.conjugate(a[i], p_.y[i]) / p_.total;
    }
    primal += square / Real(2);
    dual -= square / Real(2);
    if (p_.free_intercept && abs(rest) > size * Real(1e-150)) return std::nullopt;
    if (!(abs(primal - dual) <= abs(primal) * Real(1e-30)) || !(primal < Real(1e300))) return std::nullopt;
    return primal;
  }
  /// The a of these pieces.
  std::optional<Real> candidate(const std::vector<std::vector<LossOf::Piece>>& pieces,
                                const std::vector<std::size_t>& at) const {
    Vector a(n_);
    std::vector<std::size_t> on;
    for (std::size_t i = 0; i < n_; ++i) {
      const LossOf::Piece& piece = pieces[i][at[i]];
      if (piece.line)
        on.push_back(i);
      else
        a[i] = piece.value;
    }
    const std::size_t size = on.size() + (p_.free_intercept ? 1 : 0);
    if (p_.free_intercept && on.empty()) return flat(a);
    Matrix m(size, Vector(size));
    Vector right(size);
    const Real scale = p_.lambda * p_.total;
    for (std::size_t r = 0; r < on.size(); ++r) {
      const LossOf::Piece& piece = pieces[on[r]][at[on[r]]];
      for (std::size_t s = 0; s < on.size(); ++s) m[r][s] = p_.gram[on[r]][on[s]] * p_.c[on[s]] / scale;
      m[r][r] += piece.slope;
      right[r] = piece.value - score(a, on[r]);
      if (p_.free_intercept) {
        m[r][on.size()] = 1;
        m[on.size()][r] = p_.c[on[r]];
      }
    }
    for (std::size_t i = 0; p_.free_intercept && i < n_; ++i) right[on.size()] -= p_.c[i] * a[i];
    if (!solve(m, right)) return std::nullopt;
    for (std::size_t r = 0; r < on.size(); ++r) a[on[r]] = right[r];
    return proven(a, p_.free_intercept ? right[on.size()] : Real(0));
  }
  /// No row tells b: any kink may.
  std::optional<Real> flat(const Vector& a) const {
    for (std::size_t i = 0; i < n_; ++i)
      for (const LossOf::Piece& piece : p_.loss.pieces(p_.y[i]))
        if (piece.line)
          if (auto found = proven(a, piece.value - score(a, i))) return found;
    return std::nullopt;
  }

  std::optional<Real> enumerate(const Vector& start) const {
    std::vector<std::vector<LossOf::Piece>> pieces;
    std::vector<std::size_t> at(n_, 0);
    double count = 1;
    for (std::size_t i = 0; i < n_; ++i) {
      pieces.push_back(p_.loss.pieces(p_.y[i]));
      count *= static_cast<double>(pieces.back().size());
      std::size_t guess = 0;  // the fixed piece that the start is on, else a line
      for (std::size_t k = 0; k < pieces[i].size(); ++k) {
        const LossOf::Piece& piece = pieces[i][k];
        const bool fits = piece.line ? piece.value.number() && lies_between(pieces[i], k, start[i])
                                     : abs(start[i] - piece.value) <= Real(1e-12);
        if (fits) guess = k;
      }
      at[i] = guess;
    }
    if (auto found = candidate(pieces, at)) return found;
    if (count > 300) return std::nullopt;
    std::fill(at.begin(), at.end(), 0);
    for (;;) {
      if (auto found = candidate(pieces, at)) return found;
      std::size_t i = 0;
      while (i < n_ && ++at[i] == pieces[i].size()) at[i++] = 0;
      if (i == n_) return std::nullopt;
    }
  }

  /// In the logarithms l of the means b = y − a: l = u(a).
  std::optional<Real> newton_of_means(const Vector& start) const {
    Vector a(n_), l(n_);
    for (std::size_t i = 0; i < n_; ++i) l[i] = log(max(p_.y[i] - start[i], 1e-30));
    for (int step = 0; step < 80; ++step) {
      Matrix m(n_, Vector(n_));
      Vector right(n_);
      for (std::size_t i = 0; i < n_; ++i) a[i] = p_.y[i] - exp(l[i]);
      if (auto found = proven(a, 0)) return found;
      for (std::size_t i = 0; i < n_; ++i) {
        right[i] = score(a, i) - l[i];
        for (std::size_t j = 0; j < n_; ++j) m[i][j] = p_.gram[i][j] * p_.c[j] * exp(l[j]) / (p_.lambda * p_.total);
        m[i][i] += Real(1);
      }
      if (!solve(m, right)) return std::nullopt;
      for (std::size_t i = 0; i < n_; ++i) l[i] += clamp(right[i], -3, 3);
    }
    return std::nullopt;
  }

  std::optional<Real> newton(const Vector& start) const {
    Vector a(n_);
    for (std::size_t i = 0; i < n_; ++i) a[i] = p_.y[i] * clamp(start[i] * p_.y[i], 1e-9, 1 - 1e-9);
    // a_i = y_i σ(−y_i u_i), damped so that a stays inside its domain.
    for (int step = 0; step < 60; ++step) {
      if (auto found = proven(a, 0)) return found;
      Matrix m(n_, Vector(n_));
      Vector right(n_);
      for (std::size_t i = 0; i < n_; ++i) {
        const Real b = a[i] * p_.y[i], rest = Real(1) - b;
        // ln((1 − b)/b) = y u
        right[i] = log(rest / b) - p_.y[i] * score(a, i);
        for (std::size_t j = 0; j < n_; ++j)
          m[i][j] = p_.y[i] * p_.gram[i][j] * p_.c[j] * p_.y[j] / (p_.lambda * p_.total);
        m[i][i] += Real(1) / (b * rest);
      }
      if (!solve(m, right)) return std::nullopt;
      Real share = 1;
      for (std::size_t i = 0; i < n_; ++i) {
        const Real b = a[i] * p_.y[i];
        const Real room = right[i] > 0 ? Real(1) - b : b;
        if (abs(right[i]) * share > room * Real(0.9)) share = room * Real(0.9) / abs(right[i]);
      }
      for (std::size_t i = 0; i < n_; ++i) a[i] += p_.y[i] * share * right[i];
    }
    return std::nullopt;
  }

 private:
  /// Whether a line piece lies between two fixed ones (or an end) around this value.
  static bool lies_between(const std::vector<LossOf::Piece>& pieces, std::size_t k, const Real& a) {
    for (const LossOf::Piece& piece : pieces)
      if (!piece.line && abs(a - piece.value) <= Real(1e-12)) return false;
    if (pieces.size() <= 2) return true;
    if (pieces.size() == 3 && pieces[1].line) return true;
    return (a < 0) == (k < pieces.size() / 2);  // the insensitive losses: one line below 0, one above
  }

  const SoftProblem& p_;
  std::size_t n_;
};

}  // namespace

std::optional<Real> soft_optimum(const SoftProblem& given, const Vector& start) {
  SoftProblem p = given;  // rows without weight say nothing
  Vector begin;
  p.gram.clear();
  p.y.clear();
  p.c.clear();
  for (std::size_t i = 0; i < given.y.size(); ++i) {
    if (!(given.c[i] > 0)) continue;
    p.y.push_back(given.y[i]);
    p.c.push_back(given.c[i]);
    begin.push_back(start[i]);
    Vector row;
    for (std::size_t j = 0; j < given.y.size(); ++j)
      if (given.c[j] > 0) row.push_back(given.gram[i][j]);
    p.gram.push_back(row);
  }
  if (p.y.empty()) return std::nullopt;
  const Soft soft(p);
  if (p.loss.is("poisson")) return soft.newton_of_means(begin);
  return p.loss.is("logistic") ? soft.newton(begin) : soft.enumerate(begin);
}

std::optional<Real> least_square(const Matrix& gram) {
  const std::size_t n = gram.size();
  if (n == 0 || n > 10) return std::nullopt;
  for (unsigned set = 1; set < 1U << n; ++set) {
    std::vector<std::size_t> on;
    for (std::size_t i = 0; i < n; ++i)
      if ((set >> i & 1U) != 0) on.push_back(i);
    // Σ q = 1, <v, z_i> = ‖v‖² on the face: a bordered system, so that a hull around the origin has a solution too.
    const std::size_t size = on.size() + 1;
    Matrix m(size, Vector(size));
    Vector right(size);
    Real largest;
    for (const std::size_t i : on) largest = max(largest, gram[i][i]);
    if (largest == 0) return Real(0);
    for (std::size_t r = 0; r < on.size(); ++r) {
      for (std::size_t s = 0; s < on.size(); ++s) m[r][s] = gram[on[r]][on[s]] / largest;
      m[r][on.size()] = -Real(1);
      m[on.size()][r] = 1;
    }
    right[on.size()] = 1;
    if (!solve(m, right)) continue;
    bool inside = true;
    for (std::size_t r = 0; r < on.size(); ++r) inside &= right[r] >= 0;
    if (!inside) continue;
    const Real square = right[on.size()] * largest;
    bool least = true;
    for (std::size_t i = 0; i < n && least; ++i) {
      Real product;
      for (std::size_t r = 0; r < on.size(); ++r) product += gram[i][on[r]] * right[r];
      least = product >= square - abs(largest) * Real(1e-150);
    }
    if (least) return max(square, 0);
  }
  return std::nullopt;
}

}  // namespace exact
