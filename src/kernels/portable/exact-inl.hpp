// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause

// Sums in double-double, a vector at a time. Included once per target: hence a toggling guard
// instead of a pragma.
#if defined(STEPWELL_EXACT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STEPWELL_EXACT_INL
#undef STEPWELL_EXACT_INL
#else
#define STEPWELL_EXACT_INL
#endif

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace stepwell::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#if !HWY_NATIVE_FMA
/// a rounded to 26 bits: the upper half for Dekker's product. Computed in integers, because
/// a (2^27 + 1) in Veltkamp's splitting overflows from 2^997 on.
template <class V>
HWY_INLINE V upper_half(V a) {
  const hn::DFromV<V> d;
  const hn::RebindToUnsigned<hn::DFromV<V>> du;
  const auto bits = hn::Add(hn::BitCast(du, hn::Abs(a)), hn::Set(du, 1ULL << 26));
  const V rounded = hn::BitCast(d, hn::And(bits, hn::Set(du, ~((1ULL << 27) - 1))));
  return hn::CopySignToAbs(hn::Min(rounded, hn::Set(d, 0x1.ffffffp1023)), a);
}
#endif

/// hi + lo += a b. Takes three registers in addition to the operands; the errors of the product and
/// of the sum go into lo.
template <class V>
HWY_INLINE void multiply_add(V a, V b, V& hi, V& lo) {
  const V p = hn::Mul(a, b);
#if HWY_NATIVE_FMA
  const V e = hn::MulSub(a, b, p);
#else
  // Dekker's product: halves of 26 bits, whose products are exact.
  const V ah = upper_half(a);
  const V bh = upper_half(b);
  const V al = hn::Sub(a, ah);
  const V bl = hn::Sub(b, bh);
  const V e =
      hn::Add(hn::Add(hn::Add(hn::Sub(hn::Mul(ah, bh), p), hn::Mul(ah, bl)), hn::Mul(al, bh)),
              hn::Mul(al, bl));
#endif
  const V s = hn::Add(hi, p);
  const V t = hn::Sub(s, hi);
  const V f = hn::Add(hn::Sub(hi, hn::Sub(s, t)), hn::Sub(p, t));
  hi = s;
  lo = hn::Add(lo, hn::Add(e, f));
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace stepwell::kernels
HWY_AFTER_NAMESPACE();

#endif
