// The names that users bring from scikit-learn, LIBLINEAR and others, with what they mean here.
#pragma once

#include <string>
#include <string_view>

namespace margin {

/// A sentence for a hint; empty for a name that none of those programs has. Case does not matter.
std::string hint_for_foreign_option(std::string_view name);
std::string hint_for_foreign_loss(std::string_view name);
std::string hint_for_foreign_solver(std::string_view name);
std::string hint_for_foreign_metric(std::string_view name);

}  // namespace margin
