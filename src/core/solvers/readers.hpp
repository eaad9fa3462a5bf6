// Who reads an option: derived from the records of options, solvers, losses and kernels.
#pragma once

#include <string>
#include <vector>

#include "core/options/records.hpp"
#include "core/solvers/solver.hpp"

namespace margin {

/// The readers of an option in words, as docs/reference/options.md and margin_option_list() have them.
std::string readers_of(const OptionRecord& option);

/// Whether a training with this solver, by any of these losses, reads the option (options.kernel is the kernel).
bool is_read(const OptionRecord& option, const Options& options, const Solver& solver,
             const std::vector<std::string>& losses);

/// Refuses options that were given and that nobody reads, whatever their value: to accept them would let a user
/// believe that they did something. Throws Error(invalid_option), with the readers as its hint.
void require_readers(const Options& options, const Solver& solver, const std::vector<std::string>& losses);

/// The losses of one training: that of the options.
std::vector<std::string> losses_of(const Options& options);

}  // namespace margin
