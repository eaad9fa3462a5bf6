#include "pg/server/boundary.hpp"

#include <pthread.h>

#include <stdexcept>

#include "pg/server/group_key.hpp"
#include "pg/server/poll_trace.hpp"

#if PG_VERSION_NUM >= 160000
extern "C" {
#include <nodes/miscnodes.h>
}
#endif

#ifdef __EMSCRIPTEN__
// The rest of completes(), in packaging/pglite/jump.c: its compiler knows either C++ exceptions or the server's jump in one file.
extern "C" bool returns(void (*call)(void*), void* argument);
#endif

namespace margin::pg {

namespace {

/// What PG_TRY saves; given back also when a C++ exception passes through.
class ErrorFrame {
 public:
  ErrorFrame() : stack_(PG_exception_stack), context_(error_context_stack) {}
  ~ErrorFrame() {
    PG_exception_stack = stack_;
    error_context_stack = context_;
  }
  ErrorFrame(const ErrorFrame&) = delete;
  ErrorFrame& operator=(const ErrorFrame&) = delete;

 private:
  sigjmp_buf* stack_;
  ErrorContextCallback* context_;
};

/// The function that runs, innermost; null outside of all.
FunctionCallInfo running = nullptr;

class Running {
 public:
  explicit Running(FunctionCallInfo fcinfo) : outer_(running) { running = fcinfo; }
  ~Running() { running = outer_; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  FunctionCallInfo outer_;
};

int sqlstate_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::invalid_option:
      return ERRCODE_INVALID_PARAMETER_VALUE;
    case ErrorKind::wrong_type:
      return ERRCODE_DATATYPE_MISMATCH;
    case ErrorKind::invalid_value:
    case ErrorKind::wrong_dimensions:
      return ERRCODE_DATA_EXCEPTION;
    case ErrorKind::null_value:
      return ERRCODE_NULL_VALUE_NOT_ALLOWED;
    case ErrorKind::limit_exceeded:
      return ERRCODE_PROGRAM_LIMIT_EXCEEDED;
    case ErrorKind::unsupported:
      return ERRCODE_FEATURE_NOT_SUPPORTED;
    case ErrorKind::malformed:
      return ERRCODE_INVALID_TEXT_REPRESENTATION;
    case ErrorKind::malformed_binary:
      return ERRCODE_INVALID_BINARY_REPRESENTATION;
  }
  return ERRCODE_INTERNAL_ERROR;
}

/// An error held in plain memory, so that it outlives the exception that carried it.
struct Report {
  ErrorData* backend;
  int sqlstate;
  char message[1024], detail[1024], hint[1024];

  void set(int state, const char* text, const char* more = "", const char* advice = "") {
    sqlstate = state;
    copy(message, text);
    copy(detail, more);
    copy(hint, advice);
  }
  void add_detail(const std::string& text) { copy(detail, (detail + text).c_str()); }

 private:
  static void copy(char (&to)[1024], const char* from) {
    std::size_t n = strnlen(from, sizeof to - 1);
    // Never cut a UTF-8 character in two.
    if (n == sizeof to - 1)
      while (n > 0 && (static_cast<unsigned char>(from[n]) & 0xC0) == 0x80) --n;
    std::memcpy(to, from, n);
    to[n] = '\0';
  }
};

[[noreturn]] void raise(const Report& r) {
  if (r.backend != nullptr) ReThrowError(r.backend);
  ereport(ERROR, (errcode(r.sqlstate), errmsg("%s", r.message), r.detail[0] != '\0' ? errdetail("%s", r.detail) : 0,
                  r.hint[0] != '\0' ? errhint("%s", r.hint) : 0));
  pg_unreachable();
}

/// True when the body threw: the exception is over and its message is in `report`.
template <class Body>
bool failed(Body&& body, Report& report) {
  report.backend = nullptr;
  try {
    body();
    return false;
  } catch (const BackendError& e) {
    report.backend = e.data;
  } catch (const Error& e) {
    report.set(sqlstate_of(e.kind()), e.message().c_str(), e.detail().c_str(), e.hint().c_str());
  } catch (const std::bad_alloc&) {
    report.set(ERRCODE_OUT_OF_MEMORY, "out of memory", "margin could not allocate memory for this call.",
               "Train on fewer rows, or set margin.memory_limit to be told earlier.");
  } catch (const std::exception& e) {
    report.set(ERRCODE_INTERNAL_ERROR, e.what(), "",
               "This is a mistake in margin, not in its input: please report it.");
  } catch (...) {
    report.set(ERRCODE_INTERNAL_ERROR, "unknown C++ exception");
  }
  return true;
}

/// Says which group of the running aggregate the error is about.
void name_group(Report& report) {
  std::string key;
  Report unused;
  if (failed([&] { key = running_group(); }, unused) || key.empty()) return;
  report.add_detail((report.detail[0] != '\0' ? " " : "") + ("The key of the group is " + key + "."));
}

/// A message with the group of the running aggregate.
std::string with_group(const std::string& message) {
  const std::string key = running_group();
  return key.empty() ? message : message + " (group " + key + ")";
}

/// True when call(argument) returned, false when it raised an error, which is then the server's topmost one.
bool completes(void (*call)(void*), void* argument) {
  ErrorFrame frame;
#ifdef __EMSCRIPTEN__
  return returns(call, argument);
#else
  sigjmp_buf here;
  if (sigsetjmp(here, 0) != 0) return false;
  PG_exception_stack = &here;
  call(argument);
  return true;
#endif
}

/// What C++ found wrong with the input of a type is told to a caller that asked for that (COPY ... ON_ERROR ignore,
/// pg_input_is_valid), from 16 on. Memory, interrupts and limits are no matter of the input.
bool saved(FunctionCallInfo fcinfo, const Report& r) {
#if PG_VERSION_NUM >= 160000
  if (r.backend != nullptr || ERRCODE_TO_CATEGORY(r.sqlstate) != ERRCODE_DATA_EXCEPTION) return false;
  if (fcinfo->context == nullptr || !IsA(fcinfo->context, ErrorSaveContext)) return false;
  errsave(fcinfo->context,
          (errcode(r.sqlstate), errmsg("%s", r.message), r.detail[0] != '\0' ? errdetail("%s", r.detail) : 0,
           r.hint[0] != '\0' ? errhint("%s", r.hint) : 0));
  fcinfo->isnull = true;
  return true;
#else
  (void)fcinfo;
  (void)r;
  return false;
#endif
}

}  // namespace

