// Every instruction set that this CPU has gives what a plain loop in long double gives, to within n ε of the sum of
// absolute values, on all short lengths and from pointers of any alignment.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "core/math/exact_sum.hpp"
#include "core/simd/add_rows.hpp"
#include "core/simd/carried_sums.hpp"
#include "core/simd/cut_sums.hpp"
#include "core/simd/keyed_bits.hpp"
#include "core/simd/logistic_points.hpp"
#include "core/simd/loops.hpp"
#include "core/simd/plain_dot.hpp"
#include "margin_problems.hpp"

namespace margin {
namespace {

using namespace reference;

constexpr Real epsilon = std::numeric_limits<double>::epsilon();
constexpr std::size_t longest = 70;

class KernelSet : public ::testing::TestWithParam<int> {
 protected:
  const SimdLoops& k() const { return *available_kernels().items[GetParam()]; }

  /// Calls f(n, offset, x, y, floats, w): all lengths, starting at any element of a cache line.
  template <class F>
  void for_each_length(F f) {
    Random random(12);
    std::vector<double> x(longest + 16), y(longest + 16);
    std::vector<float> u(longest + 16), v(longest + 16);
    for (std::size_t n = 0; n <= longest; ++n)
      for (std::size_t offset = 0; offset < 9; ++offset) {
        for (std::size_t j = 0; j < x.size(); ++j) {
          x[j] = gaussian(random) * std::pow(10, random.below(7));
          y[j] = gaussian(random);
          u[j] = static_cast<float>(gaussian(random));
          v[j] = static_cast<float>(gaussian(random));
        }
        f(n, x.data() + offset, y.data() + offset / 2, u.data() + offset, v.data() + offset / 3);
      }
  }
};

template <class A, class B>
void expect_dot(double value, const A* a, const B* b, std::size_t n) {
  Real sum = 0, absolute = 0;
  for (std::size_t j = 0; j < n; ++j) {
    sum += static_cast<Real>(a[j]) * b[j];
    absolute += std::fabs(static_cast<Real>(a[j]) * b[j]);
  }
  EXPECT_LE(std::fabs(value - sum), static_cast<Real>(n) * epsilon * absolute) << "n = " << n;
}

TEST_P(KernelSet, dot_products) {
  for_each_length([&](std::size_t n, double* x, double* y, float* u, float* v) {
    expect_dot(k().dot_fd(u, y, n), u, y, n);
    expect_dot(k().dot_dd(x, y, n), x, y, n);
    expect_dot(k().dot_ff(u, v, n), u, v, n);
  });
  EXPECT_EQ(k().dot_fd(nullptr, nullptr, 0), 0.0);
  EXPECT_EQ(k().dot_dd(nullptr, nullptr, 0), 0.0);
}

TEST_P(KernelSet, long_dot_products) {
  Random random(13);
  for (const std::size_t n : {255, 256, 257, 784, 1000, 4099}) {
    std::vector<double> x(n), y(n);
    std::vector<float> u(n);
    for (std::size_t j = 0; j < n; ++j) {
      x[j] = gaussian(random);
      y[j] = gaussian(random);
      u[j] = static_cast<float>(gaussian(random));
    }
    expect_dot(k().dot_dd(x.data(), y.data(), n), x.data(), y.data(), n);
    expect_dot(k().dot_fd(u.data(), y.data(), n), u.data(), y.data(), n);
  }
}

// In the order that the header states, product by product, each rounded: volatile keeps the compiler from fusing them.
template <class T>
double one_by_one(const T* x, const double* w, std::size_t n) {
  const auto product = [&](std::size_t j) {
    volatile double p = static_cast<double>(x[j]) * w[j];
    return p;
  };
  const std::size_t blocks = n / 8;
  double lane[8] = {}, rest = 0;
  for (std::size_t r = 0; r < 8; ++r) {
    double sum[4] = {};
    for (std::size_t b = 0; b < blocks; ++b) sum[b < blocks / 4 * 4 ? b % 4 : 0] += product(8 * b + r);
    lane[r] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }
  for (std::size_t j = 8 * blocks; j < n; ++j) rest += product(j);
  return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7])) + rest;
}

