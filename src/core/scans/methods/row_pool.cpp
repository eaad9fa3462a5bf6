#include "core/scans/methods/row_pool.hpp"

#include <algorithm>
#include <numeric>

#include "core/base/polled.hpp"

namespace margin {

namespace {

/// A row as answers bring it. Neither hard margins nor interpolation know weights.
KeptRow kept(const Dataset& rows, std::int64_t i) {
  KeptRow row;
  row.x = {rows.row(i), rows.dimensions()};
  if (rows.outcome() == Dataset::Outcome::classes) {
    row.label_class = rows.class_of(i);
  } else {
    row.lower = rows.target(i);
    row.upper = rows.upper_target(i);
  }
  return row;
}

}  // namespace

RowPool::RowPool(const ScanProblem& problem, const Progress& progress) : problem_(problem) { take_sample(progress); }

void RowPool::take_sample(const Progress& progress) {
  const Dataset& sample = problem_.sample_rows();
  std::vector<std::int64_t> distinct;
  for (std::int64_t i = 0; i < sample.rows(); ++i) {
    const KeptRow row = kept(sample, i);
    const std::uint64_t id = row_identity(row);
    progress.work(2.0 * row.x.count + 64);
    if (!known_.insert(id).second) continue;
    distinct.push_back(i);
    identities_.push_back(id);
    touched_.push_back(clock_);
  }
  sampled_ = static_cast<std::int64_t>(distinct.size());
  rows_ = std::make_unique<Dataset>(sample.subset(distinct));
}

bool RowPool::append(const KeptRow& row, std::uint64_t identity) {
  if (!known_.insert(identity).second) return false;
  problem_.append(*rows_, row, 1);
  identities_.push_back(identity);
  touched_.push_back(++clock_);
  return true;
}

std::int64_t RowPool::add(Bag& bag, const Progress& progress) {
  bag.sort();  // the same pool whatever the order of the rows
  const bool classes = rows_->outcome() == Dataset::Outcome::classes;
  std::int64_t added = 0;
  for (std::int64_t i = 0; i < bag.rows(); ++i) {
    KeptRow row = bag.row(i);
    row.weight = 1;
    if (classes) row.lower = row.upper = 0;
    progress.work(4.0 * row.x.count + 64);
    added += append(row, row_identity(row));
  }
  return added;
}

void RowPool::shrink(double bytes, const Progress& progress) {
  const std::unique_ptr<Dataset> before = std::move(rows_);
  const std::vector<std::uint64_t> names = std::move(identities_);
  const std::vector<std::int64_t> touched = std::move(touched_);
  std::vector<std::int64_t> order(static_cast<std::size_t>(before->rows() - sampled_));
  std::iota(order.begin(), order.end(), sampled_);
  polled_sort(
      order.begin(), order.end(),
      [&](std::int64_t a, std::int64_t b) {
        return touched[static_cast<std::size_t>(a)] < touched[static_cast<std::size_t>(b)];
      },
      progress);
  const double each =
      static_cast<double>(before->bytes()) / static_cast<double>(std::max<std::size_t>(1, order.size()));
  const auto fit = static_cast<std::size_t>(bytes / each);
  if (order.size() > fit) order.erase(order.begin(), order.end() - static_cast<std::ptrdiff_t>(fit));
  identities_.clear();
  touched_.clear();
  known_.clear();
  take_sample(progress);
  for (const std::int64_t i : order) {  // in the order of their touches, which they keep
    const KeptRow row = kept(*before, i);
    progress.work(4.0 * row.x.count + 64);
    append(row, names[static_cast<std::size_t>(i)]);
  }
}

}  // namespace margin
