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

/// The leaves of the recursions, at most 64 x 64. A leaf is copied to the stack with its rows
/// padded with zeros to whole vectors, factored or solved there, and copied back: there are no
/// tails, and the caller's upper triangle is never read. Both algorithms are left-looking: a column
/// is loaded once, all earlier columns are subtracted from it in registers (4 vectors of rows at a
/// time), and it is stored once.
HWY_BEFORE_NAMESPACE();
namespace stepwell::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Tag = hn::CappedTag<T, 64 / sizeof(T)>;

constexpr int kVectors = 4;

/// x[0..4 vectors) -= sum_k columns(k) * factor[k * factor_stride], k < count, columns 'stride'
/// apart.
template <class T>
HWY_INLINE void subtract_columns(T* HWY_RESTRICT x, const T* HWY_RESTRICT columns,
                                 std::int64_t stride, const T* HWY_RESTRICT factor,
                                 std::int64_t factor_stride, std::int64_t count) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  hn::Vec<Tag<T>> sum[kVectors];
  for (int v = 0; v < kVectors; ++v) sum[v] = hn::Load(d, x + v * lanes);
  for (std::int64_t k = 0; k < count; ++k) {
    const auto f = hn::Set(d, factor[k * factor_stride]);
    for (int v = 0; v < kVectors; ++v) {
      sum[v] = hn::NegMulAdd(hn::Load(d, columns + k * stride + v * lanes), f, sum[v]);
    }
  }
  for (int v = 0; v < kVectors; ++v) hn::Store(sum[v], d, x + v * lanes);
}

template <class T>
HWY_INLINE void divide(T* HWY_RESTRICT x, std::int64_t rows, T by) {
  const Tag<T> d;
  const auto v = hn::Set(d, by);
  for (std::int64_t i = 0; i < rows; i += static_cast<std::int64_t>(hn::Lanes(d))) {
    hn::Store(hn::Div(hn::Load(d, x + i), v), d, x + i);
  }
}

/// Rows that one call of subtract_columns processes; kLeaf is a multiple.
template <class T>
HWY_INLINE std::int64_t group_rows() {
  return kVectors * static_cast<std::int64_t>(hn::Lanes(Tag<T>()));
}

template <class T>
Pivot potrf(MatrixView<T> a) noexcept {
  HWY_ALIGN T l[kLeaf * kLeaf];  // column-major, column stride kLeaf
  const std::int64_t n = a.rows;
  const std::int64_t group = group_rows<T>();
  Pivot pivot;
  std::int64_t done = n;
  for (std::int64_t j = 0; j < n; ++j) {
    T* const column = l + j * kLeaf;
    for (std::int64_t i = 0; i < kLeaf; ++i) column[i] = i >= j && i < n ? a(i, j) : T{0};
    const std::int64_t first = j / group * group;
    for (std::int64_t i = first; i < n; i += group) {
      subtract_columns(column + i, l + i, kLeaf, l + j, kLeaf, j);
    }
    const T value = column[j];
    if (!(value > 0) || !std::isfinite(value)) {
      pivot = {j, static_cast<double>(value)};
      done = j;
      break;
    }
    const T root = std::sqrt(value);
    divide(column + first, core::round_up(n - first, group), root);
    column[j] = root;
  }
  for (std::int64_t j = 0; j < done; ++j) {
    for (std::int64_t i = j; i < n; ++i) a(i, j) = l[j * kLeaf + i];
  }
  return pivot;
}

/// x <- x L^-T for one group of rows, aligned, columns 'ld' apart.
template <class T>
HWY_INLINE void solve_group(MatrixView<const T> l, T* x, std::int64_t ld) {
  for (std::int64_t j = 0; j < l.rows; ++j) {
    subtract_columns(x + j * ld, x, ld, l.data + j, l.ld, j);
    divide(x + j * ld, group_rows<T>(), l(j, j));
  }
}

template <class T>
void trsm(MatrixView<const T> l, MatrixView<T> b) noexcept {
  HWY_ALIGN T x[kVectors * (64 / sizeof(T)) * kLeaf];
  const std::int64_t group = group_rows<T>();
  for (std::int64_t i = 0; i < b.rows; i += group) {
    const std::int64_t rows = std::min(group, b.rows - i);
    for (std::int64_t j = 0; j < b.cols; ++j) {
      std::copy_n(b.column(j) + i, rows, x + j * group);
      std::fill_n(x + j * group + rows, group - rows, T{0});
    }
    solve_group(l, x, group);
    for (std::int64_t j = 0; j < b.cols; ++j) std::copy_n(x + j * group, rows, b.column(j) + i);
  }
}

/// L^-T is the solution of X L' = I; its transpose is written to w.
template <class T>
void invert(MatrixView<const T> l, MatrixView<T> w) noexcept {
  HWY_ALIGN T x[kVectors * (64 / sizeof(T)) * kLeaf];
  const std::int64_t n = l.rows;
  const std::int64_t group = group_rows<T>();
  for (std::int64_t i = 0; i < n; i += group) {
    std::fill_n(x, n * group, T{0});
    const std::int64_t rows = std::min(group, n - i);
    for (std::int64_t r = 0; r < rows; ++r) x[(i + r) * group + r] = 1;
    solve_group(l, x, group);
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t j = 0; j < n; ++j) w(j, i + r) = j < i + r ? T{0} : x[j * group + r];
    }
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
