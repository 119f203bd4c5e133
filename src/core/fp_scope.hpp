// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cfenv>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace stepwell::core {

/// While it lives, SSE/AVX arithmetic rounds to nearest, keeps subnormals and traps nothing; then
/// the caller's MXCSR comes back, flags included. A library loaded with -ffast-math sets
/// flush-to-zero for the whole process: our results must not depend on who was loaded before.
class FpScope {
 public:
#if defined(__x86_64__)
  FpScope() : saved_(_mm_getcsr()) {
    _mm_setcsr(0x1f80);
  }
  ~FpScope() {
    _mm_setcsr(saved_);
  }

 private:
  unsigned saved_;
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
