#include "core/certificate/curvature_between.hpp"

#include <algorithm>
#include <cmath>

#include "core/loss/loss.hpp"
#include "core/math/norm.hpp"
#include "core/math/rounding.hpp"

namespace margin {

namespace {

constexpr double first_move = 0.03;
constexpr std::size_t block = 512;  // of rows whose losses are computed together

double rounding_of(std::size_t d) { return 8 * epsilon * (static_cast<double>(d) + 16); }

double norm_of(const std::vector<double>& v) {
  return lp_norm(v.data(), static_cast<Eigen::Index>(v.size()), 2) * (1 + rounding_of(v.size()));
}

double square_of(const std::vector<double>& v, const std::vector<double>& image) {
  double sum = 0;
  for (std::size_t j = 0; j < v.size(); ++j) sum += v[j] * image[j];
  return std::max(0.0, sum);
}

/// The largest θ(1−θ) in an interval.
double largest_bow(double low, double high) {
  const double at = std::clamp(0.5, low, high);
  return at * (1 - at) * (1 + 1e-12) + 1e-15;
}

}  // namespace

double CurvatureBetween::bytes(const Problem& problem) {
  constexpr double points = 10, numbers = 3 * points + 9;
  return 8 * numbers * static_cast<double>(problem.rows());
}

CurvatureBetween::CurvatureBetween(const Problem& problem, double constant, const PathPoint& a, const PathPoint& b,
                                   std::vector<double> borders, const Progress& progress)
    : p_(problem),
      constant_(constant),
      logistic_(problem.loss->name() == "logistic"),
      progress_(progress),
      borders_(std::move(borders)) {
  const auto n = static_cast<std::size_t>(p_.rows());
  share_.resize(n);
  target_.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    share_[i] = p_.weight(static_cast<std::int64_t>(i)) / p_.total_weight;
    target_[i] = p_.target(static_cast<std::int64_t>(i), 0);
  }
  points_.resize(2);
  points_[0].weights = a.weights;
  points_[1].weights = b.weights;
  points_[1].border = borders_.size() - 1;
  for (Point& point : points_) pass(point);
  pairs_.resize(1);
  low_.resize(n);
  high_.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    low_[i] = std::min(points_[0].score[i], points_[1].score[i]);
    high_[i] = std::max(points_[0].score[i], points_[1].score[i]);
  }
  outside_.assign(n, 0.0);
  moves_.assign(n, first_move);
  progress_.work(16.0 * static_cast<double>(n));
  constexpr int most_inverses = 2, most_rounds = 6;
  constexpr std::size_t most_points = 5;
  for (int k = 0; k < most_inverses && !proven_; ++k) {
    const std::vector<double> base = moves_;
    if (!invert(base)) return;
    for (int round = 0; round < most_rounds && !proven_; ++round) {
      if (!weigh(base, moves_)) break;
      const double reach = far() * (1 + 1e-6) * widened_;
      if (!std::isfinite(reach)) return;
      std::size_t beyond = 0;
      for (std::size_t i = 0; i < n; ++i) beyond += !(outside_[i] + reach * lengths_[i] < moves_[i] - noise_);
      proven_ = beyond == 0;
      if (proven_) break;
      // Shorter ways first: rows that move far make A small.
      if (points_.size() < most_points && refine()) continue;
      for (std::size_t i = 0; i < n; ++i) {
        const double move = outside_[i] + reach * lengths_[i];
        if (!(move < moves_[i] - noise_)) moves_[i] = 1.4 * move + 2 * noise_;
      }
    }
  }
}

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
  double values[block], sum = 0;
  for (std::size_t begin = 0; begin < n; begin += block) {
    const std::size_t end = std::min(n, begin + block);
    for (std::size_t i = begin; i < end; ++i)
      point.score[i] = dot(p_.data.row(static_cast<std::int64_t>(i)), point.weights.data()) + shift;
    if (logistic_) simd().logistic(&point.score[begin], &target_[begin], end - begin, values, &point.slope[begin]);
    for (std::size_t i = begin; i < end; ++i) {
      if (logistic_) {
        const double s = std::fabs(point.slope[i]);
        point.curve[i] = s * (1 - s);
      } else {
        point.slope[i] = p_.loss->derivative(point.score[i], target_[i]);
        point.curve[i] = p_.loss->second_derivative(point.score[i], target_[i]);
      }
      const double by = share_[i] * point.slope[i];
      if (by == 0) continue;
      const Row x = p_.data.row(static_cast<std::int64_t>(i));
      add(by, x, point.gradient.data());
      sum += by;
      progress_.work(3.0 * x.count);
    }
    progress_.work(8.0 * static_cast<double>(end - begin));
  }
  if (constant_ != 0) point.gradient.back() += sum * constant_;
}

