// Wide rows of which few columns are in use, against the same rows with these columns alone.
#include "core/train/compaction.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/error.hpp"
#include "core/base/random.hpp"
#include "core/certificate/ball.hpp"
#include "core/certificate/interpolation.hpp"
#include "core/certificate/l2_margin.hpp"
#include "core/certificate/lp_margin.hpp"
#include "core/certificate/risk.hpp"
#include "core/data/column_map.hpp"
#include "core/data/stump_basis.hpp"
#include "core/model/column_space.hpp"
#include "core/train/path.hpp"
#include "core/train/train.hpp"
#include "label_of.hpp"

namespace margin {
namespace {

constexpr std::int32_t width = 20000, in_use = 30;

std::int32_t wide_column(std::int32_t narrow) { return 5 + narrow * 641; }

/// The same rows twice: over `width` columns, and over the 30 that have values. At most 5 of them in a row, so that
/// both are stored as indices and values.
struct Twins {
  Dataset wide, narrow;

  explicit Twins(Dataset::Outcome outcome) : wide(outcome), narrow(outcome) {}

  void add(const std::vector<std::int32_t>& columns, const std::vector<double>& values, double outcome) {
    std::vector<std::int32_t> spread;
    for (const std::int32_t j : columns) spread.push_back(wide_column(j));
    const auto n = static_cast<std::int32_t>(columns.size());
    const bool interval = wide.outcome() == Dataset::Outcome::intervals;
    const Label label = interval ? Label(outcome, outcome + 0.25) : testing::label_of(wide, outcome);
    wide.append(sparse_row(spread.data(), values.data(), n, width), label);
    narrow.append(sparse_row(columns.data(), values.data(), n, in_use), label);
  }
};

Twins make_twins(std::uint64_t seed, Dataset::Outcome outcome, int classes = 2, int rows = 150,
                 bool separable = false) {
  Twins t(outcome);
  for (int c = 0; c < classes && outcome == Dataset::Outcome::classes; ++c)
    for (Dataset* data : {&t.wide, &t.narrow}) data->classes().intern(std::to_string(c), c);
  Random random(seed);
  for (int i = 0; i < rows; ++i) {
    std::set<std::int32_t> chosen{i % in_use};
    for (int k = 0; k < 4; ++k) chosen.insert(static_cast<std::int32_t>(random.below(in_use)));
    std::vector<double> values;
    double target = separable ? 0 : random.uniform() - 0.5;
    for (const std::int32_t j : chosen) {
      values.push_back(random.uniform() * 2 - 1);
      target += values.back() * std::cos(j + 1.0);
    }
    double y = target;
    if (outcome == Dataset::Outcome::classes)
      y = std::min(classes - 1.0, std::floor(classes / (1 + std::exp(-4 * target))));
    t.add({chosen.begin(), chosen.end()}, values, y);
  }
  return t;
}

Options settings_of(std::optional<double> lambda, const std::string& loss = "") {
  Options s;
  s.lambda = lambda;
  s.loss = loss;
  s.dual_weights = true;
  return s;
}

/// Bit by bit: the solver saw the same rows.
void expect_same(const Model& wide, const Model& narrow) {
  EXPECT_EQ(wide.dimensions, width);
  EXPECT_EQ(wide.solver, narrow.solver);
  EXPECT_EQ(wide.status, narrow.status);
  ASSERT_EQ(wide.weights.cols(), narrow.weights.cols());
  EXPECT_EQ(wide.weights, narrow.weights);
  EXPECT_EQ(wide.intercept, narrow.intercept);
  EXPECT_EQ(wide.certificate.upper, narrow.certificate.upper);
  EXPECT_EQ(wide.certificate.lower, narrow.certificate.lower);
  ASSERT_EQ(wide.basis == nullptr, narrow.basis == nullptr);
  if (wide.basis != nullptr) return;
  ASSERT_EQ(wide.columns.size(), static_cast<std::size_t>(in_use));
  for (std::int32_t j = 0; j < in_use; ++j) EXPECT_EQ(wide.columns[static_cast<std::size_t>(j)], wide_column(j));
  EXPECT_TRUE(narrow.columns.empty());
}

/// Scores of the wide model for wide rows, sparse and dense, are those of the narrow one for narrow rows.
void expect_same_scores(const Twins& t, const Model& wide, const Model& narrow) {
  const Scorer a = scorer_of(wide), b = scorer_of(narrow);
  std::vector<double> x(static_cast<std::size_t>(a.outputs)), y(x), z(x);
  for (std::int64_t i = 0; i < 20; ++i) {
    const Row sparse = t.wide.row(i);
    std::vector<double> dense(width);
    for (std::int32_t k = 0; k < sparse.count; ++k)
      dense[static_cast<std::size_t>(sparse.indices[k])] = sparse.value(k);
    score(a, sparse, width, x.data());
    score(a, {dense.data(), nullptr, width, true}, width, z.data());
    score(b, t.narrow.row(i), in_use, y.data());
    for (std::size_t o = 0; o < x.size(); ++o) {
      EXPECT_NEAR(x[o], y[o], 1e-12 * (1 + std::fabs(y[o])));
      EXPECT_NEAR(z[o], y[o], 1e-12 * (1 + std::fabs(y[o])));
    }
  }
}

void compare(const Twins& t, const Options& wide, const Options& narrow) {
  Progress progress;
  const Model a = train(t.wide, wide, progress), b = train(t.narrow, narrow, progress);
  expect_same(a, b);
  expect_same_scores(t, a, b);
}

void compare(const Twins& t, const Options& s) { compare(t, s, s); }

TEST(ColumnMap, ranks_a_random_set_of_columns) {
  Random random(1);
  for (const std::int32_t d : {1, 64, 4096, 4097, 100000, 2147483647}) {
    ColumnMap map(d);
    std::set<std::int32_t> expected;
    for (int k = 0; k < 300; ++k) {
      const auto j =
          static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(k % 2 == 0 ? d : std::min(d, 500))));
      map.insert(j);
      expected.insert(j);
    }
    map.insert(d - 1);
    expected.insert(d - 1);
    map.rank();
    ASSERT_EQ(map.size(), static_cast<std::int32_t>(expected.size()));
    EXPECT_EQ(map.columns(), std::vector<std::int32_t>(expected.begin(), expected.end()));
    std::int32_t rank = 0;
    for (const std::int32_t j : expected) EXPECT_EQ(map[j], rank++);
    for (int k = 0; k < 300; ++k) {
      const auto j = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(d)));
      EXPECT_EQ(map[j] >= 0, expected.count(j) == 1);
    }
  }
}

