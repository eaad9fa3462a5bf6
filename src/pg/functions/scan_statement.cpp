#include "pg/functions/scan_statement.hpp"

#include "pg/server/relation_kinds.hpp"
#include "pg/values/composite.hpp"
#include "pg/values/features.hpp"
#include "pg/values/jsonb.hpp"
#include "pg/values/scan_values.hpp"

namespace margin::pg {

namespace {

constexpr const char* advice =
    "Give one SELECT of label, features and, optionally, weight: by these names, or in this order.";

/// What the server makes of the user's text, in memory of the caller's context.
struct Analysis {
  int statements, begin, length;  // of the text of the first one, without a semicolon
  const char* command;
  bool select, writes, locks;
  int columns;
  const char** names;
  Oid* types;
  const char* servers;  // "one, two": of its foreign tables
};

/// The names of the foreign servers that the tables of a plan are on, each once.
const char* servers_of(SPIPlanPtr plan) {
  CachedPlan* const cached = SPI_plan_get_cached_plan(plan);
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
  if (cached != nullptr) ReleaseCachedPlan(cached, nullptr);  // the plan is not saved: no resource owner knows of it
  return text.data;
}

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
        for (int i = 0; i < a.columns; ++i) {
          a.names[i] = pstrdup(NameStr(TupleDescAttr(columns, i)->attname));
          a.types[i] = TupleDescAttr(columns, i)->atttypid;
        }
        if (!a.writes && !a.locks) a.servers = servers_of(plan);
        MemoryContextSwitchTo(spi);
      }
    }
    SPI_finish();
    return a;
  });
}

void require_one_select(const Analysis& a) {
  const auto refuse = [](const std::string& message) { throw Error(ErrorKind::invalid_option, message, advice); };
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

enum Role { label, features, weight, shard, roles };
constexpr const char* role_names[roles] = {"label", "features", "weight", "shard"};

std::string quoted_columns(const Analysis& a) {
  std::string all;
  for (int i = 0; i < a.columns; ++i) all += (i == 0 ? "\"" : ", \"") + std::string(a.names[i]) + "\"";
  return all.empty() ? "none" : all;
}

/// The column that is called so; −1 for none.
int find_column(const Analysis& a, const std::string& name) {
  int found = -1;
  for (int i = 0; i < a.columns; ++i) {
    if (name != a.names[i]) continue;
    if (found >= 0) throw Error(ErrorKind::invalid_option, "the query has two columns named \"" + name + "\"", advice);
    found = i;
  }
  return found;
}

struct Columns {
  int of[roles] = {-1, -1, -1, -1};
};

Columns columns_of(const Analysis& a, const std::string& shard_name) {
  Columns c;
  if (!shard_name.empty()) {
    c.of[shard] = find_column(a, shard_name);
    if (c.of[shard] < 0) {
      std::vector<std::string_view> names(a.names, a.names + a.columns);
      throw Error(ErrorKind::invalid_option,
                  "option \"shard\" must name a column of the query, not \"" + shard_name + "\"",
                  name_hint(shard_name, names));
    }
  }
  for (const Role role : {label, features, weight})
    if (role_names[role] != shard_name) c.of[role] = find_column(a, role_names[role]);
  if (c.of[label] >= 0 && c.of[features] >= 0) return c;
  // By position: the columns without such a name are what is still missing, in this order.
  int next = label;
  for (int i = 0; i < a.columns; ++i) {
    if (std::find(c.of, c.of + roles, i) != c.of + roles) continue;
    while (next < shard && c.of[next] >= 0) ++next;
    if (next == shard)
      throw Error(ErrorKind::invalid_option, "the query has columns that are not known what for: " + quoted_columns(a),
                  advice);
    c.of[next] = i;
  }
  if (c.of[label] < 0 || c.of[features] < 0)
    throw Error(ErrorKind::invalid_option,
                std::string("the query has no column for the ") + (c.of[label] < 0 ? "label" : "features") +
                    "; its columns: " + quoted_columns(a),
                advice);
  return c;
}

/// Of a type whose cast to double precision is the server's own.
void require_number(const Analysis& a, int column) {
  const Oid type = a.types[column];
  const Oid base = backend([=] { return getBaseType(type); });
  for (const Oid known : {INT2OID, INT4OID, INT8OID, FLOAT4OID, FLOAT8OID, NUMERICOID})
    if (base == known) return;
  throw Error(ErrorKind::wrong_type,
              std::string("the weight, column \"") + a.names[column] + "\" of the query, is of type " +
                  type_name_of(type) + ", expected a number",
              advice);
}

std::string quoted(const std::string& name) {
  const char* plain = name.c_str();
  return backend([=] { return quote_identifier(plain); });
}

/// The column names in the wrapper: the roles', so that they are plain and none is there twice.
std::string alias_list(const Analysis& a, const Columns& c) {
  std::string list;
  for (int i = 0; i < a.columns; ++i) {
    const auto role = std::find(c.of, c.of + roles, i) - c.of;
    list += (i == 0 ? "(" : ", ") + (role < roles ? std::string(role_names[role]) : "unused_" + std::to_string(i + 1));
  }
  return list + ")";
}

}  // namespace

