// Sums as SQL have the order of the loops that scores are taken with, and nothing that is quoted ends its quotes.
#include "core/formats/sql_terms.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "core/simd/plain_dot.hpp"

namespace margin {
namespace {

/// Evaluates sums of names `t0`, `t1`, ... with parentheses, from the left, as SQL does.
class Sums {
 public:
  Sums(const std::string& text, const std::vector<double>& terms) : text_(text), terms_(terms) {}
  double value() {
    double sum = term();
    while (at_ + 3 <= text_.size() && text_.compare(at_, 3, " + ") == 0) {
      at_ += 3;
      sum += term();
    }
    return sum;
  }
  bool whole() const { return at_ == text_.size(); }

 private:
  double term() {
    if (text_[at_] == '(') {
      ++at_;
      const double inner = value();
      EXPECT_EQ(text_[at_], ')');
      ++at_;
      return inner;
    }
    EXPECT_EQ(text_[at_], 't');
    std::size_t length = 0;
    const auto number = static_cast<std::size_t>(std::stoul(text_.substr(at_ + 1), &length));
    at_ += 1 + length;
    return terms_[number];
  }
  const std::string& text_;
  const std::vector<double>& terms_;
  std::size_t at_ = 0;
};

TEST(SqlTerms, SumsHaveTheOrderOfScores) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  std::int32_t other = 0;  // sums from the left would have had other bits
  for (std::size_t n = 1; n <= 150; ++n)
    for (const bool few : {false, true}) {
      std::vector<double> x(n), w(n), products(n);
      for (std::size_t j = 0; j < n; ++j) {
        x[j] = normal(random) * std::exp(5 * normal(random));
        w[j] = few && normal(random) < 0.5 ? 0 : normal(random);
        products[j] = plain_product(x[j], w[j]);
      }
      const SqlSum sum = sql_sum(n, [&](std::size_t j) { return w[j] == 0 ? "" : "t" + std::to_string(j); });
      const double expected = plain_dots().of_doubles(x.data(), w.data(), n);
      if (sum.text.empty()) {
        EXPECT_EQ(expected, 0);
        continue;
      }
      Sums found(sum.text, products);
      EXPECT_EQ(found.value(), expected) << sum.text;
      EXPECT_TRUE(found.whole());
      double left = 0;
      for (const double p : products) left += p;
      if (left != expected) ++other;
      const SqlSum ordered = sql_sum(n, [&](std::size_t j) { return "t" + std::to_string(j); }, true);
      Sums from_left(ordered.text, products);
      EXPECT_EQ(from_left.value(), left);
    }
  EXPECT_GT(other, 50);
}

TEST(SqlTerms, NothingEndsItsQuotes) {
  EXPECT_EQ(sql_identifier("a\"; DROP TABLE t; --"), "\"a\"\"; DROP TABLE t; --\"");
  EXPECT_EQ(sql_text("it's"), "'it''s'");
  EXPECT_EQ(sql_text("\\' OR true; --"), "E'\\\\'' OR true; --'");
  EXPECT_EQ(sql_number(0.1), "'0.1'::float8");
  EXPECT_EQ(sql_number(-5e-324), "'-5e-324'::float8");
  EXPECT_EQ(sql_number(-0.0), "'-0'::float8");
}

}  // namespace
}  // namespace margin
