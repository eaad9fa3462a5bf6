// Trainings by scans of many parts, each of which keeps but its share of the rows that are wanted: the same optimum, as many rows as one
// part would keep where they are spread by chance, and whatever the order in which answers meet.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "core/train/train.hpp"
#include "newton_problems.hpp"
#include "three_parts.hpp"

namespace margin {
namespace {

using testing::all_losses;
using testing::sample;
using testing::soft;
using testing::Storage;
using testing::store;
using testing::Table;

/// Servers that send their answers, of rows that are dealt out, or of stretches of them.
class Shards final : public RowSource {
 public:
  Shards(const Dataset& rows, std::int32_t count, bool dealt) : rows_(rows), count_(count), dealt_(dealt) {}
  std::int32_t parts() const override { return shares ? count_ : 1; }
  Answer ask(const Question& asked, const Progress& progress) override {
    ++scans;
    Answer all;
    for (const std::string& bytes : answers(asked, progress)) all.merge(Answer::from_bytes(bytes, {}));
    return all;
  }
  std::vector<std::string> answers(const Question& question, const Progress& progress) {
    std::vector<std::string> sent;
    const std::int64_t n = rows_.rows();
    for (std::int32_t part = 0; part < count_; ++part) {
      std::vector<std::int64_t> own;
      for (std::int64_t i = 0; i < n; ++i)
        if ((dealt_ ? i % count_ : i * count_ / n) == part) own.push_back(i);
      const Dataset rows = rows_.subset(own);
      Answer answer = MemorySource(rows).ask(question, progress);
      if (answer.rows() == 0) continue;
      sent.push_back(answer.bytes());
      largest = std::max(largest, sent.back().size());
      if (answer.of_parts()) Answer::mark_arrived(sent.back().data());
    }
    return sent;
  }
  bool shares = true;
  int scans = 0;
  std::size_t largest = 0;

