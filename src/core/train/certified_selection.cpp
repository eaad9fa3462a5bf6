// Of every lambda between two that were trained at, bounds of the score of each held-out row (certificate/between.hpp) tell which of
// them are certainly wrong. Their share is a lower bound of the error. Where the lowest of these bounds is too far below the least error
// found, a training in the middle makes two better ones.
#include "core/train/certified_selection.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>

#include "core/certificate/ball.hpp"
#include "core/certificate/between.hpp"
#include "core/loss/loss.hpp"
#include "core/math/norm.hpp"
#include "core/math/rounding.hpp"
#include "core/model/model.hpp"
#include "core/problem/standardize.hpp"
#include "core/solvers/solver.hpp"
#include "core/train/held_out.hpp"

namespace margin {

namespace {

constexpr std::size_t ranges = 8;                          // of lambdas between two trainings, each with its own bounds
constexpr double first_ratio = 3.1622776601683795;         // of neighbouring lambdas, to begin with
constexpr double closest = 1 + 1e-6;                       // no training between lambdas of a smaller ratio
constexpr double least_lambda = 1e-6, largest_lambda = 1;  // the interval by default

/// What a fold found at one lambda.
struct FoldPoint {
  std::optional<PathPoint> point;  ///< nothing where its optimum is not bounded
  std::vector<double> dual;        ///< of its training, where a start needs them
  std::optional<double> accuracy;
  double intercept = 0;
};

struct Training {
  double lambda = 0;
  std::vector<FoldPoint> folds;
  double error = 0;  ///< mean over the folds that have one
};

/// One fold: the rows that train for it, in the units of its trainings, and those held out.
class Fold {
 public:
  Fold(const Dataset& data, const FoldRows& rows, std::int32_t f, const Options& options, const Progress& progress,
       MemoryBudget& memory)
      : data_(data),
        part_(training_rows(data, rows, f)),
        standardized_(part_, options, progress, memory),
        settings_(options),
        progress_(progress) {
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
    if (newton_may_go_on(*problem_, settings_)) settings_.solver = "newton";
    for (std::int64_t i = 0; i < data.rows(); ++i)
      if (rows.fold[static_cast<std::size_t>(i)] == f) held_.push_back(i);
    for (const std::int64_t i : held_) weight_ += data.weight(i);
  }
  Fold(const Fold&) = delete;
  Fold& operator=(const Fold&) = delete;

  double tolerance(double lambda) const {
    if (smooth_) return 1e-6;
    return std::clamp(1e-3 * lambda, 1e-10, 1e-5);
  }

  /// `a`, `b`: the nearest that were trained, or null. Returns whether the training reached its tolerance.
  bool train_at(double lambda, double given_tolerance, const FoldPoint* a, double at_a, const FoldPoint* b, double at_b,
                Metric metric, const std::vector<std::int32_t>& rank, FoldPoint& out, const MemoryBudget& memory) {
    Options settings = settings_;
    settings.lambda = lambda;
    settings.tolerance = std::min(given_tolerance, tolerance(lambda));
    settings.dual_weights = keep_dual_;
    settings.initial = start(lambda, a, at_a, b, at_b);
    const Model model = train(standardized_.rows(), settings, QuietProgress(progress_), memory);
    const std::int32_t d = problem_->dimensions();
    std::vector<double> weights(static_cast<std::size_t>(d), 0.0);
    for (std::int32_t j = 0; j < model.terms(); ++j)
      weights[static_cast<std::size_t>(model.feature(j))] = model.weights(0, j);
    out.intercept = model.intercept.size() > 0 ? model.intercept(0) : 0.0;
    if (model.dual_point != nullptr)
      out.point = path_point(lambda, weights.data(), d, out.intercept, constant_, *model.dual_point, model.columns);
    if (model.dual_weights.has_value())
      out.dual.assign(model.dual_weights->data(), model.dual_weights->data() + model.dual_weights->size());
    HeldOut held_out(data_, rank, metric, settings_);
    for (const std::int64_t i : held_) {
      const Row x = row(i);
      const double score = dot(x, weights.data()) + out.intercept;
      held_out.add(i, &score);
      progress_.work(4.0 * x.count + 64);
    }
    out.accuracy = held_out.value();
    return model.status == Status::optimal;
  }

