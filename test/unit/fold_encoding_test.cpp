// Cross-validation of rows with named columns, an encoder for each fold: as trainings by hand on the rows of the other folds.
#include "core/train/fold_encoding.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "core/base/error.hpp"
#include "core/base/threads.hpp"

namespace margin {
namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();
constexpr std::int32_t folds = 4;

struct Case {
  std::vector<double> numbers;
  std::string plan;  // empty: NULL
  std::vector<double> elements;
  double label, weight;
};

std::vector<Case> cases(std::size_t n) {
  static const char* const plans[] = {"basic", "gold", "pro", ""};
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  std::vector<Case> out;
  for (std::size_t i = 0; i < n; ++i) {
    Case c{{40 + 10 * normal(random), std::exp(normal(random)), i < 2 ? missing : normal(random)},
           plans[random() % 4],
           {normal(random), normal(random)},
           0,
           0.5 + static_cast<double>(random() % 4)};
    if (random() % 9 == 0) c.numbers[1] = missing;
    if (i % 37 == 0) c.plan = "rare " + std::to_string(i);
    c.label = 0.05 * c.numbers[0] + (c.plan == "gold" ? 2 : 0) + c.elements[0] + normal(random);
    out.push_back(c);
  }
  return out;
}

struct Table {
  /// `arrays`: a column is one, and the rows cannot be codes.
  explicit Table(const EncoderRules& rules, Dataset::Outcome outcome, bool arrays = true)
      : rows(outcome), table(columns(arrays), rules, rows, std::pmr::get_default_resource()), arrays(arrays) {}
  static std::vector<Column> columns(bool arrays) {
    return {{"age", "integer", ColumnKind::number},
            arrays ? Column{"emb", "real[]", ColumnKind::dense} : Column{"emb", "real", ColumnKind::number},
            {"few", "float8", ColumnKind::number},
            {"plan", "text", ColumnKind::category},
            {"spend", "numeric", ColumnKind::number}};
  }
  /// The cells of a case; `plan`: the number of its category.
  static Cells cells(const Case& c, double plan, bool arrays = true) {
    Cells out;
    out.resize(5);
    out.values = {c.numbers[0], 0, c.numbers[2], plan, c.numbers[1]};
    if (arrays)
      out.blocks[1] = dense_row(c.elements.data(), 2);
    else
      out.values[1] = c.elements[0];
    return out;
  }
  void add(const Case& c) {
    const double plan = c.plan.empty() ? missing : table.category(3, c.plan);
    if (rows.outcome() == Dataset::Outcome::classes)
      table.append(cells(c, plan, arrays), rows.classes().intern(c.label > 3 ? "b" : "a", c.label > 3), c.weight);
    else
      table.append(cells(c, plan, arrays), c.label, c.weight);
  }
  Dataset rows;
  RowTable table;
  bool arrays;
};

struct Setting {
  std::string loss;
  std::int32_t bins = 0;
  std::vector<std::string> pairs = {};
};

SelectionOptions selection_of(const Setting& s, const std::vector<double>& lambdas) {
  SelectionOptions out;
  out.settings.loss = s.loss;
  out.settings.lambda = lambdas.front();
  out.settings.solver = "newton";
  out.settings.tolerance = 1e-6;
  out.losses = {s.loss};
  out.lambdas = lambdas;
  out.metric = s.loss == "logistic" ? Metric::log_loss : Metric::mse;
  out.predictions = true;
  out.grid.push_back({{}, out.settings});
  return out;
}

EncoderRules rules_of(const Setting& s) {
  EncoderRules rules;
  rules.bins = {s.bins};
  rules.interactions.named = s.pairs;
  return rules;
}

Selection validate(const Table& of, const SelectionOptions& given, const std::vector<std::int32_t>& fold,
                   const Progress& progress, bool codes = false) {
  const auto all = of.table.fit(progress);
  MemoryBudget memory;
  const auto data = of.table.encode(*all, progress, memory, codes);
  EXPECT_EQ(data->codes() != nullptr, codes);
  const FoldEncoding encoding(of.table, *all, {given.grid[0].settings}, codes);
  SelectionOptions options = given;
  options.grid[0].settings = encoded_settings(options.grid[0].settings, *all, *data, progress);
  return cross_validate(*data, options, progress, {}, fold.data(), &encoding);
}

std::vector<std::int32_t> folds_of(std::size_t n) {
  std::vector<std::int32_t> fold;
  for (std::size_t i = 0; i < n; ++i) fold.push_back(static_cast<std::int32_t>(i * 7 % 11 % folds));
  return fold;
}

/// The loss of a fold, by a table of the other rows alone, and what it predicts.
double loss_by_hand(const Setting& s, const SelectionOptions& options, const std::vector<Case>& rows,
                    const std::vector<std::int32_t>& fold, std::int32_t f, std::vector<double>& predictions) {
  EncoderRules rules = rules_of(s);
  rules.missing = Missing::impute;
  rules.unknown_is_error = false;
  Table part(rules, s.loss == "logistic" ? Dataset::Outcome::classes : Dataset::Outcome::targets);
  if (s.loss == "logistic") part.rows.classes().intern("a", 0), part.rows.classes().intern("b", 1);
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (fold[i] != f) part.add(rows[i]);
  const Progress progress;
  const auto encoder = part.table.fit(progress);
  MemoryBudget memory;
  const auto data = part.table.encode(*encoder, progress, memory);
  const Model model = train(*data, encoded_settings(options.settings, *encoder, *data, progress), progress, {});
  double sum = 0, weight = 0;
  Encoder::Scratch scratch;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (fold[i] != f) continue;
    const double plan = rows[i].plan.empty() ? missing : encoder->category(3, rows[i].plan);
    const FeatureRow x = *encoder->encode(Table::cells(rows[i], plan), scratch);
    double z = 0;
    score(scorer_of(model), x, model.dimensions, &z);
    if (model.regression()) z = model.prediction(z);
    predictions[i] = z;
    const double margin = rows[i].label > 3 ? z : -z;
    sum += rows[i].weight * (s.loss == "logistic" ? std::log1p(std::exp(-margin)) : std::pow(z - rows[i].label, 2));
    weight += rows[i].weight;
  }
  return sum / weight;
}

