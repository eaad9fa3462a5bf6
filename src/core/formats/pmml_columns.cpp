#include "core/formats/pmml_columns.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/base/write_number.hpp"
#include "core/formats/xml.hpp"
#include "core/model/column_weights.hpp"

namespace margin {

namespace {

std::string attribute(const char* name, const std::string& value) {
  return std::string(" ") + name + "=\"" + xml_name(value) + "\"";
}

/// An element of type double.
std::string derived_number(const std::string& name, const std::string& expression) {
  return "      <DerivedField" + attribute("name", name) + " optype=\"continuous\" dataType=\"double\">" + expression +
         "</DerivedField>\n";
}

std::string reference(const std::string& field) { return "<FieldRef" + attribute("field", field) + "/>"; }
std::string constant(double value) { return "<Constant dataType=\"double\">" + shortest(value) + "</Constant>"; }
std::string call_of(const char* function, const std::string& arguments) {
  return std::string("<Apply function=\"") + function + "\">" + arguments + "</Apply>";
}
std::string if_missing(const std::string& field, const std::string& yes, const std::string& otherwise) {
  return call_of("if", call_of("isMissing", reference(field)) + yes + otherwise);
}

/// Booleans, too: a NULL of theirs is in no category.
bool categorical(const Column& c) { return c.kind == ColumnKind::category || c.kind == ColumnKind::boolean; }

/// Empty: it is read as a number.
const char* time_type(const Column& c) {
  if (c.kind == ColumnKind::time) return "time";
  if (c.kind != ColumnKind::date) return "";
  return c.type == "date" ? "date" : "dateTime";
}

/// A number, interval, date or time as the encoder reads it.
std::string cell(const Column& c, const std::string& field) {
  const std::string type = time_type(c), year = "<Constant dataType=\"integer\">1970</Constant>";
  if (type.empty()) return reference(field);
  if (type == "date") return call_of("dateDaysSinceYear", reference(field) + year);
  if (type == "time") return call_of("/", call_of("dateSecondsSinceMidnight", reference(field)) + constant(3600));
  return call_of("/", call_of("dateSecondsSinceYear", reference(field) + year) + constant(86400));
}

/// The name of a bin: the numbers above so many thresholds.
std::string bin_name(const Column& c, std::int32_t above) {
  const auto k = static_cast<std::size_t>(above);
  return (above > 0 ? "(" + shortest(c.thresholds[k - 1]) : "(-inf") + ", " +
         (above < c.values() ? shortest(c.thresholds[k]) + "]" : "inf)");
}

/// `number`: of times and arrays a field that is one already.
std::string discretize(const Column& c, const std::string& name, const std::string& number, bool takes_null,
                       const Progress& progress) {
  std::string text = "      <DerivedField" + attribute("name", name) +
                     " optype=\"categorical\" dataType=\"string\"><Discretize" + attribute("field", number) +
                     (takes_null ? attribute("mapMissingTo", bin_name(c, c.bin(c.fill[0]))) : "") + ">\n";
  for (std::int32_t k = 0; k <= c.values(); ++k) {
    progress.work(name_work);
    const auto at = static_cast<std::size_t>(k);
    text += "        <DiscretizeBin" + attribute("binValue", bin_name(c, k)) + "><Interval closure=\"" +
            (k < c.values() ? "openClosed" : "openOpen") + "\"" +
            (k > 0 ? attribute("leftMargin", shortest(c.thresholds[at - 1])) : "") +
            (k < c.values() ? attribute("rightMargin", shortest(c.thresholds[at])) : "") + "/></DiscretizeBin>\n";
  }
  return text + "      </Discretize></DerivedField>\n";
}

std::string data_field(const Column& c, const std::string& name, const Progress& progress) {
  std::string text = "    <DataField" + attribute("name", name);
  if (const std::string time = time_type(c); !time.empty())
    return text + " optype=\"ordinal\" dataType=\"" + time + "\"/>\n";
  if (!categorical(c))
    return text + (c.kind == ColumnKind::interval ? attribute("displayName", name + ", in days") : "") +
           " optype=\"continuous\" dataType=\"double\"/>\n";
  const bool flag = c.kind == ColumnKind::boolean;
  text += std::string(" optype=\"categorical\" dataType=\"") + (flag ? "boolean" : "string") + "\">\n";
  const std::vector<std::string> flags = {"false", "true"};
  for (const std::string& value : flag ? flags : c.categories) {
    progress.work(name_work);
    text += "      <Value" + attribute("value", value) + "/>\n";
  }
  return text + "    </DataField>\n";
}

}  // namespace

void PmmlPredictors::add_number(const std::string& field, double coefficient) {
  if (coefficient == 0 && !std::signbit(coefficient)) return;
  numeric +=
      "      <NumericPredictor" + attribute("name", field) + " coefficient=\"" + shortest(coefficient) + "\"/>\n";
}

void PmmlPredictors::add_category(const std::string& field, const std::string& value, double coefficient) {
  if (coefficient == 0 && !std::signbit(coefficient)) return;
  categorical += "      <CategoricalPredictor" + attribute("name", field) + attribute("value", value) +
                 " coefficient=\"" + shortest(coefficient) + "\"/>\n";
}

PmmlColumns::PmmlColumns(const Model& m, PmmlNames& names, const Progress& progress) : model_(m), progress_(progress) {
  for (const Column& c : m.encoder->columns()) {
    if (c.grouping) continue;  // no score depends on it
    if (c.kind == ColumnKind::set)
      throw Error(ErrorKind::unsupported,
                  "column \"" + c.name + "\" is of type " + c.type + ", and fields of PMML hold one value each",
                  "For PMML train on columns of booleans in its place: 'a' = ANY (" + c.name + ") AS has_a.");
    fields_.push_back({&c, m.encoder->takes_null(c)});
  }
  // Columns keep their names, whatever the others are called.
  for (Fields& f : fields_)
    if (!block(f.column->kind)) f.inputs.push_back(names.take(f.column->name));
  for (Fields& f : fields_)
    if (block(f.column->kind)) name_elements(f, names);
  for (Fields& f : fields_) name_derived(f, names);
}

void PmmlColumns::name_elements(Fields& f, PmmlNames& names) const {
  const Column& c = *f.column;
  const auto add = [&](std::int32_t k) {
    progress_.work(name_work);
    f.elements.push_back(k);
    f.inputs.push_back(names.take(c.name + "[" + std::to_string(k + 1) + "]"));
  };
  const Encoder& e = *model_.encoder;
  if (model_.columns.empty()) {
    for (std::int32_t k = 0; k < c.width; ++k)
      if (e.feature_of(c.first + k) >= 0) add(k);
  } else {  // of what the column declares, those that have a weight
    const auto number = static_cast<std::size_t>(&c - e.columns().data());
    const auto begin = std::lower_bound(model_.columns.begin(), model_.columns.end(), e.starts()[number]);
    for (auto at = begin; at != model_.columns.end() && *at < e.starts()[number + 1]; ++at)
      if (const std::int32_t k = e.place(*at).value; k < c.width) add(k);
  }
  if (c.kind == ColumnKind::dense && f.elements.empty() && f.takes_null && c.width > 0) add(0);  // tells NULL
  if (c.kind == ColumnKind::sparse && f.takes_null && c.missing) f.inputs.push_back(names.take(c.name + " IS NULL"));
}

void PmmlColumns::name_derived(Fields& f, PmmlNames& names) const {
  const Column& c = *f.column;
  f.values = f.inputs;
  if (c.kind == ColumnKind::sparse) return;
  const bool time = *time_type(c) != '\0', filled = f.takes_null && !categorical(c) && !c.binned();
  for (std::string& value : f.values)
    if (time || (filled && c.missing))
      value = names.take(value + (!time ? " (imputed)" : c.kind == ColumnKind::time ? " (hours)" : " (days)"));
  if (c.binned()) f.values.push_back(names.take(c.name + " (bin)"));
  if (f.takes_null && !f.inputs.empty() && (c.missing || categorical(c))) f.null = names.take(c.name + " IS NULL");
}

std::size_t PmmlColumns::fields() const {
  std::size_t count = 0;
  for (const Fields& f : fields_) count += f.inputs.size();
  return count;
}

std::string PmmlColumns::data_fields() const {
  std::string text;
  for (const Fields& f : fields_)
    for (const std::string& name : f.inputs) {
      progress_.work(name_work);
      text += data_field(*f.column, name, progress_);
    }
  return text;
}

/// What stands for a missing value where nothing derived does, and what a value that the training did not have is.
std::string PmmlColumns::treatment(const Fields& f, std::size_t input) const {
  const Column& c = *f.column;
  std::string text;
  const auto replaced = [](double value, const char* how) {
    return attribute("missingValueReplacement", shortest(value)) + " missingValueTreatment=\"" + how + "\"";
  };
  if (c.kind == ColumnKind::sparse)
    text = replaced(0, "asValue");
  else if (!f.takes_null)
    text = " missingValueTreatment=\"returnInvalid\"";
  else if (!c.missing && !c.binned() && !categorical(c) && *time_type(c) == '\0')
    text = replaced(c.fill[c.kind == ColumnKind::dense ? static_cast<std::size_t>(f.elements[input]) : 0], "asMean");
  if (c.kind == ColumnKind::category)
    text += std::string(" invalidValueTreatment=\"") + (model_.encoder->unknown_is_error() ? "returnInvalid" : "asIs") +
            "\"";
  return text;
}

std::string PmmlColumns::mining_fields() const {
  std::string text;
  for (const Fields& f : fields_)
    for (std::size_t k = 0; k < f.inputs.size(); ++k) {
      progress_.work(name_work);
      text += "      <MiningField" + attribute("name", f.inputs[k]) + treatment(f, k) + "/>\n";
    }
  return text;
}

std::string PmmlColumns::derived(const Fields& f) const {
  const Column& c = *f.column;
  std::string text;
  for (std::size_t k = 0; k < f.inputs.size(); ++k) {
    progress_.work(name_work);
    if (f.values[k] == f.inputs[k]) continue;
    const bool filled = f.takes_null && !c.binned();
    const std::string value = cell(c, f.inputs[k]);
    const std::size_t place = block(c.kind) ? static_cast<std::size_t>(f.elements[k]) : 0;
    text += derived_number(f.values[k], filled ? if_missing(f.inputs[k], constant(c.fill[place]), value) : value);
  }
  if (c.binned()) text += discretize(c, f.values.back(), f.values[0], f.takes_null, progress_);
  if (f.null.empty()) return text;
  // A column of NULL alone knows no value: what is not missing has no score.
  const bool unknown = c.kind == ColumnKind::category && c.categories.empty() && model_.encoder->unknown_is_error();
  return text + derived_number(f.null, if_missing(f.inputs[0], constant(1), unknown ? "" : constant(0)));
}

std::string PmmlColumns::transformations() const {
  std::string text;
  for (const Fields& f : fields_) text += derived(f);
  return text.empty() ? text : "    <LocalTransformations>\n" + text + "    </LocalTransformations>\n";
}

void PmmlColumns::add_predictors(std::int32_t output, PmmlPredictors& to) const {
  for (const Fields& f : fields_) {
    progress_.work(name_work);
    if (block(f.column->kind))
      add_elements(output, f, to);
    else
      add_column(output, f, to);
  }
}

void PmmlColumns::add_elements(std::int32_t output, const Fields& f, PmmlPredictors& to) const {
  const Column& c = *f.column;
  for (std::size_t k = 0; k < f.elements.size(); ++k) {
    progress_.work(name_work);
    const std::int32_t at = f.elements[k];
    const double scale = c.scale.empty() ? 1 : c.scale[static_cast<std::size_t>(at)];
    to.add_number(f.values[k], weight_in_column(model_, output, c.first + at) / scale);
  }
  if (!c.missing) return;
  const double of_null = weight_in_column(model_, output, c.first + c.values());
  if (c.kind == ColumnKind::sparse ? f.takes_null : !f.null.empty())
    to.add_number(c.kind == ColumnKind::sparse ? f.inputs.back() : f.null, of_null);
}

void PmmlColumns::add_column(std::int32_t output, const Fields& f, PmmlPredictors& to) const {
  const Column& c = *f.column;
  const std::vector<double> w = column_weights(model_, output, c);
  double null = c.missing ? w.back() : 0;
  if (c.binned()) {
    double sum = 0;
    for (std::int32_t k = 1; k <= c.values(); ++k) {
      progress_.work(name_work);
      sum += w[static_cast<std::size_t>(k - 1)];
      to.add_category(f.values.back(), bin_name(c, k), sum);
    }
  } else if (c.kind == ColumnKind::boolean) {
    to.add_category(f.inputs[0], "true", w[0] / c.scale[0]);
    null += w[0] / c.scale[0] * c.fill[0];
  } else if (c.kind == ColumnKind::category) {
    for (std::int32_t k = 0; k < c.values(); ++k) {
      progress_.work(name_work);
      to.add_category(f.inputs[0], c.category(k), w[static_cast<std::size_t>(k)]);
    }
    const std::vector<double> of_null = model_.encoder->of_null(c);
    for (std::int32_t k = 0; k < c.values(); ++k) {
      const auto at = static_cast<std::size_t>(k);
      null += of_null[at] * w[at];
    }
  } else {
    to.add_number(f.values[0], w[0] / c.scale[0]);
  }
  if (f.null.empty()) return;
  // Also where it adds nothing: it is what a value beside NULL fails on.
  const bool tells = c.kind == ColumnKind::category && c.categories.empty();
  if (tells && null == 0)
    to.numeric += "      <NumericPredictor" + attribute("name", f.null) + " coefficient=\"0\"/>\n";
  else
    to.add_number(f.null, null);
}

}  // namespace margin
