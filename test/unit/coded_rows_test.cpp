// Rows as codes: the same rows, products, sums and optima as those that they stand for; certificates charge their rounding.
#include "core/data/coded_rows.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "core/base/threads.hpp"
#include "core/certificate/check.hpp"
#include "core/data/columns.hpp"
#include "core/data/pair_histograms.hpp"
#include "core/encoder/row_codes.hpp"
#include "core/encoder/row_table.hpp"
#include "core/solvers/newton/code_blocks.hpp"
#include "newton_problems.hpp"

namespace margin {

extern const Solver& newton;
extern const Solver& newton_cg;

namespace {

using testing::normal;
using testing::soft;
using testing::solve_with;
using testing::Solved;

/// Terms of both kinds, with and without a level of missing ones, and numbers among them.
CodeLayout layout_of(const std::vector<std::pair<std::int32_t, std::int32_t>>& steps_and_indicators,
                     std::int32_t numbers) {
  CodeLayout layout;
  for (const auto& [steps, indicators] : steps_and_indicators) {
    if (numbers-- > 0) layout.numbers.push_back(layout.dimensions++);
    layout.terms.push_back({layout.dimensions, steps, indicators, steps / 3});
    layout.dimensions += steps + indicators;
  }
  return layout;
}

std::shared_ptr<CodedRows> random_rows(Random& random, const CodeLayout& layout, std::int64_t n) {
  auto out = std::make_shared<CodedRows>(layout, n);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::size_t t = 0; t < layout.terms.size(); ++t)
      out->set_code(t, i, static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(layout.terms[t].codes()))));
    for (std::size_t k = 0; k < layout.numbers.size(); ++k) out->set_number(k, i, normal(random));
  }
  return out;
}

/// What the layout says that a row is.
std::vector<double> expanded(const CodedRows& rows, std::int64_t i) {
  const CodeLayout& layout = rows.layout();
  std::vector<double> x(static_cast<std::size_t>(layout.dimensions), 0.0);
  for (std::size_t t = 0; t < layout.terms.size(); ++t) {
    const CodedTerm& term = layout.terms[t];
    const std::int32_t c = rows.code(t, i);
    for (std::int32_t f = 0; f < term.steps; ++f)
      x[static_cast<std::size_t>(term.first + f)] = c <= term.steps ? f < c : f < term.filled;
    if (c > term.steps) x[static_cast<std::size_t>(term.first + c - 1)] = 1;
  }
  for (std::size_t k = 0; k < layout.numbers.size(); ++k)
    x[static_cast<std::size_t>(layout.numbers[k])] = rows.number(k)[i];
  return x;
}

/// The same rows twice, as codes and one by one, with labels that depend on them.
struct Twins {
  Dataset plain, coded;
};
Twins twins(Random& random, std::shared_ptr<CodedRows> codes, const std::string& loss, bool weighted) {
  const bool classes = !is_regression_loss(loss);
  Dataset plain(classes ? Dataset::Outcome::classes : Dataset::Outcome::targets);
  for (int c = 0; classes && c < 2; ++c) plain.classes().intern(std::to_string(c), c);
  std::vector<double> w(static_cast<std::size_t>(codes->layout().dimensions));
  for (double& v : w) v = normal(random) / std::sqrt(static_cast<double>(w.size()));
  const bool counts = make_loss(loss, {})->log_link();
  for (std::int64_t i = 0; i < codes->rows(); ++i) {
    const std::vector<double> x = expanded(*codes, i);
    double score = normal(random);
    for (std::size_t j = 0; j < w.size(); ++j) score += w[j] * x[j];
    const Label label = classes ? Label(static_cast<std::int32_t>(i < 2 ? i : score > 0))
                                : Label(counts ? std::floor(2 * std::fabs(score)) : score);
    plain.append(dense_row(x.data(), codes->layout().dimensions), label,
                 weighted && i > 1 ? random.below(4) * 0.5 : 1.0);
  }
  Dataset coded(plain, std::move(codes));
  return {std::move(plain), std::move(coded)};
}

