#include "pg/functions/sql_source.hpp"

#include "core/scans/answered_check.hpp"
#include "pg/server/poll_trace.hpp"
#include "pg/values/scan_values.hpp"
#include "pg/values/state_object.hpp"

namespace margin::pg {

namespace {

/// What a statement returned: copies of its states in the context that was current.
struct States {
  Datum* values;
  std::uint64_t count;
  int code;  // of SPI
};

/// One run of the statement.
struct Scan {
  const char* text;
  Oid question_type;
  Datum question;
  bool by_shard;
  std::int64_t number;
  const char* servers;
};

/// Which scan it was, for errors in the middle of it; and the servers, as a lost connection is reported without its name.
void describe(void* argument) {
  const auto* scan = static_cast<const Scan*>(argument);
  const char* const from = scan->servers[0] == '\0'                     ? ""
                           : std::strchr(scan->servers, ',') != nullptr ? ", which reads from the foreign servers "
                                                                        : ", which reads from the foreign server ";
  errcontext("scan %lld of train_margin_from%s%s", static_cast<long long>(scan->number), from, scan->servers);
}

/// Parameters are constants of a plan that is made for them alone, and may have parallel workers. By shards the parts of
/// a partitioned table are to be aggregated where they are, which the server does only when it is told to.
States run(Scan scan) {
  States out{};
  ErrorContextCallback context = {error_context_stack, describe, &scan};
  error_context_stack = &context;
  MemoryContext caller = CurrentMemoryContext;
  const int settings = NewGUCNestLevel();
  if (scan.by_shard)
    set_config_option("enable_partitionwise_aggregate", "on", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0,
                      false);
  SPI_connect();
  const int code = SPI_execute_with_args(scan.text, 1, &scan.question_type, &scan.question, nullptr, true, 0);
  MemoryContext spi = MemoryContextSwitchTo(caller);
  const std::uint64_t rows = code == SPI_OK_SELECT ? SPI_processed : 0;
  out.code = code;
  out.values = static_cast<Datum*>(palloc(sizeof(Datum) * (rows + 1)));
  for (std::uint64_t i = 0; i < rows; ++i) {
    bool null;
    const Datum state = SPI_getbinval(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 1, &null);
    if (!null) out.values[out.count++] = datumCopy(state, false, -1);
    heap_freetuple(SPI_tuptable->vals[i]);
  }
  MemoryContextSwitchTo(spi);
  SPI_finish();
  AtEOXact_GUC(true, settings);
  error_context_stack = context.previous;
  return out;
}

}  // namespace

std::optional<Datum> SqlSource::encoder(Datum options) {
  const std::string text = statement_.encoder_text();
  const Scan scan{text.c_str(), JSONBOID, options, false, 1, statement_.servers().c_str()};
  const auto call = [=] { return run(scan); };
  const States found = catch_row_errors_ ? in_subtransaction(call) : backend(call);
  trace_others();
  return found.count == 1 ? std::optional(found.values[0]) : std::nullopt;
}

Answer SqlSource::ask(const Question& question, const Progress& progress) {
  const auto start = std::chrono::steady_clock::now();
  progress.poll();
  const Datum asked = scan_value(question.bytes(), question_type);
  const Scan scan{statement_.text().c_str(),   statement_.question_type(), asked, statement_.by_shard(), scans_ + 1,
                  statement_.servers().c_str()};
  const auto call = [=] { return run(scan); };
  const States states = catch_row_errors_ ? in_subtransaction(call) : backend(call);
  trace_others();
  if (states.code != SPI_OK_SELECT)
    throw Error(ErrorKind::unsupported,
                std::string("the scan of the query ended with ") + SPI_result_code_string(states.code));
  Answer answer;
  for (std::uint64_t i = 0; i < states.count; ++i) {
    merge_state(states.values[i], answer, progress);
    pfree(DatumGetPointer(states.values[i]));
  }
  pfree(states.values);
  pfree(DatumGetPointer(asked));
  require_answer(question, answer, progress);
  if (++scans_ == 1) {
    without_rows_ = answer.rows() == 0;
    one_class_ = question.outcome == Dataset::Outcome::classes && answer.classes().size() == 1;
  }
  session_.scan(scans_, answer.rows(), std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  return answer;
}

}  // namespace margin::pg
