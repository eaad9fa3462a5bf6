// Rows left out: bounds of single scores, and counts of errors, against trainings without the row.
#include <cmath>
#include <utility>

#include "core/analysis/leave_one_out.hpp"
#include "core/analysis/update.hpp"
#include "core/certificate/certificate.hpp"
#include "core/certificate/risk.hpp"
#include "core/consequences/left_out/left_out.hpp"
#include "products.hpp"

namespace exact {

namespace {

using margin::Random;

void left_out(Random& random, Case& c, Claims& claims) {
  const std::string loss =
      among<std::string>(random, {"hinge", "hinge", "smoothed_hinge", "squared_hinge", "logistic", "logistic"});
  const std::uint32_t k = random.below(6) == 0 ? 3 : 2;
  draw_rows(random, c, k + 2 + random.below(6), 1 + random.below(3), random.below(3) == 0);
  draw_classes(random, c, k);
  draw_loss(random, c, loss);
  draw_weights(random, c);
  set(c.options, "lambda", draw_lambda(random));
  set(c.options, "tolerance", among<double>(random, {0.1, 1e-2, 1e-4, 1e-8, 1e-12}));
  set(c.options, "dual_weights", true);
  const std::uint64_t form = random.below(4);
  if (form == 0)
    set(c.options, "intercept", false);
  else
    set(c.options, "intercept", std::string(form == 1 && loss != "hinge" ? "free" : "penalized"));
  if (form > 1 && random.below(3) == 0) set(c.options, "intercept_scale", among<double>(random, {0.1, 10}));
  const Training t(c);
  // The proofs take vectors as they are: those of the training, or somewhere near.
  margin::Weights weights = t.weights(), dual = *t.model.dual_weights;
  const double moved = random.below(2) == 0 ? 0.0 : power_of_ten(random, -8, 0);
  for (Eigen::Index j = 0; j < weights.size(); ++j) weights.data()[j] *= 1 + moved * (random.uniform() - 0.5);
  for (Eigen::Index i = 0; i < dual.size(); ++i) {
    double& a = dual.data()[i];
    if (a != 0) a *= 1 - moved * random.uniform();
  }
  margin::RiskCheck check(margin::objective_of(t.problem), weights.data(), t.model.intercept.data(), true);
  margin::add_rows(check, t.problem, dual, nullptr, margin::Progress());
  const auto outputs = static_cast<std::size_t>(t.problem.outputs());
  std::vector<std::vector<Optimum>> optima(outputs);
  Matrix errors(outputs), scores(outputs);
  for (std::size_t o = 0; o < outputs; ++o) {
    const auto at = static_cast<std::int32_t>(o);
    const OracleProblem whole = oracle_problem(t.problem, t.settings, at);
    const Real s = !t.problem.intercept ? Real(0) : whole.intercept_scale;
    const double dual_value = check.dual(at);
    margin::Weights used = dual;
    if (!(dual_value > 0)) used.setZero();
    const margin::Progress progress;
    margin::LeftOut of(t.problem, at, weights.row(at).data(), t.model.intercept(at), used,
                       std::max(0.0, check.primal(at) - dual_value), progress);
    for (std::size_t i = 0; i < c.x.size(); ++i) {
      scores[o].emplace_back();
      errors[o].emplace_back(INFINITY);
      optima[o].emplace_back();
      if (!(t.problem.weight(static_cast<std::int64_t>(i)) > 0)) continue;
      OracleProblem p = whole;
      leave_out(p, i);
      p.width = 1e-60;
      const Optimum found = optima[o].back() = optimum_of(p);
      ++(found.proven ? claims.optima : claims.missing);
      if (!found.proven) continue;
      const Precision precision(1000);
      scores[o].back() = dot(p.x[i], found.w) + found.b;
      // A free intercept is near where it is found, too: the interval is 60 digits of the objective.
      errors[o].back() = distance_of(p, found) * sqrt(dot(p.x[i], p.x[i]) + s * s) +
                         (t.problem.free_intercept ? (abs(found.b) + Real(1)) * Real(1e-20) : Real(0));
      if (!errors[o].back().number()) continue;
      for (const double wanted : {0.0, static_cast<double>(NAN)}) {
        const margin::ScoreInterval in = of.score(static_cast<std::int64_t>(i), wanted);
        claims.at_most(in.lower, scores[o].back(), errors[o].back(), "left out, lower end above the score");
        claims.at_least(in.upper, scores[o].back(), errors[o].back(), "left out, upper end below the score");
      }
    }
  }
  // Rows that are certainly wrong or right without themselves.
  long wrong = 0, right = 0, rows = 0;
  for (std::size_t i = 0; i < c.x.size(); ++i) {
    if (!(t.problem.weight(static_cast<std::int64_t>(i)) > 0)) continue;
    ++rows;
    const auto own = static_cast<std::size_t>(t.problem.label[i]);
    if (outputs == 1) {
      const Real& u = scores[0][i];
      if (abs(u) > errors[0][i]) ++((u > 0) == (own == 1) ? right : wrong);
      continue;
    }
    bool surely_right = true, surely_wrong = false;
    for (std::size_t o = 0; o < outputs; ++o) {
      if (o == own) continue;
      const Real ahead = scores[own][i] - scores[o][i], error = errors[own][i] + errors[o][i];
      surely_right = surely_right && ahead > error;
      surely_wrong = surely_wrong || -ahead > error;
    }
    right += surely_right;
    wrong += surely_wrong;
  }
  const bool refit = random.below(3) == 0;
  const margin::LeaveOneOut found =
      margin::leave_one_out(t.rows.data(), t.model, t.settings, margin::LeaveOneOutOptions{refit}, margin::Progress());
  claims.that(found.rows == rows, "leave-one-out counts other rows");
  claims.that(found.upper >= wrong, "leave-one-out has an upper bound below the errors");
  claims.that(found.lower <= rows - right, "leave-one-out has a lower bound above the errors");
}

/// Of models with penalty factors or offsets: the certificate of the problem without a row, whose cost is 0 and which
/// still counts in W, for the vectors of all rows. Nothing else is claimed.
void penalised_left_out(Random& random, Case& c, Claims& claims) {
  draw_penalised(random, c);
  const Training t(c);
  margin::Problem without = t.problem;
  const auto n = static_cast<std::size_t>(without.rows());
  if (without.row_weight.empty())
    for (std::size_t i = 0; i < n; ++i) without.row_weight.push_back(without.weight(static_cast<std::int64_t>(i)));
  for (int again = 0; again < 3; ++again) {
    const std::size_t i = random.below(n);
    const double before = std::exchange(without.row_weight[i], 0.0);
    const OracleProblem p = oracle_problem(without, t.settings, 0);
    bool counts = false;
    for (const Real& cost : p.c) counts = counts || cost > 0;
    if (counts) {
      margin::Weights dual = t.model.dual_weights.value_or(margin::Weights(0, 0));
      const margin::Certificate of =
          margin::certify(without, t.weights(), t.model.intercept, dual, nullptr, margin::Progress());
      claims.holds(of.lower, of.upper, optimum_of(p), "without a row");
    }
    without.row_weight[i] = before;
  }
  refuses(claims, "leave-one-out", [&] {
    margin::leave_one_out(t.rows.data(), t.model, t.settings, margin::LeaveOneOutOptions{}, margin::Progress());
  });
  refuses(claims, "an update", [&] { margin::ModelUpdate(t.model, t.settings); });
}

}  // namespace

std::vector<Family> left_out_families() {
  return {{"left out", left_out}, {"left out, with factors or offsets", penalised_left_out}};
}

}  // namespace exact
