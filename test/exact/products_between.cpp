// Between two lambdas: what balls, kinks and curvature say of the scores of all optima there, against optima in between.
#include <algorithm>
#include <cmath>

#include "core/analysis/model_ball.hpp"
#include "core/certificate/ball.hpp"
#include "core/certificate/certificate.hpp"
#include "core/consequences/between/curvature_between.hpp"
#include "core/consequences/between/kinks_between.hpp"
#include "core/loss/loss.hpp"
#include "core/math/norm.hpp"
#include "core/train/certified_selection.hpp"
#include "products.hpp"

namespace exact {

namespace {

using margin::Random;

/// Two trainings, the ranges between them, rows, and the exact scores at lambdas within each range.
struct Between {
  Between(Random& random, Case& c, const std::string& loss, bool free, Claims& claims);
  /// `moved`: how far vectors are moved first, which proofs take as they are.
  margin::PathPoint point(const Training& t, std::vector<double>* dual, Random& random, double moved) const;
  margin::PathPoint kink_point(const Training& t, std::vector<double>& dual) const;
  margin::Row row(std::size_t k) const {
    return margin::dense_row(rows[k].data(), static_cast<std::int32_t>(rows[k].size()));
  }
  /// What CertifiedFold charges for the products of a row with vectors of length 1.
  double rounding(std::size_t k) const {
    const margin::Row x = row(k);
    return 32 * 0x1p-53 * 2 * (x.count + 16.0) * std::hypot(margin::norm(x), constant);
  }
  /// ≥ ‖(x, B)‖, as there.
  double length(std::size_t k) const {
    return std::hypot(margin::norm(row(k)), constant) * (1 + 0x1p-52 * (row(k).count + 8.0));
  }
  void hold(double highest, std::size_t k, double sign, std::size_t range, Claims& claims, const char* what) const {
    for (const Scores& s : of[range])
      claims.at_least(highest, Real(sign) * s.score[k], s.error[k],
                      std::string(what) + ", a score of an optimum in between is higher");
  }