  /// Adds to wrong[r] the share of the held-out rows that are certainly wrong at every lambda of range r between a and b.
  /// `curved`: by the curvature of the loss as well.
  void add_wrong(const FoldPoint& a, const FoldPoint& b, const std::vector<LambdaRange>& between, bool curved,
                 const std::vector<std::int32_t>& rank, double share, double* wrong) {
    if (!a.point.has_value() || !b.point.has_value() || !(weight_ > 0)) return;
    const bool ball_holds = !problem_->free_intercept;
    if (!ball_holds && !curved) return;
    const BallBetween ball(*a.point, *b.point);
    std::optional<CurvatureBetween> curve;
    if (curved && bends_) curve.emplace(*problem_, constant_, *a.point, *b.point, progress_);
    std::vector<double> radius;
    for (const LambdaRange& range : between) radius.push_back(ball.radius(range));
    const double size = (a.point->size + b.point->size) * b.point->lambda / a.point->lambda;
    for (const std::int64_t i : held_) {
      const double sign = rank[static_cast<std::size_t>(data_.class_of(i))] == 1 ? 1.0 : -1.0;
      const double c = data_.weight(i) / weight_ * share;
      if (!(c > 0)) continue;
      const Row x = row(i);
      const EndProducts at_a = products(*a.point, x, constant_), at_b = products(*b.point, x, constant_);
      progress_.work(4.0 * x.count + 32);
      // Most rows are right throughout.
      if (sign * at_a.weights > 0 && sign * at_b.weights > 0) continue;
      const double length = std::hypot(norm(x), constant_) * (1 + epsilon * (x.count + 8.0));
      const double rounding = 32 * epsilon * (x.count + 16.0) * (length + shift_) * size;
      std::optional<CurvatureBetween::Held> held;
      for (std::size_t r = 0; r < between.size(); ++r) {
        double most = ball_holds ? ball.highest(at_a, at_b, sign, between[r]) + radius[r] * length : infinity;
        if (!(most + rounding < 0) && curve.has_value() && curve->proven()) {
          if (!held.has_value()) held = curve->held(x);
          most = curve->highest(*held, at_a.weights, at_b.weights, sign, between[r]);
        }
        if (most + rounding < 0) wrong[r] += c;
      }
      progress_.work(x.count + 32.0 * static_cast<double>(ranges));
    }
  }

  bool bends() const { return bends_; }
  /// Bytes that the vectors of one training take.
  double bytes() const { return 16.0 * (problem_->dimensions() + 8); }
  /// Piecewise linear losses start from dual weights as well, where there is room for those of so many trainings.
  void keep_dual(double trainings, MemoryBudget& memory) {
    constexpr double most = 2.5e8;  // bytes
    const double bytes = smooth_ ? 0 : 8.0 * trainings * static_cast<double>(problem_->rows());
    keep_dual_ = bytes > 0 && bytes <= most && memory.allows(bytes);
    if (keep_dual_) memory.use(bytes);
  }

 private:
  Row row(std::int64_t i) {
    const Row x = data_.row(i);
    if (units_.empty()) return x;
    return units_.row(FeatureRow{x, data_.dimensions()}, values_);
  }