class FoldEncodings : public ::testing::TestWithParam<Setting> {};

TEST_P(FoldEncodings, AreThoseOfTrainingsByHand) {
  const Setting s = GetParam();
  const std::vector<Case> rows = cases(300);
  const std::vector<std::int32_t> fold = folds_of(rows.size());
  Table all(rules_of(s), s.loss == "logistic" ? Dataset::Outcome::classes : Dataset::Outcome::targets);
  for (const Case& c : rows) all.add(c);
  const SelectionOptions options = selection_of(s, {1e-3});
  const Selection found = validate(all, options, fold, Progress());
  std::vector<double> predictions(rows.size());
  for (std::int32_t f = 0; f < folds; ++f)
    EXPECT_NEAR(*found.settings[0].folds[static_cast<std::size_t>(f)],
                loss_by_hand(s, options, rows, fold, f, predictions), 1e-12)
        << f;
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_NEAR(*found.predictions[i], predictions[i], 1e-12) << i;
}

INSTANTIATE_TEST_SUITE_P(Of, FoldEncodings,
                         ::testing::Values(Setting{"squared"}, Setting{"logistic"}, Setting{"squared", 16},
                                           Setting{"logistic", 16, {"age*plan", "few*spend"}}));

TEST(FoldEncoding, IsTheEncoderOfTheTrainingRows) {
  const Setting s{"squared", 8};
  const std::vector<Case> rows = cases(200);
  Table all(rules_of(s), Dataset::Outcome::targets), part(rules_of(s), Dataset::Outcome::targets);
  std::vector<std::int64_t> some;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    all.add(rows[i]);
    if (i % 3 != 1) continue;
    some.push_back(static_cast<std::int64_t>(i));
    part.add(rows[i]);
  }
  const Progress progress;
  const RowTable view(all.table, some, all.table.rules(), progress);
  EXPECT_EQ(describe(Value{view.fit(progress)->to_value()}), describe(Value{part.table.fit(progress)->to_value()}));
  const auto own = view.fit(progress), by_hand = part.table.fit(progress);
  ASSERT_EQ(own->width(), by_hand->width());
  for (std::int32_t j = 0; j < own->width(); ++j) {
    EXPECT_EQ(own->feature_name(j), by_hand->feature_name(j));
    EXPECT_EQ(own->mean(j), by_hand->mean(j));
    EXPECT_EQ(own->scale(j), by_hand->scale(j));
  }
}

