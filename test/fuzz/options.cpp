// Any nested value under any option name either parses or is refused by margin::Error with a message; nothing else.
#include "core/options/options.hpp"

#include <cmath>
#include <limits>

#include "bytes.hpp"
#include "core/base/error.hpp"

namespace {

using fuzz::Bytes;

margin::Value any_value(Bytes& bytes, int depth) {
  static const std::vector<double> numbers = {
      0, 1, -1, 0.5, 1e-3, 2, 1e15, 1e16, 1e300, -1e300, 5e-324, 9007199254740993.0, std::nan(""), INFINITY, -INFINITY};
  static const std::vector<std::string> texts = {"",    "balanced", "hinge",    "auto", "permutation", "last",
                                                 "sgd", "notice",   "momentum", "x\0y", "\xff\xfe",    "average"};
  margin::Value value;
  switch (bytes.below(depth > 3 ? 4 : 6)) {
    case 0:
      value.data = bytes.among(numbers);
      break;
    case 1:
      value.data = bytes.below(2) == 1;
      break;
    case 2:
      value.data = bytes.among(texts);
      break;
    case 3:
      break;  // null
    case 4: {
      margin::Value::Array items;
      for (int n = bytes.below(5); n > 0; --n) items.push_back(any_value(bytes, depth + 1));
      value.data = std::move(items);
      break;
    }
    default: {
      margin::Value::Object fields;
      for (int n = bytes.below(4); n > 0; --n)
        fields[bytes.among<std::string>({"weights", "intercept", "dual_weights", "a", ""})] =
            any_value(bytes, depth + 1);
      value.data = std::move(fields);
    }
  }
  return value;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(data, size);
  margin::Value::Object options;
  for (int n = bytes.below(6); n > 0; --n) {
    std::string name(margin::option_names()[static_cast<std::size_t>(bytes.byte()) % margin::option_names().size()]);
    if (bytes.below(16) == 1) name += static_cast<char>(bytes.byte());
    options[name] = any_value(bytes, 0);
  }
  try {
    const margin::Options settings = margin::parse_options(options);
    fuzz::require(settings.tolerance >= 0 && settings.tolerance < 1, "a parsed tolerance is in [0, 1)");
    fuzz::require(!settings.lambda || *settings.lambda >= 0, "a parsed lambda is not negative");
    fuzz::require(!settings.max_iterations || *settings.max_iterations >= 1, "a parsed max_iterations is positive");
  } catch (const margin::Error& error) {
    fuzz::require(!error.message().empty(), "every refusal says why");
  }
  return 0;
}
