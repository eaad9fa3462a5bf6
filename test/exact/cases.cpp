#include "cases.hpp"

#include <cmath>
#include <cstdio>

#include "core/loss/loss.hpp"
#include "core/problem/one_class.hpp"

namespace exact {

namespace {

using margin::Random;

void set(OptionValues& o, const std::string& name, double v) { o[name].data = v; }
void set(OptionValues& o, const std::string& name, bool v) { o[name].data = v; }
void set(OptionValues& o, const std::string& name, const std::string& v) { o[name].data = v; }

template <class T>
T among(Random& random, const std::vector<T>& values) {
  return values[random.below(values.size())];
}

double power(Random& random, double from, double to) {
  return std::pow(10.0, from + (to - from) * random.uniform()) * (1 + random.uniform());
}

double moved(double v, int ulps) {
  for (; ulps > 0; --ulps) v = std::nextafter(v, INFINITY);
  for (; ulps < 0; ++ulps) v = std::nextafter(v, -INFINITY);
  return v;
}

/// How the values of a table are made.
struct Style {
  int kind;
  double scale, offset;
};
Style any_style(Random& random, bool moderate) {
  Style s{static_cast<int>(random.below(6)), 1, 0};
  const std::uint32_t scale = random.below(moderate ? 8 : 10);
  if (scale >= 8) s.scale = power(random, -140, 140);
  if (scale == 6) s.scale = power(random, -20, 20);
  if (scale == 7) s.offset = power(random, 2, 15);
  return s;
}
double any_value(Random& random, const Style& s) {
  const double normal = random.uniform() + random.uniform() + random.uniform() - 1.5;
  switch (s.kind) {
    case 0:
      return s.scale * among<double>(random, {0, 1, -1, 2, -2, 0.5});
    case 1:
      return s.scale * among<double>(random, {1, -1, 1 + 0x1p-52, 1 - 0x1p-53, -1 - 0x1p-52});
    case 2:
      return s.scale * among<double>(random, {0.1, 0.2, 0.3, 1.0 / 3, -0.1});
    case 3:
      return (random.below(3) == 0 ? 0.0 : s.scale * normal);
    default:
      return s.offset + s.scale * normal;
  }
}

/// Rows as encoders with bins and pairs write them: two numbers, which tie with their thresholds or are missing, as steps, cells of
/// both, whether one is missing; columns that no row and that every row has.
void coded_rows(Random& random, Case& c, std::size_t rows, std::size_t width) {
  struct Feature {
    std::uint32_t kind, a, b;
  };
  std::vector<Feature> features;
  for (std::size_t j = 0; j < width; ++j) features.push_back({random.below(8), random.below(3), random.below(3)});
  for (std::size_t i = 0; i < rows; ++i) {
    const std::uint32_t x = random.below(4), y = random.below(4);  // 3: missing, and 1 for steps
    const auto filled = [](std::uint32_t v) { return v == 3 ? 1 : v; };
    std::vector<double> row;
    for (const Feature& f : features) {
      const bool on = f.kind < 2    ? filled(x) > f.a
                      : f.kind == 2 ? filled(y) > f.b
                      : f.kind < 5  ? x == f.a && y == f.b
                      : f.kind == 5 ? x == 3
                                    : f.kind == 6;
      row.push_back(on ? 1 : 0);
    }
    c.x.push_back(std::move(row));
  }
}

/// The same in the form that trainings on bins and pairs keep: terms of steps, of indicators, of both, and numbers. A code may be that
/// of no row or of all.
void rows_as_codes(Random& random, Case& c, std::size_t rows) {
  margin::CodeLayout layout;
  const std::uint32_t terms = 1 + random.below(2), numbers = random.below(2);
  for (std::uint32_t t = 0; t < terms; ++t) {
    margin::CodedTerm term;
    term.first = layout.dimensions;
    term.steps = static_cast<std::int32_t>(random.below(4));
    term.indicators = static_cast<std::int32_t>(random.below(3)) + (term.steps == 0 ? 1 : 0);
    term.filled = static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(term.steps) + 1));
    layout.dimensions += term.features();
    layout.terms.push_back(term);
  }
  for (std::uint32_t k = 0; k < numbers; ++k) layout.numbers.push_back(layout.dimensions++);
  auto codes = std::make_shared<margin::CodedRows>(layout, static_cast<std::int64_t>(rows));
  const Style style = any_style(random, false);
  for (std::size_t i = 0; i < rows; ++i) {
    const auto row = static_cast<std::int64_t>(i);
    for (std::size_t t = 0; t < terms; ++t)
      codes->set_code(t, row,
                      static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(layout.terms[t].codes()))));
    for (std::size_t k = 0; k < numbers; ++k) codes->set_number(k, row, any_value(random, style));
    const margin::Row x = codes->row(row);
    std::vector<double>& dense = c.x.emplace_back(static_cast<std::size_t>(layout.dimensions));
    for (std::int32_t k = 0; k < x.count; ++k) dense[static_cast<std::size_t>(x.indices[k])] = x.value(k);
  }
  c.codes = std::move(codes);
}

