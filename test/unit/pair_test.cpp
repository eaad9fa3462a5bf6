// Pairs of columns: their levels, the features that an encoder makes of them, their bytes, and which of them are searched out.
#include "core/encoder/pair.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "core/base/error.hpp"
#include "core/base/threads.hpp"
#include "core/encoder/bins.hpp"
#include "core/encoder/match_initial.hpp"
#include "core/encoder/row_table.hpp"
#include "core/report/explain.hpp"
#include "core/report/shape.hpp"
#include "core/train/interactions.hpp"

namespace margin {
namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

struct Case {
  double age, vip;
  const char* plan;  // null: NULL
  double label, weight;
};

/// Columns age, plan and vip. The label is ±1 where age above 40 and vip differ, beside noise.
struct Table {
  explicit Table(const EncoderRules& rules, Dataset::Outcome outcome = Dataset::Outcome::targets)
      : rows(outcome), table(columns(), rules, rows, std::pmr::get_default_resource()) {}
  static std::vector<Column> columns() {
    return {{"age", "integer", ColumnKind::number},
            {"plan", "text", ColumnKind::category},
            {"vip", "boolean", ColumnKind::boolean}};
  }
  Cells cells(const Case& c) {
    Cells out;
    out.resize(3);
    out.values = {c.age, c.plan == nullptr ? missing : table.category(1, c.plan), c.vip};
    return out;
  }
  void add(const Case& c) { table.append(cells(c), c.label, c.weight); }
  Dataset rows;
  RowTable table;
};

EncoderRules rules_of(std::vector<std::string> named, std::int32_t bins = 0) {
  EncoderRules rules;
  rules.interactions.named = std::move(named);
  rules.bins = {bins};
  return rules;
}

std::vector<Case> cases(std::mt19937_64& random, std::size_t n) {
  static const char* const plans[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"};
  std::vector<Case> out;
  for (std::size_t i = 0; i < n; ++i) {
    const double age = random() % 11 == 0 ? missing : static_cast<double>(20 + random() % 50);
    const double vip = static_cast<double>(random() % 2);
    const std::size_t plan = std::min(random() % 12, random() % 12);
    const double noise = static_cast<double>(random() % 1000) / 1000 - 0.5;
    out.push_back({age, vip, random() % 13 == 0 ? nullptr : plans[plan], ((age > 40) != (vip > 0) ? 1 : -1) + noise,
                   static_cast<double>(1 + random() % 3)});
  }
  return out;
}

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.message();
  }
  return "none";
}

