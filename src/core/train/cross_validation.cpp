// Cross-validation: every fold's rows are predicted by models that were trained without them. Where coordinate ascent
// will do, the models of all folds are trained side by side (solvers/sdca/fold_ascent.cpp); otherwise fold by fold, each
// along a path of its own, several at once on threads. Nothing of a held-out row reaches a model, not even as a start.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/shared_out.hpp"
#include "core/model/model.hpp"
#include "core/problem/standardize.hpp"
#include "core/problem/target_units.hpp"
#include "core/solvers/readers.hpp"
#include "core/solvers/sdca/fold_ascent.hpp"
#include "core/solvers/solver.hpp"
#include "core/train/certified_selection.hpp"
#include "core/train/compaction.hpp"
#include "core/train/fold_encoding.hpp"
#include "core/train/folds.hpp"
#include "core/train/held_out.hpp"
#include "core/train/path.hpp"
#include "core/train/setting_scores.hpp"

namespace margin {

namespace {

/// Epochs side by side before others go on fold by fold: as many as cost what newton does, since until then `auto` would
/// go on with the same ascent; at least and at most these.
constexpr double least_epochs = 40, most_epochs = 1000;

/// Some of the folds that are predicted.
struct FoldRange {
  std::int32_t begin, end;
  std::int32_t count() const { return end - begin; }
};

/// One loss at one point of the grid, over folds and all lambdas; writes its settings of the selection.
class Validation {
 public:
  Validation(const Dataset& data, Metric metric, const Options& settings, const std::vector<double>& lambdas,
             const FoldRows& rows, const FoldRange& folds, const Progress& progress, MemoryBudget memory)
      : data_(data),
        metric_(metric),
        settings_(settings),
        lambdas_(lambdas),
        rows_(rows),
        folds_(folds),
        memory_(memory),
        rank_(data.classes().ranks()),
        progress_(progress) {}

  /// Whether folds are to be trained side by side, memory permitting. Rows as codes are trained on by their histograms.
  static bool takes_one_thread(const Options& settings, const Dataset& data, const FoldRows& rows) {
    return !rows.forward && data.codes() == nullptr && FoldAscent::takes(settings);
  }

  /// Selection::predictions of the folds, from models of the one lambda.
  void predict(Selection& selection) {
    const auto predict = [&](std::size_t k, const Progress& progress) {
      const std::int32_t f = folds_.begin + static_cast<std::int32_t>(k);
      Options settings = settings_;
      settings.lambda = lambdas_.front();
      MemoryBudget left = memory_;
      const Model model = train(training(f, progress, left), settings, progress, left);
      visit_scores(f, model, progress, [&](std::int64_t i, const std::vector<double>& scores) {
        std::copy(scores.begin(), scores.end(),
                  selection.predictions.begin() + i * static_cast<std::int64_t>(selection.outputs));
      });
    };
    share_folds(static_cast<std::size_t>(folds_.count()), predict);
  }

  /// `scores`: one per lambda. Returns the number of models that did not reach their tolerance.
  std::int64_t run(SettingScore* scores) {
    scores_ = scores;
    // One fold by itself is cheaper by what a training takes.
    if (folds_.count() > 1 && takes_one_thread(settings_, data_, rows_) && side_by_side()) return unfinished_;
    fold_by_fold();
    return unfinished_;
  }

 private:
  /// The rows that train for fold f: of rows as codes a copy.
  Dataset training(std::int32_t f, const Progress& progress, MemoryBudget& left) const {
    if (data_.codes() != nullptr) left.take(static_cast<double>(data_.bytes()), "the rows of a fold");
    return training_rows(data_, rows_, f, progress);
  }

