#include "pg/server/scan_call.hpp"

extern "C" {
#include <catalog/pg_aggregate.h>
#include <executor/executor.h>
#include <nodes/makefuncs.h>
#include <nodes/nodeFuncs.h>
#include <parser/parse_coerce.h>
#include <parser/parsetree.h>
#include <tcop/dest.h>
#include <tcop/tcopprot.h>
#include <tcop/utility.h>
#include <utils/snapmgr.h>
}

namespace margin::pg {

namespace {

Expr* constant_of(Oid type, Datum value) {
  return reinterpret_cast<Expr*>(makeConst(type, -1, InvalidOid, -1, value, false, false));
}

Expr* call_of(Oid function, List* arguments) {
  return reinterpret_cast<Expr*>(
      makeFuncExpr(function, get_func_rettype(function), arguments, InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL));
}

Expr* aggregate_of(Oid function, List* arguments) {
  auto* a = makeNode(Aggref);
  a->aggfnoid = function;
  a->aggtype = get_func_rettype(function);
  a->aggkind = AGGKIND_NORMAL;
  a->aggsplit = AGGSPLIT_SIMPLE;
  a->aggno = a->aggtransno = -1;
  a->location = -1;
  ListCell* cell = nullptr;
  foreach (cell, arguments) {
    auto* argument = static_cast<Expr*>(lfirst(cell));
    a->aggargtypes = lappend_oid(a->aggargtypes, exprType(reinterpret_cast<Node*>(argument)));
    a->args =
        lappend(a->args, makeTargetEntry(argument, static_cast<AttrNumber>(list_length(a->args) + 1), nullptr, false));
  }
  return reinterpret_cast<Expr*>(a);
}

/// A column of the user's query, which is the only table of the statement.
Expr* column_of(const Query* query, int column) {
  const Query* const rows = static_cast<RangeTblEntry*>(linitial(query->rtable))->subquery;
  return reinterpret_cast<Expr*>(
      makeVarFromTargetEntry(1, get_tle_by_resno(rows->targetList, static_cast<AttrNumber>(column))));
}

Expr* target_of(const Query* query, const ScanCall& call) {
  Expr* features = column_of(query, call.features);
  if (OidIsValid(call.encode))
    features = call_of(call.encode, list_make2(constant_of(JSONBOID, call.encoder), features));
  List* row = list_make2(column_of(query, call.label), features);
  if (call.weight > 0) {
    auto* weight = reinterpret_cast<Node*>(column_of(query, call.weight));
    row = lappend(row, coerce_to_target_type(nullptr, weight, exprType(weight), FLOAT8OID, -1, COERCION_IMPLICIT,
                                             COERCE_IMPLICIT_CAST, -1));
  }
  Expr* const constant = constant_of(call.constant_type, call.constant);
  if (!OidIsValid(call.term)) return aggregate_of(call.aggregate, lappend(row, constant));
  return aggregate_of(call.aggregate, list_make1(call_of(call.term, lcons(constant, row))));
}

PlannedStmt* plan_of(const ScanCall& call) {
  auto* raw = linitial_node(RawStmt, pg_parse_query(call.text));
#if PG_VERSION_NUM >= 150000
  List* queries = pg_analyze_and_rewrite_fixedparams(raw, call.text, nullptr, 0, nullptr);
#else
  List* queries = pg_analyze_and_rewrite(raw, call.text, nullptr, 0, nullptr);
#endif
  auto* query = linitial_node(Query, queries);
  linitial_node(TargetEntry, query->targetList)->expr = target_of(query, call);
  query->hasAggs = true;
#if PG_VERSION_NUM >= 190000
  PlannedStmt* plan = pg_plan_query(query, call.text, CURSOR_OPT_PARALLEL_OK, nullptr, nullptr);
#else
  PlannedStmt* plan = pg_plan_query(query, call.text, CURSOR_OPT_PARALLEL_OK, nullptr);
#endif
  // A view may lock rows.
  if (!CommandIsReadOnly(plan)) raise_not_read_only(GetCommandTagName(CreateCommandTag(reinterpret_cast<Node*>(plan))));
  return plan;
}

/// Takes what the executor returns.
struct Collector {
  DestReceiver receiver;
  List* values;
  MemoryContext context;

  static bool receive(TupleTableSlot* slot, DestReceiver* self) {
    auto* c = reinterpret_cast<Collector*>(self);
    bool null = false;
    const Datum value = slot_getattr(slot, 1, &null);
    if (null) return true;
    MemoryContext executor = MemoryContextSwitchTo(c->context);
    c->values = lappend(c->values, DatumGetPointer(datumCopy(value, false, -1)));
    MemoryContextSwitchTo(executor);
    return true;
  }
};

}  // namespace

Oid own_function(Oid caller, const char* name, const std::vector<Oid>& types) {
  const Oid* const list = types.data();
  const int size = static_cast<int>(types.size());
  const Oid found = backend([=] {
    const auto owner_of = [](HeapTuple tuple) { return reinterpret_cast<Form_pg_proc>(GETSTRUCT(tuple))->proowner; };
    HeapTuple own = SearchSysCache1(PROCOID, ObjectIdGetDatum(caller));
    if (!HeapTupleIsValid(own)) return InvalidOid;
    const Oid owner = owner_of(own), schema = reinterpret_cast<Form_pg_proc>(GETSTRUCT(own))->pronamespace;
    ReleaseSysCache(own);
    HeapTuple tuple = SearchSysCache3(PROCNAMEARGSNSP, CStringGetDatum(name),
                                      PointerGetDatum(buildoidvector(list, size)), ObjectIdGetDatum(schema));
    if (!HeapTupleIsValid(tuple)) return InvalidOid;
    const Oid function = owner_of(tuple) == owner ? reinterpret_cast<Form_pg_proc>(GETSTRUCT(tuple))->oid : InvalidOid;
    ReleaseSysCache(tuple);
    return function;
  });
  if (found == InvalidOid)
    throw Error(ErrorKind::unsupported,
                std::string("the extension has no function ") + name + " of its own for the arguments of this scan",
                "ALTER EXTENSION margin UPDATE; all functions of the extension have one owner.");
  return found;
}

List* rows_of(const ScanCall& call) {
  Collector collector{};
  collector.context = CurrentMemoryContext;
  collector.receiver.receiveSlot = Collector::receive;
  collector.receiver.rStartup = [](DestReceiver*, int, TupleDesc) {};
  collector.receiver.rShutdown = [](DestReceiver*) {};
  collector.receiver.rDestroy = [](DestReceiver*) {};
  collector.receiver.mydest = DestNone;
  MemoryContext scan = AllocSetContextCreate(collector.context, "margin scan", ALLOCSET_DEFAULT_SIZES);
  MemoryContextSwitchTo(scan);
  QueryDesc* run = CreateQueryDesc(plan_of(call), call.text, GetActiveSnapshot(), InvalidSnapshot, &collector.receiver,
                                   nullptr, nullptr, 0);
  ExecutorStart(run, 0);
#if PG_VERSION_NUM >= 180000
  ExecutorRun(run, ForwardScanDirection, 0);
#else
  ExecutorRun(run, ForwardScanDirection, 0, true);
#endif
  ExecutorFinish(run);
  ExecutorEnd(run);
  FreeQueryDesc(run);
  MemoryContextSwitchTo(collector.context);
  MemoryContextDelete(scan);
  return collector.values;
}

}  // namespace margin::pg