TEST_P(KernelSet, plain_dot_products_have_the_bits_of_separate_operations) {
  const PlainDots dots = plain_dots_of(k());
  for_each_length([&](std::size_t n, double* x, double* y, float* u, float*) {
    EXPECT_EQ(dots.of_doubles(x, y, n), one_by_one(x, y, n)) << n;
    EXPECT_EQ(dots.of_floats(u, y, n), one_by_one(u, y, n)) << n;
  });
  EXPECT_FALSE(std::signbit(dots.of_doubles(nullptr, nullptr, 0)));
  EXPECT_EQ(plain_product(1 + epsilon, 1 + epsilon), 1 + 2 * static_cast<double>(epsilon));
}

// Four rows at once: the bits of one after the other, whether rows that come next are fetched or not.
template <class T, class Dots, class Axpys, class Dot, class Axpy>
void expect_four(const T* x, const double* w, std::size_t n, Dots dots, Axpys axpys, Dot dot, Axpy axpy) {
  const T* const rows[4] = {x, x + 1, x + 2, x + 3};
  const T* const next[4] = {x + 3, x, x + 1, x + 2};
  const double factors[4] = {0.3, -1.25, 0, 7e3};
  std::vector<double> sums(w, w + n + 2), expected = sums;
  for (const bool fetch : {false, true}) {
    double found[4];
    dots(rows, fetch ? next : nullptr, w, n, found);
    axpys(factors, rows, fetch ? next : nullptr, sums.data(), n);
    for (int r = 0; r < 4; ++r) {
      EXPECT_EQ(found[r], dot(rows[r], w, n)) << n;
      axpy(factors[r], rows[r], expected.data(), n);
    }
    EXPECT_EQ(sums, expected) << n;  // and nothing beyond the end
  }
}

TEST_P(KernelSet, four_rows_at_once) {
  const auto check = [&](std::size_t n, const double* x, const double* y, const float* u) {
    expect_four(u, y, n, k().dots_fd, k().axpys_f, k().dot_fd, k().axpy_f);
    expect_four(x, y, n, k().dots_dd, k().axpys_d, k().dot_dd, k().axpy_d);
  };
  for_each_length([&](std::size_t n, double* x, double* y, float* u, float*) { check(n, x, y, u); });
  Random random(15);
  std::vector<double> x(1100), y(1100);
  std::vector<float> u(1100);
  for (std::size_t j = 0; j < x.size(); ++j) {
    x[j] = gaussian(random);
    y[j] = gaussian(random);
    u[j] = static_cast<float>(gaussian(random));
  }
  for (const std::size_t n : {255, 256, 784, 1001}) check(n, x.data() + 1, y.data() + 2, u.data() + 3);
}

TEST_P(KernelSet, sums_of_many_rows) {
  const AddRows add_rows = add_rows_of(k());
  ASSERT_NE(add_rows, nullptr);
  Random random(17);
  for (std::size_t n = 0; n <= 150; n += 1 + n / 20)
    for (const std::size_t rows : {0, 1, 2, 3, 4, 5, 7, 19}) {
      std::vector<std::vector<double>> x(rows, std::vector<double>(n));
      std::vector<const double*> pointers;
      std::vector<double> a(rows), y(n + 2);
      for (double& v : y) v = gaussian(random);
      const std::vector<double> before = y;
      for (std::size_t r = 0; r < rows; ++r) {
        a[r] = gaussian(random);
        for (double& v : x[r]) v = gaussian(random);
        pointers.push_back(x[r].data());
      }
      add_rows(a.data(), pointers.data(), rows, y.data(), n);
      for (std::size_t j = 0; j < n; ++j) {
        Real sum = before[j], absolute = std::fabs(before[j]);
        for (std::size_t r = 0; r < rows; ++r) {
          sum += static_cast<Real>(a[r]) * x[r][j];
          absolute += std::fabs(static_cast<Real>(a[r]) * x[r][j]);
        }
        EXPECT_LE(std::fabs(y[j] - sum), static_cast<Real>(rows + 1) * epsilon * absolute) << n << ", " << rows;
      }
      for (std::size_t j = n; j < n + 2; ++j) EXPECT_EQ(y[j], before[j]);  // and nothing beyond the end
    }
}

