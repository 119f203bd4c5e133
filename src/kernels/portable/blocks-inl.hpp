// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause

// Products of a column-major block with many vectors, and the choice between few and many. Included
// once per target: hence a toggling guard instead of a pragma.
#if defined(STEPWELL_BLOCKS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STEPWELL_BLOCKS_INL
#undef STEPWELL_BLOCKS_INL
#else
#define STEPWELL_BLOCKS_INL
#endif

#include <type_traits>

#include "kernels/portable/columns-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stepwell::kernels {
namespace HWY_NAMESPACE {
namespace {

// A block of A stays in L1 while groups of vectors pass over it.

// The block is copied to a buffer of 32 KiB: with a leading dimension of 16384 the columns of A
// itself would compete for the same cache sets.
constexpr std::int64_t kBlockColumns = 16;
template <class V>
constexpr std::int64_t kBlockRows = 2048 / sizeof(V);
// Right-hand sides of y += A x that are processed together, at most. Register budget: of 32
// registers, 2 SIMD vectors x 8 sums leave enough for two of A and one of x; of 16, 2 x 4 sums.
constexpr int kGroup = HWY_TARGET == HWY_AVX3 ? 8 : 4;
// z += A' w is a sweep over 4 columns. Of 32 registers, 4 x 5 sums, 5 of w and one of A; of 16, 4 x
// 2 sums.
constexpr int kDots = 4;
constexpr int kDotsGroup = HWY_TARGET == HWY_AVX3 ? 5 : 2;

/// Calls f(R) with an integral constant R = size, which is between kLeast and kMost.
template <int kMost, int kLeast, class F>
HWY_INLINE void with_size(std::int64_t size, F f) {
  if constexpr (kMost > kLeast) {
    if (size < kMost) return with_size<kMost - 1, kLeast>(size, f);
  }
  f(std::integral_constant<int, kMost>());
}

/// Calls f(c, R), with an integral constant R, for groups of vectors [c, c + R) whose sizes differ
/// by at most one. A single vector takes as long as two or three of a group, so ten are five and
/// five, not eight and two. kMost: size of the largest group, at most 'vectors'.
template <int kMost, class F>
HWY_INLINE void for_groups(std::int64_t vectors, F f) {
  constexpr int kLeast = (kMost + 1) / 2;
  const std::int64_t groups = (vectors + kMost - 1) / kMost;
  for (std::int64_t g = 0; g < groups; ++g) {
    const std::int64_t c = vectors * g / groups;
    with_size<kMost, kLeast>(vectors * (g + 1) / groups - c,
                             [&](auto size) HWY_ATTR { f(c, size); });
  }
}

/// A block of A and its copy, multiplied by 'sign' so that the sums need no sign. The copy's ld is
/// kBlockRows.
template <class A, class V>
struct Block {
  MatrixView<const A> a;
  V* copy;
  V sign;

