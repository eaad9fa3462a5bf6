// The points that a CurvatureBetween goes through: made by Newton steps, and shared with its halves.
#include <algorithm>
#include <cmath>

#include "core/consequences/between/curvature_between.hpp"
#include "core/data/gram_block.hpp"
#include "core/loss/registry.hpp"

namespace margin {

/// Scores, gradient and curvatures at a point.
void CurvatureBetween::pass(Point& point) const {
  const auto n = static_cast<std::size_t>(p_.rows());
  const std::size_t d = point.weights.size();
  const double lambda = borders_[point.border];
  point.score.resize(n);
  point.slope.resize(n);
  point.curve.resize(n);
  point.gradient.assign(d, 0.0);
  const std::size_t penalised = p_.free_intercept ? d - 1 : d;
  for (std::size_t j = 0; j < penalised; ++j) point.gradient[j] = lambda * point.weights[j];
  const double shift = constant_ != 0 ? constant_ * point.weights.back() : 0.0;
  double sum = 0;
  const auto count = [&](double by, const Row& x) {
    if (by == 0) return;
    add(by, x, point.gradient.data());
    sum += by;
  };
  if (logistic_) {
    double values[block];
    for (std::size_t begin = 0; begin < n; begin += block) {
      const std::size_t end = std::min(n, begin + block);
      for (std::size_t i = begin; i < end; ++i)
        point.score[i] = dot(p_.data.row(static_cast<std::int64_t>(i)), point.weights.data()) + shift;
      simd().logistic(&point.score[begin], &target_[begin], end - begin, values, &point.slope[begin]);
      for (std::size_t i = begin; i < end; ++i) {
        const double s = std::fabs(point.slope[i]);
        point.curve[i] = s * (1 - s);
        const Row x = p_.data.row(static_cast<std::int64_t>(i));
        count(share_[i] * point.slope[i], x);
        progress_.work(4.0 * x.count + 8);
      }
    }
  } else {
    visit(*p_.loss, [&](const auto& loss) {
      for (std::size_t i = 0; i < n; ++i) {
        const Row x = p_.data.row(static_cast<std::int64_t>(i));
        const double u = dot(x, point.weights.data()) + shift;
        point.score[i] = u;
        point.slope[i] = loss.derivative(u, target_[i]);
        point.curve[i] = loss.second_derivative(u, target_[i]);
        count(share_[i] * point.slope[i], x);
        progress_.work(4.0 * x.count + 8);
      }
    });
  }
  if (constant_ != 0) point.gradient.back() += sum * constant_;
}

/// What φ' of row i is off a straight line between two points, divided by θ(1−θ); `by`: Δu.
double CurvatureBetween::off_line(double by, std::size_t i, const Point& one, const Point& other) const {
  const double u = one.score[i], flat = smoothness_;
  by = std::fabs(by) * (1 + 1e-12) + 1e-14 * std::fabs(u);
  if (logistic_) {
    constexpr double steepest_bend = 0.0962250448649377;  // 1/(6√3), the most that its third derivative has
    const bool crosses = (u < 0) != (other.score[i] < 0);
    return std::min(steepest_bend, crosses ? 1.0 : std::max(one.curve[i], other.curve[i]) + 1e-15) * (1 + 1e-9) * by *
           by / 2;
  }
  // On one piece of φ' the line is exact.
  const double straight = one.slope[i] + one.curve[i] * (other.score[i] - u) - other.slope[i];
  const double noise = 1e-13 * (1 + by + std::fabs(u)) / flat;
  // Where that is no small number, it does not tell the two flat pieces of a smoothed hinge apart.
  const bool one_piece = one.curve[i] == other.curve[i] && std::fabs(straight) <= noise && noise < 0.01;
  return one_piece ? 8 * noise : by / flat;
}

/// Newton's systems at a λ: A is no more than P's own curvature, and close to it where rows do not move far.
bool CurvatureBetween::factorise_at(double lambda) {
  if (factored_ == lambda) return true;
  factor_ = curvature_;
  for (std::size_t j = 0; j < factor_.size(); ++j)
    if (!p_.free_intercept || j + 1 < factor_.size()) factor_.row(j)[j] += lambda;
  factored_ = factorise(factor_, progress_) ? lambda : -1;
  return factored_ == lambda;
}

/// Newton's systems with the curvature of a point: where few rows have another than they had, by these alone. Nothing is proven by
/// them, so that what updates are rounded by does not matter.
void CurvatureBetween::bend_to(const std::vector<double>& curve) {
  constexpr double same = 1e-6;  // relative; bounds of curvatures are that close where they are exact
  const auto gain = [&](std::size_t i) {
    const double by = curve[i] - bent_to_[i];
    return std::fabs(by) > same * curve[i] ? by : 0.0;
  };
  std::size_t others = 0;
  for (std::size_t i = 0; i < curve.size(); ++i) others += gain(i) != 0;
  factored_ = -1;
  if (4 * others > curve.size()) {
    curvature_ = curvature_sum(
        p_, constant_, [&](std::int64_t i, const Row&) { return curve[static_cast<std::size_t>(i)]; }, progress_);
    bent_to_ = curve;
  } else {
    for (const double sign : {1.0, -1.0}) {
      GramBlock block(static_cast<std::size_t>(p_.dimensions()), constant_);
      for (std::size_t i = 0; i < curve.size(); ++i) {
        const double by = sign * gain(i);
        if (!(by > 0)) continue;
        if (share_[i] > 0)
          block.add(p_.data.row(static_cast<std::int64_t>(i)), share_[i] * by, sign, curvature_, progress_);
        bent_to_[i] = curve[i];
      }
      block.flush(sign, curvature_, progress_);
    }
  }
  progress_.work(6.0 * static_cast<double>(curve.size()));
}

/// Newton steps from a point that is measured, until its gradient is as short as wanted. Whether it became shorter.
bool CurvatureBetween::descend(Point& point, double wanted) {
  constexpr int most_steps = 6;
  bool shorter = false, own = false;
  for (int step = 0; step < most_steps && point.residual > wanted; ++step) {
    if (!factorise_at(borders_[point.border])) return shorter;
    std::vector<double> way = point.gradient;
    solve_factored(factor_, way.data(), &progress_);
    Point next;
    next.border = point.border;
    next.weights = point.weights;
    for (std::size_t j = 0; j < way.size(); ++j) next.weights[j] -= way[j];
    pass(next);
    measure(next);
    const bool slow = !(next.residual < 0.4 * point.residual);
    if (next.residual < point.residual) {
      point = std::move(next);
      shorter = true;
    } else if (own) {
      return shorter;
    }
    own = slow && point.residual > wanted;
    if (!own) continue;
    // Rows that A leaves out matter.
    bend_to(point.curve);
  }
  return shorter;
}

/// A point in the middle of a chord.
bool CurvatureBetween::between(std::size_t k, double wanted, Point& out) {
  const Point &one = points_[k], &other = points_[k + 1];
  out.border = (one.border + other.border) / 2;
  const double at = borders_[out.border], share = (at - lambda(k)) / (lambda(k + 1) - lambda(k));
  const std::size_t d = one.weights.size();
  if (!factorise_at(at)) return false;
  std::vector<double> way(d);
  for (std::size_t j = 0; j < d; ++j) {
    way[j] = (1 - share) * one.gradient[j] + share * other.gradient[j];
    if (!p_.free_intercept || j + 1 < d)
      way[j] += share * (1 - share) * (lambda(k + 1) - lambda(k)) * (one.weights[j] - other.weights[j]);
  }
  solve_factored(factor_, way.data(), &progress_);
  out.weights.resize(d);
  for (std::size_t j = 0; j < d; ++j) out.weights[j] = (1 - share) * one.weights[j] + share * other.weights[j] - way[j];
  pass(out);
  measure(out);
  const double bow = 0.25 * (pairs_[k].turn_length + pairs_[k].bent);
  descend(out, std::max(0.4 * wanted, 0.02 * bow));
  return out.residual < 0.25 * std::max({bow, one.residual, other.residual});
}

/// Whether one of the ranges lies on its chord.
bool CurvatureBetween::holds(std::size_t k, const std::vector<char>& ranges) const {
  const auto from = ranges.begin() + static_cast<std::ptrdiff_t>(points_[k].border);
  const auto to = ranges.begin() + static_cast<std::ptrdiff_t>(points_[k + 1].border);
  return std::find(from, to, 1) != to;
}

/// Points between, or better ones, on all chords (of these ranges, if not null) that are further from the optima than wanted.
/// False where nothing helps.
bool CurvatureBetween::sharpen(double wanted, const std::vector<char>* ranges) {
  bool finer = false;
  for (std::size_t k = 0; k < pairs_.size(); ++k) {
    if (pairs_[k].best || far(k) <= wanted || (ranges != nullptr && !holds(k, *ranges))) continue;
    Point &one = points_[k], &other = points_[k + 1];
    const double bow = 0.25 * (pairs_[k].turn_length * widened_ + pairs_[k].bent);
    pairs_[k].best = true;
    // Where the way is that short, what the points are off counts more.
    if (bow < std::max(one.residual, other.residual)) {
      for (const std::size_t at : {k, k + 1}) {
        Point better = points_[at];
        if (points_[at].residual < 0.5 * bow || !descend(better, std::max(0.3 * wanted, 0.1 * bow)) ||
            (proven_ && !fits(better)))
          continue;
        points_[at] = std::move(better);
        for (const std::size_t pair : {at - 1, at}) {
          if (pair >= pairs_.size()) continue;
          pairs_[pair] = Pair{};
          turn(pair);
          bend(pair);
        }
        finer = true;
        for (std::size_t i = 0; i < low_.size() && !proven_; ++i)
          outside_[i] = std::max({outside_[i], low_[i] - points_[at].score[i], points_[at].score[i] - high_[i]});
      }
      continue;
    }
    Point middle;
    if (other.border - one.border < 2 || points_.size() >= most_points || !between(k, wanted, middle) ||
        (proven_ && !fits(middle)))
      continue;
    for (std::size_t i = 0; i < low_.size() && !proven_; ++i)
      outside_[i] = std::max({outside_[i], low_[i] - middle.score[i], middle.score[i] - high_[i]});
    points_.insert(points_.begin() + static_cast<std::ptrdiff_t>(k) + 1, std::move(middle));
    pairs_[k] = Pair{};
    pairs_.insert(pairs_.begin() + static_cast<std::ptrdiff_t>(k) + 1, Pair{});
    for (const std::size_t at : {k, k + 1}) turn(at), bend(at);
    finer = true;
    ++k;  // not at once again
  }
  return finer;
}

bool CurvatureBetween::refine(const std::vector<char>& wanted) {
  double most = 0;
  for (std::size_t k = 0; k < pairs_.size(); ++k)
    if (holds(k, wanted)) most = std::max(most, far(k));
  return sharpen(0.5 * most, &wanted);
}

/// Whether its scores are where the optima's are.
bool CurvatureBetween::fits(const Point& point) const {
  for (std::size_t i = 0; i < low_.size(); ++i)
    if (least_[i] > 0 && !(std::max(low_[i] - point.score[i], point.score[i] - high_[i]) < moves_[i] - noise_))
      return false;
  return true;
}

CurvatureBetween::CurvatureBetween(CurvatureBetween& whole, bool upper)
    : p_(whole.p_),
      constant_(whole.constant_),
      smoothness_(whole.smoothness_),
      logistic_(whole.logistic_),
      progress_(whole.progress_),
      sizes_(whole.sizes_),
      borders_(whole.borders_.begin() + static_cast<std::ptrdiff_t>(upper ? whole.middle() : 0),
               upper ? whole.borders_.end() : whole.borders_.begin() + static_cast<std::ptrdiff_t>(whole.middle()) + 1),
      share_(whole.share_),
      target_(whole.target_),
      likely_lengths_(whole.likely_lengths_) {
  const std::size_t from = upper ? whole.middle() : 0, to = from + borders_.size() - 1;
  for (Point& point : whole.points_) {
    if (point.border < from || point.border > to) continue;
    if (point.border != from && point.border != to && !whole.close(point)) continue;
    // The other half begins or ends there, too.
    points_.push_back(point.border == whole.middle() ? Point(point) : std::move(point));
    points_.back().border -= from;
  }
  whole.release();
  pairs_.resize(points_.size() - 1);
  prove();
}

/// All but what the other half begins with.
void CurvatureBetween::release() {
  proven_ = false;
  inverse_ = InverseCurvature();
  curvature_ = factor_ = SymmetricMatrix(0);
  for (std::vector<double>* const list : {&low_, &high_, &outside_, &moves_, &lengths_, &base_, &least_, &bent_to_})
    *list = std::vector<double>();
}

/// Close enough for bounds from there.
bool CurvatureBetween::close(const Point& point) const {
  return !point.centre.empty() && point.residual <= 0.03 * far();
}

bool CurvatureBetween::has_middle() {
  const auto at =
      std::find_if(points_.begin(), points_.end(), [&](const Point& point) { return point.border == middle(); });
  if (at != points_.end()) return close(*at);
  Point point;
  if (inverse_.empty() || points_.size() != 2 || !between(0, 0, point) || !close(point)) return false;
  points_.insert(points_.begin() + 1, std::move(point));
  return true;
}

void CurvatureBetween::set_middle(const std::vector<double>& weights) {
  Point point;
  point.border = middle();
  point.weights = weights;
  pass(point);
  const auto at = std::find_if(points_.begin(), points_.end(), [&](const Point& p) { return p.border >= middle(); });
  if (at->border == middle())
    *at = std::move(point);
  else
    points_.insert(at, std::move(point));
}

}  // namespace margin
