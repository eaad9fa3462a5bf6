#include "core/solvers/l2_margin/min_norm_point.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "core/solvers/l2_margin/floors.hpp"

namespace margin {

namespace {
// Members whose factor no near cache holds: from there on pairs enter in blocks, which read it once.
constexpr std::size_t many_members = 512;

/// Of two classes, the usual case: no memory is asked for.
using TwoByTwo = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, 2, 2>;
using TwoNumbers = Eigen::Matrix<double, Eigen::Dynamic, 1, Eigen::ColMajor, 2, 1>;

template <class Matrix, class Vector>
Eigen::VectorXd solve_system(Matrix m, const Vector& r) {
  Eigen::LDLT<Matrix> ldlt(m);
  const Vector d = ldlt.vectorD().cwiseAbs();
  if (d.minCoeff() < 1e-13 * d.maxCoeff()) {
    m.diagonal().array() += 1e-13 * d.maxCoeff();
    ldlt.compute(m);
    Vector x = ldlt.solve(r);
    x += ldlt.solve(r - m * x);
    return x;
  }
  return ldlt.solve(r);
}

/// The p × p system of the multipliers; singular when the members do not reach all classes, then any solution serves.
Eigen::VectorXd solve_small(const Eigen::MatrixXd& m, const Eigen::VectorXd& r) {
  if (m.rows() == 1) return r / m(0, 0);
  return m.rows() == 2 ? solve_system<TwoByTwo, TwoNumbers>(m, r)
                       : solve_system<Eigen::MatrixXd, Eigen::VectorXd>(m, r);
}
}  // namespace

MinNormPoint::MinNormPoint(const Problem& problem, const WorkingSet& working_set, Precision precision,
                           const Progress& progress)
    : problem_(problem),
      working_set_(working_set),
      precision_(precision),
      p_(!problem.intercept ? 1 : (problem.classes == 2 ? 2 : problem.classes)),
      r_(Eigen::VectorXd::Zero(p_)),
      eta_(Eigen::VectorXd::Zero(p_)),
      constraint_(p_),
      factor_(p_, precision == Precision::rows
                      ? static_cast<Eigen::Index>(problem.outputs()) * problem.dimensions() + p_
                      : 0),
      progress_(progress) {
  factor_.set_progress(&progress);
  r_(0) = 1;
  if (problem.intercept && problem.classes == 2) r_ << 0.5, 0.5;
}

const Eigen::VectorXd& MinNormPoint::constraint(const Pair& p) {
  Eigen::VectorXd& a = constraint_;
  a.setZero();
  if (!problem_.intercept) {
    a(0) = 1;
  } else if (problem_.classes == 2) {
    a(p.own) = 1;
  } else {
    a(0) = 1;
    if (p.own > 0) a(p.own) += 1;
    if (p.rival > 0) a(p.rival) -= 1;
  }
  return a;
}

double MinNormPoint::constraint_dot(const Pair& p, const Eigen::VectorXd& v) const {
  if (!problem_.intercept) return v(0);
  if (problem_.classes == 2) return v(p.own);
  return v(0) + (p.own > 0 ? v(p.own) : 0.0) - (p.rival > 0 ? v(p.rival) : 0.0);
}

double MinNormPoint::constraint_gram(const Pair& p, const Pair& q) const {
  if (!problem_.intercept) return 1;
  if (problem_.classes == 2) return p.own == q.own ? 1 : 0;
  const bool own = p.own > 0, rival = p.rival > 0;
  return 1 + (own && p.own == q.own) - (own && p.own == q.rival) - (rival && p.rival == q.own) +
         (rival && p.rival == q.rival);
}

double MinNormPoint::inner(Eigen::Index i, Eigen::Index j) const {
  return working_set_.gram(i, j) + constraint_gram(working_set_.pair(i), working_set_.pair(j));
}

Eigen::VectorXd MinNormPoint::offsets() const {
  Eigen::VectorXd b = Eigen::VectorXd::Zero(problem_.classes);
  if (!problem_.intercept) return b;
  if (problem_.classes == 2)
    b(1) = 0.5 * (eta_(0) - eta_(1));
  else
    for (Eigen::Index c = 1; c < p_; ++c) b(c) = -eta_(c);
  return b;
}

void MinNormPoint::choose_start() {
  auto smallest = [&](std::int32_t own, std::int32_t rival) {
    Eigen::Index best = -1;
    progress_.work(4.0 * static_cast<double>(working_set_.size()));
    for (Eigen::Index j = 0; j < working_set_.size(); ++j) {
      const Pair& p = working_set_.pair(j);
      if ((own >= 0 && p.own != own) || (rival >= 0 && p.rival != rival)) continue;
      if (best < 0 || working_set_.gram(j, j) < working_set_.gram(best, best)) best = j;
    }
    return best;
  };
  if (!problem_.intercept) {
    enter(smallest(-1, -1));
  } else {
    // Both directions along the chain of classes: a feasible start that reaches every class.
    for (std::int32_t c = 0; c + 1 < problem_.classes; ++c) {
      enter(smallest(c, c + 1));
      enter(smallest(c + 1, c));
    }
  }
  q_.setConstant(1.0 / static_cast<double>(members_.size()));
}

void MinNormPoint::enter(Eigen::Index j) {
  const auto s = static_cast<Eigen::Index>(members_.size());
  const Eigen::VectorXd& a = constraint(working_set_.pair(j));
  const double length =
      precision_ == Precision::rows ? 4.0 * problem_.outputs() * problem_.dimensions() : static_cast<double>(s);
  progress_.work(static_cast<double>(s + 1) * (length + static_cast<double>(p_) + 8));
  if (precision_ == Precision::rows) {
    const Eigen::VectorXd z = working_set_.expand(j);
    Eigen::VectorXd v(z.size() + p_);
    v << z, a;
    factor_.append_vector(v, pivot_floor);
  } else {
    Eigen::VectorXd cross(s);
    for (Eigen::Index i = 0; i < s; ++i) cross(i) = inner(members_[static_cast<std::size_t>(i)], j);
    factor_.append(cross, working_set_.gram(j, j) + a.squaredNorm(), a, pivot_floor);
  }
  members_.push_back(j);
  is_member_.resize(static_cast<std::size_t>(working_set_.size()), 0);
  is_member_[static_cast<std::size_t>(j)] = 1;
  q_.conservativeResize(s + 1);
  q_(s) = 0;
  ++changes_since_refactor_;
}

void MinNormPoint::enter_all(const std::vector<Eigen::Index>& entering) {
  const auto s = static_cast<Eigen::Index>(members_.size()), k = static_cast<Eigen::Index>(entering.size());
  Eigen::MatrixXd cross(s, k), squares(k, k), rhs(k, p_);
  is_member_.resize(static_cast<std::size_t>(working_set_.size()), 0);
  for (Eigen::Index b = 0; b < k; ++b) {
    const Eigen::Index j = entering[static_cast<std::size_t>(b)];
    for (Eigen::Index i = 0; i < s; ++i) cross(i, b) = inner(members_[static_cast<std::size_t>(i)], j);
    for (Eigen::Index c = 0; c < k; ++c) squares(c, b) = inner(entering[static_cast<std::size_t>(c)], j);
    rhs.row(b) = constraint(working_set_.pair(j)).transpose();
    progress_.work(16.0 * static_cast<double>(s + k) + static_cast<double>(s * p_));
  }
  factor_.append_block(std::move(cross), squares, rhs, pivot_floor);
  for (const Eigen::Index j : entering) is_member_[static_cast<std::size_t>(j)] = 1;
  members_.insert(members_.end(), entering.begin(), entering.end());
  q_.conservativeResize(s + k);
  q_.tail(k).setZero();
  changes_since_refactor_ += static_cast<int>(k);
}

void MinNormPoint::drop(Eigen::Index position) {
  is_member_[static_cast<std::size_t>(members_[static_cast<std::size_t>(position)])] = 0;
  members_.erase(members_.begin() + position);
  const Eigen::Index s = q_.size();
  for (Eigen::Index i = position; i + 1 < s; ++i) q_(i) = q_(i + 1);
  q_.conservativeResize(s - 1);
  factor_.remove(position);
  ++changes_since_refactor_;
}

void MinNormPoint::refactor() {
  const std::vector<Eigen::Index> members = members_;
  const Eigen::VectorXd q = q_;
  members_.clear();
  q_.resize(0);
  factor_.clear();
  for (const Eigen::Index j : members) enter(j);
  q_ = q;
  changes_since_refactor_ = 0;
}

Eigen::MatrixXd MinNormPoint::normal_matrix(const Eigen::MatrixXd& y) const {
  const auto p = static_cast<double>(p_), per_column = p * static_cast<double>(y.rows());
  // Few columns: one product, as cheap as can be. Many: in parts of a few milliseconds.
  const auto width = static_cast<Eigen::Index>(std::max(1.0, std::floor(8388608.0 / (per_column + 1))));
  Eigen::MatrixXd m(p_, p_);
  if (width >= p_) {
    m.noalias() = y.transpose() * y;
  } else {
    for (Eigen::Index c = 0; c < p_; c += width) {
      const Eigen::Index n = std::min(width, p_ - c);
      m.middleCols(c, n).noalias() = y.transpose() * y.middleCols(c, n);
      progress_.work(per_column * static_cast<double>(n));
    }
  }
  progress_.work(p * p * p / 3);  // its factorisation
  return m;
}

Eigen::VectorXd MinNormPoint::equality_solution() {
  const Eigen::MatrixXd y = factor_.reduced();
  const Eigen::VectorXd nu = solve_small(normal_matrix(y), r_);
  eta_ = nu - r_;
  return factor_.solve_transposed(y * nu);
}

void MinNormPoint::minor_cycles(Eigen::Index entered) {
  for (;;) {
    const auto s = static_cast<double>(members_.size());
    progress_.work(2 * s * (s + static_cast<double>(p_)));
    const Eigen::VectorXd target = equality_solution();
    const Eigen::Index before = entered;
    for (Eigen::Index i = target.size() - 1, block = before; block > 0; --i, --block) {
      if (target(i) > 0) continue;
      drop(i);
      --entered;
    }
    if (entered < before) continue;
    entered = 0;
    double step = 1;
    Eigen::Index blocking = -1;
    for (Eigen::Index i = 0; i < target.size(); ++i) {
      if (target(i) >= -zero_weight) continue;
      const double ratio = q_(i) / (q_(i) - target(i));
      if (blocking < 0 || ratio < step) {
        step = ratio;
        blocking = i;
      }
    }
    if (blocking < 0) {
      q_ = target.cwiseMax(0.0);
      return;
    }
    q_ = (q_ + step * (target - q_)).cwiseMax(0.0);
    drop(blocking);
  }
}

Eigen::VectorXd MinNormPoint::pool_products() const {
  if (precision_ == Precision::gram) return working_set_.products(members_, q_, progress_);
  Eigen::VectorXd g(working_set_.size());
  for (Eigen::Index j = 0; j < working_set_.size(); ++j) {
    g(j) = working_set_.product(j, w_);
    progress_.work(2.0 * problem_.dimensions());
  }
  return g;
}

void MinNormPoint::measure_multipliers(const Eigen::VectorXd& products) {
  Eigen::MatrixXd m = Eigen::MatrixXd::Zero(p_, p_);
  Eigen::VectorXd v = Eigen::VectorXd::Zero(p_);
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const Eigen::VectorXd& a = constraint(working_set_.pair(members_[i]));
    // A member of weight 0 may be the only one that tells a class's multiplier, so it counts a little.
    const double q = std::max(q_(static_cast<Eigen::Index>(i)), 1e-6);
    for (Eigen::Index c = 0; c < p_; ++c)  // three of them at most are not 0
      if (a(c) != 0) m.col(c) += q * a(c) * a;
    v += q * products(members_[i]) * a;
    progress_.work(4.0 * static_cast<double>(p_));
  }
  eta_ = solve_small(m, v);
}

