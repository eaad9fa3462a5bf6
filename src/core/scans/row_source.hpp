// Where the rows are: it answers questions about all of them.
#pragma once

#include "core/base/progress.hpp"
#include "core/data/dataset.hpp"
#include "core/scans/wire/answer.hpp"
#include "core/scans/wire/question.hpp"

namespace margin {

class RowSource {
 public:
  virtual ~RowSource() = default;
  /// The answer of all rows: one scan. Every call sees the same rows.
  virtual Answer ask(const Question& question, const Progress& progress) = 0;
  /// The answers to several questions, in their order: one scan where the source can.
  virtual std::vector<Answer> ask_all(const std::vector<Question>& questions, const Progress& progress) {
    std::vector<Answer> answers;
    for (const Question& question : questions) answers.push_back(ask(question, progress));
    return answers;
  }
};

/// Rows in memory, or in a mapped file.
class MemorySource final : public RowSource {
 public:
  /// `rows` must outlive it.
  explicit MemorySource(const Dataset& rows) : rows_(rows) {}
  Answer ask(const Question& question, const Progress& progress) override;

 private:
  const Dataset& rows_;
};

}  // namespace margin