/// What φ' of row i is off a straight line between two points, divided by θ(1−θ); `by`: Δu.
double CurvatureBetween::off_line(double by, std::size_t i, const Point& one, const Point& other) const {
  const double u = one.score[i];
  by = std::fabs(by) * (1 + 1e-12) + 1e-14 * std::fabs(u);
  const double flat = p_.loss->smoothness();
  if (logistic_) {
    constexpr double steepest_bend = 0.0962250448649377;  // 1/(6√3), the most that its third derivative has
    const bool crosses = (u < 0) != (other.score[i] < 0);
    return std::min(steepest_bend, crosses ? 1.0 : std::max(one.curve[i], other.curve[i]) + 1e-15) * (1 + 1e-9) * by *
           by / 2;
  }
  // On one piece of φ' the line is exact.
  const double straight = one.slope[i] + one.curve[i] * (other.score[i] - u) - other.slope[i];
  const double noise = 1e-13 * (1 + by + std::fabs(u)) / flat;
  const bool one_piece = one.curve[i] == other.curve[i] && std::fabs(straight) <= noise;
  return one_piece ? 8 * noise : by / flat;
}

/// φ'' is no less anywhere in the interval of a row.
void CurvatureBetween::least(const std::vector<double>& moves, std::vector<double>& out) const {
  const std::size_t n = moves.size();
  out.resize(n);
  double far[block], one[block], values[block], slopes[block];
  std::fill_n(one, block, 1.0);
  for (std::size_t begin = 0; begin < n; begin += block) {
    const std::size_t end = std::min(n, begin + block);
    for (std::size_t i = begin; i < end; ++i) {
      const double low = low_[i] - moves[i], high = high_[i] + moves[i];
      if (logistic_)
        far[i - begin] = std::max(std::fabs(low), std::fabs(high));
      else
        out[i] = least_curvature(*p_.loss, low, high, target_[i]);
    }
    if (logistic_) {
      simd().logistic(far, one, end - begin, values, slopes);
      for (std::size_t i = begin; i < end; ++i) {
        const double s = std::fabs(slopes[i - begin]);
        out[i] = std::isfinite(far[i - begin]) ? s * (1 - s) * (1 - 1e-7) : 0;
      }
    }
    progress_.work(8.0 * static_cast<double>(end - begin));
  }
}

/// A for these moves, and the norms by it. False where there is none.
bool CurvatureBetween::invert(const std::vector<double>& moves) {
  least(moves, base_);
  least_ = base_;
  inverse_ = InverseCurvature(
      p_, borders_.front() * (1 - 4 * epsilon), constant_, !p_.free_intercept,
      [&](std::int64_t i, const Row&) { return base_[static_cast<std::size_t>(i)]; }, progress_);
  if (!inverse_.usable()) return false;
  lengths_ = inverse_.forms(p_.data, progress_);
  for (double& form : lengths_) form = length_of(form);
  for (Point& point : points_) measure(point);
  for (std::size_t k = 0; k < pairs_.size(); ++k) turn(k);
  return true;
}

double CurvatureBetween::length_of(double form) const {
  return std::sqrt(std::max(0.0, form) * inverse_.safe()) * (1 + 1e-9);
}

double CurvatureBetween::length(const Row& x) const { return length_of(inverse_.form(x, progress_)); }

/// What depends on A.
void CurvatureBetween::measure(Point& point) {
  const std::size_t d = point.weights.size();
  const double size = norm_of(point.weights), radius = std::hypot(p_.data.radius(), constant_);
  double mass = 0;
  for (const double c : share_) mass += c;
  // What the sums of the gradient err by.
  const double slope = 1 + (1 + radius * size) / p_.loss->smoothness();
  const double rounding = 8 * epsilon * (static_cast<double>(p_.rows()) + static_cast<double>(d) + 16) *
                          (borders_.back() * size + mass * radius * slope);
  const std::vector<double> image = inverse_.times(point.gradient);
  const double wide = std::sqrt(inverse_.trace() * inverse_.safe());
  point.residual = std::sqrt(square_of(point.gradient, image) * inverse_.safe()) * (1 + 1e-9);
  rounding_ = std::max(rounding_, rounding * wide * (1 + 1e-9));
  point.centre.resize(d);
  for (std::size_t j = 0; j < d; ++j) point.centre[j] = point.weights[j] - image[j] / 2;
  noise_ = std::max(noise_, 1e-9 + 2 * rounding_of(d) * radius * size);
  size_ = std::max(size_, norm_of(point.centre) + norm_of(image) + size);
  progress_.work(static_cast<double>(d * d) + static_cast<double>(share_.size()));
}

