// Sums that carry their own rounding error.
#pragma once

namespace margin {

/// A sum with its rounding error, which Knuth's two-sum finds without a choice: exact to a few ulps of Σ|terms|·n·ε².
class ExactSum {
 public:
  void add(double v) {
    const double t = sum_ + v, taken = t - sum_;
    lost_ += (sum_ - (t - taken)) + (v - taken);
    sum_ = t;
  }
  void add(const ExactSum& o) {
    add(o.sum_);
    lost_ += o.lost_;
  }
  double value() const { return sum_ + lost_; }
  /// The two numbers that it consists of.
  double rounded() const { return sum_; }
  double lost() const { return lost_; }
  static ExactSum of(double rounded, double lost) {
    ExactSum s;
    s.sum_ = rounded;
    s.lost_ = lost;
    return s;
  }

 private:
  double sum_ = 0, lost_ = 0;
};

}  // namespace margin
