#include "program.hpp"

#include <cmath>

namespace exact {

Vector solve_symmetric(Matrix m, Vector right) {
  const std::size_t n = right.size();
  Vector scale(n), x(n);
  for (std::size_t j = 0; j < n; ++j) scale[j] = m[j][j] > 0 ? Real(1) / sqrt(m[j][j]) : Real(0);
  for (std::size_t i = 0; i < n; ++i) {
    right[i] *= scale[i];
    for (std::size_t j = 0; j < n; ++j) m[i][j] *= scale[i] * scale[j];
  }
  Real least = 1;
  for (long k = 0; k < mpfr_get_default_prec() - 60; ++k) least *= Real(0.5);
  std::vector<std::size_t> order;
  std::vector<bool> used(n, false);
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t best = n;
    for (std::size_t j = 0; j < n; ++j)
      if (!used[j] && (best == n || m[j][j] > m[best][best])) best = j;
    if (!(m[best][best] > least)) break;
    used[best] = true;
    order.push_back(best);
    for (std::size_t i = 0; i < n; ++i) {
      if (used[i] || m[i][best] == 0) continue;
      const Real factor = m[i][best] / m[best][best];
      for (std::size_t j = 0; j < n; ++j)
        if (!used[j]) m[i][j] -= factor * m[best][j];
      right[i] -= factor * right[best];
    }
  }
  for (std::size_t k = order.size(); k-- > 0;) {
    const std::size_t i = order[k];
    x[i] = right[i];
    for (std::size_t l = k + 1; l < order.size(); ++l) x[i] -= m[i][order[l]] * x[order[l]];
    x[i] /= m[i][i];
  }
  for (std::size_t i = 0; i < n; ++i) x[i] *= scale[i];
  return x;
}

namespace {

/// The point, and one step of Mehrotra's predictor and corrector from it.
class Interior {
 public:
  explicit Interior(const Program& p) : p_(p), theta(p.h.size()), a(p.pieces.size()), low_(a), high_(a) {
    Real most;
    for (const auto& k : p.pieces) most = max(most, max(abs(k.t), 1) * reach_of(k));
    mu_ = most;
    for (std::size_t k = 0; k < a.size(); ++k) {
      const Program::Piece& piece = p.pieces[k];
      if (piece.has_low && piece.has_high)
        a[k] = (piece.low + piece.high) / Real(2);
      else if (piece.has_low)
        a[k] = piece.low + piece.size;
      else if (piece.has_high)
        a[k] = piece.high - piece.size;
      if (piece.has_low) low_[k] = most / (a[k] - piece.low);
      if (piece.has_high) high_[k] = most / (piece.high - a[k]);
    }
  }

  Vector gradient() const {
    Vector out(theta.size());
    for (std::size_t j = 0; j < theta.size(); ++j) out[j] = p_.h[j] * theta[j] + p_.g[j];
    return out;
  }

  /// False where there is no step to go.
  bool step() {
    const std::size_t n = theta.size(), pieces = a.size();
    Vector rest = gradient();
    Matrix hessian(n, Vector(n));
    for (std::size_t j = 0; j < n; ++j) hessian[j][j] = p_.h[j];
    for (const auto& each : p_.smooth) each->add_derivatives(theta, rest, hessian);
    Vector slope(pieces), inverse(pieces);
    Real product;
    int sides = 0;
    for (std::size_t k = 0; k < pieces; ++k) {
      const Program::Piece& piece = p_.pieces[k];
      slope[k] = piece.t - dot(piece.r, theta) - piece.q * a[k] + low_[k] - high_[k];
      Real bend = piece.q;
      if (piece.has_low) {
        bend += low_[k] / (a[k] - piece.low);
        product += low_[k] * (a[k] - piece.low);
        ++sides;
      }
      if (piece.has_high) {
        bend += high_[k] / (piece.high - a[k]);
        product += high_[k] * (piece.high - a[k]);
        ++sides;
      }
      inverse[k] = Real(1) / bend;
      for (std::size_t i = 0; i < n; ++i) {
        rest[i] -= a[k] * piece.r[i];
        if (piece.r[i] == 0) continue;
        const Real share = inverse[k] * piece.r[i];
        for (std::size_t j = 0; j < n; ++j)
          if (!(piece.r[j] == 0)) hessian[i][j] += share * piece.r[j];
      }
    }
    if (sides > 0) mu_ = product / Real(sides);
    Step s = direction(hessian, rest, slope, inverse, 0, nullptr);
    if (sides > 0) {
      const Real t = longest(s);
      Real after;
      for (std::size_t k = 0; k < pieces; ++k) {
        const Program::Piece& piece = p_.pieces[k];
        if (piece.has_low) after += (low_[k] + t * s.low[k]) * (a[k] - piece.low + t * s.a[k]);
        if (piece.has_high) after += (high_[k] + t * s.high[k]) * (piece.high - a[k] - t * s.a[k]);
      }
      const Real ratio = after / product;
      const Real centre = max(ratio * ratio * ratio, Real(1e-12));
      s = direction(hessian, rest, slope, inverse, centre * mu_, t > Real(0.1) ? &s : nullptr);
    }
    Real t = min(longest(s) * Real(0.995), 1);
    Real reach;
    for (const auto& each : p_.smooth) reach = max(reach, each->reach(s.theta));
    if (!reach.number() || !t.number()) return false;
    if (reach > Real(1e-30)) t = min(t, log1p(reach) / reach);
    for (std::size_t j = 0; j < n; ++j) theta[j] += t * s.theta[j];
    for (std::size_t k = 0; k < pieces; ++k) {
      a[k] += t * s.a[k];
      low_[k] += t * s.low[k];
      high_[k] += t * s.high[k];
    }
    return true;
  }

