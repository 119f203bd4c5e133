// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/harness/data.hpp"

#include <fmt/format.h>

#include "core/machine/system.hpp"
#include "kernels/blas/blas.hpp"
#include "stepwell/error.hpp"
#include "stepwell/version.hpp"

namespace stepwell::bench {
namespace {

/// Sums with four vectors of 64 bytes, each over its own quarter of the data, because four streams
/// read faster than one. The compiler maps a vector to the registers of the instruction set.
template <class T, class V>
inline __attribute__((always_inline)) T sum_vectors(const T* data, std::int64_t count) {
  constexpr std::int64_t lanes = sizeof(V) / sizeof(T);
  V sum[4] = {};
  const std::int64_t quarter = count / (4 * lanes) * lanes;
  for (std::int64_t i = 0; i < quarter; i += lanes) {
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
      V v;
      __builtin_memcpy(&v, data + k * quarter + i, sizeof(V));
      sum[k] += v;
    }
  }
  T total = 0;
  for (const V& v : sum) {
    for (std::int64_t k = 0; k < lanes; ++k) total += v[k];
  }
  for (std::int64_t i = 4 * quarter; i < count; ++i) total += data[i];
  return total;
}

using Doubles = double __attribute__((vector_size(64)));
using Words = std::uint64_t __attribute__((vector_size(64)));

template <class T>
using SumFn = T(const T*, std::int64_t);

template <class T, class V>
T sum_plain(const T* data, std::int64_t count) {
  return sum_vectors<T, V>(data, count);
}

#if defined(__x86_64__)
template <class T, class V>
__attribute__((target("avx2"))) T sum_avx2(const T* data, std::int64_t count) {
  return sum_vectors<T, V>(data, count);
}

template <class T, class V>
__attribute__((target("avx512f"))) T sum_avx512(const T* data, std::int64_t count) {
  return sum_vectors<T, V>(data, count);
}
#endif

/// Moves four vectors at a time. The compiler would turn a loop that it recognizes into memcpy,
/// whose stores bypass the cache.
template <bool negate>
inline __attribute__((always_inline)) void move_vectors(const double* from, double* to,
                                                        std::int64_t count) {
  constexpr std::int64_t lanes = 8;
  std::int64_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    Doubles v[4];
    __builtin_memcpy(&v, from + i, sizeof(v));
    if constexpr (negate) {
      for (Doubles& x : v) x = -x;
    }
    __asm__ volatile("" : : : "memory");
    __builtin_memcpy(to + i, &v, sizeof(v));
  }
  for (; i < count; ++i) to[i] = negate ? -from[i] : from[i];
}

using MoveFn = void(const double*, double*, std::int64_t);

template <bool negate>
void move_plain(const double* from, double* to, std::int64_t count) {
  move_vectors<negate>(from, to, count);
}

#if defined(__x86_64__)
template <bool negate>
__attribute__((target("avx2"))) void move_avx2(const double* from, double* to, std::int64_t count) {
  move_vectors<negate>(from, to, count);
}

template <bool negate>
__attribute__((target("avx512f"))) void move_avx512(const double* from, double* to,
                                                    std::int64_t count) {
  move_vectors<negate>(from, to, count);
}
#endif

bool usable(core::Isa isa) {
  return kernels::usable()[static_cast<unsigned>(isa)].yes;
}

template <bool negate>
MoveFn* best_move() {
#if defined(__x86_64__)
  if (usable(core::Isa::avx512)) return move_avx512<negate>;
  if (usable(core::Isa::avx2)) return move_avx2<negate>;
#endif
  return move_plain<negate>;
}

/// The fastest sum, whatever STEPWELL_ISA says: that limit must not slow down a yardstick.
template <class T, class V>
SumFn<T>* best_sum() {
#if defined(__x86_64__)
  if (usable(core::Isa::avx512)) return sum_avx512<T, V>;
  if (usable(core::Isa::avx2)) return sum_avx2<T, V>;
#endif
  return sum_plain<T, V>;
}

}  // namespace

double sum_elements(const double* data, std::int64_t count) {
  static SumFn<double>* const sum = best_sum<double, Doubles>();
  return sum(data, count);
}

std::uint64_t sum_words(const std::uint64_t* data, std::int64_t count) {
  static SumFn<std::uint64_t>* const sum = best_sum<std::uint64_t, Words>();
  return sum(data, count);
}

void copy_elements(const double* from, double* to, std::int64_t count) {
  static MoveFn* const move = best_move<false>();
  move(from, to, count);
}

void negate_elements(double* x, std::int64_t count) {
  static MoveFn* const move = best_move<true>();
  move(x, x, count);
}

std::vector<std::int64_t> sample(std::int64_t n, std::int64_t count) {
  std::vector<std::int64_t> points;
  if (n <= count) {
    for (std::int64_t i = 0; i < n; ++i) points.push_back(i);
    return points;
  }
  for (std::int64_t k = 0; k < count; ++k) points.push_back(k * (n - 1) / (count - 1));
  return points;
}

void Verdict::expect(double value, double reference, double bound, std::int64_t i, std::int64_t j) {
  if (std::abs(value - reference) <= bound) return;  // a NaN fails the comparison
  if (!text_.empty()) return;
  text_ = fmt::format("element ({}, {}) is {:.9g}, should be {:.9g} within {:.2g}", i, j, value,
                      reference, bound);
}

Side our_side(const char* kernel, core::Isa isa, int threads) {
  Side side;
  side.name = kernel;
  side.library = "stepwell";
  side.version = version();
  side.core_name = to_string(isa);
  side.threads = threads;
  return side;
}

Side blas_side(const char* routine, int threads) {
  const BlasIdentity blas = kernels::blas_identity();
  Side side;
  side.name = routine;
  side.library = blas.library;
  side.version = blas.version;
  side.core_name = blas.core_name;
  side.threads = threads;
  return side;
}

Side yardstick(const char* name, int threads) {
  Side side;
  side.name = name;
  side.library = "stepwell";
  side.version = version();
  side.core_name = to_string(kernels::table().cap);
  side.threads = threads;
  return side;
}

}  // namespace stepwell::bench
