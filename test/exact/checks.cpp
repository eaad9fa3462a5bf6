#include "checks.hpp"

#include <algorithm>
#include <cmath>

#include "core/certificate/check.hpp"
#include "core/data/stump_basis.hpp"
#include "core/kernel/support_vectors.hpp"
#include "optimum.hpp"

namespace exact {

namespace {

using margin::Problem;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// The problem and the vectors as exact numbers.
class Checker {
 public:
  Checker(const Problem& p, const margin::Options& s, const Vectors& v, const margin::Certificate& c)
      : p_(p), settings_(s), v_(v), c_(c), n_(at(p.rows())), outputs_(v.weights.rows()) {
    for (std::int64_t i = 0; i < p.rows(); ++i) rows_.push_back(features(i));
    radius_square_ = 0;
    for (const Vector& x : rows_) radius_square_ = max(radius_square_, dot(x, x));
    if (p.kernel != nullptr) make_gram();
    if (p.kernel != nullptr) {
      radius_square_ = 0;
      for (std::size_t i = 0; i < n_; ++i) radius_square_ = max(radius_square_, gram_[i][i]);
    }
    make_scores();
  }

  std::pair<Real, Real> shares_of_signs(const LossOf& loss, std::int64_t output) const;
  void soft(bool optimum);
  void hard(bool optimum);
  void one_against_rest();
  void interpolation();
  Findings findings;

 private:
  Vector features(std::int64_t i) const {
    const margin::Row x = p_.data.row(i);
    const auto* stumps = margin::stumps_of(v_.basis.get());
    Vector out(at(stumps != nullptr ? stumps->size() : p_.dimensions()));
    if (stumps != nullptr) {
      std::vector<double> values(out.size());
      stumps->evaluate(x, values.data());
      for (std::size_t j = 0; j < out.size(); ++j) out[j] = values[j];
      return out;
    }
    for (std::int32_t k = 0; k < x.count; ++k) out[at(x.indices != nullptr ? x.indices[k] : k)] = x.value(k);
    return out;
  }
  Real kernel(const Vector& x, const Vector& z) const;
  void make_gram();
  void make_scores();

  bool has_dual() const { return v_.dual.rows() == p_.rows(); }
  double dual(std::size_t i, std::int64_t o) const { return v_.dual(static_cast<Eigen::Index>(i), o); }
  double intercept(std::int64_t o) const { return p_.intercept && v_.intercept.size() > o ? v_.intercept(o) : 0.0; }
  void claim(bool true_, const std::string& what, const Real& exact, double got) {
    if (true_) return;
    char text[32];
    std::snprintf(text, sizeof text, "%.17g", got);
    findings.wrong.push_back(what + ": " + text + ", exactly " + exact.text());
  }
  Real square_of_weights(std::int64_t o) const;
  Real power_norm(const Vector& v, double p) const;
  Real upper_of(std::int64_t o, double r) const;
  template <class Counts>
  Real edge_of(const Vector& v, const Counts& counts) const;
  Real stump_edge(const Vector& v, std::int32_t depth) const;
  double entry(std::size_t i, std::int32_t j) const { return value_at(p_.data.row(static_cast<std::int64_t>(i)), j); }
  void optimum_of_soft();
  void optimum_of_hard();

