#include "core/solvers/kernel/smo_working_set.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "core/math/rounding.hpp"
#include "core/simd/loops.hpp"

namespace margin {

namespace {
constexpr double ridge = 1e-11;        // of the largest diagonal entry: keeps a singular kernel matrix solvable
constexpr std::size_t most_held = 64;  // weights that may meet their bounds before the factor is made afresh

/// Newton's direction d under the constraints Cᵀd = 0: Σ d = 0 with an intercept, and d = 0 of the members that are
/// held. d = K⁻¹e − K⁻¹C λ, from the columns of K⁻¹C.
class NewtonDirection {
 public:
  NewtonDirection(const SymmetricMatrix& factor, const Eigen::VectorXd& e, bool intercept, Run& run)
      : factor_(factor), run_(run), first_(intercept ? 1 : 0) {
    if (intercept) solved_.push_back(solve(Eigen::VectorXd::Ones(e.size())));
    free_ = solve(e);
  }

  const Eigen::VectorXd& value() const { return d_; }
  const std::vector<std::size_t>& held() const { return held_; }

  /// d for the constraints so far; false where rounding leaves nothing of it.
  bool compute() {
    const auto m = static_cast<Eigen::Index>(solved_.size());
    d_ = free_;
    lambda_.resize(m);
    if (m > 0) {
      Eigen::MatrixXd small(m, m);
      Eigen::VectorXd right(m);
      for (Eigen::Index c = 0; c < m; ++c) {
        right(c) = constrained(c, free_);
        for (Eigen::Index k = 0; k < m; ++k) small(c, k) = constrained(c, solved(k));
      }
      const Eigen::LDLT<Eigen::MatrixXd> factored(small);
      lambda_ = factored.solve(right);
      for (Eigen::Index c = 0; c < m; ++c) d_ -= lambda_(c) * solved(c);
      // Where the kernel matrix is nearly singular d is large, and what rounding leaves of Cᵀd with it: once more.
      for (Eigen::Index c = 0; c < m; ++c) right(c) = constrained(c, d_);
      const Eigen::VectorXd rest = factored.solve(right);
      for (Eigen::Index c = 0; c < m; ++c) d_ -= rest(c) * solved(c);
      lambda_ += rest;
    }
    for (const std::size_t a : held_) d_(static_cast<Eigen::Index>(a)) = 0;
    return d_.allFinite() && !(first_ > 0 && std::fabs(d_.sum()) > 1e-12 * d_.cwiseAbs().sum());
  }

  /// After a step along d: e falls by step · K d = step · (e − Cλ), and K⁻¹e with it. Member `a` is held from now on.
  void hold(std::size_t a, double step) {
    free_ *= 1 - step;
    for (Eigen::Index c = 0; c < lambda_.size(); ++c) free_ += step * lambda_(c) * solved(c);
    held_.push_back(a);
    Eigen::VectorXd unit = Eigen::VectorXd::Zero(free_.size());
    unit(static_cast<Eigen::Index>(a)) = 1;
    solved_.push_back(solve(std::move(unit)));
  }

 private:
  Eigen::VectorXd solve(Eigen::VectorXd v) const {
    solve_factored(factor_, v.data(), &run_.progress());
    return v;
  }
  const Eigen::VectorXd& solved(Eigen::Index c) const { return solved_[static_cast<std::size_t>(c)]; }
  /// Row c of Cᵀ times v.
  double constrained(Eigen::Index c, const Eigen::VectorXd& v) const {
    return c < first_ ? v.sum() : v(static_cast<Eigen::Index>(held_[static_cast<std::size_t>(c - first_)]));
  }