void any_rows(Random& random, Case& c, std::size_t rows, std::size_t width, bool moderate) {
  if (random.below(10) == 0) return coded_rows(random, c, rows, width);
  Style style = any_style(random, moderate);
  const bool mixed = !moderate && random.below(12) == 0;
  for (std::size_t i = 0; i < rows; ++i) {
    const std::uint32_t how = random.below(10);
    std::vector<double> x;
    if (i > 0 && how == 0) {
      x = c.x[random.below(i)];  // a duplicate
    } else if (i > 0 && how == 1) {
      x = c.x[random.below(i)];  // on the line through another
      const double factor = among<double>(random, {-1, 2, 0.5, -3});
      for (double& v : x) v *= factor;
    } else if (i > 0 && how == 2) {
      x = c.x[random.below(i)];  // nearly the same
      for (double& v : x) v = moved(v, static_cast<int>(random.below(7)) - 3);
    } else {
      for (std::size_t j = 0; j < width; ++j) {
        if (mixed) style.scale = power(random, -140, 140);
        x.push_back(how == 3 && random.below(2) == 0 ? 0.0 : any_value(random, style));
      }
    }
    c.x.push_back(std::move(x));
  }
}

void any_classes(Random& random, Case& c, std::uint32_t classes) {
  for (std::size_t i = 0; i < c.x.size(); ++i)
    c.y.push_back(i < classes ? static_cast<double>(i) : random.below(classes));
}

void weights(Random& random, Case& c) {
  if (random.below(3) != 0) return;
  const bool wide = random.below(4) == 0;
  for (std::size_t i = 0; i < c.x.size(); ++i)
    c.weight.push_back(random.below(6) == 0 ? 0.0 : (wide ? power(random, -100, 100) : power(random, -2, 2)));
  c.weight[0] = 1;
}

double any_lambda(Random& random) {
  switch (random.below(6)) {
    case 0:
      return power(random, -300, 99);
    case 1:
      return power(random, -20, 20);
    default:
      return power(random, -6, 2);
  }
}

void soft(Random& random, Case& c, bool coded) {
  const auto& losses = margin::loss_names();
  const std::string loss(losses[random.below(losses.size())]);
  c.family = coded ? coded_family : loss;
  const std::uint32_t classes = random.below(5) == 0 ? 3 : 2;
  if (coded)
    rows_as_codes(random, c, classes + random.below(4));
  else
    any_rows(random, c, classes + random.below(4), 1 + random.below(3), false);
  set(c.options, "loss", loss);
  const double tube = among<double>(random, {0, 0.1, 1, 1e6, 0.5, power(random, -3, 8)});
  if (margin::loss_reads(loss, "epsilon")) set(c.options, "epsilon", tube);
  const double smoothing = among<double>(random, {1, 0.25, 1e-3, 10, 1e-8});
  if (margin::loss_reads(loss, "quantile")) set(c.options, "quantile", among<double>(random, {0.5, 0.1, 0.999, 0.75}));
  if (margin::loss_reads(loss, "smoothing")) set(c.options, "smoothing", smoothing);
  if (!margin::is_regression_loss(loss)) {
    any_classes(random, c, classes);
    if (random.below(5) == 0) set(c.options, "class_weight", std::string("balanced"));
  } else {
    const Style style = any_style(random, false);
    const bool ties = random.below(3) == 0;
    for (std::size_t i = 0; i < c.x.size(); ++i)
      c.y.push_back(ties ? moved(tube, static_cast<int>(random.below(9)) + 1) * (random.below(2) == 0 ? -1 : 1)
                         : any_value(random, style));
    if (loss == "poisson")
      for (double& y : c.y) y = std::fabs(y);
    if (ties && c.codes == nullptr)
      for (auto& x : c.x)
        for (double& v : x) v = 1;
  }
  weights(random, c);
  set(c.options, "lambda", any_lambda(random));
  const std::uint32_t solver = random.below(12);
  if (solver >= 1 && solver <= 4) set(c.options, "solver", std::string(solver < 3 ? "sdca" : "newton"));
  if (solver == 0) set(c.options, "solver", std::string("sgd"));
  if (solver == 5) {
    set(c.options, "l1_ratio", among<double>(random, {0.5, 0.9, 1e-3}));
    set(c.options, "solver", std::string("sdca"));
  }
  if (random.below(4) == 0) set(c.options, "intercept_scale", among<double>(random, {1e-3, 10, 1e6}));
}

