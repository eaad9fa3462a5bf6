#include "core/math/box_qp.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <vector>

#include "core/math/symmetric_matrix.hpp"

namespace margin {

namespace {

constexpr int newton_steps = 100, last_rounds = 12;
// σ in units of 1/(mean diagonal of G), round after round; then the last one again.
constexpr double penalties[] = {1e1, 1e3, 1e6, 1e9};

/// One problem of the augmented Lagrangian, at multipliers `alpha` and penalty `sigma`.
class Round {
 public:
  Round(const IntervalQp& qp, const Eigen::VectorXd& alpha, double b, double sigma, const Progress& progress)
      : qp_(qp), alpha_(alpha), b_old_(b), sigma_(sigma), progress_(progress), a_(alpha), b_(b) {
    pull_ = qp.intercept ? 1e-12 * sigma : 0;
  }

  void solve() {
    scores_ = qp_.gram * a_;
    std::vector<Eigen::Index> active, before;
    Eigen::VectorXd ends, ends_before;
    for (int step = 0; step < newton_steps; ++step) {
      active.clear();
      ends.resize(a_.size());
      for (Eigen::Index i = 0; i < a_.size(); ++i) {
        const double w = scores_(i) + b_ - alpha_(i) / sigma_;
        if (w >= qp_.lower(i) && w <= qp_.upper(i) && qp_.lower(i) < qp_.upper(i)) continue;
        ends(static_cast<Eigen::Index>(active.size())) = w < qp_.lower(i) ? qp_.lower(i) : qp_.upper(i);
        active.push_back(i);
      }
      ends.conservativeResize(static_cast<Eigen::Index>(active.size()));
      if (full_step_ && active == before && ends == ends_before) return;
      newton(active, ends, active != before);
      before = active;
      ends_before = ends;
    }
  }

  /// The multipliers: −σ(w − Π(w)), which at the solution is a itself, with all its digits.
  Eigen::VectorXd multipliers() const {
    Eigen::VectorXd out = a_;
    for (Eigen::Index i = 0; i < out.size(); ++i)
      if (!std::isfinite(out(i) > 0 ? qp_.lower(i) : qp_.upper(i))) out(i) = 0;
    return out;
  }
  double intercept() const { return b_; }

 private:
  /// w − Π(w), w = score − α/σ: how far the shifted score is outside of its interval.
  double excess(Eigen::Index i, double score) const {
    const double w = score - alpha_(i) / sigma_;
    return w < qp_.lower(i) ? w - qp_.lower(i) : (w > qp_.upper(i) ? w - qp_.upper(i) : 0.0);
  }

  void newton(const std::vector<Eigen::Index>& active, const Eigen::VectorXd& ends, bool changed) {
    const auto s = static_cast<Eigen::Index>(active.size());
    if (changed) {
      factor_ = SymmetricMatrix(active.size());
      for (std::size_t i = 0; i < active.size(); ++i) {
        for (std::size_t j = i; j < active.size(); ++j) factor_.row(i)[j] = qp_.gram(active[i], active[j]);
        factor_.row(i)[i] += 1 / sigma_;
      }
      factorise(factor_, progress_, true);
    }
    Eigen::VectorXd right(s);
    for (Eigen::Index i = 0; i < s; ++i) right(i) = ends(i) + alpha_(active[static_cast<std::size_t>(i)]) / sigma_;
    Eigen::VectorXd solution = right;
    if (s > 0) solve_factored(factor_, solution.data());
    double b = b_;
    if (qp_.intercept) {
      Eigen::VectorXd ones = Eigen::VectorXd::Ones(s);
      if (s > 0) solve_factored(factor_, ones.data());
      // pull · (b − b_old) keeps b where no row says anything.
      b = (solution.sum() + pull_ * b_old_) / (ones.sum() + pull_);
      solution -= b * ones;
    }
    Eigen::VectorXd step = -a_;
    for (Eigen::Index i = 0; i < s; ++i) step(active[static_cast<std::size_t>(i)]) += solution(i);
    const Eigen::VectorXd moved = qp_.gram * step;
    progress_.work(static_cast<double>(a_.size()) * static_cast<double>(a_.size()));
    const double t = line_search(step, moved, b - b_);
    full_step_ = t == 1;
    a_ += t * step;
    b_ += t * (b - b_);
    scores_ += t * moved;
  }

  /// The minimum along a step of ½aᵀGa + σ/2 Σ excess² + pull/2 (b − b_old)², which is convex.
  double line_search(const Eigen::VectorXd& step, const Eigen::VectorXd& moved, double db) const {
    const double linear = a_.dot(moved), quadratic = step.dot(moved);
    auto slope = [&](double t) {
      double sum = linear + t * quadratic + pull_ * (b_ + t * db - b_old_) * db;
      for (Eigen::Index i = 0; i < a_.size(); ++i)
        sum += sigma_ * excess(i, scores_(i) + t * moved(i) + b_ + t * db) * (moved(i) + db);
      return sum;
    };
    const double start = slope(0), end = slope(1);
    if (end <= 1e-9 * std::fabs(start) || !(start < 0)) return 1;
    double low = 0, high = 1;
    for (int i = 0; i < 50; ++i) {
      const double middle = 0.5 * (low + high);
      (slope(middle) <= 0 ? low : high) = middle;
    }
    return low > 0 ? low : high;
  }

  const IntervalQp& qp_;
  const Eigen::VectorXd& alpha_;
  double b_old_, sigma_, pull_;
  const Progress& progress_;
  Eigen::VectorXd a_, scores_;
  double b_;
  bool full_step_ = false;
  SymmetricMatrix factor_{0};
};

double largest_miss(const IntervalQp& qp, const Eigen::VectorXd& scores, double b) {
  double miss = 0;
  for (Eigen::Index i = 0; i < scores.size(); ++i)
    miss = std::max({miss, qp.lower(i) - scores(i) - b, scores(i) + b - qp.upper(i)});
  return miss;
}

}  // namespace

Eigen::VectorXd solve_interval_qp(const IntervalQp& qp, double accuracy, Eigen::VectorXd& alpha, double& b,
                                  const Progress& progress) {
  const double mean = qp.gram.rows() > 0 ? qp.gram.diagonal().mean() : 0.0;
  const double unit = mean > 0 ? 1 / mean : 1.0;
  const int rounds = static_cast<int>(std::size(penalties)) + last_rounds;
  double best = std::numeric_limits<double>::infinity();
  Eigen::VectorXd change = Eigen::VectorXd::Zero(alpha.size());
  for (int k = 0; k < rounds; ++k) {
    const double sigma = unit * penalties[std::min<std::size_t>(static_cast<std::size_t>(k), std::size(penalties) - 1)];
    Round round(qp, alpha, b, sigma, progress);
    round.solve();
    const Eigen::VectorXd next = round.multipliers();
    if (!next.allFinite()) break;
    change = next - alpha;
    alpha = next;
    b = round.intercept();
    const double miss = largest_miss(qp, qp.gram * alpha, b);
    if (miss <= accuracy) break;
    if (k >= static_cast<int>(std::size(penalties)) && miss > 0.5 * best) break;  // rounding, or a contradiction
    best = std::min(best, miss);
  }
  return change;
}

}  // namespace margin
