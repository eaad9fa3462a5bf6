// Decision trees of depth 2: the search and the certificate's sweep against all trees, one by one; trainings against the linear
// program over all of them.
#include <gtest/gtest.h>

#include <set>

#include "core/base/error.hpp"
#include "core/certificate/stumps.hpp"
#include "core/certificate/tree_edges.hpp"
#include "core/data/ranked_columns.hpp"
#include "core/math/prefix_sums.hpp"
#include "core/solvers/l1_margin/tree_learners.hpp"
#include "margin_problems.hpp"

namespace margin {
namespace {

using namespace reference;

/// Rows whose columns have ties, zeros and a constant one among them.
Rows tied_rows(std::uint64_t seed, int n, int d) {
  Random random(seed);
  Rows rows;
  for (int i = 0; i < n; ++i) {
    std::vector<double> x(at(d));
    for (int j = 0; j < d; ++j)
      x[at(j)] = j == 1 && seed % 5 == 0 ? 3.0 : static_cast<double>(random.below(4 + 3 * at(j))) - 3;
    rows.add(x, i < 2 ? i : static_cast<int>(random.below(2)));
  }
  return rows;
}

/// What a side says, without a look at thresholds: one set of its rows is +1, the others −1.
std::vector<std::vector<double>> all_sides(const Rows& rows) {
  std::vector<std::vector<double>> sides = {std::vector<double>(at(rows.count()), 1.0)};
  for (int j = 0; j < rows.dimensions(); ++j)
    for (int a = 0; a < rows.count(); ++a) {
      std::vector<double> h;
      for (int i = 0; i < rows.count(); ++i) h.push_back(rows.x[at(i)][at(j)] > rows.x[at(a)][at(j)] ? 1 : -1);
      sides.push_back(std::move(h));
    }
  return sides;
}

/// All trees, each once, of the two signs one.
std::set<std::vector<double>> all_trees(const Rows& rows) {
  std::set<std::vector<double>> trees;
  const std::vector<std::vector<double>> sides = all_sides(rows);
  for (std::size_t s = 1; s < sides.size(); ++s) {
    if (std::count(sides[s].begin(), sides[s].end(), 1.0) == 0) continue;  // tells no rows apart
    for (const std::vector<double>& below : sides)
      for (const std::vector<double>& above : sides)
        for (const double sign : {1.0, -1.0}) {
          std::vector<double> h;
          for (int i = 0; i < rows.count(); ++i) h.push_back(sides[s][at(i)] > 0 ? above[at(i)] : sign * below[at(i)]);
          if (h[0] < 0)
            for (double& value : h) value = -value;
          trees.insert(std::move(h));
        }
  }
  return trees;
}

TEST(PrefixSums, are_those_of_the_list) {
  Random random(3);
  for (const std::size_t n : {1, 2, 3, 7, 8, 33}) {
    PrefixSums sums;
    sums.add(0, 5);  // reset forgets
    sums.reset(n, {});
    std::vector<double> list(n, 0.0);
    for (int step = 0; step < 100; ++step) {
      const std::size_t at = random.below(static_cast<std::uint32_t>(n));
      const double value = static_cast<double>(random.below(17)) - 8;
      sums.add(at, value);
      list[at] += value;
      double sum = 0, lowest = 0, highest = 0;
      for (const double each : list) {
        sum += each;
        lowest = std::min(lowest, sum);
        highest = std::max(highest, sum);
      }
      EXPECT_EQ(sums.sum(), sum);
      EXPECT_EQ(sums.lowest(), lowest);
      EXPECT_EQ(sums.highest(), highest);
    }
  }
}

TEST(RankedColumns, rank_the_values_of_each_column) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Rows rows = tied_rows(seed, 25, 4);
    for (const Storage storage : {Storage::doubles, Storage::sparse}) {
      const Dataset data = make_dataset(rows, storage);
      const RankedColumns ranked(data, {});
      EXPECT_EQ(ranked.columns().size(), seed % 5 == 0 ? 3U : 4U);  // not the constant one
      for (const RankedColumns::Column& c : ranked.columns()) {
        for (std::size_t r = 1; r < c.values.size(); ++r) EXPECT_LT(c.values[r - 1], c.values[r]);
        for (int i = 0; i < rows.count(); ++i) EXPECT_EQ(c.values[c.ranks[at(i)]], rows.x[at(i)][at(c.feature)]);
        std::set<std::uint32_t> seen(c.order.begin(), c.order.end());
        EXPECT_EQ(seen.size(), at(rows.count()));
        for (std::size_t k = 1; k < c.order.size(); ++k) EXPECT_LE(c.ranks[c.order[k - 1]], c.ranks[c.order[k]]);
      }
    }
  }
}

