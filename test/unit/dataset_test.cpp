// Rows go in and come out as they were, in the smallest form; errors name what was found; memory is given back.
#include "core/data/dataset.hpp"

#include <gtest/gtest.h>

#include <new>

#include "core/base/error.hpp"
#include "margin_problems.hpp"

namespace margin {
namespace {

using namespace reference;

/// Counts live bytes, and fails at one allocation.
class Resource final : public std::pmr::memory_resource {
 public:
  explicit Resource(int fail_at = -1) : left_(fail_at) {}
  std::size_t live = 0;

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    if (left_ > 0 && --left_ == 0) throw std::bad_alloc();
    live += bytes;
    return ::operator new(bytes, std::align_val_t(alignment));
  }
  void do_deallocate(void* p, std::size_t bytes, std::size_t alignment) override {
    live -= bytes;
    ::operator delete(p, std::align_val_t(alignment));
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  int left_;
};

std::vector<double> unpack(const Row& row, int d) {
  std::vector<double> x(at(d), 0.0);
  for (std::int32_t k = 0; k < row.count; ++k) x[at(row.indices != nullptr ? row.indices[k] : k)] = row.value(k);
  return x;
}

template <class F>
Error error_of(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e;
  }
  return Error(ErrorKind::malformed, "nothing was thrown");
}

TEST(Dataset, rows_come_out_as_they_went_in) {
  Random random(5);
  for (const int d : {1, 2, 15, 16, 17, 64, 65, 1000}) {
    Dataset data(Dataset::Outcome::targets);
    std::vector<std::vector<double>> rows;
    for (int i = 0; i < 300; ++i) {
      std::vector<double> x = gaussian_row(random, d);
      const int form = i % 6;
      if (form % 2 == 1)
        for (double& v : x) v = static_cast<float>(v);
      if (form == 2 || form == 3)
        for (double& v : x) v = random.below(20) == 0 ? v : 0.0;
      if (form >= 4) {
        const std::vector<float> narrow(x.begin(), x.end());
        x.assign(narrow.begin(), narrow.end());
        data.append(dense_row(narrow.data(), d), 1.0 * i, 1.0);
      } else {
        data.append(dense_row(x.data(), d), 1.0 * i, 1.0);
      }
      rows.push_back(x);
    }
    ASSERT_EQ(data.rows(), 300);
    ASSERT_EQ(data.dimensions(), d);
    EXPECT_FALSE(data.sparse_input());
    for (int i = 0; i < 300; ++i) {
      EXPECT_EQ(unpack(data.row(i), d), rows[at(i)]);
      EXPECT_EQ(data.target(i), i);
    }
    Real largest = 0;
    for (const auto& x : rows) {
      Real square = 0;
      for (const double v : x) square += static_cast<Real>(v) * v;
      largest = std::max(largest, std::sqrt(square));
    }
    EXPECT_NEAR(data.radius(), static_cast<double>(largest), 1e-13 * static_cast<double>(largest));
  }
}

TEST(Dataset, each_row_is_stored_in_its_smallest_form) {
  Dataset data(Dataset::Outcome::targets);
  std::vector<double> x(40, 0.1);
  data.append(dense_row(x.data(), 40), 0.0);  // 0.1 is no float
  x.assign(40, 0.5);
  data.append(dense_row(x.data(), 40), 0.0);  // 0.5 is
  x.assign(40, 0.0);
  x[3] = 0.1;
  data.append(dense_row(x.data(), 40), 0.0);
  x[3] = -1e300;  // beyond the floats
  data.append(dense_row(x.data(), 40), 0.0);
  x[3] = 2;
  data.append(dense_row(x.data(), 40), 0.0);
  x.assign(40, 1e-310);  // below them
  data.append(dense_row(x.data(), 40), 0.0);
  const bool wide[] = {true, false, true, true, false, true}, sparse[] = {false, false, true, true, true, false};
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(data.row(i).wide, wide[i]) << i;
    EXPECT_EQ(data.row(i).indices != nullptr, sparse[i]) << i;
  }
  EXPECT_EQ(data.row(2).count, 1);
  EXPECT_NEAR(data.density(), (40 + 40 + 1 + 1 + 1 + 40) / 240.0, 1e-15);
}

