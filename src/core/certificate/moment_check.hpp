// The certificate of a regularised squared loss (certificate/risk.hpp) from second moments of the rows: P and D at any
// weights are quadratic functions of them. What the moments err by is added outward.
//
// With e = x·w + b − y, less its mean where the intercept is free (Σ c a = 0 then), the dual vector is a = −2 t e:
//   D = −2 t <e, y> − t² <e, e> + Σ_j T_j(v_j),   v = −2 t <e, x>,   <·,·> = (1/W) Σ c · ·,
//   T_j(v) = min over w between the bounds of λ f_j ((1−r)/2 w² + r |w|) − v w   (math/box_term.hpp),
// without bounds −max(0, |v| − λ f_j r)² / (2 λ f_j (1−r)); r = l1_ratio, f the penalty factors. With r = 1 a side without a bound is
// a constraint that t meets.
#pragma once

#include <vector>

#include "core/certificate/certificate.hpp"
#include "core/problem/moments.hpp"

namespace margin {

/// Of a squared loss with an l1 norm, and an intercept that is free or none; no offset.
class MomentCheck {
 public:
  /// `problem` is kept by reference. Its rows are read here, once.
  MomentCheck(const Problem& problem, const Progress& progress) : problem_(problem), moments_(problem, progress) {}
  static bool serves(const Problem& problem);

  Certificate certificate(const std::vector<double>& w, double intercept, double lambda) const;
  /// Σ c a x/W at these weights, a = −φ' of their scores, without bounds on its rounding.
  std::vector<double> image(const std::vector<double>& w, double intercept) const;
  /// Sums of the rows alone, which no vector changes: for whoever has vectors to find.
  const Moments& moments() const { return moments_; }

 private:
  /// <e, z> of every z, of the weights that are not 0.
  std::vector<double> products(const std::vector<double>& w, double intercept) const;

  const Problem& problem_;
  const Moments moments_;
};

}  // namespace margin
