// The passes of the first-order methods where rows are few next to their features.
#include <algorithm>

#include "core/math/rounding.hpp"
#include "core/solvers/l2_margin/first_order.hpp"
#include "core/solvers/l2_margin/soft_min.hpp"

namespace margin {

namespace {

// With a separation γ, in units of the largest row, no mean of rows is shorter than γ, and its square is known to some
// 1e-16: to 1e-10 of itself at this one.
constexpr double least_separation = 1e-3;
constexpr std::int64_t between_renewals = 256;  // passes; far below 1 % of their cost

}  // namespace

void FirstOrder::consider_span() {
  // The products are computed from the first caches, several times as fast as passes run.
  const std::int64_t break_even = problem_.rows() / 8;
  if (span_ || passes_ < break_even || run_.max_iterations() < 2 * break_even || separation_ < least_separation ||
      memory_ < RowProducts::bytes(problem_) || !RowProducts::worthwhile(problem_))
    return;
  std::vector<Weights> others = {w_, g_};
  others.insert(others.end(), sum_.begin(), sum_.end());
  span_.emplace(problem_, z_scale_, std::move(others), run_.progress());
  w_ = span_->other(0);
  g_ = span_->other(1);
  for (std::size_t b = 0; b < sum_.size(); ++b) sum_[b] = span_->other(2 + b);
}

void FirstOrder::span_pass() {
  if (passes_ % between_renewals == 0) {
    span_->renew(w_, run_.progress());
    span_->renew(g_, run_.progress());
    for (Weights& u : sum_) span_->renew(u, run_.progress());
  }
  smallest_.pair = Eigen::MatrixXd::Constant(2, 2, infinity);
  double low[2] = {infinity, infinity};
  for (std::int64_t i = 0; i < problem_.rows(); ++i) {
    const std::int32_t own = problem_.label[static_cast<std::size_t>(i)];
    const double m = span_->product(w_, i);
    smallest_.pair(own, 1 - own) = std::min(smallest_.pair(own, 1 - own), m);
    low[bank_of(own)] = std::min(low[bank_of(own)], m);
    q_(i, 0) = 0;
  }
  for (std::size_t b = 0; b < v_.size(); ++b) {
    const double ref = logistic_ ? std::max(low[b], 0.0) : low[b];
    std::vector<std::int64_t> rows;
    std::vector<double> slopes;
    double sum = 0;
    mass_[b] = 0;
    for (std::int64_t i = 0; i < problem_.rows(); ++i) {
      const double m = span_->product(w_, i);
      if (bank_of(problem_.label[static_cast<std::size_t>(i)]) != b || m > ref + soft_min_cut_off) continue;
      const Soft s = soft(logistic_, m, ref);
      q_(i, 0) = s.slope;
      mass_[b] += s.slope;
      sum += s.value;
      rows.push_back(i);
      slopes.push_back(s.slope);
    }
    run_.work(16.0 * static_cast<double>(problem_.rows()));
    v_[b] = span_->zero();
    span_->add(rows, slopes, v_[b], run_.progress());
    divisor_[b] = psi_divisor(logistic_, sum, ref);
    log_scale_[b] = std::log(divisor_[b]) - ref;
  }
}

void FirstOrder::keep() {
  kept_ = w_;
  kept_in_span_ = span_.has_value();
}

}  // namespace margin