TEST(CodedRows, AreTheRowsThatTheyStandFor) {
  Random random(1);
  for (const bool numbers : {false, true}) {
    const CodeLayout layout = layout_of({{5, 0}, {0, 3}, {7, 1}, {300, 1}, {0, 400}, {1, 0}}, numbers ? 3 : 0);
    const auto codes = random_rows(random, layout, 300);
    EXPECT_EQ(CodedRows::bytes(layout, 300), 300 * (8 + (numbers ? 24 : 0)));
    const auto some = codes->subset({7, 3, 3, 299}, Progress());
    double radius = 0;
    std::vector<Row> kept;
    for (std::int64_t i = 0; i < 100; ++i) kept.push_back(codes->row(i));
    for (std::int64_t i = 0; i < 100; ++i) {
      const std::vector<double> x = expanded(*codes, i);
      for (std::int32_t j = 0; j < layout.dimensions; ++j)
        ASSERT_EQ(value_at(kept[static_cast<std::size_t>(i)], j), x[static_cast<std::size_t>(j)]) << i << " " << j;
    }
    for (std::int64_t i = 0; i < 300; ++i) radius = std::max(radius, norm(codes->row(i)));
    EXPECT_NEAR(codes->radius(), radius, 1e-12 * radius);
    for (const auto& [at, from] : {std::pair(0, 7), {1, 3}, {2, 3}, {3, 299}})
      EXPECT_EQ(expanded(*some, at), expanded(*codes, from));
  }
}

TEST(CodedRows, ProductsAndSumsAreThoseOfTheRows) {
  Random random(2);
  const CodeLayout layout = layout_of({{5, 0}, {0, 3}, {7, 1}, {300, 1}, {40, 0}, {0, 400}, {1, 0}, {64, 2}}, 3);
  const std::int64_t n = 2500;
  const auto codes = random_rows(random, layout, n);
  const auto d = static_cast<std::size_t>(layout.dimensions);
  std::vector<double> w(d), c(static_cast<std::size_t>(n)), u(c.size()), squares(c.size());
  for (double& v : w) v = normal(random);
  for (double& v : c) v = normal(random);
  RowScores(*codes, w.data()).write(0, n, 0.5, u.data());
  RowSquares(*codes).write(0, n, squares.data());
  std::vector<double> sum(d, 0.0), of_squares(d, 0.0), found(d);
  double mass = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const Row x = codes->row(i);
    const auto at = static_cast<std::size_t>(i);
    EXPECT_NEAR(u[at], dot(x, w.data()) + 0.5, 1e-11);
    EXPECT_NEAR(squares[at], squared_norm(x), 1e-11);
    add(c[at], x, sum.data());
    for (std::int32_t k = 0; k < x.count; ++k)
      of_squares[static_cast<std::size_t>(x.indices[k])] += c[at] * x.value(k) * x.value(k);
    mass += c[at];
  }
  const RowSums sums(*codes);
  for (const bool square : {false, true}) {
    std::vector<double> cells(sums.size(), 0.0);
    sums.add(0, 1000, c.data(), cells.data(), square);
    sums.add(1000, n, c.data() + 1000, cells.data(), square);
    EXPECT_NEAR(sums.features(cells.data(), found.data()), mass, 1e-10);
    for (std::size_t j = 0; j < d; ++j) EXPECT_NEAR(found[j], square ? of_squares[j] : sum[j], 1e-10) << j;
  }
  const std::vector<std::int64_t> which = {5, 2000, 17};
  std::vector<double> cells(sums.size(), 0.0), listed(d, 0.0);
  sums.add(which.data(), which.size(), c.data(), cells.data());
  sums.features(cells.data(), found.data());
  for (std::size_t k = 0; k < which.size(); ++k) add(c[k], codes->row(which[k]), listed.data());
  for (std::size_t j = 0; j < d; ++j) EXPECT_NEAR(found[j], listed[j], 1e-12);
}

