// What users are told of an option, and how it is read from a value: one record each. margin_option_list() shows them;
// docs/reference/options.md and the arguments of margin_options are compared with them by test/docs_check.py.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/options/options.hpp"

namespace margin {

/// Which trainings read an option; the others refuse it (solvers/readers.hpp).
enum class ReadBy {
  every_training,        ///< it states the problem, or what is wanted of any method; values that do not fit are refused
  penalized_intercepts,  ///< linear soft margins whose intercept is regularised
  scans,                 ///< trainings by scans
  one_class,             ///< one-class machines
  methods,               ///< the solvers, losses and kernels whose records name it
};

struct OptionRecord {
  std::string_view name;
  std::string type;      ///< of the argument of margin_options
  std::string meaning;   ///< its values, and what they mean
  std::string fallback;  ///< the default
  ReadBy scope;
  std::string_view readers;  ///< in words, besides solvers, losses and kernels that name it
  /// Throws Error(invalid_option) for a value that it cannot have.
  std::function<void(Options& options, std::string_view key, const Value& value)> set;
};

/// In the order of docs/reference/options.md.
const std::vector<OptionRecord>& option_records();

}  // namespace margin
