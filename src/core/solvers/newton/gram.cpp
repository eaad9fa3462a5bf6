#include "core/solvers/newton/gram.hpp"

#include "core/solvers/run.hpp"

namespace margin {

void GramSum::add(const double* weight, SymmetricMatrix& sum) {
  for (std::int64_t i = 0; i < rows_.rows(); ++i)
    if (weight[i] != 0) {
      rows_.prefetch_after(i);
      block_.add(rows_.row(i), weight[i], 1.0, sum, rows_.run());
    }
  block_.flush(1.0, sum, rows_.run());
}

void GramSum::add(const std::vector<std::int64_t>& which, const double* weight, double factor, SymmetricMatrix& sum) {
  for (const std::int64_t i : which) block_.add(rows_.row(i), weight[i], factor, sum, rows_.run());
  block_.flush(factor, sum, rows_.run());
}

}  // namespace margin