TEST(Compaction, soft_margins_are_those_of_the_columns_in_use) {
  for (const char* loss : {"hinge", "smoothed_hinge", "squared_hinge", "logistic"})
    for (const int classes : {2, 3})
      for (const char* solver : {"auto", "sdca", "newton"}) {
        SCOPED_TRACE(std::string(loss) + " " + std::to_string(classes) + " " + solver);
        const Twins t = make_twins(3, Dataset::Outcome::classes, classes);
        Options s = settings_of(1e-2, loss);
        s.solver = solver;
        compare(t, s);
        s.standardize = true;
        compare(t, s);
      }
  for (const char* loss : {"squared", "absolute", "epsilon_insensitive", "huber"}) {
    SCOPED_TRACE(loss);
    compare(make_twins(4, Dataset::Outcome::targets), settings_of(1e-3, loss));
  }
  Options net = settings_of(1e-2, "logistic");
  net.l1_ratio = 0.5;
  compare(make_twins(5, Dataset::Outcome::classes), net);
}

TEST(Compaction, calibration_is_that_of_the_columns_in_use) {
  const Twins t = make_twins(6, Dataset::Outcome::classes);
  Options s = settings_of(1e-2);
  s.calibration = Calibrate::platt;
  Progress progress;
  const Model a = train(t.wide, s, progress), b = train(t.narrow, s, progress);
  expect_same(a, b);
  EXPECT_EQ(to_table(a.calibration), to_table(b.calibration));
}

