#include "core/report/explain.hpp"

#include <algorithm>
#include <cmath>

namespace margin {

namespace {

/// A feature as its column has it, not standardised.
double own_value(const Encoder& encoder, const Cells& cells, std::int32_t feature) {
  const Encoder::Place at = encoder.place(feature);
  const Column& c = encoder.columns()[at.column];
  const auto value = static_cast<std::size_t>(at.value);
  if (at.value == c.values() || c.kind == ColumnKind::category) return 1;
  if (std::isnan(cells.values[at.column])) return c.fill.empty() ? 0 : c.fill[value];
  return scalar(c.kind) ? cells.values[at.column] : value_at(cells.blocks[at.column], at.value);
}

}  // namespace

std::string feature_name(const Model& model, std::int32_t feature) {
  return model.encoder != nullptr ? model.encoder->feature_name(feature) : "feature " + std::to_string(feature + 1);
}

std::vector<Contribution> contributions(const Model& m, const Row& x, const Cells* cells) {
  std::vector<Contribution> out;
  for (std::int32_t o = 0; o < m.outputs(); ++o) {
    const auto first = static_cast<std::ptrdiff_t>(out.size());
    out.push_back({o, -1, 1, m.intercept(o)});
    for (std::int32_t k = 0; k < x.count; ++k) {
      const std::int32_t feature = x.indices != nullptr ? x.indices[k] : k;
      const double v = x.value(k);
      if (v == 0) continue;
      std::int32_t term = feature;
      if (!m.columns.empty()) {
        const auto known = std::lower_bound(m.columns.begin(), m.columns.end(), feature);
        if (known == m.columns.end() || *known != feature) continue;
        term = static_cast<std::int32_t>(known - m.columns.begin());
      }
      out.push_back(
          {o, feature, cells != nullptr ? own_value(*m.encoder, *cells, feature) : v, m.weights(o, term) * v});
    }
    std::sort(out.begin() + first, out.end(), [](const Contribution& a, const Contribution& b) {
      const double p = std::fabs(a.contribution), q = std::fabs(b.contribution);
      return p != q ? p > q : a.feature < b.feature;
    });
  }
  return out;
}

std::vector<Importance> importance(const Model& m) {
  std::vector<Importance> out;
  const auto squares = m.weights.colwise().squaredNorm();
  if (m.encoder == nullptr) {
    for (std::int32_t j = 0; j < m.terms(); ++j) out.push_back({feature_name(m, m.feature(j)), squares(j), 0});
  } else {
    for (const Column& c : m.encoder->columns()) out.push_back({c.name, 0, 0});
    for (std::int32_t j = 0; j < m.terms(); ++j) out[m.encoder->place(m.feature(j)).column].norm += squares(j);
  }
  double all = 0;
  for (const Importance& i : out) all += i.norm;
  for (Importance& i : out) {
    i.share = all > 0 ? i.norm / all : 0;
    i.norm = std::sqrt(i.norm);
  }
  std::stable_sort(out.begin(), out.end(), [](const Importance& a, const Importance& b) { return a.norm > b.norm; });
  return out;
}

}  // namespace margin
