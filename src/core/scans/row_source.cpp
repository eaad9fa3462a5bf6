#include "core/scans/row_source.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "core/scans/model_figures.hpp"
#include "core/scans/row_terms.hpp"

namespace margin {

namespace {

/// Throws Error(invalid_value) for a class that the model does not know.
std::int32_t class_of(const Model& model, std::string_view name) {
  const auto found = std::find(model.classes.begin(), model.classes.end(), name);
  if (found == model.classes.end())
    throw Error(ErrorKind::invalid_value, "the label \"" + std::string(name) + "\" is none of the model's classes");
  return static_cast<std::int32_t>(found - model.classes.begin());
}

}  // namespace

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

Dataset MemorySource::of(const FoldPart& part) const {
  std::vector<std::int64_t> own;
  for (std::int64_t i = 0; i < rows_.rows(); ++i)
    if (folds_ == nullptr || part.has((*folds_)[static_cast<std::size_t>(i)])) own.push_back(i);
  return rows_.subset(own);
}

std::vector<Answer> MemorySource::ask_all(const std::vector<Asked>& questions, const Progress& progress) {
  std::vector<Answer> answers;
  for (const Asked& asked : questions)
    answers.push_back(asked.part.rows == FoldPart::Rows::all
                          ? ask(asked.question, progress)
                          : MemorySource(of(asked.part)).ask(asked.question, progress));
  return answers;
}

std::int32_t MemorySource::folds() const {
  return folds_ == nullptr || folds_->empty() ? 0 : 1 + *std::max_element(folds_->begin(), folds_->end());
}

std::vector<Judgement> RowSource::judge(const std::vector<Model>&, const std::vector<std::int32_t>&, const Progress&) {
  throw Error(ErrorKind::unsupported, "the rows have no folds");
}

std::vector<Judgement> MemorySource::judge(const std::vector<Model>& models, const std::vector<std::int32_t>& folds,
                                           const Progress& progress) {
  std::vector<Judgement> found;
  for (std::size_t k = 0; k < models.size(); ++k) {
    const Model& model = models[k];
    const Options options = parse_options(model.options);
    ModelFigures figures(model, options, rows_.weighted());
    const Dataset rows = of({FoldPart::Rows::of, folds[k]});
    Answer answer;
    for (std::int64_t i = 0; i < rows.rows(); ++i)
      if (model.regression())
        answer.add(figures.term(rows.row(i), rows.target(i), rows.target(i), -1, rows.weight(i)), progress);
      else
        answer.add(
            figures.term(rows.row(i), class_of(model, rows.classes().name(rows.class_of(i))), -1, rows.weight(i)),
            progress);
    found.push_back(figures.judgement(answer));
  }
  return found;
}

}  // namespace margin
