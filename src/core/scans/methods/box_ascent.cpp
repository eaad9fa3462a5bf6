#include "core/scans/methods/box_ascent.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/random.hpp"

namespace margin {

namespace {

// Epochs between two looks at the gap, each of which costs one over all rows.
constexpr int epochs_per_look = 8;

class BoxAscent {
 public:
  BoxAscent(const NewtonProblem& part, const std::vector<double>& fixed, std::vector<double>& a, std::uint64_t seed)
      : p_(part), a_(a), random_(seed), w_(fixed), active_(a.size()), square_(a.size()) {
    std::vector<double> coefficient(a.size()), sum(w_.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      coefficient[i] = p_.cost[i] * a[i];
      square_[i] = p_.cost[i] * (squared_norm(row(i)) + p_.rows.constant() * p_.rows.constant());
    }
    p_.rows.combine(coefficient.data(), sum.data());
    for (std::size_t j = 0; j < w_.size(); ++j) w_[j] += sum[j];
    std::iota(active_.begin(), active_.end(), std::size_t{0});
  }

  std::vector<double> solve(double wanted, int most_epochs) {
    for (int epoch = 0; epoch < most_epochs; epoch += epochs_per_look) {
      if (look() <= wanted) break;
      for (int k = 0; k < epochs_per_look && !active_.empty(); ++k) pass();
    }
    return std::move(w_);
  }

 private:
  Row row(std::size_t i) const { return p_.rows.row(static_cast<std::int64_t>(i)); }
  double score(std::size_t i) const {
    const Row x = row(i);
    p_.rows.run().work(2.0 * x.count + 32);
    return dot(x, w_.data()) + (p_.rows.constant() != 0 ? p_.rows.constant() * w_[p_.rows.features()] : 0.0);
  }

  /// The gap, and the rows that are worth a visit.
  double look() {
    double gap = 0, worst = 0;
    std::vector<double> slack(a_.size());
    for (std::size_t i = 0; i < a_.size(); ++i) {
      const double u = score(i), y = p_.y[i];
      gap += p_.cost[i] * std::max(0.0, p_.loss.value(u, y) + p_.loss.conjugate(a_[i], y) + a_[i] * u);
      slack[i] = p_.loss.slack(u, y, a_[i]);
      worst = std::max(worst, -slack[i]);
    }
    active_.clear();
    for (std::size_t i = 0; i < a_.size(); ++i)
      if (slack[i] < worst) active_.push_back(i);
    return gap;
  }

  void pass() {
    for (std::size_t k = active_.size(); k > 1; --k) std::swap(active_[k - 1], active_[random_.below(k)]);
    for (const std::size_t i : active_) {
      const double u = score(i), next = p_.loss.dual_step(u, p_.y[i], a_[i], square_[i]);
      const double change = p_.cost[i] * (next - a_[i]);
      if (change == 0 || !std::isfinite(change)) continue;
      a_[i] = next;
      add(change, row(i), w_.data());
      if (p_.rows.constant() != 0) w_[p_.rows.features()] += change * p_.rows.constant();
    }
  }

  const NewtonProblem& p_;
  std::vector<double>& a_;
  Random random_;
  std::vector<double> w_;
  std::vector<std::size_t> active_;
  std::vector<double> square_;
};

}  // namespace

std::vector<double> box_ascent(const NewtonProblem& part, const std::vector<double>& fixed, std::vector<double>& a,
                               double wanted, int most_epochs, std::uint64_t seed) {
  return BoxAscent(part, fixed, a, seed).solve(wanted, most_epochs);
}

}  // namespace margin
