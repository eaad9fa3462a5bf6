#include "core/consequences/between/curvature_between.hpp"

#include <algorithm>
#include <cmath>

#include "core/loss/loss.hpp"
#include "core/math/norm.hpp"
#include "core/math/rounding.hpp"

namespace margin {

namespace {

// How far rows of mean length may move, to begin with: the logistic loss bends gently, the others where they turn.
constexpr double move_of_logistic = 0.2, move_of_others = 0.08;
constexpr double hopeless = 30;  // times what rows have room for, and points between will hardly do

double square_of(const std::vector<double>& v, const std::vector<double>& image) {
  double sum = 0;
  for (std::size_t j = 0; j < v.size(); ++j) sum += v[j] * image[j];
  return std::max(0.0, sum);
}

}  // namespace

double CurvatureBetween::bytes(const Problem& problem) {
  // A point for every border, the middles of five levels of halves twice; three lists of each level, all of the last one.
  constexpr double points = 17 + 5, numbers = 3 * points + 3 * 5 + 13, matrices = 6;
  const double columns = problem.dimensions() + 1.0;
  return 8 * (numbers * static_cast<double>(problem.rows()) + matrices * columns * columns);
}

CurvatureBetween::CurvatureBetween(const Problem& problem, double constant, const PathPoint& a, const PathPoint& b,
                                   std::vector<double> borders, std::vector<double> lengths, const Progress& progress)
    : p_(problem),
      constant_(constant),
      smoothness_(p_.loss->smoothness()),
      logistic_(problem.loss->curvature_form() == CurvatureForm::logistic),
      progress_(progress),
      sizes_(std::make_shared<const ColumnSizes>(problem, constant, progress)),
      borders_(std::move(borders)),
      likely_lengths_(std::move(lengths)) {
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
  prove();
}

void CurvatureBetween::prove() {
  const std::size_t n = share_.size();
  low_ = high_ = points_[0].score;
  for (const Point& point : points_) {
    for (std::size_t i = 0; i < n; ++i) {
      low_[i] = std::min(low_[i], point.score[i]);
      high_[i] = std::max(high_[i], point.score[i]);
    }
  }
  outside_.assign(n, 0.0);
  const double first_move = logistic_ ? move_of_logistic : move_of_others;
  moves_.assign(n, first_move);
  const bool known = !likely_lengths_.empty();
  // Harmonic, as a few rows are far longer than others.
  double mean = 0;
  for (const double length : likely_lengths_) mean += 1 / std::max(length, 1e-3) / static_cast<double>(n);
  for (std::size_t i = 0; i < n && mean > 0; ++i) moves_[i] = first_move * likely_lengths_[i] * mean + 2 * noise_;
  progress_.work(16.0 * static_cast<double>(n));
  constexpr int most_inverses = 2, most_rounds = 12;
  for (int k = 0; k < most_inverses && !proven_; ++k) {
    const std::vector<double> base = moves_;
    if (!invert(base)) return;
    for (int round = 0; round < most_rounds && !proven_; ++round) {
      const double reach = far() * (1 + 1e-6) * widened_;
      if (!std::isfinite(reach)) return;
      std::size_t beyond = 0;
      for (std::size_t i = 0; i < n; ++i)
        beyond += least_[i] > 0 && !(outside_[i] + reach * lengths_[i] < moves_[i] - noise_);
      proven_ = beyond == 0;
      if (proven_) break;
      const double wanted = 0.999 * room() / widened_;
      if (reach > hopeless * std::max(wanted, 0.0) && known) return;
      // Shorter ways first: rows that move far make A small.
      if (sharpen(wanted)) continue;
      if (reach > 4 * wanted && known) return;
      for (std::size_t i = 0; i < n; ++i) {
        const double move = outside_[i] + reach * lengths_[i];
        if (least_[i] > 0 && !(move < moves_[i] - noise_)) moves_[i] = 1.4 * move + 2 * noise_;
      }
      if (!weigh(base, moves_)) break;
    }
  }
}

/// How far the optima may be from all chords for the scores to stay where they must.
double CurvatureBetween::room() const {
  double least = infinity;
  for (std::size_t i = 0; i < share_.size(); ++i)
    if (least_[i] > 0) least = std::min(least, (moves_[i] - noise_ - outside_[i]) / lengths_[i]);
  return least;
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
  lost_ = 0;
  widened_ = 1 + 1e-9;
  inverse_ = InverseCurvature(
      p_, borders_.front() * (1 - 4 * epsilon), constant_, !p_.free_intercept,
      [&](std::int64_t i, const Row&) { return base_[static_cast<std::size_t>(i)]; }, progress_, &curvature_);
  bent_to_ = base_;
  factored_ = -1;
  if (!inverse_.usable()) return false;
  // Rows without curvature may go where they like.
  lengths_ = inverse_.forms(p_.data, progress_, likely_lengths_.empty() ? nullptr : base_.data());
  likely_lengths_.resize(lengths_.size());
  for (std::size_t i = 0; i < lengths_.size(); ++i)
    if (lengths_[i] >= 0) likely_lengths_[i] = lengths_[i] = length_of(lengths_[i]);
  for (Point& point : points_) measure(point);
  for (std::size_t k = 0; k < pairs_.size(); ++k) {
    pairs_[k] = Pair{};
    turn(k);
    bend(k);
  }
  return true;
}

double CurvatureBetween::length_of(double form) const {
  return std::sqrt(std::max(0.0, form) * inverse_.safe()) * (1 + 1e-9);
}

double CurvatureBetween::row_length(std::size_t i) {
  if (!(lengths_[i] >= 0)) lengths_[i] = length(p_.data.row(static_cast<std::int64_t>(i)));
  return lengths_[i];
}

double CurvatureBetween::length(const Row& x) const { return length_of(inverse_.form(x, progress_)); }

/// What depends on A.
void CurvatureBetween::measure(Point& point) {
  const std::size_t d = point.weights.size();
  const double size = norm_above(point.weights), largest = sizes_->largest_product(point.weights);
  double mass = 0;
  for (const double c : share_) mass += c;
  // What the sums of the gradient err by, and the slopes in them.
  const double slope = std::sqrt(mass) * (1 + (1 + largest) / p_.loss->smoothness()),
               terms = 8 * epsilon * (static_cast<double>(p_.rows()) + static_cast<double>(d) + 16);
  std::vector<double> off(d);
  for (std::size_t j = 0; j < d; ++j)
    off[j] = terms * (borders_.back() * std::fabs(point.weights[j]) + slope * sizes_->roots()[j]);
  const std::vector<double> image = inverse_.times(point.gradient);
  point.residual = std::sqrt(square_of(point.gradient, image) * inverse_.safe()) * (1 + 1e-9);
  rounding_ = std::max(rounding_, inverse_.reach(off) * (1 + 1e-9));
  point.centre.resize(d);
  for (std::size_t j = 0; j < d; ++j) point.centre[j] = point.weights[j] - image[j] / 2;
  noise_ = std::max(noise_, 1e-9 + 2 * rounding_of(d) * largest);
  size_ = std::max(size_, norm_above(point.centre) + norm_above(image) + size);
  progress_.work(static_cast<double>(d * d) + static_cast<double>(share_.size()));
}

void CurvatureBetween::turn(std::size_t k) {
  Pair& pair = pairs_[k];
  const std::vector<double>&one = points_[k].weights, &other = points_[k + 1].weights;
  const std::size_t d = one.size();
  const double by = lambda(k + 1) - lambda(k);
  std::vector<double> step(d), off(d);
  for (std::size_t j = 0; j < d; ++j) {
    step[j] = by * (one[j] - other[j]);
    off[j] = rounding_of(d) * lambda(k + 1) * (std::fabs(one[j]) + std::fabs(other[j]));
  }
  if (p_.free_intercept) step.back() = off.back() = 0;
  pair.turn = inverse_.times(step);
  pair.turn_length = (std::sqrt(square_of(step, pair.turn) * inverse_.safe()) + inverse_.reach(off)) * (1 + 1e-9);
  size_ = std::max(size_, norm_above(pair.turn));
  progress_.work(static_cast<double>(d * d));
}

/// The norm of E, divided by t.
void CurvatureBetween::bend(std::size_t k) {
  const Point &one = points_[k], &other = points_[k + 1];
  double squares = 0, lengths = 0, tiny = 0;
  for (std::size_t i = 0; i < share_.size(); ++i) {
    const double c = share_[i];
    if (!(c > 0)) continue;
    const double off = off_line(other.score[i] - one.score[i], i, one, other);
    if (least_[i] > 1e-6)
      squares += c * off * off / least_[i];
    else if (off < 1e-9 && lengths_[i] < 0 && !p_.free_intercept)
      tiny += c * off;
    else
      lengths += c * off * row_length(i);
  }
  progress_.work(8.0 * static_cast<double>(share_.size()));
  // No row is longer than that.
  lengths += tiny * std::hypot(p_.data.radius(), constant_) / std::sqrt(borders_.front()) * (1 + 1e-9);
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

/// ≥ ‖∇P‖_A⁻¹ on a chord.
double CurvatureBetween::far(std::size_t k) const {
  return (0.25 * pairs_[k].turn_length + std::max(points_[k].residual, points_[k + 1].residual) + rounding_) *
             widened_ +
         0.25 * pairs_[k].bent;
}

double CurvatureBetween::far() const {
  double most = 0;
  for (std::size_t k = 0; k < pairs_.size(); ++k) most = std::max(most, far(k));
  return most;
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
  const double centre = std::max(at(low), at(high)) + turned, reach = held.length * widened_ * round * (1 + 1e-9);
  // Of rows whose products overflow nothing is known.
  if (!std::isfinite(centre) || std::isnan(reach)) return {0, infinity};
  return {centre, reach};
}

}  // namespace margin
