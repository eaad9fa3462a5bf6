#include "pg/server/scan_call.hpp"

#include "pg/server/plan_nodes.hpp"

extern "C" {
#include <catalog/pg_aggregate.h>
#include <catalog/pg_collation.h>
#include <catalog/pg_operator.h>
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

/// The label of a row: a column, or the same text for all of them.
Expr* label_of(const Query* query, const ScanCall& call) {
  if (call.label > 0) return column_of(query, call.label);
  return reinterpret_cast<Expr*>(
      makeConst(TEXTOID, -1, DEFAULT_COLLATION_OID, -1, CStringGetTextDatum(call.all_labels), false, false));
}

/// Has the user's query select one more expression, before its junk, such as what it sorts by.
Expr* add_column(const Query* query, Expr* expression, const char* name) {
  RangeTblEntry* const table = static_cast<RangeTblEntry*>(linitial(query->rtable));
  List*& targets = table->subquery->targetList;
  int place = 0;
  while (place < list_length(targets) && !static_cast<TargetEntry*>(list_nth(targets, place))->resjunk) ++place;
  for (int i = place; i < list_length(targets); ++i) ++static_cast<TargetEntry*>(list_nth(targets, i))->resno;
  TargetEntry* const target = makeTargetEntry(expression, static_cast<AttrNumber>(place + 1), pstrdup(name), false);
  targets = list_insert_nth(targets, place, target);
  table->eref->colnames = lappend(table->eref->colnames, makeString(pstrdup(name)));
  return reinterpret_cast<Expr*>(makeVarFromTargetEntry(1, target));
}

/// The row of features as arguments: itself, or the names and its columns.
List* row_arguments(const Query* query, const ScanCall& call) {
  if (call.columns == nullptr) return list_make1(column_of(query, call.features));
  const Query* const rows = static_cast<RangeTblEntry*>(linitial(query->rtable))->subquery;
  const RowColumns known = columns_of_row(rows, call.features);
  List* arguments = list_make1(constant_of(JSONBOID, call.names));
  if (call.label_first) arguments = lappend(arguments, column_of(query, call.label));
  for (int i = 0; i < call.column_count; ++i) {
    ListCell *name = nullptr, *column = nullptr;
    forboth(name, known.names, column, known.columns) {
      if (strcmp(text_of_string_node(lfirst(name)), call.columns[i]) != 0) continue;
      arguments = lappend(arguments, add_column(query, static_cast<Expr*>(lfirst(column)), call.columns[i]));
      break;
    }
  }
  return arguments;
}

Expr* not_null(Expr* value) {
  auto* test = makeNode(NullTest);
  test->arg = value;
  test->nulltesttype = IS_NOT_NULL;
  test->location = -1;
  return reinterpret_cast<Expr*>(test);
}

/// aggregate(term(names, columns...)) of the rows that a training takes.
Expr* profile_of(Query* query, const ScanCall& call) {
  List* const arguments = row_arguments(query, call);
  List* tests = call.label > 0 ? list_make1(not_null(column_of(query, call.label))) : NIL;
  const int first = call.label_first ? 2 : 1;
  for (int i = 0; call.complete && i < call.column_count; ++i)
    tests = lappend(tests, not_null(static_cast<Expr*>(copyObjectImpl(list_nth(arguments, first + i)))));
  if (tests != NIL)
    query->jointree->quals = reinterpret_cast<Node*>(list_length(tests) == 1 ? static_cast<Expr*>(linitial(tests))
                                                                             : makeBoolExpr(AND_EXPR, tests, -1));
  return aggregate_of(call.aggregate, list_make1(call_of(call.term, arguments)));
}

/// fold = number, NOT (fold = number), fold < number.
Expr* test_of(const Query* query, const ScanCall& call, const RowTest& test) {
  if (test.kind == RowTest::Kind::all) return nullptr;
  Const* const number =
      makeConst(INT4OID, -1, InvalidOid, sizeof(std::int32_t), Int32GetDatum(test.number), false, true);
  const Oid operation = test.kind == RowTest::Kind::less ? Int4LessOperator : Int4EqualOperator;
  Expr* const found = make_opclause(operation, BOOLOID, false, column_of(query, call.fold),
                                    reinterpret_cast<Expr*>(number), InvalidOid, InvalidOid);
  set_opfuncid(reinterpret_cast<OpExpr*>(found));
  return test.kind == RowTest::Kind::other ? make_notclause(found) : found;
}

/// The aggregates, one for each constant: what they take of a row is one expression, which the server evaluates for each.
List* targets_of(Query* query, const ScanCall& call) {
  if (!OidIsValid(call.constant_type)) return list_make1(profile_of(query, call));
  Expr* features = nullptr;
  if (OidIsValid(call.encode))
    features = call_of(call.encode, lcons(constant_of(JSONBOID, call.encoder), row_arguments(query, call)));
  else
    features = column_of(query, call.features);
  List* row = list_make2(label_of(query, call), features);
  if (call.weight > 0) {
    auto* weight = reinterpret_cast<Node*>(column_of(query, call.weight));
    row = lappend(row, coerce_to_target_type(nullptr, weight, exprType(weight), FLOAT8OID, -1, COERCION_IMPLICIT,
                                             COERCE_IMPLICIT_CAST, -1));
  } else if (call.default_weight) {
    row = lappend(row, makeConst(FLOAT8OID, -1, InvalidOid, sizeof(float8), Float8GetDatum(1), false, FLOAT8PASSBYVAL));
  }
  List* targets = NIL;
  for (int i = 0; i < call.constant_count; ++i) {
    Expr* const constant = constant_of(call.constant_type, call.constants[i]);
    List* const own = static_cast<List*>(copyObjectImpl(row));
    List* const arguments =
        OidIsValid(call.term) ? list_make1(call_of(call.term, lcons(constant, own))) : lappend(own, constant);
    Expr* const aggregate = aggregate_of(call.aggregate, arguments);
    if (call.tests != nullptr) reinterpret_cast<Aggref*>(aggregate)->aggfilter = test_of(query, call, call.tests[i]);
    targets = lappend(targets, aggregate);
  }
  return targets;
}

PlannedStmt* plan_of(const ScanCall& call) {
  auto* raw = linitial_node(RawStmt, pg_parse_query(call.text));
#if PG_VERSION_NUM >= 150000
  List* queries = pg_analyze_and_rewrite_fixedparams(raw, call.text, nullptr, 0, nullptr);
#else
  List* queries = pg_analyze_and_rewrite(raw, call.text, nullptr, 0, nullptr);
#endif
  auto* query = linitial_node(Query, queries);
  // The 1 is the first of them; what the statement groups by stands behind, out of sight.
  List* const targets = targets_of(query, call);
  linitial_node(TargetEntry, query->targetList)->expr = static_cast<Expr*>(linitial(targets));
  for (int i = 1; i < list_length(targets); ++i) {
    ListCell* cell = nullptr;
    foreach (cell, query->targetList)
      if (static_cast<TargetEntry*>(lfirst(cell))->resjunk) ++static_cast<TargetEntry*>(lfirst(cell))->resno;
    query->targetList = list_insert_nth(query->targetList, i,
                                        makeTargetEntry(static_cast<Expr*>(list_nth(targets, i)),
                                                        static_cast<AttrNumber>(i + 1), pstrdup("sum"), false));
  }
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

/// A foreign table of which the plan fetches rows; one that its server aggregates is scanned by no table's number.
Oid fetched_table(const PlannedStmt* plan) {
  Index number = 0;
  any_node(plan->planTree, [&](const Plan* node) {
    if (IsA(node, ForeignScan)) number = reinterpret_cast<const ForeignScan*>(node)->scan.scanrelid;
    return number > 0;
  });
  return number > 0 ? rt_fetch(number, plan->rtable)->relid : InvalidOid;
}

/// Takes what the executor returns.
struct Collector {
  DestReceiver receiver;
  List* values;
  int columns;
  MemoryContext context;

  static bool receive(TupleTableSlot* slot, DestReceiver* self) {
    auto* c = reinterpret_cast<Collector*>(self);
    MemoryContext executor = MemoryContextSwitchTo(c->context);
    for (int i = 1; i <= c->columns; ++i) {
      bool null = false;
      const Datum value = slot_getattr(slot, i, &null);
      c->values = lappend(c->values, null ? nullptr : DatumGetPointer(datumCopy(value, false, -1)));
    }
    MemoryContextSwitchTo(executor);
    return true;
  }
};

}  // namespace

RowColumns columns_of_row(const Query* query, int column) {
  RowColumns out{NIL, NIL};
  const TargetEntry* const target = get_tle_by_resno(query->targetList, static_cast<AttrNumber>(column));
  if (target == nullptr || !IsA(target->expr, Var)) return out;
  const auto* const row = reinterpret_cast<const Var*>(target->expr);
  const bool plain = query->setOperations == nullptr && query->groupClause == NIL && query->groupingSets == NIL &&
                     query->distinctClause == NIL && !query->hasAggs && query->havingQual == nullptr;
  if (row->varattno != InvalidAttrNumber || row->varlevelsup != 0 || !plain) return out;
  ListCell* cell = nullptr;
  foreach (cell, query->rtable) {  // what an outer join fills up is NULL, not a row of NULLs
    const auto* const table = static_cast<RangeTblEntry*>(lfirst(cell));
    if (table->rtekind == RTE_JOIN && table->jointype != JOIN_INNER) return out;
  }
  const RangeTblEntry* const table = rt_fetch(row->varno, query->rtable);
  const auto add = [&](int number, Oid type, std::int32_t modifier, Oid collation, const char* name) {
    out.names = lappend(out.names, makeString(pstrdup(name)));
    out.columns = lappend(out.columns, makeVar(static_cast<int>(row->varno), static_cast<AttrNumber>(number), type,
                                               modifier, collation, 0));
  };
  if (row->vartype != RECORDOID) {
    if (table->rtekind != RTE_RELATION && table->rtekind != RTE_SUBQUERY) return out;
    TupleDesc columns = lookup_rowtype_tupdesc(row->vartype, row->vartypmod);
    for (int i = 0; i < columns->natts; ++i) {
      const FormData_pg_attribute* a = TupleDescAttr(columns, i);
      if (!a->attisdropped) add(i + 1, a->atttypid, a->atttypmod, a->attcollation, NameStr(a->attname));
    }
    ReleaseTupleDesc(columns);
  } else if (table->rtekind == RTE_SUBQUERY) {
    foreach (cell, table->subquery->targetList) {
      const auto* const each = static_cast<TargetEntry*>(lfirst(cell));
      auto* const value = reinterpret_cast<Node*>(each->expr);
      if (!each->resjunk)
        add(each->resno, exprType(value), exprTypmod(value), exprCollation(value),
            text_of_string_node(list_nth(table->eref->colnames, each->resno - 1)));
    }
  }
  return out;
}

List* rows_of(const ScanCall& call) {
  Collector collector{};
  collector.context = CurrentMemoryContext;
  collector.columns = std::max(1, call.constant_count);
  collector.receiver.receiveSlot = Collector::receive;
  collector.receiver.rStartup = [](DestReceiver*, int, TupleDesc) {};
  collector.receiver.rShutdown = [](DestReceiver*) {};
  collector.receiver.rDestroy = [](DestReceiver*) {};
  collector.receiver.mydest = DestNone;
  MemoryContext scan = AllocSetContextCreate(collector.context, "margin scan", ALLOCSET_DEFAULT_SIZES);
  MemoryContextSwitchTo(scan);
  PlannedStmt* const plan = plan_of(call);
  if (call.fetched != nullptr) *call.fetched = fetched_table(plan);
  QueryDesc* run =
      CreateQueryDesc(plan, call.text, GetActiveSnapshot(), InvalidSnapshot, &collector.receiver, nullptr, nullptr, 0);
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
