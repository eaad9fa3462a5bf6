// The losses whose path leads to a hard margin (Telgarsky 2013; Ji, Srebro & Telgarsky 2021). Their solvers have their
// formulas; a problem with such a loss has no Loss, and knows it by its name.
#pragma once

#include <string_view>

namespace margin {

enum class MarginLoss { none, exponential, logistic };

constexpr MarginLoss margin_loss(std::string_view name) {
  return name == "exponential" ? MarginLoss::exponential : name == "logistic" ? MarginLoss::logistic : MarginLoss::none;
}

/// What a training names as its loss whose targets are met.
constexpr std::string_view interpolate_loss = "interpolate";

}  // namespace margin
