#include "core/solvers/l1_margin/linear_program.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/base/threads.hpp"
#include "core/data/kept_rows.hpp"
#include "core/data/row_part.hpp"
#include "core/data/row_pass.hpp"
#include "core/math/l1_simplex.hpp"
#include "core/math/norm.hpp"
#include "core/math/rounding.hpp"
#include "core/solvers/run.hpp"

namespace margin {

namespace {

constexpr std::size_t rows_per_scan = 64;  // of each class
constexpr double sparse_density = 0.12;    // below it, rows are multiplied by their non-zeros

/// The working set: some rows of the data set against some features, all of them where they are few. The entries lie
/// row by row in one form, however the rows are stored.
class FeaturePayoffs final : public PayoffMatrix {
 public:
  FeaturePayoffs(const Problem& problem, std::int32_t output, double scale)
      : problem_(problem),
        output_(output),
        scale_(scale),
        kept_(problem.data),
        active_(static_cast<std::size_t>(problem.dimensions()), 0),
        sparse_(problem.data.density() < sparse_density) {}

  bool add(std::int64_t row) {
    if (inside_.empty()) inside_.resize(static_cast<std::size_t>(problem_.rows()), 0);
    char& known = inside_[static_cast<std::size_t>(row)];
    if (known != 0) return false;
    known = 1;
    working_set_.push_back(row);
    kept_.add(row);
    entries_.emplace_back();
    extend(entries_.size() - 1);
    return true;
  }
  std::int64_t source(Eigen::Index row) const { return working_set_[static_cast<std::size_t>(row)]; }
  std::int32_t feature(Eigen::Index learner) const { return features_[static_cast<std::size_t>(learner)]; }

  /// Takes in the `count` features of largest |edge| above `level`, and no others. False: there are none.
  bool add_features(const Eigen::VectorXd& edges, double level, std::size_t count) {
    std::vector<std::pair<double, std::int32_t>> above;
    for (std::int32_t j = 0; j < problem_.dimensions(); ++j)
      if (active_[static_cast<std::size_t>(j)] == 0 && std::fabs(edges(j)) > level)
        above.emplace_back(-std::fabs(edges(j)), j);
    if (above.empty()) return false;
    const std::size_t taken = std::min(count, above.size());
    std::partial_sort(above.begin(), above.begin() + static_cast<std::ptrdiff_t>(taken), above.end());
    for (std::size_t k = 0; k < taken; ++k) {
      features_.push_back(above[k].second);
      active_[static_cast<std::size_t>(above[k].second)] = 1;
    }
    for (std::size_t r = 0; r < entries_.size(); ++r) extend(r);
    return true;
  }
  /// Σ q z over the listed rows of the working set, for all features of the problem.
  Eigen::VectorXd edges_of(const std::vector<std::pair<Eigen::Index, double>>& q, const Progress& progress) const {
    Eigen::VectorXd edges = Eigen::VectorXd::Zero(problem_.dimensions());
    const auto at = [&](std::int64_t k) { return q[static_cast<std::size_t>(k)]; };
    add_rows(
        static_cast<std::int64_t>(q.size()),
        [&](std::int64_t k) { return kept_[static_cast<std::size_t>(at(k).first)]; },
        [&](std::int64_t k) { return at(k).second * scale_ * label(at(k).first); },
        static_cast<double>(q.size()) * all_features_cost(), problem_.dimensions(), edges.data(),
        pass_threads(problem_.data, progress), progress);
    return edges;
  }
  double all_features_cost() const { return problem_.data.density() * problem_.dimensions() + 8.0; }

  Eigen::Index rows() const override { return static_cast<Eigen::Index>(working_set_.size()); }
  Eigen::Index learners() const override { return static_cast<Eigen::Index>(features_.size()); }
  double label(Eigen::Index row) const override { return problem_.target(source(row), output_); }
  double entry(Eigen::Index row, Eigen::Index learner) const override {
    return value_at(entries_[static_cast<std::size_t>(row)].row(), static_cast<std::int32_t>(learner));
  }
  void add_row(double weight, Eigen::Index row, double* edges) const override {
    margin::add(weight, entries_[static_cast<std::size_t>(row)].row(), edges);
  }
  double row_cost() const override {
    return static_cast<double>(features_.size()) * (sparse_ ? problem_.data.density() : 1.0);
  }

