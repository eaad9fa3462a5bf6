#include "core/train/cross_fit.hpp"

#include <cmath>
#include <numeric>

#include "core/base/error.hpp"
#include "core/base/random.hpp"
#include "core/model/model.hpp"

namespace margin {

namespace {

constexpr int folds = 5;
constexpr std::uint8_t in_no_fold = folds;  // rows of weight 0 count for nothing

/// Each class deals its rows to the folds in rounds, every round in an order of its own: fold sizes differ by at most
/// one row per class, and the order of the rows does not show.
std::vector<std::uint8_t> deal(const Problem& p, std::uint64_t seed) {
  Random random(seed ^ 0x63616c6962726174ULL);  // another stream than the solver's
  struct Round {
    std::uint8_t order[folds];
    int next = folds;
  };
  std::vector<Round> rounds(static_cast<std::size_t>(p.classes));
  std::vector<std::uint8_t> fold(static_cast<std::size_t>(p.rows()), in_no_fold);
  for (std::int64_t i = 0; i < p.rows(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (!(p.weight(i) > 0)) continue;
    Round& round = rounds[static_cast<std::size_t>(p.label[at])];
    if (round.next == folds) {
      std::iota(round.order, round.order + folds, std::uint8_t{0});
      for (std::uint32_t j = folds - 1; j > 0; --j) std::swap(round.order[j], round.order[random.below(j + 1)]);
      round.next = 0;
    }
    fold[at] = round.order[round.next++];
  }
  return fold;
}

}  // namespace

double calibration_workspace(const Problem& p) {
  // Scores; the given weights and those of a fold; its number; the rows of one fit.
  return static_cast<double>(p.rows()) * (8.0 * p.outputs() + 16 + 1 + sizeof(ScoredRow) + 24);
}

void require_calibration(const Problem& p) {
  std::vector<std::int64_t> count(static_cast<std::size_t>(p.classes), 0);
  for (std::int64_t i = 0; i < p.rows(); ++i)
    count[static_cast<std::size_t>(p.label[static_cast<std::size_t>(i)])] += p.weight(i) > 0;
  for (std::size_t c = 0; c < count.size(); ++c)
    if (count[c] < 2)
      throw Error(ErrorKind::invalid_value,
                  "the class \"" + p.class_names[c] + "\" has " + std::to_string(count[c]) + " row" +
                      (count[c] == 1 ? "" : "s") + " of positive weight, calibration needs at least two of every class",
                  "Leave such classes out with FILTER (WHERE ...), or train without calibration.");
}

Calibration cross_fit(Problem&& problem, const Solver& solver, const Options& given, const Progress& progress) {
  const auto n = static_cast<std::size_t>(problem.rows()), k = static_cast<std::size_t>(problem.outputs());
  const std::vector<std::uint8_t> fold_of = deal(problem, given.seed);
  std::vector<double> weight(n), scores(n * k), held(k);
  for (std::size_t i = 0; i < n; ++i) weight[i] = problem.weight(static_cast<std::int64_t>(i));
  Options options = given;
  options.initial.reset();
  options.history = false;
  problem.row_weight.resize(n);
  for (std::uint8_t fold = 0; fold < folds; ++fold) {
    bool held_out = false;
    problem.total_weight = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const bool out = fold_of[i] == fold;
      held_out |= out;
      problem.row_weight[i] = out ? 0.0 : weight[i];
      if (!out) problem.total_weight += problem.data.weight(static_cast<std::int64_t>(i));
    }
    if (!held_out) continue;
    const Solution solution = solver.solve(problem, options, progress);
    const Scorer scorer = scorer_of(solution.weights, solution.intercept, solution.basis.get(), problem.dimensions());
    for (std::size_t i = 0; i < n; ++i) {
      if (fold_of[i] != fold) continue;
      const Row x = problem.data.row(static_cast<std::int64_t>(i));
      progress.work(static_cast<double>(k) * solution.weights.cols());
      score(scorer, x, problem.dimensions(), held.data());
      for (std::size_t o = 0; o < k; ++o) {
        const double s = held[o];
        if (!std::isfinite(s))
          throw Error(ErrorKind::invalid_value, "a held-out score overflows double precision",
                      "Scale the features, or train without calibration.");
        scores[i * k + o] = s;
      }
    }
  }
  Calibration calibration;
  std::vector<ScoredRow> rows;
  rows.reserve(n);
  for (std::size_t o = 0; o < k; ++o) {
    rows.clear();
    for (std::size_t i = 0; i < n; ++i)
      if (fold_of[i] != in_no_fold)
        // Class weights move the boundary; probabilities are about the rows as they are.
        rows.push_back({scores[i * k + o], problem.data.weight(static_cast<std::int64_t>(i)),
                        problem.target(static_cast<std::int64_t>(i), static_cast<std::int32_t>(o)) > 0});
    add_fit(given.calibration, rows, progress, calibration);
  }
  return calibration;
}

}  // namespace margin
