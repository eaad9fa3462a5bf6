// Of every lambda between two that were trained at, bounds of the score of each held-out row (train/certified_fold.hpp) tell which of
// them are certainly wrong. Their share is a lower bound of the error. Where the lowest of these bounds is too far below the least error
// found, a training in the middle makes two better ones.
#include "core/train/certified_selection.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>

#include "core/base/shared_out.hpp"
#include "core/consequences/where/curvature.hpp"
#include "core/loss/loss.hpp"
#include "core/math/rounding.hpp"
#include "core/train/certified_fold.hpp"

namespace margin {

namespace {

constexpr std::size_t ranges = 16;                         // of lambdas between two trainings, each with its own bounds
constexpr double first_ratio = 10;                         // of neighbouring lambdas, to begin with
constexpr double first_ratio_of_kinks = 1.7782794;         // 10^(1/4): the same, where nothing is proven of larger ones
constexpr double near_enough = 0.25;                       // of what may be missing: more is not to be had
constexpr double most_of_one_fold = 0.6;                   // of what all folds may miss
constexpr double closest = 1 + 1e-6;                       // no training between lambdas of a smaller ratio
constexpr double least_lambda = 1e-6, largest_lambda = 1;  // the interval by default

struct Training {
  double lambda = 0;
  std::vector<FoldPoint> folds;
  double error = 0;  ///< mean over the folds that have one
};

/// Between two trainings that are neighbours.
struct Interval {
  double error = 0;                ///< no lambda of it has a smaller one
  std::vector<double> borders;     ///< of its ranges
  std::vector<WrongShares> folds;  ///< what each fold is known to have in each range
};

class Certification {
 public:
  Certification(const Dataset& data, const SelectionOptions& options, const FoldRows& rows, std::int32_t folds,
                bool together, const Progress& progress, MemoryBudget memory)
      : data_(data),
        options_(options),
        together_(together),
        progress_(progress),
        rank_(data.classes().ranks()),
        folds_count_(folds) {
    Options settings = options.grid.front().settings;
    settings.loss = options.losses.front();
    for (std::int32_t f = rows.first(); f < folds; ++f)
      folds_.push_back(std::make_unique<CertifiedFold>(data, rows, f, settings, progress, memory));
    const auto trainings = static_cast<double>(options.max_trainings);
    memory.take(trainings * static_cast<double>(folds_.size()) * folds_.front()->bytes(), "option \"certified\"");
    double working = 0;
    for (const auto& fold : folds_) working = std::max(working, fold->working_bytes());
    const double at_once = working * progress.threads().count();
    together_ = together_ && memory.allows(at_once);
    memory.take(together_ ? at_once : working, "option \"certified\"");
    for (const auto& fold : folds_) {
      fold->keep_dual(trainings, memory);
      fold->keep_held(progress, memory);
    }
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
    const double ratio = folds_.front()->kinks() ? first_ratio_of_kinks : first_ratio;
    const auto steps = static_cast<std::int64_t>(std::min(std::ceil(std::log(high / low) / std::log(ratio) - 1e-9),
                                                          static_cast<double>(options_.max_trainings - 1)));
    for (std::int64_t k = 1; k < steps; ++k)
      lambdas.push_back(low * std::pow(high / low, static_cast<double>(k) / static_cast<double>(steps)));
    std::sort(lambdas.rbegin(), lambdas.rend());
    lambdas.erase(std::unique(lambdas.begin(), lambdas.end()), lambdas.end());
    for (const double lambda : lambdas) train_at(lambda);
    for (auto a = trained_.begin(), b = std::next(a); b != trained_.end(); ++a, ++b) {
      Interval& whole = intervals_[a->first];
      const double step = b->first / a->first;
      whole.borders = {a->first};
      for (std::size_t r = 1; r < ranges; ++r)
        whole.borders.push_back(
            std::clamp(a->first * std::pow(step, static_cast<double>(r) / static_cast<double>(ranges)),
                       whole.borders.back(), b->first));
      whole.borders.push_back(b->first);
      whole.folds.assign(folds_.size(), {std::vector<double>(ranges, 0.0), std::vector<double>(ranges, 0.0)});
      bound(whole);
    }
    for (;;) {
      const double wanted = least_error() - *options_.certified;
      auto worst = intervals_.end();
      for (auto at = intervals_.begin(); at != intervals_.end(); ++at)
        if (at->second.error < wanted && at->second.borders.back() > at->second.borders.front() * closest &&
            (worst == intervals_.end() || at->second.error < worst->second.error))
          worst = at;
      if (worst == intervals_.end() || static_cast<std::int64_t>(trained_.size()) >= options_.max_trainings) break;
      const Interval parent = std::move(worst->second);
      train_at(parent.borders[ranges / 2]);
      for (const bool upper : {false, true}) {
        Interval half = half_of(parent, upper);
        bound(half);
        intervals_[half.borders.front()] = std::move(half);
      }
    }
    // What was given up where more trainings were to come is worth having where none do.
    thorough_ = folds_.front()->kinks();
    for (auto& [from, at] : intervals_)
      if (thorough_ && at.error < least_error() - *options_.certified) bound(at);
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
    std::vector<char> done(folds_.size(), 0);
    for_folds([&](std::size_t f, const Progress& progress) {
      const auto neighbour = [f](const Training* of) {
        return of != nullptr ? Neighbour{&of->folds[f], of->lambda} : Neighbour{};
      };
      done[f] = folds_[f]->train_at(lambda, options_.settings.tolerance, neighbour(one), neighbour(other), rank_,
                                    training->folds[f], progress, memory_);
    });
    double sum = 0, count = 0;
    for (std::size_t f = 0; f < folds_.size(); ++f) {
      unfinished_ += done[f] == 0;
      if (training->folds[f].accuracy.has_value()) sum += 1 - *training->folds[f].accuracy, count += 1;
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

  /// work(fold, progress), several at once where that is possible.
  template <class Work>
  void for_folds(std::size_t begin, std::size_t end, Work work) const {
    if (together_)
      share_out(end - begin, progress_, [&](std::size_t k, const Progress& progress) { work(begin + k, progress); });
    else
      for (std::size_t f = begin; f < end; ++f) work(f, progress_);
  }
  template <class Work>
  void for_folds(Work work) const {
    for_folds(0, folds_.size(), work);
  }

  /// Every range in two, each with what is known of the whole.
  static Interval half_of(const Interval& parent, bool upper) {
    const std::size_t first = upper ? ranges / 2 : 0;
    Interval out;
    out.error = parent.error;
    for (std::size_t r = 0; r < ranges / 2; ++r) {
      const double low = parent.borders[first + r], high = parent.borders[first + r + 1];
      out.borders.push_back(low);
      out.borders.push_back(std::clamp(std::sqrt(low) * std::sqrt(high), low, high));
    }
    out.borders.push_back(parent.borders[first + ranges / 2]);
    for (const WrongShares& of : parent.folds) {
      WrongShares own{std::vector<double>(ranges, 0.0), std::vector<double>(ranges, 0.0)};
      for (std::size_t r = 0; r < ranges; ++r) own.proven[r] = of.proven[first + r / 2];
      out.folds.push_back(std::move(own));
    }
    return out;
  }

  /// Of a fold that may stay an equal part of `spare` below what can be hoped for, where `left` folds are to come.
  static WrongGoals goals_of(const WrongShares& found, const std::vector<double>& spare, double left) {
    WrongGoals out;
    for (std::size_t r = 0; r < ranges; ++r) {
      const double allowed = spare[r] / left;
      out.proven.push_back(found.likely[r] - allowed);
      out.close.push_back(near_enough * allowed);
      out.open.push_back(found.proven[r] < out.proven[r]);
    }
    return out;
  }

  void bound(Interval& at) {
    const Training &a = *trained_.at(at.borders.front()), &b = *trained_.at(at.borders.back());
    std::vector<WrongShares>& found = at.folds;
    // Means over the folds.
    std::vector<double> proven(ranges), likely(ranges);
    const auto add_up = [&] {
      for (std::size_t r = 0; r < ranges; ++r) {
        proven[r] = likely[r] = 0;
        for (std::size_t f = 0; f < folds_.size(); ++f) {
          if (!a.folds[f].accuracy.has_value()) continue;
          proven[r] += found[f].proven[r] / defined_;
          likely[r] += std::max(found[f].likely[r], found[f].proven[r]) / defined_;
        }
        proven[r] *= 1 - 1e-12;  // sums of shares are rounded
      }
    };
    const auto take = [](WrongShares& known, const WrongShares& own) {
      for (std::size_t r = 0; r < ranges; ++r) known.proven[r] = std::max(known.proven[r], own.proven[r]);
    };
    const auto least = [](const std::vector<double>& of) { return *std::min_element(of.begin(), of.end()); };
    const double wanted = least_error() - *options_.certified;
    for_folds([&](std::size_t f, const Progress& progress) {
      WrongShares balls = folds_[f]->by_balls(a.folds[f], b.folds[f], at.borders, rank_, progress);
      found[f].likely = std::move(balls.likely);
      take(found[f], balls);
    });
    add_up();
    // Where no proof is to be hoped for, a training between has to come first.
    const bool kinks = folds_.front()->kinks();
    if ((kinks || folds_.front()->bends()) && at.error < wanted && least(proven) < wanted &&
        (least(likely) >= wanted || thorough_)) {
      // How far below that all folds together may stay. Half of the folds come first; what they leave is for the others.
      std::vector<double> spare(ranges);
      for (std::size_t r = 0; r < ranges; ++r)
        spare[r] = proven[r] < wanted ? (likely[r] - wanted) * defined_ : infinity;
      const std::size_t batch = (folds_.size() + 1) / 2;
      for (std::size_t begin = 0; begin < folds_.size(); begin += batch) {
        const std::size_t end = std::min(folds_.size(), begin + batch);
        const auto left = static_cast<double>(folds_.size() - begin);
        // Of kinks there is no more to be had than what they give at once.
        if (kinks && least(spare) < 0 && !thorough_) break;
        std::vector<double> allowed = spare;
        for (double& share : allowed) share = thorough_ ? infinity : share * most_of_one_fold;
        for_folds(begin, end, [&](std::size_t f, const Progress& progress) {
          if (kinks) {
            take(found[f], folds_[f]->by_kinks(a.folds[f], b.folds[f], at.borders, allowed, rank_, progress));
            return;
          }
          const WrongGoals goals = goals_of(found[f], spare, left);
          if (std::find(goals.open.begin(), goals.open.end(), 1) == goals.open.end()) return;
          take(found[f], folds_[f]->by_curvature(a.folds[f], b.folds[f], at.borders, goals, rank_, progress, memory_));
        });
        for (std::size_t f = begin; f < end; ++f)
          for (std::size_t r = 0; r < ranges; ++r) spare[r] -= std::max(0.0, found[f].likely[r] - found[f].proven[r]);
      }
      add_up();
    }
    at.error = std::max(at.error, least(proven));
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
    for (const auto& [from, at] : intervals_) {
      c.bounds.push_back({from, at.borders.back(), at.error});
      c.lower = std::min(c.lower, at.error);
    }
    c.lower = std::min(c.lower, c.error);
    c.proven = (c.error - c.lower) * (1 + 1e-12);
    out.certificate = std::move(c);
  }

  const Dataset& data_;
  const SelectionOptions& options_;
  bool together_;
  const Progress& progress_;
  MemoryBudget memory_;
  const std::vector<std::int32_t> rank_;
  const std::int32_t folds_count_;
  std::int32_t first_ = 0;
  std::vector<std::unique_ptr<CertifiedFold>> folds_;
  std::map<double, std::unique_ptr<Training>> trained_;
  std::map<double, Interval> intervals_;  // by the lower end
  double defined_ = 0;                    // folds that have an accuracy
  std::int64_t unfinished_ = 0;
  bool thorough_ = false;  // bounds are no longer given up early
};

}  // namespace

constexpr Consumer certified_option = {"option \"certified\"",
                                       feature::free_intercept | feature::standardize | feature::balanced_classes |
                                           feature::calibration | feature::dual_weights,
                                       "Leave out certified to compare models on held-out rows without a proof."};

void require_certifiable(const SelectionOptions& options) {
  const auto refuse = [](const std::string& what, const std::string& hint) {
    throw Error(ErrorKind::unsupported,
                "option \"certified\" requires a linear soft margin of two classes, but " + what, hint);
  };
  const Options& s = options.settings;
  const std::string instead = "Leave out certified to compare models on held-out rows without a proof.";
  if (options.metric != Metric::accuracy)
    refuse("it bounds the error, not the metric \"" + std::string(metric_name(options.metric)) + "\"", instead);
  if (options.losses.size() != 1) refuse("there are several losses", "Give one loss, and compare the answers.");
  if (options.grid.size() != 1 || !options.grid.front().values.empty())
    refuse("a grid is several problems", "Give the options one by one, and compare the answers.");
  if (!options.lambdas.empty() || !options.costs.empty()) {
    const auto [low, high] = std::minmax_element(options.lambdas.begin(), options.lambdas.end());
    const auto [least, most] = std::minmax_element(options.costs.begin(), options.costs.end());
    if ((low != options.lambdas.end() && *low == *high) || (least != options.costs.end() && *least == *most))
      throw Error(ErrorKind::invalid_option, "option \"certified\" needs an interval, not one lambda",
                  "Give its ends, such as \"lambdas\": [1e-6, 1], or leave out lambdas for these.");
  }
  Options own = s;
  own.loss = options.losses.front();
  own.lambda = 1;  // those of the interval are above 0
  require_features(certified_option, features_of(own), "this training");
  if (own.free_intercept() && !knows_curvature(*make_loss(own.loss, own)))
    refuse("with the loss \"" + own.loss + "\" nothing bounds an intercept that is free",
           "Train with intercept => 'penalized', or with a loss that has a derivative, such as logistic.");
}

void certify_selection(const Dataset& data, const SelectionOptions& options, const FoldRows& rows, Selection& out,
                       bool together, const Progress& progress, MemoryBudget memory) {
  require_certifiable(options);
  if (data.classes().size() != 2)
    throw Error(ErrorKind::unsupported,
                "option \"certified\" requires two classes, not " + std::to_string(data.classes().size()),
                "Compare each class with the rest: margin_cross_validate(label = 'a', features, options).");
  Certification(data, options, rows, out.folds, together, progress, memory).run(out);
}

}  // namespace margin
