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

/// The FP64 leaves of a factorization in residues. Rows are copied to the stack, padded with zeros
/// to whole groups of vectors, and copied back.
///
/// Register budget of the solve: 2 vectors of rows x 4 columns of sums, as many of the sums of
/// finished groups, 2 of an earlier column and one factor: 19 of 32.
HWY_BEFORE_NAMESPACE();
namespace stepwell::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::CappedTag<double, 8>;
using Vector = hn::Vec<Tag>;

constexpr int kVectors = 2;
constexpr int kColumns = 4;
constexpr std::int64_t kGroup = 16;  ///< rows of a group: the most that kVectors vectors hold

HWY_INLINE std::int64_t lanes() {
  return static_cast<std::int64_t>(hn::Lanes(Tag()));
}

/// Columns [j, j + C) of X = B L^-T for kVectors vectors of rows of x, columns kGroup apart.
template <int C>
HWY_INLINE void solve_columns(MatrixView<const double> l, std::int64_t j, double* x) {
  const Tag d;
  Vector total[C][kVectors], sum[C][kVectors];
  for (int q = 0; q < C; ++q) {
    for (int v = 0; v < kVectors; ++v) total[q][v] = sum[q][v] = hn::Zero(d);
  }
  // The last group is not finished: the columns below may continue it.
  for (std::int64_t k = 0; k < j;) {
    for (const std::int64_t end = std::min(k + kFusedTerms, j); k < end; ++k) {
      const double* const column = x + k * kGroup;
      const auto x0 = hn::LoadU(d, column), x1 = hn::LoadU(d, column + lanes());
#pragma GCC unroll 4
      for (int q = 0; q < C; ++q) {
        const auto factor = hn::Set(d, l(j + q, k));
        sum[q][0] = hn::MulAdd(x0, factor, sum[q][0]);
        sum[q][1] = hn::MulAdd(x1, factor, sum[q][1]);
      }
    }
    if (k % kFusedTerms != 0) break;
#pragma GCC unroll 4
    for (int q = 0; q < C; ++q) {
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        total[q][v] = hn::Add(total[q][v], sum[q][v]);
        sum[q][v] = hn::Zero(d);
      }
    }
  }
#pragma GCC unroll 4
  for (int q = 0; q < C; ++q) {
    const auto reciprocal = hn::Set(d, 1 / l(j + q, j + q));
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      double* const to = x + (j + q) * kGroup + v * lanes();
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

void trsm(MatrixView<const double> l, MatrixView<double> b) noexcept {
  HWY_ALIGN double x[kGroup * kLeaf];
  const std::int64_t group = kVectors * lanes();
  for (std::int64_t i = 0; i < b.rows; i += group) {
    const std::int64_t rows = std::min(group, b.rows - i);
    for (std::int64_t j = 0; j < b.cols; ++j) {
      std::copy_n(b.column(j) + i, rows, x + j * kGroup);
      std::fill_n(x + j * kGroup + rows, group - rows, 0.0);
    }
    std::int64_t j = 0;
    for (; j + kColumns <= b.cols; j += kColumns) solve_columns<kColumns>(l, j, x);
    for (; j < b.cols; ++j) solve_columns<1>(l, j, x);
    for (j = 0; j < b.cols; ++j) std::copy_n(x + j * kGroup, rows, b.column(j) + i);
  }
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
