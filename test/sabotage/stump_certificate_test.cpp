// The certificate of stumps must not lean on the search for stumps. This program links a search that overlooks feature
// 1 (CMakeLists.txt changes one line of it), and rows that only feature 1 tells apart.
#include <gtest/gtest.h>

#include "core/certificate/certificate.hpp"
#include "core/solvers/l1_margin/stump_learners.hpp"
#include "core/train/train.hpp"

namespace margin {
namespace {

class Stumps : public ::testing::TestWithParam<bool> {
 protected:
  /// 40 rows: the class is the sign of feature 1; of the others each agrees with it on a part of the rows.
  static Dataset rows(bool noise) {
    Dataset data(Dataset::Outcome::classes);
    for (int i = 0; i < 40; ++i) {
      const double y = i % 2 == 0 ? 1 : -1;
      const double x[] = {y, noise && i < 27 ? y : 0, noise && i >= 13 ? y : 0, noise && i % 3 != 0 ? y : 0};
      data.append(dense_row(x, 4), data.classes().intern(y > 0 ? "yes" : "no", y));
    }
    return data;
  }
  static Model fit(bool noise, bool intercept) {
    Options s;
    s.norm = 1;
    s.learners = Learners::stumps;
    s.intercept = intercept;
    s.max_iterations = 500;
    s.tolerance = 0.05;
    Progress progress;
    return train(rows(noise), s, progress);
  }
};

TEST_P(Stumps, the_search_of_this_program_is_broken) {
  const Dataset data = rows(true);
  Progress progress;
  StumpLearners learners(data, progress);
  Eigen::VectorXd v(data.rows());
  for (Eigen::Index i = 0; i < v.size(); ++i) v(i) = (i % 2 == 0 ? 1.0 : -1.0) / 40;
  EXPECT_LT(std::fabs(learners.best(v, progress).edge), 0.9);
}

TEST_P(Stumps, a_stump_that_the_solver_missed_is_inside_of_the_interval) {
  const Model m = fit(true, GetParam());
  EXPECT_GE(m.certificate.upper, 1 - 1e-9);  // the stump of feature 1 alone has margin 1
  EXPECT_LT(m.certificate.lower, 0.9);
  EXPECT_NE(m.status, Status::optimal);
}

TEST_P(Stumps, separable_rows_are_never_called_not_separable) {
  const Model m = fit(false, GetParam());
  EXPECT_GE(m.certificate.upper, 1 - 1e-9);
  EXPECT_NE(m.status, Status::not_separable);
}

INSTANTIATE_TEST_SUITE_P(Sabotage, Stumps, ::testing::Bool());

}  // namespace
}  // namespace margin
