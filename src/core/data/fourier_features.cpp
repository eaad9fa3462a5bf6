#include "core/data/fourier_features.hpp"

#include <cmath>

#include "core/base/error.hpp"
#include "core/base/normal.hpp"

namespace margin {

namespace {

constexpr double normal_operations = 32;  // a normal number, or a cosine, in multiply-adds
constexpr double column_overhead = 96;    // bytes of a cached column beyond its numbers: node, vector, allocations

/// The seed of a sequence of its own: two rounds of the mixer, so that neighbours share nothing.
std::uint64_t sequence(std::uint64_t seed, std::uint64_t number) { return Random(Random(seed).next() + number).next(); }

}  // namespace

FourierFeatures::FourierFeatures(std::int32_t dimensions, std::uint64_t seed, double cache_bytes)
    : seed_(seed), cache_left_(cache_bytes) {
  Random random(sequence(seed, 0));
  phases_.resize(static_cast<std::size_t>(dimensions));
  for (double& b : phases_) b = random.uniform();
  turns_.resize(phases_.size());
}

void FourierFeatures::draw(std::int32_t feature, Column& column) const {
  Normal normal(sequence(seed_, 1 + static_cast<std::uint64_t>(feature)));
  column.resize(phases_.size());
  for (float& w : column) w = static_cast<float>(normal.next());
}

const FourierFeatures::Column& FourierFeatures::frequencies(std::int32_t feature, const Progress& progress) {
  const auto known = cache_.find(feature);
  if (known != cache_.end()) return known->second;
  progress.work(normal_operations * dimensions());
  const double bytes = column_overhead + 4.0 * dimensions();
  if (bytes > cache_left_) {
    draw(feature, drawn_);
    return drawn_;
  }
  Column column;
  draw(feature, column);
  const Column& kept = cache_.emplace(feature, std::move(column)).first->second;
  cache_left_ -= bytes;
  return kept;
}

void FourierFeatures::transform(const Row& x, double gamma, const Progress& progress, float* out) {
  const std::size_t D = phases_.size();
  const double unit = std::sqrt(gamma) * 0.22507907903927651;  // √(2γ) / 2π: frequencies in turns
  turns_ = phases_;
  double* turns = turns_.data();
  for (std::int32_t k = 0; k < x.count; ++k) {
    const double a = unit * x.value(k);
    if (a == 0) continue;
    const float* w = frequencies(x.indices != nullptr ? x.indices[k] : k, progress).data();
    // Not the loop of simd(), whose rounding depends on the processor.
    for (std::size_t i = 0; i < D; ++i) turns[i] += a * static_cast<double>(w[i]);
    progress.work(static_cast<double>(D));
  }
  const double height = std::sqrt(2.0 / static_cast<double>(D));
  bool finite = true;
  for (std::size_t i = 0; i < D; ++i) {
    finite &= std::isfinite(turns[i]);
    out[i] = static_cast<float>(height * cosine_of_turns(turns[i]));
  }
  progress.work(normal_operations * static_cast<double>(D));
  if (!finite)
    throw Error(ErrorKind::invalid_value, "the features are too large for gamma: their Fourier features overflow",
                "Scale the features, or give a smaller gamma: exp(-gamma ||x - y||^2) is 0 for all but equal rows.");
}

}  // namespace margin