  /// Between the vectors of the neighbours.
  std::optional<InitialModel> start(double lambda, const FoldPoint* a, double at_a, const FoldPoint* b,
                                    double at_b) const {
    if (a == nullptr || !a->point.has_value()) return std::nullopt;
    const bool both = b != nullptr && b->point.has_value();
    const double share = both ? std::log(lambda / at_a) / std::log(at_b / at_a) : 0.0;
    InitialModel out;
    const auto mix = [&](double one, double other) { return (1 - share) * one + share * other; };
    const auto d = static_cast<std::size_t>(problem_->dimensions());
    out.weights.resize(d);
    for (std::size_t j = 0; j < d; ++j) out.weights[j] = mix(a->point->weights[j], both ? b->point->weights[j] : 0.0);
    out.intercept = {mix(a->intercept, both ? b->intercept : 0.0)};
    out.dual_weights = a->dual;
    if (both && b->dual.size() == a->dual.size())
      for (std::size_t i = 0; i < out.dual_weights.size(); ++i) out.dual_weights[i] = mix(a->dual[i], b->dual[i]);
    return out;
  }

  const Dataset& data_;
  const Dataset part_;
  const StandardizedRows standardized_;
  Options settings_;
  const Progress& progress_;
  RowUnits units_;
  std::vector<double> values_;
  double shift_ = 0, constant_ = 0, weight_ = 0;
  std::optional<Problem> problem_;
  bool smooth_ = false, bends_ = false, keep_dual_ = false;
  std::vector<std::int64_t> held_;
};

class Certification {
 public:
  Certification(const Dataset& data, const SelectionOptions& options, const FoldRows& rows, std::int32_t folds,
                const Progress& progress, MemoryBudget memory)
      : data_(data), options_(options), progress_(progress), rank_(data.classes().ranks()), folds_count_(folds) {
    Options settings = options.grid.front().settings;
    settings.loss = options.losses.front();
    for (std::int32_t f = rows.first(); f < folds; ++f)
      folds_.push_back(std::make_unique<Fold>(data, rows, f, settings, progress, memory));
    const auto trainings = static_cast<double>(options.max_trainings);
    memory.take(trainings * static_cast<double>(folds_.size()) * folds_.front()->bytes(), "option \"certified\"");
    for (const auto& fold : folds_) fold->keep_dual(trainings, memory);
    first_ = rows.first();
    memory_ = memory;
  }

  void run(Selection& out) {
    std::vector<double> ends = options_.lambdas;
    for (const double cost : options_.costs) ends.push_back(1 / (cost * static_cast<double>(data_.rows())));
    if (ends.empty()) ends = {least_lambda, largest_lambda};
    std::sort(ends.begin(), ends.end());
    const double low = ends.front(), high = ends.back();
    std::vector<double> lambdas = ends;
    const auto steps = static_cast<int>(std::ceil(std::log(high / low) / std::log(first_ratio) - 1e-9));
    for (int k = 1; k < steps; ++k) lambdas.push_back(low * std::pow(high / low, static_cast<double>(k) / steps));
    std::sort(lambdas.rbegin(), lambdas.rend());
    lambdas.erase(std::unique(lambdas.begin(), lambdas.end()), lambdas.end());
    for (const double lambda : lambdas) train_at(lambda);
    for (auto a = trained_.begin(), b = std::next(a); b != trained_.end(); ++a, ++b)
      bound(*a->second, *b->second, 0, true);
    for (;;) {
      const double wanted = least_error() - *options_.certified;
      auto worst = bounds_.end();
      for (auto at = bounds_.begin(); at != bounds_.end(); ++at)
        if (at->second.error < wanted && at->second.to > at->second.from * closest &&
            (worst == bounds_.end() || at->second.error < worst->second.error))
          worst = at;
      if (worst == bounds_.end() || static_cast<std::int64_t>(trained_.size()) >= options_.max_trainings) break;
      const ErrorBound parent = worst->second;
      const double middle = std::sqrt(parent.from) * std::sqrt(parent.to);
      train_at(middle);
      bound(*trained_.at(parent.from), *trained_.at(middle), parent.error, true);
      bound(*trained_.at(middle), *trained_.at(parent.to), parent.error, true);
    }
    const double wanted = least_error() - *options_.certified;
    for (const auto& [from, known] : std::map<double, ErrorBound>(bounds_))
      if (known.error < wanted) bound(*trained_.at(from), *trained_.at(known.to), known.error, false);
    fill(out);
  }

