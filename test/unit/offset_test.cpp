// The option offset_feature: the same optimum as without that feature on rows that contain it in their targets and
// weights; intervals that hold whatever the weights; who refuses it.
#include "core/problem/offset.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "core/certificate/certificate.hpp"
#include "core/model/verification.hpp"
#include "core/options/records.hpp"
#include "core/solvers/solver.hpp"
#include "core/train/path.hpp"
#include "core/train/train.hpp"
#include "risk_problems.hpp"

namespace margin {
namespace {

using namespace margin::testing;

struct Case {
  Table table;              ///< without the offset
  std::vector<double> off;  ///< of each row
  std::size_t place = 0;    ///< of its column
};

Case make_case(Random& random, const std::string& loss, int trial) {
  Case c;
  c.table = labels_for(loss, make_table(random, trial % 7, !is_regression_loss(loss)));
  if (trial % 3 == 1)
    for (int i = 0; i < c.table.rows(); ++i) c.table.weight.push_back(0.5 + random.uniform());
  const double size = trial % 4 == 0 ? 3 : 1;
  for (int i = 0; i < c.table.rows(); ++i) c.off.push_back(trial % 5 == 4 && i % 2 == 0 ? 0.0 : size * normal(random));
  c.place = random.below(static_cast<std::uint32_t>(c.table.dimensions()) + 1);
  return c;
}

Table with_column(const Case& c) {
  Table t = c.table;
  for (std::size_t i = 0; i < t.x.size(); ++i)
    t.x[i].insert(t.x[i].begin() + static_cast<std::ptrdiff_t>(c.place), c.off[i]);
  return t;
}

Options soft(const std::string& loss, double lambda, std::size_t place) {
  Options options;
  options.loss = loss;
  options.lambda = lambda;
  options.tolerance = 1e-8;
  options.offset = std::to_string(place + 1);
  return options;
}

/// (1/W) Σ c φ(u) + the penalty of all weights but the offset's, and of a penalised intercept.
long double objective(const Case& c, const Options& s, const Loss& loss, const std::vector<double>& w, double b,
                      double centre) {
  long double sum = 0, mass = 0, penalty = 0;
  const Table t = with_column(c);
  for (std::size_t i = 0; i < t.x.size(); ++i) {
    const double weight = t.weight.empty() ? 1 : t.weight[i];
    const double y = loss.classification() ? (t.y[i] > 0 ? 1 : -1) : t.y[i];
    long double u = b;
    for (std::size_t j = 0; j < w.size(); ++j) u += static_cast<long double>(w[j]) * t.x[i][j];
    sum += static_cast<long double>(weight) * loss.value(static_cast<double>(u), y);
    mass += weight;
  }
  for (std::size_t j = 0; j < w.size(); ++j)
    if (j != c.place)
      penalty += s.l1_ratio * std::fabs(static_cast<long double>(w[j])) +
                 (1 - s.l1_ratio) / 2 * static_cast<long double>(w[j]) * w[j];
  if (!s.free_intercept()) penalty += (1 - s.l1_ratio) / 2 * static_cast<long double>(b - centre) * (b - centre);
  return sum / mass + *s.lambda * penalty;
}

std::vector<double> row_of(const Model& m) { return {m.weights.data(), m.weights.data() + m.weights.cols()}; }

const char* const all_losses[] = {"hinge",
                                  "smoothed_hinge",
                                  "squared_hinge",
                                  "logistic",
                                  "squared",
                                  "absolute",
                                  "epsilon_insensitive",
                                  "squared_epsilon_insensitive",
                                  "quantile",
                                  "huber",
                                  "poisson"};

/// The problem without the column that has the same optimum, where there is one.
bool transformed(const Case& c, const std::string& loss, Options& options, Table& out) {
  if (!is_regression_loss(loss)) return false;
  out = c.table;
  options.offset.clear();
  if (loss != "poisson") {
    for (std::size_t i = 0; i < out.y.size(); ++i) out.y[i] -= c.off[i];
    return true;
  }
  double before = 0, after = 0;
  if (out.weight.empty()) out.weight.assign(out.y.size(), 1.0);
  for (std::size_t i = 0; i < out.y.size(); ++i) {
    before += out.weight[i];
    out.y[i] *= std::exp(-c.off[i]);
    out.weight[i] *= std::exp(c.off[i]);
    after += out.weight[i];
  }
  *options.lambda *= before / after;
  return true;
}

TEST(Offset, OptimaAreThoseOfRowsThatContainIt) {
  Random random(11);
  for (const char* const loss : all_losses)
    for (int trial = 0; trial < 14; ++trial) {
      SCOPED_TRACE(std::string(loss) + " " + std::to_string(trial));
      const Case c = make_case(random, loss, trial);
      Options options = soft(loss, std::pow(10.0, -2 * random.uniform()), c.place), plain = options;
      if (trial % 4 == 3) options.intercept_form = plain.intercept_form = InterceptForm::free;
      if (trial % 6 == 5) options.intercept = plain.intercept = false;
      if (trial % 5 == 2) options.standardize = plain.standardize = loss != std::string("poisson");
      Table t;
      if (!transformed(c, loss, plain, t)) continue;
      const Dataset rows = make_dataset(with_column(c), false), other = make_dataset(t, false);
      const Model ours = train(rows, options, Progress()), theirs = train(other, plain, Progress());
      ASSERT_EQ(ours.status, Status::optimal);
      ASSERT_EQ(theirs.status, Status::optimal);
      EXPECT_EQ(ours.weights(0, static_cast<Eigen::Index>(c.place)), 1.0);
      if (loss != std::string("poisson")) {
        const double slack = 1e-12 * (1 + theirs.certificate.upper);
        EXPECT_LE(ours.certificate.lower, theirs.certificate.upper + slack);
        EXPECT_LE(theirs.certificate.lower, ours.certificate.upper + slack);
        EXPECT_NEAR(ours.certificate.constant_failure, theirs.certificate.constant_failure, slack * 100);
      }
      std::vector<double> w = row_of(ours);
      w.erase(w.begin() + static_cast<std::ptrdiff_t>(c.place));
      for (std::size_t j = 0; j < w.size(); ++j)
        EXPECT_NEAR(w[j], theirs.weights(0, static_cast<Eigen::Index>(j)), 2e-3 * (1 + std::fabs(w[j]))) << j;
    }
}

// The reported upper end is P at the model, and no other weights have less than the lower one.
TEST(Offset, IntervalsHoldTheObjectiveOfAnyWeights) {
  Random random(12);
  for (const char* const loss : all_losses)
    for (int trial = 0; trial < 21; ++trial) {
      SCOPED_TRACE(std::string(loss) + " " + std::to_string(trial));
      const bool classes = !is_regression_loss(loss);
      const Case c = make_case(random, loss, trial);
      Options options = soft(loss, std::pow(10.0, -2 * random.uniform()), c.place);
      if (trial % 3 == 2) options.intercept_form = InterceptForm::free;
      const auto shared = make_loss(loss, options);
      if (trial % 4 == 1 && shared->smoothness() > 0) options.l1_ratio = trial % 8 == 1 ? 0.5 : 1;
      if (options.l1_ratio == 1) options.intercept_form = InterceptForm::free;
      const Dataset rows = make_dataset(with_column(c), classes);
      options.dual_weights = true;
      const Model model = train(rows, options, Progress());
      EXPECT_EQ(model.status, Status::optimal);
      EXPECT_EQ(model.weights(0, static_cast<Eigen::Index>(c.place)), 1.0);
      std::vector<double> w = row_of(model);
      const double b = model.intercept(0), centre = model.target_center.value_or(0);
      const auto at = static_cast<double>(objective(c, options, *shared, w, b, centre));
      EXPECT_NEAR(model.certificate.upper, at, 1e-9 * (1 + at));
      EXPECT_GE(model.certificate.upper, at * (1 - 1e-12));
      for (int k = 0; k < 40; ++k) {
        std::vector<double> other = w;
        const double size = std::pow(10.0, -6 * random.uniform());
        for (std::size_t j = 0; j < w.size(); ++j)
          if (j != c.place) other[j] += size * normal(random);
        EXPECT_GE(static_cast<double>(objective(c, options, *shared, other, b + size * normal(random), centre)),
                  model.certificate.lower * (1 - 1e-14));
      }
      // The stored model, over the same rows.
      Verification verification(model, options, true);
      for (int i = 0; i < c.table.rows() && c.table.weight.empty(); ++i) {
        const Row x = rows.row(i);
        if (classes)
          verification.add(x, c.table.y[static_cast<std::size_t>(i)] > 0 ? 1 : 0, -1);
        else
          verification.add(x, rows.target(i), rows.target(i), -1);
      }
      if (!c.table.weight.empty()) continue;
      const VerifiedModel again = verification.result(Progress());
      ASSERT_TRUE(again.primal.has_value() && again.dual.has_value());
      EXPECT_NEAR(*again.primal, model.certificate.upper, 1e-9 * (1 + at));
      EXPECT_NEAR(*again.dual, model.certificate.lower, 1e-7 * (1 + at));
    }
}

// Weights that are no optimum, and dual weights of no solver.
TEST(Offset, CertificatesOfForgedVectorsHold) {
  Random random(13);
  for (const char* const loss : all_losses)
    for (int trial = 0; trial < 7; ++trial) {
      SCOPED_TRACE(std::string(loss) + " " + std::to_string(trial));
      const bool classes = !is_regression_loss(loss);
      const Case c = make_case(random, loss, trial);
      const Options options = soft(loss, 0.1, c.place);
      const Dataset rows = make_dataset(with_column(c), classes);
      const Problem p = make_problem(rows, options, Progress());
      const Model model = train(rows, options, Progress());
      Weights dual(p.rows(), 1);
      for (std::int64_t i = 0; i < p.rows(); ++i) dual(i, 0) = p.loss->project(normal(random), p.target(i, 0));
      Eigen::VectorXd b = Eigen::VectorXd::Zero(1);
      Weights w = Weights::Zero(1, p.dimensions());
      hold_offset(p, w);
      const Certificate forged = certify(p, w, b, dual, nullptr, Progress());
      EXPECT_LE(forged.lower, model.certificate.upper * (1 + 1e-12));
      EXPECT_GE(forged.upper, model.certificate.lower * (1 - 1e-12));
      w(0, p.offset) = 0.5;  // another problem's weights
      EXPECT_EQ(certify(p, w, b, dual, nullptr, Progress()).upper, std::numeric_limits<double>::infinity());
    }
}

TEST(Offset, LikelihoodsAreThoseOfRowsThatContainIt) {
  Random random(14);
  int solved = 0;
  for (const std::string loss : {"squared", "poisson"})
    for (int trial = 0; trial < 20; ++trial) {
      SCOPED_TRACE(loss + " " + std::to_string(trial));
      const Case c = make_case(random, loss, trial % 2 == 0 ? 0 : 3);
      if (c.table.rows() <= c.table.dimensions() + 2) continue;
      Options options = soft(loss, 0, c.place), plain = options;
      if (trial % 6 == 5) options.intercept = plain.intercept = false;
      Table t;
      ASSERT_TRUE(transformed(c, loss, plain, t));
      const Dataset rows = make_dataset(with_column(c), false), other = make_dataset(t, false);
      const Model ours = train(rows, options, Progress()), theirs = train(other, plain, Progress());
      EXPECT_EQ(ours.status, theirs.status);
      if (theirs.status != Status::optimal) continue;
      ++solved;
      EXPECT_LE(ours.certificate.gap, 1e-9 * (1 + ours.certificate.upper));
      EXPECT_EQ(ours.weights(0, static_cast<Eigen::Index>(c.place)), 1.0);
      std::vector<double> w = row_of(ours);
      w.erase(w.begin() + static_cast<std::ptrdiff_t>(c.place));
      for (std::size_t j = 0; j < w.size(); ++j)
        EXPECT_NEAR(w[j], theirs.weights(0, static_cast<Eigen::Index>(j)), 1e-7 * (1 + std::fabs(w[j])));
      if (loss == "squared") {
        EXPECT_NEAR(ours.certificate.upper, theirs.certificate.upper, 1e-10 * (1 + theirs.certificate.upper));
      }
    }
  EXPECT_GT(solved, 20);
}

// What separates is the other features: an offset that agrees with every label is none of it.
TEST(Offset, SeparationIsThatOfTheOtherFeatures) {
  for (const bool separable : {false, true}) {
    Dataset rows(Dataset::Outcome::classes);
    rows.classes().intern("a", 0);
    rows.classes().intern("b", 1);
    for (int i = 0; i < 12; ++i) {
      const int label = separable ? (i < 6 ? 0 : 1) : (i * 5 % 12 < 6 ? 0 : 1);
      const double x[] = {static_cast<double>(i), separable ? 4.0 - 8 * label : 8.0 * label - 4};
      rows.append(dense_row(x, 2), label, 1);
    }
    const Options options = soft("logistic", 0, 1);
    const Model model = train(rows, options, Progress());
    EXPECT_EQ(model.status, separable ? Status::separable : Status::optimal);
    EXPECT_EQ(model.certificate.separates, separable);
    EXPECT_EQ(model.weights(0, 1), 1.0);
    if (!separable) {
      EXPECT_GT(model.certificate.lower, 0);
    }
  }
}

// Where the offset explains all, no feature beats a constant beside it.
TEST(Offset, TheConstantOfACrossValidationIsBesideIt) {
  Random random(18);
  for (const std::string loss : {"squared", "poisson"}) {
    Dataset rows(Dataset::Outcome::targets), rates(Dataset::Outcome::targets);
    for (int i = 0; i < 200; ++i) {
      const double noise = normal(random), o = 2 * normal(random), error = 0.2 * normal(random);
      const double values[] = {noise, o}, alone[] = {noise};
      rows.append(dense_row(values, 2), loss == "poisson" ? std::exp(1 + o) : 5 + o + error, 1);
      rates.append(dense_row(alone, 1), 5 + error, 1);
    }
    SelectionOptions options;
    options.settings = soft(loss, 1, 1);
    options.settings.lambda.reset();
    options.losses = {loss};
    options.lambdas = {1.0};
    options.metric = Metric::mse;
    const double constant = *cross_validate(rows, options, Progress(), {}).constant;
    if (loss == "poisson") {
      EXPECT_LT(constant, 1e-20);
    } else {
      options.settings.offset.clear();
      EXPECT_NEAR(constant, *cross_validate(rates, options, Progress(), {}).constant, 0.01);
    }
  }
}

// Of wide sparse rows the columns in use are trained, and the offset's, also where no row has it.
TEST(Offset, WideRowsKeepItsColumn) {
  for (const bool used : {true, false}) {
    Dataset wide(Dataset::Outcome::targets), narrow(Dataset::Outcome::targets);
    Random random(15);
    for (int i = 0; i < 40; ++i) {
      const double a = normal(random), o = used ? normal(random) : 0, y = a + o + 0.1 * normal(random);
      const std::int32_t indices[] = {17, 3000};
      const double values[] = {a, o};
      wide.append(sparse_row(indices, values, used ? 2 : 1, 5000), y, 1);
      narrow.append(dense_row(values, 2), y, 1);
    }
    const Model model = train(wide, soft("squared", 0.1, 3000), Progress());
    const Model other = train(narrow, soft("squared", 0.1, 1), Progress());
    ASSERT_EQ(model.columns, (std::vector<std::int32_t>{17, 3000}));
    EXPECT_EQ(model.weights(0, 1), 1.0);
    EXPECT_NEAR(model.weights(0, 0), other.weights(0, 0), 1e-6);
    EXPECT_NEAR(model.certificate.upper, other.certificate.upper, 1e-9);
  }
}

TEST(Offset, PathsAndSolversByName) {
  Random random(16);
  const Case c = make_case(random, "logistic", 0);
  const Dataset rows = make_dataset(with_column(c), true);
  for (const double ratio : {0.0, 1.0}) {
    SelectionOptions path;
    path.settings = soft("logistic", 1, c.place);
    path.settings.lambda.reset();
    path.settings.l1_ratio = ratio;
    if (ratio == 1) path.settings.intercept_form = InterceptForm::free;
    path.settings.standardize = ratio == 1;
    path.losses = {"logistic"};
    path.lambdas = {0.3, 0.01};
    for (const Model& m : train_path(rows, path, Progress(), {})) {
      EXPECT_EQ(m.status, Status::optimal);
      EXPECT_EQ(m.weights(0, static_cast<Eigen::Index>(c.place)), 1.0);
      Options alone = path.settings;
      alone.lambda = m.lambda;
      EXPECT_NEAR(train(rows, alone, Progress()).certificate.upper, m.certificate.upper, 1e-7);
    }
  }
  for (const std::string loss : {"logistic", "hinge"}) {
    Options options = soft(loss, 0.05, c.place);
    const double best = train(rows, options, Progress()).certificate.upper;
    for (const std::string solver : {"newton", "newton_cg"}) {
      options.solver = solver;
      EXPECT_NEAR(train(rows, options, Progress()).certificate.upper, best, 1e-7);
    }
    options.solver = "sdca";
    EXPECT_THROW(train(rows, options, Progress()), Error);
  }
}

TEST(Offset, IsRefusedWhereItMeansNothing) {
  Random random(17);
  const Dataset rows = make_dataset(make_table(random, 0, true), true);
  const Dataset three = make_dataset(make_table(random, 0, true, 3), true, 3);
  const auto kind_of = [](const Dataset& data, const Options& options) {
    try {
      train(data, options, Progress());
    } catch (const Error& e) {
      return e.kind();
    }
    return ErrorKind::malformed_binary;
  };
  const Options base = soft("hinge", 0.1, 0);
  Options options = base;
  options.lambda.reset();
  options.loss.clear();
  EXPECT_EQ(kind_of(rows, options), ErrorKind::unsupported);
  options = base;
  options.kernel = "rbf";
  EXPECT_EQ(kind_of(rows, options), ErrorKind::unsupported);
  EXPECT_EQ(kind_of(three, base), ErrorKind::unsupported);
  options = base;
  options.l1_ratio = 0.5;
  EXPECT_EQ(kind_of(rows, options), ErrorKind::unsupported);
  options = base;
  options.offset = "77";
  EXPECT_EQ(kind_of(rows, options), ErrorKind::invalid_option);
  options.offset = "age";
  EXPECT_EQ(kind_of(rows, options), ErrorKind::invalid_option);
  for (const Value& value : {Value{0.0}, Value{1.5}, Value{true}, Value{std::string()}})
    EXPECT_THROW(parse_options({{"offset_feature", value}}), Error);
  EXPECT_EQ(parse_options({{"offset_feature", Value{3.0}}}).offset, "3");
  EXPECT_EQ(parse_options({{"offset_feature", Value{std::string("log_t")}}}).offset, "log_t");
}

}  // namespace
}  // namespace margin
