#include "core/scans/answered_check.hpp"

namespace margin {

std::shared_ptr<const Loss> loss_of(const Question& q) {
  if (q.kind != Question::Kind::risk) return nullptr;
  Options options;
  options.epsilon = q.epsilon;
  options.smoothing = q.smoothing;
  return make_loss(q.loss, options);
}

RiskCheck answered_risk(const Question& question, const Loss& loss, const Answer& answer) {
  RiskCheck check(question.objective(&loss), question.weights.data(),
                  question.intercept ? question.intercepts.data() : nullptr, true);
  std::vector<double> numbers = answer.numbers();
  const std::size_t size = check.folds().size();
  bool sound = numbers.size() >= size;
  if (sound) {
    numbers.resize(size);
    sound = check.merge(numbers, answer.sums(), answer.longest_block(), answer.blocks());
  }
  if (!sound) throw Error(ErrorKind::malformed, "the margin_state is not an answer to this question");
  return check;
}

}  // namespace margin