TEST(Pair, FeaturesAreOneInTheCellOfARowAndTheirMeansItsShare) {
  std::mt19937_64 random(3);
  for (const std::int32_t bins : {0, 16}) {
    std::vector<Case> rows = cases(random, 1500);
    std::vector<double> first;
    for (int order = 0; order < 2; ++order) {
      Table t(rules_of({"vip*age", "plan*age", "age*vip"}, bins));
      for (const Case& c : rows) t.add(c);
      const auto e = t.table.fit(Progress());
      ASSERT_EQ(e->pairs().size(), 2u);  // one of them was named twice
      EXPECT_EQ(e->pairs()[0].name(), "age*vip");
      EXPECT_EQ(e->pairs()[1].name(), "age*plan");
      EXPECT_EQ(e->terms(), 5u);
      EXPECT_EQ(e->term("vip*age"), 3u);
      EXPECT_EQ(e->term("vip*plan"), 5u);
      const PairTerm& ages = e->pairs()[0];
      EXPECT_EQ(ages.sides[1].levels(), 2);
      EXPECT_GT(ages.sides[0].known(), 8);  // beside two levels there are more
      EXPECT_TRUE(ages.sides[0].missing);
      const PairSide& plans = e->pairs()[1].sides[1];
      EXPECT_TRUE(plans.others && plans.missing);
      EXPECT_EQ(plans.known(), PairLevels().beside(e->pairs()[1].sides[0].known()));
      std::vector<double> mass(static_cast<std::size_t>(e->width()), 0.0);
      double weight = 0;
      MemoryBudget memory;
      const auto encoded = t.table.encode(*e, Progress(), memory);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const Row x = encoded->row(static_cast<std::int64_t>(i));
        for (const PairTerm& p : e->pairs()) {
          double ones = 0;
          for (std::int32_t k = 0; k < p.cells(); ++k) ones += value_at(x, p.first + k);
          ASSERT_EQ(ones, 1);
        }
        const std::int32_t bin = std::isnan(rows[i].age) ? ages.sides[0].known() : ages.sides[0].level(rows[i].age);
        ASSERT_EQ(value_at(x, ages.first + 2 * bin + static_cast<std::int32_t>(rows[i].vip)), 1);
        for (std::int32_t f = 0; f < e->width(); ++f)
          mass[static_cast<std::size_t>(f)] += rows[i].weight * value_at(x, f);
        weight += rows[i].weight;
      }
      std::vector<double> means;
      for (std::int32_t f = ages.first; f < e->width(); ++f) {
        means.push_back(e->mean(f));
        ASSERT_NEAR(means.back(), mass[static_cast<std::size_t>(f)] / weight, 1e-12);
        EXPECT_EQ(e->scale(f), 1);
        EXPECT_EQ(e->center(f), 0);
      }
      if (order == 0) first = means;
      EXPECT_EQ(means, first);  // whatever the order of the rows
      std::set<std::string> names;
      for (std::int32_t f = 0; f < e->width(); ++f) names.insert(e->feature_name(f));
      EXPECT_EQ(names.size(), static_cast<std::size_t>(e->width()));
      std::shuffle(rows.begin(), rows.end(), random);
    }
  }
}

TEST(Pair, IsTheSameAfterItsBytesAndEachBrokenPartIsRefused) {
  std::mt19937_64 random(4);
  Table t(rules_of({"age*plan", "plan*vip"}));
  for (const Case& c : cases(random, 900)) t.add(c);
  const auto e = t.table.fit(Progress());
  Value value;
  value.data = e->to_value();
  const auto back = Encoder::from_value(value);
  ASSERT_EQ(back->pairs().size(), 2u);
  for (std::size_t p = 0; p < 2; ++p) {
    EXPECT_EQ(back->pairs()[p].share, e->pairs()[p].share);
    EXPECT_EQ(back->pairs()[p].first, e->pairs()[p].first);
    for (std::size_t s = 0; s < 2; ++s) {
      EXPECT_EQ(back->pairs()[p].sides[s].level_of, e->pairs()[p].sides[s].level_of);
      EXPECT_EQ(back->pairs()[p].sides[s].thresholds, e->pairs()[p].sides[s].thresholds);
      EXPECT_EQ(back->pairs()[p].sides[s].filled, e->pairs()[p].sides[s].filled);
    }
  }
  const auto broken =
      [&](const std::function<void(Value::Object & encoder, Value::Object & pair, Value::Object & side)>& change) {
        Value::Object copy = std::get<Value::Object>(value.data);
        auto& pair = std::get<Value::Object>(std::get<Value::Array>(copy["pairs"].data)[0].data);
        auto& side = std::get<Value::Object>(std::get<Value::Array>(pair["sides"].data)[0].data);
        change(copy, pair, side);
        Value changed;
        changed.data = copy;
        return error_of([&] { Encoder::from_value(changed); });
      };
  const auto set = [](Value::Object& object, const char* key, auto v) { object[key].data = v; };
  using Object = Value::Object;
  EXPECT_NE(broken([&](Object& all, Object&, Object&) { set(all, "version", 1.0); }), "none");
  EXPECT_NE(broken([&](Object& all, Object&, Object&) { set(all, "version", 4.0); }), "none");
  EXPECT_NE(broken([&](Object& all, Object&, Object&) { set(all, "pairs", Value::Array{}); }), "none");
  EXPECT_NE(broken([&](Object& all, Object&, Object&) { all.erase("pairs"); }), "none");
  EXPECT_NE(broken([&](Object& all, Object&, Object&) {
              auto& pairs = std::get<Value::Array>(all["pairs"].data);
              pairs.push_back(pairs[0]);
            }),
            "none");
  EXPECT_NE(broken([&](Object& all, Object&, Object&) {
              std::get<Object>(std::get<Value::Array>(all["columns"].data)[2].data).erase("spread");
            }),
            "none");
  EXPECT_NE(broken([&](Object&, Object& pair, Object&) { std::get<Value::Array>(pair["share"].data).pop_back(); }),
            "none");
  EXPECT_NE(broken([&](Object&, Object& pair, Object&) { std::get<Value::Array>(pair["share"].data)[0].data = -0.1; }),
            "none");
  EXPECT_NE(broken([&](Object&, Object& pair, Object&) { std::get<Value::Array>(pair["share"].data)[0].data = 1.1; }),
            "none");
  EXPECT_NE(broken([&](Object&, Object& pair, Object&) {
              auto& sides = std::get<Value::Array>(pair["sides"].data);
              std::swap(sides[0], sides[1]);
            }),
            "none");
  EXPECT_NE(broken([&](Object&, Object& pair, Object&) { std::get<Value::Array>(pair["sides"].data).pop_back(); }),
            "none");
  EXPECT_NE(broken([&](Object&, Object&, Object& side) { set(side, "column", std::string("income")); }), "none");
  EXPECT_NE(broken([&](Object&, Object&, Object& side) { set(side, "others", true); }), "none");
  EXPECT_NE(broken([&](Object&, Object&, Object& side) { side.erase("missing"); }), "none");
  EXPECT_NE(broken([&](Object&, Object&, Object& side) {
              auto& t0 = std::get<Value::Array>(side["thresholds"].data);
              std::swap(t0[0], t0[1]);
            }),
            "none");
}

