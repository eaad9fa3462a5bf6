// The path of elastic nets and lassos: the rows are laid out by columns once for all lambdas.
#pragma once

#include <functional>
#include <vector>

#include "core/base/memory_limit.hpp"
#include "core/base/progress.hpp"
#include "core/model/model.hpp"

namespace margin {

/// Whether follow_sparse_path is for these options, with lambda: an l1 norm, a smooth loss, the solver left to auto or
/// prox_newton, and nothing asked for that belongs to a single training (history, dual weights, calibration).
bool is_sparse_path(const Options& options);

/// 100 lambdas in equal ratios, from the smallest for which all weights are 0 down to a ten-thousandth of it, where
/// features are more than rows a hundredth; one where no feature helps. Empty where prox_newton is not for these rows.
std::vector<double> sparse_lambdas(const Dataset& data, const Options& settings, const Progress& progress,
                                   MemoryBudget memory);

/// As follow_path (train/path.hpp), on rows that are neither to be compacted nor standardised any more; without `lambdas`
/// along sparse_lambdas(). Returns the list; empty, without a model: not for this problem (more than two classes, or
/// columns that memory has no room for).
std::vector<double> follow_sparse_path(const Dataset& data, const Options& settings, std::vector<double> lambdas,
                                       const Progress& progress, MemoryBudget memory,
                                       const std::function<void(std::size_t, Model&&)>& visit);

}  // namespace margin
