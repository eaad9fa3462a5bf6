#include "oracle.hpp"

#include <cmath>

namespace exact {

namespace {

/// Σ c φ/W of the losses that are no pieces: logistic and poisson, of scores r·θ + offset.
class SmoothRow final : public SmoothTerm {
 public:
  SmoothRow(bool counts, Vector r, Real offset, Real y, Real c)
      : counts_(counts), r_(std::move(r)), offset_(std::move(offset)), y_(std::move(y)), c_(std::move(c)) {}

  /// −φ', the dual variable of the row, and φ''.
  std::pair<Real, Real> derivatives(const Vector& at) const {
    const Real u = dot(r_, at) + offset_;
    if (counts_) {
      const Real mean = exp(u);
      return {y_ - mean, mean};
    }
    const Real m = y_ * u, e = exp(-abs(m)), one = 1;
    const Real share = m > 0 ? e / (one + e) : one / (one + e);  // 1/(1 + e^m)
    return {y_ * share, e / ((one + e) * (one + e))};
  }
  void add_derivatives(const Vector& at, Vector& gradient, Matrix& hessian) const override {
    const auto [a, bend] = derivatives(at);
    for (std::size_t i = 0; i < r_.size(); ++i) {
      gradient[i] -= c_ * a * r_[i];
      if (r_[i] == 0) continue;
      for (std::size_t j = 0; j < r_.size(); ++j) hessian[i][j] += c_ * bend * r_[i] * r_[j];
    }
  }
  Real reach(const Vector& step) const override { return abs(dot(r_, step)); }

 private:
  bool counts_;
  Vector r_;
  Real offset_, y_, c_;
};

class Oracle {
 public:
  explicit Oracle(const OracleProblem& p) : p_(p), width_(p.x.empty() ? 0 : p.x[0].size()), total_(p.total) {
    if (total_ == 0)
      for (const Real& c : p.c) total_ += c;
    one_class_ = p.loss.is("one_class");
    smooth_ = p.loss.is("logistic") || p.loss.is("poisson");
    const bool intercept = p.intercept != OracleProblem::Intercept::none;
    variables_ = width_ + (intercept ? 1 : 0);
    make_scales();
    program_.g.assign(variables_, Real());
    for (std::size_t j = 0; j < width_; ++j) {
      program_.h.push_back(p.lambda * (Real(1) - p.l1_ratio) * factor(j) * scale_[j] * scale_[j]);
      const Real kappa = p.lambda * p.l1_ratio * factor(j) * scale_[j];
      if (!(kappa > 0)) continue;
      Program::Piece piece = made(0, -kappa, kappa, 0);
      piece.r[j] = 1;
      program_.pieces.push_back(piece);
    }
    if (intercept) {
      const bool free = p.intercept == OracleProblem::Intercept::free;
      program_.h.push_back(free ? Real(0)
                                : p.lambda * (Real(1) - p.l1_ratio) / (p.intercept_scale * p.intercept_scale));
      program_.g.back() = p.tilt;
    }
    first_rule_ = program_.pieces.size();
    for (std::size_t k = 0; k < p.ends.size(); ++k) {
      Program::Piece piece = made(p.ends[k], 0, 0, 0);
      piece.has_high = false;
      piece.size = 1;
      for (std::size_t j = 0; j < width_; ++j) piece.r[j] = p.rules[k][j] * scale_[j];
      program_.pieces.push_back(piece);
    }
    for (std::size_t i = 0; i < p.y.size(); ++i)
      if (p.c[i] > 0) add_row(i);
  }

  Optimum solve_it() {
    Optimum best;
    best.lower = 0;
    best.upper = INFINITY;
    best.w.assign(width_, Real());
    if (one_class_) best.lower = Real(-INFINITY);
    Real digits = 1;
    for (long k = 0; k < mpfr_get_default_prec() - 60; ++k) digits *= Real(0.5);
    const Vector zero(variables_);
    Real start = primal(zero);
    bool met = true;
    for (const Real& end : p_.ends) met = met && end <= 0;
    if (met) take(best, zero, start + start * digits);
    for (std::size_t i = 0; one_class_ && i < p_.x.size(); ++i) start = max(start, dot(p_.x[i], p_.x[i]));
    const auto done = [&](const Vector& theta, const Vector& a) {
      const Real value = primal(theta);
      // What sums of a few terms, none of which is far above P here and at 0, may be rounded by.
      const Real off = (abs(value) + start) * digits;
      if (const Real missed = missed_by(theta, a); missed.number()) take(best, theta, value + missed + off);
      best.lower = max(best.lower, dual(theta, a) - off);
      const Real width = best.upper - best.lower;
      return width <= abs(best.upper) * Real(p_.width) || width <= abs(start) * Real(1e-70);
    };
    make_bound(start);
    // At λ 0 the optimum may be at infinity.
    best.proven = solve(program_, done, p_.lambda == 0 ? 150 : 400);
    return best;
  }