void hard(Random& random, Case& c, bool lp) {
  c.family = lp ? "hard margin, lp" : "hard margin, l2";
  const std::uint32_t classes = random.below(5) == 0 ? 3 : 2;
  any_rows(random, c, classes + random.below(4), 1 + random.below(3), false);
  any_classes(random, c, classes);
  if (lp) {
    set(c.options, "norm", among<double>(random, {1, 1, 1.5, 1.1, 1.02, 1.9}));
    if (random.below(3) == 0) set(c.options, "working_set", random.below(2) == 0);
    if (random.below(8) == 0 && std::get<double>(c.options["norm"].data) == 1) {
      c.family = random.below(2) == 0 ? "stumps" : "trees";
      set(c.options, "learners", std::string(c.family));
    }
  } else if (random.below(3) != 0) {
    set(c.options, "solver",
        among<std::string>(random, {"cutting_plane", "momentum", "gradient_descent", "normalized_gradient_descent",
                                    "batch_perceptron", "dual_ascent", "perceptron"}));
  }
}

void interpolation(Random& random, Case& c) {
  c.family = "interpolation";
  any_rows(random, c, 1 + random.below(5), 1 + random.below(5), false);
  const Style style = any_style(random, false);
  for (std::size_t i = 0; i < c.x.size(); ++i) c.y.push_back(any_value(random, style));
  if (random.below(2) == 0)
    for (const double y : c.y)
      c.upper.push_back(random.below(4) == 0 ? INFINITY : y + std::fabs(any_value(random, style)));
  set(c.options, "loss", std::string("interpolate"));
  if (random.below(3) == 0) set(c.options, "norm", among<double>(random, {1.5, 1.1, 1.9}));
}

void kernel(Random& random, Case& c) {
  const std::string kernel = among<std::string>(random, {"linear", "rbf", "rbf", "polynomial", "ntk"});
  c.family = "kernel " + kernel;
  const bool is_soft = random.below(2) == 0;
  const std::uint32_t classes = is_soft && random.below(5) == 0 ? 3 : 2;
  any_rows(random, c, classes + random.below(4), 1 + random.below(3), true);
  any_classes(random, c, classes);
  set(c.options, "kernel", kernel);
  if (kernel == "linear") set(c.options, "solver", std::string("smo"));
  if (kernel == "rbf" && random.below(2) == 0) set(c.options, "gamma", power(random, -6, 2));
  if (kernel == "polynomial") {
    set(c.options, "degree", among<double>(random, {1, 2, 3, 5}));
    set(c.options, "coef0", among<double>(random, {0, 1, 0.1}));
  }
  if (is_soft) {
    set(c.options, "lambda", any_lambda(random));
    weights(random, c);
    if (random.below(4) == 0) set(c.options, "class_weight", std::string("balanced"));
    if (random.below(3) == 0) set(c.options, "solver", std::string("nystrom"));
  } else if (random.below(3) == 0) {
    set(c.options, "solver", among<std::string>(random, {"sampling", "kernel_batch_perceptron"}));
  }
}

std::string number(double v) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", v);
  return text;
}

}  // namespace

double any_number(Random& random, double from, double to) {
  if (random.below(5) == 0)
    return among<double>(random, {0, 5e-324, -5e-324, 1e-310, 1, -1, 1 + 0x1p-52, 2.2250738585072014e-308});
  return power(random, from, to) * (random.below(2) == 0 ? 1 : -1);
}

