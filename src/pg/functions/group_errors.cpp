#include "pg/functions/group_errors.hpp"

#include "pg/server/group_key.hpp"
#include "pg/values/composite.hpp"

namespace margin::pg {

namespace {

constexpr std::int32_t shown_features = 8;

/// Enough digits to recognise a value by.
std::string shown(double value) {
  if (!std::isfinite(value)) return number_text(value);
  char text[32];
  snprintf(text, sizeof text, "%.6g", value);
  return text;
}

bool power_of_ten(std::int64_t n) {
  while (n >= 10 && n % 10 == 0) n /= 10;
  return n == 1;
}

}  // namespace

std::string row_text(const std::string& label, const Row* features) {
  std::string text;
  if (!label.empty()) text += "the label \"" + shortened_key(label) + "\"";
  if (features == nullptr) return text;
  text += text.empty() ? "the features {" : " and the features {";
  const Row& x = *features;
  for (std::int32_t k = 0; k < std::min(x.count, shown_features); ++k) {
    if (k > 0) text += ",";
    if (x.indices != nullptr) text += std::to_string(x.indices[k] + 1) + ":";
    text += shown(x.value(k));
  }
  return text + (x.count > shown_features ? ",...}" : "}");
}

Error located(const Error& e, const std::string& where) {
  const bool advised = e.hint().find("=> 'null'") != std::string::npos;
  return Error(
      e.kind(), e.message(),
      e.hint() + (advised ? ""
                          : std::string(e.hint().empty() ? "" : " ") +
                                "With GROUP BY, margin_options(on_error => 'null') gives NULL for such groups."),
      (e.detail().empty() ? "" : e.detail() + " ") + where);
}

void GroupWarnings::give(const std::string& cause, const std::string& where) {
  ++groups_;
  const std::string key = running_group();
  if (groups_ <= most_warnings)
    warn_of_statement((key.empty() ? "a group has no model: " : "group " + key + " has no model: ") + cause,
                      where + " The result of the group is NULL.");
  else if (groups_ == most_warnings + 1)
    warn_of_statement("further groups of this statement have no model",
                      "Their results are NULL; train one alone to see its cause.");
  else if (power_of_ten(groups_))
    warn_of_statement(std::to_string(groups_) + " groups of this statement have no model so far",
                      "Their results are NULL.");
}

std::string group_text(const CollectedRows& rows) {
  const Dataset& data = rows.data;
  const Row x = data.row(0);
  const std::string label = data.outcome() == Dataset::Outcome::classes
                                ? std::string(data.classes().name(data.class_of(0)))
                                : shown(data.target(0));
  return "The group has " + std::to_string(data.rows()) + (data.rows() == 1 ? " row" : " rows") + ", the first with " +
         row_text(label, &x) + ".";
}

}  // namespace margin::pg
