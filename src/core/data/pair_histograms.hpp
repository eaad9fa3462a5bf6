// Weighted sums of outer products of coded rows: a histogram for each pair of terms.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/threads.hpp"
#include "core/data/coded_rows.hpp"
#include "core/math/symmetric_matrix.hpp"

namespace margin {

/// Σ weight x xᵀ by n p²/2 additions for p terms, whatever the number of their features: of a pair of terms the sum of weights of
/// each pair of codes, and from these, by sums along both sides, those of each pair of features. A pair is one thread's.
class PairHistograms {
 public:
  /// `x` has one more column of the value `constant` where that is not 0.
  PairHistograms(const CodedRows& rows, double constant);
  /// sum += factor Σ weight_i x_i x_iᵀ, weight_i ≥ 0.
  void add(const double* weight, double factor, SymmetricMatrix& sum, Threads& threads, const Progress& progress);
  /// About the additions of add().
  static double work(const CodeLayout& layout, double rows);

 private:
  struct Pair {
    std::size_t one, other;
  };
  void add_number(std::size_t k, const double* weight, double factor, SymmetricMatrix& sum,
                  const Progress& progress) const;
  void add_pair(const Pair& pair, const double* weight, double factor, std::vector<double>& table, SymmetricMatrix& sum,
                const Progress& progress) const;

  const CodedRows& rows_;
  double constant_;
  std::vector<Pair> pairs_;
};

}  // namespace margin
