// Rows for trainings by scans, as several processes have them.
#pragma once

#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/loss/loss.hpp"
#include "core/scans/row_source.hpp"
#include "core/scans/train_scans.hpp"
#include "core/scans/wire/answer.hpp"
#include "core/scans/wire/question.hpp"

namespace margin::testing {

/// Rows in three parts, whose answers travel as bytes; counts the scans.
class ThreeParts final : public RowSource {
 public:
  explicit ThreeParts(const Dataset& rows) : rows_(rows) {}
  Answer ask(const Question& asked, const Progress& progress) override {
    ++scans;
    const Question question = Question::from_bytes(asked.bytes());
    Answer all;
    for (std::int64_t part : {2, 0, 1}) {
      std::vector<std::int64_t> own;
      for (std::int64_t i = part; i < rows_.rows(); i += 3) own.push_back(i);
      const Dataset rows = rows_.subset(own);
      Answer answer = MemorySource(rows).ask(question, progress);
      if (answer.rows() > 0) all.merge(Answer::from_bytes(answer.bytes(), {}));
    }
    return all;
  }
  int scans = 0;

 private:
  const Dataset& rows_;
};

/// Why the rows are not trained on; empty: they are.
inline std::string refusal_by_scans(const Dataset& rows, const Options& options) {
  ThreeParts source(rows);
  try {
    train_scans(source, options, {});
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}

inline std::vector<std::string> all_losses() {
  const std::vector<std::string_view> names = loss_names();
  return {names.begin(), names.end()};
}

}  // namespace margin::testing
