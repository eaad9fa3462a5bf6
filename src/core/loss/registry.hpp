// The only list of losses, and the door from the virtual interface to code that is compiled per loss.
#pragma once

#include "core/loss/absolute.hpp"
#include "core/loss/epsilon_insensitive.hpp"
#include "core/loss/hinge.hpp"
#include "core/loss/huber.hpp"
#include "core/loss/logistic.hpp"
#include "core/loss/poisson.hpp"
#include "core/loss/quantile.hpp"
#include "core/loss/smoothed_hinge.hpp"
#include "core/loss/squared.hpp"
#include "core/loss/squared_epsilon_insensitive.hpp"
#include "core/loss/squared_hinge.hpp"

namespace margin {

// A loss is a final subclass of Loss with a constructor from Options and, beside the virtual interface, four
// constants: id (its name), classifies, settles (rows can reach an end of the dual domain and stay there), and reads
// (the options that its parameters are).
template <class... L>
struct LossList {};

/// In the order of docs/reference/losses.md.
using AllLosses = LossList<Hinge, SmoothedHinge, SquaredHinge, Logistic, Squared, Absolute, EpsilonInsensitive,
                           SquaredEpsilonInsensitive, Huber, Quantile, Poisson>;

namespace detail {
template <class Function, class... L>
void visit_in(LossList<L...>, const Loss& loss, Function& f) {
  const auto try_one = [&](const auto* concrete) {
    if (concrete == nullptr) return false;
    f(*concrete);
    return true;
  };
  if (!(try_one(dynamic_cast<const L*>(&loss)) || ...)) f(loss);
}
}  // namespace detail

/// Calls f(concrete), where `concrete` is `loss` as its own final class, so that an inner loop inlines its formulas
/// instead of paying a virtual call per row; a loss outside the list arrives as const Loss&.
template <class Function>
void visit(const Loss& loss, Function&& f) {
  detail::visit_in(AllLosses{}, loss, f);
}

}  // namespace margin
