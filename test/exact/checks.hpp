// What a certificate claims, held against exact numbers. The formulas are those of docs/reference/certificates.md.
#pragma once

#include "core/certificate/certificate.hpp"
#include "core/data/basis.hpp"
#include "core/kernel/kernel.hpp"
#include "real.hpp"

namespace exact {

/// The vectors that a certificate is about.
struct Vectors {
  margin::Weights weights;
  Eigen::VectorXd intercept;
  margin::Weights dual;
  std::shared_ptr<const margin::Basis> basis;
};

struct Findings {
  std::vector<std::string> wrong;  ///< claims that are false
  bool optimum = false;            ///< the exact optimum was found and lies in the interval
};

/// The certificate of any pair of vectors for this problem. `optimum`: find that as well, where it is known how to.
Findings check(const margin::Problem& p, const margin::Options& options, const Vectors& v, const margin::Certificate& c,
               bool optimum);

/// k(x, z) from its formula.
Real kernel_value(const margin::KernelFunction& of, const Vector& x, const Vector& z);

/// The certificate that src/core gives to them.
margin::Certificate certificate_of(const margin::Problem& p, const Vectors& v);

/// The one that margin_verify would give: its primal side from states of half of the rows each, from support vectors
/// for a kernel, and for stumps without what the dual weights prove.
margin::Certificate verified(const margin::Problem& p, const Vectors& v);

}  // namespace exact