TEST(Dataset, sparse_rows_and_their_growing_dimensions) {
  Dataset data(Dataset::Outcome::targets);
  const std::int32_t columns[] = {2, 7};
  const double values[] = {0.1, 3};
  const float floats[] = {1.5F, -2};
  data.append(sparse_row(columns, values, 2, 0), 0.0);
  EXPECT_EQ(data.dimensions(), 8.0);
  data.append(sparse_row(columns, floats, 1, 0), 0.0);
  EXPECT_EQ(data.dimensions(), 8.0);
  data.append(sparse_row(columns, values, 0, 0), 0.0);  // a row of zeros
  const std::int32_t far[] = {100};
  data.append(sparse_row(far, floats, 1, 0), 0.0);
  EXPECT_EQ(data.dimensions(), 101);
  EXPECT_TRUE(data.sparse_input());
  EXPECT_EQ(unpack(data.row(0), 8.0), (std::vector<double>{0, 0, 0.1, 0, 0, 0, 0, 3}));
  EXPECT_EQ(data.row(2).count, 0);
  EXPECT_EQ(error_of([&] { data.append(sparse_row(columns, values, 2, 50), 0.0); }).kind(),
            ErrorKind::wrong_dimensions);
  data.append(sparse_row(columns, values, 2, 200), 0.0);  // now the number is stated
  EXPECT_EQ(data.dimensions(), 200);
  const std::int32_t beyond[] = {200};
  EXPECT_EQ(error_of([&] { data.append(sparse_row(beyond, values, 1, 0), 0.0); }).message(),
            "feature 201 is beyond the stated 200 features");
  EXPECT_EQ(data.rows(), 5.0);
}

TEST(Dataset, errors_say_what_was_found) {
  Dataset data(Dataset::Outcome::targets);
  const double good[] = {1, 2, 3};
  data.append(dense_row(good, 3), 0.0);
  const Error shorter = error_of([&] { data.append(dense_row(good, 2), 0.0); });
  EXPECT_EQ(shorter.kind(), ErrorKind::wrong_dimensions);
  EXPECT_EQ(shorter.message(), "expected 3 features, not 2");
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  const std::pair<double, std::string> bad[] = {{nan, "NaN"}, {inf, "Infinity"}, {-inf, "-Infinity"}};
  for (const auto& [value, name] : bad) {
    const double x[] = {1, value, 3};
    const float f[] = {1, static_cast<float>(value), 3};
    const std::int32_t columns[] = {0, 1, 2};
    for (const Error& e :
         {error_of([&] { data.append(dense_row(x, 3), 0.0); }), error_of([&] { data.append(dense_row(f, 3), 0.0); }),
          error_of([&] { data.append(sparse_row(columns, x, 3, 3), 0.0); }),
          error_of([&] { data.append(sparse_row(columns, f, 3, 3), 0.0); })}) {
      EXPECT_EQ(e.kind(), ErrorKind::invalid_value);
      EXPECT_EQ(e.message(), "feature 2 is " + name + ", expected a finite number");
    }
  }
  EXPECT_EQ(data.rows(), 1);  // nothing of the bad rows remains
  data.append(dense_row(good, 3), 1.0);
  EXPECT_EQ(data.target(1), 1.0);
}

TEST(Dataset, a_label_is_of_the_kind_of_the_others) {
  const double x[] = {1};
  Dataset classes(Dataset::Outcome::classes), targets(Dataset::Outcome::targets);
  EXPECT_EQ(error_of([&] { classes.append(dense_row(x, 1), 0.5); }).kind(), ErrorKind::wrong_type);
  EXPECT_EQ(error_of([&] { targets.append(dense_row(x, 1), 1); }).kind(), ErrorKind::wrong_type);
}

TEST(Dataset, weights_are_kept_only_where_one_differs_from_1) {
  Dataset data(Dataset::Outcome::targets);
  const double x[] = {1};
  data.append(dense_row(x, 1), 0.0);
  data.append(dense_row(x, 1), 0.0, 1.0);
  EXPECT_FALSE(data.weighted());
  EXPECT_EQ(data.weight(1), 1.0);
  data.append(dense_row(x, 1), 0.0, 0.5);
  data.append(dense_row(x, 1), 0.0);
  EXPECT_TRUE(data.weighted());
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(data.weight(i), i == 2 ? 0.5 : 1.0);
  }
}

