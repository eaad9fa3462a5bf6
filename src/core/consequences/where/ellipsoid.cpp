#include "core/consequences/where/ellipsoid.hpp"

#include <algorithm>
#include <cmath>

#include "core/math/norm.hpp"
#include "core/math/rounding.hpp"

namespace margin {

namespace {

/// Of N: over the step that a random share of the rows would take.
constexpr double room = 1.5;
/// The metric is as good as A where A is this share of it; else A takes its place, in so many rounds.
constexpr double near = 0.9;
constexpr int rounds = 3;
/// Rows that come or go, multiplied together.
constexpr std::size_t rows_at_once = 32;
/// Steps towards the largest eigenvalue of A⁻¹S; what the estimate is widened by, so many times, until it is proven.
constexpr int power_steps = 8;
constexpr double wider = 1.08;
constexpr int attempts = 12;

double norm_of(const std::vector<double>& v) { return lp_norm(v.data(), static_cast<Eigen::Index>(v.size()), 2); }

std::size_t packed_size(std::size_t n) { return n * (n + 1) / 2; }

double trace_of(const std::vector<double>& packed, std::size_t n) {
  double sum = 0;
  for (std::size_t j = 0, at = 0; j < n; at += n - j, ++j) sum += std::fabs(packed[at]);
  return sum;
}

std::vector<double> packed(const SymmetricMatrix& m) {
  std::vector<double> out;
  out.reserve(packed_size(m.size()));
  for (std::size_t j = 0; j < m.size(); ++j) out.insert(out.end(), m.row(j) + j, m.row(j) + m.size());
  return out;
}

/// a·A + b·B + s·I
SymmetricMatrix combined(double a, const std::vector<double>& A, double b, const std::vector<double>& B, double s,
                         std::size_t n) {
  SymmetricMatrix out(n);
  for (std::size_t j = 0, at = 0; j < n; ++j) {
    for (std::size_t k = j; k < n; ++k, ++at) out.row(j)[k] = a * A[at] + (b != 0 ? b * B[at] : 0.0);
    out.row(j)[j] += s;
  }
  return out;
}

/// A v by the upper triangle.
std::vector<double> times(const std::vector<double>& A, const std::vector<double>& v) {
  const std::size_t n = v.size();
  std::vector<double> out(n, 0.0);
  const SimdLoops& loops = simd();
  for (std::size_t j = 0, at = 0; j < n; at += n - j, ++j) {
    out[j] += loops.dot_dd(A.data() + at, v.data() + j, n - j);
    loops.axpy_d(v[j], A.data() + at + 1, out.data() + j + 1, n - j - 1);
  }
  return out;
}

double product(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t j = 0; j < a.size(); ++j) sum += a[j] * b[j];
  return sum;
}

/// Whether a matrix whose entries come from terms of this trace is certainly positive.
bool positive(SymmetricMatrix matrix, double trace, const Progress& progress) {
  const double hidden = 8 * epsilon * (static_cast<double>(matrix.size()) + 8) * trace;
  for (std::size_t j = 0; j < matrix.size(); ++j) matrix.row(j)[j] -= hidden;
  return factorise(matrix, progress);
}

/// Below all eigenvalues of a matrix that is λW and more, proven; 0: not proven.
double proven_floor(const std::vector<double>& matrix, double error, double ridge, double trace, std::size_t n,
                    const Progress& progress) {
  for (const double factor : {0.9, 0.5, 0.1, 0.01})
    if (positive(combined(1, matrix, 0, matrix, -error - factor * ridge, n), trace, progress)) return factor * ridge;
  return 0;
}

/// ρ = N‖x‖_M⁻¹ of a row, by an inverse that is exact enough.
constexpr double exact_enough = 1e-6;
double reach_of(const Row& x, const InverseCurvature& metric, double reach, const Progress& progress) {
  return reach * std::sqrt(std::max(0.0, metric.form(x, progress))) * (1 + exact_enough);
}

/// About the largest eigenvalue of A⁻¹S, with the factor of A.
double largest_ratio(const SymmetricMatrix& factor, const std::vector<double>& S, const Progress& progress) {
  const std::size_t n = factor.size();
  std::vector<double> v(n, 1.0);
  double found = 0;
  for (int step = 0; step < power_steps; ++step) {
    const double size = norm_of(v);
    if (!(size > 0) || !std::isfinite(size)) break;
    for (double& a : v) a /= size;
    v = times(S, v);
    solve_factored(factor, v.data(), &progress);
    found = norm_of(v);
    progress.work(static_cast<double>(n * n));
  }
  return found;
}

/// s²/m, of K in the header
double bend_of(const MeanCurvature& h) {
  return h.middle > 0 ? h.spread * std::min(1 + mean_blur, h.spread / h.middle) * (1 + mean_blur) : 0.0;
}

/// ‖(x, B)‖
double length_of(const Row& x, double constant) { return std::hypot(norm(x), constant) * (1 + 8 * epsilon); }

void add_row(double c, const Row& x, double constant, std::vector<double>& to) {
  margin::add(c, x, to.data());
  if (constant != 0) to.back() += c * constant;
}

/// H, S and K of the header, from a pass over the rows with these lengths ‖x‖_M⁻¹.
void bend(CurvedPoint& out, const VisitRows& rows, const Loss& loss, const std::vector<double>& lengths, double ridge,
          double constant, const Progress& progress) {
  const std::size_t n = out.size(), features = n - (constant != 0 ? 1 : 0);
  SymmetricMatrix middle(n), spread(n), bent(n);
  GramBlock middles(features, constant), spreads(features, constant), bents(features, constant);
  std::size_t i = 0;
  double trace = ridge * static_cast<double>(n) + trace_of(out.metric, n);
  rows([&](const CurvedRow& r) {
    const double reach = out.reach * lengths[i++];
    if (!(reach > 0)) return;
    const MeanCurvature h = mean_curvature(loss, r.u, r.y, reach, r.error);
    middles.add(r.x, r.c * h.middle, 1.0, middle, progress);
    spreads.add(r.x, r.c * h.spread, 1.0, spread, progress);
    bents.add(r.x, r.c * bend_of(h), 1.0, bent, progress);
    const double length = length_of(r.x, constant);
    trace += r.c * (h.middle + 2 * h.spread) * length * length;
  });
  middles.flush(1.0, middle, progress);
  spreads.flush(1.0, spread, progress);
  bents.flush(1.0, bent, progress);
  for (std::size_t j = 0; j < n; ++j) middle.row(j)[j] += ridge;
  out.middle = packed(middle);
  out.spread = packed(spread);
  out.bent = packed(bent);
  const double count = static_cast<double>(lengths.size()) + 64;
  out.matrix_error = epsilon * count * trace + count * static_cast<double>(n) * tiny;
}

}  // namespace

