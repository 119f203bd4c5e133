// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>

#include "kernels/portable/portable.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/portable/pack_columns.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/portable/split-inl.hpp"
#include "kernels/portable/target-inl.hpp"

/// The transpose of a column-major block as an operand in rows order: 32 elements of a column are
/// 32 contiguous elements of an engine tile, so it packs without a transpose.
HWY_BEFORE_NAMESPACE();
namespace stepwell::kernels {
namespace HWY_NAMESPACE {
namespace {

/// 32 elements of a column times 'scale', split into planes.
template <int planes>
HWY_INLINE void split_run(const double* HWY_RESTRICT x, double scale, bool to_fp16,
                          std::uint16_t* HWY_RESTRICT out) {
  const DD d;
  const hn::Rebind<std::uint16_t, DD> du16;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const VD factor = hn::Set(d, scale);
  for (std::int64_t k = 0; k < kDepth; k += lanes) {
    VD rest = whole(d, hn::Mul(hn::LoadU(d, x + k), factor), to_fp16);
#pragma GCC unroll 3
    for (int p = 0; p < planes; ++p) {
      hn::StoreU(hn::DemoteTo(du16, hn::BitCast(hn::Rebind<std::int32_t, DD>(), take_term(rest))),
                 du16, out + p * kPlaneElements + k);
    }
  }
}

template <int planes>
void pack_planes(Rung rung, MatrixView<const double> a, const double* scale, PackedOut out) {
  HWY_ALIGN double edge[kDepth];
  const bool to_fp16 = rung == Rung::fp16;
  for (std::int64_t j = 0; j < out.panels() * kPanel; ++j) {
    const double factor = j < a.cols && scale != nullptr ? scale[j] : 1;
    const std::int64_t row = out.offset(j, 0, 0);
    for (std::int64_t kb = 0; kb < out.depth_blocks(); ++kb) {
      std::uint16_t* const to = out.data + row + kb * planes * kPlaneElements;
      const std::int64_t k = kb * kDepth;
      const std::int64_t inside = j < a.cols ? std::min(kDepth, a.rows - k) : 0;
      const double* from = edge;
      if (inside == kDepth) {
        from = a.column(j) + k;
      } else {
        std::fill_n(edge, kDepth, 0.0);
        if (inside > 0) std::copy_n(a.column(j) + k, inside, edge);
      }
      split_run<planes>(from, factor, to_fp16, to);
    }
  }
}

void pack_columns(Rung rung, MatrixView<const double> a, const double* scale,
                  PackedOut out) noexcept {
  if (out.planes == 1) return pack_planes<1>(rung, a, scale, out);
  if (out.planes == 2) return pack_planes<2>(rung, a, scale, out);
  pack_planes<3>(rung, a, scale, out);
}

}  // namespace

void fill_portable_pack_columns(Table& t) {
  t.pack_columns = {&pack_columns, "pack_columns_" STEPWELL_TARGET_NAME, STEPWELL_TARGET_ISA};
}

}  // namespace HWY_NAMESPACE
}  // namespace stepwell::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stepwell::kernels {
STEPWELL_EXPORT_FILL(fill_portable_pack_columns)
}  // namespace stepwell::kernels
#endif
