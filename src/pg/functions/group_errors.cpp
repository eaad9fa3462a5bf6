#include "pg/functions/group_errors.hpp"

#include "pg/values/composite.hpp"

namespace margin::pg {

namespace {

constexpr std::int64_t most_warnings = 5;
constexpr int longest_label = 60;
constexpr std::int32_t shown_features = 8;

std::string shortened(const std::string& text) {
  const char* bytes = text.data();
  const int size = static_cast<int>(std::min<std::size_t>(text.size(), 4 * longest_label));
  const int kept = backend([=] { return pg_mbcliplen(bytes, size, longest_label); });
  return text.substr(0, static_cast<std::size_t>(kept)) + (static_cast<std::size_t>(kept) < text.size() ? "..." : "");
}

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
  if (!label.empty()) text += "the label \"" + shortened(label) + "\"";
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

std::string GroupWarnings::key() const {
  FunctionCallInfo fcinfo = fcinfo_;
  if (fcinfo == nullptr || fcinfo->context == nullptr || !IsA(fcinfo->context, AggState)) return {};
  const auto* const state = reinterpret_cast<const AggState*>(fcinfo->context);
  const auto* const plan = reinterpret_cast<const Agg*>(state->ss.ps.plan);
  TupleTableSlot* const slot = state->ss.ps.ps_ExprContext->ecxt_outertuple;  // the first row of the group
  if (plan->numCols == 0 || slot == nullptr || TTS_EMPTY(slot)) return {};
  std::string text;
  for (int i = 0; i < plan->numCols; ++i) {
    const AttrNumber column = plan->grpColIdx[i];
    const char* const value = backend([=]() -> const char* {
      bool is_null = false;
      const Datum datum = slot_getattr(slot, column, &is_null);
      if (is_null) return "NULL";
      Oid function = InvalidOid;
      bool by_length = false;
      getTypeOutputInfo(TupleDescAttr(slot->tts_tupleDescriptor, column - 1)->atttypid, &function, &by_length);
      return OidOutputFunctionCall(function, datum);
    });
    text += (i > 0 ? ", " : "") + shortened(value);
  }
  return text;
}

void GroupWarnings::give(const std::string& cause, const std::string& where) {
  ++groups_;
  if (groups_ <= most_warnings)
    warn((key().empty() ? "a group has no model: " : "group " + key() + " has no model: ") + cause,
         where + " The result of the group is NULL.");
  else if (groups_ == most_warnings + 1)
    warn("further groups of this statement have no model", "Their results are NULL; train one alone to see its cause.");
  else if (power_of_ten(groups_))
    warn(std::to_string(groups_) + " groups of this statement have no model so far", "Their results are NULL.");
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