 private:
  const Dataset& rows_;
  std::int32_t count_;
  bool dealt_;
};

/// Sorted by the label: each stretch of the rows is of one kind.
Table sorted(Table t) {
  std::vector<std::size_t> order(t.y.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return t.y[a] < t.y[b]; });
  Table other = t;
  for (std::size_t i = 0; i < order.size(); ++i) {
    other.x[i] = t.x[order[i]];
    other.y[i] = t.y[order[i]];
  }
  return other;
}

Dataset stored(Table t, bool classes = true, int k = 2) { return store(t, classes, Storage::doubles, k); }

std::vector<std::string> kept(Answer& answer) {
  Bag& bag = answer.bag(0);
  bag.sort();
  std::vector<std::string> rows;
  for (std::int64_t i = 0; i < bag.rows(); ++i) rows.emplace_back(bag.row_bytes(i));
  return rows;
}

TEST(SharesOfRows, AreAsManyAsOnePartKeeps) {
  const Dataset data = stored(sample(3, 6000, 4, true));
  Options options = soft("hinge", 1e-3, 1e-6);
  options.sample_rows = 1200;
  Question asked = first_question(options, {});
  Answer whole = MemorySource(data).ask(asked, {});
  Shards shards(data, 12, true);
  shards.ask(asked, {});
  const std::size_t without = shards.largest;
  shards.largest = 0;
  asked.parts = 12;
  std::vector<std::string> sent = shards.answers(asked, {});
  EXPECT_LT(shards.largest, without / 2);  // of 500 rows, 200
  std::vector<std::string> first;
  for (const bool backwards : {false, true}) {
    Answer all, half;  // some of them meet before
    for (std::size_t k = 0; k < sent.size(); ++k) (k % 3 == 1 ? half : all).merge(Answer::from_bytes(sent[k], {}));
    all.merge(Answer::from_bytes(half.bytes(), {}));
    EXPECT_TRUE(all.arrived());
    EXPECT_FALSE(all.bag(0).complete());
    EXPECT_EQ(all.bag(0).rows(), 1200);
    if (!backwards) first = kept(all);
    EXPECT_EQ(kept(all), first);
    std::reverse(sent.begin(), sent.end());
  }
  EXPECT_EQ(first, kept(whole));
}

TEST(SharesOfRows, StayABeginningWhereOnePartHasAll) {
  // The rows of the smallest keys are all of one part: it keeps its share of them, and nothing comes behind what it left out.
  const Dataset data = stored(sample(4, 4000, 3, true));
  Options options = soft("hinge", 1e-3, 1e-6);
  options.sample_rows = 1000;
  Question asked = first_question(options, {});
  Answer whole = MemorySource(data).ask(asked, {});
  asked.parts = 10;
  std::vector<std::int64_t> own, other;
  Bag& bag = whole.bag(0);
  bag.sort();
  const double last = bag.key(399);
  for (std::int64_t i = 0; i < data.rows(); ++i) {
    const Dataset one = data.subset({i});
    Answer answer = MemorySource(one).ask(first_question(options, {}), {});
    (answer.bag(0).key(0) <= last ? own : other).push_back(i);
  }
  Answer all;
  for (const std::vector<std::int64_t>& rows : {own, other}) {
    std::string bytes = MemorySource(data.subset(rows)).ask(asked, {}).bytes();
    Answer::mark_arrived(bytes.data());
    all.merge(Answer::from_bytes(bytes, {}));
  }
  EXPECT_EQ(all.rows(), 4000);
  const std::vector<std::string> some = kept(all), most = kept(whole);
  ASSERT_EQ(some.size(), 200U);  // twice its tenth
  EXPECT_TRUE(std::equal(some.begin(), some.end(), most.begin()));
}

TEST(SharesOfRows, AreOfAnswersThatWereSent) {
  const Dataset data = stored(sample(5, 900, 3, true));
  Options options = soft("hinge", 1e-3, 1e-6);
  options.sample_rows = 300;
  Question asked = first_question(options, {});
  asked.parts = 3;
  // Of two halves here, each of the same part.
  Answer one = MemorySource(data).ask(asked, {}), two = MemorySource(data).ask(asked, {});
  EXPECT_EQ(one.bag(0).rows(), 200);
  two.merge(one);
  EXPECT_EQ(two.bag(0).rows(), 200);
  Question other = asked;
  other.parts = 4;
  EXPECT_THROW(two.merge(MemorySource(data).ask(other, {})), Error);
  for (const std::int32_t wrong : {0, -1, most_parts + 1}) {
    other.parts = wrong;
    EXPECT_THROW(Question::from_bytes(other.bytes()), Error);
  }
}

class SharesOfLoss : public ::testing::TestWithParam<std::string> {};

TEST_P(SharesOfLoss, FindTheOptimum) {
  const bool classes = !is_regression_loss(GetParam());
  Table t = sample(41, 4000, 8, classes);
  t = sorted(testing::labels_for(GetParam(), t));
  const Dataset data = stored(t, classes);
  Options options = soft(GetParam(), 1e-3, 1e-6);
  options.sample_rows = 800;
  const Model known = train(data, options, {});
  for (const bool dealt : {true, false}) {
    Shards shards(data, 20, dealt);
    shards.shares = false;
    train_scans(shards, options, {});
    const int scans = shards.scans;
    shards.scans = 0;
    shards.shares = true;
    const Model found = train_scans(shards, options, {});
    SCOPED_TRACE(dealt ? "dealt out" : "in stretches");
    EXPECT_EQ(found.status, Status::optimal) << found.certificate.relative_gap;
    EXPECT_LE(shards.scans, scans + (dealt ? 1 : 3));
    EXPECT_LE(found.certificate.lower, known.certificate.upper * (1 + 1e-9));
    EXPECT_GE(found.certificate.upper, known.certificate.lower * (1 - 1e-9));
  }
}

INSTANTIATE_TEST_SUITE_P(Shares, SharesOfLoss, ::testing::ValuesIn(all_losses()),
                         [](const auto& info) { return info.param; });

TEST(SharesOfRows, OfOtherProblems) {
  const Dataset three = stored(sorted(sample(43, 4000, 6, true, 3)), true, 3);
  const Dataset counts = stored(sorted(testing::labels_for("poisson", sample(44, 4000, 6, false))), false);
  Options softmax = soft("logistic", 1e-3, 1e-6), machine = soft("hinge", 1e-3, 1e-4), likelihood;
  softmax.multiclass = machine.multiclass = Multiclass::joint;
  likelihood.loss = "poisson";
  likelihood.lambda = 0;
  likelihood.tolerance = 1e-9;
  for (const auto& [data, options] :
       {std::pair(&three, softmax), std::pair(&three, machine), std::pair(&counts, likelihood)}) {
    Options own = options;
    own.sample_rows = 800;
    const Model known = train(*data, own, {});
    for (const bool dealt : {true, false}) {
      Shards shards(*data, 20, dealt);
      const Model found = train_scans(shards, own, {});
      EXPECT_EQ(found.status, Status::optimal) << found.certificate.relative_gap;
      EXPECT_LE(shards.scans, 12);
      EXPECT_LE(found.certificate.lower, known.certificate.upper * (1 + 1e-9));
      EXPECT_GE(found.certificate.upper, known.certificate.lower * (1 - 1e-9));
    }
  }
}

TEST(SharesOfRows, OfAHardMargin) {
  Table t = sample(45, 4000, 6, true);
  for (std::size_t i = 0; i < t.y.size(); ++i)
    t.x[i][0] = t.y[i] > 0 ? std::fabs(t.x[i][0]) + 0.3 : -std::fabs(t.x[i][0]) - 0.3;
  const Dataset data = stored(sorted(t));
  for (const double norm : {1.0, 1.5, 2.0}) {
    Options options = parse_options({{"norm", Value{norm}}, {"tolerance", Value{1e-4}}});
    const Model known = train(data, options, {});
    options.sample_rows = 800;
    for (const bool dealt : {true, false}) {
      Shards shards(data, 20, dealt);
      const Model found = train_scans(shards, options, {});
      EXPECT_EQ(found.status, Status::optimal) << norm;
      EXPECT_LE(shards.scans, 6);
      EXPECT_LE(found.certificate.lower, known.certificate.upper * (1 + 1e-9));
      EXPECT_GE(found.certificate.upper, known.certificate.lower * (1 - 1e-9));
    }
  }
}

}  // namespace
}  // namespace margin
