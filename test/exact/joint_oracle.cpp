#include <cmath>

#include "oracle.hpp"

namespace exact {

namespace {

/// c/W times ln Σ e^(s_c) − s_y of one row.
class SoftMax final : public SmoothTerm {
 public:
  SoftMax(std::vector<Vector> r, std::size_t label, Real c) : r_(std::move(r)), label_(label), c_(std::move(c)) {}

  Vector scores(const Vector& at) const {
    Vector s;
    for (const Vector& r : r_) s.push_back(dot(r, at));
    return s;
  }
  Vector shares(const Vector& at) const {
    Vector p = scores(at);
    Real most = p[0], sum;
    for (const Real& s : p) most = max(most, s);
    for (Real& s : p) s = exp(s - most), sum += s;
    for (Real& s : p) s /= sum;
    return p;
  }
  void add_derivatives(const Vector& at, Vector& gradient, Matrix& hessian) const override {
    const Vector p = shares(at);
    const std::size_t k = p.size(), n = at.size();
    Vector mean(n);
    for (std::size_t a = 0; a < k; ++a)
      for (std::size_t i = 0; i < n; ++i) mean[i] += p[a] * r_[a][i];
    for (std::size_t i = 0; i < n; ++i) {
      gradient[i] += c_ * (mean[i] - r_[label_][i]);
      for (std::size_t j = 0; j < n; ++j) {
        Real sum;
        for (std::size_t a = 0; a < k; ++a)
          if (!(r_[a][i] == 0))
            sum += p[a] * (r_[a][i] - mean[i]) * (r_[a][j] - mean[j]);
          else
            sum -= p[a] * mean[i] * (r_[a][j] - mean[j]);
        hessian[i][j] += c_ * sum;
      }
    }
  }
  Real reach(const Vector& step) const override {
    const Vector s = scores(step);
    Real least = s[0], most = s[0];
    for (const Real& v : s) least = min(least, v), most = max(most, v);
    return most - least;
  }

 private:
  std::vector<Vector> r_;
  std::size_t label_;
  Real c_;
};

class Joint {
 public:
  explicit Joint(const JointProblem& p) : p_(p), k_(p.classes), width_(p.x[0].size()), total_(p.total) {
    if (total_ == 0)
      for (const Real& c : p.c) total_ += c;
    const bool intercept = p.intercept != OracleProblem::Intercept::none;
    each_ = width_ + (intercept ? 1 : 0);
    weights_ = k_ * each_;
    for (std::size_t j = 0; j < width_; ++j) {
      Real most;
      for (std::size_t i = 0; i < p.x.size(); ++i)
        if (p.c[i] > 0) most = max(most, abs(p.x[i][j]));
      scale_.push_back(most > 0 ? Real(1) / most : Real(1));
    }
    if (intercept) scale_.push_back(1);
    std::size_t rows = 0;
    for (const Real& c : p.c) rows += c > 0;
    const std::size_t variables = weights_ + (p.multinomial ? 0 : rows);
    program_.h.assign(variables, Real());
    program_.g.assign(variables, Real());
    for (std::size_t a = 0; a < k_; ++a) {
      for (std::size_t j = 0; j < width_; ++j) program_.h[a * each_ + j] = p.lambda * scale_[j] * scale_[j];
      if (p.intercept == OracleProblem::Intercept::penalised)
        program_.h[a * each_ + width_] = p.lambda / (p.intercept_scale * p.intercept_scale);
    }
    std::size_t own = weights_;  // of a Crammer-Singer row: its loss is a variable
    for (std::size_t i = 0; i < p.y.size(); ++i) {
      if (!(p.c[i] > 0)) continue;
      rows_.push_back(i);
      const Real c = p.c[i] / total_;
      std::vector<Vector> r;
      for (std::size_t a = 0; a < k_; ++a) r.push_back(row(i, a, variables));
      if (p.multinomial) {
        terms_.push_back(std::make_shared<const SoftMax>(std::move(r), p.y[i], c));
        program_.smooth.push_back(terms_.back());
        continue;
      }
      program_.g[own] = c;
      for (std::size_t a = 0; a < k_; ++a) {  // own ≥ 1[a ≠ y] + s_a − s_y
        Program::Piece piece;
        piece.t = a == p.y[i] ? 0 : 1;
        piece.low = 0;
        piece.has_high = false;
        piece.size = c;
        piece.r.assign(variables, Real());
        for (std::size_t j = 0; j < variables; ++j) piece.r[j] = r[p.y[i]][j] - r[a][j];
        piece.r[own] = 1;
        program_.pieces.push_back(piece);
      }
      ++own;
    }
  }

