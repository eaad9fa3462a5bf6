// The price of reading memory: the fastest of several passes that only sum the bytes of an array. Input lines: BYTES.
#include "peers.hpp"

namespace {
__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"))) std::uint64_t pass(
    const std::vector<std::uint64_t>& words) {
  std::uint64_t sums[32] = {};
  const std::size_t whole = words.size() / 32 * 32;
  for (std::size_t i = 0; i < whole; i += 32)
    for (std::size_t k = 0; k < 32; ++k) sums[k] += words[i + k];
  std::uint64_t sum = 0;
  for (std::uint64_t s : sums) sum += s;
  return sum;
}
}  // namespace

int main() {
  std::string line;
  std::vector<std::uint64_t> words;
  while (std::getline(std::cin, line)) {
    words.assign(std::stoull(line) / 8, 1);
    double best = std::numeric_limits<double>::infinity(), best_cpu = best;
    std::uint64_t check = 0;
    for (int repeat = 0; repeat < 20; ++repeat) {
      const bench::Stopwatch watch;
      check += pass(words);
      best = std::min(best, watch.wall());
      best_cpu = std::min(best_cpu, watch.cpu());
    }
    bench::Answer().number("wall", best).number("cpu", best_cpu).number("check", static_cast<double>(check)).send();
  }
}
