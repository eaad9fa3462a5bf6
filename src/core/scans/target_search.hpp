// A quantile of targets that are somewhere else, exactly: a scan tells how much weight lies in each of many cells, and the
// next one cuts the right cell into as many.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/scans/wire/answer.hpp"
#include "core/scans/wire/term.hpp"

namespace margin {

/// What a scan is asked: numbers from ≤ guess ≤ to, as Question::search has them. Cells are equal parts of the doubles
/// between `from` and `to`, in their order: a cell of one double where these are few.
class TargetSearch {
 public:
  static constexpr std::int32_t cells = 1 << 17;
  /// The numbers of a row: its weight, where its target is below `from`, below `guess`, at `guess`; the target, where it
  /// is above `guess`, above `to`, and (twice) where it is between `from` and `to`.
  static constexpr const char* reductions = "+++<<<>";
  enum Numbers : std::size_t { below, below_guess, at_guess, above_guess, above, least, largest };

  explicit TargetSearch(const std::vector<double>& search);

  /// The numbers of one row; true where it adds to a cell.
  bool measure(double target, double weight, double* numbers, Entry& cell) const;

  double from, guess, to;
  /// Of the doubles of a cell: the first, and the last.
  double first_of(std::int64_t cell) const;
  double last_of(std::int64_t cell) const;
  bool exact() const { return shift_ == 0; }

 private:
  std::uint64_t first_;
  int shift_ = 0;
};

/// The least target with at least `share` of the weight `total` at or below it, 0 < share < 1; where it is exactly so much,
/// the middle between it and the next one: what best_constant() (problem/target_units.hpp) finds in memory. `search` is
/// where it is thought to be; `size` is the largest absolute target. `ask` sends a search to all rows, whose answer has the
/// numbers of a search behind `offset` others. Once `more` says that it must not, what is thought so far comes back.
double quantile_by_scans(
    double share, double total, double size, std::vector<double> search, std::size_t offset,
    const std::function<Answer(const std::vector<double>&)>& ask,
    const std::function<bool()>& more = [] { return true; });

}  // namespace margin