  struct Scores {
    Vector score, error;
  };
  double constant = 0;
  std::vector<double> borders;
  std::optional<Training> low, high;
  std::vector<std::vector<double>> rows;
  std::vector<std::vector<Scores>> of;  // by range
};

Between::Between(Random& random, Case& c, const std::string& loss, bool free, Claims& claims) {
  draw_rows(random, c, 3 + random.below(8), 1 + random.below(3), random.below(6) == 0);
  draw_classes(random, c, 2);
  draw_loss(random, c, loss);
  draw_weights(random, c);
  const std::uint64_t form = random.below(3);
  if (form == 0)
    set(c.options, "intercept", false);
  else
    set(c.options, "intercept", std::string(free && form == 1 ? "free" : "penalized"));
  if (form == 2 && random.below(2) == 0) set(c.options, "intercept_scale", among<double>(random, {0.1, 4}));
  set(c.options, "dual_weights", true);
  // Half of them near the ends' optima, where what proofs leave out of their bounds is all that there is.
  const bool close = random.below(2) == 0;
  set(c.options, "lambda", close ? power_of_ten(random, -4, 0) : draw_lambda(random));
  const double from = std::get<double>(c.options["lambda"].data);
  const double to = from * (1 + (close ? 0.5 : among<double>(random, {0.02, 0.3, 3, 20})) * (0.01 + random.uniform()));
  const std::size_t ranges = 1 + random.below(4);
  for (std::size_t k = 0; k <= ranges; ++k)
    borders.push_back(from * std::pow(to / from, static_cast<double>(k) / static_cast<double>(ranges)));
  borders.front() = from;
  borders.back() = to;
  const auto trained = [&](double lambda, std::optional<Training>& out) {
    set(c.options, "lambda", lambda);
    set(c.options, "tolerance", close ? 1e-11 : among<double>(random, {0.3, 0.03, 1e-3, 1e-6, 1e-10}));
    out.emplace(c);
  };
  trained(from, low);
  trained(to, high);
  const margin::Problem& p = low->problem;
  constant = p.free_intercept ? 1.0 : p.intercept ? p.intercept_scale : 0.0;
  for (std::size_t k = 0; k < 6; ++k) rows.push_back(c.x[(k + random.below(2)) % c.x.size()]);
  for (double& v : rows.back()) v *= among<double>(random, {0x1p-560, 1e-3, -7, 0});
  of.resize(ranges);
  for (std::size_t r = 0; r < ranges; ++r)
    for (const double share : {0.0, 0.2 + 0.6 * random.uniform(), 1.0}) {
      OracleProblem o = oracle_problem(p, low->settings, 0);
      o.lambda = std::clamp(borders[r] * std::pow(borders[r + 1] / borders[r], share), borders[r], borders[r + 1]);
      o.width = 1e-60;
      const Optimum found = optimum_of(o);
      ++(found.proven ? claims.optima : claims.missing);
      if (!found.proven) continue;
      const Precision precision(1000);
      Scores s;
      for (std::size_t k = 0; k < rows.size(); ++k) {
        const Vector x = features_of(p, row(k));
        s.score.push_back(dot(x, found.w) + found.b);
        s.error.push_back(distance_of(o, found) * sqrt(dot(x, x) + Real(constant) * Real(constant)));
        if (p.free_intercept) s.error.back() += (abs(found.b) + Real(1)) * Real(1e-20);
      }
      of[r].push_back(std::move(s));
    }
}

margin::PathPoint Between::point(const Training& t, std::vector<double>* dual, Random& random, double moved) const {
  margin::Weights w = t.weights();
  double b = t.model.intercept.size() > 0 ? t.model.intercept(0) : 0.0;
  const auto move = [&](double& v, double size) { v += moved * (random.uniform() - 0.5) * size; };
  if (dual == nullptr || random.below(2) == 0) {
    for (Eigen::Index j = 0; j < w.size(); ++j) move(w.data()[j], std::fabs(w.data()[j]));
    if (constant != 0) move(b, std::fabs(b));
  }
  if (dual == nullptr) {
    margin::PathPoint out = margin::path_point(t.problem.lambda, w.data(), t.problem.dimensions(), b, constant,
                                               *t.model.dual_point, t.model.columns);
    return out;
  }
  dual->assign(t.model.dual_weights->data(), t.model.dual_weights->data() + t.model.dual_weights->size());
  for (double& v : *dual) move(v, 1);
  return margin::kink_point(t.problem, constant, t.problem.lambda, w.data(), b, *dual, margin::Progress());
}

margin::PathPoint Between::kink_point(const Training& t, std::vector<double>& dual) const {
  const margin::Weights w = t.weights();
  return margin::kink_point(t.problem, constant, t.problem.lambda, w.data(),
                            t.model.intercept.size() > 0 ? t.model.intercept(0) : 0.0, dual, margin::Progress());
}

/// How far vectors are moved: mostly not at all.
double draw_move(Random& random) { return random.below(2) == 0 ? 0.0 : power_of_ten(random, -4, 0); }

void balls(Random& random, Case& c, Claims& claims) {
  const auto& losses = margin::loss_names();
  std::string loss;
  do loss = std::string(losses[random.below(losses.size())]);
  while (margin::is_regression_loss(loss));
  const Between b(random, c, loss, false, claims);
  if (b.low->model.dual_point == nullptr || b.high->model.dual_point == nullptr) return;
  const margin::PathPoint at_low = b.point(*b.low, nullptr, random, 0), at_high = b.point(*b.high, nullptr, random, 0);
  const margin::BallBetween ball(at_low, at_high);
  const double size = (at_low.size + at_high.size) * at_high.lambda / at_low.lambda;
  for (std::size_t r = 0; r + 1 < b.borders.size(); ++r) {
    const margin::LambdaRange range{b.borders[r], b.borders[r + 1]};
    for (std::size_t k = 0; k < b.rows.size(); ++k) {
      const margin::EndProducts a = products(at_low, b.row(k), b.constant), z = products(at_high, b.row(k), b.constant);
      for (const double sign : {1.0, -1.0})
        b.hold(ball.highest(a, z, sign, range) + ball.radius(range) * b.length(k) + b.rounding(k) * size + 1e-300, k,
               sign, r, claims, "balls");
    }
  }
}

void kinks(Random& random, Case& c, Claims& claims) {
  const Between b(random, c, "hinge", false, claims);
  const margin::Problem& p = b.low->problem;
  if (!margin::KinksBetween::knows(p, b.constant)) return;
  std::vector<double> dual_low, dual_high;
  margin::PathPoint at_low = b.point(*b.low, &dual_low, random, draw_move(random)),
                    at_high = b.point(*b.high, &dual_high, random, draw_move(random));
  if (random.below(2) == 0) {
    // Of a row that leaves its kink on the way a dual weight that is nearly at its end is all of the gap that there is.
    b.point(*b.low, &dual_low, random, 0);
    b.point(*b.high, &dual_high, random, 0);
    const auto at_end = [](double a) { return std::min(std::fabs(a), 1 - std::fabs(a)) < 1e-6; };
    for (std::size_t i = 0; i < dual_low.size(); ++i) {
      if (at_end(dual_low[i]) == at_end(dual_high[i])) continue;
      double& a = at_end(dual_low[i]) ? dual_low[i] : dual_high[i];
      const double by = power_of_ten(random, -2.9, -1), y = p.target(static_cast<std::int64_t>(i), 0);
      a = y * (std::fabs(a) < 0.5 ? by : 1 - by);
      break;
    }
    at_low = b.kink_point(*b.low, dual_low);
    at_high = b.kink_point(*b.high, dual_high);
  }
  const margin::Progress progress;
  margin::KinksBetween of(p, b.constant, at_low, dual_low, at_high, dual_high, b.borders, progress);
  const double size = (at_low.size + at_high.size) * at_high.lambda / at_low.lambda;
  for (std::size_t k = 0; k < b.rows.size(); ++k) of.take(k, b.row(k));
  of.split();
  for (std::size_t k = 0; k < b.rows.size(); ++k)
    for (std::size_t r = 0; r + 1 < b.borders.size(); ++r)
      for (const double sign : {1.0, -1.0}) {
        const double highest = of.highest(k, sign, r);
        b.hold(highest + b.rounding(k) * size + 1e-300, k, sign, r, claims, "kinks");
        claims.that(std::isfinite(highest), "kinks, no bound at all");
      }
}

void hold(margin::CurvatureBetween& curve, const Between& b, std::size_t first, Claims& claims) {
  if (!curve.proven()) return;
  const std::size_t ranges = curve.borders().size() - 1;
  for (int round = 0; round < 3; ++round) {
    for (std::size_t k = 0; k < b.rows.size(); ++k) {
      margin::CurvatureBetween::Held held;
      held.length = curve.length(b.row(k));
      curve.multiply(b.row(k), held);
      for (std::size_t r = 0; r < ranges; ++r)
        for (const double sign : {1.0, -1.0}) {
          const auto [centre, reach] = curve.highest(held, sign, r);
          b.hold(centre + reach + b.rounding(k) * curve.size() + 1e-300, k, sign, first + r, claims, "curvature");
        }
    }
    if (!curve.refine(std::vector<char>(ranges, 1))) return;
  }
}

void curvature(Random& random, Case& c, Claims& claims) {
  const std::string loss = among<std::string>(random, {"logistic", "logistic", "squared_hinge", "smoothed_hinge"});
  const Between b(random, c, loss, true, claims);
  if (b.low->model.dual_point == nullptr || b.high->model.dual_point == nullptr) return;
  const margin::Progress progress;
  const double moved = draw_move(random);
  margin::CurvatureBetween curve(b.low->problem, b.constant, b.point(*b.low, nullptr, random, moved),
                                 b.point(*b.high, nullptr, random, moved), b.borders, {}, progress);
  hold(curve, b, 0, claims);
  const std::size_t ranges = b.borders.size() - 1;
  if (ranges < 2 || !curve.has_middle()) return;
  for (const bool upper : {false, true}) {
    margin::CurvatureBetween part(curve, upper);
    hold(part, b, upper ? ranges / 2 : 0, claims);
  }
}

/// Of models with penalty factors or offsets: certificates of the same vectors at other lambdas. Nothing is claimed of what is
/// between.
void penalised_between(Random& random, Case& c, Claims& claims) {
  draw_penalised(random, c);
  const Training t(c);
  margin::Problem at = t.problem;
  for (const double by : {1.0, 1 + 0.5 * random.uniform(), power_of_ten(random, -3, 3)}) {
    at.lambda = t.problem.lambda * by;
    margin::Weights dual = t.model.dual_weights.value_or(margin::Weights(0, 0));
    const margin::Certificate of =
        margin::certify(at, t.weights(), t.model.intercept, dual, nullptr, margin::Progress());
    claims.holds(of.lower, of.upper, optimum_of(oracle_problem(at, t.settings, 0)), "at another lambda");
  }
  refuses(claims, "gap_at", [&] { margin::gap_at(t.model, t.settings, t.problem.lambda); });
  margin::SelectionOptions selection;
  selection.settings = t.settings;
  selection.lambdas = {t.problem.lambda, 2 * t.problem.lambda};
  selection.losses = {t.problem.loss_name};
  selection.grid.resize(1);
  selection.certified = 0.01;
  refuses(claims, "certified selection", [&] { margin::require_certifiable(selection); });
}

}  // namespace

std::vector<Family> between_families() {
  return {{"balls between lambdas", balls},
          {"kinks between lambdas", kinks},
          {"curvature between lambdas", curvature},
          {"between lambdas, with factors or offsets", penalised_between}};
}

}  // namespace exact