  /// What a fold leaves behind is its own, so that it does not matter which thread has it.
  void fold_by_fold() {
    std::vector<std::int64_t> unfinished(static_cast<std::size_t>(folds_.count()), 0);
    const auto train_fold = [&](std::size_t k, const Progress& progress) {
      const std::int32_t f = folds_.begin + static_cast<std::int32_t>(k);
      MemoryBudget left = memory_;
      const Dataset part = training(f, progress, left);
      follow_path(part, settings_, lambdas_, progress, left, [&](std::size_t at, Model&& model) {
        unfinished[k] += model.status != Status::optimal;
        measure(f, at, model, progress);
      });
    };
    share_folds(unfinished.size(), train_fold);
    for (const std::int64_t n : unfinished) unfinished_ += n;
  }

  /// False where memory does not allow it.
  bool side_by_side() {
    const std::int32_t groups = (folds_.count() + FoldAscent::most - 1) / FoldAscent::most;
    MemoryBudget memory = memory_;
    std::optional<StandardizedRows> standardized;
    Options settings = settings_;
    if (settings.standardize) {
      if (!StandardizedRows::fits(data_, memory)) return false;
      standardized.emplace(data_, settings, progress_, memory);
      settings.standardize = false;
      if (data_.outcome() == Dataset::Outcome::targets) settings.target_scale = target_deviation({data_}, progress_);
    }
    const Standardization* const units = standardized.has_value() ? &standardized->units() : nullptr;
    const Problem problem = make_problem(standardized.has_value() ? standardized->rows() : data_, settings);
    const double needed = FoldAscent::workspace(problem, std::min(folds_.count(), FoldAscent::most), units != nullptr);
    if (!memory.allows(needed)) return false;
    memory.use(needed);
    memory_ = memory;
    for (std::int32_t g = 0; g < groups; ++g) {
      const std::int32_t begin = folds_.count() * g / groups, end = folds_.count() * (g + 1) / groups;
      side_by_side(problem, units, folds_.begin + begin, end - begin);
    }
    return true;
  }

  void side_by_side(const Problem& problem, const Standardization* units, std::int32_t first, std::int32_t count) {
    Run run(settings_, progress_, "sdca", static_cast<std::int64_t>(most_epochs));
    FoldAscent ascent(problem, settings_, rows_.fold, first, count, run, units);
    const double epochs = std::clamp(epochs_before_newton(problem, settings_), least_epochs, most_epochs);
    for (const std::size_t k : falling_order(lambdas_)) {
      const std::vector<char> reached =
          ascent.solve(lambda_in_label_units(lambdas_[k], settings_, *problem.loss), epochs);
      measure(ascent, reached, first, k);
      finish(ascent, reached, first, k);
    }
  }

  /// The folds that are ready.
  void measure(const FoldAscent& ascent, const std::vector<char>& reached, std::int32_t first, std::size_t k) {
    std::vector<HeldOut> held_out(reached.size(), HeldOut(data_, rank_, metric_, settings_));
    for (std::int64_t i = 0; i < data_.rows(); ++i) {
      const std::int32_t f = rows_.fold[static_cast<std::size_t>(i)] - first;
      if (f < 0 || f >= static_cast<std::int32_t>(reached.size()) || reached[static_cast<std::size_t>(f)] == 0)
        continue;
      held_out[static_cast<std::size_t>(f)].add(i, ascent.held_out(i));
      progress_.work(32);
    }
    for (std::size_t f = 0; f < reached.size(); ++f)
      if (reached[f] != 0) scores_[k].folds[static_cast<std::size_t>(first) + f] = held_out[f].value();
  }

  /// The folds that the ascent leaves to other solvers go on from its vectors.
  void finish(const FoldAscent& ascent, const std::vector<char>& reached, std::int32_t first, std::size_t k) {
    std::vector<std::int32_t> left;
    for (std::size_t f = 0; f < reached.size(); ++f)
      if (reached[f] == 0) left.push_back(static_cast<std::int32_t>(f));
    std::vector<char> unfinished(left.size(), 0);
    const auto train_fold = [&](std::size_t at, const Progress& progress) {
      Options settings = settings_;
      settings.lambda = lambdas_[k];
      settings.initial = ascent.model(left[at]);
      MemoryBudget memory = memory_;
      const Model model = train(training(first + left[at], progress, memory), settings, progress, memory);
      unfinished[at] = model.status != Status::optimal;
      measure(first + left[at], k, model, progress);
    };
    share_folds(left.size(), train_fold);
    unfinished_ += std::count(unfinished.begin(), unfinished.end(), 1);
  }

