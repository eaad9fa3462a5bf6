#include "pg/server/explained_plan.hpp"

#include "pg/server/plan_nodes.hpp"

extern "C" {
#include <commands/explain.h>
#if PG_VERSION_NUM >= 180000
#include <commands/explain_format.h>
#include <commands/explain_state.h>
#endif
#include <executor/executor.h>
#include <tcop/dest.h>
#include <utils/snapmgr.h>
}

namespace margin::pg {

#ifdef __EMSCRIPTEN__

// A browser has no other servers, and PGlite gives no EXPLAIN to extensions.
const char* explained_plan(PlannedStmt*, const char*) { return nullptr; }

#else

const char* explained_plan(PlannedStmt* plan, const char* text) {
  if (!any_node(plan->planTree, [](const Plan* node) { return IsA(node, CustomScan); })) return nullptr;
  QueryDesc* const run =
      CreateQueryDesc(plan, text, GetActiveSnapshot(), InvalidSnapshot, None_Receiver, nullptr, nullptr, 0);
  ExecutorStart(run, EXEC_FLAG_EXPLAIN_ONLY);
  ExplainState* const state = NewExplainState();
  state->format = EXPLAIN_FORMAT_JSON;
  state->costs = false;
  ExplainBeginOutput(state);
  ExplainOpenGroup("Query", nullptr, true, state);
  ExplainPrintPlan(state, run);
  ExplainCloseGroup("Query", nullptr, true, state);
  ExplainEndOutput(state);
  ExecutorEnd(run);
  FreeQueryDesc(run);
  return state->str->data;
}

#endif

}  // namespace margin::pg
