// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/portable/portable.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/portable/column_sizes.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/portable/target-inl.hpp"

/// The largest magnitude and the sum of squares of each row. The results for a strip of rows stay
/// in registers while the columns stream by; the strip's part of a column is prefetched kAhead
/// columns ahead, because it is too short a run of memory for the hardware prefetcher to detect.
///
/// Register budget: 4 vectors of sums and 4 of maxima.
HWY_BEFORE_NAMESPACE();
namespace stepwell::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int kVectors = 4;
constexpr std::int64_t kAhead = 16;

void sizes_of_row(MatrixView<const double> a, std::int64_t i, double& max_abs, double& squares) {
  max_abs = squares = 0;
  for (std::int64_t k = 0; k < a.cols; ++k) {
    max_abs = std::max(max_abs, std::abs(a(i, k)));
    squares = std::fma(a(i, k), a(i, k), squares);
  }
}

void column_sizes(MatrixView<const double> a, double* max_abs, double* squares) noexcept {
  const hn::CappedTag<double, 8> d;
  using V = hn::Vec<decltype(d)>;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + kVectors * lanes <= a.rows; i += kVectors * lanes) {
    V most[kVectors], sum[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) most[v] = sum[v] = hn::Zero(d);
    for (std::int64_t k = 0; k < a.cols; ++k) {
      const double* const x = a.column(k) + i;
      const double* const later = a.column(std::min(k + kAhead, a.cols - 1)) + i;
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        __builtin_prefetch(later + v * lanes);
        const V element = hn::LoadU(d, x + v * lanes);
        most[v] = hn::Max(most[v], hn::Abs(element));
        sum[v] = hn::MulAdd(element, element, sum[v]);
      }
    }
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      hn::StoreU(most[v], d, max_abs + i + v * lanes);
      hn::StoreU(sum[v], d, squares + i + v * lanes);
    }
  }
  for (; i < a.rows; ++i) sizes_of_row(a, i, max_abs[i], squares[i]);
}

}  // namespace

void fill_portable_column_sizes(Table& t) {
  t.column_sizes = {&column_sizes, "column_sizes_" STEPWELL_TARGET_NAME, STEPWELL_TARGET_ISA};
}

}  // namespace HWY_NAMESPACE
}  // namespace stepwell::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stepwell::kernels {
STEPWELL_EXPORT_FILL(fill_portable_column_sizes)
}  // namespace stepwell::kernels
#endif
