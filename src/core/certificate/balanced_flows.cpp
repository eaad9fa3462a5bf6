#include "core/certificate/balanced_flows.hpp"

#include <algorithm>
#include <cmath>

#include "core/math/rounding.hpp"

namespace margin {

namespace {

class Router {
 public:
  Router(const std::vector<double>& flow, const std::vector<double>& excess, double error, const Progress& progress)
      : k_(excess.size()),
        error_(error),
        progress_(progress),
        flow_(flow),
        room_(flow),
        taken_(flow.size(), 0.0),
        excess_(excess) {}

  bool route() {
    cut();
    for (std::size_t c = 0; c < k_; ++c)
      if (part_[c] == c && !settle(c)) return false;
    return true;
  }

  std::vector<double> shares() const {
    std::vector<double> share(flow_.size(), 0.0);
    for (std::size_t e = 0; e < flow_.size(); ++e)
      if (taken_[e] > 0) share[e] = std::min(1.0, taken_[e] / flow_[e] * (1 + 8 * epsilon));
    return share;
  }

 private:
  double left(std::size_t from, std::size_t to) const { return room_[from * k_ + to] - taken_[from * k_ + to]; }

  /// Classes that can be reached from `start` along flows that are left (`back`: from which it is reached); from_[c] is
  /// the step before.
  void search(std::size_t start, bool back, double least) {
    from_.assign(k_, k_);
    from_[start] = start;
    queue_.assign(1, start);
    for (std::size_t at = 0; at < queue_.size(); ++at) {
      const std::size_t c = queue_[at];
      for (std::size_t d = 0; d < k_; ++d)
        if (from_[d] == k_ && (back ? left(d, c) : left(c, d)) > least) {
          from_[d] = c;
          queue_.push_back(d);
        }
      progress_.work(4.0 * static_cast<double>(k_));
    }
  }

  /// Takes all of the flow on an edge.
  void take_all(std::size_t from, std::size_t to) {
    double& taken = taken_[from * k_ + to];
    const double all = flow_[from * k_ + to];
    excess_[from] -= all - taken;
    excess_[to] += all - taken;
    taken = all;
  }

  /// Cuts what is too small to route by, and what leads from one strongly connected part to another.
  void cut() {
    const double least = 64 * static_cast<double>(k_) * error_;
    for (std::size_t c = 0; c < k_; ++c)
      for (std::size_t d = 0; d < k_; ++d)
        if (c != d && left(c, d) <= least) take_all(c, d);
    part_.assign(k_, k_);
    for (std::size_t c = 0; c < k_; ++c) {
      if (part_[c] != k_) continue;
      search(c, false, 0);
      const std::vector<std::size_t> forth = from_;
      search(c, true, 0);
      for (std::size_t d = 0; d < k_; ++d)
        if (forth[d] != k_ && from_[d] != k_) part_[d] = c;
    }
    for (std::size_t c = 0; c < k_; ++c)
      for (std::size_t d = 0; d < k_; ++d)
        if (c != d && part_[c] != part_[d]) take_all(c, d);
    for (double& room : room_) room *= 0.9;  // of the rest not all: a share below 1 is one whatever rounding did
  }

  /// The part that `hub` names: what is known of its excess, then as much of what is not.
  bool settle(std::size_t hub) {
    std::vector<std::size_t> members;
    for (std::size_t c = 0; c < k_; ++c)
      if (part_[c] == hub) members.push_back(c);
    if (members.size() == 1) return true;  // without flows: nothing enters, nothing leaves
    const double doubt = 2 * error_;
    for (const std::size_t c : members) {
      for (int round = 0; excess_[c] > doubt; ++round) {
        if (round > 4 * static_cast<int>(k_)) return false;
        search(c, false, 32 * error_);
        std::size_t to = k_;
        for (const std::size_t d : queue_)  // the nearest that lacks something
          if (d != c && excess_[d] < -doubt) {
            to = d;
            break;
          }
        if (to == k_) break;
        double amount = std::min(excess_[c], -excess_[to]);
        for (std::size_t d = to; d != c; d = from_[d]) amount = std::min(amount, left(from_[d], d) - 16 * error_);
        if (!(amount > 0)) return false;
        for (std::size_t d = to; d != c; d = from_[d]) taken_[from_[d] * k_ + d] += amount;
        excess_[c] -= amount;
        excess_[to] += amount;
      }
    }
    // Whatever is left of a class's excess, of either sign, could go to the hub or come from it.
    for (const bool back : {false, true}) {
      search(hub, back, 0);
      const std::vector<std::size_t> from = from_;
      for (const std::size_t c : members) {
        const double rest = 2 * (std::fabs(excess_[c]) + doubt);
        for (std::size_t d = c; d != hub; d = from[d]) {
          if (from[d] == k_) return false;
          const std::size_t edge = back ? d * k_ + from[d] : from[d] * k_ + d;
          taken_[edge] += rest;
          if (taken_[edge] > room_[edge]) return false;
        }
      }
    }
    return true;
  }

  std::size_t k_;
  double error_;
  const Progress& progress_;
  std::vector<double> flow_, room_, taken_, excess_;
  std::vector<std::size_t> part_, from_, queue_;
};

}  // namespace

std::optional<std::vector<double>> balancing_shares(const std::vector<double>& flow, const std::vector<double>& excess,
                                                    double error, const Progress& progress) {
  Router router(flow, excess, error, progress);
  if (!router.route()) return std::nullopt;
  return router.shares();
}

}  // namespace margin
