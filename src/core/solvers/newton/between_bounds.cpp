#include "core/solvers/newton/between_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace margin {

namespace {

constexpr int most_idle = 100, most_halvings = 40;
constexpr double rounding_share = 1e-10;

/// The matrix of a model, as far as products say what it is.
struct BoxMatrix {
  virtual ~BoxMatrix() = default;
  virtual void multiply(const std::vector<double>& p, std::vector<double>& q) const = 0;
  /// z is v, preconditioned, and 0 where a weight is at an end; their product.
  virtual double precondition(const std::vector<double>& v, const std::vector<char>& end,
                              std::vector<double>& z) const = 0;
  virtual double inverse_diagonal(std::size_t j) const = 0;
  /// Before a step in the face of these ends; whether the preconditioner became another one.
  virtual bool prepare(const std::vector<char>& /*end*/) { return false; }
};

struct MatrixOfRows final : BoxMatrix {
  explicit MatrixOfRows(const ConjugateGradients& from) : gradients(from) {}
  void multiply(const std::vector<double>& p, std::vector<double>& q) const override { gradients.multiply(p, q); }
  double precondition(const std::vector<double>& v, const std::vector<char>& end,
                      std::vector<double>& z) const override {
    return gradients.precondition(v, &end, z);
  }
  double inverse_diagonal(std::size_t j) const override { return gradients.inverse_diagonal(j); }
  const ConjugateGradients& gradients;
};

/// I + factor · gram, of which the upper triangle is read, with both. The first face is factorised, so that a step which no bound stops is
/// exact; later ones as soon as they have taken as many products as that costs.
class StoredMatrix final : public BoxMatrix {
 public:
  StoredMatrix(const NewtonRows& rows, const SymmetricMatrix& gram, double factor)
      : rows_(rows),
        n_(rows.columns()),
        factor_(0),
        stride_((n_ + 7) / 8 * 8),
        matrix_(stride_ * n_, 0.0),
        inverse_(n_) {
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = i; j < n_; ++j)
        matrix_[i * stride_ + j] = matrix_[j * stride_ + i] = factor * gram.row(i)[j];
      double& diagonal = matrix_[i * stride_ + i];
      if (rows.penalizes(i) || diagonal == 0) diagonal += 1;
      inverse_[i] = 1 / diagonal;
    }
    rows.run().work(2.0 * static_cast<double>(n_ * n_));
  }
  void multiply(const std::vector<double>& p, std::vector<double>& q) const override {
    for (std::size_t i = 0; i < n_; ++i) q[i] = simd().dot_dd(matrix_.data() + i * stride_, p.data(), n_);
    rows_.run().work(static_cast<double>(n_ * n_));
  }
  double precondition(const std::vector<double>& v, const std::vector<char>& end,
                      std::vector<double>& z) const override {
    z.resize(n_);
    if (exact_) {
      std::vector<double> part(members_.size());
      for (std::size_t p = 0; p < members_.size(); ++p) part[p] = v[members_[p]];
      solve_factored(factor_, part.data());
      std::fill(z.begin(), z.end(), 0.0);
      for (std::size_t p = 0; p < members_.size(); ++p) z[members_[p]] = part[p];
    } else {
      for (std::size_t j = 0; j < n_; ++j) z[j] = end[j] != 0 ? 0.0 : inverse_[j] * v[j];
    }
    return simd().dot_dd(v.data(), z.data(), n_);
  }
  double inverse_diagonal(std::size_t j) const override { return inverse_[j]; }
  bool prepare(const std::vector<char>& end) override {
    if (exact_ && end == end_) return false;
    const bool was_exact = exact_;
    exact_ = false;
    if (++since_ < wait_) return was_exact;
    members_.clear();
    for (std::size_t j = 0; j < n_; ++j)
      if (end[j] == 0) members_.push_back(j);
    const std::size_t s = members_.size();
    factor_.reset(s, rows_.run().progress());
    for (std::size_t p = 0; p < s; ++p)
      for (std::size_t q = p; q < s; ++q) factor_.row(p)[q] = matrix_[members_[p] * stride_ + members_[q]];
    exact_ = factorise(factor_, rows_.run().progress());
    end_ = end;
    since_ = 0;
    const double share = static_cast<double>(s) / static_cast<double>(n_);
    wait_ = 2 + static_cast<std::size_t>(share * share * static_cast<double>(s) / 3);
    return true;
  }

 private:
  const NewtonRows& rows_;
  std::size_t n_;
  SymmetricMatrix factor_;  // of the face of members_
  bool exact_ = false;
  std::vector<std::size_t> members_;
  std::vector<char> end_;
  std::size_t since_ = 0, wait_ = 0;
  std::size_t stride_;
  std::vector<double> matrix_, inverse_;
};

