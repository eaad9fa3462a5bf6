// The step sizes θ_t of the methods of Ji, Srebro & Telgarsky (2021): the option `step`.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/base/error.hpp"
#include "core/options/options.hpp"

namespace margin {

class StepSequence {
 public:
  StepSequence(const Options& options, std::string_view solver) : falls_(options.step == Step::inverse_root) {
    if (falls_ || options.step == Step::automatic) return;
    throw Error(ErrorKind::unsupported, "solver \"" + std::string(solver) + "\" takes no steps of this name",
                "Its steps: 1/sqrt(t)" + std::string(solver == "sampling" ? " and theory;" : ";") +
                    " left out, they are all 1.");
  }
  /// θ_t, t = 0, 1, …: 1, or 1/√(t+1).
  double operator()(std::int64_t t) const { return falls_ ? 1 / std::sqrt(static_cast<double>(t) + 1) : 1.0; }

 private:
  bool falls_;
};

}  // namespace margin
