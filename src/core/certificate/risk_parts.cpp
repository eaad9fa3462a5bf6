// The risk's check of some rows, on a thread of their own.
#include <algorithm>
#include <cmath>

#include "core/certificate/risk.hpp"
#include "core/math/rounding.hpp"

namespace margin {

void RiskCheck::Output::add(const Output& part) {
  loss.add(part.loss);
  loss_error += part.loss_error;
  vanished += part.vanished;
  conjugate.add(part.conjugate);
  conjugate_size += part.conjugate_size;
  mass += part.mass;
  unseen += part.unseen;
  intercept.add(part.intercept);
  absolute.add(part.absolute);
}

std::unique_ptr<Check> RiskCheck::part() const {
  auto part = std::make_unique<RiskCheck>(objective_, weights_, intercept_, with_dual_);
  part->longest_short_ = longest_short_;
  return part;
}

void RiskCheck::add_part(Check& other) {
  auto& part = static_cast<RiskCheck&>(other);
  rows_ += part.rows_;
  errors_ += part.errors_;
  radius_ = std::max(radius_, part.radius_);
  total_weight_.add(part.total_weight_);
  error_weight_.add(part.error_weight_);
  support_ += part.support_;
  for (std::size_t o = 0; o < outputs_.size(); ++o) outputs_[o].add(part.outputs_[o]);
  unit_weights_ = unit_weights_ && part.unit_weights_;
  if (!with_dual_) return;
  if (!part.long_.empty()) {
    if (long_.empty()) {
      long_ = std::move(part.long_);
      long_mass_ = std::move(part.long_mass_);
    } else {
      long_.add(part.long_);
      for (std::size_t o = 0; o < long_mass_.size(); ++o) long_mass_[o] += part.long_mass_[o];
    }
  }
  part.flush();
  total_ += part.total_;
  blocks_ += part.blocks_ + 1;
  longest_block_ = std::max(longest_block_, part.longest_block_);
}

std::string RiskCheck::reductions() const {
  std::string all = with_dual_ ? "++>+++" : "++>++0";
  for (std::size_t o = 0; o < outputs_.size(); ++o) all += with_dual_ ? "+++++++++" : "+++000000";
  return all;
}

/// c a x of a long row, times `sign`: −1 takes away what was added.
void RiskCheck::take_long(const Row& x, std::int32_t o, double norm, double c, double a, double sign) {
  if (a == 0 || !(c > 0)) return;
  if (long_.empty()) {
    long_.resize(objective_.outputs(), objective_.dimensions);
    long_mass_.assign(outputs_.size(), 0.0);
  }
  const double product = c * a;
  long_.add(o, a > 0, sign * product, sign * std::fma(c, a, -product), x);
  long_mass_[static_cast<std::size_t>(o)] +=
      std::fabs(product) * (norm + objective_.constant_feature()) * (1 + 4 * epsilon);
}

}  // namespace margin