TEST(Trees, the_best_one_is_found_and_swept) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    const Rows rows = tied_rows(seed, 11, 3);
    const std::set<std::vector<double>> trees = all_trees(rows);
    Random random(seed);
    Eigen::VectorXd v(rows.count());
    for (double& value : v) value = random.below(4) == 0 ? 0 : gaussian(random);
    double expected = 0;
    for (const std::vector<double>& h : trees)
      expected = std::max(expected, std::fabs(v.dot(Eigen::Map<const Eigen::VectorXd>(h.data(), v.size()))));
    for (const Storage storage : {Storage::doubles, Storage::sparse}) {
      const Dataset data = make_dataset(rows, storage);
      const Progress progress;
      EXPECT_NEAR(largest_tree_edge(RankedColumns(data, progress), v, progress), expected, 1e-12);
      TreeLearners learners(data, progress);
      const WeakLearners::Best best = learners.best(v, progress);
      EXPECT_NEAR(best.edge, expected, 1e-12);
      EXPECT_EQ(learners.best(v, progress).learner, best.learner);  // known by now
      EXPECT_EQ(learners.size(), 1U);
      Eigen::VectorXd h(rows.count());
      learners.values(best.learner, 4, rows.count(), h.data());
      learners.values(best.learner, 0, 4, h.data());
      EXPECT_NEAR(v.dot(h), expected, 1e-12);
      const auto basis = learners.basis({best.learner}, data.dimensions());
      for (int i = 0; i < rows.count(); ++i) {
        double value;
        basis->evaluate(data.row(i), &value);
        EXPECT_EQ(value, h(i));
      }
    }
  }
}

Options boosted(Learners learners, bool intercept, double tolerance) {
  Options s;
  s.norm = 1;
  s.learners = learners;
  s.intercept = intercept;
  s.tolerance = tolerance;
  s.dual_weights = true;
  return s;
}

TEST(Trees, tell_a_checkerboard_apart_that_stumps_do_not) {
  Rows rows;
  for (int i = 0; i < 16; ++i) rows.add({i % 4 + 0.25, i / 4 + 0.5}, (i % 4 < 2) == (i / 4 < 2) ? 1 : 0);
  for (const bool intercept : {false, true}) {
    const Model m = fit(make_dataset(rows), boosted(Learners::trees, intercept, 1e-6));
    EXPECT_EQ(m.status, Status::optimal);
    EXPECT_EQ(m.learners(), Learners::trees);
    EXPECT_EQ(m.basis->size(), 1);
    EXPECT_NEAR(m.certificate.lower, 1, 1e-12);
    Options s = boosted(Learners::stumps, intercept, 1e-6);
    s.max_iterations = 100;
    EXPECT_EQ(fit(make_dataset(rows), s).status, Status::not_separable);
  }
}

TEST(Trees, the_interval_holds_the_margin_of_all_trees) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed)
    for (const bool intercept : {false, true}) {
      SCOPED_TRACE(std::to_string(seed) + (intercept ? " with intercept" : " without"));
      const Rows rows = tied_rows(seed, 9, 2);
      Rows values;
      for (int i = 0; i < rows.count(); ++i) values.add({}, rows.y[at(i)]);
      for (const std::vector<double>& h : all_trees(rows))
        for (int i = 0; i < rows.count(); ++i) values.x[at(i)].push_back(h[at(i)]);
      Options exact = boosted(Learners::features, intercept, 1e-9);
      exact.solver = "linear_program";
      const Model best = fit(make_dataset(values), exact);
      Options s = boosted(Learners::trees, intercept, 0.05);
      s.max_iterations = 3000;
      const Model m = fit(make_dataset(rows), s);
      EXPECT_LE(m.certificate.lower, best.certificate.upper + 1e-12);
      EXPECT_GE(m.certificate.upper, best.certificate.lower - 1e-12);
      EXPECT_LE(m.certificate.lower, m.certificate.upper);
      if (best.status == Status::optimal) {
        EXPECT_EQ(m.status, Status::optimal);
      }
    }
}

/// Dual weights that a poor search ends with prove no more than they do of all trees.
TEST(Trees, a_tree_that_no_search_found_is_inside_of_the_interval) {
  Rows rows;
  for (int i = 0; i < 16; ++i) rows.add({i % 4 + 0.25, i / 4 + 0.5}, (i % 4 < 2) == (i / 4 < 2) ? 1 : 0);
  const Dataset data = make_dataset(rows);
  const Problem p = make_problem(data, boosted(Learners::trees, false, 1e-3));
  const StumpBasis poor({Tree{{0, 0.5}}}, 2, 2);
  const Weights dual = Weights::Constant(16, 1, 1.0);
  const Certificate c = certify_stumps(p, poor, Weights::Ones(1, 1), Eigen::VectorXd::Zero(1), dual);
  EXPECT_GE(c.upper, 1 - 1e-12);
  EXPECT_LE(c.lower, 0);
  // As stumps the same weights prove that there is no margin.
  const StumpBasis stumps(std::vector<Stump>{{0, 0.5}}, 2);
  EXPECT_LE(certify_stumps(p, stumps, Weights::Ones(1, 1), Eigen::VectorXd::Zero(1), dual).upper, 1e-12);
}

TEST(Trees, are_refused_where_a_search_of_them_all_takes_too_long) {
  Rows rows;
  for (int i = 0; i < 64; ++i) rows.add(std::vector<double>(4000, i % 7 + 1), i % 2);
  try {
    fit(make_dataset(rows), boosted(Learners::trees, true, 1e-3));
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::unsupported);
    EXPECT_NE(e.message().find("4000 features of 64 rows"), std::string::npos) << e.message();
    EXPECT_FALSE(e.hint().empty());
  }
}

}  // namespace
}  // namespace margin