  const Problem& p_;
  const margin::Options& settings_;
  const Vectors& v_;
  const margin::Certificate& c_;
  std::size_t n_;
  Eigen::Index outputs_;
  Matrix rows_, gram_, scores_;  // scores: rows × outputs
  std::vector<std::size_t> origin_;
  Real radius_square_;
};

Real Checker::kernel(const Vector& x, const Vector& z) const { return kernel_value(*p_.kernel, x, z); }

void Checker::make_gram() {
  gram_.assign(n_, Vector(n_));
  for (std::size_t i = 0; i < n_; ++i)
    for (std::size_t j = 0; j <= i; ++j) gram_[i][j] = gram_[j][i] = kernel(rows_[i], rows_[j]);
  const auto& basis = *margin::support_vectors_of(v_.basis.get());
  for (const std::int64_t i : basis.origin()) origin_.push_back(at(i));
}

void Checker::make_scores() {
  scores_.assign(n_, Vector(at(outputs_)));
  for (std::size_t i = 0; i < n_; ++i)
    for (Eigen::Index o = 0; o < outputs_; ++o) {
      Real& u = scores_[i][at(o)];
      u = intercept(o);
      for (Eigen::Index j = 0; j < v_.weights.cols(); ++j)
        u += Real(v_.weights(o, j)) * (p_.kernel != nullptr ? gram_[i][origin_[at(j)]] : rows_[i][at(j)]);
    }
}

Real Checker::square_of_weights(std::int64_t o) const {
  Real sum;
  for (Eigen::Index j = 0; j < v_.weights.cols(); ++j)
    for (Eigen::Index k = 0; k < v_.weights.cols(); ++k) {
      if (p_.kernel == nullptr && k != j) continue;
      const Real product = Real(v_.weights(o, j)) * Real(v_.weights(o, k));
      sum += p_.kernel == nullptr ? product : product * gram_[origin_[at(j)]][origin_[at(k)]];
    }
  return sum;
}

/// What a free intercept leaves of dual weights above 0 and below: Σ c a = 0.
std::pair<Real, Real> Checker::shares_of_signs(const LossOf& loss, std::int64_t o) const {
  Real above, below;
  for (std::size_t i = 0; p_.free_intercept && i < n_; ++i) {
    const auto row = static_cast<std::int64_t>(i);
    double given = dual(i, o);
    if (std::isinf(given))
      given =
          loss.is("poisson") && given > 0 ? p_.target(row, static_cast<std::int32_t>(o)) : std::copysign(2.0, given);
    const Real a = std::isnan(given) ? Real(0) : loss.project(given, p_.target(row, static_cast<std::int32_t>(o)));
    (a > 0 ? above : below) += Real(p_.weight(row)) * abs(a);
  }
  if (above > below) return {below / above, 1};
  return {1, below > above ? above / below : Real(1)};
}

void Checker::soft(bool optimum) {
  const LossOf loss{p_.loss_name, settings_.epsilon, settings_.smoothing, settings_.quantile};
  const Real lambda = p_.lambda, rho = p_.l1_ratio, one = 1, half = 0.5;
  Real total, primal, dual_sum;
  for (std::int64_t i = 0; i < p_.rows(); ++i) total += Real(p_.data.weight(i));
  for (Eigen::Index o = 0; o < outputs_; ++o) {
    Real square = square_of_weights(o), absolute, sum;
    for (Eigen::Index j = 0; j < v_.weights.cols(); ++j) absolute += abs(Real(v_.weights(o, j)));
    if (p_.kernel == nullptr && p_.intercept && !p_.free_intercept) {
      const Real b = Real(intercept(o)) / Real(p_.intercept_scale);
      square += b * b;
    }
    for (std::size_t i = 0; i < n_; ++i)
      sum += Real(p_.weight(static_cast<std::int64_t>(i))) *
             loss.value(scores_[i][at(o)], p_.target(static_cast<std::int64_t>(i), static_cast<std::int32_t>(o)));
    primal += sum / total + lambda * ((one - rho) * half * square + rho * absolute);
    if (!has_dual() || p_.kernel != nullptr) continue;
    Vector v(at(p_.dimensions()));
    Real mean, constant;
    bool usable = true;
    const auto [up, down] = shares_of_signs(loss, o);
    for (std::size_t i = 0; i < n_; ++i) {
      const auto row = static_cast<std::int64_t>(i);
      double given = dual(i, o);
      const Real y = p_.target(row, static_cast<std::int32_t>(o)), c = p_.weight(row);
      if (!(c > 0)) continue;
      const double end = loss.is("poisson") && given > 0 ? p_.target(row, static_cast<std::int32_t>(o)) : 2.0;
      if (std::isinf(given)) given = std::copysign(end, given);  // beyond the end of a bounded domain
      Real a = std::isnan(given) ? Real(0) : loss.project(given, y);
      a = (a > 0 ? up : down) * a;
      if (std::isinf(dual(i, o)) && abs(a) > Real(1) && !(loss.is("poisson") && given > 0))
        usable = false;  // a square of it is infinite: D(0) is left
      mean -= c * loss.conjugate(a, y) / total;
      constant += c * a / total;
      for (std::size_t j = 0; j < v.size(); ++j) v[j] += c * a * rows_[i][j] / total;
    }
    if (!usable) continue;
    Real penalty;
    for (const Real& each : v) {
      const Real beyond = max(0, abs(each) - lambda * rho);
      penalty += beyond * beyond;
    }
    if (p_.intercept && !p_.free_intercept)
      penalty += constant * constant * Real(p_.intercept_scale) * Real(p_.intercept_scale);
    dual_sum += max(0, mean - penalty / (Real(2) * lambda * (one - rho)));
  }
  if (primal.number()) {
    claim(Real(c_.upper) >= primal * Real(1 - 1e-300), "primal below P(w)", primal, c_.upper);
    // Forged weights may have products whose sizes overflow though their sum does not.
    if (optimum && primal * max(1, total) < Real(1e280))
      claim(std::isfinite(c_.upper), "primal is infinite", primal, c_.upper);
  }
  if (p_.kernel == nullptr && has_dual()) claim(Real(c_.lower) <= dual_sum, "dual above D(a)", dual_sum, c_.lower);
  if (!has_dual()) claim(c_.lower == 0, "dual value without a dual vector", 0, c_.lower);
  claim(c_.lower <= c_.upper && c_.lower >= 0 && c_.gap >= 0, "ends out of order", c_.upper, c_.lower);
  if (optimum && p_.l1_ratio == 0 && has_dual()) optimum_of_soft();
}

void Checker::optimum_of_soft() {
  SoftProblem s;
  s.loss = LossOf{p_.loss_name, settings_.epsilon, settings_.smoothing, settings_.quantile};
  s.lambda = p_.lambda;
  s.free_intercept = p_.intercept && (p_.kernel != nullptr || p_.free_intercept);
  for (std::int64_t i = 0; i < p_.rows(); ++i) s.total += Real(p_.data.weight(i));
  s.gram = gram_;
  if (p_.kernel == nullptr) {
    const Real constant =
        p_.intercept && !p_.free_intercept ? Real(p_.intercept_scale) * Real(p_.intercept_scale) : Real(0);
    s.gram.assign(n_, Vector(n_));
    for (std::size_t i = 0; i < n_; ++i)
      for (std::size_t j = 0; j < n_; ++j) s.gram[i][j] = dot(rows_[i], rows_[j]) + constant;
  }
  for (std::size_t i = 0; i < n_; ++i) s.c.emplace_back(p_.weight(static_cast<std::int64_t>(i)));
  Real sum;
  for (Eigen::Index o = 0; o < outputs_; ++o) {
    s.y.clear();
    Vector start;
    for (std::size_t i = 0; i < n_; ++i) {
      s.y.emplace_back(p_.target(static_cast<std::int64_t>(i), static_cast<std::int32_t>(o)));
      start.emplace_back(std::isfinite(dual(i, o)) ? dual(i, o) : 0.0);
    }
    const std::optional<Real> found = soft_optimum(s, start);
    if (!found) return;
    sum += *found;
  }
  findings.optimum = true;
  claim(Real(c_.upper) >= sum * Real(1 - 1e-28), "primal below the optimum", sum, c_.upper);
  claim(Real(c_.lower) <= sum + abs(sum) * Real(1e-28), "dual above the optimum", sum, c_.lower);
}

void Checker::hard(bool optimum) {
  const bool binary = p_.task == margin::Task::binary;
  Real square, smallest = INFINITY;
  for (Eigen::Index o = 0; o < outputs_; ++o) square += square_of_weights(o);
  for (std::size_t i = 0; i < n_; ++i) {
    const std::int32_t label = p_.label[i];
    if (binary) smallest = min(smallest, label == 1 ? scores_[i][0] : -scores_[i][0]);
    for (std::int32_t c = 0; !binary && c < p_.classes; ++c)
      if (c != label) smallest = min(smallest, scores_[i][at(label)] - scores_[i][at(c)]);
  }
  if (square > 0)
    claim(Real(c_.lower) <= smallest / sqrt(square), "lower bound above the margin", smallest / sqrt(square), c_.lower);
  if (optimum && !std::isfinite(c_.lower)) {
    // Only where rounding leaves nothing of the norm of a kernel model's weights.
    Real size;
    for (Eigen::Index o = 0; p_.kernel != nullptr && o < outputs_; ++o)
      for (Eigen::Index j = 0; j < v_.weights.cols(); ++j)
        size += abs(Real(v_.weights(o, j))) * sqrt(gram_[origin_[at(j)]][origin_[at(j)]]);
    claim(square < size * size * Real(1e-6), "the lower bound is not finite", square, c_.lower);
  }
  // Σ q z as coefficients of rows, per class or output.
  const Real factor = binary ? 1 : 2;
  Real upper = sqrt(radius_square_ * factor);
  if (has_dual()) {
    const std::size_t vectors = binary ? 1 : at(p_.classes);
    Matrix coefficient(vectors, Vector(n_));
    Vector balance(at(p_.classes));
    Real mass[2], total;
    for (std::size_t i = 0; i < n_; ++i) {
      const std::int32_t label = p_.label[i];
      for (std::int32_t c = 0; c < (binary ? 1 : p_.classes); ++c) {
        const double q = dual(i, c);
        if (!(q > 0) || (!binary && c == label) || std::isinf(q)) continue;
        total += Real(q);
        if (binary) {
          mass[label] += Real(q);
          coefficient[0][i] = label == 1 ? Real(q) : -Real(q);
          continue;
        }
        coefficient[at(label)][i] += Real(q);
        coefficient[at(c)][i] -= Real(q);
        balance[at(label)] += Real(q);
        balance[at(c)] -= Real(q);
      }
    }
    bool usable = total > 0;
    Real imbalance;
    if (binary && p_.intercept) {
      usable = mass[0] > 0 && mass[1] > 0;
      for (std::size_t i = 0; i < n_ && usable; ++i) coefficient[0][i] /= Real(2) * mass[p_.label[i]];
    } else if (usable) {
      for (Vector& each : coefficient)
        for (Real& v : each) v /= total;
      for (const Real& b : balance) imbalance += p_.intercept && !binary ? abs(b) / total : Real(0);
    }
    if (usable) {
      Real norm;
      for (const Vector& each : coefficient)
        for (std::size_t i = 0; i < n_; ++i)
          for (std::size_t j = 0; j < n_; ++j)
            if (!(each[i] == 0) && !(each[j] == 0))
              norm += each[i] * each[j] * (p_.kernel != nullptr ? gram_[i][j] : dot(rows_[i], rows_[j]));
      upper = min(upper, sqrt(max(norm, 0)) + sqrt(Real(0.5) * radius_square_) * imbalance);
    }
  }
  claim(Real(c_.upper) >= upper * Real(1 - 0x1p-53), "upper bound below the bound", upper, c_.upper);
  if (optimum && binary) optimum_of_hard();
}

void Checker::optimum_of_hard() {
  std::vector<std::pair<std::size_t, std::size_t>> points;
  for (std::size_t i = 0; i < n_; ++i)
    for (std::size_t j = 0; j < n_; ++j)
      if (p_.intercept ? p_.label[i] == 1 && p_.label[j] == 0 : i == j) points.emplace_back(i, j);
  const auto inner = [&](std::size_t i, std::size_t j) {
    return p_.kernel != nullptr ? gram_[i][j] : dot(rows_[i], rows_[j]);
  };
  Matrix gram(points.size(), Vector(points.size()));
  for (std::size_t s = 0; s < points.size(); ++s)
    for (std::size_t t = 0; t < points.size(); ++t) {
      const auto [i, j] = points[s];
      const auto [k, l] = points[t];
      if (p_.intercept)
        gram[s][t] = (inner(i, k) - inner(i, l) - inner(j, k) + inner(j, l)) / Real(4);
      else
        gram[s][t] = p_.label[i] == p_.label[k] ? inner(i, k) : -inner(i, k);
    }
  const std::optional<Real> square = least_square(gram);
  if (!square) return;
  findings.optimum = true;
  const Real best = sqrt(*square);
  const Real digits = sqrt(radius_square_) * Real(1e-60);
  claim(Real(c_.upper) >= best * Real(1 - 0x1p-53) - digits, "upper bound below the optimum", best, c_.upper);
  claim(Real(c_.lower) <= best + digits, "lower bound above the optimum", best, c_.lower);
}

Real Checker::power_norm(const Vector& v, double p) const {
  Real sum;
  for (const Real& each : v)
    if (std::isinf(p))
      sum = max(sum, abs(each));
    else if (!(each == 0))
      sum += p == 1 ? abs(each) : pow(abs(each), p);
  return std::isinf(p) || p == 1 || sum == 0 ? sum : pow(sum, Real(1) / Real(p));
}

/// The largest |Σ v h(x)| over the stumps that tell two rows apart, of the rows that count: those for which `counts` holds.
template <class Counts>
Real Checker::edge_of(const Vector& v, const Counts& counts) const {
  Real largest;
  for (std::int32_t j = 0; j < p_.dimensions(); ++j)
    for (std::size_t k = 0; k < n_; ++k) {
      Real edge;
      std::size_t above = 0;
      for (std::size_t i = 0; i < n_; ++i) {
        const bool is_above = entry(i, j) > entry(k, j);
        above += is_above;
        if (counts(i)) edge += is_above ? v[i] : -v[i];
      }
      if (above > 0) largest = max(largest, abs(edge));
    }
  return largest;
}

/// The same over all stumps, or over all trees of depth 2.
Real Checker::stump_edge(const Vector& v, std::int32_t depth) const {
  if (depth == 1) return edge_of(v, [](std::size_t) { return true; });
  Real largest;
  for (std::int32_t j = 0; j < p_.dimensions(); ++j)
    for (std::size_t k = 0; k < n_; ++k) {
      const auto is_above = [&](std::size_t i) { return entry(i, j) > entry(k, j); };
      Real sum[2];
      std::size_t above = 0;
      for (std::size_t i = 0; i < n_; ++i) {
        sum[is_above(i)] += v[i];
        above += is_above(i);
      }
      if (above == 0) continue;
      const Real high = max(abs(sum[1]), edge_of(v, is_above));
      largest = max(largest, high + max(abs(sum[0]), edge_of(v, [&](std::size_t i) { return !is_above(i); })));
    }
  return largest;
}

Real Checker::upper_of(std::int64_t o, double r) const {
  const auto* const stumps = margin::stumps_of(v_.basis.get());
  const Real radius = stumps != nullptr ? Real(1) : sqrt(radius_square_);
  if (!has_dual()) return radius;
  Real mass[2];
  for (std::size_t i = 0; i < n_; ++i)
    if (dual(i, o) > 0)
      mass[p_.target(static_cast<std::int64_t>(i), static_cast<std::int32_t>(o)) > 0] += Real(dual(i, o));
  const Real total = mass[0] + mass[1];
  if (!total.number() || !(total > 0) || (p_.intercept && (!(mass[0] > 0) || !(mass[1] > 0)))) return radius;
  Vector q(n_), v(at(p_.dimensions()));
  for (std::size_t i = 0; i < n_; ++i) {
    const bool own = p_.target(static_cast<std::int64_t>(i), static_cast<std::int32_t>(o)) > 0;
    if (!(dual(i, o) > 0)) continue;
    q[i] = Real(dual(i, o)) / (p_.intercept ? Real(2) * mass[own] : total);
    if (!own) q[i] = -q[i];
    for (std::size_t j = 0; stumps == nullptr && j < v.size(); ++j) v[j] += q[i] * rows_[i][j];
  }
  return min(radius, stumps != nullptr ? stump_edge(q, stumps->depth()) : power_norm(v, r));
}

void Checker::one_against_rest() {
  const double r = p_.norm == 1 ? INFINITY : p_.norm / (p_.norm - 1);
  Real lower = INFINITY, upper = INFINITY;
  for (Eigen::Index o = 0; o < outputs_; ++o) {
    Real smallest = INFINITY;
    for (std::size_t i = 0; i < n_; ++i) {
      const double y = p_.target(static_cast<std::int64_t>(i), static_cast<std::int32_t>(o));
      smallest = min(smallest, y > 0 ? scores_[i][at(o)] : -scores_[i][at(o)]);
    }
    Vector w;
    for (Eigen::Index j = 0; j < v_.weights.cols(); ++j) w.emplace_back(v_.weights(o, j));
    const Real size = power_norm(w, p_.norm);
    lower = min(lower, size > 0 ? smallest / size : Real(0));
    upper = min(upper, upper_of(o, r));
  }
  claim(Real(c_.lower) <= lower, "lower bound above the margin", lower, c_.lower);
  claim(Real(c_.upper) >= upper * Real(1 - 0x1p-53), "upper bound below the bound", upper, c_.upper);
}

void Checker::interpolation() {
  const double r = p_.norm == 1 ? INFINITY : p_.norm / (p_.norm - 1);
  Real slack = INFINITY, height[2], mass[2];
  Matrix u(2, Vector(at(p_.dimensions())));
  for (std::size_t i = 0; i < n_; ++i) {
    const auto row = static_cast<std::int64_t>(i);
    const double low = p_.data.target(row), high = p_.data.upper_target(row);
    if (std::isfinite(low)) slack = min(slack, scores_[i][0] - Real(low));
    if (std::isfinite(high)) slack = min(slack, Real(high) - scores_[i][0]);
    if (!has_dual()) continue;
    const double a = dual(i, 0), end = a > 0 ? low : high;
    const int side = a > 0 ? 1 : 0;
    if (!(std::fabs(a) > 0) || !std::isfinite(a) || !std::isfinite(end)) continue;
    mass[side] += Real(std::fabs(a));
    height[side] += Real(std::fabs(a)) * Real(end);
    for (std::size_t j = 0; j < u[0].size(); ++j) u[at(side)][j] += Real(std::fabs(a)) * rows_[i][j];
  }
  claim(!(slack.number()) || Real(c_.slack) <= slack, "slack above that of the weights", slack, c_.slack);
  Vector w;
  for (Eigen::Index j = 0; j < v_.weights.cols(); ++j) w.emplace_back(v_.weights(0, j));
  const Real size = power_norm(w, p_.norm), primal = size * size / Real(2);
  claim(Real(c_.upper) >= primal, "primal below half of the squared norm", primal, c_.upper);
  Real least;
  if (!p_.intercept || (mass[0] > 0 && mass[1] > 0)) {
    const Real one = 1, down = p_.intercept ? one / mass[0] : one, up = p_.intercept ? one / mass[1] : one;
    Vector v(u[0].size());
    for (std::size_t j = 0; j < v.size(); ++j) v[j] = up * u[1][j] - down * u[0][j];
    const Real length = power_norm(v, r), lead = up * height[1] - down * height[0];
    if (lead > 0) least = length > 0 ? lead / length : Real(INFINITY);
  }
  claim(Real(c_.lower) <= least * least / Real(2) || c_.lower == 0, "dual above what the vector proves",
        least * least / Real(2), c_.lower);
}

}  // namespace

Real kernel_value(const margin::KernelFunction& of, const Vector& x, const Vector& z) {
  const margin::KernelParameters& k = of.parameters();
  const std::string name(of.name());
  const Real product = dot(x, z);
  if (name == "linear") return product;
  if (name == "polynomial") {
    const Real base = Real(k.gamma) * product + Real(k.coef0);
    Real out = 1;
    for (std::int32_t j = 0; j < k.degree; ++j) out *= base;
    return out;
  }
  Real distance;
  for (std::size_t j = 0; j < x.size(); ++j) distance += (x[j] - z[j]) * (x[j] - z[j]);
  if (name == "rbf") return exp(-Real(k.gamma) * distance);
  const Real length = sqrt(dot(x, x) * dot(z, z)), pi = Real::pi();
  if (length == 0) return 0;
  const Real cosine = clamp(product / length, -1, 1), turn = pi - acos(cosine);
  return (product * turn + length * (sqrt(Real(1) - cosine * cosine) + turn * cosine)) / (Real(2) * pi);
}

margin::Certificate certificate_of(const Problem& p, const Vectors& v) {
  return certify(p, v.weights, v.intercept, v.dual, v.basis.get());
}

margin::Certificate verified(const Problem& p, const Vectors& v) {
  const margin::ModelVectors vectors{v.weights.data(), p.intercept ? v.intercept.data() : nullptr, v.basis.get()};
  const auto whole = make_check(objective_of(p), vectors, has_dual_weights(p, v.dual));
  add_rows(*whole, p, v.dual, v.basis.get());
  const auto one = make_check(objective_of(p), vectors, false), two = make_check(objective_of(p), vectors, false);
  for (std::int64_t i = 0; i < p.rows(); ++i) (i % 2 == 0 ? one : two)->add(checked_row(p, i));
  margin::Certificate c = whole->certificate({});
  if (!one->merge(two->state())) c.lower = c.upper = std::nan("");
  const margin::Certificate halves = one->certificate({});
  if (p.hard_margin && !p.interpolate)
    c.lower = halves.lower;
  else
    c.upper = halves.upper;
  c.slack = halves.slack;
  return c;
}

Findings check(const Problem& p, const margin::Options& options, const Vectors& v, const margin::Certificate& c,
               bool optimum) {
  Findings none;
  for (const double end : {c.lower, c.upper, c.gap, c.relative_gap, c.radius})
    if (std::isnan(end)) none.wrong.push_back("a NaN in the certificate");
  if (!none.wrong.empty()) return none;
  if (!v.weights.allFinite() || !v.intercept.allFinite()) {
    if (!p.interpolate && (p.hard_margin ? c.lower > 0 : c.upper < INFINITY))
      none.wrong.push_back("weights that are no numbers are certified");
    return none;
  }
  const bool algebraic = p.kernel == nullptr && p.loss_name != "logistic" && (p.norm == 1 || p.norm == 2);
  Real::precision(algebraic ? 4608 : 1200);
  Checker checker(p, options, v, c);
  if (p.interpolate)
    checker.interpolation();
  else if (!p.hard_margin)
    checker.soft(optimum);
  else if (p.norm != 2)
    checker.one_against_rest();
  else
    checker.hard(optimum);
  return checker.findings;
}

}  // namespace exact
