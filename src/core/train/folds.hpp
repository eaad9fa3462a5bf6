// Which rows of a cross-validation are held out together, and which train for them.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/memory_limit.hpp"
#include "core/base/progress.hpp"
#include "core/data/dataset.hpp"
#include "core/options/options.hpp"

namespace margin {

/// The fold of every row, 0 … folds − 1: each class (a regression: all rows) is shuffled by `seed` and dealt out in
/// turn, so that folds differ by at most one row in every class and in all. Throws Error(invalid_value) for fewer rows
/// than folds, or a class of one row.
std::vector<std::int32_t> stratified_folds(const Dataset& data, std::int32_t folds, std::uint64_t seed);

/// Rows in the order they came as so many folds of consecutive ones. Throws Error(invalid_value) for fewer rows.
std::vector<std::int32_t> consecutive_folds(std::int64_t rows, std::int32_t folds);

/// The folds that a user gave by number, as 0 … k − 1 in the order of these numbers. Throws Error(invalid_value) for
/// fewer than 2 of them or more than 1000.
std::vector<std::int32_t> numbered_folds(const std::int32_t* given, std::int64_t rows);

/// Which rows train the model that predicts a fold.
struct FoldRows {
  const std::vector<std::int32_t>& fold;
  bool forward = false;  ///< those of the folds before it; else of all others

  bool trains(std::size_t i, std::int32_t f) const { return forward ? fold[i] < f : fold[i] != f; }
  std::int32_t first() const { return forward ? 1 : 0; }  ///< the first fold that is predicted
};

/// The rows that train for fold f.
Dataset training_rows(const Dataset& data, const FoldRows& rows, std::int32_t f, const Progress& progress);

/// Throws Error(invalid_value) where some class has rows, but none that trains for one of the folds.
void require_every_class(const Dataset& data, const FoldRows& rows, std::int32_t folds);

/// Whether trainings on most of the rows may run at once: what they take together must fit, none may write to the store,
/// which is the session's, and kernel machines, which take all the memory they can get, use the threads themselves. `encoded`:
/// each has all rows as its own encoder makes them.
bool several_at_once(const Dataset& data, const Options& settings, const std::vector<double>& lambdas,
                     const MemoryBudget& memory, const Progress& progress, bool encoded = false);

}  // namespace margin
