// SimdLoops and the solvers that know rows only through them: values against their definitions in long double,
// intervals against a plain solver of the dual that shares nothing with the library.
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>

#include "core/base/error.hpp"
#include "core/base/normal.hpp"
#include "core/kernel/column_cache.hpp"
#include "core/kernel/support_vectors.hpp"
#include "margin_problems.hpp"

namespace margin {
namespace {

using namespace reference;

Options with_kernel(const std::string& kernel) {
  Options s;
  s.kernel = kernel;
  s.solver = "smo";
  s.gamma = Gamma::number;
  s.gamma_value = 0.7;
  s.degree = 3;
  s.coef0 = 1;
  s.width = 16;
  s.dual_weights = true;
  return s;
}

Real inner(const std::vector<double>& x, const std::vector<double>& y) {
  Real sum = 0;
  for (std::size_t j = 0; j < x.size(); ++j) sum += static_cast<Real>(x[j]) * y[j];
  return sum;
}

/// The definitions of docs/reference/kernels.md.
Real exact(const Options& s, const std::vector<double>& x, const std::vector<double>& y) {
  const Real dot = inner(x, y), norms = std::sqrt(inner(x, x) * inner(y, y)), pi = 3.14159265358979323846264L;
  if (s.kernel == "linear") return dot;
  if (s.kernel == "polynomial") return std::pow(s.gamma_value * dot + s.coef0, static_cast<Real>(s.degree));
  if (s.kernel == "rbf") return std::exp(-s.gamma_value * (inner(x, x) + inner(y, y) - 2 * dot));
  if (s.kernel == "ntk") {
    if (norms == 0) return 0;
    const Real cosine = std::min<Real>(1, std::max<Real>(-1, dot / norms)), angle = std::acos(cosine);
    return (dot * (pi - angle) + norms * (std::sin(angle) + (pi - angle) * cosine)) / (2 * pi);
  }
  if (s.kernel != "ntk_finite") throw std::logic_error("no reference for the kernel " + s.kernel);
  Normal normal(s.seed);
  Real sum = 0;
  for (int k = 0; k < s.width; ++k) {
    std::vector<double> u(x.size());
    for (double& v : u) v = normal.next();
    const Real a = inner(u, x), b = inner(u, y);
    if (a > 0 && b > 0) sum += dot + a * b;
  }
  return sum / s.width;
}

TEST(KernelRows, a_row_beyond_the_dimensions_is_refused_and_writes_nothing) {
  const double values[] = {1, 2};
  const std::int32_t far[] = {0, 0x10000000}, negative[] = {-1, 0}, unordered[] = {9, 0};
  for (const Layout layout : {Layout::floats, Layout::doubles, Layout::sparse, Layout::compact}) {
    KernelRows rows(make_kernel("linear", {}, 5), 5, layout);
    for (const std::int32_t* indices : {far, negative, unordered})
      EXPECT_THROW(rows.append({values, indices, 2, true}), Error);
    const double many[] = {1, 2, 3, 4, 5, 6};
    EXPECT_THROW(rows.append({many, nullptr, 6, true}), Error);
    EXPECT_EQ(rows.size(), 0U);
  }
}

class EveryKernel : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryKernel, values_are_those_of_its_definition_within_their_bounds) {
  const Rows rows = gaussian_rows(3, 40, 7, 0);
  const Options s = with_kernel(GetParam());
  for (const Storage storage : {Storage::doubles, Storage::sparse}) {
    const Dataset data = make_dataset(rows, storage);
    for (const Layout layout : {Layout::doubles, Layout::sparse, Layout::compact}) {
      KernelRows kernel(make_kernel(data, s, {}), 7, layout);
      for (int i = 0; i < rows.count(); ++i) kernel.append(data.row(i));
      KernelPoint point;
      std::vector<double> values(40), errors(40);
      double *value_at = values.data(), *error_at = errors.data();
      Eigen::MatrixXd gram(40, 40);
      for (int i = 0; i < rows.count(); ++i) {
        kernel.set(point, data.row(i));
        kernel.evaluate({&point}, 0, 40, &value_at, &error_at);
        for (int k = 0; k < rows.count(); ++k) {
          const Real expected = exact(s, rows.x[at(i)], rows.x[at(k)]);
          EXPECT_LE(std::fabs(values[at(k)] - expected), errors[at(k)] + 1e-18L) << i << " " << k;
          if (i != k) {
            EXPECT_LE(errors[at(k)], 1e-11 * (1 + static_cast<double>(std::fabs(expected))));
          }
          gram(i, k) = values[at(k)];
        }
        EXPECT_NEAR(kernel.diagonal(at(i)), static_cast<double>(exact(s, rows.x[at(i)], rows.x[at(i)])),
                    1e-12 * (1 + gram(i, i)));
      }
      EXPECT_GE(Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(gram).eigenvalues().minCoeff(), -1e-6 * gram.trace());
    }
  }
}

TEST_P(EveryKernel, columns_are_the_same_however_few_fit) {
  const Rows rows = gaussian_rows(4, 70, 5, 0);
  const Dataset data = make_dataset(rows);
  const Progress nothing;
  const KernelRows kernel = kernel_rows(data, make_kernel(data, with_kernel(GetParam()), nothing), nothing);
  KernelColumns few(kernel, 1, nothing), all(kernel, 1e9, nothing);
  EXPECT_EQ(few.capacity(), 8U);
  std::vector<std::int64_t> which(70);
  for (std::size_t i = 0; i < which.size(); ++i) which[i] = static_cast<std::int64_t>(i);
  for (int turn = 0; turn < 2; ++turn) {
    std::vector<std::vector<double>> seen(70);
    all.each(which, [&](std::size_t k, const double* column) { seen[k].assign(column, column + 70); });
    few.each(which, [&](std::size_t k, const double* column) {
      EXPECT_EQ(seen[k], std::vector<double>(column, column + 70)) << k;
    });
  }
  EXPECT_EQ(all.computed(), 70);
}

INSTANTIATE_TEST_SUITE_P(All, EveryKernel,
                         ::testing::ValuesIn(std::vector<std::string>(kernel_names().begin(), kernel_names().end())),
                         [](const auto& info) { return std::string(info.param); });

TEST(SimdLoops, a_wide_network_has_the_kernel_of_the_limit) {
  Options finite = with_kernel("ntk_finite"), limit = with_kernel("ntk");
  finite.width = 20000;
  const Rows rows = gaussian_rows(5, 6, 3, 0);
  for (int i = 0; i < 6; ++i)
    for (int k = 0; k < i; ++k) {
      const auto norms =
          static_cast<double>(std::sqrt(inner(rows.x[at(i)], rows.x[at(i)]) * inner(rows.x[at(k)], rows.x[at(k)])));
      EXPECT_NEAR(static_cast<double>(exact(finite, rows.x[at(i)], rows.x[at(k)])),
                  static_cast<double>(exact(limit, rows.x[at(i)], rows.x[at(k)])), 0.03 * norms);
    }
}

TEST(SimdLoops, gamma_scale_is_that_of_scikit_learn) {
  Rows rows;
  rows.add({1, 2}, 0);
  rows.add({3, 6}, 1);
  Options s = with_kernel("rbf");
  s.gamma = Gamma::scale;  // the variance of 1, 2, 3, 6 is 3.5
  EXPECT_DOUBLE_EQ(make_kernel(make_dataset(rows), s, {})->parameters().gamma, 1 / (2 * 3.5));
  s.gamma = Gamma::automatic;
  EXPECT_DOUBLE_EQ(make_kernel(make_dataset(rows), s, {})->parameters().gamma, 0.5);
}

/// The dual by plain coordinate and pair steps in long double: both bounds of the optimum, which it brackets itself.
struct Bracket {
  Real lower, upper;
};
Bracket reference_solution(const Rows& rows, const Options& s) {
  const int n = rows.count();
  std::vector<std::vector<Real>> k(at(n), std::vector<Real>(at(n)));
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) k[at(i)][at(j)] = exact(s, rows.x[at(i)], rows.x[at(j)]);
  const bool hard = !s.lambda;
  const Real c = hard ? 1e12L : 1 / (static_cast<Real>(*s.lambda) * n);
  std::vector<Real> beta(at(n), 0), error(at(n));
  auto sign = [&](int i) { return rows.y[at(i)] == 1 ? 1 : -1; };
  for (int i = 0; i < n; ++i) error[at(i)] = sign(i);
  auto high = [&](int i) { return sign(i) > 0 ? c : 0; };
  auto low = [&](int i) { return sign(i) > 0 ? 0 : -c; };
  Real top = 0, bottom = 0;
  for (int step = 0; step < 200000; ++step) {
    int i = -1, j = -1;
    for (int t = 0; t < n; ++t) {
      if (beta[at(t)] < high(t) && (i < 0 || error[at(t)] > error[at(i)])) i = t;
      if (beta[at(t)] > low(t) && (j < 0 || error[at(t)] < error[at(j)])) j = t;
    }
    top = i < 0 ? 0 : error[at(i)];
    bottom = j < 0 ? 0 : error[at(j)];
    if (s.intercept ? top - bottom < 1e-13L : std::max(top, -bottom) < 1e-13L) break;
    auto move = [&](int t, Real by) {
      beta[at(t)] += by;
      for (int u = 0; u < n; ++u) error[at(u)] -= by * k[at(u)][at(t)];
    };
    if (s.intercept) {
      const Real curvature = std::max<Real>(1e-15L, k[at(i)][at(i)] + k[at(j)][at(j)] - 2 * k[at(i)][at(j)]);
      const Real by = std::min({(top - bottom) / curvature, high(i) - beta[at(i)], beta[at(j)] - low(j)});
      move(i, by);
      move(j, -by);
    } else {
      const int t = top > -bottom ? i : j;
      const Real by = error[at(t)] / std::max<Real>(1e-15L, k[at(t)][at(t)]);
      move(t, std::min(high(t), std::max(low(t), beta[at(t)] + by)) - beta[at(t)]);
    }
  }
  Real linear = 0, square = 0, mass = 0;
  for (int i = 0; i < n; ++i) {
    linear += sign(i) * beta[at(i)];
    square += beta[at(i)] * (sign(i) - error[at(i)]);
    mass += std::fabs(beta[at(i)]);
  }
  Real positive = infinite, negative = infinite;
  for (int i = 0; i < n; ++i)
    (sign(i) > 0 ? positive : negative) = std::min(sign(i) > 0 ? positive : negative, 1 - sign(i) * error[at(i)]);
  if (hard) {
    const Real norm = std::sqrt(square), least = s.intercept ? (positive + negative) / 2 : std::min(positive, negative);
    return {least / norm, norm / mass};
  }
  Real loss = infinite;  // the best intercept is one of the errors
  for (int b = -1; b < (s.intercept ? n : 0); ++b) {
    Real sum = 0;
    for (int i = 0; i < n; ++i) sum += c * std::max<Real>(0, sign(i) * (error[at(i)] - (b < 0 ? 0 : error[at(b)])));
    loss = std::min(loss, sum);
  }
  const Real lambda = *s.lambda;
  return {lambda * (linear - square / 2), lambda * (square / 2 + loss)};
}

