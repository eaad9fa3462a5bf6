#include "pg/functions/scan_statement.hpp"

#include "core/encoder/fit_column.hpp"
#include "core/problem/one_class.hpp"
#include "pg/server/memory.hpp"
#include "pg/values/composite.hpp"
#include "pg/values/features.hpp"
#include "pg/values/jsonb.hpp"
#include "pg/values/scan_values.hpp"

namespace margin::pg {

namespace {

std::string quoted(const std::string& name) {
  const char* plain = name.c_str();
  return backend([=] { return quote_identifier(plain); });
}

std::string literal(Oid type, Datum value) {
  return backend([=] {
    Oid output;
    bool variable;
    getTypeOutputInfo(type, &output, &variable);
    return quote_literal_cstr(OidOutputFunctionCall(output, value));
  });
}

/// The column names in the wrapper: the roles', so that they are plain and none is there twice.
std::string alias_list(const Analysis& a, const QueryColumns& c) {
  std::string list;
  for (int i = 0; i < a.columns; ++i) {
    const auto role = std::find(c.of, c.of + roles, i) - c.of;
    list += (i == 0 ? "(" : ", ") + (role < roles ? std::string(role_names[role]) : "unused_" + std::to_string(i + 1));
  }
  return list + ")";
}

}  // namespace

ScanStatement::ScanStatement(const std::string& query, const std::string& shard_name, Oid function, Beside beside)
    : function_(function) {
  const bool with_fold = beside == Beside::label_and_fold;
  const Analysis a = analysis_of(query.c_str());
  require_one_select(a, beside);
  const QueryColumns c = columns_of(a, shard_name, beside);
  if (c.of[weight] >= 0) require_number(a, c.of[weight], beside);

  const char* const name = backend([=] { return get_func_name(function); });
  caller_ = name == nullptr ? "" : name;
  const Oid schema = backend([=] { return get_func_namespace(function); });
  const char* const space = backend([=] { return get_namespace_name(schema); });
  prefix_ = quoted(space == nullptr ? "" : space) + ".";
  const auto type_named = [=](const char* type) {
    return backend([=] {
      return GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid, CStringGetDatum(type), ObjectIdGetDatum(schema));
    });
  };
  question_type_ = type_named(margin::pg::question_type);
  profile_type_ = type_named(margin::pg::profile_type);
  model_type_ = type_named("margin_model");
  if (c.of[weight] >= 0) weight_ = ", r.weight";
  const auto begin = static_cast<std::size_t>(a.begin);
  // The line break ends a comment at the end of the query.
  from_ = "FROM (\n" + query.substr(begin, a.length > 0 ? static_cast<std::size_t>(a.length) : std::string::npos) +
          "\n) AS r " + alias_list(a, c);
  if (c.of[shard] >= 0) group_ = "\nGROUP BY r.shard";
  ungrouped_text_ = "SELECT 1\n" + from_;
  text_ = ungrouped_text_ + group_;
  if (with_fold)
    folds_text_ = "SELECT r.fold\n" + from_ + "\nWHERE r.label IS NOT NULL\nGROUP BY r.fold\nORDER BY r.fold";
  call_.label = c.of[label] + 1;
  call_.all_labels = inlier;
  call_.features = c.of[features] + 1;
  call_.weight = c.of[weight] + 1;
  call_.fold = c.of[fold] + 1;
  call_.default_weight = call_.weight == 0;
  const Oid term = own_function(function, "margin_term", {question_type_, ANYOID, ANYOID, FLOAT8OID});
  call_.term = term;
  call_.aggregate = own_function(function, "margin_sum", {backend([=] { return get_func_rettype(term); })});
  call_.constant_type = question_type_;
  of_rows_ = is_row(a.types[c.of[features]]);
  const RowColumns& row = a.rows[c.of[features]];
  for (int i = 0; i < list_length(row.names); ++i)
    row_.push_back({text_of_string_node(list_nth(row.names, i)), static_cast<Var*>(list_nth(row.columns, i))->vartype});
  by_shard_ = c.of[shard] >= 0;
  servers_ = a.servers;
  tasks_ = tasks_of(a);
}

ScanCall ScanStatement::call(const std::vector<Datum>& questions, const std::vector<RowTest>& tests) const {
  ScanCall c = call_;
  c.text = text_.c_str();
  c.constants = questions.data();
  c.constant_count = static_cast<int>(questions.size());
  c.tests = tests.empty() ? nullptr : tests.data();
  return c;
}

ScanCall ScanStatement::judging_call(const std::vector<Datum>& models, const std::vector<RowTest>& tests) const {
  ScanCall c = call(models, tests);
  std::vector<Oid> arguments{model_type_, ANYOID, ANYOID};
  if (c.weight > 0) arguments.push_back(FLOAT8OID);
  c.term = own_function(function_, c.weight > 0 ? "_margin_term" : "margin_term", arguments);
  c.constant_type = model_type_;
  c.default_weight = false;
  c.encode = InvalidOid;
  c.columns = nullptr;
  return c;
}

