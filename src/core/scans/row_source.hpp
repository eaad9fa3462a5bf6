// Where the rows are: it answers questions about all of them.
#pragma once

#include <optional>
#include <vector>

#include "core/base/progress.hpp"
#include "core/data/dataset.hpp"
#include "core/metrics/metrics.hpp"
#include "core/model/model.hpp"
#include "core/scans/wire/answer.hpp"
#include "core/scans/wire/question.hpp"

namespace margin {

/// Of one cross-validation.
constexpr std::int32_t most_folds = 1000;

/// Some of the rows, by their folds, which are numbered from 0.
struct FoldPart {
  enum class Rows : std::uint8_t { all, of, without, before };
  Rows rows = Rows::all;
  std::int32_t fold = 0;

  bool has(std::int32_t other) const {
    return rows == Rows::all || (rows == Rows::of        ? other == fold
                                 : rows == Rows::without ? other != fold
                                                         : other < fold);
  }
  bool operator==(const FoldPart& o) const { return rows == o.rows && (rows == Rows::all || fold == o.fold); }
};

/// A question to some of the rows.
struct Asked {
  Question question;
  FoldPart part = {};
};

/// What the rows of a fold say of a model: its metrics by weights, of classes or of targets.
struct Judgement {
  std::optional<WeightedMetrics> classes;
  RegressionMetrics targets;
  std::int64_t rows = 0, skipped = 0;  ///< rows of weight 0 as well
  std::vector<WeightedSketch>
      scores;  ///< of a model that is to be calibrated: of each output those of the other rows, then its own
};

class RowSource {
 public:
  virtual ~RowSource() = default;
  /// The answer of all rows: one scan. Every call sees the same rows.
  virtual Answer ask(const Question& question, const Progress& progress) = 0;
  /// The answers to several questions, in their order: one scan where the source can. Without folds the parts are all rows.
  virtual std::vector<Answer> ask_all(const std::vector<Asked>& questions, const Progress& progress) {
    std::vector<Answer> answers;
    for (const Asked& asked : questions) answers.push_back(ask(asked.question, progress));
    return answers;
  }
  /// How many servers answer, whose answers to one question are here at the same time.
  virtual std::int32_t parts() const { return 1; }
  /// How many folds there are; 0: none.
  virtual std::int32_t folds() const { return 0; }
  /// Each of the models on the rows of its fold: one scan. Only of a source that has folds. The models' options are those that
  /// they were trained with.
  virtual std::vector<Judgement> judge(const std::vector<Model>& models, const std::vector<std::int32_t>& folds,
                                       const Progress& progress);
};

/// Rows in memory, or in a mapped file.
class MemorySource final : public RowSource {
 public:
  /// `rows`, and the fold of each, from 0 (null: none), must outlive it.
  explicit MemorySource(const Dataset& rows, const std::vector<std::int32_t>* folds = nullptr)
      : rows_(rows), folds_(folds) {}
  Answer ask(const Question& question, const Progress& progress) override;
  std::vector<Answer> ask_all(const std::vector<Asked>& questions, const Progress& progress) override;
  std::int32_t folds() const override;
  std::vector<Judgement> judge(const std::vector<Model>& models, const std::vector<std::int32_t>& folds,
                               const Progress& progress) override;

 private:
  Dataset of(const FoldPart& part) const;

  const Dataset& rows_;
  const std::vector<std::int32_t>* folds_;
};

}  // namespace margin
