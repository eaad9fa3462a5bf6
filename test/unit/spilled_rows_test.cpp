// Rows in a BlockStore: they are the rows that came, solvers find what they find in memory, epochs of coordinate ascent
// stay near where they are, and every byte is given back.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <new>
#include <set>

#include "core/base/error.hpp"
#include "core/data/column_map.hpp"
#include "core/data/dataset.hpp"
#include "core/data/kept_rows.hpp"
#include "core/problem/standardize.hpp"
#include "core/scans/train_scans.hpp"
#include "core/solvers/sdca/shuffle.hpp"
#include "core/train/train.hpp"
#include "margin_problems.hpp"

namespace margin {
namespace {

using namespace reference;

/// Keeps a copy of each block from when the next one is asked for, as a file would; fails at one allocation.
class Store final : public BlockStore {
 public:
  explicit Store(std::size_t share, int fail_at = -1) : BlockStore(share, 4096), left_(fail_at) {}
  ~Store() { EXPECT_EQ(live(), 0U); }

  std::size_t live() const { return blocks_.size(); }
  bool unchanged() const {
    for (const auto& [at, copy] : written_)
      if (std::memcmp(at, copy.data(), copy.size()) != 0) return false;
    return true;
  }
  int handed_out = 0;

  char* allocate(std::size_t bytes) override {
    if (left_ > 0 && --left_ == 0) throw std::bad_alloc();
    if (open_ != nullptr) written_[open_].assign(open_, open_ + blocks_[open_]);
    auto* const at = static_cast<char*>(::operator new(bytes, std::align_val_t(64)));
    std::memset(at, 0, bytes);
    blocks_[at] = bytes;
    open_ = at;
    ++handed_out;
    return at;
  }
  void release(char* at, std::size_t bytes) noexcept override {
    EXPECT_EQ(blocks_.at(at), bytes);
    blocks_.erase(at);
    written_.erase(at);
    if (open_ == at) open_ = nullptr;
    ::operator delete(at, std::align_val_t(64));
  }

