#include "core/solvers/sdca/shuffle.hpp"

#include <numeric>

namespace margin {

Stretches::Stretches(const Dataset& data, const Progress& progress) {
  if (!data.spilled()) return;
  std::size_t held = bytes;
  for (std::int64_t i = 0; i < data.rows(); ++i) {
    const Row x = data.row(i);
    if (held >= bytes) {
      first_.push_back(static_cast<std::int32_t>(i));
      held = 0;
    }
    held += static_cast<std::size_t>(x.count) * ((x.wide ? 8U : 4U) + (x.indices != nullptr ? 4U : 0U)) + 8;
    if (static_cast<std::size_t>(i) % rows_per_guess == 0)
      guess_.push_back(static_cast<std::uint32_t>(first_.size() - 1));
    progress.work(16);
  }
}

Shuffle::Shuffle(std::vector<std::int32_t>& order, Random& random, const Stretches& stretches, const Progress& progress)
    : order_(order), random_(random), progress_(progress), n_(order.size()), end_(n_), turn_(n_) {
  if (!stretches.none() && n_ > 0) gather(stretches);
  for (std::size_t k = 0; k < std::min(n_, ahead); ++k) draw(k);
}

// The rows of each stretch side by side, stretch after stretch in random order.
void Shuffle::gather(const Stretches& stretches) {
  std::vector<std::size_t> begin(stretches.count(), 0);  // first the number of rows
  for (const std::int32_t i : order_) {
    ++begin[stretches.of(i)];
    progress_.work(16);
  }
  std::vector<std::uint32_t> turn(stretches.count());
  std::iota(turn.begin(), turn.end(), 0U);
  for (std::size_t k = turn.size(); k > 1; --k) std::swap(turn[k - 1], turn[random_.below(k)]);
  std::size_t at = 0;
  for (std::size_t k = 0; k < turn.size(); ++k) {
    at += std::exchange(begin[turn[k]], at);
    const bool last = (k + 1) % together == 0 || k + 1 == turn.size();
    if (last && at > (ends_.empty() ? 0 : ends_.back())) ends_.push_back(at);
  }
  std::vector<std::int32_t> gathered(n_);
  for (const std::int32_t i : order_) {
    gathered[begin[stretches.of(i)]++] = i;
    progress_.work(16);
  }
  order_.swap(gathered);
  end_ = turn_ = ends_.front();
}

// Whoever keeps memory small hears of each window, however few of its rows are left to visit.
void Shuffle::take_turn() {
  turn_ = ends_[++turns_];
  progress_.poll();
}

}  // namespace margin
