// PMML documents read back: the bits of every weight, and what is refused.
#include "core/formats/pmml_model.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "core/base/error.hpp"
#include "core/base/random.hpp"
#include "core/formats/pmml.hpp"
#include "core/formats/xml_reader.hpp"

namespace margin {
namespace {

std::uint64_t bits(double v) {
  std::uint64_t out = 0;
  std::memcpy(&out, &v, sizeof v);
  return out;
}

std::vector<std::uint64_t> numbers(const Value& value) {
  std::vector<std::uint64_t> out;
  for (const Value& item : std::get<Value::Array>(value.data)) {
    if (const auto* row = std::get_if<Value::Array>(&item.data)) {
      for (const Value& cell : *row) out.push_back(bits(std::get<double>(cell.data)));
    } else {
      out.push_back(bits(std::get<double>(item.data)));
    }
  }
  return out;
}

/// Any finite number: of all sizes, subnormal ones and both zeros too.
double any_number(Random& random) {
  switch (random.below(8)) {
    case 0:
      return random.below(2) == 0 ? 0.0 : -0.0;
    case 1:
      return 5e-324 * static_cast<double>(1 + random.below(1000));
    case 2:
      return std::numeric_limits<double>::max();
    default: {
      const std::uint64_t bits = random.next();
      double v = 0;
      std::memcpy(&v, &bits, sizeof v);
      return std::isfinite(v) ? v : 1.0;
    }
  }
}

TEST(PmmlModel, EveryBitOfEveryWeightComesBack) {
  Random random(7);
  for (int trial = 0; trial < 300; ++trial) {
    Model m;
    const auto k = static_cast<int>(random.below(4)), outputs = k < 2 ? 1 : k + 1;
    const int d = 1 + static_cast<int>(random.below(6));
    BesidePmml beside;
    beside.lambda = 0.5;
    m.task = k == 0 ? Task::regression : k == 1 ? Task::binary : Task::multiclass;
    m.loss = beside.loss = k == 0 ? (random.below(2) == 0 ? "poisson" : "squared") : "logistic";
    m.lambda = 0.5;
    const std::vector<std::string> classes = {"b", "a\n&", "<1> \"x\"", "d'"};
    m.classes.assign(classes.begin(), classes.begin() + (k == 0 ? 0 : k + 1));
    m.weights.resize(outputs, d);
    m.intercept.resize(outputs);
    m.dimensions = d;
    std::vector<std::uint64_t> weights, intercept;
    for (int o = 0; o < outputs; ++o) {
      for (int j = 0; j < d; ++j) weights.push_back(bits(m.weights(o, j) = any_number(random)));
      intercept.push_back(bits(m.intercept(o) = any_number(random)));
    }
    std::vector<std::string> names;
    for (int j = 0; j < d && trial % 2 == 0; ++j) names.push_back("f <" + std::to_string((j + 3) % d) + ">");
    if (trial % 3 == 0) {  // of a wider model
      m.dimensions = 2 * d + 3;
      for (int j = 0; j < d; ++j) m.columns.push_back(2 * j + 1);
      beside.feature_names.clear();
      for (int j = 0; j < m.dimensions; ++j) beside.feature_names.push_back("x" + std::to_string(j + 1));
      names = beside.feature_names;
    }
    const Value::Object back = pmml_model(pmml(m, names, "1"), beside);
    EXPECT_EQ(numbers(back.at("weights")), weights) << trial;
    EXPECT_EQ(numbers(back.at("intercept")), intercept) << trial;
    std::vector<std::string> told;
    if (k > 0)
      for (const Value& name : std::get<Value::Array>(back.at("classes").data))
        told.push_back(std::get<std::string>(name.data));
    EXPECT_EQ(told, m.classes);
    ASSERT_EQ(back.count("columns"), m.columns.empty() ? 0U : 1U) << trial;
    for (std::size_t j = 0; j < m.columns.size(); ++j)
      EXPECT_EQ(std::get<double>(std::get<Value::Array>(back.at("columns").data)[j].data), m.columns[j] + 1);
  }
}

BesidePmml logistic(std::vector<std::string> names = {}) { return {"logistic", 0.5, std::move(names), {}}; }

/// Two classes of two features.
std::string document() {
  Model m;
  m.classes = {"no", "yes"};
  m.weights = (Weights(1, 2) << 0.5, -2).finished();
  m.intercept = Eigen::VectorXd::Constant(1, 0.25);
  m.dimensions = 2;
  return pmml(m, {}, "1");
}

std::string with(const std::string& was, const std::string& becomes) {
  std::string text = document();
  const std::size_t at = text.find(was);
  EXPECT_NE(at, std::string::npos) << was;
  return text.replace(at, was.size(), becomes);
}

TEST(PmmlModel, NumbersInNamesAreFeaturesWhereTheyRise) {
  const auto columns = [](const std::string& first, const std::string& second) {
    std::string text = document();
    for (const auto& [from, to] : {std::pair<std::string, std::string>("\"x1\"", "\"a\""),
                                   {"\"x2\"", "\"b\""},
                                   {"\"a\"", first},
                                   {"\"b\"", second}})
      for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from))
        text.replace(at, from.size(), to);
    const Value::Object back = pmml_model(text, logistic());
    return back.count("columns") == 0 ? std::vector<std::uint64_t>{} : numbers(back.at("columns"));
  };
  EXPECT_EQ(columns("\"x2\"", "\"x5\""), (std::vector<std::uint64_t>{bits(2), bits(5)}));
  EXPECT_TRUE(columns("\"x5\"", "\"x2\"").empty());
  EXPECT_TRUE(columns("\"x01\"", "\"x5\"").empty());
  EXPECT_TRUE(columns("\"x2\"", "\"x2147483648\"").empty());
  EXPECT_TRUE(columns("\"x2\"", "\"y5\"").empty());
}

