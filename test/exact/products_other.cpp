// Classes trained jointly, lambda 0, and one class.
#include <cmath>

#include "core/analysis/model_ball.hpp"
#include "core/certificate/certificate.hpp"
#include "core/loss/joint.hpp"
#include "core/problem/offset.hpp"
#include "core/scans/train_scans.hpp"
#include "products.hpp"

namespace exact {

namespace {

using margin::Random;

JointProblem joint_problem(const Training& t, const Real& lambda) {
  const margin::Problem& p = t.problem;
  JointProblem out;
  out.multinomial = p.loss_name == "logistic";
  out.classes = static_cast<std::size_t>(p.classes);
  for (std::int64_t i = 0; i < p.rows(); ++i) {
    out.x.push_back(features_of(p, p.data.row(i)));
    out.y.push_back(static_cast<std::size_t>(p.label[static_cast<std::size_t>(i)]));
    out.c.emplace_back(p.weight(i));
    out.total += Real(p.data.weight(i));
  }
  out.lambda = lambda;
  if (p.intercept)
    out.intercept = p.free_intercept ? OracleProblem::Intercept::free : OracleProblem::Intercept::penalised;
  out.intercept_scale = p.intercept_scale;
  return out;
}

Optimum interval_of(const JointOptimum& o) {
  Optimum out;
  out.proven = o.proven;
  out.lower = o.lower;
  out.upper = o.upper;
  return out;
}

/// The interval of the same training by scans, of samples of two rows and more. Refused: the claim is of others.
void by_scans(const Training& t, Random& random, const Optimum& optimum, Claims& claims) {
  try {
    margin::Options options = t.settings;
    options.sample_rows = 2 + random.below(3);
    options.dual_weights = false;
    margin::MemorySource source(t.rows.data());
    const margin::Model model = margin::train_scans(source, options, margin::Progress());
    claims.holds(model.certificate.lower, model.certificate.upper, optimum, "interval by scans");
  } catch (const margin::Error&) {
  }
}

void joint(Random& random, Case& c, Claims& claims) {
  const std::string loss = random.below(2) == 0 ? "logistic" : "hinge";
  const std::uint32_t k = 2 + random.below(random.below(4) == 0 ? 3 : 2);
  draw_rows(random, c, k + random.below(5), 1 + random.below(2), random.below(2) == 0);
  draw_loss(random, c, loss);
  draw_classes(random, c, k);
  draw_weights(random, c);
  set(c.options, "lambda", draw_lambda(random));
  set(c.options, "multiclass", std::string("joint"));
  set(c.options, "dual_weights", true);
  draw_tolerance(random, c);
  const std::uint64_t form = random.below(3);
  if (form == 0)
    set(c.options, "intercept", false);
  else
    set(c.options, "intercept", std::string(form == 1 ? "free" : "penalized"));
  if (form == 2 && random.below(3) == 0) set(c.options, "intercept_scale", among<double>(random, {0.1, 10}));
  if (random.below(6) == 0) set(c.options, "class_weight", std::string("balanced"));
  const Training t(c);
  const double lambda = *t.settings.lambda;
  const JointOptimum best = joint_optimum(joint_problem(t, lambda));
  const Optimum optimum = interval_of(best);
  claims.holds(t.model.certificate.lower, t.model.certificate.upper, optimum, "interval");
  by_scans(t, random, optimum, claims);
  if (k == 2) {  // the same problem in the difference of the weights: one oracle against the other
    const Optimum other = optimum_of(oracle_problem(t.problem, t.settings, 0));
    const Real digits = abs(best.upper) * Real(1e-60);
    claims.that(other.lower <= best.upper + digits && best.lower <= other.upper + digits,
                "two oracles differ: " + other.lower.text() + ", " + best.upper.text());
  }
  // Dual weights that need a balance, with a free intercept: those of the training, moved.
  for (int again = 0; again < 3 && t.model.outputs() > 1 && t.model.dual_weights.has_value(); ++again) {
    margin::Weights dual = *t.model.dual_weights;
    const double by = power_of_ten(random, -8, 0);
    for (Eigen::Index i = 0; i < dual.rows(); ++i) {
      double all = 0;
      const auto label = static_cast<Eigen::Index>(t.problem.label[static_cast<std::size_t>(i)]);
      for (Eigen::Index o = 0; o < dual.cols(); ++o) {
        if (o == label) continue;
        if (random.below(3) == 0) dual(i, o) *= 1 - by * random.uniform();
        if (random.below(6) == 0) dual(i, o) -= by * random.uniform();
        all += dual(i, o);
      }
      if (all < -1)
        for (Eigen::Index o = 0; o < dual.cols(); ++o) dual(i, o) /= o == label ? 1.0 : -all;
      dual(i, label) = std::min(1.0, -all);
    }
    const margin::Certificate moved =
        margin::certify(t.problem, t.weights(), t.model.intercept, dual, nullptr, margin::Progress());
    claims.holds(moved.lower, moved.upper, optimum, "interval of moved dual weights");
  }
  try {
    for (const double at : {lambda, lambda * power_of_ten(random, -3, 3)}) {
      const margin::IntervalAt found = margin::gap_at(t.model, t.settings, at);
      claims.holds(found.lower, found.upper, interval_of(joint_optimum(joint_problem(t, at))), "at another lambda");
    }
  } catch (const margin::Error&) {
  }
  if (t.problem.free_intercept || !best.proven) return;
  margin::ScoreIntervals of(t.model, t.settings);
  const auto outputs = static_cast<std::size_t>(t.model.outputs());
  std::vector<double> lower(outputs), upper(outputs);
  const Real error = sqrt(Real(2) * (best.upper - best.lower) / Real(lambda)), scale = t.problem.intercept_scale;
  for (int again = 0; again < 3; ++again) {
    std::vector<double> x = c.x[random.below(c.x.size())];
    for (double& v : x) v *= again == 2 ? among<double>(random, {0, -2, 1e-170, 100}) : 1.0;
    const margin::Row row = margin::dense_row(x.data(), static_cast<std::int32_t>(x.size()));
    const bool certain = of.intervals(row, lower.data(), upper.data());
    const Vector features = features_of(t.problem, row);
    const Real off = Real(2) * error * sqrt(dot(features, features) + (t.problem.intercept ? scale * scale : Real(0)));
    Vector score;
    for (std::size_t a = 0; a < best.w.size(); ++a) score.push_back(dot(features, best.w[a]) + best.b[a]);
    for (std::size_t o = 0; o < outputs; ++o) {
      const Real s = outputs == 1 ? score[1] - score[0] : score[o];
      claims.at_most(lower[o], s, off, "ball, lower end above the optimum's score");
      claims.at_least(upper[o], s, off, "ball, upper end below the optimum's score");
    }
    if (!certain) continue;
    std::vector<double> own(outputs);
    margin::score(margin::scorer_of(t.model), row, static_cast<std::int32_t>(x.size()), own.data());
    const auto decided = static_cast<std::size_t>(margin::decide(t.model.outputs(), own.data()));
    for (std::size_t a = 0; a < score.size(); ++a)
      if (a != decided) claims.that(score[decided] - score[a] > -off, "ball, certain of another class");
  }
}

void likelihood(Random& random, Case& c, Claims& claims) {
  const std::string loss = among<std::string>(random, {"logistic", "squared", "poisson"});
  draw_rows(random, c, 4 + random.below(7), 1 + random.below(2), random.below(3) == 0);
  draw_loss(random, c, loss);
  if (loss == "logistic")
    draw_classes(random, c, 2);
  else
    draw_targets(random, c, loss);
  draw_weights(random, c);
  set(c.options, "lambda", 0.0);
  draw_tolerance(random, c);
  if (random.below(3) == 0) set(c.options, "intercept", false);
  if (random.below(5) == 0 && c.x[0].size() > 1) set(c.options, "offset_feature", 1.0);
  if (loss == "logistic" && random.below(6) == 0) set(c.options, "class_weight", std::string("balanced"));
  const Training t(c);
  const OracleProblem p = oracle_problem(t.problem, t.settings, 0);
  const Optimum found = optimum_of(p);
  const margin::Certificate& got = t.model.certificate;
  claims.holds(got.lower, got.upper, found, "interval");
  by_scans(t, random, found, claims);
  // Vectors near these have certificates of their own.
  for (int again = 0; again < 2; ++again) {
    margin::Weights w = t.weights();
    Eigen::VectorXd b = t.model.intercept;
    for (double& v : b) v -= t.problem.target_center;
    const double by = power_of_ten(random, -9, 0);
    for (Eigen::Index j = 0; j < w.size(); ++j)
      if (j != t.problem.offset) w.data()[j] += by * (random.uniform() - 0.5) * (std::fabs(w.data()[j]) + 1);
    for (double& v : b) v += t.problem.intercept ? by * (random.uniform() - 0.5) : 0.0;
    const margin::Certificate moved =
        margin::certify(t.problem, w, b, margin::Weights(0, 0), nullptr, margin::Progress());
    claims.holds(moved.lower, moved.upper, found, "interval of moved weights");
  }
  if (t.model.status != margin::Status::separable) return;
  // The weights, which the offset is not among, move no row to the wrong side, and some row off the boundary.
  const margin::Weights w = t.weights();
  bool right = false;
  for (std::size_t i = 0; i < p.x.size(); ++i) {
    if (!(p.c[i] > 0)) continue;
    Real u = t.model.intercept(0);
    if (loss != "logistic") return;
    for (std::size_t j = 0; j < p.x[i].size(); ++j) u += Real(w(0, static_cast<Eigen::Index>(j))) * p.x[i][j];
    claims.that(p.y[i] * u >= 0, "separable, with a row on the wrong side");
    right = right || p.y[i] * u > 0;
  }
  claims.that(right, "separable, with all rows on the boundary");
}

}  // namespace

std::vector<Family> other_families() { return {{"joint classes", joint}, {"lambda 0", likelihood}}; }

}  // namespace exact
