// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause

// Reads engine tiles in pairs order. Included once per target: hence a toggling guard instead of a
// pragma.
#if defined(STEPWELL_PAIRS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STEPWELL_PAIRS_INL
#undef STEPWELL_PAIRS_INL
#else
#define STEPWELL_PAIRS_INL
#endif

#include <cstdint>

#include "hwy/highway.h"
#include "kernels/layout.hpp"

HWY_BEFORE_NAMESPACE();
namespace stepwell::kernels {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// A dword of an engine tile holds two elements of one row, for an even and an odd k: the even one
// is the dword shifted left by 16, the odd one its upper half; both are fp32 values without
// conversion.

template <class D>
struct Pair {
  hn::Vec<D> even, odd;
};

/// Number of planes of a tile: one plane is a compile-time constant, two or three planes are a
/// loop.
template <bool one>
struct Planes {
  int count;
  HWY_INLINE int get() const { return one ? 1 : count; }
};

/// The elements of one dword per lane as V, with their terms summed: in fp32 for fp32 vectors, in
/// fp64 for fp64 vectors.
template <class P, class D>
HWY_INLINE Pair<D> load_pair(D d, const std::uint16_t* p, P planes) {
  const hn::Rebind<std::uint32_t, D> du;
  const hn::Rebind<float, D> df;
  Pair<D> sum{hn::Zero(d), hn::Zero(d)};
  for (int plane = 0; plane < planes.get(); ++plane) {
    const auto bits =
        hn::LoadU(du, reinterpret_cast<const std::uint32_t*>(p + plane * kPlaneElements));
    const auto even = hn::BitCast(df, hn::ShiftLeft<16>(bits));
    const auto odd = hn::BitCast(df, hn::And(bits, hn::Set(du, 0xffff0000U)));
    Pair<D> term;
    if constexpr (sizeof(hn::TFromD<D>) == sizeof(float)) {
      term = {even, odd};
    } else {
      term = {hn::PromoteTo(d, even), hn::PromoteTo(d, odd)};
    }
    sum.even = plane == 0 ? term.even : hn::Add(sum.even, term.even);
    sum.odd = plane == 0 ? term.odd : hn::Add(sum.odd, term.odd);
  }
  return sum;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace stepwell::kernels
HWY_AFTER_NAMESPACE();

#endif  // STEPWELL_PAIRS_INL