TEST(Compaction, hard_margins_are_those_of_the_columns_in_use) {
  for (const bool separable : {true, false})
    for (const double norm : {2.0, 1.5, 1.0})
      for (const int classes : {2, 3}) {
        SCOPED_TRACE(std::to_string(separable) + " " + std::to_string(norm) + " " + std::to_string(classes));
        Options s = settings_of({});
        s.norm = norm;
        compare(make_twins(7, Dataset::Outcome::classes, classes, 60, separable), s);
      }
  Options interpolation = settings_of({}, "interpolate");
  compare(make_twins(8, Dataset::Outcome::intervals, 0, 20), interpolation);
}

TEST(Compaction, norm_sparse_means_the_declared_width) {
  Options wide = settings_of({}), narrow = wide;
  wide.sparse_norm = true;
  narrow.norm = 1 + 1 / std::log(static_cast<double>(width));
  compare(make_twins(9, Dataset::Outcome::classes, 2, 60, true), wide, narrow);
}

TEST(Compaction, stumps_name_the_declared_features) {
  const Twins t = make_twins(10, Dataset::Outcome::classes, 2, 60);
  Options s = settings_of({});
  s.norm = 1;
  s.learners = Learners::stumps;
  s.max_iterations = 200;
  Progress progress;
  const Model a = train(t.wide, s, progress), b = train(t.narrow, s, progress);
  expect_same(a, b);
  expect_same_scores(t, a, b);
  EXPECT_TRUE(a.columns.empty());
  EXPECT_EQ(a.basis->dimensions(), width);
  const auto& wide = stumps_of(a.basis.get())->trees();
  const auto& narrow = stumps_of(b.basis.get())->trees();
  for (std::size_t k = 0; k < wide.size(); ++k) EXPECT_EQ(wide[k].split.feature, wide_column(narrow[k].split.feature));
}

TEST(Compaction, trees_name_the_declared_features) {
  const Twins t = make_twins(10, Dataset::Outcome::classes, 2, 60);
  Options s = settings_of({});
  s.norm = 1;
  s.learners = Learners::trees;
  s.max_iterations = 30;
  Progress progress;
  const Model a = train(t.wide, s, progress), b = train(t.narrow, s, progress);
  expect_same(a, b);
  expect_same_scores(t, a, b);
  const auto& wide = stumps_of(a.basis.get())->trees();
  const auto& narrow = stumps_of(b.basis.get())->trees();
  ASSERT_EQ(wide.size(), narrow.size());
  const auto named = [](std::int32_t feature) { return feature < 0 ? -1 : wide_column(feature); };
  for (std::size_t k = 0; k < wide.size(); ++k) {
    EXPECT_EQ(wide[k].split.feature, named(narrow[k].split.feature));
    EXPECT_EQ(wide[k].below.feature, named(narrow[k].below.feature));
    EXPECT_EQ(wide[k].above.feature, named(narrow[k].above.feature));
  }
}

TEST(Compaction, interval_holds_for_the_rows_as_they_came) {
  const Twins t = make_twins(11, Dataset::Outcome::classes, 3);
  Progress progress;
  for (const bool hard : {false, true}) {
    const Options s = settings_of(hard ? std::nullopt : std::optional<double>(1e-2), hard ? "" : "logistic");
    const Model m = train(t.wide, s, progress);
    const Problem p = make_problem(t.wide, s);
    Weights all = Weights::Zero(m.weights.rows(), width);
    for (std::size_t j = 0; j < m.columns.size(); ++j)
      all.col(m.columns[j]) = m.weights.col(static_cast<Eigen::Index>(j));
    const Certificate c = certify(p, all, m.intercept, *m.dual_weights);
    EXPECT_NEAR(c.upper, m.certificate.upper, 1e-10 * (1 + std::fabs(c.upper)));
    EXPECT_NEAR(c.lower, m.certificate.lower, 1e-10 * (1 + std::fabs(c.lower)));
  }
}

