#include "core/math/constrained_qp.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/math/active_cholesky.hpp"
#include "core/math/rounding.hpp"
#include "core/simd/loops.hpp"

namespace margin {

namespace {

// What counts as met, of the size of a row's terms; and of its normal, what is left of one that depends on the active ones. Of the
// combination of these that it is, shares below `nothing` are rounding.
constexpr double met = 1024 * epsilon, dependent = 1e-10, nothing = 1e-12;

constexpr char implied = 2;  // by the active ends, but for their rounding

/// One end of a row, or of a variable: sign · <n, d> ≥ bound.
struct End {
  std::size_t row = 0;
  std::int32_t variable = -1;  ///< −1: it is a row's
  double sign = 1, bound = 0;
  bool equation = false;
  double multiplier = 0;
};

class ActiveSet {
 public:
  ActiveSet(const ConstrainedQp& qp, const Progress& progress)
      : qp_(qp),
        progress_(progress),
        n_(static_cast<Eigen::Index>(qp.gradient.size())),
        factor_(0, n_),
        d_(qp.gradient.size(), 0.0) {
    factor_.set_progress(&progress_);
    for (std::size_t k = 0; k < qp.rows.count(); ++k) norms_.push_back(qp.rows.norm(k));
    row_active_.assign(qp.rows.count(), 0);
    variable_active_.assign(qp.gradient.size(), 0);
  }

  QpSolution run();

 private:
  bool equal(std::size_t k) const { return qp_.lower[k] == qp_.upper[k]; }
  Eigen::VectorXd forward(Eigen::VectorXd v) const;
  void back(const Eigen::VectorXd& v);
  Eigen::VectorXd normal(const End& end) const;
  double value(const End& end) const;
  double size(const End& end) const;
  bool holds(const End& end) const;
  double rounding(const Eigen::VectorXd& y, const Eigen::VectorXd& r) const;
  void combination(const Eigen::VectorXd& y, Eigen::VectorXd& r, Eigen::VectorXd& z) const;
  bool worst(End& end) const;
  bool enter(End end);
  void leave(std::size_t at);
  void polish();
  char& active(const End& end) {
    return end.variable < 0 ? row_active_[end.row] : variable_active_[static_cast<std::size_t>(end.variable)];
  }

