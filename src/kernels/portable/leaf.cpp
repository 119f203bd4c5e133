// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/portable/portable.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/portable/leaf.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/portable/target-inl.hpp"
#include "kernels/portable/transpose-inl.hpp"

/// The leaves of the recursions, at most 64 x 64 (the inverse: 128 x 128). A leaf is copied to the
/// stack with its rows padded with zeros to whole vectors, factored or solved there, and copied
/// back: there are no tails, and the caller's upper triangle is never read. All are left-looking: a
/// block of kColumns columns is loaded once, all earlier columns are subtracted from it in
/// registers, its columns are finished one after the other, and it is stored once.
///
/// Register budget: 4 vectors of rows x 4 columns of sums, 4 of an earlier column and one factor,
/// 21 of 32 (AVX-512), or 4 x 2 + 4 + 1 = 13 of 16: as many products in flight as two FMA units of
/// latency 4 need, and at least as many products as loads.
HWY_BEFORE_NAMESPACE();
namespace stepwell::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Tag = hn::CappedTag<T, 64 / sizeof(T)>;
template <class T>
using Vector = hn::Vec<Tag<T>>;

constexpr int kVectors = 4;
constexpr int kColumns = HWY_TARGET == HWY_AVX3 ? 4 : 2;

template <class T>
HWY_INLINE std::int64_t lanes_of() {
  return static_cast<std::int64_t>(hn::Lanes(Tag<T>()));
}

/// Number of elements of kVectors vectors.
template <class T>
constexpr std::int64_t kGroup = kVectors * 64 / sizeof(T);

/// sum(:, q) -= sum_k x(:, k) factor[q + k factor_ld], k < count.
template <class T, int V, int C>
HWY_INLINE void subtract_earlier(const T* x, std::int64_t ld, const T* factor,
                                 std::int64_t factor_ld, std::int64_t count,
                                 Vector<T> (&sum)[C][V]) {
  const Tag<T> d;
  for (std::int64_t k = 0; k < count; ++k) {
    Vector<T> column[V];
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) column[v] = hn::LoadU(d, x + k * ld + v * lanes_of<T>());
#pragma GCC unroll 4
    for (int q = 0; q < C; ++q) {
      const auto f = hn::Set(d, factor[q + k * factor_ld]);
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) sum[q][v] = hn::NegMulAdd(column[v], f, sum[q][v]);
    }
  }
}

template <class T, int V>
HWY_INLINE void load(const T* x, Vector<T> (&to)[V]) {
#pragma GCC unroll 4
  for (int v = 0; v < V; ++v) to[v] = hn::LoadU(Tag<T>(), x + v * lanes_of<T>());
}

template <class T, int V>
HWY_INLINE void store(const Vector<T> (&x)[V], T* to) {
#pragma GCC unroll 4
  for (int v = 0; v < V; ++v) hn::StoreU(x[v], Tag<T>(), to + v * lanes_of<T>());
}

/// x / by. The product with the reciprocal takes a tenth of the time, unless that is no normal
/// number.
template <class T, int V>
HWY_INLINE void divide(Vector<T> (&x)[V], T by) {
  const Tag<T> d;
  const T reciprocal = T{1} / by;
  if (HWY_LIKELY(std::isnormal(reciprocal))) {
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) x[v] = hn::Mul(x[v], hn::Set(d, reciprocal));
  } else {
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) x[v] = hn::Div(x[v], hn::Set(d, by));
  }
}

/// Columns [j, j + C) of X = B L^-T for V vectors of rows. x: B, replaced by X; columns 'ld' apart.
template <class T, int V, int C>
HWY_INLINE void solve_block(MatrixView<const T> l, std::int64_t j, T* x, std::int64_t ld) {
  Vector<T> sum[C][V];
#pragma GCC unroll 4
  for (int q = 0; q < C; ++q) load<T, V>(x + (j + q) * ld, sum[q]);
  subtract_earlier<T, V, C>(x, ld, l.data + j, l.ld, j, sum);
#pragma GCC unroll 4
  for (int q = 0; q < C; ++q) {
    divide<T, V>(sum[q], l(j + q, j + q));
#pragma GCC unroll 4
    for (int p = q + 1; p < C; ++p) {
      const auto f = hn::Set(Tag<T>(), l(j + p, j + q));
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) sum[p][v] = hn::NegMulAdd(sum[q][v], f, sum[p][v]);
    }
    store<T, V>(sum[q], x + (j + q) * ld);
  }
}

