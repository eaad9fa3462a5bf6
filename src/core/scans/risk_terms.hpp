// What a row adds to the answer of a question about a risk: numbers, its part of sums, how much it is worth keeping.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/certificate/risk.hpp"
#include "core/scans/rings.hpp"
#include "core/scans/wire/question.hpp"
#include "core/scans/wire/term.hpp"

namespace margin {

class RiskTerms {
 public:
  /// `question` is kept by reference.
  explicit RiskTerms(const Question& question);

  /// One for each number.
  const std::string& reductions() const { return reductions_; }
  std::int32_t vectors() const { return outputs_ + outputs_ * rings_.groups(); }
  std::int32_t matrices() const { return q_.curvature ? outputs_ : 0; }
  std::int32_t bags() const { return q_.bag_rows > 0 ? outputs_ : 0; }
  std::int32_t cells() const { return outputs_ * rings_.groups() * Rings::sums; }
  /// Of these a row adds to so many at most.
  std::int32_t cells_of_row() const { return rings_.groups() > 0 ? outputs_ * Rings::sums : 0; }

  /// Where the parts of a term go; of cells the number of the first.
  struct Room {
    double *numbers, *coefficients, *curvatures, *keys;
    Entry* cells;
    std::int64_t first_cell;
  };
  /// Returns how many cells. `row` as it is read, with the label's class or its target, and the weight of the sample.
  std::int32_t measure(CheckedRow row, const Room& to);

 private:
  void ring(std::int32_t output, double u, double y, const CheckedRow& row, const Room& to, std::int32_t& cells) const;

  const Question& q_;
  const std::int32_t outputs_;
  const Rings rings_;
  RiskCheck check_;
  std::size_t checked_;  // numbers of the check
  std::string reductions_;
};

}  // namespace margin
