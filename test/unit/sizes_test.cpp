// Sizes that somebody stated, features in use, and rows without a value, which stay sparse wherever rows are placed anew.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <set>

#include "core/analysis/model_ball.hpp"
#include "core/base/checked_size.hpp"
#include "core/base/random.hpp"
#include "core/consequences/audit/kink_rows.hpp"
#include "core/data/nonzeros.hpp"
#include "core/model/column_space.hpp"
#include "core/scans/row_terms.hpp"
#include "core/scans/wire/answer.hpp"
#include "risk_problems.hpp"

namespace margin {
namespace {

TEST(CheckedSize, NeverOverflows) {
  constexpr std::int64_t most = CheckedSize::most, huge = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ((CheckedSize(3) + 4 * CheckedSize(5)).index("it", "parts"), 23);
  EXPECT_EQ(CheckedSize(most).index("it", "parts"), most);
  EXPECT_EQ((CheckedSize(0) * CheckedSize(huge)).index("it", "parts"), 0);
  for (const CheckedSize size :
       {CheckedSize(most) + 1, CheckedSize(-1), CheckedSize(huge) + huge, CheckedSize(huge) * huge,
        CheckedSize(most) * most * most * most, CheckedSize(huge) + CheckedSize(-1)}) {
    EXPECT_FALSE(size.fits(most));
    EXPECT_THROW(size.index("it", "parts"), Error);
  }
}

TEST(FeatureSet, HasTheFeaturesOfAllRowsInAnyOrderAndNumberOfParts) {
  Random random(3);
  for (int trial = 0; trial < 40; ++trial) {
    FeatureSet parts[3];
    std::set<std::int32_t> expected;
    for (int i = 0; i < 600; ++i) {
      std::set<std::int32_t> row;
      for (std::uint64_t k = random.below(40); k > 0; --k)
        row.insert(static_cast<std::int32_t>(random.below(trial % 2 == 0 ? 100000 : 2147483647)));
      const std::vector<std::int32_t> indices(row.begin(), row.end());
      const std::vector<double> values(indices.size(), 1.0);
      parts[random.below(3)].add(
          sparse_row(indices.data(), values.data(), static_cast<std::int32_t>(indices.size()), 0));
      expected.insert(row.begin(), row.end());
    }
    parts[1].merge(parts[2]);
    parts[0].merge(parts[1]);
    const std::vector<std::int32_t> all(expected.begin(), expected.end());
    EXPECT_EQ(parts[0].features(), all);
    ByteWriter out;
    parts[0].write(out);
    FeatureSet back;
    ByteReader in(out.bytes(), "set");
    back.read(in, 2147483647);
    EXPECT_EQ(back.features(), all);
    ByteReader again(out.bytes(), "set");
    EXPECT_THROW(FeatureSet().read(again, all.back()), Error);
    const double one = 1;
    back.add(dense_row(&one, 1));
    EXPECT_TRUE(back.all());
    parts[0].merge(back);
    EXPECT_TRUE(parts[0].all());
  }
}

TEST(RowsWithoutValues, StaySparse) {
  const double zeros[] = {0, 0, 0};
  const float narrow_zeros[] = {0, 0, 0};
  const std::vector<double> none;
  const FeatureRow empty = sparse_row(nullptr, none.data(), 0, 100), other = sparse_row(&no_indices, zeros, 1, 100);
  Model m;
  m.columns = {3, 7};
  m.weights = Weights::Ones(1, 2);
  m.intercept = Eigen::VectorXd::Zero(1);
  m.dimensions = 100;
  OwnColumns own(m);
  ColumnSpace space(scorer_of(m));
  NonZeros wide, narrow;
  KinkRows kinks(4, 8);
  kinks.add(empty, {0.5, 1, 1, 0, 0, 0, 0});
  for (const Row& x : {Row(own.place(empty)), Row(space.place(empty)), wide.of(dense_row(zeros, 3), 0.5),
                       narrow.of(dense_row(narrow_zeros, 3), 0.5), kinks.values(kinks.rows()[0])}) {
    EXPECT_NE(x.indices, nullptr);
    EXPECT_EQ(x.count, 0);
  }
  const Row placed = own.place(other);
  EXPECT_NE(placed.indices, nullptr);
  EXPECT_TRUE(own.all());  // a stored 0 is nothing
  double score = 1;
  margin::score(scorer_of(m), empty, 100, &score);
  EXPECT_EQ(score, 0);
}

/// The feature behind the last one of an index of 2³¹ − 1 has no number: terms and states that have one are none.
TEST(Term, HasNoFeatureBehindTheLastNumber) {
  Question q;
  q.outcome = Dataset::Outcome::targets;
  q.sums = true;
  q.bag_rows = 2;
  q.bag_bytes = 1 << 16;
  RowTerms terms(q);
  for (const std::int32_t last : {2147483646, 2147483647}) {
    const double one = 1;
    const std::int32_t index = 5;
    const Term& term = terms.term(sparse_row(&index, &one, 1, 0), {{}, 0, false, 1, 1}, -1, 1);
    Answer answer;
    answer.add(term);
    for (std::string bytes : {term_bytes(term), answer.bytes()}) {
      const bool is_term = bytes == term_bytes(term);
      // The index is the only 5 behind a value of 1, as an int32.
      const std::string before("\0\0\0\0\0\0\xf0\x3f\5\0\0\0", 12);
      const std::size_t at = bytes.rfind(before);
      ASSERT_NE(at, std::string::npos);
      std::memcpy(bytes.data() + at + 8, &last, 4);
      const auto read = [&] { is_term ? (void)read_term(bytes) : (void)Answer::from_bytes(bytes, {}); };
      if (last == 2147483647) {
        EXPECT_THROW(read(), Error);
      } else if (is_term) {
        EXPECT_NO_THROW(read());
      }
    }
  }
}

/// A question about columns of wide rows answers as one about rows of these columns alone.
TEST(Question, AboutColumnsSeesRowsInThem) {
  Random random(9);
  for (int trial = 0; trial < 60; ++trial) {
    Question narrow;
    narrow.kind = Question::Kind::risk;
    narrow.outcome = Dataset::Outcome::classes;
    narrow.class_names = {"a", "b"};
    if (trial % 3 == 0) narrow.class_names.push_back("c");
    narrow.classes = static_cast<std::int32_t>(narrow.class_names.size());
    narrow.task = narrow.classes > 2 ? Task::multiclass : Task::binary;
    narrow.loss = make_loss(trial % 2 == 0 ? "logistic" : "hinge", Options{});
    narrow.lambda = 0.1;
    narrow.dimensions = 4;
    narrow.curvature = true;
    narrow.bag_rows = 3;
    narrow.bag_bytes = 1 << 16;
    narrow.weights = Weights(narrow.outputs(), 4);
    narrow.intercepts = Eigen::VectorXd(narrow.outputs());
    for (double& v : narrow.weights.reshaped()) v = testing::normal(random);
    for (double& v : narrow.intercepts) v = testing::normal(random);
    Question wide = narrow;
    wide.columns = {5, 1000, 1431655765, 2147483646};
    wide.dimensions = 2147483647;
    EXPECT_EQ(Question::from_bytes(wide.bytes()).bytes(), wide.bytes());
    Question bad = wide;
    bad.columns[1] = bad.columns[0];
    EXPECT_THROW(Question::from_bytes(bad.bytes()), Error);
    RowTerms of_narrow(narrow), of_wide(Question::from_bytes(wide.bytes()));
    Answer left, right;
    for (int i = 0; i < 30; ++i) {
      std::vector<std::int32_t> indices, columns;
      std::vector<double> values;
      for (std::int32_t j = 0; j < 4; ++j) {
        if (random.below(3) == 0 || i % 10 == 0) continue;
        indices.push_back(j);
        columns.push_back(wide.columns[static_cast<std::size_t>(j)]);
        values.push_back(testing::normal(random));
      }
      const auto n = static_cast<std::int32_t>(values.size());
      const auto label = static_cast<std::int32_t>(random.below(narrow.class_names.size()));
      left.add(of_narrow.term(sparse_row(indices.data(), values.data(), n, 4), {}, label, 1));
      right.add(of_wide.term(sparse_row(columns.data(), values.data(), n, 2147483647), {}, label, 1));
    }
    EXPECT_EQ(left.numbers(), right.numbers());
    EXPECT_EQ(left.sums(), right.sums());
    EXPECT_EQ(left.dimensions(), right.dimensions());
    const std::int32_t unknown = 6;
    const double one = 1;
    EXPECT_THROW(of_wide.term(sparse_row(&unknown, &one, 1, 2147483647), {}, 0, 1), Error);
  }
}

/// A summary of wide rows has no sums of what they declare, but tells the features in use.
TEST(Question, SummaryOfWideRowsTellsTheirFeatures) {
  Question q;
  q.outcome = Dataset::Outcome::targets;
  q.curvature = q.sums = true;
  q.bag_rows = 2;
  q.bag_bytes = 1 << 16;
  RowTerms terms(q);
  Answer parts[2];
  for (std::int32_t i = 0; i < 20; ++i) {
    const std::int32_t indices[] = {i, i < 10 ? 50 : 2147483646};  // narrow rows first
    const double values[] = {1, 2};
    parts[i % 2].add(terms.term(sparse_row(indices, values, 2, 0), {{}, 0, false, 1, 1}, -1, 1));
  }
  Answer back = Answer::from_bytes(parts[1].bytes(), {});
  parts[0].merge(back);
  std::vector<std::int32_t> expected;
  for (std::int32_t i = 0; i < 20; ++i) expected.push_back(i);
  expected.insert(expected.end(), {50, 2147483646});
  EXPECT_EQ(parts[0].features().features(), expected);
  EXPECT_FALSE(parts[0].has_sums());
  EXPECT_EQ(parts[0].sums().cols(), 0);
  EXPECT_LT(parts[0].bytes().size(), 20000U);
  EXPECT_EQ(Answer::from_bytes(parts[0].bytes(), {}).bytes(), parts[0].bytes());
}

}  // namespace
}  // namespace margin