TEST(PmmlModel, ATableOfTheFirstClassIsTurned) {
  std::string text = with("targetCategory=\"yes\"", "targetCategory=\"?\"");
  text.replace(text.find("targetCategory=\"no\""), 19, "targetCategory=\"yes\"");
  text.replace(text.find("targetCategory=\"?\""), 18, "targetCategory=\"no\"");
  const Value::Object back = pmml_model(text, logistic());
  EXPECT_EQ(numbers(back.at("weights")), (std::vector<std::uint64_t>{bits(-0.5), bits(2)}));
  EXPECT_EQ(numbers(back.at("intercept")), (std::vector<std::uint64_t>{bits(-0.25)}));
}

std::string refusal(const std::string& text, const BesidePmml& beside, ErrorKind kind = ErrorKind::malformed) {
  try {
    pmml_model(text, beside);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.message();
    EXPECT_FALSE(error.hint().empty()) << error.message();
    return error.message();
  }
  return "no error";
}

TEST(PmmlModel, WhatContradictsItselfIsNamedWithItsPlace) {
  const std::pair<std::pair<const char*, const char*>, const char*> cases[] = {
      {{"coefficient=\"0.5\"", "coefficient=\"0,5\""},
       "line 21, byte 7: attribute \"coefficient\" is \"0,5\", expected a number"},
      {{"coefficient=\"0.5\"", "coefficient=\"1e999\""}, "expected a number"},
      {{"coefficient=\"0.5\"", "coefficient=\"nan\""}, "expected a number"},
      {{"coefficient=\"0.5\"", "coefficient=\"\""}, "expected a number"},
      {{"coefficient=\"0.5\"", ""}, "has no attribute \"coefficient\""},
      {{"coefficient=\"0.5\"", "coefficient=\"0.5\" coefficient=\"1\""}, "twice"},
      {{"coefficient=\"0.5\"", "coefficient=\"0.5\" power=\"1\""}, "has the attribute \"power\""},
      {{"coefficient=\"0.5\"", "coefficient=\"0.5\"name=\"x\""}, "white space"},
      {{"coefficient=\"0.5\"", "coefficient=0.5"}, "a quoted value is expected"},
      {{"coefficient=\"0.5\"", "coefficient=\"&half;\""}, "where a reference is expected"},
      {{"coefficient=\"0.5\"", "coefficient=\"&#0;\""}, "where a reference is expected"},
      {{"coefficient=\"0.5\"", "coefficient=\"&#233;\""}, "beyond ASCII"},
      {{"coefficient=\"0.5\"", "coefficient=\"&amp\""}, "begins no reference"},
      {{"coefficient=\"0.5\"", "coefficient=\"<\""}, "in a value"},
      {{"name=\"x2\" coefficient", "name=\"x1\" coefficient"}, "has the field \"x1\" twice"},
      {{"name=\"x2\" coefficient", "name=\"x3\" coefficient"}, "expected an active one"},
      {{"MiningField name=\"x2\"", "MiningField name=\"x3\""}, "expected one of the DataDictionary"},
      {{"MiningField name=\"x2\"", "MiningField name=\"x1\""}, "twice"},
      {{"usageType=\"target\"", "usageType=\"supplementary\""}, "has no target"},
      {{"MiningField name=\"x2\"", "MiningField name=\"x2\" usageType=\"target\""}, "second target"},
      {{"numberOfFields=\"3\"", "numberOfFields=\"4\""}, "expected numberOfFields, 4"},
      {{"DataField name=\"x2\"", "DataField name=\"x1\""}, "second field with the name \"x1\""},
      {{"optype=\"continuous\"", "optype=\"any\""}, "expected \"continuous\" or \"categorical\""},
      {{"<Value value=\"no\"/>", ""}, "1 values, expected two or more"},
      {{"targetCategory=\"no\"", "targetCategory=\"maybe\""}, "class \"no\" has no RegressionTable"},
      {{"<RegressionTable intercept=\"0\" targetCategory=\"no\"/>", ""},
       "has 1 elements \"RegressionTable\", expected 2"},
      {{"</MiningSchema>", "</Schema>"}, "ends \"Schema\", expected \"MiningSchema\""},
      {{"</MiningSchema>", "text</MiningSchema>"}, "has \"t\" where an element is expected"},
      {{"<MiningSchema>", "<![CDATA[x]]><MiningSchema>"}, "has text where an element is expected"},
      {{"<Header>", "<!-- <Header>"}, "a comment has no end"},
      {{"<?xml version=\"1.0\"?>", "<!DOCTYPE a [<!ENTITY b \"c\">]>"}, "has a declaration, which is not read"},
      {{"</PMML>", "</PMML><PMML/>"}, "second root"},
      {{"</PMML>", "</PMML>x"}, "where an element is expected"},
      {{"</PMML>", ""}, "ends within the element \"PMML\""},
      {{"<PMML version", "<Pmml version"}, "expected \"PMML\""},
      {{"functionName=\"classification\"", "functionName=\"clustering\""},
       "expected \"regression\" or \"classification\""},
      {{"functionName=\"classification\"", "functionName=\"regression\""}, ""},
  };
  for (const auto& [change, expected] : cases) {
    std::string text = with(change.first, change.second);
    if (*expected == '\0') text.replace(text.find("softmax"), 7, "none");
    const std::string message = refusal(text, logistic());
    EXPECT_NE(message.find(expected), std::string::npos) << change.second << ": " << message;
  }
  EXPECT_NE(refusal("", logistic()).find("line 1, byte 1: has nothing"), std::string::npos);
  for (std::size_t end = 0; end + 2 < document().size(); ++end) refusal(document().substr(0, end), logistic());
}