TEST(PairHistograms, AreTheSumOfOuterProducts) {
  Random random(3);
  for (const double constant : {0.0, 2.5}) {
    const CodeLayout layout = layout_of({{5, 0}, {0, 3}, {7, 1}, {90, 1}, {0, 300}, {1, 0}, {30, 2}}, 3);
    const std::int64_t n = 700;
    const auto codes = random_rows(random, layout, n);
    std::vector<double> weight(static_cast<std::size_t>(n));
    for (double& v : weight) v = random.uniform();
    const auto d = static_cast<std::size_t>(layout.dimensions), size = d + (constant != 0 ? 1 : 0);
    SymmetricMatrix sum(size);
    sum.set_zero();
    sum.row(0)[1] = 3;
    PairHistograms(*codes, constant).add(weight.data(), 2, sum, Threads::single(), Progress());
    Eigen::MatrixXd wanted = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(size), static_cast<Eigen::Index>(size));
    wanted(0, 1) = 3;
    for (std::int64_t i = 0; i < n; ++i) {
      std::vector<double> x = expanded(*codes, i);
      if (constant != 0) x.push_back(constant);
      const Eigen::Map<Eigen::VectorXd> v(x.data(), static_cast<Eigen::Index>(x.size()));
      wanted += 2 * weight[static_cast<std::size_t>(i)] * v * v.transpose();
    }
    for (std::size_t j = 0; j < size; ++j)
      for (std::size_t k = j; k < size; ++k)
        ASSERT_NEAR(sum.row(j)[k], wanted(static_cast<Eigen::Index>(j), static_cast<Eigen::Index>(k)), 1e-9)
            << j << " " << k;
  }
}

TEST(CodedRows, HaveTheOptimumOfTheRows) {
  Random random(4);
  for (const char* const loss :
       {"logistic", "squared_hinge", "smoothed_hinge", "hinge", "squared", "huber", "absolute", "poisson"})
    for (int trial = 0; trial < 8; ++trial) {
      const CodeLayout layout = layout_of({{6, 0}, {0, 3}, {9, 1}, {0, 2}, {12, 0}}, trial % 3);
      const Twins data = twins(random, random_rows(random, layout, 400), loss, trial % 2 == 1);
      Options s = soft(loss, trial < 4 ? 1e-2 : 1e-4, 1e-10);
      s.intercept = trial % 4 != 3;
      if (trial % 4 == 1 || std::string(loss) == "poisson") s.intercept_form = InterceptForm::free;
      s.intercept = s.intercept || s.intercept_form == InterceptForm::free;
      for (const Solver* const solver : {&newton, &newton_cg}) {
        const Solved a = solve_with(*solver, data.plain, s), b = solve_with(*solver, data.coded, s);
        EXPECT_LE(b.certificate.relative_gap, 1e-9) << loss << " " << trial << " " << solver->name();
        EXPECT_NEAR(a.certificate.upper, b.certificate.upper, 1e-9 * a.certificate.upper) << loss << " " << trial;
        EXPECT_LE(b.certificate.lower, a.certificate.upper);
        EXPECT_LE(a.certificate.lower, b.certificate.upper);
        EXPECT_NEAR(a.certificate.radius, b.certificate.radius, 1e-12 * a.certificate.radius);
      }
    }
}

TEST(CodedRows, GiveTheSameBitsOnAnyThreads) {
  Random random(5);
  const CodeLayout layout = layout_of({{40, 0}, {0, 5}, {33, 1}, {64, 0}, {12, 0}}, 1);
  const Twins data = twins(random, random_rows(random, layout, 60000), "logistic", false);
  const Options s = soft("logistic", 1e-4, 1e-8);
  for (const Solver* const solver : {&newton, &newton_cg}) {
    std::vector<std::vector<double>> found;
    for (const int count : {1, 2, 3}) {
      Threads threads(count);
      const Progress progress(1 << 20, &threads);
      const Problem p = make_problem(data.coded, s);
      const Solution r = solver->solve(p, s, progress);
      const Certificate c = certify(p, r.weights, r.intercept, r.dual, nullptr, progress);
      found.emplace_back(r.weights.data(), r.weights.data() + r.weights.size());
      found.back().insert(found.back().end(), {r.intercept(0), c.lower, c.upper});
    }
    EXPECT_EQ(found[0], found[1]);
    EXPECT_EQ(found[0], found[2]);
  }
}

/// Asked to poll often; notes the longest time between two polls.
class Polled final : public Progress {
 public:
  Polled() : Progress(1 << 20) {}
  void poll() const override {
    const auto now = std::chrono::steady_clock::now();
    longest = std::max(longest, std::chrono::duration<double>(now - last).count());
    last = now;
    if (--left == 0) throw std::runtime_error("cancelled");
  }
  mutable int left = -1;
  mutable double longest = 0;
  mutable std::chrono::steady_clock::time_point last = std::chrono::steady_clock::now();
};

