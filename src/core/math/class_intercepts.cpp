#include "core/math/class_intercepts.hpp"

#include <Eigen/Cholesky>
#include <cmath>
#include <utility>

#include "core/math/rounding.hpp"

namespace margin {

namespace {

/// min over a ≠ c of smallest(a, c) + b_a − b_c: what offsets really give, rounding included.
double smallest_reduced(const Eigen::MatrixXd& smallest, const Eigen::VectorXd& b, const Progress& progress) {
  const Eigen::Index k = smallest.rows();
  double value = infinity;
  for (Eigen::Index c = 0; c < k; ++c) {
    for (Eigen::Index a = 0; a < k; ++a)
      if (a != c) value = std::min(value, smallest(a, c) + b(a) - b(c));
    progress.work(static_cast<double>(k));
  }
  return value;
}
/// Policy iteration for the smallest cycle mean. The policy names a predecessor for every class; following it ends in
/// a cycle. The least mean of those cycles is where the potentials are taken from, and a class whose potential another
/// predecessor lowers changes to that one. When none does, no cycle has a smaller mean.
class SmallestMean {
 public:
  SmallestMean(const Eigen::MatrixXd& weight, const Progress& progress)
      : weight_(weight),
        progress_(progress),
        k_(weight.rows()),
        potential_(Eigen::VectorXd::Zero(k_)),
        before_(static_cast<std::size_t>(k_), none) {
    // Any bound on the cycle means will do while the policy has no cycle: that of the largest weight.
    for (Eigen::Index c = 0; c < k_; ++c)
      for (Eigen::Index a = 0; a < k_; ++a)
        if (a != c && std::isfinite(weight(a, c))) mean_ = std::max(mean_, weight(a, c));
    if (!std::isfinite(mean_)) mean_ = 0;
  }

  Eigen::VectorXd solve() {
    double best = -infinity;
    Eigen::VectorXd best_potential = potential_;
    // Some ten steps end it. What would go on for longer is a quarrel about last digits: the best so far is as good.
    const Eigen::Index limit = 100 + 4 * k_;
    for (Eigen::Index step = 0; step < limit; ++step) {
      const bool changed = improve();
      if (!changed) return potential_;
      evaluate();
      if (step < 100) continue;
      const double value = smallest_reduced(weight_, potential_, progress_);
      if (!(value > best)) continue;
      best = value;
      best_potential = potential_;
    }
    return best_potential;
  }

 private:
  static constexpr Eigen::Index none = -1;

  /// Every class takes the predecessor that lowers its potential most, unless that is within rounding.
  bool improve() {
    bool changed = false;
    Eigen::VectorXd next = potential_;
    for (Eigen::Index c = 0; c < k_; ++c) {
      const auto w = weight_.col(c);
      double least = infinity;
      if (c > 0) least = (w.head(c) + potential_.head(c)).minCoeff();
      const Eigen::Index rest = k_ - c - 1;
      if (rest > 0) least = std::min(least, (w.tail(rest) + potential_.tail(rest)).minCoeff());
      progress_.work(static_cast<double>(k_));
      const double room = 4 * epsilon * (std::fabs(least) + std::fabs(mean_) + std::fabs(potential_(c)));
      if (!(least - mean_ < potential_(c) - room)) continue;
      Eigen::Index a = 0;
      while (a < k_ && (a == c || w(a) + potential_(a) != least)) ++a;
      if (a == k_) continue;  // scores that are not numbers
      before_[static_cast<std::size_t>(c)] = a;
      next(c) = least - mean_;
      changed = true;
    }
    potential_ = next;
    return changed;
  }

  /// The policy's cycle of least mean, and from it the potentials of all classes whose way back ends there.
  void evaluate() {
    std::vector<Eigen::Index> seen(static_cast<std::size_t>(k_), none);
    Eigen::Index on_best = none;
    for (Eigen::Index start = 0; start < k_; ++start) {
      Eigen::Index at = start;
      while (at != none && seen[static_cast<std::size_t>(at)] == none) {
        seen[static_cast<std::size_t>(at)] = start;
        at = before_[static_cast<std::size_t>(at)];
      }
      if (at == none || seen[static_cast<std::size_t>(at)] != start) continue;  // a way that was walked before
      const double mean = cycle_mean(at);
      if (on_best != none && !(mean < mean_of_best_)) continue;
      on_best = at;
      mean_of_best_ = mean;
    }
    progress_.work(8.0 * static_cast<double>(k_));
    if (on_best == none) return;
    mean_ = std::min(mean_, mean_of_best_);

    std::vector<std::vector<Eigen::Index>> after(static_cast<std::size_t>(k_));
    for (Eigen::Index c = 0; c < k_; ++c)
      if (const Eigen::Index a = before_[static_cast<std::size_t>(c)]; a != none && c != on_best)
        after[static_cast<std::size_t>(a)].push_back(c);
    std::vector<Eigen::Index> open = {on_best};
    while (!open.empty()) {
      const Eigen::Index a = open.back();
      open.pop_back();
      for (const Eigen::Index c : after[static_cast<std::size_t>(a)]) {
        potential_(c) = potential_(a) + (weight_(a, c) - mean_);
        open.push_back(c);
      }
    }
  }