namespace {

Case any_case(std::uint64_t seed, bool coded) {
  Random random(seed);
  Case c;
  const std::uint32_t family = coded ? 0 : random.below(20);
  if (family < 11)
    soft(random, c, coded);
  else if (family < 14)
    hard(random, c, false);
  else if (family < 16)
    hard(random, c, true);
  else if (family < 17)
    interpolation(random, c);
  else
    kernel(random, c);
  set(c.options, "tolerance", among<double>(random, {1e-3, 1e-6, 0, 1e-10}));
  const std::uint32_t form = random.below(3);
  const auto named = c.options.find("solver");
  const bool sgd = named != c.options.end() && std::get<std::string>(named->second.data) == "sgd";
  if (family >= 11 || form == 0)
    set(c.options, "intercept", form > 0);
  else
    set(c.options, "intercept",
        std::string(form == 1 || sgd || c.options.count("intercept_scale") > 0 ? "penalized" : "free"));
  set(c.options, "max_iterations", among<double>(random, {300, 300, 100, 5, 1}));
  set(c.options, "seed", static_cast<double>(random.below(100)));
  set(c.options, "dual_weights", true);
  return c;
}

}  // namespace

Case make_case(std::uint64_t seed) { return any_case(seed, false); }
Case make_coded_case(std::uint64_t seed) { return any_case(seed, true); }

Rows::Rows(const Case& c, const margin::Options& settings) : data_(margin::outcome_of(settings), &memory_) {
  const bool classes = data_.outcome() == margin::Dataset::Outcome::classes;
  for (std::size_t i = 0; i < c.x.size(); ++i) {
    const margin::Label label = margin::is_one_class(settings) ? margin::one_class_label(data_)
                                : classes ? data_.classes().intern(std::to_string(static_cast<int>(c.y[i])), c.y[i])
                                : c.upper.empty() ? margin::Label(c.y[i])
                                                  : margin::Label(c.y[i], c.upper[i]);
    data_.append(margin::dense_row(c.x[i].data(), static_cast<std::int32_t>(c.x[i].size())), label,
                 c.weight.empty() ? 1.0 : c.weight[i]);
  }
  if (c.codes != nullptr) coded_.emplace(data_, c.codes);
}

namespace {

/// As JSON.
std::string json(const margin::Value& value) {
  if (const auto* v = std::get_if<double>(&value.data)) return number(*v);
  if (const auto* v = std::get_if<bool>(&value.data)) return *v ? "true" : "false";
  if (const auto* v = std::get_if<std::string>(&value.data)) return "\"" + *v + "\"";
  std::string out;
  if (const auto* list = std::get_if<margin::Value::Array>(&value.data)) {
    for (const margin::Value& item : *list) out += (out.empty() ? "" : ",") + json(item);
    return "[" + out + "]";
  }
  if (const auto* object = std::get_if<margin::Value::Object>(&value.data)) {
    for (const auto& [name, item] : *object) out += (out.empty() ? "\"" : ",\"") + name + "\":" + json(item);
    return "{" + out + "}";
  }
  return "null";
}

}  // namespace

std::string reproducer(const Case& c) {
  const std::string options = json(margin::Value{c.options});
  std::string rows;
  for (std::size_t i = 0; i < c.x.size(); ++i) {
    rows += (rows.empty() ? "(" : ",(") + std::to_string(i) + ",";
    rows += c.upper.empty() ? number(c.y[i])
                            : "numrange(" + number(c.y[i]) + "," +
                                  (std::isinf(c.upper[i]) ? "null" : number(c.upper[i])) + ",'[]')";
    rows += (i == 0 ? "::" + std::string(c.upper.empty() ? "float8" : "numrange") : "") + ",'{";
    for (std::size_t j = 0; j < c.x[i].size(); ++j) rows += (j > 0 ? "," : "") + number(c.x[i][j]);
    rows += (i == 0 ? "}'::float8[]" : "}'");
    if (!c.weight.empty()) rows += "," + number(c.weight[i]) + (i == 0 ? "::float8" : "");
    rows += ")";
  }
  return "select (m).* from (select train_margin(y,x," + std::string(c.weight.empty() ? "" : "w,") + "'" + options +
         "' order by i) m from (values " + rows + ") t(i,y,x" + (c.weight.empty() ? "" : ",w") + ")) s;";
}

}  // namespace exact