MinNormPoint::Ending MinNormPoint::solve(double tolerance, const std::function<bool()>& stop) {
  is_member_.resize(static_cast<std::size_t>(working_set_.size()), 0);
  if (members_.empty()) choose_start();
  minor_cycles();
  double best = std::numeric_limits<double>::max();
  int without_progress = 0;
  bool refactored = false;
  for (;;) {
    if (precision_ == Precision::rows) refine_primal();
    const Eigen::VectorXd g = pool_products();
    if (precision_ == Precision::rows) {
      measure_multipliers(g);
      progress_.work(static_cast<double>(working_set_.distinct_rows()) * problem_.dimensions() * problem_.outputs());
    }
    squared_norm_ = 0;
    for (std::size_t i = 0; i < members_.size(); ++i)
      squared_norm_ += q_(static_cast<Eigen::Index>(i)) * g(members_[i]);
    squared_norm_ = std::max(squared_norm_, 0.0);

    if (squared_norm_ < best - 1e-14 * std::fabs(best)) {
      best = squared_norm_;
      without_progress = 0;
    } else if (++without_progress > 30 + 2 * static_cast<int>(p_)) {
      // No progress but rounding: refactorise once, then end as stalled.
      if (refactored) return Ending::stalled;
      refactor();
      minor_cycles();
      refactored = true;
      without_progress = 0;
      continue;
    }

    // The error of a reduced gradient: from the Gram matrix absolute, from the rows in proportion to ‖w‖.
    const double error = precision_ == Precision::gram ? rounding_floor : rounding_floor * std::sqrt(squared_norm_);
    const double bound = -tolerance * squared_norm_ - error;
    const std::vector<Eigen::Index> candidates = violators(g, bound);
    if (candidates.empty()) return Ending::optimal;
    if (changes_since_refactor_ > 2000 + 4 * static_cast<int>(members_.size())) refactor();
    if (candidates.size() > 1 && members_.size() >= many_members && without_progress == 0) {
      if (stop && stop()) return Ending::stopped;
      enter_all(candidates);
      minor_cycles(static_cast<Eigen::Index>(candidates.size()));
      continue;
    }
    for (const Eigen::Index j : candidates) {
      // The candidates before this one have moved w: look again before entering.
      if (j != candidates.front() && reduced(working_set_.pair(j), member_product(j)) >= bound) continue;
      if (stop && stop()) return Ending::stopped;
      enter(j);
      minor_cycles();
    }
  }
}

