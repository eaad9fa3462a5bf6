// The check of a question's iterate, with what all rows answered.
#pragma once

#include "core/certificate/joint.hpp"
#include "core/certificate/likelihood.hpp"
#include "core/certificate/risk.hpp"
#include "core/scans/wire/answer.hpp"
#include "core/scans/wire/question.hpp"

namespace margin {

/// Answers may come as bytes from another server, sound in themselves: throws Error(invalid_value) where this one cannot
/// be an answer to the question, by its form or by the rows that it keeps. Without rows it may be empty.
void require_answer(const Question& question, const Answer& answer, const Progress& progress);

/// The same, and throws Error(invalid_value) for an answer to another question, or of no row.
void require_own_answer(const Question& question, const Answer& answer, const Progress& progress);

/// Of a risk: its certificate has the weights' own value and the dual value of −φ'(u). The question must outlive it.
/// Throws Error(malformed) for an answer to another question.
RiskCheck answered_risk(const Question& question, const Answer& answer, const Progress& progress);

/// The same of classes that are trained jointly.
JointCheck answered_joint(const Question& question, const Answer& answer);

/// Of a risk without a penalty that was asked with its curvature: what LikelihoodCheck proves of it, and Newton's method needs.
/// Throws as answered_risk() does.
class LikelihoodAnswer {
 public:
  LikelihoodAnswer(const Question& question, Answer& answer, const Progress& progress);
  const LikelihoodCheck& check() const { return check_; }
  /// Σ c φ' z and Σ c φ'' z zᵀ of z = (x, 1), without the column of an offset.
  const std::vector<double>& gradient() const { return gradient_; }
  const SymmetricMatrix& hessian() const { return hessian_; }
  double largest_score() const { return largest_score_; }

 private:
  LikelihoodCheck check_;
  std::vector<double> gradient_;
  SymmetricMatrix hessian_;
  double largest_score_ = 0;
};

}  // namespace margin
