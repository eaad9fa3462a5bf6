// Memory that runs out in the middle of a training: std::bad_alloc or margin::Error comes out, nothing is freed twice,
// nothing stays behind. Every kind of training is repeated with one of its allocations failing, or with that one and
// all after it; which ones is spread evenly over the training.
//     allocation_failures [FAILURES]    10,000 failures; a few more if every training is to have as many
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory_resource>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "bytes.hpp"
#include "core/base/error.hpp"
#include "core/kernel/kernel.hpp"
#include "core/loss/loss.hpp"
#include "core/solvers/solver.hpp"
#include "core/train/path.hpp"
#include "core/train/train.hpp"

// --- every allocation of ours passes here: the linker's --wrap for C, the operators for C++
// ---------------------------

namespace {
struct {
  long long seen = 0;         ///< since the start of a training
  long long failing = 0;      ///< the number of the one that fails; 0: none
  bool all_after = false;     ///< and every later one
  long long failures = 0;     ///< how many did
  long long outstanding = 0;  ///< blocks not given back yet
} heap;

bool refused() {
  ++heap.seen;
  if (heap.failing == 0 || heap.seen < heap.failing || (heap.seen > heap.failing && !heap.all_after)) return false;
  ++heap.failures;
  return true;
}
void* counted(void* block) {
  if (block != nullptr) ++heap.outstanding;
  return block;
}
}  // namespace

extern "C" {
void* __real_malloc(std::size_t);
void* __real_calloc(std::size_t, std::size_t);
void* __real_realloc(void*, std::size_t);
void* __real_aligned_alloc(std::size_t, std::size_t);
int __real_posix_memalign(void**, std::size_t, std::size_t);
void __real_free(void*);

void* __wrap_malloc(std::size_t size) { return refused() ? nullptr : counted(__real_malloc(size)); }
void* __wrap_calloc(std::size_t n, std::size_t size) { return refused() ? nullptr : counted(__real_calloc(n, size)); }
void* __wrap_realloc(void* old, std::size_t size) {
  if (refused()) return nullptr;
  void* block = __real_realloc(old, size);
  return old == nullptr ? counted(block) : block;
}
void* __wrap_aligned_alloc(std::size_t alignment, std::size_t size) {
  return refused() ? nullptr : counted(__real_aligned_alloc(alignment, size));
}
int __wrap_posix_memalign(void** block, std::size_t alignment, std::size_t size) {
  if (refused()) return 12;  // ENOMEM
  const int status = __real_posix_memalign(block, alignment, size);
  if (status == 0) ++heap.outstanding;
  return status;
}
void __wrap_free(void* block) {
  if (block != nullptr) --heap.outstanding;
  __real_free(block);
}
}

