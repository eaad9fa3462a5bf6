// The build includes this before every file: a broken precondition of Eigen's, or memory that is not to be had, becomes
// an exception, which ends one statement, where Eigen would end the server process and with it every session.
#pragma once

#include <stdexcept>

#include "core/base/eigen_storage.hpp"

namespace margin {

/// Throws std::logic_error: a mistake of ours, whatever the input.
[[noreturn]] inline void broken_precondition(const char* what) { throw std::logic_error(what); }

}  // namespace margin

#define eigen_assert(x) (static_cast<bool>(x) ? static_cast<void>(0) : ::margin::broken_precondition(#x))
