// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause

// Transposition of a matrix. Included once per target: hence a toggling guard instead of a pragma.
#if defined(STEPWELL_TRANSPOSE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STEPWELL_TRANSPOSE_INL
#undef STEPWELL_TRANSPOSE_INL
#else
#define STEPWELL_TRANSPOSE_INL
#endif

#include <algorithm>
#include <cstdint>

#include "hwy/highway.h"
#include "stepwell/view.hpp"

HWY_BEFORE_NAMESPACE();
namespace stepwell::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// 4 x 4 elements of fp32.
HWY_INLINE void transpose_block(const float* HWY_RESTRICT in, std::int64_t ld,
                                float* HWY_RESTRICT out, std::int64_t ld_out) {
  const hn::CappedTag<float, 4> d;
  const hn::CappedTag<double, 2> dw;
  const auto r0 = hn::LoadU(d, in);
  const auto r1 = hn::LoadU(d, in + ld);
  const auto r2 = hn::LoadU(d, in + 2 * ld);
  const auto r3 = hn::LoadU(d, in + 3 * ld);
  const auto l01 = hn::BitCast(dw, hn::InterleaveLower(d, r0, r1));
  const auto u01 = hn::BitCast(dw, hn::InterleaveUpper(d, r0, r1));
  const auto l23 = hn::BitCast(dw, hn::InterleaveLower(d, r2, r3));
  const auto u23 = hn::BitCast(dw, hn::InterleaveUpper(d, r2, r3));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(dw, l01, l23)), d, out);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(dw, l01, l23)), d, out + ld_out);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(dw, u01, u23)), d, out + 2 * ld_out);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(dw, u01, u23)), d, out + 3 * ld_out);
}
/// 4 x 4 elements of fp64, by 2 x 2.
HWY_INLINE void transpose_block(const double* HWY_RESTRICT in, std::int64_t ld,
                                double* HWY_RESTRICT out, std::int64_t ld_out) {
  const hn::CappedTag<double, 2> d;
  for (std::int64_t j = 0; j < 4; j += 2) {
    for (std::int64_t i = 0; i < 4; i += 2) {
      const auto r0 = hn::LoadU(d, in + i + j * ld);
      const auto r1 = hn::LoadU(d, in + i + (j + 1) * ld);
      hn::StoreU(hn::InterleaveLower(d, r0, r1), d, out + j + i * ld_out);
      hn::StoreU(hn::InterleaveUpper(d, r0, r1), d, out + j + (i + 1) * ld_out);
    }
  }
}

/// Strips of 16 rows: each column of a strip fills one cache line, and 16 lines of the output are
/// written at a time.
template <class T>
void transpose(MatrixView<const T> a, MatrixView<T> out) noexcept {
  constexpr std::int64_t kStrip = 16;
  const std::int64_t cols = a.cols / 4 * 4;
  for (std::int64_t i0 = 0; i0 < a.rows; i0 += kStrip) {
    const std::int64_t end = std::min(a.rows, i0 + kStrip);
    const std::int64_t blocks = i0 + (end - i0) / 4 * 4;
    for (std::int64_t j = 0; j < cols; j += 4) {
      for (std::int64_t i = i0; i < blocks; i += 4) {
        transpose_block(a.column(j) + i, a.ld, out.column(i) + j, out.ld);
      }
      for (std::int64_t i = blocks; i < end; ++i) {
        for (std::int64_t k = j; k < j + 4; ++k) out(k, i) = a(i, k);
      }
    }
    for (std::int64_t j = cols; j < a.cols; ++j) {
      for (std::int64_t i = i0; i < end; ++i) out(j, i) = a(i, j);
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace stepwell::kernels
HWY_AFTER_NAMESPACE();

#endif  // STEPWELL_TRANSPOSE_INL