TEST(PmmlModel, WhatIsNotReadIsRefused) {
  const std::pair<const char*, const char*> cases[] = {
      {"<RegressionTable intercept=\"0\" targetCategory=\"no\"/>",
       "<RegressionTable intercept=\"1\" targetCategory=\"no\"/>"},
      {"version=\"4.4\"", "version=\"3.2\""},
      {"softmax", "probit"},
      {"<MiningSchema>", "<LocalTransformations/><MiningSchema>"},
      {"coefficient=\"0.5\"", "coefficient=\"0.5\" exponent=\"2\""},
      {"</RegressionTable>", "<CategoricalPredictor/></RegressionTable>"},
      {"name=\"x1\" optype=\"continuous\"", "name=\"x1\" optype=\"categorical\""},
      {"MiningField name=\"x2\"", "MiningField name=\"x2\" usageType=\"group\""},
      {"MiningField name=\"x2\"", "MiningField name=\"x2\" missingValueReplacement=\"1\""},
      {"MiningField name=\"x2\"", "MiningField name=\"x2\" missingValueTreatment=\"asValue\""},
      {"MiningField name=\"x2\"", "MiningField name=\"x2\" invalidValueTreatment=\"asIs\""},
  };
  for (const auto& [was, becomes] : cases)
    EXPECT_NE(refusal(with(was, becomes), logistic(), ErrorKind::unsupported), "no error") << becomes;
  EXPECT_NO_THROW(pmml_model(
      with("MiningField name=\"x2\"",
           "MiningField name=\"x2\" missingValueTreatment=\"returnInvalid\" invalidValueTreatment=\"returnInvalid\""),
      logistic()));
  for (const char* harmless :
       {"<Extension><a>text<![CDATA[</a>]]></a></Extension><RegressionModel", "<!-- -- --><?a?><RegressionModel"})
    EXPECT_NO_THROW(pmml_model(with("<RegressionModel", harmless), logistic())) << harmless;
  refusal(document(), {"squared", 0.5, {}, {}}, ErrorKind::invalid_option);
  refusal(document(), {"logistics", 0.5, {}, {}}, ErrorKind::invalid_option);
  refusal(document(), {"logistic", 0, {}, {}}, ErrorKind::invalid_option);
  refusal(document(), {"logistic", 0.5, {"x1", "x1"}, {}}, ErrorKind::invalid_value);
  refusal(document(), {"logistic", 0.5, {"x1", "x3"}, {}}, ErrorKind::invalid_value);
}