ScanStatement::ScanStatement(const std::string& query, const std::string& shard_name, Oid function)
    : function_(function) {
  const Analysis a = analysis_of(query.c_str());
  require_one_select(a);
  const Columns c = columns_of(a, shard_name);
  if (c.of[weight] >= 0) require_number(a, c.of[weight]);

  const Oid schema = backend([=] { return get_func_namespace(function); });
  const char* const space = backend([=] { return get_namespace_name(schema); });
  prefix_ = quoted(space == nullptr ? "" : space) + ".";
  const char* const type = margin::pg::question_type;
  question_type_ = backend(
      [=] { return GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid, CStringGetDatum(type), ObjectIdGetDatum(schema)); });
  if (c.of[weight] >= 0) weight_ = ", r.weight";
  const auto begin = static_cast<std::size_t>(a.begin);
  // The line break ends a comment at the end of the query.
  from_ = "FROM (\n" + query.substr(begin, a.length > 0 ? static_cast<std::size_t>(a.length) : std::string::npos) +
          "\n) AS r " + alias_list(a, c);
  if (c.of[shard] >= 0) group_ = "\nGROUP BY r.shard";
  text_ = "SELECT 1\n" + from_ + group_;
  call_.label = c.of[label] + 1;
  call_.features = c.of[features] + 1;
  call_.weight = c.of[weight] + 1;
  std::vector<Oid> arguments{question_type_, ANYOID, ANYOID};
  if (call_.weight > 0) arguments.push_back(FLOAT8OID);
  const Oid term = own_function(function, "margin_term", arguments);
  call_.term = term;
  call_.aggregate = own_function(function, "margin_sum", {backend([=] { return get_func_rettype(term); })});
  call_.constant_type = question_type_;
  of_rows_ = is_row(a.types[c.of[features]]);
  by_shard_ = c.of[shard] >= 0;
  servers_ = a.servers;
}

ScanCall ScanStatement::call(Datum question) const {
  ScanCall c = call_;
  c.text = text_.c_str();
  c.constant = question;
  return c;
}

ScanCall ScanStatement::encoder_call(Datum options) const {
  ScanCall c = call(options);
  std::vector<Oid> arguments{ANYOID, ANYOID, JSONBOID};
  if (c.weight > 0) arguments.insert(arguments.begin() + 2, FLOAT8OID);
  c.aggregate = own_function(function_, "margin_encoder", arguments);
  c.term = InvalidOid;
  c.constant_type = JSONBOID;
  return c;
}

void ScanStatement::encode_with(Datum encoder) {
  const bool sparse = Encoder::from_value(value_from(encoder))->sparse();
  call_.encode = own_function(function_, sparse ? "margin_encode_sparse" : "margin_encode", {JSONBOID, ANYOID});
  call_.encoder = encoder;
}

std::string ScanStatement::encoder_text() const {
  return "SELECT " + prefix_ + "margin_encoder(r.label, r.features" + weight_ + ", $1)\n" + from_;
}

std::string ScanStatement::text_with(Datum question) const {
  const Oid type = question_type_;
  const char* const literal = backend([=] {
    Oid output;
    bool variable;
    getTypeOutputInfo(type, &output, &variable);
    return quote_literal_cstr(OidOutputFunctionCall(output, question));
  });
  return "SELECT " + prefix_ + "margin_sum(" + prefix_ + "margin_term(" + literal + "::" + prefix_ +
         margin::pg::question_type + ", r.label, r.features" + weight_ + "))\n" + from_ + group_;
}

}  // namespace margin::pg