/// The same bits whatever the number of threads.
TEST(FoldEncoding, HasTheSameFiguresOnThreads) {
  class OnThreads final : public Progress {
   public:
    explicit OnThreads(Threads& threads) : Progress(1048576, &threads) {}
    void poll() const override {}
  };
  const Setting s{"logistic", 8};
  const std::vector<Case> rows = cases(400);
  const SelectionOptions options = selection_of(s, {1e-2, 1e-4});
  for (const bool codes : {false, true}) {
    Table all(rules_of(s), Dataset::Outcome::classes, !codes);
    for (const Case& c : rows) all.add(c);
    const Selection alone = validate(all, options, folds_of(rows.size()), Progress(), codes);
    Threads threads(3);
    const Selection shared = validate(all, options, folds_of(rows.size()), OnThreads(threads), codes);
    for (std::size_t k = 0; k < alone.settings.size(); ++k)
      EXPECT_EQ(alone.settings[k].folds, shared.settings[k].folds);
    EXPECT_EQ(alone.predictions, shared.predictions);
  }
}

/// Of folds of rows as codes, and of a list of lambdas along which their models start from each other.
TEST(FoldEncoding, GivesTheSameFiguresOfCodes) {
  for (const Setting& s : {Setting{"logistic", 8, {"age*plan"}}, Setting{"squared", 16}}) {
    Table all(rules_of(s), s.loss == "logistic" ? Dataset::Outcome::classes : Dataset::Outcome::targets, false);
    const std::vector<Case> rows = cases(300);
    for (const Case& c : rows) all.add(c);
    SelectionOptions options = selection_of(s, {1e-2, 1e-3});
    options.settings.tolerance = options.grid[0].settings.tolerance = 1e-10;
    EXPECT_TRUE(prefers_codes(options));
    const Selection of_rows = validate(all, options, folds_of(rows.size()), Progress());
    const Selection of_codes = validate(all, options, folds_of(rows.size()), Progress(), true);
    for (std::size_t k = 0; k < of_rows.settings.size(); ++k)
      for (std::size_t f = 0; f < of_rows.settings[k].folds.size(); ++f)
        EXPECT_NEAR(*of_rows.settings[k].folds[f], *of_codes.settings[k].folds[f], 1e-7) << s.loss << ' ' << k;
    ASSERT_EQ(of_rows.predictions.size(), of_codes.predictions.size());
    for (std::size_t i = 0; i < of_rows.predictions.size(); ++i)
      EXPECT_NEAR(*of_rows.predictions[i], *of_codes.predictions[i], 1e-4) << s.loss << ' ' << i;
    options.certified = 0.01;
    EXPECT_FALSE(prefers_codes(options));
    options.certified.reset();
    options.grid[0].settings.solver = "sdca";
    EXPECT_FALSE(prefers_codes(options));
  }
}

/// Names of single features are those of all rows, whatever their numbers are in a fold.
TEST(FoldEncoding, TakesOptionsByFeature) {
  const Setting s{"squared"};
  Table all(rules_of(s), Dataset::Outcome::targets);
  const std::vector<Case> rows = cases(200);
  for (const Case& c : rows) all.add(c);
  const Progress progress;
  const auto encoder = all.table.fit(progress);
  SelectionOptions options = selection_of(s, {1e-3});
  options.settings.named_bounds["plan=rare 37"] = {0, 1};
  options.settings.named_bounds["plan=gold"] = {0, 0};
  std::int32_t rare = 0;
  while (encoder->feature_name(rare) != "plan=pro") ++rare;
  options.settings.named_penalty_factor[std::to_string(rare + 1)] = 3;
  const FoldEncoding encoding(all.table, *encoder, {options.settings}, false);
  std::vector<std::int32_t> fold(rows.size(), 1);
  fold[37] = 0;
  MemoryBudget memory;
  const EncodedFold one = encoding.encode({fold}, 0, progress, memory);
  ASSERT_EQ(one.encoder->width(), encoder->width() - 1);
  const Options own = encoding.settings(0, options.settings, one, progress);
  ASSERT_EQ(own.named_bounds.size(), 1U);
  ASSERT_EQ(own.named_penalty_factor.size(), 1U);
  EXPECT_EQ(one.encoder->feature_name(std::stoi(own.named_bounds.begin()->first) - 1), "plan=gold");
  EXPECT_EQ(one.encoder->feature_name(std::stoi(own.named_penalty_factor.begin()->first) - 1), "plan=pro");

  EncoderRules cut = rules_of({"squared", 8});
  Table binned(cut, Dataset::Outcome::targets);
  for (const Case& c : rows) binned.add(c);
  const auto bins = binned.table.fit(progress);
  Options of_bin = options.settings;
  of_bin.named_bounds.clear();
  of_bin.named_penalty_factor = {{"1", 3}};
  const FoldEncoding of_bins(binned.table, *bins, {of_bin}, false);
  const EncodedFold other = of_bins.encode({fold}, 0, progress, memory);
  EXPECT_THROW(of_bins.settings(0, options.settings, other, progress), Error);
}

}  // namespace
}  // namespace margin
