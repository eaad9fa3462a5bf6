// joint: all classes at once (option multiclass => 'joint').
//
// Problem    min P(W, b) of certificate/joint.hpp: multinomial logistic regression (loss logistic), or Crammer and
//            Singer's machine (loss hinge). Three classes or more; two are one problem of two (problem/problem.cpp).
// Update     logistic: Newton's method (newton.hpp). Hinge: dual coordinate ascent with conjugate gradients on its faces
//            (ascent.hpp, face.hpp), and Newton's method from its vectors should the gap no longer close; Newton's method
//            alone with a free intercept, whose dual constraint no step of a single row respects.
// Stop       P − D ≤ tolerance · P.
// Source     the files above name theirs.
#include <algorithm>
#include <cmath>

#include "core/solvers/joint/ascent.hpp"
#include "core/solvers/one_vs_rest.hpp"
#include "core/solvers/run.hpp"
#include "core/solvers/solver.hpp"

namespace margin {

namespace {

constexpr double never = 50;  // below all other scores: that of a class without weight

class Joint final : public Solver {
 public:
  const SolverRecord& record() const override {
    static const SolverRecord record = {
        "joint",
        "all classes at once: Newton's method with conjugate gradients, for the hinge after "
        "dual coordinate ascent (multiclass => 'joint')",
        SolverRecord::joint,
        SolverRecord::l2,
        SolverRecord::Losses::joint_forms,
        false,
        {"seed", "initial"},
        feature::several_classes | feature::free_intercept};
    return record;
  }
  double workspace(const Problem& p) const override {
    const double n = static_cast<double>(p.rows()), stride = p.classes + 3.0;
    return JointNewton::workspace(p) + JointAscent::workspace(p) + 8 * n * (2 * stride + p.classes + 2) +
           8 * 3 * stride * (p.dimensions() + 1.0);
  }
  Solution solve(const Problem& p, const Options& options, const Progress& progress) const override;
};

/// Throws Error(wrong_dimensions).
void start_from(const InitialModel& model, const Problem& problem, const JointRows& rows, const JointTerms& terms,
                JointPoint& point) {
  const auto k = static_cast<std::size_t>(problem.classes), d = rows.features(), stride = rows.stride();
  const auto n = static_cast<std::size_t>(rows.rows());
  require_shape(model, k, d);
  for (std::size_t c = 0; c < k; ++c) {
    for (std::size_t j = 0; j < d; ++j) point.w[rows.at(j, c)] = model.weights[c * d + j];
    if (rows.constant() != 0 && !model.intercept.empty()) point.w[rows.at(d, c)] = model.intercept[c] / rows.constant();
    rows.run().work(static_cast<double>(d));
  }
  if (!terms.hinge()) return;
  if (model.dual_weights.size() == n * k) {
    for (std::size_t i = 0; i < n; ++i) {
      double* const p = point.p.data() + i * stride;
      const auto y = static_cast<std::size_t>(rows.label(static_cast<std::int64_t>(i)));
      for (std::size_t c = 0; c < k; ++c) p[c] = (c == y ? 1.0 : 0.0) - model.dual_weights[i * k + c];
      project_on_simplex(p, k);
      rows.run().work(static_cast<double>(4 * k));
    }
    return;
  }
  // The weights alone: what a proximal step from no errors makes of them.
  const LargeArray none = point.p;
  rows.all_scores(point.w.data(), point.s.data());
  terms.mask(point.s.data());
  terms.at(point.s.data(), none.data(), 1, point.p.data());
}

Solution Joint::solve(const Problem& problem, const Options& options, const Progress& progress) const {
  Run run(options, progress, name(), 1000);
  Solution s = zero_solution(problem, name(), run);
  const JointRows rows(problem, run);
  const JointTerms terms(rows, joint_of(problem.loss.get())->form());
  const auto n = static_cast<std::size_t>(rows.rows()), k = static_cast<std::size_t>(problem.classes),
             stride = rows.stride();
  JointPoint point{LargeArray(rows.size(), 0.0), LargeArray(n * stride), LargeArray(n * stride)};
  for (std::size_t i = 0; i < n; ++i) {
    std::fill_n(point.s.data() + i * stride, stride, 0.0);
    std::fill_n(point.p.data() + i * stride, stride, 0.0);
    point.p[i * stride + static_cast<std::size_t>(rows.label(static_cast<std::int64_t>(i)))] = 1;
    run.work(static_cast<double>(4 * stride));
  }
  if (options.initial.has_value()) start_from(*options.initial, problem, rows, terms, point);
  JointNewton newton(problem, rows, terms, options.tolerance, run, s.iterations);
  s.status = solve_joint(rows, terms, newton, options.seed, run, s.iterations, point);
  for (std::size_t c = 0; c < k; ++c) {
    const auto o = static_cast<Eigen::Index>(c);
    for (std::size_t j = 0; j < rows.features(); ++j)
      s.weights(o, static_cast<Eigen::Index>(j)) = point.w[rows.at(j, c)];
    if (rows.constant() != 0) s.intercept(o) = point.w[rows.at(rows.features(), c)] * rows.constant();
    run.work(static_cast<double>(2 * rows.features()));
  }
  double least = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const auto y = static_cast<std::size_t>(rows.label(static_cast<std::int64_t>(i)));
    for (std::size_t c = 0; c < k; ++c) {
      s.dual(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(c)) =
          rows.cost(static_cast<std::int64_t>(i)) > 0 ? (c == y ? 1.0 : 0.0) - point.p[i * stride + c] : 0.0;
      if (terms.absent()[c] == 0) least = std::min(least, point.s[i * stride + c]);
    }
    run.work(static_cast<double>(2 * k));
  }
  for (std::size_t c = 0; c < k; ++c)
    if (terms.absent()[c] != 0) s.intercept(static_cast<Eigen::Index>(c)) = least - never;
  s.trace = run.take_trace();
  return s;
}

const Joint joint_solver;

}  // namespace

extern const Solver& joint;
const Solver& joint = joint_solver;

}  // namespace margin
