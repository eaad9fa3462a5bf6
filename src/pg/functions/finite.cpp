// margin_finite: whether features can be trained on and predicted from, for WHERE, FILTER and CASE.
#include "pg/server/memory.hpp"
#include "pg/values/features.hpp"

namespace margin::pg {
namespace {

struct FiniteCall {
  explicit FiniteCall(FunctionCallInfo fcinfo) : features(fcinfo, 0) {}
  FeatureReader features;
};

}  // namespace
}  // namespace margin::pg

using namespace margin::pg;

MARGIN_FUNCTION(margin_finite) {
  const auto& call = query_state<FiniteCall>(fcinfo);
  PG_RETURN_BOOL(
      !row_error([&] { margin::require_finite(call.features.read(PG_GETARG_DATUM(0)), "WHERE"); }).has_value());
}