CurvedPoint curved_point(const VisitRows& rows, const Loss& loss, const std::vector<double>& point, double lambda,
                         double total_weight, double constant, double share, const Progress& progress) {
  const std::size_t n = point.size(), features = n - (constant != 0 ? 1 : 0);
  const double ridge = lambda * total_weight;
  CurvedPoint out;
  out.total_weight = total_weight;
  out.gradient.assign(n, 0.0);
  GramBlock block(features, constant);
  SymmetricMatrix metric(n);
  double mass = 0, count = 0;
  rows([&](const CurvedRow& r) {
    const double slope = loss.derivative(r.u, r.y), length = length_of(r.x, constant);
    const double h = loss.second_derivative(r.u, r.y);
    if (h > 0) block.add(r.x, r.c * h, 1.0, metric, progress);
    add_row(r.c * slope, r.x, constant, out.gradient);
    mass += r.c * std::fabs(slope) * length;
    out.gradient_error += r.c * length * (r.error * most_curvature(loss) + 8 * epsilon * std::fabs(slope));
    ++count;
    progress.work(4.0 * r.x.count + 32);
  });
  block.flush(1.0, metric, progress);
  for (std::size_t j = 0; j < n; ++j) {
    metric.row(j)[j] += ridge;
    out.gradient[j] += ridge * point[j];
  }
  out.gradient_error += epsilon * ((count + 16) * mass + 8 * ridge * norm_of(point)) + (count + 16) * tiny;
  out.metric = packed(metric);
  for (int round = 1;; ++round) {
    // The metric is `ridge` and more but for a hundredth, in the first round the Hessian.
    const InverseCurvature inverse(combined(1, out.metric, 0, out.metric, 0, n), constant, 0.99 * ridge, progress);
    if (!inverse.usable() || !(inverse.safe() < 1 + exact_enough)) return {};
    std::vector<double> lengths;
    double step = 0;
    rows([&](const CurvedRow& r) {
      const double length = reach_of(r.x, inverse, 1, progress), slope = r.c * loss.derivative(r.u, r.y) * length;
      lengths.push_back(length);
      step += slope * slope;
    });
    const double error = out.gradient_error / std::sqrt(ridge);
    // N: what 1 asks for, for a step that the gradient and a random share of the rows make.
    out.reach = room * (std::sqrt(share * step) + std::sqrt(inverse.form(out.gradient)) + error);
    bend(out, rows, loss, lengths, ridge, constant, progress);
    if (round == rounds) return out;
    std::vector<double> least(out.middle.size());
    for (std::size_t k = 0; k < least.size(); ++k) least[k] = out.middle[k] - out.spread[k];
    const double trace = trace_of(out.middle, n) + trace_of(out.spread, n) + trace_of(out.metric, n);
    if (positive(combined(1, least, -near, out.metric, -out.matrix_error, n), trace, progress) ||
        !positive(combined(1, least, 0, least, -0.99 * ridge - out.matrix_error, n), trace, progress))
      return out;
    out.metric = std::move(least);
  }
}