TEST(Smo, intervals_hold_the_optimum_of_random_problems) {
  int checked = 0, reached = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed)
    for (const char* kernel : {"rbf", "polynomial", "ntk"})
      for (const bool intercept : {true, false})
        for (const double lambda : {0.0, 0.05}) {
          Options s = with_kernel(kernel);
          s.intercept = intercept;
          // The angle of rows in one direction is known to the root of rounding only, and ntk has a cusp there.
          s.tolerance = kernel == std::string("ntk") ? 1e-4 : 1e-6;
          if (lambda > 0) s.lambda = lambda;
          const Rows rows =
              lambda > 0 ? random_rows(static_cast<Family>(seed % 7), seed, 2) : gaussian_rows(seed, 14, 3, 0.2);
          SCOPED_TRACE(std::string(kernel) + " seed " + std::to_string(seed) + " lambda " + std::to_string(lambda));
          const Bracket known = reference_solution(rows, s);
          const Model m = fit(make_dataset(rows), s);
          ASSERT_TRUE(m.weights.allFinite());
          const double lower = m.certificate.lower;
          const double upper = m.certificate.upper;
          EXPECT_LE(lower, upper);
          const Real slack = 1e-13L * std::fabs(known.upper);
          EXPECT_LE(lower, known.upper + slack);
          EXPECT_GE(upper, known.lower - slack);
          ++checked;
          reached += m.status == Status::optimal;
        }
  EXPECT_GE(checked, 200);
  EXPECT_EQ(reached, checked);
}

