// Soft margins: the interval, that of another lambda, and where the scores of the optimum are.
#include <cmath>

#include "core/analysis/model_ball.hpp"
#include "core/analysis/model_curvature.hpp"
#include "core/loss/loss.hpp"
#include "core/math/rounding.hpp"
#include "products.hpp"

namespace exact {

namespace {

using margin::Random;

std::vector<Optimum> optima_of(const Training& t, const Real& lambda, Claims& claims, Optimum& sum) {
  std::vector<Optimum> out;
  sum = Optimum();
  sum.proven = true;
  for (std::int32_t o = 0; o < t.problem.outputs(); ++o) {
    OracleProblem p = oracle_problem(t.problem, t.settings, o);
    p.lambda = lambda;
    p.width = 1e-60;
    out.push_back(optimum_of(p));
    sum.proven = sum.proven && out.back().proven;
    sum.lower += out.back().lower;
    sum.upper += out.back().upper;
  }
  static_cast<void>(claims);
  return out;
}

/// Rows of the training, others, and such as are empty, tiny or huge.
std::vector<std::vector<double>> rows_to_score(Random& random, const Case& c) {
  std::vector<std::vector<double>> out{c.x[random.below(c.x.size())], c.x[random.below(c.x.size())]};
  std::vector<double> other = c.x[random.below(c.x.size())];
  const double by = among<double>(random, {0, 1e-170, 1e8, -1, 1e-3});
  for (double& v : other) v *= by;
  out.push_back(other);
  for (double& v : other) v = 3 * random.uniform() - 1.5;
  out.push_back(other);
  return out;
}

void hold_scores(const Training& t, const margin::Model& model, const std::vector<Optimum>& optima,
                 const std::vector<std::vector<double>>& rows, Claims& claims, const std::string& what) {
  margin::ScoreIntervals of(model, t.settings);
  const auto outputs = static_cast<std::size_t>(model.outputs());
  std::vector<double> lower(outputs), upper(outputs);
  for (const std::vector<double>& x : rows) {
    const margin::Row row = margin::dense_row(x.data(), static_cast<std::int32_t>(x.size()));
    const bool certain = of.intervals(row, lower.data(), upper.data());
    const Vector features = features_of(t.problem, row);
    Vector score(outputs), error(outputs);
    bool known = true;
    for (std::size_t o = 0; o < outputs; ++o) {
      const OracleProblem p = oracle_problem(t.problem, t.settings, static_cast<std::int32_t>(o));
      const Real s = p.intercept == OracleProblem::Intercept::none ? Real(0) : p.intercept_scale;
      score[o] = dot(features, optima[o].w) + optima[o].b + Real(t.problem.target_center);
      if (t.problem.offset >= 0) score[o] += Real(x[static_cast<std::size_t>(t.problem.offset)]);
      error[o] = distance_of(p, optima[o]) * sqrt(dot(features, features) + s * s);
      if (!error[o].number()) {
        known = false;
        continue;
      }
      claims.at_most(lower[o], score[o], error[o], what + ", lower end above the optimum's score");
      claims.at_least(upper[o], score[o], error[o], what + ", upper end below the optimum's score");
    }
    if (!certain || !known) continue;
    std::vector<double> own(outputs);
    margin::score(margin::scorer_of(model), row, static_cast<std::int32_t>(x.size()), own.data());
    const auto decided = static_cast<std::size_t>(margin::decide(model.outputs(), own.data()));
    if (outputs == 1) {
      claims.that((decided == 1 ? score[0] : -score[0]) > -error[0], what + ", certain of the other class");
      continue;
    }
    for (std::size_t o = 0; o < outputs; ++o)
      if (o != decided)
        claims.that(score[decided] - score[o] > -(error[decided] + error[o]), what + ", certain of another class");
  }
}

/// An option that a solver or a product does not take with others is refused: that is counted, and no defect.
void draw(Random& random, Case& c, const std::string& loss) {
  const bool classes = !margin::is_regression_loss(loss);
  const std::uint32_t k = classes && random.below(5) == 0 ? 3 : 2;
  draw_rows(random, c, k + random.below(6), 1 + random.below(3), true);
  draw_loss(random, c, loss);
  if (classes)
    draw_classes(random, c, k);
  else
    draw_targets(random, c, loss);
  draw_weights(random, c);
  set(c.options, "lambda", draw_lambda(random));
  draw_tolerance(random, c);
  const std::uint64_t form = random.below(4);
  if (form == 0)
    set(c.options, "intercept", false);
  else
    set(c.options, "intercept", std::string(form == 1 ? "free" : "penalized"));
  if (form > 1 && random.below(3) == 0) set(c.options, "intercept_scale", among<double>(random, {0.01, 10, 3}));
  const std::uint64_t other = random.below(10);
  if (other == 0) set(c.options, "l1_ratio", among<double>(random, {0.5, 0.1, 0.9}));
  if (other == 1 && margin::make_loss(loss, margin::parse_options(c.options))->smooth()) draw_factors(random, c);
  if (other == 2 && c.x[0].size() > 1 && k == 2) set(c.options, "offset_feature", 1.0);
  if (classes && random.below(6) == 0) set(c.options, "class_weight", std::string("balanced"));
}

void soft(Random& random, Case& c, Claims& claims) {
  const auto& losses = margin::loss_names();
  draw(random, c, std::string(losses[random.below(losses.size())]));
  const Training t(c);
  Optimum sum;
  const std::vector<Optimum> optima = optima_of(t, t.problem.lambda, claims, sum);
  claims.holds(t.model.certificate.lower, t.model.certificate.upper, sum, "interval");
  const auto rows = rows_to_score(random, c);
  try {
    hold_scores(t, t.model, optima, rows, claims, "ball");
  } catch (const margin::Error&) {
  }
  if (t.problem.l1_ratio < 1 && !t.problem.free_intercept) {
    const double far = margin::distance_to_optimum(t.model, t.settings, t.model.certificate.gap);
    Real square, error;
    const margin::Weights w = t.weights();
    for (std::size_t o = 0; o < optima.size(); ++o) {
      const auto at = static_cast<Eigen::Index>(o);
      for (std::size_t j = 0; j < optima[o].w.size(); ++j) {
        if (static_cast<std::int32_t>(j) == t.problem.offset) continue;
        const Real by = Real(w(at, static_cast<Eigen::Index>(j))) - optima[o].w[j];
        square += by * by;
      }
      const OracleProblem p = oracle_problem(t.problem, t.settings, static_cast<std::int32_t>(o));
      error += distance_of(p, optima[o]);
      if (!t.problem.intercept) continue;
      const Real by = (Real(t.model.intercept(at)) - Real(t.problem.target_center) - optima[o].b) / p.intercept_scale;
      square += by * by;
      // What is stored of an intercept is rounded.
      error +=
          (abs(Real(t.model.intercept(at))) + abs(Real(t.problem.target_center))) * Real(1e-15) / p.intercept_scale;
    }
    if (error.number()) claims.at_least(far, sqrt(square), error, "distance below that of the optimum");
  }
  // Another lambda; its own among them.
  try {
    std::vector<double> lambdas{t.problem.lambda, t.problem.lambda * 0.3, t.problem.lambda * 5};
    lambdas.push_back(t.problem.lambda * power_of_ten(random, -8, 8));
    lambdas.push_back(draw_lambda(random));
    for (const double lambda : lambdas) {
      const margin::IntervalAt at = margin::gap_at(t.model, t.settings, lambda);
      Optimum there;
      optima_of(t, lambda, claims, there);
      claims.holds(at.lower, at.upper, there, "at another lambda");
    }
  } catch (const margin::Error&) {
  }
}

void curved(Random& random, Case& c, Claims& claims) {
  draw(random, c, among<std::string>(random, {"logistic", "squared_hinge", "squared"}));
  for (const char* const option : {"l1_ratio", "penalty_factor", "offset_feature", "class_weight"})
    c.options.erase(option);
  if (c.options.count("intercept") > 0 && std::holds_alternative<std::string>(c.options["intercept"].data))
    set(c.options, "intercept", std::string("penalized"));
  const Training t(c);
  const double share = among<double>(random, {0.01, 0.2, 1});
  const margin::Model model =
      margin::with_curvature(t.model, t.rows.data(), t.settings, margin::CurvatureOptions{share}, margin::Progress());
  Optimum sum;
  const std::vector<Optimum> optima = optima_of(t, t.problem.lambda, claims, sum);
  claims.holds(model.certificate.lower, model.certificate.upper, sum, "interval");
  hold_scores(t, model, optima, rows_to_score(random, c), claims, "ellipsoid");
  for (std::int32_t o = 0; o < model.outputs(); ++o) {
    const double constant = t.settings.intercept ? t.settings.intercept_scale : 0;
    const std::vector<double> place = margin::curved_place(model, o, constant);
    const margin::Ellipsoid of((*model.dual_point->curvature)[static_cast<std::size_t>(o)], place, t.problem.lambda,
                               constant, margin::Progress());
    if (!of.holds()) continue;
    const OracleProblem p = oracle_problem(t.problem, t.settings, o);
    const margin::Weights w = t.weights();
    Vector at;
    for (std::int32_t j = 0; j < t.problem.dimensions(); ++j) at.emplace_back(w(o, j));
    const Real b = constant > 0 ? Real(constant) * Real(place.back()) : Real(0);
    const Precision precision(1000);  // both values anew: of rows of 1e-104 they agree in 230 digits
    const Optimum& best = optima[static_cast<std::size_t>(o)];
    const Real above = primal_of(p, at, b) - primal_of(p, best.w, best.b);
    claims.at_least(of.decrease(), above, 0, "ellipsoid, the objective falls by more");
  }
}

/// Bounds and constraints that some weights meet, or, one time in eight, none do.
bool draw_rules(Random& random, Case& c) {
  const std::size_t width = c.x[0].size();
  const double size = random.below(3) == 0 ? power_of_ten(random, -6, 6) : 1;
  std::vector<double> inside(width);
  for (double& w : inside) w = size * (2 * random.uniform() - 1);
  using margin::Value;
  if (random.below(2) == 0) {
    Value::Array bounds;
    for (std::size_t j = 0; j < width; ++j) {
      const double room = random.below(4) == 0 ? 0 : size * random.uniform();
      Value::Array pair(2);
      if (random.below(3) != 0) pair[0].data = inside[j] - room;
      if (random.below(3) != 0) pair[1].data = inside[j] + room;
      bounds.emplace_back().data = pair;
    }
    c.options["bounds"].data = width == 1 ? std::get<Value::Array>(bounds[0].data) : bounds;
  }
  Value::Array all;
  const auto add = [&](const Value::Object& weights, const char* field, double end, const char* other, double second) {
    Value::Object one;
    one["weights"].data = weights;
    one[field].data = end;
    if (other != nullptr) one[other].data = second;
    all.emplace_back().data = one;
  };
  for (std::size_t k = 0, count = 1 + random.below(3); k < count; ++k) {
    Value::Object weights, twice;
    double at = 0;
    for (std::size_t j = 0; j < width; ++j) {
      const double a = among<double>(random, {1, -1, 2, 0.1, -1.0 / 3, power_of_ten(random, -3, 3)});
      if (random.below(3) == 0 && j + 1 < width) continue;
      weights[std::to_string(j + 1)].data = a;
      twice[std::to_string(j + 1)].data = -2 * a;
      at += a * inside[j];
    }
    const double room = size * random.uniform();
    switch (random.below(4)) {
      case 0:
        add(weights, "equal", at, nullptr, 0);
        break;
      case 1:
        add(weights, "min", at - room, "max", at + room);
        break;
      case 2:
        add(weights, "max", at + room, nullptr, 0);
        break;
      default:
        add(weights, "min", at - room, nullptr, 0);
    }
    if (random.below(5) == 0) add(twice, "min", -2 * (at + room), nullptr, 0);  // says what is said already, or more
  }
  const bool contradicts = random.below(8) == 0;
  if (contradicts) {
    Value::Object weights, opposite;
    for (std::size_t j = 0; j < width; ++j) {
      weights[std::to_string(j + 1)].data = 1.0;
      opposite[std::to_string(j + 1)].data = -3.0;
    }
    add(weights, "min", size, nullptr, 0);
    add(opposite, "min", -2 * size, nullptr, 0);
  }
  c.options["constraints"].data = all;
  return !contradicts;
}

OracleProblem under_rules(const margin::Problem& p, const margin::Options& settings, std::int32_t output) {
  OracleProblem out = oracle_problem(p, settings, output);
  const auto width = static_cast<std::size_t>(p.dimensions());
  const auto add = [&](const Vector& rule, double end, double sign) {
    if (!std::isfinite(end)) return;
    Vector own = rule;
    for (Real& v : own) v = v * Real(sign);
    out.rules.push_back(own);
    out.ends.push_back(Real(sign) * Real(end));
  };
  for (std::size_t j = 0; j < width && !p.bounds.empty(); ++j) {
    Vector rule(width);
    rule[j] = 1;
    add(rule, p.bounds.least(j), 1);
    add(rule, p.bounds.most(j), -1);
  }
  const margin::Constraints& c = p.constraints;
  for (std::size_t k = 0; k < c.count(); ++k) {
    Vector rule(width);
    for (auto i = static_cast<std::size_t>(c.rows.begin[k]); i < static_cast<std::size_t>(c.rows.begin[k + 1]); ++i)
      rule[static_cast<std::size_t>(c.rows.feature[i])] = c.rows.coefficient[i];
    add(rule, c.lower[k], 1);
    add(rule, c.upper[k], -1);
  }
  return out;
}

void ruled(Random& random, Case& c, Claims& claims) {
  const auto& losses = margin::loss_names();
  draw(random, c, std::string(losses[random.below(losses.size())]));
  c.options.erase("l1_ratio");
  c.options.erase("penalty_factor");
  c.options.erase("offset_feature");
  const bool possible = draw_rules(random, c);
  if (!possible) {
    bool refused = false;
    try {
      const Training t(c);
    } catch (const margin::Error& error) {
      refused = error.message().compare(0, 15, "no weights meet") == 0;
    }
    return claims.that(refused, "weights that contradict each other");
  }
  const Training t(c);
  Optimum sum;
  sum.proven = true;
  for (std::int32_t o = 0; o < t.problem.outputs(); ++o) {
    const Optimum one = optimum_of(under_rules(t.problem, t.settings, o));
    sum.proven = sum.proven && one.proven;
    sum.lower += one.lower;
    sum.upper += one.upper;
  }
  claims.holds(t.model.certificate.lower, t.model.certificate.upper, sum, "interval");
  const margin::Weights w = t.weights();
  for (std::int32_t o = 0; o < t.problem.outputs(); ++o) {
    claims.that(t.problem.constraints.missed(w.row(o).data()) <= margin::met_constraint, "a constraint is missed");
    for (std::int32_t j = 0; j < t.problem.dimensions(); ++j)
      claims.that(t.problem.bounds.holds(w(o, j), static_cast<std::size_t>(j)), "a weight is outside");
  }
}

}  // namespace

std::vector<Family> soft_families() {
  return {{"soft margins", soft}, {"ellipsoids", curved}, {"under constraints", ruled}};
}

}  // namespace exact
