// A row that is read, and handed on as a term, costs as much as the products with a few weights. So the numbers, vectors,
// matrices, cells and bags of several risks stand in one term, those of one after those of another.
#include "core/scans/asked_together.hpp"

#include "core/scans/row_terms.hpp"
#include "core/scans/wire/sum_bytes.hpp"

namespace margin {

namespace {

// Of one answer: what processes hand to each other, and no value of SQL exceeds.
constexpr double most_bytes = 256e6;

/// Bytes that the answer may take.
double answer_bytes(const Question& q) {
  const double outputs = q.outputs(), width = q.width(), row = 96 + 8 * width;
  AnswerForm sums;
  sums.vectors = static_cast<std::int32_t>(outputs + static_cast<double>(q.rings.size()));
  sums.matrices = q.curvature ? q.outputs() : 0;
  const double bag = std::min(static_cast<double>(q.bag_bytes), static_cast<double>(q.bag_rows) * row);
  return outputs * bag + sum_bytes(sums, q.width());
}

/// Questions that one term answers, by their numbers.
struct Group {
  std::vector<std::size_t> members;
  double bytes = 0;
};

std::vector<Group> groups_of(const std::vector<Question>& questions) {
  std::vector<Group> groups;
  for (std::size_t k = 0; k < questions.size(); ++k) {
    const double bytes = questions[k].kind == Question::Kind::risk ? answer_bytes(questions[k]) : 0;
    Group* own = nullptr;
    for (Group& g : groups)
      if (g.bytes + bytes <= most_bytes && g.members.size() < most_beside &&
          questions[g.members.front()].shares_terms(questions[k]))
        own = &g;
    if (own == nullptr) own = &groups.emplace_back();
    own->members.push_back(k);
    own->bytes += bytes;
  }
  return groups;
}

}  // namespace

std::vector<Answer> ask_together(RowSource& source, std::vector<Question> questions, const Progress& progress) {
  const std::vector<Group> groups = groups_of(questions);
  std::vector<Question> asked;
  for (const Group& g : groups) {
    Question& first = asked.emplace_back(questions[g.members.front()]);
    for (std::size_t k = 1; k < g.members.size(); ++k) first.beside.push_back(questions[g.members[k]]);
  }
  std::vector<Answer> found = source.ask_all(asked, progress), answers(questions.size());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (groups[g].members.size() == 1) {
      answers[groups[g].members.front()] = std::move(found[g]);
      continue;
    }
    Answer::Place before;
    for (const std::size_t k : groups[g].members) {
      const RowTerms alone(std::move(questions[k]));
      const AnswerForm& form = alone.form();
      answers[k] = found[g].take_part(form, before, progress);
      before.numbers += form.reductions.size();
      before.vectors += form.vectors;
      before.matrices += form.matrices;
      before.bags += form.bags;
      before.cells += form.cells;
    }
  }
  return answers;
}

}  // namespace margin
