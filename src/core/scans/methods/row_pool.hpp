// The rows that a training by scans keeps in memory: the sample, and what the answers to its questions brought.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_set>
#include <vector>

#include "core/scans/scan_problem.hpp"

namespace margin {

class RowPool {
 public:
  /// Begins with the sample, whose bytes it shares: `problem` must outlive it.
  RowPool(const ScanProblem& problem, const Progress& progress);

  const Dataset& rows() const { return *rows_; }
  /// The same for rows of equal features and labels, of which the pool has one.
  std::uint64_t identity(std::int64_t i) const { return identities_[static_cast<std::size_t>(i)]; }
  /// Takes in the rows of a bag that are not there yet. Returns how many there were.
  std::int64_t add(Bag& bag, const Progress& progress);
  /// The row matters now.
  void touch(std::int64_t i) { touched_[static_cast<std::size_t>(i)] = ++clock_; }
  /// Leaves out those of the rows that answers brought whose arrival or last touch is longest ago, until the others
  /// take so many bytes.
  void shrink(double bytes, const Progress& progress);

 private:
  void take_sample(const Progress& progress);
  bool append(const KeptRow& row, std::uint64_t identity);

  const ScanProblem& problem_;
  std::unique_ptr<Dataset> rows_;
  std::int64_t sampled_ = 0;  // rows of the sample come first
  std::vector<std::uint64_t> identities_;
  std::vector<std::int64_t> touched_;
  std::int64_t clock_ = 0;
  std::unordered_set<std::uint64_t> known_;
};

}  // namespace margin