 private:
  /// z of one row at the features that were taken in: all of them, or those that are not 0.
  struct Entries {
    std::vector<double> values;
    std::vector<std::int32_t> indices;
    std::size_t known = 0;  // features that were looked up
    bool sparse = false;

    Row row() const {
      const auto count = static_cast<std::int32_t>(values.size());
      return sparse ? sparse_row(indices.data(), values.data(), count, count) : dense_row(values.data(), count);
    }
  };
  /// The entries of a row at the features that it lacks.
  void extend(std::size_t row) {
    Entries& entries = entries_[row];
    entries.sparse = sparse_;
    const double factor = scale_ * label(static_cast<Eigen::Index>(row));
    for (std::size_t& k = entries.known; k < features_.size(); ++k) {
      const double z = factor * value_at(kept_[row], features_[k]);
      if (sparse_ && z == 0) continue;
      entries.values.push_back(z);
      if (sparse_) entries.indices.push_back(static_cast<std::int32_t>(k));
    }
  }

  const Problem& problem_;
  std::int32_t output_;
  double scale_;
  std::vector<std::int64_t> working_set_;
  KeptRows kept_;  // the same
  std::vector<char> inside_, active_;
  std::vector<std::int32_t> features_;
  std::vector<Entries> entries_;
  const bool sparse_;
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
  pass_threads(problem.data, rows.run).run(stretches.count(), rows.run, [&](std::size_t k, const Progress& progress) {
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

/// The program of the working set against all features, by features that are taken in when their edge is too large
/// (column generation: Gilmore, Gomory 1961). The few that the optimum needs lie side by side, so that a pivot costs
/// their number and not that of all.
class Program {
 public:
  Program(L1Rows& rows, std::int32_t output, std::uint64_t seed)
      : game(rows.problem, output, rows.scale),
        rows_(rows),
        seed_(seed),
        start_(first_rows(rows.problem, output, game)) {
    for (const Eigen::Index row : start_) row_weights_.emplace_back(row, 1.0 / static_cast<double>(start_.size()));
    const auto all = static_cast<std::size_t>(rows.problem.dimensions());
    take_features(-1, all <= few_features ? all : few_features / 2);
    restart();
  }

  FeaturePayoffs game;
  const L1Simplex& simplex() const { return *simplex_; }
  /// What bounds the margin from above: the largest |edge| of all features.
  double upper() const { return upper_; }
  /// (row of the data set, q > 0) of the solution.
  std::vector<std::pair<std::int64_t, double>> row_weights() const {
    std::vector<std::pair<std::int64_t, double>> out;
    for (const auto& [row, weight] : row_weights_) out.emplace_back(game.source(row), weight);
    return out;
  }

  L1Simplex::Ending solve(double accuracy) {
    for (;;) {
      const L1Simplex::Ending ending =
          simplex_->solve(accuracy, rows_.run.progress(), [&] { return rows_.run.out_of_time(); });
      if (ending == L1Simplex::Ending::stuck) return ending;
      row_weights_.clear();
      for (std::size_t r = 0; r < simplex_->rows().size(); ++r)
        if (simplex_->row_weight(r) > 0) row_weights_.emplace_back(simplex_->rows()[r], simplex_->row_weight(r));
      const double t = simplex_->value(), level = t + std::max(smallest_excess, accuracy * t);
      const bool wanted = ending != L1Simplex::Ending::stopped;
      const auto known = static_cast<std::size_t>(game.learners());
      const bool separable = ending != L1Simplex::Ending::no_margin;
      // Too few features to separate the rows: twice as many, and from the start, since there is no vertex to go on from.
      const bool more = take_features(level, !wanted ? 0 : separable ? std::max<std::size_t>(32, known / 8) : known);
      if (!wanted || !more) return ending;
      if (!separable) restart();
    }
  }

 private:
  static constexpr std::size_t few_features = 512;  // so many need no selection
  static constexpr double smallest_excess = 1e-14;  // of an edge, in units in which |z| ≤ 1

  void restart() { simplex_ = std::make_unique<L1Simplex>(game, rows_.problem.intercept, start_, seed_); }
  bool take_features(double level, std::size_t count) {
    const Eigen::VectorXd edges = game.edges_of(row_weights_, rows_.run);
    rows_.run.work(game.all_features_cost());
    upper_ = edges.size() > 0 ? std::max(level < 0 ? 0.0 : simplex_->value(), edges.cwiseAbs().maxCoeff()) : 0.0;
    return count > 0 && game.add_features(edges, level, count);
  }

  L1Rows& rows_;
  std::uint64_t seed_;
  std::vector<Eigen::Index> start_;
  std::vector<std::pair<Eigen::Index, double>> row_weights_;
  std::unique_ptr<L1Simplex> simplex_;
  double upper_ = 1;
};

/// The program's weights λ over all features, and their ‖λ‖₁.
Eigen::VectorXd weights_of(const Program& program, std::int32_t dimensions, double& norm) {
  const L1Simplex& simplex = program.simplex();
  Eigen::VectorXd weights = Eigen::VectorXd::Zero(dimensions);
  norm = 0;
  for (std::size_t c = 0; c < simplex.learners().size(); ++c) {
    weights(program.game.feature(simplex.learners()[c])) = simplex.weight(c);
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

bool L1Rows::stop(std::int32_t output, const MarginBounds& bounds, double target, Status& why, double change,
                  std::int64_t learner) {
  lower[static_cast<std::size_t>(output)] = std::max(bounds.lower, -1.0);
  upper[static_cast<std::size_t>(output)] = std::min(bounds.upper, 1.0);
  ++iterations;
  run.record(iterations, *std::min_element(lower.begin(), lower.end()) / scale,
             *std::min_element(upper.begin(), upper.end()) / scale, change * scale, learner);
  const bool reached = bounds.within(target) || (gap > 0 && bounds.upper - bounds.lower <= certifiable * gap);
  return stops(run, iterations - of_earlier, reached, bounds.upper <= no_margin, why);
}

L1Output solve_linear_program(L1Rows& rows, std::int32_t output, double tolerance, std::uint64_t seed) {
  const Problem& problem = rows.problem;
  Program program(rows, output, seed);
  L1Output best;
  best.weights = Eigen::VectorXd::Zero(problem.dimensions());
  best.bounds.upper = 1;
  const double target = certifiable * tolerance, accuracy = std::clamp(0.01 * tolerance, 1e-13, 1e-6);
  for (;;) {
    const L1Simplex::Ending outcome = program.solve(accuracy);
    if (outcome == L1Simplex::Ending::stuck) break;
    if (program.upper() <= best.bounds.upper) {
      best.bounds.upper = program.upper();
      best.row_weights = program.row_weights();
    }
    if (outcome == L1Simplex::Ending::no_margin || best.bounds.upper <= no_margin) {
      rows.stop(output, best.bounds, target, best.status);
      best.status = Status::not_separable;
      break;
    }
    double norm = 0;
    const Eigen::VectorXd weights = weights_of(program, problem.dimensions(), norm);
    const L1Simplex& simplex = program.simplex();
    const Scan seen = scan(rows, output, weights, simplex.intercept(), simplex.value() * (1 - accuracy));
    if (best.bounds.raise(seen.lower(problem.intercept) / norm)) {
      best.weights = weights;
      best.intercept = seen.intercept(problem.intercept);
    }
    if (rows.stop(output, best.bounds, target, best.status)) break;
    bool grown = false;
    for (const auto& list : seen.below)
      for (const auto& [m, i] : list) grown |= program.game.add(i);
    if (!grown) break;  // the interval is as narrow as rounding allows
  }
  return best;
}

}  // namespace margin