TEST(Smo, weights_of_rows_count_as_copies) {
  const Rows rows = gaussian_rows(8, 40, 3, 0);
  Rows copies = rows;
  Dataset weighted(Dataset::Outcome::classes);
  for (int c = 0; c < 2; ++c) weighted.classes().intern(std::to_string(c), c);
  for (int i = 0; i < rows.count(); ++i) {
    weighted.append(dense_row(rows.x[at(i)].data(), 3), rows.y[at(i)], i % 3 == 0 ? 2 : 1);
    if (i % 3 == 0) copies.add(rows.x[at(i)], rows.y[at(i)]);
  }
  Options s = with_kernel("rbf");
  s.lambda = 0.02;
  s.tolerance = 1e-8;
  const Model a = fit(weighted, s), b = fit(make_dataset(copies), s);
  EXPECT_NEAR(a.certificate.upper, b.certificate.upper, 1e-7 * a.certificate.upper);
}

TEST(Smo, little_memory_gives_the_same_optimum) {
  const Rows rows = clouds(2, 600, 4);
  Options s = with_kernel("rbf");
  s.gamma_value = 0.3;
  s.lambda = 1e-4;
  s.tolerance = 1e-6;
  const Dataset data = make_dataset(rows);
  Progress progress;
  const Model free = train(data, s, progress), bounded = train(data, s, progress, MemoryBudget(4e6));
  EXPECT_EQ(bounded.status, Status::optimal);
  EXPECT_NEAR(free.certificate.upper, bounded.certificate.upper, 2e-6 * free.certificate.upper);
}

