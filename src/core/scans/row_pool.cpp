#include "core/scans/row_pool.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "core/base/polled.hpp"
#include "core/scans/row_terms.hpp"

namespace margin {

namespace {

/// A hash of what the row says, however it is stored.
std::uint64_t identity_of(const FeatureRow& x, std::int32_t label_class, double lower, double upper) {
  const double ends[] = {lower, upper};
  std::uint64_t h = hash_bytes({reinterpret_cast<const char*>(ends), sizeof ends},
                               static_cast<std::uint64_t>(static_cast<std::int64_t>(label_class)));
  for (std::int32_t k = 0; k < x.count; ++k) {
    const double v = x.value(k);
    if (v == 0) continue;
    std::uint64_t bits;
    std::memcpy(&bits, &v, sizeof bits);
    h = (h ^ bits) * 0xff51afd7ed558ccdULL;
    h ^= h >> 32;
    h = (h ^ static_cast<std::uint64_t>(x.indices != nullptr ? x.indices[k] : k)) * 0x9e3779b97f4a7c15ULL;
    h ^= h >> 29;
  }
  return h;
}

}  // namespace

RowPool::RowPool(const ScanProblem& problem, const Progress& progress) : problem_(problem) { take_sample(progress); }

void RowPool::take_sample(const Progress& progress) {
  const Dataset& sample = problem_.sample_rows();
  const bool classes = sample.outcome() == Dataset::Outcome::classes;
  std::vector<std::int64_t> distinct;
  for (std::int64_t i = 0; i < sample.rows(); ++i) {
    const FeatureRow x{sample.row(i), sample.dimensions()};
    const std::uint64_t id = classes ? identity_of(x, sample.class_of(i), 0, 0)
                                     : identity_of(x, -1, sample.target(i), sample.upper_target(i));
    progress.work(2.0 * x.count + 64);
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
    const KeptRow row = bag.row(i);
    progress.work(4.0 * row.x.count + 64);
    added +=
        append(row, classes ? identity_of(row.x, row.label_class, 0, 0) : identity_of(row.x, -1, row.lower, row.upper));
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
    KeptRow row;
    row.x = {before->row(i), before->dimensions()};
    if (before->outcome() == Dataset::Outcome::classes) {
      row.label_class = before->class_of(i);
    } else {
      row.lower = before->target(i);
      row.upper = before->upper_target(i);
    }
    progress.work(4.0 * row.x.count + 64);
    append(row, names[static_cast<std::size_t>(i)]);
  }
}

}  // namespace margin