TEST(Pair, NamesAreColumnsOrRefused) {
  std::vector<Column> columns = Table::columns();
  columns.insert(columns.begin() + 1, {"age*plan", "integer", ColumnKind::number});
  columns.push_back({"x", "real[]", ColumnKind::dense});
  const auto said = [&](const char* name) { return error_of([&] { named_pairs({name}, columns); }); };
  EXPECT_EQ(said("age"), "option \"interactions\" names \"age\", expected two columns such as age*income");
  EXPECT_EQ(said("age*pln"), "option \"interactions\" names the column \"pln\", which is no feature of these rows");
  EXPECT_EQ(said("age*age"), "option \"interactions\" names the column \"age\" twice in one pair");
  EXPECT_EQ(said("age*x"), "option \"interactions\" names the column \"x\", which has several numbers: real[]");
  EXPECT_EQ(said("plan*age"), "option \"interactions\" names \"age*plan\", and a column has that name");
  EXPECT_EQ(named_pairs({"age*plan*vip"}, columns), (std::vector<ColumnPair>{{1, 3}}));  // the column age*plan and vip
}

TEST(Pair, LevelsHaveAboutEqualPartsOfTheRows) {
  std::mt19937_64 random(5);
  std::vector<WeightedNumber> numbers;
  for (int i = 0; i < 4000; ++i) numbers.push_back({i < 1600 ? 0.0 : static_cast<double>(i), 1});
  const std::vector<double> fine = bin_thresholds(numbers, 64);
  std::vector<double> above;
  for (const double t : fine)
    above.push_back(static_cast<double>(std::count_if(numbers.begin(), numbers.end(),
                                                      [=](const WeightedNumber& n) { return n.number > t; })) /
                    4000);
  const std::vector<double> coarse = coarser_thresholds(fine, above, 8);
  ASSERT_LE(coarse.size(), 7u);
  ASSERT_GE(coarse.size(), 6u);
  EXPECT_EQ(coarse[0], fine[0]);  // what many rows share is a level of its own
  for (const double t : coarse) EXPECT_TRUE(std::find(fine.begin(), fine.end(), t) != fine.end());
}