  const SymmetricMatrix& factor_;
  Run& run_;
  Eigen::Index first_;  // the constraint that the first held member has
  std::vector<Eigen::VectorXd> solved_;
  std::vector<std::size_t> held_;      // positions among the members
  Eigen::VectorXd free_, d_, lambda_;  // free_: K⁻¹e
};

}  // namespace

void SmoWorkingSet::reserve(std::size_t members) {
  if (members <= stride_) return;
  const std::size_t stride = std::max(members, std::min(most_, std::max(2 * stride_, std::size_t{256})));
  LargeArray grown(stride * stride);
  for (std::size_t p = 0; p < size(); ++p) {
    std::copy_n(column(p), size(), grown.data() + p * stride);
    run_.work(static_cast<double>(stride));
  }
  kernel_.swap(grown);
  stride_ = stride;
}

void SmoWorkingSet::set_weight(std::size_t p, double weight) {
  weight_[p] = weight;
  up_[p] = weight < high_[p] ? 0.0 : -infinity;
  down_[p] = weight > low_[p] ? 0.0 : infinity;
}

void SmoWorkingSet::add(const Member& m) {
  reserve(size() + 1);
  variables_.push_back(m.variable);
  rows_.push_back(m.row);
  low_.push_back(m.low);
  high_.push_back(m.high);
  error_.push_back(m.error);
  for (auto* v : {&weight_, &up_, &down_, &gain_, &diagonal_}) v->push_back(0);
  set_weight(size() - 1, m.weight);
}

void SmoWorkingSet::set_column(std::size_t p, const double* values) {
  double* const to = column(p);
  for (std::size_t q = 0; q < size(); ++q) to[q] = values[rows_[q]];
  diagonal_[p] = to[p];
  run_.work(2 * static_cast<double>(size()));
}

void SmoWorkingSet::share_columns(std::size_t first) {
  for (std::size_t q = 0; q < first; ++q) {
    double* const to = column(q);
    for (std::size_t p = first; p < size(); ++p) to[p] = column(p)[q];
    run_.work(4 * static_cast<double>(size() - first));  // what it reads is not in a row
  }
}

void SmoWorkingSet::keep(const std::vector<std::size_t>& members) {
  const std::size_t count = members.size();
  // In place: the members ascend, so what is read has not been written over.
  for (std::size_t p = 0; p < count; ++p) {
    double* const to = column(p);
    const double* const from = column(members[p]);
    for (std::size_t q = 0; q < count; ++q) to[q] = from[members[q]];
    run_.work(2 * static_cast<double>(count));
  }
  auto select = [&](auto& values) {
    auto old = values;
    values.resize(count);
    for (std::size_t p = 0; p < count; ++p) values[p] = old[members[p]];
  };
  select(variables_);
  select(rows_);
  for (auto* v : {&low_, &high_, &weight_, &error_, &diagonal_, &up_, &down_, &gain_}) select(*v);
}

double SmoWorkingSet::violation() const {
  double top = intercept_ ? -infinity : 0, bottom = intercept_ ? infinity : 0;
  for (std::size_t p = 0; p < size(); ++p) {
    top = std::max(top, error_[p] + up_[p]);
    bottom = std::min(bottom, error_[p] + down_[p]);
  }
  return intercept_ ? std::max(0.0, top - bottom) : std::max(top, -bottom);
}

bool SmoWorkingSet::descend(double tolerance, std::size_t steps) {
  return intercept_ ? descend_pairs(tolerance, steps) : descend_singles(tolerance, steps);
}

bool SmoWorkingSet::descend_pairs(double tolerance, std::size_t steps) {
  const SimdLoops& k = simd();
  const std::size_t n = size();
  double top, bottom;
  k.pair_step(0, error_.data(), error_.data(), n, up_.data(), down_.data(), error_.data(), &top, &bottom);
  for (std::size_t step = 0; step < steps; ++step) {
    if (!(top - bottom > tolerance)) return true;
    run_.work(2.0 * static_cast<double>(n) + 64);
    const std::size_t i = k.find_sum(top, error_.data(), up_.data(), n);
    if (i == n) return false;
    const double best = k.pair_gain(top, diagonal_[i], least_, column(i), diagonal_.data(), error_.data(), down_.data(),
                                    n, gain_.data());
    if (!(best > 0)) return false;
    const std::size_t j = static_cast<std::size_t>(std::find(gain_.begin(), gain_.end(), best) - gain_.begin());
    const double curvature = std::max(least_, diagonal_[i] + diagonal_[j] - 2 * column(i)[j]);
    const double wanted = (error_[i] - error_[j]) / curvature;
    const double room_i = high_[i] - weight_[i], room_j = weight_[j] - low_[j];
    const double delta = std::min({wanted, room_i, room_j});
    // A weight that meets its bound is set to it: sums would miss it by rounding.
    set_weight(i, delta == room_i ? high_[i] : weight_[i] + delta);
    set_weight(j, delta == room_j ? low_[j] : weight_[j] - delta);
    k.pair_step(delta, column(i), column(j), n, up_.data(), down_.data(), error_.data(), &top, &bottom);
  }
  return !(top - bottom > tolerance);
}

bool SmoWorkingSet::descend_singles(double tolerance, std::size_t steps) {
  const SimdLoops& k = simd();
  const std::size_t n = size();
  for (std::size_t step = 0; step < steps; ++step) {
    run_.work(2.0 * static_cast<double>(n) + 64);
    const double best =
        k.single_gain(least_, diagonal_.data(), error_.data(), up_.data(), down_.data(), n, gain_.data());
    const auto i = static_cast<std::size_t>(std::find(gain_.begin(), gain_.end(), best) - gain_.begin());
    // The row of largest gain need not be the one furthest off; the scan for that is only worth it near the end.
    if (!(best > 0) || (std::fabs(error_[i]) <= tolerance && violation() <= tolerance)) return true;
    const double wanted = error_[i] / std::max(least_, diagonal_[i]);
    const double weight = std::clamp(weight_[i] + wanted, low_[i], high_[i]);
    const double delta = weight - weight_[i];
    set_weight(i, weight);
    k.axpy_d(-delta, column(i), error_.data(), n);
  }
  return violation() <= tolerance;
}

bool SmoWorkingSet::factor_free(const std::vector<std::size_t>& members) {
  const std::size_t f = members.size();
  factor_.reset(f, run_);
  const double shift = std::max(ridge * *std::max_element(diagonal_.begin(), diagonal_.end()), least_ * 1e-3);
  for (std::size_t a = 0; a < f; ++a) {
    double* row = factor_.row(a);
    const double* from = column(members[a]);
    for (std::size_t b = a; b < f; ++b) row[b] = from[members[b]];
    row[a] += shift;
    run_.work(static_cast<double>(f - a));
  }
  return factorise(factor_, run_);
}

std::pair<double, std::size_t> SmoWorkingSet::longest_step(const std::vector<std::size_t>& members,
                                                           const Eigen::VectorXd& d,
                                                           const Eigen::VectorXd& moved) const {
  std::pair<double, std::size_t> out{1, members.size()};
  for (std::size_t a = 0; a < members.size(); ++a) {
    const double v = d(static_cast<Eigen::Index>(a));
    if (v == 0) continue;
    const std::size_t p = members[a];
    const double at = weight_[p] + moved(static_cast<Eigen::Index>(a));
    const double room = v > 0 ? high_[p] - at : low_[p] - at, ratio = room / v;
    if (ratio < out.first) out = {std::max(0.0, ratio), a};
  }
  return out;
}

void SmoWorkingSet::move_by(const std::vector<std::size_t>& members, const Eigen::VectorXd& moved,
                            const std::vector<std::size_t>& held) {
  for (std::size_t a = 0; a < members.size(); ++a) {
    const std::size_t p = members[a];
    double weight = std::clamp(weight_[p] + moved(static_cast<Eigen::Index>(a)), low_[p], high_[p]);
    if (std::find(held.begin(), held.end(), a) != held.end())
      weight = std::fabs(weight - high_[p]) < std::fabs(weight - low_[p]) ? high_[p] : low_[p];
    const double delta = weight - weight_[p];
    if (delta == 0) continue;
    set_weight(p, weight);
    simd().axpy_d(-delta, column(p), error_.data(), size());
    run_.work(static_cast<double>(size()));
  }
}

/// Newton's step over the free members; those that meet a bound on the way are held there, and it goes on without them.
void SmoWorkingSet::newton() {
  std::vector<std::size_t> members;
  for (std::size_t p = 0; p < size(); ++p)
    if (free(p)) members.push_back(p);
  if (members.size() < 2 || members.size() > most_ || !factor_free(members)) return;
  Eigen::VectorXd e(static_cast<Eigen::Index>(members.size()));
  for (std::size_t a = 0; a < members.size(); ++a) e(static_cast<Eigen::Index>(a)) = error_[members[a]];
  NewtonDirection direction(factor_, e, intercept_, run_);
  Eigen::VectorXd moved = Eigen::VectorXd::Zero(e.size());
  while (direction.compute()) {
    const Eigen::VectorXd& d = direction.value();
    const auto [step, blocking] = longest_step(members, d, moved);
    moved += step * d;
    if (blocking == members.size() || direction.held().size() >= most_held) break;
    const auto at = static_cast<Eigen::Index>(blocking);
    moved(at) = (d(at) > 0 ? high_ : low_)[members[blocking]] - weight_[members[blocking]];
    direction.hold(blocking, step);
  }
  move_by(members, moved, direction.held());
}

}  // namespace margin
