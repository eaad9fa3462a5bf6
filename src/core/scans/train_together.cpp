// A training is a function of the answers that it gets. So it is run until it asks what nobody has answered yet, and, once
// a scan has, from its beginning: what it computes between scans, from a sample, is little beside a scan.
#include "core/scans/train_together.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <tuple>
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
  explicit Answered(std::int32_t parts) : parts_(parts) {}
  std::int32_t parts() const override { return parts_; }
  Answer ask(const Question& question, const Progress& progress) override {
    std::string asked = question.bytes();
    // Another one than before is asked where the clock had its say.
    if (next_ < known_.size() && known_[next_].first != asked) known_.resize(next_);
    if (next_ == known_.size()) throw NotAnswered{std::move(asked)};
    return Answer::from_bytes(*known_[next_++].second, progress);
  }
  void rewind() { next_ = 0; }
  void add(std::string question, std::shared_ptr<const std::string> answer) {
    known_.emplace_back(std::move(question), std::move(answer));
  }

 private:
  std::vector<std::pair<std::string, std::shared_ptr<const std::string>>> known_;
  std::size_t next_ = 0;
  std::int32_t parts_;
};

struct Progressing {
  const Training* training;
  Answered source;
  std::optional<Model> model = {};
  std::optional<std::string> asks = {};
  std::exception_ptr failure = {};
};

/// What "all rows" are in it.
Error of_folds(const Error& e) {
  return {e.kind(), e.message(), e.hint(),
          (e.detail().empty() ? "" : e.detail() + " ") + "The rows are those that train for one of the folds."};
}

/// Until it has its model, fails, or asks something new.
void go_on(Progressing& t, const Progress& progress, MemoryBudget memory) {
  t.asks.reset();
  t.source.rewind();
  try {
    t.model = train_scans(t.source, t.training->settings, progress, memory);
  } catch (NotAnswered& what) {
    t.asks = std::move(what.question);
  } catch (const Error& e) {
    t.failure =
        t.training->part.rows == FoldPart::Rows::all ? std::current_exception() : std::make_exception_ptr(of_folds(e));
  }
}

using Bytes = std::shared_ptr<const std::string>;
// Of answers that are kept for trainings that begin later.
constexpr std::size_t most_bytes_kept = 256000000;

/// Answers by questions and the rows that were asked.
using Known = std::map<std::tuple<FoldPart::Rows, std::int32_t, std::string>, Bytes>;

Known::key_type key_of(const Progressing& t) {
  const FoldPart& part = t.training->part;
  return {part.rows, part.fold, *t.asks};
}

/// One scan for what all of them ask; the first scan of all is about the same. `summaries`: what earlier scans told about the rows
/// themselves: where some ask that again, these are answered, and nothing is scanned.
void answer(std::vector<Progressing*>& waiting, RowSource& source, Known& summaries, const Progress& progress) {
  Known known;
  for (const Progressing* t : waiting)
    if (const auto found = summaries.find(key_of(*t)); found != summaries.end()) known.insert(*found);
  if (known.empty()) {
    for (const Progressing* t : waiting) known.emplace(key_of(*t), nullptr);
    std::vector<Asked> questions;
    for (const auto& [key, none] : known)
      questions.push_back({Question::from_bytes(std::get<2>(key)), {std::get<0>(key), std::get<1>(key)}});
    std::vector<bool> of_rows;
    for (const Asked& q : questions) of_rows.push_back(q.question.kind == Question::Kind::summary);
    std::vector<Answer> answers = ask_together(source, std::move(questions), progress);
    std::size_t k = 0, kept = 0;
    for (const auto& [key, of] : summaries) kept += of->size();
    for (auto& [key, of] : known) {
      of = std::make_shared<const std::string>(answers[k].bytes(progress));
      if (of_rows[k++] && (kept += of->size()) <= most_bytes_kept) summaries.emplace(key, of);
    }
  }
  for (Progressing* t : waiting) {
    const auto found = known.find(key_of(*t));
    if (found != known.end()) t->source.add(std::move(*t->asks), found->second);
  }
}

}  // namespace

std::vector<Model> train_together(RowSource& source, const std::vector<Training>& trainings, const Progress& progress,
                                  MemoryBudget memory) {
  std::vector<Model> models;
  Known summaries;
  for (std::size_t begin = 0; begin < trainings.size(); begin += most_together) {
    const auto start = std::chrono::steady_clock::now();
    const std::size_t count = std::min(most_together, trainings.size() - begin);
    const double limit = memory.left_or(-1);
    const MemoryBudget each(limit < 0 ? limit : limit / static_cast<double>(count));
    std::vector<Progressing> some;
    for (std::size_t k = 0; k < count; ++k) some.push_back({&trainings[begin + k], Answered(source.parts())});
    std::vector<Progressing*> waiting;
    do {
      waiting.clear();
      for (Progressing& t : some)
        if (!t.model.has_value()) waiting.push_back(&t);
      share_out(waiting.size(), progress,
                [&](std::size_t k, const Progress& own) { go_on(*waiting[k], QuietProgress(own), each); });
      for (const Progressing& t : some)
        if (t.failure != nullptr) std::rethrow_exception(t.failure);
      waiting.erase(
          std::remove_if(waiting.begin(), waiting.end(), [](const Progressing* t) { return !t->asks.has_value(); }),
          waiting.end());
      if (!waiting.empty()) answer(waiting, source, summaries, progress);
    } while (!waiting.empty());
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    for (Progressing& t : some) {
      t.model->seconds = seconds;
      models.push_back(std::move(*t.model));
    }
  }
  return models;
}

}  // namespace margin
