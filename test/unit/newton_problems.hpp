// Problems for the tests of newton and of its parts: tables in every storage, mixed columns, options; and
// what a solver makes of them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/certificate/certificate.hpp"
#include "core/solvers/solver.hpp"
#include "label_of.hpp"
#include "risk_problems.hpp"

namespace margin::testing {

enum class Storage { floats, doubles, sparse };

/// The table as it would be after storage: floats are rounded in the table too, so that a reference sees the same rows.
inline Dataset store(Table& t, bool classes, Storage storage, int number_of_classes = 2) {
  Dataset data(classes ? Dataset::Outcome::classes : Dataset::Outcome::targets);
  for (int c = 0; classes && c < number_of_classes; ++c) data.classes().intern(std::to_string(c), c);
  for (std::size_t i = 0; i < t.x.size(); ++i) {
    const double weight = t.weight.empty() ? 1.0 : t.weight[i];
    std::vector<std::int32_t> columns;
    std::vector<double> values;
    for (std::size_t j = 0; j < t.x[i].size(); ++j) {
      if (storage == Storage::floats) t.x[i][j] = static_cast<float>(t.x[i][j]);
      if (t.x[i][j] == 0) continue;
      columns.push_back(static_cast<std::int32_t>(j));
      values.push_back(t.x[i][j]);
    }
    if (storage == Storage::sparse)
      data.append(sparse_row(columns.data(), values.data(), static_cast<std::int32_t>(columns.size()), t.dimensions()),
                  label_of(data, t.y[i]), weight);
    else
      data.append(dense_row(t.x[i].data(), t.dimensions()), label_of(data, t.y[i]), weight);
  }
  return data;
}

/// With a penalised intercept, whatever the loss.
inline Options soft(const std::string& loss, double lambda, double tolerance) {
  Options s;
  s.loss = loss;
  s.lambda = lambda;
  s.tolerance = tolerance;
  s.epsilon = 0.2;
  s.smoothing = 0.6;
  s.quantile = 0.8;
  s.intercept_form = InterceptForm::penalized;
  return s;
}

/// A noisy linear problem; columns beyond `dense` are one-hot codes of two categories, as in tables of mixed type.
inline Table sample(std::uint64_t seed, int n, int d, bool classes, int number_of_classes = 2) {
  Random random(seed);
  Table t;
  std::vector<double> w(static_cast<std::size_t>(d));
  for (double& v : w) v = normal(random);
  for (int i = 0; i < n; ++i) {
    std::vector<double> x(w.size(), 0.0);
    double score = normal(random);
    const int dense = d < 8 ? d : d / 2;
    for (int j = 0; j < dense; ++j) x[static_cast<std::size_t>(j)] = normal(random);
    if (dense < d) x[static_cast<std::size_t>(dense) + random.below(static_cast<std::uint64_t>(d - dense))] = 1;
    for (std::size_t j = 0; j < x.size(); ++j) score += w[j] * x[j];
    t.x.push_back(x);
    t.y.push_back(!classes ? score
                           : std::clamp(std::floor(score / 2 + number_of_classes / 2.0), 0.0, number_of_classes - 1.0));
  }
  for (int c = 0; classes && c < number_of_classes; ++c) t.y[static_cast<std::size_t>(c)] = c;
  return t;
}

/// What a solver makes of a problem, and what the certificate says of it.
struct Solved {
  Solution solution;
  Certificate certificate;
};
inline Solved solve_with(const Solver& solver, const Dataset& data, const Options& s) {
  const Problem p = make_problem(data, s);
  EXPECT_EQ(solver.unsupported_reason(p), "");
  Progress progress;
  Solved r{solver.solve(p, s, progress), {}};
  r.certificate = certify(p, r.solution.weights, r.solution.intercept, r.solution.dual);
  return r;
}

}  // namespace margin::testing
