#include "pg/functions/sql_source.hpp"

#include <set>

#include "core/scans/answered_check.hpp"
#include "core/scans/model_figures.hpp"
#include "pg/server/group_key.hpp"
#include "pg/server/poll_trace.hpp"
#include "pg/values/composite.hpp"
#include "pg/values/model_datum.hpp"
#include "pg/values/scan_values.hpp"
#include "pg/values/state_object.hpp"

namespace margin::pg {

namespace {

/// One run of the statement.
struct Scan {
  ScanCall call;
  bool by_shard;
  std::int64_t number;
  const char *caller, *servers;
};

/// Which scan it was, for errors in the middle of it; and the servers, as a lost connection is reported without its name.
void describe(void* argument) {
  const auto* scan = static_cast<const Scan*>(argument);
  const char* const from = scan->servers[0] == '\0'                     ? ""
                           : std::strchr(scan->servers, ',') != nullptr ? ", which reads from the foreign servers "
                                                                        : ", which reads from the foreign server ";
  // A position in our statement is none in the user's.
  if (const int position = geterrposition(); position > 0) {
    errposition(0);
    internalerrposition(position);
    internalerrquery(scan->call.text);
  }
  errcontext("scan %lld of %s%s%s", static_cast<long long>(scan->number), scan->caller, from, scan->servers);
}

/// By shards the parts of a partitioned table are to be aggregated where they are, which the server does only when it is
/// told to.
List* run(Scan scan) {
  ErrorContextCallback context = {error_context_stack, describe, &scan};
  error_context_stack = &context;
  const int settings = NewGUCNestLevel();
  if (scan.by_shard)
    set_config_option("enable_partitionwise_aggregate", "on", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0,
                      false);
  List* const found = rows_of(scan.call);
  AtEOXact_GUC(true, settings);
  error_context_stack = context.previous;
  return found;
}

/// Every scan will do so.
void warn_of_fetched(Oid table) {
  const char* const name = backend([=] {
    HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(table));
    if (!HeapTupleIsValid(tuple)) return "";
    const char* const own = pstrdup(NameStr(reinterpret_cast<Form_pg_class>(GETSTRUCT(tuple))->relname));
    ReleaseSysCache(tuple);
    return own;
  });
  warn_of_statement(
      "each scan fetches the rows of the foreign table \"" + std::string(name) +
          "\", rather than have its server add them up",
      "Its server needs the option extensions 'margin', the table the statistics of ANALYZE, and \"shard\" is "
      "to be the column of its partitions; EXPLAIN of margin_scan_query shows an \"Aggregate on\" then.");
}

}  // namespace

/// Of one run of the statement, in the current memory context.
List* SqlSource::results(const ScanCall& call, bool by_shard, std::int64_t number) {
  Scan scan{call, by_shard, number, statement_.caller().c_str(), statement_.servers().c_str()};
  Oid fetched = InvalidOid;
  if (by_shard && number == 1) scan.call.fetched = &fetched;
  const auto run_it = [=] { return run(scan); };
  List* const found = catch_row_errors_ ? in_subtransaction(run_it) : backend(run_it);
  trace_others();
  if (OidIsValid(fetched)) warn_of_fetched(fetched);
  return found;
}

std::optional<Datum> SqlSource::encoder(Datum options) {
  const std::vector<Datum> of{options};
  const List* const found = results(statement_.encoder_call(of), false, 1);
  const bool made = list_length(found) == 1 && linitial(found) != nullptr;
  return made ? std::optional(PointerGetDatum(linitial(found))) : std::nullopt;
}

Profile SqlSource::profile(const ScanCall& call, const Progress& progress) {
  List* const states = results(call, statement_.by_shard(), 1);
  Profile all;
  ListCell* cell = nullptr;
  foreach (cell, states) {
    if (lfirst(cell) == nullptr) continue;
    merge_state(PointerGetDatum(lfirst(cell)), all, progress);
    pfree(lfirst(cell));
  }
  list_free(states);
  return all;
}

