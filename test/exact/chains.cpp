// Chains of updates: rows come and go in up to twelve steps, and what every step claims of the rows as they are then, at the
// model's lambda and at others, is held against their optimum.
#include <cmath>

#include "core/analysis/model_curvature.hpp"
#include "core/analysis/update.hpp"
#include "core/loss/loss.hpp"
#include "products.hpp"

namespace exact {

namespace {

using margin::Random;

/// A row with what it weighs, as a user states it.
struct LiveRow {
  std::vector<double> x;
  double y = 0, weight = 1;
};

class Chain {
 public:
  Chain(const Case& c, const Training& t) : t_(t), model_(t.model) {
    for (std::size_t i = 0; i < c.x.size(); ++i) {
      live_.push_back({c.x[i], c.y[i], c.weight.empty() ? 1.0 : c.weight[i]});
    }
  }

  void curve(double share) {
    model_ = margin::with_curvature(model_, t_.rows.data(), t_.settings, margin::CurvatureOptions{share}, {});
  }

  /// One update of a few changes, in two parts that are merged or in one. False where the proof has ended.
  bool step(Random& random) {
    margin::ModelUpdate update(model_, t_.settings), other(model_, t_.settings);
    for (std::uint64_t k = 1 + random.below(3); k > 0; --k) {
      margin::ModelUpdate& to = random.below(3) == 0 ? other : update;
      const bool goes = live_.size() > 1 && random.below(2) == 0;
      LiveRow row = goes ? taken(random) : drawn(random);
      if (row.weight > 0) change(to, row, goes);
      if (!goes) live_.push_back(row);
    }
    if (!update.merge(other.state())) throw std::runtime_error("a state is not merged");
    model_ = update.updated(model_);
    return model_.dual_point != nullptr;
  }

  /// The heaviest row goes, or one comes again.
  bool lighten(Random& random) {
    margin::ModelUpdate update(model_, t_.settings);
    for (std::size_t i = 1; i < live_.size(); ++i)
      if (live_[i].weight > live_[0].weight) std::swap(live_[i], live_[0]);
    if (live_.size() > 1 && random.below(4) > 0) {
      change(update, live_[0], true);
      live_.erase(live_.begin());
    } else {
      live_.push_back(live_.back());
      if (live_.back().weight > 0) change(update, live_.back(), false);
    }
    model_ = update.updated(model_);
    return model_.dual_point != nullptr;
  }

  void hold(Random& random, Claims& claims, const std::string& when) const {
    if (!(weight() > 0)) return;
    std::vector<Optimum> optima;
    const Optimum here = optimum(t_.problem.lambda, &optima);
    claims.holds(model_.certificate.lower, model_.certificate.upper, here, when);
    if (model_.dual_point == nullptr) return;
    margin::ScoreIntervals of(model_, t_.settings);
    const auto outputs = optima.size();
    std::vector<double> lower(outputs), upper(outputs);
    const std::vector<double>& x = live_[random.below(live_.size())].x;
    const margin::Row row = margin::dense_row(x.data(), static_cast<std::int32_t>(x.size()));
    of.intervals(row, lower.data(), upper.data());
    const Vector features = features_of(t_.problem, row);
    for (std::size_t o = 0; o < outputs; ++o) {
      const OracleProblem p = problem(static_cast<std::int32_t>(o));
      const Real s = p.intercept == OracleProblem::Intercept::none ? Real(0) : p.intercept_scale;
      const Real score = dot(features, optima[o].w) + optima[o].b + Real(t_.problem.target_center);
      const Real error = distance_of(p, optima[o]) * sqrt(dot(features, features) + s * s);
      if (!error.number()) continue;
      claims.at_most(lower[o], score, error, when + ", lower end above the optimum's score");
      claims.at_least(upper[o], score, error, when + ", upper end below the optimum's score");
    }
  }

  /// At its own lambda, next to it, and elsewhere.
  void hold_at_others(Random& random, Claims& claims, const std::string& when) const {
    if (model_.dual_point == nullptr || !(weight() > 0)) return;
    const double own = t_.problem.lambda, dual = std::max(0.0, model_.certificate.lower);
    const margin::IntervalAt same = margin::gap_at(model_, t_.settings, own);
    claims.that(same.upper == model_.certificate.upper && same.lower >= dual && same.lower <= same.upper,
                when + ", its own lambda has another interval");
    for (const double lambda : {own, own * (1 + 1e-9), own * 0.3, own * 5, own * power_of_ten(random, -8, 8)}) {
      const margin::IntervalAt at = margin::gap_at(model_, t_.settings, lambda);
      claims.holds(at.lower, at.upper, optimum(lambda, nullptr), when + ", at another lambda");
    }
  }

 private:
  LiveRow taken(Random& random) {
    // The heaviest first, now and then: what it leaves of the sums has lost digits.
    std::size_t which = random.below(live_.size());
    if (random.below(3) == 0)
      for (std::size_t i = 0; i < live_.size(); ++i)
        if (live_[i].weight > live_[which].weight) which = i;
    LiveRow row = live_[which];
    live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(which));
    return row;
  }

  LiveRow drawn(Random& random) const {
    LiveRow row = live_[random.below(live_.size())], other = live_[random.below(live_.size())];
    row.weight = other.weight;
    const std::uint64_t how = random.below(8);
    for (double& v : row.x) {
      if (how == 0) v = 0;
      if (how == 1) v = -v;
      if (how == 2) v *= 0.5 + random.uniform();
      if (how == 3) v *= 1e-9;
    }
    if (how > 3 && random.below(2) == 0) row.x = other.x;
    if (random.below(3) == 0) row.y = other.y;
    if (random.below(4) == 0) row.weight *= power_of_ten(random, -6, 6);
    return row;
  }

