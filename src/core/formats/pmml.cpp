#include "core/formats/pmml.hpp"

#include <cmath>
#include <unordered_set>

#include "core/base/error.hpp"
#include "core/base/write_number.hpp"

namespace margin {

namespace {

constexpr double name_work = 512;  // of a field, wherever it is written

std::string number(double value) { return shortest(value); }

/// Text as the value of an attribute. White space other than a blank must be a reference, or a parser turns it into
/// one; the other control characters cannot be in an XML 1.0 document at all.
std::string escaped(const std::string& text) {
  std::string out;
  if (text.find("\xEF\xBF\xBE") != std::string::npos || text.find("\xEF\xBF\xBF") != std::string::npos)
    throw Error(ErrorKind::invalid_value, "a name contains U+FFFE or U+FFFF, which XML cannot express",
                "Rename the feature or the class.");
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\t':
      case '\n':
      case '\r':
        out += "&#" + std::to_string(static_cast<int>(c)) + ";";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20)
          throw Error(ErrorKind::invalid_value,
                      "a name contains the control character " + std::to_string(static_cast<int>(c)) +
                          ", which XML cannot express",
                      "Rename the feature or the class.");
        out += c;
    }
  }
  return out;
}

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

/// A field of the document that has features.
struct Field {
  std::string name;
  const Column* column = nullptr;  ///< of a model with an encoder: categories and booleans are categorical
};

std::vector<Field> fields_of(const Model& m, const std::vector<std::string>& names) {
  std::vector<Field> fields;
  if (m.encoder == nullptr) {
    for (const std::string& name : names) fields.push_back({name});
    return fields;
  }
  for (std::size_t j = 0; j < m.encoder->columns().size(); ++j) {
    const Column& c = m.encoder->columns()[j];
    const std::int32_t begin = m.encoder->starts()[j], end = m.encoder->starts()[j + 1];
    if (c.binned())
      throw Error(ErrorKind::unsupported,
                  "column \"" + c.name + "\" is cut into bins, which margin_pmml does not write",
                  "Train without the option bins.");
    if (c.missing)
      throw Error(ErrorKind::unsupported,
                  "column \"" + c.name + "\" has a feature for missing values, which PMML has no predictor for",
                  "Train with margin_options(missing => 'skip'), or on a column without NULL: coalesce(...).");
    if (scalar(c.kind) || c.kind == ColumnKind::category)
      fields.push_back({c.name, &c});
    else if (m.columns.empty())
      for (std::int32_t f = begin; f < end; ++f) fields.push_back({m.encoder->feature_name(f)});
    else  // of what the column declares, those that have a weight
      for (auto at = std::lower_bound(m.columns.begin(), m.columns.end(), begin); at != m.columns.end() && *at < end;
           ++at)
        fields.push_back({m.encoder->feature_name(*at)});
  }
  return fields;
}

/// Categories, and true and false, have values of their own; everything else is a number.
bool categorical(const Column& c) { return c.kind == ColumnKind::category || c.kind == ColumnKind::boolean; }
bool categorical(const Field& f) { return f.column != nullptr && categorical(*f.column); }

/// Of a table: the schema wants those of numbers before those of categories.
struct Predictors {
  std::string numeric, categorical;
};

void add_predictor(Predictors& to, const Model& m, std::int32_t j, double w, const std::vector<std::string>& names) {
  const Encoder* e = m.encoder.get();
  const auto add_number = [&](const std::string& name, double coefficient) {
    to.numeric +=
        "      <NumericPredictor name=\"" + escaped(name) + "\" coefficient=\"" + number(coefficient) + "\"/>\n";
  };
  if (e == nullptr) return add_number(names[static_cast<std::size_t>(j)], w);
  const std::int32_t feature = m.feature(j);
  const Encoder::Place at = e->place(feature);
  const Column& c = e->columns()[at.column];
  if (!categorical(c)) return add_number(e->feature_name(feature), w / e->scale(feature));
  to.categorical += "      <CategoricalPredictor name=\"" + escaped(c.name) + "\" value=\"" +
                    escaped(c.kind == ColumnKind::boolean ? "true" : c.category(at.value)) + "\" coefficient=\"" +
                    number(w) + "\"/>\n";
}

/// That of weights for columns that are not centred.
double intercept(const Model& m, std::int32_t output) {
  double b = m.intercept(output);
  for (std::int32_t j = 0; m.encoder != nullptr && j < m.terms(); ++j)
    b -= m.weights(output, j) / m.encoder->scale(m.feature(j)) * m.encoder->center(m.feature(j));
  return b;
}

/// `wanted`, with underscores appended until no feature has that name.
std::string unused(std::string wanted, const std::vector<std::string>& names, const Progress& progress) {
  std::unordered_set<std::string_view> taken;
  for (const std::string& name : names) {
    progress.work(name_work);
    taken.insert(name);
  }
  while (taken.count(wanted) > 0) wanted += "_";
  return wanted;
}