TEST_P(KernelSet, sparse_dot_products) {
  Random random(14);
  std::vector<double> w(500);
  for (double& v : w) v = gaussian(random);
  for_each_length([&](std::size_t n, double* x, double*, float* u, float*) {
    std::vector<std::int32_t> columns;
    for (std::int32_t j = static_cast<std::int32_t>(random.below(4)); columns.size() < n;
         j += 1 + static_cast<std::int32_t>(random.below(6)))
      columns.push_back(j);
    std::vector<double> gathered;
    for (const std::int32_t j : columns) gathered.push_back(w[at(j)]);
    expect_dot(k().sparse_dot_d(x, columns.data(), w.data(), n), x, gathered.data(), n);
    expect_dot(k().sparse_dot_f(u, columns.data(), w.data(), n), u, gathered.data(), n);
  });
}

TEST_P(KernelSet, logistic_steps) {
  Random random(16);
  for (const std::size_t n : {4, 8, 12, 16})
    for (const double y : {-1.0, 1.0})
      for (const double size : {1e-3, 1.0, 8.0}) {
        std::vector<double> u(n), scale(n), a(n), t(n), estimate(n, 1.0);
        for (std::size_t i = 0; i < n; ++i) {
          u[i] = i == 0 ? 800 * y : i == 1 ? -800 * y : 3 * gaussian(random);
          scale[i] = i % 3 == 2 ? 0.0 : random.uniform();
          a[i] = y * random.uniform();
        }
        const std::vector<double> before = a;
        k().logistic_steps(u.data(), y, scale.data(), size, n, a.data(), t.data(), estimate.data());
        for (std::size_t i = 0; i < n; ++i) {
          const double target = 1 / (1 + std::exp(y * u[i])), pull = y * target - before[i];
          const double step = scale[i] > 0 ? pull / (1 + 0.25 * scale[i] * size) : 0.0;
          EXPECT_NEAR(a[i], before[i] + step, 1e-15);
          EXPECT_NEAR(t[i], scale[i] * step, 1e-15);
          const double b = std::fabs(a[i]);
          EXPECT_NEAR(estimate[i], 1 + scale[i] * pull * pull / (2 * b * (1 - b)), 1e-12 * estimate[i]);
        }
      }
}

TEST_P(KernelSet, power) {
  Random random(17);
  constexpr double epsilon = std::numeric_limits<double>::epsilon();
  for (const double exponent : {1e-3, 0.02, 0.5, 1.0, 2.85, 5.67, 49.0})
    for (const double scale : {1.0, 1e-150, 1e150}) {
      std::vector<double> x = {0, -0.0, 1 / scale, -1 / scale, 0.7071067811865475 / scale, 1.4142135623730951 / scale};
      for (int i = 0; i < 61; ++i) x.push_back(gaussian(random) * std::pow(10, -12 * random.uniform()) / scale);
      std::vector<double> out(x.size());
      k().power(x.data(), x.size(), scale, exponent, out.data());
      EXPECT_EQ(out[0], 0);
      EXPECT_EQ(out[1], 0);
      for (std::size_t i = 2; i < x.size(); ++i) {
        const long double size = std::fabs(scale * x[i]), expected = std::pow(size, static_cast<long double>(exponent));
        if (expected < 1e-300L) {
          EXPECT_LE(out[i], 1e-300);
          continue;
        }
        const long double error = 4 * epsilon * (1 + std::fabs(exponent * std::log(size)));
        EXPECT_NEAR(static_cast<double>(out[i] / expected), 1, static_cast<double>(error)) << x[i] << "^" << exponent;
      }
    }
}

