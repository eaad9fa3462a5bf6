#include "core/formats/pmml.hpp"

#include <optional>
#include <unordered_set>

#include "core/base/error.hpp"
#include "core/base/write_number.hpp"
#include "core/formats/pmml_columns.hpp"
#include "core/formats/xml.hpp"

namespace margin {

namespace {

/// The name of every feature that has a weight.
std::vector<std::string> names_of(const Model& m, const std::vector<std::string>& given, const Progress& progress) {
  const auto d = static_cast<std::size_t>(m.dimensions);
  std::vector<std::string> names(static_cast<std::size_t>(m.terms()));
  if (given.empty()) {
    for (std::size_t j = 0; j < names.size(); ++j) {
      progress.work(name_work);
      names[j] = "x" + std::to_string(m.feature(static_cast<std::int32_t>(j)) + 1);
    }
    return names;
  }
  if (given.size() != d)
    throw Error(ErrorKind::wrong_dimensions, "got " + std::to_string(given.size()) + " feature names, the model has " +
                                                 std::to_string(d) + " features");
  std::unordered_set<std::string> seen;
  for (const std::string& name : given) {
    progress.work(name_work);
    if (name.empty()) throw Error(ErrorKind::invalid_value, "a feature name is empty");
    if (!seen.insert(name).second)
      throw Error(ErrorKind::invalid_value, "two features have the name \"" + name + "\"",
                  "Every field of a PMML document needs a name of its own.");
  }
  for (std::size_t j = 0; j < names.size(); ++j)
    names[j] = given[static_cast<std::size_t>(m.feature(static_cast<std::int32_t>(j)))];
  return names;
}

/// That of weights for columns that are not centred.
double intercept(const Model& m, std::int32_t output) {
  double b = m.intercept(output);
  for (std::int32_t j = 0; m.encoder != nullptr && j < m.terms(); ++j)
    b -= m.weights(output, j) / m.encoder->scale(m.feature(j)) * m.encoder->center(m.feature(j));
  return b;
}

/// What the fields of a document are: the columns of an encoder, or numbers with these names.
struct Fields {
  std::vector<std::string> names;
  std::optional<PmmlColumns> columns;
  std::string target;
};

std::string table(const Model& m, std::int32_t output, const std::string* category, const Fields& fields,
                  const Progress& progress) {
  std::string text = "    <RegressionTable intercept=\"" + shortest(intercept(m, output)) + "\"";
  if (category != nullptr) text += " targetCategory=\"" + xml_name(*category) + "\"";
  text += ">\n";
  PmmlPredictors predictors;
  if (fields.columns.has_value()) fields.columns->add_predictors(output, predictors);
  for (std::size_t j = 0; j < fields.names.size(); ++j) {
    progress.work(name_work);
    predictors.add_number(fields.names[j], m.weights(output, static_cast<std::int32_t>(j)));
  }
  return text + predictors.numeric + predictors.categorical + "    </RegressionTable>\n";
}

std::string tables(const Model& m, const Fields& fields, const Progress& progress) {
  if (m.task == Task::regression) return table(m, 0, nullptr, fields, progress);
  std::string text;
  if (m.task == Task::binary)
    return table(m, 0, &m.classes[1], fields, progress) + "    <RegressionTable intercept=\"0\" targetCategory=\"" +
           xml_name(m.classes[0]) + "\"/>\n";
  for (std::int32_t o = 0; o < m.outputs(); ++o)
    text += table(m, o, &m.classes[static_cast<std::size_t>(o)], fields, progress);
  return text;
}

std::string dictionary(const Model& m, const Fields& fields, const Progress& progress) {
  const std::size_t count = fields.columns.has_value() ? fields.columns->fields() : fields.names.size();
  std::string text = "  <DataDictionary numberOfFields=\"" + std::to_string(count + 1) + "\">\n";
  if (fields.columns.has_value()) text += fields.columns->data_fields();
  for (const std::string& name : fields.names) {
    progress.work(name_work);
    text += "    <DataField name=\"" + xml_name(name) + "\" optype=\"continuous\" dataType=\"double\"/>\n";
  }
  text += "    <DataField name=\"" + xml_name(fields.target) + "\"";
  if (m.task == Task::regression) {
    text += " optype=\"continuous\" dataType=\"double\"/>\n";
  } else {
    text += " optype=\"categorical\" dataType=\"string\">\n";
    for (const std::string& name : m.classes) text += "      <Value value=\"" + xml_name(name) + "\"/>\n";
    text += "    </DataField>\n";
  }
  return text + "  </DataDictionary>\n";
}

std::string schema(const Fields& fields, const Progress& progress) {
  std::string text = "    <MiningSchema>\n";
  if (fields.columns.has_value()) text += fields.columns->mining_fields();
  for (const std::string& name : fields.names) {
    progress.work(name_work);
    text += "      <MiningField name=\"" + xml_name(name) + "\"/>\n";
  }
  return text + "      <MiningField name=\"" + xml_name(fields.target) +
         "\" usageType=\"target\"/>\n    </MiningSchema>\n";
}

std::string outputs(const Model& m, PmmlNames& names) {
  if (!m.logistic() || !m.calibration.empty() || m.task != Task::binary) return {};
  std::string text = "    <Output>\n";
  for (const std::string& c : m.classes)
    text += "      <OutputField name=\"" + xml_name(names.take("probability(" + c + ")")) +
            "\" optype=\"continuous\" dataType=\"double\" feature=\"probability\" value=\"" + xml_name(c) + "\"/>\n";
  return text + "    </Output>\n";
}

}  // namespace

std::string pmml(const Model& m, const std::vector<std::string>& feature_names, const std::string& version,
                 const Progress& progress) {
  if (m.encoder != nullptr && !feature_names.empty())
    throw Error(ErrorKind::unsupported, "the model has names for its features, and takes no others",
                "Leave the argument feature_names out.");
  if (m.one_class())
    throw Error(ErrorKind::unsupported, "PMML knows no one-class machine",
                "Its score is a sum, margin_weights and intercept say of what: w.x + b is above 0 for an inlier.");
  if (m.encoder != nullptr && !m.encoder->pairs().empty())
    throw Error(ErrorKind::unsupported,
                "the pair \"" + m.encoder->pairs()[0].name() +
                    "\" has a weight for each cell, which margin_pmml does not write",
                "margin_sql writes such models as SQL. For PMML train without the option interactions.");
  PmmlNames names;
  Fields fields;
  if (m.encoder != nullptr) {
    fields.columns.emplace(m, names, progress);
  } else {
    fields.names = names_of(m, feature_names, progress);
    for (const std::string& name : fields.names) {
      progress.work(name_work);
      names.take(name);
    }
  }
  fields.target = names.take("target");
  const bool regression = m.task == Task::regression;
  std::string text =
      "<?xml version=\"1.0\"?>\n<PMML version=\"4.4\" xmlns=\"http://www.dmg.org/PMML-4_4\">\n  <Header>\n";
  text += "    <Application name=\"margin\" version=\"" + xml_name(version) + "\"/>\n  </Header>\n";
  text += dictionary(m, fields, progress);
  text += "  <RegressionModel functionName=\"" + std::string(regression ? "regression" : "classification") +
          "\" normalizationMethod=\"" +
          (m.log_link() ? "exp"
           : regression ? "none"
                        : "softmax") +
          "\">\n";
  text += schema(fields, progress);
  text += outputs(m, names);
  if (fields.columns.has_value()) text += fields.columns->transformations();
  progress.poll();
  text += tables(m, fields, progress);
  progress.poll();
  fields.names = {};
  progress.poll();
  return text += "  </RegressionModel>\n</PMML>\n";
}

}  // namespace margin
