// The build includes this before every file of the core: Eigen's preconditions, and what most files read of Eigen and the
// standard library, once for all of them where the compiler can keep that (GCC does). Files still name what they use.

// clang-format off: before Eigen
#include "core/base/eigen_check.hpp"
// clang-format on
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>
