#include "core/solvers/l1_margin/linear_program.hpp"

#include <cmath>
#include <limits>

#include "core/base/threads.hpp"
#include "core/data/kept_rows.hpp"
#include "core/math/l1_simplex.hpp"
#include "core/math/norm.hpp"
#include "core/solvers/run.hpp"

namespace margin {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::size_t rows_per_scan = 64;  // of each class

/// The working set: some rows of the data set against all features.
class FeaturePayoffs final : public PayoffMatrix {
 public:
  FeaturePayoffs(const Problem& problem, std::int32_t output, double scale)
      : problem_(problem), output_(output), scale_(scale), kept_(problem.data) {}

  bool add(std::int64_t row) {
    if (inside_.empty()) inside_.resize(static_cast<std::size_t>(problem_.rows()), 0);
    char& known = inside_[static_cast<std::size_t>(row)];
    if (known != 0) return false;
    known = 1;
    working_set_.push_back(row);
    kept_.add(row);
    return true;
  }
  std::int64_t source(Eigen::Index row) const { return working_set_[static_cast<std::size_t>(row)]; }

  Eigen::Index rows() const override { return static_cast<Eigen::Index>(working_set_.size()); }
  Eigen::Index learners() const override { return problem_.dimensions(); }
  double label(Eigen::Index row) const override { return problem_.target(source(row), output_); }
  double entry(Eigen::Index row, Eigen::Index learner) const override {
    return scale_ * label(row) * value_at(kept_[static_cast<std::size_t>(row)], static_cast<std::int32_t>(learner));
  }
  void add_row(double weight, Eigen::Index row, double* edges) const override {
    margin::add(weight * scale_ * label(row), kept_[static_cast<std::size_t>(row)], edges);
  }
  double row_cost() const override { return problem_.data.density() * problem_.dimensions(); }

 private:
  const Problem& problem_;
  std::int32_t output_;
  double scale_;
  std::vector<std::int64_t> working_set_;
  KeptRows kept_;  // the same
  std::vector<char> inside_;
};

/// One scan: the smallest margins of both classes, and the rows below the margin of the working set.
struct Scan {
  double least[2] = {infinity, infinity};  // of y <x, λ>, without the intercept
  std::vector<std::pair<double, std::int64_t>> below[2];

  double lower(bool intercept) const { return intercept ? 0.5 * (least[0] + least[1]) : std::min(least[0], least[1]); }
  double intercept(bool free) const { return free ? 0.5 * (least[0] - least[1]) : 0.0; }
};

Scan scan(L1Rows& rows, std::int32_t output, const Eigen::VectorXd& weights, double intercept, double margin) {
  const Problem& problem = rows.problem;
  const Chunks stretches(problem.rows(), problem.data.density() * problem.dimensions() + 8);
  std::vector<Scan> parts(stretches.count());
  rows.run.progress().threads().run(stretches.count(), rows.run, [&](std::size_t k, const Progress& progress) {
    Scan& part = parts[k];
    for (std::int64_t i = stretches.begin(k); i < stretches.end(k); ++i) {
      const Row x = problem.data.row(i);
      if (i + 4 < problem.rows()) prefetch(problem.data.row(i + 4));
      progress.work(x.count + 8.0);
      const double y = problem.target(i, output), m = y * rows.scale * dot(x, weights.data());
      const std::size_t side = y > 0 ? 1 : 0;
      part.least[side] = std::min(part.least[side], m);
      if (m + y * intercept < margin) part.below[side].emplace_back(m, i);
    }
  });
  Scan out = std::move(parts[0]);
  for (std::size_t k = 1; k < parts.size(); ++k)
    for (const std::size_t side : {0, 1}) {
      out.least[side] = std::min(out.least[side], parts[k].least[side]);
      out.below[side].insert(out.below[side].end(), parts[k].below[side].begin(), parts[k].below[side].end());
    }
  for (auto& list : out.below) {
    const std::size_t keep = std::min(list.size(), rows_per_scan);
    std::partial_sort(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(keep), list.end());
    list.resize(keep);
  }
  return out;
}

/// Puts the first row of each class into the working set; a simplex without intercept starts from one of them.
std::vector<Eigen::Index> first_rows(const Problem& problem, std::int32_t output, FeaturePayoffs& game) {
  std::vector<Eigen::Index> start;
  for (const double y : {1.0, -1.0}) {
    std::int64_t i = 0;
    while (problem.target(i, output) != y) ++i;
    game.add(i);
    if (problem.intercept || start.empty()) start.push_back(game.rows() - 1);
  }
  return start;
}

/// (row of the data set, q > 0) of the program's solution.
std::vector<std::pair<std::int64_t, double>> row_weights_of(const L1Simplex& simplex, const FeaturePayoffs& game) {
  std::vector<std::pair<std::int64_t, double>> out;
  for (std::size_t r = 0; r < simplex.rows().size(); ++r)
    if (simplex.row_weight(r) > 0) out.emplace_back(game.source(simplex.rows()[r]), simplex.row_weight(r));
  return out;
}

/// The program's weights λ over all features, and their ‖λ‖₁.
Eigen::VectorXd weights_of(const L1Simplex& simplex, std::int32_t dimensions, double& norm) {
  Eigen::VectorXd weights = Eigen::VectorXd::Zero(dimensions);
  norm = 0;
  for (std::size_t c = 0; c < simplex.learners().size(); ++c) {
    weights(simplex.learners()[c]) = simplex.weight(c);
    norm += std::fabs(simplex.weight(c));
  }
  return weights;
}

}  // namespace