TEST(Compaction, paths_and_cross_validation_are_those_of_the_columns_in_use) {
  const Twins t = make_twins(12, Dataset::Outcome::classes);
  SelectionOptions options;
  options.settings = settings_of(1.0);
  options.losses = {"logistic"};
  Progress progress;
  for (const bool standardize : {false, true}) {
    options.settings.standardize = standardize;
    options.grid = {{{}, options.settings}};
    for (const auto& lambdas : {std::vector<double>{1e-1, 1e-3, 1e-2}, std::vector<double>{}}) {
      options.lambdas = lambdas;
      const auto a = train_path(t.wide, options, progress), b = train_path(t.narrow, options, progress);
      ASSERT_EQ(a.size(), b.size());
      for (std::size_t k = 0; k < a.size(); ++k) {
        EXPECT_EQ(a[k].lambda, b[k].lambda);
        expect_same(a[k], b[k]);
      }
      const Selection c = cross_validate(t.wide, options, progress), d = cross_validate(t.narrow, options, progress);
      for (std::size_t k = 0; k < c.settings.size(); ++k) EXPECT_EQ(c.settings[k].folds, d.settings[k].folds);
    }
  }
}

InitialModel start_of(const Model& m) {
  InitialModel start;
  start.weights.assign(m.weights.data(), m.weights.data() + m.weights.size());
  start.intercept.assign(m.intercept.data(), m.intercept.data() + m.intercept.size());
  start.columns = m.columns;
  start.dimensions = m.dimensions;
  return start;
}

TEST(Compaction, starts_from_models_of_other_columns) {
  const Twins old = make_twins(13, Dataset::Outcome::classes, 3, 12),
              now = make_twins(14, Dataset::Outcome::classes, 3);
  Options s = settings_of(1e-2, "logistic");
  s.solver = "newton";
  Progress progress;
  const Model wide = train(old.wide, s, progress), narrow = train(old.narrow, s, progress);
  ASSERT_LT(wide.columns.size(), static_cast<std::size_t>(in_use));
  Options a = s, b = s, c = s;
  a.initial = start_of(wide);
  b.initial = start_of(narrow);
  c.initial = start_of(wide);  // the same with all weights written out
  c.initial->weights.assign(3 * static_cast<std::size_t>(width), 0.0);
  for (std::size_t o = 0; o < 3; ++o)
    for (std::size_t j = 0; j < wide.columns.size(); ++j)
      c.initial->weights[o * width + static_cast<std::size_t>(wide.columns[j])] =
          wide.weights(static_cast<Eigen::Index>(o), static_cast<Eigen::Index>(j));
  c.initial->columns.clear();
  compare(now, a, b);
  compare(now, c, b);
  // Of columns to rows that are not compacted.
  Twins dense(Dataset::Outcome::classes);
  a.initial->columns.clear();
  for (const std::int32_t j : wide.columns) a.initial->columns.push_back((j - 5) / 641);
  a.initial->dimensions = in_use;
  EXPECT_EQ(train(now.narrow, a, progress).weights, train(now.narrow, b, progress).weights);

  a.initial->dimensions = in_use + 1;
  EXPECT_THROW(train(now.narrow, a, progress), Error);
  c.initial->weights.pop_back();
  EXPECT_THROW(train(now.wide, c, progress), Error);
  c.initial->weights.assign(3 * static_cast<std::size_t>(in_use), 0.0);  // as many as the columns in use, by chance
  c.initial->dimensions = 0;
  EXPECT_THROW(train(now.wide, c, progress), Error);
}