 private:
  void train_at(double lambda) {
    if (trained_.count(lambda) > 0) return;
    auto training = std::make_unique<Training>();
    training->lambda = lambda;
    training->folds.resize(folds_.size());
    const auto above = trained_.lower_bound(lambda);
    const Training* const b = above != trained_.end() ? above->second.get() : nullptr;
    const Training* const a = above != trained_.begin() ? std::prev(above)->second.get() : nullptr;
    const Training* const one = a != nullptr ? a : b;
    const Training* const other = a != nullptr ? b : nullptr;
    double sum = 0, count = 0;
    for (std::size_t f = 0; f < folds_.size(); ++f) {
      FoldPoint& point = training->folds[f];
      const bool done =
          folds_[f]->train_at(lambda, options_.settings.tolerance, one != nullptr ? &one->folds[f] : nullptr,
                              one != nullptr ? one->lambda : 0, other != nullptr ? &other->folds[f] : nullptr,
                              other != nullptr ? other->lambda : 0, options_.metric, rank_, point, memory_);
      unfinished_ += !done;
      if (point.accuracy.has_value()) sum += 1 - *point.accuracy, count += 1;
    }
    defined_ = count;
    training->error = count > 0 ? sum / count : 0;
    trained_[lambda] = std::move(training);
  }

  double least_error() const {
    double least = infinity;
    for (const auto& [lambda, training] : trained_) least = std::min(least, training->error);
    return least;
  }

  double possible(const FoldPoint& a, const FoldPoint& b) const {
    if (!a.accuracy.has_value() || !b.accuracy.has_value()) return 0;
    return (1 - std::max(*a.accuracy, *b.accuracy)) / defined_;
  }

  /// `known`: a bound that holds anyway. `give_up`: once it is clear that it will not do, for a training is to follow.
  void bound(const Training& a, const Training& b, double known, bool give_up) {
    std::vector<LambdaRange> between;
    const double ratio = b.lambda / a.lambda;
    double from = a.lambda;
    for (std::size_t r = 1; r <= ranges; ++r) {
      const double to = r == ranges ? b.lambda : a.lambda * std::pow(ratio, static_cast<double>(r) / ranges);
      between.push_back({from, std::max(from, to)});
      from = between.back().high;
    }
    const double wanted = least_error() - *options_.certified;
    double least = known;
    for (const bool curved : {false, true}) {
      if (curved && (least >= wanted || !folds_.front()->bends())) break;
      std::vector<double> wrong(ranges, 0.0);
      // What the folds to come can add at most.
      double rest = 0;
      for (std::size_t f = 0; f < folds_.size(); ++f) rest += possible(a.folds[f], b.folds[f]);
      for (std::size_t f = 0; f < folds_.size(); ++f) {
        if (!a.folds[f].accuracy.has_value()) continue;
        if (give_up && *std::min_element(wrong.begin(), wrong.end()) + rest < wanted) break;
        folds_[f]->add_wrong(a.folds[f], b.folds[f], between, curved, rank_, 1 / defined_, wrong.data());
        rest -= possible(a.folds[f], b.folds[f]);
      }
      const double error = *std::min_element(wrong.begin(), wrong.end());
      least = std::max(least, error * (1 - 1e-12));  // sums of shares are rounded
    }
    bounds_[a.lambda] = {a.lambda, b.lambda, least};
  }

