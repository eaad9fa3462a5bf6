// Random Fourier features: the formula, the kernel in the mean, one answer for every form of a row.
#include "core/data/fourier_features.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "core/base/error.hpp"
#include "core/base/random.hpp"

namespace margin {
namespace {

constexpr double everything = 1e9;

Row dense(const std::vector<double>& x) { return {x.data(), nullptr, static_cast<std::int32_t>(x.size()), true}; }

std::vector<float> features(FourierFeatures& map, const Row& x, double gamma) {
  std::vector<float> out(static_cast<std::size_t>(map.dimensions()));
  map.transform(x, gamma, {}, out.data());
  return out;
}

std::vector<double> uniform_row(Random& random, int n) {
  std::vector<double> x(static_cast<std::size_t>(n));
  for (double& v : x) v = 2 * random.uniform() - 1;
  return x;
}

double inner(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

/// Root mean square of <z(x), z(y)> − exp(−γ‖x − y‖²) over pairs near and far, and several seeds.
double kernel_error(std::int32_t dimensions, double gamma) {
  Random random(7);
  std::vector<std::vector<double>> rows;
  for (int i = 0; i < 24; ++i) rows.push_back(uniform_row(random, 5));
  double sum = 0;
  int count = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    FourierFeatures map(dimensions, seed, everything);
    std::vector<std::vector<float>> z;
    for (const auto& x : rows) z.push_back(features(map, dense(x), gamma));
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (std::size_t j = 0; j <= i; ++j) {
        double square = 0;
        for (std::size_t k = 0; k < 5; ++k) square += std::pow(rows[i][k] - rows[j][k], 2);
        sum += std::pow(inner(z[i], z[j]) - std::exp(-gamma * square), 2);
        ++count;
      }
  }
  return std::sqrt(sum / count);
}

// The variance of one term 2 cos(s) cos(t) is (1 + k(2δ))/2 + 1/2 − k(δ)², which lies between 1/2 and 1.
TEST(FourierFeatures, approximate_the_gaussian_kernel) {
  for (const double gamma : {0.1, 0.5, 4.0})
    for (const std::int32_t dimensions : {64, 65, 512, 4096}) {
      const double scaled = kernel_error(dimensions, gamma) * std::sqrt(dimensions);
      EXPECT_GT(scaled, 0.6) << gamma << " " << dimensions;
      EXPECT_LT(scaled, 1.1) << gamma << " " << dimensions;
    }
}

// The same numbers by the library's functions, from the definition.
TEST(FourierFeatures, follow_the_formula) {
  const std::uint64_t seed = 42;
  const std::int32_t dimensions = 33;
  const double gamma = 0.7, pi = std::acos(-1.0);
  const std::vector<double> x{0.3, 0, -1.5, 2.25};
  auto sequence = [&](std::uint64_t number) { return Random(Random(Random(seed).next() + number).next()); };
  std::vector<double> angle(dimensions);
  Random phase = sequence(0);
  for (double& a : angle) a = 2 * pi * phase.uniform();
  for (std::size_t j = 0; j < x.size(); ++j) {
    Random random = sequence(1 + j);
    for (std::size_t i = 0; i < angle.size(); i += 2) {
      const double radius = std::sqrt(-2 * std::log(1 - random.uniform())), turn = 2 * pi * random.uniform();
      angle[i] += std::sqrt(2 * gamma) * x[j] * radius * std::cos(turn);
      if (i + 1 < angle.size()) angle[i + 1] += std::sqrt(2 * gamma) * x[j] * radius * std::sin(turn);
    }
  }
  FourierFeatures map(dimensions, seed, everything);
  const std::vector<float> z = features(map, dense(x), gamma);
  for (std::size_t i = 0; i < angle.size(); ++i)
    EXPECT_NEAR(z[i], std::sqrt(2.0 / dimensions) * std::cos(angle[i]), 1e-6) << i;
}

TEST(FourierFeatures, are_the_same_for_every_form_of_a_row) {
  const std::vector<double> x{0, 0.5, 0, -0.0, 3}, longer{0, 0.5, 0, 0, 3, 0, 0};
  const std::vector<float> narrow{0, 0.5F, 0, 0, 3};
  const std::vector<std::int32_t> indices{1, 4}, stored_zero{1, 2, 4};
  const std::vector<double> values{0.5, 3}, with_zero{0.5, 0, 3};
  FourierFeatures map(100, 3, everything);
  const std::vector<float> z = features(map, dense(x), 0.5);
  EXPECT_EQ(z, features(map, dense(longer), 0.5));
  EXPECT_EQ(z, features(map, {narrow.data(), nullptr, 5, false}, 0.5));
  EXPECT_EQ(z, features(map, {values.data(), indices.data(), 2, true}, 0.5));
  EXPECT_EQ(z, features(map, {with_zero.data(), stored_zero.data(), 3, true}, 0.5));
}

TEST(FourierFeatures, depend_on_the_seed_and_not_on_the_cache) {
  Random random(1);
  FourierFeatures all(64, 5, everything), none(64, 5, 0), some(64, 5, 3 * 352.0), other(64, 6, everything);
  for (int n = 9; n > 0; --n) {  // the longest row first, and again when it is known
    const std::vector<double> x = uniform_row(random, n);
    const std::vector<float> z = features(all, dense(x), 2);
    EXPECT_EQ(z, features(all, dense(x), 2));
    EXPECT_EQ(z, features(none, dense(x), 2));
    EXPECT_EQ(z, features(some, dense(x), 2));
    EXPECT_NE(z, features(other, dense(x), 2));
    EXPECT_NE(z, features(all, dense(x), 2.5));
  }
  const std::vector<double> far{1};
  const std::vector<std::int32_t> last{std::numeric_limits<std::int32_t>::max() - 1};
  EXPECT_EQ(features(all, {far.data(), last.data(), 1, true}, 2),
            features(none, {far.data(), last.data(), 1, true}, 2));
}

// Frequencies of neighbouring features and seeds are not correlated: the features of unit vectors are not either.
TEST(FourierFeatures, draw_independent_frequencies) {
  const std::int32_t dimensions = 4096;
  const double apart = std::exp(-2.0);  // the kernel of two unit vectors, gamma 1
  for (const std::uint64_t seed : {0u, 1u, 2u}) {
    FourierFeatures map(dimensions, seed, everything);
    std::vector<std::vector<float>> z;
    for (std::size_t j = 0; j < 20; ++j) {
      std::vector<double> x(20);
      x[j] = 1;
      z.push_back(features(map, dense(x), 1));
    }
    for (std::size_t i = 0; i < z.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) EXPECT_NEAR(inner(z[i], z[j]), apart, 5 / std::sqrt(dimensions));
  }
}

TEST(FourierFeatures, take_extreme_rows) {
  FourierFeatures map(1, 0, everything);
  const float alone = features(map, dense({}), 1)[0];
  EXPECT_EQ(alone, features(map, dense({0.0, 0.0}), 1)[0]);
  EXPECT_EQ(alone, features(map, dense({1e-320}), 1e-300)[0]);
  for (const double huge : {1e20, -1e150, 1e300}) EXPECT_LE(std::fabs(features(map, dense({huge}), 1)[0]), 1.4143F);
  try {
    features(map, dense({1.7e308}), 1.7e308);
    FAIL() << "an overflow";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::invalid_value);
  }
}

TEST(FourierFeatures, can_be_cancelled) {
  struct Cancel final : Progress {
    void poll() const override { throw std::runtime_error("cancelled"); }
  } cancel;
  const std::vector<double> x(64, 1.0);
  std::vector<float> out(FourierFeatures::most_dimensions), after = out;
  FourierFeatures map(FourierFeatures::most_dimensions, 0, everything), fresh(FourierFeatures::most_dimensions, 0, 0);
  EXPECT_THROW(map.transform(dense(x), 1, cancel, out.data()), std::runtime_error);
  map.transform(dense(x), 1, {}, out.data());
  fresh.transform(dense(x), 1, {}, after.data());
  EXPECT_EQ(out, after);
}

}  // namespace
}  // namespace margin
