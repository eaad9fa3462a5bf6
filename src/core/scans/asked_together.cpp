// A row that is read, and handed on as a term, costs as much as the products with a few weights. So the numbers, vectors,
// matrices, cells and bags of several risks stand in one term, those of one after those of another.
#include "core/scans/asked_together.hpp"

#include <map>
#include <string>

#include "core/scans/row_terms.hpp"
#include "core/scans/wire/sum_bytes.hpp"

namespace margin {

namespace {

// Of one answer: what processes hand to each other, and no value of SQL exceeds.
constexpr double most_bytes = 256e6;
constexpr std::int32_t most_folds_alone = 16;

/// Bytes that the answer may take.
double answer_bytes(const Question& q) {
  const double outputs = q.outputs(), width = q.width(), row = 96 + 8 * width;
  AnswerForm sums;
  sums.vectors = static_cast<std::int32_t>(outputs + Rings::sides * static_cast<double>(q.rings.size()));
  sums.matrices = q.curvature ? q.outputs() : 0;
  const double bag = std::min(static_cast<double>(q.bag_bytes), static_cast<double>(q.bag_rows) * row);
  return outputs * bag + sum_bytes(sums, q.width());
}

/// Questions that one term answers, by their numbers.
struct Group {
  std::vector<std::size_t> members;
  double bytes = 0;
};

std::vector<Group> groups_of(const std::vector<Asked>& questions) {
  std::vector<Group> groups;
  for (std::size_t k = 0; k < questions.size(); ++k) {
    const Question& q = questions[k].question;
    const double bytes = q.kind == Question::Kind::risk ? answer_bytes(q) : 0;
    Group* own = nullptr;
    for (Group& g : groups) {
      const Asked& first = questions[g.members.front()];
      if (g.bytes + bytes <= most_bytes && g.members.size() < most_beside && first.part == questions[k].part &&
          first.question.shares_terms(q))
        own = &g;
    }
    if (own == nullptr) own = &groups.emplace_back();
    own->members.push_back(k);
    own->bytes += bytes;
  }
  return groups;
}

/// What is asked, and of which of these each question's answer consists.
struct Plan {
  std::vector<Asked> asked;
  std::vector<std::vector<std::size_t>> parts;
};

/// One question to the rows of several folds is asked of each fold once: of few ones, as the answer of each keeps as many rows as that
/// of all may.
Plan plan_of(std::vector<Asked> questions, std::int32_t folds) {
  Plan plan;
  plan.parts.resize(questions.size());
  std::map<std::string, std::vector<std::size_t>> same;
  for (std::size_t k = 0; k < questions.size(); ++k)
    if (questions[k].part.rows != FoldPart::Rows::all) same[questions[k].question.bytes()].push_back(k);
  for (const auto& [bytes, of] : same) {
    if (of.size() < 2 || folds > most_folds_alone) continue;
    for (std::int32_t f = 0; f < folds; ++f) {
      const std::size_t at = plan.asked.size();
      bool any = false;
      for (const std::size_t k : of) {
        if (!questions[k].part.has(f)) continue;
        plan.parts[k].push_back(at);
        any = true;
      }
      if (any) plan.asked.push_back({questions[of.front()].question, {FoldPart::Rows::of, f}});
    }
  }
  for (std::size_t k = 0; k < questions.size(); ++k) {
    if (!plan.parts[k].empty()) continue;
    plan.parts[k] = {plan.asked.size()};
    plan.asked.push_back(std::move(questions[k]));
  }
  return plan;
}

/// Without regard to what is the same.
std::vector<Answer> ask_groups(RowSource& source, std::vector<Asked> questions, const Progress& progress) {
  const std::vector<Group> groups = groups_of(questions);
  std::vector<Asked> asked;
  for (const Group& g : groups) {
    Asked& first = asked.emplace_back(questions[g.members.front()]);
    for (std::size_t k = 1; k < g.members.size(); ++k)
      first.question.beside.push_back(questions[g.members[k]].question);
  }
  std::vector<Answer> found = source.ask_all(asked, progress), answers(questions.size());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (groups[g].members.size() == 1) {
      answers[groups[g].members.front()] = std::move(found[g]);
      continue;
    }
    Answer::Place before;
    for (const std::size_t k : groups[g].members) {
      const RowTerms alone(std::move(questions[k].question));
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

}  // namespace

std::vector<Answer> ask_together(RowSource& source, std::vector<Asked> questions, const Progress& progress) {
  Plan plan = plan_of(std::move(questions), source.folds());
  std::vector<Answer> found = ask_groups(source, std::move(plan.asked), progress);
  std::vector<std::size_t> uses(found.size(), 0);
  for (const std::vector<std::size_t>& parts : plan.parts)
    for (const std::size_t part : parts) ++uses[part];
  std::vector<Answer> answers(plan.parts.size());
  for (std::size_t k = 0; k < answers.size(); ++k) {
    const std::vector<std::size_t>& parts = plan.parts[k];
    if (parts.size() == 1 && uses[parts.front()] == 1) {
      answers[k] = std::move(found[parts.front()]);
      continue;
    }
    for (const std::size_t part : parts) answers[k].merge(found[part], progress);
  }
  return answers;
}

}  // namespace margin