  const ConstrainedQp& qp_;
  const Progress& progress_;
  Eigen::Index n_;
  ActiveCholesky factor_;
  std::vector<double> d_, norms_;
  Eigen::VectorXd p_;  // U d
  double length_ = 0;  // of its first value, the longest that the active ends leave of it
  std::vector<Eigen::VectorXd> normals_;
  std::vector<End> ends_;
  std::vector<char> row_active_, variable_active_;
  std::vector<double> proof_;
};

/// U⁻ᵀ v.
Eigen::VectorXd ActiveSet::forward(Eigen::VectorXd v) const {
  if (qp_.factor == nullptr) return v;
  for (Eigen::Index j = 0; j < n_; ++j) {
    const double* const row = qp_.factor->row(static_cast<std::size_t>(j));
    if (v(j) == 0) continue;
    v(j) /= row[j];
    simd().axpy_d(-v(j), row + j + 1, v.data() + j + 1, static_cast<std::size_t>(n_ - j - 1));
  }
  progress_.work(0.5 * static_cast<double>(n_) * static_cast<double>(n_));
  return v;
}

/// d = U⁻¹ v.
void ActiveSet::back(const Eigen::VectorXd& v) {
  Eigen::Map<Eigen::VectorXd>(d_.data(), n_) = v;
  if (qp_.factor == nullptr) return;
  for (Eigen::Index j = n_ - 1; j >= 0; --j) {
    const double* const row = qp_.factor->row(static_cast<std::size_t>(j));
    double& at = d_[static_cast<std::size_t>(j)];
    at = (at - simd().dot_dd(row + j + 1, d_.data() + j + 1, static_cast<std::size_t>(n_ - j - 1))) / row[j];
  }
  progress_.work(0.5 * static_cast<double>(n_) * static_cast<double>(n_));
}

/// In the coordinates of p.
Eigen::VectorXd ActiveSet::normal(const End& end) const {
  Eigen::VectorXd v = Eigen::VectorXd::Zero(n_);
  if (end.variable >= 0)
    v(end.variable) = end.sign;
  else
    qp_.rows.add(end.row, end.sign, v.data());
  return forward(std::move(v));
}

double ActiveSet::value(const End& end) const {
  return end.sign *
         (end.variable >= 0 ? d_[static_cast<std::size_t>(end.variable)] : qp_.rows.product(end.row, d_.data()));
}

/// Of the terms of its value, and of its bound.
double ActiveSet::size(const End& end) const {
  return (end.variable < 0 ? qp_.rows.size(end.row, d_.data()) : 0) + std::fabs(end.bound);
}

bool ActiveSet::holds(const End& end) const {
  const std::vector<double>& rooms = end.variable < 0 ? qp_.row_room : qp_.room;
  const double room = rooms.empty() ? 0 : rooms[end.variable < 0 ? end.row : static_cast<std::size_t>(end.variable)];
  return end.bound - value(end) <= met * size(end) + room;
}

/// By which an end with normal y, a combination r of those of the active ends, may be off where these are met: p has the rounding of all of
/// it, and a user's ends are rounded themselves.
double ActiveSet::rounding(const Eigen::VectorXd& y, const Eigen::VectorXd& r) const {
  double sum = length_ * y.norm();
  for (std::size_t j = 0; j < ends_.size(); ++j)
    sum += std::fabs(r(static_cast<Eigen::Index>(j))) * (size(ends_[j]) + length_ * normals_[j].norm());
  return 16 * epsilon * sum;
}

/// y = Σ r_j normal_j + z, z orthogonal to all of them; the second pass takes out what rounding left.
void ActiveSet::combination(const Eigen::VectorXd& y, Eigen::VectorXd& r, Eigen::VectorXd& z) const {
  const auto q = static_cast<Eigen::Index>(ends_.size());
  r = Eigen::VectorXd::Zero(q);
  z = y;
  for (int pass = 0; pass < 2 && q > 0; ++pass) {
    Eigen::VectorXd c(q);
    for (Eigen::Index j = 0; j < q; ++j) c(j) = normals_[static_cast<std::size_t>(j)].dot(z);
    const Eigen::VectorXd part = factor_.solve_transposed(factor_.solve_lower(std::move(c)));
    for (Eigen::Index j = 0; j < q; ++j) z -= part(j) * normals_[static_cast<std::size_t>(j)];
    r += part;
  }
  progress_.work(4.0 * static_cast<double>(n_) * static_cast<double>(q + 1));
}

/// The end that is missed by most, of its length; false: all hold.
bool ActiveSet::worst(End& out) const {
  double most = 0;
  const auto offer = [&](std::size_t row, std::int32_t variable, double sign, double bound, double norm) {
    if (!std::isfinite(bound)) return;
    const End end{row, variable, sign, sign * bound, false, 0};
    const double missed = (end.bound - value(end)) / norm;
    if (!(missed > most) || holds(end)) return;
    most = missed;
    out = end;
  };
  for (std::size_t k = 0; k < qp_.rows.count(); ++k) {
    if (row_active_[k] != 0 || norms_[k] == 0) continue;
    offer(k, -1, 1, qp_.lower[k], norms_[k]);
    offer(k, -1, -1, qp_.upper[k], norms_[k]);
  }
  for (std::size_t j = 0; j < qp_.low.size(); ++j) {
    if (variable_active_[j] != 0) continue;
    offer(0, static_cast<std::int32_t>(j), 1, qp_.low[j], 1);
    offer(0, static_cast<std::int32_t>(j), -1, qp_.high[j], 1);
  }
  progress_.work(static_cast<double>(qp_.rows.feature.size()) + 4.0 * static_cast<double>(n_));
  return most > 0;
}

void ActiveSet::leave(std::size_t at) {
  active(ends_[at]) = 0;
  for (std::vector<char>* const all : {&row_active_, &variable_active_})
    std::replace(all->begin(), all->end(), implied, char{0});
  factor_.remove(static_cast<Eigen::Index>(at));
  normals_.erase(normals_.begin() + static_cast<std::ptrdiff_t>(at));
  ends_.erase(ends_.begin() + static_cast<std::ptrdiff_t>(at));
}

/// False: the active ends contradict it, and proof_ says how.
bool ActiveSet::enter(End end) {
  const Eigen::VectorXd y = normal(end);
  Eigen::VectorXd r, z;
  for (;;) {
    combination(y, r, z);
    const double rest = z.squaredNorm();
    const bool depends = !(rest > dependent * dependent * y.squaredNorm());
    const double missed = end.bound - value(end);
    if (depends && (holds(end) || missed <= rounding(y, r))) {
      active(end) = implied;
      return true;
    }
    double first = infinity;
    std::size_t who = 0;
    const double least = ends_.empty() ? 0 : nothing * r.cwiseAbs().maxCoeff();
    for (std::size_t j = 0; j < ends_.size(); ++j) {
      const double share = r(static_cast<Eigen::Index>(j));
      if (ends_[j].equation || !(share > least)) continue;
      if (const double t = std::max(0.0, ends_[j].multiplier) / share; t < first) first = t, who = j;
    }
    const double whole = depends ? infinity : std::max(0.0, missed) / rest, t = std::min(first, whole);
    if (t == infinity) {
      polish();  // what looks like a contradiction may be the rounding of steps
      if (holds(end)) return true;
      proof_.assign(qp_.rows.count(), 0.0);
      if (end.variable < 0) proof_[end.row] -= end.sign;
      for (std::size_t j = 0; j < ends_.size(); ++j)
        if (const double share = r(static_cast<Eigen::Index>(j)); ends_[j].variable < 0 && std::fabs(share) > least)
          proof_[ends_[j].row] += ends_[j].sign * share;
      return false;
    }
    for (std::size_t j = 0; j < ends_.size(); ++j) ends_[j].multiplier -= t * r(static_cast<Eigen::Index>(j));
    end.multiplier += t;
    if (!depends) {
      p_ += t * z;
      back(p_);
    }
    if (t == first && first < whole) {
      leave(who);
      continue;
    }
    factor_.append_vector(y, 0.0);
    normals_.push_back(y);
    ends_.push_back(end);
    active(end) = 1;
    return true;
  }
}

/// What rounding and the condition of H leave of the active ends, in the coordinates of d.
void ActiveSet::polish() {
  for (int round = 0; round < 3 && !ends_.empty(); ++round) {
    Eigen::VectorXd missed(static_cast<Eigen::Index>(ends_.size()));
    for (std::size_t j = 0; j < ends_.size(); ++j)
      missed(static_cast<Eigen::Index>(j)) = ends_[j].bound - value(ends_[j]);
    const Eigen::VectorXd part = factor_.solve_transposed(factor_.solve_lower(missed));
    for (std::size_t j = 0; j < ends_.size(); ++j) p_ += part(static_cast<Eigen::Index>(j)) * normals_[j];
    const std::vector<double> before = d_;
    back(p_);
    // In d itself: p has the rounding of all of it.
    double worse = 0;
    for (std::size_t j = 0; j < ends_.size(); ++j)
      worse = std::max(worse, std::fabs(ends_[j].bound - value(ends_[j])) - missed.cwiseAbs().maxCoeff());
    if (worse > 0) {
      d_ = before;
      break;
    }
  }
  for (const End& end : ends_)
    if (end.variable >= 0) d_[static_cast<std::size_t>(end.variable)] = end.sign * end.bound;
}

QpSolution ActiveSet::run() {
  QpSolution out;
  p_ = -forward(Eigen::Map<const Eigen::VectorXd>(qp_.gradient.data(), n_));
  back(p_);
  length_ = out.length = p_.norm();
  bool possible = true;
  for (std::size_t k = 0; k < qp_.rows.count() && possible; ++k) {
    if (!equal(k) || norms_[k] == 0) continue;
    const bool below = qp_.rows.product(k, d_.data()) <= qp_.lower[k];
    const double sign = below ? 1 : -1;
    possible = enter({k, -1, sign, sign * qp_.lower[k], true, 0});
  }
  const std::size_t most = 50 * (qp_.rows.count() + d_.size()) + 100;
  End end;
  std::size_t steps = 0;
  for (; possible && steps < most && worst(end); ++steps) possible = enter(end);
  out.ending = !possible       ? QpSolution::Ending::contradiction
               : steps == most ? QpSolution::Ending::stopped
                               : QpSolution::Ending::solved;
  if (!possible) {
    out.multipliers = std::move(proof_);
    out.d = std::move(d_);
    return out;
  }
  polish();
  for (std::size_t j = 0; j < qp_.low.size(); ++j) d_[j] = std::clamp(d_[j], qp_.low[j], qp_.high[j]);
  out.multipliers.assign(qp_.rows.count(), 0.0);
  for (const End& active : ends_)
    if (active.variable < 0) out.multipliers[active.row] = -active.sign * active.multiplier;
  out.d = std::move(d_);
  return out;
}

}  // namespace

QpSolution solve_constrained_qp(const ConstrainedQp& qp, const Progress& progress) {
  return ActiveSet(qp, progress).run();
}

}  // namespace margin