void CurvatureBetween::turn(std::size_t k) {
  Pair& pair = pairs_[k];
  const std::vector<double>&one = points_[k].weights, &other = points_[k + 1].weights;
  const std::size_t d = one.size();
  const double by = lambda(k + 1) - lambda(k);
  std::vector<double> step(d);
  for (std::size_t j = 0; j < d; ++j) step[j] = by * (one[j] - other[j]);
  if (p_.free_intercept) step.back() = 0;
  pair.turn = inverse_.times(step);
  const double wide = std::sqrt(inverse_.trace() * inverse_.safe());
  pair.turn_length =
      (std::sqrt(square_of(step, pair.turn) * inverse_.safe()) + rounding_of(d) * 2 * size_ * lambda(k + 1) * wide) *
      (1 + 1e-9);
  size_ = std::max(size_, norm_of(pair.turn));
  progress_.work(static_cast<double>(d * d));
}

/// The norm of E, divided by t.
void CurvatureBetween::bend(std::size_t k) {
  const Point &one = points_[k], &other = points_[k + 1];
  double squares = 0, lengths = 0;
  for (std::size_t i = 0; i < share_.size(); ++i) {
    const double c = share_[i];
    if (!(c > 0)) continue;
    const double off = off_line(other.score[i] - one.score[i], i, one, other);
    if (least_[i] > 1e-6)
      squares += c * off * off / least_[i];
    else
      lengths += c * off * lengths_[i];
  }
  progress_.work(8.0 * static_cast<double>(share_.size()));
  const double count = (1 + epsilon * (static_cast<double>(share_.size()) + 16)) * (1 + 1e-9);
  pairs_[k].bent = (std::sqrt(squares) + lengths * widened_) * count;
}

/// The proof where some rows move further than A was made for: it is less by D, the sum of c (h − h') x xᵀ/W over these, and
/// D ≤ sA with s = trace(A⁻¹D), so that norms by its inverse grow by 1/√(1−s) at most. False where that is too much.
bool CurvatureBetween::weigh(const std::vector<double>& base, const std::vector<double>& moves) {
  std::vector<double> now;
  least(moves, now);
  double lost = 0;
  for (std::size_t i = 0; i < moves.size(); ++i)
    if (moves[i] > base[i] && share_[i] > 0)
      lost += share_[i] * std::max(0.0, base_[i] - now[i]) * lengths_[i] * lengths_[i];
  lost_ = lost * (1 + epsilon * (static_cast<double>(moves.size()) + 16)) * (1 + 1e-9);
  if (!(lost_ < 0.75)) return false;
  widened_ = (1 + 1e-9) / std::sqrt(1 - lost_);
  least_ = std::move(now);
  for (std::size_t k = 0; k < pairs_.size(); ++k) bend(k);
  return true;
}

/// ≥ ‖∇P‖_A⁻¹ on all chords.
double CurvatureBetween::far() const {
  double most = 0;
  for (std::size_t k = 0; k < pairs_.size(); ++k)
    most = std::max(
        most,
        (0.25 * pairs_[k].turn_length + std::max(points_[k].residual, points_[k + 1].residual) + rounding_) * widened_ +
            0.25 * pairs_[k].bent);
  return most;
}

