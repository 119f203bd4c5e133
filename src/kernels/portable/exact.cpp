// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/portable/portable.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/portable/exact.cpp"
#include <bit>

#include "core/double_double.hpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/portable/target-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stepwell::kernels {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;
using Vec = hn::Vec<D>;

#if !HWY_NATIVE_FMA
/// a, rounded to 26 bits: the upper half of Dekker's product. In integers, for a (2^27 + 1) of
/// Veltkamp's splitting overflows from 2^997 on.
HWY_INLINE Vec upper_half(Vec a) {
  const D d;
  const hn::RebindToUnsigned<D> du;
  const auto bits = hn::Add(hn::BitCast(du, hn::Abs(a)), hn::Set(du, 1ULL << 26));
  const Vec rounded = hn::BitCast(d, hn::And(bits, hn::Set(du, ~((1ULL << 27) - 1))));
  return hn::CopySignToAbs(hn::Min(rounded, hn::Set(d, 0x1.ffffffp1023)), a);
}
#endif

/// hi + lo += a b. Three registers of work beside the operands; the error of the product and of the
/// sum go into lo.
HWY_INLINE void multiply_add(Vec a, Vec b, Vec& hi, Vec& lo) {
  const Vec p = hn::Mul(a, b);
#if HWY_NATIVE_FMA
  const Vec e = hn::MulSub(a, b, p);
#else
  // Dekker's product: halves of 26 bits, whose products are exact.
  const Vec ah = upper_half(a);
  const Vec bh = upper_half(b);
  const Vec al = hn::Sub(a, ah);
  const Vec bl = hn::Sub(b, bh);
  const Vec e =
      hn::Add(hn::Add(hn::Add(hn::Sub(hn::Mul(ah, bh), p), hn::Mul(ah, bl)), hn::Mul(al, bh)),
              hn::Mul(al, bl));
#endif
  const Vec s = hn::Add(hi, p);
  const Vec t = hn::Sub(s, hi);
  const Vec f = hn::Add(hn::Sub(hi, hn::Sub(s, t)), hn::Sub(p, t));
  hi = s;
  lo = hn::Add(lo, hn::Add(e, f));
}

/// The sum of all lanes and what was there before.
core::DoubleDouble total(core::DoubleDouble sum, Vec hi, Vec lo) {
  const D d;
  HWY_ALIGN double his[hn::MaxLanes(d)];
  HWY_ALIGN double los[hn::MaxLanes(d)];
  hn::Store(hi, d, his);
  hn::Store(lo, d, los);
  for (std::size_t k = 0; k < hn::Lanes(d); ++k) {
    sum = sum + core::two_sum(his[k], los[k]);
  }
  return sum;
}

/// Returns the column's checksum.
std::uint64_t column(const double* a, std::int64_t m, std::int64_t j, const ExactProducts& p) {
  const D d;
  const hn::RebindToUnsigned<D> du;
  auto bits = hn::Zero(du);
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const Vec x = hn::Set(d, p.y != nullptr ? p.x[j] : 0.0);
  Vec zh = hn::Zero(d);
  Vec zl = hn::Zero(d);
  std::int64_t i = 0;
  for (; i + lanes <= m; i += lanes) {
    const Vec v = hn::LoadU(d, a + i);
    bits = hn::Add(bits, hn::BitCast(du, v));
    if (p.y != nullptr) {
      Vec yh = hn::LoadU(d, p.y + i);
      Vec yl = hn::LoadU(d, p.y_low + i);
      multiply_add(v, x, yh, yl);
      hn::StoreU(yh, d, p.y + i);
      hn::StoreU(yl, d, p.y_low + i);
    }
    if (p.z != nullptr) multiply_add(v, hn::LoadU(d, p.w + i), zh, zl);
  }
  core::DoubleDouble z;
  if (p.z != nullptr) z = total({p.z[j], p.z_low[j]}, zh, zl);
  std::uint64_t checksum = 0;
  HWY_ALIGN std::uint64_t lane[hn::MaxLanes(du)];
  hn::Store(bits, du, lane);
  for (std::int64_t k = 0; k < lanes; ++k) checksum += lane[k];
  for (; i < m; ++i) {
    checksum += std::bit_cast<std::uint64_t>(a[i]);
    if (p.y != nullptr) {
      const auto y = core::multiply_add({p.y[i], p.y_low[i]}, a[i], p.x[j]);
      p.y[i] = y.hi;
      p.y_low[i] = y.lo;
    }
    if (p.z != nullptr) z = core::multiply_add(z, a[i], p.w[i]);
  }
  if (p.z != nullptr) {
    p.z[j] = z.hi;
    p.z_low[j] = z.lo;
  }
  return checksum;
}

/// y + y_low += A x for V SIMD vectors of rows from row i on, whose sums stay in registers: 2 V for
/// them, V for A, and one for x.
template <int V>
HWY_INLINE hn::Vec<hn::RebindToUnsigned<D>> rows(MatrixView<const double> a, std::int64_t i,
                                                 const ExactProducts& p) {
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

/// y + y_low += A x of a block that stays in L2: by rows, so that y is read and written once.
std::uint64_t by_rows(MatrixView<const double> a, const ExactProducts& p) {
  const hn::RebindToUnsigned<D> du;
  constexpr std::int64_t N = hn::MaxLanes(D());
  auto bits = hn::Zero(du);
  std::int64_t i = 0;
  for (; i + 4 * N <= a.rows; i += 4 * N) bits = hn::Add(bits, rows<4>(a, i, p));
  for (; i + N <= a.rows; i += N) bits = hn::Add(bits, rows<1>(a, i, p));
  std::uint64_t checksum = 0;
  HWY_ALIGN std::uint64_t lane[N];
  hn::Store(bits, du, lane);
  for (const std::uint64_t l : lane) checksum += l;
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
  if (p.z == nullptr && a.rows <= kSmall) return by_rows(a, p);
  std::uint64_t checksum = 0;
  for (std::int64_t j = 0; j < a.cols; ++j) checksum += column(a.column(j), a.rows, j, p);
  return checksum;
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