TEST(Compaction, kernel_models_of_wide_rows_are_those_of_the_columns_in_use) {
  Progress progress;
  for (const char* name : {"rbf", "polynomial", "ntk"})
    for (const bool hard : {true, false}) {
      SCOPED_TRACE(std::string(name) + (hard ? " hard" : " soft"));
      const Twins t = make_twins(19, Dataset::Outcome::classes, hard ? 2 : 3);
      Options s = settings_of(hard ? std::nullopt : std::optional<double>(1e-2));
      s.kernel = name;
      s.gamma = Gamma::number;
      s.gamma_value = 0.5;
      s.tolerance = 1e-6;
      const Model a = train(t.wide, s, progress), b = train(t.narrow, s, progress);
      EXPECT_EQ(a.dimensions, width);
      EXPECT_TRUE(a.columns.empty());
      EXPECT_NEAR(a.certificate.upper, b.certificate.upper, 1e-5 * (1 + std::fabs(b.certificate.upper)));
      EXPECT_NEAR(a.certificate.lower, b.certificate.lower, 1e-5 * (1 + std::fabs(b.certificate.lower)));
      const Scorer wide = scorer_of(a), narrow = scorer_of(b);
      for (std::int64_t i = 0; i < 20; ++i) {
        double x[3], y[3];
        score(wide, t.wide.row(i), width, x);
        score(narrow, t.narrow.row(i), in_use, y);
        for (std::int32_t o = 0; o < wide.outputs; ++o) EXPECT_NEAR(x[o], y[o], 1e-2 * (1 + std::fabs(y[o])));
      }
    }
}

TEST(Compaction, rows_stay_as_they_are_where_it_is_not_worth_a_copy) {
  const Twins t = make_twins(15, Dataset::Outcome::classes);
  const Options s = settings_of(1e-2);
  MemoryBudget unlimited, little(100), enough(1e6);
  EXPECT_EQ(&Compaction(t.narrow, s, {}, unlimited).rows(), &t.narrow);
  EXPECT_EQ(&Compaction(t.wide, s, {}, little).rows(), &t.wide);
  EXPECT_TRUE(little.allows(100)) << "nothing was counted";
  EXPECT_EQ(Compaction(t.wide, s, {}, enough).rows().dimensions(), in_use);
  EXPECT_FALSE(enough.allows(1e6)) << "the copy was counted";
  Options kernel = s;
  kernel.kernel = "rbf";
  EXPECT_EQ(&Compaction(t.wide, kernel, {}, unlimited).rows(), &t.wide);
}

TEST(Compaction, dense_storage_where_it_is_smaller) {
  Dataset data(Dataset::Outcome::targets);
  const std::int32_t columns[] = {0, 700, 1400, 2100, 2999};
  Random random(16);
  for (int i = 0; i < 50; ++i) {
    double values[5];
    for (double& v : values) v = i % 2 == 0 ? random.uniform() : std::floor(8 * random.uniform());
    data.append(sparse_row(columns + (i == 7 ? 4 : 0), values, i == 7 ? 1 : 5, 3000), random.uniform());
  }
  MemoryBudget unlimited;
  const Options s = settings_of(1e-3, "squared");
  const Compaction compaction(data, s, {}, unlimited);
  const Dataset& rows = compaction.rows();
  ASSERT_EQ(rows.dimensions(), 5);
  for (std::int64_t i = 0; i < 50; ++i) {
    EXPECT_EQ(rows.row(i).indices == nullptr, i != 7);
    for (std::int32_t j = 0; j < 5; ++j) EXPECT_EQ(value_at(rows.row(i), j), value_at(data.row(i), columns[j]));
    EXPECT_EQ(rows.row(i).wide, data.row(i).wide);
  }
  Progress progress;
  Options standardized = s;
  standardized.standardize = true;
  EXPECT_EQ(train(data, standardized, progress).status, Status::optimal);
}

