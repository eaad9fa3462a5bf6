// What margin_option_list() and margin_kernels() show of options and kernels. The parsers know the names
// (option_names(), kernel_names()); here is what they mean. docs/reference.md has the same tables, and
// test/docs_check.py compares.
#pragma once

#include <string_view>
#include <vector>

namespace margin {

struct OptionText {
  std::string_view name, type, meaning, fallback, used_by;
};
const std::vector<OptionText>& option_texts();

struct KernelText {
  std::string_view name, formula, options;
};
const std::vector<KernelText>& kernel_texts();

}  // namespace margin
