// MarginCheck: true for any pair of vectors, one pass equals merged passes, and it refuses what proves nothing.
#include <gtest/gtest.h>

#include "core/certificate/l2_margin.hpp"
#include "margin_problems.hpp"

namespace margin {
namespace {

using namespace reference;

MarginCheck run_check(const Rows& rows, const Dataset& data, const Weights& w, const Eigen::VectorXd* b, bool intercept,
                      const Weights* q, int from, int to) {
  MarginCheck check(rows.classes, data.dimensions(), w.data(), b != nullptr ? b->data() : nullptr, intercept,
                    q != nullptr);
  for (int i = from; i < to; ++i) check.add(data.row(i), rows.y[at(i)], q != nullptr ? q->row(i).data() : nullptr);
  return check;
}

TEST(MarginCheck, any_vectors_enclose_the_maximum_margin) {
  for (std::uint64_t seed = 0; seed < 80; ++seed)
    for (const bool intercept : {true, false}) {
      const Rows rows = random_rows(static_cast<Family>(seed % 7), 500 + seed, seed % 2 == 0 ? 2 : 3);
      const std::optional<Margin> known = maximum_margin(rows, intercept);
      ASSERT_TRUE(known.has_value());
      const Dataset data = make_dataset(rows);
      Random random(seed);
      for (int trial = 0; trial < 20; ++trial) {
        Weights w(rows.outputs(), rows.dimensions()), q(rows.count(), rows.outputs());
        for (Eigen::Index i = 0; i < w.size(); ++i) w.data()[i] = gaussian(random);
        for (Eigen::Index i = 0; i < q.size(); ++i) q.data()[i] = random.below(2) == 0 ? 0.0 : random.uniform();
        Eigen::VectorXd b(rows.outputs());
        for (Eigen::Index o = 0; o < b.size(); ++o) b(o) = intercept ? gaussian(random) : 0.0;
        const MarginCheck check = run_check(rows, data, w, &b, intercept, &q, 0, rows.count());
        EXPECT_LE(check.lower(), model_margin(rows, w, b));
        EXPECT_LE(check.lower(), known->upper);
        EXPECT_GE(check.upper(), known->lower);
        EXPECT_LE(check.lower(), check.upper());
        EXPECT_GE(check.radius(), rows.radius());
      }
    }
}

TEST(MarginCheck, merged_parts_equal_one_pass) {
  const Rows rows = gaussian_rows(17, 60, 5, 0.1, 3);
  const Dataset data = make_dataset(rows);
  Random random(1);
  Weights w(3, 5), q(60, 3);
  for (Eigen::Index i = 0; i < w.size(); ++i) w.data()[i] = gaussian(random);
  for (Eigen::Index i = 0; i < q.size(); ++i) q.data()[i] = random.uniform();
  // The state that travels between parallel workers carries the primal side.
  const MarginCheck whole = run_check(rows, data, w, nullptr, false, &q, 0, 60);
  MarginCheck parts = run_check(rows, data, w, nullptr, false, nullptr, 0, 23);
  EXPECT_TRUE(parts.merge(run_check(rows, data, w, nullptr, false, &q, 23, 24).state()));
  EXPECT_TRUE(parts.merge(run_check(rows, data, w, nullptr, false, nullptr, 24, 60).state()));
  EXPECT_EQ(whole.lower(), parts.lower());
  EXPECT_EQ(whole.smallest_score(), parts.smallest_score());
  EXPECT_EQ(whole.rows(), parts.rows());
  EXPECT_EQ(whole.errors(), parts.errors());
  EXPECT_EQ(whole.radius(), parts.radius());
  EXPECT_FALSE(parts.merge({60, 0, 1}));
  EXPECT_FALSE(parts.merge({1, 2, 0, 1}));  // more errors than rows
  EXPECT_FALSE(parts.merge({-1, 0, 0, 1}));
  EXPECT_EQ(parts.rows(), 60);
}

TEST(MarginCheck, proves_nothing_without_valid_dual_weights) {
  const Rows rows = simplex(3);
  const Dataset data = make_dataset(rows);
  const Weights w = Weights::Identity(3, 3);
  EXPECT_TRUE(std::isinf(run_check(rows, data, w, nullptr, true, nullptr, 0, 6).upper()));
  const Weights none = Weights::Zero(6, 3);
  EXPECT_TRUE(std::isinf(run_check(rows, data, w, nullptr, true, &none, 0, 6).upper()));
  Weights one_way = none;
  one_way(0, 1) = 1;  // class 0 against 1, and nothing comes back
  EXPECT_TRUE(std::isinf(run_check(rows, data, w, nullptr, true, &one_way, 0, 6).upper()));
  EXPECT_FALSE(std::isinf(run_check(rows, data, w, nullptr, false, &one_way, 0, 6).upper()));
  one_way(2, 0) = 1;
  EXPECT_NEAR(run_check(rows, data, w, nullptr, true, &one_way, 0, 6).upper(), 1.0, 1e-14);  // ½‖(e0−e1, e1−e0)‖

  const Rows two = {{{1, 0}, {0, 1}}, {0, 1}};
  const Dataset pair = make_dataset(two);
  const Weights v = Weights::Ones(1, 2);
  Weights lonely = Weights::Zero(2, 1);
  lonely(0, 0) = 1;
  EXPECT_TRUE(std::isinf(run_check(two, pair, v, nullptr, true, &lonely, 0, 2).upper()));
  EXPECT_NEAR(run_check(two, pair, v, nullptr, false, &lonely, 0, 2).upper(), 1.0, 1e-14);
}

TEST(MarginCheck, zero_weights_and_no_rows) {
  const Rows rows = {{{1, 0}, {0, 1}}, {0, 1}};
  const Dataset data = make_dataset(rows);
  const Weights w = Weights::Zero(1, 2);
  EXPECT_EQ(run_check(rows, data, w, nullptr, true, nullptr, 0, 2).lower(), 0.0);
  EXPECT_EQ(run_check(rows, data, w, nullptr, true, nullptr, 0, 0).lower(), -std::numeric_limits<double>::infinity());
}

// Weights balanced only to rounding let a little of the intercepts through; the upper bound must pay for it.
TEST(MarginCheck, small_imbalance_is_paid_for) {
  const Rows rows = {{{-2, 1}, {0, 1}, {2.5, 1}, {-3, 0.5}, {0.25, 2}}, {0, 1, 2, 0, 1}, 3};
  const std::optional<Margin> known = maximum_margin(rows, true);
  ASSERT_TRUE(known.has_value());
  const Dataset data = make_dataset(rows);
  const Model m = fit(data, hard("cutting_plane", true, 1e-10));
  const Weights& q = *m.dual_weights;
  int tried = 0;
  for (Eigen::Index i = 0; i < q.rows(); ++i)
    for (Eigen::Index c = 0; c < 3; ++c) {
      if (q(i, c) == 0) continue;
      Weights moved = q;
      moved(i, c) += 9e-10 * q.sum();
      EXPECT_GE(run_check(rows, data, m.weights, nullptr, true, &moved, 0, 5).upper(), known->lower);
      ++tried;
    }
  EXPECT_GE(tried, 4);
}

TEST(Certify, falls_back_on_the_radius_without_dual_weights) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    Rows rows;
    std::vector<double> x = gaussian_row(random, 1 + static_cast<int>(seed) * 7);
    rows.add(x, 1);
    for (double& v : x) v = -v;
    rows.add(x, 0);  // the margin is the radius itself
    const Dataset data = make_dataset(rows);
    const Options s = hard("auto", seed % 2 == 0, 1e-3);
    const Problem p = make_problem(data, s);
    const Eigen::Map<const Eigen::RowVectorXd> w(rows.x[0].data(), rows.dimensions());
    const Certificate c = certify(p, w, Eigen::VectorXd::Zero(1), Weights());
    EXPECT_LE(c.lower, rows.radius());
    EXPECT_GE(c.upper, rows.radius());
    EXPECT_LE(c.relative_gap, 1e-10);
    EXPECT_EQ(c.support, 0);
  }
}

}  // namespace
}  // namespace margin