TEST(Pair, ShapeIsWhatExplanationsSayAndImportanceItsDeviation) {
  std::mt19937_64 random(6);
  const std::vector<Case> rows = cases(random, 1200);
  Table t(rules_of({"age*plan", "age*vip"}, 12));
  for (const Case& c : rows) t.add(c);
  Model m;
  m.encoder = t.table.fit(Progress());
  m.task = Task::regression;
  m.dimensions = m.encoder->width();
  m.weights = Weights::Random(1, m.dimensions);
  m.intercept = Eigen::VectorXd::Constant(1, 0.25);
  const std::vector<ShapePiece> pieces = shape(m, Options{}, "plan*age");
  ASSERT_EQ(pieces.size(), static_cast<std::size_t>(m.encoder->pairs()[0].cells()));
  double mean = 0, shares = 0;
  for (const ShapePiece& p : pieces) {
    mean += *p.share * *p.contribution;
    shares += *p.share;
    EXPECT_EQ(p.column, "age*plan");
    EXPECT_TRUE(p.with_level.has_value());
  }
  EXPECT_NEAR(mean, 0, 1e-12);
  EXPECT_NEAR(shares, 1, 1e-12);
  Encoder::Scratch scratch;
  double sum = 0, square = 0, weight = 0;
  for (const Case& c : rows) {
    Cells cells = t.cells(c);
    if (c.plan != nullptr) cells.values[1] = c.plan[0] - 'a';  // the encoder counts categories by name
    const Row x = *m.encoder->encode(cells, scratch);
    double score = m.intercept(0), told = 0;
    for (std::int32_t f = 0; f < m.dimensions; ++f) score += m.weights(0, f) * value_at(x, f);
    for (const Contribution& part : contributions(m, x, &cells)) {
      told += part.contribution;
      if (part.column != "age*plan") continue;
      const std::int32_t cell = m.encoder->pairs()[0].cell(cells.values.data());
      ASSERT_NEAR(part.contribution, *pieces[static_cast<std::size_t>(cell)].contribution, 1e-12);
      ASSERT_EQ(*part.shown, m.encoder->pairs()[0].cell_text(cell));
      sum += c.weight * part.contribution;
      square += c.weight * part.contribution * part.contribution;
    }
    ASSERT_NEAR(told, score, 1e-9);
    weight += c.weight;
  }
  for (const Importance& i : importance(m))
    if (i.column == "age*plan") {
      EXPECT_NEAR(i.norm, std::sqrt(square / weight - sum * sum / weight / weight), 1e-9);
    }
  const std::string picture = svg(shape_plot(m, Options{}, "age*plan"));
  EXPECT_NE(picture.find("<title>What age*plan adds to the score</title>"), std::string::npos);
}

TEST(Pair, StartsFromTheSameLevelsOfAnotherModel) {
  std::mt19937_64 random(7);
  const std::vector<Case> rows = cases(random, 1000);
  Table with(rules_of({"age*vip"})), without(rules_of({}));
  for (const Case& c : rows) with.add(c), without.add(c);
  const auto old = with.table.fit(Progress()), plain = without.table.fit(Progress());
  InitialModel initial;
  initial.dimensions = old->width();
  for (std::int32_t f = 0; f < old->width(); ++f) initial.weights.push_back(f + 1);
  initial.intercept = {0};
  initial.encoder.data = old->to_value();
  InitialModel again = initial;
  EXPECT_TRUE(match_initial(again, *old).same());
  EXPECT_EQ(again.weights, initial.weights);
  const MatchedFeatures matched = match_initial(initial, *plain);
  EXPECT_TRUE(matched.fresh.empty());
  EXPECT_EQ(matched.gone.size(), static_cast<std::size_t>(old->pairs()[0].cells()));
}

