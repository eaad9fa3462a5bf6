// What the procedure returns when it is not the last iterate: the average of the last T − T₀ iterates, or one of them
// drawn at random (Shalev-Shwartz & Zhang 2013, Procedure SDCA, "averaging option" and "random option").
#pragma once

#include <memory>

#include "core/solvers/sdca/epoch.hpp"

namespace margin {

/// T₀ is the option average_from. Without it, it lies between T/4 and T/2: windows start at epochs 1, 2, 4, 8, … so that no T
/// has to be known in advance.
class SdcaHistory : public DualHistory {
 public:
  virtual void begin_epoch() = 0;
  /// Put the output's duals, and the weights that follow from them, into the state; leave() puts the iterate back.
  virtual void enter() = 0;
  virtual void leave() = 0;
};

/// Null for the output `last`, and for none. Keeps references to its arguments.
std::unique_ptr<SdcaHistory> make_history(const Options& options, SdcaState& state, Random& random);

}  // namespace margin