Datum ScanStatement::names(const std::vector<std::string>& columns, bool with_label) const {
  Value::Array names;
  if (with_label) names.push_back(Value{label_name_});
  for (const std::string& name : columns) names.push_back(Value{name});
  return jsonb_from(names);
}

void ScanStatement::name_columns(ScanCall& call, const std::vector<std::string>& columns) const {
  auto** const list =
      static_cast<const char**>(allocate_in(CurrentMemoryContext, (columns.size() + 1) * sizeof(char*)));
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const char* const name = columns[i].c_str();
    list[i] = backend([=] { return pstrdup(name); });
  }
  call.names = names(columns, call.label_first);
  call.columns = list;
  call.column_count = static_cast<int>(columns.size());
}

bool ScanStatement::profiled(const EncoderRules& rules) const {
  if (row_.empty() || call_.weight > 0 || wants_pairs(rules)) return false;
  return std::none_of(row_.begin(), row_.end(), [&](const RowColumn& c) {
    const std::optional<CellType> type = cell_type_of(c.type);
    // Rows whose group is NULL stay where missing values leave rows out.
    if (is_grouping(rules, c.name) && rules.missing == Missing::skip) return true;
    return is_feature(rules, c.name) && type.has_value() && type->kind == ColumnKind::sparse;
  });
}

/// Of the row, those that are features; and the name of the label beside them.
std::vector<std::string> ScanStatement::feature_columns(const EncoderRules& rules) {
  std::vector<std::string_view> all;
  std::vector<std::string> chosen;
  for (const RowColumn& c : row_) {
    all.push_back(c.name);
    if (is_feature(rules, c.name) || is_grouping(rules, c.name)) chosen.push_back(c.name);
  }
  require_named_columns(rules, all);
  if (chosen.empty()) throw no_feature_left();
  label_name_ = role_names[label];
  while (std::find(all.begin(), all.end(), label_name_) != all.end()) label_name_ += '_';
  return chosen;
}

ScanCall ScanStatement::profile_call(const EncoderRules& rules, bool with_label) {
  const std::vector<std::string> chosen = feature_columns(rules);
  ScanCall c = call({});
  c.aggregate = own_function(function_, "margin_sum", {profile_type_});
  c.term = own_function(function_, "margin_profile", {JSONBOID, ANYOID});
  c.constant_type = InvalidOid;
  c.label_first = with_label;
  c.complete = rules.missing == Missing::skip;
  name_columns(c, chosen);
  return c;
}

ScanCall ScanStatement::encoder_call(const std::vector<Datum>& options) const {
  ScanCall c = call(options);
  c.text = ungrouped_text_.c_str();
  std::vector<Oid> arguments{ANYOID, ANYOID, JSONBOID};
  if (c.weight > 0) arguments.insert(arguments.begin() + 2, FLOAT8OID);
  c.aggregate = own_function(function_, "_margin_encoder", arguments);
  c.term = InvalidOid;
  c.constant_type = JSONBOID;
  c.default_weight = false;
  return c;
}

void ScanStatement::encode_with(Datum encoder) {
  const std::unique_ptr<const Encoder> known = Encoder::from_value(value_from(encoder));
  std::vector<Oid> arguments{JSONBOID, ANYOID};
  if (!row_.empty()) {
    std::vector<std::string> names;
    for (const Column& c : known->columns()) names.push_back(c.name);
    name_columns(call_, names);
    arguments.insert(arguments.begin(), JSONBOID);
  }
  const char* const name = !known->sparse() ? "margin_encode"
                           : row_.empty()   ? "margin_encode_sparse"
                                            : "_margin_encode_sparse";
  call_.encode = own_function(function_, name, arguments);
  call_.encoder = encoder;
}

std::string ScanStatement::profile_text(const EncoderRules& rules, bool with_label) {
  const std::vector<std::string> chosen = feature_columns(rules);
  std::string columns = with_label ? ", r.label" : "", tests = "r.label IS NOT NULL";
  for (const std::string& name : chosen) {
    const std::string column = "(r.features)." + quoted(name);
    columns += ", " + column;
    if (rules.missing == Missing::skip) tests += " AND " + column + " IS NOT NULL";
  }
  return "SELECT " + prefix_ + "margin_sum(" + prefix_ + "margin_profile(" +
         literal(JSONBOID, names(chosen, with_label)) + columns + "))\n" + from_ + "\nWHERE " + tests + group_;
}

std::string ScanStatement::encoder_text(Datum options) const {
  return "SELECT " + prefix_ + "_margin_encoder(r.label, r.features" + weight_ + ", " + literal(JSONBOID, options) +
         "::jsonb)\n" + from_;
}

std::string ScanStatement::text_with(Datum question) const {
  return "SELECT " + prefix_ + "margin_sum(" + prefix_ + "margin_term(" + literal(question_type_, question) +
         "::" + prefix_ + margin::pg::question_type + ", r.label, r.features" + weight_ + "))\n" + from_ + group_;
}

}  // namespace margin::pg
