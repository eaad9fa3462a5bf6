// Hard margins and interpolation by scans: the interval of train(), a certificate that the rows confirm, few scans, and
// what happens where memory, time or the number of scans ends first.
#include <gtest/gtest.h>

#include <set>

#include "core/base/error.hpp"
#include "core/certificate/check.hpp"
#include "core/scans/methods/row_pool.hpp"
#include "core/scans/train_scans.hpp"
#include "margin_problems.hpp"

namespace margin {
namespace {

using namespace reference;

Options settings(double norm, bool intercept, double tolerance, std::int64_t sample_rows) {
  Options s;
  s.norm = norm;
  s.intercept = intercept;
  s.tolerance = tolerance;
  s.sample_rows = sample_rows;
  return s;
}

Model by_scans(const Dataset& rows, const Options& options, MemoryBudget memory = {}) {
  MemorySource source(rows);
  return train_scans(source, options, Progress(), memory);
}

/// All rows, asked once more: the lower bound of a margin, the errors and the radius are what the model says.
void expect_confirmed(const Dataset& rows, const Options& options, const Model& m) {
  const Problem all = make_problem(rows, options);
  const Certificate c = certify(all, m.weights, m.intercept, {});
  const double rounding = 1e-12 * (c.radius + m.intercept.cwiseAbs().maxCoeff());
  EXPECT_EQ(m.certificate.errors, c.errors);
  EXPECT_DOUBLE_EQ(m.certificate.radius, c.radius);
  if (all.interpolate) {
    EXPECT_EQ(m.certificate.slack, c.slack);
    EXPECT_EQ(m.certificate.upper, c.upper);
  } else if (std::isfinite(c.lower)) {
    EXPECT_NEAR(m.certificate.lower, c.lower, rounding);
  }
  EXPECT_NE(find_solver(m.solver), nullptr) << "no record reports \"" << m.solver << "\"";
}

/// The same optimum as train() finds, and confirmed.
void expect_same(const Dataset& rows, const Options& options, const Model& m) {
  const Model whole = train(rows, options, Progress());
  const double slack = 1e-12 * whole.certificate.radius;
  EXPECT_LE(m.certificate.lower, whole.certificate.upper + slack);
  EXPECT_LE(whole.certificate.lower, m.certificate.upper + slack);
  EXPECT_EQ(m.status, whole.status) << status_name(*m.status) << " and " << status_name(*whole.status);
  if (whole.status == Status::optimal) {
    EXPECT_LE(m.certificate.relative_gap, options.tolerance);
    EXPECT_NEAR(m.certificate.lower, whole.certificate.lower, options.tolerance * whole.certificate.upper);
  }
  expect_confirmed(rows, options, m);
}

TEST(ScansPool, MarginsAreThoseOfTrain) {
  for (const Named& p : named_problems())
    for (const double norm : {2.0, 1.5, 1.0})
      for (const bool intercept : {true, false}) {
        SCOPED_TRACE(p.name + " norm " + std::to_string(norm) + (intercept ? "" : " without intercept"));
        const Dataset rows = make_dataset(p.rows, p.rows.dimensions() > 100 ? Storage::sparse : Storage::doubles);
        const Options options = settings(norm, intercept, 1e-6, 3);
        const Model m = by_scans(rows, options);
        expect_same(rows, options, m);
        const auto known = known_margin(p, intercept);
        if (norm == 2 && known) {
          EXPECT_GE(m.certificate.upper, static_cast<double>(known->lower) * (1 - 1e-12));
        }
      }
}

TEST(ScansPool, FewScans) {
  for (const int classes : {2, 3, 10})
    for (const double norm : {2.0, 1.5, 1.0}) {
      SCOPED_TRACE(std::to_string(classes) + " classes, norm " + std::to_string(norm));
      const Rows all = gaussian_rows(17, 4000, 12, 0.3, classes);
      const Dataset rows = make_dataset(all);
      const Options options = settings(norm, true, 1e-6, 200);
      const Model m = by_scans(rows, options);
      expect_same(rows, options, m);
      EXPECT_LE(*m.iterations, 13);
    }
}

/// Targets w · x + noise, each as a range of ±width around it.
Dataset ranges(std::uint64_t seed, int n, int d, double noise, double width) {
  Random random(seed);
  const std::vector<double> w = gaussian_row(random, d);
  Dataset data(Dataset::Outcome::intervals);
  for (int i = 0; i < n; ++i) {
    const std::vector<double> x = gaussian_row(random, d);
    double y = 3 + noise * (2 * random.uniform() - 1);
    for (int j = 0; j < d; ++j) y += w[at(j)] * x[at(j)];
    data.append(dense_row(x.data(), d), {y - width, y + width});
    if (i % 7 == 0) data.append(dense_row(x.data(), d), {y - width, std::numeric_limits<double>::infinity()});
  }
  return data;
}

TEST(ScansPool, InterpolationIsThatOfTrain) {
  struct Case {
    std::string name;
    Dataset rows;
    Status status;
  };
  std::vector<Case> cases;
  cases.push_back({"fewer rows than features", ranges(1, 120, 200, 5, 0), Status::optimal});
  cases.push_back({"a plane with noise", ranges(2, 3000, 10, 1, 1.1), Status::optimal});
  cases.push_back({"exactly a plane", ranges(3, 500, 6, 0, 1e-3), Status::optimal});
  cases.push_back({"too much noise", ranges(4, 2000, 10, 1, 0.2), Status::not_separable});
  cases.push_back({"wide ranges", ranges(5, 400, 5, 1, 100), Status::optimal});
  for (const Case& c : cases)
    for (const double norm : {2.0, 1.5})
      for (const bool intercept : {true, false}) {
        if (!intercept && c.name != "fewer rows than features" && c.name != "wide ranges") continue;  // they start at 3
        SCOPED_TRACE(c.name + " norm " + std::to_string(norm) + (intercept ? "" : " without intercept"));
        Options options = settings(norm, intercept, 1e-6, 40);
        options.loss = "interpolate";
        const Model m = by_scans(c.rows, options), whole = train(c.rows, options, Progress());
        EXPECT_EQ(m.status, c.status);
        EXPECT_EQ(whole.status, c.status);
        EXPECT_LE(*m.iterations, 13);
        expect_confirmed(c.rows, options, m);
        if (c.status != Status::optimal) continue;
        const double rounding = 1e-12 * (1 + whole.certificate.upper);
        // Where many rows are met within rounding, weights may miss some by a millionth, and be shorter for it; the lower end
        // is then said as far as it does not contradict them.
        const bool shorter = m.certificate.gap == 0 || whole.certificate.gap == 0;
        EXPECT_NEAR(m.certificate.lower, whole.certificate.lower,
                    (shorter ? 1e-5 : 1e-9) * whole.certificate.upper + rounding);
        EXPECT_NEAR(m.certificate.upper, whole.certificate.upper, 1e-5 * whole.certificate.upper + rounding);
      }
}

TEST(ScansPool, OrderDoesNotMatter) {
  const Rows rows = gaussian_rows(23, 1500, 8, 0.2, 3);
  Rows reversed = rows;
  std::reverse(reversed.x.begin(), reversed.x.end());
  std::reverse(reversed.y.begin(), reversed.y.end());
  for (const double norm : {2.0, 1.0}) {
    const Options options = settings(norm, true, 1e-6, 100);
    const Model a = by_scans(make_dataset(rows), options), b = by_scans(make_dataset(reversed), options);
    EXPECT_EQ(a.weights, b.weights);
    EXPECT_EQ(a.intercept, b.intercept);
    EXPECT_EQ(a.certificate.lower, b.certificate.lower);
    EXPECT_EQ(a.certificate.upper, b.certificate.upper);
  }
}

TEST(ScansPool, LimitsLeaveAnHonestInterval) {
  const Dataset rows = make_dataset(gaussian_rows(29, 3000, 30, 0.05));
  for (const double norm : {2.0, 1.5, 1.0}) {
    Options options = settings(norm, true, 1e-6, 60);
    const Model whole = train(rows, options, Progress());
    options.history = true;
    for (const std::int64_t scans : {2, 3}) {
      options.max_iterations = scans;
      const Model m = by_scans(rows, options);
      EXPECT_EQ(*m.iterations, scans);
      EXPECT_EQ(m.status, Status::iteration_limit);
      EXPECT_EQ(static_cast<std::int64_t>(m.history.size()), scans - 1);
      EXPECT_GE(m.certificate.upper, whole.certificate.lower);
      EXPECT_LE(m.certificate.lower, whole.certificate.upper);
      expect_confirmed(rows, options, m);
    }
    options.max_iterations.reset();
    options.max_seconds = 1e-9;
    const Model m = by_scans(rows, options);
    EXPECT_EQ(m.status, Status::time_limit);
    expect_confirmed(rows, options, m);
  }
}

TEST(ScansPool, LimitsOfInterpolation) {
  const Dataset rows = ranges(2, 3000, 10, 1, 1.1);
  Options options = settings(1.5, true, 1e-6, 40);
  options.loss = "interpolate";
  const Model whole = train(rows, options, Progress());
  double proven = 0;
  for (const std::int64_t scans : {2, 3}) {
    options.max_iterations = scans;
    const Model m = by_scans(rows, options);
    EXPECT_EQ(*m.iterations, scans);
    EXPECT_EQ(m.status, Status::iteration_limit);
    EXPECT_LE(m.certificate.lower, whole.certificate.upper * (1 + 1e-9));
    EXPECT_GE(m.certificate.lower, proven);  // a later pool proves more
    proven = m.certificate.lower;
    expect_confirmed(rows, options, m);
  }
  EXPECT_GT(proven, 0);
}

/// Long rows, of which few carry the margin.
Dataset long_rows() {
  Rows rows = gaussian_rows(31, 3000, 12, 0.1);
  for (auto& x : rows.x) x.resize(1000, 0.1);
  return make_dataset(rows);
}

TEST(ScansPool, LittleMemory) {
  const Dataset rows = long_rows();
  const Options options = settings(2, true, 1e-6, 60);
  const Model roomy = by_scans(rows, options), narrow = by_scans(rows, options, MemoryBudget(4e6));
  expect_same(rows, options, roomy);
  expect_same(rows, options, narrow);
  EXPECT_GT(*narrow.iterations, *roomy.iterations);
  EXPECT_THROW(by_scans(rows, options, MemoryBudget(1e6)), Error);
}

TEST(ScansPool, SoManyRowsAsAreAskedForMayTakeMoreMemory) {
  Options options;
  EXPECT_EQ(first_question(options, {}).bag_bytes, 16 << 20);
  EXPECT_EQ(first_question(options, MemoryBudget(80e6)).bag_bytes, 5'000'000);
  options.sample_rows = 60000;
  EXPECT_EQ(first_question(options, {}).bag_bytes, 1 << 30);
  EXPECT_EQ(first_question(options, MemoryBudget(80e6)).bag_bytes, 20'000'000);
}

TEST(ScansPool, RowsThatDoNotMatterMakeRoom) {
  const Dataset rows = long_rows();
  const Options options = settings(2, true, 1e-6, 60);
  MemorySource source(rows);
  const Progress progress;
  ScanRun run(source, options, progress);
  const Question asked = first_question(options, {});
  Answer first = run.ask(asked);
  const ScanProblem problem(options, asked, first, run, {});
  RowPool pool(problem, progress);
  const std::int64_t sampled = pool.rows().rows();
  Question question = problem.question(Weights::Constant(1, problem.dimensions, 1.0), Eigen::VectorXd::Zero(1));
  question.bag_rows = 100;
  question.bag_bytes = 1 << 30;
  Answer answer = run.ask(question);
  const std::int64_t added = pool.add(answer.bag(0), progress);
  EXPECT_GT(added, 50);
  EXPECT_EQ(pool.add(answer.bag(0), progress), 0);  // known ones
  EXPECT_EQ(pool.rows().rows(), sampled + added);
  const std::int64_t oldest = sampled, kept = sampled + added - 1;
  const std::uint64_t matters = pool.identity(oldest), newest = pool.identity(kept), second = pool.identity(oldest + 1);
  pool.touch(oldest);
  pool.shrink(0.25 * static_cast<double>(pool.rows().bytes()), progress);
  EXPECT_GT(pool.rows().rows(), sampled + added / 8);
  EXPECT_LE(pool.rows().rows(), sampled + added / 4 + 1);
  std::set<std::uint64_t> left;
  for (std::int64_t i = sampled; i < pool.rows().rows(); ++i) left.insert(pool.identity(i));
  EXPECT_EQ(left.count(matters), 1U);
  EXPECT_EQ(left.count(newest), 1U);
  EXPECT_EQ(left.count(second), 0U);
}

TEST(ScansPool, RowsThatNothingSeparatesGetTheWeightsOfASoftMargin) {
  Random random(37);
  Rows rows;
  for (int i = 0; i < 4000; ++i) {
    std::vector<double> x = gaussian_row(random, 5);
    x[0] += i % 2 == 0 ? 2 : -2;  // 2.3 % beyond the middle
    rows.add(x, i % 2);
  }
  const Dataset data = make_dataset(rows);
  for (const double norm : {2.0, 1.5}) {
    const Options options = settings(norm, true, 1e-3, 200);
    const Model m = by_scans(data, options);
    EXPECT_EQ(m.status, Status::not_separable);
    EXPECT_LE(*m.iterations, 4);
    EXPECT_LT(m.certificate.errors, 140);
    EXPECT_GT(m.certificate.errors, 60);
    expect_confirmed(data, options, m);
  }
}

TEST(ScansPool, ErrorsOfOutputsOfSeveralScans) {
  // One class apart, two that overlap in a few rows: their outputs end in different scans.
  Random random(59);
  Rows rows;
  rows.classes = 3;
  for (int i = 0; i < 6000; ++i) {
    std::vector<double> x = gaussian_row(random, 4);
    x[0] += i % 3 == 0 ? 2.8 : i % 3 == 1 ? -2.8 : 0;
    x[1] += i % 3 == 2 ? 12 : -12;
    rows.add(x, i % 3);
  }
  const Dataset data = make_dataset(rows);
  for (const double norm : {1.5, 1.0}) {
    const Options options = settings(norm, true, 1e-6, 60);
    const Model m = by_scans(data, options);
    EXPECT_EQ(m.status, Status::not_separable);
    EXPECT_GT(m.certificate.errors, 0);
    EXPECT_LT(m.certificate.errors, 600);
    expect_confirmed(data, options, m);
  }
  // The sample's threshold between the third class and the others is too high, that of the first scan is not.
  for (int i = 0; i < rows.count(); ++i) {
    double& x = rows.x[at(i)][1];
    x = rows.y[at(i)] == 2 ? 0.5 + 10 * std::pow(random.uniform(), 0.25) : -0.5 - 5 * std::fabs(gaussian(random));
  }
  const Dataset skewed = make_dataset(rows);
  for (const double norm : {1.5, 1.0}) {
    Options options = settings(norm, true, 1e-6, 60);
    options.max_iterations = 2;
    const Model m = by_scans(skewed, options);
    EXPECT_EQ(*m.iterations, 3);  // one more to count the errors
    expect_confirmed(skewed, options, m);
  }
}

TEST(ScansPool, StandardUnits) {
  Rows rows = gaussian_rows(41, 1000, 6, 0.2);
  for (auto& x : rows.x) x[2] = 1000 * x[2] + 5;
  const Dataset data = make_dataset(rows);
  for (const double norm : {2.0, 1.0}) {
    Options options = settings(norm, true, 1e-6, 80);
    options.standardize = true;
    const Model m = by_scans(data, options), whole = train(data, options, Progress());
    EXPECT_EQ(m.status, Status::optimal);
    EXPECT_NEAR(m.certificate.lower, whole.certificate.lower, 1e-6 * whole.certificate.upper);
  }
}

TEST(ScansPool, TheSolverIsTheUsers) {
  const Dataset data = make_dataset(gaussian_rows(43, 800, 4, 0.3));
  Options options = settings(2, true, 1e-2, 80);
  options.solver = "momentum";
  EXPECT_EQ(by_scans(data, options).solver, "momentum");
  options.solver = "newton";
  EXPECT_THROW(by_scans(data, options), Error);
  Value::Object given;
  given["shrinkage"].data = 0.5;
  options = parse_options(given);
  options.sample_rows = 80;
  EXPECT_THROW(by_scans(data, options), Error);
}

TEST(ScansPool, OtherRowsAtALaterScanAreAnError) {
  class Changing final : public RowSource {
   public:
    Answer ask(const Question& question, const Progress& progress) override {
      const Dataset rows = make_dataset(gaussian_rows(53, 500 - scans_++, 4, 0.1));
      return MemorySource(rows).ask(question, progress);
    }

   private:
    int scans_ = 0;
  };
  Changing source;
  try {
    train_scans(source, settings(2, true, 1e-6, 20), Progress());
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::invalid_value);
    EXPECT_EQ(std::string(e.what()), "scan 2 found 499 rows, the first one 500");
  }
}

TEST(ScansPool, AsManyOtherRowsAreAnError) {
  // One number of one row, one label, or one weight is another from the second scan on.
  const auto rows_with = [](int what) {
    const Dataset given = make_dataset(gaussian_rows(53, 500, 4, 0.1));
    Dataset rows(Dataset::Outcome::classes);
    for (std::int32_t c = 0; c < given.classes().size(); ++c) rows.classes().intern(given.classes().name(c), c);
    for (std::int64_t i = 0; i < given.rows(); ++i) {
      std::vector<double> x(4);
      for (std::int32_t j = 0; j < 4; ++j) x[static_cast<std::size_t>(j)] = given.row(i).value(j);
      const bool changed = i == 123;
      if (changed && what == 0) x[2] = std::nextafter(x[2], 10.0);
      const std::int32_t label = given.class_of(i);
      rows.append(dense_row(x.data(), 4), changed && what == 1 ? 1 - label : label,
                  changed && what == 2 ? 1.0000001 : 1.0);
    }
    return rows;
  };
  class Changing final : public RowSource {
   public:
    Changing(const Dataset& before, const Dataset& after) : before_(before), after_(after) {}
    Answer ask(const Question& question, const Progress& progress) override {
      return MemorySource(scans_++ == 0 ? before_ : after_).ask(question, progress);
    }

   private:
    const Dataset &before_, &after_;
    int scans_ = 0;
  };
  const Dataset before = rows_with(-1);
  EXPECT_GT(
      [&] {
        Changing same(before, before);
        return train_scans(same, settings(2, true, 1e-6, 20), Progress()).iterations;
      }(),
      1);
  for (int what = 0; what < 3; ++what) {
    const Dataset after = rows_with(what);
    Changing source(before, after);
    try {
      train_scans(source, settings(2, true, 1e-6, 20), Progress());
      FAIL() << what;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::invalid_value);
      EXPECT_EQ(std::string(e.what()), "scan 2 found other rows than the first one, 500 of them");
    }
  }
}

TEST(ScansPool, ACancelIsHeard) {
  class Cancelled final : public Progress {
   public:
    explicit Cancelled(int polls) : Progress(1000), polls_(polls) {}
    void poll() const override {
      if (--polls_ < 0) throw std::runtime_error("cancelled");
    }
    int polls() const { return polls_; }

   private:
    mutable int polls_;
  };
  const Dataset data = make_dataset(gaussian_rows(47, 2000, 10, 0.1));
  MemorySource source(data);
  const Options options = settings(2, true, 1e-9, 100);
  const Cancelled patient(1000000);
  train_scans(source, options, patient);
  const int polls = 1000000 - patient.polls();
  for (const int before : {0, polls / 4, polls / 2, polls - 1})
    EXPECT_THROW(train_scans(source, options, Cancelled(before)), std::runtime_error);
}

}  // namespace
}  // namespace margin
