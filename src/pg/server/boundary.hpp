// Where C++ exceptions and PostgreSQL errors meet. entry() turns exceptions into ereport(ERROR) after every C++ frame
// is gone, and callback() does outside of SQL functions; backend() turns ereport(ERROR) into an exception before it
// could jump over one. Nothing else in src/pg raises, catches or jumps.
#pragma once

#include "pg/server/postgres.hpp"

namespace margin::pg {

/// An error of the server on its way through C++ frames, with its SQLSTATE, detail, hint and position.
struct BackendError {
  ErrorData* data;
};

/// Run `body` as the body of the SQL function `name`: whatever it throws becomes one PostgreSQL error.
Datum entry(FunctionCallInfo fcinfo, Datum (*body)(FunctionCallInfo), const char* name);

/// Run `body(argument)` where the server calls us otherwise than as an SQL function: whatever it throws becomes one
/// PostgreSQL error.
void callback(void (*body)(void*), void* argument, const char* name);

/// Throws std::logic_error on any other thread than the session's: nothing of the server may be called there.
void require_session_thread();

/// Calls call(argument); an ereport(ERROR) inside is thrown as BackendError, or bad_alloc where it cannot be kept.
void guarded(void (*call)(void*), void* argument);

/// Run `f`, which may call anything of the server but must own nothing that needs a destructor. The result must be
/// trivially copyable.
template <class F>
auto backend(F&& f) -> decltype(f()) {
  using Result = decltype(f());
  if constexpr (std::is_void_v<Result>) {
    guarded([](void* p) { (*static_cast<std::remove_reference_t<F>*>(p))(); },
            const_cast<void*>(static_cast<const void*>(&f)));
  } else {
    static_assert(std::is_trivially_copyable_v<Result>, "an error would skip the destructor");
    struct Call {
      std::remove_reference_t<F>* f;
      Result result;
    } call{&f, {}};
    guarded(
        [](void* p) {
          auto* c = static_cast<Call*>(p);
          c->result = (*c->f)();
        },
        &call);
    return call.result;
  }
}

/// ereport(ERROR): could not do `what` with the file `path`, for the reason in errno. Only inside of backend().
[[noreturn]] void raise_file_error(const char* what, const char* path);
/// ereport(ERROR): the command writes or locks, as the server says it of functions that are not volatile. The same.
[[noreturn]] void raise_not_read_only(const char* command);

/// Whether an error is about the rows at hand, and not about the statement or the machine.
inline bool about_rows(const Error& e) {
  return e.kind() == ErrorKind::invalid_value || e.kind() == ErrorKind::null_value ||
         e.kind() == ErrorKind::wrong_dimensions || e.kind() == ErrorKind::malformed_binary;
}

/// Runs f. An error about the rows is returned, any other passes through.
template <class F>
std::optional<Error> row_error(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    if (!about_rows(e)) throw;
    return e;
  }
  return std::nullopt;
}

/// Runs f, which reads a binary value: what it finds malformed is malformed binary.
template <class F>
void read_binary(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::malformed) throw;
    throw Error(ErrorKind::malformed_binary, e.message(), e.hint(), e.detail());
  }
}

/// As guarded(), in a subtransaction: after an error of the call the statement can go on. One about rows, as margin's
/// own functions raise it, is thrown as Error, any other as BackendError.
void guarded_in_subtransaction(void (*call)(void*), void* argument);

template <class F>
auto in_subtransaction(F&& f) -> decltype(f()) {
  using Result = decltype(f());
  static_assert(std::is_trivially_copyable_v<Result>, "an error would skip the destructor");
  struct Call {
    std::remove_reference_t<F>* f;
    Result result;
  } call{&f, {}};
  guarded_in_subtransaction(
      [](void* p) {
        auto* c = static_cast<Call*>(p);
        c->result = (*c->f)();
      },
      &call);
  return call.result;
}

/// ereport(WARNING) with a hint.
void warn(const std::string& message, const std::string& hint);
/// ereport(NOTICE).
void notice(const std::string& message);

}  // namespace margin::pg

/// The one way to define an SQL function: MARGIN_FUNCTION(name) { ... return datum; }, with fcinfo in scope.
#define MARGIN_FUNCTION(name)                                                                       \
  extern "C" {                                                                                      \
  PG_FUNCTION_INFO_V1(name);                                                                        \
  }                                                                                                 \
  static Datum name##_body(FunctionCallInfo fcinfo);                                                \
  extern "C" Datum name(PG_FUNCTION_ARGS) { return margin::pg::entry(fcinfo, name##_body, #name); } \
  static Datum name##_body([[maybe_unused]] FunctionCallInfo fcinfo)
