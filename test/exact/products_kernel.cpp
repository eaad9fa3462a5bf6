// Kernel machines of every loss, and one-class machines: intervals against optima from kernel values in many digits.
#include <cmath>

#include "checks.hpp"
#include "core/analysis/model_ball.hpp"
#include "core/kernel/support_vectors.hpp"
#include "core/loss/loss.hpp"
#include "products.hpp"

namespace exact {

namespace {

using margin::Random;

/// Rows whose inner products are these: a Cholesky factor, up to where nothing is left of it.
Matrix rows_of_gram(Matrix m) {
  const std::size_t n = m.size();
  Matrix out(n, Vector(n));
  Real most;
  for (std::size_t i = 0; i < n; ++i) most = max(most, m[i][i]);
  std::vector<bool> used(n, false);
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t best = n;
    for (std::size_t i = 0; i < n; ++i)
      if (!used[i] && (best == n || m[i][i] > m[best][best])) best = i;
    // Half of the digits: what is left is a rounding.
    if (!(m[best][best] > most * Real(1e-120))) break;
    used[best] = true;
    const Real root = sqrt(m[best][best]);
    for (std::size_t i = 0; i < n; ++i) out[i][k] = i == best ? root : used[i] ? Real(0) : m[i][best] / root;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        if (!used[i] && !used[j]) m[i][j] -= out[i][k] * out[j][k];
  }
  return out;
}

OracleProblem kernel_problem(const Training& t, std::int32_t output) {
  OracleProblem p = oracle_problem(t.problem, t.settings, output);
  if (t.problem.kernel == nullptr) return p;
  const Precision precision(1200);
  const std::size_t n = p.x.size();
  Matrix gram(n, Vector(n));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) gram[i][j] = gram[j][i] = kernel_value(*t.problem.kernel, p.x[i], p.x[j]);
  // exp(-1e18) is a number of MPFR's, and none that any digit of an optimum depends on
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      if (i != j && gram[i][j] * gram[i][j] < gram[i][i] * gram[j][j] * Real(1e-300) * Real(1e-300)) gram[i][j] = 0;
  p.x = rows_of_gram(std::move(gram));
  return p;
}

void draw_kernel(Random& random, Case& c) {
  const std::string kernel = among<std::string>(random, {"linear", "rbf", "rbf", "polynomial", "ntk"});
  set(c.options, "kernel", kernel);
  if (kernel == "linear") set(c.options, "solver", std::string("smo"));
  if (kernel == "rbf" && random.below(2) == 0) set(c.options, "gamma", power_of_ten(random, -6, 2));
  if (kernel != "polynomial") return;
  set(c.options, "degree", among<double>(random, {1, 2, 3, 5}));
  set(c.options, "coef0", among<double>(random, {0, 1, 0.1}));
}

/// The certificate of dual weights that no solver would leave as they are: their sum is to be made what an intercept asks for.
void hold_moved(Random& random, const Training& t, const Optimum& optimum, Claims& claims) {
  if (!t.model.dual_weights.has_value()) return;
  const margin::Weights weights = t.model.basis != nullptr ? t.model.weights : t.weights();
  Eigen::VectorXd intercept = t.model.intercept;
  for (double& b : intercept) b -= t.problem.target_center;
  for (int again = 0; again < 2; ++again) {
    margin::Weights dual = *t.model.dual_weights;
    const double by = power_of_ten(random, -8, 0);
    for (Eigen::Index i = 0; i < dual.size(); ++i) {
      double& a = dual.data()[i];
      if (random.below(2) == 0) a *= 1 - by * random.uniform();
    }
    const margin::Certificate moved =
        margin::certify(t.problem, weights, intercept, dual, t.model.basis.get(), margin::Progress());
    claims.holds(moved.lower, moved.upper, optimum, "interval of moved dual weights");
  }
}

void machines(Random& random, Case& c, Claims& claims) {
  const auto& losses = margin::loss_names();
  const std::string loss(losses[random.below(losses.size())]);
  const bool classes = !margin::is_regression_loss(loss);
  const std::uint32_t k = classes && random.below(6) == 0 ? 3 : 2;
  draw_rows(random, c, k + random.below(5), 1 + random.below(3), random.below(2) == 0);
  draw_loss(random, c, loss);
  if (classes)
    draw_classes(random, c, k);
  else
    draw_targets(random, c, loss);
  draw_weights(random, c);
  draw_kernel(random, c);
  if (std::get<std::string>(c.options["kernel"].data) == "linear" && loss != "hinge") c.options.erase("solver");
  set(c.options, "lambda", draw_lambda(random));
  draw_tolerance(random, c);
  set(c.options, "intercept", random.below(3) > 0);
  set(c.options, "dual_weights", true);
  if (classes && random.below(5) == 0) set(c.options, "class_weight", std::string("balanced"));
  const Training t(c);
  Optimum sum;
  sum.proven = true;
  std::vector<OracleProblem> problems;
  std::vector<Optimum> optima;
  for (std::int32_t o = 0; o < t.problem.outputs(); ++o) {
    problems.push_back(kernel_problem(t, o));
    problems.back().width = 1e-60;
    optima.push_back(optimum_of(problems.back()));
    sum.proven = sum.proven && optima.back().proven;
    sum.lower += optima.back().lower;
    sum.upper += optima.back().upper;
  }
  claims.holds(t.model.certificate.lower, t.model.certificate.upper, sum, "interval");
  hold_moved(random, t, sum, claims);
  const auto basis = margin::support_vectors_of(t.model.basis.get());
  if (basis == nullptr || !sum.proven) return;
  // How far the weights are from the optimum, in the kernel's space.
  const Precision precision(1000);
  Real square, error;
  for (std::size_t o = 0; o < optima.size(); ++o) {
    Vector w(problems[o].x.size());
    const auto& origin = basis->origin();
    for (std::size_t s = 0; s < origin.size(); ++s)
      for (std::size_t j = 0; j < w.size(); ++j)
        w[j] += Real(t.model.weights(static_cast<Eigen::Index>(o), static_cast<Eigen::Index>(s))) *
                problems[o].x[static_cast<std::size_t>(origin[s])][j];
    for (std::size_t j = 0; j < w.size(); ++j) square += (w[j] - optima[o].w[j]) * (w[j] - optima[o].w[j]);
    error += distance_of(problems[o], optima[o]);
  }
  const double far = margin::distance_to_optimum(t.model, t.settings, t.model.certificate.gap);
  if (error.number() && std::isfinite(far))
    claims.at_least(far, sqrt(square), error, "distance below that of the optimum");
}

void one_class(Random& random, Case& c, Claims& claims) {
  draw_rows(random, c, 2 + random.below(7), 1 + random.below(3), random.below(2) == 0);
  c.y.assign(c.x.size(), 1.0);
  draw_weights(random, c);
  set(c.options, "dual_weights", true);
  set(c.options, "nu", among<double>(random, {0.5, 0.1, 1, 0.01, 0.3}));
  if (random.below(2) == 0) draw_kernel(random, c);
  draw_tolerance(random, c);
  const Training t(c);
  OracleProblem p = kernel_problem(t, 0);
  p.loss.name = "one_class";
  p.loss.quantile = t.settings.nu;
  p.intercept = OracleProblem::Intercept::free;
  p.tilt = 1;
  const Optimum optimum = optimum_of(p);
  claims.holds(t.model.certificate.lower, t.model.certificate.upper, optimum, "interval");
  hold_moved(random, t, optimum, claims);
}

}  // namespace

std::vector<Family> kernel_families() { return {{"kernel machines", machines}, {"one class", one_class}}; }

}  // namespace exact
