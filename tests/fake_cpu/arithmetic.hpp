// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <immintrin.h>

#include <cstdint>
#include <cstring>

// A handler may use the vector registers: the kernel has saved the program's in the signal frame.
#define FAKE_CPU_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))

namespace stepwell::fake_cpu {

template <class T>
inline void load(T (&to)[64 / sizeof(T)], const void* from) {
  std::memcpy(to, from, 64);
}

inline float from_bf16(std::uint16_t bits) {
  const std::uint32_t wide = std::uint32_t{bits} << 16U;
  float value = 0;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

/// Rounding of the bf16 instructions: to nearest, subnormal operands and results are zero.
inline void set_bf16_rounding() {
  _mm_setcsr(0x9fc0);
}

}  // namespace stepwell::fake_cpu
