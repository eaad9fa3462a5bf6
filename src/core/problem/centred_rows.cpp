#include "core/problem/centred_rows.hpp"

#include <algorithm>
#include <cmath>

namespace margin {

CentredRows::CentredRows(const Problem& p, const Options& options, const Progress& progress, MemoryBudget& memory)
    : shifted_(p.dimensions(), true) {
  constexpr double far = 32, long_row = 0x1p18;
  const Dataset& data = p.data;
  if (p.hard_margin || !p.free_intercept || p.kernel != nullptr || options.initial.has_value() || !(p.lambda > 0) ||
      data.sparse_input() || data.rows() == 0 || !(data.radius() > long_row * std::sqrt(p.lambda)) || data.spilled() ||
      !memory.allows(8.0 * static_cast<double>(data.rows()) * data.dimensions()))
    return;
  const auto d = static_cast<std::size_t>(data.dimensions());
  std::vector<double> first(d, 0.0), spread(d, 0.0), largest(d, 0.0);
  add(1.0, data.row(0), first.data());
  std::vector<double> x(d);
  for (std::int64_t i = 0; i < data.rows(); ++i) {
    std::fill(x.begin(), x.end(), 0.0);
    add(1.0, data.row(i), x.data());
    for (std::size_t j = 0; j < d; ++j) {
      spread[j] = std::max(spread[j], std::fabs(x[j] - first[j]));
      largest[j] = std::max(largest[j], std::fabs(x[j]));
    }
    progress.work(4.0 * static_cast<double>(d));
  }
  bool any = false;
  for (std::size_t j = 0; j < d; ++j) {
    const bool is_far = largest[j] > far * spread[j] && static_cast<std::int32_t>(j) != p.offset;
    any |= is_far;
    if (!is_far) first[j] = 0;
  }
  if (!any) return;
  shifted_.set_origin(std::move(first));
  copy_.emplace(data.outcome());
  for (std::int32_t k = 0; k < data.classes().size(); ++k)
    copy_->classes().intern(data.classes().name(k), data.classes().key(k));
  copy_->set_declared_dimensions(data.declared_dimensions());
  for (std::int64_t i = 0; i < data.rows(); ++i) {
    const Row row = shifted_.place(data.row(i));
    copy_->append({row, data.dimensions()}, data.label(i), data.weight(i));
    progress.work(4.0 * static_cast<double>(d));
  }
  memory.use(static_cast<double>(copy_->bytes()));
}

void CentredRows::give_back(const Weights& weights, Eigen::VectorXd& intercept) const {
  if (!copy_.has_value()) return;
  const std::vector<double>& origin = shifted_.origin();
  for (Eigen::Index o = 0; o < weights.rows(); ++o)
    for (std::size_t j = 0; j < origin.size(); ++j)
      intercept(o) -= weights(o, static_cast<Eigen::Index>(j)) * origin[j];
}

}  // namespace margin
