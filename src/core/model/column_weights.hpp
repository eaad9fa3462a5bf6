// The weights of a model by features, and by the columns of its encoder.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/model/model.hpp"

namespace margin {

/// The place of a feature among the weights of a model; −1: it has none.
inline std::int32_t term_of(const Model& m, std::int32_t feature) {
  if (m.columns.empty()) return feature < m.terms() ? feature : -1;
  const auto known = std::lower_bound(m.columns.begin(), m.columns.end(), feature);
  return known == m.columns.end() || *known != feature ? -1 : static_cast<std::int32_t>(known - m.columns.begin());
}

/// The weight, in the score of an output, of the feature that is number `whole` of those that the columns of the encoder have
/// (Column::first); 0 of one that was dropped, or that the model keeps none for.
inline double weight_in_column(const Model& m, std::int32_t output, std::int32_t whole) {
  const std::int32_t feature = m.encoder->feature_of(whole), term = feature < 0 ? -1 : term_of(m, feature);
  return term < 0 ? 0 : m.weights(output, term);
}

/// Those of the features of a column; none of a sparse one, which may declare as many as it likes.
inline std::vector<double> column_weights(const Model& m, std::int32_t output, const Column& c) {
  std::vector<double> w;
  if (c.kind != ColumnKind::sparse) w.resize(static_cast<std::size_t>(c.features().index("a column", "features")));
  for (std::size_t k = 0; k < w.size(); ++k) w[k] = weight_in_column(m, output, c.first + static_cast<std::int32_t>(k));
  return w;
}

}  // namespace margin
