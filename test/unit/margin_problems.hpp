// Named problems with a known maximum margin, and random small ones, for the tests of hard margins.
#pragma once

#include <gtest/gtest.h>

#include "core/base/random.hpp"
#include "core/train/train.hpp"
#include "margin_reference.hpp"

namespace margin::reference {

struct Named {
  std::string name;
  Rows rows;
  std::optional<double> with_intercept, without_intercept;  ///< closed forms
};

/// The exact margin: in closed form, or enumerated where the problem is small; nothing for the rest.
inline std::optional<Margin> known_margin(const Named& p, bool intercept) {
  const std::optional<double>& closed = intercept ? p.with_intercept : p.without_intercept;
  if (closed) return Margin{static_cast<Real>(*closed) * (1 - 2e-16L), static_cast<Real>(*closed) * (1 + 2e-16L)};
  if (p.rows.count() * (p.rows.classes - 1) <= 24) return maximum_margin(p.rows, intercept);
  return std::nullopt;
}

inline double gaussian(Random& random) {
  const double u = 1 - random.uniform();
  return std::sqrt(-2 * std::log(u)) * std::cos(6.283185307179586 * random.uniform());
}

inline std::vector<double> gaussian_row(Random& random, int d) {
  std::vector<double> x(at(d));
  for (double& v : x) v = gaussian(random);
  return x;
}

inline Rows scaled(Rows rows, double factor) {
  for (auto& x : rows.x)
    for (double& v : x) v *= factor;
  return rows;
}

/// Two Gaussian clouds whose hulls touch the planes x_1 = ±1 in mirrored points: margin 1, centred or shifted.
inline Rows clouds(std::uint64_t seed, int n, int d) {
  Random random(seed);
  Rows rows;
  for (int i = 0; i < n; ++i) {
    std::vector<double> x = gaussian_row(random, d);
    const int label = i % 2;
    x[0] = (label == 1 ? 1 : -1) * (1 + std::fabs(x[0]));
    if (i < 2) {
      std::fill(x.begin(), x.end(), 0.25);
      x[0] = label == 1 ? 1 : -1;
    }
    rows.add(x, label);
  }
  return rows;
}

/// Separable Gaussian rows with labels of a random plane, rows too close to it left out.
inline Rows gaussian_rows(std::uint64_t seed, int n, int d, double least, int classes = 2) {
  Random random(seed);
  std::vector<std::vector<double>> plane(at(classes));
  for (auto& w : plane) w = gaussian_row(random, d);
  Rows rows;
  rows.classes = classes;
  while (rows.count() < n) {
    const std::vector<double> x = gaussian_row(random, d);
    std::vector<double> score(at(classes), 0);
    for (int c = 0; c < classes; ++c)
      for (int j = 0; j < d; ++j) score[at(c)] += plane[at(c)][at(j)] * x[at(j)];
    const int own = static_cast<int>(std::max_element(score.begin(), score.end()) - score.begin());
    std::sort(score.begin(), score.end());
    if (score[at(classes - 1)] - score[at(classes - 2)] > least) rows.add(x, own);
  }
  return rows;
}

/// One row e_c per class and one twice as far: margin 1/√(k−1) for k > 2, as U ∝ I − 11ᵀ/k shows.
inline Rows simplex(int classes) {
  Rows rows;
  rows.classes = classes;
  for (int c = 0; c < classes; ++c)
    for (const double length : {1.0, 2.0}) {
      std::vector<double> x(at(classes), 0.0);
      x[at(c)] = length;
      rows.add(x, c);
    }
  return rows;
}

/// Rows ±(g, t): margin g while t spans [−1, 1] on both sides.
inline Rows thin(double g) {
  Rows rows;
  for (int i = 0; i <= 10; ++i)
    for (int label = 0; label < 2; ++label) rows.add({label == 1 ? g : -g, (i - 5) / 5.0}, label);
  return rows;
}

inline std::vector<Named> named_problems() {
  std::vector<Named> list;
  Random random(7);
  list.push_back({"two_points", {{{-1, -3}, {3, 1}}, {0, 1}}, std::sqrt(8.0), std::sqrt(8.0)});
  {
    Named p{"antipodes_in_10000_dimensions", {}, {}, {}};
    std::vector<double> x = gaussian_row(random, 10000);
    p.rows.add(x, 1);
    for (double& v : x) v = -v;
    p.rows.add(x, 0);
    list.push_back(std::move(p));
  }
  list.push_back({"two_rows_of_10000", {{gaussian_row(random, 10000), gaussian_row(random, 10000)}, {0, 1}}, {}, {}});
  {
    Named p{"one_dimension", {}, 1.5, 1.0};
    for (int i = 0; i < 200; ++i) p.rows.add({i % 2 == 0 ? -1 - 0.02 * i : 2 + 0.03 * (i - 1)}, i % 2);
    list.push_back(std::move(p));
  }
  list.push_back({"all_zero", {{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}, {0, 1, 1}}, 0.0, 0.0});
  list.push_back({"one_zero_row", {{{0, 0}, {1, 2}, {2, 1}, {3, 3}}, {0, 1, 1, 1}}, {}, 0.0});
  list.push_back(
      {"constant_columns", {{{7, 1, 0}, {7, 2, 0}, {7, -1, 0}, {7, -3, 0}, {7, 4, 0}}, {1, 1, 0, 0, 1}}, {}, {}});
  {
    Named p{"duplicates", {}, {}, {}};
    for (int copy = 0; copy < 4; ++copy) {
      p.rows.add({1, 2}, 1);
      p.rows.add({3, 0.5}, 1);
      p.rows.add({-1, 0.25}, 0);
      p.rows.add({-2, -3}, 0);
    }
    list.push_back(std::move(p));
  }
  list.push_back({"contradiction", {{{1, 2}, {1, 2}, {3, 1}, {-1, 0}}, {0, 1, 1, 0}}, 0.0, 0.0});
  {
    Named p{"collinear", {}, 1.0, 1.0};
    for (int j = -6; j <= 6; ++j) {
      const double t = j;
      p.rows.add({1, t, 2 * t, -t}, 1);
      p.rows.add({-1, t, 2 * t, -t}, 0);
    }
    list.push_back(std::move(p));
  }
  {
    Named p{"orthonormal", {}, 0.5 * std::sqrt(1 / 16.0 + 1 / 24.0), 1 / std::sqrt(40.0)};
    for (int i = 0; i < 40; ++i) {
      std::vector<double> x(40, 0.0);
      x[at(i)] = 1;
      p.rows.add(x, i < 16 ? 1 : 0);
    }
    list.push_back(std::move(p));
  }
  list.push_back({"margin_1e-6", thin(1e-6), 1e-6, 1e-6});
  list.push_back({"margin_1e-8", thin(1e-8), 1e-8, 1e-8});
  // Three classes of rows (g e_c, t): the margin of the simplex, g/√2. At 1e-8 the certificate's allowance for its own
  // rounding alone is 1.006e-6 of the margin.
  for (const double g : {1e-6, 2e-8}) {
    Named p{g == 1e-6 ? "three_classes_margin_1e-6" : "three_classes_margin_2e-8",
            {},
            g / std::sqrt(2.0),
            g / std::sqrt(2.0)};
    p.rows.classes = 3;
    for (int i = 0; i < 21; ++i) {
      std::vector<double> x = {0, 0, 0, (i / 3 - 3) / 3.0};
      x[at(i % 3)] = g;
      p.rows.add(x, i % 3);
    }
    list.push_back(std::move(p));
  }
  list.push_back({"needs_intercept", {{{5, 1}, {6, -1}, {4, 0}, {3, 2}}, {1, 1, 0, 0}}, {}, 0.0});
  list.push_back({"exclusive_or", {{{1, 1}, {-1, -1}, {1, -1}, {-1, 1}}, {1, 1, 0, 0}}, 0.0, 0.0});
  {
    Named p{"overlapping_clouds", {}, 0.0, 0.0};
    for (int i = 0; i < 200; ++i) p.rows.add(gaussian_row(random, 5), i % 2);
    list.push_back(std::move(p));
  }
  list.push_back({"clouds", clouds(3, 200, 5), 1.0, 1.0});
  {
    Named p{"shifted_clouds", clouds(5, 100, 4), 1.0, {}};
    for (auto& x : p.rows.x)
      for (double& v : x) v += 16;
    list.push_back(std::move(p));
  }
  {
    Named p{"class_of_one_row", {}, {}, {}};
    p.rows.add({3, 3}, 1);
    for (int i = 0; i < 20; ++i) p.rows.add({-1 - random.uniform(), 3 * random.uniform()}, 0);
    list.push_back(std::move(p));
  }
  list.push_back({"simplex_of_3", simplex(3), 1 / std::sqrt(2.0), 1 / std::sqrt(2.0)});
  list.push_back({"simplex_of_5", simplex(5), 0.5, 0.5});
  list.push_back({"three_on_a_line", {{{-2, 1}, {0, 1}, {2.5, 1}, {-3, 0.5}, {0.25, 2}}, {0, 1, 2, 0, 1}, 3}, {}, {}});
  list.push_back({"three_overlapping", {{{0, 0}, {1, 1}, {2, 2}, {2, 2}, {1, 1}}, {0, 1, 2, 1, 0}, 3}, {}, {}});
  list.push_back({"five_gaussian_classes", gaussian_rows(11, 120, 6, 0.3, 5), {}, {}});
  list.push_back({"values_of_1e150", scaled(gaussian_rows(13, 10, 3, 0.2), 1e150), {}, {}});
  list.push_back({"values_of_1e-150", scaled(gaussian_rows(13, 10, 3, 0.2), 1e-150), {}, {}});
  return list;
}

/// Small random rows of one family each, at most ten pairs, so that the reference can enumerate every support.
enum class Family { gaussian, grid, duplicated, constant_column, collinear, sparse, unit };
inline Rows random_rows(Family family, std::uint64_t seed, int classes) {
  Random random(seed * 1000003 + static_cast<std::uint64_t>(family) * 7919 + static_cast<std::uint64_t>(classes));
  const int n = classes == 2 ? 3 + static_cast<int>(random.below(8)) : 3 + static_cast<int>(random.below(3));
  const int d = 1 + static_cast<int>(random.below(4));
  Rows rows;
  rows.classes = classes;
  for (int i = 0; i < n; ++i) {
    std::vector<double> x = gaussian_row(random, d);
    const int label = i < classes ? i : static_cast<int>(random.below(static_cast<std::uint64_t>(classes)));
    if (family == Family::grid)
      for (double& v : x) v = std::round(1.5 * v);
    if (family == Family::sparse)
      for (double& v : x)
        if (random.below(2) == 0) v = 0;
    if (family == Family::collinear)
      for (std::size_t j = 1; j < x.size(); ++j) x[j] = x[0] * static_cast<double>(j + 1);
    if (random.below(3) != 0) x[0] += 2.0 * label;  // about half of the problems are separable
    if (family == Family::constant_column) x.back() = 3;
    if (family == Family::duplicated && i >= classes && random.below(2) == 0)
      x = rows.x[random.below(static_cast<std::uint64_t>(i))];
    if (family == Family::unit) {
      double square = 0;
      for (const double v : x) square += v * v;
      for (double& v : x) v /= std::sqrt(square);
    }
    rows.add(x, label);
  }
  return rows;
}

/// Trains with a progress that does nothing.
inline Model fit(const Dataset& data, const Options& options) {
  Progress progress;
  Model model = train(data, options, progress);
  EXPECT_NE(find_solver(model.solver), nullptr) << "no record reports \"" << model.solver << "\"";
  return model;
}

inline Options hard(const std::string& solver, bool intercept, double tolerance) {
  Options s;
  s.solver = solver;
  s.intercept = intercept;
  s.tolerance = tolerance;
  s.dual_weights = true;
  return s;
}

/// The solvers of the registry that separate without errors, and measure in the l2 norm.
inline std::vector<std::string> hard_margin_solvers() {
  std::vector<std::string> names;
  const Dataset none(Dataset::Outcome::classes);
  const Problem two_norm(none);
  for (const Solver* solver : all_solvers())
    if (solver->record().problem() == "hard margin" && solver->unsupported_reason(two_norm).empty())
      names.emplace_back(solver->name());
  return names;
}

/// Which l2 problems a solver of that list leaves to others.
inline bool refuses(const std::string& solver, bool intercept, int classes) {
  if (solver == "perceptron" || solver == "mirror_descent") return classes > 2;
  return solver == "batch_perceptron" && intercept && classes > 2;
}

}  // namespace margin::reference