TEST(CodedRows, HearACancel) {
  Random random(6);
  std::vector<std::pair<std::int32_t, std::int32_t>> terms(12, {63, 1});
  const Twins data = twins(random, random_rows(random, layout_of(terms, 1), 30000), "logistic", false);
  const Options s = soft("logistic", 1e-4, 1e-8);
  const Problem p = make_problem(data.coded, s);
  for (const int after : {1, 3, 10, 30}) {
    Polled progress;
    progress.left = after;
    EXPECT_THROW(newton.solve(p, s, progress), std::runtime_error);
  }
  Polled counted;
  const Solution r = newton.solve(p, s, counted);
  EXPECT_LT(counted.left, -50);  // some polls in every pass
  certify(p, r.weights, r.intercept, r.dual, nullptr, counted);
}

// Equal weights make running sums that are rounded to the same side again and again. Targets that the rounded scores meet have no loss
// but that.
TEST(CodedRows, TheRoundingOfRunningSumsIsCharged) {
  Random random(7);
  const CodeLayout layout = layout_of({{1000, 0}}, 0);
  int beyond = 0;
  for (int trial = 0; trial < 20; ++trial) {
    auto codes = std::make_shared<CodedRows>(layout, 64);
    for (std::int64_t i = 0; i < 64; ++i) codes->set_code(0, i, static_cast<std::int32_t>(937 + i));
    std::vector<double> w(1000), u(64);
    std::fill(w.begin(), w.end(), 0.1 + random.uniform());
    RowScores(*codes, w.data()).write(0, 64, 0, u.data());
    Dataset targets(Dataset::Outcome::targets);
    for (std::int64_t i = 0; i < 64; ++i) {
      const std::vector<double> x = expanded(*codes, i);
      targets.append(dense_row(x.data(), 1000), Label(u[static_cast<std::size_t>(i)]));
    }
    const Dataset coded(targets, codes);
    Options s = soft("absolute", 1e-6, 1e-6);
    s.intercept = false;
    const Problem p = make_problem(coded, s);
    Weights weights(1, 1000);
    std::copy(w.begin(), w.end(), weights.data());
    // The loss in exact numbers: sums of 80 bits suffice for 1000 terms of alike size.
    long double loss = 0, penalty = 0;
    for (std::int64_t i = 0; i < 64; ++i) {
      long double score = 0;
      for (std::int32_t j = 0; j < codes->code(0, i); ++j) score += w[static_cast<std::size_t>(j)];
      loss += std::fabs(score - static_cast<long double>(u[static_cast<std::size_t>(i)])) / 64;
    }
    for (const double v : w) penalty += static_cast<long double>(v) * v * (1e-6 / 2.0L);
    const Certificate c = certify(p, weights, Eigen::VectorXd::Zero(1), Weights());
    EXPECT_GE(static_cast<long double>(c.upper), loss + penalty) << trial;
    // Eight roundings of a score, as if look-ups were exact, are less than the loss, or the test shows nothing.
    double size = 0;
    for (const double v : w) size = std::hypot(size, v);
    beyond += loss > 0x1p-52L * 12 * 32 * size;
  }
  EXPECT_GT(beyond, 0);
}

/// A table of numbers, categories and missing cells.
struct Mixed {
  explicit Mixed(const EncoderRules& rules)
      : data(Dataset::Outcome::classes),
        table({{"age", "numeric", ColumnKind::number},
               {"flat", "numeric", ColumnKind::number},
               {"plan", "text", ColumnKind::category},
               {"vip", "boolean", ColumnKind::boolean},
               {"zeal", "numeric", ColumnKind::number}},
              rules, data, std::pmr::get_default_resource()) {
    data.classes().intern("no", 0);
    data.classes().intern("yes", 0);
  }
  Dataset data;
  RowTable table;
};

