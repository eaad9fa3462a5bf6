// The hard core against its definition, by enumeration: of small whole numbers, in two and three dimensions.
#include "core/train/hard_core.hpp"

#include <gtest/gtest.h>

#include <array>

#include "core/base/error.hpp"
#include "margin_problems.hpp"

namespace margin {
namespace {

using namespace reference;
using Vector3 = std::array<double, 3>;

Vector3 cross(const Vector3& a, const Vector3& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
double dot(const Vector3& a, const Vector3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/// Who is on the core. The w that err nowhere are a cone, which rays that are orthogonal to pairs of rows span, or to one
/// row where the rows lie in a plane or on a line; all are whole numbers, so nothing rounds.
std::vector<bool> core_of(const std::vector<Vector3>& z) {
  std::vector<Vector3> rays;
  for (const Vector3& a : z) {
    rays.push_back(a);
    for (const Vector3& b : z) {
      const Vector3 normal = cross(a, b);
      rays.push_back(normal);
      rays.push_back(cross(normal, a));
    }
  }
  std::vector<bool> on(z.size(), true);
  for (const Vector3& ray : rays)
    for (const double sign : {1.0, -1.0}) {
      bool errs = false;
      for (const Vector3& each : z) errs |= sign * dot(each, ray) < 0;
      if (errs) continue;
      for (std::size_t i = 0; i < z.size(); ++i)
        if (sign * dot(z[i], ray) > 0) on[i] = false;
    }
  return on;
}

TEST(HardCore, is_that_of_the_definition) {
  int with_core = 0, without = 0, all = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const int n = 3 + static_cast<int>(random.below(6));
    const bool plane = seed % 3 == 0;
    Rows rows;
    std::vector<Vector3> z;
    for (int i = 0; i < n; ++i) {
      Vector3 x;
      for (double& value : x) value = static_cast<double>(random.below(5)) - 2;
      if (plane) x[2] = 0;
      const int label = i < 2 ? i : static_cast<int>(random.below(2));
      rows.add({x[0], x[1], x[2]}, label);
      for (double& value : x) value *= label == rows.y[0] ? 1 : -1;
      z.push_back(x);
    }
    const std::vector<bool> expected = core_of(z);
    const std::vector<double> q = hard_core(make_dataset(rows), {});
    ASSERT_EQ(q.size(), z.size());
    double sum = 0;
    Vector3 combination{};
    for (std::size_t i = 0; i < z.size(); ++i) {
      EXPECT_GE(q[i], 0);
      sum += q[i];
      for (std::size_t k = 0; k < 3; ++k) combination[k] += q[i] * z[i][k];
    }
    const auto count = std::count(expected.begin(), expected.end(), true);
    for (std::size_t i = 0; i < z.size(); ++i) EXPECT_EQ(q[i] > 0, static_cast<bool>(expected[i])) << "row " << i;
    EXPECT_NEAR(sum, count > 0 ? 1 : 0, 1e-12);
    EXPECT_NEAR(std::sqrt(dot(combination, combination)), 0, 1e-9);
    ++(count == 0 ? without : count == n ? all : with_core);
  }
  EXPECT_GT(with_core, 30);
  EXPECT_GT(without, 30);
  EXPECT_GT(all, 10);
}

TEST(HardCore, is_one_of_two_classes) {
  Rows rows = simplex(3);
  EXPECT_THROW(hard_core(make_dataset(rows), {}), Error);
}

}  // namespace
}  // namespace margin
