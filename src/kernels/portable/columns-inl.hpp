// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause

// Products of a column-major block with vectors, for product.cpp and solve.cpp. Included once per
// target: hence a toggling guard instead of a pragma.
#if defined(STEPWELL_COLUMNS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STEPWELL_COLUMNS_INL
#undef STEPWELL_COLUMNS_INL
#else
#define STEPWELL_COLUMNS_INL
#endif

#include <algorithm>
#include <cstdint>

#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "stepwell/view.hpp"

HWY_BEFORE_NAMESPACE();
namespace stepwell::kernels {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

/// N numbers of A as vector of V: the same type, or fp32 promoted to fp64.
template <class D, class A>
HWY_INLINE hn::Vec<D> load_as(D d, const A* p) {
  if constexpr (sizeof(A) == sizeof(hn::TFromD<D>)) {
    return hn::LoadU(d, p);
  } else {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<A, D>(), p));
  }
}

/// y += A x if y is not null, z += A' w if z is not null; with sign -1 they are subtracted.
template <class V>
struct Sweep {
  MatrixView<const V> x;
  MatrixView<V> y;
  MatrixView<const V> w;
  MatrixView<V> z;
  V sign;

  /// The part for rows [i, i + m), columns [j, j + n) of A and vectors [c, c + r).
  Sweep block(std::int64_t i, std::int64_t m, std::int64_t j, std::int64_t n, std::int64_t c,
              std::int64_t r) const {
    Sweep s{{}, {}, {}, {}, sign};
    if (y.data != nullptr) {
      s.x = x.block(j, c, n, r);
      s.y = y.block(i, c, m, r);
    }
    if (z.data != nullptr) {
      s.w = w.block(i, c, m, r);
      s.z = z.block(j, c, n, r);
    }
    return s;
  }
};

// ---- one vector: a load of A feeds both sums ----

// Rows of a sweep. 4 KiB of y and w each stay in L1, and eight columns are half of it, so that the
// next eight can be fetched meanwhile.
constexpr std::int64_t kSweepRows = 512;
#if HWY_TARGET == HWY_AVX3
constexpr int kSweepColumns = 8;  // 8 of x, 8 of z and two more of 32 registers
#else
constexpr int kSweepColumns = 4;
#endif

/// C columns of A, m rows. 'next' is what the following call will read (same ld): fetched
/// meanwhile.
template <int C, bool Y, bool Z, class A, class V>
HWY_INLINE void sweep_columns(const A* a, std::int64_t ld, std::int64_t m, const V* x, V* y,
                              const V* w, V* z, V sign, const A* next) {
  const hn::ScalableTag<V> d;
  constexpr std::int64_t N = hn::MaxLanes(d);
  hn::Vec<decltype(d)> xs[C], zs[C];
  HWY_UNROLL(8)
  for (int c = 0; c < C; ++c) {
    xs[c] = Y ? hn::Set(d, sign * x[c]) : hn::Zero(d);
    zs[c] = hn::Zero(d);
  }
  std::int64_t i = 0;
  for (; i + N <= m; i += N) {
    auto ys = Y ? hn::LoadU(d, y + i) : hn::Zero(d);
    const auto ws = Z ? hn::LoadU(d, w + i) : hn::Zero(d);
    HWY_UNROLL(8)
    for (int c = 0; c < C; ++c) {
      const auto as = load_as(d, a + i + c * ld);
      if (next != nullptr) hwy::Prefetch(next + i + c * ld);
      if constexpr (Y) ys = hn::MulAdd(as, xs[c], ys);
      if constexpr (Z) zs[c] = hn::MulAdd(as, ws, zs[c]);
    }
    if constexpr (Y) hn::StoreU(ys, d, y + i);
  }
  HWY_UNROLL(8)
  for (int c = 0; c < C; ++c) {
    V sum = Z ? hn::GetLane(hn::SumOfLanes(d, zs[c])) : V{0};
    for (std::int64_t t = i; t < m; ++t) {
      const V at = static_cast<V>(a[t + c * ld]);
      if constexpr (Y) y[t] += at * (sign * x[c]);
      if constexpr (Z) sum += at * w[t];
    }
    if constexpr (Z) z[c] += sign * sum;
  }
}

