#include "core/formats/pmml_model.hpp"

#include <algorithm>
#include <cmath>
#include <memory_resource>
#include <unordered_map>

#include "core/base/error.hpp"
#include "core/base/polled.hpp"
#include "core/base/quoted.hpp"
#include "core/base/read_number.hpp"
#include "core/formats/foreign_model.hpp"
#include "core/formats/xml_reader.hpp"
#include "core/loss/loss.hpp"

namespace margin {

namespace {

constexpr std::size_t most_weights = std::size_t{1} << 24;

struct Field {
  std::string name;
  bool continuous = false;
  std::vector<std::string> values;
};

struct Table {
  std::string category;
  double intercept = 0;
  std::vector<double> weights;  // of every feature
  bool empty() const {
    return intercept == 0 && std::all_of(weights.begin(), weights.end(), [](double w) { return w == 0; });
  }
};

bool is_among(std::string_view word, std::string_view words) {
  std::string key(" ");
  key.append(word).append(" ");
  return words.find(key) != std::string_view::npos;
}

constexpr double one_work = 256;  // of a name

class PmmlReader {
 public:
  PmmlReader(std::string_view document, const Progress& progress)
      : xml_(document, "PMML", progress), progress_(progress) {}

  void read();
  Value::Object model(BesidePmml beside) const;
  void forget();

 private:
  double number(std::string_view attribute) const;
  [[noreturn]] void refuse_element() const;
  void skip_or_refuse(std::string_view harmless);
  void end();
  void read_dictionary();
  void read_field();
  void read_regression();
  void read_schema();
  void refuse_treatment() const;
  void read_table();
  std::vector<std::int32_t> places(const std::vector<std::string>& names) const;

