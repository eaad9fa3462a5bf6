// The point of least norm in the hull of a working set: feasible, optimal by its own conditions, and the enumerated
// one.
#include "core/solvers/l2_margin/min_norm_point.hpp"

#include <gtest/gtest.h>

#include "core/math/norm.hpp"
#include "margin_problems.hpp"

namespace margin {
namespace {

using namespace reference;

const Progress quiet;

/// A problem with a working set of all its pairs, in units where the largest row has norm ≤ 1.
struct Hull {
  Hull(const Rows& given, bool intercept)
      : rows(given),
        data(make_dataset(given)),
        problem(make_problem(data, hard("cutting_plane", intercept, 1e-3))),
        scale(unit_scale(data.radius())),
        working_set(problem, scale) {
    for (int i = 0; i < rows.count(); ++i)
      for (std::int32_t c = 0; c < rows.classes; ++c)
        if (c != rows.y[at(i)]) working_set.add({i, rows.y[at(i)], c});
  }
  Rows rows;
  Dataset data;
  Problem problem;
  double scale;
  WorkingSet working_set;
};

/// scale · z of a pair as one long vector, from the rows.
RealVector pair_vector(const Hull& h, const Pair& p) {
  const int d = h.rows.dimensions();
  RealVector z = RealVector::Zero(h.rows.outputs() * d);
  for (int j = 0; j < d; ++j) {
    const Real v = static_cast<Real>(h.scale) * static_cast<Real>(h.rows.x[static_cast<std::size_t>(p.row)][at(j)]);
    if (h.rows.classes == 2) {
      z(j) = p.own == 1 ? v : -v;
    } else {
      z(p.own * d + j) = v;
      z(p.rival * d + j) = -v;
    }
  }
  return z;
}

/// Feasible weights, no working set pair below what the multipliers say, members exactly there.
void check_optimal(const Hull& h, MinNormPoint& hull, double tolerance, double room) {
  const Weights w = hull.primal();
  const auto& members = hull.members();
  ASSERT_EQ(hull.weights().size(), static_cast<Eigen::Index>(members.size()));
  EXPECT_GE(hull.weights().minCoeff(), 0.0);
  RealVector sum = RealVector::Zero(w.size()), balance = RealVector::Zero(h.rows.classes), mass = balance;
  for (std::size_t m = 0; m < members.size(); ++m) {
    const Pair& p = h.working_set.pair(members[m]);
    const Real q = hull.weights()(static_cast<Eigen::Index>(m));
    sum += q * pair_vector(h, p);
    mass(p.own) += q;
    balance(p.own) += q;
    balance(p.rival) -= q;
  }
  EXPECT_NEAR(static_cast<double>(mass.sum()), 1.0, 1e-13);
  if (h.problem.intercept) {
    EXPECT_LE(balance.cwiseAbs().maxCoeff(), 1e-13L);
  }
  const Eigen::Map<const Eigen::VectorXd> flat(w.data(), w.size());
  EXPECT_LE((sum - flat.cast<Real>()).norm(), 1e-14L);
  EXPECT_NEAR(hull.squared_norm(), flat.squaredNorm(), room);
  for (Eigen::Index j = 0; j < h.working_set.size(); ++j) {
    const Pair& p = h.working_set.pair(j);
    const double product = static_cast<double>(pair_vector(h, p).dot(flat.cast<Real>()));
    EXPECT_NEAR(h.working_set.product(j, w), product, 1e-14);
    EXPECT_GE(hull.reduced(p, product), -tolerance * flat.squaredNorm() - room);
  }
  for (std::size_t m = 0; m < members.size(); ++m) {
    if (hull.weights()(static_cast<Eigen::Index>(m)) < 1e-9) continue;
    const Pair& p = h.working_set.pair(members[m]);
    EXPECT_NEAR(hull.reduced(p, h.working_set.product(members[m], w)), 0.0, room);
  }
}

class HullOf : public ::testing::TestWithParam<int> {};

TEST_P(HullOf, random_pools_meet_the_conditions_and_the_enumerated_norm) {
  const int classes = GetParam();
  for (std::uint64_t seed = 0; seed < 70; ++seed)
    for (const bool intercept : {true, false}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + (intercept ? " with intercept" : ""));
      const Rows rows = random_rows(static_cast<Family>(seed % 7), 300 + seed, classes);
      const std::optional<Margin> known = maximum_margin(rows, intercept);
      ASSERT_TRUE(known.has_value());
      const Hull h(rows, intercept);
      for (const auto precision : {MinNormPoint::Precision::gram, MinNormPoint::Precision::rows}) {
        MinNormPoint hull(h.problem, h.working_set, precision, quiet);
        const MinNormPoint::Ending outcome = hull.solve(1e-10);
        if (known->upper > 0) {  // around 0 nothing but rounding is left, and it may say so
          EXPECT_EQ(outcome, MinNormPoint::Ending::optimal);
        }
        check_optimal(h, hull, 1e-10, 1e-13);
        EXPECT_NEAR(hull.primal().norm(), static_cast<double>(known->upper) * h.scale, 1e-9);
      }
    }
}

TEST_P(HullOf, larger_pools_meet_the_conditions) {
  const int classes = GetParam();
  for (const bool intercept : {true, false})
    for (const int n : {30, 150}) {
      const Hull h(gaussian_rows(31, n, 12, 0.05, classes), intercept);
      MinNormPoint quick(h.problem, h.working_set, MinNormPoint::Precision::gram, quiet);
      MinNormPoint careful(h.problem, h.working_set, MinNormPoint::Precision::rows, quiet);
      EXPECT_EQ(quick.solve(1e-12), MinNormPoint::Ending::optimal);
      EXPECT_EQ(careful.solve(1e-12), MinNormPoint::Ending::optimal);
      check_optimal(h, quick, 1e-12, 1e-13);
      check_optimal(h, careful, 1e-12, 1e-13);
      EXPECT_NEAR(quick.primal().norm(), careful.primal().norm(), 1e-12);
    }
}

// Nearly all pairs are members here: more than enter one by one.
TEST_P(HullOf, thousands_of_members_meet_the_conditions) {
  const int classes = GetParam();
  for (const bool intercept : {true, false})
    for (const int d : {900, 1500}) {
      const Hull h(gaussian_rows(33, 1200 / (classes - 1), d, 0.0, classes), intercept);
      MinNormPoint hull(h.problem, h.working_set, MinNormPoint::Precision::gram, quiet);
      EXPECT_EQ(hull.solve(1e-10), MinNormPoint::Ending::optimal);
      EXPECT_GT(hull.members().size(), std::size_t{512});
      check_optimal(h, hull, 1e-10, 1e-13);
    }
}

INSTANTIATE_TEST_SUITE_P(Classes, HullOf, ::testing::Values(2, 3), ::testing::PrintToStringParamName());

TEST(Hull, a_pool_that_grows_between_solves) {
  const Rows rows = gaussian_rows(41, 80, 6, 0.1);
  const Dataset data = make_dataset(rows);
  const Problem problem = make_problem(data, hard("cutting_plane", true, 1e-3));
  WorkingSet working_set(problem, unit_scale(data.radius()));
  MinNormPoint hull(problem, working_set, MinNormPoint::Precision::gram, quiet);
  double last = 1e300;
  bool both[2] = {false, false};
  for (int i = 0; i < 80; ++i) {
    EXPECT_TRUE(working_set.add({i, rows.y[at(i)], 1 - rows.y[at(i)]}));
    EXPECT_FALSE(working_set.add({i, rows.y[at(i)], 1 - rows.y[at(i)]}));
    both[rows.y[at(i)]] = true;
    if (!both[0] || !both[1]) continue;
    hull.solve(1e-12);
    const double norm = hull.primal().norm();
    EXPECT_LE(norm, last + 1e-12);  // a larger hull is nearer to 0
    last = norm;
  }
  const Model m = fit(data, hard("cutting_plane", true, 1e-9));
  EXPECT_NEAR(last / unit_scale(data.radius()), m.certificate.upper, 1e-8);
}

TEST(Hull, a_margin_that_the_gram_matrix_cannot_see) {
  for (const bool intercept : {true, false}) {
    const Hull h(thin(1e-8), intercept);
    MinNormPoint careful(h.problem, h.working_set, MinNormPoint::Precision::rows, quiet);
    careful.solve(1e-10);
    EXPECT_NEAR(careful.primal().norm() / h.scale, 1e-8, 1e-14);
    const Eigen::MatrixXd w = careful.primal();
    EXPECT_NEAR(std::fabs(w(0, 0)) / w.norm(), 1.0, 1e-9);
  }
}

TEST(WorkingSet, inner_products_of_pairs_follow_the_formula) {
  for (const int classes : {2, 4}) {
    const Hull h(gaussian_rows(51, 12, 5, 0.0, classes), false);
    const std::vector<Eigen::Index> members = {0, 3, 7, 8};
    const Eigen::VectorXd q = Eigen::Vector4d(0.5, 0.25, 0.125, 0.125);
    const Eigen::VectorXd products = h.working_set.products(members, q);
    const Weights w = h.working_set.combine(members, q), exact = h.working_set.combine_exactly(members, q);
    EXPECT_LE((w - exact).norm(), 1e-15);
    RealVector sum = RealVector::Zero(w.size());
    for (std::size_t m = 0; m < members.size(); ++m)
      sum += static_cast<Real>(q(static_cast<Eigen::Index>(m))) * pair_vector(h, h.working_set.pair(members[m]));
    for (Eigen::Index i = 0; i < h.working_set.size(); ++i) {
      const RealVector z = pair_vector(h, h.working_set.pair(i));
      EXPECT_LE((h.working_set.expand(i).cast<Real>() - z).norm(), 1e-16L);
      EXPECT_NEAR(products(i), static_cast<double>(z.dot(sum)), 1e-15);
      EXPECT_NEAR(h.working_set.product(i, w), static_cast<double>(z.dot(sum)), 1e-15);
      for (Eigen::Index j = 0; j < h.working_set.size(); ++j)
        EXPECT_NEAR(h.working_set.gram(i, j), static_cast<double>(z.dot(pair_vector(h, h.working_set.pair(j)))), 1e-15);
    }
  }
}

TEST(Hull, polling_may_throw) {
  const Hull h(gaussian_rows(61, 60, 8, 0.1), true);
  struct Cancelled {};
  struct Cancel : Progress {
    explicit Cancel(int polls) : Progress(0), left(polls) {}
    void poll() const override {
      if (--left == 0) throw Cancelled();
    }
    mutable int left;
  };
  for (const int most : {1, 2, 5}) {
    const Cancel cancel(most);
    MinNormPoint hull(h.problem, h.working_set, MinNormPoint::Precision::gram, cancel);
    EXPECT_THROW(hull.solve(1e-12), Cancelled);
  }
}

}  // namespace
}  // namespace margin