 private:
  /// What moving into the rules may cost: twice the price of what is missed; infinite where that is more than rounding.
  Real missed_by(const Vector& theta, const Vector& a) const {
    Real cost;
    for (std::size_t k = 0; k < p_.ends.size(); ++k) {
      const Program::Piece& piece = program_.pieces[first_rule_ + k];
      const Real off = max(0, piece.t - dot(piece.r, theta));
      Real size = abs(piece.t);
      for (std::size_t j = 0; j < variables_; ++j) size += abs(piece.r[j] * theta[j]);
      if (off > size * Real(1e-30)) return Real(INFINITY);
      cost += Real(2) * off * abs(a[first_rule_ + k]);
    }
    return cost;
  }
  Real factor(std::size_t j) const { return p_.factor.empty() ? Real(1) : p_.factor[j]; }
  Real offset(std::size_t i) const { return p_.offset.empty() ? Real(0) : p_.offset[i]; }

  /// Units of the weights in which the columns are about 1.
  void make_scales() {
    for (std::size_t j = 0; j < width_; ++j) {
      Real most;
      for (std::size_t i = 0; i < p_.x.size(); ++i)
        if (p_.c[i] > 0) most = max(most, abs(p_.x[i][j]));
      scale_.push_back(most > 0 ? Real(1) / most : Real(1));
    }
  }
  Program::Piece made(const Real& t, const Real& low, const Real& high, const Real& q) const {
    Program::Piece piece;
    piece.r.assign(variables_, Real());
    piece.t = t;
    piece.low = low;
    piece.high = high;
    piece.q = q;
    return piece;
  }
  Vector row(std::size_t i) const {
    Vector r(variables_);
    for (std::size_t j = 0; j < width_; ++j) r[j] = p_.x[i][j] * scale_[j];
    if (variables_ > width_) r[width_] = 1;
    return r;
  }
  void add_row(std::size_t i) {
    const Real c = p_.c[i] / total_, y = p_.y[i], o = offset(i), zero = 0, half = 0.5;
    if (smooth_) {
      const auto term = std::make_shared<const SmoothRow>(p_.loss.is("poisson"), row(i), o, y, c);
      program_.smooth.push_back(term);
      rows_.emplace_back(i, term);
      return;
    }
    const LossOf& l = p_.loss;
    /// φ as the largest a (t − u) − q a²/2 of a in [low, high]; an end that is infinite is none
    const auto piece = [&](const Real& t, const Real& low, const Real& high, const Real& q) {
      Program::Piece k = made(t - o, low.number() ? c * low : zero, high.number() ? c * high : zero, q / c);
      k.has_low = low.number();
      k.has_high = high.number();
      k.size = c;
      k.r = row(i);
      program_.pieces.push_back(k);
    };
    const Real none = INFINITY, tube = l.epsilon, tau = l.quantile;
    const bool above = y > 0;
    if (one_class_) return piece(0, 0, Real(1) / tau, 0);
    if (l.is("hinge")) return piece(y, above ? 0 : -1, above ? 1 : 0, 0);
    if (l.is("smoothed_hinge")) return piece(y, above ? 0 : -1, above ? 1 : 0, l.smoothing);
    if (l.is("squared_hinge")) return piece(y, above ? zero : -none, above ? none : zero, half);
    if (l.is("squared")) return piece(y, -none, none, half);
    if (l.is("absolute")) return piece(y, -1, 1, 0);
    if (l.is("quantile")) return piece(y, tau - Real(1), tau, 0);
    if (l.is("huber")) return piece(y, -1, 1, l.smoothing);
    const bool square = l.is("squared_epsilon_insensitive");
    piece(y - tube, 0, square ? none : Real(1), square ? half : zero);
    piece(y + tube, square ? -none : Real(-1), 0, square ? half : zero);
  }