CurvatureChange::CurvatureChange(const CurvedPoint& before, const Loss& loss, double lambda, double constant,
                                 const Progress& progress)
    : before_(before), loss_(loss), constant_(constant), gradient_(before.size(), 0.0) {
  const std::size_t n = before.size(), features = n - (constant != 0 ? 1 : 0);
  for (int k = 0; k < 3; ++k) sums_.push_back({SymmetricMatrix(n), GramBlock(features, constant, rows_at_once)});
  const double floor = proven_floor(before.metric, before.matrix_error, lambda * before.total_weight,
                                    trace_of(before.metric, n), n, progress);
  if (floor > 0)
    metric_ = InverseCurvature(combined(1, before.metric, 0, before.metric, 0, n), constant, floor, progress);
  known_ = metric_.usable() && metric_.safe() < 1 + exact_enough;
}

void CurvatureChange::add(const CurvedRow& r, bool removed) {
  const double length = length_of(r.x, constant_), slope = loss_.derivative(r.u, r.y), sign = removed ? -1.0 : 1.0;
  const double most = most_curvature(loss_), square = r.c * length * length;
  MeanCurvature h{most / 2, most / 2};
  const double reach = known_ ? reach_of(r.x, metric_, before_.reach, {}) : 0.0;
  add_row(sign * r.c * slope, r.x, constant_, gradient_);
  mass_ += r.c * std::fabs(slope) * length;
  gradient_error_ += r.c * length * (r.error * most + 8 * epsilon * std::fabs(slope));
  ++rows_;
  if (known_ && !(reach > 0)) return;  // a row of zeros
  if (known_) h = mean_curvature(loss_, r.u, r.y, reach, r.error);
  // What the same row added when the model was made, perhaps by other loops, is this up to rounding of u and of ρ. Without the
  // metric nothing is the same.
  if (!known_) error_ = infinity;
  if (removed && known_)
    error_ += square * most * (mean_blur + 128 * (metric_.safe() - 1) + 64 * r.error * (1 + 1 / reach));
  if (sign != sign_) flush();
  sign_ = sign;
  const double curvatures[] = {h.middle, h.spread, bend_of(h)};
  for (std::size_t k = 0; k < sums_.size(); ++k)
    sums_[k].block.add(r.x, r.c * curvatures[k], sign, sums_[k].matrix, {});
  trace_ += square * (h.middle + 2 * h.spread);
}

void CurvatureChange::flush() const {
  for (Sum& sum : sums_) sum.block.flush(sign_, sum.matrix, {});
}

