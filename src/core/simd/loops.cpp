#include "core/simd/loops.hpp"

#include <cmath>
#include <limits>
#include <type_traits>

#include "core/simd/add_rows.hpp"
#include "core/simd/carried_sums.hpp"
#include "core/simd/cut_sums.hpp"
#include "core/simd/keyed_bits.hpp"
#include "core/simd/logistic_points.hpp"
#include "core/simd/mixed_columns.hpp"
#include "core/simd/plain_dot.hpp"
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace margin {

// The loops below are one text in three target regions. Function pointers instead of target_clones: an ifunc
// resolver runs before sanitizers and valgrind are ready, and a table lets the tests compare the sets.
#define MARGIN_VECTOR_BYTES 16
#define MARGIN_TILE_ROWS 4
namespace baseline {
#include "core/simd/loops.inc"
}
#undef MARGIN_VECTOR_BYTES
#undef MARGIN_TILE_ROWS

#if defined(__x86_64__) && defined(__GNUC__)
#define MARGIN_X86_KERNELS 1

// Clang gives a region's functions an attribute, and takes vectors as wide as they are written.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,bmi,bmi2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("arch=x86-64-v3")
#endif
#define MARGIN_VECTOR_BYTES 32
#define MARGIN_TILE_ROWS 4
namespace avx2 {
#include "core/simd/loops.inc"
}
#undef MARGIN_VECTOR_BYTES
#undef MARGIN_TILE_ROWS
#if defined(__clang__)
#pragma clang attribute pop
#pragma clang attribute push(__attribute__((target("avx2,fma,bmi,bmi2,avx512f,avx512bw,avx512cd,avx512dq,avx512vl"))), \
                             apply_to = function)
#else
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("arch=x86-64-v4,prefer-vector-width=512")
#endif
#define MARGIN_VECTOR_BYTES 64
#define MARGIN_TILE_ROWS 8
namespace avx512 {
#include "core/simd/loops.inc"
}
#undef MARGIN_VECTOR_BYTES
#undef MARGIN_TILE_ROWS
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif

static constexpr SimdLoops baseline_table = baseline::table("baseline");
#ifdef MARGIN_X86_KERNELS
static constexpr SimdLoops avx2_table = avx2::table("avx2");
static constexpr SimdLoops avx512_table = avx512::table("avx512");
#endif

KernelList available_kernels() {
  KernelList list{{&baseline_table, nullptr, nullptr}, 1};
#ifdef MARGIN_X86_KERNELS
  __builtin_cpu_init();
  // Feature by feature: g++ 11 does not know the names of the levels here, nor clang 14 all features of one.
  bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
            __builtin_cpu_supports("bmi2");
#if !defined(__clang__)
  v3 = v3 && __builtin_cpu_supports("f16c") && __builtin_cpu_supports("lzcnt") && __builtin_cpu_supports("movbe");
#endif
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  if (v3) list.items[list.count++] = &avx2_table;
  if (v4) list.items[list.count++] = &avx512_table;
#endif
  return list;
}

AddRows add_rows_of(const SimdLoops& set) {
#ifdef MARGIN_X86_KERNELS
  if (&set == &avx512_table) return avx512::add_rows;
  if (&set == &avx2_table) return avx2::add_rows;
#endif
  return &set == &baseline_table ? baseline::add_rows : nullptr;
}

AddCarried add_carried_of(const SimdLoops& set) {
#ifdef MARGIN_X86_KERNELS
  if (&set == &avx512_table) return avx512::add_carried;
  if (&set == &avx2_table) return avx2::add_carried;
#endif
  return &set == &baseline_table ? baseline::add_carried : nullptr;
}

CutSums cut_sums_of(const SimdLoops& set) {
#ifdef MARGIN_X86_KERNELS
  if (&set == &avx512_table) return {avx512::add_cut_f, avx512::add_cut_d};
  if (&set == &avx2_table) return {avx2::add_cut_f, avx2::add_cut_d};
#endif
  if (&set == &baseline_table) return {baseline::add_cut_f, baseline::add_cut_d};
  return {};
}

LogisticPoints logistic_points_of(const SimdLoops& set) {
#ifdef MARGIN_X86_KERNELS
  if (&set == &avx512_table) return avx512::logistic_points;
  if (&set == &avx2_table) return avx2::logistic_points;
#endif
  return &set == &baseline_table ? baseline::logistic_points : nullptr;
}

KeyedBits keyed_bits_of(const SimdLoops& set) {
#ifdef MARGIN_X86_KERNELS
  if (&set == &avx512_table) return {avx512::keyed_floats, avx512::keyed_doubles};
  if (&set == &avx2_table) return {avx2::keyed_floats, avx2::keyed_doubles};
#endif
  if (&set == &baseline_table) return {baseline::keyed_floats, baseline::keyed_doubles};
  return {};
}

ColumnLoops column_loops_of(const SimdLoops& set) {
#ifdef MARGIN_X86_KERNELS
  if (&set == &avx512_table) return {avx512::mix_columns, avx512::reaching};
  if (&set == &avx2_table) return {avx2::mix_columns, avx2::reaching};
#endif
  if (&set == &baseline_table) return {baseline::mix_columns, baseline::reaching};
  return {};
}

PlainDots plain_dots_of(const SimdLoops& set) {
#ifdef MARGIN_X86_KERNELS
  if (&set == &avx512_table) return {avx512::plain_dot_f, avx512::plain_dot_d};
  if (&set == &avx2_table) return {avx2::plain_dot_f, avx2::plain_dot_d};
#endif
  if (&set == &baseline_table) return {baseline::plain_dot_f, baseline::plain_dot_d};
  return {};
}

// Threads that come here at once choose the same.
const SimdLoops& choose_simd() {
  const KernelList list = available_kernels();
  const SimdLoops* const best = list.items[list.count - 1];
  chosen_simd.store(best, std::memory_order_relaxed);
  return *best;
}

}  // namespace margin
