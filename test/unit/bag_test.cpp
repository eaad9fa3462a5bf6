// A bag keeps the longest beginning of its rows, by their keys, that fits, however they come.
#include "core/scans/wire/bag.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/random.hpp"
#include "core/scans/wire/term.hpp"

namespace margin {
namespace {

struct Given {
  double key;
  std::vector<double> x;
  std::string label;
};

void add(Bag& bag, const Given& row) {
  Term t;
  t.x = dense_row(row.x.data(), static_cast<std::int32_t>(row.x.size()));
  t.label = row.label;
  bag.add(t, row.key);
}

/// (key, bytes) of what it keeps, in order.
using Kept = std::vector<std::pair<double, std::string>>;
Kept kept(Bag& bag) {
  bag.sort();
  Kept rows;
  for (std::int64_t i = 0; i < bag.rows(); ++i) rows.emplace_back(bag.key(i), bag.row_bytes(i));
  return rows;
}

/// By sorting all of them.
Kept expected(const std::vector<Given>& rows, std::int64_t most_rows, std::int64_t most_bytes, std::int64_t most_small,
              bool& complete) {
  Bag all(static_cast<std::int64_t>(rows.size()), 1 << 30);
  for (const Given& row : rows) add(all, row);
  Kept sorted = kept(all), first;
  std::int64_t bytes = 0;
  for (auto& row : sorted) {
    bytes += static_cast<std::int64_t>(row.second.size());
    const auto count = static_cast<std::int64_t>(first.size());
    if ((count >= most_rows && (count >= most_small || row.first >= Bag::small_key)) || bytes > most_bytes) break;
    first.push_back(std::move(row));
  }
  complete = first.size() == sorted.size();
  return first;
}

TEST(Bag, KeepsTheLongestBeginningThatFits) {
  Random random(2);
  for (int round = 0; round < 300; ++round) {
    std::vector<Given> rows(random.next() % 400);
    for (Given& row : rows) {
      row.key = static_cast<double>(random.next() % 50);  // with ties
      if (round % 2 == 0) row.key *= Bag::small_key / 25;
      row.x.assign(random.next() % 7, static_cast<double>(random.next() % 3));
      row.label.assign(random.next() % 5, 'a');
    }
    const auto most_rows = static_cast<std::int64_t>(random.next() % 60);
    const auto most_bytes = static_cast<std::int64_t>(random.next() % 3 == 0 ? random.next() % 4000 : 1 << 20);
    const auto most_small = static_cast<std::int64_t>(random.next() % 3 == 0 ? 0 : random.next() % 200);
    bool complete;
    const Kept wanted = expected(rows, most_rows, most_bytes, most_small, complete);
    Bag whole(most_rows, most_bytes, most_small), parts[3] = {whole, whole, whole}, merged = whole, back;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      add(whole, rows[i]);
      add(parts[i * i % 3], rows[rows.size() - 1 - i]);
    }
    for (const Bag& part : parts) merged.merge(part, {});
    ByteWriter out;
    merged.write(out, {});
    ByteReader in(out.bytes(), "bag");
    back.read(in, {});
    for (Bag* const bag : {&whole, &merged, &back}) {
      EXPECT_EQ(bag->complete(), complete) << round;
      EXPECT_EQ(kept(*bag), wanted) << round;
      std::int64_t bytes = 0;
      for (const auto& row : wanted) bytes += static_cast<std::int64_t>(row.second.size());
      EXPECT_EQ(bag->bytes(), bytes) << round;
    }
  }
}

// Bytes of somebody's: more rows than most_rows are to have small keys, all of them.
TEST(Bag, RefusesMoreRowsThanItMayHold) {
  Bag grown(2, 1 << 20, 8);
  for (int k = 0; k < 5; ++k) add(grown, {1e-3 * k, {1.0, 2.0}, "a"});
  ASSERT_EQ(grown.rows(), 5);
  ByteWriter out;
  grown.write(out, {});
  const std::string sound = std::move(out.bytes());
  const auto reads = [](const std::string& bytes) {
    ByteReader in(bytes, "bag");
    Bag back;
    back.read(in, {});
    return back.rows();
  };
  EXPECT_EQ(reads(sound), 5);
  std::string bytes = sound;
  const double last = 4e-3, large = Bag::small_key;
  const std::size_t at = bytes.find(std::string(reinterpret_cast<const char*>(&last), sizeof last));
  ASSERT_NE(at, std::string::npos);
  std::memcpy(bytes.data() + at, &large, sizeof large);
  EXPECT_THROW(reads(bytes), Error);
  bytes = sound;
  const std::int64_t few = 4;
  std::memcpy(bytes.data() + 16, &few, sizeof few);  // most_small
  EXPECT_THROW(reads(bytes), Error);
}

}  // namespace
}  // namespace margin
