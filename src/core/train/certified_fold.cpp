#include "core/train/certified_fold.hpp"

#include <algorithm>
#include <cmath>

#include "core/certificate/ball.hpp"
#include "core/consequences/between/curvature_between.hpp"
#include "core/consequences/between/kinks_between.hpp"
#include "core/loss/loss.hpp"
#include "core/math/norm.hpp"
#include "core/math/rounding.hpp"
#include "core/solvers/solver.hpp"
#include "core/train/held_out.hpp"
#include "core/train/train.hpp"

namespace margin {

namespace {
// Of the ranges between two trainings: each has the rows of its own that are between both ends of their domain.
constexpr std::size_t parts_by_kinks = 4;
/// A score is wrong where it is certainly below that: of shorter ones, products vanish.
constexpr double surely = -1e-300;
}  // namespace

CertifiedFold::CertifiedFold(const Dataset& data, const FoldRows& rows, std::int32_t f, const Options& options,
                             const Progress& progress, MemoryBudget& memory)
    : data_(data),
      part_(training_rows(data, rows, f, progress)),
      standardized_(part_, options, progress, memory),
      settings_(options) {
  settings_.standardize = false;
  settings_.given.clear();
  settings_.lambda = 1;
  if (options.standardize) {
    const Standardization& units = standardized_.units();
    units_ = RowUnits(units.mean, units.deviation);
    double square = 0;
    for (std::size_t j = 0; j < units.mean.size(); ++j) square += std::pow(units.mean[j] / units.deviation[j], 2);
    shift_ = std::sqrt(square);
  }
  problem_.emplace(make_problem(standardized_.rows(), settings_, progress));
  constant_ = problem_->free_intercept ? 1.0 : settings_.intercept ? settings_.intercept_scale : 0.0;
  smooth_ = knows_curvature(*problem_->loss);
  bends_ = smooth_ && InverseCurvature::affordable(*problem_, constant_);
  kinks_ = KinksBetween::knows(*problem_, constant_);
  if (newton_may_go_on(*problem_, settings_)) settings_.solver = "newton";
  for (std::int64_t i = 0; i < data.rows(); ++i)
    if (rows.fold[static_cast<std::size_t>(i)] == f) held_.push_back(i);
  for (const std::int64_t i : held_) weight_ += data.weight(i);
}

void CertifiedFold::keep_held(const Progress& progress, MemoryBudget& memory) {
  const std::int32_t d = data_.dimensions();
  const double bytes = 8.0 * static_cast<double>(held_.size()) * d;
  if (units_.empty() || !memory.allows(bytes)) return;
  std::vector<double> kept, buffer;
  kept.reserve(held_.size() * static_cast<std::size_t>(d));
  for (const std::int64_t i : held_) {
    const Row x = units_.row(FeatureRow{data_.row(i), d}, buffer);
    if (x.indices != nullptr || x.count != d) return;
    kept.insert(kept.end(), x.doubles(), x.doubles() + d);
    progress.work(4.0 * d);
  }
  held_values_ = std::move(kept);
  memory.use(bytes);
}

double CertifiedFold::tolerance(double lambda) const {
  if (smooth_) return 1e-6;
  return std::clamp(3e-2 * lambda, 1e-10, 1e-6);
}

double CertifiedFold::working_bytes() const {
  return bends_ ? CurvatureBetween::bytes(*problem_) : kinks_ ? KinksBetween::bytes(*problem_) : 0;
}

double CertifiedFold::bytes() const {
  return 16.0 * (problem_->dimensions() + 8) + 8.0 * static_cast<double>(held_.size());
}

void CertifiedFold::keep_dual(double trainings, MemoryBudget& memory) {
  constexpr double most = 2.5e8;  // bytes
  const double bytes = smooth_ ? 0 : 8.0 * trainings * static_cast<double>(problem_->rows());
  keep_dual_ = bytes > 0 && bytes <= most && memory.allows(bytes);
  if (keep_dual_) memory.use(bytes);
}

bool CertifiedFold::train_at(double lambda, double given_tolerance, const Neighbour& a, const Neighbour& b,
                             const std::vector<std::int32_t>& rank, FoldPoint& out, const Progress& progress,
                             const MemoryBudget& memory) const {
  Options settings = settings_;
  settings.lambda = lambda;
  settings.tolerance = std::min(given_tolerance, tolerance(lambda));
  settings.dual_weights = keep_dual_;
  if (a.point != nullptr && a.point->point.has_value()) settings.initial = start(lambda, a, b);
  const Model model = train(standardized_.rows(), settings, QuietProgress(progress), memory);
  const std::int32_t d = problem_->dimensions();
  std::vector<double> weights(static_cast<std::size_t>(d), 0.0);
  for (std::int32_t j = 0; j < model.terms(); ++j)
    weights[static_cast<std::size_t>(model.feature(j))] = model.weights(0, j);
  out.intercept = model.intercept.size() > 0 ? model.intercept(0) : 0.0;
  if (model.dual_weights.has_value())
    out.dual.assign(model.dual_weights->data(), model.dual_weights->data() + model.dual_weights->size());
  if (kinks() && out.dual.size() == static_cast<std::size_t>(problem_->rows()))
    out.point = kink_point(*problem_, constant_, lambda, weights.data(), out.intercept, out.dual, progress);
  else if (model.dual_point != nullptr)
    out.point = path_point(lambda, weights.data(), d, out.intercept, constant_, *model.dual_point, model.columns);
  HeldOut held_out(data_, rank, Metric::accuracy, settings_);
  out.scores = scores(weights, out.intercept, progress);
  for (std::size_t k = 0; k < held_.size(); ++k) held_out.add(held_[k], &out.scores[k]);
  out.accuracy = held_out.value();
  return model.status == Status::optimal;
}

InitialModel CertifiedFold::start(double lambda, const Neighbour& a, const Neighbour& b) const {
  const bool both = b.point != nullptr && b.point->point.has_value();
  const double share = both ? std::log(lambda / a.lambda) / std::log(b.lambda / a.lambda) : 0.0;
  InitialModel out;
  const auto mix = [&](double one, double other) { return (1 - share) * one + share * other; };
  const auto d = static_cast<std::size_t>(problem_->dimensions());
  out.weights.resize(d);
  for (std::size_t j = 0; j < d; ++j)
    out.weights[j] = mix(a.point->point->weights[j], both ? b.point->point->weights[j] : 0.0);
  out.intercept = {mix(a.point->intercept, both ? b.point->intercept : 0.0)};
  out.dual_weights = a.point->dual;
  if (both && b.point->dual.size() == a.point->dual.size())
    for (std::size_t i = 0; i < out.dual_weights.size(); ++i)
      out.dual_weights[i] = mix(a.point->dual[i], b.point->dual[i]);
  return out;
}

/// In the units of the trainings; the numbers are in `values` where those of the data set are others.
Row CertifiedFold::row(std::size_t held, std::vector<double>& values) const {
  const std::int32_t d = data_.dimensions();
  if (!held_values_.empty()) return {held_values_.data() + held * static_cast<std::size_t>(d), nullptr, d, true};
  const Row x = data_.row(held_[held]);
  if (units_.empty()) return x;
  return units_.row(FeatureRow{x, d}, values);
}

/// A held-out row that is wrong at one end or both.
struct CertifiedFold::Undecided {
  std::size_t row;     ///< among those held out
  double sign, share;  ///< of a right score; of the weight of all
  double at_a, at_b;   ///< scores
  double rounding;     ///< of a product with a vector of length 1, in the units of the trainings
  double length;       ///< ≥ ‖(x, B)‖

