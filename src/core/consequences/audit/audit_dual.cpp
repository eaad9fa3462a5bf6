#include "core/consequences/audit/audit_dual.hpp"

#include <algorithm>
#include <cmath>

#include "core/math/norm.hpp"
#include "core/math/rounding.hpp"

namespace margin {

namespace {

constexpr std::size_t head = 6, per_output = 9;  // of RiskCheck::state()

Eigen::Map<const Eigen::VectorXd> map(const double* values, std::int32_t n) { return {values, n}; }

}  // namespace

AuditedOutput::AuditedOutput(const Audit& audit, std::size_t output)
    : audit_(audit),
      sums_(audit.outputs_[output]),
      weights_(audit.weights_ + output * static_cast<std::size_t>(audit.objective_.dimensions)),
      intercept_(audit.intercept_ != nullptr ? audit.intercept_[output] : 0.0),
      total_(audit.weight()),
      constant_(audit.objective_.free_intercept ? 1.0 : audit.objective_.constant_feature()) {
  const Objective& p = audit.objective_;
  const std::vector<double> all = audit.primal_.state();
  numbers_.assign(all.begin(), all.begin() + head);
  const auto own = all.begin() + static_cast<std::ptrdiff_t>(head + per_output * output);
  numbers_.insert(numbers_.end(), own, own + per_output);
  numbers_[1] = numbers_[4] = 0;
  numbers_[5] = 1;
  mean_loss_ = numbers_[head] / total_;
  for (std::int32_t j = 0; j < p.dimensions; ++j)
    penalty_ += p.factor(j) * ((1 - p.l1_ratio) / 2 * weights_[j] * weights_[j] + p.l1_ratio * std::fabs(weights_[j]));
  if (p.constant_feature() > 0)
    penalty_ += (1 - p.l1_ratio) / 2 * (intercept_ / p.constant_feature()) * (intercept_ / p.constant_feature());

  const auto n = static_cast<Eigen::Index>(sums_.sides.size());
  values_.resize(n);
  masses_.resize(n);
  Eigen::MatrixXd scaled(p.dimensions + 1, n);
  for (Eigen::Index s = 0; s < n; ++s) {
    const DualSide& side = sums_.sides[static_cast<std::size_t>(s)];
    vectors_.push_back(side.rows.value());
    if (s >= 2) vectors_.back() += vectors_[static_cast<std::size_t>(s % 2)];
    values_[s] = side.conjugate() / total_;
    masses_[s] = std::fabs(side.coefficient.value()) / total_;
    for (std::int32_t j = 0; j < p.dimensions; ++j)
      scaled(j, s) = vectors_.back()[j] / (total_ * std::sqrt(p.factor(j)));
    scaled(p.dimensions, s) = p.constant_feature() * side.coefficient.value() / total_;
  }
  products_ = scaled.transpose() * scaled;
}

RiskCheck AuditedOutput::check(double lambda, bool with_dual, std::vector<double>& numbers) const {
  Objective one = audit_.objective_;
  one.task = Task::regression;  // one output, whose errors are not counted
  one.classes = 0;
  one.lambda = lambda;
  numbers = numbers_;
  return {one, weights_, &intercept_, with_dual};
}

double AuditedOutput::primal(double lambda) const {
  std::vector<double> numbers;
  RiskCheck one = check(lambda, false, numbers);
  return one.merge(numbers) ? one.primal(0) : infinity;
}

double AuditedOutput::dual_of(const Sums& s, double lambda) const {
  std::vector<double> numbers;
  RiskCheck one = check(lambda, true, numbers);
  double* const n = numbers.data() + head;
  n[3] = s.conjugate;
  n[4] = s.size;
  n[5] = s.mass;
  n[6] = s.unseen;
  n[7] = s.coefficient;
  n[8] = s.absolute;
  for (std::size_t k = 3; k < per_output; ++k)
    if (!std::isfinite(n[k])) return 0;
  const Weights rows = s.rows.transpose();
  if (!rows.allFinite() || !one.merge(numbers, rows, static_cast<std::int64_t>(s.depth), 1)) return 0;
  return one.dual(0);
}

/// Mixtures of audit.hpp: both signs of every smoothing weighed by `shares`, which are of 1 or less in sum for each sign.
AuditedOutput::Sums AuditedOutput::mixed(const PerSide& shares) const {
  Sums out;
  out.rows = Eigen::VectorXd::Zero(audit_.objective_.dimensions);
  for (std::size_t s = 0; s < vectors_.size(); ++s) {
    const double share = shares[static_cast<Eigen::Index>(s)];
    if (!(share > 0)) continue;
    const DualSide& side = sums_.sides[s];
    out.rows += share * vectors_[s];
    out.conjugate += share * side.conjugate();
    out.size += share * side.size;
    out.mass += share * side.mass;
    out.unseen += side.unseen;
    out.coefficient += share * side.coefficient.value();
    out.absolute += share * std::fabs(side.coefficient.value());
    out.depth = std::max(out.depth, side.rows.depth() + sums_.sides[s % 2].rows.depth());
  }
  const auto terms = static_cast<double>(vectors_.size()) + 4;
  out.conjugate -= 4 * terms * epsilon * out.size;
  out.depth += 4 * terms;
  return out;
}

/// max over shares β of <values, β> − βᵀ products β/(2λ), by exchanges between two of: one smoothing for each sign, one
/// sign alone, none. With a free intercept pairs alone, scaled to balance; they need not have all of the best shares.
AuditedOutput::PerSide AuditedOutput::mixture(double lambda, double tolerance, int steps) const {
  struct Atom {
    Eigen::Index plus, minus;  // −1: none
    double of_plus, of_minus;
  };
  const Eigen::Index n = values_.size();
  std::vector<Atom> atoms = {{-1, -1, 0, 0}};
  for (Eigen::Index p = 0; p < n; p += 2)
    for (Eigen::Index m = 1; m < n; m += 2) {
      if (!audit_.objective_.free_intercept)
        atoms.push_back({p, m, 1, 1});
      else if (masses_[p] > 0 && masses_[m] > 0)
        atoms.push_back({p, m, std::min(1.0, masses_[m] / masses_[p]), std::min(1.0, masses_[p] / masses_[m])});
    }
  for (Eigen::Index s = 0; s < n && !audit_.objective_.free_intercept; ++s)
    atoms.push_back(s % 2 == 0 ? Atom{s, -1, 1, 0} : Atom{-1, s, 0, 1});
  const auto along = [&](const Atom& a, const PerSide& v) {
    return (a.plus >= 0 ? a.of_plus * v[a.plus] : 0.0) + (a.minus >= 0 ? a.of_minus * v[a.minus] : 0.0);
  };
  const auto add = [](const Atom& a, double share, PerSide& to) {
    if (a.plus >= 0) to[a.plus] += share * a.of_plus;
    if (a.minus >= 0) to[a.minus] += share * a.of_minus;
  };
  std::vector<double> weight(atoms.size(), 0.0);
  weight[0] = 1;
  PerSide shares = PerSide::Zero(n);
  for (int step = 0; step < steps; ++step) {
    const PerSide slope = values_ - products_.lazyProduct(shares) / lambda;
    std::size_t to = 0, from = 0;
    double most = -infinity, least = infinity;
    for (std::size_t a = 0; a < atoms.size(); ++a) {
      const double s = along(atoms[a], slope);
      if (s > most) most = s, to = a;
      if (weight[a] > 0 && s < least) least = s, from = a;
    }
    if (!(most - least > tolerance * (std::fabs(most) + std::fabs(least)))) break;
    PerSide direction = PerSide::Zero(n);
    add(atoms[to], 1, direction);
    add(atoms[from], -1, direction);
    const double bend = direction.dot(products_.lazyProduct(direction)) / lambda;
    const double moved = bend > 0 ? std::min(weight[from], (most - least) / bend) : weight[from];
    weight[to] += moved;
    weight[from] = moved == weight[from] ? 0 : weight[from] - moved;
    shares.setZero();
    for (std::size_t a = 0; a < atoms.size(); ++a)
      if (weight[a] > 0) add(atoms[a], weight[a], shares);
  }
  return shares * (1 - 1e-13);
}

double AuditedOutput::quick_dual(double lambda) const {
  const PerSide shares = has_kinks() ? mixture(lambda, 1e-2, 20) : mixture(lambda, 1e-4, 50);
  return std::max(0.0, values_.dot(shares) - shares.dot(products_ * shares) / (2 * lambda));
}

double AuditedOutput::balanced_lambda() const {
  const PerSide all = PerSide::Unit(values_.size(), 0) + PerSide::Unit(values_.size(), 1);
  return std::sqrt(all.dot(products_ * all) / (2 * penalty_));
}

double AuditedOutput::dual(double lambda, const Progress& progress, int* curve) const {
  const Objective& p = audit_.objective_;
  double best = 0;
  if (p.l1_ratio == 0 && p.bounds.empty()) {
    const int only = curve != nullptr ? *curve : -1;
    if (curve == nullptr) best = dual_of_ascent(lambda, progress);
    // A mixture is seldom better, and then where little is proven.
    if (only < 0 && best < 0.98 * quick_primal(lambda))
      best = std::max(best, dual_of(mixed(mixture(lambda, 1e-10, 1000)), lambda));
    for (int k = 0; k < static_cast<int>(sums_.curves.size()); ++k) {
      if (only >= 0 && k != only) continue;
      const double found = dual_of_step(sums_.curves[static_cast<std::size_t>(k)], lambda, progress);
      if (found > best && curve != nullptr) *curve = k;
      best = std::max(best, found);
    }
    return best;
  }
  // The penalty is not quadratic: one smoothing, scaled.
  for (std::size_t s = 0; s + 1 < vectors_.size(); s += 2) {
    double plus = 1, minus = 1;
    const auto at = static_cast<Eigen::Index>(s);
    if (p.free_intercept) {
      if (!(masses_[at] > 0 && masses_[at + 1] > 0)) continue;
      plus = std::min(1.0, masses_[at + 1] / masses_[at]);
      minus = std::min(1.0, masses_[at] / masses_[at + 1]);
    }
    const auto scaled = [&](double share) {
      PerSide shares = PerSide::Zero(values_.size());
      shares[at] = share * plus * (1 - 1e-13);
      shares[at + 1] = share * minus * (1 - 1e-13);
      progress.work(4.0 * p.dimensions + 64);
      return dual_of(mixed(shares), lambda);
    };
    double low = 0, high = 1;  // D of a share is concave
    best = std::max(best, scaled(1));
    for (int step = 0; step < 40; ++step) {
      const double third = (high - low) / 3, left = scaled(low + third), right = scaled(high - third);
      best = std::max({best, left, right});
      (left < right ? low : high) = left < right ? low + third : high - third;
    }
  }
  return best;
}

/// The Newton step of audit.hpp, in the weights with that of the constant feature.
struct AuditedOutput::Step {
  Eigen::VectorXd weights, step, slope, image;  ///< w, Δ, H w, H Δ
  double reach = 0, share = 0;                  ///< |h t| of no row is larger; h
};

AuditedOutput::Step AuditedOutput::step_of(const DualCurve& curve, double lambda, const Progress& progress) const {
  const Objective& p = audit_.objective_;
  const std::size_t n = curve.hessian.size();
  const std::int32_t d = p.dimensions;
  const bool constant = n > static_cast<std::size_t>(d);
  const Sums sums = first();
  Eigen::VectorXd w(static_cast<Eigen::Index>(n)), v(w.size()), ridge(w.size());
  w.head(d) = map(weights_, d);
  v.head(d) = sums.rows / total_;
  for (std::int32_t j = 0; j < d; ++j) ridge[j] = lambda * p.factor(j);
  if (constant) {
    w[d] = intercept_ / constant_;
    v[d] = constant_ * sums.coefficient / total_;
    ridge[d] = p.free_intercept ? 0.0 : lambda;
  }
  const SimdLoops& loops = simd();
  const auto times = [&](const Eigen::VectorXd& x) {
    Eigen::VectorXd out = Eigen::VectorXd::Zero(x.size());
    for (Eigen::Index j = 0; j < x.size(); ++j) {
      const double* const row = curve.hessian.row(static_cast<std::size_t>(j));
      const auto left = static_cast<std::size_t>(x.size() - j);
      out[j] += loops.dot_dd(row + j, x.data() + j, left);
      loops.axpy_d(x[j], row + j + 1, out.data() + j + 1, left - 1);
    }
    return out;
  };
  const Eigen::VectorXd slope = times(w);
  double trace = 0;
  for (Eigen::Index j = 0; j < w.size(); ++j) {
    trace += curve.hessian.row(static_cast<std::size_t>(j))[j] / total_;
  }
  // A step that would move some row too far is made shorter by its scale, and by a larger ridge.
  const double radius = numbers_[2];
  Step found;
  double gain = -infinity;
  for (double more = 0; more < 100; more = std::max(8 * more, 1e-5)) {
    SymmetricMatrix system(n);
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = j; i < n; ++i) system.row(j)[i] = curve.hessian.row(j)[i] / total_;
      const bool penalised = ridge[static_cast<Eigen::Index>(j)] > 0;
      system.row(j)[j] += penalised ? ridge[static_cast<Eigen::Index>(j)] + more * trace / static_cast<double>(n)
                                    : 1e-12 * system.row(j)[j];
    }
    Eigen::VectorXd next = v - ridge.cwiseProduct(w);
    progress.work(static_cast<double>(n) * static_cast<double>(n));
    if (!factorise(system, progress)) continue;
    solve_factored(system, next.data(), &progress);
    if (!next.allFinite()) continue;
    // |t| ≤ τ must hold for every row: none is larger than `far`, by its norm or by its values.
    double by_values = 0;
    for (std::int32_t j = 0; j < d; ++j) by_values += audit_.largest_[static_cast<std::size_t>(j)] * std::fabs(next[j]);
    const double by_norm = radius * next.head(d).norm();
    const double far = (std::min(by_norm, by_values) + (constant ? constant_ * std::fabs(next[d]) : 0.0)) * (1 + 1e-9);
    const Eigen::VectorXd moved = times(next);
    double along = -next.dot(slope) / total_, against = next.dot(moved) / total_;
    for (Eigen::Index j = 0; j < w.size(); ++j) {
      if (!(ridge[j] > 0)) continue;
      along += v[j] * moved[j] / (total_ * ridge[j]);
      against += moved[j] * moved[j] / (total_ * total_ * ridge[j]);
    }
    const double most = far > 0 ? curve.tau * (1 - 1e-6) / far : 1.0;
    const double best = against > 0 ? std::clamp(along / against, 0.0, most) : 0.0;
    const double length = p.free_intercept && most >= 1 ? 1.0 : best;
    const double value = along * length - against / 2 * length * length;
    if (value < gain) break;
    gain = value;
    found.step = std::move(next);
    found.image = moved;
    found.reach = far * length;
    found.share = length;
    if (most >= 1) break;
  }
  found.weights = std::move(w);
  found.slope = slope;
  return found;
}

