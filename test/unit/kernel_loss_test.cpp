// Kernel machines of losses other than the hinge and one-class machines, with a kernel and without: their intervals
// against plain solvers of the same problems in long double that share nothing with the library.
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/kernel/support_vectors.hpp"
#include "core/model/verification.hpp"
#include "core/problem/one_class.hpp"
#include "kernel_loss_reference.hpp"
#include "margin_problems.hpp"

namespace margin {
namespace {

using namespace reference;

Options with_kernel(const std::string& kernel) {
  Options s;
  s.kernel = kernel;
  s.gamma = Gamma::number;
  s.gamma_value = 0.7;
  s.coef0 = 1;
  s.tolerance = 1e-7;
  s.dual_weights = true;
  return s;
}

/// Rows of a problem, with targets or classes of ±1, and weights.
KernelProblem random_problem(std::uint64_t seed, int n, const std::string& loss) {
  Random random(seed * 7919 + 13);
  KernelProblem p;
  p.loss = loss;
  const int d = 1 + static_cast<int>(random.below(3));
  for (int i = 0; i < n; ++i) {
    std::vector<double> x = gaussian_row(random, d);
    if (i % 5 == 4) x = p.x[at(i - 1)];  // rows that are there twice
    const double signal = std::sin(2 * x[0]) + 0.3 * gaussian(random);
    p.y.push_back(is_regression_loss(loss) ? (seed % 3 == 0 ? 1e4 + 10 * signal : signal) : signal > 0 ? 1 : -1);
    p.x.push_back(x);
    p.weight.push_back(seed % 2 == 0 ? 1 : 0.25 * static_cast<double>(1 + random.below(8)));
  }
  p.y[0] = is_regression_loss(loss) ? p.y[0] : 1;
  p.y[1] = is_regression_loss(loss) ? p.y[1] : -1;
  return p;
}

Dataset data_of(const KernelProblem& p, bool sparse = false) {
  const bool regression = is_regression_loss(p.loss);
  Dataset data(regression ? Dataset::Outcome::targets : Dataset::Outcome::classes);
  if (p.loss == "one_class")
    one_class_label(data);
  else if (!regression)
    for (const char* name : {"-1", "1"}) data.classes().intern(name, name[0] == '-' ? -1 : 1);
  for (std::size_t i = 0; i < p.x.size(); ++i) {
    const Label label = regression ? Label(p.y[i]) : Label(p.loss == "one_class" ? 0 : p.y[i] > 0 ? 1 : 0);
    const auto d = static_cast<std::int32_t>(p.x[i].size());
    if (!sparse) {
      data.append(dense_row(p.x[i].data(), d), label, p.weight[i]);
      continue;
    }
    std::vector<std::int32_t> columns;
    std::vector<double> values;
    for (std::int32_t j = 0; j < d; ++j)
      if (p.x[i][at(j)] != 0) {
        columns.push_back(j);
        values.push_back(p.x[i][at(j)]);
      }
    data.append(sparse_row(columns.data(), values.data(), static_cast<std::int32_t>(values.size()), d), label,
                p.weight[i]);
  }
  return data;
}

void expect_bracket(const Certificate& c, const Bracket& known) {
  const Real slack = 1e-12L * std::max(std::fabs(known.upper), std::fabs(known.lower)) + 1e-18L;
  EXPECT_LE(c.lower, c.upper);
  EXPECT_LE(c.lower, known.upper + slack);
  EXPECT_GE(c.upper, known.lower - slack);
}

class EveryKernelLoss : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryKernelLoss, intervals_hold_the_optimum_of_random_problems) {
  for (std::uint64_t seed = 0; seed < 24; ++seed)
    for (const char* kernel : {"rbf", "polynomial", "linear"})
      for (const bool intercept : {true, false}) {
        SCOPED_TRACE(std::string(kernel) + " seed " + std::to_string(seed) + (intercept ? "" : " without intercept"));
        KernelProblem p = random_problem(seed, 12, GetParam());
        Options s = with_kernel(kernel);
        s.loss = GetParam();
        s.solver = make_loss(s.loss, s)->smooth() ? "kernel_newton" : "smo";
        s.intercept = p.intercept = intercept;
        s.lambda = p.lambda = seed % 4 == 3 ? 1e-3 : 0.05;
        s.epsilon = p.epsilon = seed % 5 == 0 ? 0 : 0.1;
        s.quantile = p.tau = 0.8;
        p.kernel = kernel;
        p.gamma = s.gamma_value;
        const Bracket known = optimum(p);
        ASSERT_LE(known.upper - known.lower, 1e-9L * known.upper);
        const Model m = fit(data_of(p, seed % 3 == 1), s);
        ASSERT_TRUE(m.weights.allFinite());
        expect_bracket(m.certificate, known);
        // Where kernel values are large and the optimum is small, rounding leaves a little more than the tolerance.
        EXPECT_LE(m.certificate.relative_gap, 2e-7);
        EXPECT_NEAR(m.certificate.upper, static_cast<double>(known.upper), 2e-7 * static_cast<double>(known.upper));
      }
}

/// A stored model is verified to the interval of its training: what margin_verify does.
TEST_P(EveryKernelLoss, stored_models_are_verified_as_they_were_certified) {
  KernelProblem p = random_problem(6, 40, GetParam());
  p.weight.assign(p.weight.size(), 1);
  Options s = with_kernel("rbf");
  s.loss = GetParam();
  s.lambda = 0.02;
  const Dataset data = data_of(p);
  const Model m = fit(data, s);
  Verification verification(m, s, true);
  for (std::int64_t i = 0; i < data.rows(); ++i) {
    if (m.regression())
      verification.add(data.row(i), data.target(i), data.target(i), -1);
    else
      verification.add(data.row(i), p.y[static_cast<std::size_t>(i)] > 0 ? 1 : 0, -1);
  }
  const VerifiedModel v = verification.result({});
  const double slack = 1e-9 * m.certificate.upper;
  ASSERT_TRUE(v.primal.has_value() && v.dual.has_value());
  EXPECT_NEAR(*v.primal, m.certificate.upper, slack);
  EXPECT_NEAR(*v.dual, m.certificate.lower, slack);
}

std::vector<std::string> losses_of_kernels() {
  std::vector<std::string> names;
  for (const std::string_view name : loss_names())
    if (!make_loss(name, Options{})->log_link()) names.emplace_back(name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, EveryKernelLoss, ::testing::ValuesIn(losses_of_kernels()),
                         [](const auto& info) { return std::string(info.param); });

Options one_class(const std::string& kernel, double nu) {
  Options s = with_kernel(kernel);
  s.nu = nu;
  return one_class_options(s);
}

KernelProblem one_class_problem(std::uint64_t seed, int n, const std::string& kernel, double nu) {
  KernelProblem p = random_problem(seed, n, "one_class");
  for (auto& x : p.x) x[0] += 3;  // on one side of the origin, for those without a kernel
  p.kernel = kernel;
  p.gamma = 0.7;
  p.nu = nu;
  return p;
}

TEST(OneClassMachine, intervals_hold_the_optimum_of_random_problems) {
  for (std::uint64_t seed = 0; seed < 30; ++seed)
    for (const char* kernel : {"rbf", "polynomial", "linear", ""})
      for (const double nu : {1e-3, 0.1, 0.5, 0.93, 1.0}) {
        SCOPED_TRACE(std::string(kernel) + " seed " + std::to_string(seed) + " nu " + std::to_string(nu));
        const KernelProblem p = one_class_problem(seed, 14, kernel[0] == 0 ? "linear" : kernel, nu);
        Options s = one_class(kernel, nu);
        if (kernel == std::string("linear")) s.solver = "smo";
        const Bracket known = optimum(p);
        ASSERT_LE(known.upper - known.lower, 1e-10L * std::fabs(known.lower));
        const Model m = fit(data_of(p, seed % 3 == 1), s);
        ASSERT_TRUE(m.weights.allFinite());
        expect_bracket(m.certificate, known);
        EXPECT_EQ(m.status, Status::optimal) << m.certificate.relative_gap;
        EXPECT_EQ(m.classes[1], inlier);
      }
}

/// A part's tolerance goes down tenfold at least, as long as rounding leaves something to gain.
TEST(OneClassMachine, rows_in_a_line_are_solved_to_the_rounding_of_their_parts) {
  for (int constant = 0; constant < 3; ++constant)
    for (const double tolerance : {1e-6, 1e-13}) {
      KernelProblem p = one_class_problem(0, 8, "linear", 0.5);
      for (int i = 0; i < 8; ++i) p.x[static_cast<std::size_t>(i)] = {3.0 * i + constant - 12.5, 1.0 * constant};
      p.y.assign(8, 1);
      p.weight.assign(8, 1);
      Options s = one_class("", 0.5);
      s.tolerance = tolerance;
      const Model m = fit(data_of(p), s);
      ASSERT_TRUE(m.weights.allFinite());
      expect_bracket(m.certificate, optimum(p));
    }
}

TEST(OneClassMachine, stored_models_are_verified_as_they_were_certified) {
  for (const char* kernel : {"", "rbf"}) {
    SCOPED_TRACE(kernel);
    KernelProblem p = one_class_problem(3, 60, kernel, 0.2);
    p.weight.assign(p.weight.size(), 1);
    const Options s = one_class(kernel, 0.2);
    const Dataset data = data_of(p);
    const Model m = fit(data, s);
    Verification all(m, s, true), first(m, s, false), second(m, s, false);
    int outside = 0;
    for (std::int64_t i = 0; i < data.rows(); ++i) {
      all.add(data.row(i), 1, -1);
      (i % 3 == 0 ? first : second).add(data.row(i), 1, -1);
      double u = 0;
      score(scorer_of(m), data.row(i), data.dimensions(), &u);
      outside += !(u > 1e-9);
    }
    ASSERT_TRUE(first.merge(second.state()));
    const VerifiedModel v = all.result({}), parts = first.result({});
    const double slack = 1e-9 * std::fabs(m.certificate.upper);
    EXPECT_NEAR(*v.primal, m.certificate.upper, slack);
    EXPECT_NEAR(*v.dual, m.certificate.lower, slack);
    EXPECT_NEAR(*parts.primal, m.certificate.upper, slack);
    EXPECT_FALSE(parts.dual.has_value());
    // nu: at most that share is strictly outside, at least that share is not strictly inside.
    EXPECT_GE(outside, 12);
    EXPECT_LE(outside, 12 + 5);
  }
}

/// Wrong vectors prove nothing false: any weights and dual weights give an interval that holds the optimum.
TEST(OneClassMachine, no_vector_proves_anything_false) {
  Random random(5);
  for (std::uint64_t seed = 0; seed < 40; ++seed)
    for (const char* kernel : {"", "rbf"}) {
      const KernelProblem p = one_class_problem(seed, 10, kernel[0] == 0 ? "linear" : kernel, 0.4);
      Options s = one_class(kernel, 0.4);
      const Bracket known = optimum(p);
      const Dataset data = data_of(p);
      Model m = fit(data, s);
      const Problem problem = make_problem(data, s);
      const double size = std::pow(10, 4 * random.uniform() - 3);
      for (Eigen::Index j = 0; j < m.weights.size(); ++j) m.weights.data()[j] += size * gaussian(random);
      m.intercept(0) += size * gaussian(random);
      for (Eigen::Index i = 0; i < m.dual_weights->size(); ++i) m.dual_weights->data()[i] += size * gaussian(random);
      expect_bracket(certify(problem, m.weights, m.intercept, *m.dual_weights, m.basis.get()), known);
    }
}

TEST(OneClassMachine, rows_around_the_origin_have_no_machine) {
  for (const char* solver : {"auto", "smo"}) {
    Options s = one_class("", 0.5);
    s.solver = solver;
    Dataset data(Dataset::Outcome::classes);
    const Label label = one_class_label(data);
    for (const auto& x : std::vector<std::vector<double>>{{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {2, 1}, {-2, -1}})
      data.append(dense_row(x.data(), 2), label);
    const Model m = fit(data, s);
    EXPECT_EQ(m.status, Status::not_separable) << solver;
    EXPECT_LE(m.certificate.upper, 1e-12) << solver;
  }
}

TEST(OneClassMachine, options_that_mean_nothing_to_it_are_refused) {
  const std::vector<void (*)(Options&)> given = {
      [](Options& s) { s.lambda = 0.1; },          [](Options& s) { s.loss = "hinge"; },
      [](Options& s) { s.intercept = false; },     [](Options& s) { s.standardize = true; },
      [](Options& s) { s.l1_ratio = 0.5; },        [](Options& s) { s.norm = 1.5; },
      [](Options& s) { s.class_weight["a"] = 2; }, [](Options& s) { s.calibration = Calibrate::platt; },
      [](Options& s) { s.positive = true; },       [](Options& s) { s.null_for_one_class = true; },
      [](Options& s) { s.offset = "x"; },          [](Options& s) { s.initial.emplace(); }};
  for (const auto& set : given) {
    Options s;
    set(s);
    EXPECT_THROW(one_class_options(s), Error);
  }
  // A solver of labelled rows takes none.
  const KernelProblem p = one_class_problem(1, 10, "linear", 0.5);
  for (const char* solver : {"sdca", "newton", "sgd", "cutting_plane", "irls", "sampling"}) {
    Options s = one_class("", 0.5);
    s.solver = solver;
    EXPECT_THROW(fit(data_of(p), s), Error) << solver;
  }
  Options labelled;
  labelled.lambda = 0.1;
  labelled.solver = "one_class";
  EXPECT_THROW(fit(make_dataset(gaussian_rows(1, 20, 2, 0.1)), labelled), Error);
}

TEST(KernelLoss, lambda_0_and_interpolation_are_refused) {
  const KernelProblem p = random_problem(2, 10, "squared");
  Options s = with_kernel("rbf");
  s.loss = "squared";
  s.lambda = 0;
  EXPECT_THROW(fit(data_of(p), s), Error);
  s.lambda.reset();
  s.loss = "interpolate";
  EXPECT_THROW(fit(data_of(p), s), Error);
}

TEST(KernelLoss, little_memory_gives_the_same_optimum) {
  for (const char* loss : {"epsilon_insensitive", "logistic", "one_class"}) {
    KernelProblem p = random_problem(4, 700, loss);
    p.weight.assign(p.weight.size(), 1);
    Options s = with_kernel("rbf");
    s.tolerance = 1e-6;
    if (p.loss == "one_class") {
      s = one_class("rbf", 0.3);
      s.tolerance = 1e-6;
    } else {
      s.loss = loss;
      s.lambda = 1e-3;
    }
    const Dataset data = data_of(p);
    Progress progress;
    const Model free = train(data, s, progress), bounded = train(data, s, progress, MemoryBudget(7e6));
    EXPECT_EQ(free.status, Status::optimal) << loss;
    EXPECT_EQ(bounded.status, Status::optimal) << loss;
    EXPECT_NEAR(free.certificate.upper, bounded.certificate.upper, 3e-6 * std::fabs(free.certificate.upper)) << loss;
  }
}

}  // namespace
}  // namespace margin