/// The minimum of the model between the bounds by products alone, from no step on.
class BoxDescent {
 public:
  BoxDescent(const NewtonRows& rows, BoxMatrix& system, const std::vector<double>& w, const std::vector<double>& r,
             std::vector<double>& d)
      : rows_(rows), system_(system), w_(w), d_(d), g_(r), search_(w.size()), image_(w.size()), end_(w.size()) {
    std::fill(d_.begin(), d_.end(), 0.0);
    for (std::size_t j = 0; j < w.size(); ++j) {
      least_.push_back(rows.low(j) - w[j]);
      most_.push_back(rows.high(j) - w[j]);
      unit_.push_back(system.inverse_diagonal(j));
    }
    mark();
    look();
  }

  void run(const BoxEffort& effort);

 private:
  enum End : char { none = 0, lower = 1, upper = 2 };  // and both, of equal ends

  /// Of the gradient of a weight at its end, what points into the box.
  double inward(std::size_t j) const {
    return end_[j] == lower ? std::min(g_[j], 0.0) : end_[j] == upper ? std::max(g_[j], 0.0) : 0.0;
  }
  void mark();
  void look();
  double gap();
  bool face_step();
  bool leave_ends();
  bool cut_gradient_step();
  double along_search();
  double longest(double t) const;
  void advance(double t);
  template <class To>
  double change_to(To&& to);
  void take_change();

  const NewtonRows& rows_;
  BoxMatrix& system_;
  const std::vector<double>& w_;
  std::vector<double>& d_;
  std::vector<double> g_;             // of the model at d
  std::vector<double> least_, most_;  // of d
  std::vector<double> unit_;          // 1 over the diagonal
  std::vector<double> search_, image_, change_, moving_, conditioned_;
  std::vector<char> end_;
  double free_ = 0, ends_ = 0;  // squares of what is left of the gradient, in the face and at its ends
  double size_ = 1;             // of the matrix, as far as it was seen
  double product_ = 0;          // of the face's gradient with itself, preconditioned
  bool fresh_ = true;           // another face than that of the last search direction
  int products_ = 0;
};

void BoxDescent::mark() {
  for (std::size_t j = 0; j < d_.size(); ++j)
    end_[j] = static_cast<char>((d_[j] <= least_[j] ? lower : none) | (d_[j] >= most_[j] ? upper : none));
}

/// What is left; of a weight near an end no more than the way to it.
void BoxDescent::look() {
  free_ = ends_ = 0;
  for (std::size_t j = 0; j < d_.size(); ++j) {
    const double unit = unit_[j], size = std::fabs(g_[j]), in = inward(j);
    ends_ += unit * in * in;
    const double room = size_ * (g_[j] > 0 ? d_[j] - least_[j] : most_[j] - d_[j]);
    free_ += end_[j] == none ? size * std::min(unit * size, room) : 0.0;
  }
  rows_.run().work(20.0 * static_cast<double>(d_.size()));
}

/// What is left of the gap, were the model the function.
double BoxDescent::gap() {
  std::vector<double>& at = moving_;
  at = w_;
  for (std::size_t j = 0; j < d_.size(); ++j) at[j] += d_[j];
  return rows_.penalty_gap(at.data(), g_.data()) + (rows_.free_intercept() ? 0.5 * g_.back() * g_.back() : 0.0);
}

/// The curvature along the search direction; what is not above 0 is no direction.
double BoxDescent::along_search() {
  system_.multiply(search_, image_);
  ++products_;
  double curvature = 0, length = 0;
  for (std::size_t j = 0; j < d_.size(); ++j) {
    curvature += search_[j] * image_[j];
    length += search_[j] * search_[j] / unit_[j];
  }
  if (!(curvature > 0) || !std::isfinite(curvature)) return 0;
  size_ = std::max(size_, curvature / length);
  return curvature;
}

/// How far the box goes along the search direction, up to t.
double BoxDescent::longest(double t) const {
  for (std::size_t j = 0; j < d_.size(); ++j) {
    const double room = (search_[j] < 0 ? least_[j] : most_[j]) - d_[j];
    if (std::fabs(t * search_[j]) > std::fabs(room)) t = std::fabs(room / search_[j]);
  }
  return t;
}

void BoxDescent::advance(double t) {
  for (std::size_t j = 0; j < d_.size(); ++j) {
    d_[j] = std::clamp(d_[j] + t * search_[j], least_[j], most_[j]);
    g_[j] += t * image_[j];
  }
}

/// By what the model changes where each number j of d becomes to(j), cut to the box.
template <class To>
double BoxDescent::change_to(To&& to) {
  change_.resize(d_.size());
  for (std::size_t j = 0; j < d_.size(); ++j) change_[j] = std::clamp(to(j), least_[j], most_[j]) - d_[j];
  system_.multiply(change_, image_);
  ++products_;
  double sum = 0;
  for (std::size_t j = 0; j < d_.size(); ++j) sum += change_[j] * (g_[j] + 0.5 * image_[j]);
  return sum;
}

