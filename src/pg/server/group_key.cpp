#include "pg/server/group_key.hpp"

#include <algorithm>

#include "pg/server/boundary.hpp"

namespace margin::pg {

namespace {

constexpr int longest_text = 60;

/// A row of the group, in the columns that the plan groups by. A final function runs with the first row of its group; a transition
/// function with the row it takes, or, of sorted rows, which may be sorted once more for it, after the first of the group was kept.
TupleTableSlot* row_of_group(const AggState& state, const Agg& plan) {
  TupleTableSlot* const slot = state.curperagg != nullptr       ? state.ss.ps.ps_ExprContext->ecxt_outertuple
                               : plan.aggstrategy == AGG_SORTED ? state.ss.ss_ScanTupleSlot
                               : plan.aggstrategy == AGG_HASHED ? state.tmpcontext->ecxt_outertuple
                                                                : nullptr;
  return slot == nullptr || TTS_EMPTY(slot) ? nullptr : slot;
}

}  // namespace

std::string shortened_key(const std::string& text) {
  const char* bytes = text.data();
  const int size = static_cast<int>(std::min<std::size_t>(text.size(), 4 * longest_text));
  const int kept = backend([=] { return pg_mbcliplen(bytes, size, longest_text); });
  return text.substr(0, static_cast<std::size_t>(kept)) + (static_cast<std::size_t>(kept) < text.size() ? "..." : "");
}

std::string group_key(FunctionCallInfo fcinfo) {
  if (fcinfo == nullptr || fcinfo->context == nullptr || !IsA(fcinfo->context, AggState)) return {};
  const auto& state = *reinterpret_cast<const AggState*>(fcinfo->context);
  const auto& plan = *reinterpret_cast<const Agg*>(state.ss.ps.plan);
  if (plan.numCols == 0) return {};
  TupleTableSlot* const slot = row_of_group(state, plan);
  if (slot == nullptr) return {};
  std::string text;
  for (int i = 0; i < plan.numCols; ++i) {
    const AttrNumber column = plan.grpColIdx[i];
    const char* const value = backend([=]() -> const char* {
      bool is_null = false;
      const Datum datum = slot_getattr(slot, column, &is_null);
      if (is_null) return "NULL";
      Oid function = InvalidOid;
      bool by_length = false;
      getTypeOutputInfo(TupleDescAttr(slot->tts_tupleDescriptor, column - 1)->atttypid, &function, &by_length);
      return OidOutputFunctionCall(function, datum);
    });
    text += (i > 0 ? ", " : "") + shortened_key(value);
  }
  return text;
}

}  // namespace margin::pg