std::string table(const Model& m, std::int32_t output, const std::string* category,
                  const std::vector<std::string>& names, const Progress& progress) {
  std::string text = "    <RegressionTable intercept=\"" + number(intercept(m, output)) + "\"";
  if (category != nullptr) text += " targetCategory=\"" + escaped(*category) + "\"";
  text += ">\n";
  Predictors predictors;
  for (std::int32_t j = 0; j < m.terms(); ++j) {
    const double w = m.weights(output, j);
    progress.work(name_work);
    if (w != 0 || std::signbit(w)) add_predictor(predictors, m, j, w, names);  // a lost sign would be another weight
  }
  return text + predictors.numeric + predictors.categorical + "    </RegressionTable>\n";
}

std::string tables(const Model& m, const std::vector<std::string>& names, const Progress& progress) {
  if (m.task == Task::regression) return table(m, 0, nullptr, names, progress);
  std::string text;
  if (m.task == Task::binary)
    return table(m, 0, &m.classes[1], names, progress) + "    <RegressionTable intercept=\"0\" targetCategory=\"" +
           escaped(m.classes[0]) + "\"/>\n";
  for (std::int32_t o = 0; o < m.outputs(); ++o)
    text += table(m, o, &m.classes[static_cast<std::size_t>(o)], names, progress);
  return text;
}

std::string dictionary(const Model& m, const std::vector<Field>& fields, const std::string& target,
                       const Progress& progress) {
  std::string text = "  <DataDictionary numberOfFields=\"" + std::to_string(fields.size() + 1) + "\">\n";
  for (const Field& f : fields) {
    progress.work(name_work);
    text += "    <DataField name=\"" + escaped(f.name) + "\"";
    if (!categorical(f)) {
      text += " optype=\"continuous\" dataType=\"double\"/>\n";
      continue;
    }
    text += " optype=\"categorical\" dataType=\"string\">\n";
    const std::vector<std::string> flags = {"false", "true"};
    for (const std::string& value : f.column->kind == ColumnKind::boolean ? flags : f.column->categories)
      text += "      <Value value=\"" + escaped(value) + "\"/>\n";
    text += "    </DataField>\n";
  }
  text += "    <DataField name=\"" + escaped(target) + "\"";
  if (m.task == Task::regression) {
    text += " optype=\"continuous\" dataType=\"double\"/>\n";
  } else {
    text += " optype=\"categorical\" dataType=\"string\">\n";
    for (const std::string& name : m.classes) text += "      <Value value=\"" + escaped(name) + "\"/>\n";
    text += "    </DataField>\n";
  }
  return text + "  </DataDictionary>\n";
}

std::string schema(const std::vector<Field>& fields, const std::string& target, const Progress& progress) {
  std::string text = "    <MiningSchema>\n";
  for (const Field& f : fields) {
    progress.work(name_work);
    text += "      <MiningField name=\"" + escaped(f.name) + "\"/>\n";
  }
  return text + "      <MiningField name=\"" + escaped(target) + "\" usageType=\"target\"/>\n    </MiningSchema>\n";
}

std::string outputs(const Model& m, std::vector<std::string> names, const Progress& progress) {
  if (!m.logistic() || !m.calibration.empty() || m.task != Task::binary) return {};
  std::string text = "    <Output>\n";
  for (const std::string& c : m.classes) {
    const std::string name = unused("probability(" + c + ")", names, progress);
    names.push_back(name);
    text += "      <OutputField name=\"" + escaped(name) +
            "\" optype=\"continuous\" dataType=\"double\" feature=\"probability\" value=\"" + escaped(c) + "\"/>\n";
  }
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
  std::vector<std::string> names = names_of(m, feature_names, progress);
  const std::vector<Field> fields = fields_of(m, names);
  if (m.encoder != nullptr) {
    names.clear();
    for (const Field& f : fields) names.push_back(f.name);
  }
  const std::string target = unused("target", names, progress);
  const bool regression = m.task == Task::regression;
  std::string text =
      "<?xml version=\"1.0\"?>\n<PMML version=\"4.4\" xmlns=\"http://www.dmg.org/PMML-4_4\">\n  <Header>\n";
  text += "    <Application name=\"margin\" version=\"" + escaped(version) + "\"/>\n  </Header>\n";
  text += dictionary(m, fields, target, progress);
  text += "  <RegressionModel functionName=\"" + std::string(regression ? "regression" : "classification") +
          "\" normalizationMethod=\"" +
          (m.log_link() ? "exp"
           : regression ? "none"
                        : "softmax") +
          "\">\n";
  text += schema(fields, target, progress);
  const std::string weights = tables(m, names, progress);
  names.push_back(target);
  text += outputs(m, std::move(names), progress);
  progress.poll();
  text += weights;
  return text += "  </RegressionModel>\n</PMML>\n";
}

}  // namespace margin
