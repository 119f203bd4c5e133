// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/portable/portable.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/portable/fused_leaf.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/portable/target-inl.hpp"

/// The FP64 leaves of a factorization in residues. The solve works in place; only rows beyond the
/// last whole group are copied to the stack, padded with zeros.
///
/// Register budget of the solve: 3 vectors of rows x 4 columns of sums, as many of the sums of
/// finished groups, 3 of an earlier column and one factor: 28 of 32.
HWY_BEFORE_NAMESPACE();
namespace stepwell::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::CappedTag<double, 8>;
using Vector = hn::Vec<Tag>;

constexpr int kVectors = 3;
constexpr int kColumns = 4;
constexpr std::int64_t kMostLanes = 8;  ///< of Tag

HWY_INLINE std::int64_t lanes() {
  return static_cast<std::int64_t>(hn::Lanes(Tag()));
}

/// Columns [j, j + C) of X = B L^-T for V vectors of rows of x; 'reciprocals' are those of L's
/// diagonal.
template <int C, int V>
HWY_INLINE void solve_columns(MatrixView<const double> l, const double* reciprocals, std::int64_t j,
                              double* x, std::int64_t ld) {
  const Tag d;
  Vector total[C][V], sum[C][V];
  for (int q = 0; q < C; ++q) {
    for (int v = 0; v < V; ++v) total[q][v] = sum[q][v] = hn::Zero(d);
  }
  // The last group is not finished: the columns below may continue it.
  for (std::int64_t k = 0; k < j;) {
    for (const std::int64_t end = std::min(k + kFusedTerms, j); k < end; ++k) {
      const double* const column = x + k * ld;
      const double* const factors = &l(j, k);
      Vector earlier[V];
#pragma GCC unroll 3
      for (int v = 0; v < V; ++v) earlier[v] = hn::LoadU(d, column + v * lanes());
#pragma GCC unroll 4
      for (int q = 0; q < C; ++q) {
        const auto factor = hn::Set(d, factors[q]);
#pragma GCC unroll 3
        for (int v = 0; v < V; ++v) sum[q][v] = hn::MulAdd(earlier[v], factor, sum[q][v]);
      }
    }
    if (k % kFusedTerms != 0) break;
#pragma GCC unroll 4
    for (int q = 0; q < C; ++q) {
#pragma GCC unroll 3
      for (int v = 0; v < V; ++v) {
        total[q][v] = hn::Add(total[q][v], sum[q][v]);
        sum[q][v] = hn::Zero(d);
      }
    }
  }
#pragma GCC unroll 4
  for (int q = 0; q < C; ++q) {
    const auto reciprocal = hn::Set(d, reciprocals[j + q]);
#pragma GCC unroll 3
    for (int v = 0; v < V; ++v) {
      double* const to = x + (j + q) * ld + v * lanes();
      const auto all = hn::Add(total[q][v], sum[q][v]);
      const auto value = hn::Mul(hn::Sub(hn::LoadU(d, to), all), reciprocal);
      hn::StoreU(value, d, to);
#pragma GCC unroll 4
      for (int p = q + 1; p < C; ++p) {
        sum[p][v] = hn::MulAdd(value, hn::Set(d, l(j + p, j + q)), sum[p][v]);
      }
    }
  }
}

/// All columns of V vectors of rows.
template <int V>
HWY_INLINE void solve_rows(MatrixView<const double> l, const double* reciprocals, double* x,
                           std::int64_t ld) {
  std::int64_t j = 0;
  for (; j + kColumns <= l.rows; j += kColumns)
    solve_columns<kColumns, V>(l, reciprocals, j, x, ld);
  for (; j < l.rows; ++j) solve_columns<1, V>(l, reciprocals, j, x, ld);
}

void trsm(MatrixView<const double> l, MatrixView<double> b) noexcept {
  HWY_ALIGN double x[kMostLanes * kLeaf], reciprocals[kLeaf];
  for (std::int64_t j = 0; j < l.rows; ++j) reciprocals[j] = 1 / l(j, j);
  const std::int64_t group = kVectors * lanes();
  std::int64_t i = 0;
  for (; i + group <= b.rows; i += group) {
    solve_rows<kVectors>(l, reciprocals, b.data + i, b.ld);
  }
  for (; i + lanes() <= b.rows; i += lanes()) solve_rows<1>(l, reciprocals, b.data + i, b.ld);
  const std::int64_t rows = b.rows - i;
  if (rows == 0) return;
  for (std::int64_t j = 0; j < b.cols; ++j) {
    std::copy_n(b.column(j) + i, rows, x + j * lanes());
    std::fill_n(x + j * lanes() + rows, lanes() - rows, 0.0);
  }
  solve_rows<1>(l, reciprocals, x, lanes());
  for (std::int64_t j = 0; j < b.cols; ++j) std::copy_n(x + j * lanes(), rows, b.column(j) + i);
}

/// Column by column, all rows of a column at once.
Pivot potrf(MatrixView<double> a) noexcept {
  HWY_ALIGN double l[kLeaf * kLeaf], sum[kLeaf];
  const Tag d;
  const std::int64_t n = a.rows;
  for (std::int64_t j = 0; j < n; ++j) {
    double* const column = l + j * kLeaf;
    std::copy(a.column(j) + j, a.column(j) + n, column + j);
    std::fill(column + n, column + kLeaf, 0.0);
  }
  for (std::int64_t j = 0; j < n; ++j) {
    double* const column = l + j * kLeaf;
    const std::int64_t first = j / lanes() * lanes();
    for (std::int64_t i = first; i < n; i += 4 * lanes()) {
      Vector total[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
      const std::int64_t vectors = std::min<std::int64_t>(4, (kLeaf - i) / lanes());
      for (std::int64_t k = 0; k < j;) {
        Vector part[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
        for (const std::int64_t end = std::min(k + kFusedTerms, j); k < end; ++k) {
          const auto factor = hn::Set(d, l[k * kLeaf + j]);
          const double* const from = l + k * kLeaf + i;
          for (std::int64_t v = 0; v < vectors; ++v) {
            part[v] = hn::MulAdd(hn::LoadU(d, from + v * lanes()), factor, part[v]);
          }
        }
        for (std::int64_t v = 0; v < vectors; ++v) total[v] = hn::Add(total[v], part[v]);
      }
      for (std::int64_t v = 0; v < vectors; ++v) hn::StoreU(total[v], d, sum + i + v * lanes());
    }
    const double value = column[j] - sum[j];
    if (!(value > 0) || !std::isfinite(value)) return {j, value};
    column[j] = std::sqrt(value);
    const double reciprocal = 1 / column[j];
    for (std::int64_t i = j + 1; i < n; ++i) column[i] = (column[i] - sum[i]) * reciprocal;
    std::copy(column + j, column + n, a.column(j) + j);
  }
  return {};
}

}  // namespace

void fill_portable_fused_leaf(Table& t) {
  constexpr auto isa = STEPWELL_TARGET_ISA;
  if (isa < core::Isa::avx2) return;  // the instruction set has no fused products
  t.residues.potrf = {&potrf, "potrf_fused_" STEPWELL_TARGET_NAME, isa};
  t.residues.trsm = {&trsm, "trsm_fused_" STEPWELL_TARGET_NAME, isa};
}

}  // namespace HWY_NAMESPACE
}  // namespace stepwell::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stepwell::kernels {
STEPWELL_EXPORT_FILL(fill_portable_fused_leaf)
}  // namespace stepwell::kernels
#endif