  /// train_fold(k, progress) for so many folds.
  template <class Train>
  void share_folds(std::size_t count, Train train_fold) {
    if (count > 1 && several_at_once(data_, settings_, lambdas_, memory_, progress_))
      share_out(count, progress_, train_fold);
    else
      for (std::size_t k = 0; k < count; ++k) train_fold(k, progress_);
  }

  void measure(std::int32_t f, std::size_t k, const Model& model, const Progress& progress) {
    HeldOut held_out(data_, rank_, metric_, settings_);
    visit_scores(f, model, progress,
                 [&](std::int64_t i, const std::vector<double>& scores) { held_out.add(i, scores.data()); });
    scores_[k].folds[static_cast<std::size_t>(f)] = held_out.value();
  }

  /// visit(i, scores) for every row of fold f.
  template <class Visit>
  void visit_scores(std::int32_t f, const Model& model, const Progress& progress, Visit visit) const {
    const Scorer scorer = scorer_of(model);
    std::vector<double> scores(static_cast<std::size_t>(scorer.outputs));
    for (std::int64_t i = 0; i < data_.rows(); ++i) {
      if (rows_.fold[static_cast<std::size_t>(i)] != f) continue;
      const Row x = data_.row(i);
      score(scorer, x, scorer.dimensions, scores.data());
      if (model.regression()) scores[0] = model.prediction(scores[0]);
      visit(i, scores);
      progress.work(static_cast<double>(x.count) * scorer.outputs + 32);
    }
  }