TEST_P(KernelSet, panels_of_weight_vectors) {
  Random random(15);
  for (const std::size_t width : {4, 8, 12, 16})
    for (std::size_t n = 0; n <= 19; ++n) {
      std::vector<double> x(n), w(3 * 20 * width), u(width), c(width);
      std::vector<float> narrow(n);
      std::vector<std::int32_t> columns(n);
      for (std::size_t k = 0; k < n; ++k) {
        narrow[k] = random.below(3) == 0 ? 0.0F : static_cast<float>(gaussian(random));
        x[k] = static_cast<double>(narrow[k]);
        columns[k] = static_cast<std::int32_t>(3 * k + random.below(3));
      }
      for (double& v : w) v = gaussian(random);
      for (double& v : c) v = gaussian(random);
      for (const bool sparse : {false, true})
        for (const bool wide : {false, true}) {
          const std::int32_t* const at = sparse ? columns.data() : nullptr;
          const auto column = [&](std::size_t k) { return sparse ? static_cast<std::size_t>(columns[k]) : k; };
          if (wide)
            k().panel_dot_d(x.data(), at, n, w.data(), width, u.data());
          else
            k().panel_dot_f(narrow.data(), at, n, w.data(), width, u.data());
          for (std::size_t f = 0; f < width; ++f) {
            std::vector<double> weights(n);
            for (std::size_t k = 0; k < n; ++k) weights[k] = w[column(k) * width + f];
            expect_dot(u[f], x.data(), weights.data(), n);
          }
          std::vector<double> factors(w.size());
          for (double& factor : factors) factor = random.uniform();
          for (const bool scaled : {false, true}) {
            const double* const by = scaled ? factors.data() : nullptr;
            std::vector<double> sum = w;
            if (wide)
              k().panel_add_d(c.data(), by, x.data(), at, n, width, sum.data());
            else
              k().panel_add_f(c.data(), by, narrow.data(), at, n, width, sum.data());
            for (std::size_t f = 0; f < width; ++f)
              for (std::size_t k = 0; k < n; ++k) {
                double& changed = sum[column(k) * width + f];
                const double before = w[column(k) * width + f], factor = scaled ? factors[column(k) * width + f] : 1;
                EXPECT_NEAR(changed, before + c[f] * x[k] * factor, 1e-14 * (1 + std::fabs(changed)));
                changed = before;
              }
            EXPECT_EQ(sum, w) << "other weights than those of the row changed";
          }
        }
    }
}

TEST_P(KernelSet, sums_of_vectors) {
  for_each_length([&](std::size_t n, double* x, double* y, float* u, float*) {
    const std::vector<double> before(y, y + n + 2);
    k().axpy_d(-1.25, x, y, n);
    k().axpy_f(0.3, u, y, n);
    for (std::size_t j = 0; j < n; ++j) {
      const Real exact = before[j] - 1.25L * x[j] + static_cast<Real>(0.3) * u[j];
      const Real size = std::fabs(before[j]) + 1.25L * std::fabs(x[j]) + std::fabs(u[j]);
      EXPECT_LE(std::fabs(y[j] - exact), 4 * epsilon * size);
    }
    EXPECT_EQ(y[n], before[n]);  // nothing beyond the end
    EXPECT_EQ(y[n + 1], before[n + 1]);
  });
}

TEST_P(KernelSet, sums_between_ends) {
  const CutSums sums = cut_sums_of(k());
  ASSERT_NE(sums.add_f, nullptr);
  ASSERT_NE(sums.add_d, nullptr);
  const auto check = [&](const auto* values, std::size_t n, double* y, auto add) {
    const double infinite = std::numeric_limits<double>::infinity();
    std::vector<double> low(n + 1, -0.5), high(n + 1, 0.5), w(n + 1, 7);
    for (std::size_t j = 0; j < n; j += 3) low[j] = -infinite;
    for (std::size_t j = 1; j < n; j += 3) high[j] = j % 2 == 0 ? infinite : low[j];
    const std::vector<double> before(y, y + n + 1);
    add(-1.25, values, n, low.data(), high.data(), y, w.data());
    for (std::size_t j = 0; j < n; ++j) {
      const Real exact = before[j] - 1.25L * values[j];
      EXPECT_LE(std::fabs(y[j] - exact), 2 * epsilon * (std::fabs(before[j]) + 1.25L * std::fabs(values[j])));
      EXPECT_EQ(w[j], std::clamp(y[j], low[j], high[j]));
    }
    EXPECT_EQ(y[n], before[n]);  // nothing beyond the end
    EXPECT_EQ(w[n], 7);
  };
  for_each_length([&](std::size_t n, double* x, double* y, float* u, float*) {
    check(x, n, y, sums.add_d);
    check(u, n, y, sums.add_f);
  });
}