void* operator new(std::size_t size) {
  void* block = __wrap_malloc(std::max<std::size_t>(size, 1));
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  const auto step = static_cast<std::size_t>(alignment);
  void* block = __wrap_aligned_alloc(step, (std::max<std::size_t>(size, 1) + step - 1) / step * step);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
void* operator new[](std::size_t size) { return operator new(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return __wrap_malloc(std::max<std::size_t>(size, 1));
}
void* operator new[](std::size_t size, const std::nothrow_t& tag) noexcept { return operator new(size, tag); }
void operator delete(void* block) noexcept { __wrap_free(block); }
void operator delete(void* block, std::size_t) noexcept { __wrap_free(block); }
void operator delete(void* block, std::align_val_t) noexcept { __wrap_free(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { __wrap_free(block); }
void operator delete(void* block, const std::nothrow_t&) noexcept { __wrap_free(block); }
void operator delete[](void* block) noexcept { __wrap_free(block); }
void operator delete[](void* block, std::size_t) noexcept { __wrap_free(block); }

// --- the trainings
// ----------------------------------------------------------------------------------------------------

namespace {

using fuzz::require;
using margin::Value;
using OptionValues = Value::Object;

OptionValues with(OptionValues options, const std::string& name, decltype(Value::data) value) {
  options[name].data = std::move(value);
  return options;
}

/// Thirty rows of four features: two classes, three, or targets; separable or not; some rows sparse.
void fill(margin::Dataset& rows, int classes, bool separable) {
  std::mt19937_64 random(20210701);
  for (int i = 0; i < 30; ++i) {
    const int label = i % std::max(classes, 2);
    double x[4];
    for (int j = 0; j < 4; ++j)
      x[j] = static_cast<double>(random() % 1000) / 500 - 1 + (separable && j == label ? 3 : 0);
    const margin::Label outcome = rows.outcome() == margin::Dataset::Outcome::classes
                                      ? margin::Label(rows.classes().intern(std::to_string(label), label))
                                      : x[0] - 2 * x[1] + (separable ? 0 : x[2] * x[3]);
    const std::int32_t indices[] = {0, 1, 2, 3};
    if (i % 3 == 0)
      rows.append(margin::sparse_row(indices, x, 3, 4), outcome);
    else
      rows.append(margin::dense_row(x, 4), outcome);
  }
}

struct Training {
  std::string name;
  std::function<void()> run;
};

std::string describe(const OptionValues& options) {
  std::string text;
  for (const auto& [name, value] : options) {
    if (!text.empty()) text += ", ";
    text.append(name).append(" ");
    if (const auto* number = std::get_if<double>(&value.data)) {
      char digits[32];
      std::snprintf(digits, sizeof digits, "%g", *number);
      text += digits;
    } else if (const auto* word = std::get_if<std::string>(&value.data)) {
      text += *word;
    }
  }
  return text;
}

template <class Options>
margin::Model trained(const Options& settings, int classes, bool separable, std::pmr::memory_resource* memory) {
  margin::Dataset rows(margin::outcome_of(settings), memory);
  fill(rows, classes, separable);
  margin::Progress progress;
  return margin::train(rows, settings, progress);
}

/// Adds the training unless it is refused: not every solver takes every problem.
void add(std::vector<Training>& all, const OptionValues& options, int classes, bool separable) {
  std::string name = describe(options);
  name.append("; ").append(std::to_string(classes)).append(separable ? " classes" : " classes mixed");
  Training training{name, [=] {
                      std::pmr::monotonic_buffer_resource memory;  // a Dataset leaves its memory to its resource
                      trained(margin::parse_options(options), classes, separable, &memory);
                    }};
  try {
    training.run();
  } catch (const margin::Error&) {
    return;
  }
  all.push_back(std::move(training));
}

std::vector<Training> all_trainings() {
  std::vector<Training> all;
  const OptionValues hard{};
  const OptionValues soft = with(hard, "lambda", 0.01);
  const OptionValues capped = with(with(hard, "max_iterations", 20.0), "history", true);
  for (const auto* solver : margin::all_solvers()) {
    const OptionValues named = with(capped, "solver", std::string(solver->name()));
    add(all, named, 2, true);
    add(all, named, 3, true);
    add(all, with(named, "norm", 1.5), 2, true);
    add(all, with(named, "norm", 1.0), 3, true);
    add(all, with(named, "lambda", 0.01), 3, false);
    add(all, with(with(named, "lambda", 0.1), "loss", std::string("absolute")), 0, false);
    add(all, with(with(named, "lambda", 0.0), "loss", std::string("logistic")), 2, false);
    add(all, with(with(named, "lambda", 0.0), "loss", std::string("logistic")), 2, true);
    add(all, with(with(named, "lambda", 0.0), "loss", std::string("squared")), 0, false);
    add(all, with(named, "loss", std::string("interpolate")), 0, true);
    add(all, with(named, "kernel", std::string("rbf")), 2, true);
    add(all, with(with(named, "kernel", std::string("rbf")), "lambda", 0.01), 3, false);
  }
  for (const auto loss : margin::loss_names())
    for (const char* solver : {"auto", "newton", "sdca"})
      add(all, with(with(soft, "loss", std::string(loss)), "solver", std::string(solver)), 2, false);
  for (const auto kernel : margin::kernel_names())
    for (const OptionValues& base : {hard, soft}) {
      const OptionValues named = with(base, "kernel", std::string(kernel));
      add(all, margin::kernel_reads(kernel, "width") ? with(named, "width", 4.0) : named, 3, true);
    }
  for (const double norm : {1.0, 1.02, 1.5, 1.99}) {
    add(all, with(hard, "norm", norm), 2, true);
    add(all, with(with(hard, "norm", norm), "working_set", true), 3, true);
    add(all, with(hard, "norm", norm), 2, false);
  }
  add(all, hard, 2, false);
  add(all, hard, 3, false);
  add(all, with(with(hard, "norm", 1.0), "learners", std::string("stumps")), 2, true);
  add(all, with(with(hard, "norm", 1.0), "learners", std::string("trees")), 2, true);
  for (const char* learners : {"features", "stumps", "trees"})
    add(all,
        with(with(with(with(with(hard, "norm", 1.0), "solver", std::string("boosting")), "learners",
                       std::string(learners)),
                  "step", std::string("frank_wolfe")),
             "gap_tolerance", 0.1),
        3, false);
  for (const char* map : {"platt", "isotonic"})
    for (int classes : {2, 3}) add(all, with(soft, "calibration", std::string(map)), classes, false);
  for (const char* loss : {"hinge", "logistic", "squared"}) {
    const OptionValues base = with(soft, "loss", std::string(loss));
    add(all, with(base, "standardize", true), 2, false);
    add(all, with(base, "l1_ratio", 0.5), 2, false);
    add(all, with(with(base, "class_weight", std::string("balanced")), "dual_weights", true), 3, false);
    OptionValues lambdas = base;
    lambdas.erase("lambda");
    for (const bool standardize : {false, true}) {
      OptionValues free = with(lambdas, "intercept", std::string("free"));
      if (standardize) free = with(free, "standardize", true);
      all.push_back({describe(free).append("; cross-validation"), [=] {
                       std::pmr::monotonic_buffer_resource memory;
                       const auto selection = margin::parse_cross_validation(free);
                       margin::Dataset rows(margin::outcome_of(selection), &memory);
                       fill(rows, 3, false);
                       margin::cross_validate(rows, selection, margin::Progress());
                     }});
    }
    for (const bool path : {true, false})
      all.push_back({describe(base).append(path ? "; path" : "; cross-validation"), [=] {
                       std::pmr::monotonic_buffer_resource memory;
                       const auto selection =
                           path ? margin::parse_path(lambdas) : margin::parse_cross_validation(lambdas);
                       margin::Dataset rows(margin::outcome_of(selection), &memory);
                       fill(rows, 3, false);
                       margin::Progress progress;
                       if (path)
                         margin::train_path(rows, selection, progress);
                       else
                         margin::cross_validate(rows, selection, progress);
                     }});
  }
  return all;
}

/// One training with an allocation that fails; what comes out is an exception that callers expect, and nothing leaks.
void fail(const Training& training, long long at, bool all_after) {
  const long long before = heap.outstanding;
  heap = {0, at, all_after, 0, before};
  const char* outcome = nullptr;
  try {
    training.run();
  } catch (const std::bad_alloc&) {
  } catch (const margin::Error&) {
  } catch (const std::exception&) {
    outcome = "another exception";
  }
  heap.failing = 0;
  if (outcome == nullptr && heap.outstanding != before) outcome = "a leak";
  if (outcome != nullptr) {
    std::fprintf(stderr, "%s: %s after allocation %lld%s failed\n", training.name.c_str(), outcome, at,
                 all_after ? " and all later ones" : "");
    std::abort();
  }
}

}  // namespace

int main(int argc, char** argv) {
  const long long wanted = argc > 1 ? std::atoll(argv[1]) : 10000;
  const std::vector<Training> trainings = all_trainings();
  require(trainings.size() >= 60, "sixty kinds of trainings");
  std::mt19937_64 random(20210701);
  long long failures = 0, allocations = 0, runs = 0;
  for (const Training& training : trainings) {
    training.run();  // the first time fills what is kept for good, as the table of loops
    heap.seen = 0;
    const long long before = heap.outstanding;
    training.run();
    if (heap.outstanding != before)
      std::fprintf(stderr, "%s: %lld blocks\n", training.name.c_str(), heap.outstanding - before);
    require(heap.outstanding == before, "a training that ends well leaves nothing behind");
    const long long all = heap.seen;
    allocations += all;
    const long long here = wanted / static_cast<long long>(trainings.size()) + 1;
    for (long long k = 0; k < here; ++k) {  // one in each of as many stretches of equal length
      const long long first = all * k / here, last = std::max(first + 1, all * (k + 1) / here);
      fail(training, first + 1 + static_cast<long long>(random() % static_cast<std::uint64_t>(last - first)),
           k % 2 == 1);
      require(heap.failures > 0, "the allocation was reached");
      ++runs;
      failures += heap.failures;
    }
  }
  std::printf("%zu trainings with %lld allocations; %lld trainings met %lld failures\n", trainings.size(), allocations,
              runs, failures);
  return 0;
}