  XmlReader xml_;
  const Progress& progress_;
  std::vector<Field> fields_;
  std::pmr::monotonic_buffer_resource nodes_;  // in large blocks: to free as many small ones takes long
  std::pmr::unordered_map<std::string, std::size_t> field_of_{&nodes_}, feature_of_{&nodes_};  // in fields_, features_
  std::vector<const Field*> features_;
  const Field* target_ = nullptr;
  bool dictionary_ = false, model_ = false, regression_ = false;
  std::string normalization_;
  std::vector<Table> tables_;
};

double PmmlReader::number(std::string_view attribute) const {
  const std::string& text = xml_.require(attribute);
  double value = 0;
  const auto end = read_number(text.data(), text.data() + text.size(), value);
  if (text.empty() || end.ptr != text.data() + text.size() || end.ec != std::errc() || !std::isfinite(value))
    xml_.refuse("attribute " + quoted(attribute) + " is " + quoted(text) + ", expected a number");
  return value;
}

void PmmlReader::refuse_element() const {
  throw Error(ErrorKind::unsupported, "element " + quoted(xml_.name()) + " of PMML is not read",
              "Read are documents of margin_pmml: one RegressionModel of numeric fields. margin_to_json and "
              "margin_from_json take every model.");
}

/// Elements that change no prediction.
void PmmlReader::skip_or_refuse(std::string_view harmless) {
  if (!is_among(xml_.name(), " Extension ") && !is_among(xml_.name(), harmless)) refuse_element();
  xml_.skip();
}

/// Of an element without parts.
void PmmlReader::end() {
  while (xml_.next()) skip_or_refuse(" ");
}

void PmmlReader::read() {
  if (!xml_.next() || xml_.name() != "PMML")
    xml_.refuse("has the element " + quoted(xml_.name()) + ", expected \"PMML\"");
  const std::string& version = xml_.require("version");
  if (version.substr(0, 2) != "4.")
    throw Error(ErrorKind::unsupported, "PMML of version " + quoted(version) + " is not read",
                "Versions 4.0 to 4.4 are.");
  while (xml_.next()) {
    if (xml_.name() == "DataDictionary" && !dictionary_)
      read_dictionary();
    else if (xml_.name() == "RegressionModel" && dictionary_ && !model_)
      read_regression();
    else if (xml_.name() == "DataDictionary" || (xml_.name() == "RegressionModel" && dictionary_))
      xml_.refuse("has a second element " + quoted(xml_.name()) + ", expected one");
    else if (xml_.name() == "RegressionModel")
      xml_.refuse("has the element \"RegressionModel\" where \"DataDictionary\" is expected");
    else
      skip_or_refuse(" Header MiningBuildTask ");
  }
  if (!model_) xml_.refuse("ends \"PMML\" where the element \"RegressionModel\" is expected");
  xml_.next();  // nothing may follow
}

void PmmlReader::read_dictionary() {
  dictionary_ = true;
  xml_.require_only(" numberOfFields ");
  const bool counted = xml_.find("numberOfFields") != nullptr;
  const double count = counted ? number("numberOfFields") : 0;
  while (xml_.next()) {
    if (xml_.name() == "DataField")
      read_field();
    else
      skip_or_refuse(" ");
  }
  if (counted && count != static_cast<double>(fields_.size()))
    xml_.refuse("has " + std::to_string(fields_.size()) + " elements \"DataField\", expected numberOfFields, " +
                describe(Value{count}));
}

void PmmlReader::read_field() {
  xml_.require_only(" name displayName optype dataType ");
  Field field;
  field.name = xml_.require("name");
  const std::string& type = xml_.require("optype");
  field.continuous = type == "continuous";
  if (!field.continuous && type != "categorical" && type != "ordinal")
    xml_.refuse("attribute \"optype\" is " + quoted(type) + ", expected \"continuous\" or \"categorical\"");
  if (!field_of_.emplace(field.name, fields_.size()).second)
    xml_.refuse("has a second field with the name " + quoted(field.name));
  while (xml_.next()) {
    if (xml_.name() != "Value") {
      skip_or_refuse(" ");
      continue;
    }
    xml_.require_only(" value displayValue property ");
    const std::string* const property = xml_.find("property");
    if (property != nullptr && *property != "valid") refuse_element();
    field.values.push_back(xml_.require("value"));
    end();
  }
  fields_.push_back(std::move(field));
}

void PmmlReader::read_regression() {
  model_ = true;
  xml_.require_only(" functionName normalizationMethod modelName algorithmName modelType targetFieldName isScorable ");
  const std::string& function = xml_.require("functionName");
  regression_ = function == "regression";
  if (!regression_ && function != "classification")
    xml_.refuse("attribute \"functionName\" is " + quoted(function) +
                ", expected \"regression\" or \"classification\"");
  const std::string* const method = xml_.find("normalizationMethod");
  normalization_ = method != nullptr ? *method : "none";
  if (!is_among(normalization_, regression_ ? " none exp " : " softmax logit simplemax none "))
    throw Error(ErrorKind::unsupported,
                "normalizationMethod " + quoted(normalization_) + " of a " + function + " is not read",
                regression_ ? "\"none\" and \"exp\" are." : "\"softmax\" is, and \"logit\" of two classes.");
  while (xml_.next()) {
    if (xml_.name() == "MiningSchema")
      read_schema();
    else if (xml_.name() == "RegressionTable")
      read_table();
    else
      skip_or_refuse(" Output ModelStats ModelExplanation ModelVerification ");
  }
  const std::size_t expected = regression_ ? 1 : target_ != nullptr ? target_->values.size() : 0;
  if (tables_.size() != expected)
    xml_.refuse("has " + std::to_string(tables_.size()) + " elements \"RegressionTable\", expected " +
                std::to_string(expected));
}

void PmmlReader::read_schema() {
  if (target_ != nullptr) xml_.refuse("has a second element \"MiningSchema\", expected one");
  while (xml_.next()) {
    if (xml_.name() != "MiningField") {
      skip_or_refuse(" ");
      continue;
    }
    xml_.require_only(
        " name usageType optype importance missingValueReplacement missingValueTreatment invalidValueTreatment ");
    refuse_treatment();
    const std::string& name = xml_.require("name");
    const std::string* const usage = xml_.find("usageType");
    const auto found = field_of_.find(name);
    if (found == field_of_.end()) xml_.refuse("has the field " + quoted(name) + ", expected one of the DataDictionary");
    const Field& field = fields_[found->second];
    if (usage == nullptr || *usage == "active") {
      if (!field.continuous)
        throw Error(ErrorKind::unsupported, "field " + quoted(name) + " is categorical",
                    "Read are fields of numbers. Models of rows with named columns go through margin_to_json and "
                    "margin_from_json.");
      if (!feature_of_.emplace(name, features_.size()).second) xml_.refuse("has the field " + quoted(name) + " twice");
      features_.push_back(&field);
    } else if (*usage == "target" || *usage == "predicted") {
      if (target_ != nullptr) xml_.refuse("has a second target, " + quoted(name) + ", expected one");
      target_ = &field;
    } else if (*usage != "supplementary") {
      throw Error(ErrorKind::unsupported, "usageType " + quoted(*usage) + " is not read",
                  "\"active\", \"target\" and \"supplementary\" are.");
    }
    end();
  }
  if (target_ == nullptr) xml_.refuse("has no target, expected a MiningField of usageType \"target\"");
  if (features_.empty()) xml_.refuse("has no feature, expected a MiningField of usageType \"active\"");
  if (feature_of_.count(target_->name) > 0) xml_.refuse("has the field " + quoted(target_->name) + " twice");
  if (target_->continuous != regression_)
    xml_.refuse("has the target " + quoted(target_->name) + ", expected one that is " +
                (regression_ ? "continuous" : "categorical"));
  if (!regression_ && target_->values.size() < 2)
    xml_.refuse("has a target of " + std::to_string(target_->values.size()) + " values, expected two or more");
}

/// A missing value, or one that is no number, has no score with us.
void PmmlReader::refuse_treatment() const {
  for (const char* attribute : {"missingValueReplacement", "missingValueTreatment", "invalidValueTreatment"})
    if (const std::string* const value = xml_.find(attribute); value != nullptr && *value != "returnInvalid")
      throw Error(ErrorKind::unsupported,
                  "field " + quoted(xml_.require("name")) + " has a value for missing or invalid values",
                  "Read are fields of numbers that are always there. Models of rows with named columns go through "
                  "margin_to_json and margin_from_json.");
}

void PmmlReader::read_table() {
  if (target_ == nullptr) xml_.refuse("has an element \"RegressionTable\" where \"MiningSchema\" is expected");
  xml_.require_only(" intercept targetCategory ");
  if ((tables_.size() + 1) * features_.size() > most_weights)
    throw Error(ErrorKind::limit_exceeded,
                "a PMML document of " + std::to_string(tables_.size() + 1) + " tables and " +
                    std::to_string(features_.size()) + " features is too large, at most " +
                    std::to_string(most_weights) + " weights are read",
                "margin_to_json and margin_from_json take every model.");
  Table table;
  table.intercept = number("intercept");
  if (!regression_) table.category = xml_.require("targetCategory");
  table.weights.assign(features_.size(), 0.0);
  progress_.work(static_cast<double>(features_.size()));
  std::vector<bool> given(features_.size());
  while (xml_.next()) {
    if (xml_.name() != "NumericPredictor") {
      skip_or_refuse(" ");
      continue;
    }
    xml_.require_only(" name coefficient exponent ");
    const std::string& name = xml_.require("name");
    const auto found = feature_of_.find(name);
    if (found == feature_of_.end())
      xml_.refuse("has the field " + quoted(name) + ", expected an active one of the MiningSchema");
    if (given[found->second]) xml_.refuse("has the field " + quoted(name) + " twice");
    if (xml_.find("exponent") != nullptr && number("exponent") != 1)
      throw Error(ErrorKind::unsupported, "a field with an exponent is not read", "A weight is of exponent 1.");
    given[found->second] = true;
    table.weights[found->second] = number("coefficient");
    end();
  }
  tables_.push_back(std::move(table));
}

/// 0-based features, by the order of the fields.
std::vector<std::int32_t> PmmlReader::places(const std::vector<std::string>& names) const {
  std::vector<std::int32_t> at;
  if (names.empty()) {
    std::int32_t last = 0;
    for (const Field* field : features_) {
      progress_.work(one_work);
      const std::string& name = field->name;
      std::int32_t number = 0;
      const auto end =
          std::from_chars(name.data() + std::min<std::size_t>(1, name.size()), name.data() + name.size(), number);
      if (name.size() < 2 || name[0] != 'x' || name[1] == '0' || end.ec != std::errc() ||
          end.ptr != name.data() + name.size() || number <= last)
        break;
      at.push_back((last = number) - 1);
    }
    if (at.size() == features_.size()) return at;
    at.clear();
    for (std::size_t j = 0; j < features_.size(); ++j) at.push_back(static_cast<std::int32_t>(j));
    return at;
  }
  std::unordered_map<std::string_view, std::int32_t> place;
  for (std::size_t j = 0; j < names.size(); ++j) {
    progress_.work(one_work);
    if (!place.emplace(names[j], static_cast<std::int32_t>(j)).second)
      throw Error(ErrorKind::invalid_value, "two features have the name " + quoted(names[j]),
                  "Give the names of all features in their order, each once.");
  }
  for (const Field* field : features_) {
    progress_.work(one_work);
    const auto found = place.find(field->name);
    if (found == place.end())
      throw Error(ErrorKind::invalid_value, "feature_names lacks " + quoted(field->name) + ", a field of the document",
                  "Give the names of all features in their order, each once.");
    at.push_back(found->second);
  }
  return at;
}

Value::Object PmmlReader::model(BesidePmml beside) const {
  if (make_loss(beside.loss, {})->classification() == regression_)
    throw Error(ErrorKind::invalid_option,
                "the loss " + quoted(beside.loss) + " is of " + (regression_ ? "classes" : "numbers") +
                    ", and the document of a " + (regression_ ? "regression" : "classification"),
                "SELECT name, outcome FROM margin_losses()");
  if ((normalization_ == "exp") != make_loss(beside.loss, {})->log_link())
    throw Error(ErrorKind::invalid_option,
                "the document says normalizationMethod " + quoted(normalization_) + ", which the loss " +
                    quoted(beside.loss) + " does not have",
                "\"exp\" is that of poisson, and of no other loss.");
  // In the order of the classes, and of features.
  const std::vector<std::string> classes = regression_ ? std::vector<std::string>{} : target_->values;
  std::vector<const Table*> tables;
  bool turned = false;
  if (regression_) {
    tables = {&tables_[0]};
  } else {
    std::unordered_map<std::string_view, const Table*> by_class;
    for (const Table& table : tables_) by_class.emplace(table.category, &table);
    for (const std::string& name : classes) {
      const auto found = by_class.find(name);
      if (found == by_class.end())
        throw Error(ErrorKind::malformed, "malformed PMML: class " + quoted(name) + " has no RegressionTable",
                    "Give the whole text of the PMML as it was written.");
      tables.push_back(found->second);
    }
  }
  if (tables.size() > 2 && normalization_ == "logit")
    throw Error(ErrorKind::unsupported, "normalizationMethod \"logit\" of more than two classes is not read",
                "\"softmax\" is.");
  if (tables.size() == 2) {
    if (!tables[0]->empty() && !tables[1]->empty())
      throw Error(ErrorKind::unsupported, "two classes with weights each are not read",
                  "Read are documents where one of two classes has an empty RegressionTable of intercept 0.");
    turned = !tables[0]->empty();  // a positive score is the second class
    tables = {tables[turned ? 0 : 1]};
  }
  const std::vector<std::int32_t> at = places(beside.feature_names);
  std::vector<std::size_t> order(at.size());
  for (std::size_t j = 0; j < order.size(); ++j) order[j] = j;
  polled_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return at[a] < at[b]; }, progress_);
  GivenWeights w;
  w.rows = tables.size(), w.columns = order.size();
  std::vector<double> intercept;
  const auto turn = [&](double v) { return turned && v != 0 ? -v : v; };
  for (const Table* table : tables) {
    for (const std::size_t j : order) w.values.push_back(turn(table->weights[j]));
    intercept.push_back(turn(table->intercept));
    progress_.work(4.0 * static_cast<double>(order.size()));
  }
  const std::size_t width =
      beside.feature_names.empty() ? static_cast<std::size_t>(at[order.back()]) + 1 : beside.feature_names.size();
  progress_.poll();
  Value::Object model = foreign_model(w, intercept, classes, beside.loss, beside.lambda, std::move(beside.options));
  model["dimensions"].data = static_cast<double>(width);
  if (width == order.size()) return model;
  Value::Array columns(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) columns[k].data = at[order[k]] + 1.0;
  model["columns"] = Value{std::move(columns)};
  return model;
}

void PmmlReader::forget() {  // of many fields that takes its time
  for (auto* const names : {&field_of_, &feature_of_})
    for (; !names->empty(); progress_.work(one_work)) names->erase(names->begin());
  for (; !fields_.empty(); progress_.work(one_work)) fields_.pop_back();
}

}  // namespace

Value::Object pmml_model(std::string_view document, BesidePmml beside, const Progress& progress) {
  PmmlReader reader(document, progress);
  reader.read();
  Value::Object model = reader.model(std::move(beside));
  reader.forget();
  return model;
}

}  // namespace margin
