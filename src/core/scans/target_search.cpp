#include "core/scans/target_search.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/math/number_order.hpp"
#include "core/math/rounding.hpp"

namespace margin {

namespace {

/// Each scan leaves a 2^17th of the doubles, after two at most that begin elsewhere.
constexpr int most_scans = 8;

}  // namespace

TargetSearch::TargetSearch(const std::vector<double>& search)
    : from(search[0] + 0.0), guess(search[1] + 0.0), to(search[2] + 0.0), first_(order_of(from)) {
  while ((order_of(to) - first_) >> shift_ >= static_cast<std::uint64_t>(cells)) ++shift_;
}

bool TargetSearch::measure(double target, double weight, double* numbers, Entry& cell) const {
  const double y = target + 0.0;  // −0 is 0
  const bool counts = weight > 0, within = counts && y >= from && y <= to;
  numbers[below] = y < from ? weight : 0;
  numbers[below_guess] = y < guess ? weight : 0;
  numbers[at_guess] = y == guess ? weight : 0;
  numbers[above_guess] = counts && y > guess ? y : infinity;
  numbers[above] = counts && y > to ? y : infinity;
  numbers[least] = within ? y : infinity;
  numbers[largest] = within ? y : -infinity;
  if (within) cell = {static_cast<std::int64_t>((order_of(y) - first_) >> shift_), weight};
  return within;
}

double TargetSearch::first_of(std::int64_t cell) const {
  return value_of_order(first_ + (static_cast<std::uint64_t>(cell) << shift_));
}

double TargetSearch::last_of(std::int64_t cell) const {
  const std::uint64_t last = first_ + (static_cast<std::uint64_t>(cell) << shift_) + ((std::uint64_t{1} << shift_) - 1);
  return value_of_order(std::min(last, order_of(to)));
}

double quantile_by_scans(double share, double total, double size, std::vector<double> where, std::size_t offset,
                         const std::function<Answer(const std::vector<double>&)>& ask,
                         const std::function<bool()>& more) {
  const double wanted = share * total;
  const auto middle = [](double value, double next) { return next < infinity ? value / 2 + next / 2 : value; };
  bool closing = false;  // a scan found the quantile between these ends
  for (int scan = 0; scan < most_scans; ++scan) {
    const TargetSearch search(where);
    if (!more()) return search.guess;
    const Answer answer = ask(where);
    const auto number = [&](TargetSearch::Numbers k) { return answer.number(offset + k); };
    const double until = number(TargetSearch::below_guess) + number(TargetSearch::at_guess);
    if (number(TargetSearch::below_guess) < wanted && wanted <= until)
      return wanted < until ? search.guess : middle(search.guess, number(TargetSearch::above_guess));
    double below = number(TargetSearch::below);
    if (wanted <= below) {
      // Sums of weights in another order: the quantile is between this target and the one before it, either of which will do.
      if (closing) return number(TargetSearch::least);
      where = {-size, search.from, search.from};
      continue;
    }
    const std::vector<Entry> cells = answer.cells();
    std::size_t k = 0;
    while (k < cells.size() && below + cells[k].value < wanted) below += cells[k++].value;
    if (k == cells.size()) {
      if (closing) return number(TargetSearch::largest);
      where = {search.to, search.to, size};
      continue;
    }
    const double first = std::max(search.first_of(cells[k].at), number(TargetSearch::least));
    const double last = std::min(search.last_of(cells[k].at), number(TargetSearch::largest));
    if (search.exact() || first == last) {
      if (wanted < below + cells[k].value) return first;
      if (search.exact())
        return middle(first, k + 1 < cells.size() ? search.first_of(cells[k + 1].at) : number(TargetSearch::above));
    }
    where = {first, first, last};
    closing = true;
  }
  throw Error(ErrorKind::invalid_value, "the scans contradict each other: no target is the quantile of all",
              "Do the rows change between the scans?");
}

}  // namespace margin