/// D(a − h t) by quadratic forms.
double AuditedOutput::dual_of_step(const DualCurve& curve, double lambda, const Progress& progress) const {
  if (curve.rows == 0) return 0;
  const Objective& p = audit_.objective_;
  const std::size_t n = curve.hessian.size();
  const std::int32_t d = p.dimensions;
  const bool constant = n > static_cast<std::size_t>(d);
  Sums sums = first();
  auto [w, step, slope, image, reach, share] = step_of(curve, lambda, progress);
  if (!(share > 0)) return 0;
  const double radius = numbers_[2];
  const double linear = step.dot(slope), square = step.dot(image);
  step *= share;

  const double length = step.norm(), width = static_cast<double>(n);
  const double radius_all = radius + constant_;
  const double steps = static_cast<double>(curve.rows) + 4 * width + 32;  // roundings of a form
  const double of_rows = curve.square * length;
  // Σ c of φ*(−a') ≤ φ*(−a) + u h t + h t²/2.
  sums.conjugate -= share * linear + 0.5 * share * share * square;
  sums.conjugate -= epsilon * steps * length * (curve.square * (w.norm() + length) + curve.scores * radius_all);
  // What the score and the slope err by.
  sums.conjugate -= reach * (2e-8 * curve.mass + 16 * epsilon * sums.unseen);
  sums.rows -= share * image.head(d);
  const double scale = 1 + sums.depth;
  sums.mass += reach * curve.size + steps * of_rows / scale;
  sums.size += reach * curve.scores + reach * reach * curve.mass;
  sums.unseen += static_cast<double>(curve.rows) * (4 * width + radius_all + 8);
  sums.absolute -= reach * curve.mass;
  if (constant) sums.coefficient -= share * image[d] / constant_;
  if (p.free_intercept) {
    const double error = epsilon * steps * (curve.size + curve.mass) * length;
    sums.coefficient += std::copysign(error, sums.coefficient);
    if (!(sums.absolute > 0)) return 0;
  }
  return dual_of(sums, lambda);
}

}  // namespace margin