template <bool Y, bool Z, class A, class V>
void sweep_one(MatrixView<const A> a, const Sweep<V>& s) {
  for (std::int64_t i = 0; i < a.rows; i += kSweepRows) {
    const std::int64_t m = std::min(kSweepRows, a.rows - i);
    V* const y = Y ? s.y.data + i : nullptr;
    const V* const w = Z ? s.w.data + i : nullptr;
    std::int64_t j = 0;
    for (; j + kSweepColumns <= a.cols; j += kSweepColumns) {
      const A* next = nullptr;
      if (j + 2 * kSweepColumns <= a.cols) {
        next = a.column(j + kSweepColumns) + i;
      } else if (i + 2 * kSweepRows <= a.rows) {
        next = a.data + i + kSweepRows;
      }
      sweep_columns<kSweepColumns, Y, Z>(a.column(j) + i, a.ld, m, Y ? s.x.data + j : nullptr, y, w,
                                         Z ? s.z.data + j : nullptr, s.sign, next);
    }
    for (; j < a.cols; ++j) {
      sweep_columns<1, Y, Z>(a.column(j) + i, a.ld, m, Y ? s.x.data + j : nullptr, y, w,
                             Z ? s.z.data + j : nullptr, s.sign, static_cast<const A*>(nullptr));
    }
  }
}

// ---- several vectors: a block of A stays in L1 while groups of vectors pass over it ----

// 32 KiB of fp64 in a buffer of our own: with a leading dimension of 16384 the columns of A itself
// would compete for the same sets of the caches.
constexpr std::int64_t kBlockRows = 256;
constexpr std::int64_t kBlockColumns = 16;
constexpr int kGroup = 4;  // right-hand sides; 2 SIMD vectors x 4 sums hide the latency of one
constexpr int kDots = kSweepColumns / 2;  // columns of A at a time in z += A' w

/// y += A x for S SIMD vectors of rows and R right-hand sides. x: by column of A, R numbers each.
template <int S, int R, class D, class V>
HWY_INLINE void rows_times(D d, MatrixView<const V> a, const V* x, MatrixView<V> y,
                           std::int64_t i) {
  constexpr std::int64_t N = hn::MaxLanes(d);
  hn::Vec<D> sum[R][S];
  HWY_UNROLL(4)
  for (int c = 0; c < R; ++c) {
    HWY_UNROLL(2)
    for (int v = 0; v < S; ++v) {
      sum[c][v] = hn::LoadU(d, y.column(c) + i + v * N);
    }
  }
  for (std::int64_t j = 0; j < a.cols; ++j) {
    hn::Vec<D> as[S];
    HWY_UNROLL(2)
    for (int v = 0; v < S; ++v) {
      as[v] = hn::LoadU(d, a.column(j) + i + v * N);
    }
    HWY_UNROLL(4)
    for (int c = 0; c < R; ++c) {
      const auto xs = hn::Set(d, x[j * R + c]);
      HWY_UNROLL(2)
      for (int v = 0; v < S; ++v) {
        sum[c][v] = hn::MulAdd(as[v], xs, sum[c][v]);
      }
    }
  }
  HWY_UNROLL(4)
  for (int c = 0; c < R; ++c) {
    HWY_UNROLL(2)
    for (int v = 0; v < S; ++v) {
      hn::StoreU(sum[c][v], d, y.column(c) + i + v * N);
    }
  }
}

/// z += A' w for C columns and R right-hand sides.
template <int C, int R, class V>
HWY_INLINE void columns_times(MatrixView<const V> a, const Sweep<V>& s, std::int64_t j) {
  const hn::ScalableTag<V> d;
  constexpr std::int64_t N = hn::MaxLanes(d);
  hn::Vec<decltype(d)> sum[R][C];
  HWY_UNROLL(4)
  for (int c = 0; c < R; ++c) {
    HWY_UNROLL(4)
    for (int v = 0; v < C; ++v) {
      sum[c][v] = hn::Zero(d);
    }
  }
  std::int64_t i = 0;
  for (; i + N <= a.rows; i += N) {
    hn::Vec<decltype(d)> as[C];
    HWY_UNROLL(4)
    for (int v = 0; v < C; ++v) {
      as[v] = hn::LoadU(d, a.column(j + v) + i);
    }
    HWY_UNROLL(4)
    for (int c = 0; c < R; ++c) {
      const auto ws = hn::LoadU(d, s.w.column(c) + i);
      HWY_UNROLL(4)
      for (int v = 0; v < C; ++v) {
        sum[c][v] = hn::MulAdd(as[v], ws, sum[c][v]);
      }
    }
  }
  HWY_UNROLL(4)
  for (int c = 0; c < R; ++c) {
    HWY_UNROLL(4)
    for (int v = 0; v < C; ++v) {
      V total = hn::GetLane(hn::SumOfLanes(d, sum[c][v]));
      for (std::int64_t t = i; t < a.rows; ++t) {
        total += a(t, j + v) * s.w(t, c);
      }
      s.z(j + v, c) += s.sign * total;
    }
  }
}