void BoxDescent::take_change() {
  for (std::size_t j = 0; j < d_.size(); ++j) {
    d_[j] = std::clamp(d_[j] + change_[j], least_[j], most_[j]);
    g_[j] += image_[j];
  }
  mark();
  fresh_ = true;
}

/// A step of conjugate gradients in the face, or as much of it as the box lets through.
bool BoxDescent::face_step() {
  const std::size_t n = d_.size();
  moving_.resize(n);
  for (std::size_t j = 0; j < n; ++j) moving_[j] = end_[j] == none ? -g_[j] : 0.0;
  if (system_.prepare(end_)) fresh_ = true;
  const double before = product_;
  product_ = system_.precondition(moving_, end_, conditioned_);
  const double turn = fresh_ ? 0.0 : product_ / before;
  for (std::size_t j = 0; j < n; ++j) search_[j] = conditioned_[j] + (turn != 0 ? turn * search_[j] : 0.0);
  fresh_ = false;
  const double curvature = along_search(), slope = simd().dot_dd(g_.data(), search_.data(), n);
  if (curvature == 0 || !(slope < 0)) return false;
  const double t = -slope / curvature, most = longest(t);
  if (most == t) {
    advance(t);
    return true;
  }
  // Cut to the box the whole step may change many ends at once, as long as it does better than to the first of them.
  const std::vector<double> image = image_;
  if (change_to([&](std::size_t j) { return d_[j] + t * search_[j]; }) <=
      most * slope + 0.5 * most * most * curvature) {
    take_change();
    return true;
  }
  image_ = image;
  advance(most);
  mark();
  fresh_ = true;
  return cut_gradient_step();
}

/// A step of the gradient, cut to the box.
bool BoxDescent::cut_gradient_step() {
  for (int k = 0; k < most_halvings; ++k, size_ *= 2) {
    const double change = change_to([&](std::size_t j) { return d_[j] - g_[j] * unit_[j] / size_; });
    if (!(change < 0)) continue;
    take_change();
    return true;
  }
  return false;
}

/// Weights at ends that point inside leave them.
bool BoxDescent::leave_ends() {
  for (std::size_t j = 0; j < d_.size(); ++j) search_[j] = -inward(j) * unit_[j];
  const double curvature = along_search();
  if (curvature == 0) return false;
  advance(longest(ends_ / curvature));
  mark();
  fresh_ = true;
  return true;
}

void BoxDescent::run(const BoxEffort& effort) {
  const std::vector<double> first = g_;
  const double share = effort.accuracy * effort.accuracy, goal = share * (free_ + ends_), gap_goal = share * gap();
  double best = 0;
  for (int since = 0; products_ < effort.products && products_ - since < most_idle;) {
    const double left = free_ + ends_;
    if ((left <= goal && products_ > 0 && gap() <= gap_goal) || !std::isfinite(left)) return;
    if (!(ends_ > free_ ? leave_ends() : face_step())) return;
    look();
    // The gradient is not monotone; the model is, until rounding is all that changes it.
    double value = 0;
    for (std::size_t j = 0; j < d_.size(); ++j) value += 0.5 * d_[j] * (first[j] + g_[j]);
    if (value < (1 + rounding_share) * best) {
      best = value;
      since = products_;
    }
  }
}

void step_in_box(const NewtonRows& rows, BoxMatrix& system, const std::vector<double>& w, const std::vector<double>& r,
                 const BoxEffort& effort, std::vector<double>& d) {
  BoxDescent(rows, system, w, r, d).run(effort);
  double slope = 0;
  for (std::size_t j = 0; j < d.size(); ++j) slope += r[j] * d[j];
  if (slope < 0) return;
  for (std::size_t j = 0; j < d.size(); ++j)
    d[j] = std::clamp(w[j] - system.inverse_diagonal(j) * r[j], rows.low(j), rows.high(j)) - w[j];
}

}  // namespace

void step_between_bounds(const NewtonRows& rows, const SymmetricMatrix& gram, double factor,
                         const std::vector<double>& w, const std::vector<double>& r, const BoxEffort& effort,
                         std::vector<double>& d) {
  StoredMatrix matrix(rows, gram, factor);
  step_in_box(rows, matrix, w, r, effort, d);
}

void step_between_bounds(const NewtonRows& rows, ConjugateGradients& gradients, const double* weight, double factor,
                         const std::vector<double>& w, const std::vector<double>& r, const BoxEffort& effort,
                         std::vector<double>& d) {
  gradients.weigh(weight, factor);
  MatrixOfRows matrix(gradients);
  step_in_box(rows, matrix, w, r, effort, d);
}

}  // namespace margin
