// Hard margins in lp norms, 1 < p ≤ 2: certified by `auto`, against stored optima, closed forms and the l2 solver.
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/math/norm.hpp"
#include "lp_reference.hpp"
#include "margin_problems.hpp"

namespace margin {
namespace {

using namespace reference;

Options lp(double norm, bool intercept, double tolerance, const std::string& solver = "auto") {
  Options s = hard(solver, intercept, tolerance);
  s.norm = norm;
  return s;
}

Real long_norm(const double* v, Eigen::Index n, Real p) {
  Real top = 0, sum = 0;
  for (Eigen::Index j = 0; j < n; ++j) top = std::max(top, std::fabs(static_cast<Real>(v[j])));
  if (top == 0) return 0;
  for (Eigen::Index j = 0; j < n; ++j) sum += std::pow(std::fabs(static_cast<Real>(v[j])) / top, p);
  return top * std::pow(sum, 1 / p);
}

/// What must hold of any model of two classes: the ends are those of its own vectors, in plain long double.
void check_vectors(const Rows& rows, double norm, bool intercept, const Model& m) {
  ASSERT_EQ(rows.classes, 2);
  const Real lower = m.certificate.lower, upper = m.certificate.upper, radius = rows.radius();
  ASSERT_LE(lower, upper);
  const Real p = norm, r = p / (p - 1);
  // The certificate allows for the rounding of sums of d and of n terms.
  const Real allowance = 4 * (rows.dimensions() + rows.count() + 20) * std::numeric_limits<double>::epsilon();
  const auto d = static_cast<Eigen::Index>(rows.dimensions());
  const Real size = long_norm(m.weights.data(), d, p);
  if (size > 0) {
    EXPECT_NEAR(static_cast<double>(size), 1, 1e-12);
    const RealMatrix least = smallest_pairs(rows, m.weights);
    const Real b = m.intercept(0), own = std::min(least(1, 0) + b, least(0, 1) - b) / size;
    EXPECT_LE(lower, own + 1e-18L * radius);
    EXPECT_LE(own - lower, allowance * (radius + std::fabs(b)));
  }
  if (!intercept) {
    EXPECT_EQ(m.intercept(0), 0);
  }
  ASSERT_TRUE(m.dual_weights.has_value());
  EXPECT_GE(m.dual_weights->minCoeff(), 0);
  std::vector<Real> mass(2, 0);
  for (int i = 0; i < rows.count(); ++i) mass[at(rows.y[at(i)])] += (*m.dual_weights)(i, 0);
  if (mass[0] + mass[1] == 0 || (intercept && (mass[0] == 0 || mass[1] == 0))) return;
  std::vector<double> u(at(rows.dimensions()));
  for (int j = 0; j < rows.dimensions(); ++j) {
    Real sum = 0;
    for (int i = 0; i < rows.count(); ++i) {
      const int y = rows.y[at(i)];
      const Real q = (*m.dual_weights)(i, 0) / (intercept ? 2 * mass[at(y)] : mass[0] + mass[1]);
      sum += (y == 1 ? q : -q) * static_cast<Real>(rows.x[at(i)][at(j)]);
    }
    u[at(j)] = static_cast<double>(sum);
  }
  const Real proven = std::min(long_norm(u.data(), d, r), radius);
  EXPECT_GE(upper, proven * (1 - 1e-15L));
  EXPECT_LE(upper, proven + allowance * radius);
}

TEST(LpMargin, AgreesWithStoredOptima) {
  int separable = 0;
  for (const LpCase& c : lp_cases()) {
    SCOPED_TRACE(::testing::Message() << "p = " << c.p << " intercept " << c.intercept << " margin " << c.margin);
    const Rows rows{c.x, c.y, 2};
    const Model m = fit(make_dataset(rows), lp(c.p, c.intercept, 1e-7));
    check_vectors(rows, c.p, c.intercept, m);
    if (c.margin == 0) {
      EXPECT_EQ(m.status, Status::not_separable);
      continue;
    }
    ++separable;
    EXPECT_EQ(m.status, Status::optimal);
    EXPECT_LE(m.certificate.lower, c.margin * (1 + 1e-9));
    EXPECT_GE(m.certificate.upper, c.margin * (1 - 1e-9));
  }
  EXPECT_GE(separable, 60);
}

/// Rows ±x alone: the margin is ‖x‖_r, and both bounds reach it whatever the dimension and the scale.
TEST(LpMargin, OfAntipodesIsTheDualNorm) {
  Random random(5);
  for (const double p : {1.02, 1.15, 1.5, 1.99})
    for (const double size : {1.0, 1e150, 1e-150}) {
      std::vector<double> x = gaussian_row(random, 300), y;
      for (double& v : x) {
        v *= size;
        y.push_back(-v);
      }
      const double margin = static_cast<double>(long_norm(x.data(), 300, p / (p - 1)));
      for (const bool intercept : {true, false}) {
        const Model m = fit(make_dataset({{x, y}, {1, 0}, 2}), lp(p, intercept, 1e-9));
        EXPECT_EQ(m.status, Status::optimal);
        EXPECT_LE(m.certificate.lower, margin);
        EXPECT_GE(m.certificate.upper, margin);
      }
    }
}

struct Case {
  Named problem;
  double norm;
};

class LpConformance : public ::testing::TestWithParam<Case> {};

/// ‖w‖₂ ≤ ‖w‖_p ≤ d^(1/p − 1/2) ‖w‖₂, so the l2 margin encloses the lp margin; and a proof for one is one for all.
TEST_P(LpConformance, IntervalFitsTheL2Margin) {
  const auto& [problem, norm] = GetParam();
  const Dataset data = make_dataset(problem.rows);
  for (const bool intercept : {true, false}) {
    SCOPED_TRACE(intercept ? "with intercept" : "without intercept");
    const Model m = fit(data, lp(norm, intercept, 1e-5)), l2 = fit(data, hard("cutting_plane", intercept, 1e-9));
    ASSERT_TRUE(m.weights.allFinite() && m.intercept.allFinite());
    EXPECT_LE(m.certificate.lower, m.certificate.upper);
    if (problem.rows.classes > 2) continue;  // one against the rest: another problem than that of l2
    check_vectors(problem.rows, norm, intercept, m);
    const double d = problem.rows.dimensions(), ratio = std::pow(d, 1 / norm - 0.5);
    EXPECT_LE(m.certificate.lower, l2.certificate.upper);
    EXPECT_GE(m.certificate.upper * ratio * (1 + 1e-12), l2.certificate.lower);
    if (l2.status == Status::not_separable) {
      EXPECT_EQ(m.status, Status::not_separable);
    } else {
      EXPECT_EQ(m.status, Status::optimal) << m.certificate.relative_gap;
    }
  }
}

std::vector<Case> cases() {
  std::vector<Case> list;
  for (const Named& problem : named_problems())
    for (const double norm : {1.05, 1.3, 1.8}) list.push_back({problem, norm});
  return list;
}

std::string case_name(const ::testing::TestParamInfo<Case>& info) {
  std::string name = info.param.problem.name + "_p_" + std::to_string(static_cast<int>(info.param.norm * 100));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, LpConformance, ::testing::ValuesIn(cases()), case_name);

TEST(LpMargin, SparseNormAndSparseRowsGiveTheSame) {
  const Rows rows = gaussian_rows(3, 60, 20, 0.5);
  Options s = lp(2, true, 1e-9);
  s.sparse_norm = true;
  const Model dense = fit(make_dataset(rows), s), sparse = fit(make_dataset(rows, Storage::sparse), s);
  EXPECT_DOUBLE_EQ(dense.norm, 1 + 1 / std::log(20.0));
  EXPECT_NEAR(dense.certificate.lower, sparse.certificate.lower, 1e-8 * dense.certificate.upper);
  EXPECT_EQ(dense.status, Status::optimal);
  EXPECT_EQ(sparse.status, Status::optimal);
}

/// Each output is the margin of its class against the rest; the model's interval is that of the smallest.
TEST(LpMargin, OfSeveralClassesIsThatOfEachAgainstTheRest) {
  Rows rows = simplex(4);
  const Model m = fit(make_dataset(rows), lp(1.4, true, 1e-6));
  EXPECT_EQ(m.status, Status::optimal);
  ASSERT_EQ(m.weights.rows(), 4);
  double least = infinite;
  for (int c = 0; c < 4; ++c) {
    Rows one = rows;
    one.classes = 2;
    for (int& y : one.y) y = y == c ? 1 : 0;
    const Model own = fit(make_dataset(one), lp(1.4, true, 1e-6));
    least = std::min(least, own.certificate.lower);
    EXPECT_NEAR((m.weights.row(c) - own.weights.row(0)).cwiseAbs().maxCoeff(), 0, 1e-12);
  }
  EXPECT_NEAR(m.certificate.lower, least, 1e-12);
}

}  // namespace
}  // namespace margin
