// The certificate of a regularised squared loss (certificate/risk.hpp) from second moments of the rows: P and D at any
// weights are quadratic functions of them. What the moments err by is added outward.
//
// With e = x·w + b − y, less its mean where the intercept is free (Σ c a = 0 then), the dual vector is a = −2 t e:
//   D = −2 t <e, y> − t² <e, e> − Σ_j max(0, |v_j| − λ r)² / (2 λ (1−r)),   v = −2 t <e, x>,   <·,·> = (1/W) Σ c · ·
// r = l1_ratio; with r = 1 the last term is a constraint that t meets.
#pragma once

#include <vector>

#include "core/certificate/certificate.hpp"
#include "core/problem/moments.hpp"

namespace margin {

/// Of a squared loss with an l1 norm, and an intercept that is free or none; no penalty factors, no offset.
class MomentCheck {
 public:
  /// `problem` is kept by reference. Its rows are read here, once.
  MomentCheck(const Problem& problem, const Progress& progress) : problem_(problem), moments_(problem, progress) {}
  static bool serves(const Problem& problem);

  Certificate certificate(const std::vector<double>& w, double intercept, double lambda) const;
  /// Sums of the rows alone, which no vector changes: for whoever has vectors to find.
  const Moments& moments() const { return moments_; }

 private:
  const Problem& problem_;
  const Moments moments_;
};

}  // namespace margin
