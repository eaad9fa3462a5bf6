#include "core/train/folds.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "core/base/error.hpp"
#include "core/base/random.hpp"
#include "core/base/threads.hpp"
#include "core/problem/problem.hpp"
#include "core/solvers/solver.hpp"

namespace margin {

namespace {

void require_rows(std::int64_t rows, std::int32_t folds) {
  if (rows < folds)
    throw Error(ErrorKind::invalid_value,
                "cross-validation has " + std::to_string(rows) + (rows == 1 ? " row for " : " rows for ") +
                    std::to_string(folds) + " folds",
                "Give fewer folds, or more rows.");
}

}  // namespace

std::vector<std::int32_t> stratified_folds(const Dataset& data, std::int32_t folds, std::uint64_t seed) {
  const std::int64_t n = data.rows();
  require_rows(n, folds);
  const bool classes = data.outcome() == Dataset::Outcome::classes;
  const std::vector<std::int32_t> rank = data.classes().ranks();
  std::vector<std::vector<std::int64_t>> strata(classes ? rank.size() : 1);
  for (std::int64_t i = 0; i < n; ++i)
    strata[classes ? static_cast<std::size_t>(rank[static_cast<std::size_t>(data.class_of(i))]) : 0].push_back(i);
  Random random(seed);
  std::vector<std::int32_t> fold(static_cast<std::size_t>(n));
  std::int32_t next = 0;
  for (std::vector<std::int64_t>& rows : strata) {
    if (classes && rows.size() < 2)
      throw Error(ErrorKind::invalid_value,
                  "class \"" + std::string(data.classes().name(data.class_of(rows.front()))) +
                      "\" has one row, cross-validation needs two or more of every class",
                  "Leave out rare classes with FILTER (WHERE ...).");
    for (std::size_t k = rows.size(); k > 1; --k) std::swap(rows[k - 1], rows[random.below(k)]);
    for (const std::int64_t i : rows) {
      fold[static_cast<std::size_t>(i)] = next;
      next = next + 1 == folds ? 0 : next + 1;
    }
  }
  return fold;
}

std::vector<std::int32_t> consecutive_folds(std::int64_t rows, std::int32_t folds) {
  require_rows(rows, folds);
  std::vector<std::int32_t> fold(static_cast<std::size_t>(rows));
  for (std::int64_t i = 0; i < rows; ++i)
    fold[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(i * folds / rows);
  return fold;
}

std::vector<std::int32_t> numbered_folds(const std::int32_t* given, std::int64_t rows) {
  std::vector<std::int32_t> numbers(given, given + rows);
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  if (numbers.size() < 2 || numbers.size() > 1000)
    throw Error(ErrorKind::invalid_value,
                "the rows are in " + std::to_string(numbers.size()) + (numbers.size() == 1 ? " fold" : " folds") +
                    ", expected 2 to 1000",
                "margin_fold(key, 5) gives every key one of five folds.");
  std::vector<std::int32_t> fold(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < fold.size(); ++i)
    fold[i] = static_cast<std::int32_t>(std::lower_bound(numbers.begin(), numbers.end(), given[i]) - numbers.begin());
  return fold;
}

Dataset training_rows(const Dataset& data, const FoldRows& rows, std::int32_t f, const Progress& progress) {
  std::vector<std::int64_t> kept;
  for (std::int64_t i = 0; i < data.rows(); ++i)
    if (rows.trains(static_cast<std::size_t>(i), f)) kept.push_back(i);
  return data.subset(kept, progress);
}

void require_every_class(const Dataset& data, const FoldRows& rows, std::int32_t folds) {
  if (data.outcome() != Dataset::Outcome::classes) return;
  const auto classes = static_cast<std::size_t>(data.classes().size()), k = static_cast<std::size_t>(folds);
  std::vector<char> has(classes * k);
  for (std::int64_t i = 0; i < data.rows(); ++i)
    has[static_cast<std::size_t>(data.class_of(i)) * k +
        static_cast<std::size_t>(rows.fold[static_cast<std::size_t>(i)])] = 1;
  for (std::size_t c = 0; c < classes; ++c)
    for (std::int32_t f = rows.first(); f < folds; ++f) {
      bool trained = false;
      for (std::int32_t g = 0; g < (rows.forward ? f : folds); ++g)
        trained |= g != f && has[c * k + static_cast<std::size_t>(g)] != 0;
      if (trained) continue;
      throw Error(ErrorKind::invalid_value,
                  "class \"" + std::string(data.classes().name(static_cast<std::int32_t>(c))) + "\" has no row " +
                      (rows.forward ? "before" : "outside of") + " fold " + std::to_string(f + 1) + " of " +
                      std::to_string(folds),
                  rows.forward ? "Give fewer folds, or leave out rare classes with FILTER (WHERE ...)."
                               : "Give folds that share out every class, or leave out rare classes with FILTER "
                                 "(WHERE ...).");
    }
}

bool several_at_once(const Dataset& data, const Options& settings, const std::vector<double>& lambdas,
                     const MemoryBudget& memory, const Progress& progress, bool encoded) {
  const int threads = progress.threads().count();
  if (threads == 1 || method_of(settings).takes_kernels || (!settings.kernel.empty() && settings.kernel != "linear"))
    return false;
  if (memory.allows(std::numeric_limits<double>::infinity())) return data.store() == nullptr;
  if (data.spilled()) return false;
  // A copy grows by quarters, and goes to the store where it exceeds half of the limit.
  const double copies = (encoded ? 3 : 2) * static_cast<double>(data.array_bytes() + data.feature_bytes());
  double solver = 0;
  for (const auto extreme :
       {std::min_element(lambdas.begin(), lambdas.end()), std::max_element(lambdas.begin(), lambdas.end())}) {
    Options one = settings;
    one.lambda = *extreme;
    one.initial.reset();
    const Problem problem = make_problem(data, one, progress);
    solver = std::max(solver, choose_solver(problem, one).workspace(problem));
  }
  return memory.allows(threads * (copies + solver));
}

}  // namespace margin
