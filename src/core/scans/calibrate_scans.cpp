#include "core/scans/calibrate_scans.hpp"

#include <algorithm>
#include <cmath>

#include "core/scans/cross_validate_scans.hpp"
#include "core/scans/model_figures.hpp"
#include "core/scans/train_together.hpp"

namespace margin {

namespace {

/// The model of all rows, then those without one fold after the other.
std::vector<Training> held_out_trainings(Options settings, std::int32_t folds) {
  settings.calibration = Calibrate::none;
  std::vector<Training> all{{settings}};
  auto& named = settings.given;  // not what the folds do without
  named.erase(std::remove(named.begin(), named.end(), "initial"), named.end());
  settings.initial.reset();  // may have seen the held-out rows
  settings.history = false;
  for (std::int32_t f = 0; f < folds; ++f) all.push_back({settings, {FoldPart::Rows::without, f}});
  return all;
}

/// The map of each output. Of equal scores there is one number with their weights, and where a fold has many all within a bucket
/// of the sketch are.
Calibration fit_scores(const std::vector<Judgement>& folds, std::int32_t outputs, Calibrate kind,
                       const Progress& progress) {
  Calibration calibration;
  for (std::int32_t o = 0; o < outputs; ++o) {
    std::vector<ScoredRow> rows;
    std::int64_t count = 0;
    for (const Judgement& fold : folds)
      for (const bool positive : {false, true}) {
        const WeightedSketch& scores = fold.scores[static_cast<std::size_t>(2 * o + (positive ? 1 : 0))];
        count += scores.numbers();
        for (const auto& [score, weight] : scores.items()) {
          if (!std::isfinite(score))
            throw Error(ErrorKind::invalid_value, "a held-out score overflows double precision",
                        "Scale the features, or train without calibration.");
          rows.push_back({score, weight, positive});
        }
        progress.work(64.0 * static_cast<double>(rows.size()));
      }
    add_fit(kind, rows, progress, calibration, count);
  }
  return calibration;
}

/// What the rows of each fold say of its models, in one scan for so many.
std::vector<Judgement> score_folds(RowSource& source, std::vector<Model> models, const std::vector<std::int32_t>& folds,
                                   const Progress& progress) {
  std::vector<Judgement> all;
  for (std::size_t begin = 0; begin < models.size(); begin += most_judged) {
    const auto size = static_cast<std::ptrdiff_t>(std::min(models.size() - begin, most_judged));
    const auto first = models.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto fold = folds.begin() + static_cast<std::ptrdiff_t>(begin);
    const std::vector<Model> some(std::make_move_iterator(first), std::make_move_iterator(first + size));
    for (Judgement& j : source.judge(some, {fold, fold + size}, progress)) all.push_back(std::move(j));
  }
  return all;
}

}  // namespace

std::vector<Model> calibrate_scans(RowSource& source, const std::vector<Options>& settings, const Value::Object& given,
                                   const std::shared_ptr<const Encoder>& encoder, const Progress& progress,
                                   MemoryBudget memory) {
  const std::int32_t folds = source.folds();
  for (const Options& own : settings) require_calibrated(own);
  require_folds(folds);
  std::vector<Training> trainings;
  for (const Options& own : settings)
    for (Training& t : held_out_trainings(own, folds)) trainings.push_back(std::move(t));
  std::vector<Model> trained = train_together(source, trainings, progress, memory);
  require_every_class(trained);
  const std::int32_t outputs = trained.front().outputs();
  if (outputs > 1 && outputs > most_calibrated)
    throw Error(ErrorKind::unsupported,
                "calibration by scans takes at most " + std::to_string(most_calibrated) + " classes, not " +
                    std::to_string(outputs),
                "Train with train_margin, or without calibration.");
  Value::Object options = given;
  options.erase("initial");
  std::vector<Model> models, held_out;
  std::vector<std::int32_t> fold_of;
  for (std::size_t k = 0; k < trained.size(); ++k) {
    const Training& t = trainings[k];
    if (t.part.rows == FoldPart::Rows::all) {
      models.push_back(std::move(trained[k]));
      continue;
    }
    trained[k].options = options;
    trained[k].options.erase("lambdas");
    trained[k].options["lambda"] = {*t.settings.lambda};
    trained[k].encoder = encoder;
    fold_of.push_back(t.part.fold);
    held_out.push_back(std::move(trained[k]));
  }
  const std::vector<Judgement> judged = score_folds(source, std::move(held_out), fold_of, progress);
  for (std::size_t k = 0; k < models.size(); ++k) {
    const auto begin = judged.begin() + static_cast<std::ptrdiff_t>(k) * folds;
    models[k].calibration = fit_scores({begin, begin + folds}, outputs, settings[k].calibration, progress);
  }
  return models;
}

}  // namespace margin
