#include "core/problem/standardize.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/progress.hpp"
#include "core/problem/offset.hpp"
#include "core/problem/penalty.hpp"

namespace margin {

namespace {

/// Calls f(column, value) for the stored values of a row.
template <class F>
void for_each_value(const Row& x, F f) {
  for (std::int32_t k = 0; k < x.count; ++k) f(x.indices != nullptr ? x.indices[k] : k, x.value(k));
}

Dataset standardized(const Dataset& data, const Standardization& s, const Progress& progress, bool to_store) {
  Dataset copy(data.outcome(), std::pmr::get_default_resource(), data.store());
  if (to_store) copy.spill();
  for (std::int32_t c = 0; c < data.classes().size(); ++c)
    copy.classes().intern(data.classes().name(c), data.classes().key(c));
  const auto d = static_cast<std::size_t>(data.dimensions());
  std::vector<double> values(d), zero(d);
  for (std::size_t j = 0; j < d; ++j) zero[j] = -s.mean[j] / s.deviation[j];
  std::vector<std::int32_t> columns;
  copy.set_declared_dimensions(data.declared_dimensions());
  for (std::int64_t i = 0; i < data.rows(); ++i) {
    const Row x = data.row(i);
    progress.work(4.0 * x.count);
    if (data.sparse_input() && x.indices != nullptr) {
      columns.clear();
      values.clear();
      for_each_value(x, [&](std::int32_t j, double v) {
        columns.push_back(j);
        values.push_back(v / s.deviation[static_cast<std::size_t>(j)]);
      });
      copy.append(
          sparse_row(columns.data(), values.data(), static_cast<std::int32_t>(values.size()), data.dimensions()),
          data.label(i), data.weight(i));
      continue;
    }
    values = zero;
    for_each_value(x, [&](std::int32_t column, double v) {
      const auto j = static_cast<std::size_t>(column);
      values[j] = (v - s.mean[j]) / s.deviation[j];
    });
    copy.append(dense_row(values.data(), data.dimensions()), data.label(i), data.weight(i));
  }
  return copy;
}

}  // namespace

RowUnits::RowUnits(std::vector<double> mean, std::vector<double> deviation)
    : mean_(std::move(mean)), deviation_(std::move(deviation)), zero_(mean_.size()) {
  for (std::size_t j = 0; j < zero_.size(); ++j) {
    zero_[j] = -mean_[j] / deviation_[j];
    centred_ |= mean_[j] != 0;
  }
}

FeatureRow RowUnits::row(const FeatureRow& x, std::vector<double>& values) const {
  const auto scaled = [&](std::int32_t k) {
    const auto j = static_cast<std::size_t>(x.indices != nullptr ? x.indices[k] : k);
    return (x.value(k) - mean_[j]) / deviation_[j];
  };
  if (x.indices != nullptr && centred_) {
    values = zero_;
    for (std::int32_t k = 0; k < x.count; ++k) values[static_cast<std::size_t>(x.indices[k])] = scaled(k);
    return dense_row(values.data(), static_cast<std::int32_t>(values.size()));
  }
  values.clear();
  for (std::int32_t k = 0; k < x.count; ++k) values.push_back(scaled(k));
  return x.indices != nullptr ? sparse_row(x.indices, values.data(), x.count, x.dimensions)
                              : dense_row(values.data(), x.count);
}

Standardization measure(const Dataset& data, bool intercept, const Progress& progress, std::int32_t offset) {
  const auto d = static_cast<std::size_t>(data.dimensions());
  Standardization s{std::vector<double>(d, 0.0), std::vector<double>(d, 0.0)};
  double total = 0;
  for (std::int64_t i = 0; i < data.rows(); ++i) {
    const double c = data.weight(i);
    const Row x = data.row(i);
    total += c;
    progress.work(4.0 * x.count);
    for_each_value(x, [&](std::int32_t j, double v) { s.mean[static_cast<std::size_t>(j)] += c * v; });
  }
  if (!(total > 0)) total = 1;
  for (double& m : s.mean) m /= total;
  // Second pass: Σ (x − mean)² over stored values, plus mean² for the absent zeros.
  std::vector<double> stored(d, 0.0);
  for (std::int64_t i = 0; i < data.rows(); ++i) {
    const double c = data.weight(i);
    const Row x = data.row(i);
    progress.work(4.0 * x.count);
    for_each_value(x, [&](std::int32_t column, double v) {
      const auto j = static_cast<std::size_t>(column);
      s.deviation[j] += c * (v - s.mean[j]) * (v - s.mean[j]);
      stored[j] += c;
    });
  }
  const bool centre = intercept && !data.sparse_input();
  for (std::size_t j = 0; j < d; ++j) {
    const double square = (s.deviation[j] + std::max(0.0, total - stored[j]) * s.mean[j] * s.mean[j]) / total;
    const double deviation = std::sqrt(square);
    // A column that is constant up to rounding carries nothing; dividing by its noise would make it the largest.
    s.deviation[j] = deviation > 1e-12 * std::fabs(s.mean[j]) && std::isfinite(deviation) ? deviation : 1.0;
    if (!centre) s.mean[j] = 0;
  }
  if (offset >= 0) {
    s.mean[static_cast<std::size_t>(offset)] = 0;
    s.deviation[static_cast<std::size_t>(offset)] = 1;
  }
  return s;
}

void to_user_units(const Standardization& s, Weights& weights, Eigen::VectorXd& intercept) {
  for (Eigen::Index o = 0; o < weights.rows(); ++o)
    for (Eigen::Index j = 0; j < weights.cols(); ++j) {
      weights(o, j) /= s.deviation[static_cast<std::size_t>(j)];
      intercept(o) -= weights(o, j) * s.mean[static_cast<std::size_t>(j)];
    }
}

void to_standard_units(const Standardization& s, InitialModel& model) {
  const std::size_t d = s.mean.size(), outputs = d > 0 ? model.weights.size() / d : 0;
  if (outputs * d != model.weights.size()) return;
  if (model.intercept.empty()) model.intercept.assign(outputs, 0.0);
  if (model.intercept.size() != outputs) return;
  for (std::size_t o = 0; o < outputs; ++o)
    for (std::size_t j = 0; j < d; ++j) {
      double& w = model.weights[o * d + j];
      model.intercept[o] += w * s.mean[j];
      w *= s.deviation[j];
    }
}

namespace {
double copied_features(const Dataset& data) {
  return 8.0 * data.density() * static_cast<double>(data.rows()) * data.dimensions();
}
}  // namespace

void to_standard_units(const Standardization& s, Options& options) {
  for (std::size_t j = 0; j < options.bounds.size(); ++j) {
    options.bounds[j].lower *= s.deviation[j];
    options.bounds[j].upper *= s.deviation[j];
  }
  for (NamedConstraint& c : options.constraints)
    for (auto& [feature, coefficient] : c.weights)
      coefficient /= s.deviation[static_cast<std::size_t>(feature_number(feature))];
}

void prices_to_user_units(const Standardization& s, std::optional<Weights>& prices) {
  if (!prices.has_value()) return;
  for (Eigen::Index j = 0; j < prices->cols(); ++j) prices->col(j) *= s.deviation[static_cast<std::size_t>(j)];
}

bool StandardizedRows::fits(const Dataset& data, const MemoryBudget& memory) {
  return !data.spilled() && memory.allows(copied_features(data));
}

StandardizedRows::StandardizedRows(const Dataset& data, const Options& options, const Progress& progress,
                                   MemoryBudget& memory)
    : data_(data) {
  if (!options.standardize) return;
  const double features = copied_features(data);
  const bool to_store = data.store() != nullptr && (data.spilled() || !memory.allows(features));
  memory.require(to_store ? static_cast<double>(data.array_bytes()) : features, "the standardised copy of the rows");
  units_ = measure(data, options.intercept, progress, offset_feature(options, data.dimensions()));
  copy_.emplace(standardized(data, *units_, progress, to_store));
  memory.use(static_cast<double>(copy_->bytes()));
}

}  // namespace margin