/// A block of A, copied, with R right-hand sides.
template <int R, class V>
void block_times(MatrixView<const V> a, const Sweep<V>& s) {
  const hn::ScalableTag<V> d;
  constexpr std::int64_t N = hn::MaxLanes(d);
  if (s.y.data != nullptr) {
    V x[kBlockColumns * R];
    for (std::int64_t j = 0; j < a.cols; ++j) {
      for (int c = 0; c < R; ++c) {
        x[j * R + c] = s.sign * s.x(j, c);
      }
    }
    std::int64_t i = 0;
    for (; i + 2 * N <= a.rows; i += 2 * N) {
      rows_times<2, R>(d, a, x, s.y, i);
    }
    for (; i + N <= a.rows; i += N) {
      rows_times<1, R>(d, a, x, s.y, i);
    }
    for (; i < a.rows; ++i) {
      rows_times<1, R>(hn::CappedTag<V, 1>(), a, x, s.y, i);
    }
  }
  if (s.z.data != nullptr) {
    std::int64_t j = 0;
    for (; j + kDots <= a.cols; j += kDots) {
      columns_times<kDots, R>(a, s, j);
    }
    for (; j < a.cols; ++j) {
      columns_times<1, R>(a, s, j);
    }
  }
}

/// Copies a block of A to 'to', column after column, and fetches the next one into L2.
template <class A, class V>
HWY_INLINE void copy_block(MatrixView<const A> a, V* to, const A* next) {
  const hn::ScalableTag<V> d;
  constexpr std::int64_t N = hn::MaxLanes(d);
  for (std::int64_t j = 0; j < a.cols; ++j) {
    const A* const from = a.column(j);
    std::int64_t i = 0;
    for (; i + N <= a.rows; i += N) {
      hn::StoreU(load_as(d, from + i), d, to + i);
      if (next != nullptr) __builtin_prefetch(next + j * a.ld + i, 0, 2);
    }
    for (; i < a.rows; ++i) {
      to[i] = static_cast<V>(from[i]);
    }
    to += a.rows;
  }
}

template <class A, class V>
void sweep_many(MatrixView<const A> a, const Sweep<V>& s, std::int64_t vectors) {
  alignas(64) V buffer[kBlockRows * kBlockColumns];
  for (std::int64_t i = 0; i < a.rows; i += kBlockRows) {
    const std::int64_t m = std::min(kBlockRows, a.rows - i);
    for (std::int64_t j = 0; j < a.cols; j += kBlockColumns) {
      const std::int64_t n = std::min(kBlockColumns, a.cols - j);
      const bool more = j + 2 * kBlockColumns <= a.cols;
      copy_block(a.block(i, j, m, n), buffer, more ? a.column(j + n) + i : nullptr);
      const auto block = view<const V>(buffer, m, n);
      std::int64_t c = 0;
      for (; c + kGroup <= vectors; c += kGroup) {
        block_times<kGroup>(block, s.block(i, m, j, n, c, kGroup));
      }
      for (; c + 2 <= vectors; c += 2) {
        block_times<2>(block, s.block(i, m, j, n, c, 2));
      }
      for (; c < vectors; ++c) {
        block_times<1>(block, s.block(i, m, j, n, c, 1));
      }
    }
  }
}

/// The whole block, any number of vectors. The order of the sums depends on the sizes alone.
template <class A, class V>
void sweep(MatrixView<const A> a, const Sweep<V>& s) {
  const bool with_y = s.y.data != nullptr;
  const bool with_z = s.z.data != nullptr;
  const std::int64_t vectors = with_y ? s.y.cols : with_z ? s.z.cols : 0;
  if (vectors != 1) return sweep_many(a, s, vectors);
  if (with_y && with_z) return sweep_one<true, true>(a, s);
  if (with_y) return sweep_one<true, false>(a, s);
  sweep_one<false, true>(a, s);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace stepwell::kernels
HWY_AFTER_NAMESPACE();

#endif  // STEPWELL_COLUMNS_INL
