// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/portable/portable.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/portable/solve.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/portable/columns-inl.hpp"
#include "kernels/portable/target-inl.hpp"

/// y -= L x and y -= L' x for packed tiles in pairs order and for plain fp32 tiles.
///
/// A dword of an engine tile holds two k of one row: the even one is the dword shifted left by 16,
/// the odd one its upper half, both fp32 as they are. Lanes are rows. L x broadcasts x and keeps
/// sums by row; L' x keeps a vector of partial sums for every k and adds its lanes at the end. A
/// tile is at most 1.5 MiB and stays in L2 while the groups of vectors pass over it.
HWY_BEFORE_NAMESPACE();
namespace stepwell::kernels {
namespace HWY_NAMESPACE {
namespace {

// What follows is fetched this far ahead: 64 lines, as many as the bandwidth-delay product of one
// core needs twice over.
constexpr std::int64_t kAhead = 2048;  // numbers: 4 KiB

template <class D>
struct Pair {
  hn::Vec<D> even, odd;
};

/// How many planes a tile has: one is known to the compiler, two or three are a loop.
template <bool one>
struct Planes {
  int count;
  HWY_INLINE int get() const { return one ? 1 : count; }
};

/// The numbers of one dword per lane as V, their terms summed: in fp32 for fp32 vectors, in fp64
/// for fp64 vectors.
template <class P, class D>
HWY_INLINE Pair<D> load_pair(D d, const std::uint16_t* p, P planes) {
  const hn::Rebind<std::uint32_t, D> du;
  const hn::Rebind<float, D> df;
  Pair<D> sum{hn::Zero(d), hn::Zero(d)};
  for (int plane = 0; plane < planes.get(); ++plane) {
    const auto bits =
        hn::LoadU(du, reinterpret_cast<const std::uint32_t*>(p + plane * kPlaneNumbers));
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

/// y -= L x for one engine tile (16 rows, 32 k) and R vectors.
template <int R, class V, class P>
HWY_INLINE void rows_of_tile(const std::uint16_t* tile, P planes, MatrixView<const V> x,
                             MatrixView<V> y) {
  const hn::CappedTag<V, kEngineRows> d;
  constexpr std::int64_t N = hn::MaxLanes(d);
  for (std::int64_t i = 0; i < kEngineRows; i += N) {
    hn::Vec<decltype(d)> even[R], odd[R];  // two sums hide the latency of one
    HWY_UNROLL(4)
    for (int c = 0; c < R; ++c) {
      even[c] = odd[c] = hn::Zero(d);
    }
    for (std::int64_t k = 0; k < kDepth; k += 2) {
      const std::uint16_t* const p = tile + k * kEngineRows + 2 * i;
      const auto l = load_pair(d, p, planes);
      hwy::Prefetch(p + kAhead);
      HWY_UNROLL(4)
      for (int c = 0; c < R; ++c) {
        even[c] = hn::MulAdd(l.even, hn::Set(d, x(k, c)), even[c]);
        odd[c] = hn::MulAdd(l.odd, hn::Set(d, x(k + 1, c)), odd[c]);
      }
    }
    HWY_UNROLL(4)
    for (int c = 0; c < R; ++c) {
      V* const to = y.column(c) + i;
      hn::StoreU(hn::Sub(hn::LoadU(d, to), hn::Add(even[c], odd[c])), d, to);
    }
  }
}

/// 'rows' of R columns of 'from' in a buffer of 'size' rows, the rest zero.
template <int R, class V>
MatrixView<V> padded(MatrixView<const V> from, std::int64_t rows, std::int64_t size, V* buffer) {
  std::fill(buffer, buffer + size * R, V{0});
  for (int c = 0; c < R; ++c) {
    std::copy(from.column(c), from.column(c) + rows, buffer + c * size);
  }
  return {buffer, size, R, size};
}

template <int R, class V, class P>
void packed_rows(PackedIn l, P planes, MatrixView<const V> x, MatrixView<V> y) {
  V x_tail[kDepth * R];
  V y_tail[kPanel * R];
  for (std::int64_t i = 0; i < l.rows; i += kPanel) {
    const std::int64_t m = std::min(kPanel, l.rows - i);
    const MatrixView<V> to = y.block(i, 0, m, R);
    const MatrixView<V> sums = m == kPanel ? to : padded<R, V>(to, m, kPanel, y_tail);
    for (std::int64_t k = 0; k < l.depth; k += kDepth) {
      const std::int64_t n = std::min(kDepth, l.depth - k);
      MatrixView<const V> xs = x.block(k, 0, n, R);
      if (n < kDepth) {
        xs = padded<R, V>(xs, n, kDepth, x_tail);
      }
      const std::uint16_t* const tile = l.at(i / kPanel, k / kDepth);
      rows_of_tile<R, V>(tile, planes, xs, sums);
      rows_of_tile<R, V>(tile + kTileNumbers, planes, xs,
                         sums.block(kEngineRows, 0, kEngineRows, R));
    }
    if (m < kPanel) {
      for (int c = 0; c < R; ++c) {
        std::copy(sums.column(c), sums.column(c) + m, to.column(c));
      }
    }
  }
}

/// sums[k] += L' x for one plane pair of engine tiles (32 rows, 32 k), lane by lane.
/// sums: [k][vector][lane].
template <int R, class V, class P>
HWY_INLINE void columns_of_tiles(const std::uint16_t* tile, P planes, MatrixView<const V> x,
                                 V* sums) {
  const hn::CappedTag<V, kEngineRows> d;
  constexpr std::int64_t N = hn::MaxLanes(d);
  constexpr std::int64_t S = kPanel / N;
  hn::Vec<decltype(d)> xs[R][S];
  HWY_UNROLL(4)
  for (int c = 0; c < R; ++c) {
    HWY_UNROLL(16)
    for (std::int64_t v = 0; v < S; ++v) {
      xs[c][v] = hn::LoadU(d, x.column(c) + v * N);
    }
  }
  for (std::int64_t k = 0; k < kDepth; k += 2) {
    hn::Vec<decltype(d)> even[R], odd[R];
    HWY_UNROLL(4)
    for (int c = 0; c < R; ++c) {
      even[c] = hn::Load(d, sums + (k * R + c) * N);
      odd[c] = hn::Load(d, sums + ((k + 1) * R + c) * N);
    }
    HWY_UNROLL(16)
    for (std::int64_t v = 0; v < S; ++v) {
      const std::int64_t half = v * N / kEngineRows;
      const std::uint16_t* const p =
          tile + half * kTileNumbers + k * kEngineRows + 2 * (v * N % kEngineRows);
      const auto l = load_pair(d, p, planes);
      hwy::Prefetch(p + kAhead);
      HWY_UNROLL(4)
      for (int c = 0; c < R; ++c) {
        even[c] = hn::MulAdd(l.even, xs[c][v], even[c]);
        odd[c] = hn::MulAdd(l.odd, xs[c][v], odd[c]);
      }
    }
    HWY_UNROLL(4)
    for (int c = 0; c < R; ++c) {
      hn::Store(even[c], d, sums + (k * R + c) * N);
      hn::Store(odd[c], d, sums + ((k + 1) * R + c) * N);
    }
  }
}

template <int R, class V, class P>
void packed_columns(PackedIn l, P planes, MatrixView<const V> x, MatrixView<V> y) {
  const hn::CappedTag<V, kEngineRows> d;
  constexpr std::int64_t N = hn::MaxLanes(d);
  constexpr std::int64_t kChunk = 256 / R;  // k whose sums, 16 KiB at most, stay in L1
  alignas(64) V sums[kChunk * R * N];
  V x_tail[kPanel * R];
  for (std::int64_t k0 = 0; k0 < l.depth; k0 += kChunk) {
    const std::int64_t n = std::min(kChunk, l.depth - k0);
    std::fill(sums, sums + kChunk * R * N, V{0});
    for (std::int64_t i = 0; i < l.rows; i += kPanel) {
      const std::int64_t m = std::min(kPanel, l.rows - i);
      MatrixView<const V> xs = x.block(i, 0, m, R);
      if (m < kPanel) {
        xs = padded<R, V>(xs, m, kPanel, x_tail);
      }
      for (std::int64_t k = 0; k < n; k += kDepth) {
        columns_of_tiles<R, V>(l.at(i / kPanel, (k0 + k) / kDepth), planes, xs, sums + k * R * N);
      }
    }
    for (std::int64_t k = 0; k < n; ++k) {
      for (int c = 0; c < R; ++c) {
        const auto lanes = hn::Load(d, sums + (k * R + c) * N);
        y(k0 + k, c) -= hn::GetLane(hn::SumOfLanes(d, lanes));
      }
    }
  }
}

template <int R, class V, class P>
void packed_group(PackedIn l, P planes, bool transposed, MatrixView<const V> x, MatrixView<V> y,
                  std::int64_t c) {
  const auto xs = x.block(0, c, x.rows, R);
  const auto ys = y.block(0, c, y.rows, R);
  if (transposed) {
    packed_columns<R, V>(l, planes, xs, ys);
  } else {
    packed_rows<R, V>(l, planes, xs, ys);
  }
}

template <class V, class P>
void packed_planes(PackedIn l, P planes, bool transposed, MatrixView<const V> x, MatrixView<V> y) {
  std::int64_t c = 0;
  for (; c + kGroup <= y.cols; c += kGroup) {
    packed_group<kGroup, V>(l, planes, transposed, x, y, c);
  }
  for (; c < y.cols; ++c) {
    packed_group<1, V>(l, planes, transposed, x, y, c);
  }
}

template <class V>
void packed_product(PackedIn l, bool transposed, MatrixView<const V> x, MatrixView<V> y) noexcept {
  if (l.planes == 1) return packed_planes<V>(l, Planes<true>{1}, transposed, x, y);
  packed_planes<V>(l, Planes<false>{l.planes}, transposed, x, y);
}

template <class V>
void tile_product(MatrixView<const float> l, bool transposed, MatrixView<const V> x,
                  MatrixView<V> y) noexcept {
  if (transposed) {
    sweep(l, Sweep<V>{{}, {}, x, y, V{-1}});
  } else {
    sweep(l, Sweep<V>{x, y, {}, {}, V{-1}});
  }
}

}  // namespace

void fill_portable_solve(Table& t) {
  constexpr auto isa = STEPWELL_TARGET_ISA;
  t.packed_product_fp32 = {&packed_product<float>, "packed_product_fp32_" STEPWELL_TARGET_NAME,
                           isa};
  t.packed_product_fp64 = {&packed_product<double>, "packed_product_fp64_" STEPWELL_TARGET_NAME,
                           isa};
  t.tile_product_fp32 = {&tile_product<float>, "tile_product_fp32_" STEPWELL_TARGET_NAME, isa};
  t.tile_product_fp64 = {&tile_product<double>, "tile_product_fp64_" STEPWELL_TARGET_NAME, isa};
}

}  // namespace HWY_NAMESPACE
}  // namespace stepwell::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stepwell::kernels {
STEPWELL_EXPORT_FILL(fill_portable_solve)
}  // namespace stepwell::kernels
#endif