 private:
  std::map<char*, std::size_t> blocks_;
  std::map<char*, std::vector<char>> written_;
  char* open_ = nullptr;
  int left_;
};

/// Counts live bytes.
class Memory final : public std::pmr::memory_resource {
 public:
  std::size_t live = 0;

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    live += bytes;
    return ::operator new(bytes, std::align_val_t(alignment));
  }
  void do_deallocate(void* p, std::size_t bytes, std::size_t alignment) override {
    live -= bytes;
    ::operator delete(p, std::align_val_t(alignment));
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

/// Rows in all four forms: dense or sparse, float or double.
void append_mixed(Dataset& data, std::uint64_t seed, int n, int d) {
  Random random(seed);
  for (int i = 0; i < n; ++i) {
    std::vector<double> x = gaussian_row(random, d);
    if (i % 4 >= 2)
      for (int j = 0; j < d; ++j)
        if (j % 20 != i % 20) x[at(j)] = 0;
    if (i % 2 == 1)
      for (double& v : x) v = static_cast<float>(v);
    data.append(dense_row(x.data(), d), x[at(i % d)] > 0 ? 1.5 : -1.0, 1.0 + i % 3);
  }
}

/// 20,000 rows of 800 bytes, or 15 stretches.
Dataset long_rows(BlockStore* store) {
  Dataset data(Dataset::Outcome::targets, std::pmr::get_default_resource(), store);
  std::vector<float> x(200);
  for (int i = 0; i < 20000; ++i) {
    for (float& v : x) v = static_cast<float>(i + 1);
    data.append(dense_row(x.data(), 200), 1.0);
  }
  return data;
}

void expect_same(const Dataset& a, const Dataset& b) {
  ASSERT_EQ(a.rows(), b.rows());
  EXPECT_EQ(a.dimensions(), b.dimensions());
  EXPECT_EQ(a.radius(), b.radius());
  EXPECT_EQ(a.density(), b.density());
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    const Row x = a.row(i), y = b.row(i);
    ASSERT_EQ(x.count, y.count);
    ASSERT_EQ(x.wide, y.wide);
    ASSERT_EQ(x.indices == nullptr, y.indices == nullptr);
    for (std::int32_t k = 0; k < x.count; ++k) {
      ASSERT_EQ(x.value(k), y.value(k));
      if (x.indices != nullptr) {
        ASSERT_EQ(x.indices[k], y.indices[k]);
      }
    }
    ASSERT_EQ(a.target(i), b.target(i));
    ASSERT_EQ(a.weight(i), b.weight(i));
  }
}

TEST(SpilledRows, are_the_rows_that_came) {
  for (const std::size_t share : {0, 1000, 10000, 100000}) {
    Store store(share);
    Memory memory;
    Dataset data(Dataset::Outcome::targets, &memory, &store), in_memory(Dataset::Outcome::targets);
    append_mixed(data, 7, 500, 60);
    append_mixed(in_memory, 7, 500, 60);
    EXPECT_TRUE(data.spilled());
    EXPECT_FALSE(in_memory.spilled());
    EXPECT_GT(data.feature_bytes(), share);
    EXPECT_EQ(data.bytes(), data.array_bytes());
    expect_same(data, in_memory);
    EXPECT_TRUE(store.unchanged());
    // What stays in memory is what a row takes besides its features: in no case a block.
    EXPECT_LT(memory.live, data.array_bytes() + 8192);
    std::vector<std::int64_t> every_third;
    for (std::int64_t i = 0; i < data.rows(); i += 3) every_third.push_back(i);
    const int before = store.handed_out;
    const Dataset part = data.subset(every_third);
    EXPECT_TRUE(part.spilled());
    expect_same(part, in_memory.subset(every_third));
    EXPECT_EQ(store.handed_out, before);
  }
}

TEST(SpilledRows, below_the_share_nothing_is_asked_of_the_store) {
  Store store(1000000);
  Dataset data(Dataset::Outcome::targets, std::pmr::get_default_resource(), &store);
  append_mixed(data, 7, 500, 60);
  EXPECT_FALSE(data.spilled());
  EXPECT_EQ(store.handed_out, 0);
  EXPECT_GT(data.bytes(), data.array_bytes() + 60000);
}

TEST(SpilledRows, a_row_larger_than_a_block_gets_its_own) {
  Store store(10000);
  Dataset data(Dataset::Outcome::targets, std::pmr::get_default_resource(), &store),
      in_memory(Dataset::Outcome::targets);
  append_mixed(data, 8, 12, 3000);
  append_mixed(in_memory, 8, 12, 3000);
  EXPECT_TRUE(data.spilled());
  expect_same(data, in_memory);
}

TEST(SpilledRows, are_given_back_also_when_the_store_fails) {
  int failures = 0;
  for (int k = 1;; ++k) {
    Store store(20000, k);
    Memory memory;
    bool failed = false;
    try {
      Dataset data(Dataset::Outcome::targets, &memory, &store);
      append_mixed(data, 9, 300, 60);
      const Dataset moved = std::move(data);
      EXPECT_EQ(moved.rows(), 300);
    } catch (const std::bad_alloc&) {
      failed = true;
      ++failures;
    }
    EXPECT_EQ(memory.live, 0U);
    EXPECT_EQ(store.live(), 0U);
    if (!failed) break;
  }
  EXPECT_GT(failures, 5);
}

TEST(SpilledRows, copies_of_them_spill_too) {
  Store store(0);
  Dataset data(Dataset::Outcome::targets, std::pmr::get_default_resource(), &store),
      in_memory(Dataset::Outcome::targets);
  append_mixed(data, 7, 500, 60);
  append_mixed(in_memory, 7, 500, 60);
  ColumnMap map(60);
  for (std::int32_t j = 0; j < 60; ++j) map.insert(j);
  map.rank();
  const Dataset copy = data.with_columns(map, Progress(), true);
  EXPECT_TRUE(copy.spilled());
  expect_same(copy, in_memory.with_columns(map, Progress()));
  Options options;
  options.standardize = true;
  MemoryBudget little(20000);  // for labels and addresses, not for another 100 kB of features
  const StandardizedRows standardized(data, options, Progress(), little);
  MemoryBudget much(-1);
  const StandardizedRows reference(in_memory, options, Progress(), much);
  EXPECT_TRUE(standardized.rows().spilled());
  EXPECT_FALSE(reference.rows().spilled());
  expect_same(standardized.rows(), reference.rows());
  EXPECT_LT(little.left_or(-1), 12000);  // the copy's arrays are counted
  MemoryBudget none(100);
  EXPECT_THROW(StandardizedRows(data, options, Progress(), none), Error);
  // Where only the copy is too large, only the copy spills.
  Store room(1000000);
  Dataset small(Dataset::Outcome::targets, std::pmr::get_default_resource(), &room);
  append_mixed(small, 7, 500, 60);
  MemoryBudget some(60000);
  EXPECT_TRUE(StandardizedRows(small, options, Progress(), some).rows().spilled());
}

TEST(SpilledRows, those_that_are_kept_are_copies_of_the_same_form) {
  for (const std::size_t share : {200000, 50000, 0}) {  // room for all copies, some, none
    Store store(share);
    Dataset data(Dataset::Outcome::targets, std::pmr::get_default_resource(), &store);
    append_mixed(data, 7, 1500, 60);
    data.spill();
    KeptRows kept(data);
    std::vector<std::int64_t> rows;
    for (std::int64_t i = 1; i < data.rows(); i += 17) {
      rows.push_back(i);
      kept.add(i);
    }
    ASSERT_EQ(kept.size(), rows.size());
    std::size_t copies = 0;
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const Row x = kept[k], y = data.row(rows[k]);
      ASSERT_EQ(x.count, y.count);
      ASSERT_EQ(x.wide, y.wide);
      ASSERT_EQ(x.indices == nullptr, y.indices == nullptr);
      copies += x.values != y.values;
      for (std::int32_t j = 0; j < x.count; ++j) {
        ASSERT_EQ(x.value(j), y.value(j));
        if (x.indices != nullptr) {
          ASSERT_EQ(x.indices[j], y.indices[j]);
        }
      }
    }
    EXPECT_EQ(copies == rows.size(), share == 200000);
    EXPECT_EQ(copies == 0, share == 0);
  }
  const Dataset in_memory = long_rows(nullptr);
  KeptRows kept(in_memory);
  kept.add(3);
  EXPECT_EQ(kept[0].values, in_memory.row(3).values);
}

TEST(SpilledRows, have_the_models_of_rows_in_memory) {
  const Rows rows = clouds(94, 3000, 40);
  Store store(50000);
  Dataset data(Dataset::Outcome::classes, std::pmr::get_default_resource(), &store),
      in_memory(Dataset::Outcome::classes);
  for (Dataset* d : {&data, &in_memory})
    for (int i = 0; i < rows.count(); ++i)
      d->append(dense_row(rows.x[at(i)].data(), 40), d->classes().intern(rows.y[at(i)] == 1 ? "b" : "a", 0));
  ASSERT_TRUE(data.spilled());
  for (const char* solver : {"cutting_plane", "newton", "sdca"}) {
    Options s;
    s.solver = solver;
    s.tolerance = 1e-5;
    if (s.solver != "cutting_plane") {
      s.lambda = 1e-3;
      s.loss = "logistic";
    }
    const Model a = train(data, s, Progress()), b = train(in_memory, s, Progress());
    EXPECT_EQ(a.status, Status::optimal);
    EXPECT_EQ(b.status, Status::optimal);
    if (s.solver == "sdca") {  // another order of visits
      EXPECT_NEAR(a.certificate.upper, b.certificate.upper, 2e-5 * std::fabs(b.certificate.upper));
    } else {
      EXPECT_EQ(a.weights, b.weights);
      EXPECT_EQ(a.certificate.lower, b.certificate.lower);
      EXPECT_EQ(a.certificate.upper, b.certificate.upper);
    }
  }
}

std::vector<std::int32_t> visits(const Dataset& data, std::vector<std::int32_t> order, std::uint64_t seed) {
  const Progress progress;
  const Stretches stretches(data, progress);
  Random random(seed);
  Shuffle shuffle(order, random, stretches, progress);
  std::vector<std::int32_t> seen;
  for (std::size_t k = 0; k < order.size(); ++k) seen.push_back(shuffle.settle(k));
  return seen;
}

TEST(SpilledRows, are_scanned_where_a_solver_has_no_room) {
  Store store(4096);
  Dataset data(Dataset::Outcome::targets, std::pmr::get_default_resource(), &store),
      in_memory(Dataset::Outcome::targets);
  Random random(5);
  std::vector<float> x(20);
  for (int i = 0; i < 5000; ++i) {
    for (float& v : x) v = static_cast<float>(random.uniform() - 0.5);
    const double y = x[0] - 2 * x[1] + random.uniform();
    for (Dataset* const d : {&data, &in_memory}) d->append(dense_row(x.data(), 20), y);
  }
  ASSERT_TRUE(data.spilled());
  for (const char* loss : {"squared", "epsilon_insensitive"}) {
    Options options;
    options.loss = loss;
    options.lambda = 1e-2;
    options.tolerance = 1e-4;
    options.sample_rows = 50;
    const MemoryBudget little(20000);
    EXPECT_THROW(train(data, options, {}, little), Error);
    EXPECT_THROW(train_or_scan(in_memory, options, {}, little), Error);
    const Model found = train_or_scan(data, options, {}, MemoryBudget(2e6)), known = train(in_memory, options, {});
    EXPECT_EQ(found.status, Status::optimal);
    EXPECT_NEAR(found.certificate.upper, known.certificate.upper, 1e-3 * known.certificate.upper);
    options.solver = "sdca";
    EXPECT_THROW(train_or_scan(data, options, {}, little), Error) << "a solver that was asked for is not replaced";
  }
}

TEST(SpilledRows, epochs_are_permutations_that_stay_near) {
  Store store(100000);
  const Dataset data = long_rows(&store);
  ASSERT_TRUE(data.spilled());
  const Stretches stretches(data, Progress());
  ASSERT_GE(stretches.count(), 14U);
  std::vector<std::int32_t> all(20000), odd;
  for (std::int32_t i = 0; i < 20000; ++i) {
    all[at(i)] = i;
    if (i % 2 == 1) odd.push_back(i);
  }
  for (const std::vector<std::int32_t>& rows : {all, odd}) {
    std::vector<std::int32_t> order = rows, last;
    for (const std::uint64_t seed : {1, 2, 3}) {
      last = order;
      order = visits(data, order, seed);
      EXPECT_NE(order, last);
      EXPECT_EQ(order, visits(data, last, seed));
      std::vector<std::int32_t> sorted = order;
      std::sort(sorted.begin(), sorted.end());
      EXPECT_EQ(sorted, rows);
      // A window is read as a whole before the next one begins: a stretch has all of its visits between the first and
      // the last visit to any row of the window, and the windows do not overlap.
      std::map<std::size_t, std::pair<std::size_t, std::size_t>> span;  // of each stretch
      for (std::size_t k = 0; k < order.size(); ++k) {
        auto& s = span.emplace(stretches.of(order[k]), std::make_pair(k, k)).first->second;
        s.second = k;
      }
      std::size_t most = 0;
      for (std::size_t k = 0; k < order.size(); k += 100) {
        std::size_t open = 0;
        for (const auto& [stretch, s] : span) open += s.first <= k && k <= s.second;
        most = std::max(most, open);
      }
      EXPECT_LE(most, Shuffle::together);
      EXPECT_GE(most, 2U);
    }
  }
  EXPECT_TRUE(visits(data, {}, 1).empty());
}

/// Counts its polls.
class Polls final : public Progress {
 public:
  Polls() : Progress(1e300) {}
  void poll() const override { ++count; }
  mutable int count = 0;
};

TEST(SpilledRows, every_window_with_a_row_is_heard_of) {
  Store store(100000);
  const Dataset data = long_rows(&store);
  const Stretches stretches(data, Progress());
  std::vector<std::int32_t> few;  // in two of three stretches
  for (std::int32_t i = 0; i < 20000; i += 7)
    if (stretches.of(i) % 3 != 0) few.push_back(i);
  const std::size_t windows = (stretches.count() + Shuffle::together - 1) / Shuffle::together;
  for (std::vector<std::int32_t> order : {few, std::vector<std::int32_t>{19999, 0}, std::vector<std::int32_t>{5}}) {
    const std::size_t rows = order.size();
    Random random(1);
    const Polls polls;
    Shuffle shuffle(order, random, stretches, polls);
    for (std::size_t k = 0; k < rows; ++k) shuffle.settle(k);
    if (rows > 2)
      EXPECT_EQ(polls.count, static_cast<int>(windows) - 1);
    else
      EXPECT_LE(polls.count, static_cast<int>(rows) - 1);
  }
}

TEST(SpilledRows, in_memory_an_epoch_is_one_shuffle_as_ever) {
  const Dataset data = long_rows(nullptr);
  EXPECT_TRUE(Stretches(data, Progress()).none());
  std::vector<std::int32_t> order(20000);
  for (std::int32_t i = 0; i < 20000; ++i) order[at(i)] = i;
  std::vector<std::int32_t> expected = order;
  Random random(5);
  for (std::size_t k = 0; k < expected.size(); ++k)
    std::swap(expected[k], expected[k + random.below(expected.size() - k)]);
  EXPECT_EQ(visits(data, order, 5), expected);
}

}  // namespace
}  // namespace margin
