// The certificate of stored kernel models (margin_verify): the same as that of the training over its rows, true for any
// weights and dual weights, in one piece or several.
#include "core/certificate/kernel_check.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "margin_problems.hpp"

namespace margin {
namespace {

using namespace reference;

struct Case {
  std::string name, kernel, solver;
  int classes;
  bool intercept;
  double lambda;  // 0: hard margin
};

const Case cases[] = {
    {"hard", "rbf", "smo", 2, true, 0},
    {"through_the_origin", "polynomial", "smo", 2, false, 0},
    {"sampled", "rbf", "sampling", 2, true, 0},
    {"several_classes", "rbf", "sampling", 3, false, 0},
    {"hinge", "rbf", "smo", 2, true, 0.02},
    {"hinge_through_the_origin", "ntk", "smo", 2, false, 0.02},
    {"hinge_of_several_classes", "ntk_finite", "smo", 3, true, 0.02},
};

Options settings_of(const Case& c) {
  Options s;
  s.kernel = c.kernel;
  s.solver = c.solver;
  s.gamma = Gamma::number;
  s.gamma_value = 0.5;
  s.coef0 = 1;
  s.width = 16;
  s.intercept = c.intercept;
  s.dual_weights = true;
  s.tolerance = c.solver == "sampling" ? 0.2 : c.kernel == "ntk" ? 1e-4 : 1e-6;
  if (c.lambda > 0) s.lambda = c.lambda;
  return s;
}

/// A model as it is stored: its support vectors as doubles.
CheckedRow checked(const Row& x, int label, const double* dual) {
  CheckedRow row{x};
  row.label = label;
  row.dual = dual;
  return row;
}

struct Stored {
  Stored(const Case& c, const Model& m, const Options& s)
      : weights(m.weights), intercept(m.intercept), dual(*m.dual_weights), basis(copy_of(m), false) {
    objective.task = c.classes == 2 ? Task::binary : Task::multiclass;
    objective.classes = c.classes;
    objective.dimensions = m.dimensions;
    objective.intercept = c.intercept;
    if (c.lambda > 0) loss = make_loss("hinge", s);
    objective.loss = loss;
    objective.lambda = c.lambda;
  }
  static KernelRows copy_of(const Model& m) {
    const KernelRows& from = support_vectors_of(m.basis.get())->rows();
    KernelRows to(from.shared_kernel(), from.dimensions(), Layout::doubles);
    std::vector<double> scratch;
    for (std::size_t i = 0; i < from.size(); ++i) to.append(from.row(i, scratch));
    return to;
  }
  KernelCheck check(bool with_dual) const {
    return {objective, basis, weights.data(), objective.intercept ? intercept.data() : nullptr, with_dual};
  }
  Certificate certificate(const Rows& rows) const {
    const Dataset data = make_dataset(rows);
    KernelCheck c = check(true);
    for (std::int64_t i = 0; i < data.rows(); ++i)
      c.add(checked(data.row(i), rows.y[static_cast<std::size_t>(i)], dual.row(i).data()));
    return c.certificate({});
  }

