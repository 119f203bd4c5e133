// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause

// Included by every portable kernel after hwy/highway.h, once per target: hence a toggling guard
// instead of a pragma.
#if defined(STEPWELL_TARGET_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STEPWELL_TARGET_INL
#undef STEPWELL_TARGET_INL
#else
#define STEPWELL_TARGET_INL
#endif

// The instruction set that this pass compiles for, as in the table and in the names of kernels.
#undef STEPWELL_TARGET_ISA
#undef STEPWELL_TARGET_NAME
#if HWY_TARGET == HWY_AVX3
#define STEPWELL_TARGET_ISA core::Isa::avx512
#define STEPWELL_TARGET_NAME "avx512"
#elif HWY_TARGET == HWY_AVX2
#define STEPWELL_TARGET_ISA core::Isa::avx2
#define STEPWELL_TARGET_NAME "avx2"
#else
#define STEPWELL_TARGET_ISA core::Isa::baseline
#define STEPWELL_TARGET_NAME "baseline"
#endif

// In the last pass, defines fill(isa, table), which calls the fill(table) that was compiled for
// 'isa'.
#undef STEPWELL_EXPORT_FILL
#undef STEPWELL_FILL_SSE4
#if defined(STEPWELL_WITHOUT_SSE4)
#define STEPWELL_FILL_SSE4(fill, t)
#else
#define STEPWELL_FILL_SSE4(fill, t) N_SSE4::fill(t)
#endif
#if HWY_ARCH_X86
#define STEPWELL_EXPORT_FILL(fill)     \
  void fill(core::Isa isa, Table& t) { \
    switch (isa) {                     \
      case core::Isa::baseline:        \
        STEPWELL_FILL_SSE4(fill, t);   \
        return;                        \
      case core::Isa::avx2:            \
        return N_AVX2::fill(t);        \
      case core::Isa::avx512:          \
        return N_AVX3::fill(t);        \
      default:                         \
        return;                        \
    }                                  \
  }
#else
#define STEPWELL_EXPORT_FILL(fill)                                \
  void fill(core::Isa isa, Table& t) {                            \
    if (isa == core::Isa::baseline) HWY_STATIC_DISPATCH(fill)(t); \
  }
#endif

#endif  // STEPWELL_TARGET_INL