 private:
  struct Step {
    Vector theta, a, low, high;
  };
  static Real reach_of(const Program::Piece& k) { return k.has_low && k.has_high ? k.high - k.low : k.size; }

  Step direction(const Matrix& hessian, const Vector& rest, const Vector& slope, const Vector& inverse, const Real& mu,
                 const Step* before) const {
    const std::size_t n = theta.size(), pieces = a.size();
    Vector right(n), push(pieces), of_low(pieces), of_high(pieces);
    for (std::size_t j = 0; j < n; ++j) right[j] = -rest[j];
    for (std::size_t k = 0; k < pieces; ++k) {
      const Program::Piece& piece = p_.pieces[k];
      push[k] = slope[k];
      if (piece.has_low) {
        const Real room = a[k] - piece.low;
        of_low[k] = mu - low_[k] * room;
        if (before != nullptr) of_low[k] -= before->low[k] * before->a[k];
        push[k] += of_low[k] / room;
      }
      if (piece.has_high) {
        const Real room = piece.high - a[k];
        of_high[k] = mu - high_[k] * room;
        if (before != nullptr) of_high[k] += before->high[k] * before->a[k];
        push[k] -= of_high[k] / room;
      }
      for (std::size_t j = 0; j < n; ++j) right[j] += piece.r[j] * push[k] * inverse[k];
    }
    Step s{solve_symmetric(hessian, right), Vector(pieces), Vector(pieces), Vector(pieces)};
    for (std::size_t k = 0; k < pieces; ++k) {
      const Program::Piece& piece = p_.pieces[k];
      s.a[k] = (push[k] - dot(piece.r, s.theta)) * inverse[k];
      if (piece.has_low) s.low[k] = (of_low[k] - low_[k] * s.a[k]) / (a[k] - piece.low);
      if (piece.has_high) s.high[k] = (of_high[k] + high_[k] * s.a[k]) / (piece.high - a[k]);
    }
    return s;
  }

  /// The longest step, at most 1/0.995, that stays inside.
  Real longest(const Step& s) const {
    Real t = Real(1) / Real(0.995);
    const auto bound = [&](const Real& room, const Real& change) {
      if (change < 0) t = min(t, room / -change);
    };
    for (std::size_t k = 0; k < a.size(); ++k) {
      const Program::Piece& piece = p_.pieces[k];
      if (piece.has_low) {
        bound(a[k] - piece.low, s.a[k]);
        bound(low_[k], s.low[k]);
      }
      if (piece.has_high) {
        bound(piece.high - a[k], -s.a[k]);
        bound(high_[k], s.high[k]);
      }
    }
    return t;
  }

  const Program& p_;

 public:
  Vector theta, a;

 private:
  Vector low_, high_;
  Real mu_;
};

}  // namespace

bool solve(const Program& p, const std::function<bool(const Vector&, const Vector&)>& done, int steps) {
  Interior point(p);
  for (int step = 0; step < steps; ++step) {
    if (!point.step()) return false;
    if (done(point.theta, point.a)) return true;
  }
  return false;
}

}  // namespace exact