  void take(Optimum& best, const Vector& theta, const Real& value) const {
    if (!(value < best.upper)) return;
    best.upper = value;
    best.w.assign(width_, Real());
    for (std::size_t j = 0; j < width_; ++j) best.w[j] = theta[j] * scale_[j];
    best.b = variables_ > width_ ? theta[width_] : Real(0);
  }
  Real primal(const Vector& theta) const {
    Vector w(width_);
    for (std::size_t j = 0; j < width_; ++j) w[j] = theta[j] * scale_[j];
    return primal_of(p_, w, variables_ > width_ ? theta[width_] : Real(0));
  }
  /// Some optimum has a free b where no score is further from all targets than the scores of w* move them, and ‖w*‖ follows
  /// from P* ≤ P(0). 1e3 is for logarithms: of odds, and of counts.
  void make_bound(const Real& start) {
    Real targets = 1, square;
    for (std::size_t i = 0; i < p_.x.size(); ++i) {
      if (!(p_.c[i] > 0)) continue;
      targets = max(targets, abs(p_.y[i]) + abs(offset(i)) + Real(p_.loss.epsilon));
      square = max(square, dot(p_.x[i], p_.x[i]));
    }
    Real least = 1;
    for (const Real& f : p_.factor) least = min(least, f);
    const Real convexity = p_.lambda * (Real(1) - p_.l1_ratio) * least;
    if (one_class_) targets = square;
    bound_ =
        Real(1e3) * (targets + (one_class_ || !(convexity > 0) ? Real(0) : sqrt(square * Real(2) * start / convexity)));
  }
  /// D of these a, which weak duality makes a lower end whatever they are. A variable that nothing penalises leaves s θ_j of
  /// its own: of a free b at its bound, of all at λ 0, which have none, at 1e6 times what they are now.
  Real dual(const Vector& theta, const Vector& a) const {
    Vector s(variables_);
    for (std::size_t j = 0; j < variables_; ++j) s[j] = -program_.g[j];
    Real out;
    for (std::size_t k = 0; k < a.size(); ++k) {
      const Program::Piece& piece = program_.pieces[k];
      Real v = a[k];
      if (piece.has_low) v = max(v, piece.low);
      if (piece.has_high) v = min(v, piece.high);
      out += v * piece.t - piece.q * v * v / Real(2);
      for (std::size_t j = 0; j < variables_; ++j) s[j] += v * piece.r[j];
    }
    for (const auto& [i, term] : rows_) {
      const Real v = term->derivatives(theta).first, c = p_.c[i] / total_;
      const Vector r = row(i);
      out -= c * (p_.loss.conjugate(v, p_.y[i]) + v * offset(i));
      for (std::size_t j = 0; j < variables_; ++j) s[j] += c * v * r[j];
    }
    for (std::size_t j = 0; j < variables_; ++j)
      out -= program_.h[j] > 0 ? s[j] * s[j] / (Real(2) * program_.h[j]) : abs(s[j]) * reach(theta, j);
    return out;
  }

  Real reach(const Vector& theta, std::size_t j) const {
    return j == width_ && p_.lambda > 0 ? bound_ : Real(1e6) * (abs(theta[j]) + bound_);
  }

  const OracleProblem& p_;
  std::size_t width_, variables_ = 0, first_rule_ = 0;
  Real total_, bound_;
  bool one_class_ = false, smooth_ = false;
  Vector scale_;
  Program program_;
  std::vector<std::pair<std::size_t, std::shared_ptr<const SmoothRow>>> rows_;
};

}  // namespace

Real primal_of(const OracleProblem& p, const Vector& w, const Real& b) {
  Real total = p.total, sum, penalty;
  const Real half = 0.5, ridge = Real(1) - p.l1_ratio;
  for (std::size_t i = 0; i < p.c.size(); ++i) {
    if (p.total == 0) total += p.c[i];
    if (!(p.c[i] > 0)) continue;
    const Real u = dot(p.x[i], w) + b + (p.offset.empty() ? Real(0) : p.offset[i]);
    sum += p.c[i] * (p.loss.is("one_class") ? max(0, -u) / Real(p.loss.quantile) : p.loss.value(u, p.y[i]));
  }
  for (std::size_t j = 0; j < w.size(); ++j)
    penalty += (p.factor.empty() ? Real(1) : p.factor[j]) * (ridge * half * w[j] * w[j] + p.l1_ratio * abs(w[j]));
  if (p.intercept == OracleProblem::Intercept::penalised)
    penalty += ridge * half * b * b / (p.intercept_scale * p.intercept_scale);
  return p.lambda * penalty + sum / total + p.tilt * b;
}

long bits_for(const OracleProblem& p) {
  double least = 0, most = 0;
  const auto see = [&](const Real& v) {
    if (v == 0 || !v.number()) return;
    const double bits = static_cast<double>(v.exponent());
    least = std::min(least, bits);
    most = std::max(most, bits);
  };
  for (const Vector& row : p.x)
    for (const Real& v : row) see(v);
  for (const Real& v : p.y) see(v);
  const double values = most - least;
  least = most = 0;
  for (const Real& v : p.c) see(v);
  see(p.lambda);
  return static_cast<long>(std::min(4000.0, 2 * values + 2 * (most - least)));
}

Optimum optimum_of(const OracleProblem& p, long bits) {
  Optimum found;
  const long more = bits_for(p);
  bits += more < 100 ? 0 : more;
  for (int attempt = 0; attempt < (p.lambda == 0 ? 1 : 2) && !found.proven; ++attempt, bits *= 3) {
    const Precision precision(bits);
    found = Oracle(p).solve_it();
  }
  return found;
}

}  // namespace exact