template <class T, int C>
void solve_columns(std::int64_t vectors, MatrixView<const T> l, std::int64_t j, T* x,
                   std::int64_t ld) {
  switch (vectors) {
    case 1:
      return solve_block<T, 1, C>(l, j, x, ld);
    case 2:
      return solve_block<T, 2, C>(l, j, x, ld);
    case 3:
      return solve_block<T, 3, C>(l, j, x, ld);
    default:
      return solve_block<T, kVectors, C>(l, j, x, ld);
  }
}

/// Columns [j, j + C) of the factor in rows [first, first + V vectors), which hold the diagonal.
/// l: columns kLeaf apart.
template <class T, int V, int C>
HWY_INLINE Pivot factor_block(T* l, std::int64_t first, std::int64_t j) {
  Vector<T> sum[C][V];
#pragma GCC unroll 4
  for (int q = 0; q < C; ++q) load<T, V>(l + (j + q) * kLeaf + first, sum[q]);
  subtract_earlier<T, V, C>(l + first, kLeaf, l + j, kLeaf, j, sum);
#pragma GCC unroll 4
  for (int q = 0; q < C; ++q) {
    T* const column = l + (j + q) * kLeaf;
    store<T, V>(sum[q], column + first);
    const T value = column[j + q];
    if (!(value > 0) || !std::isfinite(value)) return {j + q, static_cast<double>(value)};
    const T root = std::sqrt(value);
    divide<T, V>(sum[q], root);
    store<T, V>(sum[q], column + first);
    column[j + q] = root;
#pragma GCC unroll 4
    for (int p = q + 1; p < C; ++p) {
      const auto f = hn::Set(Tag<T>(), column[j + p]);
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) sum[p][v] = hn::NegMulAdd(sum[q][v], f, sum[p][v]);
    }
  }
  return {};
}

/// Columns [j, j + C) of the factor of order n: the rows of the diagonal, then those below.
template <class T, int C>
Pivot factor_columns(T* l, std::int64_t n, std::int64_t j) {
  const std::int64_t lanes = lanes_of<T>();
  const std::int64_t first = j / lanes * lanes;
  const std::int64_t vectors = core::round_up(n - first, lanes) / lanes;
  const Pivot pivot = vectors == 1   ? factor_block<T, 1, C>(l, first, j)
                      : vectors == 2 ? factor_block<T, 2, C>(l, first, j)
                      : vectors == 3 ? factor_block<T, 3, C>(l, first, j)
                                     : factor_block<T, kVectors, C>(l, first, j);
  const MatrixView<const T> factor{l, n, n, kLeaf};
  for (std::int64_t v = kVectors; v < vectors; v += kVectors) {
    T* const rows = l + first + v * lanes;
    if (pivot.ok()) {
      solve_columns<T, C>(vectors - v, factor, j, rows, kLeaf);
    } else {
      for (std::int64_t k = j; k < pivot.index; ++k) {
        solve_columns<T, 1>(vectors - v, factor, k, rows, kLeaf);
      }
    }
  }
  return pivot;
}

template <class T>
Pivot potrf(MatrixView<T> a) noexcept {
  HWY_ALIGN T l[kLeaf * kLeaf];
  const std::int64_t n = a.rows;
  for (std::int64_t j = 0; j < n; ++j) {
    T* const column = l + j * kLeaf;
    std::fill_n(column, j, T{0});
    std::copy(a.column(j) + j, a.column(j) + n, column + j);
    std::fill(column + n, column + kLeaf, T{0});
  }
  Pivot pivot;
  for (std::int64_t j = 0; j < n && pivot.ok();) {
    const bool whole = j + kColumns <= n;
    pivot = whole ? factor_columns<T, kColumns>(l, n, j) : factor_columns<T, 1>(l, n, j);
    j += whole ? kColumns : 1;
  }
  const std::int64_t done = pivot.ok() ? n : pivot.index;
  for (std::int64_t j = 0; j < done; ++j) {
    std::copy(l + j * kLeaf + j, l + j * kLeaf + n, a.column(j) + j);
  }
  return pivot;
}

