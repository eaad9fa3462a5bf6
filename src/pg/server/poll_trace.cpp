#include "pg/server/poll_trace.hpp"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <ctime>
#if __has_include(<execinfo.h>)
#include <dlfcn.h>
#include <execinfo.h>
#define MARGIN_HAS_BACKTRACE 1
#endif

namespace margin::pg {

namespace {

constexpr int most_frames = 24;

/// Where a stretch begins or ends: return addresses, innermost first; none where the function itself begins or ends.
struct Stack {
  void* frames[most_frames];
  int size = 0;
};

struct Stretch {
  double seconds = 0;
  long faults = 0;  // pages that the kernel handed out
  Stack from, to;
};

double last_seconds = 0;
long last_faults = 0;
Stack last_stack;
Stretch longest;

double cpu_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

long faults_of_thread() {
  rusage used;
  return getrusage(RUSAGE_THREAD, &used) == 0 ? used.ru_minflt : 0;
}

/// What the kernel takes to hand out so many pages.
double seconds_of_pages(std::size_t pages) {
  constexpr std::size_t size = 4096, most = 65536;
  const std::size_t touched = std::min(pages, most);
  void* const fresh = mmap(nullptr, touched * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (fresh == MAP_FAILED) return 0;
  const double begin = cpu_seconds();
  for (std::size_t i = 0; i < touched; ++i) static_cast<volatile char*>(fresh)[i * size] = 1;
  const double took = cpu_seconds() - begin;
  munmap(fresh, touched * size);
  return took * static_cast<double>(pages) / static_cast<double>(touched);
}

/// Of one: a fifth of a microsecond on one machine, twenty on a virtual one. No look at the interrupts could shorten it: a
/// stretch is measured without.
double page_seconds() {
  static const double measured = seconds_of_pages(1024) / 1024;
  return measured;
}

void begin_stretch() {
  last_faults = faults_of_thread();
  last_seconds = cpu_seconds();
}

/// Ends a stretch at `here`; the longest of the call is kept.
void end_stretch(const Stack& here, double now) {
  const long faults = faults_of_thread() - last_faults;
  const double seconds = now - last_seconds - static_cast<double>(faults) * page_seconds();
  if (seconds > longest.seconds) longest = {seconds, faults, last_stack, here};
}

void look(Stack& stack) {
#ifdef MARGIN_HAS_BACKTRACE
  stack.size = backtrace(stack.frames, most_frames);
#else
  stack.size = 0;
#endif
}

/// Offsets in our library, which addr2line and nm turn into names.
void describe(const Stack& stack, char* text, std::size_t size) {
  std::size_t used = 0;
  text[0] = '\0';
#ifdef MARGIN_HAS_BACKTRACE
  Dl_info self;
  if (dladdr(reinterpret_cast<void*>(&trace_poll), &self) == 0) return;
  for (int i = 0; i < stack.size && used + 24 < size; ++i) {
    Dl_info info;
    if (dladdr(stack.frames[i], &info) == 0 || info.dli_fbase != self.dli_fbase) continue;
    const auto offset = static_cast<char*>(stack.frames[i]) - static_cast<char*>(info.dli_fbase);
    used += static_cast<std::size_t>(snprintf(text + used, size - used, " 0x%lx", static_cast<unsigned long>(offset)));
  }
#else
  (void)stack;
  (void)size;
  (void)used;
#endif
}

}  // namespace

const char* TracedCall::traced = nullptr;

void TracedCall::begin() {
  traced = function_;
  longest = Stretch{};
  last_stack = Stack{};  // a walk of the stack for every row would cost more than most rows do
  page_seconds();
  begin_stretch();
}

void TracedCall::end() {
  end_stretch(Stack{}, cpu_seconds());
  traced = nullptr;
  const auto too_long = [] { return guc_poll_trace > 0 && 1e3 * longest.seconds >= guc_poll_trace; };
  if (!too_long()) return;
  // Many pages take longer each than few, where the machine's own host has to find them first.
  if (const long faults = longest.faults; faults > 1024)
    longest.seconds -= std::max(
        0.0, seconds_of_pages(static_cast<std::size_t>(faults)) - static_cast<double>(faults) * page_seconds());
  if (!too_long()) return;
  const double milliseconds = 1e3 * longest.seconds;
  char from[512], to[512];
  describe(longest.from, from, sizeof from);
  describe(longest.to, to, sizeof to);
  ereport(LOG, (errmsg("margin: %s did not check for interrupts for %.0f ms of CPU", function_, milliseconds),
                errdetail_log("Stretch from%s to%s, without its %ld page faults.", from, to, longest.faults),
                errhidestmt(false)));
}

void trace_poll() {
  if (!TracedCall::any()) return;
  const double now = cpu_seconds();
  Stack here;
  look(here);
  end_stretch(here, now);
  last_stack = here;
  begin_stretch();  // the time that the trace itself takes is nobody's
}

void trace_others() {
  if (!TracedCall::any()) return;
  last_stack = Stack{};
  begin_stretch();
}

}  // namespace margin::pg
