// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/portable/portable.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/portable/rounded.cpp"
#include <cstdint>

#include "hwy/cache_control.h"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/portable/blocks-inl.hpp"
#include "kernels/portable/target-inl.hpp"

/// An fp32 copy of A, and products with it.
HWY_BEFORE_NAMESPACE();
namespace stepwell::kernels {
namespace HWY_NAMESPACE {
namespace {

void rounded_product(MatrixView<const float> a, const Products& p) noexcept {
  sweep(a, Sweep<double>{p.x, p.y, p.w, p.z, 1.0});
}

/// Scaled and rounded elements of a column from row i on, as many as D has lanes.
template <class D>
HWY_INLINE hn::Vec<hn::Rebind<float, D>> rounded(D d, const double* a, const double* row,
                                                 double col, std::int64_t i) {
  const auto rows = row != nullptr ? hn::LoadU(d, row + i) : hn::Set(d, 1.0);
  const auto scaled = hn::Mul(hn::Mul(rows, hn::LoadU(d, a + i)), hn::Set(d, col));
  return hn::DemoteTo(hn::Rebind<float, D>(), scaled);
}

/// A column of A. Where the copy is aligned it is written past the caches: it is larger than them,
/// and reading it first would be half as much traffic again.
void round_column(const double* a, const double* row, double col, std::int64_t n, float* out) {
  const hn::ScalableTag<double> d;
  const hn::ScalableTag<float> df;
  const hn::CappedTag<double, 1> one;
  constexpr std::int64_t N = hn::MaxLanes(d);
  std::int64_t i = 0;
  const bool aligned = reinterpret_cast<std::uintptr_t>(out) % 64 == 0;
  for (; i + 2 * N <= n && aligned; i += 2 * N) {
    const auto low = rounded(d, a, row, col, i), high = rounded(d, a, row, col, i + N);
    hn::Stream(hn::Combine(df, high, low), df, out + i);
  }
  for (; i + N <= n; i += N) {
    hn::StoreU(rounded(d, a, row, col, i), hn::Rebind<float, decltype(d)>(), out + i);
  }
  for (; i < n; ++i) out[i] = hn::GetLane(rounded(one, a, row, col, i));
}

void round(MatrixView<const double> a, Scales scales, MatrixView<float> out) noexcept {
  for (std::int64_t j = 0; j < a.cols; ++j) {
    const double col = scales.col != nullptr ? scales.col[j] : 1;
    round_column(a.column(j), scales.row, col, a.rows, out.column(j));
  }
  hwy::FlushStream();  // before another thread reads them
}

}  // namespace

void fill_portable_rounded(Table& t) {
  t.rounded_product = {&rounded_product, "rounded_product_" STEPWELL_TARGET_NAME,
                       STEPWELL_TARGET_ISA};
  t.round = {&round, "round_" STEPWELL_TARGET_NAME, STEPWELL_TARGET_ISA};
}

}  // namespace HWY_NAMESPACE
}  // namespace stepwell::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stepwell::kernels {
STEPWELL_EXPORT_FILL(fill_portable_rounded)
}  // namespace stepwell::kernels
#endif