TEST_P(KernelSet, rotations) {
  const double c = 0.6, s = 0.8;
  for_each_length([&](std::size_t n, double* x, double* y, float*, float*) {
    const std::vector<double> a(x, x + n + 1), b(y, y + n + 1);
    k().rotate(c, s, x, y, n);
    for (std::size_t j = 0; j < n; ++j) {
      const Real size = std::fabs(a[j]) + std::fabs(b[j]);
      EXPECT_LE(std::fabs(x[j] - (static_cast<Real>(c) * a[j] + static_cast<Real>(s) * b[j])), 2 * epsilon * size);
      EXPECT_LE(std::fabs(y[j] - (static_cast<Real>(c) * b[j] - static_cast<Real>(s) * a[j])), 2 * epsilon * size);
    }
    EXPECT_EQ(x[n], a[n]);
    EXPECT_EQ(y[n], b[n]);
  });
}

TEST_P(KernelSet, largest_absolute_value_and_non_zeros) {
  for_each_length([&](std::size_t n, double* x, double*, float* u, float*) {
    double largest_d = 0;
    float largest_f = 0;
    for (std::size_t j = 0; j < n; ++j) {
      if (j % 3 == 1) x[j] = j % 2 == 0 ? 0.0 : -0.0;
      if (j % 4 == 2) u[j] = j % 8 == 2 ? 0.0F : -0.0F;
      largest_d = std::max(largest_d, std::fabs(x[j]));
      largest_f = std::max(largest_f, std::fabs(u[j]));
    }
    EXPECT_EQ(k().max_abs_d(x, n), largest_d);
    EXPECT_EQ(k().max_abs_f(u, n), largest_f);
    EXPECT_EQ(k().count_nonzero_d(x, n), n - static_cast<std::size_t>(std::count(x, x + n, 0.0)));
    EXPECT_EQ(k().count_nonzero_f(u, n), n - static_cast<std::size_t>(std::count(u, u + n, 0.0F)));
  });
}

template <class T>
void expect_nonzeros(std::size_t (*loop)(const T*, std::size_t, T*, std::int32_t*), const T* x, std::size_t n) {
  std::vector<T> expected, values(n + 1, 7);
  std::vector<std::int32_t> at, places(n + 1, -7);
  for (std::size_t j = 0; j < n; ++j) {
    if (x[j] == 0) continue;
    expected.push_back(x[j]);
    at.push_back(static_cast<std::int32_t>(j));
  }
  ASSERT_EQ(loop(x, n, values.data(), places.data()), at.size());
  EXPECT_TRUE(std::equal(at.begin(), at.end(), places.begin()));
  EXPECT_EQ(values[n], 7) << "beyond the end";
  EXPECT_EQ(places[n], -7);
  if (at.empty()) return;
  EXPECT_EQ(std::memcmp(values.data(), expected.data(), at.size() * sizeof(T)), 0);  // also NaN
}

TEST_P(KernelSet, numbers_that_are_not_zero) {
  for_each_length([&](std::size_t n, double* x, double*, float* u, float*) {
    expect_nonzeros(k().nonzeros_d, x, n);
    expect_nonzeros(k().nonzeros_f, u, n);
    for (const std::size_t every : {1, 2, 9, 40}) {
      for (std::size_t j = 0; j < n; ++j)
        if (j % every != every / 2) x[j] = j % 3 == 0 ? -0.0 : 0.0, u[j] = j % 3 == 0 ? -0.0F : 0.0F;
      if (n > every)
        x[every] = std::numeric_limits<double>::quiet_NaN(), u[every] = std::numeric_limits<float>::denorm_min();
      expect_nonzeros(k().nonzeros_d, x, n);
      expect_nonzeros(k().nonzeros_f, u, n);
    }
  });
}

