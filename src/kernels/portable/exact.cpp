// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/portable/portable.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/portable/exact.cpp"
#include <bit>

#include "core/numeric/double_double.hpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/portable/columns-inl.hpp"
#include "kernels/portable/exact-inl.hpp"
#include "kernels/portable/target-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stepwell::kernels {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;
using Vec = hn::Vec<D>;
using DU = hn::RebindToUnsigned<D>;
using Bits = hn::Vec<DU>;

/// z[c] += the sum of all lanes of column c.
template <int kCols>
HWY_INLINE void add_lanes(const Vec* hi, const Vec* lo, core::DoubleDouble* z) {
  const D d;
  HWY_ALIGN double his[kCols][hn::MaxLanes(d)];
  HWY_ALIGN double los[kCols][hn::MaxLanes(d)];
  for (int c = 0; c < kCols; ++c) {
    hn::Store(hi[c], d, his[c]);
    hn::Store(lo[c], d, los[c]);
  }
  for (std::size_t k = 0; k < hn::Lanes(d); ++k) {
    for (int c = 0; c < kCols; ++c) z[c] = z[c] + core::two_sum(his[c][k], los[c][k]);
  }
}

/// kCols columns from j on; returns their checksum. Their sums are independent, so that none waits
/// for another, and y is read and written once for all of them. Each sum is in the same order as
/// for single columns.
template <int kCols, bool kY, bool kZ>
HWY_INLINE std::uint64_t columns(MatrixView<const double> a, std::int64_t j,
                                 const ExactProducts& p) {
  const D d;
  const hn::RebindToUnsigned<D> du;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const double* at[kCols];
  Vec x[kCols], zh[kCols], zl[kCols];
  for (int c = 0; c < kCols; ++c) {
    at[c] = a.column(j + c);
    x[c] = hn::Set(d, kY ? p.x[j + c] : 0.0);
    zh[c] = zl[c] = hn::Zero(d);
  }
  Bits bits = hn::Zero(du);
  std::int64_t i = 0;
  for (; i + lanes <= a.rows; i += lanes) {
    Vec yh = hn::Zero(d), yl = hn::Zero(d), w = hn::Zero(d);
    if constexpr (kY) {
      yh = hn::LoadU(d, p.y + i);
      yl = hn::LoadU(d, p.y_low + i);
    }
    if constexpr (kZ) w = hn::LoadU(d, p.w + i);
    for (int c = 0; c < kCols; ++c) {
      const Vec v = hn::LoadU(d, at[c] + i);
      bits = hn::Add(bits, hn::BitCast(du, v));
      if constexpr (kY) multiply_add(v, x[c], yh, yl);
      if constexpr (kZ) multiply_add(v, w, zh[c], zl[c]);
    }
    if constexpr (kY) {
      hn::StoreU(yh, d, p.y + i);
      hn::StoreU(yl, d, p.y_low + i);
    }
  }
  std::uint64_t checksum = sum_of_lanes(DU(), bits);
  core::DoubleDouble z[kCols];
  if constexpr (kZ) {
    for (int c = 0; c < kCols; ++c) z[c] = {p.z[j + c], p.z_low[j + c]};
    add_lanes<kCols>(zh, zl, z);
  }
  for (; i < a.rows; ++i) {
    for (int c = 0; c < kCols; ++c) {
      checksum += std::bit_cast<std::uint64_t>(at[c][i]);
      if constexpr (kY) {
        const auto y = core::multiply_add({p.y[i], p.y_low[i]}, at[c][i], p.x[j + c]);
        p.y[i] = y.hi;
        p.y_low[i] = y.lo;
      }
      if constexpr (kZ) z[c] = core::multiply_add(z[c], at[c][i], p.w[i]);
    }
  }
  for (int c = 0; kZ && c < kCols; ++c) {
    p.z[j + c] = z[c].hi;
    p.z_low[j + c] = z[c].lo;
  }
  return checksum;
}

