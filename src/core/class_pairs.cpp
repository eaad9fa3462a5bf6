#include "class_pairs.hpp"

#include <Eigen/Cholesky>
#include <cmath>
#include <limits>

namespace margin {

namespace {
constexpr double infinity = std::numeric_limits<double>::infinity();
}

Offsets best_offsets(const Eigen::MatrixXd& smallest) {
  const Eigen::Index k = smallest.rows();
  if (k == 2) {
    const double b = 0.5 * (smallest(0, 1) - smallest(1, 0));
    return {0.5 * (smallest(0, 1) + smallest(1, 0)), (Eigen::VectorXd(2) << 0.0, b).finished()};
  }

  // Karp: d_j(v) = least weight of a walk of j edges from class 0 to v; the graph is complete, so all is reachable.
  Eigen::MatrixXd walk = Eigen::MatrixXd::Constant(k, k + 1, infinity);
  walk(0, 0) = 0;
  for (Eigen::Index j = 1; j <= k; ++j)
    for (Eigen::Index a = 0; a < k; ++a)
      for (Eigen::Index c = 0; c < k; ++c)
        if (a != c && walk(a, j - 1) + smallest(a, c) < walk(c, j)) walk(c, j) = walk(a, j - 1) + smallest(a, c);
  double mean = infinity;
  for (Eigen::Index v = 0; v < k; ++v) {
    if (!std::isfinite(walk(v, k))) continue;
    double worst = -infinity;
    for (Eigen::Index j = 0; j < k; ++j)
      if (std::isfinite(walk(v, j))) worst = std::max(worst, (walk(v, k) - walk(v, j)) / static_cast<double>(k - j));
    mean = std::min(mean, worst);
  }

  // b_c ≤ b_a + smallest(a, c) − mean for all pairs: Bellman-Ford from a virtual source at distance 0.
  Eigen::VectorXd b = Eigen::VectorXd::Zero(k);
  for (Eigen::Index sweep = 0; sweep < k; ++sweep) {
    bool changed = false;
    for (Eigen::Index a = 0; a < k; ++a)
      for (Eigen::Index c = 0; c < k; ++c)
        if (a != c && b(a) + (smallest(a, c) - mean) < b(c)) {
          b(c) = b(a) + (smallest(a, c) - mean);
          changed = true;
        }
    if (!changed) break;
  }
  b.array() -= b(0);
  double value = infinity;  // what these offsets really give, rounding included
  for (Eigen::Index a = 0; a < k; ++a)
    for (Eigen::Index c = 0; c < k; ++c)
      if (a != c) value = std::min(value, smallest(a, c) + b(a) - b(c));
  return {value, b};
}

namespace {

/// Newton's method for min over t of Σ mass(a, c) e^(t_a − t_c), whose gradient is the imbalance, from t = ln s.
void polish_scales(const Eigen::MatrixXd& mass, Eigen::VectorXd& s) {
  auto scaled = [&](const Eigen::VectorXd& scales) -> Eigen::MatrixXd {
    Eigen::MatrixXd m = scales.asDiagonal() * mass * scales.cwiseInverse().asDiagonal();
    m.diagonal().setZero();
    return m;
  };
  Eigen::MatrixXd m = scaled(s);
  for (int step = 0; step < 100; ++step) {
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

Eigen::VectorXd balancing_scales(const Eigen::MatrixXd& mass) {
  const Eigen::Index k = mass.rows();
  Eigen::VectorXd s = Eigen::VectorXd::Ones(k);
  bool balanced = false;
  for (int sweep = 0; sweep < 100 && !balanced; ++sweep) {
    double worst = 0;
    for (Eigen::Index a = 0; a < k; ++a) {
      double out = 0, in = 0;
      for (Eigen::Index c = 0; c < k; ++c) {
        if (a == c) continue;
        out += mass(a, c) * s(a) / s(c);
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
  if (!balanced) polish_scales(mass, s);
  return s;
}

}  // namespace margin
