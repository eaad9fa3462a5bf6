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

/// The learners of a model at a row of the problem: h(x).
std::vector<double> values_of(const Model& m, const Dataset& data, int row) {
  std::vector<double> h(at(static_cast<int>(m.basis->size())));
  m.basis->evaluate(data.row(row), h.data());
  return h;
}

/// What must hold of every model of trees or stumps, from its vectors alone: weights of norm 1, the margin that they have, and
/// an upper end that no stump can exceed under its row weights. Stumps are trees, too.
void check_boosted(const Rows& rows, const Dataset& data, const Options& s, const Model& m) {
  ASSERT_NE(m.basis, nullptr);
  ASSERT_EQ(m.weights.cols(), m.basis->size());
  ASSERT_TRUE(m.weights.allFinite() && m.intercept.allFinite());
  EXPECT_EQ(m.learners(), s.learners);
  EXPECT_EQ(m.solver, "boosting");
  const double lower = m.certificate.lower, upper = m.certificate.upper;
  EXPECT_LE(lower, upper);
  EXPECT_LE(upper, 1.0);
  Real least = 2;
  double bound = 1;
  for (Eigen::Index o = 0; o < m.weights.rows(); ++o) {
    const Real norm = m.weights.row(o).cast<Real>().cwiseAbs().sum();
    if (norm > 0) {
      EXPECT_NEAR(static_cast<double>(norm), 1.0, 1e-12);
    }
    Eigen::VectorXd v(rows.count());
    double mass[2] = {0, 0};
    for (int i = 0; i < rows.count(); ++i) {
      const bool own = rows.classes == 2 ? rows.y[at(i)] == 1 : rows.y[at(i)] == o;
      const std::vector<double> h = values_of(m, data, i);
      Real score = static_cast<Real>(m.intercept(o));
      for (std::size_t j = 0; j < h.size(); ++j)
        score += static_cast<Real>(m.weights(o, static_cast<Eigen::Index>(j))) * static_cast<Real>(h[j]);
      if (norm > 0) least = std::min(least, own ? score : -score);  // weights of 0 stand for the margin 0
      const double q = (*m.dual_weights)(i, o);
      EXPECT_GE(q, 0);
      mass[own ? 1 : 0] += q;
      v(i) = own ? q : -q;
    }
    const bool proof = s.intercept ? mass[0] > 0 && mass[1] > 0 : mass[0] + mass[1] > 0;
    if (!proof) continue;
    for (int i = 0; i < rows.count(); ++i) v(i) /= s.intercept ? 2 * mass[v(i) > 0 ? 1 : 0] : mass[0] + mass[1];
    double edge = 0;
    if (rows.dimensions() <= 100)
      for (const std::vector<double>& h : all_sides(rows))
        if (std::count(h.begin(), h.end(), 1.0) % rows.count() != 0)  // of both signs
          edge = std::max(edge, std::fabs(v.dot(Eigen::Map<const Eigen::VectorXd>(h.data(), v.size()))));
    bound = std::min(bound, edge);
  }
  EXPECT_LE(lower, least);
  if (least <= 1) {
    EXPECT_LE(least - lower, 1e-12L);
  }
  EXPECT_GE(upper, bound - 1e-15);
  if (m.status == Status::optimal) {
    EXPECT_TRUE(m.certificate.relative_gap <= s.tolerance || m.certificate.gap <= s.gap_tolerance);
  }
  if (m.status == Status::not_separable) {
    EXPECT_LE(upper, 1e-9);
    EXPECT_LE(lower, 0);
  }
}

/// The values of all learners as features: the exact margin by the linear program, where there are few of them.
std::optional<Model> exact_margin(const Rows& rows, Learners learners, bool intercept) {
  if (rows.count() > 11 || rows.dimensions() > 2) return std::nullopt;
  Rows values;
  values.classes = rows.classes;
  for (int i = 0; i < rows.count(); ++i) values.add({}, rows.y[at(i)]);
  if (learners == Learners::trees) {
    for (const std::vector<double>& h : all_trees(rows))
      for (int i = 0; i < rows.count(); ++i) values.x[at(i)].push_back(h[at(i)]);
  } else {
    for (const std::vector<double>& h : all_sides(rows))
      if (std::count(h.begin(), h.end(), 1.0) % rows.count() != 0)
        for (int i = 0; i < rows.count(); ++i) values.x[at(i)].push_back(h[at(i)]);
  }
  if (values.dimensions() == 0) return std::nullopt;
  Options exact = boosted(Learners::features, intercept, 1e-9);
  exact.solver = "linear_program";
  return fit(make_dataset(values), exact);
}

class LearnersConformance : public ::testing::TestWithParam<Named> {};

TEST_P(LearnersConformance, every_step_encloses_the_same_margin) {
  const Rows& rows = GetParam().rows;
  const Dataset data = make_dataset(rows);
  const bool wide = rows.dimensions() > 1000;  // where a search of all trees takes seconds
  for (const Learners learners : {Learners::stumps, Learners::trees})
    for (const bool intercept : {true, false}) {
      if (wide && learners == Learners::trees) continue;
      const std::optional<Model> exact = exact_margin(rows, learners, intercept);
      double highest = -2, lowest = 2;
      for (const Step step : {Step::quadratic, Step::wolfe, Step::adaboost, Step::optimal, Step::frank_wolfe})
        for (const char* loss : {"exponential", "logistic"}) {
          if (step == Step::frank_wolfe && loss != std::string("exponential")) continue;
          SCOPED_TRACE(std::string(learners == Learners::trees ? "trees" : "stumps") +
                       (intercept ? ", intercept" : "") + ", step " + std::to_string(static_cast<int>(step)) + ", " +
                       loss);
          Options s = boosted(learners, intercept, 1e-2);
          s.step = step;
          s.loss = loss;
          s.max_iterations = wide ? 5 : 40;
          if (step == Step::frank_wolfe) s.gap_tolerance = 0.1;
          const Model m = fit(data, s);
          check_boosted(rows, data, s, m);
          EXPECT_LE(m.iterations, *s.max_iterations * m.weights.rows());
          highest = std::max(highest, m.certificate.lower);
          lowest = std::min(lowest, m.certificate.upper);
          if (!exact) continue;
          EXPECT_LE(m.certificate.lower, exact->certificate.upper + 1e-12);
          EXPECT_GE(m.certificate.upper, exact->certificate.lower - 1e-12);
        }
      EXPECT_LE(highest, lowest) << "no margin is in all intervals";
    }
}

std::string problem_name(const ::testing::TestParamInfo<Named>& info) {
  std::string name = info.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(All, LearnersConformance, ::testing::ValuesIn(named_problems()), problem_name);

}  // namespace
}  // namespace margin
