// Every option: what it accepts, what it refuses and how it says so.
#include "core/options/options.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "core/base/error.hpp"
#include "core/kernel/kernel.hpp"
#include "core/loss/loss.hpp"
#include "core/options/foreign_names.hpp"
#include "core/options/records.hpp"
#include "core/solvers/solver.hpp"

namespace margin {
namespace {

Value value(double x) { return {x}; }
Value value(bool x) { return {x}; }
Value value(const char* x) { return {std::string(x)}; }

Options parse(const std::string& key, const Value& v) { return parse_options({{key, v}}); }

std::string unsupported_reason(const std::string& key, const Value& v) {
  try {
    parse(key, v);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::invalid_option);
    return e.message();
  }
  return "accepted";
}

TEST(Options, numbers_in_their_ranges) {
  EXPECT_EQ(parse("norm", value(2.0)).norm, 2);
  EXPECT_EQ(parse("lambda", value(1e-4)).lambda, 1e-4);
  EXPECT_EQ(parse("tolerance", value(0.0)).tolerance, 0);
  EXPECT_EQ(parse("max_iterations", value(1e15)).max_iterations, 1000000000000000);
  EXPECT_EQ(parse("max_seconds", value(0.5)).max_seconds, 0.5);
  EXPECT_EQ(parse("intercept_scale", value(10.0)).intercept_scale, 10);
  EXPECT_EQ(parse("seed", value(9007199254740992.0)).seed, 9007199254740992U);
  EXPECT_EQ(parse("seed", value(0.0)).seed, 0U);
  EXPECT_EQ(parse("l1_ratio", value(0.5)).l1_ratio, 0.5);
  EXPECT_EQ(parse("epsilon", value(0.0)).epsilon, 0);
  EXPECT_EQ(parse("smoothing", value(0.25)).smoothing, 0.25);
}

TEST(Options, numbers_out_of_their_ranges) {
  const double inf = std::numeric_limits<double>::infinity();
  const std::pair<const char*, std::vector<double>> bad[] = {
      {"norm", {0, 3}},         {"lambda", {1e-301, -1}}, {"tolerance", {-1e-9, 1}}, {"max_iterations", {0, 1.5, 1e16}},
      {"max_seconds", {0, -1}}, {"intercept_scale", {0}}, {"seed", {-1, 0.5, 1e17}}, {"l1_ratio", {-0.1, 1.1}},
      {"epsilon", {-0.1}},      {"smoothing", {0, -1}},
  };
  for (const auto& [key, values] : bad) {
    for (const double x : values) {
      const std::string message = unsupported_reason(key, value(x));
      EXPECT_EQ(message.rfind("option \"" + std::string(key) + "\" must be ", 0), 0U)
          << key << " " << x << ": " << message;
    }
    for (const double x : {inf, -inf, std::numeric_limits<double>::quiet_NaN()})
      EXPECT_NE(unsupported_reason(key, value(x)), "accepted") << key;
    EXPECT_NE(unsupported_reason(key, value("1")), "accepted") << key;
    EXPECT_NE(unsupported_reason(key, value(true)), "accepted") << key;
  }
  EXPECT_EQ(unsupported_reason("lambda", value(-1.0)),
            "option \"lambda\" must be 0 or a number from 1e-300 to 1e300, not -1");
  EXPECT_EQ(unsupported_reason("lambda", value("x")),
            "option \"lambda\" must be 0 or a number from 1e-300 to 1e300, not \"x\"");
  EXPECT_EQ(unsupported_reason("lambda", {Value::Array{}}),
            "option \"lambda\" must be 0 or a number from 1e-300 to 1e300, not an empty array");
  EXPECT_EQ(unsupported_reason("lambda", {Value::Object{}}),
            "option \"lambda\" must be 0 or a number from 1e-300 to 1e300, not an object");
  EXPECT_EQ(unsupported_reason("tolerance", value(1.1)),
            "option \"tolerance\" must be a number of at least 0 and below 1, not 1.1");
}

TEST(Options, switches) {
  for (const char* key : {"standardize", "history", "dual_weights"}) {
    EXPECT_EQ(unsupported_reason(key, value(1.0)), "option \"" + std::string(key) + "\" must be true or false, not 1");
    EXPECT_NE(unsupported_reason(key, value("true")), "accepted");
  }
  EXPECT_FALSE(parse("intercept", value(false)).intercept);
  EXPECT_FALSE(parse("intercept", value(true)).free_intercept());
  EXPECT_TRUE(parse("intercept", value("free")).free_intercept());
  EXPECT_EQ(parse("intercept", value("penalized")).intercept_form, InterceptForm::penalized);
  EXPECT_EQ(unsupported_reason("intercept", value("fixed")),
            "option \"intercept\" must be true, false, 'free' or 'penalized', not \"fixed\"");
  EXPECT_TRUE(parse("loss", value("quantile")).free_intercept());
  EXPECT_TRUE(parse("standardize", value(true)).standardize);
  EXPECT_TRUE(parse("history", value(true)).history);
  EXPECT_TRUE(parse("dual_weights", value(true)).dual_weights);
}

TEST(Options, bins_are_a_number_or_switched_on_and_off) {
  EXPECT_EQ(parse("bins", value(2.0)).bins.others, 2);
  EXPECT_EQ(parse("bins", value(1024.0)).bins.others, 1024);
  EXPECT_EQ(parse("bins", value(true)).bins.others, 64);
  EXPECT_EQ(parse("bins", value("true")).bins.others, 64);
  EXPECT_EQ(parse("bins", value(false)).bins.any(), false);
  EXPECT_EQ(parse("bins", value("false")).bins.any(), false);
  for (const double x : {1.0, 1025.0, 2.5, -64.0}) EXPECT_NE(unsupported_reason("bins", value(x)), "accepted") << x;
  const std::string expected =
      "option \"bins\" must be a whole number from 2 to 1024, true (64) or false, or an object of column: one of "
      "these, "
      "\"*\" for all others, not ";
  EXPECT_EQ(unsupported_reason("bins", value("64")), expected + "\"64\"");
  EXPECT_EQ(unsupported_reason("bins", {Value::Object{}}), expected + "an object");
  EXPECT_EQ(unsupported_reason("bins", {Value::Object{{"age", value(1.0)}}}), expected + "1");
}

TEST(Options, bins_of_a_column_are_its_own_or_those_of_the_others) {
  const Value::Object given{{"age", value(200.0)}, {"zip", value(false)}, {"*", value(true)}};
  const Bins all = parse("bins", {given}).bins;
  EXPECT_EQ(all.of("age"), 200);
  EXPECT_EQ(all.of("zip"), 0);
  EXPECT_EQ(all.of("income"), 64);
  const Bins one = parse("bins", {Value::Object{{"age", value(2.0)}}}).bins;
  EXPECT_EQ(one.of("age"), 2);
  EXPECT_EQ(one.of("income"), 0);
  EXPECT_TRUE(one.any());
  EXPECT_FALSE(parse("bins", {Value::Object{{"age", value(false)}}}).bins.any());
}

TEST(Options, names) {
  EXPECT_EQ(parse("loss", value("hinge")).loss, "hinge");
  EXPECT_EQ(parse("solver", value("momentum")).solver, "momentum");
  EXPECT_EQ(parse("order", value("cyclic")).order, Order::cyclic);
  EXPECT_EQ(parse("order", value("random")).order, Order::random);
  EXPECT_EQ(parse("order", value("permutation")).order, Order::permutation);
  EXPECT_EQ(parse("output", value("average")).output, Output::average);
  EXPECT_EQ(parse("output", value("random")).output, Output::random);
  EXPECT_EQ(parse("output", value("last")).output, Output::last);
  EXPECT_EQ(parse("start", value("sgd")).start, Start::sgd);
  EXPECT_EQ(parse("start", value("zero")).start, Start::zero);
  EXPECT_EQ(parse("log_level", value("notice")).log_level, "notice");
  EXPECT_EQ(unsupported_reason("order", value("Cyclic")),
            "option \"order\" must be 'permutation', 'random', 'proportional' or 'cyclic', not \"Cyclic\"");
  for (const char* key : {"loss", "solver", "order", "output", "start", "log_level"})
    EXPECT_NE(unsupported_reason(key, value(1.0)), "accepted") << key;
}

TEST(Options, class_weights) {
  EXPECT_TRUE(parse("class_weight", value("balanced")).class_weight_balanced);
  const Options s = parse("class_weight", {Value::Object{{"spam", value(2.0)}, {"ham", value(0.0)}}});
  EXPECT_FALSE(s.class_weight_balanced);
  EXPECT_EQ(s.class_weight, (std::map<std::string, double>{{"ham", 0}, {"spam", 2}}));
  EXPECT_NE(unsupported_reason("class_weight", value("equal")), "accepted");
  EXPECT_NE(unsupported_reason("class_weight", value(2.0)), "accepted");
  EXPECT_NE(unsupported_reason("class_weight", {Value::Object{{"spam", value(-1.0)}}}), "accepted");
  EXPECT_NE(unsupported_reason("class_weight", {Value::Object{{"spam", value("2")}}}), "accepted");
}

TEST(Options, a_model_to_start_from) {
  const Value::Array row = {value(1.0), value(-2.5)};
  const Options s = parse("initial", {Value::Object{{"weights", {Value::Array{{row}, {row}}}},
                                                    {"intercept", {Value::Array{value(0.5)}}},
                                                    {"dual_weights", {}},
                                                    {"solver", value("sdca")}}});
  ASSERT_TRUE(s.initial.has_value());
  EXPECT_EQ(s.initial->weights, (std::vector<double>{1, -2.5, 1, -2.5}));
  EXPECT_EQ(s.initial->intercept, std::vector<double>{0.5});
  EXPECT_TRUE(s.initial->dual_weights.empty());
  EXPECT_NE(unsupported_reason("initial", value(1.0)), "accepted");
  EXPECT_NE(unsupported_reason("initial", {Value::Object{}}), "accepted");
  EXPECT_NE(unsupported_reason("initial", {Value::Object{{"weights", {Value::Array{value("1")}}}}}), "accepted");
  EXPECT_NE(unsupported_reason("initial", {Value::Object{{"weights", value(1.0)}}}), "accepted");
}

TEST(Options, null_is_the_default_of_every_option) {
  Value::Object nothing;
  for (const std::string_view key : option_names()) nothing[std::string(key)] = {};
  const Options s = parse_options(nothing), standard = parse_options({});
  EXPECT_TRUE(s.hard_margin());
  EXPECT_EQ(s.solver, "auto");
  EXPECT_EQ(s.tolerance, 1e-3);
  EXPECT_EQ(s.loss, standard.loss);
  EXPECT_EQ(s.intercept, standard.intercept);
  EXPECT_EQ(s.max_iterations, standard.max_iterations);
  EXPECT_FALSE(s.initial.has_value());
}

TEST(Options, an_unknown_option_is_answered_with_the_nearest) {
  const std::pair<const char*, const char*> typos[] = {
      {"lamda", "lambda"},
      {"Lambda", "lambda"},
      {"tolerence", "tolerance"},
      {"tol", "tolerance"},
      {"max_iter", "max_iterations"},
      {"intercepts", "intercept"},
      {"classweight", "class_weight"},
  };
  for (const auto& [typo, name] : typos) {
    try {
      parse(typo, value(1.0));
      FAIL() << typo;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::invalid_option);
      EXPECT_EQ(e.message(), "unknown option \"" + std::string(typo) + "\"");
      EXPECT_EQ(e.hint(), "Did you mean \"" + std::string(name) + "\"?");
    }
  }
}