  Weights weights;
  Eigen::VectorXd intercept;
  Weights dual;
  KernelBasis basis;
  Objective objective;
  std::shared_ptr<const Loss> loss;
};

class EveryKernelModel : public ::testing::TestWithParam<Case> {
 protected:
  const Case& c = GetParam();
  const Options options = settings_of(c);
  const Rows rows = c.lambda > 0 ? random_rows(Family::gaussian, 5, c.classes)
                                 : gaussian_rows(6, 50, 4, 0.3, c.classes);
  const Dataset data = make_dataset(rows);
  const Model model = fit(data, options);
  const Stored stored{c, model, options};
};

TEST_P(EveryKernelModel, is_verified_as_it_was_certified) {
  const Certificate& known = model.certificate;
  const Certificate found = stored.certificate(rows);
  // A row that is a support vector is not known to be one here, and ntk has a cusp there.
  const double slack = (c.kernel == "ntk" ? 1e-6 : 1e-10) * std::max(std::fabs(known.lower), known.upper);
  EXPECT_LE(known.relative_gap, 2 * options.tolerance);
  EXPECT_NEAR(found.lower, known.lower, slack);
  EXPECT_NEAR(found.upper, known.upper, slack);
  EXPECT_EQ(found.support, known.support);
  if (c.lambda == 0) {
    EXPECT_NEAR(found.smallest_margin, known.lower, slack);
  }
}

TEST_P(EveryKernelModel, pieces_add_up_to_the_end_that_needs_no_dual_weights) {
  KernelCheck whole = stored.check(false), first = stored.check(false), second = stored.check(false);
  for (std::int64_t i = 0; i < data.rows(); ++i)
    for (KernelCheck* part : {&whole, i % 3 == 0 ? &first : &second})
      part->add(checked(data.row(i), rows.y[static_cast<std::size_t>(i)], stored.dual.row(i).data()));
  ASSERT_TRUE(first.merge(second.state()));
  const Certificate a = whole.certificate({}), b = first.certificate({}), with = stored.certificate(rows);
  EXPECT_EQ(a.smallest_margin, b.smallest_margin);
  EXPECT_EQ(a.smallest_margin, with.smallest_margin);
  const auto end = [&](const Certificate& e) { return c.lambda > 0 ? e.upper : e.lower; };
  EXPECT_NEAR(end(a), end(b), 1e-14 * std::fabs(end(a)));
  EXPECT_EQ(whole.errors(), first.errors());
  EXPECT_FALSE(first.merge({1, 2}));
  EXPECT_FALSE(first.merge(std::vector<double>(second.state().size(), -1)));
}

/// Whatever is done to the vectors, both bounds stay on their sides of the optimum, which the training has certified.
TEST_P(EveryKernelModel, no_vector_proves_anything_false) {
  const double slack = 1e-12 * model.certificate.radius;
  const double top = model.certificate.upper + slack, bottom = model.certificate.lower - slack;
  const double nan = std::nan("");
  int moved = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    Stored forged(c, model, options);
    auto forge = [&](auto& values) {
      const auto at = static_cast<Eigen::Index>(random.uniform() * static_cast<double>(values.size()));
      double& v = values.data()[at];
      const double choices[] = {0, -v, v * (1 + random.uniform()), v * 1e3, gaussian(random), nan, 1e300, 1e-300};
      v = choices[static_cast<std::size_t>(random.uniform() * 8)];
    };
    const int kind = static_cast<int>(seed % 4);
    if (kind == 0 || kind == 3) forge(forged.weights);
    if (kind == 1 || kind == 3) forge(forged.dual);
    if (kind == 2) forge(forged.intercept);
    if (seed % 5 == 0) forged.dual = forged.dual.colwise().reverse().eval();
    if (seed % 7 == 0) forged.weights *= 1 + random.uniform();
    const Certificate e = forged.certificate(rows);
    EXPECT_LE(e.lower, top) << seed;
    EXPECT_GE(e.upper, bottom) << seed;
    EXPECT_FALSE(std::isnan(e.lower) || std::isnan(e.upper) || std::isnan(e.smallest_margin)) << seed;
    moved += !(e.relative_gap <= 2 * options.tolerance);
  }
  EXPECT_GE(moved, 20);
}

INSTANTIATE_TEST_SUITE_P(All, EveryKernelModel, ::testing::ValuesIn(cases),
                         [](const auto& info) { return info.param.name; });

TEST(KernelCheck, other_rows_have_a_certificate_of_their_own) {
  const Case& c = cases[0];
  const Options s = settings_of(c);
  const Rows rows = gaussian_rows(6, 50, 4, 0.3);
  const Model m = fit(make_dataset(rows), s);
  Rows wrong = rows;
  for (int& y : wrong.y) y = 1 - y;
  const Stored stored(c, m, s);
  const Certificate found = stored.certificate(wrong);
  EXPECT_LT(found.lower, 0);
  EXPECT_GE(found.upper, m.certificate.lower);  // the same hulls
  KernelCheck nothing = stored.check(true);
  EXPECT_EQ(nothing.certificate({}).smallest_margin, -std::numeric_limits<double>::infinity());
}

TEST(KernelCheck, refuses_rows_beyond_the_range_of_kernels) {
  const Case& c = cases[0];
  const Options s = settings_of(c);
  const Model m = fit(make_dataset(gaussian_rows(6, 50, 4, 0.3)), s);
  const Stored stored(c, m, s);
  KernelCheck check = stored.check(false);
  for (const double size : {1e80, 1e300}) {
    const std::vector<double> x(4, size);
    EXPECT_THROW(check.add({{x.data(), nullptr, 4, true}}), Error);
  }
  const std::vector<double> zero(4, 0.0);
  check.add({{zero.data(), nullptr, 4, true}});
}

}  // namespace
}  // namespace margin