/// X = B L^-T for some vectors of rows.
template <class T>
void solve_rows(std::int64_t vectors, MatrixView<const T> l, T* x, std::int64_t ld) {
  std::int64_t j = 0;
  for (; j + kColumns <= l.rows; j += kColumns) solve_columns<T, kColumns>(vectors, l, j, x, ld);
  for (; j < l.rows; ++j) solve_columns<T, 1>(vectors, l, j, x, ld);
}

/// Columns that are an odd number of cache lines apart, as those of sums are, do not share sets of
/// L1: whole groups of rows are solved where they are.
template <class T>
void trsm(MatrixView<const T> l, MatrixView<T> b) noexcept {
  HWY_ALIGN T x[kGroup<T> * kLeaf];
  const std::int64_t lanes = lanes_of<T>();
  const std::int64_t group = kVectors * lanes;
  const bool in_place = b.ld * static_cast<std::int64_t>(sizeof(T)) % 128 == 64;
  for (std::int64_t i = 0; i < b.rows; i += group) {
    const std::int64_t rows = std::min(group, b.rows - i);
    if (in_place && rows == group) {
      solve_rows<T>(kVectors, l, b.data + i, b.ld);
      continue;
    }
    for (std::int64_t j = 0; j < b.cols; ++j) {
      std::copy_n(b.column(j) + i, rows, x + j * group);
      std::fill_n(x + j * group + rows, group - rows, T{0});
    }
    solve_rows<T>(core::round_up(rows, lanes) / lanes, l, x, group);
    for (std::int64_t j = 0; j < b.cols; ++j) std::copy_n(x + j * group, rows, b.column(j) + i);
  }
}

/// L^-T is the solution of X L' = I; its transpose is written to w. In a group of rows that starts
/// at i, columns before i are zero, and so is each vector before its first column.
template <class T>
void invert(MatrixView<const T> l, MatrixView<T> w) noexcept {
  HWY_ALIGN T x[kGroup<T> * kInvertLeaf];
  const std::int64_t n = l.rows;
  const std::int64_t lanes = lanes_of<T>();
  const std::int64_t group = kVectors * lanes;
  for (std::int64_t i = 0; i < n; i += group) {
    const std::int64_t m = n - i;
    const std::int64_t rows = std::min(group, m);
    const MatrixView<const T> rest = l.block(i, i, m, m);
    std::fill_n(x, m * group, T{0});
    for (std::int64_t r = 0; r < rows; ++r) x[r * group + r] = 1;
    for (std::int64_t j = 0; j < m;) {
      const bool whole = j + kColumns <= m;
      const std::int64_t end = j + (whole ? kColumns : 1);
      const std::int64_t vectors = (end - 1) / lanes + 1;
      if (whole) {
        solve_columns<T, kColumns>(vectors, rest, j, x, group);
      } else {
        solve_columns<T, 1>(vectors, rest, j, x, group);
      }
      j = end;
    }
    transpose<T>({x, rows, m, group}, w.block(i, i, m, rows));
    for (std::int64_t r = 0; r < rows; ++r) std::fill_n(w.column(i + r), i + r, T{0});
  }
}

}  // namespace

void fill_portable_leaf(Table& t) {
  constexpr auto isa = STEPWELL_TARGET_ISA;
  t.potrf_fp32 = {&potrf<float>, "potrf_fp32_" STEPWELL_TARGET_NAME, isa};
  t.potrf_fp64 = {&potrf<double>, "potrf_fp64_" STEPWELL_TARGET_NAME, isa};
  t.trsm_fp32 = {&trsm<float>, "trsm_fp32_" STEPWELL_TARGET_NAME, isa};
  t.trsm_fp64 = {&trsm<double>, "trsm_fp64_" STEPWELL_TARGET_NAME, isa};
  t.invert_fp32 = {&invert<float>, "invert_fp32_" STEPWELL_TARGET_NAME, isa};
  t.invert_fp64 = {&invert<double>, "invert_fp64_" STEPWELL_TARGET_NAME, isa};
}

}  // namespace HWY_NAMESPACE
}  // namespace stepwell::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stepwell::kernels {
STEPWELL_EXPORT_FILL(fill_portable_leaf)
}  // namespace stepwell::kernels
#endif
