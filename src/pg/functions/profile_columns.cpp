// margin_profile_columns(profile): a profile as a table. margin_drift(before, after): how two differ.
#include "core/profile/drift.hpp"
#include "core/profile/profile_summary.hpp"
#include "pg/server/interrupts.hpp"
#include "pg/server/memory.hpp"
#include "pg/values/composite.hpp"
#include "pg/values/result_set.hpp"
#include "pg/values/scan_values.hpp"

namespace margin::pg {
namespace {

/// A text as the server has it: it may have come from one of another encoding.
Datum checked_text(const std::string& text) {
  require_text(text);
  return text_datum(text);
}

/// A day, with the time of it where `clock` says so, in ISO's form whatever the session's DateStyle.
std::string day_text(double since_2000, bool clock) {
  constexpr double day = 86400e6, year_1 = -730119;
  std::string form = clock ? "YYYY-MM-DD HH24:MI:SS.US" : "YYYY-MM-DD";
  if (since_2000 < year_1) form += " BC";
  const char* how = form.c_str();
  const Timestamp moment = std::llround(since_2000 * day);
  std::string out = backend([how, moment] {
    const Datum written =
        DirectFunctionCall2(timestamp_to_char, TimestampGetDatum(moment), PointerGetDatum(cstring_to_text(how)));
    return text_to_cstring(DatumGetTextPP(written));
  });
  const std::size_t point = out.find('.');
  if (point == std::string::npos) return out;
  std::size_t end = point + 7, kept = end;
  while (kept > point && (out[kept - 1] == '0' || out[kept - 1] == '.')) --kept;
  return out.erase(kept, end - kept);
}

/// A value as SQL writes it; intervals in days and times in hours.
std::string value_text(const ColumnSummary& column, double v) {
  constexpr double days_before_2000 = 10957, most_days = 1e8;
  if (column.kind == ColumnKind::boolean) return v != 0 ? "true" : "false";
  const double since = v - days_before_2000;
  if (column.kind != ColumnKind::date || !(since > -2451545 && since < most_days)) return number_text(v);
  const bool zone = column.type == "timestamp with time zone";
  return day_text(since, column.type != "date") + (zone ? "+00" : "");
}

Datum bigint_array(const std::vector<std::int64_t>& counts) {
  const std::int64_t* from = counts.data();
  const auto n = static_cast<int>(counts.size());
  return backend([=] {
    auto* elements = static_cast<Datum*>(palloc(sizeof(Datum) * static_cast<std::size_t>(n + 1)));
    for (int i = 0; i < n; ++i) elements[i] = Int64GetDatum(from[i]);
    return PointerGetDatum(
        construct_array(elements, n, INT8OID, sizeof(std::int64_t), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
  });
}

std::vector<double> shares_of(Datum array) {
  struct Shares {
    const double* values;
    int n;
    bool sound;
  };
  const Shares s = backend([=] {
    ArrayType* a = DatumGetArrayTypeP(array);
    return Shares{reinterpret_cast<const double*>(ARR_DATA_PTR(a)), ArrayGetNItems(ARR_NDIM(a), ARR_DIMS(a)),
                  ARR_NDIM(a) <= 1 && !array_contains_nulls(a)};
  });
  std::vector<double> shares;
  bool sound = s.sound;
  for (int i = 0; sound && i < s.n; ++i) {
    shares.push_back(s.values[i]);
    sound = shares.back() >= 0 && shares.back() <= 1;
  }
  if (!sound)
    throw Error(ErrorKind::invalid_option, "the quantiles are no shares, expected numbers from 0 to 1",
                "Give an array: margin_profile_columns(profile, '{0.1, 0.5, 0.9}').");
  return shares;
}

std::optional<Datum> number(const std::optional<double>& v) {
  return v.has_value() ? std::optional(Float8GetDatum(*v)) : std::nullopt;
}

std::vector<std::optional<Datum>> line(const ColumnSummary& c) {
  const auto whole = [](const std::optional<std::int64_t>& v) {
    return v.has_value() ? std::optional(Int64GetDatum(*v)) : std::nullopt;
  };
  std::vector<std::string> values;
  std::vector<std::int64_t> counts;
  for (const ColumnSummary::Value& v : c.top) {
    const double* of_number = std::get_if<double>(&v.value);
    values.push_back(of_number != nullptr ? value_text(c, *of_number) : std::get<std::string>(v.value));
    counts.push_back(v.count);
  }
  for (const std::string& v : values) require_text(v);
  std::optional<Datum> quantiles, top, top_counts;
  if (!c.quantiles.empty()) quantiles = float8_array(c.quantiles.data(), c.quantiles.size());
  if (c.missed.has_value()) {
    top = text_array(values);
    top_counts = bigint_array(counts);
  }
  return {checked_text(c.name),
          checked_text(c.type),
          Int64GetDatum(c.count),
          Int64GetDatum(c.nulls),
          Int64GetDatum(c.nan),
          Int64GetDatum(c.infinite),
          number(c.mean),
          number(c.stddev),
          number(c.least),
          number(c.largest),
          quantiles,
          number(c.rank_error),
          whole(c.distinct),
          top,
          top_counts,
          whole(c.missed)};
}

}  // namespace
}  // namespace margin::pg

using namespace margin::pg;

MARGIN_FUNCTION(margin_profile_columns) {
  InterruptProgress progress;
  const std::vector<double> shares = shares_of(PG_GETARG_DATUM(1));
  const std::int32_t top = PG_GETARG_INT32(2);
  if (top < 0 || top > static_cast<std::int32_t>(margin::most_values))
    throw margin::Error(margin::ErrorKind::invalid_option, "the number of top values is " + std::to_string(top) +
                                                               ", expected 0 to " +
                                                               std::to_string(margin::most_values));
  margin::Profile profile = margin::Profile::from_bytes(scan_bytes(PG_GETARG_DATUM(0)), memory_limit(), progress);
  ResultSet rows(fcinfo);
  for (const margin::ColumnSummary& column :
       margin::summaries(profile, shares, static_cast<std::size_t>(top), progress))
    rows.add(line(column));
  return 0;
}

MARGIN_FUNCTION(margin_drift) {
  InterruptProgress progress;
  const double limit = memory_limit();
  margin::Profile before = margin::Profile::from_bytes(scan_bytes(PG_GETARG_DATUM(0)), limit, progress);
  const double left = limit < 0 ? limit : std::max(0.0, limit - before.memory());
  margin::Profile after = margin::Profile::from_bytes(scan_bytes(PG_GETARG_DATUM(1)), left, progress);
  ResultSet rows(fcinfo);
  for (const margin::ColumnDrift& d : margin::drift(before, after, progress))
    rows.add({checked_text(d.name), number(d.psi), number(d.jensen_shannon), number(d.kolmogorov_smirnov),
              number(d.rank_error), number(d.mean_shift), number(d.nulls_before), number(d.nulls_after),
              number(d.outside), number(d.unseen)});
  return 0;
}
