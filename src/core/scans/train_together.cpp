// A training is a function of the answers that it gets. So it is run until it asks what nobody has answered yet, and, once
// a scan has, from its beginning: what it computes between scans, from a sample, is little beside a scan.
#include "core/scans/train_together.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "core/base/shared_out.hpp"
#include "core/scans/asked_together.hpp"

namespace margin {

namespace {

/// What the training stops with that asks it.
struct NotAnswered {
  std::string question;
};

/// The answers that one training got so far, as bytes: a training changes those that it gets.
class Answered final : public RowSource {
 public:
  Answer ask(const Question& question, const Progress&) override {
    std::string asked = question.bytes();
    // Another one than before is asked where the clock had its say.
    if (next_ < known_.size() && known_[next_].first != asked) known_.resize(next_);
    if (next_ == known_.size()) throw NotAnswered{std::move(asked)};
    return Answer::from_bytes(*known_[next_++].second);
  }
  void rewind() { next_ = 0; }
  void add(std::string question, std::shared_ptr<const std::string> answer) {
    known_.emplace_back(std::move(question), std::move(answer));
  }

 private:
  std::vector<std::pair<std::string, std::shared_ptr<const std::string>>> known_;
  std::size_t next_ = 0;
};

struct Training {
  const Options* settings;
  Answered source = {};
  std::optional<Model> model = {};
  std::optional<std::string> asks = {};
  std::exception_ptr failure = {};
};

/// Until it has its model, fails, or asks something new.
void go_on(Training& t, const Progress& progress, MemoryBudget memory) {
  t.asks.reset();
  t.source.rewind();
  try {
    t.model = train_scans(t.source, *t.settings, progress, memory);
  } catch (NotAnswered& what) {
    t.asks = std::move(what.question);
  } catch (const Error&) {
    t.failure = std::current_exception();
  }
}

/// One scan for what all of them ask; the first scan of all is about the same.
void answer(std::vector<Training*>& waiting, RowSource& source, const Progress& progress) {
  std::map<std::string, std::shared_ptr<const std::string>> asked;
  for (const Training* t : waiting) asked.emplace(*t->asks, nullptr);
  std::vector<Question> questions;
  for (const auto& [bytes, none] : asked) questions.push_back(Question::from_bytes(bytes));
  std::vector<Answer> answers = ask_together(source, std::move(questions), progress);
  std::size_t k = 0;
  for (auto& [bytes, of] : asked) of = std::make_shared<const std::string>(answers[k++].bytes(progress));
  for (Training* t : waiting) {
    std::shared_ptr<const std::string> own = asked.at(*t->asks);
    t->source.add(std::move(*t->asks), std::move(own));
  }
}

}  // namespace

std::vector<Model> train_together(RowSource& source, const std::vector<Options>& settings, const Progress& progress,
                                  MemoryBudget memory) {
  std::vector<Model> models;
  for (std::size_t begin = 0; begin < settings.size(); begin += most_together) {
    const auto start = std::chrono::steady_clock::now();
    const std::size_t count = std::min(most_together, settings.size() - begin);
    const double limit = memory.left_or(-1);
    const MemoryBudget each(limit < 0 ? limit : limit / static_cast<double>(count));
    std::vector<Training> trainings;
    for (std::size_t k = 0; k < count; ++k) trainings.push_back({&settings[begin + k]});
    std::vector<Training*> waiting;
    do {
      waiting.clear();
      for (Training& t : trainings)
        if (!t.model.has_value()) waiting.push_back(&t);
      share_out(waiting.size(), progress,
                [&](std::size_t k, const Progress& own) { go_on(*waiting[k], QuietProgress(own), each); });
      for (const Training& t : trainings)
        if (t.failure != nullptr) std::rethrow_exception(t.failure);
      waiting.erase(
          std::remove_if(waiting.begin(), waiting.end(), [](const Training* t) { return !t->asks.has_value(); }),
          waiting.end());
      if (!waiting.empty()) answer(waiting, source, progress);
    } while (!waiting.empty());
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    for (Training& t : trainings) {
      t.model->seconds = seconds;
      models.push_back(std::move(*t.model));
    }
  }
  return models;
}

}  // namespace margin