  /// By the logarithm of lambda, along which scores are about straight.
  bool likely(std::size_t range, std::size_t ranges) const {
    const auto score = [&](std::size_t border) {
      const double part = static_cast<double>(border) / static_cast<double>(ranges);
      return sign * ((1 - part) * at_a + part * at_b);
    };
    return score(range) < 0 && score(range + 1) < 0;
  }
};

std::vector<double> CertifiedFold::scores(const std::vector<double>& weights, double intercept,
                                          const Progress& progress) const {
  std::vector<double> out(held_.size()), values;
  for (std::size_t k = 0; k < held_.size(); ++k) {
    const Row x = row(k, values);
    out[k] = dot(x, weights.data()) + intercept;
    progress.work(2.0 * x.count + 16);
  }
  return out;
}

/// By scores at both ends.
std::vector<CertifiedFold::Undecided> CertifiedFold::undecided(const std::vector<double>& a,
                                                               const std::vector<double>& b,
                                                               const std::vector<std::int32_t>& rank,
                                                               const Progress& progress) const {
  std::vector<Undecided> out;
  std::vector<double> values;
  for (std::size_t k = 0; k < held_.size(); ++k) {
    const std::int64_t i = held_[k];
    const double c = data_.weight(i) / weight_;
    const double sign = rank[static_cast<std::size_t>(data_.class_of(i))] == 1 ? 1.0 : -1.0;
    // Most rows are right throughout.
    if (!(c > 0) || (sign * a[k] > 0 && sign * b[k] > 0)) continue;
    const Row x = row(k, values);
    const double length = std::hypot(norm(x), constant_) * (1 + epsilon * (x.count + 8.0));
    out.push_back({k, sign, c, a[k], b[k], 32 * epsilon * (x.count + 16.0) * (length + shift_), length});
    progress.work(2.0 * x.count + 16);
  }
  progress.work(4.0 * static_cast<double>(held_.size()));
  return out;
}

WrongShares CertifiedFold::by_balls(const FoldPoint& a, const FoldPoint& b, const std::vector<double>& borders,
                                    const std::vector<std::int32_t>& rank, const Progress& progress) const {
  const std::size_t ranges = borders.size() - 1;
  WrongShares out{std::vector<double>(ranges, 0.0), std::vector<double>(ranges, 0.0)};
  if (!a.point.has_value() || !b.point.has_value() || !(weight_ > 0)) return out;
  const BallBetween ball(*a.point, *b.point);
  const bool holds = !problem_->free_intercept && !kinks();
  std::vector<double> radius(ranges), values;
  for (std::size_t r = 0; r < ranges; ++r) radius[r] = ball.radius({borders[r], borders[r + 1]});
  const double size = (a.point->size + b.point->size) * b.point->lambda / a.point->lambda;
  for (const Undecided& u : undecided(a.scores, b.scores, rank, progress)) {
    const Row x = row(u.row, values);
    EndProducts at_a, at_b;
    if (holds) at_a = products(*a.point, x, constant_), at_b = products(*b.point, x, constant_);
    for (std::size_t r = 0; r < ranges; ++r) {
      if (u.likely(r, ranges)) out.likely[r] += u.share;
      if (holds &&
          ball.highest(at_a, at_b, u.sign, {borders[r], borders[r + 1]}) + radius[r] * u.length + u.rounding * size <
              surely)
        out.proven[r] += u.share;
    }
    progress.work(4.0 * x.count + 16.0 * static_cast<double>(ranges));
  }
  return out;
}

WrongShares CertifiedFold::by_kinks(const FoldPoint& a, const FoldPoint& b, const std::vector<double>& borders,
                                    const std::vector<double>& spare, const std::vector<std::int32_t>& rank,
                                    const Progress& progress) const {
  const std::size_t ranges = borders.size() - 1, each = std::max<std::size_t>(1, ranges / parts_by_kinks);
  WrongShares out{std::vector<double>(ranges, 0.0), std::vector<double>(ranges, 0.0)};
  if (!a.point.has_value() || !b.point.has_value() || a.dual.empty() || b.dual.empty()) return out;
  // The middle first, which is the furthest from the ends, and rows that are close to being right: where that is too
  // much to ask for, it shows at once.
  std::vector<Undecided> rows = undecided(a.scores, b.scores, rank, progress);
  const auto nearest = [](const Undecided& u) { return std::max(u.sign * u.at_a, u.sign * u.at_b); };
  std::sort(rows.begin(), rows.end(), [&](const Undecided& one, const Undecided& other) {
    return nearest(one) > nearest(other) || (nearest(one) == nearest(other) && one.row < other.row);
  });
  std::vector<std::size_t> firsts;
  for (std::size_t first = 0; first < ranges; first += each) firsts.push_back(first);
  const auto off = [&](std::size_t first) {
    return std::fabs(static_cast<double>(first) + 0.5 * static_cast<double>(each) - 0.5 * static_cast<double>(ranges));
  };
  std::stable_sort(firsts.begin(), firsts.end(),
                   [&](std::size_t one, std::size_t other) { return off(one) < off(other); });
  const double size = (a.point->size + b.point->size) * b.point->lambda / a.point->lambda;
  std::vector<double> missing(ranges, 0.0), values;
  for (const std::size_t first : firsts) {
    const std::size_t end = std::min(ranges, first + each);
    const auto border = borders.begin();
    KinksBetween kinks(*problem_, constant_, *a.point, a.dual, *b.point, b.dual,
                       {border + static_cast<std::ptrdiff_t>(first), border + static_cast<std::ptrdiff_t>(end) + 1},
                       progress);
    for (std::size_t begin = 0; begin < rows.size(); begin += KinksBetween::group) {
      const std::size_t count = std::min(KinksBetween::group, rows.size() - begin);
      for (std::size_t k = 0; k < count; ++k) kinks.take(k, row(rows[begin + k].row, values));
      kinks.split();
      for (std::size_t k = 0; k < count; ++k) {
        const Undecided& u = rows[begin + k];
        for (std::size_t r = first; r < end; ++r) {
          if (!u.likely(r, ranges)) continue;
          const bool wrong = kinks.highest(k, u.sign, r - first) + u.rounding * size < surely;
          (wrong ? out.proven : missing)[r] += u.share;
        }
      }
      for (std::size_t r = first; r < end; ++r)
        if (missing[r] > spare[r]) return out;
    }
  }
  return out;
}

WrongShares CertifiedFold::by_curvature(const FoldPoint& a, const FoldPoint& b, const std::vector<double>& borders,
                                        WrongGoals goals, const std::vector<std::int32_t>& rank,
                                        const Progress& progress, const MemoryBudget& memory) {
  const std::size_t ranges = borders.size() - 1;
  WrongShares out{std::vector<double>(ranges, 0.0), std::vector<double>(ranges, 0.0)};
  if (!bends_ || !a.point.has_value() || !b.point.has_value() || !(weight_ > 0)) return out;
  CurvatureBetween curve(*problem_, constant_, *a.point, *b.point, borders, std::move(lengths_), progress);
  by_curvature(curve, 0, {a, b}, goals, rank, out, progress, memory);
  return out;
}

void CertifiedFold::by_curvature(CurvatureBetween& curve, std::size_t first, const Ends& trained, WrongGoals& goals,
                                 const std::vector<std::int32_t>& rank, WrongShares& out, const Progress& progress,
                                 const MemoryBudget& memory) {
  const std::vector<double>& borders = curve.borders();
  lengths_ = curve.lengths();
  const std::size_t ranges = borders.size() - 1, half = ranges / 2;
  const auto any = [&](std::size_t from, std::size_t to) {
    const auto at = goals.open.begin() + static_cast<std::ptrdiff_t>(first);
    return std::find(at + static_cast<std::ptrdiff_t>(from), at + static_cast<std::ptrdiff_t>(to), 1) !=
           at + static_cast<std::ptrdiff_t>(to);
  };
  const auto at = [&](bool upper) {
    const std::vector<double>& weights = curve.end(upper);
    for (const FoldPoint* const known : {&trained.a, &trained.b})
      if (known->point->weights == weights) return known->scores;
    return scores(weights, constant_ != 0 ? constant_ * weights.back() : 0.0, progress);
  };
  if (curve.proven()) follow(curve, first, undecided(at(false), at(true), rank, progress), goals, out, progress);
  if (ranges < 2 || !any(0, ranges)) return;
  // The curvature of shorter ways is larger.
  if (!curve.has_middle()) {
    FoldPoint a, b, middle;
    const auto neighbour = [&](bool upper, FoldPoint& point) {
      point.point = PathPoint{};
      point.point->weights = curve.end(upper);
      if (constant_ != 0) {
        point.intercept = constant_ * point.point->weights.back();
        point.point->weights.pop_back();
      }
      return Neighbour{&point, upper ? borders.back() : borders.front()};
    };
    const Neighbour lower = neighbour(false, a), upper = neighbour(true, b);
    train_at(borders[half], 1, lower, upper, rank, middle, progress, memory);
    if (!middle.point.has_value()) return;
    curve.set_middle(middle.point->weights);
  }
  for (const bool upper : {false, true}) {
    if (!(upper ? any(half, ranges) : any(0, half))) continue;
    CurvatureBetween part(curve, upper);
    by_curvature(part, first + (upper ? half : 0), trained, goals, rank, out, progress, memory);
  }
}

/// Until no range is open, or nothing helps.
void CertifiedFold::follow(CurvatureBetween& curve, std::size_t first, const std::vector<Undecided>& rows,
                           WrongGoals& goals, WrongShares& out, const Progress& progress) const {
  const std::size_t ranges = curve.borders().size() - 1;
  std::vector<CurvatureBetween::Held> held(rows.size());
  std::vector<double> values;
  for (std::size_t k = 0; k < rows.size(); ++k) held[k].length = curve.length(row(rows[k].row, values));
  for (;;) {
    std::vector<double> proven(ranges, 0.0), likely(ranges, 0.0);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const Undecided& u = rows[k];
      curve.multiply(row(u.row, values), held[k]);
      for (std::size_t r = 0; r < ranges; ++r) {
        const auto [centre, reach] = curve.highest(held[k], u.sign, r);
        if (centre < 0) likely[r] += u.share;
        if (centre + reach + u.rounding * curve.size() < surely) proven[r] += u.share;
      }
      progress.work(16.0 * static_cast<double>(ranges));
    }
    std::vector<char> open(ranges);
    for (std::size_t r = 0; r < ranges; ++r) {
      const std::size_t at = first + r;
      out.proven[at] = std::max(out.proven[at], proven[r]);
      if (out.proven[at] >= goals.proven[at] || likely[r] - proven[r] <= goals.close[at]) goals.open[at] = 0;
      open[r] = goals.open[at];
    }
    if (std::find(open.begin(), open.end(), 1) == open.end() || !curve.refine(open)) return;
  }
}

}  // namespace margin