  JointOptimum solve_it() {
    JointOptimum best;
    best.lower = 0;
    best.upper = INFINITY;
    best.w.assign(k_, Vector(width_));
    best.b.assign(k_, Real());
    take(best, Vector(program_.h.size()));
    Real square;
    for (const std::size_t i : rows_) square = max(square, dot(p_.x[i], p_.x[i]));
    bound_ = Real(1e3) * (Real(1) + sqrt(square * Real(2) * best.upper / p_.lambda));
    const Real start = best.upper;
    Real digits = 1;
    for (long k = 0; k < mpfr_get_default_prec() - 60; ++k) digits *= Real(0.5);
    const auto done = [&](const Vector& theta, const Vector& a) {
      take(best, theta);
      best.lower = max(best.lower, dual(theta, a) - start * digits);
      return best.upper - best.lower <= best.upper * Real(1e-40);
    };
    best.proven = solve(program_, done, 300);
    return best;
  }

 private:
  Vector row(std::size_t i, std::size_t a, std::size_t variables) const {
    Vector r(variables);
    for (std::size_t j = 0; j < each_; ++j) r[a * each_ + j] = j < width_ ? p_.x[i][j] * scale_[j] : Real(1);
    return r;
  }
  void take(JointOptimum& best, const Vector& theta) const {
    Real value;
    for (std::size_t j = 0; j < weights_; ++j) value += program_.h[j] * theta[j] * theta[j] / Real(2);
    for (const std::size_t i : rows_) {
      Vector s;
      for (std::size_t a = 0; a < k_; ++a) s.push_back(dot(row(i, a, theta.size()), theta));
      const Real own = s[p_.y[i]];
      if (!p_.multinomial)
        for (std::size_t a = 0; a < k_; ++a) s[a] += a == p_.y[i] ? Real(0) : Real(1);
      Real most = s[0], sum;
      for (const Real& each : s) most = max(most, each);
      if (p_.multinomial) {
        // ln Σ e^(s − most): with all digits where one is far above the others
        std::size_t at = 0;
        for (std::size_t a = 1; a < k_; ++a)
          if (s[a] > s[at]) at = a;
        for (std::size_t a = 0; a < k_; ++a)
          if (a != at) sum += exp(s[a] - most);
        sum = log1p(sum);
      }
      value += p_.c[i] / total_ * (most - own + sum);
    }
    if (!(value < best.upper)) return;
    best.upper = value;
    for (std::size_t a = 0; a < k_; ++a) {
      for (std::size_t j = 0; j < width_; ++j) best.w[a][j] = theta[a * each_ + j] * scale_[j];
      if (each_ > width_) best.b[a] = theta[a * each_ + width_];
    }
  }
  Real dual(const Vector& theta, const Vector& a) const {
    Vector s(weights_);
    Real out;
    for (std::size_t k = 0; k < rows_.size(); ++k) {
      const std::size_t i = rows_[k], label = p_.y[i];
      const Real c = p_.c[i] / total_;
      Vector p;
      if (p_.multinomial) {
        p = terms_[k]->shares(theta);
        for (const Real& share : p)
          if (share > 0) out -= c * share * log(share);
      } else {
        Real sum;
        for (std::size_t b = 0; b < k_; ++b) p.push_back(max(0, a[k * k_ + b])), sum += p.back();
        if (!(sum > 0)) p[label] = sum = 1;
        for (Real& share : p) share /= sum;
        out += c * (Real(1) - p[label]);
      }
      for (std::size_t b = 0; b < k_; ++b) {
        const Real coefficient = c * ((b == label ? Real(1) : Real(0)) - p[b]);
        for (std::size_t j = 0; j < each_; ++j)
          s[b * each_ + j] += coefficient * (j < width_ ? p_.x[i][j] * scale_[j] : Real(1));
      }
    }
    for (std::size_t j = 0; j < weights_; ++j)
      out -= program_.h[j] > 0 ? s[j] * s[j] / (Real(2) * program_.h[j]) : abs(s[j]) * bound_;
    return out;
  }

  const JointProblem& p_;
  std::size_t k_, width_, each_ = 0, weights_ = 0;
  Real total_, bound_;  ///< bound_: of what a free b can be, as in oracle.cpp
  Vector scale_;
  Program program_;
  std::vector<std::size_t> rows_;
  std::vector<std::shared_ptr<const SoftMax>> terms_;
};

}  // namespace

JointOptimum joint_optimum(const JointProblem& p, long bits) {
  OracleProblem scales;
  scales.x = p.x;
  scales.c = p.c;
  scales.lambda = p.lambda;
  const long more = bits_for(scales);
  bits += more < 100 ? 0 : more;
  JointOptimum found;
  for (int attempt = 0; attempt < 2 && !found.proven; ++attempt, bits *= 3) {
    const Precision precision(bits);
    found = Joint(p).solve_it();
  }
  return found;
}

}  // namespace exact