/// Newton steps from the middle of a chord.
bool CurvatureBetween::between(std::size_t k, Point& out) {
  const Point &one = points_[k], &other = points_[k + 1];
  out.border = (one.border + other.border) / 2;
  const double share = (borders_[out.border] - lambda(k)) / (lambda(k + 1) - lambda(k));
  const std::size_t d = one.weights.size();
  std::vector<double> start(d);
  for (std::size_t j = 0; j < d; ++j)
    start[j] = (1 - share) * (2 * one.centre[j] - one.weights[j]) + share * (2 * other.centre[j] - other.weights[j]) -
               share * (1 - share) * pairs_[k].turn[j];
  out.weights = std::move(start);
  const double bow = 0.25 * (pairs_[k].turn_length + pairs_[k].bent);
  constexpr int most_steps = 10;
  pass(out);
  measure(out);
  // A is flatter than P, at the larger lambdas more so. How long steps should be tells the last one (Barzilai, Borwein 1988).
  double length = 2 / (1 + borders_[out.border] / borders_.front());
  for (int step = 0; step < most_steps && out.residual > 0.15 * bow; ++step) {
    Point next;
    next.border = out.border;
    next.weights.resize(d);
    for (std::size_t j = 0; j < d; ++j)
      next.weights[j] = out.weights[j] + length * 2 * (out.centre[j] - out.weights[j]);
    pass(next);
    measure(next);
    double along = 0;  // s'Δg, s = −length · A⁻¹g
    for (std::size_t j = 0; j < d; ++j)
      along += length * 2 * (out.centre[j] - out.weights[j]) * (next.gradient[j] - out.gradient[j]);
    const double straight = std::pow(length * out.residual, 2);  // s'As
    if (!(next.residual < 2 * out.residual) || !(along > 0)) break;
    length = std::clamp(straight / along, 0.1, 1.0);
    const bool slow = step >= 4 && next.residual > 0.8 * out.residual;
    if (next.residual < out.residual || step < 4) out = std::move(next);
    if (slow) break;
  }
  return out.residual < 0.25 * std::max({bow, one.residual, other.residual});
}

bool CurvatureBetween::refine() {
  bool finer = false;
  for (std::size_t k = 0; k < pairs_.size(); ++k) {
    if (pairs_[k].best) continue;
    const Point &one = points_[k], &other = points_[k + 1];
    // Where the way is that short, what the points are off counts more.
    const bool straight = 0.25 * (pairs_[k].turn_length + 2 * pairs_[k].bent) < 0.5 * (one.residual + other.residual);
    Point middle;
    pairs_[k].best = true;
    if (other.border - one.border < 2 || straight || !between(k, middle) || (proven_ && !fits(middle))) continue;
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

/// Whether its scores are where the optima's are.
bool CurvatureBetween::fits(const Point& point) const {
  for (std::size_t i = 0; i < low_.size(); ++i)
    if (!(std::max(low_[i] - point.score[i], point.score[i] - high_[i]) < moves_[i] - noise_)) return false;
  return true;
}

void CurvatureBetween::multiply(const Row& x, Held& held) const {
  const auto times = [&](const std::vector<double>& v) {
    return dot(x, v.data()) + (constant_ != 0 ? constant_ * v.back() : 0.0);
  };
  held.at.clear();
  held.turn.clear();
  for (const Point& point : points_) held.at.push_back(times(point.centre));
  for (const Pair& pair : pairs_) held.turn.push_back(times(pair.turn));
  progress_.work(2.0 * static_cast<double>(points_.size()) * x.count);
}

CurvatureBetween::Highest CurvatureBetween::highest(const Held& held, double sign, std::size_t range) const {
  std::size_t k = 0;
  while (points_[k + 1].border <= range) ++k;
  const Pair& pair = pairs_[k];
  const auto share = [&](double at) { return std::clamp((at - lambda(k)) / (lambda(k + 1) - lambda(k)), 0.0, 1.0); };
  const double low = share(borders_[range]), high = share(borders_[range + 1]);
  const double bow = largest_bow(low, high), least_bow = std::min(low * (1 - low), high * (1 - high));
  const auto at = [&](double theta) { return sign * ((1 - theta) * held.at[k] + theta * held.at[k + 1]); };
  const double turned = std::max(-sign * held.turn[k] * bow, -sign * held.turn[k] * least_bow) / 2;
  const double residual = (1 - low) * points_[k].residual + high * points_[k + 1].residual;
  // A⁻¹ is off what the smaller matrix has by no more than `off` times the norm.
  const double off = inverse_.safe() - 1 + 1e-9 + lost_;
  const double round =
      (bow * pair.turn_length + residual) * (0.5 + off) * widened_ + bow * pair.bent + rounding_ * widened_;
  return {std::max(at(low), at(high)) + turned, held.length * widened_ * round * (1 + 1e-9)};
}

}  // namespace margin