TEST(CodedRows, OfAnEncoderAreItsRows) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  for (int trial = 0; trial < 8; ++trial) {
    Random random(static_cast<std::uint64_t>(trial) + 10);
    EncoderRules rules;
    rules.missing = Missing::impute;
    rules.bins = {trial % 2 == 0 ? 16 : 300};
    rules.reference = trial % 3 == 0;
    if (trial % 4 > 1) rules.interactions.named = {"plan*zeal", "age*vip", "age*zeal"};
    Mixed t(rules);
    for (int i = 0; i < 9000; ++i) {
      Cells cells;
      cells.resize(5);
      const auto may_miss = [&](double v, int from) { return trial >= from && random.below(9) == 0 ? none : v; };
      cells.values = {may_miss(std::floor(40 * random.uniform()) / (trial % 2 == 0 ? 1 : 3), 2), 3.0,
                      may_miss(t.table.category(2, std::string(1, static_cast<char>('a' + random.below(5)))), 3),
                      may_miss(static_cast<double>(random.below(2)), 4), normal(random)};
      t.table.append(cells, Label(static_cast<std::int32_t>(random.below(2))),
                     trial % 4 == 3 ? 0.5 + random.uniform() : 1.0);
    }
    MemoryBudget unlimited;
    const auto encoder = t.table.fit(Progress());
    const auto plain = t.table.encode(*encoder, Progress(), unlimited),
               coded = t.table.encode(*encoder, Progress(), unlimited, true);
    ASSERT_NE(coded->codes(), nullptr);
    EXPECT_EQ(plain->codes(), nullptr);
    ASSERT_EQ(coded->rows(), plain->rows());
    ASSERT_EQ(coded->dimensions(), plain->dimensions());
    EXPECT_EQ(coded->radius(), plain->radius());
    EXPECT_LT(coded->bytes(), plain->bytes() / 4);
    EXPECT_GT(Columns::bytes(*coded), Columns::bytes(*plain) / 2);  // of the features, not of the codes
    for (std::int64_t i = 0; i < plain->rows(); ++i) {
      const Row a = plain->row(i), b = coded->row(i);
      for (std::int32_t j = 0; j < plain->dimensions(); ++j)
        ASSERT_EQ(value_at(a, j), value_at(b, j)) << trial << " " << i << " " << j;
      ASSERT_EQ(plain->class_of(i), coded->class_of(i));
      ASSERT_EQ(plain->weight(i), coded->weight(i));
    }
    // Where memory does not allow them rows are stored as before, or an error says so.
    MemoryBudget little(1000);
    EXPECT_THROW(t.table.encode(*encoder, Progress(), little, true), Error);
  }
  EncoderRules rules;
  Mixed t(rules);
  Cells cells;
  cells.resize(5);
  for (int i = 0; i < 100; ++i) {
    cells.values = {static_cast<double>(i), 3.0, t.table.category(2, "a"), 0.0, 1.0};
    t.table.append(cells, Label(i % 2), 1);
  }
  EXPECT_FALSE(code_layout(*t.table.fit(Progress())).has_value());  // nothing is cut into bins
  rules.interactions.named = {"age*plan"};
  Mixed paired(rules);
  for (int i = 0; i < 100; ++i) {
    cells.values = {static_cast<double>(i), 3.0, paired.table.category(2, "a"), 0.0, 1.0};
    paired.table.append(cells, Label(i % 2), 1);
  }
  EXPECT_TRUE(code_layout(*paired.table.fit(Progress())).has_value());
}

TEST(CodeBlocks, SolveForTheStepsOfATerm) {
  Random random(11);
  const CodeLayout layout = layout_of({{40, 0}, {0, 5}, {33, 1}, {1, 0}, {2, 0}}, 2);
  const auto rows = random_rows(random, layout, 300);
  const auto d = static_cast<std::size_t>(layout.dimensions);
  std::vector<double> sums(d, 0.0), r(d), z(d, -7.0);
  std::vector<std::vector<double>> matrix(d, std::vector<double>(d, 0.0));
  for (std::int64_t i = 0; i < rows->rows(); ++i) {
    const std::vector<double> x = expanded(*rows, i);
    const double c = random.below(3) == 0 ? 1e-9 : 10 * random.uniform();
    for (std::size_t j = 0; j < d; ++j) {
      sums[j] += c * x[j];
      for (std::size_t k = 0; k < d; ++k) matrix[j][k] += c * x[j] * x[k];
    }
  }
  for (double& v : r) v = normal(random);
  CodeBlocks(layout, sums.data()).solve(r.data(), z.data());
  for (const CodedTerm& t : layout.terms) {
    const auto first = static_cast<std::size_t>(t.first), steps = static_cast<std::size_t>(t.steps);
    for (std::size_t j = first; j < first + steps; ++j) {
      double back = z[j];
      for (std::size_t k = first; k < first + steps; ++k) back += matrix[j][k] * z[k];
      EXPECT_NEAR(back, r[j], 1e-10);
    }
    for (std::int32_t k = t.steps; k < t.features(); ++k) EXPECT_EQ(z[static_cast<std::size_t>(t.first + k)], -7.0);
  }
}

}  // namespace
}  // namespace margin