void SqlSource::find_folds() {
  const Scan scan{statement_.call({}), false, ++scans_, statement_.caller().c_str(), statement_.servers().c_str()};
  const char* const text = statement_.folds_text().c_str();
  List* const found = backend([=] {
    Scan own = scan;
    own.call.text = text;
    ErrorContextCallback context = {error_context_stack, describe, &own};
    error_context_stack = &context;
    MemoryContext caller = CurrentMemoryContext;
    List* numbers = NIL;
    SPI_connect();
    SPI_execute(text, true, most_folds + 1);  // a key as fold would be held as a whole
    for (std::uint64_t i = 0; i < SPI_processed; ++i) {
      bool null = false;
      const Datum number = SPI_getbinval(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 1, &null);
      MemoryContext spi = MemoryContextSwitchTo(caller);
      numbers = null ? lappend(numbers, nullptr) : lappend(numbers, makeInteger(DatumGetInt32(number)));
      MemoryContextSwitchTo(spi);
    }
    SPI_finish();
    error_context_stack = context.previous;
    return numbers;
  });
  for (int i = 0; i < list_length(found); ++i) {
    if (list_nth(found, i) == nullptr)
      throw Error(ErrorKind::null_value, "the fold of a row is NULL, expected an integer",
                  "Leave such rows out of the query: WHERE fold IS NOT NULL.");
    folds_.push_back(intVal(list_nth(found, i)));
  }
  without_rows_ = folds_.empty();
}

RowTest SqlSource::test_of(const FoldPart& part) const {
  if (part.rows == FoldPart::Rows::all) return {RowTest::Kind::all, 0};
  const RowTest::Kind kind = part.rows == FoldPart::Rows::of        ? RowTest::Kind::equal
                             : part.rows == FoldPart::Rows::without ? RowTest::Kind::other
                                                                    : RowTest::Kind::less;
  return {kind, folds_[static_cast<std::size_t>(part.fold)]};
}

/// The answers, one for each aggregate of the call.
std::vector<Answer> SqlSource::merged(const ScanCall& call, const Progress& progress) {
  List* const states = results(call, statement_.by_shard(), scans_ + 1);
  std::vector<Answer> answers(static_cast<std::size_t>(call.constant_count));
  for (int i = 0; i < list_length(states); ++i) {
    void* const state = list_nth(states, i);
    if (state == nullptr) continue;
    progress.poll();
    merge_state(PointerGetDatum(state), answers[static_cast<std::size_t>(i) % answers.size()], progress);
    pfree(state);
  }
  list_free(states);
  return answers;
}

void SqlSource::tell(std::int64_t rows, std::chrono::steady_clock::time_point start) {
  session_.scan(++scans_, rows, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

Answer SqlSource::ask(const Question& question, const Progress& progress) {
  return std::move(ask_all({{question}}, progress).front());
}

std::vector<Answer> SqlSource::ask_all(const std::vector<Asked>& questions, const Progress& progress) {
  const auto start = std::chrono::steady_clock::now();
  progress.poll();
  std::vector<Datum> asked;
  std::vector<RowTest> tests;
  for (const Asked& q : questions) {
    asked.push_back(scan_value(q.question.bytes(), question_type));
    tests.push_back(test_of(q.part));
  }
  std::vector<Answer> answers = merged(statement_.call(asked, tests), progress);
  for (const Datum question : asked) pfree(DatumGetPointer(question));
  for (std::size_t k = 0; k < answers.size(); ++k) require_answer(questions[k].question, answers[k], progress);
  if (!started_) {
    // Each answer may be of other folds.
    std::set<std::string_view> classes;
    without_rows_ = true;
    for (const Answer& answer : answers) {
      without_rows_ &= answer.rows() == 0;
      for (const auto& [name, seen] : answer.classes()) classes.insert(name);
    }
    one_class_ = questions.front().question.outcome == Dataset::Outcome::classes && classes.size() == 1;
    started_ = true;
  }
  tell(answers.front().rows(), start);
  return answers;
}

std::vector<Judgement> SqlSource::judge(const std::vector<Model>& models, const std::vector<std::int32_t>& folds,
                                        const Progress& progress) {
  const auto start = std::chrono::steady_clock::now();
  progress.poll();
  std::vector<Datum> asked;
  std::vector<RowTest> tests;
  for (std::size_t k = 0; k < models.size(); ++k) {
    asked.push_back(model_datum(CompositeBuilder(statement_.model_type()), models[k]));
    tests.push_back(test_of({FoldPart::Rows::of, folds[k]}));
  }
  const std::vector<Answer> answers = merged(statement_.judging_call(asked, tests), progress);
  std::vector<Judgement> found;
  for (std::size_t k = 0; k < models.size(); ++k) {
    // As the rows saw it.
    const Model model = decoded(asked[k]);
    const Options options = settings_of(model);
    found.push_back(ModelFigures(model, options, statement_.weighted()).judgement(answers[k]));
  }
  tell(answers.front().rows(), start);
  return found;
}

}  // namespace margin::pg
