// The certificate of trees must not lean on the search for trees. This program links a search that weighs splits alone
// (CMakeLists.txt changes one line of it), and a checkerboard, of which no split says anything.
#include <gtest/gtest.h>

#include "core/certificate/certificate.hpp"
#include "core/solvers/l1_margin/tree_learners.hpp"
#include "core/train/train.hpp"

namespace margin {
namespace {

Dataset board() {
  Dataset data(Dataset::Outcome::classes);
  for (int i = 0; i < 16; ++i) {
    const bool yes = (i % 4 < 2) == (i / 4 < 2);
    const double x[] = {i % 4 + 0.5, i / 4 + 0.5};
    data.append(dense_row(x, 2), data.classes().intern(yes ? "yes" : "no", yes ? 1 : 0));
  }
  return data;
}

TEST(Trees, the_search_of_this_program_is_broken) {
  const Progress progress;
  TreeLearners learners(board(), progress);
  Eigen::VectorXd v(16);
  for (int i = 0; i < 16; ++i) v(i) = ((i % 4 < 2) == (i / 4 < 2) ? 1.0 : -1.0) / 16;
  EXPECT_LT(learners.best(v, progress).edge, 0.9);
}

TEST(Trees, a_margin_that_the_solver_missed_is_inside_of_the_interval) {
  for (const bool intercept : {false, true}) {
    Options s;
    s.norm = 1;
    s.learners = Learners::trees;
    s.intercept = intercept;
    s.max_iterations = 50;
    const Model m = train(board(), s, {});
    EXPECT_GE(m.certificate.upper, 1 - 1e-9);  // one tree alone has margin 1
    EXPECT_LT(m.certificate.lower, 0.9);
    EXPECT_NE(m.status, Status::optimal);
    EXPECT_NE(m.status, Status::not_separable);
  }
}

}  // namespace
}  // namespace margin
