#include "core/scans/cross_validate_scans.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/scans/train_together.hpp"
#include "core/train/held_out.hpp"
#include "core/train/setting_scores.hpp"

namespace margin {

namespace {

[[noreturn]] void refuse(const char* option, const char* hint) {
  throw Error(ErrorKind::unsupported, std::string("option \"") + option + "\" is not for cross-validation by scans",
              hint);
}

void require_options(const SelectionOptions& options, std::int32_t folds) {
  if (options.certified.has_value()) refuse("certified", "Use margin_cross_validate, which holds the rows.");
  if (options.predictions) refuse("predictions", "Use margin_cross_validate, or train without each fold.");
  if (options.folds.has_value()) refuse("folds", "Leave it out: the column of folds tells how many there are.");
  if (options.encoder == EncoderRows::fold)
    refuse("encoder", "Leave it out, or give \"all\": one encoder of all rows serves all folds.");
  if (options.lambdas.empty())
    throw Error(ErrorKind::invalid_option, "cross-validation by scans needs the option \"lambdas\"",
                "Name them: '{\"lambdas\": [0.1, 0.01, 0.001]}'.");
  require_folds(folds);
}

/// Whether class weights ask for other errors than the accuracy counts.
bool weighted(const SelectionOptions& options) {
  return std::any_of(options.grid.begin(), options.grid.end(), [](const GridPoint& point) {
    return point.settings.class_weight_balanced || !point.settings.class_weight.empty();
  });
}

class Validation {
 public:
  Validation(RowSource& source, const SelectionOptions& options, const Value::Object& given,
             std::shared_ptr<const Encoder> encoder)
      : source_(source),
        options_(options),
        given_(given),
        encoder_(std::move(encoder)),
        folds_(source.folds()),
        first_(options.forward ? 1 : 0) {
    out_.selection.metric = options.metric;
    out_.selection.folds = folds_;
  }
  ScannedSelection run(const Progress& progress, MemoryBudget memory);

 private:
  std::vector<Training> trainings();
  void require_classes(const std::vector<Model>& models) const;
  void judge(std::vector<Model> models, const Progress& progress);
  std::optional<double> constant(const std::vector<Judgement>& judged) const;
  FoldPart part_of(std::int32_t fold) const {
    return {options_.forward ? FoldPart::Rows::before : FoldPart::Rows::without, fold};
  }

