// Random Fourier features (Rahimi, Recht 2007): a row x becomes
//
//   z_i(x) = √(2/D) cos(<w_i, x> + b_i),  i = 1 … D,  w_i ~ N(0, 2γ I),  b_i uniform on [0, 2π),
//
// so that <z(x), z(x')> has the mean exp(−γ ‖x − x'‖²), the Gaussian kernel, and a standard deviation of at most 1/√D.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/base/progress.hpp"
#include "core/data/row.hpp"

namespace margin {

/// The frequencies of one seed. That of input feature j in output i depends on (seed, j, i) alone: rows may be dense or
/// sparse and of any length, and a feature that is 0 adds nothing. The same bits on every processor.
class FourierFeatures {
 public:
  static constexpr std::int32_t most_dimensions = 65536;

  /// `dimensions` is D, 1 … most_dimensions. Up to `cache_bytes` of frequencies are kept; others are drawn anew each
  /// time, which is slower and gives the same.
  FourierFeatures(std::int32_t dimensions, std::uint64_t seed, double cache_bytes);

  std::int32_t dimensions() const { return static_cast<std::int32_t>(phases_.size()); }
  std::uint64_t seed() const { return seed_; }

  /// z(x) for 0 < gamma < ∞, D floats; values of x must be finite. Throws Error(invalid_value) when an inner product
  /// overflows, and what `progress` throws.
  void transform(const Row& x, double gamma, const Progress& progress, float* out);

 private:
  using Column = std::vector<float>;
  const Column& frequencies(std::int32_t feature, const Progress& progress);
  void draw(std::int32_t feature, Column& column) const;

  std::uint64_t seed_;
  double cache_left_;
  std::unordered_map<std::int32_t, Column> cache_;  // standard normal numbers, D per feature
  Column drawn_;                                    // of a feature that the cache has no room for
  std::vector<double> phases_;                      // b / 2π
  std::vector<double> turns_;                       // (<w, x> + b) / 2π
};

}  // namespace margin