  void change(margin::ModelUpdate& update, const LiveRow& row, bool removed) const {
    const margin::Row x = margin::dense_row(row.x.data(), static_cast<std::int32_t>(row.x.size()));
    if (model_.regression())
      update.add(x, row.y, row.weight, removed);
    else
      update.add(x, static_cast<std::int32_t>(row.y), row.weight, removed);
  }

  Real weight() const {
    Real sum;
    for (const LiveRow& row : live_) sum += row.weight;
    return sum;
  }

  OracleProblem problem(std::int32_t output) const {
    OracleProblem p = oracle_problem(t_.problem, t_.settings, output);
    p.x.clear();
    p.y.clear();
    p.c.clear();
    for (const LiveRow& row : live_) {
      p.x.emplace_back(row.x.begin(), row.x.end());
      p.c.emplace_back(row.weight);
      if (model_.regression()) {
        p.y.push_back(Real(row.y) - Real(t_.problem.target_center));
        continue;
      }
      const auto label = static_cast<std::int32_t>(row.y);
      p.y.emplace_back(label == (model_.outputs() == 1 ? 1 : output) ? 1.0 : -1.0);
      const auto found = t_.settings.class_weight.find(model_.classes[static_cast<std::size_t>(label)]);
      if (found != t_.settings.class_weight.end()) p.c.back() *= Real(found->second);
    }
    p.total = weight();
    p.width = 1e-50;
    return p;
  }

  Optimum optimum(double lambda, std::vector<Optimum>* each) const {
    Optimum sum;
    sum.proven = true;
    for (std::int32_t o = 0; o < model_.outputs(); ++o) {
      OracleProblem p = problem(o);
      p.lambda = lambda;
      const Optimum found = optimum_of(p);
      sum.proven = sum.proven && found.proven;
      sum.lower += found.lower;
      sum.upper += found.upper;
      if (each != nullptr) each->push_back(found);
    }
    return sum;
  }

  const Training& t_;
  margin::Model model_;
  std::vector<LiveRow> live_;
};

/// Weights of which each is far less than the one before.
void draw_falling_weights(Random& random, Case& c) {
  c.weight.clear();
  double weight = power_of_ten(random, 0, 12);
  for (std::size_t i = 0; i < c.x.size(); ++i) {
    c.weight.push_back(weight);
    if (i < 4) weight *= power_of_ten(random, -6, 0);
  }
}

Case& draw(Random& random, Case& c, const std::string& loss) {
  const bool classes = !margin::is_regression_loss(loss);
  const std::uint32_t k = classes && random.below(5) == 0 ? 3 : 2;
  draw_rows(random, c, k + 1 + random.below(7), 1 + random.below(3), true);
  draw_loss(random, c, loss);
  if (classes)
    draw_classes(random, c, k);
  else
    draw_targets(random, c, loss);
  if (random.below(3) == 0)
    draw_falling_weights(random, c);
  else
    draw_weights(random, c);
  set(c.options, "lambda", draw_lambda(random));
  draw_tolerance(random, c);
  if (random.below(3) == 0)
    set(c.options, "intercept", false);
  else
    set(c.options, "intercept", std::string("penalized"));
  if (random.below(4) == 0) set(c.options, "intercept_scale", among<double>(random, {0.01, 10, 3}));
  if (classes && random.below(6) == 0)
    c.options["class_weight"].data = margin::Value::Object{{"1", margin::Value{among<double>(random, {3, 0.3, 1e-4})}}};
  return c;
}

void run(Random& random, Case& c, Claims& claims, const std::vector<std::string>& losses, bool curved) {
  const Training t(draw(random, c, among(random, losses)));
  Chain chain(c, t);
  if (curved) chain.curve(among<double>(random, {0.01, 0.2, 1}));
  const std::uint64_t steps = 1 + random.below(12), looked_at = random.below(steps);
  bool proven = true;
  for (std::uint64_t k = 0; k < steps && proven; ++k) {
    proven = chain.step(random);
    if (k != looked_at && k + 1 < steps && proven) continue;
    const std::string when = "step " + std::to_string(k + 1);
    chain.hold(random, claims, when);
    if (k + 1 == steps) chain.hold_at_others(random, claims, when);
  }
}

/// W falls by six digits at a time, and what is left of the sums is compared where the interval is as narrow as rounding lets it.
void falling(Random& random, Case& c, Claims& claims) {
  std::vector<std::string> losses;
  for (const std::string_view name : margin::loss_names()) losses.emplace_back(name);
  draw(random, c, among(random, losses));
  draw_falling_weights(random, c);
  set(c.options, "lambda", power_of_ten(random, 2, 13));
  set(c.options, "tolerance", 1e-12);
  const Training t(c);
  Chain chain(c, t);
  for (int k = 1; k <= 4; ++k) {
    if (!chain.lighten(random)) return;
    chain.hold(random, claims, "step " + std::to_string(k));
  }
  chain.hold_at_others(random, claims, "step 4");
}

void plain(Random& random, Case& c, Claims& claims) {
  std::vector<std::string> losses;
  for (const std::string_view name : margin::loss_names()) losses.emplace_back(name);
  run(random, c, claims, losses, false);
}

void curved(Random& random, Case& c, Claims& claims) {
  run(random, c, claims, {"logistic", "squared_hinge", "squared"}, true);
}

}  // namespace

std::vector<Family> chain_families() {
  return {{"chains of updates", plain}, {"chains with curvature", curved}, {"chains of falling weights", falling}};
}

}  // namespace exact
