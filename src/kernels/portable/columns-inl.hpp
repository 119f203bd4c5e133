// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause

// Products of a column-major block with few vectors. Included once per target: hence a toggling
// guard instead of a pragma.
#if defined(STEPWELL_COLUMNS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STEPWELL_COLUMNS_INL
#undef STEPWELL_COLUMNS_INL
#else
#define STEPWELL_COLUMNS_INL
#endif

#include <algorithm>
#include <bit>
#include <cstdint>

#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "stepwell/view.hpp"

HWY_BEFORE_NAMESPACE();
namespace stepwell::kernels {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

/// N elements of A as a vector of V: the same type, or fp32 promoted to fp64.
template <class D, class A>
HWY_INLINE hn::Vec<D> load_as(D d, const A* p) {
  if constexpr (sizeof(A) == sizeof(hn::TFromD<D>)) {
    return hn::LoadU(d, p);
  } else {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<A, D>(), p));
  }
}

/// The sum of the lanes of a checksum.
template <class DU>
std::uint64_t sum_of_lanes(DU du, hn::Vec<DU> bits) {
  HWY_ALIGN std::uint64_t lanes[hn::MaxLanes(du)];
  hn::Store(bits, du, lanes);
  std::uint64_t sum = 0;
  for (std::size_t k = 0; k < hn::Lanes(du); ++k) sum += lanes[k];
  return sum;
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

/// The block that is read next, of the same shape as the current one, prefetched meanwhile into L1
/// (level 3) or L2 (level 2).
template <class A, int level>
struct Ahead {
  const A* data = nullptr;
  std::int64_t ld = 0;

  HWY_INLINE void fetch(std::int64_t i, std::int64_t j) const {
    if (data != nullptr) __builtin_prefetch(data + i + j * ld, 0, level);
  }
  Ahead columns(std::int64_t j) const { return {data != nullptr ? data + j * ld : nullptr, ld}; }
};

/// Adds adjacent lanes: the first half of the result is from lo, the second from hi.
template <class D, class T>
HWY_INLINE T add_pairs(D d, T hi, T lo) {
  return hn::Add(hn::ConcatEven(d, hi, lo), hn::ConcatOdd(d, hi, lo));
}

/// The partial sums of C vectors in one vector, N / C lanes each.
template <int C, class D>
HWY_INLINE hn::Vec<D> partial_sums(D d, const hn::Vec<D>* vs) {
  if constexpr (C == 1) {
    return vs[0];
  } else {
    return add_pairs(d, partial_sums<C / 2>(d, vs + C / 2), partial_sums<C / 2>(d, vs));
  }
}

/// out[v] = the sum of vs[v]'s lanes; out has room for C elements and for a SIMD vector. One tree
/// for as many sums as there are lanes: two shuffles per addition, where one sum after the other
/// takes log2 N times as many. Adjacent lanes are added first, whatever C is.
template <int C, class D>
HWY_INLINE void sums_of_lanes(D d, const hn::Vec<D>* vs, hn::TFromD<D>* out) {
  constexpr int N = hn::MaxLanes(d);
  constexpr int kTree = std::min<int>(N, std::bit_floor(static_cast<unsigned>(C)));
  auto sums = partial_sums<kTree>(d, vs);
  for (int lanes = N / kTree; lanes > 1; lanes /= 2) {
    sums = add_pairs(d, sums, sums);
  }
  hn::StoreU(sums, d, out);
  if constexpr (C > kTree) sums_of_lanes<C - kTree>(d, vs + kTree, out + kTree);
}

// Each load of A is used for all sums.

#if HWY_TARGET == HWY_AVX3
// Register budget of 32: one vector takes 8 for x, 8 for z and three more; four vectors with half
// the columns take 16 for z, 4 for y, 4 for w and one for A, with x in L1.
inline constexpr int kSweepColumns = 8;
inline constexpr int kSweepGroup = 4;
#else
// Register budget of 16: one vector takes 4 for x, 4 for z and three more; two vectors with half
// the columns take two more.
inline constexpr int kSweepColumns = 4;
inline constexpr int kSweepGroup = 2;
#endif

// Rows of a sweep. 4 KiB each of y and w stay in L1, and eight columns of A take half of it, so
// that the next eight can be prefetched meanwhile. Several vectors take more of L1, hence fewer
// rows.
inline constexpr std::int64_t kSweepRows = 512;
inline constexpr std::int64_t kFewRows = 256;

/// The first C columns of A and R vectors.
template <int C, int R, bool Y, bool Z, class A, class V, class Next>
HWY_INLINE void sweep_columns(MatrixView<const A> a, const Sweep<V>& s, Next next) {
  const hn::ScalableTag<V> d;
  constexpr std::int64_t N = hn::MaxLanes(d);
  hn::Vec<decltype(d)> xs[C * R], zs[C * R];
  HWY_UNROLL(32)
  for (int k = 0; k < C * R; ++k) {
    xs[k] = Y ? hn::Set(d, s.sign * s.x(k % C, k / C)) : hn::Zero(d);
    zs[k] = hn::Zero(d);
  }
  std::int64_t i = 0;
  for (; i + N <= a.rows; i += N) {
    hn::Vec<decltype(d)> ys[R], ws[R];
    HWY_UNROLL(8)
    for (int v = 0; v < R; ++v) {
      ys[v] = Y ? hn::LoadU(d, s.y.column(v) + i) : hn::Zero(d);
      ws[v] = Z ? hn::LoadU(d, s.w.column(v) + i) : hn::Zero(d);
    }
    HWY_UNROLL(8)
    for (int c = 0; c < C; ++c) {
      const auto as = load_as(d, a.column(c) + i);
      next.fetch(i, c);
      HWY_UNROLL(8)
      for (int v = 0; v < R; ++v) {
        if constexpr (Y) ys[v] = hn::MulAdd(as, xs[v * C + c], ys[v]);
        if constexpr (Z) zs[v * C + c] = hn::MulAdd(as, ws[v], zs[v * C + c]);
      }
    }
    HWY_UNROLL(8)
    for (int v = 0; v < R; ++v) {
      if constexpr (Y) hn::StoreU(ys[v], d, s.y.column(v) + i);
    }
  }
  V sums[C * R + N];
  if constexpr (Z) sums_of_lanes<C * R>(d, zs, sums);
  for (; i < a.rows; ++i) {
    for (int k = 0; k < C * R; ++k) {
      const V as = static_cast<V>(a(i, k % C));
      if constexpr (Y) s.y(i, k / C) += as * (s.sign * s.x(k % C, k / C));
      if constexpr (Z) sums[k] += as * s.w(i, k / C);
    }
  }
  if constexpr (Z) {
    const hn::CappedTag<V, C> dc;
    for (int k = 0; k < C * R; k += hn::MaxLanes(dc)) {
      V* const z = s.z.column(k / C) + k % C;
      hn::StoreU(hn::MulAdd(hn::LoadU(dc, sums + k), hn::Set(dc, s.sign), hn::LoadU(dc, z)), dc, z);
    }
  }
}

/// All columns of A, C at a time, and the first R vectors.
template <int C, int R, bool Y, bool Z, class A, class V, class Next>
HWY_INLINE void sweep_group(MatrixView<const A> a, const Sweep<V>& s, Next next) {
  std::int64_t j = 0;
  for (; j + C <= a.cols; j += C) {
    sweep_columns<C, R, Y, Z>(a.block(0, j, a.rows, C), s.block(0, a.rows, j, C, 0, R),
                              next.columns(j));
  }
  for (; j < a.cols; ++j) {
    sweep_columns<1, R, Y, Z>(a.block(0, j, a.rows, 1), s.block(0, a.rows, j, 1, 0, R), Next{});
  }
}

template <bool Y, bool Z, class A, class V>
void sweep_few(MatrixView<const A> a, const Sweep<V>& s, std::int64_t vectors) {
  constexpr int C = kSweepColumns;
  const std::int64_t rows = vectors == 1 ? kSweepRows : kFewRows;
  for (std::int64_t i = 0; i < a.rows; i += rows) {
    const std::int64_t m = std::min(rows, a.rows - i);
    for (std::int64_t j = 0; j < a.cols; j += C) {
      const std::int64_t n = std::min<std::int64_t>(C, a.cols - j);
      const auto block = a.block(i, j, m, n);
      Ahead<A, 3> next{nullptr, a.ld};
      if (j + 2 * C <= a.cols) {
        next.data = a.column(j + C) + i;
      } else if (i + 2 * rows <= a.rows && a.cols >= C) {
        next.data = a.data + i + rows;
      }
      std::int64_t c = 0;
      for (; c + kSweepGroup <= vectors; c += kSweepGroup) {
        sweep_group<C / 2, kSweepGroup, Y, Z>(block, s.block(i, m, j, n, c, kSweepGroup), next);
        next = {};
      }
      for (; c + 2 <= vectors; c += 2) {
        sweep_group<C / 2, 2, Y, Z>(block, s.block(i, m, j, n, c, 2), next);
        next = {};
      }
      for (; c < vectors; ++c) {
        sweep_group<C, 1, Y, Z>(block, s.block(i, m, j, n, c, 1), next);
        next = {};
      }
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace stepwell::kernels
HWY_AFTER_NAMESPACE();

#endif  // STEPWELL_COLUMNS_INL