  MatrixView<const V> copied() const { return {copy, a.rows, a.cols, kBlockRows<V>}; }
};

/// y += A x for S SIMD vectors of rows from row i on and R right-hand sides; the first group also
/// makes the copy.
template <int S, int R, bool first, class D, class A, class V, class Next>
HWY_INLINE void rows_times(D d, std::int64_t i, const Block<A, V>& b, const V* x, MatrixView<V> y,
                           Next next) {
  constexpr std::int64_t N = hn::MaxLanes(d);
  hn::Vec<D> sum[R][S];
  HWY_UNROLL(8)
  for (int c = 0; c < R; ++c) {
    HWY_UNROLL(2)
    for (int v = 0; v < S; ++v) {
      sum[c][v] = hn::LoadU(d, y.column(c) + i + v * N);
    }
  }
  for (std::int64_t j = 0; j < b.a.cols; ++j) {
    hn::Vec<D> as[S];
    HWY_UNROLL(2)
    for (int v = 0; v < S; ++v) {
      V* const copy = b.copy + j * kBlockRows<V> + i + v * N;
      if constexpr (first) {
        as[v] = hn::Mul(load_as(d, b.a.column(j) + i + v * N), hn::Set(d, b.sign));
        hn::StoreU(as[v], d, copy);
        next.fetch(i + v * N, j);
      } else {
        as[v] = hn::LoadU(d, copy);
      }
    }
    HWY_UNROLL(8)
    for (int c = 0; c < R; ++c) {
      const auto xs = hn::Set(d, x[c * kBlockColumns + j]);
      HWY_UNROLL(2)
      for (int v = 0; v < S; ++v) {
        sum[c][v] = hn::MulAdd(as[v], xs, sum[c][v]);
      }
    }
  }
  HWY_UNROLL(8)
  for (int c = 0; c < R; ++c) {
    HWY_UNROLL(2)
    for (int v = 0; v < S; ++v) {
      hn::StoreU(sum[c][v], d, y.column(c) + i + v * N);
    }
  }
}

/// y += A x for R right-hand sides.
template <int R, bool first, class A, class V, class Next>
HWY_NOINLINE void block_rows(const Block<A, V>& b, MatrixView<const V> x, MatrixView<V> y,
                             Next next) {
  const hn::ScalableTag<V> d;
  constexpr std::int64_t N = hn::MaxLanes(d);
  V xs[R * kBlockColumns];  // one pointer instead of R
  for (int c = 0; c < R; ++c) {
    std::copy(x.column(c), x.column(c) + x.rows, xs + c * kBlockColumns);
  }
  std::int64_t i = 0;
  for (; i + 2 * N <= y.rows; i += 2 * N) {
    rows_times<2, R, first>(d, i, b, xs, y, next);
  }
  for (; i + N <= y.rows; i += N) {
    rows_times<1, R, first>(d, i, b, xs, y, next);
  }
  for (; i < y.rows; ++i) {
    rows_times<1, R, first>(hn::CappedTag<V, 1>(), i, b, xs, y, Next{});
  }
}

/// z += A' w for R right-hand sides.
template <int R, class A, class V>
HWY_NOINLINE void block_columns(const Block<A, V>& b, const Sweep<V>& s) {
  sweep_group<kDots, R, false, true>(b.copied(), s, Ahead<V, 2>{});
}

template <class A, class V>
void copy_block(const Block<A, V>& b) {
  const hn::ScalableTag<V> d;
  constexpr std::int64_t N = hn::MaxLanes(d);
  for (std::int64_t j = 0; j < b.a.cols; ++j) {
    const A* const from = b.a.column(j);
    V* const to = b.copy + j * kBlockRows<V>;
    std::int64_t i = 0;
    for (; i + N <= b.a.rows; i += N) {
      hn::StoreU(hn::Mul(load_as(d, from + i), hn::Set(d, b.sign)), d, to + i);
    }
    for (; i < b.a.rows; ++i) {
      to[i] = static_cast<V>(from[i]) * b.sign;
    }
  }
}

/// Multiplies a block by all right-hand sides, at least kGroup of them; s.sign is one.
template <class A, class V>
void block_times(const Block<A, V>& b, const Sweep<V>& s, std::int64_t vectors, Ahead<A, 2> next) {
  const auto group = [&](std::int64_t c, std::int64_t r) {
    return s.block(0, b.a.rows, 0, b.a.cols, c, r);
  };
  if (s.y.data != nullptr) {
    for_groups<kGroup>(vectors, [&](std::int64_t c, auto size) HWY_ATTR {
      constexpr int R = decltype(size)::value;
      const auto part = group(c, R);
      if (c == 0) return block_rows<R, true>(b, part.x, part.y, next);
      block_rows<R, false>(b, part.x, part.y, next);
    });
  } else {
    copy_block(b);
  }
  if (s.z.data != nullptr) {
    for_groups<kDotsGroup>(vectors, [&](std::int64_t c, auto size) HWY_ATTR {
      constexpr int R = decltype(size)::value;
      block_columns<R>(b, group(c, R));
    });
  }
}

template <class A, class V>
void sweep_many(MatrixView<const A> a, Sweep<V> s, std::int64_t vectors) {
  alignas(64) V buffer[kBlockRows<V> * kBlockColumns];
  const V sign = s.sign;
  s.sign = 1;
  for (std::int64_t i = 0; i < a.rows; i += kBlockRows<V>) {
    const std::int64_t m = std::min(kBlockRows<V>, a.rows - i);
    for (std::int64_t j = 0; j < a.cols; j += kBlockColumns) {
      const std::int64_t n = std::min(kBlockColumns, a.cols - j);
      Ahead<A, 2> next{nullptr, a.ld};
      if (j + 2 * kBlockColumns <= a.cols) {
        next.data = a.column(j + n) + i;
      } else if (i + 2 * kBlockRows<V> <= a.rows && a.cols >= kBlockColumns) {
        next.data = a.data + i + m;
      }
      block_times<A, V>({a.block(i, j, m, n), buffer, sign}, s.block(i, m, j, n, 0, vectors),
                        vectors, next);
    }
  }
}

/// The whole block and any number of vectors. The order of summation depends on the sizes alone.
template <class A, class V>
void sweep(MatrixView<const A> a, const Sweep<V>& s) {
  const bool with_y = s.y.data != nullptr;
  const bool with_z = s.z.data != nullptr;
  const std::int64_t vectors = with_y ? s.y.cols : with_z ? s.z.cols : 0;
  if (vectors >= kGroup) return sweep_many(a, s, vectors);
  if (with_y && with_z) return sweep_few<true, true>(a, s, vectors);
  if (with_y) return sweep_few<true, false>(a, s, vectors);
  sweep_few<false, true>(a, s, vectors);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace stepwell::kernels
HWY_AFTER_NAMESPACE();

#endif  // STEPWELL_BLOCKS_INL
