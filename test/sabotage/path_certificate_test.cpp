// The certificates of a path must not lean on what its solver knows of the rows. This program links solvers that overlook
// column 0 when they sum columns up, or when they take second moments over (CMakeLists.txt changes a line of each), and rows
// of which column 0 tells the most.
#include <gtest/gtest.h>

#include "core/base/random.hpp"
#include "core/certificate/certificate.hpp"
#include "core/problem/problem.hpp"
#include "core/solvers/elastic_net/column_risk.hpp"
#include "core/train/path.hpp"
#include "core/train/train.hpp"

namespace margin {
namespace {

class Paths : public ::testing::TestWithParam<std::tuple<const char*, double>> {
 protected:
  static bool classes() { return !is_regression_loss(std::get<0>(GetParam())); }
  static Dataset rows() {
    Random random(5);
    Dataset data(classes() ? Dataset::Outcome::classes : Dataset::Outcome::targets);
    for (int i = 0; i < 120; ++i) {
      double x[3];
      for (double& v : x) v = random.uniform() - 0.5;
      const double y = 3 * x[0] + 0.3 * x[1] + 0.2 * (random.uniform() - 0.5);
      if (classes())
        data.append(dense_row(x, 3), data.classes().intern(y > 0 ? "yes" : "no", y > 0));
      else
        data.append(dense_row(x, 3), y);
    }
    return data;
  }
  static Options settings() {
    Options s;
    s.loss = std::get<0>(GetParam());
    s.l1_ratio = std::get<1>(GetParam());
    s.intercept_form = InterceptForm::free;
    s.tolerance = 1e-4;
    return s;
  }
  static std::vector<Model> follow(const Dataset& data, bool limited) {
    SelectionOptions path;
    path.settings = settings();
    path.losses = {path.settings.loss};
    // A limit has the path go by columns, where it would go by second moments.
    if (limited) path.settings.max_iterations = 300;
    path.lambdas = {0.1, 0.03, 0.01, 0.003};
    return train_path(data, path, Progress());
  }
  /// A value that some weights attain, and so no lower bound of the optimum: of a grid over all three, by the loss's own
  /// words.
  static double attained(const Dataset& data, double lambda) {
    Options s = settings();
    s.lambda = lambda;
    const Problem p = make_problem(data, s);
    double best = std::numeric_limits<double>::infinity();
    for (double w0 = 0; w0 <= 6; w0 += 0.25)
      for (double w1 = 0; w1 <= 0.5; w1 += 0.25)
        for (double b = -0.25; b <= 0.25; b += 0.25) {
          double sum = 0;
          for (std::int64_t i = 0; i < p.rows(); ++i) {
            const Row x = p.data.row(i);
            sum += p.loss->value(w0 * x.value(0) + w1 * x.value(1) + b, p.target(i, 0));
          }
          const double rho = s.l1_ratio;
          best =
              std::min(best, sum / p.total_weight + lambda * (rho * (w0 + w1) + (1 - rho) / 2 * (w0 * w0 + w1 * w1)));
        }
    return best;
  }
};

TEST_P(Paths, the_sums_of_this_program_are_broken) {
  const Dataset data = rows();
  Options s = settings();
  s.lambda = 0.01;
  const Problem p = make_problem(data, s);
  const Progress progress;
  const Columns columns(p.data, progress);
  ColumnRisk risk(p, columns, progress);
  risk.select(0);
  risk.move({0, 0, 0}, 0);
  risk.combine();
  EXPECT_EQ(risk.sums()[0], 0);
  EXPECT_NE(risk.sums()[1], 0);
}

TEST_P(Paths, what_the_solver_overlooked_is_inside_of_the_interval) {
  const Dataset data = rows();
  for (const bool limited : {true, false}) {
    const std::vector<Model> models = follow(data, limited);
    ASSERT_EQ(models.size(), 4U);
    for (const Model& m : models) {
      const double value = attained(data, *m.lambda);
      EXPECT_LE(m.certificate.lower, value) << *m.lambda;
      if (m.certificate.upper > 1.01 * value) {
        EXPECT_NE(m.status, Status::optimal) << *m.lambda;
      }
    }
    // Or nothing was overlooked, and the bounds held by themselves.
    EXPECT_GT(models.back().certificate.upper, 1.5 * attained(data, *models.back().lambda));
    EXPECT_NE(models.back().status, Status::optimal);
  }
}

INSTANTIATE_TEST_SUITE_P(Sabotage, Paths,
                         ::testing::Combine(::testing::Values("logistic", "squared", "squared_hinge", "huber"),
                                            ::testing::Values(1.0, 0.5)));

}  // namespace
}  // namespace margin
