// Passes over rows on four threads, under the thread sanitizer (stage sanitize) beside threads_test.cpp: what chunks read
// and write, and that sums are those of one thread.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "core/base/random.hpp"
#include "core/base/threads.hpp"
#include "core/certificate/l2_margin.hpp"
#include "core/certificate/risk.hpp"
#include "core/certificate/stumps.hpp"
#include "core/loss/logistic.hpp"
#include "core/solvers/l1_margin/rounds.hpp"
#include "core/solvers/l1_margin/stump_learners.hpp"
#include "core/solvers/l2_margin/first_order.hpp"
#include "core/solvers/margin_scan.hpp"
#include "core/solvers/newton/gram.hpp"

namespace margin {
namespace {

class OnThreads final : public Progress {
 public:
  explicit OnThreads(Threads& threads) : Progress(65536, &threads) {}
};

struct Rows {
  explicit Rows(int n, int d, bool sparse) : data(Dataset::Outcome::classes), problem(data) {
    for (const char* name : {"a", "b"}) data.classes().intern(name, 0);
    Random random(3);
    for (int i = 0; i < n; ++i) {
      std::vector<double> x(static_cast<std::size_t>(d));
      for (double& v : x) v = sparse && random.below(20) != 0 ? 0 : random.uniform() - 0.5;
      data.append(dense_row(x.data(), d), static_cast<std::int32_t>(i % 2));
      problem.label.push_back(i % 2);
    }
    problem.classes = 2;
    problem.hard_margin = false;
    problem.lambda = 0.01;
    problem.total_weight = n;
    problem.loss = std::make_shared<Logistic>(Options());
  }

  Dataset data;
  Problem problem;
};

void append(std::string& bytes, const double* values, std::size_t count) {
  bytes.append(reinterpret_cast<const char*>(values), count * sizeof(double));
}

/// All passes with this many threads, and the bits of what they give.
std::string passes(const Rows& rows, int count) {
  Threads threads(count);
  const OnThreads progress(threads);
  const Options options;
  Run run(options, progress, "passes", 1);
  const Problem& p = rows.problem;
  const auto n = static_cast<std::size_t>(p.rows());
  std::string bits;

  const NewtonRows newton(p, run);
  const std::size_t d = newton.columns();
  std::vector<double> w(d, 0.3), u(n), v(d), weight(n);
  newton.scores(w.data(), u.data());
  append(bits, u.data(), n);
  for (std::size_t i = 0; i < n; ++i) weight[i] = i % 5 == 0 ? 0 : 1 + std::sin(static_cast<double>(i));
  newton.combine(u.data(), v.data());
  append(bits, v.data(), d);
  std::vector<std::int64_t> which;
  for (std::size_t i = 0; i < n; i += 2) which.push_back(static_cast<std::int64_t>(i));
  newton.add(which, u, v.data());
  append(bits, v.data(), d);
  GramSum gram(newton);
  SymmetricMatrix sum(d);
  gram.add(weight.data(), sum);
  gram.add(which, weight.data(), -0.5, sum);
  for (std::size_t j = 0; j < d; ++j) append(bits, sum.row(j) + j, d - j);

  Weights weights = Weights::Constant(1, p.dimensions(), 0.1);
  std::vector<Pair> worst;
  const PairMargins margins = scan(p, weights, run, 20, nullptr, &worst);
  append(bits, margins.pair.data(), 4);
  for (const Pair& pair : worst) bits += std::to_string(pair.row) + ' ';

  Weights dual(p.rows(), 1);
  for (std::int64_t i = 0; i < p.rows(); ++i)
    dual(i, 0) = (i % 2 == 0 ? -1 : 1) * weight[static_cast<std::size_t>(i)] / 4;
  const double intercept = 0.2;
  RiskCheck risk(objective_of(p), weights.data(), &intercept, true);
  add_rows(risk, p, dual, nullptr, progress);
  const double ends[] = {risk.primal(), risk.dual(), risk.radius(), static_cast<double>(risk.support())};
  append(bits, ends, 4);
  MarginCheck margin(2, p.dimensions(), weights.data(), &intercept, true, true);
  add_rows(margin, p, dual.cwiseAbs(), nullptr, progress);
  const double bounds[] = {margin.lower(), margin.upper(), margin.radius(), static_cast<double>(margin.errors())};
  append(bits, bounds, 4);
  return bits;
}

/// Rounds of boosting on stumps with their certificate, and passes of momentum.
std::string rounds(const Rows& rows, int count) {
  Threads threads(count);
  const OnThreads progress(threads);
  Problem p = rows.problem;
  p.hard_margin = true;
  std::string bits;

  StumpLearners learners(p.data, progress);
  std::vector<double> y;
  for (std::int64_t i = 0; i < p.rows(); ++i) y.push_back(p.target(i, 0));
  BoostingRounds boosting(learners, std::move(y), BoostingRule(), progress);
  for (int t = 0; t < 5; ++t) {
    boosting.find();
    boosting.step();
    const double edge = boosting.edge_of(boosting.averaged());
    append(bits, &edge, 1);
  }
  append(bits, boosting.weights().data(), boosting.weights().size());
  const Weights dual = boosting.row_weights();
  append(bits, dual.data(), static_cast<std::size_t>(dual.size()));
  const StumpBasis basis(learners.stumps(), p.dimensions());
  const std::vector<double>& lambda = boosting.weights();
  const Weights weights = Eigen::Map<const Eigen::RowVectorXd>(lambda.data(), static_cast<Eigen::Index>(lambda.size()));
  const Certificate c =
      certify_stumps(p, basis, weights, Eigen::VectorXd::Constant(1, boosting.offset()), dual, progress);
  const double bounds[] = {c.lower, c.upper, static_cast<double>(c.errors), static_cast<double>(c.support)};
  append(bits, bounds, 4);

  const Options options;
  Run run(options, progress, "passes", 1);
  FirstOrder momentum(p, run, false);
  for (int t = 0; t < 5; ++t) {
    momentum.pass();
    momentum.average(t + 1);
    momentum.momentum_step(t, 1);
  }
  append(bits, momentum.weights().data(), static_cast<std::size_t>(p.dimensions()));
  append(bits, momentum.averaged_dual().data(), static_cast<std::size_t>(p.rows()));
  return bits;
}

TEST(Passes, of_boosting_and_momentum_share_nothing_but_rows) {
  for (const bool sparse : {false, true}) {
    const Rows rows(20000, 12, sparse);
    EXPECT_TRUE(rounds(rows, 4) == rounds(rows, 1)) << sparse;
  }
}

TEST(Passes, share_nothing_but_rows_and_have_the_bits_of_one_thread) {
  for (const bool sparse : {false, true}) {
    const Rows rows(20000, 30, sparse);
    EXPECT_TRUE(passes(rows, 4) == passes(rows, 1)) << sparse;
  }
  const Rows wide(1000, 300, false);  // one matrix, shared out by its panels
  EXPECT_TRUE(passes(wide, 4) == passes(wide, 1));
}

}  // namespace
}  // namespace margin