std::size_t CurvatureChange::state_size(const CurvedPoint& before) {
  return 5 + before.size() + 3 * before.metric.size();
}

std::vector<double> CurvatureChange::state() const {
  flush();
  std::vector<double> out = {error_, gradient_error_, mass_, trace_, rows_};
  out.insert(out.end(), gradient_.begin(), gradient_.end());
  for (const Sum& sum : sums_) {
    const std::vector<double> part = packed(sum.matrix);
    out.insert(out.end(), part.begin(), part.end());
  }
  return out;
}

void CurvatureChange::merge(const double* at) {
  for (double* const sum : {&error_, &gradient_error_, &mass_, &trace_, &rows_}) *sum += *at++;
  for (double& sum : gradient_) sum += *at++;
  for (Sum& sum : sums_)
    for (std::size_t j = 0; j < gradient_.size(); ++j)
      for (std::size_t k = j; k < gradient_.size(); ++k) sum.matrix.row(j)[k] += *at++;
}

CurvedPoint CurvatureChange::after(const std::vector<double>& point, double lambda, double grown, double now) const {
  CurvedPoint out = before_;
  const std::size_t n = out.size();
  const double ridge = lambda * grown;
  out.total_weight = now;
  for (std::size_t j = 0; j < n; ++j) out.gradient[j] += gradient_[j] + ridge * point[j];
  flush();
  std::vector<double>* const parts[] = {&out.middle, &out.spread, &out.bent};
  for (std::size_t part = 0; part < sums_.size(); ++part)
    for (std::size_t j = 0, at = 0; j < n; ++j)
      for (std::size_t k = j; k < n; ++k, ++at) (*parts[part])[at] += sums_[part].matrix.row(j)[k];
  for (std::size_t j = 0, at = 0; j < n; at += n - j, ++j) out.middle[at] += ridge;
  const double sums =
      trace_of(before_.middle, n) + 2 * trace_of(before_.spread, n) + std::fabs(ridge) * static_cast<double>(n);
  out.matrix_error +=
      error_ + epsilon * ((rows_ + 64) * trace_ + 8 * sums) + (rows_ + 64) * static_cast<double>(n) * tiny;
  out.gradient_error +=
      gradient_error_ +
      epsilon * ((rows_ + 64) * mass_ + 8 * norm_of(before_.gradient) + 8 * std::fabs(ridge) * norm_of(point)) +
      (rows_ + 16) * tiny;
  return out;
}

Ellipsoid::Ellipsoid(const CurvedPoint& curved, const std::vector<double>& point, double lambda, double constant,
                     const Progress& progress, bool scores)
    : constant_(constant) {
  if (curved.size() != point.size() || curved.metric.size() != packed_size(point.size())) return;
  holds_ = prove(curved, point, lambda, progress, scores);
}

