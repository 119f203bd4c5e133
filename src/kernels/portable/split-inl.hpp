// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause

// Splits values into bf16 terms, a vector at a time. Included once per target: hence a toggling
// guard instead of a pragma.
#if defined(STEPWELL_SPLIT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STEPWELL_SPLIT_INL
#undef STEPWELL_SPLIT_INL
#else
#define STEPWELL_SPLIT_INL
#endif

#include <cstdint>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace stepwell::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using DF = hn::CappedTag<float, 16>;
using DU = hn::RebindToUnsigned<DF>;
using DD = hn::CappedTag<double, 8>;
using DDU = hn::RebindToUnsigned<DD>;
using VD = hn::Vec<DD>;
using VF = hn::Vec<DF>;

/// Rounds to nearest even at 2^-fraction of the leading bit, or of min_normal if that is larger, by
/// adding and subtracting a constant whose unit in the last place is that value. Infinity and NaN
/// are preserved.
template <int fraction>
HWY_INLINE VD round_to(VD x, double min_normal) {
  const DD d;
  const DDU du;
  const VD leading =
      hn::BitCast(d, hn::And(hn::BitCast(du, x), hn::Set(du, 0x7ff0000000000000ULL)));
  const VD bounded = hn::Min(hn::Max(leading, hn::Set(d, min_normal)), hn::Set(d, 0x1p900));
  const VD magic = hn::Mul(bounded, hn::Set(d, 1.5 * static_cast<double>(1ULL << (52 - fraction))));
  return hn::CopySign(hn::Sub(hn::Add(x, magic), magic), x);
}
template <int fraction>
HWY_INLINE VF round_to(VF x, double min_normal) {
  const DF d;
  const DU du;
  const VF leading = hn::BitCast(d, hn::And(hn::BitCast(du, x), hn::Set(du, 0x7f800000U)));
  const VF bounded =
      hn::Min(hn::Max(leading, hn::Set(d, static_cast<float>(min_normal))), hn::Set(d, 0x1p100F));
  const VF magic = hn::Mul(bounded, hn::Set(d, 1.5F * static_cast<float>(1U << (23 - fraction))));
  return hn::CopySign(hn::Sub(hn::Add(x, magic), magic), x);
}

/// The value that the terms must sum to: x itself, or at fp16 x rounded to fp16.
template <class D, class V>
HWY_INLINE V whole(D d, V x, bool to_fp16) {
  if (!to_fp16) return x;
  const V half = round_to<10>(x, 0x1p-14);
  // The sign of x, not of half: Clang 14 gives zero for a CopySign of a CopySign with AVX-512.
  const V infinity = hn::CopySign(hn::Inf(d), x);
  const V limit = hn::Set(d, static_cast<hn::TFromD<D>>(65536));
  return hn::IfThenElse(hn::Ge(hn::Abs(half), limit), infinity, half);
}

/// Subtracts the leading bf16 term from 'rest' and returns its bits in dwords, as core::split does.
/// After infinity or NaN the rest is set to zero.
HWY_INLINE auto take_term(VD& rest) {
  const DD d;
  const hn::Rebind<float, DD> df;
  const hn::RebindToUnsigned<decltype(df)> du;
  const VD taken = round_to<7>(rest, 0x1p-126);
  rest = hn::IfThenElseZero(hn::Lt(hn::Abs(taken), hn::Set(d, 0x1p128)), hn::Sub(rest, taken));
  return hn::ShiftRight<16>(hn::BitCast(du, hn::DemoteTo(df, taken)));
}

/// The same for fp32, where everything stays exact: a bf16 value is the upper half of an fp32
/// value.
HWY_INLINE auto take_term(VF& rest) {
  const DF d;
  const DU du;
  const auto bits = hn::BitCast(du, rest);
  const auto high = hn::ShiftRight<16>(bits);
  const auto odd = hn::And(high, hn::Set(du, 1U));
  const auto rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7fffU))));
  const auto quiet = hn::Or(high, hn::Set(du, 0x40U));
  const auto term = hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(rest)), quiet, rounded);
  const auto taken = hn::BitCast(d, hn::ShiftLeft<16>(term));
  rest = hn::IfThenElseZero(hn::IsFinite(taken), hn::Sub(rest, taken));
  return term;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace stepwell::kernels
HWY_AFTER_NAMESPACE();

#endif  // STEPWELL_SPLIT_INL
