// Which of its iterates a solver returns: the option `output`.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>

#include "core/base/error.hpp"
#include "core/options/options.hpp"

namespace margin {

/// Whether the option was given; where options are set by code, whether it is not the default.
inline bool asks_for_output(const Options& options) {
  return options.output != Output::last ||
         std::find(options.given.begin(), options.given.end(), "output") != options.given.end();
}

/// The output that the options ask for, of those that a solver has; none: the solver's own choice.
inline std::optional<Output> output_of(const Options& options, std::string_view solver,
                                       std::initializer_list<Output> known) {
  if (!asks_for_output(options)) return std::nullopt;
  std::string names;
  for (const Output one : known) {
    if (options.output == one) return one;
    names += (names.empty() ? "" : ", ") + std::string(one == Output::last      ? "last"
                                                       : one == Output::average ? "average"
                                                                                : "random");
  }
  throw Error(ErrorKind::unsupported,
              "solver \"" + std::string(solver) + "\" has no output \"" +
                  (options.output == Output::average ? "average" : "random") + "\"",
              "Its outputs: " + names + ".");
}

/// Throws Error: `average_from` without an output that begins there.
inline void require_average(const Options& options) {
  if (options.average_from.has_value() && options.output == Output::last)
    throw Error(ErrorKind::unsupported, "option \"average_from\" needs an output that begins there",
                "Give output => 'average', or with sdca 'random'.");
}

}  // namespace margin