TEST(Pair, ThatGainsMostIsFoundAndNoOtherByCrossValidation) {
  std::mt19937_64 random(8);
  Table t(rules_of({}, 16));
  for (const Case& c : cases(random, 2000)) t.add(c);
  Options settings;
  settings.loss = "squared";
  settings.lambda = 1e-3;
  settings.interactions.chosen = true;
  const auto encoder = t.table.fit(Progress());
  MemoryBudget memory;
  const auto rows = t.table.encode(*encoder, Progress(), memory);
  const auto search = [&] {
    return with_interactions(t.table, *encoder, *rows, one_selection(settings), Progress(), {}, nullptr);
  };
  const EncodedTable found = search();
  ASSERT_GE(found.encoder->pairs().size(), 1u);
  EXPECT_EQ(found.encoder->pairs()[0].name(), "age*vip");
  EXPECT_EQ(found.rows->dimensions(), found.encoder->width());
  settings.interactions.chosen = false;
  settings.interactions.screened = 1;
  const EncodedTable one = search();
  ASSERT_EQ(one.encoder->pairs().size(), 1u);
  EXPECT_EQ(one.encoder->pairs()[0].name(), "age*vip");
  const std::vector<PairGain> gains =
      pair_gains(t.table, *encoder, t.table.cut_columns(*encoder, Progress(), {}), *rows, settings, Progress(), {});
  ASSERT_GE(gains.size(), 1u);
  for (std::size_t k = 1; k < gains.size(); ++k) EXPECT_LT(gains[k].gain, 0.05 * gains[0].gain);  // noise
  Value::Object options{{"interactions", Value{}}, {"lambda", Value{}}};
  name_pairs(options, *one.encoder);
  EXPECT_EQ(std::get<std::string>(std::get<Value::Array>(options["interactions"].data)[0].data), "age*vip");
  settings.lambda.reset();
  EXPECT_NE(error_of([&] { search(); }).find("lambda above 0"), std::string::npos);
}

// With the lambda that is best without pairs, and with its neighbours, the cells are worth nothing on other rows.
TEST(Pair, IsJudgedByTheLambdaThatIsBestForIt) {
  std::mt19937_64 random(21);
  Table t(rules_of({}));
  for (Case c : cases(random, 200)) {
    const double noise = 2 * (static_cast<double>(random() % 1000) / 1000 - 0.5);
    c.label = (std::isnan(c.age) ? 0 : c.age) + noise + 0.3 * c.label;
    t.add(c);
  }
  SelectionOptions selection = one_selection([] {
    Options settings;
    settings.loss = "squared";
    settings.lambda = 1e-3;
    settings.interactions.chosen = true;
    return settings;
  }());
  selection.lambdas = {1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1};
  const auto encoder = t.table.fit(Progress());
  MemoryBudget memory;
  const auto rows = t.table.encode(*encoder, Progress(), memory);
  const auto found = [&] {
    return with_interactions(t.table, *encoder, *rows, selection, Progress(), {}, nullptr).encoder;
  };
  ASSERT_NE(found(), nullptr);
  EXPECT_EQ(found()->pairs()[0].name(), "age*vip");
  selection.lambdas = {1e-7, 1e-6};
  EXPECT_EQ(found(), nullptr);
}

TEST(Pair, LevelsAndCodesAreTheSameOnAnyThreads) {
  std::mt19937_64 random(22);
  Table t(rules_of({"age*plan"}, 32));
  for (const Case& c : cases(random, 60000)) t.add(c);
  std::vector<std::vector<double>> found;
  for (const int count : {1, 3}) {
    Threads threads(count);
    const Progress progress(1 << 20, &threads);
    MemoryBudget memory;
    const auto encoder = t.table.fit(progress, memory);
    const auto rows = t.table.encode(*encoder, progress, memory, true);
    ASSERT_NE(rows->codes(), nullptr);
    found.emplace_back();
    for (const Column& c : encoder->columns())
      found.back().insert(found.back().end(), c.thresholds.begin(), c.thresholds.end());
    for (std::size_t k = 0; k < rows->codes()->layout().terms.size(); ++k)
      for (std::int64_t i = 0; i < rows->rows(); ++i) found.back().push_back(rows->codes()->code(k, i));
  }
  EXPECT_EQ(found[0], found[1]);
}

}  // namespace
}  // namespace margin
