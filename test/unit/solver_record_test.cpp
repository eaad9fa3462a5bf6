// Records against behaviour: what a solver, a loss or a kernel says that it does is what it does.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/error.hpp"
#include "core/kernel/kernel.hpp"
#include "core/loss/loss.hpp"
#include "core/options/records.hpp"
#include "core/problem/one_class.hpp"
#include "core/solvers/readers.hpp"
#include "core/train/path.hpp"
#include "core/train/train.hpp"

namespace margin {
namespace {

using Record = SolverRecord;

Dataset classes(bool separable) {
  Dataset data(Dataset::Outcome::classes);
  data.classes().intern("a", 0);
  data.classes().intern("b", 1);
  // Rows of a plane that no coordinate axis is normal to, and two more than it takes to settle it.
  const double x[][3] = {{1.5, -0.3, 0.2}, {2.1, 0.4, -0.7},  {1.9, -1.2, 0.9},   {0.8, 1.1, 0.3},   {2.5, 0.1, 1.4},
                         {-1.2, 0.5, 0.6}, {-2.0, -0.8, 0.1}, {-0.7, -1.4, -0.5}, {-1.8, 0.9, -1.1}, {-2.4, 0.2, 0.8}};
  for (int i = 0; i < 10; ++i) data.append(dense_row(x[i], 3), i < 5 ? 1 : 0);
  if (!separable) data.append(dense_row(x[0], 3), 0);
  return data;
}

/// Three classes on the same rows.
Dataset three_classes() {
  Dataset data(Dataset::Outcome::classes);
  const Dataset two = classes(false);
  for (const char* name : {"a", "b", "c"}) data.classes().intern(name, name[0] - 'a');
  for (std::int64_t i = 0; i < two.rows(); ++i) {
    double x[3] = {0, 0, 0};
    add(1.0, two.row(i), x);
    data.append(dense_row(x, 3), static_cast<std::int32_t>(i % 3));
  }
  return data;
}

Dataset numbers(Dataset::Outcome outcome) {
  Dataset data(outcome);
  const double x[][3] = {{1, 0.5, -0.2}, {-0.4, 1.2, 0.7}, {0.3, -0.9, 1.1}};
  for (int i = 0; i < 3; ++i) data.append(dense_row(x[i], 3), 0.5 * i - 0.3);
  return data;
}

/// A problem that the solver takes, of each of its kinds; by a kernel if it knows no other.
std::vector<Value::Object> problems_of(const Solver& solver) {
  const Record& record = solver.record();
  Value::Object base;
  base["solver"].data = std::string(solver.name());
  base["max_iterations"].data = 200.0;
  base["intercept"].data = false;
  base["tolerance"].data = 1e-9;
  base["dual_weights"].data = true;
  if (record.kernels) base["kernel"].data = std::string("rbf");
  std::vector<Value::Object> out;
  if ((record.problems & Record::hard_margin) != 0) {
    Value::Object o = base;
    if ((record.norms & Record::l2) == 0) o["norm"].data = 1.0;
    out.push_back(o);
    if ((record.norms & Record::between) != 0) {
      o["norm"].data = 1.5;
      out.push_back(o);
    }
  }
  if ((record.problems & Record::soft_margin) != 0) {
    Value::Object o = base;
    o["lambda"].data = 0.01;
    if (record.losses == Record::Losses::smooth) {
      o["loss"].data = std::string("logistic");
      if (record.name == "prox_newton") o["l1_ratio"].data = 0.5;
    }
    out.push_back(o);
    if (record.reads("order")) {  // auto, on so few rows, takes sdca only if one of its options asks for it
      o["order"].data = std::string("random");
      out.push_back(o);
    }
  }
  if ((record.problems & Record::joint) != 0)
    for (const char* loss : {"logistic", "hinge"}) {
      Value::Object o = base;
      o["lambda"].data = 0.01;
      o["loss"].data = std::string(loss);
      o["multiclass"].data = std::string("joint");
      out.push_back(o);
    }
  if ((record.problems & Record::likelihood) != 0) {
    Value::Object o = base;
    o["lambda"].data = 0.0;
    o["loss"].data = std::string("logistic");
    out.push_back(o);
  }
  if (record.problems == Record::one_class) {
    Value::Object o = base;
    o["intercept"].data = true;
    out.push_back(o);
  }
  if ((record.problems & Record::interpolation) != 0) {
    Value::Object o = base;
    o["loss"].data = std::string("interpolate");
    out.push_back(o);
  }
  return out;
}

/// The options as the training of their solver takes them.
Options settings_of(const Options& options) {
  return options.solver == "one_class" ? one_class_options(options) : options;
}

Model solve(const Options& options, bool separable = true) {
  Progress progress;
  if (options.solver == "one_class") {
    Dataset rows(Dataset::Outcome::classes);
    const Label label = one_class_label(rows);
    for (int i = 0; i < 12; ++i) {
      const double x[] = {2 + std::sin(i), 1 + std::cos(3 * i), 0.25 * i};
      rows.append(dense_row(x, 3), label);
    }
    return train(rows, settings_of(options), progress);
  }
  if (options.loss == "interpolate") return train(numbers(Dataset::Outcome::intervals), options, progress);
  return train(options.multiclass == Multiclass::joint ? three_classes() : classes(separable), options, progress);
}

Model solve(const Value::Object& options) { return solve(parse_options(options)); }

/// Values that the option takes, one of them not the default. An option that takes none of these needs another here.
std::vector<Value> samples(const OptionRecord& option) {
  const Value candidates[] = {
      {0.25},
      {2.0},
      {true},
      {false},
      {Value::Object{{"weights", {Value::Array{{0.3}, {-0.1}, {0.2}}}}, {"intercept", {Value::Array{{0.0}}}}}}};
  std::vector<Value> out;
  const auto offer = [&](const Value& value) {
    Options options;
    try {
      option.set(options, option.name, value);
      out.push_back(value);
    } catch (const Error&) {
    }
  };
  for (const Value& value : candidates) offer(value);
  for (const char* word : {"cyclic", "average", "sgd", "stumps", "quadratic", "adaboost", "balanced", "platt", "ignore",
                           "null", "skip", "one_vs_rest", "error", "notice", "a name", "squared"})
    offer({std::string(word)});
  if (out.empty()) offer({Value::Array{{0.5}, {2.0}, {1.0}}});
  if (out.empty()) offer({Value::Array{{-0.02}, {0.01}}});
  if (out.empty()) offer({Value::Object{{"2", {1.0}}}});
  if (out.empty()) offer({Value::Object{{"a column", {std::string("a category")}}}});
  if (out.empty()) offer({Value::Object{{"weights", {Value::Object{{"1", {1.0}}, {"2", {-1.0}}}}}, {"max", {0.5}}}});
  if (out.empty()) offer({Value::Object{{"column", {1.0}}, {"bound", {0.01}}}});
  EXPECT_FALSE(out.empty()) << "no value of the option " << option.name << " here";
  return out;
}

Value sample(const OptionRecord& option) { return samples(option).at(0); }

const OptionRecord& record_of(std::string_view name) {
  const auto& all = option_records();
  return *std::find_if(all.begin(), all.end(), [&](const OptionRecord& r) { return r.name == name; });
}

template <class M>
bool same(const M& a, const M& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() && a == b;
}

bool same(const Model& a, const Model& b) {
  return same(a.weights, b.weights) && same(a.intercept, b.intercept) && same(*a.dual_weights, *b.dual_weights) &&
         a.iterations == b.iterations && a.status == b.status && a.solver == b.solver;
}

TEST(Records, problems_norms_and_losses_are_those_that_the_solver_takes) {
  const Dataset rows = classes(true), targets = numbers(Dataset::Outcome::intervals);
  for (const Solver* solver : registered_solvers()) {
    const Record& record = solver->record();
    SCOPED_TRACE(record.name);
    Method method;
    method.takes_kernels = record.kernels;
    const auto takes = [&](const Dataset& data, const Options& o) {
      return solver->unsupported_reason(make_problem(data, o, method, {})).empty();
    };
    for (const double norm : {1.0, 1.5, 2.0}) {
      if (record.kernels && norm != 2) continue;
      Options o;
      o.norm = norm;
      o.intercept = false;
      const unsigned bit = norm == 1 ? Record::l1 : norm == 2 ? Record::l2 : Record::between;
      const bool known = (record.norms & bit) != 0;
      EXPECT_EQ(takes(rows, o), known && (record.problems & Record::hard_margin) != 0) << "hard margin " << norm;
      if (record.kernels) continue;
      o.loss = "interpolate";
      o.solver = record.name;
      const Problem problem = make_problem(targets, o);
      bool chosen = true;
      try {
        choose_solver(problem, o);
      } catch (const Error& e) {
        chosen = e.kind() != ErrorKind::unsupported;
      }
      EXPECT_EQ(chosen, known && (record.problems & Record::interpolation) != 0) << "interpolation " << norm;
    }
    for (const std::string_view loss : loss_names()) {
      if (is_regression_loss(loss)) continue;
      Options o;
      o.lambda = 0.1;
      o.loss = loss;
      if (record.name == "prox_newton") o.l1_ratio = 0.5;
      const bool known =
          record.losses == Record::Losses::all ||
          record.losses == (make_loss(loss, o)->smooth() ? Record::Losses::smooth : Record::Losses::piecewise);
      EXPECT_EQ(takes(rows, o), known && (record.problems & Record::soft_margin) != 0) << loss;
      if (record.kernels || loss != "logistic") continue;
      o.lambda = 0;
      o.l1_ratio = 0;
      o.solver = record.name;
      bool chosen = true;
      try {
        choose_solver(make_problem(rows, o), o);
      } catch (const Error& e) {
        chosen = e.kind() != ErrorKind::unsupported;
      }
      EXPECT_EQ(chosen, (record.problems & Record::likelihood) != 0) << "lambda 0";
    }
  }
}

/// Rows of a problem with the features that a solver's record names, and the options that ask for them.
struct Featured {
  const char* name;
  unsigned bits;
  Value::Object options;
  Dataset rows;
};

Dataset with_targets(bool counts) {
  Dataset data(Dataset::Outcome::targets);
  const Dataset two = classes(true);
  for (std::int64_t i = 0; i < two.rows(); ++i) {
    double x[3] = {0, 0, 0};
    add(1.0, two.row(i), x);
    data.append(dense_row(x, 3), counts ? static_cast<double>(i % 4) : 0.7 * x[0] - 0.4 * x[1] + 0.1 * std::sin(i));
  }
  return data;
}

/// Two classes that nothing separates.
Dataset mixed() {
  Dataset data(Dataset::Outcome::classes);
  for (const char* name : {"a", "b"}) data.classes().intern(name, name[0] - 'a');
  const Dataset two = classes(true);
  for (std::int64_t i = 0; i < two.rows(); ++i) {
    double x[3] = {0, 0, 0};
    add(1.0, two.row(i), x);
    data.append(dense_row(x, 3), static_cast<std::int32_t>(i % 2));
  }
  return data;
}

/// Three classes that can be told apart without an intercept.
Dataset three_apart() {
  Dataset data(Dataset::Outcome::classes);
  for (const char* name : {"a", "b", "c"}) data.classes().intern(name, name[0] - 'a');
  for (int i = 0; i < 12; ++i) {
    const double angle = 2 * 3.14159265358979 * (i % 3) / 3 + 0.05 * i;
    const double x[] = {(2 + 0.1 * i) * std::cos(angle), (2 + 0.1 * i) * std::sin(angle), 0.1 * i};
    data.append(dense_row(x, 3), i % 3);
  }
  return data;
}

/// What `problems_of` may be made to have.
std::vector<Featured> features_to_try(const Record& record, const std::string& outcome) {
  const auto text = [](const char* t) { return Value{std::string(t)}; };
  const bool sparse = (record.needs & feature::l1_ratio) != 0, smooth = outcome == "smooth";
  std::vector<Featured> out;
  const auto add = [&](const char* name, unsigned bits, const Value::Object& options, Dataset rows) {
    Value::Object all = options;
    if (sparse && all.count("l1_ratio") == 0) all["l1_ratio"] = {0.5};
    out.push_back({name, bits, all, std::move(rows)});
  };
  add("several classes", feature::several_classes, {}, three_classes());
  add("l1_ratio", feature::l1_ratio, {{"l1_ratio", {0.25}}}, mixed());
  add("offset", feature::offset, {{"offset_feature", {2.0}}}, classes(false));
  add("free intercept", feature::free_intercept, {{"intercept", text("free")}}, mixed());
  add("regression", feature::regression, {{"loss", text(smooth ? "squared" : "absolute")}}, with_targets(false));
  add("bounds", feature::bounds, {{"bounds", {Value::Array{{-0.02}, {0.01}}}}}, mixed());
  if (!sparse)  // an l1 norm and constraints are refused before a solver is asked
    add("constraints", feature::constraints,
        {{"constraints", {Value::Object{{"weights", {Value::Object{{"1", {1.0}}, {"2", {1.0}}}}}, {"max", {0.01}}}}}},
        mixed());
  if (!smooth) return out;
  add("lasso", feature::l1_ratio | feature::lasso, {{"l1_ratio", {1.0}}}, mixed());
  add("penalty_factor", feature::l1_ratio | feature::penalty_factor,
      {{"l1_ratio", {0.5}}, {"penalty_factor", {Value::Array{{0.5}, {2.0}, {1.0}}}}}, mixed());
  add("log link", feature::regression | feature::log_link, {{"loss", text("poisson")}}, with_targets(true));
  return out;
}

// A feature that a solver's record names is solved with: the certificate of its model, which knows the feature, is close. One
// that it does not name is refused, and the hint names solvers that can.
TEST(Records, features_are_those_that_the_solver_solves_with) {
  for (const Solver* solver : registered_solvers()) {
    const Record& record = solver->record();
    if ((record.problems & (Record::soft_margin | Record::likelihood)) == 0) continue;
    const bool piecewise = record.losses == Record::Losses::piecewise || record.losses == Record::Losses::all,
               smooth = record.losses != Record::Losses::piecewise;
    unsigned tried = 0;
    for (const char* outcome : {"piecewise", "smooth"}) {
      if (!(outcome == std::string("smooth") ? smooth : piecewise)) continue;
      for (const Featured& with : features_to_try(record, outcome)) {
        tried |= with.bits;
        Value::Object options = with.options;
        options["solver"].data = std::string(solver->name());
        options["lambda"].data = (record.problems & Record::likelihood) != 0 ? 0.0 : 0.1;
        if (options.count("intercept") == 0) options["intercept"].data = false;
        if (options.count("loss") == 0)
          options["loss"].data = std::string(outcome == std::string("smooth") ? "logistic" : "hinge");
        if (record.kernels) options["kernel"].data = std::string("rbf");
        SCOPED_TRACE(std::string(solver->name()) + ", " + outcome + ", " + with.name);
        // A kernel's intercept is always free, and so is that of lambda 0.
        const bool always_free = record.kernels || (record.problems & Record::likelihood) != 0;
        if (always_free && with.bits == feature::free_intercept) continue;
        const bool baseline = record.summary.find("baseline") != std::string_view::npos;
        if (baseline) options["max_iterations"].data = 5000.0;
        const bool taken = (with.bits & ~record.features) == 0;
        try {
          const Model model = train(with.rows, parse_options(options), {});
          EXPECT_TRUE(taken);
          if (!baseline) {
            EXPECT_LE(model.certificate.relative_gap, 1e-3) << model.solver;
            continue;
          }
          options.erase("solver");
          options.erase("max_iterations");
          EXPECT_LE(model.certificate.upper, 1.01 * train(with.rows, parse_options(options), {}).certificate.upper);
        } catch (const Error& e) {
          EXPECT_EQ(e.kind(), ErrorKind::unsupported) << e.message();
          // Kernels and lambda 0 have fewer options: the problem refuses those before a solver is asked.
          if (e.message().rfind("solver \"", 0) != 0) {
            EXPECT_TRUE(always_free) << e.message();
            continue;
          }
          EXPECT_FALSE(taken) << e.message();
          EXPECT_TRUE(e.hint().find(" can: ") != std::string::npos || e.hint().rfind("No solver can.", 0) == 0)
              << e.hint();
        }
      }
    }
    EXPECT_EQ(names_of(record.features & ~tried), "none")
        << solver->name() << ": features_to_try() lacks what it names";
  }
}

TEST(Records, several_classes_and_stumps_are_separated_by_the_solvers_that_name_them) {
  for (const Solver* solver : registered_solvers()) {
    const Record& record = solver->record();
    if ((record.problems & Record::hard_margin) == 0) continue;
    for (const char* learners : {"features", "stumps"}) {
      if (learners == std::string("stumps") && (record.norms & Record::l1) == 0) continue;
      SCOPED_TRACE(std::string(solver->name()) + ", " + learners);
      Value::Object options = {{"intercept", {false}}, {"tolerance", {0.05}}, {"max_iterations", {50000.0}}};
      options["solver"].data = std::string(solver->name());
      options["norm"].data = (record.norms & Record::l2) != 0 && record.norms == Record::l2 ? 2.0
                             : (record.norms & Record::l1) != 0                             ? 1.0
                                                                                            : 1.5;
      if (record.kernels) options["kernel"].data = std::string("linear");
      if (learners == std::string("stumps")) options["learners"].data = std::string(learners);
      if (solver->name() == "smo") {  // by its limit(): of hard margins two classes
        EXPECT_THROW(train(three_apart(), parse_options(options), {}), Error);
        continue;
      }
      EXPECT_NE(record.features & feature::several_classes, 0U);
      if (learners == std::string("stumps") && (record.features & feature::stumps) == 0) {
        EXPECT_THROW(train(three_apart(), parse_options(options), {}), Error);
        continue;
      }
      const Model model = train(three_apart(), parse_options(options), {});
      EXPECT_GT(model.certificate.lower, 0) << model.solver;
      const bool baseline = record.summary.find("baseline") != std::string_view::npos;
      EXPECT_TRUE(baseline || model.status == Status::optimal)
          << status_name(*model.status) << " after " << *model.iterations << ": " << model.certificate.relative_gap;
      options["intercept"].data = true;
      if (record.kernels) {  // by its limit(): it has the least margin of each of two classes
        EXPECT_THROW(train(three_apart(), parse_options(options), {}), Error);
      }
    }
  }
}

/// Whether an option changes what is trained, or is refused by the solver; set by code, so that nothing else refuses
/// it.
bool changes_with(const Value::Object& problem, bool separable, const OptionRecord& option, const Value& value) {
  Options plain = parse_options(problem), with = plain;
  plain.given.clear();
  with.given.clear();
  option.set(with, option.name, value);
  try {
    settings_of(with);
    make_problem(plain.loss == "interpolate" ? numbers(Dataset::Outcome::intervals) : classes(separable), with);
  } catch (const Error&) {
    return false;  // the problem refuses it, whoever the solver is
  }
  try {
    return !same(solve(plain, separable), solve(with, separable));
  } catch (const Error&) {
    return true;
  }
}

// By code, not by name and value: so nothing is refused, and an option that is not read changes no bit.
TEST(Records, a_solver_reads_the_options_that_it_names_and_no_other) {
  for (const Solver* solver : registered_solvers()) {
    const Record& record = solver->record();
    SCOPED_TRACE(record.name);
    for (const OptionRecord& option : option_records()) {
      const std::string_view name = option.name;
      if (name != "seed" &&
          (option.scope != ReadBy::methods || loss_reads("huber", name) || loss_reads("quantile", name) ||
           loss_reads("epsilon_insensitive", name) || kernel_reads("polynomial", name) || name == "width"))
        continue;
      bool changes = false;
      for (const Value::Object& problem : problems_of(*solver))
        for (const bool separable : {true, false})
          for (const Value& value : samples(option)) changes |= changes_with(problem, separable, option, value);
      // The simplex draws numbers only where it would cycle, which these rows do not make it.
      if (record.name == "linear_program" && name == "seed") continue;
      EXPECT_EQ(changes, record.reads(name)) << name;
    }
  }
}

TEST(Records, losses_read_the_options_that_they_name) {
  for (const std::string_view loss : loss_names())
    for (const OptionRecord& option : option_records()) {
      Options with;
      option.set(with, option.name, sample(option));
      const auto plain = make_loss(loss, Options{}), other = make_loss(loss, with);
      bool changes = false;
      for (double u = -3; u <= 3; u += 0.125) changes |= plain->value(u, 1) != other->value(u, 1);
      EXPECT_EQ(changes, loss_reads(loss, option.name)) << loss << " and " << option.name;
    }
}

TEST(Records, kernels_read_the_options_that_they_name) {
  const Dataset rows = classes(true);
  for (const KernelRecord& kernel : kernel_records()) {
    for (const std::string_view parameter : kernel.parameters)
      EXPECT_EQ(record_of(parameter).name, parameter) << "the parameter is an option";
    for (const OptionRecord& option : option_records()) {
      if (option.name == "kernel") continue;
      Options plain, with;
      option.set(with, option.name, sample(option));
      plain.kernel = with.kernel = kernel.name;
      const auto value = [&](const Options& o) {
        const auto function = make_kernel(rows, o, {});
        std::vector<double> a(function->summary_size()), b = a;
        function->summarize(rows.row(0), a.data(), {});
        function->summarize(rows.row(1), b.data(), {});
        double k = 2.2;
        function->evaluate(a.data(), b.data(), 1, 3, &k, nullptr);
        return k;
      };
      EXPECT_EQ(value(plain) != value(with), kernel_reads(kernel.name, option.name))
          << kernel.name << ", " << option.name;
    }
  }
}

TEST(Records, options_that_nobody_reads_are_refused) {
  for (const Solver* solver : registered_solvers())
    for (const Value::Object& problem : problems_of(*solver)) {
      const Options base = parse_options(problem);
      EXPECT_NO_THROW(solve(base)) << solver->name();
      for (const OptionRecord& option : option_records()) {
        if (problem.count(std::string(option.name)) != 0 ||
            is_read(option, settings_of(base), *solver, losses_of(base)))
          continue;
        Value::Object with = problem;
        with[std::string(option.name)] = sample(option);
        try {
          solve(with);
          ADD_FAILURE() << solver->name() << " accepts " << option.name;
        } catch (const Error& e) {
          if (e.kind() == ErrorKind::unsupported) continue;  // refused with more to say, by problem/problem.cpp
          EXPECT_EQ(e.kind(), ErrorKind::invalid_option) << solver->name() << ", " << option.name;
          EXPECT_EQ(e.message().find("option \"" + std::string(option.name) + "\" is not used by "), 0U) << e.message();
          EXPECT_EQ(e.hint(), "It is read by " + readers_of(option) + ".");
          EXPECT_FALSE(readers_of(option).empty());
        }
        with[std::string(option.name)] = {};
        EXPECT_NO_THROW(solve(with)) << "null is the default: " << option.name;
      }
    }
}

TEST(Records, the_refusal_names_who_does_not_read_and_who_does) {
  const auto refusal = [](Value::Object options) {
    try {
      solve(options);
    } catch (const Error& e) {
      return e.message() + " / " + e.hint();
    }
    return std::string("accepted");
  };
  const auto means_nothing = [](const std::string& option, const std::string& to) {
    return "option \"" + option + "\" is not used by " + to + " / It is read by " + readers_of(record_of(option)) + ".";
  };
  EXPECT_EQ(readers_of(record_of("shrinkage")), "boosting");
  const auto text = [](const char* t) { return Value{std::string(t)}; };
  EXPECT_EQ(refusal({{"solver", text("cutting_plane")}, {"shrinkage", {0.5}}}),
            means_nothing("shrinkage", "solver \"cutting_plane\""));
  EXPECT_EQ(refusal({{"shrinkage", {0.5}}}),
            means_nothing("shrinkage", "solver \"cutting_plane\", which auto chooses here"));
  EXPECT_EQ(refusal({{"lambda", {0.1}}, {"epsilon", {0.5}}}), means_nothing("epsilon", "loss \"hinge\""));
  EXPECT_EQ(refusal({{"epsilon", {0.5}}}), means_nothing("epsilon", "a hard margin"));
  EXPECT_EQ(refusal({{"intercept_scale", {2.0}}}), means_nothing("intercept_scale", "a hard margin"));
  EXPECT_EQ(refusal({{"lambda", {0.1}}, {"gamma", {2.0}}}), means_nothing("gamma", "kernel \"linear\""));
  EXPECT_EQ(refusal({{"lambda", {0.1}}, {"seed", {2.0}}, {"order", text("cyclic")}}), "accepted");
  EXPECT_EQ(refusal({{"seed", {2.0}}}), "accepted") << "the same seed gives the same model: true of every training";
  EXPECT_EQ(refusal({{"solver", text("linear_program")}, {"norm", {1.0}}, {"working_set", {false}}}),
            "option \"working_set\" => false contradicts solver \"linear_program\" / Leave it out, or name the solver "
            "\"boosting\".");
}

TEST(Records, every_name_that_a_model_reports_can_be_asked_for) {
  for (const Solver* solver : all_solvers())
    for (const std::string_view name : reported_names(*solver)) {
      SCOPED_TRACE(name);
      const Solver* const found = find_solver(name);
      ASSERT_NE(found, nullptr);
      for (Value::Object problem : problems_of(*found)) {
        problem["solver"].data = std::string(name);
        const Model model = solve(problem);
        EXPECT_NE(find_solver(model.solver), nullptr) << model.solver;
        Options automatic = parse_options(problem);
        automatic.solver = found->name();
        EXPECT_TRUE(same(model, solve(automatic)));
      }
    }
}

TEST(Records, names_are_unique) {
  std::vector<std::string_view> names;
  for (const Solver* solver : all_solvers())
    for (const std::string_view name : reported_names(*solver)) names.push_back(name);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  EXPECT_EQ(names.size(), [] {
    std::size_t n = 0;
    for (const Solver* solver : registered_solvers()) n += 1 + solver->record().reports.size();
    return n;
  }());
}

TEST(Records, selection_takes_what_one_of_its_losses_reads) {
  const Dataset rows = classes(false);
  Progress progress;
  const auto validate = [&](std::vector<std::string> losses, const char* option) {
    Value::Array names;
    for (const std::string& loss : losses) names.push_back({loss});
    return cross_validate(
        rows, parse_cross_validation({{"losses", {names}}, {"folds", {2.0}}, {"lambda", {0.1}}, {option, {0.5}}}),
        progress);
  };
  EXPECT_NO_THROW(validate({"hinge", "smoothed_hinge"}, "smoothing"));
  EXPECT_THROW(validate({"hinge", "logistic"}, "smoothing"), Error);
  EXPECT_THROW(validate({"hinge"}, "shrinkage"), Error);
  EXPECT_NO_THROW(train_path(
      rows, parse_path({{"solver", {std::string("sgd")}}, {"lambdas", {Value::Array{{0.1}, {1.0}}}}}), progress));
}

}  // namespace
}  // namespace margin
