// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "stepwell/view.hpp"

namespace stepwell::kernels {

/// Largest order of a gathered Gram matrix.
inline constexpr std::int64_t kGramOrder = 128;

/// The columns of C, and b, have room for k rounded up to a multiple of this many elements, so that
/// kernels have no tails; elements past row k are undefined afterwards.
inline constexpr std::int64_t kGramPad = 16;

/// Number of columns that are summed before the sum is added to C: this reduces the rounding error
/// of long sums.
inline constexpr std::int64_t kGramRun = 32;

/// The normal equations of one row of a sparse matrix. With y_e, e < count, the column columns[e]
/// of 'items':
///   C = base + sum_e weights[e] y_e y_e'
///   b += sum_e coefficients[e] y_e
/// C is k x k and only its lower triangle is defined; its ld is at least k rounded up to kGramPad.
/// 'base' has C's leading dimension; it may be C itself, which adds to C; null means zero. weights:
/// null means ones.
struct GatherGram {
  MatrixView<const float> items;  ///< k x items, 1 <= k <= kGramOrder
  const std::int32_t* columns = nullptr;
  std::int64_t count = 0;
  std::int64_t upcoming = 0;  ///< further entries of 'columns', for later calls: prefetched
  const float* weights = nullptr;
  const float* coefficients = nullptr;
  const float* base = nullptr;
  MatrixView<float> c;
  float* b = nullptr;
};

/// Sums are in fp32: the products y_i (w y_j), with w y_j rounded, are summed over kGramRun columns
/// at a time in the order of e, and each such sum is added to C before the next. Cost: k^2 flops
/// per e for C.
using GatherGramFn = void(const GatherGram& args) noexcept;

}  // namespace stepwell::kernels