template <bool kY, bool kZ>
std::uint64_t all_columns(MatrixView<const double> a, const ExactProducts& p) {
  constexpr int kCols = 4;
  std::uint64_t checksum = 0;
  std::int64_t j = 0;
  for (; j + kCols <= a.cols; j += kCols) checksum += columns<kCols, kY, kZ>(a, j, p);
  for (; j < a.cols; ++j) checksum += columns<1, kY, kZ>(a, j, p);
  return checksum;
}

/// y + y_low += A x for V SIMD vectors of rows from row i on, whose sums stay in registers: 2 V for
/// the sums, V for A, and one for x.
template <int V>
HWY_INLINE Bits rows(MatrixView<const double> a, std::int64_t i, const ExactProducts& p) {
  const D d;
  const hn::RebindToUnsigned<D> du;
  constexpr std::int64_t N = hn::MaxLanes(d);
  Vec hi[V], lo[V];
  auto bits = hn::Zero(du);
  HWY_UNROLL(4)
  for (int v = 0; v < V; ++v) {
    hi[v] = hn::LoadU(d, p.y + i + v * N);
    lo[v] = hn::LoadU(d, p.y_low + i + v * N);
  }
  for (std::int64_t j = 0; j < a.cols; ++j) {
    const Vec x = hn::Set(d, p.x[j]);
    HWY_UNROLL(4)
    for (int v = 0; v < V; ++v) {
      const Vec as = hn::LoadU(d, a.column(j) + i + v * N);
      bits = hn::Add(bits, hn::BitCast(du, as));
      multiply_add(as, x, hi[v], lo[v]);
    }
  }
  HWY_UNROLL(4)
  for (int v = 0; v < V; ++v) {
    hn::StoreU(hi[v], d, p.y + i + v * N);
    hn::StoreU(lo[v], d, p.y_low + i + v * N);
  }
  return bits;
}

/// y + y_low += A x for a block that stays in L2: by rows, so that y is read and written once.
std::uint64_t by_rows(MatrixView<const double> a, const ExactProducts& p) {
  const hn::RebindToUnsigned<D> du;
  constexpr std::int64_t N = hn::MaxLanes(D());
  auto bits = hn::Zero(du);
  std::int64_t i = 0;
  for (; i + 4 * N <= a.rows; i += 4 * N) bits = hn::Add(bits, rows<4>(a, i, p));
  for (; i + N <= a.rows; i += N) bits = hn::Add(bits, rows<1>(a, i, p));
  std::uint64_t checksum = sum_of_lanes(DU(), bits);
  for (; i < a.rows; ++i) {
    core::DoubleDouble y{p.y[i], p.y_low[i]};
    for (std::int64_t j = 0; j < a.cols; ++j) {
      y = core::multiply_add(y, a(i, j), p.x[j]);
      checksum += std::bit_cast<std::uint64_t>(a(i, j));
    }
    p.y[i] = y.hi;
    p.y_low[i] = y.lo;
  }
  return checksum;
}

std::uint64_t exact_product(MatrixView<const double> a, const ExactProducts& p) noexcept {
  constexpr std::int64_t kSmall = 256;  // rows, above which columns are streamed
  if (p.y != nullptr && p.z != nullptr) return all_columns<true, true>(a, p);
  if (p.z != nullptr) return all_columns<false, true>(a, p);
  if (p.y == nullptr) return all_columns<false, false>(a, p);
  return a.rows <= kSmall ? by_rows(a, p) : all_columns<true, false>(a, p);
}

}  // namespace

void fill_portable_exact(Table& t) {
  t.exact_product = {&exact_product, "exact_product_" STEPWELL_TARGET_NAME, STEPWELL_TARGET_ISA};
}

}  // namespace HWY_NAMESPACE
}  // namespace stepwell::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stepwell::kernels {
STEPWELL_EXPORT_FILL(fill_portable_exact)
}  // namespace stepwell::kernels
#endif