/// Nearly all rows are support vectors, and the working set holds one in six of them: rows that may rise and rows that
/// may fall have to come into it together.
TEST(Smo, little_memory_suffices_for_many_support_vectors) {
  Rows rows;
  Random random(11);
  for (int i = 0; i < 2000; ++i) rows.add(gaussian_row(random, 6), random.uniform() < 0.5 ? 1 : 0);
  Options s = with_kernel("rbf");
  s.gamma_value = 0.2;
  s.lambda = 1e-3;
  s.tolerance = 1e-3;
  Progress progress;
  const Model m = train(make_dataset(rows), s, progress, MemoryBudget(8e6));
  EXPECT_EQ(m.status, Status::optimal);
  EXPECT_LE(m.iterations, 200);
  EXPECT_GE(m.certificate.support, 1500);
}

TEST(Smo, contradictions_and_vanishing_kernels_are_proven) {
  Rows contradiction;
  contradiction.add({1, 2}, 0);
  contradiction.add({1, 2}, 1);
  contradiction.add({0, 1}, 1);
  for (const char* solver : {"smo", "sampling", "kernel_batch_perceptron"}) {
    Options s = with_kernel("rbf");
    s.solver = solver;
    s.max_iterations = 500;
    const Model m = fit(make_dataset(contradiction), s);
    EXPECT_LE(m.certificate.lower, 1e-12) << solver;
    if (solver == std::string("smo")) {
      EXPECT_EQ(m.status, Status::not_separable);
    }
    s.kernel = "linear";
    Rows zero;
    zero.add({0, 0}, 0);
    zero.add({0, 0}, 1);
    EXPECT_EQ(fit(make_dataset(zero), s).status, Status::not_separable) << solver;
  }
}

/// The smaller margin of two equal rows of different classes is −‖w‖ times their length, whatever the rounding left of
/// w.
TEST(Smo, weights_of_no_certain_norm_claim_no_margin_of_0) {
  for (const bool intercept : {false, true}) {
    SCOPED_TRACE(intercept);
    Options s = with_kernel("linear");
    s.intercept = intercept;
    s.max_iterations = 1;
    const Rows rows{{{255, 254}, {255, 254}}, {0, 1}, 2};
    const Model m = fit(make_dataset(rows), s);
    const auto& basis = *support_vectors_of(m.basis.get());
    Real w[2] = {0, 0};
    for (Eigen::Index k = 0; k < m.weights.cols(); ++k)
      for (int j = 0; j < 2; ++j)
        w[j] +=
            static_cast<Real>(m.weights(0, k)) *
            rows.x[static_cast<std::size_t>(basis.origin()[static_cast<std::size_t>(k)])][static_cast<std::size_t>(j)];
    const Real score = w[0] * 255 + w[1] * 254, b = m.intercept(0), norm = std::sqrt(w[0] * w[0] + w[1] * w[1]);
    const Real margin = norm > 0 ? -std::fabs(score + b) / norm : 0;
    EXPECT_LE(m.certificate.lower, margin);
    EXPECT_EQ(m.status, Status::not_separable);
  }
}

TEST(Sampling, refuses_the_steps_of_others) {
  Options s = with_kernel("rbf");
  s.solver = "sampling";
  for (const Step step : {Step::quadratic, Step::wolfe, Step::adaboost, Step::optimal}) {
    s.step = step;
    EXPECT_THROW(fit(make_dataset({{{1, 2}, {0, 1}}, {0, 1}, 2}), s), Error);
  }
}