  RowSource& source_;
  const SelectionOptions& options_;
  const Value::Object& given_;
  const std::shared_ptr<const Encoder> encoder_;
  const std::int32_t folds_, first_;
  ScannedSelection out_;
};

/// One setting after the other, each without one fold after the other.
std::vector<Training> Validation::trainings() {
  std::vector<Training> all;
  for (std::size_t point = 0; point < options_.grid.size(); ++point)
    for (const std::string& loss : options_.losses)
      for (const double lambda : options_.lambdas) {
        Training training{options_.grid[point].settings};
        training.settings.given.clear();  // what one of the losses reads would be refused to the others
        training.settings.loss = loss;
        training.settings.lambda = lambda;
        for (std::int32_t f = first_; f < folds_; ++f) {
          training.part = part_of(f);
          all.push_back(training);
        }
        out_.selection.settings.push_back(
            {lambda, loss, point, std::vector<std::optional<double>>(static_cast<std::size_t>(folds_)), {}, {}});
      }
  return all;
}

void Validation::require_classes(const std::vector<Model>& models) const {
  require_every_class(models);
  const std::size_t classes = models.front().classes.size();
  if (of_two_classes(options_.metric) && classes != 2)
    throw Error(ErrorKind::unsupported,
                "metric \"" + std::string(metric_name(options_.metric)) + "\" needs two classes, not " +
                    std::to_string(classes),
                "Use accuracy, balanced_accuracy, f1_macro or mcc, or log_loss with the loss logistic.");
}

/// The mean over the folds of what the metric is for the best constant of the rows that train; nothing where sums do not tell it.
std::optional<double> Validation::constant(const std::vector<Judgement>& judged) const {
  if (!judged.front().classes.has_value() || (options_.metric == Metric::accuracy && weighted(options_)))
    return std::nullopt;
  // Without the rows of the first fold the models of `forward` have no count of what they were trained on.
  if (options_.forward) return std::nullopt;
  std::vector<std::vector<double>> rows;
  for (const Judgement& j : judged) {
    const auto k = static_cast<std::size_t>(j.classes->classes());
    std::vector<double>& own = rows.emplace_back(k, 0.0);
    for (std::size_t cell = 0; cell < k * k; ++cell) own[cell / k] += j.classes->confusion()[cell];
  }
  SettingScore score{};
  for (std::size_t f = 0; f < rows.size(); ++f) {
    std::vector<double> others(rows[f].size(), 0.0);
    for (std::size_t g = 0; g < rows.size(); ++g)
      for (std::size_t c = 0; c < others.size() && g != f; ++c) others[c] += rows[g][c];
    score.folds.push_back(constant_value(options_.metric, rows[f], others));
  }
  summarize(score);
  return score.mean;
}

/// One scan for so many models, which are written into the settings.
void Validation::judge(std::vector<Model> models, const Progress& progress) {
  Selection& s = out_.selection;
  const auto trained = static_cast<std::size_t>(folds_ - first_);
  const std::size_t at_once = std::max(trained, most_judged / trained * trained);
  const std::int64_t rows_of_last = models[trained - 1].rows.value_or(0);
  const std::int64_t skipped_of_last = models[trained - 1].skipped.value_or(0);
  for (std::size_t begin = 0; begin < models.size(); begin += at_once) {
    const std::size_t end = std::min(models.size(), begin + at_once);
    std::vector<Model> some;
    std::vector<std::int32_t> folds;
    for (std::size_t k = begin; k < end; ++k) {
      SettingScore& setting = s.settings[k / trained];
      some.push_back(std::move(models[k]));
      some.back().options = chosen_options(given_, setting, options_.grid[setting.point].values);
      some.back().encoder = encoder_;
      some.back().history.clear();
      folds.push_back(first_ + static_cast<std::int32_t>(k % trained));
    }
    const std::vector<Judgement> judged = source_.judge(some, folds, progress);
    for (std::size_t k = begin; k < end; ++k) {
      const Judgement& j = judged[k - begin];
      SettingScore& setting = s.settings[k / trained];
      setting.folds[static_cast<std::size_t>(folds[k - begin])] =
          j.classes.has_value()
              ? metric_value(*j.classes, options_.metric)
              : metric_value(j.targets, options_.metric, options_.grid[setting.point].settings.quantile);
    }
    if (begin > 0) continue;
    const std::vector<Judgement> first(judged.begin(), judged.begin() + static_cast<std::ptrdiff_t>(trained));
    s.constant = constant(first);
    const Judgement& j = first.back();
    out_.rows = rows_of_last + j.rows;
    out_.skipped = skipped_of_last + j.skipped;
  }
}

ScannedSelection Validation::run(const Progress& progress, MemoryBudget memory) {
  const auto start = std::chrono::steady_clock::now();
  require_options(options_, folds_);
  std::vector<Model> models = train_together(source_, trainings(), progress, memory);
  Selection& s = out_.selection;
  s.unfinished =
      std::count_if(models.begin(), models.end(), [](const Model& m) { return m.status != Status::optimal; });
  if (!models.front().regression()) require_classes(models);
  judge(std::move(models), progress);
  for (SettingScore& setting : s.settings) summarize(setting);
  s.best = best_of(s);
  s.one_standard_error = within_one_standard_error(s);
  s.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return std::move(out_);
}

}  // namespace

void require_folds(std::int32_t folds) {
  if (folds < 2 || folds > most_folds)
    throw Error(ErrorKind::invalid_value,
                "the rows have " + (folds > most_folds ? "more than 1000" : std::to_string(folds)) +
                    (folds == 1 ? " fold" : " folds") + ", expected 2 to 1000",
                "margin_fold(key, 5) makes five of a key.");
}

void require_every_class(const std::vector<Model>& models) {
  const std::vector<std::string>* most = &models.front().classes;
  for (const Model& m : models)
    if (m.classes.size() > most->size()) most = &m.classes;
  for (const Model& m : models)
    for (const std::string& name : *most)
      if (std::find(m.classes.begin(), m.classes.end(), name) == m.classes.end())
        throw Error(ErrorKind::invalid_value, "no row of the class \"" + name + "\" trains for one of the folds",
                    "Give folds that all have rows of every class.");
}

ScannedSelection cross_validate_scans(RowSource& source, const SelectionOptions& options, const Value::Object& given,
                                      const std::shared_ptr<const Encoder>& encoder, const Progress& progress,
                                      MemoryBudget memory) {
  return Validation(source, options, given, encoder).run(progress, memory);
}

}  // namespace margin
