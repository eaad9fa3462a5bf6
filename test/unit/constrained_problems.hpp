// Random problems whose weights meet constraints, and often lie between bounds.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/base/random.hpp"
#include "core/options/options.hpp"
#include "risk_problems.hpp"

namespace margin::testing {

struct ConstrainedCase {
  Table table;
  Options options;
  bool classes = false;
};

/// Constraints that some weights meet: equations, one end, two, one of another's multiple, and what is there twice.
inline ConstrainedCase constrained_case(Random& random, const std::string& loss, int trial) {
  ConstrainedCase c;
  c.classes = !is_regression_loss(loss);
  // Of columns of very different scale e^u is anything.
  const int shape = trial % 8 == 5 && loss == "poisson" ? 0 : trial % 8;
  c.table = labels_for(loss, make_table(random, shape, c.classes));
  if (trial % 4 == 1)
    for (int i = 0; i < c.table.rows(); ++i) c.table.weight.push_back(i == 0 ? 1.0 : 3 * random.uniform());
  c.options.loss = loss;
  c.options.lambda = std::pow(10.0, -2 * random.uniform() - 0.3);
  c.options.tolerance = 1e-8;
  c.options.intercept_form = trial % 3 == 0 ? InterceptForm::free : InterceptForm::penalized;
  if (trial % 5 == 4) c.options.intercept = false, c.options.intercept_form = InterceptForm::by_default;
  const auto d = static_cast<std::size_t>(c.table.dimensions());
  std::vector<double> inside(d);
  for (double& v : inside) v = 0.2 * normal(random);
  if (trial % 2 == 1)
    for (std::size_t j = 0; j < d; ++j) {
      const double room = random.below(4) == 0 ? 0 : 0.2 * random.uniform();
      c.options.bounds.push_back({random.below(3) == 0 ? -std::numeric_limits<double>::infinity() : inside[j] - room,
                                  random.below(3) == 0 ? std::numeric_limits<double>::infinity() : inside[j] + room});
    }
  const std::size_t count = 1 + random.below(3);
  for (std::size_t k = 0; k < count; ++k) {
    NamedConstraint one;
    one.name = "c" + std::to_string(k);
    double at = 0;
    for (std::size_t j = 0; j < d; ++j)
      if (random.below(2) == 0 || j == k % d) {
        const double a = normal(random) * std::pow(10.0, 2 * random.uniform() - 1);
        one.weights[std::to_string(j + 1)] = a;
        at += a * inside[j];
      }
    const double room = 0.1 * random.uniform();
    switch (random.below(4)) {
      case 0:
        one.lower = one.upper = at;
        break;
      case 1:
        one.lower = at - room;
        break;
      case 2:
        one.upper = at + room;
        break;
      default:
        one.lower = at - room, one.upper = at + room;
    }
    c.options.constraints.push_back(one);
    if (random.below(4) == 0) c.options.constraints.push_back(one);
  }
  return c;
}

}  // namespace margin::testing
