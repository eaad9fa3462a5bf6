#include "core/scans/wire/feature_set.hpp"

#include <algorithm>

namespace margin {

namespace {
constexpr std::size_t least_fresh = 4096;
}

inline void FeatureSet::insert(std::int32_t feature) {
  if (feature >= few) return fresh_.push_back(feature);
  const auto word = static_cast<std::size_t>(feature) / 64;
  if (low_.size() <= word) low_.resize(word + 1);
  low_[word] |= std::uint64_t{1} << (feature % 64);
}

void FeatureSet::add(const FeatureRow& x) {
  all_ = all_ || x.indices == nullptr;
  if (all_) return;
  for (std::int32_t k = 0; k < x.count; ++k) insert(x.indices[k]);
  if (fresh_.size() >= std::max(least_fresh, sorted_.size())) settle();
}

/// As often as the list doubles: a feature is moved a logarithm of their number of times.
void FeatureSet::settle() {
  std::sort(fresh_.begin(), fresh_.end());
  fresh_.erase(std::unique(fresh_.begin(), fresh_.end()), fresh_.end());
  std::vector<std::int32_t> both;
  both.reserve(sorted_.size() + fresh_.size());
  std::set_union(sorted_.begin(), sorted_.end(), fresh_.begin(), fresh_.end(), std::back_inserter(both));
  sorted_ = std::move(both);
  fresh_.clear();
}

void FeatureSet::merge(const FeatureSet& o) {
  all_ = all_ || o.all_;
  if (all_) return;
  if (low_.size() < o.low_.size()) low_.resize(o.low_.size());
  for (std::size_t k = 0; k < o.low_.size(); ++k) low_[k] |= o.low_[k];
  for (const auto* const part : {&o.sorted_, &o.fresh_}) fresh_.insert(fresh_.end(), part->begin(), part->end());
  settle();
}

std::vector<std::int32_t> FeatureSet::features() const {
  FeatureSet own = *this;
  own.settle();
  std::vector<std::int32_t> out;
  for (std::size_t k = 0; k < low_.size(); ++k)
    for (std::int32_t bit = 0; bit < 64; ++bit)
      if ((low_[k] >> bit & 1) != 0) out.push_back(static_cast<std::int32_t>(64 * k) + bit);
  out.insert(out.end(), own.sorted_.begin(), own.sorted_.end());
  return out;
}

double FeatureSet::bytes() const {
  return 8.0 * static_cast<double>(low_.size()) + 4.0 * static_cast<double>(sorted_.size() + fresh_.size());
}

void FeatureSet::write(ByteWriter& out) const {
  out(all_);
  out(all_ ? std::vector<std::int32_t>() : features());
}

void FeatureSet::read(ByteReader& in, std::int32_t dimensions) {
  in(all_);
  std::vector<std::int32_t> features;
  in(features);
  std::int32_t last = -1;
  for (const std::int32_t feature : features) {
    in.require(feature > last && feature < dimensions, "features in use that do not ascend");
    insert(last = feature);
  }
  settle();
}

}  // namespace margin