// Raising happens here, outside every catch clause: a jump out of one would leak the exception object.
Datum entry(FunctionCallInfo fcinfo, Datum (*body)(FunctionCallInfo), const char* name) {
  Datum result = 0;
  Report report;
  bool threw;
  {
    TracedCall call(name);
    Running function(fcinfo);
    threw = failed([&] { result = body(fcinfo); }, report);
    if (threw && report.backend == nullptr) name_group(report);
    call.report();
  }
  if (threw && !saved(fcinfo, report)) raise(report);
  return threw ? 0 : result;
}

void callback(void (*body)(void*), void* argument, const char* name) {
  Report report;
  bool threw;
  {
    TracedCall call(name);
    threw = failed([=] { body(argument); }, report);
    call.report();
  }
  if (threw) raise(report);
}

void require_session_thread() {
  static const pthread_t session = pthread_self();
  if (pthread_equal(session, pthread_self()) == 0) throw std::logic_error("the server was called on another thread");
}

void guarded(void (*call)(void*), void* argument) {
  require_session_thread();
  MemoryContext caller = CurrentMemoryContext;
  if (completes(call, argument)) return;
  // The copy takes memory, which the error may be the lack of.
  MemoryContextSwitchTo(caller);
  ErrorData* data = nullptr;
  const bool copied = completes([](void* to) { *static_cast<ErrorData**>(to) = CopyErrorData(); }, &data);
  MemoryContextSwitchTo(caller);
  FlushErrorState();
  if (!copied) throw std::bad_alloc();
  throw BackendError{data};
}

void raise_file_error(const char* what, const char* path) {
  ereport(ERROR, (errcode_for_file_access(), errmsg("could not %s file \"%s\": %m", what, path)));
  pg_unreachable();
}

void raise_not_read_only(const char* command) {
  ereport(ERROR,
          (errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("%s is not allowed in a non-volatile function", command)));
  pg_unreachable();
}

void guarded_in_subtransaction(void (*call)(void*), void* argument) {
  MemoryContext caller = CurrentMemoryContext;
  ResourceOwner owner = CurrentResourceOwner;
  // The subtransaction has a context of its own, which is current in it.
  backend([=] {
    BeginInternalSubTransaction(nullptr);
    MemoryContextSwitchTo(caller);
  });
  const auto leave = [=](void (*end)()) {
    end();
    MemoryContextSwitchTo(caller);
    CurrentResourceOwner = owner;
  };
  ErrorData* data = nullptr;
  bool short_of_memory = false;
  try {
    // The release may fail, too: then the subtransaction is still there to be rolled back.
    backend([=] {
      call(argument);
      leave(ReleaseCurrentSubTransaction);
    });
    return;
  } catch (const BackendError& e) {
    data = e.data;
  } catch (const std::bad_alloc&) {
    short_of_memory = true;
  }
  backend([=] { leave(RollbackAndReleaseCurrentSubTransaction); });
  if (short_of_memory) throw std::bad_alloc();
  const auto text = [](const char* s) { return std::string(s == nullptr ? "" : s); };
  for (const ErrorKind kind : {ErrorKind::invalid_value, ErrorKind::null_value, ErrorKind::malformed_binary})
    if (data->sqlerrcode == sqlstate_of(kind))
      throw Error(kind, text(data->message), text(data->hint), text(data->detail));
  throw BackendError{data};
}

std::string running_group() { return group_key(running); }

void warn(const std::string& message, const std::string& hint) { warn_of_statement(with_group(message), hint); }

void warn_of_statement(const std::string& message, const std::string& hint) {
  const char* text = message.c_str();
  const char* advice = hint.c_str();
  backend([=] { ereport(WARNING, (errmsg("%s", text), errhint("%s", advice))); });
}

void notice(const std::string& message) {
  const std::string named = with_group(message);
  const char* text = named.c_str();
  backend([=] { ereport(NOTICE, (errmsg("%s", text))); });
}

}  // namespace margin::pg
