#include "pg/functions/scan_query.hpp"

#include "core/scans/wire/term.hpp"
#include "pg/server/explained_plan.hpp"
#include "pg/server/relation_kinds.hpp"
#include "pg/values/composite.hpp"
#include "pg/values/jsonb.hpp"

namespace margin::pg {

namespace {

const char* advice_on(Beside beside) {
  return beside == Beside::nothing
             ? "Give one SELECT of features and, optionally, weight: by these names, or in this order."
             : "Give one SELECT of label, features and, optionally, weight: by these names, or in this order.";
}

/// The names of the foreign servers that the tables of a plan are on, each once.
const char* servers_of(const CachedPlan* cached) {
  StringInfoData text;
  initStringInfo(&text);
  List* seen = NIL;
  ListCell* s;
  foreach (s, cached == nullptr ? NIL : cached->stmt_list) {
    ListCell* t;
    foreach (t, lfirst_node(PlannedStmt, s)->rtable) {
      const RangeTblEntry* const table = lfirst_node(RangeTblEntry, t);
      if (table->rtekind != RTE_RELATION || table->relkind != RELKIND_FOREIGN_TABLE) continue;
      const Oid server = GetForeignTable(table->relid)->serverid;
      if (list_member_oid(seen, server)) continue;
      seen = lappend_oid(seen, server);
      appendStringInfo(&text, "%s%s", text.len == 0 ? "" : ", ", GetForeignServer(server)->servername);
    }
  }
  return text.data;
}

Datum explained(const CachedPlan* cached, const char* query) {
  if (cached == nullptr || list_length(cached->stmt_list) != 1) return Datum{0};
  const char* const json = explained_plan(linitial_node(PlannedStmt, cached->stmt_list), query);
  return json == nullptr ? Datum{0} : DirectFunctionCall1(jsonb_in, CStringGetDatum(json));
}

}  // namespace

Analysis analysis_of(const char* query) {
  return backend([=] {
    Analysis a{};
    MemoryContext caller = CurrentMemoryContext;
    SPI_connect();
    SPIPlanPtr plan = SPI_prepare(query, 0, nullptr);
    const List* const sources = plan == nullptr ? NIL : SPI_plan_get_plan_sources(plan);
    a.statements = list_length(sources);
    if (a.statements == 1) {
      const auto* source = static_cast<CachedPlanSource*>(linitial(sources));
      a.command = source->commandTag == CMDTAG_UNKNOWN ? "" : GetCommandTagName(source->commandTag);
      a.begin = std::max(source->raw_parse_tree->stmt_location, 0);
      a.length = source->raw_parse_tree->stmt_len;
      const Query* const first = source->query_list == NIL ? nullptr : linitial_node(Query, source->query_list);
      a.select = list_length(source->query_list) == 1 && first->commandType == CMD_SELECT;
      a.writes = a.select && first->hasModifyingCTE;
      a.locks = a.select && first->rowMarks != NIL;
      if (a.select && source->resultDesc != nullptr) {
        const TupleDesc columns = source->resultDesc;
        MemoryContext spi = MemoryContextSwitchTo(caller);
        a.columns = columns->natts;
        a.names = static_cast<const char**>(palloc0(sizeof(char*) * static_cast<std::size_t>(a.columns)));
        a.types = static_cast<Oid*>(palloc0(sizeof(Oid) * static_cast<std::size_t>(a.columns)));
        a.rows = static_cast<RowColumns*>(palloc0(sizeof(RowColumns) * static_cast<std::size_t>(a.columns)));
        for (int i = 0; i < a.columns; ++i) {
          a.names[i] = pstrdup(NameStr(TupleDescAttr(columns, i)->attname));
          a.types[i] = TupleDescAttr(columns, i)->atttypid;
          a.rows[i] = columns_of_row(first, i + 1);
        }
        if (!a.writes && !a.locks) {
          CachedPlan* const cached = SPI_plan_get_cached_plan(plan);
          a.servers = servers_of(cached);
          a.explained = explained(cached, query);
          if (cached != nullptr)
            ReleaseCachedPlan(cached, nullptr);  // the plan is not saved: no resource owner knows of it
        }
        MemoryContextSwitchTo(spi);
      }
    }
    SPI_finish();
    return a;
  });
}

void require_one_select(const Analysis& a, Beside beside) {
  const auto refuse = [=](const std::string& message) {
    throw Error(ErrorKind::invalid_option, message, advice_on(beside));
  };
  if (a.statements == 0) refuse("the query is empty, expected a SELECT");
  if (a.statements > 1) refuse("the query has " + std::to_string(a.statements) + " statements, expected one SELECT");
  if (!a.select)
    refuse("the query is not a SELECT that returns rows" +
           (a.command[0] == '\0'
                ? std::string()
                : std::string(", but ") + a.command + (std::string_view(a.command) == "SELECT" ? " INTO" : "")));
  if (a.writes) refuse("the query writes to tables in a WITH clause, expected a SELECT that only reads");
  if (a.locks) refuse("the query locks rows (FOR UPDATE or FOR SHARE), expected a SELECT that only reads");
}

namespace {

std::string quoted_columns(const Analysis& a) {
  std::string all;
  for (int i = 0; i < a.columns; ++i) all += (i == 0 ? "\"" : ", \"") + std::string(a.names[i]) + "\"";
  return all.empty() ? "none" : all;
}

/// The column that is called so; −1 for none.
int find_column(const Analysis& a, const std::string& name, Beside beside) {
  int found = -1;
  for (int i = 0; i < a.columns; ++i) {
    if (name != a.names[i]) continue;
    if (found >= 0)
      throw Error(ErrorKind::invalid_option, "the query has two columns named \"" + name + "\"", advice_on(beside));
    found = i;
  }
  return found;
}

}  // namespace

QueryColumns columns_of(const Analysis& a, const std::string& shard_name, Beside beside) {
  QueryColumns c;
  const bool labelled = beside != Beside::nothing;
  if (beside == Beside::label_and_fold) {
    if (shard_name == role_names[fold])
      throw Error(ErrorKind::invalid_option, "option \"shard\" must name another column of the query than \"fold\"",
                  "Select the column twice, once under another name.");
    c.of[fold] = find_column(a, role_names[fold], beside);
    if (c.of[fold] < 0)
      throw Error(ErrorKind::invalid_option, "the query has no column named \"fold\", expected the fold of each row",
                  "Select one of a key that stays: SELECT label, features, margin_fold(id, 5) AS fold.");
    const Oid type = a.types[c.of[fold]];
    if (type != INT4OID)
      throw Error(ErrorKind::wrong_type,
                  "the column \"fold\" of the query is of type " + type_name_of(type) + ", expected integer",
                  "Cast it: fold::integer.");
  }
  if (!shard_name.empty()) {
    c.of[shard] = find_column(a, shard_name, beside);
    if (c.of[shard] < 0) {
      std::vector<std::string_view> names(a.names, a.names + a.columns);
      throw Error(ErrorKind::invalid_option,
                  "option \"shard\" must name a column of the query, not \"" + shard_name + "\"",
                  name_hint(shard_name, names));
    }
  }
  for (const Role role : {label, features, weight})
    if (role_names[role] != shard_name && (labelled || role != label))
      c.of[role] = find_column(a, role_names[role], beside);
  if ((c.of[label] >= 0 || !labelled) && c.of[features] >= 0) return c;
  // By position: the columns without such a name are what is still missing, in this order.
  int next = labelled ? label : features;
  for (int i = 0; i < a.columns; ++i) {
    // A fold that nobody asks for is no weight.
    if (std::find(c.of, c.of + roles, i) != c.of + roles || std::string_view(a.names[i]) == role_names[fold]) continue;
    while (next < shard && c.of[next] >= 0) ++next;
    if (next == shard)
      throw Error(ErrorKind::invalid_option, "the query has columns that are not known what for: " + quoted_columns(a),
                  advice_on(beside));
    c.of[next] = i;
  }
  const bool no_label = labelled && c.of[label] < 0;
  if (no_label || c.of[features] < 0)
    throw Error(ErrorKind::invalid_option,
                std::string("the query has no column for the ") + (no_label ? "label" : "features") +
                    "; its columns: " + quoted_columns(a),
                advice_on(beside));
  return c;
}
void require_number(const Analysis& a, int column, Beside beside) {
  const Oid type = a.types[column];
  const Oid base = backend([=] { return getBaseType(type); });
  for (const Oid known : {INT2OID, INT4OID, INT8OID, FLOAT4OID, FLOAT8OID, NUMERICOID})
    if (base == known) return;
  throw Error(ErrorKind::wrong_type,
              std::string("the weight, column \"") + a.names[column] + "\" of the query, is of type " +
                  type_name_of(type) + ", expected a number",
              advice_on(beside));
}

namespace {

const Value* member(const Value* value, const char* name) {
  const auto* const object = value == nullptr ? nullptr : std::get_if<Value::Object>(&value->data);
  const auto found = object == nullptr ? Value::Object::const_iterator() : object->find(name);
  return object == nullptr || found == object->end() ? nullptr : &found->second;
}

double most_tasks(const Value* plan) {
  const Value* const tasks = member(member(member(plan, "Distributed Query"), "Job"), "Task Count");
  const auto* const count = tasks == nullptr ? nullptr : std::get_if<double>(&tasks->data);
  double most = count == nullptr ? 1 : *count;
  const Value* const below = member(plan, "Plans");
  if (const auto* const plans = below == nullptr ? nullptr : std::get_if<Value::Array>(&below->data))
    for (const Value& p : *plans) most = std::max(most, most_tasks(&p));
  return most;
}

}  // namespace

std::int32_t tasks_of(const Analysis& a) {
  if (a.explained == 0) return 1;
  const Value all = value_from(a.explained);
  const auto* const queries = std::get_if<Value::Array>(&all.data);
  if (queries == nullptr || queries->empty()) return 1;
  const double tasks = most_tasks(member(&queries->front(), "Plan"));
  return tasks >= 1 ? static_cast<std::int32_t>(std::min<double>(tasks, most_parts)) : 1;
}

}  // namespace margin::pg