  void fill(Selection& out) const {
    for (auto at = trained_.rbegin(); at != trained_.rend(); ++at) {
      SettingScore s{at->first, options_.losses.front(), 0, {}, {}, {}};
      s.folds.resize(static_cast<std::size_t>(folds_count_));
      for (std::size_t f = 0; f < folds_.size(); ++f)
        s.folds[static_cast<std::size_t>(first_) + f] = at->second->folds[f].accuracy;
      out.settings.push_back(std::move(s));
    }
    out.unfinished += unfinished_;
    SelectionCertificate c;
    c.asked = *options_.certified;
    c.error = least_error();
    c.lower = infinity;
    for (const auto& [from, b] : bounds_) {
      c.bounds.push_back(b);
      c.lower = std::min(c.lower, b.error);
    }
    c.lower = std::min(c.lower, c.error);
    c.proven = (c.error - c.lower) * (1 + 1e-12);
    out.certificate = std::move(c);
  }

  const Dataset& data_;
  const SelectionOptions& options_;
  const Progress& progress_;
  MemoryBudget memory_;
  const std::vector<std::int32_t> rank_;
  const std::int32_t folds_count_;
  std::int32_t first_ = 0;
  std::vector<std::unique_ptr<Fold>> folds_;
  std::map<double, std::unique_ptr<Training>> trained_;
  std::map<double, ErrorBound> bounds_;  // by the lower end
  double defined_ = 0;                   // folds that have an accuracy
  std::int64_t unfinished_ = 0;
};

}  // namespace

void require_certifiable(const SelectionOptions& options) {
  const auto refuse = [](const std::string& what, const std::string& hint) {
    throw Error(ErrorKind::unsupported, "option \"certified\" is of linear soft margins of two classes, and " + what,
                hint);
  };
  const Options& s = options.settings;
  const std::string instead = "Leave out certified to compare models on held-out rows without a proof.";
  if (is_regression_loss(options.losses.front())) refuse("this one is a regression", instead);
  if (options.metric != Metric::accuracy)
    refuse("proves bounds of the error, not of the metric \"" + std::string(metric_name(options.metric)) + "\"",
           instead);
  if (options.losses.size() != 1) refuse("of one loss", "Give one loss, and compare the answers.");
  if (options.grid.size() != 1 || !options.grid.front().values.empty())
    refuse("a grid has several problems", "Give the options one by one, and compare the answers.");
  if (!options.lambdas.empty() || !options.costs.empty()) {
    const auto [low, high] = std::minmax_element(options.lambdas.begin(), options.lambdas.end());
    const auto [least, most] = std::minmax_element(options.costs.begin(), options.costs.end());
    if ((low != options.lambdas.end() && *low == *high) || (least != options.costs.end() && *least == *most))
      throw Error(ErrorKind::invalid_option, "option \"certified\" is about an interval, and one lambda is none",
                  "Give its ends, such as \"lambdas\": [1e-6, 1], or leave out lambdas for these.");
  }
  if (!s.kernel.empty()) refuse("this one has a kernel", instead);
  Options own = s;
  own.loss = options.losses.front();
  if (own.free_intercept() && !knows_curvature(*make_loss(own.loss, own)))
    refuse("with the loss \"" + own.loss + "\" nothing bounds an intercept that is free",
           "Train with intercept => 'penalized', or with a loss that has a derivative, such as logistic.");
  if (s.l1_ratio > 0 || s.positive) refuse("this one has an l1 penalty or weights of 0 or more", instead);
  if (!s.penalty_factor.empty() || !s.named_penalty_factor.empty()) refuse("this one has penalty factors", instead);
  if (!s.offset.empty()) refuse("this one has an offset", instead);
  if (s.multiclass == Multiclass::joint) refuse("this one trains its classes jointly", instead);
}

void certify_selection(const Dataset& data, const SelectionOptions& options, const FoldRows& rows, Selection& out,
                       const Progress& progress, MemoryBudget memory) {
  require_certifiable(options);
  if (data.classes().size() != 2)
    throw Error(ErrorKind::unsupported,
                "option \"certified\" is of two classes, not of " + std::to_string(data.classes().size()),
                "Compare each class with the rest: margin_cross_validate(label = 'a', features, options).");
  Certification(data, options, rows, out.folds, progress, memory).run(out);
}

}  // namespace margin
