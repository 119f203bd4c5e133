// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/portable/portable.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/portable/solve.cpp"
#include <bit>

#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/portable/blocks-inl.hpp"
#include "kernels/portable/pairs-inl.hpp"
#include "kernels/portable/target-inl.hpp"

/// y -= L x and y -= L' x for packed tiles in pairs order and for plain fp32 tiles.
///
/// Lanes are rows. L x broadcasts x and keeps sums by row; L' x keeps a vector of
/// partial sums for every k and adds its lanes at the end. A tile is at most 1.5 MiB and stays in
/// L2 while the groups of vectors pass over it. Each group unpacks it again: two instructions for
/// 16 products.
HWY_BEFORE_NAMESPACE();
namespace stepwell::kernels {
namespace HWY_NAMESPACE {
namespace {

// Prefetch distance: 64 cache lines, twice the bandwidth-delay product of one core.
constexpr std::int64_t kAhead = 2048;  // bf16 elements: 4 KiB

// Elements of each x in a buffer for the group: 32 KiB at most.
constexpr std::int64_t kChunk = 512;

/// Values of k for which y -= L' x keeps sums of R right-hand sides in registers: a power of two,
/// so that they are in one tile. Of 32 registers at most 20 have sums, of 16 at most 8.
template <int R>
constexpr int kValues = static_cast<int>(std::bit_floor(5 * unsigned{kGroup} / 2 / R));

/// y -= L x for S SIMD vectors of a panel's rows from row i on, k < n and R right-hand sides.
/// x: [R][kChunk]. Register budget: S R sums, 2 S of L and one of x.
template <int S, int R, class V, class P>
HWY_INLINE void rows_of_panel(const std::uint16_t* panel, std::int64_t i, std::int64_t n, P planes,
                              const V* x, MatrixView<V> y) {
  const hn::CappedTag<V, kEngineRows> d;
  constexpr std::int64_t N = hn::MaxLanes(d);
  constexpr int T = R == 1 ? 2 : 1;  // separate sums for even and odd k hide the latency
  hn::Vec<decltype(d)> sum[R][S][T];
  HWY_UNROLL(8)
  for (int c = 0; c < R; ++c) {
    HWY_UNROLL(2)
    for (int v = 0; v < S; ++v) {
      sum[c][v][0] = hn::Zero(d);
      sum[c][v][T - 1] = hn::Zero(d);
    }
  }
  for (std::int64_t k0 = 0; k0 < n; k0 += kDepth) {
    for (std::int64_t k = 0; k < kDepth; k += 2) {
      Pair<std::remove_const_t<decltype(d)>> l[S];
      HWY_UNROLL(2)
      for (int v = 0; v < S; ++v) {
        const std::int64_t row = i + v * N;
        const std::uint16_t* const p =
            panel + row / kEngineRows * kTileElements + k * kEngineRows + row % kEngineRows * 2;
        l[v] = load_pair(d, p, planes);
        hwy::Prefetch(p + kAhead);
      }
      HWY_UNROLL(8)
      for (int c = 0; c < R; ++c) {
        const auto even = hn::Set(d, x[c * kChunk + k]);
        const auto odd = hn::Set(d, x[c * kChunk + k + 1]);
        HWY_UNROLL(2)
        for (int v = 0; v < S; ++v) {
          sum[c][v][0] = hn::MulAdd(l[v].even, even, sum[c][v][0]);
          sum[c][v][T - 1] = hn::MulAdd(l[v].odd, odd, sum[c][v][T - 1]);
        }
      }
    }
    panel += planes.get() * kPlaneElements;
    x += kDepth;
  }
  HWY_UNROLL(8)
  for (int c = 0; c < R; ++c) {
    HWY_UNROLL(2)
    for (int v = 0; v < S; ++v) {
      V* const to = y.column(c) + i + v * N;
      const auto total = T == 1 ? sum[c][v][0] : hn::Add(sum[c][v][0], sum[c][v][T - 1]);
      hn::StoreU(hn::Sub(hn::LoadU(d, to), total), d, to);
    }
  }
}

/// Copies 'rows' rows of R columns of 'from' to a buffer of 'size' rows; the rest is zero.
template <int R, class V>
MatrixView<V> padded(MatrixView<const V> from, std::int64_t rows, std::int64_t size, V* buffer) {
  for (int c = 0; c < R; ++c) {
    V* const to = buffer + c * size;
    std::fill(std::copy(from.column(c), from.column(c) + rows, to), to + size, V{0});
  }
  return {buffer, size, R, size};
}

template <int R, class V, class P>
void packed_rows(PackedIn l, P planes, MatrixView<const V> x, MatrixView<V> y) {
  constexpr std::int64_t N = hn::MaxLanes(hn::CappedTag<V, kEngineRows>());
  V xs[kChunk * R];
  V y_tail[kPanel * R];
  for (std::int64_t k = 0; k < l.depth; k += kChunk) {
    const std::int64_t n = std::min(kChunk, l.depth - k);
    padded<R, V>(x.block(k, 0, n, R), n, kChunk, xs);
    for (std::int64_t i = 0; i < l.rows; i += kPanel) {
      const std::int64_t m = std::min(kPanel, l.rows - i);
      const MatrixView<V> to = y.block(i, 0, m, R);
      const MatrixView<V> sums = m == kPanel ? to : padded<R, V>(to, m, kPanel, y_tail);
      for (std::int64_t row = 0; row < kPanel; row += 2 * N) {
        rows_of_panel<2, R, V>(l.at(i / kPanel, k / kDepth), row, n, planes, xs, sums);
      }
      for (int c = 0; c < R && m < kPanel; ++c) {
        std::copy(sums.column(c), sums.column(c) + m, to.column(c));
      }
    }
  }
}

/// y -= L' x for kValues<R> values of k from k on, 'panels' panels of rows and R right-hand sides.
/// x: [R][kChunk]. Register budget: kValues<R> R sums, two of L and R of x.
template <int R, class V, class P>
HWY_INLINE void columns_of_panels(PackedIn l, std::int64_t k, std::int64_t panels, P planes,
                                  const V* x, MatrixView<V> y) {
  const hn::CappedTag<V, kEngineRows> d;
  constexpr std::int64_t N = hn::MaxLanes(d);
  constexpr int K = kValues<R>;
  hn::Vec<decltype(d)> sum[R * K];
  HWY_UNROLL(32)
  for (int c = 0; c < R * K; ++c) {
    sum[c] = hn::Zero(d);
  }
  const std::uint16_t* panel = l.at(0, k / kDepth) + k % kDepth * kEngineRows;
  for (std::int64_t i = 0; i < panels; ++i) {
    HWY_UNROLL(2)
    for (std::int64_t v = 0; v < kPanel; v += N) {
      const std::uint16_t* const p = panel + v / kEngineRows * kTileElements + v % kEngineRows * 2;
      hn::Vec<decltype(d)> xs[R];
      HWY_UNROLL(8)
      for (int c = 0; c < R; ++c) {
        xs[c] = hn::LoadU(d, x + c * kChunk + v);
      }
      HWY_UNROLL(8)
      for (int q = 0; q < K; q += 2) {
        const auto pair = load_pair(d, p + q * kEngineRows, planes);
        hwy::Prefetch(p + q * kEngineRows + planes.get() * kPlaneElements);
        HWY_UNROLL(8)
        for (int c = 0; c < R; ++c) {
          sum[c * K + q] = hn::MulAdd(pair.even, xs[c], sum[c * K + q]);
          sum[c * K + q + 1] = hn::MulAdd(pair.odd, xs[c], sum[c * K + q + 1]);
        }
      }
    }
    panel += l.panel_stride;
    x += kPanel;
  }
  V sums[R * K + N];
  sums_of_lanes<R * K>(d, sum, sums);
  for (int c = 0; c < R; ++c) {
    for (std::int64_t q = 0; q < std::min<std::int64_t>(K, y.rows - k); ++q) {
      y(k + q, c) -= sums[c * K + q];
    }
  }
}

template <int R, class V, class P>
void packed_columns(PackedIn l, P planes, MatrixView<const V> x, MatrixView<V> y) {
  V xs[kChunk * R];
  for (std::int64_t i = 0; i < l.rows; i += kChunk) {
    const PackedIn part = l.block(i, 0, std::min(kChunk, l.rows - i), l.depth);
    padded<R, V>(x.block(i, 0, part.rows, R), part.rows, kChunk, xs);
    for (std::int64_t k = 0; k < l.depth; k += kValues<R>) {
      columns_of_panels<R, V>(part, k, part.panels(), planes, xs, y);
    }
  }
}

/// sums[k] += L' x for one pair of engine tiles (32 rows, 32 k), lane by lane, in the order of
/// memory. sums: [k][lane].
template <class V, class P>
HWY_INLINE void columns_of_tiles(const std::uint16_t* tile, P planes, const V* x, V* sums) {
  const hn::CappedTag<V, kEngineRows> d;
  constexpr std::int64_t N = hn::MaxLanes(d);
  constexpr std::int64_t S = kPanel / N;
  hn::Vec<decltype(d)> xs[S];
  HWY_UNROLL(16)
  for (std::int64_t v = 0; v < S; ++v) {
    xs[v] = hn::LoadU(d, x + v * N);
  }
  for (std::int64_t k = 0; k < kDepth; k += 2) {
    auto even = hn::Load(d, sums + k * N);
    auto odd = hn::Load(d, sums + (k + 1) * N);
    HWY_UNROLL(16)
    for (std::int64_t v = 0; v < S; ++v) {
      const std::int64_t half = v * N / kEngineRows;
      const std::uint16_t* const p =
          tile + half * kTileElements + k * kEngineRows + 2 * (v * N % kEngineRows);
      const auto l = load_pair(d, p, planes);
      hwy::Prefetch(p + kAhead);
      even = hn::MulAdd(l.even, xs[v], even);
      odd = hn::MulAdd(l.odd, xs[v], odd);
    }
    hn::Store(even, d, sums + k * N);
    hn::Store(odd, d, sums + (k + 1) * N);
  }
}

/// y -= L' x for one vector and more than one depth block.
template <class V, class P>
void packed_column(PackedIn l, P planes, const V* x, V* y) {
  const hn::CappedTag<V, kEngineRows> d;
  constexpr std::int64_t N = hn::MaxLanes(d);
  constexpr std::int64_t kPart = 256;  // values of k whose sums, 16 KiB at most, stay in L1
  alignas(64) V sums[kPart * N];
  V x_tail[kPanel];
  for (std::int64_t k0 = 0; k0 < l.depth; k0 += kPart) {
    const std::int64_t n = std::min(kPart, l.depth - k0);
    std::fill(sums, sums + core::round_up(n, kDepth) * N, V{0});
    for (std::int64_t i = 0; i < l.rows; i += kPanel) {
      const V* xs = x + i;
      if (l.rows - i < kPanel) {
        std::fill(std::copy(xs, x + l.rows, x_tail), x_tail + kPanel, V{0});
        xs = x_tail;
      }
      for (std::int64_t k = 0; k < n; k += kDepth) {
        columns_of_tiles<V>(l.at(i / kPanel, (k0 + k) / kDepth), planes, xs, sums + k * N);
      }
    }
    for (std::int64_t k = 0; k < n; ++k) {
      y[k0 + k] -= hn::GetLane(hn::SumOfLanes(d, hn::Load(d, sums + k * N)));
    }
  }
}

template <int R, class V, class P>
void packed_group(PackedIn l, P planes, bool transposed, MatrixView<const V> x, MatrixView<V> y,
                  std::int64_t c) {
  const auto xs = x.block(0, c, x.rows, R);
  const auto ys = y.block(0, c, y.rows, R);
  if (!transposed) {
    packed_rows<R, V>(l, planes, xs, ys);
    return;
  }
  if constexpr (R == 1) {
    if (l.depth > kDepth) return packed_column<V>(l, planes, xs.data, ys.data);
  }
  packed_columns<R, V>(l, planes, xs, ys);
}

template <class V, class P>
void packed_planes(PackedIn l, P planes, bool transposed, MatrixView<const V> x, MatrixView<V> y) {
  const std::int64_t columns = y.cols;
  if (columns >= kGroup) {
    return for_groups<kGroup>(columns, [&](std::int64_t c, auto size) HWY_ATTR {
      packed_group<decltype(size)::value, V>(l, planes, transposed, x, y, c);
    });
  }
  if (columns == 0) return;
  with_size<kGroup - 1, 1>(columns, [&](auto size) HWY_ATTR {
    packed_group<decltype(size)::value, V>(l, planes, transposed, x, y, 0);
  });
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