TEST_P(KernelSet, entropies) {
  for_each_length([&](std::size_t n, double* x, double*, float*, float*) {
    std::vector<double> a(n), out(n + 1, 7.0);
    for (std::size_t i = 0; i < n; ++i) {
      const double edges[] = {0.0, -1.0, 1.0 + epsilon, 1e-300, 0.5, std::numeric_limits<double>::denorm_min()};
      a[i] = i % 3 == 0 ? edges[i / 3 % 6] : std::fmod(x[i], 1.0);
    }
    k().entropy(a.data(), n, out.data());
    for (std::size_t i = 0; i < n; ++i) {
      const Real b = std::min<Real>(1, std::fabs(a[i]));
      const auto times_log = [](Real v) { return v > 0 ? v * std::log(v) : Real{0}; };
      EXPECT_LE(std::fabs(out[i] - (-times_log(b) - times_log(1 - b))), 4 * epsilon) << a[i];
    }
    EXPECT_EQ(out[n], 7.0) << "beyond the end";
  });
}

// Each sum as if it were alone, in every set.
TEST_P(KernelSet, sums_that_carry_their_errors_have_the_bits_of_one) {
  const AddCarried add = add_carried_of(k());
  ASSERT_NE(add, nullptr);
  Random random(18);
  for (std::size_t n = 0; n <= longest; ++n) {
    std::vector<double> v(n), sum(n + 1), lost(n + 1);
    std::vector<ExactSum> alone(n);
    for (int row = 0; row < 40; ++row) {
      for (std::size_t k = 0; k < n; ++k) {
        v[k] = row % 7 == 3 ? 0.0 : gaussian(random) * std::pow(10, static_cast<double>(random.below(30)) - 15);
        alone[k].add(v[k]);
      }
      add(v.data(), n, sum.data(), lost.data());
    }
    for (std::size_t k = 0; k < n; ++k) {
      EXPECT_EQ(sum[k], alone[k].rounded());
      EXPECT_EQ(lost[k], alone[k].lost());
    }
    EXPECT_EQ(sum[n], 0) << "beyond the end";
  }
}

template <class T>
void compare_keyed(void (*loop)(const T*, std::size_t, std::uint64_t, std::uint64_t*), Random& random) {
  ASSERT_NE(loop, nullptr);
  for (std::size_t n = 0; n <= longest; ++n) {
    std::vector<T> x(n);
    std::vector<std::uint64_t> out(n + 8);
    for (T& v : x) v = random.below(4) == 0 ? static_cast<T>(-0.0) : static_cast<T>(gaussian(random));
    if (n > 2) x[2] = std::numeric_limits<T>::denorm_min();
    const std::uint64_t first = random.next();
    loop(x.data(), n, first, out.data());
    for (std::size_t k = 0; k < n; ++k) {
      const double v = static_cast<double>(x[k]) + 0.0;
      std::uint64_t bits;
      std::memcpy(&bits, &v, sizeof bits);
      EXPECT_EQ(out[k], bits + mixed_key(first + k * key_step)) << n << " " << k;
    }
  }
}

TEST_P(KernelSet, bits_with_keys) {
  Random random(20);
  compare_keyed<float>(keyed_bits_of(k()).of_floats, random);
  compare_keyed<double>(keyed_bits_of(k()).of_doubles, random);
}

