// The squared loss with an l1 norm on second moments of the rows, at one lambda after another: no step reads the rows.
//
// Problem    min P(w, b) of certificate/moment_check.hpp, b at its best for w where it is free: its column is centred.
// Update     l1_quadratic.hpp, from the weights of the last lambda.
// Stop       a round that lowers P by less than it was asked for.
// Source     Friedman, Hastie, Tibshirani (2010), glmnet's covariance updates.
#pragma once

#include "core/problem/moments.hpp"
#include "core/solvers/elastic_net/l1_quadratic.hpp"

namespace margin {

class MomentDescent {
 public:
  /// `problem` and `moments` are kept by reference; its lambda is not read.
  MomentDescent(const Problem& problem, const Moments& moments);
  static double bytes(const Problem& problem);
  /// Whether moments cost less than going through the rows for so many lambdas.
  static bool pays(const Problem& problem, std::size_t lambdas);

  /// Until P is within about `enough` of its minimum.
  void solve(double lambda, double enough, const Progress& progress);
  const std::vector<double>& w() const { return at_.z; }
  double b() const { return b_; }

 private:
  const Problem& problem_;
  const Moments& moments_;
  std::size_t stride_;
  std::vector<double> matrix_, pull_;  // 2 <x, x>, 2 <x, y>, centred
  L1Coordinates at_;
  FaceSteps face_;
  double b_ = 0;
};

}  // namespace margin
