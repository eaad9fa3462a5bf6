// Training risks by scans: the optimum of train(), a certificate that the rows confirm, whatever the loss, the sample
// and the split of the rows.
#include <gtest/gtest.h>

#include <cmath>

#include "core/certificate/certificate.hpp"
#include "core/scans/train_scans.hpp"
#include "core/train/train.hpp"
#include "newton_problems.hpp"
#include "three_parts.hpp"

namespace margin {
namespace {

using testing::make_dataset;
using testing::make_table;
using testing::sample;
using testing::soft;
using testing::Storage;
using testing::store;
using testing::Table;
using testing::ThreeParts;

/// What is true of a model by scans: the rows confirm its value, and no better one is known than its bound allows.
void expect_right(const Dataset& data, Options options, const Model& found) {
  const Model known = train(data, options, {});
  ASSERT_EQ(found.weights.rows(), known.weights.rows());
  EXPECT_EQ(found.rows, data.rows());
  EXPECT_EQ(found.classes, known.classes);
  EXPECT_EQ(found.status, Status::optimal) << found.certificate.relative_gap;
  EXPECT_LE(found.certificate.lower, found.certificate.upper);
  if (options.standardize) return;  // the objective is about rows in other units
  Problem p = make_problem(data, options);
  if (found.target_center.has_value()) p.target_center = *found.target_center;
  Weights w = found.weights;
  Eigen::VectorXd b = found.intercept;
  if (p.task == Task::regression) b.array() -= p.target_center;
  const double value = certify(p, w, b, Weights()).upper;
  EXPECT_NEAR(found.certificate.upper, value, 1e-9 * value);
  if (known.target_center.has_value()) {
    ASSERT_TRUE(found.target_center.has_value());
    EXPECT_NEAR(*found.target_center, *known.target_center, 1e-12 * std::fabs(*known.target_center));
  }
  EXPECT_LE(found.certificate.lower, known.certificate.upper * (1 + 1e-9));
  EXPECT_GE(found.certificate.upper, known.certificate.lower * (1 - 1e-9));
}

class ScansOfLoss : public ::testing::TestWithParam<std::string> {
 protected:
  bool classes() const { return !is_regression_loss(GetParam()); }
};

TEST_P(ScansOfLoss, FindTheOptimumFromASmallSample) {
  for (const int k : {2, 3}) {
    if (!classes() && k == 3) continue;
    for (const Storage storage : {Storage::floats, Storage::doubles, Storage::sparse}) {
      Table t = testing::labels_for(GetParam(), sample(41, 3000, 12, classes(), k));
      const Dataset data = store(t, classes(), storage, k);
      Options options = soft(GetParam(), 1e-3, 1e-6);
      options.sample_rows = 300;
      ThreeParts source(data);
      const Model m = train_scans(source, options, {});
      expect_right(data, options, m);
      EXPECT_LE(source.scans, 12);
      EXPECT_EQ(m.iterations, source.scans);
    }
  }
}

TEST_P(ScansOfLoss, TakeProblemsOfAnyShape) {
  Random random(43);
  for (int shape = 0; shape < 8; ++shape)
    for (int trial = 0; trial < 6; ++trial) {
      const Table t = testing::labels_for(GetParam(), make_table(random, shape, classes()));
      const Dataset data = make_dataset(t, classes());
      Options options = soft(GetParam(), trial % 2 == 0 ? 1e-2 : 1.0, 1e-5);
      options.intercept = trial % 3 != 2;
      options.sample_rows = 3;
      MemorySource source(data);
      SCOPED_TRACE("shape " + std::to_string(shape) + ", trial " + std::to_string(trial));
      expect_right(data, options, train_scans(source, options, {}));
    }
}

TEST_P(ScansOfLoss, CountWeights) {
  Table t = testing::labels_for(GetParam(), sample(47, 1500, 8, classes()));
  Random random(48);
  for (int i = 0; i < t.rows(); ++i) t.weight.push_back(0.5 * random.below(4));
  const Dataset data = store(t, classes(), Storage::doubles);
  Options options = soft(GetParam(), 1e-3, 1e-6);
  options.sample_rows = 200;
  if (classes()) options.class_weight_balanced = true;
  ThreeParts source(data);
  expect_right(data, options, train_scans(source, options, {}));
}

TEST_P(ScansOfLoss, Standardize) {
  Table t = testing::labels_for(GetParam(), sample(53, 1500, 8, classes()));
  for (std::vector<double>& x : t.x) {
    x[0] = 1e4 + 100 * x[0];
    x[1] *= 1e-3;
  }
  const Dataset data = store(t, classes(), Storage::doubles);
  Options options = soft(GetParam(), 1e-3, 1e-6);
  options.standardize = true;
  options.sample_rows = 200;
  ThreeParts source(data);
  const Model found = train_scans(source, options, {}), known = train(data, options, {});
  expect_right(data, options, found);
  // The penalty of the intercept begins at a quantile of the targets, which a sample tells only roughly.
  double begin = 0;
  if (found.target_center.has_value()) {
    double b = known.intercept(0);
    for (const std::vector<double>& x : t.x)
      for (std::size_t j = 0; j < x.size(); ++j)
        b += known.weights(0, static_cast<Eigen::Index>(j)) * x[j] / static_cast<double>(t.rows());
    const auto penalty = [&](double center) {
      return 0.5e-3 * std::pow((b - center) / known.target_scale.value_or(1), 2);
    };
    begin = std::fabs(penalty(*found.target_center) - penalty(known.target_center.value_or(0)));
  }
  EXPECT_NEAR(found.certificate.upper, known.certificate.upper, 2e-4 * known.certificate.upper + begin);
  const double size = known.weights.cwiseAbs().maxCoeff();
  EXPECT_LE((found.weights - known.weights).cwiseAbs().maxCoeff(), 0.05 * size);
}

TEST_P(ScansOfLoss, KeepAllRowsWhereTheyFit) {
  Table t = testing::labels_for(GetParam(), sample(59, 500, 6, classes()));
  const Dataset data = store(t, classes(), Storage::floats);
  const Options options = soft(GetParam(), 1e-2, 1e-6);
  ThreeParts source(data);
  expect_right(data, options, train_scans(source, options, {}));
  EXPECT_EQ(source.scans, 1);
}

TEST_P(ScansOfLoss, LimitsLeaveAnHonestModel) {
  Table t = testing::labels_for(GetParam(), sample(61, 3000, 12, classes()));
  const Dataset data = store(t, classes(), Storage::floats);
  Options options = soft(GetParam(), 1e-4, 1e-9);
  options.sample_rows = 100;
  options.max_iterations = 3;
  MemorySource source(data);
  const Model m = train_scans(source, options, {});
  const Model known = train(data, soft(GetParam(), 1e-4, 1e-6), {});
  if (GetParam() != "squared") {
    EXPECT_EQ(m.status, Status::iteration_limit);
  }
  EXPECT_LE(m.iterations, 3);
  EXPECT_LE(m.certificate.lower, known.certificate.upper * (1 + 1e-3));
  EXPECT_GE(m.certificate.upper, known.certificate.lower * (1 - 1e-3));
}

TEST_P(ScansOfLoss, PollAllTheTime) {
  class Counting : public Progress {
   public:
    void poll() const override { ++polls; }
    mutable int polls = 0;
  };
  Table t = testing::labels_for(GetParam(), sample(67, 20000, 30, classes()));
  const Dataset data = store(t, classes(), Storage::floats);
  Options options = soft(GetParam(), 1e-4, 1e-6);
  options.sample_rows = 2000;
  Counting progress;
  MemorySource source(data);
  train_scans(source, options, progress);
  EXPECT_GE(progress.polls, 5);
}

INSTANTIATE_TEST_SUITE_P(All, ScansOfLoss, ::testing::ValuesIn(testing::all_losses()),
                         [](const auto& info) { return info.param; });

/// A sample that says little of the level: the first guesses of it are wrong, or none holds it.
TEST(Scans, FreeInterceptsOfSmallSamples) {
  for (const char* loss : {"hinge", "absolute", "epsilon_insensitive", "quantile"})
    for (std::uint64_t seed = 0; seed < 8; ++seed)
      for (const std::int64_t rows : {50, 100}) {
        SCOPED_TRACE(std::string(loss) + " seed " + std::to_string(seed) + " of " + std::to_string(rows));
        const bool classes = std::string(loss) == "hinge";
        Table t = testing::labels_for(loss, sample(seed, 1000, 4, classes));
        for (std::size_t i = 0; i < t.x.size(); ++i) {
          for (double& v : t.x[i]) v = 3 + v;
          if (classes && seed % 2 == 0) t.y[i] = i % 50 == 0 ? 1 : 0;
        }
        const Dataset data = make_dataset(t, classes);
        Options options = soft(loss, 1e-2, 1e-3);
        options.intercept_form = InterceptForm::free;
        options.sample_rows = rows;
        ThreeParts source(data);
        const Model found = train_scans(source, options, {}), known = train(data, options, {});
        EXPECT_EQ(found.status, Status::optimal) << found.certificate.relative_gap;
        EXPECT_LE(source.scans, 25);
        EXPECT_LE(found.certificate.lower, known.certificate.upper * (1 + 1e-9));
        EXPECT_GE(found.certificate.upper, known.certificate.lower * (1 - 1e-9));
      }
}

/// Rows of which 16 MB hold hardly as many as they have features.
TEST(Scans, WideRowsHaveALargerSample) {
  Table t = sample(12, 3000, 1500, true);
  const Dataset data = store(t, true, Storage::doubles);
  Options options = soft("hinge", 0.1, 1e-2);
  ThreeParts source(data);
  const Model found = train_scans(source, options, {});
  EXPECT_EQ(source.scans, 2);
  expect_right(data, options, found);
  options.sample_rows = 800;  // as asked for
  ThreeParts few(data);
  expect_right(data, options, train_scans(few, options, {}));
  EXPECT_GT(few.scans, 2);
}

/// Where a model takes longer than a scan, it is solved loosely and from a wide smoothing: no more scans for that, whatever the loss.
TEST(Scans, WideModelsAreRightInFewScans) {
  const struct {
    std::string loss, intercept;
    int most;
  } cases[] = {{"hinge", "penalized", 9}, {"hinge", "free", 9}, {"absolute", "penalized", 9}};
  for (const auto& c : cases) {
    const bool classes = c.loss == "hinge";
    Table t = sample(14, 4000, 600, classes);
    const Dataset data = store(t, classes, Storage::floats);
    Options options = soft(c.loss, 1e-2, 1e-3);
    if (c.intercept == "free") options.intercept_form = InterceptForm::free;
    options.sample_rows = 1800;
    ThreeParts source(data);
    expect_right(data, options, train_scans(source, options, {}));
    EXPECT_LE(source.scans, c.most) << c.loss << ", " << c.intercept;
  }
}

TEST(Scans, ASampleWithoutACountHasNoLevel) {
  Table t = sample(3, 400, 3, false);
  for (double& y : t.y) y = 0;
  t.y[399] = 1;
  const Dataset data = make_dataset(t, false);
  Options options = soft("poisson", 1e-2, 1e-3);
  options.intercept_form = InterceptForm::free;
  options.sample_rows = 5;
  MemorySource source(data);
  try {
    train_scans(source, options, {});
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("sampled labels is above 0"), std::string::npos);
    return;
  }
  EXPECT_TRUE(false) << "a sample that has the count, by chance: take another seed";
}

TEST(Scans, ManyThinFeatures) {
  // More features than a matrix of them has room for.
  Random random(71);
  Dataset data(Dataset::Outcome::classes);
  for (const char* name : {"a", "b"}) data.classes().intern(name, 0);
  std::vector<double> truth(5000);
  for (double& v : truth) v = testing::normal(random);
  for (int i = 0; i < 1500; ++i) {
    std::vector<std::int32_t> columns;
    std::vector<double> values;
    double score = 0;
    for (std::int32_t j = static_cast<std::int32_t>(random.below(200)); j < 5000;
         j += 1 + static_cast<std::int32_t>(random.below(400))) {
      columns.push_back(j);
      values.push_back(0.2);
      score += truth[static_cast<std::size_t>(j)];
    }
    data.append(sparse_row(columns.data(), values.data(), static_cast<std::int32_t>(columns.size()), 5000),
                score + testing::normal(random) > 0 ? 1 : 0);
  }
  for (const char* loss : {"hinge", "logistic", "squared_hinge"}) {
    Options options = soft(loss, 1e-2, 1e-6);
    options.sample_rows = 400;
    ThreeParts source(data);
    const Model m = train_scans(source, options, {});
    expect_right(data, options, m);
    EXPECT_LE(source.scans, 50) << loss;
  }
}

TEST(Scans, RefuseWhatNeedsAllRows) {
  Table t = sample(73, 500, 6, true);
  const Dataset data = store(t, true, Storage::floats);
  MemorySource source(data);
  const auto refused = [&](auto set) {
    Options options = soft("hinge", 1e-2, 1e-3);
    options.sample_rows = 20;
    set(options);
    EXPECT_THROW(train_scans(source, options, {}), Error);
  };
  refused([](Options& o) { o.dual_weights = true; });
  refused([](Options& o) { o.kernel = "rbf"; });
  refused([](Options& o) { o.l1_ratio = 0.5; });
  refused([](Options& o) { o.calibration = Calibrate::platt; });
  refused([](Options& o) { o.class_weight["neither"] = 2; });
}

TEST(Scans, RowsThatChangeBetweenScansAreNoticed) {
  // A certificate for rows of which a part is there twice from the second scan on would be about no rows at all.
  class Growing final : public RowSource {
   public:
    Growing(const Dataset& before, const Dataset& after) : before_(before), after_(after) {}
    Answer ask(const Question& question, const Progress& progress) override {
      return MemorySource(question.kind == Question::Kind::summary ? before_ : after_).ask(question, progress);
    }

   private:
    const Dataset &before_, &after_;
  };
  Table t = sample(79, 3000, 10, true), more = t;
  for (int i = 0; i < 1500; ++i) {
    more.x.push_back(t.x[static_cast<std::size_t>(i)]);
    more.y.push_back(1 - t.y[static_cast<std::size_t>(i)]);
  }
  const Dataset before = store(t, true, Storage::doubles), after = store(more, true, Storage::doubles);
  Options options = soft("hinge", 1e-3, 1e-6);
  options.sample_rows = 300;
  Growing source(before, after);
  EXPECT_THROW(train_scans(source, options, {}), Error);
}

TEST(Scans, TargetsOfAnyUnit) {
  for (const double unit : {0x1p-100, 1.0, 0x1p100}) {
    SCOPED_TRACE(unit);
    Table t = sample(81, 30000, 5, false);
    for (double& y : t.y) y *= unit;
    const Dataset data = store(t, false, Storage::floats);
    Options options = soft("absolute", 1e-4 / unit, 1e-5);
    options.sample_rows = 500;
    ThreeParts source(data);
    EXPECT_EQ(train_scans(source, options, {}).status, Status::optimal);
    EXPECT_LE(source.scans, 12);
  }
}

/// Labels that the features say nothing about, or targets that are the same for most: nearly all rows lie at a kink at the
/// optimum, and few of them fit into what scans bring along.
Table tied(std::uint64_t seed, int rows, bool classes, double share) {
  Random random(seed);
  Table t;
  for (int i = 0; i < rows; ++i) {
    t.x.push_back({random.uniform(), random.uniform(), static_cast<double>(random.below(5))});
    t.y.push_back(random.uniform() < share ? 1 : classes ? 0 : static_cast<double>(random.below(6)));
  }
  return t;
}

TEST(Scans, RowsTiedAtAKinkAreProvenTogether) {
  struct Case {
    const char* loss;
    double share, lambda;
  };
  for (const Case& c : {Case{"hinge", 0.125, 1e-3},
                        {"hinge", 0.3, 1e-2},
                        {"hinge", 0.02, 1e-4},
                        {"absolute", 0.5, 1e-3},
                        {"absolute", 0.2, 1e-2},
                        {"epsilon_insensitive", 0.6, 1e-3},
                        {"quantile", 0.5, 1e-3}})
    for (const bool weighted : {false, true}) {
      const bool classes = std::string(c.loss) == "hinge";
      Table t = tied(83, 30000, classes, c.share);
      Random random(84);
      if (weighted)
        for (int i = 0; i < t.rows(); ++i) t.weight.push_back(0.25 * (1 + random.below(4)));
      const Dataset data = store(t, classes, Storage::floats);
      Options options = soft(c.loss, c.lambda, 1e-3);
      options.sample_rows = 200;
      if (weighted && classes) options.class_weight_balanced = true;
      SCOPED_TRACE(std::string(c.loss) + " " + std::to_string(c.share) + (weighted ? " weighted" : ""));
      ThreeParts source(data);
      expect_right(data, options, train_scans(source, options, {}));
      EXPECT_LE(source.scans, 10);
    }
}

/// The features say a little, but a constant is nearly the best there is: the tied rows' dual values differ from row to row.
TEST(Scans, RowsTiedAtAKinkWhereFeaturesSaySomething) {
  Random random(97);
  for (const int classes : {2, 3}) {
    Table t;
    for (int i = 0; i < 30000; ++i) {
      const double step = 0.1 * (i % 7);
      t.x.push_back({random.uniform(), step + random.uniform(), random.uniform() - i % 3, random.uniform()});
      t.y.push_back(random.uniform() + step > 0.6 ? 1 : random.uniform() < 0.2 ? classes - 1 : 0);
    }
    const Dataset data = store(t, true, Storage::floats, classes);
    for (const double lambda : {0.1, 1e-3, 1e-5})
      for (const double tolerance : classes == 2 ? std::vector<double>{1e-3, 1e-5} : std::vector<double>{1e-3}) {
        SCOPED_TRACE(std::to_string(classes) + " " + std::to_string(lambda) + " " + std::to_string(tolerance));
        Options options = soft("hinge", lambda, tolerance);
        options.sample_rows = 1000;
        ThreeParts source(data);
        const Model model = train_scans(source, options, {});
        expect_right(data, options, model);
        EXPECT_LE(source.scans, 9);
        double last = 0;
        for (const TracePoint& p : model.history) {
          EXPECT_LE(p.lower, p.upper);
          EXPECT_LE(model.certificate.lower, p.upper);
          EXPECT_GE(p.lower, last);
          last = p.lower;
        }
      }
  }
}

TEST(Scans, TiedRowsOfSeveralClasses) {
  Table t = tied(89, 20000, false, 0.4);
  for (double& y : t.y) y = y < 1 ? 0 : y < 3 ? 1 : 2;
  const Dataset data = store(t, true, Storage::floats, 3);
  Options options = soft("hinge", 1e-3, 1e-3);
  options.sample_rows = 200;
  ThreeParts source(data);
  expect_right(data, options, train_scans(source, options, {}));
}

TEST(Scans, OneClassIsAnError) {
  Dataset data(Dataset::Outcome::classes);
  data.classes().intern("only", 0);
  const double x[] = {1, 2};
  for (int i = 0; i < 50; ++i) data.append(dense_row(x, 2), 0);
  Options options = soft("hinge", 1e-2, 1e-3);
  options.sample_rows = 5;
  MemorySource source(data);
  EXPECT_THROW(train_scans(source, options, {}), Error);
}

}  // namespace
}  // namespace margin
