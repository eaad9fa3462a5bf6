// The coordinate methods of lp margins: single steps, intervals, and what Raj & Bach (2021) claim of them.
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/math/norm.hpp"
#include "core/solvers/lp_margin/dual_point.hpp"
#include "lp_reference.hpp"
#include "margin_problems.hpp"

namespace margin {
namespace {

using namespace reference;

Options steps(const std::string& solver, double norm, bool intercept, std::int64_t epochs, double tolerance = 1e-2) {
  Options s = hard(solver, intercept, tolerance);
  s.norm = norm;
  s.max_iterations = epochs;
  return s;
}

/// The problem of Section 4: Gaussian rows with variances 1/i^decay, labels of a random direction with `nonzeros`
/// entries and b = 0.005, rows with |score| below 0.1 left out.
Rows paper_rows(std::uint64_t seed, int n, int d, double decay, int nonzeros) {
  Random random(seed);
  std::vector<double> direction(at(d), 0.0);
  for (int k = 0; k < nonzeros; ++k)
    direction[nonzeros == d ? at(k) : random.below(static_cast<std::uint64_t>(d))] = gaussian(random);
  Rows rows;
  while (rows.count() < n) {
    std::vector<double> x = gaussian_row(random, d);
    double score = 0.005;
    for (int j = 0; j < d; ++j) {
      x[at(j)] *= std::pow(j + 1.0, -0.5 * decay);
      score += x[at(j)] * direction[at(j)];
    }
    if (std::fabs(score) >= 0.1) rows.add(x, score > 0 ? 1 : 0);
  }
  return rows;
}

int mistakes(const Rows& rows, const Model& m) {
  int count = 0;
  for (int i = 0; i < rows.count(); ++i) {
    double score = m.intercept(0);
    for (int j = 0; j < rows.dimensions(); ++j) score += m.weights(0, j) * rows.x[at(i)][at(j)];
    count += (rows.y[at(i)] == 1) != (score > 0);
  }
  return count;
}

/// Every coordinate step ends where the derivative is 0, and never before the step of Lemma 1.
TEST(LpAscent, LineMaximumIsOne) {
  const Rows rows = gaussian_rows(3, 30, 8, 0.1);
  for (const Storage storage : {Storage::doubles, Storage::sparse})
    for (const double p : {1.02, 1.2, 1.6, 2.0}) {
      const Dataset data = make_dataset(rows, storage);
      Options s = hard("dual_ascent", true, 1e-3);
      s.norm = p;
      const Problem problem = make_problem(data, s);
      LpAscent ascent(problem, 0.25, false);
      Random random(9);
      LpDirection z;
      for (int step = 0; step < 200; ++step) {
        const auto i = static_cast<std::int64_t>(random.below(30)), j = static_cast<std::int64_t>(random.below(30));
        const bool pair = problem.sign(i) != problem.sign(j) && step % 2 == 0;
        pair ? ascent.load_pair(i, j, z) : ascent.load(i, z);
        const double c = pair ? 2 : 1, before = c - ascent.product(z), delta = ascent.line_maximum(z, c);
        if (std::fabs(before) > 1e-6) {
          EXPECT_GE(delta / before, (p - 1) / (z.length * z.length) * (1 - 1e-9));
        }
        ascent.move(z, delta);
        EXPECT_NEAR(ascent.product(z), c, 1e-7) << p << " step " << step;
      }
      // What single steps have kept up to date is what the point gives from scratch.
      const double kept = ascent.product(z);
      ascent.set(Eigen::VectorXd(ascent.point()));
      EXPECT_NEAR(kept, ascent.product(z), 1e-9);
    }
}

TEST(DualAscent, IntervalsHoldTheStoredOptima) {
  int reached = 0;
  for (const LpCase& c : lp_cases()) {
    const Dataset data = make_dataset({c.x, c.y, 2});
    for (const std::string solver : {"dual_ascent", "accelerated", "perceptron", "mirror_descent"}) {
      SCOPED_TRACE(::testing::Message() << solver << " p = " << c.p << " intercept " << c.intercept);
      Options s = steps(solver == "accelerated" ? "dual_ascent" : solver, c.p, c.intercept, 400);
      if (solver == "accelerated") s.accelerated = true;
      if (solver == "accelerated" && c.intercept) {
        EXPECT_THROW(fit(data, s), Error);
        continue;
      }
      const Model m = fit(data, s);
      EXPECT_LE(m.certificate.lower, c.margin * (1 + 1e-9));
      EXPECT_GE(m.certificate.upper, c.margin * (1 - 1e-9));
      if (c.margin > 0.2 && c.p > 1.1 && (solver == "dual_ascent" || solver == "accelerated")) {
        EXPECT_EQ(m.status, Status::optimal) << m.certificate.relative_gap;
        ++reached;
      }
      const Model again = fit(data, s);
      EXPECT_EQ((again.weights - m.weights).cwiseAbs().maxCoeff(), 0);
    }
  }
  EXPECT_GT(reached, 60);
}

/// Figures 1 and 2: mistakes on the training rows after equal epochs, with the paper's steps, those of Lemma 1:
/// acceleration gains over plain ascent, and that over the baselines. Our exact steps gain over all of them below p
/// = 2.
TEST(DualAscent, MakesFewerMistakesInThePapersOrder) {
  for (const bool sparse : {false, true}) {
    const Rows rows = paper_rows(sparse ? 2 : 1, 1000, 2000, sparse ? 1 : 1.5, sparse ? 50 : 2000);
    const Dataset data = make_dataset(rows, Storage::floats);
    auto count = [&](const std::string& solver, bool accelerated = false, Step step = Step::automatic) {
      Options s = steps(solver, sparse ? 1 + 1 / std::log(2000.0) : 2, false, 10, 0);
      s.accelerated = accelerated;
      s.step = step;
      return mistakes(rows, fit(data, s));
    };
    const int accelerated = count("dual_ascent", true, Step::quadratic);
    const int plain = count("dual_ascent", false, Step::quadratic);
    EXPECT_LT(accelerated, plain);
    EXPECT_LT(plain, count("mirror_descent"));
    if (sparse) {
      EXPECT_LT(count("dual_ascent"), accelerated);
      EXPECT_LT(count("dual_ascent", true), accelerated);
    } else {  // the paper's baseline for p = 2 only; there the bound of Lemma 1 is exact
      EXPECT_LT(plain, count("perceptron"));
      EXPECT_EQ(count("dual_ascent"), plain);
      EXPECT_EQ(count("dual_ascent", true), accelerated);
    }
  }
}

TEST(DualAscent, TakesOptimalOrQuadraticSteps) {
  const Dataset data = make_dataset({{{1, 0}, {-1, 0}}, {1, 0}, 2});
  Options s = steps("dual_ascent", 1.5, false, 100);
  for (const Step step : {Step::automatic, Step::optimal, Step::quadratic}) {
    s.step = step;
    EXPECT_EQ(fit(data, s).status, Status::optimal);
  }
  for (const Step step : {Step::wolfe, Step::adaboost, Step::theory}) {
    s.step = step;
    EXPECT_THROW(fit(data, s), Error);
  }
}

/// p = 2 is the l2 margin: on every named problem of two classes that separates, the row by row steps reach the exact
/// margin to 1e-6.
TEST(DualAscent, AgreesWithTheL2MarginForTwoClasses) {
  int asked = 0;
  for (const Named& problem : named_problems()) {
    if (problem.rows.classes > 2) continue;
    const Dataset data = make_dataset(problem.rows);
    for (const bool intercept : {true, false}) {
      const Model exact = fit(data, hard("cutting_plane", intercept, 1e-9));
      const double margin = exact.certificate.upper;
      if (exact.status != Status::optimal || margin < 1e-3 * exact.certificate.radius) continue;
      SCOPED_TRACE(problem.name + (intercept ? " with intercept" : ""));
      Options s = steps("dual_ascent", 2, intercept, problem.rows.dimensions() > 1000 ? 100 : 100000, 1e-6);
      const Model m = fit(data, s);
      ++asked;
      EXPECT_LE(m.certificate.lower, margin);
      EXPECT_GE(m.certificate.upper, exact.certificate.lower);
      EXPECT_EQ(m.status, Status::optimal) << m.certificate.relative_gap;
      EXPECT_NEAR(m.certificate.lower, margin, 1e-6 * margin);
      EXPECT_NEAR(m.certificate.upper, margin, 1e-6 * margin);
    }
  }
  EXPECT_GE(asked, 25);
}

/// Lemma 3, and the bound (13) from which it follows, along the run: θ is scaled to margin 1, α* counts n times ours.
TEST(DualAscent, KeepsTheBoundOfLemma3) {
  for (const double p : {1.3, 2.0}) {
    const Rows rows = gaussian_rows(21, 20, 6, 1.0);
    const Dataset data = make_dataset(rows);
    const double r = p / (p - 1), n = rows.count();
    Options exact = hard("auto", false, 1e-9);
    exact.norm = p;
    const Model best = fit(data, exact);
    ASSERT_EQ(best.status, Status::optimal);
    const double margin = best.certificate.lower;
    double largest = 0;
    for (const auto& x : rows.x) largest = std::max(largest, lp_norm(x.data(), rows.dimensions(), r));
    // θ* has margin 1, so ‖θ*‖ = 1/margin, G(α*) = ½‖θ*‖², and Σα*/n = ‖θ*‖².
    const double value = 0.5 / (margin * margin);
    const double scale = n / (margin * margin * best.dual_weights->sum());
    const double square = (*best.dual_weights * scale).squaredNorm();
    const double factor = 2 * std::sqrt(2.0) * largest / (p - 1),
                 root = std::sqrt(value / (largest * largest / (p - 1)) + 0.5 * square);
    const double no_mistakes = 2 * std::sqrt(2.0) * largest * largest / std::sqrt(p - 1) *
                               std::sqrt(value / (largest * largest) + 0.5 * square);
    bool reached = false;
    for (std::int64_t epochs = 1; epochs <= 4096; epochs *= 2) {
      Options s = steps("dual_ascent", p, false, epochs, 0);
      s.accelerated = true;
      s.order = Order::random;
      const Model m = fit(data, s);
      const double t = static_cast<double>(*m.iterations) * n;
      // The weights come back with norm 1; those of the bound are θ(α), whose scale the best multiple stands for.
      auto distance = [&](double multiple) {
        const Weights gap = multiple / margin * m.weights - best.weights / margin;
        return lp_norm(gap.data(), gap.size(), p);
      };
      double low = 0, high = 4;
      for (int i = 0; i < 80; ++i) {
        const double a = low + (high - low) / 3, b = high - (high - low) / 3;
        (distance(a) < distance(b) ? high : low) = distance(a) < distance(b) ? b : a;
      }
      EXPECT_LE(distance(low), factor * root / t) << p << " after " << t;
      if (t >= no_mistakes) {
        reached = true;
        EXPECT_EQ(mistakes(rows, m), 0);
      }
    }
    EXPECT_TRUE(reached) << no_mistakes;
  }
}

TEST(Perceptron, CountsItsMistakesInTheRowWeights) {
  const Rows rows = clouds(3, 200, 5);
  const Model m = fit(make_dataset(rows), steps("perceptron", 2, true, 100));
  EXPECT_EQ(mistakes(rows, m), 0);
  const double updates = m.dual_weights->sum();
  EXPECT_EQ(updates, std::floor(updates));
  // Novikoff (1962): at most (R/γ)² mistakes, R and γ of the rows with the constant feature, here 2R² and γ ≥ 1/√2.
  const double radius = static_cast<double>(rows.radius());
  EXPECT_GE(updates, 1);
  EXPECT_LE(updates, 4 * radius * radius);
}

TEST(DualAscent, WorkingSetIsAnOption) {
  const Dataset data = make_dataset(clouds(3, 60, 5));
  Options s = hard("dual_ascent", true, 1e-6);
  s.norm = 1.3;
  s.working_set = true;
  EXPECT_EQ(fit(data, s).solver, "dual_ascent+newton");
  s.norm = 2;
  EXPECT_EQ(fit(data, s).solver, "cutting_plane");
  s.solver = "auto";
  s.norm = 1.3;
  s.working_set = false;
  EXPECT_EQ(fit(data, s).solver, "dual_ascent");
}

}  // namespace
}  // namespace margin