std::vector<Eigen::Index> MinNormPoint::violators(const Eigen::VectorXd& products, double bound) const {
  // Pricing the whole working set costs as much as several entries once there are many members: then take a batch.
  const std::size_t batch = precision_ == Precision::gram && members_.size() > 100 ? 16 : 1;
  std::vector<std::pair<double, Eigen::Index>> found;
  for (Eigen::Index j = 0; j < working_set_.size(); ++j) {
    if (is_member_[static_cast<std::size_t>(j)] != 0) continue;
    const double gradient = reduced(working_set_.pair(j), products(j));
    if (!(gradient < bound)) continue;
    if (batch == 1 && !found.empty()) {
      if (gradient < found.front().first) found.front() = {gradient, j};
    } else {
      found.emplace_back(gradient, j);
    }
  }
  const std::size_t count = std::min(batch, found.size());
  std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(count), found.end());
  std::vector<Eigen::Index> out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = found[i].second;
  return out;
}

double MinNormPoint::member_product(Eigen::Index j) const {
  double sum = 0;
  for (std::size_t i = 0; i < members_.size(); ++i)
    sum += q_(static_cast<Eigen::Index>(i)) * working_set_.gram(members_[i], j);
  return sum;
}

Eigen::VectorXd MinNormPoint::refinement(const Weights& w) {
  const auto s = static_cast<Eigen::Index>(members_.size());
  Eigen::VectorXd residual(s), missing = r_;
  for (Eigen::Index i = 0; i < s; ++i) {
    const Eigen::Index j = members_[static_cast<std::size_t>(i)];
    residual(i) = constraint_dot(working_set_.pair(j), eta_) - working_set_.product(j, w);
    missing -= q_(i) * constraint(working_set_.pair(j));
    progress_.work(2.0 * problem_.dimensions() + static_cast<double>(p_));
  }
  const Eigen::MatrixXd y = factor_.reduced();
  const Eigen::VectorXd t = factor_.solve_lower(residual);
  const Eigen::VectorXd mu = solve_small(normal_matrix(y), missing - y.transpose() * t);
  eta_ += mu - missing;
  return factor_.solve_transposed(t + y * mu);
}

void MinNormPoint::refine_weights() {
  const Eigen::VectorXd kept = eta_;
  const Eigen::VectorXd refined = q_ + refinement(working_set_.combine(members_, q_));
  if (refined.allFinite() && refined.minCoeff() >= 0)
    q_ = refined;
  else
    eta_ = kept;
}

void MinNormPoint::refine_primal() {
  w_ = working_set_.combine_exactly(members_, q_);
  for (int pass = 0; pass < 3; ++pass) {
    Eigen::VectorXd products(working_set_.size());
    for (const Eigen::Index j : members_) products(j) = working_set_.product(j, w_);
    measure_multipliers(products);
    const Eigen::VectorXd kept = eta_;
    // The correction is below the last digit of q, so it goes to w alone; q stays the dual vector of the certificate.
    const Weights better = w_ + working_set_.combine(members_, refinement(w_));
    eta_ = kept;
    if (!better.allFinite()) return;
    w_ = better;
  }
}

Weights MinNormPoint::primal() {
  if (precision_ == Precision::rows) return w_;
  refine_weights();
  return working_set_.combine(members_, q_);
}

}  // namespace margin
