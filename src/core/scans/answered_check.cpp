#include "core/scans/answered_check.hpp"

#include <cmath>

#include "core/scans/row_terms.hpp"

namespace margin {

namespace {

/// The kept row is one that the question's rows can be.
bool fits(const Question& q, const Answer& answer, const KeptRow& row) {
  const std::int32_t d = answer.dimensions();
  if (row.x.indices == nullptr ? row.x.count != d : reach(row.x) > d || row.x.dimensions > d) return false;
  switch (q.outcome) {
    case Dataset::Outcome::classes:
      return q.kind == Question::Kind::summary
                 ? answer.classes().count(row.label) > 0
                 : row.label_class >= 0 && static_cast<std::size_t>(row.label_class) < q.class_names.size();
    case Dataset::Outcome::targets:
      return std::isfinite(row.lower) && row.lower == row.upper;
    case Dataset::Outcome::intervals:
      return row.lower <= row.upper;
  }
  return false;
}

[[noreturn]] void refuse_answer() {
  throw Error(ErrorKind::malformed, "the margin_state is not an answer to this question");
}

}  // namespace

void require_answer(const Question& question, const Answer& answer, const Progress& progress) {
  if (answer.empty()) return;
  answer.require_form(RowTerms(question).form());
  const auto check = [&](const Bag& bag) {
    for (std::int64_t i = 0; i < bag.rows(); ++i) {
      progress.work(16);
      if (!fits(question, answer, bag.row(i)))
        throw Error(ErrorKind::invalid_value, "the margin_state keeps a row that its question cannot have");
    }
  };
  for (std::int32_t k = 0; k < answer.bags(); ++k) check(answer.bag(k));
  for (const auto& [name, seen] : answer.classes()) check(seen.first);
}

void require_own_answer(const Question& question, const Answer& answer, const Progress& progress) {
  if (answer.empty() || answer.question() != hash_bytes(question.bytes(), 0))
    throw Error(ErrorKind::invalid_value, "the margin_state is not an answer to this question",
                "Sum up the terms of this very question.");
  require_answer(question, answer, progress);
}

RiskCheck answered_risk(const Question& question, const Answer& answer, const Progress& progress) {
  RiskCheck check(question.objective(), question.weights.data(),
                  question.intercept ? question.intercepts.data() : nullptr, true);
  std::vector<double> numbers = answer.numbers();
  const std::size_t size = check.reductions().size();
  bool sound = numbers.size() >= size;
  if (sound) {
    numbers.resize(size);
    sound = check.merge(numbers, answer.sums().topRows(question.outputs()), answer.longest_block(), answer.blocks());
  }
  if (!sound) refuse_answer();
  check.find_multipliers(progress);
  return check;
}

JointCheck answered_joint(const Question& question, const Answer& answer) {
  JointCheck check(question.objective(), question.weights.data(),
                   question.intercept ? question.intercepts.data() : nullptr, true);
  std::vector<double> numbers = answer.numbers();
  const std::size_t size = check.scan_reductions().size();
  bool sound = numbers.size() >= size;
  if (sound) {
    numbers.resize(size);
    std::vector<std::pair<std::int64_t, double>> flows;
    for (const Entry& cell : answer.cells()) flows.emplace_back(cell.at, cell.value);
    sound = check.merge_scan(numbers, answer.sums().topRows(question.outputs()), flows, answer.longest_block(),
                             answer.blocks());
  }
  if (!sound) refuse_answer();
  return check;
}

LikelihoodAnswer::LikelihoodAnswer(const Question& question, Answer& answer, const Progress& progress)
    : check_(question.objective(), question.weights.data(), question.intercept ? question.intercepts.data() : nullptr),
      hessian_(0) {
  const std::vector<double> numbers = answer.numbers();
  const std::size_t risk = check_.reductions().size(), rows = LikelihoodRows::count;
  if (numbers.size() != risk + question.steps.size() + rows || !answer.has_matrices()) refuse_answer();
  hessian_ = answer.matrix(0, progress);
  const auto sums = answer.sums().row(0).eval();
  for (Eigen::Index j = 0; j < sums.size(); ++j) gradient_.push_back(-sums(j));
  if (question.intercept) gradient_.push_back(-answer.constant_sum(0));
  const auto end = numbers.begin() + static_cast<std::ptrdiff_t>(risk);
  const std::vector<double> of_rows(numbers.end() - static_cast<std::ptrdiff_t>(rows), numbers.end());
  largest_score_ = of_rows.back();
  // Thin rows go into a matrix one by one.
  const auto blocks = answer.blocks() + answer.longest_block() + (answer.sparse_input() ? answer.rows() : 0);
  if (!check_.take({numbers.begin(), end}, of_rows, gradient_, hessian_, static_cast<double>(blocks))) refuse_answer();
  if (question.offset >= 0) {
    const auto held = static_cast<std::size_t>(question.offset);
    decouple(hessian_, held);
    gradient_[held] = 0;
  }
}

}  // namespace margin
