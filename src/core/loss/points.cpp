#include "core/loss/points.hpp"

#include <type_traits>

#include "core/loss/registry.hpp"
#include "core/simd/logistic_points.hpp"

namespace margin {

namespace {

template <class L>
void evaluate_one_by_one(const Loss& any, std::size_t from, std::size_t count, LossPoints& p) {
  const L& loss = static_cast<const L&>(any);
  for (std::size_t k = from; k < from + count; ++k) {
    const double u = p.u[k], y = p.y[k], settled = settled_dual_of(loss, u, y);
    const double dual = loss.project(std::isnan(settled) ? 0.0 : settled, y);
    p.value[k] = loss.value(u, y);
    p.dual[k] = dual;
    p.conjugate[k] = dual != 0 ? loss.conjugate(dual, y) : 0.0;
    p.second_derivative[k] = loss.second_derivative(u, y);
  }
}

void evaluate_logistic(const Loss&, std::size_t from, std::size_t count, LossPoints& p) {
  const std::size_t whole = (count + LossPoints::block - 1) / LossPoints::block * LossPoints::block;
  logistic_points()(p.u.data() + from, p.y.data() + from, whole, p.value.data() + from, p.dual.data() + from,
                    p.conjugate.data() + from, p.second_derivative.data() + from);
}

}  // namespace

EvaluatePoints evaluate_points(const Loss& loss) {
  EvaluatePoints found = nullptr;
  visit(loss, [&](const auto& own) {
    using L = std::decay_t<decltype(own)>;
    found = evaluates_together<L> ? evaluate_logistic : evaluate_one_by_one<L>;
  });
  return found;
}

bool points_evaluate_together(const Loss& loss) {
  bool together = false;
  visit(loss, [&](const auto& own) { together = evaluates_together<std::decay_t<decltype(own)>>; });
  return together;
}

}  // namespace margin