/// The first step knows no upper bound, so a margin that it reaches says nothing about the best one.
TEST(Sampling, a_first_step_that_separates_is_not_the_last) {
  const Rows rows{{{1, 0.5}, {1, -0.25}, {-1, 0.25}, {-0.5, -0.125}}, {1, 1, 0, 0}, 2};
  Options s = with_kernel("linear");
  s.solver = "sampling";
  s.intercept = false;
  s.tolerance = 0.1;
  for (s.seed = 0; s.seed < 8; ++s.seed) {
    const Model m = fit(make_dataset(rows), s);
    EXPECT_EQ(m.status, Status::optimal) << s.seed;
    EXPECT_LE(m.certificate.relative_gap, 0.1) << s.seed;
  }
}

TEST(Sampling, theorem_4_1_holds) {
  // Rows of norm 1 at most, margin g without an intercept; ε, δ = 0.1 and T as the theorem says.
  Rows rows;
  Random random(11);
  while (rows.count() < 20) {
    const double angle = 6.283185307179586 * random.uniform();
    if (std::cos(angle) >= 0.8) rows.add({std::cos(angle), std::sin(angle)}, 1);
    if (std::cos(angle) <= -0.8) rows.add({std::cos(angle), std::sin(angle)}, 0);
  }
  const std::optional<Margin> known = maximum_margin(rows, false);
  ASSERT_TRUE(known.has_value());
  const auto g = static_cast<double>(known->lower);
  const double epsilon = 0.4, delta = 0.1, n = rows.count();
  Options s = with_kernel("linear");
  s.solver = "sampling";
  s.step = Step::theory;
  s.intercept = false;
  s.tolerance = 0;
  s.max_iterations = static_cast<std::int64_t>(std::ceil(std::max(
      (32 * std::log(n) + 64 * std::log(2 / delta)) / (g * g * epsilon * epsilon), 32 / (delta * epsilon * epsilon))));
  const Dataset data = make_dataset(rows);
  int held = 0;
  for (s.seed = 0; s.seed < 100; ++s.seed) held += fit(data, s).certificate.lower >= g - epsilon;
  EXPECT_GE(held, 90);
}

TEST(Sampling, the_order_of_figure_3) {
  // Margins after the same number of kernel columns, on the tangent kernel: momentum, batch perceptron, theory.
  const Rows rows = gaussian_rows(21, 300, 8, 0.3);
  const Dataset data = make_dataset(rows);
  auto margin_of = [&](const char* solver, Step step) {
    Options s = with_kernel("ntk_finite");
    s.width = 128;
    s.solver = solver;
    s.step = step;
    s.intercept = false;
    s.tolerance = 0;
    s.max_iterations = 1500;
    return fit(data, s).certificate.lower;
  };
  const double momentum = margin_of("sampling", Step::automatic),
               perceptron = margin_of("kernel_batch_perceptron", Step::automatic),
               theory = margin_of("sampling", Step::theory);
  EXPECT_GE(momentum, perceptron);
  EXPECT_GT(perceptron, theory);
}

TEST(Sampling, ends_of_several_classes_bracket_each_other_and_repeat) {
  const Rows rows = gaussian_rows(31, 90, 4, 0.3, 3);
  const Dataset data = make_dataset(rows);
  for (const char* solver : {"sampling", "kernel_batch_perceptron"}) {
    Options s = with_kernel("linear");
    s.solver = solver;
    s.intercept = false;
    s.tolerance = 0.05;
    s.max_iterations = 20000;
    const Model m = fit(data, s), again = fit(data, s);
    const Model best = fit(data, hard("cutting_plane", false, 1e-8));
    EXPECT_LE(m.certificate.lower, best.certificate.upper) << solver;
    EXPECT_GE(m.certificate.upper, best.certificate.lower) << solver;
    EXPECT_EQ(m.weights, again.weights) << solver;
    EXPECT_GT(m.certificate.lower, 0) << solver;
  }
}

TEST(Normal, numbers_are_standard_normal) {
  Normal normal(5);
  double sum = 0, square = 0, fourth = 0;
  const int n = 200000;
  for (int i = 0; i < n; ++i) {
    const double x = normal.next();
    sum += x;
    square += x * x;
    fourth += x * x * x * x;
  }
  EXPECT_NEAR(sum / n, 0, 0.01);
  EXPECT_NEAR(square / n, 1, 0.02);
  EXPECT_NEAR(fourth / n, 3, 0.15);
  for (const double t : {0.0, 0.1, 0.25, 0.3, 0.5, 0.77, 123.456})
    EXPECT_NEAR(cosine_of_turns(t), std::cos(6.283185307179586 * t), 1e-13);
  for (const double u : {1.0, 0.9, 0.5, 1e-3, 0x1p-53})
    EXPECT_NEAR(natural_log(u), std::log(u), 1e-14 * (1 - std::log(u)));
}

}  // namespace
}  // namespace margin