bool Ellipsoid::prove(const CurvedPoint& curved, const std::vector<double>& point, double lambda,
                      const Progress& progress, bool scores) {
  const std::size_t n = point.size();
  const double E = curved.matrix_error, W = curved.total_weight;
  if (!(W > 0) || !std::isfinite(W) || !(E >= 0) || !(curved.gradient_error >= 0)) return false;
  std::vector<double> least(curved.middle.size());  // A
  for (std::size_t k = 0; k < least.size(); ++k) least[k] = curved.middle[k] - curved.spread[k];
  const double trace = trace_of(curved.middle, n) + trace_of(curved.spread, n) + 2 * E * static_cast<double>(n);
  if (!std::isfinite(trace)) return false;
  const double floor = proven_floor(least, E, lambda * W, trace, n, progress);
  if (!(floor > 0)) return false;
  SymmetricMatrix factor = combined(1, least, 0, least, -E, n);
  if (!factorise(factor, progress)) return false;
  // 1 of the header, with q near −A⁻¹e, which misses e by no more than `lost`, in the norm of A⁻¹.
  const std::vector<double>& e = curved.gradient;
  const double many = static_cast<double>(n) + 16, root = std::sqrt(floor), size = norm_of(e);
  const double uncertain = curved.gradient_error / root;
  const auto step_of = [&](const SymmetricMatrix& factored) {
    std::vector<double> step(n);
    for (std::size_t j = 0; j < n; ++j) step[j] = -e[j];
    solve_factored(factored, step.data(), &progress);
    return step;
  };
  const auto missed_by = [&](const std::vector<double>& matrix, const std::vector<double>& step, double length) {
    std::vector<double> missed = times(matrix, step);
    for (std::size_t j = 0; j < n; ++j) missed[j] += e[j];
    return norm_of(missed) + 4 * epsilon * many * (trace * length + size) + E * length;
  };
  const std::vector<double> q = step_of(factor);
  const double q_size = norm_of(q) * (1 + 1e-12);
  const double lost = missed_by(least, q, q_size) / root + uncertain;
  const double whole =
      (std::sqrt(std::max(0.0, -product(e, q)) + 4 * epsilon * many * size * q_size) + lost) * (1 + 1e-9);
  const double of_metric = trace_of(curved.metric, n);
  const double q_metric =
      std::sqrt(std::max(0.0, product(q, times(curved.metric, q))) + 4 * epsilon * many * of_metric * q_size * q_size);
  const double room_left = 2 * curved.reach * (1 - 1e-9) - q_metric * (1 + 1e-9);
  if (!(room_left > 0)) return false;
  // The κ at which ‖q‖_M + ‖e‖_A⁻¹/√κ = 2N; that Mκ ≤ A is proven by a factorisation.
  const double kappa = std::pow((whole + lost) / room_left, 2) * (1 + 1e-9) + 1e-12;
  if (!(kappa < infinity) ||
      !positive(combined(1, least, -kappa, curved.metric, -(1 + kappa) * E, n), trace + kappa * of_metric, progress))
    return false;
  // 4: whole ≥ ‖e‖_A⁻¹.
  decrease_ = whole * whole / 2 / W * (1 + 1e-9);
  if (!scores) return std::isfinite(decrease_);
  // θ of 3: S ≤ θA, estimated, then proven by a factorisation.
  double theta = std::max(largest_ratio(factor, curved.spread, progress), 1e-12);
  bool known = false;
  for (int k = 0; !known && k < attempts; ++k) {
    theta *= wider;
    known = positive(combined(theta, least, -1, curved.spread, -(1 + theta) * E, n), (1 + theta) * trace, progress);
  }
  if (!known) return false;

  factor = combined(1, curved.middle, 0, curved.middle, 0, n);
  if (!factorise(factor, progress)) return false;
  const std::vector<double> step = step_of(factor);  // d⁰ of 2; any does, with what it misses
  const double length = norm_of(step) * (1 + 1e-12);
  // d⁰·K d⁰ of 2, with what K is off by.
  const double bent = product(step, times(curved.bent, step)) + (E + 4 * epsilon * many * trace) * length * length;
  const double left =
      missed_by(curved.middle, step, length) / root + uncertain + std::sqrt(std::max(0.0, bent) * (1 + E / floor));
  // 3.
  radius_ = left * std::sqrt(1 + theta) * (1 + 1e-9);
  centre_ = point;
  for (std::size_t j = 0; j < n; ++j) centre_[j] += step[j];
  size_ = norm_of(centre_);
  inverse_ = InverseCurvature(combined(1, least, 0, least, -E, n), constant_, floor, progress);
  return inverse_.usable() && std::isfinite(radius_) && std::isfinite(size_);
}

void Ellipsoid::score(const Row& x, double* lower, double* upper, const Progress& progress) const {
  const double middle = dot(x, centre_.data()) + (constant_ != 0 ? constant_ * centre_.back() : 0.0);
  const double rounding = epsilon * (x.count + 24.0) * length_of(x, constant_) * size_ + (x.count + 8.0) * tiny;
  const double off = std::sqrt(std::max(0.0, inverse_.form(x, progress)) * inverse_.safe()) * radius_ * (1 + 1e-9);
  // Of a row whose products overflow nothing is known.
  if (!std::isfinite(middle) || !(off + rounding < infinity)) {
    *lower = -infinity;
    *upper = infinity;
    return;
  }
  *lower = middle - (off + 2 * rounding);
  *upper = middle + (off + 2 * rounding);
}

}  // namespace margin