L1Rows::L1Rows(const Problem& asked, Run& bookkeeping) : problem(asked), run(bookkeeping) {
  double top = 0;
  for (std::int64_t i = 0; i < problem.rows(); ++i) {
    top = std::max(top, max_abs(problem.data.row(i)));
    run.work(problem.data.row(i).count);
  }
  if (top > 0) scale = 1 / top;
  if (!std::isfinite(scale)) scale = unit_scale(top);
  lower.assign(static_cast<std::size_t>(problem.outputs()), -1.0);
  upper.assign(static_cast<std::size_t>(problem.outputs()), 1.0);
}

bool L1Rows::stop(std::int32_t output, const MarginBounds& bounds, double target, Status& why) {
  lower[static_cast<std::size_t>(output)] = std::max(bounds.lower, -1.0);
  upper[static_cast<std::size_t>(output)] = std::min(bounds.upper, 1.0);
  ++iterations;
  run.record(iterations, *std::min_element(lower.begin(), lower.end()) / scale,
             *std::min_element(upper.begin(), upper.end()) / scale);
  return stops(run, iterations - of_earlier, bounds.within(target), bounds.upper <= no_margin, why);
}

L1Output solve_linear_program(L1Rows& rows, std::int32_t output, double tolerance, std::uint64_t seed) {
  const Problem& problem = rows.problem;
  FeaturePayoffs game(problem, output, rows.scale);
  L1Simplex simplex(game, problem.intercept, first_rows(problem, output, game), seed);
  L1Output best;
  best.weights = Eigen::VectorXd::Zero(problem.dimensions());
  best.bounds.upper = 1;
  const double target = certifiable * tolerance, accuracy = std::clamp(0.01 * tolerance, 1e-13, 1e-6);
  for (;;) {
    const L1Simplex::Ending outcome =
        simplex.solve(accuracy, rows.run.progress(), [&] { return rows.run.out_of_time(); });
    if (outcome == L1Simplex::Ending::stuck) break;
    if (simplex.value() <= best.bounds.upper) {
      best.bounds.upper = simplex.value();
      best.row_weights = row_weights_of(simplex, game);
    }
    if (outcome == L1Simplex::Ending::no_margin || best.bounds.upper <= no_margin) {
      rows.stop(output, best.bounds, target, best.status);
      best.status = Status::not_separable;
      break;
    }
    double norm = 0;
    const Eigen::VectorXd weights = weights_of(simplex, problem.dimensions(), norm);
    const Scan seen = scan(rows, output, weights, simplex.intercept(), simplex.value() * (1 - accuracy));
    if (best.bounds.raise(seen.lower(problem.intercept) / norm)) {
      best.weights = weights;
      best.intercept = seen.intercept(problem.intercept);
    }
    if (rows.stop(output, best.bounds, target, best.status)) break;
    bool grown = false;
    for (const auto& list : seen.below)
      for (const auto& [m, i] : list) grown |= game.add(i);
    if (!grown) break;  // the interval is as narrow as rounding allows
  }
  return best;
}

}  // namespace margin
