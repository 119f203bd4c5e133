// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "stepwell/view.hpp"

namespace stepwell::kernels {

/// The order of a gathered Gram matrix is at most this.
inline constexpr std::int64_t kGramOrder = 128;

/// Its columns, and its right-hand side, have room for a multiple of this many numbers: what lies
/// past row k is undefined afterwards. No tails.
inline constexpr std::int64_t kGramPad = 16;

/// Columns that are summed before the sum is added to C: long sums lose less so.
inline constexpr std::int64_t kGramRun = 32;

/// The normal equations of one row of a sparse matrix. With y_e column columns[e] of 'items',
/// e < count:
///   C = base + sum_e weights[e] y_e y_e'
///   b += sum_e coefficients[e] y_e
/// C is k x k, its lower triangle defined, with ld at least k rounded up to kGramPad; 'base' has
/// C's leading dimension and may be C itself, which adds; null is zero. weights: null means ones.
struct GatherGram {
  MatrixView<const float> items;  ///< k x items, 1 <= k <= kGramOrder
  const std::int32_t* columns = nullptr;
  std::int64_t count = 0;
  std::int64_t upcoming = 0;  ///< columns that follow those and that calls to come take: fetched
  const float* weights = nullptr;
  const float* coefficients = nullptr;
  const float* base = nullptr;
  MatrixView<float> c;
  float* b = nullptr;
};

/// Sums are fp32: of the products y_i (w y_j), with w y_j rounded, for kGramRun columns at a time
/// in the order of e; such a sum is added to C before the next. Cost k^2 flop an e for C.
using GatherGramFn = void(const GatherGram& args) noexcept;

}  // namespace stepwell::kernels
