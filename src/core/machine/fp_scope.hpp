// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cfenv>
#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace stepwell::core {

/// For its lifetime, SSE/AVX and x87 arithmetic round to nearest, keep subnormals and do not trap;
/// the destructor restores the caller's MXCSR, including its flags, and the x87 environment. A
/// library built with -ffast-math sets flush-to-zero for the whole process when it is loaded;
/// results must not depend on which libraries are loaded. The x87 is included because OpenBLAS sums
/// dnrm2 with it.
class FpScope {
 public:
#if defined(__x86_64__)
  FpScope() : mxcsr_(_mm_getcsr()) {
    _mm_setcsr(0x1f80);
    asm volatile("fnstcw %0" : "=m"(control_));
    if (control_ == kControl) return;
    asm volatile("fnstenv %0" : "=m"(x87_));
    asm volatile("fldcw %0" : : "m"(kControl));
  }
  ~FpScope() {
    if (control_ != kControl) asm volatile("fldenv %0" : : "m"(x87_));
    _mm_setcsr(mxcsr_);
  }

 private:
  /// The ABI's initial x87 control word: 64-bit significand, round to nearest, no traps.
  static constexpr std::uint16_t kControl = 0x037f;
  struct Environment {
    std::uint32_t words[7];
  };

  unsigned mxcsr_;
  std::uint16_t control_;
  Environment x87_;  ///< saved only if the control word is not the default
#else
  FpScope() {
    std::feholdexcept(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~FpScope() {
    std::fesetenv(&saved_);
  }

 private:
  std::fenv_t saved_;
#endif
 public:
  FpScope(const FpScope&) = delete;
  FpScope& operator=(const FpScope&) = delete;
};

}  // namespace stepwell::core