TEST(PmmlModel, SizeAndDepthAreLimited) {
  std::string deep;
  for (int k = 0; k < 100; ++k) deep += "<a>";
  EXPECT_NE(refusal(with("<Header>", "<Header>" + deep), logistic()).find("more than 64 elements deep"),
            std::string::npos);
  std::string wide = "<Header";
  for (int k = 0; k < 100; ++k) wide += " a" + std::to_string(k) + "=''";
  EXPECT_NE(refusal(with("<Header", wide), logistic()).find("more than 64 attributes"), std::string::npos);
}

/// Bytes changed at random: an error of the core or a model, never anything else.
TEST(PmmlModel, BytesOfAnyOrigin) {
  Random random(11);
  const std::string text = document();
  int read = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    std::string changed = text;
    for (std::uint64_t k = 0; k <= random.below(3); ++k) {
      const auto at = static_cast<std::size_t>(random.below(changed.size()));
      const char* const pieces[] = {"", "<", ">", "/", "\"", "&", "&#9;", "<!--", "]]>", "x", "\xEF\xBF\xBE", "9", " "};
      changed = changed.substr(0, at) + pieces[random.below(13)] + changed.substr(at + random.below(2));
    }
    try {
      pmml_model(changed, logistic());
      ++read;
    } catch (const Error& error) {
      EXPECT_FALSE(error.message().empty());
    }
  }
  EXPECT_GT(read, 30);
  EXPECT_LT(read, 2000);
}

}  // namespace
}  // namespace margin