// Many rows have their columns found by marks and named by a table, few by the map.
TEST(Compaction, many_rows_have_the_columns_of_few) {
  constexpr std::int32_t wide = 3000, of_each = 4;
  Random random(17);
  for (const bool some_dense : {false, true}) {
    Dataset many(Dataset::Outcome::targets), few(Dataset::Outcome::targets);
    std::vector<std::vector<std::int32_t>> indices;
    std::vector<std::vector<double>> values;
    for (int i = 0; i < 4000; ++i) {
      std::set<std::int32_t> chosen;
      const std::uint64_t count = some_dense && i == 2000 ? 60 : of_each;
      while (chosen.size() < count) chosen.insert(static_cast<std::int32_t>(37 * random.below(80)));
      indices.emplace_back(chosen.begin(), chosen.end());
      values.emplace_back();
      for (std::uint64_t k = 0; k < count; ++k)
        values.back().push_back(i % 2 == 0 ? random.uniform() : std::floor(1 + 8 * random.uniform()));
    }
    for (std::size_t i = 0; i < indices.size(); ++i)
      many.append(sparse_row(indices[i].data(), values[i].data(), static_cast<std::int32_t>(indices[i].size()), wide),
                  1.0);
    for (std::size_t i = 1980; i < 2010; ++i)
      few.append(sparse_row(indices[i].data(), values[i].data(), static_cast<std::int32_t>(indices[i].size()), wide),
                 1.0);
    ASSERT_TRUE(ColumnMap::listable(wide, many.feature_bytes()));
    ASSERT_FALSE(ColumnMap::listable(wide, few.feature_bytes()));
    ASSERT_FALSE(ColumnMap::listable(2147483647, std::size_t{1} << 62)) << "a table of gigabytes";
    for (const Dataset* const data : {&many, &few}) {
      MemoryBudget unlimited;
      const Options s = settings_of(1e-3, "squared");
      const Compaction compaction(*data, s, {}, unlimited);
      const Dataset& rows = compaction.rows();
      ASSERT_LE(rows.dimensions(), 80);
      std::set<std::int32_t> used;
      for (std::int64_t i = 0; i < data->rows(); ++i)
        for (std::int32_t k = 0; k < data->row(i).count; ++k) used.insert(data->row(i).indices[k]);
      const std::vector<std::int32_t> columns(used.begin(), used.end());
      ASSERT_EQ(rows.dimensions(), static_cast<std::int32_t>(columns.size()));
      double radius = 0;
      bool dense = false;
      for (std::int64_t i = 0; i < rows.rows(); ++i) {
        const Row x = rows.row(i), old = data->row(i);
        radius = std::max(radius, norm(x));
        dense = dense || x.indices == nullptr;
        ASSERT_EQ(x.wide, old.wide);
        for (std::int32_t k = 0; k < old.count; ++k) {
          const auto at = std::lower_bound(columns.begin(), columns.end(), old.indices[k]);
          ASSERT_EQ(value_at(x, static_cast<std::int32_t>(at - columns.begin())), old.value(k));
        }
        if (x.indices != nullptr) {
          ASSERT_EQ(x.count, old.count);
        }
      }
      EXPECT_EQ(dense, some_dense);
      EXPECT_EQ(rows.radius(), radius);
    }
  }
}

TEST(Compaction, too_many_columns_are_left_as_they_are_however_they_are_counted) {
  for (const int rows : {20, 3000}) {
    Dataset data(Dataset::Outcome::targets);
    for (std::int32_t i = 0; i < rows; ++i) {
      std::vector<std::int32_t> indices;
      for (std::int32_t k = 0; k < 40; ++k) indices.push_back((i % 20) * 100 + k);
      data.append(sparse_row(indices.data(), std::vector<double>(40, 1.5).data(), 40, 2000), 1.0);
    }
    MemoryBudget unlimited;
    EXPECT_EQ(&Compaction(data, settings_of(1e-3, "squared"), {}, unlimited).rows(), &data) << rows;
  }
}

TEST(Compaction, rows_without_any_value_have_a_problem) {
  Dataset data(Dataset::Outcome::targets);
  for (int i = 0; i < 4; ++i)
    data.append(
        sparse_row(static_cast<const std::int32_t*>(nullptr), static_cast<const double*>(nullptr), 0, 100000000),
        1.0 * i);
  Progress progress;
  const Model m = train(data, settings_of(1e-3, "squared"), progress);
  EXPECT_EQ(m.dimensions, 100000000);
  EXPECT_EQ(m.columns, std::vector<std::int32_t>{0});
  EXPECT_EQ(m.weights(0, 0), 0);
}