// To the few ulps that certificates allow for, of scores of any size, and with the same bits whatever stands beside them.
TEST_P(KernelSet, logistic_points) {
  const LogisticPoints points = logistic_points_of(k());
  ASSERT_NE(points, nullptr);
  constexpr std::size_t n = 16;
  Random random(19);
  for (int round = 0; round < 2000; ++round) {
    std::vector<double> u(n), y(n), value(n), dual(n), conjugate(n), curvature(n);
    for (std::size_t i = 0; i < n; ++i) {
      y[i] = random.below(2) == 0 ? -1 : 1;
      u[i] = i == 0 ? 0.0 : gaussian(random) * std::pow(10, static_cast<double>(random.below(7)) - 3);
    }
    points(u.data(), y.data(), n, value.data(), dual.data(), conjugate.data(), curvature.data());
    for (std::size_t i = 0; i < n; ++i) {
      const Real m = static_cast<Real>(y[i]) * u[i], e = std::exp(-std::fabs(m)), b = std::fabs(dual[i]);
      const auto near = [&](double found, Real expected, const char* what) {
        EXPECT_LE(std::fabs(found - expected), 4 * epsilon * std::fabs(expected)) << what << ", " << m;
      };
      EXPECT_TRUE(dual[i] * y[i] >= 0 && b <= 1) << m;
      const Real least = b > 0 && b < 1 ? b * std::log(b) + (1 - b) * std::log1p(-b) : 0;
      if (std::fabs(m) > 650) {
        EXPECT_GE(value[i] * (1 + 4 * epsilon), m > 0 ? e : -m) << m;
        EXPECT_GE(conjugate[i], least * (1 + 4 * epsilon)) << m;
        continue;
      }
      near(value[i], std::log1p(e) + std::max<Real>(0, -m), "value");
      near(dual[i], y[i] * (m > 0 ? e : 1) / (1 + e), "dual");
      near(curvature[i], e / ((1 + e) * (1 + e)), "curvature");
      near(conjugate[i], least, "conjugate");
    }
    for (const std::size_t from : {std::size_t{3}, std::size_t{8}}) {
      double one[4][8];
      points(u.data() + from, y.data() + from, 8, one[0], one[1], one[2], one[3]);
      for (std::size_t i = 0; i < 8; ++i) {
        EXPECT_EQ(one[0][i], value[from + i]);
        EXPECT_EQ(one[1][i], dual[from + i]);
        EXPECT_EQ(one[2][i], conjugate[from + i]);
        EXPECT_EQ(one[3][i], curvature[from + i]);
      }
    }
  }
}

// What SMO does to all rows at a step: every number as one row alone would have it, and the largest of all.
TEST_P(KernelSet, steps_of_pairs) {
  const double never = 1e308;
  for_each_length([&](std::size_t n, double* x, double* y, float* u, float* v) {
    std::vector<double> ki(x, x + n), kj(n), diagonal(n), error(n + 1), up(n), low(n), gain(n + 1, 7.0);
    for (std::size_t t = 0; t < n; ++t) {
      kj[t] = static_cast<double>(v[t]);
      diagonal[t] = t % 5 == 0 ? 0.0 : std::fabs(y[t]);
      error[t] = static_cast<double>(u[t]);
      up[t] = t % 3 == 0 ? -never : 0.25;
      low[t] = t % 4 == 0 ? never : -0.25;
    }
    error[n] = 11.0;
    const std::vector<double> before = error;
    double top = 0, bottom = 0;
    k().pair_step(0.375, ki.data(), kj.data(), n, up.data(), low.data(), error.data(), &top, &bottom);
    double largest = -never, smallest = never;
    for (std::size_t t = 0; t < n; ++t) {
      const Real step = static_cast<Real>(0.375) * (static_cast<Real>(ki[t]) - kj[t]);
      ASSERT_LE(std::fabs(error[t] - (before[t] - step)), 2 * epsilon * (std::fabs(before[t]) + std::fabs(step)));
      largest = std::max(largest, error[t] + up[t]);
      smallest = std::min(smallest, error[t] + low[t]);
    }
    EXPECT_EQ(error[n], 11.0) << "beyond the end";
    EXPECT_EQ(top, largest);
    EXPECT_EQ(bottom, smallest);

    const double least = 1e-3;
    const auto expect_gains = [&](double best, auto distance, auto curvature) {
      double most = 0;
      for (std::size_t t = 0; t < n; ++t) {
        const Real d = std::max<Real>(0, distance(t)), expected = d * d / std::max<Real>(least, curvature(t));
        const Real room = 32 * epsilon / least;
        EXPECT_LE(std::fabs(gain[t] - expected), expected * room) << t << " of " << n;
        most = std::max(most, gain[t]);
      }
      EXPECT_EQ(gain[n], 7.0) << "beyond the end";
      EXPECT_EQ(best, most);
    };
    expect_gains(
        k().pair_gain(0.5, 2.0, least, kj.data(), diagonal.data(), error.data(), low.data(), n, gain.data()),
        [&](std::size_t t) { return 0.5 - (error[t] + low[t]); },
        [&](std::size_t t) { return 2.0 + diagonal[t] - 2 * kj[t]; });
    expect_gains(
        k().single_gain(least, diagonal.data(), error.data(), up.data(), low.data(), n, gain.data()),
        [&](std::size_t t) { return std::max(error[t] + up[t], -(error[t] + low[t])); },
        [&](std::size_t t) { return diagonal[t]; });
  });
}

