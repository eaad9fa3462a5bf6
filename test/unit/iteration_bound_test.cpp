// The promised iterations against the papers' inequalities: enough, and fewer are not.
#include "core/math/iteration_bound.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/base/random.hpp"

namespace margin {
namespace {

BoundSettings settings(double n, double gap) {
  BoundSettings s;
  s.rows = n;
  s.gap = gap;
  return s;
}

TEST(IterationBound, of_sdca_is_what_the_papers_formulas_give) {
  for (const double n : {10.0, 1000.0})
    for (const double lambda : {0.001, 0.3})
      for (const double gap : {0.01, 0.5})
        for (const double lipschitz : {1.0, 2.0}) {
          BoundSettings s = settings(n, gap);
          s.lambda = lambda;
          s.lipschitz = lipschitz;
          const double square = lipschitz * lipschitz;
          // Theorem 1 by Remark 1: T0 = t0 + 4/(lambda eps) L^2 ..., t0 = max(0, ceil(n log(lambda n / (2 L^2)))).
          const double t0 = std::max(0.0, std::ceil(n * std::log(lambda * n / (2 * square))));
          EXPECT_NEAR(iterations_promised("sdca 1", s), t0 + n + 20 * square / (lambda * gap), 1e-9 * n / gap / lambda);
          EXPECT_NEAR(iterations_promised("sdca 1 hinge", s), t0 + n + 5 * square / (lambda * gap),
                      1e-9 * n / gap / lambda);
          const double after_sgd = std::ceil(n * std::log(std::log(std::exp(1.0) * n)));
          EXPECT_NEAR(iterations_promised("sdca 4", s), after_sgd + n + 20 * square / (lambda * gap),
                      1e-9 * n / gap / lambda);
          EXPECT_NEAR(iterations_promised("sdca 4 hinge", s), after_sgd + n + 5 * square / (lambda * gap),
                      1e-9 * n / gap / lambda);
          // Theorem 3: an epoch of Modified-SGD leaves 2 L^2 log(e n)/(lambda n).
          const double left = 2 * square * std::log(std::exp(1.0) * n) / (lambda * n);
          EXPECT_EQ(iterations_promised("sdca 3", s), left <= gap ? n : HUGE_VAL);
          s.lipschitz.reset();
          s.smoothing = 0.5;
          const double rate = n + 1 / (lambda * 0.5);
          EXPECT_NEAR(iterations_promised("sdca 2", s), rate * std::log(rate / gap), 1e-9 * rate / gap);
        }
}

/// Theorem 5's epsilon for a share s of the step.
double theorem_5(const std::vector<double>& distances, double lambda, double s) {
  const double n = static_cast<double>(distances.size()), u = s / (lambda * n);
  const auto near = std::count_if(distances.begin(), distances.end(), [&](double d) { return d < u; });
  return 8 * u * static_cast<double>(near) / n;
}

TEST(IterationBound, of_theorem_5_has_the_largest_step_that_is_allowed) {
  Random random(5);
  int whole = 0, part = 0;
  for (int problem = 0; problem < 200; ++problem) {
    const auto n = 2 + random.below(30);
    BoundSettings s = settings(n, 0.001 + 0.1 * random.uniform());
    s.lambda = 0.01 + random.uniform();
    for (std::uint32_t i = 0; i < n; ++i) s.distances.push_back(2 * random.uniform());
    const double share = 2 * n * std::log(2 / s.gap) / iterations_promised("sdca 5", s);
    ASSERT_GT(share, 0);
    EXPECT_LE(share, 1 + 1e-12);
    EXPECT_LE(theorem_5(s.distances, *s.lambda, share * (1 - 1e-9)), s.gap * (1 + 1e-9));
    if (share < 1 - 1e-9) {
      EXPECT_GT(theorem_5(s.distances, *s.lambda, share * (1 + 1e-6)), s.gap);
      ++part;
    } else {
      ++whole;
    }
  }
  EXPECT_GT(whole, 10);
  EXPECT_GT(part, 10);
}

/// Theorem 6: the gap after 2 t steps, delta the least that Theorem 5 gives after t, both on a fine grid.
double theorem_6(const BoundSettings& s, double t) {
  BoundSettings dual = s;
  double delta = 2;
  for (double tried = 2; tried > 1e-12; tried *= 0.99) {
    dual.gap = tried;
    if (iterations_promised("sdca 5", dual) <= t) delta = tried;
  }
  double least = 4;  // gamma below all distances counts none, beyond all of them all rows
  for (const double d : s.distances) {
    const auto near = std::count_if(s.distances.begin(), s.distances.end(), [&](double other) { return other < d; });
    least = std::min(least, 4.0 * static_cast<double>(near) / s.rows + 2 * delta / std::min(d, *s.lambda * d * d / 2));
  }
  return delta + least / (2 * *s.lambda * t);
}

TEST(IterationBound, of_theorem_6_is_enough_and_half_of_it_is_not) {
  Random random(6);
  for (int problem = 0; problem < 20; ++problem) {
    const auto n = 2 + random.below(10);
    BoundSettings s = settings(n, 0.01 + 0.2 * random.uniform());
    s.lambda = 0.05 + random.uniform();
    for (std::uint32_t i = 0; i < n; ++i) s.distances.push_back(0.1 + random.uniform());
    const double t = iterations_promised("sdca 6", s) / 2;
    EXPECT_GE(t, n);
    EXPECT_LE(theorem_6(s, 1.02 * t), s.gap * 1.02);
    if (t > n) {
      EXPECT_GT(theorem_6(s, 0.9 * t), s.gap);
    }
  }
}

TEST(IterationBound, of_momentum_is_the_first_that_is_enough) {
  for (const double n : {2.0, 100.0})
    for (const double margin : {0.05, 0.9})
      for (const double gap : {0.001, 0.3}) {
        BoundSettings s = settings(n, gap);
        s.margin = margin;
        const auto missing = [&](double t) {
          return 4 * (1 + std::log(n)) * (1 + 2 * std::log(t + 1)) / (margin * (t + 1) * (t + 1));
        };
        double t = 1;
        while (missing(t) > gap) ++t;
        EXPECT_EQ(iterations_promised("momentum 3.1", s), t);
      }
}

TEST(IterationBound, of_sampling_and_boosting) {
  BoundSettings s = settings(50, 0.2);
  s.margin = 0.5;
  s.failure = 0.1;
  EXPECT_EQ(iterations_promised("sampling 4.1", s),
            std::ceil((32 * std::log(50.0) + 64 * std::log(20.0)) / (0.25 * 0.04)));
  s.failure = 1e-4;
  EXPECT_EQ(iterations_promised("sampling 4.1", s), std::ceil(32 / (1e-4 * 0.2 * 0.2)));
  EXPECT_EQ(iterations_promised("boosting 3.3 quadratic", s), std::ceil(2 * std::log(50.0) / (0.2 * 0.2)));
  EXPECT_EQ(iterations_promised("boosting 3.3 wolfe", s), std::ceil(8 * std::log(50.0) / (0.2 * 0.2)));
  EXPECT_EQ(iterations_promised("boosting 3.3 frank_wolfe", s), std::ceil(32 * std::log(50.0) / (0.2 * 0.2)));
  EXPECT_THROW(iterations_promised("boosting 3.3", s), Error);
}

}  // namespace
}  // namespace margin
