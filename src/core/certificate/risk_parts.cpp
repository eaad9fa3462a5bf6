// The risk's check of some rows, on a thread of their own.
#include <algorithm>

#include "core/certificate/risk.hpp"

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
  part->slopes_ = slopes_;
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
  if (!with_dual_) return;
  part.flush();
  total_ += part.total_;
  blocks_ += part.blocks_ + 1;
  longest_block_ = std::max(longest_block_, part.longest_block_);
}

}  // namespace margin