TEST_P(KernelSet, exponentials_of_what_is_not_positive) {
  for_each_length([&](std::size_t n, double* x, double*, float*, float*) {
    std::vector<double> values(n + 1, -3.0);
    for (std::size_t i = 0; i < n; ++i) values[i] = i % 7 == 3 ? 1e300 : std::fmod(std::fabs(x[i]), 720.0);
    const std::vector<double> t = values;
    k().exp_negated(values.data(), n);
    for (std::size_t i = 0; i < n; ++i) {
      const Real expected = t[i] < 708.0 ? std::exp(-static_cast<Real>(t[i])) : 0;
      EXPECT_LE(std::fabs(values[i] - expected), 8 * epsilon * expected) << t[i];
    }
    EXPECT_EQ(values[n], -3.0) << "beyond the end";
  });
}

TEST_P(KernelSet, one_bad_value_anywhere_is_found) {
  const double inf = std::numeric_limits<double>::infinity();
  const double bad_d[] = {inf, -inf, std::nan(""), -std::nan(""), std::numeric_limits<double>::signaling_NaN()};
  const float bad_f[] = {static_cast<float>(inf), -static_cast<float>(inf), std::nanf(""), -std::nanf("")};
  std::vector<double> x(longest + 3);
  std::vector<float> u(longest + 3);
  for (std::size_t n = 0; n <= longest; ++n) {
    std::fill(x.begin(), x.end(), std::numeric_limits<double>::max());
    std::fill(u.begin(), u.end(), -std::numeric_limits<float>::max());
    x[1] = std::numeric_limits<double>::denorm_min();
    x[1 + n] = inf;  // just beyond the end
    u[1 + n] = static_cast<float>(inf);
    EXPECT_TRUE(k().finite_d(x.data() + 1, n));
    EXPECT_TRUE(k().finite_f(u.data() + 1, n));
    for (std::size_t j = 0; j < n; ++j) {
      const double kept_d = x[1 + j];
      const float kept_f = u[1 + j];
      for (const double bad : bad_d) {
        x[1 + j] = bad;
        EXPECT_FALSE(k().finite_d(x.data() + 1, n)) << n << " " << j;
      }
      for (const float bad : bad_f) {
        u[1 + j] = bad;
        EXPECT_FALSE(k().finite_f(u.data() + 1, n)) << n << " " << j;
      }
      x[1 + j] = kept_d;
      u[1 + j] = kept_f;
    }
  }
}

TEST(SimdLoops, the_best_set_is_chosen_once) {
  const KernelList list = available_kernels();
  ASSERT_GE(list.count, 1);
  EXPECT_STREQ(list.items[0]->name, "baseline");
  EXPECT_EQ(&simd(), list.items[list.count - 1]);
}

INSTANTIATE_TEST_SUITE_P(On, KernelSet, ::testing::Range(0, available_kernels().count),
                         [](const auto& info) { return std::string(available_kernels().items[info.param]->name); });

}  // namespace
}  // namespace margin