// Verification over other rows, of which some have columns that the model has no weights for.
TEST(ColumnSpace, checks_of_other_rows_are_those_with_all_weights_written_out) {
  const Twins old = make_twins(17, Dataset::Outcome::classes, 3, 40);
  const Twins now = make_twins(18, Dataset::Outcome::classes, 3, 90);
  Progress progress;
  const Options s = settings_of(1e-2, "logistic");
  Model m = train(old.wide, s, progress);
  m.columns.resize(6);
  m.weights = m.weights.leftCols(6).eval();
  Weights all = Weights::Zero(3, width);
  for (std::size_t j = 0; j < 6; ++j) all.col(m.columns[j]) = m.weights.col(static_cast<Eigen::Index>(j));
  const Problem p = make_problem(now.wide, s);
  ColumnSpace space(scorer_of(m));
  Objective narrow = objective_of(p), wide = narrow;
  narrow.dimensions = space.width();
  const Weights dual = Weights::Constant(90, 3, 0.25);
  RiskCheck risk(narrow, space.weights(), m.intercept.data(), true),
      risk_all(wide, all.data(), m.intercept.data(), true);
  MarginCheck hard(3, space.width(), space.weights(), m.intercept.data(), false, true);
  MarginCheck hard_all(3, width, all.data(), m.intercept.data(), false, true);
  NormCheck norm(3, space.width(), 1.5, space.weights(), m.intercept.data(), false, true);
  NormCheck norm_all(3, width, 1.5, all.data(), m.intercept.data(), false, true);
  InterpolationCheck target(space.width(), 2, space.weights(), 0, false, true),
      target_all(width, 2, all.data(), 0, false, true);
  narrow.lambda = wide.lambda = 1;
  Ball ball(narrow, space.weights(), m.intercept.data(), 0.0002, nullptr);
  Ball ball_all(wide, all.data(), m.intercept.data(), 0.0002, nullptr);
  for (std::int64_t i = 0; i < 90; ++i) {
    const Row x = now.wide.row(i);
    std::vector<double> values(width);
    for (std::int32_t k = 0; k < x.count; ++k) values[static_cast<std::size_t>(x.indices[k])] = x.value(k);
    const std::int32_t before = space.width();
    const Row own = space.place(i % 2 == 0 ? x : Row{values.data(), nullptr, width, true});
    if (space.width() != before) {
      risk.widen(space.width(), space.weights());
      hard.widen(space.width(), space.weights());
      norm.widen(space.width(), space.weights());
      target.widen(space.width(), space.weights());
      ball.widen(space.width());
    }
    const std::int32_t y = p.label[static_cast<std::size_t>(i)];
    const double* q = dual.row(i).data();
    CheckedRow row{own};
    row.label = y;
    row.dual = q;
    risk.add(row);
    row.x = x;
    risk_all.add(row);
    hard.add(own, y, q);
    hard_all.add(x, y, q);
    norm.add(own, y, q);
    norm_all.add(x, y, q);
    target.add(own, y, y + 1, 0.5);
    target_all.add(x, y, y + 1, 0.5);
    EXPECT_EQ(ball.certain(own), ball_all.certain(x));
  }
  EXPECT_LE(space.width(), 45);
  const auto near = [](double a, double b) { EXPECT_NEAR(a, b, 1e-10 * std::fabs(b)); };
  near(risk.primal(), risk_all.primal());
  near(risk.dual(), risk_all.dual());
  near(hard.lower(), hard_all.lower());
  near(hard.upper(), hard_all.upper());
  near(hard.radius(), hard_all.radius());
  near(norm.lower(), norm_all.lower());
  near(norm.upper(), norm_all.upper());
  near(target.slack(), target_all.slack());
  near(target.least_norm(), target_all.least_norm());
}

}  // namespace
}  // namespace margin
