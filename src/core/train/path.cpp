// A path starts each lambda from the solution of the one before. The dual vector stays feasible, as its domain does not
// depend on lambda, and near the optimum, as most rows stay on their side of the margin.
#include "core/train/path.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/problem/bounds.hpp"
#include "core/problem/fairness.hpp"
#include "core/problem/offset.hpp"
#include "core/problem/standardize.hpp"
#include "core/problem/target_units.hpp"
#include "core/train/compaction.hpp"
#include "core/train/sparse_path.hpp"

namespace margin {

std::vector<std::size_t> falling_order(const std::vector<double>& lambdas) {
  std::vector<std::size_t> order(lambdas.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return lambdas[a] > lambdas[b]; });
  return order;
}

std::vector<double> default_lambdas(const Dataset& data, const Options& settings, const Progress& progress) {
  double size = 0;
  if (settings.standardize) {
    size = data.dimensions();
  } else {
    for (std::int64_t i = 0; i < data.rows(); ++i) {
      const Row x = data.row(i);
      size += squared_norm(x) / static_cast<double>(data.rows());
      progress.work(x.count);
    }
  }
  if (settings.intercept && !settings.free_intercept()) size += settings.intercept_scale * settings.intercept_scale;
  const int power = size > 0 && std::isfinite(size) ? static_cast<int>(std::lround(std::log10(size))) : 0;
  std::vector<double> lambdas;
  for (int k = 1; k <= 5; ++k) lambdas.push_back(std::strtod(("1e" + std::to_string(power - k)).c_str(), nullptr));
  return lambdas;
}

/// The settings for rows that are in their units already.
static Options in_units(const Options& given, const Dataset& data, const Progress& progress) {
  Options settings = given;
  if (!given.standardize) return settings;
  settings.standardize = false;
  if (data.outcome() == Dataset::Outcome::targets)
    settings.target_scale = target_deviation({data, nullptr, 0, offset_feature(settings, data.dimensions())}, progress);
  return settings;
}

std::vector<double> path_lambdas(const Dataset& data, const Options& settings, const Progress& progress,
                                 MemoryBudget memory) {
  std::vector<double> list;
  if (settings.l1_ratio > 0) {
    const StandardizedRows standardized(data, settings, progress, memory);
    Options own = settings;
    list_bounds(own, data.dimensions(), nullptr);
    standardized.take(own);
    list = sparse_lambdas(standardized.rows(), in_units(own, data, progress), progress, memory);
  }
  return list.empty() ? default_lambdas(data, settings, progress) : list;
}

std::vector<double> follow_path(const Dataset& given_rows, const Options& as_given, const std::vector<double>& lambdas,
                                const Progress& progress, MemoryBudget memory,
                                const std::function<void(std::size_t, Model&&)>& visit) {
  // Here, and not in each training: they start from each other in these columns and units.
  Options given = as_given;
  const std::vector<Fairness> parities = take_fairness(given, given_rows, progress);
  const Compaction compaction(given_rows, given, progress, memory);
  const Dataset& data = compaction.rows();
  const StandardizedRows standardized(data, given, progress, memory);
  Options settings = given;
  if (settings.initial.has_value()) {
    compaction.take(*settings.initial);
    standardized.take(*settings.initial);
  }
  compaction.take(settings);
  const Bounds bounds = weight_bounds(settings, data.dimensions());  // in the user's units
  const std::int32_t known = offset_feature(settings, data.dimensions());
  standardized.take(settings);
  settings = in_units(settings, data, progress);
  settings.lambda = 1;
  if (is_sparse_path(settings)) {
    const auto give_back = [&](std::size_t k, Model&& model) {
      standardized.give_back(model.weights, model.intercept);
      standardized.give_back_prices(model.prices);
      bounds.settle(model.weights, known);
      compaction.give_back(model);
      visit(k, std::move(model));
    };
    std::vector<double> done = follow_sparse_path(standardized.rows(), settings, lambdas, progress, memory, give_back);
    if (!done.empty()) return done;
  }
  std::vector<double> list = lambdas;
  if (list.empty() && settings.l1_ratio > 0) list = sparse_lambdas(standardized.rows(), settings, progress, memory);
  if (list.empty()) list = default_lambdas(data, given, progress);
  settings.dual_weights = true;
  for (const std::size_t k : falling_order(list)) {
    settings.lambda = list[k];
    Model model = train(standardized.rows(), settings, progress, memory);
    if (model.basis == nullptr) settings.initial = start_from(model);
    if (!given.dual_weights) model.dual_weights.reset();
    standardized.give_back(model.weights, model.intercept);
    standardized.give_back_prices(model.prices);
    bounds.settle(model.weights, known);
    compaction.give_back(model);
    model.parities = parities;
    visit(k, std::move(model));
  }
  return list;
}

std::vector<Model> train_path(const Dataset& given_rows, const SelectionOptions& options, const Progress& progress,
                              MemoryBudget memory, std::vector<double>* list) {
  Options settings = options.settings;
  settings.loss = options.losses.front();
  std::vector<double> lambdas = options.lambdas;
  for (const double cost : options.costs) lambdas.push_back(1 / (cost * static_cast<double>(given_rows.rows())));
  std::vector<Model> models;
  lambdas = follow_path(given_rows, settings, lambdas, progress, memory, [&](std::size_t k, Model&& model) {
    if (models.size() <= k) models.resize(k + 1);
    models[k] = std::move(model);
  });
  if (list != nullptr) *list = std::move(lambdas);
  return models;
}

}  // namespace margin