TEST(Options, a_name_that_is_like_no_other_is_answered_with_all) {
  EXPECT_EQ(name_hint("SDCA", {"auto", "sdca"}), "Did you mean \"sdca\"?");
  EXPECT_EQ(name_hint("gaussian", {"linear", "rbf"}), "Known are: linear, rbf.");
  EXPECT_EQ(name_hint("", {"a", "bb"}), "Known are: a, bb.");
}

TEST(Options, names_are_not_empty) {
  for (const char* key : {"loss", "solver", "kernel"})
    EXPECT_EQ(unsupported_reason(key, value("")), "option \"" + std::string(key) + "\" must be a name, not \"\"");
}

TEST(Options, names_of_other_programs_are_answered_with_ours) {
  const auto option = [](const char* name) { return unknown_option(name, option_names()).hint(); };
  EXPECT_NE(option("C").find("1/(lambda times the number of rows)"), std::string::npos);
  EXPECT_NE(option("alpha").find("\"lambda\""), std::string::npos);
  EXPECT_NE(option("Penalty").find("\"l1_ratio\""), std::string::npos);
  EXPECT_EQ(option("n_estimators"), "Here it is \"max_iterations\".");
  EXPECT_EQ(option("random_state"), "Here it is \"seed\".");
  EXPECT_NE(option("class_weights").find("\"class_weight\""), std::string::npos);
  EXPECT_EQ(option("tol"), "Did you mean \"tolerance\"?");
  EXPECT_EQ(option("max_iter"), "Did you mean \"max_iterations\"?");
  EXPECT_EQ(option("n estimators").find("Here"), std::string::npos);
  const auto loss = [](const char* name) {
    try {
      make_loss(name, Options{});
    } catch (const Error& e) {
      return e.hint();
    }
    return std::string();
  };
  EXPECT_EQ(loss("log_loss"), "Here it is \"logistic\".");
  EXPECT_EQ(loss("mse"), "Here it is \"squared\".");
  EXPECT_EQ(loss("l2"), "Here it is \"squared\".");
  EXPECT_EQ(loss("squared_error"), "Here it is \"squared\".");
  EXPECT_NE(loss("mae").find("\"absolute\""), std::string::npos);
  EXPECT_EQ(loss("hing"), "Did you mean \"hinge\"?");
  EXPECT_EQ(hint_for_foreign_metric("roc_auc"), "Here it is \"auc\".");
  EXPECT_EQ(hint_for_foreign_metric("auc"), "");
  EXPECT_EQ(unknown_option("cost", {"costs", "maximize"}).hint(), "Did you mean \"costs\"?");
}

TEST(Options, every_foreign_name_is_foreign) {
  for (const std::string_view name : option_names()) EXPECT_EQ(hint_for_foreign_option(name), "") << name;
  for (const std::string_view name : loss_names()) EXPECT_EQ(hint_for_foreign_loss(name), "") << name;
  for (const Solver* solver : all_solvers()) EXPECT_EQ(hint_for_foreign_solver(solver->name()), "") << solver->name();
}

TEST(Options, options_of_model_selection_are_known_elsewhere) {
  EXPECT_EQ(unknown_option("folds", option_names()).hint(), "Only margin_cross_validate reads it.");
  EXPECT_EQ(unknown_option("folds", option_names()).kind(), ErrorKind::invalid_option);
}

}  // namespace
}  // namespace margin
