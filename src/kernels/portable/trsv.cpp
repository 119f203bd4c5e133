// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/portable/portable.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/portable/trsv.cpp"
#include <algorithm>

#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/portable/pairs-inl.hpp"
#include "kernels/portable/target-inl.hpp"

/// Substitution with a triangular block of order 32, which everything else waits for: x stays in
/// registers, and a step takes one shuffle and one multiply-add after the other, about 7 cycles.
HWY_BEFORE_NAMESPACE();
namespace stepwell::kernels {
namespace HWY_NAMESPACE {
namespace {

template <class V>
using Tag = hn::CappedTag<V, kEngineRows>;

/// N elements of a row in rows order, with their terms summed in V.
template <class D>
HWY_INLINE hn::Vec<D> load_row(D d, const std::uint16_t* p, int planes) {
  const hn::Rebind<std::uint16_t, D> dh;
  const hn::Rebind<std::uint32_t, D> du;
  const hn::Rebind<float, D> df;
  auto sum = hn::Zero(d);
  for (int plane = 0; plane < planes; ++plane) {
    const auto bits = hn::PromoteTo(du, hn::LoadU(dh, p + plane * kPlaneElements));
    const auto term = hn::BitCast(df, hn::ShiftLeft<16>(bits));
    if constexpr (sizeof(hn::TFromD<D>) == sizeof(float)) {
      sum = plane == 0 ? term : hn::Add(sum, term);
    } else {
      sum = plane == 0 ? hn::PromoteTo(d, term) : hn::Add(sum, hn::PromoteTo(d, term));
    }
  }
  return sum;
}

template <class V>
void columns_of_pairs(PackedIn l, V* e) {
  const Tag<V> d;
  constexpr std::int64_t N = hn::MaxLanes(d);
  for (std::int64_t i = 0; i < kPanel; i += N) {
    const std::uint16_t* const rows =
        l.data + i / kEngineRows * kTileElements + i % kEngineRows * 2;
    for (std::int64_t k = 0; k < kDepth; k += 2) {
      const auto pair = load_pair(d, rows + k * kEngineRows, Planes<false>{l.planes});
      hn::Store(pair.even, d, e + k * kPanel + i);
      hn::Store(pair.odd, d, e + (k + 1) * kPanel + i);
    }
  }
}

template <class V>
void rows_of_rows(PackedIn l, V* e) {
  const Tag<V> d;
  constexpr std::int64_t N = hn::MaxLanes(d);
  for (std::int64_t i = 0; i < kPanel; ++i) {
    const std::uint16_t* const row =
        l.data + i / kEngineRows * kTileElements + i % kEngineRows * kDepth;
    for (std::int64_t k = 0; k < kDepth; k += N) {
      hn::Store(load_row(d, row + k, l.planes), d, e + i * kPanel + k);
    }
  }
}

template <class V>
void block_vectors(PackedIn l, V* e) noexcept {
  if (l.order == Order::pairs) return columns_of_pairs<V>(l, e);
  rows_of_rows<V>(l, e);
}

/// Divides column k by its diagonal element, sets it to zero there and on the other side of the
/// diagonal, and stores the inverse of the diagonal.
template <class V>
void scale_columns(std::int64_t n, bool backward, V* e, V* inverse) {
  const Tag<V> d;
  constexpr std::int64_t N = hn::MaxLanes(d);
  for (std::int64_t k = 0; k < kPanel; ++k) inverse[k] = k < n ? e[k * kPanel + k] : V{1};
  for (std::int64_t i = 0; i < kPanel; i += N) {
    hn::Store(hn::Div(hn::Set(d, V{1}), hn::Load(d, inverse + i)), d, inverse + i);
  }
  for (std::int64_t k = 0; k < n; ++k) {
    const auto at = hn::Set(d, static_cast<V>(k));
    const auto by = hn::Set(d, inverse[k]);
    for (std::int64_t i = 0; i < kPanel; i += N) {
      const auto row = hn::Iota(d, static_cast<V>(i));
      const auto used = backward ? hn::Lt(row, at) : hn::Gt(row, at);
      V* const p = e + k * kPanel + i;
      hn::Store(hn::IfThenElseZero(used, hn::Mul(hn::Load(d, p), by)), d, p);
    }
  }
}

/// x of kPanel elements. Register budget: S for x; e is in L1.
template <bool backward, class V>
HWY_INLINE void eliminate(const V* e, std::int64_t n, const V* inverse, V* x) {
  const Tag<V> d;
  const hn::RebindToSigned<Tag<V>> di;
  constexpr int N = hn::MaxLanes(d);
  constexpr int S = kPanel / N;
  using Index = hn::TFromD<decltype(di)>;
  hn::Vec<Tag<V>> xs[S];
  HWY_UNROLL(16)
  for (int v = 0; v < S; ++v) xs[v] = hn::LoadU(d, x + v * N);
  HWY_UNROLL(16)
  for (int s = 0; s < S; ++s) {
    const int u = backward ? S - 1 - s : s;
    const int lanes = static_cast<int>(std::min<std::int64_t>(N, n - u * N));
    for (int t = 0; t < lanes; ++t) {
      const int lane = backward ? lanes - 1 - t : t;
      const auto index = hn::IndicesFromVec(d, hn::Set(di, static_cast<Index>(lane)));
      const auto solved = hn::TableLookupLanes(xs[u], index);
      const V* const column = e + (u * N + lane) * kPanel;
      HWY_UNROLL(16)
      for (int v = backward ? 0 : u; v < (backward ? u + 1 : S); ++v) {
        xs[v] = hn::NegMulAdd(hn::Load(d, column + v * N), solved, xs[v]);
      }
    }
  }
  HWY_UNROLL(16)
  for (int v = 0; v < S; ++v)
    hn::StoreU(hn::Mul(xs[v], hn::Load(d, inverse + v * N)), d, x + v * N);
}

template <class V>
void trsv_block(V* e, std::int64_t n, bool backward, MatrixView<V> x) noexcept {
  alignas(64) V inverse[kPanel];
  alignas(64) V padded[kPanel] = {};
  scale_columns<V>(n, backward, e, inverse);
  for (std::int64_t c = 0; c < x.cols; ++c) {
    V* const xs = n == kPanel ? x.column(c) : padded;
    if (xs == padded) std::copy_n(x.column(c), n, padded);
    if (backward) {
      eliminate<true, V>(e, n, inverse, xs);
    } else {
      eliminate<false, V>(e, n, inverse, xs);
    }
    if (xs == padded) std::copy_n(padded, n, x.column(c));
  }
}

}  // namespace

void fill_portable_trsv(Table& t) {
  constexpr auto isa = STEPWELL_TARGET_ISA;
  t.block_vectors_fp32 = {&block_vectors<float>, "block_vectors_fp32_" STEPWELL_TARGET_NAME, isa};
  t.block_vectors_fp64 = {&block_vectors<double>, "block_vectors_fp64_" STEPWELL_TARGET_NAME, isa};
  t.trsv_block_fp32 = {&trsv_block<float>, "trsv_block_fp32_" STEPWELL_TARGET_NAME, isa};
  t.trsv_block_fp64 = {&trsv_block<double>, "trsv_block_fp64_" STEPWELL_TARGET_NAME, isa};
}

}  // namespace HWY_NAMESPACE
}  // namespace stepwell::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stepwell::kernels {
STEPWELL_EXPORT_FILL(fill_portable_trsv)
}  // namespace stepwell::kernels
#endif