TEST(ClassTable, classes_are_sorted_as_their_type_is) {
  const auto sorted = [](const std::vector<std::pair<std::string, double>>& labels) {
    ClassTable table(std::pmr::get_default_resource());
    for (const auto& [name, key] : labels) table.intern(name, key);
    for (const auto& [name, key] : labels) {
      EXPECT_EQ(std::string_view(table.name(table.intern(name, key))), name);
    }
    std::vector<std::string> out(labels.size());
    const std::vector<std::int32_t> ranks = table.ranks();
    for (std::size_t i = 0; i < labels.size(); ++i) out[at(ranks[i])] = labels[i].first;
    return out;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(sorted({{"true", 1}, {"false", 0}}), (Names{"false", "true"}));
  EXPECT_EQ(sorted({{"10", 10}, {"9", 9}, {"-2", -2}, {"-10", -10}, {"0", 0}}), (Names{"-10", "-2", "0", "9", "10"}));
  const double big = 9007199254740992.0;
  EXPECT_EQ(sorted({{"9007199254740993", big}, {"9007199254740992", big}, {"5", 5}}),
            (Names{"5", "9007199254740992", "9007199254740993"}));
  EXPECT_EQ(sorted({{"-9007199254740992", -big}, {"-9007199254740993", -big}, {"3", 3}}),
            (Names{"-9007199254740993", "-9007199254740992", "3"}));
  EXPECT_EQ(sorted({{"b", 0}, {"ab", 0}, {"a", 0}, {"ä", 0}, {"B", 0}}), (Names{"B", "a", "ab", "b", "ä"}));
  EXPECT_EQ(sorted({{"happy", 3}, {"sad", 1}, {"ok", 2}}), (Names{"sad", "ok", "happy"}));  // an enum's positions
}

TEST(Dataset, bytes_count_what_is_held) {
  for (const int d : {3, 100}) {
    Resource memory;
    Dataset data(Dataset::Outcome::classes, &memory);
    Random random(3);
    for (int i = 0; i < 2000; ++i) data.append(dense_row(gaussian_row(random, d).data(), d), 0);
    EXPECT_GE(data.bytes(), 2000U * static_cast<std::size_t>(d) * 8);
    EXPECT_LE(data.bytes(), memory.live);
    EXPECT_GE(static_cast<double>(data.bytes()), 0.95 * static_cast<double>(memory.live));
    EXPECT_LE(static_cast<double>(data.bytes()), 2.5 * 2000 * (d * 8 + 12) + 4096);
  }
}

TEST(Dataset, gives_its_memory_back_also_when_an_allocation_fails) {
  const Rows rows = gaussian_rows(4, 200, 20, 0.0, 4);
  int failures = 0;
  for (int k = 1;; ++k) {
    Resource memory(k);
    try {
      Dataset data = make_dataset(rows, k % 2 == 0 ? Storage::doubles : Storage::sparse, &memory);
      EXPECT_GT(memory.live, 0U);
      const Dataset moved = std::move(data);
      EXPECT_EQ(moved.rows(), 200);
    } catch (const std::bad_alloc&) {
      ++failures;
      EXPECT_EQ(memory.live, 0U);
      continue;
    }
    EXPECT_EQ(memory.live, 0U);
    if (k % 2 == 1) break;
  }
  EXPECT_GT(failures, 20);
}

TEST(Dataset, a_row_whose_norm_overflows_is_refused_by_its_number) {
  Dataset data(Dataset::Outcome::classes);
  const double large[] = {1.5e308, 1.5e308}, fine[] = {1.5e308, 0};
  const std::int32_t columns[] = {3, 7};
  data.append(dense_row(fine, 2), 0, 1);
  for (const bool sparse : {false, true}) {
    Dataset rows(Dataset::Outcome::classes);
    const double ones[] = {1, 1};
    rows.append(sparse_row(columns, ones, 2, 8), 0, 1);
    std::string said;
    try {
      if (sparse)
        rows.append(sparse_row(columns, large, 2, 8), 0, 1);
      else
        data.append(dense_row(large, 2), 0, 1);
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::invalid_value);
      said = e.message();
    }
    EXPECT_NE(said.find("row 2 overflows"), std::string::npos) << said;
  }
}

}  // namespace
}  // namespace margin