  const Dataset& data_;
  const Metric metric_;
  const Options& settings_;
  const std::vector<double>& lambdas_;
  const FoldRows& rows_;
  const FoldRange folds_;
  MemoryBudget memory_;
  const std::vector<std::int32_t> rank_;
  const Progress& progress_;
  SettingScore* scores_ = nullptr;
  std::int64_t unfinished_ = 0;
};

/// One loss at one point of the grid.
struct Candidate {
  Options settings;
  std::vector<double> lambdas;
  std::size_t first;  // of its settings in the selection
  std::size_t point;  // of the grid
};

/// Folds side by side are the work of one thread: such candidates are tried several at once where memory has no limit.
/// The folds of the others are, one candidate after another. Returns the number of models that did not reach their
/// tolerance.
std::int64_t validate(const std::vector<Candidate>& candidates, const Dataset& data, const FoldRows& rows,
                      Selection& out, const Progress& progress, MemoryBudget memory) {
  std::vector<std::int64_t> unfinished(candidates.size(), 0);
  const auto run = [&](std::size_t k, const Progress& own) {
    const Candidate& c = candidates[k];
    Validation validation(data, out.metric, c.settings, c.lambdas, rows, {rows.first(), out.folds}, own, memory);
    unfinished[k] = validation.run(&out.settings[c.first]);
  };
  std::vector<std::size_t> alone, together;
  for (std::size_t k = 0; k < candidates.size(); ++k)
    (Validation::takes_one_thread(candidates[k].settings, data, rows) ? together : alone).push_back(k);
  for (const std::size_t k : alone) run(k, progress);
  if (memory.allows(std::numeric_limits<double>::infinity()) && data.store() == nullptr)
    share_out(together.size(), progress, [&](std::size_t k, const Progress& own) { run(together[k], own); });
  else
    for (const std::size_t k : together) run(k, progress);
  return std::accumulate(unfinished.begin(), unfinished.end(), std::int64_t{0});
}

/// f(a candidate, the number of a fold, its validation on what the fold's own encoder makes of the rows).
template <class F>
void for_each_encoded_fold(const FoldEncoding& encoding, const std::vector<Candidate>& candidates, const FoldRows& rows,
                           const Selection& out, bool at_once, const Progress& progress, MemoryBudget memory, F f) {
  const auto run = [&](std::int32_t k, const EncodedFold& fold, const Progress& own, const MemoryBudget& left) {
    for (const Candidate& c : candidates) {
      const Options settings = encoding.settings(c.point, c.settings, fold, own);
      Validation validation(*fold.rows, out.metric, settings, c.lambdas, rows, {k, k + 1}, own, left);
      f(c, k, validation);
    }
  };
  encoding.for_each_fold(rows, out.folds, at_once, progress, memory, run);
}

std::int64_t validate(const std::vector<Candidate>& candidates, const FoldEncoding& encoding, const FoldRows& rows,
                      Selection& out, bool at_once, const Progress& progress, MemoryBudget memory) {
  std::vector<std::int64_t> unfinished(static_cast<std::size_t>(out.folds), 0);
  for_each_encoded_fold(encoding, candidates, rows, out, at_once, progress, memory,
                        [&](const Candidate& c, std::int32_t f, Validation& validation) {
                          unfinished[static_cast<std::size_t>(f)] += validation.run(&out.settings[c.first]);
                        });
  return std::accumulate(unfinished.begin(), unfinished.end(), std::int64_t{0});
}

/// An option that was given must mean something at some point of the grid.
void require_readers(const SelectionOptions& options) {
  const std::string& name = options.settings.solver;
  const Solver* const named = find_solver(name);
  if (name != "auto" && named == nullptr) return;  // refused by the first training
  std::optional<Error> refusal;
  for (const GridPoint& point : options.grid) {
    try {
      require_readers(point.settings, name == "auto" ? likely_solver_of_auto(point.settings) : *named, options.losses);
      return;
    } catch (const Error& error) {
      if (!refusal.has_value()) refusal = error;
    }
  }
  if (refusal.has_value()) throw Error(*refusal);
}

/// Every loss at every point of the grid, with its settings in the selection; none with the option certified, which makes its own.
std::vector<Candidate> candidates_of(const SelectionOptions& options, const Dataset& data, const Compaction& compaction,
                                     Selection& out, const Progress& progress, MemoryBudget memory) {
  std::vector<Candidate> candidates;
  std::vector<double> given_lambdas = options.lambdas;
  for (const double cost : options.costs) given_lambdas.push_back(1 / (cost * static_cast<double>(data.rows())));
  for (std::size_t point = 0; point < options.grid.size() && !options.certified.has_value(); ++point) {
    Options settings = options.grid[point].settings;
    settings.given.clear();  // looked at here: what one of the losses reads would be refused to the others
    compaction.take(settings);
    std::vector<double> lambdas = given_lambdas;
    for (const std::string& loss : options.losses) {
      settings.loss = loss;
      if (given_lambdas.empty()) lambdas = path_lambdas(data, settings, progress, memory);
      candidates.push_back({settings, lambdas, out.settings.size(), point});
      for (const double lambda : lambdas)
        out.settings.push_back(
            {lambda, loss, point, std::vector<std::optional<double>>(static_cast<std::size_t>(out.folds)), {}, {}});
    }
  }
  return candidates;
}

}  // namespace

Selection cross_validate(const Dataset& given_rows, const SelectionOptions& options, const Progress& progress,
                         MemoryBudget memory, const std::int32_t* given_fold, const FoldEncoding* encoding) {
  const auto start = std::chrono::steady_clock::now();
  require_readers(options);
  const Compaction compaction(given_rows, options.settings, progress, memory);
  const Dataset& data = compaction.rows();
  if (given_fold != nullptr && options.folds.has_value())
    throw Error(ErrorKind::invalid_option, "option \"folds\" and the folds of the rows are mutually exclusive",
                "Leave out the option.");
  constexpr std::int32_t default_folds = 5;
  const std::vector<std::int32_t> fold =
      given_fold != nullptr ? numbered_folds(given_fold, data.rows())
      : options.forward     ? consecutive_folds(data.rows(), options.folds.value_or(default_folds))
                            : stratified_folds(data, options.folds.value_or(default_folds), options.settings.seed);
  const FoldRows rows{fold, options.forward};
  Selection out;
  out.metric = options.metric;
  out.folds = 1 + *std::max_element(fold.begin(), fold.end());
  if (given_fold != nullptr || options.forward) require_every_class(data, rows, out.folds);
  if (of_two_classes(options.metric) && data.classes().size() != 2)
    throw Error(ErrorKind::unsupported,
                "metric \"" + std::string(metric_name(options.metric)) + "\" needs two classes, not " +
                    std::to_string(data.classes().size()),
                "Use accuracy, balanced_accuracy, f1_macro or mcc, or log_loss with the loss logistic.");
  const double lists = 40.0 * static_cast<double>(data.rows());  // row numbers, and a subset's addresses and labels
  memory.take(lists, "cross-validation");

  const std::vector<Candidate> candidates = candidates_of(options, data, compaction, out, progress, memory);
  const auto at_once = [&](const std::vector<Candidate>& of) {
    return std::all_of(of.begin(), of.end(), [&](const Candidate& c) {
      return several_at_once(data, c.settings, c.lambdas, memory, progress, true);
    });
  };
  if (options.certified.has_value())
    certify_selection(data, options, rows, out,
                      several_at_once(data, options.grid.front().settings, {1e-6, 1}, memory, progress), progress,
                      memory);
  else if (encoding != nullptr)
    out.unfinished = validate(candidates, *encoding, rows, out, at_once(candidates), progress, memory);
  else
    out.unfinished = validate(candidates, data, rows, out, progress, memory);
  for (SettingScore& s : out.settings) summarize(s);
  SettingScore constant{};
  Options settings = options.settings;
  compaction.take(settings);
  settings.loss = options.losses.front();
  for (std::int32_t f = rows.first(); f < out.folds; ++f)
    constant.folds.push_back(constant_score(data, options.metric, settings, rows, f, progress));
  summarize(constant);
  // Class weights ask for other errors than the accuracy counts.
  const bool weighted = std::any_of(options.grid.begin(), options.grid.end(), [](const GridPoint& point) {
    return point.settings.class_weight_balanced || !point.settings.class_weight.empty();
  });
  if (options.metric != Metric::accuracy || !weighted) out.constant = constant.mean;
  out.best = best_of(out);
  out.one_standard_error = within_one_standard_error(out);
  if (options.predictions && out.best.has_value()) {
    const SettingScore& best = out.settings[*out.best];
    Options chosen = options.grid[best.point].settings;
    chosen.given.clear();
    compaction.take(chosen);
    chosen.loss = best.loss;
    memory.take(16.0 * static_cast<double>(data.rows() * std::max<std::size_t>(1, data.classes().size())),
                "predictions");
    const std::vector<double> lambda = {best.lambda};
    const std::vector<Candidate> alone = {{chosen, lambda, 0, best.point}};
    const auto classes = static_cast<std::size_t>(data.classes().size());
    out.outputs = classes > 2 ? classes : 1;
    out.predictions.resize(static_cast<std::size_t>(data.rows()) * out.outputs);
    if (encoding != nullptr)
      for_each_encoded_fold(*encoding, alone, rows, out, at_once(alone), progress, memory,
                            [&](const Candidate&, std::int32_t, Validation& validation) { validation.predict(out); });
    else
      Validation(data, out.metric, chosen, lambda, rows, {rows.first(), out.folds}, progress, memory).predict(out);
  }
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return out;
}

}  // namespace margin
