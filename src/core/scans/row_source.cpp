#include "core/scans/row_source.hpp"

#include "core/scans/row_terms.hpp"

namespace margin {

Answer MemorySource::ask(const Question& question, const Progress& progress) {
  RowTerms terms(question);
  Answer answer;
  const bool classes = rows_.outcome() == Dataset::Outcome::classes;
  std::vector<std::int32_t> index(classes ? static_cast<std::size_t>(rows_.classes().size()) : 0, -1);
  if (question.kind != Question::Kind::summary)
    for (std::size_t c = 0; c < index.size(); ++c)
      index[c] = terms.class_index(rows_.classes().name(static_cast<std::int32_t>(c)));
  for (std::int64_t i = 0; i < rows_.rows(); ++i) {
    RowLabel label;
    std::int32_t at = -1;
    if (classes) {
      const std::int32_t c = rows_.class_of(i);
      label.name = rows_.classes().name(c);
      label.key = rows_.classes().key(c);
      label.number = rows_.classes().numbers();
      at = index[static_cast<std::size_t>(c)];
    } else {
      label.lower = rows_.target(i);
      label.upper = rows_.upper_target(i);
    }
    const Row x = rows_.row(i);
    answer.add(terms.term({x, rows_.dimensions()}, label, at, rows_.weight(i)), progress);
  }
  answer.set_sparse_input(rows_.sparse_input());  // dense rows may be stored sparse
  return answer;
}

}  // namespace margin
