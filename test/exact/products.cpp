#include "products.hpp"

#include <cmath>

#include "core/base/error.hpp"
#include "core/loss/loss.hpp"
#include "core/problem/one_class.hpp"
#include "core/solvers/solver.hpp"
#include "core/train/train.hpp"

namespace exact {

namespace {

std::string words(const std::string& what, double got, const Real& exact) {
  char text[40];
  std::snprintf(text, sizeof text, ": %.17g, exactly ", got);
  return what + text + exact.text();
}

double draw_value(margin::Random& random, bool lattice) {
  return lattice ? static_cast<double>(random.below(5)) - 2 : 4 * random.uniform() - 2;
}

}  // namespace

void Claims::at_most(double low, const Real& exact, const Real& error, const std::string& what) {
  ++made;
  if (!(Real(low) <= exact + error)) wrong.push_back(words(what, low, exact));
}
void Claims::at_least(double high, const Real& exact, const Real& error, const std::string& what) {
  ++made;
  if (!(Real(high) >= exact - error)) wrong.push_back(words(what, high, exact));
}
void Claims::that(bool holds, const std::string& what) {
  ++made;
  if (!holds) wrong.push_back(what);
}
void Claims::holds(double lower, double upper, const Optimum& optimum, const std::string& what) {
  ++(optimum.proven ? optima : missing);
  at_most(lower, optimum.upper, 0, what + ", lower end above the optimum");
  at_least(upper, optimum.lower, 0, what + ", upper end below the optimum");
  that(lower <= upper, what + ", ends out of order");
}

const std::vector<Family>& families() {
  static const std::vector<Family> all = [] {
    std::vector<Family> out;
    for (const auto& part : {soft_families(), left_out_families(), between_families(), other_families(),
                             kernel_families(), chain_families()})
      out.insert(out.end(), part.begin(), part.end());
    return out;
  }();
  return all;
}

double power_of_ten(margin::Random& random, double from, double to) {
  return std::pow(10.0, from + (to - from) * random.uniform());
}
void set(OptionValues& o, const std::string& name, double v) { o[name].data = v; }
void set(OptionValues& o, const std::string& name, bool v) { o[name].data = v; }
void set(OptionValues& o, const std::string& name, const std::string& v) { o[name].data = v; }

void draw_rows(margin::Random& random, Case& c, std::size_t rows, std::size_t width, bool extreme) {
  const bool lattice = random.below(2) == 0;
  const std::uint64_t how = random.below(extreme ? 12 : 8);
  double scale = how == 6 ? power_of_ten(random, -12, 12) : how >= 10 ? power_of_ten(random, -140, 140) : 1;
  std::vector<double> of_column(width, scale);
  if (how == 7)
    for (double& s : of_column) s = power_of_ten(random, -6, 6);
  for (std::size_t i = 0; i < rows; ++i) {
    const std::uint64_t kind = random.below(12);
    std::vector<double> x(width, 0.0);
    if (i > 0 && kind < 3) {
      x = c.x[random.below(i)];
      if (kind == 2)
        for (double& v : x) v = -v;
    } else if (kind != 3) {
      for (std::size_t j = 0; j < width; ++j) x[j] = of_column[j] * draw_value(random, lattice);
    }
    c.x.push_back(std::move(x));
  }
}

void draw_classes(margin::Random& random, Case& c, std::uint32_t classes) {
  for (std::size_t i = 0; i < c.x.size(); ++i)
    c.y.push_back(static_cast<double>(i < classes ? i : random.below(classes)));
}

void draw_targets(margin::Random& random, Case& c, const std::string& loss) {
  const bool lattice = random.below(2) == 0;
  const double scale = random.below(8) == 0 ? power_of_ten(random, -8, 8) : 1;
  for (std::size_t i = 0; i < c.x.size(); ++i)
    c.y.push_back(loss == "poisson" ? static_cast<double>(random.below(5)) : scale * draw_value(random, lattice));
}

void draw_weights(margin::Random& random, Case& c) {
  const std::uint64_t how = random.below(4);
  if (how < 2) return;
  for (std::size_t i = 0; i < c.x.size(); ++i)
    c.weight.push_back(random.below(8) == 0 ? 0.0
                       : how == 2           ? static_cast<double>(1 + random.below(3))
                                            : power_of_ten(random, -12, 12));
  for (std::size_t i = 0; i < std::min<std::size_t>(c.x.size(), 4); ++i)
    if (c.weight[i] == 0) c.weight[i] = 1;
}

double draw_lambda(margin::Random& random) {
  return random.below(4) == 0 ? power_of_ten(random, -12, 12) : power_of_ten(random, -4, 1);
}

void draw_loss(margin::Random& random, Case& c, const std::string& loss) {
  set(c.options, "loss", loss);
  if (margin::loss_reads(loss, "epsilon")) set(c.options, "epsilon", among<double>(random, {0, 0.1, 1, 0.5}));
  if (margin::loss_reads(loss, "quantile")) set(c.options, "quantile", among<double>(random, {0.5, 0.1, 0.75, 0.999}));
  if (margin::loss_reads(loss, "smoothing")) set(c.options, "smoothing", among<double>(random, {1, 0.25, 1e-3, 10}));
}

void draw_tolerance(margin::Random& random, Case& c) {
  set(c.options, "tolerance", among<double>(random, {0.3, 0.05, 1e-3, 1e-6, 1e-10}));
  if (random.below(4) == 0) set(c.options, "max_iterations", among<double>(random, {1, 2, 5, 30}));
}

void draw_factors(margin::Random& random, Case& c) {
  set(c.options, "l1_ratio", among<double>(random, {0.5, 0.1}));
  margin::Value::Array factors;
  for (std::size_t j = 0; j < c.x[0].size(); ++j) {
    factors.emplace_back();
    factors.back().data = among<double>(random, {0.5, 1, 3, 0.01});
  }
  c.options["penalty_factor"].data = factors;
}

void draw_penalised(margin::Random& random, Case& c) {
  const std::string loss = among<std::string>(random, {"logistic", "squared_hinge", "smoothed_hinge"});
  draw_rows(random, c, 4 + random.below(6), 2 + random.below(2), random.below(3) == 0);
  draw_classes(random, c, 2);
  draw_loss(random, c, loss);
  draw_weights(random, c);
  set(c.options, "lambda", draw_lambda(random));
  draw_tolerance(random, c);
  set(c.options, "dual_weights", true);
  const std::uint64_t form = random.below(3);
  if (form == 0)
    set(c.options, "intercept", false);
  else
    set(c.options, "intercept", std::string(form == 1 ? "free" : "penalized"));
  const std::uint64_t what = random.below(3);
  if (what != 0) draw_factors(random, c);
  if (what != 1) set(c.options, "offset_feature", 1.0);
}

void refuses(Claims& claims, const std::string& what, const std::function<void()>& product) {
  bool refused = false;
  try {
    product();
  } catch (const margin::Error& error) {
    refused = error.kind() == margin::ErrorKind::unsupported;
  }
  claims.that(refused, what + " takes a model of which it can claim nothing");
}

Training::Training(const Case& c)
    : settings(c.options.count("nu") > 0 ? margin::one_class_options(margin::parse_options(c.options))
                                         : margin::parse_options(c.options)),
      rows(c, settings),
      model(margin::train(rows.data(), settings, margin::Progress())),
      problem(margin::make_problem(rows.data(), settings)) {}

margin::Weights Training::weights() const {
  margin::Weights out = margin::Weights::Zero(model.outputs(), problem.dimensions());
  for (std::int32_t j = 0; j < model.terms(); ++j) out.col(model.feature(j)) = model.weights.col(j);
  return out;
}

Vector features_of(const margin::Problem& p, const margin::Row& x) {
  Vector out(static_cast<std::size_t>(p.dimensions()));
  for (std::int32_t k = 0; k < x.count; ++k) {
    const std::int32_t feature = x.indices != nullptr ? x.indices[k] : k;
    if (feature != p.offset) out[static_cast<std::size_t>(feature)] = x.value(k);
  }
  return out;
}

OracleProblem oracle_problem(const margin::Problem& p, const margin::Options& s, std::int32_t output) {
  OracleProblem out;
  out.loss = LossOf{p.loss_name, s.epsilon, s.smoothing, s.quantile};
  for (std::int64_t i = 0; i < p.rows(); ++i) {
    out.x.push_back(features_of(p, p.data.row(i)));
    out.y.emplace_back(p.target(i, output));
    out.c.emplace_back(p.weight(i));
    out.total += Real(p.data.weight(i));
    if (p.offset < 0) continue;
    const margin::Row x = p.data.row(i);
    Real offset;
    for (std::int32_t k = 0; k < x.count; ++k)
      if ((x.indices != nullptr ? x.indices[k] : k) == p.offset) offset = x.value(k);
    out.offset.push_back(offset);
  }
  out.lambda = p.lambda;
  out.l1_ratio = p.l1_ratio;
  for (const double f : p.penalty_factor) out.factor.emplace_back(f);
  if (p.intercept)
    out.intercept = p.free_intercept || p.kernel != nullptr || p.likelihood() ? OracleProblem::Intercept::free
                                                                              : OracleProblem::Intercept::penalised;
  out.intercept_scale = p.intercept_scale;
  return out;
}

void leave_out(OracleProblem& p, std::size_t row) { p.c[row] = 0; }

Real distance_of(const OracleProblem& p, const Optimum& found) {
  Real least = p.intercept == OracleProblem::Intercept::penalised ? Real(1) : Real(INFINITY);
  for (const Real& f : p.factor) least = min(least, f);
  if (p.factor.empty()) least = 1;
  const Real convexity = p.lambda * (Real(1) - p.l1_ratio) * least;
  return sqrt(max(0, Real(2) * (found.upper - found.lower) / convexity));
}

}  // namespace exact