  double cycle_mean(Eigen::Index start) const {
    double sum = 0;
    Eigen::Index at = start, edges = 0;
    do {
      const Eigen::Index a = before_[static_cast<std::size_t>(at)];
      sum += weight_(a, at);
      at = a;
      ++edges;
    } while (at != start);
    return sum / static_cast<double>(edges);
  }

  const Eigen::MatrixXd& weight_;
  const Progress& progress_;
  Eigen::Index k_;
  Eigen::VectorXd potential_;
  std::vector<Eigen::Index> before_;
  double mean_ = -infinity, mean_of_best_ = infinity;
};

}  // namespace

Offsets best_offsets(const Eigen::MatrixXd& smallest, const Progress& progress) {
  Offsets best;
  if (smallest.rows() == 2) {
    best.value = 0.5 * (smallest(0, 1) + smallest(1, 0));
    best.offset = Eigen::VectorXd::Zero(2);
    best.offset(1) = 0.5 * (smallest(0, 1) - smallest(1, 0));
    return best;
  }
  best.offset = SmallestMean(smallest, progress).solve();
  best.offset.array() -= best.offset(0);
  best.value = smallest_reduced(smallest, best.offset, progress);
  return best;
}

namespace {

/// Newton's method for min over t of Σ mass(a, c) e^(t_a − t_c), whose gradient is the imbalance, from t = ln s.
void polish_scales(const Eigen::MatrixXd& mass, Eigen::VectorXd& s, const Progress& progress) {
  auto scaled = [&](const Eigen::VectorXd& scales) -> Eigen::MatrixXd {
    Eigen::MatrixXd m = scales.asDiagonal() * mass * scales.cwiseInverse().asDiagonal();
    m.diagonal().setZero();
    return m;
  };
  Eigen::MatrixXd m = scaled(s);
  const auto k = static_cast<double>(mass.rows());
  for (int step = 0; step < 100; ++step) {
    progress.work(k * k * (k / 6 + 8));
    const double total = m.sum();
    const Eigen::VectorXd out = m.rowwise().sum(), in = m.colwise().sum().transpose(), gradient = out - in;
    if (!(gradient.cwiseAbs().maxCoeff() > 1e-15 * total) || !std::isfinite(total)) return;
    Eigen::MatrixXd hessian = -(m + m.transpose());
    hessian.diagonal() += out + in;
    hessian.diagonal().array() += 1e-14 * (out + in).maxCoeff();  // a shift of all t changes nothing
    Eigen::VectorXd move = -hessian.ldlt().solve(gradient);
    move.array() -= move.mean();
    const double longest = move.cwiseAbs().maxCoeff();
    if (!(longest > 0) || !std::isfinite(longest)) return;
    if (longest > 2) move *= 2 / longest;
    const Eigen::VectorXd next = s.array() * move.array().exp();
    if (!(next.minCoeff() > 1e-140) || !(next.maxCoeff() < 1e140)) return;
    const Eigen::MatrixXd moved = scaled(next);
    const Eigen::VectorXd left = moved.rowwise().sum() - moved.colwise().sum().transpose();
    // Near the end the sum no longer tells better from worse, but the imbalance does.
    if (!(moved.sum() < total) && !(left.norm() < gradient.norm())) return;
    s = next;
    m = moved;
  }
}

}  // namespace

Eigen::VectorXd balancing_scales(const Eigen::MatrixXd& mass, const Progress& progress) {
  const Eigen::Index k = mass.rows();
  const Eigen::MatrixXd into = mass.transpose();  // so that both directions are read along columns
  Eigen::VectorXd s = Eigen::VectorXd::Ones(k);
  bool balanced = false;
  for (int sweep = 0; sweep < 100 && !balanced; ++sweep) {
    double worst = 0;
    for (Eigen::Index a = 0; a < k; ++a) {
      double out = 0, in = 0;
      progress.work(16.0 * static_cast<double>(k));  // divisions
      for (Eigen::Index c = 0; c < k; ++c) {
        if (a == c) continue;
        out += into(c, a) * s(a) / s(c);
        in += mass(c, a) * s(c) / s(a);
      }
      if (out <= 0 && in <= 0) continue;
      // A class that only sends or only receives lies on no cycle; driving its pairs towards 0 is the answer.
      const double factor = std::sqrt(std::max(in, 1e-300) / std::max(out, 1e-300));
      const double step = std::min(std::max(factor, 1e-8), 1e8);
      worst = std::max(worst, std::fabs(std::log(step)) * (in + out));
      s(a) *= step;
      if (!(s(a) > 1e-140) || !(s(a) < 1e140)) s(a) = s(a) < 1 ? 1e-140 : 1e140;
    }
    const double total = (s.asDiagonal() * mass * s.cwiseInverse().asDiagonal()).sum();
    balanced = worst <= 1e-15 * total;
  }
  // The sweeps are slow where few pairs tie the classes together, and where a pair lies on no cycle.
  if (!balanced) polish_scales(mass, s, progress);
  return s;
}

}  // namespace margin
