// Kernel machines of low rank: their interval is that of the exact problem.
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/kernel/support_vectors.hpp"
#include "core/loss/loss.hpp"
#include "core/math/rounding.hpp"
#include "core/solvers/solver.hpp"
#include "margin_problems.hpp"

namespace margin {
namespace {

using namespace reference;

/// Classes or targets that bend over two of three features.
Dataset bent(int n, int classes, bool weighted = false) {
  Dataset data(classes == 0 ? Dataset::Outcome::targets : Dataset::Outcome::classes);
  for (int c = 0; c < classes; ++c) data.classes().intern(std::to_string(c), c);
  Random random(23);
  for (int i = 0; i < n; ++i) {
    const std::vector<double> x = gaussian_row(random, 3);
    const double signal = std::sin(2 * x[0]) + x[1] * x[1] - 1 + 0.3 * gaussian(random);
    const int label = signal > 0 ? (classes == 3 && x[2] > 0 ? 2 : 1) : 0;
    data.append(dense_row(x.data(), 3), classes == 0 ? Label(signal) : Label(label),
                weighted ? 0.25 * static_cast<double>(1 + random.below(8)) : 1.0);
  }
  return data;
}

Options low_rank(const std::string& loss) {
  Options s;
  s.solver = "nystrom";
  s.kernel = "rbf";
  s.gamma = Gamma::number;
  s.gamma_value = 0.5;
  s.loss = loss;
  s.lambda = 1e-2;
  s.tolerance = 1e-2;
  return s;
}

class EveryLossOfLowRank : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryLossOfLowRank, proves_the_exact_problem) {
  Options s = low_rank(GetParam());
  const bool regression = is_regression_loss(GetParam());
  for (const int classes : regression ? std::vector<int>{0} : std::vector<int>{2, 3})
    for (const bool intercept : {true, false}) {
      SCOPED_TRACE(std::to_string(classes) + (intercept ? "" : " without intercept"));
      s.intercept = intercept;
      const Dataset data = bent(600, classes, classes != 3);
      const Model m = fit(data, s);
      EXPECT_EQ(m.solver, "nystrom");
      EXPECT_EQ(m.status, Status::optimal);
      EXPECT_LE(m.certificate.relative_gap, s.tolerance);
      Options all = s;
      all.solver = make_loss(s.loss, s)->smooth() ? "kernel_newton" : "smo";
      all.tolerance = 1e-6;
      const Model known = fit(data, all);
      EXPECT_LE(m.certificate.lower, known.certificate.upper);
      EXPECT_GE(m.certificate.upper, known.certificate.lower);
      EXPECT_LE(support_vectors_of(m.basis.get())->size(), 600);
    }
}

std::vector<std::string> losses() {
  std::vector<std::string> names;
  for (const std::string_view name : loss_names())
    if (!make_loss(name, Options{})->log_link()) names.emplace_back(name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(All, EveryLossOfLowRank, ::testing::ValuesIn(losses()),
                         [](const auto& info) { return std::string(info.param); });

TEST(Nystrom, keeps_to_its_components_and_says_so) {
  Options s = low_rank("hinge");
  s.tolerance = 1e-6;
  s.n_components = 8;
  const Model m = fit(bent(600, 2), s);
  EXPECT_EQ(m.solver, "nystrom");
  EXPECT_EQ(m.status, Status::iteration_limit);
  EXPECT_LE(support_vectors_of(m.basis.get())->size(), 8);
  EXPECT_GT(m.certificate.relative_gap, s.tolerance);
  EXPECT_LT(m.certificate.relative_gap, 1);
  EXPECT_LE(m.certificate.lower, m.certificate.upper);
}

TEST(Nystrom, more_components_prove_more) {
  double before = infinity;
  for (const int components : {4, 32, 256}) {
    Options s = low_rank("hinge");
    s.tolerance = 1e-9;
    s.n_components = components;
    const double gap = fit(bent(600, 2), s).certificate.relative_gap;
    EXPECT_LT(gap, before);
    before = gap;
  }
  EXPECT_LT(before, 1e-2);
}

/// The rank ends anywhere between two doublings.
TEST(Nystrom, takes_all_that_there_is) {
  for (const double gamma : {0.1, 0.2, 0.5, 0.8, 1.2, 2.0, 4.0}) {
    Options s = low_rank("squared_hinge");
    s.gamma_value = gamma;
    s.tolerance = 1e-12;
    const Model m = fit(bent(700, 2), s);
    EXPECT_LE(m.certificate.relative_gap, 1e-3) << gamma;
  }
}

TEST(Nystrom, takes_no_hard_margin) {
  Options s = low_rank("");
  s.lambda.reset();
  EXPECT_THROW(fit(bent(60, 2), s), Error);
}

}  // namespace
}  // namespace margin
